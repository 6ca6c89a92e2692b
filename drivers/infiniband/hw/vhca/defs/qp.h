/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Admin commands of queue pairs and multicast groups. */
#ifndef VHCA_DEFS_QP_H
#define VHCA_DEFS_QP_H

#include "admin.h"

enum vhca_qp_type {			/* as enum ib_qp_type */
	VHCA_QPT_SMI		= 0,
	VHCA_QPT_GSI		= 1,
	VHCA_QPT_RC		= 2,
	VHCA_QPT_UC		= 3,
	VHCA_QPT_UD		= 4,
	VHCA_QPT_XRC_INI	= 9,
	VHCA_QPT_XRC_TGT	= 10,
};

/*
 * XRC_INI is a requester only: it has no receive queue and no receive CQ.  XRC_TGT
 * is a responder only: it has no queues, no CQs and no PD, but an XRC domain.  Fields
 * for what a QP does not have are zero, or VHCA_NO_QUEUE.
 *
 * SMI and GSI are a port's QP 0 and QP 1.  These numbers name a QP only together with
 * a port, so each number has a port field beside it: 1..ports with numbers below
 * VHCA_SPECIAL_QPS, else 0.  MODIFY_QP and completions use the port field that they have
 * for other purposes.  These QPs can be in no multicast group and bound to no counter.
 */
#define VHCA_SPECIAL_QPS	2

#define VHCA_QP_SIGNAL_ALL	(1U << 0)
#define VHCA_QP_SRQ		(1U << 1)	/* receives come from srqn */
#define VHCA_QP_NO_MC_LOOP	(1U << 2)	/* UD: no loopback of own multicasts */
#define VHCA_QP_RX_CSUM		(1U << 3)	/* UD: verify checksums; needs UD_CSUM */

struct vhca_create_qp_hw_req {
	struct vhca_buf sq;
	struct vhca_buf rq;
	__le32 pdn;
	__le32 uar;
	__le32 db_slot;			/* of the send record; receive record in the next one */
	__le32 send_cqn;
	__le32 recv_cqn;
	__le32 max_inline;
	__u8 type;			/* enum vhca_qp_type */
	__u8 flags;			/* VHCA_QP_* */
	__u8 log_sq_blocks;		/* or VHCA_NO_QUEUE */
	__u8 log_rq_strides;		/* or VHCA_NO_QUEUE */
	__u8 log_rq_stride;
	__u8 port;			/* SMI, GSI: 1..ports; else 0 */
	__u8 rsvd[2];
	__le32 cookie[2];		/* chosen by the driver, shown in logs of the device only */
	__le32 srqn;			/* with VHCA_QP_SRQ; then there is no receive ring */
	__le32 xrcdn;			/* XRC_TGT */
};

static_assert(sizeof(struct vhca_create_qp_hw_req) == 96);

/* Attribute bits have the numbers of enum ib_qp_attr_mask. */
#define VHCA_QPA_STATE			(1U << 0)
#define VHCA_QPA_CUR_STATE		(1U << 1)
#define VHCA_QPA_EN_SQD_ASYNC_NOTIFY	(1U << 2)
#define VHCA_QPA_ACCESS_FLAGS		(1U << 3)
#define VHCA_QPA_PKEY_INDEX		(1U << 4)
#define VHCA_QPA_PORT			(1U << 5)
#define VHCA_QPA_QKEY			(1U << 6)
#define VHCA_QPA_AV			(1U << 7)
#define VHCA_QPA_PATH_MTU		(1U << 8)
#define VHCA_QPA_TIMEOUT		(1U << 9)
#define VHCA_QPA_RETRY_CNT		(1U << 10)
#define VHCA_QPA_RNR_RETRY		(1U << 11)
#define VHCA_QPA_RQ_PSN			(1U << 12)
#define VHCA_QPA_MAX_QP_RD_ATOMIC	(1U << 13)
#define VHCA_QPA_ALT_PATH		(1U << 14)
#define VHCA_QPA_MIN_RNR_TIMER		(1U << 15)
#define VHCA_QPA_SQ_PSN			(1U << 16)
#define VHCA_QPA_MAX_DEST_RD_ATOMIC	(1U << 17)
#define VHCA_QPA_PATH_MIG_STATE		(1U << 18)
#define VHCA_QPA_CAP			(1U << 19)
#define VHCA_QPA_DEST_QPN		(1U << 20)

struct vhca_qp_attr {
	__u8 state;			/* enum ib_qp_state */
	__u8 cur_state;
	__u8 sq_draining;		/* query only */
	__u8 en_sqd_async_notify;
	__u8 access;			/* VHCA_ACCESS_REMOTE_*, FLUSH_* */
	__u8 port;			/* SMI, GSI: always valid, whatever the mask */
	__u8 path_mtu;			/* enum ib_mtu */
	__u8 path_mig_state;		/* enum ib_mig_state; the device sets ARMED */
	__le16 pkey_index;
	__le16 alt_pkey_index;
	__le32 qkey;
	__le32 rq_psn;
	__le32 sq_psn;
	__le32 dest_qpn;
	__u8 timeout;			/* 4.096 us << n, 0: infinite */
	__u8 retry_cnt;			/* 0..7 */
	__u8 rnr_retry;			/* 0..7, 7: infinite */
	__u8 min_rnr_timer;		/* 0..31 */
	__u8 max_rd_atomic;		/* as requester */
	__u8 max_dest_rd_atomic;	/* as responder */
	__u8 alt_port;
	__u8 alt_timeout;
	struct vhca_av av;
	struct vhca_av alt_av;
};

static_assert(sizeof(struct vhca_qp_attr) == 108);

struct vhca_modify_qp_req {
	__le32 qpn;
	__le32 mask;			/* VHCA_QPA_* */
	struct vhca_qp_attr attr;
};

static_assert(sizeof(struct vhca_modify_qp_req) == 116);

/*
 * ATTACH_MCG, DETACH_MCG.  The QP gets one copy of each multicast packet to the group,
 * however often it was attached.  mlid is the DLID of the packets.
 */
struct vhca_mcg_req {
	__u8 mgid[16];
	__le32 qpn;
	__le16 mlid;
	__u8 rsvd[2];
};

static_assert(sizeof(struct vhca_mcg_req) == 24);

#endif /* VHCA_DEFS_QP_H */
