// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Files that hold guest memory.  A VM sends a descriptor of the same file with every range; the
 * daemon maps each part of the file only once.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "mem/internal.h"

/* The daemon's address space that one VM may use; there is enough for many VMs. */
#define GMEM_MAX_BYTES	(1ULL << 43)

/* The largest page that others wait for without --allow-unsealed */
#define MOST_PAGE	(2u << 20)

/* Huge pages of hugetlbfs, or small ones of tmpfs */
static u64 page_size(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs) || fs.f_type != HUGETLBFS_MAGIC)
		return GMEM_PAGE_SIZE;
	return fs.f_bsize;
}

/**
 * gmem_file_look() - may a file be mapped for a range?
 * @fd: descriptor
 * @end: where the range ends in the file
 * @flags: GMEM_* of the range
 * @seen: receives the file's identity and size
 *
 * Only files of tmpfs and hugetlbfs have seals.  Another file system may be a program of the VM's
 * owner, or a server that does not answer: it could hold up whoever asks it for the file's size,
 * maps or unmaps the file, or touches a page of it.  So nothing is asked of it.
 *
 * Returns 0 or -errno as gmem_map() says.
 */
int gmem_file_look(int fd, u64 end, u32 flags, struct gmem_seen *seen)
{
	struct stat st;
	int mode, seals;

	mode = fcntl(fd, F_GETFL);
	if (mode < 0)
		return -EACCES;
	mode &= O_ACCMODE;
	seen->writable = mode == O_RDWR;
	if (mode == O_WRONLY || ((flags & GMEM_WRITE) && !seen->writable))
		return -EACCES;
	seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0)
		return -EOPNOTSUPP;
	/* before the size is read, as an unsealed file may shrink at any time */
	if (!(flags & GMEM_UNSEALED) && !(seals & F_SEAL_SHRINK))
		return -EPERM;
	if (fstat(fd, &st))
		return -EACCES;
	if (!S_ISREG(st.st_mode))
		return -EPERM;
	if (end > (u64)st.st_size)
		return -ERANGE;
	seen->dev = st.st_dev;
	seen->ino = st.st_ino;
	seen->size = st.st_size;
	seen->page = page_size(fd);
	/* a page that its owner has given back is cleared amid an access: 1 GiB takes too long */
	if (seen->page > MOST_PAGE && !(flags & GMEM_UNSEALED))
		return -EPERM;
	return 0;
}

/*
 * The mapping of a part of a file.  Returns MAP_FAILED with errno set.
 *
 * Huge pages of a pool are all touched now, on the thread of the VM that grants them: the engine
 * would have to wait at the first access until the page, of up to 1 GiB, is cleared.  That uses no
 * more memory, since these pages are reserved for the file.  Other memory is left alone: its owner
 * may never touch most of it, and it comes page by page.
 */
static void *map_part(int fd, u64 start, u64 size, const struct gmem_seen *seen)
{
	bool huge = seen->page > GMEM_PAGE_SIZE;
	u8 *base = mmap(NULL, size, seen->writable ? PROT_READ | PROT_WRITE : PROT_READ,
			MAP_SHARED | (huge ? 0 : MAP_NORESERVE), fd, start);

	if (base == MAP_FAILED)
		return base;
	/* a guest's memory does not belong in a core dump of the daemon */
	madvise(base, size, MADV_DONTDUMP);
	if (!huge) {
		/* where the host's settings let those who ask have huge pages */
		madvise(base, size, MADV_HUGEPAGE);
		return base;
	}
	/* in parts, so that others who change the address space need not wait for all of it */
	for (u64 at = 0; at < size; at += seen->page) {
		if (!madvise(base + at, seen->page, seen->writable ? MADV_POPULATE_WRITE :
			     MADV_POPULATE_READ) || errno == EINVAL)
			continue;
		munmap(base, size);
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return base;
}

/*
 * No secret is needed: a VM that chooses buckets slows down only its own searches.  The product
 * spreads multiples of any power of two.
 */
static struct gmem_file **bucket(struct guest_mem *m, u64 ino, u64 start)
{
	u64 hash = (ino + start / GMEM_PIECE) * 0x9e3779b97f4a7c15ull;

	return &m->files[(hash >> 32) % GMEM_FILE_BUCKETS];
}

/* Huge pages are all taken when they are mapped: no more of them than were granted. */
static u64 piece_size(const struct gmem_seen *seen)
{
	u64 piece = MAX(GMEM_PIECE, seen->page);

	while (seen->page == GMEM_PAGE_SIZE && seen->size / piece > GMEM_MAX_PIECES)
		piece *= 2;
	return piece;
}

/**
 * gmem_file_get() - find or map a part of a file
 * @m: set, locked
 * @fd: its descriptor
 * @start: where the range starts in the file
 * @end: where it ends, within the file
 * @seen: from gmem_file_look()
 * @out: receives the mapping, whose users are counted
 *
 * Returns 0 or -errno as gmem_map() says.
 */
int gmem_file_get(struct guest_mem *m, int fd, u64 start, u64 end, const struct gmem_seen *seen,
		  struct gmem_file **out)
{
	const u64 piece = piece_size(seen);
	struct gmem_file *f, **b;
	struct gmem_watch *w;
	u64 size;
	void *base;

	start -= start % piece;
	/* the file may end within the piece */
	size = MIN(seen->size - start, end - start + (piece - end % piece) % piece);
	b = bucket(m, seen->ino, start);
	for (f = *b; f; f = f->next)
		if (f->dev == seen->dev && f->ino == seen->ino &&
		    f->writable == seen->writable && f->start == start && f->size == size)
			goto found;

	if (size > GMEM_MAX_BYTES - m->file_bytes)
		return -ENOMEM;
	f = calloc(1, sizeof(*f));
	w = gmem_watch_get(m->nfiles);
	base = f && w ? map_part(fd, start, size, seen) : MAP_FAILED;
	if (base == MAP_FAILED) {
		int err = f && w && (errno == EACCES || errno == EPERM) ? -EACCES : -ENOMEM;

		if (w)
			gmem_watch_put(w);
		free(f);
		return err;
	}
	gmem_watch_begin(w, m, base, size, seen->page);
	f->watch = w;
	f->dev = seen->dev;
	f->ino = seen->ino;
	f->writable = seen->writable;
	f->start = start;
	f->size = size;
	f->base = base;
	f->next = *b;
	*b = f;
	m->nfiles++;
	m->file_bytes += f->size;
found:
	f->users++;
	*out = f;
	return 0;
}

/**
 * gmem_file_put() - drop a range's use of a mapping
 * @m: set, locked; no reader sees the range any more
 * @f: mapping, or NULL
 */
void gmem_file_put(struct guest_mem *m, struct gmem_file *f)
{
	struct gmem_file **p;

	if (!f || --f->users)
		return;
	for (p = bucket(m, f->ino, f->start); *p != f; p = &(*p)->next)
		;
	*p = f->next;
	m->nfiles--;
	m->file_bytes -= f->size;
	gmem_watch_put(f->watch);
	munmap(f->base, f->size);
	free(f);
}
