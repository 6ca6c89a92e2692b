#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A server of 9P2000.L over RDMA.

    p9_server.py ADDRESS FOLDER TIMES     prints "serves", and lets FOLDER be mounted TIMES times

Each message is a SEND in either direction. A client has ended when it has given up its last fid. There is one
client at a time, which may do whatever it likes in the folder, and what the folder's links lead to."""

import errno
import os
import stat
import struct
import sys
import time

from pyverbs.cmid import CMID, AddrInfo
from pyverbs.qp import QPCap, QPInitAttr
import pyverbs.cm_enums as ce

PORT = 5640
DEPTH = 32                      # as many messages as the kernel's client has under way
MESSAGE = 1 << 18

(STATFS, LOPEN, LCREATE, SYMLINK, READLINK, GETATTR, SETATTR, READDIR, FSYNC, LOCK, GETLOCK, LINK, MKDIR,
 RENAMEAT, UNLINKAT, VERSION, ATTACH, FLUSH, WALK, READ, WRITE, CLUNK) = (
    8, 12, 14, 16, 22, 24, 26, 40, 50, 52, 54, 70, 72,
    74, 76, 100, 104, 108, 110, 116, 118, 120)
LERROR = 7
V9FS_MAGIC = 0x01021997
BASIC = 0x7ff                   # GETATTR: what stat() knows
SET_MODE, SET_UID, SET_GID, SET_SIZE, SET_ATIME, SET_MTIME, _, GIVEN_ATIME, GIVEN_MTIME = (1 << n for n in range(9))
KEPT_FLAGS = os.O_ACCMODE | os.O_TRUNC | os.O_EXCL       # the client knows where a file ends
AT_REMOVEDIR = 0x200
UNLOCKED = 2                    # of GETLOCK


class Words:
    """The rest of a message, from its beginning"""
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        found = struct.unpack_from("<" + form, self.data, self.at)
        self.at += struct.calcsize("<" + form)
        return found if len(found) > 1 else found[0]

    def text(self):
        size = self.take("H")
        self.at += size
        return self.data[self.at - size:self.at].decode("utf-8", "surrogateescape")

    def rest(self, size):
        return self.data[self.at:self.at + size]


def text(string):
    data = string.encode("utf-8", "surrogateescape")
    return struct.pack("<H", len(data)) + data


def qid(found):
    kind = 0x80 if stat.S_ISDIR(found.st_mode) else 0x02 if stat.S_ISLNK(found.st_mode) else 0
    return struct.pack("<BIQ", kind, found.st_mtime_ns & 0xffffffff, found.st_ino)


def qid_of(path):
    return qid(os.lstat(path))


class Fid:
    def __init__(self, path):
        self.path, self.file, self.entries = path, None, None

    def stat(self):
        """An open file may have no name any more."""
        return os.lstat(self.path) if self.file is None else os.fstat(self.file)

    def end(self):
        if self.file is not None:
            os.close(self.file)


class Session:
    """What a client has: files by their fids"""
    def __init__(self, folder):
        self.folder, self.fids, self.attached, self.size = folder, {}, False, MESSAGE

    def over(self):
        return self.attached and not self.fids

    def answer(self, message):
        size, kind, tag = struct.unpack_from("<IBH", message)
        try:
            method = self.methods.get(kind)
            if method is None:
                raise OSError(errno.EOPNOTSUPP, "")
            kind, body = kind + 1, method(self, Words(message[7:size]))
        except OSError as error:
            kind, body = LERROR, struct.pack("<I", error.errno)
        except KeyError:
            kind, body = LERROR, struct.pack("<I", errno.EBADF)
        return struct.pack("<IBH", 7 + len(body), kind, tag) + body

    def version(self, words):
        self.size = min(words.take("I"), MESSAGE)
        wanted = words.text()
        return struct.pack("<I", self.size) + text(wanted if wanted == "9P2000.L" else "unknown")

    def attach(self, words):
        fid, _ = words.take("II")
        self.fids[fid] = Fid(self.folder)
        self.attached = True
        return qid_of(self.folder)

    def flush(self, _):
        return b""              # whatever came before has had its answer

    def walk(self, words):
        fid, new, count = words.take("IIH")
        path, qids = self.fids[fid].path, []
        for n in range(count):
            try:
                path = os.path.join(path, words.text())
                qids.append(qid_of(path))
            except OSError:
                if not n:
                    raise
                break
        if len(qids) == count:
            self.fids[new] = Fid(path)
        return struct.pack("<H", len(qids)) + b"".join(qids)

    def lopen(self, words):
        number, flags = words.take("II")
        fid = self.fids[number]
        fid.file = os.open(fid.path, flags & KEPT_FLAGS)
        return qid(os.fstat(fid.file)) + struct.pack("<I", 0)

    def lcreate(self, words):
        fid = self.fids[words.take("I")]
        path = os.path.join(fid.path, words.text())
        flags, mode, _ = words.take("III")
        fid.file = os.open(path, flags & KEPT_FLAGS | os.O_CREAT, mode)
        fid.path = path
        return qid(os.fstat(fid.file)) + struct.pack("<I", 0)

    def symlink(self, words):
        path = os.path.join(self.fids[words.take("I")].path, words.text())
        os.symlink(words.text(), path)
        return qid_of(path)

    def readlink(self, words):
        return text(os.readlink(self.fids[words.take("I")].path))

    def link(self, words):
        to, fid = words.take("II")
        os.link(self.fids[fid].path, os.path.join(self.fids[to].path, words.text()), follow_symlinks=False)
        return b""

    def mkdir(self, words):
        path = os.path.join(self.fids[words.take("I")].path, words.text())
        os.mkdir(path, words.take("II")[0])
        return qid_of(path)

    def getattr(self, words):
        found = self.fids[words.take("IQ")[0]].stat()
        times = b"".join(struct.pack("<QQ", *divmod(ns, 10 ** 9))
                         for ns in (found.st_atime_ns, found.st_mtime_ns, found.st_ctime_ns, 0))
        return (struct.pack("<Q", BASIC) + qid(found) +
                struct.pack("<IIIQQQQQ", found.st_mode, found.st_uid, found.st_gid, found.st_nlink, found.st_rdev,
                            found.st_size, found.st_blksize, found.st_blocks) + times + bytes(16))

    def setattr(self, words):
        fid, valid, mode, uid, gid, size, a_s, a_ns, m_s, m_ns = words.take("IIIIIQQQQQ")
        path = self.fids[fid].path
        if valid & SET_SIZE:
            os.truncate(path, size)
        if valid & (SET_UID | SET_GID):
            os.chown(path, uid if valid & SET_UID else -1, gid if valid & SET_GID else -1, follow_symlinks=False)
        if valid & SET_MODE:
            os.chmod(path, mode)
        if valid & (SET_ATIME | SET_MTIME):
            found, now = os.lstat(path), time.time_ns()
            atime = a_s * 10 ** 9 + a_ns if valid & GIVEN_ATIME else now if valid & SET_ATIME else found.st_atime_ns
            mtime = m_s * 10 ** 9 + m_ns if valid & GIVEN_MTIME else now if valid & SET_MTIME else found.st_mtime_ns
            os.utime(path, ns=(atime, mtime), follow_symlinks=False)
        return b""

    def readdir(self, words):
        number, offset, count = words.take("IQI")
        fid = self.fids[number]
        if not offset:
            fid.entries = [".", ".."] + sorted(os.listdir(fid.path))
        data = b""
        for n, name in enumerate(fid.entries[offset:], offset + 1):
            path = os.path.join(fid.path, name)
            try:
                found = os.lstat(path)
            except FileNotFoundError:
                continue
            entry = qid(found) + struct.pack("<QB", n, stat.S_IFMT(found.st_mode) >> 12) + text(name)
            if len(data) + len(entry) > count:
                break
            data += entry
        return struct.pack("<I", len(data)) + data

    def read(self, words):
        fid, offset, count = words.take("IQI")
        data = os.pread(self.fids[fid].file, count, offset)
        return struct.pack("<I", len(data)) + data

    def write(self, words):
        fid, offset, count = words.take("IQI")
        return struct.pack("<I", os.pwrite(self.fids[fid].file, words.rest(count), offset))

    def fsync(self, words):
        os.fsync(self.fids[words.take("II")[0]].file)
        return b""

    def statfs(self, words):
        found = os.statvfs(self.fids[words.take("I")].path)
        return struct.pack("<IIQQQQQQI", V9FS_MAGIC, found.f_bsize, found.f_blocks, found.f_bfree, found.f_bavail,
                           found.f_files, found.f_ffree, found.f_fsid, found.f_namemax)

    def lock(self, words):
        words.take("I")
        return b"\0"             # there is no other client: the kernel has looked at its own

    def getlock(self, words):
        _, _, start, length, owner = words.take("IBQQI")
        return struct.pack("<BQQI", UNLOCKED, start, length, owner) + text(words.text())

    def renameat(self, words):
        old = os.path.join(self.fids[words.take("I")].path, words.text())
        new = os.path.join(self.fids[words.take("I")].path, words.text())
        os.rename(old, new)
        for fid in self.fids.values():
            if fid.path == old or fid.path.startswith(old + "/"):
                fid.path = new + fid.path[len(old):]
        return b""

    def unlinkat(self, words):
        path = os.path.join(self.fids[words.take("I")].path, words.text())
        if words.take("I") & AT_REMOVEDIR:
            os.rmdir(path)
        else:
            os.unlink(path)
        return b""

    def clunk(self, words):
        self.fids.pop(words.take("I")).end()
        return b""

    methods = {
        STATFS: statfs, LOPEN: lopen, LCREATE: lcreate, SYMLINK: symlink, READLINK: readlink, GETATTR: getattr,
        SETATTR: setattr, READDIR: readdir, FSYNC: fsync, LOCK: lock, GETLOCK: getlock, LINK: link, MKDIR: mkdir,
        RENAMEAT: renameat, UNLINKAT: unlinkat, VERSION: version, ATTACH: attach, FLUSH: flush, WALK: walk,
        READ: read, WRITE: write, CLUNK: clunk}


def done(completion, what):
    if completion is None or completion.status:
        sys.exit(f"p9_server: a {what} has failed: {completion}")
    return completion


def converse(client, session):
    """Answers until the client has given up its last fid"""
    receives = [client.reg_msgs(MESSAGE) for _ in range(DEPTH)]
    reply = client.reg_msgs(MESSAGE)
    for one in receives:
        client.post_recv(one)
    client.accept()
    while not session.over():
        size = done(client.get_recv_comp(), "receive").byte_len
        one = receives.pop(0)   # they complete in their order
        answer = session.answer(one.read(size, 0))
        client.post_recv(one)
        receives.append(one)
        reply.write(answer, len(answer))
        client.post_send(reply, length=len(answer))
        sent = client.get_send_comp()
        if not session.over():      # else the client may have gone before it has acknowledged that
            done(sent, "send")
    client.disconnect()
    for one in [reply, *receives]:
        one.close()
    client.close()


def main():
    address, folder, times = sys.argv[1:]
    os.umask(0)
    where = AddrInfo(src=address, src_service=str(PORT), port_space=ce.RDMA_PS_TCP, flags=ce.RAI_PASSIVE)
    room = QPCap(max_recv_wr=DEPTH, max_send_wr=1)
    listener = CMID(creator=where, qp_init_attr=QPInitAttr(cap=room))
    listener.listen()
    print("serves", flush=True)
    for _ in range(int(times)):
        converse(listener.get_request(), Session(folder))
    listener.close()


main()
