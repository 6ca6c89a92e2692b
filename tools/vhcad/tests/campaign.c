// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Random campaigns: the connections, the faults, and the course of a campaign.
 *
 * A campaign is a sequence of epochs.  Each connects all QPs anew, with other numbers and sizes,
 * arms faults, sends for a while, waits until nothing is under way, and checks memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "res/dev.h"
#include "fabric/fault.h"
#include "fabric/internal.h"
#include "fabric/topo.h"
#include "tests/cflow.h"
#include "tests/cthreads.h"
#include "tests/tkey.h"
#include "tests/ttopo.h"
#include "tests/txrc.h"

#define RIGHTS	(VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_REMOTE_READ | \
		 VHCA_ACCESS_REMOTE_ATOMIC | VHCA_ACCESS_FLUSH_GLOBAL)
#define MEMORY	(RIGHTS | VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_MW_BIND)
#define EPOCH	3000u		/* messages */
#define PATIENCE	(300ull * 1000000000)	/* ns without a completion */

u64 c_rnd(struct campaign *c, u64 below)
{
	u64 v = c->rng += 0x9e3779b97f4a7c15ull;

	v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9ull;
	v = (v ^ v >> 27) * 0x94d049bb133111ebull;
	return (v ^ v >> 31) % below;
}

static void say_how(const struct campaign_options *o, const char *before)
{
	fprintf(stderr, "%smake campaign SEED=%u MESSAGES=%u%s", before, o->seed,
		o->messages, o->switches ? " SWITCHES=3" : "");
	if (o->threads)
		fprintf(stderr, " THREADS=%u%s", o->threads, o->real ? "" : " STEPPED=1");
	fputc('\n', stderr);
}

void c_wrong(struct campaign *c, const struct flow *f, const char *fmt, ...)
{
	static const char *const types[] = {
		[VHCA_QPT_RC] = "RC", [VHCA_QPT_UC] = "UC", [VHCA_QPT_UD] = "UD",
		[VHCA_QPT_XRC_INI] = "XRC",
	};
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fprintf(stderr, "campaign: after %llu messages, at %llu ns: ",
		(unsigned long long)c->r->messages, (unsigned long long)c->w.now);
	if (f)
		fprintf(stderr, "flow %u, %s from %u to %u, MTU %u: ", f->no, types[f->type],
			(u32)(f->qp->h - c->h), (u32)(f->peer->h - c->h), 128u << f->mtu);
	fprintf(stderr, "%s\n", text);
	say_how(c->o, "again: ");
	fail_msg("%s", text);
	abort();
}

/* ------------------------------------------------------------------------
 * Objects
 */
static struct tqp *new_qp(struct campaign *c, u32 dev, u8 type)
{
	struct tqp *qp = &c->qp[c->nqps++];
	struct thca *h = &c->h[dev];

	h->qp_type = type;
	if (type == VHCA_QPT_XRC_INI)
		t_ini_init(h, qp, &c->cq[dev], 0);
	else if (type == VHCA_QPT_XRC_TGT)
		t_tgt_init(h, qp, c->xrcd);
	else
		t_qp_init_size(h, qp, &c->cq[dev], &c->cq[dev], 9, 7, 8, 0);
	return qp;
}

static struct pool *new_pool(struct campaign *c, struct tqp *qp)
{
	struct pool *p = &c->pools[c->npools++];

	c_pool_init(c, p, qp->h, qp);
	return p;
}

static void new_flow(struct campaign *c, struct tqp *qp, struct tqp *peer, struct pool *pool)
{
	struct flow *f = &c->flow[c->nflows];

	f->c = c;
	f->no = c->nflows++;
	f->type = qp->type;
	f->qp = qp;
	f->peer = peer;
	f->pool = pool;
	t_mr_init(qp->h, &f->local, (u64)(f->no + 1) << 32, DEPTH * SLOT,
		  VHCA_ACCESS_LOCAL_WRITE, 1, 12);
	t_mr_init(peer->h, &f->window, (u64)(f->no + 1) << 36, WSLOTS * MSG_MAX + 4096, MEMORY, 1,
		  12);
	f->shadow = calloc(WSLOTS, MSG_MAX);
	f->expect = calloc(DEPTH, sizeof(*f->expect));
	f->recent = calloc(RECENT, sizeof(*f->recent));
	assert_true(f->shadow && f->expect && f->recent);
	if (f->type == VHCA_QPT_RC)
		c_keys_init(f);
}

/* Flows in both directions; returns the first one. */
static struct flow *new_flows(struct campaign *c, struct tqp *a, struct pool *pa, struct tqp *b,
			      struct pool *pb)
{
	struct flow *f = &c->flow[c->nflows];

	new_flow(c, a, b, pb);
	new_flow(c, b, a, pa);
	f[0].back = &f[1];
	f[1].back = &f[0];
	return f;
}

static struct flow *new_pair(struct campaign *c, u8 type, u32 a, u32 b)
{
	struct tqp *qa = new_qp(c, a, type), *qb = new_qp(c, b, type);
	struct pool *pa = new_pool(c, qa), *pb = new_pool(c, qb);

	return new_flows(c, qa, pa, qb, pb);
}

/* Connections to one device whose receives there come from an SRQ. */
static void new_srq(struct campaign *c)
{
	struct pool *p = &c->pools[c->npools++];
	struct thca *h = &c->h[1];

	c_pool_init(c, p, h, NULL);
	t_srq_init(h, &p->srq, 6, 7);
	for (u32 from = 0; from < DEVS; from += 2) {
		struct tqp *a = new_qp(c, from, VHCA_QPT_RC), *b = &c->qp[c->nqps++];
		struct pool *pa = new_pool(c, a);

		h->qp_type = VHCA_QPT_RC;
		t_qp_init_srq_size(h, b, &c->cq[1], &c->cq[1], &p->srq, 9, 0);
		new_flows(c, a, pa, b, p);
	}
}

static void new_xrc(struct campaign *c)
{
	struct pool *p = &c->pools[c->npools++];
	struct thca *h = &c->h[1];
	struct tqp *ini, *tgt;

	c->xrcd = t_create(h, VHCA_CMD_CREATE_XRCD, NULL, 0);
	c_pool_init(c, p, h, NULL);
	t_xsrq_init(h, &p->srq, c->xrcd, c->cq[1].cqn, 6);
	for (u32 from = 0; from < DEVS; from += 2) {
		ini = new_qp(c, from, VHCA_QPT_XRC_INI);
		tgt = new_qp(c, 1, VHCA_QPT_XRC_TGT);
		new_flow(c, ini, tgt, p);
	}
}

/* Some of the links are slow, or long, and have small queues. */
static const struct t_link ring[] = {
	{ "a-t0:1", "4X EDR", 500, 32 }, { "b-t1:1", "1X QDR", 300, 8 },
	{ "c-t2:1", "4X SDR", 100, 16 }, { "a-b", "4X EDR", 2000, 8 }, { "b-c", "1X SDR", 700, 4 },
	{ "c-a", "4X FDR", 90000, 3 }, { "a-t2:2", "4X EDR", 500, 32 },
	{ "b-t0:2", "12X NDR", 0, 8 }, { "c-t1:2", "4X DDR", 100, 4 }, { 0 },
};

static void setup(struct campaign *c)
{
	const u32 bytes = c->o->messages / 4 + 1;

	c_threads_start(c);
	if (c->o->trace) {
		c->capture = capture_open(c->o->trace);
		assert_non_null(c->capture);
		fabric_set_capture(c->w.fabric, c->capture);
		fabric_set_stamps(c->w.fabric);
	}
	if (c->o->switches)
		fabric_set_topology(c->w.fabric, t_topo("abc", TOPO_HOQ_USUAL, ring));
	for (u32 i = 0; i < DEVS; i++) {
		const struct vdev_config cfg = {
			.name = (const char *const[]){ "t0", "t1", "t2" }[i],
			.node_guid = 0x1000 * (i + 1), .ports = PORTS, .vectors = 4,
		};

		t_hca_init_cfg(&c->h[i], &c->w, &cfg);
		t_db_pages(&c->h[i]);
		t_cq_init(&c->h[i], &c->cq[i], 12, 0);
		t_mr_init(&c->h[i], &c->counter[i], 1ull << 60, 64,
			  RIGHTS | VHCA_ACCESS_LOCAL_WRITE, 1, 12);
		c->fetched[i] = calloc(bytes, 1);
		assert_non_null(c->fetched[i]);
	}
	new_pair(c, VHCA_QPT_RC, 0, 1)->moves = true;
	new_pair(c, VHCA_QPT_RC, 1, 2);
	new_pair(c, VHCA_QPT_RC, 0, 2);
	new_pair(c, VHCA_QPT_RC, 0, 0);
	new_srq(c);
	new_xrc(c);
	new_pair(c, VHCA_QPT_UC, 0, 1);
	new_pair(c, VHCA_QPT_UC, 2, 0);
	new_pair(c, VHCA_QPT_UD, 1, 2);
}

static void teardown(struct campaign *c)
{
	struct fab_link_state s;

	for (u32 i = 0; fab_link_state(c->w.fabric, i, &s); i++) {
		for (u32 k = 0; k < 2; k++) {
			c->r->bad += s.count[k].bad;
			c->r->waits += s.count[k].wait;
		}
	}
	for (u32 i = 0; i < DEVS; i++) {
		struct vdev_status st;

		vdev_status(c->h[i].dev, &st);
		for (u32 p = 0; p < PORTS; p++) {
			c->r->packets += st.port[p].stats.tx_packets;
			c->r->lost += st.port[p].drops;
			c->r->bad += st.port[p].bad;
			c->r->duplicates += st.port[p].stats.duplicates;
			c->r->timeouts += st.port[p].stats.timeouts;
			c->r->rnr_naks += st.port[p].stats.rnr_naks_sent;
		}
		t_hca_fini(&c->h[i]);
		free(c->fetched[i]);
	}
	c->r->end = c->w.now;
	c_threads_stop(c);
	for (u32 i = 0; i < c->nflows; i++) {
		free(c->flow[i].shadow);
		free(c->flow[i].expect);
		free(c->flow[i].recent);
	}
	t_world_fini(&c->w);
	assert_int_equal(capture_close(c->capture), 0);
}

/* ------------------------------------------------------------------------
 * Connections
 */
struct settings {
	u8 mtu, depth;
};

static void bring_up(struct campaign *c, struct tqp *qp, const struct tqp *peer,
		     const struct settings *s, u32 sq_psn, u32 rq_psn)
{
	struct vhca_qp_attr a;

	t_attr_init(&a, 1);
	a.access = RIGHTS;
	a.qkey = htole32(0x1234);
	assert_int_equal(t_modify(qp, &a, t_mask(qp->type, T_INIT)), VHCA_ST_OK);
	t_attr_rtr(&a, t_lid(peer->h), peer->qpn, rq_psn, s->mtu);
	a.max_dest_rd_atomic = s->depth;
	a.min_rnr_timer = 1 + c_rnd(c, 14);
	assert_int_equal(t_modify(qp, &a, t_mask(qp->type, T_RTR)), VHCA_ST_OK);
	t_attr_rts(&a, sq_psn);
	a.timeout = 10 + c_rnd(c, 4);
	a.max_rd_atomic = 1 + c_rnd(c, s->depth);
	assert_int_equal(t_modify(qp, &a, t_mask(qp->type, T_RTS)), VHCA_ST_OK);
}

/* Half of the connections wrap their PSNs soon. */
static u32 some_psn(struct campaign *c)
{
	return c_rnd(c, 2) ? PSN_MASK - c_rnd(c, 500) : c_rnd(c, PSN_MASK + 1);
}

static void connect_all(struct campaign *c)
{
	for (u32 i = 0; i < c->nflows; i++) {
		struct flow *f = &c->flow[i];
		bool back = i && c->flow[i - 1].qp == f->peer && f->type != VHCA_QPT_XRC_INI;
		struct settings s = { 1 + c_rnd(c, 5), 1 + c_rnd(c, 16) };
		u32 psn = some_psn(c), psn_back = some_psn(c);

		if (f->type == VHCA_QPT_UD)
			f->address = t_ud_to(f->peer, 0x1234);
		f->broken = false;
		f->mtu = back ? c->flow[i - 1].mtu : s.mtu;
		if (back)
			continue;
		bring_up(c, f->qp, f->peer, &s, psn, psn_back);
		bring_up(c, f->peer, f->qp, &s, psn_back, psn);
	}
	for (u32 i = 0; i < c->nflows; i++)
		c_keys_reset(&c->flow[i]);
}

/* ------------------------------------------------------------------------
 * Faults
 */
static void arm(struct campaign *c, struct fab_fault fault)
{
	fault.seed = c_rnd(c, 1u << 31);
	if (!c_rnd(c, 3)) {
		fault.port = c->w.fabric->ports[c_rnd(c, DEVS * PORTS)];
		fault.direction = c_rnd(c, 3);
	} else if (c->o->switches && c_rnd(c, 2)) {
		fault.link = fab_link_at(c->w.fabric, 3 + c_rnd(c, 3));
		fault.direction = c_rnd(c, 3);
	}
	engine_lock(c->w.engine);
	assert_int_equal(fab_fault_arm(c->w.fabric, &fault), 0);
	engine_unlock(c->w.engine);
}

static void arm_faults(struct campaign *c)
{
	static const u32 rates[] = { 1, 3, 10, 30, 100 };
	static const char *const opcodes[] = { "", "", "ACK", "READ_RESP", "ATOMIC_ACK", "SEND" };
	u32 rate = rates[c_rnd(c, ARRAY_SIZE(rates))];
	const char *opcode = opcodes[c_rnd(c, ARRAY_SIZE(opcodes))];
	struct fab_fault loss = { .kind = FAB_LOSS, .permille = rate };

	strcpy(loss.opcode, opcode);
	c->doubling = c_rnd(c, 2);
	if (c_rnd(c, 2))
		arm(c, loss);
	if (!c_rnd(c, 3))
		arm(c, (struct fab_fault){ .kind = FAB_CORRUPT, .permille = (rate + 1) / 2 });
	if (c->doubling)
		arm(c, (struct fab_fault){ .kind = FAB_DUPLICATE, .permille = rate,
					   .usec = c_rnd(c, 2) * c_rnd(c, 40000),
					   .jitter = c_rnd(c, 2000) });
	if (c_rnd(c, 2))
		arm(c, (struct fab_fault){ .kind = FAB_REORDER, .permille = rate,
					   .usec = 1 + c_rnd(c, 3000), .jitter = c_rnd(c, 3000) });
	if (!c_rnd(c, 4))
		arm(c, (struct fab_fault){ .kind = FAB_DELAY, .permille = 1000,
					   .usec = 1 + c_rnd(c, 200), .jitter = c_rnd(c, 100) });
	if (!c_rnd(c, 4))
		arm(c, (struct fab_fault){ .kind = FAB_STALL, .permille = 5, .count = 3,
					   .usec = 1 + c_rnd(c, 20000) });
	if (!c_rnd(c, 4))
		arm(c, (struct fab_fault){ .kind = FAB_FLAP, .permille = 5, .count = 2,
					   .usec = 1 + c_rnd(c, 2000) });
}

/* ------------------------------------------------------------------------
 * The course
 */
static bool may_tell(u8 event)
{
	return event == VHCA_EV_PORT_ERR || event == VHCA_EV_PORT_ACTIVE ||
	       event == VHCA_EV_LAST_WQE || event == VHCA_EV_PATH_MIG_ERR;
}

static void look(struct campaign *c)
{
	struct vhca_cqe e;
	struct vhca_eqe event;

	for (u32 i = 0; i < DEVS; i++) {
		while (t_eq_get(&c->h[i], &c->h[i].async, &event))
			if (event.event == VHCA_EV_PATH_MIG)
				c->r->migrated++;
			else if (!may_tell(event.event))
				c_wrong(c, NULL, "event %#x of %u at %u", event.event,
					le32toh(event.number), i);
		while (t_cq_poll(&c->cq[i], &e)) {
			u64 flow = le64toh(e.wr_id) >> 48;

			if (e.flags & VHCA_CQE_F_RQ)
				c_received(c, &c->h[i], &e);
			else if (flow < c->nflows && c->flow[flow].qp->h == &c->h[i] &&
				 c->flow[flow].qp->qpn == le32toh(e.qpn))
				c_completed(&c->flow[flow], &e);
			else
				c_wrong(c, NULL, "completion %#llx of QP %#x",
					(unsigned long long)le64toh(e.wr_id), le32toh(e.qpn));
		}
	}
}

static void refill(struct campaign *c, bool all)
{
	for (u32 i = 0; i < c->npools; i++) {
		u8 type = c->pools[i].qp ? c->pools[i].qp->type : VHCA_QPT_XRC_TGT;
		bool ample = type == VHCA_QPT_UC || type == VHCA_QPT_UD;

		if (all || ample || !c_rnd(c, c->stingy ? 24 : 4))
			c_pool_refill(c, &c->pools[i], all || ample);
	}
}

/* The same on real threads. */
static bool look_and_refill(struct campaign *c)
{
	u32 moved = c->moved;

	look(c);
	refill(c, false);
	return c->moved != moved;
}

/* Lets time pass until something completes, or nothing is left to happen. */
static void wait_for_some(struct campaign *c)
{
	u64 start = c->w.now;
	u32 moved = c->moved;

	c_scatter(c);
	if (c->o->real) {
		c_await(c, look_and_refill, "nothing completes any more");
		return;
	}
	t_poll(&c->w);
	look(c);
	while (c->moved == moved) {
		if (!t_advance(&c->w) || c->w.now - start > PATIENCE)
			c_wrong(c, NULL, "nothing completes any more");
		look(c);
		refill(c, false);
	}
}

static bool under_way(const struct campaign *c)
{
	for (u32 i = 0; i < c->nflows; i++)
		if (c_due(&c->flow[i]))
			return true;
	return false;
}

static void send_some(struct campaign *c)
{
	struct flow *f = &c->flow[c_rnd(c, c->nflows)];
	u32 n = 1 + c_rnd(c, 8);

	for (u32 i = 0; i < n && !f->broken && f->tail - f->head < DEPTH; i++)
		c_post(f, false);
	t_ring_sq(f->qp);
}

static void send_last(struct campaign *c)
{
	for (u32 i = 0; i < c->nflows; i++) {
		struct flow *f = &c->flow[i];

		if (!f->broken && f->tail - f->head < DEPTH) {
			c_post(f, true);
			t_ring_sq(f->qp);
		}
	}
}

static void check_counters(struct campaign *c)
{
	for (u32 i = 0; i < DEVS; i++) {
		u64 v;

		t_mr_get(&c->counter[i], 0, &v, sizeof(v));
		v = le64toh(v);
		if (v < c->added[i] || v > c->added[i] + c->unsure[i])
			c_wrong(c, NULL, "%llu adds at %u, counted %llu",
				(unsigned long long)c->added[i], i, (unsigned long long)v);
	}
}

/* The oldest receive that is still posted; NULL: there is none. */
static struct pool *still_posted(struct campaign *c, u32 *which)
{
	for (u32 i = 0; i < c->npools; i++)
		for (*which = 0; c->pools[i].qp && *which < POOL; ++*which)
			if (c->pools[i].posted[*which])
				return &c->pools[i];
	return NULL;
}

static bool all_flushed(struct campaign *c)
{
	u32 which;

	look(c);
	return !still_posted(c, &which);
}

/* Flushes all receives, so that everything starts over. */
static void disconnect(struct campaign *c)
{
	struct pool *p;
	u32 which;

	c->ending = true;
	for (u32 i = 0; i < c->nqps; i++)
		assert_int_equal(t_to(&c->qp[i], T_ERR), VHCA_ST_OK);
	t_poll(&c->w);
	if (c->o->real)
		c_await(c, all_flushed, "a receive was not flushed");
	look(c);
	p = still_posted(c, &which);
	if (p)
		c_wrong(c, NULL, "receive %u of QP %#x was not flushed", which, p->qp->qpn);
	for (u32 i = 0; i < c->nqps; i++) {
		struct tqp *qp = &c->qp[i];

		assert_int_equal(t_to(qp, T_RESET), VHCA_ST_OK);
		qp->sq_prod = 0;
		qp->rq_prod = 0;
		t_set_rec(qp->h, qp->slot, 0);
		t_set_rec(qp->h, qp->slot + 1, 0);
	}
	c->ending = false;
}

static void epoch(struct campaign *c, u32 messages)
{
	u64 end = c->r->messages + messages, sent = 0;

	connect_all(c);
	c->stingy = !c_rnd(c, 3);
	refill(c, !c->stingy);
	c->doubling = false;
	c->faultless = !c_rnd(c, 8) || !c->r->messages || (c->o->threads && c_rnd(c, 2));
	if (!c->faultless)
		arm_faults(c);
	while (c->r->messages < end) {
		u64 before = c->r->messages;

		c_scatter(c);
		c_paths(c);
		for (u32 i = 0, n = 1 + c_rnd(c, 6); i < n; i++)
			send_some(c);
		if (c->r->messages == before && under_way(c))
			wait_for_some(c);
		else if (c_rnd(c, 2))
			t_poll(&c->w);
		look(c);
		refill(c, false);
		for (u32 i = c_rnd(c, 4); i && !c->o->real; i--)
			t_advance(&c->w);
		look(c);
		refill(c, false);
	}
	send_last(c);
	while (under_way(c)) {
		refill(c, true);
		wait_for_some(c);
	}
	engine_lock(c->w.engine);
	fab_fault_clear(c->w.fabric, NULL, NULL);
	for (u32 i = 0; i < DEVS; i++)
		for (u32 p = 0; p < PORTS; p++)
			fab_fault_clear(c->w.fabric, &c->h[i].dev->port[p].fab, NULL);
	for (u32 i = 0; c->o->switches && i < ARRAY_SIZE(ring) - 1; i++)
		fab_fault_clear(c->w.fabric, NULL, fab_link_at(c->w.fabric, i));
	engine_unlock(c->w.engine);
	engine_wake(c->w.engine);
	if (c->o->real)
		c_await(c, c_nothing_queued, "packets do not arrive");
	else
		t_settle(&c->w, PATIENCE);
	look(c);
	for (u32 i = 0; i < c->nflows; i++) {
		struct flow *f = &c->flow[i];

		c_quiet(f);
		for (u32 k = 0; f->recent && k < RECENT; k++) {
			const struct want *w = &f->recent[k];

			sent += c->faultless && w->id && w->op != VHCA_OP_WRITE && !w->arrived;
			f->recent[k].id = 0;
		}
	}
	if (sent)
		c_wrong(c, NULL, "%llu messages got lost on a fabric without faults",
			(unsigned long long)sent);
	check_counters(c);
	disconnect(c);
}

void campaign_run(const struct campaign_options *o, struct campaign_result *r)
{
	struct campaign *c = calloc(1, sizeof(*c));
	u32 tenth = 0;

	assert_non_null(c);
	say_how(o, "campaign: ");
	memset(r, 0, sizeof(*r));
	c->o = o;
	c->r = r;
	c->rng = (u64)o->seed << 32 | 0x5eed;
	setup(c);
	while (r->messages < o->messages) {
		epoch(c, MIN(EPOCH, o->messages - (u32)r->messages));
		if (o->talk && r->messages * 10 / o->messages > tenth) {
			tenth = r->messages * 10 / o->messages;
			fprintf(stderr, "  %u0 %%, %llu connections ran out of retries\n", tenth,
				(unsigned long long)r->broken);
		}
	}
	teardown(c);
	free(c);
}
