// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * XRC domains and target QPs.
 *
 * The kernel owns a target: it has no queues here, and other processes may have opened
 * it.  Receives belong to SRQs, so its number is not used here.
 */
#include <errno.h>
#include <stdlib.h>

#include "qp.h"
#include "release.h"

struct ibv_xrcd *vhca_open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
	struct ib_uverbs_open_xrcd_resp resp = {};
	struct ibv_open_xrcd cmd = {};
	struct verbs_xrcd *xrcd;
	int err;

	xrcd = calloc(1, sizeof(*xrcd));
	if (!xrcd)
		return NULL;
	err = ibv_cmd_open_xrcd(context, xrcd, sizeof(*xrcd), attr, &cmd, sizeof(cmd), &resp,
				sizeof(resp));
	if (err) {
		free(xrcd);
		errno = err;
		return NULL;
	}
	return &xrcd->xrcd;
}

int vhca_close_xrcd(struct ibv_xrcd *ibxrcd)
{
	struct verbs_xrcd *xrcd = container_of(ibxrcd, struct verbs_xrcd, xrcd);
	int err = ibv_cmd_close_xrcd(xrcd);

	if (!err)
		free(xrcd);
	return err;
}

static struct vhca_qp *target_alloc(void)
{
	struct vhca_qp *qp = calloc(1, sizeof(*qp));

	if (!qp)
		return NULL;
	vhca_lock_init(&qp->sq.lock, false);
	vhca_lock_init(&qp->rq.lock, false);
	return qp;
}

static struct ibv_qp *target_fail(struct vhca_qp *qp, int err)
{
	vhca_lock_destroy(&qp->sq.lock);
	vhca_lock_destroy(&qp->rq.lock);
	free(qp);
	errno = err;
	return NULL;
}

/**
 * vhca_create_target() - make a target QP
 * @context: context
 * @attr: its attributes; all capacities are set to 0
 *
 * Return: the QP, or NULL with errno set.
 */
struct ibv_qp *vhca_create_target(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	const struct ibv_qp_cap asked = attr->cap;
	struct ib_uverbs_ex_create_qp_resp resp = {};
	struct ibv_create_qp_ex cmd = {};
	struct vhca_qp *qp;
	int err;

	if (!check_comp_mask(attr->comp_mask, IBV_QP_INIT_ATTR_XRCD | IBV_QP_INIT_ATTR_PD |
			     IBV_QP_INIT_ATTR_CREATE_FLAGS)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	qp = target_alloc();
	if (!qp)
		return NULL;
	attr->cap = (struct ibv_qp_cap) {};
	err = vhca_cmd_create_target(to_vhca_context(context), qp, attr, &cmd, &resp);
	if (!err)
		return &qp->vqp.qp;
	attr->cap = asked;
	return target_fail(qp, err);
}

struct ibv_qp *vhca_open_qp(struct ibv_context *context, struct ibv_qp_open_attr *attr)
{
	struct ib_uverbs_create_qp_resp resp = {};
	struct ibv_open_qp cmd = {};
	struct vhca_qp *qp = target_alloc();
	int err;

	if (!qp)
		return NULL;
	err = ibv_cmd_open_qp(context, &qp->vqp, sizeof(qp->vqp), attr, &cmd, sizeof(cmd), &resp,
			      sizeof(resp));
	return err ? target_fail(qp, err) : &qp->vqp.qp;
}
