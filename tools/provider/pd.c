// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Protection domains, and properties of the objects that a program makes in
 * them: a thread domain means that one thread at a time uses them; a parent domain
 * joins a protection domain to a thread domain and to allocators of ring
 * memory.
 *
 * The kernel knows only protection domains.  References between all of these are counted
 * here, so that nothing is freed that is still in use.
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pd.h"

struct ibv_pd *vhca_alloc_pd(struct ibv_context *context)
{
	struct vhca_cmd_pd_resp resp;
	struct ibv_alloc_pd cmd;
	struct vhca_pd *pd;
	int err;

	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	err = ibv_cmd_alloc_pd(context, &pd->pd, &cmd, sizeof(cmd), &resp.ibv_resp, sizeof(resp));
	if (err) {
		free(pd);
		errno = err;
		return NULL;
	}
	pd->pdn = resp.pdn;
	atomic_init(&pd->holds, 1);
	return &pd->pd;
}

/**
 * vhca_pd_get() - count an object that is made in a PD
 * @ibpd: PD or parent domain
 *
 * The kernel counts the objects of a PD itself; here they only keep the provider's memory of it.
 */
void vhca_pd_get(struct ibv_pd *ibpd)
{
	struct vhca_pd *pd = to_vhca_pd(ibpd);

	atomic_fetch_add_explicit(pd->protects ? &pd->refs : &pd->holds, 1, memory_order_relaxed);
}

/**
 * vhca_pd_drop() - drop a reference of the program, or of an object, to a PD
 * @pd: PD, not a parent domain; the last reference frees it
 */
void vhca_pd_drop(struct vhca_pd *pd)
{
	if (atomic_fetch_sub_explicit(&pd->holds, 1, memory_order_acq_rel) == 1)
		free(pd);
}

/**
 * vhca_pd_put() - an object that was made in a PD is destroyed
 * @ibpd: PD or parent domain; may be freed by this
 */
void vhca_pd_put(struct ibv_pd *ibpd)
{
	struct vhca_pd *pd = to_vhca_pd(ibpd);

	if (pd->protects)
		atomic_fetch_sub_explicit(&pd->refs, 1, memory_order_release);
	else
		vhca_pd_drop(pd);
}

static bool referred_to(_Atomic uint32_t *refs)
{
	return atomic_load_explicit(refs, memory_order_acquire);
}

static void free_parent_domain(struct vhca_pd *pd)
{
	atomic_fetch_sub_explicit(&pd->protects->refs, 1, memory_order_release);
	if (pd->td)
		atomic_fetch_sub_explicit(&pd->td->refs, 1, memory_order_release);
	free(pd);
}

/**
 * vhca_dealloc_pd() - free a PD or a parent domain
 * @ibpd: which
 *
 * Return: 0, EBUSY while parent domains or objects use it, or the kernel's errno.
 */
int vhca_dealloc_pd(struct ibv_pd *ibpd)
{
	struct vhca_pd *pd = to_vhca_pd(ibpd);
	int err;

	if (referred_to(&pd->refs))
		return EBUSY;
	if (pd->protects) {
		free_parent_domain(pd);
		return 0;
	}
	err = ibv_cmd_dealloc_pd(ibpd);
	if (!err)
		vhca_pd_drop(pd);
	return err;
}

static int membarrier(int command)
{
	return syscall(__NR_membarrier, command, 0, 0);
}

/**
 * vhca_fence_threads() - have every thread of the program execute a full barrier
 *
 * The rare side of a race calls this, so that the frequent one needs no barrier of its own.  There
 * is a thread domain, and it is fenced.
 */
void vhca_fence_threads(void)
{
	membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
}

struct ibv_td *vhca_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr)
{
	struct vhca_td *td;

	if (attr->comp_mask) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	td = calloc(1, sizeof(*td));
	if (!td)
		return NULL;
	td->td.context = context;
	td->fenced = !membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
	return &td->td;
}

int vhca_dealloc_td(struct ibv_td *ibtd)
{
	struct vhca_td *td = to_vhca_td(ibtd);

	if (referred_to(&td->refs))
		return EBUSY;
	free(td);
	return 0;
}

static int check_parent_domain(const struct ibv_context *context,
			       struct ibv_parent_domain_init_attr *attr)
{
	const uint32_t known = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
			       IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;

	if (!check_comp_mask(attr->comp_mask, known))
		return EOPNOTSUPP;
	if (ibv_check_alloc_parent_domain(attr))
		return errno;
	/* A parent domain cannot be made over another one. */
	if (attr->pd->context != context || to_vhca_pd(attr->pd)->protects ||
	    (attr->td && attr->td->context != context))
		return EINVAL;
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS &&
	    (!attr->alloc || !attr->free))
		return EINVAL;
	return 0;
}

struct ibv_pd *vhca_alloc_parent_domain(struct ibv_context *context,
					struct ibv_parent_domain_init_attr *attr)
{
	struct vhca_pd *pd;
	int err;

	err = check_parent_domain(context, attr);
	if (err) {
		errno = err;
		return NULL;
	}
	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	ibv_initialize_parent_domain(&pd->pd, attr->pd);
	pd->protects = to_vhca_pd(attr->pd);
	pd->pdn = pd->protects->pdn;
	atomic_fetch_add_explicit(&pd->protects->refs, 1, memory_order_relaxed);
	if (attr->td) {
		pd->td = to_vhca_td(attr->td);
		atomic_fetch_add_explicit(&pd->td->refs, 1, memory_order_relaxed);
	}
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) {
		pd->alloc = attr->alloc;
		pd->free = attr->free;
	}
	if (attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT)
		pd->context = attr->pd_context;
	return &pd->pd;
}
