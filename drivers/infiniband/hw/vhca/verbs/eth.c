// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ethernet ports: the link of a port's net device, and the GID table.
 *
 * The core keeps the table and says what stands in it. The device needs the link layer's addresses
 * of each entry besides: the MAC address and the VLAN of the net device that the GID belongs to.
 * The core does not write an entry again when only these change, so they are kept here, and
 * compared when a net device says that its address has changed.
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
 * vhca_port_init() - prepare for a port
 * @dev: the device, not registered yet
 * @port: 1..ports
 * @attr: what the device says about it
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

	/* A net device for the shortest frames only: larger packets are lost, smaller ones fit. */
	return clamp_t(u8, mtu, IB_MTU_256, p->max_mtu);
}

/**
 * vhca_eth_get_link() - look at the net device of an Ethernet port
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

/* Fill in the link layer's part of an entry as its net device has it now. */
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
 * not have; -ENODEV when the entry has lost its net device; as the device commands.
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
	/* If the address changes once it has been read, vhca_eth_refresh_gids() sees that next. */
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
 * This succeeds on a dead device, which has forgotten its entries.
 *
 * Context: may sleep.
 * Return: 0 or as the device commands.
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

	/* Without a net device the core is about to take the entry away. */
	if (read_address(&now))
		return;
	if (now.vlan == gid->vlan && ether_addr_equal(now.mac, gid->mac))
		return;
	if (!write_gid(dev, &now))
		*gid = now;
}

/**
 * vhca_eth_refresh_gids() - write the entries again whose net devices have other addresses now
 * @dev: the device
 * @port: an Ethernet port
 *
 * An entry that the device refuses stays as it was. Context: may sleep.
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
