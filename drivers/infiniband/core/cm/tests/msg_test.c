// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: the codec of the communication manager's messages, and its times.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/unaligned.h>

#include "../msg.h"
#include "../timing.h"

/* The body of a message begins behind the header of the datagram. */
#define BODY	24

/* Numbers of one message, with their places as the specification's tables give them. */
struct place {
	enum cm_msg_type type;
	u16 member;
	u8 size;
	u8 byte;
	u8 bit;
	u8 width;
	u8 max;			/* 0: all that fits */
};

#define AT(t, m, byte_, bit_, width_)	{ CM_MSG_##t, offsetof(struct cm_msg, m), \
					  sizeof_field(struct cm_msg, m), byte_, bit_, width_, 0 }
#define AT_MOST(t, m, byte_, bit_, width_, max_) \
	{ CM_MSG_##t, offsetof(struct cm_msg, m), sizeof_field(struct cm_msg, m), byte_, bit_, \
	  width_, max_ }

/*
 * Written down from the header in which Linux 6.12 repeats the specification's tables
 * (include/rdma/ibta_vol1_c12.h), not from the codec. Numbers in pieces and GIDs are looked at in
 * the messages that are written down byte by byte.
 */
static const struct place places[] = {
	AT(REQ, local_id, 0, 0, 32), AT(REQ, req.vendor_id, 5, 0, 24),
	AT(REQ, req.service_id, 8, 0, 64), AT(REQ, req.ca_guid, 16, 0, 64),
	AT(REQ, req.qkey, 28, 0, 32), AT(REQ, req.qpn, 32, 0, 24),
	AT(REQ, req.responder_resources, 35, 0, 8), AT(REQ, req.eecn, 36, 0, 24),
	AT(REQ, req.initiator_depth, 39, 0, 8), AT(REQ, req.remote_eecn, 40, 0, 24),
	AT(REQ, req.remote_response_timeout, 43, 0, 5), AT(REQ, req.transport, 43, 5, 2),
	AT(REQ, req.flow_control, 43, 7, 1), AT(REQ, req.starting_psn, 44, 0, 24),
	AT(REQ, req.local_response_timeout, 47, 0, 5), AT(REQ, req.retry_count, 47, 5, 3),
	AT(REQ, req.pkey, 48, 0, 16), AT(REQ, req.mtu, 50, 0, 4), AT(REQ, req.rdc_exists, 50, 4, 1),
	AT(REQ, req.rnr_retry_count, 50, 5, 3), AT(REQ, req.max_cm_retries, 51, 0, 4),
	AT(REQ, req.srq, 51, 4, 1), AT(REQ, req.extended_transport, 51, 5, 3),
	AT(REQ, req.primary.local_lid, 52, 0, 16), AT(REQ, req.primary.remote_lid, 54, 0, 16),
	AT(REQ, req.primary.flow_label, 88, 0, 20), AT(REQ, req.primary.rate, 91, 2, 6),
	AT(REQ, req.primary.traffic_class, 92, 0, 8), AT(REQ, req.primary.hop_limit, 93, 0, 8),
	AT(REQ, req.primary.sl, 94, 0, 4), AT(REQ, req.primary.subnet_local, 94, 4, 1),
	AT(REQ, req.primary.ack_timeout, 95, 0, 5),
	AT(REQ, req.alternate.local_lid, 96, 0, 16), AT(REQ, req.alternate.remote_lid, 98, 0, 16),
	AT(REQ, req.alternate.flow_label, 132, 0, 20), AT(REQ, req.alternate.rate, 135, 2, 6),
	AT(REQ, req.alternate.traffic_class, 136, 0, 8),
	AT(REQ, req.alternate.hop_limit, 137, 0, 8), AT(REQ, req.alternate.sl, 138, 0, 4),
	AT(REQ, req.alternate.subnet_local, 138, 4, 1),
	AT(REQ, req.alternate.ack_timeout, 139, 0, 5), AT(REQ, req.sap_supported, 139, 5, 1),

	AT(MRA, local_id, 0, 0, 32), AT(MRA, remote_id, 4, 0, 32),
	AT_MOST(MRA, mra.about, 8, 0, 2, 2), AT(MRA, mra.service_timeout, 9, 0, 5),

	AT(REJ, local_id, 0, 0, 32), AT(REJ, remote_id, 4, 0, 32),
	AT_MOST(REJ, rej.about, 8, 0, 2, 2), AT_MOST(REJ, rej.info_length, 9, 0, 7, 72),
	AT(REJ, rej.reason, 10, 0, 16),

	AT(REP, local_id, 0, 0, 32), AT(REP, remote_id, 4, 0, 32), AT(REP, rep.qkey, 8, 0, 32),
	AT(REP, rep.qpn, 12, 0, 24), AT(REP, rep.eecn, 16, 0, 24),
	AT(REP, rep.starting_psn, 20, 0, 24), AT(REP, rep.responder_resources, 24, 0, 8),
	AT(REP, rep.initiator_depth, 25, 0, 8), AT(REP, rep.target_ack_delay, 26, 0, 5),
	AT(REP, rep.failover_accepted, 26, 5, 2), AT(REP, rep.flow_control, 26, 7, 1),
	AT(REP, rep.rnr_retry_count, 27, 0, 3), AT(REP, rep.srq, 27, 3, 1),
	AT(REP, rep.ca_guid, 28, 0, 64),

	AT(RTU, local_id, 0, 0, 32), AT(RTU, remote_id, 4, 0, 32),
	AT(DREQ, local_id, 0, 0, 32), AT(DREQ, remote_id, 4, 0, 32),
	AT(DREQ, dreq.remote_qpn, 8, 0, 24),
	AT(DREP, local_id, 0, 0, 32), AT(DREP, remote_id, 4, 0, 32),

	AT(SIDR_REQ, local_id, 0, 0, 32), AT(SIDR_REQ, sidr_req.pkey, 4, 0, 16),
	AT(SIDR_REQ, sidr_req.service_id, 8, 0, 64),
	AT(SIDR_REP, remote_id, 0, 0, 32), AT(SIDR_REP, sidr_rep.status, 4, 0, 8),
	AT_MOST(SIDR_REP, sidr_rep.info_length, 5, 0, 8, 72), AT(SIDR_REP, sidr_rep.qpn, 8, 0, 24),
	AT(SIDR_REP, sidr_rep.service_id, 12, 0, 64), AT(SIDR_REP, sidr_rep.qkey, 20, 0, 32),

	AT(LAP, local_id, 0, 0, 32), AT(LAP, remote_id, 4, 0, 32),
	AT(LAP, lap.remote_qpn, 12, 0, 24), AT(LAP, lap.remote_response_timeout, 15, 0, 5),
	AT(LAP, lap.alternate.local_lid, 20, 0, 16), AT(LAP, lap.alternate.remote_lid, 22, 0, 16),
	AT(LAP, lap.alternate.flow_label, 56, 0, 20),
	AT(LAP, lap.alternate.traffic_class, 59, 0, 8),
	AT(LAP, lap.alternate.hop_limit, 60, 0, 8), AT(LAP, lap.alternate.rate, 61, 2, 6),
	AT(LAP, lap.alternate.sl, 62, 0, 4), AT(LAP, lap.alternate.subnet_local, 62, 4, 1),
	AT(LAP, lap.alternate.ack_timeout, 63, 0, 5),

	AT(APR, local_id, 0, 0, 32), AT(APR, remote_id, 4, 0, 32),
	AT_MOST(APR, apr.info_length, 8, 0, 8, 72), AT(APR, apr.status, 9, 0, 8),
};

/* Where the private data begin, and how many bytes they are. */
static const struct {
	u8 byte, size;
} private_data[CM_MSG_TYPES] = {
	[CM_MSG_REQ] = { 140, 92 }, [CM_MSG_MRA] = { 10, 222 }, [CM_MSG_REJ] = { 84, 148 },
	[CM_MSG_REP] = { 36, 196 }, [CM_MSG_RTU] = { 8, 224 }, [CM_MSG_DREQ] = { 12, 220 },
	[CM_MSG_DREP] = { 8, 224 }, [CM_MSG_SIDR_REQ] = { 16, 216 },
	[CM_MSG_SIDR_REP] = { 96, 136 }, [CM_MSG_LAP] = { 64, 168 }, [CM_MSG_APR] = { 84, 148 },
};

static u64 value_of(const struct cm_msg *msg, const struct place *place)
{
	const void *member = (const u8 *)msg + place->member;

	switch (place->size) {
	case 1:
		return *(const u8 *)member;
	case 2:
		return *(const u16 *)member;
	case 4:
		return *(const u32 *)member;
	default:
		return *(const u64 *)member;
	}
}

static void set_value(struct cm_msg *msg, const struct place *place, u64 value)
{
	void *member = (u8 *)msg + place->member;

	switch (place->size) {
	case 1:
		*(u8 *)member = value;
		break;
	case 2:
		*(u16 *)member = value;
		break;
	case 4:
		*(u32 *)member = value;
		break;
	default:
		*(u64 *)member = value;
		break;
	}
}

/* Bit by bit, the slow way. */
static u64 bits_of(const u8 *mad, const struct place *place)
{
	unsigned int at = (BODY + place->byte) * 8 + place->bit;
	u64 value = 0;

	for (unsigned int i = 0; i < place->width; i++, at++)
		value = value << 1 | (mad[at / 8] >> (7 - at % 8) & 1);
	return value;
}

static void flip_bits(u8 *mad, const struct place *place)
{
	unsigned int at = (BODY + place->byte) * 8 + place->bit;

	for (unsigned int i = 0; i < place->width; i++, at++)
		mad[at / 8] ^= 1 << (7 - at % 8);
}

static u64 all_ones(const struct place *place)
{
	return place->max ? : GENMASK_ULL(place->width - 1, 0);
}

/* Additional information of a length is read when a message is packed. */
static void give_info(struct cm_msg *msg, const u8 *info)
{
	if (msg->type == CM_MSG_REJ)
		msg->rej.info = info;
	else if (msg->type == CM_MSG_SIDR_REP)
		msg->sidr_rep.info = info;
	else if (msg->type == CM_MSG_APR)
		msg->apr.info = info;
}

static const u8 nothing[IB_CM_REJ_ARI_LENGTH];

/* One number with a value, all others 0: the datagram has it there, and nothing anywhere else. */
static void try_value(struct kunit *test, const struct place *place, u64 value)
{
	u8 *mad = test->priv, *empty = mad + CM_MAD_SIZE;
	struct cm_msg msg = { .type = place->type }, back;

	KUNIT_ASSERT_EQ(test, cm_msg_pack(&msg, empty), 0);
	give_info(&msg, nothing);
	set_value(&msg, place, value);
	KUNIT_ASSERT_EQ(test, cm_msg_pack(&msg, mad), 0);
	KUNIT_EXPECT_EQ_MSG(test, bits_of(mad, place), value, "%s byte %u",
			    cm_msg_name(place->type), place->byte);
	KUNIT_ASSERT_EQ(test, cm_msg_unpack(&back, mad), 0);
	KUNIT_EXPECT_EQ_MSG(test, value_of(&back, place), value, "%s byte %u",
			    cm_msg_name(place->type), place->byte);

	/* Without these bits it is the empty message. */
	if (value == GENMASK_ULL(place->width - 1, 0)) {
		flip_bits(mad, place);
		KUNIT_EXPECT_MEMEQ(test, mad, empty, CM_MAD_SIZE);
	}
	/* And back: the other members stay 0. */
	set_value(&back, place, 0);
	give_info(&back, NULL);
	back.private_data = NULL;
	back.private_data_len = 0;
	msg = (struct cm_msg){ .type = place->type };
	KUNIT_EXPECT_MEMEQ(test, (u8 *)&back, (u8 *)&msg, sizeof(msg));
}

static void each_number_has_its_place(struct kunit *test)
{
	for (const struct place *place = places; place < places + ARRAY_SIZE(places); place++) {
		try_value(test, place, all_ones(place));
		for (unsigned int bit = 0; bit < place->width; bit++)
			if (!place->max || BIT_ULL(bit) <= place->max)
				try_value(test, place, BIT_ULL(bit));
	}
}

static void numbers_too_large_are_refused(struct kunit *test)
{
	u8 *mad = test->priv;

	for (const struct place *place = places; place < places + ARRAY_SIZE(places); place++) {
		struct cm_msg msg = { .type = place->type };

		if (place->width == 8 * place->size && !place->max)
			continue;
		give_info(&msg, nothing);
		set_value(&msg, place, all_ones(place) + 1);
		KUNIT_EXPECT_EQ_MSG(test, cm_msg_pack(&msg, mad), -ERANGE, "%s byte %u",
				    cm_msg_name(place->type), place->byte);
		if (!place->max)
			continue;
		set_value(&msg, place, place->max);
		KUNIT_ASSERT_EQ(test, cm_msg_pack(&msg, mad), 0);
		mad[BODY + place->byte] = 0xff;
		KUNIT_EXPECT_EQ_MSG(test, cm_msg_unpack(&msg, mad), -EPROTO, "%s byte %u",
				    cm_msg_name(place->type), place->byte);
	}
}

/* All numbers at a time, by chance: none hides another one. */
static void messages_there_and_back(struct kunit *test)
{
	u8 *mad = test->priv, *data = mad + CM_MAD_SIZE;
	struct cm_msg msg, back;
	struct rnd_state rnd;

	prandom_seed_state(&rnd, 612);
	for (unsigned int i = 0; i < 200 * CM_MSG_TYPES; i++) {
		msg = (struct cm_msg){ .type = i % CM_MSG_TYPES };
		msg.tid = (u64)prandom_u32_state(&rnd) << 32 | prandom_u32_state(&rnd);
		msg.attr_mod = prandom_u32_state(&rnd);
		prandom_bytes_state(&rnd, data, CM_MAD_SIZE);
		give_info(&msg, data);
		msg.private_data = data;
		msg.private_data_len = cm_msg_private_data_size(msg.type);
		for (const struct place *place = places; place < places + ARRAY_SIZE(places);
		     place++)
			if (place->type == msg.type)
				set_value(&msg, place, prandom_u32_state(&rnd) %
					  (min(all_ones(place), U32_MAX - 1) + 1));
		KUNIT_ASSERT_EQ(test, cm_msg_pack(&msg, mad), 0);
		KUNIT_ASSERT_EQ(test, cm_msg_unpack(&back, mad), 0);
		KUNIT_EXPECT_EQ(test, back.type, msg.type);
		KUNIT_EXPECT_EQ(test, back.tid, msg.tid);
		KUNIT_EXPECT_EQ(test, back.attr_mod, msg.attr_mod);
		for (const struct place *place = places; place < places + ARRAY_SIZE(places);
		     place++)
			if (place->type == msg.type)
				KUNIT_EXPECT_EQ(test, value_of(&back, place),
						value_of(&msg, place));
	}
}

static void private_data_end_with_the_message(struct kunit *test)
{
	u8 *mad = test->priv, *data = mad + CM_MAD_SIZE;
	struct cm_msg msg;

	memset(data, 0xd5, CM_MAD_SIZE);
	for (enum cm_msg_type type = 0; type < CM_MSG_TYPES; type++) {
		u8 begin = BODY + private_data[type].byte, size = private_data[type].size;

		KUNIT_EXPECT_EQ(test, cm_msg_private_data_size(type), size);
		KUNIT_EXPECT_EQ(test, begin + size, CM_MAD_SIZE);
		msg = (struct cm_msg){ .type = type, .private_data = data,
				       .private_data_len = size };
		KUNIT_EXPECT_EQ(test, cm_msg_pack(&msg, mad), 0);
		KUNIT_EXPECT_EQ(test, mad[begin - 1], 0);
		KUNIT_EXPECT_MEMEQ(test, mad + begin, data, size);
		KUNIT_EXPECT_EQ(test, cm_msg_unpack(&msg, mad), 0);
		KUNIT_EXPECT_PTR_EQ(test, msg.private_data, (const u8 *)mad + begin);
		KUNIT_EXPECT_EQ(test, msg.private_data_len, size);

		/* Fewer leave the rest 0, more are refused. */
		msg = (struct cm_msg){ .type = type, .private_data = data, .private_data_len = 1 };
		KUNIT_EXPECT_EQ(test, cm_msg_pack(&msg, mad), 0);
		KUNIT_EXPECT_EQ(test, mad[begin], 0xd5);
		KUNIT_EXPECT_EQ(test, mad[begin + 1], 0);
		msg.private_data_len = size + 1;
		KUNIT_EXPECT_EQ(test, cm_msg_pack(&msg, mad), -EINVAL);
		/* No data have no length. */
		msg.private_data = NULL;
		KUNIT_EXPECT_EQ(test, cm_msg_pack(&msg, mad), 0);
	}
}

static void additional_information(struct kunit *test)
{
	static const struct {
		enum cm_msg_type type;
		u8 byte;
	} with[] = { { CM_MSG_REJ, 12 }, { CM_MSG_SIDR_REP, 24 }, { CM_MSG_APR, 12 } };
	u8 *mad = test->priv, *info = mad + CM_MAD_SIZE;
	struct cm_msg msg;
	u8 begin;

	memset(info, 0x3c, IB_CM_REJ_ARI_LENGTH);
	for (unsigned int i = 0; i < ARRAY_SIZE(with); i++) {
		begin = BODY + with[i].byte;
		msg = (struct cm_msg){ .type = with[i].type };
		give_info(&msg, info);
		if (msg.type == CM_MSG_REJ)
			msg.rej.info_length = 72;
		else if (msg.type == CM_MSG_SIDR_REP)
			msg.sidr_rep.info_length = 72;
		else
			msg.apr.info_length = 72;
		KUNIT_ASSERT_EQ(test, cm_msg_pack(&msg, mad), 0);
		KUNIT_EXPECT_EQ(test, mad[begin - 1], 0);
		KUNIT_EXPECT_MEMEQ(test, mad + begin, info, 72);
		KUNIT_EXPECT_EQ(test, mad[begin + 72], 0);
		give_info(&msg, NULL);
		KUNIT_EXPECT_EQ(test, cm_msg_pack(&msg, mad), -EINVAL);
		msg = (struct cm_msg){ .type = with[i].type };
		KUNIT_ASSERT_EQ(test, cm_msg_pack(&msg, mad), 0);
		KUNIT_ASSERT_EQ(test, cm_msg_unpack(&msg, mad), 0);
		KUNIT_EXPECT_PTR_EQ(test, msg.type == CM_MSG_REJ ? msg.rej.info :
				    msg.type == CM_MSG_APR ? msg.apr.info : msg.sidr_rep.info,
				    (const u8 *)mad + begin);
	}
}

/*
 * A REQ as it stands on the wire. Bytes 0 to 23 are the header of a datagram: base version 1, class
 * 7, class version 2, method Send (3), 12 bytes on the transaction id, attribute id 0x0010 and the
 * modifier. Then the table of the REQ; its byte numbers stand to the right.
 */
static const u8 known_req[CM_MAD_SIZE] = {
	0x01, 0x07, 0x02, 0x03, 0x00, 0x00, 0x00, 0x00,
	0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88,
	0x00, 0x10, 0x00, 0x00, 0xa1, 0xa2, 0xa3, 0xa4,
	0xc0, 0xff, 0xee, 0x01,				/* 0: local id */
	0x00, 0x15, 0xb3, 0x02,				/* 4: reserved; 5: vendor id */
	0x00, 0x00, 0x00, 0x00, 0x01, 0x06, 0x1b, 0x59,	/* 8: service id */
	0x02, 0xca, 0xfe, 0x00, 0x00, 0x00, 0x00, 0x01,	/* 16: CA GUID */
	0x00, 0x00, 0x00, 0x00,				/* 24: reserved */
	0x80, 0x01, 0x00, 0x00,				/* 28: Q_Key */
	0x12, 0x34, 0x56, 0x10,				/* 32: QPN; 35: responder resources */
	0x00, 0x00, 0x00, 0x08,				/* 36: EECN; 39: initiator depth */
	0x00, 0x00, 0x00, 0xa1,				/* 40: EECN; 43: 20 << 3 | RC << 1 | 1 */
	0xab, 0xcd, 0xef, 0xa7,				/* 44: PSN; 47: 20 << 3 | 7 */
	0xff, 0xff, 0x56, 0xf8,				/* 48: P_Key; 50: 5 << 4 | 6; 51: 15, SRQ */
	0x00, 0x05, 0x00, 0x09,				/* 52: LIDs */
	0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0a,	/* 56 */
	0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0b,	/* 72 */
	0xba, 0xdc, 0xe0, 0x03,				/* 88: flow label; 91: rate */
	0x68, 0x40, 0x38, 0x90,		/* 92: class; hops; 3 << 4 | local; 18 << 3 */
	0xff, 0xff, 0xff, 0xff,				/* 96: LIDs of a way through routers */
	0x20, 0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0c,	/* 100 */
	0x20, 0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0d,	/* 116 */
	0x00, 0x00, 0x10, 0x12,				/* 132: flow label; 135: rate */
	0x00, 0xff, 0xf0, 0x9c,				/* 136; 139: 19 << 3, SAP */
	'h', 'e', 'l', 'l', 'o',			/* 140: private data */
};

static void req_byte_by_byte(struct kunit *test)
{
	struct cm_msg msg = {
		.type = CM_MSG_REQ, .tid = 0x1122334455667788, .attr_mod = 0xa1a2a3a4,
		.local_id = 0xc0ffee01, .private_data = "hello", .private_data_len = 5,
		.req = {
			.service_id = 0x01061b59, .ca_guid = 0x02cafe0000000001,
			.vendor_id = 0x15b302, .qkey = 0x80010000, .qpn = 0x123456,
			.starting_psn = 0xabcdef, .pkey = 0xffff, .responder_resources = 16,
			.initiator_depth = 8, .remote_response_timeout = 20,
			.local_response_timeout = 20, .transport = CM_TRANSPORT_RC,
			.flow_control = 1, .retry_count = 7, .rnr_retry_count = 6,
			.mtu = IB_MTU_4096, .max_cm_retries = 15, .srq = 1, .sap_supported = 1,
			.primary = {
				.local_lid = 5, .remote_lid = 9, .flow_label = 0xbadce,
				.local_gid.raw = { 0xfe, 0x80, [15] = 0x0a },
				.remote_gid.raw = { 0xfe, 0x80, [15] = 0x0b },
				.rate = IB_RATE_10_GBPS, .traffic_class = 0x68, .hop_limit = 64,
				.sl = 3, .subnet_local = 1, .ack_timeout = 18,
			},
			.alternate = {
				.local_lid = 0xffff, .remote_lid = 0xffff, .flow_label = 1,
				.local_gid.raw = { 0x20, 0x01, [15] = 0x0c },
				.remote_gid.raw = { 0x20, 0x01, [15] = 0x0d },
				.rate = IB_RATE_300_GBPS, .hop_limit = 255, .sl = 15,
				.ack_timeout = 19,
			},
		},
	}, back;
	u8 *mad = test->priv;

	KUNIT_ASSERT_EQ(test, cm_msg_pack(&msg, mad), 0);
	KUNIT_EXPECT_MEMEQ(test, mad, known_req, CM_MAD_SIZE);
	KUNIT_ASSERT_EQ(test, cm_msg_unpack(&back, known_req), 0);
	KUNIT_EXPECT_MEMEQ(test, (u8 *)&back.req, (u8 *)&msg.req, sizeof(msg.req));
	KUNIT_EXPECT_TRUE(test, cm_req_has_alternate(&back.req));
	KUNIT_EXPECT_EQ(test, cm_req_refusal(&back.req), 0);
}

/* A REP: its bytes 15, 19 and 23 are the vendor id, from the upper eight bits to the lower ones. */
static const u8 known_rep[CM_MAD_SIZE] = {
	0x01, 0x07, 0x02, 0x03, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x05,
	0x00, 0x13, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01,
	0x00, 0x00, 0x00, 0x0a, 0xc0, 0xff, 0xee, 0x01,	/* 0: local id; 4: remote id */
	0x80, 0x01, 0x00, 0x00,				/* 8: Q_Key */
	0x65, 0x43, 0x21, 0x15,				/* 12: QPN; 15: vendor id, upper */
	0x00, 0x00, 0x07, 0xb3,				/* 16: EECN; 19: middle */
	0x00, 0x10, 0x00, 0x02,				/* 20: PSN; 23: lower */
	0x04, 0x03,					/* 24: resources, depth */
	0x7d,						/* 26: 15 << 3 | 2 << 1 | 1 */
	0xf0,						/* 27: 7 << 5 | SRQ << 4 */
	0x02, 0xca, 0xfe, 0x00, 0x00, 0x00, 0x00, 0x02,	/* 28: CA GUID */
	0x77,						/* 36: private data */
};

static void rep_byte_by_byte(struct kunit *test)
{
	static const u8 data = 0x77;
	struct cm_msg msg = {
		.type = CM_MSG_REP, .tid = 5, .attr_mod = 1, .local_id = 10,
		.remote_id = 0xc0ffee01, .private_data = &data, .private_data_len = 1,
		.rep = {
			.ca_guid = 0x02cafe0000000002, .vendor_id = 0x15b302, .qkey = 0x80010000,
			.qpn = 0x654321, .eecn = 7, .starting_psn = 0x1000,
			.responder_resources = 4, .initiator_depth = 3, .target_ack_delay = 15,
			.failover_accepted = 2, .flow_control = 1, .rnr_retry_count = 7, .srq = 1,
		},
	}, back;
	u8 *mad = test->priv;

	KUNIT_ASSERT_EQ(test, cm_msg_pack(&msg, mad), 0);
	KUNIT_EXPECT_MEMEQ(test, mad, known_rep, CM_MAD_SIZE);
	KUNIT_ASSERT_EQ(test, cm_msg_unpack(&back, known_rep), 0);
	KUNIT_EXPECT_MEMEQ(test, (u8 *)&back.rep, (u8 *)&msg.rep, sizeof(msg.rep));
	KUNIT_EXPECT_EQ(test, cm_rep_qpn(&back.rep, IB_QPT_RC), 0x654321);
	KUNIT_EXPECT_EQ(test, cm_rep_qpn(&back.rep, IB_QPT_XRC_INI), 7);
	msg.rep.vendor_id = BIT(24);
	KUNIT_EXPECT_EQ(test, cm_msg_pack(&msg, mad), -ERANGE);
}

/* A SIDR_REP: the vendor id in bytes 6, 7 and 11. */
static const u8 known_sidr_rep[CM_MAD_SIZE] = {
	0x01, 0x07, 0x02, 0x03, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x09,
	0x00, 0x18, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02,
	0xde, 0xad, 0xbe, 0xef,				/* 0: request id */
	0x04, 0x02, 0x15, 0xb3,			/* 4: redirected; 5: length; 6: vendor id */
	0x00, 0x01, 0x23, 0x07,				/* 8: QPN; 11: vendor id, lower */
	0x00, 0x00, 0x00, 0x00, 0x01, 0x11, 0x1b, 0x59,	/* 12: service id */
	0x00, 0x00, 0x00, 0x2a,				/* 20: Q_Key */
	0x51, 0x52,					/* 24: additional information */
	[BODY + 96] = 0x61, 0x62, 0x63,			/* 96: private data */
};

static void sidr_rep_byte_by_byte(struct kunit *test)
{
	static const u8 info[] = { 0x51, 0x52 }, data[] = { 0x61, 0x62, 0x63 };
	struct cm_msg msg = {
		.type = CM_MSG_SIDR_REP, .tid = 9, .attr_mod = 2, .remote_id = 0xdeadbeef,
		.private_data = data, .private_data_len = sizeof(data),
		.sidr_rep = {
			.service_id = 0x01111b59, .vendor_id = 0x15b307, .qpn = 0x123, .qkey = 42,
			.status = IB_SIDR_REDIRECT, .info_length = sizeof(info), .info = info,
		},
	}, back;
	u8 *mad = test->priv;

	KUNIT_ASSERT_EQ(test, cm_msg_pack(&msg, mad), 0);
	KUNIT_EXPECT_MEMEQ(test, mad, known_sidr_rep, CM_MAD_SIZE);
	KUNIT_ASSERT_EQ(test, cm_msg_unpack(&back, known_sidr_rep), 0);
	KUNIT_EXPECT_EQ(test, back.remote_id, 0xdeadbeef);
	KUNIT_EXPECT_EQ(test, back.sidr_rep.vendor_id, 0x15b307);
	KUNIT_EXPECT_EQ(test, back.sidr_rep.status, IB_SIDR_REDIRECT);
	KUNIT_EXPECT_EQ(test, back.sidr_rep.info_length, 2);
	KUNIT_EXPECT_MEMEQ(test, back.sidr_rep.info, info, sizeof(info));
	KUNIT_EXPECT_MEMEQ(test, back.private_data, data, sizeof(data));
}

/* A LAP's GIDs, which the table of numbers leaves out, stand at bytes 24 and 40. */
static void lap_gids(struct kunit *test)
{
	struct cm_msg msg = { .type = CM_MSG_LAP }, back;
	u8 *mad = test->priv;

	memset(&msg.lap.alternate.local_gid, 0x11, 16);
	memset(&msg.lap.alternate.remote_gid, 0x22, 16);
	KUNIT_ASSERT_EQ(test, cm_msg_pack(&msg, mad), 0);
	KUNIT_EXPECT_EQ(test, mad[BODY + 23], 0);
	KUNIT_EXPECT_MEMEQ(test, mad + BODY + 24, msg.lap.alternate.local_gid.raw, 16);
	KUNIT_EXPECT_MEMEQ(test, mad + BODY + 40, msg.lap.alternate.remote_gid.raw, 16);
	KUNIT_EXPECT_EQ(test, mad[BODY + 56], 0);
	KUNIT_ASSERT_EQ(test, cm_msg_unpack(&back, mad), 0);
	KUNIT_EXPECT_MEMEQ(test, (u8 *)&back.lap, (u8 *)&msg.lap, sizeof(msg.lap));
}

static void other_datagrams_are_no_messages(struct kunit *test)
{
	static const struct {
		u8 byte, value;
		int error;
	} spoils[] = {
		{ 0, 0, -EPROTONOSUPPORT }, { 0, 2, -EPROTONOSUPPORT }, { 1, 0x06, -ENOMSG },
		{ 2, 1, -EPROTONOSUPPORT }, { 2, 3, -EPROTONOSUPPORT }, { 3, 0x01, -ENOMSG },
		{ 3, 0x83, -ENOMSG }, { 16, 1, -ENOMSG }, { 17, 0x0f, -ENOMSG },
		{ 17, 0x1b, -ENOMSG }, { 17, 0x01, -ENOMSG },
	};
	u8 *mad = test->priv;
	struct cm_msg msg;

	for (unsigned int i = 0; i < ARRAY_SIZE(spoils); i++) {
		memcpy(mad, known_req, CM_MAD_SIZE);
		mad[spoils[i].byte] = spoils[i].value;
		KUNIT_EXPECT_EQ_MSG(test, cm_msg_unpack(&msg, mad), spoils[i].error,
				    "byte %u: %u", spoils[i].byte, spoils[i].value);
	}
	for (unsigned int i = 0; i < CM_MSG_TYPES; i++)
		KUNIT_EXPECT_EQ(test, cm_msg_type_of(cm_msg_attr_id(i)), i);
	KUNIT_EXPECT_TRUE(test, cm_msg_attr_id(CM_MSG_APR) == CM_APR_ATTR_ID);
	KUNIT_EXPECT_TRUE(test, cm_msg_attr_id(CM_MSG_SIDR_REQ) == CM_SIDR_REQ_ATTR_ID);
}

static void qp_types(struct kunit *test)
{
	static const struct {
		enum ib_qp_type ours, theirs;
	} types[] = {
		{ IB_QPT_RC, IB_QPT_RC }, { IB_QPT_UC, IB_QPT_UC },
		{ IB_QPT_XRC_INI, IB_QPT_XRC_TGT },
	};
	struct cm_req req = { .mtu = IB_MTU_256 };
	struct cm_rep rep = {};

	for (unsigned int i = 0; i < ARRAY_SIZE(types); i++) {
		KUNIT_EXPECT_EQ(test, cm_req_set_qp_type(&req, types[i].ours), 0);
		KUNIT_EXPECT_EQ(test, cm_req_qp_type(&req), types[i].theirs);
		KUNIT_EXPECT_EQ(test, cm_req_refusal(&req), 0);
		cm_rep_set_qpn(&rep, types[i].theirs, 0x1234 + i);
		KUNIT_EXPECT_EQ(test, cm_rep_qpn(&rep, types[i].ours), 0x1234 + i);
		KUNIT_EXPECT_EQ(test, rep.qpn + rep.eecn, 0x1234 + i);
	}
	KUNIT_EXPECT_EQ(test, cm_req_set_qp_type(&req, IB_QPT_UD), -EINVAL);
	req.extended_transport = 2;
	req.transport = CM_TRANSPORT_EXTENDED;
	KUNIT_EXPECT_EQ(test, cm_req_refusal(&req), IB_CM_REJ_INVALID_TRANSPORT_TYPE);
	req.transport = CM_TRANSPORT_RD;
	KUNIT_EXPECT_EQ(test, cm_req_refusal(&req), IB_CM_REJ_INVALID_TRANSPORT_TYPE);
	req = (struct cm_req){};
	KUNIT_EXPECT_EQ(test, cm_req_refusal(&req), IB_CM_REJ_INVALID_MTU);
	req.mtu = IB_MTU_4096 + 1;
	KUNIT_EXPECT_EQ(test, cm_req_refusal(&req), IB_CM_REJ_INVALID_MTU);
	KUNIT_EXPECT_FALSE(test, cm_req_has_alternate(&req));
	req.alternate.local_gid.raw[15] = 1;
	KUNIT_EXPECT_TRUE(test, cm_req_has_alternate(&req));
}

static void reasons_have_names(struct kunit *test)
{
	unsigned int named = 0;

	for (unsigned int reason = 0; reason < 300; reason++)
		named += strcmp(cm_rej_reason_name(reason), "unknown reason") != 0;
	/* 1 to 33 and 35 */
	KUNIT_EXPECT_EQ(test, named, 34);
	KUNIT_EXPECT_STREQ(test, cm_rej_reason_name(34), "unknown reason");
	KUNIT_EXPECT_STREQ(test, cm_rej_reason_name(UINT_MAX), "unknown reason");
	KUNIT_EXPECT_STREQ(test, cm_msg_name(CM_MSG_SIDR_REP), "SIDR_REP");
	KUNIT_EXPECT_STREQ(test, cm_msg_name(CM_MSG_TYPES), "unknown");
}

/* ---- times ---- */

static void times_in_milliseconds(struct kunit *test)
{
	/* 4.096 us * 2^n, rounded up */
	KUNIT_EXPECT_EQ(test, cm_time_to_ms(0), 1);
	KUNIT_EXPECT_EQ(test, cm_time_to_ms(7), 1);
	KUNIT_EXPECT_EQ(test, cm_time_to_ms(8), 2);
	KUNIT_EXPECT_EQ(test, cm_time_to_ms(20), 4295);
	KUNIT_EXPECT_EQ(test, cm_time_to_ms(31), 8796094);
	KUNIT_EXPECT_EQ(test, cm_time_to_ms(255), 8796094);
	/* Each is twice the one before, but for a millisecond of rounding. */
	for (u8 time = 1; time <= CM_TIME_MAX; time++) {
		KUNIT_EXPECT_LE(test, cm_time_to_ms(time), 2 * cm_time_to_ms(time - 1));
		KUNIT_EXPECT_GE(test, cm_time_to_ms(time), 2 * cm_time_to_ms(time - 1) - 1);
	}
}

static void ack_timeouts(struct kunit *test)
{
	u8 time;
	u64 sum;

	KUNIT_EXPECT_EQ(test, cm_ack_timeout(0, 18), 19);
	KUNIT_EXPECT_EQ(test, cm_ack_timeout(17, 18), 19);
	KUNIT_EXPECT_EQ(test, cm_ack_timeout(18, 18), 20);
	KUNIT_EXPECT_EQ(test, cm_ack_timeout(15, 0), 15);
	KUNIT_EXPECT_EQ(test, cm_ack_timeout(31, 31), 31);
	/* The nearer of two times: three quarters of the sum at least, three halves at most. */
	for (u8 delay = 0; delay < 30; delay++)
		for (u8 life = 0; life < 29; life++) {
			time = cm_ack_timeout(delay, life);
			sum = (2ULL << life) + (1ULL << delay);
			KUNIT_EXPECT_GE(test, 3ULL << time, 2 * sum);
			KUNIT_EXPECT_LE(test, 3ULL << time, 4 * sum);
		}
	KUNIT_EXPECT_EQ(test, cm_packet_life(0), 0);
	for (u8 life = 0; life < CM_TIME_MAX; life++)
		KUNIT_EXPECT_EQ(test, cm_packet_life(life + 1), life);
}

static void waits(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, cm_request_ms(18, 20), 2 * 1074 + 4295);
	KUNIT_EXPECT_EQ(test, cm_reply_ms(20), 4295);
	KUNIT_EXPECT_EQ(test, cm_mra_ms(24, 19), 68720 + 2148);
	KUNIT_EXPECT_EQ(test, cm_timewait_ms(19, 0), 2148);
	/* A peer may choose up to 20, this side whatever it likes. */
	KUNIT_EXPECT_EQ(test, cm_timewait_ms(20, 0), 4295);
	KUNIT_EXPECT_EQ(test, cm_timewait_ms(31, 0), 4295);
	KUNIT_EXPECT_EQ(test, cm_timewait_ms(31, 18), 4295);
	KUNIT_EXPECT_EQ(test, cm_timewait_ms(31, 22), 17180);
	/* The longest of all fits. */
	KUNIT_EXPECT_EQ(test, cm_request_ms(31, 31), 3 * 8796094);
}

static int msg_init(struct kunit *test)
{
	test->priv = kunit_kzalloc(test, 2 * CM_MAD_SIZE, GFP_KERNEL);
	return test->priv ? 0 : -ENOMEM;
}

static struct kunit_case msg_cases[] = {
	KUNIT_CASE_SLOW(each_number_has_its_place),
	KUNIT_CASE(numbers_too_large_are_refused),
	KUNIT_CASE(messages_there_and_back),
	KUNIT_CASE(private_data_end_with_the_message),
	KUNIT_CASE(additional_information),
	KUNIT_CASE(req_byte_by_byte),
	KUNIT_CASE(rep_byte_by_byte),
	KUNIT_CASE(sidr_rep_byte_by_byte),
	KUNIT_CASE(lap_gids),
	KUNIT_CASE(other_datagrams_are_no_messages),
	KUNIT_CASE(qp_types),
	KUNIT_CASE(reasons_have_names),
	KUNIT_CASE(times_in_milliseconds),
	KUNIT_CASE(ack_timeouts),
	KUNIT_CASE(waits),
	{}
};

static struct kunit_suite msg_suite = {
	.name = "ib_cm_msg",
	.init = msg_init,
	.test_cases = msg_cases,
};

kunit_test_suite(msg_suite);

MODULE_DESCRIPTION("KUnit tests of the communication manager");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
