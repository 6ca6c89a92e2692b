// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What ethtool shows and sets.
 */
#include <linux/ethtool.h>
#include <rdma/rdma_reject.h>

#include "dev.h"

/**
 * struct shown - a statistic
 * @name: its name
 * @offset: its place in struct rtnl_link_stats64
 */
struct shown {
	char name[ETH_GSTRING_LEN];
	size_t offset;
};

#define STAT(_name) { #_name, offsetof(struct rtnl_link_stats64, _name) }

static const struct shown stats[] = {
	STAT(rx_packets),
	STAT(tx_packets),
	STAT(rx_bytes),
	STAT(tx_bytes),
	STAT(tx_errors),
	STAT(rx_dropped),
	STAT(tx_dropped),
	STAT(multicast),
};

static void get_drvinfo(struct net_device *netdev, struct ethtool_drvinfo *info)
{
	struct ipoib_dev *ipoib = ipoib_priv(netdev);

	strscpy(info->driver, "ib_ipoib", sizeof(info->driver));
	strscpy(info->bus_info, dev_name(ipoib->ca->dev.parent), sizeof(info->bus_info));
	ib_get_device_fw_str(ipoib->ca, info->fw_version);
}

static const struct {
	u16 speed;	/* enum ib_port_speed */
	u32 mbps;	/* of a lane */
} lanes[] = {
	{ IB_SPEED_SDR, 2500 }, { IB_SPEED_DDR, 5000 }, { IB_SPEED_QDR, 10000 },
	{ IB_SPEED_FDR10, 10000 }, { IB_SPEED_FDR, 14000 }, { IB_SPEED_EDR, 25000 },
	{ IB_SPEED_HDR, 50000 }, { IB_SPEED_NDR, 100000 }, { IB_SPEED_XDR, 200000 },
};

static u32 lane_mbps(u16 speed)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(lanes); i++)
		if (lanes[i].speed == speed)
			return lanes[i].mbps;
	return 0;
}

static int get_link_ksettings(struct net_device *netdev, struct ethtool_link_ksettings *cmd)
{
	struct ipoib_dev *ipoib = ipoib_priv(netdev);
	struct ib_port_attr attr;
	int width;

	if (!netif_carrier_ok(netdev)) {
		cmd->base.speed = SPEED_UNKNOWN;
		cmd->base.duplex = DUPLEX_UNKNOWN;
		return 0;
	}
	if (ib_query_port(ipoib->ca, ipoib->port, &attr))
		return -EINVAL;
	width = ib_width_enum_to_int(attr.active_width);
	if (width < 0 || !lane_mbps(attr.active_speed))
		return -EINVAL;
	cmd->base.speed = lane_mbps(attr.active_speed) * width;
	cmd->base.duplex = DUPLEX_FULL;
	cmd->base.phy_address = 0xff;
	cmd->base.autoneg = AUTONEG_ENABLE;
	cmd->base.port = PORT_OTHER;
	return 0;
}

static int get_coalesce(struct net_device *netdev, struct ethtool_coalesce *coal,
			struct kernel_ethtool_coalesce *kernel_coal, struct netlink_ext_ack *extack)
{
	struct ipoib_dev *ipoib = ipoib_priv(netdev);

	coal->rx_coalesce_usecs = ipoib->coalesce_usecs;
	coal->rx_max_coalesced_frames = ipoib->coalesce_frames;
	return 0;
}

static int set_coalesce(struct net_device *netdev, struct ethtool_coalesce *coal,
			struct kernel_ethtool_coalesce *kernel_coal, struct netlink_ext_ack *extack)
{
	struct ipoib_dev *ipoib = ipoib_priv(netdev);
	int ret;

	/* A driver with an engine of its own may have no operations of ethtool. */
	if (!ipoib->rx_cq.cq)
		return -EOPNOTSUPP;
	if (coal->rx_coalesce_usecs > U16_MAX || coal->rx_max_coalesced_frames > U16_MAX) {
		NL_SET_ERR_MSG(extack, "rx-usecs and rx-frames have 16 bits");
		return -EINVAL;
	}
	ret = rdma_set_cq_moderation(ipoib->rx_cq.cq, coal->rx_max_coalesced_frames,
				     coal->rx_coalesce_usecs);
	/* A device without moderation keeps the figures for show. */
	if (ret && ret != -EOPNOTSUPP)
		return ret;
	ipoib->coalesce_usecs = coal->rx_coalesce_usecs;
	ipoib->coalesce_frames = coal->rx_max_coalesced_frames;
	return 0;
}

static void get_ringparam(struct net_device *netdev, struct ethtool_ringparam *ring,
			  struct kernel_ethtool_ringparam *kernel_ring,
			  struct netlink_ext_ack *extack)
{
	struct ipoib_dev *ipoib = ipoib_priv(netdev);

	ring->rx_max_pending = ipoib_recvq_size;
	ring->tx_max_pending = ipoib_sendq_size;
	ring->rx_pending = ipoib->rx_limit;
	ring->tx_pending = ipoib->tx_limit;
}

/*
 * The QP stays, since another one would have another number, which is part of the address that all
 * peers know. So its rings are as long as the module says, and an interface uses a part of them. A
 * new length of the send ring counts at once, one of the receive ring from the next start on, which
 * is brought about here.
 */
static int set_ringparam(struct net_device *netdev, struct ethtool_ringparam *ring,
			 struct kernel_ethtool_ringparam *kernel_ring,
			 struct netlink_ext_ack *extack)
{
	struct ipoib_dev *ipoib = ipoib_priv(netdev);

	if (ring->rx_pending < IPOIB_LEAST_RING || ring->tx_pending < IPOIB_LEAST_RING) {
		NL_SET_ERR_MSG(extack, "a ring has 2 entries at least");
		return rdma_refuse(-EINVAL, "rx %u, tx %u: a ring has %u entries at least",
				   ring->rx_pending, ring->tx_pending, IPOIB_LEAST_RING);
	}
	WRITE_ONCE(ipoib->tx_limit, ring->tx_pending);
	if (ring->rx_pending == ipoib->rx_limit)
		return 0;
	ipoib->rx_limit = ring->rx_pending;
	if (ipoib_is(ipoib, IPOIB_STARTED))
		ipoib_flush(ipoib, IPOIB_FLUSH_RESTART);
	return 0;
}

static int get_sset_count(struct net_device *netdev, int set)
{
	return set == ETH_SS_STATS ? ARRAY_SIZE(stats) : -EOPNOTSUPP;
}

static void get_strings(struct net_device *netdev, u32 set, u8 *data)
{
	if (set != ETH_SS_STATS)
		return;
	for (unsigned int i = 0; i < ARRAY_SIZE(stats); i++)
		memcpy(data + i * ETH_GSTRING_LEN, stats[i].name, ETH_GSTRING_LEN);
}

static void get_ethtool_stats(struct net_device *netdev, struct ethtool_stats *request, u64 *data)
{
	struct rtnl_link_stats64 all;

	dev_get_stats(netdev, &all);
	for (unsigned int i = 0; i < ARRAY_SIZE(stats); i++)
		data[i] = *(const u64 *)((const u8 *)&all + stats[i].offset);
}

const struct ethtool_ops ipoib_ethtool_ops = {
	.supported_coalesce_params = ETHTOOL_COALESCE_RX_USECS | ETHTOOL_COALESCE_RX_MAX_FRAMES,
	.get_drvinfo = get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = get_link_ksettings,
	.get_coalesce = get_coalesce,
	.set_coalesce = set_coalesce,
	.get_ringparam = get_ringparam,
	.set_ringparam = set_ringparam,
	.get_sset_count = get_sset_count,
	.get_strings = get_strings,
	.get_ethtool_stats = get_ethtool_stats,
};
