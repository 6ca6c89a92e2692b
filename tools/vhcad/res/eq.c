// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Event queues.
 *
 * An object with events has a node with a bit for each of them.  As long as the
 * ring has room events go straight into it; when it is full nodes queue up,
 * and the entry that filled it tells the driver to ring when it has taken entries.
 */
#include <assert.h>
#include <endian.h>
#include <stdlib.h>

#include "lib/log.h"
#include "res/command.h"

static const u8 event_code[] = {
	[EVB_COMPLETION]	= VHCA_EV_COMPLETION,
	[EVB_CQ_ERR]		= VHCA_EV_CQ_ERR,
	[EVB_QP_FATAL]		= VHCA_EV_QP_FATAL,
	[EVB_QP_REQ_ERR]	= VHCA_EV_QP_REQ_ERR,
	[EVB_QP_ACCESS_ERR]	= VHCA_EV_QP_ACCESS_ERR,
	[EVB_COMM_EST]		= VHCA_EV_COMM_EST,
	[EVB_SQ_DRAINED]	= VHCA_EV_SQ_DRAINED,
	[EVB_LAST_WQE]		= VHCA_EV_LAST_WQE,
	[EVB_PATH_MIG]		= VHCA_EV_PATH_MIG,
	[EVB_PATH_MIG_ERR]	= VHCA_EV_PATH_MIG_ERR,
	[EVB_SRQ_LIMIT]		= VHCA_EV_SRQ_LIMIT,
	[EVB_SRQ_ERR]		= VHCA_EV_SRQ_ERR,
	[EVB_PORT_ERR]		= VHCA_EV_PORT_ERR,
	[EVB_PORT_ACTIVE]	= VHCA_EV_PORT_ACTIVE,
	[EVB_LID_CHANGE]	= VHCA_EV_LID_CHANGE,
	[EVB_PKEY_CHANGE]	= VHCA_EV_PKEY_CHANGE,
	[EVB_GID_CHANGE]	= VHCA_EV_GID_CHANGE,
	[EVB_SM_CHANGE]		= VHCA_EV_SM_CHANGE,
	[EVB_REREGISTER]	= VHCA_EV_REREGISTER,
	[EVB_PORT_CHANGE]	= VHCA_EV_PORT_CHANGE,
	[EVB_DEVICE_FATAL]	= VHCA_EV_DEVICE_FATAL,
};

void evnode_init(struct evnode *n, u32 number)
{
	INIT_LIST_HEAD(&n->node);
	n->bits = 0;
	n->number = number;
	n->port = 0;
}

void evnode_fini(struct evnode *n)
{
	list_del_init(&n->node);
	n->bits = 0;
}

/* Returns the free entries.  The driver's count is read only when none is known. */
static u32 eq_room(struct veq *eq)
{
	u32 size = 1u << eq->log;
	u64 ci;

	if (eq->pi - eq->ci >= size) {
		if (dbrec_load(&eq->rec_ci, &ci))
			return 0;
		eq->ci = ci;
	}
	return eq->pi - eq->ci < size ? size - (eq->pi - eq->ci) : 0;
}

/* Raises the vector if the driver waits, once for each arm record. */
static void eq_notify(struct veq *eq)
{
	u64 arm;

	dma_mb();
	if (dbrec_load(&eq->rec_arm, &arm))
		return;
	if (arm == eq->told || (s32)(eq->pi - 1 - (u32)arm) < 0)
		return;
	eq->told = arm;
	dev_irq(eq->dev, eq->vector);
}

/* The last word of an entry: reserved bytes and the owner bit. */
#define EQE_END		(sizeof(struct vhca_eqe) - sizeof(u64))

static_assert(offsetof(struct vhca_eqe, rsvd) <= EQE_END, "nothing else is in its last word");

static void eq_write(struct veq *eq, const struct evnode *n, u32 bit, bool more)
{
	struct vhca_eqe e = {
		.number = htole32(n->number),
		.event = event_code[bit],
		.port = n->port,
		.flags = more ? VHCA_EQE_F_MORE : 0,
	};
	u64 lap = vhca_ring_lap(eq->pi, eq->log);
	u32 off;

	if (eq->dev->lie)
		eq->dev->lie(eq->dev, ENTRY_EVENT, e.event, &e);
	if (vring_at(eq->dev->mem, &eq->ring, vhca_ring_slot(eq->pi, eq->log) * sizeof(e), &off) ||
	    dma_ref_publish(&eq->ring.ref, off, &e, EQE_END, htole64(lap << 56))) {
		dev_fatal(eq->dev, VHCA_FATAL_EQ);
		return;
	}
	eq->pi++;
	eq_notify(eq);
}

/* Events written in one pass, as very many may have waited. */
#define FLUSH_EVENTS	32u

void eq_flush_later(struct veq *eq)
{
	if (list_empty(&eq->flush_node))
		list_add_tail(&eq->flush_node, &eq->dev->flush);
}

/* A device in the fatal state reports that, and nothing else. */
static bool may_tell(const struct veq *eq, const struct evnode *n)
{
	const struct vhca_dev *dev = eq->dev;

	return !dev->fatal || (n == &dev->ev && dev->fatal != VHCA_FATAL_EQ);
}

u32 eq_flush(struct veq *eq)
{
	u32 told;

	for (told = 0; !list_empty(eq->pending); told++) {
		struct evnode *n = container_of(eq->pending->next, struct evnode, node);
		u32 bit = __builtin_ctz(n->bits);
		u32 room = eq_room(eq);

		if (!room || !may_tell(eq, n))
			break;
		if (told == FLUSH_EVENTS) {
			eq_flush_later(eq);
			break;
		}
		n->bits &= n->bits - 1;
		if (!n->bits)
			list_del_init(&n->node);
		eq_write(eq, n, bit, room == 1);
	}
	return told;
}

static void make_pending(struct list_head *list, struct evnode *n, enum event_bit bit)
{
	/* only the newest state of a port is reported */
	if (bit == EVB_PORT_ERR)
		n->bits &= ~(1u << EVB_PORT_ACTIVE);
	n->bits |= 1u << bit;
	if (list_empty(&n->node))
		list_add_tail(&n->node, list);
}

void eq_post(struct veq *eq, struct evnode *n, enum event_bit bit)
{
	make_pending(eq->pending, n, bit);
	eq_flush(eq);
}

void eq_async(struct vhca_dev *dev, struct evnode *n, enum event_bit bit)
{
	make_pending(&dev->async_pending, n, bit);
	if (dev->async_eq)
		eq_flush(dev->async_eq);
}

bool eq_fatal_waits(const struct vhca_dev *dev)
{
	/* not while the device is being reset */
	return dev->async_eq && !list_empty(&dev->ev.node) &&
	       __atomic_load_n(&dev->status, __ATOMIC_RELAXED) & VHCA_STATUS_FATAL;
}

void eq_port_change(struct vhca_dev *dev, struct evnode *n)
{
	if (dev->async_eq && dev->async_eq->flags & VHCA_EQ_PORT_CHANGE)
		eq_async(dev, n, EVB_PORT_CHANGE);
}

void dev_fatal(struct vhca_dev *dev, enum vhca_fatal code)
{
	static const char *const cause[] = {
		[VHCA_FATAL_ADMIN_RING] = "admin ring not accessible",
		[VHCA_FATAL_EQ] = "event queue not accessible",
		[VHCA_FATAL_INJECTED] = "asked for",
	};

	if (!dev_live(dev))
		return;
	log_line("%s: fatal: %s", dev->name, cause[code]);
	__atomic_store_n(&dev->fatal, code, __ATOMIC_RELEASE);
	__atomic_store_n(&dev->status, VHCA_STATUS_READY | VHCA_STATUS_FATAL, __ATOMIC_RELEASE);
	/* other pending events are of no use any more */
	dev->ev.bits = 1u << EVB_DEVICE_FATAL;
	list_add_tail(&dev->ev.node, dev->async_pending.next);
	if (dev->async_eq)
		eq_flush(dev->async_eq);
}

/* The next EQ may belong to a driver that does not know PORT_CHANGE. */
static void forget_port_changes(struct list_head *pending)
{
	list_for_each_safe(l, pending) {
		struct evnode *n = container_of(l, struct evnode, node);

		n->bits &= ~(1u << EVB_PORT_CHANGE);
		if (!n->bits)
			list_del_init(&n->node);
	}
}

void eq_destroy(struct veq *eq)
{
	if (eq->dev->async_eq == eq) {
		eq->dev->async_eq = NULL;
		forget_port_changes(&eq->dev->async_pending);
	}
	list_del_init(&eq->flush_node);
	table_del(&eq->dev->eqs, eq->eqn, 0);
	uar_slot_give(&eq->rec_ci);
	uar_slot_give(&eq->rec_arm);
	eq->uar->users--;
	free(eq);
}

/* The driver has taken entries of a ring that was full. */
static void eq_rung(void *owner)
{
	eq_flush_later(owner);
}

enum vhca_status cmd_create_eq(struct command *c)
{
	const struct vhca_create_eq_req *req = command_req(c);
	struct vhca_dev *dev = c->dev;
	struct vuar *uar = table_get(&dev->uars, le32toh(req->uar));
	u32 vector = le32toh(req->vector);
	enum vhca_status st;
	struct veq *eq;
	int err;

	if (!uar)
		return BAD_HANDLE(c, vhca_create_eq_req, uar);
	if (vector != VHCA_NO_VECTOR && vector >= dev->vectors)
		return BAD_FIELD(c, vhca_create_eq_req, vector);
	if (!req->log_entries || req->log_entries > VDEV_LOG_MAX_EQE)
		return BAD_FIELD(c, vhca_create_eq_req, log_entries);
	if (req->flags & ~(VHCA_EQ_ASYNC | VHCA_EQ_PORT_CHANGE) ||
	    (req->flags & VHCA_EQ_PORT_CHANGE &&
	     (!(req->flags & VHCA_EQ_ASYNC) || !dev_cap(dev, VHCA_CAP_PORT_CHANGE))))
		return BAD_FIELD(c, vhca_create_eq_req, flags);
	if (req->flags & VHCA_EQ_ASYNC && dev->async_eq)
		return BUSY(c, vhca_create_eq_req, flags);
	eq = calloc(1, sizeof(*eq));
	if (!eq)
		return VHCA_ST_INTERNAL;
	eq->dev = dev;
	eq->uar = uar;
	eq->vector = vector;
	eq->log = req->log_entries;
	eq->flags = req->flags;
	INIT_LIST_HEAD(&eq->own_pending);
	INIT_LIST_HEAD(&eq->flush_node);
	st = command_ring(c, offsetof(struct vhca_create_eq_req, buf),
			  sizeof(struct vhca_eqe) << eq->log, sizeof(struct vhca_eqe), true,
			  &eq->ring);
	if (st)
		goto free;
	st = command_slots(c, offsetof(struct vhca_create_eq_req, db_slot), uar,
			   le32toh(req->db_slot), eq_rung, NULL, eq, &eq->rec_ci,
			   &eq->rec_arm);
	if (st)
		goto free;
	err = table_add(&dev->eqs, eq, 0, &eq->eqn);
	if (err) {
		uar_slot_give(&eq->rec_ci);
		uar_slot_give(&eq->rec_arm);
		st = command_table_error(c, VLIM_EQS, err);
		goto free;
	}
	uar->users++;
	if (eq->flags & VHCA_EQ_ASYNC) {
		eq->pending = &dev->async_pending;
		dev->async_eq = eq;
		eq_flush(eq);
	} else {
		eq->pending = &eq->own_pending;
	}
	return command_object(c, eq->eqn);
free:
	free(eq);
	return st;
}

enum vhca_status cmd_destroy_eq(struct command *c)
{
	struct veq *eq = table_get(&c->dev->eqs, command_handle(c));

	if (!eq)
		return BAD_HANDLE(c, vhca_object_req, handle);
	if (eq->users)
		return BUSY(c, vhca_object_req, handle);
	eq_destroy(eq);
	return VHCA_ST_OK;
}
