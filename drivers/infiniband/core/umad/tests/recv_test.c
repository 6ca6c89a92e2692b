// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: reading of MADs that arrived: with enough room and too little, and the limit of unread
 * MADs.
 */
#include <kunit/static_stub.h>
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/uaccess.h>

#include "test_umad.h"

#define HDR		sizeof(struct ib_user_mad_hdr)
#define OLD_HDR		sizeof(struct ib_user_mad_hdr_old)
#define FIRST_LEN	(HDR + IB_MGMT_MAD_SIZE)

static struct ib_mad_recv_wc *mad_of(struct umad_test *t, u8 mgmt_class, int len)
{
	return fake_mads_mad(t->fake, mgmt_class, len);
}

/* Receives a MAD of one packet as the first agent. */
static void receive(struct umad_test *t)
{
	fake_mads_receive(t, 0, mad_of(t, IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_MAD_SIZE));
}

static void one_packet(struct kunit *test)
{
	struct umad_test *t = test->priv;
	struct ut_mad got, expected = {
		.hdr = { .id = 1, .length = FIRST_LEN, .qpn = cpu_to_be32(5),
			 .lid = cpu_to_be16(7), .sl = 3, .path_bits = 1, .pkey_index = 2 },
		.mad.mad_hdr.mgmt_class = IB_MGMT_CLASS_PERF_MGMT,
	};

	KUNIT_ASSERT_EQ(test, ut_register(t, 1, 0, 0, 0), 0);
	KUNIT_ASSERT_EQ(test, ut_register(t, 1, 4, 0, 0), 1);
	KUNIT_EXPECT_EQ(test, ut_read(t, NULL, FIRST_LEN), -EAGAIN);
	KUNIT_EXPECT_TRUE(test, ut_polls(t, EPOLLOUT | EPOLLWRNORM));
	fake_mads_receive(t, 1, mad_of(t, IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_MAD_SIZE));
	KUNIT_EXPECT_TRUE(test, ut_polls(t, EPOLLIN | EPOLLRDNORM | EPOLLOUT | EPOLLWRNORM));
	KUNIT_EXPECT_EQ(test, ut_read(t, &got, FIRST_LEN), FIRST_LEN);
	KUNIT_EXPECT_MEMEQ(test, (u8 *)&got, (u8 *)&expected, FIRST_LEN);
	KUNIT_EXPECT_EQ(test, t->fake->made_recvs, 0);
	KUNIT_EXPECT_EQ(test, ut_file(t)->kept, 0);
	KUNIT_EXPECT_TRUE(test, ut_polls(t, EPOLLOUT | EPOLLWRNORM));
}

static void old_header(struct kunit *test)
{
	struct umad_test *t = test->priv;
	struct ib_user_mad_reg_req req = { .qpn = 1 };
	struct ut_mad got;

	KUNIT_ASSERT_EQ(test, ut_ioctl(t, IB_USER_MAD_REGISTER_AGENT, &req, sizeof(req), false), 0);
	receive(t);
	KUNIT_EXPECT_EQ(test, ut_read(t, &got, sizeof(got)), OLD_HDR + IB_MGMT_MAD_SIZE);
	KUNIT_EXPECT_EQ(test, got.hdr.length, OLD_HDR + IB_MGMT_MAD_SIZE);
	KUNIT_EXPECT_EQ(test, ((u8 *)&got)[OLD_HDR + 1], IB_MGMT_CLASS_PERF_MGMT);
	/* The bytes behind it are not written. */
	KUNIT_EXPECT_EQ(test, ((u8 *)&got)[OLD_HDR + IB_MGMT_MAD_SIZE], 0xa5);
}

/* Must not be called: resolution of the reply address may take seconds. */
static int no_way_back(struct ib_device *device, u32 port_num, const struct ib_wc *wc,
		       const struct ib_grh *grh, struct rdma_ah_attr *ah_attr)
{
	return -EHOSTUNREACH;
}

/* The header has the sender's GID, and the index of the GID to which the MAD was sent. */
static void global_route(struct kunit *test)
{
	struct umad_test *t = test->priv;
	struct ib_mad_recv_wc *wc = mad_of(t, IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_MAD_SIZE);
	struct ut_mad got;

	kunit_activate_static_stub(test, ib_init_ah_attr_from_wc, no_way_back);
	KUNIT_ASSERT_EQ(test, ut_register(t, 1, 0, 0, 0), 0);
	KUNIT_ASSERT_NOT_NULL(test, wc);
	wc->wc->wc_flags = IB_WC_GRH;
	wc->recv_buf.grh->version_tclass_flow = cpu_to_be32(6 << 28 | 0x08 << 20 | 0x54321);
	wc->recv_buf.grh->hop_limit = 12;
	wc->recv_buf.grh->sgid.global.subnet_prefix = cpu_to_be64(0xfe80ULL << 48);
	wc->recv_buf.grh->sgid.global.interface_id = cpu_to_be64(0x99);
	wc->recv_buf.grh->dgid.global.subnet_prefix = cpu_to_be64(0xfe80ULL << 48);
	wc->recv_buf.grh->dgid.global.interface_id = cpu_to_be64(1ULL << 32 | 1);
	fake_mads_receive(t, 0, wc);
	KUNIT_EXPECT_EQ(test, ut_read(t, &got, sizeof(got)), FIRST_LEN);
	KUNIT_EXPECT_EQ(test, got.hdr.grh_present, 1);
	KUNIT_EXPECT_EQ(test, got.hdr.gid_index, 1);
	KUNIT_EXPECT_EQ(test, got.hdr.traffic_class, 8);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(got.hdr.flow_label), 0x54321);
	KUNIT_EXPECT_EQ(test, got.hdr.gid[15], 0x99);
	KUNIT_EXPECT_EQ(test, got.hdr.gid[0], 0xfe);

	/* A MAD to a GID that the port does not have is dropped, as it cannot be answered. */
	wc = mad_of(t, IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_MAD_SIZE);
	KUNIT_ASSERT_NOT_NULL(test, wc);
	wc->wc->wc_flags = IB_WC_GRH;
	fake_mads_receive(t, 0, wc);
	KUNIT_EXPECT_EQ(test, ut_read(t, NULL, sizeof(got)), -EAGAIN);
	KUNIT_EXPECT_EQ(test, t->fake->made_recvs, 0);
	KUNIT_EXPECT_EQ(test, ut_file(t)->dropped, 1);
}

/* A MAD for which the reader has no room stays at the head of the list. */
static void short_reads(struct kunit *test)
{
	struct umad_test *t = test->priv;
	struct ut_mad got;
	loff_t pos = 0;

	KUNIT_ASSERT_EQ(test, ut_register(t, 1, 0, 0, 0), 0);
	fake_mads_receive(t, 0, mad_of(t, IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_MAD_SIZE));
	fake_mads_receive(t, 0, mad_of(t, IB_MGMT_CLASS_SUBN_ADM, IB_MGMT_MAD_SIZE));
	ut_expect_refused(t, ut_read(t, NULL, HDR - 1), -EINVAL, "the header has 64");
	ut_expect_refused(t, ut_read(t, NULL, FIRST_LEN - 1), -EINVAL, "room for 319 bytes");
	ut_expect_refused(t, umad_fops.read(&t->filp, ut_at(t, UT_BYTES), FIRST_LEN, &pos),
			  -EFAULT, "header");
	ut_expect_refused(t, umad_fops.read(&t->filp, ut_at(t, UT_BYTES - HDR), FIRST_LEN, &pos),
			  -EFAULT, "the MAD");
	KUNIT_EXPECT_EQ(test, ut_file(t)->kept, 2);
	KUNIT_EXPECT_EQ(test, ut_read(t, &got, FIRST_LEN), FIRST_LEN);
	KUNIT_EXPECT_EQ(test, got.mad.mad_hdr.mgmt_class, IB_MGMT_CLASS_PERF_MGMT);
	KUNIT_EXPECT_EQ(test, ut_read(t, &got, FIRST_LEN), FIRST_LEN);
	KUNIT_EXPECT_EQ(test, got.mad.mad_hdr.mgmt_class, IB_MGMT_CLASS_SUBN_ADM);
}

/*
 * A message of three packets: 56 + 200 bytes, 200, 17.  A reader with little room gets the length.
 */
static void long_message(struct kunit *test)
{
	struct umad_test *t = test->priv;
	const int len = IB_MGMT_MAD_SIZE + IB_MGMT_SA_DATA + 17;
	u8 *got = kunit_kzalloc(test, HDR + len, GFP_KERNEL);
	struct ut_mad *mad = (struct ut_mad *)got;

	KUNIT_ASSERT_NOT_NULL(test, got);
	KUNIT_ASSERT_EQ(test, ut_register(t, 1, 0, 1, 0), 0);
	fake_mads_receive(t, 0, mad_of(t, IB_MGMT_CLASS_SUBN_ADM, len));
	KUNIT_EXPECT_EQ(test, ut_file(t)->kept, 2);
	ut_expect_refused(t, ut_read(t, got, FIRST_LEN - 1), -EINVAL, "have 537");
	ut_expect_refused(t, ut_read(t, got, HDR + len - 1), -ENOSPC, "have 537");
	KUNIT_EXPECT_EQ(test, mad->hdr.length, HDR + len);
	KUNIT_EXPECT_EQ(test, mad->mad.mad_hdr.mgmt_class, IB_MGMT_CLASS_SUBN_ADM);
	KUNIT_EXPECT_EQ(test, got[FIRST_LEN - 1], 0);
	KUNIT_EXPECT_EQ(test, got[FIRST_LEN], 0xa5);
	KUNIT_EXPECT_EQ(test, t->fake->made_recvs, 1);

	KUNIT_EXPECT_EQ(test, ut_read(t, got, HDR + len), HDR + len);
	KUNIT_EXPECT_EQ(test, got[FIRST_LEN - 1], 0);
	KUNIT_EXPECT_EQ(test, got[FIRST_LEN], 1);
	KUNIT_EXPECT_EQ(test, got[FIRST_LEN + IB_MGMT_SA_DATA - 1], 1);
	KUNIT_EXPECT_EQ(test, got[FIRST_LEN + IB_MGMT_SA_DATA], 2);
	KUNIT_EXPECT_EQ(test, got[HDR + len - 1], 2);
	KUNIT_EXPECT_EQ(test, t->fake->made_recvs, 0);
	KUNIT_EXPECT_EQ(test, ut_file(t)->kept, 0);
}

/* If a program does not read, the first MADs are kept, up to a limit. */
static void not_read(struct kunit *test)
{
	struct umad_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, ut_register(t, 1, 0, 1, 0), 0);
	ut_file(t)->kept = UMAD_MOST - 1;
	/* One more message fits, as the limit is not reached yet. */
	fake_mads_receive(t, 0, mad_of(t, IB_MGMT_CLASS_SUBN_ADM, 2 * IB_MGMT_MAD_SIZE));
	KUNIT_EXPECT_EQ(test, ut_file(t)->kept, UMAD_MOST + 1);
	receive(t);
	receive(t);
	KUNIT_EXPECT_EQ(test, t->fake->made_recvs, 1);
	KUNIT_EXPECT_EQ(test, ut_file(t)->dropped, 2);
	KUNIT_EXPECT_EQ(test, ut_read(t, NULL, HDR + 2 * IB_MGMT_MAD_SIZE),
			HDR + 2 * IB_MGMT_MAD_SIZE);
	receive(t);
	KUNIT_EXPECT_EQ(test, t->fake->made_recvs, 1);
	KUNIT_EXPECT_EQ(test, ut_file(t)->dropped, 2);
	ut_file(t)->kept -= UMAD_MOST - 1;
}

/* A receive that failed has no MAD. */
static void failed(struct kunit *test)
{
	struct umad_test *t = test->priv;
	struct ib_mad_recv_wc *wc = mad_of(t, IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_MAD_SIZE);

	KUNIT_ASSERT_EQ(test, ut_register(t, 1, 0, 0, 0), 0);
	KUNIT_ASSERT_NOT_NULL(test, wc);
	wc->wc->status = IB_WC_WR_FLUSH_ERR;
	fake_mads_receive(t, 0, wc);
	KUNIT_EXPECT_EQ(test, t->fake->made_recvs, 0);
	KUNIT_EXPECT_EQ(test, ut_file(t)->dropped, 0);
	KUNIT_EXPECT_EQ(test, ut_read(t, NULL, FIRST_LEN), -EAGAIN);
}

#ifdef CONFIG_FAULT_INJECTION
/* A MAD for which there is no memory is dropped and counted. */
static void without_memory(struct kunit *test)
{
	struct umad_test *t = test->priv;
	struct ib_mad_recv_wc *wc = mad_of(t, IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_MAD_SIZE);

	KUNIT_ASSERT_EQ(test, ut_register(t, 1, 0, 0, 0), 0);
	KUNIT_ASSERT_NOT_NULL(test, wc);
	current->fail_nth = 1;
	fake_mads_receive(t, 0, wc);
	current->fail_nth = 0;
	KUNIT_EXPECT_EQ(test, t->fake->made_recvs, 0);
	KUNIT_EXPECT_EQ(test, ut_file(t)->dropped, 1);
	KUNIT_EXPECT_EQ(test, ut_read(t, NULL, FIRST_LEN), -EAGAIN);
}
#endif

/* MADs that an agent has received can be read after it was unregistered. */
static void unregistered(struct kunit *test)
{
	struct umad_test *t = test->priv;

	KUNIT_ASSERT_EQ(test, ut_register(t, 1, 0, 0, 0), 0);
	receive(t);
	KUNIT_EXPECT_EQ(test, ut_unregister(t, 0), 0);
	KUNIT_EXPECT_EQ(test, ut_read(t, NULL, FIRST_LEN), FIRST_LEN);
}

/**
 * struct sender - a thread that delivers a MAD when the test waits for one
 * @file: the test's file
 * @wc: the MAD
 * @done: the receive handler was called
 */
struct sender {
	struct ib_umad_file *file;
	struct ib_mad_recv_wc *wc;
	struct completion done;
};

static int send_to_waiting(void *data)
{
	struct sender *sender = data;
	struct ib_mad_agent *mad = sender->file->agents[0].mad;

	while (!wq_has_sleeper(&sender->file->wait))
		schedule_timeout_uninterruptible(1);
	mad->recv_handler(mad, NULL, sender->wc);
	complete(&sender->done);
	return 0;
}

static void waited_for(struct kunit *test)
{
	struct umad_test *t = test->priv;
	struct sender sender = {
		.file = ut_file(t), .wc = mad_of(t, IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_MAD_SIZE),
	};

	init_completion(&sender.done);
	KUNIT_ASSERT_NOT_NULL(test, sender.wc);
	KUNIT_ASSERT_EQ(test, ut_register(t, 1, 0, 0, 0), 0);
	t->filp.f_flags = 0;
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(send_to_waiting, &sender, "kt_send")));
	KUNIT_EXPECT_EQ(test, ut_read(t, NULL, FIRST_LEN), FIRST_LEN);
	wait_for_completion(&sender.done);
}

static struct kunit_case recv_cases[] = {
	KUNIT_CASE(one_packet),
	KUNIT_CASE(old_header),
	KUNIT_CASE(global_route),
	KUNIT_CASE(short_reads),
	KUNIT_CASE(long_message),
	KUNIT_CASE(not_read),
	KUNIT_CASE(failed),
#ifdef CONFIG_FAULT_INJECTION
	KUNIT_CASE(without_memory),
#endif
	KUNIT_CASE(unregistered),
	KUNIT_CASE(waited_for),
	{}
};

static struct kunit_suite recv_suite = {
	.name = "rdma_umad_recv",
	.init = ut_init,
	.exit = ut_exit,
	.test_cases = recv_cases,
};

kunit_test_suite(recv_suite);
