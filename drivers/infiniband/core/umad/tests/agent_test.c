// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: agents: the arguments with which all forms of registration call the MAD layer, and the
 * numbers of agents.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "test_umad.h"

static int agents(struct umad_test *t)
{
	return list_count_nodes(&t->fake->agents);
}

/* A file has up to 32 agents, and a new one gets the lowest free number. */
static void numbers(struct kunit *test)
{
	struct umad_test *t = test->priv;

	for (int i = 0; i < UMAD_AGENTS; i++)
		KUNIT_EXPECT_EQ(test, ut_register(t, 1, 0, 0, 0), i);
	ut_expect_refused(t, ut_register(t, 1, 0, 0, 0), -ENOMEM, "32 agents");
	KUNIT_EXPECT_EQ(test, ut_unregister(t, 5), 0);
	KUNIT_EXPECT_EQ(test, ut_unregister(t, 31), 0);
	KUNIT_EXPECT_EQ(test, agents(t), UMAD_AGENTS - 2);
	ut_expect_refused(t, ut_unregister(t, 5), -EINVAL, "no agent 5");
	ut_expect_refused(t, ut_unregister(t, UMAD_AGENTS), -EINVAL, "id 32");
	KUNIT_EXPECT_EQ(test, ut_register(t, 1, 0, 0, 0), 5);
	KUNIT_EXPECT_EQ(test, ut_register(t, 1, 0, 0, 0), 31);
	ut_close(t);
	KUNIT_EXPECT_EQ(test, agents(t), 0);
}

/* The methods of the registrations below: one in each word of 32 bits. */
static void expect_methods(struct kunit *test, const struct ib_mad_reg_req *req)
{
	static const int methods[] = { 1, 40, 66, 127 };
	DECLARE_BITMAP(expected, IB_MGMT_MAX_METHODS) = {};

	for (int i = 0; i < ARRAY_SIZE(methods); i++)
		__set_bit(methods[i], expected);
	KUNIT_EXPECT_MEMEQ(test, req->method_mask, expected, sizeof(expected));
}

static void first_form(struct kunit *test)
{
	struct umad_test *t = test->priv;
	struct fake_mads *fake = t->fake;
	struct ib_user_mad_reg_req req = {
		.id = ~0U, .qpn = 1, .mgmt_class = 0x32, .mgmt_class_version = 2,
		.oui = { 0x11, 0x22, 0x33 }, .rmpp_version = 1,
	};
	static const u32 words[] = { BIT(1), BIT(40 - 32), BIT(66 - 64), BIT(127 - 96) };
	static const u64 longs[] = {
		BIT_ULL(1) | BIT_ULL(40), BIT_ULL(66 - 64) | BIT_ULL(127 - 64)
	};

	memcpy(req.method_mask, longs, sizeof(longs));
	KUNIT_EXPECT_EQ(test, ut_ioctl(t, IB_USER_MAD_REGISTER_AGENT, &req, sizeof(req), false), 0);
	KUNIT_EXPECT_EQ(test, req.id, 0);
	KUNIT_EXPECT_EQ(test, fake->qp_type, IB_QPT_GSI);
	KUNIT_EXPECT_EQ(test, fake->req.mgmt_class, 0x32);
	KUNIT_EXPECT_EQ(test, fake->req.mgmt_class_version, 2);
	KUNIT_EXPECT_MEMEQ(test, fake->req.oui, req.oui, sizeof(req.oui));
	KUNIT_EXPECT_EQ(test, fake->rmpp_version, 1);
	KUNIT_EXPECT_EQ(test, fake->flags, 0);
	expect_methods(test, &fake->req);

	/* A 32-bit program has a mask of 32-bit words. */
	req.qpn = 0;
	memcpy(req.method_mask, words, sizeof(words));
	KUNIT_EXPECT_EQ(test, ut_ioctl(t, IB_USER_MAD_REGISTER_AGENT, &req, sizeof(req), true), 0);
	KUNIT_EXPECT_EQ(test, req.id, 1);
	KUNIT_EXPECT_EQ(test, fake->qp_type, IB_QPT_SMI);
	expect_methods(test, &fake->req);

	/* An agent without a class receives no requests. */
	req.mgmt_class = 0;
	KUNIT_EXPECT_EQ(test, ut_ioctl(t, IB_USER_MAD_REGISTER_AGENT, &req, sizeof(req), false), 0);
	KUNIT_EXPECT_EQ(test, fake->req.mgmt_class, 0);
}

static void second_form(struct kunit *test)
{
	struct umad_test *t = test->priv;
	struct fake_mads *fake = t->fake;
	struct ib_user_mad_reg_req2 req = {
		.id = ~0U, .qpn = 1, .mgmt_class = 0x32, .mgmt_class_version = 2,
		.oui = 0x112233, .rmpp_version = 1, .flags = IB_USER_MAD_USER_RMPP,
		.method_mask = { BIT_ULL(1) | BIT_ULL(40), BIT_ULL(66 - 64) | BIT_ULL(127 - 64) },
	};
	static const u8 oui[] = { 0x11, 0x22, 0x33 };

	for (int compat = 0; compat < 2; compat++) {
		KUNIT_EXPECT_EQ(test, ut_ioctl(t, IB_USER_MAD_REGISTER_AGENT2, &req, sizeof(req),
					       compat), 0);
		KUNIT_EXPECT_EQ(test, req.id, compat);
		KUNIT_EXPECT_EQ(test, fake->req.mgmt_class, 0x32);
		KUNIT_EXPECT_EQ(test, fake->req.mgmt_class_version, 2);
		KUNIT_EXPECT_MEMEQ(test, fake->req.oui, oui, sizeof(oui));
		KUNIT_EXPECT_EQ(test, fake->flags, IB_USER_MAD_USER_RMPP);
		expect_methods(test, &fake->req);
		memset(&fake->req, 0, sizeof(fake->req));
	}
}

static void refused(struct kunit *test)
{
	struct umad_test *t = test->priv;
	struct ib_user_mad_reg_req2 req = { .qpn = 1, .flags = 2 };
	struct ib_user_mad_reg_req old = { .qpn = 2 };
	u64 nowhere = t->user + UT_BYTES;

	ut_expect_refused(t, ut_ioctl(t, IB_USER_MAD_REGISTER_AGENT2, &req, sizeof(req), false),
			  -EINVAL, "flags 0x2");
	KUNIT_EXPECT_EQ(test, req.flags, IB_USER_MAD_REG_FLAGS_CAP);
	req = (struct ib_user_mad_reg_req2) { .qpn = 1, .mgmt_class = 0x32, .oui = 1 << 24 };
	ut_expect_refused(t, ut_ioctl(t, IB_USER_MAD_REGISTER_AGENT2, &req, sizeof(req), false),
			  -EINVAL, "oui 0x1000000");
	ut_expect_refused(t, ut_register(t, 2, 0, 0, 0), -EINVAL, "qpn 2");
	ut_expect_refused(t, ut_ioctl(t, IB_USER_MAD_REGISTER_AGENT, &old, sizeof(old), false),
			  -EINVAL, "qpn 2");
	for (unsigned int compat = 0; compat < 2; compat++) {
		static const unsigned int cmds[] = {
			IB_USER_MAD_REGISTER_AGENT, IB_USER_MAD_REGISTER_AGENT2,
			IB_USER_MAD_UNREGISTER_AGENT
		};

		for (int i = 0; i < ARRAY_SIZE(cmds); i++) {
			long ret = compat ? umad_fops.compat_ioctl(&t->filp, cmds[i], nowhere) :
					    umad_fops.unlocked_ioctl(&t->filp, cmds[i], nowhere);

			ut_expect_refused(t, ret, -EFAULT, "cannot be read");
		}
	}
	KUNIT_EXPECT_EQ(test, umad_fops.unlocked_ioctl(&t->filp, IB_USER_MAD_ENABLE_PKEY + 9, 0),
			-ENOIOCTLCMD);
	KUNIT_EXPECT_EQ(test, agents(t), 0);

	t->fake->fails = FAKE_REGISTER;
	t->fake->answer = -EADDRINUSE;
	KUNIT_EXPECT_EQ(test, ut_register(t, 1, 4, 0, 0), -EADDRINUSE);
	t->fake->fails = FAKE_NONE;
	KUNIT_EXPECT_EQ(test, ut_register(t, 1, 4, 0, 0), 0);
}

/* The first agent decides which header the file's MADs have. */
static void headers(struct kunit *test)
{
	struct umad_test *t = test->priv;
	struct ib_user_mad_reg_req req = { .qpn = 1 };
	struct ib_umad_port *port = t->port;

	KUNIT_EXPECT_EQ(test, umad_hdr_size(ut_file(t)), 56);
	t->fake->fails = FAKE_REGISTER;
	t->fake->answer = -EINVAL;
	KUNIT_EXPECT_EQ(test, ut_register(t, 1, 0, 0, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, umad_hdr_size(ut_file(t)), 56);
	t->fake->fails = FAKE_NONE;
	KUNIT_EXPECT_EQ(test, ut_register(t, 1, 0, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, umad_hdr_size(ut_file(t)), 64);
	ut_close(t);

	KUNIT_ASSERT_EQ(test, ut_open(t, port), 0);
	KUNIT_EXPECT_EQ(test, ut_ioctl(t, IB_USER_MAD_REGISTER_AGENT, &req, sizeof(req), false), 0);
	KUNIT_EXPECT_EQ(test, umad_hdr_size(ut_file(t)), 56);
	ut_expect_refused(t, ut_ioctl(t, IB_USER_MAD_ENABLE_PKEY, &req, 0, false), -EINVAL,
			  "registered before");
	KUNIT_EXPECT_EQ(test, ut_register(t, 1, 0, 0, 0), 1);
	KUNIT_EXPECT_EQ(test, umad_hdr_size(ut_file(t)), 56);
	ut_close(t);

	KUNIT_ASSERT_EQ(test, ut_open(t, port), 0);
	KUNIT_EXPECT_EQ(test, ut_ioctl(t, IB_USER_MAD_ENABLE_PKEY, &req, 0, true), 0);
	KUNIT_EXPECT_EQ(test, ut_ioctl(t, IB_USER_MAD_REGISTER_AGENT, &req, sizeof(req), false), 0);
	KUNIT_EXPECT_EQ(test, umad_hdr_size(ut_file(t)), 64);
}

static struct kunit_case agent_cases[] = {
	KUNIT_CASE(numbers),
	KUNIT_CASE(first_form),
	KUNIT_CASE(second_form),
	KUNIT_CASE(refused),
	KUNIT_CASE(headers),
	{}
};

static struct kunit_suite agent_suite = {
	.name = "rdma_umad_agent",
	.init = ut_init,
	.exit = ut_exit,
	.test_cases = agent_cases,
};

kunit_test_suite(agent_suite);

MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
MODULE_DESCRIPTION("KUnit tests of user MADs");
MODULE_LICENSE("Dual BSD/GPL");
