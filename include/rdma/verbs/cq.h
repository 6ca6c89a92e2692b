/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Completion queues.
 */
#ifndef RDMA_VERBS_CQ_H
#define RDMA_VERBS_CQ_H

#include <linux/types.h>
#include <linux/irq_poll.h>		/* needs list_head */
#include <linux/ktime.h>
#include <rdma/rdma_object.h>
#include <rdma/verbs/types.h>
#include <rdma/verbs/wc.h>

struct dim;
struct ib_event;

/**
 * struct ib_cq_init_attr - attributes of a new CQ
 * @cqe: minimum number of entries
 * @comp_vector: completion vector, below ib_device.num_comp_vectors
 * @flags: enum ib_uverbs_ex_create_cq_flags
 */
struct ib_cq_init_attr {
	unsigned int	cqe;
	u32		comp_vector;
	u32		flags;
};

enum ib_cq_attr_mask {
	IB_CQ_MODERATE = 1 << 0,
};

/* Flags of ib_req_notify_cq(). */
enum ib_cq_notify_flags {
	IB_CQ_SOLICITED			= 1 << 0,
	IB_CQ_NEXT_COMP			= 1 << 1,
	IB_CQ_SOLICITED_MASK		= IB_CQ_SOLICITED | IB_CQ_NEXT_COMP,
	IB_CQ_REPORT_MISSED_EVENTS	= 1 << 2,
};

/* Called in interrupt context when an armed CQ has a completion. */
typedef void (*ib_comp_handler)(struct ib_cq *cq, void *cq_context);

/* Context in which the core polls a CQ of ib_alloc_cq(). */
enum ib_poll_context {
	IB_POLL_SOFTIRQ,
	IB_POLL_WORKQUEUE,
	IB_POLL_UNBOUND_WORKQUEUE,
	IB_POLL_LAST_POOL_TYPE = IB_POLL_UNBOUND_WORKQUEUE,

	IB_POLL_DIRECT,
};

/**
 * struct ib_cq - completion queue
 * @device: device
 * @uobject: the user's handle, NULL for a kernel CQ
 * @comp_handler: runs on a completion when armed
 * @event_handler: runs on an asynchronous event
 * @cq_context: argument of both handlers
 * @cqe: usable entries
 * @cqe_used: number of reserved entries of a shared CQ
 * @poll_ctx: context in which the core polls
 * @wc: the core's buffer for polling
 * @pool_entry: in the device's list of shared CQs
 * @iop: softirq polling
 * @work: work queue polling
 * @comp_wq: the queue for @work
 * @dim: adaptive moderation
 * @timestamp: when the CQ was last polled, for tracing
 * @interrupt: the completion handler has run since @timestamp
 * @shared: the CQ belongs to the pool
 * @comp_vector: completion vector
 * @RDMA_OBJECT_BASE: object base
 */
struct ib_cq {
	struct ib_device       *device;
	struct ib_ucq_object   *uobject;
	ib_comp_handler		comp_handler;
	void                  (*event_handler)(struct ib_event *event, void *context);
	void                   *cq_context;
	int			cqe;
	unsigned int		cqe_used;
	enum ib_poll_context	poll_ctx;
	struct ib_wc		*wc;
	struct list_head        pool_entry;
	union {
		struct irq_poll		iop;
		struct work_struct	work;
	};
	struct workqueue_struct *comp_wq;
	struct dim *dim;

	ktime_t timestamp;
	u8 interrupt:1;
	u8 shared:1;
	unsigned int comp_vector;

	RDMA_OBJECT_BASE;
};

struct ib_cq *__ib_alloc_cq(struct ib_device *dev, void *private, int nr_cqe,
			    int comp_vector, enum ib_poll_context poll_ctx,
			    const char *caller);

/**
 * ib_alloc_cq() - make a CQ that the core polls
 * @dev: device
 * @private: cq->cq_context
 * @nr_cqe: minimum number of entries
 * @comp_vector: completion vector
 * @poll_ctx: context in which completions are handled
 *
 * Every work request that completes to this CQ must have wr_cqe set.
 *
 * Context: may sleep.
 * Return: the CQ or an error pointer.
 */
static inline struct ib_cq *ib_alloc_cq(struct ib_device *dev, void *private,
					int nr_cqe, int comp_vector,
					enum ib_poll_context poll_ctx)
{
	const char *owner = KBUILD_MODNAME;

	return __ib_alloc_cq(dev, private, nr_cqe, comp_vector, poll_ctx, owner);
}

struct ib_cq *__ib_alloc_cq_any(struct ib_device *dev, void *private,
				int nr_cqe, enum ib_poll_context poll_ctx,
				const char *caller);

/**
 * ib_alloc_cq_any() - the same, with a completion vector that the core chooses
 * @dev: device
 * @private: cq->cq_context
 * @nr_cqe: minimum number of entries
 * @poll_ctx: context in which completions are handled
 *
 * Context: may sleep.
 * Return: the CQ or an error pointer.
 */
static inline struct ib_cq *ib_alloc_cq_any(struct ib_device *dev,
					    void *private, int nr_cqe,
					    enum ib_poll_context poll_ctx)
{
	const char *owner = KBUILD_MODNAME;

	return __ib_alloc_cq_any(dev, private, nr_cqe, poll_ctx, owner);
}

void ib_free_cq(struct ib_cq *cq);

int ib_process_cq_direct(struct ib_cq *cq, int budget);

struct ib_cq *__ib_create_cq(struct ib_device *device,
			     ib_comp_handler comp_handler,
			     void (*event_handler)(struct ib_event *event, void *context),
			     void *cq_context,
			     const struct ib_cq_init_attr *cq_attr,
			     const char *caller);

#define ib_create_cq(device, cmp_hndlr, evt_hndlr, cq_ctxt, cq_attr)	\
	__ib_create_cq((device), (cmp_hndlr), (evt_hndlr), (cq_ctxt),	\
		       (cq_attr), KBUILD_MODNAME)

int ib_resize_cq(struct ib_cq *cq, int cqe);

int rdma_set_cq_moderation(struct ib_cq *cq, u16 cq_count, u16 cq_period);

int ib_destroy_cq_user(struct ib_cq *cq, struct ib_udata *udata);

/**
 * ib_destroy_cq() - destroy a kernel CQ
 * @cq: CQ of ib_create_cq() that no QP uses
 *
 * Context: may sleep.
 */
static inline void ib_destroy_cq(struct ib_cq *cq)
{
	int err = ib_destroy_cq_user(cq, NULL);

	WARN_ONCE(err, "kernel CQ not destroyed: %d\n", err);
}

struct ib_cq *ib_cq_pool_get(struct ib_device *dev, unsigned int nr_cqe,
			     int comp_vector_hint,
			     enum ib_poll_context poll_ctx);

void ib_cq_pool_put(struct ib_cq *cq, unsigned int nr_cqe);

#endif /* RDMA_VERBS_CQ_H */
