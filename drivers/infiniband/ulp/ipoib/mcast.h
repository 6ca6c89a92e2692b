/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Multicast groups of an interface, the broadcast group among them.
 */
#ifndef IPOIB_MCAST_H
#define IPOIB_MCAST_H

#include "ipoib.h"

/* State of a group. Only the group's work changes it, but the core's answer sets _ANSWERED. */
enum ipoib_group_state {
	IPOIB_GROUP_IDLE,	/* to be joined, not before @retry */
	IPOIB_GROUP_ASKED,	/* the subnet manager has to answer */
	IPOIB_GROUP_ANSWERED,	/* or it lost the group */
	IPOIB_GROUP_JOINED,
};

/**
 * struct ipoib_group - a group
 * @node: in the table of groups
 * @ipoib: interface
 * @state: see there
 * @status: the answer, a negative errno
 * @send_only: nobody here wants to receive what is sent to it
 * @wanted: to be kept: the broadcast group, one in the stack's list, or one that is sent to
 * @attached: the QP receives its packets
 * @rec: the membership, as the subnet manager granted it
 * @mc: the membership's handle in the core
 * @ah: its address, NULL until it is joined
 * @queue: packets that wait for @ah
 * @retry: when to join, in jiffies
 * @backoff: seconds until the next attempt
 * @created: when it was created, in jiffies
 * @used: when something was sent to it, in jiffies
 * @rcu: frees it
 */
struct ipoib_group {
	struct ipoib_node node;
	struct ipoib_dev *ipoib;
	enum ipoib_group_state state;
	int status;
	bool send_only;
	bool wanted;
	bool attached;
	struct ib_sa_mcmember_rec rec;
	struct ib_sa_multicast *mc;
	struct ipoib_ah __rcu *ah;
	struct sk_buff_head queue;
	unsigned long retry;
	unsigned int backoff;
	unsigned long created;
	unsigned long used;
	struct rcu_head rcu;
};

int ipoib_mcast_init(struct ipoib_dev *ipoib);
void ipoib_mcast_end(struct ipoib_dev *ipoib);
void ipoib_mcast_start(struct ipoib_dev *ipoib);
void ipoib_mcast_stop(struct ipoib_dev *ipoib);
bool ipoib_mcast_joined(struct ipoib_dev *ipoib);
void ipoib_mcast_sync(struct ipoib_dev *ipoib);
void ipoib_mcast_age(struct ipoib_dev *ipoib, unsigned long idle);
void ipoib_mcast_send(struct ipoib_dev *ipoib, struct sk_buff *skb, const union ib_gid *mgid);

#if IS_ENABLED(CONFIG_KUNIT)
struct ib_sa_multicast *ipoib_mcast_ask(struct ipoib_group *group, struct ib_sa_mcmember_rec *rec,
					ib_sa_comp_mask mask);
int ipoib_mcast_answered(int status, struct ib_sa_multicast *multicast);
void ipoib_mcast_forget(struct ib_sa_multicast *mc);
struct ipoib_ah *ipoib_mcast_make_ah(struct ipoib_group *group);
int ipoib_mcast_attach(struct ipoib_group *group, bool set_qkey);
#endif

#endif /* IPOIB_MCAST_H */
