// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: functions by which the methods of a driver read and write attributes.
 */
#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "../api.h"
#include "../decode.h"

enum { IN, ABSENT, OUT, ATTRS };

/**
 * struct bench - a request of a driver's method
 * @call: the request
 * @scope: its reject scope
 * @method: the method; all its attributes are the driver's own
 * @uattrs: the kernel's copy of the attributes
 * @user: a page of user memory with an unmapped page behind it: the attributes, and at RESULT a
 *	result
 */
struct bench {
	struct uverbs_call *call;
	struct rdma_reject_scope scope;
	struct uverbs_method *method;
	struct ib_uverbs_attr uattrs[ATTRS];
	unsigned long user;
};

#define RESULT	512

static void __user *user_at(const struct bench *b, size_t offset)
{
	return (void __user *)(b->user + offset);
}

/* Gives the request this attribute. */
static void give(struct bench *b, u16 id, u16 len, u64 data)
{
	struct uverbs_attr *attr = &b->call->bundle.attrs[uverbs_attr_slot(id)];

	b->uattrs[id] = (struct ib_uverbs_attr){
		.attr_id = id, .len = len, .flags = UVERBS_ATTR_F_MANDATORY, .data = data,
	};
	*attr = (struct uverbs_attr){
		.ptr_attr = { .len = len, .uattr_idx = id, .data = data },
	};
	__set_bit(uverbs_attr_slot(id), b->call->bundle.attr_present);
}

static int bench_init(struct kunit *test)
{
	unsigned int keys = uverbs_attr_slot(ATTRS - 1) + 1;
	struct bench *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	struct ib_uverbs_file *file = kunit_kzalloc(test, sizeof(*file), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, b);
	KUNIT_ASSERT_NOT_NULL(test, file);
	b->method = kunit_kzalloc(test, struct_size(b->method, spec, keys), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, b->method);
	memset(b->method->row, UV_NO_ROW, sizeof(b->method->row));
	b->user = kunit_vm_mmap(test, NULL, 0, 2 * PAGE_SIZE, PROT_READ | PROT_WRITE,
				MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_NE(test, b->user, 0);
	KUNIT_ASSERT_EQ(test, vm_munmap(b->user + PAGE_SIZE, PAGE_SIZE), 0);
	b->call = uverbs_call_begin(NULL, file, keys, 256);
	KUNIT_ASSERT_NOT_NULL(test, b->call);
	b->call->scope = &b->scope;
	b->call->method = b->method;
	b->call->uattrs = b->uattrs;
	b->call->user_attrs = user_at(b, 0);
	test->priv = b;
	return 0;
}

static void bench_exit(struct kunit *test)
{
	struct bench *b = test->priv;

	if (b)
		uverbs_call_end(b->call);
}

/* Checks whether a number of the program fits a signed byte, and an unsigned one. */
static void bytes(struct kunit *test, s64 value, bool fits_signed, bool fits_unsigned)
{
	struct bench *b = test->priv;
	s8 sbyte = 77;
	u8 ubyte = 77;

	give(b, IN, sizeof(u64), value);
	KUNIT_EXPECT_EQ_MSG(test, uverbs_get_const(&sbyte, &b->call->bundle, IN),
			    fits_signed ? 0 : -EINVAL, "%lld", value);
	KUNIT_EXPECT_EQ_MSG(test, uverbs_get_const(&ubyte, &b->call->bundle, IN),
			    fits_unsigned ? 0 : -EINVAL, "%lld", value);
	if (fits_signed)
		KUNIT_EXPECT_EQ(test, sbyte, value);
	if (fits_unsigned)
		KUNIT_EXPECT_EQ(test, ubyte, value);
}

static void constants(struct kunit *test)
{
	struct bench *b = test->priv;
	struct uverbs_attr_bundle *attrs = &b->call->bundle;
	s64 large;
	u64 ularge;
	s8 sbyte;
	u8 ubyte;

	bytes(test, 0, true, true);
	bytes(test, 127, true, true);
	bytes(test, 128, false, true);
	bytes(test, 255, false, true);
	bytes(test, 256, false, false);
	bytes(test, -1, true, false);
	bytes(test, -128, true, false);
	bytes(test, -129, false, false);
	bytes(test, S64_MIN, false, false);
	bytes(test, S64_MAX, false, false);

	give(b, IN, sizeof(u64), U64_MAX);
	KUNIT_EXPECT_EQ(test, uverbs_get_const(&large, attrs, IN), 0);
	KUNIT_EXPECT_EQ(test, large, -1);
	KUNIT_EXPECT_EQ(test, uverbs_get_const(&ularge, attrs, IN), 0);
	KUNIT_EXPECT_EQ(test, ularge, U64_MAX);

	KUNIT_EXPECT_EQ(test, uverbs_get_const(&sbyte, attrs, ABSENT), -ENOENT);
	KUNIT_EXPECT_EQ(test, uverbs_get_const(&ubyte, attrs, ABSENT), -ENOENT);
	KUNIT_EXPECT_EQ(test, uverbs_get_const_default_signed(&sbyte, attrs, ABSENT, -5), 0);
	KUNIT_EXPECT_EQ(test, sbyte, -5);
	KUNIT_EXPECT_EQ(test, uverbs_get_const_default_unsigned(&ubyte, attrs, ABSENT, 200), 0);
	KUNIT_EXPECT_EQ(test, ubyte, 200);
	/* A value that is present takes precedence over the default. */
	give(b, IN, sizeof(u64), 6);
	KUNIT_EXPECT_EQ(test, uverbs_get_const_default_signed(&sbyte, attrs, IN, -5), 0);
	KUNIT_EXPECT_EQ(test, sbyte, 6);
	KUNIT_EXPECT_EQ(test, uverbs_get_const_default_unsigned(&ubyte, attrs, IN, 200), 0);
	KUNIT_EXPECT_EQ(test, ubyte, 6);
}

static void masks(struct kunit *test)
{
	struct bench *b = test->priv;
	struct uverbs_attr_bundle *attrs = &b->call->bundle;
	u64 wide;
	u32 bits;

	give(b, IN, sizeof(u64), BIT_ULL(40) | 3);
	KUNIT_EXPECT_EQ(test, uverbs_get_flags64(&wide, attrs, IN, BIT_ULL(40) | 7), 0);
	KUNIT_EXPECT_EQ(test, wide, BIT_ULL(40) | 3);
	KUNIT_EXPECT_EQ(test, uverbs_get_flags64(&wide, attrs, IN, BIT_ULL(40) | 1), -EINVAL);
	/* Bits that do not fit the result are refused, whatever the mask allows. */
	KUNIT_EXPECT_EQ(test, uverbs_get_flags32(&bits, attrs, IN, U64_MAX), -EINVAL);

	/* Of an attribute of four bytes only these four are read. */
	give(b, IN, sizeof(u32), BIT_ULL(40) | 3);
	KUNIT_EXPECT_EQ(test, uverbs_get_flags64(&wide, attrs, IN, 3), 0);
	KUNIT_EXPECT_EQ(test, wide, 3);
	KUNIT_EXPECT_EQ(test, uverbs_get_flags32(&bits, attrs, IN, 3), 0);
	KUNIT_EXPECT_EQ(test, bits, 3);
	KUNIT_EXPECT_EQ(test, uverbs_get_flags32(&bits, attrs, IN, 1), -EINVAL);

	give(b, IN, sizeof(u16), 1);
	KUNIT_EXPECT_EQ(test, uverbs_get_flags32(&bits, attrs, IN, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, uverbs_get_flags64(&wide, attrs, IN, 1), -EINVAL);

	KUNIT_EXPECT_EQ(test, uverbs_get_flags32(&bits, attrs, ABSENT, 0), 0);
	KUNIT_EXPECT_EQ(test, bits, 0);
	KUNIT_EXPECT_EQ(test, uverbs_get_flags64(&wide, attrs, ABSENT, 0), 0);
	KUNIT_EXPECT_EQ(test, wide, 0);
}

/* Prepares room for a result of @len bytes, all of them 0xa5. */
static void want_result(struct kunit *test, u16 len)
{
	struct bench *b = test->priv;
	u8 before[32];

	memset(before, 0xa5, sizeof(before));
	give(b, OUT, len, b->user + RESULT);
	KUNIT_ASSERT_EQ(test, copy_to_user(user_at(b, 0), b->uattrs, sizeof(b->uattrs)), 0);
	KUNIT_ASSERT_EQ(test, copy_to_user(user_at(b, RESULT), before, sizeof(before)), 0);
}

/* Expects these bytes in the result, and no change behind them. */
static void expect_result(struct kunit *test, const void *expected, size_t len)
{
	struct bench *b = test->priv;
	struct ib_uverbs_attr uattr;
	u8 got[32];

	KUNIT_ASSERT_EQ(test, copy_from_user(got, user_at(b, RESULT), sizeof(got)), 0);
	KUNIT_EXPECT_MEMEQ(test, got, expected, len);
	KUNIT_EXPECT_NULL(test, memchr_inv(got + len, 0xa5, sizeof(got) - len));
	KUNIT_ASSERT_EQ(test, copy_from_user(&uattr, user_at(b, OUT * sizeof(uattr)),
					     sizeof(uattr)), 0);
	KUNIT_EXPECT_EQ(test, uattr.flags, UVERBS_ATTR_F_MANDATORY | UVERBS_ATTR_F_VALID_OUTPUT);
}

static void results(struct kunit *test)
{
	static const u8 cleared[12] = "result.";
	struct bench *b = test->priv;
	struct uverbs_attr_bundle *attrs = &b->call->bundle;
	const char *text = "result.";

	want_result(test, 8);
	KUNIT_EXPECT_EQ(test, uverbs_copy_to(attrs, OUT, text, 8), 0);
	expect_result(test, text, 8);
	want_result(test, 5);
	KUNIT_EXPECT_EQ(test, uverbs_copy_to(attrs, OUT, text, 8), 0);
	expect_result(test, text, 5);
	want_result(test, 12);
	KUNIT_EXPECT_EQ(test, uverbs_copy_to(attrs, OUT, text, 8), 0);
	expect_result(test, text, 8);

	want_result(test, 5);
	KUNIT_EXPECT_EQ(test, uverbs_copy_to_struct_or_zero(attrs, OUT, text, 8), 0);
	expect_result(test, text, 5);
	want_result(test, 12);
	KUNIT_EXPECT_EQ(test, uverbs_copy_to_struct_or_zero(attrs, OUT, text, 8), 0);
	expect_result(test, cleared, 12);

	KUNIT_EXPECT_EQ(test, uverbs_copy_to(attrs, ABSENT, text, 8), -ENOENT);
	KUNIT_EXPECT_EQ(test, uverbs_copy_to_struct_or_zero(attrs, ABSENT, text, 8), -ENOENT);
}

/* Is the attribute marked as written? */
static bool marked(struct kunit *test)
{
	struct bench *b = test->priv;
	struct ib_uverbs_attr uattr;

	KUNIT_ASSERT_EQ(test, copy_from_user(&uattr, user_at(b, OUT * sizeof(uattr)),
					     sizeof(uattr)), 0);
	return uattr.flags & UVERBS_ATTR_F_VALID_OUTPUT;
}

static void results_untold(struct kunit *test)
{
	struct bench *b = test->priv;
	struct uverbs_attr_bundle *attrs = &b->call->bundle;
	u64 value = 1;

	/* The result fits the page, but the bytes to be cleared behind it do not. */
	want_result(test, 12);
	give(b, OUT, 12, b->user + PAGE_SIZE - 8);
	KUNIT_EXPECT_EQ(test, uverbs_copy_to_struct_or_zero(attrs, OUT, &value, 8), -EFAULT);
	KUNIT_EXPECT_FALSE(test, marked(test));
	KUNIT_EXPECT_TRUE(test, b->scope.told);
	/* uverbs_copy_to() does not clear them, and succeeds. */
	KUNIT_EXPECT_EQ(test, uverbs_copy_to(attrs, OUT, &value, 8), 0);
	KUNIT_EXPECT_TRUE(test, marked(test));
	want_result(test, 12);
	give(b, OUT, 12, b->user + PAGE_SIZE - 4);
	KUNIT_EXPECT_EQ(test, uverbs_copy_to(attrs, OUT, &value, 8), -EFAULT);
	KUNIT_EXPECT_FALSE(test, marked(test));

	/* The result can be written, the flag that marks it as written cannot. */
	want_result(test, 8);
	b->call->user_attrs = user_at(b, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, uverbs_copy_to(attrs, OUT, &value, 8), -EFAULT);
}

/* The handler of a method that only destroys is called after the object was destroyed. */
static void destruction(struct kunit *test)
{
	struct bench *b = test->priv;

	KUNIT_EXPECT_EQ(test, uverbs_destroy_def_handler(&b->call->bundle), 0);
	KUNIT_EXPECT_FALSE(test, b->scope.told);
}

static struct kunit_case driver_attr_cases[] = {
	KUNIT_CASE(constants),
	KUNIT_CASE(masks),
	KUNIT_CASE(results),
	KUNIT_CASE(results_untold),
	KUNIT_CASE(destruction),
	{}
};

static struct kunit_suite driver_attr_suite = {
	.name = "rdma_uverbs_driver_attr",
	.init = bench_init,
	.exit = bench_exit,
	.test_cases = driver_attr_cases,
};

kunit_test_suite(driver_attr_suite);
