// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Payload: gathered where it leaves, scattered where it arrives.
 */
#include "qp/recv.h"

/* Minimum length of a run that is copied past the cache; shorter runs are of shorter messages. */
#define COLD_RUN	(16u << 10)

static bool is_cold(const struct sglist *l)
{
	u64 len = 0;

	for (u32 i = 0; i < l->n; i++)
		len += l->sge[i].len;
	return len >= gmem_cold_size();
}

/* payload_gather() of what may lie in several pieces. */
static __attribute__((noinline)) u32 gather_list(struct vqp *qp, const struct sglist *l, u32 off,
						 u32 len, struct payload *pl)
{
	struct worker *w = qp->dev->adapter.worker;
	u32 got = sgl_map(l, off, len, pl->seg, &pl->nseg, PAYLOAD_SEGS);

	pl->cold = pl->cold && got >= (u64)pl->nseg * RUN_COLD_PIECE;
	if (got == len)
		return len;
	if (got >= qp->mtu || (pl->nseg < PAYLOAD_SEGS && w->pieces <= RUN_PIECES &&
			       !sgl_is_checked(l, off + got)))
		return got / qp->mtu * qp->mtu;
	/*
	 * The list of a key may have any number of pieces, or need checks of its data: the bytes of
	 * a packet are copied to one place.
	 */
	len = MIN(len, qp->mtu);
	pl->mem = NULL;
	pl->host = qp_scratch(qp)->bounce;
	return sgl_read(l, off, qp_scratch(qp)->bounce, len) == len ? len : 0;
}

u32 payload_gather(struct vqp *qp, const struct sglist *l, u32 off, u32 len, struct payload *pl)
{
	u64 at = sgl_one(l, off, len);

	pieces_begin(qp->dev->adapter.worker);
	pl->fault = false;
	pl->mem = qp->dev->mem;
	pl->cold = len >= COLD_RUN && is_cold(l);
	if (at == SGL_NOT_ONE)
		return gather_list(qp, l, off, len, pl);
	pl->seg[0] = (struct dma_seg){ at, len };
	pl->nseg = 1;
	return len;
}

/* Writes a part of a run through a key that checks the data; returns the number of bytes. */
static u64 place_checked(struct vqp *qp, const struct run *run, u32 at, const struct sglist *l,
			 u64 off, u32 len)
{
	u8 *bytes = qp_scratch(qp)->checked;

	if (!sgl_is_checked(l, off))
		return 0;
	len = MIN(len, sizeof(qp_scratch(qp)->checked));
	return payload_read(run->pl, run->skip + at, bytes, len) ? 0 :
	       sgl_write_checked(l, off, bytes, len);
}

/* payload_scatter() to what may lie in several pieces. */
static __attribute__((noinline)) u32 scatter_list(struct vqp *qp, const struct run *run,
						  const struct sglist *l, u64 off, u32 len)
{
	struct worker *w = qp->dev->adapter.worker;
	u32 done = 0;

	while (done < len && !pieces_enough(w, run, done)) {
		struct dma_seg seg[PAYLOAD_SEGS];
		u32 nseg;
		u64 n = sgl_map(l, off + done, len - done, seg, &nseg, PAYLOAD_SEGS);

		if (w->pieces > MAX_PIECES)
			break;
		if (!n)
			n = place_checked(qp, run, done, l, off + done, len - done);
		else if (payload_place(run->pl, run->skip + done, qp->dev->mem, seg, nseg))
			break;
		if (!n)
			break;
		done += n;
	}
	return done;
}

u32 payload_scatter(struct vqp *qp, const struct run *run, const struct sglist *l, u64 off,
		    u32 len)
{
	const struct dma_seg one = { len ? sgl_one(l, off, len) : SGL_NOT_ONE, len };

	pieces_begin(qp->dev->adapter.worker);
	if (one.addr == SGL_NOT_ONE)
		return scatter_list(qp, run, l, off, len);
	return payload_place(run->pl, run->skip, qp->dev->mem, &one, 1) ? 0 : len;
}
