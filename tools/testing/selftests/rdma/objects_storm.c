// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * objects_storm DEVICE STEPS SEED: four threads make, change and destroy verbs objects at random,
 * STEPS steps in all.  A refusal must be one that the step can get; at the end all objects can be
 * destroyed.  The same seed gives each thread the same steps.
 *
 * Another thread reads the asynchronous events.  An object may only get events that it has caused
 * itself, although its number may have been that of an object with events under way.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "device.h"
#include "storm.h"

#define PATIENCE	120	/* seconds until an event must have come */

/**
 * struct caused - the events of an object, which has it as its context
 * @type: the only one that it can get
 * @may: how many of them at most
 * @told: how many were read
 */
struct caused {
	enum ibv_event_type type;
	unsigned int may, told;
};

struct worker {
	pthread_t thread;
	unsigned int seed, steps;
	struct ibv_pd *pd;
	struct ibv_cq *cq[KEPT];
	struct ibv_srq *srq[KEPT];
	struct ibv_qp *qp[KEPT];
	struct ibv_cq *qp_cq[KEPT];
	struct ibv_srq *qp_srq[KEPT];
	unsigned int groups[KEPT];	/* a bit for each group that the QP is in */
	struct ibv_ah *ah[KEPT];
	struct caused cq_events[KEPT], srq_events[KEPT], qp_events[KEPT];
};

static struct ibv_context *context;

/* protects all struct caused */
static pthread_mutex_t event_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t event_came = PTHREAD_COND_INITIALIZER;
static unsigned int limits, overflows;		/* events that have come */

/* Called before the request that causes events; again with a negative number if it was refused. */
static void may_cause(struct caused *caused, int events)
{
	pthread_mutex_lock(&event_lock);
	caused->may += events;
	pthread_mutex_unlock(&event_lock);
}

static void await_events(struct caused *caused)
{
	struct timespec end;
	int err = 0;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += PATIENCE;
	pthread_mutex_lock(&event_lock);
	while (!err && caused->told < caused->may)
		err = pthread_cond_timedwait(&event_came, &event_lock, &end);
	pthread_mutex_unlock(&event_lock);
	if (err)
		wrong(ibv_event_type_str(caused->type), err);
}

/* Returns NULL also for an object that ibv_create_* has not returned yet. */
static struct caused *meant_for(const struct ibv_async_event *event)
{
	switch (event->event_type) {
	case IBV_EVENT_CQ_ERR:
		return event->element.cq->cq_context;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		return event->element.srq->srq_context;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		return event->element.qp->qp_context;
	default:
		return NULL;
	}
}

static void take_event(const struct ibv_async_event *event)
{
	struct caused *caused = meant_for(event);

	pthread_mutex_lock(&event_lock);
	if (!caused || caused->type != event->event_type || caused->told == caused->may) {
		fprintf(stderr, "an event of an object that has not caused it: ");
		wrong(ibv_event_type_str(event->event_type), 0);
	}
	caused->told++;
	limits += event->event_type == IBV_EVENT_SRQ_LIMIT_REACHED;
	overflows += event->event_type == IBV_EVENT_CQ_ERR;
	pthread_cond_broadcast(&event_came);
	pthread_mutex_unlock(&event_lock);
}

/*
 * Reads events until the other end of the given pipe is closed.  The descriptor does not block: an
 * event that poll() has seen is removed if its object is destroyed.
 */
static void *read_events(void *end)
{
	struct pollfd fds[] = {
		{ .fd = context->async_fd, .events = POLLIN },
		{ .fd = *(int *)end, .events = POLLIN },
	};
	struct ibv_async_event event;

	while (poll(fds, 2, -1) > 0 && !fds[1].revents) {
		if (ibv_get_async_event(context, &event)) {
			if (errno != EAGAIN)
				wrong("ibv_get_async_event", errno);
			continue;
		}
		take_event(&event);
		ibv_ack_async_event(&event);
	}
	return NULL;
}

static unsigned int any(struct worker *w, unsigned int n)
{
	return rand_r(&w->seed) % n;
}

static bool has_user(const struct worker *w, const struct ibv_cq *cq, const struct ibv_srq *srq)
{
	for (int i = 0; i < KEPT; i++)
		if (w->qp[i] && ((cq && w->qp_cq[i] == cq) || (srq && w->qp_srq[i] == srq)))
			return true;
	return false;
}

static struct ibv_cq *make_cq(struct worker *w, int cqe, struct caused *caused)
{
	struct ibv_cq *cq = ibv_create_cq(context, cqe, caused, NULL,
					  any(w, context->num_comp_vectors));

	if (!cq)
		wrong("ibv_create_cq", errno);
	return cq;
}

static void step_cq(struct worker *w, unsigned int i)
{
	struct ibv_modify_cq_attr attr = { .attr_mask = IBV_CQ_ATTR_MODERATE };

	if (!w->cq[i]) {
		w->cq_events[i] = (struct caused) { .type = IBV_EVENT_CQ_ERR };
		w->cq[i] = make_cq(w, 1 + any(w, 300), &w->cq_events[i]);
		return;
	}
	switch (any(w, 4)) {
	case 0:
		allowed("ibv_resize_cq", ibv_resize_cq(w->cq[i], 1 + any(w, 600)), EINVAL, 0);
		break;
	case 1:
		attr.moderate.cq_count = any(w, 16);
		attr.moderate.cq_period = any(w, 16);
		allowed("ibv_modify_cq", ibv_modify_cq(w->cq[i], &attr), 0, 0);
		break;
	case 2:
		allowed("ibv_req_notify_cq", ibv_req_notify_cq(w->cq[i], any(w, 2)), 0, 0);
		break;
	default:
		if (allowed("ibv_destroy_cq", ibv_destroy_cq(w->cq[i]),
			    has_user(w, w->cq[i], NULL) ? EBUSY : 0, 0))
			w->cq[i] = NULL;
	}
}

/* Every other SRQ never has a limit. */
static void set_limit(struct worker *w, unsigned int i, struct ibv_srq_attr *attr)
{
	if (i % 2)
		return;
	may_cause(&w->srq_events[i], 1);
	if (!allowed("ibv_modify_srq, limit", ibv_modify_srq(w->srq[i], attr, IBV_SRQ_LIMIT),
		     EINVAL, 0))
		may_cause(&w->srq_events[i], -1);
}

static void step_srq(struct worker *w, unsigned int i)
{
	struct ibv_srq_init_attr init = {
		.srq_context = &w->srq_events[i],
		.attr = { .max_wr = 1 + any(w, 100), .max_sge = 1 + any(w, 4) },
	};
	struct ibv_srq_attr attr = { .max_wr = 1 + any(w, 200), .srq_limit = any(w, 50) };
	struct ibv_recv_wr wr = {}, *bad;

	if (!w->srq[i]) {
		w->srq_events[i] = (struct caused) { .type = IBV_EVENT_SRQ_LIMIT_REACHED };
		w->srq[i] = ibv_create_srq(w->pd, &init);
		if (!w->srq[i])
			wrong("ibv_create_srq", errno);
		return;
	}
	switch (any(w, 5)) {
	case 0:
		allowed("ibv_modify_srq, size", ibv_modify_srq(w->srq[i], &attr, IBV_SRQ_MAX_WR),
			EINVAL, 0);
		break;
	case 1:
		set_limit(w, i, &attr);
		break;
	case 2:
		allowed("ibv_query_srq", ibv_query_srq(w->srq[i], &attr), 0, 0);
		break;
	case 3:
		allowed("ibv_post_srq_recv", ibv_post_srq_recv(w->srq[i], &wr, &bad), ENOMEM, 0);
		break;
	default:
		if (allowed("ibv_destroy_srq", ibv_destroy_srq(w->srq[i]),
			    has_user(w, NULL, w->srq[i]) ? EBUSY : 0, 0))
			w->srq[i] = NULL;
	}
}

static void make_qp(struct worker *w, unsigned int i, struct ibv_cq *cq, struct ibv_srq *srq)
{
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD };
	struct ibv_qp_init_attr init = {
		.qp_context = &w->qp_events[i], .send_cq = cq, .recv_cq = cq, .srq = srq,
		.qp_type = types[any(w, 3)],
		.cap = { .max_send_wr = 1 + any(w, 50), .max_recv_wr = srq ? 0 : any(w, 50),
			 .max_send_sge = 1 + any(w, 3), .max_recv_sge = 1,
			 .max_inline_data = any(w, 200) },
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 1 };
	int mask = IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX;

	w->qp_events[i] = (struct caused) { .type = IBV_EVENT_QP_LAST_WQE_REACHED };
	w->qp[i] = ibv_create_qp(w->pd, &init);
	if (!w->qp[i])
		wrong("ibv_create_qp", errno);
	w->qp_cq[i] = cq;
	w->qp_srq[i] = srq;
	w->groups[i] = 0;
	mask |= init.qp_type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS;
	allowed("ibv_modify_qp", ibv_modify_qp(w->qp[i], &attr, mask), 0, 0);
}

static void step_qp(struct worker *w, unsigned int i)
{
	struct ibv_cq *cq = w->cq[any(w, KEPT)];
	unsigned int group = any(w, 8), in;
	union ibv_gid mgid = { .raw = { 0xff, 0x12, [15] = group } };
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	if (!w->qp[i]) {
		if (cq)
			make_qp(w, i, cq, w->srq[any(w, KEPT)]);
		return;
	}
	in = w->groups[i] >> group & 1;
	switch (any(w, 5)) {
	case 0:
		if (allowed("ibv_attach_mcast", ibv_attach_mcast(w->qp[i], &mgid, 0xc000 + group),
			    w->qp[i]->qp_type == IBV_QPT_UD ? 0 : EINVAL, 0))
			w->groups[i] |= 1u << group;
		break;
	case 1:
		if (allowed("ibv_detach_mcast", ibv_detach_mcast(w->qp[i], &mgid, 0xc000 + group),
			    in ? 0 : EINVAL, 0))
			w->groups[i] &= ~(1u << group);
		break;
	case 2:
		may_cause(&w->qp_events[i], !!w->qp_srq[i]);
		allowed("ibv_modify_qp to ERR", ibv_modify_qp(w->qp[i], &attr, IBV_QP_STATE), 0, 0);
		break;
	case 3:
		allowed("ibv_query_qp", ibv_query_qp(w->qp[i], &attr, IBV_QP_STATE, &init), 0, 0);
		break;
	default:
		if (allowed("ibv_destroy_qp", ibv_destroy_qp(w->qp[i]),
			    w->groups[i] ? EBUSY : 0, 0))
			w->qp[i] = NULL;
	}
}

static void step_ah(struct worker *w, unsigned int i)
{
	struct ibv_ah_attr attr = { .dlid = 1 + any(w, 0xfffe), .sl = any(w, 16), .port_num = 1 };

	if (!w->ah[i]) {
		w->ah[i] = ibv_create_ah(w->pd, &attr);
		if (!w->ah[i])
			wrong("ibv_create_ah", errno);
	} else {
		allowed("ibv_destroy_ah", ibv_destroy_ah(w->ah[i]), 0, 0);
		w->ah[i] = NULL;
	}
}

/* An SRQ that reaches its limit at once is destroyed before its event is read, or after. */
static void step_limit(struct worker *w, unsigned int i)
{
	struct caused caused = { .type = IBV_EVENT_SRQ_LIMIT_REACHED, .may = 1 };
	struct ibv_srq_init_attr init = {
		.srq_context = &caused, .attr = { .max_wr = 1 + any(w, 100), .max_sge = 1 },
	};
	struct ibv_srq_attr attr = { .srq_limit = 1 };
	struct ibv_srq *srq = ibv_create_srq(w->pd, &init);

	if (!srq)
		wrong("ibv_create_srq", errno);
	allowed("ibv_modify_srq, a limit", ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), 0, 0);
	if (i % 2)
		await_events(&caused);
	allowed("ibv_destroy_srq after its limit", ibv_destroy_srq(srq), 0, 0);
}

/* A QP has more receives than its CQ has room for, and they are flushed. */
static void step_overflow(struct worker *w, unsigned int i)
{
	struct caused cq_caused = { .type = IBV_EVENT_CQ_ERR, .may = 1 };
	struct caused qp_caused = { .type = IBV_EVENT_QP_FATAL, .may = 1 };
	struct ibv_cq *cq = make_cq(w, 1, &cq_caused);
	struct ibv_qp_init_attr init = {
		.qp_context = &qp_caused, .send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_UC,
		.cap = { .max_send_wr = 1, .max_send_sge = 1,
			 .max_recv_wr = cq->cqe + 1, .max_recv_sge = 1 },
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_qp *qp = ibv_create_qp(w->pd, &init);
	struct ibv_recv_wr wr = {}, *bad;

	if (!qp)
		wrong("ibv_create_qp for an overflow", errno);
	allowed("ibv_modify_qp for an overflow",
		ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX |
			      IBV_QP_ACCESS_FLAGS), 0, 0);
	for (int receives = 0; receives <= cq->cqe; receives++)
		allowed("ibv_post_recv", ibv_post_recv(qp, &wr, &bad), 0, 0);
	attr.qp_state = IBV_QPS_ERR;
	allowed("ibv_modify_qp to ERR for an overflow", ibv_modify_qp(qp, &attr, IBV_QP_STATE),
		0, 0);
	if (i % 2)
		await_events(&cq_caused);
	allowed("ibv_destroy_qp after an overflow", ibv_destroy_qp(qp), 0, 0);
	allowed("ibv_destroy_cq after an overflow", ibv_destroy_cq(cq), 0, 0);
}

static void leave_groups(struct worker *w, unsigned int i)
{
	for (unsigned int group = 0; group < 8; group++) {
		union ibv_gid mgid = { .raw = { 0xff, 0x12, [15] = group } };

		if (w->groups[i] >> group & 1)
			allowed("last detach",
				ibv_detach_mcast(w->qp[i], &mgid, 0xc000 + group), 0, 0);
	}
}

static void *work(void *arg)
{
	static void (*const kinds[])(struct worker *w, unsigned int i) = {
		step_cq, step_srq, step_qp, step_qp, step_ah, step_limit, step_overflow,
	};
	struct worker *w = arg;

	w->pd = ibv_alloc_pd(context);
	if (!w->pd)
		wrong("ibv_alloc_pd", errno);
	while (w->steps--)
		kinds[any(w, 7)](w, any(w, KEPT));
	for (unsigned int i = 0; i < KEPT; i++) {
		if (w->qp[i]) {
			leave_groups(w, i);
			allowed("last ibv_destroy_qp", ibv_destroy_qp(w->qp[i]), 0, 0);
		}
		if (w->ah[i])
			allowed("last ibv_destroy_ah", ibv_destroy_ah(w->ah[i]), 0, 0);
	}
	for (unsigned int i = 0; i < KEPT; i++) {
		if (w->srq[i])
			allowed("last ibv_destroy_srq", ibv_destroy_srq(w->srq[i]), 0, 0);
		if (w->cq[i])
			allowed("last ibv_destroy_cq", ibv_destroy_cq(w->cq[i]), 0, 0);
	}
	allowed("ibv_dealloc_pd", ibv_dealloc_pd(w->pd), 0, 0);
	return NULL;
}

int main(int argc, char **argv)
{
	static struct worker workers[THREADS];
	int err, end[2];
	pthread_t reader;

	if (argc != 4)
		return 2;
	context = open_device(argv[1]);
	if (!context)
		wrong("ibv_open_device", errno);
	if (fcntl(context->async_fd, F_SETFL, O_NONBLOCK) || pipe(end))
		wrong("fcntl or pipe", errno);
	err = pthread_create(&reader, NULL, read_events, end);
	if (err)
		wrong("pthread_create", err);
	for (int i = 0; i < THREADS; i++) {
		workers[i].seed = atoi(argv[3]) + i;
		workers[i].steps = atoi(argv[2]) / THREADS;
		err = pthread_create(&workers[i].thread, NULL, work, &workers[i]);
		if (err)
			wrong("pthread_create", err);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(workers[i].thread, NULL);
	close(end[1]);
	pthread_join(reader, NULL);
	printf("%u limits and %u overflows were told\n", limits, overflows);
	if (!limits || !overflows)
		wrong("hardly anything has happened", 0);
	err = ibv_close_device(context);
	if (err)
		wrong("ibv_close_device", err);
	return 0;
}
