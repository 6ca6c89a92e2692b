// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Datagrams: their destinations, and how they are received.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "qp/complete.h"
#include "qp/counter.h"
#include "qp/offload.h"
#include "qp/path.h"
#include "qp/ud.h"
#include "qp/recv.h"
#include "qp/requester.h"
#include "qp/special.h"

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
	if (qp_is_special(qp))
		special_address(qp, w, run);
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
		if (!sgl_map(l, done, d->ready - done, seg, &nseg, PAYLOAD_SEGS)) {
			u64 n = sgl_write_checked(l, done, d->front + done, d->ready - done);

			if (!n)
				return false;
			done += n;
			continue;
		}
		for (u32 i = 0; i < nseg; i++) {
			if (dma_write(qp->dev->mem, seg[i].addr, d->front + done, seg[i].len))
				return false;
			done += seg[i].len;
		}
	}
	return true;
}

/*
 * Places the GRH, then the payload; without a GRH its bytes are left as they are.  False if
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

/*
 * Fields of the completion for a RoCEv2 frame: IP version, source address, and VLAN tag with the
 * priority.  A tag with VLAN 0 holds only a priority: the answer to the frame comes from a GID
 * without a VLAN.
 */
static void complete_eth(const struct wire_path *path, struct vhca_cqe *cqe)
{
	memcpy(cqe->smac, path->smac, sizeof(cqe->smac));
	cqe->flags |= path->ipv4 ? VHCA_CQE_F_IPV4 : 0;
	cqe->sl = path->vlan == WIRE_NO_TAG ? 0 : path->vlan >> ROCE_PRIO_SHIFT;
	if (roce_vlan(path->vlan) == WIRE_NO_TAG)
		return;
	cqe->flags |= VHCA_CQE_F_VLAN;
	cqe->vlan = htole16(path->vlan);
}

struct vhca_cqe ud_completion(const struct vport *p, const struct run *run)
{
	bool unicast = run->h.dlid < MLID_FIRST;
	struct vhca_cqe cqe = {
		.opcode = VHCA_CQE_RECV,
		.src_qpn = htole32(run->h.sqpn),
		.byte_len = htole32(WIRE_GRH_LEN + run->len),
		.imm = run->imm ? run->h.imm : 0,
		.flags = (run->imm ? VHCA_CQE_F_IMM : 0) | (run->h.grh ? VHCA_CQE_F_GRH : 0),
		.slid = htole16(run->h.slid),
		.sl = run->h.sl,
		.dlid_path_bits = unicast ? run->h.dlid & ((1u << p->fab.ib.lmc) - 1) : 0,
	};

	if (run->h.eth)
		complete_eth(&run->h.path, &cqe);
	return cqe;
}

void ud_deliver(struct vqp *qp, struct datagram *d, struct vhca_cqe *cqe)
{
	const struct run *run = d->run;
	struct recv_wqe *w = &qp_scratch(qp)->rx_wqe;
	struct sglist l = { .access = MKEY_WRITE_LOCAL,
			    .scope = qp_local_scope(qp, qp->recv.pd) };
	int st;

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
	/* the completion is used for all receivers of a group, one after another */
	cqe->more_flags = qp->flags & VHCA_QP_RX_CSUM && offload_checked(qp, d) ?
			  VHCA_CQE_X_CSUM_OK : 0;
	if (place(qp, d, &l)) {
		cqe->timestamp = 0;
		qp_complete_recv(qp, cqe, VHCA_CS_SUCCESS, run->h.se);
	} else if (!run->pl || !run->pl->fault) {
		qp_recv_error(qp, VHCA_CS_LOC_PROT_ERR);
	}
}

void ud_rx(struct vqp *qp, struct datagram *d, struct vhca_cqe *cqe)
{
	if (qp->state < QPS_RTR || qp->state == QPS_ERR || !rx_pkey_ok(qp, d->run))
		return;
	if (d->run->h.qkey != le32toh(qp->attr.qkey)) {
		qp_bad_qkey(qp, d->run);
		return;
	}
	cqe->pkey_index = qp->attr.pkey_index;
	ud_deliver(qp, d, cqe);
}
