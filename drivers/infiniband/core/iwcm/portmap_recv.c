// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Messages from the port mapper's daemon: answers, and messages of its own.
 *
 * netlink calls these functions as dumps: their return values end up in an NLMSG_DONE, which the
 * daemon skips.
 */
#include <linux/cleanup.h>
#include <linux/netlink.h>
#include <linux/string.h>

#include "iwcm.h"
#include "portmap.h"

/* Reads a message; the daemon's sequence number is echoed in the next request. */
static int take_message(const struct netlink_callback *cb, unsigned int op, struct iwpm_msg *msg)
{
	int ret = iwpm_msg_parse(cb->nlh, op, msg);

	if (!ret)
		WRITE_ONCE(iwpm_daemon.echo, cb->nlh->nlmsg_seq);
	return ret;
}

/* Called with the daemon's lock held. An answer to another operation matches no request. */
static struct iwpm_request *find_request(u32 seq, unsigned int op)
{
	struct iwpm_request *request;

	list_for_each_entry(request, &iwpm_daemon.requests, entry) {
		if (request->seq != seq || request->answered)
			continue;
		return op == RDMA_NL_IWPM_HANDLE_ERR || op == request->op ? request : NULL;
	}
	return NULL;
}

/* Called with the daemon's lock held: the request may disappear as soon as it is released. */
static void answer(struct iwpm_request *request, const struct iwpm_msg *msg, int err)
{
	if (msg)
		*request->answer = *msg;
	request->err = err;
	request->answered = true;
	complete(&request->done);
}

/**
 * iwpm_register_pid_cb() - handle the answer to registering with the daemon
 * @skb: not used
 * @cb: has the message
 *
 * Return: 0, or -EINVAL for a message that is malformed or one that no request waits for.
 */
int iwpm_register_pid_cb(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct iwpm_request *request;
	struct iwpm_msg msg;

	if (take_message(cb, RDMA_NL_IWPM_REG_PID, &msg))
		return -EINVAL;
	guard(spinlock)(&iwpm_daemon.lock);
	request = find_request(msg.seq, RDMA_NL_IWPM_REG_PID);
	if (!request)
		return -EINVAL;
	if (strcmp(msg.dev_name, request->question->dev_name) ||
	    strcmp(msg.library, IWPM_LIBRARY) || msg.version < IWPM_UABI_VERSION_MIN) {
		answer(request, NULL, IWPM_USER_LIB_INFO_ERR);
		return 0;
	}
	WRITE_ONCE(iwpm_daemon.portid, cb->nlh->nlmsg_pid);
	WRITE_ONCE(iwpm_daemon.absent, false);
	iwpm_daemon.version = min_t(u16, msg.version, IWPM_UABI_VERSION);
	WRITE_ONCE(iwpm_daemon.bond, IWPM_REGISTERED);
	answer(request, &msg, 0);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(iwpm_register_pid_cb);

static bool fits(const struct iwpm_msg *msg, const struct iwpm_msg *question, bool remote)
{
	if (!iwpm_same_address(&msg->local, &question->local) ||
	    msg->mapped_local.ss_family != msg->local.ss_family)
		return false;
	return !remote || (iwpm_same_address(&msg->remote, &question->remote) &&
			   msg->mapped_remote.ss_family == msg->remote.ss_family);
}

static int mapping_cb(struct netlink_callback *cb, unsigned int op)
{
	bool remote = op == RDMA_NL_IWPM_QUERY_MAPPING;
	struct iwpm_request *request;
	struct iwpm_msg msg;

	if (take_message(cb, op, &msg))
		return -EINVAL;
	guard(spinlock)(&iwpm_daemon.lock);
	request = find_request(msg.seq, op);
	if (!request)
		return -EINVAL;
	if (!fits(&msg, request->question, remote))
		answer(request, NULL, IWPM_USER_LIB_INFO_ERR);
	else
		answer(request, &msg, remote && msg.err == IWPM_REMOTE_QUERY_REJECT ? msg.err : 0);
	return 0;
}

/**
 * iwpm_add_mapping_cb() - handle the mapping of a local address
 * @skb: not used
 * @cb: has the message
 *
 * Return: 0, or -EINVAL for a message that is malformed or one that no request waits for.
 */
int iwpm_add_mapping_cb(struct sk_buff *skb, struct netlink_callback *cb)
{
	return mapping_cb(cb, RDMA_NL_IWPM_ADD_MAPPING);
}
EXPORT_SYMBOL_IF_KUNIT(iwpm_add_mapping_cb);

/**
 * iwpm_add_and_query_mapping_cb() - handle the mappings of a local and a peer's address
 * @skb: not used
 * @cb: has the message
 *
 * Return: 0, or -EINVAL for a message that is malformed or one that no request waits for.
 */
int iwpm_add_and_query_mapping_cb(struct sk_buff *skb, struct netlink_callback *cb)
{
	return mapping_cb(cb, RDMA_NL_IWPM_QUERY_MAPPING);
}
EXPORT_SYMBOL_IF_KUNIT(iwpm_add_and_query_mapping_cb);

/**
 * iwpm_remote_info_cb() - handle the address from which a peer will connect
 * @skb: not used
 * @cb: has the message
 *
 * Return: 0, -EINVAL for a malformed message, -ENOMEM.
 */
int iwpm_remote_info_cb(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct iwpm_msg msg;

	if (take_message(cb, RDMA_NL_IWPM_REMOTE_INFO, &msg) ||
	    msg.mapped_local.ss_family != msg.local.ss_family ||
	    msg.mapped_remote.ss_family != msg.remote.ss_family)
		return -EINVAL;
	return iwpm_remember_peer(&msg);
}
EXPORT_SYMBOL_IF_KUNIT(iwpm_remote_info_cb);

/**
 * iwpm_mapping_error_cb() - handle the daemon's refusal of a request
 * @skb: not used
 * @cb: has the message
 *
 * Return: 0, also if no request waits for it, or -EINVAL for a malformed message.
 */
int iwpm_mapping_error_cb(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct iwpm_request *request;
	struct iwpm_msg msg;

	if (take_message(cb, RDMA_NL_IWPM_HANDLE_ERR, &msg))
		return -EINVAL;
	guard(spinlock)(&iwpm_daemon.lock);
	request = find_request(msg.seq, RDMA_NL_IWPM_HANDLE_ERR);
	if (request)
		answer(request, NULL, msg.err);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(iwpm_mapping_error_cb);

/* A new daemon may not know the registrations of its predecessor. */
static void heard_anew(const struct netlink_callback *cb)
{
	WRITE_ONCE(iwpm_daemon.bond, IWPM_HEARD);
	WRITE_ONCE(iwpm_daemon.absent, false);
	WRITE_ONCE(iwpm_daemon.portid, cb->nlh->nlmsg_pid);
}

/**
 * iwpm_mapping_info_cb() - handle a new daemon's request for the mappings in use
 * @skb: not used
 * @cb: has the message
 *
 * Return: 0; -EINVAL for a malformed message or one of a daemon that is too old; -ENOMEM, or the
 * socket's error, if they could not be sent.
 */
int iwpm_mapping_info_cb(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct iwpm_msg msg;
	u16 version;

	if (iwpm_msg_parse(cb->nlh, RDMA_NL_IWPM_MAPINFO, &msg) ||
	    strcmp(msg.library, IWPM_LIBRARY) || msg.version < IWPM_UABI_VERSION_MIN)
		return -EINVAL;
	scoped_guard(spinlock, &iwpm_daemon.lock) {
		WRITE_ONCE(iwpm_daemon.echo, cb->nlh->nlmsg_seq);
		heard_anew(cb);
		version = iwpm_daemon.version;
	}
	return iwpm_send_mappings(cb->nlh->nlmsg_pid, version);
}
EXPORT_SYMBOL_IF_KUNIT(iwpm_mapping_info_cb);

/**
 * iwpm_ack_mapping_info_cb() - handle the daemon's confirmation of the mappings in use
 * @skb: not used
 * @cb: has the message, with the number of accepted mappings
 *
 * Return: 0, or -EINVAL for a malformed message.
 */
int iwpm_ack_mapping_info_cb(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct iwpm_msg msg;

	return take_message(cb, RDMA_NL_IWPM_MAPINFO_NUM, &msg);
}
EXPORT_SYMBOL_IF_KUNIT(iwpm_ack_mapping_info_cb);

static int send_hello(u32 portid, u16 version)
{
	struct iwpm_msg msg = { .version = version };
	struct sk_buff *skb = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);

	if (!skb)
		return -ENOMEM;
	iwpm_msg_put(skb, RDMA_NL_IWPM_HELLO, iwpm_next_seq(), NLM_F_REQUEST, &msg, version);
	return iwpm_transmit(skb, IWPM_AT_ONCE, portid);
}

/**
 * iwpm_hello_cb() - handle the first message of a daemon
 * @skb: not used
 * @cb: has the message, with the version that the daemon supports
 *
 * From now on both sides use the lower version.
 *
 * Return: 0; -EINVAL for a malformed message or one of a daemon that is too old; -ENOMEM, or the
 * socket's error, if no answer could be sent.
 */
int iwpm_hello_cb(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct iwpm_msg msg;
	u16 version;

	if (take_message(cb, RDMA_NL_IWPM_HELLO, &msg) || msg.version < IWPM_UABI_VERSION_MIN)
		return -EINVAL;
	version = min_t(u16, msg.version, IWPM_UABI_VERSION);
	scoped_guard(spinlock, &iwpm_daemon.lock) {
		heard_anew(cb);
		iwpm_daemon.version = version;
	}
	return send_hello(cb->nlh->nlmsg_pid, version);
}
EXPORT_SYMBOL_IF_KUNIT(iwpm_hello_cb);
