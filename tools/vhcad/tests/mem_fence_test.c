// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The fences of copies past the cache, against a model of what processors may do: non-temporal
 * stores become visible in any order until the next fence.  (Those that exist drain their buffers
 * so soon that a missing fence is not noticed for days.)
 */
#include <errno.h>
#include <string.h>
#if defined(__x86_64__)
#include <emmintrin.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * This program contains stream.c and access.c a second time, with other names and with the model
 * below.
 */
#define gmem_stream		model_stream
#define gmem_stream_last	model_stream_last
#define gmem_stream_fence	model_stream_fence
#define gmem_stream_init	model_stream_init
#define gmem_cold_size		model_cold_size
#define gmem_check		model_check
#define dma_read		model_read
#define dma_read_list		model_read_list
#define dma_write		model_write
#define dma_write_list		model_write_list
#define dma_copy		model_copy

#include "lib/log.h"
#include "tests/cm.h"
#include "tests/testmem.h"
#include "mem/internal.h"

#define ROOM	(256u << 10)

static u8 dest[ROOM] __attribute__((aligned(64)));
static u8 source[ROOM];

static struct {
	u32 fences;		/* so far */
	u32 last_nt;		/* fences before the last non-temporal store */
	u32 last_plain;		/* and before the last ordinary one */
	bool nt, plain;		/* there was one */
	u32 done;		/* bytes, in ascending order */
	u8 *start;		/* NULL: where the first store is */
} model;

static void begins_at(void *d)
{
	if (!model.start)
		model.start = d;
	assert_ptr_equal(d, model.start + model.done);
}

static void plain_store(void *d, const void *s, size_t n)
{
	/* it must neither overtake a non-temporal one nor be overtaken */
	assert_true(!model.nt || model.last_nt < model.fences);
	begins_at(d);
	memcpy(d, s, n);
	model.plain = true;
	model.last_plain = model.fences;
	model.done += n;
}

static void nt_store(__m128i *d, __m128i v)
{
	assert_true(!model.plain || model.last_plain < model.fences);
	begins_at(d);
	memcpy(d, &v, sizeof(v));
	model.nt = true;
	model.last_nt = model.fences;
	model.done += sizeof(v);
}

static void fence(void)
{
	model.fences++;
}

#define _mm_stream_si128(d, v)	nt_store(d, v)
#define _mm_sfence()		fence()

#define gmem_copy_ascending(d, s, n)	plain_store(d, s, n)
#include "mem/stream.c"
#include "mem/access.c"

/* As dma_copy() has it copied: pieces, the last of which ends the message. */
static void copy(u32 at, const u32 *len, u32 n)
{
	u32 total = 0, before;

	memset(&model, 0, sizeof(model));
	model.start = dest + at;
	/* what came before this part of the message was an ordinary store */
	model.plain = true;
	gmem_stream_fence();
	for (u32 i = 0; i + 1 < n; total += len[i++])
		gmem_stream(dest + at + total, source + total, len[i],
			    source + total + len[i]);
	before = model.done;
	assert_int_equal(before, total);
	gmem_stream_last(dest + at + total, source + total, len[n - 1]);
	total += len[n - 1];
	assert_int_equal(model.done, total);
	assert_memory_equal(dest + at, source, total);
	/* the last byte is visible after everything, and what is stored next after it */
	assert_true(model.plain && (!model.nt || model.last_nt < model.last_plain));
}

static void one_piece(void **state)
{
	for (u32 at = 0; at < 64; at++)
		for (u32 len = 1; len < 600; len++)
			copy(at, &len, 1);
}

static void two_pieces(void **state)
{
	for (u32 at = 0; at < 64; at += 3)
		for (u32 a = 1; a < 300; a += 7)
			for (u32 b = 1; b < 200; b++)
				copy(at, (const u32[]){ a, b }, 2);
}

static void long_pieces(void **state)
{
	static const u32 some[] = { 64, 4096, 4032, 8, 16384, 65536, 100, 16448, 1 };

	for (u32 at = 0; at < 64; at++) {
		for (u32 i = 0; i < ARRAY_SIZE(some); i++)
			for (u32 k = 0; k < ARRAY_SIZE(some); k++)
				copy(at, (const u32[]){ some[i], some[k], some[(i + k) % 5] }, 3);
	}
}

#define PAGE	((u64)GMEM_PAGE_SIZE)
#define LOOSE	0x100000ull
#define GOOD	0x900000ull

/*
 * A message is cut short, as memory of the receiver is lost under it: the receiver sees the error
 * with everything that has arrived, and nothing arrives later.
 */
static void memory_that_is_lost(void **state)
{
	const struct dma_seg to[] = { { LOOSE, 2 * PAGE }, { GOOD, PAGE } };
	const struct dma_seg src = { GOOD + PAGE, 3 * PAGE };
	struct guest_mem *m = gmem_new();
	u8 *good = testmem_add(m, GOOD, 4 * PAGE);
	int fd = memfd_create("loose", MFD_CLOEXEC);
	bool src_fault = false;
	u8 got[64];

	memset(good, 0x5a, 4 * PAGE);
	assert_int_equal(ftruncate(fd, 2 * PAGE), 0);
	assert_int_equal(gmem_map(m, LOOSE, 2 * PAGE, fd, 0,
				  GMEM_READ | GMEM_WRITE | GMEM_UNSEALED), 0);
	/* cmocka sets its own handler for each test */
	gmem_lost_init();
	assert_int_equal(ftruncate(fd, PAGE), 0);
	memset(&model, 0, sizeof(model));
	assert_int_equal(dma_copy(m, to, 2, m, &src, 0, true, &src_fault), -EFAULT);
	assert_false(src_fault);
	assert_true(model.nt && model.last_nt < model.fences);
	assert_int_equal(pread(fd, got, sizeof(got), PAGE - sizeof(got)), sizeof(got));
	assert_memory_equal(got, good, sizeof(got));
	gmem_free(m);
	close(fd);
	testmem_drop(good, 4 * PAGE);
}

static int setup(void **state)
{
	for (u32 i = 0; i < ROOM; i++)
		source[i] = i * 11 + i / 255;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_piece),
		cmocka_unit_test(two_pieces),
		cmocka_unit_test(long_pieces),
		cmocka_unit_test(memory_that_is_lost),
	};

	log_open("/dev/null");
	return cmocka_run_group_tests(tests, setup, NULL);
}

#else

/* On other processors such messages are copied like all others. */
int main(void)
{
	return 0;
}

#endif
