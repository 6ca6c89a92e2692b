// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Adapters that have work wait in a circle for their turns.
 *
 * A turn is about a slice's worth of work.  When turns have cost a slice together, in bytes or in
 * time, the doorbells are looked at, and an adapter that has had its turn goes behind those whose
 * work has come meanwhile.  An adapter that has used more time than its turns are worth lets turns
 * go by, see cost.c.
 */
#include "engine/internal.h"
#include "mem/mem.h"
#include "trace/trace.h"

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

/* An adapter that has had its turn goes behind all others that have work. */
static void end_turn(struct shard *s)
{
	struct adapter *a = s->turn;

	if (!a)
		return;
	s->turn = NULL;
	a->has_turn = false;
	if (!list_empty(&a->ready))
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

	/* looks at doorbells are charged only if they find work and take long */
	cost_begin(&s->worker);
	/* the last turn of the previous pass was over when the doorbells were looked at */
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
