// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A guest that creates as much as it can of everything: the daemon's memory
 * for it is bounded, and each refusal names its limit.  The daemon
 * without sanitizers is measured, from outside.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "res/dev.h"
#include "tests/tprog.h"
#include "tests/tremote.h"
#include "tests/vuclient.h"

#define MIB		(1024ull * 1024)
#define MOST		(300 * MIB)	/* for everything; the bound that limit.c states */
#define BATCH		(1u << T_ADMIN_LOG)

struct guest {
	char dir[TPROG_DIR], log[TPROG_PATH], sock[TPROG_PATH];
	pid_t pid;
	struct tworld w;
	struct thca h;
	u64 before;
	struct tcq cq;
	u64 ring;
	u32 uar;		/* that make_page() makes pages of */
	u32 pages;		/* made so far, by make_uar() too */
};

/*
 * The upper half of the guest's memory is mapped several times, for pages with
 * different addresses.
 */
#define ALIASES		4u
#define ALIAS_BASE	(1ull << 40)

static void map_aliases(struct guest *g)
{
	const u64 half = g->h.ram_size / 2;

	assert_true(g->h.ram_used <= half);
	for (u32 i = 0; i < ALIASES; i++) {
		const struct vu_dma_map map = {
			.argsz = sizeof(map), .flags = VU_DMA_F_READ | VU_DMA_F_WRITE,
			.offset = half, .address = ALIAS_BASE + i * half, .size = half,
		};

		assert_int_equal(vuc_call(g->h.sock, VU_DMA_MAP, &map, sizeof(map), &g->h.ram_fd, 1,
					  NULL, 0, NULL), 0);
	}
}

static __le64 nth_page(struct guest *g, u32 n)
{
	assert_true(n < g->h.ram_size / 2 * ALIASES / 4096);
	return htole64(ALIAS_BASE + n * 4096ull);
}

static void start(struct guest *g, char *limit)
{
	char *argv[] = { "vhcad", "--log", g->log, "--hca", g->sock, limit ? "--limit" : NULL,
			 limit, NULL };

	memset(g, 0, sizeof(*g));
	tprog_dir(g->dir);
	tprog_in(g->dir, "log", g->log);
	tprog_in(g->dir, "0", g->sock);
	g->pid = tprog_start(tprog_path("VHCAD_FAST"), argv);
	t_remote_world(&g->w);
	t_remote_init(&g->h, &g->w, g->sock);
	t_cq_init(&g->h, &g->cq, 4, 0);
	g->ring = t_alloc(&g->h, 65536);
	map_aliases(g);
	g->before = tprog_private_bytes(g->pid);
}

static void stop(struct guest *g)
{
	t_remote_fini(&g->h);
	tprog_stop(g->pid, SIGTERM);
	g->pid = 0;
	tprog_dir_end(g->dir, g->log, NULL);
}

static int setup(void **state)
{
	static struct guest g;

	*state = &g;
	return 0;
}

static int teardown(void **state)
{
	struct guest *g = *state;

	tprog_abandon(g->pid);
	return 0;
}

static void expect_log(struct guest *g, const char *what)
{
	char line[512];
	bool found = false;
	FILE *f = fopen(g->log, "re");

	assert_non_null(f);
	while (!found && fgets(line, sizeof(line), f))
		found = strstr(line, what);
	fclose(f);
	if (!found)
		fail_msg("no line of the log says '%s'", what);
}

/* The n-th command of a kind. */
typedef void maker(struct guest *g, u32 n, struct vhca_asqe *sqe);

/* Gives commands until one is refused, some at a time; returns how many were not. */
static u32 until_refused(struct guest *g, maker *make, u32 *field)
{
	struct thca *h = &g->h;

	for (u32 n = 0; ; n += BATCH) {
		const u32 first = h->admin_tail;

		if (n % 1024 == 0)
			assert_true(tprog_private_bytes(g->pid) - g->before < MOST);
		for (u32 i = 0; i < BATCH; i++) {
			struct vhca_asqe *e = &h->asq[h->admin_tail++ & ((1u << T_ADMIN_LOG) - 1)];

			memset(e, 0, sizeof(*e));
			make(g, n + i, e);
			e->cmd_id = htole16((first + i) * 7);
		}
		t_remote_write(h, SERVER_BAR_REGS, VHCA_REG_ADMIN_TAIL, h->admin_tail);
		t_admin_answer(h, NULL);
		for (u32 i = 0; i < BATCH; i++) {
			u32 at = (first + i) & ((1u << T_ADMIN_LOG) - 1);
			const struct vhca_acqe *a = &h->acq[at];

			if (!a->status)
				continue;
			assert_int_equal(a->status, VHCA_ST_NO_RESOURCE);
			*field = le16toh(a->bad_field);
			return n + i;
		}
	}
}

#define REQ(type, sqe)	((struct type *)(sqe)->req)
#define FIELD(type, f)	(offsetof(struct vhca_asqe, req) + offsetof(struct type, f))

static void make_uar(struct guest *g, u32 n, struct vhca_asqe *sqe)
{
	sqe->opcode = VHCA_CMD_OPEN_UAR;
	REQ(vhca_open_uar_req, sqe)->db_page = nth_page(g, n);
}

static void make_page(struct guest *g, u32 n, struct vhca_asqe *sqe)
{
	sqe->opcode = VHCA_CMD_ADD_DB_PAGE;
	REQ(vhca_add_db_page_req, sqe)->uar = htole32(g->uar);
	REQ(vhca_add_db_page_req, sqe)->page = htole32(n + 1);
	REQ(vhca_add_db_page_req, sqe)->db_page = nth_page(g, g->pages + n);
}

static void make_pd(struct guest *g, u32 n, struct vhca_asqe *sqe)
{
	sqe->opcode = VHCA_CMD_CREATE_PD;
}

static void make_xrcd(struct guest *g, u32 n, struct vhca_asqe *sqe)
{
	sqe->opcode = VHCA_CMD_CREATE_XRCD;
}

static void make_counter(struct guest *g, u32 n, struct vhca_asqe *sqe)
{
	sqe->opcode = VHCA_CMD_CREATE_COUNTER;
	REQ(vhca_create_counter_req, sqe)->port = 1;
}

static void make_mkey(struct guest *g, u32 n, struct vhca_asqe *sqe)
{
	struct vhca_create_mkey_req *req = REQ(vhca_create_mkey_req, sqe);

	sqe->opcode = VHCA_CMD_CREATE_MKEY;
	req->pdn = htole32(g->h.pd);
	req->buf.addr = htole64(g->ring);
	req->length = htole64(4096);
}

/* Two neighbouring slots for the n-th queue, on the pages that were added. */
static __le32 nth_slot(u32 n)
{
	return htole32(VHCA_DB_SLOTS + 2 * n);
}

static void make_cq(struct guest *g, u32 n, struct vhca_asqe *sqe)
{
	sqe->opcode = VHCA_CMD_CREATE_CQ;
	*REQ(vhca_create_cq_hw_req, sqe) = (struct vhca_create_cq_hw_req){
		.buf.addr = htole64(g->ring), .uar = htole32(g->h.uar), .db_slot = nth_slot(n),
		.eqn = htole32(g->h.comp.eqn),
	};
}

static void make_srq(struct guest *g, u32 n, struct vhca_asqe *sqe)
{
	sqe->opcode = VHCA_CMD_CREATE_SRQ;
	*REQ(vhca_create_srq_hw_req, sqe) = (struct vhca_create_srq_hw_req){
		.buf.addr = htole64(g->ring), .uar = htole32(g->h.uar),
		.db_slot = nth_slot((32u << 10) + n), .pdn = htole32(g->h.pd), .log_stride = 5,
	};
}

/* The first ones are UD, for multicast; the others have the most outstanding requests. */
#define DATAGRAM_QPS	64u

static void make_qp(struct guest *g, u32 n, struct vhca_asqe *sqe)
{
	sqe->opcode = VHCA_CMD_CREATE_QP;
	*REQ(vhca_create_qp_hw_req, sqe) = (struct vhca_create_qp_hw_req){
		.type = n < DATAGRAM_QPS ? VHCA_QPT_UD : VHCA_QPT_RC,
		.sq.addr = htole64(g->ring), .log_sq_blocks = 8,
		.log_rq_strides = VHCA_NO_QUEUE, .pdn = htole32(g->h.pd),
		.uar = htole32(g->h.uar), .db_slot = nth_slot((96u << 10) + n),
		.send_cqn = htole32(g->cq.cqn), .recv_cqn = htole32(g->cq.cqn),
	};
}

/* As no number has been used before, they follow from the order. */
static u32 nth_qpn(u32 n)
{
	return QPN_FIRST_SLOT + n;
}

/* A few, on the first doorbell page. */
static void make_few_qps(struct guest *g, u32 n, struct vhca_asqe *sqe)
{
	make_qp(g, n, sqe);
	REQ(vhca_create_qp_hw_req, sqe)->db_slot = htole32(g->h.next_slot + 2 * (BATCH + n));
}

static void make_eq(struct guest *g, u32 n, struct vhca_asqe *sqe)
{
	sqe->opcode = VHCA_CMD_CREATE_EQ;
	*REQ(vhca_create_eq_req, sqe) = (struct vhca_create_eq_req){
		.buf.addr = htole64(g->ring), .uar = htole32(g->h.uar),
		.db_slot = htole32(g->h.next_slot + 2 * n), .vector = htole32(VHCA_NO_VECTOR),
		.log_entries = 2,
	};
}

static void make_attachment(struct guest *g, u32 n, struct vhca_asqe *sqe)
{
	struct vhca_mcg_req *req = REQ(vhca_mcg_req, sqe);

	sqe->opcode = VHCA_CMD_ATTACH_MCG;
	req->mgid[0] = 0xff;
	req->mgid[14] = n / DATAGRAM_QPS >> 8;
	req->mgid[15] = n / DATAGRAM_QPS;
	req->qpn = htole32(nth_qpn(n % DATAGRAM_QPS));
	req->mlid = htole16(0xc000 + n / DATAGRAM_QPS);
}

/* One QP in each of @n groups, the first of which exists. */
static void make_group(struct guest *g, u32 n, struct vhca_asqe *sqe)
{
	make_attachment(g, (n + 1) * DATAGRAM_QPS, sqe);
}

/* Connected QPs have an array of answers from then on. */
static void connect_all(struct guest *g, u32 qps)
{
	for (u32 n = DATAGRAM_QPS; n < qps; n++) {
		struct tqp qp = { .h = &g->h, .type = VHCA_QPT_RC, .qpn = nth_qpn(n) };

		t_connect(&qp, &qp, 5, 1, 1);
	}
}

#define NONE	VHCA_NO_FIELD

static void everything(void **state)
{
	static const struct {
		maker *make;
		u32 most;
		u16 field;
		const char *says;
	} kinds[] = {
		{ make_pd, (64 << 10) - 1, NONE, "CREATE_PD refused: pds are limited to 65536" },
		{ make_xrcd, 64 << 10, NONE, "CREATE_XRCD refused: xrcds are limited to 65536" },
		{ make_counter, 16 << 10, NONE,
		  "CREATE_COUNTER refused: counters are limited to 16384" },
		{ make_mkey, 256 << 10, NONE, "CREATE_MKEY refused: mkeys are limited to 262144" },
		{ make_cq, (32 << 10) - 1, NONE, "CREATE_CQ refused: cqs are limited to 32768" },
		{ make_srq, 64 << 10, NONE, "CREATE_SRQ refused: srqs are limited to 65536" },
		{ make_qp, 16 << 10, NONE, "CREATE_QP refused: qps are limited to 16384" },
		{ make_attachment, 64 << 10, FIELD(vhca_mcg_req, mlid),
		  "ATTACH_MCG refused: attached are limited to 65536" },
	};
	u32 field = FIELD(vhca_add_db_page_req, page), n;
	struct guest *g = *state;

	start(g, NULL);
	g->pages = until_refused(g, make_uar, &field);
	assert_int_equal(g->pages, 1023);
	assert_int_equal(field, NONE);
	expect_log(g, "OPEN_UAR refused: uars are limited to 1024");
	/* each has as many pages as it has bits for, until there are no more */
	do {
		n = until_refused(g, make_page, &field);
		g->pages += n;
		g->uar++;
	} while (n == VHCA_DB_MAX_PAGES - 1);
	assert_int_equal(g->pages, 4096 - 1);
	assert_int_equal(field, FIELD(vhca_add_db_page_req, db_page));
	expect_log(g, "ADD_DB_PAGE refused: db-pages are limited to 4096");
	for (u32 i = 0; i < ARRAY_SIZE(kinds); i++) {
		assert_int_equal(until_refused(g, kinds[i].make, &field), kinds[i].most);
		assert_int_equal(field, kinds[i].field);
		expect_log(g, kinds[i].says);
		printf("after %s: %llu MiB\n", kinds[i].says,
		       (unsigned long long)(tprog_private_bytes(g->pid) - g->before) / MIB);
	}
	connect_all(g, 16 << 10);
	printf("with all QPs connected: %llu MiB\n",
	       (unsigned long long)(tprog_private_bytes(g->pid) - g->before) / MIB);
	assert_true(tprog_private_bytes(g->pid) - g->before < MOST);
	stop(g);
}

/* Limits of the command line, and that objects are forgotten when the guest disconnects. */
static void other_limits(void **state)
{
	u32 field;
	struct guest *g = *state;

	start(g, "hca0:qps=100,pds=7,db-pages=300");
	assert_int_equal(until_refused(g, make_uar, &field), 299);
	assert_int_equal(field, FIELD(vhca_open_uar_req, db_page));
	expect_log(g, "OPEN_UAR refused: db-pages are limited to 300");
	assert_int_equal(until_refused(g, make_pd, &field), 6);
	expect_log(g, "CREATE_PD refused: pds are limited to 7");
	stop(g);
}

/* Those that a guest does not reach when it makes everything. */
static void small_limits(void **state)
{
	u32 field;
	struct guest *g = *state;

	start(g, "hca0:qps=8,eqs=5,mcgs=6,mcg-qps=5");
	/* it has one for completions and one for the rest */
	assert_int_equal(until_refused(g, make_eq, &field), 3);
	assert_int_equal(field, NONE);
	expect_log(g, "CREATE_EQ refused: eqs are limited to 5");
	assert_int_equal(until_refused(g, make_few_qps, &field), 8);
	expect_log(g, "CREATE_QP refused: qps are limited to 8");
	assert_int_equal(until_refused(g, make_attachment, &field), 5);
	assert_int_equal(field, FIELD(vhca_mcg_req, qpn));
	expect_log(g, "ATTACH_MCG refused: mcg-qps are limited to 5");
	assert_int_equal(until_refused(g, make_group, &field), 5);
	assert_int_equal(field, FIELD(vhca_mcg_req, mgid));
	expect_log(g, "ATTACH_MCG refused: mcgs are limited to 6");
	stop(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(other_limits, setup, teardown),
		cmocka_unit_test_setup_teardown(small_limits, setup, teardown),
		cmocka_unit_test_setup_teardown(everything, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
