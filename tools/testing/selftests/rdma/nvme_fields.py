#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""nvme_fields.py DISK FIRST [guard|reference SECTOR]: writes eight sectors of an NVMe disk, from FIRST, with
protection fields that stand in memory of their own, and reads them.  Both have to come back as they were
written.  With "guard" or "reference" the field of the one SECTOR is wrong: then the write has to fail for
that reason, and nothing is read."""

import ctypes
import fcntl
import mmap
import os
import random
import struct
import sys

from t10_fields import SECTOR, crc

COUNT = 8
WRITE, READ = 1, 2
CHECK_REFERENCE, CHECK_GUARD = 1 << 26, 1 << 28         # of the command's word 12
BAD_GUARD, BAD_REFERENCE = 0x282, 0x284                 # status of a command
NVME_IOCTL_ID, NVME_IOCTL_IO_CMD = 0x4e40, 0xc0484e43


def command(disk, opcode, data, fields, first):
    """The status of a command: 0, or why it failed."""
    words = (first, 0, COUNT - 1 | CHECK_REFERENCE | CHECK_GUARD, 0, first, 0)
    request = bytearray(struct.pack("<BBHIIIQQII6III", opcode, 0, 0, fcntl.ioctl(disk, NVME_IOCTL_ID), 0, 0,
                                    ctypes.addressof(ctypes.c_char.from_buffer(fields)),
                                    ctypes.addressof(ctypes.c_char.from_buffer(data)),
                                    8 * COUNT, SECTOR * COUNT, *words, 0, 0))
    return fcntl.ioctl(disk, NVME_IOCTL_IO_CMD, request) & 0x7ff


def main():
    first, kind = int(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else None
    wrong = int(sys.argv[4]) if kind else None
    disk = os.open(sys.argv[1], os.O_RDWR)
    data, fields = mmap.mmap(-1, SECTOR * COUNT), mmap.mmap(-1, mmap.PAGESIZE)
    data[:] = content = random.randbytes(SECTOR * COUNT)
    for i in range(COUNT):
        bad = kind if first + i == wrong else None
        guard = crc(content[i * SECTOR:(i + 1) * SECTOR])
        fields[8 * i:8 * i + 8] = struct.pack(">HHI", 0xdead if bad == "guard" else guard, 0,
                                              0x1234 if bad == "reference" else first + i)
    written, expected = fields[:8 * COUNT], {None: 0, "guard": BAD_GUARD, "reference": BAD_REFERENCE}[kind]
    status = command(disk, WRITE, data, fields, first)
    if status != expected:
        sys.exit(f"the write ended with status {status:#x} and not {expected:#x}")
    if kind:
        return
    data[:] = bytes(SECTOR * COUNT)
    fields[:] = bytes(mmap.PAGESIZE)
    status = command(disk, READ, data, fields, first)
    if status or data[:] != content or fields[:8 * COUNT] != written:
        sys.exit(f"the read ended with status {status:#x}; data {'right' if data[:] == content else 'wrong'}, "
                 f"fields {fields[:8 * COUNT].hex(' ', 8)} and not {written.hex(' ', 8)}")


main()
