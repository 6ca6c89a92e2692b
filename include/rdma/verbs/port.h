/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Ports: link parameters, attributes and the properties that never change.
 */
#ifndef RDMA_VERBS_PORT_H
#define RDMA_VERBS_PORT_H

#include <rdma/verbs/types.h>

/* Path MTUs as packets encode them; bytes = 128 << value. */
enum ib_mtu {
	IB_MTU_256  = 1,
	IB_MTU_512  = 2,
	IB_MTU_1024 = 3,
	IB_MTU_2048 = 4,
	IB_MTU_4096 = 5
};

/* Omni-Path's own MTUs, which continue enum ib_mtu. */
enum opa_mtu {
	OPA_MTU_8192 = 6,
	OPA_MTU_10240 = 7
};

/**
 * ib_mtu_enum_to_int() - convert an encoded MTU to bytes
 * @mtu: encoded MTU
 *
 * Return: 256 to 4096, or -1 if @mtu is not an encoded MTU.
 */
static inline int ib_mtu_enum_to_int(enum ib_mtu mtu)
{
	if (mtu < IB_MTU_256 || mtu > IB_MTU_4096)
		return -1;
	return 128 << mtu;
}

/**
 * ib_mtu_int_to_enum() - find the largest MTU that is not above a number of bytes
 * @mtu: bytes
 *
 * Return: the encoded MTU; IB_MTU_256 also for fewer than 256 bytes.
 */
static inline enum ib_mtu ib_mtu_int_to_enum(int mtu)
{
	int code = IB_MTU_4096;

	while (code > IB_MTU_256 && (128 << code) > mtu)
		code--;
	return code;
}

/**
 * opa_mtu_enum_to_int() - convert an encoded MTU, also one of Omni-Path, to bytes
 * @mtu: encoded MTU
 *
 * Return: bytes, or -1 if @mtu is not an encoded MTU.
 */
static inline int opa_mtu_enum_to_int(enum opa_mtu mtu)
{
	if (mtu == OPA_MTU_10240)
		return 10240;
	return mtu == OPA_MTU_8192 ? 8192 : ib_mtu_enum_to_int((enum ib_mtu)mtu);
}

/**
 * opa_mtu_int_to_enum() - like ib_mtu_int_to_enum(), with Omni-Path's MTUs too
 * @mtu: bytes
 *
 * Return: the encoded MTU.
 */
static inline enum opa_mtu opa_mtu_int_to_enum(int mtu)
{
	if (mtu < 8192)
		return (enum opa_mtu)ib_mtu_int_to_enum(mtu);
	return mtu < 10240 ? OPA_MTU_8192 : OPA_MTU_10240;
}

enum ib_port_state {
	IB_PORT_NOP		= 0,
	IB_PORT_DOWN		= 1,
	IB_PORT_INIT		= 2,
	IB_PORT_ARMED		= 3,
	IB_PORT_ACTIVE		= 4,
	IB_PORT_ACTIVE_DEFER	= 5
};

enum ib_port_phys_state {
	IB_PORT_PHYS_STATE_SLEEP = 1,
	IB_PORT_PHYS_STATE_POLLING = 2,
	IB_PORT_PHYS_STATE_DISABLED = 3,
	IB_PORT_PHYS_STATE_PORT_CONFIGURATION_TRAINING = 4,
	IB_PORT_PHYS_STATE_LINK_UP = 5,
	IB_PORT_PHYS_STATE_LINK_ERROR_RECOVERY = 6,
	IB_PORT_PHYS_STATE_PHY_TEST = 7,
};

/* Width of a link, encoded as in PortInfo. */
enum ib_port_width {
	IB_WIDTH_1X	= 1,
	IB_WIDTH_2X	= 16,
	IB_WIDTH_4X	= 2,
	IB_WIDTH_8X	= 4,
	IB_WIDTH_12X	= 8
};

/**
 * ib_width_enum_to_int() - convert an encoded width to a number of lanes
 * @width: encoded width
 *
 * Return: number of lanes, or -1 if @width is not an encoded width.
 */
static inline int ib_width_enum_to_int(enum ib_port_width width)
{
	switch (width) {
	case IB_WIDTH_1X:
		return 1;
	case IB_WIDTH_2X:
		return 2;
	case IB_WIDTH_4X:
		return 4;
	case IB_WIDTH_8X:
		return 8;
	case IB_WIDTH_12X:
		return 12;
	}
	return -1;
}

/* Speed of one lane: any of these bits in PortInfo, one in ib_port_attr.active_speed. */
enum ib_port_speed {
	IB_SPEED_SDR	= 1,
	IB_SPEED_DDR	= 2,
	IB_SPEED_QDR	= 4,
	IB_SPEED_FDR10	= 8,
	IB_SPEED_FDR	= 16,
	IB_SPEED_EDR	= 32,
	IB_SPEED_HDR	= 64,
	IB_SPEED_NDR	= 128,
	IB_SPEED_XDR	= 256,
};

/*
 * Bits of ib_port_immutable.core_cap_flags: management classes that the core
 * serves on the port, types of address, and the protocol.  Drivers report the
 * RDMA_CORE_PORT_* combinations.
 */
#define RDMA_CORE_CAP_IB_MAD            0x00000001
#define RDMA_CORE_CAP_IB_SMI            0x00000002
#define RDMA_CORE_CAP_IB_CM             0x00000004
#define RDMA_CORE_CAP_IW_CM             0x00000008
#define RDMA_CORE_CAP_IB_SA             0x00000010
#define RDMA_CORE_CAP_OPA_MAD           0x00000020
#define RDMA_CORE_CAP_AF_IB             0x00001000
#define RDMA_CORE_CAP_ETH_AH            0x00002000
#define RDMA_CORE_CAP_OPA_AH            0x00004000
#define RDMA_CORE_CAP_IB_GRH_REQUIRED   0x00008000
#define RDMA_CORE_CAP_PROT_IB           0x00100000
#define RDMA_CORE_CAP_PROT_ROCE         0x00200000
#define RDMA_CORE_CAP_PROT_IWARP        0x00400000
#define RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP 0x00800000
#define RDMA_CORE_CAP_PROT_RAW_PACKET   0x01000000
#define RDMA_CORE_CAP_PROT_USNIC        0x02000000
#define RDMA_CORE_PORT_IB_GRH_REQUIRED (RDMA_CORE_CAP_IB_GRH_REQUIRED \
					| RDMA_CORE_CAP_PROT_ROCE     \
					| RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP)
#define RDMA_CORE_PORT_IBA_IB          (RDMA_CORE_CAP_PROT_IB  \
					| RDMA_CORE_CAP_IB_MAD \
					| RDMA_CORE_CAP_IB_SMI \
					| RDMA_CORE_CAP_IB_CM  \
					| RDMA_CORE_CAP_IB_SA  \
					| RDMA_CORE_CAP_AF_IB)
#define RDMA_CORE_PORT_IBA_ROCE        (RDMA_CORE_CAP_PROT_ROCE \
					| RDMA_CORE_CAP_IB_MAD  \
					| RDMA_CORE_CAP_IB_CM   \
					| RDMA_CORE_CAP_AF_IB   \
					| RDMA_CORE_CAP_ETH_AH)
#define RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP			\
					(RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP \
					| RDMA_CORE_CAP_IB_MAD  \
					| RDMA_CORE_CAP_IB_CM   \
					| RDMA_CORE_CAP_AF_IB   \
					| RDMA_CORE_CAP_ETH_AH)
#define RDMA_CORE_PORT_IWARP           (RDMA_CORE_CAP_PROT_IWARP \
					| RDMA_CORE_CAP_IW_CM)
#define RDMA_CORE_PORT_INTEL_OPA       (RDMA_CORE_PORT_IBA_IB  \
					| RDMA_CORE_CAP_OPA_MAD)
#define RDMA_CORE_PORT_RAW_PACKET	(RDMA_CORE_CAP_PROT_RAW_PACKET)
#define RDMA_CORE_PORT_USNIC		(RDMA_CORE_CAP_PROT_USNIC)

/**
 * struct ib_port_attr - state and limits of a port, as query_port() fills them
 * @subnet_prefix: prefix of the subnet
 * @state: logical state
 * @max_mtu: largest MTU
 * @active_mtu: MTU in use
 * @phys_mtu: bytes, Omni-Path only
 * @gid_tbl_len: entries of the GID table
 * @ip_gids: the GIDs are derived from IP addresses
 * @port_cap_flags: enum ib_uverbs_query_port_cap_flags
 * @max_msg_sz: bytes of the largest message
 * @bad_pkey_cntr: packets with a wrong P_Key
 * @qkey_viol_cntr: packets with a wrong Q_Key
 * @pkey_tbl_len: entries of the P_Key table
 * @sm_lid: LID of the subnet manager
 * @lid: LID of the port; Omni-Path's have 32 bits
 * @lmc: low bits of a LID that the port ignores
 * @max_vl_num: virtual lanes, as PortInfo encodes them
 * @sm_sl: service level of packets to the subnet manager
 * @subnet_timeout: longest time that a packet needs through the subnet, 4.096 us << n
 * @init_type_reply: what the subnet manager initialised
 * @active_width: enum ib_port_width
 * @active_speed: enum ib_port_speed
 * @phys_state: enum ib_port_phys_state
 * @port_cap_flags2: CapabilityMask2
 *
 * The core clears the structure before it calls the driver.
 */
struct ib_port_attr {
	u64			subnet_prefix;
	enum ib_port_state	state;
	enum ib_mtu		max_mtu;
	enum ib_mtu		active_mtu;
	u32                     phys_mtu;
	int			gid_tbl_len;
	unsigned int		ip_gids:1;

	u32			port_cap_flags;
	u32			max_msg_sz;
	u32			bad_pkey_cntr;
	u32			qkey_viol_cntr;
	u16			pkey_tbl_len;
	u32			sm_lid;
	u32			lid;
	u8			lmc;
	u8			max_vl_num;
	u8			sm_sl;
	u8			subnet_timeout;
	u8			init_type_reply;
	u8			active_width;
	u16			active_speed;
	u8                      phys_state;
	u16			port_cap_flags2;
};

enum ib_port_modify_flags {
	IB_PORT_SHUTDOWN		= 1,
	IB_PORT_INIT_TYPE		= (1 << 2),
	IB_PORT_RESET_QKEY_CNTR		= (1 << 3),
	IB_PORT_OPA_MASK_CHG		= (1 << 4)
};

/* A change of a port: bits of its capability mask to set and to clear, and its init type. */
struct ib_port_modify {
	u32	set_port_cap_mask;
	u32	clr_port_cap_mask;
	u8	init_type;
};

/**
 * struct ib_port_immutable - properties of a port that never change; the driver reports
 *	them at registration
 * @pkey_tbl_len: entries of the P_Key table
 * @gid_tbl_len: entries of the GID table
 * @core_cap_flags: RDMA_CORE_CAP_*
 * @max_mad_size: bytes of the largest MAD, 0 without management
 */
struct ib_port_immutable {
	int                           pkey_tbl_len;
	int                           gid_tbl_len;
	u32                           core_cap_flags;
	u32                           max_mad_size;
};

struct rdma_port_core;

/**
 * struct ib_port_data - the core's data of a port; ib_device.port_data has one
 *	for every port number up to rdma_end_port()
 * @ib_dev: the device
 * @immutable: read by every rdma_cap_*() and rdma_protocol_*() test
 * @core: state private to ib_core: caches, net device, counters, sysfs
 */
struct ib_port_data {
	struct ib_device *ib_dev;
	struct ib_port_immutable immutable;
	struct rdma_port_core *core;
};

#endif /* RDMA_VERBS_PORT_H */
