// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * XRC domains, and the sharing of target queue pairs.
 *
 * Processes that open a domain with the same file (inode) share it.  Each has a handle of its own;
 * closing the last handle frees the domain.
 */
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/slab.h>

#include "commands.h"

/**
 * struct domain - an XRC domain that is bound to a file
 * @xrcd: the domain; its inode is referenced
 * @users: handles; under the device's lock
 */
struct domain {
	struct ib_xrcd *xrcd;
	unsigned int users;
};

/**
 * struct ib_uxrcd_object - a process' handle of an XRC domain
 * @uobject: the object
 * @domain: its entry in the device's table, NULL for a domain that is bound to no file
 * @users: QPs and SRQs of the process that belong to the domain
 */
struct ib_uxrcd_object {
	struct ib_uobject uobject;
	struct domain *domain;
	atomic_t users;
};

static struct ib_uxrcd_object *to_uxrcd(struct ib_uobject *uobj)
{
	return container_of(uobj, struct ib_uxrcd_object, uobject);
}

/**
 * uverbs_xrcd_use() - count a QP or SRQ as user of its process' handle of a domain
 * @uobj: the handle, taken by the request
 *
 * Return: the handle, to be passed to uverbs_xrcd_unuse().
 */
struct ib_uxrcd_object *uverbs_xrcd_use(struct ib_uobject *uobj)
{
	struct ib_uxrcd_object *uxrcd = to_uxrcd(uobj);

	atomic_inc(&uxrcd->users);
	return uxrcd;
}

/**
 * uverbs_xrcd_unuse() - end what uverbs_xrcd_use() began
 * @uxrcd: its result; NULL does nothing
 */
void uverbs_xrcd_unuse(struct ib_uxrcd_object *uxrcd)
{
	if (uxrcd)
		atomic_dec(&uxrcd->users);
}

static int xrcd_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why,
			struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_device *udev = uobj->ufile->device;
	struct ib_uxrcd_object *uxrcd = to_uxrcd(uobj);
	struct domain *domain = uxrcd->domain;
	struct ib_xrcd *xrcd = uobj->object;
	struct inode *inode;
	int ret;

	if (atomic_read(&uxrcd->users))
		return rdma_refuse(-EBUSY, "the XRC domain has %d QPs and SRQs of this process",
				   atomic_read(&uxrcd->users));
	if (!domain)
		return ib_dealloc_xrcd_user(xrcd, &attrs->driver_udata);

	guard(mutex)(&udev->domains_lock);
	if (domain->users > 1) {
		domain->users--;
		return 0;
	}
	inode = xrcd->inode;
	ret = ib_dealloc_xrcd_user(xrcd, &attrs->driver_udata);
	if (ret)
		return ret;
	xa_erase(&udev->domains, (unsigned long)inode);
	iput(inode);
	kfree(domain);
	return 0;
}

/* ---- OPEN_XRCD ---- */

struct xrcd_open {
	struct ib_uobject *xrcd;
	u32 fd;
	u32 oflags;
};

static const struct uverbs_arg xrcd_open_args[] = {
	{
		.name = "xrcd", .kind = UV_NEW, .attr = UV_NO_ATTR, .type = UVERBS_OBJECT_XRCD,
		UV_BLOCK(xrcd_open, xrcd),
	}, {
		.name = "xrcd_handle", .kind = UV_HANDLE_OUT, .attr = UV_NO_ATTR,
		UV_BLOCK(xrcd_open, xrcd),
		.w = UV_AT(ib_uverbs_open_xrcd_resp, xrcd_handle),
	}, {
		.name = "fd", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(xrcd_open, fd),
		.w = UV_AT(ib_uverbs_open_xrcd, fd),
	}, {
		.name = "oflags", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(xrcd_open, oflags),
		.w = UV_AT(ib_uverbs_open_xrcd, oflags),
	},
};

/* Makes a domain for a file; it is not in the table yet. */
static struct domain *domain_make(struct uverbs_call *call, struct inode *inode)
{
	struct domain *domain = kzalloc(sizeof(*domain), GFP_KERNEL);
	struct ib_xrcd *xrcd;

	if (!domain)
		return ERR_PTR(-ENOMEM);
	xrcd = ib_alloc_xrcd_user(call->bundle.ufile->device->ib_dev, inode,
				  &call->bundle.driver_udata);
	if (IS_ERR(xrcd)) {
		kfree(domain);
		return ERR_CAST(xrcd);
	}
	domain->xrcd = xrcd;
	return domain;
}

/* Frees a domain that did not get into the table; NULL does nothing. */
static void domain_unmake(struct domain *domain)
{
	if (!domain)
		return;
	if (ib_dealloc_xrcd_user(domain->xrcd, NULL))
		ibdev_err(domain->xrcd->device, "the driver has kept an XRC domain\n");
	kfree(domain);
}

/*
 * Gives the request's handle the domain of a file, and counts it as user.  If the file has no
 * domain yet, *@fresh becomes it and is set to NULL; without *@fresh the result is -EAGAIN.
 */
static int domain_join(struct uverbs_call *call, struct inode *inode, struct domain **fresh)
{
	struct ib_uverbs_device *udev = call->bundle.ufile->device;
	struct xrcd_open *args = call->args;
	struct domain *domain;
	int ret;

	guard(mutex)(&udev->domains_lock);
	domain = xa_load(&udev->domains, (unsigned long)inode);
	if (domain && args->oflags & O_EXCL)
		return uverbs_refuse(call, -EINVAL, "oflags has O_EXCL: the domain exists");
	if (!domain && !*fresh)
		return -EAGAIN;
	if (!domain) {
		ret = xa_insert(&udev->domains, (unsigned long)inode, *fresh, GFP_KERNEL);
		if (ret)
			return ret;
		domain = *fresh;
		*fresh = NULL;
		ihold(inode);
	}
	domain->users++;
	to_uxrcd(args->xrcd)->domain = domain;
	args->xrcd->object = domain->xrcd;
	return 0;
}

/*
 * A new domain is made without the lock, since the driver may have to wait for the program's memory
 * and other programs must not wait with it.  If one of them was faster, its domain is used and the
 * new one is freed.
 */
static int open_by_file(struct uverbs_call *call, struct inode *inode)
{
	struct xrcd_open *args = call->args;
	struct domain *fresh = NULL;
	int ret;

	ret = domain_join(call, inode, &fresh);
	if (ret != -EAGAIN)
		return ret;
	if (!(args->oflags & O_CREAT))
		return uverbs_refuse(call, -EAGAIN, "oflags lacks O_CREAT: no such domain");
	fresh = domain_make(call, inode);
	if (IS_ERR(fresh))
		return uverbs_refuse_below(call, PTR_ERR(fresh), "the driver refused");
	ret = domain_join(call, inode, &fresh);
	domain_unmake(fresh);
	return ret;
}

static int open_private(struct uverbs_call *call)
{
	struct xrcd_open *args = call->args;
	struct ib_xrcd *xrcd;

	xrcd = ib_alloc_xrcd_user(args->xrcd->context->device, NULL, &call->bundle.driver_udata);
	if (IS_ERR(xrcd))
		return uverbs_refuse_below(call, PTR_ERR(xrcd), "the driver refused");
	args->xrcd->object = xrcd;
	return 0;
}

static int run_xrcd_open(struct uverbs_call *call)
{
	struct xrcd_open *args = call->args;
	struct file *file;
	int ret;

	if ((s32)args->fd == -1) {
		ret = open_private(call);
	} else {
		file = fget(args->fd);
		if (!file)
			return uverbs_refuse(call, -EBADF, "fd %d is not open", (s32)args->fd);
		ret = open_by_file(call, file_inode(file));
		fput(file);
	}
	if (!ret)
		uverbs_mark_hw(call, args->xrcd);
	return ret;
}

static const struct uverbs_cmd cmd_xrcd_open = {
	.name = "OPEN_XRCD",
	.method = UV_NO_METHOD,
	.w_num = IB_USER_VERBS_CMD_OPEN_XRCD,
	.x_num = UV_NO_WRITE,
	.flags = UV_C_W_UHW,
	.w_req = sizeof(struct ib_uverbs_open_xrcd),
	.w_resp = sizeof(struct ib_uverbs_open_xrcd_resp),
	UV_ARGS(xrcd_open_args, xrcd_open),
	.needs = { UV_OP(alloc_xrcd) },
	.run = run_xrcd_open,
};

/* ---- CLOSE_XRCD ---- */

static const struct uverbs_arg xrcd_close_args[] = {
	{
		.name = "xrcd_handle", .kind = UV_DESTROY, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_DESTROY_XRCD_HANDLE, .type = UVERBS_OBJECT_XRCD,
		UV_BLOCK(xrcd_open, xrcd),
		.w = UV_AT(ib_uverbs_close_xrcd, xrcd_handle),
	},
};

static const struct uverbs_cmd cmd_xrcd_close = {
	.name = "CLOSE_XRCD",
	.method = UVERBS_METHOD_XRCD_DESTROY,
	.w_num = IB_USER_VERBS_CMD_CLOSE_XRCD,
	.x_num = UV_NO_WRITE,
	.w_req = sizeof(struct ib_uverbs_close_xrcd),
	UV_ARGS(xrcd_close_args, xrcd_open),
	.needs = { UV_OP(dealloc_xrcd) },
	.run = uverbs_run_destroyed,
};

/* ---- OPEN_QP ---- */

struct qp_open {
	struct ib_uobject *qp;
	struct ib_uobject *xrcd;
	u64 user_handle;
	u32 qp_num;
	u8 type;
};

static const struct uverbs_arg qp_open_args[] = {
	{
		.name = "qp", .kind = UV_NEW, .attr = UV_NO_ATTR, .type = UVERBS_OBJECT_QP,
		UV_BLOCK(qp_open, qp),
	}, {
		.name = "qp_handle", .kind = UV_HANDLE_OUT, .attr = UV_NO_ATTR,
		UV_BLOCK(qp_open, qp),
		.w = UV_AT(ib_uverbs_create_qp_resp, qp_handle),
	}, {
		.name = "user_handle", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(qp_open, user_handle),
		.w = UV_AT(ib_uverbs_open_qp, user_handle),
	}, {
		.name = "xrcd_handle", .kind = UV_READ, .attr = UV_NO_ATTR,
		.type = UVERBS_OBJECT_XRCD,
		UV_BLOCK(qp_open, xrcd),
		.w = UV_AT(ib_uverbs_open_qp, pd_handle),
	}, {
		.name = "qpn", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(qp_open, qp_num),
		.w = UV_AT(ib_uverbs_open_qp, qpn),
	}, {
		.name = "qp_type", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(qp_open, type),
		.w = UV_AT(ib_uverbs_open_qp, qp_type),
	}, {
		.name = "qpn", .kind = UV_OUT, .attr = UV_NO_ATTR,
		UV_BLOCK(qp_open, qp_num),
		.w = UV_AT(ib_uverbs_create_qp_resp, qpn),
	},
};

static int check_qp_open(struct uverbs_call *call)
{
	const struct qp_open *args = call->args;

	if (args->type == IB_QPT_XRC_TGT)
		return 0;
	return uverbs_refuse(call, -EINVAL, "qp_type %u: only XRC targets are shared", args->type);
}

static int run_qp_open(struct uverbs_call *call)
{
	struct qp_open *args = call->args;
	struct ib_qp_open_attr attr = {
		.event_handler = uverbs_qp_event_handler,
		.qp_num = args->qp_num,
		.qp_type = args->type,
	};
	struct ib_uqp_object *uqp = container_of(args->qp, struct ib_uqp_object, uevent.uobject);
	struct ib_qp *qp;

	args->qp->user_handle = args->user_handle;
	mutex_init(&uqp->groups_lock);
	INIT_LIST_HEAD(&uqp->groups);
	uverbs_uevent_init(&uqp->uevent, NULL);
	qp = ib_open_qp(args->xrcd->object, &attr);
	if (IS_ERR(qp)) {
		uverbs_uevent_release(&uqp->uevent);
		return uverbs_refuse_below(call, PTR_ERR(qp), "qpn %u: refused", args->qp_num);
	}
	qp->uobject = uqp;
	args->qp->object = qp;
	uqp->uxrcd = uverbs_xrcd_use(args->xrcd);
	uverbs_mark_hw(call, args->qp);
	return 0;
}

static const struct uverbs_cmd cmd_qp_open = {
	.name = "OPEN_QP",
	.method = UV_NO_METHOD,
	.w_num = IB_USER_VERBS_CMD_OPEN_QP,
	.x_num = UV_NO_WRITE,
	.flags = UV_C_W_UHW,
	.w_req = sizeof(struct ib_uverbs_open_qp),
	.w_resp = sizeof(struct ib_uverbs_create_qp_resp),
	UV_ARGS(qp_open_args, qp_open),
	.needs = { UV_OP(alloc_xrcd) },
	.check = check_qp_open,
	.run = run_qp_open,
};

const struct uverbs_object_desc uverbs_object_xrcd = {
	.id = UVERBS_OBJECT_XRCD,
	.type = &UVERBS_TYPE_ALLOC_IDR_SZ(sizeof(struct ib_uxrcd_object), xrcd_destroy),
	.need = UV_OP(dealloc_xrcd),
	UV_COMMANDS(&cmd_xrcd_open, &cmd_xrcd_close),
};

const struct uverbs_object_desc uverbs_object_qp_open = {
	.id = UVERBS_OBJECT_QP,
	.more = true,
	UV_COMMANDS(&cmd_qp_open),
};
