// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cm_memory ADDRESS: each command of a connection, of a datagram service and of a group lacks
 * memory, or cannot read or write its caller's, at each of the places where that may happen, one
 * after the other (fail-nth); TAP on stdout.  The same command then has to succeed, and the
 * commands after it as if nothing had happened; a connection that could not be accepted may be
 * rejected instead, of which its other end has to get an event.  The process has both ends, whose
 * QPs are only numbers.
 */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <poll.h>

#include "ucma_raw.h"

#define PATIENCE	120000	/* ms */
#define MOST_FAULTS	500
#define GROUP		"239.8.8.8"
/* No QP of the device has such a number. */
#define FIRST_QPN	0xf00000

/* enum rdma_cm_event_type, whose header and that of the commands exclude each other */
enum event {
	ADDR_RESOLVED = 0, ROUTE_RESOLVED = 2, CONNECT_REQUEST = 4, CONNECT_RESPONSE = 5,
	UNREACHABLE = 7, REJECTED = 8, ESTABLISHED = 9, DISCONNECTED = 10, MULTICAST_JOIN = 12
};

enum end { LISTENER, CLIENT, SERVER, ENDS };

/* The files of the client, of the server, and one to which the server's end moves */
enum file { HERE, THERE, ELSEWHERE, FILES };

/**
 * struct flow - state of a sequence of commands
 * @fd: open files
 * @id: ids
 * @ps: their port space
 * @number: of the sequence, for new QP numbers: the CM keeps old ones from use for a while
 * @again: the command is made once more, after it has failed
 */
static struct flow {
	int fd[FILES];
	uint32_t id[ENDS];
	uint16_t ps;
	unsigned int number;
	bool again;
} flow;

static struct sockaddr_in address = { .sin_family = AF_INET }, group = { .sin_family = AF_INET };
static unsigned int point, failed;

/* ---- faults ---- */

static int fail_nth;
/* The number of the place at which the next command fails; 0: at none. */
static unsigned int nth;
static bool lacked;

static void tell_fail_nth(unsigned int value)
{
	char text[12];
	int len = snprintf(text, sizeof(text), "%u", value);

	/* this write copies from user memory, too, so it may fail itself; but only once */
	if (write(fail_nth, text, len) == len || write(fail_nth, text, len) == len)
		return;
	perror("# fail-nth");
	exit(1);
}

/* Did the command come to the place?  The read may come to it itself. */
static bool was_there(void)
{
	char text[12] = "";

	return pread(fail_nth, text, sizeof(text) - 1, 0) > 0 && !atoi(text);
}

static int ask(enum file file, uint32_t cmd, const void *req, uint16_t in, uint16_t out)
{
	int err;

	if (!nth)
		return ucma_ask(flow.fd[file], cmd, req, in, out);
	tell_fail_nth(nth);
	err = ucma_ask(flow.fd[file], cmd, req, in, out);
	lacked = was_there();
	tell_fail_nth(0);
	nth = 0;
	return err;
}

#define ASK(_file, _cmd, _req, _out) \
	ask(_file, RDMA_USER_CM_CMD_##_cmd, &(_req), sizeof(_req), _out)

/* ---- commands ---- */

static enum file file_of(enum end end)
{
	return end == CLIENT ? HERE : THERE;
}

static int create(enum end end)
{
	struct rdma_ucm_create_id_resp resp;
	struct rdma_ucm_create_id req = { .response = (uintptr_t)&resp, .ps = flow.ps };
	int err;

	req.qp_type = flow.ps == RDMA_PS_TCP ? IBV_QPT_RC : IBV_QPT_UD;
	err = ASK(file_of(end), CREATE_ID, req, sizeof(resp));
	if (!err)
		flow.id[end] = resp.id;
	return err;
}

static int create_listener(void) { return create(LISTENER); }
static int create_client(void) { return create(CLIENT); }

static int bind_to(enum end end, uint16_t port)
{
	struct rdma_ucm_bind req = { .id = flow.id[end], .addr_size = sizeof(address) };

	address.sin_port = htons(port);
	memcpy(&req.addr, &address, sizeof(address));
	return ASK(file_of(end), BIND, req, 0);
}

static int bind_listener(void) { return bind_to(LISTENER, flow.ps == RDMA_PS_TCP ? 7790 : 7791); }
static int bind_client(void) { return bind_to(CLIENT, 0); }

static int begin_listen(void)
{
	struct rdma_ucm_listen req = { .id = flow.id[LISTENER], .backlog = 2 };

	return ASK(THERE, LISTEN, req, 0);
}

static int set_option(void)
{
	uint8_t tos = 8;
	struct rdma_ucm_set_option req = {
		.optval = (uintptr_t)&tos, .optlen = 1, .id = flow.id[CLIENT],
	};

	return ASK(HERE, SET_OPTION, req, 0);
}

static int resolve_addr(void)
{
	struct rdma_ucm_resolve_addr req = {
		.id = flow.id[CLIENT], .timeout_ms = PATIENCE, .dst_size = sizeof(address),
	};

	memcpy(&req.dst_addr, &address, sizeof(address));
	return ASK(HERE, RESOLVE_ADDR, req, 0);
}

static int resolve_route(void)
{
	struct rdma_ucm_resolve_route req = { .id = flow.id[CLIENT], .timeout_ms = PATIENCE };

	return ASK(HERE, RESOLVE_ROUTE, req, 0);
}

static int query(uint32_t option)
{
	uint8_t resp[512];
	struct rdma_ucm_query req = {
		.response = (uintptr_t)resp, .id = flow.id[CLIENT], .option = option,
	};

	return ASK(HERE, QUERY, req, sizeof(resp));
}

static int query_addr(void) { return query(RDMA_USER_CM_QUERY_ADDR); }
static int query_path(void) { return query(RDMA_USER_CM_QUERY_PATH); }
static int query_gid(void) { return query(RDMA_USER_CM_QUERY_GID); }

static int init_qp_attr(void)
{
	struct ib_uverbs_qp_attr resp;
	struct rdma_ucm_init_qp_attr req = {
		.response = (uintptr_t)&resp, .id = flow.id[CLIENT], .qp_state = IBV_QPS_INIT,
	};

	return ASK(HERE, INIT_QP_ATTR, req, sizeof(resp));
}

static struct rdma_ucm_conn_param parameters(enum end end)
{
	return (struct rdma_ucm_conn_param) {
		.qp_num = FIRST_QPN + ENDS * flow.number + end,
		.qkey = 0x1234, .private_data = "words", .private_data_len = 5,
		.responder_resources = 1, .initiator_depth = 1,
		.retry_count = 7, .rnr_retry_count = 7, .valid = 1,
	};
}

static int begin_connect(void)
{
	struct rdma_ucm_connect req = { .conn_param = parameters(CLIENT), .id = flow.id[CLIENT] };

	return ASK(HERE, CONNECT, req, 0);
}

static int accept_it(void)
{
	struct rdma_ucm_accept req = { .conn_param = parameters(SERVER), .id = flow.id[SERVER] };

	return ASK(THERE, ACCEPT, req, 0);
}

/* The client's part when its QP is ready */
static int complete(void)
{
	struct rdma_ucm_accept req = { .id = flow.id[CLIENT] };

	return ASK(HERE, ACCEPT, req, 0);
}

static int migrate(void)
{
	struct rdma_ucm_migrate_resp resp;
	struct rdma_ucm_migrate_id req = {
		.response = (uintptr_t)&resp, .id = flow.id[SERVER], .fd = flow.fd[THERE],
	};

	return ASK(ELSEWHERE, MIGRATE_ID, req, sizeof(resp));
}

static int disconnect(enum file file, enum end end)
{
	struct rdma_ucm_disconnect req = { .id = flow.id[end] };

	return ASK(file, DISCONNECT, req, 0);
}

static int disconnect_client(void) { return disconnect(HERE, CLIENT); }
static int disconnect_server(void) { return disconnect(ELSEWHERE, SERVER); }

static int join_group(void)
{
	struct rdma_ucm_create_id_resp resp;
	struct rdma_ucm_join_mcast req = {
		.response = (uintptr_t)&resp, .id = flow.id[CLIENT], .addr_size = sizeof(group),
		.join_flags = RDMA_MC_JOIN_FLAG_FULLMEMBER,
	};
	int err;

	memcpy(&req.addr, &group, sizeof(group));
	err = ASK(HERE, JOIN_MCAST, req, sizeof(resp));
	if (!err)
		flow.id[SERVER] = resp.id;
	return err;
}

/* A command that destroys has done so, even if its answer cannot be written. */
static int gone(int err)
{
	return flow.again && err == ENOENT ? 0 : err;
}

static int leave_group(void)
{
	struct rdma_ucm_destroy_id_resp resp;
	struct rdma_ucm_destroy_id req = { .response = (uintptr_t)&resp, .id = flow.id[SERVER] };

	return gone(ASK(HERE, LEAVE_MCAST, req, sizeof(resp)));
}

static int destroy(enum file file, enum end end)
{
	struct rdma_ucm_destroy_id_resp resp;
	struct rdma_ucm_destroy_id req = { .response = (uintptr_t)&resp, .id = flow.id[end] };

	return gone(ASK(file, DESTROY_ID, req, sizeof(resp)));
}

static int destroy_client(void) { return destroy(HERE, CLIENT); }
static int destroy_listener(void) { return destroy(THERE, LISTENER); }

static int destroy_server(void)
{
	return destroy(flow.ps == RDMA_PS_TCP ? ELSEWHERE : THERE, SERVER);
}

/* ---- events ---- */

/* Reads one of two events. An event whose read has failed is read again. */
static int get_either(enum file file, enum event wanted, enum event other)
{
	struct pollfd ready = { .fd = flow.fd[file], .events = POLLIN };
	struct rdma_ucm_event_resp event = {};
	struct rdma_ucm_get_event req = { .response = (uintptr_t)&event };
	int err;

	if (poll(&ready, 1, PATIENCE) != 1)
		return ETIMEDOUT;
	err = ASK(file, GET_EVENT, req, sizeof(event));
	if (err)
		return err;
	if (event.event != wanted && event.event != other) {
		printf("# event %u with status %d came, not %u\n", event.event,
		       (int)event.status, wanted);
		return EPROTO;
	}
	if (wanted == CONNECT_REQUEST)
		flow.id[SERVER] = event.id;
	return 0;
}

static int get_event(enum file file, enum event wanted)
{
	return get_either(file, wanted, wanted);
}

static int addr_resolved(void) { return get_event(HERE, ADDR_RESOLVED); }
static int route_resolved(void) { return get_event(HERE, ROUTE_RESOLVED); }
static int requested(void) { return get_event(THERE, CONNECT_REQUEST); }
static int responded(void) { return get_event(HERE, CONNECT_RESPONSE); }
static int established(void) { return get_event(THERE, ESTABLISHED); }
static int found(void) { return get_event(HERE, ESTABLISHED); }
static int server_ended(void) { return get_event(ELSEWHERE, DISCONNECTED); }
static int client_ended(void) { return get_event(HERE, DISCONNECTED); }
static int client_refused(void) { return get_either(HERE, REJECTED, UNREACHABLE); }
static int server_refused(void) { return get_event(THERE, REJECTED); }
static int joined(void) { return get_event(HERE, MULTICAST_JOIN); }

/* ---- sequences ---- */

/**
 * struct step - a command of a sequence
 * @name: which one
 * @run: makes it; returns its errno
 * @refused: for a command that may fail for good: the events of the other end, and how the sequence
 *	ends; NULL for a command that has to succeed in the end
 */
struct step {
	const char *name;
	int (*run)(void);
	int (*refused)(void);
};

#define STEP(_run) { #_run, _run, NULL }
#define STEP_OR(_run, _refused) { #_run, _run, _refused }

static const struct step connection[] = {
	STEP(create_listener), STEP(bind_listener), STEP(begin_listen), STEP(create_client),
	STEP(set_option), STEP(resolve_addr), STEP(addr_resolved), STEP(resolve_route),
	STEP(route_resolved), STEP(query_addr), STEP(query_path), STEP(query_gid),
	STEP(init_qp_attr), STEP(begin_connect), STEP(requested),
	STEP_OR(accept_it, client_refused), STEP(responded), STEP_OR(complete, server_refused),
	STEP(established), STEP(migrate), STEP(disconnect_client), STEP(server_ended),
	STEP(disconnect_server), STEP(client_ended), STEP(destroy_client), STEP(destroy_server),
	STEP(destroy_listener), {}
};

static const struct step service[] = {
	STEP(create_listener), STEP(bind_listener), STEP(begin_listen), STEP(create_client),
	STEP(resolve_addr), STEP(addr_resolved), STEP(resolve_route), STEP(route_resolved),
	STEP(begin_connect), STEP(requested), STEP_OR(accept_it, client_refused),
	STEP(found), STEP(destroy_client), STEP(destroy_server), STEP(destroy_listener), {}
};

static const struct step membership[] = {
	STEP(create_client), STEP(bind_client), STEP(join_group), STEP(joined), STEP(leave_group),
	STEP(join_group), STEP(joined), STEP(destroy_client), {}
};

/* Route lookups report a lack of memory by an errno of their own. */
static bool is_lack(int err)
{
	return err == ENOMEM || err == ENOBUFS || err == EFAULT;
}

/* Runs the sequence with the fault in one step. */
static bool play(const struct step *steps, const struct step *faulty, unsigned int fault)
{
	bool good = true, ended = false;

	lacked = false;
	flow.number++;
	for (int i = 0; i < FILES; i++)
		flow.fd[i] = ucma_open();
	for (const struct step *step = steps; good && !ended && step->name; step++) {
		int err;

		nth = step == faulty ? fault : 0;
		err = step->run();
		nth = 0;
		if (step == faulty && lacked && is_lack(err)) {
			flow.again = true;
			err = step->run();
			flow.again = false;
			ended = err == EINVAL && step->refused;
			if (ended)
				err = step->refused();
		}
		good = !err;
		if (err)
			printf("# fault %u of %s: %s has failed: %s\n", fault, faulty->name,
			       step->name, strerror(err));
	}
	for (int i = 0; i < FILES; i++)
		close(flow.fd[i]);
	return good;
}

/* Runs the sequence with each fault of each step; at least one fault of all must have happened. */
static void sweep(const char *name, uint16_t ps, const struct step *steps)
{
	unsigned int all = 0, bad = 0;

	flow.ps = ps;
	for (const struct step *step = steps; step->name; step++) {
		unsigned int fault = 0;

		do {
			fault++;
			bad += !play(steps, step, fault);
		} while (lacked && fault < MOST_FAULTS);
		bad += fault == MOST_FAULTS;
		all += fault - 1;
		printf("# %s: %u faults\n", step->name, fault - 1);
	}
	printf("%sok %u - %s, with %u faults\n", bad || !all ? "not " : "", ++point, name, all);
	failed += bad || !all;
}

int main(int argc, char **argv)
{
	if (argc != 2 || inet_pton(AF_INET, argv[1], &address.sin_addr) != 1) {
		fprintf(stderr, "usage: cm_memory ADDRESS\n");
		return 2;
	}
	inet_pton(AF_INET, GROUP, &group.sin_addr);
	setlinebuf(stdout);
	fail_nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (fail_nth < 0) {
		perror("fail-nth");
		return 1;
	}
	printf("TAP version 13\n1..3\n");
	sweep("a connection", RDMA_PS_TCP, connection);
	sweep("a datagram service", RDMA_PS_UDP, service);
	sweep("a member of a group", RDMA_PS_UDP, membership);
	return failed > 0;
}
