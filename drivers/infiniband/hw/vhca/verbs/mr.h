/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory keys: regions, keys registered by work requests, FMRs and windows. */
#ifndef VHCA_MR_H
#define VHCA_MR_H

#include <linux/random.h>

#include "../defs/mkey.h"
#include "vhca.h"

/*
 * Access rights that only memory regions have. Consumers commonly pass one mask for regions and for
 * QPs, so these are ignored in the rights of a QP.
 */
#define VHCA_MEMORY_ACCESS								\
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_MW_BIND | IB_ZERO_BASED | IB_ACCESS_ON_DEMAND |	\
	 IB_ACCESS_HUGETLB | IB_ACCESS_OPTIONAL)

/**
 * struct vhca_mr - memory key
 * @ibmr: its base
 * @umem: pinned user memory, or NULL
 * @pages: its description for the device
 * @access: IB_ACCESS_*
 * @iova: first address it translates; ibmr.iova may differ
 * @fast: it is part of a struct vhca_fast_mr
 */
struct vhca_mr {
	struct ib_mr ibmr;
	struct ib_umem *umem;
	struct vhca_pages pages;
	int access;
	u64 iova;
	bool fast;
};

/**
 * struct vhca_fast_mr - memory key that is registered by work requests
 * @mr: common part of all keys
 * @list: the list that the device reads when the key is registered
 * @pi: INTEGRITY: its parameters, in front of the list, in coherent memory; else NULL
 * @gaps: the list has pieces of any length and alignment, not pages
 * @max: maximum number of entries
 * @entries: number of entries
 * @data_entries: INTEGRITY: number of entries for data
 * @data_length: INTEGRITY: number of bytes of data
 * @start: address of the first byte that was mapped
 */
struct vhca_fast_mr {
	struct vhca_mr mr;
	struct vhca_list list;
	struct vhca_integrity *pi;
	bool gaps;
	u32 max;
	u32 entries;
	u32 data_entries;
	u64 data_length;
	u64 start;
};

/**
 * struct vhca_pieces - pieces of memory, one behind the other
 * @entry: the pieces
 * @max: maximum number of pieces
 * @n: number of pieces
 * @start: address of the first byte
 * @length: bytes
 */
struct vhca_pieces {
	struct vhca_sg_entry *entry;
	u32 max;
	u32 n;
	u64 start;
	u64 length;
};

#ifdef VHCA_HAVE_EXT
/**
 * struct vhca_map - FMR
 * @ibfmr: its base
 * @rec: the mapping, for the device; followed by the list of pages
 * @dma: its DMA address
 * @seq: sequence number in @rec
 * @max_pages: maximum number of entries of the list
 * @max_maps: how often it can be mapped without being unmapped
 * @maps: how often it was mapped
 * @page_shift: log2 of the bytes of a page
 */
struct vhca_map {
	struct ib_fmr ibfmr;
	struct vhca_fmr *rec;
	dma_addr_t dma;
	u32 seq;
	u32 max_pages;
	u32 max_maps;
	u32 maps;
	u8 page_shift;
};
#endif

/**
 * struct vhca_mw - memory window
 * @ibmw: its base; the device determines its key except for the low byte
 */
struct vhca_mw {
	struct ib_mw ibmw;
};

VHCA_TO(mr, ibmr)

static inline struct vhca_fast_mr *to_vfast(struct vhca_mr *mr)
{
	return container_of(mr, struct vhca_fast_mr, mr);
}

/**
 * vhca_next_variant() - choose the low byte of a new key
 *
 * Context: any.
 * Return: a random byte, which rarely is that of the former key with the same upper bytes.
 */
static inline u8 vhca_next_variant(void)
{
	return get_random_u8();
}

int vhca_check_access(struct vhca_dev *dev, int access);
u32 vhca_access_to_hw(int access);
struct ib_mr *vhca_get_dma_mr(struct ib_pd *ibpd, int access);
struct ib_mr *vhca_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 virt_addr,
			       int access, struct ib_udata *udata);
struct ib_mr *vhca_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 virt_addr,
				      int fd, int access, struct uverbs_attr_bundle *attrs);
struct ib_mr *vhca_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start, u64 length,
				 u64 virt_addr, int access, struct ib_pd *new_pd,
				 struct ib_udata *udata);
int vhca_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);
int vhca_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata);
int vhca_dealloc_mw(struct ib_mw *ibmw);

/* fast_reg.c */
int vhca_make_fast_key(struct vhca_fast_mr *fast, struct ib_pd *ibpd, u8 type, u32 max);
struct ib_mr *vhca_alloc_mr(struct ib_pd *ibpd, enum ib_mr_type type, u32 max_num_sg);
int vhca_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int nents, unsigned int *offset);
void vhca_free_fast_mr(struct vhca_mr *mr);
int vhca_take_pieces(struct vhca_pieces *p, struct device *dev, struct scatterlist *sgl, int nents,
		     unsigned int *offset);

/* integrity.c */
struct ib_mr *vhca_alloc_mr_integrity(struct ib_pd *ibpd, u32 max_num_sg, u32 max_num_meta_sg);
int vhca_map_mr_sg_pi(struct ib_mr *ibmr, struct scatterlist *data_sg, int data_sg_nents,
		      unsigned int *data_sg_offset, struct scatterlist *meta_sg,
		      int meta_sg_nents, unsigned int *meta_sg_offset);
int vhca_check_integrity(struct vhca_dev *dev, const struct vhca_fast_mr *fast);
u64 vhca_integrity_length(const struct vhca_fast_mr *fast);
void vhca_write_integrity(struct vhca_fast_mr *fast);
int vhca_check_mr_status(struct ib_mr *ibmr, u32 check_mask, struct ib_mr_status *status);

#ifdef VHCA_HAVE_EXT
/* fmr.c */
struct ib_fmr *vhca_alloc_fmr(struct ib_pd *ibpd, int access, struct ib_fmr_attr *attr);
int vhca_map_phys_fmr(struct ib_fmr *ibfmr, u64 *pages, int n, u64 iova);
void vhca_fmr_clear(struct ib_fmr *ibfmr);
int vhca_unmap_fmr(struct list_head *list);
int vhca_dealloc_fmr(struct ib_fmr *ibfmr);
#endif

#endif /* VHCA_MR_H */
