// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * All shards at once: their threads are kept off the adapters, and woken.
 */
#include "engine/internal.h"
#include "fabric/fabric.h"

/* While all shards are held, all adapters are in them: none is on its way. */
void engine_lock(struct engine *e)
{
	for (u32 i = 0; i < e->nshards; i++)
		shard_lock(&e->shard[i]);
	for (u32 i = 0; i < e->nshards; i++) {
		shard_take(&e->shard[i]);
		e->shard[i].worker.alone = true;
	}
}

/* The holder of the lock may have done anything to any adapter. */
static void rouse_all(struct engine *e)
{
	for (u32 i = 0; i < e->nshards; i++)
		list_for_each_safe(l, &e->shard[i].adapters)
			adapter_rouse(container_of(l, struct adapter, node));
}

void engine_unlock(struct engine *e)
{
	rouse_all(e);
	if (e->nshards > 1) {
		if (e->fabric && fabric_is_single(e->fabric))
			engine_gather(e);
		for (u32 i = 0; i < e->nshards; i++)
			e->shard[i].worker.alone = false;
	}
	for (u32 i = e->nshards; i--; )
		shard_unlock(&e->shard[i]);
}

void engine_wake(struct engine *e)
{
	for (u32 i = 0; i < e->nshards; i++)
		shard_wake(&e->shard[i], WOKEN_BY_CONTROL);
}
