// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Guest memory that goes away while it is accessed.
 *
 * A page of a file may be missing when it is touched: the file has shrunk, the pool of huge pages
 * is empty, the memory is broken.  The kernel then sends SIGBUS to the thread.  The handler notes
 * that the mapping is lost, and maps an anonymous page there, so that the access ends. Behind each
 * access its thread checks whether any mapping is lost (gmem_any_lost()), and if so whether that
 * was its own range.  From then on all ranges of the mapping count as not granted, until the VM has
 * revoked them: the VM's own processors meet the same missing page.
 *
 * Another thread may access the new page without a signal.  It can do so only after the kernel has
 * removed the old page from the TLBs of all processors, which is after the mapping was noted as
 * lost: so its check behind the access sees that.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/log.h"
#include "mem/internal.h"

/*
 * What the handler knows of a mapping.  These are never freed but used again, as a handler may read
 * one while its mapping is removed.
 */
struct gmem_watch {
	struct gmem_watch *next;	/* on the list of all; constant */
	struct gmem_watch *next_free;
	u8 *base;
	u64 size;			/* 0: not in use; atomic */
	u64 page;			/* bytes of a page of the file */
	struct guest_mem *mem;
	bool lost;			/* atomic */
	bool said;			/* the log says so; atomic */
};

/*
 * Mappings of all VMs. The host lets a process have 65,530 (vm.max_map_count), and each missing
 * page takes up to two more.  A VM gets no more than it leaves to the others: half of them if it is
 * alone, a third beside another one that takes all it can.
 */
#define MOST	(1u << 15)

u32 gmem_lost;

static struct gmem_watch *all;		/* grows at its head; atomic */
static struct gmem_watch *unused;
static u32 used;
/* protects unused, used and the growth of all */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct gmem_watch *gmem_watch_get(u32 has)
{
	struct gmem_watch *w;
	bool may;

	pthread_mutex_lock(&lock);
	may = has < MOST - used;
	w = may ? unused : NULL;
	if (w) {
		unused = w->next_free;
	} else if (may) {
		w = calloc(1, sizeof(*w));
		if (w) {
			w->next = all;
			__atomic_store_n(&all, w, __ATOMIC_RELEASE);
		}
	}
	used += !!w;
	pthread_mutex_unlock(&lock);
	return w;
}

void gmem_watch_begin(struct gmem_watch *w, struct guest_mem *m, u8 *base, u64 size, u64 page)
{
	w->base = base;
	w->page = page;
	w->mem = m;
	w->lost = false;
	w->said = false;
	__atomic_store_n(&w->size, size, __ATOMIC_RELEASE);
}

void gmem_watch_put(struct gmem_watch *w)
{
	__atomic_store_n(&w->size, 0, __ATOMIC_RELEASE);
	/*
	 * without gmem_watch_begin() before this call, @lost would still be that of the last
	 * mapping
	 */
	if (w->lost) {
		w->lost = false;
		__atomic_fetch_sub(&gmem_lost, 1, __ATOMIC_RELAXED);
	}
	pthread_mutex_lock(&lock);
	w->next_free = unused;
	unused = w;
	used--;
	pthread_mutex_unlock(&lock);
}

bool gmem_range_lost(const struct gmem_range *r)
{
	struct gmem_watch *w = r->file ? r->file->watch : NULL;

	if (!w || !__atomic_load_n(&w->lost, __ATOMIC_ACQUIRE))
		return false;
	if (!__atomic_exchange_n(&w->said, true, __ATOMIC_RELAXED))
		log_line("memory: %#llx bytes of a guest are gone, as a page could not be had",
			 (unsigned long long)w->size);
	return true;
}

/*
 * The mapping that contains an address.  Others may come and go meanwhile, but not the one that
 * this thread accesses.
 */
static struct gmem_watch *find(const u8 *at)
{
	for (struct gmem_watch *w = __atomic_load_n(&all, __ATOMIC_ACQUIRE); w; w = w->next) {
		u64 size = __atomic_load_n(&w->size, __ATOMIC_ACQUIRE);

		if ((u64)(at - w->base) < size &&
		    size == __atomic_load_n(&w->size, __ATOMIC_ACQUIRE))
			return w;
	}
	return NULL;
}

static bool blank(u8 *base, u64 size)
{
	return mmap(base, size, PROT_READ | PROT_WRITE,
		    MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED;
}

static bool replace(struct gmem_watch *w, const u8 *at)
{
	u8 *page = w->base + (u64)(at - w->base) / w->page * w->page;

	if (!__atomic_exchange_n(&w->lost, true, __ATOMIC_SEQ_CST))
		__atomic_fetch_add(&gmem_lost, 1, __ATOMIC_SEQ_CST);
	/* references translate again, and find that there is no memory any more */
	__atomic_fetch_add(&w->mem->gen, 1, __ATOMIC_SEQ_CST);
	/* all of the mapping if it cannot be split, because the process has too many mappings */
	return blank(page, w->page) || blank(w->base, w->size);
}

static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	static const char what[] = "a page of the daemon's own memory is missing";
	struct gmem_watch *w = gmem_depth ? find(info->si_addr) : NULL;

	if (w && replace(w, info->si_addr))
		return;
	/* a broken page that no thread has touched yet; one that does gets another signal */
	if (info->si_code == BUS_MCEERR_AO)
		return;
	log_last(what, sizeof(what) - 1);
	abort();
}

void gmem_lost_init(void)
{
	struct sigaction sa = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO };

	sigaction(SIGBUS, &sa, NULL);
}
