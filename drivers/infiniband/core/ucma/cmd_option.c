// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Command: SET_OPTION.  The value is read before the id is locked.
 */
#include <linux/slab.h>
#include <rdma/ib_sa.h>

#include "ucma.h"

/**
 * struct ucma_option - an option
 * @level: RDMA_OPTION_ID or RDMA_OPTION_IB
 * @name: its name within the level
 * @len: bytes of its value
 * @read: reads the value if it has not one length
 * @set: sets it
 */
struct ucma_option {
	u32 level;
	u32 name;
	u32 len;
	int (*read)(struct ucma_call *call);
	int (*set)(struct ucma_id *id, union ucma_optval *value);
};

static int set_tos(struct ucma_id *id, union ucma_optval *value)
{
	ucma_cm->set_service_type(id->cm, value->byte);
	return 0;
}

static int set_reuseaddr(struct ucma_id *id, union ucma_optval *value)
{
	return ucma_cm->set_reuseaddr(id->cm, !!value->number);
}

static int set_afonly(struct ucma_id *id, union ucma_optval *value)
{
	return ucma_cm->set_afonly(id->cm, !!value->number);
}

static int set_ack_timeout(struct ucma_id *id, union ucma_optval *value)
{
	return ucma_cm->set_ack_timeout(id->cm, value->byte);
}

/* ---- RDMA_OPTION_IB_PATH ---- */

/* The first path of the list that has all of these flags is taken. */
#define IB_PATH_FOR_ALL	(IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL)

static int read_path(struct ucma_call *call)
{
	const struct rdma_ucm_set_option *req = &call->req.set_option;
	const struct ib_path_rec_data __user *list = u64_to_user_ptr(req->optval);
	struct ib_path_rec_data *path = &call->optval.path;

	if (req->optlen % sizeof(*path))
		return rdma_refuse(-EINVAL, "optlen %u is not a number of paths", req->optlen);
	for (u32 i = 0; i < req->optlen / sizeof(*path); i++) {
		if (copy_from_user(path, &list[i], sizeof(*path)))
			return rdma_refuse(-EFAULT, "path %u cannot be read", i);
		if (path->flags == IB_PATH_FOR_ALL)
			return 0;
		cond_resched();
	}
	return rdma_refuse(-EINVAL, "no path has the flags %#x", IB_PATH_FOR_ALL);
}

/* The path is set at once, but the program gets an event as after RESOLVE_ROUTE. */
static int set_path(struct ucma_id *id, union ucma_optval *value)
{
	const struct rdma_cm_event resolved = { .event = RDMA_CM_EVENT_ROUTE_RESOLVED };
	struct sa_path_rec path = { .rec_type = SA_PATH_REC_TYPE_IB }, opa;
	bool is_opa;
	int ret;

	if (!id->cm->device)
		return rdma_refuse(-EINVAL, "the id has no device yet");
	ret = ucma_reserve(id, UCMA_ANSWER, UCMA_RESOLVE_EVENTS);
	if (ret)
		return ret;
	ib_sa_unpack_path(value->path.path_rec, &path);
	is_opa = rdma_cap_opa_ah(id->cm->device, id->cm->port_num);
	if (is_opa)
		sa_convert_path_ib_to_opa(&opa, &path);
	ret = ucma_cm->set_ib_path(id->cm, is_opa ? &opa : &path);
	if (ret)
		ucma_unreserve(id, UCMA_ANSWER, UCMA_RESOLVE_EVENTS);
	else
		ucma_tell(id, id->cm, &resolved);
	return ret;
}

/* ---- all options ---- */

static const struct ucma_option options[] = {
	{ RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, sizeof(u8), NULL, set_tos },
	{ RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, sizeof(int), NULL, set_reuseaddr },
	{ RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, sizeof(int), NULL, set_afonly },
	{ RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, sizeof(u8), NULL, set_ack_timeout },
	{ RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, 0, read_path, set_path },
};

static const struct ucma_option *find_option(const struct rdma_ucm_set_option *req)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(options); i++)
		if (options[i].level == req->level && options[i].name == req->optname)
			return &options[i];
	return NULL;
}

/**
 * ucma_check_set_option() - is there such an option, and is this a value of it?
 * @call: the request
 *
 * Return: 0; -ENOSYS if there is no such option; -EINVAL for a wrong length; -EFAULT.
 */
int ucma_check_set_option(struct ucma_call *call)
{
	const struct rdma_ucm_set_option *req = &call->req.set_option;
	const struct ucma_option *option = find_option(req);

	if (req->optlen > KMALLOC_MAX_SIZE)
		return rdma_refuse(-EINVAL, "optlen %u > %lu", req->optlen, KMALLOC_MAX_SIZE);
	if (!option)
		return rdma_refuse(-ENOSYS, "level %u has no option %u", req->level, req->optname);
	if (option->read)
		return option->read(call);
	if (req->optlen != option->len)
		return rdma_refuse(-EINVAL, "optlen %u, option %u of level %u has %u",
				   req->optlen, req->optname, req->level, option->len);
	if (copy_from_user(&call->optval, u64_to_user_ptr(req->optval), option->len))
		return rdma_refuse(-EFAULT, "optval cannot be read");
	return 0;
}

/**
 * ucma_set_option() - SET_OPTION
 * @call: the request, which ucma_check_set_option() has passed
 *
 * Return: 0; -ENOMEM; the connection manager's error.
 */
int ucma_set_option(struct ucma_call *call)
{
	return find_option(&call->req.set_option)->set(call->id, &call->optval);
}
