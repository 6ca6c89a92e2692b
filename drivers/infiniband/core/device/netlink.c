// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The RDMA netlink socket: which client serves a message, and how messages are sent.
 *
 * A message type names a client and one of its operations. Clients register a table; a client that
 * is missing is loaded by its alias rdma-netlink-subsys-N.
 */
#include <linux/capability.h>
#include <linux/cleanup.h>
#include <linux/kmod.h>
#include <linux/module.h>
#include <net/netlink.h>
#include <net/netns/generic.h>
#include <net/sock.h>
#include <rdma/rdma_netlink.h>

#include "device.h"

/* Sending to user space blocks at most this long. */
#define SEND_TIMEOUT (10 * HZ)

/* Operations each client may have; 0 for numbers that belong to no client. */
static const unsigned int max_ops[RDMA_NL_NUM_CLIENTS] = {
	[RDMA_NL_IWCM] = RDMA_NL_IWPM_NUM_OPS,
	[RDMA_NL_LS] = RDMA_NL_LS_NUM_OPS,
	[RDMA_NL_NLDEV] = RDMA_NLDEV_NUM_OPS,
};

static struct nl_client {
	/* Held for reading while an operation runs, so that the client's module stays. */
	struct rw_semaphore busy;
	const struct rdma_nl_cbs *ops;
} nl_clients[RDMA_NL_NUM_CLIENTS];

/* The kernel's end of the socket in a network namespace. */
struct nl_net {
	struct sock *sock;
};

static unsigned int nl_net_id;

static struct nl_net *nl_net_of(const struct net *net)
{
	return net_generic(net, nl_net_id);
}

static struct sock *socket_of(const struct net *net)
{
	return nl_net_of(net)->sock;
}

/* The caller holds client->busy for reading; it is released while the client's module is loaded. */
static const struct rdma_nl_cbs *find_op(struct nl_client *client, unsigned int op)
{
	if (!client->ops) {
		up_read(&client->busy);
		request_module("rdma-netlink-subsys-%d", (int)(client - nl_clients));
		down_read(&client->busy);
	}
	return client->ops ? &client->ops[op] : NULL;
}

/* The reason of a refusal inside doit() becomes part of the answer. */
static int run_doit(const struct rdma_nl_cbs *cbs, struct sk_buff *skb, struct nlmsghdr *nlh,
		    struct netlink_ext_ack *extack)
{
	struct rdma_reject_scope scope;
	int ret;

	if (!cbs->doit)
		return rdma_nl_refuse(extack, -EINVAL, "this is only given as a list");
	rdma_reject_enter(NULL, &scope);
	scope.extack = extack;
	ret = cbs->doit(skb, nlh, extack);
	rdma_reject_leave(&scope);
	return ret;
}

/* A dump also goes on, or begins, when its receiver reads: the client may have gone by then. */
static int run_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nl_client *client = &nl_clients[RDMA_NL_GET_CLIENT(cb->nlh->nlmsg_type)];
	const struct rdma_nl_cbs *cbs = cb->data;

	guard(rwsem_read)(&client->busy);
	if (!client->ops || cbs != &client->ops[RDMA_NL_GET_OP(cb->nlh->nlmsg_type)])
		return -EINVAL;
	return cbs->dump(skb, cb);
}

static bool asks_for_dump(unsigned int number, const struct nlmsghdr *nlh)
{
	/* The iWARP port mapper's messages are dumps whatever their flags say. */
	if (number == RDMA_NL_IWCM)
		return true;
	/* Local service answers carry flags of their own where a request has NLM_F_DUMP. */
	return number != RDMA_NL_LS && (nlh->nlmsg_flags & NLM_F_DUMP);
}

static int receive_message(struct sk_buff *skb, struct nlmsghdr *nlh,
			   struct netlink_ext_ack *extack)
{
	unsigned int number = RDMA_NL_GET_CLIENT(nlh->nlmsg_type);
	unsigned int op = RDMA_NL_GET_OP(nlh->nlmsg_type);
	struct netlink_dump_control control = { .dump = run_dump };
	const struct rdma_nl_cbs *cbs;

	if (number >= RDMA_NL_NUM_CLIENTS || op >= max_ops[number])
		return -EINVAL;
	/* The other clients do not support namespaces. */
	if (number != RDMA_NL_NLDEV && sock_net(skb->sk) != &init_net)
		return -EINVAL;

	scoped_guard(rwsem_read, &nl_clients[number].busy) {
		cbs = find_op(&nl_clients[number], op);
		if (!cbs || (!cbs->doit && !cbs->dump))
			return rdma_nl_refuse(extack, -EINVAL,
					      "netlink client %u has no operation %u", number, op);
		if ((cbs->flags & RDMA_NL_ADMIN_PERM) && !netlink_capable(skb, CAP_NET_ADMIN))
			return rdma_nl_refuse(extack, -EPERM, "this needs CAP_NET_ADMIN");
		if (!asks_for_dump(number, nlh))
			return run_doit(cbs, skb, nlh, extack);
		if (!cbs->dump)
			return rdma_nl_refuse(extack, -EINVAL, "there is no list of this");
	}
	control.data = (void *)cbs;
	return netlink_dump_start(skb->sk, skb, nlh, &control);
}

/* User space answers the kernel's requests to local services: these messages are no requests. */
static bool is_for_us(const struct nlmsghdr *nlh)
{
	return nlh->nlmsg_type >= NLMSG_MIN_TYPE &&
	       ((nlh->nlmsg_flags & NLM_F_REQUEST) ||
		RDMA_NL_GET_CLIENT(nlh->nlmsg_type) == RDMA_NL_LS);
}

static void receive(struct sk_buff *skb)
{
	while (skb->len >= nlmsg_total_size(0)) {
		struct nlmsghdr *nlh = nlmsg_hdr(skb);
		struct netlink_ext_ack extack = {};
		int ret = 0;

		if (!nlmsg_ok(nlh, skb->len))
			return;
		if (is_for_us(nlh))
			ret = receive_message(skb, nlh, &extack);
		/* A dump that has begun acknowledges itself. */
		if (ret != -EINTR && (ret || (nlh->nlmsg_flags & NLM_F_ACK)))
			netlink_ack(skb, nlh, ret, &extack);
		skb_pull(skb, min_t(unsigned int, skb->len, NLMSG_ALIGN(nlh->nlmsg_len)));
	}
}

/**
 * rdma_nl_register() - serve the messages of a netlink client
 * @index: number of the client, RDMA_NL_LS for example
 * @cb_table: operations by number, as many as the client has
 *
 * Context: may sleep.
 */
void rdma_nl_register(unsigned int index, const struct rdma_nl_cbs cb_table[])
{
	if (WARN_ON(index >= RDMA_NL_NUM_CLIENTS || !max_ops[index] || nl_clients[index].ops))
		return;
	guard(rwsem_write)(&nl_clients[index].busy);
	nl_clients[index].ops = cb_table;
}
EXPORT_SYMBOL(rdma_nl_register);

/**
 * rdma_nl_unregister() - stop serving a client's messages
 * @index: number of the client, RDMA_NL_LS for example
 *
 * Waits for running operations. Context: may sleep.
 */
void rdma_nl_unregister(unsigned int index)
{
	if (WARN_ON(index >= RDMA_NL_NUM_CLIENTS))
		return;
	guard(rwsem_write)(&nl_clients[index].busy);
	nl_clients[index].ops = NULL;
}
EXPORT_SYMBOL(rdma_nl_unregister);

/**
 * ibnl_put_msg() - begin a message
 * @skb: buffer
 * @nlh: the new header
 * @seq: sequence number
 * @len: bytes of payload besides attributes
 * @client: number of the client, RDMA_NL_LS for example
 * @op: its operation
 * @flags: flags, NLM_F_MULTI for example
 *
 * Return: the payload, or NULL if @skb has no room.
 */
void *ibnl_put_msg(struct sk_buff *skb, struct nlmsghdr **nlh, int seq, int len, int client, int op,
		   int flags)
{
	*nlh = nlmsg_put(skb, 0, seq, RDMA_NL_GET_TYPE(client, op), len, flags);
	return *nlh ? nlmsg_data(*nlh) : NULL;
}
EXPORT_SYMBOL(ibnl_put_msg);

/**
 * ibnl_put_attr() - append an attribute to a message
 * @skb: the message
 * @nlh: its header
 * @len: bytes of @data
 * @data: value
 * @type: attribute type
 *
 * Return: 0, or -EMSGSIZE with the whole message removed.
 */
int ibnl_put_attr(struct sk_buff *skb, struct nlmsghdr *nlh, int len, void *data, int type)
{
	if (!nla_put(skb, type, len, data))
		return 0;
	nlmsg_cancel(skb, nlh);
	return -EMSGSIZE;
}
EXPORT_SYMBOL(ibnl_put_attr);

/*
 * Port 0 is the kernel's own socket, on which a message would be handled as if it were a request.
 */
static int send_to(struct net *net, struct sk_buff *skb, u32 pid, int flags)
{
	if (!pid) {
		kfree_skb(skb);
		return -ECONNREFUSED;
	}
	return min(netlink_unicast(socket_of(net), skb, pid, flags), 0);
}

/**
 * rdma_nl_unicast() - send a message without waiting
 * @net: namespace of the receiver
 * @skb: the message; consumed
 * @pid: the receiver's port
 *
 * Context: any.
 * Return: 0 or a negative errno, -EAGAIN if the receiver's queue is full, -ECONNREFUSED if no
 * socket has that port, as is so for 0.
 */
int rdma_nl_unicast(struct net *net, struct sk_buff *skb, u32 pid)
{
	return send_to(net, skb, pid, MSG_DONTWAIT);
}
EXPORT_SYMBOL(rdma_nl_unicast);

/**
 * rdma_nl_unicast_wait() - send a message, waiting for room
 * @net: namespace of the receiver
 * @skb: the message; consumed
 * @pid: the receiver's port
 *
 * Context: may sleep.
 * Return: 0 or a negative errno, -ECONNREFUSED if no socket has that port, as is so for 0.
 */
int rdma_nl_unicast_wait(struct net *net, struct sk_buff *skb, __u32 pid)
{
	return send_to(net, skb, pid, 0);
}
EXPORT_SYMBOL(rdma_nl_unicast_wait);

/**
 * rdma_nl_multicast() - send a message to a group
 * @net: namespace of the receivers
 * @skb: the message; consumed
 * @group: number of the group, RDMA_NL_GROUP_LS for example
 * @flags: allocation flags
 *
 * Return: 0 or a negative errno, -ESRCH without listeners.
 */
int rdma_nl_multicast(struct net *net, struct sk_buff *skb, unsigned int group, gfp_t flags)
{
	return nlmsg_multicast(socket_of(net), skb, 0, group, flags);
}
EXPORT_SYMBOL(rdma_nl_multicast);

/**
 * rdma_nl_chk_listeners() - does a group have listeners?
 * @group: number of the group, RDMA_NL_GROUP_LS for example
 *
 * Return: whether there are listeners in the initial namespace.
 */
bool rdma_nl_chk_listeners(unsigned int group)
{
	return netlink_has_listeners(socket_of(&init_net), group);
}
EXPORT_SYMBOL(rdma_nl_chk_listeners);

static bool privileged_qkey;

/**
 * rdma_nl_get_privileged_qkey() - may this process set a Q_Key with the top bit?
 *
 * Return: true if it has CAP_NET_RAW or "rdma system set privileged-qkey on" was given.
 */
bool rdma_nl_get_privileged_qkey(void)
{
	return READ_ONCE(privileged_qkey) || capable(CAP_NET_RAW);
}
EXPORT_SYMBOL(rdma_nl_get_privileged_qkey);

/* Returns true if "rdma system set privileged-qkey on" was given. */
bool rdma_nl_privileged_qkey_is_set(void)
{
	return READ_ONCE(privileged_qkey);
}

void rdma_nl_set_privileged_qkey(bool allowed)
{
	WRITE_ONCE(privileged_qkey, allowed);
}

static int __net_init open_socket(struct net *net)
{
	struct netlink_kernel_cfg config = {
		.input = receive,
		.flags = NL_CFG_F_NONROOT_RECV,
	};
	struct sock *sock = netlink_kernel_create(net, NETLINK_RDMA, &config);

	if (!sock)
		return -ENOMEM;
	sock->sk_sndtimeo = SEND_TIMEOUT;
	nl_net_of(net)->sock = sock;
	return 0;
}

static void __net_exit close_socket(struct net *net)
{
	netlink_kernel_release(nl_net_of(net)->sock);
}

static struct pernet_operations socket_ops = {
	.init = open_socket,
	.exit = close_socket,
	.id = &nl_net_id,
	.size = sizeof(struct nl_net),
};

/**
 * rdma_nl_init() - open the kernel's end of the socket in every network namespace
 *
 * Return: 0 or -ENOMEM.
 */
int rdma_nl_init(void)
{
	for (unsigned int number = 0; number < ARRAY_SIZE(nl_clients); number++)
		init_rwsem(&nl_clients[number].busy);
	return register_pernet_device(&socket_ops);
}

/**
 * rdma_nl_exit() - end what rdma_nl_init() began
 */
void rdma_nl_exit(void)
{
	unregister_pernet_device(&socket_ops);
	for (unsigned int number = 0; number < ARRAY_SIZE(nl_clients); number++)
		WARN(nl_clients[number].ops, "RDMA netlink client %u is left\n", number);
}

MODULE_ALIAS_NET_PF_PROTO(PF_NETLINK, NETLINK_RDMA);
