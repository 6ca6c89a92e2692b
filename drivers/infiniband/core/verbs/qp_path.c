// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The paths that a modification gives to a QP.  The QP holds a reference on the source
 * GID entry of each path, so that the entry's slot in the GID table is not reused for
 * another GID in the meantime.
 */
#include <rdma/ib_cache.h>
#include <rdma/lag.h>
#include "verbs_priv.h"

static bool qp_is_connected(const struct ib_qp *qp)
{
	const unsigned long connected = BIT(IB_QPT_RC) | BIT(IB_QPT_UC) |
					BIT(IB_QPT_XRC_INI) | BIT(IB_QPT_XRC_TGT);

	return qp->qp_type < IB_QPT_MAX && (connected & BIT(qp->qp_type));
}

/* Both the primary and the alternate path have to use InfiniBand ports. */
static int path_check_alternate(struct ib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	u32 port = mask & IB_QP_PORT ? attr->port_num : qp->port;

	if (rdma_protocol_ib(qp->device, attr->alt_ah_attr.port_num) &&
	    rdma_protocol_ib(qp->device, port))
		return 0;
	return rdma_refuse(-EINVAL, "alternate path: ports %u and %u are not both InfiniBand", port,
			   attr->alt_ah_attr.port_num);
}

/*
 * Resolves the Ethernet address for a user, who names the peer by its GID alone. For kernel
 * consumers the address was resolved before, by themselves or by the connection manager.
 */
static int path_resolve_roce(struct ib_qp *qp, struct ib_qp_attr *attr, struct ib_udata *udata)
{
	struct net_device *slave;
	int ret;

	if (attr->ah_attr.type != RDMA_AH_ATTR_TYPE_ROCE || !qp_is_connected(qp))
		return 0;
	ret = udata ? ah_attr_resolve_dmac(&attr->ah_attr) : 0;
	if (ret)
		return ret;
	slave = rdma_lag_get_ah_roce_slave(qp->device, &attr->ah_attr, GFP_KERNEL);
	if (IS_ERR(slave))
		return rdma_refuse(PTR_ERR(slave), "path: the bond has no slave for it");
	attr->xmit_slave = slave;
	return 0;
}

/**
 * qp_paths_prepare() - check and complete the paths of a modification
 * @qp: QP
 * @attr: attributes; address vectors get their source GID entries, and xmit_slave is set if the
 *	path uses a bond
 * @mask: which attributes are valid
 * @udata: the user's request, NULL for kernel consumers, which resolve addresses themselves
 * @paths: filled for qp_paths_commit() and qp_paths_release()
 *
 * Return: 0, with references to be released; or a negative errno, without references.
 */
int qp_paths_prepare(struct ib_qp *qp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata,
		     struct qp_paths *paths)
{
	int ret = 0;

	memset(paths, 0, sizeof(*paths));
	if (mask & IB_QP_AV) {
		ret = ah_attr_hold_sgid(qp->device, &attr->ah_attr, &paths->av);
		if (!ret)
			ret = path_resolve_roce(qp, attr, udata);
	}
	if (!ret && (mask & IB_QP_ALT_PATH)) {
		ret = ah_attr_hold_sgid(qp->device, &attr->alt_ah_attr, &paths->alt);
		if (!ret)
			ret = path_check_alternate(qp, attr, mask);
	}
	if (ret)
		qp_paths_release(attr, mask, paths);
	return ret;
}

/*
 * The QP holds its own reference on the entry that it uses.  Modifications may run concurrently:
 * xchg() makes sure that each former entry is put once.
 */
static void path_adopt(const struct ib_gid_attr **slot, const struct rdma_ah_attr *ah_attr)
{
	const struct ib_gid_attr *former, *fresh = NULL;

	if (ah_attr->ah_flags & IB_AH_GRH)
		fresh = ah_attr->grh.sgid_attr;
	if (fresh)
		rdma_hold_gid_attr(fresh);
	former = xchg(slot, fresh);
	if (former)
		rdma_put_gid_attr(former);
}

/**
 * qp_paths_commit() - store the paths that the driver has accepted in the QP
 * @qp: QP
 * @attr: attributes
 * @mask: which attributes are valid
 */
void qp_paths_commit(struct ib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_AV)
		path_adopt(&qp->av_sgid_attr, &attr->ah_attr);
	if (mask & IB_QP_ALT_PATH)
		path_adopt(&qp->alt_path_sgid_attr, &attr->alt_ah_attr);
}

/**
 * qp_paths_release() - undo qp_paths_prepare()
 * @attr: attributes; restored to what the caller of qp_paths_prepare() passed
 * @mask: which attributes are valid
 * @paths: paths of qp_paths_prepare()
 */
void qp_paths_release(struct ib_qp_attr *attr, int mask, struct qp_paths *paths)
{
	rdma_lag_put_ah_roce_slave(attr->xmit_slave);
	attr->xmit_slave = NULL;
	if (mask & IB_QP_AV)
		ah_attr_drop_sgid(&attr->ah_attr, paths->av);
	if (mask & IB_QP_ALT_PATH)
		ah_attr_drop_sgid(&attr->alt_ah_attr, paths->alt);
}
