// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Adapters of several threads come together.
 *
 * An adapter sends only to adapters of its own shard.  If its receiver is in a shard with a lower
 * number, the adapter moves there; if it is in one with a higher number, the adapter calls the
 * receiver, which moves here.  So a packet moves adapters only to lower numbers: none can move to a
 * shard that its peer has just left, and after as many moves as there are shards all adapters that
 * send to each other are together.  Only spread.c moves adapters to higher numbers, now and then.
 *
 * A waiting adapter looks again when an adapter has come to its shard, and when one that it has
 * called has moved elsewhere.  All moves are at the beginning of a pass, when no list is being
 * walked.
 */
#include "engine/internal.h"

/* ------------------------------------------------------------------------
 * Moving
 */

/* QPs that waited for an adapter of another shard look whether it is here now. */
static void look_again(struct adapter *a)
{
	if (list_empty(&a->away))
		return;
	list_splice_tail(&a->away, &a->ready);
	adapter_ready(a);
}

/* Takes an adapter off everything that is the shard's. */
static void take_off(struct shard *s, struct adapter *a)
{
	if (!list_empty(&a->untold_node))
		worker_notify(&s->worker);
	if (a->ops->leave)
		a->ops->leave(a);
	if (a->has_turn) {
		s->turn = NULL;
		a->has_turn = false;
	}
	list_del_init(&a->ready_node);
	list_del_init(&a->awake_node);
	list_del_init(&a->node);
	__atomic_store_n(&a->resting, false, __ATOMIC_RELAXED);
	a->going = NULL;
}

/* Makes an adapter one of this shard. */
static void put_on(struct shard *s, struct adapter *a)
{
	__atomic_store_n(&a->worker, &s->worker, __ATOMIC_RELAXED);
	list_add_tail(&a->node, &s->adapters);
	adapter_end_rest(a);
	a->served = s->served;
	if (!list_empty(&a->ready))
		list_add_tail(&a->ready_node, &s->ready);
}

static void ask_for_news(struct shard *s)
{
	__atomic_store_n(&s->news, true, __ATOMIC_SEQ_CST);
	shard_wake(s, WOKEN_BY_SHARD);
}

/*
 * Has the shards in @callers, a bit each, which have called an adapter that does not move to them,
 * look for it where it is now.
 */
static void tell_callers(struct engine *e, u64 callers)
{
	for (; callers; callers &= callers - 1)
		ask_for_news(&e->shard[__builtin_ctzll(callers)]);
}

static void leave(struct shard *s, struct adapter *a, struct shard *to)
{
	take_off(s, a);
	/*
	 * other threads look for it there now; one that does not find it waits for this shard's
	 * lock
	 */
	__atomic_store_n(&a->home, to, __ATOMIC_SEQ_CST);
	inbox_put(&to->inbox, &a->inbox_link);
	shard_wake(to, WOKEN_BY_SHARD);
}

void shard_open(struct shard *s)
{
	struct inbox_link *l = inbox_take(&s->inbox);

	while (l) {
		struct adapter *a = container_of(l, struct adapter, inbox_link);

		l = l->next;
		put_on(s, a);
		/* a shard that called it during the move may not have found it in any shard */
		if (__atomic_load_n(&a->callers, __ATOMIC_SEQ_CST))
			__atomic_store_n(&s->news, true, __ATOMIC_RELAXED);
	}
	list_for_each_safe(at, &s->adapters)
		look_again(container_of(at, struct adapter, node));
}

/* Moves an adapter to where it wants to go or is called to; of several the lowest number counts. */
static void answer(struct shard *s, struct adapter *a)
{
	u64 callers = 0;
	struct shard *to = a->going;

	if (__atomic_load_n(&a->callers, __ATOMIC_SEQ_CST))
		callers = __atomic_exchange_n(&a->callers, 0, __ATOMIC_SEQ_CST);
	if (callers) {
		struct shard *first = &s->engine->shard[__builtin_ctzll(callers)];

		if (first < s && (!to || first < to))
			to = first;
	}
	if (to)
		leave(s, a, to);
	else
		to = s;
	tell_callers(s->engine, callers & ~(1ull << to->number));
}

void shard_answer(struct shard *s)
{
	/* before the callers are read: a shard that calls after this sets it again */
	__atomic_store_n(&s->news, false, __ATOMIC_SEQ_CST);
	list_for_each_safe(l, &s->adapters) {
		struct adapter *a = container_of(l, struct adapter, node);

		look_again(a);
		answer(s, a);
	}
}

void adapter_send_off(struct adapter *a, struct shard *to)
{
	/* an adapter that is sent to its own shard would be in no list until the next pass */
	a->going = to == a->home ? NULL : to;
	__atomic_store_n(&a->home->news, true, __ATOMIC_RELAXED);
}

void engine_gather(struct engine *e)
{
	struct shard *first = &e->shard[0];

	for (u32 i = 1; i < e->nshards; i++) {
		struct shard *s = &e->shard[i];

		list_for_each_safe(l, &s->adapters) {
			struct adapter *a = container_of(l, struct adapter, node);

			take_off(s, a);
			__atomic_store_n(&a->home, first, __ATOMIC_SEQ_CST);
			put_on(first, a);
			/*
			 * the first shard may sleep, and doorbells that are not armed do not wake
			 * it
			 */
			ask_for_news(first);
		}
	}
	list_for_each_safe(l, &first->adapters)
		container_of(l, struct adapter, node)->going = NULL;
}

/* ------------------------------------------------------------------------
 * Looking for each other
 */

void adapter_seek(struct adapter *a, struct adapter *b)
{
	struct shard *here = a->home, *there = adapter_home(b);

	if (there < here) {
		if (!a->going || there < a->going)
			adapter_send_off(a, there);
		return;
	}
	/* the adapter is moving to this shard */
	if (there == here)
		return;
	__atomic_fetch_or(&b->callers, 1ull << here->number, __ATOMIC_SEQ_CST);
	/*
	 * Either the shard that is read here sees the callers, or the adapter has left it before
	 * that and the shard where it arrives sees them.
	 */
	ask_for_news(adapter_home(b));
}

/* ------------------------------------------------------------------------
 * Groups of adapters that send to each other
 */

void adapter_note(struct adapter *a, struct adapter *b)
{
	a->met_last = b;
	for (u32 i = 0; i < a->nmet; i++)
		if (a->met[i] == b)
			return;
	if (a->nmet == ADAPTER_MET)
		a->met_many = true;
	else
		a->met[a->nmet++] = b;
}

void adapter_forget(struct adapter *a)
{
	a->met_last = NULL;
	a->met_many = false;
	a->nmet = 0;
}

void engine_forget(struct engine *e)
{
	/* with one shard no adapter is remembered */
	for (u32 i = 0; i < e->nshards && e->nshards > 1; i++) {
		struct shard *s = &e->shard[i];

		list_for_each_safe(l, &s->adapters)
			adapter_forget(container_of(l, struct adapter, node));
		ask_for_news(s);
	}
}
