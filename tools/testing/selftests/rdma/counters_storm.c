// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * counters_storm DEVICE STEPS: four threads make QPs, take them to INIT, in turn on port 1 and 2,
 * and destroy them, STEPS times each.  The program prints when they begin; for each line that it
 * reads then it makes QPs that stay in RESET, in place of those before, and prints their numbers in
 * a line.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "device.h"
#include "storm.h"

#define WAITING	64		/* QPs in RESET */

static struct ibv_pd *pd;
static struct ibv_cq *cq;
static unsigned int steps;

static struct ibv_qp *make_qp(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {
		.qp_type = type, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	if (!qp)
		wrong("ibv_create_qp", errno);
	return qp;
}

/* A port has a counter for each type, which ends with its last QP. */
static void *work(void *arg)
{
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD };
	unsigned int number = (uintptr_t)arg;

	for (unsigned int i = 0; i < steps; i++) {
		enum ibv_qp_type type = types[i / 2 % 3];
		struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT,
					    .port_num = 1 + (number + i) % 2 };
		struct ibv_qp *qp = make_qp(type);

		allowed("ibv_modify_qp",
			ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				      (type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)),
			0, 0);
		allowed("ibv_destroy_qp", ibv_destroy_qp(qp), 0, 0);
	}
	return NULL;
}

static void storm(void)
{
	pthread_t threads[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++) {
		int err = pthread_create(&threads[i], NULL, work, (void *)i);

		if (err)
			wrong("pthread_create", err);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void destroy(struct ibv_qp **qps)
{
	for (int i = 0; i < WAITING && qps[i]; i++)
		allowed("ibv_destroy_qp in RESET", ibv_destroy_qp(qps[i]), 0, 0);
}

int main(int argc, char **argv)
{
	struct ibv_context *context = argc == 3 ? open_device(argv[1]) : NULL;
	struct ibv_qp *qps[WAITING] = {};
	char line[16];

	pd = context ? ibv_alloc_pd(context) : NULL;
	cq = pd ? ibv_create_cq(context, 1, NULL, NULL, 0) : NULL;
	if (!cq)
		wrong("ibv_open_device", errno);
	steps = atoi(argv[2]);
	storm();
	printf("%u steps\n", THREADS * steps);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		destroy(qps);
		for (int i = 0; i < WAITING; i++) {
			qps[i] = make_qp(IBV_QPT_RC);
			printf("%u%c", qps[i]->qp_num, i < WAITING - 1 ? ' ' : '\n');
		}
		fflush(stdout);
	}
	destroy(qps);
	allowed("ibv_destroy_cq", ibv_destroy_cq(cq), 0, 0);
	allowed("ibv_dealloc_pd", ibv_dealloc_pd(pd), 0, 0);
	allowed("ibv_close_device", ibv_close_device(context), 0, 0);
	return 0;
}
