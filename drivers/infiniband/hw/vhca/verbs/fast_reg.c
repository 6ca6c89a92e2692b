// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory keys that are registered by work requests: the consumer maps a scatter list, which fills
 * the key's list, and posts a request by which the device reads that list.
 */
#include <linux/dma-mapping.h>
#include <linux/log2.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <kunit/visibility.h>

#include "../cmd/cmd.h"
#include "mr.h"
#include "pd.h"

static int check_alloc(struct vhca_dev *dev, enum ib_mr_type type, u32 max_num_sg)
{
	if (type != IB_MR_TYPE_MEM_REG &&
	    !(type == IB_MR_TYPE_SG_GAPS && vhca_hw_has(&dev->hw, VHCA_CAP_SG_GAPS)))
		return vhca_refuse(dev->hw.dev, -EOPNOTSUPP, "alloc_mr: type %d is not supported",
				   type);
	if (!max_num_sg || max_num_sg > dev->hw.limits.max_reg_entries)
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "alloc_mr: max_num_sg %u is not 1 to the device's limit %u",
				   max_num_sg, dev->hw.limits.max_reg_entries);
	return 0;
}

static size_t list_size(bool gaps, u32 entries)
{
	return entries * (gaps ? sizeof(struct vhca_sg_entry) : sizeof(__le64));
}

/**
 * vhca_make_fast_key() - create a key with a list in the device
 * @fast: the key, zeroed except for its list, which was allocated
 * @ibpd: protection domain
 * @type: VHCA_MKEY_FAST, _FAST_SG or _INTEGRITY
 * @max: maximum number of entries of the list
 *
 * Context: may sleep.
 * Return: 0 or an error of the command.
 */
int vhca_make_fast_key(struct vhca_fast_mr *fast, struct ib_pd *ibpd, u8 type, u32 max)
{
	struct vhca_create_mkey_req req = {
		.buf = {
			.addr = cpu_to_le64(fast->list.dma),
			.npages = cpu_to_le32(max),
			.levels = 1,
		},
		.pdn = cpu_to_le32(to_vpd(ibpd)->pdn),
		.type = type,
		.variant = vhca_next_variant(),
	};
	u32 key;
	int err;

	err = vhca_cmd_create_mkey(&to_vdev(ibpd->device)->hw, &req, &key);
	if (err)
		return err;
	fast->mr.fast = true;
	fast->mr.ibmr.lkey = key;
	fast->mr.ibmr.rkey = key;
	fast->gaps = type != VHCA_MKEY_FAST;
	fast->max = max;
	return 0;
}

/**
 * vhca_alloc_mr() - ib_device_ops.alloc_mr
 * @ibpd: protection domain
 * @type: IB_MR_TYPE_MEM_REG: pages; IB_MR_TYPE_SG_GAPS: pieces of any kind
 * @max_num_sg: entries of its list
 *
 * Context: may sleep.
 * Return: the key, or an error pointer.
 */
struct ib_mr *vhca_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_num_sg)
{
	struct vhca_dev *dev = to_vdev(ibpd->device);
	bool gaps = type == IB_MR_TYPE_SG_GAPS;
	struct vhca_fast_mr *fast;
	int err;

	err = check_alloc(dev, type, max_num_sg);
	if (err)
		return ERR_PTR(err);
	fast = kzalloc(sizeof(*fast), GFP_KERNEL);
	if (!fast)
		return ERR_PTR(-ENOMEM);
	err = vhca_list_alloc(&fast->list, dev->hw.dev, list_size(gaps, max_num_sg));
	if (err)
		goto err_mr;
	err = vhca_make_fast_key(fast, ibpd, gaps ? VHCA_MKEY_FAST_SG : VHCA_MKEY_FAST,
				 max_num_sg);
	if (err)
		goto err_list;
	return &fast->mr.ibmr;

err_list:
	vhca_list_free(&fast->list);
err_mr:
	kfree(fast);
	return ERR_PTR(err);
}

/**
 * vhca_free_fast_mr() - free a key of vhca_alloc_mr() or vhca_alloc_mr_integrity()
 * @mr: the key, which was destroyed in the device
 *
 * Context: may sleep.
 */
void vhca_free_fast_mr(struct vhca_mr *mr)
{
	struct vhca_fast_mr *fast = to_vfast(mr);

	if (fast->pi)
		dma_free_coherent(fast->list.dev, fast->list.size, fast->pi, fast->list.dma);
	else
		vhca_list_free(&fast->list);
	kfree(fast);
}

static int add_page(struct ib_mr *ibmr, u64 addr)
{
	struct vhca_fast_mr *fast = to_vfast(to_vmr(ibmr));
	__le64 *pages = fast->list.va;

	if (fast->entries == fast->max)
		return -ENOMEM;
	pages[fast->entries++] = cpu_to_le64(addr);
	return 0;
}

static int map_pages(struct vhca_fast_mr *fast, struct scatterlist *sg, int nents,
		     unsigned int *offset)
{
	struct ib_mr *ibmr = &fast->mr.ibmr;
	struct vhca_dev *dev = to_vdev(ibmr->device);

	if (!is_power_of_2(ibmr->page_size) ||
	    !(dev->hw.limits.page_sizes & ibmr->page_size))
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "map_mr_sg: page_size %u is none of the device's (%#llx)",
				   ibmr->page_size, dev->hw.limits.page_sizes);
	return ib_sg_to_pages(ibmr, sg, nents, offset, add_page);
}

/**
 * vhca_take_pieces() - convert a scatter list to a list of pieces
 * @p: @entry and @max are set, the rest is filled in
 * @dev: device
 * @sgl: the memory, mapped for DMA
 * @nents: entries of @sgl
 * @offset: bytes to skip in the first entry, becomes 0; or NULL
 *
 * Contiguous pieces share an entry, which may have any length.
 *
 * Context: any.
 * Return: number of entries of @sgl that were converted, perhaps not all; -EINVAL.
 */
int vhca_take_pieces(struct vhca_pieces *p, struct device *dev, struct scatterlist *sgl, int nents,
		     unsigned int *offset)
{
	u64 skip = offset ? *offset : 0;
	u64 addr, end = 0, len;
	struct scatterlist *sg;
	int i;

	p->n = 0;
	p->length = 0;
	if (nents <= 0)
		return vhca_refuse(dev, -EINVAL, "map_mr_sg or _pi: %d pieces", nents);
	if (skip > sg_dma_len(sgl))
		return vhca_refuse(dev, -EINVAL,
				   "map_mr_sg or _pi: offset %llu, first piece %u bytes", skip,
				   sg_dma_len(sgl));
	if (offset)
		*offset = 0;
	p->start = sg_dma_address(sgl) + skip;
	for_each_sg(sgl, sg, nents, i) {
		addr = sg_dma_address(sg) + skip;
		len = sg_dma_len(sg) - skip;
		skip = 0;
		if (!len)
			continue;
		if (!p->n || addr != end) {
			if (p->n == p->max)
				break;
			p->entry[p->n++].addr = cpu_to_le64(addr);
		}
		p->length += len;
		p->entry[p->n - 1].end = cpu_to_le64(p->length);
		end = addr + len;
	}
	return i;
}

static int map_pieces(struct vhca_fast_mr *fast, struct scatterlist *sgl, int nents,
		      unsigned int *offset)
{
	struct vhca_pieces p = { .entry = fast->list.va, .max = fast->max };
	struct ib_mr *ibmr = &fast->mr.ibmr;
	int n;

	n = vhca_take_pieces(&p, to_vdev(ibmr->device)->hw.dev, sgl, nents, offset);
	if (n < 0)
		return n;
	fast->entries = p.n;
	ibmr->iova = p.start;
	ibmr->length = p.length;
	return n;
}

/**
 * vhca_map_mr_sg() - ib_device_ops.map_mr_sg
 * @ibmr: key of vhca_alloc_mr() that is not registered; its page_size is set
 * @sg: the memory, mapped for DMA
 * @nents: entries of @sg
 * @offset: bytes to skip in the first entry; receives, after a partial mapping, the bytes mapped of
 *	    the entry that did not fit; or NULL
 *
 * Context: any.
 * Return: number of entries of @sg that were mapped, perhaps not all; -EINVAL, also for a page size
 * that the device does not have or a key of another type; -ENOMEM if no page fits.
 */
int vhca_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents, unsigned int *offset)
{
	struct vhca_dev *dev = to_vdev(ibmr->device);
	struct vhca_mr *mr = to_vmr(ibmr);
	struct vhca_fast_mr *fast;
	int n;

	if (!mr->fast || to_vfast(mr)->pi)
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "map_mr_sg: key %#x was not made for fast registration",
				   ibmr->lkey);
	fast = to_vfast(mr);
	vhca_list_begin(&fast->list);
	fast->entries = 0;
	n = fast->gaps ? map_pieces(fast, sg, nents, offset) : map_pages(fast, sg, nents, offset);
	vhca_list_end(&fast->list);
	if (n < 0)
		fast->entries = 0;
	fast->start = ibmr->iova;
	return n;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_map_mr_sg);
