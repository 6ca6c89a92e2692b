/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The parts of KUnit that the suites of pure files need on the host, where they run under
 * sanitizers in a second.
 *
 * A failed assertion ends the program at once, as later checks would mean nothing.
 */
#ifndef TESTING_CORE_KUNIT_H
#define TESTING_CORE_KUNIT_H

#include <stdio.h>
#include <stdlib.h>

#include "kernel.h"

struct kunit {
	void *priv;
	unsigned int failures;
	void *allocated[16];	/* freed when the test ends */
};

struct kunit_case {
	void (*run)(struct kunit *test);
	const char *name;
};

struct kunit_suite {
	const char *name;
	int (*init)(struct kunit *test);
	struct kunit_case *test_cases;
};

#define KUNIT_CASE(f)		{ f, #f }
#define KUNIT_CASE_SLOW(f)	{ f, #f }

void kunit_add(struct kunit_suite *suite);

#define kunit_test_suite(s) \
	static void __attribute__((constructor)) add_ ## s(void) \
	{ \
		kunit_add(&s); \
	}

#ifndef GFP_KERNEL
#define GFP_KERNEL		0
#endif
#define kunit_kzalloc(test, size, gfp)	((void)(gfp), kunit_allocate(test, size))

void *kunit_allocate(struct kunit *test, size_t size);
void kunit_kfree(struct kunit *test, const void *p);

#define KUNIT_SAY(test, what, ...) \
	do { \
		if ((test)->failures++ < 10) { \
			fprintf(stderr, "%s:%u: %s", __FILE__, __LINE__, what); \
			fprintf(stderr, " " __VA_ARGS__); \
			fprintf(stderr, "\n"); \
		} \
	} while (0)

#define KUNIT_FAIL(test, ...)	KUNIT_SAY(test, "failed", __VA_ARGS__)
#define KUNIT_CHECK(test, ok, what, ...) \
	do { \
		if (!(ok)) \
			KUNIT_SAY(test, what, __VA_ARGS__); \
	} while (0)

#define KUNIT_EXPECT_TRUE_MSG(test, a, ...)	KUNIT_CHECK(test, a, #a, __VA_ARGS__)
#define KUNIT_EXPECT_FALSE_MSG(test, a, ...)	KUNIT_CHECK(test, !(a), "not " #a, __VA_ARGS__)
#define KUNIT_EXPECT_EQ_MSG(test, a, b, ...) \
	KUNIT_CHECK(test, (a) == (b), #a " == " #b, __VA_ARGS__)
#define KUNIT_EXPECT_LT_MSG(test, a, b, ...) \
	KUNIT_CHECK(test, (a) < (b), #a " < " #b, __VA_ARGS__)
#define KUNIT_EXPECT_STRNEQ_MSG(test, a, b, ...) KUNIT_CHECK(test, strcmp(a, b), #a, __VA_ARGS__)

#define KUNIT_EXPECT_TRUE(test, a)		KUNIT_CHECK(test, a, #a)
#define KUNIT_EXPECT_FALSE(test, a)		KUNIT_CHECK(test, !(a), "not " #a)
#define KUNIT_EXPECT_NULL(test, a)		KUNIT_CHECK(test, !(a), "not " #a)
#define KUNIT_EXPECT_EQ(test, a, b)		KUNIT_CHECK(test, (a) == (b), #a " == " #b)
#define KUNIT_EXPECT_NE(test, a, b)		KUNIT_CHECK(test, (a) != (b), #a " != " #b)
#define KUNIT_EXPECT_GT(test, a, b)		KUNIT_CHECK(test, (a) > (b), #a " > " #b)
#define KUNIT_EXPECT_GE(test, a, b)		KUNIT_CHECK(test, (a) >= (b), #a " >= " #b)
#define KUNIT_EXPECT_LE(test, a, b)		KUNIT_CHECK(test, (a) <= (b), #a " <= " #b)
#define KUNIT_EXPECT_PTR_EQ(test, a, b)		KUNIT_EXPECT_EQ(test, a, b)
#define KUNIT_EXPECT_STREQ(test, a, b)		KUNIT_CHECK(test, !strcmp(a, b), #a " is " #b)
#define KUNIT_EXPECT_STRNEQ(test, a, b)		KUNIT_CHECK(test, strcmp(a, b), #a " is not " #b)
#define KUNIT_EXPECT_MEMEQ(test, a, b, n)	KUNIT_CHECK(test, !memcmp(a, b, n), #a " is " #b)
/* Each operand is evaluated once: some of them have side effects. */
#define KUNIT_ASSERT(test, ok, what) \
	do { \
		if (!(ok)) { \
			KUNIT_SAY(test, what, ""); \
			abort(); \
		} \
	} while (0)

#define KUNIT_ASSERT_EQ(test, a, b)		KUNIT_ASSERT(test, (a) == (b), #a " == " #b)
#define KUNIT_ASSERT_NE(test, a, b)		KUNIT_ASSERT(test, (a) != (b), #a " != " #b)
#define KUNIT_ASSERT_LT(test, a, b)		KUNIT_ASSERT(test, (a) < (b), #a " < " #b)
#define KUNIT_ASSERT_LE(test, a, b)		KUNIT_ASSERT(test, (a) <= (b), #a " <= " #b)
#define KUNIT_ASSERT_NOT_NULL(test, a)		KUNIT_ASSERT(test, a, #a " is null")

/* Pseudo-random numbers, the same in each run. */
struct rnd_state {
	u64 state;
};

static inline void prandom_seed_state(struct rnd_state *rnd, u64 seed)
{
	rnd->state = seed * 0x9e3779b97f4a7c15ull + 1;
}

static inline u32 prandom_u32_state(struct rnd_state *rnd)
{
	rnd->state = rnd->state * 6364136223846793005ull + 1442695040888963407ull;
	return (rnd->state ^ rnd->state >> 27) >> 32;
}

static inline void prandom_bytes_state(struct rnd_state *rnd, void *bytes, size_t n)
{
	for (u8 *byte = bytes; n--; byte++)
		*byte = prandom_u32_state(rnd);
}

#endif
