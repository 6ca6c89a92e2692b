// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Adapters, and whose turn it is: those that have work stand in a circle.
 *
 * A turn is about a slice's worth of work.  When turns have cost a slice together, in bytes or in
 * time, the doorbells are looked at, and whoever has had the turn goes behind those who have come
 * meanwhile.  An adapter that has used more time than its turns are worth lets turns go by, see
 * cost.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "engine/internal.h"
#include "mem/mem.h"
#include "trace/trace.h"

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
	a->worker = &a->home->worker;
	INIT_LIST_HEAD(&a->node);
	INIT_LIST_HEAD(&a->ready_node);
	INIT_LIST_HEAD(&a->untold_node);
	INIT_LIST_HEAD(&a->ready);
	INIT_LIST_HEAD(&a->no_room);
	return 0;
}

void adapter_fini(struct adapter *a)
{
	timers_free(&a->timers);
}

void adapter_add(struct adapter *a)
{
	list_add_tail(&a->node, &a->home->adapters);
}

void adapter_del(struct adapter *a)
{
	if (a->has_turn)
		a->home->turn = NULL;
	list_del_init(&a->ready_node);
	list_del_init(&a->untold_node);
	list_del_init(&a->node);
}

void adapter_queue(struct adapter *a)
{
	list_add_tail(&a->ready_node, &a->home->ready);
}

void adapter_wrote(struct adapter *a)
{
	if (list_empty(&a->untold_node))
		list_add_tail(&a->untold_node, &a->worker->untold);
}

void worker_notify(struct worker *w)
{
	struct list_head *l;

	if (list_empty(&w->untold))
		return;
	/*
	 * The entries are written, and their consumers may have stored their arm records at the
	 * same time.  With a full barrier on both sides one of the two sees the other, and one
	 * barrier is enough for whatever was written since the last.
	 */
	dma_mb();
	while ((l = list_pop(&w->untold))) {
		struct adapter *a = container_of(l, struct adapter, untold_node);

		a->ops->tell(a);
	}
}

/* Does an adapter let its turn go by, because it has used more time than its turns? */
static bool pays(struct shard *s, struct adapter *a)
{
	if (a->debt < SLICE_NS)
		return false;
	if (list_empty(&s->ready)) {
		/* no adapter has had to wait */
		a->debt = 0;
		return false;
	}
	a->debt -= SLICE_NS;
	list_add_tail(&a->ready_node, &s->ready);
	return true;
}

/* An adapter leaves for another shard, with all that it has.  Apart from turns, which are many. */
static __attribute__((cold, noinline)) void leave(struct shard *s, struct adapter *a)
{
	struct shard *to = a->going;

	if (!list_empty(&a->untold_node))
		worker_notify(&s->worker);
	list_del_init(&a->ready_node);
	list_del_init(&a->node);
	a->going = NULL;
	/* from here on others look for it there; who finds nothing waits for this shard's lock */
	__atomic_store_n(&a->home, to, __ATOMIC_RELEASE);
	inbox_put(&to->inbox, &a->inbox_link);
	shard_wake(to);
}

/* Whoever has had the turn goes behind all others that have work. */
static inline void end_turn(struct shard *s)
{
	struct adapter *a = s->turn;

	if (!a)
		return;
	s->turn = NULL;
	a->has_turn = false;
	if (a->going)
		leave(s, a);
	else if (!list_empty(&a->ready))
		list_add_tail(&a->ready_node, &s->ready);
}

bool turns_waiting(const struct shard *s)
{
	return !list_empty(&s->ready) || (s->turn && !list_empty(&s->turn->ready));
}

/* A turn; returns what it has cost. */
static u32 run(struct adapter *a)
{
	u64 begin = trace_begin();
	u32 bytes = a->ops->run(a);
	u64 took = cost_add(a, SLICE_NS);
	u32 cost = MAX(bytes, took * SLICE_BYTES / TURN_NS);

	a->turns++;
	trace_span(TRACE_TURN, a->trace_row, begin, "turn", cost, a->debt);
	return cost;
}

bool turns_run(struct shard *s)
{
	u32 cost = 0;
	struct list_head *l;

	/* looks for news that have taken long are paid for, and others are free */
	cost_begin(&s->worker);
	/* the last turn of the pass before has ended before the doorbells were looked at */
	end_turn(s);
	while (cost < SLICE_BYTES && (l = list_pop(&s->ready))) {
		struct adapter *a = container_of(l, struct adapter, ready_node);

		end_turn(s);
		if (pays(s, a))
			continue;
		s->turn = a;
		a->has_turn = true;
		cost += run(a);
	}
	return cost;
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
		.turns = a->turns, .worked = a->worked, .owed = a->debt,
		.qps = length(&a->ready, ADAPTER_COUNTED), .timers = a->timers.n, .why = "idle",
	};
	if (st->qps && a->debt >= SLICE_NS && !list_empty(&a->ready_node))
		st->why = "lets others go first";
	else if (st->qps && a->has_turn)
		st->why = "has its turn";
	else if (st->qps)
		st->why = "waits for its turn";
	else if (!list_empty(&a->no_room))
		st->why = "waits for room in the fabric";
	else if (a->timers.n)
		st->why = "waits for a timer, or an answer";
}
