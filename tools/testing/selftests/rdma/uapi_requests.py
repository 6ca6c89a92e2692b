# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Requests of the user verbs API, made from the tables by which ib_uverbs decodes them
(tools/testing/counts/uapi-tables.tsv): a good one of every command, and ways to spoil it. Calls
return 0 or an errno."""

import ctypes
import itertools
import mmap
import os
import struct

TABLES = "/lab/src/tools/testing/counts/uapi-tables.tsv"
RDMA_VERBS_IOCTL = 0xc0181b01
EXTENDED = 0x80000000                   # IB_USER_VERBS_CMD_FLAG_EXTENDED
MANDATORY, ZERO_TAIL, FD, CONST, BYTES_OUT = 1, 2, 4, 8, 16
UHW, WRITE_UHW, TAIL, STREAM_OUT = 1, 2, 4, 8
UHW_IN, UHW_OUT = 0x1000, 0x1001        # UVERBS_ATTR_UHW_*
OWN = 0x1000                            # UVERBS_ID_DRIVER_NS: the first number of a driver's own
OBJECTS = ("read", "write", "new", "destroy")
TYPES = "DEVICE PD COMP_CHANNEL CQ QP SRQ AH MR MW FLOW XRCD RWQ_IND_TBL WQ FLOW_ACTION DM COUNTERS " \
    "ASYNC_EVENT".split()
NUMBER = {name: number for number, name in enumerate(TYPES)}
PAGE = mmap.PAGESIZE
NOWHERE = PAGE                          # an address at which nothing is
libc = ctypes.CDLL("libc.so.6", use_errno=True)


class Row:
    """One value of a command."""

    def __init__(self, fields):
        self.name, self.kind = fields[:2]
        self.flags, self.type, self.size, self.least = (int(fields[i]) for i in (2, 4, 5, 6))
        self.attr = None if fields[3] == "-" else int(fields[3])
        self.at = {"write": (int(fields[7]), int(fields[8])), "extended": (int(fields[9]), int(fields[10]))}
        self.mask, self.conditional = int(fields[11], 0), fields[12] == "1"
        self.is_object = self.kind in OBJECTS
        self.type_name = TYPES[self.type] if self.is_object else None
        self.ioctl_size = 8 if self.flags & CONST else self.size

    def has(self, flag):
        return bool(self.flags & flag)


class Command:
    """A command, its numbers in each form (None: it has no such form), and its rows. Reasons call it
    by a name that may not be its own."""

    def __init__(self, fields, called=None):
        self.name, self.called = fields[0], called or fields[0]
        self.object, self.flags = int(fields[1]), int(fields[5])
        self.method, write, extended = (None if one == "-" else int(one) for one in fields[2:5])
        sizes = [int(one) for one in fields[6:10]]
        self.number = {"ioctl": self.method, "write": write, "extended": extended}
        self.request = {"write": sizes[0], "extended": sizes[2]}
        self.response = {"write": sizes[1], "extended": sizes[3]}
        self.rows = []

    def row(self, name):
        return next(row for row in self.rows if row.name == name)


def load():
    commands = []
    with open(TABLES, encoding="ascii") as file:
        for line in file:
            what, *fields = line.rstrip("\n").split("\t")
            if what == "command":
                commands.append(Command(fields))
            elif what == "row":
                commands[-1].rows.append(Row(fields))
    return commands + drivers_own(commands)


def drivers_own(commands):
    """What vhca adds to the tables: methods, and an attribute of a method of the core's. Reasons have
    no names for them."""
    def row(kind, number, what, size=0):
        flags = MANDATORY | ZERO_TAIL if size else MANDATORY
        return Row(["driver attribute", kind, flags, number, NUMBER[what], size, size, 0, 0, 0, 0, "0", "0"])

    def method(name, what, *rows):
        command = Command([name, NUMBER[what], OWN, "-", "-", 0, 0, 0, 0, 0], "driver method")
        command.rows += rows
        return command

    query = next(command for command in commands if command.name == "QUERY_CONTEXT")
    query.rows.append(row("out", OWN, "DEVICE", 48))
    return [method("PD_QUERY", "PD", row("read", OWN, "PD"), row("out", OWN + 1, "PD", 8)),
            method("CLOCK_QUERY", "DEVICE", row("out", OWN, "DEVICE", 24))]


class Memory:
    """Pages with an address. The one before and the one behind cannot be accessed."""

    def __init__(self, pages):
        whole = libc_mmap(pages + 2)
        self.start, self.end, self.used = whole + PAGE, whole + (pages + 1) * PAGE, 0
        for guard in (whole, self.end):
            libc.munmap(ctypes.c_void_p(guard), PAGE)

    def place(self, address, data):
        assert self.start <= address and address + len(data) <= self.end
        ctypes.memmove(address, bytes(data), len(data))

    def put(self, data):
        """The address of a copy, which stays until reset()."""
        address = self.start + self.used
        self.place(address, data)
        self.used += (len(data) + 15) & ~7
        return address

    def reset(self):
        self.used = 0


def libc_mmap(pages):
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int,
                          ctypes.c_long]
    return libc.mmap(None, pages * PAGE, mmap.PROT_READ | mmap.PROT_WRITE,
                     mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)


area = Memory(16)       # requests and what they point to
rings = Memory(256)     # what the objects are made of, for as long as they are there


def errno_of(result):
    return ctypes.get_errno() if result < 0 else 0


def ioctl_at(fd, address):
    return errno_of(libc.ioctl(fd, ctypes.c_ulong(RDMA_VERBS_IOCTL), ctypes.c_void_p(address)))


def write_at(fd, address, length):
    return errno_of(libc.write(fd, ctypes.c_void_p(address), ctypes.c_size_t(length)))


def attribute(number, length, data, reserved=0, flags=1):
    return struct.pack("<HHHHQ", number, length, flags, reserved, data & (1 << 64) - 1)


def payload(number, data, **more):
    """Up to eight bytes stand in the attribute itself."""
    if len(data) <= 8:
        return attribute(number, len(data), int.from_bytes(data, "little"), **more)
    return attribute(number, len(data), area.put(data), **more)


def frame(obj, method, attrs):
    return struct.pack("<HHHHQII", 24 + 16 * len(attrs), obj, method, len(attrs), 0, 0, 0) + b"".join(attrs)


def ioctl(fd, obj, method, attrs):
    return ioctl_at(fd, area.put(frame(obj, method, attrs)))


# ---- good requests ----

RING_PAGES = 8
ring_sets = itertools.cycle(range(rings.start, rings.end, RING_PAGES * PAGE))


def driver_part(name):
    """vhca's part of a good request, b"" for a command without. Objects take the sets of rings by
    turns: a kernel that looks after DMA mappings complains of a page that has more than seven."""
    ring = next(ring_sets)
    cq = struct.pack("<QII", ring, 4, 0)
    srq = struct.pack("<QBB6x", ring, 4, 5)
    return {"CREATE_CQ": cq, "RESIZE_CQ": cq, "CREATE_SRQ": srq, "CREATE_XSRQ": srq,
            "CREATE_QP": struct.pack("<QQBBB5x", ring, ring + 4 * PAGE, 4, 4, 5),
            "MODIFY_SRQ": struct.pack("<QB7x", 0, 0xff), "GET_CONTEXT": bytes(8)}.get(name, b"")


DRIVER_ROOM = 64

QPT_RC, QPT_XRC_TGT = 2, 10
GOOD = {        # what is not 0 in a good request: by command, and by row
    "QUERY_PORT": {"port_num": 1},
    "QUERY_GID_TABLE": {"entry_size": 32, "entries": bytes(32 * 64)},
    "QUERY_GID_ENTRY": {"port": 1},
    "INFO_HANDLES": {"object_id": 1, "total_handles": True, "handles_list": bytes(64)},
    # to carry QUERY_PORT
    "INVOKE_WRITE": {"write_cmd": 2, "core_in": struct.pack("<QB7x", 0, 1), "core_out": bytes(40)},
    "REG_MR": {"start": rings.start, "length": PAGE, "hca_va": rings.start, "access_flags": 1},
    "REREG_MR": {"flags": 4, "access_flags": 1},
    "ADVISE_MR": {"sge_list": bytes(16)},
    "REG_DMABUF_MR": {"length": PAGE, "fd": 0},
    "ALLOC_MW": {"mw_type": 1},
    "CREATE_CQ": {"cqe": 16, "comp_channel": 0xffffffff},
    "RESIZE_CQ": {"cqe": 16},
    "MODIFY_CQ": {"attr_mask": 1},
    "CREATE_QP": {"qp_type": QPT_RC, "cap": struct.pack("<5I", 1, 1, 1, 1, 0), "pd_handle": True,
                  "send_cq_handle": True, "recv_cq_handle": True,
                  "max_send_wr": 1, "max_recv_wr": 1, "max_send_sge": 1, "max_recv_sge": 1},
    "QUERY_QP": {"attr_mask": 1},
    "CREATE_SRQ": {"max_wr": 16, "max_sge": 1},
    "CREATE_XSRQ": {"srq_type": 1, "max_wr": 16, "max_sge": 1},
    "MODIFY_SRQ": {"attr_mask": 2},
    "CREATE_AH": {"attr": bytes(24) + struct.pack("<HBBBBBB", 1, 0, 0, 0, 0, 1, 0)},
    "OPEN_XRCD": {"fd": 0xffffffff, "oflags": os.O_CREAT},
    "OPEN_QP": {"qp_type": QPT_XRC_TGT},
}
# Values with which a row of a write() request means anything.
MEANT = {
    ("CREATE_QP", "srq_handle"): {"is_srq": 1},
    ("CREATE_QP", "xrcd_handle"): {"qp_type": QPT_XRC_TGT},
    ("CREATE_QP", "rwq_ind_tbl_handle"): {"comp_mask": 1},
    ("REREG_MR", "pd_handle"): {"flags": 2},
}


class File:
    """An open uverbs file, and handles of its objects by type."""

    def __init__(self, path):
        self.path = path
        self.fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        self.handle = {}

    def make_context(self):
        response = area.put(bytes(128))
        request = struct.pack("<IHHQQ", 0, 6, 32, response, 0)
        assert write_at(self.fd, area.put(request), len(request)) == 0
        self.handle["ASYNC_EVENT"], self.vectors = struct.unpack("<iI", ctypes.string_at(response, 8))

    def made_by(self, command, form="write", **values):
        """The handle of a new object."""
        area.reset()
        if form == "write":
            response = area.put(bytes(256))
            request = written(command, form, self.handle, response, values=values)
            err = write_at(self.fd, area.put(request), len(request))
            place = response
        else:
            attrs = attributes(command, self.handle)
            place = area.put(frame(command.object, command.method, attrs))
            err = ioctl_at(self.fd, place)
            new = next(row.attr for row in command.rows if row.kind == "new")
            number = next(i for i, one in enumerate(attrs) if struct.unpack_from("<H", one)[0] == new)
            place += 24 + 16 * number + 8
        if err:
            raise OSError(err, f"{command.name}: {os.strerror(err)}: {self.reasons()[-1:]}")
        return struct.unpack("<I", ctypes.string_at(place, 4))[0]

    def reasons(self):
        """[(number, errno, text)] of those that are kept."""
        found = []
        with open(f"/proc/self/fdinfo/{self.fd}", encoding="utf-8") as file:
            for line in file:
                if line.startswith("rdma-reject:"):
                    _, number, _, err, text = line.rstrip("\n").split(None, 4)
                    found.append((int(number), -int(err), text))
        return found

    def close(self):
        os.close(self.fd)


def value_of(command, row, values=None):
    """A row's value in a good request, or None where it is left out."""
    given = {**GOOD.get(command.name, {}), **(values or {})}
    if row.name in given:
        return given[row.name]
    return 0 if row.flags & MANDATORY else None


def good_attribute(command, row, handles):
    value = value_of(command, row) or 0
    if row.is_object:
        return attribute(row.attr, 0, 0 if row.kind == "new" else handles.get(row.type_name, 0))
    if row.kind == "out":
        return attribute(row.attr, row.size, area.put(bytes(row.size)))
    if row.kind == "list" and row.has(BYTES_OUT):
        return attribute(row.attr, len(value or b""), area.put(value or b""))
    if row.kind in ("list", "blob"):
        return payload(row.attr, value or bytes(row.size))
    return payload(row.attr, value.to_bytes(4 if row.kind == "mask" else row.ioctl_size, "little"))


def attributes(command, handles, without=None):
    """The attributes of a good ioctl request."""
    attrs = [good_attribute(command, row, handles) for row in command.rows
             if row.attr is not None and row is not without and value_of(command, row) is not None]
    part = driver_part(command.name) if command.flags & UHW else b""
    if part:
        attrs.append(payload(UHW_IN, part))
        attrs.append(attribute(UHW_OUT, DRIVER_ROOM, area.put(bytes(DRIVER_ROOM))))
    return attrs


def body(command, form, handles, values=None):
    """The structure of a good request by write(), its response address left out."""
    data = bytearray(command.request[form])
    # what is part of another comes after it
    for row in sorted(command.rows, key=lambda row: row.kind != "blob"):
        at, size = row.at[form]
        value = value_of(command, row, values) or 0
        if not size or row.kind in ("out", "handle_out", "new"):
            continue
        # another row may stand in the same place
        if (command.name, row.name) in MEANT and row.name not in (values or {}):
            continue
        if row.is_object and row.name not in (values or {}):
            value = value if row.has(FD) else handles.get(row.type_name, 0)
        if isinstance(value, int):
            value = (value & (1 << 8 * size) - 1).to_bytes(size, "little")
        data[at:at + len(value)] = value
    return data


def written(command, form, handles, response, values=None, spoil=None):
    """A good request by write(). spoil changes its parts: a dict with the keys of the headers,
    "body" and "more", which is what follows."""
    parts = {"body": body(command, form, handles, values), "more": b"", "response": response, "reserved": 0}
    driver = command.flags & WRITE_UHW or form == "extended" and command.flags & UHW
    if driver:
        parts["more"] = driver_part(command.name)
    word = 4 if form == "write" else 8
    room = DRIVER_ROOM // word if driver else 0
    size = command.response[form]
    if form == "write":
        if size:
            struct.pack_into("<Q", parts["body"], 0, response)
        parts["in_words"] = (8 + len(parts["body"]) + len(parts["more"])) // word
        parts["out_words"] = size // word + room
        if spoil:
            spoil(parts)
        return struct.pack("<IHH", command.number[form], parts["in_words"], parts["out_words"]) + \
            parts["body"] + parts["more"]
    parts["in_words"], parts["out_words"] = len(parts["body"]) // word, size // word
    parts["provider_in_words"], parts["provider_out_words"] = len(parts["more"]) // word, room
    if not size:
        parts["response"] = 0
        parts["provider_out_words"] = 0
    if spoil:
        spoil(parts)
    return struct.pack("<IHHQHHI", command.number[form] | EXTENDED, parts["in_words"], parts["out_words"],
                       parts["response"], parts["provider_in_words"], parts["provider_out_words"],
                       parts["reserved"]) + parts["body"] + parts["more"]
