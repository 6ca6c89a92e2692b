// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cm_peer lose kill|remove DEVICE OWN PEER CONTROL: processes, each with an end of a connection or
 * of a datagram service at another stage, are killed, or lose the device.
 * cm_peer watch kill|remove OWN PEER CONTROL: has all the other ends, in another guest, and reports
 * the events of each of them; TAP on stdout.  CONTROL is an address at which the two talk by TCP.
 */
#include <arpa/inet.h>
#include <signal.h>
#include <sys/wait.h>

#include "cm_events.h"
#include "device.h"

#define FIRST_PORT	7820
#define CONTROL_PORT	7819
#define FIRST_QPN	0xf00000
#define NOTHING		(-1)

/* Reasons of IBTA: of a REJ, and of a SIDR_REP */
enum { REJ_NO_SERVICE = 8, REJ_CONSUMER = 28, SIDR_REJECT = 2 };

/*
 * What the process that is lost has done. The last two stages take longest: the other end waits for
 * the answer to its DREQ and gives up after a minute.
 */
enum stage {
	ASKED, ANSWERED, CONNECTED, ENDING, LISTENING, UNREAD, HEARD, ACCEPTED, ESTABLISHED,
	CLOSING, ASKED_SERVICE, SERVICE_UNREAD, SERVICE_HEARD, LEFT, ABANDONED, STAGES
};

/**
 * struct row - a stage
 * @name: what is lost
 * @event: event of the other end, or NOTHING
 * @status: its status
 * @asks: the process that is lost is the client
 */
static const struct row {
	const char *name;
	int event;
	int status;
	bool asks;
} rows[STAGES] = {
	[ASKED] = { "who waits for an answer", NOTHING, 0, true },
	[ANSWERED] = { "who has not read the answer", RDMA_CM_EVENT_REJECTED, REJ_CONSUMER, true },
	[CONNECTED] = { "who has connected", RDMA_CM_EVENT_DISCONNECTED, 0, true },
	[ENDING] = { "who has disconnected", NOTHING, 0, true },
	[LISTENING] = { "who listens", RDMA_CM_EVENT_REJECTED, REJ_NO_SERVICE },
	[UNREAD] = { "who has not read the request", RDMA_CM_EVENT_REJECTED, REJ_CONSUMER },
	[HEARD] = { "who has not answered the request", RDMA_CM_EVENT_REJECTED, REJ_CONSUMER },
	[ACCEPTED] = { "who has accepted", RDMA_CM_EVENT_REJECTED, REJ_CONSUMER },
	[ESTABLISHED] = { "who has been connected to", RDMA_CM_EVENT_DISCONNECTED, 0 },
	[CLOSING] = { "who has disconnected, and listens", NOTHING, 0 },
	[ASKED_SERVICE] = { "who waits for a datagram service", NOTHING, 0, true },
	[SERVICE_UNREAD] = { "who has not read a service's request", RDMA_CM_EVENT_UNREACHABLE,
			     SIDR_REJECT },
	[SERVICE_HEARD] = { "who has not answered a service's request", RDMA_CM_EVENT_UNREACHABLE,
			    SIDR_REJECT },
	[LEFT] = { "who has not answered a disconnect", RDMA_CM_EVENT_DISCONNECTED, 0, true },
	[ABANDONED] = { "who listens, and has not answered a disconnect",
			RDMA_CM_EVENT_DISCONNECTED, 0 },
};

static struct sockaddr_in own, peer, control;

/*
 * Ids have only numbers of QPs: cm_removal tests QPs. Each connection has another number, since a
 * number that its peer uses, or has used a moment ago, tells the CM that the older connection is
 * stale. No QP of the device has such a number.
 */
static struct rdma_conn_param params[STAGES];

static void make_params(bool removes)
{
	for (enum stage stage = 0; stage < STAGES; stage++)
		params[stage] = (struct rdma_conn_param) {
			.qp_num = FIRST_QPN + STAGES * removes + stage,
			.responder_resources = 1, .initiator_depth = 1,
			.retry_count = 7, .rnr_retry_count = 7,
		};
}

static enum rdma_port_space space(enum stage stage)
{
	return stage >= ASKED_SERVICE && stage <= SERVICE_HEARD ? RDMA_PS_UDP : RDMA_PS_TCP;
}

static struct sockaddr *at(struct sockaddr_in *address, enum stage stage)
{
	address->sin_port = htons(FIRST_PORT + stage);
	return (struct sockaddr *)address;
}

/* An id that listens at its own address. */
static struct rdma_cm_id *listener(struct rdma_event_channel *channel, enum stage stage)
{
	struct rdma_cm_id *id;

	MUST(rdma_create_id(channel, &id, NULL, space(stage)));
	MUST(rdma_bind_addr(id, at(&own, stage)));
	MUST(rdma_listen(id, 4));
	return id;
}

/* An id whose route to the peer is resolved. */
static struct rdma_cm_id *resolved(struct rdma_event_channel *channel, enum stage stage)
{
	struct rdma_cm_id *id;

	MUST(rdma_create_id(channel, &id, NULL, space(stage)));
	MUST(rdma_resolve_addr(id, NULL, at(&peer, stage), PATIENCE));
	expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	MUST(rdma_resolve_route(id, PATIENCE));
	expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
	return id;
}

static void come(struct rdma_event_channel *channel)
{
	if (!comes(channel))
		fail("no event at all");
}

static void say(int fd)
{
	if (write(fd, "", 1) != 1)
		fail("write");
}

static void hear(int fd)
{
	char byte;

	if (read(fd, &byte, 1) != 1)
		fail("the other side has given up");
}

/* ---- the side that is lost ---- */

static void ask(struct rdma_event_channel *channel, enum stage stage)
{
	struct rdma_cm_id *id = resolved(channel, stage);

	MUST(rdma_connect(id, &params[stage]));
	if (stage == ASKED || stage == ASKED_SERVICE)
		return;
	if (stage == ANSWERED) {
		come(channel);
		return;
	}
	expect(channel, RDMA_CM_EVENT_CONNECT_RESPONSE);
	MUST(rdma_establish(id));
	if (stage == ENDING)
		MUST(rdma_disconnect(id));
	if (stage == LEFT)
		expect(channel, RDMA_CM_EVENT_DISCONNECTED);
}

static void serve(struct rdma_event_channel *channel, enum stage stage, int ready)
{
	struct rdma_cm_id *id;

	listener(channel, stage);
	say(ready);
	if (stage == LISTENING)
		return;
	if (stage == UNREAD || stage == SERVICE_UNREAD) {
		come(channel);
		return;
	}
	id = expect(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	if (stage == HEARD || stage == SERVICE_HEARD)
		return;
	MUST(rdma_accept(id, &params[stage]));
	if (stage == ACCEPTED)
		return;
	expect(channel, RDMA_CM_EVENT_ESTABLISHED);
	if (stage == CLOSING)
		MUST(rdma_disconnect(id));
	if (stage == ABANDONED)
		expect(channel, RDMA_CM_EVENT_DISCONNECTED);
}

/* Writes to READY at its stage, and lives until GO is closed. */
static void live(enum stage stage, int ready, int go)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	char byte;

	if (!channel)
		fail("no channel");
	if (rows[stage].asks)
		ask(channel, stage);
	else
		serve(channel, stage, ready);
	say(ready);
	_exit(read(go, &byte, 1) != 0);
}

/* Waits until the process of a stage has come to it, and the other program, too. */
static pid_t prepare(enum stage stage, int talk, int go[2])
{
	int pipes[2];
	pid_t pid;

	MUST(pipe(pipes));
	pid = fork();
	if (!pid) {
		close(pipes[0]);
		close(go[1]);
		live(stage, pipes[1], go[0]);
	}
	close(pipes[1]);
	if (!rows[stage].asks)
		hear(pipes[0]);
	say(talk);
	hear(pipes[0]);
	hear(talk);
	close(pipes[0]);
	return pid;
}

static int lose(bool removes, const char *name)
{
	struct ibv_context *context = open_device(name);
	int go[2], talk = socket(AF_INET, SOCK_STREAM, 0);
	struct driver driver;
	pid_t pids[STAGES];

	if (!context || !find_driver(&driver, context))
		fail("no such device");
	ibv_close_device(context);
	MUST(pipe(go));
	MUST(connect(talk, (struct sockaddr *)&control, sizeof(control)));
	for (enum stage stage = 0; stage < STAGES; stage++)
		pids[stage] = prepare(stage, talk, go);
	if (removes && !tell_driver(&driver, "unbind"))
		fail("the driver keeps the device");
	for (enum stage stage = 0; stage < STAGES && !removes; stage++) {
		kill(pids[stage], SIGKILL);
		waitpid(pids[stage], NULL, 0);
	}
	say(talk);
	hear(talk);
	close(go[1]);
	if (!removes)
		return 0;
	while (wait(NULL) > 0)
		;
	if (!tell_driver(&driver, "bind"))
		fail("the driver does not take the device again");
	return 0;
}

/* ---- the side that watches ---- */

/**
 * struct end - the end of a stage that is not lost
 * @channel: its events
 * @id: the id
 */
struct end {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
};

static void watch_client(struct end *end, enum stage stage)
{
	end->id = expect(end->channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	if (stage == ASKED || stage == ASKED_SERVICE)
		return;
	MUST(rdma_accept(end->id, &params[stage]));
	if (stage == ANSWERED)
		return;
	expect(end->channel, RDMA_CM_EVENT_ESTABLISHED);
	if (stage == ENDING)
		expect(end->channel, RDMA_CM_EVENT_DISCONNECTED);
	if (stage == LEFT)
		MUST(rdma_disconnect(end->id));
}

static void watch_server(struct end *end, enum stage stage)
{
	end->id = resolved(end->channel, stage);
	if (stage == LISTENING)
		return;
	MUST(rdma_connect(end->id, &params[stage]));
	if (stage < ACCEPTED || space(stage) == RDMA_PS_UDP)
		return;
	if (stage == ACCEPTED) {
		come(end->channel);
		return;
	}
	expect(end->channel, RDMA_CM_EVENT_CONNECT_RESPONSE);
	MUST(rdma_establish(end->id));
	if (stage == CLOSING)
		expect(end->channel, RDMA_CM_EVENT_DISCONNECTED);
	if (stage == ABANDONED)
		MUST(rdma_disconnect(end->id));
}

/*
 * The id of a request that is not accepted has no events. Accepting it fails, or succeeds without a
 * connection if its end is noticed only then.
 */
static bool too_late(struct end *end, enum stage stage)
{
	if (rdma_accept(end->id, &params[stage]))
		return errno == EINVAL;
	return expect(end->channel, RDMA_CM_EVENT_REJECTED) == end->id;
}

/* After all its events, the id still accepts the call that it would have made next. */
static bool goes_on(struct end *end, enum stage stage)
{
	if (stage == ASKED)
		return too_late(end, stage);
	if (stage == ASKED_SERVICE)
		return !rdma_accept(end->id, &params[stage]);
	return !rdma_disconnect(end->id);
}

/* Has the end got the event that it must get? */
static bool told(struct end *end, enum stage stage)
{
	const struct row *row = &rows[stage];
	struct rdma_cm_event *event;
	bool good;

	if (row->event == NOTHING)
		return goes_on(end, stage);
	if (stage == LISTENING)
		MUST(rdma_connect(end->id, &params[stage]));
	if (stage == ACCEPTED)
		expect(end->channel, RDMA_CM_EVENT_CONNECT_RESPONSE);
	event = next(end->channel);
	if (!event) {
		printf("# no event: %s\n", strerror(errno));
		return false;
	}
	good = (int)event->event == row->event && event->status == row->status &&
	       event->id == end->id;
	if (!good)
		printf("# %s, status %d\n", rdma_event_str(event->event), event->status);
	rdma_ack_cm_event(event);
	return good;
}

static int watch(bool removes)
{
	int on = 1, talk, fd = socket(AF_INET, SOCK_STREAM, 0);
	struct end ends[STAGES] = {};
	unsigned int failed = 0;

	for (enum stage stage = 0; stage < STAGES; stage++) {
		ends[stage].channel = rdma_create_event_channel();
		if (!ends[stage].channel)
			fail("no channel");
		if (rows[stage].asks)
			listener(ends[stage].channel, stage);
	}
	MUST(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)));
	MUST(bind(fd, (struct sockaddr *)&control, sizeof(control)) || listen(fd, 1));
	puts("# listens");
	talk = accept(fd, NULL, NULL);
	if (talk < 0)
		fail("accept");
	printf("TAP version 13\n1..%d\n", STAGES);
	for (enum stage stage = 0; stage < STAGES; stage++) {
		hear(talk);
		if (rows[stage].asks)
			watch_client(&ends[stage], stage);
		else
			watch_server(&ends[stage], stage);
		say(talk);
	}
	hear(talk);
	for (enum stage stage = 0; stage < STAGES; stage++) {
		/* Without its device there is no port at all. */
		bool good = (removes && stage == LISTENING) || told(&ends[stage], stage);

		printf("%sok %d - %s: %s\n", good ? "" : "not ", stage + 1,
		       removes ? "removed" : "killed", rows[stage].name);
		failed += !good;
		if (rdma_destroy_id(ends[stage].id))
			fail("rdma_destroy_id");
	}
	say(talk);
	return failed > 0;
}

int main(int argc, char **argv)
{
	const bool loses = argc == 7 && !strcmp(argv[1], "lose");
	char **addresses = argv + (loses ? 4 : 3);
	bool removes;

	if ((!loses && (argc != 6 || strcmp(argv[1], "watch"))) ||
	    inet_pton(AF_INET, addresses[0], &own.sin_addr) != 1 ||
	    inet_pton(AF_INET, addresses[1], &peer.sin_addr) != 1 ||
	    inet_pton(AF_INET, addresses[2], &control.sin_addr) != 1) {
		fprintf(stderr, "usage: cm_peer lose kill|remove DEVICE OWN PEER CONTROL\n"
				"       cm_peer watch kill|remove OWN PEER CONTROL\n");
		return 2;
	}
	own.sin_family = AF_INET;
	peer.sin_family = AF_INET;
	control.sin_family = AF_INET;
	control.sin_port = htons(CONTROL_PORT);
	setlinebuf(stdout);
	removes = !strcmp(argv[2], "remove");
	make_params(removes);
	return loses ? lose(removes, argv[3]) : watch(removes);
}
