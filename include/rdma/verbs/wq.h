/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Work queues that do not belong to a QP, and the indirection tables that distribute
 * packets among them.
 */
#ifndef RDMA_VERBS_WQ_H
#define RDMA_VERBS_WQ_H

#include <rdma/rdma_object.h>
#include <rdma/verbs/types.h>

struct ib_event;

enum ib_raw_packet_caps {
	IB_RAW_PACKET_CAP_CVLAN_STRIPPING =
		IB_UVERBS_RAW_PACKET_CAP_CVLAN_STRIPPING,

	IB_RAW_PACKET_CAP_SCATTER_FCS = IB_UVERBS_RAW_PACKET_CAP_SCATTER_FCS,

	IB_RAW_PACKET_CAP_IP_CSUM = IB_UVERBS_RAW_PACKET_CAP_IP_CSUM,

	IB_RAW_PACKET_CAP_DELAY_DROP = IB_UVERBS_RAW_PACKET_CAP_DELAY_DROP,
};

enum ib_wq_type {
	IB_WQT_RQ = IB_UVERBS_WQT_RQ,
};

enum ib_wq_state {
	IB_WQS_RESET,
	IB_WQS_RDY,
	IB_WQS_ERR
};

/**
 * struct ib_wq - work queue; the driver allocates it
 * @device: device
 * @uobject: the user's handle
 * @wq_context: argument of @event_handler
 * @event_handler: called on an asynchronous event
 * @pd: PD
 * @cq: completes its work
 * @wq_num: number
 * @state: state
 * @wq_type: type
 * @RDMA_OBJECT_BASE: object base
 */
struct ib_wq {
	struct ib_device       *device;
	struct ib_uwq_object   *uobject;
	void		    *wq_context;
	void		    (*event_handler)(struct ib_event *event, void *context);
	struct ib_pd	       *pd;
	struct ib_cq	       *cq;
	u32		wq_num;
	enum ib_wq_state       state;
	enum ib_wq_type	wq_type;

	RDMA_OBJECT_BASE;
};

enum ib_wq_flags {
	IB_WQ_FLAGS_CVLAN_STRIPPING	= IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING,
	IB_WQ_FLAGS_SCATTER_FCS		= IB_UVERBS_WQ_FLAGS_SCATTER_FCS,
	IB_WQ_FLAGS_DELAY_DROP		= IB_UVERBS_WQ_FLAGS_DELAY_DROP,
	IB_WQ_FLAGS_PCI_WRITE_END_PADDING =
				IB_UVERBS_WQ_FLAGS_PCI_WRITE_END_PADDING,
};

/* Attributes of a new work queue. */
struct ib_wq_init_attr {
	void		       *wq_context;
	enum ib_wq_type	wq_type;
	u32		max_wr;
	u32		max_sge;
	struct	ib_cq	       *cq;
	void		    (*event_handler)(struct ib_event *event, void *context);
	u32		create_flags;
};

enum ib_wq_attr_mask {
	IB_WQ_STATE		= 1 << 0,
	IB_WQ_CUR_STATE		= 1 << 1,
	IB_WQ_FLAGS		= 1 << 2,
};

/* New attributes of a work queue; a mask says which are valid. */
struct ib_wq_attr {
	enum	ib_wq_state	wq_state;
	enum	ib_wq_state	curr_wq_state;
	u32			flags;
	u32			flags_mask;
};

/**
 * struct ib_rwq_ind_table - indirection table
 * @device: device
 * @uobject: the user's handle
 * @ind_tbl_num: number
 * @log_ind_tbl_size: log2 of the number of entries
 * @ind_tbl: the queues
 * @RDMA_OBJECT_BASE: object base
 */
struct ib_rwq_ind_table {
	struct ib_device	*device;
	struct ib_uobject      *uobject;
	u32		ind_tbl_num;
	u32		log_ind_tbl_size;
	struct ib_wq	**ind_tbl;

	RDMA_OBJECT_BASE;
};

struct ib_rwq_ind_table_init_attr {
	u32		log_ind_tbl_size;

	struct ib_wq	**ind_tbl;
};

struct ib_wq *ib_create_wq(struct ib_pd *pd,
			   struct ib_wq_init_attr *init_attr);

int ib_destroy_wq_user(struct ib_wq *wq, struct ib_udata *udata);

#endif /* RDMA_VERBS_WQ_H */
