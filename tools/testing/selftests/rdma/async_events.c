// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * async_events DEVICE: causes each asynchronous event of queue pairs, completion queues and shared
 * receive queues that a program can cause, and reads it.  TAP; the two RC QPs of this program are
 * connected to each other.
 */
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

#define TIMEOUT_MS	20000
#define ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static uint16_t lid;
static uint8_t memory[4096];
static unsigned int points, bad;

struct pair {
	struct ibv_cq *cq, *small;
	struct ibv_srq *srq;
	struct ibv_qp *from, *to;
};

static void must(bool good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(2);
}

static void point(bool good, const char *name, const char *came)
{
	bad += !good;
	printf("%s %u - %s%s%s\n", good ? "ok" : "not ok", ++points, name, came ? ": got " : "",
	       came ? came : "");
}

static void modify(struct ibv_qp *qp, struct ibv_qp_attr attr, int mask, enum ibv_qp_state to)
{
	attr.qp_state = to;
	must(!ibv_modify_qp(qp, &attr, mask | IBV_QP_STATE), "ibv_modify_qp");
}

static void to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_READ };

	modify(qp, attr, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, IBV_QPS_INIT);
}

static void to_rtr(struct ibv_qp *qp, const struct ibv_qp *peer, unsigned int access)
{
	struct ibv_qp_attr attr = {
		.ah_attr = { .dlid = lid, .port_num = 1 }, .path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qp_num, .min_rnr_timer = 12, .max_dest_rd_atomic = 1,
		.qp_access_flags = access,
	};

	modify(qp, attr, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
	       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER | IBV_QP_ACCESS_FLAGS,
	       IBV_QPS_RTR);
}

static void to_rts(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .timeout = 14, .retry_cnt = 7, .rnr_retry = 7,
				    .max_rd_atomic = 1 };

	modify(qp, attr, IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
	       IBV_QP_MAX_QP_RD_ATOMIC, IBV_QPS_RTS);
}

static void post_recv(const struct pair *p)
{
	struct ibv_sge sge = { (uintptr_t)memory, 64, mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *at;

	must(!(p->srq ? ibv_post_srq_recv(p->srq, &wr, &at) : ibv_post_recv(p->to, &wr, &at)),
	     "post receive");
}

static void post_send(const struct pair *p, enum ibv_wr_opcode opcode, uint32_t rkey)
{
	struct ibv_sge sge = { (uintptr_t)memory + 1024, 16, mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = opcode,
				  .send_flags = IBV_SEND_SIGNALED }, *at;

	wr.wr.rdma.remote_addr = (uintptr_t)memory + 2048;
	wr.wr.rdma.rkey = rkey;
	must(!ibv_post_send(p->from, &wr, &at), "ibv_post_send");
}

/* A connected pair: the sender in RTS, the receiver in RTR with the rights in access. */
static struct pair make(bool srq, int small_cqe, unsigned int access)
{
	struct ibv_srq_init_attr srq_init = { .attr = { .max_wr = 16, .max_sge = 1 } };
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 16, .max_recv_wr = 16, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
	struct pair p = { .cq = ibv_create_cq(context, 64, NULL, NULL, 0) };

	must(p.cq, "ibv_create_cq");
	if (small_cqe) {
		p.small = ibv_create_cq(context, small_cqe, NULL, NULL, 0);
		must(p.small, "ibv_create_cq");
	}
	init.send_cq = p.cq;
	init.recv_cq = p.cq;
	p.from = ibv_create_qp(pd, &init);
	if (srq) {
		p.srq = ibv_create_srq(pd, &srq_init);
		must(p.srq, "ibv_create_srq");
		init.srq = p.srq;
	}
	init.recv_cq = p.small ? p.small : p.cq;
	p.to = ibv_create_qp(pd, &init);
	must(p.from && p.to, "ibv_create_qp");
	to_init(p.from);
	to_init(p.to);
	to_rtr(p.from, p.to, 0);
	to_rtr(p.to, p.from, access);
	to_rts(p.from);
	return p;
}

static void unmake(struct pair *p)
{
	must(!ibv_destroy_qp(p->from) && !ibv_destroy_qp(p->to), "ibv_destroy_qp");
	must(!p->srq || !ibv_destroy_srq(p->srq), "ibv_destroy_srq");
	must(!p->small || !ibv_destroy_cq(p->small), "ibv_destroy_cq");
	must(!ibv_destroy_cq(p->cq), "ibv_destroy_cq");
}

/* The next event must be of this type, for this object. */
static void expect(const char *name, enum ibv_event_type type, const void *object)
{
	struct pollfd pfd = { .fd = context->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	if (poll(&pfd, 1, TIMEOUT_MS) != 1) {
		point(false, name, "no event");
		return;
	}
	must(!ibv_get_async_event(context, &event), "ibv_get_async_event");
	/* all pointers of the union are at the same offset */
	if (event.event_type == type && event.element.qp == object)
		point(true, name, NULL);
	else
		point(false, name, event.event_type == type ? "another object's" :
		      ibv_event_type_str(event.event_type));
	ibv_ack_async_event(&event);
}

static void quiet(const char *name)
{
	struct pollfd pfd = { .fd = context->async_fd, .events = POLLIN };

	point(poll(&pfd, 1, 0) == 0, name, NULL);
}

static enum ibv_wc_status complete(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(cq, 1, &wc)))
		;
	must(n == 1, "ibv_poll_cq");
	return wc.status;
}

static void communication(void)
{
	struct pair p = make(false, 0, 0);

	post_recv(&p);
	post_send(&p, IBV_WR_SEND, 0);
	expect("communication established", IBV_EVENT_COMM_EST, p.to);
	unmake(&p);
}

static void drained(void)
{
	struct ibv_qp_attr attr = { .en_sqd_async_notify = 1 };
	struct pair p = make(false, 0, 0);

	modify(p.from, attr, IBV_QP_EN_SQD_ASYNC_NOTIFY, IBV_QPS_SQD);
	expect("send queue drained", IBV_EVENT_SQ_DRAINED, p.from);
	unmake(&p);
}

static void access_errors(void)
{
	struct pair p = make(false, 0, IBV_ACCESS_REMOTE_WRITE);

	to_rts(p.to);
	post_send(&p, IBV_WR_RDMA_WRITE, mr->rkey ^ 0x100);
	point(complete(p.cq) == IBV_WC_REM_ACCESS_ERR, "a write with a bad key is refused", NULL);
	expect("and its responder had an access error", IBV_EVENT_QP_ACCESS_ERR, p.to);
	unmake(&p);

	p = make(false, 0, 0);
	to_rts(p.to);
	post_send(&p, IBV_WR_RDMA_WRITE, mr->rkey);
	point(complete(p.cq) == IBV_WC_REM_INV_REQ_ERR,
	      "a write that the QP does not allow is, too", NULL);
	expect("and its responder had a request error", IBV_EVENT_QP_REQ_ERR, p.to);
	unmake(&p);
}

/* A CQ of the smallest size gets one completion more than it has room for. */
static void overrun(void)
{
	struct pair p = make(false, 1, 0);
	int room = p.small->cqe;

	to_rts(p.to);
	for (int i = 0; i < room + 1; i++) {
		post_recv(&p);
		post_send(&p, IBV_WR_SEND, 0);
		complete(p.cq);
	}
	expect("completion queue overrun", IBV_EVENT_CQ_ERR, p.small);
	expect("and the QP that had no room", IBV_EVENT_QP_FATAL, p.to);
	unmake(&p);
}

static void shared_receives(void)
{
	struct ibv_srq_attr attr = { .srq_limit = 3 };
	struct ibv_qp_attr none = {};
	struct pair p = make(true, 0, 0);

	to_rts(p.to);
	for (int i = 0; i < 4; i++)
		post_recv(&p);
	must(!ibv_modify_srq(p.srq, &attr, IBV_SRQ_LIMIT), "ibv_modify_srq");
	post_send(&p, IBV_WR_SEND, 0);
	complete(p.cq);
	complete(p.cq);
	quiet("as many receives left as the limit: no event");
	post_send(&p, IBV_WR_SEND, 0);
	expect("fewer: the limit is reached", IBV_EVENT_SRQ_LIMIT_REACHED, p.srq);
	post_send(&p, IBV_WR_SEND, 0);
	for (int i = 0; i < 4; i++)
		complete(p.cq);
	quiet("once");
	must(!ibv_query_srq(p.srq, &attr) && !attr.srq_limit, "the limit is not armed any more");
	modify(p.to, none, 0, IBV_QPS_ERR);
	expect("last receive of a failed QP", IBV_EVENT_QP_LAST_WQE_REACHED, p.to);
	unmake(&p);
}

int main(int argc, char **argv)
{
	struct ibv_port_attr port;

	must(argc == 2, "the device's name");
	context = open_device(argv[1]);
	must(context && !ibv_query_port(context, 1, &port), "ibv_open_device");
	lid = port.lid;
	pd = ibv_alloc_pd(context);
	must(pd, "ibv_alloc_pd");
	mr = ibv_reg_mr(pd, memory, sizeof(memory), ACCESS);
	must(mr, "ibv_reg_mr");

	communication();
	drained();
	access_errors();
	overrun();
	shared_receives();
	quiet("no event is left over");
	must(!ibv_dereg_mr(mr) && !ibv_dealloc_pd(pd) && !ibv_close_device(context), "the end");
	return bad != 0;
}
