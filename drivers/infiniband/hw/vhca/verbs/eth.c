// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ethernet ports: the link of a port's net device, and the GID table.
 *
 * The core owns the table. For each entry the device also needs the MAC address and the VLAN of the
 * net device to which the GID belongs. The core does not write an entry again if only these change,
 * so they are stored here, and compared when the address of a net device has changed.
 */
#include <kunit/visibility.h>
#include <linux/etherdevice.h>
#include <linux/slab.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_cache.h>

#include "../cmd/cmd.h"
#include "eth.h"

static struct vhca_port *to_port(struct vhca_dev *dev, u32 port)
{
	return &dev->ports[port - 1];
}

/**
 * vhca_port_init() - initialise the state of a port
 * @dev: the device, not registered yet
 * @port: 1..ports
 * @attr: output of QUERY_PORT
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int vhca_port_init(struct vhca_dev *dev, u32 port, const struct vhca_port_attr *attr)
{
	struct vhca_port *p = to_port(dev, port);

	p->ngids = le32_to_cpu(attr->gid_entries);
	p->npkeys = le32_to_cpu(attr->pkey_entries);
	if (attr->link_layer != VHCA_LINK_ETH)
		return 0;
	mutex_init(&p->gid_lock);
	ether_addr_copy(p->mac, attr->mac);
	p->max_mtu = attr->max_mtu;
	p->gids = kvcalloc(p->ngids, sizeof(*p->gids), GFP_KERNEL);
	if (!p->gids)
		return -ENOMEM;
	p->eth = true;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_port_init);

/**
 * vhca_ports_exit() - free what vhca_port_init() allocated for the ports
 * @dev: the device, not registered any more
 *
 * Context: may sleep.
 */
void vhca_ports_exit(struct vhca_dev *dev)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(dev->ports); i++)
		kvfree(dev->ports[i].gids);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_ports_exit);

static u8 fitting_mtu(const struct vhca_port *p, const struct net_device *ndev)
{
	enum ib_mtu mtu = iboe_get_mtu(READ_ONCE(ndev->mtu));

	/* If the net device's MTU is below that for 256 bytes, larger packets are lost. */
	return clamp_t(u8, mtu, IB_MTU_256, p->max_mtu);
}

/**
 * vhca_eth_get_link() - get the link state of an Ethernet port's net device
 * @dev: the device
 * @port: an Ethernet port
 * @link: filled in
 *
 * Context: process context.
 */
void vhca_eth_get_link(struct vhca_dev *dev, u32 port, struct vhca_eth_link *link)
{
	struct net_device *ndev = ib_device_get_netdev(&dev->ibdev, port);

	*link = (struct vhca_eth_link) { .present = ndev };
	if (!ndev)
		return;
	link->up = netif_running(ndev);
	link->running = link->up && netif_carrier_ok(ndev);
	link->mtu = fitting_mtu(to_port(dev, port), ndev);
	dev_put(ndev);
}

/* Fills in the current MAC address and VLAN of an entry's net device. */
static int read_address(struct vhca_gid *gid)
{
	return rdma_read_gid_l2_fields(gid->attr, &gid->vlan, gid->mac);
}

static int write_gid(struct vhca_dev *dev, const struct vhca_gid *gid)
{
	struct vhca_set_gid_req req = {
		.port = gid->attr->port_num,
		.type = VHCA_GID_ROCE_V2,
		.index = cpu_to_le16(gid->attr->index),
		.vlan = cpu_to_le16(gid->vlan),
	};

	ether_addr_copy(req.mac, gid->mac);
	memcpy(req.gid, gid->attr->gid.raw, sizeof(req.gid));
	return vhca_cmd_set_gid(&dev->hw, &req);
}

/**
 * vhca_add_gid() - ib_device_ops.add_gid
 * @attr: the entry; valid until vhca_del_gid()
 * @context: unused
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP for another type than RoCE v2; -EINVAL for an index that the device does
 * not have; -ENODEV when the entry has lost its net device; or an error of commands.
 */
int vhca_add_gid(const struct ib_gid_attr *attr, void **context)
{
	struct vhca_dev *dev = to_vdev(attr->device);
	struct vhca_port *p = to_port(dev, attr->port_num);
	struct vhca_gid gid = { .attr = attr };
	int err;

	if (attr->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP)
		return vhca_refuse(dev->hw.dev, -EOPNOTSUPP,
				   "GID of type %d: Ethernet ports have RoCE v2 alone",
				   attr->gid_type);
	if (attr->index >= p->ngids)
		return vhca_refuse(dev->hw.dev, -EINVAL, "GID index %u: port %u has %u",
				   attr->index, attr->port_num, p->ngids);
	/* If the address changes after it was read, vhca_eth_refresh_gids() notices that. */
	mutex_lock(&p->gid_lock);
	err = read_address(&gid) ?: write_gid(dev, &gid);
	if (!err)
		p->gids[attr->index] = gid;
	mutex_unlock(&p->gid_lock);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_add_gid);

/**
 * vhca_del_gid() - ib_device_ops.del_gid
 * @attr: an entry that was added
 * @context: unused
 *
 * This succeeds on a dead device, which has no entries any more.
 *
 * Context: may sleep.
 * Return: 0 or an error of commands.
 */
int vhca_del_gid(const struct ib_gid_attr *attr, void **context)
{
	struct vhca_dev *dev = to_vdev(attr->device);
	struct vhca_port *p = to_port(dev, attr->port_num);
	struct vhca_set_gid_req req = {
		.port = attr->port_num,
		.type = VHCA_GID_CLEAR,
		.index = cpu_to_le16(attr->index),
	};
	int err;

	mutex_lock(&p->gid_lock);
	p->gids[attr->index] = (struct vhca_gid) {};
	err = vhca_hw_settle(&dev->hw, vhca_cmd_set_gid(&dev->hw, &req));
	mutex_unlock(&p->gid_lock);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_del_gid);

static void refresh_gid(struct vhca_dev *dev, struct vhca_gid *gid)
{
	struct vhca_gid now = { .attr = gid->attr };

	/* Without a net device the core is about to delete the entry. */
	if (read_address(&now))
		return;
	if (now.vlan == gid->vlan && ether_addr_equal(now.mac, gid->mac))
		return;
	if (!write_gid(dev, &now))
		*gid = now;
}

/**
 * vhca_eth_refresh_gids() - write the entries again whose net device has changed its address
 * @dev: the device
 * @port: an Ethernet port
 *
 * An entry that the device refuses is not changed, and is written again by the next call.
 *
 * Context: may sleep.
 */
void vhca_eth_refresh_gids(struct vhca_dev *dev, u32 port)
{
	struct vhca_port *p = to_port(dev, port);

	mutex_lock(&p->gid_lock);
	for (u32 i = 0; i < p->ngids; i++)
		if (p->gids[i].attr)
			refresh_gid(dev, &p->gids[i]);
	mutex_unlock(&p->gid_lock);
}
