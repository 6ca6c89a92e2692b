/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the files of mcast/ share among themselves.
 */
#ifndef RDMA_CORE_MCAST_PRIV_H
#define RDMA_CORE_MCAST_PRIV_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "../device/device.h"
#include "../sa/sa.h"
#include "mcast.h"

/**
 * struct mcast_port - the groups of a port
 * @device: its device
 * @port_num: its number
 * @lock: protects the port's groups and members; taken in any context
 * @table: tree of the groups whose MGID is known
 * @groups: all groups
 * @gone: the device is being removed: requests are not repeated
 * @users: references of groups, of members, and of the port itself
 * @idle: completed when @users drops to zero
 */
struct mcast_port {
	struct ib_device *device;
	u32 port_num;
	spinlock_t lock;
	struct rb_root table;
	struct list_head groups;
	bool gone;
	refcount_t users;
	struct completion idle;
};

/* The pending request to the subnet manager. */
enum mcast_asked {
	MCAST_NOTHING,
	MCAST_JOIN,
	MCAST_LEAVE,
};

/**
 * struct mcast_group - a group, from the first member's joining to the last leaving
 * @port: its port
 * @node: in @port->table unless empty
 * @entry: in @port->groups
 * @work: takes the next step; queued with the port's lock held
 * @rec: the port's membership; only mgid is valid unless @joined
 * @joined: join states that the port has at the subnet manager
 * @count: number of members in each of them
 * @waiting: members that are still to join, in order
 * @members: members that have joined
 * @parked: members that could not join again; they retry after some time
 * @retry_at: that time, in jiffies
 * @asked: the pending request
 * @states: its join states
 * @joiner: its member, NULL if that has left since
 * @answered: the answer has arrived: @status and @answer are valid
 * @status: 0 or a negative errno
 * @answer: record of the answer
 * @query: the pending query, for ib_sa_cancel_query()
 * @query_id: its id
 * @retries: number of repetitions of a leave that are left
 * @lost: the subnet manager may have lost the membership
 * @stale: the pending request was made before a loss that has been reported
 * @pkey_index: index of the group's P_Key when it was joined
 */
struct mcast_group {
	struct mcast_port *port;
	struct rb_node node;
	struct list_head entry;
	struct delayed_work work;
	struct ib_sa_mcmember_rec rec;
	u8 joined;
	unsigned int count[NUM_JOIN_MEMBERSHIP_TYPES];
	struct list_head waiting;
	struct list_head members;
	struct list_head parked;
	unsigned long retry_at;
	enum mcast_asked asked;
	u8 states;
	struct mcast_member *joiner;
	bool answered;
	int status;
	struct ib_sa_mcmember_rec answer;
	struct ib_sa_query *query;
	int query_id;
	unsigned int retries;
	bool lost;
	bool stale;
	u16 pkey_index;
};

/* State of a member, by the list that it is in. */
enum mcast_member_state {
	MCAST_WAITING,
	MCAST_MEMBER,
	MCAST_PARKED,
	MCAST_OUT,
};

/**
 * struct mcast_member - a consumer's membership
 * @multicast: the part that the consumer sees
 * @client: the consumer's SA client; referenced
 * @port: its port; referenced
 * @group: its group, which may be freed once the state is MCAST_OUT
 * @entry: in one of the group's lists unless the state is MCAST_OUT
 * @wanted: the attributes that it has asked for
 * @state: its state
 * @keep: it joins again after a loss
 * @users: references of its owner and of a running callback
 * @done: completed when @users drops to zero
 */
struct mcast_member {
	struct ib_sa_multicast multicast;
	struct ib_sa_client *client;
	struct mcast_port *port;
	struct mcast_group *group;
	struct list_head entry;
	struct ib_sa_mcmember_rec wanted;
	enum mcast_member_state state;
	bool keep;
	refcount_t users;
	struct completion done;
};

extern struct workqueue_struct *mcast_wq;
extern struct ib_sa_client mcast_sa_client;

/* Groups: group.c */
struct mcast_group *mcast_group_find(struct mcast_port *port, const union ib_gid *mgid);
struct mcast_group *mcast_group_get(struct mcast_port *port, const union ib_gid *mgid, gfp_t gfp);
void mcast_group_kick(struct mcast_group *group);
void mcast_group_retry(struct mcast_group *group);
void mcast_group_lost(struct mcast_group *group);
void mcast_member_free(struct mcast_member *member);
void mcast_port_put(struct mcast_port *port);
bool mcast_suits(const struct ib_sa_mcmember_rec *group, const struct ib_sa_mcmember_rec *wanted,
		 ib_sa_comp_mask mask);

#endif
