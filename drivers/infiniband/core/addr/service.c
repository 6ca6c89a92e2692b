// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * GIDs behind InfiniBand routers.
 *
 * IPoIB's neighbour entries give the GIDs of one subnet only. A GID behind an IP gateway may be
 * known to a program that listens to the netlink group RDMA_NL_GROUP_LS. The kernel sends it the IP
 * address with RDMA_NL_LS_OP_IP_RESOLVE, and the program answers with the GID and the same sequence
 * number.
 */
#include <linux/in6.h>
#include <net/netlink.h>
#include <rdma/rdma_netlink.h>
#include <rdma/rdma_reject.h>

#include "addr_priv.h"

static int put_question(struct sk_buff *skb, int ifindex, const union addr_ip *dst, u32 seq)
{
	struct rdma_ls_ip_resolve_header *header;
	struct nlmsghdr *nlh;
	int ret;

	header = ibnl_put_msg(skb, &nlh, seq, NLMSG_ALIGN(sizeof(*header)), RDMA_NL_LS,
			      RDMA_NL_LS_OP_IP_RESOLVE, NLM_F_REQUEST);
	if (!header)
		return -EMSGSIZE;
	header->ifindex = ifindex;
	if (dst->any.sa_family == AF_INET)
		ret = nla_put(skb, LS_NLA_TYPE_IPV4 | RDMA_NLA_F_MANDATORY,
			      sizeof(dst->in.sin_addr), &dst->in.sin_addr);
	else
		ret = nla_put(skb, LS_NLA_TYPE_IPV6 | RDMA_NLA_F_MANDATORY,
			      sizeof(dst->in6.sin6_addr), &dst->in6.sin6_addr);
	nlmsg_end(skb, nlh);
	return ret;
}

/**
 * addr_service_listens() - is there a program that could be asked?
 *
 * Context: any.
 * Return: ADDR_UNANSWERED, or -EADDRNOTAVAIL for none.
 */
int addr_service_listens(void)
{
	if (rdma_nl_chk_listeners(RDMA_NL_GROUP_LS))
		return ADDR_UNANSWERED;
	return rdma_refuse(-EADDRNOTAVAIL, "no program tells the GID behind a gateway");
}

/**
 * addr_service_ask() - ask programs for the GID of an IP address
 * @route: route to it
 * @dst: the address
 * @seq: number of the question
 *
 * Context: may sleep.
 * Return: ADDR_UNANSWERED; -EADDRNOTAVAIL if no program listens; -ENOMEM.
 */
int addr_service_ask(const struct addr_route *route, const union addr_ip *dst, u32 seq)
{
	struct sk_buff *skb;
	int ret = addr_service_listens();

	if (ret < 0)
		return ret;
	skb = nlmsg_new(NLMSG_ALIGN(sizeof(struct rdma_ls_ip_resolve_header)) +
			nla_total_size(sizeof(struct in6_addr)), GFP_KERNEL);
	if (!skb)
		return -ENOMEM;
	ret = put_question(skb, route->link.bound_dev_if, dst, seq);
	if (ret) {
		nlmsg_free(skb);
		return ret;
	}
	/* If no program receives this message, one may receive the next. */
	rdma_nl_multicast(&init_net, skb, RDMA_NL_GROUP_LS, GFP_KERNEL);
	return ADDR_UNANSWERED;
}

static const struct nla_policy answer_policy[LS_NLA_TYPE_DGID + 1] = {
	[LS_NLA_TYPE_DGID] = NLA_POLICY_EXACT_LEN(sizeof(struct rdma_nla_ls_gid)),
};

/**
 * addr_service_read() - read a program's answer
 * @nlh: its message
 * @extack: for errors of its attributes
 * @gid: receives the GID
 *
 * Return: 0, or -EINVAL without a GID.
 */
int addr_service_read(const struct nlmsghdr *nlh, struct netlink_ext_ack *extack,
		      union ib_gid *gid)
{
	struct nlattr *tb[LS_NLA_TYPE_DGID + 1];

	if (nla_parse_deprecated(tb, LS_NLA_TYPE_DGID, nlmsg_data(nlh), nlmsg_len(nlh),
				 answer_policy, extack) || !tb[LS_NLA_TYPE_DGID])
		return rdma_refuse(-EINVAL, "an answer of a local service without a GID");
	memcpy(gid, nla_data(tb[LS_NLA_TYPE_DGID]), sizeof(*gid));
	return 0;
}
