// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * UARs: doorbell pages, and the owners of their records.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "lib/hash.h"
#include "res/command.h"

int uar_slot_take(struct vuar *uar, u32 slot, void (*rung)(void *owner), void *owner,
		  struct dbrec *rec)
{
	u32 page = slot / VHCA_DB_SLOTS, n = slot % VHCA_DB_SLOTS;
	struct db_page *p;

	if (page >= uar->npages)
		return -EINVAL;
	p = uar->page[page];
	if (p->slot[n].owner)
		return -EBUSY;
	p->slot[n] = (struct db_slot){ .owner = owner, .rung = rung };
	rec->page = p;
	rec->off = offsetof(struct vhca_db_page, rec) + n * sizeof(__le64);
	return 0;
}

void uar_slot_give(struct dbrec *rec)
{
	u32 n = (rec->off - offsetof(struct vhca_db_page, rec)) / sizeof(__le64);

	rec->page->slot[n] = (struct db_slot){ 0 };
}

enum vhca_status command_slots(struct command *c, u32 field, struct vuar *uar, u32 slot,
			       void (*rung0)(void *owner), void (*rung1)(void *owner),
			       void *owner, struct dbrec *r0, struct dbrec *r1)
{
	int err = slot == UINT32_MAX ? -EINVAL : uar_slot_take(uar, slot, rung0, owner, r0);

	if (!err) {
		err = uar_slot_take(uar, slot + 1, rung1, owner, r1);
		if (err)
			uar_slot_give(r0);
	}
	if (!err)
		return VHCA_ST_OK;
	return refuse(c, err == -EBUSY ? VHCA_ST_BUSY : VHCA_ST_BAD_FIELD, field);
}

void uar_init(struct vhca_dev *dev)
{
	/* a guest must not be able to choose pages that fall into one bucket */
	memcpy(&dev->db_pages.seed, (const u8 *)getauxval(AT_RANDOM) + sizeof(u64),
	       sizeof(dev->db_pages.seed));
}

void uar_fini(struct vhca_dev *dev)
{
	free(dev->db_pages.bucket);
}

/* Returns where the pointer to the page at an address is, or where it would be. */
static struct db_page **find_page(struct db_pages *ps, u64 addr)
{
	u64 sum = hash_seeded(addr / VHCA_DB_PAGE_SIZE, ps->seed);
	struct db_page **p = &ps->bucket[sum >> 32 & (DB_PAGE_BUCKETS - 1)];

	while (*p && (*p)->ref.iova != addr)
		p = &(*p)->next;
	return p;
}

static void drop_page(struct vhca_dev *dev, struct db_page *p)
{
	*find_page(&dev->db_pages, p->ref.iova) = p->next;
	dev->db_pages.used--;
	free(p);
}

/* Adds a page.  A refusal for its address names the field at offset @field of the request. */
static enum vhca_status add_page(struct command *c, struct vuar *uar, u64 addr, u32 field)
{
	struct vhca_dev *dev = c->dev;
	struct db_page *p;

	if (!dev->db_pages.bucket) {
		dev->db_pages.bucket = calloc(DB_PAGE_BUCKETS, sizeof(*dev->db_pages.bucket));
		if (!dev->db_pages.bucket)
			return VHCA_ST_INTERNAL;
	}
	if (*find_page(&dev->db_pages, addr))
		return refuse(c, VHCA_ST_BUSY, field);
	if (dev->db_pages.used == dev->limit[VLIM_DB_PAGES]) {
		refuse(c, VHCA_ST_NO_RESOURCE, field);
		return command_limited(c, VLIM_DB_PAGES);
	}
	if (uar->npages == uar->maxpages) {
		u32 max = uar->maxpages ? 2 * uar->maxpages : 1;
		struct db_page **page = realloc(uar->page, max * sizeof(*page));

		if (!page)
			return VHCA_ST_INTERNAL;
		uar->page = page;
		uar->maxpages = max;
	}
	p = calloc(1, sizeof(*p));
	if (!p)
		return VHCA_ST_INTERNAL;
	if (gmem_ref_get(&p->ref, dev->mem, addr, VHCA_DB_PAGE_SIZE, true)) {
		free(p);
		return refuse(c, VHCA_ST_BAD_ADDRESS, field);
	}
	*find_page(&dev->db_pages, addr) = p;
	dev->db_pages.used++;
	if (uar->npages)
		uar->page[uar->npages - 1]->after = p;
	uar->page[uar->npages++] = p;
	return VHCA_ST_OK;
}

static bool page_aligned(u64 addr)
{
	return addr % VHCA_DB_PAGE_SIZE == 0;
}

void uar_destroy(struct vhca_dev *dev, struct vuar *uar)
{
	list_del_init(&uar->hot_node);
	table_del(&dev->uars, uar->uar, 0);
	for (u32 i = 0; i < uar->npages; i++)
		drop_page(dev, uar->page[i]);
	free(uar->page);
	free(uar);
}

enum vhca_status cmd_open_uar(struct command *c)
{
	const struct vhca_open_uar_req *req = command_req(c);
	u64 addr = le64toh(req->db_page);
	enum vhca_status st;
	struct vuar *uar;
	int err;

	if (!page_aligned(addr))
		return BAD_FIELD(c, vhca_open_uar_req, db_page);
	uar = calloc(1, sizeof(*uar));
	if (!uar)
		return VHCA_ST_INTERNAL;
	INIT_LIST_HEAD(&uar->hot_node);
	st = add_page(c, uar, addr, offsetof(struct vhca_open_uar_req, db_page));
	if (st)
		goto free;
	err = table_add(&c->dev->uars, uar, 0, &uar->uar);
	if (err) {
		drop_page(c->dev, uar->page[0]);
		st = command_table_error(c, VLIM_UARS, err);
		goto free;
	}
	/* it is hot until it is armed, which the engine does before it sleeps */
	uar->hot = true;
	list_add_tail(&uar->hot_node, &c->dev->hot);
	return command_object(c, uar->uar);
free:
	free(uar->page);
	free(uar);
	return st;
}

enum vhca_status cmd_add_db_page(struct command *c)
{
	const struct vhca_add_db_page_req *req = command_req(c);
	struct vuar *uar = table_get(&c->dev->uars, le32toh(req->uar));
	u64 addr = le64toh(req->db_page);

	if (!uar)
		return BAD_HANDLE(c, vhca_add_db_page_req, uar);
	if (le32toh(req->page) != uar->npages)
		return BAD_FIELD(c, vhca_add_db_page_req, page);
	if (uar->npages == VHCA_DB_MAX_PAGES)
		return refuse(c, VHCA_ST_NO_RESOURCE,
			      offsetof(struct vhca_add_db_page_req, page));
	if (!page_aligned(addr))
		return BAD_FIELD(c, vhca_add_db_page_req, db_page);
	return add_page(c, uar, addr, offsetof(struct vhca_add_db_page_req, db_page));
}

enum vhca_status cmd_close_uar(struct command *c)
{
	struct vuar *uar = table_get(&c->dev->uars, command_handle(c));

	if (!uar)
		return BAD_HANDLE(c, vhca_object_req, handle);
	if (uar->users)
		return BUSY(c, vhca_object_req, handle);
	uar_destroy(c->dev, uar);
	return VHCA_ST_OK;
}
