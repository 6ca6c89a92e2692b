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

struct vhca_wqe_atomic ta_wire(const struct vhca_wqe_atomic *a)
{
	return (struct vhca_wqe_atomic){
		.swap_add = htole64(a->swap_add), .compare = htole64(a->compare),
		.mask = htole64(a->mask), .compare_mask = htole64(a->compare_mask),
	};
}

struct twr ta_wr(u8 op, u64 id, struct tmr *l, u64 off, struct tmr *r, u64 roff,
		     const struct vhca_wqe_atomic *a)
{
	struct twr wr = t_wr(op, id, l, off, 8, r, roff);

	wr.atomic = ta_wire(a);
	return wr;
}

u64 ta_result(u8 op, u64 was, const struct vhca_wqe_atomic *a)
{
	u64 sum = 0, carry = 0;
	bool equal = true;

	switch (op) {
	case VHCA_OP_CMP_SWAP:
		return was == a->compare ? a->swap_add : was;
	case VHCA_OP_FETCH_ADD:
		return was + a->swap_add;
	case VHCA_OP_MASKED_CMP_SWAP:
		for (u32 i = 0; i < 64; i++)
			if (a->compare_mask >> i & 1 && (was ^ a->compare) >> i & 1)
				equal = false;
		for (u32 i = 0; i < 64; i++)
			sum |= (equal && a->mask >> i & 1 ? a->swap_add >> i & 1 :
				was >> i & 1) << i;
		return sum;
	default:
		for (u32 i = 0; i < 64; i++) {
			u64 bits = (was >> i & 1) + (a->swap_add >> i & 1) + carry;

			sum |= (bits & 1) << i;
			carry = a->mask >> i & 1 ? 0 : bits >> 1;
		}
		return sum;
	}
}

bool ta_masked(u8 op)
{
	return op == VHCA_OP_MASKED_CMP_SWAP || op == VHCA_OP_MASKED_FETCH_ADD;
}

void ta_count_depth(void *arg, const struct fab_port *from, const struct wire_hdr *h,
		 struct fab_effect *v)
{
	struct tdepth *d = arg;

	if (wire_is_atomic(wire_op(h->opcode)->kind))
		d->requests++;
	else if (h->opcode == OP_RC_ATOMIC_ACK)
		d->answers++;
	d->most = MAX(d->most, d->requests - d->answers);
	v->delay = 1000;
}
