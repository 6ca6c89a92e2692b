/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Verbs objects of the driver. */
#ifndef VHCA_VERBS_H
#define VHCA_VERBS_H

#include <rdma/uverbs_ioctl.h>
#include <rdma/vhca-abi.h>

#include "vhca.h"

/*
 * Of memory alone. Consumers commonly name the same flags for regions and for QPs: of a QP's they
 * are dropped.
 */
#define VHCA_MEMORY_ACCESS								\
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_MW_BIND | IB_ZERO_BASED | IB_ACCESS_ON_DEMAND |	\
	 IB_ACCESS_HUGETLB | IB_ACCESS_OPTIONAL)

/* Overwrites the QP number of completions whose QP is gone; no QP has it, they are 24 bits. */
#define VHCA_QPN_NONE	0xffffffffU

/**
 * struct vhca_ucontext - a process' use of the device
 * @ibucontext: its base
 * @uar: its doorbell area
 * @kick: mapping of the kick page
 * @features: VHCA_UCTX_F_* both sides know
 */
struct vhca_ucontext {
	struct ib_ucontext ibucontext;
	struct vhca_uar uar;
	struct rdma_user_mmap_entry kick;
	u64 features;
};

/**
 * struct vhca_pd - protection domain
 * @ibpd: its base
 * @pdn: the device's number for it
 */
struct vhca_pd {
	struct ib_pd ibpd;
	u32 pdn;
};

/**
 * struct vhca_xrcd - XRC domain
 * @ibxrcd: its base
 * @xrcdn: the device's number for it
 */
struct vhca_xrcd {
	struct ib_xrcd ibxrcd;
	u32 xrcdn;
};

/**
 * struct vhca_ah - address handle
 * @ibah: its base
 * @av: where it leads, as work requests say it
 */
struct vhca_ah {
	struct ib_ah ibah;
	struct vhca_av av;
};

/**
 * struct vhca_mr - memory key
 * @ibmr: its base
 * @umem: pinned user memory, or NULL
 * @pages: its description for the device
 * @access: IB_ACCESS_*
 * @iova: first address it translates, which the core may tell otherwise
 * @fast: it is part of a struct vhca_fast_mr
 */
struct vhca_mr {
	struct ib_mr ibmr;
	struct ib_umem *umem;
	struct vhca_pages pages;
	int access;
	u64 iova;
	bool fast;
};

/**
 * struct vhca_fast_mr - memory key that requests register
 * @mr: what all have
 * @list: the list the device will read when it registers it
 * @gaps: it holds pieces of any length and alignment, not pages
 * @max: its most entries
 * @entries: entries it has
 * @start: address of the first byte that was mapped
 */
struct vhca_fast_mr {
	struct vhca_mr mr;
	struct vhca_list list;
	bool gaps;
	u32 max;
	u32 entries;
	u64 start;
};

#ifdef VHCA_HAVE_EXT
/**
 * struct vhca_map - FMR
 * @ibfmr: its base
 * @rec: what is mapped, for the device; the list of pages stands behind it
 * @dma: its DMA address
 * @seq: sequence number that stands in @rec
 * @max_pages: entries of the list
 * @max_maps: so often it can be mapped without being unmapped
 * @maps: so often it was
 * @page_shift: log2 of the bytes of a page
 */
struct vhca_map {
	struct ib_fmr ibfmr;
	struct vhca_fmr *rec;
	dma_addr_t dma;
	u32 seq;
	u32 max_pages;
	u32 max_maps;
	u32 maps;
	u8 page_shift;
};
#endif

/**
 * struct vhca_mw - memory window
 * @ibmw: its base; the key is the device's but for the low byte
 */
struct vhca_mw {
	struct ib_mw ibmw;
};

/**
 * struct vhca_user_ring - a ring in a process' memory
 * @umem: the memory, or NULL when there is no ring
 * @pages: its description for the device
 */
struct vhca_user_ring {
	struct ib_umem *umem;
	struct vhca_pages pages;
};

/**
 * struct vhca_cq_kernel - what a CQ of the kernel has besides
 * @cq: the CQ
 * @ring: the entries
 * @lock: protects the fields below, and the QPs' fields that say so
 * @ci: consumer count
 * @seq: sequence number of the last arm
 * @qps: QPs by number that complete anything here; they leave before the lock is taken a last time
 * @senders: QPs that complete sends here
 * @receivers: QPs that complete receives here
 * @wake: calls the completion handler for a dead device
 * @moving: the ring is being replaced: nothing can be polled
 * @asked: so many completions were asked to be told of meanwhile, or 0
 */
struct vhca_cq_kernel {
	struct vhca_cq *cq;
	struct vhca_kbuf ring;
	spinlock_t lock;
	u64 ci;
	u32 seq;
	struct xarray qps;
	struct list_head senders;
	struct list_head receivers;
	struct work_struct wake;
	bool moving;
	unsigned int asked;
};

/**
 * struct vhca_cq - completion queue
 * @ibcq: its base
 * @vector: completion vector it reports to
 * @cqn: the device's number for it
 * @resize: held while the ring is replaced, and while a QP's entries are looked for
 * @log: log2 of its entries; changed under @resize and the kernel part's lock
 * @db: consumer slot and arm record
 * @comp: found by completion events
 * @async: found by asynchronous events
 * @user: ring of a user CQ
 * @kernel: kernel CQs only
 */
struct vhca_cq {
	struct ib_cq ibcq;
	struct vhca_vector *vector;
	u32 cqn;
	struct mutex resize;
	u8 log;
	struct vhca_db db;
	struct vhca_target comp;
	struct vhca_target async;
	struct vhca_user_ring user;
	struct vhca_cq_kernel *kernel;
};

/**
 * struct vhca_wr - what the driver remembers of a request it posted
 * @wr_id: the consumer's
 * @opcode: enum ib_wc_opcode its completion will have
 * @nslots: ring slots it takes
 */
struct vhca_wr {
	u64 wr_id;
	u8 opcode;
	u8 nslots;
};

/**
 * struct vhca_wq - a send or receive queue of the kernel
 * @ring: the entries
 * @wrs: requests by the slot they start in
 * @log: log2 of the slots
 * @stride: bytes of a slot
 * @max_sge: gather or scatter entries of a request
 * @max_inline: inline bytes of a request
 * @lock: protects @head
 * @head: slots posted; read under the CQ's lock
 * @tail: slots completed; written under the CQ's lock
 * @link: place in the CQ's list; under the CQ's lock
 *
 * The ring's contents come from us but may be overwritten by the device; what a completion says
 * about a request is taken from @wrs.
 */
struct vhca_wq {
	struct vhca_kbuf ring;
	struct vhca_wr *wrs;
	u8 log;
	u32 stride;
	u32 max_sge;
	u32 max_inline;
	spinlock_t lock;
	u64 head;
	u64 tail;
	struct list_head link;
};

/*
 * Posting writes a note and then the head; polling reads the head and then the note, writes the
 * tail, and posting reads the tail before it writes over the note.
 */
static inline u64 vhca_wq_head(const struct vhca_wq *wq)
{
	/* Pairs with vhca_wq_post(). */
	return smp_load_acquire(&wq->head);
}

static inline void vhca_wq_post(struct vhca_wq *wq, u32 slots)
{
	/* Pairs with vhca_wq_head(). */
	smp_store_release(&wq->head, wq->head + slots);
}

static inline u64 vhca_wq_tail(const struct vhca_wq *wq)
{
	/* Pairs with vhca_wq_finish(). */
	return smp_load_acquire(&wq->tail);
}

static inline void vhca_wq_finish(struct vhca_wq *wq, u64 tail)
{
	/* Pairs with vhca_wq_tail(). */
	smp_store_release(&wq->tail, tail);
}

/**
 * struct vhca_srq_note - what the driver remembers of a receive posted to an SRQ
 * @wr_id: the consumer's
 * @gen: changes with every use of the note
 * @next: next free note
 * @busy: the receive has not completed
 */
struct vhca_srq_note {
	u64 wr_id;
	u32 gen;
	u32 next;
	bool busy;
};

/**
 * struct vhca_srq_kernel - what an SRQ of the kernel has besides
 * @ring: the entries
 * @db: records of the queue
 * @max_sge: scatter entries of a receive
 * @log_stride: log2 of the bytes of an entry
 * @lock: protects everything below, and @ring
 * @log: log2 of the entries
 * @head: receives posted
 * @tail: receives the device has taken, as of the last look
 * @notes: notes, at least one an entry
 * @nnotes: their number
 * @free: first free note
 * @busy: notes in use
 * @other: ring that is about to replace @ring, or NULL
 * @other_log: log2 of its entries
 */
struct vhca_srq_kernel {
	struct vhca_kbuf ring;
	const struct vhca_db *db;
	u32 max_sge;
	u8 log_stride;
	spinlock_t lock;
	u8 log;
	u64 head;
	u64 tail;
	struct vhca_srq_note *notes;
	u32 nnotes;
	u32 free;
	u32 busy;
	struct vhca_kbuf *other;
	u8 other_log;
};

/**
 * struct vhca_srq - shared receive queue
 * @ibsrq: its base
 * @srqn: the device's number for it
 * @db: posted slot and the record of those taken
 * @resize: serialises replacing the ring
 * @log: log2 of its entries; changed under @resize
 * @log_stride: log2 of the bytes of an entry
 * @max_sge: scatter entries of a receive
 * @async: found by asynchronous events
 * @user: ring of a user SRQ
 * @kernel: kernel SRQs only
 */
struct vhca_srq {
	struct ib_srq ibsrq;
	u32 srqn;
	struct vhca_db db;
	struct mutex resize;
	u8 log;
	u8 log_stride;
	u32 max_sge;
	struct vhca_target async;
	struct vhca_user_ring user;
	struct vhca_srq_kernel *kernel;
};

/**
 * struct vhca_qp_kernel - what a QP of the kernel has besides
 * @qp: the QP
 * @sq: send queue
 * @rq: receive queue; nothing is ever posted to that of a QP with an SRQ
 * @broken: known to be in the error state: receives are rung. Under the receive queue's lock.
 * @last_wqe: completed when a QP with an SRQ has failed and holds no receive any more
 */
struct vhca_qp_kernel {
	struct vhca_qp *qp;
	struct vhca_wq sq;
	struct vhca_wq rq;
	bool broken;
	struct completion last_wqe;
};

/**
 * struct vhca_qp - queue pair; its number is ibqp.qp_num
 * @ibqp: its base
 * @db: send slot and receive record
 * @lock: serialises modify
 * @state: last state it was moved to
 * @cap: what it was made for
 * @sig_type: as created
 * @create_flags: as created
 * @async: found by asynchronous events
 * @user_sq: send ring of a user QP
 * @user_rq: receive ring of a user QP
 * @kernel: kernel QPs only
 */
struct vhca_qp {
	struct ib_qp ibqp;
	struct vhca_db db;
	struct mutex lock;
	enum ib_qp_state state;
	struct ib_qp_cap cap;
	enum ib_sig_type sig_type;
	u32 create_flags;
	struct vhca_target async;
	struct vhca_user_ring user_sq;
	struct vhca_user_ring user_rq;
	struct vhca_qp_kernel *kernel;
};

#define VHCA_TO(type, ib)							\
	static inline struct vhca_##type *to_v##type(struct ib_##type *obj)	\
	{									\
		return container_of(obj, struct vhca_##type, ib);		\
	}
VHCA_TO(ucontext, ibucontext)
VHCA_TO(pd, ibpd)
VHCA_TO(xrcd, ibxrcd)
VHCA_TO(ah, ibah)
VHCA_TO(mr, ibmr)
VHCA_TO(cq, ibcq)
VHCA_TO(qp, ibqp)
VHCA_TO(srq, ibsrq)

static inline struct vhca_fast_mr *to_vfast(struct vhca_mr *mr)
{
	return container_of(mr, struct vhca_fast_mr, mr);
}

static inline struct vhca_ucontext *udata_to_vucontext(struct ib_udata *udata)
{
	return rdma_udata_to_drv_context(udata, struct vhca_ucontext, ibucontext);
}

/* verbs_udata.c: private parts of requests */
int vhca_udata_in(struct vhca_dev *dev, struct ib_udata *udata, const char *what, void *req,
		  size_t size);
int vhca_udata_out(struct vhca_dev *dev, struct ib_udata *udata, const char *what,
		   const void *resp, size_t size, size_t min);
int vhca_udata_none(struct vhca_dev *dev, struct ib_udata *udata, const char *what);
int vhca_user_ring_get(struct vhca_dev *dev, struct vhca_user_ring *ring, const char *what,
		       u64 addr, u64 size);
void vhca_user_ring_put(struct vhca_user_ring *ring);

/* verbs_import.c */
extern const struct uapi_definition vhca_uapi_defs[];
int vhca_query_ucontext(struct ib_ucontext *ibctx, struct uverbs_attr_bundle *attrs);

/* verbs_ucontext.c */
int vhca_alloc_ucontext(struct ib_ucontext *ibctx, struct ib_udata *udata);
void vhca_dealloc_ucontext(struct ib_ucontext *ibctx);
void vhca_disassociate_ucontext(struct ib_ucontext *ibctx);
void vhca_ucontext_answer(struct vhca_ucontext *ctx, struct vhca_uctx_resp *resp);
int vhca_mmap(struct ib_ucontext *ibctx, struct vm_area_struct *vma);
void vhca_mmap_free(struct rdma_user_mmap_entry *entry);
u64 vhca_db_mmap_offset(const struct vhca_db *db);

/* verbs_pd.c */
int vhca_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int vhca_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int vhca_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);
int vhca_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata);

/* verbs_ah.c */
int vhca_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *attr, struct ib_udata *udata);
int vhca_modify_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int vhca_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int vhca_destroy_ah(struct ib_ah *ibah, u32 flags);

/* verbs_mr.c */
u8 vhca_next_variant(void);
int vhca_check_access(struct vhca_dev *dev, int access);
struct ib_mr *vhca_get_dma_mr(struct ib_pd *ibpd, int access);
struct ib_mr *vhca_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 virt_addr,
			       int access, struct ib_udata *udata);
struct ib_mr *vhca_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 virt_addr,
				      int fd, int access, struct uverbs_attr_bundle *attrs);
struct ib_mr *vhca_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start, u64 length,
				 u64 virt_addr, int access, struct ib_pd *new_pd,
				 struct ib_udata *udata);
int vhca_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);

/* verbs_mr_fast.c */
struct ib_mr *vhca_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_num_sg);
int vhca_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents, unsigned int *offset);
void vhca_free_fast_mr(struct vhca_mr *mr);

#ifdef VHCA_HAVE_EXT
/* verbs_fmr.c */
struct ib_fmr *vhca_alloc_fmr(struct ib_pd *ibpd, int access, struct ib_fmr_attr *attr);
int vhca_map_phys_fmr(struct ib_fmr *ibfmr, u64 *pages, int n, u64 iova);
void vhca_fmr_clear(struct ib_fmr *ibfmr);
int vhca_unmap_fmr(struct list_head *list);
int vhca_dealloc_fmr(struct ib_fmr *ibfmr);
#endif

/* verbs_mw.c */
int vhca_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata);
int vhca_dealloc_mw(struct ib_mw *ibmw);

/* verbs_cq.c */
int vhca_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		   struct uverbs_attr_bundle *attrs);
int vhca_modify_cq(struct ib_cq *ibcq, u16 count, u16 period);
int vhca_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);

/* cq_resize.c */
int vhca_resize_cq(struct ib_cq *ibcq, int cqe, struct ib_udata *udata);
void vhca_cq_move_begin(struct vhca_cq *cq, struct vhca_kbuf *to, u8 log);
int vhca_cq_move_end(struct vhca_cq *cq, struct vhca_kbuf *to, u8 log, u32 first, bool *call);
void vhca_cq_move_cancel(struct vhca_cq *cq, bool *call);

/* ext.c: what only our core has */
void vhca_set_ext_ops(struct vhca_dev *dev);
u64 vhca_ext_cap_flags(void);

/* poll.c: the kernel's completions */
int vhca_poll_cq(struct ib_cq *ibcq, int n, struct ib_wc *wc);
int vhca_peek_cq(struct ib_cq *ibcq, int n);
int vhca_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);
int vhca_req_ncomp_notif(struct ib_cq *ibcq, int n);
struct vhca_cqe *vhca_cq_entry(const struct vhca_kbuf *ring, u64 count, u8 log);
unsigned int vhca_cq_waiting(struct vhca_cq *cq, unsigned int max);
void vhca_cq_wake_soft(struct vhca_cq *cq);
void vhca_cq_wake_work(struct work_struct *work);
int vhca_cq_attach_qp(struct vhca_qp *qp);
void vhca_cq_purge_qp(struct vhca_qp *qp, bool detach);

/* verbs_srq.c */
int vhca_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *attr, struct ib_udata *udata);
int vhca_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		    struct ib_udata *udata);
int vhca_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int vhca_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata);
int vhca_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad_wr);

/* srq_ring.c: rings of the kernel's SRQs */
int vhca_srq_ring_make(struct vhca_srq_kernel *k, struct device *dev, const struct vhca_db *db,
		       u8 log, u32 max_sge);
void vhca_srq_ring_free(struct vhca_srq_kernel *k);
int vhca_srq_ring_post(struct vhca_srq_kernel *k, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad_wr);
bool vhca_srq_ring_finish(struct vhca_srq_kernel *k, u64 id, u64 *wr_id);
int vhca_srq_ring_move_begin(struct vhca_srq_kernel *k, struct vhca_kbuf *to, u8 log);
void vhca_srq_ring_move_end(struct vhca_srq_kernel *k, struct vhca_kbuf *to, bool moved);

/* verbs_mcast.c */
int vhca_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int vhca_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);

/* verbs_stats.c */
struct rdma_hw_stats *vhca_alloc_hw_port_stats(struct ib_device *ibdev, u32 port);
int vhca_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port, int index);
struct rdma_hw_stats *vhca_counter_alloc_stats(struct rdma_counter *counter);
int vhca_counter_update_stats(struct rdma_counter *counter);
int vhca_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *qp);
int vhca_counter_unbind_qp(struct ib_qp *qp);
int vhca_counter_dealloc(struct rdma_counter *counter);

/* verbs_qp.c */
int vhca_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr, struct ib_udata *udata);
int vhca_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_udata *udata);
int vhca_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_qp_init_attr *init_attr);
int vhca_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);

/* qp_attr.c: attributes as the device has them */
void vhca_qp_attr_to_hw(const struct ib_qp_attr *attr, int mask, struct vhca_qp_attr *hw);
void vhca_av_from_ah(struct vhca_av *av, const struct rdma_ah_attr *ah);
void vhca_av_to_ah(const struct vhca_av *av, struct rdma_ah_attr *ah);
void vhca_qp_attr_from_hw(const struct vhca_qp_attr *hw, struct ib_qp_attr *attr);
u32 vhca_access_to_hw(int access);

/* wqe.c: send requests as the device has them */
u32 vhca_send_wqe_blocks(const struct vhca_dev *dev, enum ib_qp_type type, u32 nsge,
			 u32 inline_len);
int vhca_put_send(struct vhca_qp *qp, const struct ib_send_wr *wr);

/* post.c: the kernel's requests */
int vhca_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		   const struct ib_send_wr **bad_wr);
int vhca_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		   const struct ib_recv_wr **bad_wr);
void vhca_write_rwqe(struct vhca_rwqe *rwqe, const struct ib_recv_wr *wr, u64 id, u64 count);
void vhca_wq_reset(struct vhca_wq *wq);
void vhca_qp_broken(struct vhca_qp *qp);

#endif /* VHCA_VERBS_H */
