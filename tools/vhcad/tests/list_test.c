// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Lists of a device's objects: the fields of each, and that none is missing
 * or listed twice.
 */
#include <string.h>

#include "dev/listing.h"
#include "tests/tkey.h"

/* The only object with a number, which is at this offset of the entries. */
static union vobject_info the_one(struct thca *h, enum vlist_kind kind, u32 off, u32 number)
{
	union vobject_info page[VLIST_PAGE], found = { 0 };
	u32 from = 0, n = vdev_list(h->dev, kind, &from, page), hits = 0;

	assert_int_equal(from, VLIST_END);
	for (u32 i = 0; i < n; i++) {
		if (*(u32 *)((u8 *)&page[i] + off) != number)
			continue;
		found = page[i];
		hits++;
	}
	assert_int_equal(hits, 1);
	return found;
}

static struct vqp_info qp_info(struct tqp *qp)
{
	return the_one(qp->h, VLIST_QPS, offsetof(struct vqp_info, qpn), qp->qpn).qp;
}

static struct vcq_info cq_info(struct tcq *cq)
{
	return the_one(cq->h, VLIST_CQS, offsetof(struct vcq_info, cqn), cq->cqn).cq;
}

static struct vsrq_info srq_info(struct tsrq *srq)
{
	return the_one(srq->h, VLIST_SRQS, offsetof(struct vsrq_info, srqn), srq->srqn).srq;
}

/* Messages of 3000 bytes in packets of 1024, one after the other, and one that fails. */
static void queue_pairs(void **state)
{
	struct vqp_info a, b;
	struct vcq_info c;
	struct vhca_sge sge;
	struct tmr mr[2];
	struct tpair p;
	struct twr wr;

	t_pair_init(&p, 3, 1, 2);
	for (u32 i = 0; i < 2; i++)
		t_mr_init(&p.h[i], &mr[i], 0, 4096, VHCA_ACCESS_LOCAL_WRITE, 0, 12);
	b = qp_info(&p.qp[1]);
	assert_int_equal(b.rq_left, 0);
	sge = t_sge(&mr[1], 0, 4096);
	for (u32 i = 0; i < 5; i++)
		t_recv(&p.qp[1], i, 1, &sge);
	b = qp_info(&p.qp[1]);
	assert_int_equal(b.type, VHCA_QPT_RC);
	assert_string_equal(vqp_type_name(b.type), "RC");
	assert_string_equal(vqp_state_name(b.state), "RTS");
	assert_int_equal(b.port, 1);
	assert_int_equal(b.dlid, 1);
	assert_int_equal(b.dest_qpn, p.qp[0].qpn);
	assert_int_equal(b.send_cqn, p.cq[1].cqn);
	assert_int_equal(b.rq_left, 5);
	for (u32 i = 0; i < 3; i++) {
		wr = t_wr(VHCA_OP_SEND, i, &mr[0], 0, 3000, NULL, 0);
		wr.flags = VHCA_WQE_SIGNALED;
		t_send(&p.qp[0], &wr);
	}
	a = qp_info(&p.qp[0]);
	b = qp_info(&p.qp[1]);
	assert_int_equal(a.stats.tx_msgs, 3);
	assert_int_equal(a.stats.tx_packets, 9);
	assert_int_equal(a.stats.tx_bytes, 9000);
	assert_int_equal(a.stats.rx_msgs, 0);
	assert_int_equal(a.stats.rx_packets, b.stats.tx_packets);
	assert_true(a.stats.rx_packets > 0);
	assert_int_equal(b.stats.rx_msgs, 3);
	assert_int_equal(b.stats.rx_packets, 9);
	assert_int_equal(b.stats.rx_bytes, 9000);
	assert_int_equal(b.stats.tx_msgs, 0);
	assert_int_equal(b.rq_left, 2);
	assert_int_equal(a.sq_blocks, 0);
	assert_int_equal(a.sq_requests, 0);
	c = cq_info(&p.cq[1]);
	assert_int_equal(c.size, 1u << p.cq[1].log);
	assert_int_equal(c.filled, 3);
	assert_int_equal(c.qps, 2);
	assert_int_equal(c.eqn, p.h[1].comp.eqn);
	assert_false(c.err);
	t_expect_cqe(&p.cq[1], 0, VHCA_CS_SUCCESS);
	t_set_rec(&p.h[1], p.cq[1].slot, p.cq[1].ci);
	assert_int_equal(cq_info(&p.cq[1]).filled, 2);

	/* one under way without an answer; then it fails, and the next is flushed */
	vdev_set_link(p.h[1].dev, 1, false);
	t_send(&p.qp[0], &wr);
	assert_int_equal(qp_info(&p.qp[0]).sq_requests, 1);
	t_post(&p.qp[0], &wr);
	t_ring_sq(&p.qp[0]);
	t_settle(&p.w, 60000000000ull);
	a = qp_info(&p.qp[0]);
	assert_string_equal(vqp_state_name(a.state), "ERR");
	assert_int_equal(a.stats.errors, 1);
	/* an impossible record is ignored */
	t_set_rec(&p.h[1], p.qp[1].slot + 1, 1u << 30);
	assert_int_equal(qp_info(&p.qp[1]).rq_left, 0);
	assert_string_equal(vqp_state_name(7), "?");
	assert_string_equal(vqp_type_name(5), "?");
	assert_string_equal(vqp_type_name(11), "?");
	t_pair_fini(&p);
}

static void overrun(void **state)
{
	struct tworld w;
	struct tcq cq;
	struct tqp qp;
	struct thca h;
	struct twr wr = { .opcode = VHCA_OP_NOP, .flags = VHCA_WQE_SIGNALED };

	t_world_init(&w);
	t_hca_init(&h, &w, 0x700);
	t_cq_init(&h, &cq, 1, 0);
	t_qp_init(&h, &qp, &cq, &cq);
	t_connect(&qp, &qp, 3, 1, 1);
	for (u32 i = 0; i < 3; i++)
		t_send(&qp, &wr);
	assert_true(cq_info(&cq).err);
	assert_int_equal(cq_info(&cq).filled, 2);
	t_hca_fini(&h);
	t_world_fini(&w);
}

static void shared_receives(void **state)
{
	struct tsrq srq, other;
	struct vsrq_info s;
	struct tworld w;
	struct tcq cq;
	struct tqp qp;
	struct thca h;

	t_world_init(&w);
	t_hca_init(&h, &w, 0x700);
	t_cq_init(&h, &cq, 4, 0);
	t_srq_init(&h, &srq, 4, 5);
	t_srq_init(&h, &other, 2, 5);
	t_qp_init_srq(&h, &qp, &cq, &cq, &srq);
	assert_true(qp_info(&qp).has_srq);
	assert_int_equal(qp_info(&qp).srqn, srq.srqn);
	for (u32 i = 0; i < 5; i++)
		t_srq_recv(&srq, i, 0, NULL);
	assert_int_equal(t_srq_limit(&srq, 3), VHCA_ST_OK);
	s = srq_info(&srq);
	assert_int_equal(s.size, 16);
	assert_int_equal(s.left, 5);
	assert_int_equal(s.limit, 3);
	assert_int_equal(s.qps, 1);
	assert_false(s.err);
	s = srq_info(&other);
	assert_int_equal(s.size, 4);
	assert_int_equal(s.left, 0);
	assert_int_equal(s.qps, 0);
	t_hca_fini(&h);
	t_world_fini(&w);
}

static struct vkey_info key_info(struct thca *h, u32 key)
{
	return the_one(h, VLIST_KEYS, offsetof(struct vkey_info, key), key).key;
}

/* Regions, windows and their connections; an invalid key has no range. */
static void memory_keys(void **state)
{
	struct vhca_create_mkey_req fmr = {
		.buf = { .npages = htole32(4), .page_shift = 12, .levels = 1 },
		.access = htole32(VHCA_ACCESS_REMOTE_READ), .type = VHCA_MKEY_FMR,
	};
	struct vkey_info k;
	struct tpair p;
	struct thca *h = &p.h[1];
	u32 mw1, mw2, fast;
	struct vhca_fmr *r;
	struct tmr mr;

	t_pair_init(&p, 3, 1, 2);
	t_key_caps(h);
	t_mr_init(h, &mr, 0x10000, 0x2000, T_RW | VHCA_ACCESS_MW_BIND, 1, 12);
	mw1 = t_key(h, VHCA_MKEY_MW_1, 0, 0, 1);
	mw2 = t_key(h, VHCA_MKEY_MW_2, 0, 0, 2);
	fast = t_key(h, VHCA_MKEY_FAST, mr.page[0], 4, 3);
	k = key_info(h, mr.key);
	assert_string_equal(vkey_type_name(k.type), "list");
	assert_int_equal(k.pdn, h->pd);
	assert_int_equal(k.addr, 0x10000);
	assert_int_equal(k.length, 0x2000);
	assert_int_equal(k.access, T_RW | VHCA_ACCESS_MW_BIND);
	assert_int_equal(k.windows, 0);
	k = key_info(h, mw2);
	assert_string_equal(vkey_type_name(k.type), "mw2");
	assert_int_equal(k.region | k.qpn | k.length | k.access, 0);
	assert_int_equal(key_info(h, fast).length, 0);

	assert_int_equal(t_bind(&p.qp[1], mw1 + 5, mr.key, 0x10010, 16, MKEY_READ_REMOTE), 0);
	assert_int_equal(t_bind(&p.qp[1], mw2, mr.key, 0x10020, 32, MKEY_READ_REMOTE), 0);
	assert_int_equal(t_register(&p.qp[1], fast ^ 1, 1, 77, 5, T_RW, 12), 0);
	assert_int_equal(key_info(h, mr.key).windows, 2);
	k = key_info(h, mw1 + 5);
	assert_int_equal(k.region, mr.key);
	assert_int_equal(k.qpn, 0);
	assert_int_equal(k.addr, 0x10010);
	k = key_info(h, mw2);
	assert_int_equal(k.region, mr.key);
	assert_int_equal(k.qpn, p.qp[1].qpn);
	assert_int_equal(k.windows, 0);
	k = key_info(h, fast ^ 1);
	assert_int_equal(k.addr, 77);
	assert_int_equal(k.length, 5);

	fmr.buf.addr = htole64(t_alloc(h, 4096));
	fmr.iova = htole64(t_alloc(h, 4096));
	fmr.pdn = htole32(h->pd);
	r = t_cpu(h, le64toh(fmr.iova));
	memset(r, 0, sizeof(*r));
	r->key = htole32(t_create(h, VHCA_CMD_CREATE_MKEY, &fmr, sizeof(fmr)));
	assert_int_equal(key_info(h, le32toh(r->key)).length, 0);
	r->key = htole32(le32toh(r->key) + 9);
	r->iova = htole64(123);
	r->length = htole64(456);
	r->npages = htole32(1);
	k = key_info(h, le32toh(r->key));
	assert_int_equal(k.addr, 123);
	assert_int_equal(k.length, 456);
	assert_string_equal(vkey_type_name(VHCA_MKEY_INTEGRITY), "integrity");
	assert_string_equal(vkey_type_name(VHCA_MKEY_INTEGRITY + 1), "?");
	t_pair_fini(&p);
}

/* More than a page, with holes. */
static void pages(void **state)
{
	union vobject_info page[VLIST_PAGE];
	u32 from = 0, n, all = 0, pages = 0, last = 0;
	struct tqp qp[200];
	struct tworld w;
	struct tcq cq;
	struct thca h;

	t_world_init(&w);
	t_hca_init(&h, &w, 0x700);
	t_cq_init(&h, &cq, 4, 0);
	assert_int_equal(vdev_list(h.dev, VLIST_QPS, &from, page), 0);
	assert_int_equal(from, VLIST_END);
	for (u32 i = 0; i < ARRAY_SIZE(qp); i++)
		t_qp_init_size(&h, &qp[i], &cq, &cq, 2, 2, 5, 0);
	for (u32 i = 0; i < ARRAY_SIZE(qp); i += 3)
		assert_int_equal(t_destroy(&h, VHCA_CMD_DESTROY_QP, qp[i].qpn), VHCA_ST_OK);
	for (from = 0; from != VLIST_END; pages++) {
		n = vdev_list(h.dev, VLIST_QPS, &from, page);
		assert_true(n == VLIST_PAGE || from == VLIST_END);
		for (u32 i = 0; i < n; i++, all++) {
			assert_true(page[i].qp.qpn > last);
			assert_string_equal(vqp_state_name(page[i].qp.state), "RESET");
			assert_int_equal(page[i].qp.port, 0);
			last = page[i].qp.qpn;
		}
	}
	assert_int_equal(all, 133);
	assert_int_equal(pages, 3);
	/* an index behind the end is harmless, and lists nothing */
	from = INT32_MAX;
	assert_int_equal(vdev_list(h.dev, VLIST_QPS, &from, page), 0);
	assert_int_equal(from, VLIST_END);
	t_hca_fini(&h);
	t_world_fini(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queue_pairs), cmocka_unit_test(overrun),
		cmocka_unit_test(shared_receives), cmocka_unit_test(memory_keys),
		cmocka_unit_test(pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
