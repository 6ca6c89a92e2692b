/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Connections of an id, behind which stands one of three transports: ib_cm's connections, ib_cm's
 * service resolution for datagrams, or iw_cm.
 *
 * Circle: conn_ib, conn_iw, conn_sidr, qp: a QP's attributes are its transport's to say, and events
 * of the transport take the QP from state to state.
 */
#ifndef RDMA_CMA_CONNECT_H
#define RDMA_CMA_CONNECT_H

#include "cma_priv.h"
#include "ipcm.h"

/* Exponent of the time in which a CM is to answer, 4.096 us << 20, and how often it is asked. */
#define CMA_CM_RESPONSE_TIMEOUT	20
#define CMA_CM_RETRIES		15
/*
 * A consumer may take 4.096 us << 24 for its answer; the message is sent only to a peer that
 * repeats.
 */
#define CMA_CM_MRA		(IB_CM_MRA_FLAG_DELAY | 24)

/**
 * struct cma_transport - how ids of one transport talk to their peers
 * @connect: send a request
 * @accept: accept the peer's request
 * @confirm: accept the peer's response, for an id without a QP of its own; NULL where there is none
 * @reject: turn the peer down
 * @disconnect: end the connection, or agree to its end
 * @qp_attr: attributes of the QP's next state; sets *mask
 *
 * All are called with the id's cm_id set, except connect, which sets it, and qp_attr; connect,
 * accept and confirm with the handler lock held.
 */
struct cma_transport {
	int (*connect)(struct cma_id *id, const struct rdma_conn_param *param);
	int (*accept)(struct cma_id *id, const struct rdma_conn_param *param);
	int (*confirm)(struct cma_id *id);
	int (*reject)(struct cma_id *id, const void *data, u8 len, u8 reason);
	int (*disconnect)(struct cma_id *id);
	int (*qp_attr)(struct cma_id *id, struct ib_qp_attr *attr, int *mask);
};

extern const struct cma_transport cma_transport_ib;	/* conn_ib.c */
extern const struct cma_transport cma_transport_sidr;	/* conn_sidr.c */
extern const struct cma_transport cma_transport_iw;	/* conn_iw.c */

/* ---- qp.c ---- */

const struct cma_transport *cma_transport(const struct cma_id *id);
int cma_ib_port_attr(struct cma_id *id, struct ib_qp_attr *attr, int *mask);
int cma_qp_to_rtr(struct cma_id *id, const struct rdma_conn_param *param);
int cma_qp_to_rts(struct cma_id *id, const struct rdma_conn_param *param);
int cma_qp_to_err(struct cma_id *id);

/* ---- conn_ib.c ---- */

/**
 * struct cma_request_data - private data of a request that goes out
 * @len: bytes
 * @bytes: header with the addresses, if the id has such, and the consumer's data
 */
struct cma_request_data {
	u8 len;
	u8 bytes[IB_CM_SIDR_REQ_PRIVATE_DATA_SIZE];
};

int cma_request_data(struct cma_id *id, const struct rdma_conn_param *param, size_t room,
		     struct cma_request_data *data);
struct cma_request_data *cma_ib_begin(struct cma_id *id, const struct rdma_conn_param *param,
				      size_t room, ib_cm_handler handler);
void cma_ib_abort(struct cma_id *id);
int cma_ib_event(struct ib_cm_id *cm_id, const struct ib_cm_event *event);

/* ---- conn_iw.c ---- */

int cma_iw_event(struct iw_cm_id *cm_id, struct iw_cm_event *event);

#endif /* RDMA_CMA_CONNECT_H */
