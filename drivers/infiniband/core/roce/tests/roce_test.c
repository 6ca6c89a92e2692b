// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: GID tables of RoCE ports are kept up to date with net devices.
 */
#include <linux/cleanup.h>
#include <linux/etherdevice.h>
#include <linux/prandom.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <rdma/ib_cache.h>
#include <rdma/lag.h>
#include <rdma/rdma_ext.h>

#include "../../addr/addr.h"
#include "test_roce.h"

#define V1 IB_GID_TYPE_ROCE
#define V2 IB_GID_TYPE_ROCE_UDP_ENCAP
#define V2_ONLY RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP

/*
 * The MAC address of the interfaces of fake_net.h is 02:00:00:00:fe:01; they have two IP addresses.
 */
#define OWN_STANDARD "fe80::ff:fe00:fe01"
#define OWN_IPV4 "198.18.0.1"
#define OWN_IPV6 "2001:db8::1"
#define OWN_GIDS 3

static void table_begins_with_what_is_there(struct kunit *test)
{
	struct fake_net *net = fake_net_begin(test, ARPHRD_ETHER);
	struct roce_device *device = roce_device_begin(test, V2_ONLY, net->dev, NULL);

	KUNIT_EXPECT_EQ(test, roce_index(device, 1, V2, OWN_STANDARD, net->dev), 0);
	KUNIT_EXPECT_EQ(test, roce_index(device, 1, V2, OWN_IPV4, net->dev), 1);
	KUNIT_EXPECT_EQ(test, roce_index(device, 1, V2, OWN_IPV6, net->dev), 2);
	KUNIT_EXPECT_EQ(test, roce_index(device, 1, V1, OWN_IPV4, net->dev), -ENOENT);
	KUNIT_EXPECT_EQ(test, roce_count(device, 1), OWN_GIDS);
	KUNIT_EXPECT_EQ(test, roce_count(device, 2), 0);
	roce_device_end(device);
	fake_net_end(net);
}

static void each_type_has_its_entry(struct kunit *test)
{
	struct fake_net *net = fake_net_begin(test, ARPHRD_ETHER);
	struct roce_device *device = roce_device_begin(test, V2_ONLY | RDMA_CORE_CAP_PROT_ROCE,
						       net->dev, NULL);

	KUNIT_EXPECT_EQ(test, roce_gid_type_mask_support(&device->base.ib, 1), BIT(V1) | BIT(V2));
	KUNIT_EXPECT_EQ(test, roce_index(device, 1, V1, OWN_STANDARD, net->dev), 0);
	KUNIT_EXPECT_EQ(test, roce_index(device, 1, V2, OWN_STANDARD, net->dev), 1);
	KUNIT_EXPECT_EQ(test, roce_index(device, 1, V1, OWN_IPV4, net->dev), 2);
	KUNIT_EXPECT_EQ(test, roce_index(device, 1, V2, OWN_IPV4, net->dev), 3);
	KUNIT_EXPECT_EQ(test, roce_count(device, 1), 2 * OWN_GIDS);
	roce_device_end(device);
	fake_net_end(net);
}

/* ---- the model: which addresses exist, and whether the upper net device is linked ---- */

static const struct {
	const char *text;
	int prefix;
	bool upper;
} addresses[] = {
	{ "198.18.1.1", 32 }, { "198.18.1.2", 32 }, { "2001:db8:1::1", 128 },
	{ "198.18.2.1", 32, true }, { "2001:db8:2::1", 128, true },
};

struct model {
	struct fake_net *net;
	struct upper_dev *upper;
	struct roce_device *device;
	bool linked;
	bool present[ARRAY_SIZE(addresses)];
	int index[ARRAY_SIZE(addresses)];
};

static int model_change(struct model *model, unsigned int what)
{
	struct net_device *dev;

	if (what == ARRAY_SIZE(addresses)) {
		model->linked = !model->linked;
		if (model->linked)
			return upper_link(model->upper, model->net->dev);
		upper_unlink(model->upper, model->net->dev);
		return 0;
	}
	dev = addresses[what].upper ? model->upper->dev : model->net->dev;
	model->present[what] = !model->present[what];
	return fake_net_address(model->net, dev, addresses[what].text, addresses[what].prefix,
				model->present[what]);
}

/* A GID that was and still is in the table must not have moved. */
static void model_compare(struct kunit *test, struct model *model, unsigned int step)
{
	unsigned int count = OWN_GIDS;

	for (unsigned int i = 0; i < ARRAY_SIZE(addresses); i++) {
		struct net_device *dev = addresses[i].upper ? model->upper->dev : model->net->dev;
		bool wanted = model->present[i] && (!addresses[i].upper || model->linked);
		int index = roce_index(model->device, 1, V2, addresses[i].text, dev);

		if (!wanted) {
			KUNIT_EXPECT_EQ_MSG(test, index, -ENOENT, "step %u: %s", step,
					    addresses[i].text);
		} else {
			KUNIT_EXPECT_GE_MSG(test, index, OWN_GIDS, "step %u: %s", step,
					    addresses[i].text);
			if (model->index[i] >= 0)
				KUNIT_EXPECT_EQ_MSG(test, index, model->index[i], "step %u: %s",
						    step, addresses[i].text);
			count++;
		}
		model->index[i] = index;
	}
	KUNIT_EXPECT_EQ_MSG(test, roce_count(model->device, 1), count, "step %u", step);
}

static void table_follows_addresses(struct kunit *test)
{
	struct model model = { .index = { -1, -1, -1, -1, -1 } };
	struct rnd_state random;

	model.net = fake_net_begin(test, ARPHRD_ETHER);
	model.upper = upper_begin(test, "kt_upper%d", false);
	model.device = roce_device_begin(test, V2_ONLY, model.net->dev, NULL);
	prandom_seed_state(&random, 22);
	for (unsigned int step = 0; step < 120; step++) {
		unsigned int what = prandom_u32_state(&random) % (ARRAY_SIZE(addresses) + 1);

		KUNIT_ASSERT_EQ_MSG(test, model_change(&model, what), 0, "step %u: %u", step, what);
		roce_settle();
		model_compare(test, &model, step);
	}
	roce_device_end(model.device);
	if (model.linked)
		upper_unlink(model.upper, model.net->dev);
	upper_end(model.upper);
	fake_net_end(model.net);
}

/* Users keep a GID, but neither its net device nor its look-ups. */
static void gid_in_use_keeps_its_index(struct kunit *test)
{
	struct fake_net *net = fake_net_begin(test, ARPHRD_ETHER);
	struct roce_device *device = roce_device_begin(test, V2_ONLY, net->dev, NULL);
	const struct ib_gid_attr *attr;
	union ib_gid gid;
	u8 mac[ETH_ALEN];

	attr = rdma_get_gid_attr(&device->base.ib, 1, 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(attr));
	gid = attr->gid;
	KUNIT_EXPECT_EQ(test, fake_net_address(net, net->dev, OWN_IPV4, 24, false), 0);
	roce_settle();
	KUNIT_EXPECT_EQ(test, roce_count(device, 1), OWN_GIDS - 1);
	KUNIT_EXPECT_EQ(test, roce_index(device, 1, V2, OWN_IPV4, net->dev), -ENOENT);
	KUNIT_EXPECT_EQ(test, PTR_ERR(rdma_get_gid_attr(&device->base.ib, 1, 1)), -ENODATA);
	KUNIT_EXPECT_MEMEQ(test, &attr->gid, &gid, sizeof(gid));
	KUNIT_EXPECT_EQ(test, rdma_read_gid_l2_fields(attr, NULL, mac), -ENODEV);
	scoped_guard(rcu)
		KUNIT_EXPECT_EQ(test, PTR_ERR(rdma_read_gid_attr_ndev_rcu(attr)), -EINVAL);

	/* The address that is added again gets another entry. */
	KUNIT_EXPECT_EQ(test, fake_net_address(net, net->dev, OWN_IPV4, 24, true), 0);
	roce_settle();
	KUNIT_EXPECT_EQ(test, roce_index(device, 1, V2, OWN_IPV4, net->dev), OWN_GIDS);
	rdma_put_gid_attr(attr);
	KUNIT_EXPECT_EQ(test, fake_net_address(net, net->dev, "198.18.1.1", 32, true), 0);
	roce_settle();
	KUNIT_EXPECT_EQ(test, roce_index(device, 1, V2, "198.18.1.1", net->dev), 1);
	roce_device_end(device);
	fake_net_end(net);
}

/* A GID in use does not delay the unregistration of its net device. */
static void net_device_goes_while_its_gid_is_used(struct kunit *test)
{
	struct fake_net *net = fake_net_begin(test, ARPHRD_ETHER);
	struct upper_dev *upper = upper_begin(test, "kt_upper%d", false);
	struct roce_device *device = roce_device_begin(test, V2_ONLY, net->dev, NULL);
	const struct ib_gid_attr *attr;

	KUNIT_EXPECT_EQ(test, upper_link(upper, net->dev), 0);
	KUNIT_EXPECT_EQ(test, fake_net_address(net, upper->dev, "198.18.2.1", 32, true), 0);
	roce_settle();
	KUNIT_EXPECT_EQ(test, roce_index(device, 1, V2, "198.18.2.1", upper->dev), OWN_GIDS);
	attr = rdma_get_gid_attr(&device->base.ib, 1, OWN_GIDS);
	KUNIT_ASSERT_FALSE(test, IS_ERR(attr));
	upper_unlink(upper, net->dev);
	upper_end(upper);
	KUNIT_EXPECT_EQ(test, roce_count(device, 1), OWN_GIDS);
	rdma_put_gid_attr(attr);
	roce_device_end(device);
	fake_net_end(net);
}

/* An update for one address does not examine the others, of which there may be thousands. */
static void others_are_left_out(struct kunit *test)
{
	struct fake_net *net = fake_net_begin(test, ARPHRD_ETHER);
	struct roce_change change = { .type = ROCE_CHANGE_ADDRESS, .netdev = net->dev };
	union addr_ip own = fake_ip(OWN_IPV4), other = fake_ip("198.18.1.1");
	struct roce_gids gids;

	rdma_ip2gid(&own.any, &change.gid);
	KUNIT_ASSERT_EQ(test, roce_gids_collect(&gids, net->dev, &change), 0);
	KUNIT_ASSERT_EQ(test, gids.count, 1);
	KUNIT_EXPECT_MEMEQ(test, &gids.gid->gid, &change.gid, sizeof(change.gid));
	KUNIT_EXPECT_PTR_EQ(test, gids.gid->netdev, net->dev);
	roce_gids_release(&gids);
	rdma_ip2gid(&other.any, &change.gid);
	KUNIT_ASSERT_EQ(test, roce_gids_collect(&gids, net->dev, &change), 0);
	KUNIT_EXPECT_EQ(test, gids.count, 0);
	roce_gids_release(&gids);
	change.type = ROCE_CHANGE_ANY;
	KUNIT_ASSERT_EQ(test, roce_gids_collect(&gids, net->dev, &change), 0);
	KUNIT_EXPECT_EQ(test, gids.count, OWN_GIDS);
	roce_gids_release(&gids);
	fake_net_end(net);
}

static void set_new_mac(struct kunit *test, struct fake_net *net)
{
	struct sockaddr mac = { .sa_family = ARPHRD_ETHER, .sa_data_min = "\x02\0\0\0\xfe\x02" };

	rtnl_lock();
	net->dev->priv_flags |= IFF_LIVE_ADDR_CHANGE;
	KUNIT_EXPECT_EQ(test, dev_set_mac_address(net->dev, &mac, NULL), 0);
	rtnl_unlock();
	roce_settle();
}

static void driver_hears_of_a_new_mac(struct kunit *test)
{
	struct fake_net *net = fake_net_begin(test, ARPHRD_ETHER);
	struct roce_device *device = roce_device_begin(test, V2_ONLY, net->dev, NULL);

	set_new_mac(test, net);
	KUNIT_EXPECT_EQ(test, roce_index(device, 1, V2, "fe80::ff:fe00:fe02", net->dev), 0);
	KUNIT_EXPECT_EQ(test, roce_index(device, 1, V2, OWN_IPV4, net->dev), 1);
	KUNIT_EXPECT_NE(test, roce_count(device, 1), U32_MAX);
	roce_device_end(device);
	fake_net_end(net);
}

/* A standard GID has only one index, so the new one is added when the old one has no users. */
static void standard_gid_waits_for_its_place(struct kunit *test)
{
	struct fake_net *net = fake_net_begin(test, ARPHRD_ETHER);
	struct roce_device *device = roce_device_begin(test, V2_ONLY, net->dev, NULL);
	const struct ib_gid_attr *attr = rdma_get_gid_attr(&device->base.ib, 1, 0);

	KUNIT_ASSERT_FALSE(test, IS_ERR(attr));
	set_new_mac(test, net);
	KUNIT_EXPECT_EQ(test, roce_index(device, 1, V2, "fe80::ff:fe00:fe02", net->dev), -ENOENT);
	rdma_put_gid_attr(attr);
	roce_settle();
	KUNIT_EXPECT_EQ(test, roce_index(device, 1, V2, "fe80::ff:fe00:fe02", net->dev), 0);
	/* The IPv6 address was the same as the standard GID before, and differs now. */
	KUNIT_EXPECT_EQ(test, roce_count(device, 1), OWN_GIDS + 1);
	roce_device_end(device);
	fake_net_end(net);
}

static void set_link(struct kunit *test, struct fake_net *net, bool up, bool keep_addresses)
{
	rtnl_lock();
	WRITE_ONCE(__in6_dev_get(net->dev)->cnf.keep_addr_on_down, keep_addresses);
	if (up)
		KUNIT_EXPECT_EQ(test, dev_open(net->dev, NULL), 0);
	else
		dev_close(net->dev);
	rtnl_unlock();
	roce_settle();
}

/* An address that is kept while the link is down, or is added then, is a GID. */
static void link_that_is_down_has_gids(struct kunit *test)
{
	struct fake_net *net = fake_net_begin(test, ARPHRD_ETHER);
	struct roce_device *device = roce_device_begin(test, V2_ONLY, net->dev, NULL);

	set_link(test, net, false, true);
	KUNIT_EXPECT_EQ(test, fake_net_address(net, net->dev, "2001:db8:1::1", 128, true), 0);
	roce_settle();
	KUNIT_EXPECT_EQ(test, roce_index(device, 1, V2, "2001:db8:1::1", net->dev), OWN_GIDS);
	rdma_roce_rescan_device(&device->base.ib);
	KUNIT_EXPECT_EQ(test, roce_index(device, 1, V2, OWN_IPV6, net->dev), 2);
	KUNIT_EXPECT_EQ(test, roce_count(device, 1), OWN_GIDS + 1);

	set_link(test, net, true, false);
	KUNIT_EXPECT_EQ(test, roce_index(device, 1, V2, OWN_IPV6, net->dev), 2);
	set_link(test, net, false, false);
	KUNIT_EXPECT_EQ(test, roce_index(device, 1, V2, OWN_IPV6, net->dev), -ENOENT);
	KUNIT_EXPECT_EQ(test, roce_index(device, 1, V2, OWN_IPV4, net->dev), 1);
	KUNIT_EXPECT_EQ(test, roce_count(device, 1), 2);
	roce_device_end(device);
	fake_net_end(net);
}

static struct net_device *first_netdev(struct roce_device *device, u32 port_num)
{
	const struct ib_gid_attr *attr = rdma_get_gid_attr(&device->base.ib, port_num, 0);
	struct net_device *netdev;

	if (IS_ERR(attr))
		return NULL;
	netdev = rcu_access_pointer(attr->ndev);
	rdma_put_gid_attr(attr);
	return netdev;
}

/* Both slaves have the bond's standard GID, and the active one has its addresses. */
static void bond_moves_to_its_active_slave(struct kunit *test)
{
	struct fake_net *a = fake_net_begin(test, ARPHRD_ETHER);
	struct fake_net *b = fake_net_begin(test, ARPHRD_ETHER);
	struct upper_dev *bond = upper_begin(test, "kt_bond%d", true);
	struct roce_device *device = roce_device_begin(test, V2_ONLY, a->dev, b->dev);

	KUNIT_EXPECT_PTR_EQ(test, first_netdev(device, 1), a->dev);
	KUNIT_EXPECT_EQ(test, upper_link(bond, a->dev), 0);
	KUNIT_EXPECT_EQ(test, upper_link(bond, b->dev), 0);
	upper_activate(bond, a->dev);
	KUNIT_EXPECT_EQ(test, fake_net_address(a, bond->dev, "198.18.3.1", 32, true), 0);
	roce_settle();
	KUNIT_EXPECT_PTR_EQ(test, first_netdev(device, 1), bond->dev);
	KUNIT_EXPECT_PTR_EQ(test, first_netdev(device, 2), bond->dev);
	KUNIT_EXPECT_GT(test, roce_index(device, 1, V2, "198.18.3.1", bond->dev), 0);
	KUNIT_EXPECT_EQ(test, roce_index(device, 2, V2, "198.18.3.1", bond->dev), -ENOENT);

	upper_activate(bond, b->dev);
	roce_settle();
	KUNIT_EXPECT_EQ(test, roce_index(device, 1, V2, "198.18.3.1", bond->dev), -ENOENT);
	KUNIT_EXPECT_GT(test, roce_index(device, 2, V2, "198.18.3.1", bond->dev), 0);
	KUNIT_EXPECT_PTR_EQ(test, first_netdev(device, 1), bond->dev);

	upper_unlink(bond, b->dev);
	upper_unlink(bond, a->dev);
	roce_settle();
	KUNIT_EXPECT_PTR_EQ(test, first_netdev(device, 1), a->dev);
	KUNIT_EXPECT_PTR_EQ(test, first_netdev(device, 2), b->dev);
	KUNIT_EXPECT_EQ(test, roce_count(device, 1), OWN_GIDS);
	KUNIT_EXPECT_EQ(test, roce_count(device, 2), OWN_GIDS);
	roce_device_end(device);
	upper_end(bond);
	fake_net_end(b);
	fake_net_end(a);
}

/* ---- drivers ---- */

static void port_gets_and_loses_its_net_device(struct kunit *test)
{
	struct fake_net *net = fake_net_begin(test, ARPHRD_ETHER);
	struct roce_device *device = roce_device_begin(test, V2_ONLY, NULL, NULL);

	KUNIT_EXPECT_EQ(test, roce_count(device, 1), 0);
	KUNIT_EXPECT_EQ(test, ib_device_set_netdev(&device->base.ib, net->dev, 1), 0);
	roce_settle();
	KUNIT_EXPECT_EQ(test, roce_count(device, 1), OWN_GIDS);
	KUNIT_EXPECT_EQ(test, ib_device_set_netdev(&device->base.ib, NULL, 1), 0);
	roce_settle();
	KUNIT_EXPECT_EQ(test, roce_count(device, 1), 0);
	roce_device_end(device);
	fake_net_end(net);
}

static void driver_removes_and_scans(struct kunit *test)
{
	struct fake_net *net = fake_net_begin(test, ARPHRD_ETHER);
	struct roce_device *device = roce_device_begin(test, V2_ONLY, net->dev, NULL);
	struct ib_device *ib = &device->base.ib;

	roce_del_all_netdev_gids(ib, 1, init_net.loopback_dev);
	KUNIT_EXPECT_EQ(test, roce_count(device, 1), OWN_GIDS);
	roce_del_all_netdev_gids(ib, 1, net->dev);
	KUNIT_EXPECT_EQ(test, roce_count(device, 1), 0);
	rdma_roce_rescan_port(ib, 2);
	KUNIT_EXPECT_EQ(test, roce_count(device, 1), 0);
	rdma_roce_rescan_port(ib, 1);
	KUNIT_EXPECT_EQ(test, roce_count(device, 1), OWN_GIDS);
	roce_del_all_netdev_gids(ib, 1, net->dev);
	rdma_roce_rescan_device(ib);
	KUNIT_EXPECT_EQ(test, roce_count(device, 1), OWN_GIDS);
	roce_device_end(device);
	fake_net_end(net);
}

static void refused_gid_is_tried_again(struct kunit *test)
{
	struct fake_net *net = fake_net_begin(test, ARPHRD_ETHER);
	struct roce_device *device = roce_device_begin(test, V2_ONLY, net->dev, NULL);

	device->refuse = -EBUSY;
	KUNIT_EXPECT_EQ(test, fake_net_address(net, net->dev, "198.18.1.1", 32, true), 0);
	roce_settle();
	KUNIT_EXPECT_EQ(test, roce_index(device, 1, V2, "198.18.1.1", net->dev), -ENOENT);
	KUNIT_EXPECT_EQ(test, roce_count(device, 1), OWN_GIDS);
	device->refuse = 0;
	rdma_roce_rescan_device(&device->base.ib);
	KUNIT_EXPECT_EQ(test, roce_index(device, 1, V2, "198.18.1.1", net->dev), OWN_GIDS);
	roce_device_end(device);
	fake_net_end(net);
}

/*
 * A GID that a driver has refused is added at the next change, even if that is of another address.
 */
static void refused_gid_comes_with_the_next_change(struct kunit *test)
{
	struct fake_net *net = fake_net_begin(test, ARPHRD_ETHER);
	struct roce_device *device = roce_device_begin(test, V2_ONLY, net->dev, NULL);

	device->refuse = -ENOMEM;
	KUNIT_EXPECT_EQ(test, fake_net_address(net, net->dev, "198.18.1.1", 32, true), 0);
	roce_settle();
	KUNIT_EXPECT_EQ(test, roce_count(device, 1), OWN_GIDS);
	device->refuse = 0;
	KUNIT_EXPECT_EQ(test, fake_net_address(net, net->dev, "198.18.1.2", 32, true), 0);
	roce_settle();
	KUNIT_EXPECT_EQ(test, roce_count(device, 1), OWN_GIDS + 2);

	roce_del_all_netdev_gids(&device->base.ib, 1, net->dev);
	device->refuse = -EBUSY;
	rdma_roce_rescan_port(&device->base.ib, 1);
	KUNIT_EXPECT_EQ(test, roce_count(device, 1), 0);
	device->refuse = 0;
	KUNIT_EXPECT_EQ(test, fake_net_address(net, net->dev, "198.18.1.2", 32, false), 0);
	roce_settle();
	KUNIT_EXPECT_EQ(test, roce_count(device, 1), OWN_GIDS + 1);
	roce_device_end(device);
	fake_net_end(net);
}

static void full_table_stays_sound(struct kunit *test)
{
	struct fake_net *net = fake_net_begin(test, ARPHRD_ETHER);
	struct roce_device *device = roce_device_begin(test, V2_ONLY, net->dev, NULL);
	char text[16];

	for (unsigned int i = 0; i < ROCE_GIDS; i++) {
		snprintf(text, sizeof(text), "198.18.4.%u", i);
		KUNIT_EXPECT_EQ(test, fake_net_address(net, net->dev, text, 32, true), 0);
	}
	roce_settle();
	KUNIT_EXPECT_EQ(test, roce_count(device, 1), ROCE_GIDS);
	KUNIT_EXPECT_EQ(test, roce_index(device, 1, V2, "198.18.4.8", net->dev), ROCE_GIDS - 1);
	KUNIT_EXPECT_EQ(test, roce_index(device, 1, V2, "198.18.4.9", net->dev), -ENOENT);
	KUNIT_EXPECT_EQ(test, fake_net_address(net, net->dev, "198.18.4.3", 32, false), 0);
	roce_settle();
	rdma_roce_rescan_device(&device->base.ib);
	KUNIT_EXPECT_EQ(test, roce_index(device, 1, V2, "198.18.4.9", net->dev), OWN_GIDS + 3);
	roce_device_end(device);
	fake_net_end(net);
}

struct listener {
	struct ib_event_handler handler;
	unsigned int changes[TEST_PORTS + 1];
};

static void heard(struct ib_event_handler *handler, struct ib_event *event)
{
	struct listener *listener = container_of(handler, struct listener, handler);

	if (event->event == IB_EVENT_GID_CHANGE)
		listener->changes[event->element.port_num]++;
}

static void listeners_hear_of_changes(struct kunit *test)
{
	struct fake_net *net = fake_net_begin(test, ARPHRD_ETHER);
	struct roce_device *device = roce_device_begin(test, V2_ONLY, net->dev, NULL);
	struct listener listener = {};

	roce_settle();
	INIT_IB_EVENT_HANDLER(&listener.handler, &device->base.ib, heard);
	ib_register_event_handler(&listener.handler);
	rdma_roce_rescan_device(&device->base.ib);
	roce_settle();
	KUNIT_EXPECT_EQ(test, listener.changes[1], 0);
	KUNIT_EXPECT_EQ(test, fake_net_address(net, net->dev, "198.18.1.1", 32, true), 0);
	/* The table is updated before the event is reported. */
	roce_settle();
	roce_settle();
	KUNIT_EXPECT_EQ(test, listener.changes[1], 1);
	KUNIT_EXPECT_EQ(test, listener.changes[2], 0);
	ib_unregister_event_handler(&listener.handler);
	roce_device_end(device);
	fake_net_end(net);
}

/* ---- addresses ---- */

/* The net device of the source GID determines where the peer is resolved. */
static void peer_is_looked_for_by_the_gid(struct kunit *test)
{
	struct fake_net *net = fake_net_begin(test, ARPHRD_ETHER);
	struct roce_device *device = roce_device_begin(test, V2_ONLY, net->dev, NULL);
	union addr_ip peer = fake_ip("198.18.0.2"), other = fake_ip("2001:db8::2");
	const struct ib_gid_attr *attr = rdma_get_gid_attr(&device->base.ib, 1, 1);
	union ib_gid dgid, dgid6;
	u8 mac[ETH_ALEN];
	int hops;

	KUNIT_ASSERT_FALSE(test, IS_ERR(attr));
	rdma_ip2gid(&peer.any, &dgid);
	rdma_ip2gid(&other.any, &dgid6);
	fake_net_answer(test, net, "198.18.0.2", 0x22);
	KUNIT_EXPECT_EQ(test, rdma_addr_find_l2_eth_by_grh(&attr->gid, &dgid, mac, attr, &hops), 0);
	KUNIT_EXPECT_EQ(test, mac[5], 0x22);
	KUNIT_EXPECT_EQ(test, rdma_addr_find_l2_eth_by_grh(&attr->gid, &dgid6, mac, attr, &hops),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, ib_device_set_netdev(&device->base.ib, NULL, 1), 0);
	roce_settle();
	KUNIT_EXPECT_EQ(test, rdma_addr_find_l2_eth_by_grh(&attr->gid, &dgid, mac, attr, &hops),
			-EINVAL);
	rdma_put_gid_attr(attr);
	roce_device_end(device);
	fake_net_end(net);
}

/* The answer whether a packet's sender is known does not wait for a neighbour. */
static void unknown_sender_is_not_waited_for(struct kunit *test)
{
	struct fake_net *net = fake_net_begin(test, ARPHRD_ETHER);
	struct roce_device *device = roce_device_begin(test, V2_ONLY | RDMA_CORE_CAP_ETH_AH,
						       net->dev, NULL);
	union rdma_network_hdr hdr = { .roce4grh = { .version = 4, .ihl = 5 } };
	union addr_ip peer = fake_ip("198.18.0.2"), own = fake_ip("198.18.0.1");
	struct ib_wc wc = {
		.wc_flags = IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE,
		.network_hdr_type = RDMA_NETWORK_IPV4,
	};
	struct rdma_ah_attr sender;
	union ib_gid gid;

	hdr.roce4grh.saddr = peer.in.sin_addr.s_addr;
	hdr.roce4grh.daddr = own.in.sin_addr.s_addr;
	KUNIT_EXPECT_EQ(test, rdma_wc_sender(&device->base.ib, 1, &wc, &hdr.ibgrh, &sender), 0);
	rdma_ip2gid(&peer.any, &gid);
	KUNIT_EXPECT_MEMEQ(test, rdma_ah_read_grh(&sender)->dgid.raw, gid.raw, sizeof(gid));
	rdma_destroy_ah_attr(&sender);
	KUNIT_EXPECT_FALSE(test, rdma_wc_sender_is_known(&device->base.ib, 1, &wc, &hdr.ibgrh));
	/* The neighbour has been solicited meanwhile. */
	KUNIT_EXPECT_TRUE(test, wait_for_completion_timeout(&net->asked, 20 * HZ));
	fake_net_answer(test, net, "198.18.0.2", 0x22);
	KUNIT_EXPECT_TRUE(test, rdma_wc_sender_is_known(&device->base.ib, 1, &wc, &hdr.ibgrh));
	/* An unreachable destination fails at once. */
	hdr.roce4grh.daddr = peer.in.sin_addr.s_addr;
	KUNIT_EXPECT_TRUE(test, rdma_wc_sender_is_known(&device->base.ib, 1, &wc, &hdr.ibgrh));
	roce_device_end(device);
	fake_net_end(net);
}

/* Whatever a peer writes into the headers, only addresses of this host are found. */
static void hostile_headers_lead_nowhere(struct kunit *test)
{
	struct fake_net *net = fake_net_begin(test, ARPHRD_ETHER);
	struct roce_device *device = roce_device_begin(test, V2_ONLY, net->dev, NULL);
	struct rdma_ah_attr back;
	union rdma_network_hdr hdr;
	union ib_gid sgid, dgid;
	struct rnd_state random;
	struct ib_wc wc = {};

	prandom_seed_state(&random, 40);
	for (unsigned int i = 0; i < 2000; i++) {
		u32 bits = prandom_u32_state(&random);
		int version, ret;

		prandom_bytes_state(&random, &hdr, sizeof(hdr));
		version = ib_get_rdma_header_version(&hdr);
		KUNIT_EXPECT_TRUE(test, version == 0 || version == 4 || version == 6);
		ret = ib_get_gids_from_rdma_hdr(&hdr, bits % 8, &sgid, &dgid);
		KUNIT_EXPECT_EQ(test, ret, bits % 8 <= RDMA_NETWORK_IPV6 ? 0 : -EINVAL);
		wc.wc_flags = IB_WC_GRH | (bits & (IB_WC_WITH_VLAN | IB_WC_WITH_NETWORK_HDR_TYPE));
		wc.network_hdr_type = bits >> 24;
		wc.vlan_id = bits >> 8;
		ret = ib_init_ah_attr_from_wc(&device->base.ib, 1, &wc, &hdr.ibgrh, &back);
		KUNIT_EXPECT_LT(test, ret, 0);
		if (!ret)
			rdma_destroy_ah_attr(&back);
	}
	roce_device_end(device);
	fake_net_end(net);
}

static const struct rdma_ah_attr lag_address = {
	.type = RDMA_AH_ATTR_TYPE_ROCE,
	.port_num = 1,
	.ah_flags = IB_AH_GRH,
	.grh = { .dgid.raw = { [10] = 0xff, 0xff, 198, 18, 3, 2 }, .flow_label = 0x12345 },
};

static void bond_says_which_slave_sends(struct kunit *test)
{
	struct fake_net *net = fake_net_begin(test, ARPHRD_ETHER);
	struct upper_dev *bond = upper_begin(test, "kt_bond%d", true);
	struct roce_device *device = roce_device_begin(test, V2_ONLY, net->dev, NULL);
	struct ib_device *ib = &device->base.ib;
	const struct ib_gid_attr *own = rdma_get_gid_attr(ib, 1, 1), *attr;
	struct rdma_ah_attr address = lag_address;
	struct net_device *slave;
	__be16 ports[2];

	KUNIT_ASSERT_FALSE(test, IS_ERR(own));
	KUNIT_EXPECT_EQ(test, upper_link(bond, net->dev), 0);
	upper_activate(bond, net->dev);
	KUNIT_EXPECT_EQ(test, fake_net_address(net, bond->dev, "198.18.3.1", 32, true), 0);
	roce_settle();
	attr = rdma_get_gid_attr(ib, 1,
				 roce_index(device, 1, V2, "198.18.3.1", bond->dev));
	KUNIT_ASSERT_FALSE(test, IS_ERR(attr));

	address.grh.sgid_attr = own;
	KUNIT_EXPECT_NULL(test, rdma_lag_get_ah_roce_slave(ib, &address, GFP_KERNEL));
	address.grh.sgid_attr = attr;
	slave = rdma_lag_get_ah_roce_slave(ib, &address, GFP_KERNEL);
	KUNIT_EXPECT_PTR_EQ(test, slave, net->dev);
	rdma_lag_put_ah_roce_slave(slave);
	/* Ethernet, IPv4 and UDP headers. */
	KUNIT_ASSERT_EQ(test, bond->asked_len, 14 + 20 + 8);
	KUNIT_EXPECT_MEMEQ(test, bond->asked + 14 + 16, &address.grh.dgid.raw[12], 4);
	memcpy(ports, bond->asked + 14 + 20, sizeof(ports));
	KUNIT_EXPECT_EQ(test, ntohs(ports[0]), rdma_flow_label_to_udp_sport(0x12345));
	KUNIT_EXPECT_EQ(test, ntohs(ports[1]), ROCE_V2_UDP_DPORT);
	address.grh.flow_label = 0;
	KUNIT_EXPECT_NULL(test, rdma_lag_get_ah_roce_slave(ib, &address, GFP_KERNEL));

	upper_unlink(bond, net->dev);
	roce_settle();
	address.grh.flow_label = 1;
	slave = rdma_lag_get_ah_roce_slave(ib, &address, GFP_KERNEL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(slave), -EINVAL);
	rdma_put_gid_attr(attr);
	rdma_put_gid_attr(own);
	roce_device_end(device);
	upper_end(bond);
	fake_net_end(net);
}

static struct kunit_case roce_cases[] = {
	KUNIT_CASE(table_begins_with_what_is_there),
	KUNIT_CASE(each_type_has_its_entry),
	KUNIT_CASE(table_follows_addresses),
	KUNIT_CASE(others_are_left_out),
	KUNIT_CASE(gid_in_use_keeps_its_index),
	KUNIT_CASE(net_device_goes_while_its_gid_is_used),
	KUNIT_CASE(driver_hears_of_a_new_mac),
	KUNIT_CASE(standard_gid_waits_for_its_place),
	KUNIT_CASE(link_that_is_down_has_gids),
	KUNIT_CASE(bond_moves_to_its_active_slave),
	KUNIT_CASE(port_gets_and_loses_its_net_device),
	KUNIT_CASE(driver_removes_and_scans),
	KUNIT_CASE(refused_gid_is_tried_again),
	KUNIT_CASE(refused_gid_comes_with_the_next_change),
	KUNIT_CASE(full_table_stays_sound),
	KUNIT_CASE(listeners_hear_of_changes),
	KUNIT_CASE(peer_is_looked_for_by_the_gid),
	KUNIT_CASE(unknown_sender_is_not_waited_for),
	KUNIT_CASE(hostile_headers_lead_nowhere),
	KUNIT_CASE(bond_says_which_slave_sends),
	{}
};

static struct kunit_suite roce_suite = {
	.name = "ib_core_roce",
	.test_cases = roce_cases,
};

kunit_test_suite(roce_suite);

MODULE_DESCRIPTION("KUnit tests of the GIDs of RoCE ports");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
