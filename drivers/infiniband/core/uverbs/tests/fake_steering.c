// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The device of test_uverbs.h: work queues, flow rules, counters, device memory and DMA buffers.
 */
#include <linux/slab.h>
#include <rdma/uverbs_std_types.h>

#define UVERBS_MODULE_NAME fake
#include <rdma/uverbs_named_ioctl.h>

#include "test_uverbs.h"

/* Drivers allocate these objects themselves. */
static void *fake_new(struct fake_device *fake, int *count, size_t size, struct ib_udata *udata)
{
	void *obj = kzalloc(size, GFP_KERNEL);
	int ret = obj ? fake_made(fake, count, udata) : -ENOMEM;

	if (!ret)
		return obj;
	kfree(obj);
	return ERR_PTR(ret);
}

static int fake_free(struct fake_device *fake, int *count, void *obj)
{
	int ret = fake_gone(fake, count);

	if (!ret)
		kfree(obj);
	return ret;
}

/* ---- work queues and their tables ---- */

static struct ib_wq *fake_create_wq(struct ib_pd *pd, struct ib_wq_init_attr *attr,
				    struct ib_udata *udata)
{
	struct fake_device *fake = fake_of(pd->device);
	struct ib_wq *wq = fake_new(fake, &fake->made.wqs, sizeof(*wq), udata);

	if (IS_ERR(wq))
		return wq;
	wq->wq_num = 0x700 + fake->made.wqs;
	wq->state = IB_WQS_RESET;
	fake->asked.wq = wq;
	fake->asked.wq_flags = attr->create_flags;
	attr->max_wr = roundup_pow_of_two(attr->max_wr);
	return wq;
}

static int fake_modify_wq(struct ib_wq *wq, struct ib_wq_attr *attr, u32 mask,
			  struct ib_udata *udata)
{
	struct fake_device *fake = fake_of(wq->device);

	fake->asked.wq_attr = *attr;
	fake->asked.wq_mask = mask;
	fake->udata_in = udata->inlen;
	if (!fake->answer)
		wq->state = attr->wq_state;
	return fake->answer;
}

static int fake_destroy_wq(struct ib_wq *wq, struct ib_udata *udata)
{
	struct fake_device *fake = fake_of(wq->device);

	return fake_free(fake, &fake->made.wqs, wq);
}

static int fake_create_table(struct ib_rwq_ind_table *table,
			     struct ib_rwq_ind_table_init_attr *attr, struct ib_udata *udata)
{
	struct fake_device *fake = fake_of(table->device);

	fake->asked.table = table;
	table->ind_tbl_num = 0x800;
	return fake_made(fake, &fake->made.tables, udata);
}

static int fake_destroy_table(struct ib_rwq_ind_table *table)
{
	struct fake_device *fake = fake_of(table->device);

	return fake_gone(fake, &fake->made.tables);
}

/* ---- flow rules, flow actions and counters ---- */

static struct ib_flow *fake_create_flow(struct ib_qp *qp, struct ib_flow_attr *attr,
					struct ib_udata *udata)
{
	struct fake_device *fake = fake_of(qp->device);

	fake->asked.rule_qp = qp;
	memcpy(fake->asked.rule, attr, min_t(size_t, attr->size, FAKE_RULE));
	return fake_new(fake, &fake->made.flows, sizeof(struct ib_flow), udata);
}

static int fake_destroy_flow(struct ib_flow *flow)
{
	struct fake_device *fake = fake_of(flow->device);

	return fake_free(fake, &fake->made.flows, flow);
}

static int UVERBS_HANDLER(FAKE_METHOD_ACTION)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobj = uverbs_attr_get_uobject(attrs, FAKE_ATTR_ACTION);
	struct ib_device *ibdev = uobj->context->device;
	struct fake_device *fake = fake_of(ibdev);
	struct ib_flow_action *action;

	action = fake_new(fake, &fake->made.actions, sizeof(*action), NULL);
	if (IS_ERR(action))
		return PTR_ERR(action);
	fake->asked.action = action;
	uverbs_flow_action_fill_action(action, uobj, ibdev, IB_FLOW_ACTION_UNSPECIFIED);
	uverbs_finalize_uobj_create(attrs, FAKE_ATTR_ACTION);
	return 0;
}

DECLARE_UVERBS_NAMED_METHOD(FAKE_METHOD_ACTION,
			    UVERBS_ATTR_IDR(FAKE_ATTR_ACTION, UVERBS_OBJECT_FLOW_ACTION,
					    UVERBS_ACCESS_NEW, UA_MANDATORY));
ADD_UVERBS_METHODS(fake_actions, UVERBS_OBJECT_FLOW_ACTION, &UVERBS_METHOD(FAKE_METHOD_ACTION));

static const struct uapi_definition fake_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_FLOW_ACTION, &fake_actions),
	UAPI_DEF_CHAIN(fake_driver_objects),
	{}
};

static int fake_destroy_flow_action(struct ib_flow_action *action)
{
	struct fake_device *fake = fake_of(action->device);

	return fake_free(fake, &fake->made.actions, action);
}

static int fake_create_counters(struct ib_counters *counters, struct uverbs_attr_bundle *attrs)
{
	struct fake_device *fake = fake_of(counters->device);

	fake->asked.counters = counters;
	return fake_made(fake, &fake->made.counters, &attrs->driver_udata);
}

static int fake_destroy_counters(struct ib_counters *counters)
{
	struct fake_device *fake = fake_of(counters->device);

	return fake_gone(fake, &fake->made.counters);
}

static int fake_read_counters(struct ib_counters *counters, struct ib_counters_read_attr *attr,
			      struct uverbs_attr_bundle *attrs)
{
	struct fake_device *fake = fake_of(counters->device);

	fake->asked.counters_flags = attr->flags;
	for (u32 i = 0; i < attr->ncounters; i++)
		attr->counters_buff[i] = 100 + i;
	return fake->answer;
}

/* ---- device memory and DMA buffers ---- */

static struct ib_dm *fake_alloc_dm(struct ib_device *ib, struct ib_ucontext *context,
				   struct ib_dm_alloc_attr *attr, struct uverbs_attr_bundle *attrs)
{
	struct fake_device *fake = fake_of(ib);
	struct ib_dm *dm = fake_new(fake, &fake->made.dms, sizeof(*dm), &attrs->driver_udata);

	fake->asked.dm_attr = *attr;
	fake->asked.dm = dm;
	return dm;
}

static int fake_dealloc_dm(struct ib_dm *dm, struct uverbs_attr_bundle *attrs)
{
	struct fake_device *fake = fake_of(dm->device);

	/* Drivers use the context of the request. */
	if (attrs->context != dm->uobject->context)
		return -EFAULT;
	return fake_free(fake, &fake->made.dms, dm);
}

static struct ib_mr *fake_reg_dm_mr(struct ib_pd *pd, struct ib_dm *dm, struct ib_dm_mr_attr *attr,
				    struct uverbs_attr_bundle *attrs)
{
	struct fake_device *fake = fake_of(pd->device);

	fake->asked.dm_mr = *attr;
	return fake_new_mr(fake, &attrs->driver_udata);
}

static struct ib_mr *fake_reg_dmabuf(struct ib_pd *pd, u64 offset, u64 length, u64 va, int fd,
				     int access, struct uverbs_attr_bundle *attrs)
{
	struct fake_device *fake = fake_of(pd->device);

	fake->asked.fd = fd;
	fake->asked.offset = offset;
	fake->asked.access = access;
	return fake_new_mr(fake, &attrs->driver_udata);
}

static const struct ib_device_ops fake_steering_ops = {
	.create_wq = fake_create_wq,
	.modify_wq = fake_modify_wq,
	.destroy_wq = fake_destroy_wq,
	.create_rwq_ind_table = fake_create_table,
	.destroy_rwq_ind_table = fake_destroy_table,
	.create_flow = fake_create_flow,
	.destroy_flow = fake_destroy_flow,
	.destroy_flow_action = fake_destroy_flow_action,
	.create_counters = fake_create_counters,
	.destroy_counters = fake_destroy_counters,
	.read_counters = fake_read_counters,
	.alloc_dm = fake_alloc_dm,
	.dealloc_dm = fake_dealloc_dm,
	.reg_dm_mr = fake_reg_dm_mr,
	.reg_user_mr_dmabuf = fake_reg_dmabuf,
	.size_ib_counters = sizeof(struct ib_counters),
	.size_ib_rwq_ind_table = sizeof(struct ib_rwq_ind_table),
};

/**
 * fake_steering_add() - add the calls of this file to a device
 * @fake: the device, not registered yet
 */
void fake_steering_add(struct fake_device *fake)
{
	ib_set_device_ops(&fake->ib, &fake_steering_ops);
	fake->ib.driver_def = fake_defs;
}
