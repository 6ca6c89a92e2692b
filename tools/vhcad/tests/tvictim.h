/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A guest that writes 64 bytes to another one now and then, beside a third one that is busy.
 */
#ifndef VHCAD_TESTS_TVICTIM_H
#define VHCAD_TESTS_TVICTIM_H

#include "tests/thca.h"

#define VICTIM_BYTES	64u

/**
 * struct tvictim - the three guests
 * @w: the world
 * @h: the sender, the receiver, and the busy one, whose doorbells are looked at last
 * @cq: a CQ of each; the third one ignores overrun
 * @qp: the connection of the first two
 * @mr: their memory
 * @waiting: a message is under way
 * @rng: state of tvictim_any(); another value gives another order of events
 */
struct tvictim {
	struct tworld w;
	struct thca h[3];
	struct tcq cq[3];
	struct tqp qp[2];
	struct tmr mr[2];
	bool waiting;
	u32 rng;
};

/** tvictim_init() - make the guests, in a world where work takes time: see t_world_init_timed() */
void tvictim_init(struct tvictim *v, u64 (*spent)(void *arg));
void tvictim_fini(struct tvictim *v);

/** tvictim_any() - a number below @n */
u32 tvictim_any(struct tvictim *v, u32 n);

/** tvictim_ring() - post a message and ring, without polling */
void tvictim_ring(struct tvictim *v);

/** tvictim_done() - is the message that was under way complete? */
bool tvictim_done(struct tvictim *v);

#endif /* VHCAD_TESTS_TVICTIM_H */
