/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the files of nldev/ share among themselves.
 */
#ifndef RDMA_CORE_NLDEV_PRIV_H
#define RDMA_CORE_NLDEV_PRIV_H

#include <net/netlink.h>

#include "../device/device.h"

/**
 * struct nl_request - a parsed request
 * @skb: the message
 * @nlh: its header
 * @extack: takes the reason of an error
 * @tb: its attributes
 */
struct nl_request {
	struct sk_buff *skb;
	const struct nlmsghdr *nlh;
	struct netlink_ext_ack *extack;
	struct nlattr *tb[RDMA_NLDEV_ATTR_MAX];
};

/* request.c */
int nl_request_parse(struct nl_request *request, struct sk_buff *skb, const struct nlmsghdr *nlh,
		     struct netlink_ext_ack *extack);
struct ib_device *nl_request_device(struct nl_request *request);
struct ib_device *nl_request_begin(struct nl_request *request, struct sk_buff *skb,
				   const struct nlmsghdr *nlh, struct netlink_ext_ack *extack);
int nl_request_port(struct nl_request *request, struct ib_device *device, u32 *port_num);
struct sk_buff *nl_reply_begin(struct nl_request *request, struct nlmsghdr **reply);
int nl_reply_send(struct nl_request *request, struct sk_buff *msg, struct nlmsghdr *reply, int err);
struct nlmsghdr *nl_dump_begin(struct sk_buff *skb, const struct netlink_callback *cb);
int nl_dump_end(struct sk_buff *skb, struct nlmsghdr *message, int err);
bool nl_wants_details(const struct nl_request *request);

/*
 * Appends a device's description to a message: 0, or -EMSGSIZE, and the caller removes the message.
 */
typedef int (*nl_put_fn)(struct sk_buff *msg, struct ib_device *device);

int nl_answer_device(struct nl_request *request, struct ib_device *device, nl_put_fn put);
int nl_dump_device(struct ib_device *device, struct sk_buff *skb, struct netlink_callback *cb,
		   unsigned int number, nl_put_fn put);
int nl_put_name(struct sk_buff *msg, int attr, const struct ib_device *device);
int nl_put_device(struct sk_buff *msg, struct ib_device *device);
int nl_put_netdev(struct sk_buff *msg, struct ib_device *device, u32 port_num,
		  const struct net *net);
int nl_put_u64(struct sk_buff *msg, int attr, u64 value);

/**
 * struct stat_request - a request about the counters of a port
 * @nl: the request
 * @device: the device, with a reference
 * @port_num: the port; 0 for the device itself, if that is allowed
 * @stats: the counters
 * @qp_num: QP that was bound or unbound
 * @counter_id: counter that it was bound to
 */
struct stat_request {
	struct nl_request nl;
	struct ib_device *device;
	u32 port_num;
	struct rdma_hw_stats *stats;
	u32 qp_num;
	u32 counter_id;
};

int nl_stat_begin(struct stat_request *request);
int nl_stat_with_port(struct stat_request *request, struct sk_buff *skb, struct nlmsghdr *nlh,
		      struct netlink_ext_ack *extack);
void nl_stat_end(struct stat_request *request);
int nl_stat_reply(struct stat_request *request,
		  int (*put)(struct sk_buff *msg, struct stat_request *request));

/* nldev.c */
#if IS_ENABLED(CONFIG_KUNIT)
extern const struct rdma_nl_cbs nldev_commands[RDMA_NLDEV_NUM_OPS];
#endif

/* dev.c */
int nldev_get(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack);
int nldev_dump(struct sk_buff *skb, struct netlink_callback *cb);
int nldev_set(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack);
int nldev_get_chardev(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack);
int nldev_newdev(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack);
int nldev_deldev(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack);

/* port.c */
int nldev_port_get(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack);
int nldev_port_dump(struct sk_buff *skb, struct netlink_callback *cb);

/* res.c */
int nldev_res_get(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack);
int nldev_res_dump(struct sk_buff *skb, struct netlink_callback *cb);

/* res_list.c */

/**
 * struct nl_subject - the scope of a request for objects, and the sender's privilege
 * @admin: the sender may see keys
 * @port_num: the port of the request, 0 for none
 */
struct nl_subject {
	bool admin;
	u32 port_num;
};

int nldev_res_object_get(struct sk_buff *skb, struct nlmsghdr *nlh,
			 struct netlink_ext_ack *extack);
int nldev_res_object_dump(struct sk_buff *skb, struct netlink_callback *cb);
int nldev_stat_dump(struct sk_buff *skb, struct netlink_callback *cb);
int nl_get_mr_stat(struct nl_request *request);
int nl_get_counter(struct nl_request *request);

/* res_put.c */
int nl_put_pd(struct sk_buff *msg, struct rdma_restrack_entry *res,
	      const struct nl_subject *subject);
int nl_put_cq(struct sk_buff *msg, struct rdma_restrack_entry *res,
	      const struct nl_subject *subject);
int nl_put_qp(struct sk_buff *msg, struct rdma_restrack_entry *res,
	      const struct nl_subject *subject);
int nl_put_mr(struct sk_buff *msg, struct rdma_restrack_entry *res,
	      const struct nl_subject *subject);
int nl_put_ctx(struct sk_buff *msg, struct rdma_restrack_entry *res,
	       const struct nl_subject *subject);
int nl_put_srq(struct sk_buff *msg, struct rdma_restrack_entry *res,
	       const struct nl_subject *subject);
int nl_put_cm_id(struct sk_buff *msg, struct rdma_restrack_entry *res,
		 const struct nl_subject *subject);
int nl_put_owner(struct sk_buff *msg, const struct rdma_restrack_entry *res);
int nl_put_mr_stat(struct sk_buff *msg, struct rdma_restrack_entry *res,
		   const struct nl_subject *subject);
int nl_put_counter(struct sk_buff *msg, struct rdma_restrack_entry *res,
		   const struct nl_subject *subject);
int nl_put_cq_raw(struct sk_buff *msg, struct rdma_restrack_entry *res,
		  const struct nl_subject *subject);
int nl_put_qp_raw(struct sk_buff *msg, struct rdma_restrack_entry *res,
		  const struct nl_subject *subject);
int nl_put_mr_raw(struct sk_buff *msg, struct rdma_restrack_entry *res,
		  const struct nl_subject *subject);
int nl_put_srq_raw(struct sk_buff *msg, struct rdma_restrack_entry *res,
		   const struct nl_subject *subject);

/* stat.c */
int nldev_stat_get(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack);
int nldev_stat_get_status(struct sk_buff *skb, struct nlmsghdr *nlh,
			  struct netlink_ext_ack *extack);
int nldev_stat_set(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack);

/* stat_qp.c */
int nl_stat_set_mode(struct stat_request *request);
int nl_stat_put_binding(struct sk_buff *msg, const struct stat_request *request);
int nl_stat_get_qp(struct nl_request *nl, struct sk_buff *skb, struct nlmsghdr *nlh);
int nldev_stat_del(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack);

/* link.c */
int nldev_newlink(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack);
int nldev_dellink(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack);

/* notify.c */
extern struct notifier_block nldev_notifier;

/* sys.c */
int nldev_sys_get(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack);
int nldev_sys_set(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack);

#endif
