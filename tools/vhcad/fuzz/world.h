/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Two guests for the targets behind the sockets: guest 0 does what the input
 * says, guest 1 is its peer and owns a region that nobody may reach.
 */
#ifndef VHCAD_FUZZ_WORLD_H
#define VHCAD_FUZZ_WORLD_H

#include "fuzz/input.h"
#include "tests/thca.h"

#define WORLD_MR	(64u << 10)	/* bytes of the regions that may be used */
#define WORLD_AREA	(256u << 10)	/* of memory without a purpose */
#define WORLD_QKEY	7u

enum world_type { WORLD_RC, WORLD_UC, WORLD_UD, WORLD_XRC, WORLD_TYPES };

struct world {
	struct tworld w;
	struct thca h[2];
	struct tcq cq[2];
	struct tsrq srq;		/* of guest 1; XRC: what the target names */
	struct tqp qp[2];		/* connected; XRC: initiator and target */
	struct tmr mr[2];
	struct tmr safe;
	u32 xrcd;
	u32 fast, fmr, mw1, mw2;	/* more keys of guest 0 */
	u64 area;			/* of guest 0 */
};

void world_init(struct world *f, enum world_type type);

/* Receives for the peer's QP: as many, of so many bytes each. */
void world_receives(struct world *f, u32 n, u32 len);

/* Time goes by until nothing is under way. */
void world_settle(struct world *f);

/* Nobody has touched what is nobody's; and everything goes away. */
void world_fini(struct world *f);

#endif /* VHCAD_FUZZ_WORLD_H */
