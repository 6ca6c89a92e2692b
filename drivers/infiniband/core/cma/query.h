/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What address and route resolution have in common: a query is under way, and its answer waits for
 * the id's report.
 */
#ifndef RDMA_CMA_QUERY_H
#define RDMA_CMA_QUERY_H

#include <linux/cleanup.h>
#include <linux/slab.h>

#include "cma_priv.h"

/**
 * struct cma_answer - the result of a query
 * @status: 0 or a negative errno
 * @source: address resolution: own address, if @have_source
 * @have_source: the query has chosen a source address
 * @path: route resolution: the path, allocated by the call
 * @inbound: path of packets that come in, or NULL
 * @outbound: path of packets that go out, or NULL
 *
 * Allocated by the call that starts the query, so that the end of a query needs no memory but for
 * paths that differ by direction.
 */
struct cma_answer {
	int status;
	struct sockaddr_storage source;
	bool have_source;
	struct sa_path_rec *path;
	struct sa_path_rec *inbound;
	struct sa_path_rec *outbound;
};

/**
 * cma_free_answer() - free an answer and the paths that nobody has taken from it
 * @answer: answer or NULL
 */
static inline void cma_free_answer(struct cma_answer *answer)
{
	if (!answer)
		return;
	kfree(answer->path);
	kfree(answer->inbound);
	kfree(answer->outbound);
	kfree(answer);
}

DEFINE_FREE(cma_answer, struct cma_answer *, cma_free_answer(_T))

/*
 * The answer, which belongs to the caller from then on; NULL if somebody else has taken it.
 * Callbacks fill it in under the id's lock.
 */
static inline struct cma_answer *cma_take_answer(struct cma_id *id)
{
	struct cma_answer *answer;

	guard(spinlock_irqsave)(&id->lock);
	answer = id->answer;
	id->answer = NULL;
	return answer;
}

static inline void cma_put_answer(struct cma_id *id, struct cma_answer *answer)
{
	guard(spinlock_irqsave)(&id->lock);
	id->answer = answer;
}

/* Has the id lost its device, or its owner? Nothing may be started for it any more. */
static inline bool cma_is_going(struct cma_id *id)
{
	enum rdma_cm_state state = cma_state(id);

	return state == RDMA_CM_DEVICE_REMOVAL || state == RDMA_CM_DESTROYING;
}

/* The answer is complete: it is reported, or freed if the id takes no more reports. */
static inline void cma_report_answer(struct cma_id *id)
{
	if (!cma_report(id, &id->query_report))
		cma_free_answer(cma_take_answer(id));
}

/* route.c */
void cma_cancel_route(struct cma_id *id);

#endif /* RDMA_CMA_QUERY_H */
