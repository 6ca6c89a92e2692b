#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""unpack-kernel.py BZIMAGE: writes the ELF file in it to standard output. The setup header (the
x86 boot protocol, 2.08 and later) says where the compressed kernel lies; its size stands behind it."""

import lzma
import struct
import subprocess
import sys
import zlib

SETUP_SECTS, MAGIC, PAYLOAD = 0x1F1, 0x202, 0x248


def unpacked(payload):
    if payload.startswith(b"\xfd7zXZ\0"):
        return lzma.LZMADecompressor().decompress(payload)
    if payload.startswith(b"\x1f\x8b"):
        return zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(payload)
    if payload.startswith(b"\x28\xb5\x2f\xfd"):
        return subprocess.run(["zstd", "-dc"], input=payload[:-4], stdout=subprocess.PIPE, check=True).stdout
    raise ValueError("it is compressed by none of xz, gzip and zstd")


def main():
    with open(sys.argv[1], "rb") as file:
        image = file.read()
    try:
        if image[MAGIC:MAGIC + 4] != b"HdrS":
            raise ValueError("it has no setup header")
        offset, length = struct.unpack_from("<II", image, PAYLOAD)
        start = 512 * ((image[SETUP_SECTS] or 4) + 1) + offset
        kernel = unpacked(image[start:start + length])
        if not kernel.startswith(b"\x7fELF"):
            raise ValueError("what it holds is no ELF file")
    except (ValueError, lzma.LZMAError, zlib.error, subprocess.CalledProcessError) as error:
        sys.exit(f"lab: {sys.argv[1]}: not a kernel that can be unpacked: {error}")
    sys.stdout.buffer.write(kernel)


main()
