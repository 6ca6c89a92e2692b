// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The speed and width of an Ethernet port, expressed as InfiniBand speed and width.
 */
#include <linux/ethtool.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include "device.h"

/* A link with an unknown number of lanes is shown as the first row that is not slower. */
static const struct {
	u32 mbps;
	u16 speed;
	u8 width;
} whole_links[] = {
	{ SPEED_1000,	IB_SPEED_SDR,	IB_WIDTH_1X },
	{ SPEED_10000,	IB_SPEED_FDR10,	IB_WIDTH_1X },
	{ SPEED_20000,	IB_SPEED_DDR,	IB_WIDTH_4X },
	{ SPEED_25000,	IB_SPEED_EDR,	IB_WIDTH_1X },
	{ SPEED_40000,	IB_SPEED_FDR10,	IB_WIDTH_4X },
	{ SPEED_50000,	IB_SPEED_EDR,	IB_WIDTH_2X },
	{ SPEED_100000,	IB_SPEED_EDR,	IB_WIDTH_4X },
	{ SPEED_200000,	IB_SPEED_HDR,	IB_WIDTH_4X },
	{ U32_MAX,	IB_SPEED_NDR,	IB_WIDTH_4X },
};

/*
 * The InfiniBand speed of a link with a known number of lanes, by the exact speed of one lane.
 */
static const struct {
	u32 mbps;
	u16 speed;
} lane_speeds[] = {
	{ SPEED_2500, IB_SPEED_SDR }, { SPEED_5000, IB_SPEED_DDR }, { SPEED_10000, IB_SPEED_FDR10 },
	{ SPEED_14000, IB_SPEED_FDR }, { SPEED_25000, IB_SPEED_EDR }, { SPEED_50000, IB_SPEED_HDR },
	{ SPEED_100000, IB_SPEED_NDR },
};

static const struct {
	u32 lanes;
	u8 width;
} lane_counts[] = {
	{ 1, IB_WIDTH_1X }, { 2, IB_WIDTH_2X }, { 4, IB_WIDTH_4X }, { 8, IB_WIDTH_8X },
	{ 12, IB_WIDTH_12X },
};

static void speed_of_whole_link(u32 mbps, u16 *speed, u8 *width)
{
	unsigned int row = 0;

	while (mbps > whole_links[row].mbps)
		row++;
	*speed = whole_links[row].speed;
	*width = whole_links[row].width;
}

static void speed_of_lanes(u32 mbps, u32 lanes, u16 *speed, u8 *width)
{
	*speed = IB_SPEED_SDR;
	*width = IB_WIDTH_1X;
	for (unsigned int i = 0; i < ARRAY_SIZE(lane_speeds); i++)
		if (lane_speeds[i].mbps == mbps / lanes)
			*speed = lane_speeds[i].speed;
	for (unsigned int i = 0; i < ARRAY_SIZE(lane_counts); i++)
		if (lane_counts[i].lanes == lanes)
			*width = lane_counts[i].width;
}

static int ask_netdev(struct net_device *netdev, u32 *mbps, u32 *lanes)
{
	struct ethtool_link_ksettings link = {};
	int ret = -ENODEV;

	*mbps = SPEED_1000;
	rtnl_lock();
	if (netdev->reg_state == NETREG_REGISTERED) {
		ret = 0;
		if (!__ethtool_get_link_ksettings(netdev, &link) &&
		    link.base.speed != (u32)SPEED_UNKNOWN)
			*mbps = link.base.speed;
	}
	rtnl_unlock();
	*lanes = link.lanes;
	return ret;
}

/**
 * ib_get_eth_speed() - speed and width of an Ethernet port
 * @dev: device
 * @port_num: port
 * @speed: receives one of enum ib_port_speed
 * @width: receives one of enum ib_port_width
 *
 * A net device of unknown speed is taken as one of 1 Gb/s.
 *
 * Context: may sleep; takes the RTNL.
 * Return: 0; -EINVAL for a port that is not Ethernet; -ENODEV when it has no
 * registered net device.
 */
int ib_get_eth_speed(struct ib_device *dev, u32 port_num, u16 *speed, u8 *width)
{
	struct net_device *netdev;
	u32 lanes, mbps;
	int ret;

	if (rdma_port_get_link_layer(dev, port_num) != IB_LINK_LAYER_ETHERNET)
		return -EINVAL;
	netdev = ib_device_get_netdev(dev, port_num);
	ret = netdev ? ask_netdev(netdev, &mbps, &lanes) : -ENODEV;
	dev_put(netdev);
	if (ret)
		return ret;
	if (lanes)
		speed_of_lanes(mbps, lanes, speed, width);
	else
		speed_of_whole_link(mbps, speed, width);
	return 0;
}
EXPORT_SYMBOL(ib_get_eth_speed);
