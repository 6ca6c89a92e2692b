// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Queue pairs. */
#include <linux/log2.h>
#include <linux/slab.h>

#include "../cmd/cmd.h"
#include "../queue/id_table.h"
#include "verbs.h"

/* How long a device may take to complete the receive that a failed QP holds of its SRQ. */
#define VHCA_LAST_WQE_PATIENCE	(10 * HZ)

static int check_limit(struct vhca_dev *dev, const char *what, u32 value, u32 limit)
{
	if (value <= limit)
		return 0;
	return vhca_refuse(dev->hw.dev, -EINVAL, "%s %u > device limit %u", what, value, limit);
}

static bool type_supported(const struct vhca_hw *hw, enum ib_qp_type type)
{
	switch (type) {
	case IB_QPT_RC:
		return vhca_hw_has(hw, VHCA_CAP_RC);
	case IB_QPT_UC:
		return vhca_hw_has(hw, VHCA_CAP_UC);
	case IB_QPT_UD:
		return vhca_hw_has(hw, VHCA_CAP_UD);
	case IB_QPT_XRC_INI:
	case IB_QPT_XRC_TGT:
		return vhca_hw_has(hw, VHCA_CAP_XRC);
	default:
		return false;
	}
}

static bool has_sends(enum ib_qp_type type)
{
	return type != IB_QPT_XRC_TGT;
}

/* Of its own, or of an SRQ that is its own for good. */
static bool has_receives(enum ib_qp_type type)
{
	return type != IB_QPT_XRC_INI && type != IB_QPT_XRC_TGT;
}

/* The objects that a QP of this type stands on. */
static int check_parents(struct vhca_dev *dev, const struct ib_qp_init_attr *attr, bool user)
{
	if (attr->qp_type == IB_QPT_XRC_TGT && !attr->xrcd)
		return vhca_refuse(dev->hw.dev, -EINVAL, "an XRC target needs a domain");
	/* The kernel's requests do not name SRQs. */
	if (attr->qp_type == IB_QPT_XRC_INI && !user)
		return vhca_refuse(dev->hw.dev, -EOPNOTSUPP,
				   "XRC initiators are for processes alone");
	if (has_receives(attr->qp_type) && (!attr->send_cq || !attr->recv_cq))
		return vhca_refuse(dev->hw.dev, -EINVAL, "a QP needs send_cq and recv_cq");
	if (has_sends(attr->qp_type) && !attr->send_cq)
		return vhca_refuse(dev->hw.dev, -EINVAL, "an XRC initiator needs send_cq");
	return 0;
}

static int check_flags(struct vhca_dev *dev, const struct ib_qp_init_attr *attr)
{
	u32 known = 0;

	if (attr->qp_type == IB_QPT_UD && vhca_hw_has(&dev->hw, VHCA_CAP_MCAST))
		known = IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK;
	if (attr->create_flags & ~known)
		return vhca_refuse(dev->hw.dev, -EOPNOTSUPP, "QP create_flags %#x",
				   attr->create_flags & ~known);
	return 0;
}

/* What a request of that many entries or bytes takes must fit into the largest one there is. */
static int check_request_size(struct vhca_dev *dev, const struct ib_qp_init_attr *attr)
{
	const struct ib_qp_cap *cap = &attr->cap;

	if (vhca_send_wqe_blocks(dev, attr->qp_type, cap->max_send_sge, 0) > VHCA_WQE_MAX_BLOCKS)
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "max_send_sge %u: a request has %u bytes for entries and address",
				   cap->max_send_sge, VHCA_WQE_MAX_BLOCKS * VHCA_WQE_BLOCK);
	if (vhca_send_wqe_blocks(dev, attr->qp_type, 0, cap->max_inline_data) > VHCA_WQE_MAX_BLOCKS)
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "max_inline_data %u: a request has %u bytes for data and address",
				   cap->max_inline_data, VHCA_WQE_MAX_BLOCKS * VHCA_WQE_BLOCK);
	return 0;
}

static int check_attr(struct vhca_dev *dev, struct ib_qp_init_attr *attr, bool user)
{
	const struct vhca_limits *l = &dev->hw.limits;
	const u32 max_wr = dev->ibdev.attrs.max_qp_wr;
	int err;

	if (!type_supported(&dev->hw, attr->qp_type))
		return vhca_refuse(dev->hw.dev, -EOPNOTSUPP, "qp_type %d is not supported",
				   attr->qp_type);
	err = check_flags(dev, attr) ?: check_parents(dev, attr, user);
	if (err)
		return err;
	/* What a QP has no queue of its own for it does not get, whatever was asked for. */
	if (attr->srq || !has_receives(attr->qp_type)) {
		attr->cap.max_recv_wr = 0;
		attr->cap.max_recv_sge = 0;
	}
	if (!has_sends(attr->qp_type))
		attr->cap = (struct ib_qp_cap) {};
	return check_limit(dev, "max_send_wr", attr->cap.max_send_wr, max_wr) ?:
	       check_limit(dev, "max_recv_wr", attr->cap.max_recv_wr, max_wr) ?:
	       check_limit(dev, "max_send_sge", attr->cap.max_send_sge, l->max_send_sge) ?:
	       check_limit(dev, "max_recv_sge", attr->cap.max_recv_sge, l->max_recv_sge) ?:
	       check_limit(dev, "max_inline_data", attr->cap.max_inline_data, l->max_inline) ?:
	       check_request_size(dev, attr);
}

static u64 sq_blocks(struct vhca_dev *dev, enum ib_qp_type type, const struct ib_qp_cap *cap)
{
	return (u64)cap->max_send_wr *
	       vhca_send_wqe_blocks(dev, type, max(cap->max_send_sge, 1U), cap->max_inline_data);
}

/* Check what a provider has laid out against what its user asked for. */
static int check_user_rings(struct vhca_dev *dev, const struct vhca_qp *qp,
			    const struct vhca_create_qp_req *req)
{
	const struct vhca_limits *l = &dev->hw.limits;
	const struct ib_qp_cap *cap = &qp->cap;
	bool sq = req->log_sq_blocks != VHCA_NO_QUEUE;
	bool rq = req->log_rq_strides != VHCA_NO_QUEUE;

	if (memchr_inv(req->rsvd, 0, sizeof(req->rsvd)))
		return vhca_refuse(dev->hw.dev, -EINVAL, "create_qp: rsvd is not zero");
	if (sq && (req->log_sq_blocks >= 32 || BIT(req->log_sq_blocks) > l->max_sq_blocks))
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "create_qp: log_sq_blocks %u: device limit is %u blocks",
				   req->log_sq_blocks, l->max_sq_blocks);
	if (cap->max_send_wr && (!sq || BIT(req->log_sq_blocks) < cap->max_send_wr))
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "create_qp: log_sq_blocks %u: ring is to hold max_send_wr %u",
				   req->log_sq_blocks, cap->max_send_wr);
	if (rq && (req->log_rq_strides >= 32 || BIT(req->log_rq_strides) > l->max_rq_wr))
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "create_qp: log_rq_strides %u: device limit is %u",
				   req->log_rq_strides, l->max_rq_wr);
	if (rq && (qp->ibqp.srq || !has_receives(qp->ibqp.qp_type)))
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "create_qp: log_rq_strides %u: a QP with an SRQ has no such ring",
				   req->log_rq_strides);
	if (cap->max_recv_wr && (!rq || BIT(req->log_rq_strides) < cap->max_recv_wr))
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "create_qp: log_rq_strides %u: ring is to hold max_recv_wr %u",
				   req->log_rq_strides, cap->max_recv_wr);
	if (rq && (req->log_rq_stride > ilog2(VHCA_LIST_PAGE) ||
		   BIT(req->log_rq_stride) < VHCA_RWQE_SIZE(cap->max_recv_sge)))
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "create_qp: log_rq_stride %u: entries have max_recv_sge %u",
				   req->log_rq_stride, cap->max_recv_sge);
	return 0;
}

static int take_user_rings(struct vhca_dev *dev, struct vhca_qp *qp,
			   const struct vhca_create_qp_req *req,
			   struct vhca_create_qp_hw_req *hw)
{
	int err;

	err = check_user_rings(dev, qp, req);
	if (err)
		return err;
	hw->log_sq_blocks = req->log_sq_blocks;
	hw->log_rq_strides = req->log_rq_strides;
	if (req->log_sq_blocks != VHCA_NO_QUEUE) {
		err = vhca_user_ring_get(dev, &qp->user_sq, "create_qp: sq_addr", req->sq_addr,
					 (u64)VHCA_WQE_BLOCK << req->log_sq_blocks);
		if (err)
			return err;
		hw->sq = qp->user_sq.pages.buf;
	}
	if (req->log_rq_strides != VHCA_NO_QUEUE) {
		err = vhca_user_ring_get(dev, &qp->user_rq, "create_qp: rq_addr", req->rq_addr,
					 1ULL << (req->log_rq_strides + req->log_rq_stride));
		if (err) {
			vhca_user_ring_put(&qp->user_sq);
			return err;
		}
		hw->rq = qp->user_rq.pages.buf;
		hw->log_rq_stride = req->log_rq_stride;
	}
	return 0;
}

static void free_kernel_wq(struct vhca_wq *wq)
{
	if (!wq->wrs)
		return;
	kvfree(wq->wrs);
	wq->wrs = NULL;
	vhca_kbuf_free(&wq->ring);
}

static void init_kernel_wq(struct vhca_wq *wq)
{
	spin_lock_init(&wq->lock);
	INIT_LIST_HEAD(&wq->link);
}

static int make_kernel_wq(struct vhca_dev *dev, struct vhca_wq *wq, u64 slots, u32 stride)
{
	int err;

	wq->log = order_base_2(slots);
	wq->stride = stride;
	wq->wrs = kvcalloc(BIT(wq->log), sizeof(*wq->wrs), GFP_KERNEL);
	if (!wq->wrs)
		return -ENOMEM;
	err = vhca_kbuf_alloc(&wq->ring, dev->hw.dev, (size_t)stride << wq->log);
	if (err) {
		kvfree(wq->wrs);
		wq->wrs = NULL;
	}
	return err;
}

static void free_kernel_rings(struct vhca_qp *qp)
{
	if (!qp->kernel)
		return;
	free_kernel_wq(&qp->kernel->sq);
	free_kernel_wq(&qp->kernel->rq);
	kfree(qp->kernel);
	qp->kernel = NULL;
}

static int make_kernel_rq(struct vhca_dev *dev, struct vhca_qp *qp,
			  struct vhca_create_qp_hw_req *hw)
{
	u32 strides = max(qp->cap.max_recv_wr, 1U);
	u32 stride = roundup_pow_of_two(VHCA_RWQE_SIZE(max(qp->cap.max_recv_sge, 1U)));
	struct vhca_wq *rq = &qp->kernel->rq;
	int err;

	if (qp->ibqp.srq) {
		hw->log_rq_strides = VHCA_NO_QUEUE;
		return 0;
	}
	err = make_kernel_wq(dev, rq, strides, stride);
	if (err)
		return err;
	rq->max_sge = qp->cap.max_recv_sge;
	hw->log_rq_strides = rq->log;
	hw->log_rq_stride = ilog2(stride);
	vhca_kbuf_describe(&rq->ring, &hw->rq);
	return 0;
}

static int make_kernel_rings(struct vhca_dev *dev, struct vhca_qp *qp,
			     struct vhca_create_qp_hw_req *hw)
{
	u64 blocks = max(sq_blocks(dev, qp->ibqp.qp_type, &qp->cap), 1ULL);
	struct vhca_qp_kernel *k;
	int err;

	if (blocks > dev->hw.limits.max_sq_blocks)
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "max_send_wr %u with max_send_sge %u: %llu blocks > device limit %u",
				   qp->cap.max_send_wr, qp->cap.max_send_sge, blocks,
				   dev->hw.limits.max_sq_blocks);
	k = kzalloc(sizeof(*k), GFP_KERNEL);
	if (!k)
		return -ENOMEM;
	k->qp = qp;
	qp->kernel = k;
	init_completion(&k->last_wqe);
	init_kernel_wq(&k->sq);
	init_kernel_wq(&k->rq);
	k->sq.max_sge = qp->cap.max_send_sge;
	k->sq.max_inline = qp->cap.max_inline_data;
	err = make_kernel_wq(dev, &k->sq, blocks, VHCA_WQE_BLOCK) ?: make_kernel_rq(dev, qp, hw);
	if (err) {
		free_kernel_rings(qp);
		return err;
	}
	hw->log_sq_blocks = k->sq.log;
	vhca_kbuf_describe(&k->sq.ring, &hw->sq);
	return 0;
}

static void free_rings(struct vhca_qp *qp)
{
	free_kernel_rings(qp);
	vhca_user_ring_put(&qp->user_rq);
	vhca_user_ring_put(&qp->user_sq);
}

static u8 type_to_hw(enum ib_qp_type type)
{
	switch (type) {
	case IB_QPT_UC:
		return VHCA_QPT_UC;
	case IB_QPT_UD:
		return VHCA_QPT_UD;
	case IB_QPT_XRC_INI:
		return VHCA_QPT_XRC_INI;
	case IB_QPT_XRC_TGT:
		return VHCA_QPT_XRC_TGT;
	default:
		return VHCA_QPT_RC;
	}
}

static int create_on_device(struct vhca_dev *dev, struct vhca_qp *qp,
			    const struct ib_qp_init_attr *attr, struct vhca_create_qp_hw_req *hw)
{
	hw->uar = cpu_to_le32(qp->db.uar->handle);
	hw->db_slot = cpu_to_le32(vhca_db_slot(&qp->db));
	hw->type = type_to_hw(attr->qp_type);
	if (attr->qp_type == IB_QPT_XRC_TGT) {
		hw->xrcdn = cpu_to_le32(to_vxrcd(attr->xrcd)->xrcdn);
		return vhca_cmd_create_qp(&dev->hw, hw, &qp->ibqp.qp_num);
	}
	hw->pdn = cpu_to_le32(to_vpd(qp->ibqp.pd)->pdn);
	hw->send_cqn = cpu_to_le32(to_vcq(attr->send_cq)->cqn);
	if (has_receives(attr->qp_type))
		hw->recv_cqn = cpu_to_le32(to_vcq(attr->recv_cq)->cqn);
	hw->max_inline = cpu_to_le32(attr->cap.max_inline_data);
	if (attr->sq_sig_type == IB_SIGNAL_ALL_WR)
		hw->flags |= VHCA_QP_SIGNAL_ALL;
	if (attr->create_flags & IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK)
		hw->flags |= VHCA_QP_NO_MC_LOOP;
	if (attr->srq) {
		hw->flags |= VHCA_QP_SRQ;
		hw->srqn = cpu_to_le32(to_vsrq(attr->srq)->srqn);
	}
	return vhca_cmd_create_qp(&dev->hw, hw, &qp->ibqp.qp_num);
}

static int publish(struct vhca_dev *dev, struct vhca_qp *qp)
{
	int err;

	if (qp->ibqp.qp_num >> 24) {
		dev_err_ratelimited(dev->hw.dev, "device gave out QP number %#x\n",
				    qp->ibqp.qp_num);
		vhca_hw_give_up(&dev->hw, "it gave out a number that is none");
		return -EIO;
	}
	err = vhca_number_add(&dev->qps, qp->ibqp.qp_num, &qp->async);
	if (!err && qp->kernel) {
		err = vhca_cq_attach_qp(qp);
		if (err)
			vhca_number_del(&dev->qps, qp->ibqp.qp_num, &qp->async);
	}
	if (err != -EBUSY)
		return err;
	dev_err_ratelimited(dev->hw.dev, "device gave out QP %#x twice\n", qp->ibqp.qp_num);
	/* Which of the two it would destroy nobody knows. */
	vhca_hw_give_up(&dev->hw, "it gave out a number twice");
	return -EIO;
}

/* Take a QP out of sight of events and polls, and wait for the events that have it in sight. */
static void unpublish(struct vhca_dev *dev, struct vhca_qp *qp)
{
	vhca_number_del(&dev->qps, qp->ibqp.qp_num, &qp->async);
	if (qp->kernel)
		vhca_cq_purge_qp(qp, true);
}

static int answer_create(struct vhca_dev *dev, struct vhca_qp *qp, struct ib_udata *udata)
{
	struct vhca_create_qp_resp resp = {
		.db_slot = vhca_db_slot(&qp->db),
		.db_mmap = vhca_db_mmap_offset(&qp->db),
	};

	return vhca_udata_out(dev, udata, "create_qp", &resp, sizeof(resp), sizeof(resp));
}

int vhca_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	struct vhca_dev *dev = to_vdev(ibqp->device);
	struct vhca_create_qp_hw_req hw = {};
	struct vhca_qp *qp = to_vqp(ibqp);
	struct vhca_create_qp_req req;
	struct vhca_uar *uar;
	int err;

	err = check_attr(dev, attr, udata);
	if (err)
		return err;
	qp->cap = attr->cap;
	qp->sig_type = attr->sq_sig_type;
	qp->create_flags = attr->create_flags;
	qp->state = IB_QPS_RESET;
	mutex_init(&qp->lock);

	if (!has_sends(attr->qp_type)) {
		/* No process' own: it outlives the one that made it if others share it. */
		err = vhca_udata_none(dev, udata, "create_qp");
		hw.log_sq_blocks = VHCA_NO_QUEUE;
		hw.log_rq_strides = VHCA_NO_QUEUE;
		uar = &dev->uar;
	} else if (udata) {
		err = vhca_udata_in(dev, udata, "create_qp", &req, sizeof(req)) ?:
		      take_user_rings(dev, qp, &req, &hw);
		uar = &udata_to_vucontext(udata)->uar;
	} else {
		err = make_kernel_rings(dev, qp, &hw);
		uar = &dev->uar;
	}
	if (err)
		return err;

	err = vhca_db_alloc(uar, &qp->db);
	if (err)
		goto err_rings;
	err = create_on_device(dev, qp, attr, &hw);
	if (err)
		goto err_db;
	err = publish(dev, qp);
	if (err)
		goto err_destroy;
	if (udata) {
		err = answer_create(dev, qp, udata);
		if (err)
			goto err_publish;
	}
	return 0;

err_publish:
	unpublish(dev, qp);
err_destroy:
	if (vhca_hw_settle(&dev->hw, vhca_cmd_destroy_qp(&dev->hw, ibqp->qp_num)))
		return err;	/* The device still reads the rings: better lost than reused. */
err_db:
	vhca_db_free(&qp->db);
err_rings:
	free_rings(qp);
	return err;
}

/*
 * A QP that is reset or destroyed takes the receive with it that it has from its SRQ. One that
 * fails completes it: kernel QPs fail first, lest notes of the SRQ get lost.
 */
static void give_receive_back(struct vhca_dev *dev, struct vhca_qp *qp)
{
	struct vhca_modify_qp_req req = {
		.qpn = cpu_to_le32(qp->ibqp.qp_num),
		.mask = cpu_to_le32(VHCA_QPA_STATE),
		.attr.state = IB_QPS_ERR,
	};

	if (!qp->kernel || !qp->ibqp.srq || qp->state < IB_QPS_RTR || vhca_hw_dead(&dev->hw))
		return;
	if (qp->state != IB_QPS_ERR && vhca_cmd_modify_qp(&dev->hw, &req))
		return;
	if (!wait_for_completion_timeout(&qp->kernel->last_wqe, VHCA_LAST_WQE_PATIENCE))
		dev_warn_ratelimited(dev->hw.dev, "QP %#x keeps a receive of its SRQ\n",
				     qp->ibqp.qp_num);
}

/* A QP that was reset starts over: counts, notes and what its CQs still hold. */
static void start_over(struct vhca_qp *qp)
{
	if (qp->kernel) {
		vhca_cq_purge_qp(qp, false);
		qp->kernel->broken = false;
		reinit_completion(&qp->kernel->last_wqe);
	}
	vhca_db_store(&qp->db, 0, 0);
	vhca_db_store(&qp->db, 1, 0);
}

static int check_modify(struct vhca_dev *dev, struct vhca_qp *qp, const struct ib_qp_attr *attr,
			int mask)
{
	const struct vhca_limits *l = &dev->hw.limits;
	enum ib_qp_state cur = mask & IB_QP_CUR_STATE ? attr->cur_qp_state : qp->state;
	enum ib_qp_state next = mask & IB_QP_STATE ? attr->qp_state : cur;
	const int known = dev->access | VHCA_MEMORY_ACCESS;

	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return vhca_refuse(dev->hw.dev, -EOPNOTSUPP, "modify_qp: attr_mask %#x", mask);
	if (!ib_modify_qp_is_ok(cur, next, qp->ibqp.qp_type, mask))
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "modify_qp: state %d to %d is not possible with attr_mask %#x",
				   cur, next, mask);
	if (mask & IB_QP_PORT && (!attr->port_num || attr->port_num > l->ports))
		return vhca_refuse(dev->hw.dev, -EINVAL, "port_num %u: device has %u",
				   attr->port_num, l->ports);
	if (mask & IB_QP_ACCESS_FLAGS && attr->qp_access_flags & ~known)
		return vhca_refuse(dev->hw.dev, -EOPNOTSUPP,
				   "qp_access_flags %#x: the device does not have %#x",
				   attr->qp_access_flags, attr->qp_access_flags & ~known);
	if (mask & IB_QP_AV && attr->ah_attr.type != RDMA_AH_ATTR_TYPE_IB)
		return vhca_refuse(dev->hw.dev, -EINVAL, "ah_attr is not of an InfiniBand port");
	return check_limit(dev, "max_rd_atomic",
			   mask & IB_QP_MAX_QP_RD_ATOMIC ? attr->max_rd_atomic : 0,
			   l->max_init_rd_atomic) ?:
	       check_limit(dev, "max_dest_rd_atomic",
			   mask & IB_QP_MAX_DEST_RD_ATOMIC ? attr->max_dest_rd_atomic : 0,
			   l->max_rd_atomic);
}

int vhca_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_udata *udata)
{
	struct vhca_dev *dev = to_vdev(ibqp->device);
	struct vhca_qp *qp = to_vqp(ibqp);
	struct vhca_modify_qp_req req = {
		.qpn = cpu_to_le32(ibqp->qp_num),
		.mask = cpu_to_le32(mask),
	};
	int err;

	err = vhca_udata_none(dev, udata, "modify_qp");
	if (err)
		return err;
	mutex_lock(&qp->lock);
	err = check_modify(dev, qp, attr, mask);
	if (err)
		goto out;
	vhca_qp_attr_to_hw(attr, mask, &req.attr);
	if (mask & IB_QP_STATE && attr->qp_state == IB_QPS_RESET)
		give_receive_back(dev, qp);
	err = vhca_cmd_modify_qp(&dev->hw, &req);
	/* Kernel consumers stop their queues this way and must be able to on a dead device. */
	if (qp->kernel && mask & IB_QP_STATE &&
	    (attr->qp_state == IB_QPS_ERR || attr->qp_state == IB_QPS_RESET))
		err = vhca_hw_settle(&dev->hw, err);
	if (err)
		goto out;
	if (mask & IB_QP_STATE) {
		qp->state = attr->qp_state;
		if (qp->state == IB_QPS_RESET)
			start_over(qp);
		else if (qp->state == IB_QPS_ERR && qp->kernel)
			vhca_qp_broken(qp);
	}
out:
	mutex_unlock(&qp->lock);
	return err;
}

int vhca_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_qp_init_attr *init_attr)
{
	struct vhca_dev *dev = to_vdev(ibqp->device);
	struct vhca_qp *qp = to_vqp(ibqp);
	struct vhca_qp_attr hw;
	int err;

	memset(attr, 0, sizeof(*attr));
	memset(init_attr, 0, sizeof(*init_attr));
	err = vhca_cmd_query_qp(&dev->hw, ibqp->qp_num, &hw);
	if (err)
		return err;
	if (hw.state > IB_QPS_ERR || hw.cur_state > IB_QPS_ERR || hw.path_mtu > IB_MTU_4096 ||
	    hw.path_mig_state > IB_MIG_ARMED) {
		dev_err_ratelimited(dev->hw.dev, "device reports impossible attributes of QP %#x\n",
				    ibqp->qp_num);
		return -EPROTO;
	}
	vhca_qp_attr_from_hw(&hw, attr);
	attr->cap = qp->cap;

	init_attr->event_handler = ibqp->event_handler;
	init_attr->qp_context = ibqp->qp_context;
	init_attr->send_cq = ibqp->send_cq;
	init_attr->recv_cq = ibqp->recv_cq;
	init_attr->srq = ibqp->srq;
	init_attr->cap = qp->cap;
	init_attr->sq_sig_type = qp->sig_type;
	init_attr->qp_type = ibqp->qp_type;
	init_attr->create_flags = qp->create_flags;
	return 0;
}

int vhca_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct vhca_dev *dev = to_vdev(ibqp->device);
	struct vhca_qp *qp = to_vqp(ibqp);
	int err;

	give_receive_back(dev, qp);
	vhca_number_ends(&dev->qps, ibqp->qp_num);
	err = vhca_hw_settle(&dev->hw, vhca_cmd_destroy_qp(&dev->hw, ibqp->qp_num));
	if (err) {
		vhca_number_stays(&dev->qps, ibqp->qp_num);
		return err;
	}
	unpublish(dev, qp);
	if (qp->kernel && vhca_hw_dead(&dev->hw)) {
		/* Those who are calling the CQs' consumers on behalf of this QP finish first. */
		flush_work(&to_vcq(ibqp->send_cq)->kernel->wake);
		flush_work(&to_vcq(ibqp->recv_cq)->kernel->wake);
	}
	vhca_db_free(&qp->db);
	free_rings(qp);
	mutex_destroy(&qp->lock);
	return 0;
}
