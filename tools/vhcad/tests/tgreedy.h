/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Guests that keep the engine busy: with WRITEs that seem endless, and with work that takes longer
 * than its number of bytes suggests.
 */
#ifndef VHCAD_TESTS_TGREEDY_H
#define VHCAD_TESTS_TGREEDY_H

#include "tests/tkey.h"

#define GREEDY_LISTS	4u

/**
 * struct tgreedy - a guest that is busy
 * @h: its adapter
 * @cq: of all its QPs; with VHCA_CQ_IGNORE_OVERRUN, as it is not polled
 */
struct tgreedy {
	struct thca *h;
	struct tcq *cq;

	struct tqp from, to;
	struct tmr l, r;
	struct tqp *members;
	struct vqp **member;
	struct vhca_db_page *pages;
	u32 uar;
	u32 list_key[GREEDY_LISTS];
	u32 huge_key;
};

/**
 * struct tgreedy_kind - a kind of work
 * @what: in a few words
 * @prepare: makes the objects; tgreedy_end() frees the host's part of them
 * @keep_busy: posts and rings again for everything done since the last call
 */
struct tgreedy_kind {
	const char *what;
	void (*prepare)(struct tgreedy *g);
	void (*keep_busy)(struct tgreedy *g);
};

/* WRITEs of 2 GiB, which take as long as their bytes suggest. */
extern const struct tgreedy_kind tgreedy_huge;
/* Half a million doorbells; datagrams to hundreds of QPs; lists of pieces, most of them empty. */
extern const struct tgreedy_kind tgreedy_sly[3];

/*
 * The slowest packets of 4 KiB: each byte is a piece of its own at its source and its destination.
 * A packet is an entry of one block.
 */
extern const struct tgreedy_kind tgreedy_pieces;

/** tgreedy_qps() - make two QPs of its adapter that are connected, @from and @to */
void tgreedy_qps(struct tgreedy *g, u32 log_sq);

void tgreedy_end(struct tgreedy *g);

#endif /* VHCAD_TESTS_TGREEDY_H */
