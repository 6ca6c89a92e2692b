// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cm_calls names ib|eth: the cases for such ports, a line for each: its number and its name.
 * cm_calls server|client OWN SERVER CASE: one side of the case with this number. Cases test
 * librdmacm's calls and the events of connections between two guests, whose addresses are OWN and
 * SERVER.
 */
#include "cm_calls.h"

#define FIRST_PORT	7600
#define CASE_TIME	200	/* s; longer than an event is waited for */

/* The cases, and the link layer of the ports that they are for, unless they are for all */
static const struct {
	const struct cm_case *cases;
	const char *link;
} lists[] = {
	{ connected_cases, NULL }, { own_qp_cases, NULL }, { datagram_cases, NULL },
	{ id_cases, NULL },
	{ ib_datagram_cases, "ib" }, { ib_id_cases, "ib" }, { roce_cases, "eth" },
};

/* Addresses of both families, whose ports are at the same offset. */
static union {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
} own, server;

struct sockaddr *server_address(uint16_t port)
{
	server.in.sin_port = htons(port);
	return &server.any;
}

struct sockaddr *own_address(void)
{
	return &own.any;
}

uint16_t port_of(const struct sockaddr *address)
{
	return ntohs(((const struct sockaddr_in *)address)->sin_port);
}

struct rdma_cm_event *next_event(struct rdma_event_channel *channel, enum rdma_cm_event_type type)
{
	struct pollfd ready = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	if (poll(&ready, 1, PATIENCE) != 1) {
		printf("# %s: no event at all\n", rdma_event_str(type));
		return NULL;
	}
	if (rdma_get_cm_event(channel, &event)) {
		printf("# %s: %s\n", rdma_event_str(type), strerror(errno));
		return NULL;
	}
	if (event->event == type)
		return event;
	printf("# not %s but %s, status %d\n", rdma_event_str(type), rdma_event_str(event->event),
	       event->status);
	rdma_ack_cm_event(event);
	return NULL;
}

bool next_is(struct rdma_event_channel *channel, enum rdma_cm_event_type type, int status)
{
	struct rdma_cm_event *event = next_event(channel, type);

	if (!event)
		return false;
	if (event->status != status)
		printf("# %s: status %d, not %d\n", rdma_event_str(type), event->status, status);
	status -= event->status;
	return !rdma_ack_cm_event(event) && !status;
}

bool conn_new(struct conn *conn, enum rdma_port_space space)
{
	memset(conn, 0, sizeof(*conn));
	conn->channel = rdma_create_event_channel();
	REQUIRE(conn->channel);
	REQUIRE(!rdma_create_id(conn->channel, &conn->id, conn, space));
	REQUIRE(conn->id->context == conn && conn->id->ps == space);
	return true;
}

bool conn_resolved(struct conn *conn, enum rdma_port_space space, uint16_t port)
{
	REQUIRE(conn_new(conn, space));
	REQUIRE(!rdma_resolve_addr(conn->id, NULL, server_address(port), 60000));
	REQUIRE(next_is(conn->channel, RDMA_CM_EVENT_ADDR_RESOLVED, 0));
	REQUIRE(conn->id->verbs && conn->id->port_num == 1);
	REQUIRE(!rdma_resolve_route(conn->id, 60000));
	REQUIRE(next_is(conn->channel, RDMA_CM_EVENT_ROUTE_RESOLVED, 0));
	REQUIRE(conn->id->route.num_paths > 0);
	return true;
}

bool conn_requested(struct conn *conn, struct rdma_cm_id *listener)
{
	struct rdma_cm_event *event = next_event(listener->channel, RDMA_CM_EVENT_CONNECT_REQUEST);

	memset(conn, 0, sizeof(*conn));
	REQUIRE(event && event->listen_id == listener && event->id != listener);
	conn->id = event->id;
	conn->channel = rdma_create_event_channel();
	REQUIRE(conn->channel);
	rdma_ack_cm_event(event);
	REQUIRE(!rdma_migrate_id(conn->id, conn->channel));
	return true;
}

bool conn_ready(struct conn *conn)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = conn->id->ps == RDMA_PS_TCP ? IBV_QPT_RC : IBV_QPT_UD,
	};

	if (!conn->id->qp)
		REQUIRE(!rdma_create_qp(conn->id, NULL, &attr));
	conn->mr = rdma_reg_msgs(conn->id, conn->data, sizeof(conn->data));
	REQUIRE(conn->mr);
	REQUIRE(!rdma_post_recv(conn->id, conn, conn->data, sizeof(conn->data), conn->mr));
	return true;
}

void fill(char *data, char letter)
{
	for (int i = 0; i < MESSAGE; i++)
		data[i] = letter + i % 13;
}

bool filled(const char *data, char letter)
{
	char expected[MESSAGE];

	fill(expected, letter);
	return !memcmp(data, expected, MESSAGE);
}

bool conn_send(struct conn *conn, char letter)
{
	char data[MESSAGE];
	struct ibv_mr *mr = rdma_reg_msgs(conn->id, data, sizeof(data));
	struct ibv_wc wc = {};

	fill(data, letter);
	REQUIRE(mr);
	REQUIRE(!rdma_post_send(conn->id, conn, data, sizeof(data), mr,
				IBV_SEND_SIGNALED));
	REQUIRE(rdma_get_send_comp(conn->id, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
	REQUIRE(!rdma_dereg_mr(mr));
	return true;
}

bool conn_receive(struct conn *conn, char letter)
{
	struct ibv_wc wc = {};

	REQUIRE(rdma_get_recv_comp(conn->id, &wc) == 1 && wc.status == IBV_WC_SUCCESS);
	REQUIRE(filled(conn->data + wc.byte_len - MESSAGE, letter));
	return true;
}

static struct rdma_conn_param parameters(const char *words)
{
	return (struct rdma_conn_param) {
		.private_data = words, .private_data_len = words ? strlen(words) : 0,
		.responder_resources = 1, .initiator_depth = 1,
		.retry_count = 7, .rnr_retry_count = 7,
	};
}

bool conn_connect(struct conn *conn, const char *words)
{
	struct rdma_conn_param param = parameters(words);

	REQUIRE(!rdma_connect(conn->id, &param));
	REQUIRE(next_is(conn->channel, RDMA_CM_EVENT_ESTABLISHED, 0));
	return true;
}

bool conn_accept(struct conn *conn, const char *words)
{
	struct rdma_conn_param param = parameters(words);

	REQUIRE(!rdma_accept(conn->id, &param));
	REQUIRE(next_is(conn->channel, RDMA_CM_EVENT_ESTABLISHED, 0));
	return true;
}

void conn_end(struct conn *conn)
{
	if (conn->id->qp)
		rdma_destroy_qp(conn->id);
	if (conn->mr)
		rdma_dereg_mr(conn->mr);
	rdma_destroy_id(conn->id);
	rdma_destroy_event_channel(conn->channel);
}

bool carried(const void *data, size_t len, const char *words, size_t max)
{
	const char *bytes = data;
	size_t i = strlen(words);

	REQUIRE(len == max && !memcmp(bytes, words, i));
	for (; i < len; i++)
		REQUIRE(!bytes[i]);
	return true;
}

static bool serve(const struct cm_case *one, uint16_t port)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;

	REQUIRE(channel && !rdma_create_id(channel, &id, NULL, one->space));
	REQUIRE(!rdma_bind_addr(id, server_address(port)) && !rdma_listen(id, 8));
	puts("# listens");
	REQUIRE(one->server(id));
	REQUIRE(!rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
	return true;
}

/* Parses an address into the member of its family. */
static bool read_address(const char *text, struct sockaddr_in *in, struct sockaddr_in6 *in6)
{
	if (inet_pton(AF_INET, text, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		return true;
	}
	in6->sin6_family = AF_INET6;
	return inet_pton(AF_INET6, text, &in6->sin6_addr) == 1;
}

int main(int argc, char **argv)
{
	const bool names = argc == 3 && !strcmp(argv[1], "names");
	const bool serves = argc == 5 && !strcmp(argv[1], "server");
	const int wanted = argc == 5 ? atoi(argv[4]) : 0;
	int n = 0;

	if (!names && (argc != 5 || (!serves && strcmp(argv[1], "client")) ||
		       !read_address(argv[2], &own.in, &own.in6) ||
		       !read_address(argv[3], &server.in, &server.in6))) {
		fprintf(stderr, "usage: cm_calls names ib|eth | server|client OWN SERVER CASE\n");
		return 2;
	}
	setlinebuf(stdout);
	/* A blocking call that nothing ends must not hold up the run of all cases. */
	alarm(CASE_TIME);
	for (unsigned int list = 0; list < sizeof(lists) / sizeof(lists[0]); list++) {
		const char *link = lists[list].link;

		for (const struct cm_case *one = lists[list].cases; one->name; one++) {
			n++;
			if (names && (!link || !strcmp(link, argv[2])))
				printf("%d %s\n", n, one->name);
			if (n == wanted)
				return serves ? !serve(one, FIRST_PORT + n) :
						!one->client(FIRST_PORT + n);
		}
	}
	return !names;
}
