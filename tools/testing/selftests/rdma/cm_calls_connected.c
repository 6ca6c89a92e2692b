// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Cases of cm_calls: connections whose QPs librdmacm takes through their states. */
#include "cm_calls.h"

/* Bytes of private data of a REQ, REP and REJ; a REQ has the addresses, too. */
#define REQ_DATA	56
#define REP_DATA	196
#define REJ_DATA	148

/* reasons of a REJ */
#define NO_SUCH_SERVICE	8
#define CONSUMER	28

static bool accepts(struct rdma_cm_id *listener)
{
	struct rdma_conn_param param = {
		.private_data = "and welcome", .private_data_len = 11, .responder_resources = 2,
		.initiator_depth = 1, .rnr_retry_count = 4,
	};
	struct rdma_conn_param *asked;
	struct rdma_cm_event *event;
	struct conn conn = {};

	event = next_event(listener->channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	REQUIRE(event && !event->status && event->listen_id == listener && event->id != listener);
	asked = &event->param.conn;
	REQUIRE(carried(asked->private_data, asked->private_data_len, "let me in", REQ_DATA));
	REQUIRE(asked->responder_resources == 2 && asked->initiator_depth == 3);
	REQUIRE(asked->retry_count == 5 && asked->rnr_retry_count == 6);
	conn.id = event->id;
	conn.channel = listener->channel;
	REQUIRE(rdma_get_src_port(conn.id) == rdma_get_src_port(listener));
	REQUIRE(port_of(rdma_get_peer_addr(conn.id)) == ntohs(rdma_get_dst_port(conn.id)));
	REQUIRE(conn.id->verbs && conn.id->ps == RDMA_PS_TCP);
	REQUIRE(!rdma_ack_cm_event(event) && conn_ready(&conn));
	REQUIRE(!rdma_accept(conn.id, &param));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_ESTABLISHED, 0));
	REQUIRE(conn_receive(&conn, 'a'));
	/* the id knows already that it is connected */
	REFUSED(rdma_notify(conn.id, IBV_EVENT_COMM_EST), EISCONN);
	REQUIRE(conn_send(&conn, 'n'));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_DISCONNECTED, 0));
	REQUIRE(!rdma_disconnect(conn.id));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0));
	rdma_destroy_qp(conn.id);
	REQUIRE(!conn.id->qp && !rdma_dereg_mr(conn.mr) && !rdma_destroy_id(conn.id));
	return true;
}

static bool connects(uint16_t port)
{
	struct rdma_conn_param param = {
		.private_data = "let me in", .private_data_len = 9, .responder_resources = 3,
		.initiator_depth = 2, .retry_count = 5, .rnr_retry_count = 6,
	};
	struct ibv_qp_init_attr init;
	struct rdma_conn_param *answer;
	struct rdma_cm_event *event;
	struct ibv_qp_attr attr;
	struct ibv_wc wc;
	struct conn conn;

	REQUIRE(conn_resolved(&conn, RDMA_PS_TCP, port) && conn_ready(&conn));
	REQUIRE(ntohs(rdma_get_dst_port(conn.id)) == port && rdma_get_src_port(conn.id));
	REQUIRE(!memcmp(rdma_get_peer_addr(conn.id), server_address(port),
			sizeof(struct sockaddr_in)));
	REQUIRE(((struct sockaddr_in *)rdma_get_local_addr(conn.id))->sin_addr.s_addr ==
		((struct sockaddr_in *)own_address())->sin_addr.s_addr);
	REQUIRE(!rdma_connect(conn.id, &param));
	event = next_event(conn.channel, RDMA_CM_EVENT_ESTABLISHED);
	REQUIRE(event && event->id == conn.id && !event->status);
	answer = &event->param.conn;
	REQUIRE(carried(answer->private_data, answer->private_data_len, "and welcome", REP_DATA));
	REQUIRE(answer->responder_resources == 1 && answer->initiator_depth == 2);
	REQUIRE(!rdma_ack_cm_event(event));
	REQUIRE(!ibv_query_qp(conn.id->qp, &attr, IBV_QP_STATE | IBV_QP_RNR_RETRY, &init));
	REQUIRE(attr.qp_state == IBV_QPS_RTS && attr.rnr_retry == 4);
	REQUIRE(conn_send(&conn, 'a') && conn_receive(&conn, 'n'));

	/* Disconnecting flushes the requests that are posted. */
	REQUIRE(!rdma_post_recv(conn.id, &conn, conn.data, sizeof(conn.data), conn.mr));
	REQUIRE(!rdma_disconnect(conn.id));
	REQUIRE(rdma_get_recv_comp(conn.id, &wc) == 1 && wc.status == IBV_WC_WR_FLUSH_ERR);
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_DISCONNECTED, 0));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_TIMEWAIT_EXIT, 0));
	conn_end(&conn);
	return true;
}

static bool rejects(struct rdma_cm_id *listener)
{
	struct conn conn;

	REQUIRE(conn_requested(&conn, listener));
	REQUIRE(!rdma_reject(conn.id, "rather not", 10));
	conn_end(&conn);
	return true;
}

static bool is_rejected(uint16_t port)
{
	struct rdma_conn_param param = {};
	struct rdma_cm_event *event;
	struct conn conn;

	REQUIRE(conn_resolved(&conn, RDMA_PS_TCP, port) && conn_ready(&conn));
	REQUIRE(!rdma_connect(conn.id, &param));
	event = next_event(conn.channel, RDMA_CM_EVENT_REJECTED);
	REQUIRE(event && event->status == CONSUMER);
	REQUIRE(carried(event->param.conn.private_data, event->param.conn.private_data_len,
			"rather not", REJ_DATA));
	REQUIRE(!rdma_ack_cm_event(event));
	conn_end(&conn);

	REQUIRE(conn_resolved(&conn, RDMA_PS_TCP, 7599) && conn_ready(&conn));
	REQUIRE(!rdma_connect(conn.id, &param));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_REJECTED, NO_SUCH_SERVICE));
	conn_end(&conn);
	return true;
}

static bool is_disconnected(struct rdma_cm_id *listener)
{
	struct conn conn;

	REQUIRE(conn_requested(&conn, listener) && conn_ready(&conn) && conn_accept(&conn, NULL));
	REQUIRE(conn_receive(&conn, 'd'));
	REQUIRE(!rdma_disconnect(conn.id));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_DISCONNECTED, 0));
	conn_end(&conn);
	return true;
}

static bool waits_for_the_end(uint16_t port)
{
	struct conn conn;

	REQUIRE(conn_resolved(&conn, RDMA_PS_TCP, port) && conn_ready(&conn));
	REQUIRE(conn_connect(&conn, NULL) && conn_send(&conn, 'd'));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_DISCONNECTED, 0));
	REQUIRE(!rdma_disconnect(conn.id));
	conn_end(&conn);
	return true;
}

/* The client's QP cannot change its state when the REP comes, so the client rejects. */
static bool is_refused(struct rdma_cm_id *listener)
{
	struct rdma_conn_param param = {};
	struct conn conn;

	REQUIRE(conn_requested(&conn, listener) && conn_ready(&conn));
	REQUIRE(!rdma_accept(conn.id, &param));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_REJECTED, CONSUMER));
	conn_end(&conn);
	return true;
}

static bool cannot_follow(uint16_t port)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct rdma_conn_param param = {};
	struct rdma_cm_event *event;
	struct conn conn;

	REQUIRE(conn_resolved(&conn, RDMA_PS_TCP, port) && conn_ready(&conn));
	REQUIRE(!rdma_connect(conn.id, &param));
	REQUIRE(!ibv_modify_qp(conn.id->qp, &attr, IBV_QP_STATE));
	event = next_event(conn.channel, RDMA_CM_EVENT_CONNECT_ERROR);
	REQUIRE(event && event->status);
	REQUIRE(!rdma_ack_cm_event(event));
	conn_end(&conn);
	return true;
}

/* A second port besides that of each case, for listeners that were moved before a request comes */
#define OTHER_PORT(port)	((port) + 100)

static bool moves(struct rdma_cm_id *listener)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	uint16_t port = OTHER_PORT(ntohs(rdma_get_src_port(listener)));
	struct conn moved, asks, conn;

	REQUIRE(channel && conn_new(&moved, RDMA_PS_TCP));
	REQUIRE(!rdma_bind_addr(moved.id, server_address(port)) && !rdma_listen(moved.id, 1));
	REQUIRE(!rdma_migrate_id(moved.id, channel) && moved.id->channel == channel);
	rdma_destroy_event_channel(moved.channel);
	moved.channel = channel;
	REQUIRE(conn_requested(&asks, listener) && !rdma_reject(asks.id, NULL, 0));
	conn_end(&asks);

	REQUIRE(conn_requested(&conn, moved.id) && conn_ready(&conn) && conn_accept(&conn, NULL));
	REQUIRE(conn_receive(&conn, 'm'));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_DISCONNECTED, 0));
	conn_end(&conn);
	conn_end(&moved);
	return true;
}

/* An unread event moves to the other channel with its id. */
static bool moves_with_events(uint16_t port)
{
	struct rdma_event_channel *before, *after = rdma_create_event_channel();
	struct pollfd ready = { .events = POLLIN };
	struct rdma_conn_param param = {};
	struct conn conn;

	REQUIRE(conn_resolved(&conn, RDMA_PS_TCP, port) && conn_ready(&conn));
	REQUIRE(!rdma_connect(conn.id, &param));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_REJECTED, CONSUMER));
	conn_end(&conn);

	REQUIRE(after && conn_new(&conn, RDMA_PS_TCP));
	REQUIRE(!rdma_resolve_addr(conn.id, own_address(), server_address(OTHER_PORT(port)),
				   60000));
	before = conn.channel;
	ready.fd = before->fd;
	REQUIRE(poll(&ready, 1, PATIENCE) == 1);
	REQUIRE(!rdma_migrate_id(conn.id, after) && !poll(&ready, 1, 0));
	conn.channel = after;
	REQUIRE(next_is(after, RDMA_CM_EVENT_ADDR_RESOLVED, 0));
	REQUIRE(!rdma_resolve_route(conn.id, 60000));
	REQUIRE(next_is(after, RDMA_CM_EVENT_ROUTE_RESOLVED, 0));
	REQUIRE(conn_ready(&conn) && conn_connect(&conn, NULL) && conn_send(&conn, 'm'));
	REQUIRE(!rdma_disconnect(conn.id));
	REQUIRE(next_is(after, RDMA_CM_EVENT_DISCONNECTED, 0));
	rdma_destroy_event_channel(before);
	conn_end(&conn);
	return true;
}

/* Without channels calls wait for their events themselves. */
static bool answers_at_once(struct rdma_cm_id *listener)
{
	struct conn conn;

	REQUIRE(conn_requested(&conn, listener) && conn_ready(&conn) && conn_accept(&conn, NULL));
	REQUIRE(conn_receive(&conn, 's') && conn_send(&conn, 't'));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_DISCONNECTED, 0));
	conn_end(&conn);
	return true;
}

static bool waits_in_calls(uint16_t port)
{
	struct ibv_qp_init_attr attr = {
		.cap = {
			.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1,
		},
	};
	struct rdma_addrinfo hints = { .ai_port_space = RDMA_PS_TCP }, *info;
	char node[INET_ADDRSTRLEN], service[8];
	struct conn conn = {};

	inet_ntop(AF_INET, &((struct sockaddr_in *)server_address(port))->sin_addr, node,
		  sizeof(node));
	snprintf(service, sizeof(service), "%u", port);
	REQUIRE(!rdma_getaddrinfo(node, service, &hints, &info));
	REQUIRE(info->ai_qp_type == IBV_QPT_RC && port_of(info->ai_dst_addr) == port);
	REQUIRE(!rdma_create_ep(&conn.id, info, NULL, &attr));
	rdma_freeaddrinfo(info);
	REQUIRE(conn.id->qp && conn_ready(&conn) && !rdma_connect(conn.id, NULL));
	REQUIRE(conn_send(&conn, 's') && conn_receive(&conn, 't'));
	REQUIRE(!rdma_disconnect(conn.id) && !rdma_dereg_mr(conn.mr));
	rdma_destroy_ep(conn.id);
	return true;
}

const struct cm_case connected_cases[] = {
	{ "a connection, from its request to the end of its TIMEWAIT",
	  RDMA_PS_TCP, accepts, connects },
	{ "a request that is rejected, and one that nobody hears",
	  RDMA_PS_TCP, rejects, is_rejected },
	{ "the server disconnects", RDMA_PS_TCP, is_disconnected, waits_for_the_end },
	{ "a QP that cannot follow: CONNECT_ERROR", RDMA_PS_TCP, is_refused, cannot_follow },
	{ "ids move to other channels", RDMA_PS_TCP, moves, moves_with_events },
	{ "calls that wait for their events", RDMA_PS_TCP, answers_at_once, waits_in_calls },
	{}
};
