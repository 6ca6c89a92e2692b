// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Replacing the ring of a CQ that is in use.
 *
 * The device writes entries to the new ring from the count in its response on; those before it are
 * copied from the old ring. The new ring is laid out for the current consumer count, so a kernel CQ
 * cannot be polled during the replacement. If its consumer requests an event in that time it is
 * called afterwards, since completions may have come before that raised none.
 */
#include <linux/log2.h>
#include <kunit/visibility.h>

#include "../cmd/cmd.h"
#include "cq.h"
#include "udata.h"

/**
 * vhca_cq_move_begin() - begin to replace a kernel CQ's ring
 * @cq: the CQ, its resize lock held
 * @to: the new ring, zeroed
 *
 * Nothing is polled until the end.
 *
 * Context: may sleep.
 */
void vhca_cq_move_begin(struct vhca_cq *cq, struct vhca_ring *to)
{
	struct vhca_cq_kernel *k = cq->kernel;
	struct vhca_cqe *entry;

	spin_lock_irq(&k->lock);
	k->moving = true;
	spin_unlock_irq(&k->lock);
	/* No entry is valid. The consumer count does not change. */
	for (u64 count = k->ci; count - k->ci < vhca_ring_entries(to); count++) {
		entry = vhca_ring_at(to, count);
		entry->owner = !vhca_ring_lap(count, to->log);
	}
}
EXPORT_SYMBOL_IF_KUNIT(vhca_cq_move_begin);

/* Allows polling again; true if the consumer has requested an event and has to be called. */
static bool resume_polling(struct vhca_cq *cq)
{
	struct vhca_cq_kernel *k = cq->kernel;
	bool call = k->asked && vhca_cq_waiting(cq, k->asked) == k->asked;

	k->moving = false;
	k->asked = 0;
	return call;
}

static void copy_entries(struct vhca_cq_kernel *k, struct vhca_ring *to, u64 end)
{
	struct vhca_cqe *entry;

	for (u64 count = k->ci; count < end; count++) {
		entry = vhca_ring_at(to, count);
		memcpy(entry, vhca_ring_at(&k->ring, count), sizeof(*entry));
		entry->owner = vhca_ring_lap(count, to->log);
	}
}

/**
 * vhca_cq_move_end() - finish replacing a kernel CQ's ring
 * @cq: the CQ
 * @to: the new ring, which the device uses; filled with the old one
 * @first: low 32 bits of the count of the first entry written there, from the device's response
 * @call: set to true if the completion handler has to be called
 *
 * Context: may sleep.
 * Return: 0; -EPROTO if the device's count is invalid, after which completions in the old ring are
 * lost.
 */
int vhca_cq_move_end(struct vhca_cq *cq, struct vhca_ring *to, u32 first, bool *call)
{
	struct vhca_cq_kernel *k = cq->kernel;
	u64 end = vhca_ring_widen(k->ci, first);
	int err = 0;

	spin_lock_irq(&k->lock);
	if (end - k->ci > min(vhca_ring_entries(to), vhca_ring_entries(&k->ring)))
		err = -EPROTO;
	else
		copy_entries(k, to, end);
	swap(k->ring, *to);
	cq->log = k->ring.log;
	*call = resume_polling(cq);
	spin_unlock_irq(&k->lock);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_cq_move_end);

/**
 * vhca_cq_move_cancel() - keep a kernel CQ's ring after the device refused the new one
 * @cq: the CQ
 * @call: set to true if the completion handler has to be called
 *
 * Context: may sleep.
 */
void vhca_cq_move_cancel(struct vhca_cq *cq, bool *call)
{
	spin_lock_irq(&cq->kernel->lock);
	*call = resume_polling(cq);
	spin_unlock_irq(&cq->kernel->lock);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_cq_move_cancel);

static int resize_on_device(struct vhca_dev *dev, struct vhca_cq *cq,
			    const struct vhca_pages *pages, u8 log, u32 *first)
{
	struct vhca_resize_cq_hw_req req = {
		.buf = pages->buf,
		.cqn = cpu_to_le32(cq->cqn),
		.log_cqe = log,
	};

	return vhca_cmd_resize_cq(&dev->hw, &req, first);
}

static int resize_kernel(struct vhca_dev *dev, struct vhca_cq *cq, u8 log)
{
	struct vhca_ring ring;
	bool call;
	u32 first;
	int err;

	if (log == cq->log)
		return 0;
	err = vhca_ring_alloc(&ring, dev->hw.dev, log, order_base_2(sizeof(struct vhca_cqe)));
	if (err)
		return err;
	vhca_cq_move_begin(cq, &ring);
	err = resize_on_device(dev, cq, &ring.mem.pages, log, &first);
	if (err) {
		vhca_cq_move_cancel(cq, &call);
	} else {
		err = vhca_cq_move_end(cq, &ring, first, &call);
		/* It is unknown to which of the rings the device writes. */
		if (err)
			vhca_hw_give_up(&dev->hw, "it lost count of a completion queue's entries");
	}
	vhca_ring_free(&ring);
	if (call && cq->ibcq.comp_handler)
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
	if (vhca_hw_dead(&dev->hw))
		vhca_cq_wake_soft(cq);
	return err;
}

/* The process has allocated the new ring, and copies the entries of the old one itself. */
static int resize_user(struct vhca_dev *dev, struct vhca_cq *cq, u32 cqe, struct ib_udata *udata)
{
	struct vhca_resize_cq_resp resp = {};
	struct vhca_user_ring ring = {};
	struct vhca_resize_cq_req req;
	u32 first;
	int err;

	err = vhca_udata_in(dev, udata, "resize_cq", &req, sizeof(req));
	if (err)
		return err;
	if (req.rsvd)
		return vhca_refuse(dev->hw.dev, -EINVAL, "resize_cq: rsvd is not zero");
	if (req.log_cqe >= 32 || BIT(req.log_cqe) < cqe ||
	    BIT(req.log_cqe) > dev->hw.limits.max_cqe)
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "resize_cq: log_cqe %u: ring is to hold %u, device limit is %u",
				   req.log_cqe, cqe, dev->hw.limits.max_cqe);
	/* Checked before the command: without the response a process could not find completions. */
	err = vhca_udata_out(dev, udata, "resize_cq", &resp, sizeof(resp), sizeof(resp)) ?:
	      vhca_user_ring_get(dev, &ring, "resize_cq: buf_addr", req.buf_addr,
				 sizeof(struct vhca_cqe) << req.log_cqe);
	if (err)
		return err;
	err = resize_on_device(dev, cq, &ring.pages, req.log_cqe, &first);
	if (!err) {
		swap(cq->user, ring);
		cq->log = req.log_cqe;
		resp.first = first;
		err = vhca_udata_out(dev, udata, "resize_cq", &resp, sizeof(resp), sizeof(resp));
	}
	vhca_user_ring_put(&ring);
	return err;
}

/**
 * vhca_resize_cq() - ib_device_ops.resize_cq
 * @ibcq: completion queue
 * @cqe: minimum number of entries
 * @udata: the request of a process, NULL for kernel consumers
 *
 * Context: may sleep.
 * Return: 0; -EINVAL for a size that the device does not have, or for fewer entries than wait to be
 * polled; -ENOMEM; or an error of commands.
 */
int vhca_resize_cq(struct ib_cq *ibcq, int cqe, struct ib_udata *udata)
{
	struct vhca_dev *dev = to_vdev(ibcq->device);
	struct vhca_cq *cq = to_vcq(ibcq);
	int err;

	if (cqe < 1 || cqe > dev->hw.limits.max_cqe)
		return vhca_refuse(dev->hw.dev, -EINVAL, "cqe %d: device limit is 1..%u", cqe,
				   dev->hw.limits.max_cqe);
	mutex_lock(&cq->resize);
	err = udata ? resize_user(dev, cq, cqe, udata) : resize_kernel(dev, cq, order_base_2(cqe));
	ibcq->cqe = BIT(cq->log);
	mutex_unlock(&cq->resize);
	return err;
}
