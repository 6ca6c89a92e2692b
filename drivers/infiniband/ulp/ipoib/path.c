// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Paths: the subnet manager is asked once for each GID, for a limited number of them at a time, and
 * packets wait for the answer. Packets find the address by GID alone; the receiver's QP number
 * stands in the packet's own address, so neighbours need no table.
 */
#include <kunit/static_stub.h>
#include <kunit/visibility.h>
#include <linux/slab.h>

#include "path.h"
#include "ud.h"

/* Buckets, as a logarithm, and the most paths. */
#define PATH_BITS	9
#define MAX_PATHS	16384

/* How long the subnet manager may take, in milliseconds. */
#define QUERY_TIME	1000

static struct ipoib_path *path_of(struct ipoib_node *node)
{
	return container_of(node, struct ipoib_path, node);
}

static struct ipoib_path *find(struct ipoib_dev *ipoib, const u8 *gid)
{
	struct ipoib_node *node = ipoib_table_find(&ipoib->paths, gid);

	return node ? path_of(node) : NULL;
}

static struct ipoib_ah *ah_of(struct ipoib_path *path)
{
	return rcu_dereference_protected(path->ah, lockdep_is_held(&path->ipoib->lock));
}

/* ---- queries: all under the interface's lock but for the answer ---- */

VISIBLE_IF_KUNIT void ipoib_path_answered(int status, struct sa_path_rec *rec, unsigned int num,
					  void *context);

/**
 * ipoib_path_query() - ask the subnet manager
 * @path: what for; receives the query
 *
 * Context: any.
 * Return: the query's id; as ib_sa_path_rec_get().
 */
VISIBLE_IF_KUNIT int ipoib_path_query(struct ipoib_path *path)
{
	struct ipoib_dev *ipoib = path->ipoib;

	KUNIT_STATIC_STUB_REDIRECT(ipoib_path_query, path);
	return ib_sa_path_rec_get(&ipoib_sa_client, ipoib->ca, ipoib->port, &path->rec,
				  IB_SA_PATH_REC_DGID | IB_SA_PATH_REC_SGID |
				  IB_SA_PATH_REC_NUMB_PATH | IB_SA_PATH_REC_TRAFFIC_CLASS |
				  IB_SA_PATH_REC_PKEY,
				  QUERY_TIME, GFP_ATOMIC, ipoib_path_answered, path, &path->query);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_path_query);

static void describe(struct ipoib_path *path)
{
	struct ipoib_dev *ipoib = path->ipoib;

	path->rec = (struct sa_path_rec){
		.rec_type = rdma_cap_opa_ah(ipoib->ca, ipoib->port) ? SA_PATH_REC_TYPE_OPA :
								      SA_PATH_REC_TYPE_IB,
		.sgid = ipoib->gid,
		.pkey = cpu_to_be16(ipoib->pkey),
		.numb_path = 1,
		.traffic_class = ipoib->traffic_class,
	};
	memcpy(path->rec.dgid.raw, path->node.key, sizeof(path->rec.dgid));
}

/* Whether a query is under way now; without one nothing will answer. */
static bool ask(struct ipoib_path *path)
{
	struct ipoib_dev *ipoib = path->ipoib;
	int id;

	path->again = false;
	/* Not earlier: while it waited the interface may have got another GID. */
	describe(path);
	id = ipoib_path_query(path);
	if (id < 0) {
		ipoib_dbg(ipoib, "no query for %pI6: error %d\n", path->node.key, id);
		return false;
	}
	path->query_id = id;
	path->asked = true;
	ipoib->queries++;
	return true;
}

/*
 * Forget a path to which there is no address and no query. Peers choose their GIDs: those that the
 * subnet manager does not know must not fill the table.
 */
static void forget_unknown(struct ipoib_path *path)
{
	if (ah_of(path))
		return;
	ipoib_table_del(&path->ipoib->paths, &path->node);
	kfree_rcu(path, rcu);
}

static void ask_next(struct ipoib_dev *ipoib)
{
	struct ipoib_path *path;

	while (ipoib->queries < IPOIB_MAX_QUERIES) {
		path = list_first_entry_or_null(&ipoib->path_wait, struct ipoib_path, wait);
		if (!path)
			return;
		list_del_init(&path->wait);
		if (ask(path))
			continue;
		ipoib_drop_queue(ipoib, &path->queue);
		forget_unknown(path);
	}
}

/*
 * Take an answer and the packets that waited for it; return the address that is to be released. If
 * the subnet manager may say otherwise by now, they go on waiting.
 */
static struct ipoib_ah *settle(struct ipoib_path *path, const struct sa_path_rec *rec,
			       struct ipoib_ah *ah, struct sk_buff_head *ready)
{
	struct ipoib_dev *ipoib = path->ipoib;
	struct ipoib_ah *old;

	if (path->gone || (!ah && !path->again)) {
		ipoib_drop_queue(ipoib, &path->queue);
		return ah;
	}
	if (path->again)
		return ah;
	path->rec = *rec;
	/* A router's answer may name another GID. */
	memcpy(path->rec.dgid.raw, path->node.key, sizeof(path->rec.dgid));
	old = rcu_replace_pointer(path->ah, ah, lockdep_is_held(&ipoib->lock));
	WRITE_ONCE(path->stale, false);
	skb_queue_splice_tail_init(&path->queue, ready);
	return old;
}

/**
 * ipoib_path_make_ah() - make the address to which a path leads
 * @ipoib: interface
 * @rec: the path
 *
 * Context: may sleep.
 * Return: the address, or NULL.
 */
VISIBLE_IF_KUNIT struct ipoib_ah *ipoib_path_make_ah(struct ipoib_dev *ipoib,
						     struct sa_path_rec *rec)
{
	struct rdma_ah_attr attr;
	struct ipoib_ah *ah;

	KUNIT_STATIC_STUB_REDIRECT(ipoib_path_make_ah, ipoib, rec);
	if (ib_init_ah_attr_from_path(ipoib->ca, ipoib->port, rec, &attr, NULL))
		return NULL;
	ah = ipoib_ah_create(ipoib, &attr);
	rdma_destroy_ah_attr(&attr);
	return ah;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_path_make_ah);

/**
 * ipoib_path_answered() - the subnet manager has answered, or will not
 * @status: 0, or why there is no path
 * @rec: the path, if @status is 0
 * @num: number of paths; the first one is taken
 * @context: struct ipoib_path, as it asked
 *
 * Context: may sleep.
 */
VISIBLE_IF_KUNIT void ipoib_path_answered(int status, struct sa_path_rec *rec, unsigned int num,
					  void *context)
{
	struct ipoib_path *path = context;
	struct ipoib_dev *ipoib = path->ipoib;
	struct ipoib_ah *ah = status ? NULL : ipoib_path_make_ah(ipoib, rec);
	struct sk_buff_head ready;

	if (status)
		ipoib_dbg(ipoib, "no path to %pI6: error %d\n", path->node.key, status);
	__skb_queue_head_init(&ready);
	scoped_guard(spinlock_irqsave, &ipoib->lock) {
		ah = settle(path, rec, ah, &ready);
		path->asked = false;
		path->query = NULL;
		if (path->gone)
			kfree_rcu(path, rcu);
		else if (path->again)
			list_add_tail(&path->wait, &ipoib->path_wait);
		else
			forget_unknown(path);
	}
	ipoib_ah_release(ipoib, ah);
	ipoib_resend(ipoib, &ready);
	/* ipoib_path_end() waits for this; there may be no interface afterwards. */
	scoped_guard(spinlock_irqsave, &ipoib->lock) {
		ipoib->queries--;
		ask_next(ipoib);
		wake_up(&ipoib->idle);
	}
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_path_answered);

static void want(struct ipoib_path *path)
{
	if (path->asked || !list_empty(&path->wait))
		return;
	list_add_tail(&path->wait, &path->ipoib->path_wait);
	ask_next(path->ipoib);
}

static void remove(struct ipoib_path *path)
{
	struct ipoib_dev *ipoib = path->ipoib;
	struct ipoib_ah *ah = rcu_replace_pointer(path->ah, NULL, lockdep_is_held(&ipoib->lock));

	ipoib_table_del(&ipoib->paths, &path->node);
	list_del_init(&path->wait);
	ipoib_drop_queue(ipoib, &path->queue);
	if (ah)
		list_add_tail(&ah->entry, &ipoib->ah_idle);
	if (!path->asked) {
		kfree_rcu(path, rcu);
		return;
	}
	path->gone = true;
	ib_sa_cancel_query(path->query_id, path->query);
}

static void older(struct ipoib_node *node, void *context)
{
	struct ipoib_path **best = context, *path = path_of(node);

	if (!path->asked && (!*best || time_before(path->used, (*best)->used)))
		*best = path;
}

/*
 * A path gives way to a new one: the first of those that are to be asked for, if it has no address,
 * since peers can make many such; else the one that was not used longest.
 */
static void make_room(struct ipoib_dev *ipoib)
{
	struct ipoib_path *victim;

	victim = list_first_entry_or_null(&ipoib->path_wait, struct ipoib_path, wait);
	if (!victim || ah_of(victim)) {
		victim = NULL;
		ipoib_table_each(&ipoib->paths, older, &victim);
	}
	if (!victim)
		return;
	remove(victim);
	queue_delayed_work(ipoib->wq, &ipoib->ah_work, 0);
}

static struct ipoib_path *create(struct ipoib_dev *ipoib, const u8 *gid)
{
	struct ipoib_path *path;

	if (ipoib->paths.count >= ipoib->paths.limit)
		make_room(ipoib);
	path = kzalloc(sizeof(*path), GFP_ATOMIC);
	if (!path)
		return NULL;
	path->ipoib = ipoib;
	__skb_queue_head_init(&path->queue);
	INIT_LIST_HEAD(&path->wait);
	if (ipoib_table_add(&ipoib->paths, &path->node, gid)) {
		kfree(path);
		return NULL;
	}
	return path;
}

static struct ipoib_ah *current_ah(struct ipoib_path *path)
{
	struct ipoib_ah *ah = rcu_dereference_bh(path->ah);

	return READ_ONCE(path->stale) ? NULL : ah;
}

/* Without an address the packet waits, if the subnet manager can be asked. */
static struct ipoib_ah *look_up(struct ipoib_dev *ipoib, const u8 *gid, struct sk_buff *skb)
{
	struct ipoib_path *path;

	guard(spinlock_irqsave)(&ipoib->lock);
	path = find(ipoib, gid) ?: create(ipoib, gid);
	if (!path) {
		ipoib_drop(ipoib, skb);
		return NULL;
	}
	path->used = jiffies;
	if (ah_of(path) && !path->stale)
		return ah_of(path);
	ipoib_enqueue(ipoib, &path->queue, skb, IPOIB_PATH_QUEUE);
	want(path);
	return NULL;
}

/**
 * ipoib_path_ah() - where to send a packet
 * @ipoib: interface
 * @gid: GID of the receiver
 * @skb: the packet, which waits or is dropped if the answer is not known
 *
 * Context: transmit queue's lock, and RCU as long as the result is used.
 * Return: the address; NULL if the packet has been taken.
 */
struct ipoib_ah *ipoib_path_ah(struct ipoib_dev *ipoib, const u8 *gid, struct sk_buff *skb)
{
	struct ipoib_path *path = find(ipoib, gid);
	struct ipoib_ah *ah = path ? current_ah(path) : NULL;

	if (!ah)
		return look_up(ipoib, gid, skb);
	WRITE_ONCE(path->used, jiffies);
	return ah;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_path_ah);

/**
 * ipoib_path_rec() - the path to a GID, if it is known
 * @ipoib: interface
 * @gid: the GID
 * @rec: receives the path
 *
 * Context: any.
 * Return: whether it is known.
 */
bool ipoib_path_rec(struct ipoib_dev *ipoib, const u8 *gid, struct sa_path_rec *rec)
{
	struct ipoib_path *path;

	guard(spinlock_irqsave)(&ipoib->lock);
	path = find(ipoib, gid);
	if (!path || !ah_of(path) || path->stale)
		return false;
	*rec = path->rec;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_path_rec);

/* ---- paths end ---- */

static void stale(struct ipoib_node *node, void *context)
{
	struct ipoib_path *path = path_of(node);

	WRITE_ONCE(path->stale, true);
	path->again = path->asked;
}

/**
 * ipoib_path_stale() - ask again for each path before it is used the next time
 * @ipoib: interface
 *
 * Context: any.
 */
void ipoib_path_stale(struct ipoib_dev *ipoib)
{
	guard(spinlock_irqsave)(&ipoib->lock);
	ipoib_table_each(&ipoib->paths, stale, NULL);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_path_stale);

static void remove_any(struct ipoib_node *node, void *context)
{
	remove(path_of(node));
}

/* Forget a path that was not used since a time, in jiffies. */
static void remove_idle(struct ipoib_node *node, void *context)
{
	struct ipoib_path *path = path_of(node);
	unsigned long *since = context;

	if (!path->asked && list_empty(&path->wait) && time_before(path->used, *since))
		remove(path);
}

static void remove_by(struct ipoib_dev *ipoib, void (*call)(struct ipoib_node *node, void *context),
		      void *context)
{
	scoped_guard(spinlock_irqsave, &ipoib->lock)
		ipoib_table_each(&ipoib->paths, call, context);
	queue_delayed_work(ipoib->wq, &ipoib->ah_work, 0);
}

/**
 * ipoib_path_flush() - forget all paths
 * @ipoib: interface
 *
 * Context: may sleep.
 */
void ipoib_path_flush(struct ipoib_dev *ipoib)
{
	remove_by(ipoib, remove_any, NULL);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_path_flush);

/**
 * ipoib_path_age() - forget paths that nobody uses
 * @ipoib: interface
 * @idle: how long they have not been used, in jiffies
 *
 * Context: may sleep.
 */
void ipoib_path_age(struct ipoib_dev *ipoib, unsigned long idle)
{
	unsigned long since = jiffies - idle;

	remove_by(ipoib, remove_idle, &since);
}

/**
 * ipoib_path_init() - begin without paths
 * @ipoib: interface
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ipoib_path_init(struct ipoib_dev *ipoib)
{
	INIT_LIST_HEAD(&ipoib->path_wait);
	ipoib->queries = 0;
	return ipoib_table_init(&ipoib->paths, PATH_BITS, sizeof(union ib_gid), MAX_PATHS);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_path_init);

static bool all_answered(struct ipoib_dev *ipoib)
{
	guard(spinlock_irqsave)(&ipoib->lock);
	return !ipoib->queries;
}

/**
 * ipoib_path_end() - forget all paths for good
 * @ipoib: interface that does not send any more
 *
 * Context: may sleep.
 */
void ipoib_path_end(struct ipoib_dev *ipoib)
{
	ipoib_path_flush(ipoib);
	wait_event(ipoib->idle, all_answered(ipoib));
	ipoib_table_free(&ipoib->paths);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_path_end);
