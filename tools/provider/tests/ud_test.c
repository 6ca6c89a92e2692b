// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Datagrams and unreliable connections: addresses, the format of their requests
 * at every place in the ring, the operations that each type of QP refuses, and sends that
 * fail and go on.
 */
#include <errno.h>
#include <string.h>

#include "cm.h"
#include "fake.h"

#define INLINE	200

static struct vhca_context *ctx;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_ah *ah;

static const struct ibv_qp_cap cap = {
	.max_send_wr = 4,
	.max_recv_wr = 4,
	.max_send_sge = 4,
	.max_recv_sge = 1,
	.max_inline_data = INLINE,
};

/* Segments of a datagram before its data. */
struct head {
	struct vhca_wqe_ctrl ctrl;
	struct vhca_wqe_ud ud;
};

static int setup(void **state)
{
	(void)state;
	ctx = fake_open();
	cq = fake_make_cq(ctx, 64);
	qp = fake_make_typed_qp(ctx, IBV_QPT_UD, cq, &cap, vhca_known_send_ops(ctx, IBV_QPT_UD));
	ah = fake_make_ah(ctx, 0x4321);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_int_equal(fake_ops()->destroy_ah(ah), 0);
	fake_end(ctx, cq, qp);
	return 0;
}

static uint64_t posted(struct ibv_qp *of)
{
	return fake_rec(fake_qp(of)->slot);
}

static void complete_with(struct ibv_qp *of, uint64_t blocks, uint8_t status)
{
	struct ibv_wc wc;

	fake_complete(cq, (struct vhca_cqe) {
		.qpn = htole32(of->qp_num),
		.wqe_index = htole32((uint32_t)blocks),
		.status = status,
	});
	assert_int_equal(fake_ops()->poll_cq(cq, 1, &wc), 1);
}

static struct ibv_send_wr datagram(struct ibv_sge *sge, int num)
{
	return (struct ibv_send_wr) {
		.opcode = IBV_WR_SEND,
		.sg_list = sge,
		.num_sge = num,
		.wr.ud = { .ah = ah, .remote_qpn = 0xabcdef, .remote_qkey = 0x80010000 },
	};
}

static int post(struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	*bad = NULL;
	return fake_ops()->post_send(qp, wr, bad);
}

static void check_destination(const struct vhca_wqe_ud *ud, uint16_t dlid, uint32_t qpn,
			      uint32_t qkey)
{
	const struct vhca_wqe_ud want = {
		.av = {
			.dgid = { 0xfe, 0x80, [15] = 7 },
			.flow_label = htole32(0x12345),
			.dlid = htole16(dlid),
			.sl = 2,
			.src_path_bits = 1,
			.static_rate = IBV_RATE_10_GBPS,
			.port = 1,
			.grh = 1,
			.sgid_index = 3,
			.hop_limit = 64,
			.traffic_class = 9,
		},
		.dqpn = htole32(qpn),
		.qkey = htole32(qkey),
	};

	assert_memory_equal(ud, &want, sizeof(want));
}

static void a_datagram_has_its_destination(void **state)
{
	struct ibv_sge sge[2] = { { 0x1000, 64, 5 }, { 0x2000, 32, 6 } };
	struct ibv_send_wr wr = datagram(sge, 2), *bad;
	struct {
		struct head head;
		struct vhca_sge sge[2];
	} got;

	(void)state;
	wr.wr_id = 0x1122334455667788;
	wr.opcode = IBV_WR_SEND_WITH_IMM;
	wr.imm_data = htobe32(0x01020304);
	wr.send_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED;
	assert_int_equal(post(&wr, &bad), 0);
	fake_read_sq(qp, 0, &got, sizeof(got));
	assert_int_equal(got.head.ctrl.opcode, VHCA_OP_SEND_IMM);
	assert_int_equal(got.head.ctrl.flags, VHCA_WQE_SIGNALED | VHCA_WQE_SOLICITED);
	assert_int_equal(got.head.ctrl.nblk, 2);
	assert_int_equal(got.head.ctrl.nsge, 2);
	assert_true(got.head.ctrl.imm == htobe32(0x01020304));
	assert_true(got.head.ctrl.wr_id == htole64(wr.wr_id));
	check_destination(&got.head.ud, 0x4321, 0xabcdef, 0x80010000);
	assert_true(got.sge[0].addr == htole64(0x1000) && got.sge[0].length == htole32(64) &&
		    got.sge[0].lkey == htole32(5));
	assert_true(got.sge[1].addr == htole64(0x2000) && got.sge[1].length == htole32(32) &&
		    got.sge[1].lkey == htole32(6));
	assert_true(posted(qp) == 2);
}

/* Destroying an address handle leaves the requests that were written with it as they are. */
static void requests_keep_their_own_address(void **state)
{
	struct ibv_send_wr wr = datagram(NULL, 0), *bad;
	struct ibv_ah *other = fake_make_ah(ctx, 0x77);
	struct head got;

	(void)state;
	wr.wr.ud.ah = other;
	wr.wr.ud.remote_qpn = VHCA_MAX_QPN;
	wr.wr.ud.remote_qkey = 0;
	assert_int_equal(post(&wr, &bad), 0);
	assert_int_equal(fake_ops()->destroy_ah(other), 0);
	wr = datagram(NULL, 0);
	assert_int_equal(post(&wr, &bad), 0);
	fake_read_sq(qp, 0, &got, sizeof(got));
	check_destination(&got.ud, 0x77, VHCA_MAX_QPN, 0);
	fake_read_sq(qp, 2, &got, sizeof(got));
	check_destination(&got.ud, 0x4321, 0xabcdef, 0x80010000);
}

/* On Ethernet a request has the MAC address that the kernel has resolved. */
static void a_datagram_on_ethernet_has_the_neighbour(void **state)
{
	struct ibv_send_wr wr = datagram(NULL, 0), *bad;
	struct ibv_ah *other = fake_make_ah(ctx, 0);
	struct head got;

	(void)state;
	wr.wr.ud.ah = other;
	assert_int_equal(post(&wr, &bad), 0);
	fake_read_sq(qp, 0, &got, sizeof(got));
	assert_memory_equal(got.ud.av.dmac, fake_neighbour, sizeof(fake_neighbour));
	assert_int_equal(got.ud.av.grh, 1);
	assert_int_equal(got.ud.av.sgid_index, 3);
	assert_int_equal(got.ud.av.hop_limit, 64);
	assert_true(got.ud.av.dlid == 0);
	assert_int_equal(fake_ops()->destroy_ah(other), 0);
}

/* Posts datagrams of two and three blocks until the next one starts at this block of the ring. */
static uint64_t go_to(uint32_t place)
{
	uint8_t data[64] = {};
	struct ibv_sge sge = { .addr = (uintptr_t)data };
	struct ibv_send_wr wr = datagram(&sge, 1), *bad;
	uint32_t left = (place - posted(qp)) % fake_sq_blocks(qp);

	if (left == 1)
		left += fake_sq_blocks(qp);
	wr.send_flags = IBV_SEND_INLINE;
	while (left) {
		sge.length = left % 2 ? 64 : 0;
		assert_int_equal(post(&wr, &bad), 0);
		left -= left % 2 ? 3 : 2;
		complete_with(qp, posted(qp), VHCA_CS_SUCCESS);
	}
	assert_int_equal(posted(qp) % fake_sq_blocks(qp), place);
	return posted(qp);
}

/* Inline data of every length, from every block of the ring on. */
static void inline_of_every_length_everywhere(void **state)
{
	uint8_t data[INLINE + 1], got[sizeof(struct head) + INLINE];
	const struct head *head = (const void *)got;
	struct ibv_sge sge = { .addr = (uintptr_t)data };
	struct ibv_send_wr wr = datagram(&sge, 1), *bad;
	uint64_t block = 0;

	(void)state;
	wr.send_flags = IBV_SEND_INLINE;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = 3 * i + 1;
	for (uint32_t shift = 0; shift < fake_sq_blocks(qp); shift++) {
		block = go_to(shift);
		for (uint32_t len = 0; len <= INLINE; len++) {
			sge.length = len;
			assert_int_equal(post(&wr, &bad), 0);
			fake_read_sq(qp, block, got, sizeof(got));
			assert_int_equal(head->ctrl.nblk, (80 + len + 63) / 64);
			assert_int_equal(head->ctrl.nsge, 0);
			assert_int_equal(head->ctrl.flags, VHCA_WQE_INLINE);
			assert_true(head->ctrl.inline_len == htole32(len));
			assert_true(head->ctrl.index == htole32((uint32_t)block));
			check_destination(&head->ud, 0x4321, 0xabcdef, 0x80010000);
			assert_memory_equal(got + sizeof(*head), data, len);
			block += head->ctrl.nblk;
			assert_true(posted(qp) == block);
			complete_with(qp, block, VHCA_CS_SUCCESS);
		}
		sge.length = INLINE + 1;
		assert_int_equal(post(&wr, &bad), EINVAL);
		assert_ptr_equal(bad, &wr);
	}
	assert_int_equal(fake_logged, 0);
}

/* The type of a QP determines its operations; a list stops at the first that it does not have. */
static void each_type_has_its_operations(void **state)
{
	static const struct {
		enum ibv_qp_type type;
		unsigned int ops;	/* a bit each */
		uint64_t ex;
	} types[] = {
		/* a flush is not among the work requests, but has an extended call */
		{ IBV_QPT_RC, 1 << IBV_WR_SEND | 1 << IBV_WR_SEND_WITH_IMM |
		  1 << IBV_WR_SEND_WITH_INV | 1 << IBV_WR_RDMA_WRITE |
		  1 << IBV_WR_RDMA_WRITE_WITH_IMM | 1 << IBV_WR_RDMA_READ |
		  1 << IBV_WR_ATOMIC_CMP_AND_SWP | 1 << IBV_WR_ATOMIC_FETCH_AND_ADD |
		  1 << IBV_WR_ATOMIC_WRITE | 1 << IBV_WR_LOCAL_INV | 1 << IBV_WR_BIND_MW,
		  IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
		  IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_RDMA_WRITE |
		  IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |
		  IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |
		  IBV_QP_EX_WITH_ATOMIC_WRITE | IBV_QP_EX_WITH_FLUSH | IBV_QP_EX_WITH_LOCAL_INV |
		  IBV_QP_EX_WITH_BIND_MW },
		{ IBV_QPT_UC, 1 << IBV_WR_SEND | 1 << IBV_WR_SEND_WITH_IMM |
		  1 << IBV_WR_RDMA_WRITE | 1 << IBV_WR_RDMA_WRITE_WITH_IMM |
		  1 << IBV_WR_LOCAL_INV | 1 << IBV_WR_BIND_MW,
		  IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_WRITE |
		  IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_LOCAL_INV |
		  IBV_QP_EX_WITH_BIND_MW },
		{ IBV_QPT_UD, 1 << IBV_WR_SEND | 1 << IBV_WR_SEND_WITH_IMM,
		  IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM },
	};
	struct ibv_sge word = { .length = 8 };
	struct ibv_send_wr wr[2], *bad;
	struct ibv_mr mr = { .pd = &fake_pd };
	struct ibv_mw *mw;

	(void)state;
	mw = fake_ops()->alloc_mw(&fake_pd, IBV_MW_TYPE_2);
	assert_non_null(mw);
	for (unsigned int i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct ibv_qp *typed = fake_make_typed_qp(ctx, types[i].type, cq, &cap, 0);

		assert_int_equal(fake_qp(typed)->type, types[i].type);
		for (unsigned int op = 0; op <= IBV_WR_ATOMIC_WRITE + 1; op++) {
			uint64_t before = posted(typed);
			bool has = types[i].ops >> op & 1;
			unsigned int small = types[i].type == IBV_QPT_UD ? 2 : 1;
			unsigned int large = op == IBV_WR_ATOMIC_CMP_AND_SWP ||
					     op == IBV_WR_ATOMIC_FETCH_AND_ADD ? 2 : small;

			wr[0] = datagram(NULL, 0);
			wr[1] = datagram(&word, 1);
			wr[0].next = &wr[1];
			wr[1].opcode = op;
			if (op == IBV_WR_BIND_MW) {
				wr[1].bind_mw.mw = mw;
				wr[1].bind_mw.rkey = mw->rkey;
				wr[1].bind_mw.bind_info.mr = &mr;
				wr[1].bind_mw.bind_info.length = 1;
			}
			bad = NULL;
			assert_int_equal(fake_ops()->post_send(typed, wr, &bad), has ? 0 : EINVAL);
			assert_ptr_equal(bad, has ? NULL : &wr[1]);
			assert_int_equal(posted(typed) - before, small + (has ? large : 0));
			complete_with(typed, posted(typed), VHCA_CS_SUCCESS);
		}
		assert_true(vhca_known_send_ops(ctx, types[i].type) == types[i].ex);
		assert_int_equal(fake_ops()->destroy_qp(typed), 0);
	}
	assert_int_equal(fake_ops()->dealloc_mw(mw), 0);
	assert_true(vhca_known_send_ops(ctx, IBV_QPT_RAW_PACKET) == 0);
	assert_true(vhca_known_send_ops(ctx, IBV_QPT_DRIVER) == 0);
	assert_true(vhca_known_send_ops(ctx, 0) == 0);
}

static void extended_operations_are_refused_by_type(void **state)
{
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD };
	struct vhca_pd pd = { .pd.context = &ctx->vctx.context, .holds = 1 };

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		for (unsigned int bit = 0; bit < 64; bit++) {
			struct ibv_qp_init_attr_ex attr = {
				.send_cq = cq, .recv_cq = cq, .cap = cap, .qp_type = types[i],
				.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
				.pd = &pd.pd, .send_ops_flags = 1ULL << bit,
			};
			struct ibv_qp *made;

			errno = 0;
			made = fake_ops()->create_qp_ex(&ctx->vctx.context, &attr);
			if (vhca_known_send_ops(ctx, types[i]) >> bit & 1) {
				assert_non_null(made);
				assert_int_equal(!!to_vhca_qp(made)->vqp.qp_ex.wr_set_ud_addr,
						 types[i] == IBV_QPT_UD);
				assert_int_equal(fake_ops()->destroy_qp(made), 0);
			} else {
				assert_null(made);
				assert_int_equal(errno, EOPNOTSUPP);
			}
		}
	}
}

/* The ring holds max_send_wr of the largest requests, for each type of QP. */
static void the_largest_fit(void **state)
{
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD };
	uint8_t data[FAKE_INLINE] = {};
	struct ibv_sge sge[FAKE_SGE] = { { .addr = (uintptr_t)data } };
	struct ibv_qp_cap large = cap;
	struct ibv_send_wr wr, *bad;

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		for (unsigned int len = 0; len <= FAKE_INLINE; len += 16) {
			struct ibv_qp *typed;

			large.max_inline_data = len;
			large.max_send_sge = len / 32 ?: 1;
			typed = fake_make_typed_qp(ctx, types[i], cq, &large, 0);
			wr = datagram(sge, len ? 1 : 0);
			wr.send_flags = IBV_SEND_INLINE;
			sge[0].length = len;
			for (unsigned int n = 0; n < cap.max_send_wr; n++)
				assert_int_equal(fake_ops()->post_send(typed, &wr, &bad), 0);
			complete_with(typed, posted(typed), VHCA_CS_SUCCESS);
			wr.send_flags = 0;
			wr.num_sge = large.max_send_sge;
			for (unsigned int n = 0; n < cap.max_send_wr; n++)
				assert_int_equal(fake_ops()->post_send(typed, &wr, &bad), 0);
			assert_int_equal(fake_ops()->destroy_qp(typed), 0);
		}
	}
}

static void a_full_queue_takes_no_datagram(void **state)
{
	struct ibv_send_wr wr = datagram(NULL, 0), *bad;
	uint32_t n = 0;

	(void)state;
	while (!post(&wr, &bad))
		n++;
	assert_int_equal(n, cap.max_send_wr);
	assert_int_equal(post(&wr, &bad), ENOMEM);
	assert_ptr_equal(bad, &wr);
	assert_true(posted(qp) == 2 * n);
	complete_with(qp, 2, VHCA_CS_SUCCESS);
	assert_int_equal(post(&wr, &bad), 0);
	assert_int_equal(post(&wr, &bad), ENOMEM);
}

static void datagrams_to_nowhere(void **state)
{
	struct ibv_send_wr wr = datagram(NULL, 0), *bad;

	(void)state;
	wr.wr.ud.ah = NULL;
	assert_int_equal(post(&wr, &bad), EINVAL);
	assert_ptr_equal(bad, &wr);
	wr = datagram(NULL, 0);
	wr.wr.ud.remote_qpn = VHCA_MAX_QPN + 1;
	assert_int_equal(post(&wr, &bad), EINVAL);
	wr.wr.ud.remote_qpn = UINT32_MAX;
	assert_int_equal(post(&wr, &bad), EINVAL);
	assert_true(posted(qp) == 0);
}

static struct ibv_qp_ex *ex(void)
{
	return &to_vhca_qp(qp)->vqp.qp_ex;
}

/* An address belongs to a PD, and only QPs of that PD send to it. */
static void addresses_of_other_pds(void **state)
{
	struct ibv_context other = {};
	struct ibv_send_wr wr = datagram(NULL, 0), *bad;

	(void)state;
	to_vhca_ah(ah)->pd ^= 1;
	assert_int_equal(post(&wr, &bad), EINVAL);
	assert_ptr_equal(bad, &wr);
	ibv_wr_start(ex());
	ibv_wr_send(ex());
	ibv_wr_set_ud_addr(ex(), ah, 1, 2);
	assert_int_equal(ibv_wr_complete(ex()), EINVAL);
	to_vhca_ah(ah)->pd ^= 1;
	/* the same handle in another context */
	ah->context = &other;
	assert_int_equal(post(&wr, &bad), EINVAL);
	assert_true(posted(qp) == 0);
	ah->context = qp->context;
	assert_int_equal(post(&wr, &bad), 0);
}

/* The PD of an address handle is that of the creating call. */
static void addresses_know_their_pd(void **state)
{
	struct vhca_pd pd = {
		.pd = { .context = &ctx->vctx.context, .handle = 5 }, .holds = 1,
	};
	struct ibv_send_wr wr = datagram(NULL, 0), *bad;
	struct ibv_ah_attr attr = { .dlid = 1, .port_num = 1 };
	struct ibv_ah *foreign = fake_ops()->create_ah(&pd.pd, &attr);

	(void)state;
	assert_non_null(foreign);
	wr.wr.ud.ah = foreign;
	assert_int_equal(post(&wr, &bad), EINVAL);
	assert_int_equal(fake_ops()->destroy_ah(foreign), 0);
}

/* Both ways of posting, setters in both orders, from every block of the ring on. */
static void extended_posting_writes_the_same(void **state)
{
	uint8_t one[512], two[512], data[100];
	struct ibv_sge sge = { .addr = 0x5000, .length = 9, .lkey = 3 };
	struct ibv_sge text = { .addr = (uintptr_t)data, .length = sizeof(data) };
	uint64_t block;

	(void)state;
	memset(data, 0x5a, sizeof(data));
	for (unsigned int i = 0; i < 2 * fake_sq_blocks(qp); i++) {
		struct ibv_send_wr wr[2] = { datagram(&sge, 1), datagram(&text, 1) }, *bad;
		size_t len = 5 * VHCA_WQE_BLOCK;

		block = go_to(i % fake_sq_blocks(qp));
		wr[0].next = &wr[1];
		wr[0].wr_id = 1;
		wr[0].opcode = IBV_WR_SEND_WITH_IMM;
		wr[0].imm_data = 99;
		wr[0].send_flags = IBV_SEND_SIGNALED;
		wr[1].wr_id = 2;
		wr[1].send_flags = IBV_SEND_INLINE;
		assert_int_equal(post(wr, &bad), 0);
		fake_read_sq(qp, block, one, len);
		block += 5;
		assert_true(posted(qp) == block);
		complete_with(qp, block, VHCA_CS_SUCCESS);

		memset(two, 0, sizeof(two));
		block = go_to(i % fake_sq_blocks(qp));
		ibv_wr_start(ex());
		ex()->wr_id = 1;
		ex()->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_send_imm(ex(), 99);
		if (i / fake_sq_blocks(qp))
			ibv_wr_set_ud_addr(ex(), ah, 0xabcdef, 0x80010000);
		ibv_wr_set_sge(ex(), 3, 0x5000, 9);
		if (!(i / fake_sq_blocks(qp)))
			ibv_wr_set_ud_addr(ex(), ah, 0xabcdef, 0x80010000);
		ex()->wr_id = 2;
		ex()->wr_flags = 0;
		ibv_wr_send(ex());
		ibv_wr_set_inline_data(ex(), data, sizeof(data));
		ibv_wr_set_ud_addr(ex(), ah, 0xabcdef, 0x80010000);
		assert_int_equal(ibv_wr_complete(ex()), 0);
		fake_read_sq(qp, block, two, len);
		block += 5;
		assert_true(posted(qp) == block);
		complete_with(qp, block, VHCA_CS_SUCCESS);

		/* the entries differ in the block where they start */
		for (uint32_t delta = 0; delta <= 2; delta += 2) {
			struct vhca_wqe_ctrl *a = (void *)(one + delta * VHCA_WQE_BLOCK);
			struct vhca_wqe_ctrl *b = (void *)(two + delta * VHCA_WQE_BLOCK);

			assert_int_equal(le32toh(b->index), block - 5 + delta);
			a->index = b->index;
		}
		/* 96 bytes of two blocks and 180 of three are written */
		assert_memory_equal(one, two, 96);
		assert_memory_equal(one + 128, two + 128, 180);
	}
}

static void extended_posting_wants_an_address(void **state)
{
	uint8_t data[8] = {};

	(void)state;
	ibv_wr_start(ex());
	ibv_wr_send(ex());
	ibv_wr_set_inline_data(ex(), data, sizeof(data));
	assert_int_equal(ibv_wr_complete(ex()), EINVAL);

	/* the request before has it, this one does not */
	ibv_wr_start(ex());
	ibv_wr_send(ex());
	ibv_wr_set_ud_addr(ex(), ah, 1, 2);
	ibv_wr_send(ex());
	assert_int_equal(ibv_wr_complete(ex()), EINVAL);
	ibv_wr_start(ex());
	ibv_wr_send(ex());
	ibv_wr_send(ex());
	ibv_wr_set_ud_addr(ex(), ah, 1, 2);
	assert_int_equal(ibv_wr_complete(ex()), EINVAL);

	ibv_wr_start(ex());
	ibv_wr_send(ex());
	ibv_wr_set_ud_addr(ex(), NULL, 1, 2);
	assert_int_equal(ibv_wr_complete(ex()), EINVAL);
	ibv_wr_start(ex());
	ibv_wr_send(ex());
	ibv_wr_set_ud_addr(ex(), ah, VHCA_MAX_QPN + 1, 2);
	assert_int_equal(ibv_wr_complete(ex()), EINVAL);

	/* in the wrong order it does nothing */
	ibv_wr_start(ex());
	ibv_wr_set_ud_addr(ex(), ah, 1, 2);
	assert_int_equal(ibv_wr_complete(ex()), 0);
	assert_true(posted(qp) == 0);

	/* and all of it works again */
	ibv_wr_start(ex());
	ibv_wr_send(ex());
	ibv_wr_set_ud_addr(ex(), ah, 1, 2);
	assert_int_equal(ibv_wr_complete(ex()), 0);
	assert_true(posted(qp) == 2);
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

static void post_recv(void)
{
	struct ibv_recv_wr wr = {}, *bad;

	assert_int_equal(fake_ops()->post_recv(qp, &wr, &bad), 0);
}

static int to_state(enum ibv_qp_state to)
{
	struct ibv_qp_attr attr = { .qp_state = to };

	return fake_ops()->modify_qp(qp, &attr, IBV_QP_STATE);
}

/*
 * A send that fails only stops sending.  Until the program has moved the QP
 * back, receives are rung, in case they failed too; afterwards they are not.  Counts go on.
 */
static void sending_goes_on_after_an_error(void **state)
{
	struct ibv_send_wr wr = datagram(NULL, 0), *bad;

	(void)state;
	post_recv();
	assert_false(recv_rung());
	assert_int_equal(post(&wr, &bad), 0);
	assert_int_equal(post(&wr, &bad), 0);
	complete_with(qp, 2, VHCA_CS_LOC_PROT_ERR);
	assert_true(recv_rung());
	post_recv();
	assert_true(recv_rung());

	/* a failed command changes nothing */
	fake_err[FAKE_MODIFY_QP] = EINVAL;
	assert_int_equal(to_state(IBV_QPS_RTS), EINVAL);
	assert_true(recv_rung());
	fake_err[FAKE_MODIFY_QP] = 0;
	post_recv();
	assert_true(recv_rung());

	complete_with(qp, 4, VHCA_CS_WR_FLUSH_ERR);
	assert_int_equal(to_state(IBV_QPS_RTS), 0);
	recv_rung();
	post_recv();
	assert_false(recv_rung());
	assert_true(fake_rec(fake_qp(qp)->slot + 1) == 4);
	assert_int_equal(post(&wr, &bad), 0);
	assert_true(posted(qp) == 6);
	complete_with(qp, 6, VHCA_CS_SUCCESS);

	/* it fails again, and now the QP goes to the error state */
	assert_int_equal(post(&wr, &bad), 0);
	complete_with(qp, 8, VHCA_CS_LOC_QP_OP_ERR);
	assert_true(recv_rung());
	assert_int_equal(to_state(IBV_QPS_ERR), 0);
	assert_int_equal(to_state(IBV_QPS_RESET), 0);
	assert_true(posted(qp) == 0);
	assert_true(fake_rec(fake_qp(qp)->slot + 1) == 0);
	recv_rung();
	post_recv();
	assert_false(recv_rung());
	assert_int_equal(fake_logged, 0);
}

/* After a failed move to RTS receives are not rung, if no send had failed. */
static void a_sound_qp_is_not_rung(void **state)
{
	(void)state;
	post_recv();
	fake_err[FAKE_MODIFY_QP] = EINVAL;
	assert_int_equal(to_state(IBV_QPS_RTS), EINVAL);
	assert_false(recv_rung());
	fake_err[FAKE_MODIFY_QP] = 0;
	assert_int_equal(to_state(IBV_QPS_RTS), 0);
	post_recv();
	assert_false(recv_rung());
}

static void groups_are_the_kernels(void **state)
{
	const union ibv_gid gid = { .raw = { 0xff, 0x12, [15] = 1 } };

	(void)state;
	assert_int_equal(fake_ops()->attach_mcast(qp, &gid, 0xc001), 0);
	assert_true(fake_group.attached);
	assert_int_equal(fake_group.qpn, qp->qp_num);
	assert_int_equal(fake_ops()->detach_mcast(qp, &gid, 0xc002), EINVAL);
	assert_int_equal(fake_ops()->detach_mcast(qp, &gid, 0xc001), 0);
	assert_false(fake_group.attached);
}

int main(void)
{
#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_datagram_has_its_destination),
		TEST(requests_keep_their_own_address),
		TEST(a_datagram_on_ethernet_has_the_neighbour),
		TEST(inline_of_every_length_everywhere),
		TEST(each_type_has_its_operations),
		TEST(extended_operations_are_refused_by_type),
		TEST(the_largest_fit),
		TEST(a_full_queue_takes_no_datagram),
		TEST(datagrams_to_nowhere),
		TEST(addresses_of_other_pds),
		TEST(addresses_know_their_pd),
		TEST(extended_posting_writes_the_same),
		TEST(extended_posting_wants_an_address),
		TEST(sending_goes_on_after_an_error),
		TEST(a_sound_qp_is_not_rung),
		TEST(groups_are_the_kernels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
