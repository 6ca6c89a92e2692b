// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: the protocol of the communication manager, every state times every input.
 */
#include <kunit/test.h>

#include "../proto.h"

/*
 * What shall happen, said once more and in another order than the table has it: by input, with the
 * states in which it counts. What is not in this list must be refused.
 */
struct arc {
	s8 state, lap;		/* lap counts in ESTABLISHED */
	u8 input;
	u8 verdict;
	s8 next, next_lap;	/* -1: as before */
	u8 send;
	s8 event;
};

#define ARC(state_, input_, next_, send_, event_) \
	{ IB_CM_##state_, -1, CM_IN_##input_, CM_PROCEED, IB_CM_##next_, -1, send_, event_ }
#define FIRST(state_, input_, next_, send_, event_) \
	{ IB_CM_##state_, -1, CM_IN_##input_, CM_PROCEED, IB_CM_##next_, IB_CM_LAP_UNINIT, send_, \
	  event_ }
#define DUP(state_, input_, send_) \
	{ IB_CM_##state_, -1, CM_IN_##input_, CM_DUPLICATE, -1, -1, send_, CM_NO_EVENT }
#define LAP_ARC(lap_, input_, next_lap_, send_, event_) \
	{ IB_CM_ESTABLISHED, IB_CM_##lap_, CM_IN_##input_, CM_PROCEED, IB_CM_ESTABLISHED, \
	  IB_CM_##next_lap_, send_, event_ }
#define LAP_DUP(lap_, input_, send_) \
	{ IB_CM_ESTABLISHED, IB_CM_##lap_, CM_IN_##input_, CM_DUPLICATE, -1, -1, send_, \
	  CM_NO_EVENT }
#define LAP_END(lap_, input_) \
	{ IB_CM_ESTABLISHED, IB_CM_##lap_, CM_IN_##input_, CM_PROCEED, IB_CM_TIMEWAIT, -1, NONE, \
	  IB_CM_REJ_RECEIVED }

#define NONE	CM_SEND_NOTHING
#define QUIET	CM_NO_EVENT

static const struct arc arcs[] = {
	/* REQ */
	FIRST(IDLE, REQ, REQ_RCVD, NONE, IB_CM_REQ_RECEIVED),
	DUP(REQ_RCVD, REQ_AGAIN, NONE), DUP(MRA_REQ_SENT, REQ_AGAIN, CM_MSG_MRA),
	DUP(REP_SENT, REQ_AGAIN, CM_MSG_REP), DUP(MRA_REP_RCVD, REQ_AGAIN, NONE),
	DUP(ESTABLISHED, REQ_AGAIN, NONE), DUP(DREQ_SENT, REQ_AGAIN, NONE),
	DUP(DREQ_RCVD, REQ_AGAIN, NONE), DUP(TIMEWAIT, REQ_AGAIN, CM_MSG_REJ),
	ARC(REQ_SENT, REQ_PEER_YIELD, REQ_RCVD, NONE, IB_CM_REQ_RECEIVED),
	DUP(REQ_SENT, REQ_PEER_KEEP, NONE), DUP(MRA_REQ_RCVD, REQ_PEER_YIELD, NONE),
	DUP(MRA_REQ_RCVD, REQ_PEER_KEEP, NONE),
	/* MRA */
	ARC(REQ_SENT, MRA_REQ, MRA_REQ_RCVD, NONE, IB_CM_MRA_RECEIVED),
	DUP(MRA_REQ_RCVD, MRA_REQ, NONE),
	ARC(REP_SENT, MRA_REP, MRA_REP_RCVD, NONE, IB_CM_MRA_RECEIVED),
	DUP(MRA_REP_RCVD, MRA_REP, NONE),
	LAP_ARC(LAP_SENT, MRA_LAP, MRA_LAP_RCVD, NONE, IB_CM_MRA_RECEIVED),
	LAP_DUP(MRA_LAP_RCVD, MRA_LAP, NONE),
	/* REJ */
	ARC(REQ_SENT, REJ, IDLE, NONE, IB_CM_REJ_RECEIVED),
	ARC(MRA_REQ_RCVD, REJ, IDLE, NONE, IB_CM_REJ_RECEIVED),
	ARC(REQ_RCVD, REJ, IDLE, NONE, IB_CM_REJ_RECEIVED),
	ARC(MRA_REQ_SENT, REJ, IDLE, NONE, IB_CM_REJ_RECEIVED),
	ARC(REP_SENT, REJ, IDLE, NONE, IB_CM_REJ_RECEIVED),
	ARC(MRA_REP_RCVD, REJ, IDLE, NONE, IB_CM_REJ_RECEIVED),
	ARC(REP_RCVD, REJ, TIMEWAIT, NONE, IB_CM_REJ_RECEIVED),
	ARC(MRA_REP_SENT, REJ, TIMEWAIT, NONE, IB_CM_REJ_RECEIVED),
	ARC(DREQ_SENT, REJ, TIMEWAIT, NONE, IB_CM_REJ_RECEIVED),
	LAP_END(LAP_UNINIT, REJ), LAP_END(LAP_SENT, REJ),
	ARC(REQ_SENT, REJ_STALE, TIMEWAIT, NONE, IB_CM_REJ_RECEIVED),
	ARC(MRA_REQ_RCVD, REJ_STALE, TIMEWAIT, NONE, IB_CM_REJ_RECEIVED),
	ARC(REQ_RCVD, REJ_STALE, TIMEWAIT, NONE, IB_CM_REJ_RECEIVED),
	ARC(MRA_REQ_SENT, REJ_STALE, TIMEWAIT, NONE, IB_CM_REJ_RECEIVED),
	ARC(REP_SENT, REJ_STALE, TIMEWAIT, NONE, IB_CM_REJ_RECEIVED),
	ARC(MRA_REP_RCVD, REJ_STALE, TIMEWAIT, NONE, IB_CM_REJ_RECEIVED),
	ARC(REP_RCVD, REJ_STALE, TIMEWAIT, NONE, IB_CM_REJ_RECEIVED),
	ARC(MRA_REP_SENT, REJ_STALE, TIMEWAIT, NONE, IB_CM_REJ_RECEIVED),
	ARC(DREQ_SENT, REJ_STALE, TIMEWAIT, NONE, IB_CM_REJ_RECEIVED),
	LAP_END(LAP_UNINIT, REJ_STALE), LAP_END(LAP_SENT, REJ_STALE),
	DUP(REQ_SENT, REJ_PEER_EARLY, NONE), DUP(MRA_REQ_RCVD, REJ_PEER_EARLY, NONE),
	/* REP */
	DUP(IDLE, REP, CM_MSG_REJ),
	ARC(REQ_SENT, REP, REP_RCVD, NONE, IB_CM_REP_RECEIVED),
	ARC(MRA_REQ_RCVD, REP, REP_RCVD, NONE, IB_CM_REP_RECEIVED),
	DUP(REP_RCVD, REP, NONE), DUP(MRA_REP_SENT, REP, CM_MSG_MRA),
	DUP(ESTABLISHED, REP, CM_MSG_RTU), DUP(DREQ_SENT, REP, NONE), DUP(DREQ_RCVD, REP, NONE),
	DUP(TIMEWAIT, REP, NONE),
	ARC(REQ_SENT, REP_STALE, REQ_SENT, CM_MSG_REJ, QUIET),
	ARC(MRA_REQ_RCVD, REP_STALE, MRA_REQ_RCVD, CM_MSG_REJ, QUIET),
	/* RTU */
	DUP(IDLE, RTU, CM_MSG_REJ),
	ARC(REP_SENT, RTU, ESTABLISHED, NONE, IB_CM_RTU_RECEIVED),
	ARC(MRA_REP_RCVD, RTU, ESTABLISHED, NONE, IB_CM_RTU_RECEIVED),
	DUP(ESTABLISHED, RTU, NONE), DUP(DREQ_SENT, RTU, NONE), DUP(DREQ_RCVD, RTU, NONE),
	DUP(TIMEWAIT, RTU, NONE),
	/* DREQ, DREP */
	DUP(IDLE, DREQ, CM_MSG_DREP),
	ARC(REP_SENT, DREQ, DREQ_RCVD, NONE, IB_CM_DREQ_RECEIVED),
	ARC(MRA_REP_RCVD, DREQ, DREQ_RCVD, NONE, IB_CM_DREQ_RECEIVED),
	ARC(ESTABLISHED, DREQ, DREQ_RCVD, NONE, IB_CM_DREQ_RECEIVED),
	ARC(DREQ_SENT, DREQ, DREQ_RCVD, NONE, IB_CM_DREQ_RECEIVED),
	DUP(DREQ_RCVD, DREQ, NONE), DUP(TIMEWAIT, DREQ, CM_MSG_DREP),
	ARC(DREQ_SENT, DREP, TIMEWAIT, NONE, IB_CM_DREP_RECEIVED),
	ARC(DREQ_RCVD, DREP, TIMEWAIT, NONE, IB_CM_DREP_RECEIVED),
	ARC(ESTABLISHED, QP_REUSED, DREQ_SENT, CM_MSG_DREQ, QUIET),
	/* LAP, APR */
	DUP(IDLE, LAP, CM_MSG_APR),
	LAP_ARC(LAP_UNINIT, LAP, LAP_RCVD, NONE, IB_CM_LAP_RECEIVED),
	LAP_ARC(LAP_IDLE, LAP, LAP_RCVD, NONE, IB_CM_LAP_RECEIVED),
	LAP_DUP(LAP_RCVD, LAP, NONE), LAP_DUP(MRA_LAP_SENT, LAP, CM_MSG_MRA),
	LAP_ARC(LAP_SENT, APR, LAP_IDLE, NONE, IB_CM_APR_RECEIVED),
	LAP_ARC(MRA_LAP_RCVD, APR, LAP_IDLE, NONE, IB_CM_APR_RECEIVED),
	/* SIDR */
	ARC(IDLE, SIDR_REQ, SIDR_REQ_RCVD, NONE, IB_CM_SIDR_REQ_RECEIVED),
	DUP(SIDR_REQ_RCVD, SIDR_REQ_AGAIN, NONE),
	ARC(SIDR_REQ_SENT, SIDR_REP, IDLE, NONE, IB_CM_SIDR_REP_RECEIVED),

	/* calls */
	ARC(IDLE, CALL_LISTEN, LISTEN, NONE, QUIET),
	FIRST(IDLE, CALL_REQ, REQ_SENT, CM_MSG_REQ, QUIET),
	ARC(REQ_RCVD, CALL_REP, REP_SENT, CM_MSG_REP, QUIET),
	ARC(MRA_REQ_SENT, CALL_REP, REP_SENT, CM_MSG_REP, QUIET),
	ARC(REP_RCVD, CALL_RTU, ESTABLISHED, CM_MSG_RTU, QUIET),
	ARC(MRA_REP_SENT, CALL_RTU, ESTABLISHED, CM_MSG_RTU, QUIET),
	ARC(REQ_SENT, CALL_REJ, IDLE, CM_MSG_REJ, QUIET),
	ARC(MRA_REQ_RCVD, CALL_REJ, IDLE, CM_MSG_REJ, QUIET),
	ARC(REQ_RCVD, CALL_REJ, IDLE, CM_MSG_REJ, QUIET),
	ARC(MRA_REQ_SENT, CALL_REJ, IDLE, CM_MSG_REJ, QUIET),
	ARC(REP_SENT, CALL_REJ, TIMEWAIT, CM_MSG_REJ, QUIET),
	ARC(MRA_REP_RCVD, CALL_REJ, TIMEWAIT, CM_MSG_REJ, QUIET),
	ARC(REP_RCVD, CALL_REJ, IDLE, CM_MSG_REJ, QUIET),
	ARC(MRA_REP_SENT, CALL_REJ, IDLE, CM_MSG_REJ, QUIET),
	ARC(REQ_RCVD, CALL_MRA, MRA_REQ_SENT, CM_MSG_MRA, QUIET),
	ARC(REP_RCVD, CALL_MRA, MRA_REP_SENT, CM_MSG_MRA, QUIET),
	LAP_ARC(LAP_RCVD, CALL_MRA, MRA_LAP_SENT, CM_MSG_MRA, QUIET),
	ARC(ESTABLISHED, CALL_DREQ, DREQ_SENT, CM_MSG_DREQ, QUIET),
	ARC(ESTABLISHED, DREQ_UNSENT, TIMEWAIT, NONE, QUIET),
	ARC(DREQ_RCVD, CALL_DREP, TIMEWAIT, CM_MSG_DREP, QUIET),
	LAP_ARC(LAP_UNINIT, CALL_LAP, LAP_SENT, CM_MSG_LAP, QUIET),
	LAP_ARC(LAP_IDLE, CALL_LAP, LAP_SENT, CM_MSG_LAP, QUIET),
	LAP_ARC(LAP_RCVD, CALL_APR, LAP_IDLE, CM_MSG_APR, QUIET),
	LAP_ARC(MRA_LAP_SENT, CALL_APR, LAP_IDLE, CM_MSG_APR, QUIET),
	ARC(IDLE, CALL_SIDR_REQ, SIDR_REQ_SENT, CM_MSG_SIDR_REQ, QUIET),
	ARC(SIDR_REQ_RCVD, CALL_SIDR_REP, IDLE, CM_MSG_SIDR_REP, QUIET),
	ARC(REP_SENT, CALL_ESTABLISHED, ESTABLISHED, NONE, IB_CM_USER_ESTABLISHED),
	ARC(MRA_REP_RCVD, CALL_ESTABLISHED, ESTABLISHED, NONE, IB_CM_USER_ESTABLISHED),
	LAP_ARC(LAP_UNINIT, CALL_MIGRATED, LAP_IDLE, NONE, QUIET),
	LAP_ARC(LAP_IDLE, CALL_MIGRATED, LAP_IDLE, NONE, QUIET),
	ARC(REQ_RCVD, CALL_HANDOFF, REQ_RCVD, NONE, IB_CM_REQ_RECEIVED),
	ARC(MRA_REQ_SENT, CALL_HANDOFF, MRA_REQ_SENT, NONE, IB_CM_REQ_RECEIVED),
	ARC(IDLE, CALL_DESTROY, IDLE, NONE, QUIET),
	ARC(LISTEN, CALL_DESTROY, IDLE, NONE, QUIET),
	ARC(REQ_SENT, CALL_DESTROY, IDLE, CM_MSG_REJ, QUIET),
	ARC(MRA_REQ_RCVD, CALL_DESTROY, IDLE, CM_MSG_REJ, QUIET),
	ARC(REQ_RCVD, CALL_DESTROY, IDLE, CM_MSG_REJ, QUIET),
	ARC(MRA_REQ_SENT, CALL_DESTROY, IDLE, CM_MSG_REJ, QUIET),
	ARC(REP_SENT, CALL_DESTROY, TIMEWAIT, CM_MSG_REJ, QUIET),
	ARC(MRA_REP_RCVD, CALL_DESTROY, TIMEWAIT, CM_MSG_REJ, QUIET),
	ARC(REP_RCVD, CALL_DESTROY, IDLE, CM_MSG_REJ, QUIET),
	ARC(MRA_REP_SENT, CALL_DESTROY, IDLE, CM_MSG_REJ, QUIET),
	ARC(ESTABLISHED, CALL_DESTROY, TIMEWAIT, CM_MSG_DREQ, QUIET),
	ARC(DREQ_SENT, CALL_DESTROY, TIMEWAIT, NONE, QUIET),
	ARC(DREQ_RCVD, CALL_DESTROY, TIMEWAIT, CM_MSG_DREP, QUIET),
	ARC(TIMEWAIT, CALL_DESTROY, TIMEWAIT, NONE, QUIET),
	ARC(SIDR_REQ_SENT, CALL_DESTROY, IDLE, NONE, QUIET),
	ARC(SIDR_REQ_RCVD, CALL_DESTROY, IDLE, CM_MSG_SIDR_REP, QUIET),
	ARC(IDLE, CALL_DESTROY_QUIETLY, IDLE, NONE, QUIET),
	ARC(LISTEN, CALL_DESTROY_QUIETLY, IDLE, NONE, QUIET),
	ARC(REQ_SENT, CALL_DESTROY_QUIETLY, IDLE, NONE, QUIET),
	ARC(MRA_REQ_RCVD, CALL_DESTROY_QUIETLY, IDLE, NONE, QUIET),
	ARC(REQ_RCVD, CALL_DESTROY_QUIETLY, IDLE, NONE, QUIET),
	ARC(MRA_REQ_SENT, CALL_DESTROY_QUIETLY, IDLE, NONE, QUIET),
	ARC(REP_SENT, CALL_DESTROY_QUIETLY, IDLE, NONE, QUIET),
	ARC(MRA_REP_RCVD, CALL_DESTROY_QUIETLY, IDLE, NONE, QUIET),
	ARC(REP_RCVD, CALL_DESTROY_QUIETLY, IDLE, NONE, QUIET),
	ARC(MRA_REP_SENT, CALL_DESTROY_QUIETLY, IDLE, NONE, QUIET),
	ARC(ESTABLISHED, CALL_DESTROY_QUIETLY, IDLE, NONE, QUIET),
	ARC(DREQ_SENT, CALL_DESTROY_QUIETLY, TIMEWAIT, NONE, QUIET),
	ARC(DREQ_RCVD, CALL_DESTROY_QUIETLY, TIMEWAIT, NONE, QUIET),
	ARC(TIMEWAIT, CALL_DESTROY_QUIETLY, TIMEWAIT, NONE, QUIET),
	ARC(SIDR_REQ_SENT, CALL_DESTROY_QUIETLY, IDLE, NONE, QUIET),
	ARC(SIDR_REQ_RCVD, CALL_DESTROY_QUIETLY, IDLE, NONE, QUIET),

	/* time */
	ARC(REQ_SENT, SEND_FAILED, IDLE, CM_MSG_REJ, IB_CM_REQ_ERROR),
	ARC(MRA_REQ_RCVD, SEND_FAILED, IDLE, CM_MSG_REJ, IB_CM_REQ_ERROR),
	ARC(REP_SENT, SEND_FAILED, IDLE, CM_MSG_REJ, IB_CM_REP_ERROR),
	ARC(MRA_REP_RCVD, SEND_FAILED, IDLE, CM_MSG_REJ, IB_CM_REP_ERROR),
	ARC(DREQ_SENT, SEND_FAILED, TIMEWAIT, NONE, IB_CM_DREQ_ERROR),
	ARC(SIDR_REQ_SENT, SEND_FAILED, IDLE, NONE, IB_CM_SIDR_REQ_ERROR),
	LAP_ARC(LAP_SENT, SEND_FAILED, LAP_IDLE, NONE, IB_CM_LAP_ERROR),
	LAP_ARC(MRA_LAP_RCVD, SEND_FAILED, LAP_IDLE, NONE, IB_CM_LAP_ERROR),
	ARC(TIMEWAIT, TIMEWAIT_OVER, IDLE, NONE, IB_CM_TIMEWAIT_EXIT),
};

static const struct arc *arc_of(struct kunit *test, int state, int lap, int input)
{
	const struct arc *found = NULL;

	for (const struct arc *arc = arcs; arc < arcs + ARRAY_SIZE(arcs); arc++) {
		if (arc->state != state || arc->input != input)
			continue;
		if (arc->lap >= 0 && arc->lap != lap)
			continue;
		KUNIT_EXPECT_NULL(test, found);
		found = arc;
	}
	return found;
}

#define SWEEP(state, lap, input) \
	for ((state) = 0; (state) < CM_STATES; (state)++) \
		for ((lap) = 0; (lap) < CM_LAP_STATES; (lap)++) \
			for ((input) = 0; (input) < CM_INPUTS; (input)++)

#define WHERE(state, lap, input) "%s, %s: %s", cm_state_name(state), cm_lap_state_name(lap), \
	cm_input_name(input)

static void every_state_times_every_input(struct kunit *test)
{
	unsigned int state, lap, input, arcs_met = 0;

	SWEEP(state, lap, input) {
		struct cm_rule rule = cm_proto_rule(state, lap, input);
		const struct arc *arc = arc_of(test, state, lap, input);
		int verdict = arc ? arc->verdict : CM_REFUSE;
		int next = arc && arc->next >= 0 ? arc->next : state;
		int next_lap = arc && arc->next_lap >= 0 ? arc->next_lap : lap;

		arcs_met += !!arc;
		KUNIT_EXPECT_EQ_MSG(test, rule.verdict, verdict, WHERE(state, lap, input));
		KUNIT_EXPECT_EQ_MSG(test, rule.next, next, WHERE(state, lap, input));
		KUNIT_EXPECT_EQ_MSG(test, rule.next_lap, next_lap, WHERE(state, lap, input));
		KUNIT_EXPECT_EQ_MSG(test, rule.send, arc ? arc->send : CM_SEND_NOTHING,
				    WHERE(state, lap, input));
		KUNIT_EXPECT_EQ_MSG(test, rule.event, arc ? arc->event : CM_NO_EVENT,
				    WHERE(state, lap, input));
		KUNIT_EXPECT_EQ_MSG(test, rule.error, verdict != CM_REFUSE ? 0 :
				    state == IB_CM_ESTABLISHED && input == CM_IN_CALL_ESTABLISHED ?
				    -EISCONN : -EINVAL, WHERE(state, lap, input));
	}
	KUNIT_EXPECT_GT(test, arcs_met, ARRAY_SIZE(arcs));
}

static bool under_way(struct cm_wait_rule wait)
{
	return wait.kind == CM_WAIT_ANSWER || wait.kind == CM_WAIT_SERVICE;
}

/* Ids with a remote id: all between the first message from the peer and the end. */
static bool bound(unsigned int state)
{
	switch (state) {
	case IB_CM_IDLE:
	case IB_CM_LISTEN:
	case IB_CM_REQ_SENT:
	case IB_CM_MRA_REQ_RCVD:
	case IB_CM_SIDR_REQ_SENT:
		return false;
	default:
		return true;
	}
}

/* The actions of a rule follow from the state that it leads to, whatever the input is. */
static void deeds_fit_states(struct kunit *test)
{
	unsigned int state, lap, input;

	SWEEP(state, lap, input) {
		struct cm_rule rule = cm_proto_rule(state, lap, input);
		struct cm_wait_rule from = cm_proto_wait(state, lap);
		struct cm_wait_rule to = cm_proto_wait(rule.next, rule.next_lap);
		bool moved = rule.next != state || rule.next_lap != lap;
		bool failed = input == CM_IN_SEND_FAILED;

		/* A REQ sees to it that no LAP is left over from a former connection. */
		if (state != IB_CM_ESTABLISHED && lap != IB_CM_LAP_UNINIT)
			continue;
		if (rule.verdict != CM_PROCEED) {
			KUNIT_EXPECT_EQ_MSG(test, rule.todo & ~CM_DO_REPEAT, 0,
					    WHERE(state, lap, input));
			continue;
		}
		/* What is sent until it is answered is what the state waits for. */
		KUNIT_EXPECT_EQ_MSG(test, !!(rule.todo & CM_DO_AWAIT),
				    moved && to.kind == CM_WAIT_ANSWER, WHERE(state, lap, input));
		if (rule.todo & CM_DO_AWAIT)
			KUNIT_EXPECT_EQ_MSG(test, rule.send, to.send, WHERE(state, lap, input));
		/* It is given up when it is answered, unless that is what has happened. */
		KUNIT_EXPECT_EQ_MSG(test, !!(rule.todo & CM_DO_CANCEL),
				    under_way(from) && !failed &&
				    (!under_way(to) || from.send != to.send),
				    WHERE(state, lap, input));
		KUNIT_EXPECT_EQ_MSG(test, !!(rule.todo & CM_DO_EXTEND),
				    from.kind == CM_WAIT_ANSWER && to.kind == CM_WAIT_SERVICE,
				    WHERE(state, lap, input));
		KUNIT_EXPECT_EQ_MSG(test, !!(rule.todo & CM_DO_TIMEWAIT),
				    rule.next == IB_CM_TIMEWAIT && state != IB_CM_TIMEWAIT,
				    WHERE(state, lap, input));
		KUNIT_EXPECT_EQ_MSG(test, !!(rule.todo & CM_DO_BIND),
				    !bound(state) && bound(rule.next) &&
				    rule.next != IB_CM_TIMEWAIT, WHERE(state, lap, input));
		/* An id that leaves the states in which it is bound is unbound by the rule. */
		if (bound(state) && !bound(rule.next))
			KUNIT_EXPECT_TRUE_MSG(test, rule.todo & CM_DO_UNBIND,
					      WHERE(state, lap, input));
		if (bound(rule.next))
			KUNIT_EXPECT_FALSE_MSG(test, rule.todo & CM_DO_UNBIND,
					       WHERE(state, lap, input));
		KUNIT_EXPECT_FALSE_MSG(test, rule.todo & CM_DO_REPEAT, WHERE(state, lap, input));
	}
}

/* The reason of a REJ is either the table's or the caller's. */
static void refusals_have_reasons(struct kunit *test)
{
	unsigned int state, lap, input;

	SWEEP(state, lap, input) {
		struct cm_rule rule = cm_proto_rule(state, lap, input);

		if (rule.send == CM_MSG_REJ)
			KUNIT_EXPECT_EQ_MSG(test, !!rule.code, input != CM_IN_CALL_REJ,
					    WHERE(state, lap, input));
		else if (rule.send == CM_MSG_APR || rule.send == CM_MSG_SIDR_REP)
			KUNIT_EXPECT_EQ_MSG(test, !!rule.code, input != CM_IN_CALL_APR &&
					    input != CM_IN_CALL_SIDR_REP,
					    WHERE(state, lap, input));
		else
			KUNIT_EXPECT_EQ_MSG(test, rule.code, 0, WHERE(state, lap, input));
	}
	/* The REJ of a consumer says which message it refuses; the others follow from the state. */
	KUNIT_EXPECT_EQ(test, cm_proto_rule(IB_CM_REQ_RCVD, 0, CM_IN_CALL_REJ).about, CM_ABOUT_REQ);
	KUNIT_EXPECT_EQ(test, cm_proto_rule(IB_CM_REP_RCVD, 0, CM_IN_CALL_REJ).about, CM_ABOUT_REP);
	KUNIT_EXPECT_EQ(test, cm_proto_rule(IB_CM_REP_SENT, 0, CM_IN_CALL_REJ).about,
			CM_ABOUT_OTHER);
	KUNIT_EXPECT_EQ(test, cm_proto_rule(IB_CM_REQ_SENT, 0, CM_IN_CALL_DESTROY).code,
			IB_CM_REJ_TIMEOUT);
	KUNIT_EXPECT_EQ(test, cm_proto_rule(IB_CM_REQ_RCVD, 0, CM_IN_CALL_DESTROY).code,
			IB_CM_REJ_CONSUMER_DEFINED);
	KUNIT_EXPECT_EQ(test, cm_proto_rule(IB_CM_TIMEWAIT, 0, CM_IN_REQ_AGAIN).code,
			IB_CM_REJ_STALE_CONN);
	KUNIT_EXPECT_EQ(test, cm_proto_rule(IB_CM_SIDR_REQ_RCVD, 0, CM_IN_CALL_DESTROY).code,
			IB_SIDR_REJECT);
}

/* Time, and the calls that a consumer may always make, lead an id out of each state. */
static void no_state_is_a_trap(struct kunit *test)
{
	static const enum cm_input ways[] = {
		CM_IN_CALL_REP, CM_IN_CALL_REJ, CM_IN_CALL_DREP, CM_IN_CALL_DREQ, CM_IN_CALL_APR,
		CM_IN_CALL_SIDR_REP, CM_IN_SEND_FAILED, CM_IN_TIMEWAIT_OVER,
	};

	for (unsigned int state = 0; state < CM_STATES; state++)
		for (unsigned int lap = 0; lap < CM_LAP_STATES; lap++) {
			struct cm_rule rule = { .next = state, .next_lap = lap };

			for (unsigned int steps = 0; steps < 5 && rule.next != IB_CM_IDLE; steps++)
				for (unsigned int i = 0; i < ARRAY_SIZE(ways); i++) {
					struct cm_rule way = cm_proto_rule(rule.next, rule.next_lap,
									   ways[i]);

					if (way.verdict == CM_PROCEED) {
						rule = way;
						break;
					}
				}
			/* A listener ends when it is destroyed. */
			KUNIT_EXPECT_TRUE_MSG(test, rule.next == IB_CM_IDLE ||
					      state == IB_CM_LISTEN, "%s", cm_state_name(state));
		}
}

static void messages_without_an_id(struct kunit *test)
{
	static const struct {
		enum cm_msg_type send;
		u8 about, code;
	} answers[CM_MSG_TYPES] = {
		[CM_MSG_REQ] = { CM_MSG_REJ, CM_ABOUT_REQ, IB_CM_REJ_INVALID_SERVICE_ID },
		[CM_MSG_MRA] = { NONE },
		[CM_MSG_REJ] = { NONE },
		[CM_MSG_REP] = { CM_MSG_REJ, CM_ABOUT_REP, IB_CM_REJ_INVALID_COMM_ID },
		[CM_MSG_RTU] = { CM_MSG_REJ, CM_ABOUT_OTHER, IB_CM_REJ_INVALID_COMM_ID },
		[CM_MSG_DREQ] = { CM_MSG_DREP },
		[CM_MSG_DREP] = { NONE },
		[CM_MSG_SIDR_REQ] = { CM_MSG_SIDR_REP, 0, IB_SIDR_UNSUPPORTED },
		[CM_MSG_SIDR_REP] = { NONE },
		[CM_MSG_LAP] = { CM_MSG_APR, 0, IB_CM_APR_INVALID_COMM_ID },
		[CM_MSG_APR] = { NONE },
	};

	for (unsigned int type = 0; type < CM_MSG_TYPES; type++) {
		struct cm_rule rule = cm_proto_orphan(type);

		KUNIT_EXPECT_EQ_MSG(test, rule.send, answers[type].send, "%s", cm_msg_name(type));
		KUNIT_EXPECT_EQ_MSG(test, rule.about, answers[type].about, "%s", cm_msg_name(type));
		KUNIT_EXPECT_EQ_MSG(test, rule.code, answers[type].code, "%s", cm_msg_name(type));
		KUNIT_EXPECT_EQ_MSG(test, rule.verdict, answers[type].send == NONE ? CM_REFUSE :
				    CM_DUPLICATE, "%s", cm_msg_name(type));
		KUNIT_EXPECT_EQ(test, rule.event, CM_NO_EVENT);
		/* An answer without an id is not answered: two sides cannot go on for ever. */
		if (rule.send != NONE)
			KUNIT_EXPECT_EQ_MSG(test, cm_proto_orphan(rule.send).send, NONE, "%s",
					    cm_msg_name(type));
	}
}

static void messages_are_inputs(struct kunit *test)
{
	static const enum cm_input inputs[CM_MSG_TYPES] = {
		[CM_MSG_REQ] = CM_IN_REQ, [CM_MSG_MRA] = CM_IN_MRA_REQ, [CM_MSG_REJ] = CM_IN_REJ,
		[CM_MSG_REP] = CM_IN_REP, [CM_MSG_RTU] = CM_IN_RTU, [CM_MSG_DREQ] = CM_IN_DREQ,
		[CM_MSG_DREP] = CM_IN_DREP, [CM_MSG_SIDR_REQ] = CM_IN_SIDR_REQ,
		[CM_MSG_SIDR_REP] = CM_IN_SIDR_REP, [CM_MSG_LAP] = CM_IN_LAP,
		[CM_MSG_APR] = CM_IN_APR,
	};
	struct cm_msg msg;

	for (unsigned int i = 0; i < CM_MSG_TYPES; i++) {
		msg = (struct cm_msg){ .type = i };
		KUNIT_EXPECT_EQ(test, cm_proto_input(&msg), inputs[i]);
	}
	msg = (struct cm_msg){ .type = CM_MSG_MRA, .mra.about = CM_ABOUT_REP };
	KUNIT_EXPECT_EQ(test, cm_proto_input(&msg), CM_IN_MRA_REP);
	msg.mra.about = CM_ABOUT_OTHER;
	KUNIT_EXPECT_EQ(test, cm_proto_input(&msg), CM_IN_MRA_LAP);
	msg = (struct cm_msg){ .type = CM_MSG_REJ, .rej.reason = IB_CM_REJ_STALE_CONN };
	KUNIT_EXPECT_EQ(test, cm_proto_input(&msg), CM_IN_REJ_STALE);
}

static void one_of_two_peers_is_active(struct kunit *test)
{
	static const struct {
		u64 guid;
		u32 qpn;
	} sides[] = { { 1, 5 }, { 1, 6 }, { 2, 4 }, { U64_MAX, 0 }, { 1ULL << 63, 0xffffff } };

	for (unsigned int a = 0; a < ARRAY_SIZE(sides); a++)
		for (unsigned int b = 0; b < ARRAY_SIZE(sides); b++)
			if (a != b)
				KUNIT_EXPECT_NE(test,
						cm_peer_is_active(sides[a].guid, sides[a].qpn,
								  sides[b].guid, sides[b].qpn),
						cm_peer_is_active(sides[b].guid, sides[b].qpn,
								  sides[a].guid, sides[a].qpn));
	KUNIT_EXPECT_TRUE(test, cm_peer_is_active(2, 0, 1, 9));
	KUNIT_EXPECT_TRUE(test, cm_peer_is_active(1, 9, 1, 8));
}

static void everything_has_a_name(struct kunit *test)
{
	for (unsigned int i = 0; i < CM_STATES; i++)
		KUNIT_EXPECT_STRNEQ(test, cm_state_name(i), "unknown");
	for (unsigned int i = 0; i < CM_LAP_STATES; i++)
		KUNIT_EXPECT_STRNEQ(test, cm_lap_state_name(i), "unknown");
	for (unsigned int i = 0; i < CM_INPUTS; i++)
		KUNIT_EXPECT_STRNEQ_MSG(test, cm_input_name(i), "unknown", "%u", i);
	for (unsigned int i = 0; i <= IB_CM_SIDR_REP_RECEIVED; i++)
		KUNIT_EXPECT_STRNEQ(test, cm_event_name(i), "unknown");
	KUNIT_EXPECT_STREQ(test, cm_state_name(CM_STATES), "unknown");
	KUNIT_EXPECT_STREQ(test, cm_lap_state_name(CM_LAP_STATES), "unknown");
	KUNIT_EXPECT_STREQ(test, cm_input_name(CM_INPUTS), "unknown");
	KUNIT_EXPECT_STREQ(test, cm_event_name(IB_CM_SIDR_REP_RECEIVED + 1), "unknown");
}

static struct kunit_case proto_cases[] = {
	KUNIT_CASE(every_state_times_every_input),
	KUNIT_CASE(deeds_fit_states),
	KUNIT_CASE(refusals_have_reasons),
	KUNIT_CASE(no_state_is_a_trap),
	KUNIT_CASE(messages_without_an_id),
	KUNIT_CASE(messages_are_inputs),
	KUNIT_CASE(one_of_two_peers_is_active),
	KUNIT_CASE(everything_has_a_name),
	{}
};

static struct kunit_suite proto_suite = {
	.name = "ib_cm_proto",
	.test_cases = proto_cases,
};

kunit_test_suite(proto_suite);
