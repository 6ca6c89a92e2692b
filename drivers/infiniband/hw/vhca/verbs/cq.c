// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completion queues. */
#include <linux/log2.h>
#include <linux/slab.h>

#include "../cmd/cmd.h"
#include "cq.h"
#include "ucontext.h"
#include "udata.h"

static int check_attr(struct vhca_dev *dev, const struct ib_cq_init_attr *attr, bool user)
{
	const u32 known = user ? IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION |
				 IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN : 0;
	bool clock = dev->hw.limits.caps & BIT_ULL(VHCA_CAP_CLOCK);

	if (attr->flags & ~known)
		return vhca_refuse(dev->hw.dev, -EOPNOTSUPP, "CQ flags %#x: unknown %#x",
				   attr->flags, attr->flags & ~known);
	if (attr->flags & IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION && !clock)
		return vhca_refuse(dev->hw.dev, -EOPNOTSUPP, "CQ timestamps: device has no clock");
	if (!attr->cqe || attr->cqe > dev->hw.limits.max_cqe)
		return vhca_refuse(dev->hw.dev, -EINVAL, "cqe %u: device limit is 1..%u", attr->cqe,
				   dev->hw.limits.max_cqe);
	if (attr->comp_vector >= dev->nvectors)
		return vhca_refuse(dev->hw.dev, -EINVAL, "comp_vector %u >= %u", attr->comp_vector,
				   dev->nvectors);
	return 0;
}

static int take_user_ring(struct vhca_dev *dev, struct vhca_cq *cq, u32 cqe,
			  const struct vhca_create_cq_req *req)
{
	if (req->rsvd)
		return vhca_refuse(dev->hw.dev, -EINVAL, "create_cq: rsvd is not zero");
	if (req->log_cqe >= 32 || BIT(req->log_cqe) < cqe ||
	    BIT(req->log_cqe) > dev->hw.limits.max_cqe)
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "create_cq: log_cqe %u: ring is to hold %u, device limit is %u",
				   req->log_cqe, cqe, dev->hw.limits.max_cqe);
	cq->log = req->log_cqe;
	return vhca_user_ring_get(dev, &cq->user, "create_cq: buf_addr", req->buf_addr,
				  sizeof(struct vhca_cqe) << cq->log);
}

static int make_kernel_ring(struct vhca_dev *dev, struct vhca_cq *cq, u32 cqe)
{
	struct vhca_cq_kernel *k;
	int err;

	cq->log = order_base_2(cqe);
	k = kzalloc(sizeof(*k), GFP_KERNEL);
	if (!k)
		return -ENOMEM;
	k->cq = cq;
	spin_lock_init(&k->lock);
	xa_init(&k->qps);
	INIT_LIST_HEAD(&k->senders);
	INIT_LIST_HEAD(&k->receivers);
	INIT_WORK(&k->wake, vhca_cq_wake_work);
	err = vhca_ring_alloc(&k->ring, dev->hw.dev, cq->log,
			      order_base_2(sizeof(struct vhca_cqe)));
	if (err) {
		kfree(k);
		return err;
	}
	cq->kernel = k;
	return 0;
}

static void free_ring(struct vhca_cq *cq)
{
	if (cq->kernel) {
		xa_destroy(&cq->kernel->qps);
		vhca_ring_free(&cq->kernel->ring);
		kfree(cq->kernel);
		cq->kernel = NULL;
	}
	vhca_user_ring_put(&cq->user);
}

static int create_on_device(struct vhca_dev *dev, struct vhca_cq *cq, u32 flags)
{
	struct vhca_create_cq_hw_req req = {
		.uar = cpu_to_le32(cq->db.uar->handle),
		.db_slot = cpu_to_le32(vhca_db_slot(&cq->db)),
		.eqn = cpu_to_le32(cq->vector->eq.eqn),
		.log_cqe = cq->log,
	};

	if (flags & IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION)
		req.flags |= VHCA_CQ_TIMESTAMP;
	if (flags & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN)
		req.flags |= VHCA_CQ_IGNORE_OVERRUN;
	if (cq->kernel)
		vhca_kbuf_describe(&cq->kernel->ring.mem, &req.buf);
	else
		req.buf = cq->user.pages.buf;
	return vhca_cmd_create_cq(&dev->hw, &req, &cq->cqn);
}

static int publish(struct vhca_dev *dev, struct vhca_cq *cq)
{
	int err = vhca_id_add(&dev->cqs, cq->cqn, &cq->async);

	if (!err) {
		err = vhca_id_add(&cq->vector->cqs, cq->cqn, &cq->comp);
		if (err)
			vhca_id_del(&dev->cqs, cq->cqn, &cq->async);
	}
	if (err != -EBUSY)
		return err;
	dev_err_ratelimited(dev->hw.dev, "device gave out CQ %u twice\n", cq->cqn);
	/* DESTROY_CQ would be ambiguous. */
	vhca_hw_give_up(&dev->hw, "it gave out a number twice");
	return -EIO;
}

/* Removes the CQ from the tables of events, and waits until no event handler uses it. */
static void unpublish(struct vhca_dev *dev, struct vhca_cq *cq)
{
	vhca_id_del(&cq->vector->cqs, cq->cqn, &cq->comp);
	vhca_id_del(&dev->cqs, cq->cqn, &cq->async);
}

static int answer_create(struct vhca_dev *dev, struct vhca_cq *cq, struct ib_udata *udata)
{
	struct vhca_create_cq_resp resp = {
		.cqn = cq->cqn,
		.db_slot = vhca_db_slot(&cq->db),
		.db_mmap = vhca_db_mmap_offset(&cq->db),
	};

	return vhca_udata_out(dev, udata, "create_cq", &resp, sizeof(resp), sizeof(resp));
}

/**
 * vhca_create_cq() - ib_device_ops.create_cq
 * @ibcq: completion queue; its cqe is set to the entries that the ring has
 * @attr: minimum number of entries, completion vector, IB_UVERBS_CQ_FLAGS_*
 * @attrs: the request of a process, whose ring is in its own memory; NULL for kernel consumers
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP for flags that the device does not have, or a private request with unknown
 * fields; -EINVAL for a size, a vector or a ring that the device does not have; -EFAULT; -ENOMEM;
 * -EIO when the device gave out a number that another CQ has; an error of pinning or of commands.
 */
int vhca_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		   struct uverbs_attr_bundle *attrs)
{
	struct ib_udata *udata = attrs ? &attrs->driver_udata : NULL;
	struct vhca_dev *dev = to_vdev(ibcq->device);
	struct vhca_cq *cq = to_vcq(ibcq);
	struct vhca_create_cq_req req;
	struct vhca_uar *uar;
	int err;

	err = check_attr(dev, attr, udata);
	if (err)
		return err;
	if (udata) {
		err = vhca_udata_in(dev, udata, "create_cq", &req, sizeof(req)) ?:
		      take_user_ring(dev, cq, attr->cqe, &req);
		uar = &udata_to_vucontext(udata)->uar;
	} else {
		err = make_kernel_ring(dev, cq, attr->cqe);
		uar = &dev->uar;
	}
	if (err)
		return err;

	mutex_init(&cq->resize);
	cq->vector = &dev->vectors[attr->comp_vector];
	err = vhca_db_alloc(uar, &cq->db);
	if (err)
		goto err_ring;
	err = create_on_device(dev, cq, attr->flags);
	if (err)
		goto err_db;
	ibcq->cqe = BIT(cq->log);
	err = publish(dev, cq);
	if (err)
		goto err_destroy;
	if (udata) {
		err = answer_create(dev, cq, udata);
		if (err)
			goto err_publish;
	}
	return 0;

err_publish:
	unpublish(dev, cq);
err_destroy:
	if (vhca_hw_settle(&dev->hw, vhca_cmd_destroy_cq(&dev->hw, cq->cqn)))
		return err;	/* The device may still write to the ring, so it is not freed. */
err_db:
	vhca_db_free(&cq->db);
err_ring:
	free_ring(cq);
	return err;
}

/**
 * vhca_modify_cq() - ib_device_ops.modify_cq: moderate a CQ's events
 * @ibcq: completion queue
 * @count: number of completions after which an event is raised; with 0 or 1 there is no delay
 * @period: maximum delay of an event in microseconds; with 0 there is no delay
 *
 * Context: may sleep.
 * Return: 0; -EINVAL above the device's limits; or an error of commands.
 */
int vhca_modify_cq(struct ib_cq *ibcq, u16 count, u16 period)
{
	struct vhca_dev *dev = to_vdev(ibcq->device);
	const struct vhca_limits *l = &dev->hw.limits;

	if (count > l->max_moderation_count)
		return vhca_refuse(dev->hw.dev, -EINVAL, "cq_count %u > device limit %u", count,
				   l->max_moderation_count);
	if (period > l->max_moderation_period)
		return vhca_refuse(dev->hw.dev, -EINVAL, "cq_period %u > device limit %u", period,
				   l->max_moderation_period);
	return vhca_cmd_modify_cq(&dev->hw, to_vcq(ibcq)->cqn, count, period);
}

/**
 * vhca_destroy_cq() - ib_device_ops.destroy_cq
 * @ibcq: completion queue that no QP uses any more
 * @udata: unused
 *
 * After success no handler of the CQ is running or will be called.
 *
 * Context: may sleep.
 * Return: 0; or an error of commands, after which the CQ is unchanged.
 */
int vhca_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct vhca_dev *dev = to_vdev(ibcq->device);
	struct vhca_cq *cq = to_vcq(ibcq);
	int err;

	vhca_id_retire(&dev->cqs, cq->cqn);
	vhca_id_retire(&cq->vector->cqs, cq->cqn);
	err = vhca_hw_settle(&dev->hw, vhca_cmd_destroy_cq(&dev->hw, cq->cqn));
	if (err) {
		vhca_id_keep(&cq->vector->cqs, cq->cqn);
		vhca_id_keep(&dev->cqs, cq->cqn);
		return err;
	}
	unpublish(dev, cq);
	if (cq->kernel)
		cancel_work_sync(&cq->kernel->wake);
	vhca_db_free(&cq->db);
	free_ring(cq);
	mutex_destroy(&cq->resize);
	return 0;
}
