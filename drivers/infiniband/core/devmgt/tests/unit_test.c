// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: I/O units, what they answer, and the agents that come and go with their controllers.
 */
#include <kunit/static_stub.h>
#include <kunit/test-bug.h>
#include <kunit/test.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "../../sa/tests/fake_sa.h"
#include "../devmgt_priv.h"

/**
 * struct ports - the capability that the ports announce, and their agents
 * @fake: the device
 * @agent: that of port 1
 * @agents: how many there are
 * @received: the handler of port 1
 * @unit: the context of its agent
 * @refuse: error with which registering an agent fails
 * @capable: the port announces device management
 * @modify: error with which setting the capability fails
 */
struct ports {
	struct fake_sa *fake;
	struct ib_mad_agent agent;
	int agents;
	ib_mad_recv_handler received;
	struct dm_unit *unit;
	int refuse;
	bool capable;
	int modify;
};

static struct ports *now;

static int modify_port(struct ib_device *ib, u32 port_num, int mask, struct ib_port_modify *modify)
{
	if (now->modify)
		return now->modify;
	if (port_num != 1)
		return -EINVAL;
	if (modify->set_port_cap_mask == IB_PORT_DEVICE_MGMT_SUP)
		now->capable = true;
	if (modify->clr_port_cap_mask == IB_PORT_DEVICE_MGMT_SUP)
		now->capable = false;
	return 0;
}

static const struct ib_device_ops with_modify = { .modify_port = modify_port };

static struct ib_mad_agent *register_agent(struct ib_device *device, u32 port_num,
					   enum ib_qp_type qp_type, struct ib_mad_reg_req *request,
					   u8 rmpp_version, ib_mad_send_handler send_handler,
					   ib_mad_recv_handler recv_handler, void *context,
					   u32 flags)
{
	if (now->refuse)
		return ERR_PTR(now->refuse);
	if (port_num != 1 || qp_type != IB_QPT_GSI || request->mgmt_class != 0x06 ||
	    request->mgmt_class_version != 1 ||
	    bitmap_weight(request->method_mask, IB_MGMT_MAX_METHODS) != 1 ||
	    !test_bit(IB_MGMT_METHOD_GET, request->method_mask) || now->agents)
		return ERR_PTR(-EIO);
	now->agents++;
	now->received = recv_handler;
	now->unit = context;
	return &now->agent;
}

static void unregister_agent(struct ib_mad_agent *agent)
{
	/* The capability must be withdrawn before the agent is unregistered. */
	KUNIT_EXPECT_FALSE(kunit_get_current_test(), now->capable && !now->modify);
	now->agents--;
}

static int unit_init(struct kunit *test)
{
	struct ports *ports = kunit_kzalloc(test, sizeof(*ports), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ports);
	test->priv = ports;
	now = ports;
	ports->fake = fake_sa_begin(test);
	ib_set_device_ops(&ports->fake->ib, &with_modify);
	kunit_activate_static_stub(test, ib_register_mad_agent, register_agent);
	kunit_activate_static_stub(test, ib_unregister_mad_agent, unregister_agent);
	return 0;
}

static void unit_exit(struct kunit *test)
{
	struct ports *ports = test->priv;

	KUNIT_EXPECT_EQ(test, ports->agents, 0);
	fake_sa_end(test, ports->fake);
}

static const struct ib_dm_svc_entry services[] = {
	{ "one", cpu_to_be64(1) }, { "two", cpu_to_be64(2) }, { "three", cpu_to_be64(3) },
	{ "four", cpu_to_be64(4) }, { "five", cpu_to_be64(5) },
};

static struct ib_dm_ioc *offer(struct ports *ports, u64 guid, unsigned int count)
{
	const struct ib_dm_ioc_profile profile = {
		.guid = cpu_to_be64(guid),
		.vendor_id = cpu_to_be32(0x123456 << 8),
		.io_class = cpu_to_be16(0xff00),
		.num_svc_entries = 77,
		.id_string = "a controller",
	};

	return ib_dm_register_ioc(&ports->fake->ib, &profile, count ? services : NULL, count);
}

static u8 data[IB_MGMT_DEVICE_DATA];

static u16 ask(struct ports *ports, u16 attr_id, u32 attr_mod)
{
	memset(data, 0, sizeof(data));
	return dm_answer(ports->unit, attr_id, attr_mod, data);
}

static bool nothing(void)
{
	return !memchr_inv(data, 0, sizeof(data));
}

/* Attributes are compared byte by byte where the place of a byte matters. */
static void attributes(struct kunit *test)
{
	struct ports *ports = test->priv;
	struct ib_dm_ioc *one = offer(ports, 0x1122334455667788, 5), *two = offer(ports, 2, 0);
	const struct ib_dm_svc_entry *entry = (void *)data;

	KUNIT_ASSERT_FALSE(test, IS_ERR(one) || IS_ERR(two));
	KUNIT_EXPECT_EQ(test, ask(ports, 0x01, 0), 0);
	KUNIT_EXPECT_EQ(test, data[0], 1);
	KUNIT_EXPECT_EQ(test, data[1], 1);
	KUNIT_EXPECT_EQ(test, data[7], 18);

	KUNIT_EXPECT_EQ(test, ask(ports, 0x10, 0), 0);
	KUNIT_EXPECT_EQ(test, data[1], 2);
	KUNIT_EXPECT_EQ(test, data[2], 255);
	KUNIT_EXPECT_EQ(test, data[4], 0x11);
	KUNIT_EXPECT_EQ(test, data[5], 0);

	KUNIT_EXPECT_EQ(test, ask(ports, 0x11, 1), 0);
	KUNIT_EXPECT_EQ(test, data[0], 0x11);
	KUNIT_EXPECT_EQ(test, data[7], 0x88);
	KUNIT_EXPECT_EQ(test, data[10], 0x56);
	KUNIT_EXPECT_EQ(test, data[28], 0xff);
	KUNIT_EXPECT_EQ(test, data[54], 5);
	KUNIT_EXPECT_STREQ(test, (char *)data + 64, "a controller");
	KUNIT_EXPECT_EQ(test, ask(ports, 0x11, 2), 0);
	KUNIT_EXPECT_EQ(test, data[54], 0);

	/* The first controller is asked for entries 0 to 3, and for the last one. */
	KUNIT_EXPECT_EQ(test, ask(ports, 0x12, 1 << 16 | 3 << 8 | 0), 0);
	KUNIT_EXPECT_STREQ(test, entry[3].name, "four");
	KUNIT_EXPECT_EQ(test, data[4 * 48 - 1], 4);
	KUNIT_EXPECT_EQ(test, ask(ports, 0x12, 1 << 16 | 4 << 8 | 4), 0);
	KUNIT_EXPECT_STREQ(test, entry[0].name, "five");
	KUNIT_EXPECT_EQ(test, be64_to_cpu(entry[1].id), 0);

	ib_dm_unregister_ioc(one);
	KUNIT_EXPECT_EQ(test, ask(ports, 0x10, 0), 0);
	KUNIT_EXPECT_EQ(test, data[1], 3);
	KUNIT_EXPECT_EQ(test, data[4], 0x01);
	ib_dm_unregister_ioc(two);
}

static void refusals(struct kunit *test)
{
	struct ports *ports = test->priv;
	struct ib_dm_ioc *one = offer(ports, 1, 5);
	static const struct {
		u16 attr_id;
		u32 attr_mod;
		u16 status;
	} wrong[] = {
		{ 0x01, 1, 0x001c }, { 0x10, 1, 0x001c }, { 0x11, 0, 0x001c },
		{ 0x11, 256, 0x001c },
		{ 0x11, 2, 0x0100 }, { 0x11, 255, 0x0100 }, { 0x12, 0, 0x001c },
		{ 0x12, 2 << 16, 0x0100 }, { 0x12, 1 << 16 | 5 << 8 | 5, 0x001c },
		{ 0x12, 1 << 16 | 5 << 8 | 4, 0x001c }, { 0x12, 1 << 16 | 0 << 8 | 1, 0x001c },
		{ 0x12, 1 << 16 | 4 << 8 | 0, 0x001c }, { 0x02, 0, 0x000c }, { 0x13, 0, 0x000c },
		{ 0x12, 0xffffffff, 0x001c },
	};

	KUNIT_ASSERT_FALSE(test, IS_ERR(one));
	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++) {
		KUNIT_EXPECT_EQ_MSG(test, ask(ports, wrong[i].attr_id, wrong[i].attr_mod),
				    wrong[i].status, "case %u", i);
		KUNIT_EXPECT_TRUE(test, nothing());
	}
	KUNIT_EXPECT_EQ(test, PTR_ERR(offer(ports, 1, 0)), -EEXIST);
	KUNIT_EXPECT_EQ(test, PTR_ERR(offer(ports, 0, 0)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(offer(ports, 2, 256)), -EINVAL);
	ib_dm_unregister_ioc(one);
}

static void services_change(struct kunit *test)
{
	struct ports *ports = test->priv;
	const struct ib_dm_svc_entry *entry = (void *)data;
	struct ib_dm_ioc *one = offer(ports, 1, 0);

	KUNIT_ASSERT_FALSE(test, IS_ERR(one));
	KUNIT_EXPECT_EQ(test, ib_dm_remove_svc_entry(one, &services[0]), -ENOENT);
	for (unsigned int i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, ib_dm_add_svc_entry(one, &services[i]), 0);
	KUNIT_EXPECT_EQ(test, ib_dm_add_svc_entry(one, &services[1]), -EEXIST);
	KUNIT_EXPECT_EQ(test, ib_dm_remove_svc_entry(one, &services[1]), 0);
	KUNIT_EXPECT_EQ(test, ask(ports, 0x12, 1 << 16 | 1 << 8 | 0), 0);
	KUNIT_EXPECT_STREQ(test, entry[0].name, "one");
	KUNIT_EXPECT_STREQ(test, entry[1].name, "three");
	KUNIT_EXPECT_EQ(test, ask(ports, 0x12, 1 << 16 | 2 << 8 | 2), 0x001c);
	KUNIT_EXPECT_EQ(test, ask(ports, 0x10, 0), 0);
	/* The controller, three services that were added and one that was removed are changes. */
	KUNIT_EXPECT_EQ(test, data[1], 5);
	/* The change counter wraps. */
	ports->unit->change_id = U16_MAX;
	KUNIT_EXPECT_EQ(test, ib_dm_add_svc_entry(one, &services[1]), 0);
	KUNIT_EXPECT_EQ(test, ask(ports, 0x10, 0), 0);
	KUNIT_EXPECT_EQ(test, data[0] << 8 | data[1], 0);
	KUNIT_EXPECT_EQ(test, ib_dm_remove_svc_entry(one, &services[1]), 0);
	for (unsigned int i = 2; i < 255; i++) {
		struct ib_dm_svc_entry many = { .id = cpu_to_be64(1000 + i) };

		KUNIT_EXPECT_EQ(test, ib_dm_add_svc_entry(one, &many), 0);
	}
	KUNIT_EXPECT_EQ(test, ib_dm_add_svc_entry(one, &services[1]), -ENOSPC);
	KUNIT_EXPECT_EQ(test, ask(ports, 0x12, 1 << 16 | 254 << 8 | 251), 0);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(entry[3].id), 1254);
	ib_dm_unregister_ioc(one);
}

/* Agents and the capability exist as long as a controller does. */
static void agents(struct kunit *test)
{
	struct ports *ports = test->priv;
	struct ib_dm_ioc **ioc = kunit_kcalloc(test, IB_DM_MAX_SLOTS, sizeof(*ioc), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ioc);
	ports->refuse = -EINVAL;
	KUNIT_EXPECT_EQ(test, PTR_ERR(offer(ports, 1, 0)), -EINVAL);
	ports->refuse = 0;
	ports->modify = -EOPNOTSUPP;
	KUNIT_EXPECT_EQ(test, PTR_ERR(offer(ports, 1, 0)), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, ports->agents, 0);
	ports->modify = 0;
	for (unsigned int i = 0; i < IB_DM_MAX_SLOTS; i++) {
		ioc[i] = offer(ports, i + 1, 1);
		KUNIT_ASSERT_FALSE(test, IS_ERR(ioc[i]));
		KUNIT_EXPECT_EQ(test, ports->agents, 1);
		KUNIT_EXPECT_TRUE(test, ports->capable);
	}
	KUNIT_EXPECT_EQ(test, PTR_ERR(offer(ports, 1000, 0)), -ENOSPC);
	ib_dm_unregister_ioc(ioc[77]);
	ioc[77] = offer(ports, 1000, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(ioc[77]));
	KUNIT_EXPECT_EQ(test, ask(ports, 0x11, 78), 0);
	KUNIT_EXPECT_EQ(test, data[6], 1000 >> 8);
	for (unsigned int i = 0; i < IB_DM_MAX_SLOTS; i++) {
		KUNIT_EXPECT_EQ(test, ports->agents, 1);
		ib_dm_unregister_ioc(ioc[i]);
	}
	KUNIT_EXPECT_EQ(test, ports->agents, 0);
	KUNIT_EXPECT_FALSE(test, ports->capable);
}

#ifdef CONFIG_FAILSLAB
/* In a controller's life one allocation fails. */
static void starve(struct kunit *test)
{
	unsigned int failures = 0;
	struct ports *ports = test->priv;
	struct ib_dm_ioc *ioc;
	bool spared = false;
	int ret;

	for (unsigned int nth = 1; !spared && nth < 20; nth++) {
		current->fail_nth = nth;
		ioc = offer(ports, 1, 4);
		ret = IS_ERR(ioc) ? PTR_ERR(ioc) : ib_dm_add_svc_entry(ioc, &services[4]);
		spared = current->fail_nth;
		current->fail_nth = 0;
		failures += ret == -ENOMEM;
		KUNIT_EXPECT_TRUE(test, !ret || ret == -ENOMEM);
		if (IS_ERR(ioc)) {
			KUNIT_EXPECT_EQ(test, ports->agents, 0);
			continue;
		}
		KUNIT_EXPECT_EQ(test, ask(ports, 0x12, 1 << 16 | 3 << 8 | 0), 0);
		KUNIT_EXPECT_EQ(test, ask(ports, 0x12, 1 << 16 | 4 << 8 | 1), ret ? 0x001c : 0);
		ib_dm_unregister_ioc(ioc);
	}
	if (!failures)
		kunit_skip(test, "failslab spares allocations that may wait");
	KUNIT_EXPECT_EQ(test, failures, 3);
}
#endif

static struct kunit_case unit_cases[] = {
	KUNIT_CASE(attributes),
	KUNIT_CASE(refusals),
	KUNIT_CASE(services_change),
	KUNIT_CASE(agents),
#ifdef CONFIG_FAILSLAB
	KUNIT_CASE(starve),
#endif
	{}
};

static struct kunit_suite unit_suite = {
	.name = "ib_core_devmgt",
	.init = unit_init,
	.exit = unit_exit,
	.test_cases = unit_cases,
};

kunit_test_suite(unit_suite);
