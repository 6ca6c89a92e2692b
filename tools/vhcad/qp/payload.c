// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Payload: gathered where it leaves, scattered where it arrives.
 */
#include "qp/recv.h"

/* Runs that are shorter belong to messages that are. */
#define COLD_RUN	(16u << 10)

static bool is_cold(const struct sglist *l)
{
	u64 len = 0;

	for (u32 i = 0; i < l->n; i++)
		len += l->sge[i].len;
	return len >= gmem_cold_size();
}

u32 payload_gather(struct vqp *qp, const struct sglist *l, u32 off, u32 len, struct payload *pl)
{
	struct worker *w = qp->dev->adapter.worker;
	u32 got;

	pieces_begin(w);
	pl->fault = false;
	pl->mem = qp->dev->mem;
	pl->cold = len >= COLD_RUN && is_cold(l);
	got = sgl_map(l, off, len, pl->seg, &pl->nseg, PAYLOAD_SEGS);
	pl->cold = pl->cold && got >= (u64)pl->nseg * RUN_COLD_PIECE;
	if (got == len)
		return len;
	if (got >= qp->mtu || (pl->nseg < PAYLOAD_SEGS && w->pieces <= RUN_PIECES))
		return got / qp->mtu * qp->mtu;
	/* The list of a key may have any number of pieces: a packet's are copied to one place. */
	len = MIN(len, qp->mtu);
	pl->mem = NULL;
	pl->host = qp_scratch(qp)->bounce;
	return sgl_read(l, off, qp_scratch(qp)->bounce, len) == len ? len : 0;
}

u32 payload_scatter(struct vqp *qp, const struct run *run, const struct sglist *l, u64 off,
		    u32 len)
{
	struct worker *w = qp->dev->adapter.worker;
	u32 done = 0;

	pieces_begin(w);
	while (done < len && !pieces_enough(w, run, done)) {
		struct dma_seg seg[PAYLOAD_SEGS];
		u32 nseg;
		u64 n = sgl_map(l, off + done, len - done, seg, &nseg, PAYLOAD_SEGS);

		if (!n || w->pieces > MAX_PIECES ||
		    payload_place(run->pl, run->skip + done, qp->dev->mem, seg, nseg))
			break;
		done += n;
	}
	return done;
}
