/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What addr/ offers the other folders of the core, beyond <rdma/ib_addr.h>: from IP
 * addresses to link addresses.
 */
#ifndef RDMA_CORE_ADDR_H
#define RDMA_CORE_ADDR_H

#include <rdma/ib_addr.h>

struct netlink_ext_ack;
struct nlmsghdr;
struct sa_path_rec;
struct sk_buff;

int addr_init(void);
void addr_exit(void);

int rdma_addr_find_l2_eth_by_grh(const union ib_gid *sgid, const union ib_gid *dgid, u8 *dmac,
				 const struct ib_gid_attr *sgid_attr, int *hoplimit);
bool addr_eth_is_known(const union ib_gid *sgid, const union ib_gid *dgid,
		       const struct ib_gid_attr *sgid_attr);
int addr_resolve_known_ip(const struct sockaddr *src_addr, const struct sockaddr *dst_addr,
			  struct rdma_dev_addr *addr, struct sockaddr_storage *source);
int addr_resolve_path_route(struct sa_path_rec *rec, const struct ib_gid_attr *sgid_attr);

/*
 * The handler of RDMA_NL_LS_OP_IP_RESOLVE, which sa/ registers with the netlink client of local
 * services.
 */
int addr_service_doit(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack);

#endif
