// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: the command table against the structures it describes, and the decoders with requests of
 * every form.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/slab.h>

#define UVERBS_MODULE_NAME decoder_test
#include <rdma/uverbs_named_ioctl.h>

#include "../api.h"
#include "../commands.h"

/* ---- the table ---- */

static bool is_result(const struct uverbs_arg *arg)
{
	return arg->kind == UV_OUT || arg->kind == UV_HANDLE_OUT;
}

static bool is_object(const struct uverbs_arg *arg)
{
	return arg->kind == UV_READ || arg->kind == UV_WRITE || arg->kind == UV_NEW ||
	       arg->kind == UV_DESTROY;
}

/* A place that a row names must lie inside the structure of its form. */
static void check_place(struct kunit *test, const struct uverbs_cmd *cmd,
			const struct uverbs_arg *arg, const struct uverbs_place *place, u16 req,
			u16 resp)
{
	if (!place->len)
		return;
	KUNIT_EXPECT_LE_MSG(test, place->off + place->len, is_result(arg) ? resp : req,
			    "%s.%s is outside its structure", cmd->name, arg->name);
	if (arg->kind == UV_INT || arg->kind == UV_MASK)
		KUNIT_EXPECT_LE_MSG(test, place->len, sizeof(u64), "%s.%s is no number", cmd->name,
				    arg->name);
	if (is_object(arg) || arg->kind == UV_HANDLE_OUT)
		KUNIT_EXPECT_EQ_MSG(test, place->len, sizeof(u32), "%s.%s is no handle", cmd->name,
				    arg->name);
}

static void check_row(struct kunit *test, const struct uverbs_cmd *cmd,
		      const struct uverbs_arg *arg)
{
	KUNIT_EXPECT_NOT_NULL(test, arg->name);
	if (arg->kind != UV_LIST) {
		KUNIT_EXPECT_GT_MSG(test, arg->len, 0, "%s.%s has no place", cmd->name, arg->name);
		KUNIT_EXPECT_LE_MSG(test, arg->off + arg->len, cmd->args_size,
				    "%s.%s is outside the block", cmd->name, arg->name);
	}
	if (is_object(arg) || arg->kind == UV_HANDLE_OUT)
		KUNIT_EXPECT_EQ_MSG(test, arg->len, sizeof(void *), "%s.%s is no pointer",
				    cmd->name, arg->name);
	if (arg->kind == UV_NEW || arg->kind == UV_DESTROY)
		if (arg->attr != UV_NO_ATTR)
			KUNIT_EXPECT_TRUE_MSG(test, arg->flags & UV_F_MANDATORY,
					      "%s.%s must be mandatory", cmd->name, arg->name);
	check_place(test, cmd, arg, &arg->w, cmd->w_req, cmd->w_resp);
	check_place(test, cmd, arg, &arg->x, cmd->x_req, cmd->x_resp);
	if (arg->kind == UV_DESTROY) {
		/* Every form of the command must name the object to be destroyed. */
		KUNIT_EXPECT_TRUE_MSG(test, cmd->w_num == UV_NO_WRITE || arg->w.len, "%s.%s",
				      cmd->name, arg->name);
		KUNIT_EXPECT_TRUE_MSG(test, cmd->x_num == UV_NO_WRITE || arg->x.len, "%s.%s",
				      cmd->name, arg->name);
	}
}

typedef void (*command_check)(struct kunit *test, const struct uverbs_object_desc *desc,
			      const struct uverbs_cmd *cmd);

/* Calls @check for each command of the table. */
static void check_commands(struct kunit *test, command_check check)
{
	for (unsigned int i = 0; uverbs_objects[i]; i++)
		for (unsigned int j = 0; uverbs_objects[i]->commands[j]; j++)
			check(test, uverbs_objects[i], uverbs_objects[i]->commands[j]);
}

static void check_rows(struct kunit *test, const struct uverbs_object_desc *desc,
		       const struct uverbs_cmd *cmd)
{
	for (unsigned int i = 0; i < cmd->num_args; i++)
		check_row(test, cmd, &cmd->args[i]);
}

static void table_rows(struct kunit *test)
{
	check_commands(test, check_rows);
}

/* A descriptor that only adds commands needs another one that defines the object. */
static void table_objects(struct kunit *test)
{
	for (unsigned int i = 0; uverbs_objects[i]; i++) {
		unsigned int described = 0;

		for (unsigned int j = 0; uverbs_objects[j]; j++)
			if (uverbs_objects[j]->id == uverbs_objects[i]->id)
				described += !uverbs_objects[j]->more;
		KUNIT_EXPECT_EQ_MSG(test, described, 1, "object %u", uverbs_objects[i]->id);
		KUNIT_EXPECT_TRUE(test, !uverbs_objects[i]->more || !uverbs_objects[i]->type);
	}
}

/* Numbers that are taken: of the commands of each form, and of each object's methods. */
static u64 met_write, met_extended, met_methods[UVERBS_API_OBJ_KEY_NUM_CORE];

static void meet(struct kunit *test, const struct uverbs_cmd *cmd, u64 *met, unsigned int number)
{
	KUNIT_ASSERT_LT(test, number, BITS_PER_LONG_LONG);
	KUNIT_EXPECT_FALSE_MSG(test, *met & BIT_ULL(number), "%s has the number of another",
			       cmd->name);
	*met |= BIT_ULL(number);
}

static void check_numbers(struct kunit *test, const struct uverbs_object_desc *desc,
			  const struct uverbs_cmd *cmd)
{
	KUNIT_ASSERT_LT(test, desc->id, UVERBS_API_OBJ_KEY_NUM_CORE);
	if (cmd->w_num != UV_NO_WRITE)
		meet(test, cmd, &met_write, cmd->w_num);
	if (cmd->x_num != UV_NO_WRITE)
		meet(test, cmd, &met_extended, cmd->x_num);
	if (cmd->method != UV_NO_METHOD)
		meet(test, cmd, &met_methods[desc->id], cmd->method);
	/* A request with a response begins with the address of the response. */
	if (cmd->w_num != UV_NO_WRITE && cmd->w_resp)
		KUNIT_EXPECT_GE_MSG(test, cmd->w_req, sizeof(u64), "%s", cmd->name);
	if (cmd->x_num != UV_NO_WRITE && cmd->x_resplen != UV_NO_RESPLEN)
		KUNIT_EXPECT_LE_MSG(test, cmd->x_resplen + sizeof(u32), cmd->x_resp, "%s",
				    cmd->name);
}

static void table_numbers(struct kunit *test)
{
	met_write = 0;
	met_extended = 0;
	memset(met_methods, 0, sizeof(met_methods));
	check_commands(test, check_numbers);
}

static void check_attrs_once(struct kunit *test, const struct uverbs_object_desc *desc,
			     const struct uverbs_cmd *cmd)
{
	for (unsigned int i = 0; i < cmd->num_args; i++)
		for (unsigned int j = 0; j < i && cmd->args[i].attr != UV_NO_ATTR; j++)
			KUNIT_EXPECT_NE_MSG(test, cmd->args[i].attr, cmd->args[j].attr,
					    "%s.%s", cmd->name, cmd->args[i].name);
}

static void table_attrs_once(struct kunit *test)
{
	check_commands(test, check_attrs_once);
}

/* ---- what a device offers ---- */

static int never_called(void)
{
	return -EIO;
}

/* Only the presence of a call matters: none of them is called. */
static struct ib_device *device_with(struct kunit *test, bool cqs)
{
	struct ib_device *ibdev = kunit_kzalloc(test, sizeof(*ibdev), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, ibdev);
	ibdev->ops.driver_id = RDMA_DRIVER_UNKNOWN;
	ibdev->ops.query_port = (void *)never_called;
	ibdev->ops.query_device = (void *)never_called;
	ibdev->ops.alloc_pd = (void *)never_called;
	ibdev->ops.dealloc_pd = (void *)never_called;
	if (cqs) {
		ibdev->ops.create_cq = (void *)never_called;
		ibdev->ops.destroy_cq = (void *)never_called;
		ibdev->ops.poll_cq = (void *)never_called;
	}
	ibdev->uverbs_cmd_mask = ~BIT_ULL(IB_USER_VERBS_CMD_POLL_CQ);
	return ibdev;
}

static void expect_command(struct kunit *test, const struct uverbs_cmd *cmd, const char *name)
{
	KUNIT_ASSERT_FALSE(test, IS_ERR(cmd));
	KUNIT_EXPECT_STREQ(test, cmd->name, name);
}

static void api_follows_device(struct kunit *test)
{
	struct uverbs_api *bare = uverbs_api_create(device_with(test, false));
	struct uverbs_api *full = uverbs_api_create(device_with(test, true));

	KUNIT_ASSERT_FALSE(test, IS_ERR(bare) || IS_ERR(full));
	expect_command(test, uverbs_api_write(bare, IB_USER_VERBS_CMD_ALLOC_PD), "ALLOC_PD");
	KUNIT_EXPECT_EQ(test, PTR_ERR(uverbs_api_write(bare, IB_USER_VERBS_CMD_CREATE_CQ)),
			-EOPNOTSUPP);
	KUNIT_EXPECT_NULL(test, uverbs_api_method(bare, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE));
	expect_command(test, uverbs_api_write(full, IB_USER_VERBS_CMD_CREATE_CQ), "CREATE_CQ");
	expect_command(test, uverbs_api_write(full, IB_USER_VERBS_EX_CMD_CREATE_CQ |
					      IB_USER_VERBS_CMD_FLAG_EXTENDED), "CREATE_CQ");
	KUNIT_EXPECT_EQ(test, PTR_ERR(uverbs_api_write(full, IB_USER_VERBS_CMD_POLL_CQ)),
			-EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, PTR_ERR(uverbs_api_write(full, 0x01000000)), -EINVAL);
	/* A method that both devices offer is shared by them. */
	KUNIT_EXPECT_NOT_NULL(test, uverbs_api_method(bare, UVERBS_OBJECT_PD,
						      UVERBS_METHOD_PD_DESTROY));
	KUNIT_EXPECT_PTR_EQ(test, uverbs_api_method(bare, UVERBS_OBJECT_PD,
						    UVERBS_METHOD_PD_DESTROY),
			    uverbs_api_method(full, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY));
	KUNIT_EXPECT_NULL(test, uverbs_api_method(full, 0x0fff, 0));
	KUNIT_EXPECT_NULL(test, uverbs_api_method(full, UVERBS_OBJECT_CQ, 0x7000));
	uverbs_api_destroy(bare);
	uverbs_api_destroy(full);
}

static int type_of(const struct uverbs_method *method, u16 id)
{
	return method->spec[uapi_bkey_attr(uapi_key_attr(id))].type;
}

/*
 * A device without SRQs has no command that requires one.  CREATE_QP, for which an SRQ is optional,
 * exists and refuses the handle when it is looked up.
 */
static void api_prunes(struct kunit *test)
{
	struct ib_device *ibdev = device_with(test, true);
	const struct uverbs_method *method;
	struct uverbs_api *api;

	ibdev->ops.create_qp = (void *)never_called;
	ibdev->ops.destroy_qp = (void *)never_called;
	api = uverbs_api_create(ibdev);
	KUNIT_ASSERT_FALSE(test, IS_ERR(api));
	method = uverbs_api_method(api, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE);
	KUNIT_ASSERT_NOT_NULL(test, method);
	KUNIT_EXPECT_EQ(test, type_of(method, UVERBS_ATTR_CREATE_QP_SRQ_HANDLE),
			UVERBS_ATTR_TYPE_IDR);
	KUNIT_EXPECT_NULL(test, uverbs_api_method(api, UVERBS_OBJECT_SRQ,
						  UVERBS_METHOD_SRQ_DESTROY));
	KUNIT_EXPECT_EQ(test, type_of(method, UVERBS_ATTR_CREATE_QP_PD_HANDLE),
			UVERBS_ATTR_TYPE_IDR);
	KUNIT_EXPECT_EQ(test, method->destroy_key, method->key_len);
	uverbs_api_destroy(api);
}

/* A driver's method on an object of its own, and an attribute that it adds to a core method. */
enum {
	DRIVER_OBJECT = 1U << UVERBS_ID_NS_SHIFT,
	DRIVER_METHOD = 1U << UVERBS_ID_NS_SHIFT,
	DRIVER_ATTR = 1U << UVERBS_ID_NS_SHIFT,
	DRIVER_CQ_ATTR = UVERBS_ID_DRIVER_NS_WITH_UHW,
};

static int UVERBS_HANDLER(DRIVER_METHOD)(struct uverbs_attr_bundle *attrs)
{
	return 0;
}

DECLARE_UVERBS_NAMED_METHOD(DRIVER_METHOD,
			    UVERBS_ATTR_PTR_IN(DRIVER_ATTR, UVERBS_ATTR_TYPE(u32), UA_MANDATORY));
DECLARE_UVERBS_GLOBAL_METHODS(DRIVER_OBJECT, &UVERBS_METHOD(DRIVER_METHOD));
ADD_UVERBS_ATTRIBUTES_SIMPLE(driver_cq_attrs, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE,
			     UVERBS_ATTR_PTR_IN(DRIVER_CQ_ATTR, UVERBS_ATTR_TYPE(u64),
						UA_OPTIONAL));

static const struct uapi_definition driver_defs[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_CQ, &driver_cq_attrs),
	UAPI_DEF_CHAIN_OBJ_TREE(DRIVER_OBJECT, &UVERBS_OBJECT(DRIVER_OBJECT)),
	{}
};

static bool never_supported(struct ib_device *ibdev)
{
	return false;
}

static const struct uapi_definition driver_defs_off[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(DRIVER_OBJECT, &UVERBS_OBJECT(DRIVER_OBJECT),
				UAPI_DEF_IS_OBJ_SUPPORTED(never_supported)),
	{}
};

static void api_takes_driver(struct kunit *test)
{
	struct ib_device *ibdev = device_with(test, true);
	const struct uverbs_method *method;
	struct uverbs_api *api;

	ibdev->driver_def = driver_defs;
	api = uverbs_api_create(ibdev);
	KUNIT_ASSERT_FALSE(test, IS_ERR(api));
	method = uverbs_api_method(api, DRIVER_OBJECT, DRIVER_METHOD);
	KUNIT_ASSERT_NOT_NULL(test, method);
	KUNIT_EXPECT_TRUE(test, method->handler == UVERBS_HANDLER(DRIVER_METHOD));
	KUNIT_EXPECT_TRUE(test, test_bit(uapi_bkey_attr(uapi_key_attr(DRIVER_ATTR)),
					 method->mandatory));

	method = uverbs_api_method(api, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
	KUNIT_ASSERT_NOT_NULL(test, method);
	expect_command(test, method->cmd, "CREATE_CQ");
	KUNIT_EXPECT_EQ(test, type_of(method, DRIVER_CQ_ATTR), UVERBS_ATTR_TYPE_PTR_IN);
	KUNIT_EXPECT_TRUE(test, method->has_udata);
	KUNIT_EXPECT_TRUE(test, method->of_driver);
	/* The core's attributes are the same as in the method that other devices share. */
	KUNIT_EXPECT_EQ(test, type_of(method, UVERBS_ATTR_CREATE_CQ_HANDLE), UVERBS_ATTR_TYPE_IDR);
	KUNIT_EXPECT_EQ(test, method->destroy_key, method->key_len);
	uverbs_api_destroy(api);

	ibdev->driver_def = driver_defs_off;
	api = uverbs_api_create(ibdev);
	KUNIT_ASSERT_FALSE(test, IS_ERR(api));
	KUNIT_EXPECT_NULL(test, uverbs_api_method(api, DRIVER_OBJECT, DRIVER_METHOD));
	uverbs_api_destroy(api);
}

/* ---- attributes ---- */

#define KEYS	8

static struct uverbs_call *new_call(struct kunit *test)
{
	struct ib_uverbs_file *file = kunit_kzalloc(test, sizeof(*file), GFP_KERNEL);
	struct uverbs_call *call;

	KUNIT_ASSERT_NOT_NULL(test, file);
	call = uverbs_call_begin(NULL, file, KEYS, 256);
	KUNIT_ASSERT_NOT_NULL(test, call);
	call->scope = kunit_kzalloc(test, sizeof(*call->scope), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, call->scope);
	call->uattrs = kunit_kcalloc(test, KEYS, sizeof(*call->uattrs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, call->uattrs);
	return call;
}

/**
 * struct pointer_case - an attribute with its payload inside
 * @name: shown
 * @min: of the specification
 * @len: of the specification
 * @zero_tail: of the specification
 * @given: length of the attribute
 * @data: its payload
 * @ret: what decoding returns
 */
struct pointer_case {
	const char *name;
	u16 min, len;
	bool zero_tail;
	u16 given;
	u64 data;
	int ret;
};

static const struct pointer_case pointer_cases[] = {
	{ "exact", 4, 4, false, 4, 1, 0 },
	{ "short", 4, 4, false, 3, 1, -EINVAL },
	{ "long", 4, 4, false, 5, 1, -EINVAL },
	{ "range, low", 4, 8, false, 4, 1, 0 },
	{ "range, high", 4, 8, false, 8, 1, 0 },
	{ "longer than known, rest zero", 4, 4, true, 8, 1, 0 },
	{ "longer than known, rest not zero", 4, 4, true, 8, 1ULL << 32, -EOPNOTSUPP },
	{ "shorter than known", 2, 4, true, 2, 1, 0 },
	{ "shorter than allowed", 2, 4, true, 1, 1, -EINVAL },
	{ "empty allowed", 0, U16_MAX, false, 0, 0, 0 },
};

static void pointer_case_name(const struct pointer_case *param, char *desc)
{
	strscpy(desc, param->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(pointer_case, pointer_cases, pointer_case_name);

static void attr_pointer(struct kunit *test)
{
	const struct pointer_case *param = test->param_value;
	struct uverbs_attr_spec spec = {
		.type = UVERBS_ATTR_TYPE_PTR_IN, .zero_trailing = param->zero_tail,
		.u.ptr.min_len = param->min, .u.ptr.len = param->len,
	};
	struct uverbs_call *call = new_call(test);

	call->uattrs[0].len = param->given;
	call->uattrs[0].data = param->data;
	KUNIT_EXPECT_EQ(test, uverbs_decode_attr(call, &call->uattrs[0], &spec, 3, "attr"),
			param->ret);
	KUNIT_EXPECT_EQ(test, test_bit(3, call->bundle.attr_present), !param->ret);
	uverbs_call_end(call);
}

static void attr_twice(struct kunit *test)
{
	struct uverbs_attr_spec spec = {
		.type = UVERBS_ATTR_TYPE_PTR_OUT, .u.ptr.len = 8,
	};
	struct uverbs_call *call = new_call(test);

	KUNIT_EXPECT_EQ(test, uverbs_decode_attr(call, &call->uattrs[0], &spec, 1, "attr"), 0);
	KUNIT_EXPECT_EQ(test, uverbs_decode_attr(call, &call->uattrs[1], &spec, 1, "attr"),
			-EINVAL);
	call->uattrs[2].attr_data.reserved = 1;
	KUNIT_EXPECT_EQ(test, uverbs_decode_attr(call, &call->uattrs[2], &spec, 2, "attr"),
			-EINVAL);
	uverbs_call_end(call);
}

static void attr_variants(struct kunit *test)
{
	static const struct uverbs_attr_spec variants[] = {
		{ .type = UVERBS_ATTR_TYPE_PTR_IN, .u.ptr.min_len = 4, .u.ptr.len = 4 },
		{ .type = UVERBS_ATTR_TYPE_PTR_IN, .u.ptr.min_len = 8, .u.ptr.len = 8 },
		{ .type = UVERBS_ATTR_TYPE_NA },
	};
	struct uverbs_attr_spec spec = {
		.type = UVERBS_ATTR_TYPE_ENUM_IN, .u.enum_def.num_elems = ARRAY_SIZE(variants),
		.u2.enum_def.ids = variants,
	};
	struct uverbs_call *call = new_call(test);
	struct ib_uverbs_attr *uattr = call->uattrs;

	uattr[0].attr_data.enum_data.elem_id = 1;
	uattr[0].len = 8;
	KUNIT_EXPECT_EQ(test, uverbs_decode_attr(call, &uattr[0], &spec, 0, "attr"), 0);
	KUNIT_EXPECT_EQ(test, call->bundle.attrs[0].ptr_attr.enum_id, 1);
	uattr[1].attr_data.enum_data.elem_id = 2;
	KUNIT_EXPECT_EQ(test, uverbs_decode_attr(call, &uattr[1], &spec, 1, "attr"), -EOPNOTSUPP);
	uattr[2].attr_data.enum_data.elem_id = 3;
	KUNIT_EXPECT_EQ(test, uverbs_decode_attr(call, &uattr[2], &spec, 2, "attr"), -EOPNOTSUPP);
	uattr[3].len = 8;
	KUNIT_EXPECT_EQ(test, uverbs_decode_attr(call, &uattr[3], &spec, 3, "attr"), -EINVAL);
	uverbs_call_end(call);
}

static void attr_raw_fd(struct kunit *test)
{
	struct uverbs_attr_spec spec = { .type = UVERBS_ATTR_TYPE_RAW_FD };
	struct uverbs_call *call = new_call(test);

	call->uattrs[0].data_s64 = -1;
	KUNIT_EXPECT_EQ(test, uverbs_decode_attr(call, &call->uattrs[0], &spec, 0, "attr"), 0);
	call->uattrs[1].data_s64 = 1LL << 31;
	KUNIT_EXPECT_EQ(test, uverbs_decode_attr(call, &call->uattrs[1], &spec, 1, "attr"),
			-EINVAL);
	call->uattrs[2].len = 4;
	KUNIT_EXPECT_EQ(test, uverbs_decode_attr(call, &call->uattrs[2], &spec, 2, "attr"),
			-EINVAL);
	uverbs_call_end(call);
}

/* ---- the same values in three forms ---- */

struct sample {
	u64 wide;
	u32 mask;
	u8 narrow;
};

struct sample_w {
	u32 narrow;
	u64 wide;
};

struct sample_x {
	u64 wide;
	u32 mask;
	u16 narrow;
};

static const struct uverbs_arg sample_args[] = {
	{
		.name = "wide", .kind = UV_INT, .attr = 0,
		UV_BLOCK(sample, wide),
		.w = UV_AT(sample_w, wide), .x = UV_AT(sample_x, wide),
	}, {
		.name = "mask", .kind = UV_MASK, .attr = 1, .mask = 0x3,
		UV_BLOCK(sample, mask),
		.x = UV_AT(sample_x, mask),
	}, {
		.name = "narrow", .kind = UV_INT, .flags = UV_F_CONST, .attr = 2,
		UV_BLOCK(sample, narrow),
		.w = UV_AT(sample_w, narrow), .x = UV_AT(sample_x, narrow),
	},
};

static const struct uverbs_cmd sample_cmd = {
	.name = "SAMPLE",
	.w_req = sizeof(struct sample_w),
	.x_req = sizeof(struct sample_x),
	UV_ARGS(sample_args, sample),
};

static struct uverbs_call *sample_call(struct kunit *test)
{
	struct uverbs_call *call = new_call(test);

	call->cmd = &sample_cmd;
	KUNIT_ASSERT_EQ(test, uverbs_args_alloc(call), 0);
	return call;
}

static void expect_sample(struct kunit *test, const struct uverbs_call *call, u32 mask)
{
	const struct sample *got = call->args;

	KUNIT_EXPECT_EQ(test, got->wide, 1ULL << 60);
	KUNIT_EXPECT_EQ(test, got->narrow, 200);
	KUNIT_EXPECT_EQ(test, got->mask, mask);
}

static void forms_write(struct kunit *test)
{
	struct sample_w req = { .wide = 1ULL << 60, .narrow = 200 };
	struct uverbs_call *call = sample_call(test);

	call->req = &req;
	KUNIT_EXPECT_EQ(test, uverbs_args_from_request(call), 0);
	expect_sample(test, call, 0);
	req.narrow = 256;
	KUNIT_EXPECT_EQ(test, uverbs_args_from_request(call), -EINVAL);
	uverbs_call_end(call);
}

static void forms_extended(struct kunit *test)
{
	struct sample_x req = { .wide = 1ULL << 60, .narrow = 200, .mask = 2 };
	struct uverbs_call *call = sample_call(test);

	call->extended = true;
	call->req = &req;
	KUNIT_EXPECT_EQ(test, uverbs_args_from_request(call), 0);
	expect_sample(test, call, 2);
	req.mask = 4;
	KUNIT_EXPECT_EQ(test, uverbs_args_from_request(call), -EINVAL);
	uverbs_call_end(call);
}

static int give(struct uverbs_call *call, unsigned int row, u64 data, u16 len)
{
	struct uverbs_attr attr = { .ptr_attr = { .data = data, .len = len } };

	return uverbs_arg_from_attr(call, &sample_args[row], &attr);
}

static void forms_ioctl(struct kunit *test)
{
	struct uverbs_call *call = sample_call(test);

	KUNIT_EXPECT_EQ(test, give(call, 0, 1ULL << 60, 8), 0);
	KUNIT_EXPECT_EQ(test, give(call, 2, 200, 8), 0);
	expect_sample(test, call, 0);
	KUNIT_EXPECT_EQ(test, give(call, 1, 3, 4), 0);
	expect_sample(test, call, 3);
	KUNIT_EXPECT_EQ(test, give(call, 1, 1ULL << 40, 8), -EINVAL);
	KUNIT_EXPECT_EQ(test, give(call, 1, 3, 6), -EINVAL);
	KUNIT_EXPECT_EQ(test, give(call, 2, 1ULL << 33 | 200, 8), -EINVAL);
	expect_sample(test, call, 3);
	uverbs_call_end(call);
}

static struct kunit_case decoder_cases[] = {
	KUNIT_CASE(table_rows),
	KUNIT_CASE(table_objects),
	KUNIT_CASE(table_numbers),
	KUNIT_CASE(table_attrs_once),
	KUNIT_CASE(api_follows_device),
	KUNIT_CASE(api_prunes),
	KUNIT_CASE(api_takes_driver),
	KUNIT_CASE_PARAM(attr_pointer, pointer_case_gen_params),
	KUNIT_CASE(attr_twice),
	KUNIT_CASE(attr_variants),
	KUNIT_CASE(attr_raw_fd),
	KUNIT_CASE(forms_write),
	KUNIT_CASE(forms_extended),
	KUNIT_CASE(forms_ioctl),
	{}
};

static struct kunit_suite decoder_suite = {
	.name = "rdma_uverbs_decoder",
	.test_cases = decoder_cases,
};

kunit_test_suite(decoder_suite);

MODULE_DESCRIPTION("KUnit tests of the user verbs decoder");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
