// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Two adapters, paths that connections change, and events about connections. */
#include <errno.h>
#include <string.h>

#include "semantics.h"

/* ---- two adapters ---- */

static void between_two(long op)
{
	const bool imm = op == IBV_WR_RDMA_WRITE_WITH_IMM;
	struct pair p;

	PAIR(&p, .far = &hca[1]);
	memset(p.a.buf, 0x41, 5000);
	memset(p.b.buf, op == IBV_WR_RDMA_READ ? 0x42 : 0, 5000);
	if (op == IBV_WR_SEND || imm)
		RECV(&p.b, 21, 5000);
	IS(0, POST(&p.a, .op = op, .id = 1,
		   .len = op == IBV_WR_ATOMIC_FETCH_AND_ADD ? 8 : 5000, .to = &p.b, .add = 5));
	WC(p.a.scq, 1, SUCCESS);
	if (op == IBV_WR_SEND || imm)
		IS(5000, WC(p.b.rcq, 21, SUCCESS).byte_len);
	if (op == IBV_WR_SEND)
		IS(0x41, p.b.buf[32768 + 4999]);
	else if (op == IBV_WR_RDMA_READ)
		IS(0x42, p.a.buf[4999]);
	else if (op == IBV_WR_ATOMIC_FETCH_AND_ADD)
		IS(5, p.b.buf[0]);
	else
		IS(0x41, p.b.buf[4999]);
	round_trip(&p);
}

/* A key of one adapter is not valid in the other. */
static void key_of_the_other(long arg)
{
	struct ibv_mr *mr;
	struct pair p;

	(void)arg;
	PAIR(&p, .far = &hca[1]);
	mr = make_mr(p.a.h->pd, p.a.buf, BUF, ALL_RIGHTS);
	while (mr->rkey == p.b.mr->rkey)
		mr = make_mr(p.a.h->pd, p.a.buf, BUF, ALL_RIGHTS);
	IS(0, POST(&p.a, .op = IBV_WR_RDMA_WRITE, .id = 1, .len = 8,
		   .raddr = (uintptr_t)p.a.buf, .rkey = mr->rkey));
	WC(p.a.scq, 1, REM_ACCESS_ERR);
	EVENT(&hca[1], QP_ACCESS_ERR, p.b.qp);
	IS(IBV_QPS_ERR, state_of(p.b.qp));
}

static void datagram_between_two(long grh)
{
	struct ibv_ah *ah;
	struct ibv_wc wc;
	struct pair p;

	PAIR(&p, .far = &hca[1], .type = IBV_QPT_UD);
	ah = make_ah(&hca[0], &hca[1], grh);
	RECV(&p.b, 21, 100);
	IS(0, POST(&p.a, .op = IBV_WR_SEND, .id = 1, .len = 8, .ah = ah,
		   .qpn = p.b.qp->qp_num));
	WC(p.a.scq, 1, SUCCESS);
	wc = WC(p.b.rcq, 21, SUCCESS);
	IS(hca[0].port.lid, wc.slid);
	IS(grh ? IBV_WC_GRH : 0, wc.wc_flags);
}

/* A peer in the other adapter that was destroyed does not answer. */
static void other_is_gone(long arg)
{
	struct pair p;

	(void)arg;
	PAIR(&p, .far = &hca[1], .timeout = 8, .retry = 1);
	round_trip(&p);
	IS(0, end_of(p.b.qp));
	IS(0, POST(&p.a, .op = IBV_WR_RDMA_READ, .id = 1, .len = 8, .to = &p.b));
	WC(p.a.scq, 1, RETRY_EXC_ERR);
}

/* ---- other paths ---- */

static struct ibv_qp_attr query(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	IS(0, ibv_query_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PATH_MIG_STATE, &init));
	return attr;
}

/* A path by the second port of both adapters. */
static void load(struct end *e, const struct end *peer)
{
	struct ibv_qp_attr attr = {
		.path_mig_state = IBV_MIG_REARM, .alt_port_num = 2, .alt_timeout = 10,
		.alt_ah_attr = { .port_num = 2 },
	};
	struct ibv_port_attr port;

	IS(0, ibv_query_port(peer->h->ctx, 2, &port));
	attr.alt_ah_attr.dlid = port.lid;
	IS(0, ibv_modify_qp(e->qp, &attr, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE));
}

static void migrate(struct end *e)
{
	struct ibv_qp_attr attr = { .path_mig_state = IBV_MIG_MIGRATED };

	IS(0, ibv_modify_qp(e->qp, &attr, IBV_QP_PATH_MIG_STATE));
}

static void moved(struct end *e, uint8_t port)
{
	struct ibv_qp_attr attr = query(e->qp);

	IS(IBV_QPS_RTS, attr.qp_state);
	IS(IBV_MIG_MIGRATED, attr.path_mig_state);
	IS(port, attr.port_num);
}

static void armed_by_messages(struct pair *p)
{
	load(&p->a, &p->b);
	IS(IBV_MIG_REARM, query(p->a.qp).path_mig_state);
	load(&p->b, &p->a);
	round_trip(p);
	round_trip(p);
	IS(IBV_MIG_ARMED, query(p->a.qp).path_mig_state);
	IS(IBV_MIG_ARMED, query(p->b.qp).path_mig_state);
}

/* The end that is told to migrate does so at once; the other follows its first message. */
static void migration(long far)
{
	struct pair p;

	PAIR(&p, .far = &hca[far]);
	armed_by_messages(&p);
	migrate(&p.a);
	moved(&p.a, 2);
	round_trip(&p);
	EVENT(p.b.h, PATH_MIG, p.b.qp);
	moved(&p.b, 2);
	/* it is used up */
	IS(0, query(p.a.qp).alt_port_num);
}

/* A path that only one end has loaded is not armed: neither end migrates to it. */
static void one_end_alone(long arg)
{
	struct pair p;

	(void)arg;
	PAIR(&p, 0);
	load(&p.a, &p.b);
	round_trip(&p);
	round_trip(&p);
	IS(IBV_MIG_REARM, query(p.a.qp).path_mig_state);
	IS(IBV_MIG_MIGRATED, query(p.b.qp).path_mig_state);
	migrate(&p.a);
	moved(&p.a, 1);
	round_trip(&p);
}

/* An alternate path can be armed again when one has migrated, back to where it was. */
static void rearmed(long arg)
{
	struct ibv_qp_attr attr = {
		.path_mig_state = IBV_MIG_REARM, .alt_port_num = 1, .alt_timeout = 10,
		.alt_ah_attr = { .port_num = 1, .dlid = hca[0].port.lid },
	};
	struct pair p;

	(void)arg;
	PAIR(&p, 0);
	armed_by_messages(&p);
	migrate(&p.a);
	round_trip(&p);
	EVENT(p.b.h, PATH_MIG, p.b.qp);
	IS(0, ibv_modify_qp(p.a.qp, &attr, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE));
	IS(0, ibv_modify_qp(p.b.qp, &attr, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE));
	round_trip(&p);
	round_trip(&p);
	migrate(&p.b);
	round_trip(&p);
	EVENT(p.a.h, PATH_MIG, p.a.qp);
	moved(&p.a, 1);
	moved(&p.b, 1);
}

/* A connection without an alternate path cannot be armed. */
static void nothing_to_arm(long arg)
{
	struct ibv_qp_attr attr = { .path_mig_state = IBV_MIG_REARM };
	struct pair p;

	(void)arg;
	PAIR(&p, 0);
	IS(EINVAL, ibv_modify_qp(p.a.qp, &attr, IBV_QP_PATH_MIG_STATE));
	IS(IBV_MIG_MIGRATED, query(p.a.qp).path_mig_state);
}

/* A peer that migrates to a path which this end has not loaded only causes an event. */
static void another_path(long arg)
{
	struct ibv_qp_attr attr = {
		.path_mig_state = IBV_MIG_REARM, .alt_port_num = 2, .alt_timeout = 10,
		.alt_ah_attr = { .port_num = 2, .dlid = hca[0].port.lid },
	};
	struct ibv_qp_attr gone = { .qp_state = IBV_QPS_ERR };
	struct pair p;

	(void)arg;
	PAIR(&p, .timeout = 8, .retry = 1);
	load(&p.a, &p.b);
	/* from its second port to our first */
	IS(0, ibv_modify_qp(p.b.qp, &attr, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE));
	round_trip(&p);
	round_trip(&p);
	IS(IBV_MIG_ARMED, query(p.b.qp).path_mig_state);
	migrate(&p.a);
	RECV(&p.b, 21, 8);
	IS(0, POST(&p.a, .op = IBV_WR_SEND, .id = 1, .len = 8));
	EVENT(p.b.h, PATH_MIG_ERR, p.b.qp);
	IS(1, query(p.b.qp).port_num);
	WC(p.a.scq, 1, RETRY_EXC_ERR);
	NO_WC(p.b.rcq);
	/* each packet causes an event: those of the retries are left */
	IS(0, ibv_modify_qp(p.b.qp, &gone, IBV_QP_STATE));
	WC(p.b.rcq, 21, WR_FLUSH_ERR);
	IS(0, end_of(p.b.qp));
}

/* Both ends of a drained connection are taken to the other port, and then back to the first. */
static void other_port_in_sqd(long far)
{
	struct ibv_qp_attr drain = { .en_sqd_async_notify = 1 };
	struct ibv_port_attr port;
	struct pair p;

	PAIR(&p, .far = &hca[far]);
	IS(IBV_DEVICE_CHANGE_PHY_PORT,
	   p.a.h->attr.device_cap_flags & IBV_DEVICE_CHANGE_PHY_PORT);
	for (uint8_t to = 2; to; to--) {
		for (unsigned int i = 0; i < 2; i++) {
			struct end *e = i ? &p.b : &p.a, *peer = i ? &p.a : &p.b;
			struct ibv_qp_attr attr = { .port_num = to, .ah_attr.port_num = to };

			IS(0, go(e->qp, drain, IBV_QPS_SQD, IBV_QP_EN_SQD_ASYNC_NOTIFY));
			EVENT(e->h, SQ_DRAINED, e->qp);
			/* the port alone, without a path from it */
			IS(EINVAL, go(e->qp, attr, IBV_QPS_SQD, IBV_QP_PORT));
			IS(0, ibv_query_port(peer->h->ctx, to, &port));
			attr.ah_attr.dlid = port.lid;
			IS(0, go(e->qp, attr, IBV_QPS_SQD, IBV_QP_PORT | IBV_QP_AV));
			IS(0, go(e->qp, attr, IBV_QPS_RTS, 0));
			moved(e, to);
		}
		round_trip(&p);
	}
}

/* ---- events about connections ---- */

/* The first message to a QP that is not ready to send causes the event "established". */
static void communication_established(long arg)
{
	struct opts o = { 0 }, rtr = { .state = IBV_QPS_RTR };
	struct pair p;

	(void)arg;
	p.a = make_end(&hca[0], &o, NULL);
	p.b = make_end(&hca[0], &o, NULL);
	bring(&p.a, &p.b, &o);
	bring(&p.b, &p.a, &rtr);
	RECV(&p.b, 21, 8);
	RECV(&p.b, 22, 8);
	IS(0, POST(&p.a, .op = IBV_WR_SEND, .id = 1, .len = 8));
	WC(p.a.scq, 1, SUCCESS);
	EVENT(&hca[0], COMM_EST, p.b.qp);
	/* once */
	IS(0, POST(&p.a, .op = IBV_WR_SEND, .id = 2, .len = 8));
	WC(p.a.scq, 2, SUCCESS);
	WC(p.b.rcq, 21, SUCCESS);
	WC(p.b.rcq, 22, SUCCESS);
	IS(0, go(p.b.qp, path_attr(&p.b, &p.a, &o), IBV_QPS_RTS,
		 mask_of(IBV_QPT_RC, IBV_QPS_RTS)));
	round_trip(&p);
}

/* Destroying a QP removes its unread events, and waits for the acknowledgment of the others. */
static void events_of_what_is_gone(long arg)
{
	struct pair p;

	(void)arg;
	PAIR(&p, 0);
	IS(0, POST(&p.a, .op = IBV_WR_RDMA_WRITE, .id = 1, .len = 8, .to = &p.b,
		   .rkey = p.b.mr->rkey ^ 1));
	WC(p.a.scq, 1, REM_ACCESS_ERR);
	while (state_of(p.b.qp) != IBV_QPS_ERR)
		;
	IS(0, end_of(p.b.qp));
}

static const struct test tests[] = {
	{ "two adapters: SEND", between_two, IBV_WR_SEND },
	{ "two adapters: WRITE", between_two, IBV_WR_RDMA_WRITE },
	{ "two adapters: WRITE with immediate", between_two, IBV_WR_RDMA_WRITE_WITH_IMM },
	{ "two adapters: READ", between_two, IBV_WR_RDMA_READ },
	{ "two adapters: fetch and add", between_two, IBV_WR_ATOMIC_FETCH_AND_ADD },
	{ "two adapters: a key of the other one", key_of_the_other, 0 },
	{ "two adapters: a datagram", datagram_between_two, 0 },
	{ "two adapters: a datagram with GRH", datagram_between_two, 1 },
	{ "two adapters: the peer is gone", other_is_gone, 0 },
	{ "APM: migration", migration, 0 },
	{ "APM: migration between two adapters", migration, 1 },
	{ "APM: one end alone", one_end_alone, 0 },
	{ "APM: armed again", rearmed, 0 },
	{ "APM: nothing to arm", nothing_to_arm, 0 },
	{ "APM: along another path", another_path, 0 },
	{ "another port in SQD", other_port_in_sqd, 0 },
	{ "another port in SQD, of two adapters", other_port_in_sqd, 1 },
	{ "COMM_EST", communication_established, 0 },
	{ "events of a QP that is gone", events_of_what_is_gone, 0 },
};

const struct suite paths_suite = SUITE(tests);
