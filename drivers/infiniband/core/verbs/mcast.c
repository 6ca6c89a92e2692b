// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Attaching queue pairs to multicast groups.  Each attachment counts as a user of
 * the QP, which therefore cannot be destroyed before it is detached.
 */
#include <rdma/ib_addr.h>
#include "verbs_priv.h"

static bool is_ib_port(struct ib_device *device, u32 port)
{
	return rdma_port_get_link_layer(device, port) == IB_LINK_LAYER_INFINIBAND;
}

/* On Ethernet the group's MAC address is derived from its GID, so that the LID does not matter. */
static bool needs_lid(const struct ib_qp *qp)
{
	u32 port;

	if (qp->port)
		return is_ib_port(qp->device, qp->port);
	/* A QP without a port may still be assigned any port. */
	rdma_for_each_port(qp->device, port)
		if (!is_ib_port(qp->device, port))
			return false;
	return true;
}

static bool is_mcast_lid(u16 lid)
{
	return lid >= be16_to_cpu(IB_MULTICAST_LID_BASE) && lid != be16_to_cpu(IB_LID_PERMISSIVE);
}

/* Checks QP and address; @able is whether the driver has the operation. */
static int check_group(const struct ib_qp *qp, bool able, const union ib_gid *gid, u16 lid)
{
	if (!able)
		return rdma_refuse(-EOPNOTSUPP, "the device has no multicast");
	if (!rdma_is_multicast_addr((struct in6_addr *)gid->raw))
		return rdma_refuse(-EINVAL, "gid %pI6c is not a multicast GID", gid->raw);
	if (qp->qp_type != IB_QPT_UD)
		return rdma_refuse(-EINVAL, "QP %u has type %u, multicast needs UD", qp->qp_num,
				   qp->qp_type);
	if (needs_lid(qp) && !is_mcast_lid(lid))
		return rdma_refuse(-EINVAL, "mlid %#x is not a multicast LID", lid);
	return 0;
}

/**
 * ib_attach_mcast() - attach a QP to a multicast group
 * @qp: UD QP
 * @gid: the group's GID
 * @lid: the group's LID, 0xc000 to 0xfffe; any on Ethernet ports
 *
 * The caller must also join the group, so that its packets reach the port.
 *
 * Context: may sleep.
 * Return: 0, after which the QP has to be detached before it is destroyed; -EINVAL
 * for a GID, LID or QP that cannot be used for multicast; -EBUSY when the QP is being
 * destroyed; -EOPNOTSUPP when the device cannot; the driver's error.
 */
int ib_attach_mcast(struct ib_qp *qp, union ib_gid *gid, u16 lid)
{
	const struct ib_device_ops *ops = &qp->device->ops;
	int ret;

	ret = check_group(qp, ops->attach_mcast, gid, lid) ?: rdma_object_hold(&qp->obj);
	if (ret)
		return ret;
	ret = ops->attach_mcast(qp, gid, lid);
	if (ret)
		rdma_object_unhold(&qp->obj);
	return ret;
}
EXPORT_SYMBOL(ib_attach_mcast);

/**
 * ib_detach_mcast() - undo ib_attach_mcast()
 * @qp: QP
 * @gid: the group's GID
 * @lid: the group's LID that was passed to ib_attach_mcast()
 *
 * Context: may sleep.
 * Return: 0; -EINVAL for a GID, LID or QP that cannot be used for multicast;
 * -EOPNOTSUPP when the device cannot; the driver's error, after which the QP is still
 * attached.
 */
int ib_detach_mcast(struct ib_qp *qp, union ib_gid *gid, u16 lid)
{
	const struct ib_device_ops *ops = &qp->device->ops;
	int ret;

	ret = check_group(qp, ops->detach_mcast, gid, lid) ?: ops->detach_mcast(qp, gid, lid);
	if (!ret)
		rdma_object_unhold(&qp->obj);
	return ret;
}
EXPORT_SYMBOL(ib_detach_mcast);
