/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * UARs: pages of doorbell records in guest memory, and the objects to call when one is rung.
 */
#ifndef VHCAD_RES_UAR_H
#define VHCAD_RES_UAR_H

#include "drivers/infiniband/hw/vhca/defs/vhca_hw.h"
#include "lib/list.h"
#include "mem/mem.h"

struct command;
struct vhca_dev;

/**
 * struct db_slot - a record of a doorbell page, as the device uses it
 * @owner: object that has the record; NULL: it is free
 * @rung: called with the owner when the guest has rung; NULL: the owner reads the record when it
 *	needs it, and is not called
 */
struct db_slot {
	void *owner;
	void (*rung)(void *owner);
};

struct db_page {
	struct gmem_ref ref;
	struct db_page *next;	/* in its bucket */
	struct db_page *after;	/* the UAR's page with the slots behind these, or NULL */
	struct db_slot slot[VHCA_DB_SLOTS];
};

#define DB_PAGE_BUCKETS		1024u

/* All doorbell pages of a device, found by address; no address is in use twice. */
struct db_pages {
	u32 used;
	struct db_page **bucket;	/* allocated with the first page */
	u64 seed;
};

/* A record that was rung. */
struct db_ring {
	struct db_page *page;
	u32 slot;
};

#define DB_RINGS	16u	/* that are gathered before their owners are called */

/**
 * struct vuar - a user access region
 * @uar: number
 * @users: objects with records in its pages
 * @npages: doorbell pages
 * @maxpages: that fit in @page
 * @page: the pages, in the order of their numbers
 * @hot: it is looked at in every pass, and not armed
 * @quiet: passes without news
 * @at_word: word of the summary where the next look goes on,
 * @at_news: word of news, of the first page of @left, where it goes on,
 * @left: pages of that summary word with news that were not looked at yet
 * @news: bits of that word of news that were not gathered yet
 * @nrings: gathered records whose owners were not called yet,
 * @ring: in order.  A record may have another owner by then, who finds that it was not rung
 * @hot_node: on the device's list of hot UARs
 */
struct vuar {
	u32 uar;
	u32 users;
	u32 npages;
	u32 maxpages;
	struct db_page **page;
	bool hot;
	u8 quiet;
	u16 at_word;
	u16 at_news;
	u64 left;
	u64 news;
	u32 nrings;
	struct db_ring ring[DB_RINGS];
	struct list_head hot_node;
};

/* A record in a doorbell page. */
struct dbrec {
	struct db_page *page;
	u32 off;
};

/** dbrec_second() - the second record of a queue, by the first one; see command_slots() */
static inline struct dbrec dbrec_second(const struct dbrec *first)
{
	u32 off = first->off + sizeof(__le64);

	if (off < sizeof(struct vhca_db_page))
		return (struct dbrec){ first->page, off };
	return (struct dbrec){ first->page->after, offsetof(struct vhca_db_page, rec) };
}

static inline int dbrec_load(struct dbrec *r, u64 *val)
{
	return dma_ref_load64_acquire(&r->page->ref, r->off, val);
}

static inline int dbrec_store(struct dbrec *r, u64 val)
{
	return dma_ref_store64_release(&r->page->ref, r->off, val);
}

/**
 * uar_slot_take() - occupy a doorbell record
 * @uar: UAR
 * @slot: number
 * @rung: as in struct db_slot
 * @owner: first argument of @rung
 * @rec: receives the record
 *
 * Return: 0, -EINVAL if there is no such record, -EBUSY if it has an owner.
 */
int uar_slot_take(struct vuar *uar, u32 slot, void (*rung)(void *owner), void *owner,
		  struct dbrec *rec);

/** uar_slot_give() - free a record */
void uar_slot_give(struct dbrec *rec);

/**
 * command_slots() - take the two neighbouring doorbell records of a queue
 * @c: command
 * @field: offset of db_slot in the request, which a refusal names
 * @uar: UAR
 * @slot: the first record
 * @rung0: see struct db_slot, for the first record
 * @rung1: for the second one
 * @owner: the queue
 * @r0: receives the first record
 * @r1: receives the second one
 *
 * Return: VHCA_ST_OK, VHCA_ST_BAD_FIELD when the UAR has no such records, or VHCA_ST_BUSY.
 */
enum vhca_status command_slots(struct command *c, u32 field, struct vuar *uar, u32 slot,
			       void (*rung0)(void *owner), void (*rung1)(void *owner),
			       void *owner, struct dbrec *r0, struct dbrec *r1);

/** uar_init() - start a device's doorbell pages, without any */
void uar_init(struct vhca_dev *dev);
/** uar_fini() - free what uar_init() has made; there are no UARs */
void uar_fini(struct vhca_dev *dev);
/** uar_destroy() - free a UAR whose records are free */
void uar_destroy(struct vhca_dev *dev, struct vuar *uar);

enum vhca_status cmd_open_uar(struct command *c);
enum vhca_status cmd_close_uar(struct command *c);
enum vhca_status cmd_add_db_page(struct command *c);

/* doorbell.c */
/** doorbell_poll() - look at kicks and hot UARs; true if there were news, or some may be left */
bool doorbell_poll(struct vhca_dev *dev);
/** doorbell_arm() - arm hot UARs; true if news came at the last moment, or some are left */
bool doorbell_arm(struct vhca_dev *dev);
/** doorbell_quiet() - are all doorbells armed, without a kick, and is no event left over? */
bool doorbell_quiet(const struct vhca_dev *dev);
/** doorbell_kick() - the guest has stored to a kick page.  Any thread */
void doorbell_kick(struct vhca_dev *dev, u32 uar);
/** doorbell_kicked() - has a kick arrived that doorbell_poll() has not seen?  Any thread */
bool doorbell_kicked(const struct vhca_dev *dev);

#endif /* VHCAD_RES_UAR_H */
