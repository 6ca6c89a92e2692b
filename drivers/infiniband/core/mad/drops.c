// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * MADs that arrive and are dropped: they are counted by reason, and the counters are shown in the
 * port's folder mad_rx_dropped/ in sysfs.
 */
#include <kunit/visibility.h>
#include <linux/sysfs.h>
#include <rdma/ib_sysfs.h>

#include "../sysfs/sysfs.h"
#include "mad.h"
#include "mad_priv.h"

/**
 * mad_count_drop() - count MADs that are dropped
 * @port: port at which they have arrived
 * @why: the reason
 * @count: their number
 *
 * Context: any.
 */
void mad_count_drop(struct mad_port *port, enum mad_drop why, unsigned int count)
{
	atomic64_add(count, &port->dropped[why]);
}

/**
 * mad_recv_drop() - free a MAD that is not delivered to an agent
 * @recv: MAD that has arrived; freed
 * @why: the reason for which it is dropped, or MAD_TAKEN
 *
 * Context: any.
 */
void mad_recv_drop(struct mad_recv *recv, enum mad_drop why)
{
	if (why != MAD_TAKEN)
		mad_count_drop(recv->qp->port, why, 1);
	mad_recv_free(recv);
}

/**
 * mad_refuse_recv() - free a MAD that its sender must not send to an agent
 * @agent: the agent
 * @wc: argument of its receive handler
 *
 * As ib_free_recv_mad(), but the MAD is counted as dropped.
 *
 * Context: any.
 */
void mad_refuse_recv(struct ib_mad_agent *agent, struct ib_mad_recv_wc *wc)
{
	mad_count_drop(to_mad_agent(agent)->port, MAD_DROP_REFUSED, 1);
	ib_free_recv_mad(wc);
}

/* ---- sysfs ---- */

/**
 * struct drop_attr - a file
 * @port: the attribute of sysfs
 * @why: the reason
 */
struct drop_attr {
	struct ib_port_attribute port;
	enum mad_drop why;
};

static ssize_t drop_show(struct ib_device *device, u32 port_num, struct ib_port_attribute *attr,
			 char *buf)
{
	struct mad_port *port = mad_port_get(device, port_num);
	s64 dropped;

	/* The files are removed before the port. */
	if (WARN_ON_ONCE(!port))
		return -ENODEV;
	dropped = atomic64_read(&port->dropped[container_of(attr, struct drop_attr, port)->why]);
	mad_port_put(port);
	return sysfs_emit(buf, "%lld\n", dropped);
}

#define DROP(_name, _why)						\
	static struct drop_attr drop_##_name = {			\
		.port = __ATTR(_name, 0444, drop_show, NULL),		\
		.why = _why,						\
	}

DROP(malformed, MAD_DROP_MALFORMED);
DROP(misrouted, MAD_DROP_MISROUTED);
DROP(no_memory, MAD_DROP_NO_MEMORY);
DROP(refused, MAD_DROP_REFUSED);
DROP(rmpp, MAD_DROP_RMPP);
DROP(unawaited, MAD_DROP_UNAWAITED);
DROP(unclaimed, MAD_DROP_UNCLAIMED);

static struct attribute *drop_attrs[] = {
	&drop_malformed.port.attr, &drop_misrouted.port.attr, &drop_no_memory.port.attr,
	&drop_refused.port.attr, &drop_rmpp.port.attr, &drop_unawaited.port.attr,
	&drop_unclaimed.port.attr, NULL
};

static const struct attribute_group drop_group = {
	.name = "mad_rx_dropped",
	.attrs = drop_attrs,
};

static const struct attribute_group *drop_groups[] = { &drop_group, NULL };

/**
 * mad_drops_show() - add a port's counters of dropped MADs to sysfs
 * @port: port that agents find
 *
 * Context: may sleep.
 * Return: 0, to be ended with mad_drops_hide(); the error of sysfs.
 */
int mad_drops_show(struct mad_port *port)
{
	return ib_port_register_client_groups(port->device, port->port_num, drop_groups);
}

/**
 * mad_drops_hide() - undo mad_drops_show()
 * @port: the port
 *
 * Context: may sleep until no reader is left.
 */
void mad_drops_hide(struct mad_port *port)
{
	ib_port_unregister_client_groups(port->device, port->port_num, drop_groups);
}
