// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Translation against a model that knows the address of every byte: page lists of
 * all levels with pages in and out of order, gather lists of several keys, and
 * segment arrays that are too short.
 */
#include <string.h>

#include "res/dev.h"
#include "res/sgl.h"
#include "tests/thca.h"
#include "tests/trandom.h"

#define PAGES		1100u		/* more than two pages of a list */
#define SHIFT		12u
#define SIZE		(1u << SHIFT)

static u64 rng = 88172645463325252ull;

static u32 any(u32 below)
{
	return (t_random(&rng) >> 16) % below;
}

struct fixture {
	struct tworld w;
	struct thca h;
	u64 page[PAGES];	/* of the buffer */
	struct vbuf buf[3];	/* the same with 0 (its first run alone), 1 and 2 levels */
	u32 run;		/* contiguous bytes at the start */
	u64 leaf;		/* a page of the two-level list */
};

/* Pages in runs of neighbours, the runs scattered. */
static void choose_pages(struct fixture *f)
{
	u64 at = 0x200000000ull;

	for (u32 i = 0; i < PAGES; i++) {
		if (i >= 5 && any(3))
			at += SIZE * (1 + any(4));
		f->page[i] = at;
		at += SIZE;
	}
	f->run = 5 * SIZE;
	f->page[5] += 64 * SIZE;
	for (u32 i = 6; i < PAGES; i++)
		f->page[i] += 64 * SIZE;
}

static int setup(void **state)
{
	static struct fixture f;
	u32 lists = (PAGES + VHCA_LIST_ENTRIES - 1) / VHCA_LIST_ENTRIES;
	u64 list, top;

	memset(&f, 0, sizeof(f));
	t_world_init(&f.w);
	t_hca_init(&f.h, &f.w, 0x100);
	choose_pages(&f);
	list = t_alloc(&f.h, lists * VHCA_LIST_PAGE);
	top = t_alloc(&f.h, VHCA_LIST_PAGE);
	for (u32 i = 0; i < PAGES; i++)
		((__le64 *)t_cpu(&f.h, list))[i] = htole64(f.page[i]);
	for (u32 i = 0; i < lists; i++)
		((__le64 *)t_cpu(&f.h, top))[i] = htole64(list + i * VHCA_LIST_PAGE);
	f.buf[0] = (struct vbuf){ .addr = f.page[0] };
	f.buf[1] = (struct vbuf){ .addr = list, .npages = PAGES, .shift = SHIFT, .levels = 1 };
	f.buf[2] = (struct vbuf){ .addr = top, .npages = PAGES, .shift = SHIFT, .levels = 2 };
	f.leaf = top + sizeof(__le64);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	t_hca_fini(&f->h);
	t_world_fini(&f->w);
	return 0;
}

static u64 model(const struct fixture *f, u64 off)
{
	return f->page[off >> SHIFT] + (off & (SIZE - 1));
}

/* The segments equal the model, each begins a new run, and nothing is missing. */
static void check(const struct fixture *f, u64 off, u64 want, u64 got, const struct dma_seg *seg,
		  u32 nseg, u32 max)
{
	u64 at = off;

	assert_true(nseg <= max);
	for (u32 i = 0; i < nseg; i++) {
		assert_true(seg[i].len > 0);
		assert_int_equal(seg[i].addr, model(f, at));
		/* one run: in the model it is contiguous up to its last byte */
		assert_int_equal(seg[i].addr + seg[i].len - 1, model(f, at + seg[i].len - 1));
		if (i)
			assert_int_not_equal(seg[i - 1].addr + seg[i - 1].len, seg[i].addr);
		at += seg[i].len;
	}
	assert_int_equal(at - off, got);
	if (got < want) {
		/* only because the next run has no room */
		assert_int_equal(nseg, max);
		assert_int_not_equal(model(f, at), model(f, at - 1) + 1);
	}
}

static void buffers(void **state)
{
	struct fixture *f = *state;
	struct dma_seg seg[64];

	for (u32 round = 0; round < 8000; round++) {
		u32 levels = any(3), max = 1 + any(ARRAY_SIZE(seg)), nseg = 0;
		u64 size = levels ? (u64)PAGES * SIZE : f->run;
		u64 off = any(size), len = 1 + any(MIN(size - off, (u64)any(2) ? 70 * SIZE : 300));
		struct vbuf b = f->buf[levels];
		u64 got;

		/* the buffer may begin inside its first page */
		if (levels && any(2)) {
			b.offset = any(SIZE);
			if (off < b.offset)
				continue;
			got = vbuf_map(f->h.mem, &b, off - b.offset, len, seg, &nseg, max);
		} else {
			got = vbuf_map(f->h.mem, &b, off, len, seg, &nseg, max);
		}
		check(f, off, len, got, seg, nseg, max);
	}
}

/* A page list that cannot be read ends the mapping at its first byte. */
static void unreadable_lists(void **state)
{
	struct fixture *f = *state;
	struct dma_seg seg[64];
	struct vbuf b = f->buf[1];
	u32 nseg = 0;
	u64 got;

	b.addr = 0x1000;
	assert_int_equal(vbuf_map(f->h.mem, &b, 0, 1, seg, &nseg, 64), 0);
	assert_int_equal(nseg, 0);
	b = f->buf[2];
	b.addr = 0x1000;
	assert_int_equal(vbuf_map(f->h.mem, &b, 0, 1, seg, &nseg, 64), 0);
	assert_int_equal(nseg, 0);
	/* the second of the two-level list's pages */
	*(__le64 *)t_cpu(&f->h, f->leaf) = htole64(0x1000);
	got = vbuf_map(f->h.mem, &f->buf[2], (VHCA_LIST_ENTRIES - 3) * SIZE, 6 * SIZE, seg, &nseg,
		       64);
	assert_int_equal(got, 3 * SIZE);
	assert_true(nseg < 64);
}

/* Makes a key of part of the buffer; its bytes have the addresses of their offsets. */
static u32 make_key(struct fixture *f, u64 from, u64 len, bool list)
{
	struct vhca_create_mkey_req req = {
		.iova = htole64(from), .length = htole64(len), .pdn = htole32(f->h.pd),
		.access = htole32(VHCA_ACCESS_LOCAL_WRITE),
	};

	if (list) {
		req.buf.addr = htole64(f->buf[1].addr + (from >> SHIFT) * sizeof(__le64));
		req.buf.offset = htole64(from & (SIZE - 1));
		req.buf.npages = htole32(((from & (SIZE - 1)) + len + SIZE - 1) >> SHIFT);
		req.buf.page_shift = SHIFT;
		req.buf.levels = 1;
	} else {
		req.type = VHCA_MKEY_PHYSICAL;
		req.iova = 0;
		req.length = 0;
	}
	return t_create(&f->h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req));
}

static void gather_lists(void **state)
{
	struct fixture *f = *state;
	struct vpd *pd = table_get(&f->h.dev->pds, f->h.pd);
	u32 listed = make_key(f, 0, (u64)PAGES * SIZE, true), phys = make_key(f, 0, 0, false);
	struct dma_seg seg[64];
	struct sge sge[8];

	for (u32 round = 0; round < 8000; round++) {
		u32 n = 1 + any(ARRAY_SIZE(sge)), max = 1 + any(ARRAY_SIZE(seg)), nseg;
		const struct sglist l = {
			.sge = sge, .n = n, .access = MKEY_WRITE_LOCAL,
			.scope = { .dev = f->h.dev, .pd = pd },
		};
		u64 total = 0, off, len, got, at = 0, pos[8];
		u32 bad = UINT32_MAX;

		for (u32 i = 0; i < n; i++) {
			pos[i] = any(PAGES * SIZE / 2);
			sge[i].len = any(4) ? 1 + any(any(2) ? 30 * SIZE : 100) : 0;
			sge[i].key = listed;
			sge[i].addr = pos[i];
			/* a single page can also be named by its real address */
			if (any(3) == 0) {
				sge[i].len = MIN(sge[i].len, SIZE - (u32)(pos[i] & (SIZE - 1)));
				sge[i].addr = model(f, pos[i]);
				sge[i].key = phys;
			}
			if (sge[i].len && bad == UINT32_MAX && any(40) == 0) {
				sge[i].key ^= 1;
				bad = i;
			}
			total += sge[i].len;
		}
		assert_int_equal(sgl_check(&l), bad == UINT32_MAX);
		if (!total)
			continue;
		off = any(total);
		len = 1 + any(total - off);
		got = sgl_map(&l, off, len, seg, &nseg, max);
		assert_true(got <= len && nseg <= max);

		/* byte for byte the same as the list */
		for (u32 i = 0, s = 0, used = 0; i < n && at < off + got; i++) {
			for (u32 k = 0; k < sge[i].len && at < off + got; k++, at++) {
				if (at < off)
					continue;
				assert_int_not_equal(i, bad);
				if (used == seg[s].len) {
					s++;
					used = 0;
				}
				assert_true(s < nseg);
				assert_int_equal(seg[s].addr + used++, model(f, pos[i] + k));
			}
		}
		/* less than requested: no room, or the key that does not exist */
		if (got < len && nseg < max) {
			u64 before = 0;

			assert_int_not_equal(bad, UINT32_MAX);
			for (u32 i = 0; i < bad; i++)
				before += sge[i].len;
			assert_int_equal(off + got, MAX(before, off));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(buffers, setup, teardown),
		cmocka_unit_test_setup_teardown(unreadable_lists, setup, teardown),
		cmocka_unit_test_setup_teardown(gather_lists, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
