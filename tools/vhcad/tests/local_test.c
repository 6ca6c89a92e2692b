// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Local operations: registration, invalidation, windows.
 * Their place in the send queue, fences, and that each is executed once.
 */
#include <string.h>

#include "qp/qp.h"
#include "qp/wqe.h"
#include "tests/thca.h"

#define ACCESS	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_REMOTE_READ | \
		 VHCA_ACCESS_MW_BIND)
#define QP_ACCESS (ACCESS & ~VHCA_ACCESS_MW_BIND)
#define REGION	32768u
#define SETTLE	(600ull * 1000000000)

struct fixture {
	struct tpair p;
	struct tmr l, r;
	struct tmr pages;	/* those of the fast key */
	u32 key;		/* of device 0 */
};

static u32 fast_key(struct thca *h, struct tmr *mr)
{
	struct vhca_create_mkey_req req = { .pdn = htole32(h->pd), .type = VHCA_MKEY_FAST };
	u64 at = t_alloc(h, 4096);
	__le64 *list = t_cpu(h, at);

	for (u32 i = 0; i < mr->npages; i++)
		list[i] = htole64(mr->page[i]);
	req.buf.addr = htole64(at);
	req.buf.npages = htole32(mr->npages);
	req.buf.levels = 1;
	return t_create(h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req));
}

static void fast(struct fixture *f)
{
	t_mr_init(&f->p.h[0], &f->pages, 1ull << 43, REGION, ACCESS, 1, 12);
	t_mr_fill(&f->pages, 3);
	f->key = fast_key(&f->p.h[0], &f->pages);
}

static void regions(struct fixture *f)
{
	t_mr_fill(&f->l, 1);
	t_mr_fill(&f->r, 2);
	fast(f);
}

static void setup(struct fixture *f)
{
	t_pair_init_regions(&f->p, 0xfffffd, 9, &f->l, &f->r, REGION, ACCESS, QP_ACCESS);
	regions(f);
}

static void setup_uc(struct fixture *f)
{
	t_pair_init_uc(&f->p, 3, 0xfffffd, 9);
	t_mr_init(&f->p.h[0], &f->l, 1ull << 40, REGION, ACCESS, 1, 12);
	t_mr_init(&f->p.h[1], &f->r, 1ull << 41, REGION, ACCESS, 1, 12);
	regions(f);
}

static void done(struct fixture *f)
{
	t_pair_fini(&f->p);
}

static void post_reg(struct fixture *f, u64 id, u8 variant, u8 flags)
{
	struct twr wr = { .opcode = VHCA_OP_REG_MR, .wr_id = id, .flags = flags, .data = "" };

	wr.reg = (struct vhca_wqe_reg){
		.key = htole32(f->key | variant), .entries = htole32(f->pages.npages),
		.iova = htole64(f->pages.iova), .length = htole64(REGION), .access = QP_ACCESS,
		.page_shift = 12,
	};
	t_post(&f->p.qp[0], &wr);
}

static void post_inv(struct fixture *f, u64 id, u8 variant, u8 flags)
{
	const struct twr wr = { .opcode = VHCA_OP_LOCAL_INV, .wr_id = id, .flags = flags,
				.imm = htole32(f->key | variant) };

	t_post(&f->p.qp[0], &wr);
}

/* A WRITE or READ whose local side is the fast key. */
static void post_use(struct fixture *f, u8 op, u64 id, u8 variant, u32 off, u32 len)
{
	struct twr wr = t_wr(op, id, &f->pages, off, len, &f->r, off);

	wr.sge[0].lkey = f->key | variant;
	t_post(&f->p.qp[0], &wr);
}

static void go(struct fixture *f)
{
	t_ring_sq(&f->p.qp[0]);
	t_settle(&f->p.w, SETTLE);
}

/* Another connection, whose sender has a CQ of its own. */
static void second_pair(struct fixture *f, struct tcq *cq, struct tqp *a, struct tqp *b)
{
	t_cq_init(&f->p.h[0], cq, 4, 0);
	t_qp_init(&f->p.h[0], a, cq, cq);
	t_qp_init(&f->p.h[1], b, &f->p.cq[1], &f->p.cq[1]);
	t_connect(a, b, 3, 1, 2);
}

static void expect(struct fixture *f, u64 id, u8 opcode)
{
	assert_int_equal(t_expect_cqe(&f->p.cq[0], id, VHCA_CS_SUCCESS).opcode, opcode);
}

/* Register, use, invalidate, register under another variant, use, invalidate: in one go. */
static void chain(void (*begin)(struct fixture *f))
{
	struct fixture f;

	begin(&f);
	for (u32 i = 0; i < 20; i++) {
		u8 variant = 250 + i;

		post_reg(&f, 4 * i, variant, 0);
		post_use(&f, VHCA_OP_WRITE, 4 * i + 1, variant, i * 1000, 1000);
		post_inv(&f, 4 * i + 2, variant, 0);
		post_use(&f, VHCA_OP_WRITE, 4 * i + 3, 0, 0, 0);
	}
	go(&f);
	for (u32 i = 0; i < 20; i++) {
		expect(&f, 4 * i, VHCA_CQE_REG_MR);
		expect(&f, 4 * i + 1, VHCA_CQE_WRITE);
		expect(&f, 4 * i + 2, VHCA_CQE_LOCAL_INV);
		expect(&f, 4 * i + 3, VHCA_CQE_WRITE);
	}
	t_mr_expect(&f.r, 0, 20000, 3, 0);
	t_expect_no_event(&f.p.h[0]);
	done(&f);
}

static void one_chain(void **state) { chain(setup); }
static void one_chain_uc(void **state) { chain(setup_uc); }

/*
 * The same while each packet is lost, delayed or duplicated once.  A repeated packet still
 * needs its key; a key is not registered twice.
 */
static void chain_over_a_bad_wire(void **state)
{
	for (u32 w = 0; w < T_SPOILS; w++) {
		s32 total = 1;

		for (s32 victim = -1; victim < total; victim++) {
			struct tnth n = { .victim = victim, .copies = t_spoils[w].copies,
					  .delay = t_spoils[w].delay };
			struct fixture f;

			setup(&f);
			fab_set_packet_hook(f.p.w.fabric, t_nth_hook, &n);
			for (u32 i = 0; i < 3; i++) {
				post_use(&f, VHCA_OP_WRITE, 10 * i, 0, 0, 0);
				post_reg(&f, 10 * i + 1, i, 0);
				post_use(&f, VHCA_OP_WRITE, 10 * i + 2, i, i * 2000, 2000);
				post_use(&f, VHCA_OP_READ, 10 * i + 3, i, 16384, 1500);
				post_inv(&f, 10 * i + 4, i, 0);
			}
			go(&f);
			for (u32 i = 0; i < 3; i++) {
				expect(&f, 10 * i, VHCA_CQE_WRITE);
				expect(&f, 10 * i + 1, VHCA_CQE_REG_MR);
				expect(&f, 10 * i + 2, VHCA_CQE_WRITE);
				expect(&f, 10 * i + 3, VHCA_CQE_READ);
				expect(&f, 10 * i + 4, VHCA_CQE_LOCAL_INV);
			}
			t_mr_expect(&f.r, 0, 6000, 3, 0);
			t_mr_expect(&f.pages, 16384, 1500, 2, 16384);
			if (victim < 0)
				total = n.seen;
			done(&f);
		}
		assert_true(total >= 18);
	}
}

/* ------------------------------------------------------------------------
 * Waiting
 */
static void slow(void *arg, const struct fab_port *from, const struct wire_hdr *h,
		 struct fab_effect *v)
{
	v->delay = 10000;
}

/* Has the key a range?  Tests it by a loop-back WRITE of another QP. */
static bool alive(struct fixture *f, struct tqp *self, struct tcq *cq, u8 variant)
{
	struct twr wr = t_wr(VHCA_OP_WRITE, 5, &f->pages, 0, 8, &f->r, REGION - 8);
	struct vhca_cqe e;

	wr.sge[0].lkey = f->key | variant;
	t_post(self, &wr);
	t_ring_sq(self);
	t_settle(&f->p.w, SETTLE);
	assert_true(t_cq_poll(cq, &e));
	return !e.status;
}

/* At a time when packets were only sent. */
static void fences(void **state)
{
	static const struct {
		u8 first, second, flags;
		bool at_once;
	} way[] = {
		{ VHCA_OP_READ, VHCA_OP_REG_MR, 0, true },
		{ VHCA_OP_READ, VHCA_OP_REG_MR, VHCA_WQE_FENCE, false },
		{ VHCA_OP_WRITE, VHCA_OP_REG_MR, 0, true },
		{ VHCA_OP_WRITE, VHCA_OP_REG_MR, VHCA_WQE_FENCE, true },
		{ VHCA_OP_WRITE, VHCA_OP_LOCAL_INV, 0, false },
		{ VHCA_OP_READ, VHCA_OP_LOCAL_INV, 0, false },
	};

	for (u32 i = 0; i < ARRAY_SIZE(way); i++) {
		bool reg = way[i].second == VHCA_OP_REG_MR;
		struct tqp a, b;
		struct fixture f;
		struct tcq cq;
		struct twr wr;

		setup(&f);
		second_pair(&f, &cq, &a, &b);
		if (!reg) {
			post_reg(&f, 0, 1, 0);
			go(&f);
			expect(&f, 0, VHCA_CQE_REG_MR);
		}
		fab_set_packet_hook(f.p.w.fabric, slow, NULL);
		wr = t_wr(way[i].first, 1, &f.l, 0, 600, &f.r, 0);
		t_post(&f.p.qp[0], &wr);
		if (reg)
			post_reg(&f, 2, 1, way[i].flags);
		else
			post_inv(&f, 2, 1, way[i].flags);
		t_ring_sq(&f.p.qp[0]);
		t_poll(&f.p.w);
		t_expect_no_cqe(&f.p.cq[0]);
		/* a second use of the key shows it, before anything has arrived */
		wr = t_wr(VHCA_OP_WRITE, 5, &f.pages, 0, 8, &f.r, REGION - 8);
		wr.sge[0].lkey = f.key | 1;
		t_post(&a, &wr);
		t_ring_sq(&a);
		t_settle(&f.p.w, SETTLE);
		t_expect_cqe(&cq, 5, (way[i].at_once == reg) ? VHCA_CS_SUCCESS :
			     VHCA_CS_LOC_PROT_ERR);
		expect(&f, 1, way[i].first == VHCA_OP_READ ? VHCA_CQE_READ : VHCA_CQE_WRITE);
		expect(&f, 2, reg ? VHCA_CQE_REG_MR : VHCA_CQE_LOCAL_INV);
		done(&f);
	}
}

/* SQD: requests that were taken are executed, others wait. */
static void drained(void **state)
{
	struct tqp a, b;
	struct fixture f;
	struct tcq cq;
	struct twr wr;

	setup(&f);
	second_pair(&f, &cq, &a, &b);
	fab_set_packet_hook(f.p.w.fabric, slow, NULL);
	wr = t_wr(VHCA_OP_READ, 1, &f.l, 0, 600, &f.r, 0);
	t_post(&f.p.qp[0], &wr);
	post_reg(&f, 2, 1, VHCA_WQE_FENCE);
	t_ring_sq(&f.p.qp[0]);
	t_poll(&f.p.w);
	assert_int_equal(t_to(&f.p.qp[0], T_SQD), VHCA_ST_OK);
	post_inv(&f, 3, 1, 0);
	go(&f);
	expect(&f, 1, VHCA_CQE_READ);
	expect(&f, 2, VHCA_CQE_REG_MR);
	t_expect_no_cqe(&f.p.cq[0]);
	assert_true(alive(&f, &a, &cq, 1));
	assert_int_equal(t_to(&f.p.qp[0], T_RTS), VHCA_ST_OK);
	t_settle(&f.p.w, SETTLE);
	expect(&f, 3, VHCA_CQE_LOCAL_INV);
	assert_false(alive(&f, &a, &cq, 1));
	done(&f);
}

/* ------------------------------------------------------------------------
 * Refused
 */

/* Requests before it complete, it fails, the rest is flushed. */
static void refuse(void (*begin)(struct fixture *f), u32 after)
{
	static const struct { u8 op, variant, status; } bad[] = {
		/* registered already; not this variant */
		{ VHCA_OP_REG_MR, 2, VHCA_CS_LOC_QP_OP_ERR },
		{ VHCA_OP_LOCAL_INV, 2, VHCA_CS_LOC_QP_OP_ERR },
		{ VHCA_OP_BIND_MW, 0, VHCA_CS_MW_BIND_ERR },
	};

	for (u32 i = 0; i < ARRAY_SIZE(bad); i++) {
		struct fixture f;
		struct twr wr = { .opcode = VHCA_OP_BIND_MW, .wr_id = 2 };

		begin(&f);
		post_reg(&f, 0, 1, 0);
		fab_set_packet_hook(f.p.w.fabric, slow, NULL);
		post_use(&f, VHCA_OP_WRITE, 1, 1, 0, 3000);
		if (bad[i].op == VHCA_OP_REG_MR)
			post_reg(&f, 2, bad[i].variant, 0);
		else if (bad[i].op == VHCA_OP_LOCAL_INV)
			post_inv(&f, 2, bad[i].variant, 0);
		else
			t_post(&f.p.qp[0], &wr);	/* of no window */
		post_use(&f, VHCA_OP_WRITE, 3, 1, 8192, 100);
		go(&f);
		expect(&f, 0, VHCA_CQE_REG_MR);
		expect(&f, 1, VHCA_CQE_WRITE);
		t_expect_cqe(&f.p.cq[0], 2, bad[i].status);
		t_expect_cqe(&f.p.cq[0], 3, VHCA_CS_WR_FLUSH_ERR);
		t_mr_expect(&f.r, 0, 3000, 3, 0);
		t_mr_expect(&f.r, 8192, 100, 2, 8192);
		assert_int_equal(t_state(&f.p.qp[0]), after);
		assert_int_equal(t_state(&f.p.qp[1]), T_RTS);
		done(&f);
	}
}

static void refused(void **state) { refuse(setup, T_ERR); }
static void refused_uc(void **state) { refuse(setup_uc, T_SQE); }

/* One that waits, and whose entry has changed when its turn comes. */
static void changed_while_waiting(void **state)
{
	struct vhca_wqe_ctrl *ctrl;
	struct fixture f;
	struct twr wr;

	setup(&f);
	fab_set_packet_hook(f.p.w.fabric, slow, NULL);
	wr = t_wr(VHCA_OP_READ, 1, &f.l, 0, 600, &f.r, 0);
	t_post(&f.p.qp[0], &wr);
	post_reg(&f, 2, 1, VHCA_WQE_FENCE);
	t_ring_sq(&f.p.qp[0]);
	t_poll(&f.p.w);
	/* as if another QP's entry had been read since, so that this one is read again */
	wqe_forget(qp_find(f.p.h[0].dev, f.p.qp[0].qpn));
	ctrl = (struct vhca_wqe_ctrl *)(f.p.qp[0].sq + VHCA_WQE_BLOCK);
	assert_int_equal(ctrl->opcode, VHCA_OP_REG_MR);
	ctrl->opcode = VHCA_OP_LOCAL_INV;
	go(&f);
	expect(&f, 1, VHCA_CQE_READ);
	t_expect_cqe(&f.p.cq[0], 2, VHCA_CS_LOC_QP_OP_ERR);
	done(&f);
}

/* Entries with invalid fields, or that end too early. */
static void malformed(void **state)
{
	for (u32 i = 0; i < 5; i++) {
		struct vhca_wqe_ctrl *ctrl;
		struct fixture f;

		setup(&f);
		if (i < 3)
			post_reg(&f, 1, 1, i == 0 ? VHCA_WQE_INLINE : 0);
		else
			post_inv(&f, 1, 1, 0);
		ctrl = (struct vhca_wqe_ctrl *)f.p.qp[0].sq;
		if (i == 1)
			ctrl->nsge = 1;
		else if (i == 2)
			((struct vhca_wqe_reg *)(ctrl + 1))->rsvd[5] = 1;
		else if (i == 3)
			ctrl->inline_len = htole32(1);
		else if (i == 4)
			ctrl->rsvd[7] = 1;
		go(&f);
		t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_LOC_QP_OP_ERR);
		done(&f);
	}
}

/* ------------------------------------------------------------------------
 * Windows
 */
static u32 window(struct thca *h, u8 type)
{
	struct vhca_create_mkey_req req = { .pdn = htole32(h->pd), .type = type };

	return t_create(h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req));
}

static struct twr bind_wr(u64 id, u32 key, struct tmr *mr, u64 off, u64 len)
{
	struct twr wr = { .opcode = VHCA_OP_BIND_MW, .wr_id = id };

	wr.bind = (struct vhca_wqe_bind){
		.key = htole32(key), .mr_key = htole32(mr->key), .addr = htole64(mr->iova + off),
		.length = htole64(len), .access = VHCA_ACCESS_REMOTE_WRITE,
	};
	return wr;
}

/* A window is bound in its turn: the SEND after the bind tells the peer of it. */
static void windows(void **state)
{
	static const u8 types[] = { VHCA_QPT_RC, VHCA_QPT_UC };

	for (u32 i = 0; i < ARRAY_SIZE(types); i++) {
		struct tpair p;
		struct tmr l, r;
		struct vhca_sge s;
		struct twr wr;
		u32 key;

		if (i)
			t_pair_init_uc(&p, 3, 1, 2);
		else
			t_pair_init(&p, 3, 1, 2);
		t_mr_init(&p.h[0], &l, 1ull << 40, REGION, ACCESS, 1, 12);
		t_mr_init(&p.h[1], &r, 1ull << 41, REGION, ACCESS, 1, 12);
		t_mr_fill(&l, 1);
		t_mr_fill(&r, 2);
		key = window(&p.h[1], VHCA_MKEY_MW_1) + 3;
		s = t_sge(&l, 0, 64);
		t_recv(&p.qp[0], 9, 1, &s);
		wr = bind_wr(1, key, &r, 4096, 4096);
		t_post(&p.qp[1], &wr);
		wr = t_wr(VHCA_OP_SEND, 2, &r, 0, 8, NULL, 0);
		t_post(&p.qp[1], &wr);
		t_ring_sq(&p.qp[1]);
		t_poll(&p.w);
		assert_int_equal(t_expect_cqe(&p.cq[1], 1, VHCA_CS_SUCCESS).opcode,
				 VHCA_CQE_BIND_MW);
		t_expect_cqe(&p.cq[1], 2, VHCA_CS_SUCCESS);
		t_expect_cqe(&p.cq[0], 9, VHCA_CS_SUCCESS);
		wr = t_wr(VHCA_OP_WRITE, 3, &l, 100, 1000, &r, 5000);
		wr.rkey = key;
		t_send(&p.qp[0], &wr);
		t_expect_cqe(&p.cq[0], 3, VHCA_CS_SUCCESS);
		t_mr_expect(&r, 5000, 1000, 1, 100);
		/* a bind that is refused */
		wr = bind_wr(4, key, &r, REGION - 10, 11);
		t_send(&p.qp[1], &wr);
		t_expect_cqe(&p.cq[1], 4, VHCA_CS_MW_BIND_ERR);
		assert_int_equal(t_state(&p.qp[1]), i ? T_SQE : T_ERR);
		t_pair_fini(&p);
	}
}

/* A capability that needs another one goes with it. */
static void dependencies(void **state)
{
	static const struct { u8 off; u64 gone; } deps[] = {
		{ VHCA_CAP_ATOMIC, 1ull << VHCA_CAP_MASKED_ATOMIC },
		{ VHCA_CAP_FAST_REG, 1ull << VHCA_CAP_SG_GAPS | 1ull << VHCA_CAP_MW_2A |
				     1ull << VHCA_CAP_MW_2B | 1ull << VHCA_CAP_UC_FAST_REG |
				     1ull << VHCA_CAP_INTEGRITY },
		{ VHCA_CAP_UC, 1ull << VHCA_CAP_UC_FAST_REG },
		{ VHCA_CAP_MW, 1ull << VHCA_CAP_MW_2A | 1ull << VHCA_CAP_MW_2B },
		{ VHCA_CAP_UD, 1ull << VHCA_CAP_MCAST | 1ull << VHCA_CAP_SMI_GSI |
			       1ull << VHCA_CAP_UD_CSUM | 1ull << VHCA_CAP_UD_CSUM6 |
			       1ull << VHCA_CAP_UD_LSO | 1ull << VHCA_CAP_UD_LSO6 },
		{ VHCA_CAP_UD_CSUM, 1ull << VHCA_CAP_UD_CSUM6 | 1ull << VHCA_CAP_UD_LSO |
				    1ull << VHCA_CAP_UD_LSO6 },
		{ VHCA_CAP_UD_CSUM6, 1ull << VHCA_CAP_UD_LSO6 },
		{ VHCA_CAP_UD_LSO, 1ull << VHCA_CAP_UD_LSO6 },
		{ VHCA_CAP_UD_LSO6, 0 },
		{ VHCA_CAP_MW_2A, 0 },
		{ VHCA_CAP_FLUSH, 0 },
	};
	u64 all = 0;

	for (u32 i = 0; i <= ARRAY_SIZE(deps); i++) {
		struct vdev_config cfg = { .name = "t", .node_guid = 0x100, .ports = 1,
					   .vectors = 4 };
		struct vhca_device_attr a;
		struct tworld w;
		struct thca h;

		if (i)
			cfg.caps_off = 1ull << deps[i - 1].off;
		t_world_init(&w);
		t_hca_init_cfg(&h, &w, &cfg);
		assert_int_equal(t_admin_out(&h, VHCA_CMD_QUERY_DEVICE, NULL, 0, &a, sizeof(a)),
				 VHCA_ST_OK);
		if (i)
			assert_true(le64toh(a.caps) == (all & ~(cfg.caps_off | deps[i - 1].gone)));
		else
			all = le64toh(a.caps);
		t_hca_fini(&h);
		t_world_fini(&w);
	}
}

/* Switched off, the entries are unknown. */
static void capabilities(void **state)
{
	static const struct { u8 op; u64 off; } caps[] = {
		{ VHCA_OP_REG_MR, 1ull << VHCA_CAP_FAST_REG },
		{ VHCA_OP_LOCAL_INV, 1ull << VHCA_CAP_FAST_REG },
		{ VHCA_OP_SEND_INV, 1ull << VHCA_CAP_FAST_REG },
		{ VHCA_OP_READ_INV, 1ull << VHCA_CAP_FAST_REG },
		{ VHCA_OP_ATOMIC_WRITE, 1ull << VHCA_CAP_ATOMIC_WRITE },
		{ VHCA_OP_FLUSH, 1ull << VHCA_CAP_FLUSH },
		{ VHCA_OP_BIND_MW, 1ull << VHCA_CAP_MW },
	};

	for (u32 i = 0; i < ARRAY_SIZE(caps); i++) {
		const struct vdev_config cfg = {
			.name = "t", .node_guid = 0x100, .ports = 1, .vectors = 4,
			.caps_off = caps[i].off,
		};
		struct vhca_device_attr a;
		struct tworld w;
		struct thca h;
		struct tcq cq;
		struct tqp qp;
		struct tmr mr;
		struct twr wr;

		t_world_init(&w);
		t_hca_init_cfg(&h, &w, &cfg);
		assert_int_equal(t_admin_out(&h, VHCA_CMD_QUERY_DEVICE, NULL, 0, &a, sizeof(a)),
				 VHCA_ST_OK);
		assert_false(le64toh(a.caps) & caps[i].off);
		t_cq_init(&h, &cq, 6, 0);
		t_qp_init(&h, &qp, &cq, &cq);
		t_mr_init(&h, &mr, 1ull << 40, 4096, VHCA_ACCESS_LOCAL_WRITE |
			  VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_REMOTE_READ, 1, 12);
		t_connect(&qp, &qp, 3, 7, 7);
		wr = t_wr(caps[i].op, 1, &mr, 0, 8, &mr, 0);
		wr.nsge = caps[i].op < VHCA_OP_FLUSH;
		wr.flush.type = VHCA_FLUSH_GLOBAL;
		t_send(&qp, &wr);
		t_expect_cqe(&cq, 1, VHCA_CS_LOC_QP_OP_ERR);
		t_hca_fini(&h);
		t_world_fini(&w);
	}
}

/* The same request on both kinds of connections of a device that has it on one of them. */
static void not_on_uc(void **state)
{
	static const struct { u8 type, op, status; } way[] = {
		{ VHCA_QPT_RC, VHCA_OP_REG_MR, VHCA_CS_SUCCESS },
		{ VHCA_QPT_RC, VHCA_OP_LOCAL_INV, VHCA_CS_SUCCESS },
		{ VHCA_QPT_UC, VHCA_OP_REG_MR, VHCA_CS_LOC_QP_OP_ERR },
		{ VHCA_QPT_UC, VHCA_OP_LOCAL_INV, VHCA_CS_LOC_QP_OP_ERR },
	};
	static const struct vdev_config cfg = {
		.name = "t", .node_guid = 0x100, .ports = 1, .vectors = 4,
		.caps_off = 1ull << VHCA_CAP_UC_FAST_REG,
	};

	for (u32 i = 0; i < ARRAY_SIZE(way); i++) {
		struct fixture f;
		struct thca *h = &f.p.h[0];

		t_world_init(&f.p.w);
		t_hca_init_cfg(h, &f.p.w, &cfg);
		h->qp_type = way[i].type;
		t_cq_init(h, &f.p.cq[0], 6, 0);
		t_qp_init(h, &f.p.qp[0], &f.p.cq[0], &f.p.cq[0]);
		t_connect(&f.p.qp[0], &f.p.qp[0], 3, 7, 7);
		fast(&f);
		if (way[i].op == VHCA_OP_REG_MR)
			post_reg(&f, 1, 1, 0);
		else
			post_inv(&f, 1, 0, 0);
		go(&f);
		t_expect_cqe(&f.p.cq[0], 1, way[i].status);
		t_hca_fini(h);
		t_world_fini(&f.p.w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_chain),
		cmocka_unit_test(one_chain_uc),
		cmocka_unit_test(chain_over_a_bad_wire),
		cmocka_unit_test(fences),
		cmocka_unit_test(drained),
		cmocka_unit_test(refused),
		cmocka_unit_test(refused_uc),
		cmocka_unit_test(changed_while_waiting),
		cmocka_unit_test(malformed),
		cmocka_unit_test(windows),
		cmocka_unit_test(dependencies),
		cmocka_unit_test(capabilities),
		cmocka_unit_test(not_on_uc),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
