// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * User contexts and their mappings: the kick page of their doorbell area, and the doorbell pages,
 * for each of which an mmap entry is added when the area grows.
 */
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "../cmd/cmd.h"
#include "ucontext.h"
#include "udata.h"

#define VHCA_KNOWN_FEATURES	(VHCA_UCTX_F_TIMESTAMP | VHCA_UCTX_F_CLOCK)

/* The mmap entry of a doorbell page. */
struct db_mapping {
	struct rdma_user_mmap_entry entry;
	struct vhca_db_mem *page;
};

static struct vhca_ucontext *uar_to_ucontext(struct vhca_uar *uar)
{
	return container_of(uar, struct vhca_ucontext, uar);
}

static int user_page_added(struct vhca_uar *uar, struct vhca_db_mem *page)
{
	struct db_mapping *map;
	int err;

	map = kzalloc(sizeof(*map), GFP_KERNEL_ACCOUNT);
	if (!map)
		return -ENOMEM;
	map->page = page;
	err = rdma_user_mmap_entry_insert(&uar_to_ucontext(uar)->ibucontext, &map->entry,
					  PAGE_SIZE);
	if (err) {
		kfree(map);
		return err;
	}
	vhca_db_mem_get(page);
	page->priv = map;
	return 0;
}

static void user_page_gone(struct vhca_uar *uar, struct vhca_db_mem *page)
{
	struct db_mapping *map = page->priv;

	page->priv = NULL;
	rdma_user_mmap_entry_remove(&map->entry);
}

static const struct vhca_uar_ops user_uar_ops = {
	.add_page = vhca_uar_add_page_cmd,
	.page_added = user_page_added,
	.page_gone = user_page_gone,
};

/**
 * vhca_db_mmap_offset() - get the mmap offset of the page of a pair of slots
 * @db: the pair, in a user context's area
 *
 * Context: any.
 * Return: offset for mmap().
 */
u64 vhca_db_mmap_offset(const struct vhca_db *db)
{
	struct db_mapping *map = db->page->priv;

	return rdma_user_mmap_get_offset(&map->entry);
}

static u64 features(const struct vhca_dev *dev)
{
	return (vhca_hw_has(&dev->hw, VHCA_CAP_CLOCK) ? VHCA_UCTX_F_TIMESTAMP : 0) |
	       (vhca_hw_has(&dev->hw, VHCA_CAP_CLOCK_QUERY) ? VHCA_UCTX_F_CLOCK : 0);
}

/**
 * vhca_ucontext_answer() - fill in the response that describes a context to its provider
 * @ctx: the context
 * @resp: filled in
 *
 * Context: any.
 */
void vhca_ucontext_answer(struct vhca_ucontext *ctx, struct vhca_uctx_resp *resp)
{
	struct vhca_dev *dev = to_vdev(ctx->ibucontext.device);
	const struct vhca_limits *l = &dev->hw.limits;
	struct vhca_db_mem *page0 = list_first_entry(&ctx->uar.pages, struct vhca_db_mem, list);
	struct db_mapping *map = page0->priv;

	*resp = (struct vhca_uctx_resp) {
		.features = ctx->features,
		.kick_mmap = rdma_user_mmap_get_offset(&ctx->kick),
		.db_mmap = rdma_user_mmap_get_offset(&map->entry),
		.max_inline = l->max_inline,
		.max_send_sge = l->max_send_sge,
		.max_recv_sge = l->max_recv_sge,
		.hw_version = dev->hw.version,
		.has_clock = !!(l->caps & BIT_ULL(VHCA_CAP_CLOCK)),
		.uc_local_inv = vhca_hw_has(&dev->hw, VHCA_CAP_UC_FAST_REG),
		/* Processes have no keys for REG_MR and no IPoIB QPs. */
		.send_ops = dev->send_ops & ~(BIT(VHCA_OP_REG_MR) | BIT(VHCA_OP_LSO)),
	};
}

static int answer_alloc(struct vhca_dev *dev, struct vhca_ucontext *ctx, struct ib_udata *udata)
{
	struct vhca_uctx_resp resp;

	vhca_ucontext_answer(ctx, &resp);
	return vhca_udata_out(dev, udata, "alloc_ucontext", &resp, sizeof(resp), sizeof(resp));
}

static void close_area(struct vhca_dev *dev, struct vhca_ucontext *ctx)
{
	int err = vhca_uar_close(&ctx->uar);

	if (!err)
		return;
	/* The device may still read the pages, so they are not freed. */
	dev_err(dev->hw.dev, "device keeps doorbell area %u (%d)\n", ctx->uar.handle, err);
	vhca_hw_give_up(&dev->hw, "it does not close a doorbell area");
	vhca_uar_exit(&ctx->uar);
}

/**
 * vhca_alloc_ucontext() - ib_device_ops.alloc_ucontext
 * @ibctx: context, which gets a doorbell area of its own
 * @udata: the request of a process
 *
 * Context: may sleep.
 * Return: 0; -EINVAL for a private request of the wrong length; -EOPNOTSUPP for one with unknown
 * fields, or when kick pages cannot be mapped; -ENODEV while the module is unloaded; -EFAULT;
 * -ENOMEM; or an error of commands.
 */
int vhca_alloc_ucontext(struct ib_ucontext *ibctx, struct ib_udata *udata)
{
	struct vhca_dev *dev = to_vdev(ibctx->device);
	struct vhca_ucontext *ctx = to_vucontext(ibctx);
	struct vhca_uctx_req req;
	int err;

	err = vhca_udata_in(dev, udata, "alloc_ucontext", &req, sizeof(req));
	if (err)
		return err;
	/* The provider offers features; the response has those that both sides know. */
	ctx->features = req.features & VHCA_KNOWN_FEATURES & features(dev);

	if (dev->hw.kick_stride % PAGE_SIZE)
		return vhca_refuse(dev->hw.dev, -EOPNOTSUPP,
				   "kick pages are %u bytes apart, processes map %lu",
				   dev->hw.kick_stride, PAGE_SIZE);
	/*
	 * The module cannot be unloaded while contexts exist. Not all cores ensure that; unbinding
	 * the device still removes the contexts.
	 */
	if (!try_module_get(THIS_MODULE))
		return -ENODEV;
	err = vhca_uar_open(&ctx->uar, &dev->hw, &user_uar_ops);
	if (err)
		goto err_module;
	err = rdma_user_mmap_entry_insert(ibctx, &ctx->kick, PAGE_SIZE);
	if (err)
		goto err_close;
	err = answer_alloc(dev, ctx, udata);
	if (err)
		goto err_kick;
	return 0;

err_kick:
	rdma_user_mmap_entry_remove(&ctx->kick);
err_close:
	close_area(dev, ctx);
err_module:
	module_put(THIS_MODULE);
	return err;
}

/**
 * vhca_dealloc_ucontext() - ib_device_ops.dealloc_ucontext
 * @ibctx: context, all of whose objects were destroyed
 *
 * Context: may sleep.
 */
void vhca_dealloc_ucontext(struct ib_ucontext *ibctx)
{
	struct vhca_dev *dev = to_vdev(ibctx->device);
	struct vhca_ucontext *ctx = to_vucontext(ibctx);

	rdma_user_mmap_entry_remove(&ctx->kick);
	close_area(dev, ctx);
	module_put(THIS_MODULE);
}

/**
 * vhca_disassociate_ucontext() - ib_device_ops.disassociate_ucontext
 * @ibctx: context of a device that is being removed
 *
 * There is nothing to do, since the core revokes the mappings itself. The existence of this
 * operation tells the core that the device can be removed while contexts are open.
 *
 * Context: any.
 */
void vhca_disassociate_ucontext(struct ib_ucontext *ibctx)
{
}

static int map_kick(struct vhca_dev *dev, struct vhca_ucontext *ctx, struct vm_area_struct *vma)
{
	phys_addr_t phys = dev->hw.kick_phys + (u64)ctx->uar.handle * dev->hw.kick_stride;

	/* A read would exit to the host and return nothing useful. */
	if (vma->vm_flags & (VM_READ | VM_EXEC))
		return vhca_refuse(dev->hw.dev, -EPERM, "mmap: the kick page is for writing only");
	vm_flags_clear(vma, VM_MAYREAD | VM_MAYEXEC);
	return rdma_user_mmap_io(&ctx->ibucontext, vma, PHYS_PFN(phys), PAGE_SIZE,
				 pgprot_noncached(vma->vm_page_prot), &ctx->kick);
}

static int map_db_page(struct vhca_dev *dev, struct vhca_ucontext *ctx,
		       struct vm_area_struct *vma, struct rdma_user_mmap_entry *entry)
{
	struct db_mapping *map = container_of(entry, struct db_mapping, entry);

	if (vma->vm_flags & VM_EXEC)
		return vhca_refuse(dev->hw.dev, -EPERM, "mmap: doorbell pages are not executable");
	vm_flags_clear(vma, VM_MAYEXEC);
	return rdma_user_mmap_io(&ctx->ibucontext, vma, vhca_db_mem_pfn(map->page), PAGE_SIZE,
				 vma->vm_page_prot, entry);
}

/**
 * vhca_mmap() - ib_device_ops.mmap: map the kick page or a doorbell page
 * @ibctx: context
 * @vma: mapping, at an offset from an earlier response
 *
 * Context: may sleep.
 * Return: 0; -EINVAL if there is nothing at the offset; -EPERM for a readable mapping of the kick
 * page, or an executable one; an error of rdma_user_mmap_io().
 */
int vhca_mmap(struct ib_ucontext *ibctx, struct vm_area_struct *vma)
{
	struct vhca_dev *dev = to_vdev(ibctx->device);
	struct vhca_ucontext *ctx = to_vucontext(ibctx);
	struct rdma_user_mmap_entry *entry;
	int err;

	entry = rdma_user_mmap_entry_get(ibctx, vma);
	if (!entry)
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "mmap: nothing at offset %#lx of %lu pages",
				   vma->vm_pgoff << PAGE_SHIFT, vma_pages(vma));
	if (entry == &ctx->kick)
		err = map_kick(dev, ctx, vma);
	else
		err = map_db_page(dev, ctx, vma, entry);
	rdma_user_mmap_entry_put(entry);
	return err;
}

/**
 * vhca_mmap_free() - ib_device_ops.mmap_free
 * @entry: entry that was removed and has no mappings any more
 *
 * Context: may sleep.
 */
void vhca_mmap_free(struct rdma_user_mmap_entry *entry)
{
	struct vhca_ucontext *ctx = to_vucontext(entry->ucontext);
	struct db_mapping *map;

	if (entry == &ctx->kick)
		return;
	map = container_of(entry, struct db_mapping, entry);
	vhca_db_mem_put(map->page);
	kfree(map);
}
