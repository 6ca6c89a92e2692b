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
 * @lock: protects everything of the port's groups and members; taken from any context
 * @table: groups whose MGID is known, by MGID
 * @groups: all groups
 * @gone: the device is being removed: nothing is asked twice
 * @users: groups, members, and the port itself
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

/* The request to the subnet manager that is under way. */
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
 * @rec: the port's membership; mgid and, while @joined, all the rest
 * @joined: join states in which the subnet manager has the port
 * @count: members in each of them
 * @waiting: members that are to join, in order
 * @members: members that have joined
 * @parked: members that have been lost and could not join again; they try after some time
 * @asked: the request that is under way
 * @states: the join states it is about
 * @joiner: the member it is about, NULL if that has gone since
 * @answered: the answer is here: @status and @answer
 * @status: 0 or a negative errno
 * @answer: record of the answer
 * @query: for ib_sa_cancel_query(), while something is under way
 * @query_id: as well
 * @retries: how many more times a leave is asked for
 * @lost: the subnet manager may have forgotten the membership
 * @stale: the request under way was made before a loss that has been reported
 * @pkey_index: where the group's P_Key stood when it was joined
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

/* State of a member. */
enum mcast_member_state {
	MCAST_WAITING,
	MCAST_MEMBER,
	MCAST_PARKED,
	MCAST_OUT,
};

/**
 * struct mcast_member - a consumer's membership
 * @multicast: as the consumer sees it
 * @client: the consumer; held
 * @port: its port; held
 * @group: its group, which may be gone once the member is out
 * @entry: in one of the group's lists unless it is out
 * @wanted: attributes that it asked for
 * @state: in which list
 * @keep: joins again by itself
 * @users: its owner, and a callback that runs
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
void mcast_group_lost(struct mcast_group *group);
void mcast_member_free(struct mcast_member *member);
void mcast_port_put(struct mcast_port *port);
bool mcast_suits(const struct ib_sa_mcmember_rec *group, const struct ib_sa_mcmember_rec *wanted,
		 ib_sa_comp_mask mask);

#endif
