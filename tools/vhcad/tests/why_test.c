// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The vendor_err of completions with errors: the reasons.
 */
#include <string.h>

#include "qp/complete.h"
#include "qp/qp.h"
#include "qp/scratch.h"
#include "tests/tkey.h"

#define LEN	8192u
#define SECOND	1000000000ull

static struct {
	struct tpair p;
	struct tmr l, r;
	struct tqp a, b;		/* of the present case */
	struct twr wr;
} f;

static struct vhca_wqe_ctrl *entry(void)
{
	return (void *)f.a.sq;
}

static void blocks(void)
{
	entry()->nblk = 17;
}

static void place(void)
{
	entry()->index = htole32(7);
}

static void opcode(void)
{
	entry()->opcode = 99;
}

static void reserved(void)
{
	entry()->rsvd[0] = 1;
}

static void segment(void)
{
	/* the reserved field of the address segment */
	((struct vhca_wqe_raddr *)(entry() + 1))->rsvd = 1;
}

static void inline_data(void)
{
	entry()->flags |= VHCA_WQE_INLINE;
}

static void gathers(void)
{
	entry()->nsge = 33;
}

static void too_long(void)
{
	struct vhca_sge *s = (void *)(f.a.sq + sizeof(struct vhca_wqe_ctrl) +
				      sizeof(struct vhca_wqe_raddr));

	s->length = htole32(UINT32_MAX);
}

static void bad_key(void)
{
	struct vhca_sge *s = (void *)(f.a.sq + sizeof(struct vhca_wqe_ctrl) +
				      sizeof(struct vhca_wqe_raddr));

	s->lkey = 0;
}

static void peer_gone(void)
{
	assert_int_equal(t_to(&f.b, T_RESET), VHCA_ST_OK);
}

static void nothing(void)
{
}

static void no_reads(void)
{
	t_vqp(&f.a)->attr.max_rd_atomic = 0;
}

static void in_error(void)
{
	assert_int_equal(t_to(&f.a, T_ERR), VHCA_ST_OK);
}

/* Requests, what is done to each, and the vendor_err of its completion. */
static void requests(void **state)
{
	static const struct {
		u8 op;
		void (*spoil)(void);
		u8 status, number;
	} cases[] = {
		{ VHCA_OP_WRITE, blocks, VHCA_CS_LOC_QP_OP_ERR, VHCA_WHY_ENTRY_BLOCKS },
		{ VHCA_OP_WRITE, place, VHCA_CS_LOC_QP_OP_ERR, VHCA_WHY_ENTRY_INDEX },
		{ VHCA_OP_WRITE, opcode, VHCA_CS_LOC_QP_OP_ERR, VHCA_WHY_ENTRY_OPCODE },
		{ VHCA_OP_WRITE, reserved, VHCA_CS_LOC_QP_OP_ERR, VHCA_WHY_ENTRY_RESERVED },
		{ VHCA_OP_WRITE, segment, VHCA_CS_LOC_QP_OP_ERR, VHCA_WHY_ENTRY_SEGMENT },
		{ VHCA_OP_WRITE, inline_data, VHCA_CS_LOC_QP_OP_ERR, VHCA_WHY_ENTRY_INLINE },
		{ VHCA_OP_WRITE, gathers, VHCA_CS_LOC_QP_OP_ERR, VHCA_WHY_ENTRY_SGES },
		{ VHCA_OP_WRITE, too_long, VHCA_CS_LOC_LEN_ERR, VHCA_WHY_ENTRY_LENGTH },
		{ VHCA_OP_READ, no_reads, VHCA_CS_LOC_QP_OP_ERR, VHCA_WHY_NO_READS },
		{ VHCA_OP_WRITE, bad_key, VHCA_CS_LOC_PROT_ERR, VHCA_WHY_LOCAL_MEMORY },
		{ VHCA_OP_READ, bad_key, VHCA_CS_LOC_PROT_ERR, VHCA_WHY_LOCAL_MEMORY },
		{ VHCA_OP_REG_MR, nothing, VHCA_CS_LOC_QP_OP_ERR, VHCA_WHY_REGISTER },
		{ VHCA_OP_LOCAL_INV, nothing, VHCA_CS_LOC_QP_OP_ERR, VHCA_WHY_INVALIDATE },
		{ VHCA_OP_BIND_MW, nothing, VHCA_CS_MW_BIND_ERR, VHCA_WHY_BIND },
		{ VHCA_OP_WRITE, peer_gone, VHCA_CS_RETRY_EXC_ERR, VHCA_WHY_RETRIES },
		{ VHCA_OP_SEND, nothing, VHCA_CS_RNR_RETRY_EXC_ERR, VHCA_WHY_RNR_RETRIES },
		{ VHCA_OP_CMP_SWAP, nothing, VHCA_CS_REM_INV_REQ_ERR, VHCA_WHY_NAK_REQUEST },
		{ VHCA_OP_WRITE, nothing, VHCA_CS_REM_ACCESS_ERR, VHCA_WHY_NAK_ACCESS },
		{ VHCA_OP_WRITE, in_error, VHCA_CS_WR_FLUSH_ERR, VHCA_WHY_FLUSHED },
	};

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		bool data = cases[i].op < VHCA_OP_LOCAL_INV;
		struct twr wr = t_wr(cases[i].op, i, &f.l, 0, 0, &f.r, 0);
		struct vhca_cqe e;

		t_qp_init(&f.p.h[0], &f.a, &f.p.cq[0], &f.p.cq[0]);
		t_qp_init(&f.p.h[1], &f.b, &f.p.cq[1], &f.p.cq[1]);
		t_connect(&f.a, &f.b, 3, 1, 1);
		t_vqp(&f.a)->attr.rnr_retry = 0;
		t_vqp(&f.a)->req.rnr_left = 0;
		t_vqp(&f.b)->attr.access = VHCA_ACCESS_REMOTE_WRITE;
		wr.nsge = data;
		wr.sge[0] = t_sge(&f.l, 0, 8);
		wr.imm = 0;
		if (cases[i].status == VHCA_CS_REM_ACCESS_ERR)
			wr.rkey ^= 1;
		t_post(&f.a, &wr);
		cases[i].spoil();
		t_ring_sq(&f.a);
		t_settle(&f.p.w, 60 * SECOND);
		e = t_expect_cqe(&f.p.cq[0], i, cases[i].status);
		if (e.vendor_err != cases[i].number)
			fail_msg("case %u: vendor_err %u, expected %u", i, e.vendor_err,
				 cases[i].number);
	}
}

/* The same for receives. */
static void receives(void **state)
{
	struct vhca_sge sge[] = { t_sge(&f.r, 0, 100), t_sge(&f.r, 0, 4000) };
	static const u8 number[] = { VHCA_WHY_RECV_SHORT, VHCA_WHY_LOCAL_MEMORY };
	static const u8 status[] = { VHCA_CS_LOC_LEN_ERR, VHCA_CS_LOC_PROT_ERR };

	sge[1].lkey = 0;
	for (u32 i = 0; i < 2; i++) {
		struct twr wr = t_wr(VHCA_OP_SEND, i, &f.l, 0, 1000, NULL, 0);

		t_qp_init(&f.p.h[0], &f.a, &f.p.cq[0], &f.p.cq[0]);
		t_qp_init(&f.p.h[1], &f.b, &f.p.cq[1], &f.p.cq[1]);
		t_connect(&f.a, &f.b, 3, 1, 1);
		t_recv(&f.b, 10 + i, 1, &sge[i]);
		t_recv(&f.b, 20, 1, &sge[0]);
		t_send(&f.a, &wr);
		assert_int_equal(t_expect_cqe(&f.p.cq[1], 10 + i, status[i]).vendor_err, number[i]);
		assert_int_equal(t_expect_cqe(&f.p.cq[1], 20, VHCA_CS_WR_FLUSH_ERR).vendor_err,
				 VHCA_WHY_FLUSHED);
		assert_int_equal(t_expect_cqe(&f.p.cq[0], i, i ? VHCA_CS_REM_OP_ERR :
					      VHCA_CS_REM_INV_REQ_ERR).vendor_err,
				 i ? VHCA_WHY_NAK_OPERATION : VHCA_WHY_NAK_REQUEST);
	}
}

/* A completion without an error has none, also after one with an error. */
static void success(void **state)
{
	struct twr wr = t_wr(VHCA_OP_WRITE, 1, &f.l, 0, 100, &f.r, 0);

	t_allow(&f.p.qp[1], VHCA_ACCESS_REMOTE_WRITE);
	t_send(&f.p.qp[0], &wr);
	assert_int_equal(t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS).vendor_err, VHCA_WHY_NONE);
}

/* A reason without a completion is dropped with its QP: the next QP may have its address. */
static void forgotten(void **state)
{
	struct scratch *s;

	t_qp_init(&f.p.h[0], &f.a, &f.p.cq[0], &f.p.cq[0]);
	s = qp_scratch(t_vqp(&f.a));
	why(t_vqp(&f.a), VHCA_WHY_OFFLOAD, 0);
	assert_int_equal(t_to(&f.a, T_RESET), VHCA_ST_OK);
	assert_null(s->why_qp);
	why(t_vqp(&f.a), VHCA_WHY_OFFLOAD, 0);
	assert_int_equal(t_destroy(&f.p.h[0], VHCA_CMD_DESTROY_QP, f.a.qpn), VHCA_ST_OK);
	assert_null(s->why_qp);
}

/* Each number has a text of its own, up to the last. */
static void numbers(void **state)
{
	assert_null(vhca_why_text(VHCA_WHY_NONE));
	for (u32 i = 1; i <= VHCA_WHY_OFFLOAD; i++) {
		assert_non_null(vhca_why_text(i));
		for (u32 k = 1; k < i; k++)
			assert_string_not_equal(vhca_why_text(i), vhca_why_text(k));
	}
	assert_null(vhca_why_text(VHCA_WHY_OFFLOAD + 1));
}

static int setup(void **state)
{
	memset(&f, 0, sizeof(f));
	t_pair_init(&f.p, 3, 1, 1);
	t_key_caps(&f.p.h[0]);
	t_mr_init(&f.p.h[0], &f.l, 0, LEN, T_RW, 0, 12);
	t_mr_init(&f.p.h[1], &f.r, 0, LEN, T_RW, 0, 12);
	return 0;
}

static int teardown(void **state)
{
	t_pair_fini(&f.p);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests),
		cmocka_unit_test(receives),
		cmocka_unit_test(success),
		cmocka_unit_test(forgotten),
		cmocka_unit_test(numbers),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
