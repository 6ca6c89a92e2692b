// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Multicast groups. The broadcast group comes first, since it says what all others are like. One
 * work item joins, settles what was answered and leaves, so that a group's life needs no lock;
 * senders only find groups, have packets wait, and ask for new ones.
 */
#include <kunit/static_stub.h>
#include <kunit/visibility.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>

#include "mcast.h"
#include "ud.h"

/* Buckets, as a logarithm, and the most groups. */
#define GROUP_BITS	6
#define MAX_GROUPS	4096

/* The longest time between two attempts, in seconds. */
#define MAX_BACKOFF	16

/* A sender's join, which creates the group if there is none. */
#define JOIN_FULL	1
#define JOIN_SEND_ONLY	8

/* The QP number by which all members are meant. */
#define MULTICAST_QPN	0xffffff

/* What the subnet manager is told of any group, and what must be as in the broadcast group. */
#define JOIN_MASK	(IB_SA_MCMEMBER_REC_MGID | IB_SA_MCMEMBER_REC_PORT_GID | \
			 IB_SA_MCMEMBER_REC_PKEY | IB_SA_MCMEMBER_REC_JOIN_STATE)
#define LIKE_MASK	(IB_SA_MCMEMBER_REC_QKEY | IB_SA_MCMEMBER_REC_MTU_SELECTOR | \
			 IB_SA_MCMEMBER_REC_MTU | IB_SA_MCMEMBER_REC_TRAFFIC_CLASS | \
			 IB_SA_MCMEMBER_REC_RATE_SELECTOR | IB_SA_MCMEMBER_REC_RATE | \
			 IB_SA_MCMEMBER_REC_SL | IB_SA_MCMEMBER_REC_FLOW_LABEL | \
			 IB_SA_MCMEMBER_REC_HOP_LIMIT)

static struct ipoib_group *group_of(struct ipoib_node *node)
{
	return container_of(node, struct ipoib_group, node);
}

static struct ipoib_group *find(struct ipoib_dev *ipoib, const void *mgid)
{
	struct ipoib_node *node = ipoib_table_find(&ipoib->groups, mgid);

	return node ? group_of(node) : NULL;
}

static void kick(struct ipoib_dev *ipoib)
{
	mod_delayed_work(ipoib->wq, &ipoib->group_work, 0);
}

/* Context: the interface's lock is held. */
static struct ipoib_group *create(struct ipoib_dev *ipoib, const void *mgid, bool send_only)
{
	struct ipoib_group *group = kzalloc(sizeof(*group), GFP_ATOMIC);

	if (!group)
		return NULL;
	group->ipoib = ipoib;
	group->send_only = send_only;
	group->wanted = true;
	group->backoff = 1;
	group->created = jiffies;
	group->used = jiffies;
	group->retry = jiffies;
	__skb_queue_head_init(&group->queue);
	if (ipoib_table_add(&ipoib->groups, &group->node, mgid)) {
		kfree(group);
		return NULL;
	}
	return group;
}

/* ---- membership: the group's work, which alone removes groups ---- */

static void set_state(struct ipoib_group *group, enum ipoib_group_state state)
{
	guard(spinlock_irq)(&group->ipoib->lock);
	group->state = state;
}

/**
 * ipoib_mcast_forget() - give a membership back to the core
 * @mc: its handle, which no answer uses any more on return
 *
 * Context: may sleep.
 */
VISIBLE_IF_KUNIT void ipoib_mcast_forget(struct ib_sa_multicast *mc)
{
	KUNIT_STATIC_STUB_REDIRECT(ipoib_mcast_forget, mc);
	ib_sa_free_multicast(mc);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_mcast_forget);

/* Give the membership and all that came with it up; packets go on waiting. */
static void leave(struct ipoib_group *group)
{
	struct ipoib_dev *ipoib = group->ipoib;
	struct rdma_netdev *rn = netdev_priv(ipoib->netdev);
	union ib_gid mgid;
	struct ipoib_ah *ah;

	scoped_guard(spinlock_irq, &ipoib->lock)
		ah = rcu_replace_pointer(group->ah, NULL, lockdep_is_held(&ipoib->lock));
	ipoib_ah_release(ipoib, ah);
	if (group->attached) {
		memcpy(mgid.raw, group->node.key, sizeof(mgid));
		rn->detach_mcast(ipoib->netdev, ipoib->ca, &mgid, be16_to_cpu(group->rec.mlid));
		group->attached = false;
	}
	if (group->mc)
		ipoib_mcast_forget(group->mc);
	group->mc = NULL;
	set_state(group, IPOIB_GROUP_IDLE);
}

static void destroy(struct ipoib_group *group)
{
	struct ipoib_dev *ipoib = group->ipoib;

	ipoib_dbg_mcast(ipoib, "leaving %pI6\n", group->node.key);
	scoped_guard(spinlock_irq, &ipoib->lock) {
		ipoib_table_del(&ipoib->groups, &group->node);
		if (ipoib->broadcast == group)
			ipoib->broadcast = NULL;
		ipoib_drop_queue(ipoib, &group->queue);
	}
	leave(group);
	kfree_rcu(group, rcu);
}

/**
 * ipoib_mcast_answered() - the subnet manager has answered, or the membership is lost
 * @status: 0, or what is wrong
 * @multicast: the membership, as it was granted if @status is 0
 *
 * Context: any.
 * Return: 0.
 */
VISIBLE_IF_KUNIT int ipoib_mcast_answered(int status, struct ib_sa_multicast *multicast)
{
	struct ipoib_group *group = multicast->context;
	struct ipoib_dev *ipoib = group->ipoib;

	scoped_guard(spinlock_irqsave, &ipoib->lock) {
		/* A group that is to be left is left, even if its own join succeeds late. */
		if (group->state == IPOIB_GROUP_ANSWERED && group->status)
			break;
		if (!status)
			group->rec = multicast->rec;
		group->status = status;
		group->state = IPOIB_GROUP_ANSWERED;
	}
	kick(ipoib);
	/* The membership is freed by the work, also after an error. */
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_mcast_answered);

/**
 * ipoib_mcast_ask() - ask the subnet manager for a membership
 * @group: the group, whose ipoib_mcast_answered() hears the answer
 * @rec: what is wanted
 * @mask: fields of @rec that count
 *
 * Context: may sleep.
 * Return: the membership's handle; as ib_sa_join_multicast().
 */
VISIBLE_IF_KUNIT struct ib_sa_multicast *ipoib_mcast_ask(struct ipoib_group *group,
							 struct ib_sa_mcmember_rec *rec,
							 ib_sa_comp_mask mask)
{
	struct ipoib_dev *ipoib = group->ipoib;

	KUNIT_STATIC_STUB_REDIRECT(ipoib_mcast_ask, group, rec, mask);
	return ib_sa_join_multicast(&ipoib_sa_client, ipoib->ca, ipoib->port, rec, mask,
				    GFP_KERNEL, ipoib_mcast_answered, group);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_mcast_ask);

static void wait_longer(struct ipoib_group *group)
{
	group->retry = jiffies + group->backoff * HZ;
	group->backoff = min(group->backoff * 2, MAX_BACKOFF);
}

static void join(struct ipoib_group *group)
{
	struct ipoib_dev *ipoib = group->ipoib;
	struct ib_sa_mcmember_rec rec = {
		.port_gid = ipoib->gid,
		.pkey = cpu_to_be16(ipoib->pkey),
		.join_state = group->send_only ? JOIN_SEND_ONLY : JOIN_FULL,
	};
	ib_sa_comp_mask mask = JOIN_MASK;
	struct ib_sa_multicast *mc;

	memcpy(rec.mgid.raw, group->node.key, sizeof(rec.mgid));
	if (group != ipoib->broadcast) {
		const struct ib_sa_mcmember_rec *like = &ipoib->broadcast->rec;

		mask |= LIKE_MASK;
		rec.qkey = like->qkey;
		rec.mtu_selector = IB_SA_EQ;
		rec.mtu = like->mtu;
		rec.traffic_class = like->traffic_class;
		rec.rate_selector = IB_SA_EQ;
		rec.rate = like->rate;
		rec.sl = like->sl;
		rec.flow_label = like->flow_label;
		rec.hop_limit = like->hop_limit;
	}
	ipoib_dbg_mcast(ipoib, "joining %pI6\n", group->node.key);
	set_state(group, IPOIB_GROUP_ASKED);
	mc = ipoib_mcast_ask(group, &rec, mask);
	if (IS_ERR(mc)) {
		set_state(group, IPOIB_GROUP_IDLE);
		wait_longer(group);
		return;
	}
	group->mc = mc;
}

/**
 * ipoib_mcast_make_ah() - make the address of a group
 * @group: the group, whose record is that of a member
 *
 * Context: may sleep.
 * Return: the address, or NULL.
 */
VISIBLE_IF_KUNIT struct ipoib_ah *ipoib_mcast_make_ah(struct ipoib_group *group)
{
	struct ipoib_dev *ipoib = group->ipoib;
	struct rdma_ah_attr attr = { .type = rdma_ah_find_type(ipoib->ca, ipoib->port) };
	const struct ib_sa_mcmember_rec *rec = &group->rec;
	union ib_gid mgid;

	KUNIT_STATIC_STUB_REDIRECT(ipoib_mcast_make_ah, group);
	memcpy(mgid.raw, group->node.key, sizeof(mgid));
	rdma_ah_set_dlid(&attr, be16_to_cpu(rec->mlid));
	rdma_ah_set_port_num(&attr, ipoib->port);
	rdma_ah_set_sl(&attr, rec->sl);
	rdma_ah_set_static_rate(&attr, rec->rate);
	rdma_ah_set_grh(&attr, &mgid, be32_to_cpu(rec->flow_label), 0, rec->hop_limit,
			rec->traffic_class);
	return ipoib_ah_create(ipoib, &attr);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_mcast_make_ah);

/* The broadcast group sets MTU, traffic class and, when it is attached, Q_Key of all datagrams. */
static int follow_broadcast(struct ipoib_group *group)
{
	struct ipoib_dev *ipoib = group->ipoib;
	struct rdma_netdev *rn = netdev_priv(ipoib->netdev);
	int size = rdma_mtu_enum_to_int(ipoib->ca, ipoib->port, group->rec.mtu);
	unsigned int mtu = ipoib_ud_mtu(size);

	if (size < 0)
		return -EINVAL;
	WRITE_ONCE(ipoib->group_mtu, mtu);
	rn->mtu = mtu;
	ipoib->traffic_class = group->rec.traffic_class;
	return 0;
}

/**
 * ipoib_mcast_attach() - have the QP receive what is sent to a group
 * @group: the group
 * @set_qkey: its Q_Key is that of all datagrams
 *
 * Context: may sleep.
 * Return: 0 or what the device answers.
 */
VISIBLE_IF_KUNIT int ipoib_mcast_attach(struct ipoib_group *group, bool set_qkey)
{
	struct ipoib_dev *ipoib = group->ipoib;
	struct rdma_netdev *rn = netdev_priv(ipoib->netdev);
	union ib_gid mgid;
	int ret;

	KUNIT_STATIC_STUB_REDIRECT(ipoib_mcast_attach, group, set_qkey);
	memcpy(mgid.raw, group->node.key, sizeof(mgid));
	ret = rn->attach_mcast(ipoib->netdev, ipoib->ca, &mgid, be16_to_cpu(group->rec.mlid),
			       set_qkey, be32_to_cpu(group->rec.qkey));
	group->attached = !ret;
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_mcast_attach);

static int enter(struct ipoib_group *group)
{
	struct ipoib_dev *ipoib = group->ipoib;
	bool broadcast = group == ipoib->broadcast;
	struct sk_buff_head ready;
	struct ipoib_ah *ah;
	int ret = 0;

	if (broadcast)
		ret = follow_broadcast(group);
	if (!ret && !group->send_only)
		ret = ipoib_mcast_attach(group, broadcast);
	if (ret)
		return ret;
	ah = ipoib_mcast_make_ah(group);
	if (!ah)
		return -ENOMEM;
	group->backoff = 1;
	__skb_queue_head_init(&ready);
	scoped_guard(spinlock_irq, &ipoib->lock) {
		rcu_assign_pointer(group->ah, ah);
		skb_queue_splice_init(&group->queue, &ready);
	}
	if (broadcast) {
		dev_hold(ipoib->netdev);
		if (!queue_work(ipoib_wq, &ipoib->link_work))
			dev_put(ipoib->netdev);
	}
	ipoib_resend(ipoib, &ready);
	return 0;
}

/* If joining for sending fails a second time, packets that wait are dropped. */
static void refused(struct ipoib_group *group, int status)
{
	struct ipoib_dev *ipoib = group->ipoib;

	ipoib_dbg_mcast(ipoib, "no member of %pI6: error %d\n", group->node.key, status);
	leave(group);
	if (status == -ENETRESET) {
		group->retry = jiffies;
		return;
	}
	if (group->send_only && group->backoff > 1) {
		guard(spinlock_irq)(&ipoib->lock);
		ipoib_drop_queue(ipoib, &group->queue);
	}
	wait_longer(group);
}

static void settle(struct ipoib_group *group)
{
	int status;

	scoped_guard(spinlock_irq, &group->ipoib->lock) {
		status = group->status;
		/* Not later: the core may report at any time that the membership is lost. */
		if (!status)
			group->state = IPOIB_GROUP_JOINED;
	}
	if (!status)
		status = enter(group);
	if (status)
		refused(group, status);
}

/* ---- the stack's list of groups ---- */

static void unwant(struct ipoib_node *node, void *context)
{
	struct ipoib_group *group = group_of(node);

	if (!group->send_only && group != group->ipoib->broadcast)
		group->wanted = false;
}

/* Has a program joined this group for itself, while umcast leaves such groups to programs? */
static bool joined_by_program(struct ipoib_dev *ipoib, union ib_gid *mgid)
{
	struct ib_sa_mcmember_rec rec;

	return ipoib_is(ipoib, IPOIB_UMCAST) &&
	       !ib_sa_get_mcmember_rec(ipoib->ca, ipoib->port, mgid, &rec);
}

/* Context: the interface's lock is held. */
static void want(struct ipoib_dev *ipoib, const u8 *addr)
{
	struct ipoib_group *group;
	union ib_gid mgid;

	if (!ipoib_group_ours(addr, ipoib->netdev->broadcast))
		return;
	ipoib_group_gid(&mgid, addr, ipoib->pkey);
	group = find(ipoib, &mgid);
	if ((!group || group->send_only) && joined_by_program(ipoib, &mgid))
		return;
	if (!group) {
		/* Without room or memory it is tried again when there is something else to do. */
		if (!create(ipoib, &mgid, false))
			WRITE_ONCE(ipoib->group_sync, true);
		return;
	}
	group->wanted = true;
	/* A group that was joined for sending is left, and joined again as a full member. */
	if (group->send_only) {
		group->send_only = false;
		group->status = -ENETRESET;
		group->state = IPOIB_GROUP_ANSWERED;
	}
}

static void compare(struct ipoib_dev *ipoib)
{
	struct net_device *netdev = ipoib->netdev;
	struct netdev_hw_addr *ha;

	netif_addr_lock_bh(netdev);
	scoped_guard(spinlock_irqsave, &ipoib->lock) {
		WRITE_ONCE(ipoib->group_sync, false);
		ipoib_table_each(&ipoib->groups, unwant, NULL);
		netdev_for_each_mc_addr(ha, netdev)
			want(ipoib, ha->addr);
	}
	netif_addr_unlock_bh(netdev);
}

/* ---- the work ---- */

/**
 * struct todo - what is next
 * @group: group that something has to be done for, NULL if there is none
 * @answered: it has an answer
 * @wait: when the next one is due, in jiffies
 * @timed: @wait is valid
 */
struct todo {
	struct ipoib_group *group;
	bool answered;
	unsigned long wait;
	bool timed;
};

/* Is there something to do for this group now? Joining for sending can wait for a packet. */
static bool due(struct ipoib_group *group, struct todo *todo)
{
	const struct ipoib_group *broadcast = group->ipoib->broadcast;

	if (!group->wanted || group->state == IPOIB_GROUP_ANSWERED)
		return true;
	if (group->state != IPOIB_GROUP_IDLE ||
	    (group->send_only && skb_queue_empty(&group->queue)))
		return false;
	if (group != broadcast && (!broadcast || broadcast->state != IPOIB_GROUP_JOINED))
		return false;
	if (time_after_eq(jiffies, group->retry))
		return true;
	if (!todo->timed || time_before(group->retry, todo->wait))
		todo->wait = group->retry;
	todo->timed = true;
	return false;
}

static void consider(struct ipoib_node *node, void *context)
{
	struct todo *todo = context;

	if (todo->group || !due(group_of(node), todo))
		return;
	todo->group = group_of(node);
	todo->answered = todo->group->state == IPOIB_GROUP_ANSWERED;
}

static struct todo next(struct ipoib_dev *ipoib)
{
	struct todo todo = {};

	guard(spinlock_irq)(&ipoib->lock);
	ipoib_table_each(&ipoib->groups, consider, &todo);
	return todo;
}

static void advance(const struct todo *todo)
{
	if (!todo->group->wanted)
		destroy(todo->group);
	else if (todo->answered)
		settle(todo->group);
	else
		join(todo->group);
}

/* Groups can be joined while the port is active, and the GUID is the port's. */
static bool port_ready(struct ipoib_dev *ipoib)
{
	struct ib_port_attr attr;

	if (!ipoib_is(ipoib, IPOIB_GUID_FOUND))
		return false;
	if (ib_query_port(ipoib->ca, ipoib->port, &attr)) {
		/* Unlike the others, this need not end with an event. */
		queue_delayed_work(ipoib->wq, &ipoib->group_work, HZ);
		return false;
	}
	if (attr.state != IB_PORT_ACTIVE)
		return false;
	WRITE_ONCE(ipoib->lid, attr.lid);
	return true;
}

static void work_on_groups(struct work_struct *work)
{
	struct ipoib_dev *ipoib = container_of(work, struct ipoib_dev, group_work.work);
	struct todo todo = {};

	if (!ipoib_is(ipoib, IPOIB_JOINING) || !port_ready(ipoib))
		return;
	scoped_guard(spinlock_irq, &ipoib->lock) {
		if (!ipoib->broadcast)
			ipoib->broadcast = create(ipoib, ipoib_addr_gid(ipoib->netdev->broadcast),
						  false);
	}
	if (!ipoib->broadcast) {
		queue_delayed_work(ipoib->wq, &ipoib->group_work, HZ);
		return;
	}
	if (READ_ONCE(ipoib->group_sync))
		compare(ipoib);
	while (ipoib_is(ipoib, IPOIB_JOINING)) {
		todo = next(ipoib);
		if (!todo.group)
			break;
		advance(&todo);
	}
	if (todo.timed && ipoib_is(ipoib, IPOIB_JOINING))
		queue_delayed_work(ipoib->wq, &ipoib->group_work,
				   max_t(long, todo.wait - jiffies, 1));
}

/* ---- calls ---- */

/**
 * ipoib_mcast_send() - send a packet to a group
 * @ipoib: interface
 * @skb: packet, from the address in front of it on
 * @mgid: the group
 *
 * A group that is not known yet is joined for sending, and the packet waits.
 *
 * Context: transmit queue's lock.
 */
void ipoib_mcast_send(struct ipoib_dev *ipoib, struct sk_buff *skb, const union ib_gid *mgid)
{
	struct ipoib_group *group = find(ipoib, mgid);
	struct ipoib_ah *ah = group ? rcu_dereference_bh(group->ah) : NULL;

	if (ah) {
		WRITE_ONCE(group->used, jiffies);
		ipoib_ud_send(ipoib, skb, ah, MULTICAST_QPN);
		return;
	}
	scoped_guard(spinlock_irqsave, &ipoib->lock) {
		group = NULL;
		if (ipoib_is(ipoib, IPOIB_JOINING) && ipoib->broadcast)
			group = find(ipoib, mgid) ?: create(ipoib, mgid, true);
		if (group) {
			group->used = jiffies;
			/* It may have been joined since the look above. */
			ah = rcu_dereference_protected(group->ah, lockdep_is_held(&ipoib->lock));
			if (!ah)
				ipoib_enqueue(ipoib, &group->queue, skb, IPOIB_GROUP_QUEUE);
		}
	}
	if (ah)
		ipoib_ud_send(ipoib, skb, ah, MULTICAST_QPN);
	else if (group)
		kick(ipoib);
	else
		ipoib_drop(ipoib, skb);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_mcast_send);

/**
 * ipoib_mcast_sync() - the stack's list of groups may have changed
 * @ipoib: interface
 *
 * Context: any.
 */
void ipoib_mcast_sync(struct ipoib_dev *ipoib)
{
	WRITE_ONCE(ipoib->group_sync, true);
	if (ipoib_is(ipoib, IPOIB_JOINING))
		kick(ipoib);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_mcast_sync);

/**
 * ipoib_mcast_joined() - is the interface a member of its broadcast group?
 * @ipoib: interface
 *
 * Context: any but interrupts.
 * Return: whether it is.
 */
bool ipoib_mcast_joined(struct ipoib_dev *ipoib)
{
	const struct ipoib_group *group;

	guard(spinlock_irq)(&ipoib->lock);
	group = ipoib->broadcast;
	return group && group->state == IPOIB_GROUP_JOINED && rcu_access_pointer(group->ah);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_mcast_joined);

/**
 * ipoib_mcast_start() - begin to join groups
 * @ipoib: interface whose QP works
 *
 * Context: RTNL is held.
 */
void ipoib_mcast_start(struct ipoib_dev *ipoib)
{
	set_bit(IPOIB_JOINING, &ipoib->flags);
	ipoib_mcast_sync(ipoib);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_mcast_start);

/**
 * ipoib_mcast_stop() - leave all groups
 * @ipoib: interface
 *
 * Context: RTNL is held.
 */
void ipoib_mcast_stop(struct ipoib_dev *ipoib)
{
	struct ipoib_node *node;

	clear_bit(IPOIB_JOINING, &ipoib->flags);
	cancel_delayed_work_sync(&ipoib->group_work);
	for (;;) {
		scoped_guard(spinlock_irq, &ipoib->lock)
			node = ipoib_table_above(&ipoib->groups, NULL);
		if (!node)
			break;
		destroy(group_of(node));
	}
	/* An answer may have asked for the work once more. */
	cancel_delayed_work_sync(&ipoib->group_work);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_mcast_stop);

static void unwant_idle(struct ipoib_node *node, void *context)
{
	struct ipoib_group *group = group_of(node);
	unsigned long *since = context;

	if (group->send_only && time_before(group->used, *since))
		group->wanted = false;
}

/**
 * ipoib_mcast_age() - leave groups that nobody sends to any more
 * @ipoib: interface
 * @idle: how long nothing was sent to them, in jiffies
 *
 * Context: any.
 */
void ipoib_mcast_age(struct ipoib_dev *ipoib, unsigned long idle)
{
	unsigned long since = jiffies - idle;

	scoped_guard(spinlock_irqsave, &ipoib->lock)
		ipoib_table_each(&ipoib->groups, unwant_idle, &since);
	if (ipoib_is(ipoib, IPOIB_JOINING))
		kick(ipoib);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_mcast_age);

/**
 * ipoib_mcast_init() - begin without groups
 * @ipoib: interface
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ipoib_mcast_init(struct ipoib_dev *ipoib)
{
	INIT_DELAYED_WORK(&ipoib->group_work, work_on_groups);
	return ipoib_table_init(&ipoib->groups, GROUP_BITS, sizeof(union ib_gid), MAX_GROUPS);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_mcast_init);

/**
 * ipoib_mcast_end() - undo ipoib_mcast_init()
 * @ipoib: interface that has left its groups
 *
 * Context: may sleep.
 */
void ipoib_mcast_end(struct ipoib_dev *ipoib)
{
	ipoib_mcast_stop(ipoib);
	ipoib_table_free(&ipoib->groups);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_mcast_end);
