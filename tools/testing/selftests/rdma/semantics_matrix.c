// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Every transition from every state, and every attribute that it allows, requires or refuses. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "semantics.h"

#define ALT	(IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE)
#define STATES	(IBV_QPS_ERR + 1)
#define NUM_ATTRS	21	/* of the mask */

enum kind { RC, UC, UD, XI, XT, KINDS };

static const enum ibv_qp_type types[KINDS] = {
	IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD, IBV_QPT_XRC_SEND, IBV_QPT_XRC_RECV,
};

#define TO(state)	(1U << IBV_QPS_##state)

/* The states that can follow a state; only UC and UD have SQE. */
static const unsigned int allowed[STATES] = {
	[IBV_QPS_RESET] = TO(RESET) | TO(INIT),
	[IBV_QPS_INIT] = TO(RESET) | TO(INIT) | TO(RTR) | TO(ERR),
	[IBV_QPS_RTR] = TO(RESET) | TO(RTS) | TO(ERR),
	[IBV_QPS_RTS] = TO(RESET) | TO(RTS) | TO(SQD) | TO(ERR),
	[IBV_QPS_SQD] = TO(RESET) | TO(RTS) | TO(SQD) | TO(ERR),
	[IBV_QPS_SQE] = TO(RESET) | TO(RTS) | TO(ERR),
	[IBV_QPS_ERR] = TO(RESET) | TO(ERR),
};

/* Attributes that a transition allows besides those that it requires. */
static const struct step {
	enum ibv_qp_state from, to;
	int takes[KINDS];
} steps[] = {
	{ IBV_QPS_RESET, IBV_QPS_INIT, { 0 } },
	{ IBV_QPS_INIT, IBV_QPS_RTR, {
		[RC] = IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX,
		[UC] = IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX,
		[UD] = IBV_QP_PKEY_INDEX | IBV_QP_QKEY,
		[XI] = IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX,
		[XT] = IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX,
	} },
	{ IBV_QPS_RTR, IBV_QPS_RTS, {
		[RC] = IBV_QP_CUR_STATE | ALT | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER,
		[UC] = IBV_QP_CUR_STATE | ALT | IBV_QP_ACCESS_FLAGS,
		[UD] = IBV_QP_CUR_STATE | IBV_QP_QKEY,
		[XI] = IBV_QP_CUR_STATE | ALT | IBV_QP_ACCESS_FLAGS,
		[XT] = IBV_QP_CUR_STATE | ALT | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER,
	} },
	{ IBV_QPS_RTS, IBV_QPS_RTS, {
		[RC] = IBV_QP_CUR_STATE | ALT | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER,
		[UC] = IBV_QP_CUR_STATE | ALT | IBV_QP_ACCESS_FLAGS,
		[UD] = IBV_QP_CUR_STATE | IBV_QP_QKEY,
		[XI] = IBV_QP_CUR_STATE | ALT | IBV_QP_ACCESS_FLAGS,
		[XT] = IBV_QP_CUR_STATE | ALT | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER,
	} },
	{ IBV_QPS_RTS, IBV_QPS_SQD, {
		[RC] = IBV_QP_EN_SQD_ASYNC_NOTIFY, [UC] = IBV_QP_EN_SQD_ASYNC_NOTIFY,
		[UD] = IBV_QP_EN_SQD_ASYNC_NOTIFY, [XI] = IBV_QP_EN_SQD_ASYNC_NOTIFY,
		[XT] = IBV_QP_EN_SQD_ASYNC_NOTIFY,
	} },
};

#define NUM_STEPS	(sizeof(steps) / sizeof(steps[0]))

/* A QP of any type in one state; of an XRC target only the QP is used. */
struct subject {
	struct end e;
	struct opts o;
	struct ibv_xrcd *xrcd;
};

static int no_xrcd(void *obj) { return ibv_close_xrcd(obj); }

static void make_target(struct subject *s)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = s->xrcd,
	};

	s->e.qp = ibv_create_qp_ex(hca[0].ctx, &init);
}

static int no_qp(void *obj) { return ibv_destroy_qp(obj); }

static void subject(struct subject *s, enum kind kind)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1, .oflags = O_CREAT,
	};

	*s = (struct subject) { .e.h = &hca[0], .o.type = types[kind] };
	if (kind == XI)
		s->o.caps = (struct ibv_qp_cap) { .max_recv_wr = 0 };
	s->e.scq = make_cq(&hca[0], DEPTH, NULL);
	s->e.rcq = kind == XI ? NULL : make_cq(&hca[0], DEPTH, NULL);
	if (kind == XT) {
		s->xrcd = ibv_open_xrcd(hca[0].ctx, &attr);
		keep(s->xrcd, no_xrcd);
		make_target(s);
		keep(s->e.qp, no_qp);
	} else {
		s->e.qp = make_qp(&s->e, &s->o, NULL);
	}
}

static int step(struct subject *s, enum ibv_qp_state from, enum ibv_qp_state to, int mask)
{
	struct ibv_qp_attr attr = path_attr(&s->e, &s->e, &s->o);
	int err;

	attr.cur_qp_state = from;
	err = go(s->e.qp, attr, to, mask);
	/*
	 * After the move to the error state a target takes no more receives from the SRQs of its
	 * domain.
	 */
	if (!err && s->o.type == IBV_QPT_XRC_RECV && to == IBV_QPS_ERR && from != to)
		EVENT(s->e.h, QP_LAST_WQE_REACHED, s->e.qp);
	return err;
}

/* A request that fails, with the state that it leads to. */
static void break_sends(struct subject *s)
{
	struct ibv_sge sge = { 4096, 8, 0xffffff00 };
	struct ibv_send_wr wr = {
		.wr_id = 66, .opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;

	if (s->o.type == IBV_QPT_UD) {
		wr.wr.ud.ah = make_ah(&hca[0], &hca[0], false);
		wr.wr.ud.remote_qpn = s->e.qp->qp_num;
		wr.wr.ud.remote_qkey = QKEY;
	}
	IS(0, ibv_post_send(s->e.qp, &wr, &bad));
	WC(s->e.scq, 66, LOC_PROT_ERR);
}

static void bring_to(struct subject *s, enum ibv_qp_state state)
{
	const enum ibv_qp_state rts = IBV_QPS_RTS;

	IS(0, step(s, IBV_QPS_RESET, IBV_QPS_RESET, 0));
	if (state == IBV_QPS_ERR) {
		bring_to(s, IBV_QPS_INIT);
		IS(0, step(s, IBV_QPS_INIT, IBV_QPS_ERR, 0));
		return;
	}
	for (enum ibv_qp_state at = IBV_QPS_RESET; at < rts && at < state; at++)
		IS(0, step(s, at, at + 1, mask_of(s->o.type, at + 1)));
	if (state == IBV_QPS_SQD)
		IS(0, step(s, IBV_QPS_RTS, IBV_QPS_SQD, 0));
	if (state == IBV_QPS_SQE)
		break_sends(s);
	IS(state, state_of(s->e.qp));
}

/* The attributes that a transition requires; one to the same state requires none. */
static int wanted(enum ibv_qp_type type, enum ibv_qp_state from, enum ibv_qp_state to)
{
	return from == to || from == IBV_QPS_SQD || from == IBV_QPS_SQE ? 0 : mask_of(type, to);
}

static void from_state(long arg)
{
	const enum kind kind = arg / STATES;
	const enum ibv_qp_state from = arg % STATES;
	struct subject s;

	subject(&s, kind);
	for (enum ibv_qp_state to = IBV_QPS_RESET; to < STATES; to++) {
		bool ok = allowed[from] & 1U << to;

		bring_to(&s, from);
		IS(ok ? 0 : EINVAL, step(&s, from, to, wanted(types[kind], from, to)));
		IS(ok ? to : from, state_of(s.e.qp));
	}
}

/* A transition without one of its required attributes is refused and changes nothing. */
static void leave_out(long kind)
{
	struct subject s;
	int wants;

	subject(&s, kind);
	for (unsigned int i = 0; i < 3; i++) {
		bring_to(&s, steps[i].from);
		wants = wanted(types[kind], steps[i].from, steps[i].to);
		for (int bit = 1; bit < 1 << NUM_ATTRS; bit <<= 1) {
			if (!(wants & bit))
				continue;
			IS(EINVAL, step(&s, steps[i].from, steps[i].to, wants & ~bit));
			IS(steps[i].from, state_of(s.e.qp));
		}
		IS(0, step(&s, steps[i].from, steps[i].to, wants));
	}
}

/* Attributes of the queue that an XRC QP does not have: the kernel ignores them. */
static const int unheard[KINDS] = {
	[XI] = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
	[XT] = IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY,
};

/* A transition with an attribute that it does not allow is refused, too. */
static void one_too_many(long kind)
{
	struct subject s;
	int err, takes, wants;

	subject(&s, kind);
	for (unsigned int i = 0; i < NUM_STEPS; i++) {
		bring_to(&s, steps[i].from);
		wants = wanted(types[kind], steps[i].from, steps[i].to);
		takes = wants | steps[i].takes[kind] | IBV_QP_STATE;
		for (int bit = 1; bit < 1 << NUM_ATTRS; bit <<= 1) {
			if (takes & bit)
				continue;
			err = step(&s, steps[i].from, steps[i].to, wants | bit);
			if (unheard[kind] & bit) {
				IS(0, err);
				IS(steps[i].to, state_of(s.e.qp));
				bring_to(&s, steps[i].from);
				continue;
			}
			if (err != EINVAL)
				printf("# from %d to %d with %#x\n", steps[i].from, steps[i].to,
				       bit);
			IS(EINVAL, err);
			IS(steps[i].from, state_of(s.e.qp));
		}
	}
}

static void takes_each(long kind)
{
	struct subject s;
	int wants;

	subject(&s, kind);
	for (unsigned int i = 0; i < NUM_STEPS; i++) {
		wants = wanted(types[kind], steps[i].from, steps[i].to);
		for (int bit = 1; bit < 1 << NUM_ATTRS; bit <<= 1) {
			if (!(steps[i].takes[kind] & bit))
				continue;
			bring_to(&s, steps[i].from);
			IS(0, step(&s, steps[i].from, steps[i].to, wants | bit));
			IS(steps[i].to, state_of(s.e.qp));
		}
	}
}

#define FROM(kind, name, state)	\
	{ name ": transitions from " #state, from_state, (kind) * STATES + IBV_QPS_##state }
#define FROM_ALL(kind, name)							\
	FROM(kind, name, RESET), FROM(kind, name, INIT), FROM(kind, name, RTR),	\
	FROM(kind, name, RTS), FROM(kind, name, SQD), FROM(kind, name, ERR),	\
	{ name ": an attribute that is wanted is left out", leave_out, kind },	\
	{ name ": an attribute too many", one_too_many, kind },			\
	{ name ": each attribute that may be given", takes_each, kind }

static const struct test tests[] = {
	FROM_ALL(RC, "RC"),
	FROM_ALL(UC, "UC"),
	FROM(UC, "UC", SQE),
	FROM_ALL(UD, "UD"),
	FROM(UD, "UD", SQE),
	FROM_ALL(XI, "XRC initiator"),
	FROM_ALL(XT, "XRC target"),
};

const struct suite matrix_suite = SUITE(tests);
