// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Keys that check and make protection fields, on the connection of a QP with itself: blocks are
 * sent without fields in memory and arrive with those that were made, one is corrupted, and a
 * transfer like a storage target's removes the fields.
 */
#include "kmem.h"

#define BLOCKS		16
#define BLOCK		512
#define FIELD		8		/* guard, application tag, reference tag */
#define APP_TAG		0x5aa5
#define REF_TAG		0xfffffff8	/* wraps on the way */

/* Pages of this side's memory: data, fields, and what has arrived over the wire. */
enum { DATA, FIELDS = 2, WIRE, LAST = WIRE + 3 };

static u8 *at_page(struct kmem *k, int page)
{
	return (u8 *)k->own.mem + page * PAGE_SIZE;
}

static struct ib_sig_domain dif(void)
{
	return (struct ib_sig_domain) {
		.sig_type = IB_SIG_TYPE_T10_DIF,
		.sig.dif = {
			.bg_type = IB_T10DIF_CRC, .pi_interval = BLOCK, .app_tag = APP_TAG,
			.apptag_check_mask = 0xffff, .ref_tag = REF_TAG, .ref_remap = true,
		},
	};
}

static struct ib_qp *make_qp(struct kmem *k, u32 contexts)
{
	struct ib_qp_init_attr attr = {
		.cap = { .max_send_wr = 8, .max_send_sge = 4, .max_rdma_ctxs = contexts },
		.create_flags = IB_QP_CREATE_INTEGRITY_EN, .send_cq = k->cq, .recv_cq = k->cq,
		.port_num = 1, .sq_sig_type = IB_SIGNAL_REQ_WR, .qp_type = IB_QPT_RC,
	};

	return ib_create_qp(k->pd, &attr);
}

/* Describes data, and fields that memory has, in pieces that end amid blocks. */
static bool register_key(struct kmem *k, struct ib_qp *qp, struct ib_mr *mr,
			 const struct ib_sig_attrs *attrs)
{
	bool fields_too = attrs->mem.sig_type != IB_SIG_TYPE_NONE;
	struct ib_reg_wr wr = {
		.wr = { .opcode = IB_WR_REG_MR_INTEGRITY }, .mr = mr,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE,
	};
	struct scatterlist data[3], fields;

	sg_init_table(data, ARRAY_SIZE(data));
	sg_dma_address(&data[0]) = sg_dma_address(&k->own.sg[DATA]);
	sg_dma_len(&data[0]) = 100;
	sg_dma_address(&data[1]) = sg_dma_address(&k->own.sg[DATA]) + 100;
	sg_dma_len(&data[1]) = PAGE_SIZE - 100;
	sg_dma_address(&data[2]) = sg_dma_address(&k->own.sg[DATA + 1]);
	sg_dma_len(&data[2]) = BLOCKS * BLOCK - PAGE_SIZE;
	sg_init_table(&fields, 1);
	sg_dma_address(&fields) = sg_dma_address(&k->own.sg[FIELDS]);
	sg_dma_len(&fields) = BLOCKS * FIELD;
	*mr->sig_attrs = *attrs;
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	wr.key = mr->rkey;
	return !ib_map_mr_sg_pi(mr, data, ARRAY_SIZE(data), NULL, &fields, fields_too, NULL,
				SZ_4K) &&
	       mr->length == BLOCKS * (BLOCK + (fields_too ? FIELD : 0)) &&
	       kmem_post(qp, &k->part, &wr.wr) && k->part.wc.opcode == IB_WC_REG_MR;
}

/* Moves all blocks and their fields between the key and the pages of WIRE. */
static bool move(struct kmem *k, struct ib_qp *qp, struct ib_mr *mr, enum ib_wr_opcode opcode)
{
	u32 left = BLOCKS * (BLOCK + FIELD), n = 0;
	struct ib_sge sge[LAST - WIRE];
	struct ib_rdma_wr wr = {
		.wr = { .opcode = opcode, .sg_list = sge }, .remote_addr = mr->iova,
		.rkey = mr->rkey,
	};

	for (; left; n++, left -= min_t(u32, left, PAGE_SIZE))
		sge[n] = (struct ib_sge){ sg_dma_address(&k->own.sg[WIRE + n]),
					  min_t(u32, left, PAGE_SIZE), k->pd->local_dma_lkey };
	wr.wr.num_sge = n;
	return kmem_post(qp, &k->part, &wr.wr);
}

/* CRC-16 of T10, bit by bit: not every kernel has it. */
static u16 crc(const u8 *data)
{
	u16 crc = 0;

	for (u32 i = 0; i < 8 * BLOCK; i++)
		crc = crc << 1 ^ ((crc >> 15 ^ data[i / 8] >> (7 - i % 8)) & 1 ? 0x8bb7 : 0);
	return crc;
}

static bool field_is_good(const u8 *field, const u8 *data, u32 nr)
{
	return get_unaligned_be16(field) == crc(data) &&
	       get_unaligned_be16(field + 2) == APP_TAG &&
	       get_unaligned_be32(field + 4) == REF_TAG + nr;
}

/* No error in what went through the key since the last check. */
static bool is_clean(struct ib_mr *mr)
{
	struct ib_mr_status status;

	return !ib_check_mr_status(mr, IB_MR_CHECK_SIG_STATUS, &status) && !status.fail_status;
}

static void make_fields(struct kmem *k, struct ib_qp *qp, struct ib_mr *mr)
{
	const struct ib_sig_attrs insert = { .check_mask = 0xff, .wire = dif() };
	u32 bad = 0;

	for (u32 i = 0; i < BLOCKS * BLOCK; i++)
		at_page(k, DATA)[i] = kmem_word(1, i) >> 7;
	memset(at_page(k, WIRE), 0, (LAST - WIRE) * PAGE_SIZE);
	CHECK(register_key(k, qp, mr, &insert));
	CHECK(move(k, qp, mr, IB_WR_RDMA_READ));
	for (u32 i = 0; i < BLOCKS; i++) {
		const u8 *block = at_page(k, WIRE) + i * (BLOCK + FIELD);

		bad += memcmp(block, at_page(k, DATA) + i * BLOCK, BLOCK) ||
		       !field_is_good(block + BLOCK, block, i);
	}
	CHECK(!bad);
	CHECK(is_clean(mr));
	CHECK(kmem_invalidate(k, qp, mr));
}

static void take_fields(struct kmem *k, struct ib_qp *qp, struct ib_mr *mr)
{
	const struct ib_sig_attrs pass = { .check_mask = 0xff, .mem = dif(), .wire = dif() };
	struct ib_mr_status status;
	u32 bad = 0;
	u8 *spoilt;

	memset(at_page(k, DATA), 0, BLOCKS * BLOCK);
	memset(at_page(k, FIELDS), 0, BLOCKS * FIELD);
	CHECK(register_key(k, qp, mr, &pass));
	CHECK(move(k, qp, mr, IB_WR_RDMA_WRITE));
	for (u32 i = 0; i < BLOCKS; i++)
		bad += !field_is_good(at_page(k, FIELDS) + i * FIELD,
				      at_page(k, DATA) + i * BLOCK, i);
	CHECK(!bad);
	CHECK(is_clean(mr));

	spoilt = at_page(k, WIRE) + 11 * (BLOCK + FIELD) + BLOCK;
	spoilt[7] ^= 1;
	CHECK(move(k, qp, mr, IB_WR_RDMA_WRITE));
	CHECK(!ib_check_mr_status(mr, IB_MR_CHECK_SIG_STATUS, &status) &&
	      status.fail_status == IB_MR_CHECK_SIG_STATUS);
	CHECK(status.sig_err.err_type == IB_SIG_BAD_REFTAG &&
	      status.sig_err.expected == REF_TAG + 11 &&
	      status.sig_err.actual == ((REF_TAG + 11) ^ 1) &&
	      status.sig_err.sig_err_offset / (BLOCK + FIELD) == 11);
	CHECK(is_clean(mr));	/* an error is reported once */
	spoilt[7] ^= 1;
	CHECK(kmem_invalidate(k, qp, mr));
}

/* Like a target that writes blocks of a disk to an initiator that does not want their fields. */
static void strip_fields(struct kmem *k, struct ib_qp *qp)
{
	struct ib_sig_attrs strip = { .check_mask = 0xff, .mem = dif() };
	u8 *data = (u8 *)k->rw.mem, *fields = data + FIELDS * PAGE_SIZE;
	struct ib_mr_status status;
	struct rdma_rw_ctx ctx;

	for (u32 i = 0; i < BLOCKS; i++) {
		memset(data + i * BLOCK, i + 1, BLOCK);
		put_unaligned_be16(crc(data + i * BLOCK), fields + i * FIELD);
		put_unaligned_be16(APP_TAG, fields + i * FIELD + 2);
		put_unaligned_be32(REF_TAG + i, fields + i * FIELD + 4);
	}
	data[5 * BLOCK] = 0;
	k->rw.sg[FIELDS].length = BLOCKS * FIELD;
	if (!CHECK(kmem_register(k, qp, k->mr, 2)))
		return;
	if (!CHECK(rdma_rw_ctx_signature_init(&ctx, qp, 1, &k->rw.sg[DATA], 2, &k->rw.sg[FIELDS],
					      1, &strip, k->mr->iova, k->mr->rkey,
					      DMA_TO_DEVICE) > 0))
		return;
	kmem_prepare(&k->part);
	CHECK(!rdma_rw_ctx_post(&ctx, qp, 1, &k->part.cqe, NULL) && kmem_came(&k->part));
	CHECK(!ib_check_mr_status(ctx.reg->mr, IB_MR_CHECK_SIG_STATUS, &status) &&
	      status.fail_status && status.sig_err.err_type == IB_SIG_BAD_GUARD &&
	      status.sig_err.sig_err_offset / (BLOCK + FIELD) == 5);
	rdma_rw_ctx_destroy_signature(&ctx, qp, 1, &k->rw.sg[DATA], 2, &k->rw.sg[FIELDS], 1,
				      DMA_TO_DEVICE);
	k->rw.sg[FIELDS].length = PAGE_SIZE;
	CHECK(!memcmp(at_page(k, DATA), data, BLOCKS * BLOCK));
	CHECK(kmem_invalidate(k, qp, k->mr));
}

void kmem_pi_test(struct kmem *k)
{
	struct ib_mr *mr;
	struct ib_qp *qp;

	CHECK(k->dev->attrs.kernel_cap_flags & IBK_INTEGRITY_HANDOVER);
	mr = ib_alloc_mr_integrity(k->pd, 4, 4);
	if (!CHECK(!IS_ERR(mr)))
		return;
	qp = make_qp(k, 1);
	if (CHECK(!IS_ERR(qp))) {
		CHECK(!kmem_connect(k, qp, k->lid, qp->qp_num));
		make_fields(k, qp, mr);
		take_fields(k, qp, mr);
		strip_fields(k, qp);
		ib_drain_qp(qp);
		CHECK(!ib_destroy_qp(qp));
	}
	CHECK(!ib_dereg_mr(mr));
}
