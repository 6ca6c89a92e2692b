/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared receive queues.
 */
#ifndef RDMA_VERBS_SRQ_H
#define RDMA_VERBS_SRQ_H

#include <rdma/rdma_object.h>
#include <rdma/verbs/types.h>

struct ib_event;

enum ib_srq_type {
	IB_SRQT_BASIC = IB_UVERBS_SRQT_BASIC,
	IB_SRQT_XRC = IB_UVERBS_SRQT_XRC,
	IB_SRQT_TM = IB_UVERBS_SRQT_TM,
};

/**
 * ib_srq_has_cq() - does this type of SRQ have a CQ?
 * @srq_type: type of SRQ
 *
 * Return: true for XRC and tag matching SRQs.
 */
static inline bool ib_srq_has_cq(enum ib_srq_type srq_type)
{
	switch (srq_type) {
	case IB_SRQT_XRC:
	case IB_SRQT_TM:
		return true;
	default:
		return false;
	}
}

enum ib_srq_attr_mask {
	IB_SRQ_MAX_WR	= 1 << 0,
	IB_SRQ_LIMIT	= 1 << 1,
};

/**
 * struct ib_srq_attr - sizes and limit of an SRQ
 * @max_wr: work requests that may be outstanding
 * @max_sge: scatter entries of a work request
 * @srq_limit: an event is raised once when fewer receives than this are left; 0: never
 */
struct ib_srq_attr {
	u32	max_wr;
	u32	max_sge;
	u32	srq_limit;
};

/**
 * struct ib_srq_init_attr - attributes of a new SRQ
 * @event_handler: called on an asynchronous event
 * @srq_context: argument of @event_handler
 * @attr: sizes and limit
 * @srq_type: type
 * @ext: CQ of the types that have one, XRC domain, or length of the tag matching list
 */
struct ib_srq_init_attr {
	void		      (*event_handler)(struct ib_event *event, void *context);
	void		       *srq_context;
	struct ib_srq_attr	attr;
	enum ib_srq_type	srq_type;

	struct {
		struct ib_cq   *cq;
		union {
			struct {
				struct ib_xrcd *xrcd;
			} xrc;

			struct {
				u32		max_num_tags;
			} tag_matching;
		};
	} ext;
};

/**
 * struct ib_srq - shared receive queue
 * @device: device
 * @pd: PD
 * @uobject: the user's handle, NULL for a kernel SRQ
 * @event_handler: called on an asynchronous event
 * @srq_context: argument of @event_handler
 * @srq_type: type
 * @ext: CQ, XRC domain and SRQ number of the types that have them
 * @RDMA_OBJECT_BASE: object base
 */
struct ib_srq {
	struct ib_device       *device;
	struct ib_pd	       *pd;
	struct ib_usrq_object  *uobject;
	void		      (*event_handler)(struct ib_event *event, void *context);
	void		       *srq_context;
	enum ib_srq_type	srq_type;

	struct {
		struct ib_cq   *cq;
		union {
			struct {
				struct ib_xrcd *xrcd;
				u32		srq_num;
			} xrc;
		};
	} ext;

	RDMA_OBJECT_BASE;
};

struct ib_srq *ib_create_srq_user(struct ib_pd *pd,
				  struct ib_srq_init_attr *srq_init_attr,
				  struct ib_usrq_object *uobject,
				  struct ib_udata *udata);

int ib_modify_srq(struct ib_srq *srq,
		  struct ib_srq_attr *srq_attr,
		  enum ib_srq_attr_mask srq_attr_mask);

int ib_query_srq(struct ib_srq *srq,
		 struct ib_srq_attr *srq_attr);

int ib_destroy_srq_user(struct ib_srq *srq, struct ib_udata *udata);

/**
 * ib_destroy_srq() - destroy a kernel SRQ
 * @srq: SRQ that no QP uses
 *
 * Context: may sleep.
 */
static inline void ib_destroy_srq(struct ib_srq *srq)
{
	int err = ib_destroy_srq_user(srq, NULL);

	WARN_ONCE(err, "kernel SRQ not destroyed: %d\n", err);
}

#endif /* RDMA_VERBS_SRQ_H */
