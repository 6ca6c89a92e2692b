// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The device from outside: registers, configurations that are refused, faults
 * that the operator arms, ports without a subnet, captures of whole transfers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/capture.h"
#include "fabric/fabric.h"
#include "tests/tcheck.h"
#include "tests/thca.h"

#define RW	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_REMOTE_READ)

static const struct vdev_config cfg = {
	.name = "r", .node_guid = 0x100, .ports = 1, .vectors = 4, .kick_pages = 16,
};

static void registers(void **state)
{
	static const u32 rw[] = { VHCA_REG_ASQ_LO, VHCA_REG_ASQ_HI, VHCA_REG_ACQ_LO,
				  VHCA_REG_ACQ_HI, VHCA_REG_ADMIN_SIZE, VHCA_REG_ADMIN_VECTOR };
	struct vdev_config odd = cfg;
	struct tworld w;
	struct thca h;

	t_world_init(&w);
	odd.version = 7 << 16 | 3;
	t_hca_bare(&h, &w, &odd);
	assert_int_equal(vdev_reg_read(h.dev, VHCA_REG_VERSION), 7 << 16 | 3);
	t_hca_fini(&h);
	t_hca_bare(&h, &w, &cfg);
	assert_int_equal(vdev_reg_read(h.dev, VHCA_REG_VERSION),
			 VHCA_VERSION_MAJOR << 16 | VHCA_VERSION_MINOR);
	assert_int_equal(vdev_reg_read(h.dev, VHCA_REG_KICK_STRIDE), 4096);
	assert_int_equal(vdev_reg_read(h.dev, VHCA_REG_KICK_PAGES), 16);
	assert_int_equal(vdev_reg_read(h.dev, VHCA_REG_ADMIN_MAX), 12);
	assert_int_equal(vdev_reg_read(h.dev, VHCA_REG_FATAL_CODE), VHCA_FATAL_NONE);
	for (u32 i = 0; i < ARRAY_SIZE(rw); i++) {
		vdev_reg_write(h.dev, rw[i], 0xabcd0000 + i);
		assert_int_equal(vdev_reg_read(h.dev, rw[i]), 0xabcd0000 + i);
		/* an enabled device does not take them over */
		vdev_reg_write(h.dev, VHCA_REG_CONTROL, VHCA_CONTROL_ENABLE);
	}
	assert_int_equal(t_admin(&h, VHCA_CMD_NOP, NULL, 0, NULL), VHCA_ST_OK);
	/* write-only, unknown, unaligned */
	assert_int_equal(vdev_reg_read(h.dev, VHCA_REG_CONTROL), 0);
	assert_int_equal(vdev_reg_read(h.dev, VHCA_REG_ADMIN_TAIL), 0);
	assert_int_equal(vdev_reg_read(h.dev, 0xffc), 0);
	assert_int_equal(vdev_reg_read(h.dev, VHCA_REG_STATUS + 2), 0);
	vdev_reg_write(h.dev, 0xffc, 1);
	vdev_reg_write(h.dev, VHCA_REG_CONTROL + 1, VHCA_CONTROL_RESET);
	assert_int_equal(vdev_reg_read(h.dev, VHCA_REG_STATUS), VHCA_STATUS_READY);
	vdev_kick(h.dev, 15);
	vdev_kick(h.dev, 16);
	t_poll(&w);
	t_hca_fini(&h);
	t_world_fini(&w);
}

#define OWNERS	7u
#define APART	43u

/* Who has a UAR of many, with a doorbell page and a queue pair. */
struct owner {
	u32 uar;
	struct vhca_db_page *db;
	struct tcq cq;
	struct tqp qp;
};

/* The driver rings, and kicks, as this owner from now on. */
static void act_as(struct thca *h, const struct owner *o)
{
	h->uar = o->uar;
	h->db = o->db;
}

static void make_owner(struct thca *h, struct owner *o)
{
	struct vhca_open_uar_req req = {
		.db_page = htole64(t_alloc(h, VHCA_DB_PAGE_SIZE)),
	};

	o->uar = t_create(h, VHCA_CMD_OPEN_UAR, &req, sizeof(req));
	o->db = t_cpu(h, le64toh(req.db_page));
	act_as(h, o);
	h->next_slot = 0;
	t_cq_init(h, &o->cq, 4, 0);
	t_qp_init_size(h, &o->qp, &o->cq, &o->cq, 4, 0, 5, VHCA_QP_SIGNAL_ALL);
	t_connect(&o->qp, &o->qp, 3, 1, 1);
}

/* Owners whose numbers are far apart kick at once, and the device finds each of them. */
static void kicks_far_apart(void **state)
{
	static struct owner owner[OWNERS];
	const struct twr nop = { .opcode = VHCA_OP_NOP };
	struct tworld w;
	struct thca h;
	u32 kicks;

	t_world_init(&w);
	t_hca_init(&h, &w, 0x1000);
	for (u32 i = 0; i < OWNERS * APART; i++) {
		struct owner other;

		make_owner(&h, i % APART ? &other : &owner[i / APART]);
	}
	t_poll(&w);
	kicks = h.kicks;
	for (u32 i = 0; i < OWNERS; i++) {
		act_as(&h, &owner[i]);
		t_post(&owner[i].qp, &nop);
		t_ring_sq(&owner[i].qp);
	}
	assert_int_equal(h.kicks - kicks, OWNERS);
	t_poll(&w);
	for (u32 i = 0; i < OWNERS; i++) {
		struct vhca_cqe e;

		assert_true(t_cq_poll(&owner[i].cq, &e));
		assert_int_equal(e.status, VHCA_CS_SUCCESS);
	}
	t_hca_fini(&h);
	t_world_fini(&w);
}

/*
 * Other threads change ports while the engine sleeps.  Times of the consequences, such as a trap
 * that is repeated, count from then, and not from when the engine fell asleep.
 */
static void changes_while_asleep(void **state)
{
	struct port_addrs addrs;
	struct tworld w;
	struct thca h;

	t_world_init(&w);
	t_hca_init(&h, &w, 0x1000);
	t_poll(&w);
	vdev_addrs(h.dev, 1, &addrs);
	addrs.lid = 77;
	for (u32 i = 0; i < 4; i++) {
		w.now += 1000000000;
		switch (i) {
		case 0:
		case 1:
			assert_int_equal(vdev_set_link(h.dev, 1, i), 0);
			break;
		case 2:
			assert_null(vdev_set_addrs(h.dev, 1, &addrs, false));
			break;
		default:
			vdev_reset(h.dev);
		}
		assert_int_equal(fab_now(w.fabric), w.now);
	}
	t_hca_fini(&h);
	t_world_fini(&w);
}

static void bad_configurations(void **state)
{
	static const struct vdev_host_ops ops;
	struct vdev_config bad[15];
	struct guest_mem *m = gmem_new();
	struct tworld w;
	u32 n = 0;

	for (u32 i = 0; i < ARRAY_SIZE(bad); i++)
		bad[i] = cfg;
	bad[n++].ports = 0;
	bad[n++].ports = VDEV_MAX_PORTS + 1;
	bad[n++].vectors = 0;
	bad[n++].vectors = VDEV_MAX_VECTORS + 1;
	bad[n++].kick_pages = 3;
	bad[n++].kick_pages = 2 * VDEV_MAX_KICK_PAGES;
	bad[n++].max_mtu = 6;
	/* a UAR has a kick page of its own */
	bad[n++].limit[VLIM_UARS] = 17;
	bad[n++].limit[VLIM_QPS] = (128 << 10) + 1;
	bad[n++].limit[VLIM_CQS] = (128 << 10) + 1;
	bad[n++].limit[VLIM_SRQS] = (64 << 10) + 1;
	bad[n++].limit[VLIM_MKEYS] = (1 << 20) + 1;
	bad[n++].limit[VLIM_PDS] = (64 << 10) + 1;
	bad[n++].limit[VLIM_XRCDS] = (64 << 10) + 1;
	bad[n++].limit[VLIM_EQS] = 257;
	assert_int_equal(n, ARRAY_SIZE(bad));
	t_world_init(&w);
	for (u32 i = 0; i < n; i++)
		assert_null(vdev_new(w.engine, &bad[i], m, &ops, NULL));
	vdev_free(NULL);
	gmem_free(m);
	t_world_fini(&w);
}

/* The operator stops a device in mid-transfer: its peer times out. */
static void injected_fault(void **state)
{
	struct tpair p;
	struct tmr l, r;
	struct twr wr;

	t_pair_init(&p, 3, 1, 2);
	t_mr_init(&p.h[0], &l, 0, 4096, RW, 0, 12);
	t_mr_init(&p.h[1], &r, 0, 4096, RW, 0, 12);
	vdev_inject_fatal(p.h[1].dev);
	assert_int_equal(vdev_reg_read(p.h[1].dev, VHCA_REG_STATUS),
			 VHCA_STATUS_READY | VHCA_STATUS_FATAL);
	assert_int_equal(vdev_reg_read(p.h[1].dev, VHCA_REG_FATAL_CODE), VHCA_FATAL_INJECTED);
	t_expect_event(&p.h[1], VHCA_EV_DEVICE_FATAL, 0);
	wr = t_wr(VHCA_OP_WRITE, 1, &l, 0, 4096, &r, 0);
	t_send(&p.qp[0], &wr);
	t_settle(&p.w, 10000000000);
	t_expect_cqe(&p.cq[0], 1, VHCA_CS_RETRY_EXC_ERR);
	/* a kick to a failed device does not keep the engine awake */
	t_ring(&p.h[1], p.qp[1].slot, 1);
	t_poll(&p.w);
	assert_true(p.w.next == ENGINE_NEVER);
	t_pair_fini(&p);
}

static void no_subnet(void **state)
{
	const struct engine_clock clock = engine_clock_monotonic;
	struct vhca_port_req req = { .port = 1 };
	struct vhca_port_attr a;
	struct tworld w = { 0 };
	struct thca h;

	w.fabric = fabric_new();
	w.engine = engine_new(&clock, w.fabric);
	t_hca_bare(&h, &w, &cfg);
	assert_int_equal(t_admin_out(&h, VHCA_CMD_QUERY_PORT, &req, sizeof(req), &a, sizeof(a)), 0);
	assert_int_equal(a.state, PORT_INIT);
	assert_int_equal(a.phys_state, PORT_PHYS_LINKUP);
	assert_int_equal(a.lid, 0);
	assert_int_equal(a.sm_lid, 0);
	t_hca_fini(&h);
	t_world_fini(&w);
}

/* LIDs are given in order, and are free again when a device is removed. */
static void lids(void **state)
{
	struct vdev_config two = cfg;
	struct vdev_status st;
	struct tworld w;
	struct thca h[3];

	t_world_init(&w);
	two.ports = 2;
	for (u32 i = 0; i < 3; i++) {
		t_hca_bare(&h[i], &w, &two);
		vdev_status(h[i].dev, &st);
		assert_int_equal(st.port[0].lid, 2 * i + 1);
		assert_int_equal(st.port[1].lid, 2 * i + 2);
	}
	t_hca_fini(&h[1]);
	t_hca_bare(&h[1], &w, &two);
	vdev_status(h[1].dev, &st);
	assert_int_equal(st.port[1].lid, 4);
	for (u32 i = 0; i < 3; i++)
		t_hca_fini(&h[i]);
	t_world_fini(&w);
}

/* The capture of a transfer is complete, and has the payload that was sent. */
static void capture(void **state)
{
	char file[] = "/tmp/vhcad-test-XXXXXX";
	struct tworld *w;
	struct tpair p;
	struct capture *c;
	struct tmr l, r;
	struct twr wr;
	u8 *data;
	long size;
	FILE *f;

	close(mkstemp(file));
	c = capture_open(file);
	assert_non_null(c);
	w = &p.w;
	t_world_init(w);
	fabric_set_capture(w->fabric, c);
	for (u32 i = 0; i < 2; i++) {
		t_hca_init(&p.h[i], w, 16 * i);
		t_cq_init(&p.h[i], &p.cq[i], 5, 0);
		t_qp_init(&p.h[i], &p.qp[i], &p.cq[i], &p.cq[i]);
	}
	t_connect(&p.qp[0], &p.qp[1], 3, 1, 2);
	t_mr_init(&p.h[0], &l, 0, 5000, RW, 1, 12);
	t_mr_init(&p.h[1], &r, 0, 5000, RW, 1, 12);
	t_mr_fill(&l, 1);
	wr = t_wr(VHCA_OP_WRITE, 1, &l, 0, 5000, &r, 0);
	t_send(&p.qp[0], &wr);
	t_expect_cqe(&p.cq[0], 1, VHCA_CS_SUCCESS);
	wr = t_wr(VHCA_OP_READ, 2, &l, 0, 3000, &r, 0);
	t_send(&p.qp[0], &wr);
	t_expect_cqe(&p.cq[0], 2, VHCA_CS_SUCCESS);
	/* the engine is idle: what it sent can be read by now */
	assert_int_equal(t_capcheck(file), 0);
	t_pair_fini(&p);
	assert_int_equal(capture_close(c), 0);
	assert_int_equal(t_capcheck(file), 0);

	f = fopen(file, "r");
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	rewind(f);
	data = malloc(size);
	assert_int_equal(fread(data, 1, size, f), size);
	fclose(f);
	{
		u8 first[256], last[256];

		for (u32 i = 0; i < 256; i++) {
			first[i] = t_pattern(1, i);
			last[i] = t_pattern(1, 5000 - 256 + i);
		}
		assert_non_null(memmem(data, size, first, sizeof(first)));
		assert_non_null(memmem(data, size, last, sizeof(last)));
	}
	free(data);
	unlink(file);
}

/* A sender whose memory fails while it is recorded: no partial packet is written. */
static void capture_of_a_fault(void **state)
{
	char file[] = "/tmp/vhcad-test-XXXXXX";
	struct tpair p;
	struct capture *c;
	struct tmr r;
	struct twr wr;
	struct vhca_create_mkey_req req = { .type = VHCA_MKEY_PHYSICAL };

	close(mkstemp(file));
	c = capture_open(file);
	t_world_init(&p.w);
	fabric_set_capture(p.w.fabric, c);
	for (u32 i = 0; i < 2; i++) {
		t_hca_init(&p.h[i], &p.w, 16 * i);
		t_cq_init(&p.h[i], &p.cq[i], 5, 0);
		t_qp_init(&p.h[i], &p.qp[i], &p.cq[i], &p.cq[i]);
	}
	t_connect(&p.qp[0], &p.qp[1], 3, 1, 2);
	t_mr_init(&p.h[1], &r, 0, 5000, RW, 1, 12);
	req.pdn = htole32(p.h[0].pd);
	wr = t_wr(VHCA_OP_WRITE, 1, NULL, 0, 0, &r, 0);
	wr.nsge = 1;
	/* the first two packets are there, the others are behind the end of memory */
	wr.sge[0] = (struct vhca_sge){
		T_RAM_BASE + p.h[0].ram_size - 2048, 5000,
		t_create(&p.h[0], VHCA_CMD_CREATE_MKEY, &req, sizeof(req)),
	};
	t_send(&p.qp[0], &wr);
	t_expect_cqe(&p.cq[0], 1, VHCA_CS_LOC_PROT_ERR);
	assert_int_equal(t_state(&p.qp[1]), T_RTS);
	t_pair_fini(&p);
	assert_int_equal(capture_close(c), 0);
	assert_int_equal(t_capcheck(file), 0);
	unlink(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers),
		cmocka_unit_test(kicks_far_apart),
		cmocka_unit_test(changes_while_asleep),
		cmocka_unit_test(bad_configurations),
		cmocka_unit_test(injected_fault),
		cmocka_unit_test(no_subnet),
		cmocka_unit_test(lids),
		cmocka_unit_test(capture),
		cmocka_unit_test(capture_of_a_fault),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
