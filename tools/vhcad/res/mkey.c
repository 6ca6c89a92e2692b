// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory keys: commands.
 */
#include <stdlib.h>

#include "res/integrity.h"

static enum vhca_status no_buf(struct command *c)
{
	const struct vhca_create_mkey_req *req = command_req(c);
	const u8 *b = (const u8 *)&req->buf;

	for (u32 i = 0; i < sizeof(req->buf); i++)
		if (b[i])
			return refuse(c, VHCA_ST_BAD_FIELD,
				      offsetof(struct vhca_create_mkey_req, buf) + i);
	return VHCA_ST_OK;
}

/* Reads the translation part of a request into a key that is not used yet. */
static enum vhca_status read_translation(struct command *c, struct vmkey *mk)
{
	const struct vhca_create_mkey_req *req = command_req(c);
	enum vhca_status st;

	mk->iova = le64toh(req->iova);
	mk->length = le64toh(req->length);
	if (mk->type == VHCA_MKEY_PHYSICAL) {
		st = no_buf(c);
		if (st)
			return st;
		if (!mk->length)	/* the rest of the address space */
			mk->length = UINT64_MAX - mk->iova;
	}
	if (range_wraps(mk->iova, mk->length))
		return BAD_FIELD(c, vhca_create_mkey_req, length);
	if (mk->type == VHCA_MKEY_PHYSICAL)
		return VHCA_ST_OK;
	return command_buf(c, offsetof(struct vhca_create_mkey_req, buf), mk->length, 1,
			   &mk->buf);
}

static enum vhca_status create_region(struct command *c, struct vmkey *mk)
{
	const struct vhca_create_mkey_req *req = command_req(c);

	if (!rights_good(c->dev, le32toh(req->access)))
		return BAD_FIELD(c, vhca_create_mkey_req, access);
	mk->access = le32toh(req->access);
	return read_translation(c, mk);
}

static enum vhca_status create_window(struct command *c, struct vmkey *mk)
{
	const struct vhca_create_mkey_req *req = command_req(c);

	if (req->access)
		return BAD_FIELD(c, vhca_create_mkey_req, access);
	if (req->iova)
		return BAD_FIELD(c, vhca_create_mkey_req, iova);
	if (req->length)
		return BAD_FIELD(c, vhca_create_mkey_req, length);
	return no_buf(c);
}

#define ANY(cap)	(1ull << VHCA_CAP_##cap)

static const struct {
	u64 needs;		/* one of these capabilities; 0: none */
	enum vhca_status (*create)(struct command *c, struct vmkey *mk);
} types[] = {
	[VHCA_MKEY_LIST] = { 0, create_region },
	[VHCA_MKEY_PHYSICAL] = { 0, create_region },
	[VHCA_MKEY_FAST] = { ANY(FAST_REG), fast_create },
	[VHCA_MKEY_FAST_SG] = { ANY(SG_GAPS), fast_create },
	[VHCA_MKEY_FMR] = { ANY(FMR), fmr_create },
	[VHCA_MKEY_MW_1] = { ANY(MW), create_window },
	[VHCA_MKEY_MW_2] = { ANY(MW_2A) | ANY(MW_2B), create_window },
	[VHCA_MKEY_INTEGRITY] = { ANY(INTEGRITY), fast_create },
};

enum vhca_status cmd_create_mkey(struct command *c)
{
	const struct vhca_create_mkey_req *req = command_req(c);
	struct vpd *pd = table_get(&c->dev->pds, le32toh(req->pdn));
	struct vmkey new = { .type = req->type, .pd = pd };
	enum vhca_status st;
	struct vmkey *mk;
	u32 idx;
	int err;

	if (!pd)
		return BAD_HANDLE(c, vhca_create_mkey_req, pdn);
	if (new.type >= ARRAY_SIZE(types))
		return BAD_FIELD(c, vhca_create_mkey_req, type);
	if (types[new.type].needs && !(types[new.type].needs & c->dev->caps))
		return UNSUPPORTED(c, vhca_create_mkey_req, type);
	st = types[new.type].create(c, &new);
	if (st)
		return st;
	mk = new.type == VHCA_MKEY_INTEGRITY ? integrity_make() : malloc(sizeof(*mk));
	if (!mk)
		return VHCA_ST_INTERNAL;
	*mk = new;
	err = table_add(&c->dev->mkeys, mk, 0, &idx);
	if (err) {
		free(mk);
		return command_table_error(c, VLIM_MKEYS, err);
	}
	mk->key = idx << 8 | req->variant;
	if (mkey_is_window(mk))
		INIT_LIST_HEAD(&mk->mw.node);
	pd->users++;
	return command_object(c, mk->key);
}

void mkey_destroy(struct vhca_dev *dev, struct vmkey *mk)
{
	table_del(&dev->mkeys, mk->key >> 8, 0);
	mk->pd->users--;
	free(mk);
}

/* Finds a key.  Types whose variant may change are named by their index alone. */
static struct vmkey *mkey_named(struct vhca_dev *dev, u32 key)
{
	struct vmkey *mk = table_get(&dev->mkeys, key >> 8);

	if (mk && mk->type <= VHCA_MKEY_PHYSICAL && mk->key != key)
		return NULL;
	return mk;
}

static bool has_windows(const struct vmkey *mk)
{
	return !mkey_is_window(mk) && mk->windows;
}

enum vhca_status cmd_destroy_mkey(struct command *c)
{
	struct vmkey *mk = mkey_named(c->dev, command_handle(c));

	if (!mk)
		return BAD_HANDLE(c, vhca_object_req, handle);
	if (has_windows(mk))
		return BUSY(c, vhca_object_req, handle);
	mkey_unbind(mk);
	mkey_destroy(c->dev, mk);
	return VHCA_ST_OK;
}

/*
 * Commands are executed between packets, and a packet's bytes are moved in
 * the same piece of work in which its key is looked up: no access that began
 * before this point is still under way.
 */
enum vhca_status cmd_fence_mkeys(struct command *c)
{
	return VHCA_ST_OK;
}

enum vhca_status cmd_modify_mkey(struct command *c)
{
	const struct vhca_modify_mkey_req *req = command_req(c);
	struct vmkey *mk = mkey_named(c->dev, le32toh(req->key));
	u32 mask = le32toh(req->mask);
	struct vmkey new;
	enum vhca_status st;

	if (!mk)
		return BAD_HANDLE(c, vhca_modify_mkey_req, key);
	if (mk->type != VHCA_MKEY_LIST)
		return BAD_FIELD(c, vhca_modify_mkey_req, key);
	if (has_windows(mk))
		return BUSY(c, vhca_modify_mkey_req, key);
	if (!mask || mask & ~(VHCA_MKEY_MOD_ACCESS | VHCA_MKEY_MOD_PD | VHCA_MKEY_MOD_BUF))
		return BAD_FIELD(c, vhca_modify_mkey_req, mask);
	if (req->attr.type)
		return BAD_FIELD(c, vhca_modify_mkey_req, attr.type);
	if (req->attr.variant)
		return BAD_FIELD(c, vhca_modify_mkey_req, attr.variant);
	new = *mk;
	if (mask & VHCA_MKEY_MOD_ACCESS) {
		if (!rights_good(c->dev, le32toh(req->attr.access)))
			return BAD_FIELD(c, vhca_modify_mkey_req, attr.access);
		new.access = le32toh(req->attr.access);
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
