// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Layout of the records of subnet administration on the wire.
 */
#include <kunit/visibility.h>
#include <linux/string.h>
#include <rdma/ib_pack.h>

#include "sa.h"

#define FIELD(type, member, words, bits, size) {				\
	.struct_offset_bytes = offsetof(struct type, member),			\
	.struct_size_bytes = sizeof_field(struct type, member),			\
	.offset_words = (words), .offset_bits = (bits), .size_bits = (size),	\
	.field_name = #type ":" #member,					\
}

#define NOTHING(words, bits, size) {						\
	.offset_words = (words), .offset_bits = (bits), .size_bits = (size), RESERVED,	\
}

#define PATH(member, words, bits, size) FIELD(sa_path_rec, member, words, bits, size)

static const struct ib_field path_fields[] = {
	PATH(service_id, 0, 0, 64),
	PATH(dgid, 2, 0, 128),
	PATH(sgid, 6, 0, 128),
	PATH(ib.dlid, 10, 0, 16),
	PATH(ib.slid, 10, 16, 16),
	PATH(ib.raw_traffic, 11, 0, 1),
	NOTHING(11, 1, 3),
	PATH(flow_label, 11, 4, 20),
	PATH(hop_limit, 11, 24, 8),
	PATH(traffic_class, 12, 0, 8),
	PATH(reversible, 12, 8, 1),
	PATH(numb_path, 12, 9, 7),
	PATH(pkey, 12, 16, 16),
	PATH(qos_class, 13, 0, 12),
	PATH(sl, 13, 12, 4),
	PATH(mtu_selector, 13, 16, 2),
	PATH(mtu, 13, 18, 6),
	PATH(rate_selector, 13, 24, 2),
	PATH(rate, 13, 26, 6),
	PATH(packet_life_time_selector, 14, 0, 2),
	PATH(packet_life_time, 14, 2, 6),
	PATH(preference, 14, 8, 8),
	NOTHING(14, 16, 48),
};

#define MEMBER(member, words, bits, size) FIELD(ib_sa_mcmember_rec, member, words, bits, size)

static const struct ib_field mcmember_fields[] = {
	MEMBER(mgid, 0, 0, 128),
	MEMBER(port_gid, 4, 0, 128),
	MEMBER(qkey, 8, 0, 32),
	MEMBER(mlid, 9, 0, 16),
	MEMBER(mtu_selector, 9, 16, 2),
	MEMBER(mtu, 9, 18, 6),
	MEMBER(traffic_class, 9, 24, 8),
	MEMBER(pkey, 10, 0, 16),
	MEMBER(rate_selector, 10, 16, 2),
	MEMBER(rate, 10, 18, 6),
	MEMBER(packet_life_time_selector, 10, 24, 2),
	MEMBER(packet_life_time, 10, 26, 6),
	MEMBER(sl, 11, 0, 4),
	MEMBER(flow_label, 11, 4, 20),
	MEMBER(hop_limit, 11, 24, 8),
	MEMBER(scope, 12, 0, 4),
	MEMBER(join_state, 12, 4, 4),
	MEMBER(proxy_join, 12, 8, 1),
	NOTHING(12, 9, 23),
};

#define GUIDS(member, words, bits, size) FIELD(ib_sa_guidinfo_rec, member, words, bits, size)

static const struct ib_field guidinfo_fields[] = {
	GUIDS(lid, 0, 0, 16),
	GUIDS(block_num, 0, 16, 8),
	GUIDS(res1, 0, 24, 8),
	GUIDS(res2, 1, 0, 32),
	GUIDS(guid_info_list, 2, 0, 512),
};

#define SERVICE(member, words, bits, size) FIELD(ib_sa_service_rec, member, words, bits, size)

static const struct ib_field service_fields[] = {
	SERVICE(id, 0, 0, 64),
	SERVICE(gid, 2, 0, 128),
	SERVICE(pkey, 6, 0, 16),
	NOTHING(6, 16, 16),
	SERVICE(lease, 7, 0, 32),
	SERVICE(key, 8, 0, 128),
	SERVICE(name, 12, 0, 512),
	SERVICE(data8, 28, 0, 128),
	SERVICE(data16, 32, 0, 128),
	SERVICE(data32, 36, 0, 128),
	SERVICE(data64, 40, 0, 128),
};

#define INFORM(member, words, bits, size) FIELD(ib_sa_inform_info, member, words, bits, size)

static const struct ib_field inform_fields[] = {
	INFORM(gid, 0, 0, 128),
	INFORM(lid_range_begin, 4, 0, 16),
	INFORM(lid_range_end, 4, 16, 16),
	NOTHING(5, 0, 16),
	INFORM(is_generic, 5, 16, 8),
	INFORM(subscribe, 5, 24, 8),
	INFORM(type, 6, 0, 16),
	INFORM(trap_num, 6, 16, 16),
	INFORM(qpn, 7, 0, 24),
	NOTHING(7, 24, 3),
	INFORM(resp_time, 7, 27, 5),
	NOTHING(8, 0, 8),
	INFORM(producer_type, 8, 8, 24),
};

#define PACK(fields, rec, attribute) ib_pack(fields, ARRAY_SIZE(fields), rec, attribute)
#define UNPACK(fields, attribute, rec) ib_unpack(fields, ARRAY_SIZE(fields), attribute, rec)

/**
 * ib_sa_pack_path() - pack a path as a PathRecord
 * @rec: InfiniBand path
 * @attribute: receives 64 bytes
 *
 * Context: any.
 */
void ib_sa_pack_path(struct sa_path_rec *rec, void *attribute)
{
	PACK(path_fields, rec, attribute);
}
EXPORT_SYMBOL(ib_sa_pack_path);

/**
 * ib_sa_unpack_path() - unpack a PathRecord
 * @attribute: 64 bytes as on the wire
 * @rec: receives the path; rec_type and flags, which are not part of the record, are left unchanged
 *
 * Context: any.
 */
void ib_sa_unpack_path(void *attribute, struct sa_path_rec *rec)
{
	UNPACK(path_fields, attribute, rec);
}
EXPORT_SYMBOL(ib_sa_unpack_path);

/**
 * sa_pack_mcmember() - pack an MCMemberRecord
 * @rec: the record
 * @attribute: receives 52 bytes
 *
 * Context: any.
 */
void sa_pack_mcmember(struct ib_sa_mcmember_rec *rec, void *attribute)
{
	PACK(mcmember_fields, rec, attribute);
}
EXPORT_SYMBOL_IF_KUNIT(sa_pack_mcmember);

/**
 * sa_unpack_mcmember() - unpack an MCMemberRecord
 * @attribute: 52 bytes as on the wire
 * @rec: receives the record
 *
 * Context: any.
 */
void sa_unpack_mcmember(void *attribute, struct ib_sa_mcmember_rec *rec)
{
	UNPACK(mcmember_fields, attribute, rec);
}
EXPORT_SYMBOL_IF_KUNIT(sa_unpack_mcmember);

/**
 * sa_pack_guidinfo() - pack a GUIDInfoRecord
 * @rec: the record
 * @attribute: receives 72 bytes
 *
 * Context: any.
 */
void sa_pack_guidinfo(struct ib_sa_guidinfo_rec *rec, void *attribute)
{
	PACK(guidinfo_fields, rec, attribute);
}
EXPORT_SYMBOL_IF_KUNIT(sa_pack_guidinfo);

/**
 * sa_unpack_guidinfo() - unpack a GUIDInfoRecord
 * @attribute: 72 bytes as on the wire
 * @rec: receives the record
 *
 * Context: any.
 */
void sa_unpack_guidinfo(void *attribute, struct ib_sa_guidinfo_rec *rec)
{
	UNPACK(guidinfo_fields, attribute, rec);
}
EXPORT_SYMBOL_IF_KUNIT(sa_unpack_guidinfo);

/**
 * ib_sa_pack_service() - pack a service as a ServiceRecord
 * @rec: the service
 * @attribute: receives 176 bytes
 *
 * Context: any.
 */
void ib_sa_pack_service(struct ib_sa_service_rec *rec, void *attribute)
{
	PACK(service_fields, rec, attribute);
}
EXPORT_SYMBOL(ib_sa_pack_service);

/**
 * ib_sa_unpack_service() - unpack a ServiceRecord
 * @attribute: 176 bytes as on the wire, such as a record of ib_sa_query_table()
 * @rec: receives the service
 *
 * Context: any.
 */
void ib_sa_unpack_service(const void *attribute, struct ib_sa_service_rec *rec)
{
	UNPACK(service_fields, (void *)attribute, rec);
}
EXPORT_SYMBOL(ib_sa_unpack_service);

/**
 * sa_pack_inform() - pack an InformInfo
 * @info: the record
 * @attribute: receives 36 bytes
 *
 * Context: any.
 */
void sa_pack_inform(struct ib_sa_inform_info *info, void *attribute)
{
	PACK(inform_fields, info, attribute);
}
EXPORT_SYMBOL_IF_KUNIT(sa_pack_inform);

/**
 * sa_unpack_inform() - unpack an InformInfo
 * @attribute: 36 bytes as on the wire
 * @info: receives the record
 *
 * Context: any.
 */
void sa_unpack_inform(void *attribute, struct ib_sa_inform_info *info)
{
	UNPACK(inform_fields, attribute, info);
}
EXPORT_SYMBOL_IF_KUNIT(sa_unpack_inform);
