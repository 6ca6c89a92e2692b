// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* QP attributes and access rights, to and from the device's form. */
#include <kunit/visibility.h>

#include "ah.h"
#include "mr.h"
#include "qp.h"

/* Device and core have the same numbers of attribute bits. */
static_assert(VHCA_QPA_STATE == IB_QP_STATE && VHCA_QPA_CUR_STATE == IB_QP_CUR_STATE &&
	      VHCA_QPA_EN_SQD_ASYNC_NOTIFY == IB_QP_EN_SQD_ASYNC_NOTIFY &&
	      VHCA_QPA_ACCESS_FLAGS == IB_QP_ACCESS_FLAGS &&
	      VHCA_QPA_PKEY_INDEX == IB_QP_PKEY_INDEX && VHCA_QPA_PORT == IB_QP_PORT &&
	      VHCA_QPA_QKEY == IB_QP_QKEY && VHCA_QPA_AV == IB_QP_AV &&
	      VHCA_QPA_PATH_MTU == IB_QP_PATH_MTU && VHCA_QPA_TIMEOUT == IB_QP_TIMEOUT &&
	      VHCA_QPA_RETRY_CNT == IB_QP_RETRY_CNT && VHCA_QPA_RNR_RETRY == IB_QP_RNR_RETRY &&
	      VHCA_QPA_RQ_PSN == IB_QP_RQ_PSN &&
	      VHCA_QPA_MAX_QP_RD_ATOMIC == IB_QP_MAX_QP_RD_ATOMIC &&
	      VHCA_QPA_ALT_PATH == IB_QP_ALT_PATH &&
	      VHCA_QPA_MIN_RNR_TIMER == IB_QP_MIN_RNR_TIMER && VHCA_QPA_SQ_PSN == IB_QP_SQ_PSN &&
	      VHCA_QPA_MAX_DEST_RD_ATOMIC == IB_QP_MAX_DEST_RD_ATOMIC &&
	      VHCA_QPA_PATH_MIG_STATE == IB_QP_PATH_MIG_STATE && VHCA_QPA_CAP == IB_QP_CAP &&
	      VHCA_QPA_DEST_QPN == IB_QP_DEST_QPN);

static int access_from_hw(u8 access)
{
	return (access & VHCA_ACCESS_LOCAL_WRITE ? IB_ACCESS_LOCAL_WRITE : 0) |
	       (access & VHCA_ACCESS_REMOTE_WRITE ? IB_ACCESS_REMOTE_WRITE : 0) |
	       (access & VHCA_ACCESS_REMOTE_READ ? IB_ACCESS_REMOTE_READ : 0) |
	       (access & VHCA_ACCESS_REMOTE_ATOMIC ? IB_ACCESS_REMOTE_ATOMIC : 0) |
	       (access & VHCA_ACCESS_FLUSH_GLOBAL ? IB_ACCESS_FLUSH_GLOBAL : 0) |
	       (access & VHCA_ACCESS_FLUSH_PERSISTENT ? IB_ACCESS_FLUSH_PERSISTENT : 0);
}

/**
 * vhca_qp_attr_to_hw() - translate the attributes of a modify request
 * @a: attributes
 * @mask: which of them are valid, enum ib_qp_attr_mask
 * @hw: filled in; attributes that are not valid are zero
 *
 * Context: any.
 */
void vhca_qp_attr_to_hw(const struct ib_qp_attr *a, int mask, struct vhca_qp_attr *hw)
{
	memset(hw, 0, sizeof(*hw));
	if (mask & IB_QP_STATE)
		hw->state = a->qp_state;
	if (mask & IB_QP_CUR_STATE)
		hw->cur_state = a->cur_qp_state;
	if (mask & IB_QP_EN_SQD_ASYNC_NOTIFY)
		hw->en_sqd_async_notify = a->en_sqd_async_notify;
	if (mask & IB_QP_ACCESS_FLAGS)
		hw->access = vhca_access_to_hw(a->qp_access_flags & ~VHCA_MEMORY_ACCESS);
	if (mask & IB_QP_PKEY_INDEX)
		hw->pkey_index = cpu_to_le16(a->pkey_index);
	if (mask & IB_QP_PORT)
		hw->port = a->port_num;
	if (mask & IB_QP_QKEY)
		hw->qkey = cpu_to_le32(a->qkey);
	if (mask & IB_QP_AV)
		vhca_av_from_ah(&hw->av, &a->ah_attr);
	if (mask & IB_QP_PATH_MTU)
		hw->path_mtu = a->path_mtu;
	if (mask & IB_QP_TIMEOUT)
		hw->timeout = a->timeout;
	if (mask & IB_QP_RETRY_CNT)
		hw->retry_cnt = a->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		hw->rnr_retry = a->rnr_retry;
	if (mask & IB_QP_RQ_PSN)
		hw->rq_psn = cpu_to_le32(a->rq_psn);
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		hw->max_rd_atomic = a->max_rd_atomic;
	if (mask & IB_QP_MIN_RNR_TIMER)
		hw->min_rnr_timer = a->min_rnr_timer;
	if (mask & IB_QP_SQ_PSN)
		hw->sq_psn = cpu_to_le32(a->sq_psn);
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		hw->max_dest_rd_atomic = a->max_dest_rd_atomic;
	if (mask & IB_QP_PATH_MIG_STATE)
		hw->path_mig_state = a->path_mig_state;
	if (mask & IB_QP_DEST_QPN)
		hw->dest_qpn = cpu_to_le32(a->dest_qp_num);
	if (mask & IB_QP_ALT_PATH) {
		hw->alt_pkey_index = cpu_to_le16(a->alt_pkey_index);
		hw->alt_port = a->alt_port_num;
		hw->alt_timeout = a->alt_timeout;
		vhca_av_from_ah(&hw->alt_av, &a->alt_ah_attr);
	}
}

/**
 * vhca_qp_attr_from_hw() - translate the device's attributes of a QP
 * @dev: the device
 * @hw: output of QUERY_QP; its enumerations are checked by the caller
 * @a: filled in, apart from the capabilities
 *
 * Context: any.
 */
void vhca_qp_attr_from_hw(const struct vhca_dev *dev, const struct vhca_qp_attr *hw,
			  struct ib_qp_attr *a)
{
	a->qp_state = hw->state;
	a->cur_qp_state = hw->cur_state;
	a->sq_draining = hw->sq_draining;
	a->en_sqd_async_notify = hw->en_sqd_async_notify;
	a->qp_access_flags = access_from_hw(hw->access);
	a->pkey_index = le16_to_cpu(hw->pkey_index);
	a->alt_pkey_index = le16_to_cpu(hw->alt_pkey_index);
	a->port_num = hw->port;
	a->qkey = le32_to_cpu(hw->qkey);
	a->path_mtu = hw->path_mtu;
	a->path_mig_state = hw->path_mig_state;
	a->rq_psn = le32_to_cpu(hw->rq_psn);
	a->sq_psn = le32_to_cpu(hw->sq_psn);
	a->dest_qp_num = le32_to_cpu(hw->dest_qpn);
	a->timeout = hw->timeout;
	a->retry_cnt = hw->retry_cnt;
	a->rnr_retry = hw->rnr_retry;
	a->min_rnr_timer = hw->min_rnr_timer;
	a->max_rd_atomic = hw->max_rd_atomic;
	a->max_dest_rd_atomic = hw->max_dest_rd_atomic;
	a->alt_port_num = hw->alt_port;
	a->alt_timeout = hw->alt_timeout;
	vhca_av_to_ah(dev, &hw->av, &a->ah_attr);
	vhca_av_to_ah(dev, &hw->alt_av, &a->alt_ah_attr);
}
