// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Faults of links: which packets they strike, and what becomes of those.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/eth_internal.h"
#include "lib/bytes.h"
#include "wire/wire.h"

#define USEC	1000ull		/* ns */
#define MSEC	1000000ull

/* A permutation of 64-bit numbers in which neighbours have nothing in common. */
static u64 scatter(u64 v)
{
	v = (v ^ v >> 31) * 0xd6e8feb86659fd93ull;
	v = (v ^ v >> 29) * 0xa0761d6478bd642full;
	return v ^ v >> 32;
}

static bool takes_time(u32 kind)
{
	return kind == FAB_DELAY || kind == FAB_REORDER || kind == FAB_STALL || kind == FAB_FLAP;
}

const char *fab_fault_wrong(const struct fab_fault *a)
{
	bool timed = takes_time(a->kind);
	u64 opcodes[4];

	if (a->kind >= FAB_FAULT_KINDS || a->direction > FAB_IN)
		return "no such kind, or direction";
	if (!a->permille || a->permille > 1000)
		return "permille is 1 to 1000";
	if (a->skip > FAB_MAX_COUNT || a->count > FAB_MAX_COUNT)
		return "that many packets are not counted";
	if (a->usec > FAB_MAX_USEC || a->jitter > FAB_MAX_USEC || a->after > FAB_MAX_MS ||
	    a->until > FAB_MAX_MS)
		return "that is too long";
	if (timed && !a->usec)
		return "it has to say how long: usec";
	if (!timed && a->kind != FAB_DUPLICATE && (a->usec || a->jitter))
		return "it takes no time";
	if (a->until && a->until <= a->after)
		return "it is over before it begins: until, after";
	if (a->has_dqpn && a->dqpn > FAB_LAST_QPN)
		return "a QP number has 24 bits";
	if (a->mgmt_class > FAB_LAST_CLASS)
		return "a management class has 8 bits";
	if (*a->opcode && !wire_named(a->opcode, opcodes))
		return "no opcode has this in its name";
	return NULL;
}

int fab_fault_arm(struct fabric *f, const struct fab_fault *fault)
{
	struct fab_armed *a = &f->fault[f->nfaults];
	int err;

	if (fab_fault_wrong(fault))
		return -EINVAL;
	if (f->nfaults == FAB_MAX_FAULTS)
		return -ENOSPC;
	*a = (struct fab_armed){ .fault = *fault, .at = f->now };
	a->fault.struck = 0;
	a->seed = scatter((u64)fault->seed << 32 | fault->kind);
	memset(a->opcodes, 0xff, sizeof(a->opcodes));
	if (*fault->opcode)
		wire_named(fault->opcode, a->opcodes);
	err = fab_pool(f);
	if (!err)
		f->nfaults++;
	return err;
}

static void disarm(struct fabric *f, u32 i)
{
	memmove(&f->fault[i], &f->fault[i + 1], (--f->nfaults - i) * sizeof(f->fault[0]));
}

static bool is_of(const struct fab_armed *a, const struct fab_port *port,
		  const struct fab_link *link)
{
	return a->fault.port == port && a->fault.link == link;
}

void fab_fault_clear(struct fabric *f, const struct fab_port *port, const struct fab_link *link)
{
	for (u32 i = f->nfaults; i--; )
		if (is_of(&f->fault[i], port, link))
			disarm(f, i);
}

static bool over(const struct fabric *f, const struct fab_armed *a)
{
	return a->fault.until && f->now - a->at >= a->fault.until * MSEC;
}

u32 fab_fault_list(struct fabric *f, const struct fab_port *port, const struct fab_link *link,
		   struct fab_fault out[FAB_MAX_FAULTS])
{
	u32 n = 0;

	for (u32 i = 0; i < f->nfaults; i++)
		if (is_of(&f->fault[i], port, link) && !over(f, &f->fault[i]))
			out[n++] = f->fault[i].fault;
	return n;
}

/* Where on its way a packet meets a fault. */
enum place {
	NOWHERE,
	AT_SENDER,		/* the link of the port that sends */
	AT_RECEIVER,
	BETWEEN,		/* a link between switches */
};

/* Is the fault for packets like this one? */
static bool is_about(const struct fab_armed *a, const struct fab_crossing *c)
{
	const struct fab_fault *fault = &a->fault;

	if (!(a->opcodes[c->opcode / 64] >> (c->opcode % 64) & 1))
		return false;
	if (fault->mgmt_class && fault->mgmt_class != c->mgmt_class)
		return false;
	return !fault->has_dqpn || fault->dqpn == c->dqpn;
}

static enum place meets(const struct fab_armed *a, const struct fab_crossing *c)
{
	const struct fab_fault *fault = &a->fault;

	if (!is_about(a, c))
		return NOWHERE;
	if (fault->link)
		return fault->link == c->between &&
		       fault->direction != (c->back ? FAB_OUT : FAB_IN) ? BETWEEN : NOWHERE;
	if (c->from && (!fault->port || (fault->port == c->from && fault->direction != FAB_IN)))
		return AT_SENDER;
	return c->to && fault->port == c->to && fault->direction != FAB_OUT ? AT_RECEIVER : NOWHERE;
}

static u64 *held_at(const struct fab_crossing *c, enum place at)
{
	if (at == BETWEEN)
		return c->held;
	return at == AT_SENDER ? &c->from->out_held : &c->to->in_held;
}

/* Draws a pseudo-random number; true if the fault strikes this packet. */
static bool strikes(struct fab_armed *a, u64 *dice)
{
	*dice = scatter(a->seed ^ scatter(++a->seen));
	if (a->fault.skip) {
		a->fault.skip--;
		return false;
	}
	return (*dice >> 32) * 1000 >> 32 < a->fault.permille;
}

static void flap(struct fab_port *port, u64 until)
{
	port->fabric->nflapped += !port->ib.down_until;
	port_hold_down(&port->ib, MAX(port->ib.down_until, until));
}

void fab_flap_ends(struct fab_port *port)
{
	port->fabric->nflapped--;
	port_hold_down(&port->ib, 0);
}

void fab_flaps_end(struct fabric *f)
{
	for (u32 i = 0; f->nflapped && i < fab_all(f); i++) {
		struct fab_port *port = fab_nth(f, i);

		if (port && port->ib.down_until && port->ib.down_until <= f->now)
			fab_flap_ends(port);
	}
}

static void strike(struct fabric *f, const struct fab_fault *fault, const struct fab_crossing *c,
		   enum place at, u64 dice, struct fab_effect *effect)
{
	u64 time = fault->usec * USEC, *held = held_at(c, at);

	if (fault->jitter)
		time += scatter(dice) % (fault->jitter * USEC + 1);
	switch (fault->kind) {
	case FAB_LOSS:
		effect->copies = 0;
		break;
	case FAB_DELAY:
	case FAB_STALL:
		*held = MAX(*held, f->now + time);
		break;
	case FAB_REORDER:
		effect->overtaken = true;
		effect->delay += time;
		break;
	case FAB_DUPLICATE:
		effect->copies = 2;
		effect->apart += time;
		break;
	case FAB_CORRUPT:
		effect->corrupt = true;
		effect->bit = dice;
		break;
	case FAB_FLAP:
		effect->copies = 0;
		if (at == BETWEEN)
			effect->cut_until = f->now + time;
		else
			flap(at == AT_SENDER ? c->from : c->to, f->now + time);
		break;
	}
}

/* Offset of the management class in a MAD. */
#define MAD_CLASS	1u

/* @at: offset of the BTH */
static void crossing(struct fab_crossing *c, const u8 *bytes, u32 len, u32 at)
{
	u32 data;

	c->opcode = bytes[at];
	c->dqpn = get_be32(bytes + at + 4) & 0xffffff;
	data = at + transport_len(c->opcode);
	c->mgmt_class = 0;
	if (c->dqpn < 2 && wire_service(c->opcode) == WIRE_UD && len > data + MAD_CLASS)
		c->mgmt_class = bytes[data + MAD_CLASS];
}

void crossing_packet(struct fab_crossing *c, const u8 *bytes, u32 len)
{
	crossing(c, bytes, len, link_len((bytes[1] & 3) == WIRE_LNH_GLOBAL));
}

void crossing_frame(struct fab_crossing *c, const u8 *bytes, u32 len)
{
	struct roce_place at;

	/* a frame that a fault has corrupted is dropped at the link's end */
	if (roce_find(bytes, len, &at))
		crossing(c, bytes, len, at.bth);
}

void fab_faults_meet(struct fabric *f, const struct fab_crossing *c, struct fab_effect *effect)
{
	for (u32 i = 0; effect->copies && i < f->nfaults; i++) {
		struct fab_armed *a = &f->fault[i];
		enum place at = meets(a, c);
		struct fab_fault fault;
		u64 dice;

		if (over(f, a)) {
			disarm(f, i--);
			continue;
		}
		if (at == NOWHERE || f->now - a->at < a->fault.after * MSEC)
			continue;
		/* a packet that a stall delays does not begin another stall */
		if (a->fault.kind == FAB_STALL && *held_at(c, at) > f->now)
			continue;
		if (!strikes(a, &dice))
			continue;
		a->fault.struck++;
		fault = a->fault;
		if (fault.count && !--a->fault.count)
			disarm(f, i--);
		strike(f, &fault, c, at, dice, effect);
	}
}
