// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * FMRs: keys that are mapped by writing to memory which the device reads with every access.
 *
 * Record and list are in one piece of coherent memory. By a sequence number the device notices that
 * they are being changed, or have changed while it read them.
 */
#include <linux/dma-mapping.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <kunit/visibility.h>

#include "../cmd/cmd.h"
#include "mr.h"
#include "pd.h"

#ifdef VHCA_HAVE_EXT

static_assert(sizeof(struct vhca_fmr) % sizeof(__le64) == 0);

static __le64 *page_list(struct vhca_map *map)
{
	return (__le64 *)(map->rec + 1);
}

static size_t memory_size(const struct vhca_map *map)
{
	return sizeof(*map->rec) + map->max_pages * sizeof(__le64);
}

static int check_attr(struct vhca_dev *dev, int access, const struct ib_fmr_attr *attr)
{
	const struct vhca_limits *l = &dev->hw.limits;

	if (access & (IB_ACCESS_MW_BIND | IB_ZERO_BASED))
		return vhca_refuse(dev->hw.dev, -EOPNOTSUPP, "FMR: access flags %#x", access);
	if (attr->max_pages > l->max_reg_entries)
		return vhca_refuse(dev->hw.dev, -EINVAL, "FMR: max_pages %d > device limit %u",
				   attr->max_pages, l->max_reg_entries);
	if (!(l->page_sizes & BIT_ULL(attr->page_shift)))
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "FMR: page_shift %u: not one of the device's page sizes %#llx",
				   attr->page_shift, l->page_sizes);
	return vhca_check_access(dev, access);
}

/**
 * vhca_alloc_fmr() - rdma_ext_ops.alloc_fmr
 * @ibpd: protection domain
 * @access: IB_ACCESS_*
 * @attr: its attributes
 *
 * Context: may sleep.
 * Return: the FMR, or an error pointer.
 */
struct ib_fmr *vhca_alloc_fmr(struct ib_pd *ibpd, int access, struct ib_fmr_attr *attr)
{
	struct vhca_dev *dev = to_vdev(ibpd->device);
	struct vhca_create_mkey_req req = {
		.buf = {
			.npages = cpu_to_le32(attr->max_pages),
			.page_shift = attr->page_shift,
			.levels = 1,
		},
		.pdn = cpu_to_le32(to_vpd(ibpd)->pdn),
		.access = cpu_to_le32(vhca_access_to_hw(access)),
		.type = VHCA_MKEY_FMR,
		.variant = vhca_next_variant(),
	};
	struct vhca_map *map;
	u32 key;
	int err;

	err = check_attr(dev, access, attr);
	if (err)
		return ERR_PTR(err);
	map = kzalloc(sizeof(*map), GFP_KERNEL);
	if (!map)
		return ERR_PTR(-ENOMEM);
	map->max_pages = attr->max_pages;
	map->max_maps = attr->max_maps;
	map->page_shift = attr->page_shift;
	map->rec = dma_alloc_coherent(dev->hw.dev, memory_size(map), &map->dma, GFP_KERNEL);
	if (!map->rec) {
		err = -ENOMEM;
		goto err_map;
	}
	req.iova = cpu_to_le64(map->dma);
	req.buf.addr = cpu_to_le64(map->dma + sizeof(*map->rec));
	err = vhca_cmd_create_mkey(&dev->hw, &req, &key);
	if (err)
		goto err_rec;
	map->ibfmr.lkey = key;
	map->ibfmr.rkey = key;
	return &map->ibfmr;

err_rec:
	dma_free_coherent(dev->hw.dev, memory_size(map), map->rec, map->dma);
err_map:
	kfree(map);
	return ERR_PTR(err);
}

static int check_map(struct vhca_map *map, const u64 *pages, int n, u64 iova)
{
	struct device *dev = to_vdev(map->ibfmr.device)->hw.dev;
	u64 in_page = BIT_ULL(map->page_shift) - 1;
	u64 end;

	if (n < 1 || n > map->max_pages)
		return vhca_refuse(dev, -EINVAL, "FMR: %d pages are not 1 to max_pages %u", n,
				   map->max_pages);
	if (map->maps == map->max_maps)
		return vhca_refuse(dev, -EINVAL, "FMR: mapped max_maps %u times without unmapping",
				   map->max_maps);
	if (iova & in_page || check_add_overflow(iova, (u64)n << map->page_shift, &end))
		return vhca_refuse(dev, -EINVAL, "FMR: iova %#llx with page_shift %u", iova,
				   map->page_shift);
	for (int i = 0; i < n; i++)
		if (pages[i] & in_page)
			return vhca_refuse(dev, -EINVAL, "FMR: page at %#llx with page_shift %u",
					   pages[i], map->page_shift);
	return 0;
}

/* From here until change_end() the device refuses every access. */
static void change_begin(struct vhca_map *map)
{
	WRITE_ONCE(map->rec->seq, cpu_to_le32(++map->seq));
	/* The number must be odd before anything else changes. */
	dma_wmb();
}

static void change_end(struct vhca_map *map)
{
	/* The changes must be visible before the even number. */
	dma_wmb();
	WRITE_ONCE(map->rec->seq, cpu_to_le32(++map->seq));
}

/**
 * vhca_map_phys_fmr() - rdma_ext_ops.map_phys_fmr
 * @ibfmr: FMR, mapped or not; its keys change. The caller serialises mappings of it.
 * @pages: DMA addresses
 * @n: their number
 * @iova: address of the first byte
 *
 * Context: any.
 * Return: 0; -EINVAL for too many pages or mappings, or addresses that are not aligned to pages,
 * and then the FMR maps what it mapped before.
 */
int vhca_map_phys_fmr(struct ib_fmr *ibfmr, u64 *pages, int n, u64 iova)
{
	struct vhca_map *map = container_of(ibfmr, struct vhca_map, ibfmr);
	__le64 *list = page_list(map);
	u32 key = ib_inc_rkey(ibfmr->rkey);
	int err;

	err = check_map(map, pages, n, iova);
	if (err)
		return err;
	change_begin(map);
	for (int i = 0; i < n; i++)
		WRITE_ONCE(list[i], cpu_to_le64(pages[i]));
	WRITE_ONCE(map->rec->key, cpu_to_le32(key));
	WRITE_ONCE(map->rec->iova, cpu_to_le64(iova));
	WRITE_ONCE(map->rec->length, cpu_to_le64((u64)n << map->page_shift));
	WRITE_ONCE(map->rec->npages, cpu_to_le32(n));
	change_end(map);
	map->maps++;
	ibfmr->lkey = key;
	ibfmr->rkey = key;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_map_phys_fmr);

/**
 * vhca_fmr_clear() - remove the mapping of an FMR
 * @ibfmr: the FMR
 *
 * An access that began before may still be in progress.
 *
 * Context: any.
 */
void vhca_fmr_clear(struct ib_fmr *ibfmr)
{
	struct vhca_map *map = container_of(ibfmr, struct vhca_map, ibfmr);

	change_begin(map);
	WRITE_ONCE(map->rec->npages, 0);
	change_end(map);
	map->maps = 0;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_fmr_clear);

/**
 * vhca_unmap_fmr() - rdma_ext_ops.unmap_fmr
 * @list: FMRs of one device, by ib_fmr.list; may be empty
 *
 * Waits until the device does not access the memory any more; on a dead device that is the case.
 *
 * Context: may sleep.
 * Return: 0; or an error of commands.
 */
int vhca_unmap_fmr(struct list_head *list)
{
	struct ib_fmr *ibfmr;
	struct vhca_dev *dev;

	if (list_empty(list))
		return 0;
	dev = to_vdev(list_first_entry(list, struct ib_fmr, list)->device);
	list_for_each_entry(ibfmr, list, list)
		vhca_fmr_clear(ibfmr);
	return vhca_hw_settle(&dev->hw, vhca_cmd_fence_mkeys(&dev->hw));
}

/**
 * vhca_dealloc_fmr() - rdma_ext_ops.dealloc_fmr
 * @ibfmr: FMR, mapped or not
 *
 * Context: may sleep.
 * Return: 0; or an error of commands, after which the FMR is unchanged.
 */
int vhca_dealloc_fmr(struct ib_fmr *ibfmr)
{
	struct vhca_map *map = container_of(ibfmr, struct vhca_map, ibfmr);
	struct vhca_dev *dev = to_vdev(ibfmr->device);
	int err;

	err = vhca_hw_settle(&dev->hw, vhca_cmd_destroy_mkey(&dev->hw, ibfmr->rkey));
	if (err)
		return err;
	dma_free_coherent(dev->hw.dev, memory_size(map), map->rec, map->dma);
	kfree(map);
	return 0;
}

#endif
