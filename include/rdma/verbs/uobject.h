/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Structures by which user space uses verbs objects: contexts, handles, command data
 * and mappings.
 */
#ifndef RDMA_VERBS_UOBJECT_H
#define RDMA_VERBS_UOBJECT_H

#include <linux/cgroup_rdma.h>
#include <linux/mm_types.h>
#include <linux/xarray.h>
#include <rdma/rdma_object.h>
#include <rdma/verbs/types.h>

struct uverbs_api_object;

/* Why the object of a user's handle is destroyed. */
enum rdma_remove_reason {
	RDMA_REMOVE_DESTROY,

	RDMA_REMOVE_CLOSE,

	RDMA_REMOVE_DRIVER_REMOVE,

	RDMA_REMOVE_ABORT,

	RDMA_REMOVE_DRIVER_FAILURE,
};

/* The control group that an object is charged to. */
struct ib_rdmacg_object {
#ifdef CONFIG_CGROUP_RDMA
	struct rdma_cgroup	*cg;
#endif
};

/**
 * struct ib_ucontext - a user's device context
 * @device: device
 * @ufile: open file it belongs to
 * @cg_obj: its control group charge
 * @mmap_xa: mappings offered by the driver, by page offset
 * @RDMA_OBJECT_BASE: object base
 */
struct ib_ucontext {
	struct ib_device       *device;
	struct ib_uverbs_file  *ufile;

	struct ib_rdmacg_object	cg_obj;

	struct xarray mmap_xa;

	RDMA_OBJECT_BASE;
};

/**
 * struct ib_uobject - a user's handle for an object
 * @user_handle: value that user space chose, returned in events
 * @ufile: open file it belongs to
 * @context: device context
 * @object: the object, NULL before creation and after revocation
 * @list: entry in the file's list
 * @cg_obj: control group charge
 * @id: handle number in the file, or descriptor
 * @ref: references to this structure
 * @usecnt: number of shared users, -1 while locked exclusively
 * @rcu: frees the structure
 * @uapi_object: description of the object type
 */
struct ib_uobject {
	u64			user_handle;

	struct ib_uverbs_file  *ufile;

	struct ib_ucontext     *context;
	void		       *object;
	struct list_head	list;
	struct ib_rdmacg_object	cg_obj;
	int			id;
	struct kref		ref;
	atomic_t		usecnt;
	struct rcu_head		rcu;

	const struct uverbs_api_object *uapi_object;
};

/* The driver's part of a command: bytes it may read and bytes it may write. */
struct ib_udata {
	const void __user *inbuf;
	void __user *outbuf;
	size_t       inlen;
	size_t       outlen;
};

/**
 * struct rdma_user_mmap_entry - pages that a driver lets user space map
 * @ref: references: one of the table, one of each mapping
 * @ucontext: context that it was inserted in
 * @start_pgoff: first page offset
 * @npages: length
 * @driver_removed: the driver has removed the entry; no new mapping may use it
 *
 * A driver embeds it; ops.mmap_free() is called when the last reference is released.
 */
struct rdma_user_mmap_entry {
	struct kref ref;
	struct ib_ucontext *ucontext;
	unsigned long start_pgoff;
	size_t npages;
	bool driver_removed;
};

/**
 * rdma_user_mmap_get_offset() - get the offset that user space passes to mmap()
 * @entry: inserted entry
 *
 * Return: offset in bytes.
 */
static inline u64 rdma_user_mmap_get_offset(const struct rdma_user_mmap_entry *entry)
{
	return (u64)entry->start_pgoff * PAGE_SIZE;
}

int rdma_user_mmap_io(struct ib_ucontext *ucontext, struct vm_area_struct *vma,
		      unsigned long pfn, unsigned long size, pgprot_t prot,
		      struct rdma_user_mmap_entry *entry);

int rdma_user_mmap_entry_insert(struct ib_ucontext *ucontext,
				struct rdma_user_mmap_entry *entry,
				size_t length);

int rdma_user_mmap_entry_insert_range(struct ib_ucontext *ucontext,
				      struct rdma_user_mmap_entry *entry,
				      size_t length, u32 min_pgoff,
				      u32 max_pgoff);

#if IS_ENABLED(CONFIG_INFINIBAND_USER_ACCESS)
void rdma_user_mmap_disassociate(struct ib_device *device);
#else
static inline void rdma_user_mmap_disassociate(struct ib_device *device) {}
#endif

/**
 * rdma_user_mmap_entry_insert_exact() - insert an entry at one fixed page offset
 * @ucontext: context
 * @entry: entry
 * @length: bytes
 * @pgoff: page offset
 *
 * Return: 0, -EBUSY if another entry occupies these offsets, or -ENOMEM.
 */
static inline int
rdma_user_mmap_entry_insert_exact(struct ib_ucontext *ucontext,
				  struct rdma_user_mmap_entry *entry,
				  size_t length, u32 pgoff)
{
	u32 min_pgoff = pgoff, max_pgoff = pgoff;

	return rdma_user_mmap_entry_insert_range(ucontext, entry, length, min_pgoff, max_pgoff);
}

struct rdma_user_mmap_entry *
rdma_user_mmap_entry_get_pgoff(struct ib_ucontext *ucontext,
			       unsigned long pgoff);

struct rdma_user_mmap_entry *
rdma_user_mmap_entry_get(struct ib_ucontext *ucontext,
			 struct vm_area_struct *vma);

void rdma_user_mmap_entry_put(struct rdma_user_mmap_entry *entry);

void rdma_user_mmap_entry_remove(struct rdma_user_mmap_entry *entry);

/**
 * ib_copy_from_udata() - read the driver's part of a command
 * @dest: kernel buffer
 * @udata: command
 * @len: bytes; the caller has checked that udata->inlen is not smaller
 *
 * Return: 0 or -EFAULT.
 */
static inline int ib_copy_from_udata(void *dest, struct ib_udata *udata, size_t len)
{
	if (copy_from_user(dest, udata->inbuf, len))
		return -EFAULT;
	return 0;
}

/**
 * ib_copy_to_udata() - write the driver's part of a response
 * @udata: command
 * @src: kernel buffer
 * @len: bytes; the caller has checked that udata->outlen is not smaller
 *
 * Return: 0 or -EFAULT.
 */
static inline int ib_copy_to_udata(struct ib_udata *udata, void *src, size_t len)
{
	if (copy_to_user(udata->outbuf, src, len))
		return -EFAULT;
	return 0;
}

/**
 * ib_is_buffer_cleared() - are these bytes of user memory all zero?
 * @p: user address
 * @len: bytes, at most USHRT_MAX
 *
 * Return: true if so; false also when the bytes cannot be read.
 */
static inline bool ib_is_buffer_cleared(const void __user *p, size_t len)
{
	return len <= USHRT_MAX && check_zeroed_user(p, len) > 0;
}

/**
 * ib_is_udata_cleared() - is the tail of a command zero?
 * @udata: command
 * @offset: where the tail starts
 * @len: bytes of the tail
 *
 * Return: true if so; false also when the bytes cannot be read.
 */
static inline bool ib_is_udata_cleared(struct ib_udata *udata, size_t offset, size_t len)
{
	return ib_is_buffer_cleared(udata->inbuf + offset, len);
}

struct ib_ucontext *ib_uverbs_get_ucontext_file(struct ib_uverbs_file *ufile);

int uverbs_destroy_def_handler(struct uverbs_attr_bundle *attrs);

#endif /* RDMA_VERBS_UOBJECT_H */
