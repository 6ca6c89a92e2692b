/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * libvhca: rdma-core provider of the VHCA device.
 */
#ifndef VHCA_H
#define VHCA_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include <ccan/container_of.h>
#include <infiniband/driver.h>
#include <kernel-abi/vhca-abi.h>

#include "lock.h"
#include "ring.h"

#define VHCA_PCI_VENDOR	0x1af4
#define VHCA_PCI_DEVICE	0x10f0
#define VHCA_MAX_QPN	0xffffff

/*
 * Most requests of a queue, and entries of a CQ, that this provider lays out.
 * More is asked of the kernel all the same, so that the refusal comes with its
 * reason.
 */
#define VHCA_MAX_WR	(1U << 20)
#define VHCA_MAX_CQE	(1U << 24)

/* Requests that a device takes whose driver does not say which. */
#define VHCA_SEND_OPS_1_1							\
	(1U << VHCA_OP_SEND | 1U << VHCA_OP_SEND_IMM | 1U << VHCA_OP_WRITE |	\
	 1U << VHCA_OP_WRITE_IMM | 1U << VHCA_OP_READ)

/* Features that this provider can use. */
#define VHCA_FEATURES	(VHCA_UCTX_F_TIMESTAMP | VHCA_UCTX_F_CLOCK)

DECLARE_DRV_CMD(vhca_cmd_context, IB_USER_VERBS_CMD_GET_CONTEXT, vhca_uctx_req, vhca_uctx_resp);
DECLARE_DRV_CMD(vhca_cmd_pd, IB_USER_VERBS_CMD_ALLOC_PD, empty, vhca_alloc_pd_resp);
DECLARE_DRV_CMD(vhca_cmd_ah, IB_USER_VERBS_CMD_CREATE_AH, empty, vhca_create_ah_resp);
DECLARE_DRV_CMD(vhca_cmd_cq, IB_USER_VERBS_EX_CMD_CREATE_CQ, vhca_create_cq_req,
		vhca_create_cq_resp);
DECLARE_DRV_CMD(vhca_cmd_resize_cq, IB_USER_VERBS_CMD_RESIZE_CQ, vhca_resize_cq_req,
		vhca_resize_cq_resp);
DECLARE_DRV_CMD(vhca_cmd_srq, IB_USER_VERBS_CMD_CREATE_SRQ, vhca_create_srq_req,
		vhca_create_srq_resp);
DECLARE_DRV_CMD(vhca_cmd_xsrq, IB_USER_VERBS_CMD_CREATE_XSRQ, vhca_create_srq_req,
		vhca_create_srq_resp);
DECLARE_DRV_CMD(vhca_cmd_modify_srq, IB_USER_VERBS_CMD_MODIFY_SRQ, vhca_modify_srq_req, empty);
DECLARE_DRV_CMD(vhca_cmd_qp, IB_USER_VERBS_EX_CMD_CREATE_QP, vhca_create_qp_req,
		vhca_create_qp_resp);

struct vhca_device {
	struct verbs_device vdev;
};

/**
 * struct vhca_context - an open device
 * @vctx: base
 * @kick: kick page
 * @db_lock: protects @db_pages and @num_db_pages
 * @db_pages: doorbell pages by number, NULL where not mapped yet; they stay until the context goes
 * @num_db_pages: length of @db_pages
 * @features: what both sides can do
 * @send_ops: requests that the device takes, a bit each (1 << enum vhca_wqe_opcode)
 * @uc_send_ops: those of them that it takes on UC QPs, as far as these can have them
 * @max_inline: inline bytes of a send at the most
 * @max_send_sge: gather entries of a send at the most
 * @max_recv_sge: scatter entries of a receive at the most
 * @page_size: of the host
 */
struct vhca_context {
	struct verbs_context vctx;
	volatile uint32_t *kick;
	pthread_mutex_t db_lock;
	struct vhca_db_page **db_pages;
	uint32_t num_db_pages;
	uint64_t features;
	uint32_t send_ops;
	uint32_t uc_send_ops;
	uint32_t max_inline;
	uint32_t max_send_sge;
	uint32_t max_recv_sge;
	size_t page_size;
};

/* Thread domain: @refs parent domains stand on it. */
struct vhca_td {
	struct ibv_td td;
	_Atomic uint32_t refs;
};

/**
 * struct vhca_pd - protection domain or parent domain
 * @pd: base; a parent domain has the handle of its PD
 * @pdn: number, to the device
 * @refs: parent domains that stand on a PD; objects made in a parent domain
 * @protects: PD of a parent domain; NULL: this is none
 * @td: its thread domain, or NULL
 * @alloc: gives memory for rings, or NULL
 * @free: takes it back
 * @context: the program's, for these two
 */
struct vhca_pd {
	struct ibv_pd pd;
	uint32_t pdn;
	_Atomic uint32_t refs;
	struct vhca_pd *protects;
	struct vhca_td *td;
	void *(*alloc)(struct ibv_pd *pd, void *context, size_t size, size_t alignment,
		       uint64_t resource_type);
	void (*free)(struct ibv_pd *pd, void *context, void *ptr, uint64_t resource_type);
	void *context;
};

/* What an allocator is asked for: resource_type. */
enum vhca_resource {
	VHCA_RES_QP,		/* rings of a QP */
	VHCA_RES_SRQ,
	VHCA_RES_CQ,
};

/**
 * struct vhca_buf - memory that the device reads or writes
 * @addr: the memory, or NULL
 * @size: bytes
 * @what: for what
 * @pd: parent domain whose allocator gave it; NULL: the system did
 */
struct vhca_buf {
	void *addr;
	size_t size;
	enum vhca_resource what;
	struct vhca_pd *pd;
};

/**
 * struct vhca_ah - address handle
 * @ah: base
 * @pd: handle of its PD
 * @av: where packets go, as the kernel answered
 */
struct vhca_ah {
	struct ibv_ah ah;
	uint32_t pd;
	struct vhca_av av;
};

/**
 * struct vhca_mw - memory window
 * @mw: base
 * @lock: protects the key of one that ibv_bind_mw() binds, taken before the send queue's
 */
struct vhca_mw {
	struct ibv_mw mw;
	pthread_mutex_t lock;
};

struct vhca_qp;
struct vhca_send_op;

struct vhca_srq;

/* Tells the number of an XRC SRQ from one of a QP, which has 24 bits too. */
#define VHCA_SRQ_KEY	(1U << 31)

/* A QP, or an XRC SRQ, in the table of a CQ. */
struct vhca_cq_user {
	struct vhca_cq_user *next;
	struct vhca_qp *qp;
	struct vhca_srq *srq;
	uint32_t key;		/* QP number, or SRQ number and VHCA_SRQ_KEY */
};

/* One moment by two clocks: the device's, and CLOCK_REALTIME; nanoseconds. */
struct vhca_clock_sync {
	uint64_t device;
	uint64_t real;
};

/**
 * struct vhca_cq - completion queue
 * @vcq: base
 * @lock: protects everything below
 * @buf: ring
 * @log: log2 of its entries
 * @cons: consumer count
 * @db: consumer and arm record
 * @arm_seq: sequence number of the last arm record
 * @any_seq: that of the last record for any completion, 0: there was none
 * @any_cons: consumer count of that record
 * @armed_any: armed for any completion, and no event has come since
 * @users: QPs and XRC SRQs that complete here, by number
 * @log_users: log2 of the table's length
 * @num_users: entries of the table
 * @last_user: the one that was looked up last
 * @entry: entry that extended polling is at
 * @polled: entries were taken in this round of extended polling
 * @clock: both clocks, if extended polling tells the time of day
 * @pd: parent domain that it was made in, or NULL
 */
struct vhca_cq {
	struct verbs_cq vcq;
	struct vhca_lock lock;
	struct vhca_buf buf;
	uint8_t log;
	uint64_t cons;
	struct vhca_slots db;
	uint32_t arm_seq;
	uint32_t any_seq;
	uint64_t any_cons;
	bool armed_any;
	struct vhca_cq_user **users;
	uint8_t log_users;
	uint32_t num_users;
	struct vhca_cq_user *last_user;
	struct vhca_cqe entry;
	bool polled;
	struct vhca_clock_sync clock;
	struct ibv_pd *pd;
};

/**
 * struct vhca_wq - send, receive or shared receive queue
 * @lock: protects @head for posting; of a shared one everything
 * @ring: ring, NULL when the QP has no such queue
 * @log: log2 of its units: blocks, or strides
 * @log_unit: log2 of the bytes of a unit
 * @max_wr: requests outstanding; only for receives, whose requests have one unit each
 * @max_sge: entries of a request's list
 * @max_inline: inline bytes of a request
 * @datagram: requests carry their destination
 * @head: units posted; changed under @lock, read by polls
 * @tail: units completed; changed by polls of the queue's CQ under its lock, read when posting;
 *	of a shared one those that the device is known to have taken
 */
struct vhca_wq {
	struct vhca_lock lock;
	void *ring;
	uint8_t log;
	uint8_t log_unit;
	uint32_t max_wr;
	uint32_t max_sge;
	uint32_t max_inline;
	bool datagram;
	_Atomic uint64_t head;
	_Atomic uint64_t tail;
};

/**
 * struct vhca_srq - shared receive queue
 * @vsrq: base
 * @buf: ring
 * @db: record of what was posted, and the device's of what it has taken
 * @wq: the queue
 * @completed: receives whose completions were polled
 * @user: XRC: in its CQ's table
 */
struct vhca_srq {
	struct verbs_srq vsrq;
	struct vhca_buf buf;
	struct vhca_slots db;
	struct vhca_wq wq;
	_Atomic uint64_t completed;
	struct vhca_cq_user user;
};

/**
 * struct vhca_wqe - send request under construction
 * @wq: queue
 * @op: what it does
 * @start: count of its first block
 * @len: bytes so far
 * @ctrl: control segment, written last
 */
struct vhca_wqe {
	struct vhca_wq *wq;
	const struct vhca_send_op *op;
	uint64_t start;
	uint32_t len;
	struct vhca_wqe_ctrl ctrl;
};

/**
 * struct vhca_qp - queue pair
 * @vqp: base
 * @buf: both rings
 * @db: send and receive record
 * @sq: send queue
 * @rq: receive queue
 * @send_user: in the send CQ's table
 * @recv_user: in the receive CQ's table
 * @pd: handle of its PD
 * @sig_all: every send completes
 * @broken: known to be in the error state: receives are rung; set under @rq's lock
 * @wqe: request that the extended posting calls are building
 * @building: there is one
 * @addressed: its destination is known; only for datagrams
 * @next: where the next one will start
 * @build_err: first error among those since ibv_wr_start()
 */
struct vhca_qp {
	struct verbs_qp vqp;
	struct vhca_buf buf;
	struct vhca_slots db;
	struct vhca_wq sq;
	struct vhca_wq rq;
	struct vhca_cq_user send_user;
	struct vhca_cq_user recv_user;
	uint32_t pd;
	bool sig_all;
	_Atomic bool broken;
	struct vhca_wqe wqe;
	bool building;
	bool addressed;
	uint64_t next;
	int build_err;
};

static inline struct vhca_context *to_vhca_context(struct ibv_context *context)
{
	return container_of(context, struct vhca_context, vctx.context);
}

static inline struct vhca_pd *to_vhca_pd(struct ibv_pd *pd)
{
	return container_of(pd, struct vhca_pd, pd);
}

static inline struct vhca_td *to_vhca_td(struct ibv_td *td)
{
	return container_of(td, struct vhca_td, td);
}

/* Thread domain of a parent domain; NULL: there is none. */
static inline struct vhca_td *vhca_thread_of(struct ibv_pd *pd)
{
	return pd ? to_vhca_pd(pd)->td : NULL;
}

/* Whose a completion is: that of a QP, or of an XRC SRQ whatever the QP. */
static inline uint32_t vhca_cqe_key(const struct vhca_cqe *cqe)
{
	return cqe->flags & VHCA_CQE_F_XRC ? le32toh(cqe->srqn) | VHCA_SRQ_KEY :
					     le32toh(cqe->qpn);
}

static inline struct vhca_ah *to_vhca_ah(const struct ibv_ah *ah)
{
	return container_of(ah, struct vhca_ah, ah);
}

static inline struct vhca_mw *to_vhca_mw(struct ibv_mw *mw)
{
	return container_of(mw, struct vhca_mw, mw);
}

static inline struct vhca_cq *to_vhca_cq(struct ibv_cq *cq)
{
	return container_of(cq, struct vhca_cq, vcq.cq);
}

static inline struct vhca_cq *ex_to_vhca_cq(struct ibv_cq_ex *cq)
{
	return container_of(cq, struct vhca_cq, vcq.cq_ex);
}

static inline struct vhca_qp *to_vhca_qp(struct ibv_qp *qp)
{
	return container_of(qp, struct vhca_qp, vqp.qp);
}

static inline struct vhca_qp *ex_to_vhca_qp(struct ibv_qp_ex *qp)
{
	return container_of(qp, struct vhca_qp, vqp.qp_ex);
}

/* Where an entry lies in the CQ's ring. */
static inline struct vhca_cqe *vhca_cqe_at(const struct vhca_cq *cq, uint64_t count)
{
	return (struct vhca_cqe *)cq->buf.addr + ring_slot(count, cq->log);
}

/* Has the device written this entry?  If so, all of it can be read. */
static inline bool vhca_cqe_fresh(const struct vhca_cq *cq, uint64_t count)
{
	return ring_fresh(__atomic_load_n(&vhca_cqe_at(cq, count)->owner, __ATOMIC_ACQUIRE), count,
			  cq->log);
}

static inline struct vhca_srq *to_vhca_srq(struct ibv_srq *srq)
{
	return container_of(srq, struct vhca_srq, vsrq.srq);
}

/* Where a receive lies in its queue's ring. */
static inline void *vhca_recv_at(const struct vhca_wq *wq, uint64_t count)
{
	return (uint8_t *)wq->ring + (ring_slot(count, wq->log) << wq->log_unit);
}

/* buf.c */
int vhca_buf_alloc(struct vhca_buf *buf, const struct vhca_context *ctx, struct ibv_pd *ibpd,
		   enum vhca_resource what, size_t size);
void vhca_buf_free(struct vhca_buf *buf);

/* db.c */
int vhca_db_open(struct vhca_context *ctx, uint64_t kick_mmap, uint64_t db_mmap);
void vhca_db_close(struct vhca_context *ctx);
int vhca_db_slots(struct vhca_context *ctx, struct vhca_slots *db, uint32_t slot,
		  uint64_t db_mmap);
void vhca_db_ring(struct vhca_context *ctx, const struct vhca_slots *db, unsigned int which,
		  uint64_t count);

/* verbs.c */
int vhca_query_device_ex(struct ibv_context *context,
			 const struct ibv_query_device_ex_input *input,
			 struct ibv_device_attr_ex *attr, size_t attr_size);
int vhca_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr);
struct ibv_mr *vhca_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t hca_va,
			   int access);
int vhca_rereg_mr(struct verbs_mr *vmr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		  int access);
int vhca_dereg_mr(struct verbs_mr *vmr);
struct ibv_mr *vhca_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
				  int fd, int access);

/* pd.c */
struct ibv_pd *vhca_alloc_pd(struct ibv_context *context);
int vhca_dealloc_pd(struct ibv_pd *pd);
struct ibv_td *vhca_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr);
int vhca_dealloc_td(struct ibv_td *td);
struct ibv_pd *vhca_alloc_parent_domain(struct ibv_context *context,
					struct ibv_parent_domain_init_attr *attr);
void vhca_pd_get(struct ibv_pd *pd);
void vhca_pd_put(struct ibv_pd *pd);

/* import.c */
int vhca_query_context(struct vhca_context *ctx, struct vhca_uctx_resp *resp);
struct ibv_pd *vhca_import_pd(struct ibv_context *context, uint32_t handle);
void vhca_unimport_pd(struct ibv_pd *pd);
struct ibv_mr *vhca_import_mr(struct ibv_pd *pd, uint32_t handle);
void vhca_unimport_mr(struct ibv_mr *mr);

/* clock.c */
int vhca_query_rt_values(struct ibv_context *context, struct ibv_values_ex *values);
int vhca_clock_sync(struct ibv_context *context, struct vhca_clock_sync *sync);
uint64_t vhca_clock_real(struct ibv_context *context, struct vhca_clock_sync *sync,
			 uint64_t stamp);

/* mw.c */
struct ibv_mw *vhca_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int vhca_dealloc_mw(struct ibv_mw *mw);
uint8_t vhca_window_access(unsigned int access);
int vhca_check_bind(const struct ibv_qp *qp, const struct ibv_mw *mw, uint32_t key,
		    const struct ibv_mw_bind_info *info);

/* ah.c */
struct ibv_ah *vhca_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr);
int vhca_destroy_ah(struct ibv_ah *ah);

/* cq.c */
struct ibv_cq *vhca_create_cq(struct ibv_context *context, int cqe,
			      struct ibv_comp_channel *channel, int comp_vector);
struct ibv_cq_ex *vhca_create_cq_ex(struct ibv_context *context,
				    struct ibv_cq_init_attr_ex *attr);
int vhca_destroy_cq(struct ibv_cq *cq);
int vhca_req_notify_cq(struct ibv_cq *cq, int solicited_only);
int vhca_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);
void vhca_cq_event(struct ibv_cq *cq);
void vhca_cq_add_user(struct vhca_cq *cq, struct vhca_cq_user *user);
void vhca_cq_remove_user(struct vhca_cq *cq, struct vhca_cq_user *user);
void vhca_cq_purge(struct vhca_cq *cq, uint32_t key);
struct vhca_cq_user *vhca_cq_find_user(struct vhca_cq *cq, uint32_t key);

/* cq_resize.c */
int vhca_resize_cq(struct ibv_cq *cq, int cqe);

/* poll.c */
int vhca_poll_cq(struct ibv_cq *cq, int num, struct ibv_wc *wc);
void vhca_cq_set_poll_ops(struct vhca_cq *cq, uint64_t wc_flags);

/* qp.c */
struct ibv_qp *vhca_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
struct ibv_qp *vhca_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
int vhca_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
int vhca_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		  struct ibv_qp_init_attr *init_attr);
void vhca_async_event(struct ibv_context *context, struct ibv_async_event *event);
int vhca_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags);
int vhca_destroy_qp(struct ibv_qp *qp);

/* xrc.c */
struct ibv_xrcd *vhca_open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr);
int vhca_close_xrcd(struct ibv_xrcd *xrcd);
struct ibv_qp *vhca_create_target(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
struct ibv_qp *vhca_open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr);

/* srq.c */
struct ibv_srq *vhca_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
struct ibv_srq *vhca_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr);
int vhca_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask);
int vhca_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr);
int vhca_get_srq_num(struct ibv_srq *srq, uint32_t *srq_num);
int vhca_destroy_srq(struct ibv_srq *srq);
bool vhca_srq_complete(struct vhca_srq *srq);
int vhca_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

/* post.c */
int vhca_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int vhca_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);
void vhca_qp_broken(struct vhca_qp *qp);
int vhca_put_recv(struct vhca_wq *rq, const struct ibv_recv_wr *wr, uint64_t head);
int vhca_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

/* post_ex.c */
uint64_t vhca_known_send_ops(const struct vhca_context *ctx, enum ibv_qp_type type);
void vhca_qp_set_post_ops(struct vhca_qp *qp, uint64_t send_ops);

#endif /* VHCA_H */
