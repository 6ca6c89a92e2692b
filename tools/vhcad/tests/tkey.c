// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory keys of all types, without a send queue.
 */
#include "tests/tkey.h"

struct vqp *t_vqp(const struct tqp *qp)
{
	struct vqp *q = qp_find(qp->h->dev, qp->qpn);

	assert_non_null(q);
	return q;
}

void t_key_caps(struct thca *h)
{
	h->dev->caps |= 1ull << VHCA_CAP_FAST_REG | 1ull << VHCA_CAP_SG_GAPS |
			1ull << VHCA_CAP_MW | 1ull << VHCA_CAP_MW_2A | 1ull << VHCA_CAP_MW_2B |
			1ull << VHCA_CAP_FMR | 1ull << VHCA_CAP_INTEGRITY;
}

u32 t_key(struct thca *h, u8 type, u64 list, u32 entries, u8 variant)
{
	struct vhca_create_mkey_req req = {
		.buf = { .addr = htole64(list), .npages = htole32(entries), .levels = !!entries },
		.pdn = htole32(h->pd), .type = type, .variant = variant,
	};

	return t_create(h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req));
}

u8 t_register(struct tqp *qp, u32 key, u32 entries, u64 iova, u64 length, u8 access, u8 shift)
{
	const struct vhca_wqe_reg reg = {
		.key = htole32(key), .entries = htole32(entries), .iova = htole64(iova),
		.length = htole64(length), .access = access, .page_shift = shift,
	};
	struct mkey_scope s = qp_scope(t_vqp(qp));
	u8 st;

	adapter_lock(&qp->h->dev->adapter);
	st = mkey_register(&s, &reg);
	adapter_unlock(&qp->h->dev->adapter);
	return st;
}

u8 t_bind(struct tqp *qp, u32 key, u32 mr_key, u64 addr, u64 length, u8 access)
{
	const struct vhca_wqe_bind bind = {
		.key = htole32(key), .mr_key = htole32(mr_key), .addr = htole64(addr),
		.length = htole64(length), .access = access,
	};
	struct mkey_scope s = qp_scope(t_vqp(qp));
	u8 st;

	adapter_lock(&qp->h->dev->adapter);
	st = mkey_bind(&s, &t_vqp(qp)->keys, &bind);
	adapter_unlock(&qp->h->dev->adapter);
	return st;
}

bool t_grants(const struct tqp *qp, u32 key, u64 addr, u64 len, u32 access)
{
	bool yes;

	adapter_lock(&qp->h->dev->adapter);
	yes = qp_mkey_find(t_vqp(qp), key, addr, len, access);
	adapter_unlock(&qp->h->dev->adapter);
	return yes;
}

u64 t_where(const struct tqp *qp, u32 key, u64 addr, u64 len, u32 access)
{
	const struct vqp *q = t_vqp(qp);
	const struct sge sge = { addr, len, key };
	const struct sglist l = { &sge, 1, access, qp_scope(q) };
	struct dma_seg seg;
	u32 nseg;

	if (!sgl_map(&l, 0, len, &seg, &nseg, 1))
		return UINT64_MAX;
	return seg.addr;
}
