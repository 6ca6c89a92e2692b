/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A request while it runs: its state, its memory, its refusals.
 */
#ifndef CORE_UVERBS_CALL_H
#define CORE_UVERBS_CALL_H

#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "table.h"
#include "uverbs.h"

struct uverbs_method;

/**
 * struct uverbs_held - an object a request has taken
 * @next: the object taken before this one, or NULL
 * @uobj: the object
 * @access: how it was taken
 * @hw: for a new object: the driver knows it, so that abort has to destroy it there
 * @uattr: ioctl: the attribute that names it, NULL if none does
 */
struct uverbs_held {
	struct uverbs_held *next;
	struct ib_uobject *uobj;
	enum uverbs_obj_access access;
	bool hw;
	const struct ib_uverbs_attr *uattr;
};

struct uverbs_chunk;

/* Bytes on the kernel stack; most requests fit into them with all their memory. */
#define UV_STACK_BYTES	1024
#define UV_STACK(_name)	u64 _name[UV_STACK_BYTES / sizeof(u64)] __uninitialized

/**
 * struct uverbs_call - one request while it runs
 * @cmd: command, NULL for a driver's own method
 * @extended: it came in the extended write() form, or an ioctl carried it in that form
 * @written: it came in a write() form
 * @revoked: the device was removed; only destruction is served
 * @replied: the handler returns the results itself
 * @settle: set by a handler that does more than make objects; called once when nothing can fail
 *	any more, with true to make the effect visible, or with false after a failure to undo it
 * @method: ioctl: the method
 * @uattrs: ioctl: private copy of the attributes
 * @user_attrs: ioctl: where they came from
 * @num_uattrs: ioctl: how many
 * @scope: reject scope of the system call
 * @held: objects taken
 * @chunks: memory that did not fit the pool
 * @results: rows of @cmd whose results are to be returned, one bit each
 * @doomed: row of the object to be destroyed, NULL if there is none; write() only
 * @args: argument block of @cmd
 * @req: write(): private copy of the request structure
 * @tail: write(): what follows it, for UV_C_TAIL
 * @tail_len: bytes of that
 * @resp: write(): where the response goes
 * @resp_len: bytes of room there
 * @pool: memory for this request, behind the bundle
 * @pool_left: bytes of it not in use
 * @on_heap: the request did not fit the stack
 * @bundle: the part that drivers see; must be last, its attributes follow
 */
struct uverbs_call {
	const struct uverbs_cmd *cmd;
	bool extended;
	bool written;
	bool revoked;
	bool replied;
	void (*settle)(struct uverbs_call *call, bool commit);
	const struct uverbs_method *method;
	struct ib_uverbs_attr *uattrs;
	struct ib_uverbs_attr __user *user_attrs;
	unsigned int num_uattrs;
	struct rdma_reject_scope *scope;
	struct uverbs_held *held;
	struct uverbs_chunk *chunks;
	u64 results;
	const struct uverbs_arg *doomed;
	void *args;
	void *req;
	const void __user *tail;
	size_t tail_len;
	void __user *resp;
	size_t resp_len;
	void *pool;
	size_t pool_left;
	bool on_heap;
	struct uverbs_attr_bundle bundle;
};

#define uverbs_call_of(_attrs)	container_of(_attrs, struct uverbs_call, bundle)

void uverbs_call_free(struct uverbs_call *call);
int uverbs_call_enter(struct uverbs_call *call, bool destroys);
void uverbs_call_leave(struct uverbs_call *call);

/**
 * uverbs_call_begin() - set up a request
 * @stack: UV_STACK_BYTES to use if they suffice, or NULL
 * @file: file it came through
 * @num_keys: attributes the bundle has room for
 * @pool: bytes of memory the request will probably want
 *
 * Return: the request, or NULL without memory.
 */
static inline struct uverbs_call *uverbs_call_begin(u64 *stack, struct ib_uverbs_file *file,
						    unsigned int num_keys, size_t pool)
{
	struct uverbs_call *call = (void *)stack;
	size_t size = ALIGN(struct_size(call, bundle.attrs, num_keys), sizeof(u64));
	size_t room = UV_STACK_BYTES;

	pool = ALIGN(pool, sizeof(u64));
	if (!stack || size + pool > room) {
		room = size + pool;
		call = kmalloc(room, GFP_KERNEL);
		if (!call)
			return NULL;
	}
	/* Attributes are not cleared: one is only read if attr_present has its bit. */
	*call = (struct uverbs_call){
		.pool = (void *)call + size,
		.pool_left = room - size,
		.on_heap = (void *)call != stack,
		.bundle.ufile = file,
	};
	return call;
}

/**
 * uverbs_call_end() - free a request and all its memory
 * @call: the request, which holds no objects any more
 */
static inline void uverbs_call_end(struct uverbs_call *call)
{
	if (call->chunks || call->on_heap)
		uverbs_call_free(call);
}

/**
 * uverbs_call_alloc() - uverbs_alloc() for the core's own small things
 * @call: the request
 * @size: bytes
 *
 * Return: memory that lives as long as the request, or ERR_PTR(-ENOMEM).
 */
static inline void *uverbs_call_alloc(struct uverbs_call *call, size_t size)
{
	void *mem = call->pool;

	if (size > call->pool_left)
		return uverbs_alloc(&call->bundle, size);
	/* The pool always has a multiple of a word left. */
	size = ALIGN(size, sizeof(u64));
	call->pool += size;
	call->pool_left -= size;
	return mem;
}

/* Refuses a request with a reason that names its command. */
#define uverbs_refuse(_call, _err, _fmt, ...) \
	rdma_refuse_in((_call)->scope, _err, "%s: " _fmt, \
		       (_call)->cmd ? (_call)->cmd->name : "driver method", ##__VA_ARGS__)

/*
 * Passes on an error from a lower layer, which recorded the reason because it knows the cause.  If
 * none was recorded, the reason given here says what was tried.
 */
#define uverbs_refuse_below(_call, _err, _fmt, ...) \
	((_call)->scope->told ? (_err) : uverbs_refuse(_call, _err, _fmt, ##__VA_ARGS__))

static inline int uverbs_refuse_destroy(struct uverbs_call *call, int err, const char *name,
					const struct ib_uobject *uobj)
{
	return uverbs_refuse_below(call, err, "%s %d: %s", name, uobj->id, err == -EBUSY ?
				   "in use by another request or other objects" :
				   "the driver cannot destroy it");
}

#endif /* CORE_UVERBS_CALL_H */
