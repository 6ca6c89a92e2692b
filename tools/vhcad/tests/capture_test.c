// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Capture files that cannot be written completely: the first error is returned,
 * nothing is written after it, and the part before it is valid.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/capture.h"
#include "capture/pcapng.h"
#include "tests/cm.h"
#include "tests/tcheck.h"
#include "tests/tprog.h"

#define HEADER		28u	/* of the file */
#define PORT		40u	/* an interface named "p:1" */

static char dir[TPROG_DIR], file[TPROG_PATH];

static int setup(void **state)
{
	tprog_dir(dir);
	tprog_in(dir, "capture", file);
	return 0;
}

static int teardown(void **state)
{
	tprog_dir_end(dir, file, NULL);
	return 0;
}

/* Limits the length of files; RLIM_INFINITY: no limit. */
static void no_file_beyond(rlim_t size)
{
	struct rlimit lim;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &lim), 0);
	lim.rlim_cur = size;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &lim), 0);
	signal(SIGXFSZ, size == RLIM_INFINITY ? SIG_DFL : SIG_IGN);
}

static u64 size_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_size;
}

static void no_such_place(void **state)
{
	errno = 0;
	assert_null(capture_open("/no/such/dir/capture"));
	assert_int_equal(errno, ENOENT);
	assert_null(capture_open(dir));
	assert_int_equal(errno, EISDIR);
}

/* A disk that is full from the start. */
static void full(void **state)
{
	struct capture *c = capture_open("/dev/full");
	u8 packet[64] = { 0 };

	assert_non_null(c);
	assert_int_equal(capture_add_ib_port(c, "p:1"), -ENOSPC);
	capture_ib_packet(c, 0, 1, packet, sizeof(packet));
	capture_flush(c);
	assert_int_equal(capture_close(c), -ENOSPC);
}

/* The disk fills up at a flush, at the close, at a packet. */
static void full_later(void **state)
{
	u8 *big = calloc(1, 1 << 20), packet[64] = { 0 };

	for (u32 how = 0; how < 3; how++) {
		struct capture *c = capture_open(file);

		assert_non_null(c);
		assert_int_equal(capture_add_ib_port(c, "p:1"), 0);
		assert_int_equal(size_of(file), HEADER + PORT);
		no_file_beyond(HEADER + PORT);
		if (how == 2)
			capture_ib_packet(c, 0, 1, big, 1 << 20);
		else
			capture_ib_packet(c, 0, 1, packet, sizeof(packet));
		if (how == 1)
			capture_flush(c);
		no_file_beyond(RLIM_INFINITY);
		if (how) {
			/* there would be room again, but the file is broken */
			assert_int_equal(capture_add_ib_port(c, "p:2"), -EFBIG);
			capture_ib_packet(c, 0, 2, packet, sizeof(packet));
			assert_int_equal(capture_close(c), -EFBIG);
		} else {
			no_file_beyond(HEADER + PORT);
			assert_int_equal(capture_close(c), -EFBIG);
			no_file_beyond(RLIM_INFINITY);
		}
		assert_int_equal(size_of(file), HEADER + PORT);
	}
	free(big);
}

/* The reader of a pipe closes it. */
static void nobody_reads(void **state)
{
	struct capture *c;
	u8 packet[64] = { 0 };
	int fd;

	assert_int_equal(mkfifo(file, 0600), 0);
	fd = open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_true(fd >= 0);
	c = capture_open(file);
	assert_non_null(c);
	close(fd);
	signal(SIGPIPE, SIG_IGN);	/* as the daemon does */
	capture_ib_packet(c, 0, 1, packet, sizeof(packet));
	assert_int_equal(capture_close(c), -EPIPE);
	signal(SIGPIPE, SIG_DFL);
}

/* ---- vhca-capcheck: files that it accepts as captures ---- */

static u8 buf[8192];
static u32 used;

static void put(const void *data, u32 len)
{
	assert_true(used + len <= sizeof(buf));
	memcpy(buf + used, data, len);
	used += len;
}

static void put32(u32 v)
{
	put(&v, sizeof(v));
}

static void block(u32 type, const void *body, u32 len)
{
	u32 padded = (len + 3) & ~3u;

	put32(type);
	put32(12 + padded);
	put(body, len);
	put("\0\0\0", padded - len);
	put32(12 + padded);
}

static void section(void)
{
	const u32 shb[4] = { PCAPNG_BYTE_ORDER, 1, UINT32_MAX, UINT32_MAX };

	used = 0;
	block(PCAPNG_SHB, shb, sizeof(shb));
}

static void interface(u16 link)
{
	const u16 idb[4] = { link };

	block(PCAPNG_IDB, idb, sizeof(idb));
}

static void packet(u32 id, const void *data, u32 len)
{
	u8 body[4096];
	const u32 head[5] = { id, 0, 0, len, len };

	memcpy(body, head, sizeof(head));
	memcpy(body + sizeof(head), data, len);
	block(PCAPNG_EPB, body, sizeof(head) + len);
}

static int check(void)
{
	FILE *f = fopen(file, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(buf, 1, used, f), used);
	assert_int_equal(fclose(f), 0);
	return t_capcheck(file);
}

enum { GOOD = 0, BAD = 1, NOTHING = 2 };

static void no_captures(void **state)
{
	u32 whole;

	used = 0;
	assert_int_equal(check(), NOTHING);
	put("hello, world, this is text", 26);
	assert_int_equal(check(), NOTHING);
	assert_int_equal(t_capcheck("/no/such/file"), NOTHING);
	assert_int_equal(t_capcheck("--help"), 0);
	assert_int_equal(t_capcheck("--verbose"), NOTHING);
	assert_int_equal(t_capcheck("one two"), NOTHING);
	assert_int_equal(t_capcheck(dir), NOTHING);

	/* well formed, but without RDMA packets */
	section();
	assert_int_equal(check(), NOTHING);
	interface(LINKTYPE_ETHERNET);
	interface(9999);
	packet(0, "12345678901234567890", 20);
	packet(1, "12345678901234567890", 20);
	block(0x0bad, "anything", 8);
	assert_int_equal(check(), NOTHING);

	/* cut anywhere it is incomplete, and no byte behind its end is read */
	whole = used;
	for (used = 0; used < whole; used++)
		assert_int_equal(check(), NOTHING);
}

static void broken_blocks(void **state)
{
	u32 lengths[] = { 0, 4, 8, 11, 13, 14, 1 << 20, UINT32_MAX, UINT32_MAX - 3 };

	for (u32 i = 0; i < ARRAY_SIZE(lengths); i++) {
		section();
		interface(LINKTYPE_ERF);
		memcpy(buf + HEADER + 4, &lengths[i], 4);
		assert_int_equal(check(), NOTHING);
	}
	/* the two lengths differ */
	section();
	buf[used - 4]++;
	assert_int_equal(check(), NOTHING);
	/* neither byte order */
	section();
	buf[8] ^= 0xff;
	assert_int_equal(check(), NOTHING);
	/* too short for what they are */
	section();
	block(PCAPNG_IDB, "1234", 4);
	assert_int_equal(check(), NOTHING);
	section();
	block(PCAPNG_SPB, "1234", 4);	/* of no interface */
	assert_int_equal(check(), NOTHING);
	section();
	interface(LINKTYPE_ERF);
	block(PCAPNG_EPB, "1234567890123456", 16);
	assert_int_equal(check(), NOTHING);
	section();
	interface(LINKTYPE_ERF);
	block(PCAPNG_SPB, "", 0);
	assert_int_equal(check(), NOTHING);
	/* a packet of an interface that is not there, and one longer than its block */
	section();
	interface(LINKTYPE_ERF);
	packet(1, "1234", 4);
	assert_int_equal(check(), NOTHING);
	section();
	interface(LINKTYPE_ERF);
	packet(0, "1234", 4);
	buf[HEADER + 20 + 8 + 12] = 5;
	assert_int_equal(check(), NOTHING);
}

/* An ERF record of a type around @len bytes, whose header claims @claims bytes. */
static void record(u8 type, const void *data, u32 len, u16 claims)
{
	u8 rec[16 + 2048] = { [8] = type, [14] = claims >> 8, [15] = claims };

	memcpy(rec + 16, data, len);
	section();
	interface(LINKTYPE_ERF);
	packet(0, rec, 16 + len);
}

static void records(void **state)
{
	u8 lrh[64] = { [1] = 2, [5] = 8 };	/* 8 words and a CRC: 34 bytes */

	record(ERF_TYPE_INFINIBAND, "", 0, 0);
	assert_int_equal(check(), BAD);		/* not even an LRH */
	record(ERF_TYPE_INFINIBAND, lrh, 34, 34);
	assert_int_equal(check(), BAD);		/* CRCs of zero */
	record(ERF_TYPE_INFINIBAND, lrh, 33, 33);
	assert_int_equal(check(), BAD);		/* another length than the LRH's */
	record(ERF_TYPE_INFINIBAND, lrh, 20, 34);
	assert_int_equal(check(), NOTHING);	/* cut short: cannot be checked */
	record(2, lrh, 34, 34);
	assert_int_equal(check(), NOTHING);	/* Ethernet */
	record(0x80 | ERF_TYPE_INFINIBAND, lrh, 34, 34);
	assert_int_equal(check(), NOTHING);	/* with extensions */
	section();
	interface(LINKTYPE_ERF);
	packet(0, lrh, 15);
	assert_int_equal(check(), NOTHING);	/* no record */
	/* more bad packets than are printed */
	section();
	interface(LINKTYPE_ERF);
	for (u32 i = 0; i < 50; i++) {
		u8 rec[16 + 4] = { [8] = ERF_TYPE_INFINIBAND, [15] = 4 };

		packet(0, rec, sizeof(rec));
	}
	assert_int_equal(check(), BAD);
}

int main(void)
{
#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(no_such_place), TEST(full), TEST(full_later), TEST(nobody_reads),
		TEST(no_captures), TEST(broken_blocks), TEST(records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
