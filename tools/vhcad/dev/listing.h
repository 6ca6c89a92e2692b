/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Lists of a device's objects, for the control socket: a page at a time, so
 * that a device with very many of them does not keep the engine waiting.
 */
#ifndef VHCAD_DEV_LISTING_H
#define VHCAD_DEV_LISTING_H

#include "dev/device.h"
#include "res/stats.h"

#define VLIST_PAGE	64u
#define VLIST_END	UINT32_MAX
#define VLIST_NONE	UINT32_MAX	/* a number that an object does not have */

/**
 * struct vqp_info - a queue pair
 * @port: 0 before it has one
 * @dlid, @dest_qpn: the peer it is connected to, or 0
 * @send_cqn, @recv_cqn: VLIST_NONE: it has no such CQ
 * @xrcdn: XRC domain, or VLIST_NONE
 * @has_srq: its receives come from @srqn; for an XRC target the last receive did
 * @sq_blocks: blocks rung and not taken yet
 * @sq_requests: requests under way
 * @rq_left: receives posted and not taken
 */
struct vqp_info {
	u32 qpn;
	u8 type;		/* enum vhca_qp_type */
	u8 state;		/* enum ib_qp_state */
	u8 port;
	u16 dlid;
	u32 dest_qpn;
	u32 send_cqn, recv_cqn;
	u32 xrcdn;
	bool has_srq;
	u32 srqn;
	u32 sq_blocks, sq_requests, rq_left;
	struct vqp_stats stats;
};

/**
 * struct vcq_info - a completion queue
 * @size: entries
 * @filled: entries that were not polled yet
 * @qps: queues of QPs that complete here
 * @err: overrun or not accessible
 */
struct vcq_info {
	u32 cqn;
	u32 eqn;
	u32 size;
	u32 filled;
	u32 qps;
	bool err;
};

/**
 * struct vsrq_info - a shared receive queue
 * @size: receives that fit
 * @left: posted and not taken
 * @limit: armed, or 0
 * @qps: QPs that take from it; not those of its XRC domain
 * @xrcdn, @cqn: XRC: domain, and where receives complete; otherwise VLIST_NONE
 */
struct vsrq_info {
	u32 srqn;
	u32 size;
	u32 left;
	u32 limit;
	u32 qps;
	u32 xrcdn, cqn;
	bool err;
};

#define VLIST_GROUP_QPS	16u

/**
 * struct vgroup_info - a multicast group
 * @nqps: QPs that are attached
 * @qpn: some of them, the first to be attached first
 */
struct vgroup_info {
	u8 mgid[16];
	u16 mlid;
	u32 nqps;
	u32 qpn[VLIST_GROUP_QPS];
};

/**
 * struct vkey_info - a memory key
 * @key: as it is used now
 * @addr, @length: what it translates; 0 when that is nothing
 * @access: VHCA_ACCESS_*
 * @windows: windows bound to this region
 * @region: window: the key of its region, or 0
 * @qpn: window of type 2: the QP that it belongs to, or 0
 */
struct vkey_info {
	u32 key;
	u8 type;		/* enum vhca_mkey_type */
	u8 access;
	u32 pdn;
	u64 addr, length;
	u32 windows;
	u32 region;
	u32 qpn;
};

enum vlist_kind {
	VLIST_QPS,
	VLIST_CQS,
	VLIST_SRQS,
	VLIST_GROUPS,
	VLIST_KEYS,
	VLIST_KINDS,
};

union vobject_info {
	struct vqp_info qp;
	struct vcq_info cq;
	struct vsrq_info srq;
	struct vgroup_info group;
	struct vkey_info key;
};

/**
 * vdev_list() - objects of a kind, in order of their places
 * @dev: device
 * @kind: which
 * @from: in: where to start, 0 for the first; out: where to go on, or VLIST_END
 * @page: receives them
 *
 * Any thread.  Returns how many there are in @page.
 */
u32 vdev_list(struct vhca_dev *dev, enum vlist_kind kind, u32 *from,
	      union vobject_info page[VLIST_PAGE]);

/** vqp_type_name() - a transport's name, or "?" */
const char *vqp_type_name(u32 type);

/** vkey_type_name() - a kind of memory key, or "?" */
const char *vkey_type_name(u32 type);

/** vqp_state_name() - a QP state's name, or "?" */
const char *vqp_state_name(u32 state);

#endif /* VHCAD_DEV_LISTING_H */
