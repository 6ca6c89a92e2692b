// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Network namespaces.
 *
 * In shared mode every namespace sees every device. The device itself is in the initial namespace;
 * in the sysfs of each other one it has a second face, a struct ib_core_device. In exclusive mode a
 * device is in one namespace and is seen there only.
 */
#include <linux/cleanup.h>
#include <linux/device.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <net/netns/generic.h>

#include "../device/internal.h"

bool ib_devices_shared_netns = true;
module_param_named(netns_mode, ib_devices_shared_netns, bool, 0444);
MODULE_PARM_DESC(netns_mode, "Share device among net namespaces; default=1 (shared)");

/**
 * struct ib_net - what RDMA keeps for a network namespace
 * @nl_sock: kernel's end of the RDMA netlink socket
 * @net: back pointer
 * @id: index in ib_nets and in each device's table of faces
 */
struct ib_net {
	struct sock *nl_sock;
	possible_net_t net;
	u32 id;
};

static unsigned int ib_net_id;

/* Protects ib_nets, and ib_devices_shared_netns against a namespace that comes meanwhile. */
static DECLARE_RWSEM(ib_nets_rwsem);
/* Namespaces other than the initial one. */
static DEFINE_XARRAY_FLAGS(ib_nets, XA_FLAGS_ALLOC);

static struct ib_net *ib_net_of(const struct net *net)
{
	return net_generic(net, ib_net_id);
}

/**
 * rdma_net_nl_sock - kernel's end of the RDMA netlink socket in a namespace
 * @net: the namespace
 *
 * Return: the socket.
 */
struct sock *rdma_net_nl_sock(const struct net *net)
{
	return ib_net_of(net)->nl_sock;
}

/**
 * rdma_dev_access_netns - may a namespace use a device?
 * @device: the device
 * @net: the namespace
 *
 * Context: any.
 * Return: true in shared mode or if the device is in @net.
 */
bool rdma_dev_access_netns(const struct ib_device *device, const struct net *net)
{
	return READ_ONCE(ib_devices_shared_netns) ||
	       net_eq(read_pnet(&device->coredev.rdma_net), net);
}
EXPORT_SYMBOL(rdma_dev_access_netns);

static void release_face(struct device *dev)
{
	kfree(container_of(dev, struct ib_core_device, dev));
}

/* With compat_lock held. */
static int make_face(struct ib_device *device, struct ib_net *ib_net)
{
	struct ib_core_device *face = kzalloc(sizeof(*face), GFP_KERNEL);
	int ret;

	if (!face)
		return -ENOMEM;
	ib_coredev_init(face, device, read_pnet(&ib_net->net));
	face->dev.release = release_face;
	face->dev.parent = device->dev.parent;
	ret = dev_set_name(&face->dev, "%s", dev_name(&device->dev));
	if (ret)
		goto put;
	ret = device_add(&face->dev);
	if (ret)
		goto put;
	ret = ib_setup_port_attrs(face);
	if (ret)
		goto del;
	ret = xa_insert(&device->core->compat, ib_net->id, face, GFP_KERNEL);
	if (ret)
		goto ports;
	return 0;

ports:
	ib_free_port_attrs(face);
del:
	device_del(&face->dev);
put:
	put_device(&face->dev);
	return ret;
}

static int add_face(struct ib_device *device, struct ib_net *ib_net)
{
	guard(mutex)(&device->core->compat_lock);
	if (!ib_devices_shared_netns || !ib_registry_shown(device) ||
	    xa_load(&device->core->compat, ib_net->id))
		return 0;
	return make_face(device, ib_net);
}

static void remove_face(struct ib_device *device, u32 id)
{
	struct ib_core_device *face;

	guard(mutex)(&device->core->compat_lock);
	face = xa_erase(&device->core->compat, id);
	if (!face)
		return;
	ib_free_port_attrs(face);
	device_unregister(&face->dev);
}

/**
 * ib_compat_add_all - show a device in all other namespaces, in shared mode
 * @device: device that is shown in the registry
 *
 * Return: 0, or an error with faces left for ib_compat_remove_all().
 */
int ib_compat_add_all(struct ib_device *device)
{
	struct ib_net *ib_net;
	unsigned long id;
	int ret;

	guard(rwsem_read)(&ib_nets_rwsem);
	xa_for_each(&ib_nets, id, ib_net) {
		ret = add_face(device, ib_net);
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * ib_compat_remove_all - take a device out of all other namespaces
 * @device: device that is hidden
 */
void ib_compat_remove_all(struct ib_device *device)
{
	struct ib_core_device *face;
	unsigned long id;

	xa_for_each(&device->core->compat, id, face)
		remove_face(device, id);
}

/**
 * ib_compat_rename - give the device's new name to its faces
 * @device: renamed device
 */
void ib_compat_rename(struct ib_device *device)
{
	struct ib_core_device *face;
	unsigned long id;

	guard(mutex)(&device->core->compat_lock);
	xa_for_each(&device->core->compat, id, face)
		if (device_rename(&face->dev, device->name))
			ibdev_warn(device, "keeps its old name in a network namespace\n");
}

/* Moving makes clients let go and start afresh, since addresses and sockets are a namespace's. */
static int move_device(struct ib_device *device, struct net *from, struct net *to)
{
	int ret;

	guard(mutex)(&device->core->registration_lock);
	if (!device->core->registered || !refcount_read(&device->refcount) ||
	    !net_eq(read_pnet(&device->coredev.rdma_net), from))
		return -ENODEV;

	ib_registry_announce(device, KOBJ_REMOVE);
	ib_device_suspend(device);
	write_pnet(&device->coredev.rdma_net, to);
	ret = device_rename(&device->dev, device->name);
	if (ret) {
		ibdev_warn(device, "cannot change its network namespace: %d\n", ret);
		write_pnet(&device->coredev.rdma_net, from);
	}

	/* If clients fail now the device stays, hidden, for its driver to unregister. */
	if (ib_device_resume(device)) {
		ibdev_warn(device, "not usable after the change of its network namespace\n");
		return -EIO;
	}
	ib_registry_announce(device, KOBJ_ADD);
	ib_device_put(device);
	return ret;
}

/**
 * ib_device_set_netns_put - move a device into a namespace, in exclusive mode
 * @skb: the request, whose sender needs CAP_NET_ADMIN over the namespace
 * @device: device that the caller holds; the reference is consumed
 * @ns_fd: file of the namespace, in the sender's table
 * @extack: where a reason goes
 *
 * Context: may sleep, until consumers have let go.
 * Return: 0, -EOPNOTSUPP in shared mode or if the driver cannot take a device from its users,
 * -EPERM, -EBADF or -EINVAL for a bad file, -ENODEV if the device goes meanwhile, or another errno.
 */
int ib_device_set_netns_put(struct sk_buff *skb, struct ib_device *device, u32 ns_fd,
			    struct netlink_ext_ack *extack)
{
	struct net *net = get_net_ns_by_fd(ns_fd);
	int ret = 0;

	if (IS_ERR(net)) {
		ib_device_put(device);
		return PTR_ERR(net);
	}
	if (!netlink_ns_capable(skb, net->user_ns, CAP_NET_ADMIN))
		ret = -EPERM;
	else if (ib_devices_shared_netns)
		ret = rdma_nl_refuse(extack, -EOPNOTSUPP,
				     "devices are shared among network namespaces");
	else if (!device->ops.disassociate_ucontext)
		ret = rdma_nl_refuse(extack, -EOPNOTSUPP,
				     "the driver cannot take %s from its users", device->name);

	get_device(&device->dev);
	ib_device_put(device);
	if (!ret)
		ret = move_device(device, current->nsproxy->net_ns, net);
	put_device(&device->dev);
	put_net(net);
	return ret;
}

/**
 * rdma_compatdev_set - choose between shared and exclusive mode
 * @shared: non-zero for shared
 * @extack: where a reason goes
 *
 * Context: may sleep.
 * Return: 0, or -EBUSY while there are namespaces besides the initial one.
 */
int rdma_compatdev_set(u8 shared, struct netlink_ext_ack *extack)
{
	guard(rwsem_write)(&ib_nets_rwsem);
	if (ib_devices_shared_netns == !!shared)
		return 0;
	if (!xa_empty(&ib_nets))
		return rdma_nl_refuse(extack, -EBUSY, "other network namespaces exist");
	WRITE_ONCE(ib_devices_shared_netns, !!shared);
	return 0;
}

static void leave_net(struct ib_net *ib_net)
{
	struct ib_device *device;
	unsigned long index;

	scoped_guard(rwsem_write, &ib_nets_rwsem)
		xa_erase(&ib_nets, ib_net->id);
	for_each_known_device(device, index)
		remove_face(device, ib_net->id);
}

static int enter_net(struct ib_net *ib_net)
{
	struct ib_device *device;
	unsigned long index;
	int ret;

	scoped_guard(rwsem_write, &ib_nets_rwsem)
		ret = xa_alloc(&ib_nets, &ib_net->id, ib_net, xa_limit_32b, GFP_KERNEL);
	if (ret)
		return ret;
	for_each_registered_device(device, index) {
		scoped_guard(rwsem_read, &ib_nets_rwsem)
			ret = add_face(device, ib_net);
		if (ret) {
			ib_device_put(device);
			leave_net(ib_net);
			return ret;
		}
	}
	return 0;
}

static int __net_init net_begins(struct net *net)
{
	struct ib_net *ib_net = ib_net_of(net);
	int ret;

	write_pnet(&ib_net->net, net);
	ib_net->nl_sock = rdma_nl_sock_create(net);
	if (!ib_net->nl_sock)
		return -ENOMEM;
	if (net_eq(net, &init_net))
		return 0;
	ret = enter_net(ib_net);
	if (ret)
		rdma_nl_sock_release(ib_net->nl_sock);
	return ret;
}

static void __net_exit net_ends(struct net *net)
{
	struct ib_net *ib_net = ib_net_of(net);
	struct ib_device *device;
	unsigned long index;

	if (!net_eq(net, &init_net)) {
		leave_net(ib_net);
		for_each_known_device(device, index)
			if (net_eq(read_pnet(&device->coredev.rdma_net), net))
				move_device(device, net, &init_net);
	}
	rdma_nl_sock_release(ib_net->nl_sock);
}

static struct pernet_operations net_ops = {
	.init = net_begins,
	.exit = net_ends,
	.id = &ib_net_id,
	.size = sizeof(struct ib_net),
};

int ib_netns_init(void)
{
	return register_pernet_device(&net_ops);
}

void ib_netns_exit(void)
{
	unregister_pernet_device(&net_ops);
}
