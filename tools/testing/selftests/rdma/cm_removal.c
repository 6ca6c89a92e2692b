// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cm_removal kill|remove DEVICE ADDRESS: processes with connections to themselves, each at another
 * stage of its life, are killed, or lose the device; TAP on stdout. Each process has both ends.
 */
#include <arpa/inet.h>
#include <signal.h>
#include <sys/wait.h>

#include "cm_events.h"
#include "device.h"

#define RESOLVE_TIME	60000	/* ms: the subnet manager's guest may be paused */
#define FIRST_PORT	7800

enum stage {
	CREATED, BOUND, LISTENING, RESOLVING, RESOLVED, ROUTED, WITH_QP, ASKED, HEARD, ACCEPTED,
	ESTABLISHED, DISCONNECTED, JOINING, JOINED, STAGES
};

static const char *const names[] = {
	"a new id", "a bound id", "one that listens", "one that resolves an address",
	"with an address", "with a route", "with a QP", "a request nobody has read",
	"a request nobody answers", "a request that is accepted", "a connection",
	"one that has ended", "one that joins a group", "a member of a group",
};

static struct sockaddr_in address = { .sin_family = AF_INET };

/**
 * struct ends - what a process has
 * @client: channel of the client, or of the id that joins a group
 * @server: channel of the server
 * @ids: the id of the client, or of the group; the one that listens; the server's end
 */
struct ends {
	struct rdma_event_channel *client, *server;
	struct rdma_cm_id *ids[3];
};

static void make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = id->ps == RDMA_PS_TCP ? IBV_QPT_RC : IBV_QPT_UD,
	};

	MUST(rdma_create_qp(id, NULL, &init));
}

/* Goes as far as STAGE with a group. */
static void join(struct ends *ends, enum stage stage)
{
	struct sockaddr_in group = { .sin_family = AF_INET };

	inet_pton(AF_INET, "239.8.8.8", &group.sin_addr);
	MUST(rdma_create_id(ends->client, &ends->ids[0], NULL, RDMA_PS_UDP));
	MUST(rdma_bind_addr(ends->ids[0], (struct sockaddr *)&address));
	make_qp(ends->ids[0]);
	MUST(rdma_join_multicast(ends->ids[0], (struct sockaddr *)&group, NULL));
	if (stage == JOINED)
		expect(ends->client, RDMA_CM_EVENT_MULTICAST_JOIN);
}

/* Goes as far as STAGE with a connection. */
static void connect_until(struct ends *ends, enum stage stage)
{
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };
	struct rdma_cm_id **client = &ends->ids[0];
	struct rdma_cm_id **listener = &ends->ids[1];
	struct rdma_cm_id **server = &ends->ids[2];

	address.sin_port = htons(FIRST_PORT + stage);
	MUST(rdma_create_id(ends->server, listener, NULL, RDMA_PS_TCP));
	if (stage == CREATED)
		return;
	MUST(rdma_bind_addr(*listener, (struct sockaddr *)&address));
	if (stage == BOUND)
		return;
	MUST(rdma_listen(*listener, 4));
	if (stage == LISTENING)
		return;
	MUST(rdma_create_id(ends->client, client, NULL, RDMA_PS_TCP));
	MUST(rdma_resolve_addr(*client, NULL, (struct sockaddr *)&address, RESOLVE_TIME));
	if (stage == RESOLVING)
		return;
	expect(ends->client, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (stage == RESOLVED)
		return;
	MUST(rdma_resolve_route(*client, RESOLVE_TIME));
	expect(ends->client, RDMA_CM_EVENT_ROUTE_RESOLVED);
	if (stage == ROUTED)
		return;
	make_qp(*client);
	if (stage == WITH_QP)
		return;
	MUST(rdma_connect(*client, &param));
	if (stage == ASKED)
		return;
	*server = expect(ends->server, RDMA_CM_EVENT_CONNECT_REQUEST);
	if (stage == HEARD)
		return;
	make_qp(*server);
	MUST(rdma_accept(*server, &param));
	if (stage == ACCEPTED)
		return;
	expect(ends->client, RDMA_CM_EVENT_ESTABLISHED);
	expect(ends->server, RDMA_CM_EVENT_ESTABLISHED);
	if (stage == ESTABLISHED)
		return;
	MUST(rdma_disconnect(*client));
	/* The client's end gets its answer only when the server disconnects, too. */
	expect(ends->server, RDMA_CM_EVENT_DISCONNECTED);
	MUST(rdma_disconnect(*server));
	expect(ends->client, RDMA_CM_EVENT_DISCONNECTED);
}

/*
 * Reads events until each id on the device has got its DEVICE_REMOVAL. The id of a request gets
 * none before the request is accepted.
 */
static void await_removal(struct ends *ends, enum stage stage)
{
	if (stage == HEARD)
		ends->ids[2] = NULL;
	for (int i = 0; i < 3; i++) {
		struct rdma_cm_id *id = ends->ids[i];
		struct rdma_cm_event *event;
		bool told = false;

		while (id && id->verbs && !told) {
			event = next(id->channel);
			if (!event)
				fail("no DEVICE_REMOVAL");
			if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL) {
				told = event->id == id;
				/* The events of one channel's ids come in any order. */
				for (int k = i + 1; k < 3; k++)
					if (event->id == ends->ids[k])
						ends->ids[k] = NULL;
			}
			rdma_ack_cm_event(event);
		}
	}
}

/* Files that have lost their device can still be used, though not with that device. */
static void use_again(struct rdma_event_channel *channel, enum stage stage)
{
	struct sockaddr_in any = {
		.sin_family = AF_INET, .sin_port = htons(FIRST_PORT + 100 + stage),
	};
	struct rdma_cm_id *id;

	MUST(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	MUST(rdma_bind_addr(id, (struct sockaddr *)&any));
	MUST(rdma_listen(id, 1));
	MUST(rdma_destroy_id(id));
}

/*
 * Writes to READY at its stage, and lives until GO is closed, when the device is about to be
 * removed.
 */
static void live(enum stage stage, int ready, int go)
{
	struct rdma_cm_id *ids[3];
	char byte;
	struct ends ends = {
		.client = rdma_create_event_channel(), .server = rdma_create_event_channel(),
	};

	if (!ends.client || !ends.server)
		fail("no channel");
	if (stage >= JOINING)
		join(&ends, stage);
	else
		connect_until(&ends, stage);
	if (write(ready, "", 1) != 1)
		fail("write");
	if (read(go, &byte, 1))
		fail("read");

	memcpy(ids, ends.ids, sizeof(ids));
	await_removal(&ends, stage);
	for (int i = 2; i >= 0; i--) {
		if (!ids[i])
			continue;
		if (ids[i]->qp)
			rdma_destroy_qp(ids[i]);
		MUST(rdma_destroy_id(ids[i]));
	}
	use_again(ends.client, stage);
	use_again(ends.server, stage);
	rdma_destroy_event_channel(ends.client);
	rdma_destroy_event_channel(ends.server);
	_exit(0);
}

int main(int argc, char **argv)
{
	const bool removes = argc == 4 && !strcmp(argv[1], "remove");
	struct ibv_context *context = argc == 4 ? open_device(argv[2]) : NULL;
	unsigned int failed = 0;
	struct driver driver;
	pid_t pids[STAGES];
	int pipes[2], go[2];
	char byte;

	if (!context || !find_driver(&driver, context) ||
	    inet_pton(AF_INET, argv[3], &address.sin_addr) != 1) {
		fprintf(stderr, "usage: cm_removal kill|remove DEVICE ADDRESS\n");
		return 2;
	}
	ibv_close_device(context);
	if (pipe(go))
		return 1;
	setlinebuf(stdout);
	printf("TAP version 13\n1..%d\n", STAGES);
	for (enum stage stage = CREATED; stage < STAGES; stage++) {
		if (pipe(pipes))
			return 1;
		pids[stage] = fork();
		if (!pids[stage]) {
			close(pipes[0]);
			close(go[1]);
			live(stage, pipes[1], go[0]);
		}
		close(pipes[1]);
		if (read(pipes[0], &byte, 1) != 1)
			printf("# it has not come to this stage: %s\n", names[stage]);
		close(pipes[0]);
	}
	if (removes)
		close(go[1]);
	if (removes && !tell_driver(&driver, "unbind")) {
		printf("Bail out! the driver keeps the device\n");
		return 1;
	}
	for (enum stage stage = CREATED; stage < STAGES; stage++) {
		int status;
		bool good;

		if (!removes)
			kill(pids[stage], SIGKILL);
		good = waitpid(pids[stage], &status, 0) == pids[stage] &&
		       (removes ? WIFEXITED(status) && !WEXITSTATUS(status) :
				  WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		printf("%sok %d - %s: %s\n", good ? "" : "not ", stage + 1,
		       removes ? "removed" : "killed", names[stage]);
		failed += !good;
	}
	if (removes && !tell_driver(&driver, "bind")) {
		printf("Bail out! the driver does not take the device again\n");
		return 1;
	}
	return failed > 0;
}
