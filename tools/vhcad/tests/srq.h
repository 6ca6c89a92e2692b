/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared by srq_test.c and srq_end_test.c.
 */
#ifndef VHCAD_TESTS_SRQ_H
#define VHCAD_TESTS_SRQ_H

#include <string.h>

#include "res/dev.h"
#include "qp/srq.h"
#include "qp/wqe.h"
#include "qp/qp.h"
#include "tests/testmem.h"
#include "tests/thca.h"

#define RW	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_REMOTE_READ)
#define MSEC	1000000ull
#define SECOND	1000000000ull
#define PAIRS	16u
#define LOG	5u
#define LEN	3000u	/* of a message: three packets */

/* PAIRS connections from the first device to the second, whose receives are shared. */
struct fixture {
	struct tworld w;
	struct thca h[2];
	struct tcq cq[2];
	struct tsrq srq;
	struct tqp a[PAIRS], b[PAIRS];
	struct tmr src, dst;
};

static inline int setup(void **state)
{
	static struct fixture f;

	memset(&f, 0, sizeof(f));
	t_two_init(&f.w, f.h, 1);
	for (u32 i = 0; i < 2; i++)
		t_cq_init(&f.h[i], &f.cq[i], 9, 0);
	t_srq_init(&f.h[1], &f.srq, LOG, 7);
	for (u32 i = 0; i < PAIRS; i++) {
		t_qp_init(&f.h[0], &f.a[i], &f.cq[0], &f.cq[0]);
		t_qp_init_srq(&f.h[1], &f.b[i], &f.cq[1], &f.cq[1], &f.srq);
		t_connect(&f.a[i], &f.b[i], 3, 100, 9000);
	}
	t_mr_init(&f.h[0], &f.src, 0, PAIRS * LEN, RW, 1, 12);
	t_mr_init(&f.h[1], &f.dst, 0, 64 * LEN, RW, 1, 12);
	t_mr_fill(&f.src, 7);
	*state = &f;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	t_two_fini(&f->w, f->h);
	return 0;
}

/* A receive whose wr_id is the number of its place in the destination. */
static inline void post(struct fixture *f, u32 place)
{
	struct vhca_sge s[2] = {
		t_sge(&f->dst, place * LEN, 1000), t_sge(&f->dst, place * LEN + 1000, LEN - 1000),
	};

	t_srq_recv(&f->srq, place, 2, s);
}

static inline struct twr message(struct fixture *f, u32 pair, u32 len)
{
	return t_wr(VHCA_OP_SEND, pair, &f->src, pair * LEN, len, NULL, 0);
}

static inline void send(struct fixture *f, u32 pair, u32 len)
{
	struct twr wr = message(f, pair, len);

	t_send(&f->a[pair], &wr);
}

/* Expects the message of a pair in a place. */
static inline void arrived(struct fixture *f, u32 pair, u32 place)
{
	struct vhca_cqe e = t_expect_cqe(&f->cq[1], place, VHCA_CS_SUCCESS);

	assert_int_equal(le32toh(e.qpn), f->b[pair].qpn);
	assert_int_equal(le32toh(e.byte_len), LEN);
	assert_int_equal(le32toh(e.wqe_index), 0);
	assert_int_equal(e.flags, VHCA_CQE_F_RQ);
	t_mr_expect(&f->dst, place * LEN, LEN, 7, pair * LEN);
}

static inline struct vhca_query_srq_resp query(struct fixture *f)
{
	struct vhca_object_req req = { .handle = htole32(f->srq.srqn) };
	struct { struct vhca_query_srq_resp r; u8 rest[VHCA_ACQE_RESP - 8]; } resp;

	assert_int_equal(t_admin(&f->h[1], VHCA_CMD_QUERY_SRQ, &req, sizeof(req), &resp),
			 VHCA_ST_OK);
	return resp.r;
}

/* Packets with this PSN or a later one are delayed. */
static u32 held_from;

static inline void hold(void *arg, const struct fab_port *from, const struct wire_hdr *h,
		 struct fab_effect *v)
{
	v->delay = h->psn >= held_from ? MSEC : 0;
}

/* The first packet of a pair's message has arrived, and taken a receive. */
static inline void send_half(struct fixture *f, u32 pair)
{
	u32 taken = t_srq_taken(&f->srq);

	held_from = 101;
	assert_int_equal(fab_set_packet_hook(f->w.fabric, hold, NULL), 0);
	send(f, pair, LEN);
	assert_int_equal(t_srq_taken(&f->srq), taken + 1);
	t_expect_no_cqe(&f->cq[1]);
}

static inline void send_rest(struct fixture *f)
{
	f->w.now += 2 * MSEC;
	t_poll(&f->w);
}

/* As the ABI header says: copies the receives that were not taken, then gives the command. */
static inline u32 resize(struct fixture *f, u32 log)
{
	struct tsrq *s = &f->srq;
	u32 stride = 1u << s->log_stride;
	u64 at = t_alloc(s->h, (u64)stride << log);
	struct vhca_resize_srq_hw_req req = {
		.buf.addr = htole64(at), .srqn = htole32(s->srqn), .log_strides = log,
	};
	u8 *ring = t_cpu(s->h, at);
	u32 st;

	for (u32 i = t_srq_taken(s); i != s->posted; i++)
		memcpy(ring + (i & ((1u << log) - 1)) * stride,
		       s->ring + (i & ((1u << s->log) - 1)) * stride, stride);
	st = t_admin(s->h, VHCA_CMD_RESIZE_SRQ, &req, sizeof(req), NULL);
	if (st)
		return st;
	memset(s->ring, 0xdd, stride << s->log);
	s->ring = ring;
	s->log = log;
	return st;
}

#endif /* VHCAD_TESTS_SRQ_H */
