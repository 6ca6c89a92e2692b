// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Multicast groups. */
#include "../cmd/cmd.h"
#include "verbs.h"

#define MGID_FIRST_BYTE	0xff
#define MLID_LAST	0xfffe	/* 0xffff is the permissive LID */

static int check_group(struct ib_qp *ibqp, const union ib_gid *gid, u16 lid)
{
	struct vhca_dev *dev = to_vdev(ibqp->device);

	if (ibqp->qp_type != IB_QPT_UD)
		return vhca_refuse(dev->hw.dev, -EINVAL, "multicast: QP %#x is not a UD QP",
				   ibqp->qp_num);
	if (gid->raw[0] != MGID_FIRST_BYTE)
		return vhca_refuse(dev->hw.dev, -EINVAL, "multicast: %pI6 is no multicast GID",
				   gid->raw);
	if (lid < be16_to_cpu(IB_MULTICAST_LID_BASE) || lid > MLID_LAST)
		return vhca_refuse(dev->hw.dev, -EINVAL, "multicast: %#x is no multicast LID",
				   lid);
	return 0;
}

/* Let a QP receive what is sent to a group. */
int vhca_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	return check_group(ibqp, gid, lid) ?:
	       vhca_cmd_attach_mcg(&to_vdev(ibqp->device)->hw, gid->raw, lid, ibqp->qp_num);
}

/* The opposite. What a dead device was attached to it has forgotten. */
int vhca_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct vhca_hw *hw = &to_vdev(ibqp->device)->hw;

	return check_group(ibqp, gid, lid) ?:
	       vhca_hw_settle(hw, vhca_cmd_detach_mcg(hw, gid->raw, lid, ibqp->qp_num));
}
