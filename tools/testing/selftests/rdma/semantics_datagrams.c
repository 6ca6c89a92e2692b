// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Services without acknowledgments: datagrams, and unreliable connections. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "semantics.h"

/* ---- datagrams ---- */

static int datagram(struct pair *p, uint64_t id, uint32_t len, struct ibv_ah *ah)
{
	return POST(&p->a, .op = IBV_WR_SEND, .id = id, .len = len, .ah = ah,
		    .qpn = p->b.qp->qp_num);
}

static void ud_up(struct pair *p, struct ibv_ah **ah)
{
	PAIR(p, .type = IBV_QPT_UD);
	*ah = make_ah(p->a.h, p->b.h, false);
}

/* A message that is sent now arrives, which shows that the one before was lost. */
static void only_this_arrives(struct pair *p, struct ibv_ah *ah, uint64_t recv)
{
	struct ibv_wc wc;

	memset(p->a.buf, 0x3c, 16);
	IS(0, datagram(p, 60, 16, ah));
	WC(p->a.scq, 60, SUCCESS);
	wc = WC(p->b.rcq, recv, SUCCESS);
	IS(GRH + 16, wc.byte_len);
	IS(0x3c, p->b.buf[32768 + GRH]);
	NO_WC(p->b.rcq);
}

/* Data begins behind forty bytes for the GRH, with or without a GRH. */
static void grh(long with)
{
	struct ibv_ah *ah;
	union ibv_gid gid;
	struct ibv_wc wc;
	struct pair p;

	ud_up(&p, &ah);
	if (with)
		ah = make_ah(p.a.h, p.b.h, true);
	memset(p.b.buf, 0xcc, BUF);
	RECV(&p.b, 21, 200);
	p.a.buf[0] = 0x44;
	IS(0, POST(&p.a, .op = IBV_WR_SEND_WITH_IMM, .id = 1, .len = 100, .ah = ah, .imm = 9,
		   .qpn = p.b.qp->qp_num));
	WC(p.a.scq, 1, SUCCESS);
	wc = WC(p.b.rcq, 21, SUCCESS);
	IS(GRH + 100, wc.byte_len);
	IS(0x44, p.b.buf[32768 + GRH]);
	IS(0xcc, p.b.buf[32768 + GRH + 100]);
	IS(p.a.qp->qp_num, wc.src_qp);
	IS(p.b.qp->qp_num, wc.qp_num);
	IS(p.a.h->port.lid, wc.slid);
	IS(9, ntohl(wc.imm_data));
	IS(IBV_WC_WITH_IMM | (with ? IBV_WC_GRH : 0), wc.wc_flags);
	if (with) {
		IS(0, ibv_query_gid(p.a.h->ctx, 1, 0, &gid));
		/* version 6, class 5a; the sender's GID behind eight bytes */
		IS(0x65, p.b.buf[32768]);
		IS(0xa1, p.b.buf[32768 + 1]);
		IS(0, memcmp(p.b.buf + 32768 + 8, &gid, 16));
	}
}

/* A received datagram can be answered. */
static void answered(long with)
{
	struct ibv_ah_attr attr;
	struct ibv_ah *ah;
	struct ibv_wc wc;
	struct pair p;

	ud_up(&p, &ah);
	if (with)
		ah = make_ah(p.a.h, p.b.h, true);
	RECV(&p.b, 21, 200);
	IS(0, datagram(&p, 1, 8, ah));
	WC(p.a.scq, 1, SUCCESS);
	wc = WC(p.b.rcq, 21, SUCCESS);
	IS(0, ibv_init_ah_from_wc(p.b.h->ctx, 1, &wc, (struct ibv_grh *)(p.b.buf + 32768), &attr));
	IS(with, attr.is_global);
	IS(p.a.h->port.lid, attr.dlid);
	ah = ibv_create_ah(p.b.h->pd, &attr);
	IS(true, !!ah);
	RECV(&p.a, 11, 200);
	IS(0, POST(&p.b, .op = IBV_WR_SEND, .id = 2, .len = 8, .ah = ah, .qpn = wc.src_qp));
	WC(p.b.scq, 2, SUCCESS);
	WC(p.a.rcq, 11, SUCCESS);
	IS(0, ibv_destroy_ah(ah));
}

static void wrong_qkey(long arg)
{
	struct ibv_ah *ah;
	struct pair p;

	(void)arg;
	ud_up(&p, &ah);
	RECV(&p.b, 21, 200);
	IS(0, POST(&p.a, .op = IBV_WR_SEND, .id = 1, .len = 8, .ah = ah,
		   .qpn = p.b.qp->qp_num, .qkey = QKEY + 1));
	WC(p.a.scq, 1, SUCCESS);
	only_this_arrives(&p, ah, 21);
}

/* With the highest bit set, the sender's own Q_Key is sent. */
static void own_qkey(long arg)
{
	struct ibv_ah *ah;
	struct pair p;

	(void)arg;
	ud_up(&p, &ah);
	RECV(&p.b, 21, 200);
	IS(0, POST(&p.a, .op = IBV_WR_SEND, .id = 1, .len = 8, .ah = ah,
		   .qpn = p.b.qp->qp_num, .qkey = 0x80000000 | (QKEY + 1)));
	WC(p.a.scq, 1, SUCCESS);
	WC(p.b.rcq, 21, SUCCESS);
}

static void nobody_there(long arg)
{
	struct ibv_ah *ah;
	struct pair p;

	(void)arg;
	ud_up(&p, &ah);
	IS(0, POST(&p.a, .op = IBV_WR_SEND, .id = 1, .len = 8, .ah = ah, .qpn = 0xfffff0));
	WC(p.a.scq, 1, SUCCESS);
	IS(IBV_QPS_RTS, state_of(p.a.qp));
}

/* A datagram that finds no receive is lost, and the next one is not. */
static void no_receive(long type)
{
	struct ibv_ah *ah = NULL;
	struct pair p;

	PAIR(&p, .type = type);
	if (type == IBV_QPT_UD)
		ah = make_ah(p.a.h, p.b.h, false);
	memset(p.a.buf, 1, 8);
	IS(0, datagram(&p, 1, 8, ah));
	WC(p.a.scq, 1, SUCCESS);
	/* when the answer to another message has come, it must have been lost */
	RECV(&p.a, 11, 64);
	if (ah) {
		struct ibv_ah *back = make_ah(p.b.h, p.a.h, false);

		IS(0, POST(&p.b, .op = IBV_WR_SEND, .id = 2, .len = 8, .ah = back,
			   .qpn = p.a.qp->qp_num));
	} else {
		IS(0, POST(&p.b, .op = IBV_WR_SEND, .id = 2, .len = 8));
	}
	WC(p.b.scq, 2, SUCCESS);
	WC(p.a.rcq, 11, SUCCESS);
	RECV(&p.b, 21, 200);
	memset(p.a.buf, 2, 8);
	IS(0, datagram(&p, 3, 8, ah));
	WC(p.a.scq, 3, SUCCESS);
	WC(p.b.rcq, 21, SUCCESS);
	IS(2, p.b.buf[32768 + (ah ? GRH : 0)]);
	NO_WC(p.b.rcq);
}

/* A datagram has one packet at most. */
static void longest(long over)
{
	struct ibv_ah *ah;
	uint32_t mtu;
	struct pair p;

	ud_up(&p, &ah);
	mtu = 128U << p.a.h->port.active_mtu;
	RECV(&p.b, 21, mtu + GRH);
	IS(0, datagram(&p, 1, mtu + over, ah));
	if (!over) {
		WC(p.a.scq, 1, SUCCESS);
		IS(mtu + GRH, WC(p.b.rcq, 21, SUCCESS).byte_len);
		return;
	}
	WC(p.a.scq, 1, LOC_LEN_ERR);
	IS(IBV_QPS_SQE, state_of(p.a.qp));
	NO_WC(p.b.rcq);
}

/* A receive that is too short serves the next datagram: a sender cannot use receives up. */
static void too_long_for_its_receive(long arg)
{
	struct ibv_ah *ah;
	struct pair p;

	(void)arg;
	ud_up(&p, &ah);
	RECV(&p.b, 21, GRH + 16);
	IS(0, datagram(&p, 1, 17, ah));
	WC(p.a.scq, 1, SUCCESS);
	only_this_arrives(&p, ah, 21);
	IS(IBV_QPS_RTS, state_of(p.b.qp));
}

static void bad_destination(long arg)
{
	struct ibv_ah_attr attr = { .port_num = 1 };
	struct ibv_ah *ah, *other;
	struct pair p;

	(void)arg;
	ud_up(&p, &ah);
	attr.dlid = p.b.h->port.lid;
	other = ibv_create_ah(p.a.h->other_pd, &attr);
	IS(true, !!other);
	/* an address of another PD, and a QP that there cannot be */
	IS(EINVAL, datagram(&p, 1, 8, other));
	IS(0, ibv_destroy_ah(other));
	IS(EINVAL, POST(&p.a, .op = IBV_WR_SEND, .len = 8, .ah = ah, .qpn = 0x1000000));
	attr.port_num = p.a.h->attr.phys_port_cnt + 1;
	IS(1, !ibv_create_ah(p.a.h->pd, &attr));
	IS(EINVAL, errno);
}

/* An address of the other port: the QP sends only by its own, and the request fails. */
static void address_of_the_other_port(long arg)
{
	struct ibv_ah_attr attr = { .port_num = 2 };
	struct ibv_ah *ah, *other;
	struct pair p;

	(void)arg;
	ud_up(&p, &ah);
	IS(IBV_DEVICE_UD_AV_PORT_ENFORCE,
	   p.a.h->attr.device_cap_flags & IBV_DEVICE_UD_AV_PORT_ENFORCE);
	attr.dlid = p.b.h->port.lid;
	other = ibv_create_ah(p.a.h->pd, &attr);
	IS(true, !!other);
	RECV(&p.b, 21, 200);
	IS(0, datagram(&p, 1, 8, other));
	WC(p.a.scq, 1, LOC_QP_OP_ERR);
	IS(0, ibv_destroy_ah(other));
	IS(IBV_QPS_SQE, state_of(p.a.qp));
	IS(0, go(p.a.qp, (struct ibv_qp_attr) { 0 }, IBV_QPS_RTS, 0));
	only_this_arrives(&p, ah, 21);
}

/* ---- an error stops the sends and not the receives ---- */

static void sends_fail(long type)
{
	struct ibv_ah *ah = NULL, *back = NULL;
	struct pair p;

	PAIR(&p, .type = type);
	if (type == IBV_QPT_UD) {
		ah = make_ah(p.a.h, p.b.h, false);
		back = make_ah(p.b.h, p.a.h, false);
	}
	RECV(&p.a, 11, 64);
	RECV(&p.b, 21, 64);
	IS(0, POST(&p.a, .op = IBV_WR_SEND, .id = 1, .len = 8, .lkey = 0xffffff00, .ah = ah,
		   .qpn = p.b.qp->qp_num, .quiet = true));
	IS(0, POST(&p.a, .op = IBV_WR_SEND, .id = 2, .len = 8, .ah = ah,
		   .qpn = p.b.qp->qp_num));
	WC(p.a.scq, 1, LOC_PROT_ERR);
	WC(p.a.scq, 2, WR_FLUSH_ERR);
	IS(IBV_QPS_SQE, state_of(p.a.qp));
	/* receives go on */
	IS(0, POST(&p.b, .op = IBV_WR_SEND, .id = 3, .len = 8, .ah = back,
		   .qpn = p.a.qp->qp_num));
	WC(p.b.scq, 3, SUCCESS);
	WC(p.a.rcq, 11, SUCCESS);
	/* and so do sends, when the program says so */
	IS(0, POST(&p.a, .op = IBV_WR_SEND, .id = 4, .len = 8, .ah = ah,
		   .qpn = p.b.qp->qp_num));
	WC(p.a.scq, 4, WR_FLUSH_ERR);
	IS(0, go(p.a.qp, (struct ibv_qp_attr) { 0 }, IBV_QPS_RTS, 0));
	IS(0, POST(&p.a, .op = IBV_WR_SEND, .id = 5, .len = 8, .ah = ah,
		   .qpn = p.b.qp->qp_num));
	WC(p.a.scq, 5, SUCCESS);
	WC(p.b.rcq, 21, SUCCESS);
	NO_WC(p.b.rcq);
}

/* A receive whose own memory is bad is the receiver's fault. */
static void receive_fails(long type)
{
	struct ibv_ah *ah = NULL;
	struct pair p;

	PAIR(&p, .type = type);
	if (type == IBV_QPT_UD)
		ah = make_ah(p.a.h, p.b.h, false);
	IS(0, post_recv(&p.b, 21, 32768, 64, 0xffffff00));
	RECV(&p.b, 22, 64);
	IS(0, datagram(&p, 1, 8, ah));
	WC(p.a.scq, 1, SUCCESS);
	WC(p.b.rcq, 21, LOC_PROT_ERR);
	WC(p.b.rcq, 22, WR_FLUSH_ERR);
	IS(IBV_QPS_ERR, state_of(p.b.qp));
	IS(IBV_QPS_RTS, state_of(p.a.qp));
}

/* ---- unreliable connections ---- */

static void uc_data(long op)
{
	struct pair p;

	PAIR(&p, .type = IBV_QPT_UC);
	memset(p.a.buf, 0x2b, 4000);
	RECV(&p.b, 21, 4000);
	IS(0, POST(&p.a, .op = op, .id = 1, .len = 4000, .to = &p.b, .raddr = 32768, .imm = 4));
	WC(p.a.scq, 1, SUCCESS);
	if (op == IBV_WR_RDMA_WRITE)
		IS(0, POST(&p.a, .op = IBV_WR_SEND, .id = 2, .len = 4));
	WC(p.b.rcq, 21, SUCCESS);
	IS(0x2b, p.b.buf[32768 + 3999]);
}

enum uc_drop { NO_SUCH_KEY, NO_QP_RIGHT, BEYOND };

/* A WRITE without the right is dropped silently, and the QP goes on. */
static void uc_dropped(long why)
{
	struct pair p;

	PAIR(&p, .type = IBV_QPT_UC, .access = why == NO_QP_RIGHT ? NONE : 0);
	memset(p.a.buf, 0x2b, 64);
	RECV(&p.b, 21, 64);
	IS(0, POST(&p.a, .op = IBV_WR_RDMA_WRITE_WITH_IMM, .id = 1, .len = 64, .to = &p.b,
		   .raddr = why == BEYOND ? BUF - 8 : 0,
		   .rkey = why == NO_SUCH_KEY ? 0xffffff00 : 0));
	WC(p.a.scq, 1, SUCCESS);
	IS(0, POST(&p.a, .op = IBV_WR_SEND, .id = 2, .len = 8));
	WC(p.a.scq, 2, SUCCESS);
	IS(8, WC(p.b.rcq, 21, SUCCESS).byte_len);
	IS(0, p.b.buf[0]);
	IS(0, p.b.buf[BUF - 1]);
	IS(IBV_QPS_RTS, state_of(p.b.qp));
}

static const struct test tests[] = {
	{ "UD: data behind forty bytes", grh, 0 },
	{ "UD: a GRH", grh, 1 },
	{ "UD: an answer", answered, 0 },
	{ "UD: an answer with GRH", answered, 1 },
	{ "UD: a wrong Q_Key", wrong_qkey, 0 },
	{ "UD: the sender's own Q_Key", own_qkey, 0 },
	{ "UD: nobody is there", nobody_there, 0 },
	{ "UD: no receive", no_receive, IBV_QPT_UD },
	{ "UD: as long as the port's MTU", longest, 0 },
	{ "UD: longer than the port's MTU", longest, 1 },
	{ "UD: longer than its receive", too_long_for_its_receive, 0 },
	{ "UD: destinations that are refused", bad_destination, 0 },
	{ "UD: an address of the other port", address_of_the_other_port, 0 },
	{ "UD: SQE and back", sends_fail, IBV_QPT_UD },
	{ "UD: a receive that fails", receive_fails, IBV_QPT_UD },
	{ "UC: SEND", uc_data, IBV_WR_SEND },
	{ "UC: WRITE", uc_data, IBV_WR_RDMA_WRITE },
	{ "UC: WRITE with immediate", uc_data, IBV_WR_RDMA_WRITE_WITH_IMM },
	{ "UC: no receive", no_receive, IBV_QPT_UC },
	{ "UC: SQE and back", sends_fail, IBV_QPT_UC },
	{ "UC: a receive that fails", receive_fails, IBV_QPT_UC },
	{ "UC: a key of nothing is dropped", uc_dropped, NO_SUCH_KEY },
	{ "UC: what the QP does not allow is dropped", uc_dropped, NO_QP_RIGHT },
	{ "UC: what is behind the region is dropped", uc_dropped, BEYOND },
};

const struct suite datagrams_suite = SUITE(tests);
