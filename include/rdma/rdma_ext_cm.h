/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Extensions of the communication manager to Linux 6.12: alternate paths of connections, listeners
 * for a part of a service's requests, peer-to-peer connections, handing over of requests, posting
 * of receives before the REP is sent, redirection of datagram services, and leaving of multicast
 * groups by address.
 */
#ifndef RDMA_EXT_CM_H
#define RDMA_EXT_CM_H

#include <rdma/ib_cm.h>

struct rdma_cm_id;

int ib_send_cm_lap(struct ib_cm_id *cm_id, struct sa_path_rec *alternate_path,
		   const void *private_data, u8 private_data_len);

int ib_send_cm_apr(struct ib_cm_id *cm_id, enum ib_cm_apr_status status, const void *info,
		   u8 info_length, const void *private_data, u8 private_data_len);

/* The address of a listener that its device does not have any more. */
enum ib_cm_listen_error {
	IB_CM_LISTEN_PORT_GUID = 1,
	IB_CM_LISTEN_LID,
	IB_CM_LISTEN_PKEY,
};

/* Called once; may sleep; if it does not return 0 the id is destroyed afterwards. */
typedef int (*ib_cm_listen_error_handler)(struct ib_cm_id *cm_id, enum ib_cm_listen_error error);

/**
 * struct ib_cm_listen_param - the requests that a listener accepts
 * @service_id: service ID, as for ib_cm_listen()
 * @port_guid: only requests that arrive at the port with this GUID (the interface id of its first
 *	GID), in network byte order; 0 for any port
 * @lid: only requests sent to this LID; 0 for any
 * @pkey: only requests with this P_Key, regardless of the membership bit; 0 for any
 * @offset: offset of the private data that are compared
 * @length: number of bytes that are compared; 0 for none
 * @data: the bytes that they must equal
 * @error_handler: called when the device does not have an address given here any more; or NULL
 */
struct ib_cm_listen_param {
	__be64				service_id;
	__be64				port_guid;
	u16				lid;
	u16				pkey;
	u8				offset;
	u8				length;
	const void			*data;
	ib_cm_listen_error_handler	error_handler;
};

int ib_cm_listen_directed(struct ib_cm_id *cm_id, const struct ib_cm_listen_param *param);

int ib_cm_handoff(struct ib_cm_id *cm_id, const struct ib_cm_event *event, __be64 service_id);

int ib_send_cm_req_peer(struct ib_cm_id *cm_id, struct ib_cm_req_param *param);

int ib_send_cm_rep_recv(struct ib_cm_id *cm_id, struct ib_cm_rep_param *param, struct ib_qp *qp,
			const struct ib_recv_wr *recv_wr, const struct ib_recv_wr **bad_recv_wr);

int ib_send_cm_sidr_redirect(struct ib_cm_id *cm_id, const struct ib_class_port_info *where,
			     const void *private_data, u8 private_data_len);

int ib_cm_sidr_follow(struct ib_cm_id *cm_id, const struct ib_cm_event *event,
		      const struct ib_cm_sidr_req_param *param);

void rdma_leave_multicast_of(struct rdma_cm_id *id, const void *context);

#endif /* RDMA_EXT_CM_H */
