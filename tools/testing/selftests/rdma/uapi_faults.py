#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""uapi_faults.py DEVICE FAKE [memory]: walk the tables of the user verbs API and get every piece of memory of every
request wrong: it cannot be written, it is not there, it comes late (userfaultfd), or it is taken away
while the kernel waits for it. That is each attribute, each of its payloads, and request and response
of the write() forms, by write() as well as carried by an ioctl.

A request whose outcome cannot be told must fail and leave nothing made, taken or posted, unless it
destroys, which cannot be undone. Every command has a good request that succeeds, on DEVICE or, for
what that one does not offer, on FAKE (rdma_ufake). While it waits for memory the file must go on
serving others. What is left to find is for the debug kernel's checkers. TAP on stdout.

With "memory" it is the kernel that lacks memory, at each place of each request (uapi_lack)."""

import ctypes
import errno
import fcntl
import json
import os
import struct
import subprocess
import sys

from uapi_requests import (DRIVER_ROOM, EXTENDED, GOOD, NUMBER, PAGE, QPT_XRC_TGT, TYPES, UHW, UHW_IN, UHW_OUT,
                           WRITE_UHW, File, area, attribute, attributes, body, driver_part, frame, ioctl,
                           ioctl_at, libc_mmap, load, payload, write_at, written)
from uapi_spoilt import BOTH, READ, WRITTEN, Piece, Request, Tap, Walk, pointer

UDMABUF_CREATE = 0x40187542
F_ADD_SEALS, F_SEAL_SHRINK = 1033, 2
HEADER = 24                                 # bytes of the ioctl's, and of an extended write()'s
CORE_IN, CORE_OUT, WRITE_CMD = 0, 1, 2      # UVERBS_ATTR_*, of INVOKE_WRITE
INVOKE_WRITE = 0                            # UVERBS_METHOD_INVOKE_WRITE

ABSENT = ["FLOW_ACTION"]                    # made by methods of drivers alone
# Objects in the order in which they are made, and by which command each is destroyed.
MADE_BY = [("PD", "ALLOC_PD", "write"), ("COMP_CHANNEL", "CREATE_COMP_CHANNEL", "write"),
           ("CQ", "CREATE_CQ", "ioctl"), ("SRQ", "CREATE_SRQ", "ioctl"), ("QP", "CREATE_QP", "ioctl"),
           ("MR", "REG_MR", "write"), ("MW", "ALLOC_MW", "write"), ("AH", "CREATE_AH", "write"),
           ("XRCD", "OPEN_XRCD", "write")]
MADE_BY_FAKE = MADE_BY[:5] + [("DM", "DM_ALLOC", "ioctl"), ("WQ", "CREATE_WQ", "ioctl"),
                              ("COUNTERS", "COUNTERS_CREATE", "ioctl"), ("FLOW", "CREATE_FLOW", "extended"),
                              ("RWQ_IND_TBL", "CREATE_RWQ_IND_TBL", "extended")]
DESTROYED_BY = {"PD": "DEALLOC_PD", "CQ": "DESTROY_CQ", "SRQ": "DESTROY_SRQ", "QP": "DESTROY_QP",
                "MR": "DEREG_MR", "MW": "DEALLOC_MW", "AH": "DESTROY_AH", "XRCD": "CLOSE_XRCD", "DM": "DM_FREE",
                "WQ": "DESTROY_WQ", "COUNTERS": "COUNTERS_DESTROY", "FLOW": "DESTROY_FLOW",
                "RWQ_IND_TBL": "DESTROY_RWQ_IND_TBL"}
ON_FAKE = "POLL_CQ REQ_NOTIFY_CQ POST_SEND POST_RECV POST_SRQ_RECV ADVISE_MR DM_MR_REG".split()
TYPES_ON_FAKE = "DM WQ RWQ_IND_TBL FLOW COUNTERS".split()

# Good requests of these are longer than their structures. A work request is numbered, and has an entry; a rule
# has a specification, of any Ethernet header or of counters; a table has two queues.
WR_ID = 1 << 40
ENTRY = struct.pack("<QII", 0, 16, 1)
SEND = struct.pack("<QIIII32x", WR_ID, 1, 2, 2, 0)          # IB_WR_SEND, IB_SEND_SIGNALED
RECEIVE = struct.pack("<QII", WR_ID, 1, 0)
ANY_HEADER = struct.pack("<IHH32x", 0x20, 40, 0)            # IB_FLOW_SPEC_ETH
TAILS = {"POST_SEND": SEND + ENTRY, "POST_RECV": RECEIVE + ENTRY, "POST_SRQ_RECV": RECEIVE + ENTRY,
         "CREATE_FLOW": ANY_HEADER}
COMPLETION = 48                             # sizeof(struct ib_uverbs_wc)
MORE_RESPONSE = {"POLL_CQ": COMPLETION}
NEW_AT = {"FLOW": 4, "RWQ_IND_TBL": 8}      # where the handle stands in the answer to what makes it
QPT_UD, NO_QUEUE = 4, 0xff
GOOD.update({
    "POLL_CQ": {"ne": 1},
    "POST_SEND": {"wr_count": 1, "sge_count": 1, "wqe_size": len(SEND)},
    "POST_RECV": {"wr_count": 1, "sge_count": 1, "wqe_size": len(RECEIVE)},
    "POST_SRQ_RECV": {"wr_count": 1, "sge_count": 1, "wqe_size": len(RECEIVE)},
    "ATTACH_MCAST": {"gid": bytes([0xff, 0x12]) + bytes(13) + b"\1", "mlid": 0xc001},
    "DETACH_MCAST": {"gid": bytes([0xff, 0x12]) + bytes(13) + b"\1", "mlid": 0xc001},
    "DM_ALLOC": {"length": PAGE},
    "CREATE_WQ": {"cq_handle": True, "max_wr": 1, "max_sge": 1, "wq_num": True},
    "MODIFY_WQ": {"attr_mask": 1, "wq_state": 1},
    "CREATE_RWQ_IND_TBL": {"log_ind_tbl_size": 1},
    "CREATE_FLOW": {"size": len(ANY_HEADER), "num_of_specs": 1, "port": 1},
    "COUNTERS_READ": {"buff": bytes(16)},
    "DM_MR_REG": {"length": PAGE, "access_flags": 1 << 5},     # IB_ACCESS_ZERO_BASED
})


def dma_buffer():
    """A descriptor of one page of a memory file."""
    file = os.memfd_create("uapi_faults", os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
    os.ftruncate(file, PAGE)
    fcntl.fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK)
    maker = os.open("/dev/udmabuf", os.O_RDWR | os.O_CLOEXEC)
    # in memory that can be changed: otherwise the descriptor would not be what is returned
    made = fcntl.ioctl(maker, UDMABUF_CREATE, bytearray(struct.pack("<IIQQ", file, 1, 0, PAGE)))
    os.close(maker)
    os.close(file)
    return made


def event_files():
    """Descriptors of them. Some of what is listed belongs to the listing."""
    found = set()
    for fd in os.listdir("/proc/self/fd"):
        try:
            if "infinibandevent" in os.readlink(f"/proc/self/fd/{fd}"):
                found.add(int(fd))
        except OSError:
            pass
    return found


def by_ioctl(file, obj, method, attrs, written_ones):
    """written_ones: attributes by number whose payload the kernel writes."""
    data = frame(obj, method, attrs)
    start = area.put(data)
    pieces = [Piece("attributes", start, len(data), BOTH, cuts=[HEADER + 16 * i for i in range(len(attrs))])]
    for i, attr in enumerate(attrs):
        number, size, _, _, value = struct.unpack("<HHHHQ", attr)
        if area.start <= value < area.end and size and (size > 8 or number in written_ones):
            pieces.append(Piece(f"payload of {number:#x}", value, size, WRITTEN if number in written_ones else READ,
                                pointer(start + HEADER + 16 * i + 8)))
    return Request(file, lambda address: ioctl_at(file.fd, address), pieces)


def tail_of(command, handles):
    if command.name == "CREATE_RWQ_IND_TBL":
        return struct.pack("<II", handles["WQ"], handles["WQ"])
    return TAILS.get(command.name, b"")


def native(walk, command, handles, file):
    """As an ioctl method."""
    outs = {row.attr for row in command.rows if row.kind in ("out", "list") and row.attr is not None and
            (row.kind == "out" or row.has(16))} | {UHW_OUT}
    return by_ioctl(file, command.object, command.method, attributes(command, handles), outs)


def carried(walk, command, form, handles, file):
    """As what INVOKE_WRITE carries."""
    number = command.number[form] | (EXTENDED if form == "extended" else 0)
    data = body(command, form, handles) + tail_of(command, handles)
    size = command.response[form] + MORE_RESPONSE.get(command.name, 0)
    attrs = [attribute(WRITE_CMD, 8, number), payload(CORE_IN, data or bytes(8))]
    if size:
        attrs.append(attribute(CORE_OUT, size, area.put(bytes(size))))
    if command.flags & (UHW if form == "extended" else WRITE_UHW):
        part = driver_part(command.name)
        attrs += [payload(UHW_IN, part)] if part else []
        attrs.append(attribute(UHW_OUT, DRIVER_ROOM, area.put(bytes(DRIVER_ROOM))))
    return by_ioctl(file, NUMBER["DEVICE"], INVOKE_WRITE, attrs, {CORE_OUT, UHW_OUT})


def by_write(walk, command, form, handles, file):
    size, more, tail = command.response[form], MORE_RESPONSE.get(command.name, 0), tail_of(command, handles)
    word = 4 if form == "write" else 8
    driver = command.flags & WRITE_UHW or form == "extended" and command.flags & UHW
    room = size + more + (DRIVER_ROOM if driver else 0)
    response = area.put(bytes(room)) if room else area.put(bytes(8))

    def lengthen(parts):
        parts["body"] += tail
        parts["in_words"] += len(tail) // word
        parts["out_words"] += more // word

    data = written(command, form, handles, response, spoil=lengthen if tail or more else None)
    start = area.put(data)
    cuts = (0, 8, HEADER) if form == "extended" else (0, 8)
    if tail:
        cuts += tuple({len(data) - len(tail), len(data) - min(len(tail), len(ENTRY))})
    pieces = [Piece("request", start, len(data), READ, cuts=cuts)]
    if size:
        cuts = [0] + ([size] if room > size else []) + ([8] if size > 8 else [])
        pieces.append(Piece("response", response, room, WRITTEN, pointer(start + 8), cuts))
    return Request(file, lambda address: write_at(file.fd, address, len(data)), pieces)


class Commands(Walk):
    """Files, their objects, and what has been found."""

    def __init__(self, path, made_by):
        super().__init__(tap)
        self.path, self.made_by = path, made_by
        self.commands = {one.name: one for one in load()}
        self.file = File(path)
        self.file.make_context()
        # of those that are made by other requests none is needed
        for what, name, form in made_by:
            if form != "extended":
                self.file.handle[what] = self.file.made_by(self.commands[name], form)
        # by command: handles that only its good request takes; what is done before a request; what is
        # looked at after one, which is told what it answered, and says what is wrong
        self.handles_of, self.before, self.after = {}, {}, {}
        self.different = []

    # ---- objects ----

    def handles(self, what):
        area.reset()
        room = area.put(bytes(512))
        count = area.put(bytes(4))
        err = ioctl(self.file.fd, NUMBER["DEVICE"], 1, [attribute(0, 8, NUMBER[what]), attribute(1, 4, count),
                                                        attribute(2, 512, room)])
        if err:
            raise OSError(err, "INFO_HANDLES")
        number, = struct.unpack("<I", ctypes.string_at(count, 4))
        return set(struct.unpack(f"<{number}I", ctypes.string_at(room, 4 * number)))

    def present(self, what):
        """What there is of a type: handles, or descriptors."""
        if what in ("COMP_CHANNEL", "ASYNC_EVENT"):
            return event_files()
        return self.handles(what)

    def destroy(self, what, handle):
        if what in ("COMP_CHANNEL", "ASYNC_EVENT"):
            os.close(handle)
            return 0
        command = self.commands[DESTROYED_BY[what]]
        area.reset()
        return ioctl(self.file.fd, command.object, command.method,
                     attributes(command, {**self.file.handle, what: handle}))

    def made(self, what):
        name, form = next((name, form) for made, name, form in self.made_by if made == what)
        if form != "extended":
            return self.file.made_by(self.commands[name], form)
        return new_by_extended(self, name, what)

    # ---- one request ----

    def meanwhile(self, request):
        """Others are served."""
        err = write_at(request.file.fd, other_request.start, other_request.length)
        # of a file that has no context yet this is the answer
        if err != (0 if request.file.handle else errno.EINVAL):
            self.faults.append(f"meanwhile QUERY_DEVICE: {errno.errorcode[err]}")

    def ask(self, command, make, piece_number, cut, how):
        """One request with one piece of its memory spoilt, and all that has to hold afterwards."""
        new = next((row.type_name for row in command.rows if row.kind == "new"), None)
        old = next((row.type_name for row in command.rows if row.kind == "destroy"), None)
        if command.name == "GET_CONTEXT":
            return self.ask_context(make, piece_number, cut, how)
        handles = {**self.file.handle, **self.handles_of.get(command.name, {})}
        self.before.get(command.name, lambda: None)()
        if old:
            handles[old] = self.made(old)
        before = self.present(new) if new else None
        area.reset()
        request = make(handles, self.file)
        err = self.spoiler.send(request, request.pieces[piece_number] if how else None, cut, how)
        self.asked += 1
        more = self.present(new) - before if new else ()
        if new and len(more) != (err == 0):
            self.faults.append(f"{how}, answered {err}: {len(more)} new")
        for handle in more:
            if self.destroy(new, handle):
                self.faults.append(f"{how}: the new object cannot be destroyed")
        if old:
            left = handles[old] in self.handles(old)
            if err == 0 and left or left and self.destroy(old, handles[old]):
                self.faults.append(f"{how}, answered {err}: the object is there and cannot be destroyed")
        wrong = self.after.get(command.name, lambda err: None)(err)
        if wrong:
            self.faults.append(f"{how}, answered {err}: {wrong}")
        return err

    def ask_context(self, make, piece_number, cut, how):
        """A file that has got none can have one later."""
        file = File(self.path)
        before = event_files()
        area.reset()
        request = make({}, file)
        err = self.spoiler.send(request, request.pieces[piece_number] if how else None, cut, how)
        self.asked += 1
        more = event_files() - before
        if err:
            area.reset()
            if more:
                self.faults.append(f"{how}, answered {err}: an event file")
            file.make_context()
            more = [file.handle["ASYNC_EVENT"]]
        for fd in more:
            os.close(fd)
        file.close()
        return err

    def walk(self, command, name, make):
        area.reset()
        pieces = make(dict(self.file.handle), self.file).pieces
        good = self.ask(command, make, 0, 0, None)
        if good:
            self.faults.append(f"the good request is refused: {self.file.reasons()[-1:]}")
        self.spoil_each(pieces, good, lambda number, cut, how: self.ask(command, make, number, cut, how))
        self.report(f"{name} {command.name}, which answers {errno.errorcode.get(good, good)}")
        return good

    def everything(self, wanted):
        """wanted: tells of a command whether to walk it."""
        for command in self.commands.values():
            if TYPES[command.object] in ABSENT or not wanted(command):
                continue
            if command.number["ioctl"] is not None and command.name != "INVOKE_WRITE":
                self.walk(command, "ioctl", lambda handles, file, command=command:
                          native(self, command, handles, file))
            for form in ("write", "extended"):
                if command.number[form] is None:
                    continue
                answers = [self.walk(command, name, lambda handles, file, command=command, form=form, way=way:
                                     way(self, command, form, handles, file))
                           for name, way in ((form, by_write), (f"carried {form}", carried))]
                if answers[0] != answers[1]:
                    self.different.append(command.name)


class Other:
    """QUERY_DEVICE, in memory of its own. A file needs a context for it."""

    def __init__(self):
        self.start = libc_mmap(1)
        request = struct.pack("<IHHQ", 1, 4, 44, self.start + 1024)
        self.length = len(request)
        ctypes.memmove(self.start, request, len(request))


def resources():
    answer = subprocess.run(["rdma", "-j", "resource", "show"], stdout=subprocess.PIPE, check=True).stdout
    return json.loads(answer)


other_request = Other()


tap = Tap()


def answered(walk, command, form="write"):
    """A good request by write() that is not spoilt: what it was answered."""
    area.reset()
    handles = {**walk.file.handle, **walk.handles_of.get(command.name, {})}
    request = by_write(walk, command, form, handles, walk.file)
    return request, request.send(request.start)


def response_of(request):
    return next(piece for piece in request.pieces if piece.name == "response").address


def new_by_extended(walk, name, what):
    request, err = answered(walk, walk.commands[name], "extended")
    if err:
        raise OSError(err, f"{name}: {walk.file.reasons()[-1:]}")
    return struct.unpack("<I", ctypes.string_at(response_of(request) + NEW_AT[what], 4))[0]


# ---- the device itself ----

def new_qp(walk, driver_data, **values):
    """(handle, number) of a QP that is not like those of the good CREATE_QP."""
    command, size = walk.commands["CREATE_QP"], 32
    area.reset()
    response = area.put(bytes(size + DRIVER_ROOM))

    def change(parts):
        if driver_data:
            parts["more"] = driver_data

    data = written(command, "write", walk.file.handle, response, values=values, spoil=change)
    err = write_at(walk.file.fd, area.put(data), len(data))
    if err:
        raise OSError(err, f"CREATE_QP: {walk.file.reasons()[-1:]}")
    return struct.unpack("<II", ctypes.string_at(response, 8))


def join_or_leave(walk, name):
    return answered(walk, walk.commands[name])[1]


def on_device(path):
    """A walk whose commands find what they need: a group, a target QP, a DMA buffer."""
    walk = Commands(path, MADE_BY)
    handle, _ = new_qp(walk, None, qp_type=QPT_UD)
    walk.handles_of["ATTACH_MCAST"] = walk.handles_of["DETACH_MCAST"] = {"QP": handle}

    # A QP is in the group if it was attached; one that is not cannot be detached.
    def after_attach(err):
        inside = join_or_leave(walk, "DETACH_MCAST") == 0
        return None if inside == (err == 0) else f"the QP is in the group: {inside}"

    def after_detach(err):
        inside = join_or_leave(walk, "DETACH_MCAST") == 0
        return None if inside == (err != 0) else f"the QP is in the group: {inside}"

    walk.after["ATTACH_MCAST"] = after_attach
    walk.before["DETACH_MCAST"] = lambda: join_or_leave(walk, "ATTACH_MCAST")
    walk.after["DETACH_MCAST"] = after_detach

    domain = walk.file.handle["XRCD"]
    _, number = new_qp(walk, struct.pack("<QQBBB5x", 0, 0, NO_QUEUE, NO_QUEUE, 0), qp_type=QPT_XRC_TGT,
                       xrcd_handle=domain, pd_handle=domain, send_cq_handle=0, recv_cq_handle=0,
                       max_send_wr=0, max_recv_wr=0, max_send_sge=0, max_recv_sge=0)
    GOOD["OPEN_QP"]["qpn"] = number
    GOOD["REG_DMABUF_MR"]["fd"] = dma_buffer()
    return walk


# ---- the fake one ----

def shared_receives():
    with open("/sys/module/rdma_ufake/parameters/shared_receives", encoding="ascii") as file:
        return int(file.read())


def on_fake(path):
    """A walk that knows what has been posted and what has been taken."""
    walk = Commands(path, MADE_BY_FAKE)

    def poll():
        """The wr_ids of what the CQ has."""
        found = []
        while True:
            request, err = answered(walk, walk.commands["POLL_CQ"])
            count, _, wr_id = struct.unpack("<IIQ", ctypes.string_at(response_of(request), 16))
            if err or not count:
                return found if not err else [err]
            found.append(wr_id)

    def expect(err, number):
        """number: completions there are to be."""
        found = poll()
        return None if found == [WR_ID] * number else f"completions found: {found}"

    for name in ("POST_SEND", "POST_RECV"):
        walk.after[name] = lambda err: expect(err, int(err == 0))
    walk.before["POLL_CQ"] = lambda: answered(walk, walk.commands["POST_SEND"])
    walk.after["POLL_CQ"] = lambda err: expect(err, int(err != 0))

    known = [shared_receives()]

    def after_shared(err):
        before, known[0] = known[0], shared_receives()
        return None if known[0] - before == int(err == 0) else f"receives posted: {known[0] - before}"

    walk.after["POST_SRQ_RECV"] = after_shared

    # Rules are for datagrams. Counters can be read when a rule counts there.
    handle, _ = new_qp(walk, None, qp_type=QPT_UD)
    walk.handles_of["CREATE_FLOW"] = {"QP": handle}
    counting = struct.pack("<IHHII", 0x1003, 16, 0, walk.file.handle["COUNTERS"], 0)    # IB_FLOW_SPEC_ACTION_COUNT
    TAILS["CREATE_FLOW"], GOOD["CREATE_FLOW"]["size"] = counting, len(counting)
    new_by_extended(walk, "CREATE_FLOW", "FLOW")
    TAILS["CREATE_FLOW"], GOOD["CREATE_FLOW"]["size"] = ANY_HEADER, len(ANY_HEADER)
    return walk


def on_fakes(command):
    return command.name in ON_FAKE or TYPES[command.object] in TYPES_ON_FAKE


def node_of(device):
    for name in os.listdir("/sys/class/infiniband_verbs"):
        try:
            with open(f"/sys/class/infiniband_verbs/{name}/ibdev", encoding="ascii") as file:
                if file.read().strip() == device:
                    return f"/dev/infiniband/{name}"
        except OSError:
            pass
    raise OSError(errno.ENODEV, device)


def main():
    Walk.lacking = "memory" in sys.argv[3:]
    walk, fake = on_device(node_of(sys.argv[1])), on_fake(node_of(sys.argv[2]))
    descriptors = len(os.listdir("/proc/self/fd"))
    before = resources()
    print("TAP version 13")
    walk.everything(lambda command: not on_fakes(command))
    fake.everything(on_fakes)
    different = walk.different + fake.different
    tap.report("good requests are answered alike in both ways", different)
    now, left = resources(), []
    if now != before:
        left.append(f"objects before: {before}, after: {now}")
    if len(os.listdir("/proc/self/fd")) != descriptors:
        left.append("descriptors are left")
    tap.report("nothing is left behind", left)
    print(f"1..{tap.points}")
    return 1 if tap.failed else 0


sys.exit(main())
