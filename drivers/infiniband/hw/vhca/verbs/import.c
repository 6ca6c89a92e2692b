// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The driver's own methods and attributes of the ioctl interface. A provider that imports a context
 * or a PD queries the data that their creator got; and programs query the device's time.
 */
#include <linux/ktime.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_std_types.h>

#include "../cmd/cmd.h"
#include "pd.h"
#include "ucontext.h"

#define UVERBS_MODULE_NAME vhca
#include <rdma/uverbs_named_ioctl.h>

static_assert((u32)VHCA_UVERBS_NS == (u32)UVERBS_ID_DRIVER_NS);

/**
 * vhca_query_ucontext() - ib_device_ops.query_ucontext
 * @ibctx: context that was opened before
 * @attrs: the request, which gets the response of vhca_alloc_ucontext() again
 *
 * Context: may sleep.
 * Return: 0; -EFAULT; an error of the core for an attribute.
 */
int vhca_query_ucontext(struct ib_ucontext *ibctx, struct uverbs_attr_bundle *attrs)
{
	struct vhca_uctx_resp resp;

	vhca_ucontext_answer(to_vucontext(ibctx), &resp);
	return uverbs_copy_to_struct_or_zero(attrs, VHCA_ATTR_QUERY_CONTEXT_RESP, &resp,
					     sizeof(resp));
}

static int UVERBS_HANDLER(VHCA_METHOD_PD_QUERY)(struct uverbs_attr_bundle *attrs)
{
	struct ib_pd *ibpd = uverbs_attr_get_obj(attrs, VHCA_ATTR_PD_QUERY_HANDLE);
	struct vhca_alloc_pd_resp resp = {};

	if (IS_ERR(ibpd))
		return PTR_ERR(ibpd);
	resp.pdn = to_vpd(ibpd)->pdn;
	return uverbs_copy_to_struct_or_zero(attrs, VHCA_ATTR_PD_QUERY_RESP, &resp, sizeof(resp));
}

/* Reads device clock and host clock together, for conversion of completion timestamps. */
static int UVERBS_HANDLER(VHCA_METHOD_CLOCK_QUERY)(struct uverbs_attr_bundle *attrs)
{
	struct ib_ucontext *ibctx = ib_uverbs_get_ucontext(attrs);
	struct vhca_clock_query_resp resp = {};
	struct vhca_dev *dev;
	u64 now;
	int err;

	if (IS_ERR(ibctx))
		return PTR_ERR(ibctx);
	dev = to_vdev(ibctx->device);
	if (!vhca_hw_has(&dev->hw, VHCA_CAP_CLOCK_QUERY))
		return vhca_refuse(dev->hw.dev, -EOPNOTSUPP,
				   "clock query: the device cannot be asked for the time");
	resp.real_before = ktime_get_real_ns();
	err = vhca_cmd_query_clock(&dev->hw, &now);
	if (err)
		return err;
	resp.real_after = ktime_get_real_ns();
	resp.device = now;
	return uverbs_copy_to_struct_or_zero(attrs, VHCA_ATTR_CLOCK_QUERY_RESP, &resp,
					     sizeof(resp));
}

ADD_UVERBS_ATTRIBUTES_SIMPLE(vhca_query_context, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_CONTEXT,
			     UVERBS_ATTR_PTR_OUT(VHCA_ATTR_QUERY_CONTEXT_RESP,
						 UVERBS_ATTR_STRUCT(struct vhca_uctx_resp,
								    send_ops),
						 UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(VHCA_METHOD_PD_QUERY,
			    UVERBS_ATTR_IDR(VHCA_ATTR_PD_QUERY_HANDLE, UVERBS_OBJECT_PD,
					    UVERBS_ACCESS_READ, UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(VHCA_ATTR_PD_QUERY_RESP,
						UVERBS_ATTR_STRUCT(struct vhca_alloc_pd_resp,
								   rsvd),
						UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(VHCA_METHOD_CLOCK_QUERY,
			    UVERBS_ATTR_PTR_OUT(VHCA_ATTR_CLOCK_QUERY_RESP,
						UVERBS_ATTR_STRUCT(struct vhca_clock_query_resp,
								   real_after),
						UA_MANDATORY));

ADD_UVERBS_METHODS(vhca_device_methods, UVERBS_OBJECT_DEVICE,
		   &UVERBS_METHOD(VHCA_METHOD_CLOCK_QUERY));
ADD_UVERBS_METHODS(vhca_pd_methods, UVERBS_OBJECT_PD, &UVERBS_METHOD(VHCA_METHOD_PD_QUERY));

const struct uapi_definition vhca_uapi_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DEVICE, &vhca_query_context),
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DEVICE, &vhca_device_methods),
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_PD, &vhca_pd_methods),
	{}
};
