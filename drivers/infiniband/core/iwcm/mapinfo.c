// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Mappings in use, which are sent to a new daemon, and addresses of peers that are about to
 * connect.
 */
#include <linux/cleanup.h>
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/slab.h>
#include <net/ipv6.h>

#include "iwcm.h"
#include "portmap.h"

struct mapping {
	struct hlist_node node;
	struct sockaddr_storage local;
	struct sockaddr_storage mapped;
	u32 flags;
};

struct peer {
	struct hlist_node node;
	struct list_head age;
	struct sockaddr_storage local;		/* ours, on the wire */
	struct sockaddr_storage mapped;		/* the peer's, on the wire */
	struct sockaddr_storage remote;		/* the peer's, as its consumer knows it */
};

/* Protects all that follows. */
static DEFINE_MUTEX(iwpm_maps_lock);
static DEFINE_HASHTABLE(mappings, 9);		/* by the address on the wire */
static DEFINE_HASHTABLE(peers, 6);		/* by the peer's address on the wire */
static LIST_HEAD(peers_by_age);			/* the oldest first */
static unsigned int n_peers;

static bool is_ip(const struct sockaddr_storage *addr)
{
	return addr->ss_family == AF_INET || addr->ss_family == AF_INET6;
}

static u32 hash_of(const struct sockaddr_storage *addr)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *in = (const struct sockaddr_in *)addr;

	if (addr->ss_family == AF_INET)
		return jhash_2words((__force u32)in->sin_addr.s_addr, (__force u32)in->sin_port, 0);
	return jhash(&in6->sin6_addr, sizeof(in6->sin6_addr), (__force u32)in6->sin6_port);
}

/**
 * iwpm_same_address() - are two addresses the same IP address and port?
 * @a: one
 * @b: the other
 *
 * Return: whether they are; never for other families.
 */
bool iwpm_same_address(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	const struct sockaddr_in6 *a6 = (const void *)a, *b6 = (const void *)b;
	const struct sockaddr_in *a4 = (const void *)a, *b4 = (const void *)b;

	if (a->ss_family != b->ss_family)
		return false;
	switch (a->ss_family) {
	case AF_INET:
		return a4->sin_addr.s_addr == b4->sin_addr.s_addr && a4->sin_port == b4->sin_port;
	case AF_INET6:
		return ipv6_addr_equal(&a6->sin6_addr, &b6->sin6_addr) &&
		       a6->sin6_port == b6->sin6_port;
	}
	return false;
}

/**
 * iwpm_create_mapinfo() - record a mapping in use
 * @local_addr: address that a consumer uses
 * @mapped_addr: address on the wire
 * @nl_client: RDMA_NL_IWCM
 * @map_flags: IWPM_FLAGS_
 *
 * Context: may sleep.
 * Return: 0; -EINVAL for another client or an address that is not IPv4 or IPv6; -ENOMEM.
 */
int iwpm_create_mapinfo(struct sockaddr_storage *local_addr, struct sockaddr_storage *mapped_addr,
			u8 nl_client, u32 map_flags)
{
	struct mapping *mapping;

	if (nl_client != RDMA_NL_IWCM || !is_ip(local_addr) || !is_ip(mapped_addr))
		return -EINVAL;
	mapping = kzalloc(sizeof(*mapping), GFP_KERNEL);
	if (!mapping)
		return -ENOMEM;
	mapping->local = *local_addr;
	mapping->mapped = *mapped_addr;
	mapping->flags = map_flags;
	guard(mutex)(&iwpm_maps_lock);
	hash_add(mappings, &mapping->node, hash_of(mapped_addr));
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(iwpm_create_mapinfo);

/**
 * iwpm_remove_mapinfo() - remove the record of a mapping
 * @local_addr: address that a consumer used
 * @mapped_addr: address on the wire
 *
 * Context: may sleep.
 * Return: 0, or -EINVAL if there is none.
 */
int iwpm_remove_mapinfo(struct sockaddr_storage *local_addr, struct sockaddr_storage *mapped_addr)
{
	struct mapping *mapping;

	if (!is_ip(mapped_addr))
		return -EINVAL;
	guard(mutex)(&iwpm_maps_lock);
	hash_for_each_possible(mappings, mapping, node, hash_of(mapped_addr)) {
		if (!iwpm_same_address(&mapping->mapped, mapped_addr) ||
		    !iwpm_same_address(&mapping->local, local_addr))
			continue;
		hash_del(&mapping->node);
		kfree(mapping);
		return 0;
	}
	return -EINVAL;
}
EXPORT_SYMBOL_IF_KUNIT(iwpm_remove_mapinfo);

/* ---- peers ---- */

static struct peer *find_peer(const struct sockaddr_storage *local,
			      const struct sockaddr_storage *mapped)
{
	struct peer *peer;

	hash_for_each_possible(peers, peer, node, hash_of(mapped))
		if (iwpm_same_address(&peer->mapped, mapped) &&
		    iwpm_same_address(&peer->local, local))
			return peer;
	return NULL;
}

static void forget_peer(struct peer *peer)
{
	if (!peer)
		return;
	hash_del(&peer->node);
	list_del(&peer->age);
	n_peers--;
	kfree(peer);
}

/**
 * iwpm_remember_peer() - record the address from which a peer will connect
 * @msg: the daemon's message
 *
 * Any host that sends the daemon datagrams causes a record, and not all of them connect: only the
 * last IWPM_PEERS addresses are kept.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL for an address that is not IPv4 or IPv6; -ENOMEM.
 */
int iwpm_remember_peer(const struct iwpm_msg *msg)
{
	struct peer *peer;

	if (!is_ip(&msg->mapped_local) || !is_ip(&msg->mapped_remote))
		return -EINVAL;
	peer = kzalloc(sizeof(*peer), GFP_KERNEL);
	if (!peer)
		return -ENOMEM;
	peer->local = msg->mapped_local;
	peer->mapped = msg->mapped_remote;
	peer->remote = msg->remote;
	guard(mutex)(&iwpm_maps_lock);
	forget_peer(find_peer(&peer->local, &peer->mapped));
	if (n_peers >= IWPM_PEERS)
		forget_peer(list_first_entry(&peers_by_age, struct peer, age));
	hash_add(peers, &peer->node, hash_of(&peer->mapped));
	list_add_tail(&peer->age, &peers_by_age);
	n_peers++;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(iwpm_remember_peer);

/**
 * iwpm_peers_known() - get the number of recorded addresses of peers
 *
 * Return: the number.
 */
unsigned int iwpm_peers_known(void)
{
	guard(mutex)(&iwpm_maps_lock);
	return n_peers;
}
EXPORT_SYMBOL_IF_KUNIT(iwpm_peers_known);

/**
 * iwpm_get_remote_info() - get the address that the consumer of a connecting peer uses
 * @mapped_loc_addr: our address on the wire
 * @mapped_rem_addr: the peer's address on the wire
 * @remote_addr: gets the address, whose record is removed
 * @nl_client: RDMA_NL_IWCM
 *
 * Context: may sleep.
 * Return: 0, or -EINVAL if it is not known.
 */
int iwpm_get_remote_info(struct sockaddr_storage *mapped_loc_addr,
			 struct sockaddr_storage *mapped_rem_addr,
			 struct sockaddr_storage *remote_addr, u8 nl_client)
{
	struct peer *peer;

	if (nl_client != RDMA_NL_IWCM || !is_ip(mapped_loc_addr) || !is_ip(mapped_rem_addr))
		return -EINVAL;
	guard(mutex)(&iwpm_maps_lock);
	peer = find_peer(mapped_loc_addr, mapped_rem_addr);
	if (!peer)
		return -EINVAL;
	*remote_addr = peer->remote;
	forget_peer(peer);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(iwpm_get_remote_info);

/* ---- mappings for a new daemon ---- */

/* Messages that are sent together; NLMSG_DONE ends them. */
struct batch {
	struct sk_buff *skb;
	u32 portid;
};

static int batch_send(struct batch *batch)
{
	struct sk_buff *skb = batch->skb;

	if (!skb)
		return 0;
	batch->skb = NULL;
	if (!nlmsg_put(skb, 0, 0, NLMSG_DONE, 0, NLM_F_MULTI)) {
		kfree_skb(skb);
		return -EMSGSIZE;
	}
	return iwpm_transmit(skb, IWPM_AT_ONCE, batch->portid);
}

static int batch_add(struct batch *batch, const struct iwpm_msg *msg, u16 version)
{
	const size_t most = nlmsg_total_size(2 * nla_total_size(sizeof(struct sockaddr_storage)) +
					     nla_total_size(sizeof(u32)));
	int ret;

	if (batch->skb && skb_tailroom(batch->skb) < most + nlmsg_total_size(0)) {
		ret = batch_send(batch);
		if (ret)
			return ret;
	}
	if (!batch->skb)
		batch->skb = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!batch->skb)
		return -ENOMEM;
	return iwpm_msg_put(batch->skb, RDMA_NL_IWPM_MAPINFO, 0, NLM_F_MULTI, msg, version);
}

/* Sends a message for each mapping; returns their number or a negative errno. */
static int send_all(u32 portid, u16 version)
{
	struct batch batch = { .portid = portid };
	struct mapping *mapping;
	unsigned int bucket;
	int count = 0, ret;

	guard(mutex)(&iwpm_maps_lock);
	hash_for_each(mappings, bucket, mapping, node) {
		struct iwpm_msg msg = {
			.local = mapping->local,
			.mapped_local = mapping->mapped,
			.flags = mapping->flags,
		};

		ret = batch_add(&batch, &msg, version);
		if (ret) {
			kfree_skb(batch.skb);
			return ret;
		}
		count++;
	}
	ret = batch_send(&batch);
	return ret ?: count;
}

/**
 * iwpm_send_mappings() - send a daemon the mappings in use, and their number
 * @portid: its port
 * @version: version of the messages
 *
 * Sends nothing if there are none.
 *
 * Context: may sleep.
 * Return: 0, -ENOMEM, or the socket's error.
 */
int iwpm_send_mappings(u32 portid, u16 version)
{
	struct iwpm_msg msg = {};
	struct sk_buff *skb;
	int count = send_all(portid, version);

	if (count <= 0)
		return count;
	msg.sent = count;
	skb = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!skb)
		return -ENOMEM;
	iwpm_msg_put(skb, RDMA_NL_IWPM_MAPINFO_NUM, iwpm_next_seq(), NLM_F_REQUEST, &msg, version);
	return iwpm_transmit(skb, IWPM_AT_ONCE, portid);
}
EXPORT_SYMBOL_IF_KUNIT(iwpm_send_mappings);

/**
 * iwpm_forget_all() - free all mappings and records of peers
 *
 * Context: may sleep.
 */
void iwpm_forget_all(void)
{
	struct mapping *mapping;
	struct hlist_node *next;
	unsigned int bucket;

	guard(mutex)(&iwpm_maps_lock);
	hash_for_each_safe(mappings, bucket, next, mapping, node) {
		hash_del(&mapping->node);
		kfree(mapping);
	}
	while (!list_empty(&peers_by_age))
		forget_peer(list_first_entry(&peers_by_age, struct peer, age));
}
