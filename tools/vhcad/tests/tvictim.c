// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <string.h>

#include "tests/tkey.h"
#include "tests/tvictim.h"

void tvictim_init(struct tvictim *v, u64 (*spent)(void *arg))
{
	memset(v, 0, sizeof(*v));
	t_world_init_timed(&v->w, spent);
	for (u32 i = 0; i < 3; i++) {
		t_hca_init(&v->h[i], &v->w, 0x1000 * (i + 1));
		t_cq_init(&v->h[i], &v->cq[i], 10, VHCA_CQ_IGNORE_OVERRUN);
	}
	for (u32 i = 0; i < 2; i++) {
		t_qp_init(&v->h[i], &v->qp[i], &v->cq[i], &v->cq[i]);
		t_mr_init(&v->h[i], &v->mr[i], 0, VICTIM_BYTES, T_RW, 1, 12);
	}
	t_connect(&v->qp[0], &v->qp[1], 5, 100, 9000);
}

void tvictim_fini(struct tvictim *v)
{
	for (u32 i = 0; i < 3; i++)
		t_hca_fini(&v->h[i]);
	t_world_fini(&v->w);
}

u32 tvictim_any(struct tvictim *v, u32 n)
{
	v->rng = v->rng * 1103515245 + 12345;
	return v->rng / 65536 % n;
}

void tvictim_ring(struct tvictim *v)
{
	struct twr wr = t_wr(VHCA_OP_WRITE, 1, &v->mr[0], 0, VICTIM_BYTES, &v->mr[1], 0);

	v->waiting = true;
	t_post(&v->qp[0], &wr);
	t_ring_sq(&v->qp[0]);
}

bool tvictim_done(struct tvictim *v)
{
	struct vhca_cqe e;

	if (!v->waiting || !t_cq_poll(&v->cq[0], &e))
		return false;
	assert_int_equal(e.status, VHCA_CS_SUCCESS);
	v->waiting = false;
	return true;
}
