/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * User memory pinned for a device.
 */
#ifndef IB_UMEM_H
#define IB_UMEM_H

#include <linux/err.h>
#include <linux/list.h>
#include <linux/scatterlist.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

struct dma_buf_attach_ops;
struct ib_ucontext;
struct ib_umem_odp;

/**
 * struct ib_umem - a range of a process's memory
 * @ibdev: device
 * @owning_mm: address space that is charged for it
 * @iova: address that the device uses; set by ib_umem_find_best_pgsz()
 * @length: bytes
 * @address: address in the process
 * @writable: the device may write
 * @is_odp: embedded in a struct ib_umem_odp
 * @is_dmabuf: embedded in a struct ib_umem_dmabuf
 * @sgt_append: DMA addresses of its pages
 */
struct ib_umem {
	struct ib_device       *ibdev;
	struct mm_struct       *owning_mm;
	u64 iova;
	size_t			length;
	unsigned long		address;
	u32 writable : 1;
	u32 is_odp : 1;
	u32 is_dmabuf : 1;
	struct sg_append_table sgt_append;
};

/**
 * struct ib_umem_dmabuf - a range of a dma-buf
 * @umem: base
 * @attach: attachment
 * @sgt: mapping, NULL when not mapped
 * @first_sg: first entry of @sgt in the range
 * @last_sg: last entry of @sgt in the range
 * @first_sg_offset: bytes cut off the first entry
 * @last_sg_trim: bytes cut off the last
 * @pinned_revoke: called when a pinned buffer is revoked
 * @private: argument of @pinned_revoke
 * @pinned: the exporter may not move the buffer
 * @revoked: the buffer was revoked
 */
struct ib_umem_dmabuf {
	struct ib_umem umem;
	struct dma_buf_attachment *attach;
	struct sg_table *sgt;
	struct scatterlist *first_sg;
	struct scatterlist *last_sg;
	unsigned long first_sg_offset;
	unsigned long last_sg_trim;
	void (*pinned_revoke)(void *priv);
	void *private;
	u8 pinned : 1;
	u8 revoked : 1;
};

static inline struct ib_umem_dmabuf *to_ib_umem_dmabuf(struct ib_umem *umem)
{
	return container_of(umem, struct ib_umem_dmabuf, umem);
}

/**
 * ib_umem_offset() - get the offset of the range in its first page
 * @umem: user memory
 *
 * Return: bytes, less than a page.
 */
static inline int ib_umem_offset(struct ib_umem *umem)
{
	return offset_in_page(umem->address);
}

/**
 * ib_umem_dma_offset() - get the offset of the range in its first block
 * @umem: user memory
 * @pgsz: bytes of a block, a power of two
 *
 * Return: bytes, less than @pgsz.
 */
static inline unsigned long ib_umem_dma_offset(struct ib_umem *umem, unsigned long pgsz)
{
	dma_addr_t first = sg_dma_address(umem->sgt_append.sgt.sgl);

	return (first + ib_umem_offset(umem)) % pgsz;
}

/**
 * ib_umem_num_dma_blocks() - get the number of blocks that the range covers
 * @umem: user memory with its iova set
 * @pgsz: bytes of a block, a power of two
 *
 * Return: number of blocks, including those that it covers in part.
 */
static inline size_t ib_umem_num_dma_blocks(struct ib_umem *umem, unsigned long pgsz)
{
	u64 start = ALIGN_DOWN(umem->iova, pgsz);
	u64 end = ALIGN(umem->iova + umem->length, pgsz);

	return (size_t)(end - start) / pgsz;
}

/**
 * ib_umem_num_pages() - get the number of pages that the range covers
 * @umem: user memory
 *
 * Return: number of pages, including those that it covers in part.
 */
static inline size_t ib_umem_num_pages(struct ib_umem *umem)
{
	return ib_umem_num_dma_blocks(umem, PAGE_SIZE);
}

#ifdef CONFIG_INFINIBAND_USER_MEM

struct ib_umem *ib_umem_get(struct ib_device *device, unsigned long addr,
			    size_t size, int access);

void ib_umem_release(struct ib_umem *umem);

int ib_umem_copy_from(void *dst, struct ib_umem *umem, size_t offset,
		      size_t length);

unsigned long ib_umem_find_best_pgsz(struct ib_umem *umem,
				     unsigned long pgsz_bitmap,
				     u64 virt);

/**
 * ib_umem_find_best_pgoff() - find the largest block size for memory that is not mapped at an iova
 * @umem: user memory
 * @pgsz_bitmap: block sizes that the device supports
 * @pgoff_bitmask: bits of the first DMA address that the device supports as an offset
 *
 * Return: the size, or 0 if none fits.
 */
static inline unsigned long ib_umem_find_best_pgoff(struct ib_umem *umem,
						    unsigned long pgsz_bitmap,
						    u64 pgoff_bitmask)
{
	u64 first = sg_dma_address(umem->sgt_append.sgt.sgl);

	return ib_umem_find_best_pgsz(umem, pgsz_bitmap,
				      (first + ib_umem_offset(umem)) & pgoff_bitmask);
}

struct ib_umem_dmabuf *ib_umem_dmabuf_get(struct ib_device *device,
					  unsigned long offset, size_t size,
					  int fd, int access,
					  const struct dma_buf_attach_ops *ops);

struct ib_umem_dmabuf *ib_umem_dmabuf_get_pinned(struct ib_device *device,
						 unsigned long offset,
						 size_t size, int fd,
						 int access);

struct ib_umem_dmabuf *
ib_umem_dmabuf_get_pinned_revocable_and_lock(struct ib_device *device,
					     unsigned long offset, size_t size,
					     int fd, int access);

void ib_umem_dmabuf_set_revoke_locked(struct ib_umem_dmabuf *umem_dmabuf,
				      void (*revoke)(void *priv), void *priv);

struct ib_umem_dmabuf *
ib_umem_dmabuf_get_pinned_with_dma_device(struct ib_device *device,
					  struct device *dma_device,
					  unsigned long offset, size_t size,
					  int fd, int access);

int ib_umem_dmabuf_map_pages(struct ib_umem_dmabuf *umem_dmabuf);

void ib_umem_dmabuf_unmap_pages(struct ib_umem_dmabuf *umem_dmabuf);

void ib_umem_dmabuf_release(struct ib_umem_dmabuf *umem_dmabuf);

void ib_umem_dmabuf_revoke_lock(struct ib_umem_dmabuf *umem_dmabuf);

void ib_umem_dmabuf_revoke_unlock(struct ib_umem_dmabuf *umem_dmabuf);

void ib_umem_dmabuf_revoke(struct ib_umem_dmabuf *umem_dmabuf);

int ib_umem_check_rereg(struct ib_umem *umem, int flags, int new_access_flags);

#else /* CONFIG_INFINIBAND_USER_MEM */

static inline struct ib_umem *ib_umem_get(struct ib_device *device, unsigned long addr,
					  size_t size, int access)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline void ib_umem_release(struct ib_umem *umem) {}

static inline int ib_umem_copy_from(void *dst, struct ib_umem *umem, size_t offset, size_t length)
{
	return -EOPNOTSUPP;
}

static inline unsigned long ib_umem_find_best_pgsz(struct ib_umem *umem,
						   unsigned long pgsz_bitmap, u64 virt)
{
	return 0;
}

static inline unsigned long ib_umem_find_best_pgoff(struct ib_umem *umem,
						    unsigned long pgsz_bitmap, u64 pgoff_bitmask)
{
	return 0;
}

static inline struct ib_umem_dmabuf *
ib_umem_dmabuf_get(struct ib_device *device, unsigned long offset, size_t size, int fd,
		   int access, const struct dma_buf_attach_ops *ops)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline struct ib_umem_dmabuf *
ib_umem_dmabuf_get_pinned(struct ib_device *device, unsigned long offset, size_t size, int fd,
			  int access)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline struct ib_umem_dmabuf *
ib_umem_dmabuf_get_pinned_revocable_and_lock(struct ib_device *device, unsigned long offset,
					     size_t size, int fd, int access)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline struct ib_umem_dmabuf *
ib_umem_dmabuf_get_pinned_with_dma_device(struct ib_device *device, struct device *dma_device,
					  unsigned long offset, size_t size, int fd, int access)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline int ib_umem_dmabuf_map_pages(struct ib_umem_dmabuf *umem_dmabuf)
{
	return -EOPNOTSUPP;
}

static inline int ib_umem_check_rereg(struct ib_umem *umem, int flags, int new_access_flags)
{
	return -EOPNOTSUPP;
}

static inline void ib_umem_dmabuf_set_revoke_locked(struct ib_umem_dmabuf *umem_dmabuf,
						    void (*revoke)(void *priv), void *priv) {}
static inline void ib_umem_dmabuf_unmap_pages(struct ib_umem_dmabuf *umem_dmabuf) {}
static inline void ib_umem_dmabuf_release(struct ib_umem_dmabuf *umem_dmabuf) {}
static inline void ib_umem_dmabuf_revoke_lock(struct ib_umem_dmabuf *umem_dmabuf) {}
static inline void ib_umem_dmabuf_revoke_unlock(struct ib_umem_dmabuf *umem_dmabuf) {}
static inline void ib_umem_dmabuf_revoke(struct ib_umem_dmabuf *umem_dmabuf) {}

#endif /* CONFIG_INFINIBAND_USER_MEM */
#endif /* IB_UMEM_H */
