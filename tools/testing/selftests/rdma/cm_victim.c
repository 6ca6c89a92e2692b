// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cm_victim ADDRESS PORT: accepts every connection, and destroys each that fails, until a signal
 * ends it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cm_qp.h"

#define BACKLOG	1024

static void die(const char *what)
{
	fprintf(stderr, "cm_victim: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void drop(struct rdma_cm_id *id)
{
	if (id->qp)
		rdma_destroy_qp(id);
	if (rdma_destroy_id(id))
		die("rdma_destroy_id");
}

/* What a request asks for may be impossible. */
static bool accepted(struct rdma_cm_id *id)
{
	struct rdma_conn_param param = { .rnr_retry_count = 7 };

	if (!make_qp(id))
		die("rdma_create_qp");
	return !rdma_accept(id, &param);
}

static void go_on(struct rdma_event_channel *channel)
{
	enum rdma_cm_event_type type;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	if (rdma_get_cm_event(channel, &event))
		die("rdma_get_cm_event");
	type = event->event;
	id = event->id;
	rdma_ack_cm_event(event);
	if (type == RDMA_CM_EVENT_ESTABLISHED)
		return;
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST && accepted(id))
		return;
	if (type == RDMA_CM_EVENT_DISCONNECTED)
		rdma_disconnect(id);
	drop(id);
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;

	if (argc != 3 || inet_pton(AF_INET, argv[1], &address.sin_addr) != 1) {
		fprintf(stderr, "usage: cm_victim ADDRESS PORT\n");
		return 2;
	}
	address.sin_port = htons(atoi(argv[2]));
	channel = rdma_create_event_channel();
	if (!channel || rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, (struct sockaddr *)&address) ||
	    rdma_listen(listener, BACKLOG))
		die("rdma_listen");
	for (;;)
		go_on(channel);
}
