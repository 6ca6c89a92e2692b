// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Atomics that are refused, locally and by the peer, and answers that do not fit.
 */
#include <string.h>

#include "fabric/internal.h"
#include "tests/tatomic.h"

static void local_faults(void **state)
{
	static const struct {
		const char *what;
		u8 op, nsge;
		u32 len;
		u64 mask;
		bool inlined;
		u8 status;
	} bad[] = {
		{ "two entries", VHCA_OP_CMP_SWAP, 2, 4, 0, false, VHCA_CS_LOC_QP_OP_ERR },
		{ "no entry", VHCA_OP_FETCH_ADD, 0, 0, 0, false, VHCA_CS_LOC_QP_OP_ERR },
		{ "short", VHCA_OP_FETCH_ADD, 1, 7, 0, false, VHCA_CS_LOC_LEN_ERR },
		{ "long", VHCA_OP_MASKED_CMP_SWAP, 1, 16, 0, false, VHCA_CS_LOC_LEN_ERR },
		{ "masks", VHCA_OP_CMP_SWAP, 1, 8, 1, false, VHCA_CS_LOC_QP_OP_ERR },
		{ "inline", VHCA_OP_FETCH_ADD, 0, 8, 0, true, VHCA_CS_LOC_QP_OP_ERR },
	};

	for (u32 i = 0; i < ARRAY_SIZE(bad); i++) {
		struct vhca_wqe_atomic a = { .swap_add = 1, .mask = bad[i].mask };
		struct tatomic f;
		struct twr wr;

		ta_setup(&f, 1);
		ta_set_word(&f.r, WORD, 3);
		wr = ta_wr(bad[i].op, 1, &f.l, 0, &f.r, WORD, &a);
		wr.nsge = bad[i].nsge;
		wr.sge[0].length = bad[i].len;
		wr.sge[1] = wr.sge[0];
		if (bad[i].inlined) {
			wr.flags = VHCA_WQE_INLINE;
			wr.data = "12345678";
			wr.data_len = bad[i].len;
		}
		t_send(&f.p.qp[0], &wr);
		print_message("%s\n", bad[i].what);
		t_expect_cqe(&f.p.cq[0], 1, bad[i].status);
		assert_true(ta_word(&f.r, WORD) == 3);
		assert_int_equal(t_state(&f.p.qp[0]), T_ERR);
		assert_int_equal(t_state(&f.p.qp[1]), T_RTS);
		ta_done(&f);
	}
}

enum harm { NO_QP_RIGHT, NO_KEY_RIGHT, UNALIGNED, BEHIND_THE_END, WRONG_KEY, ODD_REGION };

static void remote_faults(void **state)
{
	static const struct { enum harm harm; u8 status, event; } bad[] = {
		{ NO_QP_RIGHT, VHCA_CS_REM_INV_REQ_ERR, VHCA_EV_QP_REQ_ERR },
		{ NO_KEY_RIGHT, VHCA_CS_REM_ACCESS_ERR, VHCA_EV_QP_ACCESS_ERR },
		{ UNALIGNED, VHCA_CS_REM_INV_REQ_ERR, VHCA_EV_QP_REQ_ERR },
		{ BEHIND_THE_END, VHCA_CS_REM_ACCESS_ERR, VHCA_EV_QP_ACCESS_ERR },
		{ WRONG_KEY, VHCA_CS_REM_ACCESS_ERR, VHCA_EV_QP_ACCESS_ERR },
		{ ODD_REGION, VHCA_CS_REM_INV_REQ_ERR, VHCA_EV_QP_REQ_ERR },
	};
	static const struct vhca_wqe_atomic one = { .swap_add = 1 };

	for (u32 i = 0; i < 4 * ARRAY_SIZE(bad); i++) {
		enum harm harm = bad[i / 4].harm;
		u32 rights = harm == NO_KEY_RIGHT ? ACCESS & ~VHCA_ACCESS_REMOTE_ATOMIC : ACCESS;
		u64 off = harm == UNALIGNED ? WORD + 4 : harm == BEHIND_THE_END ? REGION : WORD;
		struct tatomic f;
		struct tmr r;
		struct twr wr;

		ta_setup(&f, 1);
		t_mr_init(&f.p.h[1], &r, 1ull << 42, REGION, rights, harm == ODD_REGION ? 0 : 1,
			  12);
		if (harm == ODD_REGION) {
			/* its addresses are aligned, and its bytes are not */
			struct vhca_create_mkey_req req = {
				.buf.addr = htole64(r.page[0] + 4), .iova = htole64(r.iova),
				.length = htole64(4096), .pdn = htole32(f.p.h[1].pd),
				.access = htole32(rights),
			};

			r.key = t_create(&f.p.h[1], VHCA_CMD_CREATE_MKEY, &req, sizeof(req));
		}
		ta_set_word(&r, WORD, 3);
		if (harm == NO_QP_RIGHT)
			t_allow(&f.p.qp[1], ACCESS & ~VHCA_ACCESS_REMOTE_ATOMIC);
		wr = ta_wr(VHCA_OP_CMP_SWAP + i % 4, 1, &f.l, 0, &r, off, &one);
		wr.rkey ^= harm == WRONG_KEY;
		t_send(&f.p.qp[0], &wr);
		t_expect_cqe(&f.p.cq[0], 1, bad[i / 4].status);
		t_expect_event(&f.p.h[1], bad[i / 4].event, f.p.qp[1].qpn);
		assert_true(ta_word(&r, WORD) == 3);
		t_mr_expect(&f.l, 0, 8, 1, 0);
		ta_done(&f);
	}
}

/* The memory for the answer is unmapped while it is under way. */
static void nowhere_to_put_it(void **state)
{
	static const struct vhca_wqe_atomic one = { .swap_add = 1 };
	struct tdepth d = { 0 };
	struct tatomic f;
	struct twr wr;

	ta_setup(&f, 1);
	ta_set_word(&f.r, WORD, 3);
	fab_set_packet_hook(f.p.w.fabric, ta_count_depth, &d);
	wr = ta_wr(VHCA_OP_FETCH_ADD, 1, &f.l, 0, &f.r, WORD, &one);
	t_send(&f.p.qp[0], &wr);
	assert_int_equal(t_destroy(&f.p.h[0], VHCA_CMD_DESTROY_MKEY, f.l.key), VHCA_ST_OK);
	t_settle(&f.p.w, SETTLE);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_LOC_PROT_ERR);
	assert_true(ta_word(&f.r, WORD) == 4);
	ta_done(&f);
}

/* Entries that end before their segments do, or change while they are under way. */
static void changed_entries(void **state)
{
	static const struct vhca_wqe_atomic one = { .swap_add = 1 };
	struct tnth lost = { .victim = 0 };
	struct vhca_wqe_ctrl *ctrl;
	struct tatomic f;
	struct twr wr;

	ta_setup(&f, 1);
	wr = ta_wr(VHCA_OP_FETCH_ADD, 1, &f.l, 0, &f.r, WORD, &one);
	t_post(&f.p.qp[0], &wr);
	ctrl = (struct vhca_wqe_ctrl *)f.p.qp[0].sq;
	assert_int_equal(ctrl->nblk, 2);
	ctrl->nblk = 1;
	f.p.qp[0].sq_prod = 1;
	t_ring_sq(&f.p.qp[0]);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_LOC_QP_OP_ERR);
	ta_done(&f);

	/* lost, and the entry is another one when it is to be sent again */
	ta_setup(&f, 1);
	ta_set_word(&f.r, WORD, 7);
	fab_set_packet_hook(f.p.w.fabric, t_nth_hook, &lost);
	t_post(&f.p.qp[0], &wr);
	t_ring_sq(&f.p.qp[0]);
	t_poll(&f.p.w);
	/* another entry is read meanwhile, which replaces the worker's copy of this one */
	wr = t_wr(VHCA_OP_NOP, 2, NULL, 0, 0, NULL, 0);
	t_post(&f.p.qp[0], &wr);
	t_ring_sq(&f.p.qp[0]);
	t_poll(&f.p.w);
	ctrl = (struct vhca_wqe_ctrl *)f.p.qp[0].sq;
	ctrl->opcode = VHCA_OP_CMP_SWAP;
	t_settle(&f.p.w, SETTLE);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_LOC_QP_OP_ERR);
	assert_true(ta_word(&f.r, WORD) == 7);
	ta_done(&f);
}

/* Answers of the wrong kind change nothing. */
static void wrong_answers(void **state)
{
	static const u8 kinds[] = { OP_RC_ATOMIC_ACK, OP_RC_READ_RESP_ONLY };
	static const struct vhca_wqe_atomic one = { .swap_add = 1 };

	for (u32 i = 0; i < 2 * ARRAY_SIZE(kinds); i++) {
		struct tnth lost = { .victim = 0 };
		struct wire_hdr h = { .opcode = kinds[i / 2], .psn = i % 2 ? 501 : 500,
				      .orig = 0x99, .pkey = 0xffff, .mig = true,
				      .syndrome = AETH_ACK | AETH_CREDIT_INVALID };
		struct tatomic f;
		struct payload pl;
		struct twr wr;
		struct run run;

		ta_setup(&f, 500);
		ta_set_word(&f.r, WORD, 7);
		fab_set_packet_hook(f.p.w.fabric, t_nth_hook, &lost);
		wr = i / 2 ? ta_wr(VHCA_OP_FETCH_ADD, 1, &f.l, 0, &f.r, WORD, &one) :
			     t_wr(VHCA_OP_READ, 1, &f.l, 0, 8, &f.r, WORD);
		t_send(&f.p.qp[0], &wr);
		h.dlid = t_lid(&f.p.h[0]);
		h.slid = t_lid(&f.p.h[1]);
		h.dqpn = f.p.qp[0].qpn;
		run_from_packet(&run, &pl, &h, (const u8 *)"nonsense", i / 2 ? 8 : 0);
		fab_send(f.p.w.fabric->ports[1], &run);
		t_expect_no_cqe(&f.p.cq[0]);
		t_mr_expect(&f.l, 0, 8, 1, 0);
		t_settle(&f.p.w, SETTLE);
		t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
		assert_true(ta_word(&f.l, 0) == 7);
		assert_true(ta_word(&f.r, WORD) == 7 + i / 2);
		ta_done(&f);
	}
}

/* Without the capability: not posted, and refused when another device sends it. */
static void capabilities(void **state)
{
	static const struct { u64 off; bool plain, with_masks; } caps[] = {
		{ 1ull << VHCA_CAP_ATOMIC, false, false },
		{ 1ull << VHCA_CAP_MASKED_ATOMIC, true, false },
	};
	static const struct vhca_wqe_atomic one = { .swap_add = 1 };

	for (u32 i = 0; i < 4 * ARRAY_SIZE(caps) * 2; i++) {
		u8 op = VHCA_OP_CMP_SWAP + i % 4;
		u32 c = i / 4 % 2, without = i / 8;	/* which device lacks it */
		bool good = ta_masked(op) ? caps[c].with_masks : caps[c].plain;
		struct tworld w;
		struct thca h[2];
		struct tcq cq[2];
		struct tqp qp[2];
		struct tmr mr[2];
		struct twr wr;

		t_world_init(&w);
		for (u32 k = 0; k < 2; k++) {
			const struct vdev_config cfg = {
				.name = "t", .node_guid = 0x100 + k * 16, .ports = 1, .vectors = 4,
				.caps_off = k == without ? caps[c].off : 0,
			};
			struct vhca_device_attr a;

			t_hca_init_cfg(&h[k], &w, &cfg);
			assert_int_equal(t_admin_out(&h[k], VHCA_CMD_QUERY_DEVICE, NULL, 0, &a,
						     sizeof(a)), VHCA_ST_OK);
			assert_int_equal(le64toh(a.caps) >> VHCA_CAP_ATOMIC & 1,
					 k != without || caps[c].plain);
			assert_int_equal(le64toh(a.caps) >> VHCA_CAP_MASKED_ATOMIC & 1,
					 k != without || caps[c].with_masks);
			t_cq_init(&h[k], &cq[k], 6, 0);
			t_qp_init(&h[k], &qp[k], &cq[k], &cq[k]);
			t_mr_init(&h[k], &mr[k], 1ull << 40, 4096, ACCESS, 1, 12);
		}
		t_connect(&qp[0], &qp[1], 3, 1, 2);
		t_allow(&qp[1], ACCESS);
		wr = ta_wr(op, 1, &mr[0], 0, &mr[1], 0, &one);
		t_send(&qp[0], &wr);
		t_expect_cqe(&cq[0], 1, good ? VHCA_CS_SUCCESS : without ?
			     VHCA_CS_REM_INV_REQ_ERR : VHCA_CS_LOC_QP_OP_ERR);
		for (u32 k = 0; k < 2; k++)
			t_hca_fini(&h[k]);
		t_world_fini(&w);
	}
}

/* UC and UD have no atomics, nor have RC QPs without READ resources. */
static void wrong_queue(void **state)
{
	static const struct vhca_wqe_atomic one = { .swap_add = 1 };

	for (u32 type = 0; type < 3; type++) {
		struct tpair p;
		struct tmr mr;
		struct twr wr;

		if (type == 0)
			t_pair_init_uc(&p, 3, 1, 2);
		else if (type == 1)
			t_pair_init_ud(&p, 3);
		else
			t_pair_init(&p, 3, 1, 2);
		if (type == 2) {
			const struct vhca_qp_attr a = { .max_rd_atomic = 0 };

			assert_int_equal(t_to(&p.qp[0], T_SQD), VHCA_ST_OK);
			assert_int_equal(t_modify(&p.qp[0], &a, VHCA_QPA_MAX_QP_RD_ATOMIC),
					 VHCA_ST_OK);
			assert_int_equal(t_to(&p.qp[0], T_RTS), VHCA_ST_OK);
		}
		t_mr_init(&p.h[0], &mr, 1ull << 40, 4096, ACCESS, 1, 12);
		wr = ta_wr(VHCA_OP_FETCH_ADD, 1, &mr, 0, &mr, 0, &one);
		t_send(&p.qp[0], &wr);
		t_expect_cqe(&p.cq[0], 1, VHCA_CS_LOC_QP_OP_ERR);
		t_pair_fini(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(local_faults),
		cmocka_unit_test(remote_faults),
		cmocka_unit_test(nowhere_to_put_it),
		cmocka_unit_test(changed_entries),
		cmocka_unit_test(wrong_answers),
		cmocka_unit_test(capabilities),
		cmocka_unit_test(wrong_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
