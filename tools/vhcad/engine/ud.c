// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Datagrams: where they go, and how they are received.
 */
#include <endian.h>
#include <errno.h>

#include "engine/core.h"
#include "engine/rc.h"

/* A work request with such a Q_Key sends that of its QP. */
#define QKEY_OF_QP	0x80000000u

int ud_address(struct vqp *qp, const struct tx_req *t, struct run *run)
{
	struct send_wqe *w = &qp->dev->engine->tx_wqe;
	int st = req_reload(qp, t, w);

	if (st)
		return st;
	av_path(&w->av, qp->port, &run->h);
	run->h.dqpn = w->dqpn;
	run->h.qkey = w->qkey & QKEY_OF_QP ? le32toh(qp->attr.qkey) : w->qkey;
	return VHCA_CS_SUCCESS;
}

/* Payload that goes to the receiver together with the GRH: one translation instead of two. */
#define TOGETHER	256u

/*
 * The GRH as it stood in the packet, then the payload; without a GRH its place is
 * left alone.  False if the receiver's list, or the sender's memory, fails.
 */
static bool place(struct vqp *qp, struct run *run, const struct sglist *l)
{
	u8 packet[WIRE_GRH_LEN + TOGETHER];
	u32 len = run->len > TOGETHER ? 0 : run->len;
	struct payload pl;
	struct run front = { .pl = &pl };
	struct wire_hdr h;

	pl.mem = NULL;
	pl.host = packet;
	pl.nseg = 0;
	pl.fault = false;
	if (run->h.grh) {
		run_pkt_hdr(run, 0, &h);
		wire_put_grh(&h, run->len, packet);
		if (len && payload_read(run->pl, run->skip, packet + WIRE_GRH_LEN, len))
			return false;
		if (resp_place(qp, &front, l, 0, WIRE_GRH_LEN + len) != WIRE_GRH_LEN + len)
			return false;
		if (len == run->len)
			return true;
	}
	return resp_place(qp, run, l, WIRE_GRH_LEN, run->len) == run->len;
}

static void arrived(struct vqp *qp, const struct run *run)
{
	struct vhca_cqe cqe = {
		.opcode = VHCA_CQE_RECV,
		.src_qpn = htole32(run->h.sqpn),
		.byte_len = htole32(WIRE_GRH_LEN + run->len),
		.imm = run->imm ? run->h.imm : 0,
		.flags = (run->imm ? VHCA_CQE_F_IMM : 0) | (run->h.grh ? VHCA_CQE_F_GRH : 0),
		.pkey_index = qp->attr.pkey_index,
		.slid = htole16(run->h.slid),
		.sl = run->h.sl,
	};

	qp_complete_recv(qp, &cqe, VHCA_CS_SUCCESS, run->h.se);
}

void ud_rx(struct vqp *qp, struct run *run)
{
	struct recv_wqe *w = &qp->dev->engine->rx_wqe;
	struct sglist l = { .access = MKEY_WRITE_LOCAL, .pd = qp->recv.pd };
	int st;

	if (qp->state < QPS_RTR || qp->state == QPS_ERR || !rx_pkey_ok(qp, run))
		return;
	if (run->h.qkey != le32toh(qp->attr.qkey)) {
		qp->port->count.qkey_violations++;
		return;
	}
	qp_count_rx(qp, run);
	st = recv_take(qp);
	if (st == -EAGAIN)
		qp->port->count.rx_no_receive++;
	if (st < 0)
		return;
	if (!st)
		st = recv_load(qp);
	if (st) {
		qp_recv_error(qp, st);
		return;
	}
	if (qp->recv.room < WIRE_GRH_LEN + run->len) {
		qp->port->count.rx_no_receive++;
		return;
	}
	l.sge = w->sge;
	l.n = w->nsge;
	if (place(qp, run, &l))
		arrived(qp, run);
	else if (!run->pl || !run->pl->fault)
		qp_recv_error(qp, VHCA_CS_LOC_PROT_ERR);
}
