// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: every attribute of every method of a device with all driver calls, given too short, too
 * long, misaligned, with reserved bytes set, twice, and with contents of another type. None of
 * these gets into a bundle; the valid form of the same attribute does.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "../api.h"
#include "../decode.h"

/* Numbers of methods and attributes tried, so that the test fails if there were none. */
struct tally {
	unsigned int attrs;
	unsigned int pointers;
	unsigned int handles;
	unsigned int others;
};

/**
 * struct probe - one attribute under test
 * @test: the test
 * @method: method it belongs to
 * @spec: what it must look like
 * @key: its key
 * @name: of the command, for messages
 */
struct probe {
	struct kunit *test;
	const struct uverbs_method *method;
	const struct uverbs_attr_spec *spec;
	unsigned int key;
	const char *name;
};

static int never_called(void)
{
	return -EIO;
}

static struct ib_device *full_device(struct kunit *test)
{
	struct ib_device *ibdev = kunit_kzalloc(test, sizeof(*ibdev), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ibdev);
	ibdev->ops.driver_id = RDMA_DRIVER_UNKNOWN;
	/* Only the presence of a call matters; between these two members there are only calls. */
	for (size_t at = offsetof(typeof(ibdev->ops), post_send);
	     at < offsetof(typeof(ibdev->ops), size_ib_ah); at += sizeof(void *))
		*(void **)((u8 *)&ibdev->ops + at) = (void *)never_called;
	ibdev->uverbs_cmd_mask = U64_MAX;
	return ibdev;
}

/* Decodes an attribute @times times in one request, and returns the last result. */
static int decode(const struct probe *p, const struct ib_uverbs_attr *uattr, unsigned int times)
{
	struct ib_uverbs_file *file = kzalloc(sizeof(*file), GFP_KERNEL);
	struct ib_uverbs_attr copy[2] = { *uattr, *uattr };
	struct rdma_reject_scope scope = {};
	struct uverbs_call *call;
	unsigned int i;
	int ret = 0;

	KUNIT_ASSERT_NOT_NULL(p->test, file);
	call = uverbs_call_begin(NULL, file, p->method->key_len, 256);
	if (call) {
		call->cmd = p->method->cmd;
		call->scope = &scope;
		call->uattrs = copy;
		for (i = 0; i < times && !ret; i++)
			ret = uverbs_decode_attr(call, &copy[i], p->spec, p->key, "attr");
		KUNIT_EXPECT_EQ_MSG(p->test, test_bit(p->key, call->bundle.attr_present),
				    !ret || i > 1, "%s, attribute %u", p->name, p->key);
		uverbs_call_end(call);
	}
	kfree(file);
	KUNIT_ASSERT_NOT_NULL(p->test, call);
	return ret;
}

static void expect(const struct probe *p, const struct ib_uverbs_attr *uattr, unsigned int times,
		   int expected, const char *what)
{
	KUNIT_EXPECT_EQ_MSG(p->test, decode(p, uattr, times), expected, "%s, attribute %u: %s",
			    p->name, p->key, what);
}

static void reserved(const struct probe *p, struct ib_uverbs_attr uattr)
{
	uattr.attr_data.reserved = 1;
	expect(p, &uattr, 1, -EINVAL, "reserved");
}

static void pointer(const struct probe *p)
{
	const struct uverbs_attr_spec *spec = p->spec;
	u16 min = spec->u.ptr.min_len, max = spec->u.ptr.len;
	struct ib_uverbs_attr uattr = { .len = min };

	/* Decoding fails if it copies a payload, the address of which is 0. */
	if (!spec->alloc_and_copy || min <= sizeof(uattr.data)) {
		expect(p, &uattr, 1, 0, "right");
		expect(p, &uattr, 2, -EINVAL, "twice");
	} else {
		expect(p, &uattr, 1, -EFAULT, "unreadable");
	}
	reserved(p, uattr);
	if (min) {
		uattr.len = min - 1;
		expect(p, &uattr, 1, -EINVAL, "too short");
		uattr.len = 0;
		expect(p, &uattr, 1, -EINVAL, "empty");
	}
	if (max == U16_MAX)
		return;
	uattr.len = max + 1;
	uattr.data = U64_MAX;
	if (!spec->zero_trailing)
		expect(p, &uattr, 1, -EINVAL, "too long");
	else if (spec->type == UVERBS_ATTR_TYPE_PTR_IN)
		expect(p, &uattr, 1, -EOPNOTSUPP, "too long, and not zero there");
	else
		expect(p, &uattr, 1, 0, "room for more");
}

/* Decoding only checks the form of a handle; whether it names an object is checked later. */
static void handle(const struct probe *p)
{
	struct ib_uverbs_attr uattr = { .len = sizeof(u32) };

	expect(p, &uattr, 1, -EINVAL, "with a length");
	uattr.len = sizeof(u64);
	expect(p, &uattr, 1, -EINVAL, "with a length");
	uattr.len = 0;
	reserved(p, uattr);
}

static void handle_array(const struct probe *p)
{
	u16 max = p->spec->u2.objs_arr.max_len;
	struct ib_uverbs_attr uattr = { .len = sizeof(u32) + 1 };

	expect(p, &uattr, 1, -EINVAL, "misaligned");
	if (p->spec->u2.objs_arr.min_len) {
		uattr.len = (p->spec->u2.objs_arr.min_len - 1) * sizeof(u32);
		expect(p, &uattr, 1, -EINVAL, "too few");
	}
	if ((max + 1) * sizeof(u32) <= U16_MAX) {
		uattr.len = (max + 1) * sizeof(u32);
		expect(p, &uattr, 1, -EINVAL, "too many");
	}
	uattr.len = sizeof(u32);
	reserved(p, uattr);
}

static void enum_in(const struct probe *p)
{
	struct ib_uverbs_attr uattr = {};

	uattr.attr_data.enum_data.elem_id = p->spec->u.enum_def.num_elems;
	expect(p, &uattr, 1, -EOPNOTSUPP, "unknown variant");
	for (unsigned int i = 0; i < p->spec->u.enum_def.num_elems; i++) {
		const struct uverbs_attr_spec *one = &p->spec->u2.enum_def.ids[i];

		uattr.attr_data.enum_data.elem_id = i;
		uattr.len = one->u.ptr.min_len;
		if (one->type != UVERBS_ATTR_TYPE_PTR_IN) {
			expect(p, &uattr, 1, -EOPNOTSUPP, "no variant");
			continue;
		}
		uattr.attr_data.enum_data.reserved = 1;
		expect(p, &uattr, 1, -EINVAL, "reserved");
		uattr.attr_data.enum_data.reserved = 0;
		if (one->u.ptr.min_len) {
			uattr.len = one->u.ptr.min_len - 1;
			expect(p, &uattr, 1, -EINVAL, "variant too short");
		}
	}
}

static void raw_fd(const struct probe *p)
{
	struct ib_uverbs_attr uattr = { .len = sizeof(u32) };

	expect(p, &uattr, 1, -EINVAL, "with a length");
	uattr.len = 0;
	expect(p, &uattr, 1, 0, "right");
	expect(p, &uattr, 2, -EINVAL, "twice");
	uattr.data_s64 = S64_MAX;
	expect(p, &uattr, 1, -EINVAL, "no descriptor");
}

static void sweep_attr(const struct probe *p, struct tally *t)
{
	struct ib_uverbs_attr uattr = {};

	switch (p->spec->type) {
	case UVERBS_ATTR_TYPE_NA:
		expect(p, &uattr, 1, -EOPNOTSUPP, "unknown");
		return;
	case UVERBS_ATTR_TYPE_PTR_IN:
	case UVERBS_ATTR_TYPE_PTR_OUT:
		pointer(p);
		t->pointers++;
		break;
	case UVERBS_ATTR_TYPE_IDR:
	case UVERBS_ATTR_TYPE_FD:
		handle(p);
		t->handles++;
		break;
	case UVERBS_ATTR_TYPE_IDRS_ARRAY:
		handle_array(p);
		t->others++;
		break;
	case UVERBS_ATTR_TYPE_ENUM_IN:
		enum_in(p);
		t->others++;
		break;
	case UVERBS_ATTR_TYPE_RAW_FD:
		raw_fd(p);
		t->others++;
		break;
	default:
		KUNIT_FAIL(p->test, "%s, attribute %u: type %u", p->name, p->key, p->spec->type);
	}
	t->attrs++;
}

static void sweep_method(struct kunit *test, const struct uverbs_method *method, struct tally *t)
{
	struct probe p = { .test = test, .method = method };

	p.name = method->cmd ? method->cmd->name : "driver method";
	for (p.key = 0; p.key < method->key_len; p.key++) {
		p.spec = &method->spec[p.key];
		sweep_attr(&p, t);
	}
}

static void every_attribute(struct kunit *test)
{
	struct uverbs_api *api = uverbs_api_create(full_device(test));
	unsigned int methods = 0;
	struct tally t = {};

	KUNIT_ASSERT_FALSE(test, IS_ERR(api));
	for (unsigned int i = 0; i < UV_OBJECT_KEYS; i++) {
		for (unsigned int j = 0; api->objects[i] && j < UV_METHOD_KEYS; j++) {
			if (!api->objects[i]->methods[j])
				continue;
			sweep_method(test, api->objects[i]->methods[j], &t);
			methods++;
		}
	}
	uverbs_api_destroy(api);
	kunit_info(test, "%u attributes of %u methods: %u payloads, %u handles, %u others\n",
		   t.attrs, methods, t.pointers, t.handles, t.others);
	/* At least those that exist today. */
	KUNIT_EXPECT_GE(test, methods, 15U);
	KUNIT_EXPECT_GE(test, t.pointers, 50U);
	KUNIT_EXPECT_GE(test, t.handles, 15U);
}

static struct kunit_case attr_cases[] = {
	KUNIT_CASE(every_attribute),
	{}
};

static struct kunit_suite attr_suite = {
	.name = "rdma_uverbs_attr",
	.test_cases = attr_cases,
};

kunit_test_suite(attr_suite);

MODULE_DESCRIPTION("KUnit tests of the attributes of user verbs");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
