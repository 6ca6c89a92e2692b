#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""mpi.py: two processes of MPI exchange data in every way, and compare it.

Each part that was right prints "right: PART" once. The first that is not ends both with its reason."""

import array
import random
import sys
import traceback

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.Get_rank()
peer = 1 - rank
SIZES = [0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 255, 256, 1000, 1023, 1024, 4095, 4096, 4097, 8192, 16383, 65535, 65536,
         65537, 1 << 20, (4 << 20) + 3]
TURNS = 200


def data(size, *seed):
    """What a process sends: the receiver makes the same."""
    return bytearray(random.Random(repr(seed)).randbytes(size))


def same(got, wanted, what):
    if bytes(got) != bytes(wanted):
        first = next((n for n, pair in enumerate(zip(got, wanted)) if pair[0] != pair[1]), min(len(got), len(wanted)))
        raise ValueError(f"{what}: byte {first} of {len(wanted)} is another")


def messages():
    """Both ways at once, of every size, by standard and by synchronous sends."""
    for size in SIZES:
        for start in (comm.Isend, comm.Issend):
            got = bytearray(size)
            requests = [comm.Irecv(got, source=peer, tag=size), start(data(size, rank, size), dest=peer, tag=size)]
            MPI.Request.Waitall(requests)
            same(got, data(size, peer, size), f"a message of {size} bytes")


def unexpected():
    """Many that nobody waits for yet, and that are taken in another order."""
    sent = [comm.Isend(data(100 + 37 * tag, rank, tag), dest=peer, tag=tag) for tag in range(200)]
    for tag in reversed(range(200)):
        status = MPI.Status()
        comm.Probe(source=MPI.ANY_SOURCE, tag=tag, status=status)
        got = bytearray(status.Get_count(MPI.BYTE))
        comm.Recv(got, source=status.Get_source(), tag=tag)
        same(got, data(100 + 37 * tag, peer, tag), f"message {tag}")
    MPI.Request.Waitall(sent)


def pieces():
    """Data that does not lie in one piece: three bytes of every eight."""
    kind = MPI.BYTE.Create_vector(100_000, 3, 8).Commit()
    source, got = data(800_000, rank, "pieces"), bytearray(800_000)
    comm.Sendrecv([source, 1, kind], dest=peer, recvbuf=[got, 1, kind], source=peer)
    wanted = data(800_000, peer, "pieces")
    for n in range(3):
        same(got[n::8], wanted[n::8], "pieces")
    same(got[3::8], bytes(100_000), "what lies between pieces")
    kind.Free()


def collectives():
    for size in SIZES[1:]:
        got = data(size, "all") if rank == 0 else bytearray(size)
        comm.Bcast(got, root=0)
        same(got, data(size, "all"), f"broadcast of {size} bytes")
        got = bytearray(2 * size)
        comm.Allgather(data(size, rank, "gather"), got)
        same(got, data(size, 0, "gather") + data(size, 1, "gather"), f"allgather of {size} bytes")
    mine = array.array("q", random.Random(rank).choices(range(-1 << 40, 1 << 40), k=50_000))
    other = array.array("q", random.Random(peer).choices(range(-1 << 40, 1 << 40), k=50_000))
    got = array.array("q", bytes(8 * len(mine)))
    for operation, what in ((MPI.SUM, lambda a, b: a + b), (MPI.MAX, max)):
        comm.Allreduce(mine, got, op=operation)
        if list(got) != list(map(what, mine, other)):
            raise ValueError("a reduction is wrong")


def one_sided():
    """Memory of the other one is written, read and counted in."""
    window = MPI.Win.Allocate(8 << 20, comm=comm)
    memory = window.tomemory()
    for size in SIZES[1:]:
        sent, got = data(size, rank, "put", size), bytearray(size)
        window.Fence()
        window.Put(sent, peer, target=1000)
        window.Fence()
        same(memory[1000:1000 + size], data(size, peer, "put", size), f"put of {size} bytes")
        window.Lock(peer, MPI.LOCK_SHARED)
        window.Get(got, peer, target=1000)
        window.Unlock(peer)
        same(got, sent, f"get of {size} bytes")
    window.Fence()
    memory[0:16] = bytes(16)
    window.Fence()
    one, old = array.array("q", [1]), array.array("q", [0])
    seen, known = [], 0
    window.Lock_all()
    for _ in range(TURNS):
        window.Fetch_and_op(one, old, 0, 0, MPI.SUM)
        window.Flush(0)
        seen.append(old[0])
        while True:
            wanted, new = array.array("q", [known]), array.array("q", [known + 1])
            window.Compare_and_swap(new, wanted, old, 0, 8)
            window.Flush(0)
            known = old[0]
            if known == wanted[0]:
                break
    comm.Barrier()
    window.Fetch_and_op(one, old, 0, 8, MPI.NO_OP)
    window.Flush(0)
    window.Unlock_all()
    if sorted(seen + comm.sendrecv(seen, peer, source=peer)) != list(range(2 * TURNS)):
        raise ValueError("two that add in one place see a number twice, or never")
    if old[0] != 2 * TURNS:
        raise ValueError(f"{2 * TURNS} steps by compare and swap make {old[0]}")
    window.Free()


def main():
    for part in (messages, unexpected, pieces, collectives, one_sided):
        part()
        comm.Barrier()
        if rank == 0:
            print(f"right: {part.__name__}", flush=True)


try:
    main()
except BaseException:
    traceback.print_exc()
    sys.stderr.flush()
    comm.Abort(1)
