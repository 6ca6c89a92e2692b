// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A fabric that loses packets.  Which ones follows from the seed and from how many packets were
 * sent before, and from nothing else.
 */
#include "fabric/room.h"

/* A permutation of 64-bit numbers in which neighbours have nothing in common. */
static u64 scatter(u64 v)
{
	v = (v ^ v >> 31) * 0xd6e8feb86659fd93ull;
	v = (v ^ v >> 29) * 0xa0761d6478bd642full;
	return v ^ v >> 32;
}

static void lose_some(void *arg, const struct fab_port *from, const struct wire_hdr *h,
		      struct fab_verdict *v)
{
	struct fab_loss *loss = arg;
	u64 throw = scatter(loss->seed ^ scatter(++loss->packets)) >> 32;

	if (throw * 1000 >> 32 < loss->permille)
		v->copies = 0;
}

int fabric_set_loss(struct fabric *f, u32 permille, u32 seed)
{
	f->loss = (struct fab_loss){ .permille = permille, .seed = (u64)seed << 32 | seed };
	return fab_set_judge(f, permille ? lose_some : NULL, &f->loss);
}
