#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""rxe_gids.py PART...: the GID table of a RoCE port follows its net device.

rdma_rxe stands on dummy interfaces. After each change the table, as programs get it from
ibv_query_gid_table(ENTRIES), must become what a small model says: the GIDs that went have freed their
places, and those that came have the first free ones, in the order in which the system lists the
addresses. Place 0 is the standard GID's. The same holds with every core."""

import ipaddress
import json
import os
import subprocess
import sys
import time

from pyverbs.addr import AH, AHAttr, GID, GlobalRoute
from pyverbs.device import Context
from pyverbs.pd import PD

PATIENCE = 120          # seconds until it is believed that a table does not follow
MAC = "02:00:00:00:10:01"
ENTRIES = 1024          # more than any table has
GROUP = "ff0e:0000:0000:0000:0000:0000:0000:0081"


def run(command):
    done = subprocess.run(command.split(), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command}: {done.stderr.strip()}")
    return done.stdout


def eui64(mac):
    part = [int(one, 16) for one in mac.split(":")]
    part[0] ^= 2
    words = [part[0] << 8 | part[1], part[2] << 8 | 0xff, 0xfe00 | part[3], part[4] << 8 | part[5]]
    return "fe80:0000:0000:0000:" + ":".join(f"{word:04x}" for word in words)


def gid_of(address):
    """The GID of an IP address, in full"""
    packed = ipaddress.ip_address(address).packed
    if len(packed) == 4:
        packed = b"\0" * 10 + b"\xff\xff" + packed
    return packed.hex(":", 2)


class Net:
    """A net device of the model; space is its network namespace"""

    def __init__(self, name, space=None):
        self.name, self.space = name, space
        self.index = self.show("link")["ifindex"]

    def show(self, what):
        space = f"-n {self.space} " if self.space else ""
        return json.loads(run(f"ip {space}-j {what} show dev {self.name}"))[0]

    def mac(self):
        return self.show("link")["address"]

    def addresses(self):
        listed = [one for one in self.show("addr")["addr_info"] if "local" in one]
        return [gid_of(one["local"]) for family in ("inet", "inet6")
                for one in listed if one["family"] == family]


class Port:
    """A port, and what its table is to be: (GID, ifindex) by index"""

    def __init__(self, device, nets, standard=None):
        self.device = device
        self.context = Context(name=device)
        self.nets = nets                # the net devices whose addresses it has
        self.standard = standard or nets[0]
        self.model = {}
        self.busy = set()               # places that go on being used

    def wanted(self):
        """Pairs in the order in which they get places; the standard GID is the first"""
        first = (eui64(self.standard.mac()), self.standard.index)
        pairs = [first]
        for net in self.nets:
            pairs += [(gid, net.index) for gid in net.addresses() if (gid, net.index) not in pairs]
        return pairs

    def follow(self, renewed=None):
        """What the change since the last call makes of the table. A net device whose MAC address
        has changed gives its places up first."""
        pairs = self.wanted()
        if renewed:
            self.model = {i: pair for i, pair in self.model.items() if pair[1] != renewed.index}
        self.model = {i: pair for i, pair in self.model.items() if pair in pairs}
        for pair in pairs:
            if pair in self.model.values():
                continue
            place = 0 if pair == pairs[0] else 1
            while place and (place in self.model or place in self.busy):
                place += 1
            self.model[place] = pair

    def table(self):
        entries = self.context.query_gid_table(ENTRIES)
        wrong = [entry for entry in entries if entry.gid_type != 2]     # RoCE v2
        if wrong:
            raise SystemExit(f"{self.device}: {wrong[0].gid_str()} is of type {wrong[0].gid_type}")
        return {entry.gid_index: (entry.gid_str(), entry.ndev_ifindex) for entry in entries}

    def compare(self, what, places=True):
        """Waits until the table is the model's; without places, until it has the same GIDs."""
        def shape(table):
            return table if places else (table.get(0), sorted(table.values()))
        last = time.monotonic() + PATIENCE
        while shape(self.table()) != shape(self.model):
            if time.monotonic() > last:
                raise SystemExit(f"{self.device}: {what}: expected\n{lines(self.model)}\n"
                                 f"found\n{lines(self.table())}")
        print(f"{self.device}: {what}: {len(self.model)} GIDs")

    def after(self, command, renewed=None):
        run(command)
        self.follow(renewed)
        self.compare(command)

    def sysfs(self, folder, index):
        with open(f"/sys/class/infiniband/{self.device}/ports/1/{folder}/{index}",
                  encoding="ascii") as file:
            return file.read().strip()


def lines(table):
    return "\n".join(f"  {i}: {gid} on {index}" for i, (gid, index) in sorted(table.items()))


def begin(name="kt0", mac=MAC, device="rxe_kt0"):
    run(f"ip link add {name} address {mac} type dummy")
    run(f"sysctl -q -w net.ipv6.conf.{name}.accept_dad=0")
    run(f"ip link set {name} up")
    run(f"rdma link add {device} type rxe netdev {name}")
    port = Port(device, [Net(name)])
    port.follow()
    port.compare("begin")
    return port


def end(port):
    port.context.close()
    run(f"rdma link del {port.device}")
    run(f"ip link del {port.nets[0].name}")


def end_from_below(port):
    """The net device goes, and takes the RDMA device along."""
    port.context.close()
    run(f"ip link del {port.nets[0].name}")
    last = time.monotonic() + PATIENCE
    while os.path.exists(f"/sys/class/infiniband/{port.device}"):
        if time.monotonic() > last:
            raise SystemExit(f"{port.device} stays without its net device")


def addresses():
    port = begin()
    for command in ("ip addr add 10.81.1.1/24 dev kt0", "ip addr add 10.81.2.1/24 dev kt0",
                    "ip addr add 2001:db8:81::1/64 dev kt0 nodad",
                    "ip addr add 10.81.3.1/24 dev kt0", "ip addr del 10.81.2.1/24 dev kt0",
                    "ip addr add 2001:db8:82::1/64 dev kt0 nodad",
                    "ip addr del 10.81.1.1/24 dev kt0", "ip addr del 2001:db8:81::1/64 dev kt0",
                    "ip addr add 10.81.4.1/24 dev kt0",
                    "ip link set kt0 down", "ip link set kt0 up",
                    "ip addr add 2001:db8:81::1/64 dev kt0 nodad", "ip link set kt0 mtu 1400"):
        port.after(command)
    for index, (gid, _) in port.model.items():
        if (port.sysfs("gids", index), port.sysfs("gid_attrs/types", index),
                port.sysfs("gid_attrs/ndevs", index)) != (gid, "RoCE v2", "kt0"):
            raise SystemExit(f"sysfs says something else of {index}")
    end(port)


def uppers():
    port = begin()
    base = port.nets[0]
    run("ip link add link kt0 name kt0.7 type vlan id 7")
    run("ip link add link kt0 name ktm0 address 02:00:00:00:10:02 type macvlan mode bridge")
    vlan, macvlan = Net("kt0.7"), Net("ktm0")
    port.nets = [base, vlan, macvlan]
    port.follow()
    port.compare("a VLAN and a macvlan")
    for command in ("ip link set kt0.7 up", "ip addr add 10.81.7.1/24 dev kt0.7",
                    "ip link set ktm0 up", "ip addr add 10.81.8.1/24 dev ktm0",
                    "ip addr add 10.81.1.1/24 dev kt0", "ip addr del 10.81.7.1/24 dev kt0.7",
                    "ip addr add 2001:db8:87::1/64 dev kt0.7 nodad"):
        port.after(command)

    # Another network namespace takes the addresses away. The port follows the device there.
    run("ip netns add kt_space")
    port.nets = [base, vlan]
    port.after("ip link set ktm0 netns kt_space")
    macvlan = Net("ktm0", "kt_space")
    port.nets = [base, vlan, macvlan]
    for command in ("ip -n kt_space link set ktm0 up",
                    "ip -n kt_space addr add 10.81.9.1/24 dev ktm0"):
        port.after(command)
    port.nets = [base, vlan]
    port.after("ip -n kt_space link del ktm0")
    run("ip netns del kt_space")

    # a bridge above the VLAN
    run("ip link add ktb0 address 02:00:00:00:10:03 type bridge")
    bridge = Net("ktb0")
    port.after("ip addr add 10.81.11.1/24 dev ktb0")
    port.nets = [base, vlan, bridge]
    port.after("ip link set kt0.7 master ktb0")
    port.nets = [base, vlan]
    port.after("ip link set kt0.7 nomaster")
    run("ip link del ktb0")
    port.nets = [base]
    port.after("ip link del kt0.7")
    end(port)


def mac():
    port = begin()
    for command in ("ip addr add 10.81.1.1/24 dev kt0", "ip addr add 10.81.2.1/24 dev kt0",
                    "ip addr add 2001:db8:81::1/64 dev kt0 nodad",
                    "ip addr del 10.81.1.1/24 dev kt0"):
        port.after(command)
    port.after("ip link set kt0 address 02:00:00:00:10:09", port.nets[0])
    port.after("ip addr add 10.81.3.1/24 dev kt0")
    run("ip link set kt0 name kt9")
    port.nets[0].name = "kt9"
    port.compare("another name")
    if port.sysfs("gid_attrs/ndevs", 0) != "kt9":
        raise SystemExit("sysfs has the old name")
    end_from_below(port)


def used():
    port = begin()
    port.after("ip addr add 10.81.1.1/24 dev kt0")
    port.after("ip addr add 10.81.2.1/24 dev kt0")
    place = next(i for i, pair in port.model.items() if pair[0] == gid_of("10.81.1.1"))
    pd = PD(port.context)
    # A group's address is resolved without a request.
    route = GlobalRoute(dgid=GID(GROUP), sgid_index=place)
    handle = AH(pd, attr=AHAttr(gr=route, is_global=1, port_num=1))
    port.busy.add(place)
    port.after("ip addr del 10.81.1.1/24 dev kt0")
    port.after("ip addr add 10.81.1.1/24 dev kt0")
    handle.close()
    port.busy.clear()
    port.after("ip addr del 10.81.2.1/24 dev kt0")
    port.after("ip addr add 10.81.3.1/24 dev kt0")
    pd.close()
    end(port)


def bond():
    one = begin("kt1", "02:00:00:00:10:11", "rxe_kt1")
    two = begin("kt2", "02:00:00:00:10:12", "rxe_kt2")
    own = {one: one.nets[0], two: two.nets[0]}
    run("ip link add ktb0 type bond mode active-backup miimon 100")
    run("sysctl -q -w net.ipv6.conf.ktb0.accept_dad=0")
    top = Net("ktb0")

    def bonded(what, active):
        for port in (one, two):
            port.standard = top
            port.nets = [own[port]] + ([top] if port is active else [])
            port.model = dict(enumerate(port.wanted()))
            port.compare(what, places=False)

    for name in ("kt1", "kt2"):
        run(f"ip link set {name} down")
        run(f"ip link set {name} master ktb0")
    run("ip link set ktb0 up")
    run("ip addr add 10.81.5.1/24 dev ktb0")
    run("ip link set ktb0 type bond active_slave kt1")
    bonded("kt1 is active", one)
    run("ip link add link ktb0 name ktb0.5 type vlan id 5")
    run("ip link set ktb0.5 up")
    vlan = Net("ktb0.5")
    one.nets.append(vlan)
    one.model = dict(enumerate(one.wanted()))
    one.compare("a VLAN above the bond", places=False)
    run("ip link del ktb0.5")
    for name, active in (("kt2", two), ("kt1", one)):
        run(f"ip link set ktb0 type bond active_slave {name}")
        bonded(f"{name} is active", active)
    for port in (two, one):
        run(f"ip link set {own[port].name} nomaster")
        run(f"ip link set {own[port].name} up")
        port.nets, port.standard = [own[port]], own[port]
        port.model = dict(enumerate(port.wanted()))
        port.compare("out of the bond", places=False)
    run("ip link del ktb0")
    end(one)
    end(two)


PARTS = {part.__name__: part for part in (addresses, uppers, mac, used, bond)}

if __name__ == "__main__":
    for name in sys.argv[1:] or PARTS:
        PARTS[name]()
