// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Socket addresses of the three families that ids know: AF_INET, AF_INET6 and AF_IB.
 */
#include <kunit/visibility.h>
#include <linux/module.h>

#include "cma_priv.h"

/* The same bytes as each family has them. */
union cma_sockaddr {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_ib ib;
};

static const union cma_sockaddr *typed(const struct sockaddr *addr)
{
	return (const union cma_sockaddr *)addr;
}

/**
 * cma_addr_is_zero() - is it the wildcard address?
 * @addr: address; an unknown family has none
 *
 * Return: true for all of 0.0.0.0/8, for ::, and for the GID of zeroes.
 */
bool cma_addr_is_zero(const struct sockaddr *addr)
{
	const union cma_sockaddr *a = typed(addr);

	switch (addr->sa_family) {
	case AF_INET:
		return ipv4_is_zeronet(a->in.sin_addr.s_addr);
	case AF_INET6:
		return ipv6_addr_any(&a->in6.sin6_addr);
	case AF_IB:
		return ib_addr_any(&a->ib.sib_addr);
	}
	return false;
}

/**
 * cma_addr_is_loopback() - is it an address by which a host talks to itself?
 * @addr: address; an unknown family has none
 *
 * Return: true for 127.0.0.0/8 and ::1, the latter also as a GID.
 */
bool cma_addr_is_loopback(const struct sockaddr *addr)
{
	const union cma_sockaddr *a = typed(addr);

	switch (addr->sa_family) {
	case AF_INET:
		return ipv4_is_loopback(a->in.sin_addr.s_addr);
	case AF_INET6:
		return ipv6_addr_loopback(&a->in6.sin6_addr);
	case AF_IB:
		return ib_addr_loopback(&a->ib.sib_addr);
	}
	return false;
}

/**
 * cma_addr_is_any() - is it an address that belongs to no device in particular?
 * @addr: address
 *
 * Return: true for wildcard and loopback addresses.
 */
bool cma_addr_is_any(const struct sockaddr *addr)
{
	return cma_addr_is_loopback(addr) || cma_addr_is_zero(addr);
}

/**
 * cma_addr_same() - are two addresses the same, whatever their ports?
 * @a: address
 * @b: address
 *
 * Link-local IPv6 addresses are the same on the same interface only.
 *
 * Return: true if so.
 */
bool cma_addr_same(const struct sockaddr *a, const struct sockaddr *b)
{
	const union cma_sockaddr *x = typed(a), *y = typed(b);

	if (a->sa_family != b->sa_family)
		return false;
	switch (a->sa_family) {
	case AF_INET:
		return x->in.sin_addr.s_addr == y->in.sin_addr.s_addr;
	case AF_INET6:
		if (!ipv6_addr_equal(&x->in6.sin6_addr, &y->in6.sin6_addr))
			return false;
		return x->in6.sin6_scope_id == y->in6.sin6_scope_id ||
		       !(ipv6_addr_type(&y->in6.sin6_addr) & IPV6_ADDR_LINKLOCAL);
	case AF_IB:
		return !ib_addr_cmp(&x->ib.sib_addr, &y->ib.sib_addr);
	}
	return false;
}

/**
 * cma_addr_port() - port number of an address
 * @addr: address
 *
 * In an AF_IB address it is the low 16 bits of the service id, as far as its mask says that they
 * count.
 *
 * Return: the number, 0 for none and for an unknown family.
 */
__be16 cma_addr_port(const struct sockaddr *addr)
{
	const union cma_sockaddr *a = typed(addr);

	switch (addr->sa_family) {
	case AF_INET:
		return a->in.sin_port;
	case AF_INET6:
		return a->in6.sin6_port;
	case AF_IB:
		return cpu_to_be16(be64_to_cpu(a->ib.sib_sid & a->ib.sib_sid_mask) & U16_MAX);
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cma_addr_port);

/**
 * cma_addr_set_port() - give an address its port number
 * @addr: address
 * @port: the number
 *
 * Afterwards an AF_IB address has a service id all of whose bits count.
 */
void cma_addr_set_port(struct sockaddr *addr, __be16 port)
{
	union cma_sockaddr *a = (union cma_sockaddr *)addr;
	u64 service_id;

	switch (addr->sa_family) {
	case AF_INET:
		a->in.sin_port = port;
		break;
	case AF_INET6:
		a->in6.sin6_port = port;
		break;
	case AF_IB:
		service_id = be64_to_cpu(a->ib.sib_sid & a->ib.sib_sid_mask) | be16_to_cpu(port);
		a->ib.sib_sid = cpu_to_be64(service_id);
		a->ib.sib_sid_mask = cpu_to_be64(U64_MAX);
		break;
	}
}

/**
 * rdma_get_service_id() - service id of an address
 * @id: id, whose port space counts for IP addresses
 * @addr: address with its port
 *
 * Context: any.
 * Return: the service id of an AF_IB address; for others port space and port.
 */
__be64 rdma_get_service_id(struct rdma_cm_id *id, struct sockaddr *addr)
{
	if (addr->sa_family == AF_IB)
		return typed(addr)->ib.sib_sid;
	return cpu_to_be64((u64)id->ps << 16 | be16_to_cpu(cma_addr_port(addr)));
}
EXPORT_SYMBOL(rdma_get_service_id);
