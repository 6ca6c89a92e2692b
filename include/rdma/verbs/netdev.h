/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Network devices that an RDMA driver provides for a ULP.
 */
#ifndef RDMA_VERBS_NETDEV_H
#define RDMA_VERBS_NETDEV_H

#include <linux/netdevice.h>
#include <rdma/verbs/types.h>

enum rdma_netdev_t {
	RDMA_NETDEV_OPA_VNIC,
	RDMA_NETDEV_IPOIB,
};

/**
 * struct rdma_netdev - private data of a network device that an RDMA driver provides
 * @clnt_priv: private to the ULP
 * @hca: device
 * @port_num: port
 * @mtu: largest payload of a frame, in bytes
 * @free_rdma_netdev: frees what the driver allocated for it
 * @set_id: sets the identifier of an OPA VNIC
 * @send: sends a frame to an address
 * @attach_mcast: joins a multicast group
 * @detach_mcast: leaves a multicast group
 * @tx_timeout: called when a transmit queue has made no progress
 */
struct rdma_netdev {
	void              *clnt_priv;
	struct ib_device  *hca;
	u32		   port_num;
	int                mtu;

	void (*free_rdma_netdev)(struct net_device *netdev);

	void (*set_id)(struct net_device *netdev, int id);

	int (*send)(struct net_device *dev, struct sk_buff *skb,
		    struct ib_ah *address, u32 dqpn);

	int (*attach_mcast)(struct net_device *dev, struct ib_device *hca,
			    union ib_gid *gid, u16 mlid,
			    int set_qkey, u32 qkey);
	int (*detach_mcast)(struct net_device *dev, struct ib_device *hca,
			    union ib_gid *gid, u16 mlid);

	void (*tx_timeout)(struct net_device *dev, unsigned int txqueue);
};

/**
 * struct rdma_netdev_alloc_params - parameters of a new network device
 * @sizeof_priv: bytes of the private data, struct rdma_netdev included
 * @txqs: number of transmit queues
 * @rxqs: number of receive queues
 * @param: argument of @initialize_rdma_netdev
 * @initialize_rdma_netdev: initialises a new network device
 */
struct rdma_netdev_alloc_params {
	size_t sizeof_priv;
	unsigned int txqs;
	unsigned int rxqs;
	void *param;

	int (*initialize_rdma_netdev)(struct ib_device *device, u32 port_num,
				      struct net_device *netdev, void *param);
};

struct net_device *rdma_alloc_netdev(struct ib_device *device, u32 port_num,
				     enum rdma_netdev_t type, const char *name,
				     unsigned char name_assign_type,
				     void (*setup)(struct net_device *));

int rdma_init_netdev(struct ib_device *device, u32 port_num,
		     enum rdma_netdev_t type, const char *name,
		     unsigned char name_assign_type,
		     void (*setup)(struct net_device *),
		     struct net_device *netdev);

#endif /* RDMA_VERBS_NETDEV_H */
