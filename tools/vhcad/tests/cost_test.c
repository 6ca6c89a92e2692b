// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory of the daemon: what an adapter without objects takes, and a QP besides
 * its queues.  It is the daemon without sanitizers that is looked at, from outside.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qp/qp.h"
#include "tests/tprog.h"
#include "tests/tremote.h"

#define ADAPTERS	64u
#define QPS		1500u
#define KIB		1024u

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
	tprog_dir_end(r->dir, r->log, NULL);
}

static void empty_adapter(void **state)
{
	u64 one, many, each;
	struct host r;

	start(&r, 1);
	one = tprog_private_bytes(r.pid);
	stop(&r);
	start(&r, ADAPTERS);
	many = tprog_private_bytes(r.pid);
	stop(&r);
	each = (many - one) / (ADAPTERS - 1);
	printf("an adapter without objects: %llu KiB\n", (unsigned long long)each / KIB);
	assert_true(each < 2 * KIB * KIB);
}

static void queue_pair(void **state)
{
	struct tqp *qp = calloc(QPS, sizeof(*qp));
	u64 before, made, connected, each;
	struct tworld w;
	struct thca h;
	struct tcq cq;
	struct host r;

	assert_non_null(qp);
	start(&r, 1);
	t_remote_world(&w);
	t_remote_init(&h, &w, r.sock[0]);
	t_db_pages(&h);
	t_cq_init(&h, &cq, 4, 0);
	before = tprog_private_bytes(r.pid);
	for (u32 i = 0; i < QPS; i++)
		t_qp_init_size(&h, &qp[i], &cq, &cq, 0, 0, 5, 0);
	made = tprog_private_bytes(r.pid);
	for (u32 i = 0; i < QPS; i += 2)
		t_connect(&qp[i], &qp[i + 1], 3, 1, 2);
	connected = tprog_private_bytes(r.pid);
	/* its send queue has one entry, and the device a note of that */
	each = (made - before) / QPS - sizeof(struct tx_req);
	printf("a QP besides its queues: %llu bytes; connected %llu more\n",
	       (unsigned long long)each, (unsigned long long)(connected - made) / QPS);
	assert_true(each < KIB);
	t_remote_fini(&h);
	stop(&r);
	free(qp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_adapter),
		cmocka_unit_test(queue_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
