// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Page lists, walked as the device does. */
#include <kunit/test.h>
#include <linux/dma-mapping.h>

#include "../hw/buf.h"
#include "vhca_test.h"

#define PAGE_4K		12

/* Pages at scattered, distinguishable addresses. */
struct giver {
	size_t given;
	size_t have;
};

static u64 fake_address(size_t i)
{
	return (i * 7919ULL + 3) << PAGE_4K;
}

static bool give(void *cursor, u64 *addr)
{
	struct giver *g = cursor;

	if (g->given == g->have)
		return false;
	*addr = fake_address(g->given++);
	return true;
}

/* The address that the device reads for page @i. DMA addresses are physical addresses here. */
static u64 walk(const struct vhca_pages *p, size_t i)
{
	if (p->buf.levels == 1)
		return le64_to_cpu(p->root[i]);
	return le64_to_cpu(p->leaf[i / VHCA_LIST_ENTRIES][i % VHCA_LIST_ENTRIES]);
}

static void check_lists(struct kunit *test, size_t npages, u8 levels)
{
	struct giver g = { .have = npages };
	struct vhca_pages p;

	KUNIT_ASSERT_EQ(test, vhca_pages_build(&p, test->priv, PAGE_4K, 0x123, npages, give, &g),
			0);
	KUNIT_ASSERT_EQ(test, p.buf.levels, levels);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(p.buf.npages), npages);
	KUNIT_EXPECT_EQ(test, p.buf.page_shift, PAGE_4K);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(p.buf.offset), 0x123);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(p.buf.addr), p.root_dma);
	for (size_t i = 0; i < npages; i++)
		KUNIT_ASSERT_EQ(test, walk(&p, i), fake_address(i));
	KUNIT_EXPECT_EQ(test, g.given, npages);
	if (levels == 2) {
		KUNIT_EXPECT_EQ(test, p.nleaf, DIV_ROUND_UP(npages, VHCA_LIST_ENTRIES));
		for (size_t i = 0; i < p.nleaf; i++)
			KUNIT_EXPECT_EQ(test, le64_to_cpu(p.root[i]) % VHCA_LIST_PAGE, 0);
	}
	vhca_pages_free(&p);
}

static void test_one_page(struct kunit *test)
{
	struct giver g = { .have = 1 };
	struct vhca_pages p;

	KUNIT_ASSERT_EQ(test, vhca_pages_build(&p, test->priv, PAGE_4K, 0x80, 1, give, &g), 0);
	/* A contiguous buffer is described by the address of its first byte alone. */
	KUNIT_EXPECT_EQ(test, le64_to_cpu(p.buf.addr), fake_address(0) + 0x80);
	KUNIT_EXPECT_EQ(test, p.buf.levels, 0);
	KUNIT_EXPECT_EQ(test, p.buf.page_shift, 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(p.buf.npages), 0);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(p.buf.offset), 0);
	vhca_pages_free(&p);
}

static void test_levels(struct kunit *test)
{
	check_lists(test, 2, 1);
	check_lists(test, VHCA_LIST_ENTRIES, 1);
	check_lists(test, VHCA_LIST_ENTRIES + 1, 2);
	check_lists(test, 2 * VHCA_LIST_ENTRIES, 2);
	check_lists(test, 5 * VHCA_LIST_ENTRIES + 17, 2);
}

static void test_refused(struct kunit *test)
{
	struct giver g = { .have = 3 };
	struct vhca_pages p;

	KUNIT_EXPECT_EQ(test, vhca_pages_build(&p, test->priv, PAGE_4K, 0, 0, give, &g), -EINVAL);
	KUNIT_EXPECT_EQ(test, vhca_pages_build(&p, test->priv, PAGE_4K, 4096, 2, give, &g),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, vhca_pages_build(&p, test->priv, PAGE_4K, 0, 1ULL << 32, give, &g),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, g.given, 0);
	/* Fewer pages than announced, with one level, and in the middle of the second level. */
	KUNIT_EXPECT_EQ(test, vhca_pages_build(&p, test->priv, PAGE_4K, 0, 4, give, &g), -EINVAL);
	g = (struct giver){ .have = VHCA_LIST_ENTRIES + 5 };
	KUNIT_EXPECT_EQ(test, vhca_pages_build(&p, test->priv, PAGE_4K, 0, VHCA_LIST_ENTRIES + 6,
					       give, &g), -EINVAL);
	KUNIT_EXPECT_NULL(test, p.root);
	KUNIT_EXPECT_NULL(test, p.leaf);
}

static void check_kbuf(struct kunit *test, size_t size)
{
	struct vhca_kbuf k;

	KUNIT_ASSERT_EQ(test, vhca_kbuf_alloc(&k, test->priv, size), 0);
	KUNIT_EXPECT_GE(test, k.size, size);
	KUNIT_EXPECT_EQ(test, (size_t)k.npieces << k.shift, k.size);
	/* Entries do not overlap, and are zeroed. */
	for (size_t i = 0; i < size; i += 64) {
		u64 *entry = vhca_kbuf_at(&k, i);

		KUNIT_ASSERT_EQ(test, *entry, 0);
		*entry = i + 1;
	}
	for (size_t i = 0; i < size; i += 64)
		KUNIT_ASSERT_EQ(test, *(u64 *)vhca_kbuf_at(&k, i), i + 1);
	for (size_t i = 0; i < k.npieces; i++)
		KUNIT_EXPECT_EQ(test, k.dma[i] & ((1ULL << k.shift) - 1), 0);
	KUNIT_EXPECT_EQ(test, k.pages.buf.levels, k.npieces > 1 ? 1 : 0);
	vhca_kbuf_free(&k);
}

static void test_kbuf(struct kunit *test)
{
	check_kbuf(test, 64);
	check_kbuf(test, 4096);
	check_kbuf(test, SZ_64K);
	check_kbuf(test, SZ_128K);
	check_kbuf(test, SZ_1M);
}

static int buf_test_init(struct kunit *test)
{
	test->priv = vhca_test_device(test);
	return 0;
}

static struct kunit_case buf_cases[] = {
	KUNIT_CASE(test_one_page),
	KUNIT_CASE(test_levels),
	KUNIT_CASE(test_refused),
	KUNIT_CASE(test_kbuf),
	{}
};

struct kunit_suite vhca_buf_suite = {
	.name = "vhca_buf",
	.init = buf_test_init,
	.test_cases = buf_cases,
};
