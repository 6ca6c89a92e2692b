// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The local service: a program, such as ibacm, that keeps paths, so that the subnet manager need
 * not be asked.
 *
 * If a program listens to the netlink group RDMA_NL_GROUP_LS, a path query first sends a request to
 * this group. The response has the same sequence number. If the program refuses, or does not
 * respond within the time-out (see SET_TIMEOUT), the query is sent to the subnet manager.
 *
 * A query waits for the local service as long as its struct sa_ask is in the list. Whoever removes
 * it from the list continues the query.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/slab.h>
#include <net/netlink.h>
#include <net/sock.h>
#include <rdma/rdma_netlink.h>
#include <uapi/rdma/ib_user_sa.h>

#include "../addr/addr.h"
#include "sa_priv.h"

/* Time-outs for the local service, in milliseconds */
#define TIMEOUT_MIN 100
#define TIMEOUT_DEFAULT 2000
#define TIMEOUT_MAX 200000

/* Further paths of a response are ignored. */
#define MAX_PATHS 3

/**
 * struct sa_ask - a request to the local service
 * @entry: in the list
 * @query: the query that waits for the response
 * @seq: sequence number of the request
 * @path_use: LS_RESOLVE_PATH_USE_*
 * @found: called with the paths of a response
 * @since: time of the request, in jiffies
 * @cancelled: the query has been cancelled: the request expires at once
 */
struct sa_ask {
	struct list_head entry;
	struct ib_sa_query *query;
	u32 seq;
	u8 path_use;
	void (*found)(struct ib_sa_query *query, struct sa_path_rec *recs, unsigned int count);
	unsigned long since;
	bool cancelled;
};

/* Protects all that follows, and ib_sa_query.ask; taken from any context. */
static DEFINE_SPINLOCK(lock);
/* Requests without a response, in the order in which they expire */
static LIST_HEAD(asks);
/* Sequence number of the last request */
VISIBLE_IF_KUNIT u32 sa_last_question;
EXPORT_SYMBOL_IF_KUNIT(sa_last_question);
static unsigned int timeout_ms = TIMEOUT_DEFAULT;

static void give_up(struct work_struct *work);
static DECLARE_DELAYED_WORK(give_up_work, give_up);

static void take_out(struct sa_ask *ask)
{
	list_del(&ask->entry);
	ask->query->ask = NULL;
}

static unsigned long expires(const struct sa_ask *ask)
{
	return ask->cancelled ? ask->since : ask->since + msecs_to_jiffies(timeout_ms);
}

static void plan_work(void)
{
	struct sa_ask *first = list_first_entry_or_null(&asks, struct sa_ask, entry);
	unsigned long now = jiffies, at;

	if (!first)
		return;
	at = expires(first);
	mod_delayed_work(ib_wq, &give_up_work, time_after(at, now) ? at - now : 0);
}

/* The time spent on the local service is not taken off the query's time for the subnet manager. */
static void ask_manager(struct sa_ask *ask)
{
	struct ib_sa_query *query = ask->query;

	query->deadline += jiffies - ask->since;
	kfree(ask);
	sa_query_resume(query);
}

static void give_up(struct work_struct *work)
{
	struct sa_ask *ask, *next;
	LIST_HEAD(late);

	scoped_guard(spinlock_irqsave, &lock) {
		list_for_each_entry_safe(ask, next, &asks, entry) {
			if (time_after(expires(ask), jiffies))
				break;
			take_out(ask);
			list_add_tail(&ask->entry, &late);
		}
		plan_work();
	}
	list_for_each_entry_safe(ask, next, &late, entry)
		ask_manager(ask);
}

/* ---- the request ---- */

static int put_wanted(struct sk_buff *skb, const struct sa_path_rec *rec, ib_sa_comp_mask mask)
{
	int ret = 0;

	if (mask & IB_SA_PATH_REC_SERVICE_ID) {
		u64 id = be64_to_cpu(rec->service_id);

		ret |= nla_put(skb, LS_NLA_TYPE_SERVICE_ID | RDMA_NLA_F_MANDATORY, sizeof(id),
			       &id);
	}
	if (mask & IB_SA_PATH_REC_DGID)
		ret |= nla_put(skb, LS_NLA_TYPE_DGID | RDMA_NLA_F_MANDATORY, sizeof(rec->dgid),
			       &rec->dgid);
	if (mask & IB_SA_PATH_REC_SGID)
		ret |= nla_put(skb, LS_NLA_TYPE_SGID | RDMA_NLA_F_MANDATORY, sizeof(rec->sgid),
			       &rec->sgid);
	if (mask & IB_SA_PATH_REC_TRAFFIC_CLASS)
		ret |= nla_put_u8(skb, LS_NLA_TYPE_TCLASS, rec->traffic_class);
	if (mask & IB_SA_PATH_REC_PKEY)
		ret |= nla_put_u16(skb, LS_NLA_TYPE_PKEY | RDMA_NLA_F_MANDATORY,
				   be16_to_cpu(rec->pkey));
	if (mask & IB_SA_PATH_REC_QOS_CLASS)
		ret |= nla_put_u16(skb, LS_NLA_TYPE_QOS_CLASS | RDMA_NLA_F_MANDATORY,
				   be16_to_cpu(rec->qos_class));
	return ret;
}

/* All attributes together need less. */
#define QUESTION_SIZE 256

/**
 * write_question() - make the netlink message that requests a path
 * @port: port of the query
 * @mad: the MAD that the subnet manager would get
 * @seq: sequence number
 * @path_use: receives LS_RESOLVE_PATH_USE_*
 * @gfp: how to allocate
 *
 * Return: the message, or NULL if there is not enough memory.
 */
static struct sk_buff *write_question(struct sa_port *port, struct ib_sa_mad *mad, u32 seq,
				      u8 *path_use, gfp_t gfp)
{
	struct sk_buff *skb = nlmsg_new(QUESTION_SIZE, gfp);
	ib_sa_comp_mask mask = mad->sa_hdr.comp_mask;
	struct rdma_ls_resolve_header *header;
	struct sa_path_rec rec;
	struct nlmsghdr *nlh;

	if (!skb)
		return NULL;
	header = ibnl_put_msg(skb, &nlh, seq, sizeof(*header), RDMA_NL_LS,
			      RDMA_NL_LS_OP_RESOLVE, NLM_F_REQUEST);
	if (!header)
		goto free;
	ib_sa_unpack_path(mad->data, &rec);
	memset(header, 0, sizeof(*header));
	strscpy(header->device_name, port->device->name, LS_DEVICE_NAME_MAX);
	header->port_num = port->port_num;
	*path_use = (mask & IB_SA_PATH_REC_REVERSIBLE) && rec.reversible ?
		LS_RESOLVE_PATH_USE_ALL : LS_RESOLVE_PATH_USE_UNIDIRECTIONAL;
	header->path_use = *path_use;
	if (put_wanted(skb, &rec, mask))
		goto free;
	nlmsg_end(skb, nlh);
	return skb;

free:
	nlmsg_free(skb);
	return NULL;
}

static struct sk_buff *prepare(struct ib_sa_query *query, gfp_t gfp, struct sa_ask **ask)
{
	struct sk_buff *skb;

	*ask = kzalloc(sizeof(**ask), gfp);
	if (!*ask)
		return NULL;
	(*ask)->query = query;
	scoped_guard(spinlock_irqsave, &lock)
		(*ask)->seq = ++sa_last_question;
	skb = write_question(query->port, query->buf->mad, (*ask)->seq, &(*ask)->path_use, gfp);
	if (!skb)
		kfree(*ask);
	return skb;
}

/**
 * sa_local_ask() - send a path query's request to the local service
 * @query: query that has not been posted
 * @gfp: how to allocate
 * @found: called with the paths of a response
 *
 * Return: 0 if the request was sent: the query then continues after the response or the time-out;
 * otherwise -ESRCH if no program listens, or -ENOMEM.
 */
int sa_local_ask(struct ib_sa_query *query, gfp_t gfp,
		 void (*found)(struct ib_sa_query *query, struct sa_path_rec *recs,
			       unsigned int count))
{
	struct sk_buff *skb;
	struct sa_ask *ask;
	u32 seq;

	if (!rdma_nl_chk_listeners(RDMA_NL_GROUP_LS))
		return -ESRCH;
	skb = prepare(query, gfp, &ask);
	if (!skb)
		return -ENOMEM;
	seq = ask->seq;
	/* The response may come before rdma_nl_multicast() has returned. */
	scoped_guard(spinlock_irqsave, &lock) {
		ask->since = jiffies;
		ask->found = found;
		query->ask = ask;
		list_add_tail(&ask->entry, &asks);
		plan_work();
	}
	if (!rdma_nl_multicast(&init_net, skb, RDMA_NL_GROUP_LS, gfp))
		return 0;
	/*
	 * No program has received the request. If it is no longer in the list, it has expired
	 * meanwhile.
	 */
	scoped_guard(spinlock_irqsave, &lock) {
		list_for_each_entry(ask, &asks, entry) {
			if (ask->seq != seq)
				continue;
			take_out(ask);
			kfree(ask);
			return -ESRCH;
		}
	}
	return 0;
}

/*
 * Ends a query's wait for the local service, if it is waiting. The work continues the query, not
 * this function, since its callback may take time.
 */
void sa_local_cancel(struct ib_sa_query *query)
{
	guard(spinlock_irqsave)(&lock);
	if (!query->ask)
		return;
	query->ask->cancelled = true;
	list_move(&query->ask->entry, &asks);
	plan_work();
}

/* ---- the response ---- */

/* Flags that a path must have to be usable. */
static u32 wanted_flags(u8 path_use)
{
	switch (path_use) {
	case LS_RESOLVE_PATH_USE_ALL:
		return IB_PATH_PRIMARY;
	case LS_RESOLVE_PATH_USE_UNIDIRECTIONAL:
		return IB_PATH_PRIMARY | IB_PATH_OUTBOUND;
	default:
		return IB_PATH_PRIMARY | IB_PATH_GMP | IB_PATH_BIDIRECTIONAL;
	}
}

/**
 * read_paths() - get the usable paths of a response
 * @nlh: the message
 * @path_use: LS_RESOLVE_PATH_USE_* of the request
 * @recs: receives up to 3
 *
 * Return: their number; 0 if the program has refused or the message is malformed.
 */
static unsigned int read_paths(const struct nlmsghdr *nlh, u8 path_use, struct sa_path_rec *recs)
{
	u32 flags = wanted_flags(path_use);
	unsigned int count = 0;
	const struct nlattr *attr;
	int left;

	if (nlh->nlmsg_flags & RDMA_NL_LS_F_ERR)
		return 0;
	nlmsg_for_each_attr(attr, nlh, 0, left) {
		struct ib_path_rec_data data;

		if (nla_type(attr) != LS_NLA_TYPE_PATH_RECORD)
			continue;
		if (nla_len(attr) < sizeof(data))
			return 0;
		memcpy(&data, nla_data(attr), sizeof(data));
		if ((data.flags & flags) != flags || count == MAX_PATHS)
			continue;
		memset(&recs[count], 0, sizeof(recs[count]));
		ib_sa_unpack_path(data.path_rec, &recs[count]);
		recs[count].rec_type = SA_PATH_REC_TYPE_IB;
		recs[count].flags = data.flags;
		count++;
	}
	return count;
}

static struct sa_ask *find_and_take_out(u32 seq)
{
	struct sa_ask *ask;

	guard(spinlock_irqsave)(&lock);
	list_for_each_entry(ask, &asks, entry) {
		if (ask->seq != seq || ask->cancelled)
			continue;
		take_out(ask);
		return ask;
	}
	return NULL;
}

/**
 * hear_answer() - handle a response of the local service
 * @nlh: the message; ignored if no request with its sequence number is waiting
 */
static void hear_answer(const struct nlmsghdr *nlh)
{
	struct sa_ask *ask = find_and_take_out(nlh->nlmsg_seq);
	struct sa_path_rec recs[MAX_PATHS];
	struct ib_sa_query *query;
	unsigned int count;

	if (!ask)
		return;
	query = ask->query;
	count = read_paths(nlh, ask->path_use, recs);
	if (!count) {
		ask_manager(ask);
		return;
	}
	if (sa_query_claim(query))
		ask->found(query, recs, count);
	kfree(ask);
	sa_query_end(query, 0);
}

static int resolve_doit(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	/*
	 * The kernel's own request is delivered to the kernel, too, if its socket is a member of
	 * the group.
	 */
	if ((nlh->nlmsg_flags & NLM_F_REQUEST) || !NETLINK_CB(skb).sk)
		return -EPERM;
	hear_answer(nlh);
	return 0;
}

static const struct nla_policy timeout_policy[LS_NLA_TYPE_TIMEOUT + 1] = {
	[LS_NLA_TYPE_TIMEOUT] = { .type = NLA_U32 },
};

/**
 * sa_local_set_timeout() - set the time-out for the local service, for waiting requests as well
 * @ms: milliseconds; clamped to 100..200000
 *
 * Return: the time-out in force.
 */
unsigned int sa_local_set_timeout(u32 ms)
{
	guard(spinlock_irqsave)(&lock);
	timeout_ms = clamp(ms, TIMEOUT_MIN, TIMEOUT_MAX);
	plan_work();
	return timeout_ms;
}
EXPORT_SYMBOL_IF_KUNIT(sa_local_set_timeout);

static int timeout_doit(struct sk_buff *skb, struct nlmsghdr *nlh, struct netlink_ext_ack *extack)
{
	struct nlattr *tb[LS_NLA_TYPE_TIMEOUT + 1];

	if (!(nlh->nlmsg_flags & NLM_F_REQUEST) || !NETLINK_CB(skb).sk)
		return -EPERM;
	if (nla_parse_deprecated(tb, LS_NLA_TYPE_TIMEOUT, nlmsg_data(nlh), nlmsg_len(nlh),
				 timeout_policy, extack) || !tb[LS_NLA_TYPE_TIMEOUT])
		return -EINVAL;
	sa_local_set_timeout(nla_get_u32(tb[LS_NLA_TYPE_TIMEOUT]));
	return 0;
}

static const struct rdma_nl_cbs local_cbs[RDMA_NL_LS_NUM_OPS] = {
	[RDMA_NL_LS_OP_RESOLVE] = { .doit = resolve_doit, .flags = RDMA_NL_ADMIN_PERM },
	[RDMA_NL_LS_OP_SET_TIMEOUT] = { .doit = timeout_doit, .flags = RDMA_NL_ADMIN_PERM },
	[RDMA_NL_LS_OP_IP_RESOLVE] = { .doit = addr_service_doit, .flags = RDMA_NL_ADMIN_PERM },
};

void sa_local_init(void)
{
	rdma_nl_register(RDMA_NL_LS, local_cbs);
}

/* Called when all ports have been removed, so that no request is waiting. */
void sa_local_exit(void)
{
	rdma_nl_unregister(RDMA_NL_LS);
	cancel_delayed_work_sync(&give_up_work);
}
