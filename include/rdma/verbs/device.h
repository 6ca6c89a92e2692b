/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Devices, and the clients that are notified of them.
 */
#ifndef RDMA_VERBS_DEVICE_H
#define RDMA_VERBS_DEVICE_H

#include <linux/cgroup_rdma.h>
#include <linux/completion.h>
#include <linux/device.h>
#include <linux/refcount.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>
#include <rdma/verbs/device_attr.h>
#include <rdma/verbs/ops.h>
#include <rdma/verbs/port.h>
#include <rdma/verbs/types.h>

struct ib_client_nl_info;
struct rdma_device_core;
struct rdma_link_ops;
struct rdma_restrack_root;

/**
 * struct ib_core_device - sysfs view of a device in one network namespace
 * @dev: class device
 * @rdma_net: the namespace
 * @ports_kobj: its ports folder
 * @port_list: its ports
 * @owner: the RDMA device
 */
struct ib_core_device {
	struct device dev;
	possible_net_t rdma_net;
	struct kobject *ports_kobj;
	struct list_head port_list;
	struct ib_device *owner;
};

/**
 * struct ib_device - an RDMA device
 * @dma_device: device that does the DMA; NULL for a software device
 * @ops: the driver's operations
 * @name: name, vhca0 for example
 * @rcu_head: frees the memory
 * @client_data: data of each client, by client number
 * @port_data: data of each port, by port number; from registration on
 * @num_comp_vectors: completion vectors
 * @dev: class device in the namespace the device belongs to
 * @coredev: the same device, as struct ib_core_device
 * @uverbs_cmd_mask: write() commands; initialised by the core, a driver may set and clear bits
 * @node_desc: node description
 * @node_guid: node GUID
 * @local_dma_lkey: key for all DMA addresses, with IBK_LOCAL_DMA_LKEY
 * @is_switch: the device is a switch, whose only port has number 0
 * @kverbs_provider: has every operation that kernel consumers need
 * @use_cq_dim: the core adapts CQ moderation (DIM)
 * @node_type: enum rdma_node_type
 * @phys_port_cnt: ports
 * @attrs: limits and capabilities
 * @hw_stats_data: counters of the device in sysfs
 * @index: number of the device in netlink
 * @res: tracked objects
 * @driver_def: the driver's own uverbs methods and attributes
 * @cg_device: limits of control groups on the device
 * @refcount: 0 if not registered; ib_device_try_get() takes a reference
 * @link_ops: RDMA link type that created the device
 * @iw_ifname: network interface for iWARP port mapping
 * @iw_driver_flags: IW_F_*
 * @lag_flags: enum rdma_lag_flags
 * @type: type of device, for a sub-device
 * @parent: parent of a sub-device
 * @name_assign_type: whether a user or the core chose the name
 * @core: state private to ib_core
 *
 * The driver fills the members down to @attrs that it knows before
 * ib_register_device().
 */
struct ib_device {
	struct device			*dma_device;
	struct ib_device_ops		ops;
	char				name[IB_DEVICE_NAME_MAX];
	struct rcu_head			rcu_head;
	struct xarray			client_data;
	struct ib_port_data		*port_data;
	int				num_comp_vectors;
	union {
		struct device		dev;
		struct ib_core_device	coredev;
	};
	u64				uverbs_cmd_mask;
	char				node_desc[IB_DEVICE_NODE_DESC_MAX];
	__be64				node_guid;
	u32				local_dma_lkey;
	u16				is_switch:1;
	u16				kverbs_provider:1;
	u16				use_cq_dim:1;
	u8				node_type;
	u32				phys_port_cnt;
	struct ib_device_attr		attrs;
	struct hw_stats_device_data	*hw_stats_data;
	u32				index;
	struct rdma_restrack_root	*res;
	const struct uapi_definition	*driver_def;
#ifdef CONFIG_CGROUP_RDMA
	struct rdmacg_device		cg_device;
#endif
	refcount_t			refcount;
	const struct rdma_link_ops	*link_ops;
	char				iw_ifname[IFNAMSIZ];
	u32				iw_driver_flags;
	u32				lag_flags;
	enum rdma_nl_dev_type		type;
	struct ib_device		*parent;
	enum rdma_nl_name_assign_type	name_assign_type;
	struct rdma_device_core		*core;
};

/**
 * rdma_zalloc_obj() - allocate zeroed memory for an object that the core allocates
 * @dev: device
 * @size: bytes, including the driver's part
 * @gfp: GFP flags
 * @is_numa_aware: allocate on the NUMA node of the device, if the driver knows it
 *
 * Return: the memory or NULL.
 */
static inline void *rdma_zalloc_obj(struct ib_device *dev, size_t size,
				    gfp_t gfp, bool is_numa_aware)
{
	if (is_numa_aware && dev->ops.get_numa_node)
		return kzalloc_node(size, gfp, dev->ops.get_numa_node(dev));
	return kzalloc(size, gfp);
}

#define rdma_zalloc_drv_obj_gfp(ib_dev, ib_type, gfp)					\
	((struct ib_type *)rdma_zalloc_obj((ib_dev), (ib_dev)->ops.size_##ib_type, (gfp), false))

#define rdma_zalloc_drv_obj_numa(ib_dev, ib_type)					\
	((struct ib_type *)rdma_zalloc_obj((ib_dev), (ib_dev)->ops.size_##ib_type,	\
					   GFP_KERNEL, true))

#define rdma_zalloc_drv_obj(ib_dev, ib_type)						\
	rdma_zalloc_drv_obj_gfp(ib_dev, ib_type, GFP_KERNEL)

/**
 * struct ib_client - a user of RDMA devices: a ULP or a part of the core
 * @name: name
 * @add: called for a new device; returns 0, -EOPNOTSUPP if the device is of no interest, or
 *	another error
 * @remove: called before a device is removed; the client must destroy its objects on the device
 *	before it returns
 * @rename: called after a device got a new name
 * @get_nl_info: reports the client's character device of an RDMA device
 * @get_global_nl_info: reports the client's own character device
 * @get_net_dev_by_params: finds a network interface by the addresses in a connection request;
 *	the caller puts it
 * @uses: private to the core
 * @uses_zero: private to the core
 * @client_id: the client's number, index in ib_device.client_data
 * @no_kverbs_req: the client also wants devices that lack operations for kernel consumers
 */
struct ib_client {
	const char *name;
	int (*add)(struct ib_device *ibdev);
	void (*remove)(struct ib_device *dev, void *client_data);
	void (*rename)(struct ib_device *dev, void *client_data);
	int (*get_nl_info)(struct ib_device *ibdev, void *client_data,
			   struct ib_client_nl_info *res);
	int (*get_global_nl_info)(struct ib_client_nl_info *res);

	struct net_device *(*get_net_dev_by_params)(
			struct ib_device *dev,
			u32 port,
			u16 pkey,
			const union ib_gid *gid,
			const struct sockaddr *addr,
			void *client_data);

	refcount_t uses;
	struct completion uses_zero;
	u32 client_id;

	u8 no_kverbs_req:1;
};

struct ib_device *_ib_alloc_device(size_t size);

/**
 * ib_alloc_device() - allocate a device inside the driver's structure
 * @drv_struct: tag of the driver's structure
 * @member: its struct ib_device, the first member
 *
 * Context: may sleep.
 * Return: the driver's structure or NULL.
 */
#define ib_alloc_device(drv_struct, member)						\
	container_of(_ib_alloc_device(sizeof(struct drv_struct) +			\
			BUILD_BUG_ON_ZERO(offsetof(struct drv_struct, member) != 0)),	\
		     struct drv_struct, member)

void ib_dealloc_device(struct ib_device *device);

void ib_get_device_fw_str(struct ib_device *device, char *str);

int ib_register_device(struct ib_device *device, const char *name,
		       struct device *dma_device);

void ib_unregister_device(struct ib_device *device);

void ib_unregister_driver(enum rdma_driver_id driver_id);

void ib_unregister_device_and_put(struct ib_device *device);

void ib_unregister_device_queued(struct ib_device *ib_dev);

int ib_register_client(struct ib_client *client);

void ib_unregister_client(struct ib_client *client);

/**
 * ib_get_client_data() - get a client's data for a device
 * @device: device
 * @client: client
 *
 * Return: the pointer given to ib_set_client_data(), or NULL.
 */
static inline void *ib_get_client_data(struct ib_device *device, struct ib_client *client)
{
	unsigned long slot = client->client_id;

	return xa_load(&device->client_data, slot);
}

void  ib_set_client_data(struct ib_device *device, struct ib_client *client,
			 void *data);

void ib_set_device_ops(struct ib_device *device,
		       const struct ib_device_ops *ops);

/**
 * ib_device_try_get() - take a reference that keeps a device registered
 * @dev: device whose memory cannot be freed during the call
 *
 * Return: false if it is not registered any more; otherwise true, and the caller must call
 * ib_device_put().
 */
static inline bool ib_device_try_get(struct ib_device *dev)
{
	return refcount_inc_not_zero(&dev->refcount);
}

void ib_device_put(struct ib_device *device);

struct ib_device *ib_device_get_by_netdev(struct net_device *ndev,
					  enum rdma_driver_id driver_id);

struct ib_device *ib_device_get_by_name(const char *name,
					enum rdma_driver_id driver_id);

struct net_device *ib_get_net_dev_by_params(struct ib_device *dev, u32 port,
					    u16 pkey, const union ib_gid *gid,
					    const struct sockaddr *addr);

int ib_device_set_netdev(struct ib_device *ib_dev, struct net_device *ndev, u32 port);

struct net_device *ib_device_get_netdev(struct ib_device *ib_dev,
					u32 port);

int ib_query_port(struct ib_device *device,
		  u32 port_num, struct ib_port_attr *port_attr);

enum rdma_link_layer rdma_port_get_link_layer(struct ib_device *device,
					      u32 port_num);

int ib_query_pkey(struct ib_device *device,
		  u32 port_num, u16 index, u16 *pkey);

int ib_modify_device(struct ib_device *device,
		     int device_modify_mask,
		     struct ib_device_modify *device_modify);

int ib_modify_port(struct ib_device *device,
		   u32 port_num, int port_modify_mask,
		   struct ib_port_modify *port_modify);

int ib_find_gid(struct ib_device *device, union ib_gid *gid,
		u32 *port_num, u16 *index);

int ib_find_pkey(struct ib_device *device,
		 u32 port_num, u16 pkey, u16 *index);

int ib_set_vf_link_state(struct ib_device *device, int vf, u32 port,
			 int state);

int ib_get_vf_config(struct ib_device *device, int vf, u32 port,
		     struct ifla_vf_info *info);

int ib_get_vf_stats(struct ib_device *device, int vf, u32 port,
		    struct ifla_vf_stats *stats);

int ib_get_vf_guid(struct ib_device *device, int vf, u32 port,
		   struct ifla_vf_guid *node_guid,
		    struct ifla_vf_guid *port_guid);

int ib_set_vf_guid(struct ib_device *device, int vf, u32 port, u64 guid,
		   int type);

int ib_get_eth_speed(struct ib_device *dev, u32 port_num, u16 *speed,
		     u8 *width);

void rdma_roce_rescan_device(struct ib_device *ibdev);

void rdma_roce_rescan_port(struct ib_device *ib_dev, u32 port);

void roce_del_all_netdev_gids(struct ib_device *ib_dev,
			      u32 port, struct net_device *ndev);

bool rdma_dev_access_netns(const struct ib_device *device,
			   const struct net *net);

const struct ib_port_immutable*
ib_port_immutable_read(struct ib_device *dev, unsigned int port);

int ib_add_sub_device(struct ib_device *parent,
		      enum rdma_nl_dev_type type,
		      const char *name);

int ib_del_sub_device_and_put(struct ib_device *sub);

/**
 * rdma_device_to_ibdev() - get the RDMA device of a class device
 * @device: class device, in any network namespace
 *
 * Return: the RDMA device.
 */
static inline struct ib_device *rdma_device_to_ibdev(struct device *device)
{
	return container_of(device, struct ib_core_device, dev)->owner;
}

#define rdma_device_to_drv_device(dev, drv_dev_struct, ibdev_member)			\
	container_of(rdma_device_to_ibdev(dev), drv_dev_struct, ibdev_member)

/**
 * ibdev_to_node() - get the NUMA node of a device
 * @ibdev: device
 *
 * Return: node of the parent device, or NUMA_NO_NODE.
 */
static inline int ibdev_to_node(struct ib_device *ibdev)
{
	return ibdev->dev.parent ? dev_to_node(ibdev->dev.parent) : NUMA_NO_NODE;
}

/**
 * ib_mark_name_assigned_by_user() - record that a user chose the device's name
 * @ibdev: device
 */
static inline void ib_mark_name_assigned_by_user(struct ib_device *ibdev)
{
	ibdev->name_assign_type = RDMA_NAME_ASSIGN_TYPE_USER;
}

#endif /* RDMA_VERBS_DEVICE_H */
