// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Multicast groups of datagram ids.  On InfiniBand the subnet manager is asked; on Ethernet the
 * network stack tells the switches by IGMP or MLD, and nobody has to be asked.
 *
 * A group that is left may still have a report in the id's queue, or one that is just being taken;
 * so both the id's list and a queued report hold a reference to it.
 *
 * A group is in the list before it is joined, since its event may come before the call that joins
 * it has returned. Who leaves it meanwhile only takes it out of the list: the call gives up what it
 * has joined then.
 */
#include <kunit/static_stub.h>
#include <kunit/visibility.h>
#include <linux/igmp.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/if_inet6.h>
#include <net/ip.h>
#include <rdma/rdma_compat.h>
#include <rdma/rdma_ext_cm.h>

#include "cma_priv.h"

/* The QP number of every multicast packet. */
#define MCAST_QPN 0xFFFFFF

/* RoCE has no partitions but this one. */
#define ROCE_PKEY 0xFFFF

/**
 * struct cma_mcast - a group of an id
 * @refs: 1 as long as the group is in the id's list, 1 while its report is queued
 * @id: the id
 * @entry: in the id's list; under its mcast_lock
 * @left: it is not in the list any more; under mcast_lock
 * @joining: the call that joins it has not returned; under mcast_lock
 * @addr: address by which the consumer knows it
 * @context: consumer's, for its events
 * @join_state: mask of what the id is in the group
 * @sa: membership on InfiniBand
 * @interface: interface that joined by IGMP or MLD, or 0
 * @report: the event
 * @status: for the event; this and @rec under mcast_lock
 * @rec: the group as the subnet manager made it
 */
struct cma_mcast {
	refcount_t refs;
	struct cma_id *id;
	struct list_head entry;
	bool left;
	bool joining;
	struct sockaddr_storage addr;
	void *context;
	u8 join_state;
	struct ib_sa_multicast *sa;
	int interface;
	struct cma_report report;
	int status;
	struct ib_sa_mcmember_rec rec;
};

static void put_mcast(struct cma_mcast *mcast)
{
	if (refcount_dec_and_test(&mcast->refs))
		kfree(mcast);
}

/* ---- Q_Keys ---- */

/**
 * cma_broadcast_group() - get the broadcast group of an id's IPoIB interface
 * @id: id with a device
 * @rec: receives the group as the port has joined it
 *
 * Return: 0 or -EADDRNOTAVAIL.
 */
VISIBLE_IF_KUNIT int cma_broadcast_group(struct cma_id *id, struct ib_sa_mcmember_rec *rec)
{
	union ib_gid mgid;
	int ret;

	KUNIT_STATIC_STUB_REDIRECT(cma_broadcast_group, id, rec);
	ib_addr_get_mgid(&id->id.route.addr.dev_addr, &mgid);
	ret = ib_sa_get_mcmember_rec(id->id.device, id->id.port_num, &mgid, rec);
	if (ret)
		return rdma_refuse(ret, "the port is not in the broadcast group of the interface");
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cma_broadcast_group);

/**
 * cma_set_default_qkey() - give an id the Q_Key of its port space
 * @id: id with a device and without a Q_Key
 *
 * In PS_IPOIB it is that of the interface's broadcast group.
 *
 * Context: may sleep.
 * Return: 0, or -EADDRNOTAVAIL if the port is not in the broadcast group.
 */
int cma_set_default_qkey(struct cma_id *id)
{
	struct ib_sa_mcmember_rec rec;
	int ret;

	if (id->id.ps == RDMA_PS_UDP || id->id.ps == RDMA_PS_IB)
		id->qkey = RDMA_UDP_QKEY;
	if (id->id.ps != RDMA_PS_IPOIB)
		return 0;
	ret = cma_broadcast_group(id, &rec);
	if (ret)
		return ret;
	id->qkey = be32_to_cpu(rec.qkey);
	return 0;
}

/**
 * cma_set_qkey() - give an id a Q_Key
 * @id: the id
 * @qkey: the Q_Key
 *
 * Return: 0; -EINVAL for 0, or if the id has another one.
 */
int cma_set_qkey(struct cma_id *id, u32 qkey)
{
	if (!qkey || (id->qkey && id->qkey != qkey))
		return rdma_refuse(-EINVAL, "Q_Key %#x, where the id has %#x", qkey, id->qkey);
	id->qkey = qkey;
	return 0;
}

/* ---- the event ---- */

static enum ib_gid_type mcast_gid_type(struct cma_id *id)
{
	return READ_ONCE(cma_config(id->cma_dev, id->id.port_num)->gid_type);
}

/* How to reach the group; false leaves nothing to free. */
static bool reach_group(struct cma_id *id, struct ib_sa_mcmember_rec *rec,
			struct rdma_ud_param *param)
{
	struct rdma_dev_addr *dev_addr = &id->id.route.addr.dev_addr;
	struct net_device *ndev = dev_get_by_index(dev_addr->net, dev_addr->bound_dev_if);
	int ret;

	ret = ib_init_ah_from_mcmember(id->id.device, id->id.port_num, rec, ndev,
				       mcast_gid_type(id), &param->ah_attr);
	dev_put(ndev);
	if (ret)
		return false;
	param->qp_num = MCAST_QPN;
	param->qkey = id->qkey;
	return true;
}

static bool take_joined(struct cma_id *id, struct cma_report *report, struct rdma_cm_event *event)
{
	struct cma_mcast *mcast = container_of(report, struct cma_mcast, report);
	enum rdma_cm_state state = cma_state(id);
	struct ib_sa_mcmember_rec rec;
	bool wanted;

	scoped_guard(mutex, &id->mcast_lock) {
		wanted = !mcast->left;
		event->status = mcast->status;
		rec = mcast->rec;
	}
	event->param.ud.private_data = mcast->context;
	put_mcast(mcast);
	if (!wanted || state == RDMA_CM_DEVICE_REMOVAL || state == RDMA_CM_DESTROYING)
		return false;

	event->event = RDMA_CM_EVENT_MULTICAST_ERROR;
	if (event->status)
		return true;
	event->status = cma_set_qkey(id, be32_to_cpu(rec.qkey));
	if (!event->status && !reach_group(id, &rec, &event->param.ud))
		event->status = -EADDRNOTAVAIL;
	if (!event->status)
		event->event = RDMA_CM_EVENT_MULTICAST_JOIN;
	return true;
}

/* Reports a change of the group. If its last event is still queued, that one is changed. */
static void report_group(struct cma_mcast *mcast, int status, const struct ib_sa_mcmember_rec *rec)
{
	scoped_guard(mutex, &mcast->id->mcast_lock) {
		mcast->status = status;
		mcast->rec = *rec;
	}
	refcount_inc(&mcast->refs);
	if (!cma_report(mcast->id, &mcast->report))
		put_mcast(mcast);
}

/* ---- InfiniBand ---- */

/**
 * cma_sa_joined() - handle the subnet manager's answer, or the loss of a membership
 * @status: 0 or an errno
 * @sa: the membership
 *
 * Return: 0, so that the membership stays until it is left.
 */
VISIBLE_IF_KUNIT int cma_sa_joined(int status, struct ib_sa_multicast *sa)
{
	report_group(sa->context, status, &sa->rec);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cma_sa_joined);

/* Is it a transient MGID whose signature is that of the subnet manager (A01B)? */
static bool is_sa_mgid(const struct in6_addr *addr)
{
	return addr->s6_addr[0] == 0xff && addr->s6_addr[1] >> 4 == 1 &&
	       addr->s6_addr[2] == 0xa0 && addr->s6_addr[3] == 0x1b;
}

/* The MGID that IPoIB makes of an IP group; ids of PS_UDP have groups of their own. */
static void ip_to_mgid(struct cma_id *id, const struct sockaddr *addr, union ib_gid *mgid)
{
	const u8 *broadcast = id->id.route.addr.dev_addr.broadcast;
	u8 link_addr[MAX_ADDR_LEN];

	if (addr->sa_family == AF_INET)
		ip_ib_mc_map(((const struct sockaddr_in *)addr)->sin_addr.s_addr, broadcast,
			     link_addr);
	else
		ipv6_ib_mc_map(&((const struct sockaddr_in6 *)addr)->sin6_addr, broadcast,
			       link_addr);
	memcpy(mgid->raw, link_addr + RDMA_IPOIB_GID_OFFSET, sizeof(mgid->raw));
	if (id->id.ps == RDMA_PS_UDP)
		mgid->raw[3] = 0x01;
}

/* The wildcard address lets the subnet manager choose an MGID. */
static void ib_mgid(struct cma_id *id, const struct sockaddr *addr, union ib_gid *mgid)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;

	if (cma_addr_is_any(addr))
		memset(mgid, 0, sizeof(*mgid));
	else if (addr->sa_family == AF_IB)
		memcpy(mgid->raw, &((const struct sockaddr_ib *)addr)->sib_addr,
		       sizeof(mgid->raw));
	else if (addr->sa_family == AF_INET6 && is_sa_mgid(&in6->sin6_addr))
		memcpy(mgid->raw, &in6->sin6_addr, sizeof(mgid->raw));
	else
		ip_to_mgid(id, addr, mgid);
}

/**
 * cma_sa_join() - ask the subnet manager for a group
 * @id: id with a device
 * @rec: attributes of the group
 * @mask: which attributes are valid
 * @context: for the membership
 *
 * Return: the membership or an error pointer.
 */
VISIBLE_IF_KUNIT struct ib_sa_multicast *cma_sa_join(struct cma_id *id,
						     struct ib_sa_mcmember_rec *rec,
						     ib_sa_comp_mask mask, void *context)
{
	KUNIT_STATIC_STUB_REDIRECT(cma_sa_join, id, rec, mask, context);
	return ib_sa_join_multicast(&cma_sa_client, id->id.device, id->id.port_num, rec, mask,
				    GFP_KERNEL, cma_sa_joined, context);
}
EXPORT_SYMBOL_IF_KUNIT(cma_sa_join);

/**
 * cma_sa_leave() - undo cma_sa_join()
 * @sa: the membership
 *
 * Waits for its callback.
 */
VISIBLE_IF_KUNIT void cma_sa_leave(struct ib_sa_multicast *sa)
{
	KUNIT_STATIC_STUB_REDIRECT(cma_sa_leave, sa);
	ib_sa_free_multicast(sa);
}
EXPORT_SYMBOL_IF_KUNIT(cma_sa_leave);

static int join_ib(struct cma_mcast *mcast)
{
	struct cma_id *id = mcast->id;
	struct rdma_dev_addr *dev_addr = &id->id.route.addr.dev_addr;
	ib_sa_comp_mask mask = IB_SA_MCMEMBER_REC_MGID | IB_SA_MCMEMBER_REC_PORT_GID |
			       IB_SA_MCMEMBER_REC_JOIN_STATE | IB_SA_MCMEMBER_REC_PKEY |
			       IB_SA_MCMEMBER_REC_QKEY | IB_SA_MCMEMBER_REC_TRAFFIC_CLASS |
			       IB_SA_MCMEMBER_REC_SL | IB_SA_MCMEMBER_REC_FLOW_LABEL;
	struct ib_sa_mcmember_rec rec;
	struct ib_sa_multicast *sa;
	int ret;

	/* Other attributes are those of the interface's broadcast group. */
	ret = cma_broadcast_group(id, &rec);
	if (ret)
		return ret;
	if (!id->qkey)
		ret = cma_set_default_qkey(id);
	if (ret)
		return ret;
	ib_mgid(id, (struct sockaddr *)&mcast->addr, &rec.mgid);
	rdma_addr_get_sgid(dev_addr, &rec.port_gid);
	rec.pkey = cpu_to_be16(ib_addr_get_pkey(dev_addr));
	rec.qkey = cpu_to_be32(id->qkey);
	rec.join_state = mcast->join_state;
	if (id->id.ps == RDMA_PS_IPOIB)
		mask |= IB_SA_MCMEMBER_REC_MTU_SELECTOR | IB_SA_MCMEMBER_REC_MTU |
			IB_SA_MCMEMBER_REC_RATE_SELECTOR | IB_SA_MCMEMBER_REC_RATE |
			IB_SA_MCMEMBER_REC_HOP_LIMIT;
	sa = cma_sa_join(id, &rec, mask, mcast);
	if (IS_ERR(sa))
		return PTR_ERR(sa);
	mcast->sa = sa;
	return 0;
}

/* ---- Ethernet ---- */

/* Tells the network stack that the interface is in the group, or not any more. */
static int join_interface(struct net_device *ndev, const struct sockaddr *addr, bool join)
{
	struct in_device *in;
	__be32 group;

	guard(rtnl)();
	if (addr->sa_family == AF_INET) {
		in = __in_dev_get_rtnl(ndev);
		group = ((const struct sockaddr_in *)addr)->sin_addr.s_addr;
		if (!in)
			return -ENODEV;
		if (join)
			ip_mc_inc_group(in, group);
		else
			ip_mc_dec_group(in, group);
		return 0;
	}
#if IS_ENABLED(CONFIG_IPV6)
	if (join)
		return ipv6_dev_mc_inc(ndev, &((const struct sockaddr_in6 *)addr)->sin6_addr);
	return ipv6_dev_mc_dec(ndev, &((const struct sockaddr_in6 *)addr)->sin6_addr);
#else
	return -EAFNOSUPPORT;
#endif
}

/* An IP group is its own MGID; RoCE v1 has its own form for IPv4. */
static void roce_mgid(const struct sockaddr *addr, enum ib_gid_type gid_type, union ib_gid *mgid)
{
	rdma_ip2gid((struct sockaddr *)addr, mgid);
	if (addr->sa_family != AF_INET)
		return;
	memset(mgid->raw, 0, 10);
	if (gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP) {
		mgid->raw[0] = 0xff;
		mgid->raw[1] = 0x0e;
	}
}

/* Only who receives asks the switches for the group's packets. */
static bool receives(const struct cma_mcast *mcast)
{
	return mcast->join_state != BIT(SENDONLY_FULLMEMBER_JOIN);
}

static int join_roce_on(struct cma_mcast *mcast, struct net_device *ndev)
{
	struct sockaddr *addr = (struct sockaddr *)&mcast->addr;
	struct cma_id *id = mcast->id;
	struct ib_sa_mcmember_rec rec = {
		.pkey = cpu_to_be16(ROCE_PKEY),
		.rate = IB_RATE_PORT_CURRENT,
		.hop_limit = 1,
		.mtu = iboe_get_mtu(ndev->mtu),
	};
	enum ib_gid_type gid_type = mcast_gid_type(id);
	int ret = 0;

	if (!rec.mtu)
		return rdma_refuse(-EINVAL, "MTU %u of the interface is too small", ndev->mtu);
	if (!id->qkey)
		ret = cma_set_default_qkey(id);
	if (ret)
		return ret;
	rec.qkey = cpu_to_be32(id->qkey);
	roce_mgid(addr, gid_type, &rec.mgid);
	rdma_ip2gid(cma_src_addr(id), &rec.port_gid);
	if (gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP) {
		rec.hop_limit = IPV6_DEFAULT_HOPLIMIT;
		if (receives(mcast))
			ret = join_interface(ndev, addr, true);
		if (ret)
			return rdma_refuse(ret, "the interface cannot join the group");
		mcast->interface = receives(mcast) ? ndev->ifindex : 0;
	}
	report_group(mcast, 0, &rec);
	return 0;
}

static int join_roce(struct cma_mcast *mcast)
{
	struct rdma_dev_addr *dev_addr = &mcast->id->id.route.addr.dev_addr;
	struct sockaddr *addr = (struct sockaddr *)&mcast->addr;
	struct net_device *ndev;
	int ret;

	if (addr->sa_family != AF_INET && addr->sa_family != AF_INET6)
		return rdma_refuse(-EINVAL, "RoCE has no group of address family %u",
				   addr->sa_family);
	if (cma_addr_is_zero(addr))
		return rdma_refuse(-EINVAL, "nobody chooses a group's address on RoCE");
	ndev = dev_get_by_index(dev_addr->net, dev_addr->bound_dev_if);
	if (!ndev)
		return rdma_refuse(-ENODEV, "the id has no interface");
	ret = join_roce_on(mcast, ndev);
	dev_put(ndev);
	return ret;
}

static void leave_interface(struct cma_mcast *mcast)
{
	struct net_device *ndev;

	ndev = dev_get_by_index(mcast->id->id.route.addr.dev_addr.net, mcast->interface);
	/* A device that is gone has left its groups. */
	if (!ndev)
		return;
	join_interface(ndev, (struct sockaddr *)&mcast->addr, false);
	dev_put(ndev);
}

/* ---- joining and leaving ---- */

/* The group is in no list any more.  Waits for the subnet manager's callback. */
static void leave(struct cma_mcast *mcast)
{
	if (mcast->sa)
		cma_sa_leave(mcast->sa);
	if (mcast->interface)
		leave_interface(mcast);
	put_mcast(mcast);
}

static int join(struct cma_mcast *mcast)
{
	struct rdma_cm_id *id = &mcast->id->id;

	if (rdma_protocol_roce(id->device, id->port_num))
		return join_roce(mcast);
	if (rdma_cap_ib_mcast(id->device, id->port_num))
		return join_ib(mcast);
	return rdma_refuse(-ENOSYS, "the port has no multicast groups");
}

/* The group is out of the list afterwards.  Says whether the caller gives it up, by leave(). */
static bool take_out(struct cma_mcast *mcast)
{
	lockdep_assert_held(&mcast->id->mcast_lock);
	list_del(&mcast->entry);
	mcast->left = true;
	return !mcast->joining;
}

/*
 * Joining has ended with @ret.  Says whether the caller gives the group up: it was not joined, or
 * has been left meanwhile.
 */
static bool end_join(struct cma_mcast *mcast, int ret)
{
	guard(mutex)(&mcast->id->mcast_lock);
	mcast->joining = false;
	if (ret && !mcast->left)
		take_out(mcast);
	return mcast->left;
}

/* With a reference of the id and of its device, which the group's event may make the id lose. */
static int join_listed(struct cma_mcast *mcast)
{
	int ret;

	scoped_guard(mutex, &mcast->id->mcast_lock)
		list_add(&mcast->entry, &mcast->id->mcasts);
	ret = join(mcast);
	if (end_join(mcast, ret))
		leave(mcast);
	return ret;
}

/**
 * rdma_join_multicast() - join a multicast group
 * @id: datagram id with a device, bound or with a resolved address, and without a QP of
 *	rdma_create_qp()
 * @addr: IP address of the group, or MGID as AF_IB address.  A wildcard lets the subnet manager
 *	choose an MGID
 * @join_state: mask of BIT(FULLMEMBER_JOIN) and so on
 * @context: private data of the group's events
 *
 * MULTICAST_JOIN has the address of the group; MULTICAST_ERROR says that it could not be joined, or
 * that the membership was lost.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL in another state, for another id, or for an address that is no group;
 * -ENOSYS on a port without multicast; -ENODEV for a RoCE id without interface; -EADDRNOTAVAIL
 * if an InfiniBand port is not in the interface's broadcast group; -ENOMEM.
 */
int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *addr, u8 join_state, void *context)
{
	struct cma_id *own = to_cma_id(id);
	enum rdma_cm_state state = cma_state(own);
	struct cma_device *cma_dev = own->cma_dev;
	struct cma_mcast *mcast;
	int ret;

	if (!id->device || (state != RDMA_CM_ADDR_BOUND && state != RDMA_CM_ADDR_RESOLVED))
		return rdma_refuse(-EINVAL, "joining a group in state %d", state);
	if (id->qp || id->qp_type != IB_QPT_UD)
		return rdma_refuse(-EINVAL, "the id is not for datagrams, or has a QP");
	if (!rdma_addr_size(addr))
		return rdma_refuse(-EINVAL, "address family %u", addr->sa_family);
	mcast = kzalloc(sizeof(*mcast), GFP_KERNEL);
	if (!mcast)
		return -ENOMEM;
	refcount_set(&mcast->refs, 1);
	mcast->id = own;
	memcpy(&mcast->addr, addr, rdma_addr_size(addr));
	mcast->context = context;
	mcast->join_state = join_state;
	mcast->joining = true;
	mcast->report.take = take_joined;
	cma_get_id(own);
	refcount_inc(&cma_dev->refs);
	ret = join_listed(mcast);
	cma_put_device(cma_dev);
	cma_put_id(own);
	return ret;
}
EXPORT_SYMBOL(rdma_join_multicast);

/*
 * Takes the group that was joined last by this address and context, NULL for any, out of the list.
 * False if there is none; else @ours receives it if the caller gives it up, by leave().
 */
static bool take_group(struct cma_id *id, const struct sockaddr *addr, const void *context,
		       struct cma_mcast **ours)
{
	struct cma_mcast *mcast;

	*ours = NULL;
	guard(mutex)(&id->mcast_lock);
	list_for_each_entry(mcast, &id->mcasts, entry) {
		if (addr && memcmp(&mcast->addr, addr, rdma_addr_size(addr)))
			continue;
		if (context && mcast->context != context)
			continue;
		if (take_out(mcast))
			*ours = mcast;
		return true;
	}
	return false;
}

/* Returns false if there is no such group. */
static bool leave_group(struct cma_id *id, const struct sockaddr *addr, const void *context)
{
	struct cma_mcast *ours;
	bool found = take_group(id, addr, context, &ours);

	if (ours)
		leave(ours);
	return found;
}

/**
 * rdma_leave_multicast() - leave a group
 * @id: the id
 * @addr: the address with which it was joined; one that was not joined is no error
 *
 * No event of the group follows, but one whose handler is about to run.  Leaving a group from the
 * handler of the id is possible.  If the call that joins the group has not returned, the membership
 * is given up by that call.
 *
 * Context: may sleep.
 */
void rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *addr)
{
	leave_group(to_cma_id(id), addr, NULL);
}
EXPORT_SYMBOL(rdma_leave_multicast);

/**
 * rdma_leave_multicast_of() - leave the group of a context
 * @id: the id
 * @context: context of rdma_join_multicast(), not NULL; an unknown one is ignored
 *
 * This is for a consumer that joins several times by the same address, and has to know which of the
 * groups it has left.  As with rdma_leave_multicast(), no event with this context follows.
 *
 * Context: may sleep.
 */
void rdma_leave_multicast_of(struct rdma_cm_id *id, const void *context)
{
	leave_group(to_cma_id(id), NULL, context);
}
EXPORT_SYMBOL(rdma_leave_multicast_of);

/**
 * cma_leave_all() - leave all groups of an id that is destroyed
 * @id: the id
 *
 * Context: may sleep.
 */
void cma_leave_all(struct cma_id *id)
{
	while (leave_group(id, NULL, NULL))
		;
}
