// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * rounds DEVICE OWN TIMES unbind|reset|fatal|kill|lies [SEED]: TIMES times a program writes by a
 * QP, and makes and destroys objects meanwhile, until the device goes or it is killed; TAP on
 * stdout.  OWN is what the host calls the device.  Until then each call succeeds, each write does,
 * and its bytes arrive.  A program whose device goes is told so, can return all that it has, and
 * ends; the next one finds another device.
 *
 * A device that lies, in what and when follows from SEED, is reset a moment later, if its driver
 * has not given it up before.  What a program then does is its own affair, as long as it ends by
 * itself.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "device.h"

#define PATIENCE	120		/* seconds */
#define TOLD		100		/* rounds after which a line says so */
#define LATEST		20000		/* microseconds of work before the device goes */
#define LENGTH		2048		/* bytes that are written at a time: several packets */
#define LIES_FOR	200000		/* microseconds, if the device is not given up before */

enum kind { UNBIND, RESET, FATAL, KILL, LIES, KINDS };
static const char *const kinds[KINDS] = { "unbind", "reset", "fatal", "kill", "lies" };

/* ---- the program that has the device ---- */

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static char buf[2][2 * LENGTH];
static atomic_bool over;	/* DEVICE_FATAL was read */
static atomic_bool *taken;	/* shared with who takes the device, and set just before */

static void fail(const char *what, const char *why)
{
	printf("# %s: %s%s\n", what, why, *taken ? "" : ", and nobody has taken the device");
	fflush(stdout);
	_exit(1);
}

/* EIO is what a program gets whose device was taken; anything else ends it. */
static void must(bool good, const char *what)
{
	if (!good && (errno != EIO || !*taken))
		fail(what, strerrorname_np(errno) ?: "no errno");
}

static void must_return(int err, const char *what)
{
	errno = err;
	must(!err, what);
}

static void *hear(void *arg)
{
	struct ibv_async_event event;

	while (!over) {
		if (ibv_get_async_event(ctx, &event))
			fail("ibv_get_async_event", "no DEVICE_FATAL");
		if (event.event_type == IBV_EVENT_DEVICE_FATAL) {
			if (!*taken)
				fail("an event", "DEVICE_FATAL");
			over = true;
		}
		ibv_ack_async_event(&event);
	}
	return arg;
}

static void *make_and_destroy(void *arg)
{
	while (!over) {
		struct ibv_mr *mr = ibv_reg_mr(pd, buf[1], sizeof(buf[1]), 0);
		struct ibv_cq *cq;

		must(mr, "ibv_reg_mr");
		cq = ibv_create_cq(ctx, 4, NULL, NULL, 0);
		must(cq, "ibv_create_cq");
		must_return(cq ? ibv_destroy_cq(cq) : 0, "ibv_destroy_cq");
		must_return(mr ? ibv_dereg_mr(mr) : 0, "ibv_dereg_mr");
	}
	return arg;
}

/* Writes once, other bytes each time.  Returns whether the device has done it. */
static bool write_once(struct ibv_qp *qp, struct ibv_cq *cq, const struct ibv_mr *mr)
{
	char *from = buf[0], *to = buf[0] + LENGTH;
	struct ibv_sge sge = { .addr = (uintptr_t)from, .length = LENGTH, .lkey = mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = (uintptr_t)to, .rkey = mr->rkey },
	}, *bad;
	static unsigned int turn;
	struct ibv_wc wc;
	int err, n = 0;

	turn++;
	for (int i = 0; i < LENGTH; i++)
		from[i] = turn + i % 251;
	err = ibv_post_send(qp, &wr, &bad);
	must_return(err, "ibv_post_send");
	if (err)
		return false;
	while (!n && !over)
		n = ibv_poll_cq(cq, 1, &wc);
	if (n < 0 && !*taken)
		fail("ibv_poll_cq", "an error");
	if (n == 1 && wc.status && !*taken)
		fail("a write", ibv_wc_status_str(wc.status));
	if (n != 1 || wc.status)
		return false;
	if (memcmp(from, to, LENGTH))
		fail("a write has succeeded", "other bytes have arrived");
	return true;
}

/* Writes until the device goes, and to the pipe when the first has arrived. */
static void write_on(struct ibv_qp *qp, struct ibv_cq *cq, const struct ibv_mr *mr, int begun)
{
	bool told = false;

	while (!over && write_once(qp, cq, mr))
		if (!told)
			told = write(begun, "x", 1) == 1;
	while (!over)
		usleep(1000);		/* DEVICE_FATAL comes */
}

static int use(const char *name, int begun)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	pthread_t threads[2];
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_qp *qp;

	ctx = open_device(name);
	pd = ctx ? ibv_alloc_pd(ctx) : NULL;
	mr = pd ? ibv_reg_mr(pd, buf[0], sizeof(buf[0]), IBV_ACCESS_LOCAL_WRITE |
			     IBV_ACCESS_REMOTE_WRITE) : NULL;
	cq = ctx ? ibv_create_cq(ctx, 16, NULL, NULL, 0) : NULL;
	init.send_cq = cq;
	init.recv_cq = cq;
	qp = mr && cq ? ibv_create_qp(pd, &init) : NULL;
	if (!qp || !connect_rc(qp, qp, IBV_ACCESS_REMOTE_WRITE) ||
	    pthread_create(&threads[0], NULL, hear, NULL) ||
	    pthread_create(&threads[1], NULL, make_and_destroy, NULL)) {
		perror("# a program does not begin");
		return 1;
	}
	write_on(qp, cq, mr, begun);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	if (!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq) && !ibv_dereg_mr(mr) &&
	    !ibv_dealloc_pd(pd) && !ibv_close_device(ctx))
		return 0;
	perror("# something is not returned");
	return 1;
}

/* ---- its end ---- */

struct round {
	const char *name, *own;
	struct driver driver;
	enum kind kind;
	ino_t was;		/* of the device */
	int given_up;		/* LIES: how often the driver has, before the reset */
};

static ino_t inode(const char *name)
{
	char path[128];
	struct stat info;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s", name);
	return stat(path, &info) ? 0 : info.st_ino;
}

static bool gone(const struct round *r)
{
	return inode(r->name) != r->was;
}

/* Another device can be used. */
static bool comes(const struct round *r)
{
	struct ibv_port_attr port;
	struct ibv_context *other = gone(r) ? open_device(r->name) : NULL;
	bool good = other && !ibv_query_port(other, 1, &port) && port.state == IBV_PORT_ACTIVE;

	if (other)
		ibv_close_device(other);
	return good;
}

static bool within(bool (*condition)(const struct round *r), const struct round *r)
{
	time_t end = time(NULL) + PATIENCE;

	while (!condition(r)) {
		if (time(NULL) > end)
			return false;
		usleep(2000);
	}
	return true;
}

/* Has the host make a fault of the device. */
static bool ask_host(const struct round *r, const char *kind, const char *how)
{
	char command[256];

	snprintf(command, sizeof(command), "lab-fault %s %s %s", kind, r->own, how);
	return !system(command);
}

static const char *const answers[] = { "twice", "stale", "unknown", "nonsense", NULL };
static const char *const of_event[] = { "number", "kind", "port", "flags", "chance", NULL };
static const char *const of_completion[] = {
	"number", "kind", "port", "flags", "length", "index", "id", "chance", NULL
};

static const char *one_of(const char *const *names)
{
	int n = 0;

	while (names[n])
		n++;
	return names[rand() % n];
}

static bool begins_to_lie(const struct round *r)
{
	const char *kind;
	char how[128];

	switch (rand() % 3) {
	case 0:
		kind = "command";
		snprintf(how, sizeof(how), "answer=%s skip=%d count=%d", one_of(answers),
			 rand() % 16, 1 + rand() % 4);
		break;
	case 1:
		kind = "event";
		snprintf(how, sizeof(how), "lie=%s seed=%d skip=%d count=%d", one_of(of_event),
			 rand() % 1000, rand() % 4, 1 + rand() % 20);
		break;
	default:
		kind = "completion";
		snprintf(how, sizeof(how), "lie=%s seed=%d skip=%d count=%d",
			 one_of(of_completion), rand() % 1000, rand() % 50, 1 + rand() % 50);
		break;
	}
	printf("# %s %s\n", kind, how);
	return ask_host(r, kind, how);
}

/* The device lies, once or twice, and is reset. */
static bool misbehaves(struct round *r)
{
	bool good = begins_to_lie(r) && (rand() % 2 || begins_to_lie(r));

	for (int t = 0; t < LIES_FOR && !gone(r); t += 10000)
		usleep(10000);
	r->given_up += gone(r);
	return ask_host(r, "clear", "") && reset_function(&r->driver) && good;
}

/* Ends the program, or takes the device from it. */
static bool strike(struct round *r, pid_t user)
{
	*taken = r->kind != KILL;
	switch (r->kind) {
	case UNBIND:
		return tell_driver(&r->driver, "unbind");
	case RESET:
		return reset_function(&r->driver);
	case FATAL:
		return ask_host(r, "fatal", "");
	case LIES:
		return misbehaves(r);
	default:
		return !kill(user, SIGKILL);
	}
}

/* The program has ended: the device, if it is gone, comes back. */
static bool restore(const struct round *r)
{
	switch (r->kind) {
	case UNBIND:
		return tell_driver(&r->driver, "bind") && within(comes, r);
	case RESET: case LIES:
		return within(comes, r);
	case FATAL:
		return within(gone, r) && reset_function(&r->driver) && within(comes, r);
	default:
		return !gone(r);
	}
}

static bool ended_well(const struct round *r, pid_t user)
{
	int status;

	if (waitpid(user, &status, 0) != user)
		return false;
	if (r->kind == LIES)
		return WIFEXITED(status);
	if (r->kind == KILL)
		return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	return !status;
}

static bool play(struct round *r)
{
	int begun[2];
	pid_t user;
	bool good;
	char x;

	r->was = inode(r->name);
	*taken = false;
	if (pipe(begun))
		return false;
	user = fork();
	if (!user) {
		close(begun[0]);
		_exit(use(r->name, begun[1]));
	}
	close(begun[1]);
	good = read(begun[0], &x, 1) == 1;
	close(begun[0]);
	usleep(rand() % LATEST);
	good = strike(r, user) && good;
	good = ended_well(r, user) && good;
	return restore(r) && good;
}

static bool find_device(struct round *r)
{
	struct ibv_context *found = open_device(r->name);
	bool good = found && find_driver(&r->driver, found);

	if (found)
		ibv_close_device(found);
	return good;
}

int main(int argc, char **argv)
{
	struct round r = {};
	int times, i = 0;

	if (argc < 5)
		return 2;
	r.name = argv[1];
	r.own = argv[2];
	times = atoi(argv[3]);
	srand(argc > 5 ? atoi(argv[5]) : 1);
	while (r.kind < KINDS && strcmp(argv[4], kinds[r.kind]))
		r.kind++;
	taken = mmap(NULL, sizeof(*taken), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	if (taken == MAP_FAILED)
		return 2;
	setlinebuf(stdout);
	printf("TAP version 13\n1..1\n");
	if (r.kind == KINDS || !find_device(&r)) {
		printf("Bail out! no such device or kind\n");
		return 2;
	}
	while (i < times && play(&r)) {
		if (!(++i % TOLD))
			printf("# %d\n", i);
	}
	if (r.kind == LIES)
		printf("# given up %d times\n", r.given_up);
	printf("%sok 1 - %d of %d times: %s\n", i && i == times ? "" : "not ", i, times, argv[4]);
	return !i || i != times;
}
