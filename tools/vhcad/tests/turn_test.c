// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How long a guest waits beside one that finds work which takes longer than it seems: it rings half
 * a million doorbells, sends to hundreds of QPs at once, or gathers a message from lists of
 * thousands of empty pieces.  The waiting guest writes 64 bytes now and then.
 *
 * Waiting is counted by a clock that only work advances, in steps that the test chooses, so that
 * everything is the same each time.  fair_bench measures the real time.
 */
#include <string.h>

#include "engine/internal.h"
#include "res/uar.h"
#include "tests/tgreedy.h"
#include "tests/tvictim.h"
#include "wire/mad.h"

#define MESSAGES	1000u

bool __real_doorbell_poll(struct vhca_dev *dev);
bool __wrap_doorbell_poll(struct vhca_dev *dev);
void __real_fab_send(struct fab_port *port, struct run *run);
void __wrap_fab_send(struct fab_port *port, struct run *run);

bool __real_fab_send_some(struct fab_port *port, struct run *run, struct fab_cursor *c,
			  u32 *bytes);
bool __wrap_fab_send_some(struct fab_port *port, struct run *run, struct fab_cursor *c,
			  u32 *bytes);

void __real_engine_unlock(struct engine *e);
void __wrap_engine_unlock(struct engine *e);

static struct {
	struct tvictim v;
	struct tgreedy g[2];	/* the other guests */
	u32 ngreedy;
	void (*keep_busy)(struct tgreedy *g);
	u64 step;		/* ns that pass between two pieces of work */
	void (*unlocked)(void);
	u32 looks, parts;
	u32 send_ns, rung_ns;	/* time of a message of the others, and of a doorbell */
	u32 slice_ns;		/* and of messages with a slice's bytes */
	u64 bytes;		/* that the others have sent */
	u64 spent;		/* ns of all of these */
	u32 sends, rings;	/* since the last look at the victim's doorbells */
	u32 most_sends, most_rings;	/* the highest numbers */
	u64 timeouts, most_timeouts;	/* of the other guest: in all, and between two looks */
	u32 all_rings;		/* the total number */
	u64 rung_at;
	bool over;
	u64 most_waited;
	u32 n;
} f;

/* The time of counted work. */
static u64 counted_time(void *arg)
{
	return f.spent;
}

static void look_for_completion(void)
{
	if (!tvictim_done(&f.v))
		return;
	f.most_waited = MAX(f.most_waited, f.spent - f.rung_at);
	f.over = ++f.n == MESSAGES;
}

/* The engine is between two pieces of work. */
static void between(void)
{
	f.v.w.now += f.step;
	if (f.step)
		assert_int_equal(f.v.h[0].dev->port[0].count.timeouts, 0);
	look_for_completion();
	for (u32 i = 0; !f.over && i < f.ngreedy; i++)
		f.keep_busy(&f.g[i]);
	if (!f.over && !f.v.waiting && f.ngreedy && !tvictim_any(&f.v, 3)) {
		tvictim_ring(&f.v);
		f.rung_at = f.spent;
	}
}

static void count_timeouts(void)
{
	u64 all = f.v.h[2].dev->port[0].count.timeouts;

	f.most_timeouts = MAX(f.most_timeouts, all - f.timeouts);
	f.timeouts = all;
}

bool __wrap_doorbell_poll(struct vhca_dev *dev)
{
	bool more;

	if (dev == f.v.h[2].dev) {
		f.looks++;
		between();
	}
	more = __real_doorbell_poll(dev);
	if (dev == f.v.h[2].dev) {
		f.most_sends = MAX(f.most_sends, f.sends);
		f.most_rings = MAX(f.most_rings, f.rings);
		f.sends = 0;
		f.rings = 0;
		/* its looks are this test's clock: it does not rest */
		dev->adapter.quiet = 0;
		count_timeouts();
	}
	return more;
}

static u64 bytes_take(u64 bytes)
{
	return bytes * f.slice_ns / SLICE_BYTES;
}

static bool is_greedy(const struct fab_port *port)
{
	for (u32 i = 0; i < ARRAY_SIZE(f.g); i++)
		if (f.g[i].h && port->owner == &f.g[i].h->dev->port[0])
			return true;
	return false;
}

static void count_send(const struct fab_port *port, const struct run *run)
{
	if (!is_greedy(port))
		return;
	f.sends++;
	f.bytes += run->len;
	f.spent += f.send_ns + bytes_take(run->len);
}

void __wrap_fab_send(struct fab_port *port, struct run *run)
{
	between();
	count_send(port, run);
	__real_fab_send(port, run);
}

bool __wrap_fab_send_some(struct fab_port *port, struct run *run, struct fab_cursor *c,
			  u32 *bytes)
{
	u32 before = *bytes;
	bool done;

	between();
	done = __real_fab_send_some(port, run, c, bytes);
	f.spent += bytes_take(before - *bytes);
	return done;
}

void __wrap_engine_unlock(struct engine *e)
{
	void (*fn)(void) = f.unlocked;

	__real_engine_unlock(e);
	if (!fn)
		return;
	f.unlocked = NULL;
	fn();
	f.unlocked = fn;
}

static void furnish(void)
{
	memset(&f, 0, sizeof(f));
	tvictim_init(&f.v, counted_time);
	f.g[0].h = &f.v.h[2];
	f.g[0].cq = &f.v.cq[2];
}

static void strip(void)
{
	tvictim_fini(&f.v);
	tgreedy_end(&f.g[0]);
}

static void slow_ring(void *owner)
{
	f.rings++;
	f.all_rings++;
	f.spent += f.rung_ns;
}

/* Doorbells on the first pages of the other guest's area get owners, or lose them. */
#define SLOW_PAGES	3u

static void own_doorbells(void (*rung)(void *owner))
{
	struct vuar *uar = table_get(&f.v.h[2].dev->uars, f.g[0].uar);

	for (u32 i = 0; i < SLOW_PAGES; i++)
		for (u32 n = 0; n < VHCA_DB_SLOTS; n++)
			uar->page[i]->slot[n].rung = rung;
}

/*
 * Whatever the other guest does, a message waits for two slices at the most: for the rest of the
 * one in which it is rung, and for another one.  Here the clock is read after as many messages, or
 * doorbells, as take a quarter of a slice.
 */
static void fair(void **state)
{
	for (u32 i = 0; i <= ARRAY_SIZE(tgreedy_sly); i++) {
		const struct tgreedy_kind *kind = i ? &tgreedy_sly[i - 1] : &tgreedy_huge;

		furnish();
		kind->prepare(&f.g[0]);
		if (f.g[0].pages)
			own_doorbells(slow_ring);
		f.v.rng = 1;
		f.ngreedy = 1;
		f.keep_busy = kind->keep_busy;
		f.slice_ns = SLICE_NS;
		f.send_ns = i ? SLICE_NS / 4 / LOOK_EVERY : 0;
		f.rung_ns = SLICE_NS / 4 / LOOK_EVERY;
		while (!f.over)
			t_poll(&f.v.w);
		if (f.g[0].pages)
			own_doorbells(NULL);
		strip();
		if (f.most_waited > 2 * SLICE_NS)
			fail_msg("beside %s: %llu ns", kind->what,
				 (unsigned long long)f.most_waited);
	}
}

/*
 * The engine is late: a second passes between two turns, and the QP that has to acknowledge waits
 * behind two others of its adapter.  No packet is taken for lost because of that.
 */
static void late(void **state)
{
	furnish();
	f.g[0].h = &f.v.h[1];
	f.g[0].cq = &f.v.cq[1];
	tgreedy_huge.prepare(&f.g[0]);
	f.g[1] = f.g[0];
	tgreedy_qps(&f.g[1], 6);
	f.v.rng = 1;
	f.step = 1000000000;
	f.n = MESSAGES - 100;
	f.ngreedy = ARRAY_SIZE(f.g);
	f.keep_busy = tgreedy_huge.keep_busy;
	while (!f.over)
		t_poll(&f.v.w);
	f.step = 0;
	for (u32 i = 0; i < 3; i++) {
		assert_int_equal(t_stats(&f.v.h[i]).timeouts, 0);
		assert_int_equal(t_stats(&f.v.h[i]).duplicates, 0);
	}
	strip();
}

/* A message of another guest, while a device is being reset. */
static void meanwhile(void)
{
	f.parts++;
	tvictim_ring(&f.v);
	t_poll(&f.v.w);
	assert_true(!f.v.waiting || tvictim_done(&f.v));
}

#define MANY	500u

static void reset_in_parts(void **state)
{
	struct tmr mr;
	struct tqp qp;

	furnish();
	t_db_pages(&f.v.h[2]);
	for (u32 i = 0; i < MANY; i++) {
		t_qp_init_size(&f.v.h[2], &qp, &f.v.cq[2], &f.v.cq[2], 0, 0, 5, 0);
		t_mr_init(&f.v.h[2], &mr, 0, 64, T_RW, 0, 12);
	}
	f.unlocked = meanwhile;
	vdev_reset(f.v.h[2].dev);
	f.unlocked = NULL;
	assert_true(f.parts > 3 * MANY / 64);
	strip();
}

/* A QP with very many windows is destroyed, and others have their turns meanwhile. */
static void windows_in_parts(void **state)
{
	struct tmr mr;
	struct tqp qp;

	furnish();
	t_key_caps(&f.v.h[2]);
	t_qp_init(&f.v.h[2], &qp, &f.v.cq[2], &f.v.cq[2]);
	t_mr_init(&f.v.h[2], &mr, 0, 4096, T_RW | VHCA_ACCESS_MW_BIND, 0, 12);
	for (u32 i = 0; i < MANY; i++) {
		u32 key = t_key(&f.v.h[2], VHCA_MKEY_MW_2, 0, 0, 1);

		assert_int_equal(t_bind(&qp, key, mr.key, 0, 64, VHCA_ACCESS_REMOTE_READ), 0);
	}
	f.looks = 0;
	assert_int_equal(t_destroy(&f.v.h[2], VHCA_CMD_DESTROY_QP, qp.qpn), VHCA_ST_OK);
	assert_true(f.looks > MANY / 100);
	assert_int_equal(t_destroy(&f.v.h[2], VHCA_CMD_DESTROY_MKEY, mr.key), VHCA_ST_OK);
	strip();
}

/* ------------------------------------------------------------------------
 * Work between two looks at the doorbells
 */
/* Doorbells whose owners all do something: all are found, and no look takes long. */
static void doorbells_in_time(void **state)
{
	furnish();
	f.rung_ns = 1000;
	tgreedy_sly[0].prepare(&f.g[0]);
	own_doorbells(slow_ring);
	tgreedy_sly[0].keep_busy(&f.g[0]);
	t_poll(&f.v.w);
	assert_int_equal(f.all_rings, SLOW_PAGES * VHCA_DB_SLOTS);
	assert_in_range(f.most_rings, 1, TURN_NS / f.rung_ns + LOOK_EVERY);
	own_doorbells(NULL);
	strip();
}

/* Few rings are free, and are not charged to the adapters that are looked at next either. */
static void rings_of_others(void **state)
{
	enum { RINGS = 10, FIRST = VHCA_DB_SLOTS - RINGS };

	furnish();
	/* together they take longer than a turn, alone they do not */
	f.rung_ns = TURN_NS / (RINGS + 2);
	for (u32 i = 0; i < ARRAY_SIZE(f.v.h); i++) {
		struct vuar *uar = table_get(&f.v.h[i].dev->uars, f.v.h[i].uar);

		for (u32 n = 0; n < RINGS; n++) {
			uar->page[0]->slot[FIRST + n].rung = slow_ring;
			t_ring(&f.v.h[i], FIRST + n, 1);
		}
	}
	t_poll(&f.v.w);
	assert_int_equal(f.all_rings, ARRAY_SIZE(f.v.h) * RINGS);
	for (u32 i = 0; i < ARRAY_SIZE(f.v.h); i++) {
		struct vuar *uar = table_get(&f.v.h[i].dev->uars, f.v.h[i].uar);

		assert_int_equal(f.v.h[i].dev->adapter.debt, 0);
		assert_int_equal(f.v.h[i].dev->adapter.worked, 0);
		for (u32 n = 0; n < RINGS; n++)
			uar->page[0]->slot[FIRST + n].rung = NULL;
	}
	strip();
}

#define CROWD	64u

static void post_crowd(struct tgreedy *g, struct tqp *from)
{
	struct twr wr;

	t_db_pages(g->h);
	t_mr_init(g->h, &g->r, 0, VICTIM_BYTES, T_RW, 1, 12);
	wr = t_wr(VHCA_OP_WRITE, 1, &g->r, 0, VICTIM_BYTES, &g->r, 0);
	for (u32 i = 0; i < CROWD; i++) {
		tgreedy_qps(g, 2);
		from[i] = g->from;
		t_post(&from[i], &wr);
	}
}

/* Two guests with many QPs, each with a short message that takes long: time ends turns. */
static void messages_in_time(void **state)
{
	struct tqp from[2][CROWD];

	furnish();
	for (u32 i = 0; i < 2; i++) {
		f.g[i].h = &f.v.h[1 + i];
		f.g[i].cq = &f.v.cq[1 + i];
		post_crowd(&f.g[i], from[i]);
	}
	for (u32 i = 0; i < 2 * CROWD; i++)
		t_ring_sq(&from[i / CROWD][i % CROWD]);
	f.send_ns = SLICE_NS / 4;
	f.most_sends = 0;
	t_poll(&f.v.w);
	assert_in_range(f.most_sends, 1, LOOK_EVERY);
	strip();
}

/* After a message of long lists the clock is read. */
static void lists_in_time(void **state)
{
	furnish();
	tgreedy_sly[2].prepare(&f.g[0]);
	f.send_ns = SLICE_NS / 2;
	f.most_sends = 0;
	tgreedy_sly[2].keep_busy(&f.g[0]);
	t_poll(&f.v.w);
	assert_in_range(f.most_sends, 1, 3);
	strip();
}

/* What the other guest sends in a pass. */
static u64 sent_in_pass(void)
{
	f.bytes = 0;
	tgreedy_huge.keep_busy(&f.g[0]);
	shard_step(&f.v.w.engine->shard[0]);
	return f.bytes;
}

/* A slice is short beside a guest that has one message, and a whole one beside nobody. */
static void short_beside_few(void **state)
{
	furnish();
	tgreedy_huge.prepare(&f.g[0]);
	for (u32 i = 0; i < 3; i++) {
		assert_true(sent_in_pass() >= SLICE_BYTES);
		tvictim_ring(&f.v);
		assert_in_range(sent_in_pass(), SLICE_BYTES / 4, SLICE_BYTES / 2);
		for (; f.v.waiting; look_for_completion())
			shard_step(&f.v.w.engine->shard[0]);
	}
	strip();
}

/*
 * A packet is not divided.  After one of 4,096 pieces, from and to as many, the doorbells are
 * looked at, and its adapter is charged for the pieces, whatever time seems to have passed.
 */
static void pieces_in_time(void **state)
{
	furnish();
	tgreedy_pieces.prepare(&f.g[0]);
	f.most_sends = 0;
	tgreedy_pieces.keep_busy(&f.g[0]);
	t_poll(&f.v.w);
	/* the packet and its acknowledgment */
	assert_int_equal(f.most_sends, 2);
	assert_int_equal(t_vqp(&f.g[0].from)->state, T_RTS);
	strip();
}

#define ASKED	16u

/*
 * So after a request to an agent: its answer may be about all ports of a switch, of which there are
 * up to 254 (PortCounters with AllPortSelect), and is made at once.
 */
static void agents_in_time(void **state)
{
	struct tgreedy *g = &f.g[0];
	struct twr wr;

	furnish();
	g->h->qp_type = VHCA_QPT_UD;
	t_mr_init(g->h, &g->r, 0, MAD_LEN, T_RW, 1, 12);
	t_qp_init_size(g->h, &g->from, g->cq, g->cq, 6, 0, 5, 0);
	t_ud_up(&g->from, 0);
	wr = t_wr(VHCA_OP_SEND, 1, &g->r, 0, MAD_LEN, NULL, 0);
	wr.ud = (struct vhca_wqe_ud){
		.av = { .port = 1, .dlid = htole16(t_lid(&f.v.h[1])) },
		.dqpn = htole32(VHCA_QPT_GSI), .qkey = htole32(MAD_GSI_QKEY),
	};
	for (u32 i = 0; i < ASKED; i++)
		t_post(&g->from, &wr);
	f.send_ns = SLICE_NS / 2;
	f.most_sends = 0;
	t_ring_sq(&g->from);
	t_poll(&f.v.w);
	assert_in_range(f.most_sends, 1, 3);
	strip();
}

#define UNANSWERED	200u
#define PASS_TIMERS	64u	/* as engine/loop.c has it */

/* Very many QPs wait in vain for the same time: their timers do not fire in one stretch. */
static void timers_in_time(void **state)
{
	struct tgreedy *g = &f.g[0];
	struct twr wr;

	furnish();
	t_db_pages(g->h);
	t_mr_init(g->h, &g->r, 0, VICTIM_BYTES, T_RW, 1, 12);
	wr = t_wr(VHCA_OP_WRITE, 1, &g->r, 0, VICTIM_BYTES, &g->r, 0);
	for (u32 i = 0; i < UNANSWERED; i++) {
		tgreedy_qps(g, 2);
		assert_int_equal(t_destroy_qp(&g->to), VHCA_ST_OK);
		t_post(&g->from, &wr);
		t_ring_sq(&g->from);
	}
	t_poll(&f.v.w);
	assert_int_equal(f.timeouts, 0);
	f.v.w.now += 3600ull * 1000000000;
	t_poll(&f.v.w);
	count_timeouts();
	assert_int_equal(f.timeouts, UNANSWERED);
	assert_in_range(f.most_timeouts, 1, PASS_TIMERS);
	strip();
}

/* Of adapters that wait, and of the one that works, the next one is known. */
static void who_is_behind(void **state)
{
	struct adapter a[3] = { 0 };
	struct shard s = { 0 };

	INIT_LIST_HEAD(&s.ready);
	for (u32 i = 0; i < ARRAY_SIZE(a); i++) {
		a[i].home = &s;
		/* the last one to come has waited for longest */
		a[i].served = 10 - i;
		INIT_LIST_HEAD(&a[i].ready_node);
		assert_ptr_equal(adapter_behind(&a[i]), i ? &a[i - 1] : NULL);
		adapter_ready(&a[i]);
	}
	assert_ptr_equal(adapter_behind(&a[2]), &a[1]);
	assert_ptr_equal(adapter_behind(&a[1]), &a[0]);
	assert_null(adapter_behind(&a[0]));
	/* one that works does not wait */
	assert_ptr_equal(list_pop(&s.ready), &a[2].ready_node);
	a[2].has_turn = true;
	adapter_ready(&a[2]);
	assert_ptr_equal(adapter_behind(&a[2]), &a[1]);
	assert_ptr_equal(adapter_behind(&a[1]), &a[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_behind),
		cmocka_unit_test(late),
		cmocka_unit_test(reset_in_parts),
		cmocka_unit_test(windows_in_parts),
		cmocka_unit_test(doorbells_in_time),
		cmocka_unit_test(rings_of_others),
		cmocka_unit_test(messages_in_time),
		cmocka_unit_test(lists_in_time),
		cmocka_unit_test(short_beside_few),
		cmocka_unit_test(pieces_in_time),
		cmocka_unit_test(agents_in_time),
		cmocka_unit_test(timers_in_time),
		cmocka_unit_test(fair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
