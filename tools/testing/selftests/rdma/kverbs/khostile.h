/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Shared by the files of rdma_khostile. */
#ifndef KHOSTILE_H
#define KHOSTILE_H

#include <linux/io.h>
#include <linux/pci.h>
#include <linux/prandom.h>

#include "defs/vhca_hw.h"

#define ARENA		(1U << 20)
#define ACTS		400	/* of a session */
#define PATIENCE	60	/* seconds */
#define QPS		6	/* the last two have their receives from an SRQ */
#define SPARES		8
#define LOG		6	/* log2 of the entries of most rings */
#define ADMIN_LOG	4
#define MESSAGE		3000
#define QKEY		7

/* Pages of the arena. */
enum {
	AT_ASQ, AT_ACQ, AT_DB, AT_DB_MORE, AT_OUT, AT_EQ, AT_EQ_MORE, AT_CQ, AT_SRQ,
	AT_QP, AT_LIST = AT_QP + 2 * QPS, AT_DATA = 32,
};

/* Slots of the doorbell pages. */
enum { SLOT_EQ = 0, SLOT_CQ = 4, SLOT_SRQ = 6, SLOT_QP = 8 };

struct hostile_qp {
	u8 type;
	u32 qpn;
	u32 prod;
	u32 posted;
};

/* A page that is mapped and unmapped while the device may use it. */
struct spare {
	struct page *page;
	dma_addr_t dma;
	bool mapped;
};

struct hostile {
	struct pci_dev *pdev;
	void __iomem *regs;
	void __iomem *kicks;
	resource_size_t kick_size;
	u32 kick_stride;
	u8 *mem;
	dma_addr_t dma;
	struct rnd_state rnd;
	struct task_struct *task;
	u32 tail;
	u32 uar, pd, key, keys[4], cqn, srqn, eqn[2];
	__le16 lid;
	struct hostile_qp qp[QPS];
	struct spare spare[SPARES];
};

static inline u32 rnd(struct hostile *x, u32 below)
{
	return prandom_u32_state(&x->rnd) % below;
}

static inline void *page_at(struct hostile *x, unsigned int page)
{
	return x->mem + page * VHCA_DB_PAGE_SIZE;
}

static inline __le64 addr_of(struct hostile *x, unsigned int page)
{
	return cpu_to_le64(x->dma + page * VHCA_DB_PAGE_SIZE);
}

static inline u32 reg_read(struct hostile *x, u32 off)
{
	return readl(x->regs + off);
}

static inline void reg_write(struct hostile *x, u32 off, u32 value)
{
	writel(value, x->regs + off);
}

/* The device has stopped when this returns. */
static inline void hostile_reset(struct hostile *x)
{
	reg_write(x, VHCA_REG_CONTROL, VHCA_CONTROL_RESET);
	reg_read(x, VHCA_REG_STATUS);
}

static inline bool hostile_ready(struct hostile *x)
{
	return reg_read(x, VHCA_REG_STATUS) == VHCA_STATUS_READY;
}

static inline const struct vhca_acqe *answer(struct hostile *x, u32 n)
{
	const struct vhca_acqe *a = page_at(x, AT_ACQ);

	return &a[n & (BIT(ADMIN_LOG) - 1)];
}

static inline u8 phase_of(u32 n)
{
	return !(n >> ADMIN_LOG & 1);
}

/* Has the device written an entry, whose last byte has this lowest bit then? */
static inline bool is_written(const u8 *last, u8 bit)
{
	return (READ_ONCE(*last) & 1) == bit;
}

static inline __le64 *record(struct hostile *x, u32 slot)
{
	struct vhca_db_page *page = page_at(x, AT_DB);

	return &page[slot / VHCA_DB_SLOTS].rec[slot % VHCA_DB_SLOTS];
}

/* khostile_begin.c */
struct vhca_asqe *hostile_command(struct hostile *x, u8 opcode);
void hostile_submit(struct hostile *x);
void hostile_ring(struct hostile *x, u32 slot, u64 value);
struct vhca_wqe_ctrl *hostile_entry(struct hostile *x, unsigned int i, u8 opcode);
void hostile_post(struct hostile *x, unsigned int i);
bool hostile_begin(struct hostile *x);

/* khostile_chance.c */
void hostile_scribble(struct hostile *x, void *at, size_t len);
void hostile_act(struct hostile *x);

#endif /* KHOSTILE_H */
