// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Polling, arming, and entries that fit nothing that was posted.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "cm.h"
#include "fake.h"

static struct vhca_context *ctx;
static struct ibv_cq *cq;
static struct ibv_qp *qp;

static const struct ibv_qp_cap cap = {
	.max_send_wr = 64,
	.max_recv_wr = 64,
	.max_send_sge = 1,
	.max_recv_sge = 1,
};

static int setup(void **state)
{
	(void)state;
	ctx = fake_open();
	cq = fake_make_cq(ctx, 8);
	qp = fake_make_qp(ctx, cq, cq, &cap, 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_end(ctx, cq, qp);
	return 0;
}

static void post_sends(struct ibv_qp *to, unsigned int n)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;

	while (n--)
		assert_int_equal(fake_ops()->post_send(to, &wr, &bad), 0);
}

static void post_recvs(struct ibv_qp *to, unsigned int n)
{
	struct ibv_recv_wr wr = {}, *bad;

	while (n--)
		assert_int_equal(fake_ops()->post_recv(to, &wr, &bad), 0);
}

static struct vhca_cqe sent(struct ibv_qp *by, uint32_t index, uint64_t wr_id)
{
	return (struct vhca_cqe) {
		.qpn = htole32(by->qp_num),
		.wqe_index = htole32(index),
		.wr_id = htole64(wr_id),
	};
}

static int poll(int n, struct ibv_wc *wc)
{
	memset(wc, 0xee, n * sizeof(*wc));
	return fake_ops()->poll_cq(cq, n, wc);
}

static void laps_go_on(void **state)
{
	struct ibv_wc wc[4];
	uint64_t done = 0, got = 0;
	int n;

	(void)state;
	assert_int_equal(poll(4, wc), 0);
	while (got < 100) {
		for (int i = 0; i < 5; i++) {
			post_sends(qp, 1);
			done++;
			fake_complete(cq, sent(qp, done, done));
		}
		while ((n = poll(4, wc)) > 0) {
			for (int i = 0; i < n; i++)
				assert_true(wc[i].wr_id == ++got);
			assert_true(fake_rec(fake_cq(cq)->slot) == got);
		}
		assert_int_equal(n, 0);
		assert_true(got == done);
	}
	assert_int_equal(fake_logged, 0);
}

/* ibv_poll_cq() has room only for the GRH; the program finds out which IP header it is. */
static void a_receive_from_ethernet_has_a_route(void **state)
{
	struct ibv_wc wc;

	(void)state;
	post_recvs(qp, 1);
	fake_complete(cq, (struct vhca_cqe) {
		.qpn = htole32(qp->qp_num),
		.wqe_index = htole32(1),
		.opcode = VHCA_CQE_RECV,
		.flags = VHCA_CQE_F_RQ | VHCA_CQE_F_GRH | VHCA_CQE_F_IPV4 | VHCA_CQE_F_VLAN,
		.vlan = htole16(0xffff),
		.smac = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
		.port = 1,
	});
	assert_int_equal(poll(1, &wc), 1);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.wc_flags, IBV_WC_GRH);
	assert_int_equal(wc.slid, 0);
	assert_int_equal(wc.sl, 0);
}

static void a_receive_has_all_fields(void **state)
{
	struct ibv_wc wc;

	(void)state;
	post_recvs(qp, 3);
	fake_complete(cq, (struct vhca_cqe) {
		.wr_id = htole64(0x1122334455667788),
		.qpn = htole32(qp->qp_num),
		.src_qpn = htole32(0xabcdef),
		.byte_len = htole32(77),
		.imm = htobe32(0xdeadbeef),
		.wqe_index = htole32(1),
		.opcode = VHCA_CQE_RECV,
		.flags = VHCA_CQE_F_RQ | VHCA_CQE_F_IMM | VHCA_CQE_F_GRH,
		.pkey_index = htole16(3),
		.slid = htole16(0x1234),
		.sl = 5,
		.dlid_path_bits = 2,
		.vendor_err = 9,
	});
	assert_int_equal(poll(1, &wc), 1);
	assert_true(wc.wr_id == 0x1122334455667788);
	assert_int_equal(wc.status, IBV_WC_SUCCESS);
	assert_int_equal(wc.opcode, IBV_WC_RECV);
	assert_int_equal(wc.byte_len, 77);
	assert_true(wc.imm_data == htobe32(0xdeadbeef));
	assert_int_equal(wc.qp_num, qp->qp_num);
	assert_int_equal(wc.src_qp, 0xabcdef);
	assert_int_equal(wc.wc_flags, IBV_WC_WITH_IMM | IBV_WC_GRH);
	assert_int_equal(wc.pkey_index, 3);
	assert_int_equal(wc.slid, 0x1234);
	assert_int_equal(wc.sl, 5);
	assert_int_equal(wc.dlid_path_bits, 2);
	assert_int_equal(wc.vendor_err, 9);

	fake_complete(cq, (struct vhca_cqe) {
		.qpn = htole32(qp->qp_num),
		.wqe_index = htole32(2),
		.opcode = VHCA_CQE_RECV_WRITE_IMM,
		.flags = VHCA_CQE_F_RQ | VHCA_CQE_F_IMM,
	});
	assert_int_equal(poll(1, &wc), 1);
	assert_int_equal(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	assert_int_equal(wc.wc_flags, IBV_WC_WITH_IMM);

	/* in host byte order, unlike immediate data */
	fake_complete(cq, (struct vhca_cqe) {
		.qpn = htole32(qp->qp_num),
		.wqe_index = htole32(3),
		.opcode = VHCA_CQE_RECV,
		.flags = VHCA_CQE_F_RQ | VHCA_CQE_F_INV,
		.inv_key = htole32(0x12345678),
	});
	assert_int_equal(poll(1, &wc), 1);
	assert_int_equal(wc.opcode, IBV_WC_RECV);
	assert_int_equal(wc.wc_flags, IBV_WC_WITH_INV);
	assert_int_equal(wc.invalidated_rkey, 0x12345678);
}

static void statuses_and_opcodes_have_their_names(void **state)
{
	static const struct {
		uint8_t device;
		enum ibv_wc_status verbs;
	} statuses[] = {
		{ VHCA_CS_SUCCESS, IBV_WC_SUCCESS },
		{ VHCA_CS_LOC_LEN_ERR, IBV_WC_LOC_LEN_ERR },
		{ VHCA_CS_LOC_QP_OP_ERR, IBV_WC_LOC_QP_OP_ERR },
		{ VHCA_CS_LOC_EEC_OP_ERR, IBV_WC_LOC_EEC_OP_ERR },
		{ VHCA_CS_LOC_PROT_ERR, IBV_WC_LOC_PROT_ERR },
		{ VHCA_CS_WR_FLUSH_ERR, IBV_WC_WR_FLUSH_ERR },
		{ VHCA_CS_MW_BIND_ERR, IBV_WC_MW_BIND_ERR },
		{ VHCA_CS_BAD_RESP_ERR, IBV_WC_BAD_RESP_ERR },
		{ VHCA_CS_LOC_ACCESS_ERR, IBV_WC_LOC_ACCESS_ERR },
		{ VHCA_CS_REM_INV_REQ_ERR, IBV_WC_REM_INV_REQ_ERR },
		{ VHCA_CS_REM_ACCESS_ERR, IBV_WC_REM_ACCESS_ERR },
		{ VHCA_CS_REM_OP_ERR, IBV_WC_REM_OP_ERR },
		{ VHCA_CS_RETRY_EXC_ERR, IBV_WC_RETRY_EXC_ERR },
		{ VHCA_CS_RNR_RETRY_EXC_ERR, IBV_WC_RNR_RETRY_EXC_ERR },
		{ VHCA_CS_REM_ABORT_ERR, IBV_WC_REM_ABORT_ERR },
		{ VHCA_CS_FATAL_ERR, IBV_WC_FATAL_ERR },
		{ VHCA_CS_GENERAL_ERR, IBV_WC_GENERAL_ERR },
		{ 200, IBV_WC_GENERAL_ERR },
	};
	static const struct {
		uint8_t device;
		enum ibv_wc_opcode verbs;
	} opcodes[] = {
		{ VHCA_CQE_SEND, IBV_WC_SEND },
		{ VHCA_CQE_WRITE, IBV_WC_RDMA_WRITE },
		{ VHCA_CQE_READ, IBV_WC_RDMA_READ },
		{ VHCA_CQE_CMP_SWAP, IBV_WC_COMP_SWAP },
		{ VHCA_CQE_FETCH_ADD, IBV_WC_FETCH_ADD },
		{ VHCA_CQE_ATOMIC_WRITE, IBV_WC_ATOMIC_WRITE },
		{ VHCA_CQE_FLUSH, IBV_WC_FLUSH },
		{ VHCA_CQE_LOCAL_INV, IBV_WC_LOCAL_INV },
		{ VHCA_CQE_BIND_MW, IBV_WC_BIND_MW },
		{ VHCA_CQE_REG_MR, IBV_WC_SEND },	/* the kernel's, or nonsense */
	};
	struct vhca_cqe cqe;
	struct ibv_wc wc;
	uint32_t n = 0;

	(void)state;
	for (uint32_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		post_sends(qp, 1);
		n++;
		cqe = sent(qp, n, n);
		cqe.status = statuses[i].device;
		fake_complete(cq, cqe);
		assert_int_equal(poll(1, &wc), 1);
		assert_int_equal(wc.status, statuses[i].verbs);
	}
	for (uint32_t i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++) {
		post_sends(qp, 1);
		n++;
		cqe = sent(qp, n, n);
		cqe.opcode = opcodes[i].device;
		cqe.byte_len = htole32(8);
		fake_complete(cq, cqe);
		assert_int_equal(poll(1, &wc), 1);
		assert_int_equal(wc.byte_len, 8);
		assert_int_equal(wc.opcode, opcodes[i].verbs);
	}
}

static void nonsense_of_the_device_is_dropped(void **state)
{
	struct vhca_cqe cqe;
	struct ibv_wc wc[4];

	(void)state;
	post_sends(qp, 3);
	fake_complete(cq, sent(qp, 4, 100));		/* more than was posted */
	fake_complete(cq, sent(qp, 0, 101));		/* nothing */
	fake_complete(cq, sent(qp, 0x80000000, 102));
	cqe = sent(qp, 1, 103);
	cqe.qpn = htole32(0x654321);			/* no such QP */
	fake_complete(cq, cqe);
	cqe = sent(qp, 1, 104);
	cqe.flags = VHCA_CQE_F_RQ;			/* no receive was posted */
	fake_complete(cq, cqe);
	fake_complete(cq, sent(qp, 2, 105));
	fake_complete(cq, sent(qp, 2, 106));		/* a second time */
	assert_int_equal(poll(4, wc), 1);
	assert_true(wc[0].wr_id == 105);
	assert_int_equal(fake_logged, 6);
	assert_true(fake_rec(fake_cq(cq)->slot) == 7);
	/* the good entry has completed the requests up to its own */
	fake_complete(cq, sent(qp, 3, 107));
	assert_int_equal(poll(4, wc), 1);
}

/* Takes the receive slot's news bit. */
static bool recv_rung(void)
{
	uint32_t slot = fake_qp(qp)->slot + 1;
	__le64 *word = &fake_page(slot)->news[slot % VHCA_DB_SLOTS / 64];
	uint64_t bit = 1ULL << slot % VHCA_DB_SLOTS % 64;
	bool rung = le64toh(*word) & bit;

	*word &= ~htole64(bit);
	return rung;
}

static void receives_of_a_broken_qp_ring(void **state)
{
	struct vhca_cqe cqe = sent(qp, 1, 1);
	struct ibv_wc wc;

	(void)state;
	post_recvs(qp, 1);
	post_sends(qp, 1);
	assert_false(recv_rung());

	/*
	 * After the first completion in error, receives ring: those posted before, and all later
	 * ones.
	 */
	cqe.status = VHCA_CS_RETRY_EXC_ERR;
	fake_complete(cq, cqe);
	assert_int_equal(poll(1, &wc), 1);
	assert_true(recv_rung());
	post_recvs(qp, 1);
	assert_true(recv_rung());
	assert_true(fake_rec(fake_qp(qp)->slot + 1) == 2);
}

static void tell(enum ibv_event_type type)
{
	struct ibv_async_event event = { .event_type = type, .element.qp = qp };

	fake_ops()->async_event(&ctx->vctx.context, &event);
}

/* A responder may fail without a completion; the program learns of it by an event or a query. */
static void an_event_or_a_query_tells_of_the_error(void **state)
{
	static const enum ibv_event_type other[] = {
		IBV_EVENT_COMM_EST, IBV_EVENT_SQ_DRAINED, IBV_EVENT_PATH_MIG,
		IBV_EVENT_PATH_MIG_ERR,
	}, failed[] = {
		IBV_EVENT_QP_FATAL, IBV_EVENT_QP_REQ_ERR, IBV_EVENT_QP_ACCESS_ERR,
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
	struct ibv_async_event lid = { .event_type = IBV_EVENT_LID_CHANGE };
	struct ibv_qp_init_attr init;
	unsigned int posted = 0;

	(void)state;
	for (unsigned int i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		post_recvs(qp, 1);
		posted++;
		tell(other[i]);
		assert_false(recv_rung());
	}
	fake_ops()->async_event(&ctx->vctx.context, &lid);
	assert_int_equal(fake_ops()->query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
	assert_false(recv_rung());
	for (unsigned int i = 0; i <= sizeof(failed) / sizeof(failed[0]); i++) {
		if (i < sizeof(failed) / sizeof(failed[0])) {
			tell(failed[i]);
		} else {
			qp->state = IBV_QPS_ERR;
			assert_int_equal(fake_ops()->query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
		}
		/* receives posted before, and one posted now */
		assert_true(recv_rung());
		post_recvs(qp, 1);
		assert_true(recv_rung());
		assert_true(fake_rec(fake_qp(qp)->slot + 1) == ++posted);
		attr.qp_state = IBV_QPS_RTS;
		assert_int_equal(fake_ops()->modify_qp(qp, &attr, IBV_QP_STATE), 0);
		qp->state = IBV_QPS_RTS;
		post_recvs(qp, 1);
		posted++;
		assert_false(recv_rung());
	}

	/* a query that fails says nothing */
	qp->state = IBV_QPS_ERR;
	fake_err[FAKE_QUERY_QP] = EIO;
	assert_int_equal(fake_ops()->query_qp(qp, &attr, IBV_QP_STATE, &init), EIO);
	assert_false(recv_rung());
	fake_err[FAKE_QUERY_QP] = 0;
}

static void arming_never_takes_back(void **state)
{
	uint32_t slot = fake_cq(cq)->slot + 1;
	uint64_t one, two;

	(void)state;
	assert_true(fake_rec(slot) == 0);
	assert_int_equal(fake_ops()->req_notify_cq(cq, 1), 0);
	one = fake_rec(slot);
	assert_true(one & VHCA_ARM_SOLICITED);
	assert_true(one >> VHCA_ARM_SEQ_SHIFT != 0);
	assert_int_equal(fake_ops()->req_notify_cq(cq, 0), 0);
	two = fake_rec(slot);
	assert_false(two & VHCA_ARM_SOLICITED);
	assert_true(two >> VHCA_ARM_SEQ_SHIFT != one >> VHCA_ARM_SEQ_SHIFT);
	assert_int_equal(fake_ops()->req_notify_cq(cq, 1), 0);
	assert_false(fake_rec(slot) & VHCA_ARM_SOLICITED);
	fake_ops()->cq_event(cq);
	assert_int_equal(fake_ops()->req_notify_cq(cq, 1), 0);
	assert_true(fake_rec(slot) & VHCA_ARM_SOLICITED);

	post_sends(qp, 2);
	fake_complete(cq, sent(qp, 2, 0));
	{
		struct ibv_wc wc;

		assert_int_equal(poll(1, &wc), 1);
	}
	assert_int_equal(fake_ops()->req_notify_cq(cq, 0), 0);
	assert_int_equal(fake_rec(slot) & VHCA_ARM_CI_MASK, 1);
}

static uint32_t since_any(void)
{
	return fake_rec(fake_cq(cq)->slot + 1) >> VHCA_ARM_SINCE_SHIFT & VHCA_ARM_SINCE_MASK;
}

/* Only the device knows whether an arming for all was answered: the event may not be read yet. */
static void solicited_arming_names_the_one_for_all(void **state)
{
	uint32_t slot = fake_cq(cq)->slot + 1;
	struct ibv_wc wc;

	(void)state;
	/* there was none */
	assert_int_equal(fake_ops()->req_notify_cq(cq, 1), 0);
	assert_int_equal(since_any(), 0);
	assert_int_equal(fake_ops()->req_notify_cq(cq, 0), 0);
	assert_int_equal(since_any(), 0);
	assert_int_equal(fake_ops()->req_notify_cq(cq, 1), 0);
	assert_int_equal(since_any(), 1);
	/* an event, possibly for an earlier arming */
	fake_ops()->cq_event(cq);
	assert_int_equal(fake_ops()->req_notify_cq(cq, 1), 0);
	assert_int_equal(since_any(), 2);

	/* too old to be named, and no completion was polled since: armed for all again */
	for (uint32_t i = 3; i <= VHCA_ARM_SINCE_MASK; i++)
		assert_int_equal(fake_ops()->req_notify_cq(cq, 1), 0);
	assert_int_equal(since_any(), VHCA_ARM_SINCE_MASK);
	assert_int_equal(fake_ops()->req_notify_cq(cq, 1), 0);
	assert_int_equal(since_any(), 0);
	assert_false(fake_rec(slot) & VHCA_ARM_SOLICITED);
	assert_int_equal(fake_ops()->req_notify_cq(cq, 1), 0);
	assert_int_equal(since_any(), 1);

	/* a completion was polled, so the program need not be woken for it */
	post_sends(qp, 1);
	fake_complete(cq, sent(qp, 1, 0));
	assert_int_equal(poll(1, &wc), 1);
	for (uint32_t i = 2; i <= VHCA_ARM_SINCE_MASK; i++)
		assert_int_equal(fake_ops()->req_notify_cq(cq, 1), 0);
	assert_int_equal(since_any(), VHCA_ARM_SINCE_MASK);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(fake_ops()->req_notify_cq(cq, 1), 0);
		assert_int_equal(since_any(), 0);
		assert_true(fake_rec(slot) & VHCA_ARM_SOLICITED);
		fake_ops()->cq_event(cq);
	}
}

/* Polling holds its lock meanwhile; the arming uses the count that was stored last. */
static void arming_is_possible_amid_polling(void **state)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 8, .wc_flags = IBV_WC_STANDARD_FLAGS };
	struct ibv_cq_ex *ex = fake_ops()->create_cq_ex(&ctx->vctx.context, &attr);
	struct ibv_poll_cq_attr none = {};
	struct ibv_cq *base = ibv_cq_ex_to_cq(ex);
	struct ibv_qp *other;
	uint32_t slot;

	(void)state;
	assert_non_null(ex);
	slot = fake_cq(base)->slot + 1;
	other = fake_make_qp(ctx, base, base, &cap, 0);
	post_sends(other, 2);
	fake_complete(base, sent(other, 1, 1));
	fake_complete(base, sent(other, 2, 2));

	assert_int_equal(ibv_start_poll(ex, &none), 0);
	fake_ops()->cq_event(base);
	assert_int_equal(fake_ops()->req_notify_cq(base, 0), 0);
	assert_false(fake_rec(slot) & VHCA_ARM_SOLICITED);
	assert_int_equal(fake_rec(slot) & VHCA_ARM_CI_MASK, 0);
	assert_int_equal(ibv_next_poll(ex), 0);
	assert_true(ex->wr_id == 2);
	ibv_end_poll(ex);
	assert_int_equal(fake_ops()->req_notify_cq(base, 0), 0);
	assert_int_equal(fake_rec(slot) & VHCA_ARM_CI_MASK, 2);

	assert_int_equal(fake_ops()->destroy_qp(other), 0);
	assert_int_equal(fake_ops()->destroy_cq(base), 0);
	assert_int_equal(fake_logged, 0);
}

static void extended_polling_says_the_same(void **state)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 8,
		.wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
	};
	struct ibv_poll_cq_attr none = {}, bad = { .comp_mask = 1 };
	struct ibv_cq_ex *ex = fake_ops()->create_cq_ex(&ctx->vctx.context, &attr);
	struct ibv_cq *base = ibv_cq_ex_to_cq(ex);
	struct ibv_qp *other;
	struct vhca_cqe cqe;

	(void)state;
	assert_non_null(ex);
	other = fake_make_qp(ctx, base, base, &cap, 0);
	assert_int_equal(ibv_start_poll(ex, &bad), EINVAL);
	assert_int_equal(ibv_start_poll(ex, &none), ENOENT);
	post_sends(other, 2);
	post_recvs(other, 2);
	fake_complete(base, sent(other, 1, 11));
	cqe = (struct vhca_cqe) {
		.wr_id = htole64(12),
		.timestamp = htole64(0xabcdef0123456789),
		.qpn = htole32(other->qp_num),
		.src_qpn = htole32(3),
		.byte_len = htole32(4),
		.imm = htobe32(5),
		.wqe_index = htole32(1),
		.opcode = VHCA_CQE_RECV,
		.status = VHCA_CS_LOC_LEN_ERR,
		.vendor_err = 6,
		.flags = VHCA_CQE_F_RQ | VHCA_CQE_F_IMM | VHCA_CQE_F_GRH,
		.slid = htole16(7),
		.sl = 8,
		.dlid_path_bits = 9,
	};
	fake_complete(base, cqe);
	cqe.wqe_index = htole32(2);
	cqe.status = VHCA_CS_SUCCESS;
	cqe.flags = VHCA_CQE_F_RQ | VHCA_CQE_F_INV;
	cqe.inv_key = htole32(0x87654321);
	fake_complete(base, cqe);

	assert_int_equal(ibv_start_poll(ex, &none), 0);
	assert_true(ex->wr_id == 11);
	assert_int_equal(ex->status, IBV_WC_SUCCESS);
	assert_int_equal(ibv_wc_read_opcode(ex), IBV_WC_SEND);
	assert_true(fake_rec(fake_cq(base)->slot) == 0);
	assert_int_equal(ibv_next_poll(ex), 0);
	assert_true(ex->wr_id == 12);
	assert_int_equal(ex->status, IBV_WC_LOC_LEN_ERR);
	assert_int_equal(ibv_wc_read_opcode(ex), IBV_WC_RECV);
	assert_int_equal(ibv_wc_read_vendor_err(ex), 6);
	assert_int_equal(ibv_wc_read_byte_len(ex), 4);
	assert_true(ibv_wc_read_imm_data(ex) == htobe32(5));
	assert_int_equal(ibv_wc_read_qp_num(ex), other->qp_num);
	assert_int_equal(ibv_wc_read_src_qp(ex), 3);
	assert_int_equal(ibv_wc_read_wc_flags(ex), IBV_WC_WITH_IMM | IBV_WC_GRH);
	assert_int_equal(ibv_wc_read_slid(ex), 7);
	assert_int_equal(ibv_wc_read_sl(ex), 8);
	assert_int_equal(ibv_wc_read_dlid_path_bits(ex), 9);
	assert_true(ibv_wc_read_completion_ts(ex) == 0xabcdef0123456789);
	assert_int_equal(ibv_next_poll(ex), 0);
	assert_int_equal(ibv_wc_read_wc_flags(ex), IBV_WC_WITH_INV);
	assert_int_equal(ibv_wc_read_invalidated_rkey(ex), 0x87654321);
	assert_int_equal(ibv_next_poll(ex), ENOENT);
	ibv_end_poll(ex);
	assert_true(fake_rec(fake_cq(base)->slot) == 3);
	assert_int_equal(ibv_start_poll(ex, &none), ENOENT);

	attr.wc_flags = IBV_WC_EX_WITH_CVLAN;
	assert_null(fake_ops()->create_cq_ex(&ctx->vctx.context, &attr));
	assert_int_equal(errno, EOPNOTSUPP);
	assert_int_equal(fake_ops()->destroy_qp(other), 0);
	assert_int_equal(fake_ops()->destroy_cq(base), 0);
}

/* ---- posters, a device and pollers at the same time ---- */

#define POSTERS		3
#define POLLERS		2
#define POSTED_EACH	40000

struct load {
	_Atomic uint64_t polled;
	_Atomic uint64_t sum;
	_Atomic bool stop;
};

static struct load load;

static void *poster_main(void *arg)
{
	uint64_t id = (uintptr_t)arg * POSTED_EACH;
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	int err;

	for (unsigned int i = 0; i < POSTED_EACH; i++) {
		wr.wr_id = id + i;
		while ((err = fake_ops()->post_send(qp, &wr, &bad)) == ENOMEM)
			sched_yield();
		if (err)
			return (void *)1;
	}
	return NULL;
}

static void *poller_main(void *arg)
{
	struct ibv_wc wc[4];
	int n;

	(void)arg;
	while (load.polled < POSTERS * POSTED_EACH && !load.stop) {
		n = fake_ops()->poll_cq(cq, 4, wc);
		for (int i = 0; i < n; i++)
			load.sum += wc[i].wr_id;
		load.polled += n;
		if (!n)
			sched_yield();
	}
	return NULL;
}

/* Completes requests up to the count in the record, as long as the CQ has room. */
static void *device_main(void *arg)
{
	const struct vhca_wqe_ctrl *ring = (const void *)(uintptr_t)fake_qp(qp)->req.sq_addr;
	uint8_t log = fake_qp(qp)->req.log_sq_blocks;
	uint64_t done = 0, wr_id;

	(void)arg;
	while (done < POSTERS * POSTED_EACH) {
		if (done == fake_rec(fake_qp(qp)->slot) ||
		    fake_cq(cq)->prod - fake_rec(fake_cq(cq)->slot) == 8) {
			sched_yield();
			continue;
		}
		/* one block each */
		wr_id = ring[vhca_ring_slot(done, log) * 2].wr_id;
		done++;
		fake_complete(cq, sent(qp, done, wr_id));
	}
	return NULL;
}

static void threads_lose_nothing(void **state)
{
	const uint64_t total = POSTERS * POSTED_EACH;
	pthread_t posters[POSTERS], pollers[POLLERS], device;
	void *ret;

	(void)state;
	memset(&load, 0, sizeof(load));
	assert_int_equal(pthread_create(&device, NULL, device_main, NULL), 0);
	for (uintptr_t i = 0; i < POLLERS; i++)
		assert_int_equal(pthread_create(&pollers[i], NULL, poller_main, NULL), 0);
	for (uintptr_t i = 0; i < POSTERS; i++)
		assert_int_equal(pthread_create(&posters[i], NULL, poster_main, (void *)i), 0);
	for (uintptr_t i = 0; i < POSTERS; i++) {
		pthread_join(posters[i], &ret);
		assert_null(ret);
	}
	pthread_join(device, NULL);
	for (uintptr_t i = 0; i < POLLERS; i++)
		pthread_join(pollers[i], NULL);
	assert_true(load.polled == total);
	assert_true(load.sum == total * (total - 1) / 2);
	assert_int_equal(fake_logged, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(laps_go_on, setup, teardown),
		cmocka_unit_test_setup_teardown(a_receive_has_all_fields, setup, teardown),
		cmocka_unit_test_setup_teardown(a_receive_from_ethernet_has_a_route, setup,
						teardown),
		cmocka_unit_test_setup_teardown(statuses_and_opcodes_have_their_names, setup,
						teardown),
		cmocka_unit_test_setup_teardown(nonsense_of_the_device_is_dropped, setup, teardown),
		cmocka_unit_test_setup_teardown(receives_of_a_broken_qp_ring, setup, teardown),
		cmocka_unit_test_setup_teardown(an_event_or_a_query_tells_of_the_error, setup,
						teardown),
		cmocka_unit_test_setup_teardown(arming_never_takes_back, setup, teardown),
		cmocka_unit_test_setup_teardown(solicited_arming_names_the_one_for_all, setup,
						teardown),
		cmocka_unit_test_setup_teardown(arming_is_possible_amid_polling, setup, teardown),
		cmocka_unit_test_setup_teardown(extended_polling_says_the_same, setup, teardown),
		cmocka_unit_test_setup_teardown(threads_lose_nothing, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
