// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * uverbs_removal DEVICE: the device is unbound from its driver while a program uses it; TAP on
 * stdout.  The program learns of it from DEVICE_FATAL and from EIO, keeps mappings that can be
 * accessed, and can destroy everything that it has.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"

#define MAX_MAPS 16

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_comp_channel *channel;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mw *windows[2];
static char *buf;
static struct driver driver;

static unsigned int point, failed;

static void report(bool good, const char *name)
{
	printf("%sok %u - %s\n", good ? "" : "not ", ++point, name);
	failed += !good;
}

/* ---- waits in the kernel while the device is removed ---- */

static struct {
	bool fatal;		/* DEVICE_FATAL was read */
	int end_errno;		/* what ended the stream */
	int comp_errno;		/* what ended the wait for a completion event */
} seen;

static void *read_async(void *arg)
{
	struct ibv_async_event event;

	while (!ibv_get_async_event(ctx, &event)) {
		seen.fatal |= event.event_type == IBV_EVENT_DEVICE_FATAL;
		ibv_ack_async_event(&event);
	}
	seen.end_errno = errno;
	return arg;
}

static void *read_comp(void *arg)
{
	struct ibv_cq *from;
	void *context;

	seen.comp_errno = ibv_get_cq_event(channel, &from, &context) ? errno : 0;
	return arg;
}

/* ---- the device's pages ---- */

static unsigned int map_pages(volatile char *pages[MAX_MAPS])
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long start;
	unsigned int n = 0;
	char line[512], rights[8];

	while (maps && n < MAX_MAPS && fgets(line, sizeof(line), maps))
		if (strstr(line, "/dev/infiniband/uverbs") &&
		    sscanf(line, "%lx-%*x %7s", &start, rights) == 2 && rights[1] == 'w')
			pages[n++] = (volatile char *)start;
	if (maps)
		fclose(maps);
	return n;
}

/* A process that is killed by a signal reports failure. */
static void touch_pages(volatile char *pages[MAX_MAPS], unsigned int n)
{
	while (n--)
		pages[n][4095] = 0;
}

/* ---- removal ---- */

/* Connects the QP to itself. */
static bool connect_self(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_port_attr port;

	if (ibv_query_port(ctx, 1, &port) ||
	    ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			  IBV_QP_ACCESS_FLAGS))
		return false;
	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = qp->qp_num,
		.ah_attr = { .dlid = port.lid, .port_num = 1 }, .min_rnr_timer = 12,
	};
	if (ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			  IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			  IBV_QP_MIN_RNR_TIMER))
		return false;
	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7,
	};
	return !ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
			      IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
}

/*
 * Binds a window of each type to the region.  They are older than it: a destruction in the order
 * from the youngest object on meets a region with windows.
 */
static bool bind_windows(void)
{
	struct ibv_mw_bind_info info = {
		.mr = mr, .addr = (uintptr_t)buf, .length = 4096,
		.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	struct ibv_mw_bind one = { .send_flags = IBV_SEND_SIGNALED, .bind_info = info };
	struct ibv_send_wr two = {
		.opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED,
		.bind_mw = { .mw = windows[1], .bind_info = info,
			     .rkey = ibv_inc_rkey(windows[1]->rkey) },
	}, *bad;
	struct ibv_wc wc;
	int n;

	if (!connect_self() || ibv_bind_mw(qp, windows[0], &one) || ibv_post_send(qp, &two, &bad))
		return false;
	for (int i = 0; i < 2; i++) {
		do
			n = ibv_poll_cq(cq, 1, &wc);
		while (!n);
		if (n < 0 || wc.status)
			return false;
	}
	return true;
}

static bool set_up(const char *name)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	ctx = open_device(name);
	if (!ctx || !find_driver(&driver, ctx))
		return false;
	buf = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pd = ibv_alloc_pd(ctx);
	windows[0] = pd ? ibv_alloc_mw(pd, IBV_MW_TYPE_1) : NULL;
	windows[1] = pd ? ibv_alloc_mw(pd, IBV_MW_TYPE_2) : NULL;
	if (!windows[0] || !windows[1])
		return false;
	mr = ibv_reg_mr(pd, buf, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	channel = ibv_create_comp_channel(ctx);
	cq = channel ? ibv_create_cq(ctx, 16, NULL, channel, 0) : NULL;
	init.send_cq = cq;
	init.recv_cq = cq;
	qp = mr && cq ? ibv_create_qp(pd, &init) : NULL;
	return qp && bind_windows();
}

int main(int argc, char **argv)
{
	volatile char *pages[MAX_MAPS];
	struct ibv_device **list;
	struct ibv_port_attr port;
	pthread_t async, comp;
	unsigned int n;
	int status = -1, gate[2];
	pid_t child;
	char go;

	if (argc != 2 || !set_up(argv[1])) {
		printf("Bail out! %s cannot be set up: %s\n", argv[argc - 1], strerror(errno));
		return 1;
	}
	setlinebuf(stdout);
	printf("TAP version 13\n1..13\n");

	n = map_pages(pages);
	printf("# %u writable mappings of the device\n", n);
	report(n > 0, "the device's pages are mapped");
	touch_pages(pages, n);

	/* a child that inherits the mappings and accesses them when the device is removed */
	if (pipe(gate))
		return 1;
	child = fork();
	if (!child) {
		close(gate[1]);
		if (read(gate[0], &go, 1) == 1)
			touch_pages(pages, n);
		_exit(0);
	}
	pthread_create(&async, NULL, read_async, NULL);
	pthread_create(&comp, NULL, read_comp, NULL);

	report(tell_driver(&driver, "unbind"), "the driver lets the device go");
	pthread_join(async, NULL);
	pthread_join(comp, NULL);
	report(seen.fatal, "the async file delivers DEVICE_FATAL");
	report(seen.end_errno == EIO, "and then ends with EIO");
	report(seen.comp_errno == EIO, "the completion channel ends with EIO");

	report(ibv_query_port(ctx, 1, &port) == EIO, "a query fails with EIO");
	errno = 0;
	report(!ibv_alloc_pd(ctx) && errno == EIO, "making an object fails with EIO");
	touch_pages(pages, n);
	report(true, "the device's pages can be touched");
	report(write(gate[1], "x", 1) == 1 && waitpid(child, &status, 0) == child && !status,
	       "and by a child that inherited them");

	report(!ibv_dereg_mr(mr) && !ibv_dealloc_mw(windows[0]) && !ibv_dealloc_mw(windows[1]) &&
	       !ibv_destroy_qp(qp) && !ibv_destroy_cq(cq) && !ibv_dealloc_pd(pd) &&
	       !ibv_destroy_comp_channel(channel),
	       "every object can be returned");
	report(!ibv_close_device(ctx), "the context can be closed");

	report(tell_driver(&driver, "bind"), "the driver takes the device again");
	list = ibv_get_device_list(NULL);
	ctx = list && list[0] ? ibv_open_device(list[0]) : NULL;
	report(ctx && !ibv_query_port(ctx, 1, &port), "and it answers");
	return failed > 0;
}
