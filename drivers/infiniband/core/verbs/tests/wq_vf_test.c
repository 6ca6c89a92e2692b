// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: calls of drivers for work queues, virtual functions and network devices, which
 * the core passes on.
 */
#include <linux/etherdevice.h>
#include <linux/slab.h>
#include "test_verbs.h"

static int asked_vf, asked_state, made_wq;

static struct ib_wq *fake_create_wq(struct ib_pd *pd, struct ib_wq_init_attr *attr,
				    struct ib_udata *udata)
{
	struct ib_wq *wq;
	int ret = test_verbs_made(&made_wq);

	if (ret)
		return ERR_PTR(ret);
	wq = kzalloc(sizeof(*wq), GFP_KERNEL);
	return wq ?: ERR_PTR(-ENOMEM);
}

static int fake_destroy_wq(struct ib_wq *wq, struct ib_udata *udata)
{
	int ret = test_verbs_gone(&made_wq);

	if (!ret)
		kfree(wq);
	return ret;
}

static int fake_link_state(struct ib_device *device, int vf, u32 port, int state)
{
	asked_vf = vf;
	asked_state = state;
	return 0;
}

static int fake_vf_config(struct ib_device *device, int vf, u32 port, struct ifla_vf_info *info)
{
	info->vf = vf;
	return 0;
}

static int fake_vf_stats(struct ib_device *device, int vf, u32 port, struct ifla_vf_stats *stats)
{
	stats->rx_packets = 5;
	return -ENODEV;
}

static int fake_get_guid(struct ib_device *device, int vf, u32 port, struct ifla_vf_guid *node,
			 struct ifla_vf_guid *port_guid)
{
	node->guid = 1;
	port_guid->guid = 2;
	return 0;
}

static int fake_set_guid(struct ib_device *device, int vf, u32 port, u64 guid, int type)
{
	return guid == 3 && type == IFLA_VF_IB_NODE_GUID ? 0 : -EINVAL;
}

static int fake_init_netdev(struct ib_device *device, u32 port, struct net_device *netdev,
			    void *param)
{
	struct rdma_netdev *rn = netdev_priv(netdev);

	rn->hca = device;
	rn->port_num = port;
	return *(int *)param;
}

static int init_answer;

static int fake_netdev_params(struct ib_device *device, u32 port, enum rdma_netdev_t type,
			      struct rdma_netdev_alloc_params *params)
{
	if (type != RDMA_NETDEV_IPOIB)
		return -EINVAL;
	params->sizeof_priv = sizeof(struct rdma_netdev);
	params->txqs = 2;
	params->rxqs = 3;
	params->param = &init_answer;
	params->initialize_rdma_netdev = fake_init_netdev;
	return 0;
}

static const struct ib_device_ops fake_more_ops = {
	.create_wq = fake_create_wq,
	.destroy_wq = fake_destroy_wq,
	.set_vf_link_state = fake_link_state,
	.get_vf_config = fake_vf_config,
	.get_vf_stats = fake_vf_stats,
	.get_vf_guid = fake_get_guid,
	.set_vf_guid = fake_set_guid,
	.rdma_netdev_get_params = fake_netdev_params,
};

static void work_queues(struct kunit *test)
{
	struct ib_device *device = test->priv;
	struct ib_pd *pd = ib_alloc_pd(device, 0);
	struct ib_wq_init_attr attr = { .wq_type = IB_WQT_RQ, .cq = test_verbs_cq(device) };
	struct ib_wq *wq;

	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, PTR_ERR(ib_create_wq(pd, &attr)));
	ib_set_device_ops(device, &fake_more_ops);
	test_verbs.create = -ENOSPC;
	KUNIT_EXPECT_EQ(test, -ENOSPC, PTR_ERR(ib_create_wq(pd, &attr)));
	test_verbs.create = 0;
	wq = ib_create_wq(pd, &attr);
	KUNIT_ASSERT_FALSE(test, IS_ERR(wq));
	KUNIT_EXPECT_PTR_EQ(test, pd, wq->pd);
	KUNIT_EXPECT_PTR_EQ(test, attr.cq, wq->cq);
	KUNIT_EXPECT_EQ(test, -EBUSY, ib_dealloc_pd_user(pd, NULL));
	KUNIT_EXPECT_EQ(test, -EBUSY, ib_destroy_cq_user(attr.cq, NULL));
	test_verbs.destroy = -EIO;
	KUNIT_EXPECT_EQ(test, -EIO, ib_destroy_wq_user(wq, NULL));
	test_verbs.destroy = 0;
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&attr.cq->usecnt));
	KUNIT_EXPECT_EQ(test, 0, ib_destroy_wq_user(wq, NULL));
	KUNIT_EXPECT_EQ(test, 0, made_wq);
	ib_destroy_cq(attr.cq);
	ib_dealloc_pd(pd);
}

static void virtual_functions(struct kunit *test)
{
	struct ib_device *device = test->priv;
	struct ifla_vf_guid node = {}, port = {};
	struct ifla_vf_stats stats = {};
	struct ifla_vf_info info = {};

	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, ib_set_vf_link_state(device, 4, 1, 2));
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, ib_get_vf_config(device, 4, 1, &info));
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, ib_get_vf_stats(device, 4, 1, &stats));
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, ib_get_vf_guid(device, 4, 1, &node, &port));
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, ib_set_vf_guid(device, 4, 1, 3, IFLA_VF_IB_NODE_GUID));
	ib_set_device_ops(device, &fake_more_ops);
	KUNIT_EXPECT_EQ(test, 0, ib_set_vf_link_state(device, 4, 1, 2));
	KUNIT_EXPECT_EQ(test, 4, asked_vf);
	KUNIT_EXPECT_EQ(test, 2, asked_state);
	KUNIT_EXPECT_EQ(test, 0, ib_get_vf_config(device, 4, 1, &info));
	KUNIT_EXPECT_EQ(test, 4, info.vf);
	KUNIT_EXPECT_EQ(test, -ENODEV, ib_get_vf_stats(device, 4, 1, &stats));
	KUNIT_EXPECT_EQ(test, 0, ib_get_vf_guid(device, 4, 1, &node, &port));
	KUNIT_EXPECT_EQ(test, 1, node.guid);
	KUNIT_EXPECT_EQ(test, 2, port.guid);
	KUNIT_EXPECT_EQ(test, 0, ib_set_vf_guid(device, 4, 1, 3, IFLA_VF_IB_NODE_GUID));
}

static void network_devices(struct kunit *test)
{
	struct ib_device *device = test->priv;
	struct net_device *netdev;
	struct rdma_netdev *rn;

	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP,
			PTR_ERR(rdma_alloc_netdev(device, 1, RDMA_NETDEV_IPOIB, "t%d",
						  NET_NAME_UNKNOWN, ether_setup)));
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP,
			rdma_init_netdev(device, 1, RDMA_NETDEV_IPOIB, "t%d", NET_NAME_UNKNOWN,
					 ether_setup, NULL));
	ib_set_device_ops(device, &fake_more_ops);
	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR(rdma_alloc_netdev(device, 1, RDMA_NETDEV_OPA_VNIC, "t%d",
						  NET_NAME_UNKNOWN, ether_setup)));
	netdev = rdma_alloc_netdev(device, 7, RDMA_NETDEV_IPOIB, "t%d", NET_NAME_UNKNOWN,
				   ether_setup);
	KUNIT_ASSERT_FALSE(test, IS_ERR(netdev));
	KUNIT_EXPECT_EQ(test, 2, netdev->num_tx_queues);
	KUNIT_EXPECT_EQ(test, 3, netdev->num_rx_queues);
	init_answer = -EIO;
	KUNIT_EXPECT_EQ(test, -EIO,
			rdma_init_netdev(device, 7, RDMA_NETDEV_IPOIB, "t%d", NET_NAME_UNKNOWN,
					 ether_setup, netdev));
	init_answer = 0;
	KUNIT_EXPECT_EQ(test, 0,
			rdma_init_netdev(device, 7, RDMA_NETDEV_IPOIB, "t%d", NET_NAME_UNKNOWN,
					 ether_setup, netdev));
	rn = netdev_priv(netdev);
	KUNIT_EXPECT_PTR_EQ(test, device, rn->hca);
	KUNIT_EXPECT_EQ(test, 7, rn->port_num);
	free_netdev(netdev);
}

static struct kunit_case wq_vf_cases[] = {
	KUNIT_CASE(work_queues),
	KUNIT_CASE(virtual_functions),
	KUNIT_CASE(network_devices),
	{}
};

static struct kunit_suite wq_vf_suite = {
	.name = "rdma-wq-vf",
	.init = test_verbs_init,
	.exit = test_verbs_exit,
	.test_cases = wq_vf_cases,
};

kunit_test_suite(wq_vf_suite);
