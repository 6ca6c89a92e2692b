// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The test driver: world, device, admin queue, doorbells, event queues.
 */
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/internal.h"
#include "tests/testmem.h"
#include "tests/thca.h"
#include "tests/ttopo.h"

#define RAM_SIZE	(96ull << 20)

static u64 sim_now(void *arg)
{
	return ((struct tworld *)arg)->now;
}

/* The engine reads the time before each look for work, and before it sleeps. */
static u64 real_now(void *arg)
{
	t_news(arg);
	return engine_clock_monotonic.now(NULL);
}

static void world_init(struct tworld *w, u64 (*now)(void *arg), u64 (*spent)(void *arg),
		       u32 threads)
{
	const struct engine_clock clock = { .now = now, .spent = spent, .arg = w };

	memset(w, 0, sizeof(*w));
	w->now = 1000000000;
	w->fabric = t_fabric();
	assert_non_null(w->fabric);
	w->engine = engine_make(&clock, w->fabric, threads);
	assert_non_null(w->engine);
}

void t_world_init(struct tworld *w)
{
	world_init(w, sim_now, NULL, 1);
}

void t_world_init_timed(struct tworld *w, u64 (*spent)(void *arg))
{
	world_init(w, sim_now, spent, 1);
}

void t_world_init_threaded(struct tworld *w)
{
	world_init(w, real_now, engine_clock_monotonic.spent, 1);
	w->threaded = true;
}

void t_world_init_threads(struct tworld *w, u32 threads, bool real)
{
	if (real)
		world_init(w, real_now, engine_clock_monotonic.spent, threads);
	else
		world_init(w, sim_now, NULL, threads);
	w->threaded = real;
}

void t_world_fini(struct tworld *w)
{
	engine_free(w->engine);
	fabric_free(w->fabric);
}

void t_poll(struct tworld *w)
{
	if (!w->threaded)
		w->next = engine_poll(w->engine);
}

bool t_advance(struct tworld *w)
{
	t_poll(w);
	if (w->next == ENGINE_NEVER)
		return false;
	if (w->next > w->now)
		w->now = w->next;
	t_poll(w);
	return true;
}

void t_settle(struct tworld *w, u64 limit)
{
	u64 end = w->now + limit;

	t_poll(w);
	while (w->next != ENGINE_NEVER && w->next <= end)
		t_advance(w);
}

void t_news(struct tworld *w)
{
	__atomic_fetch_add(&w->news, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&w->waiters, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &w->news, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

/*
 * Looks this number of times before it sleeps: a thread that is awake when the engine is done meets
 * it
 * while it falls asleep, which is the purpose of tests with a thread.
 */
#define LOOKS	2000u

void t_wait(struct thca *h, bool (*ready)(void *arg), void *arg)
{
	struct tworld *w = h->w;

	t_poll(w);
	if (!w->threaded) {
		assert_true(ready(arg));
		return;
	}
	for (u32 i = 0; i < LOOKS || w->remote; i++) {
		if (ready(arg))
			return;
		if (w->remote)
			sched_yield();
	}
	__atomic_fetch_add(&w->waiters, 1, __ATOMIC_SEQ_CST);
	for (;;) {
		u32 seen = __atomic_load_n(&w->news, __ATOMIC_SEQ_CST);

		if (ready(arg))
			break;
		syscall(SYS_futex, &w->news, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
	}
	__atomic_fetch_sub(&w->waiters, 1, __ATOMIC_SEQ_CST);
}

u64 t_alloc(struct thca *h, u64 size)
{
	u64 at = h->ram_used;

	size = (size + 4095) & ~4095ull;
	assert_true(at + size <= h->ram_size);
	h->ram_used += size;
	return T_RAM_BASE + at;
}

void *t_cpu(struct thca *h, u64 iova)
{
	assert_true(iova >= T_RAM_BASE && iova < T_RAM_BASE + h->ram_size);
	return h->ram + (iova - T_RAM_BASE);
}

static void on_irq(void *host, u32 vector)
{
	struct thca *h = host;

	assert_true(vector < ARRAY_SIZE(h->irqs));
	__atomic_fetch_add(&h->irqs[vector], 1, __ATOMIC_SEQ_CST);
}

static const struct vdev_host_ops host_ops = { .irq = on_irq };

static u32 reg_read(struct thca *h, u32 off)
{
	return h->bars ? h->bars->reg_read(h, off) : vdev_reg_read(h->dev, off);
}

static void reg_write(struct thca *h, u32 off, u32 val)
{
	if (h->bars)
		h->bars->reg_write(h, off, val);
	else
		vdev_reg_write(h->dev, off, val);
}

static void enable(struct thca *h)
{
	u64 asq, acq;

	assert_int_equal(reg_read(h, VHCA_REG_MAGIC), VHCA_MAGIC);
	asq = t_alloc(h, VHCA_ASQE_SIZE << T_ADMIN_LOG);
	acq = t_alloc(h, sizeof(struct vhca_acqe) << T_ADMIN_LOG);
	h->asq = t_cpu(h, asq);
	h->acq = t_cpu(h, acq);
	reg_write(h, VHCA_REG_ASQ_LO, asq);
	reg_write(h, VHCA_REG_ASQ_HI, asq >> 32);
	reg_write(h, VHCA_REG_ACQ_LO, acq);
	reg_write(h, VHCA_REG_ACQ_HI, acq >> 32);
	reg_write(h, VHCA_REG_ADMIN_SIZE, T_ADMIN_LOG);
	reg_write(h, VHCA_REG_ADMIN_VECTOR, 0);
	reg_write(h, VHCA_REG_CONTROL, VHCA_CONTROL_ENABLE);
	assert_int_equal(reg_read(h, VHCA_REG_STATUS), VHCA_STATUS_READY);
}

void t_hca_bare(struct thca *h, struct tworld *w, const struct vdev_config *cfg)
{
	memset(h, 0, sizeof(*h));
	h->w = w;
	h->mem = gmem_new();
	assert_non_null(h->mem);
	h->qp_type = VHCA_QPT_RC;
	h->ram_size = RAM_SIZE;
	h->ram = testmem_add(h->mem, T_RAM_BASE, RAM_SIZE);
	h->dev = vdev_new(w->engine, cfg, h->mem, &host_ops, h);
	assert_non_null(h->dev);
	enable(h);
}

static void furnish(struct thca *h)
{
	struct vhca_open_uar_req uar = { 0 };

	h->db_iova = t_alloc(h, T_DB_PAGES * VHCA_DB_PAGE_SIZE);
	h->db = t_cpu(h, h->db_iova);
	uar.db_page = htole64(h->db_iova);
	h->uar = t_create(h, VHCA_CMD_OPEN_UAR, &uar, sizeof(uar));
	t_eq_init(h, &h->async, T_EQ_LOG, 1, VHCA_EQ_ASYNC);
	assert_int_equal(h->async.eqn, 0);
	t_eq_init(h, &h->comp, T_EQ_LOG, 2, 0);
	t_expect_event(h, VHCA_EV_PORT_ACTIVE, 0);
	h->pd = t_create(h, VHCA_CMD_CREATE_PD, NULL, 0);
}

void t_hca_init_cfg(struct thca *h, struct tworld *w, const struct vdev_config *cfg)
{
	t_hca_bare(h, w, cfg);
	furnish(h);
}

void t_hca_start(struct thca *h)
{
	enable(h);
	furnish(h);
}

void t_hca_init(struct thca *h, struct tworld *w, u64 guid)
{
	const struct vdev_config cfg = {
		.name = "t", .node_guid = guid, .ports = 1, .vectors = 4,
	};

	t_hca_init_cfg(h, w, &cfg);
}

void t_hca_fini(struct thca *h)
{
	vdev_free(h->dev);
	gmem_free(h->mem);
	testmem_drop(h->ram, h->ram_size);
}

/* ------------------------------------------------------------------------
 * Admin queue
 */
struct acqe_wait {
	struct vhca_acqe *e;
	u8 phase;
};

static bool acqe_ready(void *arg)
{
	struct acqe_wait *a = arg;

	return (__atomic_load_n(&a->e->phase, __ATOMIC_ACQUIRE) & VHCA_ACQE_PHASE) == a->phase;
}

void t_admin_post(struct thca *h, const struct vhca_asqe *sqe)
{
	u32 n = h->admin_tail++, i = n & ((1u << T_ADMIN_LOG) - 1);

	h->asq[i] = *sqe;
	h->asq[i].cmd_id = htole16(n * 7);
	reg_write(h, VHCA_REG_ADMIN_TAIL, h->admin_tail);
}

u32 t_admin_answer(struct thca *h, void *resp)
{
	u32 n = h->admin_tail - 1, i = n & ((1u << T_ADMIN_LOG) - 1);
	struct acqe_wait a = { &h->acq[i], !(n >> T_ADMIN_LOG & 1) };

	t_wait(h, acqe_ready, &a);
	assert_int_equal(le16toh(a.e->cmd_id), (u16)(n * 7));
	h->bad_field = le16toh(a.e->bad_field);
	if (!a.e->status)
		assert_int_equal(h->bad_field, VHCA_NO_FIELD);
	if (resp)
		memcpy(resp, a.e->resp, VHCA_ACQE_RESP);
	return a.e->status;
}

u32 t_admin_raw(struct thca *h, const struct vhca_asqe *sqe, void *resp)
{
	t_admin_post(h, sqe);
	return t_admin_answer(h, resp);
}

u32 t_admin(struct thca *h, u8 op, const void *req, u32 len, void *resp)
{
	struct vhca_asqe sqe = { .opcode = op };

	if (len)
		memcpy(sqe.req, req, len);
	return t_admin_raw(h, &sqe, resp);
}

u32 t_admin_out(struct thca *h, u8 op, const void *req, u32 len, void *out, u32 out_len)
{
	u64 used = h->ram_used, at = t_alloc(h, out_len);
	struct vhca_asqe sqe = {
		.opcode = op, .out_len = htole32(out_len), .out_addr = htole64(at),
	};
	u32 st;

	if (len)
		memcpy(sqe.req, req, len);
	st = t_admin_raw(h, &sqe, NULL);
	memcpy(out, t_cpu(h, at), out_len);
	h->ram_used = used;
	return st;
}

u32 t_create(struct thca *h, u8 op, const void *req, u32 len)
{
	struct {
		struct vhca_object_resp o;
		u8 rest[VHCA_ACQE_RESP - sizeof(struct vhca_object_resp)];
	} resp;

	assert_int_equal(t_admin(h, op, req, len, &resp), VHCA_ST_OK);
	return le32toh(resp.o.handle);
}

u32 t_destroy(struct thca *h, u8 op, u32 handle)
{
	struct vhca_object_req req = { .handle = htole32(handle) };

	return t_admin(h, op, &req, sizeof(req), NULL);
}

struct vport_stats t_stats(struct thca *h)
{
	const struct vhca_port_req req = { .port = 1 };
	__le64 n[sizeof(struct vhca_port_counters) / sizeof(__le64)];
	union {
		struct vport_stats s;
		u64 n[ARRAY_SIZE(n)];
	} native;

	static_assert(sizeof(native.s) == sizeof(native.n), "the same counters in the same order");
	assert_int_equal(t_admin_out(h, VHCA_CMD_QUERY_COUNTERS, &req, sizeof(req), n, sizeof(n)),
			 VHCA_ST_OK);
	for (u32 i = 0; i < ARRAY_SIZE(n); i++)
		native.n[i] = le64toh(n[i]);
	return native.s;
}

void t_nth_hook(void *arg, const struct fab_port *from, const struct wire_hdr *h,
		struct fab_effect *v)
{
	struct tnth *n = arg;

	if (n->seen++ != n->victim && !n->all)
		return;
	v->copies = n->copies;
	v->delay = n->delay;
}

void t_watch(void *arg, const struct fab_port *from, const struct wire_hdr *h,
	     struct fab_effect *v)
{
	struct tseen *s = arg;

	if (s->n < ARRAY_SIZE(s->h))
		s->h[s->n++] = *h;
}

const struct fab_effect t_spoils[T_SPOILS] = {
	{ .copies = 0 }, { .copies = 2 }, { .copies = 1, .delay = 200000000 },
};

/* ------------------------------------------------------------------------
 * Doorbells: exactly as in rdma/vhca-abi.h
 */
void t_db_pages(struct thca *h)
{
	for (u32 i = 1; i < T_DB_PAGES; i++) {
		struct vhca_add_db_page_req req = {
			.uar = htole32(h->uar), .page = htole32(i),
			.db_page = htole64(h->db_iova + i * VHCA_DB_PAGE_SIZE),
		};

		assert_int_equal(t_admin(h, VHCA_CMD_ADD_DB_PAGE, &req, sizeof(req), NULL),
				 VHCA_ST_OK);
	}
}

static __le64 *rec_of(struct thca *h, u32 slot)
{
	return &h->db[slot / VHCA_DB_SLOTS].rec[slot % VHCA_DB_SLOTS];
}

u64 t_rec(struct thca *h, u32 slot)
{
	return __atomic_load_n(rec_of(h, slot), __ATOMIC_ACQUIRE);
}

void t_set_rec(struct thca *h, u32 slot, u64 val)
{
	__atomic_store_n(rec_of(h, slot), val, __ATOMIC_RELEASE);
}

void t_ring(struct thca *h, u32 slot, u64 val)
{
	u32 page = slot / VHCA_DB_SLOTS, n = slot % VHCA_DB_SLOTS;

	t_set_rec(h, slot, val);
	__atomic_fetch_or(&h->db[page].news[n / 64], 1ull << (n % 64), __ATOMIC_SEQ_CST);
	__atomic_fetch_or(&h->db->summary[page / 64], 1ull << (page % 64), __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&h->db->armed, __ATOMIC_SEQ_CST) &&
	    __atomic_exchange_n(&h->db->armed, 0, __ATOMIC_SEQ_CST)) {
		__atomic_fetch_add(&h->kicks, 1, __ATOMIC_RELAXED);
		if (h->bars)
			h->bars->kick(h, h->uar, VHCA_KICK);
		else
			vdev_kick(h->dev, h->uar);
	}
}

/* ------------------------------------------------------------------------
 * Event queues
 */
void t_eq_init(struct thca *h, struct teq *eq, u32 log, u32 vector, u8 flags)
{
	u64 ring = t_alloc(h, sizeof(struct vhca_eqe) << log);
	struct vhca_create_eq_req req = {
		.buf.addr = htole64(ring),
		.uar = htole32(h->uar),
		.db_slot = htole32(h->next_slot),
		.vector = htole32(vector),
		.log_entries = log,
		.flags = flags,
	};

	memset(eq, 0, sizeof(*eq));
	eq->ring = t_cpu(h, ring);
	eq->log = log;
	eq->slot = h->next_slot;
	h->next_slot += 2;
	eq->eqn = t_create(h, VHCA_CMD_CREATE_EQ, &req, sizeof(req));
}

bool t_eq_get(struct thca *h, struct teq *eq, struct vhca_eqe *e)
{
	struct vhca_eqe *at = &eq->ring[eq->ci & ((1u << eq->log) - 1)];
	u8 lap = !(eq->ci >> eq->log & 1);

	if ((__atomic_load_n(&at->owner, __ATOMIC_ACQUIRE) & VHCA_EQE_OWNER) != lap)
		return false;
	*e = *at;
	eq->ci++;
	if (e->flags & VHCA_EQE_F_MORE)
		t_ring(h, eq->slot, eq->ci);
	else
		t_set_rec(h, eq->slot, eq->ci);
	return true;
}

void t_eq_arm(struct thca *h, struct teq *eq)
{
	eq->seq = (eq->seq + 1) & VHCA_ARM_SEQ_MASK;
	t_set_rec(h, eq->slot + 1, (u64)eq->seq << VHCA_ARM_SEQ_SHIFT | eq->ci);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void t_expect_event(struct thca *h, u8 event, u32 number)
{
	struct vhca_eqe e;

	bool got;

	t_poll(h->w);
	while (!(got = t_eq_get(h, &h->async, &e)) && h->w->remote)
		sched_yield();
	assert_true(got);
	assert_int_equal(e.event, event);
	assert_int_equal(le32toh(e.number), number);
}

void t_expect_no_event(struct thca *h)
{
	struct vhca_eqe e = { 0 };

	t_poll(h->w);
	if (t_eq_get(h, &h->async, &e))
		fail_msg("event %#x of %u", e.event, le32toh(e.number));
}
