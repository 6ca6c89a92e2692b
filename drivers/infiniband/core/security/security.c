// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * P_Keys that a security module keeps from some processes: see security.h.
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
 * struct pkey_use - entry of a P_Key table that a path of a QP names
 * @port: the port, 0: not known yet
 * @index: index into its table, negative: not known yet
 */
struct pkey_use {
	u32 port;
	int index;
};

static const struct pkey_use unused = { .index = -1 };

/*
 * A QP migrates on its own from the primary to the alternate path, and only a new alternate path
 * lets it do so again. Those it may be on at any time are these three.
 */
enum qp_use {
	USE_PRIMARY,
	USE_ALTERNATE,
	USE_FORMER_ALTERNATE,
	QP_USES
};

/**
 * struct ib_qp_security - on whose behalf a QP uses which P_Keys
 * @lock: held while the QP is modified or looked at again; protects @use and @handles
 * @blob: the security module's label of the process that made the QP or opened the handle
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
 * ib_security_blob_alloc() - mark the process that runs
 * @blob: receives the mark, which security_ib_free_security() frees
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
 * @blob: mark of the process
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
 * ib_qp_security_alloc() - remember who makes a QP
 * @qp: QP of which the driver does not know yet
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
 * ib_qp_security_unlink() - whoever opened this handle does not count any more
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
 * ib_qp_security_relink() - take back ib_qp_security_unlink()
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
 * ib_qp_security_free() - forget who made a QP or opened a handle
 * @qp: the QP, of which the driver knows no more; or the handle, whose QP is still there unless it
 *	is unlinked
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

/* Only InfiniBand ports have P_Keys. A port that does not exist is refused by the driver. */
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

/* All who can send through a shared QP must have the right to the P_Keys that it uses. */
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
 * ib_qp_security_open() - remember who opens a shared QP
 * @handle: handle that nobody knows yet, with its real QP
 *
 * Context: may sleep.
 * Return: 0, to be ended with ib_qp_security_free(); -ENOMEM, or the security module's error where
 * the process has no right to what the QP uses.
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
 * @mask: which count
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
 * Moves the QP to the error state if it may not go on. It uses no P_Key from then on; one that the
 * device has not moved is looked at again with the next event.
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
	struct rdma_restrack_entry *res;
	struct ib_event event = { .device = device, .event = IB_EVENT_QP_FATAL };

	for (u32 id = 0; (res = rdma_restrack_next(device, RDMA_RESTRACK_QP, &id)); id++) {
		struct ib_qp *qp = container_of(res, struct ib_qp, obj.res);

		if (qp->qp_sec && stop_who_may_not(qp)) {
			event.element.qp = qp;
			qp->event_handler(&event, qp->qp_context);
		}
		rdma_restrack_put(res);
		cond_resched();
	}
}

/**
 * ib_security_event() - look again at the QPs that an event may concern
 * @event: event of a registered device; the cache knows what has changed
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
 * ib_policy_watch_begin() - have a function called after each change of the security policy
 * @watch: storage until ib_policy_watch_end()
 * @changed: the function; it may sleep, and may ask the security module
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
 * @watch: as there; the function does not run any more after the return
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
 * ib_security_init() - follow changes of the policy and the events of all devices
 *
 * Context: while the module is initialised, after ib_cache_init(): by the time that an event comes
 * here, the cache knows what has changed.
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
