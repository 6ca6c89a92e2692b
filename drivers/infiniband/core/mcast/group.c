// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A group: its members, and the requests to the subnet manager on their behalf.
 *
 * Every change is recorded under the port's lock and queues the group's work, which takes one step
 * after another until there is nothing to do or the subnet manager's answer is needed. Only the
 * work calls consumers, so that a group's callbacks are serialized, and only the work frees the
 * group.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>

#include "mcast_priv.h"

/* Milliseconds in which the subnet manager has to answer, and number of repetitions of a leave. */
#define ASK_TIMEOUT_MS 3000
#define LEAVE_RETRIES 3

/* Time between two attempts of a kept member that could not join again. */
#define RETRY_DELAY (2 * HZ)

#define NO_PKEY 0xffff

/* Work queue of all groups. */
struct workqueue_struct *mcast_wq;
EXPORT_SYMBOL_IF_KUNIT(mcast_wq);
struct ib_sa_client mcast_sa_client;

/* ---- comparison of groups ---- */

/* A bound needs both selector and value. Does @value satisfy it? */
static bool in_bounds(ib_sa_comp_mask mask, ib_sa_comp_mask both, u8 selector, u8 wanted, u8 value)
{
	if ((mask & both) != both)
		return true;
	switch (selector) {
	case IB_SA_GT:
		return value > wanted;
	case IB_SA_LT:
		return value < wanted;
	case IB_SA_EQ:
		return value == wanted;
	default:
		return true;
	}
}

/* Does the group satisfy the bounds of MTU, rate and packet lifetime? */
static bool bounds_suit(const struct ib_sa_mcmember_rec *group,
			const struct ib_sa_mcmember_rec *wanted, ib_sa_comp_mask mask)
{
	return in_bounds(mask, IB_SA_MCMEMBER_REC_MTU_SELECTOR | IB_SA_MCMEMBER_REC_MTU,
			 wanted->mtu_selector, wanted->mtu, group->mtu) &&
	       in_bounds(mask, IB_SA_MCMEMBER_REC_RATE_SELECTOR | IB_SA_MCMEMBER_REC_RATE,
			 wanted->rate_selector, wanted->rate, group->rate) &&
	       in_bounds(mask, IB_SA_MCMEMBER_REC_PACKET_LIFE_TIME_SELECTOR |
			 IB_SA_MCMEMBER_REC_PACKET_LIFE_TIME, wanted->packet_life_time_selector,
			 wanted->packet_life_time, group->packet_life_time);
}

/* Components that differ, regardless of the component mask. */
static ib_sa_comp_mask differences(const struct ib_sa_mcmember_rec *one,
				   const struct ib_sa_mcmember_rec *other)
{
	ib_sa_comp_mask mask = 0;

	if (memcmp(&one->port_gid, &other->port_gid, sizeof(union ib_gid)))
		mask |= IB_SA_MCMEMBER_REC_PORT_GID;
	if (one->qkey != other->qkey)
		mask |= IB_SA_MCMEMBER_REC_QKEY;
	if (one->mlid != other->mlid)
		mask |= IB_SA_MCMEMBER_REC_MLID;
	if (one->traffic_class != other->traffic_class)
		mask |= IB_SA_MCMEMBER_REC_TRAFFIC_CLASS;
	if (one->pkey != other->pkey)
		mask |= IB_SA_MCMEMBER_REC_PKEY;
	if (one->sl != other->sl)
		mask |= IB_SA_MCMEMBER_REC_SL;
	if (one->flow_label != other->flow_label)
		mask |= IB_SA_MCMEMBER_REC_FLOW_LABEL;
	if (one->hop_limit != other->hop_limit)
		mask |= IB_SA_MCMEMBER_REC_HOP_LIMIT;
	if (one->scope != other->scope)
		mask |= IB_SA_MCMEMBER_REC_SCOPE;
	return mask;
}

/**
 * mcast_suits() - does a group have the attributes that a member asks for?
 * @group: the port's membership
 * @wanted: attributes of the group to join
 * @mask: which members of @wanted are compared
 *
 * MGID and join state are not compared.
 *
 * Return: whether it does.
 */
bool mcast_suits(const struct ib_sa_mcmember_rec *group, const struct ib_sa_mcmember_rec *wanted,
		 ib_sa_comp_mask mask)
{
	return !(differences(group, wanted) & mask) && bounds_suit(group, wanted, mask);
}
EXPORT_SYMBOL_IF_KUNIT(mcast_suits);

/* ---- counters of join states ---- */

static void count_members(struct mcast_group *group, u8 states, int change)
{
	for (unsigned int i = 0; i < NUM_JOIN_MEMBERSHIP_TYPES; i++)
		if (states & BIT(i))
			group->count[i] += change;
}

/* Join states that the port has and no member needs. */
static u8 unused_states(const struct mcast_group *group)
{
	u8 states = group->joined;

	for (unsigned int i = 0; i < NUM_JOIN_MEMBERSHIP_TYPES; i++)
		if (group->count[i])
			states &= ~BIT(i);
	return states;
}

/* ---- groups and members ---- */

static int compare(const union ib_gid *mgid, const struct rb_node *node)
{
	return memcmp(mgid, &rb_entry(node, struct mcast_group, node)->rec.mgid, sizeof(*mgid));
}

static int compare_key(const void *key, const struct rb_node *node)
{
	return compare(key, node);
}

static int compare_nodes(struct rb_node *node, const struct rb_node *other)
{
	return compare(&rb_entry(node, struct mcast_group, node)->rec.mgid, other);
}

/* Called with the port's lock held. */
struct mcast_group *mcast_group_find(struct mcast_port *port, const union ib_gid *mgid)
{
	struct rb_node *node = rb_find(mgid, &port->table, compare_key);

	return node ? rb_entry(node, struct mcast_group, node) : NULL;
}

static void group_work(struct work_struct *work);

/*
 * Returns the group with an MGID, which is made if there is none; the zero MGID always makes a new
 * group, whose MGID the subnet manager chooses. The caller holds the port's lock and adds a member
 * before it releases it. Returns NULL without memory.
 */
struct mcast_group *mcast_group_get(struct mcast_port *port, const union ib_gid *mgid, gfp_t gfp)
{
	bool chosen = !rdma_is_zero_gid(mgid);
	struct mcast_group *group = chosen ? mcast_group_find(port, mgid) : NULL;

	if (group)
		return group;
	group = kzalloc(sizeof(*group), gfp);
	if (!group)
		return NULL;
	group->port = port;
	group->rec.mgid = *mgid;
	group->pkey_index = NO_PKEY;
	group->retries = LEAVE_RETRIES;
	INIT_DELAYED_WORK(&group->work, group_work);
	INIT_LIST_HEAD(&group->waiting);
	INIT_LIST_HEAD(&group->members);
	INIT_LIST_HEAD(&group->parked);
	RB_CLEAR_NODE(&group->node);
	if (chosen)
		rb_find_add(&group->node, &port->table, compare_nodes);
	list_add_tail(&group->entry, &port->groups);
	refcount_inc(&port->users);
	return group;
}

void mcast_port_put(struct mcast_port *port)
{
	if (refcount_dec_and_test(&port->users))
		complete(&port->idle);
}

/* Lets parked members try again. Called with the port's lock held. */
static void unpark(struct mcast_group *group)
{
	struct mcast_member *member;

	list_for_each_entry(member, &group->parked, entry)
		member->state = MCAST_WAITING;
	list_splice_tail_init(&group->parked, &group->waiting);
}

/* Queues the group's work. Called with the port's lock held. */
void mcast_group_kick(struct mcast_group *group)
{
	mod_delayed_work(mcast_wq, &group->work, 0);
}

/* The subnet manager may answer now. Called with the port's lock held. */
void mcast_group_retry(struct mcast_group *group)
{
	unpark(group);
	mcast_group_kick(group);
}

/* The subnet manager may have lost the membership. Called with the port's lock held. */
void mcast_group_lost(struct mcast_group *group)
{
	group->lost = true;
	mcast_group_retry(group);
}

static void member_put(struct mcast_member *member)
{
	if (refcount_dec_and_test(&member->users))
		complete(&member->done);
}

/* Removes a member from its group. Called with the port's lock held. */
static void leave(struct mcast_member *member)
{
	struct mcast_group *group = member->group;

	if (member->state == MCAST_OUT)
		return;
	if (member->state == MCAST_MEMBER)
		count_members(group, member->multicast.rec.join_state, -1);
	if (group->joiner == member)
		group->joiner = NULL;
	list_del(&member->entry);
	member->state = MCAST_OUT;
	mcast_group_kick(group);
}

/* Frees a membership, after a running callback has returned. */
void mcast_member_free(struct mcast_member *member)
{
	struct mcast_port *port = member->port;

	scoped_guard(spinlock_irqsave, &port->lock) {
		leave(member);
	}
	member_put(member);
	wait_for_completion(&member->done);
	if (atomic_dec_and_test(&member->client->users))
		complete(&member->client->comp);
	kfree(member);
	mcast_port_put(port);
}

/* ---- steps of the work ---- */

/*
 * Calls the consumer with the port's lock dropped, which the caller holds. If the consumer returns
 * non-zero, its membership is freed.
 */
static void call_back(struct mcast_member *member, int status)
{
	struct mcast_port *port = member->port;
	int ret;

	refcount_inc(&member->users);
	spin_unlock_irq(&port->lock);
	ret = member->multicast.callback(status, &member->multicast);
	member_put(member);
	if (ret)
		mcast_member_free(member);
	spin_lock_irq(&port->lock);
}

static void move_to(struct mcast_member *member, struct list_head *list,
		    enum mcast_member_state state)
{
	list_move_tail(&member->entry, list);
	member->state = state;
}

static void grant(struct mcast_member *member)
{
	struct mcast_group *group = member->group;
	u8 states = member->wanted.join_state;

	move_to(member, &group->members, MCAST_MEMBER);
	member->multicast.rec = group->rec;
	member->multicast.rec.join_state = states;
	count_members(group, states, 1);
	call_back(member, 0);
}

static bool may_come_back(int status)
{
	return status == -EAGAIN || status == -ETIMEDOUT || status == -EIO;
}

/*
 * A kept member retries later if the error is temporary. All parked members wait for the time of
 * the one that was parked last, so that the subnet manager is not asked all the time.
 */
static void deny(struct mcast_member *member, int status)
{
	struct mcast_group *group = member->group;

	if (member->keep && !group->port->gone && may_come_back(status)) {
		move_to(member, &group->parked, MCAST_PARKED);
		group->retry_at = jiffies + RETRY_DELAY;
		return;
	}
	list_del(&member->entry);
	member->state = MCAST_OUT;
	call_back(member, status);
}

/*
 * The port is no member of the group any more. Callbacks of consumers are called; kept members are
 * queued before that, since the callback may free them.
 */
static void report_loss(struct mcast_group *group)
{
	struct mcast_member *member;

	group->lost = false;
	group->stale = group->asked;
	group->joined = 0;
	memset(group->count, 0, sizeof(group->count));
	list_for_each_entry(member, &group->members, entry)
		member->state = MCAST_WAITING;
	while ((member = list_first_entry_or_null(&group->members, struct mcast_member, entry))) {
		if (member->keep) {
			move_to(member, &group->waiting, MCAST_WAITING);
		} else {
			list_del(&member->entry);
			member->state = MCAST_OUT;
		}
		call_back(member, -ENETRESET);
	}
}

/*
 * Takes the MGID that the subnet manager has chosen. It does not change again, as consumers may use
 * it.
 */
static void take_mgid(struct mcast_group *group)
{
	if (!RB_EMPTY_NODE(&group->node) || !rdma_is_zero_gid(&group->rec.mgid))
		return;
	group->rec.mgid = group->answer.mgid;
	if (rb_find_add(&group->node, &group->port->table, compare_nodes))
		RB_CLEAR_NODE(&group->node);
}

static void end_join(struct mcast_group *group, bool stale)
{
	struct mcast_member *joiner = group->joiner;

	group->joiner = NULL;
	if (!group->status)
		take_mgid(group);
	/*
	 * An answer to a request from before a loss does not describe the membership after it: the
	 * request is repeated.
	 */
	if (group->lost || stale)
		return;
	if (group->status) {
		if (joiner)
			deny(joiner, group->status);
		return;
	}
	group->joined |= group->states;
	/* The tree of groups is ordered by MGID. */
	group->answer.mgid = group->rec.mgid;
	group->rec = group->answer;
	group->rec.join_state = group->joined;
	group->retries = LEAVE_RETRIES;
	if (ib_find_cached_pkey(group->port->device, group->port->port_num,
				be16_to_cpu(group->rec.pkey), &group->pkey_index))
		group->pkey_index = NO_PKEY;
	if (joiner)
		grant(joiner);
}

static void end_leave(struct mcast_group *group)
{
	if (group->status && group->retries && !group->port->gone) {
		group->retries--;
		return;
	}
	group->joined &= ~group->states;
	group->rec.join_state = group->joined;
	group->retries = LEAVE_RETRIES;
}

static void end_asking(struct mcast_group *group)
{
	enum mcast_asked asked = group->asked;
	bool stale = group->stale;

	group->answered = false;
	group->stale = false;
	group->asked = MCAST_NOTHING;
	group->query = NULL;
	if (asked == MCAST_JOIN)
		end_join(group, stale);
	else
		end_leave(group);
}

static void answered(int status, struct ib_sa_mcmember_rec *rec, void *context)
{
	struct mcast_group *group = context;

	guard(spinlock_irqsave)(&group->port->lock);
	group->answered = true;
	group->status = status;
	if (!status)
		group->answer = *rec;
	mcast_group_kick(group);
}

/* Sends a request to the subnet manager with the port's lock dropped, which the caller holds. */
static void ask(struct mcast_group *group, enum mcast_asked what, u8 method, u8 states,
		const struct ib_sa_mcmember_rec *wanted, ib_sa_comp_mask mask)
{
	struct mcast_port *port = group->port;
	struct ib_sa_mcmember_rec rec = *wanted;
	struct ib_sa_query *query;
	int id;

	rec.join_state = states;
	group->asked = what;
	group->states = states;
	spin_unlock_irq(&port->lock);
	id = ib_sa_mcmember_rec_query(&mcast_sa_client, port->device, port->port_num, method, &rec,
				      mask, ASK_TIMEOUT_MS, GFP_KERNEL, answered, group, &query);
	spin_lock_irq(&port->lock);
	if (id < 0) {
		group->answered = true;
		group->status = id;
	} else {
		group->query = query;
		group->query_id = id;
		/* The port's removal may have looked for a query before this one was known. */
		if (port->gone && !group->answered)
			ib_sa_cancel_query(id, query);
	}
}

/* A member whose MGID the subnet manager has chosen joins the same group again. */
static void ask_join(struct mcast_group *group, struct mcast_member *member)
{
	struct ib_sa_mcmember_rec wanted = member->wanted;
	ib_sa_comp_mask mask = member->multicast.comp_mask;

	if (rdma_is_zero_gid(&wanted.mgid) && !rdma_is_zero_gid(&group->rec.mgid)) {
		wanted.mgid = group->rec.mgid;
		mask |= IB_SA_MCMEMBER_REC_MGID;
	}
	group->joiner = member;
	ask(group, MCAST_JOIN, IB_MGMT_METHOD_SET, wanted.join_state, &wanted, mask);
}

static void ask_leave(struct mcast_group *group, u8 states)
{
	ask(group, MCAST_LEAVE, IB_SA_METHOD_DELETE, states, &group->rec,
	    IB_SA_MCMEMBER_REC_MGID | IB_SA_MCMEMBER_REC_PORT_GID |
	    IB_SA_MCMEMBER_REC_JOIN_STATE);
}

/* The next member in the queue joins with the present join states, or asks for more. */
static void serve(struct mcast_group *group, struct mcast_member *member)
{
	u8 states = member->wanted.join_state;

	if ((group->joined & states) != states)
		ask_join(group, member);
	else if (mcast_suits(&group->rec, &member->wanted, member->multicast.comp_mask))
		grant(member);
	else
		deny(member, -EINVAL);
}

/* Takes one step. Returns false if there is none to take. */
static bool step(struct mcast_group *group)
{
	struct mcast_member *member;
	u8 unused;

	if (group->answered) {
		end_asking(group);
		return true;
	}
	if (group->lost) {
		report_loss(group);
		return true;
	}
	if (group->asked)
		return false;
	member = list_first_entry_or_null(&group->waiting, struct mcast_member, entry);
	if (member) {
		serve(group, member);
		return true;
	}
	unused = unused_states(group);
	if (unused)
		ask_leave(group, unused);
	return unused;
}

static bool is_over(const struct mcast_group *group)
{
	return !group->asked && !group->joined && list_empty(&group->waiting) &&
	       list_empty(&group->members) && list_empty(&group->parked);
}

/* Work that is queued already ends here, too. */
static void wait_for_retry(struct mcast_group *group)
{
	if (!list_empty(&group->parked))
		queue_delayed_work(mcast_wq, &group->work,
				   max_t(long, group->retry_at - jiffies, 0));
}

static void group_work(struct work_struct *work)
{
	struct mcast_group *group = container_of(work, struct mcast_group, work.work);
	struct mcast_port *port = group->port;

	spin_lock_irq(&port->lock);
	if (time_is_before_eq_jiffies(group->retry_at))
		unpark(group);
	while (step(group))
		;
	if (!is_over(group)) {
		wait_for_retry(group);
		spin_unlock_irq(&port->lock);
		return;
	}
	/*
	 * The work is queued only with the lock held, by users that find the group in the port's
	 * lists.
	 */
	cancel_delayed_work(&group->work);
	if (!RB_EMPTY_NODE(&group->node))
		rb_erase(&group->node, &port->table);
	list_del(&group->entry);
	spin_unlock_irq(&port->lock);
	kfree(group);
	mcast_port_put(port);
}
