/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Very many connected QPs, on four pairs of adapters.
 */
#ifndef VHCAD_TESTS_TSCALE_H
#define VHCAD_TESTS_TSCALE_H

#include "tests/thca.h"

#define TSCALE_PAIRS	4u
#define TSCALE_LOG_SQ	2u	/* of each QP */
#define TSCALE_BYTES	64u	/* of each message */

/**
 * struct tscale_pair - two adapters
 * @h: they
 * @cq: of all QPs of each
 * @srq: where the receives of all QPs of each come from
 * @mr: TSCALE_BYTES for each connection
 * @qp: its two ends
 * @n: connections
 */
struct tscale_pair {
	struct thca h[2];
	struct tcq cq[2];
	struct tsrq srq[2];
	struct tmr mr[2];
	struct tqp *qp[2];
	u32 n;
};

/**
 * struct tscale - all of them
 * @w: the world
 * @pair: connection N is one of pair N % TSCALE_PAIRS
 * @connections: half as many as QPs
 */
struct tscale {
	struct tworld w;
	struct tscale_pair pair[TSCALE_PAIRS];
	u32 connections;
};

/** tscale_init() - make an even number of QPs and connect them */
void tscale_init(struct tscale *s, u32 qps);
void tscale_fini(struct tscale *s);

/** tscale_write() - post a WRITE of connection @n's bytes, from end @end to the other, and ring */
void tscale_write(struct tscale *s, u32 n, u32 end);

/** tscale_take() - take a completion of a WRITE, which must be good, of connection *@n */
bool tscale_take(struct tscale *s, u32 *n);

#endif /* VHCAD_TESTS_TSCALE_H */
