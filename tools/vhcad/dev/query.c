// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a device and its ports tell about themselves.
 */
#include <stdlib.h>
#include <string.h>

#include "dev/hca.h"
#include "fabric/eth.h"
#include "res/command.h"

#define PAGE_SIZES	((2ull << VHCA_PAGE_SHIFT_MAX) - (1ull << VHCA_PAGE_SHIFT_MIN))

/* A limit that is 0 without the capability. */
static u32 limit_with(const struct vhca_dev *d, enum vhca_cap cap, u32 n)
{
	return d->caps >> cap & 1 ? n : 0;
}

enum vhca_status cmd_query_device(struct command *c)
{
	const struct vhca_dev *d = c->dev;
	struct vhca_device_attr a = {
		.caps = htole64(d->caps),
		.node_guid = htole64(d->node_guid),
		.sys_image_guid = htole64(d->node_guid),
		.fw_version = htole64((u64)VHCA_VERSION_MAJOR << 32 | VHCA_VERSION_MINOR << 16),
		.max_mr_size = htole64(UINT64_MAX),
		.page_sizes = htole64(PAGE_SIZES),
		.max_uars = htole32(d->uars.max),
		.max_eqs = htole32(d->eqs.max),
		.max_pds = htole32(d->pds.max),
		.max_mkeys = htole32(d->mkeys.max - 1),
		.max_cqs = htole32(d->cqs.max),
		.max_cqe = htole32(1u << VDEV_LOG_MAX_CQE),
		.max_qps = htole32(d->qps.limit),
		.max_sq_blocks = htole32(1u << VDEV_LOG_MAX_BLOCKS),
		.max_rq_wr = htole32(1u << VDEV_LOG_MAX_STRIDES),
		.max_send_sge = htole32(VDEV_MAX_SGE),
		.max_recv_sge = htole32(VDEV_MAX_SGE),
		.max_inline = htole32(VDEV_MAX_INLINE),
		.max_msg = htole32(VDEV_MAX_MSG),
		.clock_khz = htole32(limit_with(d, VHCA_CAP_CLOCK, VDEV_CLOCK_KHZ)),
		.vectors = htole32(d->vectors),
		.max_mcgs = htole32(limit_with(d, VHCA_CAP_MCAST, d->limit[VLIM_MCGS])),
		.max_mcg_qps = htole32(limit_with(d, VHCA_CAP_MCAST,
						  d->limit[VLIM_MCG_QPS])),
		.ports = d->nports,
		.max_rd_atomic = VDEV_MAX_RD_ATOMIC,
		.max_init_rd_atomic = VDEV_MAX_RD_ATOMIC,
		.local_ca_ack_delay = VDEV_ACK_DELAY,
		.max_srqs = htole32(limit_with(d, VHCA_CAP_SRQ, d->srqs.max)),
		.max_srq_wr = htole32(limit_with(d, VHCA_CAP_SRQ, 1u << VDEV_LOG_MAX_STRIDES)),
		.max_xrcds = htole32(limit_with(d, VHCA_CAP_XRC, d->xrcds.max)),
		.max_counters = htole32(limit_with(d, VHCA_CAP_QP_COUNTERS, d->counters.max - 1)),
		.max_reg_entries = htole32(limit_with(d, VHCA_CAP_FAST_REG, VDEV_MAX_REG_ENTRIES) |
					   limit_with(d, VHCA_CAP_FMR, VDEV_MAX_REG_ENTRIES)),
		.max_moderation_count = htole16(limit_with(d, VHCA_CAP_CQ_MODERATION,
							   VDEV_MAX_MODERATION)),
		.max_moderation_period = htole16(limit_with(d, VHCA_CAP_CQ_MODERATION,
							    VDEV_MAX_MODERATION)),
	};

	memcpy(a.node_desc, d->node_desc, sizeof(a.node_desc));
	return command_output(c, &a, sizeof(a));
}

static const struct vport *named_port(const struct command *c)
{
	const struct vhca_port_req *req = command_req(c);

	if (!req->port || req->port > c->dev->nports)
		return NULL;
	return &c->dev->port[req->port - 1];
}

/* Checks a request about a port, not about one of its tables. */
static enum vhca_status check_port(struct command *c, u32 flags)
{
	const struct vhca_port_req *req = command_req(c);

	if (!named_port(c))
		return BAD_FIELD(c, vhca_port_req, port);
	if (req->flags & ~flags)
		return BAD_FIELD(c, vhca_port_req, flags);
	if (req->first_index)
		return BAD_FIELD(c, vhca_port_req, first_index);
	if (req->count)
		return BAD_FIELD(c, vhca_port_req, count);
	return VHCA_ST_OK;
}

static u32 gid_entries(const struct vport *p)
{
	return p->fab.eth ? ETH_GIDS : PORT_GIDS;
}

enum vhca_status cmd_query_port(struct command *c)
{
	enum vhca_status st = check_port(c, 0);
	const struct vport *p = named_port(c);
	const struct port *ib;
	struct vhca_port_attr a;

	if (st)
		return st;
	ib = &p->fab.ib;
	a = (struct vhca_port_attr){
		.cap_mask = htole32(ib->cap_mask),
		.gid_entries = htole32(gid_entries(p)),
		.pkey_entries = htole32(vport_pkeys(p)),
		.max_msg = htole32(VDEV_MAX_MSG),
		.qkey_viol = htole32(ib->qkey_viol),
		.pkey_viol = htole32(ib->pkey_viol),
		.lid = htole16(ib->lid),
		.sm_lid = htole16(ib->sm_lid),
		.state = ib->state,
		.phys_state = ib->phys_state,
		.max_mtu = ib->mtu_cap,
		.active_mtu = vport_mtu(p),
		.lmc = ib->lmc,
		.sm_sl = ib->setup.sm_sl,
		.subnet_timeout = ib->setup.subnet_timeout,
		.init_type_reply = ib->setup.init_type_reply,
		.max_vl = ib->vl_cap,
		.link_layer = p->fab.eth ? VHCA_LINK_ETH : VHCA_LINK_IB,
		.active_width = p->fab.rate.width,
		.active_speed = htole16(p->fab.rate.speed),
	};
	if (p->fab.eth)
		memcpy(a.mac, p->fab.eth->mac, sizeof(a.mac));
	return command_output(c, &a, sizeof(a));
}

enum vhca_status cmd_query_counters(struct command *c)
{
	const struct vhca_port_req *req = command_req(c);
	const struct vport *p = named_port(c);
	enum vhca_status st = check_port(c, dev_cap(c->dev, VHCA_CAP_QP_COUNTERS) ?
					    VHCA_PORT_UNBOUND : 0);
	struct vport_stats s;

	if (st)
		return st;
	vport_stats(p, &s);
	if (req->flags & VHCA_PORT_UNBOUND)
		stats_subtract(&s, &p->counted);
	return command_counters(c, &s);
}

/* Checks a table request and its output length. */
static enum vhca_status check_table(struct command *c, u32 entries, u32 entry_size)
{
	const struct vhca_port_req *req = command_req(c);
	u32 first = le32toh(req->first_index), count = le32toh(req->count);

	if (!named_port(c))
		return BAD_FIELD(c, vhca_port_req, port);
	if (req->flags)
		return BAD_FIELD(c, vhca_port_req, flags);
	if (first >= entries)
		return BAD_FIELD(c, vhca_port_req, first_index);
	if (!count || count > entries - first)
		return BAD_FIELD(c, vhca_port_req, count);
	if (c->out_len != count * entry_size) {
		c->bad_field = offsetof(struct vhca_asqe, out_len);
		return VHCA_ST_BAD_FIELD;
	}
	return VHCA_ST_OK;
}

enum vhca_status cmd_query_gids(struct command *c)
{
	const struct vhca_port_req *req = command_req(c);
	const struct vport *p = named_port(c);
	enum vhca_status st = check_table(c, p ? gid_entries(p) : 0, 16);
	u32 first = le32toh(req->first_index);
	u8 gid[ETH_GIDS][16] = { 0 };

	if (st)
		return st;
	if (!p->fab.eth)
		return command_output(c, p->fab.ib.gid[first], c->out_len);
	for (u32 i = 0; i < c->out_len / sizeof(gid[0]); i++)
		if (p->fab.eth->gid[first + i].valid)
			memcpy(gid[i], p->fab.eth->gid[first + i].addr.gid, sizeof(gid[i]));
	return command_output(c, gid, c->out_len);
}

enum vhca_status cmd_query_pkeys(struct command *c)
{
	const struct vhca_port_req *req = command_req(c);
	const struct vport *p = named_port(c);
	enum vhca_status st = check_table(c, p ? vport_pkeys(p) : 0, sizeof(__le16));
	__le16 pkey[PORT_PKEYS];

	if (st)
		return st;
	for (u32 i = 0; i < PORT_PKEYS; i++)
		pkey[i] = htole16(p->fab.ib.pkey[i]);
	return command_output(c, pkey + le32toh(req->first_index), c->out_len);
}

enum vhca_status cmd_query_clock(struct command *c)
{
	struct vhca_clock_resp *resp = (void *)c->resp;

	resp->now = htole64(adapter_now(&c->dev->adapter));
	return VHCA_ST_OK;
}
