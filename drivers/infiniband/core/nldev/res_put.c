// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Descriptions of tracked objects, by type. The look-up reference that the caller holds keeps the
 * object, its handle, and so its context and parents.
 */
#include <kunit/visibility.h>
#include <linux/sched.h>
#include <rdma/ib_verbs.h>
#include <rdma/restrack.h>

#include "../object/object.h"
#include "nldev_priv.h"

/**
 * nl_put_owner() - append the creator of an object
 * @msg: the message
 * @res: its tracking entry
 *
 * User objects have the PID of a process, which leads to its name; kernel objects have the name of
 * their module.
 *
 * Return: 0 or -EMSGSIZE.
 */
int nl_put_owner(struct sk_buff *msg, const struct rdma_restrack_entry *res)
{
	pid_t pid;

	if (rdma_is_kernel_res(res))
		return nla_put_string(msg, RDMA_NLDEV_ATTR_RES_KERN_NAME, res->kern_name ?: "");
	/* 0 means that the process has ended, or cannot be seen from the reader's PID namespace. */
	pid = task_pid_vnr(res->task);
	return pid ? nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_PID, pid) : 0;
}

/* Every handle begins with its struct ib_uobject, which uverbs/events.h asserts. */
static int put_context(struct sk_buff *msg, const struct rdma_restrack_entry *res,
		       const void *handle)
{
	const struct ib_uobject *uobject = handle;

	if (rdma_is_kernel_res(res))
		return 0;
	return nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_CTXN, uobject->context->res.id);
}

/**
 * nl_put_pd() - describe a PD
 * @msg: the message
 * @res: its tracking entry
 * @subject: scope and privilege of the request
 *
 * Return: 0 or -EMSGSIZE.
 */
int nl_put_pd(struct sk_buff *msg, struct rdma_restrack_entry *res,
	      const struct nl_subject *subject)
{
	const struct ib_pd *pd = container_of(res, struct ib_pd, res);

	if (subject->admin &&
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_LOCAL_DMA_LKEY, pd->local_dma_lkey))
		return -EMSGSIZE;
	if (subject->admin && (pd->flags & IB_PD_UNSAFE_GLOBAL_RKEY) &&
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_UNSAFE_GLOBAL_RKEY, pd->unsafe_global_rkey))
		return -EMSGSIZE;
	if (nl_put_u64(msg, RDMA_NLDEV_ATTR_RES_USECNT, atomic_read(&pd->usecnt)) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_PDN, res->id) ||
	    put_context(msg, res, pd->uobject) || nl_put_owner(msg, res))
		return -EMSGSIZE;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(nl_put_pd);

/**
 * nl_put_cq() - describe a CQ
 * @msg: the message
 * @res: its tracking entry
 * @subject: scope and privilege of the request
 *
 * Return: 0, -EMSGSIZE, or the driver's error.
 */
int nl_put_cq(struct sk_buff *msg, struct rdma_restrack_entry *res,
	      const struct nl_subject *subject)
{
	struct ib_cq *cq = container_of(res, struct ib_cq, res);
	const struct ib_device_ops *ops = &cq->device->ops;

	if (nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_CQE, cq->cqe) ||
	    nl_put_u64(msg, RDMA_NLDEV_ATTR_RES_USECNT, atomic_read(&cq->usecnt)))
		return -EMSGSIZE;
	/* A user's CQ has no polling context. */
	if (rdma_is_kernel_res(res) &&
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_RES_POLL_CTX, cq->poll_ctx))
		return -EMSGSIZE;
	if (nla_put_u8(msg, RDMA_NLDEV_ATTR_DEV_DIM, !!cq->dim) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_CQN, res->id) ||
	    put_context(msg, res, cq->uobject) || nl_put_owner(msg, res))
		return -EMSGSIZE;
	return ops->fill_res_cq_entry ? ops->fill_res_cq_entry(msg, cq) : 0;
}

static bool is_connected(const struct ib_qp *qp)
{
	return qp->qp_type == IB_QPT_RC || qp->qp_type == IB_QPT_UC;
}

static bool may_migrate(const struct ib_qp *qp)
{
	return is_connected(qp) || qp->qp_type == IB_QPT_XRC_INI || qp->qp_type == IB_QPT_XRC_TGT;
}

static int put_qp_attrs(struct sk_buff *msg, const struct ib_qp *qp, const struct ib_qp_attr *attr)
{
	if (is_connected(qp) &&
	    (nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_RQPN, attr->dest_qp_num) ||
	     nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_RQ_PSN, attr->rq_psn)))
		return -EMSGSIZE;
	if (nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_SQ_PSN, attr->sq_psn))
		return -EMSGSIZE;
	if (may_migrate(qp) &&
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_RES_PATH_MIG_STATE, attr->path_mig_state))
		return -EMSGSIZE;
	if (nla_put_u8(msg, RDMA_NLDEV_ATTR_RES_TYPE, qp->qp_type) ||
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_RES_STATE, attr->qp_state))
		return -EMSGSIZE;
	return 0;
}

/**
 * nl_put_qp() - describe a QP
 * @msg: the message
 * @res: its tracking entry
 * @subject: scope and privilege of the request
 *
 * Return: 0, -EAGAIN for a QP of another port than that of the request, -EMSGSIZE, or the driver's
 * error.
 */
int nl_put_qp(struct sk_buff *msg, struct rdma_restrack_entry *res,
	      const struct nl_subject *subject)
{
	struct ib_qp *qp = container_of(res, struct ib_qp, res);
	const struct ib_device_ops *ops = &qp->device->ops;
	struct ib_qp_init_attr init = {};
	struct ib_qp_attr attr = {};
	int ret;

	if (subject->port_num && subject->port_num != qp->port)
		return -EAGAIN;
	/* A QP has no port before it is in the state INIT. */
	if ((qp->port && nla_put_u32(msg, RDMA_NLDEV_ATTR_PORT_INDEX, qp->port)) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_LQPN, qp->qp_num))
		return -EMSGSIZE;
	if (!rdma_is_kernel_res(res) && qp->pd &&
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_PDN, qp->pd->res.id))
		return -EMSGSIZE;
	if (nl_put_owner(msg, res))
		return -EMSGSIZE;
	ret = ib_query_qp(qp, &attr, 0, &init);
	if (!ret)
		ret = put_qp_attrs(msg, qp, &attr);
	if (!ret && ops->fill_res_qp_entry)
		ret = ops->fill_res_qp_entry(msg, qp);
	return ret;
}

/**
 * nl_put_mr() - describe an MR
 * @msg: the message
 * @res: its tracking entry
 * @subject: scope and privilege of the request
 *
 * Return: 0, -EMSGSIZE, or the driver's error.
 */
int nl_put_mr(struct sk_buff *msg, struct rdma_restrack_entry *res,
	      const struct nl_subject *subject)
{
	struct ib_mr *mr = container_of(res, struct ib_mr, res);
	const struct ib_device_ops *ops = &mr->device->ops;

	if (subject->admin && (nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_RKEY, mr->rkey) ||
			       nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_LKEY, mr->lkey)))
		return -EMSGSIZE;
	if (nl_put_u64(msg, RDMA_NLDEV_ATTR_RES_MRLEN, mr->length) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_MRN, res->id))
		return -EMSGSIZE;
	/*
	 * Reregistration may move the MR to another PD, but waits for this look-up before the old
	 * PD may be destroyed.
	 */
	if (!rdma_is_kernel_res(res) &&
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_PDN, READ_ONCE(mr->pd)->res.id))
		return -EMSGSIZE;
	if (nl_put_owner(msg, res))
		return -EMSGSIZE;
	return ops->fill_res_mr_entry ? ops->fill_res_mr_entry(msg, mr) : 0;
}

/**
 * nl_put_ctx() - describe a user context
 * @msg: the message
 * @res: its tracking entry
 * @subject: scope and privilege of the request
 *
 * Return: 0 or -EMSGSIZE.
 */
int nl_put_ctx(struct sk_buff *msg, struct rdma_restrack_entry *res,
	       const struct nl_subject *subject)
{
	if (nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_CTXN, res->id) || nl_put_owner(msg, res))
		return -EMSGSIZE;
	return 0;
}

/**
 * nl_put_cm_id() - describe a CM id
 * @msg: the message
 * @res: its tracking entry
 * @subject: scope and privilege of the request
 *
 * The module that has created the id appends the attributes that only it knows.
 *
 * Return: 0, -EAGAIN for one of another port than that of the request, -EMSGSIZE, or the module's
 * error.
 */
int nl_put_cm_id(struct sk_buff *msg, struct rdma_restrack_entry *res,
		 const struct nl_subject *subject)
{
	struct rdma_object *obj = container_of(res, struct rdma_object, res);
	int ret = 0;

	if (obj->ops && obj->ops->describe)
		ret = obj->ops->describe(obj, msg, subject->port_num);
	if (ret)
		return ret;
	if (nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_CM_IDN, res->id) || nl_put_owner(msg, res))
		return -EMSGSIZE;
	return 0;
}

/* Appends the QP numbers from @first to @last, all of which use the SRQ. */
static int put_range(struct sk_buff *msg, u32 first, u32 last)
{
	struct nlattr *entry = nla_nest_start(msg, RDMA_NLDEV_ATTR_RES_QP_ENTRY);

	if (!entry)
		return -EMSGSIZE;
	if (first == last ? nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_LQPN, first) :
	    (nla_put_u32(msg, RDMA_NLDEV_ATTR_MIN_RANGE, first) ||
	     nla_put_u32(msg, RDMA_NLDEV_ATTR_MAX_RANGE, last)))
		return -EMSGSIZE;
	nla_nest_end(msg, entry);
	return 0;
}

/* QPs are tracked by their numbers, so the walk visits them in order. */
static int put_srq_qps(struct sk_buff *msg, struct ib_srq *srq)
{
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_RES_QP);
	struct rdma_restrack_entry *res;
	u32 first = 0, last = 0, id = 0;
	bool uses;

	if (!table)
		return -EMSGSIZE;
	while ((res = rdma_restrack_next(srq->device, RDMA_RESTRACK_QP, &id))) {
		uses = container_of(res, struct ib_qp, res)->srq == srq;
		rdma_restrack_put(res);
		if (uses && first && id != last + 1) {
			if (put_range(msg, first, last))
				return -EMSGSIZE;
			first = 0;
		}
		if (uses) {
			first = first ?: id;
			last = id;
		}
		if (!++id)
			break;
	}
	if (first && put_range(msg, first, last))
		return -EMSGSIZE;
	nla_nest_end(msg, table);
	return 0;
}

/**
 * nl_put_srq() - describe an SRQ, with the QPs that receive from it
 * @msg: the message
 * @res: its tracking entry
 * @subject: scope and privilege of the request
 *
 * Return: 0, -EMSGSIZE, or the driver's error.
 */
int nl_put_srq(struct sk_buff *msg, struct rdma_restrack_entry *res,
	       const struct nl_subject *subject)
{
	struct ib_srq *srq = container_of(res, struct ib_srq, res);
	const struct ib_device_ops *ops = &srq->device->ops;

	if (nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_SRQN, res->id) ||
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_RES_TYPE, srq->srq_type) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_PDN, srq->pd->res.id))
		return -EMSGSIZE;
	if (ib_srq_has_cq(srq->srq_type) &&
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_CQN, srq->ext.cq->res.id))
		return -EMSGSIZE;
	if (put_srq_qps(msg, srq) || nl_put_owner(msg, res))
		return -EMSGSIZE;
	return ops->fill_res_srq_entry ? ops->fill_res_srq_entry(msg, srq) : 0;
}

/**
 * nl_put_mr_stat() - describe the counters of an MR
 * @msg: the message
 * @res: its tracking entry
 * @subject: scope and privilege of the request
 *
 * Return: 0, -EMSGSIZE, or the driver's error.
 */
int nl_put_mr_stat(struct sk_buff *msg, struct rdma_restrack_entry *res,
		   const struct nl_subject *subject)
{
	struct ib_mr *mr = container_of(res, struct ib_mr, res);
	const struct ib_device_ops *ops = &mr->device->ops;

	if (nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_MRN, res->id))
		return -EMSGSIZE;
	return ops->fill_stat_mr_entry ? ops->fill_stat_mr_entry(msg, mr) : 0;
}

/**
 * nl_put_cq_raw() - append the driver's own description of a CQ
 * @msg: the message
 * @res: its tracking entry
 * @subject: scope and privilege of the request
 *
 * Return: the driver's return value; -EINVAL if it has none.
 */
int nl_put_cq_raw(struct sk_buff *msg, struct rdma_restrack_entry *res,
		  const struct nl_subject *subject)
{
	struct ib_cq *cq = container_of(res, struct ib_cq, res);
	const struct ib_device_ops *ops = &cq->device->ops;

	return ops->fill_res_cq_entry_raw ? ops->fill_res_cq_entry_raw(msg, cq) : -EINVAL;
}

/**
 * nl_put_qp_raw() - append the driver's own description of a QP
 * @msg: the message
 * @res: its tracking entry
 * @subject: scope and privilege of the request
 *
 * Return: the driver's return value; -EAGAIN for a QP of another port than that of the request;
 * -EINVAL if the driver has no description.
 */
int nl_put_qp_raw(struct sk_buff *msg, struct rdma_restrack_entry *res,
		  const struct nl_subject *subject)
{
	struct ib_qp *qp = container_of(res, struct ib_qp, res);
	const struct ib_device_ops *ops = &qp->device->ops;

	if (subject->port_num && subject->port_num != qp->port)
		return -EAGAIN;
	return ops->fill_res_qp_entry_raw ? ops->fill_res_qp_entry_raw(msg, qp) : -EINVAL;
}

/**
 * nl_put_mr_raw() - append the driver's own description of an MR
 * @msg: the message
 * @res: its tracking entry
 * @subject: scope and privilege of the request
 *
 * Return: the driver's return value; -EINVAL if it has none.
 */
int nl_put_mr_raw(struct sk_buff *msg, struct rdma_restrack_entry *res,
		  const struct nl_subject *subject)
{
	struct ib_mr *mr = container_of(res, struct ib_mr, res);
	const struct ib_device_ops *ops = &mr->device->ops;

	return ops->fill_res_mr_entry_raw ? ops->fill_res_mr_entry_raw(msg, mr) : -EINVAL;
}

/**
 * nl_put_srq_raw() - append the driver's own description of an SRQ
 * @msg: the message
 * @res: its tracking entry
 * @subject: scope and privilege of the request
 *
 * Return: the driver's return value; -EINVAL if it has none.
 */
int nl_put_srq_raw(struct sk_buff *msg, struct rdma_restrack_entry *res,
		   const struct nl_subject *subject)
{
	struct ib_srq *srq = container_of(res, struct ib_srq, res);
	const struct ib_device_ops *ops = &srq->device->ops;

	return ops->fill_res_srq_entry_raw ? ops->fill_res_srq_entry_raw(msg, srq) : -EINVAL;
}

static int put_criteria(struct sk_buff *msg, const struct rdma_counter *counter)
{
	const struct rdma_counter_mode *mode = &counter->mode;

	if (nla_put_u32(msg, RDMA_NLDEV_ATTR_STAT_MODE, mode->mode))
		return -EMSGSIZE;
	if (mode->mode != RDMA_COUNTER_MODE_AUTO)
		return 0;
	if ((mode->mask & RDMA_COUNTER_MASK_QP_TYPE) &&
	    nla_put_u8(msg, RDMA_NLDEV_ATTR_RES_TYPE, mode->param.qp_type))
		return -EMSGSIZE;
	return mode->mask & RDMA_COUNTER_MASK_PID ? nl_put_owner(msg, &counter->res) : 0;
}

static int put_bound_qp(struct sk_buff *msg, u32 qp_num)
{
	struct nlattr *entry = nla_nest_start(msg, RDMA_NLDEV_ATTR_RES_QP_ENTRY);

	if (!entry || nla_put_u32(msg, RDMA_NLDEV_ATTR_RES_LQPN, qp_num))
		return -EMSGSIZE;
	nla_nest_end(msg, entry);
	return 0;
}

static int put_bound_qps(struct sk_buff *msg, const struct rdma_counter *counter)
{
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_RES_QP);
	struct rdma_restrack_entry *res;
	u32 id = 0;
	int ret;

	if (!table)
		return -EMSGSIZE;
	while ((res = rdma_restrack_next(counter->device, RDMA_RESTRACK_QP, &id))) {
		const struct ib_qp *qp = container_of(res, struct ib_qp, res);

		ret = READ_ONCE(qp->counter) == counter ? put_bound_qp(msg, qp->qp_num) : 0;
		rdma_restrack_put(res);
		if (ret)
			return ret;
		if (!++id)
			break;
	}
	nla_nest_end(msg, table);
	return 0;
}

static int put_values(struct sk_buff *msg, struct rdma_counter *counter)
{
	const struct rdma_hw_stats *stats = counter->stats;
	struct nlattr *table = nla_nest_start(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);

	if (!table)
		return -EMSGSIZE;
	guard(mutex)(&counter->lock);
	for (int i = 0; i < stats->num_counters; i++)
		if (!test_bit(i, stats->is_disabled) &&
		    rdma_nl_stat_hwcounter_entry(msg, stats->descs[i].name, stats->value[i]))
			return -EMSGSIZE;
	nla_nest_end(msg, table);
	return 0;
}

/**
 * nl_put_counter() - describe a counter: its criteria, its QPs, and its present values
 * @msg: the message
 * @res: its tracking entry
 * @subject: scope and privilege of the request
 *
 * Return: 0, -EAGAIN for one of another port than that of the request, or -EMSGSIZE.
 */
int nl_put_counter(struct sk_buff *msg, struct rdma_restrack_entry *res,
		   const struct nl_subject *subject)
{
	struct rdma_counter *counter = container_of(res, struct rdma_counter, res);

	if (subject->port_num && subject->port_num != counter->port)
		return -EAGAIN;
	/* If the counter cannot be read, its values are those of the last read. */
	rdma_counter_query_stats(counter);
	if (nla_put_u32(msg, RDMA_NLDEV_ATTR_PORT_INDEX, counter->port) ||
	    nla_put_u32(msg, RDMA_NLDEV_ATTR_STAT_COUNTER_ID, counter->id) ||
	    put_criteria(msg, counter) || put_bound_qps(msg, counter) || put_values(msg, counter))
		return -EMSGSIZE;
	return 0;
}
