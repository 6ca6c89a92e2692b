// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands: multicast groups.
 */
#include <rdma/ib_addr.h>
#include <rdma/ib_sa.h>

#include "ucma.h"

/* ---- LEAVE_MCAST ---- */

static struct ucma_group *find_group(struct ucma_id *id, u32 number)
{
	struct ucma_group *group;

	list_for_each_entry(group, &id->groups, entry)
		if (group->number == number)
			return group;
	return NULL;
}

/* Under the file's deliver mutex.  Frees the group; returns how many of its events were read. */
static u32 leave(struct ucma_group *group)
{
	struct ucma_event *event, *next;
	struct ucma_id *id = group->id;
	LIST_HEAD(unread);
	u32 reported;

	/* Others of the id may have the same address. */
	ucma_cm->leave_multicast_of(id->cm, group);
	/* A handler that was called before has ended once this is through */
	ucma_cm->lock_handler(id->cm);
	ucma_cm->unlock_handler(id->cm);
	ucma_events_take(id, group, &unread);
	list_for_each_entry_safe(event, next, &unread, entry)
		ucma_event_free(event);
	/* An id may join and leave any number of times, so room for the group's events is freed. */
	if (group->told < UCMA_JOIN_EVENTS)
		ucma_unreserve(id, UCMA_OF_GROUP, UCMA_JOIN_EVENTS - group->told);
	reported = group->reported;
	ucma_group_free(group);
	return reported;
}

static int leave_number(struct ucma_file *file, u32 number, u32 *reported)
{
	struct ucma_group *group;
	struct ucma_id *id;
	u32 id_number;
	int ret;

	ret = ucma_group_owner(file, number, &id_number);
	if (ret)
		return ret;
	guard(mutex)(&file->deliver);
	id = ucma_id_lock(file, id_number);
	if (IS_ERR(id))
		return PTR_ERR(id);
	group = find_group(id, number);
	if (group)
		*reported = leave(group);
	else
		ret = rdma_refuse(-ENOENT, "there is no multicast group %u any more", number);
	ucma_id_unlock(id);
	return ret;
}

/**
 * ucma_leave_mcast() - LEAVE_MCAST
 * @call: the request, whose id is the group's number
 *
 * Return: 0; -EFAULT, and the group is left; -ENOENT; -EINVAL for a group of another file; -ENXIO
 * if the device is removed.
 */
int ucma_leave_mcast(struct ucma_call *call)
{
	struct rdma_ucm_destroy_id_resp resp = {};
	int ret = leave_number(call->file, call->req.destroy_id.id, &resp.events_reported);

	return ret ?: ucma_reply(call, &resp, sizeof(resp));
}

/* ---- JOIN_MCAST, JOIN_IP_MCAST ---- */

/* Under the id's lock: events of the group that come before it can be named wait to be read. */
static int join(struct ucma_id *id, struct ucma_group *group, u8 join_state)
{
	int ret = ucma_reserve(id, UCMA_OF_GROUP, UCMA_JOIN_EVENTS);

	if (ret)
		return ret;
	ret = ucma_cm->join_multicast(id->cm, (struct sockaddr *)&group->addr, join_state, group);
	if (ret)
		ucma_unreserve(id, UCMA_OF_GROUP, UCMA_JOIN_EVENTS);
	else
		ucma_group_publish(group);
	return ret;
}

static int join_device(struct ucma_id *id, u64 uid, const void *addr, size_t size, u8 join_state,
		       u32 *number)
{
	struct ucma_group *group;
	int ret;

	if (!id->cm->device)
		return rdma_refuse(-EINVAL, "id %u has no device", id->number);
	group = ucma_group_alloc(id);
	if (!group)
		return -ENOMEM;
	group->uid = uid;
	memcpy(&group->addr, addr, size);
	*number = group->number;
	ret = join(id, group, join_state);
	if (ret)
		ucma_group_free(group);
	return ret;
}

/* If the answer cannot be written, the group is left again. */
static int join_id(struct ucma_call *call, u32 id_number, u64 uid, const void *addr, size_t size,
		   u8 join_state)
{
	struct ucma_id *id = ucma_id_lock(call->file, id_number);
	struct rdma_ucm_create_id_resp resp = {};
	u32 unused;
	int ret;

	if (IS_ERR(id))
		return PTR_ERR(id);
	ret = join_device(id, uid, addr, size, join_state, &resp.id);
	ucma_id_unlock(id);
	if (ret)
		return ret;
	ret = ucma_reply(call, &resp, sizeof(resp));
	if (ret)
		leave_number(call->file, resp.id, &unused);
	return ret;
}

/**
 * ucma_join_ip_mcast() - JOIN_IP_MCAST
 * @call: the request
 *
 * Return: as ucma_join_mcast().
 */
int ucma_join_ip_mcast(struct ucma_call *call)
{
	struct rdma_ucm_join_ip_mcast *req = &call->req.join_ip_mcast;
	int size = rdma_addr_size_in6(&req->addr);

	if (!size)
		return rdma_refuse(-EINVAL, "addr: family %u is not for JOIN_IP_MCAST",
				   req->addr.sin6_family);
	return join_id(call, req->id, req->uid, &req->addr, size, BIT(FULLMEMBER_JOIN));
}

/**
 * ucma_join_mcast() - JOIN_MCAST
 * @call: the request
 *
 * Return: 0; -EFAULT; -EINVAL for a bad address, flags or an id without device; -ENOENT; -ENXIO;
 * -ENOMEM; the connection manager's error.
 */
int ucma_join_mcast(struct ucma_call *call)
{
	struct rdma_ucm_join_mcast *req = &call->req.join_mcast;
	int size = rdma_addr_size_kss(&req->addr);
	u8 join_state;

	if (!size || size != req->addr_size)
		return rdma_refuse(-EINVAL, "addr: %u bytes are no address of family %u",
				   req->addr_size, req->addr.ss_family);
	switch (req->join_flags) {
	case RDMA_MC_JOIN_FLAG_FULLMEMBER:
		join_state = BIT(FULLMEMBER_JOIN);
		break;
	case RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER:
		join_state = BIT(SENDONLY_FULLMEMBER_JOIN);
		break;
	default:
		return rdma_refuse(-EINVAL, "join_flags %u: the last one is %u", req->join_flags,
				   RDMA_MC_JOIN_FLAG_RESERVED - 1);
	}
	return join_id(call, req->id, req->uid, &req->addr, size, join_state);
}
