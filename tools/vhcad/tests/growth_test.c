// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory of the host that the daemon keeps: the first fault of a link takes a pool of packets,
 * once.  Rounds of traffic with faults, of objects and of guests leave nothing.
 */
#include <errno.h>
#include <malloc.h>
#include <string.h>

#include "dev/fault.h"
#include "fabric/internal.h"
#include "tests/thca.h"

#define RW	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_REMOTE_READ)
#define LEN	30000u
#define SEC	1000000000ull
#define ROUNDS	100u
/* Rounds until each kind of fault has struck, and tables have a chunk for all resting numbers. */
#define WARM	(3 * FAB_FAULT_KINDS)
#define POOL	(9ull << 20)	/* bytes; vhcad.rst promises it */

#ifdef __SANITIZE_ADDRESS__
/* of ASan; not every compiler comes with its header */
size_t __sanitizer_get_current_allocated_bytes(void);
#endif

/* Bytes that have been allocated, and not freed. */
static u64 in_use(void)
{
#ifdef __SANITIZE_ADDRESS__
	return __sanitizer_get_current_allocated_bytes();
#else
	const struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
#endif
}

struct fixture {
	struct tpair p;
	struct tmr mr[2];
};

static void destroy(struct thca *h, u8 op, u32 handle)
{
	assert_int_equal(t_destroy(h, op, handle), VHCA_ST_OK);
}

/* A connection of a QP with itself, over which something is sent. */
static void talk(struct thca *h, struct tcq *cq, struct tmr *mr, struct tqp *qp)
{
	struct twr wr = t_wr(VHCA_OP_WRITE, 1, mr, 0, 4096, mr, 4096);

	t_connect(qp, qp, 3, 1, 1);
	t_allow(qp, RW);
	t_send(qp, &wr);
	t_settle(h->w, 10 * SEC);
	t_expect_cqe(cq, 1, VHCA_CS_SUCCESS);
}

static void join(struct tqp *qp, u8 op)
{
	const struct vhca_mcg_req req = {
		.mgid = { 0xff, [15] = 1 }, .qpn = htole32(qp->qpn), .mlid = htole16(0xc001),
	};

	assert_int_equal(t_admin(qp->h, op, &req, sizeof(req), NULL), VHCA_ST_OK);
}

/* Creates an object of each kind that a guest can make, and destroys them with their memory. */
static void churn(struct thca *h)
{
	const u64 ram = h->ram_used;
	const u32 slot = h->next_slot;
	const struct vhca_create_counter_req of_port = { .port = 1 };
	const struct vhca_open_uar_req page = {
		.db_page = htole64(t_alloc(h, VHCA_DB_PAGE_SIZE)),
	};
	u32 pd = t_create(h, VHCA_CMD_CREATE_PD, NULL, 0);
	u32 xrcd = t_create(h, VHCA_CMD_CREATE_XRCD, NULL, 0);
	u32 counter = t_create(h, VHCA_CMD_CREATE_COUNTER, &of_port, sizeof(of_port));
	u32 uar = t_create(h, VHCA_CMD_OPEN_UAR, &page, sizeof(page));
	struct tqp qp, datagrams, shared;
	struct tsrq srq;
	struct teq eq;
	struct tcq cq;
	struct tmr mr;

	t_eq_init(h, &eq, 4, VHCA_NO_VECTOR, 0);
	t_cq_init(h, &cq, 6, 0);
	t_srq_init(h, &srq, 4, 5);
	t_mr_init(h, &mr, 0, 8192, RW, 1, 12);
	h->qp_type = VHCA_QPT_UD;
	t_qp_init_size(h, &datagrams, &cq, &cq, 4, 4, 5, VHCA_QP_SIGNAL_ALL);
	t_ud_up(&datagrams, 7);
	join(&datagrams, VHCA_CMD_ATTACH_MCG);
	h->qp_type = VHCA_QPT_RC;
	t_qp_init_size(h, &qp, &cq, &cq, 4, 4, 5, VHCA_QP_SIGNAL_ALL);
	talk(h, &cq, &mr, &qp);
	t_qp_init_srq(h, &shared, &cq, &cq, &srq);
	talk(h, &cq, &mr, &shared);

	assert_int_equal(t_destroy_qp(&shared), VHCA_ST_OK);
	assert_int_equal(t_destroy_qp(&qp), VHCA_ST_OK);
	join(&datagrams, VHCA_CMD_DETACH_MCG);
	assert_int_equal(t_destroy_qp(&datagrams), VHCA_ST_OK);
	destroy(h, VHCA_CMD_DESTROY_MKEY, mr.key);
	destroy(h, VHCA_CMD_DESTROY_SRQ, srq.srqn);
	destroy(h, VHCA_CMD_DESTROY_CQ, cq.cqn);
	destroy(h, VHCA_CMD_DESTROY_EQ, eq.eqn);
	destroy(h, VHCA_CMD_CLOSE_UAR, uar);
	destroy(h, VHCA_CMD_DESTROY_COUNTER, counter);
	destroy(h, VHCA_CMD_DESTROY_XRCD, xrcd);
	destroy(h, VHCA_CMD_DESTROY_PD, pd);
	memset(t_cpu(h, T_RAM_BASE + ram), 0, h->ram_used - ram);
	for (u32 i = slot; i < h->next_slot; i++)
		t_set_rec(h, i, 0);
	h->ram_used = ram;
	h->next_slot = slot;
}

static void transfers(struct fixture *f, u32 round)
{
	for (u32 i = 0; i < 2; i++) {
		struct twr wr = t_wr(round % 2 ? VHCA_OP_READ : VHCA_OP_WRITE, round, &f->mr[i], 0,
				     LEN, &f->mr[!i], LEN);

		t_post(&f->p.qp[i], &wr);
		t_ring_sq(&f->p.qp[i]);
	}
	t_settle(&f->p.w, 60 * SEC);
	for (u32 i = 0; i < 2; i++)
		t_expect_cqe(&f->p.cq[i], round, VHCA_CS_SUCCESS);
}

/* Reads the events of a link that was down. */
static void read_events(struct thca *h)
{
	struct vhca_eqe e;

	while (t_eq_get(h, &h->async, &e))
		t_poll(h->w);
}

static void link_faults(struct fixture *f, u32 round)
{
	const u32 kind = round % FAB_FAULT_KINDS;
	const bool timed = kind == FAB_DELAY || kind == FAB_REORDER || kind == FAB_STALL ||
			   kind == FAB_FLAP;
	/* a link that often goes down would be too much for a connection */
	const struct fab_fault fault = {
		.kind = kind, .permille = 50, .seed = 1 + round, .usec = timed ? 50 : 0,
		.count = kind == FAB_FLAP,
	};

	assert_int_equal(fab_fault_arm(f->p.w.fabric, &fault), 0);
	transfers(f, round);
	churn(&f->p.h[1]);
	fab_fault_clear(f->p.w.fabric, NULL, NULL);
}

/* An answer that waits for its time. */
static void late_answer(struct thca *h)
{
	const struct vfault late = {
		.kind = VFAULT_COMMAND, .which = VHCA_CMD_NOP, .count = 1, .delay = 30,
	};
	const struct vhca_asqe nop = { .opcode = VHCA_CMD_NOP };

	assert_int_equal(vdev_fault_add(h->dev, &late), 0);
	t_admin_post(h, &nop);
	t_settle(h->w, SEC);
	assert_int_equal(t_admin_answer(h, NULL), VHCA_ST_OK);
}

static void one_round(struct fixture *f, u32 round)
{
	struct thca guest;

	link_faults(f, round);
	t_hca_init(&guest, &f->p.w, 0xabc00);
	late_answer(&guest);
	churn(&guest);
	t_hca_fini(&guest);
	/* after that, numbers of QPs can be used again */
	f->p.w.now += 10 * SEC;
	t_settle(&f->p.w, SEC);
	for (u32 i = 0; i < 2; i++)
		read_events(&f->p.h[i]);
}

static void rounds(void **state)
{
	struct fixture f;
	u64 begin, warm;

	t_pair_init_regions(&f.p, 1, 2, &f.mr[0], &f.mr[1], 2 * LEN, RW, RW);
	begin = in_use();
	for (u32 n = 0; n < WARM; n++)
		one_round(&f, n);
	warm = in_use();
	assert_in_range(warm - begin, FABRIC_PACKETS * WIRE_MAX_MTU, POOL);
	for (u32 n = WARM; n < ROUNDS; n++) {
		one_round(&f, n);
		if (in_use() != warm)
			fail_msg("round %u: %llu bytes, %llu before", n,
				 (unsigned long long)in_use(), (unsigned long long)warm);
	}
	t_pair_fini(&f.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
