/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Room header of uverbs/: the character device, its files, the handle table and the events that
 * user space reads.  How a request is described and decoded stands in command.h.
 */
#ifndef CORE_UVERBS_H
#define CORE_UVERBS_H

#include <linux/cdev.h>
#include <linux/completion.h>
#include <linux/device.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/percpu-refcount.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/xarray.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_reject.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_std_types.h>
#include <rdma/uverbs_types.h>

#include "../mmap/mmap.h"

struct ib_uxrcd_object;
struct uverbs_api;

/**
 * struct ib_uverbs_device - one /dev/infiniband/uverbsN
 * @dev: in class infiniband_verbs; its last reference frees this structure
 * @cdev: the character device, child of @dev
 * @groups: attribute groups of @dev
 * @ib_dev: the device behind it; good to use while a reference on @calls is held
 * @calls: requests running now; killed when the device goes, after which requests answer -EIO
 * @calls_done: the last running request has left
 * @users: open files (and one for the client), for drivers that cannot disassociate
 * @users_done: the last file of such a driver was closed
 * @devnum: N
 * @num_comp_vectors: completion vectors the device had when it was added
 * @uapi: the commands and attributes this device answers
 * @files_lock: protects @files
 * @files: open files that still have to be torn down when the device goes
 * @domains_lock: protects @domains and what is in it
 * @domains: XRC domains that a file names, by the address of its inode
 */
struct ib_uverbs_device {
	struct device dev;
	struct cdev cdev;
	const struct attribute_group *groups[2];
	struct ib_device *ib_dev;
	struct percpu_ref calls;
	struct completion calls_done;
	refcount_t users;
	struct completion users_done;
	int devnum;
	u32 num_comp_vectors;
	struct uverbs_api *uapi;
	struct mutex files_lock;
	struct list_head files;
	struct mutex domains_lock;
	struct xarray domains;
};

/**
 * struct ib_uverbs_file - one open file
 * @umaps: the file's mappings of device pages; first, since ib_core looks for it there
 * @ref: the open file itself and every event file made from it
 * @device: device node it was opened through
 * @entry: in @device->files, until torn down
 * @ucontext_lock: serialises the making of @ucontext and of @default_async_file
 * @ucontext: read with ib_uverbs_get_ucontext_file() or under @reap_lock
 * @ucontext_claimed: a request is making @ucontext; under @ucontext_lock
 * @default_async_file: takes the events of objects that name no async file of their own
 * @reap_lock: held by whoever destroys objects outside a running request: teardown, the release
 *	of event files, and destroy requests that come after the device has gone
 * @handles: handle to object; an entry is reserved from allocation to commit
 * @objects_lock: protects @objects
 * @objects: committed objects, newest first
 * @objects_kept: the driver refused to destroy some, which refer to @ucontext for ever
 * @owner: the driver's module, which cannot be removed by hand while a file is open
 * @rejects: why the last requests were refused, shown in fdinfo
 */
struct ib_uverbs_file {
	struct rdma_umaps umaps;
	struct kref ref;
	struct ib_uverbs_device *device;
	struct list_head entry;
	struct mutex ucontext_lock;
	struct ib_ucontext *ucontext;
	bool ucontext_claimed;
	struct ib_uverbs_async_event_file *default_async_file;
	struct mutex reap_lock;
	struct xarray handles;
	spinlock_t objects_lock;
	struct list_head objects;
	bool objects_kept;
	struct module *owner;
	struct rdma_reject_log rejects;
};

static_assert(offsetof(struct ib_uverbs_file, umaps) == 0);

void ib_uverbs_file_put(struct ib_uverbs_file *file);
void uverbs_file_teardown(struct ib_uverbs_file *file, enum rdma_remove_reason why);
extern const struct file_operations uverbs_fops;
extern const struct file_operations uverbs_mmap_fops;

long ib_uverbs_ioctl(struct file *filp, unsigned int cmd, unsigned long arg);
ssize_t ib_uverbs_write(struct file *filp, const char __user *buf, size_t count, loff_t *pos);

/* ---- mappings (umap_vm.c) ---- */

int ib_uverbs_mmap(struct file *filp, struct vm_area_struct *vma);
void uverbs_umaps_revoke(struct ib_uverbs_file *file);

/* ---- contexts (context.c) ---- */

int uverbs_context_claim(struct ib_uverbs_file *file);
void uverbs_context_publish(struct ib_uverbs_file *file, struct ib_ucontext *context);
void uverbs_context_drop(struct ib_uverbs_file *file, struct ib_ucontext *context);
void uverbs_context_close(struct ib_uverbs_file *file, enum rdma_remove_reason why);

/* ---- handles (handles.c) ---- */

struct ib_uobject *uverbs_uobj_begin(const struct uverbs_api_object *type,
				     struct uverbs_attr_bundle *attrs);
void uverbs_uobj_commit(struct ib_uobject *uobj);
void uverbs_uobj_abort(struct ib_uobject *uobj, struct uverbs_attr_bundle *attrs, bool hw);
struct ib_uobject *uverbs_uobj_lookup(const struct uverbs_api_object *type,
				      struct ib_uverbs_file *file, s64 id,
				      enum uverbs_obj_access access);
void uverbs_uobj_unlock(struct ib_uobject *uobj, enum uverbs_obj_access access);
int uverbs_uobj_destroy(struct ib_uobject *uobj, struct uverbs_attr_bundle *attrs);
int uverbs_uobj_replace(struct ib_uobject *old, struct ib_uobject *fresh,
			struct uverbs_attr_bundle *attrs);
void uverbs_uobjs_reap(struct ib_uverbs_file *file, enum rdma_remove_reason why);
void uverbs_handles_init(struct ib_uverbs_file *file);
void uverbs_handles_release(struct ib_uverbs_file *file);
unsigned int uverbs_handles_list(struct ib_uverbs_file *file,
				 const struct uverbs_api_object *type, u32 *ids,
				 unsigned int max);

/* ---- event files (fdobj.c) ---- */

struct ib_uobject *uverbs_fdobj_begin(const struct uverbs_api_object *type,
				      struct ib_uobject *uobj);
void uverbs_fdobj_commit(struct ib_uobject *uobj);
void uverbs_fdobj_abort(struct ib_uobject *uobj, bool started);
struct ib_uobject *uverbs_fdobj_lookup(const struct uverbs_api_object *type,
				       struct ib_uverbs_file *file, s64 fd);

/**
 * uverbs_type_is_fd - are objects of a type named by file descriptors?
 * @type: object type
 *
 * Return: true for file descriptors, false for handles.
 */
static inline bool uverbs_type_is_fd(const struct uverbs_api_object *type)
{
	return type->type_class == &uverbs_fd_class;
}

/* ---- events (events.c) ---- */

/**
 * struct ib_uverbs_event_queue - what one event file has to deliver
 * @lock: protects everything below, and the event members of the objects that report here
 * @closed: nothing will be added any more
 * @wait: readers
 * @fasync: SIGIO subscribers
 * @list: sources or events with something to deliver, oldest first
 */
struct ib_uverbs_event_queue {
	spinlock_t lock;
	bool closed;
	wait_queue_head_t wait;
	struct fasync_struct *fasync;
	struct list_head list;
};

/**
 * struct ib_uverbs_async_event - one asynchronous event
 * @entry: in the queue's list
 * @sibling: in the object's list, empty for events of the device
 * @source: object concerned, NULL for events of the device
 * @desc: what the reader gets
 */
struct ib_uverbs_async_event {
	struct list_head entry;
	struct list_head sibling;
	struct ib_uevent_object *source;
	struct ib_uverbs_async_event_desc desc;
};

/**
 * struct ib_uverbs_async_event_file - an asynchronous event file
 * @uobj: its object
 * @queue: events
 * @handler: subscription to the events of the device
 * @fatal: room for the event that ends the stream, so that it cannot fail for want of memory
 * @last_type: type of the event that was queued last, -1 for none; under the queue's lock
 */
struct ib_uverbs_async_event_file {
	struct ib_uobject uobj;
	struct ib_uverbs_event_queue queue;
	struct ib_event_handler handler;
	struct ib_uverbs_async_event fatal;
	int last_type;
};

/**
 * struct ib_uverbs_completion_event_file - a completion channel
 * @uobj: its object
 * @queue: CQs with completion events to deliver
 */
struct ib_uverbs_completion_event_file {
	struct ib_uobject uobj;
	struct ib_uverbs_event_queue queue;
};

/**
 * struct ib_uevent_object - part of every object that reports asynchronous events
 * @uobject: the object
 * @event_file: where its events go, referenced; may be NULL
 * @events: those not read yet, protected by the queue's lock
 * @events_reported: those that were read; given back when the object is destroyed
 */
struct ib_uevent_object {
	struct ib_uobject uobject;
	struct ib_uverbs_async_event_file *event_file;
	struct list_head events;
	u32 events_reported;
};

/**
 * struct ib_ucq_object - a user's completion queue
 * @uevent: object and asynchronous events
 * @channel: completion channel, referenced; may be NULL
 * @comp_entry: in the channel's queue while @comp_pending is not 0
 * @comp_pending: completion events not read yet
 * @comp_events_reported: completion events read
 */
struct ib_ucq_object {
	struct ib_uevent_object uevent;
	struct ib_uverbs_completion_event_file *channel;
	struct list_head comp_entry;
	u32 comp_pending;
	u32 comp_events_reported;
};

/**
 * struct ib_uqp_object - a user's queue pair
 * @uevent: object and asynchronous events
 * @groups_lock: protects @groups; held while the driver attaches and detaches
 * @groups: multicast groups it is attached to
 * @uxrcd: handle of the XRC domain of a target, or NULL
 */
struct ib_uqp_object {
	struct ib_uevent_object uevent;
	struct mutex groups_lock;
	struct list_head groups;
	struct ib_uxrcd_object *uxrcd;
};

/**
 * struct ib_usrq_object - a user's shared receive queue
 * @uevent: object and asynchronous events
 * @uxrcd: handle of its XRC domain, or NULL
 */
struct ib_usrq_object {
	struct ib_uevent_object uevent;
	struct ib_uxrcd_object *uxrcd;
};

/**
 * struct ib_uwq_object - a user's work queue
 * @uevent: object and asynchronous events
 */
struct ib_uwq_object {
	struct ib_uevent_object uevent;
};

/* Rooms that do not know these types take a pointer to one for one to its struct ib_uobject. */
static_assert(offsetof(struct ib_ucq_object, uevent.uobject) == 0);
static_assert(offsetof(struct ib_uqp_object, uevent.uobject) == 0);
static_assert(offsetof(struct ib_usrq_object, uevent.uobject) == 0);
static_assert(offsetof(struct ib_uwq_object, uevent.uobject) == 0);

extern const struct file_operations uverbs_comp_fops;
extern const struct file_operations uverbs_async_fops;

void uverbs_queue_init(struct ib_uverbs_event_queue *queue);
void uverbs_async_file_start(struct ib_uverbs_async_event_file *file);
void uverbs_async_file_stop(struct ib_uobject *uobj, enum rdma_remove_reason why);
void uverbs_comp_file_stop(struct ib_uobject *uobj, enum rdma_remove_reason why);
void uverbs_uevent_init(struct ib_uevent_object *uevent, struct ib_uobject *async_file);
void uverbs_uevent_release(struct ib_uevent_object *uevent);
void uverbs_ucq_release(struct ib_ucq_object *ucq);
void uverbs_comp_handler(struct ib_cq *cq, void *cq_context);
void uverbs_cq_event_handler(struct ib_event *event, void *context);
void uverbs_qp_event_handler(struct ib_event *event, void *context);
void uverbs_srq_event_handler(struct ib_event *event, void *context);
void uverbs_wq_event_handler(struct ib_event *event, void *context);

/* ---- XRC domains (cmd_xrcd.c) ---- */

struct ib_uxrcd_object *uverbs_xrcd_use(struct ib_uobject *uobj);
void uverbs_xrcd_unuse(struct ib_uxrcd_object *uxrcd);

/* ---- multicast groups of QPs (cmd_mcast.c) ---- */

int uverbs_groups_leave(struct ib_uqp_object *uqp);

#endif /* CORE_UVERBS_H */
