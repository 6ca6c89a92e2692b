// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cm_storm server N ADDRESS | client N ADDRESS: N connections at once, every tenth of which the
 * server refuses. The client then disconnects the established ones, and ends; the server ends when
 * it gets SIGTERM and the last of its connections has ended. Each prints the outcome of every one
 * of them, in lines that must be the same on both sides.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cm_qp.h"

#define PORT		7700
#define EVERY		10
/*
 * A longer pause than this does not happen while all is well. A slow server answers a repeated REQ
 * with an MRA, which lets the client wait for 69 s; if the REJ behind it is lost, the client takes
 * that long to send the REQ again. Sixteen REQs that are all lost take 103 s.
 */
#define PATIENCE	180000	/* ms */

enum fate { UNKNOWN, ASKED, ESTABLISHED, REFUSED, GONE, LOST };

static const char *const fate_names[] = {
	"unknown", "asked", "established", "refused", "gone", "lost"
};

/**
 * struct one - a connection, as this side sees it
 * @fate: its outcome
 * @number: which one it is
 * @id: its id, while there is one
 */
struct one {
	enum fate fate;
	uint32_t number;
	struct rdma_cm_id *id;
};

static struct rdma_event_channel *channel;
static struct one *all;
static uint32_t total, ended, gone;
static volatile sig_atomic_t told;

static void tell(int signal)
{
	(void)signal;
	told = 1;
}

static void die(const char *what)
{
	fprintf(stderr, "cm_storm: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void drop(struct one *one, struct rdma_cm_id *id)
{
	if (one && one->id == id)
		one->id = NULL;
	if (id->qp)
		rdma_destroy_qp(id);
	rdma_destroy_id(id);
}

static void settle(struct one *one, enum fate fate)
{
	if (one->fate != ESTABLISHED && fate != GONE)
		ended++;
	if (fate == GONE)
		gone++;
	one->fate = fate;
}

/* A repeated request, whose answer was lost, gets the same answer again. */
static void answer(struct rdma_cm_event *event)
{
	struct rdma_conn_param param = { .rnr_retry_count = 7 };
	struct rdma_cm_id *id = event->id;
	struct one *one = NULL;
	uint32_t number;

	memcpy(&number, event->param.conn.private_data, sizeof(number));
	rdma_ack_cm_event(event);
	if (number < total)
		one = &all[number];
	if (!one || number % EVERY == 0 || one->fate != UNKNOWN) {
		if (one && number % EVERY)
			fprintf(stderr, "cm_storm: %u came twice\n", number);
		else if (one && one->fate == UNKNOWN)
			settle(one, REFUSED);
		rdma_reject(id, NULL, 0);
		rdma_destroy_id(id);
		return;
	}
	one->id = id;
	one->fate = ASKED;
	id->context = one;
	if (!make_qp(id))
		die("rdma_create_qp");
	if (rdma_accept(id, &param))
		die("rdma_accept");
}

static void go_on(struct rdma_cm_event *event)
{
	enum rdma_cm_event_type type = event->event;
	struct rdma_cm_id *id = event->id;
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };
	struct one *one = id->context;
	int status = event->status;

	if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
		answer(event);
		return;
	}
	rdma_ack_cm_event(event);
	switch (type) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		if (rdma_resolve_route(id, 10000))
			die("rdma_resolve_route");
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		if (!make_qp(id))
			die("rdma_create_qp");
		param.private_data = &one->number;
		param.private_data_len = sizeof(one->number);
		if (rdma_connect(id, &param))
			die("rdma_connect");
		one->fate = ASKED;
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		settle(one, ESTABLISHED);
		break;
	case RDMA_CM_EVENT_REJECTED:
		settle(one, REFUSED);
		drop(one, id);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		settle(one, GONE);
		rdma_disconnect(id);
		break;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		break;
	default:
		fprintf(stderr, "cm_storm: %u: %s, status %d\n", one->number,
			rdma_event_str(type), status);
		settle(one, LOST);
		drop(one, id);
	}
}

/* Handles events until *COUNT is at least GOAL and, for a server, SIGTERM has come. */
static bool until(const uint32_t *count, const uint32_t *goal, bool serves)
{
	struct pollfd ready = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;

	while (*count < *goal || (serves && !told)) {
		int n = poll(&ready, 1, PATIENCE);

		if (n < 0 && errno == EINTR)
			continue;
		if (n != 1 || rdma_get_cm_event(channel, &event))
			return false;
		go_on(event);
	}
	return true;
}

/* Number of connections that have not ended, including those that only the client knows yet. */
static uint32_t standing(void)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < total; i++)
		n += all[i].fate == ASKED || all[i].fate == ESTABLISHED;
	return n;
}

static bool serve(struct sockaddr *address)
{
	struct sigaction action = { .sa_handler = tell };
	struct rdma_cm_id *listener;
	uint32_t goal = 0;

	sigaction(SIGTERM, &action, NULL);
	if (rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, address) || rdma_listen(listener, total))
		die("rdma_listen");
	/* The client knows of all of them before this side is told to end. */
	if (!until(&ended, &goal, true))
		return false;
	goal = gone + standing();
	if (!until(&gone, &goal, false))
		return false;
	rdma_destroy_id(listener);
	return true;
}

static bool ask(struct sockaddr *address)
{
	uint32_t goal;

	for (uint32_t i = 0; i < total; i++)
		if (rdma_create_id(channel, &all[i].id, &all[i], RDMA_PS_TCP) ||
		    rdma_resolve_addr(all[i].id, NULL, address, 10000))
			die("rdma_resolve_addr");
	if (!until(&ended, &total, false))
		return false;
	goal = gone + standing();
	for (uint32_t i = 0; i < total; i++)
		if (all[i].fate == ESTABLISHED && rdma_disconnect(all[i].id))
			die("rdma_disconnect");
	return until(&gone, &goal, false);
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	struct rlimit files;
	bool good;

	if (argc != 4 || inet_pton(AF_INET, argv[3], &address.sin_addr) != 1) {
		fprintf(stderr, "usage: cm_storm server|client N ADDRESS\n");
		return 2;
	}
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	total = strtoul(argv[2], NULL, 0);
	all = calloc(total, sizeof(*all));
	channel = rdma_create_event_channel();
	if (!all || !channel)
		die("no channel");
	for (uint32_t i = 0; i < total; i++)
		all[i].number = i;
	good = strcmp(argv[1], "server") ? ask((struct sockaddr *)&address) :
					   serve((struct sockaddr *)&address);
	if (!good)
		fprintf(stderr, "cm_storm: it is stuck: %u of %u ended, %u gone\n", ended, total,
			gone);
	for (uint32_t i = 0; i < total; i++) {
		printf("%u %s\n", i, fate_names[all[i].fate]);
		if (all[i].id)
			drop(&all[i], all[i].id);
	}
	if (cq)
		ibv_destroy_cq(cq);
	rdma_destroy_event_channel(channel);
	return !good;
}
