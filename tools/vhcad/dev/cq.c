// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues.
 */
#include <endian.h>
#include <stdlib.h>

#include "dev/cmd.h"
#include "dev/dev.h"
#include "engine/core.h"

static void cq_error(struct vcq *cq)
{
	cq->err = true;
	eq_async(cq->dev, &cq->async, EVB_CQ_ERR);
}

static bool cq_full(struct vcq *cq)
{
	u32 size = 1u << cq->log;
	u64 ci;

	if (cq->flags & VHCA_CQ_IGNORE_OVERRUN || cq->pi - cq->ci < size)
		return false;
	if (dbrec_load(&cq->rec_ci, &ci))
		return true;
	cq->ci = ci;
	return cq->pi - cq->ci >= size;
}

/*
 * The entry is written, the consumer may have stored its arm record at the
 * same time: with a full barrier on both sides one of the two sees the other.
 */
static void cq_notify(struct vcq *cq, bool solicited)
{
	u64 arm;
	u32 seq;

	dma_mb();
	if (dbrec_load(&cq->rec_arm, &arm))
		return;
	seq = arm >> VHCA_ARM_SEQ_SHIFT;
	if (seq == cq->arm_seq || (s32)(cq->pi - 1 - (u32)arm) < 0)
		return;
	if (arm & VHCA_ARM_SOLICITED && !solicited)
		return;
	cq->arm_seq = seq;
	eq_post(cq->eq, &cq->compl, EVB_COMPLETION);
}

bool cq_push(struct vcq *cq, struct vhca_cqe *cqe, bool solicited)
{
	u8 lap = !(cq->pi >> cq->log & 1);
	u32 off;

	if (cq->err)
		return false;
	if (cq->flags & VHCA_CQ_TIMESTAMP)
		cqe->timestamp = htole64(engine_now(cq->dev->engine));
	if (cq_full(cq) ||
	    vring_at(cq->dev->mem, &cq->ring, (cq->pi & ((1u << cq->log) - 1)) * sizeof(*cqe),
		     &off) ||
	    dma_ref_write(&cq->ring.ref, off, cqe, offsetof(struct vhca_cqe, owner)) ||
	    dma_ref_store8_release(&cq->ring.ref, off + offsetof(struct vhca_cqe, owner), lap)) {
		cq_error(cq);
		return false;
	}
	cq->pi++;
	cq_notify(cq, solicited || cqe->status);
	return true;
}

void cq_destroy(struct vcq *cq)
{
	evnode_fini(&cq->compl);
	evnode_fini(&cq->async);
	table_del(&cq->dev->cqs, cq->cqn, 0);
	uar_slot_give(&cq->rec_ci);
	uar_slot_give(&cq->rec_arm);
	cq->eq->users--;
	cq->uar->users--;
	free(cq);
}

enum vhca_status cmd_create_cq(struct command *c)
{
	const struct vhca_create_cq_hw_req *req = command_req(c);
	struct vhca_dev *dev = c->dev;
	struct vuar *uar = table_get(&dev->uars, le32toh(req->uar));
	struct veq *eq = table_get(&dev->eqs, le32toh(req->eqn));
	enum vhca_status st;
	struct vcq *cq;
	int err;

	if (!uar)
		return BAD_HANDLE(c, vhca_create_cq_hw_req, uar);
	if (!eq)
		return BAD_HANDLE(c, vhca_create_cq_hw_req, eqn);
	if (eq->flags & VHCA_EQ_ASYNC)
		return BAD_FIELD(c, vhca_create_cq_hw_req, eqn);
	if (req->log_cqe > VDEV_LOG_MAX_CQE)
		return BAD_FIELD(c, vhca_create_cq_hw_req, log_cqe);
	if (req->flags & ~(VHCA_CQ_TIMESTAMP | VHCA_CQ_IGNORE_OVERRUN))
		return BAD_FIELD(c, vhca_create_cq_hw_req, flags);
	if (req->flags & VHCA_CQ_TIMESTAMP && !(dev->caps >> VHCA_CAP_CLOCK & 1))
		return UNSUPPORTED(c, vhca_create_cq_hw_req, flags);
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return VHCA_ST_INTERNAL;
	cq->dev = dev;
	cq->uar = uar;
	cq->eq = eq;
	cq->flags = req->flags;
	cq->log = req->log_cqe;
	st = command_ring(c, offsetof(struct vhca_create_cq_hw_req, buf),
			  sizeof(struct vhca_cqe) << cq->log, sizeof(struct vhca_cqe), true,
			  &cq->ring);
	if (st)
		goto free;
	st = command_slots(c, offsetof(struct vhca_create_cq_hw_req, db_slot), uar,
			   le32toh(req->db_slot), SLOT_PASSIVE, SLOT_PASSIVE, cq, &cq->rec_ci,
			   &cq->rec_arm);
	if (st)
		goto free;
	err = table_add(&dev->cqs, cq, 0, &cq->cqn);
	if (err) {
		uar_slot_give(&cq->rec_ci);
		uar_slot_give(&cq->rec_arm);
		st = status_of(err);
		goto free;
	}
	evnode_init(&cq->compl, cq->cqn);
	evnode_init(&cq->async, cq->cqn);
	uar->users++;
	eq->users++;
	return command_object(c, cq->cqn);
free:
	free(cq);
	return st;
}

enum vhca_status cmd_destroy_cq(struct command *c)
{
	struct vcq *cq = table_get(&c->dev->cqs, command_handle(c));

	if (!cq)
		return BAD_HANDLE(c, vhca_object_req, handle);
	if (cq->users)
		return BUSY(c, vhca_object_req, handle);
	cq_destroy(cq);
	return VHCA_ST_OK;
}
