#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""t10_fields.py DATA FIELDS SECTORS: the file FIELDS has a protection field of T10's type 1 for each of so
many sectors of DATA: a CRC of the sector, and the sector's number.  Fields that nobody has written count
for nothing, but there must be others."""

import struct
import sys

SECTOR = 512
POLYNOMIAL = 0x8bb7
NOT_WRITTEN = 0xffff            # the application tag of such a field


def table():
    found = []
    for byte in range(256):
        rest = byte << 8
        for _ in range(8):
            rest = (rest << 1) ^ (POLYNOMIAL if rest & 0x8000 else 0)
        found.append(rest & 0xffff)
    return found


TABLE = table()


def crc(data):
    rest = 0
    for byte in data:
        rest = (rest << 8 & 0xff00) ^ TABLE[rest >> 8 ^ byte]
    return rest


def main():
    sectors, written = int(sys.argv[3]), 0
    with open(sys.argv[1], "rb") as data, open(sys.argv[2], "rb") as fields:
        for sector in range(sectors):
            content = data.read(SECTOR)
            guard, application, reference = struct.unpack(">HHI", fields.read(8))
            if application == NOT_WRITTEN:
                continue
            written += 1
            if guard != crc(content) or application or reference != sector:
                sys.exit(f"sector {sector}: guard {guard:#06x} and not {crc(content):#06x}, "
                         f"application tag {application:#06x}, reference tag {reference}")
    print(f"{written} of {sectors} sectors have fields")
    sys.exit(not written)


if __name__ == "__main__":
    main()
