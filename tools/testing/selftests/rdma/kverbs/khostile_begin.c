// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The part of a driver that follows the device's interface, until one message has arrived. */
#include <linux/delay.h>
#include <linux/kthread.h>

#include "khostile.h"

struct vhca_asqe *hostile_command(struct hostile *x, u8 opcode)
{
	struct vhca_asqe *e = page_at(x, AT_ASQ);

	e += x->tail & (BIT(ADMIN_LOG) - 1);
	memset(e, 0, sizeof(*e));
	e->opcode = opcode;
	e->cmd_id = cpu_to_le16(x->tail);
	return e;
}

void hostile_submit(struct hostile *x)
{
	dma_wmb();
	reg_write(x, VHCA_REG_ADMIN_TAIL, ++x->tail);
}

static bool written(struct hostile *x, const u8 *last, u8 bit)
{
	unsigned long end = jiffies + PATIENCE * HZ;

	while (!is_written(last, bit)) {
		if (time_after(jiffies, end) || kthread_should_stop())
			return false;
		usleep_range(50, 100);
	}
	dma_rmb();
	return true;
}

/*
 * Gives the command that hostile_command() has begun, and waits: its answer if it succeeded, or
 * NULL.
 */
static const struct vhca_acqe *carried_out(struct hostile *x)
{
	const struct vhca_acqe *a = answer(x, x->tail);
	u8 phase = phase_of(x->tail);

	hostile_submit(x);
	return written(x, &a->phase, phase) && a->status == VHCA_ST_OK ? a : NULL;
}

/* The same for a command that makes an object. */
static bool made(struct hostile *x, u32 *handle)
{
	const struct vhca_acqe *a = carried_out(x);

	*handle = a ? le32_to_cpu(((const struct vhca_object_resp *)a->resp)->handle) : 0;
	return a;
}

static bool make_uar(struct hostile *x)
{
	struct vhca_asqe *e = hostile_command(x, VHCA_CMD_OPEN_UAR);
	struct vhca_add_db_page_req *more;

	((struct vhca_open_uar_req *)e->req)->db_page = addr_of(x, AT_DB);
	if (!made(x, &x->uar))
		return false;
	e = hostile_command(x, VHCA_CMD_ADD_DB_PAGE);
	more = (struct vhca_add_db_page_req *)e->req;
	more->uar = cpu_to_le32(x->uar);
	more->page = cpu_to_le32(1);
	more->db_page = addr_of(x, AT_DB_MORE);
	return carried_out(x);
}

static bool make_eq(struct hostile *x, unsigned int i)
{
	struct vhca_asqe *e = hostile_command(x, VHCA_CMD_CREATE_EQ);

	*(struct vhca_create_eq_req *)e->req = (struct vhca_create_eq_req) {
		.buf.addr = addr_of(x, AT_EQ + i), .uar = cpu_to_le32(x->uar),
		.db_slot = cpu_to_le32(SLOT_EQ + 2 * i), .vector = cpu_to_le32(VHCA_NO_VECTOR),
		.log_entries = LOG, .flags = i ? 0 : VHCA_EQ_ASYNC,
	};
	return made(x, &x->eqn[i]);
}

static bool make_cq(struct hostile *x)
{
	struct vhca_asqe *e = hostile_command(x, VHCA_CMD_CREATE_CQ);

	*(struct vhca_create_cq_hw_req *)e->req = (struct vhca_create_cq_hw_req) {
		.buf.addr = addr_of(x, AT_CQ), .uar = cpu_to_le32(x->uar),
		.db_slot = cpu_to_le32(SLOT_CQ), .eqn = cpu_to_le32(x->eqn[1]), .log_cqe = LOG,
		.flags = VHCA_CQ_IGNORE_OVERRUN,
	};
	return made(x, &x->cqn);
}

static bool make_srq(struct hostile *x)
{
	struct vhca_asqe *e = hostile_command(x, VHCA_CMD_CREATE_SRQ);

	*(struct vhca_create_srq_hw_req *)e->req = (struct vhca_create_srq_hw_req) {
		.buf.addr = addr_of(x, AT_SRQ), .pdn = cpu_to_le32(x->pd),
		.uar = cpu_to_le32(x->uar), .db_slot = cpu_to_le32(SLOT_SRQ), .log_strides = LOG,
		.log_stride = LOG,
	};
	return made(x, &x->srqn);
}

/* A key for all of the arena, by its first byte or by a list; or one of another type. */
static bool make_key(struct hostile *x, u8 type, bool list, u32 *key)
{
	struct vhca_asqe *e = hostile_command(x, VHCA_CMD_CREATE_MKEY);
	struct vhca_create_mkey_req *req = (struct vhca_create_mkey_req *)e->req;
	unsigned int pages = ARENA / VHCA_DB_PAGE_SIZE;
	__le64 *entry = page_at(x, AT_LIST);

	req->type = type;
	req->pdn = cpu_to_le32(x->pd);
	if (type == VHCA_MKEY_LIST) {
		req->length = cpu_to_le64(ARENA);
		req->access = cpu_to_le32(VHCA_ACCESS_ALL);
	}
	if (type == VHCA_MKEY_LIST && !list) {
		req->buf.addr = cpu_to_le64(x->dma);
	} else if (type != VHCA_MKEY_MW_2) {
		for (unsigned int i = 0; i < pages; i++)
			entry[i] = addr_of(x, i);
		req->buf.addr = addr_of(x, AT_LIST);
		req->buf.npages = cpu_to_le32(pages);
		req->buf.page_shift = type == VHCA_MKEY_LIST ? VHCA_PAGE_SHIFT_MIN : 0;
		req->buf.levels = 1;
	}
	return made(x, key);
}

static bool modify(struct hostile *x, u32 qpn, u32 mask, const struct vhca_qp_attr *attr)
{
	struct vhca_asqe *e = hostile_command(x, VHCA_CMD_MODIFY_QP);

	*(struct vhca_modify_qp_req *)e->req = (struct vhca_modify_qp_req) {
		.qpn = cpu_to_le32(qpn), .mask = cpu_to_le32(mask), .attr = *attr,
	};
	return carried_out(x);
}

/* Connects the QP to itself; a datagram QP receives from all that know its Q_Key. */
static bool start_qp(struct hostile *x, const struct hostile_qp *qp)
{
	bool datagrams = qp->type == VHCA_QPT_UD;
	struct vhca_qp_attr init = {
		.state = 1, .port = 1, .qkey = cpu_to_le32(datagrams ? QKEY : 0),
		.access = datagrams ? 0 : VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_REMOTE_READ |
					  VHCA_ACCESS_REMOTE_ATOMIC,
	};
	struct vhca_qp_attr rtr = {
		.state = 2, .path_mtu = 3, .dest_qpn = cpu_to_le32(qp->qpn), .av.port = 1,
		.av.dlid = x->lid, .max_dest_rd_atomic = 4, .min_rnr_timer = 12,
	};
	struct vhca_qp_attr rts = {
		.state = 3, .timeout = 14, .retry_cnt = 7, .rnr_retry = 3, .max_rd_atomic = 4,
	};
	u32 first = VHCA_QPA_STATE | VHCA_QPA_PKEY_INDEX | VHCA_QPA_PORT;
	u32 second = VHCA_QPA_STATE | VHCA_QPA_AV | VHCA_QPA_PATH_MTU | VHCA_QPA_DEST_QPN |
		     VHCA_QPA_RQ_PSN;
	u32 third = VHCA_QPA_STATE | VHCA_QPA_SQ_PSN;

	if (datagrams)
		return modify(x, qp->qpn, first | VHCA_QPA_QKEY, &init) &&
		       modify(x, qp->qpn, VHCA_QPA_STATE, &rtr) && modify(x, qp->qpn, third, &rts);
	if (qp->type == VHCA_QPT_RC) {
		second |= VHCA_QPA_MAX_DEST_RD_ATOMIC | VHCA_QPA_MIN_RNR_TIMER;
		third |= VHCA_QPA_TIMEOUT | VHCA_QPA_RETRY_CNT | VHCA_QPA_RNR_RETRY |
			 VHCA_QPA_MAX_QP_RD_ATOMIC;
	}
	return modify(x, qp->qpn, first | VHCA_QPA_ACCESS_FLAGS, &init) &&
	       modify(x, qp->qpn, second, &rtr) && modify(x, qp->qpn, third, &rts);
}

/* Makes a QP; the first one is RC. */
static bool make_qp(struct hostile *x, unsigned int i)
{
	static const u8 types[] = { VHCA_QPT_RC, VHCA_QPT_UC, VHCA_QPT_UD };
	struct hostile_qp *qp = &x->qp[i];
	struct vhca_asqe *e = hostile_command(x, VHCA_CMD_CREATE_QP);
	struct vhca_create_qp_hw_req *req = (struct vhca_create_qp_hw_req *)e->req;
	bool shared = i >= QPS - 2;

	*qp = (struct hostile_qp) { .type = i ? types[rnd(x, ARRAY_SIZE(types))] : VHCA_QPT_RC };
	*req = (struct vhca_create_qp_hw_req) {
		.sq.addr = addr_of(x, AT_QP + 2 * i), .pdn = cpu_to_le32(x->pd),
		.uar = cpu_to_le32(x->uar), .db_slot = cpu_to_le32(SLOT_QP + 2 * i),
		.send_cqn = cpu_to_le32(x->cqn), .recv_cqn = cpu_to_le32(x->cqn),
		.max_inline = cpu_to_le32(128), .type = qp->type, .flags = VHCA_QP_SIGNAL_ALL,
		.log_sq_blocks = LOG, .log_rq_strides = VHCA_NO_QUEUE,
	};
	if (shared) {
		req->flags |= VHCA_QP_SRQ;
		req->srqn = cpu_to_le32(x->srqn);
	} else {
		req->rq.addr = addr_of(x, AT_QP + 2 * i + 1);
		req->log_rq_strides = LOG;
		req->log_rq_stride = LOG;
	}
	return made(x, &qp->qpn) && start_qp(x, qp);
}

static bool query_lid(struct hostile *x)
{
	struct vhca_asqe *e = hostile_command(x, VHCA_CMD_QUERY_PORT);
	const struct vhca_port_attr *attr = page_at(x, AT_OUT);

	((struct vhca_port_req *)e->req)->port = 1;
	e->out_addr = addr_of(x, AT_OUT);
	e->out_len = cpu_to_le32(sizeof(*attr));
	if (!carried_out(x))
		return false;
	x->lid = attr->lid;
	return true;
}

void hostile_ring(struct hostile *x, u32 slot, u64 value)
{
	struct vhca_db_page *page = page_at(x, AT_DB);
	u32 no = slot / VHCA_DB_SLOTS, bit = slot % VHCA_DB_SLOTS;

	dma_wmb();
	WRITE_ONCE(*record(x, slot), cpu_to_le64(value));
	set_bit(bit, (unsigned long *)page[no].news);
	set_bit(no, (unsigned long *)page->summary);
	mb();	/* the device sleeps if it sees none of this */
	if (READ_ONCE(page->armed)) {
		WRITE_ONCE(page->armed, 0);
		writel(VHCA_KICK, x->kicks + (u64)x->uar * x->kick_stride % x->kick_size);
	}
}

static u8 *block(struct hostile *x, unsigned int i, u32 count)
{
	return page_at(x, AT_QP + 2 * i) + (count & (BIT(LOG) - 1)) * VHCA_WQE_BLOCK;
}

/* Two blocks, which may be the ring's last and its first: entries begin at even counts. */
struct vhca_wqe_ctrl *hostile_entry(struct hostile *x, unsigned int i, u8 opcode)
{
	struct hostile_qp *qp = &x->qp[i];
	struct vhca_wqe_ctrl *ctrl = (void *)block(x, i, qp->prod);

	memset(ctrl, 0, 2 * VHCA_WQE_BLOCK);
	ctrl->opcode = opcode;
	ctrl->nblk = 2;
	ctrl->index = cpu_to_le32(qp->prod);
	ctrl->wr_id = cpu_to_le64(qp->prod);
	return ctrl;
}

void hostile_post(struct hostile *x, unsigned int i)
{
	x->qp[i].prod += 2;
	hostile_ring(x, SLOT_QP + 2 * i, x->qp[i].prod);
}

/* A message from the QP to itself, which arrives. */
static bool talk(struct hostile *x)
{
	struct vhca_wqe_ctrl *ctrl = hostile_entry(x, 0, VHCA_OP_WRITE);
	struct vhca_wqe_raddr *to = (void *)(ctrl + 1);
	struct vhca_sge *sge = (void *)(to + 1);
	const struct vhca_cqe *cqe = page_at(x, AT_CQ);
	u8 *data = page_at(x, AT_DATA);

	prandom_bytes_state(&x->rnd, data, MESSAGE);
	ctrl->nsge = 1;
	to->addr = cpu_to_le64((AT_DATA + 1) * VHCA_DB_PAGE_SIZE + 5);
	to->rkey = cpu_to_le32(x->keys[0]);
	sge->addr = cpu_to_le64(AT_DATA * VHCA_DB_PAGE_SIZE);
	sge->length = cpu_to_le32(MESSAGE);
	sge->lkey = cpu_to_le32(x->key);
	hostile_post(x, 0);
	return written(x, &cqe->owner, 1) && cqe->status == VHCA_CS_SUCCESS &&
	       le32_to_cpu(cqe->qpn) == x->qp[0].qpn &&
	       !memcmp(data, page_at(x, AT_DATA + 1) + 5, MESSAGE);
}

bool hostile_begin(struct hostile *x)
{
	hostile_reset(x);
	memset(x->mem, 0, ARENA);
	x->tail = 0;
	reg_write(x, VHCA_REG_ASQ_LO, lower_32_bits(x->dma));
	reg_write(x, VHCA_REG_ASQ_HI, upper_32_bits(x->dma));
	reg_write(x, VHCA_REG_ACQ_LO, lower_32_bits(x->dma + VHCA_DB_PAGE_SIZE));
	reg_write(x, VHCA_REG_ACQ_HI, upper_32_bits(x->dma + VHCA_DB_PAGE_SIZE));
	reg_write(x, VHCA_REG_ADMIN_SIZE, ADMIN_LOG);
	reg_write(x, VHCA_REG_ADMIN_VECTOR, VHCA_NO_VECTOR);
	reg_write(x, VHCA_REG_CONTROL, VHCA_CONTROL_ENABLE);
	if (!hostile_ready(x) || !make_uar(x) || !make_eq(x, 0) || !make_eq(x, 1) || !query_lid(x))
		return false;
	hostile_command(x, VHCA_CMD_CREATE_PD);
	if (!made(x, &x->pd) || !make_cq(x) || !make_srq(x) ||
	    !make_key(x, VHCA_MKEY_LIST, false, &x->key) ||
	    !make_key(x, VHCA_MKEY_LIST, true, &x->keys[0]) ||
	    !make_key(x, VHCA_MKEY_FAST, true, &x->keys[1]) ||
	    !make_key(x, VHCA_MKEY_FAST_SG, true, &x->keys[2]) ||
	    !make_key(x, VHCA_MKEY_MW_2, true, &x->keys[3]))
		return false;
	for (unsigned int i = 0; i < QPS; i++)
		if (!make_qp(x, i))
			return false;
	return talk(x);
}
