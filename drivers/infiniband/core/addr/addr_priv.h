/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the files of addr/ share among themselves.
 *
 * route.c makes one look-up: which interface and which neighbour a route leads to. request.c
 * repeats it until the neighbour's link address is known or the request times out. service.c asks a
 * user-space program for GIDs behind InfiniBand routers. gid.c resolves RoCE GIDs.
 */
#ifndef RDMA_CORE_ADDR_PRIV_H
#define RDMA_CORE_ADDR_PRIV_H

#include <net/dst.h>
#include <net/neighbour.h>

#include "addr.h"

/* Return value of a look-up that waits for an answer */
#define ADDR_UNANSWERED 1

union addr_ip {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/**
 * struct addr_query - the parameters of a look-up
 * @src: source address; if unspecified, the route chooses one
 * @dst: destination address, of the same family
 * @net: network namespace; not used if @by_gid
 * @bound_dev_if: interface that is to be used, 0 for any; not used if @by_gid
 * @sgid_attr: source GID; referenced by the caller
 * @by_gid: namespace and interface are those of @sgid_attr
 */
struct addr_query {
	union addr_ip src;
	union addr_ip dst;
	struct net *net;
	int bound_dev_if;
	const struct ib_gid_attr *sgid_attr;
	bool by_gid;
};

/**
 * struct addr_hop - the neighbour or program whose answer a look-up needs
 * @family: AF_INET or AF_INET6 for a neighbour, AF_IB for a program, AF_UNSPEC if no answer is
 *	needed
 * @key: IP address of the neighbour; sequence number of the request to the program
 */
struct addr_hop {
	u16 family;
	u8 key[sizeof(struct in6_addr)];
};

/**
 * struct addr_route - the result of a look-up
 * @dst: the route
 * @neigh: the neighbour, or NULL
 * @hop: whose answer is needed
 * @src: source address
 * @link: interface and its link addresses, hop limit and network type; the peer's link address,
 *	once it is known
 */
struct addr_route {
	struct dst_entry *dst;
	struct neighbour *neigh;
	struct addr_hop hop;
	union addr_ip src;
	struct rdma_dev_addr link;
};

int addr_route_find(const struct addr_query *query, struct addr_route *route);
int addr_route_neighbour(struct addr_route *route);
int addr_route_look(const struct addr_query *query, struct addr_route *route);
void addr_route_release(struct addr_route *route);
void addr_neighbour_hop(const struct neighbour *neigh, struct addr_hop *hop);

int addr_service_listens(void);
int addr_service_ask(const struct addr_route *route, const union addr_ip *dst, u32 seq);
int addr_service_read(const struct nlmsghdr *nlh, struct netlink_ext_ack *extack,
		      union ib_gid *gid);

#if IS_ENABLED(CONFIG_KUNIT)
extern unsigned int addr_retry_ms;
extern u32 addr_last_seq;
#endif

#endif
