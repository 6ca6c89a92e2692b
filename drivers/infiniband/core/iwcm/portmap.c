// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests to the port mapper.
 *
 * A request waits for its answer, which portmap_recv.c receives. A new daemon sends a hello; once a
 * request has found no listener, none is sent until then.
 */
#include <linux/cleanup.h>
#include <linux/string.h>

#include "iwcm.h"
#include "portmap.h"

#define PATIENCE	(10 * HZ)

struct iwpm_daemon iwpm_daemon = {
	.lock = __SPIN_LOCK_UNLOCKED(iwpm_daemon.lock),
	.version = IWPM_UABI_VERSION_MIN,
	.requests = LIST_HEAD_INIT(iwpm_daemon.requests),
	.patience = PATIENCE,
};
EXPORT_SYMBOL_IF_KUNIT(iwpm_daemon);

/**
 * iwpm_init() - initialise the client of the port mapper
 * @nl_client: RDMA_NL_IWCM
 *
 * Return: 0, or -EINVAL for another client.
 */
int iwpm_init(u8 nl_client)
{
	return nl_client == RDMA_NL_IWCM ? 0 : -EINVAL;
}

/**
 * iwpm_exit() - free all mappings and reset what is known of the daemon
 * @nl_client: RDMA_NL_IWCM
 *
 * Context: may sleep.
 * Return: 0, or -EINVAL for another client.
 */
int iwpm_exit(u8 nl_client)
{
	if (nl_client != RDMA_NL_IWCM)
		return -EINVAL;
	iwpm_forget_all();
	guard(spinlock)(&iwpm_daemon.lock);
	WRITE_ONCE(iwpm_daemon.bond, IWPM_STRANGERS);
	WRITE_ONCE(iwpm_daemon.absent, false);
	WRITE_ONCE(iwpm_daemon.portid, 0);
	iwpm_daemon.version = IWPM_UABI_VERSION_MIN;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(iwpm_exit);

/**
 * iwpm_valid_pid() - is a daemon running?
 *
 * Return: not 0 if it has sent a message, and no message to it has failed since.
 */
int iwpm_valid_pid(void)
{
	return READ_ONCE(iwpm_daemon.portid) != 0;
}
EXPORT_SYMBOL_IF_KUNIT(iwpm_valid_pid);

static enum iwpm_bond bond(void)
{
	return READ_ONCE(iwpm_daemon.bond);
}

static u16 version(void)
{
	return READ_ONCE(iwpm_daemon.version);
}

static u32 last_heard(void)
{
	return READ_ONCE(iwpm_daemon.echo);
}

static struct sk_buff *make_message(unsigned int op, u32 seq, const struct iwpm_msg *msg)
{
	struct sk_buff *skb = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);

	/* A message of every operation fits. */
	if (skb)
		WARN_ON_ONCE(iwpm_msg_put(skb, op, seq, NLM_F_REQUEST, msg, version()));
	return skb;
}

static void request_begin(struct iwpm_request *request)
{
	init_completion(&request->done);
	request->seq = iwpm_next_seq();
	guard(spinlock)(&iwpm_daemon.lock);
	list_add_tail(&request->entry, &iwpm_daemon.requests);
}

/* Removes the request: no answer reaches it any more. */
static int request_end(struct iwpm_request *request)
{
	guard(spinlock)(&iwpm_daemon.lock);
	list_del(&request->entry);
	return request->answered ? request->err : -ETIMEDOUT;
}

/*
 * Sends a request and waits for its answer. Returns 0, an IWPM_ error of the daemon, -ETIMEDOUT,
 * -ENOMEM, or the socket's error, for which *sent is false.
 */
static int ask(unsigned int op, struct iwpm_msg *question, struct iwpm_msg *answer, bool *sent)
{
	struct iwpm_request request = { .op = op, .question = question, .answer = answer };
	enum iwpm_road road = op == RDMA_NL_IWPM_REG_PID ? IWPM_TO_ALL : IWPM_PATIENT;
	struct sk_buff *skb;
	int ret;

	*sent = true;
	question->seq = last_heard();
	request_begin(&request);
	skb = make_message(op, request.seq, question);
	if (!skb) {
		request_end(&request);
		return -ENOMEM;
	}
	ret = iwpm_transmit(skb, road, READ_ONCE(iwpm_daemon.portid));
	if (ret) {
		*sent = false;
		request_end(&request);
		return ret;
	}
	wait_for_completion_timeout(&request.done, READ_ONCE(iwpm_daemon.patience));
	return request_end(&request);
}

/* The daemon's netlink port has no receiver any more. */
static void daemon_gone(void)
{
	guard(spinlock)(&iwpm_daemon.lock);
	WRITE_ONCE(iwpm_daemon.portid, 0);
}

/**
 * iwpm_register_pid() - register a device with the daemon
 * @pm_msg: names of the device and its network interface
 * @nl_client: RDMA_NL_IWCM
 *
 * Does nothing if this host is registered already, or if there was no daemon and none has been
 * heard of since.
 *
 * Context: may sleep, at most 10 s.
 * Return: 0; -ESRCH without a listener, -ETIMEDOUT without an answer, -ENOMEM, -EINVAL for another
 * client; an IWPM_ error of the daemon.
 */
int iwpm_register_pid(struct iwpm_dev_data *pm_msg, u8 nl_client)
{
	struct iwpm_msg question = { .library = IWPM_LIBRARY }, answer;
	bool sent;
	int ret;

	if (nl_client != RDMA_NL_IWCM)
		return -EINVAL;
	if (bond() == IWPM_REGISTERED || READ_ONCE(iwpm_daemon.absent))
		return 0;
	strscpy(question.if_name, pm_msg->if_name);
	strscpy(question.dev_name, pm_msg->dev_name);
	ret = ask(RDMA_NL_IWPM_REG_PID, &question, &answer, &sent);
	if (!sent) {
		guard(spinlock)(&iwpm_daemon.lock);
		WRITE_ONCE(iwpm_daemon.absent, true);
		WRITE_ONCE(iwpm_daemon.portid, 0);
	}
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(iwpm_register_pid);

static int ask_mapping(unsigned int op, struct iwpm_sa_data *pm_msg, u8 nl_client)
{
	struct iwpm_msg question = {
		.local = pm_msg->loc_addr,
		.remote = pm_msg->rem_addr,
		.flags = pm_msg->flags,
	}, answer = {};
	bool sent;
	int ret;

	if (!iwpm_valid_pid())
		return 0;
	if (nl_client != RDMA_NL_IWCM || bond() != IWPM_REGISTERED)
		return -EINVAL;
	/* Messages of the first version have no field for flags. */
	if (pm_msg->flags && version() == IWPM_UABI_VERSION_MIN)
		return -EINVAL;
	ret = ask(op, &question, &answer, &sent);
	if (!sent)
		daemon_gone();
	/* A peer without a port mapper is reached at the address that the consumer gave. */
	if (ret && ret != IWPM_REMOTE_QUERY_REJECT)
		return ret;
	pm_msg->mapped_loc_addr = answer.mapped_local;
	if (op == RDMA_NL_IWPM_QUERY_MAPPING)
		pm_msg->mapped_rem_addr = answer.mapped_remote;
	return ret;
}

/**
 * iwpm_add_mapping() - have a local address mapped
 * @pm_msg: loc_addr and flags; gets mapped_loc_addr
 * @nl_client: RDMA_NL_IWCM
 *
 * Does nothing, and leaves @pm_msg as it is, if there is no daemon.
 *
 * Context: may sleep, at most 10 s.
 * Return: 0; -EINVAL if this host is not registered, or if the daemon does not know the flags of
 * @pm_msg; -ETIMEDOUT; -ENOMEM; the socket's error; an IWPM_ error of the daemon.
 */
int iwpm_add_mapping(struct iwpm_sa_data *pm_msg, u8 nl_client)
{
	return ask_mapping(RDMA_NL_IWPM_ADD_MAPPING, pm_msg, nl_client);
}
EXPORT_SYMBOL_IF_KUNIT(iwpm_add_mapping);

/**
 * iwpm_add_and_query_mapping() - have a local address mapped, and ask for the peer's
 * @pm_msg: loc_addr, rem_addr and flags; gets mapped_loc_addr and mapped_rem_addr
 * @nl_client: RDMA_NL_IWCM
 *
 * Context: may sleep, at most 10 s.
 * Return: as iwpm_add_mapping(); IWPM_REMOTE_QUERY_REJECT if the peer's port mapper does not know
 * its address.
 */
int iwpm_add_and_query_mapping(struct iwpm_sa_data *pm_msg, u8 nl_client)
{
	return ask_mapping(RDMA_NL_IWPM_QUERY_MAPPING, pm_msg, nl_client);
}
EXPORT_SYMBOL_IF_KUNIT(iwpm_add_and_query_mapping);

/**
 * iwpm_remove_mapping() - remove a mapping
 * @local_addr: address that was mapped
 * @nl_client: RDMA_NL_IWCM
 *
 * There is no answer.
 *
 * Context: may sleep.
 * Return: 0, also without a daemon; -EINVAL if it has never been heard of, -ENOMEM, the socket's
 * error.
 */
int iwpm_remove_mapping(struct sockaddr_storage *local_addr, u8 nl_client)
{
	struct iwpm_msg msg = { .local = *local_addr };
	struct sk_buff *skb;
	int ret;

	if (!iwpm_valid_pid())
		return 0;
	if (nl_client != RDMA_NL_IWCM || bond() == IWPM_STRANGERS)
		return -EINVAL;
	msg.seq = last_heard();
	skb = make_message(RDMA_NL_IWPM_REMOVE_MAPPING, iwpm_next_seq(), &msg);
	if (!skb)
		return -ENOMEM;
	ret = iwpm_transmit(skb, IWPM_PATIENT, READ_ONCE(iwpm_daemon.portid));
	if (ret)
		daemon_gone();
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(iwpm_remove_mapping);
