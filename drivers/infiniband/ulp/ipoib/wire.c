// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Addresses, sizes and events: decisions that depend on their arguments alone.
 */
#include <kunit/visibility.h>
#include <linux/if_ether.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "wire.h"

/* In the hardware address of a group: end of the scope, where the signature begins. */
#define ADDR_SCOPE	6

/* Service IDs of connections: this and the number of the listener's datagram QP. */
#define CM_SERVICE	0x1000000000000000ULL

/**
 * ipoib_group_gid() - GID of the group that an address means
 * @mgid: receives the GID
 * @addr: hardware address of a group. Its P_Key does not count: addresses that the stack made for
 *	another interface, as by bonding, have that one's, and those that it made before the port
 *	got another first P_Key the former one
 * @pkey: P_Key of the interface that sends or receives
 *
 * Context: any.
 */
void ipoib_group_gid(union ib_gid *mgid, const u8 *addr, u16 pkey)
{
	memcpy(mgid->raw, ipoib_addr_gid(addr), sizeof(*mgid));
	mgid->raw[4] = pkey >> 8;
	mgid->raw[5] = pkey;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_group_gid);

/**
 * ipoib_group_ours() - can an interface be member of a group?
 * @addr: hardware address of the group
 * @broadcast: the interface's broadcast address
 *
 * The two have to agree up to and with the scope, and in the lower half of the signature. The upper
 * half of it tells IPv4 from IPv6. Behind it are the P_Key, which does not count either, see
 * ipoib_group_gid(), and the group number.
 *
 * Context: any.
 * Return: whether it can.
 */
bool ipoib_group_ours(const u8 *addr, const u8 *broadcast)
{
	return !memcmp(addr, broadcast, ADDR_SCOPE) &&
	       addr[ADDR_SCOPE + 1] == broadcast[ADDR_SCOPE + 1];
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_group_ours);

/**
 * ipoib_proto_known() - is this protocol carried over InfiniBand?
 * @proto: Ethernet type
 *
 * Context: any.
 * Return: whether it is.
 */
bool ipoib_proto_known(__be16 proto)
{
	switch (proto) {
	case htons(ETH_P_IP):
	case htons(ETH_P_IPV6):
	case htons(ETH_P_ARP):
	case htons(ETH_P_RARP):
	case htons(ETH_P_TIPC):
		return true;
	default:
		return false;
	}
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_proto_known);

/**
 * ipoib_pkey_valid() - can an interface have this P_Key?
 * @pkey: the P_Key
 *
 * Context: any.
 * Return: whether it fits into 16 bits and has a partition number.
 */
bool ipoib_pkey_valid(int pkey)
{
	return pkey > 0 && pkey <= U16_MAX && pkey != IPOIB_FULL_MEMBER;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_pkey_valid);

/**
 * ipoib_mtu_check() - can an interface be given an MTU?
 * @connected: its mode
 * @mtu: bytes of an IP packet
 * @most: the largest packet of this mode, in bytes of an IP packet
 *
 * Context: any.
 * Return: 0 or -EINVAL.
 */
int ipoib_mtu_check(bool connected, int mtu, unsigned int most)
{
	return mtu < (connected ? 0 : IPOIB_MIN_MTU) || mtu > (int)most ? -EINVAL : 0;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_mtu_check);

/**
 * ipoib_cm_mtu() - the largest packet of a connection
 * @max_sge: entries that a receive of the device can have, each for one page
 *
 * Context: any.
 * Return: bytes of an IP packet.
 */
unsigned int ipoib_cm_mtu(unsigned int max_sge)
{
	return min_t(unsigned int, max_sge * PAGE_SIZE - 0x10, IPOIB_MAX_MTU);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_cm_mtu);

/**
 * ipoib_cm_peers() - for how many connections with receives of their own is there room?
 * @wanted: how many the administrator allows
 * @receives: how many each has, and the datagram QP; above 0
 * @max_cqe: entries of the device's largest completion queue, which has those of all
 *
 * Context: any.
 * Return: their number, @wanted at most.
 */
unsigned int ipoib_cm_peers(unsigned int wanted, unsigned int receives, unsigned int max_cqe)
{
	/* One entry is for the request that drains a connection. */
	unsigned int fit = max_cqe ? (max_cqe - 1) / receives : 0;

	return min(wanted, fit ? fit - 1 : 0);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_cm_peers);

/**
 * ipoib_mode_of() - mode by its name, as sysfs takes it
 * @name: the name, with a line feed
 *
 * Context: any.
 * Return: 1 for connected, 0 for datagram, -EINVAL for anything else.
 */
int ipoib_mode_of(const char *name)
{
	if (!strcmp(name, "connected\n"))
		return 1;
	return strcmp(name, "datagram\n") ? -EINVAL : 0;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_mode_of);

/**
 * ipoib_queue_size() - entries of a ring
 * @wanted: what the module's parameter says
 * @least: the smallest ring, a power of two
 *
 * Context: any.
 * Return: a power of two.
 */
unsigned int ipoib_queue_size(int wanted, unsigned int least)
{
	return roundup_pow_of_two(clamp_t(int, wanted, least, IPOIB_MAX_QUEUE));
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_queue_size);

/**
 * ipoib_event_flush() - what has to be renewed after an event of the port
 * @event: the event
 * @waiting: the interface or a child waits for a GUID that the administrator chose: a change of
 *	the port's GIDs may bring it
 *
 * Context: any.
 * Return: the level.
 */
enum ipoib_flush ipoib_event_flush(enum ib_event_type event, bool waiting)
{
	switch (event) {
	case IB_EVENT_CLIENT_REREGISTER:
		return IPOIB_FLUSH_LIGHT;
	case IB_EVENT_GID_CHANGE:
		return waiting ? IPOIB_FLUSH_LIGHT : IPOIB_FLUSH_NONE;
	case IB_EVENT_PORT_ERR:
	case IB_EVENT_PORT_ACTIVE:
	case IB_EVENT_LID_CHANGE:
		return IPOIB_FLUSH_NORMAL;
	case IB_EVENT_PKEY_CHANGE:
		return IPOIB_FLUSH_HEAVY;
	default:
		return IPOIB_FLUSH_NONE;
	}
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_event_flush);

/**
 * ipoib_cm_service() - service ID under which an interface takes connections
 * @qpn: number of its datagram QP
 *
 * Context: any.
 * Return: the service ID.
 */
__be64 ipoib_cm_service(u32 qpn)
{
	return cpu_to_be64(CM_SERVICE | qpn);
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_cm_service);
