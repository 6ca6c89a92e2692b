/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Room header of security/: a security module, for example SELinux, may restrict the P_Keys and
 * subnets that processes use.
 *
 * The security context of the process that creates a QP, or opens a shared one, is kept with it. A
 * modification that gives the QP a P_Key is first checked by the security module. When P_Keys, the
 * subnet prefix or the policy change, all QPs are checked again, and those that may not use their
 * P_Keys any more are moved to the error state.
 *
 * QPs of type SMI and GSI are not checked here: they belong to the MAD agents.
 */
#ifndef RDMA_CORE_SECURITY_H
#define RDMA_CORE_SECURITY_H

#include <linux/notifier.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#ifdef CONFIG_SECURITY_INFINIBAND
/**
 * struct ib_policy_watch - a function that is called after each change of the security policy
 * @nb: called while the policy changes
 * @work: calls the function
 */
struct ib_policy_watch {
	struct notifier_block nb;
	struct work_struct work;
};

int ib_policy_watch_begin(struct ib_policy_watch *watch, work_func_t changed);
void ib_policy_watch_end(struct ib_policy_watch *watch);

int ib_security_init(void);
void ib_security_exit(void);

/* A pre-handler of events, which tests call directly. */
void ib_security_event(const struct ib_event *event);

int ib_qp_security_alloc(struct ib_qp *qp);
int ib_qp_security_open(struct ib_qp *handle);
void ib_qp_security_unlink(struct ib_qp *handle);
void ib_qp_security_relink(struct ib_qp *handle);
void ib_qp_security_free(struct ib_qp *qp);
int ib_qp_security_modify(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			  struct ib_udata *udata);

int ib_security_blob_alloc(void **blob);
int ib_security_pkey_access(void *blob, u64 subnet_prefix, u16 pkey);
#else
static inline int ib_security_init(void)
{
	return 0;
}

static inline void ib_security_exit(void)
{
}

static inline int ib_qp_security_alloc(struct ib_qp *qp)
{
	return 0;
}

static inline int ib_qp_security_open(struct ib_qp *handle)
{
	return 0;
}

static inline void ib_qp_security_unlink(struct ib_qp *handle)
{
}

static inline void ib_qp_security_relink(struct ib_qp *handle)
{
}

static inline void ib_qp_security_free(struct ib_qp *qp)
{
}

static inline int ib_qp_security_modify(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
					struct ib_udata *udata)
{
	return qp->device->ops.modify_qp(qp, attr, mask, udata);
}
#endif

#endif
