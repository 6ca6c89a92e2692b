/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Two devices with a region each, and atomics between them.
 */
#ifndef VHCAD_TESTS_TATOMIC_H
#define VHCAD_TESTS_TATOMIC_H

#include "tests/thca.h"

#define ACCESS	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_REMOTE_READ | \
		 VHCA_ACCESS_REMOTE_ATOMIC)
#define REGION	65536u
#define WORD	1024u		/* offset of the word in the remote region */
#define SETTLE	(600ull * 1000000000)

struct tatomic {
	struct tpair p;
	struct tmr l, r;
};

void ta_setup(struct tatomic *f, u32 psn);
void ta_done(struct tatomic *f);
u64 ta_word(struct tmr *mr, u64 off);
void ta_set_word(struct tmr *mr, u64 off, u64 v);
bool ta_masked(u8 op);
/* the expected result of an atomic, bit by bit; values in native byte order, here and below */
u64 ta_result(u8 op, u64 was, const struct vhca_wqe_atomic *a);
/* as it is in the entry */
struct vhca_wqe_atomic ta_wire(const struct vhca_wqe_atomic *a);
struct twr ta_wr(u8 op, u64 id, struct tmr *l, u64 off, struct tmr *r, u64 roff,
		     const struct vhca_wqe_atomic *a);

/* A packet hook that counts atomics under way, and delays packets. */
struct tdepth {
	u32 requests, answers, most;
};

void ta_count_depth(void *arg, const struct fab_port *from, const struct wire_hdr *h,
		 struct fab_effect *v);

#endif /* VHCAD_TESTS_TATOMIC_H */
