/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A request of a peer, as request.c reads it from ib_cm's event.
 */
#ifndef RDMA_CMA_REQUEST_H
#define RDMA_CMA_REQUEST_H

#include "cma_priv.h"
#include "ipcm.h"

/**
 * struct cma_request - a request for a connection or for a datagram service
 * @device: device that it has reached
 * @port_num: its port
 * @service_id: the service that it asks for
 * @pkey: partition
 * @flow_label: flow label of the path
 * @sgid: own GID, zeroes if not known
 * @dgid: the peer's
 * @has_gids: both are known from the request's path
 * @sgid_attr: own GID's entry, or NULL; held by ib_cm as long as its handler runs
 * @qp_type: type of QP that the peer has
 * @ends: addresses: those of the private data, or else AF_IB
 * @ndev: interface that it has reached, with a reference; NULL for AF_IB
 */
struct cma_request {
	struct ib_device *device;
	u32 port_num;
	__be64 service_id;
	u16 pkey;
	__be32 flow_label;
	union ib_gid sgid;
	union ib_gid dgid;
	bool has_gids;
	const struct ib_gid_attr *sgid_attr;
	enum ib_qp_type qp_type;
	struct ipcm_ends ends;
	struct net_device *ndev;
};

#if IS_ENABLED(CONFIG_KUNIT)
int cma_read_request(struct cma_request *request, const struct ib_cm_event *event);
void cma_fill_ib_ends(struct cma_request *request);
#endif

#endif /* RDMA_CMA_REQUEST_H */
