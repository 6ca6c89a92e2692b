/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Resource tracking: lists a device's objects and their creators for netlink,
 * and counts them.
 */
#ifndef _RDMA_RESTRACK_H_
#define _RDMA_RESTRACK_H_

#include <linux/completion.h>
#include <linux/kref.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/typecheck.h>
#include <linux/xarray.h>
#include <uapi/rdma/rdma_netlink.h>

/* Mark of an entry that is shown only in a dump with driver details. */
#define RESTRACK_DD XA_MARK_1

struct ib_device;
struct sk_buff;

/* Tracked types, one table each. */
enum rdma_restrack_type {
	RDMA_RESTRACK_PD,

	RDMA_RESTRACK_CQ,

	RDMA_RESTRACK_QP,

	RDMA_RESTRACK_CM_ID,

	RDMA_RESTRACK_MR,

	RDMA_RESTRACK_CTX,

	RDMA_RESTRACK_COUNTER,

	RDMA_RESTRACK_SRQ,

	RDMA_RESTRACK_MAX
};

/**
 * struct rdma_restrack_entry - tracking entry of one object
 * @valid: the entry is in its device's table
 * @no_track: the entry must never be in the table
 * @hidden: the entry is not in the table, but its number stays reserved
 * @user: made by a process
 * @kref: references: one of the table, one of each lookup
 * @drained: completed when the last reference is put; not NULL while a destruction waits for that
 * @task: process that made a user's object, referenced
 * @kern_name: module that made a kernel object
 * @type: type
 * @id: number in netlink
 */
struct rdma_restrack_entry {
	bool			valid;

	u8			no_track : 1;

	u8			hidden : 1;

	bool			user;

	struct kref		kref;

	struct completion	*drained;

	union {
		struct task_struct	*task;

		const char		*kern_name;
	};

	enum rdma_restrack_type	type;

	u32 id;
};

int rdma_restrack_count(struct ib_device *dev, enum rdma_restrack_type type,
			bool show_details);

/**
 * rdma_is_kernel_res() - was the object made by the kernel?
 * @res: its entry
 *
 * Return: true if so, false if a process made it.
 */
static inline bool rdma_is_kernel_res(const struct rdma_restrack_entry *res)
{
	return !res->user;
}

int __must_check rdma_restrack_get(struct rdma_restrack_entry *res);

int rdma_restrack_put(struct rdma_restrack_entry *res);

int rdma_nl_put_driver_u32(struct sk_buff *msg, const char *name, u32 value);

int rdma_nl_put_driver_u32_hex(struct sk_buff *msg, const char *name,
			       u32 value);

int rdma_nl_put_driver_u64(struct sk_buff *msg, const char *name, u64 value);

int rdma_nl_put_driver_u64_hex(struct sk_buff *msg, const char *name,
			       u64 value);

int rdma_nl_put_driver_string(struct sk_buff *msg, const char *name,
			      const char *str);

int rdma_nl_stat_hwcounter_entry(struct sk_buff *msg, const char *name,
				 u64 value);

struct rdma_restrack_entry *rdma_restrack_get_byid(struct ib_device *dev,
						   enum rdma_restrack_type type,
						   u32 id);

/**
 * rdma_restrack_no_track() - keep an object out of the tables
 * @res: its entry, not yet added
 */
static inline void rdma_restrack_no_track(struct rdma_restrack_entry *res)
{
	res->no_track = 1;
}

/**
 * rdma_restrack_is_tracked() - may the object be in the tables?
 * @res: its entry
 *
 * Return: true if so.
 */
static inline bool rdma_restrack_is_tracked(const struct rdma_restrack_entry *res)
{
	return res->no_track == 0;
}

#endif /* _RDMA_RESTRACK_H_ */
