// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Events on their way to user space: completion channels and asynchronous event files.
 *
 * A completion queue is its own entry in its channel's queue: it is listed while it has unread
 * events, and counts them.  Nothing is allocated when a completion event arrives, so none can be
 * lost, and a channel that is never read uses no memory.  Asynchronous events are rare and of many
 * kinds; they are allocated, except the one that ends the stream.  A program can cause some of them
 * as often as it likes, so the number of unread events of an object is limited (MOST_UNREAD).
 */
#include <kunit/visibility.h>
#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <rdma/uverbs_std_types.h>

#include "events.h"

/* Most unread events of an object, or of the device in one file; further ones are dropped. */
#define MOST_UNREAD	256

/**
 * uverbs_queue_init() - prepare the queue of a new event file
 * @queue: the queue
 */
void uverbs_queue_init(struct ib_uverbs_event_queue *queue)
{
	spin_lock_init(&queue->lock);
	init_waitqueue_head(&queue->wait);
	INIT_LIST_HEAD(&queue->list);
	queue->closed = false;
	queue->fasync = NULL;
}

/* Wakes readers.  The caller does not hold the queue's lock. */
static void queue_wake(struct ib_uverbs_event_queue *queue)
{
	wake_up_interruptible(&queue->wait);
	kill_fasync(&queue->fasync, SIGIO, POLL_IN);
}

/*
 * Waits for something to read.  Returns 0 with the lock held and the list not empty, or an error
 * without the lock: -EIO at the end of the stream.  An event that is taken from the list and cannot
 * be copied would be lost, so this first checks that the @len bytes at @buf can be written.
 */
static int queue_wait(struct ib_uverbs_event_queue *queue, const struct file *filp,
		      char __user *buf, size_t len)
{
	int ret = clear_user(buf, len) ? -EFAULT : 0;

	if (ret)
		return ret;
	spin_lock_irq(&queue->lock);
	while (list_empty(&queue->list) && !ret) {
		if (queue->closed)
			ret = -EIO;
		else if (filp->f_flags & O_NONBLOCK)
			ret = -EAGAIN;
		else if (wait_event_interruptible_lock_irq(queue->wait,
							   !list_empty(&queue->list) ||
							   queue->closed, queue->lock))
			ret = -ERESTARTSYS;
	}
	if (ret)
		spin_unlock_irq(&queue->lock);
	return ret;
}

static __poll_t queue_poll(struct ib_uverbs_event_queue *queue, struct file *filp,
			   struct poll_table_struct *table)
{
	poll_wait(filp, &queue->wait, table);

	guard(spinlock_irq)(&queue->lock);
	if (!list_empty(&queue->list))
		return EPOLLIN | EPOLLRDNORM;
	return queue->closed ? EPOLLERR : 0;
}

/* ---- completion channels ---- */

static struct ib_uverbs_completion_event_file *comp_file(struct file *filp)
{
	return container_of((struct ib_uobject *)filp->private_data,
			    struct ib_uverbs_completion_event_file, uobj);
}

static ssize_t comp_read(struct file *filp, char __user *buf, size_t count, loff_t *pos)
{
	struct ib_uverbs_event_queue *queue = &comp_file(filp)->queue;
	struct ib_uverbs_comp_event_desc desc;
	struct ib_ucq_object *ucq;
	int ret;

	ret = queue_wait(queue, filp, buf, min(count, sizeof(desc)));
	if (ret)
		return ret;
	if (count < sizeof(desc)) {
		spin_unlock_irq(&queue->lock);
		return -EINVAL;
	}
	ucq = list_first_entry(&queue->list, struct ib_ucq_object, comp_entry);
	desc.cq_handle = ucq->uevent.uobject.user_handle;
	ucq->comp_events_reported++;
	/* The CQ moves to the tail: one with constant events must not starve the others. */
	if (--ucq->comp_pending)
		list_move_tail(&ucq->comp_entry, &queue->list);
	else
		list_del_init(&ucq->comp_entry);
	spin_unlock_irq(&queue->lock);

	return copy_to_user(buf, &desc, sizeof(desc)) ? -EFAULT : sizeof(desc);
}

static __poll_t comp_poll(struct file *filp, struct poll_table_struct *table)
{
	return queue_poll(&comp_file(filp)->queue, filp, table);
}

static int comp_fasync(int fd, struct file *filp, int on)
{
	return fasync_helper(fd, filp, on, &comp_file(filp)->queue.fasync);
}

const struct file_operations uverbs_comp_fops = {
	.owner = THIS_MODULE,
	.read = comp_read,
	.poll = comp_poll,
	.fasync = comp_fasync,
	.release = uverbs_uobject_fd_release,
};

/**
 * uverbs_comp_file_stop() - end the stream of a completion channel
 * @uobj: its object
 * @why: unused, the same for a close and for the removal of the device
 *
 * Events that are still queued are discarded, as the CQs are destroyed with the device.
 */
void uverbs_comp_file_stop(struct ib_uobject *uobj, enum rdma_remove_reason why)
{
	struct ib_uverbs_event_queue *queue =
		&container_of(uobj, struct ib_uverbs_completion_event_file, uobj)->queue;
	struct ib_ucq_object *ucq, *next;

	scoped_guard(spinlock_irq, &queue->lock) {
		queue->closed = true;
		list_for_each_entry_safe(ucq, next, &queue->list, comp_entry) {
			list_del_init(&ucq->comp_entry);
			ucq->comp_pending = 0;
		}
	}
	queue_wake(queue);
}

/**
 * uverbs_comp_handler() - handle a completion event of a user's CQ
 * @cq: the CQ
 * @cq_context: queue of its channel, NULL without a channel
 *
 * Context: any.
 */
void uverbs_comp_handler(struct ib_cq *cq, void *cq_context)
{
	struct ib_uverbs_event_queue *queue = cq_context;
	struct ib_ucq_object *ucq = cq->uobject;

	if (!queue)
		return;
	scoped_guard(spinlock_irqsave, &queue->lock) {
		if (queue->closed)
			return;
		if (!ucq->comp_pending++)
			list_add_tail(&ucq->comp_entry, &queue->list);
	}
	queue_wake(queue);
}

/* ---- asynchronous event files ---- */

static struct ib_uverbs_async_event_file *async_file(struct file *filp)
{
	return container_of((struct ib_uobject *)filp->private_data,
			    struct ib_uverbs_async_event_file, uobj);
}

static ssize_t async_read(struct file *filp, char __user *buf, size_t count, loff_t *pos)
{
	struct ib_uverbs_async_event_file *file = async_file(filp);
	struct ib_uverbs_async_event *event;
	ssize_t ret;

	ret = queue_wait(&file->queue, filp, buf, min(count, sizeof(event->desc)));
	if (ret)
		return ret;
	if (count < sizeof(event->desc)) {
		spin_unlock_irq(&file->queue.lock);
		return -EINVAL;
	}
	event = list_first_entry(&file->queue.list, struct ib_uverbs_async_event, entry);
	list_del(&event->entry);
	if (event->source) {
		list_del(&event->sibling);
		event->source->events_reported++;
		event->source->unread--;
	} else if (event != &file->fatal) {
		file->unread--;
	}
	spin_unlock_irq(&file->queue.lock);

	ret = copy_to_user(buf, &event->desc, sizeof(event->desc)) ? -EFAULT : sizeof(event->desc);
	if (event != &file->fatal)
		kfree(event);
	return ret;
}

static __poll_t async_poll(struct file *filp, struct poll_table_struct *table)
{
	return queue_poll(&async_file(filp)->queue, filp, table);
}

static int async_fasync(int fd, struct file *filp, int on)
{
	return fasync_helper(fd, filp, on, &async_file(filp)->queue.fasync);
}

static void async_drop_all(struct ib_uverbs_async_event_file *file)
{
	struct ib_uverbs_async_event *event, *next;

	guard(spinlock_irq)(&file->queue.lock);
	list_for_each_entry_safe(event, next, &file->queue.list, entry) {
		list_del(&event->entry);
		if (event->source)
			list_del(&event->sibling);
		if (event != &file->fatal)
			kfree(event);
	}
}

/* Events that were queued when the device was removed could be read until this. */
static int async_release(struct inode *inode, struct file *filp)
{
	struct ib_uobject *uobj = filp->private_data;

	if (uobj) {
		uverbs_uobject_get(uobj);
		uverbs_uobject_fd_release(inode, filp);
		async_drop_all(container_of(uobj, struct ib_uverbs_async_event_file, uobj));
		uverbs_uobject_put(uobj);
	}
	return 0;
}

static void async_show_fdinfo(struct seq_file *seq, struct file *filp)
{
	struct ib_uverbs_async_event_file *file = async_file(filp);
	u64 dropped;

	scoped_guard(spinlock_irq, &file->queue.lock)
		dropped = file->dropped;
	seq_printf(seq, "uverbs-dropped:\t%llu\n", dropped);
}

const struct file_operations uverbs_async_fops = {
	.owner = THIS_MODULE,
	.read = async_read,
	.poll = async_poll,
	.fasync = async_fasync,
	.release = async_release,
	.show_fdinfo = async_show_fdinfo,
};

/* Appends an event, unless too many are unread.  @event is NULL if its allocation failed. */
static void async_append(struct ib_uverbs_async_event_file *file,
			 struct ib_uverbs_async_event *event, struct ib_uevent_object *source)
{
	u32 *unread = source ? &source->unread : &file->unread;
	bool taken = false;

	scoped_guard(spinlock_irqsave, &file->queue.lock) {
		if (!file->queue.closed && event && *unread < MOST_UNREAD) {
			(*unread)++;
			event->source = source;
			list_add_tail(&event->entry, &file->queue.list);
			if (source)
				list_add_tail(&event->sibling, &source->events);
			file->last_type = event->desc.event_type;
			taken = true;
		} else if (!file->queue.closed) {
			file->dropped++;
		}
	}
	if (taken)
		queue_wake(&file->queue);
	else
		kfree(event);
}

/*
 * Ends the stream.  On removal of the device DEVICE_FATAL comes last, unless the last event that
 * the driver reported is one.
 */
static void async_end(struct ib_uverbs_async_event_file *file, bool removal)
{
	scoped_guard(spinlock_irq, &file->queue.lock) {
		if (removal && file->last_type != IB_EVENT_DEVICE_FATAL)
			list_add_tail(&file->fatal.entry, &file->queue.list);
		file->queue.closed = true;
	}
	queue_wake(&file->queue);
}

static void async_report(struct ib_uverbs_async_event_file *file, u64 element, u32 type,
			 struct ib_uevent_object *source)
{
	struct ib_uverbs_async_event *event;

	event = kmalloc(sizeof(*event), GFP_ATOMIC);
	if (event)
		event->desc = (struct ib_uverbs_async_event_desc){
			.element = element, .event_type = type,
		};
	async_append(file, event, source);
}

static void uevent_report(struct ib_uevent_object *uevent, const struct ib_event *event)
{
	if (uevent->event_file)
		async_report(uevent->event_file, uevent->uobject.user_handle, event->event, uevent);
}

/**
 * uverbs_cq_event_handler() - handle an asynchronous event of a user's CQ
 * @event: the event
 * @context: unused
 *
 * Context: any.
 */
void uverbs_cq_event_handler(struct ib_event *event, void *context)
{
	uevent_report(&event->element.cq->uobject->uevent, event);
}

/**
 * uverbs_qp_event_handler() - handle an asynchronous event of a user's QP
 * @event: the event
 * @context: unused
 *
 * Context: any.
 */
void uverbs_qp_event_handler(struct ib_event *event, void *context)
{
	/* A shared QP (XRC target) may live on after the handle that opened it was destroyed. */
	if (event->element.qp->uobject)
		uevent_report(&event->element.qp->uobject->uevent, event);
}

/**
 * uverbs_srq_event_handler() - handle an asynchronous event of a user's SRQ
 * @event: the event
 * @context: unused
 *
 * Context: any.
 */
void uverbs_srq_event_handler(struct ib_event *event, void *context)
{
	uevent_report(&event->element.srq->uobject->uevent, event);
}

/**
 * uverbs_wq_event_handler() - handle an asynchronous event of a user's work queue
 * @event: the event
 * @context: unused
 *
 * Context: any.
 */
void uverbs_wq_event_handler(struct ib_event *event, void *context)
{
	uevent_report(&event->element.wq->uobject->uevent, event);
}

static void device_event_handler(struct ib_event_handler *handler, struct ib_event *event)
{
	async_report(container_of(handler, struct ib_uverbs_async_event_file, handler),
		     event->element.port_num, event->event, NULL);
}

/**
 * uverbs_async_file_start() - let events of the device flow into a new file
 * @file: the file; the first of a uverbs file becomes its default
 *
 * Only uverbs_async_file_stop() undoes this, so it is called after the request has succeeded.
 *
 * Context: process, inside a request.
 */
void uverbs_async_file_start(struct ib_uverbs_async_event_file *file)
{
	struct ib_uverbs_file *ufile = file->uobj.ufile;

	uverbs_queue_init(&file->queue);
	file->last_type = -1;
	file->fatal.desc.event_type = IB_EVENT_DEVICE_FATAL;
	INIT_IB_EVENT_HANDLER(&file->handler, file->uobj.context->device, device_event_handler);

	scoped_guard(mutex, &ufile->ucontext_lock) {
		if (!ufile->default_async_file) {
			uverbs_uobject_get(&file->uobj);
			/* uverbs_uevent_init() reads this without the lock. */
			smp_store_release(&ufile->default_async_file, file);
		}
	}
	ib_register_event_handler(&file->handler);
}

/**
 * uverbs_async_file_stop() - end the stream of an asynchronous event file
 * @uobj: its object
 * @why: on removal of the device (RDMA_REMOVE_DRIVER_REMOVE) DEVICE_FATAL is the last event
 */
void uverbs_async_file_stop(struct ib_uobject *uobj, enum rdma_remove_reason why)
{
	struct ib_uverbs_async_event_file *file =
		container_of(uobj, struct ib_uverbs_async_event_file, uobj);

	ib_unregister_event_handler(&file->handler);
	async_end(file, why == RDMA_REMOVE_DRIVER_REMOVE);
}

/* ---- objects that report events ---- */

/**
 * uverbs_uevent_init() - set the file to which an object's asynchronous events go
 * @uevent: the object
 * @async: event file the request names, or NULL for the file's default
 */
void uverbs_uevent_init(struct ib_uevent_object *uevent, struct ib_uobject *async)
{
	struct ib_uverbs_async_event_file *file;

	INIT_LIST_HEAD(&uevent->events);
	if (async)
		file = container_of(async, struct ib_uverbs_async_event_file, uobj);
	else
		/* This pairs with the store in uverbs_async_file_start(). */
		file = smp_load_acquire(&uevent->uobject.ufile->default_async_file);
	if (file)
		uverbs_uobject_get(&file->uobj);
	uevent->event_file = file;
}

/**
 * uverbs_uevent_release() - discard the events of a destroyed object
 * @uevent: the object; it reports no more events
 */
void uverbs_uevent_release(struct ib_uevent_object *uevent)
{
	struct ib_uverbs_async_event_file *file = uevent->event_file;
	struct ib_uverbs_async_event *event, *next;

	if (!file)
		return;
	scoped_guard(spinlock_irq, &file->queue.lock) {
		list_for_each_entry_safe(event, next, &uevent->events, sibling) {
			list_del(&event->sibling);
			list_del(&event->entry);
			kfree(event);
		}
	}
	uevent->event_file = NULL;
	uverbs_uobject_put(&file->uobj);
}

/**
 * uverbs_ucq_release() - discard all events of a destroyed CQ
 * @ucq: the CQ; it reports no more events
 */
void uverbs_ucq_release(struct ib_ucq_object *ucq)
{
	if (ucq->channel) {
		scoped_guard(spinlock_irq, &ucq->channel->queue.lock) {
			list_del_init(&ucq->comp_entry);
			ucq->comp_pending = 0;
		}
		uverbs_uobject_put(&ucq->channel->uobj);
		ucq->channel = NULL;
	}
	uverbs_uevent_release(&ucq->uevent);
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_ucq_release);
