#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""scatter.py DISK [ROUNDS [SEED]]: writes and reads the beginning of a disk past the page cache, by lists
of pieces of memory that are as odd as the disk allows: one to a hundred, of one sector to many, at any
sector's distance from each other and from pages, in any order.  What is read has to be what was written.
The disk's users see scatter lists that no buffer of a file gives them."""

import mmap
import os
import random
import sys

SECTOR = 512
AREA = 2048             # sectors of the disk
LARGEST = 512           # of a request
POOL = 4096             # sectors of memory that pieces are taken from


def pieces(pool, sectors):
    """So many sectors of the pool, in pieces that do not overlap, as views."""
    count = random.randint(1, min(sectors, random.choice((1, 8, 100))))
    cuts = sorted(random.sample(range(1, sectors), count - 1))
    lengths = [end - begin for begin, end in zip([0] + cuts, cuts + [sectors])]
    gaps = [random.choice((0, 0, 1, 3, 8)) for _ in lengths]
    at, found = random.randrange(8), []
    for length, gap in zip(lengths, gaps):
        found.append(pool[at * SECTOR:(at + length) * SECTOR])
        at += length + gap
    if random.random() < 0.5:
        random.shuffle(found)
    return found


def request(largest=LARGEST):
    sectors = random.randint(1, random.choice((1, 8, 64, largest)))
    return random.randrange(AREA - sectors + 1), sectors


def write(disk, pool, model):
    where, sectors = request()
    data = random.randbytes(sectors * SECTOR)
    views, at = pieces(pool, sectors), 0
    for view in views:
        view[:] = data[at:at + len(view)]
        at += len(view)
    done = os.pwritev(disk, views, where * SECTOR)
    if done != len(data):
        sys.exit(f"sectors {where} to {where + sectors - 1}: {done} bytes of {len(data)} were written")
    model[where * SECTOR:where * SECTOR + done] = data


def read(disk, pool, model):
    where, sectors = request()
    views = pieces(pool, sectors)
    done = os.preadv(disk, views, where * SECTOR)
    if done != sectors * SECTOR:
        sys.exit(f"sectors {where} to {where + sectors - 1}: {done} bytes of {sectors * SECTOR} were read")
    data = b"".join(views)
    for i in range(sectors):
        at = (where + i) * SECTOR
        if data[i * SECTOR:(i + 1) * SECTOR] != model[at:at + SECTOR]:
            sys.exit(f"sector {where + i} of a read of {sectors} from {where} in {len(views)} pieces is wrong")


def main():
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 32)
    print(f"seed {seed}")
    random.seed(seed)
    memory = mmap.mmap(-1, POOL * SECTOR)
    pool = memoryview(memory)
    disk = os.open(sys.argv[1], os.O_RDWR | os.O_DIRECT)
    model = bytearray(AREA * SECTOR)
    for at in range(0, len(model), LARGEST * SECTOR):
        pool[:LARGEST * SECTOR] = bytes(LARGEST * SECTOR)
        os.pwritev(disk, [pool[:LARGEST * SECTOR]], at)
    for _ in range(rounds):
        write(disk, pool, model)
        read(disk, pool, model)


main()
