/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * For programs whose QPs are each other's peers: an open device, queue pairs of any type, messages
 * between them through the HCA, and TAP on stdout.
 */
#ifndef SELF_TALK_H
#define SELF_TALK_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

#define QKEY		0x1234
#define GRH		40
#define DEPTH		32

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_ah *self;		/* NULL where there are no datagrams */
static uint16_t own_lid;
static uint8_t memory[8192];		/* data come from the first half and go to the second */
static unsigned int points, bad;

static inline void must(bool good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(2);
}

static inline void point(bool good, const char *name)
{
	bad += !good;
	printf("%s %u - %s\n", good ? "ok" : "not ok", ++points, name);
}

static inline void open_hca(const char *name)
{
	struct ibv_ah_attr attr = { .port_num = 1 };
	struct ibv_port_attr port;

	context = open_device(name);
	must(context && !ibv_query_port(context, 1, &port), name);
	own_lid = port.lid;
	pd = ibv_alloc_pd(context);
	must(pd, "ibv_alloc_pd");
	mr = ibv_reg_mr(pd, memory, sizeof(memory),
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	must(mr, "ibv_reg_mr");
	attr.dlid = own_lid;
	self = ibv_create_ah(pd, &attr);
}

static inline void close_hca(void)
{
	must(!self || !ibv_destroy_ah(self), "ibv_destroy_ah");
	must(!ibv_dereg_mr(mr) && !ibv_dealloc_pd(pd) && !ibv_close_device(context), "the end");
}

static inline struct ibv_qp *make_qp(enum ibv_qp_type type, struct ibv_cq *cq,
				     struct ibv_srq *srq, uint32_t create_flags)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = type, .send_cq = cq, .recv_cq = cq, .srq = srq, .pd = pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     (create_flags ? IBV_QP_INIT_ATTR_CREATE_FLAGS : 0),
		.create_flags = create_flags,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = srq ? 0 : DEPTH,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};

	return ibv_create_qp_ex(context, &init);
}

/* From RESET to RTS; a UD QP ignores the peer. */
static inline void connect_qp(struct ibv_qp *qp, const struct ibv_qp *peer)
{
	bool ud = qp->qp_type == IBV_QPT_UD, rc = qp->qp_type == IBV_QPT_RC;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};

	must(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			    (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)), "INIT");
	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = peer->qp_num,
		.ah_attr = { .dlid = own_lid, .port_num = 1 }, .min_rnr_timer = 1,
		.max_dest_rd_atomic = 1,
	};
	must(!ibv_modify_qp(qp, &attr, IBV_QP_STATE |
			    (ud ? 0 : IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			     IBV_QP_RQ_PSN) |
			    (rc ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0)), "RTR");
	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7,
		.max_rd_atomic = 1,
	};
	must(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN |
			    (rc ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			     IBV_QP_MAX_QP_RD_ATOMIC : 0)), "RTS");
}

static inline enum ibv_qp_state state_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	must(!ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), "ibv_query_qp");
	return attr.qp_state;
}

/* Room for @len bytes behind a GRH; into the SRQ where there is one. */
static inline void post_recv(struct ibv_qp *qp, uint64_t wr_id, uint32_t len)
{
	struct ibv_sge sge = { (uintptr_t)memory + 4096, GRH + len, mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 }, *at;

	must(!(qp->srq ? ibv_post_srq_recv(qp->srq, &wr, &at) : ibv_post_recv(qp, &wr, &at)),
	     "post receive");
}

/* A UD QP sends to the address and number given. */
static inline void post_send(struct ibv_qp *qp, uint64_t wr_id, uint32_t len, struct ibv_ah *ah,
			     uint32_t qpn)
{
	struct ibv_sge sge = { (uintptr_t)memory, len, mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = wr_id, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	}, *at;

	if (qp->qp_type == IBV_QPT_UD) {
		wr.wr.ud.ah = ah;
		wr.wr.ud.remote_qpn = qpn;
		wr.wr.ud.remote_qkey = QKEY;
	}
	must(!ibv_post_send(qp, &wr, &at), "ibv_post_send");
}

/* Waits for the next completion; the lab ends a test that waits for ever. */
static inline struct ibv_wc complete(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(cq, 1, &wc)))
		;
	must(n == 1, "ibv_poll_cq");
	return wc;
}

#endif
