// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Compares what the core reads from records, and writes to them, with the bytes that the subnet
 * manager has put on the wire: each record is queried as bytes, and as the core understands it.
 * Offsets are in bytes and bits of the record, as the specification has them.
 */
#include <linux/completion.h>
#include <linux/slab.h>
#include <linux/unaligned.h>
#include <rdma/ib_sa.h>
#include <rdma/rdma_ext_sa.h>

#include "ksa.h"

#define PATH_BYTES	64
#define MCMEMBER_BYTES	52
#define GUIDINFO_BYTES	72
#define SERVICE_BYTES	176
#define INFORM_RECORD_BYTES	60
#define INFORM_AT	24	/* InformInfo in an InformInfoRecord */
#define LIFE	18		/* of packets to the group: 4.096 us << n */
#define SCOPE	2		/* of the group: link-local */

/* What a callback has been given */
struct understood {
	struct completion done;
	int status;
	union {
		struct ib_sa_mcmember_rec member;
		struct ib_sa_guidinfo_rec guidinfo;
		struct ib_class_port_info info;
	} rec;
};

static void understand(struct understood *to, int status, const void *rec, size_t size)
{
	to->status = status;
	if (!status && rec)
		memcpy(&to->rec, rec, size);
	complete(&to->done);
}

/* Waits for the callback of a query of this number. Returns whether it had a record. */
static bool is_understood(struct understood *to, int id)
{
	if (!CHECK(id >= 0))
		return false;
	wait_for_completion(&to->done);
	return CHECK(!to->status);
}

/* Asks for one record of @size bytes by its first ones. Returns whether it came. */
static bool ask_record(struct ib_sa_attr_query query, const void *first, size_t known,
		       struct ksa_answer *answer)
{
	u8 *asked = kzalloc(query.size, GFP_KERNEL);

	if (!CHECK(asked))
		return false;
	memcpy(asked, first, known);
	query.attribute = asked;
	ksa_query(&query, answer);
	kfree(asked);
	return CHECK(!answer->status && answer->count == 1 && answer->size >= query.size);
}

static u32 bits(const u8 *bytes, unsigned int at, unsigned int bit, unsigned int count)
{
	return get_unaligned_be32(bytes + at) << bit >> (32 - count);
}

/* ---- PathRecord ---- */

static void path(const struct ksa_port *port, struct ksa_answer *answer)
{
	const union ib_sa_query_input input = { .gids = { port->gid, port->peer } };
	struct sa_path_rec *rec = kzalloc(sizeof(*rec), GFP_KERNEL);
	u8 *wire = answer->first;
	u8 again[PATH_BYTES];

	ksa_query_type(IB_SA_QUERY_PATH_BY_GIDS, &input, answer);
	if (!CHECK(rec && !answer->status && answer->count && answer->size >= PATH_BYTES)) {
		kfree(rec);
		return;
	}
	ib_sa_unpack_path(wire, rec);
	CHECK(!memcmp(&rec->dgid, wire + 8, 16) && !memcmp(&rec->dgid, &port->peer, 16));
	CHECK(!memcmp(&rec->sgid, wire + 24, 16) && !memcmp(&rec->sgid, &port->gid, 16));
	CHECK(be16_to_cpu(rec->ib.dlid) == bits(wire, 40, 0, 16));
	CHECK(be16_to_cpu(rec->ib.dlid) == port->peer_lid);
	CHECK(be16_to_cpu(rec->ib.slid) == bits(wire, 40, 16, 16));
	CHECK(be32_to_cpu(rec->flow_label) == bits(wire, 44, 4, 20));
	CHECK(rec->hop_limit == wire[47] && rec->traffic_class == wire[48]);
	CHECK(rec->reversible == wire[49] >> 7 && rec->numb_path == (wire[49] & 0x7f));
	CHECK(be16_to_cpu(rec->pkey) == bits(wire, 48, 16, 16));
	CHECK(be16_to_cpu(rec->pkey) == IB_DEFAULT_PKEY_FULL);
	CHECK(be16_to_cpu(rec->qos_class) == bits(wire, 52, 0, 12));
	CHECK(rec->sl == bits(wire, 52, 12, 4));
	CHECK(rec->mtu_selector == wire[54] >> 6 && rec->mtu == (wire[54] & 0x3f) && rec->mtu);
	CHECK(rec->rate_selector == wire[55] >> 6 && rec->rate == (wire[55] & 0x3f) && rec->rate);
	CHECK(rec->packet_life_time_selector == wire[56] >> 6);
	CHECK(rec->packet_life_time == (wire[56] & 0x3f) && rec->packet_life_time);
	CHECK(rec->preference == wire[57]);
	ib_sa_pack_path(rec, again);
	CHECK(!memcmp(again, wire, sizeof(again)));
	kfree(rec);
}

/* ---- MCMemberRecord ---- */

static int joined(int status, struct ib_sa_multicast *multicast)
{
	/* Later reports are about a group that may have been lost, and is left anyway. */
	if (!completion_done(multicast->context))
		understand(multicast->context, status, &multicast->rec, sizeof(multicast->rec));
	return 0;
}

/* Checks the fields of the group */
static void group_fields(const struct ib_sa_mcmember_rec *rec, const u8 *wire)
{
	CHECK(!memcmp(&rec->mgid, wire, 16));
	CHECK(be32_to_cpu(rec->qkey) == bits(wire, 32, 0, 32));
	CHECK(be16_to_cpu(rec->mlid) == bits(wire, 36, 0, 16));
	CHECK(be16_to_cpu(rec->mlid) >= 0xc000 && be16_to_cpu(rec->mlid) < 0xffff);
	CHECK(rec->mtu_selector == wire[38] >> 6 && rec->mtu_selector == IB_SA_EQ);
	CHECK(rec->mtu == (wire[38] & 0x3f) && rec->mtu);
	CHECK(rec->traffic_class == wire[39]);
	CHECK(be16_to_cpu(rec->pkey) == bits(wire, 40, 0, 16));
	CHECK(be16_to_cpu(rec->pkey) == IB_DEFAULT_PKEY_FULL);
	CHECK(rec->rate_selector == wire[42] >> 6 && rec->rate_selector == IB_SA_EQ);
	CHECK(rec->rate == (wire[42] & 0x3f) && rec->rate);
	CHECK(rec->packet_life_time_selector == wire[43] >> 6);
	CHECK(rec->packet_life_time_selector == IB_SA_EQ);
	CHECK(rec->packet_life_time == (wire[43] & 0x3f) && rec->packet_life_time == LIFE);
	CHECK(rec->sl == bits(wire, 44, 0, 4));
	CHECK(be32_to_cpu(rec->flow_label) == bits(wire, 44, 4, 20));
	CHECK(rec->hop_limit == wire[47]);
	CHECK(rec->scope == wire[48] >> 4 && rec->scope == SCOPE);
}

/* Checks the fields of the member, which the manager sends only to the member */
static void member_fields(const struct ib_sa_mcmember_rec *rec, const u8 *wire)
{
	CHECK(!memcmp(&rec->port_gid, wire + 16, 16));
	CHECK(rec->join_state == (wire[48] & 0xf) && rec->join_state == 1);
	CHECK(rec->proxy_join == wire[49] >> 7 && !rec->proxy_join);
}

/*
 * A member that joins once more gets the same answer again: this shows the bytes of an answer that
 * the core has read. Other nodes can query the group, but no member.
 */
static void member_bytes(const struct ksa_port *port, const struct ib_sa_mcmember_rec *rec,
			 struct ksa_answer *answer)
{
	u8 *asked = kzalloc(MCMEMBER_BYTES, GFP_KERNEL);
	struct ib_sa_attr_query query = {
		.method = IB_MGMT_METHOD_SET,
		.attr_id = IB_SA_ATTR_MC_MEMBER_REC,
		.comp_mask = IB_SA_MCMEMBER_REC_MGID | IB_SA_MCMEMBER_REC_PORT_GID |
			     IB_SA_MCMEMBER_REC_JOIN_STATE,
		.attribute = asked,
		.size = MCMEMBER_BYTES,
	};
	const u8 *wire = answer->first;

	if (!CHECK(asked))
		return;
	memcpy(asked, &rec->mgid, 16);
	memcpy(asked + 16, &port->gid, 16);
	asked[48] = SCOPE << 4 | 1;
	ksa_query(&query, answer);
	if (CHECK(!answer->status && answer->count == 1 && answer->size >= MCMEMBER_BYTES)) {
		group_fields(rec, wire);
		member_fields(rec, wire);
	}
	query.method = IB_SA_METHOD_GET_TABLE;
	query.comp_mask = IB_SA_MCMEMBER_REC_MGID;
	ksa_query(&query, answer);
	if (CHECK(!answer->status && answer->count == 1 && answer->size >= MCMEMBER_BYTES)) {
		group_fields(rec, wire);
		CHECK(!memchr_inv(wire + 16, 0, 16) && !(wire[48] & 0xf) && !wire[49]);
	}
	kfree(asked);
}

/* A group with a different value in each field that the manager takes from the request */
static void member(const struct ksa_port *port, struct ksa_answer *answer, struct understood *got)
{
	struct ib_sa_mcmember_rec rec = {
		.mgid.raw = { 0xff, 0x12, 0x6b, 0x73, [15] = 0x6c },
		.port_gid = port->gid,
		.pkey = cpu_to_be16(IB_DEFAULT_PKEY_FULL),
		.qkey = cpu_to_be32(0x01234567),
		.traffic_class = 0x89,
		.flow_label = cpu_to_be32(0xabcde),
		.hop_limit = 0x3c,
		.packet_life_time_selector = IB_SA_EQ,
		.packet_life_time = LIFE,
		.scope = SCOPE,
		.join_state = 1,
	};
	const ib_sa_comp_mask mask = IB_SA_MCMEMBER_REC_MGID | IB_SA_MCMEMBER_REC_PORT_GID |
				     IB_SA_MCMEMBER_REC_JOIN_STATE | IB_SA_MCMEMBER_REC_PKEY |
				     IB_SA_MCMEMBER_REC_QKEY | IB_SA_MCMEMBER_REC_SL |
				     IB_SA_MCMEMBER_REC_FLOW_LABEL |
				     IB_SA_MCMEMBER_REC_TRAFFIC_CLASS |
				     IB_SA_MCMEMBER_REC_HOP_LIMIT |
				     IB_SA_MCMEMBER_REC_PACKET_LIFE_TIME_SELECTOR |
				     IB_SA_MCMEMBER_REC_PACKET_LIFE_TIME |
				     IB_SA_MCMEMBER_REC_SCOPE;
	struct ib_sa_multicast *multicast;

	multicast = ib_sa_join_multicast(port->client, port->device, 1, &rec, mask, GFP_KERNEL,
					 joined, got);
	if (CHECK(!IS_ERR(multicast))) {
		if (is_understood(got, 0)) {
			CHECK(!memcmp(&got->rec.member.port_gid, &port->gid, 16));
			CHECK(got->rec.member.qkey == rec.qkey);
			CHECK(got->rec.member.traffic_class == rec.traffic_class);
			CHECK(got->rec.member.flow_label == rec.flow_label);
			member_bytes(port, &got->rec.member, answer);
		}
		ib_sa_free_multicast(multicast);
	}
}

/* ---- GUIDInfoRecord ---- */

static void guidinfo_found(int status, struct ib_sa_guidinfo_rec *rec, void *context)
{
	understand(context, status, rec, sizeof(*rec));
}

static void guidinfo(const struct ksa_port *port, struct ksa_answer *answer, struct understood *got)
{
	struct ib_sa_guidinfo_rec wanted = { .lid = cpu_to_be16(port->peer_lid) };
	const ib_sa_comp_mask mask = IB_SA_GUIDINFO_REC_LID | IB_SA_GUIDINFO_REC_BLOCK_NUM;
	const struct ib_sa_attr_query query = {
		.method = IB_MGMT_METHOD_GET,
		.attr_id = IB_SA_ATTR_GUID_INFO_REC,
		.comp_mask = mask,
		.size = GUIDINFO_BYTES,
	};
	const u8 *wire = answer->first;
	struct ib_sa_query *sent;
	int id;

	if (!ask_record(query, &wanted.lid, sizeof(wanted.lid), answer))
		return;
	id = ib_sa_guid_info_rec_query(port->client, port->device, 1, &wanted, mask,
				       IB_MGMT_METHOD_GET, PATIENCE, GFP_KERNEL, guidinfo_found,
				       got, &sent);
	if (!is_understood(got, id))
		return;
	CHECK(be16_to_cpu(got->rec.guidinfo.lid) == get_unaligned_be16(wire));
	CHECK(be16_to_cpu(got->rec.guidinfo.lid) == port->peer_lid);
	CHECK(got->rec.guidinfo.block_num == wire[2]);
	CHECK(!memcmp(got->rec.guidinfo.guid_info_list, wire + 8, 64));
	CHECK(!memcmp(got->rec.guidinfo.guid_info_list, port->peer.raw + 8, 8));
}

/* ---- ServiceRecord ---- */

static void service(const struct ksa_port *port, struct ksa_answer *answer)
{
	const union ib_sa_query_input input = { .service_id = port->service_id };
	const u8 *wire = answer->first;
	struct ib_sa_service_rec rec;
	u8 again[SERVICE_BYTES];

	ksa_query_type(IB_SA_QUERY_SERVICE_BY_ID, &input, answer);
	if (!CHECK(!answer->status && answer->count && answer->size >= SERVICE_BYTES))
		return;
	ib_sa_unpack_service(wire, &rec);
	CHECK(be64_to_cpu(rec.id) == get_unaligned_be64(wire) && rec.id == port->service_id);
	CHECK(!memcmp(&rec.gid, wire + 8, 16));
	CHECK(!memcmp(&rec.gid, &port->gid, 16) || !memcmp(&rec.gid, &port->peer, 16));
	CHECK(be16_to_cpu(rec.pkey) == get_unaligned_be16(wire + 24));
	CHECK(be16_to_cpu(rec.pkey) == IB_DEFAULT_PKEY_FULL);
	CHECK(be32_to_cpu(rec.lease) == get_unaligned_be32(wire + 28));
	CHECK(!strncmp(rec.name, wire + 48, sizeof(rec.name)) && !strncmp(rec.name, "ksa ", 4));
	CHECK(rec.data8[15] == wire[127] && rec.data8[15] == rec.gid.raw[15]);
	ib_sa_pack_service(&rec, again);
	CHECK(!memcmp(again, wire, sizeof(again)));
}

/* ---- InformInfo ---- */

static void inform_answered(int status, void *context)
{
	struct understood *got = context;

	/* It may be confirmed again. */
	if (!completion_done(&got->done))
		understand(got, status, NULL, 0);
}

static void no_report(const struct ib_sa_notice *notice, void *context)
{
}

/* The subscription as the manager has it, except the QPN, which it takes from the sender. */
static void inform_fields(const struct ksa_port *port, const struct ib_sa_inform_info *info,
			  struct ksa_answer *answer)
{
	const struct ib_sa_attr_query query = {
		.method = IB_SA_METHOD_GET_TABLE,
		.attr_id = IB_SA_ATTR_INFORM_INFO_REC,
		.comp_mask = IB_SA_COMP_MASK(0),
		.attribute = &port->gid,
		.size = sizeof(port->gid),
	};
	const u8 *wire = answer->first + INFORM_AT;

	ksa_query(&query, answer);
	if (!CHECK(!answer->status && answer->count == 1 && answer->size >= INFORM_RECORD_BYTES))
		return;
	CHECK(!memcmp(answer->first, &port->gid, 16));
	CHECK(!memcmp(wire, &info->gid, 16));
	CHECK(get_unaligned_be16(wire + 16) == be16_to_cpu(info->lid_range_begin));
	CHECK(get_unaligned_be16(wire + 18) == be16_to_cpu(info->lid_range_end));
	CHECK(wire[22] == info->is_generic && wire[23] == 1);
	CHECK(get_unaligned_be16(wire + 24) == be16_to_cpu(info->type));
	CHECK(get_unaligned_be16(wire + 26) == be16_to_cpu(info->trap_num));
	CHECK(bits(wire, 28, 27, 5) == info->resp_time);
	CHECK(bits(wire, 32, 8, 24) == be32_to_cpu(info->producer_type));
}

/* A subscription with a different value in each field */
static void inform(const struct ksa_port *port, struct ksa_answer *answer, struct understood *got)
{
	const struct ib_sa_inform_info info = {
		.lid_range_begin = cpu_to_be16(1),
		.lid_range_end = cpu_to_be16(2),
		.is_generic = 1,
		.type = cpu_to_be16(IB_NOTICE_TYPE_SM & 0x7f),
		.trap_num = cpu_to_be16(66),
		.resp_time = 17,
		.producer_type = cpu_to_be32(4),	/* a class manager */
	};
	struct ib_sa_subscription *subscription;

	subscription = ib_sa_subscribe(port->client, port->device, 1, &info, inform_answered,
				       no_report, got);
	if (!CHECK(!IS_ERR(subscription)))
		return;
	if (is_understood(got, 0))
		inform_fields(port, &info, answer);
	ib_sa_unsubscribe(subscription);
}

/* ---- ClassPortInfo ---- */

static void info_found(int status, struct ib_class_port_info *info, void *context)
{
	understand(context, status, info, sizeof(*info));
}

static void class_port_info(const struct ksa_port *port, struct ksa_answer *answer,
			    struct understood *got)
{
	const u8 *wire = answer->first;
	int id;

	ksa_query_type(IB_SA_QUERY_CLASS_PORT_INFO, &(union ib_sa_query_input){ }, answer);
	if (!CHECK(!answer->status && answer->count))
		return;
	id = ib_sa_classport_info_query(port->client, port->device, 1, PATIENCE, GFP_KERNEL,
					info_found, got, NULL);
	if (!is_understood(got, id))
		return;
	CHECK(got->rec.info.base_version == wire[0] && wire[0] == IB_MGMT_BASE_VERSION);
	CHECK(got->rec.info.class_version == wire[1] && wire[1] == IB_SA_CLASS_VERSION);
	CHECK(be16_to_cpu(got->rec.info.capability_mask) == get_unaligned_be16(wire + 2));
	CHECK(ib_get_cpi_capmask2(&got->rec.info) == bits(wire, 4, 0, 27));
	CHECK(ib_get_cpi_resp_time(&got->rec.info) == bits(wire, 4, 27, 5));
}

/**
 * ksa_layouts() - compare what the core reads with what is on the wire
 * @port: the port that asks, and the one that it asks about; both ports have a service
 *
 * Context: may sleep.
 */
void ksa_layouts(const struct ksa_port *port)
{
	struct ksa_answer *answer = kzalloc(sizeof(*answer), GFP_KERNEL);
	struct understood *got = kzalloc(sizeof(*got), GFP_KERNEL);

	if (CHECK(answer && got)) {
		path(port, answer);
		init_completion(&got->done);
		member(port, answer, got);
		reinit_completion(&got->done);
		guidinfo(port, answer, got);
		reinit_completion(&got->done);
		class_port_info(port, answer, got);
		reinit_completion(&got->done);
		inform(port, answer, got);
		service(port, answer);
	}
	kfree(got);
	kfree(answer);
}
