/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How a command of the user API is described, and what a running request looks like.
 *
 * A command is one const struct uverbs_cmd.  Its rows (struct uverbs_arg) say where each value
 * stands in every form a request can arrive in - attribute of an ioctl, member of a write()
 * structure, member of an extended write() structure - and where the handler finds it: a member
 * of the command's own argument block.  The decoders fill the block and take the objects, the
 * handler works on kernel memory only and never learns which form was used, the encoder returns
 * the results.
 */
#ifndef CORE_UVERBS_COMMAND_H
#define CORE_UVERBS_COMMAND_H

#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "uverbs.h"

struct uverbs_call;

/**
 * enum uverbs_arg_kind - what a row describes
 * @UV_INT: unsigned number into the block; ioctl carries it in its own size or in 8 bytes
 * @UV_MASK: bit mask into the block; ioctl carries it in 4 or 8 bytes; @mask says which bits exist
 * @UV_BLOB: bytes into the block; shorter requests are zero-extended
 * @UV_OUT: bytes from the block
 * @UV_HANDLE_OUT: number of a new object, write() forms only (ioctl returns it in @UV_NEW's place)
 * @UV_READ: object used by the request; struct ib_uobject pointer into the block, NULL if absent
 * @UV_WRITE: object changed by the request
 * @UV_NEW: object made by the request
 * @UV_DESTROY: object to be destroyed before the handler runs
 * @UV_LIST: memory of any length; the handler takes it from the bundle
 */
enum uverbs_arg_kind {
	UV_INT,
	UV_MASK,
	UV_BLOB,
	UV_OUT,
	UV_HANDLE_OUT,
	UV_READ,
	UV_WRITE,
	UV_NEW,
	UV_DESTROY,
	UV_LIST,
};

/* No ioctl attribute carries this row. */
#define UV_NO_ATTR	0xffff

/* Row flags. */
#define UV_F_MANDATORY	BIT(0)	/* ioctl: must be present */
#define UV_F_ZERO_TAIL	BIT(1)	/* ioctl: may be longer if the rest is zero */
#define UV_F_FD		BIT(2)	/* object is named by a file descriptor */
#define UV_F_CONST	BIT(3)	/* ioctl: number arrives in 8 bytes */
#define UV_F_BYTES_OUT	BIT(4)	/* UV_LIST that the kernel fills */
#define UV_F_COPY	BIT(5)	/* UV_LIST that the decoder copies into the kernel */

/**
 * struct uverbs_place - where a write() form keeps a value
 * @off: offset in the request, or in the response for results
 * @len: its size; 0 when the form does not carry it
 */
struct uverbs_place {
	u16 off;
	u16 len;
};

/**
 * struct uverbs_arg - one row of a command
 * @name: what a refusal calls it
 * @kind: enum uverbs_arg_kind
 * @flags: UV_F_*
 * @attr: ioctl attribute id or UV_NO_ATTR
 * @type: object type of the object kinds
 * @off: place in the argument block
 * @len: size there
 * @min: ioctl: bytes that must be present at least, when fewer than @len are acceptable
 * @w: place in the write() structure
 * @x: place in the extended write() structure
 * @mask: bits that exist, UV_MASK only
 * @when: the member means anything only if this says so: a handle in the write() forms, a result
 *	of ioctl; NULL for always
 */
struct uverbs_arg {
	const char *name;
	u8 kind;
	u8 flags;
	u16 attr;
	u16 type;
	u16 off;
	u16 len;
	u16 min;
	struct uverbs_place w;
	struct uverbs_place x;
	u64 mask;
	bool (*when)(const void *args);
};

#define UV_NO_METHOD	0xffff
#define UV_NO_WRITE	0xff
#define UV_NO_RESPLEN	0xffff

/* Command flags. */
#define UV_C_UHW	BIT(0)	/* the driver may add data of its own */
#define UV_C_W_UHW	BIT(1)	/* so also in the write() form */
#define UV_C_TAIL	BIT(2)	/* request continues behind the structure, handler reads it */
#define UV_C_STREAM_OUT	BIT(3)	/* handler fills the response itself */
#define UV_C_NO_CONTEXT	BIT(4)	/* needs no user context */

/**
 * struct uverbs_cmd - one command of the user API
 * @name: for refusals
 * @object: UVERBS_OBJECT_*
 * @method: UVERBS_METHOD_* of the ioctl form, or UV_NO_METHOD
 * @w_num: IB_USER_VERBS_CMD_* of the write() form, or UV_NO_WRITE
 * @x_num: IB_USER_VERBS_EX_CMD_* of the extended form, or UV_NO_WRITE
 * @flags: UV_C_*
 * @w_req: size of the write() request
 * @w_resp: size of its response, 0 if it has none
 * @x_req: bytes this kernel knows of an extended request, which may be shorter
 * @x_resp: bytes it fills of the extended response, as far as there is room
 * @x_resplen: offset of response_length in the extended response
 * @args_size: size of the argument block
 * @num_args: rows, of which a request keeps sets in 64 bits
 * @args: rows
 * @needs: offsets in struct ib_device_ops of the driver calls without which the command does not
 *	exist; 0 ends (alloc_hw_device_stats and the like are not called from here)
 * @check: are the numbers acceptable?  The write() forms ask before any object is taken, so that
 *	a number that is wrong is refused as such whatever the handles are; may be NULL
 * @run: the handler; returns 0 or a negative errno with the reason recorded
 */
struct uverbs_cmd {
	const char *name;
	u16 object;
	u16 method;
	u8 w_num;
	u8 x_num;
	u8 flags;
	u16 w_req;
	u16 w_resp;
	u16 x_req;
	u16 x_resp;
	u16 x_resplen;
	u16 args_size;
	u16 num_args;
	const struct uverbs_arg *args;
	u16 needs[2];
	int (*check)(struct uverbs_call *call);
	int (*run)(struct uverbs_call *call);
};

/**
 * struct uverbs_object_desc - an object type of the user API
 * @id: UVERBS_OBJECT_*
 * @type: how it is made and destroyed; NULL for DEVICE, of which no objects exist
 * @need: offset of the driver call without which the type does not exist, 0 for none
 */
struct uverbs_object_desc {
	u16 id;
	const struct uverbs_obj_type *type;
	u16 need;
};

/* What tables need: the location of a member. */
#define UV_AT(_struct, _member) \
	{ offsetof(struct _struct, _member), sizeof_field(struct _struct, _member) }
#define UV_SPAN(_struct)	{ 0, sizeof(struct _struct) }
#define UV_BLOCK(_block, _member) \
	.off = offsetof(struct _block, _member), .len = sizeof_field(struct _block, _member)
#define UV_OP(_op)		offsetof(struct ib_device_ops, _op)
#define UV_ARGS(_rows, _block) \
	.args = _rows, .args_size = sizeof(struct _block), \
	.num_args = ARRAY_SIZE(_rows) + BUILD_BUG_ON_ZERO(ARRAY_SIZE(_rows) > BITS_PER_LONG_LONG)

extern const struct uverbs_cmd *const uverbs_commands[];
extern const unsigned int uverbs_num_commands;
extern const struct uverbs_object_desc *const uverbs_objects[];
extern const unsigned int uverbs_num_objects;

/* Commands by file; commands.c joins them. */
extern const struct uverbs_object_desc uverbs_object_device, uverbs_object_async,
	uverbs_object_channel, uverbs_object_pd, uverbs_object_mr, uverbs_object_mw,
	uverbs_object_cq, uverbs_object_qp, uverbs_object_srq, uverbs_object_ah,
	uverbs_object_xrcd,
	uverbs_object_wq, uverbs_object_wq_table, uverbs_object_flow, uverbs_object_flow_action,
	uverbs_object_dm, uverbs_object_counters;
extern const struct uverbs_cmd uverbs_cmd_get_context, uverbs_cmd_query_context,
	uverbs_cmd_query_device, uverbs_cmd_query_port, uverbs_cmd_query_gid_table,
	uverbs_cmd_query_gid_entry, uverbs_cmd_info_handles, uverbs_cmd_invoke_write,
	uverbs_cmd_async_alloc, uverbs_cmd_channel_create, uverbs_cmd_pd_alloc,
	uverbs_cmd_pd_dealloc, uverbs_cmd_mr_reg, uverbs_cmd_mr_rereg, uverbs_cmd_mr_dereg,
	uverbs_cmd_mw_alloc, uverbs_cmd_mw_dealloc,
	uverbs_cmd_mr_query, uverbs_cmd_mr_advise, uverbs_cmd_mr_reg_dmabuf,
	uverbs_cmd_cq_create, uverbs_cmd_cq_destroy, uverbs_cmd_cq_resize,
	uverbs_cmd_cq_modify, uverbs_cmd_cq_poll, uverbs_cmd_cq_notify, uverbs_cmd_qp_create,
	uverbs_cmd_qp_modify, uverbs_cmd_qp_query, uverbs_cmd_qp_destroy, uverbs_cmd_post_send,
	uverbs_cmd_post_recv, uverbs_cmd_post_srq_recv, uverbs_cmd_mcast_attach,
	uverbs_cmd_mcast_detach, uverbs_cmd_srq_create, uverbs_cmd_xsrq_create,
	uverbs_cmd_srq_modify, uverbs_cmd_srq_query, uverbs_cmd_srq_destroy,
	uverbs_cmd_ah_create, uverbs_cmd_ah_destroy, uverbs_cmd_xrcd_open,
	uverbs_cmd_xrcd_close, uverbs_cmd_qp_open,
	uverbs_cmd_wq_create, uverbs_cmd_wq_modify,
	uverbs_cmd_wq_destroy, uverbs_cmd_wq_table_create, uverbs_cmd_wq_table_destroy,
	uverbs_cmd_flow_create, uverbs_cmd_flow_destroy, uverbs_cmd_flow_action_destroy,
	uverbs_cmd_dm_alloc, uverbs_cmd_dm_free, uverbs_cmd_dm_mr_reg,
	uverbs_cmd_counters_create, uverbs_cmd_counters_read, uverbs_cmd_counters_destroy;

/* ---- what a device answers (api.c) ---- */

/**
 * struct uverbs_method - one ioctl method as a device answers it
 * @cmd: the core's command, NULL for a method that only the driver has
 * @handler: the driver's handler, NULL for a core command
 * @key_len: attributes are numbered below this in @spec and in the bundle
 * @has_udata: takes driver data
 * @destroy_key: the attribute whose object is destroyed, or @key_len
 * @disabled: the method makes no sense on this device: it has no objects of a type involved
 * @unable: the device lacks a call the method needs; requests are refused with -EOPNOTSUPP
 * @mandatory: attributes that must be present
 * @row: index into @cmd->args of each attribute, or UV_NO_ROW
 * @spec: how each attribute is checked; type NA where none exists
 */
struct uverbs_method {
	const struct uverbs_cmd *cmd;
	int (*handler)(struct uverbs_attr_bundle *attrs);
	u8 key_len;
	u8 destroy_key;
	bool has_udata;
	bool disabled;
	bool unable;
	DECLARE_BITMAP(mandatory, UVERBS_API_ATTR_BKEY_LEN);
	u8 row[UVERBS_API_ATTR_BKEY_LEN];
	struct uverbs_attr_spec spec[UVERBS_API_ATTR_BKEY_LEN];
};

/* Row of an attribute that is the driver's own. */
#define UV_NO_ROW	0xff

#define UV_METHOD_KEYS	BIT(UVERBS_API_METHOD_KEY_BITS)
#define UV_OBJECT_KEYS	BIT(UVERBS_API_OBJ_KEY_BITS)

/**
 * struct uverbs_api_entry - one object type as a device answers it
 * @object: what lookups compare with; unused while its type_attrs is NULL
 * @methods: its ioctl methods by method key, NULL where none exists
 */
struct uverbs_api_entry {
	struct uverbs_api_object object;
	struct uverbs_method *methods[UV_METHOD_KEYS];
};

/**
 * struct uverbs_api - everything a device answers; constant once made
 * @driver_id: what requests must name
 * @objects: by object key; NULL where none exists
 * @write: core commands by write() number
 * @write_ex: core commands by extended write() number
 */
struct uverbs_api {
	u32 driver_id;
	struct uverbs_api_entry *objects[UV_OBJECT_KEYS];
	const struct uverbs_cmd *write[UVERBS_API_WRITE_KEY_NUM];
	const struct uverbs_cmd *write_ex[UVERBS_API_WRITE_KEY_NUM];
};

struct uverbs_api *uverbs_api_create(struct ib_device *ibdev);
void uverbs_api_destroy(struct uverbs_api *api);
const struct uverbs_method *uverbs_api_method(const struct uverbs_api *api, u16 object, u16 method);
const struct uverbs_cmd *uverbs_api_find_write(const struct uverbs_api *api, u32 command);
int uverbs_api_no_write(u32 command);
const struct uverbs_cmd *uverbs_api_write(const struct uverbs_api *api, u32 command);
const struct uverbs_api_object *uapi_get_object(struct uverbs_api *api, u16 object);

/* ---- a running request (call.c) ---- */

/**
 * struct uverbs_held - an object a request has taken
 * @next: taken before this one
 * @uobj: the object
 * @access: how it was taken
 * @hw: for a new object: the driver knows it, giving up means destroying it
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

/* Most requests fit here, on the stack of the system call: their structures and their memory. */
#define UV_STACK_BYTES	1024
#define UV_STACK(_name)	u64 _name[UV_STACK_BYTES / sizeof(u64)] __uninitialized

/**
 * struct uverbs_call - one request while it runs
 * @cmd: command, NULL for a driver's own method
 * @extended: it came in the extended write() form (or was invoked so by ioctl)
 * @written: it came in a write() form
 * @revoked: the device has gone; only destruction is served
 * @replied: the handler has returned the results itself
 * @settle: set by a handler that did more than make objects: when nothing can fail any more it is
 *	called once, to make that visible or, the request having failed, to undo it; cannot fail
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
 * @bundle: what drivers see; must be last, its attributes follow
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
void uverbs_give_back_held(struct uverbs_call *call, bool commit);
int uverbs_call_enter(struct uverbs_call *call, bool destroys);
void uverbs_call_leave(struct uverbs_call *call);

/**
 * uverbs_call_begin - set up a request
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
	/* the attributes are not looked at unless attr_present says so */
	*call = (struct uverbs_call){
		.pool = (void *)call + size,
		.pool_left = room - size,
		.on_heap = (void *)call != stack,
		.bundle.ufile = file,
	};
	return call;
}

/**
 * uverbs_call_end - free a request and all its memory
 * @call: the request, which holds no objects any more
 */
static inline void uverbs_call_end(struct uverbs_call *call)
{
	if (call->chunks || call->on_heap)
		uverbs_call_free(call);
}

/**
 * uverbs_give_back - give back every object a request has taken
 * @call: the request, of which user space has been told everything
 * @commit: it succeeded: what it made becomes visible.  Otherwise that is destroyed.
 */
static inline void uverbs_give_back(struct uverbs_call *call, bool commit)
{
	if (call->held || call->settle)
		uverbs_give_back_held(call, commit);
}

/**
 * uverbs_call_alloc - uverbs_alloc() for the core's own small things
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
	/* what is left is a multiple of a word at any time */
	size = ALIGN(size, sizeof(u64));
	call->pool += size;
	call->pool_left -= size;
	return mem;
}

struct ib_uobject *uverbs_take(struct uverbs_call *call, u16 type, enum uverbs_obj_access access,
			       s64 id, const char *name);
void uverbs_mark_hw(struct uverbs_call *call, struct ib_uobject *uobj);
void uverbs_replace(struct uverbs_call *call, struct ib_uobject *old, struct ib_uobject *fresh);
struct ib_device *uverbs_call_device(struct uverbs_call *call);

/* ---- write() forms (write.c) ---- */

int uverbs_run_written(struct uverbs_call *call, const void __user *req, size_t req_len);
void *uverbs_tail_copy(struct uverbs_call *call, size_t len, const char *name);

/* ---- argument blocks (args.c) ---- */

/**
 * uverbs_args_alloc - make the argument block of a request
 * @call: the request
 *
 * Return: 0 or -ENOMEM.
 */
static inline int uverbs_args_alloc(struct uverbs_call *call)
{
	unsigned int words = DIV_ROUND_UP(call->cmd->args_size, sizeof(u64));

	call->args = uverbs_call_alloc(call, words * sizeof(u64));
	if (IS_ERR(call->args))
		return PTR_ERR(call->args);
	memset64(call->args, 0, words);
	return 0;
}

int uverbs_arg_from_attr(struct uverbs_call *call, const struct uverbs_arg *arg,
			 const struct uverbs_attr *attr);
int uverbs_args_from_request(struct uverbs_call *call);
int uverbs_args_to_attrs(struct uverbs_call *call);
int uverbs_args_to_response(struct uverbs_call *call);
bool uverbs_cmd_destroys(const struct uverbs_cmd *cmd);

/* ---- what several commands do ---- */

int uverbs_run_destroyed(struct uverbs_call *call);
int uverbs_check_port(struct uverbs_call *call, const struct ib_device *ibdev, u32 port,
		      const char *name);
int uverbs_check_mr_access(struct uverbs_call *call, struct ib_device *ibdev, u32 access);
int uverbs_flow_specs_parse(struct uverbs_call *call, const void *specs, size_t len,
			    struct ib_flow_attr *attr, struct ib_uflow_resources *resources);

/* ---- attributes (attrs.c) ---- */

int uverbs_decode_attr(struct uverbs_call *call, struct ib_uverbs_attr *uattr,
		       const struct uverbs_attr_spec *spec, unsigned int key, const char *name);
const char *uverbs_attr_name(const struct uverbs_call *call, u16 id);
int uverbs_attr_written(struct uverbs_call *call, const struct uverbs_attr *attr);
void uverbs_udata_from_attrs(struct uverbs_call *call, struct ib_udata *udata, u16 in, u16 out);

/* A refusal that names the command. */
#define uverbs_refuse(_call, _err, _fmt, ...) \
	rdma_refuse_in((_call)->scope, _err, "%s: " _fmt, \
		       (_call)->cmd ? (_call)->cmd->name : "driver method", ##__VA_ARGS__)

/*
 * A refusal that only says what was tried: the reason came from below, where the cause was known,
 * unless nobody there gave one.
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

#endif /* CORE_UVERBS_COMMAND_H */
