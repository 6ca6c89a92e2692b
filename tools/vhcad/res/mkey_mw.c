// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory windows.
 *
 * A window translates through the region it is bound to.  The region counts its
 * windows and is neither changed nor destroyed while there are any.
 */
#include "res/mkey_internal.h"

#define WINDOW_RIGHTS	(VHCA_ACCESS_REMOTE_READ | VHCA_ACCESS_REMOTE_WRITE | \
			 VHCA_ACCESS_REMOTE_ATOMIC | VHCA_ACCESS_ZERO_BASED)
#define CHANGING	(VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_REMOTE_ATOMIC)

void mkey_unbind(struct vmkey *mk)
{
	if (!mkey_is_window(mk) || !mk->mw.mr)
		return;
	mk->mw.mr->windows--;
	mk->mw.mr = NULL;
	mk->mw.of = NULL;
	list_del_init(&mk->mw.node);
	mk->access = 0;
	mk->iova = 0;
	mk->length = 0;
}

u32 mkey_forget_owner(struct mkey_owner *owner, u32 most)
{
	for (; most && !list_empty(&owner->windows); most--)
		mkey_unbind(container_of(owner->windows.next, struct vmkey, mw.node));
	return most;
}

/* Returns the region to bind to, if it allows that. */
static struct vmkey *find_region(const struct mkey_scope *s,
				 const struct vhca_wqe_bind *bind)
{
	u32 key = le32toh(bind->mr_key);
	struct vmkey *mr = table_get(&s->dev->mkeys, key >> 8);

	/* an FMR key's translation changes without notice */
	if (!mr || mkey_is_window(mr) || mr->type == VHCA_MKEY_FMR || mr->key != key ||
	    mr->pd != s->pd || !(mr->access & VHCA_ACCESS_MW_BIND))
		return NULL;
	if (bind->access & CHANGING && !(mr->access & VHCA_ACCESS_LOCAL_WRITE))
		return NULL;
	if (!range_holds(mr->iova, mr->length, le64toh(bind->addr), le64toh(bind->length)))
		return NULL;
	return mr;
}

/* May this window be bound so, for any region? */
static bool bind_good(const struct mkey_scope *s, const struct vmkey *mw,
		      const struct vhca_wqe_bind *bind)
{
	if (!mw || !mkey_is_window(mw) || mw->pd != s->pd || bind->access & ~WINDOW_RIGHTS)
		return false;
	for (u32 i = 0; i < sizeof(bind->rsvd); i++)
		if (bind->rsvd[i])
			return false;
	if (mw->type == VHCA_MKEY_MW_1)
		return !(bind->access & VHCA_ACCESS_ZERO_BASED);
	return !mw->mw.mr && bind->length;
}

u8 mkey_bind(const struct mkey_scope *s, struct mkey_owner *owner,
	     const struct vhca_wqe_bind *bind)
{
	u32 key = le32toh(bind->key);
	struct vmkey *mw = table_get(&s->dev->mkeys, key >> 8), *mr = NULL;

	if (!bind_good(s, mw, bind))
		return VHCA_CS_MW_BIND_ERR;
	if (bind->length) {
		mr = find_region(s, bind);
		if (!mr)
			return VHCA_CS_MW_BIND_ERR;
	}
	mkey_unbind(mw);
	mw->key = key;
	if (!mr)
		return VHCA_CS_SUCCESS;
	mw->access = bind->access & ~VHCA_ACCESS_ZERO_BASED;
	mw->length = le64toh(bind->length);
	mw->mw.start = le64toh(bind->addr);
	mw->iova = bind->access & VHCA_ACCESS_ZERO_BASED ? 0 : mw->mw.start;
	mw->mw.mr = mr;
	mr->windows++;
	if (mw->type == VHCA_MKEY_MW_2) {
		mw->mw.of = owner;
		list_add_tail(&mw->mw.node, &owner->windows);
	}
	return VHCA_CS_SUCCESS;
}
