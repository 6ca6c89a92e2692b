// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How long a guest waits beside one that finds work which takes longer than it seems: it rings
 * half a million doorbells, sends to hundreds of QPs at once, or gathers a message from lists of
 * thousands of pieces that are empty.  This one writes 64 bytes now and then.
 *
 * Waiting is counted in the processor's time that the engine takes from the doorbell to the
 * completion, so that a busy host does not count; what this program itself does meanwhile does
 * not either.  What it is compared with is the same beside a guest that writes 2 GiB at a time,
 * in the same run.  Doorbells are rung when the other guest's work is about to begin.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/adapter.h"
#include "res/uar.h"
#include "tests/tkey.h"

#define SMALL		64u
#define MESSAGES	1000u
#define MGID_LID	0xc001u
#define QKEY		0x1234u
#define RECEIVERS	250u
#define RECEIVES	128u		/* that each of them has at least */
#define SENDS		16u		/* that are posted at a time */
#define BIG		4096u
#define DB_PAGES	1024u
#define PIECES		4096u
#define LISTS		4u
#define HUGE_LEN	(1ull << 31)
#define HUGE_SHIFT	21u

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
	struct tworld w;
	struct thca h[3];	/* two that write 64 bytes, and the other one */
	struct tcq cq[3];
	struct tqp qp[2];
	struct tmr mr[2];
	struct tqp from, to;	/* the other one's, */
	struct tqp from2, to2;	/* and perhaps more of them */
	struct tmr l, r;
	struct tqp *members;
	struct vqp **member;
	struct vhca_db_page *pages;
	u32 uar;
	u32 list_key[LISTS];
	u32 huge_key;
	void (*keep_busy)(void);
	u64 step;		/* ns that pass between two pieces of work */
	void (*unlocked)(void);
	u32 looks, parts;
	u64 own;		/* ns of this program */
	u64 rung_at;
	bool waiting, over;
	u64 waited[MESSAGES];
	u32 n, rng;
} f;

static u64 cpu_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* What the engine has taken. */
static u64 engine_time(void *arg)
{
	return cpu_time() - f.own;
}

static u32 any(u32 n)
{
	f.rng = f.rng * 1103515245 + 12345;
	return f.rng / 65536 % n;
}

static void look_for_completion(u64 now)
{
	struct vhca_cqe e;

	if (!f.waiting || !t_cq_poll(&f.cq[0], &e))
		return;
	assert_int_equal(e.status, VHCA_CS_SUCCESS);
	f.waited[f.n++] = now - f.rung_at;
	f.waiting = false;
	f.over = f.n == MESSAGES;
}

/* The engine is between two pieces of work. */
static void between(void)
{
	u64 now = cpu_time(), at = now - f.own;

	f.w.now += f.step;
	if (f.step)
		assert_int_equal(f.h[0].dev->port[0].count.timeouts, 0);
	look_for_completion(at);
	if (!f.over && f.keep_busy)
		f.keep_busy();
	if (!f.over && !f.waiting && f.keep_busy && !any(3)) {
		struct twr wr = t_wr(VHCA_OP_WRITE, 1, &f.mr[0], 0, SMALL, &f.mr[1], 0);

		f.waiting = true;
		t_post(&f.qp[0], &wr);
		t_ring_sq(&f.qp[0]);
		f.rung_at = at;
	}
	f.own += cpu_time() - now;
}

bool __wrap_doorbell_poll(struct vhca_dev *dev)
{
	f.looks++;
	if (dev == f.h[2].dev)
		between();
	return __real_doorbell_poll(dev);
}

void __wrap_fab_send(struct fab_port *port, struct run *run)
{
	between();
	__real_fab_send(port, run);
}

bool __wrap_fab_send_some(struct fab_port *port, struct run *run, struct fab_cursor *c,
			  u32 *bytes)
{
	between();
	return __real_fab_send_some(port, run, c, bytes);
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

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

static u64 share(u32 permille)
{
	return f.waited[(u64)MESSAGES * permille / 1000 - 1];
}

/* What half, 99 % and 99.9 % of the messages do not wait longer than, in ns. */
struct waits {
	u64 p50, p99, p999;
};

static void furnish(void)
{
	t_world_init_timed(&f.w, engine_time);
	for (u32 i = 0; i < 3; i++) {
		t_hca_init(&f.h[i], &f.w, 0x1000 * (i + 1));
		t_cq_init(&f.h[i], &f.cq[i], 10, VHCA_CQ_IGNORE_OVERRUN);
	}
	for (u32 i = 0; i < 2; i++) {
		t_qp_init(&f.h[i], &f.qp[i], &f.cq[i], &f.cq[i]);
		t_mr_init(&f.h[i], &f.mr[i], 0, SMALL, T_RW, 1, 12);
	}
	t_connect(&f.qp[0], &f.qp[1], 5, 100, 9000);
}

static void strip(void)
{
	for (u32 i = 0; i < 3; i++)
		t_hca_fini(&f.h[i]);
	t_world_fini(&f.w);
	free(f.members);
	free(f.member);
}

static struct waits beside(const char *what, void (*prepare)(void), void (*keep_busy)(void))
{
	memset(&f, 0, sizeof(f));
	furnish();
	prepare();
	f.rng = 1;
	f.keep_busy = keep_busy;
	while (!f.over)
		t_poll(&f.w);
	qsort(f.waited, MESSAGES, sizeof(f.waited[0]), compare);
	printf("beside %s: waits %.1f us, %.1f (99 %%), %.1f (99.9 %%), %.1f\n", what,
	       share(500) / 1e3, share(990) / 1e3, share(999) / 1e3, share(1000) / 1e3);
	strip();
	return (struct waits){ share(500), share(990), share(999) };
}

/* ------------------------------------------------------------------------
 * Guests that are busy
 */
static void two_qps(u32 hca, u32 log_sq)
{
	t_qp_init_size(&f.h[hca], &f.from, &f.cq[hca], &f.cq[hca], log_sq, 0, 5, 0);
	t_qp_init_size(&f.h[hca], &f.to, &f.cq[hca], &f.cq[hca], 0, 0, 5, 0);
	t_connect(&f.from, &f.to, 5, 100, 9000);
}

/* Is there room for another message of so many blocks? */
static bool can_post(u32 blocks)
{
	const struct vqp *qp = t_vqp(&f.from);

	return f.from.sq_prod - qp->req.blk_next < SENDS * blocks;
}

static void prepare_huge_on(u32 hca)
{
	struct vhca_create_mkey_req req = {
		.buf = { .npages = htole32(HUGE_LEN >> HUGE_SHIFT), .page_shift = HUGE_SHIFT,
			 .levels = 1 },
		.length = htole64(HUGE_LEN), .access = htole32(T_RW),
	};
	struct thca *h = &f.h[hca];
	__le64 *list;
	u64 page, at;

	h->ram_used = (h->ram_used | ((1u << HUGE_SHIFT) - 1)) + 1;
	page = t_alloc(h, 1u << HUGE_SHIFT);
	at = t_alloc(h, (HUGE_LEN >> HUGE_SHIFT) * sizeof(*list));
	list = t_cpu(h, at);
	for (u32 i = 0; i < HUGE_LEN >> HUGE_SHIFT; i++)
		list[i] = htole64(page);
	req.buf.addr = htole64(at);
	req.pdn = htole32(h->pd);
	f.huge_key = t_create(h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req));
	two_qps(hca, 6);
}

static void prepare_huge(void)
{
	prepare_huge_on(2);
}

static void write_huge(void)
{
	struct twr wr = {
		.opcode = VHCA_OP_WRITE, .nsge = 1, .rkey = f.huge_key,
		.sge = { { 0, HUGE_LEN, f.huge_key } },
	};

	if (!can_post(1))
		return;
	t_post(&f.from, &wr);
	t_ring_sq(&f.from);
}

/* QPs with receives of 4 KiB, in a group. */
static void prepare_group(void)
{
	struct vhca_mcg_req req = { .mgid = { 0xff, 0x12 }, .mlid = htole16(MGID_LID) };
	struct thca *h = &f.h[2];

	t_mr_init(h, &f.l, 0, 2 * BIG, T_RW, 1, 12);
	t_db_pages(h);
	h->qp_type = VHCA_QPT_UD;
	f.members = calloc(RECEIVERS, sizeof(*f.members));
	f.member = calloc(RECEIVERS, sizeof(struct vqp *));
	assert_non_null(f.members);
	assert_non_null(f.member);
	for (u32 i = 0; i < RECEIVERS; i++) {
		t_qp_init_size(h, &f.members[i], &f.cq[2], &f.cq[2], 0, 8, 5, 0);
		t_ud_up(&f.members[i], QKEY);
		f.member[i] = t_vqp(&f.members[i]);
		req.qpn = htole32(f.members[i].qpn);
		assert_int_equal(t_admin(h, VHCA_CMD_ATTACH_MCG, &req, sizeof(req), NULL),
				 VHCA_ST_OK);
	}
	t_qp_init_size(h, &f.from, &f.cq[2], &f.cq[2], 7, 0, 5, 0);
	t_ud_up(&f.from, QKEY);
}

static void send_to_group(void)
{
	struct twr wr = {
		.opcode = VHCA_OP_SEND, .nsge = 1, .sge = { { 0, BIG, f.l.key } },
		.ud = { .av = { .port = 1, .dlid = htole16(MGID_LID), .grh = 1, .hop_limit = 1,
				.dgid = { 0xff, 0x12 } },
			.dqpn = htole32(0xffffff), .qkey = htole32(QKEY) },
	};
	struct vhca_sge sge = t_sge(&f.l, 0, BIG + 40);

	for (u32 i = 0; i < RECEIVERS; i++)
		while (f.members[i].rq_prod - f.member[i]->recv.next < RECEIVES)
			t_recv(&f.members[i], 0, 1, &sge);
	while (can_post(3))
		t_post(&f.from, &wr);
	t_ring_sq(&f.from);
}

/* A doorbell area as large as can be. */
static void prepare_doorbells(void)
{
	struct thca *h = &f.h[2];
	u64 at = t_alloc(h, DB_PAGES * VHCA_DB_PAGE_SIZE);
	struct vhca_open_uar_req open = { .db_page = htole64(at) };

	f.uar = t_create(h, VHCA_CMD_OPEN_UAR, &open, sizeof(open));
	f.pages = t_cpu(h, at);
	for (u32 i = 1; i < DB_PAGES; i++) {
		struct vhca_add_db_page_req req = {
			.uar = htole32(f.uar), .page = htole32(i),
			.db_page = htole64(at + i * VHCA_DB_PAGE_SIZE),
		};

		assert_int_equal(t_admin(h, VHCA_CMD_ADD_DB_PAGE, &req, sizeof(req), NULL),
				 VHCA_ST_OK);
	}
}

static void ring_all(void)
{
	for (u32 i = 0; i < VHCA_DB_SUMMARY_WORDS; i++) {
		if (f.pages->summary[i])
			continue;
		for (u32 n = 0; n < 64 * VHCA_DB_NEWS_WORDS; n++)
			__atomic_store_n(&f.pages[64 * i + n / VHCA_DB_NEWS_WORDS]
					 .news[n % VHCA_DB_NEWS_WORDS], ~0ull, __ATOMIC_RELEASE);
		__atomic_store_n(&f.pages->summary[i], ~0ull, __ATOMIC_SEQ_CST);
	}
	if (__atomic_exchange_n(&f.pages->armed, 0, __ATOMIC_SEQ_CST))
		vdev_kick(f.h[2].dev, f.uar);
}

/* Lists of a byte, nothing for long, and another byte. */
static void prepare_lists(void)
{
	struct thca *h = &f.h[2];

	t_key_caps(h);
	two_qps(2, 8);
	t_mr_init(h, &f.r, 0, BIG, T_RW, 1, 12);
	for (u32 k = 0; k < LISTS; k++) {
		u64 at = t_alloc(h, PIECES * sizeof(struct vhca_sg_entry));
		struct vhca_sg_entry *list = t_cpu(h, at);

		for (u32 i = 0; i < PIECES; i++)
			list[i] = (struct vhca_sg_entry){
				.addr = htole64(f.r.page[0]),
				.end = htole64(i + 1 < PIECES ? 1 : 2),
			};
		f.list_key[k] = t_key(h, VHCA_MKEY_FAST_SG, at, PIECES, k);
		assert_int_equal(t_register(&f.from, f.list_key[k], PIECES, 0, 2, T_RW, 0), 0);
	}
}

static void write_from_lists(void)
{
	struct twr wr = {
		.opcode = VHCA_OP_WRITE, .nsge = LISTS, .raddr = f.r.iova, .rkey = f.r.key,
	};

	for (u32 k = 0; k < LISTS; k++)
		wr.sge[k] = (struct vhca_sge){ 0, 2, f.list_key[k] };
	while (can_post(2))
		t_post(&f.from, &wr);
	t_ring_sq(&f.from);
}

/*
 * Beside WRITEs of 2 GiB a message waits for two slices at the most, see fair_test.  Whatever else
 * the other guest does, it adds no more than the rest of a slice and another one for each of the
 * two turns that a message takes, the one in which the peer acknowledges included.
 */
static void fair(void **state)
{
	static const struct {
		const char *what;
		void (*prepare)(void);
		void (*keep_busy)(void);
	} guests[] = {
		{ "doorbells", prepare_doorbells, ring_all },
		{ "multicasts", prepare_group, send_to_group },
		{ "lists of pieces", prepare_lists, write_from_lists },
	};
	const struct waits usual = beside("WRITEs of 2 GiB", prepare_huge, write_huge);

	/* where the program is slow, under the sanitizers, a slice of bytes takes longer */
	const u64 slice = MAX(usual.p50, (u64)SLICE_NS);

	for (u32 i = 0; i < ARRAY_SIZE(guests); i++) {
		const struct waits w = beside(guests[i].what, guests[i].prepare,
					      guests[i].keep_busy);

		assert_true(w.p99 <= usual.p99 + 4 * slice);
		/* one of a thousand meets the host's interrupts, and how long they take varies */
		assert_true(w.p999 <= 2 * usual.p999 + 4 * slice);
	}
}

/*
 * The engine is late: a second passes between two turns, and the QP that has to acknowledge waits
 * behind two others of its adapter.  Nobody's packets are lost for that.
 */
static void write_both(void)
{
	struct tqp other;

	write_huge();
	other = f.from;
	f.from = f.from2;
	write_huge();
	f.from2 = f.from;
	f.from = other;
}

static void late(void **state)
{
	memset(&f, 0, sizeof(f));
	furnish();
	two_qps(1, 6);
	f.from2 = f.from;
	f.to2 = f.to;
	prepare_huge_on(1);
	f.rng = 1;
	f.step = 1000000000;
	f.n = MESSAGES - 100;
	f.keep_busy = write_both;
	while (!f.over)
		t_poll(&f.w);
	f.step = 0;
	for (u32 i = 0; i < 3; i++) {
		assert_int_equal(t_stats(&f.h[i]).timeouts, 0);
		assert_int_equal(t_stats(&f.h[i]).duplicates, 0);
	}
	strip();
}

/* A message of somebody else, while a device is being reset. */
static void meanwhile(void)
{
	struct twr wr = t_wr(VHCA_OP_WRITE, 1, &f.mr[0], 0, SMALL, &f.mr[1], 0);

	f.parts++;
	t_send(&f.qp[0], &wr);
	t_expect_cqe(&f.cq[0], 1, VHCA_CS_SUCCESS);
}

#define MANY	500u

static void reset_in_parts(void **state)
{
	struct tmr mr;
	struct tqp qp;

	memset(&f, 0, sizeof(f));
	furnish();
	t_db_pages(&f.h[2]);
	for (u32 i = 0; i < MANY; i++) {
		t_qp_init_size(&f.h[2], &qp, &f.cq[2], &f.cq[2], 0, 0, 5, 0);
		t_mr_init(&f.h[2], &mr, 0, 64, T_RW, 0, 12);
	}
	f.unlocked = meanwhile;
	vdev_reset(f.h[2].dev);
	f.unlocked = NULL;
	assert_true(f.parts > 3 * MANY / 64);
	strip();
}

/* A QP that has very many windows goes, and others have their turns meanwhile. */
static void windows_in_parts(void **state)
{
	struct tmr mr;
	struct tqp qp;

	memset(&f, 0, sizeof(f));
	furnish();
	t_key_caps(&f.h[2]);
	t_qp_init(&f.h[2], &qp, &f.cq[2], &f.cq[2]);
	t_mr_init(&f.h[2], &mr, 0, 4096, T_RW | VHCA_ACCESS_MW_BIND, 0, 12);
	for (u32 i = 0; i < MANY; i++) {
		u32 key = t_key(&f.h[2], VHCA_MKEY_MW_2, 0, 0, 1);

		assert_int_equal(t_bind(&qp, key, mr.key, 0, 64, VHCA_ACCESS_REMOTE_READ), 0);
	}
	f.looks = 0;
	assert_int_equal(t_destroy(&f.h[2], VHCA_CMD_DESTROY_QP, qp.qpn), VHCA_ST_OK);
	assert_true(f.looks > 3 * MANY / 100);
	assert_int_equal(t_destroy(&f.h[2], VHCA_CMD_DESTROY_MKEY, mr.key), VHCA_ST_OK);
	strip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(late),
		cmocka_unit_test(reset_in_parts),
		cmocka_unit_test(windows_in_parts),
		cmocka_unit_test(fair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
