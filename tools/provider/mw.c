// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory windows, and what they may be bound to.
 *
 * A window's key is an index, which stays, and a low byte, which each bind
 * changes.  Checks that need the region's range and rights, or the window's state, are
 * left to the device, which reports failures by the completion.
 */
#include <errno.h>
#include <stdlib.h>

#include "mr.h"
#include "pd.h"

#define KEY_VARIANT	0xffU

/* A window has no local access, which only its region has; the flag is allowed all the same. */
#define WINDOW_ACCESS								\
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |	\
	 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_ZERO_BASED)

struct ibv_mw *vhca_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct ib_uverbs_alloc_mw_resp resp;
	struct ibv_alloc_mw cmd;
	struct vhca_mw *mw;
	int err;

	mw = calloc(1, sizeof(*mw));
	if (!mw)
		return NULL;
	err = ibv_cmd_alloc_mw(pd, type, &mw->mw, &cmd, sizeof(cmd), &resp, sizeof(resp));
	if (err) {
		free(mw);
		errno = err;
		return NULL;
	}
	pthread_mutex_init(&mw->lock, NULL);
	mw->mw.pd = pd;
	vhca_pd_get(pd);
	return &mw->mw;
}

int vhca_dealloc_mw(struct ibv_mw *ibmw)
{
	struct vhca_mw *mw = to_vhca_mw(ibmw);
	struct ibv_pd *pd = ibmw->pd;
	int err = ibv_cmd_dealloc_mw(ibmw);

	if (err)
		return err;
	vhca_pd_put(pd);
	pthread_mutex_destroy(&mw->lock);
	free(mw);
	return 0;
}

/**
 * vhca_window_access() - rights of a window, as the device has them
 * @access: IBV_ACCESS_*
 *
 * Return: VHCA_ACCESS_*
 */
uint8_t vhca_window_access(unsigned int access)
{
	return (access & IBV_ACCESS_REMOTE_WRITE ? VHCA_ACCESS_REMOTE_WRITE : 0) |
	       (access & IBV_ACCESS_REMOTE_READ ? VHCA_ACCESS_REMOTE_READ : 0) |
	       (access & IBV_ACCESS_REMOTE_ATOMIC ? VHCA_ACCESS_REMOTE_ATOMIC : 0) |
	       (access & IBV_ACCESS_ZERO_BASED ? VHCA_ACCESS_ZERO_BASED : 0);
}

/* A parent domain counts as its PD. */
static bool same_pd(const struct ibv_pd *a, const struct ibv_pd *b)
{
	return a->context == b->context && a->handle == b->handle;
}

/**
 * vhca_check_bind() - may a window be bound so?
 * @qp: QP that binds it
 * @mw: window
 * @key: its new key
 * @info: region and range that it is bound to
 *
 * Return: 0; EPERM when window, QP and region are not of one PD; EINVAL when the key is not one of
 * the window's, for rights that a window of its type cannot have, and without a region, unless it
 * is of type 1 and the length is 0.
 */
int vhca_check_bind(const struct ibv_qp *qp, const struct ibv_mw *mw, uint32_t key,
		    const struct ibv_mw_bind_info *info)
{
	if ((key ^ mw->rkey) & ~KEY_VARIANT || info->mw_access_flags & ~WINDOW_ACCESS)
		return EINVAL;
	/* only a window of type 2 may be zero-based */
	if (mw->type == IBV_MW_TYPE_1 && info->mw_access_flags & IBV_ACCESS_ZERO_BASED)
		return EINVAL;
	if (!info->mr && info->length)
		return EINVAL;
	if (!info->length && mw->type != IBV_MW_TYPE_1)
		return EINVAL;
	return same_pd(mw->pd, qp->pd) && (!info->mr || same_pd(info->mr->pd, mw->pd)) ? 0 :
											  EPERM;
}
