// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fsx [-s SEED] [-t SECONDS] [-n OPERATIONS] FILE
 *
 * Changes a file by random operations of every kind that a file system has, and keeps in memory
 * what must be in it. What is read is compared: past the page cache and through it, by mappings,
 * and from the disk when the cache has dropped the file. This goes on for SECONDS (60), and for at
 * least OPERATIONS (1000); the seed decides which ones. After a mismatch the latest of them are
 * printed, and the exit status is 1.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LARGEST	(8u << 20)		/* of the file */
#define LENGTH	(256u << 10)		/* of an operation, except those without data */
#define SECTOR	4096u			/* unit of direct I/O */
#define LOG	256u			/* operations that are printed */

enum kind {
	READ, WRITE, DIRECT_READ, DIRECT_WRITE, MAP_READ, MAP_WRITE, TRUNCATE, PUNCH, ZERO,
	ZERO_KEEP, ALLOCATE, ALLOCATE_KEEP, SYNC, FORGET, KINDS
};

static const char *const names[] = {
	[READ] = "read", [WRITE] = "write", [DIRECT_READ] = "direct read",
	[DIRECT_WRITE] = "direct write", [MAP_READ] = "mapped read",
	[MAP_WRITE] = "mapped write", [TRUNCATE] = "truncate",
	[PUNCH] = "punch hole", [ZERO] = "zero range", [ZERO_KEEP] = "zero range, keep size",
	[ALLOCATE] = "allocate", [ALLOCATE_KEEP] = "allocate, keep size", [SYNC] = "sync",
	[FORGET] = "sync and forget",
};

struct operation {
	enum kind kind;
	unsigned int at, length, size;	/* the file's size before the operation */
};

static unsigned char model[LARGEST];	/* zeros behind the end */
static unsigned int size;
static unsigned char *data;		/* LENGTH, at a sector's alignment */
static const char *path;
static int file, direct;
static struct operation history[LOG];
static unsigned long done, counts[KINDS];
static uint64_t seed;

static uint64_t draw(void)
{
	uint64_t x = seed += 0x9e3779b97f4a7c15;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

/* A random number in [0, n) */
static unsigned int below(unsigned int n)
{
	return draw() % n;
}

static void print_history(void)
{
	for (unsigned long n = done > LOG ? done - LOG : 0; n < done; n++) {
		const struct operation *o = &history[n % LOG];

		fprintf(stderr, "%lu: %s, [%#x, %#x), %#x bytes, the file's size is %#x\n", n,
			names[o->kind], o->at, o->at + o->length, o->length, o->size);
	}
}

__attribute__((format(printf, 1, 2)))
static void fail(const char *format, ...)
{
	va_list args;

	print_history();
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, " (%s, seed as above)\n", path);
	exit(1);
}

static void must(bool well)
{
	if (!well)
		fail("%s fails: %s", names[history[(done - 1) % LOG].kind], strerrorname_np(errno));
}

/* Compares these bytes from a place of the file with those written last. */
static void compare(const unsigned char *found, unsigned int at, unsigned int length)
{
	unsigned int first = 0, wrong = 0;

	if (!memcmp(found, model + at, length))
		return;
	while (found[first] == model[at + first])
		first++;
	for (unsigned int i = first; i < length; i++)
		wrong += found[i] != model[at + i];
	fail("at %#x is 0x%02x, not 0x%02x, and %u bytes are wrong to %#x", at + first,
	     found[first], model[at + first], wrong, at + length);
}

static unsigned int sectors(unsigned int length)
{
	return (length + SECTOR - 1) / SECTOR * SECTOR;
}

static void fill(unsigned int length)
{
	for (unsigned int i = 0; i < length; i += sizeof(uint64_t)) {
		uint64_t word = draw();

		memcpy(data + i, &word, sizeof(word));
	}
}

static void grow(unsigned int end)
{
	if (end > size)
		size = end;
}

static void written(unsigned int at, unsigned int length)
{
	memcpy(model + at, data, length);
	grow(at + length);
}

static unsigned char *mapped(unsigned int at, unsigned int length, int prot)
{
	const unsigned int page = at & ~4095u;
	unsigned char *map = mmap(NULL, at + length - page, prot, MAP_SHARED, file, page);

	must(map != MAP_FAILED);
	return map + (at - page);
}

static void unmapped(unsigned char *map, unsigned int length)
{
	unsigned char *page = (unsigned char *)((uintptr_t)map & ~4095ul);

	must(!munmap(page, map + length - page));
}

static void map_write(unsigned int at, unsigned int length)
{
	unsigned char *map;

	if (at + length > size)
		must(!ftruncate(file, at + length));
	fill(length);
	map = mapped(at, length, PROT_READ | PROT_WRITE);
	memcpy(map, data, length);
	if (below(2))
		must(!msync((void *)((uintptr_t)map & ~4095ul), length + ((uintptr_t)map & 4095),
			    MS_SYNC));
	unmapped(map, length);
	written(at, length);
}

static void map_read(unsigned int at, unsigned int length)
{
	unsigned char *map = mapped(at, length, PROT_READ);

	compare(map, at, length);
	unmapped(map, length);
}

static void truncated(unsigned int to)
{
	must(!ftruncate(file, to));
	if (to < size)
		memset(model + to, 0, size - to);
	size = to;
}

static void allocate(int mode, unsigned int at, unsigned int length)
{
	must(!fallocate(file, mode, at, length));
	if (!(mode & FALLOC_FL_KEEP_SIZE))
		grow(at + length);
	if (mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE))
		memset(model + at, 0, length);
}

/* Checks that all of @length bytes were read or written. */
static void whole(ssize_t moved, unsigned int length)
{
	must(moved == (ssize_t)length);
}

static void perform(enum kind kind, unsigned int at, unsigned int length)
{
	switch (kind) {
	case READ:
		whole(pread(file, data, length, at), length);
		compare(data, at, length);
		break;
	case DIRECT_READ:	/* The last sector of the file may be a part. */
		whole(pread(direct, data, sectors(length), at), length);
		compare(data, at, length);
		break;
	case WRITE:
	case DIRECT_WRITE:
		fill(length);
		whole(pwrite(kind == WRITE ? file : direct, data, length, at), length);
		written(at, length);
		break;
	case MAP_READ:
		map_read(at, length);
		break;
	case MAP_WRITE:
		map_write(at, length);
		break;
	case TRUNCATE:
		truncated(at);
		break;
	case PUNCH:
		allocate(FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, length);
		break;
	case ZERO:
		allocate(FALLOC_FL_ZERO_RANGE, at, length);
		break;
	case ZERO_KEEP:
		allocate(FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, at, length);
		break;
	case ALLOCATE:
		allocate(0, at, length);
		break;
	case ALLOCATE_KEEP:
		allocate(FALLOC_FL_KEEP_SIZE, at, length);
		break;
	default:
		must(!fsync(file));
		if (kind == FORGET)
			must(!posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED));
		break;
	}
}

static bool reads(enum kind kind)
{
	return kind == READ || kind == DIRECT_READ || kind == MAP_READ;
}

/* One random operation. Half of the lengths are short. */
static void step(void)
{
	const enum kind kind = below(KINDS);
	unsigned int at = below(LARGEST), length = 1 + below(below(2) ? LENGTH : 4096);
	struct stat found;

	if (kind == TRUNCATE || kind >= SYNC)
		length = 0;
	if (kind >= SYNC)
		at = 0;
	if (kind == DIRECT_READ || kind == DIRECT_WRITE) {
		at -= at % SECTOR;
		length = sectors(length);
	}
	if (reads(kind)) {
		if (at >= size)
			at = size ? at % size : 0;
		if (kind == DIRECT_READ)
			at -= at % SECTOR;
		if (length > size - at)
			length = size - at;
		if (!length)
			return;
	}
	if (at + length > LARGEST)
		length = LARGEST - at;
	history[done++ % LOG] = (struct operation){ kind, at, length, size };
	perform(kind, at, length);
	counts[kind]++;
	must(!fstat(file, &found));
	if (found.st_size != (off_t)size)
		fail("the file has %#llx bytes, not %#x", (unsigned long long)found.st_size, size);
}

/* The whole file is compared. */
static void check_all(void)
{
	for (unsigned int at = 0; at < size; at += LENGTH) {
		unsigned int length = size - at < LENGTH ? size - at : LENGTH;

		whole(pread(file, data, length, at), length);
		compare(data, at, length);
	}
}

static void check_disk(void)
{
	history[done++ % LOG] = (struct operation){ FORGET, 0, 0, size };
	perform(FORGET, 0, 0);
	check_all();
}

static unsigned long seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

int main(int argc, char **argv)
{
	unsigned long least = 1000, period = 60, end;
	int c;

	seed = (uint64_t)getpid() << 32 | time(NULL);
	while ((c = getopt(argc, argv, "s:t:n:")) != -1)
		switch (c) {
		case 's':
			seed = strtoull(optarg, NULL, 0);
			break;
		case 't':
			period = strtoul(optarg, NULL, 0);
			break;
		case 'n':
			least = strtoul(optarg, NULL, 0);
			break;
		default:
			return 2;
		}
	if (optind != argc - 1)
		return 2;
	path = argv[optind];
	printf("seed %llu\n", (unsigned long long)seed);
	fflush(stdout);
	file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	direct = open(path, O_RDWR | O_DIRECT);
	data = aligned_alloc(SECTOR, LENGTH + SECTOR);
	if (file < 0 || direct < 0 || !data) {
		perror(path);
		return 1;
	}
	end = seconds() + period;
	while (done < least || seconds() < end) {
		step();
		if (!(done % 512))
			check_disk();
	}
	check_disk();
	for (int kind = 0; kind < KINDS; kind++)
		printf("%lu times %s\n", counts[kind], names[kind]);
	return 0;
}
