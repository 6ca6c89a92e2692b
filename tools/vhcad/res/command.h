/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Admin commands: what the handlers share.
 *
 * A handler works on a private copy of the entry, whose reserved fields, unused bytes and output
 * length were checked before.  It checks everything first and changes something only when nothing
 * can fail any more.
 */
#ifndef VHCAD_RES_COMMAND_H
#define VHCAD_RES_COMMAND_H

#include <endian.h>

#include "res/dev.h"

/**
 * struct command - a command that is being carried out
 * @dev: device
 * @sqe: private copy of the entry
 * @out_len: bytes of output that the driver wants
 * @bad_field: offset in struct vhca_asqe, or VHCA_NO_FIELD
 * @since: when the handler was called first
 * @again: the handler has done as much as it may at once, and is called again when others have had
 *	their turn
 * @resp: response, if the command succeeds
 */
struct command {
	struct vhca_dev *dev;
	struct vhca_asqe sqe;
	u32 out_len;
	u16 bad_field;
	bool again;
	u64 since;
	_Alignas(8) u8 resp[VHCA_ACQE_RESP];
};

static inline const void *command_req(const struct command *c)
{
	return c->sqe.req;
}

static inline u32 command_handle(const struct command *c)
{
	const struct vhca_object_req *req = command_req(c);

	return le32toh(req->handle);
}

/**
 * command_alone() - may the command change what other adapters or threads use: the fabric, and what
 * agents report?
 *
 * Return: false if the handler has to return VHCA_ST_OK at once, having changed nothing: it is
 * called again when no thread works for another adapter.
 */
static inline bool command_alone(struct command *c)
{
	c->again |= !adapter_alone(&c->dev->adapter);
	return !c->again;
}

static inline enum vhca_status command_object(struct command *c, u32 handle)
{
	struct vhca_object_resp *resp = (void *)c->resp;

	resp->handle = htole32(handle);
	return VHCA_ST_OK;
}

/* Refuses a command: remembers the offset of the bad field in the request, returns the status. */
static inline enum vhca_status refuse(struct command *c, enum vhca_status st, u32 off)
{
	c->bad_field = offsetof(struct vhca_asqe, req) + off;
	return st;
}

#define SET_FIELD(c, type, field)	((void)refuse(c, 0, offsetof(struct type, field)))
#define BAD_FIELD(c, type, field)	refuse(c, VHCA_ST_BAD_FIELD, offsetof(struct type, field))
#define BAD_HANDLE(c, type, field)	refuse(c, VHCA_ST_BAD_HANDLE, offsetof(struct type, field))
#define BAD_STATE(c, type, field)	refuse(c, VHCA_ST_BAD_STATE, offsetof(struct type, field))
#define BAD_ADDRESS(c, type, field)	refuse(c, VHCA_ST_BAD_ADDRESS, offsetof(struct type, field))
#define BUSY(c, type, field)		refuse(c, VHCA_ST_BUSY, offsetof(struct type, field))
#define UNSUPPORTED(c, type, field)	refuse(c, VHCA_ST_UNSUPPORTED, offsetof(struct type, field))

/** command_limited() - refuse because a limit is reached; the log says which one */
enum vhca_status command_limited(struct command *c, enum vdev_limit l);

/** command_table_error() - the status for what table_add() answered; @l: limit of the table */
enum vhca_status command_table_error(struct command *c, enum vdev_limit l, int err);

/** command_output() - write bulk output; 0 or VHCA_ST_BAD_ADDRESS */
enum vhca_status command_output(struct command *c, const void *data, u32 len);

/**
 * command_buf() - check and take over a buffer description
 * @c: command
 * @off: where it stands in the request
 * @bytes: least size of the buffer, 0 allowed
 * @align: alignment of its first byte, a power of two up to a page
 * @out: receives it
 *
 * Return: VHCA_ST_OK or a refusal that names the field.
 */
enum vhca_status command_buf(struct command *c, u32 off, u64 bytes, u32 align, struct vbuf *out);

/**
 * command_ring() - check a ring and its page list
 * @c: command
 * @off: where its vhca_buf stands in the request
 * @bytes: size of the ring
 * @entry: size of an entry
 * @write: the device writes it
 * @out: receives it
 *
 * Return: VHCA_ST_OK or a refusal that names the field.
 */
enum vhca_status command_ring(struct command *c, u32 off, u64 bytes, u32 entry, bool write,
			      struct vring *out);

#endif /* VHCAD_RES_COMMAND_H */
