/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Two guests, for targets that do not fuzz sockets: guest 0 does what the input says; guest 1 is
 * its peer, and has a region that no access may reach.
 */
#ifndef VHCAD_FUZZ_WORLD_H
#define VHCAD_FUZZ_WORLD_H

#include "fuzz/input.h"
#include "tests/thca.h"

#define WORLD_MR	(64u << 10)	/* bytes of each accessible region */
#define WORLD_AREA	(256u << 10)	/* bytes of memory for any use */
#define WORLD_QKEY	7u
#define WORLD_PAGES	8u		/* entries of a list of pages */
#define WORLD_PIECES	40u		/* and of pieces: several are fetched at once */

enum world_type { WORLD_RC, WORLD_UC, WORLD_UD, WORLD_XRC, WORLD_TYPES };

struct world {
	struct tworld w;
	struct thca h[2];
	struct tcq cq[2];
	struct tsrq srq;		/* guest 1's; with XRC that of the target QP */
	struct tqp qp[2];		/* connected; XRC: initiator and target */
	struct tmr mr[2];
	struct tmr safe;
	u32 xrcd;
	u32 fast, fast_sg, fmr, mw1, mw2;	/* guest 0's other keys */
	u64 area;			/* guest 0's memory of WORLD_AREA bytes */
	u64 sg_list;			/* where in it the list of @fast_sg lies */
	u64 fmr_record;			/* where the record of @fmr lies */
};

/* Options of a world; 0: the default. */
struct world_options {
	u32 log_sq;	/* blocks of guest 0's send queue, as a power of two; 8 */
	u32 limit;	/* objects of each kind that guest 0 may have */
};

void world_init(struct world *f, enum world_type type);
void world_init_as(struct world *f, enum world_type type, const struct world_options *o);

/* Posts @n receives to the peer's QP, of @nsge pieces of @len bytes each. */
void world_receives(struct world *f, u32 n, u32 nsge, u32 len);

/* Lets time pass until nothing is outstanding. */
void world_settle(struct world *f);

/* Checks that the forbidden region is unchanged, and frees everything. */
void world_fini(struct world *f);

#endif /* VHCAD_FUZZ_WORLD_H */
