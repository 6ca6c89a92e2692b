// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Management datagrams as bytes.
 */
#include <string.h>

#include "lib/bytes.h"
#include "tests/cm.h"
#include "tests/trandom.h"
#include "wire/mad.h"

struct name {
	u32 field;
	const char *name;
};

#define F(f)	{ f, #f }

/* All fields of a header or an attribute, and its bytes. */
struct layout {
	const char *name;
	u32 len;
	const struct name *field;
};

static const struct layout layouts[] = {
	{ "SMP", 64, (const struct name[]){
		F(MAD_BASE_VERSION), F(MAD_CLASS), F(MAD_CLASS_VERSION), F(MAD_METHOD),
		F(DR_RETURNS), F(DR_STATUS), F(DR_HOP_POINTER), F(DR_HOP_COUNT), F(MAD_TID),
		F(MAD_ATTR), F(MAD_ATTR_MOD), F(SMP_MKEY), F(DR_SLID), F(DR_DLID), { 0 } } },
	{ "NodeInfo", 40, (const struct name[]){
		F(NI_BASE_VERSION), F(NI_CLASS_VERSION), F(NI_TYPE), F(NI_PORTS),
		F(NI_SYSTEM_GUID), F(NI_NODE_GUID), F(NI_PORT_GUID), F(NI_PARTITION_CAP),
		F(NI_DEVICE_ID), F(NI_REVISION), F(NI_LOCAL_PORT), F(NI_VENDOR_ID), { 0 } } },
	{ "SwitchInfo", 20, (const struct name[]){
		F(SI_LINEAR_CAP), F(SI_RANDOM_CAP), F(SI_MCAST_CAP), F(SI_LINEAR_TOP),
		F(SI_DEFAULT_PORT), F(SI_DEFAULT_MCAST), F(SI_DEFAULT_NOT_MCAST),
		F(SI_LIFETIME), F(SI_PORT_CHANGE), F(SI_SL2VL_OPTIMIZED), F(SI_LIDS_PER_PORT),
		F(SI_ENFORCE_CAP), F(SI_ENFORCE_IN_CAP), F(SI_ENFORCE_OUT_CAP),
		F(SI_FILTER_IN_CAP), F(SI_FILTER_OUT_CAP), F(SI_ENHANCED_PORT0),
		F(SI_MCAST_TOP), { 0 } } },
	{ "PortInfo", 64, (const struct name[]){
		F(PI_MKEY), F(PI_GID_PREFIX), F(PI_LID), F(PI_SM_LID), F(PI_CAPS),
		F(PI_DIAG_CODE), F(PI_MKEY_LEASE), F(PI_LOCAL_PORT), F(PI_WIDTH_ENABLED),
		F(PI_WIDTH_SUPPORTED), F(PI_WIDTH_ACTIVE), F(PI_SPEED_SUPPORTED), F(PI_STATE),
		F(PI_PHYS_STATE), F(PI_DOWN_DEFAULT), F(PI_MKEY_PROTECT), F(PI_LMC),
		F(PI_SPEED_ACTIVE), F(PI_SPEED_ENABLED), F(PI_MTU), F(PI_SM_SL), F(PI_VL_CAP),
		F(PI_INIT_TYPE), F(PI_VL_HIGH_LIMIT), F(PI_VLARB_HIGH_CAP),
		F(PI_VLARB_LOW_CAP), F(PI_INIT_TYPE_REPLY), F(PI_MTU_CAP), F(PI_VL_STALL),
		F(PI_HOQ_LIFE), F(PI_OP_VLS), F(PI_ENFORCE_IN), F(PI_ENFORCE_OUT),
		F(PI_FILTER_IN), F(PI_FILTER_OUT), F(PI_MKEY_VIOL), F(PI_PKEY_VIOL),
		F(PI_QKEY_VIOL), F(PI_GUID_CAP), F(PI_REREGISTER), F(PI_MCAST_TRAP_SUPPRESS),
		F(PI_SUBNET_TIMEOUT), F(PI_RESP_TIME), F(PI_PHY_ERRORS), F(PI_OVERRUN_ERRORS),
		F(PI_MAX_CREDIT_HINT), F(PI_ROUND_TRIP), F(PI_CAPS2), F(PI_SPEED_EXT_ACTIVE),
		F(PI_SPEED_EXT_SUPPORTED), F(PI_SPEED_EXT_ENABLED), { 0 } } },
	{ "PortCounters", 44, (const struct name[]){
		F(PC_PORT), F(PC_SELECT), F(PC_SYMBOL_ERRORS), F(PC_LINK_RECOVERY),
		F(PC_LINK_DOWNED), F(PC_RCV_ERRORS), F(PC_RCV_REMOTE_PHYSICAL),
		F(PC_RCV_SWITCH_RELAY), F(PC_XMIT_DISCARDS), F(PC_XMIT_CONSTRAINT),
		F(PC_RCV_CONSTRAINT), F(PC_SELECT2), F(PC_LOCAL_INTEGRITY), F(PC_OVERRUN),
		F(PC_QP1_DROPPED), F(PC_VL15_DROPPED), F(PC_XMIT_DATA), F(PC_RCV_DATA),
		F(PC_XMIT_PKTS), F(PC_RCV_PKTS), F(PC_XMIT_WAIT), { 0 } } },
	{ "PortCountersExtended", 72, (const struct name[]){
		F(PC_PORT), F(PC_SELECT), F(PCX_XMIT_DATA), F(PCX_RCV_DATA), F(PCX_XMIT_PKTS),
		F(PCX_RCV_PKTS), F(PCX_XMIT_UNICAST), F(PCX_RCV_UNICAST), F(PCX_XMIT_MCAST),
		F(PCX_RCV_MCAST), { 0 } } },
	{ "trap 256", 34, (const struct name[]){
		F(NOTICE_GENERIC), F(NOTICE_TYPE), F(NOTICE_PRODUCER), F(NOTICE_TRAP),
		F(NOTICE_ISSUER_LID), F(NOTICE_TOGGLE), F(NOTICE_COUNT), F(TRAP256_LID),
		F(TRAP256_DR_SLID), F(TRAP256_METHOD), F(TRAP256_ATTR), F(TRAP256_ATTR_MOD),
		F(TRAP256_MKEY), F(TRAP256_DR), F(TRAP256_DR_CUT), F(TRAP256_DR_HOPS), { 0 } } },
	{ "trap 144", 24, (const struct name[]){
		F(TRAP144_LID), F(TRAP144_OTHERS), F(TRAP144_CAPS), F(TRAP144_CHANGES),
		F(TRAP144_CAPS2), { 0 } } },
	{ "trap 257", 28, (const struct name[]){
		F(TRAP257_LID1), F(TRAP257_LID2), F(TRAP257_KEY), F(TRAP257_SL),
		F(TRAP257_QP1), F(TRAP257_QP2), { 0 } } },
	{ "trap 259", 61, (const struct name[]){
		F(TRAP259_VALID), F(TRAP259_LID1), F(TRAP259_LID2), F(TRAP259_PKEY),
		F(TRAP259_SL), F(TRAP259_QP1), F(TRAP259_QP2), F(TRAP259_SW_LID),
		F(TRAP259_PORT), { 0 } } },
};

static u64 ones(u32 field)
{
	return ~0ull >> (64 - (field & 0xff));
}

/* Fields lie in the attribute, and no two have a bit in common. */
static void layouts_fit(void **state)
{
	for (u32 i = 0; i < ARRAY_SIZE(layouts); i++) {
		const struct layout *l = &layouts[i];
		u8 taken[MAD_LEN] = { 0 };

		for (const struct name *n = l->field; n->name; n++) {
			u8 one[MAD_LEN] = { 0 };

			assert_in_range(n->field & 0xff, 1, 64);
			mad_put(one, n->field, ~0ull);
			for (u32 k = 0; k < MAD_LEN; k++) {
				if (one[k] & taken[k] || (one[k] && k >= l->len))
					fail_msg("%s: %s, byte %u", l->name, n->name, k);
				taken[k] |= one[k];
			}
		}
	}
}

/* Every field keeps its last value, whatever is written to its neighbours. */
static void neighbours(void **state)
{
	u64 seed = 1, have[64];

	for (u32 i = 0; i < ARRAY_SIZE(layouts); i++) {
		const struct name *field = layouts[i].field;
		u8 data[MAD_LEN];

		memset(data, 0xa5, sizeof(data));
		for (u32 round = 0; round < 20; round++) {
			for (u32 k = 0; field[k].name; k++) {
				have[k] = t_random(&seed);
				mad_put(data, field[k].field, have[k]);
			}
			for (u32 k = 0; field[k].name; k++)
				assert_int_equal(mad_get(data, field[k].field),
						 have[k] & ones(field[k].field));
		}
	}
}

/* The least significant bit of a field, and its place. */
static void places(void **state)
{
	static const struct {
		u32 field;
		u8 byte, bits;
	} at[] = {
		{ MAD_STATUS, 5, 0x01 }, { DR_RETURNS, 4, 0x80 }, { DR_STATUS, 5, 0x01 },
		{ DR_HOP_POINTER, 6, 0x01 }, { DR_HOP_COUNT, 7, 0x01 }, { MAD_TID, 15, 0x01 },
		{ MAD_ATTR, 17, 0x01 }, { MAD_ATTR_MOD, 23, 0x01 }, { SMP_MKEY, 31, 0x01 },
		{ DR_SLID, 33, 0x01 }, { DR_DLID, 35, 0x01 },
		{ NI_PORT_GUID, 27, 0x01 }, { NI_REVISION, 35, 0x01 }, { NI_LOCAL_PORT, 36, 0x01 },
		{ NI_VENDOR_ID, 39, 0x01 },
		{ SI_LIFETIME, 11, 0x08 }, { SI_PORT_CHANGE, 11, 0x04 },
		{ SI_SL2VL_OPTIMIZED, 11, 0x01 }, { SI_ENFORCE_IN_CAP, 16, 0x80 },
		{ SI_ENHANCED_PORT0, 16, 0x08 }, { SI_MCAST_TOP, 19, 0x01 },
		{ PI_LID, 17, 0x01 }, { PI_CAPS, 23, 0x01 }, { PI_LOCAL_PORT, 28, 0x01 },
		{ PI_WIDTH_ACTIVE, 31, 0x01 }, { PI_SPEED_SUPPORTED, 32, 0x10 },
		{ PI_STATE, 32, 0x01 }, { PI_PHYS_STATE, 33, 0x10 }, { PI_DOWN_DEFAULT, 33, 0x01 },
		{ PI_MKEY_PROTECT, 34, 0x40 }, { PI_LMC, 34, 0x01 }, { PI_SPEED_ACTIVE, 35, 0x10 },
		{ PI_SPEED_ENABLED, 35, 0x01 }, { PI_MTU, 36, 0x10 }, { PI_SM_SL, 36, 0x01 },
		{ PI_VL_CAP, 37, 0x10 }, { PI_VLARB_LOW_CAP, 40, 0x01 }, { PI_MTU_CAP, 41, 0x01 },
		{ PI_VL_STALL, 42, 0x20 }, { PI_HOQ_LIFE, 42, 0x01 }, { PI_OP_VLS, 43, 0x10 },
		{ PI_ENFORCE_IN, 43, 0x08 }, { PI_FILTER_OUT, 43, 0x01 },
		{ PI_QKEY_VIOL, 49, 0x01 },
		{ PI_GUID_CAP, 50, 0x01 }, { PI_REREGISTER, 51, 0x80 },
		{ PI_SUBNET_TIMEOUT, 51, 0x01 }, { PI_RESP_TIME, 52, 0x01 },
		{ PI_PHY_ERRORS, 53, 0x10 }, { PI_ROUND_TRIP, 59, 0x01 }, { PI_CAPS2, 61, 0x01 },
		{ PI_SPEED_EXT_ACTIVE, 62, 0x10 }, { PI_SPEED_EXT_ENABLED, 63, 0x01 },
		{ CPI_CAPS, 3, 0x01 }, { CPI_CAPS2, 7, 0x20 }, { CPI_RESP_TIME, 7, 0x01 },
		{ PC_PORT, 1, 0x01 }, { PC_SELECT, 3, 0x01 }, { PC_VL15_DROPPED, 23, 0x01 },
		{ PC_RCV_PKTS, 39, 0x01 }, { PCX_RCV_MCAST, 71, 0x01 },
		{ TRAP144_OTHERS, 15, 0x01 }, { TRAP144_CAPS, 19, 0x01 },
		{ TRAP256_DR, 33, 0x80 }, { TRAP256_DR_CUT, 33, 0x40 },
		{ TRAP256_DR_HOPS, 33, 0x01 },
		{ TRAP257_SL, 20, 0x10 }, { TRAP257_QP1, 23, 0x01 }, { TRAP257_QP2, 27, 0x01 },
		{ TRAP259_SL, 18, 0x10 }, { TRAP259_PORT, 60, 0x01 },
	};

	for (u32 i = 0; i < ARRAY_SIZE(at); i++) {
		u8 data[MAD_LEN] = { 0 }, want[MAD_LEN] = { 0 };

		want[at[i].byte] = at[i].bits;
		mad_put(data, at[i].field, 1);
		if (memcmp(data, want, sizeof(want)))
			fail_msg("field %u", i);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layouts_fit),
		cmocka_unit_test(neighbours),
		cmocka_unit_test(places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
