/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The messages of the communication manager in host byte order, and their codec.
 *
 * Local and remote are words of the sender: in a message that was received, @local_id is the
 * peer's id and @remote_id is ours. Private data and additional information are not copied: they
 * point into the caller's buffer when a message is packed, and into the datagram when it is
 * unpacked.
 */
#ifndef RDMA_CM_MSG_H
#define RDMA_CM_MSG_H

#include <linux/types.h>
#include <rdma/ib_cm.h>

/* Version of the communication management class. */
#define CM_CLASS_VERSION	2

/* Bytes of a datagram with a message of the communication manager. */
#define CM_MAD_SIZE		256

/* The messages, in the order of their attribute ids, which begin with that of REQ. */
enum cm_msg_type {
	CM_MSG_REQ,
	CM_MSG_MRA,
	CM_MSG_REJ,
	CM_MSG_REP,
	CM_MSG_RTU,
	CM_MSG_DREQ,
	CM_MSG_DREP,
	CM_MSG_SIDR_REQ,
	CM_MSG_SIDR_REP,
	CM_MSG_LAP,
	CM_MSG_APR,
	CM_MSG_TYPES,
};

/* Which message an MRA or REJ answers. */
enum cm_about {
	CM_ABOUT_REQ = 0,
	CM_ABOUT_REP = 1,
	CM_ABOUT_OTHER = 2,	/* MRA: a LAP; REJ: no message, the connection as a whole */
};

/* Transport service types of a REQ; with the extended one comes an extended transport type. */
enum cm_transport {
	CM_TRANSPORT_RC = 0,
	CM_TRANSPORT_UC = 1,
	CM_TRANSPORT_RD = 2,
	CM_TRANSPORT_EXTENDED = 3,
};

/* Extended transport types. */
enum cm_extended_transport {
	CM_EXTENDED_XRC = 1,
};

/**
 * struct cm_path - a path as REQ and LAP describe it, seen by the sender of the message
 * @local_gid: GID of the sender's port
 * @remote_gid: GID of the receiver's port
 * @local_lid: LID of the sender's port, 0xffff if the path leaves the subnet
 * @remote_lid: LID of the receiver's port, 0xffff if the path leaves the subnet
 * @flow_label: 20 bits
 * @rate: enum ib_rate
 * @traffic_class: traffic class of the GRH
 * @hop_limit: hop limit of the GRH
 * @sl: service level, 4 bits
 * @subnet_local: 1: the path does not leave the subnet
 * @ack_timeout: local ACK timeout, 5 bits, 4.096 us * 2^n
 */
struct cm_path {
	union ib_gid	local_gid;
	union ib_gid	remote_gid;
	u16		local_lid;
	u16		remote_lid;
	u32		flow_label;
	u8		rate;
	u8		traffic_class;
	u8		hop_limit;
	u8		sl;
	u8		subnet_local;
	u8		ack_timeout;
};

/**
 * struct cm_req - request for a connection
 * @service_id: service that is asked for
 * @ca_guid: node GUID of the sender's channel adapter
 * @vendor_id: vendor ID of the enhanced connection establishment, 24 bits
 * @qkey: Q_Key of the sender's QP, for transports that use one
 * @qpn: the sender's QP, 24 bits
 * @eecn: the sender's end-to-end context, 24 bits
 * @remote_eecn: the receiver's end-to-end context, 24 bits
 * @starting_psn: PSN with which the receiver of this REQ begins to send, 24 bits
 * @pkey: partition key
 * @responder_resources: RDMA READs and atomics that the sender takes at a time
 * @initiator_depth: RDMA READs and atomics that the sender wants to have under way
 * @remote_response_timeout: time the sender gives the receiver to answer, 4.096 us * 2^n, 5 bits
 * @local_response_timeout: time within which the sender answers a REP, paths included, 5 bits
 * @transport: enum cm_transport
 * @extended_transport: enum cm_extended_transport
 * @flow_control: 1: end-to-end flow control
 * @retry_count: 3 bits
 * @rnr_retry_count: 3 bits
 * @mtu: enum ib_mtu
 * @rdc_exists: 1: a reliable datagram channel is there already
 * @max_cm_retries: how often each side sends a message once more, 4 bits
 * @srq: 1: the sender's QP has a shared receive queue
 * @sap_supported: 1: the sender takes suggestions of alternate paths
 * @primary: the path
 * @alternate: the alternate path; there is none if its @local_gid and @local_lid are 0
 */
struct cm_req {
	u64		service_id;
	u64		ca_guid;
	u32		vendor_id;
	u32		qkey;
	u32		qpn;
	u32		eecn;
	u32		remote_eecn;
	u32		starting_psn;
	u16		pkey;
	u8		responder_resources;
	u8		initiator_depth;
	u8		remote_response_timeout;
	u8		local_response_timeout;
	u8		transport;
	u8		extended_transport;
	u8		flow_control;
	u8		retry_count;
	u8		rnr_retry_count;
	u8		mtu;
	u8		rdc_exists;
	u8		max_cm_retries;
	u8		srq;
	u8		sap_supported;
	struct cm_path	primary;
	struct cm_path	alternate;
};

/**
 * struct cm_mra - the message named has arrived, and the answer will take longer
 * @about: enum cm_about: what has arrived
 * @service_timeout: time until the answer, 4.096 us * 2^n, 5 bits
 */
struct cm_mra {
	u8		about;
	u8		service_timeout;
};

/**
 * struct cm_rej - refusal
 * @about: enum cm_about: what is refused
 * @reason: enum ib_cm_rej_reason, or a number that has no name here
 * @info_length: bytes of @info that count, at most IB_CM_REJ_ARI_LENGTH
 * @info: additional information; unpacked it points to IB_CM_REJ_ARI_LENGTH bytes
 */
struct cm_rej {
	u8		about;
	u16		reason;
	u8		info_length;
	const u8	*info;
};

/**
 * struct cm_rep - acceptance
 * @ca_guid: node GUID of the sender's channel adapter
 * @vendor_id: vendor ID of the enhanced connection establishment, 24 bits
 * @qkey: Q_Key of the sender's QP
 * @qpn: the sender's QP, 24 bits; XRC: the QP stands in @eecn
 * @eecn: the sender's end-to-end context or, with XRC, its QP, 24 bits
 * @starting_psn: PSN with which the receiver of this REP begins to send, 24 bits
 * @responder_resources: RDMA READs and atomics that the sender takes at a time
 * @initiator_depth: RDMA READs and atomics that the sender will have under way
 * @target_ack_delay: time the sender's adapter takes to acknowledge, 4.096 us * 2^n, 5 bits
 * @failover_accepted: answer about the alternate path of the REQ, 2 bits, 0: accepted
 * @flow_control: 1: end-to-end flow control
 * @rnr_retry_count: 3 bits
 * @srq: 1: the sender's QP has a shared receive queue
 */
struct cm_rep {
	u64		ca_guid;
	u32		vendor_id;
	u32		qkey;
	u32		qpn;
	u32		eecn;
	u32		starting_psn;
	u8		responder_resources;
	u8		initiator_depth;
	u8		target_ack_delay;
	u8		failover_accepted;
	u8		flow_control;
	u8		rnr_retry_count;
	u8		srq;
};

/**
 * struct cm_dreq - a request to end the connection
 * @remote_qpn: QP (or end-to-end context) of the receiver, 24 bits
 */
struct cm_dreq {
	u32		remote_qpn;
};

/**
 * struct cm_sidr_req - question for the QP of a datagram service; the request id is @local_id
 * @service_id: the service
 * @pkey: partition key
 */
struct cm_sidr_req {
	u64		service_id;
	u16		pkey;
};

/**
 * struct cm_sidr_rep - the answer; the request id is @remote_id
 * @service_id: the service
 * @vendor_id: vendor ID of the enhanced connection establishment, 24 bits
 * @qpn: QP of the service, 24 bits
 * @qkey: Q_Key of the service
 * @status: enum ib_cm_sidr_status, or a number that has no name here
 * @info_length: bytes of @info that count, at most IB_CM_SIDR_REP_INFO_LENGTH
 * @info: additional information: with a redirection where to ask, as in ClassPortInfo;
 *	unpacked it points to IB_CM_SIDR_REP_INFO_LENGTH bytes
 */
struct cm_sidr_rep {
	u64		service_id;
	u32		vendor_id;
	u32		qpn;
	u32		qkey;
	u8		status;
	u8		info_length;
	const u8	*info;
};

/**
 * struct cm_lap - load this alternate path
 * @remote_qpn: QP (or end-to-end context) of the receiver, 24 bits
 * @remote_response_timeout: time the sender gives the receiver to answer, 4.096 us * 2^n, 5 bits
 * @alternate: the path
 */
struct cm_lap {
	u32		remote_qpn;
	u8		remote_response_timeout;
	struct cm_path	alternate;
};

/**
 * struct cm_apr - answer to a LAP
 * @status: enum ib_cm_apr_status, or a number that has no name here
 * @info_length: bytes of @info that count, at most IB_CM_APR_INFO_LENGTH
 * @info: additional information; unpacked it points to IB_CM_APR_INFO_LENGTH bytes
 */
struct cm_apr {
	u8		status;
	u8		info_length;
	const u8	*info;
};

/**
 * struct cm_msg - any message
 * @type: which, and therefore which member of the union counts; RTU and DREP have none
 * @tid: transaction id
 * @attr_mod: attribute modifier: the options of the enhanced connection establishment in REQ, REP
 *	and SIDR_REP, else 0
 * @local_id: communication id of the sender (SIDR_REQ: the request id); SIDR_REP has none
 * @remote_id: communication id of the receiver (SIDR_REP: the request id); REQ and SIDR_REQ have
 *	none
 * @private_data: private data of the consumer; unpacked it points to all bytes that the message has
 *	room for
 * @private_data_len: how many bytes are packed, the rest is 0; unpacked all that there is room
 *	for, since the message does not say how many count
 * @req: REQ
 * @mra: MRA
 * @rej: REJ
 * @rep: REP
 * @dreq: DREQ
 * @sidr_req: SIDR_REQ
 * @sidr_rep: SIDR_REP
 * @lap: LAP
 * @apr: APR
 */
struct cm_msg {
	enum cm_msg_type	type;
	u64			tid;
	u32			attr_mod;
	u32			local_id;
	u32			remote_id;
	const u8		*private_data;
	u8			private_data_len;
	union {
		struct cm_req		req;
		struct cm_mra		mra;
		struct cm_rej		rej;
		struct cm_rep		rep;
		struct cm_dreq		dreq;
		struct cm_sidr_req	sidr_req;
		struct cm_sidr_rep	sidr_rep;
		struct cm_lap		lap;
		struct cm_apr		apr;
	};
};

/* @mad: CM_MAD_SIZE bytes; packing writes them all, the header too. */
int cm_msg_pack(const struct cm_msg *msg, void *mad);
int cm_msg_unpack(struct cm_msg *msg, const void *mad);

/* Which message a datagram's attribute id says, in network byte order; CM_MSG_TYPES: none. */
enum cm_msg_type cm_msg_type_of(__be16 attr_id);
__be16 cm_msg_attr_id(enum cm_msg_type type);
/* Bytes of private data a message has room for. */
u8 cm_msg_private_data_size(enum cm_msg_type type);

/* 0 or the reason (enum ib_cm_rej_reason) for which a REQ cannot be served whoever listens. */
u16 cm_req_refusal(const struct cm_req *req);
bool cm_req_has_alternate(const struct cm_req *req);
/* The QP type at the receiver of a REQ, 0: none that there is; and the transport of a type. */
enum ib_qp_type cm_req_qp_type(const struct cm_req *req);
int cm_req_set_qp_type(struct cm_req *req, enum ib_qp_type qp_type);
/* The sender's QP in a REP for a QP of ours of this type. */
u32 cm_rep_qpn(const struct cm_rep *rep, enum ib_qp_type qp_type);
void cm_rep_set_qpn(struct cm_rep *rep, enum ib_qp_type qp_type, u32 qpn);

const char *cm_msg_name(enum cm_msg_type type);
const char *cm_rej_reason_name(unsigned int reason);

#endif
