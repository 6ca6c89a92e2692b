// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Peers: which id has a peer's id, and which one its QP. TIMEWAIT is for the QP of this side. The
 * peer's may be connected again at once: programs destroy a QP when it is disconnected, and the
 * peer's device gives its number to the next. The peer's id stays known until TIMEWAIT is over, so
 * that a request that comes once more is not taken for a new one.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/module.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>

#include "cm.h"
#include "timing.h"

enum {
	KIND_ID,
	KIND_QP,
};

#define PARAMS(_key, _node)							\
	{									\
		.head_offset = offsetof(struct cm_remote, _node),		\
		.key_offset = offsetof(struct cm_remote, _key),			\
		.key_len = sizeof(struct cm_remote_key),			\
		.automatic_shrinking = true,					\
	}

static const struct rhashtable_params id_params = PARAMS(id_key, by_id);
static const struct rhashtable_params qp_params = PARAMS(qp_key, by_qp);

/* Peers of all ids. Looked up under RCU. */
static struct rhashtable peers_by_id;
static struct rhashtable peers_by_qp;

/* Peers in TIMEWAIT, protected by the lock. */
static DEFINE_SPINLOCK(waiting_lock);
static LIST_HEAD(waiting);

/**
 * cm_remotes_begin() - make the tables
 *
 * Return: 0 or -ENOMEM.
 */
int cm_remotes_begin(void)
{
	int ret = rhashtable_init(&peers_by_id, &id_params);

	if (ret)
		return ret;
	ret = rhashtable_init(&peers_by_qp, &qp_params);
	if (ret)
		rhashtable_destroy(&peers_by_id);
	return ret;
}

/**
 * cm_remotes_end() - end all TIMEWAITs and free the tables
 *
 * There is no id any more.
 */
void cm_remotes_end(void)
{
	struct cm_remote *remote;

	/* One that runs already, and is still in the list, must not be queued again: it frees. */
	scoped_guard(spinlock_irqsave, &waiting_lock)
		list_for_each_entry(remote, &waiting, entry)
			if (cancel_delayed_work(&remote->work))
				queue_delayed_work(cm_wq, &remote->work, 0);
	flush_workqueue(cm_wq);
	rhashtable_destroy(&peers_by_qp);
	rhashtable_destroy(&peers_by_id);
}

static void unbind(struct cm_remote *remote)
{
	if (!remote->bound)
		return;
	remote->bound = false;
	rhashtable_remove_fast(&peers_by_qp, &remote->by_qp, qp_params);
	rhashtable_remove_fast(&peers_by_id, &remote->by_id, id_params);
}

/**
 * cm_remote_free() - free the peer of an id
 * @remote: peer that is not in TIMEWAIT, or NULL
 */
void cm_remote_free(struct cm_remote *remote)
{
	if (!remote)
		return;
	unbind(remote);
	cm_event_free(remote->event);
	kfree_rcu(remote, rcu);
}

/* Puts a peer into a table, unless one with this key is there. */
static enum cm_bind insert(struct rhashtable *table, struct rhash_head *node,
			   struct rhashtable_params params, enum cm_bind taken, u32 *other)
{
	struct cm_remote *found;

	guard(rcu)();
	found = rhashtable_lookup_get_insert_fast(table, node, params);
	if (!found)
		return CM_BOUND;
	if (IS_ERR(found))
		return CM_BIND_FAILED;
	*other = found->local_id;
	return taken;
}

/**
 * cm_remote_bind() - take a peer for an id
 * @remote: peer of the id; bound to no peer
 * @ca_guid: the peer's adapter
 * @comm_id: the peer's id
 * @qpn: the peer's QP
 * @other: receives the number of the id that has the peer already
 *
 * Context: any.
 * Return: whether the id has the peer now, or another id has it.
 */
enum cm_bind cm_remote_bind(struct cm_remote *remote, u64 ca_guid, u32 comm_id, u32 qpn,
			    u32 *other)
{
	enum cm_bind ret;

	remote->id_key = (struct cm_remote_key) { ca_guid, comm_id, KIND_ID };
	remote->qp_key = (struct cm_remote_key) { ca_guid, qpn, KIND_QP };
	ret = insert(&peers_by_id, &remote->by_id, id_params, CM_BIND_SAME_ID, other);
	if (ret != CM_BOUND)
		return ret;
	ret = insert(&peers_by_qp, &remote->by_qp, qp_params, CM_BIND_SAME_QP, other);
	if (ret != CM_BOUND)
		rhashtable_remove_fast(&peers_by_id, &remote->by_id, id_params);
	remote->bound = ret == CM_BOUND;
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(cm_remote_bind);

/**
 * cm_remote_unbind() - let others have the peer
 * @remote: peer of an id, or NULL
 *
 * Context: any.
 */
void cm_remote_unbind(struct cm_remote *remote)
{
	if (remote)
		unbind(remote);
}
EXPORT_SYMBOL_IF_KUNIT(cm_remote_unbind);

/**
 * cm_remote_free_qp() - let others have the peer's QP
 * @remote: peer of an id, or NULL; the id keeps it
 *
 * Context: any.
 */
void cm_remote_free_qp(struct cm_remote *remote)
{
	/* Once more does no harm: it is not in the table then. */
	if (remote && remote->bound)
		rhashtable_remove_fast(&peers_by_qp, &remote->by_qp, qp_params);
}

/**
 * cm_remote_find() - which id has this peer?
 * @ca_guid: the peer's adapter
 * @comm_id: the peer's id
 *
 * Context: any.
 * Return: the id's number, 0 for none.
 */
u32 cm_remote_find(u64 ca_guid, u32 comm_id)
{
	struct cm_remote_key key = { ca_guid, comm_id, KIND_ID };
	struct cm_remote *found;

	guard(rcu)();
	found = rhashtable_lookup(&peers_by_id, &key, id_params);
	return found ? found->local_id : 0;
}

/**
 * cm_timewait_begin() - begin the TIMEWAIT of an id's peer
 * @id: id with a peer, of which it may be destroyed now
 *
 * Context: the id's lock is held.
 */
void cm_timewait_begin(struct cm_id *id)
{
	struct cm_remote *remote = id->remote;

	lockdep_assert_held(&id->lock);
	if (WARN_ON_ONCE(!remote))
		return;
	id->remote = NULL;
	id->waiting = remote;
	cm_remote_free_qp(remote);
	scoped_guard(spinlock_irqsave, &waiting_lock)
		list_add_tail(&remote->entry, &waiting);
	queue_delayed_work(cm_wq, &remote->work,
			   msecs_to_jiffies(cm_timewait_ms(id->ack_timeout, id->own_timeout)));
}

/**
 * cm_timewait_cancel() - end the TIMEWAIT of an id, if it is in one
 * @id: id that is destroyed; others can still find it
 *
 * A request by the peer's id is new from now on, not one that the id will answer.
 *
 * Context: the id's lock is held.
 */
void cm_timewait_cancel(struct cm_id *id)
{
	struct cm_remote *remote = id->waiting;

	lockdep_assert_held(&id->lock);
	if (!remote)
		return;
	id->waiting = NULL;
	/* Its end may have begun, and waits for the lock: it does the same. */
	if (cancel_delayed_work(&remote->work)) {
		cm_timewait_done(remote);
		cm_remote_free(remote);
	}
}

/**
 * cm_timewait_done() - end the TIMEWAIT of a peer
 * @remote: peer
 *
 * Context: any.
 */
void cm_timewait_done(struct cm_remote *remote)
{
	unbind(remote);
	guard(spinlock_irqsave)(&waiting_lock);
	list_del(&remote->entry);
}
