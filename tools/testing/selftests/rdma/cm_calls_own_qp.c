// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Cases of cm_calls: ids without a QP, whose programs take one of their own through its states. */
#include "cm_calls.h"

/**
 * struct own_qp - a QP that its id does not have
 * @id: the id that connects it
 * @cq: for both of its queues
 * @qp: the QP
 * @mr: registers @data
 * @data: a message
 */
struct own_qp {
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	char data[MESSAGE];
};

static bool own_new(struct own_qp *own, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init = {
		.cap = {
			.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1,
		},
		.qp_type = IBV_QPT_RC,
	};

	own->id = id;
	own->cq = ibv_create_cq(id->verbs, 8, NULL, NULL, 0);
	REQUIRE(own->cq);
	init.send_cq = own->cq;
	init.recv_cq = own->cq;
	own->qp = ibv_create_qp(id->pd, &init);
	own->mr = rdma_reg_msgs(id, own->data, sizeof(own->data));
	REQUIRE(own->qp && own->mr);
	return true;
}

static bool own_modify(struct own_qp *own, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask;

	REQUIRE(!rdma_init_qp_attr(own->id, &attr, &mask));
	REQUIRE((mask & IBV_QP_STATE) && attr.qp_state == state);
	REQUIRE(!ibv_modify_qp(own->qp, &attr, mask));
	return true;
}

static bool own_rts(struct own_qp *own)
{
	return own_modify(own, IBV_QPS_INIT) && own_modify(own, IBV_QPS_RTR) &&
	       own_modify(own, IBV_QPS_RTS);
}

static bool own_receive(struct own_qp *own)
{
	struct ibv_sge sge = { (uintptr_t)own->data, sizeof(own->data), own->mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	REQUIRE(!ibv_post_recv(own->qp, &wr, &bad));
	return true;
}

static bool own_send(struct own_qp *own, char letter)
{
	struct ibv_sge sge = { (uintptr_t)own->data, sizeof(own->data), own->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED }, *bad;

	fill(own->data, letter);
	REQUIRE(!ibv_post_send(own->qp, &wr, &bad));
	return true;
}

static bool own_done(struct own_qp *own)
{
	struct ibv_wc wc = {};
	int n;

	do {
		n = ibv_poll_cq(own->cq, 1, &wc);
	} while (!n);
	REQUIRE(n == 1 && wc.status == IBV_WC_SUCCESS);
	return true;
}

static bool own_end(struct own_qp *own)
{
	REQUIRE(!ibv_destroy_qp(own->qp) && !ibv_destroy_cq(own->cq) && !ibv_dereg_mr(own->mr));
	return true;
}

static bool same_ece(struct rdma_cm_id *id, uint32_t vendor, uint32_t options)
{
	struct ibv_ece ece = {};

	REQUIRE(!rdma_get_remote_ece(id, &ece));
	REQUIRE(ece.vendor_id == vendor && ece.options == options);
	return true;
}

static bool accepts(struct rdma_cm_id *listener)
{
	struct ibv_ece ece = { .vendor_id = 0x1af4, .options = 0x5 };
	struct rdma_conn_param param = {
		.responder_resources = 1, .initiator_depth = 1, .rnr_retry_count = 7,
	};
	struct own_qp own = {};
	struct conn conn;

	REQUIRE(conn_requested(&conn, listener) && own_new(&own, conn.id));
	REQUIRE(same_ece(conn.id, 0x1af4, 0x7));
	REQUIRE(!rdma_set_local_ece(conn.id, &ece));
	REQUIRE(own_rts(&own) && own_receive(&own));
	param.qp_num = own.qp->qp_num;
	REQUIRE(!rdma_accept(conn.id, &param));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_ESTABLISHED, 0));
	REQUIRE(own_done(&own) && filled(own.data, 'o'));
	REQUIRE(own_send(&own, 'w') && own_done(&own));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_DISCONNECTED, 0));
	REQUIRE(own_end(&own));
	conn_end(&conn);
	return true;
}

/* Connects up to the server's answer, with ECE as requested. */
static bool answered(struct conn *conn, struct own_qp *own, uint16_t port)
{
	struct ibv_ece ece = { .vendor_id = 0x1af4, .options = 0x7 };
	struct rdma_conn_param param = {
		.responder_resources = 1, .initiator_depth = 1,
		.retry_count = 7, .rnr_retry_count = 7,
	};

	REQUIRE(conn_resolved(conn, RDMA_PS_TCP, port) && own_new(own, conn->id));
	REQUIRE(!rdma_set_local_ece(conn->id, &ece));
	param.qp_num = own->qp->qp_num;
	REQUIRE(!rdma_connect(conn->id, &param));
	REQUIRE(next_is(conn->channel, RDMA_CM_EVENT_CONNECT_RESPONSE, 0));
	REQUIRE(own_rts(own) && own_receive(own));
	return true;
}

static bool connects(uint16_t port)
{
	struct own_qp own = {};
	struct conn conn;

	REQUIRE(answered(&conn, &own, port) && same_ece(conn.id, 0x1af4, 0x5));
	REQUIRE(!rdma_establish(conn.id));
	REQUIRE(own_send(&own, 'o'));
	/* The answer lands in the same memory, after what was sent has been received. */
	REQUIRE(own_done(&own) && own_done(&own) && filled(own.data, 'w'));
	REQUIRE(!rdma_disconnect(conn.id));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_DISCONNECTED, 0));
	REQUIRE(own_end(&own));
	conn_end(&conn);
	return true;
}

/* Reads asynchronous events until the QP, which is in RTR, reports its first packet. */
static bool own_heard(struct own_qp *own)
{
	struct pollfd ready = { .fd = own->id->verbs->async_fd, .events = POLLIN };
	struct ibv_async_event event;
	bool heard;

	do {
		REQUIRE(poll(&ready, 1, PATIENCE) == 1);
		REQUIRE(!ibv_get_async_event(own->id->verbs, &event));
		heard = event.event_type == IBV_EVENT_COMM_EST && event.element.qp == own->qp;
		ibv_ack_async_event(&event);
	} while (!heard);
	return true;
}

/*
 * The first message comes before the RTU does: the QP's event reports it, and rdma_notify() passes
 * it to the CM.
 */
static bool is_notified(struct rdma_cm_id *listener)
{
	struct rdma_conn_param param = {
		.responder_resources = 1, .initiator_depth = 1, .rnr_retry_count = 7,
	};
	struct own_qp own = {};
	struct conn conn;

	REQUIRE(conn_requested(&conn, listener) && own_new(&own, conn.id));
	REQUIRE(own_modify(&own, IBV_QPS_INIT) && own_modify(&own, IBV_QPS_RTR));
	REQUIRE(own_receive(&own));
	param.qp_num = own.qp->qp_num;
	REQUIRE(!rdma_accept(conn.id, &param));
	REQUIRE(own_heard(&own));
	REQUIRE(!rdma_notify(conn.id, IBV_EVENT_COMM_EST));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_ESTABLISHED, 0));
	REQUIRE(own_done(&own) && filled(own.data, 'e') && own_modify(&own, IBV_QPS_RTS));
	REQUIRE(own_send(&own, 'f') && own_done(&own));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_DISCONNECTED, 0));
	REQUIRE(own_end(&own));
	conn_end(&conn);
	return true;
}

static bool is_early(uint16_t port)
{
	struct own_qp own = {};
	struct conn conn;

	REQUIRE(answered(&conn, &own, port));
	REQUIRE(own_send(&own, 'e') && own_done(&own) && own_done(&own) && filled(own.data, 'f'));
	REQUIRE(!rdma_establish(conn.id) && !rdma_disconnect(conn.id));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_DISCONNECTED, 0));
	REQUIRE(own_end(&own));
	conn_end(&conn);
	return true;
}

/* The QP attributes that an id returns before it connects, and after it was rejected. */
static bool serves_nobody(struct rdma_cm_id *listener)
{
	struct conn conn;

	REQUIRE(conn_requested(&conn, listener) && !rdma_reject(conn.id, NULL, 0));
	conn_end(&conn);
	return true;
}

static bool knows_no_peer(uint16_t port)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT };
	struct rdma_conn_param param = {};
	struct own_qp own = {};
	struct conn conn;
	int mask;

	REQUIRE(conn_resolved(&conn, RDMA_PS_TCP, port) && own_new(&own, conn.id));
	REQUIRE(!rdma_init_qp_attr(conn.id, &attr, &mask));
	REQUIRE(attr.port_num == conn.id->port_num && (mask & IBV_QP_PKEY_INDEX));
	REFUSED(rdma_establish(conn.id), EINVAL);
	param.qp_num = own.qp->qp_num;
	REQUIRE(!rdma_connect(conn.id, &param));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_REJECTED, 28));
	attr.qp_state = IBV_QPS_RTR;
	REFUSED(rdma_init_qp_attr(conn.id, &attr, &mask), EINVAL);
	REQUIRE(own_end(&own));
	conn_end(&conn);
	return true;
}

const struct cm_case own_qp_cases[] = {
	{ "QPs of the programs, ECE, CONNECT_RESPONSE", RDMA_PS_TCP, accepts, connects },
	{ "data before the RTU: the CM is notified", RDMA_PS_TCP, is_notified, is_early },
	{ "attributes of a connection that there is not",
	  RDMA_PS_TCP, serves_nobody, knows_no_peer },
	{}
};
