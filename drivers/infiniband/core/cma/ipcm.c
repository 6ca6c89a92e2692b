// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The RDMA IP CM service: a connection request or a service resolution request carries the IP
 * addresses of both ends in front of the consumer's private data, as service ID and GIDs alone do
 * not tell them. This file is the only one that knows the layout:
 *
 *	byte 0		version, 0
 *	byte 1		IP version in the four high bits
 *	from byte 2	port of the sender
 *	from byte 4	address of the sender, IPv4 in the last four bytes
 *	from byte 20	address of the receiver, likewise
 *
 * The receiver's port is part of the service ID.
 */
#include <kunit/visibility.h>
#include <linux/errno.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/string.h>

#include "ipcm.h"

#define IPCM_VERSION	0

enum ipcm_field {
	FIELD_VERSION	= 0,
	FIELD_IP	= 1,
	FIELD_PORT	= 2,
	FIELD_SENDER	= 4,
	FIELD_RECEIVER	= 20,
};

/* Offset of an IPv4 address in the 16 bytes of an address. */
#define IPV4_AT	12

static_assert(FIELD_RECEIVER + sizeof(struct in6_addr) == IPCM_HDR_SIZE);

/**
 * ipcm_data_offset() - get the offset of the consumer's private data
 * @family: address family of the id
 *
 * Return: bytes, 0 for AF_IB, whose requests have no header.
 */
unsigned int ipcm_data_offset(sa_family_t family)
{
	return family == AF_IB ? 0 : IPCM_HDR_SIZE;
}
EXPORT_SYMBOL_IF_KUNIT(ipcm_data_offset);

/**
 * ipcm_pack() - write the header of a request
 * @hdr: receives IPCM_HDR_SIZE bytes
 * @ends: the sender is the local end
 *
 * Return: 0; -EAFNOSUPPORT, without a byte written, unless both ends are IPv4 or both IPv6.
 */
int ipcm_pack(void *hdr, const struct ipcm_ends *ends)
{
	u8 *to = hdr;

	if (ends->local.ss_family != ends->remote.ss_family)
		return -EAFNOSUPPORT;
	if (ends->local.ss_family == AF_INET) {
		const struct sockaddr_in *local = (const struct sockaddr_in *)&ends->local;
		const struct sockaddr_in *remote = (const struct sockaddr_in *)&ends->remote;

		memset(to, 0, IPCM_HDR_SIZE);
		to[FIELD_IP] = 4 << 4;
		memcpy(to + FIELD_PORT, &local->sin_port, sizeof(local->sin_port));
		memcpy(to + FIELD_SENDER + IPV4_AT, &local->sin_addr, sizeof(local->sin_addr));
		memcpy(to + FIELD_RECEIVER + IPV4_AT, &remote->sin_addr, sizeof(remote->sin_addr));
	} else if (ends->local.ss_family == AF_INET6) {
		const struct sockaddr_in6 *local = (const struct sockaddr_in6 *)&ends->local;
		const struct sockaddr_in6 *remote = (const struct sockaddr_in6 *)&ends->remote;

		to[FIELD_IP] = 6 << 4;
		memcpy(to + FIELD_PORT, &local->sin6_port, sizeof(local->sin6_port));
		memcpy(to + FIELD_SENDER, &local->sin6_addr, sizeof(local->sin6_addr));
		memcpy(to + FIELD_RECEIVER, &remote->sin6_addr, sizeof(remote->sin6_addr));
	} else {
		return -EAFNOSUPPORT;
	}
	to[FIELD_VERSION] = IPCM_VERSION;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(ipcm_pack);

static void parse_ipv4(struct sockaddr_storage *to, const u8 *from, __be16 port)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = port };

	memcpy(&in.sin_addr, from + IPV4_AT, sizeof(in.sin_addr));
	memcpy(to, &in, sizeof(in));
}

static void parse_ipv6(struct sockaddr_storage *to, const u8 *from, __be16 port)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = port };

	memcpy(&in6.sin6_addr, from, sizeof(in6.sin6_addr));
	memcpy(to, &in6, sizeof(in6));
}

/**
 * ipcm_parse() - read the header of a request that has arrived
 * @ends: receives the addresses; the receiver is the local end. Cleared if an error is returned
 * @hdr: at least IPCM_HDR_SIZE bytes of private data
 * @service_id: service ID of the request; its low 16 bits are the local port
 *
 * Return: 0; -EINVAL for an unknown version of the header; -EAFNOSUPPORT if it holds no IP
 * addresses.
 */
int ipcm_parse(struct ipcm_ends *ends, const void *hdr, __be64 service_id)
{
	__be16 local_port = cpu_to_be16(ipcm_service_port(service_id));
	const u8 *from = hdr;
	__be16 remote_port;

	memset(ends, 0, sizeof(*ends));
	if (from[FIELD_VERSION] != IPCM_VERSION)
		return -EINVAL;
	memcpy(&remote_port, from + FIELD_PORT, sizeof(remote_port));
	switch (from[FIELD_IP] >> 4) {
	case 4:
		parse_ipv4(&ends->local, from + FIELD_RECEIVER, local_port);
		parse_ipv4(&ends->remote, from + FIELD_SENDER, remote_port);
		return 0;
	case 6:
		parse_ipv6(&ends->local, from + FIELD_RECEIVER, local_port);
		parse_ipv6(&ends->remote, from + FIELD_SENDER, remote_port);
		return 0;
	default:
		return -EAFNOSUPPORT;
	}
}
EXPORT_SYMBOL_IF_KUNIT(ipcm_parse);

/**
 * ipcm_service_space() - port space that a service ID names
 * @service_id: service ID
 *
 * Return: enum rdma_ucm_port_space, or any other number.
 */
u16 ipcm_service_space(__be64 service_id)
{
	return be64_to_cpu(service_id) >> 16;
}
EXPORT_SYMBOL_IF_KUNIT(ipcm_service_space);

/**
 * ipcm_service_port() - port that a service ID names
 * @service_id: service ID
 *
 * Return: the port.
 */
u16 ipcm_service_port(__be64 service_id)
{
	return be64_to_cpu(service_id);
}
EXPORT_SYMBOL_IF_KUNIT(ipcm_service_port);
