// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Contents of the record and the list of an FMR, as the device reads them. */
#include "../verbs/mr.h"
#include "test_queues.h"

#ifdef VHCA_HAVE_EXT	/* other cores have no FMRs */

#define PAGES	3
#define MAPS	2
#define SHIFT	16
#define KEY	0x12ff

struct memory {
	struct vhca_fmr rec;
	__le64 page[PAGES];
};

static struct vhca_map *make(struct kunit *test, struct memory **memory)
{
	struct bench *b = test->priv;
	struct vhca_map *map = kunit_kzalloc(test, sizeof(*map), GFP_KERNEL);

	*memory = kunit_kzalloc(test, sizeof(**memory), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, map);
	KUNIT_ASSERT_NOT_NULL(test, *memory);
	map->ibfmr.device = &b->dev.ibdev;
	map->ibfmr.lkey = KEY;
	map->ibfmr.rkey = KEY;
	map->rec = &(*memory)->rec;
	map->max_pages = PAGES;
	map->max_maps = MAPS;
	map->page_shift = SHIFT;
	return map;
}

static void test_map(struct kunit *test)
{
	u64 pages[PAGES] = { 0x10000, 0x7fff0000, 0x20000 };
	struct memory *memory;
	struct vhca_map *map = make(test, &memory);
	struct vhca_fmr want = {
		.seq = cpu_to_le32(2), .key = cpu_to_le32(0x1200),
		.iova = cpu_to_le64(0x550000), .length = cpu_to_le64(PAGES << SHIFT),
		.npages = cpu_to_le32(PAGES),
	};

	KUNIT_ASSERT_EQ(test, vhca_map_phys_fmr(&map->ibfmr, pages, PAGES, 0x550000), 0);
	KUNIT_EXPECT_MEMEQ(test, &memory->rec, &want, sizeof(want));
	for (int i = 0; i < PAGES; i++)
		KUNIT_EXPECT_EQ(test, le64_to_cpu(memory->page[i]), pages[i]);
	/* The variant, which is the low byte, wraps; the other bytes are the device's. */
	KUNIT_EXPECT_EQ(test, map->ibfmr.lkey, 0x1200);
	KUNIT_EXPECT_EQ(test, map->ibfmr.rkey, 0x1200);

	KUNIT_ASSERT_EQ(test, vhca_map_phys_fmr(&map->ibfmr, pages + 1, 1, 0), 0);
	want = (struct vhca_fmr) {
		.seq = cpu_to_le32(4), .key = cpu_to_le32(0x1201),
		.length = cpu_to_le64(1 << SHIFT), .npages = cpu_to_le32(1),
	};
	KUNIT_EXPECT_MEMEQ(test, &memory->rec, &want, sizeof(want));
	KUNIT_EXPECT_EQ(test, le64_to_cpu(memory->page[0]), pages[1]);

	vhca_fmr_clear(&map->ibfmr);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(memory->rec.seq), 6);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(memory->rec.npages), 0);
}

static void test_maps_run_out(struct kunit *test)
{
	struct memory *memory;
	struct vhca_map *map = make(test, &memory);
	u64 page = 0;

	for (int i = 0; i < MAPS; i++)
		KUNIT_EXPECT_EQ(test, vhca_map_phys_fmr(&map->ibfmr, &page, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, vhca_map_phys_fmr(&map->ibfmr, &page, 1, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, map->ibfmr.rkey, 0x1201);
	vhca_fmr_clear(&map->ibfmr);
	KUNIT_EXPECT_EQ(test, vhca_map_phys_fmr(&map->ibfmr, &page, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, map->ibfmr.rkey, 0x1202);
}

static void test_refused(struct kunit *test)
{
	u64 pages[PAGES + 1] = { 0x10000, 0x20000, 0x30000, 0x40000 };
	struct memory *memory;
	struct vhca_map *map = make(test, &memory);
	struct vhca_fmr before;

	KUNIT_ASSERT_EQ(test, vhca_map_phys_fmr(&map->ibfmr, pages, 2, 0x10000), 0);
	before = memory->rec;
	KUNIT_EXPECT_EQ(test, vhca_map_phys_fmr(&map->ibfmr, pages, 0, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, vhca_map_phys_fmr(&map->ibfmr, pages, -1, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, vhca_map_phys_fmr(&map->ibfmr, pages, PAGES + 1, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, vhca_map_phys_fmr(&map->ibfmr, pages, 1, 0x8000), -EINVAL);
	KUNIT_EXPECT_EQ(test, vhca_map_phys_fmr(&map->ibfmr, pages, 2, -0x10000ULL), -EINVAL);
	pages[1]++;
	KUNIT_EXPECT_EQ(test, vhca_map_phys_fmr(&map->ibfmr, pages, 2, 0), -EINVAL);
	/* The former mapping is unchanged. */
	KUNIT_EXPECT_MEMEQ(test, &memory->rec, &before, sizeof(before));
	KUNIT_EXPECT_EQ(test, map->maps, 1);
}

static struct kunit_case fmr_cases[] = {
	KUNIT_CASE(test_map),
	KUNIT_CASE(test_maps_run_out),
	KUNIT_CASE(test_refused),
	{}
};

static struct kunit_suite fmr_suite = {
	.name = "vhca_fmr",
	.init = bench_init,
	.exit = bench_exit,
	.test_cases = fmr_cases,
};

kunit_test_suite(fmr_suite);

#endif
