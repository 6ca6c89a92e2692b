// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Adapters in a fabric of several switches: attributes of their links, connections over them, and
 * the effect of links that go down.
 */
#include <string.h>

#include "dev/device.h"
#include "fabric/topo.h"
#include "tests/thca.h"
#include "tests/ttopo.h"

#define RW	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE)
#define SEC	1000000000ull
#define MSEC	1000000ull
#define LEN	(256u << 10)

static const struct t_link row[] = {
	{ "a-t0:1", "4X EDR", 1000, 8 }, { "a-b", "4X SDR", 5000, 8 },
	{ "b-t1:1", "2X HDR", 1000, 8 },
	{ "a-t2:1", "4X EDR", 1000, 8 }, { "b-t3:1", "1X FDR10", 1000, 8 }, { 0 },
};

#define DEVS	4u

struct fixture {
	struct tworld w;
	struct thca h[DEVS];
	struct tcq cq[DEVS];
	struct tqp qp[DEVS];
	struct tmr mr[DEVS];
};

/* 0 is connected with 1 and 2 with 3, all over the link between the switches. */
static void setup(struct fixture *f)
{
	static const char *const names[DEVS] = { "t0", "t1", "t2", "t3" };

	memset(f, 0, sizeof(*f));
	t_world_init(&f->w);
	fabric_set_topology(f->w.fabric, t_topo("ab", TOPO_HOQ_USUAL, row));
	for (u32 i = 0; i < DEVS; i++) {
		const struct vdev_config cfg = {
			.name = names[i], .node_guid = 0x1000 * (i + 1), .ports = 1, .vectors = 4,
		};

		t_hca_init_cfg(&f->h[i], &f->w, &cfg);
		t_cq_init(&f->h[i], &f->cq[i], 6, 0);
		t_qp_init(&f->h[i], &f->qp[i], &f->cq[i], &f->cq[i]);
		t_mr_init(&f->h[i], &f->mr[i], 1ull << 40, LEN, RW, 1, 12);
	}
	for (u32 i = 0; i < DEVS; i += 2) {
		t_connect(&f->qp[i], &f->qp[i + 1], 5, 100, 200);
		t_allow(&f->qp[i + 1], VHCA_ACCESS_REMOTE_WRITE);
		t_mr_fill(&f->mr[i], 7 + i);
	}
}

static void done(struct fixture *f)
{
	for (u32 i = 0; i < DEVS; i++)
		t_hca_fini(&f->h[i]);
	t_world_fini(&f->w);
}

static void write_all(struct fixture *f, u32 from, u64 wr_id)
{
	struct twr wr = t_wr(VHCA_OP_WRITE, wr_id, &f->mr[from], 0, LEN, &f->mr[from + 1], 0);

	t_send(&f->qp[from], &wr);
}

/* A port reports the rate of its own link, which may change. */
static void port_speed(void **state)
{
	static const struct { u8 width; u16 speed; } have[DEVS] = {
		{ 2, 32 }, { 16, 64 }, { 2, 32 }, { 1, 8 },
	};
	const struct vhca_port_req req = { .port = 1 };
	struct vhca_port_attr attr;
	struct fab_rate ndr;
	struct fixture f;
	struct fabric *fab;

	setup(&f);
	for (u32 i = 0; i < DEVS; i++) {
		assert_int_equal(t_admin_out(&f.h[i], VHCA_CMD_QUERY_PORT, &req, sizeof(req),
					     &attr, sizeof(attr)), VHCA_ST_OK);
		assert_int_equal(attr.active_width, have[i].width);
		assert_int_equal(le16toh(attr.active_speed), have[i].speed);
	}
	assert_true(fab_rate_parse("12X NDR", &ndr));
	fab = vdev_fabric_lock(f.h[3].dev);
	fab_link_rate(fab, vdev_fabric_link(f.h[3].dev, 1), &ndr);
	vdev_fabric_unlock(f.h[3].dev);
	assert_int_equal(t_admin_out(&f.h[3], VHCA_CMD_QUERY_PORT, &req, sizeof(req), &attr,
				     sizeof(attr)), VHCA_ST_OK);
	assert_int_equal(attr.active_width, 8);
	assert_int_equal(le16toh(attr.active_speed), 128);
	done(&f);
}

/* Much more than the queues hold arrives, whole, at the rate of the slowest link; shared fairly. */
static void at_its_rate(void **state)
{
	struct fixture f;
	u64 t0, took[3] = { 0 };

	setup(&f);
	t0 = f.w.now;
	write_all(&f, 0, 1);
	t_settle(&f.w, SEC);
	took[0] = f.w.now - t0;
	t_expect_cqe(&f.cq[0], 1, VHCA_CS_SUCCESS);
	t_mr_expect(&f.mr[1], 0, LEN, 7, 0);
	/* 1 ns a byte, plus headers and the way there and back */
	assert_in_range(took[0], LEN, LEN + LEN / 64 + 40000);

	t0 = f.w.now;
	write_all(&f, 0, 2);
	write_all(&f, 2, 3);
	t_settle(&f.w, SEC);
	took[1] = f.w.now - t0;
	t_expect_cqe(&f.cq[0], 2, VHCA_CS_SUCCESS);
	t_expect_cqe(&f.cq[2], 3, VHCA_CS_SUCCESS);
	t_mr_expect(&f.mr[3], 0, LEN, 9, 0);
	assert_in_range(took[1], 2 * LEN, 2 * LEN + 2 * LEN / 64 + 40000);
	/* nothing was sent twice */
	for (u32 i = 0; i < DEVS; i++) {
		struct vport_stats s = t_stats(&f.h[i]);

		assert_int_equal(s.timeouts + s.duplicates + s.seq_naks_sent, 0);
	}
	done(&f);
}

/* Any number of QPs can wait for room, and all of them get it. */
static void many_wait(void **state)
{
	enum { QPS = 24 };
	static struct tqp from[QPS], to[QPS];
	struct fixture f;

	setup(&f);
	for (u32 i = 0; i < QPS; i++) {
		struct twr wr = t_wr(VHCA_OP_WRITE, i, &f.mr[0], 8192 * i, 8192, &f.mr[1],
				     8192 * i);

		t_qp_init(&f.h[0], &from[i], &f.cq[0], &f.cq[0]);
		t_qp_init(&f.h[1], &to[i], &f.cq[1], &f.cq[1]);
		t_connect(&from[i], &to[i], 3, 1, 1);
		t_allow(&to[i], VHCA_ACCESS_REMOTE_WRITE);
		t_post(&from[i], &wr);
	}
	for (u32 i = 0; i < QPS; i++)
		t_ring_sq(&from[i]);
	t_settle(&f.w, SEC);
	for (u32 i = 0; i < QPS; i++) {
		struct vhca_cqe e;

		assert_true(t_cq_poll(&f.cq[0], &e));
		assert_int_equal(e.status, VHCA_CS_SUCCESS);
	}
	t_mr_expect(&f.mr[1], 0, 8192 * QPS, 7, 0);
	assert_int_equal(t_stats(&f.h[0]).timeouts, 0);
	done(&f);
}

/* The link between the switches goes down: the connection fails, when its retries are used up. */
static void gone_and_back(void **state)
{
	struct fixture f;
	struct fabric *fab;
	u32 n;

	setup(&f);
	n = fab_link_find(f.w.fabric, "a-b");
	write_all(&f, 0, 1);
	/* in the middle of it */
	for (u64 until = f.w.now + LEN / 2; f.w.now < until; )
		assert_true(t_advance(&f.w));
	fab = vdev_fabric_lock(f.h[0].dev);
	fab_link_up(fab, n, false);
	vdev_fabric_unlock(f.h[0].dev);
	t_expect_no_cqe(&f.cq[0]);
	t_settle(&f.w, 100 * SEC);
	t_expect_cqe(&f.cq[0], 1, VHCA_CS_RETRY_EXC_ERR);
	assert_int_equal(t_state(&f.qp[0]), T_ERR);
	/* ports have no event for it */
	t_expect_no_event(&f.h[1]);

	/* up again in time: the only effect is the time it took */
	write_all(&f, 2, 2);
	t_settle(&f.w, 10 * MSEC);
	t_expect_no_cqe(&f.cq[2]);
	fab = vdev_fabric_lock(f.h[0].dev);
	fab_link_up(fab, n, true);
	vdev_fabric_unlock(f.h[0].dev);
	t_settle(&f.w, 100 * SEC);
	t_expect_cqe(&f.cq[2], 2, VHCA_CS_SUCCESS);
	t_mr_expect(&f.mr[3], 0, LEN, 9, 0);
	assert_true(t_stats(&f.h[2]).timeouts > 0);
	done(&f);
}

/* What a port sends to itself takes no link. */
static void to_itself(void **state)
{
	struct fixture f;
	struct tqp qp[2];
	struct twr wr;
	u64 t0;

	setup(&f);
	for (u32 i = 0; i < 2; i++)
		t_qp_init(&f.h[0], &qp[i], &f.cq[0], &f.cq[0]);
	t_connect(&qp[0], &qp[1], 5, 1, 1);
	t_allow(&qp[1], VHCA_ACCESS_REMOTE_WRITE);
	t0 = f.w.now;
	wr = t_wr(VHCA_OP_WRITE, 1, &f.mr[0], 0, LEN / 2, &f.mr[0], LEN / 2);
	t_send(&qp[0], &wr);
	t_expect_cqe(&f.cq[0], 1, VHCA_CS_SUCCESS);
	assert_int_equal(f.w.now, t0);
	t_mr_expect(&f.mr[0], LEN / 2, LEN / 2, 7, 0);
	done(&f);
}

/* An adapter that has no link in the topology cannot be made. */
static void not_there(void **state)
{
	const struct vdev_config cfg = { .name = "t4", .node_guid = 1, .ports = 1, .vectors = 1 };
	const struct vdev_config two = { .name = "t3", .node_guid = 8, .ports = 2, .vectors = 1 };
	struct guest_mem *mem = gmem_new();
	const struct vdev_host_ops none = { 0 };
	struct tworld w;

	t_world_init(&w);
	fabric_set_topology(w.fabric, t_topo("ab", TOPO_HOQ_USUAL, row));
	assert_null(vdev_new(w.engine, &cfg, mem, &none, NULL));
	assert_null(vdev_new(w.engine, &two, mem, &none, NULL));
	t_world_fini(&w);
	gmem_free(mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(port_speed),
		cmocka_unit_test(at_its_rate),
		cmocka_unit_test(many_wait),
		cmocka_unit_test(gone_and_back),
		cmocka_unit_test(to_itself),
		cmocka_unit_test(not_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
