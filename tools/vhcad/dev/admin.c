// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The admin queue.
 */
#include <string.h>

#include "dev/hca.h"
#include "lib/log.h"
#include "qp/counter.h"
#include "qp/life.h"
#include "qp/mcg.h"
#include "qp/srq.h"
#include "res/command.h"
#include "res/cq.h"
#include "res/mkey.h"
#include "res/names.h"
#include "trace/trace.h"

/* Commands that are carried out between two looks at the doorbells. */
#define PASS_COMMANDS	8u

/* The output's length is not fixed: the handler checks it. */
#define OUT_VARIES	UINT32_MAX

struct command_desc {
	enum vhca_status (*fn)(struct command *c);
	u32 req_len;
	u32 out_len;
	u32 rsvd_off;		/* reserved bytes inside the request, ... */
	u32 rsvd_len;
	u32 rsvd2_off;
	u32 rsvd2_len;
	u64 needs;		/* 1 << enum vhca_cap */
};

#define REQ(type)		.req_len = sizeof(struct type)
#define RSVD(type, field)	.rsvd_off = offsetof(struct type, field), \
				.rsvd_len = sizeof(((struct type *)0)->field)
#define RSVD2(type, field)	.rsvd2_off = offsetof(struct type, field), \
				.rsvd2_len = sizeof(((struct type *)0)->field)
#define NEEDS(cap)		.needs = 1ull << VHCA_CAP_##cap
/* A request that names one object: OBJECT any, QP_OBJECT a QP, which may belong to a port */
#define QP_OBJECT		REQ(vhca_object_req), RSVD(vhca_object_req, rsvd)
#define OBJECT			QP_OBJECT, RSVD2(vhca_object_req, port)

static enum vhca_status cmd_nop(struct command *c)
{
	return VHCA_ST_OK;
}

static const struct command_desc commands[256] = {
	[VHCA_CMD_NOP] = { cmd_nop },
	[VHCA_CMD_QUERY_DEVICE] = {
		cmd_query_device, .out_len = sizeof(struct vhca_device_attr),
	},
	[VHCA_CMD_QUERY_PORT] = {
		cmd_query_port, REQ(vhca_port_req), .out_len = sizeof(struct vhca_port_attr),
		RSVD(vhca_port_req, rsvd0), RSVD2(vhca_port_req, rsvd1),
	},
	[VHCA_CMD_QUERY_GIDS] = {
		cmd_query_gids, REQ(vhca_port_req), .out_len = OUT_VARIES,
		RSVD(vhca_port_req, rsvd0), RSVD2(vhca_port_req, rsvd1),
	},
	[VHCA_CMD_QUERY_PKEYS] = {
		cmd_query_pkeys, REQ(vhca_port_req), .out_len = OUT_VARIES,
		RSVD(vhca_port_req, rsvd0), RSVD2(vhca_port_req, rsvd1),
	},
	[VHCA_CMD_SET_NODE_DESC] = { cmd_set_node_desc, REQ(vhca_node_desc_req) },
	[VHCA_CMD_QUERY_COUNTERS] = {
		cmd_query_counters, REQ(vhca_port_req),
		.out_len = sizeof(struct vhca_port_counters),
		RSVD(vhca_port_req, rsvd0), RSVD2(vhca_port_req, rsvd1), NEEDS(COUNTERS),
	},
	[VHCA_CMD_QUERY_CLOCK] = { cmd_query_clock, NEEDS(CLOCK_QUERY) },
	[VHCA_CMD_PROCESS_MAD] = {
		cmd_process_mad, REQ(vhca_process_mad_req), .out_len = VHCA_MAD_SIZE,
		RSVD(vhca_process_mad_req, rsvd), NEEDS(SMI_GSI),
	},
	[VHCA_CMD_MODIFY_PORT] = {
		cmd_modify_port, REQ(vhca_modify_port_req), RSVD(vhca_modify_port_req, rsvd0),
		RSVD2(vhca_modify_port_req, rsvd1),
	},
	[VHCA_CMD_SET_GID] = {
		cmd_set_gid, REQ(vhca_set_gid_req), RSVD(vhca_set_gid_req, rsvd),
	},
	[VHCA_CMD_OPEN_UAR] = { cmd_open_uar, REQ(vhca_open_uar_req) },
	[VHCA_CMD_CLOSE_UAR] = { cmd_close_uar, OBJECT },
	[VHCA_CMD_ADD_DB_PAGE] = { cmd_add_db_page, REQ(vhca_add_db_page_req) },
	[VHCA_CMD_CREATE_EQ] = {
		cmd_create_eq, REQ(vhca_create_eq_req), RSVD(vhca_create_eq_req, rsvd),
	},
	[VHCA_CMD_DESTROY_EQ] = { cmd_destroy_eq, OBJECT },
	[VHCA_CMD_CREATE_PD] = { cmd_create_pd },
	[VHCA_CMD_DESTROY_PD] = { cmd_destroy_pd, OBJECT },
	[VHCA_CMD_CREATE_XRCD] = { cmd_create_xrcd, NEEDS(XRC) },
	[VHCA_CMD_DESTROY_XRCD] = { cmd_destroy_xrcd, OBJECT, NEEDS(XRC) },
	[VHCA_CMD_CREATE_MKEY] = {
		cmd_create_mkey, REQ(vhca_create_mkey_req), RSVD(vhca_create_mkey_req, rsvd),
	},
	[VHCA_CMD_DESTROY_MKEY] = { cmd_destroy_mkey, OBJECT },
	[VHCA_CMD_MODIFY_MKEY] = {
		cmd_modify_mkey, REQ(vhca_modify_mkey_req), RSVD(vhca_create_mkey_req, rsvd),
	},
	[VHCA_CMD_FENCE_MKEYS] = { cmd_fence_mkeys, NEEDS(FMR) },
	[VHCA_CMD_CREATE_CQ] = {
		cmd_create_cq, REQ(vhca_create_cq_hw_req), RSVD(vhca_create_cq_hw_req, rsvd),
	},
	[VHCA_CMD_DESTROY_CQ] = { cmd_destroy_cq, OBJECT },
	[VHCA_CMD_RESIZE_CQ] = {
		cmd_resize_cq, REQ(vhca_resize_cq_hw_req), RSVD(vhca_resize_cq_hw_req, rsvd),
		NEEDS(CQ_RESIZE),
	},
	[VHCA_CMD_MODIFY_CQ] = { cmd_modify_cq, REQ(vhca_modify_cq_req), NEEDS(CQ_MODERATION) },
	[VHCA_CMD_CREATE_SRQ] = {
		cmd_create_srq, REQ(vhca_create_srq_hw_req), RSVD(vhca_create_srq_hw_req, rsvd),
		NEEDS(SRQ),
	},
	[VHCA_CMD_DESTROY_SRQ] = { cmd_destroy_srq, OBJECT, NEEDS(SRQ) },
	[VHCA_CMD_MODIFY_SRQ] = { cmd_modify_srq, REQ(vhca_modify_srq_hw_req), NEEDS(SRQ) },
	[VHCA_CMD_RESIZE_SRQ] = {
		cmd_resize_srq, REQ(vhca_resize_srq_hw_req), RSVD(vhca_resize_srq_hw_req, rsvd),
		NEEDS(SRQ),
	},
	[VHCA_CMD_QUERY_SRQ] = { cmd_query_srq, OBJECT, NEEDS(SRQ) },
	[VHCA_CMD_CREATE_QP] = {
		cmd_create_qp, REQ(vhca_create_qp_hw_req), RSVD(vhca_create_qp_hw_req, rsvd),
	},
	[VHCA_CMD_DESTROY_QP] = { cmd_destroy_qp, QP_OBJECT },
	[VHCA_CMD_MODIFY_QP] = { cmd_modify_qp, REQ(vhca_modify_qp_req) },
	[VHCA_CMD_QUERY_QP] = {
		cmd_query_qp, QP_OBJECT, .out_len = sizeof(struct vhca_qp_attr),
	},
	[VHCA_CMD_ATTACH_MCG] = { cmd_attach_mcg, REQ(vhca_mcg_req), RSVD(vhca_mcg_req, rsvd) },
	[VHCA_CMD_DETACH_MCG] = { cmd_detach_mcg, REQ(vhca_mcg_req), RSVD(vhca_mcg_req, rsvd) },
	[VHCA_CMD_CREATE_COUNTER] = {
		cmd_create_counter, REQ(vhca_create_counter_req),
		RSVD(vhca_create_counter_req, rsvd), NEEDS(QP_COUNTERS),
	},
	[VHCA_CMD_DESTROY_COUNTER] = { cmd_destroy_counter, OBJECT, NEEDS(QP_COUNTERS) },
	[VHCA_CMD_BIND_COUNTER] = {
		cmd_bind_counter, REQ(vhca_bind_counter_req), NEEDS(QP_COUNTERS),
	},
	[VHCA_CMD_QUERY_COUNTER] = {
		cmd_query_counter, OBJECT, .out_len = sizeof(struct vhca_port_counters),
		NEEDS(QP_COUNTERS),
	},
};

/* Returns the offset of the first byte that is not zero, or TABLE_NONE. */
static u32 not_zero(const u8 *p, u32 off, u32 end)
{
	for (; off < end; off++)
		if (p[off])
			return off;
	return TABLE_NONE;
}

static enum vhca_status check(struct command *c, const struct command_desc *d)
{
	u32 at;

	if (!d->fn) {
		c->bad_field = offsetof(struct vhca_asqe, opcode);
		return VHCA_ST_BAD_OPCODE;
	}
	if (d->needs & ~c->dev->caps) {
		c->bad_field = offsetof(struct vhca_asqe, opcode);
		return VHCA_ST_UNSUPPORTED;
	}
	if (c->sqe.rsvd) {
		c->bad_field = offsetof(struct vhca_asqe, rsvd);
		return VHCA_ST_BAD_FIELD;
	}
	if (d->out_len != OUT_VARIES && c->out_len != d->out_len) {
		c->bad_field = offsetof(struct vhca_asqe, out_len);
		return VHCA_ST_BAD_FIELD;
	}
	if (!d->out_len && c->sqe.out_addr) {
		c->bad_field = offsetof(struct vhca_asqe, out_addr);
		return VHCA_ST_BAD_FIELD;
	}
	at = not_zero(c->sqe.req, d->rsvd_off, d->rsvd_off + d->rsvd_len);
	if (at == TABLE_NONE)
		at = not_zero(c->sqe.req, d->rsvd2_off, d->rsvd2_off + d->rsvd2_len);
	if (at == TABLE_NONE)
		at = not_zero(c->sqe.req, d->req_len, VHCA_ASQE_REQ);
	return at == TABLE_NONE ? VHCA_ST_OK : refuse(c, VHCA_ST_BAD_FIELD, at);
}

static enum vhca_status carry_out(struct command *c)
{
	const struct command_desc *d = &commands[c->sqe.opcode];
	enum vhca_status st = check(c, d);

	return st ? st : d->fn(c);
}

/* Does a fault strike the next command?  It is asked once, however often the command goes on. */
static bool struck_by(struct hca *hca, u8 opcode, struct vfault *fault)
{
	struct admin_queue *q = &hca->admin;

	if (!q->begun) {
		q->fault = (struct vfault){ .answer = VFAULT_ONCE };
		q->struck = fault_strike(hca, VFAULT_COMMAND, opcode, &q->fault);
		q->since = adapter_now(&hca->dev.adapter);
		if (q->struck)
			log_line("%s: fault: %s is struck", hca->dev.name, vcmd_name(opcode));
	}
	q->begun = false;
	*fault = q->fault;
	return q->struck;
}

/* Takes one command; *wrote is set when an answer is in the ring.  False: no ring. */
static bool one_command(struct hca *hca, bool *wrote)
{
	struct admin_queue *q = &hca->admin;
	u64 at = q->asq + vhca_ring_slot(q->head++, q->log) * sizeof(struct vhca_asqe);
	struct command c = { .dev = &hca->dev, .bad_field = VHCA_NO_FIELD };
	struct vfault fault;
	struct vhca_acqe e = { 0 };
	bool struck;
	u64 begin;

	if (dma_read(hca->dev.mem, &c.sqe, at, sizeof(c.sqe)))
		return false;
	c.out_len = le32toh(c.sqe.out_len);
	struck = struck_by(hca, c.sqe.opcode, &fault);
	c.since = q->since;
	if (fault.answer == VFAULT_NONE)
		return true;
	begin = trace_begin();
	e.status = fault.status ? fault.status : carry_out(&c);
	if (begin)
		trace_span(TRACE_COMMAND, hca->command_row, begin, vcmd_name(c.sqe.opcode),
			   le16toh(c.sqe.cmd_id), e.status);
	if (c.again) {
		q->head--;
		q->begun = true;
		return true;
	}
	e.cmd_id = c.sqe.cmd_id;
	e.bad_field = htole16(c.bad_field);
	if (!e.status)
		memcpy(e.resp, c.resp, sizeof(e.resp));
	if (struck)
		return !fault_answer(hca, &fault, &e, wrote);
	*wrote = true;
	q->last_id = le16toh(e.cmd_id);
	return !admin_answer(hca, &e);
}

bool admin_poll(struct hca *hca)
{
	struct admin_queue *q = &hca->admin;
	struct vhca_dev *dev = &hca->dev;
	u32 most = PASS_COMMANDS;
	u32 tail = __atomic_load_n(&q->tail, __ATOMIC_ACQUIRE);
	bool wrote = false;

	if (!dev_live(dev) || tail == q->head)
		return false;
	if (tail - q->head > 1u << q->log) {
		dev_fatal(dev, VHCA_FATAL_ADMIN_RING);
		return false;
	}
	cost_begin(dev->adapter.worker);
	do {
		if (!one_command(hca, &wrote)) {
			dev_fatal(dev, VHCA_FATAL_ADMIN_RING);
			return false;
		}
	} while (q->head != tail && --most && dev_live(dev) && !q->begun &&
		 !cost_over(dev->adapter.worker));
	cost_add(&dev->adapter, 0);
	if (wrote)
		dev_irq(dev, q->vector);
	return true;
}
