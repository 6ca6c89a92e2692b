// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * States of an id: one table says which steps lead from where to where.  Whoever wants to do
 * something with an id first makes the step that stands for it; of two that exclude each other one
 * finds the table without it.
 */
#include <kunit/visibility.h>

#include "cma_priv.h"

#define IN(_state) BIT(RDMA_CM_##_state)

/* Every state but that of an id which is being destroyed. */
#define IN_LIFE (BIT(CMA_STATES) - 1 - IN(DESTROYING))

static const struct {
	u16 from;
	u8 to;
} step_table[CMA_STEPS] = {
	[CMA_BIND]		= { IN(IDLE), RDMA_CM_ADDR_BOUND },
	[CMA_UNBIND]		= { IN(ADDR_BOUND), RDMA_CM_IDLE },
	[CMA_RESOLVE_ADDR]	= { IN(ADDR_BOUND), RDMA_CM_ADDR_QUERY },
	[CMA_ADDR_DONE]		= { IN(ADDR_QUERY), RDMA_CM_ADDR_RESOLVED },
	[CMA_ADDR_FAILED]	= { IN(ADDR_QUERY), RDMA_CM_ADDR_BOUND },
	[CMA_RESOLVE_ROUTE]	= { IN(ADDR_RESOLVED), RDMA_CM_ROUTE_QUERY },
	[CMA_ROUTE_DONE]	= { IN(ROUTE_QUERY), RDMA_CM_ROUTE_RESOLVED },
	[CMA_ROUTE_FAILED]	= { IN(ROUTE_QUERY), RDMA_CM_ADDR_RESOLVED },
	[CMA_SET_PATH]		= { IN(ADDR_RESOLVED), RDMA_CM_ROUTE_RESOLVED },
	[CMA_UNSET_PATH]	= { IN(ROUTE_RESOLVED), RDMA_CM_ADDR_RESOLVED },
	[CMA_CONNECT]		= { IN(ROUTE_RESOLVED), RDMA_CM_CONNECT },
	[CMA_CONNECT_FAILED]	= { IN(CONNECT), RDMA_CM_ROUTE_RESOLVED },
	[CMA_REQUEST]		= { IN(IDLE), RDMA_CM_CONNECT },
	[CMA_DISCONNECTED]	= { IN(CONNECT), RDMA_CM_DISCONNECT },
	[CMA_LISTEN]		= { IN(ADDR_BOUND), RDMA_CM_LISTEN },
	[CMA_LISTEN_FAILED]	= { IN(LISTEN), RDMA_CM_ADDR_BOUND },
	[CMA_REMOVE]		= { IN_LIFE & ~IN(DEVICE_REMOVAL), RDMA_CM_DEVICE_REMOVAL },
	[CMA_DESTROY]		= { IN_LIFE, RDMA_CM_DESTROYING },
};

/**
 * cma_step_table() - find the next state of an id
 * @from: state before
 * @step: the step
 *
 * Return: the state after it, or -1 if the step cannot be made from there.
 */
VISIBLE_IF_KUNIT int cma_step_table(enum rdma_cm_state from, enum cma_step step)
{
	return step_table[step].from & BIT(from) ? step_table[step].to : -1;
}
EXPORT_SYMBOL_IF_KUNIT(cma_step_table);

/**
 * cma_step_from() - make a step, and learn the state before it
 * @id: the id
 * @step: the step
 * @from: receives the state; untouched if the step is not made
 *
 * Context: any; with the handler lock for steps to CONNECT and from it.
 * Return: true if the step was made.
 */
bool cma_step_from(struct cma_id *id, enum cma_step step, enum rdma_cm_state *from)
{
	int to;

	guard(spinlock_irqsave)(&id->lock);
	to = cma_step_table(id->state, step);
	if (to < 0)
		return false;
	if (id->state == RDMA_CM_CONNECT || to == RDMA_CM_CONNECT)
		lockdep_assert_held(&id->handler_lock);
	*from = id->state;
	WRITE_ONCE(id->state, to);
	return true;
}

/**
 * cma_step() - make a step
 * @id: the id
 * @step: the step
 *
 * Context: any; with the handler lock for steps to CONNECT and from it.
 * Return: true if the step was made; false if it cannot be made from the id's state, and then
 * nothing has changed.
 */
bool cma_step(struct cma_id *id, enum cma_step step)
{
	enum rdma_cm_state from;

	return cma_step_from(id, step, &from);
}
EXPORT_SYMBOL_IF_KUNIT(cma_step);
