// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * PortInfo.
 *
 * A Set brings all of PortInfo, so a manager repeats what it has read: a value that the port has
 * already is never wrong.  First everything is checked, then everything is changed, so that one
 * wrong value changes nothing.
 */
#include "lib/bytes.h"
#include "subnet/internal.h"
#include "subnet/static.h"

/* Time for the reply to leave by a port that the request takes down. */
#define DOWN_DELAY	1000000ull

/* PortInfo:RespTimeValue, of both agents: 4.096 us to its power. */
#define RESP_TIME	16u

/* Enabled width or speed: no change, and all that is supported; extended speeds can be off. */
#define ENABLE_SAME	0u
#define WIDTH_ALL	255u
#define SPEED_ALL	15u
#define SPEED_EXT_ALL	31u
#define SPEED_EXT_NONE	30u

/* What a request asks of a port: its new setup, and the rest. */
struct request {
	struct port *port;
	struct port_setup setup;
	bool external;		/* of a switch: it has no addresses */
	u16 lid, sm_lid;
	u8 lmc;
	u8 state, phys;
	u64 prefix;
};

static struct port *port_of(const struct sma_call *c)
{
	u32 number = c->mod & ~PI_MOD_EXT_SPEEDS;

	return number > 255 ? NULL : agent_ib(c->a, number);
}

static bool is_external(const struct sma_call *c, const struct port *port)
{
	return port != agent_self(c->a);
}

/* ------------------------------------------------------------------------
 * Get
 */
static void put_identity(const struct sma_call *c, const struct port *port)
{
	const struct port_setup *s = &port->setup;

	mad_put(c->data, PI_MKEY, c->mkey == MKEY_OWNS ? s->mkey : 0);
	mad_put(c->data, PI_GID_PREFIX, get_be64(port->gid[0]));
	mad_put(c->data, PI_LID, port->lid);
	mad_put(c->data, PI_SM_LID, port->sm_lid);
	mad_put(c->data, PI_CAPS, port->cap_mask);
	mad_put(c->data, PI_CAPS2, port->cap_mask2);
	mad_put(c->data, PI_MKEY_LEASE, s->mkey_lease);
	mad_put(c->data, PI_MKEY_PROTECT, s->mkey_protect);
	mad_put(c->data, PI_LMC, port->lmc);
	mad_put(c->data, PI_SM_SL, s->sm_sl);
	mad_put(c->data, PI_INIT_TYPE, s->init_type);
	mad_put(c->data, PI_INIT_TYPE_REPLY, s->init_type_reply);
	mad_put(c->data, PI_MKEY_VIOL, port->mkey_viol);
	mad_put(c->data, PI_PKEY_VIOL, port->pkey_viol);
	mad_put(c->data, PI_QKEY_VIOL, port->qkey_viol);
	mad_put(c->data, PI_GUID_CAP, PORT_GIDS);
	mad_put(c->data, PI_MCAST_TRAP_SUPPRESS, s->trap_suppress);
	mad_put(c->data, PI_SUBNET_TIMEOUT, s->subnet_timeout);
	mad_put(c->data, PI_RESP_TIME, RESP_TIME);
}

/* A new port has all bits set, which stands for what it supports. */
static u32 enabled(u32 bits, u32 all, u32 supported)
{
	return bits == all ? supported : bits;
}

static void put_link(const struct sma_call *c, const struct port *port)
{
	const struct port_setup *s = &port->setup;
	const struct port_speed *v = &port->speed;

	mad_put(c->data, PI_STATE, port->state);
	mad_put(c->data, PI_PHYS_STATE, port->phys_state);
	mad_put(c->data, PI_DOWN_DEFAULT, s->down_default);
	mad_put(c->data, PI_WIDTH_ENABLED,
		enabled(s->width_enabled, WIDTH_ALL, v->width_supported));
	mad_put(c->data, PI_WIDTH_SUPPORTED, v->width_supported);
	mad_put(c->data, PI_WIDTH_ACTIVE, v->width_active);
	mad_put(c->data, PI_SPEED_ENABLED,
		enabled(s->speed_enabled, SPEED_ALL, v->speed_supported));
	mad_put(c->data, PI_SPEED_SUPPORTED, v->speed_supported);
	mad_put(c->data, PI_SPEED_ACTIVE, v->speed_active);
	mad_put(c->data, PI_SPEED_EXT_ENABLED,
		enabled(s->speed_ext_enabled, SPEED_EXT_ALL, v->speed_ext_supported));
	mad_put(c->data, PI_SPEED_EXT_SUPPORTED, v->speed_ext_supported);
	mad_put(c->data, PI_SPEED_EXT_ACTIVE, v->speed_ext_active);
	mad_put(c->data, PI_PHY_ERRORS, s->phy_errors);
	mad_put(c->data, PI_OVERRUN_ERRORS, s->overrun_errors);
}

static void put_queues(const struct sma_call *c, const struct port *port)
{
	const struct port_setup *s = &port->setup;
	bool arbitrates = !agent_is_switch(c->a) || is_external(c, port);

	mad_put(c->data, PI_MTU, s->mtu);
	mad_put(c->data, PI_MTU_CAP, port->mtu_cap);
	mad_put(c->data, PI_VL_CAP, port->vl_cap);
	mad_put(c->data, PI_OP_VLS, s->op_vls);
	mad_put(c->data, PI_VL_HIGH_LIMIT, s->vl_high_limit);
	mad_put(c->data, PI_VLARB_HIGH_CAP, arbitrates ? PORT_ARBS : 0);
	mad_put(c->data, PI_VLARB_LOW_CAP, arbitrates ? PORT_ARBS : 0);
	mad_put(c->data, PI_VL_STALL, s->vl_stall);
	mad_put(c->data, PI_HOQ_LIFE, s->hoq_life);
	mad_put(c->data, PI_ENFORCE_IN, s->enforce_in);
	mad_put(c->data, PI_ENFORCE_OUT, s->enforce_out);
	mad_put(c->data, PI_FILTER_IN, s->filter_raw_in);
	mad_put(c->data, PI_FILTER_OUT, s->filter_raw_out);
}

u16 get_port_info(struct sma_call *c)
{
	const struct port *port = port_of(c);

	if (!port)
		return MAD_BAD_VALUE;
	if (!is_external(c, port))
		put_identity(c, port);
	mad_put(c->data, PI_LOCAL_PORT, c->a->port ? c->a->port->number : c->path->in_port);
	put_link(c, port);
	put_queues(c, port);
	return MAD_OK;
}

/* ------------------------------------------------------------------------
 * Set: checking
 */
/* A component that may have the values 0 (no change) and 1..@most. */
static bool take_upto(u8 *to, u32 value, u32 most)
{
	if (value)
		*to = value;
	return value <= most;
}

/* Bits of what is supported, 0 (no change), or @all of them. */
static bool take_bits(u8 *to, u32 value, u32 supported, u32 all)
{
	if (value == ENABLE_SAME || value == enabled(*to, all, supported))
		return true;
	*to = value;
	return value == all || !(value & ~supported);
}

static bool take_link(struct request *r, const u8 *data, bool ext)
{
	const struct port_speed *v = &r->port->speed;
	u32 speed_ext = mad_get(data, PI_SPEED_EXT_ENABLED);

	if (!take_bits(&r->setup.width_enabled, mad_get(data, PI_WIDTH_ENABLED),
		       v->width_supported, WIDTH_ALL) ||
	    !take_bits(&r->setup.speed_enabled, mad_get(data, PI_SPEED_ENABLED),
		       v->speed_supported, SPEED_ALL) ||
	    !take_upto(&r->setup.down_default, mad_get(data, PI_DOWN_DEFAULT), PORT_PHYS_POLLING))
		return false;
	r->setup.phy_errors = mad_get(data, PI_PHY_ERRORS);
	r->setup.overrun_errors = mad_get(data, PI_OVERRUN_ERRORS);
	/* a manager that does not know these speeds sends zeros, or rubbish */
	if (!ext)
		return true;
	if (speed_ext == SPEED_EXT_NONE && v->speed_ext_supported) {
		r->setup.speed_ext_enabled = SPEED_EXT_NONE;
		return true;
	}
	return take_bits(&r->setup.speed_ext_enabled, speed_ext, v->speed_ext_supported,
			 SPEED_EXT_ALL);
}

static bool take_queues(struct request *r, const u8 *data)
{
	const struct port *port = r->port;
	u32 mtu = mad_get(data, PI_MTU);

	if (mtu != r->setup.mtu && (!mtu || mtu > port->mtu_cap))
		return false;
	r->setup.mtu = mtu;
	if (!take_upto(&r->setup.op_vls, mad_get(data, PI_OP_VLS), port->vl_cap))
		return false;
	r->setup.vl_high_limit = mad_get(data, PI_VL_HIGH_LIMIT);
	r->setup.vl_stall = mad_get(data, PI_VL_STALL);
	r->setup.hoq_life = mad_get(data, PI_HOQ_LIFE);
	if (r->external) {
		r->setup.enforce_in = mad_get(data, PI_ENFORCE_IN);
		r->setup.enforce_out = mad_get(data, PI_ENFORCE_OUT);
	}
	return true;
}

static bool lid_wrong(u16 lid, u16 now)
{
	return lid != now && (!lid || lid > LID_SWITCH);
}

static bool take_identity(struct request *r, const u8 *data, bool may_have_lmc)
{
	r->lid = mad_get(data, PI_LID);
	r->lmc = mad_get(data, PI_LMC);
	r->sm_lid = mad_get(data, PI_SM_LID);
	r->prefix = mad_get(data, PI_GID_PREFIX);
	if (lid_wrong(r->lid, r->port->lid) || lid_wrong(r->sm_lid, r->port->sm_lid) ||
	    r->lid & ((1u << r->lmc) - 1) || (r->lmc && !may_have_lmc))
		return false;
	/* a multicast prefix is not a subnet prefix */
	if (r->prefix >> 56 == 0xff)
		return false;
	r->setup.mkey = mad_get(data, PI_MKEY);
	r->setup.mkey_lease = mad_get(data, PI_MKEY_LEASE);
	r->setup.mkey_protect = mad_get(data, PI_MKEY_PROTECT);
	r->setup.sm_sl = mad_get(data, PI_SM_SL);
	r->setup.init_type_reply = mad_get(data, PI_INIT_TYPE_REPLY);
	r->setup.trap_suppress = mad_get(data, PI_MCAST_TRAP_SUPPRESS);
	r->setup.subnet_timeout = mad_get(data, PI_SUBNET_TIMEOUT);
	return true;
}

/* A state is wrong that the port neither has nor can go to. */
static bool state_wrong(const struct request *r, bool port0)
{
	u8 now = r->port->state;

	switch (r->state) {
	case 0:
		return false;
	case PORT_INIT:
		return now != PORT_INIT;
	case PORT_DOWN:
		return port0;
	case PORT_ARMED:
		return now != PORT_ARMED && (port0 || now != PORT_INIT);
	case PORT_ACTIVE:
		return now != PORT_ACTIVE && (port0 || now != PORT_ARMED);
	}
	return true;
}

static bool take_states(struct request *r, const u8 *data, bool port0)
{
	r->state = mad_get(data, PI_STATE);
	r->phys = mad_get(data, PI_PHYS_STATE);
	if (r->phys == r->port->phys_state && r->phys == PORT_PHYS_LINKUP)
		r->phys = 0;
	if (state_wrong(r, port0) || r->phys > PORT_PHYS_DISABLED)
		return false;
	/* after a change of the physical state a link is not armed or active */
	return !r->phys || (!port0 && r->state <= PORT_DOWN);
}

/* ------------------------------------------------------------------------
 * Set: changing
 */
/* Does the reply to the request leave by this port? */
static bool carries_reply(const struct sma_call *c, const struct port *port)
{
	const struct agent *a = c->a;

	if (!c->path->in_port)
		return false;
	if (!agent_is_switch(a))
		return true;
	return port == agent_ib(a, c->path->in_port) ||
	       (c->path->slid <= LID_SWITCH &&
		port == agent_ib(a, fab_switch_port(a->all->fabric, a->sw, c->path->slid)));
}

static void go_down(struct port *port, u8 phys)
{
	if (phys)
		port_set_phys(port, phys);
	else
		port_set_state(port, PORT_DOWN);
}

void sma_down_timer(struct timer *t)
{
	struct agent *a = container_of(t, struct agent, down_timer);
	struct port *port = a->down;

	a->down = NULL;
	go_down(port, a->down_phys);
}

static void change_states(struct sma_call *c, const struct request *r)
{
	struct agent *a = c->a;

	if (!r->phys && r->state != PORT_DOWN) {
		if (r->state > PORT_INIT)
			port_set_state(r->port, r->state);
	} else if (carries_reply(c, r->port)) {
		/* another port that already waits to go down goes first */
		if (a->down && a->down != r->port)
			sma_down_timer(&a->down_timer);
		a->down = r->port;
		a->down_phys = r->phys;
		agent_timer_set(a, &a->down_timer, fab_now(a->all->fabric) + DOWN_DELAY);
	} else {
		go_down(r->port, r->phys);
	}
}

/* Counters of violations go back to 0; no other value is taken. */
static void clear_counters(struct port *port, const u8 *data)
{
	if (!mad_get(data, PI_MKEY_VIOL))
		port->mkey_viol = 0;
	if (!mad_get(data, PI_PKEY_VIOL))
		port->pkey_viol = 0;
	if (!mad_get(data, PI_QKEY_VIOL))
		port->qkey_viol = 0;
}

static void change(struct sma_call *c, const struct request *r)
{
	struct port *port = r->port;

	if (!r->external) {
		clear_counters(port, c->data);
		if (r->prefix != get_be64(port->gid[0]))
			port_set_prefix(port, r->prefix);
		if (r->sm_lid != port->sm_lid || r->setup.sm_sl != port->setup.sm_sl)
			port_set_sm(port, r->sm_lid, r->setup.sm_sl);
		if (r->lid != port->lid || r->lmc != port->lmc)
			port_set_lid(port, r->lid, r->lmc);
	}
	port_set_setup(port, &r->setup);
	change_states(c, r);
	if (!r->external && mad_get(c->data, PI_REREGISTER))
		port_reregister(port);
}

u16 set_port_info(struct sma_call *c)
{
	struct request r = { .port = port_of(c) };
	bool port0;

	if (!r.port)
		return MAD_BAD_VALUE;
	r.setup = r.port->setup;
	r.external = is_external(c, r.port);
	port0 = agent_is_switch(c->a) && !r.external;
	if (!take_link(&r, c->data, c->mod & PI_MOD_EXT_SPEEDS) || !take_queues(&r, c->data) ||
	    !take_states(&r, c->data, port0))
		return MAD_BAD_VALUE;
	if (!r.external && !take_identity(&r, c->data, !port0))
		return MAD_BAD_VALUE;
	/* a manager that sets a state or a LID manages the subnet */
	if (r.state > PORT_INIT || (!r.external && r.lid != r.port->lid))
		subnet_static_yield(c->a->all->fabric);
	change(c, &r);
	return MAD_OK;
}
