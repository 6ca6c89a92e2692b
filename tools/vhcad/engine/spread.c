// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Work is spread over the threads.
 *
 * Adapters move to one thread where they send to each other, see meet.c, and would all be on one
 * thread in the end.  So a thread that has hardly slept for a while gives some away: a group of
 * adapters that have sent to each other in this time, and to no other.  Of such groups it takes the
 * one whose move leaves this thread and the idlest one with the most equal work.  A group is never
 * split.
 */
#include "engine/internal.h"
#include "fabric/fabric.h"

/* How long the load of a thread is measured. */
#define PERIOD_NS	10000000u
/* Load of a thread, in thousandths, from which on it counts as busy. */
#define BUSY		900u
/*
 * A group moves only if the busier thread has at most this part of the load afterwards, in
 * thousandths.
 */
#define WORTH		900u

static u64 work_of(const struct adapter *a)
{
	return a->worked - a->worked_then;
}

static struct adapter *first_of(struct adapter *a)
{
	while (a->group != a)
		a = a->group;
	return a;
}

static void unite(struct adapter *a, struct adapter *b)
{
	first_of(b)->group = first_of(a);
}

/* Finds the groups of adapters that send to each other. */
static void find_groups(struct shard *s)
{
	list_for_each_safe(l, &s->adapters) {
		struct adapter *a = container_of(l, struct adapter, node);

		a->group = a;
	}
	list_for_each_safe(l, &s->adapters) {
		struct adapter *a = container_of(l, struct adapter, node);

		/* an adapter that is moving to this shard is in no group yet */
		for (u32 i = 0; i < a->nmet; i++)
			if (adapter_is_near(a, a->met[i]))
				unite(a, a->met[i]);
		/* which adapters it has sent to is not known */
		if (a->met_many)
			list_for_each_safe(k, &s->adapters)
				unite(a, container_of(k, struct adapter, node));
	}
}

static u64 work_of_group(const struct shard *s, struct adapter *first)
{
	u64 sum = 0;

	list_for_each_safe(l, &s->adapters) {
		struct adapter *a = container_of(l, struct adapter, node);

		if (first_of(a) == first)
			sum += work_of(a);
	}
	return sum;
}

static u32 load_of(const struct shard *s)
{
	return __atomic_load_n(&s->asleep, __ATOMIC_RELAXED) ? 0 :
	       __atomic_load_n(&s->load, __ATOMIC_RELAXED);
}

/* The other shard with the least load. */
static struct shard *idlest(struct shard *s)
{
	struct engine *e = s->engine;
	struct shard *least = NULL;

	for (u32 i = 0; i < e->nshards; i++)
		if (&e->shard[i] != s && (!least || load_of(&e->shard[i]) < load_of(least)))
			least = &e->shard[i];
	return least;
}

/* The group whose move leaves the busier of the two shards with the least to do; or NULL. */
static struct adapter *best_group(struct shard *s, u64 theirs)
{
	struct adapter *best = NULL;
	u64 ours = 0, least;

	list_for_each_safe(l, &s->adapters)
		ours += work_of(container_of(l, struct adapter, node));
	least = ours / 1000 * WORTH;
	list_for_each_safe(l, &s->adapters) {
		struct adapter *a = container_of(l, struct adapter, node);
		u64 work, busier;

		if (a->group != a)
			continue;
		work = work_of_group(s, a);
		busier = MAX(ours - work, theirs + work);
		if (busier < least) {
			least = busier;
			best = a;
		}
	}
	return best;
}

static void relieve(struct shard *s, u64 passed)
{
	struct shard *to = idlest(s);
	struct adapter *first;

	find_groups(s);
	first = best_group(s, load_of(to) * passed / 1000);
	if (!first)
		return;
	/* other busy threads do not take it for idle */
	__atomic_fetch_add(&to->load, work_of_group(s, first) * 1000 / passed, __ATOMIC_RELAXED);
	list_for_each_safe(l, &s->adapters) {
		struct adapter *a = container_of(l, struct adapter, node);

		if (first_of(a) == first)
			adapter_send_off(a, to);
	}
}

void shard_spread(struct shard *s)
{
	u64 now = s->worker.now, passed = now - s->since;
	u32 load;

	if (passed < PERIOD_NS)
		return;
	load = 1000 - MIN(s->napped, passed) * 1000 / passed;
	__atomic_store_n(&s->load, load, __ATOMIC_RELAXED);
	if (load >= BUSY && !list_empty(&s->adapters) &&
	    !(s->engine->fabric && fabric_is_single(s->engine->fabric)))
		relieve(s, passed);
	list_for_each_safe(l, &s->adapters) {
		struct adapter *a = container_of(l, struct adapter, node);

		a->worked_then = a->worked;
		adapter_forget(a);
	}
	s->since = now;
	s->napped = 0;
}
