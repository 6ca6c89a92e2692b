// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: two sides that both follow the protocol's table, with a network between them that loses,
 * doubles and reorders messages. Whatever happens, they end connected to each other or not at all.
 *
 * Time counts in ticks. A run is a series of events: a message arrives, a time-out ends, a consumer
 * acts. Everything that is left to chance comes from a seed, which a failure names.
 */
#include <kunit/test.h>
#include <linux/prandom.h>
#include <linux/slab.h>

#include "../proto.h"

#define RUNS		2000
#define EVENTS		20000	/* in one run, far more than there may be */

#define IDS		32
#define MESSAGES	128

#define ON_THE_WAY	20	/* ticks a message takes at most */
#define ANSWER_TIME	50
#define SERVICE_TIME	150	/* that an MRA announces */
#define TIMEWAIT	200
#define RETRIES		15

/**
 * struct id - a communication id of one side
 * @no: communication id, 0: none; never used again
 * @side: 0 or 1
 * @peer: connects peer to peer
 * @state: of the protocol
 * @lap: of loading an alternate path
 * @bound: @remote is the peer's communication id
 * @remote: the last that was known
 * @timeout: when what @waits for is late, 0: nothing is waited for
 * @waits: message under way, or CM_SEND_NOTHING in TIMEWAIT
 * @retries: left
 * @act: when the consumer acts, 0: it waits for an event
 * @dropped: messages of each kind that the network has just lost one after another
 */
struct id {
	u32 no;
	u8 side;
	bool peer;
	u8 state, lap;
	bool bound;
	u32 remote;
	u32 timeout;
	u8 waits, retries;
	u32 act;
	u8 dropped[CM_MSG_TYPES];
};

struct message {
	u32 at;			/* 0: an empty place */
	u8 type, about, code;
	u8 side;		/* of the receiver */
	u32 from, to;
};

/* What a run tries. */
enum plan {
	KEEP,		/* consumers want to be connected; no message is lost time and again */
	KEEP_PEERS,	/* the same, both sides call */
	CRASH,		/* the active side forgets its connection, and connects the QP again */
	ANY,		/* consumers change their minds at any time, and all may be lost */
};

struct model {
	struct kunit *test;
	struct rnd_state rnd;
	u32 seed;
	enum plan plan;
	unsigned int loss;		/* per cent */
	u32 now, last_no;
	struct id ids[IDS];
	struct message messages[MESSAGES];
	unsigned int crashes;		/* left */
	unsigned int met, halves, stale;
};

static u32 below(struct model *w, u32 n)
{
	return prandom_u32_state(&w->rnd) % n;
}

static bool chance(struct model *w, unsigned int percent)
{
	return below(w, 100) < percent;
}

static void post(struct model *w, const struct message *message)
{
	for (struct message *place = w->messages; place < w->messages + MESSAGES; place++)
		if (!place->at) {
			*place = *message;
			place->at = w->now + 1 + below(w, ON_THE_WAY);
			return;
		}
	KUNIT_FAIL(w->test, "seed %u: more messages under way than there can be", w->seed);
}

/* @id: whose message it is, NULL: an answer for which there is no id. */
static void emit(struct model *w, struct id *id, struct message message)
{
	bool lost = chance(w, w->loss);

	/* Where the run has to end well, a message arrives after two in a row were lost. */
	if (id && w->plan != ANY)
		lost = lost && id->dropped[message.type] < 2;
	if (id)
		id->dropped[message.type] = lost ? id->dropped[message.type] + 1 : 0;
	if (lost)
		return;
	post(w, &message);
	while (chance(w, w->loss / 2))
		post(w, &message);
}

static struct id *new_id(struct model *w, u8 side)
{
	for (struct id *id = w->ids; id < w->ids + IDS; id++)
		if (!id->no) {
			*id = (struct id){ .no = ++w->last_no, .side = side };
			return id;
		}
	KUNIT_FAIL(w->test, "seed %u: no end of ids", w->seed);
	return NULL;
}

static struct id *id_of(struct model *w, u32 no)
{
	for (struct id *id = w->ids; id < w->ids + IDS; id++)
		if (no && id->no == no)
			return id;
	return NULL;
}

/* Are both connected, and to each other? */
static bool paired(struct model *w, const struct id *id)
{
	const struct id *other = id_of(w, id->remote);

	return id->state == IB_CM_ESTABLISHED && other && other->state == IB_CM_ESTABLISHED &&
	       other->remote == id->no;
}

static void deliver(struct model *w, struct id *id, int event)
{
	/* What happens next is up to the consumer. */
	switch (event) {
	case IB_CM_REQ_RECEIVED:
	case IB_CM_REP_RECEIVED:
	case IB_CM_DREQ_RECEIVED:
	case IB_CM_LAP_RECEIVED:
		id->act = w->now + 1 + below(w, 30);
		break;
	default:
		id->act = w->now + 1 + below(w, 300);
		break;
	}
}

/* Carry out what the table says, as act.c does for real ids. Return: was it possible? */
static bool input(struct model *w, struct id *id, enum cm_input what, const struct message *message)
{
	struct cm_rule rule = cm_proto_rule(id->state, id->lap, what);
	struct cm_wait_rule wait;

	w->met++;
	if (rule.verdict == CM_REFUSE)
		return false;
	id->state = rule.next;
	id->lap = rule.next_lap;
	if (rule.todo & CM_DO_CANCEL || what == CM_IN_SEND_FAILED)
		id->timeout = 0;
	if (rule.todo & CM_DO_BIND) {
		id->bound = true;
		id->remote = message->from;
	}
	if (rule.todo & CM_DO_UNBIND)
		id->bound = false;
	if (rule.todo & CM_DO_EXTEND)
		id->timeout = w->now + SERVICE_TIME + ANSWER_TIME;
	wait = cm_proto_wait(id->state, id->lap);
	if (rule.todo & CM_DO_AWAIT) {
		id->waits = wait.send;
		id->retries = RETRIES;
		id->timeout = w->now + ANSWER_TIME;
	}
	if (rule.todo & CM_DO_TIMEWAIT) {
		id->waits = CM_SEND_NOTHING;
		id->timeout = w->now + TIMEWAIT;
	}
	if (rule.send != CM_SEND_NOTHING)
		emit(w, id, (struct message){
			.type = rule.send, .about = rule.about, .code = rule.code,
			.side = !id->side, .from = id->no,
			.to = message ? message->from : id->remote,
		});
	if (rule.event != CM_NO_EVENT)
		deliver(w, id, rule.event);
	return true;
}

static void destroy(struct model *w, struct id *id, enum cm_input how)
{
	KUNIT_EXPECT_TRUE_MSG(w->test, input(w, id, how, NULL), "seed %u: %s", w->seed,
			      cm_state_name(id->state));
	KUNIT_EXPECT_TRUE_MSG(w->test, id->state == IB_CM_IDLE || id->state == IB_CM_TIMEWAIT,
			      "seed %u: %s", w->seed, cm_state_name(id->state));
	*id = (struct id){};
}

static enum cm_input input_of(const struct message *message, const struct id *id)
{
	struct cm_msg msg = { .type = message->type };

	if (msg.type == CM_MSG_MRA)
		msg.mra.about = message->about;
	if (msg.type == CM_MSG_REJ) {
		msg.rej.reason = message->code;
		if (id->peer && message->code == IB_CM_REJ_INVALID_SERVICE_ID)
			return CM_IN_REJ_PEER_EARLY;
	}
	return cm_proto_input(&msg);
}

/* Side 0 has one QP: is another id bound to it? */
static bool qp_is_taken(struct model *w, const struct message *message)
{
	for (struct id *id = w->ids; id < w->ids + IDS; id++) {
		if (!id->no || id->side != message->side || !id->bound ||
		    id->state == IB_CM_TIMEWAIT)
			continue;
		w->stale++;
		emit(w, NULL, (struct message){
			.type = CM_MSG_REJ, .code = IB_CM_REJ_STALE_CONN, .about = CM_ABOUT_REQ,
			.side = !message->side, .to = message->from,
		});
		input(w, id, CM_IN_QP_REUSED, NULL);
		return true;
	}
	return false;
}

static void arrive_req(struct model *w, const struct message *message)
{
	bool listens = message->side == 1 && w->plan != KEEP_PEERS, keep;
	struct id *id;

	for (id = w->ids; id < w->ids + IDS; id++)
		if (id->no && id->side == message->side && id->bound &&
		    id->remote == message->from) {
			input(w, id, CM_IN_REQ_AGAIN, message);
			return;
		}
	for (id = w->ids; id < w->ids + IDS; id++)
		if (id->no && id->side == message->side && id->peer &&
		    cm_proto_wait(id->state, id->lap).send == CM_MSG_REQ) {
			keep = cm_peer_is_active(id->side, 0, !id->side, 0);
			input(w, id, keep ? CM_IN_REQ_PEER_KEEP : CM_IN_REQ_PEER_YIELD, message);
			return;
		}
	if (listens && qp_is_taken(w, message))
		return;
	id = listens ? new_id(w, message->side) : NULL;
	if (id)
		input(w, id, CM_IN_REQ, message);
	else
		emit(w, NULL, (struct message){
			.type = CM_MSG_REJ, .code = IB_CM_REJ_INVALID_SERVICE_ID,
			.about = CM_ABOUT_REQ, .side = !message->side, .to = message->from,
		});
}

static void arrive(struct model *w, const struct message *message)
{
	struct id *id = id_of(w, message->to);
	struct cm_rule orphan;

	if (message->type == CM_MSG_REQ) {
		arrive_req(w, message);
		return;
	}
	if (message->type == CM_MSG_REJ && message->code == IB_CM_REJ_TIMEOUT) {
		/* The sender may not know this side's id, but this side knows the sender's. */
		id = NULL;
		for (struct id *any = w->ids; any < w->ids + IDS; any++)
			if (any->no && any->bound && any->remote == message->from)
				id = any;
	} else if (message->type == CM_MSG_REJ && message->about == CM_ABOUT_REQ) {
		/* The side that refuses a REQ may have no id yet. */
	} else if (id && id->bound && id->remote != message->from) {
		id = NULL;
	}
	if (id) {
		input(w, id, input_of(message, id), message);
		return;
	}
	orphan = cm_proto_orphan(message->type);
	if (orphan.send != CM_SEND_NOTHING)
		emit(w, NULL, (struct message){
			.type = orphan.send, .about = orphan.about, .code = orphan.code,
			.side = !message->side, .from = message->to, .to = message->from,
		});
}

static void late(struct model *w, struct id *id)
{
	id->timeout = 0;
	if (id->waits == CM_SEND_NOTHING) {
		input(w, id, CM_IN_TIMEWAIT_OVER, NULL);
	} else if (id->retries) {
		id->retries--;
		id->timeout = w->now + ANSWER_TIME;
		emit(w, id, (struct message){
			.type = id->waits, .side = !id->side, .from = id->no, .to = id->remote,
		});
	} else {
		KUNIT_EXPECT_EQ_MSG(w->test, w->plan, ANY, "seed %u: %s unanswered", w->seed,
				    cm_msg_name(id->waits));
		input(w, id, CM_IN_SEND_FAILED, NULL);
	}
}

static bool call(struct model *w, struct id *id, enum cm_input what)
{
	return input(w, id, what, NULL);
}

static void connect_again(struct model *w, struct id *id)
{
	destroy(w, id, CM_IN_CALL_DESTROY_QUIETLY);
	id = new_id(w, 0);
	if (id)
		call(w, id, CM_IN_CALL_REQ);
}

/* The consumer of an id does what the id waits for, or changes its mind. */
static void act(struct model *w, struct id *id)
{
	bool whim = w->plan == ANY && chance(w, 15);

	id->act = 0;
	if (w->plan == CRASH && !id->side && id->state == IB_CM_ESTABLISHED && w->crashes) {
		w->crashes--;
		connect_again(w, id);
		return;
	}
	if (w->plan == CRASH && !id->side && id->state == IB_CM_IDLE) {
		connect_again(w, id);
		return;
	}
	if (whim && chance(w, 50)) {
		destroy(w, id, chance(w, 30) ? CM_IN_CALL_DESTROY_QUIETLY : CM_IN_CALL_DESTROY);
		return;
	}
	if (whim && (call(w, id, CM_IN_CALL_REJ) || call(w, id, CM_IN_CALL_DREQ))) {
		id->act = w->now + 1 + below(w, 300);
		return;
	}
	/* MRA is possible once only, so this comes to an end. */
	if (chance(w, 30) && call(w, id, CM_IN_CALL_MRA)) {
		id->act = w->now + 1 + below(w, SERVICE_TIME);
		return;
	}
	if (call(w, id, CM_IN_CALL_REP) || call(w, id, CM_IN_CALL_RTU)) {
		id->act = w->now + 1 + below(w, 300);
		return;
	}
	if (call(w, id, CM_IN_CALL_DREP) || call(w, id, CM_IN_CALL_APR))
		return;
	if (id->state == IB_CM_REP_SENT || id->state == IB_CM_MRA_REP_RCVD) {
		/* Data may overtake the RTU. */
		const struct id *other = id_of(w, id->remote);

		if (other && other->state == IB_CM_ESTABLISHED && other->remote == id->no)
			call(w, id, CM_IN_CALL_ESTABLISHED);
		return;
	}
	if (id->state == IB_CM_ESTABLISHED && !id->side && chance(w, 30))
		call(w, id, CM_IN_CALL_LAP);
	if (id->state == IB_CM_IDLE && id->remote)
		destroy(w, id, CM_IN_CALL_DESTROY);
}

/* The next thing that happens. Return: is there any? */
static bool step(struct model *w)
{
	struct message *first = NULL, copy;
	struct id *timer = NULL, *actor = NULL;
	u32 next = U32_MAX;

	for (struct message *message = w->messages; message < w->messages + MESSAGES; message++)
		if (message->at && message->at < next) {
			next = message->at;
			first = message;
		}
	for (struct id *id = w->ids; id < w->ids + IDS; id++) {
		if (id->no && id->timeout && id->timeout < next) {
			next = id->timeout;
			timer = id;
			first = NULL;
			actor = NULL;
		}
		if (id->no && id->act && id->act < next) {
			next = id->act;
			actor = id;
			first = NULL;
			timer = NULL;
		}
	}
	if (next == U32_MAX)
		return false;
	w->now = next;
	if (first) {
		copy = *first;
		first->at = 0;
		arrive(w, &copy);
	} else if (timer) {
		late(w, timer);
	} else {
		act(w, actor);
	}
	return true;
}

static void until_quiet(struct model *w)
{
	unsigned int events = 0;

	while (step(w) && events++ < EVENTS)
		;
	KUNIT_EXPECT_LT_MSG(w->test, events, EVENTS, "seed %u: no end", w->seed);
}

/* An end that is connected alone finds out when its QP gets no answer, and disconnects. */
static unsigned int find_out(struct model *w)
{
	unsigned int alone = 0;

	for (struct id *id = w->ids; id < w->ids + IDS; id++)
		if (id->no && id->state == IB_CM_ESTABLISHED && !paired(w, id)) {
			alone++;
			call(w, id, CM_IN_CALL_DREQ);
		}
	return alone;
}

static void try_seed(struct model *w, enum plan what, u32 seed)
{
	unsigned int pairs = 0, alone;
	struct id *id;

	w->plan = what;
	w->seed = seed;
	w->now = 0;
	w->last_no = 0;
	w->crashes = 3;
	memset(w->ids, 0, sizeof(w->ids));
	memset(w->messages, 0, sizeof(w->messages));
	prandom_seed_state(&w->rnd, seed);
	w->loss = below(w, 40);

	id = new_id(w, 0);
	id->peer = what == KEEP_PEERS;
	if (what == ANY)
		id->act = 1 + below(w, 2000);
	call(w, id, CM_IN_CALL_REQ);
	if (what == KEEP_PEERS) {
		/* The other side calls when some messages have found nobody. */
		unsigned int events = below(w, 8);

		while (events-- && step(w))
			;
		id = new_id(w, 1);
		id->peer = true;
		call(w, id, CM_IN_CALL_REQ);
	}
	until_quiet(w);

	alone = find_out(w);
	w->halves += alone;
	if (what != ANY)
		KUNIT_EXPECT_EQ_MSG(w->test, alone, 0, "seed %u: half a connection", seed);
	if (alone)
		until_quiet(w);

	for (id = w->ids; id < w->ids + IDS; id++) {
		if (!id->no)
			continue;
		pairs += paired(w, id);
		KUNIT_EXPECT_TRUE_MSG(w->test, id->state == IB_CM_IDLE || paired(w, id),
				      "seed %u: %s for ever", seed, cm_state_name(id->state));
		if (!paired(w, id))
			KUNIT_EXPECT_FALSE_MSG(w->test, id->bound, "seed %u: bound for ever", seed);
	}
	if (what == ANY)
		KUNIT_EXPECT_TRUE_MSG(w->test, pairs == 0 || pairs == 2, "seed %u", seed);
	else
		KUNIT_EXPECT_EQ_MSG(w->test, pairs, 2, "seed %u: not connected", seed);
}

static void runs_of(struct kunit *test, enum plan plan)
{
	struct model *w = test->priv;

	for (u32 seed = 1; seed <= RUNS; seed++)
		try_seed(w, plan, seed);
	/* It is no test if nothing happens. */
	KUNIT_EXPECT_GT(test, w->met, 5 * RUNS);
	if (plan == ANY)
		KUNIT_EXPECT_GT(test, w->halves, 0);
}

static void who_wants_to_be_connected_is(struct kunit *test)
{
	runs_of(test, KEEP);
}

static void who_calls_each_other_is_connected(struct kunit *test)
{
	runs_of(test, KEEP_PEERS);
}

static void who_forgets_its_connection_gets_another(struct kunit *test)
{
	struct model *w = test->priv;

	runs_of(test, CRASH);
	KUNIT_EXPECT_GT(test, w->stale, RUNS);
}

static void no_side_is_left_behind(struct kunit *test)
{
	runs_of(test, ANY);
}

static int pair_init(struct kunit *test)
{
	struct model *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	if (!w)
		return -ENOMEM;
	w->test = test;
	test->priv = w;
	return 0;
}

static struct kunit_case pair_cases[] = {
	KUNIT_CASE_SLOW(who_wants_to_be_connected_is),
	KUNIT_CASE_SLOW(who_calls_each_other_is_connected),
	KUNIT_CASE_SLOW(who_forgets_its_connection_gets_another),
	KUNIT_CASE_SLOW(no_side_is_left_behind),
	{}
};

static struct kunit_suite pair_suite = {
	.name = "ib_cm_pair",
	.init = pair_init,
	.test_cases = pair_cases,
};

kunit_test_suite(pair_suite);
