// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * MRs and device memory of the device without hardware, which only exist.  No two MRs ever have the
 * same keys, and an MR that changes is replaced by another.
 */
#include <linux/atomic.h>
#include <linux/slab.h>

#include "ufake.h"

static struct ib_dm *alloc_dm(struct ib_device *ib, struct ib_ucontext *context,
			      struct ib_dm_alloc_attr *attr, struct uverbs_attr_bundle *attrs)
{
	struct ib_dm *dm = kzalloc(sizeof(*dm), GFP_KERNEL);

	return dm ?: ERR_PTR(-ENOMEM);
}

static int dealloc_dm(struct ib_dm *dm, struct uverbs_attr_bundle *attrs)
{
	if (ufake_refuses())
		return -EBUSY;
	kfree(dm);
	return 0;
}

static struct ib_mr *new_mr(void)
{
	static atomic_t keys;
	struct ib_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);

	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->lkey = atomic_inc_return(&keys);
	mr->rkey = mr->lkey;
	return mr;
}

static struct ib_mr *reg_dm_mr(struct ib_pd *pd, struct ib_dm *dm, struct ib_dm_mr_attr *attr,
			       struct uverbs_attr_bundle *attrs)
{
	return new_mr();
}

static struct ib_mr *reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 va, int access,
				 struct ib_udata *udata)
{
	return new_mr();
}

static struct ib_mr *rereg_user_mr(struct ib_mr *mr, int flags, u64 start, u64 length, u64 va,
				   int access, struct ib_pd *pd, struct ib_udata *udata)
{
	return new_mr();
}

static int dereg_mr(struct ib_mr *mr, struct ib_udata *udata)
{
	if (ufake_refuses())
		return -EBUSY;
	kfree(mr);
	return 0;
}

static int advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice, u32 flags,
		     struct ib_sge *list, u32 num, struct uverbs_attr_bundle *attrs)
{
	return 0;
}

const struct ib_device_ops ufake_memory_ops = {
	.alloc_dm = alloc_dm,
	.dealloc_dm = dealloc_dm,
	.reg_dm_mr = reg_dm_mr,
	.reg_user_mr = reg_user_mr,
	.rereg_user_mr = rereg_user_mr,
	.dereg_mr = dereg_mr,
	.advise_mr = advise_mr,
};
