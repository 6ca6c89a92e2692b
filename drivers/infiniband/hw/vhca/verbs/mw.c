// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory windows. The driver makes their keys; binding them is a request of the process that has
 * them, which the kernel does not see.
 */
#include "../cmd/cmd.h"
#include "verbs.h"

static int type_to_hw(struct vhca_dev *dev, enum ib_mw_type type)
{
	if (type == IB_MW_TYPE_1)
		return VHCA_MKEY_MW_1;
	if (type == IB_MW_TYPE_2 &&
	    (vhca_hw_has(&dev->hw, VHCA_CAP_MW_2A) || vhca_hw_has(&dev->hw, VHCA_CAP_MW_2B)))
		return VHCA_MKEY_MW_2;
	return vhca_refuse(dev->hw.dev, -EOPNOTSUPP, "memory window of type %d: not supported",
			   type);
}

int vhca_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct vhca_dev *dev = to_vdev(ibmw->device);
	struct vhca_create_mkey_req req = {
		.pdn = cpu_to_le32(to_vpd(ibmw->pd)->pdn),
		.variant = vhca_next_variant(),
	};
	int type;

	type = vhca_udata_none(dev, udata, "alloc_mw") ?: type_to_hw(dev, ibmw->type);
	if (type < 0)
		return type;
	req.type = type;
	return vhca_cmd_create_mkey(&dev->hw, &req, &ibmw->rkey);
}

int vhca_dealloc_mw(struct ib_mw *ibmw)
{
	struct vhca_dev *dev = to_vdev(ibmw->device);

	return vhca_hw_settle(&dev->hw, vhca_cmd_destroy_mkey(&dev->hw, ibmw->rkey));
}
