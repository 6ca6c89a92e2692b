// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Agents: their life, and how they handle a packet.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "subnet/internal.h"
#include "subnet/smi.h"

/* What switches report as their vendor: the prefix of their GUIDs. */
#define SWITCH_VENDOR		((u32)(SWITCH_GUIDS >> 40))
#define SWITCH_DEVICE		1u
#define SWITCH_REVISION		1u

#define CAPS	(PI_CAP_TRAP | PI_CAP_SL_MAP | PI_CAP_SYSTEM_GUID | PI_CAP_EXT_SPEEDS | \
		 PI_CAP_DR_NOTICE | PI_CAP_CAPS_NOTICE | PI_CAP_REREGISTER | PI_CAP_OTHERS_NOTICE)

/* ------------------------------------------------------------------------
 * Serving
 */
u32 agent_mad(struct agent *a, const struct mad_path *path, const u8 *in, u8 *out, u32 flags)
{
	memmove(out, in, MAD_LEN);
	switch (mad_get(out, MAD_CLASS)) {
	case MAD_CLASS_SUBN:
	case MAD_CLASS_SUBN_DR:
		return sma_mad(a, path, out, flags);
	case MAD_CLASS_PERF:
		return pma_mad(a, out);
	}
	return 0;
}

/* A packet that an agent has received. */
struct arrival {
	struct agent *a;
	const struct wire_hdr *h;
	struct mad_path path;
	u8 mad[MAD_LEN];
};

/* The packet ends here.  Returns true, for callers that return whether it has been handled. */
static bool drop(struct agent *a)
{
	a->dropped++;
	return true;
}

static bool leave_to_host(struct agent *a)
{
	return agent_is_switch(a) ? drop(a) : false;
}

/* The reply goes to the LID that the request came from. */
static void answer_lid(struct arrival *r)
{
	const struct port *self = agent_self(r->a);
	struct wire_hdr h = {
		.sl = r->h->sl, .dlid = r->h->slid, .slid = r->h->dlid, .dqpn = r->h->sqpn,
		.sqpn = r->h->dqpn, .pkey = port_pkey_for(self, r->h->pkey), .grh = r->h->grh,
		.tclass = r->h->tclass, .flow_label = r->h->flow_label, .hop_limit = 0xff,
	};

	memcpy(h.sgid, r->h->dgid, sizeof(h.sgid));
	memcpy(h.dgid, r->h->sgid, sizeof(h.dgid));
	if (h.slid == LID_PERMISSIVE && self->lid)
		h.slid = self->lid;
	if (h.sqpn)
		h.qkey = MAD_GSI_QKEY;
	agent_send(r->a, r->path.in_port, h.dlid == LID_PERMISSIVE ? r->path.in_port : 0, &h,
		   r->mad);
}

static bool serve_lid(struct arrival *r)
{
	switch (agent_mad(r->a, &r->path, r->mad, r->mad, 0)) {
	case AGENT_REPLY:
		answer_lid(r);
		return true;
	case AGENT_CONSUMED:
		return true;
	}
	return leave_to_host(r->a);
}

/* ------------------------------------------------------------------------
 * QP0
 */
static void send_hop(struct arrival *r, u8 out_port)
{
	struct wire_hdr h = { .dlid = LID_PERMISSIVE, .slid = LID_PERMISSIVE };

	agent_send(r->a, r->path.in_port, out_port, &h, r->mad);
}

/* The part by LID, behind the hops or in front of them: a switch sends from its own LID. */
static bool send_route(struct arrival *r, u16 dlid)
{
	const struct port *self = agent_self(r->a);
	struct wire_hdr h = { .dlid = dlid, .slid = self->lid };

	if (!dlid || dlid > LID_SWITCH || port_has_lid(self, dlid))
		return drop(r->a);
	agent_send(r->a, r->path.in_port, 0, &h, r->mad);
	return true;
}

static bool serve_hops(struct arrival *r, struct smi_hop *hop)
{
	switch (agent_mad(r->a, &r->path, r->mad, r->mad, 0)) {
	case AGENT_REPLY:
		if (smi_answer(r->mad, hop, r->h->slid) == SMI_FORWARD)
			send_hop(r, hop->out_port);
		else
			answer_lid(r);
		return true;
	case AGENT_CONSUMED:
		return true;
	}
	return leave_to_host(r->a);
}

static bool rx_hops(struct arrival *r)
{
	struct smi_hop hop = {
		.nports = agent_is_switch(r->a) ? r->a->node->nports : 0,
		.in_port = r->path.in_port,
	};

	switch (smi_receive(r->mad, &hop)) {
	case SMI_SERVE:
		return serve_hops(r, &hop);
	case SMI_FORWARD:
		send_hop(r, hop.out_port);
		return true;
	case SMI_ROUTE:
		/* the hops have led to the switch that has the LID */
		if (!mad_get(r->mad, DR_RETURNS) && port_has_lid(agent_self(r->a), hop.dlid))
			return serve_hops(r, &hop);
		return send_route(r, hop.dlid);
	case SMI_HOST:
		return false;
	case SMI_DROP:
		break;
	}
	return drop(r->a);
}

static bool rx_qp0(struct arrival *r)
{
	switch (mad_get(r->mad, MAD_CLASS)) {
	case MAD_CLASS_SUBN:
		return serve_lid(r);
	case MAD_CLASS_SUBN_DR:
		return rx_hops(r);
	}
	return leave_to_host(r->a);
}

/* ------------------------------------------------------------------------
 * QP1: the host's own, which also counts what it refuses, except for one class
 */
/* A switch has no host to answer requests of other classes. */
static bool refuse_class(struct arrival *r)
{
	u8 method = mad_get(r->mad, MAD_METHOD);

	if (method != MAD_GET && method != MAD_SET)
		return drop(r->a);
	mad_put(r->mad, MAD_METHOD, MAD_GET_RESP);
	mad_put(r->mad, MAD_STATUS, MAD_BAD_METHOD_ATTR);
	answer_lid(r);
	return true;
}

static bool rx_qp1(struct arrival *r)
{
	const struct port *self = agent_self(r->a);
	const struct wire_hdr *h = r->h;
	bool right = h->qkey == MAD_GSI_QKEY && port_pkey_for(self, h->pkey);
	bool served = mad_get(r->mad, MAD_CLASS) == MAD_CLASS_PERF;

	if (!agent_is_switch(r->a))
		return right && served && serve_lid(r);
	if (right)
		return served ? serve_lid(r) : refuse_class(r);
	if (h->qkey != MAD_GSI_QKEY)
		agent_trap_qkey(r->a, h);
	else
		agent_trap_pkey(r->a, h);
	return drop(r->a);
}

/* ------------------------------------------------------------------------
 * Receiving
 */
static bool rx(struct agent *a, u8 in_port, const struct run *run)
{
	struct arrival r = {
		.a = a, .h = &run->h, .path = { .in_port = in_port, .slid = run->h.slid },
	};

	if (run->service != WIRE_UD || run->npkts != 1 || run->len != MAD_LEN || run->h.dqpn > 1)
		return drop(a);
	/* any program can send to QP 0 on a data VL; only QP 0 itself sends on VL15 */
	if (run->h.dqpn ? run->h.vl == PORT_VL15 : run->h.vl != PORT_VL15)
		return drop(a);
	if (payload_read(run->pl, run->skip, r.mad, MAD_LEN))
		return drop(a);
	return run->h.dqpn ? rx_qp1(&r) : rx_qp0(&r);
}

bool agent_rx(struct agent *a, const struct run *run)
{
	struct fabric *f = a->all->fabric;
	bool done;

	fab_agents_lock(f);
	done = rx(a, a->port->number, run);
	fab_agents_unlock(f);
	return done;
}

/* ------------------------------------------------------------------------
 * Life
 */
static int init(struct agent *a, struct agents *all, u32 ports)
{
	int err;

	a->all = all;
	a->base = pma_counts(ports);
	if (!a->base)
		return -ENOMEM;
	err = timer_init(&all->timers, &a->trap_timer, agent_trap_timer);
	if (err)
		goto counts;
	err = timer_init(&all->timers, &a->down_timer, sma_down_timer);
	if (err)
		goto trap;
	/* an Ethernet port has an agent for its counters alone */
	if (!a->port || !a->port->eth)
		agent_self(a)->cap_mask |= CAPS;
	return 0;
trap:
	timer_fini(&all->timers, &a->trap_timer);
counts:
	free(a->base);
	return err;
}

void agent_fini(struct agent *a)
{
	timer_fini(&a->all->timers, &a->down_timer);
	timer_fini(&a->all->timers, &a->trap_timer);
	free(a->base);
}

/* The agent of a switch; NULL without memory. */
static struct agent *switch_agent(struct agents *all, u32 sw)
{
	struct switch_agent *s = all->sw[sw];

	if (s)
		return &s->agent;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->node = (struct agent_node){
		.type = NODE_SWITCH,
		.nports = fab_switch_ports(all->fabric, sw),
		.device_id = SWITCH_DEVICE,
		.revision = SWITCH_REVISION,
		.vendor_id = SWITCH_VENDOR,
		.system_guid = fab_switch_guid(all->fabric, sw),
		.node_guid = fab_switch_guid(all->fabric, sw),
		.desc = s->desc,
	};
	snprintf((char *)s->desc, sizeof(s->desc), "%s", fab_switch_name(all->fabric, sw));
	s->agent.node = &s->node;
	s->agent.sw = sw;
	if (init(&s->agent, all, s->node.nports + 1)) {
		free(s);
		return NULL;
	}
	agent_self(&s->agent)->cap_mask |= PI_CAP_SWITCH_PKEY_TRAP;
	all->sw[sw] = s;
	return &s->agent;
}

/* ------------------------------------------------------------------------
 * Calls from the fabric
 */
static void on_rx(void *agents, u32 sw, u32 in_port, struct run *run)
{
	struct agent *a = switch_agent(agents, sw);

	if (a)
		rx(a, in_port, run);
}

/* The manager itself sets armed and active, so there is no trap for these. */
static void on_state(void *agents, u32 sw, u32 port, u8 old)
{
	struct agent *a = switch_agent(agents, sw);

	if (a && (old == PORT_DOWN || agent_ib(a, port)->state == PORT_DOWN))
		agent_link_state(a);
}

static void on_bad_pkey(void *agents, u32 sw, u32 port, const struct run *run)
{
	struct agent *a = switch_agent(agents, sw);

	if (a)
		agent_switch_pkey(a, port, &run->h);
}

static void on_run(void *agents, u64 now)
{
	struct agents *all = agents;
	u64 next;

	timers_run(&all->timers, now, UINT32_MAX);
	next = timers_next(&all->timers);
	if (next != TIMER_OFF)
		fab_agents_at(all->fabric, next);
}

static void on_free(void *agents)
{
	struct agents *all = agents;

	for (u32 sw = 0; sw < ARRAY_SIZE(all->sw); sw++)
		if (all->sw[sw]) {
			agent_fini(&all->sw[sw]->agent);
			free(all->sw[sw]);
		}
	timers_free(&all->timers);
	free(all);
}

static const struct fab_agent_ops ops = {
	.rx = on_rx,
	.state = on_state,
	.bad_pkey = on_bad_pkey,
	.run = on_run,
	.free = on_free,
};

int subnet_agents(struct fabric *f)
{
	struct agents *all;

	if (fab_agents(f, &ops))
		return 0;
	all = calloc(1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	all->fabric = f;
	fabric_set_agents(f, &ops, all);
	return 0;
}

int agent_init(struct agent *a, const struct agent_node *node, struct fab_port *port)
{
	int err = subnet_agents(port->fabric);

	if (err)
		return err;
	*a = (struct agent){ .node = node, .port = port };
	return init(a, fab_agents(port->fabric, &ops), 1);
}
