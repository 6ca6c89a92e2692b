/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Admin commands of UARs, event queues, completion queues and shared receive queues; events. */
#ifndef VHCA_DEFS_QUEUES_H
#define VHCA_DEFS_QUEUES_H

#include "admin.h"

/* -- UARs and event queues -- */

struct vhca_open_uar_req {
	__le64 db_page;			/* DMA address of doorbell page 0, zeroed */
};

static_assert(sizeof(struct vhca_open_uar_req) == 8);

struct vhca_add_db_page_req {
	__le32 uar;
	__le32 page;			/* next number: pages are added in order */
	__le64 db_page;
};

static_assert(sizeof(struct vhca_add_db_page_req) == 16);

/* The one EQ with this flag carries asynchronous events, all others completion events. */
#define VHCA_EQ_ASYNC		(1U << 0)
#define VHCA_EQ_PORT_CHANGE	(1U << 1)	/* with ASYNC: PORT_CHANGE among them */

struct vhca_create_eq_req {
	struct vhca_buf buf;		/* entries of struct vhca_eqe, zeroed */
	__le32 uar;
	__le32 db_slot;			/* consumer slot; arm record in the next one */
	__le32 vector;			/* MSI-X vector, or VHCA_NO_VECTOR: polled */
	__u8 log_entries;
	__u8 flags;			/* VHCA_EQ_* */
	__u8 rsvd[2];
};

static_assert(sizeof(struct vhca_create_eq_req) == 40);

/*
 * An EQ arms like a CQ.  Its entries carry a lap bit as those of a CQ do.
 * VHCA_EQE_F_MORE: the ring was full behind this entry; the driver rings the
 * EQ's consumer slot (news bit, summary, kick) once it has made room.
 */
#define VHCA_EQE_OWNER		(1U << 0)
#define VHCA_EQE_F_MORE		(1U << 0)

enum vhca_event {
	VHCA_EV_COMPLETION	= 0x01,	/* number = cqn */
	VHCA_EV_CQ_ERR		= 0x10,	/* number = cqn */
	VHCA_EV_QP_FATAL	= 0x11,	/* number = qpn, here and below */
	VHCA_EV_QP_REQ_ERR	= 0x12,
	VHCA_EV_QP_ACCESS_ERR	= 0x13,
	VHCA_EV_COMM_EST	= 0x14,
	VHCA_EV_SQ_DRAINED	= 0x15,
	VHCA_EV_LAST_WQE	= 0x16,	/* QP with an SRQ failed and takes no more receives */
	VHCA_EV_PATH_MIG	= 0x17,	/* the alternate path is in use now */
	VHCA_EV_SRQ_LIMIT	= 0x18,	/* number = srqn */
	VHCA_EV_SRQ_ERR		= 0x19,	/* number = srqn: its ring cannot be read */
	VHCA_EV_PATH_MIG_ERR	= 0x1a,	/* number = qpn: the peer went where there is no path */
	VHCA_EV_PORT_ACTIVE	= 0x20,	/* number = 0, port says which */
	VHCA_EV_PORT_ERR	= 0x21,
	VHCA_EV_LID_CHANGE	= 0x22,
	VHCA_EV_PKEY_CHANGE	= 0x23,
	VHCA_EV_GID_CHANGE	= 0x24,
	VHCA_EV_SM_CHANGE	= 0x25,
	VHCA_EV_REREGISTER	= 0x26,	/* subnet management forgot the port's clients */
	VHCA_EV_PORT_CHANGE	= 0x27,	/* QUERY_PORT has changed where no other event says so */
	VHCA_EV_DEVICE_FATAL	= 0x30,
};

struct vhca_eqe {
	__le32 number;
	__u8 event;			/* enum vhca_event */
	__u8 port;			/* of a port's event, or of QP 0 and 1; else 0 */
	__u8 flags;			/* VHCA_EQE_F_* */
	__u8 rsvd[8];
	__u8 owner;
};

static_assert(sizeof(struct vhca_eqe) == 16);

/* -- completion queues -- */

#define VHCA_CQ_TIMESTAMP	(1U << 0)
#define VHCA_CQ_IGNORE_OVERRUN	(1U << 1)

struct vhca_create_cq_hw_req {
	struct vhca_buf buf;		/* 1 << log_cqe entries, zeroed */
	__le32 uar;
	__le32 db_slot;			/* consumer slot; arm record in the next one */
	__le32 eqn;
	__u8 log_cqe;
	__u8 flags;			/* VHCA_CQ_* */
	__u8 rsvd[2];
};

static_assert(sizeof(struct vhca_create_cq_hw_req) == 40);

/*
 * Entries are written to the new ring from the count on that the answer tells;
 * those before it stay in the old one, which the device has left when it
 * answers: the driver copies them.  The new ring comes with every owner bit
 * such that no entry from the consumer count on is valid, and the consumer
 * record is up to date.  Refused with BAD_STATE when more entries wait to be
 * polled than fit, and then nothing has changed.
 */
struct vhca_resize_cq_hw_req {
	struct vhca_buf buf;		/* 1 << log_cqe entries */
	__le32 cqn;
	__u8 log_cqe;
	__u8 rsvd[3];
};

static_assert(sizeof(struct vhca_resize_cq_hw_req) == 32);

struct vhca_resize_cq_hw_resp {
	__le32 first;			/* low 32 bits of the count of the first new entry */
	__le32 rsvd;
};

static_assert(sizeof(struct vhca_resize_cq_hw_resp) == 8);

/*
 * An armed CQ raises its event when count entries were written since the one
 * before, or period after the first of them, whichever is earlier.  count 0
 * or 1, or period 0: at once.
 */
struct vhca_modify_cq_req {
	__le32 cqn;
	__le16 count;
	__le16 period;			/* microseconds */
};

static_assert(sizeof(struct vhca_modify_cq_req) == 8);

/* -- shared receive queues -- */

/*
 * XRC: of a domain.  Requests to the XRC_TGT QPs of that domain name it, its
 * receives complete in a CQ of its own, and the keys they use are of its PD.
 */
#define VHCA_SRQ_XRC		(1U << 0)

struct vhca_create_srq_hw_req {
	struct vhca_buf buf;		/* 1 << log_strides strides */
	__le32 pdn;
	__le32 uar;
	__le32 db_slot;			/* posted slot; taken record in the next one */
	__u8 log_strides;
	__u8 log_stride;
	__u8 flags;			/* VHCA_SRQ_* */
	__u8 rsvd;
	__le32 xrcdn;			/* with VHCA_SRQ_XRC, and the next */
	__le32 cqn;
};

static_assert(sizeof(struct vhca_create_srq_hw_req) == 48);

/* Arms the limit for one event: fewer receives than that are left.  0: none. */
struct vhca_modify_srq_hw_req {
	__le32 srqn;
	__le32 limit;
};

static_assert(sizeof(struct vhca_modify_srq_hw_req) == 8);

/*
 * The new ring holds every receive from the taken count on, each where its
 * count belongs in it; those that the device takes meanwhile come from the old
 * one.  Refused with BAD_STATE when more are posted than fit.
 */
struct vhca_resize_srq_hw_req {
	struct vhca_buf buf;
	__le32 srqn;
	__u8 log_strides;
	__u8 rsvd[3];
};

static_assert(sizeof(struct vhca_resize_srq_hw_req) == 32);

struct vhca_query_srq_resp {
	__le32 limit;			/* armed, or 0 */
	__le32 left;			/* posted and not taken */
};

static_assert(sizeof(struct vhca_query_srq_resp) == 8);

#endif /* VHCA_DEFS_QUEUES_H */
