/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The driver's and the provider's part, for unit tests of the device: admin commands,
 * rings, doorbells.  Guest memory is a memory file; the test sets the time.
 * If a function fails that cannot fail in a good test, the test fails.
 */
#ifndef VHCAD_TESTS_THCA_H
#define VHCAD_TESTS_THCA_H

#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "dev/device.h"
#include "drivers/infiniband/hw/vhca/defs/vhca_hw.h"
#include "engine/engine.h"
#include "fabric/fabric.h"
#include "mem/mem.h"
#include "server/server.h"

#define T_RAM_BASE	0x140000000ull	/* DMA address of the guest's memory */
#define T_ADMIN_LOG	4u
#define T_EQ_LOG	6u
#define T_MAX_PAGES	2048u
#define T_DB_PAGES	16u	/* room for doorbell pages; the UAR has the first */

/* As enum ib_qp_state. */
enum { T_RESET, T_INIT, T_RTR, T_RTS, T_SQD, T_SQE, T_ERR };

/* A fabric, an engine and a clock. */
struct tworld {
	struct fabric *fabric;
	struct engine *engine;
	u64 now;
	bool threaded;		/* an engine thread runs: wait, do not poll */
	bool remote;		/* in another process: there are no t_news() */
	u32 news;		/* changes when t_wait() has to look again; a futex */
	u32 waiters;
	u64 next;		/* the last result of engine_poll() */
};

struct teq {
	u32 eqn, slot, log;
	struct vhca_eqe *ring;
	u32 ci;
	u32 seq;
};

struct thca {
	struct tworld *w;
	struct vhca_dev *dev;
	struct guest_mem *mem;
	const struct server_device_ops *bars;	/* given the thca; NULL: @dev is in this process */
	int sock, ram_fd;	/* with @bars: of the session, and the memory's */
	u8 *ram;
	u64 ram_size, ram_used;
	struct vhca_asqe *asq;
	struct vhca_acqe *acq;
	u32 admin_tail;
	u16 bad_field;		/* of the last command */
	struct vhca_db_page *db;
	u64 db_iova;
	u32 uar;
	u32 next_slot;
	u32 pd;
	u8 qp_type;		/* of the next QPs, */
	u8 qp_port;		/* and the port of special ones */
	struct teq async, comp;
	u32 irqs[8];
	u32 kicks;
};

struct tcq {
	struct thca *h;
	u32 cqn, slot, log;
	struct vhca_cqe *ring;
	u32 ci;
	u32 seq;
};

struct tmr {
	struct thca *h;
	u32 key;
	u64 iova;		/* address in the key's space */
	u64 len;
	u64 first;		/* offset of the region in its first page */
	u32 shift, npages;
	u64 page[T_MAX_PAGES];
};

struct tsrq {
	struct thca *h;
	u32 srqn, slot, log, log_stride;
	u8 *ring;
	u32 posted;
};

struct tqp {
	struct thca *h;
	u8 type;
	u8 port;		/* of a special one; else 0 */
	u32 qpn, slot;
	struct tcq *scq, *rcq;
	u8 *sq, *rq;
	u32 log_sq, log_rq, log_stride;
	u32 sq_prod, rq_prod;
};

struct twr {
	u8 opcode, flags;
	u64 wr_id;
	u32 imm;		/* wire order; or the key to invalidate */
	u32 srqn;		/* XRC_INI QPs */
	u64 raddr;
	u32 rkey;
	u32 nsge;
	struct vhca_sge sge[32];	/* native; converted when posted */
	const void *data;		/* inline */
	u32 data_len;
	struct vhca_wqe_ud ud;		/* datagrams; as it stands in the entry, and the rest */
	struct vhca_wqe_atomic atomic;
	struct vhca_wqe_flush flush;
	struct vhca_wqe_lso lso;
	u8 header[VHCA_LSO_MAX_HEADER + 16];	/* for LSO */
	struct vhca_wqe_bind bind;
	struct vhca_wqe_reg reg;
};

/* world */
void t_world_init(struct tworld *w);
/* one where work takes time, while the clock stands still: @spent as in struct engine_clock */
void t_world_init_timed(struct tworld *w, u64 (*spent)(void *arg));
/* one whose engine is to run in a thread of its own */
void t_world_init_threaded(struct tworld *w);
/* the same with several threads; not @real: engine_poll() works for all of them */
void t_world_init_threads(struct tworld *w, u32 threads, bool real);
void t_world_fini(struct tworld *w);
void t_poll(struct tworld *w);
/* lets the next timer fire; false if there is none */
bool t_advance(struct tworld *w);
/* works and advances until nothing more happens or @limit ns are over */
void t_settle(struct tworld *w, u64 limit);

/* device: admin queue, UAR, async EQ, completion EQ and a PD */
void t_hca_init(struct thca *h, struct tworld *w, u64 guid);
void t_hca_init_cfg(struct thca *h, struct tworld *w, const struct vdev_config *cfg);
/* only registers and admin queue */
void t_hca_bare(struct thca *h, struct tworld *w, const struct vdev_config *cfg);
void t_hca_fini(struct thca *h);
/* the part of t_hca_init() for a device whose registers and memory exist */
void t_hca_start(struct thca *h);
u64 t_alloc(struct thca *h, u64 size);
void *t_cpu(struct thca *h, u64 iova);
/* waits for @ready: checks each time the engine has done something, or t_news() was called */
void t_wait(struct thca *h, bool (*ready)(void *arg), void *arg);
void t_news(struct tworld *w);

/* admin: returns the status; resp may be NULL */
u32 t_admin_raw(struct thca *h, const struct vhca_asqe *sqe, void *resp);
/* its two halves: between them the engine may do more than the command */
void t_admin_post(struct thca *h, const struct vhca_asqe *sqe);
u32 t_admin_answer(struct thca *h, void *resp);
u32 t_admin(struct thca *h, u8 op, const void *req, u32 len, void *resp);
u32 t_admin_out(struct thca *h, u8 op, const void *req, u32 len, void *out, u32 out_len);
u32 t_destroy(struct thca *h, u8 op, u32 handle);
u32 t_destroy_qp(struct tqp *qp);
/* a command that makes an object; must succeed */
u32 t_create(struct thca *h, u8 op, const void *req, u32 len);

/* counters of port 1, by QUERY_COUNTERS */
struct vport_stats t_stats(struct thca *h);

/* A packet hook that changes packet number @victim (from 0), or @all of them. */
struct tnth {
	s32 victim;
	s32 seen;
	bool all;
	u32 copies;
	u64 delay;
};

void t_nth_hook(void *arg, const struct fab_port *from, const struct wire_hdr *h,
		struct fab_effect *v);

/* A packet hook that keeps the headers of the first packets that pass. */
struct tseen {
	struct wire_hdr h[8];
	u32 n;
};

void t_watch(void *arg, const struct fab_port *from, const struct wire_hdr *h,
	     struct fab_effect *v);

/* Changes that each packet must survive: lost, duplicated, delayed. */
#define T_SPOILS	3u
extern const struct fab_effect t_spoils[T_SPOILS];

/* doorbells; slots count through the pages */
/* gives the UAR all its pages */
void t_db_pages(struct thca *h);
u64 t_rec(struct thca *h, u32 slot);
void t_set_rec(struct thca *h, u32 slot, u64 val);
void t_ring(struct thca *h, u32 slot, u64 val);

/* EQs */
void t_eq_init(struct thca *h, struct teq *eq, u32 log, u32 vector, u8 flags);
bool t_eq_get(struct thca *h, struct teq *eq, struct vhca_eqe *e);
void t_eq_arm(struct thca *h, struct teq *eq);
/* expects exactly this event next */
void t_expect_event(struct thca *h, u8 event, u32 number);
void t_expect_no_event(struct thca *h);

/* CQs */
void t_cq_init(struct thca *h, struct tcq *cq, u32 log, u8 flags);
/* to 1 << log entries, as the header says it is done; returns the status */
u32 t_cq_resize(struct tcq *cq, u32 log);
u32 t_cq_moderate(struct tcq *cq, u32 count, u32 usec);
bool t_cq_poll(struct tcq *cq, struct vhca_cqe *cqe);
void t_cq_arm(struct tcq *cq, bool solicited);
/* expects this completion next, and returns it */
struct vhca_cqe t_expect_cqe(struct tcq *cq, u64 wr_id, u8 status);
void t_expect_no_cqe(struct tcq *cq);

/* memory: levels 0..2; pages in scattered order */
void t_mr_init(struct thca *h, struct tmr *mr, u64 iova, u64 len, u32 access, u32 levels,
	       u32 shift);
void t_mr_put(struct tmr *mr, u64 off, const void *src, u64 len);
void t_mr_get(struct tmr *mr, u64 off, void *dst, u64 len);
void t_mr_fill(struct tmr *mr, u32 seed);
/* expects what t_mr_fill() of another region left in [off, off + len) at soff */
void t_mr_expect(struct tmr *mr, u64 off, u64 len, u32 seed, u64 soff);
u8 t_pattern(u32 seed, u64 off);

/* QPs */
void t_qp_init(struct thca *h, struct tqp *qp, struct tcq *scq, struct tcq *rcq);
void t_qp_init_size(struct thca *h, struct tqp *qp, struct tcq *scq, struct tcq *rcq,
		    u32 log_sq, u32 log_rq, u32 log_stride, u8 flags);
/* with its receives from an SRQ */
void t_qp_init_srq_size(struct thca *h, struct tqp *qp, struct tcq *scq, struct tcq *rcq,
			struct tsrq *srq, u32 log_sq, u8 flags);
/* the same, with 64 blocks that all complete */
void t_qp_init_srq(struct thca *h, struct tqp *qp, struct tcq *scq, struct tcq *rcq,
		   struct tsrq *srq);
void t_attr_init(struct vhca_qp_attr *a, u32 port);
void t_attr_rtr(struct vhca_qp_attr *a, u32 dlid, u32 dqpn, u32 psn, u8 mtu);
void t_attr_rts(struct vhca_qp_attr *a, u32 psn);
u32 t_modify(struct tqp *qp, const struct vhca_qp_attr *a, u32 mask);
u32 t_to(struct tqp *qp, u8 state);
/* VHCA_ACCESS_* that a connected QP grants from now on */
void t_allow(struct tqp *qp, u32 access);
u32 t_state(struct tqp *qp);
void t_connect(struct tqp *a, struct tqp *b, u8 mtu, u32 psn_a, u32 psn_b);
#define T_MASK_INIT	(VHCA_QPA_STATE | VHCA_QPA_PKEY_INDEX | VHCA_QPA_PORT | \
			 VHCA_QPA_ACCESS_FLAGS)
#define T_MASK_SPECIAL	(VHCA_QPA_STATE | VHCA_QPA_PKEY_INDEX | VHCA_QPA_QKEY)
#define T_MASK_RTR	(VHCA_QPA_STATE | VHCA_QPA_AV | VHCA_QPA_PATH_MTU | VHCA_QPA_DEST_QPN | \
			 VHCA_QPA_RQ_PSN | VHCA_QPA_MAX_DEST_RD_ATOMIC | VHCA_QPA_MIN_RNR_TIMER)
#define T_MASK_RTS	(VHCA_QPA_STATE | VHCA_QPA_TIMEOUT | VHCA_QPA_RETRY_CNT | \
			 VHCA_QPA_RNR_RETRY | VHCA_QPA_SQ_PSN | VHCA_QPA_MAX_QP_RD_ATOMIC)

/* attributes that a QP of this type needs to get to T_INIT, T_RTR, T_RTS */
u32 t_mask(u8 type, u8 state);
u32 t_lid(struct thca *h);
/* takes a UD, SMI or GSI QP to RTS; the address of one at port 1 */
void t_ud_up(struct tqp *qp, u32 qkey);
struct vhca_wqe_ud t_ud_to(struct tqp *qp, u32 qkey);

void t_post(struct tqp *qp, const struct twr *wr);	/* writes, does not ring */
void t_ring_sq(struct tqp *qp);
void t_send(struct tqp *qp, const struct twr *wr);	/* post, ring, poll */
void t_recv(struct tqp *qp, u64 wr_id, u32 nsge, const struct vhca_sge *sge);

/* SRQs */
void t_srq_init(struct thca *h, struct tsrq *srq, u32 log, u32 log_stride);
/* writes an entry at its place, taken by the device or not; nothing is posted */
void t_srq_write(struct tsrq *srq, u32 index, u64 wr_id, u32 nsge, const struct vhca_sge *sge);
void t_srq_recv(struct tsrq *srq, u64 wr_id, u32 nsge, const struct vhca_sge *sge);
u32 t_srq_taken(struct tsrq *srq);
u32 t_srq_limit(struct tsrq *srq, u32 limit);
struct vhca_sge t_sge(struct tmr *mr, u64 off, u32 len);
struct twr t_wr(u8 opcode, u64 wr_id, struct tmr *l, u64 off, u32 len, struct tmr *r, u64 roff);

/* a world and two devices of @ports ports in it, and their end */
void t_two_init(struct tworld *w, struct thca h[2], u32 ports);
void t_two_fini(struct tworld *w, struct thca h[2]);

/* Two devices, a connected QP each, a CQ each, for most tests. */
struct tpair {
	struct tworld w;
	struct thca h[2];
	struct tcq cq[2];
	struct tqp qp[2];
};

void t_pair_init(struct tpair *p, u8 mtu, u32 psn0, u32 psn1);
void t_pair_init_uc(struct tpair *p, u8 mtu, u32 psn0, u32 psn1);
void t_pair_init_ud(struct tpair *p, u32 qkey);
void t_pair_fini(struct tpair *p);
/* a pair at an MTU of 1024 whose QPs grant @qp_access, and a region each */
void t_pair_init_regions(struct tpair *p, u32 psn0, u32 psn1, struct tmr *l, struct tmr *r,
			 u32 len, u32 access, u32 qp_access);

#endif /* VHCAD_TESTS_THCA_H */
