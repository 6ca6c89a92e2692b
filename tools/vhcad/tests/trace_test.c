// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Traces: the contents of the file, that the ring is bounded, and that a device without a trace
 * records nothing.
 */
#include <errno.h>
#include <json-c/json.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/worker.h"
#include "fabric/fault.h"
#include "tests/thca.h"
#include "tests/tprog.h"
#include "trace/trace.h"

#define RW	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_REMOTE_READ)

struct place {
	char dir[TPROG_DIR];
	char path[TPROG_PATH];
};

static int setup(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	tprog_dir(p->dir);
	tprog_in(p->dir, "trace.json", p->path);
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	trace_close();
	tprog_dir_end(p->dir, p->path, NULL);
	free(p);
	return 0;
}

/* Ends the trace and reads it. */
static struct json_object *finish(struct place *p)
{
	struct json_object *o;

	assert_int_equal(trace_close(), 0);
	assert_false(tracing());
	o = json_object_from_file(p->path);
	assert_non_null(o);
	return o;
}

static struct json_object *get(struct json_object *o, const char *name)
{
	struct json_object *v;

	return json_object_object_get_ex(o, name, &v) ? v : NULL;
}

static const char *str(struct json_object *o, const char *name)
{
	struct json_object *v = get(o, name);

	return v ? json_object_get_string(v) : "";
}

static u64 num(struct json_object *o, const char *name)
{
	struct json_object *v = get(o, name);

	return v ? json_object_get_uint64(v) : 0;
}

static struct json_object *event(struct json_object *all, u32 i)
{
	return json_object_array_get_idx(get(all, "traceEvents"), i);
}

static u32 events(struct json_object *all)
{
	return json_object_array_length(get(all, "traceEvents"));
}

/* Has the row of an event this name, and its group that one? */
static bool stands_in(struct json_object *all, struct json_object *e, const char *kind,
		      const char *name)
{
	bool row = !strcmp(kind, "thread_name");

	for (u32 i = 0; i < events(all); i++) {
		struct json_object *m = event(all, i);

		if (!strcmp(str(m, "name"), kind) && num(m, "pid") == num(e, "pid") &&
		    (!row || num(m, "tid") == num(e, "tid")))
			return !strcmp(str(get(m, "args"), "name"), name);
	}
	return false;
}

/* Number of events with this name, in rows of this name of that group. */
static u32 count(struct json_object *all, const char *group, const char *row, const char *name,
		 const char *ph)
{
	u32 n = 0;

	for (u32 i = 0; i < events(all); i++) {
		struct json_object *e = event(all, i);

		n += !strcmp(str(e, "ph"), ph) && !strcmp(str(e, "name"), name) &&
		     stands_in(all, e, "process_name", group) &&
		     stands_in(all, e, "thread_name", row);
	}
	return n;
}

static void without_one(void **state)
{
	assert_false(tracing());
	assert_int_equal(trace_begin(), 0);
	assert_int_equal(trace_row("a", "b"), TRACE_NO_ROW);
	trace_point(TRACE_PLAIN, 1, "nothing", 0, 0);
	trace_span(TRACE_PLAIN, 1, 0, "nothing", 0, 0);
	assert_int_equal(trace_close(), 0);
}

static void spans_and_points(void **state)
{
	struct place *p = *state;
	struct json_object *all, *e;
	u64 begin;
	u32 row;

	assert_int_equal(trace_open("/no/such/dir/x", 16), -ENOENT);
	assert_int_equal(trace_open(p->path, 16), 0);
	row = trace_row("one", "first");
	assert_int_not_equal(trace_row("one", "second"), row);
	begin = trace_begin();
	usleep(2000);
	trace_span(TRACE_TURN, row, begin, "long", 7, 9);
	trace_point(TRACE_VECTOR, row, "short", 0, 3);
	trace_point(TRACE_PLAIN, TRACE_NO_ROW, "nowhere", 0, 0);
	all = finish(p);
	assert_int_equal(count(all, "one", "first", "long", "X"), 1);
	assert_int_equal(count(all, "one", "first", "short", "i"), 1);
	e = event(all, events(all) - 2);
	assert_string_equal(str(e, "name"), "long");
	assert_true(json_object_get_double(get(e, "dur")) >= 2000);
	assert_int_equal(num(get(e, "args"), "cost"), 7);
	assert_int_equal(num(get(e, "args"), "debt_ns"), 9);
	assert_int_equal(num(get(event(all, events(all) - 1), "args"), "vector"), 3);
	json_object_put(all);
}

/* The newest records are kept. */
static void ring_is_bounded(void **state)
{
	struct place *p = *state;
	struct json_object *all;
	u32 row;

	assert_int_equal(trace_open(p->path, 60), 0);
	row = trace_row("one", "first");
	for (u32 i = 0; i < 1000; i++)
		trace_point(TRACE_PAGE, row, "n", 0, i);
	all = finish(p);
	assert_int_equal(count(all, "one", "first", "n", "i"), 64);
	assert_int_equal(num(get(all, "otherData"), "overwritten"), 1000 - 64);
	assert_int_equal(num(get(event(all, events(all) - 1), "args"), "page"), 999);
	assert_int_equal(num(get(event(all, events(all) - 64), "args"), "page"), 936);
	json_object_put(all);
}

static void *other(void *name)
{
	trace_name_thread(name);
	for (u32 i = 0; i < 1000; i++)
		trace_point(TRACE_PLAIN, trace_thread(), "tick", 0, 0);
	return NULL;
}

static void threads_have_rows(void **state)
{
	struct place *p = *state;
	struct json_object *all;
	pthread_t t[2];

	assert_int_equal(trace_open(p->path, 4096), 0);
	pthread_create(&t[0], NULL, other, "a");
	pthread_create(&t[1], NULL, other, "b");
	for (u32 i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	all = finish(p);
	assert_int_equal(count(all, "threads", "a", "tick", "i"), 1000);
	assert_int_equal(count(all, "threads", "b", "tick", "i"), 1000);
	json_object_put(all);
}

/* Begins a trace, and makes two adapters, both of which are called "t". */
static void traced_pair(struct place *p, struct tpair *pair, struct tmr m[2])
{
	assert_int_equal(trace_open(p->path, TRACE_RECORDS), 0);
	t_pair_init_regions(pair, 1, 2, &m[0], &m[1], 4096, RW, RW);
}

/* Rings for @n requests together, which are executed. */
static void carry_out(struct tpair *pair, const struct twr *wr, u32 n)
{
	for (u32 i = 0; i < n; i++)
		t_post(&pair->qp[0], wr);
	t_ring_sq(&pair->qp[0]);
	t_poll(&pair->w);
	for (u32 i = 0; i < n; i++)
		t_expect_cqe(&pair->cq[0], wr->wr_id, VHCA_CS_SUCCESS);
}

/* A WRITE and its acknowledgment. */
static void a_message(void **state)
{
	struct place *p = *state;
	struct json_object *all;
	struct tmr m[2];
	struct tpair pair;
	struct twr wr;

	traced_pair(p, &pair, m);
	wr = t_wr(VHCA_OP_WRITE, 1, &m[0], 0, 64, &m[1], 0);
	carry_out(&pair, &wr, 1);
	all = finish(p);
	assert_int_equal(count(all, "t", "port 1", "WRITE", "i"), 1);
	assert_int_equal(count(all, "t", "port 1", "ACK", "i"), 1);
	assert_true(count(all, "t", "turns", "turn", "X") >= 1);
	assert_true(count(all, "t", "turns", "doorbells", "i") >= 1);
	assert_int_equal(count(all, "t", "commands", "CREATE_QP", "X"), 2);
	json_object_put(all);
	t_pair_fini(&pair);
}

/* Requests that use up slices, of which only @depth may be under way. */
static void slices(void **state)
{
	struct place *p = *state;
	struct json_object *all;
	struct tmr m[2];
	struct tpair pair;
	struct twr wr;

	traced_pair(p, &pair, m);
	wr = t_wr(VHCA_OP_WRITE, 1, &m[0], 0, 8, &m[1], 0);
	carry_out(&pair, &wr, SLICE_WQES + 9);
	wr = t_wr(VHCA_OP_READ, 2, &m[0], 0, 8, &m[1], 0);
	carry_out(&pair, &wr, 20);
	all = finish(p);
	assert_int_equal(count(all, "t", "turns", "slice: cut", "X"), 1);
	assert_true(count(all, "t", "turns", "slice", "X") >= 2);
	assert_true(count(all, "t", "waits", "wait: READs and atomics under way", "i") >= 1);
	json_object_put(all);
	t_pair_fini(&pair);
}

/* The event of that name in the trace of a pair whose QP waits. */
static struct json_object *wait_of(struct json_object *all, const struct tqp *qp, const char *name)
{
	for (u32 i = 0; i < events(all); i++) {
		struct json_object *e = event(all, i);

		if (!strcmp(str(e, "name"), name)) {
			assert_true(stands_in(all, e, "thread_name", "waits"));
			assert_int_equal(num(get(e, "args"), "qpn"), qp->qpn);
			return e;
		}
	}
	return NULL;
}

static void waits_for_a_receive(void **state)
{
	struct place *p = *state;
	struct json_object *all, *e;
	struct vhca_sge sge;
	struct tmr m[2];
	struct tpair pair;
	struct twr wr;

	traced_pair(p, &pair, m);
	wr = t_wr(VHCA_OP_SEND, 1, &m[0], 0, 64, NULL, 0);
	t_send(&pair.qp[0], &wr);
	sge = t_sge(&m[1], 0, 64);
	t_recv(&pair.qp[1], 2, 1, &sge);
	t_settle(&pair.w, 1000000000);
	t_expect_cqe(&pair.cq[0], 1, VHCA_CS_SUCCESS);
	all = finish(p);
	e = wait_of(all, &pair.qp[0], "wait: the receiver is not ready");
	assert_non_null(e);
	assert_true(num(get(e, "args"), "ns") > 0);
	assert_non_null(wait_of(all, &pair.qp[0], "RNR: sends again"));
	json_object_put(all);
	t_pair_fini(&pair);
}

/* The last packet is lost, which only the timer notices, or one before others, which report it. */
static void waits_for_what_is_lost(void **state)
{
	static const char *const why[] = { "ACK time-out", "a packet was lost" };
	struct place *p = *state;

	for (u32 i = 0; i < 2; i++) {
		struct tnth lose = { .victim = 0 };
		struct json_object *all;
		struct tmr m[2];
		struct tpair pair;
		struct twr wr;

		assert_int_equal(trace_open(p->path, TRACE_RECORDS), 0);
		t_pair_init_regions(&pair, 1, 2, &m[0], &m[1], 4096, RW, RW);
		assert_int_equal(fab_set_packet_hook(pair.w.fabric, t_nth_hook, &lose), 0);
		wr = t_wr(VHCA_OP_WRITE, 1, &m[0], 0, 64, &m[1], 0);
		if (i)
			t_post(&pair.qp[0], &wr);
		t_send(&pair.qp[0], &wr);
		t_settle(&pair.w, 1000000000);
		for (u32 n = 0; n <= i; n++)
			t_expect_cqe(&pair.cq[0], 1, VHCA_CS_SUCCESS);
		all = finish(p);
		assert_non_null(wait_of(all, &pair.qp[0], why[i]));
		assert_null(wait_of(all, &pair.qp[0], why[!i]));
		json_object_put(all);
		t_pair_fini(&pair);
	}
}

static void *engine_thread(void *engine)
{
	trace_name_thread("engine");
	engine_run(engine);
	return NULL;
}

struct completion {
	struct tcq *cq;
	struct vhca_cqe cqe;
};

static bool has_come(void *arg)
{
	struct completion *c = arg;

	return t_cq_poll(c->cq, &c->cqe);
}

static void expect(struct tcq *cq, u64 wr_id)
{
	struct completion c = { .cq = cq };

	t_wait(cq->h, has_come, &c);
	assert_int_equal(le64toh(c.cqe.wr_id), wr_id);
	assert_int_equal(c.cqe.status, VHCA_CS_SUCCESS);
}

/* Woken by a kick, by the timer of a QP that waits for a receive, and to end. */
static void who_wakes_the_engine(void **state)
{
	struct place *p = *state;
	struct json_object *all;
	struct vhca_sge sge;
	struct tworld w;
	pthread_t thread;
	struct thca h;
	struct tcq cq;
	struct tqp qp;
	struct tmr m;
	struct twr wr;

	assert_int_equal(trace_open(p->path, TRACE_RECORDS), 0);
	t_world_init_threaded(&w);
	engine_set_help(w.engine, 0);
	assert_int_equal(pthread_create(&thread, NULL, engine_thread, w.engine), 0);
	t_hca_init(&h, &w, 1);
	t_cq_init(&h, &cq, 4, 0);
	t_qp_init(&h, &qp, &cq, &cq);
	t_connect(&qp, &qp, 3, 1, 1);
	t_mr_init(&h, &m, 1ull << 40, 4096, RW, 1, 12);
	tprog_asleep(getpid());
	wr = t_wr(VHCA_OP_SEND, 1, &m, 0, 64, NULL, 0);
	t_send(&qp, &wr);
	/* it has been refused by now, or is about to be again */
	tprog_asleep(getpid());
	sge = t_sge(&m, 1024, 64);
	t_recv(&qp, 2, 1, &sge);
	expect(&cq, 2);
	expect(&cq, 1);
	t_hca_fini(&h);
	tprog_asleep(getpid());
	engine_stop(w.engine);
	assert_int_equal(pthread_join(thread, NULL), 0);
	all = finish(p);
	assert_true(count(all, "threads", "engine", "woken by a guest", "i") >= 1);
	assert_true(count(all, "threads", "engine", "woken by the clock", "i") >= 1);
	assert_true(count(all, "threads", "engine", "woken by a change", "i") >= 1);
	assert_true(count(all, "threads", "engine", "sleep: a timer runs", "X") >= 1);
	json_object_put(all);
	t_world_fini(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(without_one, setup, teardown),
		cmocka_unit_test_setup_teardown(spans_and_points, setup, teardown),
		cmocka_unit_test_setup_teardown(ring_is_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(threads_have_rows, setup, teardown),
		cmocka_unit_test_setup_teardown(a_message, setup, teardown),
		cmocka_unit_test_setup_teardown(slices, setup, teardown),
		cmocka_unit_test_setup_teardown(waits_for_a_receive, setup, teardown),
		cmocka_unit_test_setup_teardown(waits_for_what_is_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(who_wakes_the_engine, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
