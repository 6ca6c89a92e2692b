// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Commands that query or set attributes and counters of the device and its ports. */
#include <kunit/visibility.h>
#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/log2.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "../hw/compat.h"
#include "cmd.h"
#include "run.h"

/* Largest values that are accepted from a device, since the driver allocates by them. */
#define VHCA_SANE_GIDS		256	/* vhca_av.sgid_index has eight bits */
#define VHCA_SANE_PKEYS		65535
#define VHCA_SANE_ENTRIES	SZ_256K

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
 * vhca_cmd_query_device() - query the device's limits
 * @hw: the device
 * @l: filled with checked values
 *
 * Context: may sleep.
 * Return: as all commands (cmd.h), and -EPROTO if the output is invalid.
 */
int vhca_cmd_query_device(struct vhca_hw *hw, struct vhca_limits *l)
{
	struct vhca_device_attr *a;

	a = vhca_run_out(hw, VHCA_CMD_QUERY_DEVICE, NULL, 0, sizeof(*a), NULL, 0);
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

static bool link_possible(const struct vhca_port_attr *attr)
{
	if (attr->link_layer == VHCA_LINK_ETH)
		return is_valid_ether_addr(attr->mac);
	return attr->link_layer == VHCA_LINK_IB;
}

/**
 * vhca_cmd_query_port() - query a port's attributes
 * @hw: the device
 * @port: 1..ports
 * @attr: receives the device's output, whose table sizes and enumerations were checked
 *
 * Context: may sleep.
 * Return: as all commands (cmd.h), and -EPROTO if the output is invalid.
 */
int vhca_cmd_query_port(struct vhca_hw *hw, u8 port, struct vhca_port_attr *attr)
{
	struct vhca_port_req req = { .port = port };
	struct vhca_port_attr *a;

	a = vhca_run_out(hw, VHCA_CMD_QUERY_PORT, &req, sizeof(req), sizeof(*a), NULL, 0);
	if (IS_ERR(a))
		return PTR_ERR(a);
	*attr = *a;
	kfree(a);

	if (attr->state > 5 || attr->max_mtu < 1 || attr->max_mtu > 5 || attr->active_mtu < 1 ||
	    attr->active_mtu > 5 || attr->lmc > 7 || !le32_to_cpu(attr->gid_entries) ||
	    le32_to_cpu(attr->gid_entries) > VHCA_SANE_GIDS || !le32_to_cpu(attr->pkey_entries) ||
	    le32_to_cpu(attr->pkey_entries) > VHCA_SANE_PKEYS || !link_possible(attr)) {
		dev_err_ratelimited(hw->dev, "device reports impossible attributes of port %u\n",
				    port);
		return -EPROTO;
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_cmd_query_port);

/* vhca_cmd_query_gid() - read one entry of a port's GID table */
int vhca_cmd_query_gid(struct vhca_hw *hw, u8 port, u32 index, u8 gid[16])
{
	struct vhca_port_req req = {
		.port = port,
		.first_index = cpu_to_le32(index),
		.count = cpu_to_le32(1),
	};
	u8 *out = vhca_run_out(hw, VHCA_CMD_QUERY_GIDS, &req, sizeof(req), 16, NULL, 0);

	if (IS_ERR(out))
		return PTR_ERR(out);
	memcpy(gid, out, 16);
	kfree(out);
	return 0;
}

/* vhca_cmd_query_pkey() - read one entry of a port's P_Key table */
int vhca_cmd_query_pkey(struct vhca_hw *hw, u8 port, u32 index, u16 *pkey)
{
	struct vhca_port_req req = {
		.port = port,
		.first_index = cpu_to_le32(index),
		.count = cpu_to_le32(1),
	};
	__le16 *out = vhca_run_out(hw, VHCA_CMD_QUERY_PKEYS, &req, sizeof(req), sizeof(*out), NULL,
				   0);

	if (IS_ERR(out))
		return PTR_ERR(out);
	*pkey = le16_to_cpu(*out);
	kfree(out);
	return 0;
}

static int run_counters(struct vhca_hw *hw, u8 opcode, const void *req, size_t req_len,
			struct vhca_port_counters *counters)
{
	struct vhca_port_counters *c = vhca_run_out(hw, opcode, req, req_len, sizeof(*c), NULL, 0);

	if (IS_ERR(c))
		return PTR_ERR(c);
	*counters = *c;
	kfree(c);
	return 0;
}

/*
 * vhca_cmd_query_counters() - read a port's counters, without those QPs that are bound to a counter
 * of their own (vhca_cmd_query_counter()); @counters receives the device's output unchanged
 */
int vhca_cmd_query_counters(struct vhca_hw *hw, u8 port, struct vhca_port_counters *counters)
{
	struct vhca_port_req req = {
		.port = port,
		.flags = vhca_hw_has(hw, VHCA_CAP_QP_COUNTERS) ? VHCA_PORT_UNBOUND : 0,
	};

	return run_counters(hw, VHCA_CMD_QUERY_COUNTERS, &req, sizeof(req), counters);
}

/* vhca_cmd_create_counter() - make a counter for QPs of a port; its number is not 0 */
int vhca_cmd_create_counter(struct vhca_hw *hw, u8 port, u32 *number)
{
	struct vhca_create_counter_req req = { .port = port };
	int err;

	err = RUN_CREATE(hw, VHCA_CMD_CREATE_COUNTER, &req, number);
	if (!err && !*number) {
		/* Number 0 is invalid: binding a QP to it would unbind the QP. */
		vhca_hw_give_up(hw, "it gave out a counter that is none");
		err = vhca_refuse(hw->dev, -EIO, "device gave out a bad counter");
	}
	return err;
}

/* vhca_cmd_bind_counter() - bind a QP to a counter, or to none if @number is 0 */
int vhca_cmd_bind_counter(struct vhca_hw *hw, u32 qpn, u32 number)
{
	struct vhca_bind_counter_req req = {
		.qpn = cpu_to_le32(qpn),
		.counter = cpu_to_le32(number),
	};

	return RUN(hw, VHCA_CMD_BIND_COUNTER, &req);
}

/* vhca_cmd_query_counter() - read a counter; @counters receives the device's output unchanged */
int vhca_cmd_query_counter(struct vhca_hw *hw, u32 number, struct vhca_port_counters *counters)
{
	struct vhca_object_req req = { .handle = cpu_to_le32(number) };

	return run_counters(hw, VHCA_CMD_QUERY_COUNTER, &req, sizeof(req), counters);
}

/* vhca_cmd_destroy_counter() - destroy a counter to which no QP is bound any more */
int vhca_cmd_destroy_counter(struct vhca_hw *hw, u32 number)
{
	return vhca_run_destroy(hw, VHCA_CMD_DESTROY_COUNTER, number);
}

/**
 * vhca_cmd_query_clock() - read the device's clock
 * @hw: the device
 * @now: receives the value of the clock at some time during the command
 *
 * Context: may sleep.
 * Return: as all commands.
 */
int vhca_cmd_query_clock(struct vhca_hw *hw, u64 *now)
{
	struct vhca_clock_resp resp;
	int err;

	err = vhca_run(hw, VHCA_CMD_QUERY_CLOCK, NULL, 0, 0, 0, &resp, sizeof(resp));
	if (!err)
		*now = le64_to_cpu(resp.now);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_cmd_query_clock);

/* vhca_cmd_set_node_desc() - set the node description */
int vhca_cmd_set_node_desc(struct vhca_hw *hw, const char desc[64])
{
	struct vhca_node_desc_req req;

	memcpy(req.desc, desc, sizeof(req.desc));
	return RUN(hw, VHCA_CMD_SET_NODE_DESC, &req);
}

/* vhca_cmd_modify_port() - change capability bits, reset a counter, or set up an Ethernet port */
int vhca_cmd_modify_port(struct vhca_hw *hw, const struct vhca_modify_port_req *req)
{
	return RUN(hw, VHCA_CMD_MODIFY_PORT, req);
}

/* vhca_cmd_set_gid() - write or clear an entry of an Ethernet port's GID table */
int vhca_cmd_set_gid(struct vhca_hw *hw, const struct vhca_set_gid_req *req)
{
	return RUN(hw, VHCA_CMD_SET_GID, req);
}

/**
 * vhca_cmd_process_mad() - pass a MAD to the device's agents of a port
 * @hw: the device
 * @req: the source of the MAD; mad_addr is filled in
 * @mad: the MAD, VHCA_MAD_SIZE bytes
 * @reply: receives the reply, VHCA_MAD_SIZE bytes, if @result has VHCA_MAD_REPLY
 * @result: set to VHCA_MAD_* bits, or to 0 if the MAD is not for the device's agents
 *
 * Context: may sleep.
 * Return: as all commands.
 */
int vhca_cmd_process_mad(struct vhca_hw *hw, struct vhca_process_mad_req *req, const void *mad,
			 void *reply, u8 *result)
{
	struct vhca_process_mad_resp resp;
	void *in, *out = ERR_PTR(-ENOMEM);
	dma_addr_t dma;

	in = kmemdup(mad, VHCA_MAD_SIZE, GFP_KERNEL);
	if (!in)
		return -ENOMEM;
	dma = dma_map_single(hw->dev, in, VHCA_MAD_SIZE, DMA_TO_DEVICE);
	if (!dma_mapping_error(hw->dev, dma)) {
		req->mad_addr = cpu_to_le64(dma);
		static_assert(sizeof(*req) <= VHCA_ASQE_REQ);
		out = vhca_run_out(hw, VHCA_CMD_PROCESS_MAD, req, sizeof(*req), VHCA_MAD_SIZE,
				   &resp, sizeof(resp));
		dma_unmap_single(hw->dev, dma, VHCA_MAD_SIZE, DMA_TO_DEVICE);
	}
	kfree(in);
	if (IS_ERR(out))
		return PTR_ERR(out);
	*result = resp.result;
	if (resp.result & VHCA_MAD_REPLY)
		memcpy(reply, out, VHCA_MAD_SIZE);
	kfree(out);
	return 0;
}
