// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory that the device reads or writes: from the system, or from the program
 * where it has said so with a parent domain.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "buf.h"
#include "pd.h"

static int get_pages(struct vhca_buf *buf, size_t whole)
{
	void *addr = mmap(NULL, whole, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (addr == MAP_FAILED)
		return errno;
	buf->addr = addr;
	return 0;
}

static void put_memory(struct vhca_buf *buf)
{
	struct vhca_pd *pd = buf->pd;

	if (pd)
		pd->free(&pd->pd, pd->context, buf->addr, buf->what);
	else
		munmap(buf->addr, buf->size);
}

/* Asks the program's allocator, which may leave the allocation to the provider. */
static int get_from_program(struct vhca_buf *buf, struct vhca_pd *pd, size_t whole,
			    size_t page_size)
{
	void *addr = pd->alloc(&pd->pd, pd->context, whole, page_size, buf->what);

	if (addr == IBV_ALLOCATOR_USE_DEFAULT)
		return get_pages(buf, whole);
	if (!addr)
		return ENOMEM;
	buf->addr = addr;
	buf->pd = pd;
	if ((uintptr_t)addr & (page_size - 1)) {
		put_memory(buf);
		return EINVAL;
	}
	memset(addr, 0, whole);
	return 0;
}

/**
 * vhca_buf_alloc() - allocate cleared, page aligned memory
 * @buf: filled in
 * @ctx: context
 * @ibpd: parent domain whose allocators are asked first; a PD or NULL: there are none
 * @what: purpose
 * @size: bytes; the memory is whole pages
 *
 * A forked child does not inherit it, if the program asked for that by ibv_fork_init().
 *
 * Return: 0 or an errno.
 */
int vhca_buf_alloc(struct vhca_buf *buf, const struct vhca_context *ctx, struct ibv_pd *ibpd,
		   enum vhca_resource what, size_t size)
{
	size_t whole = (size + ctx->page_size - 1) & ~(ctx->page_size - 1);
	struct vhca_pd *pd = ibpd ? to_vhca_pd(ibpd) : NULL;
	struct vhca_buf got = { .size = whole, .what = what };
	int err;

	err = pd && pd->alloc ? get_from_program(&got, pd, whole, ctx->page_size) :
				get_pages(&got, whole);
	if (err)
		return err;
	err = ibv_dontfork_range(got.addr, whole);
	if (err) {
		put_memory(&got);
		return err;
	}
	*buf = got;
	return 0;
}

/**
 * vhca_buf_free() - free memory that the device does not use any more
 * @buf: memory, or a cleared structure
 */
void vhca_buf_free(struct vhca_buf *buf)
{
	if (!buf->addr)
		return;
	ibv_dofork_range(buf->addr, buf->size);
	put_memory(buf);
	buf->addr = NULL;
}
