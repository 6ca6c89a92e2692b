// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Cases of cm_calls: datagrams, whose service is looked up by SIDR, and multicast groups. */
#include "cm_calls.h"

/* Bytes of private data of a SIDR_REQ, which has the addresses, too, and of a SIDR_REP. */
#define SIDR_REQ_DATA	180
#define SIDR_REP_DATA	136

#define SIDR_UNSUPPORTED	1
#define SIDR_REJECT		2

#define ALL_QPS		0xffffff
#define GROUP		"239.7.7.7"

static bool accepts(struct rdma_cm_id *listener)
{
	struct rdma_conn_param param = { .private_data = "over there", .private_data_len = 10 };
	struct rdma_cm_event *event = next_event(listener->channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	struct conn conn = {};

	REQUIRE(event && event->listen_id == listener);
	REQUIRE(carried(event->param.ud.private_data, event->param.ud.private_data_len,
			"where", SIDR_REQ_DATA));
	conn.id = event->id;
	conn.channel = listener->channel;
	REQUIRE(conn.id->ps == RDMA_PS_UDP && !rdma_ack_cm_event(event));
	REQUIRE(conn_ready(&conn));
	param.qp_num = conn.id->qp->qp_num;
	REQUIRE(!rdma_accept(conn.id, &param));
	REQUIRE(conn_receive(&conn, 'u'));
	rdma_destroy_qp(conn.id);
	REQUIRE(!rdma_dereg_mr(conn.mr) && !rdma_destroy_id(conn.id));
	return true;
}

/* Sends a datagram to the destination in an event. */
static bool send_to(struct conn *conn, struct rdma_ud_param *where, char letter)
{
	struct ibv_ah *ah = ibv_create_ah(conn->id->pd, &where->ah_attr);
	struct ibv_wc wc = {};

	REQUIRE(ah);
	fill(conn->data, letter);
	REQUIRE(!rdma_post_ud_send(conn->id, conn, conn->data, MESSAGE, conn->mr, IBV_SEND_SIGNALED,
				   ah, where->qp_num));
	REQUIRE(rdma_get_send_comp(conn->id, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
	REQUIRE(!ibv_destroy_ah(ah));
	return true;
}

static bool looks_up(uint16_t port)
{
	struct rdma_conn_param param = { .private_data = "where", .private_data_len = 5 };
	struct rdma_cm_event *event;
	struct conn conn;

	REQUIRE(conn_resolved(&conn, RDMA_PS_UDP, port) && conn_ready(&conn));
	REQUIRE(!rdma_connect(conn.id, &param));
	event = next_event(conn.channel, RDMA_CM_EVENT_ESTABLISHED);
	REQUIRE(event && !event->status);
	REQUIRE(carried(event->param.ud.private_data, event->param.ud.private_data_len,
			"over there", SIDR_REP_DATA));
	REQUIRE(event->param.ud.qkey == RDMA_UDP_QKEY && event->param.ud.qp_num > 1);
	REQUIRE(send_to(&conn, &event->param.ud, 'u'));
	REQUIRE(!rdma_ack_cm_event(event));
	conn_end(&conn);
	return true;
}

static bool rejects(struct rdma_cm_id *listener)
{
	struct conn conn;

	REQUIRE(conn_requested(&conn, listener));
	REQUIRE(!rdma_reject(conn.id, "nowhere", 7));
	conn_end(&conn);
	return true;
}

static bool is_rejected(uint16_t port)
{
	struct rdma_conn_param param = {};
	struct conn conn;

	REQUIRE(conn_resolved(&conn, RDMA_PS_UDP, port) && conn_ready(&conn));
	REQUIRE(!rdma_connect(conn.id, &param));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_UNREACHABLE, SIDR_REJECT));
	conn_end(&conn);
	REQUIRE(conn_resolved(&conn, RDMA_PS_UDP, 7599) && conn_ready(&conn));
	REQUIRE(!rdma_connect(conn.id, &param));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_UNREACHABLE, SIDR_UNSUPPORTED));
	conn_end(&conn);
	return true;
}

static struct sockaddr *group(void)
{
	static struct sockaddr_in address = { .sin_family = AF_INET };

	inet_pton(AF_INET, GROUP, &address.sin_addr);
	return (struct sockaddr *)&address;
}

/* An id of datagrams on the device that has this node's address. */
static bool bound(struct conn *conn)
{
	REQUIRE(conn_new(conn, RDMA_PS_UDP));
	REQUIRE(!rdma_bind_addr(conn->id, own_address()) && conn->id->verbs);
	return conn_ready(conn);
}

/* Is it the address of a multicast group?  On Ethernet it has no LID. */
static bool leads_to_group(struct conn *conn, const struct ibv_ah_attr *where)
{
	struct ibv_port_attr port = {};

	REQUIRE(!ibv_query_port(conn->id->verbs, conn->id->port_num, &port));
	if (port.link_layer == IBV_LINK_LAYER_ETHERNET)
		return where->is_global && !where->dlid;
	return where->dlid >= 0xc000;
}

/* The event of a join that succeeded, or NULL. */
static struct rdma_cm_event *joined(struct conn *conn)
{
	struct rdma_cm_event *event = next_event(conn->channel, RDMA_CM_EVENT_MULTICAST_JOIN);

	if (event && !event->status && event->param.ud.private_data == conn &&
	    event->id == conn->id && event->param.ud.qp_num == ALL_QPS && event->param.ud.qkey &&
	    leads_to_group(conn, &event->param.ud.ah_attr))
		return event;
	printf("# the group is not joined\n");
	return NULL;
}

/*
 * Joins the group and then answers the client; receives the client's message by a QP that the
 * library has attached, and answers again.
 */
static bool is_member(struct rdma_cm_id *listener)
{
	struct conn member, asks;
	struct rdma_cm_event *event;

	REQUIRE(bound(&member) && !rdma_join_multicast(member.id, group(), &member));
	event = joined(&member);
	REQUIRE(event && !rdma_ack_cm_event(event));
	REQUIRE(conn_requested(&asks, listener) && !rdma_reject(asks.id, NULL, 0));
	conn_end(&asks);
	REQUIRE(conn_receive(&member, 'g'));
	REQUIRE(conn_requested(&asks, listener) && !rdma_reject(asks.id, NULL, 0));
	REQUIRE(!rdma_leave_multicast(member.id, group()));
	REFUSED(rdma_leave_multicast(member.id, group()), EADDRNOTAVAIL);
	conn_end(&asks);
	conn_end(&member);
	return true;
}

static bool sends_to_members(uint16_t port)
{
	struct rdma_cm_join_mc_attr_ex attr = {
		.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
		.join_flags = RDMA_MC_JOIN_FLAG_FULLMEMBER, .addr = group(),
	};
	struct pollfd answered = { .events = POLLIN };
	struct rdma_conn_param param = {};
	struct rdma_cm_event *event;
	struct conn conn, asks;
	int n;

	REQUIRE(conn_resolved(&asks, RDMA_PS_TCP, port) && conn_ready(&asks));
	REQUIRE(!rdma_connect(asks.id, &param));
	REQUIRE(next_is(asks.channel, RDMA_CM_EVENT_REJECTED, 28));
	conn_end(&asks);

	REQUIRE(bound(&conn) && !rdma_join_multicast_ex(conn.id, &attr, &conn));
	event = joined(&conn);
	REQUIRE(event);
	/*
	 * No event tells that the switches know the group: repeats until the server receives a
	 * message.
	 */
	REQUIRE(conn_resolved(&asks, RDMA_PS_TCP, port) && conn_ready(&asks));
	REQUIRE(!rdma_connect(asks.id, &param));
	answered.fd = asks.channel->fd;
	do {
		REQUIRE(send_to(&conn, &event->param.ud, 'g'));
		n = poll(&answered, 1, 100);
		REQUIRE(n >= 0);
	} while (!n);
	REQUIRE(next_is(asks.channel, RDMA_CM_EVENT_REJECTED, 28));
	conn_end(&asks);
	REQUIRE(!rdma_ack_cm_event(event));
	/* Destroying its id leaves the group, too. */
	conn_end(&conn);
	return true;
}

/* An MGID of the kind that the subnet manager chooses, but with another scope */
static bool joins_none(struct rdma_cm_id *listener)
{
	struct sockaddr_in6 reserved = { .sin6_family = AF_INET6 };
	struct rdma_cm_event *event;
	struct conn conn;

	(void)listener;
	inet_pton(AF_INET6, "ff12:a01b::77", &reserved.sin6_addr);
	REQUIRE(bound(&conn));
	REQUIRE(!rdma_join_multicast(conn.id, (struct sockaddr *)&reserved, &conn));
	event = next_event(conn.channel, RDMA_CM_EVENT_MULTICAST_ERROR);
	REQUIRE(event && event->status && event->param.ud.private_data == &conn);
	REQUIRE(!rdma_ack_cm_event(event));
	conn_end(&conn);
	return true;
}

static bool joins_none_either(uint16_t port)
{
	(void)port;
	return joins_none(NULL);
}

const struct cm_case datagram_cases[] = {
	{ "datagrams: a service is looked up", RDMA_PS_UDP, accepts, looks_up },
	{ "datagrams: a service that is refused, and one that nobody has",
	  RDMA_PS_UDP, rejects, is_rejected },
	{ "a multicast group", RDMA_PS_TCP, is_member, sends_to_members },
	{}
};

const struct cm_case ib_datagram_cases[] = {
	{ "a multicast group that is not to be had", RDMA_PS_TCP, joins_none, joins_none_either },
	{}
};
