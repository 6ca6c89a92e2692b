// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: MADs that are written: those that reach the MAD layer, those that are refused, and their
 * completion.
 */
#include <linux/hash.h>
#include <linux/ktime.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#include "test_umad.h"

#define FIRST_LEN	(sizeof(struct ib_user_mad_hdr) + IB_MGMT_MAD_SIZE)
#define OLD_HDR		sizeof(struct ib_user_mad_hdr_old)

static ssize_t write_mad(struct umad_test *t, struct ut_mad *mad)
{
	return ut_write(t, mad, FIRST_LEN);
}

static int sends(struct umad_test *t)
{
	return list_count_nodes(&t->fake->sends);
}

/*
 * Address, QP, P_Key index, timeout and all bytes are passed on; the transaction ID gets the hi_tid
 * of the agent.
 */
static void request(struct kunit *test)
{
	struct umad_test *t = test->priv;
	struct ut_mad mad = ut_mad(0, IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_METHOD_GET,
				   0xaaaabbbbccccddddULL);
	struct fake_send *send;

	KUNIT_ASSERT_EQ(test, ut_register(t, 1, 0, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, write_mad(t, &mad), FIRST_LEN);
	send = fake_mads_oldest(t);
	KUNIT_EXPECT_EQ(test, send->qpn, 1);
	KUNIT_EXPECT_EQ(test, send->pkey_index, 3);
	KUNIT_EXPECT_EQ(test, send->buf.timeout_ms, 100);
	KUNIT_EXPECT_EQ(test, send->buf.retries, 2);
	KUNIT_EXPECT_EQ(test, send->buf.hdr_len, IB_MGMT_MAD_HDR);
	KUNIT_EXPECT_EQ(test, send->buf.data_len, IB_MGMT_MAD_DATA);
	KUNIT_EXPECT_FALSE(test, send->rmpp);
	mad.mad.mad_hdr.tid = cpu_to_be64(0x00001234ccccddddULL);
	KUNIT_EXPECT_MEMEQ(test, send->first, (u8 *)&mad.mad, IB_MGMT_MAD_SIZE);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_dlid(&t->fake->ah), 9);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_sl(&t->fake->ah), 4);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_path_bits(&t->fake->ah), 1);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_port_num(&t->fake->ah), 1);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_ah_flags(&t->fake->ah), 0);

	fake_mads_complete(t, send, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, t->fake->made_sends, 0);
	KUNIT_EXPECT_EQ(test, t->fake->ahs, 0);
	KUNIT_EXPECT_EQ(test, ut_file(t)->asked, 0);
	KUNIT_EXPECT_EQ(test, ut_read(t, NULL, FIRST_LEN), -EAGAIN);
}

/* With the old header the P_Key index is 0, and the MAD begins eight bytes earlier. */
static void old_header(struct kunit *test)
{
	struct umad_test *t = test->priv;
	struct ut_mad mad = ut_mad(0, IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_METHOD_GET, 1);
	struct ib_user_mad_reg_req req = { .qpn = 1 };
	struct fake_send *send;

	KUNIT_ASSERT_EQ(test, ut_ioctl(t, IB_USER_MAD_REGISTER_AGENT, &req, sizeof(req), false), 0);
	memmove((u8 *)&mad + OLD_HDR, &mad.mad, IB_MGMT_MAD_SIZE);
	KUNIT_EXPECT_EQ(test, ut_write(t, &mad, OLD_HDR + IB_MGMT_MAD_SIZE),
			OLD_HDR + IB_MGMT_MAD_SIZE);
	send = fake_mads_oldest(t);
	KUNIT_EXPECT_EQ(test, send->pkey_index, 0);
	KUNIT_EXPECT_MEMEQ(test, send->first + IB_MGMT_MAD_HDR,
			   (u8 *)&mad + OLD_HDR + IB_MGMT_MAD_HDR, IB_MGMT_MAD_DATA);
}

static void global_route(struct kunit *test)
{
	struct umad_test *t = test->priv;
	struct ut_mad mad = ut_mad(0, IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_METHOD_GET, 1);
	const struct ib_global_route *grh = rdma_ah_read_grh(&t->fake->ah);

	mad.hdr.grh_present = 1;
	mad.hdr.gid_index = 1;
	mad.hdr.hop_limit = 63;
	mad.hdr.traffic_class = 8;
	mad.hdr.flow_label = cpu_to_be32(0x12345);
	memset(mad.hdr.gid, 0xfe, sizeof(mad.hdr.gid));
	KUNIT_ASSERT_EQ(test, ut_register(t, 1, 0, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, write_mad(t, &mad), FIRST_LEN);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_ah_flags(&t->fake->ah), IB_AH_GRH);
	KUNIT_EXPECT_EQ(test, grh->sgid_index, 1);
	KUNIT_EXPECT_EQ(test, grh->hop_limit, 63);
	KUNIT_EXPECT_EQ(test, grh->traffic_class, 8);
	KUNIT_EXPECT_EQ(test, grh->flow_label, 0x12345);
	KUNIT_EXPECT_MEMEQ(test, grh->dgid.raw, mad.hdr.gid, sizeof(mad.hdr.gid));

	/* A GID index without an entry. */
	mad.hdr.gid_index = 100;
	mad.mad.mad_hdr.tid = cpu_to_be64(2);
	KUNIT_EXPECT_EQ(test, write_mad(t, &mad), -EINVAL);
	KUNIT_EXPECT_EQ(test, t->fake->made_sends, 1);
}

static void lengths(struct kunit *test)
{
	struct umad_test *t = test->priv;
	const size_t least = sizeof(struct ib_user_mad_hdr) + IB_MGMT_RMPP_HDR;
	struct ut_mad mad = ut_mad(0, IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_METHOD_GET, 1);
	struct {
		struct ut_mad mad;
		u8 more;
	} longer = { .mad = mad };

	KUNIT_ASSERT_EQ(test, ut_register(t, 1, 0, 0, 0), 0);
	ut_expect_refused(t, ut_write(t, &mad, least - 1), -EINVAL, "at least 100");
	KUNIT_EXPECT_EQ(test, ut_write(t, &mad, least), least);
	longer.mad.mad.mad_hdr.tid = cpu_to_be64(2);
	KUNIT_EXPECT_EQ(test, ut_write(t, &longer, FIRST_LEN + 1), -EINVAL);
	/* The head of an SA MAD has 56 bytes. */
	mad.mad.mad_hdr.mgmt_class = IB_MGMT_CLASS_SUBN_ADM;
	ut_expect_refused(t, ut_write(t, &mad, sizeof(mad.hdr) + IB_MGMT_SA_HDR - 1), -EINVAL,
			  "56 bytes at least");
	KUNIT_EXPECT_EQ(test, t->fake->made_sends, 1);
	KUNIT_EXPECT_EQ(test, t->fake->ahs, 1);
}

static void refused(struct kunit *test)
{
	struct umad_test *t = test->priv;
	struct ib_umad_file *file = t->filp.private_data;
	struct ut_mad mad = ut_mad(0, IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_METHOD_GET, 1);
	loff_t pos = 0;

	KUNIT_EXPECT_EQ(test, ut_ioctl(t, IB_USER_MAD_ENABLE_PKEY, &mad, 0, false), 0);
	ut_expect_refused(t, write_mad(t, &mad), -EIO, "no agent 0");
	KUNIT_ASSERT_EQ(test, ut_register(t, 1, 0, 0, 0), 0);
	mad.hdr.id = UMAD_AGENTS;
	ut_expect_refused(t, write_mad(t, &mad), -EINVAL, "id 32");
	mad.hdr.id = 0;
	ut_expect_refused(t, umad_fops.write(&t->filp, ut_at(t, UT_BYTES), FIRST_LEN, &pos),
			  -EFAULT, "header");
	KUNIT_EXPECT_EQ(test, copy_to_user(ut_at(t, UT_BYTES - FIRST_LEN + 1), &mad, FIRST_LEN - 1),
			0);
	/* User memory must not be accessed under the file's mutex, since others wait for it. */
	mutex_lock(&file->mutex);
	ut_expect_refused(t, umad_fops.write(&t->filp, ut_at(t, UT_BYTES - FIRST_LEN + 1),
					     FIRST_LEN, &pos), -EFAULT, "the MAD");
	mutex_unlock(&file->mutex);

	t->fake->answer = -ENOBUFS;
	t->fake->fails = FAKE_CREATE;
	KUNIT_EXPECT_EQ(test, write_mad(t, &mad), -ENOBUFS);
	t->fake->fails = FAKE_POST;
	KUNIT_EXPECT_EQ(test, write_mad(t, &mad), -ENOBUFS);
	t->fake->fails = FAKE_NONE;
	t->fake->ah_answer = -ENOSPC;
	KUNIT_EXPECT_EQ(test, write_mad(t, &mad), -ENOSPC);
	t->fake->ah_answer = 0;
	KUNIT_EXPECT_EQ(test, t->fake->made_sends, 0);
	KUNIT_EXPECT_EQ(test, t->fake->ahs, 0);
	KUNIT_EXPECT_EQ(test, ut_file(t)->asked, 0);
	/* None of them is still recorded as in flight. */
	KUNIT_EXPECT_EQ(test, write_mad(t, &mad), FIRST_LEN);
}

/* ---- transactions ---- */

static void transactions(struct kunit *test)
{
	struct umad_test *t = test->priv;
	struct ut_mad get = ut_mad(0, IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_METHOD_GET, 7);
	struct ut_mad resp = ut_mad(0, IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_METHOD_GET_RESP,
				    0x123400000007ULL);

	KUNIT_ASSERT_EQ(test, ut_register(t, 1, 0, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, write_mad(t, &get), FIRST_LEN);
	/* The upper half of the transaction ID and the address make no difference. */
	get.mad.mad_hdr.tid = cpu_to_be64(0x1000000000000007ULL);
	get.hdr.lid = cpu_to_be16(10);
	ut_expect_refused(t, write_mad(t, &get), -EINVAL, "0x123400000007 is under way");
	get.mad.mad_hdr.mgmt_class = IB_MGMT_CLASS_DEVICE_ADM;
	KUNIT_EXPECT_EQ(test, write_mad(t, &get), FIRST_LEN);
	KUNIT_EXPECT_EQ(test, sends(t), 2);

	/* Responses have the whole transaction IDs of their peers. */
	KUNIT_EXPECT_EQ(test, write_mad(t, &resp), FIRST_LEN);
	ut_expect_refused(t, write_mad(t, &resp), -EINVAL, "under way");
	resp.hdr.lid = cpu_to_be16(10);
	KUNIT_EXPECT_EQ(test, write_mad(t, &resp), FIRST_LEN);
	resp.hdr.grh_present = 1;
	resp.hdr.hop_limit = 1;
	KUNIT_EXPECT_EQ(test, write_mad(t, &resp), FIRST_LEN);
	ut_expect_refused(t, write_mad(t, &resp), -EINVAL, "under way");
	resp.hdr.gid[15] = 1;
	KUNIT_EXPECT_EQ(test, write_mad(t, &resp), FIRST_LEN);
	KUNIT_EXPECT_EQ(test, sends(t), 6);

	/* After a send has completed, its transaction ID can be used again. */
	while (sends(t))
		fake_mads_complete(t, fake_mads_oldest(t), IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, write_mad(t, &resp), FIRST_LEN);
	KUNIT_EXPECT_EQ(test, write_mad(t, &get), FIRST_LEN);
}

/* How many sends are in flight while another is written, and how often that is timed. */
#define MANY	5000
#define TIMED	100

/* The shortest time in which a send that follows others in a series is written, in nanoseconds. */
static u64 time_sends(struct umad_test *t, struct ut_mad *mad, void (*next)(struct ut_mad *mad))
{
	u64 least = U64_MAX, start;

	for (int i = 0; i < TIMED; i++) {
		next(mad);
		start = ktime_get_ns();
		KUNIT_ASSERT_EQ(t->test, write_mad(t, mad), FIRST_LEN);
		least = min(least, ktime_get_ns() - start);
	}
	return least;
}

/*
 * The program chooses transaction IDs and addresses, but not how long interrupts are disabled while
 * a send is compared with those in flight: with 5,000 of them a write takes hardly longer than
 * with none.
 */
static void with_many(struct kunit *test, struct ut_mad mad, void (*next)(struct ut_mad *mad))
{
	struct umad_test *t = test->priv;
	u64 few, many;

	KUNIT_ASSERT_EQ(test, ut_register(t, 1, 0, 0, 0), 0);
	few = time_sends(t, &mad, next);
	for (int i = 0; i < MANY; i++) {
		next(&mad);
		KUNIT_ASSERT_EQ(test, write_mad(t, &mad), FIRST_LEN);
	}
	many = time_sends(t, &mad, next);
	kunit_info(test, "%llu ns with none, %llu ns with %d in flight\n", few, many, MANY);
	KUNIT_EXPECT_LT(test, many, 4 * few);
	/* None of them can be sent twice. */
	ut_expect_refused(t, write_mad(t, &mad), -EINVAL, "under way");
}

/* The next transaction ID of those that a hash table of 64 buckets keeps in one. */
static void collide(struct ut_mad *mad)
{
	u64 tid = be64_to_cpu(mad->mad.mad_hdr.tid);

	do {
		tid++;
	} while (hash_64(0x123400000000ULL | tid, 6));
	mad->mad.mad_hdr.tid = cpu_to_be64(tid);
}

static void colliding_requests(struct kunit *test)
{
	with_many(test, ut_mad(0, IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_METHOD_GET, 1), collide);
}

static void next_lid(struct ut_mad *mad)
{
	be16_add_cpu(&mad->hdr.lid, 1);
}

static void one_response_to_many(struct kunit *test)
{
	with_many(test, ut_mad(0, IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_METHOD_GET_RESP, 1), next_lid);
}

/* ---- long messages ---- */

/* The MAD layer segments the message: 500 bytes of SA records make three packets. */
static void kernel_rmpp(struct kunit *test)
{
	struct umad_test *t = test->priv;
	const size_t len = sizeof(struct ib_user_mad_hdr) + IB_MGMT_SA_HDR + 500;
	u8 *mad = kunit_kzalloc(test, len, GFP_KERNEL);
	struct ut_mad *ut = (struct ut_mad *)mad;
	struct fake_send *send;

	KUNIT_ASSERT_NOT_NULL(test, mad);
	*ut = ut_mad(0, IB_MGMT_CLASS_SUBN_ADM, 0x92, 7);
	for (int i = IB_MGMT_MAD_HDR; i < IB_MGMT_SA_HDR + 500; i++)
		mad[sizeof(ut->hdr) + i] = i;
	ut->mad.rmpp_hdr.rmpp_rtime_flags = IB_MGMT_RMPP_FLAG_ACTIVE;
	KUNIT_ASSERT_EQ(test, ut_register(t, 1, 0, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, ut_write(t, mad, len), len);
	send = fake_mads_oldest(t);
	KUNIT_EXPECT_TRUE(test, send->rmpp);
	KUNIT_EXPECT_EQ(test, send->buf.hdr_len, IB_MGMT_SA_HDR);
	KUNIT_EXPECT_EQ(test, send->buf.data_len, 500);
	KUNIT_EXPECT_EQ(test, send->buf.seg_count, 3);
	KUNIT_EXPECT_MEMEQ(test, send->first, (u8 *)&ut->mad, IB_MGMT_MAD_HDR);
	/* The MAD layer writes its RMPP header. */
	KUNIT_EXPECT_EQ(test, send->first[IB_MGMT_MAD_HDR], 0);
	KUNIT_EXPECT_MEMEQ(test, send->first + IB_MGMT_RMPP_HDR,
			   mad + sizeof(ut->hdr) + IB_MGMT_RMPP_HDR,
			   IB_MGMT_SA_HDR - IB_MGMT_RMPP_HDR);
	KUNIT_EXPECT_MEMEQ(test, send->data, mad + sizeof(ut->hdr) + IB_MGMT_SA_HDR, 500);

	/* Without the flag ACTIVE it is an ordinary MAD with an RMPP header. */
	ut->mad.rmpp_hdr.rmpp_rtime_flags = 0;
	ut->mad.mad_hdr.tid = cpu_to_be64(8);
	fake_mads_complete(t, send, IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, ut_write(t, mad, len), -EINVAL);
	KUNIT_EXPECT_EQ(test, write_mad(t, ut), FIRST_LEN);
	send = fake_mads_oldest(t);
	KUNIT_EXPECT_FALSE(test, send->rmpp);
	KUNIT_EXPECT_EQ(test, send->first[IB_MGMT_MAD_HDR], 0);
	KUNIT_EXPECT_MEMEQ(test, send->first + IB_MGMT_RMPP_HDR, (u8 *)&ut->mad + IB_MGMT_RMPP_HDR,
			   IB_MGMT_MAD_SIZE - IB_MGMT_RMPP_HDR);
}

/*
 * The program segments the message: its RMPP headers are not changed, and the packets share a
 * transaction ID.
 */
static void user_rmpp(struct kunit *test)
{
	struct umad_test *t = test->priv;
	struct ut_mad mad = ut_mad(0, IB_MGMT_CLASS_SUBN_ADM, 0x92, 7);
	struct ut_mad wrong = ut_mad(0, IB_MGMT_CLASS_PERF_MGMT, 0x92, 7);

	mad.mad.rmpp_hdr = (struct ib_rmpp_hdr) {
		.rmpp_version = 1, .rmpp_rtime_flags = IB_MGMT_RMPP_FLAG_ACTIVE,
		.seg_num = cpu_to_be32(2),
	};
	KUNIT_ASSERT_EQ(test, ut_register(t, 1, 0, 1, IB_USER_MAD_USER_RMPP), 0);
	KUNIT_EXPECT_EQ(test, write_mad(t, &mad), FIRST_LEN);
	KUNIT_EXPECT_EQ(test, write_mad(t, &mad), FIRST_LEN);
	KUNIT_EXPECT_FALSE(test, fake_mads_oldest(t)->rmpp);
	KUNIT_EXPECT_MEMEQ(test, fake_mads_oldest(t)->first, (u8 *)&mad.mad, IB_MGMT_MAD_SIZE);
	mad.mad.rmpp_hdr.rmpp_rtime_flags = 0;
	ut_expect_refused(t, write_mad(t, &mad), -EINVAL, "under way");

	/* Other classes have no RMPP header. */
	wrong.mad.rmpp_hdr.rmpp_rtime_flags = IB_MGMT_RMPP_FLAG_ACTIVE;
	KUNIT_EXPECT_EQ(test, write_mad(t, &wrong), FIRST_LEN);
	ut_expect_refused(t, write_mad(t, &wrong), -EINVAL, "under way");
}

/* ---- timeouts ---- */

static void timed_out(struct kunit *test)
{
	struct umad_test *t = test->priv;
	struct ut_mad mad = ut_mad(1, IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_METHOD_GET, 7), got;
	const size_t len = sizeof(mad.hdr) + IB_MGMT_MAD_HDR;

	KUNIT_ASSERT_EQ(test, ut_register(t, 1, 0, 0, 0), 0);
	KUNIT_ASSERT_EQ(test, ut_register(t, 1, 0, 0, 0), 1);
	KUNIT_EXPECT_EQ(test, write_mad(t, &mad), FIRST_LEN);
	KUNIT_EXPECT_TRUE(test, ut_polls(t, EPOLLOUT | EPOLLWRNORM));
	fake_mads_complete(t, fake_mads_oldest(t), IB_WC_RESP_TIMEOUT_ERR);
	KUNIT_EXPECT_EQ(test, t->fake->made_sends, 0);
	KUNIT_EXPECT_EQ(test, t->fake->ahs, 0);
	KUNIT_EXPECT_TRUE(test, ut_polls(t, EPOLLIN | EPOLLRDNORM | EPOLLOUT | EPOLLWRNORM));
	ut_expect_refused(t, ut_read(t, &got, len - 1), -EINVAL, "timed out has 88");
	KUNIT_EXPECT_EQ(test, ut_read(t, &got, sizeof(got)), len);
	mad.hdr.status = ETIMEDOUT;
	mad.mad.mad_hdr.tid = cpu_to_be64(0x123400000007ULL);
	KUNIT_EXPECT_MEMEQ(test, (u8 *)&got, (u8 *)&mad, len);
	KUNIT_EXPECT_EQ(test, ut_read(t, NULL, sizeof(got)), -EAGAIN);
	KUNIT_EXPECT_EQ(test, ut_file(t)->asked, 0);
	/* The same request may be sent again. */
	KUNIT_EXPECT_EQ(test, write_mad(t, &mad), FIRST_LEN);
	KUNIT_EXPECT_EQ(test, ut_unregister(t, 1), 0);
	KUNIT_EXPECT_EQ(test, sends(t), 0);
	KUNIT_EXPECT_EQ(test, ut_read(t, NULL, sizeof(got)), -EAGAIN);
}

/* The number of unread timeouts is limited. */
static void not_read(struct kunit *test)
{
	struct umad_test *t = test->priv;
	struct ut_mad mad = ut_mad(0, IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_METHOD_GET, 7);

	KUNIT_ASSERT_EQ(test, ut_register(t, 1, 0, 0, 0), 0);
	ut_file(t)->asked = UMAD_MOST - 1;
	KUNIT_EXPECT_EQ(test, write_mad(t, &mad), FIRST_LEN);
	fake_mads_complete(t, fake_mads_oldest(t), IB_WC_RESP_TIMEOUT_ERR);
	ut_expect_refused(t, write_mad(t, &mad), -ENOBUFS, "200000 sends");
	KUNIT_EXPECT_TRUE(test, ut_polls(t, EPOLLIN | EPOLLRDNORM));
	KUNIT_EXPECT_EQ(test, ut_read(t, NULL, sizeof(mad)), sizeof(mad.hdr) + IB_MGMT_MAD_HDR);
	KUNIT_EXPECT_TRUE(test, ut_polls(t, EPOLLOUT | EPOLLWRNORM));
	KUNIT_EXPECT_EQ(test, write_mad(t, &mad), FIRST_LEN);
	ut_file(t)->asked -= UMAD_MOST - 1;
}

static int note_wake_up(struct wait_queue_entry *entry, unsigned int mode, int flags, void *key)
{
	*(bool *)entry->private = true;
	return 1;
}

/* A program that polls for room to send is woken when a send of a full file ends. */
static void room_again(struct kunit *test)
{
	struct umad_test *t = test->priv;
	struct ut_mad mad = ut_mad(0, IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_METHOD_GET, 7);
	struct wait_queue_entry entry;
	bool woken = false;

	KUNIT_ASSERT_EQ(test, ut_register(t, 1, 0, 0, 0), 0);
	init_waitqueue_func_entry(&entry, note_wake_up);
	entry.private = &woken;
	add_wait_queue(&ut_file(t)->wait, &entry);
	ut_file(t)->asked = UMAD_MOST - 1;
	KUNIT_EXPECT_EQ(test, write_mad(t, &mad), FIRST_LEN);
	KUNIT_EXPECT_TRUE(test, ut_polls(t, 0));
	KUNIT_EXPECT_FALSE(test, woken);
	fake_mads_complete(t, fake_mads_oldest(t), IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, woken);
	KUNIT_EXPECT_TRUE(test, ut_polls(t, EPOLLOUT | EPOLLWRNORM));
	remove_wait_queue(&ut_file(t)->wait, &entry);
	ut_file(t)->asked -= UMAD_MOST - 1;
}

static struct kunit_case send_cases[] = {
	KUNIT_CASE(request),
	KUNIT_CASE(old_header),
	KUNIT_CASE(global_route),
	KUNIT_CASE(lengths),
	KUNIT_CASE(refused),
	KUNIT_CASE(transactions),
	KUNIT_CASE_SLOW(colliding_requests),
	KUNIT_CASE_SLOW(one_response_to_many),
	KUNIT_CASE(kernel_rmpp),
	KUNIT_CASE(user_rmpp),
	KUNIT_CASE(timed_out),
	KUNIT_CASE(not_read),
	KUNIT_CASE(room_again),
	{}
};

static struct kunit_suite send_suite = {
	.name = "rdma_umad_send",
	.init = ut_init,
	.exit = ut_exit,
	.test_cases = send_cases,
};

kunit_test_suite(send_suite);
