// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Alternate paths: loaded, armed, taken automatically and on request, and events that are no reason
 * to take one.
 */
#include <string.h>

#include "dev/device.h"
#include "fabric/topo.h"
#include "qp/qp.h"
#include "res/dev.h"
#include "tests/tkey.h"
#include "tests/ttopo.h"

#define MSEC	1000000ull
#define SECOND	1000000000ull
#define LEN	5000u
#define LID(dev, port)	(2 * (dev) + (port))	/* of the static subnet */

/* Two devices with two ports each; the first ports are the path, the second ones the other. */
struct fixture {
	struct tworld w;
	struct thca h[2];
	struct tcq cq[2];
	struct tqp qp[2];
	struct tmr mr[2];
	u64 sent;
};

static void connect_qps(struct fixture *f, u8 type)
{
	for (u32 i = 0; i < 2; i++) {
		f->h[i].qp_type = type;
		t_qp_init(&f->h[i], &f->qp[i], &f->cq[i], &f->cq[i]);
	}
	t_connect(&f->qp[0], &f->qp[1], 3, 5, 0xfffffe);
}

static struct fixture fixture;

static void make_objects(struct fixture *f)
{
	for (u32 i = 0; i < 2; i++) {
		t_expect_event(&f->h[i], VHCA_EV_PORT_ACTIVE, 0);
		t_cq_init(&f->h[i], &f->cq[i], 7, 0);
		t_mr_init(&f->h[i], &f->mr[i], 1ull << 40, 8 * LEN, T_RW, 1, 12);
	}
	t_mr_fill(&f->mr[0], 3);
	connect_qps(f, VHCA_QPT_RC);
}

static int setup(void **state)
{
	memset(&fixture, 0, sizeof(fixture));
	t_two_init(&fixture.w, fixture.h, 2);
	make_objects(&fixture);
	*state = &fixture;
	return 0;
}

/* The same behind a switch whose links have room for two packets. */
static int setup_links(void **state)
{
	static const struct t_link row[] = {
		{ "a-t0:1", "4X EDR", 0, 2 }, { "a-t0:2", "4X EDR", 0, 2 },
		{ "a-t1:1", "4X EDR", 0, 2 }, { "a-t1:2", "4X EDR", 0, 2 }, { 0 },
	};

	memset(&fixture, 0, sizeof(fixture));
	t_world_init(&fixture.w);
	fabric_set_topology(fixture.w.fabric, t_topo("a", TOPO_HOQ_USUAL, row));
	for (u32 i = 0; i < 2; i++) {
		const struct vdev_config cfg = {
			.name = i ? "t1" : "t0", .node_guid = 0x1000 * (i + 1), .ports = 2,
			.vectors = 4,
		};

		t_hca_init_cfg(&fixture.h[i], &fixture.w, &cfg);
	}
	make_objects(&fixture);
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	t_two_fini(&f->w, f->h);
	return 0;
}

static struct vhca_qp_attr alternate(u32 dev, u32 port)
{
	return (struct vhca_qp_attr){
		.path_mig_state = MIG_REARM, .alt_port = port, .alt_timeout = 10,
		.alt_av = { .port = port, .dlid = htole16(LID(!dev, port)) },
	};
}

#define LOAD	(VHCA_QPA_ALT_PATH | VHCA_QPA_PATH_MIG_STATE)

static void load(struct fixture *f, u32 dev, u32 port)
{
	const struct vhca_qp_attr a = alternate(dev, port);

	assert_int_equal(t_modify(&f->qp[dev], &a, LOAD), VHCA_ST_OK);
}

static struct vhca_qp_attr query(struct fixture *f, u32 dev)
{
	struct vhca_object_req req = { .handle = htole32(f->qp[dev].qpn) };
	struct vhca_qp_attr a;

	assert_int_equal(t_admin_out(&f->h[dev], VHCA_CMD_QUERY_QP, &req, sizeof(req), &a,
				     sizeof(a)), VHCA_ST_OK);
	return a;
}

/* A message from a device to the other one; it completes, and its data is in place. */
static void write_from(struct fixture *f, u32 dev, u32 place)
{
	struct twr wr = t_wr(VHCA_OP_WRITE, ++f->sent, &f->mr[dev], place * LEN, LEN,
			     &f->mr[!dev], place * LEN);

	t_send(&f->qp[dev], &wr);
	t_settle(&f->w, 60 * SECOND);
	t_expect_cqe(&f->cq[dev], f->sent, VHCA_CS_SUCCESS);
	t_mr_expect(&f->mr[!dev], place * LEN, LEN, 3, place * LEN);
}

static void arm_both(struct fixture *f, u32 port)
{
	for (u32 i = 0; i < 2; i++)
		load(f, i, port);
	write_from(f, 0, 0);
	write_from(f, 0, 1);
	for (u32 i = 0; i < 2; i++)
		assert_int_equal(query(f, i).path_mig_state, MIG_ARMED);
}

static void migrated(struct fixture *f, u32 dev, u32 port)
{
	struct vhca_qp_attr a = query(f, dev);

	assert_int_equal(a.path_mig_state, MIG_MIGRATED);
	assert_int_equal(a.state, T_RTS);
	assert_int_equal(a.port, port);
	assert_int_equal(le16toh(a.av.dlid), LID(!dev, port));
	assert_int_equal(a.timeout, 10);
	assert_int_equal(a.alt_port, 0);
}

/* Packets sent through a port since the last call. */
static u64 through(struct fixture *f, u32 dev, u32 port)
{
	static u64 before[2][2];
	struct vdev_status st;
	u64 n;

	vdev_status(f->h[dev].dev, &st);
	n = st.port[port - 1].stats.tx_packets - before[dev][port - 1];
	before[dev][port - 1] += n;
	return n;
}

/* The MigReq bit on the wire. */
static void armed(void **state)
{
	struct fixture *f = *state;
	struct tseen seen = { .n = 0 };

	assert_int_equal(fab_set_packet_hook(f->w.fabric, t_watch, &seen), 0);
	write_from(f, 0, 0);
	load(f, 0, 2);
	assert_int_equal(query(f, 0).path_mig_state, MIG_REARM);
	assert_int_equal(query(f, 0).alt_port, 2);
	for (u32 i = 0; i < seen.n; i++)
		assert_true(seen.h[i].mig);
	seen.n = 0;
	/* one end alone does not become armed: the other one says that it is migrated */
	write_from(f, 0, 1);
	for (u32 i = 0; i < seen.n; i++)
		assert_int_equal(seen.h[i].mig, seen.h[i].slid == LID(1, 1));
	assert_int_equal(query(f, 0).path_mig_state, MIG_REARM);
	load(f, 1, 2);
	seen.n = 0;
	write_from(f, 0, 2);
	for (u32 i = 0; i < seen.n; i++)
		assert_false(seen.h[i].mig);
	for (u32 i = 0; i < 2; i++) {
		assert_int_equal(query(f, i).path_mig_state, MIG_ARMED);
		t_expect_no_event(&f->h[i]);
	}
	assert_int_equal(fab_set_packet_hook(f->w.fabric, NULL, NULL), 0);
}

/* The cable is pulled: the message arrives all the same, and both ends get the event. */
static void automatic(void **state)
{
	struct fixture *f = *state;

	arm_both(f, 2);
	port_set_cable(&f->h[1].dev->port[0].fab.ib, false);
	t_expect_event(&f->h[1], VHCA_EV_PORT_ERR, 0);
	through(f, 0, 2);
	write_from(f, 0, 2);
	assert_true(through(f, 0, 2) >= LEN / 1024);
	for (u32 i = 0; i < 2; i++) {
		t_expect_event(&f->h[i], VHCA_EV_PATH_MIG, f->qp[i].qpn);
		t_expect_no_event(&f->h[i]);
		migrated(f, i, 2);
	}
	write_from(f, 0, 3);
	/* and back again, by the same way */
	port_set_cable(&f->h[1].dev->port[0].fab.ib, true);
	t_expect_event(&f->h[1], VHCA_EV_PORT_ACTIVE, 0);
	arm_both(f, 1);
	port_set_cable(&f->h[0].dev->port[1].fab.ib, false);
	t_expect_event(&f->h[0], VHCA_EV_PORT_ERR, 0);
	write_from(f, 0, 4);
	for (u32 i = 0; i < 2; i++) {
		t_expect_event(&f->h[i], VHCA_EV_PATH_MIG, f->qp[i].qpn);
		migrated(f, i, 1);
	}
}

/*
 * Both ends send along a path that has failed. The later one has used up its retries when it sees
 * the peer migrate, and has as many again on the new path.
 */
static void both_send(void **state)
{
	struct fixture *f = *state;
	struct twr wr[2];

	arm_both(f, 2);
	port_set_cable(&f->h[1].dev->port[0].fab.ib, false);
	t_expect_event(&f->h[1], VHCA_EV_PORT_ERR, 0);
	for (u32 i = 0; i < 2; i++) {
		wr[i] = t_wr(VHCA_OP_WRITE, 70 + i, &f->mr[i], 0, LEN, &f->mr[!i], LEN);
		t_send(&f->qp[i], &wr[i]);
		t_poll(&f->w);
		/* the other one is half a time-out behind */
		f->w.now += 30000000;
	}
	t_settle(&f->w, 60 * SECOND);
	for (u32 i = 0; i < 2; i++) {
		t_expect_cqe(&f->cq[i], 70 + i, VHCA_CS_SUCCESS);
		t_expect_event(&f->h[i], VHCA_EV_PATH_MIG, f->qp[i].qpn);
		migrated(f, i, 2);
	}
}

/* Without an armed path the connection fails after its retries. */
static void not_armed(void **state)
{
	struct fixture *f = *state;
	struct twr wr = t_wr(VHCA_OP_WRITE, 77, &f->mr[0], 0, LEN, &f->mr[1], 0);

	load(f, 0, 2);
	port_set_cable(&f->h[1].dev->port[0].fab.ib, false);
	t_send(&f->qp[0], &wr);
	t_settle(&f->w, 60 * SECOND);
	t_expect_cqe(&f->cq[0], 77, VHCA_CS_RETRY_EXC_ERR);
	t_expect_no_event(&f->h[0]);
}

/* The new path does not work either: it has its own retries, and then the connection fails. */
static void both_gone(void **state)
{
	struct fixture *f = *state;
	struct twr wr = t_wr(VHCA_OP_WRITE, 77, &f->mr[0], 0, LEN, &f->mr[1], 0);
	u64 before;

	arm_both(f, 2);
	before = t_stats(&f->h[0]).timeouts;
	for (u32 p = 0; p < 2; p++)
		port_set_cable(&f->h[1].dev->port[p].fab.ib, false);
	t_send(&f->qp[0], &wr);
	t_settle(&f->w, 60 * SECOND);
	t_expect_cqe(&f->cq[0], 77, VHCA_CS_RETRY_EXC_ERR);
	t_expect_event(&f->h[0], VHCA_EV_PATH_MIG, f->qp[0].qpn);
	assert_int_equal(t_stats(&f->h[0]).timeouts - before, 7);
	assert_int_equal(t_state(&f->qp[0]), T_ERR);
}

/* On request: the peer follows with the next packet, and only the peer gets an event. */
static void forced(void **state)
{
	static const u8 types[] = { VHCA_QPT_RC, VHCA_QPT_UC };
	const struct vhca_qp_attr go = { .path_mig_state = MIG_MIGRATED };
	struct fixture *f = *state;

	for (u32 i = 0; i < ARRAY_SIZE(types); i++) {
		connect_qps(f, types[i]);
		for (u32 k = 0; k < 2; k++)
			load(f, k, 2);
		/* unreliable connections have no acknowledgments to learn of it */
		write_from(f, 0, 2 * i);
		f->sent += 100;
		if (types[i] == VHCA_QPT_RC)
			write_from(f, 0, 2 * i + 1);
		else
			t_vqp(&f->qp[0])->mig = MIG_ARMED;
		assert_int_equal(query(f, 1).path_mig_state, MIG_ARMED);
		assert_int_equal(t_modify(&f->qp[0], &go, VHCA_QPA_PATH_MIG_STATE), VHCA_ST_OK);
		t_expect_no_event(&f->h[0]);
		t_expect_no_event(&f->h[1]);
		write_from(f, 0, 4 + i);
		t_expect_no_event(&f->h[0]);
		t_expect_event(&f->h[1], VHCA_EV_PATH_MIG, f->qp[1].qpn);
		for (u32 k = 0; k < 2; k++)
			assert_int_equal(query(f, k).port, 2);
	}
	/* a QP in rearm is not any more */
	load(f, 0, 1);
	assert_int_equal(t_modify(&f->qp[0], &go, VHCA_QPA_PATH_MIG_STATE), VHCA_ST_OK);
	assert_int_equal(query(f, 0).path_mig_state, MIG_MIGRATED);
	assert_int_equal(query(f, 0).port, 2);
}

/*
 * A packet gets lost on a path without a timeout.  From the migration on the alternate path's
 * timeout holds, whichever end has begun it, and so the packet is sent again.
 */
static void lost_without_timeout(struct fixture *f, u32 mover)
{
	const struct vhca_qp_attr go = { .path_mig_state = MIG_MIGRATED }, none = { 0 };
	struct twr wr = t_wr(VHCA_OP_WRITE, 77, &f->mr[0], 2 * LEN, 100, &f->mr[1], 2 * LEN);
	struct tnth lost = { .victim = 0 };

	arm_both(f, 2);
	assert_int_equal(t_to(&f->qp[0], T_SQD), VHCA_ST_OK);
	assert_int_equal(t_modify(&f->qp[0], &none, VHCA_QPA_TIMEOUT), VHCA_ST_OK);
	assert_int_equal(t_to(&f->qp[0], T_RTS), VHCA_ST_OK);
	assert_int_equal(fab_set_packet_hook(f->w.fabric, t_nth_hook, &lost), 0);
	t_send(&f->qp[0], &wr);
	assert_false(t_advance(&f->w));
	assert_int_equal(t_modify(&f->qp[mover], &go, VHCA_QPA_PATH_MIG_STATE), VHCA_ST_OK);
	if (mover)
		write_from(f, mover, 3);
	t_settle(&f->w, SECOND);
	t_expect_cqe(&f->cq[0], 77, VHCA_CS_SUCCESS);
	t_mr_expect(&f->mr[1], 2 * LEN, 100, 3, 2 * LEN);
	migrated(f, 0, 2);
	assert_int_equal(fab_set_packet_hook(f->w.fabric, NULL, NULL), 0);
}

static void timeout_when_forced(void **state)
{
	lost_without_timeout(*state, 0);
}

static void timeout_when_followed(void **state)
{
	t_mr_fill(&fixture.mr[1], 3);
	lost_without_timeout(*state, 1);
}

static void go_to(struct fixture *f, u32 port, u32 place)
{
	const struct vhca_qp_attr go = { .path_mig_state = MIG_MIGRATED };

	assert_int_equal(t_modify(&f->qp[0], &go, VHCA_QPA_PATH_MIG_STATE), VHCA_ST_OK);
	write_from(f, 0, place);
	for (u32 i = 0; i < 2; i++)
		migrated(f, i, port);
	t_expect_event(&f->h[1], VHCA_EV_PATH_MIG, f->qp[1].qpn);
	t_expect_no_event(&f->h[0]);
	t_expect_no_event(&f->h[1]);
}

/*
 * An armed QP is to arm again while its peer migrates.  If the peer's packet comes after that, the
 * QP follows all the same; if it came before, the QP arms for the way back.
 */
static void rearmed_meanwhile(void **state)
{
	struct fixture *f = *state;

	arm_both(f, 2);
	load(f, 1, 2);
	go_to(f, 2, 2);

	for (u32 i = 0; i < 2; i++)
		load(f, i, 1);
	write_from(f, 0, 3);
	write_from(f, 0, 4);
	go_to(f, 1, 5);
	load(f, 1, 2);
	assert_int_equal(query(f, 1).path_mig_state, MIG_REARM);
	/* the peer is migrated, and its packets say so */
	write_from(f, 0, 6);
	assert_int_equal(query(f, 1).path_mig_state, MIG_REARM);
	load(f, 0, 2);
	write_from(f, 0, 7);
	write_from(f, 0, 7);
	for (u32 i = 0; i < 2; i++)
		assert_int_equal(query(f, i).path_mig_state, MIG_ARMED);
}

/* A counter counts for one port, and does not follow its QP to another one. */
static void counted(void **state)
{
	const struct vhca_qp_attr go = { .path_mig_state = MIG_MIGRATED };
	const struct vhca_create_counter_req make = { .port = 1 };
	struct vhca_bind_counter_req bind = { 0 };
	struct fixture *f = *state;
	struct vport *p = f->h[0].dev->port;
	u64 before;

	bind.qpn = htole32(f->qp[0].qpn);
	bind.counter = htole32(t_create(&f->h[0], VHCA_CMD_CREATE_COUNTER, &make, sizeof(make)));
	assert_int_equal(t_admin(&f->h[0], VHCA_CMD_BIND_COUNTER, &bind, sizeof(bind), NULL),
			 VHCA_ST_OK);
	arm_both(f, 2);
	before = p[0].counted.tx_packets;
	assert_true(before >= 2 * LEN / 1024);
	assert_int_equal(t_modify(&f->qp[0], &go, VHCA_QPA_PATH_MIG_STATE), VHCA_ST_OK);
	write_from(f, 0, 2);
	migrated(f, 0, 2);
	assert_int_equal(p[0].counted.tx_packets, before);
	assert_int_equal(p[1].counted.tx_packets, 0);
	/* and back */
	arm_both(f, 1);
	assert_int_equal(t_modify(&f->qp[0], &go, VHCA_QPA_PATH_MIG_STATE), VHCA_ST_OK);
	write_from(f, 0, 3);
	assert_true(p[0].counted.tx_packets >= before + LEN / 1024);
	assert_int_equal(p[1].counted.tx_packets, 0);
}

/* A QP that waits for room at the old port must not wait on after migrating. */
static void waiting_for_room(void **state)
{
	const struct vhca_qp_attr go = { .path_mig_state = MIG_MIGRATED };
	struct fixture *f = *state;
	struct vhca_dev *dev = f->h[0].dev;
	struct twr wr = t_wr(VHCA_OP_WRITE, 99, &f->mr[0], 5 * LEN, LEN, &f->mr[1], 5 * LEN);

	arm_both(f, 2);
	fab_link_latency(vdev_fabric_lock(dev), vdev_fabric_link(dev, 1), SECOND);
	vdev_fabric_unlock(dev);
	t_send(&f->qp[0], &wr);
	t_settle(&f->w, MSEC);
	assert_false(list_empty(&dev->port[0].no_room));
	assert_int_equal(t_modify(&f->qp[0], &go, VHCA_QPA_PATH_MIG_STATE), VHCA_ST_OK);
	t_settle(&f->w, SECOND / 2);
	t_expect_cqe(&f->cq[0], 99, VHCA_CS_SUCCESS);
	t_expect_event(&f->h[1], VHCA_EV_PATH_MIG, f->qp[1].qpn);
	t_mr_expect(&f->mr[1], 5 * LEN, LEN, 3, 5 * LEN);
}

/* Takes a QP that is in SQD to another port, without automatic migration. */
static void move(struct fixture *f, u32 dev, u32 port)
{
	const struct vhca_qp_attr a = {
		.port = port, .av = { .port = port, .dlid = htole16(LID(!dev, port)) },
	};

	assert_int_equal(t_modify(&f->qp[dev], &a, VHCA_QPA_PORT | VHCA_QPA_AV), VHCA_ST_OK);
	assert_int_equal(query(f, dev).port, port);
}

/* A connection that was drained goes on at other ports, whatever happens to the old ones. */
static void moved(void **state)
{
	struct fixture *f = *state;

	write_from(f, 0, 0);
	for (u32 i = 0; i < 2; i++) {
		assert_int_equal(t_to(&f->qp[i], T_SQD), VHCA_ST_OK);
		move(f, i, 2);
		assert_int_equal(t_to(&f->qp[i], T_RTS), VHCA_ST_OK);
	}
	assert_int_equal(vdev_set_link(f->h[0].dev, 1, false), 0);
	write_from(f, 0, 1);
	t_mr_fill(&f->mr[1], 3);
	write_from(f, 1, 2);
}

/* The same in the middle of a message that waited for room at the old port. */
static void moved_while_waiting(void **state)
{
	struct fixture *f = *state;
	struct vhca_dev *dev = f->h[0].dev;
	struct twr wr = t_wr(VHCA_OP_WRITE, 99, &f->mr[0], 5 * LEN, LEN, &f->mr[1], 5 * LEN);

	fab_link_latency(vdev_fabric_lock(dev), vdev_fabric_link(dev, 1), SECOND);
	vdev_fabric_unlock(dev);
	t_send(&f->qp[0], &wr);
	t_settle(&f->w, MSEC);
	assert_false(list_empty(&dev->port[0].no_room));
	for (u32 i = 0; i < 2; i++) {
		assert_int_equal(t_to(&f->qp[i], T_SQD), VHCA_ST_OK);
		move(f, i, 2);
		assert_int_equal(t_to(&f->qp[i], T_RTS), VHCA_ST_OK);
	}
	t_settle(&f->w, SECOND / 2);
	t_expect_cqe(&f->cq[0], 99, VHCA_CS_SUCCESS);
	t_mr_expect(&f->mr[1], 5 * LEN, LEN, 3, 5 * LEN);
}

/* A packet with MigReq that comes from another place than the alternate path is ignored. */
static void somewhere_else(void **state)
{
	struct fixture *f = *state;
	struct vqp *to = t_vqp(&f->qp[1]);
	struct wire_hdr h = {
		.dlid = LID(1, 1), .slid = LID(0, 2), .pkey = 0xffff, .mig = true,
		.opcode = OP_RC_SEND_ONLY, .dqpn = f->qp[1].qpn, .psn = to->resp.epsn,
	};
	struct payload pl;
	struct run run;

	arm_both(f, 2);
	/* the port is not that of the alternate path */
	run_from_packet(&run, &pl, &h, NULL, 0);
	fab_send(&f->h[0].dev->port[1].fab, &run);
	t_expect_event(&f->h[1], VHCA_EV_PATH_MIG_ERR, f->qp[1].qpn);
	/* the sender is not either */
	h.slid = LID(0, 1);
	h.dlid = LID(1, 2);
	run_from_packet(&run, &pl, &h, NULL, 0);
	fab_send(&f->h[0].dev->port[0].fab, &run);
	t_expect_event(&f->h[1], VHCA_EV_PATH_MIG_ERR, f->qp[1].qpn);
	/* MigReq is not set */
	h.slid = LID(0, 2);
	h.mig = false;
	run_from_packet(&run, &pl, &h, NULL, 0);
	fab_send(&f->h[0].dev->port[1].fab, &run);
	t_expect_no_event(&f->h[1]);
	assert_int_equal(query(f, 1).path_mig_state, MIG_ARMED);
	assert_int_equal(t_stats(&f->h[1]).rx_no_qp, 1);
	write_from(f, 0, 3);
}

/* Forged packets that seem to come from a peer that has migrated: one event only. */
static void somebody_else(void **state)
{
	struct fixture *f = *state;
	struct thca third;
	struct payload pl;
	struct run run;

	t_hca_init(&third, &f->w, 0x9000);
	for (u32 round = 0; round < 2; round++) {
		arm_both(f, 2);
		for (u32 i = 0; i < 100; i++) {
			struct wire_hdr h = {
				.dlid = LID(1, 1 + i % 2), .slid = t_lid(&third) + i % 3,
				.pkey = 0xffff, .mig = true, .opcode = OP_RC_SEND_ONLY,
				.dqpn = f->qp[1].qpn, .psn = i,
			};

			run_from_packet(&run, &pl, &h, NULL, 0);
			fab_send(&third.dev->port[0].fab, &run);
			if (!i)
				t_expect_event(&f->h[1], VHCA_EV_PATH_MIG_ERR, f->qp[1].qpn);
		}
		t_expect_no_event(&f->h[1]);
		assert_int_equal(query(f, 1).path_mig_state, MIG_ARMED);
	}
	write_from(f, 0, 3);
	t_hca_fini(&third);
}

#define OFF(f)	(offsetof(struct vhca_asqe, req) + offsetof(struct vhca_modify_qp_req, attr.f))

static void refused(void **state)
{
	struct fixture *f = *state;
	static const struct {
		u32 mask;
		u16 field;
		struct vhca_qp_attr a;
	} cases[] = {
		{ VHCA_QPA_PATH_MIG_STATE, OFF(path_mig_state), { .path_mig_state = MIG_REARM } },
		{ LOAD, OFF(path_mig_state), { .path_mig_state = MIG_ARMED, .alt_port = 1 } },
		{ LOAD, OFF(alt_port), { .path_mig_state = MIG_REARM } },
		{ LOAD, OFF(alt_port), { .alt_port = 3 } },
		{ LOAD, OFF(alt_pkey_index), { .alt_port = 2, .alt_pkey_index = PORT_PKEYS } },
		{ LOAD, OFF(alt_timeout), { .alt_port = 2, .alt_timeout = 32 } },
		{ LOAD, OFF(alt_av.port), { .alt_port = 2, .alt_av.port = 1 } },
		{ LOAD, OFF(alt_av.dlid), { .alt_port = 2, .alt_av.port = 2 } },
	};
	struct vhca_qp_attr a = alternate(0, 2);

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(t_modify(&f->qp[0], &cases[i].a, cases[i].mask),
				 VHCA_ST_BAD_FIELD);
		assert_int_equal(f->h[0].bad_field, cases[i].field);
	}
	assert_int_equal(query(f, 0).alt_port, 0);
	/* datagrams have no path */
	f->h[0].qp_type = VHCA_QPT_UD;
	t_qp_init(&f->h[0], &f->qp[0], &f->cq[0], &f->cq[0]);
	t_ud_up(&f->qp[0], 1);
	assert_int_equal(t_modify(&f->qp[0], &a, LOAD), VHCA_ST_BAD_FIELD);
	/* nor has anything without the capability */
	f->h[1].dev->caps &= ~(1ull << VHCA_CAP_APM);
	assert_int_equal(t_modify(&f->qp[1], &a, LOAD), VHCA_ST_UNSUPPORTED);
	assert_int_equal(t_modify(&f->qp[1], &a, VHCA_QPA_PATH_MIG_STATE), VHCA_ST_BAD_FIELD);
}

/* RESET forgets the alternate path, armed or not. */
static void forgotten(void **state)
{
	struct fixture *f = *state;

	arm_both(f, 2);
	assert_int_equal(t_to(&f->qp[0], T_RESET), VHCA_ST_OK);
	assert_int_equal(query(f, 0).path_mig_state, MIG_MIGRATED);
	assert_int_equal(query(f, 0).alt_port, 0);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(armed),
		TEST(automatic),
		TEST(both_send),
		TEST(not_armed),
		TEST(both_gone),
		TEST(forced),
		TEST(timeout_when_forced),
		TEST(timeout_when_followed),
		TEST(rearmed_meanwhile),
		TEST(counted),
		cmocka_unit_test_setup_teardown(waiting_for_room, setup_links, teardown),
		TEST(moved),
		cmocka_unit_test_setup_teardown(moved_while_waiting, setup_links, teardown),
		TEST(somewhere_else),
		TEST(somebody_else),
		TEST(refused),
		TEST(forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
