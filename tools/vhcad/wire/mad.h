/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Management datagrams (MADs) as bytes: 256 of them, headers first, then an attribute.
 *
 * Each field is a constant that says where it begins and how wide it is, so that an attribute is
 * a list of such constants and one pair of functions reads and writes them all.  Nothing here
 * depends on ports, switches or access rights.
 */
#ifndef VHCAD_WIRE_MAD_H
#define VHCAD_WIRE_MAD_H

#include "lib/types.h"

#define MAD_LEN			256u
#define MAD_HDR_LEN		24u

/* Q_Key of QP1, and the P_Key of packets of QP0. */
#define MAD_GSI_QKEY		0x80010000u
#define MAD_SMI_PKEY		0xffffu

/* A field: the bit where it begins, counted from the most significant one of byte 0, and bits. */
#define MAD_FIELD(first, bits)	((first) << 8 | (bits))
/* The same, with a place in bytes. */
#define MAD_BYTES(first, bytes)	MAD_FIELD((first) * 8, (bytes) * 8)

/**
 * mad_get() - read a field
 * @base: where the header or the attribute begins
 * @field: MAD_FIELD() of at most 64 bits
 */
u64 mad_get(const u8 *base, u32 field);

/** mad_put() - write a field; bits of @value above it are cut off, other fields stay */
void mad_put(u8 *base, u32 field, u64 value);

/* Common header. */
enum mad_hdr {
	MAD_BASE_VERSION	= MAD_BYTES(0, 1),
	MAD_CLASS		= MAD_BYTES(1, 1),
	MAD_CLASS_VERSION	= MAD_BYTES(2, 1),
	MAD_METHOD		= MAD_BYTES(3, 1),
	MAD_STATUS		= MAD_BYTES(4, 2),
	MAD_TID			= MAD_BYTES(8, 8),
	MAD_ATTR		= MAD_BYTES(16, 2),
	MAD_ATTR_MOD		= MAD_BYTES(20, 4),
	/* subnet management, LID routed and directed */
	SMP_MKEY		= MAD_BYTES(24, 8),
	/* directed routes have these in the place of the status, and behind the M_Key */
	DR_RETURNS		= MAD_FIELD(32, 1),
	DR_STATUS		= MAD_FIELD(33, 15),
	DR_HOP_POINTER		= MAD_BYTES(6, 1),
	DR_HOP_COUNT		= MAD_BYTES(7, 1),
	DR_SLID			= MAD_BYTES(32, 2),
	DR_DLID			= MAD_BYTES(34, 2),
};

/* Where an attribute begins, and the paths of directed routes, a byte a hop, from hop 0. */
#define SMP_DATA		64u
#define SMP_DATA_LEN		64u
#define DR_INITIAL_PATH		128u
#define DR_RETURN_PATH		192u
#define DR_MOST_HOPS		63u
#define PERF_DATA		64u
#define PERF_DATA_LEN		192u

enum mad_class {
	MAD_CLASS_SUBN		= 0x01,
	MAD_CLASS_SUBN_DR	= 0x81,
	MAD_CLASS_PERF		= 0x04,
};

#define MAD_METHOD_RESPONSE	0x80u

enum mad_method {
	MAD_GET			= 0x01,
	MAD_SET			= 0x02,
	MAD_SEND		= 0x03,
	MAD_TRAP		= 0x05,
	MAD_REPORT		= 0x06,
	MAD_TRAP_REPRESS	= 0x07,
	MAD_GET_RESP		= 0x81,
};

/* The last three bits of these say which part of the request is not valid. */
enum mad_status {
	MAD_OK			= 0x00,
	MAD_BUSY		= 0x01,
	MAD_BAD_VERSION		= 0x04,
	MAD_BAD_METHOD		= 0x08,
	MAD_BAD_METHOD_ATTR	= 0x0c,
	MAD_BAD_VALUE		= 0x1c,
};

enum mad_attr {
	ATTR_CLASS_PORT_INFO	= 0x0001,
	ATTR_NOTICE		= 0x0002,
	/* subnet management */
	ATTR_NODE_DESC		= 0x0010,
	ATTR_NODE_INFO		= 0x0011,
	ATTR_SWITCH_INFO	= 0x0012,
	ATTR_GUID_INFO		= 0x0014,
	ATTR_PORT_INFO		= 0x0015,
	ATTR_PKEY_TABLE		= 0x0016,
	ATTR_SL2VL		= 0x0017,
	ATTR_VLARB		= 0x0018,
	ATTR_LINEAR_FDB		= 0x0019,
	ATTR_MCAST_FDB		= 0x001b,
	ATTR_SM_INFO		= 0x0020,
	/* performance management */
	ATTR_PORT_COUNTERS	= 0x0012,
	ATTR_PORT_COUNTERS_EXT	= 0x001d,
};

enum mad_node_type {
	NODE_CA			= 1,
	NODE_SWITCH		= 2,
};

enum mad_node_info {
	NI_BASE_VERSION		= MAD_BYTES(0, 1),
	NI_CLASS_VERSION	= MAD_BYTES(1, 1),
	NI_TYPE			= MAD_BYTES(2, 1),
	NI_PORTS		= MAD_BYTES(3, 1),
	NI_SYSTEM_GUID		= MAD_BYTES(4, 8),
	NI_NODE_GUID		= MAD_BYTES(12, 8),
	NI_PORT_GUID		= MAD_BYTES(20, 8),
	NI_PARTITION_CAP	= MAD_BYTES(28, 2),
	NI_DEVICE_ID		= MAD_BYTES(30, 2),
	NI_REVISION		= MAD_BYTES(32, 4),
	NI_LOCAL_PORT		= MAD_BYTES(36, 1),
	NI_VENDOR_ID		= MAD_BYTES(37, 3),
};

enum mad_switch_info {
	SI_LINEAR_CAP		= MAD_BYTES(0, 2),
	SI_RANDOM_CAP		= MAD_BYTES(2, 2),
	SI_MCAST_CAP		= MAD_BYTES(4, 2),
	SI_LINEAR_TOP		= MAD_BYTES(6, 2),
	SI_DEFAULT_PORT		= MAD_BYTES(8, 1),
	SI_DEFAULT_MCAST	= MAD_BYTES(9, 1),
	SI_DEFAULT_NOT_MCAST	= MAD_BYTES(10, 1),
	SI_LIFETIME		= MAD_FIELD(88, 5),
	SI_PORT_CHANGE		= MAD_FIELD(93, 1),
	SI_SL2VL_OPTIMIZED	= MAD_FIELD(94, 2),
	SI_LIDS_PER_PORT	= MAD_BYTES(12, 2),
	SI_ENFORCE_CAP		= MAD_BYTES(14, 2),
	SI_ENFORCE_IN_CAP	= MAD_FIELD(128, 1),
	SI_ENFORCE_OUT_CAP	= MAD_FIELD(129, 1),
	SI_FILTER_IN_CAP	= MAD_FIELD(130, 1),
	SI_FILTER_OUT_CAP	= MAD_FIELD(131, 1),
	SI_ENHANCED_PORT0	= MAD_FIELD(132, 1),
	SI_MCAST_TOP		= MAD_BYTES(18, 2),
};

enum mad_port_info {
	PI_MKEY			= MAD_BYTES(0, 8),
	PI_GID_PREFIX		= MAD_BYTES(8, 8),
	PI_LID			= MAD_BYTES(16, 2),
	PI_SM_LID		= MAD_BYTES(18, 2),
	PI_CAPS			= MAD_BYTES(20, 4),
	PI_DIAG_CODE		= MAD_BYTES(24, 2),
	PI_MKEY_LEASE		= MAD_BYTES(26, 2),
	PI_LOCAL_PORT		= MAD_BYTES(28, 1),
	PI_WIDTH_ENABLED	= MAD_BYTES(29, 1),
	PI_WIDTH_SUPPORTED	= MAD_BYTES(30, 1),
	PI_WIDTH_ACTIVE		= MAD_BYTES(31, 1),
	PI_SPEED_SUPPORTED	= MAD_FIELD(256, 4),
	PI_STATE		= MAD_FIELD(260, 4),
	PI_PHYS_STATE		= MAD_FIELD(264, 4),
	PI_DOWN_DEFAULT		= MAD_FIELD(268, 4),
	PI_MKEY_PROTECT		= MAD_FIELD(272, 2),
	PI_LMC			= MAD_FIELD(277, 3),
	PI_SPEED_ACTIVE		= MAD_FIELD(280, 4),
	PI_SPEED_ENABLED	= MAD_FIELD(284, 4),
	PI_MTU			= MAD_FIELD(288, 4),
	PI_SM_SL		= MAD_FIELD(292, 4),
	PI_VL_CAP		= MAD_FIELD(296, 4),
	PI_INIT_TYPE		= MAD_FIELD(300, 4),
	PI_VL_HIGH_LIMIT	= MAD_BYTES(38, 1),
	PI_VLARB_HIGH_CAP	= MAD_BYTES(39, 1),
	PI_VLARB_LOW_CAP	= MAD_BYTES(40, 1),
	PI_INIT_TYPE_REPLY	= MAD_FIELD(328, 4),
	PI_MTU_CAP		= MAD_FIELD(332, 4),
	PI_VL_STALL		= MAD_FIELD(336, 3),
	PI_HOQ_LIFE		= MAD_FIELD(339, 5),
	PI_OP_VLS		= MAD_FIELD(344, 4),
	PI_ENFORCE_IN		= MAD_FIELD(348, 1),
	PI_ENFORCE_OUT		= MAD_FIELD(349, 1),
	PI_FILTER_IN		= MAD_FIELD(350, 1),
	PI_FILTER_OUT		= MAD_FIELD(351, 1),
	PI_MKEY_VIOL		= MAD_BYTES(44, 2),
	PI_PKEY_VIOL		= MAD_BYTES(46, 2),
	PI_QKEY_VIOL		= MAD_BYTES(48, 2),
	PI_GUID_CAP		= MAD_BYTES(50, 1),
	PI_REREGISTER		= MAD_FIELD(408, 1),
	PI_MCAST_TRAP_SUPPRESS	= MAD_FIELD(409, 2),
	PI_SUBNET_TIMEOUT	= MAD_FIELD(411, 5),
	PI_RESP_TIME		= MAD_FIELD(419, 5),
	PI_PHY_ERRORS		= MAD_FIELD(424, 4),
	PI_OVERRUN_ERRORS	= MAD_FIELD(428, 4),
	PI_MAX_CREDIT_HINT	= MAD_BYTES(54, 2),
	PI_ROUND_TRIP		= MAD_BYTES(57, 3),
	PI_CAPS2		= MAD_BYTES(60, 2),
	PI_SPEED_EXT_ACTIVE	= MAD_FIELD(496, 4),
	PI_SPEED_EXT_SUPPORTED	= MAD_FIELD(500, 4),
	PI_SPEED_EXT_ENABLED	= MAD_FIELD(507, 5),
};

/* Notices; the details of each trap follow, from NOTICE_DETAILS on. */
#define NOTICE_DETAILS		10u
#define NOTICE_DETAILS_LEN	54u
#define TRAP256_RETURN_PATH	34u
#define TRAP256_MOST_HOPS	30u
#define TRAP257_GIDS		28u	/* two of them */
#define TRAP259_GIDS		26u

enum mad_notice {
	NOTICE_GENERIC		= MAD_FIELD(0, 1),
	NOTICE_TYPE		= MAD_FIELD(1, 7),
	NOTICE_PRODUCER		= MAD_BYTES(1, 3),
	NOTICE_TRAP		= MAD_BYTES(4, 2),
	NOTICE_ISSUER_LID	= MAD_BYTES(6, 2),
	NOTICE_TOGGLE		= MAD_FIELD(64, 1),
	NOTICE_COUNT		= MAD_FIELD(65, 15),
	/* 128: a port of a switch has changed its state */
	TRAP128_LID		= MAD_BYTES(10, 2),
	/* 144: capability mask, or what @TRAP144_CHANGES says */
	TRAP144_LID		= MAD_BYTES(12, 2),
	TRAP144_OTHERS		= MAD_FIELD(127, 1),
	TRAP144_CAPS		= MAD_BYTES(16, 4),
	TRAP144_CHANGES		= MAD_BYTES(20, 2),
	TRAP144_CAPS2		= MAD_BYTES(22, 2),
	/* 256: wrong M_Key */
	TRAP256_LID		= MAD_BYTES(12, 2),
	TRAP256_DR_SLID		= MAD_BYTES(14, 2),
	TRAP256_METHOD		= MAD_BYTES(16, 1),
	TRAP256_ATTR		= MAD_BYTES(18, 2),
	TRAP256_ATTR_MOD	= MAD_BYTES(20, 4),
	TRAP256_MKEY		= MAD_BYTES(24, 8),
	TRAP256_DR		= MAD_FIELD(264, 1),
	TRAP256_DR_CUT		= MAD_FIELD(265, 1),
	TRAP256_DR_HOPS		= MAD_FIELD(266, 6),
	/* 257, 258: wrong P_Key, Q_Key */
	TRAP257_LID1		= MAD_BYTES(12, 2),
	TRAP257_LID2		= MAD_BYTES(14, 2),
	TRAP257_KEY		= MAD_BYTES(16, 4),
	TRAP257_SL		= MAD_FIELD(160, 4),
	TRAP257_QP1		= MAD_BYTES(21, 3),
	TRAP257_QP2		= MAD_BYTES(25, 3),
	/* 259: wrong P_Key at a port of a switch */
	TRAP259_VALID		= MAD_BYTES(10, 2),
	TRAP259_LID1		= MAD_BYTES(12, 2),
	TRAP259_LID2		= MAD_BYTES(14, 2),
	TRAP259_PKEY		= MAD_BYTES(16, 2),
	TRAP259_SL		= MAD_FIELD(144, 4),
	TRAP259_QP1		= MAD_BYTES(19, 3),
	TRAP259_QP2		= MAD_BYTES(23, 3),
	TRAP259_SW_LID		= MAD_BYTES(58, 2),
	TRAP259_PORT		= MAD_BYTES(60, 1),
};

enum mad_trap {
	TRAP_LINK_STATE		= 128,
	TRAP_LOCAL_CHANGE	= 144,
	TRAP_BAD_MKEY		= 256,
	TRAP_BAD_PKEY		= 257,
	TRAP_BAD_QKEY		= 258,
	TRAP_SWITCH_PKEY	= 259,
};

/* Notice types, and what trap 144 says besides the capability mask. */
#define NOTICE_URGENT		1u
#define NOTICE_SECURITY		2u
#define NOTICE_INFO		4u
#define TRAP144_NODE_DESC	0x0001u

/* PortInfo:CapabilityMask: functions of agents, and bit 31 of PortInfo's attribute modifier. */
#define PI_CAP_TRAP		(1u << 3)
#define PI_CAP_SL_MAP		(1u << 6)
#define PI_CAP_SYSTEM_GUID	(1u << 11)
#define PI_CAP_SWITCH_PKEY_TRAP	(1u << 12)
#define PI_CAP_EXT_SPEEDS	(1u << 14)
#define PI_CAP_DR_NOTICE	(1u << 21)
#define PI_CAP_CAPS_NOTICE	(1u << 22)
#define PI_CAP_REREGISTER	(1u << 25)
#define PI_CAP_OTHERS_NOTICE	(1u << 26)
#define PI_MOD_EXT_SPEEDS	(1u << 31)

enum mad_class_port_info {
	CPI_BASE_VERSION	= MAD_BYTES(0, 1),
	CPI_CLASS_VERSION	= MAD_BYTES(1, 1),
	CPI_CAPS		= MAD_BYTES(2, 2),
	CPI_CAPS2		= MAD_FIELD(32, 27),
	CPI_RESP_TIME		= MAD_FIELD(59, 5),
};

/* ClassPortInfo:CapabilityMask of performance management. */
#define PERF_CAP_ALL_PORTS	0x0100u
#define PERF_CAP_EXTENDED	0x0200u
#define PERF_CAP_XMIT_WAIT	0x1000u

enum mad_port_counters {
	PC_PORT			= MAD_BYTES(1, 1),
	PC_SELECT		= MAD_BYTES(2, 2),
	PC_SYMBOL_ERRORS	= MAD_BYTES(4, 2),
	PC_LINK_RECOVERY	= MAD_BYTES(6, 1),
	PC_LINK_DOWNED		= MAD_BYTES(7, 1),
	PC_RCV_ERRORS		= MAD_BYTES(8, 2),
	PC_RCV_REMOTE_PHYSICAL	= MAD_BYTES(10, 2),
	PC_RCV_SWITCH_RELAY	= MAD_BYTES(12, 2),
	PC_XMIT_DISCARDS	= MAD_BYTES(14, 2),
	PC_XMIT_CONSTRAINT	= MAD_BYTES(16, 1),
	PC_RCV_CONSTRAINT	= MAD_BYTES(17, 1),
	PC_SELECT2		= MAD_BYTES(18, 1),
	PC_LOCAL_INTEGRITY	= MAD_FIELD(152, 4),
	PC_OVERRUN		= MAD_FIELD(156, 4),
	PC_QP1_DROPPED		= MAD_BYTES(20, 2),
	PC_VL15_DROPPED		= MAD_BYTES(22, 2),
	PC_XMIT_DATA		= MAD_BYTES(24, 4),
	PC_RCV_DATA		= MAD_BYTES(28, 4),
	PC_XMIT_PKTS		= MAD_BYTES(32, 4),
	PC_RCV_PKTS		= MAD_BYTES(36, 4),
	PC_XMIT_WAIT		= MAD_BYTES(40, 4),
	/* PortCountersExtended: port and selection stand in the same places */
	PCX_XMIT_DATA		= MAD_BYTES(8, 8),
	PCX_RCV_DATA		= MAD_BYTES(16, 8),
	PCX_XMIT_PKTS		= MAD_BYTES(24, 8),
	PCX_RCV_PKTS		= MAD_BYTES(32, 8),
	PCX_XMIT_UNICAST	= MAD_BYTES(40, 8),
	PCX_RCV_UNICAST		= MAD_BYTES(48, 8),
	PCX_XMIT_MCAST		= MAD_BYTES(56, 8),
	PCX_RCV_MCAST		= MAD_BYTES(64, 8),
};

#endif /* VHCAD_WIRE_MAD_H */
