// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The host and the agents of its ports: management datagrams that it hands to them, and what it
 * says of itself, which they tell others.
 */
#include <string.h>

#include "dev/hca.h"
#include "res/command.h"

static_assert(VHCA_MAD_SIZE == MAD_LEN, "one is the driver's name of the other");
static_assert(VHCA_MAD_IGNORE_MKEY == AGENT_IGNORE_MKEY, "the same bits");
static_assert(VHCA_MAD_IGNORE_BKEY == AGENT_IGNORE_BKEY, "the same bits");

enum vhca_status cmd_set_node_desc(struct command *c)
{
	const struct vhca_node_desc_req *req = command_req(c);
	struct vhca_dev *dev = c->dev;

	if (!command_alone(c) || !memcmp(dev->node_desc, req->desc, sizeof(dev->node_desc)))
		return VHCA_ST_OK;
	memcpy(dev->node_desc, req->desc, sizeof(dev->node_desc));
	for (u32 i = 0; i < dev->nports; i++)
		agent_desc_changed(&dev->port[i].agent);
	return VHCA_ST_OK;
}

static bool is_smp(const u8 *mad)
{
	u8 mgmt_class = mad_get(mad, MAD_CLASS);

	return mgmt_class == MAD_CLASS_SUBN || mgmt_class == MAD_CLASS_SUBN_DR;
}

enum vhca_status cmd_process_mad(struct command *c)
{
	const struct vhca_process_mad_req *req = command_req(c);
	struct vhca_process_mad_resp *resp = (void *)c->resp;
	/* the host itself asks, whatever port has brought it the MAD */
	const struct mad_path path = { .slid = le16toh(req->slid) };
	struct vhca_dev *dev = c->dev;
	enum vhca_status st;
	struct vport *p;
	u8 mad[MAD_LEN];

	if (!command_alone(c))
		return VHCA_ST_OK;
	if (!req->port || req->port > dev->nports)
		return BAD_FIELD(c, vhca_process_mad_req, port);
	if (req->flags & ~(VHCA_MAD_IGNORE_MKEY | VHCA_MAD_IGNORE_BKEY))
		return BAD_FIELD(c, vhca_process_mad_req, flags);
	p = &dev->port[req->port - 1];
	if (dma_read(dev->mem, mad, le64toh(req->mad_addr), sizeof(mad)))
		return BAD_ADDRESS(c, vhca_process_mad_req, mad_addr);
	/* nobody manages the subnet of an Ethernet port */
	if (p->fab.eth && is_smp(mad))
		return UNSUPPORTED(c, vhca_process_mad_req, port);
	/* whatever the MAD changes, its answer has to get through */
	st = command_output(c, mad, sizeof(mad));
	if (st)
		return st;
	switch (agent_mad(&p->agent, &path, mad, mad, req->flags)) {
	case AGENT_REPLY:
		resp->result = VHCA_MAD_CONSUMED | VHCA_MAD_REPLY;
		return command_output(c, mad, sizeof(mad));
	case AGENT_CONSUMED:
		resp->result = VHCA_MAD_CONSUMED;
		break;
	}
	return VHCA_ST_OK;
}

enum vhca_status cmd_modify_port(struct command *c)
{
	const struct vhca_modify_port_req *req = command_req(c);
	u32 set = le32toh(req->set_caps), clear = le32toh(req->clear_caps), was;
	enum vhca_status st;
	struct vport *p;

	if (!command_alone(c))
		return VHCA_ST_OK;
	if (!req->port || req->port > c->dev->nports)
		return BAD_FIELD(c, vhca_modify_port_req, port);
	p = &c->dev->port[req->port - 1];
	/* management alone is what InfiniBand ports are modified for */
	if (!p->fab.eth && !dev_cap(c->dev, VHCA_CAP_SMI_GSI)) {
		c->bad_field = offsetof(struct vhca_asqe, opcode);
		return VHCA_ST_UNSUPPORTED;
	}
	if (req->flags & ~(VHCA_PORT_RESET_QKEY_VIOL | VHCA_PORT_ENABLE | VHCA_PORT_DISABLE))
		return BAD_FIELD(c, vhca_modify_port_req, flags);
	if (set & ~VHCA_PORT_HOST_CAPS)
		return BAD_FIELD(c, vhca_modify_port_req, set_caps);
	if (clear & ~VHCA_PORT_HOST_CAPS || set & clear)
		return BAD_FIELD(c, vhca_modify_port_req, clear_caps);
	st = ethernet_check(c, p);
	if (st)
		return st;
	ethernet_modify(p, req);
	if (req->flags & VHCA_PORT_RESET_QKEY_VIOL)
		p->fab.ib.qkey_viol = 0;
	was = p->fab.ib.cap_mask;
	p->fab.ib.cap_mask = (was & ~clear) | set;
	if (p->fab.ib.cap_mask != was)
		agent_caps_changed(&p->agent);
	return VHCA_ST_OK;
}
