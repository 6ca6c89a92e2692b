// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory that the device sees: rings of our own, doorbell and kick pages of the kernel's. */
#include <errno.h>
#include <sys/mman.h>

#include "vhca.h"

static size_t ring_bytes(const struct vhca_ring *r, size_t page_size)
{
	size_t bytes = (size_t)vhca_ring_size(r) << r->shift;

	return (bytes + page_size - 1) & ~(page_size - 1);
}

/*
 * Rings are whole pages of their own: the kernel pins them, and a fork must
 * not put a copy in the place of a page that the device goes on reading.
 */
int vhca_ring_alloc(struct vhca_ring *r, unsigned int log_size, unsigned int shift,
		    size_t page_size)
{
	void *buf;

	r->log_size = log_size;
	r->shift = shift;
	r->head = 0;
	r->tail = 0;
	buf = mmap(NULL, ring_bytes(r, page_size), PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (buf == MAP_FAILED)
		return errno;
	if (ibv_dontfork_range(buf, ring_bytes(r, page_size))) {
		int err = errno;

		munmap(buf, ring_bytes(r, page_size));
		return err;
	}
	r->buf = buf;
	return 0;
}

void vhca_ring_free(struct vhca_ring *r, size_t page_size)
{
	if (!r->buf)
		return;
	ibv_dofork_range(r->buf, ring_bytes(r, page_size));
	munmap(r->buf, ring_bytes(r, page_size));
	r->buf = NULL;
}

static void *map_shared(struct vhca_context *ctx, uint64_t offset, int prot)
{
	void *p = mmap(NULL, ctx->page_size, prot, MAP_SHARED, ctx->vctx.context.cmd_fd, offset);

	return p == MAP_FAILED ? NULL : p;
}

/* Find the slots that the kernel gave a queue, mapping their page at its first use. */
int vhca_db_map(struct vhca_context *ctx, struct vhca_db *db, uint32_t slot, uint64_t offset)
{
	uint32_t page = slot / VHCA_DB_SLOTS;
	int err = 0;

	if (page >= VHCA_DB_MAX_PAGES || slot % VHCA_DB_SLOTS == VHCA_DB_SLOTS - 1)
		return EPROTO;

	pthread_mutex_lock(&ctx->db_lock);
	if (!ctx->db_page[page]) {
		ctx->db_page[page] = map_shared(ctx, offset, PROT_READ | PROT_WRITE);
		if (!ctx->db_page[page])
			err = errno;
	}
	pthread_mutex_unlock(&ctx->db_lock);
	if (err)
		return err;

	db->page0 = ctx->db_page[0];
	db->page = ctx->db_page[page];
	db->kick = ctx->kick;
	db->slot = slot;
	return 0;
}

int vhca_uar_map(struct vhca_context *ctx, uint64_t kick, uint64_t db0)
{
	ctx->kick = map_shared(ctx, kick, PROT_WRITE);
	if (!ctx->kick)
		return errno;
	ctx->db_page[0] = map_shared(ctx, db0, PROT_READ | PROT_WRITE);
	if (!ctx->db_page[0]) {
		int err = errno;

		munmap(ctx->kick, ctx->page_size);
		return err;
	}
	return 0;
}

void vhca_uar_unmap(struct vhca_context *ctx)
{
	unsigned int i;

	for (i = 0; i < VHCA_DB_MAX_PAGES; i++)
		if (ctx->db_page[i])
			munmap(ctx->db_page[i], ctx->page_size);
	munmap(ctx->kick, ctx->page_size);
}
