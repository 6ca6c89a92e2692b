/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Queue pairs.
 */
#ifndef RDMA_VERBS_QP_H
#define RDMA_VERBS_QP_H

#include <linux/completion.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <rdma/rdma_object.h>
#include <rdma/verbs/ah.h>
#include <rdma/verbs/port.h>
#include <rdma/verbs/types.h>

struct ib_event;
struct ib_qp_security;

/**
 * struct ib_qp_cap - sizes of a QP
 * @max_send_wr: send work requests that may be outstanding
 * @max_recv_wr: receive work requests that may be outstanding
 * @max_send_sge: gather entries of a send
 * @max_recv_sge: scatter entries of a receive
 * @max_inline_data: bytes a send may carry inline
 * @max_rdma_ctxs: RDMA contexts of rdma/rw.h that may run at the same time; the core
 *	enlarges the send queue for them
 */
struct ib_qp_cap {
	u32	max_send_wr;
	u32	max_recv_wr;
	u32	max_send_sge;
	u32	max_recv_sge;
	u32	max_inline_data;

	u32	max_rdma_ctxs;
};

enum ib_sig_type {
	IB_SIGNAL_ALL_WR,
	IB_SIGNAL_REQ_WR
};

/* Types of QP. A port has one of each type up to IB_QPT_GSI; only the kernel creates these. */
enum ib_qp_type {
	IB_QPT_SMI,
	IB_QPT_GSI,

	IB_QPT_RC = IB_UVERBS_QPT_RC,
	IB_QPT_UC = IB_UVERBS_QPT_UC,
	IB_QPT_UD = IB_UVERBS_QPT_UD,
	IB_QPT_RAW_IPV6,
	IB_QPT_RAW_ETHERTYPE,
	IB_QPT_RAW_PACKET = IB_UVERBS_QPT_RAW_PACKET,
	IB_QPT_XRC_INI = IB_UVERBS_QPT_XRC_INI,
	IB_QPT_XRC_TGT = IB_UVERBS_QPT_XRC_TGT,
	IB_QPT_MAX,
	IB_QPT_DRIVER = IB_UVERBS_QPT_DRIVER,

	IB_QPT_RESERVED1 = 0x1000,
	IB_QPT_RESERVED2,
	IB_QPT_RESERVED3,
	IB_QPT_RESERVED4,
	IB_QPT_RESERVED5,
	IB_QPT_RESERVED6,
	IB_QPT_RESERVED7,
	IB_QPT_RESERVED8,
	IB_QPT_RESERVED9,
	IB_QPT_RESERVED10,
};

enum ib_qp_create_flags {
	IB_QP_CREATE_IPOIB_UD_LSO		= 1 << 0,
	IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK	=
		IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK,
	IB_QP_CREATE_CROSS_CHANNEL              = 1 << 2,
	IB_QP_CREATE_MANAGED_SEND               = 1 << 3,
	IB_QP_CREATE_MANAGED_RECV               = 1 << 4,
	IB_QP_CREATE_NETIF_QP			= 1 << 5,
	IB_QP_CREATE_INTEGRITY_EN		= 1 << 6,
	IB_QP_CREATE_NETDEV_USE			= 1 << 7,
	IB_QP_CREATE_SCATTER_FCS		=
		IB_UVERBS_QP_CREATE_SCATTER_FCS,
	IB_QP_CREATE_CVLAN_STRIPPING		=
		IB_UVERBS_QP_CREATE_CVLAN_STRIPPING,
	IB_QP_CREATE_SOURCE_QPN			= 1 << 10,
	IB_QP_CREATE_PCI_WRITE_END_PADDING	=
		IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING,

	IB_QP_CREATE_RESERVED_START		= 1 << 26,
	IB_QP_CREATE_RESERVED_END		= 1 << 31,
};

/**
 * struct ib_qp_init_attr - attributes of a new QP
 * @event_handler: called on an asynchronous event; may not sleep
 * @qp_context: argument of @event_handler
 * @send_cq: completes sends
 * @recv_cq: completes receives
 * @srq: shared receive queue instead of a receive queue, or NULL
 * @xrcd: XRC domain of a target QP
 * @cap: sizes wanted; the driver returns the sizes that the QP has
 * @sq_sig_type: whether every send generates a completion
 * @qp_type: type
 * @create_flags: enum ib_qp_create_flags
 * @port_num: port of a special QP, or where rdma/rw.h will be used
 * @rwq_ind_tbl: indirection table of receive side scaling, or NULL
 * @source_qpn: with IB_QP_CREATE_SOURCE_QPN, the QP number that sent packets name as source
 */
struct ib_qp_init_attr {
	void                  (*event_handler)(struct ib_event *event, void *context);

	void		       *qp_context;
	struct ib_cq	       *send_cq;
	struct ib_cq	       *recv_cq;
	struct ib_srq	       *srq;
	struct ib_xrcd	       *xrcd;
	struct ib_qp_cap	cap;
	enum ib_sig_type	sq_sig_type;
	enum ib_qp_type		qp_type;
	u32			create_flags;

	u32			port_num;
	struct ib_rwq_ind_table *rwq_ind_tbl;
	u32			source_qpn;
};

/**
 * struct ib_qp_open_attr - attributes of a further handle of an XRC target QP
 * @event_handler: called on an asynchronous event
 * @qp_context: argument of @event_handler
 * @qp_num: number
 * @qp_type: IB_QPT_XRC_TGT
 */
struct ib_qp_open_attr {
	void                  (*event_handler)(struct ib_event *event, void *context);
	void		       *qp_context;
	u32			qp_num;
	enum ib_qp_type		qp_type;
};

/* Encoded RNR NAK timers; the names give milliseconds with two decimal places. */
enum ib_rnr_timeout {
	IB_RNR_TIMER_655_36 =  0,
	IB_RNR_TIMER_000_01 =  1,
	IB_RNR_TIMER_000_02 =  2,
	IB_RNR_TIMER_000_03 =  3,
	IB_RNR_TIMER_000_04 =  4,
	IB_RNR_TIMER_000_06 =  5,
	IB_RNR_TIMER_000_08 =  6,
	IB_RNR_TIMER_000_12 =  7,
	IB_RNR_TIMER_000_16 =  8,
	IB_RNR_TIMER_000_24 =  9,
	IB_RNR_TIMER_000_32 = 10,
	IB_RNR_TIMER_000_48 = 11,
	IB_RNR_TIMER_000_64 = 12,
	IB_RNR_TIMER_000_96 = 13,
	IB_RNR_TIMER_001_28 = 14,
	IB_RNR_TIMER_001_92 = 15,
	IB_RNR_TIMER_002_56 = 16,
	IB_RNR_TIMER_003_84 = 17,
	IB_RNR_TIMER_005_12 = 18,
	IB_RNR_TIMER_007_68 = 19,
	IB_RNR_TIMER_010_24 = 20,
	IB_RNR_TIMER_015_36 = 21,
	IB_RNR_TIMER_020_48 = 22,
	IB_RNR_TIMER_030_72 = 23,
	IB_RNR_TIMER_040_96 = 24,
	IB_RNR_TIMER_061_44 = 25,
	IB_RNR_TIMER_081_92 = 26,
	IB_RNR_TIMER_122_88 = 27,
	IB_RNR_TIMER_163_84 = 28,
	IB_RNR_TIMER_245_76 = 29,
	IB_RNR_TIMER_327_68 = 30,
	IB_RNR_TIMER_491_52 = 31
};

/* Members of struct ib_qp_attr that a call sets or queries. */
enum ib_qp_attr_mask {
	IB_QP_STATE			= 1,
	IB_QP_CUR_STATE			= (1 << 1),
	IB_QP_EN_SQD_ASYNC_NOTIFY	= (1 << 2),
	IB_QP_ACCESS_FLAGS		= (1 << 3),
	IB_QP_PKEY_INDEX		= (1 << 4),
	IB_QP_PORT			= (1 << 5),
	IB_QP_QKEY			= (1 << 6),
	IB_QP_AV			= (1 << 7),
	IB_QP_PATH_MTU			= (1 << 8),
	IB_QP_TIMEOUT			= (1 << 9),
	IB_QP_RETRY_CNT			= (1 << 10),
	IB_QP_RNR_RETRY			= (1 << 11),
	IB_QP_RQ_PSN			= (1 << 12),
	IB_QP_MAX_QP_RD_ATOMIC		= (1 << 13),
	IB_QP_ALT_PATH			= (1 << 14),
	IB_QP_MIN_RNR_TIMER		= (1 << 15),
	IB_QP_SQ_PSN			= (1 << 16),
	IB_QP_MAX_DEST_RD_ATOMIC	= (1 << 17),
	IB_QP_PATH_MIG_STATE		= (1 << 18),
	IB_QP_CAP			= (1 << 19),
	IB_QP_DEST_QPN			= (1 << 20),
	IB_QP_RESERVED1			= (1 << 21),
	IB_QP_RESERVED2			= (1 << 22),
	IB_QP_RESERVED3			= (1 << 23),
	IB_QP_RESERVED4			= (1 << 24),
	IB_QP_RATE_LIMIT		= (1 << 25),

	IB_QP_ATTR_STANDARD_BITS = GENMASK(20, 0),
};

enum ib_qp_state {
	IB_QPS_RESET,
	IB_QPS_INIT,
	IB_QPS_RTR,
	IB_QPS_RTS,
	IB_QPS_SQD,
	IB_QPS_SQE,
	IB_QPS_ERR
};

enum ib_mig_state {
	IB_MIG_MIGRATED,
	IB_MIG_REARM,
	IB_MIG_ARMED
};

/**
 * struct ib_qp_attr - attributes of a QP; a mask says which are valid
 * @qp_state: state to change to
 * @cur_qp_state: state that the caller assumes it to be in
 * @path_mtu: MTU of the path
 * @path_mig_state: path migration
 * @qkey: Q_Key of a datagram QP
 * @rq_psn: PSN of the first packet expected, 24 bits
 * @sq_psn: PSN of the first packet sent, 24 bits
 * @dest_qp_num: the peer's number
 * @qp_access_flags: rights of the peer, enum ib_access_flags
 * @cap: sizes
 * @ah_attr: address vector of the path
 * @alt_ah_attr: address vector of the alternate path
 * @pkey_index: index of the P_Key of the path
 * @alt_pkey_index: index of the P_Key of the alternate path
 * @en_sqd_async_notify: raise an event when the send queue is drained
 * @sq_draining: the send queue is being drained
 * @max_rd_atomic: READs and atomics that may be outstanding as initiator
 * @max_dest_rd_atomic: READs and atomics that may be outstanding as responder
 * @min_rnr_timer: time that an RNR NAK tells the peer to wait, enum ib_rnr_timeout
 * @port_num: port of the path
 * @timeout: wait for an acknowledgment, 4.096 us << n, 0: infinite
 * @retry_cnt: transport retries, 0 to 7
 * @rnr_retry: retries when the peer has no buffer, 7: infinite
 * @alt_port_num: port of the alternate path
 * @alt_timeout: wait for an acknowledgment on the alternate path
 * @rate_limit: kbit/s, 0: no limit
 * @xmit_slave: interface of a bond through which packets are sent
 */
struct ib_qp_attr {
	enum ib_qp_state	qp_state;
	enum ib_qp_state	cur_qp_state;
	enum ib_mtu		path_mtu;
	enum ib_mig_state	path_mig_state;
	u32			qkey;
	u32			rq_psn;
	u32			sq_psn;
	u32			dest_qp_num;
	int			qp_access_flags;
	struct ib_qp_cap	cap;
	struct rdma_ah_attr	ah_attr;
	struct rdma_ah_attr	alt_ah_attr;
	u16			pkey_index;
	u16			alt_pkey_index;
	u8			en_sqd_async_notify;
	u8			sq_draining;
	u8			max_rd_atomic;
	u8			max_dest_rd_atomic;
	u8			min_rnr_timer;
	u32			port_num;
	u8			timeout;
	u8			retry_cnt;
	u8			rnr_retry;
	u32			alt_port_num;
	u8			alt_timeout;
	u32			rate_limit;
	struct net_device	*xmit_slave;
};

/**
 * struct ib_qp - queue pair
 * @device: device
 * @pd: PD
 * @send_cq: completes sends
 * @recv_cq: completes receives
 * @mr_lock: protects @rdma_mrs, @sig_mrs, @pool_mrs and @mrs_used
 * @mrs_used: number of MRs of the pools that are in use
 * @rdma_mrs: pool of MRs for RDMA contexts
 * @sig_mrs: pool of MRs for signature contexts
 * @srq: shared receive queue or NULL
 * @srq_completion: completed when a QP with an SRQ has taken its last WQE
 * @xrcd: XRC domain or NULL
 * @xrcd_list: unused
 * @open_list: handles of a shared QP
 * @real_qp: the shared QP if this is one of its handles, else this QP
 * @uobject: the user's handle, NULL for a kernel QP
 * @event_handler: called on an asynchronous event
 * @registered_event_handler: the consumer's handler, which the core's own handler calls
 * @qp_context: argument of the consumer's handler
 * @av_sgid_attr: source GID entry of the path, reference held
 * @alt_path_sgid_attr: source GID entry of the alternate path, reference held
 * @qp_num: number
 * @max_write_sge: gather entries of an RDMA WRITE
 * @max_read_sge: scatter entries of an RDMA READ
 * @qp_type: type
 * @rwq_ind_tbl: indirection table or NULL
 * @qp_sec: LSM security data for the use of P_Keys; private to the core
 * @port: port number
 * @integrity_en: signature MRs may be used
 * @counter: counter that it is bound to, or NULL
 * @pool_mrs: all MRs of its pools, including those in use
 * @RDMA_OBJECT_BASE: object base
 */
struct ib_qp {
	struct ib_device       *device;
	struct ib_pd	       *pd;
	struct ib_cq	       *send_cq;
	struct ib_cq	       *recv_cq;
	spinlock_t		mr_lock;
	int			mrs_used;
	struct list_head	rdma_mrs;
	struct list_head	sig_mrs;
	struct ib_srq	       *srq;
	struct completion	srq_completion;
	struct ib_xrcd	       *xrcd;
	struct list_head	xrcd_list;

	struct list_head	open_list;
	struct ib_qp           *real_qp;
	struct ib_uqp_object   *uobject;
	void                  (*event_handler)(struct ib_event *event, void *context);
	void                  (*registered_event_handler)(struct ib_event *event, void *context);
	void		       *qp_context;

	const struct ib_gid_attr *av_sgid_attr;
	const struct ib_gid_attr *alt_path_sgid_attr;
	u32			qp_num;
	u32			max_write_sge;
	u32			max_read_sge;
	enum ib_qp_type		qp_type;
	struct ib_rwq_ind_table *rwq_ind_tbl;
	struct ib_qp_security  *qp_sec;
	u32			port;

	bool			integrity_en;

	struct rdma_counter    *counter;

	struct list_head	pool_mrs;

	RDMA_OBJECT_BASE;
};

struct ib_qp *ib_create_qp_kernel(struct ib_pd *pd,
				  struct ib_qp_init_attr *qp_init_attr,
				  const char *caller);

/**
 * ib_create_qp() - create a kernel QP
 * @pd: PD
 * @init_attr: attributes of the new QP; returns the sizes that it has
 *
 * Context: may sleep.
 * Return: the QP or an error pointer.
 */
static inline struct ib_qp *ib_create_qp(struct ib_pd *pd, struct ib_qp_init_attr *init_attr)
{
	const char *owner = KBUILD_MODNAME;

	return ib_create_qp_kernel(pd, init_attr, owner);
}

int ib_modify_qp_with_udata(struct ib_qp *qp,
			    struct ib_qp_attr *attr,
			    int attr_mask,
			    struct ib_udata *udata);

int ib_modify_qp(struct ib_qp *qp,
		 struct ib_qp_attr *qp_attr,
		 int qp_attr_mask);

int ib_query_qp(struct ib_qp *qp,
		struct ib_qp_attr *qp_attr,
		int qp_attr_mask,
		struct ib_qp_init_attr *qp_init_attr);

bool ib_modify_qp_is_ok(enum ib_qp_state cur_state, enum ib_qp_state next_state,
			enum ib_qp_type type, enum ib_qp_attr_mask mask);

int ib_destroy_qp_user(struct ib_qp *qp, struct ib_udata *udata);

/**
 * ib_destroy_qp() - destroy a kernel QP
 * @qp: QP
 *
 * Context: may sleep.
 * Return: 0 or the driver's error.
 */
static inline int ib_destroy_qp(struct ib_qp *qp)
{
	struct ib_udata *none = NULL;

	return ib_destroy_qp_user(qp, none);
}

struct ib_qp *ib_open_qp(struct ib_xrcd *xrcd,
			 struct ib_qp_open_attr *qp_open_attr);

int ib_close_qp(struct ib_qp *qp);

void ib_qp_usecnt_inc(struct ib_qp *qp);

void ib_qp_usecnt_dec(struct ib_qp *qp);

int ib_attach_mcast(struct ib_qp *qp, union ib_gid *gid, u16 lid);

int ib_detach_mcast(struct ib_qp *qp, union ib_gid *gid, u16 lid);

void ib_drain_rq(struct ib_qp *qp);

void ib_drain_sq(struct ib_qp *qp);

void ib_drain_qp(struct ib_qp *qp);

#endif /* RDMA_VERBS_QP_H */
