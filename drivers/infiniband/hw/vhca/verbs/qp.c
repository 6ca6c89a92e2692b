// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Queue pairs. */
#include <kunit/visibility.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <rdma/ib_addr.h>

#include "../cmd/cmd.h"
#include "../queue/id_table.h"
#include "ah.h"
#include "cq.h"
#include "mr.h"
#include "pd.h"
#include "qp.h"
#include "srq.h"
#include "ucontext.h"
#include "udata.h"

/* Maximum time for the device to complete the receive that a failed QP holds of its SRQ. */
#define VHCA_LAST_WQE_PATIENCE	(10 * HZ)

#define MGID_FIRST_BYTE	0xff
#define MLID_LAST	0xfffe	/* 0xffff is the permissive LID */

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
	case IB_QPT_SMI:
	case IB_QPT_GSI:
		return vhca_hw_has(hw, VHCA_CAP_SMI_GSI);
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

/* Checks that the attributes have the objects that the type needs. */
static int check_parents(struct vhca_dev *dev, const struct ib_qp_init_attr *attr, bool user)
{
	if (attr->qp_type == IB_QPT_XRC_TGT && !attr->xrcd)
		return vhca_refuse(dev->hw.dev, -EINVAL, "an XRC target needs a domain");
	/* Work requests of kernel consumers cannot name an SRQ. */
	if (attr->qp_type == IB_QPT_XRC_INI && !user)
		return vhca_refuse(dev->hw.dev, -EOPNOTSUPP,
				   "XRC initiators are for processes alone");
	if (vhca_qp_has_receives(attr->qp_type) && (!attr->send_cq || !attr->recv_cq))
		return vhca_refuse(dev->hw.dev, -EINVAL, "a QP needs send_cq and recv_cq");
	if (has_sends(attr->qp_type) && !attr->send_cq)
		return vhca_refuse(dev->hw.dev, -EINVAL, "an XRC initiator needs send_cq");
	return 0;
}

/* QP 0 and QP 1 act for their port, so no process can have them. */
static int check_management(struct vhca_dev *dev, const struct ib_qp_init_attr *attr, bool user)
{
	if (!vhca_qp_is_management(attr->qp_type))
		return 0;
	if (user)
		return vhca_refuse(dev->hw.dev, -EPERM, "qp_type %d is for the kernel alone",
				   attr->qp_type);
	if (!attr->port_num || attr->port_num > dev->hw.limits.ports)
		return vhca_refuse(dev->hw.dev, -EINVAL, "port_num %u: device has %u",
				   attr->port_num, dev->hw.limits.ports);
	if (attr->qp_type == IB_QPT_SMI && vhca_port_is_eth(dev, attr->port_num))
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "port_num %u is an Ethernet port: it has no QP 0",
				   attr->port_num);
	if (attr->srq)
		return vhca_refuse(dev->hw.dev, -EINVAL, "QPs for MADs do not use SRQs");
	return 0;
}

static int check_flags(struct vhca_dev *dev, const struct ib_qp_init_attr *attr)
{
	u32 known = 0;

	if (attr->qp_type == IB_QPT_UD && vhca_hw_has(&dev->hw, VHCA_CAP_MCAST))
		known |= IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK;
	if (attr->qp_type == IB_QPT_UD && vhca_hw_has(&dev->hw, VHCA_CAP_UD_LSO))
		known |= IB_QP_CREATE_IPOIB_UD_LSO;
	if (attr->qp_type == IB_QPT_RC && vhca_hw_has(&dev->hw, VHCA_CAP_INTEGRITY))
		known |= IB_QP_CREATE_INTEGRITY_EN;
	if (attr->create_flags & ~known)
		return vhca_refuse(dev->hw.dev, -EOPNOTSUPP, "QP create_flags %#x",
				   attr->create_flags & ~known);
	return 0;
}

/* A request with max_send_sge entries or max_inline_data bytes must fit the largest WQE. */
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
	if (attr->create_flags & IB_QP_CREATE_IPOIB_UD_LSO &&
	    vhca_lso_wqe_blocks(cap->max_send_sge) > VHCA_WQE_MAX_BLOCKS)
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "max_send_sge %u: a large send has %u bytes for entries and headers",
				   cap->max_send_sge, VHCA_WQE_MAX_BLOCKS * VHCA_WQE_BLOCK);
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
	err = check_flags(dev, attr) ?: check_parents(dev, attr, user) ?:
	      check_management(dev, attr, user);
	if (err)
		return err;
	/* Without a receive queue of its own the sizes are 0, whatever was requested. */
	if (attr->srq || !vhca_qp_has_receives(attr->qp_type)) {
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

static u8 type_to_hw(enum ib_qp_type type)
{
	switch (type) {
	case IB_QPT_UC:
		return VHCA_QPT_UC;
	case IB_QPT_UD:
		return VHCA_QPT_UD;
	case IB_QPT_SMI:
		return VHCA_QPT_SMI;
	case IB_QPT_GSI:
		return VHCA_QPT_GSI;
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
	hw->port = qp->port;
	if (attr->qp_type == IB_QPT_XRC_TGT) {
		hw->xrcdn = cpu_to_le32(to_vxrcd(attr->xrcd)->xrcdn);
		return vhca_cmd_create_qp(&dev->hw, hw, &qp->ibqp.qp_num);
	}
	hw->pdn = cpu_to_le32(to_vpd(qp->ibqp.pd)->pdn);
	hw->send_cqn = cpu_to_le32(to_vcq(attr->send_cq)->cqn);
	if (vhca_qp_has_receives(attr->qp_type))
		hw->recv_cqn = cpu_to_le32(to_vcq(attr->recv_cq)->cqn);
	hw->max_inline = cpu_to_le32(attr->cap.max_inline_data);
	if (attr->sq_sig_type == IB_SIGNAL_ALL_WR)
		hw->flags |= VHCA_QP_SIGNAL_ALL;
	if (attr->create_flags & IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK)
		hw->flags |= VHCA_QP_NO_MC_LOOP;
	/* Not for processes, as the provider does not report the result to its users. */
	if (attr->qp_type == IB_QPT_UD && qp->kernel && vhca_hw_has(&dev->hw, VHCA_CAP_UD_CSUM))
		hw->flags |= VHCA_QP_RX_CSUM;
	if (attr->srq) {
		hw->flags |= VHCA_QP_SRQ;
		hw->srqn = cpu_to_le32(to_vsrq(attr->srq)->srqn);
	}
	return vhca_cmd_create_qp(&dev->hw, hw, &qp->ibqp.qp_num);
}

static bool number_fits(const struct ib_qp *ibqp)
{
	if (vhca_qp_is_management(ibqp->qp_type))
		return ibqp->qp_num == ibqp->qp_type;
	return ibqp->qp_num >= VHCA_SPECIAL_QPS && !(ibqp->qp_num >> 24);
}

static int publish(struct vhca_dev *dev, struct vhca_qp *qp)
{
	int err;

	if (!number_fits(&qp->ibqp)) {
		dev_err_ratelimited(dev->hw.dev, "device gave out QP number %#x\n",
				    qp->ibqp.qp_num);
		vhca_hw_give_up(&dev->hw, "it gave out a number that is none");
		return -EIO;
	}
	qp->id = vhca_qp_id(qp->port, qp->ibqp.qp_num);
	err = vhca_id_add(&dev->qps, qp->id, &qp->async);
	if (!err && qp->kernel) {
		err = vhca_cq_attach_qp(qp);
		if (err)
			vhca_id_del(&dev->qps, qp->id, &qp->async);
	}
	if (err != -EBUSY)
		return err;
	dev_err_ratelimited(dev->hw.dev, "device gave out QP %#x twice\n", qp->ibqp.qp_num);
	/* DESTROY_QP would be ambiguous. */
	vhca_hw_give_up(&dev->hw, "it gave out a number twice");
	return -EIO;
}

/* Removes the QP from all tables, and waits until no event handler or poll uses it. */
static void unpublish(struct vhca_dev *dev, struct vhca_qp *qp)
{
	vhca_id_del(&dev->qps, qp->id, &qp->async);
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

/**
 * vhca_create_qp() - ib_device_ops.create_qp
 * @ibqp: queue pair; its number is set
 * @attr: its attributes; sizes of queues that it does not have are set to 0
 * @udata: the request of a process, whose rings are in its own memory; NULL for kernel consumers
 *	   and for XRC targets, which have no rings
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP for a type or flags that the device does not have, or a private request
 * with unknown fields; -EPERM for QP 0 or 1 of a process; -EINVAL for sizes or rings
 * beyond the device's limits, or objects that are missing; -EFAULT; -ENOMEM; -EIO when the device
 * gave out a number that is invalid or another QP's; an error of pinning; or an error of commands.
 */
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
	qp->port = vhca_qp_is_management(attr->qp_type) ? attr->port_num : 0;
	qp->state = IB_QPS_RESET;
	mutex_init(&qp->lock);

	if (!has_sends(attr->qp_type)) {
		/* It has no owner, as it outlives its creator if other processes have opened it. */
		err = vhca_udata_none(dev, udata, "create_qp");
		hw.log_sq_blocks = VHCA_NO_QUEUE;
		hw.log_rq_strides = VHCA_NO_QUEUE;
		uar = &dev->uar;
	} else if (udata) {
		err = vhca_udata_in(dev, udata, "create_qp", &req, sizeof(req)) ?:
		      vhca_qp_take_user_rings(dev, qp, &req, &hw);
		uar = &udata_to_vucontext(udata)->uar;
	} else {
		err = vhca_qp_make_kernel_rings(dev, qp, &hw);
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
	if (vhca_hw_settle(&dev->hw, vhca_cmd_destroy_qp(&dev->hw, qp->port, ibqp->qp_num)))
		return err;	/* The device may still read the rings, so they are not freed. */
err_db:
	vhca_db_free(&qp->db);
err_rings:
	vhca_qp_free_rings(qp);
	return err;
}

/*
 * The receive that a QP has taken from its SRQ is lost if the QP is reset or destroyed, but is
 * completed if the QP fails. Therefore kernel QPs are moved to ERR first, so that no record of the
 * SRQ leaks; they stay in ERR if they cannot be reset or destroyed then. Returns true if the caller
 * has to wait for the last-WQE event.
 */
static bool begin_giving_back(struct vhca_dev *dev, struct vhca_qp *qp)
{
	struct vhca_modify_qp_req req = {
		.qpn = cpu_to_le32(qp->ibqp.qp_num),
		.mask = cpu_to_le32(VHCA_QPA_STATE),
		.attr.state = IB_QPS_ERR,
	};

	lockdep_assert_held(&qp->lock);
	if (!qp->kernel || !qp->ibqp.srq || qp->state < IB_QPS_RTR || vhca_hw_dead(&dev->hw))
		return false;
	if (qp->state != IB_QPS_ERR) {
		if (vhca_cmd_modify_qp(&dev->hw, &req))
			return false;
		qp->state = IB_QPS_ERR;
		vhca_qp_broken(qp);
	}
	return true;
}

/**
 * vhca_qp_given_back() - last-WQE event: a kernel QP with an SRQ holds no receive any more
 * @qp: queue pair
 *
 * Context: any.
 */
void vhca_qp_given_back(struct vhca_qp *qp)
{
	WRITE_ONCE(qp->kernel->given_back, true);
	wake_up_all(&qp->kernel->wait);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_qp_given_back);

/*
 * Makes a QP complete the receive that it holds. The last-WQE event comes after others, whose
 * handlers may take the QP's lock, so the lock is dropped while this waits. Returns true if it was
 * dropped, after which the QP may be in any state.
 */
static bool give_back(struct vhca_dev *dev, struct vhca_qp *qp)
{
	struct vhca_qp_kernel *k = qp->kernel;
	unsigned int resets;
	bool over;

	if (!begin_giving_back(dev, qp) || READ_ONCE(k->given_back))
		return false;
	resets = k->resets;
	mutex_unlock(&qp->lock);
	over = wait_event_timeout(k->wait, READ_ONCE(k->given_back) ||
				  READ_ONCE(k->resets) != resets, VHCA_LAST_WQE_PATIENCE);
	if (!over)
		dev_warn_ratelimited(dev->hw.dev, "QP %#x keeps a receive of its SRQ\n",
				     qp->ibqp.qp_num);
	mutex_lock(&qp->lock);
	/* After a timeout no later call waits for it again. */
	if (!over && k->resets == resets)
		vhca_qp_given_back(qp);
	return true;
}

/* Resets the driver's state of a QP: counts, records, and unpolled completions in its CQs. */
static void start_over(struct vhca_qp *qp)
{
	if (qp->kernel) {
		vhca_cq_purge_qp(qp, false);
		spin_lock_irq(&qp->kernel->rq.lock);
		WRITE_ONCE(qp->kernel->broken, false);
		spin_unlock_irq(&qp->kernel->rq.lock);
		WRITE_ONCE(qp->kernel->given_back, false);
		WRITE_ONCE(qp->kernel->resets, qp->kernel->resets + 1);
		wake_up_all(&qp->kernel->wait);
	}
	vhca_db_store(&qp->db, 0, 0);
	vhca_db_store(&qp->db, 1, 0);
}

static bool ah_fits(const struct vhca_dev *dev, const struct rdma_ah_attr *attr)
{
	return attr->type == vhca_ah_type(dev, rdma_ah_get_port_num(attr));
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
	if (mask & IB_QP_AV && !ah_fits(dev, &attr->ah_attr))
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "ah_attr of type %d is not one of port %u", attr->ah_attr.type,
				   rdma_ah_get_port_num(&attr->ah_attr));
	if (mask & IB_QP_ALT_PATH && !ah_fits(dev, &attr->alt_ah_attr))
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "alt_ah_attr of type %d is not one of port %u",
				   attr->alt_ah_attr.type,
				   rdma_ah_get_port_num(&attr->alt_ah_attr));
	return check_limit(dev, "max_rd_atomic",
			   mask & IB_QP_MAX_QP_RD_ATOMIC ? attr->max_rd_atomic : 0,
			   l->max_init_rd_atomic) ?:
	       check_limit(dev, "max_dest_rd_atomic",
			   mask & IB_QP_MAX_DEST_RD_ATOMIC ? attr->max_dest_rd_atomic : 0,
			   l->max_rd_atomic);
}

/**
 * vhca_modify_qp() - ib_device_ops.modify_qp
 * @ibqp: queue pair
 * @attr: attributes
 * @mask: which of them are valid, enum ib_qp_attr_mask
 * @udata: the request of a process, which has no private part
 *
 * A kernel QP can be moved to RESET and ERR on a dead device as well.
 *
 * Context: may sleep, for up to ten seconds if a kernel QP with an SRQ is reset.
 * Return: 0; -EOPNOTSUPP for attributes or rights that the device does not have; -EINVAL for a
 * transition that does not exist, or values out of range; or an error of commands.
 */
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
	do {
		err = check_modify(dev, qp, attr, mask);
		if (err)
			goto out;
	} while (mask & IB_QP_STATE && attr->qp_state == IB_QPS_RESET && give_back(dev, qp));
	vhca_qp_attr_to_hw(attr, mask, &req.attr);
	if (qp->port)
		req.attr.port = qp->port;
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
EXPORT_SYMBOL_IF_KUNIT(vhca_modify_qp);

/**
 * vhca_query_qp() - ib_device_ops.query_qp
 * @ibqp: queue pair
 * @attr: filled in
 * @mask: attributes that are needed; all are read in any case
 * @init_attr: filled in with the attributes at creation
 *
 * Context: may sleep.
 * Return: 0; -EPROTO if the device's output is invalid; or an error of commands.
 */
int vhca_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_qp_init_attr *init_attr)
{
	struct vhca_dev *dev = to_vdev(ibqp->device);
	struct vhca_qp *qp = to_vqp(ibqp);
	struct vhca_qp_attr hw;
	int err;

	memset(attr, 0, sizeof(*attr));
	memset(init_attr, 0, sizeof(*init_attr));
	err = vhca_cmd_query_qp(&dev->hw, qp->port, ibqp->qp_num, &hw);
	if (err)
		return err;
	if (hw.state > IB_QPS_ERR || hw.cur_state > IB_QPS_ERR || hw.path_mtu > IB_MTU_4096 ||
	    hw.path_mig_state > IB_MIG_ARMED) {
		dev_err_ratelimited(dev->hw.dev, "device reports impossible attributes of QP %#x\n",
				    ibqp->qp_num);
		return -EPROTO;
	}
	vhca_qp_attr_from_hw(dev, &hw, attr);
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
	init_attr->port_num = qp->port;
	return 0;
}

/**
 * vhca_destroy_qp() - ib_device_ops.destroy_qp
 * @ibqp: queue pair
 * @udata: unused
 *
 * After success no poll finds a completion of the QP, and no handler runs for it.
 *
 * Context: may sleep, for a kernel QP with an SRQ for up to ten seconds.
 * Return: 0; or an error of commands, after which the QP still exists.
 */
int vhca_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct vhca_dev *dev = to_vdev(ibqp->device);
	struct vhca_qp *qp = to_vqp(ibqp);
	int err;

	mutex_lock(&qp->lock);
	while (give_back(dev, qp))
		;
	mutex_unlock(&qp->lock);
	vhca_id_retire(&dev->qps, qp->id);
	err = vhca_hw_settle(&dev->hw, vhca_cmd_destroy_qp(&dev->hw, qp->port, ibqp->qp_num));
	if (err) {
		vhca_id_keep(&dev->qps, qp->id);
		return err;
	}
	unpublish(dev, qp);
	if (qp->kernel && vhca_hw_dead(&dev->hw)) {
		/* Waits for work items that call the CQs' consumers because of this QP. */
		flush_work(&to_vcq(ibqp->send_cq)->kernel->wake);
		flush_work(&to_vcq(ibqp->recv_cq)->kernel->wake);
	}
	vhca_db_free(&qp->db);
	vhca_qp_free_rings(qp);
	mutex_destroy(&qp->lock);
	return 0;
}

/* Can a QP use an Ethernet (or InfiniBand) port? If it has no port yet it can use any port. */
static bool can_be_on(const struct ib_qp *ibqp, bool eth)
{
	struct vhca_dev *dev = to_vdev(ibqp->device);

	if (ibqp->port)
		return vhca_port_is_eth(dev, ibqp->port) == eth;
	for (u32 port = 1; port <= dev->hw.limits.ports; port++)
		if (vhca_port_is_eth(dev, port) == eth)
			return true;
	return false;
}

/* For groups of Ethernet ports the device uses MLID 0; the consumer's LID is ignored. */
static int check_group_lid(struct ib_qp *ibqp, u16 *lid)
{
	if (!can_be_on(ibqp, false)) {
		*lid = 0;
		return 0;
	}
	if (!*lid && can_be_on(ibqp, true))
		return 0;
	if (*lid >= be16_to_cpu(IB_MULTICAST_LID_BASE) && *lid <= MLID_LAST)
		return 0;
	return vhca_refuse(to_vdev(ibqp->device)->hw.dev, -EINVAL,
			   "multicast: %#x is no multicast LID", *lid);
}

/* Groups of Ethernet ports, which have no LID, are IP groups; for IPv4 the GID is IPv4-mapped. */
static bool is_group(const union ib_gid *gid, u16 lid)
{
	return lid ? gid->raw[0] == MGID_FIRST_BYTE :
		     rdma_is_multicast_addr((struct in6_addr *)gid->raw);
}

static int check_group(struct ib_qp *ibqp, const union ib_gid *gid, u16 *lid)
{
	struct vhca_dev *dev = to_vdev(ibqp->device);
	int err;

	if (ibqp->qp_type != IB_QPT_UD)
		return vhca_refuse(dev->hw.dev, -EINVAL, "multicast: QP %#x is not a UD QP",
				   ibqp->qp_num);
	err = check_group_lid(ibqp, lid);
	if (err || is_group(gid, *lid))
		return err;
	return vhca_refuse(dev->hw.dev, -EINVAL, "multicast: %pI6 is no multicast GID", gid->raw);
}

/**
 * vhca_attach_mcast() - ib_device_ops.attach_mcast
 * @ibqp: UD QP
 * @gid: the group's MGID
 * @lid: its MLID, ignored on an Ethernet port
 *
 * Context: may sleep.
 * Return: 0; -EINVAL for another type of QP, or for an invalid multicast address; or an error of
 * commands.
 */
int vhca_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	return check_group(ibqp, gid, &lid) ?:
	       vhca_cmd_attach_mcg(&to_vdev(ibqp->device)->hw, gid->raw, lid, ibqp->qp_num);
}

/**
 * vhca_detach_mcast() - ib_device_ops.detach_mcast: undo vhca_attach_mcast()
 * @ibqp: UD QP
 * @gid: the group's MGID
 * @lid: its MLID
 *
 * This succeeds on a dead device, which has no groups any more.
 *
 * Context: may sleep.
 * Return: as vhca_attach_mcast().
 */
int vhca_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct vhca_hw *hw = &to_vdev(ibqp->device)->hw;

	return check_group(ibqp, gid, &lid) ?:
	       vhca_hw_settle(hw, vhca_cmd_detach_mcg(hw, gid->raw, lid, ibqp->qp_num));
}
