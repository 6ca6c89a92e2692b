/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Extensions of this stack's kernel API to that of Linux 6.12.
 *
 * Sources that must build against both test for this header:
 *
 *	#if __has_include(<rdma/rdma_ext.h>)
 *
 * Further headers have extensions for subnet administration (<rdma/rdma_ext_sa.h>), the
 * communication manager (<rdma/rdma_ext_cm.h>), events of ports (<rdma/rdma_ext_port.h>), device
 * management (<rdma/rdma_ext_dm.h>), I/O units of other hosts (<rdma/rdma_ext_io.h>), and MADs at
 * other QPs than QP0 and QP1 (<rdma/rdma_ext_mad.h>).
 */
#ifndef RDMA_EXT_H
#define RDMA_EXT_H

#include <rdma/ib_verbs.h>

/*
 * Bits of ib_device_attr.kernel_cap_flags beyond those of 6.12: the same for IPv6 as
 * IB_DEVICE_UD_IP_CSUM and IBK_UD_TSO for IPv4.
 */
#define IBK_UD_IPV6_CSUM	BIT_ULL(32)
#define IBK_UD_IPV6_TSO		BIT_ULL(33)

int rdma_wc_sender(struct ib_device *device, u32 port_num, const struct ib_wc *wc,
		   const struct ib_grh *grh, struct rdma_ah_attr *ah_attr);
bool rdma_wc_sender_is_known(struct ib_device *device, u32 port_num, const struct ib_wc *wc,
			     const struct ib_grh *grh);

/**
 * typedef rdma_destroyed_fn - called at the end of an asynchronous destruction
 * @context: pointer that the consumer passed
 * @err: 0 if the object was destroyed and no event or completion of it follows; a negative
 *	errno if the driver refused to destroy it, after which it is unchanged
 *
 * Called once, from a work queue, where it may sleep.  It must not wait for
 * other destructions: neither unregister the device nor reap objects.
 */
typedef void (*rdma_destroyed_fn)(void *context, int err);

int ib_dealloc_pd_async(struct ib_pd *pd, rdma_destroyed_fn done, void *context);
int ib_destroy_cq_async(struct ib_cq *cq, rdma_destroyed_fn done, void *context);
int ib_destroy_qp_async(struct ib_qp *qp, rdma_destroyed_fn done, void *context);
int ib_dereg_mr_async(struct ib_mr *mr, rdma_destroyed_fn done, void *context);

unsigned int __ib_reap_objects(struct ib_device *device, const char *caller);

/**
 * ib_reap_objects() - destroy all objects that this module has made on a device
 * @device: device, in the client's remove() or later
 *
 * QPs are destroyed before their CQs, and so on; address handles, MRs and asynchronous
 * destructions in progress are included.  The module must not use any of them.
 *
 * Context: may sleep.
 * Return: number of objects that could not be destroyed.
 */
#define ib_reap_objects(device) __ib_reap_objects((device), KBUILD_MODNAME)

/**
 * struct ib_fmr_attr - attributes of a new FMR
 * @max_pages: largest number of pages in one mapping, at least 1
 * @max_maps: maximum number of mappings without an unmapping between them, at least 1
 * @page_shift: pages have 1 << page_shift bytes
 */
struct ib_fmr_attr {
	int	max_pages;
	int	max_maps;
	u8	page_shift;
};

/**
 * struct ib_fmr - memory region that is mapped without a work request; the driver
 * allocates it
 * @device: device
 * @pd: PD
 * @list: for the consumer; ib_unmap_fmr() takes a list of FMRs that are linked by it
 * @lkey: key for local access, changed by each mapping
 * @rkey: key for peers, changed by each mapping
 * @RDMA_OBJECT_BASE: object base
 */
struct ib_fmr {
	struct ib_device	*device;
	struct ib_pd		*pd;
	struct list_head	list;
	u32			lkey;
	u32			rkey;

	RDMA_OBJECT_BASE;
};

/**
 * struct rdma_ext_ops - operations of a driver beyond Linux 6.12, ib_device_ops.ext
 * @req_ncomp_notif: implements ib_req_ncomp_notif(); the count fits in the CQ
 * @alloc_fmr: implements ib_alloc_fmr(); the core has checked that the access flags
 *	exist and that page_shift and the counts are plausible; may sleep
 * @map_phys_fmr: implements ib_map_phys_fmr()
 * @unmap_fmr: implements ib_unmap_fmr(); all FMRs are of this device; may sleep
 * @dealloc_fmr: implements ib_dealloc_fmr(), for mapped FMRs too; may sleep
 * @give_up: ends a device that refuses to destroy an object which has to be destroyed. Afterwards
 *	destruction of its objects waits until the device does no DMA any more, and succeeds
 *
 * Unless stated otherwise they are called in any context and may not sleep.  Any may
 * be NULL, but a driver has either all four operations of FMRs or none.
 */
struct rdma_ext_ops {
	int (*req_ncomp_notif)(struct ib_cq *cq, int wc_cnt);
	struct ib_fmr *(*alloc_fmr)(struct ib_pd *pd, int mr_access_flags,
				    struct ib_fmr_attr *fmr_attr);
	int (*map_phys_fmr)(struct ib_fmr *fmr, u64 *page_list, int list_len, u64 iova);
	int (*unmap_fmr)(struct list_head *fmr_list);
	int (*dealloc_fmr)(struct ib_fmr *fmr);
	void (*give_up)(struct ib_device *device);
};

struct ib_fmr *ib_alloc_fmr(struct ib_pd *pd, int mr_access_flags,
			    struct ib_fmr_attr *fmr_attr);

/**
 * ib_map_phys_fmr() - map pages into an FMR
 * @fmr: FMR; its keys change
 * @page_list: DMA addresses of the pages, each aligned to one
 * @list_len: their number, 1 to the max_pages of the FMR
 * @iova: address of the first byte in work requests, aligned to a page
 *
 * Pages of an earlier call are no longer mapped, though the device may use them
 * until the FMR is unmapped.
 *
 * Context: any; one caller at a time for each FMR.
 * Return: 0 or the driver's error.
 */
static inline int ib_map_phys_fmr(struct ib_fmr *fmr, u64 *page_list, int list_len, u64 iova)
{
	return fmr->device->ops.ext->map_phys_fmr(fmr, page_list, list_len, iova);
}

int ib_unmap_fmr(struct list_head *fmr_list);

int ib_dealloc_fmr(struct ib_fmr *fmr);

/**
 * ib_peek_cq() - count the unpolled completions in a CQ
 * @cq: CQ
 * @wc_cnt: maximum of the result, at least 1
 *
 * No completion is polled: the next poll returns those that were counted.
 *
 * Context: any; like polling, one caller at a time.
 * Return: number of completions, at most @wc_cnt; -EINVAL for a @wc_cnt below 1;
 * -EOPNOTSUPP when the device cannot tell; the driver's error.
 */
static inline int ib_peek_cq(struct ib_cq *cq, int wc_cnt)
{
	const struct ib_device_ops *ops = &cq->device->ops;

	if (wc_cnt < 1)
		return -EINVAL;
	return ops->peek_cq ? ops->peek_cq(cq, wc_cnt) : -EOPNOTSUPP;
}

/**
 * ib_req_ncomp_notif() - request an event when a CQ has a number of unpolled completions
 * @cq: CQ
 * @wc_cnt: number of unpolled completions, 1 to the size of the CQ
 *
 * If an earlier request for fewer completions, also one by ib_req_notify_cq(), has not raised its
 * event yet, only that event is raised.  Completions that are there already are counted, solicited
 * or not.
 *
 * Context: any; like polling, one caller at a time.
 * Return: 0 if the event will be raised; 1 if there are as many completions already, so that there
 * may be no event; -EINVAL for a count that the CQ cannot hold; -EOPNOTSUPP when
 * the device cannot do this; the driver's error.
 */
static inline int ib_req_ncomp_notif(struct ib_cq *cq, int wc_cnt)
{
	const struct rdma_ext_ops *ext = cq->device->ops.ext;

	if (!ext || !ext->req_ncomp_notif)
		return -EOPNOTSUPP;
	if (wc_cnt < 1 || wc_cnt > cq->cqe)
		return -EINVAL;
	return ext->req_ncomp_notif(cq, wc_cnt);
}

/* The name of rdma_set_cq_moderation() before Linux 4.16. */
static inline int ib_modify_cq(struct ib_cq *cq, u16 cq_count, u16 cq_period)
{
	return rdma_set_cq_moderation(cq, cq_count, cq_period);
}

struct ib_device *ib_device_get_by_guid(__be64 guid);
struct ib_device *ib_device_get_by_gid(const union ib_gid *gid, u32 *port_num);
struct ib_device *ib_device_get_by_port_guid(__be64 guid, u32 *port_num);

struct ib_mad;
int ib_local_mad(struct ib_device *device, u32 port_num, int mad_flags, const struct ib_mad *in,
		 struct ib_mad *out);

struct ib_mad_agent;
struct ib_mad_recv_wc;
struct ib_mad_send_buf;
struct ib_mad_send_buf *ib_create_mad_reply(struct ib_mad_agent *agent,
					    const struct ib_mad_recv_wc *recv, int hdr_len,
					    int data_len);
void ib_free_mad_reply(struct ib_mad_send_buf *reply);

#endif /* RDMA_EXT_H */
