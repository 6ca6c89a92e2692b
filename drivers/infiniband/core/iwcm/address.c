// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Addresses of ids: those that the consumer gave, and those that the port mapper assigned for the
 * wire.
 */
#include <linux/cleanup.h>
#include <linux/string.h>
#include <net/ipv6.h>
#include <rdma/rdma_netlink.h>
#include <rdma/rdma_reject.h>

#include "iwcm.h"
#include "portmap.h"

/* Replaces a wildcard IP address by that of another address; the port is kept. */
static void fill_wildcard(struct sockaddr_storage *addr, const struct sockaddr_storage *from)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)addr;
	struct sockaddr_in *in = (struct sockaddr_in *)addr;

	if (addr->ss_family != from->ss_family)
		return;
	if (addr->ss_family == AF_INET && in->sin_addr.s_addr == htonl(INADDR_ANY))
		in->sin_addr = ((const struct sockaddr_in *)from)->sin_addr;
	else if (addr->ss_family == AF_INET6 && ipv6_addr_any(&in6->sin6_addr))
		in6->sin6_addr = ((const struct sockaddr_in6 *)from)->sin6_addr;
}

static int name_device(struct ib_device *device, struct iwpm_dev_data *names)
{
	if (strscpy(names->dev_name, device->name) < 0)
		return rdma_refuse(-EINVAL, "the port mapper knows device names of up to %u bytes",
				   IWPM_DEVNAME_SIZE - 1);
	strscpy(names->if_name, device->iw_ifname);
	return 0;
}

static void set_mapped(struct iwcm_id *cm)
{
	guard(spinlock_irqsave)(&cm->lock);
	cm->id.mapped = true;
}

static bool clear_mapped(struct iwcm_id *cm)
{
	guard(spinlock_irqsave)(&cm->lock);
	if (!cm->id.mapped)
		return false;
	cm->id.mapped = false;
	return true;
}

/**
 * iwcm_map() - get an id's addresses on the wire
 * @cm: an id that is about to listen or to connect
 * @active: it is about to connect
 *
 * Asks the port mapper for a local port, and with @active for the peer's. Without a port mapper, or
 * if it refuses, the addresses are used unchanged. The same holds for drivers with
 * IW_F_NO_PORT_MAP, whose ports the port mapper is informed of.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL if the port mapper does not support the device's name or the address family;
 * -ENOMEM.
 */
int iwcm_map(struct iwcm_id *cm, bool active)
{
	struct iw_cm_id *id = &cm->id;
	struct iwpm_sa_data addr = {};
	struct iwpm_dev_data names = {};
	int ret;

	/* A repeated connect still has the mapping of the previous one. */
	iwcm_unmap(cm);
	ret = name_device(id->device, &names);
	if (ret)
		return ret;
	id->m_local_addr = id->local_addr;
	id->m_remote_addr = id->remote_addr;
	if (iwpm_register_pid(&names, RDMA_NL_IWCM) || !iwpm_valid_pid())
		return 0;

	set_mapped(cm);
	addr.loc_addr = id->local_addr;
	addr.rem_addr = id->remote_addr;
	if (id->device->iw_driver_flags & IW_F_NO_PORT_MAP)
		addr.flags = IWPM_FLAGS_NO_PORT_MAP;
	ret = active ? iwpm_add_and_query_mapping(&addr, RDMA_NL_IWCM) :
	      iwpm_add_mapping(&addr, RDMA_NL_IWCM);
	/* If the daemon has exited meanwhile, no request was sent. */
	if (!ret && addr.mapped_loc_addr.ss_family) {
		id->m_local_addr = addr.mapped_loc_addr;
		if (active) {
			id->m_remote_addr = addr.mapped_rem_addr;
			fill_wildcard(&id->m_remote_addr, &id->remote_addr);
		}
	}
	/* CONNECT_REPLY changes m_local_addr to the address that the driver has used. */
	cm->wire = id->m_local_addr;
	return iwpm_create_mapinfo(&id->local_addr, &cm->wire, RDMA_NL_IWCM, addr.flags);
}

/**
 * iwcm_unmap() - remove an id's mapping
 * @cm: the id, mapped or not
 *
 * Context: may sleep.
 */
void iwcm_unmap(struct iwcm_id *cm)
{
	if (!clear_mapped(cm))
		return;
	iwpm_remove_mapinfo(&cm->id.local_addr, &cm->wire);
	iwpm_remove_mapping(&cm->id.local_addr, RDMA_NL_IWCM);
}

/**
 * iwcm_request_address() - give the id of a connection request its addresses
 * @listener: the id that listens
 * @cm: the request's id, whose event was not reported yet
 *
 * If the port mapper knows the address from which the peer's consumer connects, the event has that
 * instead of the one on the wire.
 *
 * Context: may sleep.
 */
void iwcm_request_address(struct iwcm_id *listener, struct iwcm_id *cm)
{
	struct iw_cm_event *event = &cm->first.event;
	struct iw_cm_id *id = &cm->id;

	id->m_local_addr = event->local_addr;
	id->m_remote_addr = event->remote_addr;
	id->local_addr = listener->id.local_addr;
	if (iwpm_get_remote_info(&listener->id.m_local_addr, &event->remote_addr,
				 &id->remote_addr, RDMA_NL_IWCM)) {
		id->remote_addr = event->remote_addr;
		return;
	}
	fill_wildcard(&id->local_addr, &event->local_addr);
	event->local_addr = id->local_addr;
	event->remote_addr = id->remote_addr;
}
