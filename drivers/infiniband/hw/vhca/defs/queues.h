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
	__le32 page;			/* the next number, since pages are added in order */
	__le64 db_page;
};

static_assert(sizeof(struct vhca_add_db_page_req) == 16);

/* The one EQ with this flag carries asynchronous events, all others completion events. */
#define VHCA_EQ_ASYNC		(1U << 0)
#define VHCA_EQ_PORT_CHANGE	(1U << 1)	/* with ASYNC: report PORT_CHANGE as well */

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
 * An EQ is armed like a CQ, and its entries have an owner bit as those of a CQ.
 * VHCA_EQE_F_MORE: the ring was full behind this entry; the driver rings the
 * doorbell of the EQ's consumer record (news bit, summary, kick) when it has made
 * room.
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
	VHCA_EV_LAST_WQE	= 0x16,	/* QP with SRQ in error: it takes no more receives */
	VHCA_EV_PATH_MIG	= 0x17,	/* the alternate path is in use now */
	VHCA_EV_SRQ_LIMIT	= 0x18,	/* number = srqn */
	VHCA_EV_SRQ_ERR		= 0x19,	/* number = srqn: its ring cannot be read */
	VHCA_EV_PATH_MIG_ERR	= 0x1a,	/* number = qpn: the peer migrated to another path */
	VHCA_EV_PORT_ACTIVE	= 0x20,	/* number = 0, the port is in the field port */
	VHCA_EV_PORT_ERR	= 0x21,
	VHCA_EV_LID_CHANGE	= 0x22,
	VHCA_EV_PKEY_CHANGE	= 0x23,
	VHCA_EV_GID_CHANGE	= 0x24,
	VHCA_EV_SM_CHANGE	= 0x25,
	VHCA_EV_REREGISTER	= 0x26,	/* the SM asks clients to register again */
	VHCA_EV_PORT_CHANGE	= 0x27,	/* attributes changed that no other event reports */
	VHCA_EV_DEVICE_FATAL	= 0x30,
};

struct vhca_eqe {
	__le32 number;
	__u8 event;			/* enum vhca_event */
	__u8 port;			/* of an event of a port, or of QP 0 and 1; else 0 */
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
 * RESIZE_CQ.  The device writes entries to the new ring from the count in the response
 * on; those before it stay in the old ring, which the device does not access any more
 * when the command completes: the driver copies them.  The driver sets the owner bits of
 * the new ring such that no entry from the consumer count on is valid, and updates the
 * consumer record before.  If more entries are unpolled than fit, the command fails with
 * BAD_STATE and changes nothing.
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
 * MODIFY_CQ.  An armed CQ raises its event when count entries were written since the
 * last event, or when period has passed since the first of them, whichever is earlier.
 * With count 0 or 1, or period 0, it raises the event at once.
 */
struct vhca_modify_cq_req {
	__le32 cqn;
	__le16 count;
	__le16 period;			/* microseconds */
};

static_assert(sizeof(struct vhca_modify_cq_req) == 8);

/* -- shared receive queues -- */

/*
 * The SRQ belongs to an XRC domain.  Requests to XRC_TGT QPs of the domain name it by
 * number, its receives complete to its own CQ, and keys are checked against its PD.
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

/* MODIFY_SRQ: arms one SRQ_LIMIT event, raised when fewer receives are left.  0 disarms it. */
struct vhca_modify_srq_hw_req {
	__le32 srqn;
	__le32 limit;
};

static_assert(sizeof(struct vhca_modify_srq_hw_req) == 8);

/*
 * RESIZE_SRQ.  The new ring holds every receive from the taken count on, each at the
 * place of its count in the new ring; receives that the device takes during the command
 * come from the old one.  If more are posted than fit, it fails with BAD_STATE.
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
