// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * FMRs: memory regions that are mapped by a call instead of a work request; Linux had
 * them until 5.7.  Drivers allocate and free them.
 */
#include <rdma/rdma_ext.h>
#include "verbs_priv.h"

static int fmr_destroy(struct rdma_object *obj, struct ib_udata *udata)
{
	struct ib_fmr *fmr = container_of(obj, struct ib_fmr, obj);

	return fmr->device->ops.ext->dealloc_fmr(fmr);
}

static const struct rdma_object_ops fmr_ops = {
	.destroy = fmr_destroy,
};

static int fmr_check_attr(struct ib_device *device, int access, const struct ib_fmr_attr *attr)
{
	if (attr->max_pages < 1)
		return rdma_refuse(-EINVAL, "FMR: max_pages %d", attr->max_pages);
	if (attr->max_maps < 1)
		return rdma_refuse(-EINVAL, "FMR: max_maps %d", attr->max_maps);
	if (attr->page_shift >= BITS_PER_TYPE(u64))
		return rdma_refuse(-EINVAL, "FMR: page_shift %u", attr->page_shift);
	return ib_check_mr_access(device, access);
}

/**
 * ib_alloc_fmr() - make an FMR without mappings
 * @pd: PD
 * @mr_access_flags: enum ib_access_flags
 * @fmr_attr: attributes
 *
 * Context: may sleep.
 * Return: the FMR, to be destroyed with ib_dealloc_fmr(); -EOPNOTSUPP when the device
 * has none, -EINVAL, or the driver's error as an ERR_PTR.
 */
struct ib_fmr *ib_alloc_fmr(struct ib_pd *pd, int mr_access_flags, struct ib_fmr_attr *fmr_attr)
{
	const struct rdma_ext_ops *ext = pd->device->ops.ext;
	struct ib_fmr *fmr;
	int ret;

	if (!ext || !ext->alloc_fmr)
		return ERR_PTR(rdma_refuse(-EOPNOTSUPP, "the device has no FMRs"));
	ret = fmr_check_attr(pd->device, mr_access_flags, fmr_attr);
	if (ret)
		return ERR_PTR(ret);
	fmr = ext->alloc_fmr(pd, mr_access_flags, fmr_attr);
	if (IS_ERR(fmr))
		return fmr;

	fmr->device = pd->device;
	fmr->pd = pd;
	INIT_LIST_HEAD(&fmr->list);
	verbs_object_init_under(&fmr->obj, RDMA_OBJECT_FMR, pd, &fmr_ops);
	ret = rdma_object_link(&fmr->obj, &pd->obj);
	if (ret) {
		rdma_object_abort(&fmr->obj);
		WARN_ON_ONCE(ext->dealloc_fmr(fmr));
		return ERR_PTR(ret);
	}
	rdma_object_publish(&fmr->obj);
	return fmr;
}
EXPORT_SYMBOL(ib_alloc_fmr);

/**
 * ib_unmap_fmr() - end all mappings of some FMRs
 * @fmr_list: FMRs of one device, linked by their list members; the list is not changed
 *
 * After this has returned 0 the device does not access the memory that was mapped.
 *
 * Context: may sleep.
 * Return: 0, also for an empty list; -EINVAL for FMRs of several devices; the
 * driver's error.
 */
int ib_unmap_fmr(struct list_head *fmr_list)
{
	struct ib_device *device;
	struct ib_fmr *fmr;

	if (list_empty(fmr_list))
		return 0;
	device = list_first_entry(fmr_list, struct ib_fmr, list)->device;
	list_for_each_entry(fmr, fmr_list, list)
		if (fmr->device != device)
			return rdma_refuse(-EINVAL, "FMRs of several devices in one list");
	return device->ops.ext->unmap_fmr(fmr_list);
}
EXPORT_SYMBOL(ib_unmap_fmr);

/**
 * ib_dealloc_fmr() - destroy an FMR
 * @fmr: the FMR, mapped or not; freed if 0 is returned
 *
 * Context: may sleep.
 * Return: 0 or the driver's error.
 */
int ib_dealloc_fmr(struct ib_fmr *fmr)
{
	return rdma_object_destroy(&fmr->obj, NULL);
}
EXPORT_SYMBOL(ib_dealloc_fmr);
