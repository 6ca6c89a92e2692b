// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Guests that work at the same time, each on a thread of its own, while several threads of the
 * engine serve them: datagrams to each other and to groups, management, and commands that need the
 * fabric for themselves.  Meanwhile adapters move from thread to thread, links go up and down,
 * faults move all adapters to one thread, and an operator reads lists.
 *
 * Campaigns test that nothing is lost.  Here everything must make progress, under sanitizers.
 */
#include <pthread.h>
#include <string.h>

#include "engine/internal.h"
#include "fabric/fault.h"
#include "lib/log.h"
#include "res/dev.h"
#include "tests/tagent.h"
#include "tests/thca.h"
#include "tests/trandom.h"
#include "wire/mad.h"

#ifdef __SANITIZE_THREAD__
#define ROUNDS	300u
#else
#define ROUNDS	1500u
#endif

#define THREADS		3u
#define GUESTS		4u
#define QKEY		0x1234u
#define GSI_QKEY	0x80010000u
#define MLID		0xc001u
#define MCAST_QPN	0xffffffu
#define SLOT		512u
#define RECVS		32u		/* of each QP */
#define SENDS		(3 * RECVS)	/* slot of what is sent */
#define RECV_ID		0x100u

static const u8 mgid[16] = { 0xff, 0x12, 0xa0, 0x1c, [15] = 1 };

enum { UD, SMI, GSI, QPS };

struct guest {
	struct thca h;
	struct tcq cq;
	struct tmr mr;
	struct tqp qp[QPS];
	u32 posted, done, got[QPS];
	bool attached;
	u64 rng;
	pthread_t thread;
};

static struct fixture {
	struct tworld w;
	struct guest g[GUESTS];
	struct vhca_wqe_ud to[GUESTS][QPS];
	pthread_t thread[THREADS];
	u32 ended;			/* guests; atomic */
} f;

/* ------------------------------------------------------------------------
 * A guest
 */
static void post_recv(struct guest *g, u32 slot)
{
	struct vhca_sge s = t_sge(&g->mr, slot * SLOT, SLOT);

	t_recv(&g->qp[slot / RECVS], RECV_ID + slot, 1, &s);
}

static bool all_sent(void *arg)
{
	struct guest *g = arg;
	struct vhca_cqe e;

	while (t_cq_poll(&g->cq, &e)) {
		u32 id = le64toh(e.wr_id);

		assert_int_equal(e.status, VHCA_CS_SUCCESS);
		if (id < RECV_ID) {
			g->done++;
			continue;
		}
		g->got[(id - RECV_ID) / RECVS]++;
		post_recv(g, id - RECV_ID);
	}
	return g->done == g->posted;
}

static void send(struct guest *g, u32 which, const struct vhca_wqe_ud *to, u32 len)
{
	struct twr wr = t_wr(VHCA_OP_SEND, 1, &g->mr, SENDS * SLOT, len, NULL, 0);

	wr.ud = *to;
	t_post(&g->qp[which], &wr);
	t_ring_sq(&g->qp[which]);
	g->posted++;
	t_wait(&g->h, all_sent, g);
}

static void fill_mad(u8 *mad, u8 class, u16 attr)
{
	ta_header(mad, class, MAD_GET, attr);
	mad_put(mad, MAD_TID, 1);
	if (class == MAD_CLASS_PERF)
		mad[PERF_DATA + 1] = 1;
}

/* Asks the agent of another adapter, whose answer comes to the same QP. */
static void ask(struct guest *g, u32 which, const struct vhca_wqe_ud *to)
{
	u8 mad[MAD_LEN];

	if (which == SMI)
		fill_mad(mad, MAD_CLASS_SUBN, ATTR_NODE_INFO);
	else
		fill_mad(mad, MAD_CLASS_PERF, ATTR_PORT_COUNTERS);
	t_mr_put(&g->mr, SENDS * SLOT, mad, sizeof(mad));
	send(g, which, to, sizeof(mad));
}

static void ask_own(struct guest *g)
{
	u64 used = g->h.ram_used, in = t_alloc(&g->h, 4096), out = t_alloc(&g->h, 4096);
	struct vhca_asqe sqe = {
		.opcode = VHCA_CMD_PROCESS_MAD, .out_len = htole32(MAD_LEN),
		.out_addr = htole64(out),
	};
	struct vhca_process_mad_req *req = (void *)sqe.req;

	req->mad_addr = htole64(in);
	req->port = 1;
	fill_mad(t_cpu(&g->h, in), MAD_CLASS_SUBN, ATTR_PORT_INFO);
	assert_int_equal(t_admin_raw(&g->h, &sqe, NULL), VHCA_ST_OK);
	g->h.ram_used = used;
}

static void join_or_leave(struct guest *g)
{
	struct vhca_mcg_req req = { .qpn = htole32(g->qp[UD].qpn), .mlid = htole16(MLID) };

	memcpy(req.mgid, mgid, sizeof(req.mgid));
	assert_int_equal(t_admin(&g->h, g->attached ? VHCA_CMD_DETACH_MCG : VHCA_CMD_ATTACH_MCG,
				 &req, sizeof(req), NULL), VHCA_ST_OK);
	g->attached = !g->attached;
}

static void set_desc(struct guest *g)
{
	struct vhca_node_desc_req req = { 0 };

	memset(req.desc, 'a' + t_random(&g->rng) % 26, 8);
	assert_int_equal(t_admin(&g->h, VHCA_CMD_SET_NODE_DESC, &req, sizeof(req), NULL),
			 VHCA_ST_OK);
}

static void to_group(struct guest *g)
{
	struct vhca_wqe_ud ud = {
		.av = { .port = 1, .dlid = htole16(MLID), .grh = 1, .hop_limit = 1 },
		.dqpn = htole32(MCAST_QPN), .qkey = htole32(QKEY),
	};

	memcpy(ud.av.dgid, mgid, sizeof(ud.av.dgid));
	send(g, UD, &ud, 100);
}

/* A QP that joins the group and is destroyed. */
static void short_life(struct guest *g)
{
	struct vhca_mcg_req req = { .mlid = htole16(MLID) };
	struct tqp qp;

	g->h.qp_type = VHCA_QPT_UD;
	t_qp_init_size(&g->h, &qp, &g->cq, &g->cq, 2, 2, 6, VHCA_QP_SIGNAL_ALL);
	req.qpn = htole32(qp.qpn);
	memcpy(req.mgid, mgid, sizeof(req.mgid));
	assert_int_equal(t_admin(&g->h, VHCA_CMD_ATTACH_MCG, &req, sizeof(req), NULL),
			 VHCA_ST_OK);
	assert_int_equal(t_destroy_qp(&qp), VHCA_ST_OK);
}

static void step(struct guest *g)
{
	const struct vhca_wqe_ud *to = f.to[t_random(&g->rng) % GUESTS];
	struct vhca_wqe_ud wrong = to[UD];

	switch (t_random(&g->rng) % 16) {
	case 0:
		ask(g, SMI, &to[SMI]);
		break;
	case 1:
		ask(g, GSI, &to[GSI]);
		break;
	case 2:
		ask_own(g);
		break;
	case 3:
		join_or_leave(g);
		break;
	case 4:
		set_desc(g);
		break;
	case 5:
		/* the receiver's agent counts it */
		wrong.qkey = htole32(QKEY + 1);
		send(g, UD, &wrong, 64);
		break;
	case 6 ... 7:
		to_group(g);
		break;
	default:
		send(g, UD, &to[UD], 64);
		break;
	}
}

static void *guest(void *arg)
{
	struct guest *g = arg;
	u64 used = g->h.ram_used;

	for (u32 i = 0; i < ROUNDS; i++) {
		step(g);
		if (i % 64 == 63) {
			short_life(g);
			g->h.ram_used = used;
		}
	}
	__atomic_fetch_add(&f.ended, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

/* ------------------------------------------------------------------------
 * The world
 */
static void *run(void *arg)
{
	shard_run(arg);
	return NULL;
}

static void guest_init(u32 i)
{
	static const u8 type[] = { VHCA_QPT_UD, VHCA_QPT_SMI, VHCA_QPT_GSI };
	static const u32 qkey[] = { QKEY, 0, GSI_QKEY };
	struct guest *g = &f.g[i];

	g->rng = 88172645463325252ull + i;
	t_hca_init(&g->h, &f.w, 0x1000 * (i + 1));
	t_db_pages(&g->h);
	t_cq_init(&g->h, &g->cq, 10, 0);
	t_mr_init(&g->h, &g->mr, 1ull << 40, (SENDS + 1) * SLOT, VHCA_ACCESS_LOCAL_WRITE, 1, 12);
	for (u32 k = 0; k < QPS; k++) {
		g->h.qp_type = type[k];
		g->h.qp_port = type[k] == VHCA_QPT_UD ? 0 : 1;
		t_qp_init_size(&g->h, &g->qp[k], &g->cq, &g->cq, 6, 6, 6, VHCA_QP_SIGNAL_ALL);
		t_ud_up(&g->qp[k], qkey[k]);
		f.to[i][k] = t_ud_to(&g->qp[k], qkey[k]);
	}
	g->h.qp_port = 0;
	for (u32 slot = 0; slot < QPS * RECVS; slot++)
		post_recv(g, slot);
}

/* Changes from outside of the guests. */
static void disturb(u64 *rng)
{
	const struct fab_fault delay = { .kind = FAB_DELAY, .permille = 1000, .usec = 50 };
	struct vhca_dev *dev = f.g[t_random(rng) % GUESTS].h.dev;
	struct adapter *a = &dev->adapter;
	struct adapter_status as;
	struct engine_status es;
	struct vdev_status st;

	switch (t_random(rng) % 64) {
	case 0:
		vdev_set_link(dev, 1, false);
		vdev_set_link(dev, 1, true);
		break;
	case 1:
		assert_int_equal(fab_fault_arm(vdev_fabric_lock(dev), &delay), 0);
		vdev_fabric_unlock(dev);
		break;
	case 2 ... 8:
		fab_fault_clear(vdev_fabric_lock(dev), NULL, NULL);
		vdev_fabric_unlock(dev);
		break;
	case 9:
		vdev_status(dev, &st);
		break;
	case 10:
		vdev_work(dev, &as, &es);
		break;
	default:
		adapter_lock(a);
		if (!fabric_is_single(f.w.fabric))
			adapter_send_off(a, &f.w.engine->shard[t_random(rng) % THREADS]);
		adapter_unlock(a);
		engine_wake(f.w.engine);
		break;
	}
}

static void guests(u32 help)
{
	u64 rng = 88172645463325252ull;
	u32 answers = 0;

	memset(&f, 0, sizeof(f));
	t_world_init_threads(&f.w, THREADS, true);
	engine_set_help(f.w.engine, help);
	for (u32 i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&f.thread[i], NULL, run, &f.w.engine->shard[i]),
				 0);
	for (u32 i = 0; i < GUESTS; i++)
		guest_init(i);
	for (u32 i = 0; i < GUESTS; i++)
		assert_int_equal(pthread_create(&f.g[i].thread, NULL, guest, &f.g[i]), 0);
	while (__atomic_load_n(&f.ended, __ATOMIC_SEQ_CST) < GUESTS)
		disturb(&rng);
	for (u32 i = 0; i < GUESTS; i++) {
		assert_int_equal(pthread_join(f.g[i].thread, NULL), 0);
		answers += f.g[i].got[SMI] + f.g[i].got[GSI];
	}
	assert_true(answers);
	for (u32 i = 0; i < GUESTS; i++)
		t_hca_fini(&f.g[i].h);
	engine_stop(f.w.engine);
	for (u32 i = 0; i < THREADS; i++)
		assert_int_equal(pthread_join(f.thread[i], NULL), 0);
	t_world_fini(&f.w);
}

static void alone(void **state)
{
	guests(0);
}

static void with_help(void **state)
{
	guests(50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alone),
		cmocka_unit_test(with_help),
	};

	log_open("/dev/null");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
