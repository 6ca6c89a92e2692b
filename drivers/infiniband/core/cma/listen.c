// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Listening.  An id listens on its device, or, if its address belongs to none in particular, on
 * each that there is and on each that comes.  What it has on one device is a struct cma_listen.
 */
#include <kunit/static_stub.h>
#include <kunit/visibility.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "cma_priv.h"

static int begin_iw(struct cma_listen *listen)
{
	struct cma_id *id = listen->id;
	struct iw_cm_id *iw;
	int ret;

	iw = iw_create_cm_id(listen->cma_dev->device, cma_iw_listen_handler, listen);
	if (IS_ERR(iw))
		return PTR_ERR(iw);
	scoped_guard(mutex, &id->qp_lock) {
		iw->tos_set = id->tos_set;
		iw->tos = id->tos;
	}
	iw->afonly = id->afonly;
	memcpy(&iw->local_addr, cma_src_addr(id), rdma_addr_size(cma_src_addr(id)));
	/* A request may come before the call returns. */
	listen->iw = iw;
	ret = iw_cm_listen(iw, id->backlog);
	if (ret)
		iw_destroy_cm_id(iw);
	return ret;
}

static int begin_ib(struct cma_listen *listen)
{
	struct cma_id *id = listen->id;
	struct ib_cm_id *ib;

	ib = ib_cm_insert_listen(listen->cma_dev->device, cma_ib_listen_handler,
				 rdma_get_service_id(&id->id, cma_src_addr(id)));
	if (IS_ERR(ib))
		return PTR_ERR(ib);
	listen->ib = ib;
	return 0;
}

/**
 * cma_begin_listen() - let the transport listen
 * @listen: listen whose id and device are set; receives the transport's id
 *
 * Return: 0; -ENOSYS on a device that has neither of the managers at its first port; what ib_cm or
 * iw_cm returned.
 */
VISIBLE_IF_KUNIT int cma_begin_listen(struct cma_listen *listen)
{
	struct ib_device *device = listen->cma_dev->device;

	KUNIT_STATIC_STUB_REDIRECT(cma_begin_listen, listen);
	if (cma_device_is_ib(listen->cma_dev))
		return begin_ib(listen);
	if (rdma_cap_iw_cm(device, rdma_start_port(device)))
		return begin_iw(listen);
	return rdma_refuse(-ENOSYS, "the device has no connection manager");
}
EXPORT_SYMBOL_IF_KUNIT(cma_begin_listen);

/* cma_devices_lock is held for writing. */
static int listen_on(struct cma_id *id, struct cma_device *cma_dev)
{
	struct cma_listen *listen = kzalloc(sizeof(*listen), GFP_KERNEL);
	int ret;

	if (!listen)
		return -ENOMEM;
	listen->id = id;
	listen->cma_dev = cma_dev;
	ret = cma_begin_listen(listen);
	if (ret) {
		kfree(listen);
		return ret;
	}
	cma_track_listen(listen);
	cma_get_id(id);
	refcount_inc(&cma_dev->refs);
	list_add_tail(&listen->id_entry, &id->listens);
	list_add_tail(&listen->dev_entry, &cma_dev->listens);
	return 0;
}

/* An AF_IB address is nothing to iWARP. */
static bool listens_there(struct cma_id *id, struct cma_device *cma_dev)
{
	return cma_family(id) != AF_IB || cma_device_is_ib(cma_dev);
}

static int listen_everywhere(struct cma_id *id)
{
	struct cma_device *cma_dev;
	int ret;

	/* The lock keeps devices from coming before the id is in the list of wildcards. */
	list_for_each_entry(cma_dev, &cma_devices, entry) {
		if (!listens_there(id, cma_dev))
			continue;
		ret = listen_on(id, cma_dev);
		if (ret)
			return ret;
	}
	list_add_tail(&id->wildcard_entry, &cma_wildcards);
	return 0;
}

/**
 * cma_listen_on_new_device() - have ids that listen on all devices listen on a new one
 * @cma_dev: the device, not yet in the list of devices
 *
 * Context: may sleep; cma_devices_lock is held for writing.
 * Return: 0, or the error of the first that could not; the caller ends what has begun.
 */
int cma_listen_on_new_device(struct cma_device *cma_dev)
{
	struct cma_id *id;
	int ret;

	list_for_each_entry(id, &cma_wildcards, wildcard_entry) {
		if (!listens_there(id, cma_dev))
			continue;
		ret = listen_on(id, cma_dev);
		if (ret)
			return ret;
	}
	return 0;
}

/* The id has made the step to LISTEN. */
static int begin(struct cma_id *id)
{
	int ret = cma_claim_port(id);

	if (ret)
		return ret;
	scoped_guard(rwsem_write, &cma_devices_lock)
		ret = id->cma_dev ? listen_on(id, id->cma_dev) : listen_everywhere(id);
	if (ret)
		cma_unlisten(id);
	return ret;
}

/**
 * rdma_listen() - take requests for an id's address and port
 * @id: id with a local address, or without: then it gets the IPv4 wildcard and an ephemeral port
 * @backlog: requests that iWARP devices keep for a consumer who has not answered; not used on
 *	others
 *
 * Each request makes an id of its own, with the listener's handler and context, and reports
 * CONNECT_REQUEST there.  A shared port (rdma_set_reuseaddr()) becomes the listener's own.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL in another state; -EADDRINUSE or -EADDRNOTAVAIL if others have the port, too;
 * -ENOSYS if the device has no connection manager; -ENOMEM; what ib_cm or iw_cm returned.
 */
int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	struct cma_id *own = to_cma_id(id);
	int ret = 0;

	if (cma_state(own) == RDMA_CM_IDLE)
		ret = cma_bind_any(own, AF_INET);
	if (ret)
		return ret;
	if (!cma_step(own, CMA_LISTEN))
		return rdma_refuse(-EINVAL, "listening in state %d", cma_state(own));
	own->backlog = backlog;
	ret = begin(own);
	if (ret) {
		own->backlog = 0;
		cma_step(own, CMA_LISTEN_FAILED);
	}
	return ret;
}
EXPORT_SYMBOL(rdma_listen);
