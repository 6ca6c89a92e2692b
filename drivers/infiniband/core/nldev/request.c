// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests and replies of the nldev client: the parts that all commands share.
 */
#include <kunit/static_stub.h>
#include <kunit/visibility.h>
#include <linux/err.h>
#include <linux/netdevice.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/socket.h>
#include <net/sock.h>
#include <rdma/ib_verbs.h>

#include "nldev_priv.h"

#define AS(_type, _name)	\
	[RDMA_NLDEV_ATTR_##_name] = { .type = NLA_##_type }
#define TEXT(_name, _most)	\
	[RDMA_NLDEV_ATTR_##_name] = { .type = NLA_NUL_STRING, .len = (_most) - 1 }
#define NAME(_name)		TEXT(_name, RDMA_NLDEV_ATTR_ENTRY_STRLEN)
/* A table, and an entry of it. */
#define TABLE(_name)		AS(NESTED, _name), AS(NESTED, _name##_ENTRY)

/*
 * Attributes that occur only in answers are checked in requests all the same, as Linux 6.12 does.
 */
static const struct nla_policy nldev_policy[RDMA_NLDEV_ATTR_MAX] = {
	AS(U32, DEV_INDEX),
	TEXT(DEV_NAME, IB_DEVICE_NAME_MAX),
	AS(U32, PORT_INDEX),
	TEXT(FW_VERSION, IB_FW_VERSION_NAME_MAX),
	AS(U64, NODE_GUID),
	AS(U64, SYS_IMAGE_GUID),
	AS(U64, SUBNET_PREFIX),
	AS(U32, LID),
	AS(U32, SM_LID),
	AS(U8, LMC),
	AS(U8, PORT_STATE),
	AS(U8, PORT_PHYS_STATE),
	AS(U8, DEV_NODE_TYPE),
	TABLE(RES_SUMMARY),
	NAME(RES_SUMMARY_ENTRY_NAME),
	AS(U64, RES_SUMMARY_ENTRY_CURR),
	TABLE(RES_QP),
	AS(U32, RES_LQPN),
	AS(U32, RES_RQPN),
	AS(U32, RES_RQ_PSN),
	AS(U32, RES_SQ_PSN),
	AS(U8, RES_PATH_MIG_STATE),
	AS(U8, RES_TYPE),
	AS(U8, RES_STATE),
	AS(U32, RES_PID),
	TEXT(RES_KERN_NAME, TASK_COMM_LEN),
	TABLE(RES_CM_ID),
	AS(U32, RES_PS),
	[RDMA_NLDEV_ATTR_RES_SRC_ADDR] = { .len = sizeof(struct __kernel_sockaddr_storage) },
	[RDMA_NLDEV_ATTR_RES_DST_ADDR] = { .len = sizeof(struct __kernel_sockaddr_storage) },
	TABLE(RES_CQ),
	AS(U32, RES_CQE),
	AS(U64, RES_USECNT),
	AS(U8, RES_POLL_CTX),
	TABLE(RES_MR),
	AS(U32, RES_RKEY),
	AS(U32, RES_LKEY),
	AS(U64, RES_IOVA),
	AS(U64, RES_MRLEN),
	TABLE(RES_PD),
	AS(U32, RES_LOCAL_DMA_LKEY),
	AS(U32, RES_UNSAFE_GLOBAL_RKEY),
	AS(U32, NDEV_INDEX),
	TEXT(NDEV_NAME, IFNAMSIZ),
	TABLE(DRIVER),
	NAME(DRIVER_STRING),
	AS(U8, DRIVER_PRINT_TYPE),
	AS(S32, DRIVER_S32),
	AS(U32, DRIVER_U32),
	AS(S64, DRIVER_S64),
	AS(U64, DRIVER_U64),
	AS(U32, RES_PDN),
	AS(U32, RES_CQN),
	AS(U32, RES_MRN),
	AS(U32, RES_CM_IDN),
	AS(U32, RES_CTXN),
	NAME(LINK_TYPE),
	[RDMA_NLDEV_SYS_ATTR_NETNS_MODE] = { .type = NLA_U8 },
	NAME(DEV_PROTOCOL),
	[RDMA_NLDEV_NET_NS_FD] = { .type = NLA_U32 },
	TEXT(CHARDEV_TYPE, RDMA_NLDEV_ATTR_CHARDEV_TYPE_SIZE),
	NAME(CHARDEV_NAME),
	AS(U64, CHARDEV_ABI),
	AS(U64, CHARDEV),
	AS(U32, UVERBS_DRIVER_ID),
	AS(U32, STAT_MODE),
	AS(U32, STAT_RES),
	AS(U32, STAT_AUTO_MODE_MASK),
	TABLE(STAT_COUNTER),
	AS(U32, STAT_COUNTER_ID),
	AS(NESTED, STAT_HWCOUNTERS),
	AS(NESTED, STAT_HWCOUNTER_ENTRY),
	NAME(STAT_HWCOUNTER_ENTRY_NAME),
	AS(U64, STAT_HWCOUNTER_ENTRY_VALUE),
	AS(U8, DEV_DIM),
	AS(BINARY, RES_RAW),
	TABLE(RES_CTX),
	TABLE(RES_SRQ),
	AS(U32, RES_SRQN),
	AS(U32, MIN_RANGE),
	AS(U32, MAX_RANGE),
	[RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK] = { .type = NLA_U8 },
	AS(U32, STAT_HWCOUNTER_INDEX),
	AS(U8, STAT_HWCOUNTER_DYNAMIC),
	[RDMA_NLDEV_SYS_ATTR_PRIVILEGED_QKEY_MODE] = { .type = NLA_U8 },
	AS(U8, DRIVER_DETAILS),
	NAME(RES_SUBTYPE),
	AS(U8, DEV_TYPE),
	NAME(PARENT_NAME),
	AS(U8, NAME_ASSIGN_TYPE),
	AS(U8, EVENT_TYPE),
	[RDMA_NLDEV_SYS_ATTR_MONITOR_MODE] = { .type = NLA_U8 },
};

/*
 * In requests that change something, every attribute must be known, and no bytes may be left over.
 */
static bool changes_something(unsigned int op)
{
	switch (op) {
	case RDMA_NLDEV_CMD_SET:
	case RDMA_NLDEV_CMD_NEWLINK:
	case RDMA_NLDEV_CMD_DELLINK:
	case RDMA_NLDEV_CMD_SYS_SET:
	case RDMA_NLDEV_CMD_STAT_SET:
	case RDMA_NLDEV_CMD_STAT_DEL:
	case RDMA_NLDEV_CMD_NEWDEV:
	case RDMA_NLDEV_CMD_DELDEV:
		return true;
	default:
		return false;
	}
}

/**
 * nl_request_parse() - parse a request
 * @request: filled in
 * @skb: the message
 * @nlh: its header
 * @extack: takes the reason of an error
 *
 * Requests that only read may have attributes that no policy describes, which may be meant for a
 * newer kernel.
 * Return: 0; -EINVAL for a malformed attribute, except that SYS_GET returns -ERANGE for a short
 * one.
 */
int nl_request_parse(struct nl_request *request, struct sk_buff *skb, const struct nlmsghdr *nlh,
		     struct netlink_ext_ack *extack)
{
	unsigned int op = RDMA_NL_GET_OP(nlh->nlmsg_type);
	int ret;

	request->skb = skb;
	request->nlh = nlh;
	request->extack = extack;
	ret = __nlmsg_parse(nlh, 0, request->tb, RDMA_NLDEV_ATTR_MAX - 1, nldev_policy,
			    changes_something(op) ? NL_VALIDATE_STRICT : NL_VALIDATE_LIBERAL,
			    extack);
	return ret && op != RDMA_NLDEV_CMD_SYS_GET ? -EINVAL : ret;
}

/**
 * nl_request_device() - get the device that a request names
 * @request: a parsed request
 *
 * Return: the device with a reference for ib_device_put(), or ERR_PTR(-EINVAL).
 */
struct ib_device *nl_request_device(struct nl_request *request)
{
	struct ib_device *device;
	u32 index;

	if (!request->tb[RDMA_NLDEV_ATTR_DEV_INDEX])
		return ERR_PTR(rdma_nl_refuse(request->extack, -EINVAL, "no device index"));
	index = nla_get_u32(request->tb[RDMA_NLDEV_ATTR_DEV_INDEX]);
	device = ib_device_get_by_index(sock_net(request->skb->sk), index);
	if (!device)
		return ERR_PTR(rdma_nl_refuse(request->extack, -EINVAL, "no device has index %u",
					 index));
	return device;
}

/**
 * nl_request_begin() - parse a request about a device, and find the device
 * @request: filled in
 * @skb: the message
 * @nlh: its header
 * @extack: takes the reason of an error
 *
 * Return: the device with a reference for ib_device_put(), or an error of nl_request_parse() or
 * nl_request_device().
 */
struct ib_device *nl_request_begin(struct nl_request *request, struct sk_buff *skb,
				   const struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	int ret = nl_request_parse(request, skb, nlh, extack);

	return ret ? ERR_PTR(ret) : nl_request_device(request);
}

/**
 * nl_request_port() - get the port that a request names
 * @request: a parsed request
 * @device: the device
 * @port_num: the port
 *
 * Return: 0 or -EINVAL.
 */
int nl_request_port(struct nl_request *request, struct ib_device *device, u32 *port_num)
{
	if (!request->tb[RDMA_NLDEV_ATTR_PORT_INDEX])
		return rdma_nl_refuse(request->extack, -EINVAL, "no port number");
	*port_num = nla_get_u32(request->tb[RDMA_NLDEV_ATTR_PORT_INDEX]);
	if (!rdma_is_port_valid(device, *port_num))
		return rdma_nl_refuse(request->extack, -EINVAL, "%s has no port %u", device->name,
				 *port_num);
	return 0;
}

/**
 * nl_reply_begin() - begin the reply to a request that is no dump
 * @request: the request
 * @reply: receives the reply's header, NULL without memory
 *
 * Return: the message, or NULL without memory.
 */
struct sk_buff *nl_reply_begin(struct nl_request *request, struct nlmsghdr **reply)
{
	struct sk_buff *msg;

	KUNIT_STATIC_STUB_REDIRECT(nl_reply_begin, request, reply);
	msg = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	*reply = !msg ? NULL :
		 nlmsg_put(msg, NETLINK_CB(request->skb).portid, request->nlh->nlmsg_seq,
			   request->nlh->nlmsg_type, 0, 0);
	if (!*reply) {
		nlmsg_free(msg);
		return NULL;
	}
	return msg;
}
EXPORT_SYMBOL_IF_KUNIT(nl_reply_begin);

/**
 * nl_reply_send() - send the reply to a request if it is complete
 * @request: the request
 * @msg: message of nl_reply_begin(); consumed; may be NULL if @err is not 0
 * @reply: its header
 * @err: 0, or the error for which the reply is not complete
 *
 * Return: 0 or a negative errno.
 */
int nl_reply_send(struct nl_request *request, struct sk_buff *msg, struct nlmsghdr *reply, int err)
{
	if (err) {
		nlmsg_free(msg);
		return err;
	}
	nlmsg_end(msg, reply);
	return rdma_nl_unicast(sock_net(request->skb->sk), msg, NETLINK_CB(request->skb).portid);
}

/**
 * nl_dump_begin() - begin a message of a dump
 * @skb: a part of the answer
 * @cb: state of the dump
 *
 * Return: the message's header, for nl_dump_end(); NULL if it does not fit.
 */
struct nlmsghdr *nl_dump_begin(struct sk_buff *skb, const struct netlink_callback *cb)
{
	return nlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, cb->nlh->nlmsg_type,
			 0, NLM_F_MULTI);
}

/**
 * nl_dump_end() - end a message of a dump, or remove it if it is not complete
 * @skb: the part of the answer
 * @message: the message's header
 * @err: 0, or the error for which the message is not complete
 *
 * Return: @err.
 */
int nl_dump_end(struct sk_buff *skb, struct nlmsghdr *message, int err)
{
	if (err)
		nlmsg_cancel(skb, message);
	else
		nlmsg_end(skb, message);
	return err;
}

/**
 * nl_put_name() - append the name of a device
 * @msg: the message
 * @attr: attribute type
 * @device: the device, which may be renamed meanwhile: either the old or the new name is appended
 *
 * Context: may sleep.
 * Return: 0 or -EMSGSIZE.
 */
int nl_put_name(struct sk_buff *msg, int attr, const struct ib_device *device)
{
	char name[IB_DEVICE_NAME_MAX];

	ib_registry_name(device, name);
	return nla_put_string(msg, attr, name);
}

/**
 * nl_put_device() - append the index and name of a device, with which replies begin
 * @msg: the message
 * @device: the device
 *
 * Return: 0 or -EMSGSIZE.
 */
int nl_put_device(struct sk_buff *msg, struct ib_device *device)
{
	if (nla_put_u32(msg, RDMA_NLDEV_ATTR_DEV_INDEX, device->index))
		return -EMSGSIZE;
	return nl_put_name(msg, RDMA_NLDEV_ATTR_DEV_NAME, device);
}

/**
 * nl_put_netdev() - append the net device of a port, if it has one in the reader's namespace
 * @msg: the message
 * @device: the device
 * @port_num: the port
 * @net: the reader's namespace
 *
 * Return: 0 or -EMSGSIZE.
 */
int nl_put_netdev(struct sk_buff *msg, struct ib_device *device, u32 port_num,
		  const struct net *net)
{
	struct net_device *netdev = ib_device_get_netdev(device, port_num);
	int ret = 0;

	if (netdev && net_eq(dev_net(netdev), net) &&
	    (nla_put_u32(msg, RDMA_NLDEV_ATTR_NDEV_INDEX, netdev->ifindex) ||
	     nla_put_string(msg, RDMA_NLDEV_ATTR_NDEV_NAME, netdev->name)))
		ret = -EMSGSIZE;
	dev_put(netdev);
	return ret;
}

/**
 * nl_put_u64() - append an aligned 64-bit attribute
 * @msg: the message
 * @attr: attribute type
 * @value: the value
 *
 * Return: 0 or -EMSGSIZE.
 */
int nl_put_u64(struct sk_buff *msg, int attr, u64 value)
{
	return nla_put_u64_64bit(msg, attr, value, RDMA_NLDEV_ATTR_PAD);
}

/* ---- requests about the counters of a port ---- */

/**
 * nl_stat_end() - end what nl_stat_begin() or nl_stat_with_port() began
 * @request: the request
 */
void nl_stat_end(struct stat_request *request)
{
	ib_device_put(request->device);
}

/**
 * nl_stat_begin() - find the device that a parsed request about counters names
 * @request: the request; device and port number are filled in
 *
 * Return: 0, for nl_stat_end(); -EINVAL for a device or port that is missing, or an unknown device.
 */
int nl_stat_begin(struct stat_request *request)
{
	struct nlattr **tb = request->nl.tb;

	if (!tb[RDMA_NLDEV_ATTR_DEV_INDEX] || !tb[RDMA_NLDEV_ATTR_PORT_INDEX])
		return rdma_nl_refuse(request->nl.extack, -EINVAL,
				      "device index and port number are both needed");
	request->device = nl_request_device(&request->nl);
	if (IS_ERR(request->device))
		return PTR_ERR(request->device);
	request->port_num = nla_get_u32(tb[RDMA_NLDEV_ATTR_PORT_INDEX]);
	return 0;
}

/**
 * nl_stat_with_port() - begin a request about a port of a device
 * @request: filled in
 * @skb: the request
 * @nlh: its header
 * @extack: takes the reason of an error
 *
 * Return: 0, for nl_stat_end(); -EINVAL for a device or port that is missing or unknown.
 */
int nl_stat_with_port(struct stat_request *request, struct sk_buff *skb, struct nlmsghdr *nlh,
		      struct netlink_ext_ack *extack)
{
	int ret = nl_request_parse(&request->nl, skb, nlh, extack) ?: nl_stat_begin(request);

	if (ret)
		return ret;
	ret = nl_request_port(&request->nl, request->device, &request->port_num);
	if (ret)
		nl_stat_end(request);
	return ret;
}

static int put_head(struct sk_buff *msg, const struct stat_request *request)
{
	if (nl_put_device(msg, request->device) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_PORT_INDEX, request->port_num))
		return -EMSGSIZE;
	return 0;
}

/**
 * nl_stat_reply() - answer a request about the counters of a port
 * @request: the request
 * @put: carries out the request, and appends the answer after device and port
 *
 * Return: 0 or a negative errno; -ENOMEM before @put is called.
 */
int nl_stat_reply(struct stat_request *request,
		  int (*put)(struct sk_buff *msg, struct stat_request *request))
{
	struct nlmsghdr *nlh;
	struct sk_buff *msg = nl_reply_begin(&request->nl, &nlh);
	int ret;

	if (!msg)
		return -ENOMEM;
	ret = put_head(msg, request) ?: put(msg, request);
	return nl_reply_send(&request->nl, msg, nlh, ret);
}

/**
 * nl_wants_details() - does a request ask for driver details?
 * @request: the request
 *
 * Return: true if it does.
 */
bool nl_wants_details(const struct nl_request *request)
{
	const struct nlattr *attr = request->tb[RDMA_NLDEV_ATTR_DRIVER_DETAILS];

	return attr && nla_get_u8(attr);
}

/**
 * nl_answer_device() - answer a request for one device
 * @request: the request
 * @device: the device; its reference is dropped
 * @put: appends the description
 *
 * Return: 0, -ENOMEM, or the error of @put or of sending.
 */
int nl_answer_device(struct nl_request *request, struct ib_device *device, nl_put_fn put)
{
	struct nlmsghdr *reply;
	struct sk_buff *msg = nl_reply_begin(request, &reply);
	int ret = msg ? put(msg, device) : -ENOMEM;

	ib_device_put(device);
	return nl_reply_send(request, msg, reply, ret);
}

/**
 * nl_dump_device() - append a device's message to a dump of all devices
 * @device: the device
 * @skb: a part of the answer
 * @cb: state of the dump: args[0] is the number of devices sent
 * @number: index of the device in the dump
 * @put: appends the description
 *
 * Return: 0; -EMSGSIZE if it does not fit, and is sent with the next part.
 */
int nl_dump_device(struct ib_device *device, struct sk_buff *skb, struct netlink_callback *cb,
		   unsigned int number, nl_put_fn put)
{
	struct nlmsghdr *reply;
	int ret;

	if (number < cb->args[0])
		return 0;
	reply = nl_dump_begin(skb, cb);
	if (!reply)
		return -EMSGSIZE;
	ret = put(skb, device);
	if (!nl_dump_end(skb, reply, ret))
		cb->args[0] = number + 1;
	return ret;
}
