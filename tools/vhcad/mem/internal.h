/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared by the files of mem/, and included by no others.
 */
#ifndef VHCAD_MEM_INTERNAL_H
#define VHCAD_MEM_INTERNAL_H

#include <pthread.h>

#include "mem/mem.h"

/*
 * A part of a shared file that is mapped into the daemon once, for any number of ranges: that of a
 * range, extended on both sides to multiples of GMEM_PIECE, or, without huge pages, of as much more
 * as makes GMEM_MAX_PIECES of the file.  So a VM that grants page by page does not need a mapping
 * for each page, and the rest of a file that is granted in part is neither mapped nor counted as
 * memory of the daemon.
 */
#define GMEM_PIECE		(2ull << 20)
#define GMEM_MAX_PIECES		4096u
#define GMEM_FILE_BUCKETS	256u

struct gmem_file {
	struct gmem_file *next;	/* in the same bucket */
	u64 dev;
	u64 ino;
	bool writable;
	u32 users;		/* ranges in this mapping */
	u64 start;		/* in the file */
	u64 size;
	u8 *base;
	struct gmem_watch *watch;
};

struct gmem_range {
	u64 iova;
	u64 last;		/* inclusive, as a range may end at the highest address */
	u8 *host;		/* NULL: memory that the VM does not share */
	struct gmem_file *file;
	u32 flags;
};

/*
 * Ranges in ascending order, in blocks.  Tables and blocks do not change once readers can see them.
 * An update copies the list of blocks and the one block that changes, so that it is cheap even for
 * a VM that maps page by page.
 */
#define GMEM_BLOCK_RANGES	64

struct gmem_block {
	u32 n;
	struct gmem_range r[GMEM_BLOCK_RANGES];
};

struct gmem_table {
	const struct gmem_range *last;	/* the range that was found last, or NULL; atomic */
	u32 nblocks;
	u32 nranges;
	struct {
		u64 iova;	/* of the block's first range */
		struct gmem_block *block;
	} slot[];
};

/* Replaced tables and blocks that readers may still access. */
#define GMEM_MAX_RETIRED	64

struct guest_mem {
	/*
	 * Serialises changes.  Neither readers nor gmem_ranges() take it, because it may take long
	 * to map or unmap a file of the VM.
	 */
	pthread_mutex_t lock;
	struct gmem_table *table;	/* the ranges that the VM has granted */
	u32 nranges;			/* in table; atomic */
	struct gmem_table *live;	/* what readers use: table or gmem_empty; atomic */
	u64 gen;			/* generation of translations; atomic */
	struct gmem_file *files[GMEM_FILE_BUCKETS];
	u32 nfiles;
	u64 file_bytes;
	bool master;
	u32 nretired;
	void *retired[GMEM_MAX_RETIRED];
};

extern struct gmem_table gmem_empty;

/* table.c: makes new tables, and leaves the old ones as they are */
u32 gmem_first_block(const struct gmem_table *t, u64 iova);
const struct gmem_range *gmem_search(struct gmem_table *t, u64 iova);
bool gmem_overlaps(const struct gmem_table *t, u64 iova, u64 last);
int gmem_table_insert(const struct gmem_table *t, const struct gmem_range *r,
		      struct gmem_table **out, struct gmem_block **replaced);
int gmem_table_remove(struct gmem_table *t, u64 iova, u64 last, struct gmem_table **out);
void gmem_table_free(struct gmem_table *t, const struct gmem_table *other);

/* reader.c */
extern _Thread_local unsigned int gmem_depth;	/* open brackets of this thread */
void bracket_begin(void);
void bracket_end(void);
bool gmem_quiet(void);
void gmem_synchronize(void);

/* file.c */
struct gmem_seen {
	u64 dev;
	u64 ino;
	u64 size;
	u64 page;		/* bytes of a page of hugetlbfs; else GMEM_PAGE_SIZE */
	bool writable;
};

int gmem_file_look(int fd, u64 end, u32 flags, struct gmem_seen *seen);
int gmem_file_get(struct guest_mem *m, int fd, u64 start, u64 end, const struct gmem_seen *seen,
		  struct gmem_file **out);
void gmem_file_put(struct guest_mem *m, struct gmem_file *f);

/* copy.c */
void gmem_copy_ahead(u8 *d, const u8 *s, size_t len, u8 *next_d, const u8 *next_s);

/** gmem_copy_ascending() - gmem_copy_ahead() without a next copy */
static inline void gmem_copy_ascending(void *dst, const void *src, size_t len)
{
	gmem_copy_ahead(dst, src, len, NULL, NULL);
}

/* lost.c */
extern u32 gmem_lost;		/* mappings that are lost; atomic */

/** gmem_lost_init() - take SIGBUS; before the daemon is confined */
void gmem_lost_init(void);

/**
 * gmem_watch_get() - what gmem_watch_begin() needs
 * @has: how many the same VM has
 *
 * Returns NULL if these are as many as are left for all, or if there is no memory.
 */
struct gmem_watch *gmem_watch_get(u32 has);

/** gmem_watch_begin() - pages of a mapping of @m may get lost from now on */
void gmem_watch_begin(struct gmem_watch *w, struct guest_mem *m, u8 *base, u64 size, u64 page);

/** gmem_watch_put() - before the mapping is removed, and when nobody can access it; ends get() */
void gmem_watch_put(struct gmem_watch *w);

/** gmem_range_lost() - is this range's memory lost? */
bool gmem_range_lost(const struct gmem_range *r) __attribute__((cold));

/**
 * gmem_any_lost() - is any memory lost?
 *
 * Called behind an access: if true, translate its address again, and fail if that does.
 */
static inline bool gmem_any_lost(void)
{
	/* the signal handler runs within the access */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return __builtin_expect(__atomic_load_n(&gmem_lost, __ATOMIC_RELAXED), 0);
}

/* stream.c */
/** gmem_stream_init() - learn the cache's size; before the daemon is confined */
void gmem_stream_init(void);

/** gmem_stream_fence() - what was stored before is visible before what is stored next */
void gmem_stream_fence(void);

/**
 * gmem_stream() - copy a piece, not the last one, past the cache
 * @d: guest memory
 * @s: guest memory
 * @len: bytes
 * @next_s: source of the next piece, to be prefetched, or NULL
 *
 * gmem_stream_fence() stands before the first piece.
 */
void gmem_stream(u8 *d, const u8 *s, size_t len, const u8 *next_s);

/** gmem_stream_last() - copy the last piece, of at least one byte */
void gmem_stream_last(u8 *d, const u8 *s, size_t len);

/* An inline gmem_enter(), for callers that nearly always are in a bracket already. */
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
 * gmem_find() - find the range that contains an address
 * @t: table
 * @iova: DMA address
 *
 * Tries the range that was found last before it searches.
 */
static inline const struct gmem_range *gmem_find(struct gmem_table *t, u64 iova)
{
	const struct gmem_range *r = __atomic_load_n(&t->last, __ATOMIC_RELAXED);

	if (r && iova - r->iova <= r->last - r->iova)
		return r;
	return gmem_search(t, iova);
}

/**
 * gmem_live() - the table for accesses
 *
 * Valid until the bracket is closed.
 */
static inline struct gmem_table *gmem_live(struct guest_mem *m)
{
	return __atomic_load_n(&m->live, __ATOMIC_ACQUIRE);
}

/**
 * gmem_host() - translate a DMA address to a host pointer
 * @t: table
 * @iova: DMA address
 * @right: GMEM_* rights that the access needs
 * @room: receives the number of bytes from there to the end of the range
 *
 * Returns NULL if the range does not exist or lacks a right.
 */
static inline u8 *gmem_host(struct gmem_table *t, u64 iova, u32 right, u64 *room)
{
	const struct gmem_range *r = gmem_find(t, iova);

	if (!r || (r->flags & right) != right ||
	    (__builtin_expect(__atomic_load_n(&gmem_lost, __ATOMIC_RELAXED), 0) &&
	     gmem_range_lost(r))) {
		*room = 0;
		return NULL;
	}
	*room = r->last - iova + 1;
	return r->host + (iova - r->iova);
}

/**
 * gmem_ref_host() - host pointer to a reference's piece
 * @ref: reference
 *
 * Called inside a bracket: the thread that changes the generation after it is read here waits until
 * the bracket is closed.  Returns NULL if the piece is not mapped.
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
 * gmem_ref_now() - gmem_ref_host() if the translation is cached and this thread is in a bracket
 * @ref: reference
 *
 * The fast path of accesses for every message.  If it returns NULL, gmem_ref_host() may succeed.
 */
static inline u8 *gmem_ref_now(const struct gmem_ref *ref)
{
	if (!gmem_depth || !ref->host ||
	    ref->gen != __atomic_load_n(&ref->mem->gen, __ATOMIC_ACQUIRE))
		return NULL;
	return ref->host;
}

/**
 * gmem_ref_fits() - does an access lie within a reference's piece, and is it allowed?
 * @ref: reference
 * @off: first byte
 * @n: bytes
 * @write: it is a write
 */
static inline bool gmem_ref_fits(const struct gmem_ref *ref, u32 off, u32 n, bool write)
{
	return off <= ref->len && n <= ref->len - off && (!write || ref->write);
}

#endif /* VHCAD_MEM_INTERNAL_H */
