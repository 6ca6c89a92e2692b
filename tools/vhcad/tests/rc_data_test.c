// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RC moves the right bytes: every operation, MTU and a choice of sizes,
 * offsets, gather lists and page lists.
 */
#include <string.h>

#include "tests/thca.h"

#define RW	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_REMOTE_READ)
#define HIGH	0x7f0012345678ull	/* an address no guest page has */

static const u32 sizes[] = { 0, 1, 3, 255, 256, 257, 1024, 4095, 4096, 4097, 8192, 65535, 65536,
			     65537, 200000 };

struct regions {
	struct tmr l, r;
};

static void make_regions(struct tpair *p, struct regions *m, u32 levels)
{
	t_mr_init(&p->h[0], &m->l, HIGH, 220000, RW, levels, 12);
	t_mr_init(&p->h[1], &m->r, HIGH * 2 + 77, 220000, RW, levels, 12);
}

/* One operation of a size; checks data and completions on both sides. */
static void one(struct tpair *p, struct regions *m, u8 op, u32 size, u64 id)
{
	struct twr wr = t_wr(op, id, &m->l, 5, size, &m->r, 1001);
	struct vhca_sge rs = t_sge(&m->r, 1001, size);
	bool needs_recv = op != VHCA_OP_WRITE && op != VHCA_OP_READ;
	struct vhca_cqe e;

	t_mr_fill(&m->l, id);
	t_mr_fill(&m->r, id + 1000);
	wr.imm = htobe32(0xabcd0000 | id);
	if (needs_recv)
		t_recv(&p->qp[1], id + 5000, op == VHCA_OP_WRITE_IMM ? 0 : 1, &rs);
	t_send(&p->qp[0], &wr);
	e = t_expect_cqe(&p->cq[0], id, VHCA_CS_SUCCESS);
	assert_int_equal(le32toh(e.qpn), p->qp[0].qpn);
	assert_int_equal(le32toh(e.wqe_index), p->qp[0].sq_prod);
	t_expect_no_cqe(&p->cq[0]);
	if (needs_recv) {
		e = t_expect_cqe(&p->cq[1], id + 5000, VHCA_CS_SUCCESS);
		assert_int_equal(le32toh(e.byte_len), size);
		assert_int_equal(e.opcode, op == VHCA_OP_WRITE_IMM ? VHCA_CQE_RECV_WRITE_IMM :
				 VHCA_CQE_RECV);
		assert_true(e.flags & VHCA_CQE_F_RQ);
		if (op == VHCA_OP_SEND)
			assert_false(e.flags & VHCA_CQE_F_IMM);
		else
			assert_int_equal(e.imm, htobe32(0xabcd0000 | id));
	}
	t_expect_no_cqe(&p->cq[1]);
	assert_true(p->w.next == ENGINE_NEVER);		/* and no timer runs */
	if (op == VHCA_OP_READ) {
		assert_int_equal(e.opcode, VHCA_CQE_READ);
		assert_int_equal(le32toh(e.byte_len), size);
		t_mr_expect(&m->l, 0, 5, id, 0);
		t_mr_expect(&m->l, 5, size, id + 1000, 1001);
		t_mr_expect(&m->l, 5 + size, 500, id, 5 + size);
	} else {
		t_mr_expect(&m->r, 0, 1001, id + 1000, 0);
		t_mr_expect(&m->r, 1001, size, id, 5);
		t_mr_expect(&m->r, 1001 + size, 500, id + 1000, 1001 + size);
	}
}

static void every_op_and_size(u8 mtu, u32 levels)
{
	static const u8 ops[] = { VHCA_OP_SEND, VHCA_OP_SEND_IMM, VHCA_OP_WRITE,
				  VHCA_OP_WRITE_IMM, VHCA_OP_READ };
	struct tpair p;
	struct regions m;
	u64 id = 1;

	/* starts near the end of the PSN space: it wraps on the way */
	t_pair_init(&p, mtu, 0xffff80, 0xfffffe);
	make_regions(&p, &m, levels);
	for (u32 o = 0; o < ARRAY_SIZE(ops); o++)
		for (u32 s = 0; s < ARRAY_SIZE(sizes); s++)
			one(&p, &m, ops[o], sizes[s], id++);
	t_expect_no_event(&p.h[0]);
	t_expect_no_event(&p.h[1]);
	t_pair_fini(&p);
}

static void mtu_256(void **s) { every_op_and_size(1, 1); }
static void mtu_512(void **s) { every_op_and_size(2, 2); }
static void mtu_1024(void **s) { every_op_and_size(3, 0); }
static void mtu_2048(void **s) { every_op_and_size(4, 2); }
static void mtu_4096(void **s) { every_op_and_size(5, 1); }

/* A packet hook that changes nothing: the same, with packets as bytes. */
static void watch(void *arg, const struct fab_port *from, const struct wire_hdr *h,
		  struct fab_effect *v)
{
	++*(u64 *)arg;
}

static void as_packets(void **state)
{
	static const u8 ops[] = { VHCA_OP_SEND, VHCA_OP_SEND_IMM, VHCA_OP_WRITE,
				  VHCA_OP_WRITE_IMM, VHCA_OP_READ };
	struct tpair p;
	struct regions m;
	u64 id = 1, packets = 0;

	t_pair_init(&p, 3, 7, 9);
	make_regions(&p, &m, 1);
	assert_int_equal(fab_set_packet_hook(p.w.fabric, watch, &packets), 0);
	for (u32 o = 0; o < ARRAY_SIZE(ops); o++)
		for (u32 s = 0; s < ARRAY_SIZE(sizes); s++)
			one(&p, &m, ops[o], sizes[s], id++);
	assert_true(packets > 5 * 380);
	t_pair_fini(&p);
}

static void gather_and_scatter(void **state)
{
	struct tpair p;
	struct regions m;
	struct vhca_sge to[15];
	struct twr wr;
	u64 off = 0, total;

	t_pair_init(&p, 2, 1, 2);
	make_regions(&p, &m, 1);
	t_mr_fill(&m.l, 1);
	t_mr_fill(&m.r, 2);
	wr = t_wr(VHCA_OP_SEND, 1, NULL, 0, 0, NULL, 0);
	wr.nsge = 32;
	for (u32 i = 0; i < 32; i++) {
		u32 len = i == 7 ? 0 : 100 + i * 37;

		wr.sge[i] = t_sge(&m.l, 4000 * i, len);
		off += len;
	}
	total = off;
	/* an entry of length 0 is not checked */
	wr.sge[7].lkey = 0xdeadbeef;
	for (u32 i = 0, left = total; i < 15; i++) {
		u32 len = i == 14 ? left : total / 15 - 3;

		to[i] = t_sge(&m.r, 9000 * i + 3, len);
		left -= len;
	}
	t_recv(&p.qp[1], 77, 15, to);
	t_send(&p.qp[0], &wr);
	t_expect_cqe(&p.cq[0], 1, VHCA_CS_SUCCESS);
	assert_int_equal(le32toh(t_expect_cqe(&p.cq[1], 77, VHCA_CS_SUCCESS).byte_len), total);
	/* compare byte streams */
	for (u64 pos = 0, s = 0, so = 0, d = 0, dof = 0; pos < total; pos++) {
		u8 have;

		while (so == wr.sge[s].length) {
			s++;
			so = 0;
		}
		while (dof == to[d].length) {
			d++;
			dof = 0;
		}
		t_mr_get(&m.r, 9000 * d + 3 + dof, &have, 1);
		assert_int_equal(have, t_pattern(1, 4000 * s + so));
		so++;
		dof++;
	}
	/* READ scatters too */
	wr.opcode = VHCA_OP_READ;
	wr.wr_id = 2;
	wr.raddr = m.r.iova + 11;
	wr.rkey = m.r.key;
	t_mr_fill(&m.r, 3);
	t_send(&p.qp[0], &wr);
	t_expect_cqe(&p.cq[0], 2, VHCA_CS_SUCCESS);
	off = 11;
	for (u32 i = 0; i < 32; i++) {
		t_mr_expect(&m.l, 4000 * i, wr.sge[i].length, 3, off);
		off += wr.sge[i].length;
	}
	t_pair_fini(&p);
}

static void inline_data(void **state)
{
	struct tpair p;
	struct regions m;
	u8 data[512];
	struct twr wr;

	t_pair_init(&p, 1, 1, 2);
	make_regions(&p, &m, 1);
	for (u32 i = 0; i < sizeof(data); i++)
		data[i] = t_pattern(9, i);
	for (u32 len = 0; len <= sizeof(data); len += 64) {
		wr = t_wr(VHCA_OP_WRITE, len, NULL, 0, 0, &m.r, 4090);
		wr.flags = VHCA_WQE_INLINE;
		wr.data = data;
		wr.data_len = len;
		t_mr_fill(&m.r, 4);
		t_send(&p.qp[0], &wr);
		t_expect_cqe(&p.cq[0], len, VHCA_CS_SUCCESS);
		t_mr_expect(&m.r, 4090, len, 9, 0);
		t_mr_expect(&m.r, 4090 + len, 100, 4, 4090 + len);
	}
	t_pair_fini(&p);
}

/* Two QPs of one device, and a QP connected to itself. */
static void loopback(void **state)
{
	struct tworld w;
	struct thca h;
	struct tcq cq;
	struct tqp a, b, self;
	struct tmr m;
	struct twr wr;

	t_world_init(&w);
	t_hca_init(&h, &w, 1);
	t_cq_init(&h, &cq, 6, 0);
	t_qp_init(&h, &a, &cq, &cq);
	t_qp_init(&h, &b, &cq, &cq);
	t_qp_init(&h, &self, &cq, &cq);
	t_connect(&a, &b, 5, 1, 2);
	t_connect(&self, &self, 5, 3, 3);
	t_mr_init(&h, &m, 0, 100000, RW, 1, 12);
	t_mr_fill(&m, 1);
	wr = t_wr(VHCA_OP_WRITE, 1, &m, 0, 40000, &m, 50000);
	t_send(&a, &wr);
	t_expect_cqe(&cq, 1, VHCA_CS_SUCCESS);
	t_mr_expect(&m, 50000, 40000, 1, 0);
	t_mr_fill(&m, 2);
	t_send(&self, &wr);
	t_expect_cqe(&cq, 1, VHCA_CS_SUCCESS);
	t_mr_expect(&m, 50000, 40000, 2, 0);
	t_hca_fini(&h);
	t_world_fini(&w);
}

/* Many requests in flight: completions in order, none for unsignaled ones. */
static void pipeline(void **state)
{
	struct tpair p;
	struct regions m;
	struct tqp a, b;
	u32 done = 0;

	t_pair_init(&p, 5, 1, 2);
	make_regions(&p, &m, 1);
	t_qp_init_size(&p.h[0], &a, &p.cq[0], &p.cq[0], 9, 4, 5, 0);
	t_qp_init_size(&p.h[1], &b, &p.cq[1], &p.cq[1], 4, 4, 5, 0);
	t_connect(&a, &b, 5, 100, 200);
	t_mr_fill(&m.l, 3);
	for (u32 round = 0; round < 20; round++) {
		for (u32 i = 0; i < 400; i++) {
			struct twr wr = t_wr(VHCA_OP_WRITE, round * 400 + i, &m.l, i * 64, 64,
					     &m.r, i * 64);

			if (i % 8 == 7)
				wr.flags = VHCA_WQE_SIGNALED;
			t_post(&a, &wr);
		}
		t_ring_sq(&a);
		t_poll(&p.w);
		for (u32 i = 0; i < 50; i++, done++) {
			struct vhca_cqe e = t_expect_cqe(&p.cq[0], done * 8 + 7, VHCA_CS_SUCCESS);

			assert_int_equal(le32toh(e.wqe_index), done * 8 + 8);
		}
		t_expect_no_cqe(&p.cq[0]);
	}
	t_mr_expect(&m.r, 0, 400 * 64, 3, 0);
	t_pair_fini(&p);
}

/* READs beyond max_rd_atomic wait; a fence waits for READs; NOPs keep order. */
static void reads_and_fences(void **state)
{
	struct tpair p;
	struct regions m;
	struct twr wr;

	t_pair_init(&p, 3, 1, 2);
	make_regions(&p, &m, 1);
	t_mr_fill(&m.l, 1);
	t_mr_fill(&m.r, 2);
	for (u32 i = 0; i < 20; i++) {
		wr = t_wr(VHCA_OP_READ, i, &m.l, i * 6000, 5000, &m.r, i * 6000);
		t_post(&p.qp[0], &wr);
	}
	/* sends back what the last READ has fetched: right only with a fence */
	wr = t_wr(VHCA_OP_WRITE, 20, &m.l, 19 * 6000, 5000, &m.r, 130000);
	wr.flags = VHCA_WQE_FENCE;
	t_post(&p.qp[0], &wr);
	wr = t_wr(VHCA_OP_NOP, 21, NULL, 0, 0, NULL, 0);
	t_post(&p.qp[0], &wr);
	wr = t_wr(VHCA_OP_READ, 22, &m.l, 150000, 5, &m.r, 0);
	t_post(&p.qp[0], &wr);
	t_ring_sq(&p.qp[0]);
	for (u32 i = 0; i < 23; i++)
		t_expect_cqe(&p.cq[0], i, VHCA_CS_SUCCESS);
	for (u32 i = 0; i < 20; i++)
		t_mr_expect(&m.l, i * 6000, 5000, 2, i * 6000);
	t_mr_expect(&m.r, 130000, 5000, 2, 19 * 6000);
	t_pair_fini(&p);
}

/* A message of 2 GiB: many times the same pages at both ends. */
static void two_gib(void **state)
{
	struct tpair p;
	struct vhca_create_mkey_req req = {
		.iova = htole64(1ull << 32),
		.length = htole64(1ull << 31),
		.access = htole32(RW),
		.buf.npages = htole32(1024),
		.buf.page_shift = 21,
		.buf.levels = 2,
	};
	u32 key[2];
	u8 *cpu[2];
	struct twr wr = { .wr_id = 1, .nsge = 2 };

	t_pair_init(&p, 1, 0x800000, 2);
	for (u32 i = 0; i < 2; i++) {
		struct thca *h = &p.h[i];
		u64 page, top;
		__le64 *l;

		h->ram_used = (h->ram_used + (1ull << 21) - 1) & ~((1ull << 21) - 1);
		page = t_alloc(h, 1ull << 21);
		top = t_alloc(h, 3 * 4096);
		l = t_cpu(h, top);
		l[0] = htole64(top + 4096);
		l[1] = htole64(top + 8192);
		for (u32 k = 0; k < 1024; k++)
			l[512 + k] = htole64(page);
		cpu[i] = t_cpu(h, page);
		req.buf.addr = htole64(top);
		req.pdn = htole32(h->pd);
		key[i] = t_create(h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req));
	}
	memset(cpu[0], 0x11, 1u << 21);
	memset(cpu[1], 0x22, 1u << 21);
	wr.opcode = VHCA_OP_WRITE;
	wr.raddr = 1ull << 32;
	wr.rkey = key[1];
	wr.sge[0] = (struct vhca_sge){ 1ull << 32, 0x7ffff000, key[0] };
	wr.sge[1] = (struct vhca_sge){ 1ull << 32, 0x1000, key[0] };
	t_send(&p.qp[0], &wr);
	t_expect_cqe(&p.cq[0], 1, VHCA_CS_SUCCESS);
	assert_memory_equal(cpu[0], cpu[1], 1u << 21);
	memset(cpu[1], 0x33, 1u << 21);
	wr.opcode = VHCA_OP_READ;
	wr.wr_id = 2;
	t_send(&p.qp[0], &wr);
	assert_int_equal(le32toh(t_expect_cqe(&p.cq[0], 2, VHCA_CS_SUCCESS).byte_len), 1u << 31);
	assert_memory_equal(cpu[0], cpu[1], 1u << 21);
	/* one byte more is too long */
	wr.wr_id = 3;
	wr.sge[1].length = 0x1001;
	t_send(&p.qp[0], &wr);
	t_expect_cqe(&p.cq[0], 3, VHCA_CS_LOC_LEN_ERR);
	t_pair_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mtu_256),
		cmocka_unit_test(mtu_512),
		cmocka_unit_test(mtu_1024),
		cmocka_unit_test(mtu_2048),
		cmocka_unit_test(mtu_4096),
		cmocka_unit_test(as_packets),
		cmocka_unit_test(gather_and_scatter),
		cmocka_unit_test(inline_data),
		cmocka_unit_test(loopback),
		cmocka_unit_test(pipeline),
		cmocka_unit_test(reads_and_fences),
		cmocka_unit_test(two_gib),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
