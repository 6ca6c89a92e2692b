#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""gid_changes.py DEVICE SEED CHANGES LOG: the GID tables of a device with two Ethernet ports follow
net devices through changes by chance: addresses, VLANs, macvlans, links down and up, MTUs, names, MAC
addresses and network namespaces, and then a bond of both ports with its fail-overs.

A rdma_rxe device stands on each port's net device too, but for the time that this is in another network
namespace: there rdma_rxe ends.

After each change the tables must have exactly the GIDs that a model says, which reads what addresses
there are; sysfs must say the same of each, and the tables of rdma_rxe must have the same GIDs. Those of the
device are written to LOG, in one form for all cores. The same seed makes the same changes, so that logs
of two cores can be compared: until the bond comes with the places of all GIDs, and from then on without,
as slaves come and go while the tables follow.

Left out are differences that Documentation/core/roce.rst has: a macvlan above a bond, another MAC address
of a bond, a port whose net device moves with others above it. And a bond keeps a slave that is up, as Linux
6.12's core hears nothing when it has none."""

import ipaddress
import json
import os
import random
import subprocess
import sys
import time

from pyverbs.device import Context

from rxe_gids import eui64, gid_of, run

PATIENCE = 120                  # seconds until it is believed that a table does not follow
SPACE = "gid_space"             # the other network namespace
MARKER = "10.99.99.99"          # an address that comes and goes behind each change
ENTRIES = 1024                  # more than both tables have
FOREIGN = 3                     # interfaces above one net device
MTUS = (1200, 1500, 4000)       # IPv6 needs 1280
ROCE_V2 = 2


def ip(space, lines):
    """ip carries lines out, one after the other, and says what they show"""
    done = subprocess.run(["ip"] + (["-n", space] if space else []) + ["-j", "-batch", "-"],
                          input="".join(f"{line}\n" for line in lines), capture_output=True,
                          text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{space or 'here'}: {'; '.join(lines)}: {done.stderr.strip()}")
    return done.stdout


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read().strip()


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def attribute(device, port, what, index):
    folder = "gids" if what == "gids" else f"gid_attrs/{what}"
    return read(f"/sys/class/infiniband/{device}/ports/{port}/{folder}/{index}")


def table_of(device, context, port):
    """{index: (GID, name of the net device)}, by the system call and by sysfs alike; OSError if
    one says something else, as it may while a table changes"""
    entries = [one for one in context.query_gid_table(ENTRIES) if one.port_num == port]
    table = {one.gid_index: (one.gid_str(), attribute(device, port, "ndevs", one.gid_index))
             for one in entries}
    for one in entries:
        if one.gid_type != ROCE_V2 or attribute(device, port, "types", one.gid_index) != "RoCE v2" or \
                attribute(device, port, "gids", one.gid_index) != one.gid_str():
            raise OSError(f"{device}, port {port}: sysfs says something else of {one.gid_str()}")
    return table


class Net:
    """A net device: kind is port, vlan, macvlan or bond"""

    def __init__(self, kind, name, below=None, space=None):
        self.kind, self.name, self.below, self.space = kind, name, below, space
        self.slave = False          # of the bond
        self.mac, self.mtu, self.up, self.addresses = "", 0, False, {}

    def learn(self, shown):
        self.mac, self.mtu, self.up = shown["address"], shown["mtu"], "UP" in shown["flags"]
        self.addresses = {gid_of(one["local"]): f"{one['local']}/{one['prefixlen']}"
                          for one in shown["addr_info"] if "local" in one}


class World:
    def __init__(self, device, seed):
        self.device, self.random = device, random.Random(seed)
        self.context = Context(name=device)
        self.ports = [Net("port", attribute(device, number, "ndevs", 0)) for number in (1, 2)]
        self.rxes = [None, None]    # names of the devices of rdma_rxe on them
        self.rxe_number = 0         # of names that were used
        self.nets = list(self.ports)
        self.bond = None
        self.number = 0             # of names, VLANs and MAC addresses that were used

    def fresh(self):
        self.number += 1
        return self.number

    def above(self, net):
        return [one for one in self.nets if one.below is net]

    def slaves(self):
        return [port for port in self.ports if port.slave]

    def active(self):
        """The slave by which the bond sends, by name"""
        return read(f"/sys/class/net/{self.bond.name}/bonding/active_slave")

    # ---- what there is, and what tables are to be ----

    def learn(self, shown):
        """shown: what ip shows of all net devices here"""
        lists = json.loads(shown)
        if any(net.space for net in self.nets):
            lists += json.loads(ip(SPACE, ["addr show"]))
        found = {one["ifname"]: one for one in lists}
        for net in self.nets:
            net.learn(found[net.name])

    def wanted(self, port):
        """The standard GID, and all of them, as pairs with the name of the net device"""
        top = self.bond if port.slave else port
        standard = (eui64(top.mac), top.name)
        pairs = {standard}
        nets = [port]
        if port.slave and self.active() in ("", port.name):
            nets.append(self.bond)
        while nets:
            net = nets.pop()
            nets += self.above(net)
            pairs |= {(gid, net.name) for gid in net.addresses}
        return standard, pairs

    def tables(self, number):
        """The table of a port, and that of the device of rdma_rxe beside it. This is opened anew for each
        look, since it ends only when nobody has it open."""
        tables = [table_of(self.device, self.context, number + 1)]
        if self.rxes[number]:
            with Context(name=self.rxes[number]) as context:
                tables.append(table_of(self.rxes[number], context, 1))
        return tables

    def is_right(self, number):
        try:
            tables = self.tables(number)
        except OSError:             # a GID has gone or come between two looks
            return False
        standard, pairs = self.wanted(self.ports[number])
        return all(table.get(0) == standard and sorted(table.values()) == sorted(pairs) for table in tables)

    # ---- a change, and what comes of it ----

    def until(self, true, what):
        last = time.monotonic() + PATIENCE
        while not true():
            if time.monotonic() > last:
                print(f"{what}: not within {PATIENCE} s")
                return False
            os.sched_yield()
        return True

    def has_marker(self):
        gid = gid_of(MARKER)
        return any(one.gid_str() == gid for one in self.context.query_gid_table(ENTRIES))

    def bond_is_settled(self):
        """The bond looks at its slaves from time to time."""
        if not self.bond or not int(read(f"/sys/class/net/{self.bond.name}/flags"), 0) & 1:
            return True
        up = []
        for port in self.slaves():
            folder = f"/sys/class/net/{port.name}"
            running = bool(int(read(f"{folder}/flags"), 0) & 1)
            if (read(f"{folder}/bonding_slave/mii_status") == "up") != running:
                return False
            up += [port.name] if running else []
        return self.active() in (up or [""])

    def beside(self, net):
        """A port that has nothing to do with a net device, unless that is of the bond"""
        while net and net.below:
            net = net.below
        return self.ports[net is self.ports[0]]

    def settle(self, net):
        """Changes are followed in their order: when the tables have followed the marker, they have
        followed what came before. It is at the other port: it would have a place among GIDs that come
        again because of the change. And there are two, as our core, which compares all tables, may see
        one come and go with a change before it; but no change is told more than four times."""
        port, right = self.beside(net), self.until(self.bond_is_settled, "the bond")
        for _ in range(2):
            ip(port.space, [f"addr add {MARKER}/32 dev {port.name}"])
            right &= self.until(self.has_marker, "an address")
            shown = ip(port.space, [f"addr del {MARKER}/32 dev {port.name}", "addr show"])
            right &= self.until(lambda: not self.has_marker(), "an address that goes")
        self.learn(shown if not port.space else ip(None, ["addr show"]))
        return right

    def move_rxes(self):
        """A device of rdma_rxe goes with its net device, and is made anew when that is back."""
        right = True
        for number, port in enumerate(self.ports):
            name = self.rxes[number]
            if name and port.space:
                path = f"/sys/class/infiniband/{name}"
                right &= self.until(lambda: not os.path.exists(path), name)     # pylint: disable=W0640
                self.rxes[number] = None
            elif not name and not port.space:
                self.rxe_number += 1
                self.rxes[number] = f"rxe{self.rxe_number}"
                run(f"rdma link add {self.rxes[number]} type rxe netdev {port.name}")
        return right

    def follow(self, log, places, what, commands, net=None):
        for space, lines in commands:
            ip(space, lines)
        right = self.move_rxes()
        right &= self.settle(net)
        log.write(f"{what}\n")
        for number in range(2):
            is_right = self.until(lambda: self.is_right(number), what)  # pylint: disable=W0640
            table = table_of(self.device, self.context, number + 1)
            lines = [f"  {number + 1}: {gid} {name}" + (f" {index}" if places or not index else "")
                     for index, (gid, name) in table.items()]
            log.write("\n".join(lines if places else sorted(lines)) + "\n")
            if not is_right:
                print(f"port {number + 1} after {what}: expected {sorted(self.wanted(self.ports[number])[1])}"
                      f"\nfound {self.tables(number)}")
            right &= is_right
        return right


# ---- changes: each gives what it is called, the lines for ip, and what is changed, or None if it does
# not fit now ----

def lines_of(net, *lines):
    return lines[0], [(net.space, list(lines))], net


def add_address(world, rnd):
    net, kind, subnet, host = rnd.choice(world.nets), rnd.randrange(5), rnd.randint(1, 3), rnd.randint(1, 9)
    address = f"10.81.{subnet}.{host}/24"
    if kind > 1:
        address = f"2001:db8:{subnet}::{host}/64"
    if kind == 4:                   # the one that is the standard GID, too
        address = str(ipaddress.IPv6Address(eui64(net.mac))) + "/64"
        if world.bond and world.bond in (net, net.below):
            return None             # without slaves it has a MAC address by chance
    if kind > 1 and (net.mtu < 1280 or net.slave):
        return None
    if gid_of(address.split("/")[0]) in net.addresses:
        return None
    return lines_of(net, f"addr add {address} dev {net.name}{' nodad' if kind > 1 else ''}")


def delete_address(world, rnd):
    found = [(net, address) for net in world.nets for address in sorted(net.addresses.values())]
    if not found:
        return None
    net, address = rnd.choice(found)
    return lines_of(net, f"addr del {address} dev {net.name}")


def add_vlan(world, rnd):
    below = rnd.choice([world.bond] if world.bond else world.ports)
    if len(world.above(below)) >= FOREIGN:
        return None
    number = world.fresh()
    net = Net("vlan", f"v{number}", below, below.space)
    world.nets.append(net)
    return lines_of(net, f"link add link {below.name} name {net.name} type vlan id {number}")


def new_mac(world):
    number = world.fresh()
    return f"02:00:00:00:{number >> 8:02x}:{number & 255:02x}"


def add_macvlan(world, rnd):
    below = rnd.choice(world.ports)
    if len(world.above(below)) >= FOREIGN:
        return None
    mac = new_mac(world)
    net = Net("macvlan", f"m{world.number}", below, below.space)
    world.nets.append(net)
    return lines_of(net, f"link add link {below.name} name {net.name} address {mac} type macvlan mode bridge")


def delete_upper(world, rnd):
    uppers = [net for net in world.nets if net.below]
    if not uppers:
        return None
    net = rnd.choice(uppers)
    world.nets.remove(net)
    return lines_of(net, f"link del {net.name}")


def down_or_up(world, rnd):
    net = rnd.choice(world.nets)
    if net.up:
        # the bond goes on by another slave
        if net.slave and not all(port.slave and port.up for port in world.ports):
            return None
        if net.slave and not world.bond.up:
            return None
        return lines_of(net, f"link set {net.name} down")
    if net.below and not net.below.up:
        return None
    return lines_of(net, f"link set {net.name} up")


def set_mtu(world, rnd):
    net, mtu = rnd.choice([world.bond] if world.bond else world.ports), rnd.choice(MTUS)
    if mtu == net.mtu or (world.bond and mtu < 1280):
        return None
    return lines_of(net, f"link set {net.name} mtu {mtu}")


def rename(world, rnd):
    net = rnd.choice(world.nets)
    name, net.name = net.name, f"{net.kind[0]}{world.fresh()}"
    return lines_of(net, f"link set {name} name {net.name}")


def set_mac(world, rnd):
    net = rnd.choice(world.nets)
    if net.kind == "bond" or net.slave:
        return None
    return lines_of(net, f"link set {net.name} address {new_mac(world)}")


def move(world, rnd):
    net = rnd.choice(world.nets)
    if net.kind == "port" and world.above(net):
        return None
    before, net.space = net.space, None if net.space else SPACE
    line = f"link set {net.name} netns {net.space or 1}"
    return line, [(before, [line])], net


def enslave(world, rnd):
    port = rnd.choice(world.ports)
    if port.slave or not world.bond.up:
        return None
    port.slave = True
    return lines_of(port, f"link set {port.name} down", f"link set {port.name} master {world.bond.name}")


def release(world, rnd):
    port = rnd.choice(world.ports)
    if not port.slave or not world.bond.up or any(one.slave and not one.up for one in world.ports):
        return None
    port.slave = False
    return lines_of(port, f"link set {port.name} nomaster", f"link set {port.name} up")


def fail_over(world, rnd):
    port = rnd.choice(world.ports)
    if not world.bond.up or not all(one.slave and one.up for one in world.ports) or \
            world.active() == port.name:
        return None
    return lines_of(port, f"link set {world.bond.name} type bond active_slave {port.name}")


FREE = (add_address,) * 8 + (delete_address,) * 4 + (down_or_up,) * 4 + (move,) * 3 + \
    (set_mac,) * 2 + (set_mtu,) * 2 + (add_vlan, add_macvlan, delete_upper, rename)
BONDED = (add_address,) * 6 + (delete_address,) * 3 + (down_or_up,) * 6 + (fail_over,) * 9 + \
    (enslave,) * 9 + (release, add_vlan, delete_upper, rename, set_mtu)


def begin(world):
    run(f"ip netns add {SPACE}")
    # addresses come only when they are told to
    run(f"ip netns exec {SPACE} sysctl -q -w net.ipv6.conf.default.addr_gen_mode=1")
    write("/proc/sys/net/ipv6/conf/default/addr_gen_mode", "1")
    for port in world.ports:
        write(f"/proc/sys/net/ipv6/conf/{port.name}/addr_gen_mode", "1")
    # addresses of one port outlive the link, those of the other do not
    write(f"/proc/sys/net/ipv6/conf/{world.ports[1].name}/keep_addr_on_down", "1")
    return "begin", [(None, [f"addr flush dev {port.name}" for port in world.ports])]


def bond(world):
    """Both ports as they were, and a bond beside them"""
    commands = [(net.space, [f"link del {net.name}"]) for net in world.nets if net.below]
    commands += [(SPACE, [f"link set {port.name} netns 1"]) for port in world.ports if port.space]
    commands.append((None, [f"link set {port.name} mtu 1500 up" for port in world.ports]))
    world.nets, world.bond = list(world.ports), Net("bond", f"b{world.fresh()}")
    world.nets.append(world.bond)
    for port in world.ports:
        port.space = None
    commands.append((None, [f"link add {world.bond.name} type bond mode active-backup miimon 50",
                            f"link set {world.bond.name} up"]))
    return "a bond", commands


def end(world, before):
    """All is as it was, for the next core. The bond's ports get their own MAC addresses back."""
    lines = [f"link del {world.bond.name}"]
    for port, (name, mac) in zip(world.ports, before):
        port.slave = False
        lines += [f"addr flush dev {port.name}", f"link set {port.name} down",
                  f"link set {port.name} name {name} address {mac} mtu 1500 up"]
        port.name = name
    world.nets, world.bond = list(world.ports), None
    return "end", [(None, lines)]


def changed(world, changes, log, places):
    """Makes changes of these kinds, and says how many were followed wrongly"""
    while True:
        change = world.random.choice(changes)(world, world.random)
        if change:
            return not world.follow(log, places, *change)


def main():
    device, seed, count, path = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    world = World(device, seed)
    with open(path, "w", encoding="ascii") as log:
        wrong = not world.follow(log, True, *begin(world))
        before = [(port.name, port.mac) for port in world.ports]
        for _ in range(count * 2 // 3):
            wrong += changed(world, FREE, log, True)
        wrong += not world.follow(log, False, *bond(world))
        for number in range(count - count * 2 // 3):
            wrong += changed(world, BONDED if number > 1 else (enslave,), log, False)
        wrong += not world.follow(log, False, *end(world, before))
    run(f"ip netns del {SPACE}")
    world.context.close()
    for name in world.rxes:
        run(f"rdma link del {name}")
    print(f"{count} changes, {wrong} followed wrongly; {world.rxe_number} devices of rdma_rxe")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
