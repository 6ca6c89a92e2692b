/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What IPoIB's packets and hardware addresses look like, and the arithmetic that follows from it.
 * Nothing here knows of devices.
 *
 * A packet on the wire is a header of 4 bytes and the IP packet. Inside the host 20 bytes stand in
 * front of it, which name the receiver: the network stack has no other place for an address that
 * long.
 */
#ifndef IPOIB_WIRE_H
#define IPOIB_WIRE_H

#include <linux/bits.h>
#include <linux/if_infiniband.h>
#include <linux/types.h>
#include <rdma/ib_pack.h>
#include <rdma/ib_verbs.h>

/* Bytes of the header on the wire, of the address in front of it, and of both. */
#define IPOIB_ENCAP_LEN		4
#define IPOIB_ADDR_LEN		INFINIBAND_ALEN
#define IPOIB_HEAD_LEN		(IPOIB_ADDR_LEN + IPOIB_ENCAP_LEN)

/* The first byte of the address of an interface that takes RC connections. */
#define IPOIB_ADDR_RC		0x80

/* The largest MTU: that of connected mode. With its header such a packet fits 16 pages of 4 KiB. */
#define IPOIB_MAX_MTU		(0x10000 - 0x10)

/* The smallest MTU that can be set in datagram mode. */
#define IPOIB_MIN_MTU		72

/* The largest ring. */
#define IPOIB_MAX_QUEUE		8192

/* The most that max_nonsrq_conn_qp can allow. */
#define IPOIB_MAX_NONSRQ	4096

/* Bit of the P_Key: full membership. */
#define IPOIB_FULL_MEMBER	0x8000

/**
 * struct ipoib_encap - header of each packet
 * @proto: Ethernet type
 * @reserved: 0
 */
struct ipoib_encap {
	__be16 proto;
	__be16 reserved;
};

/**
 * struct ipoib_head - the address in front of a packet inside the host, and the packet's header
 * @addr: hardware address of the receiver
 * @encap: first bytes of the packet on the wire
 */
struct ipoib_head {
	u8 addr[IPOIB_ADDR_LEN];
	struct ipoib_encap encap;
};

static_assert(sizeof(struct ipoib_head) == IPOIB_HEAD_LEN);

/**
 * struct ipoib_cm_private - private data of requests and replies of connections
 * @qpn: number of the sender's datagram QP, in the lower 24 bits
 * @mtu: largest packet that the sender receives, its header included
 */
struct ipoib_cm_private {
	__be32 qpn;
	__be32 mtu;
};

/*
 * What has to be renewed after an event. Several may come before the first is dealt with, and each
 * is dealt with by itself: a higher level includes the lower ones only if it finds something to do.
 */
enum ipoib_flush {
	IPOIB_FLUSH_NONE,
	IPOIB_FLUSH_LIGHT,	/* groups, and what is known of paths */
	IPOIB_FLUSH_NORMAL,	/* paths and connections */
	IPOIB_FLUSH_HEAVY,	/* the QP, if the P_Key's value or place has changed */
	IPOIB_FLUSH_RESTART,	/* the QP in any case */
};

/* Begins the transmit ring's counts, which wrap, shortly before they do so. */
#define IPOIB_RING_START	((u32)-200)

/**
 * ipoib_addr_qpn() - QP number in a hardware address
 * @addr: the address
 *
 * Context: any.
 * Return: 24 bits.
 */
static inline u32 ipoib_addr_qpn(const u8 *addr)
{
	return addr[1] << 16 | addr[2] << 8 | addr[3];
}

/**
 * ipoib_addr_gid() - GID in a hardware address
 * @addr: the address
 *
 * Context: any.
 * Return: its 16 bytes, not aligned.
 */
static inline const u8 *ipoib_addr_gid(const u8 *addr)
{
	return addr + 4;
}

/**
 * ipoib_addr_multicast() - is this a multicast group's address?
 * @addr: the address
 *
 * Context: any.
 * Return: whether it is.
 */
static inline bool ipoib_addr_multicast(const u8 *addr)
{
	return addr[4] == 0xff;
}

/**
 * ipoib_ud_mtu() - bytes of an IP packet in a datagram
 * @ib_mtu: bytes of the datagram
 *
 * Context: any.
 * Return: bytes.
 */
static inline unsigned int ipoib_ud_mtu(unsigned int ib_mtu)
{
	return ib_mtu - IPOIB_ENCAP_LEN;
}

/**
 * ipoib_ring_used() - entries of a ring that are in use
 * @head: entries used so far; wraps
 * @tail: entries given back so far; wraps
 *
 * Context: any.
 * Return: their number.
 */
static inline u32 ipoib_ring_used(u32 head, u32 tail)
{
	return head - tail;
}

/**
 * ipoib_ring_passed() - has a ring given an entry back?
 * @tail: entries given back so far; wraps
 * @head: what was the ring's head when the entry had been used
 *
 * Context: any.
 * Return: whether it has.
 */
static inline bool ipoib_ring_passed(u32 tail, u32 head)
{
	return (s32)(tail - head) >= 0;
}

void ipoib_group_gid(union ib_gid *mgid, const u8 *addr, u16 pkey);
bool ipoib_group_ours(const u8 *addr, const u8 *broadcast);
bool ipoib_proto_known(__be16 proto);
bool ipoib_pkey_valid(int pkey);
int ipoib_mtu_check(bool connected, int mtu, unsigned int most);
unsigned int ipoib_cm_mtu(unsigned int max_sge);
unsigned int ipoib_cm_peers(unsigned int wanted, unsigned int receives, unsigned int max_cqe);
int ipoib_mode_of(const char *name);
unsigned int ipoib_queue_size(int wanted, unsigned int least);
enum ipoib_flush ipoib_event_flush(enum ib_event_type event, bool waiting);
__be64 ipoib_cm_service(u32 qpn);

#endif /* IPOIB_WIRE_H */
