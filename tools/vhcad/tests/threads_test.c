// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Devices whose adapters are on several threads: step by step, and campaigns in which they move all
 * the time.
 */
#include <string.h>

#include "engine/internal.h"
#include "lib/log.h"
#include "qp/scratch.h"
#include "qp/srq.h"
#include "tests/campaign.h"
#include "tests/tagent.h"
#include "tests/thca.h"
#include "wire/mad.h"

#ifdef __SANITIZE_THREAD__
#define MESSAGES	6000u
#else
#define MESSAGES	20000u
#endif

/* Step by step, so that the seeds below meet losses and timeouts. */
#define STEPS	20000u

#define SHARDS	3u
#define BYTES	100u
#define QKEY	0x1234u
#define MLID	0xc001u

/* ------------------------------------------------------------------------
 * Step by step: a device in each shard
 */
struct fixture {
	struct tworld w;
	struct thca h[SHARDS];
	struct tcq cq[SHARDS];
	struct tmr mr[SHARDS];
	struct tqp qp[SHARDS];
};

static bool is_at(const struct thca *h, u32 shard)
{
	const struct adapter *a = &h->dev->adapter;

	return a->home == &a->engine->shard[shard] && a->worker == &a->home->worker;
}

static void put(struct thca *h, u32 shard)
{
	struct adapter *a = &h->dev->adapter;

	if (!is_at(h, shard))
		adapter_send_off(a, &a->engine->shard[shard]);
	t_poll(h->w);
	assert_true(is_at(h, shard));
}

static void setup(struct fixture *f, u8 type)
{
	t_world_init_threads(&f->w, SHARDS, false);
	for (u32 i = 0; i < SHARDS; i++) {
		t_hca_init(&f->h[i], &f->w, 0x1000 * (i + 1));
		f->h[i].qp_type = type;
		t_cq_init(&f->h[i], &f->cq[i], 9, 0);
		t_mr_init(&f->h[i], &f->mr[i], 1ull << 40, 4096,
			  VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE, 1, 12);
		t_mr_fill(&f->mr[i], i);
		t_qp_init(&f->h[i], &f->qp[i], &f->cq[i], &f->cq[i]);
		if (type == VHCA_QPT_UD)
			t_ud_up(&f->qp[i], QKEY);
	}
}

static void scatter(struct fixture *f)
{
	for (u32 i = 0; i < SHARDS; i++)
		put(&f->h[i], i);
}

static void done(struct fixture *f)
{
	for (u32 i = 0; i < SHARDS; i++)
		t_hca_fini(&f->h[i]);
	t_world_fini(&f->w);
}

static void recv_at(struct fixture *f, u32 i)
{
	struct vhca_sge s = t_sge(&f->mr[i], 2048, 1024);

	t_recv(&f->qp[i], 7, 1, &s);
}

/* From a shard with a lower number and from one with a higher; answers arrive, too. */
static void connected(void **state)
{
	struct fixture f;
	struct twr wr;

	for (u32 from = 1; from < SHARDS; from++) {
		setup(&f, VHCA_QPT_RC);
		t_connect(&f.qp[from], &f.qp[3 - from], 3, 10, 20);
		scatter(&f);
		wr = t_wr(VHCA_OP_WRITE, 5, &f.mr[from], 0, BYTES, &f.mr[3 - from], 1024);
		t_send(&f.qp[from], &wr);
		t_expect_cqe(&f.cq[from], 5, VHCA_CS_SUCCESS);
		t_mr_expect(&f.mr[3 - from], 1024, BYTES, from, 0);
		assert_true(is_at(&f.h[1], 1) && is_at(&f.h[2], 1));
		done(&f);
	}
}

/* All members of a group move to one thread with the sender. */
static void to_a_group(void **state)
{
	struct vhca_mcg_req req = { .mlid = htole16(MLID), .mgid = { 0xff, 0x12, 0xa0, 0x1c } };
	struct fixture f;
	struct twr wr;

	setup(&f, VHCA_QPT_UD);
	scatter(&f);
	for (u32 i = 0; i < SHARDS; i++) {
		req.qpn = htole32(f.qp[i].qpn);
		assert_int_equal(t_admin(&f.h[i], VHCA_CMD_ATTACH_MCG, &req, sizeof(req), NULL),
				 VHCA_ST_OK);
		recv_at(&f, i);
		assert_true(is_at(&f.h[i], i));
	}
	wr = t_wr(VHCA_OP_SEND, 5, &f.mr[1], 0, BYTES, NULL, 0);
	wr.ud = (struct vhca_wqe_ud){
		.av = { .port = 1, .dlid = htole16(MLID), .grh = 1, .hop_limit = 1 },
		.dqpn = htole32(0xffffff), .qkey = htole32(QKEY),
	};
	memcpy(wr.ud.av.dgid, req.mgid, sizeof(req.mgid));
	t_send(&f.qp[1], &wr);
	for (u32 i = 0; i < SHARDS; i++) {
		t_expect_cqe(&f.cq[i], 7, VHCA_CS_SUCCESS);
		t_mr_expect(&f.mr[i], 2048 + 40, BYTES, 1, 0);
		assert_true(is_at(&f.h[i], 0));
	}
	done(&f);
}

/* Management moves no adapter: it is delivered while no thread works for an adapter. */
static void management(void **state)
{
	struct fixture f;
	u8 mad[MAD_LEN] = { 0 };
	struct twr wr;

	setup(&f, VHCA_QPT_UD);
	for (u32 i = 1; i < SHARDS; i++) {
		f.h[i].qp_type = VHCA_QPT_SMI;
		f.h[i].qp_port = 1;
		t_qp_init(&f.h[i], &f.qp[i], &f.cq[i], &f.cq[i]);
		t_ud_up(&f.qp[i], 0);
	}
	wr = t_wr(VHCA_OP_SEND, 5, &f.mr[1], 0, MAD_LEN, NULL, 0);
	wr.ud = t_ud_to(&f.qp[2], 0);
	scatter(&f);
	ta_header(mad, MAD_CLASS_SUBN, MAD_GET, ATTR_NODE_INFO);
	t_mr_put(&f.mr[1], 0, mad, sizeof(mad));
	recv_at(&f, 1);
	t_send(&f.qp[1], &wr);
	t_expect_cqe(&f.cq[1], 5, VHCA_CS_SUCCESS);
	t_expect_cqe(&f.cq[1], 7, VHCA_CS_SUCCESS);
	t_mr_get(&f.mr[1], 2048 + 40, mad, sizeof(mad));
	assert_int_equal(mad_get(mad, MAD_METHOD), MAD_GET_RESP);
	assert_int_equal(mad_get(mad + SMP_DATA, NI_NODE_GUID), f.h[2].dev->node_guid);
	for (u32 i = 0; i < SHARDS; i++)
		assert_true(is_at(&f.h[i], i));
	done(&f);
}

static u64 packets(struct thca *h)
{
	return h->dev->port[0].fab.ib.rx_packets;
}

/* A destroyed QP with a pending acknowledgment sends it also to a peer on another thread. */
static void settles(void **state)
{
	struct fixture f;
	struct vqp *qp;
	u64 before[2];

	setup(&f, VHCA_QPT_RC);
	t_connect(&f.qp[1], &f.qp[2], 3, 10, 20);
	scatter(&f);
	before[0] = packets(&f.h[1]);
	before[1] = packets(&f.h[2]);
	qp = qp_find(f.h[1].dev, f.qp[1].qpn);
	qp->resp.ack = true;
	qp->resp.syndrome = AETH_ACK;
	assert_int_equal(t_to(&f.qp[1], T_ERR), VHCA_ST_OK);
	assert_int_equal(packets(&f.h[2]), before[1] + 1);
	qp = qp_find(f.h[2].dev, f.qp[2].qpn);
	qp->resp.ack = true;
	qp->resp.syndrome = AETH_ACK;
	assert_int_equal(t_destroy_qp(&f.qp[2]), VHCA_ST_OK);
	assert_int_equal(packets(&f.h[1]), before[0] + 1);
	for (u32 i = 0; i < SHARDS; i++)
		assert_true(is_at(&f.h[i], i));
	done(&f);
}

/* Requests that a program has posted last are sent, though the receiver has to move first. */
static void last_sends(void **state)
{
	struct fixture f;
	struct twr wr;

	setup(&f, VHCA_QPT_UD);
	wr = t_wr(VHCA_OP_SEND, 5, &f.mr[1], 0, BYTES, NULL, 0);
	wr.ud = t_ud_to(&f.qp[2], QKEY);
	recv_at(&f, 2);
	scatter(&f);
	t_post(&f.qp[1], &wr);
	t_ring_sq(&f.qp[1]);
	assert_int_equal(t_destroy_qp(&f.qp[1]), VHCA_ST_OK);
	t_expect_cqe(&f.cq[2], 7, VHCA_CS_SUCCESS);
	done(&f);
}

/* Entries that the worker has loaded for an adapter's QPs do not stay with the worker. */
static void leaves_nothing(void **state)
{
	struct scratch *s;
	struct fixture f;
	struct tsrq srq;
	struct tqp tqp;
	struct vqp *qp;

	setup(&f, VHCA_QPT_RC);
	t_srq_init(&f.h[1], &srq, 4, 6);
	t_qp_init_srq(&f.h[1], &tqp, &f.cq[1], &f.cq[1], &srq);
	scatter(&f);
	qp = qp_find(f.h[1].dev, tqp.qpn);
	s = f.h[1].dev->adapter.worker->scratch;
	qp->recv.taken = true;
	qp->recv.next = 8;
	s->rx_wqe.qp = qp;
	s->rx_wqe.shared = true;
	s->rx_wqe.index = 7;
	s->rx_wqe.wr_id = 0x77;
	s->tx_wqe.qp = qp;
	s->rd_wqe.qp = qp;
	s->why_qp = qp;
	put(&f.h[1], 0);
	assert_null(s->rx_wqe.qp);
	assert_null(s->tx_wqe.qp);
	assert_null(s->rd_wqe.qp);
	assert_null(s->why_qp);
	assert_int_equal(qp->recv.kept->wr_id, 0x77);
	qp->recv.taken = false;
	done(&f);
}

/* ---- campaigns ---- */

static void campaign(u32 seed, u32 threads, bool real, struct campaign_result *r)
{
	const struct campaign_options o = {
		.seed = seed, .messages = real ? MESSAGES : STEPS, .threads = threads, .real = real,
	};

	campaign_run(&o, r);
	assert_true(r->messages >= o.messages);
	assert_true(r->atomics && r->arrived > o.messages / 8);
}

/* Step by step: the same seed is the same campaign, including all moves. */
static void stepped(void **state)
{
	struct campaign_result r[2];

	for (u32 i = 0; i < 2; i++)
		campaign(3, 2, false, &r[i]);
	assert_memory_equal(&r[0], &r[1], sizeof(r[0]));
	assert_true(r[0].lost && r[0].timeouts);
}

static void three_stepped(void **state)
{
	struct campaign_result r;

	campaign(2, 3, false, &r);
}

static void two_threads(void **state)
{
	struct campaign_result r;

	campaign(1, 2, true, &r);
}

static void four_threads(void **state)
{
	struct campaign_result r;

	campaign(4, 4, true, &r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(connected),
		cmocka_unit_test(to_a_group),
		cmocka_unit_test(management),
		cmocka_unit_test(settles),
		cmocka_unit_test(last_sends),
		cmocka_unit_test(leaves_nothing),
		cmocka_unit_test(stepped),
		cmocka_unit_test(three_stepped),
		cmocka_unit_test(two_threads),
		cmocka_unit_test(four_threads),
	};

	/* many links go up and down */
	log_open("/dev/null");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
