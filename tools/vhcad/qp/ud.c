// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Datagrams: where they go, and how they are received.
 */
#include <endian.h>
#include <errno.h>

#include "qp/complete.h"
#include "qp/counter.h"
#include "qp/path.h"
#include "qp/ud.h"
#include "qp/recv.h"
#include "qp/requester.h"

/* A work request whose Q_Key has this bit set uses the Q_Key of its QP. */
#define QKEY_OF_QP	0x80000000u

int ud_address(struct vqp *qp, const struct tx_req *t, struct run *run)
{
	struct send_wqe *w = &qp_scratch(qp)->tx_wqe;
	int st = req_reload(qp, t, w);

	if (st)
		return st;
	av_path(&w->av, qp->port, &run->h.path);
	run->h.dqpn = w->dqpn;
	run->h.qkey = w->qkey & QKEY_OF_QP ? le32toh(qp->attr.qkey) : w->qkey;
	return VHCA_CS_SUCCESS;
}

static bool place_front(struct vqp *qp, const struct datagram *d, const struct sglist *l)
{
	u64 at = sgl_one(l, 0, d->ready);
	struct dma_seg seg[PAYLOAD_SEGS];
	u32 done = 0, nseg;

	if (at != SGL_NOT_ONE)
		return !dma_write(qp->dev->mem, at, d->front, d->ready);
	while (done < d->ready) {
		if (!sgl_map(l, done, d->ready - done, seg, &nseg, PAYLOAD_SEGS))
			return false;
		for (u32 i = 0; i < nseg; i++) {
			if (dma_write(qp->dev->mem, seg[i].addr, d->front + done, seg[i].len))
				return false;
			done += seg[i].len;
		}
	}
	return true;
}

/*
 * The GRH, then the payload; without a GRH its place is left alone.  False if
 * the receiver's list, or the sender's memory, fails.
 */
static bool place(struct vqp *qp, struct datagram *d, const struct sglist *l)
{
	const struct run *run = d->run;

	pieces_begin(qp->dev->adapter.worker);
	if (run->h.grh) {
		if (datagram_front(d) || !place_front(qp, d, l))
			return false;
		if (d->ready == WIRE_GRH_LEN + run->len)
			return true;
	}
	return payload_scatter(qp, run, l, WIRE_GRH_LEN, run->len) == run->len;
}

struct vhca_cqe ud_completion(const struct run *run)
{
	return (struct vhca_cqe){
		.opcode = VHCA_CQE_RECV,
		.src_qpn = htole32(run->h.sqpn),
		.byte_len = htole32(WIRE_GRH_LEN + run->len),
		.imm = run->imm ? run->h.imm : 0,
		.flags = (run->imm ? VHCA_CQE_F_IMM : 0) | (run->h.grh ? VHCA_CQE_F_GRH : 0),
		.slid = htole16(run->h.slid),
		.sl = run->h.sl,
	};
}

void ud_rx(struct vqp *qp, struct datagram *d, struct vhca_cqe *cqe)
{
	const struct run *run = d->run;
	struct recv_wqe *w = &qp_scratch(qp)->rx_wqe;
	struct sglist l = { .access = MKEY_WRITE_LOCAL,
			    .scope = qp_local_scope(qp, qp->recv.pd) };
	int st;

	if (qp->state < QPS_RTR || qp->state == QPS_ERR || !rx_pkey_ok(qp, run))
		return;
	if (run->h.qkey != le32toh(qp->attr.qkey)) {
		QP_COUNT(qp, qkey_violations, 1);
		return;
	}
	qp_count_rx(qp, run);
	st = recv_take(qp);
	if (st == -EAGAIN)
		QP_COUNT(qp, rx_no_receive, 1);
	if (st < 0)
		return;
	if (st) {
		qp_recv_error(qp, st);
		return;
	}
	if (qp->recv.room < WIRE_GRH_LEN + run->len) {
		QP_COUNT(qp, rx_no_receive, 1);
		return;
	}
	l.sge = w->sge;
	l.n = w->nsge;
	if (place(qp, d, &l)) {
		cqe->timestamp = 0;
		cqe->pkey_index = qp->attr.pkey_index;
		qp_complete_recv(qp, cqe, VHCA_CS_SUCCESS, run->h.se);
	} else if (!run->pl || !run->pl->fault) {
		qp_recv_error(qp, VHCA_CS_LOC_PROT_ERR);
	}
}
