// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Fuzzes the communication manager: hostile datagrams through the codec, and their effects on the
 * protocol's table, mixed with all calls that a consumer may make.
 *
 * Input: pairs of a byte that says what happens and, if it is a message, its datagram, valid at
 * first and then corrupted. Whatever arrives, a message that is understood is packed again as the
 * same message, answers can be packed, and states stay valid.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kernel.h"
#include "chance.h"
#include "../../../drivers/infiniband/core/cm/proto.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#define CHECK(ok) \
	do { \
		if (!(ok)) { \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #ok); \
			abort(); \
		} \
	} while (0)

struct input {
	const u8 *at, *end;
};

static u8 in_8(struct input *in)
{
	return in->at < in->end ? *in->at++ : 0;
}

/* Reads all bytes that a pointer of a message promises, for the sanitizer to check. */
static unsigned int touch(const u8 *bytes, u8 count)
{
	unsigned int sum = 0;

	while (count--)
		sum += *bytes++;
	return sum;
}

static void touch_info(const struct cm_msg *msg)
{
	unsigned int sum = touch(msg->private_data, msg->private_data_len);

	if (msg->type == CM_MSG_REJ)
		sum += touch(msg->rej.info, msg->rej.info_length);
	else if (msg->type == CM_MSG_APR)
		sum += touch(msg->apr.info, msg->apr.info_length);
	else if (msg->type == CM_MSG_SIDR_REP)
		sum += touch(msg->sidr_rep.info, msg->sidr_rep.info_length);
	CHECK(sum <= 512 * 255);
}

/* Clears the pointers, which lead into another datagram. */
static void without_pointers(struct cm_msg *msg)
{
	msg->private_data = NULL;
	if (msg->type == CM_MSG_REJ)
		msg->rej.info = NULL;
	else if (msg->type == CM_MSG_APR)
		msg->apr.info = NULL;
	else if (msg->type == CM_MSG_SIDR_REP)
		msg->sidr_rep.info = NULL;
}

static bool understood(const u8 *mad, struct cm_msg *msg)
{
	u8 again[CM_MAD_SIZE];
	struct cm_msg back, plain;
	int error = cm_msg_unpack(msg, mad);

	if (error) {
		CHECK(error == -ENOMSG || error == -EPROTONOSUPPORT || error == -EPROTO);
		return false;
	}
	touch_info(msg);
	CHECK(!cm_msg_pack(msg, again));
	CHECK(!cm_msg_unpack(&back, again));
	CHECK(!memcmp(back.private_data, msg->private_data, msg->private_data_len));
	plain = *msg;
	without_pointers(&plain);
	without_pointers(&back);
	CHECK(!memcmp(&back, &plain, sizeof(plain)));
	if (msg->type == CM_MSG_REQ) {
		u16 refusal = cm_req_refusal(&msg->req);

		CHECK(!refusal == (cm_req_qp_type(&msg->req) && msg->req.mtu >= IB_MTU_256 &&
				   msg->req.mtu <= IB_MTU_4096));
		cm_req_has_alternate(&msg->req);
	}
	return true;
}

static void answer(const struct cm_rule *rule)
{
	struct cm_msg msg = { .type = rule->send };
	u8 mad[CM_MAD_SIZE];

	if (rule->send == CM_SEND_NOTHING)
		return;
	CHECK(rule->send < CM_MSG_TYPES);
	if (msg.type == CM_MSG_REJ) {
		msg.rej.about = rule->about;
		msg.rej.reason = rule->code;
	} else if (msg.type == CM_MSG_MRA) {
		msg.mra.about = rule->about;
	} else if (msg.type == CM_MSG_APR) {
		msg.apr.status = rule->code;
	} else if (msg.type == CM_MSG_SIDR_REP) {
		msg.sidr_rep.status = rule->code;
	}
	CHECK(!cm_msg_pack(&msg, mad));
}

/* Applies an input to the id. */
static void happens(struct cm_rule *id, enum cm_input input)
{
	struct cm_rule rule;

	CHECK(input < CM_INPUTS);
	rule = cm_proto_rule(id->next, id->next_lap, input);
	CHECK(rule.next < CM_STATES && rule.next_lap < CM_LAP_STATES);
	CHECK(rule.verdict == CM_PROCEED || (rule.next == id->next && rule.event == CM_NO_EVENT));
	CHECK(rule.event >= CM_NO_EVENT && rule.event <= IB_CM_SIDR_REP_RECEIVED);
	CHECK(!rule.error == (rule.verdict != CM_REFUSE));
	answer(&rule);
	*id = rule;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static const u8 header[] = { 1, IB_MGMT_CLASS_CM, CM_CLASS_VERSION, IB_MGMT_METHOD_SEND };
	struct input in = { data, data + size };
	struct cm_rule id = { .next = IB_CM_IDLE };
	/* Of the exact size, for the sanitizer to notice reads behind it. */
	u8 *mad = malloc(CM_MAD_SIZE);
	struct cm_msg msg;

	CHECK(mad);
	while (in.at < in.end) {
		u8 what = in_8(&in);
		unsigned int count;

		if (what < 2 * CM_INPUTS) {
			happens(&id, what % CM_INPUTS);
			continue;
		}
		memset(mad, 0, CM_MAD_SIZE);
		memcpy(mad, header, sizeof(header));
		mad[17] = 0x10 + what % CM_MSG_TYPES;
		count = in_8(&in) % 24;
		for (unsigned int i = 0; i < count && in.at < in.end; i++) {
			u8 place = in_8(&in);

			mad[place] ^= in_8(&in);
		}
		if (!understood(mad, &msg))
			continue;
		if (what & 1) {
			struct cm_rule orphan = cm_proto_orphan(msg.type);

			answer(&orphan);
		} else {
			happens(&id, cm_proto_input(&msg));
		}
	}
	free(mad);
	return 0;
}

#ifndef LIBFUZZER
/*
 * Without libFuzzer: pseudo-random inputs, the same each time, and words for the parts that only
 * are read.
 */
int main(void)
{
	printf("[ RUN      ] cm_fuzz: inputs by chance\n");
	fflush(stdout);
	inputs_by_chance(200000);
	for (unsigned int number = 0; number < 1000; number++)
		CHECK(*cm_rej_reason_name(number) && *cm_msg_name(number) &&
		      *cm_state_name(number) && *cm_lap_state_name(number) &&
		      *cm_event_name(number) && *cm_input_name(number));
	printf("[       OK ] cm_fuzz: inputs by chance\n[  PASSED  ] 1 test(s).\n");
	return 0;
}
#endif
