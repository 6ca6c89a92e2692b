// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: page sizes for pinned memory, walking it in blocks, and mmap offsets.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#include <rdma/iter.h>
#include <trace/events/kmem.h>

#define MAX_RUNS	6
#define K4		4096ULL
#define M2		(2ULL << 20)
#define SIZES		(K4 | (64ULL << 10) | M2 | (1ULL << 30))

/* Memory whose pages lie in runs of contiguous DMA addresses. */
struct layout {
	unsigned int runs;
	u64 start[MAX_RUNS];
	unsigned int len[MAX_RUNS];
	unsigned int offset;		/* of the first byte in the first page */
	u64 length;			/* bytes from there */
	struct scatterlist sg[MAX_RUNS];
	struct ib_umem umem;
};

static void lay_out(struct layout *l)
{
	sg_init_table(l->sg, l->runs);
	for (unsigned int i = 0; i < l->runs; i++) {
		sg_dma_address(&l->sg[i]) = l->start[i];
		sg_dma_len(&l->sg[i]) = l->len[i];
		l->sg[i].length = l->len[i];
	}
	l->umem = (struct ib_umem){
		.address = 0x7f0000000000ULL + l->offset, .length = l->length,
		.sgt_append.sgt = { .sgl = l->sg, .nents = l->runs, .orig_nents = l->runs },
	};
}

/* DMA address of byte @at of the range. */
static u64 dma_of(const struct layout *l, u64 at)
{
	unsigned int i;

	at += l->offset;
	for (i = 0; at >= l->len[i]; i++)
		at -= l->len[i];
	return l->start[i] + at;
}

/* By definition: within every page of the device's range, DMA addresses are contiguous. */
static bool size_works(const struct layout *l, u64 virt, u64 size)
{
	for (u64 at = 0; at < l->length; at = at ? at + K4 : K4 - (l->offset & (K4 - 1))) {
		u64 va = virt + at, dma = dma_of(l, at);

		if ((va ^ dma) & (size - 1))
			return false;
		/* This byte continues a page, so its DMA address must continue as well. */
		if (at && (va & (size - 1)) && dma != dma_of(l, at - 1) + 1)
			return false;
	}
	return true;
}

struct size_case {
	const char *name;
	struct layout layout;
	u64 virt;
	u64 best;
};

static const struct size_case size_cases[] = {
	{ "one page", { 1, { 0x1000 }, { 4096 }, 0, 4096 }, 0x5000, K4 },
	{ "inside a page", { 1, { 0x1000 }, { 4096 }, 100, 8 }, 0x5064, K4 },
	{ "addresses that differ within the page", { 1, { 0x1000 }, { 4096 }, 0, 8 }, 0x5010, 0 },
	{ "4 MiB, aligned alike", { 1, { M2 }, { 2 * M2 }, 0, 2 * M2 }, 16 * M2, M2 },
	{ "4 MiB, aligned to 64 KiB", { 1, { M2 + 65536 }, { 2 * M2 }, 0, 2 * M2 }, 16 * M2,
	  65536 },
	{ "runs meet at 2 MiB", { 2, { 8 * M2, M2 }, { M2, M2 }, 0, 2 * M2 }, 16 * M2, M2 },
	{ "runs meet at a page", { 2, { 8 * M2, M2 }, { 4096, M2 }, 0, M2 }, 16 * M2, K4 },
	{ "neighbours are one run", { 2, { M2, M2 + 4096 }, { 4096, M2 - 4096 }, 0, M2 }, 16 * M2,
	  M2 },
	{ "past the last address", { 1, { 0 }, { 8192 }, 0, 8192 }, ~0ULL - 4095, 0 },
};

static void size_case_name(const struct size_case *param, char *desc)
{
	strscpy(desc, param->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(size_case, size_cases, size_case_name);

static void best_size(struct kunit *test)
{
	const struct size_case *param = test->param_value;
	struct layout l = param->layout;

	lay_out(&l);
	KUNIT_EXPECT_EQ(test, ib_umem_find_best_pgsz(&l.umem, SIZES, param->virt), param->best);
	KUNIT_EXPECT_EQ(test, l.umem.iova, param->virt);
}

/* The returned size works, and no larger one both works and needs fewer pages. */
static void best_size_random(struct kunit *test)
{
	struct rnd_state rnd;
	struct layout l;
	u64 virt, got;

	prandom_seed_state(&rnd, 4711);
	for (unsigned int round = 0; round < 300; round++) {
		l.runs = 1 + prandom_u32_state(&rnd) % MAX_RUNS;
		l.offset = prandom_u32_state(&rnd) % 4096;
		l.length = 0;
		for (unsigned int i = 0; i < l.runs; i++) {
			l.start[i] = (u64)(prandom_u32_state(&rnd) % 64) << (12 + round % 5);
			l.len[i] = (1 + prandom_u32_state(&rnd) % 8) << (12 + round % 5);
			l.length += l.len[i];
		}
		l.length -= l.offset;
		lay_out(&l);
		virt = ((u64)(prandom_u32_state(&rnd) % 64) << (12 + round % 5)) + l.offset;

		got = ib_umem_find_best_pgsz(&l.umem, GENMASK(30, 12), virt);
		KUNIT_ASSERT_TRUE(test, got >= K4);
		KUNIT_EXPECT_TRUE(test, size_works(&l, virt, got));
		for (u64 size = got << 1; size <= BIT(30); size <<= 1)
			if (size_works(&l, virt, size))
				KUNIT_EXPECT_EQ(test, ib_umem_num_dma_blocks(&l.umem, size),
						ib_umem_num_dma_blocks(&l.umem, got));
	}
}

/* ---- blocks ---- */

static void blocks(struct kunit *test)
{
	static const u64 expected[] = { 0x10000, 0x40000, 0x60000 };
	/* The memory begins and ends in the middle of a block; one block lies in two runs. */
	struct layout l = {
		.runs = 4, .start = { 0x11000, 0x40000, 0x41000, 0x60000 },
		.len = { 0x1000, 0x1000, 0x1000, 0x800 }, .length = 0x3800,
	};
	struct ib_block_iter iter;
	unsigned int n = 0;

	lay_out(&l);
	__rdma_block_iter_start(&iter, l.sg, l.runs, 0x2000);
	while (__rdma_block_iter_next(&iter)) {
		KUNIT_ASSERT_TRUE(test, n < ARRAY_SIZE(expected));
		KUNIT_EXPECT_EQ(test, rdma_block_iter_dma_address(&iter), expected[n]);
		n++;
	}
	KUNIT_EXPECT_EQ(test, n, ARRAY_SIZE(expected));
}

/* ---- mmap offsets ---- */

struct offsets {
	struct ib_device device;
	struct ib_ucontext context;
	struct rdma_user_mmap_entry entry[5];
	unsigned int freed;
};

static void entry_freed(struct rdma_user_mmap_entry *entry)
{
	container_of(entry->ucontext, struct offsets, context)->freed++;
}

static struct offsets *new_offsets(struct kunit *test)
{
	struct offsets *o = kunit_kzalloc(test, sizeof(*o), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, o);
	xa_init_flags(&o->context.mmap_xa, XA_FLAGS_ALLOC);
	o->context.device = &o->device;
	o->device.ops.mmap_free = entry_freed;
	return o;
}

static void offsets_distinct(struct kunit *test)
{
	struct offsets *o = new_offsets(test);
	struct rdma_user_mmap_entry *e = o->entry;
	struct ib_ucontext *c = &o->context;

	KUNIT_EXPECT_EQ(test, rdma_user_mmap_entry_insert_range(c, &e[0], 4 * K4, 10, 30), 0);
	KUNIT_EXPECT_EQ(test, e[0].start_pgoff, 10);
	KUNIT_EXPECT_EQ(test, rdma_user_mmap_entry_insert_range(c, &e[1], 1, 12, 30), 0);
	KUNIT_EXPECT_EQ(test, e[1].start_pgoff, 14);
	/* The entry fits before the others, but not between them. */
	KUNIT_EXPECT_EQ(test, rdma_user_mmap_entry_insert_range(c, &e[2], 10 * K4, 0, 30), 0);
	KUNIT_EXPECT_EQ(test, e[2].start_pgoff, 0);
	KUNIT_EXPECT_EQ(test, rdma_user_mmap_entry_insert_range(c, &e[3], 20 * K4, 0, 30),
			-ENOMEM);
	KUNIT_EXPECT_EQ(test, rdma_user_mmap_entry_insert_range(c, &e[4], 0, 0, 30), -EINVAL);

	/* An entry is found by its first offset only. */
	KUNIT_EXPECT_PTR_EQ(test, rdma_user_mmap_entry_get_pgoff(c, 10), &e[0]);
	KUNIT_EXPECT_NULL(test, rdma_user_mmap_entry_get_pgoff(c, 11));
	KUNIT_EXPECT_NULL(test, rdma_user_mmap_entry_get_pgoff(c, 1ULL << 40));

	/* A removed entry cannot be mapped again, and keeps its offsets while it is mapped. */
	rdma_user_mmap_entry_remove(&e[0]);
	KUNIT_EXPECT_NULL(test, rdma_user_mmap_entry_get_pgoff(c, 10));
	KUNIT_EXPECT_EQ(test, o->freed, 0);
	KUNIT_EXPECT_EQ(test, rdma_user_mmap_entry_insert_range(c, &e[3], 4 * K4, 10, 13),
			-ENOMEM);
	rdma_user_mmap_entry_put(&e[0]);
	KUNIT_EXPECT_EQ(test, o->freed, 1);
	KUNIT_EXPECT_EQ(test, rdma_user_mmap_entry_insert_range(c, &e[3], 4 * K4, 10, 13), 0);

	rdma_user_mmap_entry_remove(&e[1]);
	rdma_user_mmap_entry_remove(&e[2]);
	rdma_user_mmap_entry_remove(&e[3]);
	KUNIT_EXPECT_EQ(test, o->freed, 4);
	KUNIT_EXPECT_TRUE(test, xa_empty(&c->mmap_xa));
}

/* Returns the entry for a mapping of this many pages at this offset. */
static struct rdma_user_mmap_entry *entry_of(struct kunit *test, struct offsets *o,
					     unsigned long pgoff, unsigned long pages,
					     vm_flags_t flags)
{
	struct vm_area_struct *vma = kunit_kzalloc(test, sizeof(*vma), GFP_KERNEL);
	struct rdma_user_mmap_entry *found;

	KUNIT_ASSERT_NOT_NULL(test, vma);
	vma->vm_start = 0x10000;
	vma->vm_end = vma->vm_start + pages * PAGE_SIZE;
	vma->vm_pgoff = pgoff;
	vm_flags_init(vma, flags);
	found = rdma_user_mmap_entry_get(&o->context, vma);
	kunit_kfree(test, vma);
	return found;
}

/* A mapping must be shared and cover a whole entry; a refused one holds no reference. */
static void mappings_of_entries(struct kunit *test)
{
	struct offsets *o = new_offsets(test);
	struct rdma_user_mmap_entry *e = o->entry;
	struct ib_ucontext *c = &o->context;
	unsigned long at;

	KUNIT_EXPECT_EQ(test, rdma_user_mmap_entry_insert(c, &e[0], 3 * K4), 0);
	KUNIT_EXPECT_EQ(test, rdma_user_mmap_entry_insert(c, &e[1], 1), 0);
	KUNIT_EXPECT_EQ(test, rdma_user_mmap_entry_insert(c, &e[2], 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, e[0].npages, 3);
	KUNIT_EXPECT_EQ(test, e[1].npages, 1);
	at = e[0].start_pgoff;
	KUNIT_EXPECT_TRUE(test, e[1].start_pgoff < at || e[1].start_pgoff >= at + 3);

	KUNIT_EXPECT_PTR_EQ(test, entry_of(test, o, at, 3, VM_SHARED), &e[0]);
	rdma_user_mmap_entry_put(&e[0]);
	KUNIT_EXPECT_NULL(test, entry_of(test, o, at, 3, 0));
	KUNIT_EXPECT_NULL(test, entry_of(test, o, at, 2, VM_SHARED));
	KUNIT_EXPECT_NULL(test, entry_of(test, o, at, 4, VM_SHARED));
	KUNIT_EXPECT_NULL(test, entry_of(test, o, at + 1, 2, VM_SHARED));
	KUNIT_EXPECT_PTR_EQ(test, entry_of(test, o, e[1].start_pgoff, 1, VM_SHARED), &e[1]);
	/* While it is mapped, a removed entry is not freed. */
	rdma_user_mmap_entry_remove(&e[0]);
	KUNIT_EXPECT_EQ(test, o->freed, 1);
	rdma_user_mmap_entry_remove(&e[1]);
	KUNIT_EXPECT_EQ(test, o->freed, 1);
	rdma_user_mmap_entry_put(&e[1]);
	KUNIT_EXPECT_EQ(test, o->freed, 2);
	KUNIT_EXPECT_TRUE(test, xa_empty(&c->mmap_xa));
}

#ifdef CONFIG_FAULT_INJECTION
/* A task that looks up entries while an insertion waits for memory, with the lock dropped. */
struct looker {
	struct offsets *o;
	struct task_struct *task;
	unsigned int looks;
	unsigned int finds;
};

static void look(void *data, unsigned long call_site, const void *ptr, struct kmem_cache *cache,
		 gfp_t gfp, int node)
{
	struct rdma_user_mmap_entry *found;
	struct looker *looker = data;

	if (current != looker->task || !gfpflags_allow_blocking(gfp))
		return;
	looker->looks++;
	found = rdma_user_mmap_entry_get_pgoff(&looker->o->context, 50);
	if (found) {
		looker->finds++;
		rdma_user_mmap_entry_put(found);
	}
}

/* An entry must not be found at its first offset before it has reserved all its offsets. */
static void offsets_half_taken(struct kunit *test)
{
	struct offsets *o = new_offsets(test);
	struct looker looker = { .o = o, .task = current };
	struct rdma_user_mmap_entry *e = o->entry;
	struct ib_ucontext *c = &o->context;
	bool fired = true;

	KUNIT_ASSERT_EQ(test, register_trace_kmem_cache_alloc(look, &looker), 0);
	for (unsigned int nth = 1; fired && nth < 50; nth++) {
		memset(e, 0, sizeof(*e));
		current->fail_nth = nth;
		/* The offsets are in several nodes of the tree. */
		if (!rdma_user_mmap_entry_insert_range(c, e, 200 * K4, 50, 300)) {
			KUNIT_EXPECT_EQ(test, e->start_pgoff, 50);
			KUNIT_EXPECT_PTR_EQ(test, rdma_user_mmap_entry_get_pgoff(c, 50), e);
			rdma_user_mmap_entry_put(e);
			rdma_user_mmap_entry_remove(e);
		}
		fired = !current->fail_nth;
		current->fail_nth = 0;
		KUNIT_EXPECT_TRUE(test, xa_empty(&c->mmap_xa));
	}
	unregister_trace_kmem_cache_alloc(look, &looker);
	tracepoint_synchronize_unregister();
	KUNIT_EXPECT_FALSE(test, fired);
	KUNIT_EXPECT_GT(test, looker.looks, 1);
	KUNIT_EXPECT_EQ(test, looker.finds, 0);
}
#endif

static struct kunit_case umem_cases[] = {
	KUNIT_CASE_PARAM(best_size, size_case_gen_params),
	KUNIT_CASE(best_size_random),
	KUNIT_CASE(blocks),
	KUNIT_CASE(offsets_distinct),
	KUNIT_CASE(mappings_of_entries),
#ifdef CONFIG_FAULT_INJECTION
	KUNIT_CASE(offsets_half_taken),
#endif
	{}
};

static struct kunit_suite umem_suite = {
	.name = "rdma_umem",
	.test_cases = umem_cases,
};

kunit_test_suite(umem_suite);

MODULE_DESCRIPTION("KUnit tests of user memory and mmap offsets");
MODULE_LICENSE("Dual BSD/GPL");
