// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * An adapter's life in the engine, and what it does.
 */
#include <errno.h>
#include <stdlib.h>

#include "engine/internal.h"

int adapter_init(struct adapter *a, struct engine *e)
{
	for (u32 i = 0; i < e->nshards; i++) {
		struct worker *w = &e->shard[i].worker;

		if (!w->scratch)
			w->scratch = calloc(1, a->ops->scratch);
		if (!w->scratch)
			return -ENOMEM;
	}
	a->engine = e;
	a->home = &e->shard[0];
	a->going = NULL;
	a->callers = 0;
	a->worker = &a->home->worker;
	a->resting = false;
	a->quiet = 0;
	INIT_LIST_HEAD(&a->node);
	INIT_LIST_HEAD(&a->awake_node);
	INIT_LIST_HEAD(&a->ready_node);
	INIT_LIST_HEAD(&a->untold_node);
	INIT_LIST_HEAD(&a->ready);
	INIT_LIST_HEAD(&a->no_room);
	INIT_LIST_HEAD(&a->away);
	adapter_forget(a);
	return 0;
}

void adapter_fini(struct adapter *a)
{
	timers_free(&a->timers);
}

void adapter_add(struct adapter *a)
{
	list_add_tail(&a->node, &a->home->adapters);
	list_add_tail(&a->awake_node, &a->home->awake);
}

void adapter_del(struct adapter *a)
{
	if (a->has_turn)
		a->home->turn = NULL;
	list_del_init(&a->ready_node);
	list_del_init(&a->untold_node);
	list_del_init(&a->awake_node);
	list_del_init(&a->node);
	a->resting = false;
	engine_forget(a->engine);
}

static u32 length(const struct list_head *list, u32 most)
{
	u32 n = 0;

	for (const struct list_head *l = list->next; l != list && n < most; l = l->next)
		n++;
	return n;
}

void adapter_status(const struct adapter *a, struct adapter_status *st)
{
	*st = (struct adapter_status){
		.thread = a->home->number, .turns = a->turns, .worked = a->worked, .owed = a->debt,
		.qps = length(&a->ready, ADAPTER_COUNTED), .timers = a->timers.n, .why = "idle",
	};
	if (st->qps && a->debt >= SLICE_NS && !list_empty(&a->ready_node))
		st->why = "lets others go first";
	else if (st->qps && a->has_turn)
		st->why = "has its turn";
	else if (st->qps)
		st->why = "waits for its turn";
	else if (!list_empty(&a->away))
		st->why = "waits for an adapter of another thread";
	else if (!list_empty(&a->no_room))
		st->why = "waits for room in the fabric";
	else if (a->timers.n)
		st->why = "waits for a timer, or an answer";
}
