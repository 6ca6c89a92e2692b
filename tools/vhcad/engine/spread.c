// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Work is spread over the threads.
 *
 * Adapters come together where they send to each other, see meet.c, and would all be on one thread
 * in the end.  So a thread that has hardly slept for a while has some go: those that have sent to
 * each other in this time, and to no other, of such groups the one that makes this thread and the
 * one with the least to do most alike.  One group is not torn apart.
 */
#include "engine/internal.h"
#include "fabric/fabric.h"

/* How long a thread is looked at. */
#define PERIOD_NS	10000000u
/* The share of that time, in thousandths, from which on a thread that works is busy. */
#define BUSY		900u
/* What is to become less, at least: to this of what it was, in thousandths. */
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

/* Finds out who belongs together. */
static void find_groups(struct shard *s)
{
	list_for_each_safe(l, &s->adapters) {
		struct adapter *a = container_of(l, struct adapter, node);

		a->group = a;
	}
	list_for_each_safe(l, &s->adapters) {
		struct adapter *a = container_of(l, struct adapter, node);

		/* one that is on its way back is in no group yet */
		for (u32 i = 0; i < a->nmet; i++)
			if (adapter_is_near(a, a->met[i]))
				unite(a, a->met[i]);
		/* it is not known with whom */
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

/* The other shard with the least to do. */
static struct shard *idlest(struct shard *s)
{
	struct engine *e = s->engine;
	struct shard *least = NULL;

	for (u32 i = 0; i < e->nshards; i++)
		if (&e->shard[i] != s && (!least || load_of(&e->shard[i]) < load_of(least)))
			least = &e->shard[i];
	return least;
}

/* The group after whose leaving the busier of the two shards has the least to do; or NULL. */
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
	/* other threads that look for help do not see it idle */
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
