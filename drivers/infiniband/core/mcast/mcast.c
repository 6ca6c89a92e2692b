// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Multicast memberships of kernel consumers, and the events by which they are lost.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include <rdma/rdma_reject.h>

#include "mcast_priv.h"

static struct mcast_port *find_port(struct ib_device *device, u32 port_num)
{
	if (!rdma_is_port_valid(device, port_num))
		return NULL;
	return READ_ONCE(rdma_port(device, port_num)->mcast);
}

/**
 * ib_sa_join_multicast() - become a member of a multicast group
 * @client: registered SA client
 * @device: device
 * @port_num: port
 * @rec: the membership: @rec->mgid, or 0 to create a group with an MGID that the subnet manager
 *	chooses; @rec->join_state; and the rest as @comp_mask says
 * @comp_mask: which members of @rec are used, IB_SA_MCMEMBER_REC_*
 * @gfp_mask: how to allocate
 * @callback: called first with the result: 0 and the membership in @multicast->rec, or an error of
 *	ib_sa_path_rec_get(), or -EINVAL if the group does not have the attributes in @rec; later
 *	with -ENETRESET if the membership is lost, because the port or its LID, or the index of the
 *	P_Key, has changed or the subnet manager has asked for reregistration. After an error the
 *	membership has ended, but has still to be freed. Returning non-zero frees it. May sleep, but
 *	must not call ib_sa_free_multicast() for this membership
 * @context: for @callback
 *
 * A request is sent to the subnet manager only for join states that the port does not have yet.
 *
 * Context: depends on @gfp_mask.
 * Return: the membership, for ib_sa_free_multicast(); -ENODEV for a port without subnet
 * administration, -ENOMEM.
 */
struct ib_sa_multicast *ib_sa_join_multicast(struct ib_sa_client *client, struct ib_device *device,
					     u32 port_num, struct ib_sa_mcmember_rec *rec,
					     ib_sa_comp_mask comp_mask, gfp_t gfp_mask,
					     int (*callback)(int status,
							     struct ib_sa_multicast *multicast),
					     void *context)
{
	struct mcast_port *port = find_port(device, port_num);
	struct mcast_member *member;
	struct mcast_group *group;

	if (!port)
		return ERR_PTR(rdma_refuse(-ENODEV, "port %u has no subnet administration",
					   port_num));
	member = kzalloc(sizeof(*member), gfp_mask);
	if (!member)
		return ERR_PTR(-ENOMEM);
	member->client = client;
	member->multicast.rec = *rec;
	member->multicast.comp_mask = comp_mask;
	member->multicast.callback = callback;
	member->multicast.context = context;
	member->wanted = *rec;
	member->state = MCAST_WAITING;
	refcount_set(&member->users, 1);
	init_completion(&member->done);

	guard(spinlock_irqsave)(&port->lock);
	group = mcast_group_get(port, &rec->mgid, GFP_ATOMIC);
	if (!group) {
		kfree(member);
		return ERR_PTR(-ENOMEM);
	}
	atomic_inc(&client->users);
	refcount_inc(&port->users);
	member->port = port;
	member->group = group;
	list_add_tail(&member->entry, &group->waiting);
	mcast_group_kick(group);
	return &member->multicast;
}
EXPORT_SYMBOL(ib_sa_join_multicast);

static struct mcast_member *member_of(struct ib_sa_multicast *multicast)
{
	return container_of(multicast, struct mcast_member, multicast);
}

/**
 * ib_sa_free_multicast() - end a membership
 * @multicast: membership that is being joined, has joined or was lost
 *
 * The port leaves a join state of the group with its last consumer. On return, the callback does
 * not run any more. Context: may sleep; not from the callback.
 */
void ib_sa_free_multicast(struct ib_sa_multicast *multicast)
{
	mcast_member_free(member_of(multicast));
}
EXPORT_SYMBOL(ib_sa_free_multicast);

/**
 * ib_sa_keep_multicast() - join a membership again whenever it is lost
 * @multicast: membership that is being joined or has joined
 *
 * From now on, a callback with -ENETRESET is followed by one with 0 and the new membership, as soon
 * as the subnet manager answers. An MGID that the manager has chosen is kept. Other errors still
 * end the membership. Context: any.
 */
void ib_sa_keep_multicast(struct ib_sa_multicast *multicast)
{
	struct mcast_member *member = member_of(multicast);

	guard(spinlock_irqsave)(&member->port->lock);
	member->keep = true;
}
EXPORT_SYMBOL(ib_sa_keep_multicast);

/**
 * ib_sa_get_mcmember_rec() - get the port's membership in a group
 * @device: device
 * @port_num: port
 * @mgid: the group
 * @rec: receives the membership, with all join states that the port has
 *
 * Context: any.
 * Return: 0, -ENODEV for a port without subnet administration, -EADDRNOTAVAIL if the port is no
 * member.
 */
int ib_sa_get_mcmember_rec(struct ib_device *device, u32 port_num, union ib_gid *mgid,
			   struct ib_sa_mcmember_rec *rec)
{
	struct mcast_port *port = find_port(device, port_num);
	struct mcast_group *group;

	if (!port)
		return -ENODEV;
	guard(spinlock_irqsave)(&port->lock);
	group = mcast_group_find(port, mgid);
	if (!group || !group->joined)
		return -EADDRNOTAVAIL;
	*rec = group->rec;
	return 0;
}
EXPORT_SYMBOL(ib_sa_get_mcmember_rec);

/**
 * ib_init_ah_from_mcmember() - address vector of a multicast group
 * @device: device
 * @port_num: port that sends
 * @rec: the membership
 * @ndev: net device of the GID, for Ethernet; ignored on InfiniBand
 * @gid_type: type of that GID
 * @ah_attr: receives the address vector, which references the source GID and is released by
 *	rdma_destroy_ah_attr()
 *
 * Context: any.
 * Return: 0; -EINVAL for a port that is neither InfiniBand nor RoCE; -ENOENT if the port does not
 * have the member's port GID.
 */
int ib_init_ah_from_mcmember(struct ib_device *device, u32 port_num,
			     struct ib_sa_mcmember_rec *rec, struct net_device *ndev,
			     enum ib_gid_type gid_type, struct rdma_ah_attr *ah_attr)
{
	const struct ib_gid_attr *sgid_attr;

	if (rdma_protocol_ib(device, port_num))
		ndev = NULL;
	else if (!rdma_protocol_roce(device, port_num))
		return rdma_refuse(-EINVAL, "port %u has no multicast groups", port_num);
	sgid_attr = rdma_find_gid_by_port(device, &rec->port_gid, gid_type, port_num, ndev);
	if (IS_ERR(sgid_attr))
		return PTR_ERR(sgid_attr);
	sa_ah_attr_init(device, port_num, rec->sl, rec->rate, ah_attr);
	rdma_ah_set_dlid(ah_attr, be16_to_cpu(rec->mlid));
	rdma_move_grh_sgid_attr(ah_attr, &rec->mgid, be32_to_cpu(rec->flow_label),
				rec->hop_limit, rec->traffic_class, sgid_attr);
	return 0;
}
EXPORT_SYMBOL(ib_init_ah_from_mcmember);

/* ---- devices ---- */

/**
 * struct mcast_device - data of a device
 * @handler: called for its events
 */
struct mcast_device {
	struct ib_event_handler handler;
};

static void lose_all(struct mcast_port *port)
{
	struct mcast_group *group;

	guard(spinlock_irqsave)(&port->lock);
	list_for_each_entry(group, &port->groups, entry)
		mcast_group_lost(group);
}

/* Sending uses the P_Key's index: a group whose P_Key has moved in the table is lost. */
static void lose_moved_pkeys(struct mcast_port *port)
{
	struct mcast_group *group;
	u16 index;

	guard(spinlock_irqsave)(&port->lock);
	list_for_each_entry(group, &port->groups, entry) {
		if (!group->joined ||
		    (!ib_find_cached_pkey(port->device, port->port_num,
					  be16_to_cpu(group->rec.pkey), &index) &&
		     index == group->pkey_index))
			continue;
		mcast_group_lost(group);
	}
}

/* Lets members that wait for a subnet manager retry now. */
static void try_again(struct mcast_port *port)
{
	struct mcast_group *group;

	guard(spinlock_irqsave)(&port->lock);
	list_for_each_entry(group, &port->groups, entry)
		mcast_group_retry(group);
}

static void handle_event(struct ib_event_handler *handler, struct ib_event *event)
{
	struct mcast_port *port = find_port(event->device, event->element.port_num);

	if (!port)
		return;
	switch (event->event) {
	case IB_EVENT_PORT_ERR:
	case IB_EVENT_LID_CHANGE:
	case IB_EVENT_CLIENT_REREGISTER:
		lose_all(port);
		break;
	case IB_EVENT_PKEY_CHANGE:
		lose_moved_pkeys(port);
		break;
	case IB_EVENT_SM_CHANGE:
	case IB_EVENT_PORT_ACTIVE:
		try_again(port);
		break;
	default:
		break;
	}
}

static struct mcast_port *make_port(struct ib_device *device, u32 port_num)
{
	struct mcast_port *port = kzalloc(sizeof(*port), GFP_KERNEL);

	if (!port)
		return NULL;
	port->device = device;
	port->port_num = port_num;
	spin_lock_init(&port->lock);
	port->table = RB_ROOT;
	INIT_LIST_HEAD(&port->groups);
	refcount_set(&port->users, 1);
	init_completion(&port->idle);
	return port;
}

/* Consumers have freed their memberships. Pending requests are cancelled. */
static void end_port(struct rdma_port_core *core)
{
	struct mcast_port *port = core->mcast;
	struct mcast_group *group;

	if (!port)
		return;
	WRITE_ONCE(core->mcast, NULL);
	scoped_guard(spinlock_irqsave, &port->lock) {
		port->gone = true;
		list_for_each_entry(group, &port->groups, entry)
			if (group->query && !group->answered)
				ib_sa_cancel_query(group->query_id, group->query);
	}
	mcast_port_put(port);
	wait_for_completion(&port->idle);
	kfree(port);
}

static struct ib_client mcast_client;

static int attach(struct ib_device *device)
{
	struct mcast_device *mcast;
	bool any = false;
	u32 port_num;

	rdma_for_each_port(device, port_num)
		any |= rdma_cap_ib_mcast(device, port_num);
	if (!any)
		return -EOPNOTSUPP;
	mcast = kzalloc(sizeof(*mcast), GFP_KERNEL);
	if (!mcast)
		return -ENOMEM;
	rdma_for_each_port(device, port_num)
		if (rdma_cap_ib_mcast(device, port_num))
			WRITE_ONCE(rdma_port(device, port_num)->mcast,
				   make_port(device, port_num));
	ib_set_client_data(device, &mcast_client, mcast);
	INIT_IB_EVENT_HANDLER(&mcast->handler, device, handle_event);
	ib_register_event_handler(&mcast->handler);
	return 0;
}

static void detach(struct ib_device *device, void *client_data)
{
	struct mcast_device *mcast = client_data;
	u32 port_num;

	if (!mcast)
		return;
	ib_unregister_event_handler(&mcast->handler);
	rdma_for_each_port(device, port_num)
		end_port(rdma_port(device, port_num));
	kfree(mcast);
}

static struct ib_client mcast_client = {
	.name = "ib_multicast",
	.add = attach,
	.remove = detach,
	/* A join fails on a port without subnet administration. */
	.no_kverbs_req = true,
};

/**
 * mcast_init() - begin to manage the memberships of all devices
 *
 * Context: while the module is initialised, after sa/.
 * Return: 0 or -ENOMEM.
 */
int mcast_init(void)
{
	int ret;

	mcast_wq = alloc_workqueue("ib_mcast", WQ_UNBOUND, 0);
	if (!mcast_wq)
		return -ENOMEM;
	ib_sa_register_client(&mcast_sa_client);
	ret = ib_register_client(&mcast_client);
	if (ret) {
		ib_sa_unregister_client(&mcast_sa_client);
		destroy_workqueue(mcast_wq);
	}
	return ret;
}

/**
 * mcast_exit() - end what mcast_init() began
 */
void mcast_exit(void)
{
	ib_unregister_client(&mcast_client);
	ib_sa_unregister_client(&mcast_sa_client);
	destroy_workqueue(mcast_wq);
}
