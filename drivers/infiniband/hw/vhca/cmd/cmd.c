// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The device's commands as functions. What the device answers is checked here. */
#include <kunit/visibility.h>
#include <linux/cache.h>
#include <linux/dma-mapping.h>
#include <linux/log2.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "../hw/compat.h"
#include "../hw/names.h"
#include "cmd.h"

/* What we believe a device can have, to keep a wild one from making us allocate the world. */
#define VHCA_SANE_GIDS		1024
#define VHCA_SANE_PKEYS		65535
#define VHCA_SANE_ENTRIES	SZ_256K

static int status_to_errno(u8 status)
{
	switch (status) {
	case VHCA_ST_OK:
		return 0;
	case VHCA_ST_BAD_OPCODE:
	case VHCA_ST_UNSUPPORTED:
		return -EOPNOTSUPP;
	case VHCA_ST_BAD_FIELD:
	case VHCA_ST_BAD_HANDLE:
	case VHCA_ST_BAD_STATE:
		return -EINVAL;
	case VHCA_ST_BUSY:
		return -EBUSY;
	case VHCA_ST_NO_RESOURCE:
		return -ENOMEM;
	case VHCA_ST_BAD_ADDRESS:
		return -EFAULT;
	default:
		return -EIO;
	}
}

static const char *status_text(u8 status)
{
	static const char * const text[] = {
		[VHCA_ST_BAD_OPCODE] = "command unknown",
		[VHCA_ST_BAD_FIELD] = "out of range",
		[VHCA_ST_BAD_HANDLE] = "no such object",
		[VHCA_ST_BUSY] = "still in use",
		[VHCA_ST_NO_RESOURCE] = "limit reached",
		[VHCA_ST_BAD_STATE] = "not in this state",
		[VHCA_ST_BAD_ADDRESS] = "DMA address not accessible",
		[VHCA_ST_UNSUPPORTED] = "not supported",
		[VHCA_ST_INTERNAL] = "device failing",
	};

	if (status < ARRAY_SIZE(text) && text[status])
		return text[status];
	return "status unknown";
}

static int refusal(struct vhca_hw *hw, u8 opcode, const struct vhca_acqe *comp)
{
	const char *field = vhca_cmd_field(opcode, le16_to_cpu(comp->bad_field));
	int err = status_to_errno(comp->status);

	return vhca_refuse(hw->dev, err, "device refused %s: %s%s%s", vhca_cmd_name(opcode),
			   field ?: "", field ? " " : "", status_text(comp->status));
}

static int run(struct vhca_hw *hw, u8 opcode, const void *req, size_t req_len, dma_addr_t out,
	       u32 out_len, void *resp, size_t resp_len)
{
	struct vhca_asqe cmd = {
		.opcode = opcode,
		.out_len = cpu_to_le32(out_len),
		.out_addr = cpu_to_le64(out),
	};
	struct vhca_acqe comp;
	int err;

	if (req_len)
		memcpy(cmd.req, req, req_len);
	err = vhca_admin_exec(&hw->admin, &cmd, &comp);
	if (err)
		return vhca_refuse(hw->dev, err, "device is gone or failed (%s)",
				   vhca_cmd_name(opcode));
	if (comp.status != VHCA_ST_OK)
		return refusal(hw, opcode, &comp);
	if (resp_len)
		memcpy(resp, comp.resp, resp_len);
	return 0;
}

#define RUN(hw, op, req)							\
	({									\
		static_assert(sizeof(*(req)) <= VHCA_ASQE_REQ);			\
		run(hw, op, req, sizeof(*(req)), 0, 0, NULL, 0);		\
	})

/* Run a command that answers into a buffer of our own; the buffer is the caller's to free. */
static void *run_out(struct vhca_hw *hw, u8 opcode, const void *req, size_t req_len, u32 out_len)
{
	dma_addr_t dma;
	void *out;
	int err;

	/* Commands run at the same time: no two of them may get answers into one cache line. */
	out = kzalloc(ALIGN(out_len, SMP_CACHE_BYTES), GFP_KERNEL);
	if (!out)
		return ERR_PTR(-ENOMEM);
	dma = dma_map_single(hw->dev, out, out_len, DMA_FROM_DEVICE);
	if (dma_mapping_error(hw->dev, dma)) {
		kfree(out);
		return ERR_PTR(-ENOMEM);
	}
	err = run(hw, opcode, req, req_len, dma, out_len, NULL, 0);
	dma_unmap_single(hw->dev, dma, out_len, DMA_FROM_DEVICE);
	if (err) {
		kfree(out);
		return ERR_PTR(err);
	}
	return out;
}

static int run_create(struct vhca_hw *hw, u8 opcode, const void *req, size_t req_len, u32 *handle)
{
	struct vhca_object_resp resp;
	int err;

	err = run(hw, opcode, req, req_len, 0, 0, &resp, sizeof(resp));
	if (!err)
		*handle = le32_to_cpu(resp.handle);
	return err;
}

#define RUN_CREATE(hw, op, req, handle)						\
	({									\
		static_assert(sizeof(*(req)) <= VHCA_ASQE_REQ);			\
		run_create(hw, op, req, sizeof(*(req)), handle);		\
	})

static int run_destroy(struct vhca_hw *hw, u8 opcode, u32 handle)
{
	struct vhca_object_req req = { .handle = cpu_to_le32(handle) };

	return RUN(hw, opcode, &req);
}

/* vhca_cmd_nop - do nothing, but answer */
int vhca_cmd_nop(struct vhca_hw *hw)
{
	return run(hw, VHCA_CMD_NOP, NULL, 0, 0, 0, NULL, 0);
}

static bool has_cap(const struct vhca_limits *l, enum vhca_cap cap)
{
	return l->caps & BIT_ULL(cap);
}

static int check_limits(struct vhca_hw *hw, const struct vhca_limits *l)
{
	const char *what = NULL;

	if (!l->ports || l->ports > VHCA_SANE_PORTS)
		what = "ports";
	else if (!(l->page_sizes & BIT_ULL(VHCA_PAGE_SHIFT_MIN)))
		what = "page_sizes";
	else if (!l->max_uars)
		what = "max_uars";
	else if (l->max_eqs < 2)
		what = "max_eqs";
	else if (!l->max_pds)
		what = "max_pds";
	else if (!l->max_mkeys || !l->max_mr_size)
		what = "max_mkeys";
	else if (!l->max_cqs || !is_power_of_2(l->max_cqe))
		what = "max_cqe";
	else if (!l->max_qps || !is_power_of_2(l->max_sq_blocks) ||
		 l->max_sq_blocks < VHCA_WQE_MAX_BLOCKS || !is_power_of_2(l->max_rq_wr))
		what = "max_sq_blocks or max_rq_wr";
	else if (!l->max_send_sge || !l->max_recv_sge || l->max_send_sge > 255 ||
		 l->max_recv_sge > 255)
		what = "max_send_sge or max_recv_sge";
	else if (l->max_inline > VHCA_WQE_BLOCK * VHCA_WQE_MAX_BLOCKS)
		what = "max_inline";
	else if (!l->vectors)
		what = "vectors";
	else if (has_cap(l, VHCA_CAP_SRQ) && (!l->max_srqs || !is_power_of_2(l->max_srq_wr)))
		what = "max_srqs or max_srq_wr";
	else if (has_cap(l, VHCA_CAP_MCAST) && (!l->max_mcgs || !l->max_mcg_qps))
		what = "max_mcgs or max_mcg_qps";
	else if (has_cap(l, VHCA_CAP_CQ_MODERATION) &&
		 (!l->max_moderation_count || !l->max_moderation_period))
		what = "max_moderation_count or max_moderation_period";
	else if ((has_cap(l, VHCA_CAP_FAST_REG) || has_cap(l, VHCA_CAP_FMR)) &&
		 (!l->max_reg_entries || l->max_reg_entries > VHCA_SANE_ENTRIES))
		what = "max_reg_entries";
	if (!what)
		return 0;
	dev_err(hw->dev, "device reports an impossible %s\n", what);
	return -EPROTO;
}

/**
 * vhca_cmd_query_device - ask for the device's limits
 * @hw: the device
 * @l: filled with checked values
 *
 * Return: as all commands, and -EPROTO when the answer makes no sense.
 */
int vhca_cmd_query_device(struct vhca_hw *hw, struct vhca_limits *l)
{
	struct vhca_device_attr *a;

	a = run_out(hw, VHCA_CMD_QUERY_DEVICE, NULL, 0, sizeof(*a));
	if (IS_ERR(a))
		return PTR_ERR(a);

	l->caps = vhca_whole_caps(le64_to_cpu(a->caps));
	l->node_guid = le64_to_cpu(a->node_guid);
	l->sys_image_guid = le64_to_cpu(a->sys_image_guid);
	l->fw_version = le64_to_cpu(a->fw_version);
	l->max_mr_size = le64_to_cpu(a->max_mr_size);
	l->page_sizes = le64_to_cpu(a->page_sizes) &
			GENMASK_ULL(VHCA_PAGE_SHIFT_MAX, VHCA_PAGE_SHIFT_MIN);
	l->max_uars = le32_to_cpu(a->max_uars);
	l->max_eqs = le32_to_cpu(a->max_eqs);
	l->max_pds = le32_to_cpu(a->max_pds);
	l->max_mkeys = le32_to_cpu(a->max_mkeys);
	l->max_cqs = le32_to_cpu(a->max_cqs);
	l->max_cqe = le32_to_cpu(a->max_cqe);
	l->max_qps = le32_to_cpu(a->max_qps);
	l->max_sq_blocks = le32_to_cpu(a->max_sq_blocks);
	l->max_rq_wr = le32_to_cpu(a->max_rq_wr);
	l->max_send_sge = le32_to_cpu(a->max_send_sge);
	l->max_recv_sge = le32_to_cpu(a->max_recv_sge);
	l->max_inline = le32_to_cpu(a->max_inline);
	l->max_msg = le32_to_cpu(a->max_msg);
	l->clock_khz = le32_to_cpu(a->clock_khz);
	l->vectors = le32_to_cpu(a->vectors);
	l->ports = a->ports;
	l->max_rd_atomic = a->max_rd_atomic;
	l->max_init_rd_atomic = a->max_init_rd_atomic;
	l->ack_delay = a->local_ca_ack_delay & 0x1f;
	memcpy(l->node_desc, a->node_desc, sizeof(l->node_desc));
	l->max_srqs = le32_to_cpu(a->max_srqs);
	l->max_srq_wr = le32_to_cpu(a->max_srq_wr);
	l->max_mcgs = le32_to_cpu(a->max_mcgs);
	l->max_mcg_qps = le32_to_cpu(a->max_mcg_qps);
	l->max_moderation_count = le16_to_cpu(a->max_moderation_count);
	l->max_moderation_period = le16_to_cpu(a->max_moderation_period);
	l->max_reg_entries = le32_to_cpu(a->max_reg_entries);
	kfree(a);
	return check_limits(hw, l);
}

/**
 * vhca_cmd_query_port - ask for a port's attributes
 * @hw: the device
 * @port: 1..ports
 * @attr: filled with the device's answer, table sizes and enumerations checked
 *
 * Return: as all commands, and -EPROTO when the answer makes no sense.
 */
int vhca_cmd_query_port(struct vhca_hw *hw, u8 port, struct vhca_port_attr *attr)
{
	struct vhca_port_req req = { .port = port };
	struct vhca_port_attr *a;

	a = run_out(hw, VHCA_CMD_QUERY_PORT, &req, sizeof(req), sizeof(*a));
	if (IS_ERR(a))
		return PTR_ERR(a);
	*attr = *a;
	kfree(a);

	if (attr->state > 5 || attr->max_mtu < 1 || attr->max_mtu > 5 || attr->active_mtu < 1 ||
	    attr->active_mtu > 5 || attr->lmc > 7 || !le32_to_cpu(attr->gid_entries) ||
	    le32_to_cpu(attr->gid_entries) > VHCA_SANE_GIDS || !le32_to_cpu(attr->pkey_entries) ||
	    le32_to_cpu(attr->pkey_entries) > VHCA_SANE_PKEYS ||
	    (attr->link_layer != VHCA_LINK_IB && attr->link_layer != VHCA_LINK_ETH)) {
		dev_err_ratelimited(hw->dev, "device reports impossible attributes of port %u\n",
				    port);
		return -EPROTO;
	}
	return 0;
}

/* vhca_cmd_query_gid - read one entry of a port's GID table */
int vhca_cmd_query_gid(struct vhca_hw *hw, u8 port, u32 index, u8 gid[16])
{
	struct vhca_port_req req = {
		.port = port,
		.first_index = cpu_to_le32(index),
		.count = cpu_to_le32(1),
	};
	u8 *out = run_out(hw, VHCA_CMD_QUERY_GIDS, &req, sizeof(req), 16);

	if (IS_ERR(out))
		return PTR_ERR(out);
	memcpy(gid, out, 16);
	kfree(out);
	return 0;
}

/* vhca_cmd_query_pkey - read one entry of a port's P_Key table */
int vhca_cmd_query_pkey(struct vhca_hw *hw, u8 port, u32 index, u16 *pkey)
{
	struct vhca_port_req req = {
		.port = port,
		.first_index = cpu_to_le32(index),
		.count = cpu_to_le32(1),
	};
	__le16 *out = run_out(hw, VHCA_CMD_QUERY_PKEYS, &req, sizeof(req), sizeof(*out));

	if (IS_ERR(out))
		return PTR_ERR(out);
	*pkey = le16_to_cpu(*out);
	kfree(out);
	return 0;
}

static int run_counters(struct vhca_hw *hw, u8 opcode, const void *req, size_t req_len,
			struct vhca_port_counters *counters)
{
	struct vhca_port_counters *c = run_out(hw, opcode, req, req_len, sizeof(*c));

	if (IS_ERR(c))
		return PTR_ERR(c);
	*counters = *c;
	kfree(c);
	return 0;
}

/*
 * vhca_cmd_query_counters - read a port's counters, but for those that vhca_cmd_query_counter()
 * reads; @counters is the device's raw answer
 */
int vhca_cmd_query_counters(struct vhca_hw *hw, u8 port, struct vhca_port_counters *counters)
{
	struct vhca_port_req req = {
		.port = port,
		.flags = vhca_hw_has(hw, VHCA_CAP_QP_COUNTERS) ? VHCA_PORT_UNBOUND : 0,
	};

	return run_counters(hw, VHCA_CMD_QUERY_COUNTERS, &req, sizeof(req), counters);
}

/* vhca_cmd_create_counter - make a counter for QPs of a port; its number is not 0 */
int vhca_cmd_create_counter(struct vhca_hw *hw, u8 port, u32 *number)
{
	struct vhca_create_counter_req req = { .port = port };
	int err;

	err = RUN_CREATE(hw, VHCA_CMD_CREATE_COUNTER, &req, number);
	if (!err && !*number) {
		/* To bind a QP to it would unbind the QP. */
		vhca_hw_give_up(hw, "it gave out a counter that is none");
		err = vhca_refuse(hw->dev, -EIO, "device gave out a bad counter");
	}
	return err;
}

/* vhca_cmd_bind_counter - bind a QP to a counter, 0: to none */
int vhca_cmd_bind_counter(struct vhca_hw *hw, u32 qpn, u32 number)
{
	struct vhca_bind_counter_req req = {
		.qpn = cpu_to_le32(qpn),
		.counter = cpu_to_le32(number),
	};

	return RUN(hw, VHCA_CMD_BIND_COUNTER, &req);
}

/* vhca_cmd_query_counter - read a counter; @counters is the device's raw answer */
int vhca_cmd_query_counter(struct vhca_hw *hw, u32 number, struct vhca_port_counters *counters)
{
	struct vhca_object_req req = { .handle = cpu_to_le32(number) };

	return run_counters(hw, VHCA_CMD_QUERY_COUNTER, &req, sizeof(req), counters);
}

/* vhca_cmd_destroy_counter - destroy a counter no QP is bound to any more */
int vhca_cmd_destroy_counter(struct vhca_hw *hw, u32 number)
{
	return run_destroy(hw, VHCA_CMD_DESTROY_COUNTER, number);
}

/**
 * vhca_cmd_query_clock - what the device's clock says while the command runs
 * @hw: the device
 * @now: set to the clock's count
 *
 * Return: as all commands.
 */
int vhca_cmd_query_clock(struct vhca_hw *hw, u64 *now)
{
	struct vhca_clock_resp resp;
	int err;

	err = run(hw, VHCA_CMD_QUERY_CLOCK, NULL, 0, 0, 0, &resp, sizeof(resp));
	if (!err)
		*now = le64_to_cpu(resp.now);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_cmd_query_clock);

/* vhca_cmd_set_node_desc - set the node description */
int vhca_cmd_set_node_desc(struct vhca_hw *hw, const char desc[64])
{
	struct vhca_node_desc_req req;

	memcpy(req.desc, desc, sizeof(req.desc));
	return RUN(hw, VHCA_CMD_SET_NODE_DESC, &req);
}

/* vhca_cmd_open_uar - open a doorbell area; its number is that of its kick page */
int vhca_cmd_open_uar(struct vhca_hw *hw, dma_addr_t db_page, u32 *uar)
{
	struct vhca_open_uar_req req = { .db_page = cpu_to_le64(db_page) };
	int err;

	err = RUN_CREATE(hw, VHCA_CMD_OPEN_UAR, &req, uar);
	if (!err && *uar >= hw->kick_pages) {
		/* Its kick page would lie behind the BAR's end. It has the area's first page. */
		vhca_hw_give_up(hw, "it gave out a doorbell area that does not exist");
		err = vhca_refuse(hw->dev, -EIO, "device gave out a bad doorbell area");
	}
	return err;
}

/* vhca_cmd_close_uar - close a doorbell area no queue uses any more */
int vhca_cmd_close_uar(struct vhca_hw *hw, u32 uar)
{
	return run_destroy(hw, VHCA_CMD_CLOSE_UAR, uar);
}

/* vhca_cmd_add_db_page - add the next page to a doorbell area */
int vhca_cmd_add_db_page(struct vhca_hw *hw, u32 uar, u32 page, dma_addr_t db_page)
{
	struct vhca_add_db_page_req req = {
		.uar = cpu_to_le32(uar),
		.page = cpu_to_le32(page),
		.db_page = cpu_to_le64(db_page),
	};

	return RUN(hw, VHCA_CMD_ADD_DB_PAGE, &req);
}

/* vhca_cmd_create_eq - make an event queue */
int vhca_cmd_create_eq(struct vhca_hw *hw, const struct vhca_create_eq_req *req, u32 *eqn)
{
	return RUN_CREATE(hw, VHCA_CMD_CREATE_EQ, req, eqn);
}

/* vhca_cmd_destroy_eq - destroy an event queue */
int vhca_cmd_destroy_eq(struct vhca_hw *hw, u32 eqn)
{
	return run_destroy(hw, VHCA_CMD_DESTROY_EQ, eqn);
}

/* vhca_cmd_create_pd - make a protection domain */
int vhca_cmd_create_pd(struct vhca_hw *hw, u32 *pdn)
{
	return run_create(hw, VHCA_CMD_CREATE_PD, NULL, 0, pdn);
}

/* vhca_cmd_destroy_pd - destroy a protection domain */
int vhca_cmd_destroy_pd(struct vhca_hw *hw, u32 pdn)
{
	return run_destroy(hw, VHCA_CMD_DESTROY_PD, pdn);
}

/* vhca_cmd_create_xrcd - make an XRC domain */
int vhca_cmd_create_xrcd(struct vhca_hw *hw, u32 *xrcdn)
{
	return run_create(hw, VHCA_CMD_CREATE_XRCD, NULL, 0, xrcdn);
}

/* vhca_cmd_destroy_xrcd - destroy an XRC domain */
int vhca_cmd_destroy_xrcd(struct vhca_hw *hw, u32 xrcdn)
{
	return run_destroy(hw, VHCA_CMD_DESTROY_XRCD, xrcdn);
}

/* vhca_cmd_create_mkey - make a memory key; @key is the whole 32-bit key */
int vhca_cmd_create_mkey(struct vhca_hw *hw, const struct vhca_create_mkey_req *req, u32 *key)
{
	return RUN_CREATE(hw, VHCA_CMD_CREATE_MKEY, req, key);
}

/* vhca_cmd_modify_mkey - change a live key's access, PD or translation */
int vhca_cmd_modify_mkey(struct vhca_hw *hw, const struct vhca_modify_mkey_req *req)
{
	return RUN(hw, VHCA_CMD_MODIFY_MKEY, req);
}

/* vhca_cmd_destroy_mkey - destroy a memory key */
int vhca_cmd_destroy_mkey(struct vhca_hw *hw, u32 key)
{
	return run_destroy(hw, VHCA_CMD_DESTROY_MKEY, key);
}

/* vhca_cmd_fence_mkeys - wait until every access through a key that had begun has ended */
int vhca_cmd_fence_mkeys(struct vhca_hw *hw)
{
	return run(hw, VHCA_CMD_FENCE_MKEYS, NULL, 0, 0, 0, NULL, 0);
}

/* vhca_cmd_create_cq - make a completion queue */
int vhca_cmd_create_cq(struct vhca_hw *hw, const struct vhca_create_cq_hw_req *req, u32 *cqn)
{
	return RUN_CREATE(hw, VHCA_CMD_CREATE_CQ, req, cqn);
}

/* vhca_cmd_destroy_cq - destroy a completion queue; it raises no event afterwards */
int vhca_cmd_destroy_cq(struct vhca_hw *hw, u32 cqn)
{
	return run_destroy(hw, VHCA_CMD_DESTROY_CQ, cqn);
}

/*
 * vhca_cmd_resize_cq - give a completion queue another ring; @first is the low half of the count of
 * the first entry the device writes there
 */
int vhca_cmd_resize_cq(struct vhca_hw *hw, const struct vhca_resize_cq_hw_req *req, u32 *first)
{
	struct vhca_resize_cq_hw_resp resp;
	int err;

	static_assert(sizeof(*req) <= VHCA_ASQE_REQ);
	err = run(hw, VHCA_CMD_RESIZE_CQ, req, sizeof(*req), 0, 0, &resp, sizeof(resp));
	if (!err)
		*first = le32_to_cpu(resp.first);
	return err;
}

/* vhca_cmd_modify_cq - moderate a completion queue's events */
int vhca_cmd_modify_cq(struct vhca_hw *hw, u32 cqn, u16 count, u16 period)
{
	struct vhca_modify_cq_req req = {
		.cqn = cpu_to_le32(cqn),
		.count = cpu_to_le16(count),
		.period = cpu_to_le16(period),
	};

	return RUN(hw, VHCA_CMD_MODIFY_CQ, &req);
}

/* vhca_cmd_create_srq - make a shared receive queue */
int vhca_cmd_create_srq(struct vhca_hw *hw, const struct vhca_create_srq_hw_req *req, u32 *srqn)
{
	return RUN_CREATE(hw, VHCA_CMD_CREATE_SRQ, req, srqn);
}

/* vhca_cmd_modify_srq - arm a shared receive queue's limit for one event; 0 disarms it */
int vhca_cmd_modify_srq(struct vhca_hw *hw, u32 srqn, u32 limit)
{
	struct vhca_modify_srq_hw_req req = {
		.srqn = cpu_to_le32(srqn),
		.limit = cpu_to_le32(limit),
	};

	return RUN(hw, VHCA_CMD_MODIFY_SRQ, &req);
}

/* vhca_cmd_resize_srq - give a shared receive queue another ring */
int vhca_cmd_resize_srq(struct vhca_hw *hw, const struct vhca_resize_srq_hw_req *req)
{
	return RUN(hw, VHCA_CMD_RESIZE_SRQ, req);
}

/* vhca_cmd_query_srq - read a shared receive queue's limit, 0 when none is armed */
int vhca_cmd_query_srq(struct vhca_hw *hw, u32 srqn, u32 *limit)
{
	struct vhca_object_req req = { .handle = cpu_to_le32(srqn) };
	struct vhca_query_srq_resp resp;
	int err;

	err = run(hw, VHCA_CMD_QUERY_SRQ, &req, sizeof(req), 0, 0, &resp, sizeof(resp));
	if (!err)
		*limit = le32_to_cpu(resp.limit);
	return err;
}

/* vhca_cmd_destroy_srq - destroy a shared receive queue no QP uses any more */
int vhca_cmd_destroy_srq(struct vhca_hw *hw, u32 srqn)
{
	return run_destroy(hw, VHCA_CMD_DESTROY_SRQ, srqn);
}

/* vhca_cmd_create_qp - make a queue pair in the RESET state */
int vhca_cmd_create_qp(struct vhca_hw *hw, const struct vhca_create_qp_hw_req *req, u32 *qpn)
{
	return RUN_CREATE(hw, VHCA_CMD_CREATE_QP, req, qpn);
}

/* vhca_cmd_modify_qp - change a queue pair's attributes */
int vhca_cmd_modify_qp(struct vhca_hw *hw, const struct vhca_modify_qp_req *req)
{
	return RUN(hw, VHCA_CMD_MODIFY_QP, req);
}

/* vhca_cmd_query_qp - read a queue pair's attributes; @attr is the device's raw answer */
int vhca_cmd_query_qp(struct vhca_hw *hw, u32 qpn, struct vhca_qp_attr *attr)
{
	struct vhca_object_req req = { .handle = cpu_to_le32(qpn) };
	struct vhca_qp_attr *a;

	a = run_out(hw, VHCA_CMD_QUERY_QP, &req, sizeof(req), sizeof(*a));
	if (IS_ERR(a))
		return PTR_ERR(a);
	*attr = *a;
	kfree(a);
	return 0;
}

/* vhca_cmd_destroy_qp - destroy a queue pair; it completes nothing afterwards */
int vhca_cmd_destroy_qp(struct vhca_hw *hw, u32 qpn)
{
	return run_destroy(hw, VHCA_CMD_DESTROY_QP, qpn);
}

static int run_mcg(struct vhca_hw *hw, u8 opcode, const u8 mgid[16], u16 mlid, u32 qpn)
{
	struct vhca_mcg_req req = {
		.qpn = cpu_to_le32(qpn),
		.mlid = cpu_to_le16(mlid),
	};

	memcpy(req.mgid, mgid, sizeof(req.mgid));
	return RUN(hw, opcode, &req);
}

/* vhca_cmd_attach_mcg - let a QP receive what is sent to a multicast group */
int vhca_cmd_attach_mcg(struct vhca_hw *hw, const u8 mgid[16], u16 mlid, u32 qpn)
{
	return run_mcg(hw, VHCA_CMD_ATTACH_MCG, mgid, mlid, qpn);
}

/* vhca_cmd_detach_mcg - the opposite */
int vhca_cmd_detach_mcg(struct vhca_hw *hw, const u8 mgid[16], u16 mlid, u32 qpn)
{
	return run_mcg(hw, VHCA_CMD_DETACH_MCG, mgid, mlid, qpn);
}
