// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "tests/tatomic.h"

void ta_setup(struct tatomic *f, u32 psn)
{
	t_pair_init_regions(&f->p, psn, 0xfffffa, &f->l, &f->r, REGION, ACCESS, ACCESS);
	t_mr_fill(&f->l, 1);
}

void ta_done(struct tatomic *f)
{
	t_pair_fini(&f->p);
}

u64 ta_word(struct tmr *mr, u64 off)
{
	u64 v;

	t_mr_get(mr, off, &v, sizeof(v));
	return le64toh(v);
}

void ta_set_word(struct tmr *mr, u64 off, u64 v)
{
	v = htole64(v);
	t_mr_put(mr, off, &v, sizeof(v));
}

struct twr ta_wr(u8 op, u64 id, struct tmr *l, u64 off, struct tmr *r, u64 roff,
		     const struct vhca_wqe_atomic *a)
{
	struct twr wr = t_wr(op, id, l, off, 8, r, roff);

	wr.atomic.swap_add = htole64(a->swap_add);
	wr.atomic.compare = htole64(a->compare);
	wr.atomic.mask = htole64(a->mask);
	wr.atomic.compare_mask = htole64(a->compare_mask);
	return wr;
}

bool ta_masked(u8 op)
{
	return op == VHCA_OP_MASKED_CMP_SWAP || op == VHCA_OP_MASKED_FETCH_ADD;
}

void ta_count_depth(void *arg, const struct fab_port *from, const struct wire_hdr *h,
		 struct fab_verdict *v)
{
	struct tdepth *d = arg;

	if (wire_is_atomic(wire_op(h->opcode)->kind))
		d->requests++;
	else if (h->opcode == OP_RC_ATOMIC_ACK)
		d->answers++;
	d->most = MAX(d->most, d->requests - d->answers);
	v->delay = 1000;
}
