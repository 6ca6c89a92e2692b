// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Payload that leaves.
 */
#include "engine/core.h"
#include "qp/qp.h"

u32 gather(struct vqp *qp, const struct sglist *l, u32 off, u32 len, struct payload *pl)
{
	struct engine *e = qp->dev->engine;
	u32 got;

	pieces_begin(e);
	pl->fault = false;
	pl->mem = qp->dev->mem;
	got = sgl_map(qp->dev, l, off, len, pl->seg, &pl->nseg, PAYLOAD_SEGS);
	if (got == len)
		return len;
	if (got >= qp->mtu || (pl->nseg < PAYLOAD_SEGS && e->pieces <= RUN_PIECES))
		return got / qp->mtu * qp->mtu;
	/* scraps: the list of a key may be of any number of them */
	len = MIN(len, qp->mtu);
	pl->mem = NULL;
	pl->host = e->scraps;
	return sgl_read(qp->dev, l, off, e->scraps, len) == len ? len : 0;
}
