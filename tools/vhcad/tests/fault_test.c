// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Faults: what each does to commands, interrupts and
 * resets, how often, and that nothing of it is left afterwards.
 */
#include <errno.h>
#include <string.h>

#include "dev/fault.h"
#include "res/names.h"
#include "tests/thca.h"

#define MS	1000000ull

static const struct vdev_config cfg = {
	.name = "t", .node_guid = 0xabc00, .ports = 1, .vectors = 4,
};

struct fixture {
	struct tworld w;
	struct thca h;
};

static int setup(void **state)
{
	static struct fixture f;

	memset(&f, 0, sizeof(f));
	t_world_init(&f.w);
	t_hca_init_cfg(&f.h, &f.w, &cfg);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	t_hca_fini(&f->h);
	t_world_fini(&f->w);
	return 0;
}

static struct vfault command_fault(int opcode)
{
	return (struct vfault){ .kind = VFAULT_COMMAND, .which = opcode, .count = 1 };
}

static void arm(struct thca *h, struct vfault f)
{
	assert_int_equal(vdev_fault_add(h->dev, &f), 0);
}

static u32 armed(struct thca *h)
{
	struct vfault f[VFAULT_MAX_ARMED];

	return vdev_fault_list(h->dev, f);
}

static u32 pds(struct thca *h)
{
	struct vdev_status st;

	vdev_status(h->dev, &st);
	return st.pds;
}

/* Gives a command without waiting for its answer. */
static void submit(struct thca *h, u8 opcode, u16 id)
{
	h->asq[h->admin_tail++ & ((1u << T_ADMIN_LOG) - 1)] = (struct vhca_asqe){
		.opcode = opcode, .cmd_id = htole16(id),
	};
	vdev_reg_write(h->dev, VHCA_REG_ADMIN_TAIL, h->admin_tail);
	t_poll(h->w);
}

/* The answer in a place of the ring, or NULL; places count from ENABLE on. */
static struct vhca_acqe *answer(struct thca *h, u32 n)
{
	struct vhca_acqe *e = &h->acq[n & ((1u << T_ADMIN_LOG) - 1)];

	return (e->phase & VHCA_ACQE_PHASE) == !(n >> T_ADMIN_LOG & 1) ? e : NULL;
}

static void refused_as_told(void **state)
{
	struct thca *h = &((struct fixture *)*state)->h;
	struct vfault f = command_fault(VHCA_CMD_CREATE_PD);

	f.status = VHCA_ST_NO_RESOURCE;
	f.count = 2;
	arm(h, f);
	/* another command is left alone */
	assert_int_equal(t_admin(h, VHCA_CMD_NOP, NULL, 0, NULL), VHCA_ST_OK);
	assert_int_equal(t_admin(h, VHCA_CMD_CREATE_PD, NULL, 0, NULL), VHCA_ST_NO_RESOURCE);
	assert_int_equal(h->bad_field, VHCA_NO_FIELD);
	assert_int_equal(armed(h), 1);
	assert_int_equal(t_admin(h, VHCA_CMD_CREATE_PD, NULL, 0, NULL), VHCA_ST_NO_RESOURCE);
	assert_int_equal(armed(h), 0);
	/* nothing was created, and the command works again */
	assert_int_equal(pds(h), 1);
	assert_int_equal(t_admin(h, VHCA_CMD_CREATE_PD, NULL, 0, NULL), VHCA_ST_OK);
	assert_int_equal(pds(h), 2);
}

static void skips_first(void **state)
{
	struct thca *h = &((struct fixture *)*state)->h;
	struct vfault f = command_fault(VFAULT_ANY), g = command_fault(VHCA_CMD_NOP);

	f.status = VHCA_ST_BUSY;
	f.skip = 2;
	g.status = VHCA_ST_INTERNAL;
	g.skip = 1;
	arm(h, f);
	arm(h, g);
	assert_int_equal(t_admin(h, VHCA_CMD_NOP, NULL, 0, NULL), VHCA_ST_OK);
	assert_int_equal(t_admin(h, VHCA_CMD_NOP, NULL, 0, NULL), VHCA_ST_INTERNAL);
	assert_int_equal(t_admin(h, VHCA_CMD_NOP, NULL, 0, NULL), VHCA_ST_BUSY);
	assert_int_equal(t_admin(h, VHCA_CMD_NOP, NULL, 0, NULL), VHCA_ST_OK);
}

/* Neither executed nor answered; the device goes on with the next command. */
static void never_answered(void **state)
{
	struct thca *h = &((struct fixture *)*state)->h;
	struct vfault f = command_fault(VHCA_CMD_CREATE_PD);
	u32 at = h->admin_tail, irqs = h->irqs[0];

	f.answer = VFAULT_NONE;
	arm(h, f);
	submit(h, VHCA_CMD_CREATE_PD, 500);
	t_settle(h->w, 1000 * MS);
	assert_null(answer(h, at));
	assert_int_equal(h->irqs[0], irqs);
	assert_int_equal(pds(h), 1);
	submit(h, VHCA_CMD_NOP, 501);
	assert_non_null(answer(h, at));
	assert_int_equal(le16toh(answer(h, at)->cmd_id), 501);
	assert_int_equal(h->irqs[0], irqs + 1);
	assert_int_equal(vdev_reg_read(h->dev, VHCA_REG_STATUS), VHCA_STATUS_READY);
}

/* Executed at once, answered late, overtaken by others. */
static void answered_late(void **state)
{
	struct fixture *fx = *state;
	struct thca *h = &fx->h;
	struct vfault f = command_fault(VHCA_CMD_CREATE_PD);
	u32 at = h->admin_tail, irqs;

	f.delay = 30;
	arm(h, f);
	submit(h, VHCA_CMD_CREATE_PD, 500);
	assert_int_equal(pds(h), 2);
	submit(h, VHCA_CMD_NOP, 501);
	assert_int_equal(le16toh(answer(h, at)->cmd_id), 501);
	irqs = h->irqs[0];
	fx->w.now += 29 * MS;
	t_poll(&fx->w);
	assert_null(answer(h, at + 1));
	fx->w.now += 1 * MS;
	t_poll(&fx->w);
	assert_non_null(answer(h, at + 1));
	assert_int_equal(le16toh(answer(h, at + 1)->cmd_id), 500);
	assert_int_equal(answer(h, at + 1)->status, VHCA_ST_OK);
	assert_int_equal(h->irqs[0], irqs + 1);
}

/* Disarming ends the wait, too; the answer comes once. */
static void answered_when_cleared(void **state)
{
	struct fixture *fx = *state;
	struct thca *h = &fx->h;
	struct vfault f = command_fault(VHCA_CMD_CREATE_PD);
	u32 at = h->admin_tail, irqs = h->irqs[0];

	f.delay = VFAULT_MAX_DELAY;
	f.count = 3;
	arm(h, f);
	submit(h, VHCA_CMD_CREATE_PD, 500);
	submit(h, VHCA_CMD_CREATE_PD, 501);
	assert_null(answer(h, at));
	vdev_fault_clear(h->dev);
	for (u32 i = 0; i < 2; i++) {
		assert_non_null(answer(h, at + i));
		assert_int_equal(le16toh(answer(h, at + i)->cmd_id), 500 + i);
		assert_int_equal(answer(h, at + i)->status, VHCA_ST_OK);
	}
	assert_int_equal(h->irqs[0], irqs + 2);
	fx->w.now += VFAULT_MAX_DELAY * MS;
	t_poll(&fx->w);
	assert_null(answer(h, at + 2));
	assert_int_equal(h->irqs[0], irqs + 2);
}

/* A late answer is dropped by a reset or a fatal error. */
static void late_answers_are_dropped(void **state)
{
	struct fixture *fx = *state;
	struct thca *h = &fx->h;
	struct vfault f = command_fault(VFAULT_ANY);
	u32 at = h->admin_tail, irqs;

	f.delay = 30;
	f.count = 3;
	f.status = VHCA_ST_INTERNAL;
	arm(h, f);
	submit(h, VHCA_CMD_NOP, 500);
	vdev_inject_fatal(h->dev);
	t_settle(&fx->w, 1000 * MS);
	assert_null(answer(h, at));
	vdev_reset(h->dev);
	t_hca_fini(h);
	t_hca_bare(h, &fx->w, &cfg);
	arm(h, f);
	submit(h, VHCA_CMD_NOP, 500);
	irqs = h->irqs[0];
	vdev_reset(h->dev);
	t_settle(&fx->w, 1000 * MS);
	assert_null(answer(h, 0));
	assert_int_equal(h->irqs[0], irqs);
	/* the rest of the count is still armed, as cables stay pulled */
	assert_int_equal(armed(h), 1);
	vdev_fault_clear(h->dev);
	assert_int_equal(armed(h), 0);
}

static void answered_strangely(void **state)
{
	struct thca *h = &((struct fixture *)*state)->h;
	struct vfault f = command_fault(VHCA_CMD_NOP);
	u32 at = h->admin_tail;

	submit(h, VHCA_CMD_NOP, 500);
	f.answer = VFAULT_TWICE;
	arm(h, f);
	submit(h, VHCA_CMD_NOP, 501);
	assert_int_equal(le16toh(answer(h, at + 1)->cmd_id), 501);
	assert_int_equal(le16toh(answer(h, at + 2)->cmd_id), 501);
	assert_null(answer(h, at + 3));

	f.answer = VFAULT_STALE;
	arm(h, f);
	submit(h, VHCA_CMD_NOP, 502);
	assert_int_equal(le16toh(answer(h, at + 3)->cmd_id), 501);
	assert_int_equal(answer(h, at + 3)->resp[0], 0xff);
	assert_int_equal(le16toh(answer(h, at + 4)->cmd_id), 502);
	assert_int_equal(answer(h, at + 4)->resp[0], 0);

	f.answer = VFAULT_UNKNOWN;
	arm(h, f);
	submit(h, VHCA_CMD_NOP, 503);
	assert_int_equal(le16toh(answer(h, at + 5)->cmd_id), 503);
	assert_int_not_equal(le16toh(answer(h, at + 6)->cmd_id), 503);
	assert_null(answer(h, at + 7));

	f.answer = VFAULT_NONSENSE;
	arm(h, f);
	submit(h, VHCA_CMD_NOP, 504);
	assert_int_equal(le16toh(answer(h, at + 7)->cmd_id), 504);
	assert_int_equal(answer(h, at + 7)->status, VHCA_ST_OK);
	assert_int_equal(answer(h, at + 7)->resp[0], 0xff);
	assert_null(answer(h, at + 8));
	assert_int_equal(armed(h), 0);
}

static void interrupts_get_lost(void **state)
{
	struct thca *h = &((struct fixture *)*state)->h;
	struct vfault f = { .kind = VFAULT_INTERRUPT, .which = 0, .count = 2 };
	u32 irqs = h->irqs[0];

	arm(h, f);
	for (u32 i = 0; i < 3; i++)
		assert_int_equal(t_admin(h, VHCA_CMD_NOP, NULL, 0, NULL), VHCA_ST_OK);
	assert_int_equal(h->irqs[0], irqs + 1);

	/* of an EQ: the event is in the ring all the same; another vector is not affected */
	f.which = 2;
	f.count = 1;
	arm(h, f);
	t_eq_arm(h, &h->async);
	irqs = h->irqs[1];
	assert_int_equal(vdev_set_link(h->dev, 1, false), 0);
	t_expect_event(h, VHCA_EV_PORT_ERR, 0);
	assert_int_equal(h->irqs[1], irqs + 1);
	assert_int_equal(armed(h), 1);
	vdev_fault_clear(h->dev);
	f.which = VFAULT_ANY;
	arm(h, f);
	t_eq_arm(h, &h->async);
	assert_int_equal(vdev_set_link(h->dev, 1, true), 0);
	t_expect_event(h, VHCA_EV_PORT_ACTIVE, 0);
	assert_int_equal(h->irqs[1], irqs + 1);
	assert_int_equal(armed(h), 0);
}

static void reset_takes_time(void **state)
{
	struct fixture *fx = *state;
	struct thca *h = &fx->h;
	struct vfault f = { .kind = VFAULT_RESET, .which = VFAULT_ANY, .count = 1, .delay = 500 };
	struct vdev_status st;

	arm(h, f);
	vdev_reg_write(h->dev, VHCA_REG_CONTROL, VHCA_CONTROL_RESET);
	vdev_status(h->dev, &st);
	assert_int_equal(st.uars + st.eqs + st.pds, 0);
	assert_false(st.enabled);
	for (u32 i = 0; i < 2; i++) {
		fx->w.now += 200 * MS;
		t_poll(&fx->w);
		assert_int_equal(vdev_reg_read(h->dev, VHCA_REG_STATUS),
				 VHCA_STATUS_READY | VHCA_STATUS_FATAL);
		/* meanwhile it cannot be enabled, and another reset does not change the end */
		vdev_reg_write(h->dev, VHCA_REG_ADMIN_SIZE, 4);
		vdev_reg_write(h->dev, VHCA_REG_CONTROL, VHCA_CONTROL_ENABLE);
		vdev_reg_write(h->dev, VHCA_REG_CONTROL, VHCA_CONTROL_RESET);
	}
	fx->w.now += 100 * MS;
	t_poll(&fx->w);
	assert_int_equal(vdev_reg_read(h->dev, VHCA_REG_STATUS), 0);
	t_hca_fini(h);
	t_hca_init_cfg(h, &fx->w, &cfg);
	/* the next one is as quick as usual; a device may be removed during a slow one */
	vdev_reset(h->dev);
	assert_int_equal(vdev_reg_read(h->dev, VHCA_REG_STATUS), 0);
	arm(h, f);
	vdev_reset(h->dev);
	assert_int_not_equal(vdev_reg_read(h->dev, VHCA_REG_STATUS), 0);
}

static void reset_ends_when_cleared(void **state)
{
	struct fixture *fx = *state;
	struct thca *h = &fx->h;
	struct vfault f = {
		.kind = VFAULT_RESET, .which = VFAULT_ANY, .count = 2, .delay = VFAULT_MAX_DELAY,
	};

	arm(h, f);
	vdev_reset(h->dev);
	assert_int_not_equal(vdev_reg_read(h->dev, VHCA_REG_STATUS), 0);
	vdev_fault_clear(h->dev);
	assert_int_equal(vdev_reg_read(h->dev, VHCA_REG_STATUS), 0);
	t_hca_fini(h);
	t_hca_init_cfg(h, &fx->w, &cfg);
	/* a reset that has ended does not end again, and a device that works is not affected */
	fx->w.now += VFAULT_MAX_DELAY * MS;
	t_poll(&fx->w);
	vdev_fault_clear(h->dev);
	assert_int_equal(vdev_reg_read(h->dev, VHCA_REG_STATUS), VHCA_STATUS_READY);
	assert_int_equal(t_admin(h, VHCA_CMD_NOP, NULL, 0, NULL), VHCA_ST_OK);
}

/* The event has another port, once; its other fields are true. */
static void events_lie(void **state)
{
	struct thca *h = &((struct fixture *)*state)->h;
	struct vfault f = { .kind = VFAULT_EVENT, .which = VHCA_EV_PORT_ERR, .lie = VLIE_PORT,
			    .count = 1 };
	struct vhca_eqe e;

	arm(h, f);
	for (u32 i = 0; i < 2; i++) {
		assert_int_equal(vdev_set_link(h->dev, 1, false), 0);
		assert_true(t_eq_get(h, &h->async, &e));
		assert_int_equal(e.event, VHCA_EV_PORT_ERR);
		assert_int_equal(e.port, i ? 1 : 0xfe);
		assert_int_equal(armed(h), 0);
		assert_int_equal(vdev_set_link(h->dev, 1, true), 0);
		t_expect_event(h, VHCA_EV_PORT_ACTIVE, 0);
	}
	f.which = VFAULT_ANY;
	f.lie = VLIE_KIND;
	arm(h, f);
	assert_int_equal(vdev_set_link(h->dev, 1, false), 0);
	assert_true(t_eq_get(h, &h->async, &e));
	assert_int_equal(e.event, 0xff & ~VHCA_EV_PORT_ERR);
	assert_int_equal(e.port, 1);
}

/* The completion of a WRITE of 64 bytes, in whose CQ faults are armed. */
static struct vhca_cqe completion(struct tpair *p, struct tmr *l, struct tmr *r)
{
	struct twr wr = t_wr(VHCA_OP_WRITE, 7, l, 0, 64, r, 0);
	struct vhca_cqe e;

	t_send(&p->qp[0], &wr);
	assert_true(t_cq_poll(&p->cq[0], &e));
	t_expect_no_cqe(&p->cq[0]);
	return e;
}

static void completions_lie(void **state)
{
	u32 access = VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE;
	struct vfault f = { .kind = VFAULT_COMPLETION, .lie = VLIE_NUMBER, .count = 1 };
	struct vhca_cqe e, first, none = { 0 };
	struct tmr l, r;
	struct tpair p;

	(void)state;
	t_pair_init_regions(&p, 100, 200, &l, &r, 4096, access, access);
	f.which = p.cq[0].cqn + 1;
	arm(&p.h[0], f);
	f.which = p.cq[0].cqn;
	f.skip = 1;
	arm(&p.h[0], f);
	for (u32 i = 0; i < 3; i++) {
		e = completion(&p, &l, &r);
		assert_int_equal(le32toh(e.qpn), i == 1 ? ~p.qp[0].qpn : p.qp[0].qpn);
		assert_int_equal(le32toh(e.wqe_index), p.qp[0].sq_prod);
	}
	/* the fault of another CQ has not struck */
	assert_int_equal(armed(&p.h[0]), 1);
	vdev_fault_clear(p.h[0].dev);

	f = (struct vfault){ .kind = VFAULT_COMPLETION, .which = VFAULT_ANY, .lie = VLIE_INDEX,
			     .count = 1 };
	arm(&p.h[0], f);
	e = completion(&p, &l, &r);
	assert_int_equal(le32toh(e.wqe_index), ~p.qp[0].sq_prod);
	f.lie = VLIE_LENGTH;
	arm(&p.h[0], f);
	e = completion(&p, &l, &r);
	assert_true(le32toh(e.byte_len) > 1u << 31);

	/* by chance: all bytes, different each time, and the same for the same seed */
	f.lie = VLIE_CHANCE;
	f.count = 2;
	f.seed = 5;
	arm(&p.h[0], f);
	first = completion(&p, &l, &r);
	e = completion(&p, &l, &r);
	assert_memory_not_equal(&first, &e, offsetof(struct vhca_cqe, owner));
	assert_memory_not_equal(&first.more_flags, &none.more_flags, 3);
	f.count = 1;
	arm(&p.h[0], f);
	first = completion(&p, &l, &r);
	assert_memory_equal(&first, &e, offsetof(struct vhca_cqe, owner));
	assert_int_equal(armed(&p.h[0]), 0);
	assert_int_equal(le32toh(completion(&p, &l, &r).qpn), p.qp[0].qpn);
	t_pair_fini(&p);
}

static void values_are_checked(void **state)
{
	static const struct vfault bad[] = {
		{ .kind = VFAULT_COMMAND, .which = VFAULT_ANY, .status = 1, .count = 0 },
		{ .kind = VFAULT_COMMAND, .which = VFAULT_ANY, .count = 1 },
		{ .kind = VFAULT_COMMAND, .which = 256, .status = 1, .count = 1 },
		{ .kind = VFAULT_COMMAND, .which = 0, .delay = VFAULT_MAX_DELAY + 1, .count = 1 },
		{ .kind = VFAULT_INTERRUPT, .which = 4, .count = 1 },
		{ .kind = VFAULT_RESET, .which = VFAULT_ANY, .count = 1 },
		{ .kind = VFAULT_RESET, .which = 1, .delay = 1, .count = 1 },
		{ .kind = VFAULT_COMPLETION + 1, .which = VFAULT_ANY, .delay = 1, .count = 1 },
		{ .kind = VFAULT_EVENT, .which = VFAULT_ANY, .lie = VLIE_LENGTH, .count = 1 },
		{ .kind = VFAULT_EVENT, .which = VFAULT_ANY, .lie = VLIE_ID + 1, .count = 1 },
		{ .kind = VFAULT_COMPLETION, .which = VFAULT_ANY, .lie = VLIE_ID + 1, .count = 1 },
	};
	struct thca *h = &((struct fixture *)*state)->h;
	struct vfault f = command_fault(VHCA_CMD_NOP);

	for (u32 i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(vdev_fault_add(h->dev, &bad[i]), -EINVAL);
	f.status = 1;
	for (u32 i = 0; i < VFAULT_MAX_ARMED; i++)
		arm(h, f);
	assert_int_equal(vdev_fault_add(h->dev, &f), -ENOSPC);
	assert_int_equal(armed(h), VFAULT_MAX_ARMED);
}

/* Every command and every status has a name, and the name leads back. */
static void all_have_names(void **state)
{
	struct thca *h = &((struct fixture *)*state)->h;
	u32 known = 0;

	for (u32 op = 0; op < 256; op++) {
		struct vhca_asqe sqe = { .opcode = op, .rsvd = 1 };
		bool exists = t_admin_raw(h, &sqe, NULL) != VHCA_ST_BAD_OPCODE;

		assert_int_equal(vcmd_by_name(vcmd_name(op)), exists ? (int)op : -1);
		known += exists;
	}
	assert_true(known > 20);
	assert_string_equal(vcmd_name(VFAULT_ANY), "?");
	for (u32 st = VHCA_ST_OK; st <= VHCA_ST_INTERNAL; st++)
		assert_int_equal(vstatus_by_name(vstatus_name(st)), st);
	for (u32 a = VFAULT_ONCE; a <= VFAULT_NONSENSE; a++)
		assert_int_equal(vanswer_by_name(vanswer_name(a)), a);
	assert_int_equal(vanswer_by_name("?"), -1);
	for (u32 lie = VLIE_CHANCE; lie <= VLIE_ID; lie++)
		assert_int_equal(vlie_by_name(vlie_name(lie)), lie);
	assert_int_equal(vlie_by_name("?"), -1);
	assert_string_equal(vlie_name(VLIE_ID + 1), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(refused_as_told, setup, teardown),
		cmocka_unit_test_setup_teardown(skips_first, setup, teardown),
		cmocka_unit_test_setup_teardown(never_answered, setup, teardown),
		cmocka_unit_test_setup_teardown(answered_late, setup, teardown),
		cmocka_unit_test_setup_teardown(answered_when_cleared, setup, teardown),
		cmocka_unit_test_setup_teardown(late_answers_are_dropped, setup, teardown),
		cmocka_unit_test_setup_teardown(answered_strangely, setup, teardown),
		cmocka_unit_test_setup_teardown(interrupts_get_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(reset_takes_time, setup, teardown),
		cmocka_unit_test_setup_teardown(reset_ends_when_cleared, setup, teardown),
		cmocka_unit_test_setup_teardown(events_lie, setup, teardown),
		cmocka_unit_test(completions_lie),
		cmocka_unit_test_setup_teardown(values_are_checked, setup, teardown),
		cmocka_unit_test_setup_teardown(all_have_names, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
