// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory keys: commands.
 */
#include <endian.h>
#include <stdlib.h>

#include "dev/cmd.h"
#include "dev/dev.h"

/* The translation part of a request, into a key that is not used yet. */
static enum vhca_status read_translation(struct command *c, struct vmkey *mk)
{
	const struct vhca_create_mkey_req *req = command_req(c);
	enum vhca_status st;

	mk->iova = le64toh(req->iova);
	mk->length = le64toh(req->length);
	if (mk->type == VHCA_MKEY_PHYSICAL) {
		const u8 *b = (const u8 *)&req->buf;

		for (u32 i = 0; i < sizeof(req->buf); i++)
			if (b[i])
				return refuse(c, VHCA_ST_BAD_FIELD,
					      offsetof(struct vhca_create_mkey_req, buf) + i);
		if (!mk->length)	/* the rest of the address space */
			mk->length = UINT64_MAX - mk->iova;
		return mk->length - 1 > UINT64_MAX - mk->iova ?
			BAD_FIELD(c, vhca_create_mkey_req, length) : VHCA_ST_OK;
	}
	if (mk->length && mk->length - 1 > UINT64_MAX - mk->iova)
		return BAD_FIELD(c, vhca_create_mkey_req, length);
	st = command_buf(c, offsetof(struct vhca_create_mkey_req, buf), mk->length, 1, &mk->buf);
	return st;
}

enum vhca_status cmd_create_mkey(struct command *c)
{
	const struct vhca_create_mkey_req *req = command_req(c);
	struct vpd *pd = table_get(&c->dev->pds, le32toh(req->pdn));
	struct vmkey new = { .type = req->type, .access = le32toh(req->access), .pd = pd };
	enum vhca_status st;
	struct vmkey *mk;
	u32 idx;
	int err;

	if (!pd)
		return BAD_HANDLE(c, vhca_create_mkey_req, pdn);
	if (le32toh(req->access) & ~dev_access(c->dev))
		return BAD_FIELD(c, vhca_create_mkey_req, access);
	if (new.type != VHCA_MKEY_LIST && new.type != VHCA_MKEY_PHYSICAL)
		return BAD_FIELD(c, vhca_create_mkey_req, type);
	st = read_translation(c, &new);
	if (st)
		return st;
	mk = malloc(sizeof(*mk));
	if (!mk)
		return VHCA_ST_INTERNAL;
	*mk = new;
	err = table_add(&c->dev->mkeys, mk, 0, &idx);
	if (err) {
		free(mk);
		return status_of(err);
	}
	mk->key = idx << 8 | req->variant;
	pd->users++;
	return command_object(c, mk->key);
}

void mkey_destroy(struct vhca_dev *dev, struct vmkey *mk)
{
	table_del(&dev->mkeys, mk->key >> 8, 0);
	mk->pd->users--;
	free(mk);
}

static struct vmkey *mkey_by_key(struct vhca_dev *dev, u32 key)
{
	struct vmkey *mk = table_get(&dev->mkeys, key >> 8);

	return mk && mk->key == key ? mk : NULL;
}

enum vhca_status cmd_destroy_mkey(struct command *c)
{
	struct vmkey *mk = mkey_by_key(c->dev, command_handle(c));

	if (!mk)
		return BAD_HANDLE(c, vhca_object_req, handle);
	mkey_destroy(c->dev, mk);
	return VHCA_ST_OK;
}

enum vhca_status cmd_modify_mkey(struct command *c)
{
	const struct vhca_modify_mkey_req *req = command_req(c);
	struct vmkey *mk = mkey_by_key(c->dev, le32toh(req->key));
	u32 mask = le32toh(req->mask);
	struct vmkey new;
	enum vhca_status st;

	if (!mk)
		return BAD_HANDLE(c, vhca_modify_mkey_req, key);
	if (!mask || mask & ~(VHCA_MKEY_MOD_ACCESS | VHCA_MKEY_MOD_PD | VHCA_MKEY_MOD_BUF))
		return BAD_FIELD(c, vhca_modify_mkey_req, mask);
	if (req->attr.type)
		return BAD_FIELD(c, vhca_modify_mkey_req, attr.type);
	if (req->attr.variant)
		return BAD_FIELD(c, vhca_modify_mkey_req, attr.variant);
	new = *mk;
	if (mask & VHCA_MKEY_MOD_ACCESS) {
		new.access = le32toh(req->attr.access);
		if (le32toh(req->attr.access) & ~dev_access(c->dev))
			return BAD_FIELD(c, vhca_modify_mkey_req, attr.access);
	}
	if (mask & VHCA_MKEY_MOD_PD) {
		new.pd = table_get(&c->dev->pds, le32toh(req->attr.pdn));
		if (!new.pd)
			return BAD_HANDLE(c, vhca_modify_mkey_req, attr.pdn);
	}
	if (mask & VHCA_MKEY_MOD_BUF) {
		st = read_translation(c, &new);
		if (st)
			return st;
	}
	mk->pd->users--;
	new.pd->users++;
	*mk = new;
	return VHCA_ST_OK;
}
