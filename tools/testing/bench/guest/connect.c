// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * connect ADDRESS steps | established N | listening N: what connections cost, in instructions of a
 * guest that runs with --icount. The address is one of the guest's own, so that it executes the
 * work of both sides.
 *
 *   steps        a connection with its QPs, from the first id to the last, and its steps
 *   established  such a connection while FEW others stand, and while N do
 *   listening    a request and its refusal, while one id listens and while N do
 *
 * Lines are those of samples.h.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>

#include "samples.h"

#define FEW		10
#define PORT		7700
#define LISTEN_PORT	20000
#define PATIENCE	5000	/* ms */

/* One side's event channel, and a CQ that all of its QPs share. */
struct side {
	struct rdma_event_channel *channel;
	struct ibv_cq *cq;
};

struct connection {
	struct rdma_cm_id *active, *passive;
};

static struct side client, server;
static struct sockaddr_in address;

/* ---- connections ---- */

/* The next event of this type; events of connections that have ended are read and ignored. */
static struct rdma_cm_id *expect(struct side *side, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;

	for (;;) {
		enum rdma_cm_event_type got;
		struct rdma_cm_id *id;

		must_not(rdma_get_cm_event(side->channel, &event), "rdma_get_cm_event");
		got = event->event;
		id = event->id;
		if (got != type && got != RDMA_CM_EVENT_TIMEWAIT_EXIT)
			fprintf(stderr, "connect: %s, status %d\n", rdma_event_str(got),
				event->status);
		must_not(rdma_ack_cm_event(event), "rdma_ack_cm_event");
		if (got == type)
			return id;
		if (got != RDMA_CM_EVENT_TIMEWAIT_EXIT) {
			errno = EPROTO;
			die(rdma_event_str(type));
		}
	}
}

static void make_qp(struct side *side, struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	if (!side->cq)
		side->cq = must(ibv_create_cq(id->verbs, 16, NULL, NULL, 0), "ibv_create_cq");
	init.send_cq = side->cq;
	init.recv_cq = side->cq;
	must_not(rdma_create_qp(id, NULL, &init), "rdma_create_qp");
}

static struct rdma_cm_id *make_id(struct side *side)
{
	struct rdma_cm_id *id;

	must_not(rdma_create_id(side->channel, &id, NULL, RDMA_PS_TCP), "rdma_create_id");
	return id;
}

static void resolve_address(struct rdma_cm_id *id)
{
	must_not(rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, PATIENCE),
		 "rdma_resolve_addr");
	expect(&client, RDMA_CM_EVENT_ADDR_RESOLVED);
}

static void resolve_route(struct rdma_cm_id *id)
{
	must_not(rdma_resolve_route(id, PATIENCE), "rdma_resolve_route");
	expect(&client, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static void request(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };

	must_not(rdma_connect(id, &param), "rdma_connect");
}

static void establish(struct connection *c)
{
	struct rdma_conn_param param = { .rnr_retry_count = 7 };

	request(c->active);
	c->passive = expect(&server, RDMA_CM_EVENT_CONNECT_REQUEST);
	make_qp(&server, c->passive);
	must_not(rdma_accept(c->passive, &param), "rdma_accept");
	expect(&client, RDMA_CM_EVENT_ESTABLISHED);
	expect(&server, RDMA_CM_EVENT_ESTABLISHED);
}

static void disconnect(struct connection *c)
{
	must_not(rdma_disconnect(c->active), "rdma_disconnect");
	expect(&server, RDMA_CM_EVENT_DISCONNECTED);
	must_not(rdma_disconnect(c->passive), "rdma_disconnect");
	expect(&client, RDMA_CM_EVENT_DISCONNECTED);
}

static void drop(struct rdma_cm_id *id)
{
	if (id->qp)
		rdma_destroy_qp(id);
	must_not(rdma_destroy_id(id), "rdma_destroy_id");
}

static struct rdma_cm_id *resolved(void)
{
	struct rdma_cm_id *id = make_id(&client);

	resolve_address(id);
	resolve_route(id);
	return id;
}

static void begin(struct connection *c)
{
	c->active = resolved();
	make_qp(&client, c->active);
	establish(c);
}

static void end(struct connection *c)
{
	disconnect(c);
	drop(c->active);
	drop(c->passive);
}

static void nothing(struct connection *c)
{
	(void)c;
}

/* ---- what is measured ---- */

/*
 * Measures one step of RUNS connections; the steps before and after it do not count. Work that a
 * step leaves to the kernel's workers counts with it, as reading the counter sleeps first.
 */
static void measure(const char *name, void (*before)(struct connection *c),
		    void (*step)(struct connection *c), void (*after)(struct connection *c))
{
	for (int i = 0; i < WARM_UP + RUNS; i++) {
		struct connection c = { 0 };
		struct count since;

		before(&c);
		since = now();
		step(&c);
		if (i >= WARM_UP)
			add_since(since, RUNS);
		after(&c);
	}
	print_samples(name);
}

static void whole(struct connection *c) { begin(c); end(c); }
static void with_id(struct connection *c) { c->active = make_id(&client); }
static void to_address(struct connection *c) { resolve_address(c->active); }
static void with_address(struct connection *c) { with_id(c); to_address(c); }
static void to_route(struct connection *c) { resolve_route(c->active); }
static void with_qp(struct connection *c) { c->active = resolved(); make_qp(&client, c->active); }
static void drop_active(struct connection *c) { drop(c->active); }
static void drop_both(struct connection *c) { drop(c->active); drop(c->passive); }

static void steps(void)
{
	measure("connect_disconnect", nothing, whole, nothing);
	measure("id", nothing, with_id, drop_active);
	measure("address", with_id, to_address, drop_active);
	measure("route", with_address, to_route, drop_active);
	measure("connect", with_qp, establish, end);
	measure("disconnect", begin, disconnect, drop_both);
}

static void established(int many)
{
	struct connection *all = must(calloc(many, sizeof(*all)), "calloc");
	int i = 0;

	while (i < FEW)
		begin(&all[i++]);
	measure("established_few", nothing, whole, nothing);
	while (i < many)
		begin(&all[i++]);
	measure("established_many", nothing, whole, nothing);
}

static struct rdma_cm_id *listener(int port)
{
	struct rdma_cm_id *id = make_id(&server);
	struct sockaddr_in at = address;

	at.sin_port = htons(port);
	must_not(rdma_bind_addr(id, (struct sockaddr *)&at), "rdma_bind_addr");
	must_not(rdma_listen(id, 16), "rdma_listen");
	return id;
}

static void with_route(struct connection *c) { c->active = resolved(); }

static void be_refused(struct connection *c)
{
	struct rdma_cm_id *id;

	request(c->active);
	id = expect(&server, RDMA_CM_EVENT_CONNECT_REQUEST);
	must_not(rdma_reject(id, NULL, 0), "rdma_reject");
	drop(id);
	expect(&client, RDMA_CM_EVENT_REJECTED);
}

static void listening(int many)
{
	measure("listening_one", with_route, be_refused, drop_active);
	for (int i = 1; i < many; i++)
		listener(LISTEN_PORT + i);
	measure("listening_many", with_route, be_refused, drop_active);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "";
	int many = argc > 3 ? atoi(argv[3]) : 0;

	address = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(PORT) };
	if (argc < 3 || inet_pton(AF_INET, argv[1], &address.sin_addr) != 1) {
		fprintf(stderr, "connect ADDRESS steps | established N | listening N\n");
		return 2;
	}
	client.channel = must(rdma_create_event_channel(), "rdma_create_event_channel");
	server.channel = must(rdma_create_event_channel(), "rdma_create_event_channel");
	listener(PORT);
	if (!strcmp(what, "steps"))
		steps();
	else if (!strcmp(what, "established") && many > FEW)
		established(many);
	else if (!strcmp(what, "listening") && many > 1)
		listening(many);
	else
		return 2;
	return 0;
}
