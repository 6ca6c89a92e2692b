// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Finding the device and port that an id's addresses belong to: by the source GID that the port has
 * in its table, which the id then holds.
 */
#include <kunit/static_stub.h>
#include <kunit/visibility.h>
#include <linux/if_arp.h>
#include <linux/module.h>
#include <linux/rcupdate.h>

#include "cma_priv.h"
#include "trace.h"

/**
 * cma_attach_device() - give an id its device
 * @id: id without one
 * @cma_dev: the device
 * @port_num: its port
 * @sgid_attr: source GID; the reference passes to the id.  NULL for none
 *
 * Context: may sleep.
 * Return: 0, or -ENODEV when the device is going away; @sgid_attr stays the caller's then.
 */
int cma_attach_device(struct cma_id *id, struct cma_device *cma_dev, u32 port_num,
		      const struct ib_gid_attr *sgid_attr)
{
	struct rdma_dev_addr *dev_addr = &id->id.route.addr.dev_addr;

	scoped_guard(spinlock_irqsave, &cma_dev->lock) {
		if (cma_dev->gone)
			return -ENODEV;
		refcount_inc(&cma_dev->refs);
		id->cma_dev = cma_dev;
		id->gid_type = cma_config(cma_dev, port_num)->gid_type;
		id->id.port_num = port_num;
		WRITE_ONCE(id->id.device, cma_dev->device);
		dev_addr->transport = rdma_node_get_transport(cma_dev->device->node_type);
		dev_addr->sgid_attr = sgid_attr;
		/* From now on the id gets an event when the device is removed. */
		list_add_tail(&id->device_entry, &cma_dev->ids);
	}
	cma_track(id);
	trace_cm_id_attach(id, cma_dev->device);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cma_attach_device);

/**
 * cma_release_device() - take an id's device from it
 * @id: the id; without a device nothing happens
 *
 * Context: may sleep.
 */
void cma_release_device(struct cma_id *id)
{
	struct rdma_dev_addr *dev_addr = &id->id.route.addr.dev_addr;
	struct cma_device *cma_dev = id->cma_dev;

	if (!cma_dev)
		return;
	cma_untrack(id);
	scoped_guard(spinlock_irqsave, &cma_dev->lock)
		list_del_init(&id->device_entry);
	id->cma_dev = NULL;
	WRITE_ONCE(id->id.device, NULL);
	if (dev_addr->sgid_attr)
		rdma_put_gid_attr(dev_addr->sgid_attr);
	dev_addr->sgid_attr = NULL;
	cma_put_device(cma_dev);
}
EXPORT_SYMBOL_IF_KUNIT(cma_release_device);

/* An AF_IB address is a link address already. */
static void translate_ib(const struct sockaddr_ib *sib, struct rdma_dev_addr *dev_addr)
{
	union ib_gid gid;

	dev_addr->dev_type = ARPHRD_INFINIBAND;
	memcpy(gid.raw, &sib->sib_addr, sizeof(gid.raw));
	rdma_addr_set_sgid(dev_addr, &gid);
	ib_addr_set_pkey(dev_addr, be16_to_cpu(sib->sib_pkey));
}

/**
 * cma_translate_addr() - link address of a local address
 * @addr: address of one of the three families
 * @dev_addr: receives link address and type; the interface, too, of an IP address
 *
 * Context: may sleep.
 * Return: 0, or the error of rdma_translate_ip().
 */
int cma_translate_addr(struct sockaddr *addr, struct rdma_dev_addr *dev_addr)
{
	KUNIT_STATIC_STUB_REDIRECT(cma_translate_addr, addr, dev_addr);
	if (addr->sa_family != AF_IB)
		return rdma_translate_ip(addr, dev_addr);
	translate_ib((const struct sockaddr_ib *)addr, dev_addr);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cma_translate_addr);

/* Are they the same interface, or one of them a VLAN on the other? */
static bool same_or_vlan(const struct net_device *a, const struct net_device *b)
{
	return a == b || rdma_vlan_dev_real_dev(a) == b || rdma_vlan_dev_real_dev(b) == a;
}

/* An iWARP port has one GID, that of its interface. */
static const struct ib_gid_attr *iwarp_gid(struct ib_device *device, u32 port_num,
					   const struct rdma_dev_addr *dev_addr)
{
	const struct ib_gid_attr *attr = rdma_get_gid_attr(device, port_num, 0);
	struct net_device *ndev, *bound;
	bool fits;

	if (IS_ERR(attr))
		return attr;
	scoped_guard(rcu) {
		ndev = rcu_dereference(attr->ndev);
		bound = dev_get_by_index_rcu(dev_addr->net, dev_addr->bound_dev_if);
		fits = ndev && bound && net_eq(dev_net(ndev), dev_addr->net) &&
		       same_or_vlan(ndev, bound);
	}
	if (fits)
		return attr;
	rdma_put_gid_attr(attr);
	return ERR_PTR(-ENODEV);
}

/*
 * The entry of the port's GID table that stands for the id's source address, with a reference; an
 * error if the port does not have it.
 */
static const struct ib_gid_attr *port_has_source(struct cma_id *id, struct cma_device *cma_dev,
						 u32 port_num)
{
	struct rdma_dev_addr *dev_addr = &id->id.route.addr.dev_addr;
	struct ib_device *device = cma_dev->device;
	bool ib = rdma_protocol_ib(device, port_num);
	const struct ib_gid_attr *attr;
	struct net_device *ndev;
	union ib_gid gid;

	if (!rdma_dev_access_netns(device, dev_addr->net))
		return ERR_PTR(-ENODEV);
	if (ib ? dev_addr->dev_type != ARPHRD_INFINIBAND : dev_addr->dev_type == ARPHRD_INFINIBAND)
		return ERR_PTR(-ENODEV);
	if (rdma_protocol_iwarp(device, port_num))
		return iwarp_gid(device, port_num, dev_addr);
	if (!rdma_protocol_roce(device, port_num)) {
		rdma_addr_get_sgid(dev_addr, &gid);
		return rdma_find_gid_by_port(device, &gid, IB_GID_TYPE_IB, port_num, NULL);
	}
	if (rdma_ip2gid(cma_src_addr(id), &gid))
		return ERR_PTR(-ENODEV);
	ndev = dev_get_by_index(dev_addr->net, dev_addr->bound_dev_if);
	if (!ndev)
		return ERR_PTR(-ENODEV);
	attr = rdma_find_gid_by_port(device, &gid, cma_config(cma_dev, port_num)->gid_type,
				     port_num, ndev);
	dev_put(ndev);
	return attr;
}

/* Attaches the id to a port that has its source address. */
static int try_port(struct cma_id *id, struct cma_device *cma_dev, u32 port_num)
{
	const struct ib_gid_attr *attr = port_has_source(id, cma_dev, port_num);
	int ret;

	if (IS_ERR(attr))
		return PTR_ERR(attr);
	ret = cma_attach_device(id, cma_dev, port_num, attr);
	if (ret)
		rdma_put_gid_attr(attr);
	return ret;
}

/* PS_IPOIB uses the multicast groups of IPoIB interfaces. */
static int check_space(struct cma_id *id)
{
	if (id->id.ps == RDMA_PS_IPOIB &&
	    id->id.route.addr.dev_addr.dev_type != ARPHRD_INFINIBAND)
		return rdma_refuse(-EINVAL, "PS_IPOIB needs an address of an IPoIB interface");
	return 0;
}

/**
 * cma_acquire_by_source() - give an id the device that has its source address
 * @id: id without one, whose source address and dev_addr are set
 *
 * Context: may sleep.
 * Return: 0; -ENODEV if no port has the address; -EINVAL for PS_IPOIB on an Ethernet interface.
 */
int cma_acquire_by_source(struct cma_id *id)
{
	struct cma_device *cma_dev;
	u32 port_num;
	int ret = check_space(id);

	if (ret)
		return ret;
	guard(rwsem_read)(&cma_devices_lock);
	list_for_each_entry(cma_dev, &cma_devices, entry)
		rdma_for_each_port(cma_dev->device, port_num)
			if (!try_port(id, cma_dev, port_num))
				return 0;
	return rdma_refuse(-ENODEV, "no RDMA device has the address");
}

/**
 * cma_acquire_for_request() - give an id the port at which its request arrived
 * @id: id without a device, whose source address and dev_addr are set
 * @cma_dev: device; the caller's reference is not touched
 * @port_num: its port
 *
 * Context: may sleep.
 * Return: 0; -EINVAL for PS_IPOIB on an Ethernet interface; -ENODEV or -ENOENT if the port does not
 * have the address.
 */
int cma_acquire_for_request(struct cma_id *id, struct cma_device *cma_dev, u32 port_num)
{
	return check_space(id) ?: try_port(id, cma_dev, port_num);
}

/**
 * cma_acquire_for_iw_request() - give an id the device of its iWARP request
 * @id: id without a device, whose source address and dev_addr are set
 * @listen: the listen that the request is for
 *
 * The ports of the listen's device are tried first.
 *
 * Context: may sleep.
 * Return: as cma_acquire_by_source().
 */
int cma_acquire_for_iw_request(struct cma_id *id, struct cma_listen *listen)
{
	u32 port_num;
	int ret = check_space(id);

	if (ret)
		return ret;
	rdma_for_each_port(listen->cma_dev->device, port_num)
		if (!try_port(id, listen->cma_dev, port_num))
			return 0;
	return cma_acquire_by_source(id);
}

/*
 * Index of the first GID of the port that is in the destination's subnet, or with @self of the
 * destination itself; -1 if there is none.
 */
static int gid_towards(struct ib_device *device, u32 port_num, const union ib_gid *dgid, bool self,
		       union ib_gid *gid)
{
	int length = device->port_data[port_num].immutable.gid_tbl_len;

	for (int i = 0; i < length; i++) {
		if (rdma_query_gid(device, port_num, i, gid))
			continue;
		if (self ? !memcmp(gid, dgid, sizeof(*gid)) :
			   gid->global.subnet_prefix == dgid->global.subnet_prefix)
			return i;
	}
	return -1;
}

/* Can the port reach the destination of an AF_IB id, and with which GID? */
static bool reaches(struct ib_device *device, u32 port_num, const struct sockaddr_ib *to, bool self,
		    union ib_gid *gid)
{
	enum ib_port_state state;
	union ib_gid dgid;
	u16 index;

	if (!rdma_cap_af_ib(device, port_num) ||
	    ib_find_cached_pkey(device, port_num, be16_to_cpu(to->sib_pkey), &index))
		return false;
	memcpy(dgid.raw, &to->sib_addr, sizeof(dgid.raw));
	if (!self && (ib_get_cached_port_state(device, port_num, &state) ||
		      state != IB_PORT_ACTIVE))
		return false;
	return gid_towards(device, port_num, &dgid, self, gid) >= 0;
}

/*
 * An id that connects to its own host uses the port that has the address; others use an active port
 * of the destination's subnet.
 */
static int acquire_towards(struct cma_id *id, bool self)
{
	const struct sockaddr_ib *to = (const struct sockaddr_ib *)cma_dst_addr(id);
	struct sockaddr_ib *from = (struct sockaddr_ib *)cma_src_addr(id);
	struct cma_device *cma_dev;
	union ib_gid gid;
	u32 port_num;

	guard(rwsem_read)(&cma_devices_lock);
	list_for_each_entry(cma_dev, &cma_devices, entry) {
		if (!rdma_dev_access_netns(cma_dev->device, id->id.route.addr.dev_addr.net))
			continue;
		rdma_for_each_port(cma_dev->device, port_num) {
			if (!reaches(cma_dev->device, port_num, to, self, &gid) ||
			    cma_attach_device(id, cma_dev, port_num, NULL))
				continue;
			memcpy(&from->sib_addr, gid.raw, sizeof(from->sib_addr));
			translate_ib(from, &id->id.route.addr.dev_addr);
			return 0;
		}
	}
	return -ENODEV;
}

/**
 * cma_acquire_by_ib_dest() - give an AF_IB id a device that reaches its destination
 * @id: id without a device, whose destination is set; its source's GID is set here
 *
 * Context: may sleep.
 * Return: 0; -ENODEV if no port has the destination's P_Key and is in its subnet.
 */
int cma_acquire_by_ib_dest(struct cma_id *id)
{
	if (!acquire_towards(id, true) || !acquire_towards(id, false))
		return 0;
	return rdma_refuse(-ENODEV, "no port has P_Key and subnet of the destination");
}

static void set_loopback(struct sockaddr *addr)
{
	static const struct in6_addr loopback = IN6ADDR_LOOPBACK_INIT;

	switch (addr->sa_family) {
	case AF_INET:
		((struct sockaddr_in *)addr)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		break;
	case AF_INET6:
		((struct sockaddr_in6 *)addr)->sin6_addr = loopback;
		break;
	case AF_IB:
		memcpy(&((struct sockaddr_ib *)addr)->sib_addr, &loopback, sizeof(loopback));
		break;
	}
}

/* A port by which the host can talk to itself: an active one if there is one. */
static struct cma_device *find_loopback(struct cma_id *id, u32 *port_num)
{
	struct cma_device *cma_dev, *first = NULL;
	enum ib_port_state state;
	u32 port;

	list_for_each_entry(cma_dev, &cma_devices, entry) {
		struct ib_device *device = cma_dev->device;

		if (!rdma_dev_access_netns(device, id->id.route.addr.dev_addr.net) ||
		    (cma_family(id) == AF_IB &&
		     !rdma_cap_ib_cm(device, rdma_start_port(device))))
			continue;
		rdma_for_each_port(device, port) {
			if (ib_get_cached_port_state(device, port, &state) ||
			    state != IB_PORT_ACTIVE)
				continue;
			*port_num = port;
			return cma_dev;
		}
		if (!first) {
			first = cma_dev;
			*port_num = rdma_start_port(device);
		}
	}
	return first;
}

/**
 * cma_acquire_loopback() - give an id a device by which the host talks to itself
 * @id: id without a device; its source becomes the loopback address of its family
 *
 * Context: may sleep.
 * Return: 0; -ENODEV if there is no device; an error of the GID or P_Key table.
 */
int cma_acquire_loopback(struct cma_id *id)
{
	struct rdma_dev_addr *dev_addr = &id->id.route.addr.dev_addr;
	struct cma_device *cma_dev;
	union ib_gid gid;
	u32 port_num;
	u16 pkey;
	int ret;

	guard(rwsem_read)(&cma_devices_lock);
	cma_dev = find_loopback(id, &port_num);
	if (!cma_dev)
		return rdma_refuse(-ENODEV, "there is no RDMA device");
	ret = rdma_query_gid(cma_dev->device, port_num, 0, &gid) ?:
	      ib_get_cached_pkey(cma_dev->device, port_num, 0, &pkey) ?:
	      cma_attach_device(id, cma_dev, port_num, NULL);
	if (ret)
		return ret;
	dev_addr->dev_type = rdma_protocol_ib(cma_dev->device, port_num) ? ARPHRD_INFINIBAND :
									   ARPHRD_ETHER;
	rdma_addr_set_sgid(dev_addr, &gid);
	ib_addr_set_pkey(dev_addr, pkey);
	set_loopback(cma_src_addr(id));
	return 0;
}
