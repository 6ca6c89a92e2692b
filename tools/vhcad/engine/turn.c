// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Adapters that have work wait for their turns: the one whose last turn is longest ago is next.
 *
 * A turn is about a slice's worth of work.  When turns have cost a slice together, in bytes or in
 * time, the doorbells are looked at, and an adapter that has had its turn goes behind those whose
 * work has come meanwhile.  An adapter that has used more time than its turns are worth lets turns
 * go by, see cost.c.
 *
 * A guest with few messages under way has nothing to do soon, and posts again when they are done.
 * Behind a whole slice of a neighbour each time it would be left with much less than its half.  So
 * beside one that has done all its work a turn costs no more than that did.
 */
#include "engine/internal.h"
#include "mem/mem.h"
#include "trace/trace.h"

void adapter_queue(struct adapter *a)
{
	struct list_head *ready = &a->home->ready, *l = ready;

	while (l->prev != ready &&
	       container_of(l->prev, struct adapter, ready_node)->served > a->served)
		l = l->prev;
	list_add_tail(&a->ready_node, l);
}

struct adapter *adapter_behind(const struct adapter *a)
{
	const struct list_head *ready = &a->home->ready, *l;

	l = list_empty(&a->ready_node) ? ready->next : a->ready_node.next;
	return l == ready ? NULL : container_of(l, struct adapter, ready_node);
}

/* An adapter that has had its turn goes behind all others that have work. */
static void go_behind(struct shard *s, struct adapter *a)
{
	a->served = ++s->served;
	if (!list_empty(&a->ready))
		adapter_queue(a);
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

/* The least that a turn may cost: passes of the loop have to be worth their time. */
#define LEAST_COST	(SLICE_BYTES / 4)

/* Has another one had work since an adapter's last turn? */
static bool shares(const struct shard *s, const struct adapter *a)
{
	return s->moved && s->moved != a;
}

/* What an adapter's turn may cost. */
static u32 turn_worth(const struct shard *s, const struct adapter *a)
{
	return shares(s, a) ? MAX(s->moved_cost, LEAST_COST) : SLICE_BYTES;
}

static u32 worth_ns(u32 bytes, u32 slice_ns)
{
	return (u64)bytes * slice_ns / SLICE_BYTES;
}

/*
 * Does an adapter let its turn go by, because it has used more time than its turns, while @others
 * wait or have had work?
 */
static bool pays(struct shard *s, struct adapter *a, bool others)
{
	u32 ns = worth_ns(turn_worth(s, a), SLICE_NS);

	if (a->debt < ns)
		return false;
	if (!others && !shares(s, a)) {
		/* no adapter has had to wait */
		a->debt = 0;
		return false;
	}
	a->debt -= ns;
	go_behind(s, a);
	return true;
}

static void end_turn(struct shard *s)
{
	struct adapter *a = s->turn;

	if (!a)
		return;
	s->turn = NULL;
	a->has_turn = false;
	go_behind(s, a);
}

bool turns_waiting(const struct shard *s)
{
	return !list_empty(&s->ready) || (s->turn && !list_empty(&s->turn->ready));
}

/* A turn of the worth that is given; returns what it has cost. */
static u32 run(struct shard *s, struct adapter *a, u32 worth)
{
	struct worker *w = &s->worker;
	u64 begin = trace_begin(), took;
	u32 cost;

	w->turn_bytes = worth;
	w->turn_ns = worth_ns(worth, TURN_NS);
	w->moved = false;
	cost = a->ops->run(a);
	took = cost_add(a, worth_ns(worth, SLICE_NS));
	w->turn_ns = TURN_NS;
	cost = MAX(cost, took * SLICE_BYTES / TURN_NS);
	if (w->moved) {
		s->moved = a;
		s->moved_cost = list_empty(&a->ready) ? MIN(cost, SLICE_BYTES) : SLICE_BYTES;
	}
	a->turns++;
	trace_span(TRACE_TURN, a->trace_row, begin, "turn", cost, a->debt);
	return cost;
}

bool turns_run(struct shard *s)
{
	u32 cost = 0, most = SLICE_BYTES;
	struct list_head *l;

	/* looks at doorbells are charged only if they find work and take long */
	cost_begin(&s->worker);
	/* the last turn of the previous pass was over when the doorbells were looked at */
	end_turn(s);
	while (cost < most && (l = list_pop(&s->ready))) {
		struct adapter *a = container_of(l, struct adapter, ready_node);
		u32 worth = turn_worth(s, a);
		bool others;

		end_turn(s);
		others = !list_empty(&s->ready);
		if (pays(s, a, others)) {
			if (others)
				continue;
			/* somebody may have rung */
			break;
		}
		s->turn = a;
		a->has_turn = true;
		cost += run(s, a, worth);
		/* whoever it was cut short for may have rung meanwhile */
		if (!list_empty(&a->ready))
			most = MIN(most, worth);
	}
	return cost;
}
