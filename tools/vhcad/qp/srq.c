// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared receive queues: receives for the QPs that need one next.
 *
 * The taken record advances only when an entry has been read: then its stride
 * belongs to the consumer again.
 */
#include <errno.h>
#include <stdlib.h>

#include "qp/srq.h"
#include "qp/wqe.h"
#include "res/command.h"

static void srq_error(struct vsrq *srq)
{
	srq->err = true;
	srq->limit = 0;
	eq_async(srq->dev, &srq->async, EVB_SRQ_ERR);
}

/* Reads how many receives are posted and not taken; -EFAULT: the record cannot be used. */
static int receives_left(struct vsrq *srq, u32 *left)
{
	u64 posted;

	if (srq->err)
		return -EFAULT;
	if (!dbrec_load(&srq->rec_posted, &posted)) {
		*left = (u32)posted - srq->taken;
		if (*left <= 1u << srq->log) {
			srq->posted = posted;
			return 0;
		}
	}
	srq_error(srq);
	return -EFAULT;
}

static void check_limit(struct vsrq *srq, u32 left)
{
	if (left >= srq->limit)
		return;
	srq->limit = 0;
	eq_async(srq->dev, &srq->async, EVB_SRQ_LIMIT);
}

int srq_take(struct vsrq *srq, struct recv_wqe *w)
{
	u32 left = srq->posted - srq->taken;
	int st;

	/* read the record only if no receive is known, or if taking one reaches the limit */
	if ((srq->err || !left || left <= srq->limit) && receives_left(srq, &left))
		return -EFAULT;
	if (!left)
		return -EAGAIN;
	st = wqe_load_recv(srq->dev->mem, &srq->ring, srq->log_stride, srq->taken, w);
	if (st < 0 || dbrec_store(&srq->rec_taken, srq->taken + 1)) {
		srq_error(srq);
		return -EFAULT;
	}
	srq->taken++;
	check_limit(srq, left - 1);
	return st;
}

void srq_destroy(struct vsrq *srq)
{
	xrc_forget_srq(srq, UINT32_MAX);
	evnode_fini(&srq->async);
	table_del(&srq->dev->srqs, srq->srqn, 0);
	uar_slot_give(&srq->rec_posted);
	uar_slot_give(&srq->rec_taken);
	srq->pd->users--;
	srq->uar->users--;
	if (srq->xrcd) {
		srq->xrcd->users--;
		srq->cq->users--;
	}
	free(srq);
}

/* Looks up the domain and the CQ of an XRC SRQ. */
static enum vhca_status take_domain(struct command *c, struct vsrq *srq)
{
	const struct vhca_create_srq_hw_req *req = command_req(c);
	struct vhca_dev *dev = c->dev;

	if (req->flags & ~VHCA_SRQ_XRC)
		return BAD_FIELD(c, vhca_create_srq_hw_req, flags);
	if (!(req->flags & VHCA_SRQ_XRC)) {
		if (req->xrcdn)
			return BAD_FIELD(c, vhca_create_srq_hw_req, xrcdn);
		return req->cqn ? BAD_FIELD(c, vhca_create_srq_hw_req, cqn) : VHCA_ST_OK;
	}
	if (!dev_cap(dev, VHCA_CAP_XRC))
		return UNSUPPORTED(c, vhca_create_srq_hw_req, flags);
	srq->xrcd = table_get(&dev->xrcds, le32toh(req->xrcdn));
	if (!srq->xrcd)
		return BAD_HANDLE(c, vhca_create_srq_hw_req, xrcdn);
	srq->cq = table_get(&dev->cqs, le32toh(req->cqn));
	return srq->cq ? VHCA_ST_OK : BAD_HANDLE(c, vhca_create_srq_hw_req, cqn);
}

static enum vhca_status init_srq(struct command *c, struct vsrq *srq)
{
	const struct vhca_create_srq_hw_req *req = command_req(c);
	struct vhca_dev *dev = c->dev;
	enum vhca_status st;
	int err;

	srq->pd = table_get(&dev->pds, le32toh(req->pdn));
	if (!srq->pd)
		return BAD_HANDLE(c, vhca_create_srq_hw_req, pdn);
	srq->uar = table_get(&dev->uars, le32toh(req->uar));
	if (!srq->uar)
		return BAD_HANDLE(c, vhca_create_srq_hw_req, uar);
	if (req->log_strides > VDEV_LOG_MAX_STRIDES)
		return BAD_FIELD(c, vhca_create_srq_hw_req, log_strides);
	if (req->log_stride < VDEV_LOG_MIN_STRIDE || req->log_stride > VDEV_LOG_MAX_STRIDE)
		return BAD_FIELD(c, vhca_create_srq_hw_req, log_stride);
	st = take_domain(c, srq);
	if (st)
		return st;
	srq->log = req->log_strides;
	srq->log_stride = req->log_stride;
	st = command_ring(c, offsetof(struct vhca_create_srq_hw_req, buf),
			  1ull << (srq->log + srq->log_stride), 1u << srq->log_stride, false,
			  &srq->ring);
	if (st)
		return st;
	st = command_slots(c, offsetof(struct vhca_create_srq_hw_req, db_slot), srq->uar,
			   le32toh(req->db_slot), NULL, NULL, srq,
			   &srq->rec_posted, &srq->rec_taken);
	if (st)
		return st;
	/* the record may hold the count of an earlier queue */
	if (dbrec_store(&srq->rec_taken, 0)) {
		st = BAD_ADDRESS(c, vhca_create_srq_hw_req, db_slot);
	} else {
		err = table_add(&dev->srqs, srq, 0, &srq->srqn);
		if (!err)
			return VHCA_ST_OK;
		st = command_table_error(c, VLIM_SRQS, err);
	}
	uar_slot_give(&srq->rec_posted);
	uar_slot_give(&srq->rec_taken);
	return st;
}

enum vhca_status cmd_create_srq(struct command *c)
{
	struct vsrq *srq = calloc(1, sizeof(*srq));
	enum vhca_status st;

	if (!srq)
		return VHCA_ST_INTERNAL;
	srq->dev = c->dev;
	INIT_LIST_HEAD(&srq->targets);
	st = init_srq(c, srq);
	if (st) {
		free(srq);
		return st;
	}
	evnode_init(&srq->async, srq->srqn);
	srq->pd->users++;
	srq->uar->users++;
	if (srq->xrcd) {
		srq->xrcd->users++;
		srq->cq->users++;
	}
	return command_object(c, srq->srqn);
}

/* Targets that leave an SRQ in one pass. */
#define TARGETS_AT_ONCE	64u

enum vhca_status cmd_destroy_srq(struct command *c)
{
	struct vsrq *srq = table_get(&c->dev->srqs, command_handle(c));

	if (!srq)
		return BAD_HANDLE(c, vhca_object_req, handle);
	if (srq->users)
		return BUSY(c, vhca_object_req, handle);
	if (!xrc_forget_srq(srq, TARGETS_AT_ONCE)) {
		c->again = true;
		return VHCA_ST_OK;
	}
	srq_destroy(srq);
	return VHCA_ST_OK;
}

enum vhca_status cmd_modify_srq(struct command *c)
{
	const struct vhca_modify_srq_hw_req *req = command_req(c);
	struct vsrq *srq = table_get(&c->dev->srqs, le32toh(req->srqn));
	u32 limit = le32toh(req->limit), left;

	if (!srq)
		return BAD_HANDLE(c, vhca_modify_srq_hw_req, srqn);
	if (limit > 1u << srq->log)
		return BAD_FIELD(c, vhca_modify_srq_hw_req, limit);
	if (receives_left(srq, &left))
		return BAD_STATE(c, vhca_modify_srq_hw_req, srqn);
	srq->limit = limit;
	check_limit(srq, left);
	return VHCA_ST_OK;
}

enum vhca_status cmd_resize_srq(struct command *c)
{
	const struct vhca_resize_srq_hw_req *req = command_req(c);
	struct vsrq *srq = table_get(&c->dev->srqs, le32toh(req->srqn));
	struct vring ring;
	enum vhca_status st;
	u32 left;

	if (!srq)
		return BAD_HANDLE(c, vhca_resize_srq_hw_req, srqn);
	if (req->log_strides > VDEV_LOG_MAX_STRIDES)
		return BAD_FIELD(c, vhca_resize_srq_hw_req, log_strides);
	st = command_ring(c, offsetof(struct vhca_resize_srq_hw_req, buf),
			  1ull << (req->log_strides + srq->log_stride), 1u << srq->log_stride,
			  false, &ring);
	if (st)
		return st;
	if (receives_left(srq, &left))
		return BAD_STATE(c, vhca_resize_srq_hw_req, srqn);
	if (left > 1u << req->log_strides)
		return BAD_STATE(c, vhca_resize_srq_hw_req, log_strides);
	srq->ring = ring;
	srq->log = req->log_strides;
	return VHCA_ST_OK;
}

enum vhca_status cmd_query_srq(struct command *c)
{
	struct vsrq *srq = table_get(&c->dev->srqs, command_handle(c));
	struct vhca_query_srq_resp *resp = (void *)c->resp;
	u32 left;

	if (!srq)
		return BAD_HANDLE(c, vhca_object_req, handle);
	if (receives_left(srq, &left))
		return BAD_STATE(c, vhca_object_req, handle);
	resp->limit = htole32(srq->limit);
	resp->left = htole32(left);
	return VHCA_ST_OK;
}
