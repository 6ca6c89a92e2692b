// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Cases of cm_calls: single ids: addresses, ports, options, and refused calls. */
#include "cm_calls.h"

/* The last byte of an address in the servers' net that no host has */
#define NOBODY	250

/* Calls that an id refuses, since it is in the wrong state for them. */
static bool refuses(void)
{
	char words[57] = "";
	struct rdma_conn_param param = { .private_data = words, .private_data_len = sizeof(words) };
	struct conn conn;

	REQUIRE(conn_new(&conn, RDMA_PS_TCP));
	REFUSED(rdma_reject(conn.id, NULL, 0), EINVAL);
	REFUSED(rdma_disconnect(conn.id), EINVAL);
	REFUSED(rdma_notify(conn.id, IBV_EVENT_COMM_EST), EINVAL);
	REFUSED(rdma_set_option(conn.id, 77, 0, words, 1), ENOSYS);
	REFUSED(rdma_set_option(conn.id, RDMA_OPTION_ID, 77, words, 1), ENOSYS);
	REFUSED(rdma_set_option(conn.id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, words, 2), EINVAL);
	/* librdmacm itself takes some calls only of an id that has a device. */
	REQUIRE(!rdma_bind_addr(conn.id, own_address()) && conn.id->verbs);
	REFUSED(rdma_bind_addr(conn.id, own_address()), EINVAL);
	REFUSED(rdma_connect(conn.id, &param), EINVAL);
	REFUSED(rdma_accept(conn.id, &param), EINVAL);
	REFUSED(rdma_reject(conn.id, NULL, 0), EINVAL);
	REFUSED(rdma_disconnect(conn.id), EINVAL);
	REFUSED(rdma_notify(conn.id, IBV_EVENT_COMM_EST), EINVAL);
	conn_end(&conn);

	REQUIRE(conn_resolved(&conn, RDMA_PS_TCP, 7599) && conn_ready(&conn));
	/* more than a request has room for */
	REFUSED(rdma_connect(conn.id, &param), EINVAL);
	REFUSED(rdma_resolve_addr(conn.id, NULL, server_address(7599), 1000), EINVAL);
	REFUSED(rdma_resolve_route(conn.id, 1000), EINVAL);
	conn_end(&conn);
	return true;
}

static bool finds_nobody(void)
{
	struct sockaddr_in address = *(struct sockaddr_in *)own_address();
	struct rdma_cm_event *event;
	struct conn conn;

	REQUIRE(conn_new(&conn, RDMA_PS_TCP));
	((uint8_t *)&address.sin_addr)[3] = NOBODY;
	REQUIRE(!rdma_resolve_addr(conn.id, own_address(), (struct sockaddr *)&address, 1000));
	event = next_event(conn.channel, RDMA_CM_EVENT_ADDR_ERROR);
	REQUIRE(event && event->status < 0);
	REQUIRE(!rdma_ack_cm_event(event));
	conn_end(&conn);
	return true;
}

/* A native address to which the subnet manager has no path */
static bool finds_no_route(void)
{
	struct rdma_addrinfo hints = {
		.ai_flags = RAI_NUMERICHOST | RAI_FAMILY, .ai_family = AF_IB,
		.ai_port_space = RDMA_PS_IB,
	}, *info;
	struct rdma_cm_event *event;
	struct conn conn;

	REQUIRE(conn_new(&conn, RDMA_PS_IB));
	REQUIRE(!rdma_getaddrinfo("fe80::dead:beef", "7599", &hints, &info));
	REQUIRE(!rdma_resolve_addr(conn.id, NULL, info->ai_dst_addr, 1000));
	rdma_freeaddrinfo(info);
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_ADDR_RESOLVED, 0));
	REQUIRE(!rdma_resolve_route(conn.id, 5000));
	event = next_event(conn.channel, RDMA_CM_EVENT_ROUTE_ERROR);
	REQUIRE(event && event->status);
	REQUIRE(!rdma_ack_cm_event(event));
	conn_end(&conn);
	return true;
}

static int bind_to(struct rdma_cm_id *id, const char *address, uint16_t port)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons(port) };

	if (inet_pton(AF_INET, address, &four.sin_addr) == 1)
		return rdma_bind_addr(id, (struct sockaddr *)&four);
	inet_pton(AF_INET6, address, &six.sin6_addr);
	return rdma_bind_addr(id, (struct sockaddr *)&six);
}

static bool allows(struct rdma_cm_id *id, int option)
{
	int yes = 1;

	return !rdma_set_option(id, RDMA_OPTION_ID, option, &yes, sizeof(yes));
}

static bool shares_ports(void)
{
	struct sockaddr_in mine = *(struct sockaddr_in *)own_address();
	struct conn first, second, third;

	REQUIRE(conn_new(&first, RDMA_PS_TCP) && conn_new(&second, RDMA_PS_TCP) &&
		conn_new(&third, RDMA_PS_TCP));
	REQUIRE(!bind_to(first.id, "0.0.0.0", 0) && rdma_get_src_port(first.id));
	REFUSED(bind_to(second.id, "0.0.0.0", ntohs(rdma_get_src_port(first.id))),
		EADDRNOTAVAIL);
	REFUSED(bind_to(second.id, "192.0.2.1", 0), EADDRNOTAVAIL);
	/* One address is in use, so that a wildcard cannot be bound. */
	REQUIRE(!rdma_bind_addr(second.id, own_address()));
	mine.sin_port = rdma_get_src_port(second.id);
	REFUSED(rdma_bind_addr(third.id, (struct sockaddr *)&mine), EADDRINUSE);
	conn_end(&first);
	conn_end(&second);

	/* Ids that allow it share a port, but one that listens has it alone. */
	REQUIRE(conn_new(&first, RDMA_PS_TCP) && conn_new(&second, RDMA_PS_TCP));
	REQUIRE(allows(first.id, RDMA_OPTION_ID_REUSEADDR));
	REQUIRE(allows(second.id, RDMA_OPTION_ID_REUSEADDR));
	REQUIRE(!bind_to(first.id, "0.0.0.0", 7598) && !bind_to(second.id, "0.0.0.0", 7598));
	REFUSED(rdma_listen(first.id, 1), EADDRNOTAVAIL);
	conn_end(&second);
	REQUIRE(!rdma_listen(first.id, 1));
	REQUIRE(conn_new(&second, RDMA_PS_TCP) && allows(second.id, RDMA_OPTION_ID_REUSEADDR));
	REFUSED(bind_to(second.id, "0.0.0.0", 7598), EADDRNOTAVAIL);
	/* the same number in another port space is another port */
	conn_end(&third);
	REQUIRE(conn_new(&third, RDMA_PS_UDP));
	REQUIRE(!bind_to(third.id, "0.0.0.0", 7598) && !rdma_listen(third.id, 1));
	conn_end(&first);
	conn_end(&second);
	conn_end(&third);

	REQUIRE(conn_new(&first, RDMA_PS_TCP) && conn_new(&second, RDMA_PS_TCP));
	REQUIRE(allows(first.id, RDMA_OPTION_ID_AFONLY));
	REQUIRE(!bind_to(first.id, "::", 7597) && !rdma_listen(first.id, 1));
	REQUIRE(!bind_to(second.id, "0.0.0.0", 7597) && !rdma_listen(second.id, 1));
	conn_end(&first);
	conn_end(&second);
	return true;
}

static bool lists_devices(void)
{
	struct ibv_context **list;
	struct conn conn;
	int n = 0;

	list = rdma_get_devices(&n);
	REQUIRE(list && n == 1 && list[0] && !list[1]);
	REQUIRE(conn_new(&conn, RDMA_PS_TCP) && !rdma_bind_addr(conn.id, own_address()));
	REQUIRE(conn.id->verbs == list[0]);
	rdma_free_devices(list);
	conn_end(&conn);
	for (int i = RDMA_CM_EVENT_ADDR_RESOLVED; i <= RDMA_CM_EVENT_TIMEWAIT_EXIT; i++)
		REQUIRE(strncmp(rdma_event_str(i), "RDMA_CM_EVENT_", 14) == 0);
	return true;
}

/* Connections with options, over a route that the client has set. */
static bool accepts(struct rdma_cm_id *listener)
{
	struct conn conn;

	REQUIRE(conn_requested(&conn, listener) && conn_ready(&conn) && conn_accept(&conn, NULL));
	REQUIRE(conn_receive(&conn, 'p'));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_DISCONNECTED, 0));
	conn_end(&conn);
	return true;
}

static struct ibv_path_data path_of(const struct ibv_sa_path_rec *from)
{
	return (struct ibv_path_data) {
		.flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY |
			 IBV_PATH_FLAG_BIDIRECTIONAL,
		.path = {
			.dgid = from->dgid, .sgid = from->sgid,
			.dlid = from->dlid, .slid = from->slid,
			.reversible_numpath = 0x80 | 1, .pkey = from->pkey,
			.qosclass_sl = htobe16(from->sl),
			.mtu = 2 << 6 | from->mtu, .rate = 2 << 6 | from->rate,
			.packetlifetime = 2 << 6 | from->packet_life_time,
		},
	};
}

static int brings(struct rdma_cm_id *id, struct ibv_path_data *path, size_t len)
{
	return rdma_set_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, path, len);
}

static bool brings_its_route(uint16_t port)
{
	uint8_t tos = 8, ack_timeout = 17;
	struct ibv_qp_init_attr init;
	struct ibv_path_data path;
	struct ibv_qp_attr attr;
	struct conn conn;

	REQUIRE(conn_resolved(&conn, RDMA_PS_TCP, port));
	path = path_of(conn.id->route.path_rec);
	conn_end(&conn);

	REQUIRE(conn_new(&conn, RDMA_PS_TCP));
	REQUIRE(!rdma_set_option(conn.id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, sizeof(tos)));
	REQUIRE(!rdma_set_option(conn.id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &ack_timeout,
				 sizeof(ack_timeout)));
	REFUSED(brings(conn.id, &path, sizeof(path)), EINVAL);
	REQUIRE(!rdma_resolve_addr(conn.id, NULL, server_address(port), 5000));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_ADDR_RESOLVED, 0));
	REFUSED(brings(conn.id, &path, sizeof(path) - 1), EINVAL);
	REQUIRE(!brings(conn.id, &path, sizeof(path)));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_ROUTE_RESOLVED, 0));
	REQUIRE(conn_ready(&conn) && conn_connect(&conn, NULL));
	REQUIRE(!ibv_query_qp(conn.id->qp, &attr, IBV_QP_TIMEOUT | IBV_QP_AV, &init));
	REQUIRE(attr.timeout == ack_timeout && attr.ah_attr.dlid == ntohs(path.path.dlid));
	REQUIRE(conn_send(&conn, 'p') && !rdma_disconnect(conn.id));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_DISCONNECTED, 0));
	conn_end(&conn);
	return true;
}

/* An id that is destroyed while it waits for an answer */
static bool hears_of_nothing(struct rdma_cm_id *listener)
{
	struct conn conn;

	REQUIRE(conn_requested(&conn, listener));
	conn_end(&conn);
	return true;
}

static bool changes_its_mind(uint16_t port)
{
	struct rdma_conn_param param = {};
	struct conn conn;

	REQUIRE(conn_new(&conn, RDMA_PS_TCP));
	REQUIRE(!rdma_resolve_addr(conn.id, NULL, server_address(port), 5000));
	conn_end(&conn);
	/* A request that is not answered is rejected when its id is destroyed. */
	REQUIRE(conn_resolved(&conn, RDMA_PS_TCP, port) && conn_ready(&conn));
	REQUIRE(!rdma_connect(conn.id, &param));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_REJECTED, 28));
	conn_end(&conn);
	return true;
}

/* Both sides do the same, each by itself. */
#define BOTH(what)							\
	static bool what##_server(struct rdma_cm_id *listener)		\
	{								\
		(void)listener;						\
		return what();						\
	}								\
	static bool what##_client(uint16_t port)			\
	{								\
		(void)port;						\
		return what();						\
	}

BOTH(refuses)
BOTH(finds_nobody)
BOTH(finds_no_route)
BOTH(shares_ports)
BOTH(lists_devices)

const struct cm_case id_cases[] = {
	{ "calls that do not belong where they are made",
	  RDMA_PS_TCP, refuses_server, refuses_client },
	{ "an address that nobody has", RDMA_PS_TCP, finds_nobody_server, finds_nobody_client },
	{ "ports, REUSEADDR, AFONLY", RDMA_PS_TCP, shares_ports_server, shares_ports_client },
	{ "devices and the names of events",
	  RDMA_PS_TCP, lists_devices_server, lists_devices_client },
	{ "ids that are destroyed under way", RDMA_PS_TCP, hears_of_nothing, changes_its_mind },
	{}
};

const struct cm_case ib_id_cases[] = {
	{ "a GID to which no route leads",
	  RDMA_PS_TCP, finds_no_route_server, finds_no_route_client },
	{ "TOS, ACK_TIMEOUT, IB_PATH", RDMA_PS_TCP, accepts, brings_its_route },
	{}
};
