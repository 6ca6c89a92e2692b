/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The base that every verbs object embeds: children and parents, owner, tracking
 * entry, and the life cycle that all objects share.
 *
 * Drivers and ULPs never access it.  Its first two members have the names that
 * sources written for Linux 6.12 use (`res`, `usecnt`), see RDMA_OBJECT_BASE.
 */
#ifndef RDMA_OBJECT_H
#define RDMA_OBJECT_H

#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/list.h>
#include <linux/types.h>
#include <rdma/restrack.h>

struct ib_device;
struct ib_udata;
struct ib_ucontext;
struct rdma_object;
struct rdma_owner;
struct sk_buff;

/* Maximum number of parents of an object: a QP's PD, two CQs and SRQ. */
#define RDMA_OBJECT_PARENTS	4

/**
 * enum rdma_object_type - type of a verbs object
 * @RDMA_OBJECT_UCONTEXT: user context; its @owner owns the context's objects
 * @RDMA_OBJECT_PD: protection domain
 * @RDMA_OBJECT_CQ: completion queue
 * @RDMA_OBJECT_QP: queue pair
 * @RDMA_OBJECT_SRQ: shared receive queue
 * @RDMA_OBJECT_MR: memory region (driver-allocated)
 * @RDMA_OBJECT_MW: memory window
 * @RDMA_OBJECT_FMR: MR that is mapped without work requests (driver-allocated)
 * @RDMA_OBJECT_AH: address handle; may be created and destroyed in atomic context
 * @RDMA_OBJECT_XRCD: XRC domain
 * @RDMA_OBJECT_WQ: work queue (driver-allocated)
 * @RDMA_OBJECT_RWQ_TABLE: receive work queue indirection table
 * @RDMA_OBJECT_FLOW: flow rule (driver-allocated)
 * @RDMA_OBJECT_DM: device memory (driver-allocated)
 * @RDMA_OBJECT_COUNTERS: user counter set
 * @RDMA_OBJECT_COUNTER: hardware counter to which QPs are bound
 * @RDMA_OBJECT_CM_ID: connection manager id; tracked, but not created by a driver
 * @RDMA_OBJECT_TYPES: number of types
 */
enum rdma_object_type {
	RDMA_OBJECT_UCONTEXT,
	RDMA_OBJECT_PD,
	RDMA_OBJECT_CQ,
	RDMA_OBJECT_QP,
	RDMA_OBJECT_SRQ,
	RDMA_OBJECT_MR,
	RDMA_OBJECT_MW,
	RDMA_OBJECT_FMR,
	RDMA_OBJECT_AH,
	RDMA_OBJECT_XRCD,
	RDMA_OBJECT_WQ,
	RDMA_OBJECT_RWQ_TABLE,
	RDMA_OBJECT_FLOW,
	RDMA_OBJECT_DM,
	RDMA_OBJECT_COUNTERS,
	RDMA_OBJECT_COUNTER,
	RDMA_OBJECT_CM_ID,
	RDMA_OBJECT_TYPES
};

/**
 * enum rdma_object_state - state of an object's life
 * @RDMA_OBJECT_UNUSED: zeroed memory, the base was never initialised
 * @RDMA_OBJECT_NEW: initialised, may have parents, cannot be looked up yet
 * @RDMA_OBJECT_LIVE: published
 * @RDMA_OBJECT_DYING: withdrawn; being destroyed, accepts no more children
 */
enum rdma_object_state {
	RDMA_OBJECT_UNUSED,
	RDMA_OBJECT_NEW,
	RDMA_OBJECT_LIVE,
	RDMA_OBJECT_DYING,
};

/**
 * struct rdma_object_ops - operations of an object type
 * @destroy: destroy the object in the driver.  Called when no child exists and no
 *	lookup reference is held; may sleep, unless the object is destroyed in atomic
 *	context (AHs).  After an error the object is unchanged and published again.
 * @release: free the core-allocated memory after @destroy succeeded; NULL for
 *	driver-allocated types, whose memory was freed when @destroy returned 0.
 * @describe: append netlink attributes of a CM id.  With a port other than 0 it
 *	returns -EAGAIN for the id of another port.  NULL if there are none to append
 */
struct rdma_object_ops {
	int (*destroy)(struct rdma_object *obj, struct ib_udata *udata);
	void (*release)(struct rdma_object *obj);
	int (*describe)(struct rdma_object *obj, struct sk_buff *msg, u32 port_num);
};

/**
 * struct rdma_object - base of every verbs object
 * @res: tracking entry: its creator, its number, references of lookups
 * @usecnt: number of children; negative while the object is being destroyed.
 *	References that are held by no object (multicast or flow attachments) are
 *	counted the same way.
 * @type: enum rdma_object_type
 * @state: enum rdma_object_state
 * @num_parents: entries used in @parent
 * @reap_failed: ib_reap_objects() has failed to destroy this object
 * @device: device of the object
 * @owner: module or user context to which it belongs; NULL for objects that a driver
 *	made without the core, XRC domains, counters and address handles of users
 * @owner_entry: in @owner's list while published, protected by its lock; a module's objects only
 * @ops: life-cycle operations of the type
 * @parent: objects that must outlive this one, each counted in its @usecnt
 */
struct rdma_object {
	/* private to the core */
	struct rdma_restrack_entry res;
	atomic_t usecnt;
	u8 type;
	u8 state;
	u8 num_parents;
	u8 reap_failed;
	struct ib_device *device;
	struct rdma_owner *owner;
	struct list_head owner_entry;
	const struct rdma_object_ops *ops;
	struct rdma_object *parent[RDMA_OBJECT_PARENTS];
};

/*
 * Embeds the base in a verbs structure: as `obj` for the core, and as `res` and
 * `usecnt` for sources that use these members of Linux 6.12.
 */
#define RDMA_OBJECT_BASE					\
	union {							\
		struct rdma_object obj;				\
		struct {					\
			struct rdma_restrack_entry res;		\
			atomic_t usecnt;			\
		};						\
	}

static_assert(offsetof(struct rdma_object, res) == 0);

#endif /* RDMA_OBJECT_H */
