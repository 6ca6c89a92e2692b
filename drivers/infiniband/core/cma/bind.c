// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Binding: an id gets its local address, with the device that has it, and a port.
 */
#include <linux/module.h>
#include <net/ipv6.h>

#include "cma_priv.h"

/**
 * cma_check_linklocal() - check that a link-local address belongs to an interface
 * @dev_addr: receives the interface in bound_dev_if, if it is one
 * @addr: address of any family
 *
 * Return: 0, or -EINVAL for a link-local IPv6 address without scope id.
 */
int cma_check_linklocal(struct rdma_dev_addr *dev_addr, const struct sockaddr *addr)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;

	if (addr->sa_family != AF_INET6 ||
	    !(ipv6_addr_type(&in6->sin6_addr) & IPV6_ADDR_LINKLOCAL))
		return 0;
	if (!in6->sin6_scope_id)
		return rdma_refuse(-EINVAL, "the link-local address has no scope id");
	dev_addr->bound_dev_if = in6->sin6_scope_id;
	return 0;
}

/* Unless the consumer has said it: does the address stand for its family alone? */
static void default_afonly(struct cma_id *id)
{
	if (id->afonly_set)
		return;
	id->afonly = cma_family(id) == AF_INET;
#if IS_ENABLED(CONFIG_IPV6)
	if (cma_family(id) == AF_INET6)
		id->afonly = id->id.route.addr.dev_addr.net->ipv6.sysctl.bindv6only;
#endif
}

/**
 * cma_bind_local() - give an id a local address
 * @id: id that has made the step CMA_BIND; cma_unbind() is called for it when this fails
 * @addr: address with its port, 0 for an ephemeral one.  A wildcard or loopback address leaves the
 *	device open
 *
 * The destination's family becomes that of @addr.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL for a link-local address without interface; -ENODEV if no RDMA device has the
 * address; an error of rdma_translate_ip() (-EADDRNOTAVAIL: it is no address of the host), of
 * cma_acquire_by_source() or of cma_get_port().
 */
int cma_bind_local(struct cma_id *id, const struct sockaddr *addr)
{
	struct sockaddr *own = cma_src_addr(id);
	int ret;

	ret = cma_check_linklocal(&id->id.route.addr.dev_addr, addr);
	if (ret)
		return ret;
	memcpy(own, addr, rdma_addr_size(addr));
	if (!cma_addr_is_any(own)) {
		ret = cma_translate_addr(own, &id->id.route.addr.dev_addr);
		if (!ret)
			ret = cma_acquire_by_source(id);
		if (ret)
			return ret;
	}
	default_afonly(id);
	cma_dst_addr(id)->sa_family = own->sa_family;
	ret = cma_get_port(id);
	if (ret)
		cma_release_device(id);
	return ret;
}

/**
 * cma_unbind() - undo what a failed cma_bind_local() has left
 * @id: id that has made the step CMA_BIND; the next address is looked for on any interface
 *
 * Context: any.
 */
void cma_unbind(struct cma_id *id)
{
	id->id.route.addr.dev_addr.bound_dev_if = 0;
	cma_step(id, CMA_UNBIND);
}

/**
 * rdma_bind_addr() - give an id a local address
 * @id: id that has none yet
 * @addr: AF_INET, AF_INET6 or AF_IB, with the port; 0 for an ephemeral one.  With a wildcard or
 *	loopback address the id gets its device later, or listens on all of them
 *
 * Context: may sleep.
 * Return: 0; -EAFNOSUPPORT for another family; -EINVAL for an id with an address; and as
 * cma_bind_local().
 */
int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	struct cma_id *own = to_cma_id(id);
	int ret;

	if (!rdma_addr_size(addr))
		return rdma_refuse(-EAFNOSUPPORT, "address family %u", addr->sa_family);
	if (!cma_step(own, CMA_BIND))
		return rdma_refuse(-EINVAL, "binding in state %d", cma_state(own));
	ret = cma_bind_local(own, addr);
	if (ret)
		cma_unbind(own);
	return ret;
}
EXPORT_SYMBOL(rdma_bind_addr);

/**
 * cma_bind_any() - give an id the wildcard address of a family
 * @id: id that has no address yet
 * @family: AF_INET, AF_INET6 or AF_IB
 *
 * Context: may sleep.
 * Return: as rdma_bind_addr().
 */
int cma_bind_any(struct cma_id *id, sa_family_t family)
{
	struct sockaddr_storage any = { .ss_family = family };

	return rdma_bind_addr(&id->id, (struct sockaddr *)&any);
}
