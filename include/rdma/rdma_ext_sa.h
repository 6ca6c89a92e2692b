/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Extensions of subnet administration to Linux 6.12: any attribute, tables, services, notices.
 */
#ifndef RDMA_EXT_SA_H
#define RDMA_EXT_SA_H

#include <rdma/ib_sa.h>

/* Any attribute ------------------------------------------------------------------------------ */

/**
 * struct ib_sa_attr_query - a query of any attribute
 * @method: IB_MGMT_METHOD_GET or _SET, IB_SA_METHOD_GET_TABLE or _DELETE
 * @attr_id: IB_SA_ATTR_*
 * @attr_mod: attribute modifier
 * @comp_mask: valid components of the record, IB_SA_COMP_MASK() of each
 * @attribute: the record in wire format; may be NULL if @comp_mask is 0
 * @size: its bytes, at most IB_MGMT_SA_DATA
 */
struct ib_sa_attr_query {
	u8 method;
	u16 attr_id;
	u32 attr_mod;
	ib_sa_comp_mask comp_mask;
	const void *attribute;
	unsigned int size;
};

/**
 * struct ib_sa_table - records of a response
 * @count: their number; 0 if none matches
 * @size: bytes of each
 * @mad_status: status of the response, in host byte order; not 0 if the SA refused the query
 * @records: the records one after another, in wire format
 */
struct ib_sa_table {
	unsigned int count;
	unsigned int size;
	u16 mad_status;
	const u8 *records;
};

static inline const void *ib_sa_table_record(const struct ib_sa_table *table, unsigned int index)
{
	return table->records + (size_t)index * table->size;
}

/* Common queries; see ib_sa_attr_query_init(). */
enum ib_sa_query_type {
	IB_SA_QUERY_ALL_SERVICES,
	IB_SA_QUERY_SERVICE_BY_NAME,
	IB_SA_QUERY_SERVICE_BY_ID,
	IB_SA_QUERY_CLASS_PORT_INFO,
	IB_SA_QUERY_NODE_BY_GUID,
	IB_SA_QUERY_PORT_BY_LID,
	IB_SA_QUERY_VL_ARB,
	IB_SA_QUERY_SL2VL,
	IB_SA_QUERY_PATH_BY_GIDS,
	IB_SA_QUERY_PATH_BY_LIDS,
};

/**
 * union ib_sa_query_input - search key of a common query
 * @name: name of a service, up to 63 bytes
 * @service_id: number of a service
 * @node_guid: GUID of a node
 * @lid: LID of a port
 * @vl_arb: LID, port and block of an arbitration table; block 0 is any
 * @sl2vl: LID, input and output port
 * @gids: source and destination of paths
 * @lids: source and destination of paths
 */
union ib_sa_query_input {
	const char *name;
	__be64 service_id;
	__be64 node_guid;
	u16 lid;
	struct {
		u16 lid;
		u8 port;
		u8 block;
	} vl_arb;
	struct {
		u16 lid;
		u8 in_port;
		u8 out_port;
	} sl2vl;
	struct {
		union ib_gid sgid;
		union ib_gid dgid;
	} gids;
	struct {
		u16 slid;
		u16 dlid;
	} lids;
};

int ib_sa_attr_query_init(struct ib_sa_attr_query *query, u8 record[IB_MGMT_SA_DATA],
			  enum ib_sa_query_type type, const union ib_sa_query_input *input);

int ib_sa_query_table(struct ib_sa_client *client, struct ib_device *device, u32 port_num,
		      const struct ib_sa_attr_query *query, unsigned long timeout_ms,
		      gfp_t gfp_mask,
		      void (*callback)(int status, const struct ib_sa_table *table, void *context),
		      void *context, struct ib_sa_query **sa_query);

int ib_sa_classport_info_query(struct ib_sa_client *client, struct ib_device *device,
			       u32 port_num, unsigned long timeout_ms, gfp_t gfp_mask,
			       void (*callback)(int status, struct ib_class_port_info *info,
						void *context),
			       void *context, struct ib_sa_query **sa_query);

/* Services ----------------------------------------------------------------------------------- */

#define IB_SA_SERVICE_NAME_SIZE 64

/**
 * struct ib_sa_service_rec - a service that a port offers
 * @id: number of the service
 * @gid: the port
 * @pkey: partition in which it is offered
 * @lease: remaining lease of the record in seconds, IB_DEFAULT_SERVICE_LEASE for an infinite one
 * @key: needed to change the record
 * @name: name, zero-terminated
 * @data8: for the service
 * @data16: for the service
 * @data32: for the service
 * @data64: for the service
 *
 * In network byte order.
 */
struct ib_sa_service_rec {
	__be64 id;
	union ib_gid gid;
	__be16 pkey;
	__be32 lease;
	u8 key[16];
	u8 name[IB_SA_SERVICE_NAME_SIZE];
	u8 data8[16];
	__be16 data16[8];
	__be32 data32[4];
	__be64 data64[2];
};

void ib_sa_pack_service(struct ib_sa_service_rec *rec, void *attribute);
void ib_sa_unpack_service(const void *attribute, struct ib_sa_service_rec *rec);

int ib_sa_service_rec_query(struct ib_sa_client *client, struct ib_device *device, u32 port_num,
			    u8 method, struct ib_sa_service_rec *rec, ib_sa_comp_mask comp_mask,
			    unsigned long timeout_ms, gfp_t gfp_mask,
			    void (*callback)(int status, struct ib_sa_service_rec *resp,
					     void *context),
			    void *context, struct ib_sa_query **sa_query);

struct ib_sa_service;

struct ib_sa_service *ib_sa_register_service(struct ib_sa_client *client,
					     struct ib_device *device, u32 port_num,
					     const struct ib_sa_service_rec *rec,
					     ib_sa_comp_mask data_mask,
					     void (*callback)(int status,
							      const struct ib_sa_service_rec *rec,
							      void *context),
					     void *context);

void ib_sa_unregister_service(struct ib_sa_service *service);

/* Notices ------------------------------------------------------------------------------------ */

/**
 * struct ib_sa_inform_info - subscription to notices
 * @gid: port concerned by the notices, or 0
 * @lid_range_begin: first LID concerned by the notices, 0xffff for all
 * @lid_range_end: last LID
 * @is_generic: 1 for notices that the specification defines
 * @subscribe: 1 to subscribe, 0 to end it; the core sets it
 * @type: IB_NOTICE_TYPE_* without bit 7, 0xffff for all
 * @trap_num: number of the trap, 0xffff for all
 * @qpn: QP that receives them; the core sets it
 * @resp_time: time within which a notice is acknowledged, 4.096 us << n
 * @producer_type: IB_NOTICE_PROD_*, 0xffffff for all
 *
 * In network byte order.
 */
struct ib_sa_inform_info {
	union ib_gid gid;
	__be16 lid_range_begin;
	__be16 lid_range_end;
	u8 is_generic;
	u8 subscribe;
	__be16 type;
	__be16 trap_num;
	__be32 qpn;
	u8 resp_time;
	__be32 producer_type;
};

/**
 * ib_sa_inform_info_init() - initialise a subscription to all generic notices
 * @info: filled in, and may be narrowed by the caller; the response time is about a second
 */
static inline void ib_sa_inform_info_init(struct ib_sa_inform_info *info)
{
	*info = (struct ib_sa_inform_info) {
		.lid_range_begin = cpu_to_be16(0xffff),
		.is_generic = 1,
		.type = cpu_to_be16(0xffff),
		.trap_num = cpu_to_be16(0xffff),
		.resp_time = 18,
		.producer_type = cpu_to_be32(0xffffff),
	};
}

/**
 * struct ib_sa_notice - a notice
 * @attr: the notice, as its issuer wrote it
 * @issuer_gid: port that issued it
 */
struct ib_sa_notice {
	struct ib_mad_notice_attr attr;
	union ib_gid issuer_gid;
};

struct ib_sa_subscription;

struct ib_sa_subscription *
ib_sa_subscribe(struct ib_sa_client *client, struct ib_device *device, u32 port_num,
		const struct ib_sa_inform_info *info,
		void (*result_cb)(int status, void *context),
		void (*report)(const struct ib_sa_notice *notice, void *context), void *context);

void ib_sa_unsubscribe(struct ib_sa_subscription *subscription);

/* Multicast ---------------------------------------------------------------------------------- */

void ib_sa_keep_multicast(struct ib_sa_multicast *multicast);

#endif /* RDMA_EXT_SA_H */
