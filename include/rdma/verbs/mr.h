/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory: regions, windows and device memory.
 */
#ifndef RDMA_VERBS_MR_H
#define RDMA_VERBS_MR_H

#include <linux/scatterlist.h>
#include <rdma/rdma_object.h>
#include <rdma/signature.h>
#include <rdma/verbs/types.h>

struct ib_sge;

/* Types of MR; ib_alloc_mr() allocates the first two, ib_alloc_mr_integrity() the last. */
enum ib_mr_type {
	IB_MR_TYPE_MEM_REG,
	IB_MR_TYPE_SG_GAPS,
	IB_MR_TYPE_DM,
	IB_MR_TYPE_USER,
	IB_MR_TYPE_DMA,
	IB_MR_TYPE_INTEGRITY,
};

enum ib_mr_status_check {
	IB_MR_CHECK_SIG_STATUS = 1,
};

/* Result of ib_check_mr_status(): which checks failed, and the first error. */
struct ib_mr_status {
	u32		    fail_status;
	struct ib_sig_err   sig_err;
};

/* Access rights of an MR, and options of its registration. */
enum ib_access_flags {
	IB_ACCESS_LOCAL_WRITE = IB_UVERBS_ACCESS_LOCAL_WRITE,
	IB_ACCESS_REMOTE_WRITE = IB_UVERBS_ACCESS_REMOTE_WRITE,
	IB_ACCESS_REMOTE_READ = IB_UVERBS_ACCESS_REMOTE_READ,
	IB_ACCESS_REMOTE_ATOMIC = IB_UVERBS_ACCESS_REMOTE_ATOMIC,
	IB_ACCESS_MW_BIND = IB_UVERBS_ACCESS_MW_BIND,
	IB_ZERO_BASED = IB_UVERBS_ACCESS_ZERO_BASED,
	IB_ACCESS_ON_DEMAND = IB_UVERBS_ACCESS_ON_DEMAND,
	IB_ACCESS_HUGETLB = IB_UVERBS_ACCESS_HUGETLB,
	IB_ACCESS_RELAXED_ORDERING = IB_UVERBS_ACCESS_RELAXED_ORDERING,
	IB_ACCESS_FLUSH_GLOBAL = IB_UVERBS_ACCESS_FLUSH_GLOBAL,
	IB_ACCESS_FLUSH_PERSISTENT = IB_UVERBS_ACCESS_FLUSH_PERSISTENT,

	IB_ACCESS_OPTIONAL = IB_UVERBS_ACCESS_OPTIONAL_RANGE,
	IB_ACCESS_SUPPORTED =
		((IB_ACCESS_FLUSH_PERSISTENT << 1) - 1) | IB_ACCESS_OPTIONAL,
};

enum ib_mr_rereg_flags {
	IB_MR_REREG_TRANS	= 1,
	IB_MR_REREG_PD		= (1 << 1),
	IB_MR_REREG_ACCESS	= (1 << 2),
	IB_MR_REREG_SUPPORTED	= ((IB_MR_REREG_ACCESS << 1) - 1)
};

enum ib_mw_type {
	IB_MW_TYPE_1 = 1,
	IB_MW_TYPE_2 = 2
};

struct ib_dm_mr_attr {
	u64		length;
	u64		offset;
	u32		access_flags;
};

struct ib_dm_alloc_attr {
	u64	length;
	u32	alignment;
	u32	flags;
};

/**
 * struct ib_dm - memory on the device
 * @device: device
 * @length: bytes
 * @flags: reserved
 * @uobject: the user's handle
 * @RDMA_OBJECT_BASE: object base
 */
struct ib_dm {
	struct ib_device  *device;
	u32		   length;
	u32		   flags;
	struct ib_uobject *uobject;

	RDMA_OBJECT_BASE;
};

/**
 * struct ib_mr - memory region; the driver allocates it
 * @device: device
 * @pd: PD
 * @lkey: key for local access
 * @rkey: key for peers
 * @iova: first address it translates
 * @length: bytes
 * @page_size: bytes of a page of its page list
 * @type: type
 * @need_inval: must be invalidated before it is registered again
 * @uobject: the user's handle, of a user MR
 * @qp_entry: entry in a QP's list of free MRs, of a kernel MR
 * @dm: device memory behind it, or NULL
 * @sig_attrs: signature layout, or NULL
 * @pool_entry: entry in the list of all MRs of a QP's pools
 * @RDMA_OBJECT_BASE: object base
 */
struct ib_mr {
	struct ib_device  *device;

	struct ib_pd	  *pd;
	u32		   lkey;
	u32		   rkey;
	u64		   iova;
	u64		   length;
	unsigned int	   page_size;
	enum ib_mr_type	   type;
	bool		   need_inval;
	union {
		struct ib_uobject	*uobject;
		struct list_head	qp_entry;
	};

	struct ib_dm      *dm;
	struct ib_sig_attrs *sig_attrs;

	struct list_head   pool_entry;

	RDMA_OBJECT_BASE;
};

/**
 * struct ib_mw - memory window
 * @device: device
 * @pd: PD
 * @uobject: the user's handle
 * @rkey: key for peers
 * @type: type 1 or type 2
 * @RDMA_OBJECT_BASE: object base
 */
struct ib_mw {
	struct ib_device	*device;
	struct ib_pd		*pd;
	struct ib_uobject	*uobject;
	u32			rkey;
	enum ib_mw_type         type;

	RDMA_OBJECT_BASE;
};

struct ib_mr *ib_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
			     u64 virt_addr, int mr_access_flags);

int ib_advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice,
		 u32 flags, struct ib_sge *sg_list, u32 num_sge);

int ib_dereg_mr_user(struct ib_mr *mr, struct ib_udata *udata);

/**
 * ib_dereg_mr() - deregister a kernel MR
 * @mr: MR
 *
 * Context: may sleep.
 * Return: 0 or the driver's error.
 */
static inline int ib_dereg_mr(struct ib_mr *mr)
{
	struct ib_udata *none = NULL;

	return ib_dereg_mr_user(mr, none);
}

struct ib_mr *ib_alloc_mr(struct ib_pd *pd, enum ib_mr_type mr_type,
			  u32 max_num_sg);

struct ib_mr *ib_alloc_mr_integrity(struct ib_pd *pd,
				    u32 max_num_data_sg,
				    u32 max_num_meta_sg);

/* The bits of a key that the consumer chooses; the device chooses the others. */
#define RDMA_KEY_VARIANT_MASK	0xffU

/**
 * ib_update_fast_reg_key() - set the variant (low byte) of both keys of an MR
 * @mr: MR
 * @newkey: new variant
 */
static inline void ib_update_fast_reg_key(struct ib_mr *mr, u8 newkey)
{
	u32 *keys[] = { &mr->lkey, &mr->rkey };

	for (int i = 0; i < ARRAY_SIZE(keys); i++) {
		*keys[i] &= ~RDMA_KEY_VARIANT_MASK;
		*keys[i] |= newkey;
	}
}

/**
 * ib_inc_rkey() - get the key that has the next variant
 * @rkey: key
 *
 * Return: the key with its low byte incremented; 0xff is followed by 0.
 */
static inline u32 ib_inc_rkey(u32 rkey)
{
	u8 variant = rkey + 1;

	return (rkey & ~RDMA_KEY_VARIANT_MASK) | variant;
}

/**
 * ib_access_writable() - do these rights allow the device to write to the memory?
 * @access_flags: enum ib_access_flags
 *
 * Return: true if so; also with IB_ACCESS_MW_BIND, as a window can grant writing.
 */
static inline bool ib_access_writable(int access_flags)
{
	const int writers = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
			    IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_MW_BIND;

	return (access_flags & writers) != 0;
}

int ib_check_mr_status(struct ib_mr *mr, u32 check_mask,
		       struct ib_mr_status *mr_status);

int ib_map_mr_sg(struct ib_mr *mr, struct scatterlist *sg, int sg_nents,
		 unsigned int *sg_offset, unsigned int page_size);

int ib_map_mr_sg_pi(struct ib_mr *mr, struct scatterlist *data_sg,
		    int data_sg_nents, unsigned int *data_sg_offset,
		    struct scatterlist *meta_sg, int meta_sg_nents,
		    unsigned int *meta_sg_offset, unsigned int page_size);

/**
 * ib_map_mr_sg_zbva() - like ib_map_mr_sg(), but the MR's addresses start at 0
 * @mr: MR
 * @sg: mapped scatter list
 * @sg_nents: its entries
 * @sg_offset: bytes to skip in the first entry, updated; may be NULL
 * @page_size: bytes of a page, a power of two
 *
 * Return: entries used, or a negative errno.
 */
static inline int ib_map_mr_sg_zbva(struct ib_mr *mr, struct scatterlist *sg, int sg_nents,
				    unsigned int *sg_offset, unsigned int page_size)
{
	int used = ib_map_mr_sg(mr, sg, sg_nents, sg_offset, page_size);

	mr->iova = 0;
	return used;
}

int ib_sg_to_pages(struct ib_mr *mr, struct scatterlist *sgl, int sg_nents,
		   unsigned int *sg_offset, int (*set_page)(struct ib_mr *, u64));

#endif /* RDMA_VERBS_MR_H */
