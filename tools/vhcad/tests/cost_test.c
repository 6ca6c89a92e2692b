// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the daemon costs: memory of an adapter without objects, of a QP besides its queues and of a
 * memory region; time of many idle adapters.  The daemon without sanitizers is measured, from
 * outside.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "qp/qp.h"
#include "tests/tprog.h"
#include "tests/tremote.h"

#define ADAPTERS	64u
#define QPS		1500u
#define REGIONS		20000u
#define KIB		1024u
#define RW		(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE)

struct host {
	char dir[TPROG_DIR], log[TPROG_PATH], sock[ADAPTERS][TPROG_PATH];
	pid_t pid;
};

static void start(struct host *r, u32 adapters)
{
	char *argv[2 * ADAPTERS + 4] = { "vhcad" };
	u32 n = 1;

	tprog_dir(r->dir);
	tprog_in(r->dir, "log", r->log);
	argv[n++] = "--log";
	argv[n++] = r->log;
	for (u32 i = 0; i < adapters; i++) {
		snprintf(r->sock[i], sizeof(r->sock[i]), "%s/%u", r->dir, i);
		argv[n++] = "--hca";
		argv[n++] = r->sock[i];
	}
	r->pid = tprog_start(tprog_path("VHCAD_FAST"), argv);
}

static void stop(struct host *r)
{
	tprog_stop(r->pid, SIGTERM);
	r->pid = 0;
	tprog_dir_end(r->dir, r->log, NULL);
}

static void empty_adapter(void **state)
{
	u64 one, many, each;
	struct host *r = *state;

	start(r, 1);
	one = tprog_private_bytes(r->pid);
	stop(r);
	start(r, ADAPTERS);
	many = tprog_private_bytes(r->pid);
	stop(r);
	each = (many - one) / (ADAPTERS - 1);
	printf("an adapter without objects: %llu KiB\n", (unsigned long long)each / KIB);
	assert_true(each < 64 * KIB);
}

static void queue_pair(void **state)
{
	struct tqp *qp = calloc(QPS, sizeof(*qp));
	u64 before, made, connected, each;
	struct tworld w;
	struct thca h;
	struct tcq cq;
	struct host *r = *state;

	assert_non_null(qp);
	start(r, 1);
	t_remote_world(&w);
	t_remote_init(&h, &w, r->sock[0]);
	t_db_pages(&h);
	t_cq_init(&h, &cq, 4, 0);
	before = tprog_private_bytes(r->pid);
	for (u32 i = 0; i < QPS; i++)
		t_qp_init_size(&h, &qp[i], &cq, &cq, 0, 0, 5, 0);
	made = tprog_private_bytes(r->pid);
	for (u32 i = 0; i < QPS; i += 2)
		t_connect(&qp[i], &qp[i + 1], 3, 1, 2);
	connected = tprog_private_bytes(r->pid);
	/* its send queue has one entry, and the device a note of that */
	each = (made - before) / QPS - sizeof(struct tx_req);
	printf("a QP besides its queues: %llu bytes; connected %llu more\n",
	       (unsigned long long)each, (unsigned long long)(connected - made) / QPS);
	assert_true(each < KIB);
	t_remote_fini(&h);
	stop(r);
	free(qp);
}

/* Of any size: its pages are listed in the guest's memory. */
static void memory_region(void **state)
{
	struct vhca_create_mkey_req req = {
		.iova = htole64(1ull << 40), .length = htole64(1ull << 30),
		.access = htole32(RW),
		.buf = { .npages = htole32(1u << 18), .page_shift = 12, .levels = 2 },
	};
	u64 before, each;
	struct tworld w;
	struct thca h;
	struct host *r = *state;

	start(r, 1);
	t_remote_world(&w);
	t_remote_init(&h, &w, r->sock[0]);
	req.pdn = htole32(h.pd);
	req.buf.addr = htole64(t_alloc(&h, 4096));
	before = tprog_private_bytes(r->pid);
	for (u32 i = 0; i < REGIONS; i++)
		t_create(&h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req));
	each = (tprog_private_bytes(r->pid) - before) / REGIONS;
	printf("a memory region: %llu bytes\n", (unsigned long long)each);
	assert_true(each < 128);
	t_remote_fini(&h);
	stop(r);
}

struct guest {
	struct thca h;
	struct tcq cq;
	struct tqp qp[2];	/* to the next guest, and to the one before */
	struct tmr mr;
};

static bool has_completed(void *arg)
{
	struct guest *g = arg;
	struct vhca_cqe e;

	if (!t_cq_poll(&g->cq, &e))
		return false;
	assert_int_equal(e.status, VHCA_CS_SUCCESS);
	return true;
}

/* Each writes to the next one; after that no thread wakes up, for whatever reason. */
static void many_adapters(void **state)
{
	struct guest *g = calloc(ADAPTERS, sizeof(*g));
	unsigned long switches;
	u64 before, each;
	struct tworld w;
	struct host *r = *state;

	assert_non_null(g);
	start(r, ADAPTERS);
	before = tprog_private_bytes(r->pid);
	t_remote_world(&w);
	for (u32 i = 0; i < ADAPTERS; i++) {
		t_remote_init(&g[i].h, &w, r->sock[i]);
		t_cq_init(&g[i].h, &g[i].cq, 4, 0);
		for (u32 k = 0; k < 2; k++)
			t_qp_init_size(&g[i].h, &g[i].qp[k], &g[i].cq, &g[i].cq, 4, 4, 5,
				       VHCA_QP_SIGNAL_ALL);
		t_mr_init(&g[i].h, &g[i].mr, 1ull << 40, 8192, RW, 1, 12);
		t_mr_fill(&g[i].mr, i);
	}
	for (u32 i = 0; i < ADAPTERS; i++) {
		struct guest *next = &g[(i + 1) % ADAPTERS];

		t_connect(&g[i].qp[0], &next->qp[1], 3, 1, 2);
		t_allow(&next->qp[1], RW);
	}
	for (u32 i = 0; i < ADAPTERS; i++) {
		struct guest *next = &g[(i + 1) % ADAPTERS];
		struct twr wr = t_wr(VHCA_OP_WRITE, i, &g[i].mr, 0, 4096, &next->mr, 4096);

		t_send(&g[i].qp[0], &wr);
	}
	for (u32 i = 0; i < ADAPTERS; i++) {
		t_wait(&g[i].h, has_completed, &g[i]);
		t_mr_expect(&g[(i + 1) % ADAPTERS].mr, 4096, 4096, i, 0);
	}
	each = (tprog_private_bytes(r->pid) - before) / ADAPTERS;
	printf("a guest with two QPs, besides its adapter: %llu KiB\n",
	       (unsigned long long)each / KIB);
	assert_true(each < 128 * KIB);
	/* after the last answer */
	tprog_asleep(r->pid);
	switches = tprog_switches(r->pid);
	nanosleep(&(struct timespec){ .tv_sec = 3 }, NULL);
	assert_int_equal(tprog_switches(r->pid), switches);
	for (u32 i = 0; i < ADAPTERS; i++)
		t_remote_fini(&g[i].h);
	stop(r);
	free(g);
}

static int setup(void **state)
{
	static struct host r;

	*state = &r;
	return 0;
}

static int teardown(void **state)
{
	struct host *r = *state;

	tprog_abandon(r->pid);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(empty_adapter, setup, teardown),
		cmocka_unit_test_setup_teardown(queue_pair, setup, teardown),
		cmocka_unit_test_setup_teardown(memory_region, setup, teardown),
		cmocka_unit_test_setup_teardown(many_adapters, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
