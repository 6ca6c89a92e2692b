// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A guest that writes random data everywhere it can: commands, rings, records,
 * doorbells, page lists, packets.  The daemon must not fail (the sanitizers
 * watch) and the transfers of two other guests must not be affected.
 */
#include <stdlib.h>
#include <string.h>

#include "fabric/internal.h"
#include "tests/thca.h"
#include "tests/trandom.h"

#define RW	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_REMOTE_READ)
#define ALL	(RW | VHCA_ACCESS_REMOTE_ATOMIC | VHCA_ACCESS_FLUSH_GLOBAL | \
		 VHCA_ACCESS_FLUSH_PERSISTENT)

static u64 rng;

static u32 rnd(u32 below)
{
	return (t_random(&rng) >> 32) % below;
}

/* Bytes that are zero, all ones, small, or anything. */
static void scribble(void *p, u32 len)
{
	u8 *b = p;

	for (u32 i = 0; i < len; i++)
		switch (rnd(6)) {
		case 0:
			b[i] = 0xff;
			break;
		case 1:
			b[i] = rnd(256);
			break;
		case 2:
			b[i] = rnd(8);
			break;
		default:
			b[i] = 0;
		}
}

struct fixture {
	struct tpair p;		/* the two other guests */
	struct thca bad;
	struct tcq cq;
	struct tsrq srq;
	struct tqp qp[8];	/* the last four share their receives */
	struct tmr mr;
	u64 area;		/* AREA bytes for rings that overlap */
};

#define AREA	(2u << 20)
#define QKEY	7u

static void make_bad(struct fixture *f)
{
	t_hca_init(&f->bad, &f->p.w, 0xbad00);
	t_cq_init(&f->bad, &f->cq, 12, 0);
	t_srq_init(&f->bad, &f->srq, 7, 8);
	f->area = t_alloc(&f->bad, AREA);
	t_mr_init(&f->bad, &f->mr, 0, 600 * 4096, ALL, 2, 12);
	for (u32 i = 0; i < ARRAY_SIZE(f->qp); i++) {
		/* both of a pair are of one type */
		if (i % 4 != 1)
			f->bad.qp_type = VHCA_QPT_RC + rnd(3);
		if (i < 4)
			t_qp_init(&f->bad, &f->qp[i], &f->cq, &f->cq);
		else
			t_qp_init_srq(&f->bad, &f->qp[i], &f->cq, &f->cq, &f->srq);
		/* in pairs, and with themselves */
		if (f->bad.qp_type == VHCA_QPT_UD) {
			t_ud_up(&f->qp[i], QKEY);
		} else if (i % 4 == 1) {
			t_connect(&f->qp[i], &f->qp[i - 1], 1 + rnd(5), rnd(1 << 24), rnd(1 << 24));
		} else if (i % 4 > 1) {
			u32 psn = rnd(1 << 24);

			t_connect(&f->qp[i], &f->qp[i], 1 + rnd(5), psn, psn);
		}
		if (f->bad.qp_type != VHCA_QPT_UD && i % 4)
			t_allow(&f->qp[i], ALL);
		if (f->bad.qp_type != VHCA_QPT_UD && i % 4 == 1)
			t_allow(&f->qp[i - 1], ALL);
	}
}

static void good_transfer(struct fixture *f, struct tmr *l, struct tmr *r, u32 n)
{
	struct twr wr = t_wr(n % 2 ? VHCA_OP_READ : VHCA_OP_WRITE, n, l, 0, 30000, r, 0);

	t_mr_fill(l, n);
	t_mr_fill(r, n + 1);
	t_send(&f->p.qp[0], &wr);
	t_expect_cqe(&f->p.cq[0], n, VHCA_CS_SUCCESS);
	if (n % 2)
		t_mr_expect(l, 0, 30000, n + 1, 0);
	else
		t_mr_expect(r, 0, 30000, n, 0);
}

/* A plausible entry with some fields corrupted, so that the deeper checks run. */
static void spoilt_wqe(struct fixture *f, struct tqp *qp)
{
	u8 op = rnd(2) ? rnd(VHCA_OP_READ + 1) : rnd(VHCA_OP_REG_MR + 1);
	bool word = op >= VHCA_OP_CMP_SWAP && op <= VHCA_OP_FLUSH;
	u32 len = word && rnd(8) ? 8 : rnd(3) ? rnd(5000) : rnd(600 * 4096);
	struct twr wr = t_wr(op, rnd(1000), &f->mr, 0, len, &f->mr,
			     word && rnd(4) ? rnd(10000) * 8 : rnd(100000));
	u8 *at = qp->sq + (qp->sq_prod & ((1u << qp->log_sq) - 1)) * VHCA_WQE_BLOCK;
	struct vhca_sge s = t_sge(&f->mr, rnd(100000), rnd(70000));

	if (qp->type == VHCA_QPT_UD) {
		wr.nsge = 1;
		wr.sge[0].length = rnd(4200);
		wr.ud = t_ud_to(&f->qp[rnd(ARRAY_SIZE(f->qp))], rnd(4) ? QKEY : rnd(9) << 29);
		wr.ud.av.dlid = rnd(4) ? wr.ud.av.dlid : htole16(rnd(1 << 16));
		wr.ud.av.grh = !rnd(3);
		wr.ud.av.sgid_index = rnd(9);
	}
	if (op >= VHCA_OP_FLUSH && rnd(8))
		wr.nsge = 0;
	scribble(&wr.atomic, sizeof(wr.atomic));
	if (rnd(2))
		wr.atomic.mask = wr.atomic.compare_mask = 0;
	wr.flush = (struct vhca_wqe_flush){ .length = htole32(rnd(9000)), .type = rnd(4),
					    .level = !rnd(4) };
	wr.imm = rnd(2) ? f->mr.key : rnd(1 << 16);
	scribble(&wr.bind, sizeof(wr.bind));
	wr.bind.key = htole32(rnd(1 << 13));
	wr.bind.mr_key = htole32(f->mr.key);
	scribble(&wr.reg, sizeof(wr.reg));
	wr.reg.key = htole32(rnd(1 << 13));
	if (qp->rq) {
		t_recv(qp, rnd(1000), 1, &s);
	} else {
		t_srq_write(&f->srq, f->srq.posted++, rnd(1000), 1, &s);
		t_set_rec(&f->bad, f->srq.slot, f->srq.posted);
	}
	t_post(qp, &wr);
	if (!rnd(3))
		at[rnd(VHCA_WQE_BLOCK)] ^= 1 << rnd(8);
	if (!rnd(3))
		scribble((qp->rq ? qp->rq : f->srq.ring) + rnd(100) * 8, 8);
}

/* A nearly valid change of the SRQ or the CQ; their rings overlap. */
static void shaken_queue(struct fixture *f)
{
	struct thca *h = &f->bad;
	struct vhca_resize_srq_hw_req srq = {
		.buf.addr = htole64(f->area + rnd(AREA / 2) / 256 * 256),
		.srqn = htole32(f->srq.srqn), .log_strides = rnd(9),
	};
	struct vhca_resize_cq_hw_req cq = {
		.buf.addr = htole64(f->area + rnd(AREA / 2) / 64 * 64),
		.cqn = htole32(f->cq.cqn), .log_cqe = rnd(14),
	};

	switch (rnd(4)) {
	case 0:
		t_srq_limit(&f->srq, rnd(200));
		break;
	case 1:
		t_admin(h, VHCA_CMD_RESIZE_SRQ, &srq, sizeof(srq), NULL);
		break;
	case 2:
		t_cq_moderate(&f->cq, rnd(20), rnd(2000));
		break;
	default:
		t_set_rec(h, f->cq.slot, rnd(200));
		t_admin(h, VHCA_CMD_RESIZE_CQ, &cq, sizeof(cq), NULL);
	}
}

static void round_of_nonsense(struct fixture *f, u32 n)
{
	struct thca *h = &f->bad;

	for (u32 i = 0; i < 40; i++) {
		struct tqp *qp = &f->qp[rnd(ARRAY_SIZE(f->qp))];

		switch (rnd(9)) {
		case 0: {
			struct vhca_asqe sqe;

			/* a command in valid form with a random body */
			scribble(&sqe, sizeof(sqe));
			sqe.opcode = rnd(0x4a);
			sqe.rsvd = 0;
			if (rnd(2)) {
				sqe.out_addr = 0;
				sqe.out_len = 0;
			}
			memset(sqe.req + rnd(100), 0, 140);
			t_admin_raw(h, &sqe, NULL);
			break;
		}
		case 1:
			scribble(qp->sq + rnd(500) * 64, 64);
			t_ring(h, qp->slot, qp->sq_prod + rnd(20));
			break;
		case 2:
			t_ring(h, rnd(VHCA_DB_SLOTS), (u64)rnd(1 << 30) << rnd(40));
			break;
		case 3:
			scribble(&h->db->rec[rnd(VHCA_DB_SLOTS)], 8);
			h->db->news[rnd(8)] = ~0ull;
			h->db->summary[rnd(16)] = ~0ull;
			vdev_kick(h->dev, rnd(3000));
			break;
		case 4:
			/* a page list entry: another address, or an unmapped one */
			scribble(t_cpu(h, T_RAM_BASE + rnd(h->ram_used)), 8);
			break;
		case 5:
			t_to(qp, rnd(7));
			break;
		case 6:
			shaken_queue(f);
			break;
		default:
			spoilt_wqe(f, qp);
			t_ring_sq(qp);
		}
		t_poll(&f->p.w);
	}
	t_settle(&f->p.w, 20000000);
	if (vdev_reg_read(h->dev, VHCA_REG_STATUS) != VHCA_STATUS_READY || n % 10 == 9) {
		t_hca_fini(h);
		make_bad(f);
	}
}

static bool admin_dead(struct fixture *f)
{
	return vdev_reg_read(f->bad.dev, VHCA_REG_STATUS) != VHCA_STATUS_READY;
}

static void nonsense(void **state)
{
	const char *seeds = getenv("HOSTILE_SEEDS");	/* more of them, by hand */
	u32 last = seeds ? atoi(seeds) : 4;
	static struct fixture f;
	struct tmr l, r;

	for (u32 seed = 1; seed <= last; seed++) {
		rng = seed * 0x9e3779b97f4a7c15ull;
		t_pair_init(&f.p, 3, 1, 2);
		t_mr_init(&f.p.h[0], &l, 0, 30000, RW, 1, 12);
		t_mr_init(&f.p.h[1], &r, 0, 30000, RW, 1, 12);
		make_bad(&f);
		for (u32 n = 0; n < 100; n++) {
			/* a failed device answers no command: the round must end */
			if (!admin_dead(&f))
				round_of_nonsense(&f, n);
			good_transfer(&f, &l, &r, n);
		}
		t_hca_fini(&f.bad);
		t_pair_fini(&f.p);
	}
}

/* Random packets, with good CRCs, to the QPs of the other guests. */
static void packets(void **state)
{
	static struct fixture f;
	struct tmr l, r;
	u32 other = 0;

	rng = 99;
	t_pair_init(&f.p, 3, 1, 2);
	t_mr_init(&f.p.h[0], &l, 0, 30000, RW, 1, 12);
	t_mr_init(&f.p.h[1], &r, 0, 30000, RW, 1, 12);
	make_bad(&f);
	for (u32 i = 0; i < 200000; i++) {
		u8 data[WIRE_MAX_MTU], opcode = rnd(256);
		struct wire_hdr h = {
			.dlid = 1 + rnd(3), .slid = rnd(4), .pkey = 0xffff,
			.opcode = opcode, .orig = i, .swap_add = i, .compare = rnd(3),
			.flush_type = rnd(4), .flush_level = rnd(4), .inv_key = rnd(1 << 14),
			.qkey = rnd(4) ? QKEY : rnd(9), .sqpn = rnd(1 << 24),
			.psn = rnd(2) ? rnd(64) : rnd(1 << 24), .dqpn = rnd(16), .ackreq = rnd(2),
			.syndrome = rnd(256), .msn = rnd(1 << 24), .va = rnd(40000),
			.rkey = rnd(2) ? r.key : rnd(2) ? f.mr.key : rnd(1 << 20),
			.dmalen = rnd(2) ? rnd(8192) : (u32)rng, .grh = !rnd(4), .se = rnd(2),
		};
		struct run run;
		struct payload pl;

		if (!wire_op(opcode)->kind)
			continue;
		/* packets that a real peer could send are not part of this test */
		if (h.slid == 3 - h.dlid && h.dlid < 3)
			h.slid = 3;
		run_from_packet(&run, &pl, &h, data, rnd(3) ? rnd(2000) : 1024);
		if (!(wire_op(h.opcode)->flags & WIRE_F_DATA))
			run.len = 0;
		memset(data, i, run.len);
		fab_send(f.p.w.fabric->ports[2], &run);
		other++;
		if (i % 1000 == 0) {
			t_settle(&f.p.w, 10000000);
			good_transfer(&f, &l, &r, i / 1000);
		}
	}
	assert_true(other > 30000);
	t_hca_fini(&f.bad);
	t_pair_fini(&f.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nonsense),
		cmocka_unit_test(packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
