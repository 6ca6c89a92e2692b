// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * exhaust DEVICE ERRNO: objects of each kind are made until one is refused, which must be with this
 * errno, and all are destroyed; ten times, and there is always room for as many. TAP on stdout.
 * exhaust DEVICE hold: a process takes all objects that there are, prints a line, and waits.
 * exhaust DEVICE many: a process makes 100,000 objects, prints a line, and waits.
 * exhaust DEVICE opens PROCESSES FILES: PROCESSES processes try to open the device FILES times
 * each; prints how many opens there were at once, and the errno of the refusals.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"

#define TIMES	10
#define MOST	1000	/* far beyond the limits of the device that this is for */
#define MANY	100000

static const char *device;
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_qp *datagrams;
static char memory[4096];
static unsigned int group;

static void *make_context(void)
{
	return open_device(device);
}

static int end_context(void *object)
{
	return ibv_close_device(object);
}

static void *make_pd(void)
{
	return ibv_alloc_pd(context);
}

static int end_pd(void *object)
{
	return ibv_dealloc_pd(object);
}

static void *make_cq(void)
{
	return ibv_create_cq(context, 4, NULL, NULL, 0);
}

static int end_cq(void *object)
{
	return ibv_destroy_cq(object);
}

static void *make_srq(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 4, .max_sge = 1 } };

	return ibv_create_srq(pd, &attr);
}

static int end_srq(void *object)
{
	return ibv_destroy_srq(object);
}

static struct ibv_qp *qp_of(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .qp_type = type,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	return ibv_create_qp(pd, &attr);
}

static void *make_qp(void)
{
	return qp_of(IBV_QPT_RC);
}

static int end_qp(void *object)
{
	return ibv_destroy_qp(object);
}

static void *make_mr(void)
{
	return ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
}

static int end_mr(void *object)
{
	return ibv_dereg_mr(object);
}

static void *make_mw(void)
{
	return ibv_alloc_mw(pd, IBV_MW_TYPE_1);
}

static int end_mw(void *object)
{
	return ibv_dealloc_mw(object);
}

static void *make_xrcd(void)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1, .oflags = O_CREAT,
	};

	return ibv_open_xrcd(context, &attr);
}

static int end_xrcd(void *object)
{
	return ibv_close_xrcd(object);
}

/* A group is identified here by its number, which is part of its GID. */
static union ibv_gid group_gid(unsigned int number)
{
	union ibv_gid gid = { .raw = { 0xff, 0x12, [14] = number >> 8, [15] = number } };

	return gid;
}

static void *make_group(void)
{
	union ibv_gid gid = group_gid(++group);

	errno = ibv_attach_mcast(datagrams, &gid, 0xc001);
	return errno ? NULL : (void *)(uintptr_t)group;
}

static int end_group(void *object)
{
	union ibv_gid gid = group_gid((uintptr_t)object);

	return ibv_detach_mcast(datagrams, &gid, 0xc001);
}

static const struct {
	const char *name;
	void *(*make)(void);
	int (*end)(void *object);
} kinds[] = {
	{ "protection domains", make_pd, end_pd },
	{ "CQs", make_cq, end_cq },
	{ "SRQs", make_srq, end_srq },
	{ "QPs", make_qp, end_qp },
	{ "regions", make_mr, end_mr },
	{ "windows", make_mw, end_mw },
	{ "XRC domains", make_xrcd, end_xrcd },
	{ "groups", make_group, end_group },
	{ "contexts", make_context, end_context },
};

#define KINDS	(sizeof(kinds) / sizeof(kinds[0]))

/* Makes objects until one is refused. Returns how many there are; errno is the refusal's. */
static unsigned int fill(unsigned int kind, void *objects[MOST])
{
	unsigned int n = 0;

	while (n < MOST) {
		objects[n] = kinds[kind].make();
		if (!objects[n])
			break;
		n++;
	}
	return n;
}

static bool drain(unsigned int kind, void *objects[MOST], unsigned int n)
{
	while (n--) {
		int err = kinds[kind].end(objects[n]);

		if (err) {
			printf("# %s: one does not go: %s\n", kinds[kind].name,
			       strerrorname_np(err));
			return false;
		}
	}
	return true;
}

/* Returns whether every time there was room for as many, and the refusal was as expected. */
static bool ten_times(unsigned int kind, const char *refusal)
{
	static void *objects[MOST];
	unsigned int n, first = 0;

	for (unsigned int i = 0; i < TIMES; i++) {
		const char *said;

		n = fill(kind, objects);
		said = n < MOST ? strerrorname_np(errno) : "nothing";
		if (!i)
			printf("# %u %s, then %s\n", n, kinds[kind].name, said);
		if (!drain(kind, objects, n))
			return false;
		first = i ? first : n;
		if (!n || n != first || strcmp(said, refusal)) {
			printf("# time %u: %u %s, then %s\n", i + 1, n, kinds[kind].name, said);
			return false;
		}
	}
	return true;
}

static int hold(void)
{
	static void *objects[MOST];

	for (unsigned int kind = 0; kind < KINDS; kind++)
		if (fill(kind, objects) == MOST)
			return 1;
	puts("full");
	fflush(stdout);
	pause();
	return 1;
}

/* 100,000 objects: of each kind a part of what a device with the default limits has. */
static int many(void)
{
	static const struct {
		void *(*make)(void);
		unsigned int n;
	} parts[] = {
		{ make_pd, 20000 }, { make_cq, 4000 }, { make_srq, 4000 }, { make_qp, 2000 },
		{ make_mr, 50000 }, { make_mw, 10000 }, { make_xrcd, 10000 },
	};
	unsigned int all = 0;

	for (unsigned int i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		for (unsigned int n = 0; n < parts[i].n; n++, all++)
			if (!parts[i].make()) {
				perror("an object");
				return 1;
			}
	if (all != MANY)
		return 1;
	puts("full");
	fflush(stdout);
	pause();
	return 1;
}

/* A child: opens the device @files times, reports, and waits until its parent has all reports. */
static void opener(unsigned int files, int told, int go)
{
	int said[2] = { 0, 0 };
	char byte;

	for (unsigned int i = 0; i < files; i++) {
		if (make_context())
			said[0]++;
		else
			said[1] = errno;
	}
	if (write(told, said, sizeof(said)) != sizeof(said) || read(go, &byte, 1))
		_exit(1);
	_exit(0);
}

static int opens(unsigned int processes, unsigned int files)
{
	unsigned int sum = 0, refused = 0;
	int told[2], go[2], said[2], err = 0, status, rc = 0;

	if (pipe(told) || pipe(go))
		return 1;
	for (unsigned int i = 0; i < processes; i++) {
		if (fork())
			continue;
		close(go[1]);
		opener(files, told[1], go[0]);
	}
	for (unsigned int i = 0; i < processes; i++) {
		if (read(told[0], said, sizeof(said)) != sizeof(said))
			return 1;
		sum += said[0];
		refused += !!said[1];
		if (said[1] && err && said[1] != err)
			rc = 1;
		err = said[1] ?: err;
	}
	close(go[1]);
	while (wait(&status) > 0)
		rc |= !!status;
	printf("%u %s\n", sum, err ? strerrorname_np(err) : "all");
	fprintf(stderr, "# %u processes were refused\n", refused);
	return rc;
}

int main(int argc, char **argv)
{
	unsigned int failed = 0;

	if (argc < 3)
		return 2;
	device = argv[1];
	if (!strcmp(argv[2], "opens"))
		return argc == 5 ? opens(atoi(argv[3]), atoi(argv[4])) : 2;
	context = open_device(device);
	pd = context ? ibv_alloc_pd(context) : NULL;
	cq = pd ? ibv_create_cq(context, 4, NULL, NULL, 0) : NULL;
	datagrams = cq ? qp_of(IBV_QPT_UD) : NULL;
	if (!datagrams)
		return 2;
	if (!strcmp(argv[2], "hold"))
		return hold();
	if (!strcmp(argv[2], "many"))
		return many();
	printf("1..%zu\n", KINDS);
	for (unsigned int kind = 0; kind < KINDS; kind++) {
		bool good = ten_times(kind, argv[2]);

		printf("%sok %u - all %s, %d times\n", good ? "" : "not ", kind + 1,
		       kinds[kind].name, TIMES);
		failed += !good;
	}
	return !!failed;
}
