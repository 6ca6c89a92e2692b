// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: tables of any attribute, ClassPortInfo, registered services, and subscriptions.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>

#include "../standing.h"
#include "fake_sa.h"

/**
 * struct heard - what callbacks were called with
 * @fake: device
 * @calls: number of calls
 * @status: status of the last call
 * @count: number of records
 * @size: bytes of each
 * @mad_status: MAD status of the answer
 * @sum: sum of all bytes
 * @told: completed by each call
 * @answers: MAD status of the manager's answers to Sets
 * @sets: Sets so far
 * @sets_told: number of Sets at the last call of a service's callback
 * @deletes: number of Deletes, or of Sets that end a subscription
 * @reports: number of notices
 * @last: the last notice
 */
struct heard {
	struct fake_sa *fake;
	unsigned int calls;
	int status;
	unsigned int count;
	unsigned int size;
	u16 mad_status;
	unsigned int sum;
	struct completion told;
	u16 answers;
	unsigned int sets;
	unsigned int sets_told;
	unsigned int deletes;
	unsigned int reports;
	u8 last[IB_MGMT_SA_DATA];
};

static struct ib_sa_client user;
static struct heard *now;

static void hear_table(int status, const struct ib_sa_table *table, void *context)
{
	struct heard *heard = context;

	heard->calls++;
	heard->status = status;
	heard->sum = 0;
	heard->count = 0;
	if (!table)
		return;
	heard->count = table->count;
	heard->size = table->size;
	heard->mad_status = table->mad_status;
	for (unsigned int i = 0; i < table->count; i++)
		for (unsigned int j = 0; j < table->size; j++)
			heard->sum += ((u8 *)ib_sa_table_record(table, i))[j];
}

static int table_init(struct kunit *test)
{
	struct heard *heard = kunit_kzalloc(test, sizeof(*heard), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, heard);
	test->priv = heard;
	now = heard;
	init_completion(&heard->told);
	ib_sa_register_client(&user);
	heard->fake = fake_sa_begin(test);
	return 0;
}

static void table_exit(struct kunit *test)
{
	struct heard *heard = test->priv;

	fake_sa_end(test, heard->fake);
	ib_sa_unregister_client(&user);
}

static int ask(struct heard *heard, const struct ib_sa_attr_query *query)
{
	return ib_sa_query_table(&user, &heard->fake->ib, 1, query, 1000, GFP_KERNEL, hear_table,
				 heard, NULL);
}

static void tables(struct kunit *test)
{
	struct ib_sa_attr_query query = {
		.method = IB_SA_METHOD_GET_TABLE,
		.attr_id = IB_SA_ATTR_NODE_REC,
	};
	struct heard *heard = test->priv;
	unsigned int sum = 0;
	u8 *records = kunit_kzalloc(test, 9 * 112, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, records);
	for (unsigned int i = 0; i < 9 * 112; i++)
		sum += records[i] = i * 7 + i / 200;
	/* 9 records in 6 packets; none of the packets but the last ends with a record. */
	KUNIT_ASSERT_GT(test, ask(heard, &query), 0);
	fake_mad_answer_table(fake_sa_posted(heard->fake, 0), 112 / 8, records, 9 * 112);
	KUNIT_EXPECT_EQ(test, heard->calls, 1);
	KUNIT_EXPECT_EQ(test, heard->status, 0);
	KUNIT_EXPECT_EQ(test, heard->count, 9);
	KUNIT_EXPECT_EQ(test, heard->size, 112);
	KUNIT_EXPECT_EQ(test, heard->sum, sum);

	/* No record matches. */
	KUNIT_ASSERT_GT(test, ask(heard, &query), 0);
	fake_mad_answer_table(fake_sa_posted(heard->fake, 0), 112 / 8, records, 0);
	KUNIT_EXPECT_EQ(test, heard->status, 0);
	KUNIT_EXPECT_EQ(test, heard->count, 0);
	/* An incomplete record, and an AttributeOffset of 0 */
	KUNIT_ASSERT_GT(test, ask(heard, &query), 0);
	fake_mad_answer_table(fake_sa_posted(heard->fake, 0), 112 / 8, records, 111);
	KUNIT_EXPECT_EQ(test, heard->count, 0);
	KUNIT_ASSERT_GT(test, ask(heard, &query), 0);
	fake_mad_answer_table(fake_sa_posted(heard->fake, 0), 0, records, 111);
	KUNIT_EXPECT_EQ(test, heard->count, 0);
	/* The answer has an error status. */
	KUNIT_ASSERT_GT(test, ask(heard, &query), 0);
	fake_mad_answer(fake_sa_posted(heard->fake, 0), 0x0300, NULL, 0);
	KUNIT_EXPECT_EQ(test, heard->status, -EINVAL);
	KUNIT_EXPECT_EQ(test, heard->mad_status, 0x0300);
	/* There is no answer. */
	KUNIT_ASSERT_GT(test, ask(heard, &query), 0);
	fake_mad_end(fake_sa_posted(heard->fake, 0), IB_WC_RESP_TIMEOUT_ERR);
	KUNIT_EXPECT_EQ(test, heard->status, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, heard->calls, 6);
	query.size = 201;
	KUNIT_EXPECT_EQ(test, ask(heard, &query), -EINVAL);
}

static void ready_made(struct kunit *test)
{
	u8 record[IB_MGMT_SA_DATA];
	struct ib_sa_attr_query query;
	union ib_sa_query_input input;

	input.name = "storage";
	KUNIT_EXPECT_EQ(test, ib_sa_attr_query_init(&query, record, IB_SA_QUERY_SERVICE_BY_NAME,
						    &input), 0);
	KUNIT_EXPECT_EQ(test, query.attr_id, 0x31);
	KUNIT_EXPECT_STREQ(test, (char *)record + 48, "storage");
	KUNIT_EXPECT_TRUE(test, query.comp_mask == IB_SA_COMP_MASK(6));
	input.name = "0123456789012345678901234567890123456789012345678901234567890123";
	KUNIT_EXPECT_EQ(test, ib_sa_attr_query_init(&query, record, IB_SA_QUERY_SERVICE_BY_NAME,
						    &input), -EINVAL);
	input.node_guid = cpu_to_be64(0x1122334455667788ULL);
	ib_sa_attr_query_init(&query, record, IB_SA_QUERY_NODE_BY_GUID, &input);
	KUNIT_EXPECT_EQ(test, get_unaligned_be64(record + 16), 0x1122334455667788ULL);
	memset(&input, 0, sizeof(input));
	input.sl2vl.lid = 0x1234;
	input.sl2vl.in_port = 2;
	input.sl2vl.out_port = 3;
	ib_sa_attr_query_init(&query, record, IB_SA_QUERY_SL2VL, &input);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(record), 0x12340203);
	KUNIT_EXPECT_EQ(test, query.attr_id, 0x13);
	memset(&input, 0, sizeof(input));
	input.lids.slid = 5;
	input.lids.dlid = 6;
	ib_sa_attr_query_init(&query, record, IB_SA_QUERY_PATH_BY_LIDS, &input);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(record + 40), 0x00060005);
	KUNIT_EXPECT_EQ(test, query.method, IB_SA_METHOD_GET_TABLE);
	ib_sa_attr_query_init(&query, record, IB_SA_QUERY_CLASS_PORT_INFO, NULL);
	KUNIT_EXPECT_EQ(test, query.method, IB_MGMT_METHOD_GET);
	KUNIT_EXPECT_EQ(test, ib_sa_attr_query_init(&query, record, 99, NULL), -EINVAL);
}

static void hear_class(int status, struct ib_class_port_info *info, void *context)
{
	struct heard *heard = context;

	heard->status = status;
	heard->count = info ? ib_get_cpi_capmask2(info) : 0;
}

static void class_port_info(struct kunit *test)
{
	struct heard *heard = test->priv;
	u8 record[72] = {};

	put_unaligned_be32(0x1000 << 5 | 18, record + 4);
	KUNIT_ASSERT_GT(test, ib_sa_classport_info_query(&user, &heard->fake->ib, 1, 1000,
							 GFP_KERNEL, hear_class, heard, NULL), 0);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(fake_sa_posted(heard->fake, 0)->mad.mad_hdr.attr_id), 1);
	fake_mad_answer(fake_sa_posted(heard->fake, 0), 0, record, sizeof(record));
	KUNIT_EXPECT_EQ(test, heard->status, 0);
	KUNIT_EXPECT_EQ(test, heard->count, 0x1000);
}

/* ---- standing requests ---- */

static void manager(struct fake_sa *fake, struct fake_mad *mad)
{
	bool is_inform = be16_to_cpu(mad->mad.mad_hdr.attr_id) == IB_SA_ATTR_INFORM_INFO;

	memcpy(now->last, mad->mad.data, sizeof(now->last));
	if (mad->mad.mad_hdr.method == IB_SA_METHOD_DELETE || (is_inform && !now->last[23]))
		now->deletes++;
	else
		now->sets++;
	fake_mad_answer(mad, now->answers, now->last, sizeof(now->last));
}

static void hear_service(int status, const struct ib_sa_service_rec *rec, void *context)
{
	struct heard *heard = context;

	heard->calls++;
	heard->status = status;
	heard->sets_told = heard->sets;
	heard->count = rec ? be32_to_cpu(rec->lease) : 0;
	complete(&heard->told);
}

static void wait(struct kunit *test, struct heard *heard)
{
	KUNIT_ASSERT_GT(test, wait_for_completion_timeout(&heard->told, 30 * HZ), 0);
}

static void services(struct kunit *test)
{
	struct ib_sa_service_rec *rec = kunit_kzalloc(test, sizeof(*rec), GFP_KERNEL);
	struct heard *heard = test->priv;
	struct fake_sa *fake = heard->fake;
	struct ib_sa_service *service;

	KUNIT_ASSERT_NOT_NULL(test, rec);
	fake->respond = manager;
	rec->id = cpu_to_be64(7);
	rec->pkey = cpu_to_be16(0xffff);
	rec->lease = cpu_to_be32(IB_DEFAULT_SERVICE_LEASE);
	service = ib_sa_register_service(&user, &fake->ib, 1, rec, 0, hear_service, heard);
	KUNIT_EXPECT_EQ(test, PTR_ERR(service), -ENOENT);
	rdma_query_gid(&fake->ib, 1, 0, &rec->gid);
	service = ib_sa_register_service(&user, &fake->ib, 1, rec, 0, hear_service, heard);
	KUNIT_ASSERT_FALSE(test, IS_ERR(service));
	wait(test, heard);
	KUNIT_EXPECT_EQ(test, heard->status, 0);
	KUNIT_EXPECT_EQ(test, heard->sets, 1);
	/*
	 * The registration is repeated with a new manager. The owner's callback is called only if
	 * that fails.
	 */
	heard->answers = 0x0300;
	fake->attr.sm_lid = 9;
	fake_sa_event(fake, IB_EVENT_SM_CHANGE);
	wait(test, heard);
	KUNIT_EXPECT_EQ(test, heard->status, -EINVAL);
	/* It is tried again after a second. */
	WRITE_ONCE(heard->answers, 0);
	wait(test, heard);
	KUNIT_EXPECT_EQ(test, heard->status, 0);
	KUNIT_EXPECT_EQ(test, heard->calls, 3);
	ib_sa_unregister_service(service);
	fake_sa_settle(fake);
	KUNIT_EXPECT_EQ(test, heard->deletes, 1);
	KUNIT_EXPECT_EQ(test, heard->last[7], 7);
}

/* The first Set succeeds and all renewals fail, however many there are until the test looks. */
static void no_renewals(struct fake_sa *fake, struct fake_mad *mad)
{
	now->answers = now->sets ? 0x0300 : 0;
	manager(fake, mad);
}

static void leases(struct kunit *test)
{
	struct ib_sa_service_rec *rec = kunit_kzalloc(test, sizeof(*rec), GFP_KERNEL);
	struct heard *heard = test->priv;
	struct fake_sa *fake = heard->fake;
	struct ib_sa_service *service;

	KUNIT_ASSERT_NOT_NULL(test, rec);
	fake->respond = no_renewals;
	rec->lease = cpu_to_be32(2);
	rdma_query_gid(&fake->ib, 1, 0, &rec->gid);
	service = ib_sa_register_service(&user, &fake->ib, 1, rec, 0, hear_service, heard);
	KUNIT_ASSERT_FALSE(test, IS_ERR(service));
	wait(test, heard);
	KUNIT_EXPECT_EQ(test, heard->count, 2);
	/* A renewal that fails calls the callback. */
	wait(test, heard);
	KUNIT_EXPECT_EQ(test, heard->status, -EINVAL);
	KUNIT_EXPECT_EQ(test, heard->sets_told, 2);
	ib_sa_unregister_service(service);
	fake_sa_settle(fake);
	KUNIT_EXPECT_EQ(test, heard->deletes, 1);
}

/* Half of this lease, in jiffies, does not fit in 32 bits. */
#define LONG_LEASE (2 * (u32)DIV_ROUND_UP_ULL(BIT_ULL(32), HZ))

static void long_leases(struct kunit *test)
{
	struct ib_sa_service_rec *rec = kunit_kzalloc(test, sizeof(*rec), GFP_KERNEL);
	struct heard *heard = test->priv;
	struct sa_standing *standing;
	struct ib_sa_service *service;

	KUNIT_ASSERT_NOT_NULL(test, rec);
	heard->fake->respond = manager;
	rec->lease = cpu_to_be32(LONG_LEASE);
	rdma_query_gid(&heard->fake->ib, 1, 0, &rec->gid);
	service = ib_sa_register_service(&user, &heard->fake->ib, 1, rec, 0, hear_service, heard);
	KUNIT_ASSERT_FALSE(test, IS_ERR(service));
	wait(test, heard);
	/*
	 * The standing request is a service's first member. Its work schedules the renewal when it
	 * ends.
	 */
	standing = (struct sa_standing *)service;
	flush_work(&standing->work.work);
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&standing->work));
	KUNIT_EXPECT_TRUE(test, time_after(standing->work.timer.expires,
					   jiffies + 24 * 3600 * HZ));
	ib_sa_unregister_service(service);
}

static void hear_result(int status, void *context)
{
	struct heard *heard = context;

	heard->status = status;
	complete(&heard->told);
}

static void hear_report(const struct ib_sa_notice *notice, void *context)
{
	((struct heard *)context)->reports++;
}

static struct ib_sa_subscription *subscribe(struct kunit *test, u16 trap)
{
	struct heard *heard = test->priv;
	struct ib_sa_subscription *subscription;
	struct ib_sa_inform_info info;

	ib_sa_inform_info_init(&info);
	info.trap_num = cpu_to_be16(trap);
	subscription = ib_sa_subscribe(&user, &heard->fake->ib, 1, &info, hear_result, hear_report,
				       heard);
	KUNIT_ASSERT_FALSE(test, IS_ERR(subscription));
	return subscription;
}

static void subscriptions(struct kunit *test)
{
	struct ib_sa_inform_info info = {};
	struct heard *heard = test->priv;
	struct fake_sa *fake = heard->fake;
	struct ib_sa_subscription *one, *two, *other;

	fake->respond = manager;
	one = subscribe(test, 66);
	wait(test, heard);
	KUNIT_EXPECT_EQ(test, heard->status, 0);
	KUNIT_EXPECT_EQ(test, heard->sets, 1);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(heard->last + 26), 66);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32(heard->last + 28) >> 8, 1);
	/* The agent of SA queries, and the agent that receives notices */
	KUNIT_EXPECT_EQ(test, fake->agents, 2);
	/*
	 * A manager that has to confirm a subscription again may have lost it, so the callback is
	 * called.
	 */
	fake_sa_event(fake, IB_EVENT_CLIENT_REREGISTER);
	wait(test, heard);
	KUNIT_EXPECT_EQ(test, heard->sets, 2);
	two = subscribe(test, 66);
	wait(test, heard);
	other = subscribe(test, 67);
	wait(test, heard);
	KUNIT_EXPECT_EQ(test, fake->agents, 2);

	/* The subscription of the manager must stay while there is an equal one. */
	ib_sa_unsubscribe(one);
	fake_sa_settle(fake);
	KUNIT_EXPECT_EQ(test, heard->deletes, 0);
	ib_sa_unsubscribe(other);
	fake_sa_settle(fake);
	KUNIT_EXPECT_EQ(test, heard->deletes, 1);
	KUNIT_EXPECT_EQ(test, fake->agents, 2);
	ib_sa_unsubscribe(two);
	fake_sa_settle(fake);
	KUNIT_EXPECT_EQ(test, heard->deletes, 2);
	KUNIT_EXPECT_EQ(test, fake->agents, 1);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_sa_subscribe(&user, &fake->ib, 2, &info, hear_result,
						      hear_report, heard)), -ENODEV);
}

/**
 * struct leaver - work that ends a subscription
 * @work: ends the subscription
 * @subscription: the subscription
 * @done: completed when it has been ended
 */
struct leaver {
	struct work_struct work;
	struct ib_sa_subscription *subscription;
	struct completion done;
};

static void leaver_work(struct work_struct *work)
{
	struct leaver *leaver = container_of(work, struct leaver, work);

	ib_sa_unsubscribe(leaver->subscription);
	complete(&leaver->done);
}

/* Ends a subscription while the manager answers nothing. */
static void unsubscribe_unanswered(struct kunit *test, struct ib_sa_subscription *subscription)
{
	struct leaver *leaver = kunit_kzalloc(test, sizeof(*leaver), GFP_KERNEL);
	struct heard *heard = test->priv;
	bool soon;

	KUNIT_ASSERT_NOT_NULL(test, leaver);
	leaver->subscription = subscription;
	init_completion(&leaver->done);
	INIT_WORK(&leaver->work, leaver_work);
	queue_work(system_unbound_wq, &leaver->work);
	soon = wait_for_completion_timeout(&leaver->done, 10 * HZ);
	if (!soon)
		fake_mad_end(fake_sa_posted(heard->fake, 0), IB_WC_RESP_TIMEOUT_ERR);
	flush_work(&leaver->work);
	KUNIT_ASSERT_TRUE(test, soon);
}

/* Waits for a posting, and answers the MAD that was posted first. */
static void answer_first(struct kunit *test, bool on)
{
	struct heard *heard = test->priv;
	struct fake_sa *fake = heard->fake;
	struct fake_mad *mad;

	KUNIT_ASSERT_GT(test, wait_for_completion_timeout(&fake->posted, 30 * HZ), 0);
	mad = fake_sa_posted(fake, 0);
	KUNIT_ASSERT_NOT_NULL(test, mad);
	KUNIT_EXPECT_EQ(test, mad->mad.data[23], on);
	fake_mad_answer(mad, 0, mad->mad.data, IB_MGMT_SA_DATA);
}

/* The manager never gets a subscription before the end of an equal one. */
static void ends_are_not_awaited(struct kunit *test)
{
	struct heard *heard = test->priv;
	struct fake_sa *fake = heard->fake;
	struct ib_sa_subscription *one, *two;

	one = subscribe(test, 66);
	answer_first(test, true);
	wait(test, heard);
	unsubscribe_unanswered(test, one);
	KUNIT_EXPECT_EQ(test, fake->agents, 1);
	two = subscribe(test, 66);
	/*
	 * The standing request is a subscription's first member. Its work must wait, and sends
	 * nothing.
	 */
	flush_delayed_work(&((struct sa_standing *)two)->work);
	KUNIT_EXPECT_EQ(test, fake->posts, 2);
	answer_first(test, false);
	answer_first(test, true);
	wait(test, heard);
	KUNIT_EXPECT_EQ(test, heard->status, 0);

	/* Unanswered ends of subscriptions are released when the port is removed. */
	one = subscribe(test, 67);
	answer_first(test, true);
	wait(test, heard);
	unsubscribe_unanswered(test, one);
	unsubscribe_unanswered(test, two);
	KUNIT_EXPECT_EQ(test, fake_sa_mads(fake), 2);
}

/* Of two equal subscriptions the manager has one record, which ends with the last of them. */
static void ends_are_handed_over(struct kunit *test)
{
	struct heard *heard = test->priv;
	struct fake_sa *fake = heard->fake;
	struct ib_sa_subscription *one, *two;

	fake->respond = manager;
	one = subscribe(test, 66);
	wait(test, heard);
	fake->refuse = -EIO;
	two = subscribe(test, 66);
	wait(test, heard);
	KUNIT_EXPECT_EQ(test, heard->status, -EIO);
	ib_sa_unsubscribe(one);
	fake->refuse = 0;
	KUNIT_EXPECT_EQ(test, heard->deletes, 0);
	ib_sa_unsubscribe(two);
	fake_sa_settle(fake);
	KUNIT_EXPECT_EQ(test, heard->deletes, 1);
}

/* Any node can send a Report(): only the subnet manager's are dispatched and answered. */
static void reports_of_others(struct kunit *test)
{
	struct ib_sa_notice notice = {
		.attr = { .generic_type = 0x80, .trap_num = cpu_to_be16(66) },
	};
	struct heard *heard = test->priv;
	struct fake_sa *fake = heard->fake;
	struct ib_sa_subscription *subscription = subscribe(test, 66);
	struct fake_mad *mad;

	answer_first(test, true);
	wait(test, heard);
	flush_delayed_work(&((struct sa_standing *)subscription)->work);
	KUNIT_ASSERT_NOT_NULL(test, fake->notices);
	fake_sa_report(fake, FAKE_SM_LID + 1, &notice);
	KUNIT_EXPECT_EQ(test, heard->reports, 0);
	KUNIT_EXPECT_EQ(test, fake->refused, 1);
	KUNIT_EXPECT_EQ(test, fake_sa_mads(fake), 0);

	fake_sa_report(fake, FAKE_SM_LID, &notice);
	KUNIT_EXPECT_EQ(test, heard->reports, 1);
	KUNIT_EXPECT_EQ(test, fake->refused, 1);
	mad = fake_sa_posted(fake, 0);
	KUNIT_ASSERT_NOT_NULL(test, mad);
	KUNIT_EXPECT_EQ(test, mad->mad.mad_hdr.method, IB_MGMT_METHOD_REPORT_RESP);
	fake_mad_end(mad, IB_WC_SUCCESS);

	/* While the port has no manager, no Report() is dispatched. */
	fake->attr.sm_lid = 0;
	fake_sa_event(fake, IB_EVENT_SM_CHANGE);
	fake_sa_report(fake, 0, &notice);
	KUNIT_EXPECT_EQ(test, heard->reports, 1);
	KUNIT_EXPECT_EQ(test, fake->refused, 2);
	unsubscribe_unanswered(test, subscription);
}

static void who_wants_what(struct kunit *test)
{
	struct ib_sa_inform_info all, info;
	struct ib_sa_notice notice = {};

	ib_sa_inform_info_init(&all);
	notice.attr.generic_type = 0x80 | 3;
	notice.attr.prod_type_lsb = cpu_to_be16(4);
	notice.attr.trap_num = cpu_to_be16(64);
	notice.attr.issuer_lid = cpu_to_be16(0x20);
	notice.issuer_gid.raw[15] = 1;
	KUNIT_EXPECT_TRUE(test, sa_wants(&all, &notice));
	info = all;
	info.is_generic = 0;
	KUNIT_EXPECT_FALSE(test, sa_wants(&info, &notice));
	info = all;
	info.trap_num = cpu_to_be16(65);
	KUNIT_EXPECT_FALSE(test, sa_wants(&info, &notice));
	info.trap_num = cpu_to_be16(64);
	KUNIT_EXPECT_TRUE(test, sa_wants(&info, &notice));
	info.type = cpu_to_be16(4);
	KUNIT_EXPECT_FALSE(test, sa_wants(&info, &notice));
	info.type = cpu_to_be16(3);
	KUNIT_EXPECT_TRUE(test, sa_wants(&info, &notice));
	info.producer_type = cpu_to_be32(1);
	KUNIT_EXPECT_FALSE(test, sa_wants(&info, &notice));
	info.producer_type = cpu_to_be32(4);
	info.lid_range_begin = cpu_to_be16(0x10);
	info.lid_range_end = cpu_to_be16(0x1f);
	KUNIT_EXPECT_FALSE(test, sa_wants(&info, &notice));
	info.lid_range_end = cpu_to_be16(0x20);
	KUNIT_EXPECT_TRUE(test, sa_wants(&info, &notice));
	info.gid.raw[15] = 2;
	KUNIT_EXPECT_FALSE(test, sa_wants(&info, &notice));
	info.gid.raw[15] = 1;
	KUNIT_EXPECT_TRUE(test, sa_wants(&info, &notice));
}

static struct kunit_case table_cases[] = {
	KUNIT_CASE(tables),
	KUNIT_CASE(ready_made),
	KUNIT_CASE(class_port_info),
	KUNIT_CASE(services),
	KUNIT_CASE_SLOW(leases),
	KUNIT_CASE(long_leases),
	KUNIT_CASE(subscriptions),
	KUNIT_CASE(ends_are_not_awaited),
	KUNIT_CASE(ends_are_handed_over),
	KUNIT_CASE(reports_of_others),
	KUNIT_CASE(who_wants_what),
	{}
};

static struct kunit_suite table_suite = {
	.name = "ib_core_sa_table",
	.init = table_init,
	.exit = table_exit,
	.test_cases = table_cases,
};

kunit_test_suite(table_suite);
