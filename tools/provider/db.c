// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Mappings of the kick page and of doorbell pages.
 *
 * A context's doorbell area grows with its queues; with every new queue the kernel tells
 * the page of its records.  Pages are mapped when first named.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "vhca.h"

static_assert(VHCA_DB_PAGE_SIZE == sizeof(struct vhca_db_page), "page layout");

static void *map_page(struct vhca_context *ctx, int prot, uint64_t offset)
{
	void *addr = mmap(NULL, ctx->page_size, prot, MAP_SHARED, ctx->vctx.context.cmd_fd, offset);

	return addr == MAP_FAILED ? NULL : addr;
}

/**
 * vhca_db_open() - map the kick page and doorbell page 0
 * @ctx: context
 * @kick_mmap: mmap offset of the kick page
 * @db_mmap: mmap offset of doorbell page 0
 *
 * Return: 0 or an errno.
 */
int vhca_db_open(struct vhca_context *ctx, uint64_t kick_mmap, uint64_t db_mmap)
{
	struct vhca_slots unused;
	int err;

	ctx->kick = map_page(ctx, PROT_WRITE, kick_mmap);
	if (!ctx->kick)
		return errno;
	pthread_mutex_init(&ctx->db_lock, NULL);
	err = vhca_db_slots(ctx, &unused, 0, db_mmap);
	if (err)
		vhca_db_close(ctx);
	return err;
}

/**
 * vhca_db_close() - unmap everything
 * @ctx: context without queues
 */
void vhca_db_close(struct vhca_context *ctx)
{
	uint32_t i;

	for (i = 0; i < ctx->num_db_pages; i++)
		if (ctx->db_pages[i])
			munmap(ctx->db_pages[i], ctx->page_size);
	free(ctx->db_pages);
	munmap((void *)ctx->kick, ctx->page_size);
	pthread_mutex_destroy(&ctx->db_lock);
}

/* Makes the table long enough for a page.  Called with db_lock held. */
static int reach_page(struct vhca_context *ctx, uint32_t index)
{
	struct vhca_db_page **pages;

	if (index < ctx->num_db_pages)
		return 0;
	pages = realloc(ctx->db_pages, (index + 1) * sizeof(*pages));
	if (!pages)
		return ENOMEM;
	while (ctx->num_db_pages <= index)
		pages[ctx->num_db_pages++] = NULL;
	ctx->db_pages = pages;
	return 0;
}

/**
 * vhca_db_slots() - find a queue's records
 * @ctx: context
 * @db: receives the page and the slots
 * @slot: number of the first of the two, as the kernel gave it
 * @db_mmap: mmap offset of their page
 *
 * Return: 0 or an errno.
 */
int vhca_db_slots(struct vhca_context *ctx, struct vhca_slots *db, uint32_t slot,
		  uint64_t db_mmap)
{
	uint32_t index = slot / VHCA_DB_SLOTS;
	int err;

	if (index >= VHCA_DB_MAX_PAGES || slot % VHCA_DB_SLOTS + 1 >= VHCA_DB_SLOTS)
		return EPROTO;

	pthread_mutex_lock(&ctx->db_lock);
	err = reach_page(ctx, index);
	if (!err && !ctx->db_pages[index]) {
		ctx->db_pages[index] = map_page(ctx, PROT_READ | PROT_WRITE, db_mmap);
		if (!ctx->db_pages[index])
			err = errno;
	}
	if (!err)
		*db = (struct vhca_slots) {
			.page = ctx->db_pages[index],
			.page0 = ctx->db_pages[0],
			.index = index,
			.slot = slot % VHCA_DB_SLOTS,
		};
	pthread_mutex_unlock(&ctx->db_lock);
	return err;
}

/**
 * vhca_db_tell() - have the device look at a record, and wake it if it sleeps
 * @ctx: context
 * @db: the queue's records
 * @which: 0 or 1
 */
void vhca_db_tell(struct vhca_context *ctx, const struct vhca_slots *db, unsigned int which)
{
	if (db_tell(db, which))
		*ctx->kick = htole32(VHCA_KICK);
}

/**
 * vhca_db_ring() - tell the device about new work, and wake it if it sleeps
 * @ctx: context
 * @db: the queue's records
 * @which: record that is rung: 0 or 1
 * @count: producer count
 */
void vhca_db_ring(struct vhca_context *ctx, const struct vhca_slots *db, unsigned int which,
		  uint64_t count)
{
	if (db_publish(db, which, count))
		*ctx->kick = htole32(VHCA_KICK);
}
