// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: life of queries. Each is answered, timed out, cancelled, or sent to another subnet
 * manager, and its callback is called once.
 */
#include <kunit/test.h>
#include <linux/prandom.h>
#include <rdma/ib_cache.h>

#include "../../device/device.h"
#include "../sa_priv.h"
#include "fake_sa.h"

/**
 * struct asked - a query and the arguments of its callback
 * @id: return value of the call that started it
 * @query: for ib_sa_cancel_query()
 * @calls: how often the callback ran
 * @status: status that it got
 * @num_prs: number of paths that it got
 * @rec: the first path that it got
 */
struct asked {
	int id;
	struct ib_sa_query *query;
	unsigned int calls;
	int status;
	unsigned int num_prs;
	struct sa_path_rec rec;
};

static struct ib_sa_client user;

static void hear(int status, struct sa_path_rec *resp, unsigned int num_prs, void *context)
{
	struct asked *asked = context;

	asked->calls++;
	asked->status = status;
	asked->num_prs = num_prs;
	if (resp)
		asked->rec = *resp;
}

static void ask_port(struct fake_sa *fake, struct asked *asked, u32 port_num)
{
	struct sa_path_rec rec = { .rec_type = SA_PATH_REC_TYPE_IB };

	memset(asked, 0, sizeof(*asked));
	rec.dgid.global.interface_id = cpu_to_be64(0xd);
	rec.numb_path = 1;
	asked->id = ib_sa_path_rec_get(&user, &fake->ib, port_num, &rec,
				       IB_SA_PATH_REC_DGID | IB_SA_PATH_REC_NUMB_PATH, 1000,
				       GFP_KERNEL, hear, asked, &asked->query);
}

static void ask(struct fake_sa *fake, struct asked *asked)
{
	ask_port(fake, asked, 1);
}

static void answer(struct fake_mad *mad, u16 dlid)
{
	struct sa_path_rec rec = { .rec_type = SA_PATH_REC_TYPE_IB };
	u8 record[64];

	sa_path_set_dlid(&rec, dlid);
	ib_sa_pack_path(&rec, record);
	fake_mad_answer(mad, 0, record, sizeof(record));
}

static int query_init(struct kunit *test)
{
	ib_sa_register_client(&user);
	test->priv = fake_sa_begin(test);
	return 0;
}

static void query_exit(struct kunit *test)
{
	if (test->priv)
		fake_sa_end(test, test->priv);
	KUNIT_EXPECT_EQ(test, atomic_read(&user.users), 1);
	ib_sa_unregister_client(&user);
}

static void answered(struct kunit *test)
{
	struct fake_sa *fake = test->priv;
	struct fake_mad *mad;
	struct asked asked;

	ask(fake, &asked);
	KUNIT_ASSERT_GT(test, asked.id, 0);
	mad = fake_sa_posted(fake, 0);
	KUNIT_ASSERT_NOT_NULL(test, mad);
	KUNIT_EXPECT_EQ(test, fake_mad_dlid(mad), FAKE_SM_LID);
	KUNIT_EXPECT_EQ(test, mad->pkey_index, 1);
	KUNIT_EXPECT_EQ(test, mad->buf.timeout_ms, 100);
	KUNIT_EXPECT_EQ(test, mad->buf.retries, 10);
	KUNIT_EXPECT_EQ(test, mad->mad.mad_hdr.base_version, 1);
	KUNIT_EXPECT_EQ(test, mad->mad.mad_hdr.mgmt_class, 3);
	KUNIT_EXPECT_EQ(test, mad->mad.mad_hdr.class_version, 2);
	KUNIT_EXPECT_EQ(test, mad->mad.mad_hdr.method, 1);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(mad->mad.mad_hdr.attr_id), 0x35);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(mad->mad.mad_hdr.tid) >> 32, 0x1234);
	KUNIT_EXPECT_EQ(test, be64_to_cpu((__force __be64)mad->mad.sa_hdr.comp_mask),
			BIT(2) | BIT(12));
	KUNIT_EXPECT_EQ(test, mad->mad.data[8 + 15], 0xd);
	answer(mad, 77);
	KUNIT_EXPECT_EQ(test, asked.calls, 1);
	KUNIT_EXPECT_EQ(test, asked.status, 0);
	KUNIT_EXPECT_EQ(test, asked.num_prs, 1);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(asked.rec.ib.dlid), 77);
	KUNIT_EXPECT_EQ(test, asked.rec.rec_type, SA_PATH_REC_TYPE_IB);
	KUNIT_EXPECT_EQ(test, fake_sa_mads(fake), 0);
	/* The query has ended: neither its id nor any other cancels it. */
	ib_sa_cancel_query(asked.id, asked.query);
	KUNIT_EXPECT_EQ(test, asked.calls, 1);
}

static void refused_and_wrong(struct kunit *test)
{
	struct fake_sa *fake = test->priv;
	struct asked asked;

	ask(fake, &asked);
	fake_mad_answer(fake_sa_posted(fake, 0), 0x300, NULL, 0);
	KUNIT_EXPECT_EQ(test, asked.calls, 1);
	KUNIT_EXPECT_EQ(test, asked.status, -EINVAL);

	ask(fake, &asked);
	fake_mad_answer_as(fake_sa_posted(fake, 0), 0x81, IB_SA_ATTR_NODE_REC, 256);
	KUNIT_EXPECT_EQ(test, asked.calls, 1);
	KUNIT_EXPECT_EQ(test, asked.status, -EPROTO);

	ask(fake, &asked);
	fake_mad_answer_as(fake_sa_posted(fake, 0), 0x92, IB_SA_ATTR_PATH_REC, 256);
	KUNIT_EXPECT_EQ(test, asked.status, -EPROTO);

	ask(fake, &asked);
	fake_mad_answer_as(fake_sa_posted(fake, 0), 0x81, IB_SA_ATTR_PATH_REC, 40);
	KUNIT_EXPECT_EQ(test, asked.calls, 1);
	KUNIT_EXPECT_EQ(test, asked.status, -EPROTO);
}

static void not_answered(struct kunit *test)
{
	struct fake_sa *fake = test->priv;
	struct asked asked;

	ask(fake, &asked);
	fake_mad_end(fake_sa_posted(fake, 0), IB_WC_RESP_TIMEOUT_ERR);
	KUNIT_EXPECT_EQ(test, asked.calls, 1);
	KUNIT_EXPECT_EQ(test, asked.status, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, asked.num_prs, 0);

	ask(fake, &asked);
	fake_mad_end(fake_sa_posted(fake, 0), IB_WC_GENERAL_ERR);
	KUNIT_EXPECT_EQ(test, asked.status, -EIO);

	fake->refuse = -ENOMEM;
	ask(fake, &asked);
	fake->refuse = 0;
	KUNIT_EXPECT_EQ(test, asked.id, -ENOMEM);
	KUNIT_EXPECT_EQ(test, asked.calls, 0);
}

static void cancelled(struct kunit *test)
{
	struct fake_sa *fake = test->priv;
	struct asked one, two;

	ask(fake, &one);
	ask(fake, &two);
	ib_sa_cancel_query(one.id, two.query);
	ib_sa_cancel_query(two.id + 1, two.query);
	fake_sa_settle(fake);
	KUNIT_EXPECT_EQ(test, one.calls + two.calls, 0);

	ib_sa_cancel_query(one.id, one.query);
	ib_sa_cancel_query(one.id, one.query);
	fake_sa_settle(fake);
	KUNIT_EXPECT_EQ(test, one.calls, 1);
	KUNIT_EXPECT_EQ(test, one.status, -EINTR);
	KUNIT_EXPECT_EQ(test, two.calls, 0);
	answer(fake_sa_posted(fake, 0), 1);
	KUNIT_EXPECT_EQ(test, two.calls, 1);
	KUNIT_EXPECT_EQ(test, two.status, 0);

	/* The answer comes after the MAD was cancelled and before it is flushed. */
	fake->hold = true;
	ask(fake, &one);
	ib_sa_cancel_query(one.id, one.query);
	answer(fake_sa_posted(fake, 0), 1);
	KUNIT_EXPECT_EQ(test, one.calls, 1);
	KUNIT_EXPECT_EQ(test, one.status, 0);
	fake->hold = false;
}

static void manager_moves(struct kunit *test)
{
	struct fake_sa *fake = test->priv;
	struct fake_mad *mad;
	struct asked asked;
	__be64 tid;

	ask(fake, &asked);
	tid = fake_sa_posted(fake, 0)->mad.mad_hdr.tid;
	/* An event that leaves the address unchanged does not send a query again. */
	fake_sa_event(fake, IB_EVENT_SM_CHANGE);
	fake_sa_settle(fake);
	KUNIT_EXPECT_EQ(test, fake->posts, 1);

	fake->attr.sm_lid = 9;
	fake_sa_event(fake, IB_EVENT_SM_CHANGE);
	fake_sa_settle(fake);
	KUNIT_EXPECT_EQ(test, asked.calls, 0);
	KUNIT_EXPECT_EQ(test, fake->posts, 2);
	KUNIT_EXPECT_EQ(test, fake_sa_mads(fake), 1);
	mad = fake_sa_posted(fake, 0);
	KUNIT_ASSERT_NOT_NULL(test, mad);
	KUNIT_EXPECT_EQ(test, fake_mad_dlid(mad), 9);
	KUNIT_EXPECT_EQ(test, mad->mad.data[8 + 15], 0xd);
	KUNIT_EXPECT_FALSE(test, mad->mad.mad_hdr.tid == tid);
	KUNIT_EXPECT_LE(test, mad->buf.timeout_ms, 100);
	/* The old manager's address handle has been destroyed with the old MAD. */
	KUNIT_EXPECT_EQ(test, fake->ahs, 1);
	answer(mad, 3);
	KUNIT_EXPECT_EQ(test, asked.calls, 1);
	KUNIT_EXPECT_EQ(test, asked.status, 0);

	/* Another index of the default P_Key sends it again, too. */
	ask(fake, &asked);
	fake->pkey[1] = 0;
	fake->pkey[2] = IB_DEFAULT_PKEY_FULL;
	fake_sa_event(fake, IB_EVENT_PKEY_CHANGE);
	fake_sa_settle(fake);
	mad = fake_sa_posted(fake, 0);
	KUNIT_ASSERT_NOT_NULL(test, mad);
	KUNIT_EXPECT_EQ(test, mad->pkey_index, 2);
	answer(mad, 3);
	KUNIT_EXPECT_EQ(test, asked.calls, 1);
}

static void manager_moves_meanwhile(struct kunit *test)
{
	struct fake_sa *fake = test->priv;
	struct asked asked;

	/* The query is cancelled before the MAD for the old manager is flushed. */
	fake->hold = true;
	ask(fake, &asked);
	fake->attr.sm_lid = 9;
	fake_sa_event(fake, IB_EVENT_SM_CHANGE);
	ib_sa_cancel_query(asked.id, asked.query);
	fake_mad_end(fake_sa_posted(fake, 0), IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, asked.calls, 1);
	KUNIT_EXPECT_EQ(test, asked.status, -EINTR);
	KUNIT_EXPECT_EQ(test, fake->posts, 1);

	/* The old manager answers before the MAD is flushed. */
	ask(fake, &asked);
	fake->attr.sm_lid = 10;
	fake_sa_event(fake, IB_EVENT_SM_CHANGE);
	answer(fake_sa_posted(fake, 0), 1);
	KUNIT_EXPECT_EQ(test, asked.calls, 1);
	KUNIT_EXPECT_EQ(test, asked.status, 0);
	KUNIT_EXPECT_EQ(test, fake->posts, 2);

	/* The manager changes twice, the second time before the MAD is flushed. */
	ask(fake, &asked);
	fake->attr.sm_lid = 11;
	fake_sa_event(fake, IB_EVENT_SM_CHANGE);
	fake->attr.sm_lid = 12;
	fake_sa_event(fake, IB_EVENT_SM_CHANGE);
	fake_mad_end(fake_sa_posted(fake, 0), IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, asked.calls, 0);
	KUNIT_EXPECT_EQ(test, fake_mad_dlid(fake_sa_posted(fake, 0)), 12);
	/* If the query cannot be sent to the new manager, it ends. */
	fake->attr.sm_lid = 13;
	fake_sa_event(fake, IB_EVENT_SM_CHANGE);
	fake->refuse = -EIO;
	fake_mad_end(fake_sa_posted(fake, 0), IB_WC_WR_FLUSH_ERR);
	fake->refuse = 0;
	KUNIT_EXPECT_EQ(test, asked.calls, 1);
	KUNIT_EXPECT_EQ(test, asked.status, -EIO);
	fake->hold = false;
}

static void nobody_to_ask(struct kunit *test)
{
	struct fake_sa *fake = test->priv;
	struct sa_path_rec opa = { .rec_type = SA_PATH_REC_TYPE_OPA };
	struct asked asked;

	ask_port(fake, &asked, 2);
	KUNIT_EXPECT_EQ(test, asked.id, -ENODEV);
	ask_port(fake, &asked, 3);
	KUNIT_EXPECT_EQ(test, asked.id, -EOPNOTSUPP);
	ask_port(fake, &asked, 4);
	KUNIT_EXPECT_EQ(test, asked.id, -ENODEV);
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP,
			ib_sa_path_rec_get(&user, &fake->ib, 1, &opa, 0, 1000, GFP_KERNEL, hear,
					   &asked, &asked.query));
	fake->attr.sm_lid = 0;
	fake_sa_event(fake, IB_EVENT_SM_CHANGE);
	ask(fake, &asked);
	KUNIT_EXPECT_EQ(test, asked.id, -EAGAIN);
	fake->attr.sm_lid = 7;
	fake_sa_event(fake, IB_EVENT_PORT_ACTIVE);
	ask(fake, &asked);
	KUNIT_EXPECT_GT(test, asked.id, 0);
	KUNIT_EXPECT_EQ(test, fake_mad_dlid(fake_sa_posted(fake, 0)), 7);
	answer(fake_sa_posted(fake, 0), 1);
}

/* If the address handle cannot be made, that is tried again without an event. */
static void manager_is_looked_for_again(struct kunit *test)
{
	struct fake_sa *fake = test->priv;
	struct sa_port *port = rdma_port(&fake->ib, 1)->sa;
	struct asked asked;

	fake->refuse_ah = -ENOMEM;
	fake->attr.sm_lid = 9;
	fake_sa_event(fake, IB_EVENT_SM_CHANGE);
	ask(fake, &asked);
	KUNIT_EXPECT_EQ(test, asked.id, -EAGAIN);
	flush_delayed_work(&port->again);
	ask(fake, &asked);
	KUNIT_EXPECT_EQ(test, asked.id, -EAGAIN);

	fake->refuse_ah = 0;
	flush_delayed_work(&port->again);
	ask(fake, &asked);
	KUNIT_ASSERT_GT(test, asked.id, 0);
	KUNIT_EXPECT_EQ(test, fake_mad_dlid(fake_sa_posted(fake, 0)), 9);
	answer(fake_sa_posted(fake, 0), 1);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&port->again));

	/* A port is removed without waiting for the next attempt. */
	fake->refuse_ah = -ENOMEM;
	fake->attr.sm_lid = 10;
	fake_sa_event(fake, IB_EVENT_SM_CHANGE);
}

static void removed(struct kunit *test)
{
	struct fake_sa *fake = test->priv;
	struct asked asked[3];

	for (unsigned int i = 0; i < ARRAY_SIZE(asked); i++)
		ask(fake, &asked[i]);
	test->priv = NULL;
	fake_sa_end(test, fake);
	for (unsigned int i = 0; i < ARRAY_SIZE(asked); i++) {
		KUNIT_EXPECT_EQ(test, asked[i].calls, 1);
		KUNIT_EXPECT_EQ(test, asked[i].status, -EINTR);
	}
}

static void short_times(struct kunit *test)
{
	struct fake_sa *fake = test->priv;
	struct sa_path_rec rec = { .rec_type = SA_PATH_REC_TYPE_IB };
	struct asked asked = {};

	asked.id = ib_sa_path_rec_get(&user, &fake->ib, 1, &rec, 0, 7, GFP_ATOMIC, hear, &asked,
				      &asked.query);
	KUNIT_ASSERT_GT(test, asked.id, 0);
	KUNIT_EXPECT_EQ(test, fake_sa_posted(fake, 0)->buf.timeout_ms, 1);
	KUNIT_EXPECT_EQ(test, fake_sa_posted(fake, 0)->buf.retries, 7);
	answer(fake_sa_posted(fake, 0), 1);
}

/* Whatever the order of events, each callback is called once. */
#define MANY 40
#define STEPS 4000

static void at_random(struct kunit *test)
{
	struct asked *asked = kunit_kcalloc(test, MANY, sizeof(*asked), GFP_KERNEL);
	struct fake_sa *fake = test->priv;
	unsigned int begun = 0, ended = 0, wrong = 0;
	struct rnd_state rnd;

	KUNIT_ASSERT_NOT_NULL(test, asked);
	/* Nothing is flushed unless the test does it. */
	fake->hold = true;
	prandom_seed_state(&rnd, 20);
	for (unsigned int step = 0; step < STEPS; step++) {
		struct asked *one = &asked[prandom_u32_state(&rnd) % MANY];
		struct fake_mad *mad;

		mad = fake_sa_posted(fake, prandom_u32_state(&rnd) % 4);
		switch (prandom_u32_state(&rnd) % 8) {
		case 0:
		case 1:
			if (one->id > 0 && !one->calls)
				break;
			ended += one->calls;
			wrong += one->calls > 1;
			ask(fake, one);
			begun += one->id > 0;
			break;
		case 2:
			if (mad)
				answer(mad, 1);
			break;
		case 3:
			if (mad)
				fake_mad_end(mad, IB_WC_RESP_TIMEOUT_ERR);
			break;
		case 4:
			ib_sa_cancel_query(one->id, one->query);
			break;
		case 5:
			fake->attr.sm_lid = prandom_u32_state(&rnd) % 4;
			fake_sa_event(fake, IB_EVENT_SM_CHANGE);
			break;
		case 6:
			if (mad && mad->cancelled)
				fake_mad_end(mad, IB_WC_WR_FLUSH_ERR);
			break;
		case 7:
			fake->hold = false;
			queue_work(system_unbound_wq, &fake->flush);
			flush_work(&fake->flush);
			fake->hold = true;
			break;
		}
	}
	fake->hold = false;
	while (fake_sa_posted(fake, 0))
		fake_mad_end(fake_sa_posted(fake, 0), IB_WC_WR_FLUSH_ERR);
	for (unsigned int i = 0; i < MANY; i++) {
		ended += asked[i].calls;
		wrong += asked[i].calls > 1;
	}
	KUNIT_EXPECT_GT(test, begun, STEPS / 20);
	KUNIT_EXPECT_EQ(test, begun, ended);
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

static void addresses(struct kunit *test)
{
	struct fake_sa *fake = test->priv;
	struct sa_path_rec rec = { .rec_type = SA_PATH_REC_TYPE_IB };
	struct rdma_ah_attr attr;

	sa_path_set_dlid(&rec, 0x22);
	sa_path_set_slid(&rec, 0x13);
	rec.sl = 4;
	rec.rate = IB_RATE_10_GBPS;
	KUNIT_EXPECT_EQ(test, ib_init_ah_attr_from_path(&fake->ib, 1, &rec, &attr, NULL), 0);
	KUNIT_EXPECT_EQ(test, attr.type, RDMA_AH_ATTR_TYPE_IB);
	KUNIT_EXPECT_EQ(test, attr.ib.dlid, 0x22);
	/* The port has the LIDs 0x10 to 0x13. */
	KUNIT_EXPECT_EQ(test, attr.ib.src_path_bits, 3);
	KUNIT_EXPECT_EQ(test, attr.sl, 4);
	KUNIT_EXPECT_EQ(test, attr.static_rate, IB_RATE_10_GBPS);
	KUNIT_EXPECT_EQ(test, attr.port_num, 1);
	KUNIT_EXPECT_EQ(test, attr.ah_flags, 0);

	rec.hop_limit = 1;
	KUNIT_EXPECT_EQ(test, ib_init_ah_attr_from_path(&fake->ib, 1, &rec, &attr, NULL), -ENOENT);
	rdma_query_gid(&fake->ib, 1, 0, &rec.sgid);
	rec.flow_label = cpu_to_be32(0x54321);
	KUNIT_EXPECT_EQ(test, ib_init_ah_attr_from_path(&fake->ib, 1, &rec, &attr, NULL), 0);
	KUNIT_EXPECT_EQ(test, attr.ah_flags, IB_AH_GRH);
	KUNIT_EXPECT_EQ(test, attr.grh.flow_label, 0x54321);
	KUNIT_EXPECT_EQ(test, attr.grh.sgid_index, 0);
	rdma_destroy_ah_attr(&attr);

	rec.rec_type = SA_PATH_REC_TYPE_ROCE_V2;
	rec.roce.route_resolved = false;
	KUNIT_EXPECT_EQ(test, ib_init_ah_attr_from_path(&fake->ib, 1, &rec, &attr, NULL), -EINVAL);
}

static void hear_guids(int status, struct ib_sa_guidinfo_rec *resp, void *context)
{
	struct ib_sa_guidinfo_rec *rec = context;

	*rec = *resp;
}

static void guids(struct kunit *test)
{
	struct ib_sa_guidinfo_rec rec = { .lid = cpu_to_be16(0x10), .block_num = 1 }, heard = {};
	struct fake_sa *fake = test->priv;
	struct ib_sa_query *query;
	u8 record[72] = { 0, 0x10, 1, 0, 0, 0, 0, 0, 0xab };

	KUNIT_EXPECT_EQ(test, -EINVAL,
			ib_sa_guid_info_rec_query(&user, &fake->ib, 1, &rec, 0,
						  IB_SA_METHOD_GET_TABLE, 1000, GFP_KERNEL,
						  hear_guids, &heard, &query));
	KUNIT_ASSERT_GT(test, ib_sa_guid_info_rec_query(&user, &fake->ib, 1, &rec,
							IB_SA_GUIDINFO_REC_LID,
							IB_MGMT_METHOD_SET, 1000, GFP_KERNEL,
							hear_guids, &heard, &query), 0);
	KUNIT_EXPECT_EQ(test, fake_sa_posted(fake, 0)->mad.data[1], 0x10);
	fake_mad_answer(fake_sa_posted(fake, 0), 0, record, sizeof(record));
	KUNIT_EXPECT_EQ(test, heard.block_num, 1);
	KUNIT_EXPECT_EQ(test, heard.guid_info_list[0], 0xab);
}

#define SERVICE_RECORD	176

/**
 * struct service_heard - arguments of the callback of a service query
 * @calls: how often it was called
 * @status: status that it got
 * @answered: whether it got a record
 * @rec: the record
 */
struct service_heard {
	unsigned int calls;
	int status;
	bool answered;
	struct ib_sa_service_rec rec;
};

static void hear_service(int status, struct ib_sa_service_rec *resp, void *context)
{
	struct service_heard *heard = context;

	heard->calls++;
	heard->status = status;
	heard->answered = resp;
	if (resp)
		heard->rec = *resp;
}

static int ask_service(struct fake_sa *fake, u32 port_num, u8 method, struct service_heard *heard,
		       struct ib_sa_query **query)
{
	heard->calls = 0;
	heard->rec = (struct ib_sa_service_rec){
		.id = cpu_to_be64(0x1234), .pkey = cpu_to_be16(0x8001), .name = "kt",
	};
	return ib_sa_service_rec_query(&user, &fake->ib, port_num, method, &heard->rec,
				       IB_SA_SERVICE_REC_SERVICE_ID, 1000, GFP_KERNEL,
				       hear_service, heard, query);
}

static void service_records(struct kunit *test)
{
	static const u8 methods[] = {
		IB_MGMT_METHOD_GET, IB_MGMT_METHOD_SET, IB_SA_METHOD_DELETE,
	};
	struct service_heard *heard = kunit_kzalloc(test, sizeof(*heard), GFP_KERNEL);
	struct ib_sa_service_rec stored = { .id = cpu_to_be64(0x77), .lease = cpu_to_be32(5) };
	u8 *record = kunit_kzalloc(test, SERVICE_RECORD, GFP_KERNEL);
	struct fake_sa *fake = test->priv;
	struct ib_sa_query *query;
	struct fake_mad *mad;
	int id;

	KUNIT_ASSERT_NOT_NULL(test, heard);
	KUNIT_ASSERT_NOT_NULL(test, record);
	ib_sa_pack_service(&stored, record);
	for (unsigned int i = 0; i < ARRAY_SIZE(methods); i++) {
		KUNIT_ASSERT_GT(test, ask_service(fake, 1, methods[i], heard, &query), 0);
		mad = fake_sa_posted(fake, 0);
		KUNIT_EXPECT_EQ(test, mad->mad.mad_hdr.method, methods[i]);
		KUNIT_EXPECT_EQ(test, be16_to_cpu(mad->mad.mad_hdr.attr_id),
				IB_SA_ATTR_SERVICE_REC);
		KUNIT_EXPECT_TRUE(test, mad->mad.sa_hdr.comp_mask == IB_SA_SERVICE_REC_SERVICE_ID);
		/* The record of the query: service id, GID, P_Key */
		KUNIT_EXPECT_EQ(test, mad->mad.data[6], 0x12);
		KUNIT_EXPECT_EQ(test, mad->mad.data[7], 0x34);
		KUNIT_EXPECT_EQ(test, mad->mad.data[24], 0x80);
		KUNIT_EXPECT_EQ(test, mad->mad.data[25], 1);
		fake_mad_answer(mad, 0, record, SERVICE_RECORD);
		KUNIT_EXPECT_EQ(test, heard->calls, 1);
		KUNIT_EXPECT_EQ(test, heard->status, 0);
		KUNIT_EXPECT_EQ(test, be64_to_cpu(heard->rec.id), 0x77);
		KUNIT_EXPECT_EQ(test, be32_to_cpu(heard->rec.lease), 5);
	}
	/* An answer with an error status, and a cancelled query */
	KUNIT_ASSERT_GT(test, ask_service(fake, 1, IB_MGMT_METHOD_GET, heard, &query), 0);
	fake_mad_answer(fake_sa_posted(fake, 0), 0x0300, record, SERVICE_RECORD);
	KUNIT_EXPECT_EQ(test, heard->calls, 1);
	KUNIT_EXPECT_EQ(test, heard->status, -EINVAL);
	id = ask_service(fake, 1, IB_MGMT_METHOD_GET, heard, &query);
	KUNIT_ASSERT_GT(test, id, 0);
	ib_sa_cancel_query(id, query);
	fake_sa_settle(fake);
	KUNIT_EXPECT_EQ(test, heard->calls, 1);
	KUNIT_EXPECT_EQ(test, heard->status, -EINTR);
	KUNIT_EXPECT_FALSE(test, heard->answered);

	/*
	 * These start no query: a method that services do not have, and ports without subnet
	 * administration
	 */
	KUNIT_EXPECT_EQ(test, ask_service(fake, 1, IB_SA_METHOD_GET_TABLE, heard, &query), -EINVAL);
	KUNIT_EXPECT_EQ(test, ask_service(fake, 2, IB_MGMT_METHOD_GET, heard, &query), -ENODEV);
	KUNIT_EXPECT_EQ(test, ask_service(fake, 3, IB_MGMT_METHOD_GET, heard, &query),
			-EOPNOTSUPP);
	fake_sa_settle(fake);
	KUNIT_EXPECT_EQ(test, heard->calls, 0);
	KUNIT_EXPECT_EQ(test, fake_sa_mads(fake), 0);
}

/*
 * When they wrap, ids stay above 0 and ids in use are skipped. TIDs are all different and of the
 * same agent.
 */
static void numbers_come_round(struct kunit *test)
{
	static const u32 tids[] = { INT_MAX - 1, U32_MAX - 1 };
	struct fake_sa *fake = test->priv;
	struct asked kept, asked;
	struct fake_mad *mad;

	sa_next_id = 1;
	ask(fake, &kept);
	KUNIT_ASSERT_EQ(test, kept.id, 1);
	for (int round = 0; round < ARRAY_SIZE(tids); round++) {
		const int ids[] = { INT_MAX - 1, INT_MAX, 2, 3 };

		sa_next_id = INT_MAX - 1;
		atomic_set(&sa_last_tid, tids[round]);
		for (int i = 0; i < ARRAY_SIZE(ids); i++) {
			ask(fake, &asked);
			KUNIT_EXPECT_EQ(test, asked.id, ids[i]);
			mad = fake_sa_posted(fake, 1);
			KUNIT_ASSERT_NOT_NULL(test, mad);
			KUNIT_EXPECT_EQ(test, be64_to_cpu(mad->mad.mad_hdr.tid),
					0x1234ULL << 32 | (u32)(tids[round] + 1 + i));
			answer(mad, 77);
			KUNIT_EXPECT_EQ(test, asked.calls, 1);
		}
	}
	answer(fake_sa_posted(fake, 0), 77);
	KUNIT_EXPECT_EQ(test, kept.calls, 1);
}

static struct kunit_case query_cases[] = {
	KUNIT_CASE(answered),
	KUNIT_CASE(refused_and_wrong),
	KUNIT_CASE(not_answered),
	KUNIT_CASE(cancelled),
	KUNIT_CASE(manager_moves),
	KUNIT_CASE(manager_moves_meanwhile),
	KUNIT_CASE(nobody_to_ask),
	KUNIT_CASE(manager_is_looked_for_again),
	KUNIT_CASE(removed),
	KUNIT_CASE(short_times),
	KUNIT_CASE_SLOW(at_random),
	KUNIT_CASE(addresses),
	KUNIT_CASE(guids),
	KUNIT_CASE(service_records),
	KUNIT_CASE(numbers_come_round),
	{}
};

static struct kunit_suite query_suite = {
	.name = "ib_core_sa_query",
	.init = query_init,
	.exit = query_exit,
	.test_cases = query_cases,
};

kunit_test_suite(query_suite);
