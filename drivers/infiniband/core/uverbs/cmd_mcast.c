// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Multicast groups of queue pairs.
 */
#include <linux/slab.h>

#include "commands.h"

/**
 * struct attachment - a group that a user's QP is attached to
 * @entry: in ib_uqp_object.groups
 * @gid: the group's GID
 * @mlid: the group's LID
 */
struct attachment {
	struct list_head entry;
	union ib_gid gid;
	u16 mlid;
};

struct mcast {
	struct ib_uobject *qp;
	union ib_gid gid;
	u16 mlid;
};

/* Both requests have the same layout. */
#define MCAST_ARGS(_req)								\
	{										\
		.name = "gid", .kind = UV_BLOB, .attr = UV_NO_ATTR,			\
		UV_BLOCK(mcast, gid), .w = UV_AT(_req, gid),				\
	}, {										\
		.name = "mlid", .kind = UV_INT, .attr = UV_NO_ATTR,			\
		UV_BLOCK(mcast, mlid), .w = UV_AT(_req, mlid),				\
	}, {										\
		.name = "qp_handle", .kind = UV_READ, .attr = UV_NO_ATTR,		\
		.type = UVERBS_OBJECT_QP,						\
		UV_BLOCK(mcast, qp), .w = UV_AT(_req, qp_handle),			\
	}

static struct ib_uqp_object *to_uqp(struct ib_uobject *uobj)
{
	return container_of(uobj, struct ib_uqp_object, uevent.uobject);
}

static struct attachment *find_group(const struct ib_uqp_object *uqp, const struct mcast *args)
{
	struct attachment *group;

	lockdep_assert_held(&uqp->groups_lock);
	list_for_each_entry(group, &uqp->groups, entry)
		if (group->mlid == args->mlid &&
		    !memcmp(&group->gid, &args->gid, sizeof(group->gid)))
			return group;
	return NULL;
}

static int detach(struct ib_qp *qp, struct attachment *group)
{
	int ret;

	ret = ib_detach_mcast(qp, &group->gid, group->mlid);
	if (ret)
		return ret;
	list_del(&group->entry);
	kfree(group);
	return 0;
}

/**
 * uverbs_groups_leave() - detach a QP that is being destroyed from all its groups
 * @uqp: the QP, which the caller holds exclusively
 *
 * Return: 0, or the driver's error; the QP then stays attached to the groups that are left.
 */
int uverbs_groups_leave(struct ib_uqp_object *uqp)
{
	struct attachment *group, *next;
	int ret = 0;

	guard(mutex)(&uqp->groups_lock);
	list_for_each_entry_safe(group, next, &uqp->groups, entry)
		ret = detach(uqp->uevent.uobject.object, group) ?: ret;
	return ret;
}

/* ---- ATTACH_MCAST ---- */

static const struct uverbs_arg mcast_attach_args[] = {
	MCAST_ARGS(ib_uverbs_attach_mcast)
};

/* Attaching a QP to a group again does nothing, so that one detach is enough. */
static int run_mcast_attach(struct uverbs_call *call)
{
	struct mcast *args = call->args;
	struct ib_uqp_object *uqp = to_uqp(args->qp);
	struct attachment *group;
	int ret;

	guard(mutex)(&uqp->groups_lock);
	if (find_group(uqp, args))
		return 0;
	group = kmalloc(sizeof(*group), GFP_KERNEL_ACCOUNT);
	if (!group)
		return -ENOMEM;
	group->gid = args->gid;
	group->mlid = args->mlid;
	ret = ib_attach_mcast(args->qp->object, &group->gid, group->mlid);
	if (ret) {
		kfree(group);
		return uverbs_refuse_below(call, ret, "gid %pI6c, mlid %#x: refused",
					   args->gid.raw, args->mlid);
	}
	list_add_tail(&group->entry, &uqp->groups);
	return 0;
}

static const struct uverbs_cmd cmd_mcast_attach = {
	.name = "ATTACH_MCAST",
	.method = UV_NO_METHOD,
	.w_num = IB_USER_VERBS_CMD_ATTACH_MCAST,
	.x_num = UV_NO_WRITE,
	.w_req = sizeof(struct ib_uverbs_attach_mcast),
	UV_ARGS(mcast_attach_args, mcast),
	.needs = { UV_OP(attach_mcast), UV_OP(detach_mcast) },
	.run = run_mcast_attach,
};

/* ---- DETACH_MCAST ---- */

static const struct uverbs_arg mcast_detach_args[] = {
	MCAST_ARGS(ib_uverbs_detach_mcast)
};

static int run_mcast_detach(struct uverbs_call *call)
{
	struct mcast *args = call->args;
	struct ib_uqp_object *uqp = to_uqp(args->qp);
	struct attachment *group;
	int ret;

	guard(mutex)(&uqp->groups_lock);
	group = find_group(uqp, args);
	if (!group)
		return uverbs_refuse(call, -EINVAL, "gid %pI6c, mlid %#x: the QP is not attached",
				     args->gid.raw, args->mlid);
	ret = detach(args->qp->object, group);
	return ret ? uverbs_refuse_below(call, ret, "gid %pI6c, mlid %#x: the driver refused",
					 args->gid.raw, args->mlid) : 0;
}

static const struct uverbs_cmd cmd_mcast_detach = {
	.name = "DETACH_MCAST",
	.method = UV_NO_METHOD,
	.w_num = IB_USER_VERBS_CMD_DETACH_MCAST,
	.x_num = UV_NO_WRITE,
	.w_req = sizeof(struct ib_uverbs_detach_mcast),
	UV_ARGS(mcast_detach_args, mcast),
	.needs = { UV_OP(detach_mcast) },
	.run = run_mcast_detach,
};

const struct uverbs_object_desc uverbs_object_qp_mcast = {
	.id = UVERBS_OBJECT_QP,
	.more = true,
	UV_COMMANDS(&cmd_mcast_attach, &cmd_mcast_detach),
};
