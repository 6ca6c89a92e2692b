// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Lists of keys for registration by work requests, made from scatter lists. */
#include <linux/scatterlist.h>

#include "../verbs/mr.h"
#include "test_queues.h"

#define ENTRIES		4

struct fixture {
	struct bench *b;
	struct vhca_fast_mr fast;
	struct scatterlist sg[ENTRIES + 2];
};

static struct fixture *make(struct kunit *test, bool gaps)
{
	struct bench *b = test->priv;
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->b = b;
	f->fast.mr.fast = true;
	f->fast.mr.ibmr.device = &b->dev.ibdev;
	f->fast.mr.ibmr.page_size = SZ_4K;
	f->fast.gaps = gaps;
	f->fast.max = ENTRIES;
	KUNIT_ASSERT_EQ(test, vhca_list_alloc(&f->fast.list, b->dev.hw.dev,
					      ENTRIES * (gaps ? 16 : 8)), 0);
	sg_init_table(f->sg, ARRAY_SIZE(f->sg));
	return f;
}

static void drop(struct fixture *f)
{
	vhca_list_free(&f->fast.list);
}

static void piece(struct fixture *f, int i, u64 addr, u32 len)
{
	sg_dma_address(&f->sg[i]) = addr;
	sg_dma_len(&f->sg[i]) = len;
}

static int map(struct fixture *f, int n, unsigned int *offset)
{
	return vhca_map_mr_sg(&f->fast.mr.ibmr, f->sg, n, offset);
}

static void expect(struct kunit *test, struct fixture *f, u32 entries, u64 iova, u64 length)
{
	KUNIT_EXPECT_EQ(test, f->fast.entries, entries);
	KUNIT_EXPECT_EQ(test, f->fast.mr.ibmr.iova, iova);
	KUNIT_EXPECT_EQ(test, f->fast.start, iova);
	KUNIT_EXPECT_EQ(test, f->fast.mr.ibmr.length, length);
}

static void expect_page(struct kunit *test, struct fixture *f, u32 i, u64 addr)
{
	KUNIT_EXPECT_EQ(test, le64_to_cpu(((__le64 *)f->fast.list.va)[i]), addr);
}

static void expect_piece(struct kunit *test, struct fixture *f, u32 i, u64 addr, u64 end)
{
	struct vhca_sg_entry *entry = f->fast.list.va;

	KUNIT_EXPECT_EQ(test, le64_to_cpu(entry[i].addr), addr);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(entry[i].end), end);
}

static void test_pages(struct kunit *test)
{
	struct fixture *f = make(test, false);
	unsigned int offset = 0x100;

	piece(f, 0, 0x10200, 0xe00);
	piece(f, 1, 0x40000, 0x2000);
	piece(f, 2, 0x7000, 0x10);
	KUNIT_EXPECT_EQ(test, map(f, 3, &offset), 3);
	KUNIT_EXPECT_EQ(test, offset, 0);
	expect(test, f, 4, 0x10300, 0xd00 + 0x2000 + 0x10);
	expect_page(test, f, 0, 0x10000);
	expect_page(test, f, 1, 0x40000);
	expect_page(test, f, 2, 0x41000);
	expect_page(test, f, 3, 0x7000);
	/* A new mapping replaces the old one; it ends at a gap. */
	piece(f, 1, 0x40001, 0x100);
	KUNIT_EXPECT_EQ(test, map(f, 3, NULL), 1);
	expect(test, f, 1, 0x10200, 0xe00);
	drop(f);
}

static void test_more_pages_than_fit(struct kunit *test)
{
	struct fixture *f = make(test, false);
	unsigned int offset = 0;

	for (int i = 0; i < ENTRIES + 2; i++)
		piece(f, i, (10 + 2 * i) * SZ_4K, SZ_4K);
	KUNIT_EXPECT_EQ(test, map(f, ENTRIES + 2, NULL), ENTRIES);
	expect(test, f, ENTRIES, 10 * SZ_4K, ENTRIES * SZ_4K);
	/* If an entry fits in part, the number of its mapped bytes is returned as the offset. */
	piece(f, 1, 0x80000, 0x4000);
	KUNIT_EXPECT_EQ(test, map(f, 2, &offset), 1);
	KUNIT_EXPECT_EQ(test, offset, 0x3000);
	expect(test, f, ENTRIES, 10 * SZ_4K, ENTRIES * SZ_4K);
	drop(f);
}

static void test_large_pages(struct kunit *test)
{
	struct fixture *f = make(test, false);

	f->fast.mr.ibmr.page_size = SZ_1G;
	piece(f, 0, 3ULL * SZ_1G + 0x1234, SZ_1G - 0x1234);
	piece(f, 1, 8ULL * SZ_1G, SZ_1G);
	KUNIT_EXPECT_EQ(test, map(f, 2, NULL), 2);
	expect(test, f, 2, 3ULL * SZ_1G + 0x1234, 2ULL * SZ_1G - 0x1234);
	expect_page(test, f, 0, 3ULL * SZ_1G);
	expect_page(test, f, 1, 8ULL * SZ_1G);
	drop(f);
}

static void test_bad_pages(struct kunit *test)
{
	struct fixture *f = make(test, false);
	unsigned int offset = 0x1001;

	piece(f, 0, 0x10000, 0x1000);
	KUNIT_EXPECT_EQ(test, map(f, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, map(f, 1, &offset), -EINVAL);
	f->fast.mr.ibmr.page_size = 2048;
	KUNIT_EXPECT_EQ(test, map(f, 1, NULL), -EINVAL);
	f->fast.mr.ibmr.page_size = 3 * SZ_4K;
	KUNIT_EXPECT_EQ(test, map(f, 1, NULL), -EINVAL);
	f->fast.mr.ibmr.page_size = 0;
	KUNIT_EXPECT_EQ(test, map(f, 1, NULL), -EINVAL);
	f->b->dev.hw.limits.page_sizes = SZ_4K;
	f->fast.mr.ibmr.page_size = SZ_64K;
	KUNIT_EXPECT_EQ(test, map(f, 1, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, f->fast.entries, 0);
	f->fast.mr.ibmr.page_size = SZ_4K;
	f->fast.mr.fast = false;
	KUNIT_EXPECT_EQ(test, map(f, 1, NULL), -EINVAL);
	drop(f);
}

static void test_pieces(struct kunit *test)
{
	struct fixture *f = make(test, true);
	unsigned int offset = 5;

	piece(f, 0, 0x10201, 0x100);
	piece(f, 1, 0x40003, 7);
	piece(f, 2, 0x4000a, 1);	/* contiguous with the piece before */
	piece(f, 3, 0x99, 0);
	piece(f, 4, 0x20000, 0x123456);
	KUNIT_EXPECT_EQ(test, map(f, 5, &offset), 5);
	KUNIT_EXPECT_EQ(test, offset, 0);
	expect(test, f, 3, 0x10206, 0xfb + 8 + 0x123456);
	expect_piece(test, f, 0, 0x10206, 0xfb);
	expect_piece(test, f, 1, 0x40003, 0xfb + 8);
	expect_piece(test, f, 2, 0x20000, 0xfb + 8 + 0x123456);
	drop(f);
}

static void test_more_pieces_than_fit(struct kunit *test)
{
	struct fixture *f = make(test, true);
	unsigned int offset = 11;

	for (int i = 0; i < ENTRIES + 2; i++)
		piece(f, i, 1000 * (i + 1), 10);
	KUNIT_EXPECT_EQ(test, map(f, ENTRIES + 2, NULL), ENTRIES);
	expect(test, f, ENTRIES, 1000, 10 * ENTRIES);
	KUNIT_EXPECT_EQ(test, map(f, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, map(f, 1, &offset), -EINVAL);
	KUNIT_EXPECT_EQ(test, f->fast.entries, 0);
	/* The first entry is skipped entirely. */
	offset = 10;
	KUNIT_EXPECT_EQ(test, map(f, 2, &offset), 2);
	KUNIT_EXPECT_EQ(test, f->fast.entries, 1);
	expect_piece(test, f, 0, 2000, 10);
	drop(f);
}

static struct kunit_case fast_mr_cases[] = {
	KUNIT_CASE(test_pages),
	KUNIT_CASE(test_more_pages_than_fit),
	KUNIT_CASE(test_large_pages),
	KUNIT_CASE(test_bad_pages),
	KUNIT_CASE(test_pieces),
	KUNIT_CASE(test_more_pieces_than_fit),
	{}
};

struct kunit_suite vhca_fast_mr_suite = {
	.name = "vhca_fast_mr",
	.init = bench_init,
	.exit = bench_exit,
	.test_cases = fast_mr_cases,
};
