/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * State of a thread that works for adapters: the time it goes by, the cost of the work under way,
 * and memory to work in.
 */
#ifndef VHCAD_ENGINE_WORKER_H
#define VHCAD_ENGINE_WORKER_H

#include "engine/engine.h"
#include "fabric/run.h"
#include "lib/list.h"

/* A slice: what one QP may do before the next one's turn. */
#define SLICE_BYTES	(64u << 10)
#define SLICE_WQES	48u
/* The same in time: what takes longer is charged to the adapter beyond its turns, up to a bound. */
#define SLICE_NS	8000u
/* Time after which a turn ends; what it is in the middle of has the rest of the slice. */
#define TURN_NS		(SLICE_NS * 3 / 4)
#define DEBT_MAX	(40 * SLICE_NS)
/* Iterations of a loop of a slice between two looks at the clock. */
#define LOOK_EVERY	8u
/* Bytes whose copying costs as much as an entry of a key's list of pieces. */
#define PIECE_COST	64u
/* Pieces of one run of packets after which its remaining packets must be sent again. */
#define RUN_PIECES	(SLICE_BYTES / PIECE_COST)
/*
 * With more pieces than this, counting empty ones and each as often as it is looked at, a packet
 * fails as if its memory did not exist.
 */
#define MAX_PIECES	(2 * WIRE_MAX_MTU)

/**
 * struct worker - a thread that works for adapters
 * @clock: source of time
 * @now: time at which the current pass began, in nanoseconds
 * @mark: time, as @clock.spent tells it, up to which work has been charged
 * @looks: iterations counted by cost_late()
 * @late: it has found that the work takes too long, and says so until the work is charged
 * @turn_bytes: what the turn under way may move, SLICE_BYTES at most
 * @turn_ns: how long work may take: TURN_NS, or in a turn what @turn_bytes are worth
 * @moved: the turn has done more than acknowledge
 * @pieces: entries of lists that were walked for one side of a run of packets
 * @next_piece: entry where the last of these walks would go on, of whatever list that was
 * @all_pieces: those walked before in the same slice, still to be charged
 * @alone: no other thread works for an adapter: there is none, or all are stopped
 * @wants_alone: there is something to do for which they have to be
 * @untold: adapters that have completions which their guests were not notified of yet
 * @scratch: memory that adapters work in, of the size that they asked for
 *
 * An adapter knows the worker of the thread that has it.
 */
struct worker {
	struct engine_clock clock;
	u64 now;
	u64 mark;
	u32 looks;
	bool late;
	u32 turn_bytes;
	u32 turn_ns;
	bool moved;
	u32 pieces;
	u32 next_piece;
	u32 all_pieces;
	bool alone;
	bool wants_alone;
	struct list_head untold;
	struct scratch *scratch;
};

/** worker_now() - the time, in nanoseconds, exactly */
static inline u64 worker_now(const struct worker *w)
{
	return w->clock.now(w->clock.arg);
}

/** worker_notify() - let the adapters notify their guests of completions */
void worker_notify(struct worker *w);

/* cost.c */
/** cost_spent() - struct engine_clock's @spent, for a clock that is real */
u64 cost_spent(void *arg);

/** cost_begin() - do not charge any adapter for the time up to now */
static inline void cost_begin(struct worker *w)
{
	w->late = false;
	if (w->clock.spent)
		w->mark = w->clock.spent(w->clock.arg);
}

/** cost_over() - has the work since the last charge taken as long as a turn may? */
static inline bool cost_over(const struct worker *w)
{
	return w->clock.spent && w->clock.spent(w->clock.arg) - w->mark > w->turn_ns;
}

/** cost_late() - cost_over() for short loops: looks at the clock now and then only */
static inline bool cost_late(struct worker *w)
{
	if (!w->late && !(++w->looks % LOOK_EVERY))
		w->late = cost_over(w);
	return w->late;
}

/** cost_look() - something may have taken long: cost_late() looks the next time */
static inline void cost_look(struct worker *w)
{
	w->looks |= LOOK_EVERY - 1;
}

/** pieces_begin() - the lists of the sender, or of the receiver, are walked next */
static inline void pieces_begin(struct worker *w)
{
	w->all_pieces += w->pieces;
	w->pieces = 0;
}

/**
 * pieces_enough() - were more pieces walked than one run may cost, so that the rest must wait?
 * @w: worker
 * @run: packets that are being placed
 * @done: bytes that are placed; at least one packet always is
 */
static inline bool pieces_enough(const struct worker *w, const struct run *run, u32 done)
{
	return w->pieces > RUN_PIECES && run->npkts > 1 && done >= run->mtu;
}

/** cost_pieces() - take the cost of the pieces that were walked from the bytes of the slice */
static inline void cost_pieces(struct worker *w, u32 *bytes)
{
	u64 n = w->pieces + w->all_pieces;

	if (!n)
		return;
	*bytes -= MIN((u64)*bytes, n * PIECE_COST);
	w->pieces = 0;
	w->all_pieces = 0;
	cost_look(w);
}

#endif /* VHCAD_ENGINE_WORKER_H */
