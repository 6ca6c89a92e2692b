// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands: ids are created, destroyed, moved between files; events are read.
 */
#include <linux/file.h>

#include "ucma.h"

/* ---- CREATE_ID ---- */

static int qp_type_of(const struct rdma_ucm_create_id *req, enum ib_qp_type *qp_type)
{
	if (req->ps == RDMA_PS_IB)
		*qp_type = req->qp_type;
	else if (req->ps == RDMA_PS_UDP || req->ps == RDMA_PS_IPOIB)
		*qp_type = IB_QPT_UD;
	else if (req->ps == RDMA_PS_TCP)
		*qp_type = IB_QPT_RC;
	else
		return rdma_refuse(-EINVAL, "ps %#x is no port space", req->ps);
	return 0;
}

/**
 * ucma_create_id() - CREATE_ID
 * @call: the request
 *
 * Return: 0; -EFAULT; -EINVAL for a port space that there is not; -ENOMEM; the connection manager's
 * error.
 */
int ucma_create_id(struct ucma_call *call)
{
	const struct rdma_ucm_create_id *req = &call->req.create_id;
	struct rdma_ucm_create_id_resp resp = {};
	enum ib_qp_type qp_type;
	struct rdma_cm_id *cm;
	struct ucma_id *id;
	int ret;

	ret = qp_type_of(req, &qp_type);
	if (ret)
		return ret;
	id = ucma_id_alloc();
	if (!id)
		return -ENOMEM;
	id->file = call->file;
	id->uid = req->uid;
	id->named = true;
	cm = ucma_cm->create_user_id(ucma_handle_event, id, req->ps, qp_type);
	if (IS_ERR(cm)) {
		ucma_id_discard(id);
		return PTR_ERR(cm);
	}
	id->cm = cm;

	resp.id = id->number;
	ret = ucma_reply(call, &resp, sizeof(resp));
	if (ret)
		ucma_id_destroy(id);
	else
		ucma_id_publish(id);
	return ret;
}

/* ---- DESTROY_ID ---- */

/**
 * ucma_destroy_id() - DESTROY_ID
 * @call: the request
 *
 * Return: 0; -EFAULT, and the id is destroyed; -ENOENT; -EINVAL for an id of another file.
 */
int ucma_destroy_id(struct ucma_call *call)
{
	struct rdma_ucm_destroy_id_resp resp = {};
	struct ucma_id *id = ucma_id_claim(call->file, call->req.destroy_id.id);

	if (IS_ERR(id))
		return PTR_ERR(id);
	resp.events_reported = ucma_id_destroy(id);
	return ucma_reply(call, &resp, sizeof(resp));
}

/* ---- MIGRATE_ID ---- */

/* If the answer cannot be written, the id is moved back, with its events that are still unread. */
static int migrate(struct ucma_call *call, struct ucma_file *from)
{
	struct rdma_ucm_migrate_resp resp = {};
	u32 number = call->req.migrate_id.id, unused;
	int ret;

	ret = ucma_id_move(number, from, call->file, &resp.events_reported);
	if (ret)
		return ret;
	ret = ucma_reply(call, &resp, sizeof(resp));
	if (ret)
		ucma_id_move(number, call->file, from, &unused);
	return ret;
}

/**
 * ucma_migrate_id() - MIGRATE_ID: to this file, from the one whose descriptor is given
 * @call: the request
 *
 * Return: 0; -EFAULT, and the id has gone back; -ENOENT if there is no such descriptor or id;
 * -EINVAL for a descriptor of something else, or an id that is not of that file; -ENXIO if its
 * device is removed.
 */
int ucma_migrate_id(struct ucma_call *call)
{
	CLASS(fd, from)(call->req.migrate_id.fd);

	if (!fd_file(from))
		return rdma_refuse(-ENOENT, "fd %u is not open", call->req.migrate_id.fd);
	if (fd_file(from)->f_op != call->filp->f_op)
		return rdma_refuse(-EINVAL, "fd %u is not of rdma_cm", call->req.migrate_id.fd);
	return migrate(call, fd_file(from)->private_data);
}

/* ---- GET_EVENT ---- */

/*
 * The event stays the next one until the program has it.  After that nothing fails.
 */
static int deliver(struct ucma_call *call)
{
	struct ucma_file *file = call->file;
	struct ucma_event *event;
	int ret;

	scoped_guard(spinlock, &file->lock)
		event = list_first_entry_or_null(&file->events, struct ucma_event, entry);
	if (!event)
		return -EAGAIN;
	ret = ucma_reply(call, &event->resp, sizeof(event->resp));
	if (ret)
		return ret;
	if (event->request)
		ucma_id_publish(event->request);
	ucma_event_done(event);
	return 0;
}

/**
 * ucma_get_event() - GET_EVENT: waits, unless the file is O_NONBLOCK
 * @call: the request
 *
 * Return: 0; -EAGAIN; -EFAULT, and the event stays the next one; -ERESTARTSYS.
 */
int ucma_get_event(struct ucma_call *call)
{
	struct ucma_file *file = call->file;
	int ret;

	for (;;) {
		scoped_cond_guard(mutex_intr, return -ERESTARTSYS, &file->deliver)
			ret = deliver(call);
		if (ret != -EAGAIN || call->filp->f_flags & O_NONBLOCK)
			return ret;
		if (wait_event_interruptible(file->wait, !list_empty(&file->events)))
			return -ERESTARTSYS;
	}
}
