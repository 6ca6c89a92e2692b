/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the files of cm_calls share. A case has a server and a client, in two guests; each is a
 * function that succeeds or not, in a process of its own. The client begins when the server
 * listens.
 */
#ifndef CM_CALLS_H
#define CM_CALLS_H

#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/sa.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MESSAGE		1000
#define GRH		40
#define PATIENCE	120000	/* ms */

/**
 * struct cm_case - a case
 * @name: what it shows
 * @space: the port space in which the server listens
 * @server: its part; the id listens and has a channel of its own
 * @client: the other part; the port is the server's
 */
struct cm_case {
	const char *name;
	enum rdma_port_space space;
	bool (*server)(struct rdma_cm_id *listener);
	bool (*client)(uint16_t port);
};

/*
 * The cases, by the files that have them and the ports that they are for; each list ends with a
 * name that is NULL.
 */
extern const struct cm_case connected_cases[], own_qp_cases[], datagram_cases[], id_cases[];
extern const struct cm_case ib_datagram_cases[], ib_id_cases[], roce_cases[];

/* Prints what does not hold, and where; then the case has failed. */
#define REQUIRE(what)									\
	do {										\
		if (!(what)) {								\
			printf("# %s:%d: %s (%s)\n", __FILE__, __LINE__, #what, strerror(errno)); \
			return false;							\
		}									\
	} while (0)

/* The call must fail with this error. */
#define REFUSED(call, error)	REQUIRE((errno = 0, (call)) && errno == (error))

/**
 * struct conn - an id, with or without a connection
 * @channel: event channel of the id
 * @id: the id
 * @mr: registers @data; made by conn_ready()
 * @data: a message; of datagrams, behind a GRH
 */
struct conn {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	char data[GRH + MESSAGE];
};

struct sockaddr *server_address(uint16_t port);
struct sockaddr *own_address(void);
uint16_t port_of(const struct sockaddr *address);

/* The next event, which must be of this type; NULL, and a line on stdout, when it is not. */
struct rdma_cm_event *next_event(struct rdma_event_channel *channel, enum rdma_cm_event_type type);

/* The same for an event of which only the status matters. */
bool next_is(struct rdma_event_channel *channel, enum rdma_cm_event_type type, int status);

/* A new id with a channel of its own. */
bool conn_new(struct conn *conn, enum rdma_port_space space);

/* An id whose route to the server is resolved. */
bool conn_resolved(struct conn *conn, enum rdma_port_space space, uint16_t port);

/* The id of a request, moved to a channel of its own. */
bool conn_requested(struct conn *conn, struct rdma_cm_id *listener);

/* Makes a QP of the id's type, its memory, and posts a receive. */
bool conn_ready(struct conn *conn);

/* Sends a message of this letter; receives one and checks it. */
bool conn_send(struct conn *conn, char letter);
bool conn_receive(struct conn *conn, char letter);

/* Connects, with private data and without. */
bool conn_connect(struct conn *conn, const char *words);
bool conn_accept(struct conn *conn, const char *words);

void conn_end(struct conn *conn);

/* Is @data, of @len bytes, these words as private data of up to @max bytes? The rest must be 0. */
bool carried(const void *data, size_t len, const char *words, size_t max);

/* Fills in a message of this letter, or checks one. */
void fill(char *data, char letter);
bool filled(const char *data, char letter);

#endif
