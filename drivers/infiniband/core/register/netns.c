// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Network namespaces: devices move between them, and get compat devices in new ones.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/device.h>
#include <net/netns/generic.h>

#include "register_priv.h"

static unsigned int compat_net_id;

/*
 * sysfs asks for the namespace while the device is renamed. If renaming fails, the device does not
 * return to a namespace that is ending.
 */
static int change_net(struct ib_device *device, struct net *from, struct net *to)
{
	int ret;

	write_pnet(&device->coredev.rdma_net, to);
	ret = device_rename(&device->dev, device->name);
	if (ret) {
		ibdev_warn(device, "cannot change its network namespace: %d\n", ret);
		if (check_net(from))
			write_pnet(&device->coredev.rdma_net, from);
	}
	return ret;
}

/**
 * ib_device_move() - move a device into another namespace
 * @device: device with a struct device reference of the caller
 * @from: the namespace in which it is
 * @to: the new namespace; must be the initial one for a device that an earlier move has left hidden
 *
 * Clients are detached and attached again, since addresses and sockets belong to a namespace.
 *
 * Context: may sleep until consumers have released the device.
 * Return: 0; -ENODEV for a device that is not registered, or not in @from; -EIO if it is hidden
 * now; or the error of sysfs.
 */
VISIBLE_IF_KUNIT int ib_device_move(struct ib_device *device, struct net *from, struct net *to)
{
	int ret;

	guard(mutex)(&device->core->registration_lock);
	if (!device->core->registered || !net_eq(read_pnet(&device->coredev.rdma_net), from))
		return -ENODEV;
	if (!refcount_read(&device->refcount))
		return net_eq(to, &init_net) ? change_net(device, from, to) : -ENODEV;

	ib_registry_announce(device, KOBJ_REMOVE);
	ib_device_disable(device);
	ret = change_net(device, from, to);

	/* If clients fail now, the device stays hidden until its driver unregisters it. */
	if (ib_device_enable(device)) {
		ibdev_warn(device, "not usable after the change of its network namespace\n");
		return -EIO;
	}
	ib_registry_announce(device, KOBJ_ADD);
	ib_device_put(device);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(ib_device_move);

/**
 * ib_device_set_netns_put() - move a device into a namespace, in exclusive mode
 * @skb: the request, whose sender needs CAP_NET_ADMIN over the namespace
 * @device: device that the caller holds; the reference is consumed
 * @ns_fd: file descriptor of the namespace, of the sender
 * @extack: takes the reason of an error
 *
 * Context: may sleep until consumers have released the device.
 * Return: 0, -EOPNOTSUPP in shared mode or if the driver cannot disassociate a device from its
 * users, -EPERM, -EBADF or -EINVAL for a bad file, -ENODEV if the device is removed meanwhile, or
 * another negative errno.
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
		ret = ib_device_move(device, current->nsproxy->net_ns, net);
	put_device(&device->dev);
	put_net(net);
	return ret;
}

static int __net_init net_begins(struct net *net)
{
	struct compat_net *compat_net = net_generic(net, compat_net_id);

	write_pnet(&compat_net->net, net);
	return net_eq(net, &init_net) ? 0 : ib_compat_net_enter(compat_net);
}

static void __net_exit net_ends(struct net *net)
{
	struct ib_device *device;
	unsigned long index;

	if (net_eq(net, &init_net))
		return;
	ib_compat_net_leave(net_generic(net, compat_net_id));
	for_each_known_device(device, index)
		if (net_eq(read_pnet(&device->coredev.rdma_net), net))
			ib_device_move(device, net, &init_net);
}

static struct pernet_operations net_ops = {
	.init = net_begins,
	.exit = net_ends,
	.id = &compat_net_id,
	.size = sizeof(struct compat_net),
};

/**
 * ib_register_init() - register for network namespaces, and initialise the work queue
 *
 * Return: 0 or -ENOMEM.
 */
int ib_register_init(void)
{
	int ret;

	ib_unreg_wq = alloc_workqueue("ib_unregister", WQ_UNBOUND, 0);
	if (!ib_unreg_wq)
		return -ENOMEM;
	ret = register_pernet_device(&net_ops);
	if (ret)
		destroy_workqueue(ib_unreg_wq);
	return ret;
}

/**
 * ib_register_exit() - end what ib_register_init() began
 */
void ib_register_exit(void)
{
	unregister_pernet_device(&net_ops);
	ib_compat_exit();
	destroy_workqueue(ib_unreg_wq);
}
