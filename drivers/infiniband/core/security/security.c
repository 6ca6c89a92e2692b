// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * P_Keys that a security module denies to some processes: see security.h.
 */
#include <kunit/static_stub.h>
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/security.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include <rdma/rdma_reject.h>

#include "../cache/cache.h"
#include "../device/device.h"
#include "../object/object.h"
#include "security.h"

/**
 * struct pkey_use - the P_Key table entry of a path of a QP
 * @port: the port, 0 if not known yet
 * @index: index into its table, negative if not known yet
 */
struct pkey_use {
	u32 port;
	int index;
};

static const struct pkey_use unused = { .index = -1 };

/*
 * A QP migrates on its own from the primary to the alternate path, and only a new alternate path
 * lets it do so again. It may use any of these three paths.
 */
enum qp_use {
	USE_PRIMARY,
	USE_ALTERNATE,
	USE_FORMER_ALTERNATE,
	QP_USES
};

/**
 * struct ib_qp_security - the process for which a QP is used, and its P_Keys
 * @lock: held while the QP is modified or checked; protects @use and @handles
 * @blob: security context of the process that created the QP or opened the handle
 * @use: P_Keys of the QP's paths; not used in a handle
 * @handles: structures of the handles of a shared QP
 * @entry: entry of a handle in @handles of the QP; protected by the QP's @lock
 */
struct ib_qp_security {
	struct mutex lock;
	void *blob;
	struct pkey_use use[QP_USES];
	struct list_head handles;
	struct list_head entry;
};

/**
 * ib_security_blob_alloc() - get the security context of the current process
 * @blob: receives the context, to be freed by security_ib_free_security()
 *
 * Context: may sleep.
 * Return: 0 or the security module's error.
 */
int ib_security_blob_alloc(void **blob)
{
	KUNIT_STATIC_STUB_REDIRECT(ib_security_blob_alloc, blob);
	return security_ib_alloc_security(blob);
}
EXPORT_SYMBOL_IF_KUNIT(ib_security_blob_alloc);

/**
 * ib_security_pkey_access() - may a process use a P_Key?
 * @blob: security context of the process
 * @subnet_prefix: subnet, in host byte order
 * @pkey: the P_Key, in host byte order
 *
 * Context: may sleep.
 * Return: 0, or the security module's error.
 */
int ib_security_pkey_access(void *blob, u64 subnet_prefix, u16 pkey)
{
	KUNIT_STATIC_STUB_REDIRECT(ib_security_pkey_access, blob, subnet_prefix, pkey);
	return security_ib_pkey_access(blob, subnet_prefix, pkey);
}
EXPORT_SYMBOL_IF_KUNIT(ib_security_pkey_access);

static bool may_use_pkeys(const struct ib_qp *qp)
{
	u32 port_num;

	if (qp->qp_type == IB_QPT_SMI || qp->qp_type == IB_QPT_GSI ||
	    qp->qp_type >= IB_QPT_RESERVED1)
		return false;
	rdma_for_each_port(qp->device, port_num)
		if (rdma_protocol_ib(qp->device, port_num))
			return true;
	return false;
}

static struct ib_qp_security *security_alloc(void)
{
	struct ib_qp_security *sec = kzalloc(sizeof(*sec), GFP_KERNEL);
	int ret;

	if (!sec)
		return ERR_PTR(-ENOMEM);
	ret = ib_security_blob_alloc(&sec->blob);
	if (ret) {
		kfree(sec);
		return ERR_PTR(ret);
	}
	mutex_init(&sec->lock);
	INIT_LIST_HEAD(&sec->handles);
	INIT_LIST_HEAD(&sec->entry);
	for (unsigned int i = 0; i < QP_USES; i++)
		sec->use[i] = unused;
	return sec;
}

static void security_free(struct ib_qp_security *sec)
{
	security_ib_free_security(sec->blob);
	mutex_destroy(&sec->lock);
	kfree(sec);
}

/**
 * ib_qp_security_alloc() - record the security context of the creator of a QP
 * @qp: QP that the driver has not created yet
 *
 * Context: may sleep.
 * Return: 0, to be ended with ib_qp_security_free(); -ENOMEM or the security module's error.
 */
int ib_qp_security_alloc(struct ib_qp *qp)
{
	struct ib_qp_security *sec;

	if (!may_use_pkeys(qp))
		return 0;
	sec = security_alloc();
	if (IS_ERR(sec))
		return PTR_ERR(sec);
	qp->qp_sec = sec;
	return 0;
}

/**
 * ib_qp_security_unlink() - exclude a handle from the checks of its QP
 * @handle: handle of a shared QP
 *
 * Context: may sleep.
 */
void ib_qp_security_unlink(struct ib_qp *handle)
{
	struct ib_qp_security *sec = handle->qp_sec;

	if (!sec || list_empty(&sec->entry))
		return;
	guard(mutex)(&handle->real_qp->qp_sec->lock);
	list_del_init(&sec->entry);
}

/**
 * ib_qp_security_relink() - undo ib_qp_security_unlink()
 * @handle: the handle; its QP was not modified in between
 *
 * Context: may sleep.
 */
void ib_qp_security_relink(struct ib_qp *handle)
{
	struct ib_qp_security *sec = handle->qp_sec;

	if (!sec)
		return;
	guard(mutex)(&handle->real_qp->qp_sec->lock);
	list_add(&sec->entry, &handle->real_qp->qp_sec->handles);
}

/**
 * ib_qp_security_free() - free the security context of a QP or handle
 * @qp: the QP, which the driver has destroyed; or the handle, whose QP still exists unless the
 *	handle is unlinked
 *
 * Context: may sleep.
 */
void ib_qp_security_free(struct ib_qp *qp)
{
	struct ib_qp_security *sec = qp->qp_sec;

	if (!sec)
		return;
	ib_qp_security_unlink(qp);
	qp->qp_sec = NULL;
	security_free(sec);
}

/* Only InfiniBand ports have P_Keys. The driver refuses a port that does not exist. */
static int check_use(struct ib_device *device, void *blob, const struct pkey_use *use)
{
	u64 subnet_prefix;
	u16 pkey;
	int ret;

	if (use->index < 0 || !rdma_is_port_valid(device, use->port) ||
	    !rdma_protocol_ib(device, use->port))
		return 0;
	ret = ib_get_cached_pkey(device, use->port, use->index, &pkey);
	if (ret)
		return rdma_refuse(ret, "pkey_index %d: port %u has no such P_Key", use->index,
				   use->port);
	ib_get_cached_subnet_prefix(device, use->port, &subnet_prefix);
	ret = ib_security_pkey_access(blob, subnet_prefix, pkey);
	if (ret)
		return rdma_refuse(ret, "P_Key 0x%04x of subnet %016llx: the policy says no", pkey,
				   subnet_prefix);
	return 0;
}

static int check_uses(struct ib_device *device, void *blob, const struct pkey_use use[QP_USES])
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < QP_USES; i++)
		ret = check_use(device, blob, &use[i]);
	return ret;
}

/* All processes that can send through a shared QP must be allowed to use its P_Keys. */
static int check_everybody(struct ib_qp *qp, const struct pkey_use use[QP_USES])
{
	struct ib_qp_security *sec = qp->qp_sec, *handle;
	int ret;

	lockdep_assert_held(&sec->lock);
	ret = check_uses(qp->device, sec->blob, use);
	if (ret)
		return ret;
	list_for_each_entry(handle, &sec->handles, entry) {
		ret = check_uses(qp->device, handle->blob, use);
		if (ret)
			return ret;
	}
	return 0;
}

/* Computes the P_Keys that a QP will use after a modification. */
static void next_uses(struct pkey_use use[QP_USES], const struct ib_qp_attr *attr, int mask)
{
	if ((mask & IB_QP_STATE) && attr->qp_state == IB_QPS_RESET)
		for (unsigned int i = 0; i < QP_USES; i++)
			use[i] = unused;
	if (mask & IB_QP_PORT)
		use[USE_PRIMARY].port = attr->port_num;
	if (mask & IB_QP_PKEY_INDEX)
		use[USE_PRIMARY].index = attr->pkey_index;
	if (mask & IB_QP_ALT_PATH) {
		use[USE_FORMER_ALTERNATE] = use[USE_ALTERNATE];
		use[USE_ALTERNATE].port = attr->alt_port_num;
		use[USE_ALTERNATE].index = attr->alt_pkey_index;
	}
}

/**
 * ib_qp_security_open() - record the security context of the opener of a shared QP
 * @handle: handle that is not known to others yet, with its real QP
 *
 * Context: may sleep.
 * Return: 0, to be ended with ib_qp_security_free(); -ENOMEM, or the security module's error if the
 * process may not use the QP's P_Keys.
 */
int ib_qp_security_open(struct ib_qp *handle)
{
	struct ib_qp_security *real = handle->real_qp->qp_sec, *sec;
	int ret;

	if (!real)
		return 0;
	sec = security_alloc();
	if (IS_ERR(sec))
		return PTR_ERR(sec);
	scoped_guard(mutex, &real->lock) {
		ret = check_uses(handle->device, sec->blob, real->use);
		if (!ret) {
			list_add(&sec->entry, &real->handles);
			handle->qp_sec = sec;
			return 0;
		}
	}
	security_free(sec);
	return ret;
}

/**
 * ib_qp_security_modify() - have the driver modify a QP, if the security module agrees
 * @qp: QP that is no handle
 * @attr: attributes
 * @mask: the attributes that are set
 * @udata: the driver's part of the request
 *
 * Context: may sleep.
 * Return: 0, the security module's error, or the driver's.
 */
int ib_qp_security_modify(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			  struct ib_udata *udata)
{
	struct ib_qp_security *sec = qp->qp_sec;
	struct pkey_use use[QP_USES];
	int ret;

	if (!sec)
		return qp->device->ops.modify_qp(qp, attr, mask, udata);
	guard(mutex)(&sec->lock);
	memcpy(use, sec->use, sizeof(use));
	next_uses(use, attr, mask);
	if (mask & (IB_QP_PORT | IB_QP_PKEY_INDEX | IB_QP_ALT_PATH)) {
		ret = check_everybody(qp, use);
		if (ret)
			return ret;
	}
	ret = qp->device->ops.modify_qp(qp, attr, mask, udata);
	if (!ret)
		memcpy(sec->use, use, sizeof(use));
	return ret;
}

/*
 * Moves the QP to the error state if it may not use its P_Keys any more. It has no P_Keys from then
 * on; a QP that the device failed to move is checked again at the next event.
 */
static bool stop_who_may_not(struct ib_qp *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	struct ib_qp_security *sec = qp->qp_sec;
	int ret;

	guard(mutex)(&sec->lock);
	if (!check_everybody(qp, sec->use))
		return false;
	ret = qp->device->ops.modify_qp(qp, &attr, IB_QP_STATE, NULL);
	if (ret)
		ibdev_warn_ratelimited(qp->device,
				       "QP %u goes on with a P_Key that it may not use: %d\n",
				       qp->qp_num, ret);
	for (unsigned int i = 0; !ret && i < QP_USES; i++)
		sec->use[i] = unused;
	return true;
}

static void look_again(struct ib_device *device)
{
	struct ib_event event = { .device = device, .event = IB_EVENT_QP_FATAL };
	struct rdma_restrack_entry *res;
	u32 id = 0;

	while ((res = rdma_restrack_next(device, RDMA_RESTRACK_QP, &id))) {
		struct ib_qp *qp = container_of(res, struct ib_qp, obj.res);

		if (qp->qp_sec && stop_who_may_not(qp)) {
			event.element.qp = qp;
			qp->event_handler(&event, qp->qp_context);
		}
		rdma_restrack_put(res);
		cond_resched();
		if (!++id)
			break;
	}
}

/**
 * ib_security_event() - check the QPs that an event may concern
 * @event: event of a registered device; the cache is up to date
 *
 * Context: may sleep.
 */
void ib_security_event(const struct ib_event *event)
{
	switch (event->event) {
	case IB_EVENT_PORT_ACTIVE:
	case IB_EVENT_PKEY_CHANGE:
	case IB_EVENT_GID_CHANGE:
	case IB_EVENT_SM_CHANGE:
	case IB_EVENT_CLIENT_REREGISTER:
		look_again(event->device);
		break;
	default:
		break;
	}
}
EXPORT_SYMBOL_IF_KUNIT(ib_security_event);

/* The policy is still locked while this runs, so the work is queued. */
static int policy_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct ib_policy_watch *watch = container_of(nb, struct ib_policy_watch, nb);

	if (event != LSM_POLICY_CHANGE)
		return NOTIFY_DONE;
	queue_work(ib_wq, &watch->work);
	return NOTIFY_OK;
}

/**
 * ib_policy_watch_begin() - call a function after each change of the security policy
 * @watch: storage until ib_policy_watch_end()
 * @changed: the function; it may sleep, and may call the security module
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
int ib_policy_watch_begin(struct ib_policy_watch *watch, work_func_t changed)
{
	INIT_WORK(&watch->work, changed);
	watch->nb.notifier_call = policy_event;
	return register_blocking_lsm_notifier(&watch->nb);
}

/**
 * ib_policy_watch_end() - end what ib_policy_watch_begin() began
 * @watch: as for ib_policy_watch_begin(); the function does not run any more on return
 *
 * Context: may sleep.
 */
void ib_policy_watch_end(struct ib_policy_watch *watch)
{
	unregister_blocking_lsm_notifier(&watch->nb);
	cancel_work_sync(&watch->work);
}

static void check_all_devices(struct work_struct *work)
{
	ib_device_for_each(look_again);
}

static struct ib_policy_watch policy_watch;

static struct ib_event_prehandler event_prehandler = { .handle = ib_security_event };

/**
 * ib_security_init() - begin to watch changes of the policy and the events of all devices
 *
 * Context: while the module is initialised, after ib_cache_init(): the cache handles an event
 * before this does.
 * Return: 0 or a negative errno.
 */
int ib_security_init(void)
{
	ib_events_add_prehandler(&event_prehandler);
	return ib_policy_watch_begin(&policy_watch, check_all_devices);
}

/**
 * ib_security_exit() - end what ib_security_init() began
 */
void ib_security_exit(void)
{
	ib_policy_watch_end(&policy_watch);
}
