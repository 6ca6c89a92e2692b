#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""rdma_bad_netlink.py HEADER [-n]: requests to the RDMA netlink socket that must be refused, each
with its errno and a reason in the answer; TAP on stdout. Every command is asked without what it
needs, with numbers of nothing, by a user without privilege and from another namespace, and with
every attribute malformed. Nothing may have changed afterwards.

HEADER is uapi/rdma/rdma_netlink.h, which numbers commands and attributes. "-n" leaves the
reasons unchecked, for kernels that give none."""

import collections
import ctypes
import errno
import os
import re
import socket
import struct
import sys

NETLINK_RDMA, NLDEV = 20, 5
SOL_NETLINK, CAP_ACK, EXT_ACK = 270, 10, 11
REQUEST, ACK, DUMP, ACK_TLVS = 1, 4, 0x300, 0x200
ERROR, DONE = 2, 3
CLONE_NEWNET, CLONE_NEWUSER = 0x40000000, 0x10000000
NOTHING = 0x7ffffff     # number of no device, port or object

Answer = collections.namedtuple("Answer", "err reason attrs")


def numbers(path):
    """Names of the header's enums, without their prefixes: (commands, attributes)"""
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    found = {}
    for body in re.findall(r"enum rdma_nldev_(?:command|attr)\s*\{(.*?)\}", text, re.S):
        number = 0
        for item in filter(None, (part.strip() for part in body.split(","))):
            name, _, given = (part.strip() for part in item.partition("="))
            if given:
                number = int(given, 0) if given[0].isdigit() else found[given]
            found[name] = number
            number += 1
    commands = {name[len("RDMA_NLDEV_CMD_"):]: value for name, value in found.items()
                if name.startswith("RDMA_NLDEV_CMD_")}
    attrs = {name[len("RDMA_NLDEV_"):]: value for name, value in found.items()
             if name not in ("RDMA_NLDEV_ATTR_MAX", "RDMA_NLDEV_NUM_OPS") and "_CMD_" not in name}
    return commands, {name.removeprefix("ATTR_"): value for name, value in attrs.items()}


COMMAND, ATTR = numbers(sys.argv[1])
REASONS = "-n" not in sys.argv

# What attributes are made of, by the fewest bytes they may have; the others are texts.
BYTES = {
    1: """LMC PORT_STATE PORT_PHYS_STATE DEV_NODE_TYPE RES_PATH_MIG_STATE RES_TYPE RES_STATE
        RES_POLL_CTX DRIVER_PRINT_TYPE SYS_ATTR_NETNS_MODE DEV_DIM SYS_ATTR_COPY_ON_FORK
        STAT_HWCOUNTER_DYNAMIC SYS_ATTR_PRIVILEGED_QKEY_MODE DRIVER_DETAILS DEV_TYPE""",
    4: """DEV_INDEX PORT_INDEX LID SM_LID RES_LQPN RES_RQPN RES_RQ_PSN RES_SQ_PSN RES_PID RES_PS
        RES_CQE RES_RKEY RES_LKEY RES_LOCAL_DMA_LKEY RES_UNSAFE_GLOBAL_RKEY NDEV_INDEX DRIVER_S32
        DRIVER_U32 RES_PDN RES_CQN RES_MRN RES_CM_IDN RES_CTXN NET_NS_FD STAT_MODE STAT_RES
        STAT_AUTO_MODE_MASK STAT_COUNTER_ID RES_SRQN MIN_RANGE MAX_RANGE STAT_HWCOUNTER_INDEX""",
    8: """NODE_GUID SYS_IMAGE_GUID SUBNET_PREFIX RES_SUMMARY_ENTRY_CURR RES_USECNT RES_IOVA
        RES_MRLEN DRIVER_S64 DRIVER_U64 CHARDEV_ABI CHARDEV STAT_HWCOUNTER_ENTRY_VALUE""",
}
BYTES = {name: size for size, names in BYTES.items() for name in names.split()}
TEXTS = "DEV_NAME NDEV_NAME LINK_TYPE CHARDEV_TYPE".split()

# Commands by what they do with a request.
ADMIN = """SET NEWLINK DELLINK SYS_SET STAT_SET STAT_DEL RES_QP_GET_RAW RES_CQ_GET_RAW RES_MR_GET_RAW
    RES_SRQ_GET_RAW NEWDEV DELDEV""".split()
NUMBERED = {"RES_QP_GET": "RES_LQPN", "RES_CM_ID_GET": "RES_CM_IDN", "RES_CQ_GET": "RES_CQN",
            "RES_MR_GET": "RES_MRN", "RES_PD_GET": "RES_PDN", "RES_CTX_GET": "RES_CTXN",
            "RES_SRQ_GET": "RES_SRQN", "RES_QP_GET_RAW": "RES_LQPN", "RES_CQ_GET_RAW": "RES_CQN",
            "RES_MR_GET_RAW": "RES_MRN", "RES_SRQ_GET_RAW": "RES_SRQN"}
OF_PORTS = ("RES_QP_GET", "RES_CM_ID_GET", "RES_QP_GET_RAW")
ALONE = ("SYS_GET", "SYS_SET", "GET_CHARDEV", "NEWLINK")     # need no device
WITH_PORT = ("PORT_GET", "STAT_GET", "STAT_GET_STATUS", "STAT_SET", "STAT_DEL")
KNOWN = [name for name in COMMAND if name not in ("UNSPEC", "MONITOR")]
NO_LIST = """SET NEWLINK DELLINK SYS_GET SYS_SET GET_CHARDEV STAT_SET STAT_DEL STAT_GET_STATUS NEWDEV
    DELDEV""".split()


def attr(name, value):
    """value: a number in the attribute's size, a text with its NUL, or bytes as they are"""
    if isinstance(value, int):
        value = value.to_bytes(BYTES[name], sys.byteorder)
    elif isinstance(value, str):
        value = value.encode() + b"\0"
    number = ATTR[name] | (0x8000 if name == "STAT_HWCOUNTERS" else 0)
    return struct.pack("=HH", 4 + len(value), number) + value + bytes(-len(value) % 4)


class Talk:
    """A socket and what is said through it."""

    def __init__(self):
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_RDMA)
        self.sock.bind((0, 0))
        self.sock.settimeout(60)
        self.sock.setsockopt(SOL_NETLINK, EXT_ACK, 1)
        self.sock.setsockopt(SOL_NETLINK, CAP_ACK, 1)
        self.seq = 0

    def send(self, op, body=b"", flags=0):
        number = op if isinstance(op, int) else NLDEV << 10 | COMMAND[op]
        self.seq += 1
        head = struct.pack("=IHHII", 16 + len(body), number, REQUEST | ACK | flags, self.seq, 0)
        self.sock.send(head + body)
        return self.answer()

    def answer(self):
        attrs = b""
        while True:
            data = self.sock.recv(65536)
            while len(data) >= 16:
                length, kind, flags, seq, _ = struct.unpack_from("=IHHII", data)
                body, data = data[16:length], data[(length + 3) & ~3:]
                if seq != self.seq:
                    continue
                if kind not in (ERROR, DONE):
                    attrs += body
                    continue
                err = -struct.unpack_from("=i", body)[0]
                # behind an error stands the request's header
                reason = body[20 if kind == ERROR else 4:] if flags & ACK_TLVS else b""
                return Answer(err, parse(reason).get(1, b"").rstrip(b"\0").decode(), attrs)


def parse(data):
    found = {}
    while len(data) >= 4:
        length, kind = struct.unpack_from("=HH", data)
        if length < 4:
            break
        found[kind & 0x3fff] = data[4:length]
        data = data[(length + 3) & ~3:]
    return found


class Group:
    """One line of TAP for many requests."""

    count = bad = requests = 0

    def __init__(self, name):
        self.name, self.faults = name, []

    def __enter__(self):
        return self

    def expect(self, what, err, answer, reason=True):
        Group.requests += 1
        if answer.err != err:
            self.faults.append(f"{what}: {name_of(answer.err)} instead of {name_of(err)}")
        elif REASONS and reason and err and not answer.reason:
            self.faults.append(f"{what}: {name_of(err)} without a reason")

    def __exit__(self, kind, value, trace):
        if kind:
            return
        Group.count += 1
        for fault in self.faults[:20]:
            print(f"# {fault}")
        Group.bad += bool(self.faults)
        print(f"{'not ' if self.faults else ''}ok {Group.count} - {self.name}", flush=True)


def name_of(err):
    return errno.errorcode.get(err, str(err))


def in_child(what):
    """Exit status of a process of its own that does something to itself: 0 when all went well."""
    sys.stdout.flush()
    pid = os.fork()
    if not pid:
        try:
            os._exit(what())
        except BaseException as fault:      # pylint: disable=broad-except
            print(f"# {fault}", flush=True)
            os._exit(99)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def unshare(flags):
    if ctypes.CDLL(None, use_errno=True).unshare(flags):
        raise OSError(ctypes.get_errno(), "unshare")


def state(talk):
    """All that the tool could show of devices, objects and settings."""
    device = attr("DEV_INDEX", first_device(talk))
    return [talk.send("GET", flags=DUMP).attrs, talk.send("PORT_GET", device, DUMP).attrs,
            talk.send("RES_GET", flags=DUMP).attrs, talk.send("SYS_GET").attrs,
            talk.send("STAT_GET_STATUS", device + attr("PORT_INDEX", 1)).attrs]


def first_device(talk):
    return struct.unpack("=I", parse(talk.send("GET", flags=DUMP).attrs)[ATTR["DEV_INDEX"]])[0]


def unknown_commands(talk):
    with Group("commands that do not exist") as group:
        for op in [0, COMMAND["MONITOR"], 8, max(COMMAND.values()) + 1, 0x3ff]:
            for flags in (0, DUMP):
                group.expect(f"command {op}", errno.EINVAL, talk.send(NLDEV << 10 | op, flags=flags),
                             op and op < max(COMMAND.values()))
        for client in (3, 7, 63):
            group.expect(f"client {client}", errno.EINVAL, talk.send(client << 10 | 1), False)


def nothing_given(talk):
    with Group("commands without what they need") as group:
        for op in KNOWN:
            if op != "SYS_GET":
                group.expect(op, errno.EINVAL, talk.send(op))
    with Group("lists of what is no list") as group:
        for op in NO_LIST:
            group.expect(op, errno.EINVAL, talk.send(op, flags=DUMP))


def refused_of_device(group, talk, index):
    """Every command about a device that the sender does not have."""
    for op in KNOWN:
        if op in ALONE:
            continue
        body = attr("DEV_INDEX", index) + attr("PORT_INDEX", 1) + attr("DEV_NAME", "x") + \
            attr("DEV_TYPE", 1)
        if op in NUMBERED:
            body += attr(NUMBERED[op], 1)
        group.expect(op, errno.EINVAL, talk.send(op, body))


def numbers_of_nothing(talk, index):
    with Group("a device that does not exist") as group:
        refused_of_device(group, talk, NOTHING)
    device = attr("DEV_INDEX", index)
    with Group("a port that the device has not") as group:
        for op in WITH_PORT + tuple(NUMBERED):
            body = device + attr("PORT_INDEX", 77)
            if op in NUMBERED:
                body += attr(NUMBERED[op], 1)
            group.expect(op, errno.EINVAL, talk.send(op, body))
    with Group("a port where objects are the device's, and none where they are a port's") as group:
        for op, number in NUMBERED.items():
            port = b"" if op in OF_PORTS else attr("PORT_INDEX", 1)
            group.expect(op, errno.EINVAL, talk.send(op, device + port + attr(number, 1)))
    with Group("an object that does not exist") as group:
        for op, number in NUMBERED.items():
            port = attr("PORT_INDEX", 1) if op in OF_PORTS else b""
            group.expect(op, errno.ENOENT, talk.send(op, device + port + attr(number, NOTHING)))


def bad_values(talk, index):
    device = attr("DEV_INDEX", index)
    port = device + attr("PORT_INDEX", 1)
    qps = port + attr("STAT_RES", ATTR["RES_QP"])
    with Group("values that mean nothing") as group:
        for op, body, err in (
                ("SET", device + attr("DEV_DIM", 2), errno.EINVAL),
                ("SYS_SET", attr("SYS_ATTR_NETNS_MODE", 2), errno.EINVAL),
                ("SYS_SET", attr("SYS_ATTR_PRIVILEGED_QKEY_MODE", 2), errno.EINVAL),
                ("NEWLINK", attr("DEV_NAME", "x") + attr("LINK_TYPE", "none") + attr("NDEV_NAME", "lo"),
                 errno.EINVAL),
                ("NEWLINK", attr("DEV_NAME", "x") + attr("LINK_TYPE", "none") +
                 attr("NDEV_NAME", "none"), errno.ENODEV),
                ("NEWLINK", attr("DEV_NAME", "x%d") + attr("LINK_TYPE", "none") +
                 attr("NDEV_NAME", "lo"), errno.EINVAL),
                ("DELLINK", device, errno.EINVAL),
                ("NEWDEV", device + attr("DEV_NAME", "x") + attr("DEV_TYPE", 1), errno.EOPNOTSUPP),
                ("DELDEV", device, errno.EOPNOTSUPP),
                ("GET_CHARDEV", attr("CHARDEV_TYPE", "x") + attr("PORT_INDEX", 1), errno.EINVAL),
                ("GET_CHARDEV", device + attr("CHARDEV_TYPE", "no_client"), errno.EOPNOTSUPP),
                ("STAT_GET", port + attr("STAT_RES", ATTR["RES_CQ"]), errno.EINVAL),
                ("STAT_GET", qps, errno.EINVAL),
                ("STAT_SET", port, errno.EINVAL),
                ("STAT_SET", port + attr("STAT_MODE", 1), errno.EINVAL),
                ("STAT_SET", port + attr("STAT_HWCOUNTERS", attr("STAT_HWCOUNTER_INDEX", 0)),
                 errno.EINVAL),
                ("STAT_SET", port + attr("STAT_HWCOUNTERS", attr("STAT_HWCOUNTER_INDEX", 9999)),
                 errno.EINVAL),
                ("STAT_DEL", port + attr("STAT_RES", ATTR["RES_MR"]), errno.EINVAL),
                ("STAT_DEL", qps + attr("RES_LQPN", 1), errno.EINVAL)):
            group.expect(f"{op} {body.hex()}", err, talk.send(op, body))
        if REASONS:     # 6.12 takes it
            group.expect("a name with a slash", errno.EINVAL,
                         talk.send("SET", device + attr("DEV_NAME", "a/b")))
        # the kernel's own helper says no more than that
        group.expect("SET to a file that is no namespace", errno.EINVAL,
                     talk.send("SET", device + attr("NET_NS_FD", 0)), False)
        group.expect("SET to no file", errno.EBADF,
                     talk.send("SET", device + attr("NET_NS_FD", 9999)), False)


def malformed(op):
    """Linux 6.12 tells what is wrong by one command only."""
    return errno.ERANGE if op == "SYS_GET" else errno.EINVAL


def malformed_attributes(talk, index):
    with Group("numbers of too few bytes, in every command") as group:
        for op in KNOWN:
            for name, size in BYTES.items():
                group.expect(f"{op} {name}", malformed(op), talk.send(op, attr(name, bytes(size - 1))))
    with Group("texts without an end, or of too many bytes") as group:
        for op in KNOWN:
            for name in TEXTS:
                group.expect(f"{op} {name}", errno.EINVAL, talk.send(op, attr(name, b"abcd")))
                group.expect(f"{op} {name}", errno.EINVAL, talk.send(op, attr(name, "x" * 300)))
    with Group("tables that are none") as group:
        for op in KNOWN:
            group.expect(op, malformed(op), talk.send(op, attr("STAT_HWCOUNTERS", b"abc")))
    with Group("lists by malformed requests") as group:
        for op in KNOWN:
            if op in NO_LIST or op in ("GET", "RES_GET"):
                continue
            group.expect(op, errno.EINVAL, talk.send(op, attr("DEV_INDEX", b"abc"), DUMP), False)
    device, unknown = attr("DEV_INDEX", index), struct.pack("=HHI", 8, max(ATTR.values()) + 100, 0)
    with Group("what is passed over in questions, and not where something is to change") as group:
        for name, body in (("an attribute too many", device + unknown),
                           ("a number of too many bytes", attr("DEV_INDEX", index.to_bytes(8, sys.byteorder)))):
            group.expect(f"GET, {name}", 0, talk.send("GET", body))
            group.expect(f"SET, {name}", errno.EINVAL, talk.send("SET", body))


def unprivileged(talk):
    """As a user without privilege: administration is refused, the rest is not for want of it."""
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
    talk = Talk()
    with Group("administration without privilege") as group:
        for op in ADMIN:
            group.expect(op, errno.EPERM, talk.send(op))
        for op in KNOWN:
            if op not in ADMIN and op != "SYS_GET":
                group.expect(op, errno.EINVAL, talk.send(op))
    return len(group.faults)


def in_user_namespace():
    """Root of a user namespace has no privilege over devices."""
    there_are = os.path.exists("/proc/self/ns/user")    # not in every kernel
    if there_are:
        unshare(CLONE_NEWUSER | CLONE_NEWNET)
    talk = Talk()
    with Group("administration by root of another user namespace") as group:
        for op in ADMIN if there_are else ():
            group.expect(op, errno.EPERM, talk.send(op))
    return len(group.faults)


def other_namespace(talk, index):
    """Where devices are not shared, another network namespace has none."""
    mode = talk.send("SYS_SET", attr("SYS_ATTR_NETNS_MODE", 0))
    if mode.err:
        raise SystemExit(f"rdma_bad_netlink: exclusive mode: {name_of(mode.err)}")

    def inside():
        unshare(CLONE_NEWNET)
        there = Talk()
        with Group("a device of another network namespace") as group:
            refused_of_device(group, there, index)
            if there.send("GET", flags=DUMP).attrs:
                group.faults.append("it is listed")
        return len(group.faults)

    status = in_child(inside)
    # the kernel takes a namespace down in its own time, and it is in the way until then
    while talk.send("SYS_SET", attr("SYS_ATTR_NETNS_MODE", 1)).err == errno.EBUSY:
        os.sched_yield()
    return status


def counted(status):
    """A group that ran in a child has printed its line; here it is counted."""
    Group.count += 1
    Group.bad += bool(status)


def main():
    print("TAP version 13\n1..17")
    talk = Talk()
    index = first_device(talk)
    before = state(talk)
    unknown_commands(talk)
    nothing_given(talk)
    numbers_of_nothing(talk, index)
    bad_values(talk, index)
    malformed_attributes(talk, index)
    counted(in_child(lambda: unprivileged(talk)))
    counted(other_namespace(talk, index))
    # last, for its namespace may be there for a while, and devices cannot become exclusive until then
    counted(in_child(in_user_namespace))
    with Group("nothing has changed") as group:
        if state(talk) != before:
            group.faults.append("devices, objects or settings are not what they were")
    print(f"# {Group.requests} requests")
    sys.exit(bool(Group.bad))


main()
