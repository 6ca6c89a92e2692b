#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""uapi_walk.py [-n] DEVICE [FILE]: walk the tables of the user verbs API and get every value of
every command wrong in each way there is: too short, too long, given twice, missing, reserved bits,
out of range, at no address, a handle of nothing, of another type, of another file, one that was
destroyed, and one that another thread destroys, makes or uses at that moment. Each request must be
refused with its errno and with exactly one reason, which names command, value and what is wrong with
it; nothing may be left behind. TAP on stdout; all reasons in their order go to FILE.

"-n" leaves the reasons unchecked, for kernels that give none."""

import errno
import json
import os
import struct
import subprocess
import sys

import uapi_held
from uapi_requests import (BYTES_OUT, CONST, DRIVER_ROOM, EXTENDED, FD, MANDATORY, MEANT, NOWHERE, NUMBER, TAIL, UHW,
                           UHW_IN, UHW_OUT, WRITE_UHW, ZERO_TAIL, File, area, attribute, attributes, driver_part,
                           good_attribute, ioctl, load, payload, rings, value_of, write_at, written)

EINVAL, ENOENT, EFAULT, EBADF = errno.EINVAL, errno.ENOENT, errno.EFAULT, errno.EBADF
ENOSPC, EBUSY, EOPNOTSUPP, EPROTONOSUPPORT = errno.ENOSPC, errno.EBUSY, errno.EOPNOTSUPP, errno.EPROTONOSUPPORT

# What vhca does not have: objects, methods whose driver call is missing, commands that libraries do
# themselves.
ABSENT = "FLOW RWQ_IND_TBL WQ FLOW_ACTION DM COUNTERS".split()
NEEDS_ABSENT = ["DM_MR_REG"]
UNABLE = ["ADVISE_MR"]
AT_HOME = "POST_SEND POST_RECV POST_SRQ_RECV POLL_CQ REQ_NOTIFY_CQ".split()
NEVER_SUCCEEDS = "REG_DMABUF_MR OPEN_QP".split()     # there is no buffer, and no QP to be shared
DRIVERS = "driver's part"   # of a request, which only it looks at
NOTHING = 0x7ffffff0        # no handle has this number
UNKNOWN = 29                # no attribute has this one

# Answers that do not follow from the row alone, by (command, form, row, fault).
EXCEPTIONS = {
    # an XRC domain, by write(): Linux 6.12 gives no reason
    (name, form, "xrcd_handle", fault): EINVAL
    for name, form in (("CREATE_QP", "write"), ("CREATE_QP", "extended"), ("CREATE_XSRQ", "write"),
                       ("OPEN_QP", "write"))
    for fault in ("none", "another file's", "destroyed")
}
# Words of reasons that do not name the row.
WORDS = {
    # what it carries is refused
    ("INVOKE_WRITE", "ioctl", "core_in", "not readable"): ["QUERY_PORT: request cannot be read"],
    ("INVOKE_WRITE", "ioctl", "core_out", "not writable"): ["QUERY_PORT: response cannot be written"],
}


class Walk:
    """The files, and what has been found."""

    def __init__(self, path, check_reasons):
        self.path, self.check_reasons = path, check_reasons
        self.commands = {one.name: one for one in load()}
        self.file, self.other = self.open(), self.open()
        self.point = self.asked = 0
        self.faults, self.failed, self.log = [], [], []
        self.populate(self.file)
        # numbers that the first file never has
        for _ in range(64):
            self.other.made_by(self.commands["ALLOC_PD"])
        self.populate(self.other)
        # what exists no more; no event file has the number 200
        self.gone = {what: self.destroyed(what) for what in self.file.handle if what in DESTROYED_BY}
        self.gone["COMP_CHANNEL"] = self.gone["ASYNC_EVENT"] = 200
        self.wrong_file = os.open("/dev/null", os.O_RDWR)

    def open(self):
        file = File(self.path)
        file.make_context()
        return file

    def populate(self, file):
        for what, name, form in MADE_BY:
            file.handle[what] = file.made_by(self.commands[name], form)

    def made(self, what):
        name, form = next((name, form) for made, name, form in MADE_BY if made == what)
        return self.file.made_by(self.commands[name], form)

    def destroy(self, what, handle):
        command = self.commands[DESTROYED_BY[what]]
        area.reset()
        err = ioctl(self.file.fd, command.object, command.method,
                    attributes(command, {**self.file.handle, what: handle}))
        if err:
            raise OSError(err, f"{command.name} {handle}: {os.strerror(err)}")

    def destroyed(self, what):
        """The number of an object that is no more."""
        handle = self.made(what)
        self.destroy(what, handle)
        return handle

    def usable(self):
        """The commands that the device has."""
        return [command for command in self.commands.values()
                if TYPE_OF[command.object] not in ABSENT and command.name not in NEEDS_ABSENT]

    def forms(self, command):
        return [form for form in FORMS if command.number[form] is not None and
                (form == "ioctl" or command.name not in AT_HOME)]

    # ---- one request ----

    def refused(self, what, err, words, send, file=None):
        """what: (command, form, row, fault). send() must answer err, for a reason with the words. Where
        chance decides between several errnos err is all of them."""
        file = file or self.file
        err = EXCEPTIONS.get(what, err)
        errs = err if isinstance(err, tuple) else (err,)
        area.reset()
        before = self.count(file)
        got = send()
        self.asked += 1
        label = " ".join(map(str, what))
        if got not in errs:
            text = file.reasons()[-1:] if self.check_reasons else ""
            self.faults.append(f"{label}: {name_of(got)}, expected {' or '.join(map(name_of, errs))} {text}")
        if not self.check_reasons:
            return
        new = [(kept, text) for number, kept, text in file.reasons() if number >= before]
        self.log += [f"{name_of(kept)} {text}" for kept, text in new]
        if got in errs and (len(new) != 1 or new[0][0] != got):
            self.faults.append(f"{label}: {len(new)} reasons: {new}")
            return
        for word in WORDS.get(what, words) if new else ():
            if word not in new[0][1]:
                self.faults.append(f"{label}: '{word}' is not in: {new[0][1]}")

    def count(self, file):
        return max([number + 1 for number, _, _ in file.reasons()], default=0) if self.check_reasons else 0

    def report(self, name, extra=""):
        """A test point for all that was asked since the last one."""
        self.point += 1
        good = self.asked and not self.faults
        print(f"{'' if good else 'not '}ok {self.point} - {name}: {self.asked} requests{extra}")
        for fault in self.faults:
            print(f"# {fault}")
        self.failed += self.faults or ([] if good else [name])
        self.faults, self.asked = [], 0

    # ---- handles ----

    def bad_handles(self, row, wide):
        """[(fault, number, errno)]. wide: as an attribute carries it, in 64 bits."""
        what = row.type_name
        if what in ABSENT:
            return [("none", NOTHING, EINVAL)]
        if row.has(FD):
            wrong = "COMP_CHANNEL" if what == "ASYNC_EVENT" else "ASYNC_EVENT"
            found = [("not open", self.gone[what], EBADF), ("another type", self.file.handle[wrong], EBADF),
                     ("no event file", self.wrong_file, EBADF), ("another file's", self.other.handle[what], EBADF)]
            return found + ([("no descriptor", 1 << 40, EINVAL)] if wide else [])
        wrong = "CQ" if what == "PD" else "PD"
        found = [("none", NOTHING, ENOENT), ("another type", self.file.handle[wrong], EINVAL),
                 ("another file's", self.other.handle[what], ENOENT), ("destroyed", self.gone[what], ENOENT)]
        if wide:
            found += [("negative", -3, EINVAL), ("huge", 1 << 40 | self.file.handle[what], ENOENT)]
        return found

    # ---- requests by ioctl ----

    def ioctl(self, command):
        if command not in self.usable():
            self.refused((command.name, "ioctl", "-", "absent"), EPROTONOSUPPORT,
                         [f"object {command.object:#x}", f"method {command.method:#x}"],
                         lambda: ioctl(self.file.fd, command.object, command.method, []))
            return
        self.ask(command, "-", "unknown attribute", EPROTONOSUPPORT, [f"{UNKNOWN:#x}"],
                 lambda: [attribute(UNKNOWN, 0, 0)])
        if command.name in UNABLE:
            self.ask(command, "-", "unable", EOPNOTSUPP, ["not supported"], lambda: [])
        for row in command.rows:
            if row.attr is not None:
                self.attribute(command, row)
        if command.flags & UHW and command.name not in ("INVOKE_WRITE", "GET_CONTEXT"):
            self.driver_part(command, driver_part(command.name))

    def driver_part(self, command, good):
        def ask(fault, err, word, request, response):
            # it calls the command by a name of its own
            self.ask(command, DRIVERS, fault, err, [word], lambda: [request(), response()], without_driver=True)

        def request():
            return payload(UHW_IN, good)

        def response():
            return attribute(UHW_OUT, DRIVER_ROOM, area.put(bytes(DRIVER_ROOM)))

        ask("not readable", EFAULT, "private request cannot be read",
            lambda: attribute(UHW_IN, len(good), NOWHERE), response)
        ask("misaligned", EINVAL, "not page aligned",
            lambda: payload(UHW_IN, struct.pack("<Q", rings.start + 8) + good[8:]), response)
        ask("too short", EINVAL, f"request of {len(good) - 1} bytes",
            lambda: attribute(UHW_IN, len(good) - 1, area.put(good)), response)
        ask("longer, not zero", EOPNOTSUPP, "not zero", lambda: payload(UHW_IN, good + b"\1"), response)
        ask("not writable", EFAULT, "response cannot be written", request, lambda: attribute(UHW_OUT, 16, NOWHERE))
        ask("little room", EINVAL, "room for a response of 8 bytes", request,
            lambda: attribute(UHW_OUT, 8, area.put(bytes(8))))

    def ask(self, command, row, fault, err, words, first, without_driver=False, victim=None):
        """A good request but for what first() gives, which comes first."""
        file = File(self.path) if command.name == "GET_CONTEXT" else self.file
        handles = {**self.file.handle, **(victim or {})}
        one = None if isinstance(row, str) else row

        def send():
            attrs = attributes(command, handles, without=one)
            if without_driver:
                attrs = [attr for attr in attrs if struct.unpack_from("<H", attr)[0] < UHW_IN]
            return ioctl(file.fd, command.object, command.method, first() + attrs)

        name = one.name if one else row
        spoken = command.name.lower() if name == DRIVERS else command.called
        self.refused((command.name, "ioctl", name, fault), err,
                     [f"{spoken}: "] + ([] if name in ("-", DRIVERS) else [name]) + words, send, file)
        if file is not self.file:
            file.close()

    def attribute(self, command, row):
        def ask(fault, err, words, first, **more):
            self.ask(command, row, fault, err, words, first, **more)

        def good():
            return good_attribute(command, row, self.file.handle)

        def spoiled(at, value):
            return lambda: [good()[:at] + struct.pack("<H", value) + good()[at + 2:]]

        ask("reserved", EINVAL, ["reserved"], spoiled(6, 1))
        if not (row.type_name in ABSENT):
            ask("twice", EINVAL, ["given twice"], lambda: [good(), good()])
        if row.has(MANDATORY):
            ask("missing", EINVAL, ["is missing"], lambda: [])
        if row.is_object:
            ask("with a length", EINVAL, ["no length"], spoiled(2, 8))
            if row.kind == "new":
                return
            for fault, handle, err in self.bad_handles(row, True):
                ask(fault, err, [] if row.type_name in ABSENT else [str(handle)],
                    lambda handle=handle: [attribute(row.attr, 0, handle)])
            return
        self.length(command, row, ask)
        if command.name not in UNABLE:
            self.contents(command, row, ask)

    def length(self, command, row, ask):
        size = row.ioctl_size
        least = 4 if row.kind == "mask" else row.least or size
        if least:
            ask("too short", EINVAL, [f"{least - 1} bytes"],
                lambda: [attribute(row.attr, least - 1, area.put(bytes(least)))])
        if row.kind == "list":
            return
        most = 8 if row.kind == "mask" else size
        if not row.has(ZERO_TAIL):
            ask("too long", EINVAL, [f"{most + 1} bytes"],
                lambda: [attribute(row.attr, most + 1, area.put(bytes(most + 1)))])
        elif row.kind != "out":
            ask("longer, not zero", EOPNOTSUPP, [f"{most} known"],
                lambda: [payload(row.attr, bytes(most) + b"\1" * 8)])

    def contents(self, command, row, ask):
        if row.kind == "int" and row.has(CONST) and row.size < 8:
            value = 1 << 8 * row.size
            ask("out of range", EINVAL, [str(value)], lambda: [attribute(row.attr, 8, value)])
        for value, err, word in BEYOND.get((command.name, row.name), ()):
            if row.kind == "int":
                self.refused((command.name, "ioctl", row.name, value), err, [word], lambda value=value: ioctl(
                    self.file.fd, command.object, command.method,
                    [payload(row.attr, value.to_bytes(row.ioctl_size, "little"))] +
                    attributes(command, self.file.handle, without=row)))
        if row.kind == "mask":
            odd = ~row.mask & (row.mask + 1)
            if odd < 1 << 32:
                ask("unknown bits", EINVAL, [f"{odd:#x}"], lambda: [attribute(row.attr, 4, odd)])
            ask("high bits", EINVAL, [], lambda: [attribute(row.attr, 8, 1 << 40)])
            ask("between its sizes", EINVAL, ["6 bytes"], lambda: [attribute(row.attr, 6, 0)])
        out = row.kind == "out" or row.kind == "list" and row.has(BYTES_OUT)
        if out and not row.conditional and command.name not in NEVER_SUCCEEDS:
            what = next((one.type_name for one in command.rows if one.kind == "destroy"), None)
            size = row.size or len(value_of(command, row))
            ask("not writable", EFAULT, ["cannot be written"], lambda: [attribute(row.attr, size, NOWHERE)],
                victim=what and {what: self.made(what)})
        elif not out and row.kind in ("blob", "list"):
            ask("not readable", EFAULT, ["cannot be read"], lambda: [attribute(row.attr, row.size or 64, NOWHERE)])

    # ---- requests by write() ----

    def written(self, command, form):
        number = command.number[form]
        if TYPE_OF[command.object] in ABSENT or command.name in AT_HOME:
            # Linux 6.12 takes a command that it does not have for the plain form and counts its words first
            self.refused((command.name, form, "-", "absent"), EINVAL if form == "extended" else EOPNOTSUPP,
                         [f"command {number | EXTENDED:#x}" if form == "extended" else f"command {number}"],
                         lambda: self.send(command, form))
            return
        ask = self.asker(command, form)
        size = command.response[form]
        driver = command.flags & WRITE_UHW or form == "extended" and command.flags & UHW
        ask("-", "in_words", EINVAL, ["in_words"],
            spoil=lambda parts: parts.update(in_words=parts["in_words"] + 1))
        if form == "write":
            ask("-", "too short", ENOSPC, ["needs", str(command.request[form])],
                spoil=shorter)
            if size:
                ask("-", "little room", ENOSPC, ["room for", str(size)],
                    spoil=lambda parts: parts.update(out_words=size // 4 - 1))
        else:
            ask("-", "reserved", EINVAL, ["reserved"], spoil=lambda parts: parts.update(reserved=1))
            ask("-", "room at no address", EINVAL, ["without a response"],
                spoil=lambda parts: parts.update(response=0, out_words=1))
            ask("-", "no room", EINVAL, ["without out_words"],
                spoil=lambda parts: parts.update(response=area.start, out_words=0, provider_out_words=0))
            ask("-", "not a user's address", EFAULT, ["no user address"],
                spoil=lambda parts: parts.update(response=1 << 63, out_words=max(1, size // 8)))
        if not command.flags & TAIL and not (form == "write" and driver):
            ask("-", "longer, not zero", EOPNOTSUPP, ["not zero"], spoil=longer if form == "write" else longer_ex)
        ask("-", "not readable", EFAULT, ["cannot be read"], unreadable=True)
        if size and command.name not in NEVER_SUCCEEDS:
            what = next((one.type_name for one in command.rows if one.kind == "destroy"), None)
            ask("-", "not writable", EFAULT, ["cannot be written"], response=rings.start - size,
                victim=what and {what: self.made(what)})
        for row in command.rows:
            self.value(command, form, row, ask)

    def value(self, command, form, row, ask):
        _, size = row.at[form]
        if not size or row.kind == "new":
            return
        meant = MEANT.get((command.name, row.name), {})
        if row.is_object:
            for fault, handle, err in self.bad_handles(row, False):
                ask(row, fault, err, [] if row.type_name in ABSENT else [str(handle)],
                    values={**meant, row.name: handle})
        if row.kind == "int":
            for value, err, word in BEYOND.get((command.name, row.name), ()):
                self.refused((command.name, form, row.name, value), err, [word],
                             lambda value=value: self.send(command, form, values={row.name: value}))
        if row.kind == "mask":
            odd = ~row.mask & (row.mask + 1)
            if odd < 1 << 8 * size:
                ask(row, "unknown bits", EINVAL, [f"{odd:#x}"], values={row.name: odd})

    def asker(self, command, form):
        def ask(row, fault, err, words, victim=None, **more):
            file = File(self.path) if command.name == "GET_CONTEXT" else self.file
            handles = {**self.file.handle, **(victim or {})}
            name = row if isinstance(row, str) else row.name
            self.refused((command.name, form, name, fault), err,
                         [f"{command.name}: "] + ([] if name == "-" else [name]) + words,
                         lambda: self.send(command, form, handles=handles, file=file, **more), file)
            if file is not self.file:
                file.close()
        return ask

    def send(self, command, form, handles=None, file=None, response=None, values=None, spoil=None, unreadable=False):
        response = response or area.put(bytes(command.response[form] + DRIVER_ROOM))
        request = written(command, form, handles or self.file.handle, response, values, spoil)
        address = area.put(request)
        if unreadable:
            # the headers end where the pages do
            headers = 8 if form == "write" else 24
            address = area.end - headers
            area.place(address, request[:headers])
        return write_at((file or self.file).fd, address, len(request))


def shorter(parts):
    del parts["body"][-4:]
    parts["more"] = b""
    parts["in_words"] = (8 + len(parts["body"])) // 4


def longer(parts):
    parts["more"] = b"\0\0\0\1"
    parts["in_words"] += 1


def longer_ex(parts):
    parts["body"] += b"\0" * 7 + b"\1"
    parts["in_words"] += 1


# Values beyond what there is: of (command, row) (value, errno, what the reason says of it).
MANY = 0x10000000
BEYOND = {
    ("QUERY_PORT", "port_num"): [(0, EINVAL, "port_num 0"), (9, EINVAL, "port_num 9")],
    ("QUERY_GID_TABLE", "entry_size"): [(0, EINVAL, "entries of 0")],
    ("QUERY_GID_ENTRY", "port"): [(9, EINVAL, "port 9")],
    ("QUERY_GID_ENTRY", "gid_index"): [(9999, EINVAL, "9999")],
    ("INVOKE_WRITE", "write_cmd"): [(61, EOPNOTSUPP, "command 61")],
    ("REG_MR", "access_flags"): [(2, EINVAL, "access_flags 0x2")],
    ("REG_MR", "hca_va"): [(rings.start + 1, EINVAL, "hca_va")],    # another place in its page
    ("REREG_MR", "flags"): [(0, EINVAL, "flags: nothing"), (64, EOPNOTSUPP, "flags: unknown bits 0x40")],
    ("ALLOC_MW", "mw_type"): [(0, EINVAL, "mw_type 0"), (3, EINVAL, "mw_type 3")],
    ("CREATE_CQ", "cqe"): [(0, EINVAL, "cqe 0"), (MANY, EINVAL, f"cqe {MANY}")],
    ("CREATE_CQ", "comp_vector"): [(9999, EINVAL, "comp_vector 9999")],
    ("RESIZE_CQ", "cqe"): [(MANY, EINVAL, str(MANY))],
    ("MODIFY_CQ", "attr_mask"): [(0, EINVAL, "attr_mask 0"), (2, EOPNOTSUPP, "attr_mask")],
    ("CREATE_QP", "qp_type"): [(99, EINVAL, "qp_type 99")],
    ("CREATE_QP", "max_send_wr"): [(MANY, EINVAL, f"max_send_wr {MANY}")],
    ("CREATE_QP", "max_recv_wr"): [(MANY, EINVAL, f"max_recv_wr {MANY}")],
    ("CREATE_QP", "max_send_sge"): [(1000, EINVAL, "max_send_sge 1000")],
    ("CREATE_QP", "max_recv_sge"): [(1000, EINVAL, "max_recv_sge 1000")],
    ("CREATE_QP", "max_inline_data"): [(MANY, EINVAL, f"max_inline_data {MANY}")],
    ("CREATE_SRQ", "max_wr"): [(MANY, EINVAL, f"max_wr {MANY}")],
    ("CREATE_SRQ", "max_sge"): [(1000, EINVAL, "max_sge 1000")],
    ("CREATE_XSRQ", "max_wr"): [(MANY, EINVAL, f"max_wr {MANY}")],
    ("CREATE_XSRQ", "max_sge"): [(1000, EINVAL, "max_sge 1000")],
    ("MODIFY_SRQ", "srq_limit"): [(MANY, EINVAL, str(MANY))],
    ("OPEN_XRCD", "fd"): [(200, EBADF, "fd 200")],
    ("OPEN_QP", "qp_type"): [(2, EINVAL, "qp_type 2")],
    ("OPEN_QP", "qpn"): [(0xffffff, EINVAL, f"qp_num {0xffffff}")],
    ("ATTACH_MCAST", "mlid"): [(1, EINVAL, "")],
    ("DETACH_MCAST", "mlid"): [(1, EINVAL, "")],
}
FORMS = ("ioctl", "write", "extended")
TYPE_OF = {number: name for name, number in NUMBER.items()}
# In this order objects are made, by which command and form.
MADE_BY = [("PD", "ALLOC_PD", "write"), ("COMP_CHANNEL", "CREATE_COMP_CHANNEL", "write"),
           ("CQ", "CREATE_CQ", "ioctl"), ("SRQ", "CREATE_SRQ", "ioctl"), ("QP", "CREATE_QP", "ioctl"),
           ("MR", "REG_MR", "write"), ("MW", "ALLOC_MW", "write"), ("AH", "CREATE_AH", "write"),
           ("XRCD", "OPEN_XRCD", "write")]
DESTROYED_BY = {"PD": "DEALLOC_PD", "CQ": "DESTROY_CQ", "SRQ": "DESTROY_SRQ", "QP": "DESTROY_QP",
                "MR": "DEREG_MR", "MW": "DEALLOC_MW", "AH": "DESTROY_AH", "XRCD": "CLOSE_XRCD"}


def name_of(err):
    if err == EOPNOTSUPP:       # has two names
        return "EOPNOTSUPP"
    return errno.errorcode.get(err, str(err)) if err else "no error"


def resources():
    """What the kernel knows of, by type."""
    answer = subprocess.run(["rdma", "-j", "resource", "show"], stdout=subprocess.PIPE, check=True).stdout
    return json.loads(answer)


def main():
    options = [arg for arg in sys.argv[1:] if arg.startswith("-")]
    device, *log = [arg for arg in sys.argv[1:] if not arg.startswith("-")]
    names = os.listdir(f"/sys/class/infiniband/{device}/device/infiniband_verbs")
    walk = Walk(f"/dev/infiniband/{names[0]}", "-n" not in options)
    descriptors = len(os.listdir("/proc/self/fd"))
    before = resources()
    print("TAP version 13")
    for command in walk.commands.values():
        for form in FORMS:
            if command.number[form] is None:
                continue
            if form == "ioctl":
                walk.ioctl(command)
            else:
                walk.written(command, form)
            walk.report(f"{form} {command.name}")
    uapi_held.walk_handles(walk)
    now = resources()
    walk.asked = 1
    if now != before:
        walk.faults.append(f"objects before: {before}, after: {now}")
    if len(os.listdir("/proc/self/fd")) != descriptors:
        walk.faults.append("descriptors are left")
    walk.report("nothing is left behind")
    print(f"1..{walk.point}")
    if log:
        with open(log[0], "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in walk.log)
    return 1 if walk.failed else 0


sys.exit(main())
