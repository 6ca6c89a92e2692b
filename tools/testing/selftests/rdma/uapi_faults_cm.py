#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""uapi_faults_cm.py DEVICE ADDRESS [memory]: get every piece of memory of every request to the connection
manager (rdma_cm) and to the first port's umad wrong, as uapi_faults.py does with those of verbs. ADDRESS is
the port's IPv4 address: groups are joined by IP, all else uses the port's GID. Every command has a good
request that succeeds. One that is spoilt must fail and leave nothing made or lost, unless it destroys, or
succeed when its memory comes late; meanwhile others are served. TAP on stdout. "memory" as there."""

import ctypes
import errno
import os
import select
import socket
import struct
import subprocess
import sys

from uapi_requests import area, errno_of, libc, libc_mmap, write_at
from uapi_spoilt import BOTH, READ, WRITTEN, Piece, Request, Tap, Walk, pointer

PATIENCE = 120000               # ms
AF_INET, AF_INET6, AF_IB = 2, 10, 27
PS_TCP, PS_UDP = 0x0106, 0x0111
CREATE_ID, DESTROY_ID, BIND_IP, RESOLVE_IP, RESOLVE_ROUTE, QUERY_ROUTE, CONNECT, LISTEN, ACCEPT, REJECT, \
    DISCONNECT, INIT_QP_ATTR, GET_EVENT, _, SET_OPTION, NOTIFY, JOIN_IP_MCAST, LEAVE_MCAST, MIGRATE_ID, QUERY, \
    BIND, RESOLVE_ADDR, JOIN_MCAST = range(23)      # RDMA_USER_CM_CMD_*
ADDR_RESOLVED, ROUTE_RESOLVED, CONNECT_REQUEST, CONNECT_RESPONSE, ESTABLISHED = 0, 2, 4, 5, 9
EVENT_SIZE = 336
EVENT_COMM_EST = 4              # IB_EVENT_COMM_EST
SERVICE, GROUP = 0x1234, "239.1.2.3"
FIRST_QPN = 0xf00000            # no QP of the device has such a number

SMP_DIRECTED, NODE_INFO, PERMISSIVE = 0x81, 0x11, 0xffff
UMAD_HEADER, MAD = 64, 256
REGISTER, UNREGISTER, ENABLE_PKEY, REGISTER2 = 0xc01c1b01, 0x40041b02, 0x1b03, 0xc0281b04
tap = Tap()


class Device(Walk):
    """Requests to a device node. Sub-classes have a path, and say what is asked meanwhile."""

    def __init__(self, path):
        super().__init__(tap)
        self.node = path
        self.fd = self.open()

    def open(self):
        return os.open(self.node, os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)

    def walk(self, name, prepare, make, settle):
        """prepare() makes what a request needs, whose good one is make(it): a Request. settle(it, err) says
        what is wrong after it, and ends what is left."""

        def ask(number, cut, how):
            area.reset()
            state = prepare()
            area.reset()
            request = make(state)
            piece = request.pieces[number] if how else None
            err = self.spoiler.send(request, piece, cut, how)
            self.asked += 1
            area.reset()
            wrong = settle(state, err)
            if wrong:
                self.faults.append(f"{how}, answered {err}: {wrong}")
            return err, request.pieces

        good, pieces = ask(0, 0, None)
        if good:
            self.faults.append(f"the good request is refused: {errno.errorcode[good]}")
        self.spoil_each(pieces, good, lambda number, cut, how: ask(number, cut, how)[0])
        self.report(name)


# ---- the connection manager ----

def sockaddr_ib(gid, service):
    """service: a port; a service's identifier has the port space before it."""
    return struct.pack("<HHI16s8s8sQ", AF_IB, 0xffff, 0, gid, (PS_TCP << 16 | service).to_bytes(8, "big"),
                       bytes(8 * [0xff]), 0)


def sockaddr_in(ip):
    return struct.pack("<HH4s8x", AF_INET, 0, socket.inet_aton(ip))


class Pending:
    """A request in memory of its own, which can be sent while others wait."""

    def __init__(self, number, body, out, response_at):
        self.start = libc_mmap(1)
        body = bytearray(body)
        struct.pack_into("<Q", body, response_at, self.start + 2048)
        self.length = 8 + len(body)
        ctypes.memmove(self.start, struct.pack("<IHH", number, len(body), out) + body, self.length)


class Connections(Device):
    """Requests to rdma_cm. Ids belong to one file; gid is the port's."""

    def __init__(self, gid, lid, ip):
        self.gid, self.lid, self.ip, self.qpn = gid, lid, ip, FIRST_QPN
        super().__init__("/dev/infiniband/rdma_cm")
        self.bystander = self.bound()
        self.other = Pending(QUERY, struct.pack("<QII", 0, self.bystander, 0), 280, 0)

    def meanwhile(self, request):
        err = write_at(self.fd, self.other.start, self.other.length)
        if err:
            self.faults.append(f"meanwhile QUERY: {errno.errorcode[err]}")

    # ---- requests without a fault ----

    def request(self, number, body, out=0, response_at=None, cuts=(0, 8, 12), pointed=()):
        """pointed: (name, where in the body its address stands, data) of what else is read."""
        body = bytearray(body)
        response = area.put(bytes(out)) if response_at is not None else None
        if response is not None:
            struct.pack_into("<Q", body, response_at, response)
        places = [area.put(data) for _, _, data in pointed]
        for (_, at, _), place in zip(pointed, places):
            struct.pack_into("<Q", body, at, place)
        data = struct.pack("<IHH", number, len(body), out) + body
        start = area.put(data)
        pieces = [Piece("request", start, len(data), READ, cuts=[cut for cut in cuts if cut < len(data)])]
        if response is not None:
            pieces.append(Piece("response", response, out, WRITTEN, pointer(start + 8 + response_at),
                                (0, 8) if out > 8 else (0,)))
        pieces += [Piece(name, place, len(data), READ, pointer(start + 8 + at))
                   for (name, at, data), place in zip(pointed, places)]
        return Request(self, lambda address: write_at(self.fd, address, len(data)), pieces)

    def ask(self, number, body, out=0, response_at=None, **more):
        """(errno, the response's bytes)"""
        request = self.request(number, body, out, response_at, **more)
        err = request.send(request.start)
        return err, ctypes.string_at(request.pieces[1].address, out) if response_at is not None else b""

    def done(self, number, body, *more, **named):
        err, response = self.ask(number, body, *more, **named)
        if err:
            raise OSError(err, f"command {number}")
        return response

    def address(self, service=0):
        return sockaddr_ib(self.gid, service)

    def created(self, space=PS_TCP):
        return struct.unpack("<I", self.done(CREATE_ID, self.create_body(space), 4, 8))[0]

    @staticmethod
    def create_body(space=PS_TCP):
        return struct.pack("<QQHB5x", 7, 0, space, 2 if space == PS_TCP else 4)     # IB_QPT_RC, IB_QPT_UD

    def destroyed(self, *ids):
        """What is wrong, if anything, after they have been destroyed."""
        errs = [self.ask(DESTROY_ID, struct.pack("<QII", 0, one, 0), 4, 0)[0] for one in ids]
        return None if not any(errs) else f"ids cannot be destroyed: {errs}"

    def bound(self):
        one = self.created()
        self.done(BIND, self.storage_body(one, self.address()))
        return one

    @staticmethod
    def storage_body(one, address):
        return struct.pack("<IHH128s", one, len(address), 0, address)

    @staticmethod
    def resolve_body(one, address):
        return struct.pack("<IIHHI128s128s", one, PATIENCE, 0, len(address), 0, b"", address)

    def event(self, wanted):
        """Waits for an event of this type: the id that it names."""
        poller = select.poll()
        poller.register(self.fd, select.POLLIN)
        if not poller.poll(PATIENCE):
            raise OSError(errno.ETIME, f"no event {wanted}")
        response = self.done(GET_EVENT, bytes(8), EVENT_SIZE, 0)
        _, one, event, status = struct.unpack_from("<QIII", response)
        if event != wanted:
            raise OSError(errno.EPROTO, f"event {event} with status {status}, expected {wanted}")
        return one

    def resolved(self, service=0):
        """An id whose peer is the own port."""
        one = self.created()
        self.done(RESOLVE_ADDR, self.resolve_body(one, self.address(service)))
        self.event(ADDR_RESOLVED)
        return one

    def path(self):
        """The option that makes a path query unnecessary: IB_PATH_GMP, PRIMARY and BIDIRECTIONAL."""
        record = bytes(8) + self.gid + self.gid + struct.pack(">HHIBBHHBBB7x", self.lid, self.lid, 0, 0, 0x81, 0xffff,
                                                              0, 0x84, 0x83, 0x8e)
        return struct.pack("<II", 0x2b, 0) + record

    def option_body(self, one, level, name, length):
        return struct.pack("<QIIII", 0, one, level, name, length)

    def routed(self, service):
        one = self.resolved(service)
        self.done(SET_OPTION, self.option_body(one, 1, 1, 72), pointed=[("path", 0, self.path())])
        self.event(ROUTE_RESOLVED)
        return one

    def parameters(self):
        """A QP's number is kept from use for a while after its connection: each has another one."""
        self.qpn += 1
        return struct.pack("<II256s8B", self.qpn, 0, b"", 0, 0, 1, 1, 0, 7, 7, 1)

    def connect_body(self, one):
        return self.parameters() + struct.pack("<IIII", one, 0, 0, 0)

    def accept_body(self, one):
        return struct.pack("<Q", 9) + self.parameters() + struct.pack("<IIII", one, 0, 0, 0)

    def listening(self):
        one = self.created()
        self.done(BIND, self.storage_body(one, self.address(SERVICE)))
        self.done(LISTEN, struct.pack("<II", one, 4))
        return one

    def requested(self):
        """(who connects, whom it has asked, who listens)"""
        listener, active = self.listening(), self.routed(SERVICE)
        self.done(CONNECT, self.connect_body(active))
        return active, self.event(CONNECT_REQUEST), listener

    def accepted(self):
        active, passive, listener = self.requested()
        self.done(ACCEPT, self.accept_body(passive))
        self.event(CONNECT_RESPONSE)
        return active, passive, listener

    def established(self):
        active, passive, listener = self.accepted()
        self.done(ACCEPT, bytes(8 + 272) + struct.pack("<IIII", active, 0, 0, 0))      # no parameters: it confirms
        self.event(ESTABLISHED)
        return active, passive, listener

    def next_number(self):
        """The number of the next id: the lowest that is free."""
        one = self.created()
        self.destroyed(one)
        return one

    # ---- every command ----

    def with_ids(self, name, number, make_ids, which, body, *more, **named):
        """A command on one of ids that are made for it. If it fails, it is as if it had not been made:
        the same succeeds then."""
        def settle(ids, err):
            again = err and self.ask(number, body(ids[which]), *more, **named)[0]
            area.reset()
            # Without memory to accept it a connection may have been refused, and its other end told.
            if self.lacking and number == ACCEPT and again == errno.EINVAL:
                again = 0
            wrong = f"the same then: {errno.errorcode[again]}" if again else None
            return self.destroyed(*ids) or self.no_events() or wrong

        self.walk(name, make_ids, lambda ids: self.request(number, body(ids[which]), *more, **named), settle)

    def with_id(self, name, number, make_id, body, *more, **named):
        """A command on an id of its own."""
        self.with_ids(name, number, lambda: (make_id(),), 0, body, *more, **named)

    def no_events(self):
        """Of ids that have been destroyed there are none."""
        err, _ = self.ask(GET_EVENT, bytes(8), EVENT_SIZE, 0)
        return None if err == errno.EAGAIN else f"GET_EVENT: {err}"

    def walk_new(self):
        def settle(number, err):
            if err:
                return None if self.next_number() == number else "an id is left"
            return self.destroyed(number)

        self.walk("CREATE_ID", self.next_number, lambda _: self.request(CREATE_ID, self.create_body(), 4, 8), settle)

    def walk_gone(self, name, prepare, number, body):
        """What a request ends may have ended although it fails, but only once."""
        def settle(one, err):
            left = self.ask(DESTROY_ID, struct.pack("<QII", 0, one, 0), 4, 0)[0]
            return None if left in ((errno.ENOENT,) if not err else (0, errno.ENOENT)) else f"DESTROY_ID: {left}"

        self.walk(name, prepare, lambda one: self.request(number, body(one), 4, 0), settle)

    def walk_event(self):
        def prepare():
            one = self.created()
            self.done(RESOLVE_ADDR, self.resolve_body(one, self.address()))
            poller = select.poll()
            poller.register(self.fd, select.POLLIN)
            assert poller.poll(PATIENCE)
            return one

        def settle(one, err):
            if err:
                self.event(ADDR_RESOLVED)       # it is not lost
            return self.no_events() or self.destroyed(one)

        self.walk("GET_EVENT", prepare, lambda _: self.request(GET_EVENT, bytes(8), EVENT_SIZE, 0, cuts=(0, 8)), settle)

    def resolved_by_ip(self):
        one = self.created(PS_UDP)
        self.done(RESOLVE_IP, self.ip_body(one))
        self.event(ADDR_RESOLVED)
        return one

    def ip_body(self, one):
        return struct.pack("<28s28sII", b"", sockaddr_in(self.ip), one, PATIENCE)

    @staticmethod
    def join_body(one):
        group = sockaddr_in(GROUP)
        return struct.pack("<QQIHH128s", 0, 8, one, len(group), 0, group)

    def joined(self):
        """(an id, what it has joined)"""
        one = self.resolved_by_ip()
        return one, struct.unpack("<I", self.done(JOIN_MCAST, self.join_body(one), 4, 0))[0]

    def walk_groups(self):
        self.with_id("JOIN_MCAST", JOIN_MCAST, self.resolved_by_ip, self.join_body, 4, 0)
        self.with_id("JOIN_IP_MCAST", JOIN_IP_MCAST, self.resolved_by_ip,
                     lambda one: struct.pack("<QQ28sI", 0, 8, sockaddr_in(GROUP), one), 4, 0)
        self.walk("LEAVE_MCAST", self.joined,
                  lambda state: self.request(LEAVE_MCAST, struct.pack("<QII", 0, state[1], 0), 4, 0),
                  lambda state, err: self.destroyed(state[0]))

    def walk_moved(self):
        """An id of another file comes to this one, or stays there."""
        def prepare():
            there, self.fd = self.fd, self.open()
            one = self.created()
            elsewhere, self.fd = self.fd, there
            return one, elsewhere

        def settle(state, err):
            one, elsewhere = state
            here = self.fd
            if err:
                self.fd = elsewhere
            wrong = self.destroyed(one)
            self.fd = here
            os.close(elsewhere)
            return wrong

        self.walk("MIGRATE_ID", prepare,
                  lambda state: self.request(MIGRATE_ID, struct.pack("<QII", 0, *state), 4, 0), settle)

    def everything(self):
        any_address = struct.pack("<HHI16sI", AF_INET6, 0, 0, bytes(16), 0)
        self.walk_new()
        self.walk_gone("DESTROY_ID", self.bound, DESTROY_ID, lambda one: struct.pack("<QII", 0, one, 0))
        self.with_id("BIND_IP", BIND_IP, self.created, lambda one: struct.pack("<Q28sI", 0, any_address, one))
        self.with_id("BIND", BIND, self.created, lambda one: self.storage_body(one, self.address()))
        self.with_id("RESOLVE_IP", RESOLVE_IP, self.created, self.ip_body)
        self.with_id("RESOLVE_ADDR", RESOLVE_ADDR, self.created, lambda one: self.resolve_body(one, self.address()))
        self.with_id("RESOLVE_ROUTE", RESOLVE_ROUTE, self.resolved, lambda one: struct.pack("<II", one, PATIENCE))
        query = lambda option: lambda one: struct.pack("<QII", 0, one, option)
        self.with_id("QUERY_ROUTE", QUERY_ROUTE, self.resolved, query(0), 208, 0)
        self.with_id("QUERY addresses", QUERY, self.resolved, query(0), 280, 0)
        self.with_id("QUERY paths", QUERY, lambda: self.routed(SERVICE), query(1), 8 + 72, 0)
        self.with_id("QUERY GIDs", QUERY, self.resolved, query(2), 280, 0)
        self.with_id("LISTEN", LISTEN, self.bound, lambda one: struct.pack("<II", one, 4))
        self.with_id("INIT_QP_ATTR", INIT_QP_ATTR, self.resolved, lambda one: struct.pack("<QII", 0, one, 1), 144, 0)
        self.with_id("SET_OPTION type of service", SET_OPTION, self.created,
                     lambda one: self.option_body(one, 0, 0, 1), pointed=[("value", 0, b"\4")])
        self.with_id("SET_OPTION path", SET_OPTION, lambda: self.resolved(SERVICE),
                     lambda one: self.option_body(one, 1, 1, 72), pointed=[("value", 0, self.path())])
        self.with_id("CONNECT", CONNECT, lambda: self.routed(SERVICE + 1), self.connect_body)
        self.with_ids("ACCEPT", ACCEPT, self.requested, 1, self.accept_body)
        self.with_ids("REJECT", REJECT, self.requested, 1, lambda one: struct.pack("<IBBH256s", one, 0, 28, 0, b""))
        self.with_ids("NOTIFY", NOTIFY, self.accepted, 1, lambda one: struct.pack("<II", one, EVENT_COMM_EST))
        self.with_ids("DISCONNECT", DISCONNECT, self.established, 0, lambda one: struct.pack("<I", one))
        self.walk_event()
        self.walk_groups()
        self.walk_moved()


# ---- umad ----

class Datagrams(Device):
    """Requests to a umad. tid numbers the MADs."""

    def __init__(self, path):
        super().__init__(path)
        self.apart, self.tid = self.open(), 0

    def meanwhile(self, request):
        """Another file is served."""
        err = errno_of(libc.ioctl(self.apart, ctypes.c_ulong(ENABLE_PKEY), None))
        if err not in (0, errno.EINVAL):
            self.faults.append(f"meanwhile ENABLE_PKEY: {errno.errorcode[err]}")

    def ioctl(self, number, data, ways):
        place = area.put(data)
        return Request(self, lambda address: errno_of(libc.ioctl(self.fd, ctypes.c_ulong(number),
                                                                 ctypes.c_void_p(address))),
                       [Piece("argument", place, len(data), ways, cuts=(0, 4) if len(data) > 4 else (0,))])

    @staticmethod
    def old_agent():
        return struct.pack("<I16sBBB3sBx", 0, b"", 0, SMP_DIRECTED, 1, b"", 0)

    @staticmethod
    def new_agent():
        return struct.pack("<IIBBHIQQIB3x", 0, 0, SMP_DIRECTED, 1, 0, 0, 0, 0, 0, 0)

    def agent(self):
        request = self.ioctl(REGISTER2, self.new_agent(), BOTH)
        err = request.send(request.start)
        if err:
            raise OSError(err, "REGISTER_AGENT2")
        return struct.unpack("<I", ctypes.string_at(request.start, 4))[0]

    def unregister(self, one):
        request = self.ioctl(UNREGISTER, struct.pack("<I", one), READ)
        return request.send(request.start)

    def next_agent(self):
        """The number of the next one: the lowest that is free."""
        one = self.agent()
        assert self.unregister(one) == 0
        return one

    def walk_agents(self, name, number, data):
        def settle(one, err):
            left = self.unregister(one)
            return None if left == (errno.EINVAL if err else 0) else f"UNREGISTER_AGENT: {left}"

        self.walk(name, self.next_agent, lambda _: self.ioctl(number, data, BOTH), settle)

    def datagram(self, agent):
        """Get(NodeInfo) of the own port by a directed route of no hops."""
        self.tid += 1
        header = struct.pack("<7IHBB24xH6x", agent, 0, PATIENCE, 0, 0, 0, 0, PERMISSIVE, 0, 0, 0)
        mad = struct.pack(">BBBBHBBQHHI8xHH", 1, SMP_DIRECTED, 1, 1, 0, 0, 0, self.tid, NODE_INFO, 0, 0, PERMISSIVE,
                          PERMISSIVE)
        return header + mad + bytes(MAD - len(mad))

    def arrives(self):
        poller = select.poll()
        poller.register(self.fd, select.POLLIN)
        return bool(poller.poll(PATIENCE))

    def read(self):
        """(errno, the lower half of the transaction's number)"""
        place = area.put(bytes(UMAD_HEADER + MAD))
        err = errno_of(libc.read(self.fd, ctypes.c_void_p(place), ctypes.c_size_t(UMAD_HEADER + MAD)))
        return err, struct.unpack(">I", ctypes.string_at(place + UMAD_HEADER + 12, 4))[0]

    def sends(self, agent):
        data = self.datagram(agent)
        return Request(self, lambda address: write_at(self.fd, address, len(data)),
                       [Piece("datagram", area.put(data), len(data), READ,
                              cuts=(0, 36, UMAD_HEADER, UMAD_HEADER + 24))])

    def walk_send(self):
        def settle(agent, err):
            found = None
            if not err:
                found = self.read() if self.arrives() else "no answer"
                found = None if found == (0, self.tid) else f"read: {found}"
            return found or (None if self.read()[0] == errno.EAGAIN else "there is another datagram") or \
                (None if self.unregister(agent) == 0 else "the agent has gone")

        self.walk("write()", self.agent, self.sends, settle)

    def walk_receive(self):
        def prepare():
            agent = self.agent()
            request = self.sends(agent)
            assert request.send(request.start) == 0 and self.arrives()
            return agent

        def make(_):
            size = UMAD_HEADER + MAD
            return Request(self, lambda address: errno_of(libc.read(self.fd, ctypes.c_void_p(address),
                                                                    ctypes.c_size_t(size))),
                           [Piece("room", area.put(bytes(size)), size, WRITTEN, cuts=(0, 36, UMAD_HEADER))])

        def settle(agent, err):
            wrong = None
            if err and self.read() != (0, self.tid):
                wrong = "the datagram is lost"
            return wrong or (None if self.read()[0] == errno.EAGAIN else "there is another datagram") or \
                (None if self.unregister(agent) == 0 else "the agent has gone")

        self.walk("read()", prepare, make, settle)

    def everything(self):
        self.walk_agents("REGISTER_AGENT", REGISTER, self.old_agent())
        self.walk_agents("REGISTER_AGENT2", REGISTER2, self.new_agent())
        self.walk("UNREGISTER_AGENT", self.agent, lambda one: self.ioctl(UNREGISTER, struct.pack("<I", one), READ),
                  lambda one, err: None if self.unregister(one) == (0 if err else errno.EINVAL) else "it is not so")
        self.walk_send()
        self.walk_receive()


def resources(device):
    return subprocess.run(["rdma", "resource", "show", device], stdout=subprocess.PIPE, check=True).stdout


def attribute_of(device, name):
    with open(f"/sys/class/infiniband/{device}/ports/1/{name}", encoding="ascii") as file:
        return file.read().strip()


def umad_of(device):
    folder = "/sys/class/infiniband_mad"
    for name in sorted(os.listdir(folder)):
        if name.startswith("umad"):
            with open(f"{folder}/{name}/ibdev", encoding="ascii") as file:
                if file.read().strip() == device:
                    return f"/dev/infiniband/{name}"
    raise OSError(errno.ENODEV, device)


def main():
    Walk.lacking = "memory" in sys.argv[3:]
    device = sys.argv[1]
    gid = bytes.fromhex(attribute_of(device, "gids/0").replace(":", ""))
    print("TAP version 13")
    descriptors, before = len(os.listdir("/proc/self/fd")), resources(device)
    connections = Connections(gid, int(attribute_of(device, "lid"), 0), sys.argv[2])
    connections.everything()
    os.close(connections.fd)
    datagrams = Datagrams(umad_of(device))
    datagrams.everything()
    os.close(datagrams.fd)
    os.close(datagrams.apart)
    left, now = len(os.listdir("/proc/self/fd")) - descriptors, resources(device)
    tap.report("nothing is left behind", ([f"{left} descriptors"] if left else []) +
               ([f"before: {before}, now: {now}"] if now != before else []))
    print(f"1..{tap.points}")
    return 1 if tap.failed else 0


sys.exit(main())
