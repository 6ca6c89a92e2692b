/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the files of mem/ share among themselves.  Nobody else includes this.
 */
#ifndef VHCAD_MEM_INTERNAL_H
#define VHCAD_MEM_INTERNAL_H

#include <pthread.h>

#include "mem/mem.h"

/*
 * A piece of a shared file that is mapped into the daemon once, for any number of ranges: what a
 * range grants, extended on both sides to multiples of GMEM_PIECE.  So a VM that grants page by
 * page does not take up a mapping for each page, and the rest of a file that is granted in part is
 * not mapped and does not count as memory of the daemon.
 */
#define GMEM_PIECE		(2ull << 20)
#define GMEM_FILE_BUCKETS	256u

struct gmem_file {
	struct gmem_file *next;	/* in its bucket */
	u64 dev;
	u64 ino;
	bool writable;
	u32 users;		/* ranges that lie in it */
	u64 start;		/* in the file */
	u64 size;
	u8 *base;
};

struct gmem_range {
	u64 iova;
	u64 last;		/* inclusive: a range may end at the top of the space */
	u8 *host;		/* NULL: memory the VM does not share */
	struct gmem_file *file;
	u32 flags;
};

/*
 * Ranges in ascending order, cut into blocks.  Tables and blocks never change
 * once readers can see them: an update copies the one block it touches and
 * the list of blocks, so that a VM that maps page by page stays cheap.
 */
#define GMEM_BLOCK_RANGES	64

struct gmem_block {
	u32 n;
	struct gmem_range r[GMEM_BLOCK_RANGES];
};

struct gmem_table {
	const struct gmem_range *last;	/* the range found last, or any; atomic */
	u32 nblocks;
	u32 nranges;
	struct {
		u64 iova;	/* of the block's first range */
		struct gmem_block *block;
	} slot[];
};

/* Storage that readers may still look at. */
#define GMEM_MAX_RETIRED	64

struct guest_mem {
	/*
	 * Serialises every change.  Readers and whoever asks how many ranges there are never take
	 * it, because it may take long to map or unmap a file of the VM's.
	 */
	pthread_mutex_t lock;
	struct gmem_table *table;	/* what the VM granted */
	u32 nranges;			/* in it; atomic */
	struct gmem_table *live;	/* what readers see: table, or gmem_empty; atomic */
	u64 gen;			/* moves when a translation may have died; atomic */
	struct gmem_file *files[GMEM_FILE_BUCKETS];
	u64 file_bytes;
	bool master;
	u32 nretired;
	void *retired[GMEM_MAX_RETIRED];
};

extern struct gmem_table gmem_empty;

/* table.c: building new tables; the old ones stay as they were */
u32 gmem_first_block(const struct gmem_table *t, u64 iova);
const struct gmem_range *gmem_search(struct gmem_table *t, u64 iova);
bool gmem_overlaps(const struct gmem_table *t, u64 iova, u64 last);
int gmem_table_insert(const struct gmem_table *t, const struct gmem_range *r,
		      struct gmem_table **out, struct gmem_block **replaced);
int gmem_table_remove(struct gmem_table *t, u64 iova, u64 last, struct gmem_table **out);
void gmem_table_free(struct gmem_table *t, const struct gmem_table *other);

/* reader.c */
extern _Thread_local unsigned int gmem_depth;	/* brackets that this thread is in */
void bracket_begin(void);
void bracket_end(void);
bool gmem_quiet(void);
void gmem_synchronize(void);

/* file.c */
struct gmem_seen {
	u64 dev;
	u64 ino;
	u64 size;
	bool writable;
};

int gmem_file_look(int fd, u64 end, u32 flags, struct gmem_seen *seen);
int gmem_file_get(struct guest_mem *m, int fd, u64 start, u64 end, const struct gmem_seen *seen,
		  struct gmem_file **out);
void gmem_file_put(struct guest_mem *m, struct gmem_file *f);

/* copy.c */
void gmem_copy_ahead(u8 *d, const u8 *s, size_t len, u8 *next_d, const u8 *next_s);

/** gmem_copy_ascending() - gmem_copy_ahead() of all there is */
static inline void gmem_copy_ascending(void *dst, const void *src, size_t len)
{
	gmem_copy_ahead(dst, src, len, NULL, NULL);
}

/* Does what gmem_enter() does, for callers that nearly always are in a bracket already. */
static inline void bracket_open(void)
{
	if (!gmem_depth++)
		bracket_begin();
}

static inline void bracket_close(void)
{
	if (!--gmem_depth)
		bracket_end();
}

/**
 * gmem_find() - the range that holds an address
 * @t: table
 * @iova: DMA address
 *
 * Tries the one that was found last before it searches.
 */
static inline const struct gmem_range *gmem_find(struct gmem_table *t, u64 iova)
{
	const struct gmem_range *r = __atomic_load_n(&t->last, __ATOMIC_RELAXED);

	if (r && iova - r->iova <= r->last - r->iova)
		return r;
	return gmem_search(t, iova);
}

/**
 * gmem_live() - the table that accesses go through
 *
 * Valid until gmem_exit().
 */
static inline struct gmem_table *gmem_live(struct guest_mem *m)
{
	return __atomic_load_n(&m->live, __ATOMIC_ACQUIRE);
}

/**
 * gmem_host() - where a byte lives in the daemon
 * @t: table
 * @iova: DMA address
 * @right: GMEM_* rights that the access needs
 * @room: receives the bytes from there to the end of the range
 *
 * Returns NULL if the byte may not be accessed that way.
 */
static inline u8 *gmem_host(struct gmem_table *t, u64 iova, u32 right, u64 *room)
{
	const struct gmem_range *r = gmem_find(t, iova);

	if (!r || (r->flags & right) != right) {
		*room = 0;
		return NULL;
	}
	*room = r->last - iova + 1;
	return r->host + (iova - r->iova);
}

/**
 * gmem_ref_host() - where a reference's piece lies in the daemon
 * @ref: reference
 *
 * Called inside a bracket, and so is the generation read: whoever moves it
 * afterwards waits for us.  Returns NULL if the piece is not mapped.
 */
static inline u8 *gmem_ref_host(struct gmem_ref *ref)
{
	u64 gen, room;
	u8 *host;

	if (!ref->mem)
		return NULL;
	gen = __atomic_load_n(&ref->mem->gen, __ATOMIC_ACQUIRE);
	if (ref->host && ref->gen == gen)
		return ref->host;
	host = gmem_host(gmem_live(ref->mem), ref->iova,
			 ref->write ? GMEM_READ | GMEM_WRITE : GMEM_READ, &room);
	if (host && room < ref->len)
		host = NULL;
	ref->host = host;
	ref->gen = gen;
	return host;
}

/**
 * gmem_ref_now() - the same, if that is known already and this thread is in a bracket
 * @ref: reference
 *
 * A short way for what is done for every message.  If it returns NULL, gmem_ref_host() may not.
 */
static inline u8 *gmem_ref_now(const struct gmem_ref *ref)
{
	if (!gmem_depth || !ref->host ||
	    ref->gen != __atomic_load_n(&ref->mem->gen, __ATOMIC_ACQUIRE))
		return NULL;
	return ref->host;
}

/**
 * gmem_ref_fits() - does an access lie in a reference's piece, and is it allowed?
 * @ref: reference
 * @off: first byte
 * @n: bytes
 * @write: they are written
 */
static inline bool gmem_ref_fits(const struct gmem_ref *ref, u32 off, u32 n, bool write)
{
	return off <= ref->len && n <= ref->len - off && (!write || ref->write);
}

#endif /* VHCAD_MEM_INTERNAL_H */
