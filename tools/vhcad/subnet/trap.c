// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Traps: reports of an agent to the subnet manager.
 *
 * A trap is repeated, less and less often, until the manager represses it; a manager that never
 * does is not there any more, and the next one reads everything anyway.  Only the newest trap of
 * each kind is repeated: managers do not count traps, they read what has changed.
 */
#include <string.h>

#include "subnet/internal.h"
#include "subnet/static.h"

#define MSEC		1000000ull

/* Least time to the first repetition; number of times that it doubles; most sends. */
#define REPEAT_LEAST	(250 * MSEC)
#define REPEAT_DOUBLES	6u
#define SENT_MOST	12u

/* PortInfo:SubnetTimeOut counts in powers of this many ns. */
#define SUBNET_TIME	4096ull

static const struct {
	u16 number;
	u8 type;
} kinds[AGENT_TRAPS] = {
	{ TRAP_LINK_STATE, NOTICE_URGENT },
	{ TRAP_LOCAL_CHANGE, NOTICE_INFO },
	{ TRAP_BAD_MKEY, NOTICE_SECURITY },
	{ TRAP_BAD_PKEY, NOTICE_SECURITY },
	{ TRAP_BAD_QKEY, NOTICE_SECURITY },
	{ TRAP_SWITCH_PKEY, NOTICE_SECURITY },
};

static u32 kind_of(u16 number)
{
	u32 i = 0;

	while (kinds[i].number != number)
		i++;
	return i;
}

static u64 repeat_after(const struct agent *a, u32 sent)
{
	u64 least = SUBNET_TIME << agent_self(a)->setup.subnet_timeout;

	return MAX(least, REPEAT_LEAST) << MIN(sent, REPEAT_DOUBLES);
}

/* ------------------------------------------------------------------------
 * Sending
 */
static void send(struct agent *a, const struct agent_trap *t)
{
	const struct port *self = agent_self(a);
	const struct wire_hdr h = {
		.sl = self->setup.sm_sl, .dlid = self->sm_lid, .slid = self->lid,
	};
	u8 mad[MAD_LEN] = { 0 };

	mad_put(mad, MAD_BASE_VERSION, 1);
	mad_put(mad, MAD_CLASS, MAD_CLASS_SUBN);
	mad_put(mad, MAD_CLASS_VERSION, 1);
	mad_put(mad, MAD_METHOD, MAD_TRAP);
	mad_put(mad, MAD_TID, t->tid);
	mad_put(mad, MAD_ATTR, ATTR_NOTICE);
	memcpy(mad + SMP_DATA, t->notice, SMP_DATA_LEN);
	agent_send(a, 0, 0, &h, mad);
}

/* Sends the traps that are due, and returns when the next one is. */
static u64 send_due(struct agent *a, u64 now)
{
	u64 next = TIMER_OFF;

	for (struct agent_trap *t = a->trap; t < a->trap + AGENT_TRAPS; t++) {
		if (t->number && t->due <= now) {
			/* there is no manager to report to */
			if (t->sent == SENT_MOST || !agent_self(a)->sm_lid) {
				t->number = 0;
				continue;
			}
			send(a, t);
			t->due = now + repeat_after(a, t->sent++);
		}
		if (t->number)
			next = MIN(next, t->due);
	}
	return next;
}

void agent_trap_timer(struct timer *timer)
{
	struct agent *a = container_of(timer, struct agent, trap_timer);
	u64 next = send_due(a, fab_now(a->all->fabric));

	if (next != TIMER_OFF)
		agent_timer_set(a, timer, next);
}

void agent_trap(struct agent *a, u16 number, u8 *notice)
{
	u32 kind = kind_of(number);
	struct agent_trap *t = &a->trap[kind];
	u64 now = fab_now(a->all->fabric);

	/* there is no manager to report to */
	if (!agent_self(a)->sm_lid || subnet_is_static(a->all->fabric))
		return;
	mad_put(notice, NOTICE_GENERIC, 1);
	mad_put(notice, NOTICE_TYPE, kinds[kind].type);
	mad_put(notice, NOTICE_PRODUCER, a->node->type);
	mad_put(notice, NOTICE_TRAP, number);
	mad_put(notice, NOTICE_ISSUER_LID, agent_self(a)->lid);
	/* a trap that is being repeated keeps its time, however often a new one comes */
	t->due = t->number ? MIN(t->due, now + repeat_after(a, 0)) : now;
	t->number = number;
	t->sent = 0;
	t->tid = ++a->all->tid;
	memcpy(t->notice, notice, SMP_DATA_LEN);
	agent_timer_set(a, &a->trap_timer, send_due(a, now));
}

void agent_trap_repress(struct agent *a, u64 tid, const u8 *notice)
{
	u16 number = mad_get(notice, NOTICE_TRAP);

	for (struct agent_trap *t = a->trap; t < a->trap + AGENT_TRAPS; t++)
		if (t->number == number && t->tid == tid)
			t->number = 0;
}

/* ------------------------------------------------------------------------
 * What is reported
 */
void agent_link_state(struct agent *a)
{
	u8 notice[SMP_DATA_LEN] = { 0 };

	mad_put(notice, TRAP128_LID, agent_self(a)->lid);
	agent_trap(a, TRAP_LINK_STATE, notice);
}

static void local_change(struct agent *a, u16 what)
{
	const struct port *self = agent_self(a);
	const struct agent_trap *t = &a->trap[kind_of(TRAP_LOCAL_CHANGE)];
	u8 notice[SMP_DATA_LEN] = { 0 };

	if (t->number)
		what |= mad_get(t->notice, TRAP144_CHANGES);
	mad_put(notice, TRAP144_LID, self->lid);
	mad_put(notice, TRAP144_OTHERS, !!what);
	mad_put(notice, TRAP144_CAPS, self->cap_mask);
	mad_put(notice, TRAP144_CHANGES, what);
	mad_put(notice, TRAP144_CAPS2, self->cap_mask2);
	agent_trap(a, TRAP_LOCAL_CHANGE, notice);
}

void agent_caps_changed(struct agent *a)
{
	local_change(a, 0);
}

void agent_desc_changed(struct agent *a)
{
	local_change(a, TRAP144_NODE_DESC);
}

void agent_bad_mkey(struct agent *a, const u8 *mad, u16 slid)
{
	u8 notice[SMP_DATA_LEN] = { 0 };

	mad_put(notice, TRAP256_LID, slid);
	mad_put(notice, TRAP256_METHOD, mad_get(mad, MAD_METHOD));
	mad_put(notice, TRAP256_ATTR, mad_get(mad, MAD_ATTR));
	mad_put(notice, TRAP256_ATTR_MOD, mad_get(mad, MAD_ATTR_MOD));
	mad_put(notice, TRAP256_MKEY, mad_get(mad, SMP_MKEY));
	if (mad_get(mad, MAD_CLASS) == MAD_CLASS_SUBN_DR) {
		u32 hops = MIN(mad_get(mad, DR_HOP_COUNT), DR_MOST_HOPS);

		mad_put(notice, TRAP256_DR, 1);
		mad_put(notice, TRAP256_DR_SLID, mad_get(mad, DR_SLID));
		mad_put(notice, TRAP256_DR_CUT, hops > TRAP256_MOST_HOPS);
		hops = MIN(hops, TRAP256_MOST_HOPS);
		mad_put(notice, TRAP256_DR_HOPS, hops);
		memcpy(notice + TRAP256_RETURN_PATH, mad + DR_RETURN_PATH + 1, hops);
	}
	agent_trap(a, TRAP_BAD_MKEY, notice);
}

static void bad_key(struct agent *a, u16 number, u32 key, const struct wire_hdr *h)
{
	u8 notice[SMP_DATA_LEN] = { 0 };

	mad_put(notice, TRAP257_LID1, h->slid);
	mad_put(notice, TRAP257_LID2, h->dlid);
	mad_put(notice, TRAP257_KEY, key);
	mad_put(notice, TRAP257_SL, h->sl);
	mad_put(notice, TRAP257_QP1, h->sqpn);
	mad_put(notice, TRAP257_QP2, h->dqpn);
	if (h->grh) {
		memcpy(notice + TRAP257_GIDS, h->sgid, 16);
		memcpy(notice + TRAP257_GIDS + 16, h->dgid, 16);
	}
	agent_trap(a, number, notice);
}

void agent_trap_pkey(struct agent *a, const struct wire_hdr *h)
{
	port_violation(&agent_self(a)->pkey_viol);
	bad_key(a, TRAP_BAD_PKEY, h->pkey, h);
}

void agent_trap_qkey(struct agent *a, const struct wire_hdr *h)
{
	port_violation(&agent_self(a)->qkey_viol);
	bad_key(a, TRAP_BAD_QKEY, h->qkey, h);
}

void agent_bad_pkey(struct agent *a, const struct wire_hdr *h)
{
	fab_agents_lock(a->all->fabric);
	agent_trap_pkey(a, h);
	fab_agents_unlock(a->all->fabric);
}

void agent_bad_qkey(struct agent *a, const struct wire_hdr *h)
{
	fab_agents_lock(a->all->fabric);
	agent_trap_qkey(a, h);
	fab_agents_unlock(a->all->fabric);
}

/* Valid fields of trap 259: LIDs, P_Key, SL, both QPs, and GIDs. */
#define VALID_LIDS	0x0003u
#define VALID_PKEY	0x0004u
#define VALID_SL	0x0008u
#define VALID_QPS	0x0030u
#define VALID_GIDS	0x00c0u

void agent_switch_pkey(struct agent *a, u8 port, const struct wire_hdr *h)
{
	u8 notice[SMP_DATA_LEN] = { 0 };

	mad_put(notice, TRAP259_VALID, VALID_LIDS | VALID_PKEY | VALID_SL | VALID_QPS |
				       (h->grh ? VALID_GIDS : 0));
	mad_put(notice, TRAP259_LID1, h->slid);
	mad_put(notice, TRAP259_LID2, h->dlid);
	mad_put(notice, TRAP259_PKEY, h->pkey);
	mad_put(notice, TRAP259_SL, h->sl);
	mad_put(notice, TRAP259_QP1, h->sqpn);
	mad_put(notice, TRAP259_QP2, h->dqpn);
	if (h->grh) {
		memcpy(notice + TRAP259_GIDS, h->sgid, 16);
		memcpy(notice + TRAP259_GIDS + 16, h->dgid, 16);
	}
	mad_put(notice, TRAP259_SW_LID, agent_self(a)->lid);
	mad_put(notice, TRAP259_PORT, port);
	agent_trap(a, TRAP_SWITCH_PKEY, notice);
}
