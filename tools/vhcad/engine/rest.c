// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Adapters rest.
 *
 * A pass looks at every adapter that is awake, which takes longer than a message does where many
 * guests are idle.  So an adapter that nothing has happened to for some passes rests: no pass looks
 * at it until its guest kicks, a packet arrives at one of its ports, or somebody has held its lock.
 *
 * A thread that has news for an adapter that rests cannot change the list of those that are awake.
 * It tells the adapter's shard that one of its adapters has news; the shard looks which.  The news,
 * then @resting, on one side, and @resting, then the news, on the other side, with a full barrier
 * between them: so at least one side sees the other.
 */
#include "engine/internal.h"

/* Passes without news after which an adapter rests. */
#define REST_PASSES	64u

void adapter_end_rest(struct adapter *a)
{
	__atomic_store_n(&a->resting, false, __ATOMIC_RELAXED);
	a->quiet = 0;
	list_add_tail(&a->awake_node, &a->home->awake);
}

/* Is there nothing that a pass would have to look at? */
static bool may_rest(struct adapter *a)
{
	return list_empty(&a->ready) && list_empty(&a->no_room) && list_empty(&a->away) &&
	       !a->timers.n && a->ops->rests && a->ops->rests(a);
}

static void rest(struct adapter *a)
{
	list_del_init(&a->awake_node);
	__atomic_store_n(&a->resting, true, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!a->ops->rests(a))
		adapter_end_rest(a);
}

void adapter_looked_at(struct adapter *a, bool any)
{
	if (any)
		a->quiet = 0;
	else if (a->quiet < REST_PASSES)
		a->quiet++;
	else if (may_rest(a))
		rest(a);
}

void shard_rouse(struct shard *s)
{
	/* whoever has set it: its news are seen behind this; who comes later sets it again */
	(void)__atomic_exchange_n(&s->roused, false, __ATOMIC_SEQ_CST);
	list_for_each_safe(l, &s->adapters) {
		struct adapter *a = container_of(l, struct adapter, node);

		if (a->resting && !a->ops->rests(a))
			adapter_end_rest(a);
	}
}

void shard_call(struct shard *s, const struct adapter *a)
{
	if (!__atomic_load_n(&a->resting, __ATOMIC_RELAXED))
		return;
	__atomic_store_n(&s->roused, true, __ATOMIC_RELAXED);
	/* the shard's thread sees it before it sleeps, or its sleep is seen */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}
