/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Admin commands of the device, its ports and counters. */
#ifndef VHCA_DEFS_DEVICE_H
#define VHCA_DEFS_DEVICE_H

#include <linux/types.h>
#include <rdma/vhca-abi.h>

enum vhca_cap {			/* bit numbers in vhca_device_attr.caps */
	VHCA_CAP_RC		= 0,
	VHCA_CAP_RNR_NAK	= 1,
	VHCA_CAP_SMI_GSI	= 2,	/* QP 0 and 1 of ports, MAD commands; needs UD */
	VHCA_CAP_CLOCK		= 3,	/* completion timestamps */
	VHCA_CAP_UC		= 4,
	VHCA_CAP_UD		= 5,
	VHCA_CAP_MCAST		= 6,	/* multicast groups; needs UD */
	VHCA_CAP_SRQ		= 7,
	VHCA_CAP_CQ_RESIZE	= 8,
	VHCA_CAP_CQ_MODERATION	= 9,
	VHCA_CAP_COUNTERS	= 10,	/* QUERY_COUNTERS */
	VHCA_CAP_ATOMIC		= 11,	/* CMP_SWAP, FETCH_ADD */
	VHCA_CAP_MASKED_ATOMIC	= 12,	/* needs ATOMIC */
	VHCA_CAP_ATOMIC_WRITE	= 13,
	VHCA_CAP_FLUSH		= 14,
	VHCA_CAP_FAST_REG	= 15,	/* FAST keys, REG_MR, LOCAL_INV, SEND_INV, READ_INV */
	VHCA_CAP_SG_GAPS	= 16,	/* FAST_SG keys; needs FAST_REG */
	VHCA_CAP_MW		= 17,	/* windows of type 1 */
	VHCA_CAP_MW_2A		= 18,	/* windows of type 2, tied to a QP; needs MW, FAST_REG */
	VHCA_CAP_MW_2B		= 19,	/* the same, tied to QP and PD; takes precedence over 2A */
	VHCA_CAP_FMR		= 20,	/* FMR keys, FENCE_MKEYS */
	VHCA_CAP_XRC		= 21,	/* XRC domains and their QPs; needs RC, SRQ */
	VHCA_CAP_UC_FAST_REG	= 22,	/* REG_MR, LOCAL_INV on UC; needs UC, FAST_REG */
	VHCA_CAP_APM		= 23,	/* alternate paths, automatic migration */
	VHCA_CAP_CLOCK_QUERY	= 24,	/* QUERY_CLOCK; needs CLOCK */
	VHCA_CAP_QP_COUNTERS	= 25,	/* counters that QPs are bound to; needs COUNTERS */
	VHCA_CAP_PORT_CHANGE	= 26,	/* EQ_PORT_CHANGE */
	VHCA_CAP_UD_CSUM	= 27,	/* IPoIB: checksums, over IPv4; needs UD */
	VHCA_CAP_UD_CSUM6	= 28,	/* and over IPv6; needs UD_CSUM */
	VHCA_CAP_UD_LSO		= 29,	/* IPoIB: LSO, over IPv4; needs UD_CSUM */
	VHCA_CAP_UD_LSO6	= 30,	/* and over IPv6; needs UD_LSO, UD_CSUM6 */
	VHCA_CAP_INTEGRITY	= 31,	/* INTEGRITY keys; needs FAST_REG */
};

/**
 * vhca_whole_caps() - drop capabilities that need others which are missing
 * @caps: bit mask
 *
 * Both device and driver apply this to the mask.
 *
 * Context: any.
 * Return: the bits of @caps all of whose needs are in @caps.
 */
static inline __u64 vhca_whole_caps(__u64 caps)
{
	static const struct {
		__u8 cap, needs;
	} needs[] = {
		{ VHCA_CAP_SMI_GSI, VHCA_CAP_UD },	/* MADs are datagrams */
		{ VHCA_CAP_MCAST, VHCA_CAP_UD },	/* multicasts are datagrams */
		{ VHCA_CAP_MASKED_ATOMIC, VHCA_CAP_ATOMIC },
		{ VHCA_CAP_SG_GAPS, VHCA_CAP_FAST_REG },
		{ VHCA_CAP_MW_2A, VHCA_CAP_MW },
		{ VHCA_CAP_MW_2A, VHCA_CAP_FAST_REG },
		{ VHCA_CAP_MW_2B, VHCA_CAP_MW },
		{ VHCA_CAP_MW_2B, VHCA_CAP_FAST_REG },
		{ VHCA_CAP_XRC, VHCA_CAP_RC },
		{ VHCA_CAP_XRC, VHCA_CAP_SRQ },
		{ VHCA_CAP_UC_FAST_REG, VHCA_CAP_UC },
		{ VHCA_CAP_UC_FAST_REG, VHCA_CAP_FAST_REG },
		{ VHCA_CAP_CLOCK_QUERY, VHCA_CAP_CLOCK },
		{ VHCA_CAP_QP_COUNTERS, VHCA_CAP_COUNTERS },
		{ VHCA_CAP_UD_CSUM, VHCA_CAP_UD },
		{ VHCA_CAP_UD_CSUM6, VHCA_CAP_UD_CSUM },
		{ VHCA_CAP_UD_LSO, VHCA_CAP_UD_CSUM },
		{ VHCA_CAP_UD_LSO6, VHCA_CAP_UD_LSO },
		{ VHCA_CAP_UD_LSO6, VHCA_CAP_UD_CSUM6 },
		{ VHCA_CAP_INTEGRITY, VHCA_CAP_FAST_REG },
	};

	for (unsigned int i = 0; i < sizeof(needs) / sizeof(needs[0]); i++)
		if (!(caps >> needs[i].needs & 1))
			caps &= ~(1ULL << needs[i].cap);
	return caps;
}

struct vhca_device_attr {
	__le64 caps;
	__le64 node_guid;		/* as a number; most significant byte first on the wire */
	__le64 sys_image_guid;
	__le64 fw_version;		/* major << 32 | minor << 16 | sub */
	__le64 max_mr_size;
	__le64 page_sizes;		/* bit n: pages of 1 << n bytes */
	__le32 max_uars;
	__le32 max_eqs;
	__le32 max_pds;
	__le32 max_mkeys;
	__le32 max_cqs;
	__le32 max_cqe;			/* most entries of one CQ */
	__le32 max_qps;
	__le32 max_sq_blocks;		/* most 64-byte blocks of a send ring */
	__le32 max_rq_wr;		/* most strides of a receive ring */
	__le32 max_send_sge;
	__le32 max_recv_sge;
	__le32 max_inline;
	__le32 max_msg;			/* bytes of a message */
	__le32 clock_khz;		/* 0: no clock */
	__le32 vectors;			/* MSI-X vectors */
	__u8 ports;
	__u8 max_rd_atomic;		/* responder resources of one QP */
	__u8 max_init_rd_atomic;
	__u8 local_ca_ack_delay;
	__u8 node_desc[64];
	__le32 max_srqs;
	__le32 max_srq_wr;		/* most strides of a shared receive ring */
	__le32 max_mcgs;		/* multicast groups with QPs attached */
	__le32 max_mcg_qps;		/* QPs of one group */
	__le16 max_moderation_count;
	__le16 max_moderation_period;	/* microseconds */
	__le32 max_reg_entries;		/* most entries of a list of FAST*, FMR, INTEGRITY */
	__le32 max_xrcds;
	__le32 max_counters;
	__u8 rsvd[44];
};

static_assert(sizeof(struct vhca_device_attr) == 256);

/* QUERY_COUNTERS: leave out QPs that are bound to counters; needs QP_COUNTERS. */
#define VHCA_PORT_UNBOUND	(1U << 0)

struct vhca_port_req {
	__u8 port;			/* 1..ports */
	__u8 flags;			/* VHCA_PORT_* */
	__u8 rsvd0[2];
	__le32 first_index;		/* tables only */
	__le32 count;			/* tables only: entries wanted */
	__le32 rsvd1;
};

static_assert(sizeof(struct vhca_port_req) == 16);

enum vhca_link_layer {
	VHCA_LINK_IB		= 1,
	VHCA_LINK_ETH		= 2,
};

struct vhca_port_attr {
	__le32 cap_mask;		/* as PortInfo:CapabilityMask */
	__le32 gid_entries;
	__le32 pkey_entries;
	__le32 max_msg;
	__le32 qkey_viol;
	__le32 pkey_viol;
	__le16 lid;
	__le16 sm_lid;
	__u8 state;			/* enum ib_port_state */
	__u8 phys_state;		/* enum ib_port_phys_state */
	__u8 max_mtu;			/* enum ib_mtu */
	__u8 active_mtu;
	__u8 lmc;
	__u8 sm_sl;
	__u8 subnet_timeout;
	__u8 init_type_reply;
	__u8 max_vl;			/* as PortInfo:VLCap */
	__u8 link_layer;		/* enum vhca_link_layer */
	__u8 active_width;		/* enum ib_port_width */
	__u8 rsvd0;
	__le16 active_speed;		/* enum ib_port_speed */
	__u8 mac[6];			/* Ethernet: the permanent address; else 0 */
	__u8 rsvd1[16];
};

static_assert(sizeof(struct vhca_port_attr) == 64);

/* Counts of a port since the device was created, which a reset does not clear; or of a counter. */
struct vhca_port_counters {
	__le64 tx_packets;
	__le64 tx_bytes;		/* of whole packets, here and below */
	__le64 rx_packets;
	__le64 rx_bytes;
	__le64 tx_mcast_packets;
	__le64 rx_mcast_packets;
	__le64 tx_discards;		/* the address does not exist, or the port was not active */
	__le64 rx_no_qp;		/* no QP accepts the packet */
	__le64 rx_no_receive;		/* UC and UD: message dropped, no receive of enough room */
	__le64 rx_uc_gaps;		/* UC: messages dropped because a packet was missing */
	__le64 qkey_violations;
	__le64 pkey_violations;
	__le64 rnr_naks_sent;
	__le64 rnr_naks_received;
	__le64 seq_naks_sent;
	__le64 seq_naks_received;
	__le64 error_naks_sent;		/* NAKs that end a connection */
	__le64 error_naks_received;
	__le64 duplicates;		/* RC requests that had arrived before */
	__le64 timeouts;		/* RC requests sent again because no response came */
};

static_assert(sizeof(struct vhca_port_counters) == 160);

struct vhca_node_desc_req {
	__u8 desc[64];
};

static_assert(sizeof(struct vhca_node_desc_req) == 64);

struct vhca_clock_resp {
	__le64 now;			/* as the time stamps of completions */
};

static_assert(sizeof(struct vhca_clock_resp) == 8);

/*
 * PROCESS_MAD: a MAD for the device's agents of a port, from a packet that arrived there or
 * from the host itself.  The device reads it only once.
 */
#define VHCA_MAD_SIZE		256

#define VHCA_MAD_IGNORE_MKEY	(1U << 0)
#define VHCA_MAD_IGNORE_BKEY	(1U << 1)

struct vhca_process_mad_req {
	__le64 mad_addr;		/* DMA address of VHCA_MAD_SIZE bytes */
	__u8 port;			/* 1..ports */
	__u8 flags;			/* VHCA_MAD_IGNORE_* */
	__u8 sl;			/* of the packet, here and below */
	__u8 path_bits;			/* of its DLID */
	__le16 slid;
	__le16 pkey_index;
	__le32 src_qpn;
	__le32 rsvd;
};

static_assert(sizeof(struct vhca_process_mad_req) == 24);

/* 0: the MAD is not for the device's agents, the host has to handle it. */
#define VHCA_MAD_CONSUMED	(1U << 0)	/* handled */
#define VHCA_MAD_REPLY		(1U << 1)	/* with CONSUMED: the output is the reply */

struct vhca_process_mad_resp {
	__u8 result;			/* VHCA_MAD_CONSUMED, VHCA_MAD_REPLY */
	__u8 rsvd[7];
};

static_assert(sizeof(struct vhca_process_mad_resp) == 8);

/*
 * MODIFY_PORT: changes bits of PortInfo:CapabilityMask that describe the host, and resets
 * counters.  A bit that is neither in set_caps nor in clear_caps does not change.
 */
#define VHCA_PORT_RESET_QKEY_VIOL	(1U << 0)
/*
 * Ethernet: packets to UDP port 4791 and the MAC of a GID go to the HCA while the port is enabled,
 * to the NIC otherwise.  A reset disables it.  Neither may be set on an InfiniBand port.
 */
#define VHCA_PORT_ENABLE		(1U << 1)
#define VHCA_PORT_DISABLE		(1U << 2)

#define VHCA_PORT_CAP_SM		(1U << 1)
#define VHCA_PORT_CAP_CM		(1U << 16)
#define VHCA_PORT_CAP_SNMP_TUNNEL	(1U << 17)
#define VHCA_PORT_CAP_DEVICE_MGMT	(1U << 19)
#define VHCA_PORT_CAP_VENDOR_CLASS	(1U << 20)
#define VHCA_PORT_HOST_CAPS		(VHCA_PORT_CAP_SM | VHCA_PORT_CAP_CM |		\
					 VHCA_PORT_CAP_SNMP_TUNNEL |			\
					 VHCA_PORT_CAP_DEVICE_MGMT |			\
					 VHCA_PORT_CAP_VENDOR_CLASS)

struct vhca_modify_port_req {
	__u8 port;			/* 1..ports */
	__u8 flags;			/* VHCA_PORT_RESET_QKEY_VIOL, VHCA_PORT_{EN,DIS}ABLE */
	__u8 mtu;			/* Ethernet: enum ib_mtu, 0: no change.  InfiniBand: 0 */
	__u8 rsvd0;
	__le32 set_caps;		/* of VHCA_PORT_HOST_CAPS, here and below */
	__le32 clear_caps;
	__le32 rsvd1;
};

static_assert(sizeof(struct vhca_modify_port_req) == 16);

/*
 * SET_GID: writes an entry of an Ethernet port's GID table.  Packets that QPs send with the entry
 * have source address mac and the VLAN tag, if there is one; packets received for it must have that
 * destination address and tag.  They are IPv4 packets if the GID is an IPv4-mapped IPv6 address,
 * else IPv6 packets.  QPs that use a cleared entry send nothing.
 */
#define VHCA_GID_CLEAR			0
#define VHCA_GID_ROCE_V2		2

#define VHCA_NO_VLAN			0xffff

struct vhca_set_gid_req {
	__u8 port;			/* 1..ports */
	__u8 type;			/* VHCA_GID_* */
	__le16 index;			/* below gid_entries */
	__le16 vlan;			/* 1..4094, or VHCA_NO_VLAN; CLEAR: 0, here and below */
	__u8 mac[6];
	__le32 rsvd;
	__u8 gid[16];
};

static_assert(sizeof(struct vhca_set_gid_req) == 32);

struct vhca_create_counter_req {
	__u8 port;			/* 1..ports: the port of its QPs */
	__u8 rsvd[7];
};

static_assert(sizeof(struct vhca_create_counter_req) == 8);

struct vhca_bind_counter_req {
	__le32 qpn;
	__le32 counter;			/* 0: none */
};

static_assert(sizeof(struct vhca_bind_counter_req) == 8);

#endif /* VHCA_DEFS_DEVICE_H */
