// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Protection domains, and those of XRC. */
#include "../cmd/cmd.h"
#include "pd.h"
#include "udata.h"

/**
 * vhca_alloc_pd() - ib_device_ops.alloc_pd
 * @ibpd: protection domain
 * @udata: the request of a process, which gets the PD's number for its work requests
 *
 * Context: may sleep.
 * Return: 0; -EINVAL for a private request that is not empty; -EFAULT; or an error of commands.
 */
int vhca_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct vhca_dev *dev = to_vdev(ibpd->device);
	struct vhca_pd *pd = to_vpd(ibpd);
	struct vhca_alloc_pd_resp resp = {};
	int err;

	err = vhca_udata_none(dev, udata, "alloc_pd");
	if (err)
		return err;
	err = vhca_cmd_create_pd(&dev->hw, &pd->pdn);
	if (err || !udata)
		return err;

	resp.pdn = pd->pdn;
	err = vhca_udata_out(dev, udata, "alloc_pd", &resp, sizeof(resp), 0);
	if (err)
		vhca_cmd_destroy_pd(&dev->hw, pd->pdn);
	return err;
}

/**
 * vhca_dealloc_pd() - ib_device_ops.dealloc_pd
 * @ibpd: protection domain, which nothing uses any more
 * @udata: not used
 *
 * Context: may sleep.
 * Return: 0; or an error of commands.
 */
int vhca_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata)
{
	struct vhca_dev *dev = to_vdev(ibpd->device);

	return vhca_hw_settle(&dev->hw, vhca_cmd_destroy_pd(&dev->hw, to_vpd(ibpd)->pdn));
}

/**
 * vhca_alloc_xrcd() - ib_device_ops.alloc_xrcd
 * @ibxrcd: XRC domain
 * @udata: the request of a process, which has no private part
 *
 * Context: may sleep.
 * Return: 0; -EINVAL for a private request that is not empty; or an error of commands.
 */
int vhca_alloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	struct vhca_dev *dev = to_vdev(ibxrcd->device);

	return vhca_udata_none(dev, udata, "alloc_xrcd") ?:
	       vhca_cmd_create_xrcd(&dev->hw, &to_vxrcd(ibxrcd)->xrcdn);
}

/**
 * vhca_dealloc_xrcd() - ib_device_ops.dealloc_xrcd
 * @ibxrcd: XRC domain, which nothing uses any more
 * @udata: not used
 *
 * Context: may sleep.
 * Return: 0; or an error of commands.
 */
int vhca_dealloc_xrcd(struct ib_xrcd *ibxrcd, struct ib_udata *udata)
{
	struct vhca_dev *dev = to_vdev(ibxrcd->device);

	return vhca_hw_settle(&dev->hw,
			      vhca_cmd_destroy_xrcd(&dev->hw, to_vxrcd(ibxrcd)->xrcdn));
}
