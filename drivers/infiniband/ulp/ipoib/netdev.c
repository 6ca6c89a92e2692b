// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What an interface is made of. The private part of its network device is a struct rdma_netdev,
 * which a driver of RDMA devices may have (rdma_netdev_get_params): then it is the driver who says
 * how datagrams are sent and groups are received, by operations in front of ours or in their place.
 * The interface itself is allocated beside it. Connected mode belongs to our operations.
 */
#include <kunit/visibility.h>
#include <linux/slab.h>

#include "cm.h"
#include "dev.h"
#include "ud.h"

/* ---- our engine: a datagram QP, and connections ---- */

static void set_qpn(struct ipoib_dev *ipoib)
{
	u32 qpn = ipoib->qp->qp_num;
	const u8 addr[] = { ipoib->cm ? IPOIB_ADDR_RC : 0, qpn >> 16, qpn >> 8, qpn };

	dev_addr_mod(ipoib->netdev, 0, addr, sizeof(addr));
	if (ipoib->max_sge > 1)
		ipoib->netdev->features |= NETIF_F_SG;
	ipoib->netdev->hw_features |= ipoib_offload_features(&ipoib->ca->attrs);
	ipoib->netdev->features |= ipoib->netdev->hw_features;
}

static int create_qps(struct net_device *netdev)
{
	struct ipoib_dev *ipoib = ipoib_priv(netdev);
	int ret;

	ret = ipoib_cm_create(ipoib);
	if (ret)
		return ret;
	ret = ipoib_ud_create(ipoib, ipoib_sendq_size,
			      ipoib_recvq_size + ipoib_cm_entries(ipoib));
	if (ret) {
		ipoib_cm_destroy(ipoib);
		return ret;
	}
	set_qpn(ipoib);
	return 0;
}

static void destroy_qps(struct net_device *netdev)
{
	struct ipoib_dev *ipoib = ipoib_priv(netdev);

	ipoib_cm_destroy(ipoib);
	ipoib_ud_destroy(ipoib);
}

static int start(struct net_device *netdev)
{
	return ipoib_ud_start(ipoib_priv(netdev));
}

static int stop(struct net_device *netdev)
{
	ipoib_ud_stop(ipoib_priv(netdev));
	return 0;
}

static const struct net_device_ops own_engine = {
	.ndo_init = create_qps,
	.ndo_uninit = destroy_qps,
	.ndo_open = start,
	.ndo_stop = stop,
};

static int send(struct net_device *netdev, struct sk_buff *skb, struct ib_ah *ah, u32 qpn)
{
	ipoib_tx_send(ipoib_priv(netdev), skb, ah, qpn);
	return 0;
}

static int attach(struct net_device *netdev, struct ib_device *ca, union ib_gid *mgid, u16 mlid,
		  int set_qkey, u32 qkey)
{
	struct ipoib_dev *ipoib = ipoib_priv(netdev);
	int ret = set_qkey ? ipoib_ud_set_qkey(ipoib, qkey) : 0;

	return ret ?: ib_attach_mcast(ipoib->qp, mgid, mlid);
}

static int detach(struct net_device *netdev, struct ib_device *ca, union ib_gid *mgid, u16 mlid)
{
	return ib_detach_mcast(ipoib_priv(netdev)->qp, mgid, mlid);
}

/* ---- the driver's ---- */

/* Has a driver put its own operations in place of ours? It may call ours from them. */
static int choose_engine(struct net_device *netdev, struct ib_device *ca, u32 port)
{
	struct rdma_netdev *rn = netdev_priv(netdev);
	int ret;

	netdev->netdev_ops = &own_engine;
	ret = rdma_init_netdev(ca, port, RDMA_NETDEV_IPOIB, netdev->name, NET_NAME_UNKNOWN,
			       ipoib_setup, netdev);
	if (ret != -EOPNOTSUPP)
		return ret;
	rn->hca = ca;
	rn->port_num = port;
	rn->send = send;
	rn->attach_mcast = attach;
	rn->detach_mcast = detach;
	/* Our ring is for one queue, whatever the driver has the stack allocate. */
	return netif_set_real_num_tx_queues(netdev, 1) ?: netif_set_real_num_rx_queues(netdev, 1);
}

/* Called as the network device's destructor, or for one that has none. */
static void release(struct net_device *netdev)
{
	struct rdma_netdev *rn = netdev_priv(netdev);
	struct ipoib_dev *ipoib = rn->clnt_priv;

	netdev->priv_destructor = NULL;
	if (ipoib->destroy_engine)
		ipoib->destroy_engine(netdev);
	rn->clnt_priv = NULL;
	kfree(ipoib);
}

/**
 * ipoib_priv_size() - bytes of the private part of a network device
 * @ca: RDMA device
 * @port: its port
 *
 * Context: may sleep.
 * Return: those of the driver's, or of a struct rdma_netdev.
 */
size_t ipoib_priv_size(struct ib_device *ca, u32 port)
{
	struct rdma_netdev_alloc_params params = {};

	if (!ca->ops.rdma_netdev_get_params ||
	    ca->ops.rdma_netdev_get_params(ca, port, RDMA_NETDEV_IPOIB, &params))
		return sizeof(struct rdma_netdev);
	return params.sizeof_priv;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_priv_size);

static struct net_device *alloc(struct ib_device *ca, u32 port, const char *name)
{
	struct net_device *netdev;

	netdev = rdma_alloc_netdev(ca, port, RDMA_NETDEV_IPOIB, name, NET_NAME_UNKNOWN,
				   ipoib_setup);
	if (PTR_ERR(netdev) != -EOPNOTSUPP)
		return netdev;
	netdev = alloc_netdev(sizeof(struct rdma_netdev), name, NET_NAME_UNKNOWN, ipoib_setup);
	return netdev ?: ERR_PTR(-ENOMEM);
}

/**
 * ipoib_create_dev() - make an interface that is not registered
 * @ca: RDMA device
 * @port: its port
 * @name: name or pattern
 *
 * Context: may sleep.
 * Return: its network device, for ipoib_discard_dev() unless it gets registered; -ENOMEM or what
 * the device's driver answers, as an ERR_PTR.
 */
struct net_device *ipoib_create_dev(struct ib_device *ca, u32 port, const char *name)
{
	struct net_device *netdev = alloc(ca, port, name);
	int ret;

	if (IS_ERR(netdev))
		return netdev;
	ret = ipoib_init_dev(netdev, ca, port);
	if (!ret)
		return netdev;
	free_netdev(netdev);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_create_dev);

/**
 * ipoib_init_dev() - make a network device an interface
 * @netdev: network device after ipoib_setup(), whose private part has ipoib_priv_size() bytes; not
 *	registered
 * @ca: RDMA device
 * @port: its port
 *
 * Context: may sleep.
 * Return: 0, -ENOMEM or what the device's driver answers.
 */
int ipoib_init_dev(struct net_device *netdev, struct ib_device *ca, u32 port)
{
	struct rdma_netdev *rn = netdev_priv(netdev);
	struct ipoib_dev *ipoib;
	int ret;

	ipoib = kzalloc(sizeof(*ipoib), GFP_KERNEL);
	if (!ipoib)
		return -ENOMEM;
	ret = choose_engine(netdev, ca, port);
	if (ret) {
		kfree(ipoib);
		return ret;
	}
	ipoib->engine = netdev->netdev_ops;
	netdev->netdev_ops = &ipoib_netdev_ops;
	ipoib->destroy_engine = netdev->priv_destructor;
	netdev->priv_destructor = release;
	rn->clnt_priv = ipoib;
	ipoib->netdev = netdev;
	ipoib->ca = ca;
	ipoib->port = port;
	ipoib->rx_limit = ipoib_recvq_size;
	ipoib->tx_limit = ipoib_sendq_size;
	init_waitqueue_head(&ipoib->idle);
	spin_lock_init(&ipoib->lock);
	INIT_LIST_HEAD(&ipoib->children);
	INIT_LIST_HEAD(&ipoib->entry);
	ipoib_ah_init(ipoib);
	ipoib_too_long_init(ipoib);
	ipoib_event_init(ipoib);
	return 0;
}

/**
 * ipoib_end_dev() - undo ipoib_init_dev()
 * @netdev: network device that could not be registered
 *
 * Nothing is to be done where registering it got so far that this undid it itself.
 *
 * Context: may sleep.
 */
void ipoib_end_dev(struct net_device *netdev)
{
	if (netdev->reg_state == NETREG_UNINITIALIZED && netdev->priv_destructor == release)
		release(netdev);
}

/**
 * ipoib_discard_dev() - undo ipoib_create_dev()
 * @netdev: network device that could not be registered
 *
 * Context: may sleep.
 */
void ipoib_discard_dev(struct net_device *netdev)
{
	ipoib_end_dev(netdev);
	free_netdev(netdev);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_discard_dev);
