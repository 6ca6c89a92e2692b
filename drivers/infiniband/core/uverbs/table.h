/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The format in which the user API is described.
 *
 * A command is one const struct uverbs_cmd.  Its rows (struct uverbs_arg) say where each value
 * is in each form that a request can have: an attribute of an ioctl, a member of a write()
 * structure, a member of an extended write() structure.  They also say where the handler finds the
 * value, which is a member of the command's own argument block.  The decoders (decode.h) fill the
 * block and take the objects; the handler works on kernel memory only and is the same for all
 * forms; then the decoders return the results.
 *
 * An object type is one const struct uverbs_object_desc, which lists its commands.
 */
#ifndef CORE_UVERBS_TABLE_H
#define CORE_UVERBS_TABLE_H

#include <linux/array_size.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_std_types.h>
#include <rdma/uverbs_types.h>

struct uverbs_call;

/**
 * enum uverbs_arg_kind - what a row describes
 * @UV_INT: unsigned number into the block; ioctl carries it in its own size or in 8 bytes
 * @UV_MASK: bit mask into the block; ioctl carries it in 4 or 8 bytes; @mask says which bits exist
 * @UV_BLOB: bytes into the block; shorter requests are zero-extended
 * @UV_OUT: bytes from the block
 * @UV_HANDLE_OUT: handle of a new object, write() forms only (ioctl returns it in the attribute of
 *	the @UV_NEW row)
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
#define UV_F_CONST	BIT(3)	/* ioctl: the number is passed in 8 bytes */
#define UV_F_BYTES_OUT	BIT(4)	/* UV_LIST that the kernel fills */
#define UV_F_COPY	BIT(5)	/* UV_LIST that the decoder copies into the kernel */

/**
 * struct uverbs_place - where a write() form keeps a value
 * @off: offset in the request, or in the response for results
 * @len: its size; 0 if the form does not carry it
 */
struct uverbs_place {
	u16 off;
	u16 len;
};

/**
 * struct uverbs_arg - one row of a command
 * @name: its name in refusals
 * @kind: enum uverbs_arg_kind
 * @flags: UV_F_*
 * @attr: ioctl attribute id or UV_NO_ATTR
 * @type: object type of the object kinds
 * @off: place in the argument block
 * @len: size there
 * @min: ioctl: least number of bytes, if fewer than @len are acceptable
 * @w: place in the write() structure
 * @x: place in the extended write() structure
 * @mask: bits that exist, UV_MASK only
 * @when: says whether the row is used at all: a handle in the write() forms, a result of ioctl;
 *	NULL for always
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
#define UV_C_W_UHW	BIT(1)	/* UV_C_UHW applies to the write() form as well */
#define UV_C_TAIL	BIT(2)	/* request continues behind the structure, handler reads it */
#define UV_C_STREAM_OUT	BIT(3)	/* handler fills the response itself */
#define UV_C_NO_CONTEXT	BIT(4)	/* needs no user context */
#define UV_C_CARRIER	BIT(5)	/* its attributes carry a request of the write() form */

/**
 * struct uverbs_cmd - one command of the user API
 * @name: for refusals
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
 * @num_args: number of rows, at most 64, since a request keeps sets of rows in 64 bits
 * @args: rows
 * @needs: offsets in struct ib_device_ops of the driver calls without which the command does not
 *	exist; unused entries are 0, the offset of no call that commands need
 * @check: checks the numbers; may be NULL.  In the write() forms it runs before any object is
 *	taken, so that a wrong number is refused as such whatever the handles are
 * @run: the handler; returns 0 or a negative errno with the reason recorded
 */
struct uverbs_cmd {
	const char *name;
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
 * struct uverbs_object_desc - an object type of the user API, or further commands of one
 * @id: UVERBS_OBJECT_*
 * @more: another descriptor defines the type; this one only adds commands to it
 * @need: offset in struct ib_device_ops of the driver call without which the type does not exist, 0
 *	if it needs none
 * @type: how objects are made and destroyed; NULL for DEVICE, which has no objects
 * @commands: its commands, ending with NULL
 */
struct uverbs_object_desc {
	u16 id;
	bool more;
	u16 need;
	const struct uverbs_obj_type *type;
	const struct uverbs_cmd *const *commands;
};

/* The place of a member, the place of a whole structure, the offset of a driver call. */
#define UV_AT(_struct, _member) \
	{ offsetof(struct _struct, _member), sizeof_field(struct _struct, _member) }
#define UV_SPAN(_struct)	{ 0, sizeof(struct _struct) }
#define UV_BLOCK(_block, _member) \
	.off = offsetof(struct _block, _member), .len = sizeof_field(struct _block, _member)
#define UV_OP(_op)		offsetof(struct ib_device_ops, _op)
#define UV_ARGS(_rows, _block) \
	.args = _rows, .args_size = sizeof(struct _block), \
	.num_args = ARRAY_SIZE(_rows) + BUILD_BUG_ON_ZERO(ARRAY_SIZE(_rows) > BITS_PER_LONG_LONG)

/* The commands of a struct uverbs_object_desc, by their addresses. */
#define UV_COMMANDS(...)	\
	.commands = (const struct uverbs_cmd *const []){ __VA_ARGS__, NULL }

#endif /* CORE_UVERBS_TABLE_H */
