/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The structures that all of uverbs/ uses: a character device and an open file of it.
 *
 * handles.h has the objects of a file and events.h the event files.  Commands are described in the
 * format of table.h; call.h has the state of a running request and decode.h its decoders.
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
#include <rdma/ib_verbs.h>
#include <rdma/rdma_reject.h>

#include "../mmap/mmap.h"

struct ib_uverbs_async_event_file;
struct uverbs_api;

/**
 * struct ib_uverbs_device - one /dev/infiniband/uverbsN
 * @dev: in class infiniband_verbs; its last reference frees this structure
 * @cdev: the character device, child of @dev
 * @groups: attribute groups of @dev
 * @ib_dev: the device behind it; valid while a reference on @calls is held
 * @calls: running requests; killed when the device is removed, after which requests fail with -EIO
 * @calls_done: completed when the last running request has ended
 * @users: open files (and one for the client), for drivers that cannot disassociate
 * @users_done: completed when the last file of such a driver was closed
 * @devnum: N until the device is removed, then -1
 * @num_comp_vectors: completion vectors the device had when it was added
 * @uapi: the commands and methods that this device offers
 * @files_lock: protects @files
 * @files: open files that removal of the device has to tear down
 * @domains_lock: protects @domains and the domains in it
 * @domains: XRC domains that are bound to a file, by the address of its inode
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
 * @ref: references of the open file itself and of every event file made from it
 * @release: called when @ref has dropped to 0
 * @device: device node it was opened through
 * @entry: in @device->files, until torn down
 * @ucontext_lock: serialises the making of @ucontext and of @default_async_file
 * @ucontext: read with ib_uverbs_get_ucontext_file() or under @reap_lock
 * @ucontext_claimed: a request is making @ucontext; under @ucontext_lock
 * @default_async_file: takes the events of objects that name no async file of their own
 * @reap_lock: held to destroy objects outside of a running request: in teardown, on release of
 *	event files, and in destroy requests after the device was removed
 * @handles: handle to object, also of objects that are not committed yet
 * @objects_lock: protects @objects
 * @objects: committed objects, newest first
 * @objects_kept: the driver refused to destroy some objects, so that @ucontext is never freed
 * @owner: the driver's module, which cannot be unloaded while a file is open
 * @rejects: why the last requests were refused, shown in fdinfo
 */
struct ib_uverbs_file {
	struct rdma_umaps umaps;
	struct kref ref;
	void (*release)(struct kref *ref);
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

/**
 * ib_uverbs_file_put() - drop a reference on a file
 * @file: the file
 *
 * Context: process.
 */
static inline void ib_uverbs_file_put(struct ib_uverbs_file *file)
{
	kref_put(&file->ref, file->release);
}

/* file.c */
int uverbs_file_open(struct inode *inode, struct file *filp);
int uverbs_file_close(struct inode *inode, struct file *filp);
int ib_uverbs_mmap(struct file *filp, struct vm_area_struct *vma);
void uverbs_mmaps_settle(void);
void uverbs_file_teardown(struct ib_uverbs_file *file, enum rdma_remove_reason why);
int uverbs_context_claim(struct ib_uverbs_file *file);
void uverbs_context_publish(struct ib_uverbs_file *file, struct ib_ucontext *context);
void uverbs_context_drop(struct ib_uverbs_file *file, struct ib_ucontext *context);

/* umap_vm.c */
extern const struct vm_operations_struct uverbs_umap_vm_ops;
void uverbs_umaps_revoke(struct ib_uverbs_file *file);

/* ioctl.c, write.c */
long ib_uverbs_ioctl(struct file *filp, unsigned int cmd, unsigned long arg);
ssize_t ib_uverbs_write(struct file *filp, const char __user *buf, size_t count, loff_t *pos);

/* main.c */
extern const struct file_operations uverbs_fops;
extern const struct file_operations uverbs_mmap_fops;

#endif /* CORE_UVERBS_H */
