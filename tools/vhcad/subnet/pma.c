// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The performance management agent.
 *
 * Ports count in 64 bits and are never reset.  A counter of an attribute is the difference to a
 * base of its own, which a Set moves; the counters of 32 bits or less stop at their highest value.
 */
#include <stdlib.h>
#include <string.h>

#include "subnet/internal.h"

#define ALL_PORTS		255u
/* PortXmitData and PortRcvData count in words; PortXmitWait in ticks, here of microseconds. */
#define WORD			4u
#define TICK			1000u

/* What an attribute counts, by fields of struct port_count. */
struct counter {
	u32 field;
	u8 select;		/* its bit in CounterSelect, CounterSelect2 from 16 on */
	u16 unit;
	u16 place;		/* in struct port_count */
	u16 less;		/* subtracted from it; 0: none */
};

#define COUNT(name)	offsetof(struct port_count, name)
#define SELECT2(bit)	(16 + (bit))

static const struct counter port_counters[] = {
	{ PC_LINK_DOWNED, 2, 1, COUNT(link_downed), 0 },
	{ PC_RCV_ERRORS, 3, 1, COUNT(rcv_errors), 0 },
	{ PC_RCV_SWITCH_RELAY, 5, 1, COUNT(relay_errors), 0 },
	{ PC_XMIT_DISCARDS, 6, 1, COUNT(xmit_discards), 0 },
	{ PC_XMIT_CONSTRAINT, 7, 1, COUNT(xmit_constraint), 0 },
	{ PC_RCV_CONSTRAINT, 8, 1, COUNT(rcv_constraint), 0 },
	{ PC_VL15_DROPPED, 11, 1, COUNT(vl15_dropped), 0 },
	{ PC_XMIT_DATA, 12, WORD, COUNT(xmit_bytes), 0 },
	{ PC_RCV_DATA, 13, WORD, COUNT(rcv_bytes), 0 },
	{ PC_XMIT_PKTS, 14, 1, COUNT(xmit_pkts), 0 },
	{ PC_RCV_PKTS, 15, 1, COUNT(rcv_pkts), 0 },
	{ PC_XMIT_WAIT, SELECT2(0), TICK, COUNT(xmit_wait), 0 },
};

static const struct counter extended[] = {
	{ PCX_XMIT_DATA, 0, WORD, COUNT(xmit_bytes), 0 },
	{ PCX_RCV_DATA, 1, WORD, COUNT(rcv_bytes), 0 },
	{ PCX_XMIT_PKTS, 2, 1, COUNT(xmit_pkts), 0 },
	{ PCX_RCV_PKTS, 3, 1, COUNT(rcv_pkts), 0 },
	{ PCX_XMIT_UNICAST, 4, 1, COUNT(xmit_pkts), COUNT(xmit_mcast) },
	{ PCX_RCV_UNICAST, 5, 1, COUNT(rcv_pkts), COUNT(rcv_mcast) },
	{ PCX_XMIT_MCAST, 6, 1, COUNT(xmit_mcast), 0 },
	{ PCX_RCV_MCAST, 7, 1, COUNT(rcv_mcast), 0 },
};

/* Values of a port's counters when its counters were last set to 0, in the unit of each. */
struct agent_counts {
	u64 base[ARRAY_SIZE(port_counters)];
	u64 base_ext[ARRAY_SIZE(extended)];
};

struct agent_counts *pma_counts(u32 ports)
{
	return calloc(ports, sizeof(struct agent_counts));
}

/* One of the two attributes with counters. */
struct table {
	const struct counter *counter;
	u32 n;
	bool ext;
};

static const struct table tables[] = {
	{ port_counters, ARRAY_SIZE(port_counters), false },
	{ extended, ARRAY_SIZE(extended), true },
};

static u64 *base_of(const struct agent *a, const struct table *t, u32 port)
{
	struct agent_counts *counts = &a->base[agent_is_switch(a) ? port : 0];

	return t->ext ? counts->base_ext : counts->base;
}

static u64 raw(const struct port_count *n, const struct counter *c)
{
	u64 value = *(const u64 *)((const u8 *)n + c->place);

	if (c->less)
		value -= *(const u64 *)((const u8 *)n + c->less);
	return value / c->unit;
}

static void read_port(const struct agent *a, u32 port, struct port_count *n)
{
	if (agent_is_switch(a))
		fab_switch_count(a->all->fabric, a->sw, port, n);
	else
		fab_port_count(a->port, n);
}

/* ------------------------------------------------------------------------
 * Get and Set
 */
static u64 most_of(u32 field)
{
	return ~0ull >> (64 - (field & 0xff));
}

/* Adds the counters of a port. */
static void add_port(const struct agent *a, const struct table *t, u32 port, u64 *sum)
{
	const u64 *base = base_of(a, t, port);
	struct port_count n = { 0 };

	read_port(a, port, &n);
	for (u32 i = 0; i < t->n; i++)
		sum[i] += MIN(raw(&n, &t->counter[i]) - base[i], ~sum[i]);
}

static void set_port(const struct agent *a, const struct table *t, u32 port, u32 select,
		     const u64 *value)
{
	u64 *base = base_of(a, t, port);
	struct port_count n = { 0 };

	read_port(a, port, &n);
	for (u32 i = 0; i < t->n; i++)
		if (select >> t->counter[i].select & 1)
			base[i] = raw(&n, &t->counter[i]) - value[i];
}

static u16 count(struct agent *a, const struct table *t, u8 *data, bool set)
{
	u32 first = mad_get(data, PC_PORT), last = first;
	u32 select = mad_get(data, PC_SELECT);
	u64 value[ARRAY_SIZE(port_counters)];
	u8 head[4];

	if (first == ALL_PORTS && agent_is_switch(a)) {
		first = 1;
		last = a->node->nports;
	} else if (!agent_ib(a, first) || (!first && !agent_is_switch(a))) {
		return MAD_BAD_VALUE;
	}
	if (!t->ext)
		select |= mad_get(data, PC_SELECT2) << 16;
	/* a switch has 254 ports: each field is read and written once for all of them */
	for (u32 i = 0; i < t->n; i++)
		value[i] = mad_get(data, t->counter[i].field);
	for (u32 port = first; set && port <= last; port++)
		set_port(a, t, port, select, value);
	/* the selection stays in the reply */
	memcpy(head, data, sizeof(head));
	memset(data, 0, PERF_DATA_LEN);
	memcpy(data, head, sizeof(head));
	if (!t->ext)
		mad_put(data, PC_SELECT2, select >> 16);
	memset(value, 0, sizeof(value));
	for (u32 port = first; port <= last; port++)
		add_port(a, t, port, value);
	for (u32 i = 0; i < t->n; i++)
		mad_put(data, t->counter[i].field, MIN(value[i], most_of(t->counter[i].field)));
	return MAD_OK;
}

/* PortInfo:RespTimeValue says the same. */
#define RESP_TIME	16u

static u16 class_port_info(const struct agent *a, u8 *data)
{
	u32 caps = PERF_CAP_EXTENDED | PERF_CAP_XMIT_WAIT;

	if (agent_is_switch(a))
		caps |= PERF_CAP_ALL_PORTS;
	memset(data, 0, PERF_DATA_LEN);
	mad_put(data, CPI_BASE_VERSION, 1);
	mad_put(data, CPI_CLASS_VERSION, 1);
	mad_put(data, CPI_CAPS, caps);
	mad_put(data, CPI_RESP_TIME, RESP_TIME);
	return MAD_OK;
}

static u16 serve(struct agent *a, u8 *mad, bool set)
{
	u8 *data = mad + PERF_DATA;

	switch (mad_get(mad, MAD_ATTR)) {
	case ATTR_CLASS_PORT_INFO:
		return set ? MAD_BAD_METHOD_ATTR : class_port_info(a, data);
	case ATTR_PORT_COUNTERS:
		return count(a, &tables[0], data, set);
	case ATTR_PORT_COUNTERS_EXT:
		return count(a, &tables[1], data, set);
	}
	return MAD_BAD_METHOD_ATTR;
}

u32 pma_mad(struct agent *a, u8 *mad)
{
	u8 method = mad_get(mad, MAD_METHOD);
	u16 status;

	if (method & MAD_METHOD_RESPONSE)
		return 0;
	/* the sender of these does not wait for an answer */
	if (method == MAD_SEND || (method >= MAD_TRAP && method <= MAD_TRAP_REPRESS))
		return AGENT_CONSUMED;
	if (mad_get(mad, MAD_BASE_VERSION) != 1 || mad_get(mad, MAD_CLASS_VERSION) != 1)
		status = MAD_BAD_VERSION;
	else if (method != MAD_GET && method != MAD_SET)
		status = MAD_BAD_METHOD;
	else
		status = serve(a, mad, method == MAD_SET);
	mad_put(mad, MAD_METHOD, MAD_GET_RESP);
	mad_put(mad, MAD_STATUS, status);
	return AGENT_REPLY;
}
