// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Atomics, atomic writes, flushes and invalidations: what their requests look
 * like at every place in the ring, in both ways of posting, and what is refused.
 */
#include <errno.h>
#include <string.h>

#include "cm.h"
#include "fake.h"

static struct vhca_context *ctx;
static struct ibv_cq *cq;
static struct ibv_qp *qp;

static const struct ibv_qp_cap cap = {
	.max_send_wr = 8,
	.max_recv_wr = 1,
	.max_send_sge = 2,
	.max_recv_sge = 1,
	.max_inline_data = 512,
};

static struct ibv_sge word_sge = { .addr = 0x7000, .length = 8, .lkey = 0x55aa };

/* Any of these requests: none is longer. */
union request {
	struct {
		struct vhca_wqe_ctrl ctrl;
		struct vhca_wqe_raddr raddr;
		union {
			struct {
				struct vhca_wqe_atomic atomic;
				struct vhca_sge sge;
			};
			struct vhca_wqe_flush flush;
			uint8_t data[512];
		};
	};
	uint8_t bytes[9 * VHCA_WQE_BLOCK];
};

static int setup(void **state)
{
	(void)state;
	ctx = fake_open();
	cq = fake_make_cq(ctx, 64);
	qp = fake_make_qp(ctx, cq, cq, &cap, vhca_known_send_ops(ctx, IBV_QPT_RC));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_end(ctx, cq, qp);
	return 0;
}

static uint64_t posted(void)
{
	return fake_rec(fake_qp(qp)->slot);
}

static int post(struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	*bad = NULL;
	return fake_ops()->post_send(qp, wr, bad);
}

static struct ibv_qp_ex *ex(void)
{
	return &to_vhca_qp(qp)->vqp.qp_ex;
}

/* Copies a request of the ring; bytes behind it are cleared. */
static union request request_at(uint64_t block)
{
	union request got = {};

	fake_read_sq(qp, block, &got, VHCA_WQE_BLOCK);
	assert_in_range(got.ctrl.nblk, 1, sizeof(got) / VHCA_WQE_BLOCK);
	fake_read_sq(qp, block, &got, got.ctrl.nblk * VHCA_WQE_BLOCK);
	return got;
}

/* The device finishes everything that was posted. */
static void finish(void)
{
	struct ibv_wc wc;

	fake_complete(cq, (struct vhca_cqe) {
		.qpn = htole32(qp->qp_num),
		.wqe_index = htole32((uint32_t)posted()),
	});
	assert_int_equal(fake_ops()->poll_cq(cq, 1, &wc), 1);
}

/* Posts requests of one block, so that the next one starts at a given place of the ring. */
static uint64_t go_to(uint32_t place)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;

	while (posted() % fake_sq_blocks(qp) != place) {
		assert_int_equal(post(&wr, &bad), 0);
		finish();
	}
	return posted();
}

/* Each kind of request, with operands of which all bytes differ. */
struct kind {
	const char *name;
	struct ibv_send_wr wr;		/* not for FLUSH */
	void (*extended)(void);
	union request want;
};

static uint64_t word = 0x0807060504030201;
static struct ibv_sge inline_sge = { .length = 8 };

static void ex_cmp_swp(void)
{
	ibv_wr_atomic_cmp_swp(ex(), 0x11223344, 0xa1a2a3a4a5a6a7a8, 0x2122232425262728,
			      0x3132333435363738);
	ibv_wr_set_sge(ex(), 0x55aa, 0x7000, 8);
}

static void ex_fetch_add(void)
{
	ibv_wr_atomic_fetch_add(ex(), 0x11223344, 0xa1a2a3a4a5a6a7a8, 0x2122232425262728);
	ibv_wr_set_sge_list(ex(), 1, &word_sge);
}

static void ex_atomic_write(void)
{
	ibv_wr_atomic_write(ex(), 0x11223344, 0xa1a2a3a4a5a6a7a8, &word);
}

static void ex_flush(void)
{
	ibv_wr_flush(ex(), 0x11223344, 0xa1a2a3a4a5a6a7a8, 0xfedcba98, IBV_FLUSH_PERSISTENT,
		     IBV_FLUSH_RANGE);
}

static void ex_flush_all(void)
{
	ibv_wr_flush(ex(), 0x11223344, 0xa1a2a3a4a5a6a7a8, SIZE_MAX - 1,
		     IBV_FLUSH_GLOBAL | IBV_FLUSH_PERSISTENT, IBV_FLUSH_MR);
}

static void ex_send_inv(void)
{
	ibv_wr_send_inv(ex(), 0x99887766);
	ibv_wr_set_sge(ex(), 0x55aa, 0x7000, 8);
}

static void ex_local_inv(void)
{
	ibv_wr_local_inv(ex(), 0x99887766);
}

/* As htole64() and htole32(), for constants. */
#if __BYTE_ORDER == __LITTLE_ENDIAN
#define LE64(n)	(n)
#define LE32(n)	(n)
#else
#define LE64(n)	__builtin_bswap64(n)
#define LE32(n)	__builtin_bswap32(n)
#endif

#define RADDR	{ .addr = LE64(0xa1a2a3a4a5a6a7a8), .rkey = LE32(0x11223344) }
#define SGE	{ .addr = LE64(0x7000), .length = LE32(8), .lkey = LE32(0x55aa) }

static const struct kind kinds[] = {
	{ "compare and swap", {
		.opcode = IBV_WR_ATOMIC_CMP_AND_SWP, .sg_list = &word_sge, .num_sge = 1,
		.wr.atomic = { .remote_addr = 0xa1a2a3a4a5a6a7a8, .rkey = 0x11223344,
			       .compare_add = 0x2122232425262728, .swap = 0x3132333435363738 },
	  }, ex_cmp_swp, { .ctrl = { .opcode = VHCA_OP_CMP_SWAP, .nblk = 2, .nsge = 1 },
		.raddr = RADDR, .sge = SGE,
		.atomic = { .compare = LE64(0x2122232425262728),
			    .swap_add = LE64(0x3132333435363738) } } },
	{ "fetch and add", {
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .sg_list = &word_sge, .num_sge = 1,
		.wr.atomic = { .remote_addr = 0xa1a2a3a4a5a6a7a8, .rkey = 0x11223344,
			       .compare_add = 0x2122232425262728, .swap = 0x3132333435363738 },
	  }, ex_fetch_add, { .ctrl = { .opcode = VHCA_OP_FETCH_ADD, .nblk = 2, .nsge = 1 },
		.raddr = RADDR, .sge = SGE,
		.atomic = { .swap_add = LE64(0x2122232425262728) } } },
	{ "atomic write", {
		.opcode = IBV_WR_ATOMIC_WRITE, .sg_list = &inline_sge, .num_sge = 1,
		.send_flags = IBV_SEND_INLINE,
		.wr.rdma = { .remote_addr = 0xa1a2a3a4a5a6a7a8, .rkey = 0x11223344 },
	  }, ex_atomic_write, { .ctrl = { .opcode = VHCA_OP_ATOMIC_WRITE, .nblk = 1,
		.flags = VHCA_WQE_INLINE, .inline_len = LE32(8) },
		.raddr = RADDR, .data = { 1, 2, 3, 4, 5, 6, 7, 8 } } },
	{ "flush", { .opcode = IBV_WR_FLUSH }, ex_flush, {
		.ctrl = { .opcode = VHCA_OP_FLUSH, .nblk = 1 }, .raddr = RADDR,
		.flush = { .length = LE32(0xfedcba98), .type = VHCA_FLUSH_PERSISTENT,
			   .level = VHCA_FLUSH_RANGE } } },
	{ "flush of a region", { .opcode = IBV_WR_FLUSH }, ex_flush_all, {
		.ctrl = { .opcode = VHCA_OP_FLUSH, .nblk = 1 }, .raddr = RADDR,
		.flush = { .type = VHCA_FLUSH_GLOBAL | VHCA_FLUSH_PERSISTENT,
			   .level = VHCA_FLUSH_MR } } },
	{ "send with invalidate", {
		.opcode = IBV_WR_SEND_WITH_INV, .sg_list = &word_sge, .num_sge = 1,
		.invalidate_rkey = 0x99887766,
	  }, ex_send_inv, { .ctrl = { .opcode = VHCA_OP_SEND_INV, .nblk = 1, .nsge = 1,
		.inv_key = LE32(0x99887766) },
		/* without an address the list comes earlier */
		.raddr = { .addr = LE64(0x7000), .rkey = LE32(8), .rsvd = LE32(0x55aa) } } },
	{ "invalidate", { .opcode = IBV_WR_LOCAL_INV, .invalidate_rkey = 0x99887766 },
	  ex_local_inv, { .ctrl = { .opcode = VHCA_OP_LOCAL_INV, .nblk = 1,
		.inv_key = LE32(0x99887766) } } },
};

#define for_each_kind(k) \
	for (k = kinds; k < kinds + sizeof(kinds) / sizeof(kinds[0]); k++)

/* Used bytes of the request; behind them a block holds anything. */
static size_t used(const struct kind *k)
{
	switch (k->want.ctrl.opcode) {
	case VHCA_OP_CMP_SWAP:
	case VHCA_OP_FETCH_ADD:
		return 96;
	case VHCA_OP_FLUSH:
		return 64;
	case VHCA_OP_ATOMIC_WRITE:
		return 56;
	case VHCA_OP_SEND_INV:
		return 48;
	default:
		return 32;
	}
}

static void must_be(const struct kind *k, uint64_t block, uint64_t wr_id, uint8_t flags)
{
	union request want = k->want, got = request_at(block);

	want.ctrl.wr_id = htole64(wr_id);
	want.ctrl.flags |= flags;
	want.ctrl.index = htole32((uint32_t)block);
	if (memcmp(&want, &got, used(k)))
		fail_msg("%s: not what was asked for", k->name);
	assert_true(posted() == block + want.ctrl.nblk);
}

static void each_kind_at_each_place(void **state)
{
	const struct kind *k;
	struct ibv_send_wr *bad;

	(void)state;
	inline_sge.addr = (uintptr_t)&word;
	for_each_kind(k) {
		for (uint32_t place = 0; place < fake_sq_blocks(qp); place++) {
			struct ibv_send_wr wr = k->wr;
			uint64_t block = go_to(place);

			if (wr.opcode != IBV_WR_FLUSH) {
				wr.wr_id = 0x1122334455667788 + place;
				wr.send_flags |= IBV_SEND_SIGNALED | IBV_SEND_FENCE;
				assert_int_equal(post(&wr, &bad), 0);
				must_be(k, block, wr.wr_id, VHCA_WQE_SIGNALED | VHCA_WQE_FENCE);
				finish();
				block = go_to(place);
			}
			ibv_wr_start(ex());
			ex()->wr_id = place;
			ex()->wr_flags = IBV_SEND_SIGNALED;
			k->extended();
			assert_true(posted() == block);
			assert_int_equal(ibv_wr_complete(ex()), 0);
			must_be(k, block, place, VHCA_WQE_SIGNALED);
			finish();
		}
	}
}

static void an_atomic_write_can_be_gathered(void **state)
{
	struct ibv_sge halves[2] = { { 0x1000, 4, 7 }, { 0x2000, 4, 8 } };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_ATOMIC_WRITE, .sg_list = halves, .num_sge = 2,
		.wr.rdma = { .remote_addr = 0x4000, .rkey = 9 },
	}, *bad;
	union request got;
	const struct vhca_sge *sge = (const void *)got.data;

	(void)state;
	assert_int_equal(post(&wr, &bad), 0);
	got = request_at(0);
	assert_int_equal(got.ctrl.opcode, VHCA_OP_ATOMIC_WRITE);
	assert_int_equal(got.ctrl.flags, 0);
	assert_int_equal(got.ctrl.nsge, 2);
	assert_true(sge[0].addr == htole64(0x1000) && sge[1].lkey == htole32(8));
}

/* Inline data of every length, from one buffer and from two, with each operation that has data. */
static void inline_data_of_every_length(void **state)
{
	static const struct {
		enum ibv_wr_opcode opcode;
		uint32_t head;
	} ops[] = {
		{ IBV_WR_SEND, 32 }, { IBV_WR_SEND_WITH_INV, 32 }, { IBV_WR_RDMA_WRITE, 48 },
	};
	uint8_t data[512];
	struct ibv_sge sge[2];
	struct ibv_send_wr wr = { .sg_list = sge, .send_flags = IBV_SEND_INLINE }, *bad;

	(void)state;
	for (unsigned int i = 0; i < sizeof(data); i++)
		data[i] = i * 7 + 1;
	for (unsigned int i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		for (unsigned int len = 0; len <= sizeof(data); len++) {
			uint64_t block = posted();
			union request got;

			sge[0] = (struct ibv_sge) { (uintptr_t)data, len / 3, 0 };
			sge[1] = (struct ibv_sge) { (uintptr_t)data + len / 3, len - len / 3, 0 };
			wr.opcode = ops[i].opcode;
			wr.num_sge = 2;
			assert_int_equal(post(&wr, &bad), 0);
			got = request_at(block);
			assert_int_equal(got.ctrl.flags, VHCA_WQE_INLINE);
			assert_true(got.ctrl.inline_len == htole32(len));
			assert_int_equal(got.ctrl.nsge, 0);
			assert_int_equal(got.ctrl.nblk, (ops[i].head + len + 63) / 64);
			assert_memory_equal(got.bytes + ops[i].head, data, len);
			finish();
		}
		sge[1].length++;
		assert_int_equal(post(&wr, &bad), EINVAL);
		assert_ptr_equal(bad, &wr);
	}
}

/* The third request of a list is invalid: two are posted, and bad points to the third. */
static void refused(struct ibv_send_wr wr, int err)
{
	struct ibv_send_wr list[3] = {
		{ .opcode = IBV_WR_SEND, .next = &list[1] },
		{ .opcode = IBV_WR_SEND, .next = &list[2] },
		wr,
	}, *bad;
	uint64_t before = posted();

	assert_int_equal(post(list, &bad), err);
	assert_ptr_equal(bad, &list[2]);
	assert_true(posted() == before + 2);
	finish();
}

static void requests_without_sense_are_refused(void **state)
{
	static const enum ibv_wr_opcode nothing_inline[] = {
		IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD,
		IBV_WR_LOCAL_INV, IBV_WR_BIND_MW,
	};
	struct ibv_sge sge[3] = { { 0x1000, 8, 1 }, { 0x2000, 8, 1 }, { 0x3000, 8, 1 } };
	struct ibv_send_wr wr = { .sg_list = sge, .num_sge = 1 };

	(void)state;
	wr.send_flags = IBV_SEND_INLINE;
	for (unsigned int i = 0; i < sizeof(nothing_inline) / sizeof(nothing_inline[0]); i++) {
		wr.opcode = nothing_inline[i];
		refused(wr, EINVAL);
	}
	wr.send_flags = 0;
	for (unsigned int i = 0; i < 2; i++) {
		wr.opcode = i ? IBV_WR_ATOMIC_CMP_AND_SWP : IBV_WR_ATOMIC_FETCH_AND_ADD;
		wr.num_sge = 0;
		refused(wr, EINVAL);
		wr.num_sge = 2;
		refused(wr, EINVAL);
		wr.num_sge = -1;
		refused(wr, EINVAL);
	}
	/* exactly eight bytes, and a sum of lengths that does not wrap */
	wr.opcode = IBV_WR_ATOMIC_WRITE;
	wr.num_sge = 0;
	refused(wr, EINVAL);
	wr.num_sge = 2;
	refused(wr, EINVAL);
	sge[0].length = UINT32_MAX;
	sge[1].length = 9;
	refused(wr, EINVAL);
	wr.num_sge = 1;
	sge[0].length = 7;
	refused(wr, EINVAL);
	wr.num_sge = 3;
	refused(wr, EINVAL);
	/* a work request has no room for the operands of a flush; the others are not supported */
	wr = (struct ibv_send_wr) { .opcode = IBV_WR_FLUSH };
	refused(wr, EINVAL);
	wr.opcode = IBV_WR_TSO;
	refused(wr, EINVAL);
	wr.opcode = IBV_WR_DRIVER1;
	refused(wr, EINVAL);
}

/* The first error is returned, nothing is posted, and the next requests work. */
#define REFUSED(err, ...) do {							\
	uint64_t before_ = posted();						\
	ibv_wr_start(ex());							\
	ibv_wr_send(ex());							\
	__VA_ARGS__;								\
	ibv_wr_local_inv(ex(), 1);						\
	assert_int_equal(ibv_wr_complete(ex()), err);				\
	assert_true(posted() == before_);					\
} while (0)

static void extended_requests_without_sense(void **state)
{
	struct ibv_sge two[2] = { word_sge, word_sge };
	struct ibv_data_buf buf = { .addr = &word, .length = 8 };

	(void)state;
	REFUSED(EINVAL, ibv_wr_atomic_fetch_add(ex(), 1, 8, 1));
	REFUSED(EINVAL, ibv_wr_atomic_cmp_swp(ex(), 1, 8, 1, 2));
	REFUSED(EINVAL, ibv_wr_atomic_cmp_swp(ex(), 1, 8, 1, 2);
			ibv_wr_set_sge_list(ex(), 2, two));
	REFUSED(EINVAL, ibv_wr_atomic_fetch_add(ex(), 1, 8, 1);
			ibv_wr_set_sge_list(ex(), 0, two));
	REFUSED(EINVAL, ibv_wr_atomic_fetch_add(ex(), 1, 8, 1);
			ibv_wr_set_inline_data(ex(), &word, 8));
	/* its data was given already */
	REFUSED(EINVAL, ibv_wr_atomic_write(ex(), 1, 8, &word);
			ibv_wr_set_inline_data_list(ex(), 1, &buf));
	REFUSED(EINVAL, ibv_wr_atomic_write(ex(), 1, 8, &word);
			ibv_wr_set_sge(ex(), 1, 0x1000, 8));
	REFUSED(EINVAL, ibv_wr_local_inv(ex(), 1); ibv_wr_set_sge(ex(), 1, 0x1000, 8));
	REFUSED(EINVAL, ibv_wr_flush(ex(), 1, 8, 8, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE);
			ibv_wr_set_sge(ex(), 1, 0x1000, 8));
	REFUSED(EINVAL, ibv_wr_flush(ex(), 1, 8, 8, 0, IBV_FLUSH_RANGE));
	REFUSED(EINVAL, ibv_wr_flush(ex(), 1, 8, 8, 4, IBV_FLUSH_RANGE));
	REFUSED(EINVAL, ibv_wr_flush(ex(), 1, 8, 8, IBV_FLUSH_GLOBAL, 2));
#if SIZE_MAX > UINT32_MAX
	REFUSED(EINVAL, ibv_wr_flush(ex(), 1, 8, 1ULL << 32, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE));
#endif
	assert_true(posted() == 0);

	ibv_wr_start(ex());
	ibv_wr_atomic_write(ex(), 1, 8, &word);
	ibv_wr_local_inv(ex(), 1);
	assert_int_equal(ibv_wr_complete(ex()), 0);
	assert_true(posted() == 2);
}

/* One block is free: a request of two is refused, and writes nothing behind the end. */
static void an_atomic_that_does_not_fit(void **state)
{
	struct ibv_send_wr small = { .opcode = IBV_WR_SEND }, *bad;
	struct ibv_send_wr atomic = {
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .sg_list = &word_sge, .num_sge = 1,
	};
	union request first, after;
	uint64_t i;

	(void)state;
	/* as if the kernel had promised more than the ring was laid out for */
	to_vhca_qp(qp)->sq.max_wr = fake_sq_blocks(qp);
	for (i = 0; i < fake_sq_blocks(qp) - 1; i++)
		assert_int_equal(post(&small, &bad), 0);
	first = request_at(0);
	assert_int_equal(post(&atomic, &bad), ENOMEM);
	assert_ptr_equal(bad, &atomic);
	ibv_wr_start(ex());
	ex_cmp_swp();
	assert_int_equal(ibv_wr_complete(ex()), ENOMEM);
	assert_true(posted() == i);
	after = request_at(0);
	assert_memory_equal(&first, &after, sizeof(first));
	finish();
	assert_int_equal(post(&atomic, &bad), 0);
	assert_true(posted() == i + 2);
}

/* max_send_wr atomics fit, whatever the ring was laid out for, unless the QP has none. */
static void max_send_wr_atomics_fit(void **state)
{
	static const uint64_t ops[] = {
		0, IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP, IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
	};
	struct ibv_qp_cap small = { .max_send_sge = 1 };
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_ATOMIC_CMP_AND_SWP, .sg_list = &word_sge, .num_sge = 1,
	}, *bad;

	(void)state;
	for (unsigned int i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		for (small.max_send_wr = 1; small.max_send_wr < 70; small.max_send_wr++) {
			struct ibv_qp *other = fake_make_qp(ctx, cq, cq, &small, ops[i]);

			for (unsigned int n = 0; n < small.max_send_wr; n++)
				assert_int_equal(fake_ops()->post_send(other, &wr, &bad), 0);
			assert_int_equal(fake_ops()->destroy_qp(other), 0);
		}
	}
}

/* The extended call gives its data inline, for which the QP is laid out. */
static void atomic_writes_need_no_inline_room_asked_for(void **state)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .pd = &fake_pd,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_ATOMIC_WRITE,
	};
	struct ibv_qp *kept = qp;

	(void)state;
	qp = fake_ops()->create_qp_ex(&ctx->vctx.context, &attr);
	assert_non_null(qp);
	assert_int_equal(fake_qp(qp)->cap.max_inline_data, 8);
	assert_int_equal(attr.cap.max_inline_data, 8);
	qp->state = IBV_QPS_RTS;
	ibv_wr_start(ex());
	ex_atomic_write();
	assert_int_equal(ibv_wr_complete(ex()), 0);
	assert_int_equal(fake_ops()->destroy_qp(qp), 0);

	/* a larger value is kept, without sends none is needed, and a refusal changes nothing */
	attr.cap.max_inline_data = 9;
	qp = fake_ops()->create_qp_ex(&ctx->vctx.context, &attr);
	assert_int_equal(fake_qp(qp)->cap.max_inline_data, 9);
	assert_int_equal(fake_ops()->destroy_qp(qp), 0);
	attr.cap = (struct ibv_qp_cap) {};
	qp = fake_ops()->create_qp_ex(&ctx->vctx.context, &attr);
	assert_int_equal(fake_qp(qp)->cap.max_inline_data, 0);
	assert_int_equal(fake_ops()->destroy_qp(qp), 0);
	attr.cap.max_send_wr = 1;
	fake_err[FAKE_CREATE_QP] = EACCES;
	assert_null(fake_ops()->create_qp_ex(&ctx->vctx.context, &attr));
	assert_int_equal(errno, EACCES);
	assert_int_equal(attr.cap.max_inline_data, 0);
	fake_err[FAKE_CREATE_QP] = 0;
	qp = kept;
}

/* Operations that the kernel does not report are refused: for a new QP, and when posted. */
static void a_device_without(void **state)
{
	static const struct {
		enum ibv_wr_opcode opcode;
		uint8_t device;
		uint64_t ex;
	} ops[] = {
		{ IBV_WR_SEND, VHCA_OP_SEND, IBV_QP_EX_WITH_SEND },
		{ IBV_WR_RDMA_READ, VHCA_OP_READ, IBV_QP_EX_WITH_RDMA_READ },
		{ IBV_WR_SEND_WITH_INV, VHCA_OP_SEND_INV, IBV_QP_EX_WITH_SEND_WITH_INV },
		{ IBV_WR_ATOMIC_CMP_AND_SWP, VHCA_OP_CMP_SWAP, IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP },
		{ IBV_WR_ATOMIC_FETCH_AND_ADD, VHCA_OP_FETCH_ADD,
		  IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD },
		{ IBV_WR_ATOMIC_WRITE, VHCA_OP_ATOMIC_WRITE, IBV_QP_EX_WITH_ATOMIC_WRITE },
		{ IBV_WR_LOCAL_INV, VHCA_OP_LOCAL_INV, IBV_QP_EX_WITH_LOCAL_INV },
		{ IBV_WR_BIND_MW, VHCA_OP_BIND_MW, IBV_QP_EX_WITH_BIND_MW },
		{ IBV_WR_FLUSH, VHCA_OP_FLUSH, IBV_QP_EX_WITH_FLUSH },
	};
	const uint64_t all = vhca_known_send_ops(ctx, IBV_QPT_RC);
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC, .pd = &fake_pd, .cap = cap,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		struct ibv_send_wr wr = {
			.opcode = ops[i].opcode, .sg_list = &word_sge, .num_sge = 1,
		}, *bad;

		ctx->send_ops = FAKE_ALL_OPS & ~(1U << ops[i].device);
		assert_true(vhca_known_send_ops(ctx, IBV_QPT_RC) == (all & ~ops[i].ex));
		assert_int_equal(post(&wr, &bad),
				 ops[i].opcode == IBV_WR_FLUSH ? EINVAL : EOPNOTSUPP);
		assert_ptr_equal(bad, &wr);
		attr.send_ops_flags = ops[i].ex;
		assert_null(fake_ops()->create_qp_ex(&ctx->vctx.context, &attr));
		assert_int_equal(errno, EOPNOTSUPP);
	}
	assert_true(posted() == 0);
}

/* With a kernel that does not report operations, those of the first interface are used. */
static void an_older_kernel(void **state)
{
	struct vhca_context *old;

	(void)state;
	fake_send_ops = 0;
	old = fake_try_open();
	assert_non_null(old);
	assert_true(vhca_known_send_ops(old, IBV_QPT_RC) ==
		    (IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
		     IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
		     IBV_QP_EX_WITH_RDMA_READ));
	fake_ops()->free_context(&old->vctx.context);
	fake_send_ops = 1U << VHCA_OP_SEND;
	old = fake_try_open();
	assert_true(vhca_known_send_ops(old, IBV_QPT_UC) == IBV_QP_EX_WITH_SEND);
	fake_ops()->free_context(&old->vctx.context);
}

/* UC QPs had no LOCAL_INV before interface 1.4. */
static void an_older_device(void **state)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_LOCAL_INV }, *bad = NULL;
	struct ibv_qp *uc = fake_make_typed_qp(ctx, IBV_QPT_UC, cq, &cap, 0);
	struct vhca_context *old;

	(void)state;
	assert_int_equal(fake_ops()->post_send(uc, &wr, &bad), 0);
	fake_uc_local_inv = false;
	old = fake_try_open();
	assert_true((vhca_known_send_ops(ctx, IBV_QPT_UC) ^
		     vhca_known_send_ops(old, IBV_QPT_UC)) == IBV_QP_EX_WITH_LOCAL_INV);
	assert_true(vhca_known_send_ops(ctx, IBV_QPT_RC) == vhca_known_send_ops(old, IBV_QPT_RC));
	ctx->uc_send_ops = old->uc_send_ops;
	assert_int_equal(fake_ops()->post_send(uc, &wr, &bad), EOPNOTSUPP);
	assert_ptr_equal(bad, &wr);
	assert_int_equal(post(&wr, &bad), 0);
	fake_ops()->free_context(&old->vctx.context);
	assert_int_equal(fake_ops()->destroy_qp(uc), 0);
}

static void data_appear_in_order(void **state)
{
	static const struct {
		enum ibv_qp_type type;
		unsigned int ops;	/* a bit each */
	} types[] = {
		{ IBV_QPT_RC, 1 << IBV_WR_SEND | 1 << IBV_WR_SEND_WITH_IMM |
		  1 << IBV_WR_SEND_WITH_INV | 1 << IBV_WR_RDMA_WRITE |
		  1 << IBV_WR_RDMA_WRITE_WITH_IMM | 1 << IBV_WR_RDMA_READ },
		{ IBV_QPT_UC, 1 << IBV_WR_SEND | 1 << IBV_WR_SEND_WITH_IMM |
		  1 << IBV_WR_RDMA_WRITE | 1 << IBV_WR_RDMA_WRITE_WITH_IMM },
		{ IBV_QPT_UD, 1 << IBV_WR_SEND | 1 << IBV_WR_SEND_WITH_IMM },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct ibv_qp *typed = fake_make_typed_qp(ctx, types[i].type, cq, &cap, 0);

		for (unsigned int op = 0; op < 40; op++)
			assert_int_equal(fake_ops()->query_qp_data_in_order(typed, op,
					IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS),
					 op < 32 && types[i].ops >> op & 1 ?
					 IBV_QUERY_QP_DATA_IN_ORDER_WHOLE_MSG : 0);
		assert_int_equal(fake_ops()->destroy_qp(typed), 0);
	}
	ctx->send_ops = 0;
	assert_int_equal(fake_ops()->query_qp_data_in_order(qp, IBV_WR_SEND, 0), 0);
}

int main(void)
{
#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(each_kind_at_each_place),
		TEST(an_atomic_write_can_be_gathered),
		TEST(inline_data_of_every_length),
		TEST(requests_without_sense_are_refused),
		TEST(extended_requests_without_sense),
		TEST(an_atomic_that_does_not_fit),
		TEST(max_send_wr_atomics_fit),
		TEST(atomic_writes_need_no_inline_room_asked_for),
		TEST(a_device_without),
		TEST(an_older_kernel),
		TEST(an_older_device),
		TEST(data_appear_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
