// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Addresses of a port that change while it is in use.
 */
#include <string.h>

#include "dev/device.h"
#include "port/port.h"
#include "res/dev.h"
#include "subnet/static.h"
#include "tests/thca.h"
#include "tests/tkey.h"

#define RW	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE)

static struct port_addrs addrs(struct thca *h, u32 port)
{
	struct port_addrs a;

	vdev_addrs(h->dev, port, &a);
	return a;
}

static void change(struct thca *h, u32 port, const struct port_addrs *a)
{
	const char *why = vdev_set_addrs(h->dev, port, a, false);

	if (why)
		fail_msg("refused: %s", why);
}

static void expect_port_event(struct thca *h, u8 event, u32 port)
{
	struct vhca_eqe e;

	assert_true(t_eq_get(h, &h->async, &e));
	assert_int_equal(e.event, event);
	assert_int_equal(e.port, port);
	assert_int_equal(le32toh(e.number), 0);
}

static const struct vdev_config cfg = {
	.name = "t", .node_guid = 0xabc00, .ports = 2, .vectors = 4,
};

/* There is an event for each change, no other one, and new values can be read. */
static void events(void **state)
{
	struct vhca_port_req req = { .port = 2 };
	struct vhca_port_attr attr;
	struct port_addrs a;
	__le16 pkey[PORT_PKEYS];
	u8 gid[PORT_GIDS][16];
	struct tworld w;
	struct thca h;

	t_world_init(&w);
	t_hca_init_cfg(&h, &w, &cfg);
	expect_port_event(&h, VHCA_EV_PORT_ACTIVE, 2);
	a = addrs(&h, 2);
	assert_int_equal(a.lid, 2);
	change(&h, 2, &a);
	t_expect_no_event(&h);
	a.lid = 0xbffe;
	change(&h, 2, &a);
	expect_port_event(&h, VHCA_EV_LID_CHANGE, 2);
	t_expect_no_event(&h);
	a.sm_lid = 9;
	change(&h, 2, &a);
	expect_port_event(&h, VHCA_EV_SM_CHANGE, 2);
	t_expect_no_event(&h);
	a.pkey[31] = 0x1234;
	change(&h, 2, &a);
	expect_port_event(&h, VHCA_EV_PKEY_CHANGE, 2);
	t_expect_no_event(&h);
	a.gid[7][0] = 0x20;
	change(&h, 2, &a);
	expect_port_event(&h, VHCA_EV_GID_CHANGE, 2);
	t_expect_no_event(&h);
	assert_null(vdev_set_addrs(h.dev, 2, &a, true));
	expect_port_event(&h, VHCA_EV_REREGISTER, 2);
	t_expect_no_event(&h);
	/* several at once, on the other port */
	a = addrs(&h, 1);
	a.lid = 2;
	a.gid[1][15] = 1;
	change(&h, 1, &a);
	expect_port_event(&h, VHCA_EV_LID_CHANGE, 1);
	expect_port_event(&h, VHCA_EV_GID_CHANGE, 1);
	t_expect_no_event(&h);

	assert_int_equal(t_admin_out(&h, VHCA_CMD_QUERY_PORT, &req, sizeof(req), &attr,
				     sizeof(attr)), VHCA_ST_OK);
	assert_int_equal(le16toh(attr.lid), 0xbffe);
	assert_int_equal(le16toh(attr.sm_lid), 9);
	req.count = htole32(PORT_PKEYS);
	assert_int_equal(t_admin_out(&h, VHCA_CMD_QUERY_PKEYS, &req, sizeof(req), pkey,
				     sizeof(pkey)), VHCA_ST_OK);
	assert_int_equal(le16toh(pkey[31]), 0x1234);
	req.count = htole32(PORT_GIDS);
	assert_int_equal(t_admin_out(&h, VHCA_CMD_QUERY_GIDS, &req, sizeof(req), gid,
				     sizeof(gid)), VHCA_ST_OK);
	assert_int_equal(gid[7][0], 0x20);
	/* a reset concerns the device; the subnet keeps the addresses */
	vdev_reset(h.dev);
	a = addrs(&h, 2);
	assert_int_equal(a.lid, 0xbffe);
	assert_int_equal(a.pkey[31], 0x1234);
	/* without an EQ for an event it works all the same */
	a.lid = 77;
	change(&h, 2, &a);
	assert_int_equal(addrs(&h, 2).lid, 77);
	t_hca_fini(&h);
	t_world_fini(&w);
}

/* Each refusal names its reason, and nothing has changed. */
static void refused(void **state)
{
	struct port_addrs was, now;
	struct tworld w;
	struct thca h;

	t_world_init(&w);
	t_hca_init_cfg(&h, &w, &cfg);
	expect_port_event(&h, VHCA_EV_PORT_ACTIVE, 2);
	was = addrs(&h, 1);
#define REFUSED(why, ...) do {						\
	struct port_addrs a = was;					\
									\
	a.sm_lid = 5;							\
	__VA_ARGS__;							\
	assert_string_equal(vdev_set_addrs(h.dev, 1, &a, true), why);	\
	now = addrs(&h, 1);						\
	assert_memory_equal(&now, &was, sizeof(now));			\
	t_expect_no_event(&h);						\
} while (0)
	REFUSED("another port has this LID", a.lid = 2);
	REFUSED("a port's LID is 1 to 0xbffe", a.lid = 0);
	REFUSED("a port's LID is 1 to 0xbffe", a.lid = 0xbfff);
	REFUSED("the subnet manager's LID is 1 to 0xbfff", a.sm_lid = 0);
	REFUSED("the subnet manager's LID is 1 to 0xbfff", a.sm_lid = 0xc000);
	REFUSED("0x8000 is not a P_Key", a.pkey[3] = 0x8000);
	REFUSED("P_Key 0 must not be empty", a.pkey[0] = 0);
	REFUSED("GID 0 must not be empty", memset(a.gid[0], 0, 16));
	REFUSED("a multicast GID is not a port's", a.gid[4][0] = 0xff);
	REFUSED("the port has this GID already", memcpy(a.gid[2], a.gid[0], 16));
#undef REFUSED
	t_hca_fini(&h);
	t_world_fini(&w);
}

/* Without a static subnet the operator cannot set addresses. */
static void not_ours(void **state)
{
	const struct engine_clock clock = engine_clock_monotonic;
	struct port_addrs a;
	struct tworld w = { 0 };
	struct thca h;

	w.fabric = fabric_new();
	w.engine = engine_new(&clock, w.fabric);
	t_hca_bare(&h, &w, &cfg);
	a = addrs(&h, 1);
	assert_int_equal(a.lid, 0);
	a.lid = 1;
	assert_string_equal(vdev_set_addrs(h.dev, 1, &a, false), "the subnet is not a static one");
	assert_int_equal(addrs(&h, 1).lid, 0);
	t_hca_fini(&h);
	t_world_fini(&w);
}

static void make_async(struct thca *h, u32 log, u8 flags)
{
	eq_destroy(h->dev->async_eq);
	t_eq_init(h, &h->async, log, 1, flags);
}

/* Changes by a manager without an event of their own are reported to drivers that ask for it. */
static void port_change(void **state)
{
	struct port_setup setup;
	struct tworld w;
	struct port *port;
	struct thca h;

	t_world_init(&w);
	t_hca_init_cfg(&h, &w, &cfg);
	expect_port_event(&h, VHCA_EV_PORT_ACTIVE, 2);
	subnet_static_yield(w.fabric);
	port = &h.dev->port[1].fab.ib;
	setup = port->setup;
	setup.subnet_timeout++;
	port_set_setup(port, &setup);
	t_expect_no_event(&h);

	make_async(&h, 4, VHCA_EQ_ASYNC | VHCA_EQ_PORT_CHANGE);
	t_expect_no_event(&h);
	port_set_setup(port, &setup);
	t_expect_no_event(&h);
	setup.subnet_timeout++;
	port_set_setup(port, &setup);
	expect_port_event(&h, VHCA_EV_PORT_CHANGE, 2);
	t_expect_no_event(&h);
	assert_int_equal(port_set_state(port, PORT_DOWN), 0);
	expect_port_event(&h, VHCA_EV_PORT_ERR, 2);
	expect_port_event(&h, VHCA_EV_PORT_CHANGE, 2);
	t_expect_no_event(&h);
	assert_int_equal(port->state, PORT_INIT);
	assert_int_equal(port_set_state(port, PORT_ARMED), 0);
	expect_port_event(&h, VHCA_EV_PORT_CHANGE, 2);
	assert_int_equal(port_set_state(port, PORT_ACTIVE), 0);
	expect_port_event(&h, VHCA_EV_PORT_ACTIVE, 2);
	t_expect_no_event(&h);

	/* Without such an EQ no event is kept. */
	make_async(&h, 4, VHCA_EQ_ASYNC);
	setup.subnet_timeout++;
	port_set_setup(port, &setup);
	make_async(&h, 1, VHCA_EQ_ASYNC | VHCA_EQ_PORT_CHANGE);
	t_expect_no_event(&h);

	/* An event that found no room is not for a later EQ that has not asked for it. */
	for (u32 i = 0; i < 3; i++) {
		setup.subnet_timeout++;
		port_set_setup(port, &setup);
	}
	make_async(&h, 4, VHCA_EQ_ASYNC);
	t_expect_no_event(&h);
	t_hca_fini(&h);
	t_world_fini(&w);
}

static void write_byte(struct tpair *p, struct tmr *mr, u64 id, u8 status)
{
	struct twr wr = t_wr(VHCA_OP_WRITE, id, &mr[0], 0, 1, &mr[1], 0);

	wr.flags = VHCA_WQE_SIGNALED;
	t_send(&p->qp[0], &wr);
	t_settle(&p->w, 60000000000ull);
	t_expect_cqe(&p->cq[0], id, status);
}

static void reconnect(struct tpair *p)
{
	for (u32 i = 0; i < 2; i++) {
		assert_int_equal(t_to(&p->qp[i], T_RESET), VHCA_ST_OK);
		p->qp[i].sq_prod = 0;
		p->qp[i].rq_prod = 0;
		t_set_rec(&p->h[i], p->qp[i].slot, 0);
		t_set_rec(&p->h[i], p->qp[i].slot + 1, 0);
	}
	t_connect(&p->qp[0], &p->qp[1], 3, 1, 2);
}

/* The route to a new LID exists at once, and that to the old LID does not any more. */
static void new_lid(void **state)
{
	struct port_addrs a;
	struct tmr mr[2];
	struct tpair p;

	t_pair_init(&p, 3, 1, 2);
	for (u32 i = 0; i < 2; i++)
		t_mr_init(&p.h[i], &mr[i], 0, 4096, RW, 0, 12);
	write_byte(&p, mr, 1, VHCA_CS_SUCCESS);
	a = addrs(&p.h[1], 1);
	a.lid = 4000;
	change(&p.h[1], 1, &a);
	write_byte(&p, mr, 2, VHCA_CS_RETRY_EXC_ERR);
	reconnect(&p);
	write_byte(&p, mr, 3, VHCA_CS_SUCCESS);
	/* the sender's own LID: packets come from the new one, which the peer does not expect */
	a = addrs(&p.h[0], 1);
	a.lid = 2;
	change(&p.h[0], 1, &a);
	write_byte(&p, mr, 4, VHCA_CS_RETRY_EXC_ERR);
	reconnect(&p);
	write_byte(&p, mr, 5, VHCA_CS_SUCCESS);
	t_pair_fini(&p);
}

/* QPs use the P_Key that is in the table now, not the one that was. */
static void new_pkeys(void **state)
{
	struct port_addrs a;
	struct tmr mr[2];
	struct tpair p;

	t_pair_init(&p, 3, 1, 2);
	for (u32 i = 0; i < 2; i++)
		t_mr_init(&p.h[i], &mr[i], 0, 4096, RW, 0, 12);
	for (u32 i = 0; i < 2; i++) {
		a = addrs(&p.h[i], 1);
		a.pkey[0] = 0x8042;
		change(&p.h[i], 1, &a);
	}
	write_byte(&p, mr, 1, VHCA_CS_SUCCESS);
	a.pkey[0] = 0x8043;
	change(&p.h[1], 1, &a);
	write_byte(&p, mr, 2, VHCA_CS_RETRY_EXC_ERR);
	t_pair_fini(&p);
}

#define IDLE	500u

/* A change does not touch QPs; each follows when it is used, to send or to answer. */
static void followed_when_used(void **state)
{
	struct vqp *v[2], *idle[IDLE];
	struct port_addrs a;
	struct tmr mr[2];
	struct tqp from, to;
	struct tpair p;

	t_pair_init(&p, 3, 1, 2);
	for (u32 i = 0; i < 2; i++) {
		t_db_pages(&p.h[i]);
		t_mr_init(&p.h[i], &mr[i], 0, 4096, RW, 0, 12);
		v[i] = t_vqp(&p.qp[i]);
	}
	for (u32 i = 0; i < IDLE; i++) {
		t_qp_init_size(&p.h[0], &from, &p.cq[0], &p.cq[0], 0, 0, 5, 0);
		t_qp_init_size(&p.h[1], &to, &p.cq[1], &p.cq[1], 0, 0, 5, 0);
		t_connect(&from, &to, 3, 1, 2);
		idle[i] = t_vqp(&from);
	}
	for (u32 n = 0; n < 2; n++) {
		/* the count of changes wraps */
		for (u32 i = 0; i < 2; i++) {
			v[i]->changes = n - 1;
			v[i]->port->changes = n - 1;
			a = addrs(&p.h[i], 1);
			a.pkey[0] = 0x8042 + n;
			change(&p.h[i], 1, &a);
			assert_int_not_equal(v[i]->pkey, 0x8042 + n);
		}
		for (u32 i = 0; i < IDLE; i++)
			assert_int_equal(idle[i]->pkey, 0xffff);
		write_byte(&p, mr, n, VHCA_CS_SUCCESS);
		for (u32 i = 0; i < 2; i++)
			assert_int_equal(v[i]->pkey, 0x8042 + n);
	}
	t_pair_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events), cmocka_unit_test(refused), cmocka_unit_test(not_ours),
		cmocka_unit_test(port_change),
		cmocka_unit_test(new_lid), cmocka_unit_test(new_pkeys),
		cmocka_unit_test(followed_when_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
