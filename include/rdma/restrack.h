/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Resource tracking: what a device's objects are, who made them and how many
 * there are, for netlink.
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

/* Mark of entries that only a dump with driver details shows. */
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
 * struct rdma_restrack_entry - what is known of one object
 * @valid: stands in its device's table
 * @no_track: never shall
 * @hidden: does not, but its place is kept
 * @user: made by a process
 * @kref: one for the table, one for each lookup
 * @drained: whom the last reference is told to, set while a destruction waits for it
 * @task: process that made it, referenced; of those made by a process
 * @kern_name: module that made a kernel object; of the others
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
 * rdma_restrack_is_tracked() - may the object stand in the tables?
 * @res: its entry
 *
 * Return: true if so.
 */
static inline bool rdma_restrack_is_tracked(const struct rdma_restrack_entry *res)
{
	return res->no_track == 0;
}

#endif /* _RDMA_RESTRACK_H_ */
