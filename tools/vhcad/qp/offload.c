// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Offloads of UD QPs for IPoIB: checksums and segmentation.
 *
 * A datagram whose bytes matter is made, or looked at, in the worker's own memory: so its
 * checksums are those of the bytes that go out or come in, whatever a guest writes meanwhile.
 */
#include <string.h>

#include "qp/complete.h"
#include "qp/offload.h"
#include "qp/recv.h"
#include "wire/ip.h"

static bool has_cap(const struct vqp *qp, enum vhca_cap v4, enum vhca_cap v6,
		    const struct ip_frame *f)
{
	return qp->dev->caps >> (f->v6 ? v6 : v4) & 1;
}

static int refuse(const struct vqp *qp)
{
	return why(qp, VHCA_WHY_OFFLOAD, VHCA_CS_LOC_QP_OP_ERR);
}

static bool copy_data(struct vqp *qp, const struct send_wqe *w, u64 off, u8 *to, u32 len)
{
	struct sglist l = { w->sge, w->nsge, MKEY_READ_LOCAL, qp_local_scope(qp, qp->pd) };

	if (w->data) {
		memcpy(to, w->data + off, len);
		return true;
	}
	pieces_begin(qp->dev->adapter.worker);
	return sgl_read(&l, off, to, len) == len;
}

/* A datagram as it lies in memory, with its checksums. */
static int make_whole(struct vqp *qp, const struct send_wqe *w, u8 *p, u32 *len)
{
	struct ip_frame f;

	*len = w->len;
	if (!copy_data(qp, w, 0, p, *len))
		return VHCA_CS_LOC_PROT_ERR;
	if (!ip_find(p, *len, &f) || !has_cap(qp, VHCA_CAP_UD_CSUM, VHCA_CAP_UD_CSUM6, &f))
		return refuse(qp);
	ip_set_sums(p, &f);
	return VHCA_CS_SUCCESS;
}

/* Segment @i of a large packet. */
static int make_segment(struct vqp *qp, const struct send_wqe *w, u32 i, bool last, u8 *p, u32 *len)
{
	u32 off = i * w->lso.mss, n = MIN((u64)w->lso.mss, w->len - off);
	struct ip_frame f;

	*len = w->lso.hlen + n;
	memcpy(p, w->lso.header, w->lso.hlen);
	if (!copy_data(qp, w, off, p + w->lso.hlen, n))
		return VHCA_CS_LOC_PROT_ERR;
	if (!ip_segment(p, w->lso.hlen, *len, i, w->lso.mss, last, &f) ||
	    !has_cap(qp, VHCA_CAP_UD_LSO, VHCA_CAP_UD_LSO6, &f))
		return refuse(qp);
	ip_set_sums(p, &f);
	return VHCA_CS_SUCCESS;
}

int offload_fill(struct vqp *qp, const struct tx_req *t, struct run *run, struct payload *pl)
{
	struct scratch *s = qp_scratch(qp);
	const struct rc_requester *r = &qp->req;
	bool last = r->cur_pkt + 1 == t->npkts;
	int st = req_reload(qp, t, &s->tx_wqe);
	u32 len;

	if (st)
		return st;
	if (t->opcode == VHCA_OP_LSO)
		st = make_segment(qp, &s->tx_wqe, r->cur_pkt, last, s->bounce, &len);
	else
		st = make_whole(qp, &s->tx_wqe, s->bounce, &len);
	if (st)
		return st;
	/* the port's MTU may have become smaller since the request was taken */
	if (len > qp->mtu)
		return VHCA_CS_LOC_LEN_ERR;
	pl->mem = NULL;
	pl->host = s->bounce;
	pl->nseg = 0;
	pl->fault = false;
	*run = (struct run){
		.h.path = qp->path,
		.h.psn = r->nxt,
		.h.se = last && t->flags & VHCA_WQE_SOLICITED,
		.service = qp->service,
		.kind = WIRE_SEND,
		.first = true,
		.last = true,
		.npkts = 1,
		.mtu = qp->mtu,
		.len = len,
		.pl = pl,
	};
	return VHCA_CS_SUCCESS;
}

static bool sums_ok(const struct vqp *qp, const u8 *p, u32 len)
{
	struct ip_frame f;

	return ip_find(p, len, &f) && has_cap(qp, VHCA_CAP_UD_CSUM, VHCA_CAP_UD_CSUM6, &f) &&
	       ip_sums_ok(p, &f);
}

bool offload_checked(const struct vqp *qp, const struct datagram *d)
{
	const struct run *run = d->run;
	struct scratch *s = qp_scratch(qp);
	struct payload *pl = run->pl;
	u8 front[IP_FRONT];

	/* the bytes were checked already, for a receiver before this one */
	if (d->ready > WIRE_GRH_LEN)
		return run->len >= sizeof(front) && ip_front(d->front + WIRE_GRH_LEN) &&
		       sums_ok(qp, d->front + WIRE_GRH_LEN, run->len);
	/* the first bytes are enough to tell that most other datagrams are not IPoIB's */
	if (run->len < sizeof(front) || run->len > sizeof(s->bounce) || run->skip ||
	    payload_read(pl, 0, front, sizeof(front)) || !ip_front(front))
		return false;
	if (pl->mem) {
		if (payload_read(pl, 0, s->bounce, run->len))
			return false;
		pl->mem = NULL;
		pl->host = s->bounce;
	}
	return sums_ok(qp, pl->host, run->len);
}
