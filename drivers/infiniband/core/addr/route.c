// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One look-up: which interface, source address and neighbour an IP address leads to, by the routes
 * and neighbours that the network stack has at this moment.
 */
#include <linux/cleanup.h>
#include <linux/inetdevice.h>
#include <linux/rcupdate.h>
#include <net/addrconf.h>
#include <net/ip6_route.h>
#include <net/route.h>
#include <rdma/ib.h>
#include <rdma/ib_cache.h>
#include <rdma/rdma_compat.h>
#include <rdma/rdma_reject.h>

#include "addr_priv.h"

/**
 * rdma_addr_size() - bytes of a socket address
 * @addr: address of any family
 *
 * Context: any.
 * Return: the size, or 0 if the family is neither AF_INET nor AF_INET6 nor AF_IB.
 */
int rdma_addr_size(const struct sockaddr *addr)
{
	static const struct {
		sa_family_t family;
		int size;
	} known[] = {
		{ AF_INET, sizeof(struct sockaddr_in) },
		{ AF_INET6, sizeof(struct sockaddr_in6) },
		{ AF_IB, sizeof(struct sockaddr_ib) },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i].family == addr->sa_family)
			return known[i].size;
	return 0;
}
EXPORT_SYMBOL(rdma_addr_size);

static int size_within(const void *addr, int room)
{
	int size = rdma_addr_size(addr);

	return size > room ? 0 : size;
}

/**
 * rdma_addr_size_in6() - bytes of a socket address kept in that of IPv6
 * @addr: address of any family
 *
 * Context: any.
 * Return: the size, or 0 for an unknown family and for one whose addresses are longer.
 */
int rdma_addr_size_in6(struct sockaddr_in6 *addr)
{
	return size_within(addr, sizeof(*addr));
}
EXPORT_SYMBOL(rdma_addr_size_in6);

/**
 * rdma_addr_size_kss() - bytes of a socket address kept in one for all families
 * @addr: address of any family
 *
 * Context: any.
 * Return: the size, or 0 for an unknown family.
 */
int rdma_addr_size_kss(struct __kernel_sockaddr_storage *addr)
{
	return size_within(addr, sizeof(*addr));
}
EXPORT_SYMBOL(rdma_addr_size_kss);

/**
 * rdma_copy_src_l2_addr() - take the own end of a path from an interface
 * @dev_addr: receives link address, broadcast address, type and index; the rest stays
 * @dev: interface
 *
 * Context: any.
 */
void rdma_copy_src_l2_addr(struct rdma_dev_addr *dev_addr, const struct net_device *dev)
{
	dev_addr->bound_dev_if = dev->ifindex;
	dev_addr->dev_type = dev->type;
	memcpy(dev_addr->broadcast, dev->broadcast, sizeof(dev_addr->broadcast));
	memcpy(dev_addr->src_dev_addr, dev->dev_addr, sizeof(dev_addr->src_dev_addr));
}
EXPORT_SYMBOL(rdma_copy_src_l2_addr);

static struct net_device *ipv6_owner_rcu(struct net *net, const struct sockaddr_in6 *ip)
{
	struct net_device *scope = NULL;

	if (!IS_ENABLED(CONFIG_IPV6) || !ipv6_mod_enabled())
		return NULL;
	if (ip->sin6_scope_id && ipv6_addr_type(&ip->sin6_addr) & IPV6_ADDR_LINKLOCAL) {
		scope = dev_get_by_index_rcu(net, ip->sin6_scope_id);
		if (!scope)
			return NULL;
	}
	return ipv6_dev_find(net, &ip->sin6_addr, scope);
}

/* The interface that has an address as its own, or NULL. */
static struct net_device *owner_rcu(struct net *net, const struct sockaddr *ip)
{
	switch (ip->sa_family) {
	case AF_INET:
		return __ip_dev_find(net, ((const struct sockaddr_in *)ip)->sin_addr.s_addr, false);
	case AF_INET6:
		return ipv6_owner_rcu(net, (const struct sockaddr_in6 *)ip);
	default:
		return NULL;
	}
}

static int own_end_rcu(struct net *net, int ifindex, const struct sockaddr *ip,
		       struct rdma_dev_addr *link)
{
	struct net_device *dev;

	dev = ifindex ? dev_get_by_index_rcu(net, ifindex) : owner_rcu(net, ip);
	if (!dev)
		return ifindex ? -ENODEV : -EADDRNOTAVAIL;
	rdma_copy_src_l2_addr(link, dev);
	return 0;
}

/**
 * rdma_translate_ip() - find the interface that has an IP address
 * @addr: IPv4 or IPv6 address; a link-local one is looked for on the interface of its scope id
 * @dev_addr: has the namespace, and in bound_dev_if an interface that is to be taken whatever its
 *	addresses are, or 0; takes what rdma_copy_src_l2_addr() gives
 *
 * Context: any.
 * Return: 0; -EADDRNOTAVAIL if no interface has the address; -ENODEV if there is no interface
 * bound_dev_if; -EINVAL without a namespace.
 */
int rdma_translate_ip(const struct sockaddr *addr, struct rdma_dev_addr *dev_addr)
{
	int ret;

	if (!dev_addr->net)
		return rdma_refuse(-EINVAL, "an address without a network namespace");
	guard(rcu)();
	ret = own_end_rcu(dev_addr->net, dev_addr->bound_dev_if, addr, dev_addr);
	if (ret)
		return rdma_refuse(ret, "no interface has the address %pISc", addr);
	return 0;
}
EXPORT_SYMBOL(rdma_translate_ip);

static bool by_gateway(const struct dst_entry *dst, sa_family_t family)
{
	if (family == AF_INET)
		return dst_rtable(dst)->rt_uses_gateway;
	return dst_rt6_info(dst)->rt6i_flags & RTF_GATEWAY;
}

/*
 * Interface index from the scope id of a link-local address, or 0. It counts only if no interface
 * is asked for.
 */
static int scope_of(const union addr_ip *ip)
{
	if (ip->any.sa_family != AF_INET6 ||
	    !(ipv6_addr_type(&ip->in6.sin6_addr) & IPV6_ADDR_LINKLOCAL))
		return 0;
	return ip->in6.sin6_scope_id;
}

static int find_ipv4(struct net *net, int ifindex, const struct addr_query *query,
		     struct addr_route *route)
{
	struct flowi4 flow = {
		.daddr = query->dst.in.sin_addr.s_addr,
		.saddr = query->src.in.sin_addr.s_addr,
		.flowi4_oif = ifindex,
	};
	struct rtable *rt = ip_route_output_key(net, &flow);

	if (IS_ERR(rt))
		return PTR_ERR(rt);
	route->dst = &rt->dst;
	route->src.in.sin_addr.s_addr = flow.saddr;
	route->link.hoplimit = ip4_dst_hoplimit(&rt->dst);
	return 0;
}

static int find_ipv6(struct net *net, int ifindex, const struct addr_query *query,
		     struct addr_route *route)
{
	struct flowi6 flow = {
		.daddr = query->dst.in6.sin6_addr,
		.saddr = query->src.in6.sin6_addr,
		.flowi6_oif = ifindex ?: scope_of(&query->dst) ?: scope_of(&query->src),
	};
	struct dst_entry *dst;

	if (!IS_ENABLED(CONFIG_IPV6))
		return -EAFNOSUPPORT;
	dst = rdma_ip6_route(net, &flow);
	if (IS_ERR(dst))
		return PTR_ERR(dst);
	route->dst = dst;
	if (ipv6_addr_any(&query->src.in6.sin6_addr))
		route->src.in6.sin6_addr = flow.saddr;
	route->link.hoplimit = ip6_dst_hoplimit(dst);
	return 0;
}

/*
 * A route to a local address leads to the loopback interface, on which RDMA does not run: then both
 * ends are the interface that has the address.
 */
static int find_ends_rcu(int ifindex, const struct addr_query *query, struct addr_route *route,
			 bool *own)
{
	const struct net_device *dev = READ_ONCE(route->dst->dev);
	sa_family_t family = query->dst.any.sa_family;
	struct rdma_dev_addr *link = &route->link;
	int ret;

	*own = dev->flags & IFF_LOOPBACK;
	if (*own) {
		ret = own_end_rcu(dev_net(dev), ifindex, &query->dst.any, link);
		if (ret)
			return -ENODEV;
		memcpy(link->dst_dev_addr, link->src_dev_addr, sizeof(link->dst_dev_addr));
	} else {
		rdma_copy_src_l2_addr(link, dev);
	}
	/* Only RoCE v2 passes routers: gateways forward IP packets. */
	if (link->dev_type != ARPHRD_INFINIBAND && by_gateway(route->dst, family))
		link->network = family == AF_INET ? RDMA_NETWORK_IPV4 : RDMA_NETWORK_IPV6;
	else
		link->network = RDMA_NETWORK_IB;
	return 0;
}

/* Finds the neighbour to ask for the other end. An IP gateway does not know the GIDs behind it. */
static int find_hop(const struct addr_query *query, struct addr_route *route)
{
	sa_family_t family = query->dst.any.sa_family;
	const void *ip = family == AF_INET ? (const void *)&query->dst.in.sin_addr :
					     (const void *)&query->dst.in6.sin6_addr;

	if (route->link.network == RDMA_NETWORK_IB && by_gateway(route->dst, family)) {
		route->hop.family = AF_IB;
		return 0;
	}
	route->neigh = dst_neigh_lookup(route->dst, ip);
	if (!route->neigh)
		return -ENOMEM;
	addr_neighbour_hop(route->neigh, &route->hop);
	return 0;
}

static int find_rcu(const struct addr_query *query, struct addr_route *route, bool *own)
{
	int ifindex = query->bound_dev_if, ret;
	struct net *net = query->net;

	if (query->by_gid) {
		const struct net_device *dev;

		dev = rdma_read_gid_attr_ndev_rcu(query->sgid_attr);
		if (IS_ERR(dev))
			return PTR_ERR(dev);
		net = dev_net(dev);
		ifindex = dev->ifindex;
	}
	ret = query->dst.any.sa_family == AF_INET ? find_ipv4(net, ifindex, query, route) :
						    find_ipv6(net, ifindex, query, route);
	return ret ?: find_ends_rcu(ifindex, query, route, own);
}

/**
 * addr_route_find() - find the interface and the neighbour to which an address leads
 * @query: parameters of the look-up
 * @route: receives what was found, to be released by addr_route_release(); the link address of the
 *	peer is known if hop.family is AF_UNSPEC
 *
 * Context: may sleep.
 * Return: 0; the routing table's error; -ENODEV; -EINVAL for a GID that has left its table;
 * -ENOMEM. No reference is held after an error.
 */
int addr_route_find(const struct addr_query *query, struct addr_route *route)
{
	bool own = false;
	int ret;

	*route = (struct addr_route){
		.src = query->src,
		.link = { .net = query->net, .sgid_attr = query->sgid_attr },
	};
	/* Under RCU interfaces and their namespaces do not disappear. */
	scoped_guard(rcu)
		ret = find_rcu(query, route, &own);
	if (!ret && !own)
		ret = find_hop(query, route);
	if (ret)
		addr_route_release(route);
	return ret;
}

/**
 * addr_route_neighbour() - take the link address of the neighbour
 * @route: a route with a neighbour; receives its link address
 *
 * An unknown neighbour is solicited; its answer arrives as a neighbour event.
 *
 * Context: may sleep.
 * Return: 0, or ADDR_UNANSWERED.
 */
int addr_route_neighbour(struct addr_route *route)
{
	struct neighbour *neigh = route->neigh;

	if (!(READ_ONCE(neigh->nud_state) & NUD_VALID)) {
		neigh_event_send(neigh, NULL);
		return ADDR_UNANSWERED;
	}
	neigh_ha_snapshot(route->link.dst_dev_addr, neigh, neigh->dev);
	return 0;
}

/* Fills in the key by which an event of this neighbour finds the requests that wait for it. */
void addr_neighbour_hop(const struct neighbour *neigh, struct addr_hop *hop)
{
	memset(hop, 0, sizeof(*hop));
	hop->family = neigh->tbl->family;
	memcpy(hop->key, neigh->primary_key, min_t(size_t, neigh->tbl->key_len, sizeof(hop->key)));
}

/**
 * addr_route_look() - find both ends of a route if they are known at this moment
 * @query: parameters of the look-up
 * @route: receives what was found; holds no references
 *
 * An unknown neighbour is solicited.
 *
 * Context: may sleep, but does not wait for an answer.
 * Return: 0; ADDR_UNANSWERED if the peer's link address is not known; what addr_service_listens()
 * returns for a peer behind a gateway; what addr_route_find() returns.
 */
int addr_route_look(const struct addr_query *query, struct addr_route *route)
{
	int ret = addr_route_find(query, route);

	if (!ret && route->hop.family != AF_UNSPEC)
		ret = route->neigh ? addr_route_neighbour(route) : addr_service_listens();
	addr_route_release(route);
	return ret;
}

/* Releases the references that addr_route_find() has taken. */
void addr_route_release(struct addr_route *route)
{
	if (route->neigh)
		neigh_release(route->neigh);
	dst_release(route->dst);
	route->neigh = NULL;
	route->dst = NULL;
}
