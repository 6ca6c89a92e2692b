// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues.
 *
 * An entry that matches the arm record makes an event, which is posted at once or, with
 * moderation, when enough entries are there or the first of them has waited long enough.
 * An arm record that is stored meanwhile replaces the one that was matched:
 * its consumer has polled since then and found the entries.
 */
#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "res/command.h"
#include "res/cq.h"

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

static bool cq_moderated(const struct vcq *cq)
{
	return cq->mod_count > 1 && cq->mod_ns;
}

static void cq_event(struct vcq *cq)
{
	cq->told = cq->due;
	cq->since = 0;
	timer_stop(&cq->timer);
	eq_post(cq->eq, &cq->compl, EVB_COMPLETION);
}

/* An event is due: posts it or, with moderation, waits for more entries. */
static void cq_tell_or_wait(struct vcq *cq)
{
	if (!cq_moderated(cq) || cq->since >= cq->mod_count)
		cq_event(cq);
	else
		timer_set(&cq->dev->adapter.timers, &cq->timer, cq->first + cq->mod_ns);
}

/* Has an entry met the current arm record, and was no event posted for it yet? */
static bool cq_due(struct vcq *cq)
{
	u64 arm;

	return cq->due != cq->told && !dbrec_load(&cq->rec_arm, &arm) && arm == cq->due;
}

static void cq_timer(struct timer *t)
{
	struct vcq *cq = container_of(t, struct vcq, timer);

	if (dev_live(cq->dev) && cq_due(cq))
		cq_event(cq);
}

/* Does an arm record want solicited entries only?  An unanswered one for all entries counts. */
static bool wants_solicited(const struct vcq *cq, u64 arm)
{
	u32 since = arm >> VHCA_ARM_SINCE_SHIFT & VHCA_ARM_SINCE_MASK;
	u32 told = (arm >> VHCA_ARM_SEQ_SHIFT) - (cq->told >> VHCA_ARM_SEQ_SHIFT);

	return since ? (told & VHCA_ARM_SEQ_MASK) <= since : arm & VHCA_ARM_SOLICITED;
}

/* Do the new entries, which are written before a barrier, match the arm record? */
static void cq_notify(struct vcq *cq)
{
	bool any = true;
	u64 arm;
	u32 end;

	if (dbrec_load(&cq->rec_arm, &arm) || arm == cq->told)
		return;
	end = cq->pi;
	if (wants_solicited(cq, arm)) {
		any = cq->has_solicited;
		end = cq->last_solicited;
	}
	if (any && (s32)(end - 1 - (u32)arm) >= 0)
		cq->due = arm;
	if (arm == cq->due)
		cq_tell_or_wait(cq);
}

void cq_notify_pending(struct vhca_dev *dev)
{
	struct list_head *l;

	while ((l = list_pop(&dev->cq_notify)))
		cq_notify(container_of(l, struct vcq, notify_node));
}

/* An entry is written; cq_notify_pending() sees whether a consumer waits for it. */
static void cq_wrote(struct vcq *cq, bool solicited)
{
	if (list_empty(&cq->notify_node)) {
		list_add_tail(&cq->notify_node, &cq->dev->cq_notify);
		adapter_wrote(&cq->dev->adapter);
		cq->has_solicited = false;
	}
	if (solicited) {
		cq->has_solicited = true;
		cq->last_solicited = cq->pi;
	}
	if (cq_moderated(cq)) {
		if (!cq->since)
			cq->first = adapter_now(&cq->dev->adapter);
		cq->since = MIN(cq->since + 1, cq->mod_count);
	}
}

/* The last word of an entry ends in the owner bit. */
#define CQE_END		(sizeof(struct vhca_cqe) - sizeof(u64))

static_assert(offsetof(struct vhca_cqe, owner) == sizeof(struct vhca_cqe) - 1, "the last byte");

static int write_entry(struct vcq *cq, const struct vhca_cqe *cqe)
{
	u64 lap = vhca_ring_lap(cq->pi, cq->log);
	u64 end;
	u32 off;

	memcpy(&end, (const u8 *)cqe + CQE_END, sizeof(end));
	if (vring_at(cq->dev->mem, &cq->ring, vhca_ring_slot(cq->pi, cq->log) * sizeof(*cqe),
		     &off))
		return -1;
	return dma_ref_publish(&cq->ring.ref, off, cqe, CQE_END, end | htole64(lap << 56));
}

bool cq_push(struct vcq *cq, struct vhca_cqe *cqe, bool solicited)
{
	if (cq->err)
		return false;
	if (cq->flags & VHCA_CQ_TIMESTAMP)
		cqe->timestamp = htole64(adapter_now(&cq->dev->adapter));
	if (cq->dev->lie)
		cq->dev->lie(cq->dev, ENTRY_COMPLETION, cq->cqn, cqe);
	if (cq_full(cq) || write_entry(cq, cqe)) {
		cq_error(cq);
		return false;
	}
	cq->pi++;
	cq_wrote(cq, solicited || cqe->status);
	return true;
}

void cq_destroy(struct vcq *cq)
{
	list_del_init(&cq->notify_node);
	evnode_fini(&cq->compl);
	evnode_fini(&cq->async);
	timer_fini(&cq->dev->adapter.timers, &cq->timer);
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
			   le32toh(req->db_slot), NULL, NULL, cq, &cq->rec_ci,
			   &cq->rec_arm);
	if (st)
		goto free;
	err = timer_init(&dev->adapter.timers, &cq->timer, cq_timer);
	if (!err) {
		err = table_add(&dev->cqs, cq, 0, &cq->cqn);
		if (err)
			timer_fini(&dev->adapter.timers, &cq->timer);
	}
	if (err) {
		uar_slot_give(&cq->rec_ci);
		uar_slot_give(&cq->rec_arm);
		st = command_table_error(c, VLIM_CQS, err);
		goto free;
	}
	INIT_LIST_HEAD(&cq->notify_node);
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

enum vhca_status cmd_resize_cq(struct command *c)
{
	const struct vhca_resize_cq_hw_req *req = command_req(c);
	struct vcq *cq = table_get(&c->dev->cqs, le32toh(req->cqn));
	struct vhca_resize_cq_hw_resp *resp = (void *)c->resp;
	enum vhca_status st;
	struct vring ring;
	u64 ci;
	u32 fill;

	if (!cq)
		return BAD_HANDLE(c, vhca_resize_cq_hw_req, cqn);
	if (req->log_cqe > VDEV_LOG_MAX_CQE)
		return BAD_FIELD(c, vhca_resize_cq_hw_req, log_cqe);
	st = command_ring(c, offsetof(struct vhca_resize_cq_hw_req, buf),
			  sizeof(struct vhca_cqe) << req->log_cqe, sizeof(struct vhca_cqe), true,
			  &ring);
	if (st)
		return st;
	if (!cq->err && dbrec_load(&cq->rec_ci, &ci))
		cq_error(cq);
	if (cq->err)
		return BAD_STATE(c, vhca_resize_cq_hw_req, cqn);
	/* entries that were overwritten cannot be copied into the new ring */
	fill = cq->pi - (u32)ci;
	if (fill > 1u << req->log_cqe || fill > 1u << cq->log)
		return BAD_STATE(c, vhca_resize_cq_hw_req, log_cqe);
	cq->ci = ci;
	cq->ring = ring;
	cq->log = req->log_cqe;
	resp->first = htole32(cq->pi);
	return VHCA_ST_OK;
}

enum vhca_status cmd_modify_cq(struct command *c)
{
	const struct vhca_modify_cq_req *req = command_req(c);
	struct vcq *cq = table_get(&c->dev->cqs, le32toh(req->cqn));

	if (!cq)
		return BAD_HANDLE(c, vhca_modify_cq_req, cqn);
	if (!cq_moderated(cq))
		cq->since = 0;
	cq->mod_count = le16toh(req->count);
	cq->mod_ns = le16toh(req->period) * 1000u;
	timer_stop(&cq->timer);
	if (cq_due(cq))
		cq_tell_or_wait(cq);
	return VHCA_ST_OK;
}
