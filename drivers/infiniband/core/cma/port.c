// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Port spaces: the ports of ids, and the listeners of requests.
 *
 * Each network namespace has four port spaces.  A port is there as long as an id has it.  Ids of
 * one port are few: they have different addresses or destinations, or share it because all of them
 * say so.
 */
#include <kunit/visibility.h>
#include <linux/capability.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <net/ip.h>
#include <net/netns/generic.h>
#include <net/sock.h>

#include "../object/object.h"
#include "cma_priv.h"

/**
 * struct cma_port - a port of a port space
 * @ps: the port space, as an AF_IB address may choose another than the id's
 * @number: the port's number
 * @ids: ids that have it; changed under the bind lock, read under RCU
 * @rcu: readers find ports under RCU
 */
struct cma_port {
	enum rdma_ucm_port_space ps;
	u16 number;
	struct hlist_head ids;
	struct rcu_head rcu;
};

/**
 * struct cma_net - port spaces of a network namespace
 * @lock: the bind lock: protects the rest, and port and port_entry of the namespace's ids
 * @spaces: ports by number
 * @last: the ephemeral port that was taken last, by port space
 */
struct cma_net {
	struct mutex lock;
	struct xarray spaces[4];
	u16 last[4];
};

static unsigned int cma_net_id;

static struct cma_net *cma_net(const struct net *net)
{
	return net_generic(net, cma_net_id);
}

/* Place of a port space in the namespace, -1 if there is no such port space. */
static int space_index(enum rdma_ucm_port_space ps)
{
	switch (ps) {
	case RDMA_PS_TCP:
		return 0;
	case RDMA_PS_UDP:
		return 1;
	case RDMA_PS_IPOIB:
		return 2;
	case RDMA_PS_IB:
		return 3;
	}
	return -1;
}

static struct cma_port *find_port(const struct net *net, enum rdma_ucm_port_space ps, u16 number)
{
	int index = space_index(ps);

	return index < 0 ? NULL : xa_load(&cma_net(net)->spaces[index], number);
}

static u16 own_port(struct cma_id *id)
{
	return be16_to_cpu(cma_addr_port(cma_src_addr(id)));
}

/* ---- who may have a port besides others ---- */

/* Do two ids differ in this property of an address, which both have? */
static bool addrs_differ(const struct sockaddr *a, const struct sockaddr *b)
{
	return !cma_addr_is_any(a) && !cma_addr_is_any(b) && !cma_addr_same(a, b);
}

static bool ports_differ(const struct sockaddr *a, const struct sockaddr *b)
{
	__be16 x = cma_addr_port(a), y = cma_addr_port(b);

	return x && y && x != y;
}

/*
 * Whom the system gives an ephemeral port: one that others have, only if the pairs of ends are
 * different from each of theirs.
 */
static bool tells_apart(struct cma_id *id, struct cma_id *other)
{
	return ports_differ(cma_dst_addr(id), cma_dst_addr(other)) ||
	       addrs_differ(cma_src_addr(id), cma_src_addr(other)) ||
	       addrs_differ(cma_dst_addr(id), cma_dst_addr(other));
}

static int check_ephemeral(struct cma_port *port, struct cma_id *id)
{
	struct cma_id *other;

	hlist_for_each_entry(other, &port->ids, port_entry)
		if (other != id && !tells_apart(id, other))
			return -EADDRNOTAVAIL;
	return 0;
}

/*
 * An id that asks for a port by its number, or wants to listen, must have another address than the
 * port's other ids, unless all of them share it.
 */
static int check_explicit(struct cma_port *port, struct cma_id *id, bool share)
{
	struct sockaddr *addr = cma_src_addr(id), *others;
	struct cma_id *other;

	hlist_for_each_entry(other, &port->ids, port_entry) {
		if (other == id || (share && other->reuseaddr))
			continue;
		others = cma_src_addr(other);
		if (addr->sa_family != others->sa_family && id->afonly && other->afonly)
			continue;
		if (cma_addr_is_any(addr) || cma_addr_is_any(others))
			return -EADDRNOTAVAIL;
		if (cma_addr_same(addr, others))
			return -EADDRINUSE;
	}
	return 0;
}

/* ---- taking a port; the bind lock is held ---- */

static void join_port(struct cma_port *port, struct cma_id *id)
{
	cma_addr_set_port(cma_src_addr(id), cpu_to_be16(port->number));
	id->port = port;
	hlist_add_head_rcu(&id->port_entry, &port->ids);
}

static int new_port(struct xarray *space, enum rdma_ucm_port_space ps, u16 number,
		    struct cma_id *id)
{
	struct cma_port *port = kzalloc(sizeof(*port), GFP_KERNEL);
	int ret;

	if (!port)
		return -ENOMEM;
	port->ps = ps;
	port->number = number;
	join_port(port, id);
	ret = xa_insert(space, number, port, GFP_KERNEL);
	if (ret) {
		/* No reader has seen the port, so its list is empty. */
		hlist_del_init(&id->port_entry);
		id->port = NULL;
		kfree(port);
	}
	return ret;
}

static int take_ephemeral(struct cma_net *cn, enum rdma_ucm_port_space ps, struct cma_id *id)
{
	int index = space_index(ps), low, high, count, number, ret;
	struct cma_port *port;

	inet_get_local_port_range(id->id.route.addr.dev_addr.net, &low, &high);
	count = high - low + 1;
	number = get_random_u32_inclusive(low, high);
	/* The one that was taken last has its turn when all others have had theirs. */
	if (number == cn->last[index])
		number = number == high ? low : number + 1;
	for (; count; count--, number = number == high ? low : number + 1) {
		port = xa_load(&cn->spaces[index], number);
		if (!port) {
			ret = new_port(&cn->spaces[index], ps, number, id);
		} else {
			ret = check_ephemeral(port, id);
			if (!ret)
				join_port(port, id);
		}
		if (!ret)
			cn->last[index] = number;
		if (ret != -EADDRNOTAVAIL)
			return ret;
	}
	return rdma_refuse(-EADDRNOTAVAIL, "no ephemeral port is free from %d to %d", low, high);
}

static int take_explicit(struct cma_net *cn, enum rdma_ucm_port_space ps, struct cma_id *id)
{
	struct xarray *space = &cn->spaces[space_index(ps)];
	u16 number = own_port(id);
	struct cma_port *port;
	int ret;

	if (number < PROT_SOCK && !capable(CAP_NET_BIND_SERVICE))
		return rdma_refuse(-EACCES, "port %u < %d needs CAP_NET_BIND_SERVICE", number,
				   PROT_SOCK);
	port = xa_load(space, number);
	if (!port)
		return new_port(space, ps, number, id);
	ret = check_explicit(port, id, id->reuseaddr);
	if (ret)
		return rdma_refuse(ret, "port %u of the address belongs to another id", number);
	join_port(port, id);
	return 0;
}

/*
 * The port space that an AF_IB address names by the upper bits of its service id, as far as its
 * mask says that they count.  An id of PS_IB may be in each.
 */
static enum rdma_ucm_port_space select_ib_space(struct cma_id *id)
{
	static const struct {
		enum rdma_ucm_port_space ps;
		u64 service_id;
	} spaces[] = {
		{ RDMA_PS_IB, RDMA_IB_IP_PS_IB },
		{ RDMA_PS_TCP, RDMA_IB_IP_PS_TCP },
		{ RDMA_PS_UDP, RDMA_IB_IP_PS_UDP },
	};
	struct sockaddr_ib *sib = (struct sockaddr_ib *)cma_src_addr(id);
	u64 given = be64_to_cpu(sib->sib_sid_mask);
	u64 mask = given & RDMA_IB_IP_PS_MASK;
	u16 port = own_port(id);

	for (size_t i = 0; i < ARRAY_SIZE(spaces); i++) {
		if (id->id.ps != RDMA_PS_IB && id->id.ps != spaces[i].ps)
			continue;
		if ((be64_to_cpu(sib->sib_sid) ^ spaces[i].service_id) & mask)
			continue;
		sib->sib_sid = cpu_to_be64(spaces[i].service_id | port);
		sib->sib_sid_mask = cpu_to_be64(given | RDMA_IB_IP_PS_MASK);
		return spaces[i].ps;
	}
	return 0;
}

/**
 * cma_get_port() - take the port that an id's source address asks for
 * @id: id without a port
 *
 * Port 0 asks for an ephemeral one.  The address has its number afterwards.
 *
 * Context: may sleep.
 * Return: 0; -EPROTONOSUPPORT for an unknown port space, or an AF_IB service id of another one;
 * -EACCES for a port below 1024 without CAP_NET_BIND_SERVICE; -EADDRINUSE if the address has the
 * port already; -EADDRNOTAVAIL if a wildcard is in the way or all ephemeral ports are taken;
 * -ENOMEM.
 */
int cma_get_port(struct cma_id *id)
{
	struct cma_net *cn = cma_net(id->id.route.addr.dev_addr.net);
	enum rdma_ucm_port_space ps = id->id.ps;

	if (cma_family(id) == AF_IB)
		ps = select_ib_space(id);
	if (space_index(ps) < 0)
		return rdma_refuse(-EPROTONOSUPPORT, "port space %#x has no such service id",
				   id->id.ps);
	guard(mutex)(&cn->lock);
	return own_port(id) ? take_explicit(cn, ps, id) : take_ephemeral(cn, ps, id);
}
EXPORT_SYMBOL_IF_KUNIT(cma_get_port);

/**
 * cma_claim_port() - stop sharing an id's port
 * @id: id with a port
 *
 * Others may have it because they share it as well, or because an ephemeral port was given to ids
 * that differ in their peers.
 *
 * Context: may sleep.
 * Return: 0; -EADDRINUSE or -EADDRNOTAVAIL while others have the port, too.
 */
int cma_claim_port(struct cma_id *id)
{
	struct cma_net *cn = cma_net(id->id.route.addr.dev_addr.net);
	int ret;

	guard(mutex)(&cn->lock);
	ret = check_explicit(id->port, id, false);
	if (ret)
		return rdma_refuse(ret, "port %u is shared with another id", id->port->number);
	id->reuseaddr = false;
	return 0;
}

/**
 * cma_release_port() - give an id's port back
 * @id: id, which is not bound again, as readers may still follow its list entry
 *
 * Context: may sleep.
 */
void cma_release_port(struct cma_id *id)
{
	struct cma_net *cn = cma_net(id->id.route.addr.dev_addr.net);
	struct cma_port *port = id->port;

	if (!port)
		return;
	guard(mutex)(&cn->lock);
	id->port = NULL;
	hlist_del_rcu(&id->port_entry);
	if (!hlist_empty(&port->ids))
		return;
	xa_erase(&cn->spaces[space_index(port->ps)], port->number);
	kfree_rcu(port, rcu);
}
EXPORT_SYMBOL_IF_KUNIT(cma_release_port);

/* ---- whom a request is for ---- */

/* Does the id listen at the address that the peer wants to reach? */
static bool address_matches(struct cma_id *id, const struct sockaddr *local)
{
	const struct sockaddr *addr = cma_src_addr(id);
	bool any = cma_addr_is_any(addr);

	if (any && !id->afonly)
		return true;
	if (addr->sa_family == AF_IB)
		return true;
	if (addr->sa_family != local->sa_family)
		return false;
	if (any)
		return true;
	if (addr->sa_family == AF_INET)
		return cma_addr_same(addr, local);
	/* The interface of a link-local address is compared apart. */
	return ipv6_addr_equal(&((const struct sockaddr_in6 *)addr)->sin6_addr,
			       &((const struct sockaddr_in6 *)local)->sin6_addr);
}

/*
 * Does it listen where the request arrived?  A listener without a device listens on all of them.
 * Only a request to a link-local address belongs to a certain interface.
 */
static bool place_matches(struct cma_id *id, const struct cma_listen_key *key)
{
	const struct ib_device *device = READ_ONCE(id->id.device);
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)key->local;
	int interface = id->id.route.addr.dev_addr.bound_dev_if;

	if (device && device != key->device)
		return false;
	if (!key->ndev)
		return cma_family(id) == AF_IB &&
		       (!id->id.port_num || id->id.port_num == key->port_num);
	if (in6->sin6_family != AF_INET6 ||
	    !(ipv6_addr_type(&in6->sin6_addr) & IPV6_ADDR_LINKLOCAL))
		return true;
	return net_eq(dev_net(key->ndev), id->id.route.addr.dev_addr.net) &&
	       (!interface || interface == key->ndev->ifindex);
}

/**
 * cma_find_listener() - find the listener for a request
 * @key: values of the request
 *
 * Context: any; takes no lock, and as long for ten thousand listeners as for one.
 * Return: the listening id with a reference, or NULL.
 */
struct cma_id *cma_find_listener(const struct cma_listen_key *key)
{
	struct cma_port *port;
	struct cma_id *id;

	guard(rcu)();
	port = find_port(key->net, key->ps, be64_to_cpu(key->service_id) & U16_MAX);
	if (!port)
		return NULL;
	hlist_for_each_entry_rcu(id, &port->ids, port_entry)
		if (cma_state(id) == RDMA_CM_LISTEN && address_matches(id, key->local) &&
		    place_matches(id, key) && refcount_inc_not_zero(&id->refs))
			return id;
	return NULL;
}
EXPORT_SYMBOL_IF_KUNIT(cma_find_listener);

/* ---- port spaces come and go with namespaces ---- */

static int cma_net_begin(struct net *net)
{
	struct cma_net *cn = cma_net(net);

	mutex_init(&cn->lock);
	for (size_t i = 0; i < ARRAY_SIZE(cn->spaces); i++)
		xa_init(&cn->spaces[i]);
	return 0;
}

static void cma_net_end(struct net *net)
{
	struct cma_net *cn = cma_net(net);

	/* Each id holds its namespace. */
	for (size_t i = 0; i < ARRAY_SIZE(cn->spaces); i++) {
		WARN_ON(rdma_xa_used(&cn->spaces[i]));
		xa_destroy(&cn->spaces[i]);
	}
}

static struct pernet_operations cma_net_ops = {
	.init = cma_net_begin,
	.exit = cma_net_end,
	.id = &cma_net_id,
	.size = sizeof(struct cma_net),
};

/**
 * cma_ports_begin() - give every namespace its port spaces
 *
 * Return: 0 or -ENOMEM.
 */
int cma_ports_begin(void)
{
	return register_pernet_subsys(&cma_net_ops);
}

/**
 * cma_ports_end() - undo cma_ports_begin(); no id is left
 */
void cma_ports_end(void)
{
	unregister_pernet_subsys(&cma_net_ops);
}
