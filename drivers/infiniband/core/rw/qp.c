// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * R/W contexts: when a device uses MRs for them, which resources a QP needs for them, and kernel
 * QPs with these resources.
 */
#include <kunit/visibility.h>
#include <linux/moduleparam.h>
#include <linux/overflow.h>
#include <rdma/mr_pool.h>

#include "../verbs/verbs.h"
#include "rw_priv.h"

/* Pages of one MR. Larger MRs would mostly stay empty. */
#define RW_MR_PAGES	256U

static bool force_mr;
module_param(force_mr, bool, 0);
MODULE_PARM_DESC(force_mr, "R/W contexts register memory, whatever the device is better at");

/**
 * rw_uses_mrs() - does a transfer go through MRs?
 * @device: device
 * @port_num: port
 * @dir: direction, as for rdma_rw_ctx_init()
 * @entries: number of DMA-mapped entries of the scatter list
 *
 * Return: true if so, even if no MR is left: a QP's send queue has room for the requests of its
 * MRs, but not for the number of requests that transfers without MRs would need.
 */
bool rw_uses_mrs(struct ib_device *device, u32 port_num, enum dma_data_direction dir, u32 entries)
{
	u32 most = device->attrs.max_sgl_rd;

	if (force_mr)
		return true;
	if (dir != DMA_FROM_DEVICE)
		return false;
	return rdma_protocol_iwarp(device, port_num) || (most && entries > most);
}

/**
 * rw_pages_per_mr() - pages of the MRs of R/W contexts
 * @device: device
 * @integrity: for MRs with protection fields
 *
 * Return: pages, at least 1.
 */
u32 rw_pages_per_mr(const struct ib_device *device, bool integrity)
{
	u32 most = integrity ? device->attrs.max_pi_fast_reg_page_list_len :
			       device->attrs.max_fast_reg_page_list_len;

	return clamp(most, 1U, RW_MR_PAGES);
}

/* May any transfer on the port go through MRs? */
static bool rw_has_mrs(struct ib_device *device, u32 port_num)
{
	return rw_uses_mrs(device, port_num, DMA_FROM_DEVICE, U32_MAX);
}

/**
 * rdma_rw_mr_factor() - number of contexts that a payload needs
 * @device: device
 * @port_num: port
 * @maxpages: number of pages of the largest payload
 *
 * Context: any.
 * Return: number of MRs, or of work requests if no MRs are used.
 */
unsigned int rdma_rw_mr_factor(struct ib_device *device, u32 port_num, unsigned int maxpages)
{
	u32 pages = rw_has_mrs(device, port_num) ? rw_pages_per_mr(device, false) :
						   max(device->attrs.max_sge_rd, 1);

	return DIV_ROUND_UP(maxpages, pages);
}
EXPORT_SYMBOL(rdma_rw_mr_factor);

/**
 * rdma_rw_max_send_wr() - number of send requests that contexts need
 * @dev: device
 * @port_num: port
 * @max_rdma_ctxs: number of contexts
 * @create_flags: only IB_QP_CREATE_INTEGRITY_EN is used
 *
 * Context: any.
 * Return: the number: for each context a transfer, and if MRs are used an invalidation and a
 * registration; UINT_MAX if it is larger.
 */
unsigned int rdma_rw_max_send_wr(struct ib_device *dev, u32 port_num, unsigned int max_rdma_ctxs,
				 u32 create_flags)
{
	bool mrs = (create_flags & IB_QP_CREATE_INTEGRITY_EN) || rw_has_mrs(dev, port_num);
	unsigned int wrs;

	return check_mul_overflow(max_rdma_ctxs, mrs ? 3U : 1U, &wrs) ? UINT_MAX : wrs;
}
EXPORT_SYMBOL(rdma_rw_max_send_wr);

/**
 * rdma_rw_init_qp() - make room for contexts in the attributes of a new QP
 * @dev: device
 * @attr: attributes; max_send_wr grows for cap.max_rdma_ctxs, up to the limit of the device
 *
 * Context: any.
 */
void rdma_rw_init_qp(struct ib_device *dev, struct ib_qp_init_attr *attr)
{
	u32 wrs = rdma_rw_max_send_wr(dev, attr->port_num, attr->cap.max_rdma_ctxs,
				      attr->create_flags);

	WARN_ON_ONCE(!attr->port_num);
	if (check_add_overflow(attr->cap.max_send_wr, wrs, &wrs))
		wrs = U32_MAX;
	attr->cap.max_send_wr = min_t(u32, wrs, dev->attrs.max_qp_wr);
}
EXPORT_SYMBOL_IF_KUNIT(rdma_rw_init_qp);

/**
 * rdma_rw_init_mrs() - allocate the MR pools of a QP for its contexts
 * @qp: QP
 * @attr: the attributes that it was created with
 *
 * Context: may sleep.
 * Return: 0, or the error of allocating an MR, after which the pools are empty.
 */
int rdma_rw_init_mrs(struct ib_qp *qp, struct ib_qp_init_attr *attr)
{
	bool integrity = attr->create_flags & IB_QP_CREATE_INTEGRITY_EN;
	u32 pages = rw_pages_per_mr(qp->device, integrity);
	int ret = 0;

	if (integrity || rw_has_mrs(qp->device, attr->port_num))
		ret = ib_mr_pool_init(qp, &qp->rdma_mrs, attr->cap.max_rdma_ctxs,
				      IB_MR_TYPE_MEM_REG, pages, 0);
	if (!ret && integrity) {
		ret = ib_mr_pool_init(qp, &qp->sig_mrs, attr->cap.max_rdma_ctxs,
				      IB_MR_TYPE_INTEGRITY, pages, pages);
		if (ret)
			ib_mr_pool_destroy(qp, &qp->rdma_mrs);
	}
	return ret;
}

/**
 * rdma_rw_cleanup_mrs() - free the MR pools of a QP
 * @qp: QP whose contexts have ended
 *
 * Context: may sleep.
 */
void rdma_rw_cleanup_mrs(struct ib_qp *qp)
{
	ib_mr_pool_destroy(qp, &qp->sig_mrs);
	ib_mr_pool_destroy(qp, &qp->rdma_mrs);
}

/**
 * ib_create_qp_kernel() - create a QP for a kernel consumer
 * @pd: PD
 * @attr: attributes; receives the actual sizes. With cap.max_rdma_ctxs the send queue gets room for
 *	this number of R/W contexts, and the QP the MRs that they need on attr->port_num
 * @caller: the consumer's KBUILD_MODNAME
 *
 * Context: may sleep.
 * Return: the QP, to be destroyed with ib_destroy_qp(), or an ERR_PTR.
 */
struct ib_qp *ib_create_qp_kernel(struct ib_pd *pd, struct ib_qp_init_attr *attr,
				  const char *caller)
{
	struct ib_device *device = pd->device;
	struct ib_qp *qp;
	int ret;

	if (attr->cap.max_rdma_ctxs)
		rdma_rw_init_qp(device, attr);
	qp = rdma_qp_create(device, pd, attr, NULL, NULL, caller);
	if (IS_ERR(qp))
		return qp;
	ret = attr->cap.max_rdma_ctxs ? rdma_rw_init_mrs(qp, attr) : 0;
	if (ret) {
		WARN_ON_ONCE(ib_destroy_qp(qp));
		return ERR_PTR(ret);
	}
	qp->max_write_sge = attr->cap.max_send_sge;
	qp->max_read_sge = min_t(u32, attr->cap.max_send_sge, device->attrs.max_sge_rd);
	qp->integrity_en = attr->create_flags & IB_QP_CREATE_INTEGRITY_EN;
	return qp;
}
EXPORT_SYMBOL(ib_create_qp_kernel);
