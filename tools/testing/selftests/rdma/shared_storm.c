// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * shared_storm DEVICE STEPS SEED: four threads make, use, change and destroy the same verbs objects
 * at random, STEPS steps each. Threads use an object at the same time, but only one creates or
 * destroys it, since libibverbs frees what it destroys; the objects on which it depends stay
 * shared. A refusal must be one that the step can get; at the end all objects can be destroyed.
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

#define GROUPS	8

enum kind { CQ, SRQ, QP, AH, MR, KINDS };

/* A place for an object: its lock is shared to use the object, exclusive to make or destroy it. */
struct place {
	pthread_rwlock_t lock;
	void *object;
	struct place *cq, *srq;		/* objects that a QP uses */
	/* QPs that use this object: without those that are just being destroyed, and with them */
	atomic_uint alive, there;
};

static struct place places[KINDS][KEPT];
static struct ibv_context *context;
static struct ibv_pd *pd;
static char memory[65536];
static unsigned int steps;
static atomic_uint made, used, destroyed, refused;

static unsigned int any(unsigned int *seed, unsigned int n)
{
	return rand_r(seed) % n;
}

/* A place of this kind with an object, whose lock is held shared; or NULL. */
static struct place *one_of(unsigned int *seed, enum kind kind)
{
	struct place *place = &places[kind][any(seed, KEPT)];

	if (pthread_rwlock_tryrdlock(&place->lock))
		return NULL;
	if (place->object)
		return place;
	pthread_rwlock_unlock(&place->lock);
	return NULL;
}

static void let_go(struct place *place)
{
	if (place)
		pthread_rwlock_unlock(&place->lock);
}

static void make_qp(unsigned int *seed, struct place *place)
{
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD };
	struct place *cq = one_of(seed, CQ), *srq = one_of(seed, SRQ);
	struct ibv_qp_init_attr init = {
		.qp_type = types[any(seed, 3)], .srq = srq ? srq->object : NULL,
		.cap = { .max_send_wr = 1 + any(seed, 50), .max_send_sge = 1,
			 .max_recv_wr = srq ? 0 : 1 + any(seed, 50), .max_recv_sge = 1 },
	};

	if (cq) {
		init.send_cq = cq->object;
		init.recv_cq = cq->object;
		place->object = ibv_create_qp(pd, &init);
		if (!place->object)
			wrong("ibv_create_qp", errno);
		place->cq = cq;
		place->srq = srq;
		cq->alive++;
		cq->there++;
		if (srq) {
			srq->alive++;
			srq->there++;
		}
	}
	let_go(srq);
	let_go(cq);
}

static void make(unsigned int *seed, enum kind kind, struct place *place)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 1 + any(seed, 100), .max_sge = 1 } };
	struct ibv_ah_attr ah = { .dlid = 1 + any(seed, 0xbffe), .port_num = 1 };

	switch (kind) {
	case CQ:
		place->object = ibv_create_cq(context, 1 + any(seed, 300), NULL, NULL, 0);
		break;
	case SRQ:
		place->object = ibv_create_srq(pd, &init);
		break;
	case AH:
		place->object = ibv_create_ah(pd, &ah);
		break;
	case MR:
		place->object = ibv_reg_mr(pd, memory, 1 + any(seed, sizeof(memory)),
					   IBV_ACCESS_LOCAL_WRITE);
		break;
	default:
		make_qp(seed, place);
		made += !!place->object;
		return;
	}
	if (!place->object)
		wrong("creation", errno);
	made++;
}

/* Destroying an object that QPs use must fail, that of an unused one must succeed. */
static bool gone(const char *what, int err, unsigned int there_before, struct place *place)
{
	if (err && (err != EBUSY || !there_before))
		wrong(what, err);
	if (!err && place->alive)
		wrong("it went, though QPs use it", 0);
	return !err;
}

static void leave_groups(struct ibv_qp *qp)
{
	for (unsigned int group = 0; group < GROUPS; group++) {
		union ibv_gid mgid = { .raw = { 0xff, 0x12, [15] = group } };

		allowed("ibv_detach_mcast", ibv_detach_mcast(qp, &mgid, 0xc000 + group), EINVAL, 0);
	}
}

static void destroy_qp(struct place *place)
{
	place->cq->alive--;
	if (place->srq)
		place->srq->alive--;
	if (!allowed("ibv_destroy_qp", ibv_destroy_qp(place->object), EBUSY, 0)) {
		/* only groups can use it, and no thread can join any now */
		refused++;
		leave_groups(place->object);
		allowed("ibv_destroy_qp without groups", ibv_destroy_qp(place->object), 0, 0);
	}
	place->object = NULL;
	place->cq->there--;
	if (place->srq)
		place->srq->there--;
}

static void destroy(enum kind kind, struct place *place)
{
	unsigned int there = place->there;
	bool went = true;

	switch (kind) {
	case CQ:
		went = gone("ibv_destroy_cq", ibv_destroy_cq(place->object), there, place);
		break;
	case SRQ:
		went = gone("ibv_destroy_srq", ibv_destroy_srq(place->object), there, place);
		break;
	case AH:
		allowed("ibv_destroy_ah", ibv_destroy_ah(place->object), 0, 0);
		break;
	case MR:
		allowed("ibv_dereg_mr", ibv_dereg_mr(place->object), 0, 0);
		break;
	default:
		destroy_qp(place);
	}
	if (went)
		place->object = NULL;
	destroyed += went;
	refused += !went;
}

static void use_cq(unsigned int *seed, struct ibv_cq *cq)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = { .cq_count = any(seed, 16), .cq_period = any(seed, 16) },
	};
	struct ibv_wc wc;

	switch (any(seed, 4)) {
	case 0:
		allowed("ibv_resize_cq", ibv_resize_cq(cq, 1 + any(seed, 600)), EINVAL, 0);
		break;
	case 1:
		allowed("ibv_modify_cq", ibv_modify_cq(cq, &attr), 0, 0);
		break;
	case 2:
		if (ibv_poll_cq(cq, 1, &wc) < 0)
			wrong("ibv_poll_cq", 0);
		break;
	default:
		allowed("ibv_req_notify_cq", ibv_req_notify_cq(cq, any(seed, 2)), 0, 0);
	}
}

static void use_srq(unsigned int *seed, struct ibv_srq *srq)
{
	struct ibv_srq_attr attr = { .max_wr = 1 + any(seed, 200), .srq_limit = any(seed, 50) };
	struct ibv_recv_wr wr = {}, *bad;

	switch (any(seed, 4)) {
	case 0:
		allowed("ibv_modify_srq, size", ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR),
			EINVAL, 0);
		break;
	case 1:
		allowed("ibv_modify_srq, limit", ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT),
			EINVAL, 0);
		break;
	case 2:
		allowed("ibv_post_srq_recv", ibv_post_srq_recv(srq, &wr, &bad), ENOMEM, 0);
		break;
	default:
		allowed("ibv_query_srq", ibv_query_srq(srq, &attr), 0, 0);
	}
}

/* Other threads change its state meanwhile, so that any transition may be illegal. */
static void use_qp(unsigned int *seed, struct ibv_qp *qp)
{
	static const enum ibv_qp_state states[] = { IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_ERR };
	struct ibv_qp_attr attr = { .qp_state = states[any(seed, 3)], .port_num = 1, .qkey = 1 };
	unsigned int group = any(seed, GROUPS);
	union ibv_gid mgid = { .raw = { 0xff, 0x12, [15] = group } };
	struct ibv_recv_wr wr = {}, *bad;
	struct ibv_qp_init_attr init;
	int mask = IBV_QP_STATE;

	switch (any(seed, 5)) {
	case 0:
		if (attr.qp_state == IBV_QPS_INIT)
			mask |= IBV_QP_PORT | IBV_QP_PKEY_INDEX |
				(qp->qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
		allowed("ibv_modify_qp", ibv_modify_qp(qp, &attr, mask), EINVAL, 0);
		break;
	case 1:
		allowed("ibv_attach_mcast", ibv_attach_mcast(qp, &mgid, 0xc000 + group),
			qp->qp_type == IBV_QPT_UD ? 0 : EINVAL, 0);
		break;
	case 2:
		allowed("ibv_detach_mcast", ibv_detach_mcast(qp, &mgid, 0xc000 + group), EINVAL, 0);
		break;
	case 3:
		allowed("ibv_post_recv", qp->srq ? 0 : ibv_post_recv(qp, &wr, &bad),
			ENOMEM, EINVAL);
		break;
	default:
		allowed("ibv_query_qp", ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0, 0);
	}
}

static void step(unsigned int *seed)
{
	enum kind kind = any(seed, KINDS);
	struct place *place = &places[kind][any(seed, KEPT)];

	/* mostly use, so that there is something to use */
	if (any(seed, 3)) {
		place = one_of(seed, kind);
		if (!place)
			return;
		if (kind == CQ)
			use_cq(seed, place->object);
		else if (kind == SRQ)
			use_srq(seed, place->object);
		else if (kind == QP)
			use_qp(seed, place->object);
		used++;
	} else {
		if (pthread_rwlock_trywrlock(&place->lock))
			return;
		if (place->object)
			destroy(kind, place);
		else
			make(seed, kind, place);
	}
	let_go(place);
}

static void *work(void *arg)
{
	unsigned int seed = (uintptr_t)arg;

	for (unsigned int i = 0; i < steps; i++)
		step(&seed);
	return NULL;
}

int main(int argc, char **argv)
{
	/* objects on which others depend are destroyed last */
	static const enum kind order[] = { QP, AH, MR, SRQ, CQ };
	pthread_t threads[THREADS];
	int err;

	if (argc != 4)
		return 2;
	context = open_device(argv[1]);
	pd = context ? ibv_alloc_pd(context) : NULL;
	if (!pd)
		wrong("ibv_open_device", errno);
	steps = atoi(argv[2]);
	for (int i = 0; i < KINDS * KEPT; i++)
		pthread_rwlock_init(&places[i / KEPT][i % KEPT].lock, NULL);
	for (int i = 0; i < THREADS; i++) {
		err = pthread_create(&threads[i], NULL, work,
				     (void *)(uintptr_t)(atoi(argv[3]) + i));
		if (err)
			wrong("pthread_create", err);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%u made, %u used, %u destroyed, %u refused\n", made, used, destroyed, refused);
	if (steps >= 500 && (!used || !destroyed || !refused))
		wrong("hardly anything has happened", 0);
	for (int i = 0; i < KINDS * KEPT; i++) {
		struct place *place = &places[order[i / KEPT]][i % KEPT];

		if (place->object)
			destroy(order[i / KEPT], place);
		if (place->object)
			wrong("an object that nobody uses stays", 0);
	}
	allowed("ibv_dealloc_pd", ibv_dealloc_pd(pd), 0, 0);
	allowed("ibv_close_device", ibv_close_device(context), 0, 0);
	return 0;
}
