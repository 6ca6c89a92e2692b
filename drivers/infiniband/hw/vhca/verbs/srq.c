// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Shared receive queues. */
#include <linux/log2.h>
#include <linux/slab.h>

#include "../cmd/cmd.h"
#include "../queue/id_table.h"
#include "cq.h"
#include "pd.h"
#include "srq.h"
#include "ucontext.h"
#include "udata.h"

static int check_size(struct vhca_dev *dev, const struct ib_srq_attr *attr)
{
	const struct vhca_limits *l = &dev->hw.limits;

	if (!attr->max_wr || attr->max_wr > l->max_srq_wr)
		return vhca_refuse(dev->hw.dev, -EINVAL, "SRQ max_wr %u: device limit is 1..%u",
				   attr->max_wr, l->max_srq_wr);
	return 0;
}

static bool type_supported(const struct vhca_hw *hw, enum ib_srq_type type)
{
	return type == IB_SRQT_BASIC || (type == IB_SRQT_XRC && vhca_hw_has(hw, VHCA_CAP_XRC));
}

static int check_init(struct vhca_dev *dev, const struct ib_srq_init_attr *attr, bool user)
{
	const struct vhca_limits *l = &dev->hw.limits;

	if (!type_supported(&dev->hw, attr->srq_type))
		return vhca_refuse(dev->hw.dev, -EOPNOTSUPP, "srq_type %d is not supported",
				   attr->srq_type);
	/* Work requests of kernel consumers cannot name an SRQ, so an XRC SRQ would be useless. */
	if (attr->srq_type == IB_SRQT_XRC && !user)
		return vhca_refuse(dev->hw.dev, -EOPNOTSUPP, "XRC SRQs are for processes alone");
	if (attr->srq_type == IB_SRQT_XRC && (!attr->ext.cq || !attr->ext.xrc.xrcd))
		return vhca_refuse(dev->hw.dev, -EINVAL, "an XRC SRQ needs a CQ and a domain");
	if (attr->attr.max_sge > l->max_recv_sge)
		return vhca_refuse(dev->hw.dev, -EINVAL, "SRQ max_sge %u > device limit %u",
				   attr->attr.max_sge, l->max_recv_sge);
	return check_size(dev, &attr->attr);
}

/* Checks the ring of a provider against the size that its user requested. */
static int check_user_ring(struct vhca_dev *dev, const char *what, u8 log, u32 max_wr)
{
	if (log < 32 && BIT(log) >= max_wr && BIT(log) <= dev->hw.limits.max_srq_wr)
		return 0;
	return vhca_refuse(dev->hw.dev, -EINVAL,
			   "%s: log_strides %u: ring is to hold %u, device limit is %u", what, log,
			   max_wr, dev->hw.limits.max_srq_wr);
}

static int take_user_ring(struct vhca_dev *dev, struct vhca_srq *srq, u32 max_wr,
			  const struct vhca_create_srq_req *req)
{
	int err;

	if (memchr_inv(req->rsvd, 0, sizeof(req->rsvd)))
		return vhca_refuse(dev->hw.dev, -EINVAL, "create_srq: rsvd is not zero");
	if (req->log_stride > ilog2(VHCA_LIST_PAGE) ||
	    BIT(req->log_stride) < VHCA_RWQE_SIZE(srq->max_sge))
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "create_srq: log_stride %u: entries have max_sge %u",
				   req->log_stride, srq->max_sge);
	err = check_user_ring(dev, "create_srq", req->log_strides, max_wr);
	if (err)
		return err;
	srq->log = req->log_strides;
	srq->log_stride = req->log_stride;
	return vhca_user_ring_get(dev, &srq->user, "create_srq: buf_addr", req->buf_addr,
				  1ULL << (srq->log + srq->log_stride));
}

static int make_kernel_ring(struct vhca_dev *dev, struct vhca_srq *srq, u32 max_wr)
{
	struct vhca_srq_kernel *k = kzalloc(sizeof(*k), GFP_KERNEL);
	int err;

	if (!k)
		return -ENOMEM;
	srq->log = order_base_2(max_wr);
	err = vhca_srq_ring_make(k, dev->hw.dev, &srq->db, srq->log, srq->max_sge);
	if (err) {
		kfree(k);
		return err;
	}
	srq->log_stride = k->ring.log_entry;
	srq->kernel = k;
	return 0;
}

static void free_ring(struct vhca_srq *srq)
{
	if (srq->kernel) {
		vhca_srq_ring_free(srq->kernel);
		kfree(srq->kernel);
		srq->kernel = NULL;
	}
	vhca_user_ring_put(&srq->user);
}

static int create_on_device(struct vhca_dev *dev, struct vhca_srq *srq,
			    const struct ib_srq_init_attr *attr)
{
	struct vhca_create_srq_hw_req req = {
		.pdn = cpu_to_le32(to_vpd(srq->ibsrq.pd)->pdn),
		.uar = cpu_to_le32(srq->db.uar->handle),
		.db_slot = cpu_to_le32(vhca_db_slot(&srq->db)),
		.log_strides = srq->log,
		.log_stride = srq->log_stride,
	};

	if (attr->srq_type == IB_SRQT_XRC) {
		req.flags = VHCA_SRQ_XRC;
		req.xrcdn = cpu_to_le32(to_vxrcd(attr->ext.xrc.xrcd)->xrcdn);
		req.cqn = cpu_to_le32(to_vcq(attr->ext.cq)->cqn);
	}
	if (srq->kernel)
		vhca_kbuf_describe(&srq->kernel->ring.mem, &req.buf);
	else
		req.buf = srq->user.pages.buf;
	return vhca_cmd_create_srq(&dev->hw, &req, &srq->srqn);
}

static int publish(struct vhca_dev *dev, struct vhca_srq *srq)
{
	int err = vhca_id_add(&dev->srqs, srq->srqn, &srq->async);

	if (err != -EBUSY)
		return err;
	dev_err_ratelimited(dev->hw.dev, "device gave out SRQ %u twice\n", srq->srqn);
	/* DESTROY_SRQ would be ambiguous. */
	vhca_hw_give_up(&dev->hw, "it gave out a number twice");
	return -EIO;
}

/* Removes the SRQ from the table of events, and waits until no event handler uses it. */
static void unpublish(struct vhca_dev *dev, struct vhca_srq *srq)
{
	vhca_id_del(&dev->srqs, srq->srqn, &srq->async);
}

static int answer_create(struct vhca_dev *dev, struct vhca_srq *srq, struct ib_udata *udata)
{
	struct vhca_create_srq_resp resp = {
		.srqn = srq->srqn,
		.db_slot = vhca_db_slot(&srq->db),
		.db_mmap = vhca_db_mmap_offset(&srq->db),
	};

	return vhca_udata_out(dev, udata, "create_srq", &resp, sizeof(resp), sizeof(resp));
}

/**
 * vhca_create_srq() - ib_device_ops.create_srq
 * @ibsrq: shared receive queue
 * @attr: its attributes; max_wr is set to the number of receives that the ring holds
 * @udata: the request of a process, whose ring is in its own memory; NULL for kernel consumers
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP for a type that the device, or a kernel consumer, does not have; -EINVAL
 * for sizes or a ring beyond the device's limits, or an XRC SRQ without CQ or domain; -EFAULT;
 * -ENOMEM; -EIO when the device gave out a number that another SRQ has; an error of pinning or of
 * commands.
 */
int vhca_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *attr, struct ib_udata *udata)
{
	struct vhca_dev *dev = to_vdev(ibsrq->device);
	struct vhca_srq *srq = to_vsrq(ibsrq);
	struct vhca_create_srq_req req;
	struct vhca_uar *uar;
	int err;

	err = check_init(dev, attr, udata);
	if (err)
		return err;
	srq->max_sge = attr->attr.max_sge;
	mutex_init(&srq->resize);
	if (udata) {
		err = vhca_udata_in(dev, udata, "create_srq", &req, sizeof(req)) ?:
		      take_user_ring(dev, srq, attr->attr.max_wr, &req);
		uar = &udata_to_vucontext(udata)->uar;
	} else {
		err = make_kernel_ring(dev, srq, attr->attr.max_wr);
		uar = &dev->uar;
	}
	if (err)
		return err;

	err = vhca_db_alloc(uar, &srq->db);
	if (err)
		goto err_ring;
	err = create_on_device(dev, srq, attr);
	if (err)
		goto err_db;
	err = publish(dev, srq);
	if (err)
		goto err_destroy;
	if (udata) {
		err = answer_create(dev, srq, udata);
		if (err)
			goto err_publish;
	}
	attr->attr.max_wr = BIT(srq->log);
	if (attr->srq_type == IB_SRQT_XRC)
		ibsrq->ext.xrc.srq_num = srq->srqn;
	return 0;

err_publish:
	unpublish(dev, srq);
err_destroy:
	if (vhca_hw_settle(&dev->hw, vhca_cmd_destroy_srq(&dev->hw, srq->srqn)))
		return err;	/* The device may still read the ring, so it is not freed. */
err_db:
	vhca_db_free(&srq->db);
err_ring:
	free_ring(srq);
	return err;
}

static int resize_on_device(struct vhca_dev *dev, struct vhca_srq *srq,
			    const struct vhca_pages *pages, u8 log)
{
	struct vhca_resize_srq_hw_req req = {
		.buf = pages->buf,
		.srqn = cpu_to_le32(srq->srqn),
		.log_strides = log,
	};
	int err = vhca_cmd_resize_srq(&dev->hw, &req);

	if (!err)
		srq->log = log;
	return err;
}

static int set_limit(struct vhca_dev *dev, struct vhca_srq *srq, const struct ib_srq_attr *attr,
		     int mask)
{
	return mask & IB_SRQ_LIMIT ? vhca_cmd_modify_srq(&dev->hw, srq->srqn, attr->srq_limit) : 0;
}

/*
 * Changes the ring, and the limit if requested: both or neither. During this both rings have all
 * posted receives; if the device refuses the limit and then the old ring, the new ring stays.
 *
 * Return: true if the device uses the new ring; *err is the result of the whole request.
 */
static bool turn_to_ring(struct vhca_dev *dev, struct vhca_srq *srq, const struct vhca_pages *old,
			 const struct vhca_pages *new, u8 log, const struct ib_srq_attr *attr,
			 int mask, int *err)
{
	u8 old_log = srq->log;

	*err = resize_on_device(dev, srq, new, log);
	if (*err)
		return false;
	*err = set_limit(dev, srq, attr, mask);
	return !*err || resize_on_device(dev, srq, old, old_log);
}

/* The process has copied the receives that were not taken, and posts none during the call. */
static int resize_user(struct vhca_dev *dev, struct vhca_srq *srq, const struct ib_srq_attr *attr,
		       int mask, const struct vhca_modify_srq_req *req)
{
	struct vhca_user_ring ring = {};
	int err;

	err = check_user_ring(dev, "modify_srq", req->log_strides, attr->max_wr) ?:
	      vhca_user_ring_get(dev, &ring, "modify_srq: buf_addr", req->buf_addr,
				 1ULL << (req->log_strides + srq->log_stride));
	if (err)
		return err;
	if (turn_to_ring(dev, srq, &srq->user.pages, &ring.pages, req->log_strides, attr, mask,
			 &err))
		swap(srq->user, ring);
	vhca_user_ring_put(&ring);
	return err;
}

static int resize_kernel(struct vhca_dev *dev, struct vhca_srq *srq,
			 const struct ib_srq_attr *attr, int mask)
{
	u8 log = order_base_2(attr->max_wr);
	struct vhca_ring ring;
	bool moved;
	int err;

	if (log == srq->log)
		return set_limit(dev, srq, attr, mask);
	err = vhca_ring_alloc(&ring, dev->hw.dev, log, srq->log_stride);
	if (err)
		return err;
	err = vhca_srq_ring_move_begin(srq->kernel, &ring);
	if (err == -EINVAL)
		vhca_refuse(dev->hw.dev, err, "SRQ max_wr %u: more receives are posted",
			    attr->max_wr);
	if (!err) {
		moved = turn_to_ring(dev, srq, &srq->kernel->ring.mem.pages, &ring.mem.pages, log,
				     attr, mask, &err);
		vhca_srq_ring_move_end(srq->kernel, &ring, moved);
	}
	vhca_ring_free(&ring);
	return err;
}

static int check_modify(struct vhca_dev *dev, struct vhca_srq *srq,
			const struct ib_srq_attr *attr, int mask,
			const struct vhca_modify_srq_req *req)
{
	u32 max_wr = mask & IB_SRQ_MAX_WR ? attr->max_wr : BIT(srq->log);

	if (mask & ~(IB_SRQ_MAX_WR | IB_SRQ_LIMIT))
		return vhca_refuse(dev->hw.dev, -EINVAL, "modify_srq: attr_mask %#x", mask);
	if (req && memchr_inv(req->rsvd, 0, sizeof(req->rsvd)))
		return vhca_refuse(dev->hw.dev, -EINVAL, "modify_srq: rsvd is not zero");
	if (req && !(mask & IB_SRQ_MAX_WR) && req->log_strides != VHCA_NO_QUEUE)
		return vhca_refuse(dev->hw.dev, -EINVAL, "modify_srq: a ring without max_wr");
	if (mask & IB_SRQ_LIMIT && attr->srq_limit > max_wr)
		return vhca_refuse(dev->hw.dev, -EINVAL, "srq_limit %u > max_wr %u",
				   attr->srq_limit, max_wr);
	return mask & IB_SRQ_MAX_WR ? check_size(dev, attr) : 0;
}

/**
 * vhca_modify_srq() - ib_device_ops.modify_srq
 * @ibsrq: shared receive queue
 * @attr: the new size, limit or both
 * @mask: IB_SRQ_MAX_WR, IB_SRQ_LIMIT
 * @udata: the request of a process, with the new ring; NULL for kernel consumers
 *
 * If size or limit is refused, neither has changed.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL for values or a ring beyond the limits, or fewer receives than are posted;
 * -EOPNOTSUPP for a private request with unknown fields; -EFAULT; -ENOMEM; an error of pinning or
 * of commands.
 */
int vhca_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		    struct ib_udata *udata)
{
	struct vhca_dev *dev = to_vdev(ibsrq->device);
	struct vhca_srq *srq = to_vsrq(ibsrq);
	struct vhca_modify_srq_req req;
	int err = 0;

	if (udata)
		err = vhca_udata_in(dev, udata, "modify_srq", &req, sizeof(req));
	if (err)
		return err;
	mutex_lock(&srq->resize);
	err = check_modify(dev, srq, attr, mask, udata ? &req : NULL);
	if (!err && !(mask & IB_SRQ_MAX_WR))
		err = set_limit(dev, srq, attr, mask);
	else if (!err && udata)
		err = resize_user(dev, srq, attr, mask, &req);
	else if (!err)
		err = resize_kernel(dev, srq, attr, mask);
	mutex_unlock(&srq->resize);
	return err;
}

/**
 * vhca_query_srq() - ib_device_ops.query_srq
 * @ibsrq: shared receive queue
 * @attr: filled in; srq_limit is 0 when no limit is armed
 *
 * Context: may sleep.
 * Return: 0; or an error of commands.
 */
int vhca_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr)
{
	struct vhca_dev *dev = to_vdev(ibsrq->device);
	struct vhca_srq *srq = to_vsrq(ibsrq);
	int err;

	mutex_lock(&srq->resize);
	err = vhca_cmd_query_srq(&dev->hw, srq->srqn, &attr->srq_limit);
	attr->max_wr = BIT(srq->log);
	attr->max_sge = srq->max_sge;
	mutex_unlock(&srq->resize);
	return err;
}

/**
 * vhca_destroy_srq() - ib_device_ops.destroy_srq
 * @ibsrq: shared receive queue that no QP uses any more
 * @udata: unused
 *
 * Context: may sleep.
 * Return: 0; or an error of commands, after which the SRQ is unchanged.
 */
int vhca_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata)
{
	struct vhca_dev *dev = to_vdev(ibsrq->device);
	struct vhca_srq *srq = to_vsrq(ibsrq);
	int err;

	vhca_id_retire(&dev->srqs, srq->srqn);
	err = vhca_hw_settle(&dev->hw, vhca_cmd_destroy_srq(&dev->hw, srq->srqn));
	if (err) {
		vhca_id_keep(&dev->srqs, srq->srqn);
		return err;
	}
	unpublish(dev, srq);
	vhca_db_free(&srq->db);
	free_ring(srq);
	mutex_destroy(&srq->resize);
	return 0;
}

/**
 * vhca_post_srq_recv() - ib_device_ops.post_srq_recv
 * @ibsrq: shared receive queue of the kernel's
 * @wr: list of requests
 * @bad_wr: the first request that was not posted, on error; those before it were
 *
 * Context: any.
 * Return: 0, -EINVAL for too long a scatter list, -ENOMEM when the queue is full.
 */
int vhca_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad_wr)
{
	return vhca_srq_ring_post(to_vsrq(ibsrq)->kernel, wr, bad_wr);
}
