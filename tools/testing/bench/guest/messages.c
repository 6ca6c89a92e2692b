// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * messages DEVICE GID-INDEX: what messages cost, in instructions of a guest that runs with
 * --icount. Both queue pairs are this program's, so that it executes the work of both sides; it
 * waits for one event for each message, behind which all of it has been done. Lines are those of
 * samples.h.
 */
#define _GNU_SOURCE
#include <infiniband/verbs.h>
#include <stdbool.h>

#include "samples.h"

#define SHORT	64
#define LONG	65536
#define GRH	40
#define QKEY	0x1234

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_cq *send_cq, *recv_cq;
static struct ibv_comp_channel *channel;
static struct ibv_ah *ah;
static struct ibv_ah_attr path;
static struct { char out[LONG], in[GRH + LONG]; } *memory;

static void open_device(const char *name, int gid_index)
{
	struct ibv_device **list = must(ibv_get_device_list(NULL), "ibv_get_device_list"), **one;
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

	for (one = list; *one && strcmp(ibv_get_device_name(*one), name); one++)
		;
	context = must(*one ? ibv_open_device(*one) : NULL, name);
	ibv_free_device_list(list);
	path = (struct ibv_ah_attr) {
		.port_num = 1, .is_global = 1, .grh = { .sgid_index = gid_index, .hop_limit = 64 },
	};
	must_not(ibv_query_gid(context, 1, gid_index, &path.grh.dgid), "ibv_query_gid");
	pd = must(ibv_alloc_pd(context), "ibv_alloc_pd");
	memory = must(aligned_alloc(4096, sizeof(*memory) + 4096 - GRH), "aligned_alloc");
	memset(memory, 1, sizeof(*memory));
	mr = must(ibv_reg_mr(pd, memory, sizeof(*memory), access), "ibv_reg_mr");
	channel = must(ibv_create_comp_channel(context), "ibv_create_comp_channel");
	send_cq = must(ibv_create_cq(context, 16, NULL, channel, 0), "ibv_create_cq");
	recv_cq = must(ibv_create_cq(context, 16, NULL, channel, 0), "ibv_create_cq");
	ah = must(ibv_create_ah(pd, &path), "ibv_create_ah");
}

static struct ibv_qp *make_qp(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {
		.send_cq = send_cq, .recv_cq = recv_cq, .qp_type = type,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	return must(ibv_create_qp(pd, &init), "ibv_create_qp");
}

static void connect_qp(struct ibv_qp *qp, const struct ibv_qp *peer)
{
	bool ud = qp->qp_type == IBV_QPT_UD;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
	};

	must_not(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			       (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)), "INIT");
	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = peer->qp_num,
		.ah_attr = path, .min_rnr_timer = 12, .max_dest_rd_atomic = 1,
	};
	must_not(ibv_modify_qp(qp, &attr, IBV_QP_STATE |
			       (ud ? 0 : IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				IBV_QP_MIN_RNR_TIMER)), "RTR");
	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTS, .timeout = 20, .retry_cnt = 7, .rnr_retry = 7,
		.max_rd_atomic = 1,
	};
	must_not(ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN |
			       (ud ? 0 : IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				IBV_QP_MAX_QP_RD_ATOMIC)), "RTS");
}

static void await(struct ibv_cq *cq)
{
	struct ibv_cq *of;
	void *unused;

	must_not(ibv_get_cq_event(channel, &of, &unused), "ibv_get_cq_event");
	if (of != cq)
		die("an event of another CQ");
	ibv_ack_cq_events(of, 1);
}

static void take(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	if (ibv_poll_cq(cq, 1, &wc) != 1)
		die("no completion");
	if (wc.status != IBV_WC_SUCCESS)
		die(ibv_wc_status_str(wc.status));
}

static void message(struct ibv_qp *from, struct ibv_qp *to, enum ibv_wr_opcode opcode, uint32_t len)
{
	struct ibv_sge out = { (uintptr_t)memory->out, len, mr->lkey };
	struct ibv_sge in = { (uintptr_t)memory->in, sizeof(memory->in), mr->lkey };
	struct ibv_recv_wr receive = { .sg_list = &in, .num_sge = 1 }, *bad_receive;
	struct ibv_cq *last;
	struct ibv_send_wr send = {
		.sg_list = &out, .num_sge = 1, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED,
	}, *bad;

	if (from->qp_type == IBV_QPT_UD) {
		send.wr.ud.ah = ah;
		send.wr.ud.remote_qpn = to->qp_num;
		send.wr.ud.remote_qkey = QKEY;
	} else if (opcode != IBV_WR_SEND) {
		send.wr.rdma.remote_addr = in.addr;
		send.wr.rdma.rkey = mr->rkey;
	}
	/* the last to complete: a datagram has been sent before it is received */
	last = from->qp_type == IBV_QPT_UD ? recv_cq : send_cq;
	must_not(ibv_req_notify_cq(last, 0), "ibv_req_notify_cq");
	if (opcode == IBV_WR_SEND)
		must_not(ibv_post_recv(to, &receive, &bad_receive), "ibv_post_recv");
	must_not(ibv_post_send(from, &send, &bad), "ibv_post_send");
	await(last);
	take(send_cq);
	if (opcode == IBV_WR_SEND)
		take(recv_cq);
}

static void measure(const char *name, struct ibv_qp **pair, enum ibv_wr_opcode opcode, uint32_t len)
{
	for (int i = 0; i < WARM_UP + RUNS; i++) {
		struct count since = now();

		message(pair[0], pair[1], opcode, len);
		if (i >= WARM_UP)
			add_since(since, RUNS);
	}
	print_samples(name);
}

int main(int argc, char **argv)
{
	struct ibv_qp *rc[2], *ud[2];

	if (argc != 3) {
		fprintf(stderr, "messages DEVICE GID-INDEX\n");
		return 2;
	}
	open_device(argv[1], atoi(argv[2]));
	for (int i = 0; i < 2; i++) {
		rc[i] = make_qp(IBV_QPT_RC);
		ud[i] = make_qp(IBV_QPT_UD);
	}
	for (int i = 0; i < 2; i++) {
		connect_qp(rc[i], rc[!i]);
		connect_qp(ud[i], ud[!i]);
	}
	measure("rc_send", rc, IBV_WR_SEND, SHORT);
	measure("rc_send_64k", rc, IBV_WR_SEND, LONG);
	measure("rc_write", rc, IBV_WR_RDMA_WRITE, SHORT);
	measure("rc_read", rc, IBV_WR_RDMA_READ, SHORT);
	measure("ud_send", ud, IBV_WR_SEND, SHORT);
	return 0;
}
