// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: flow rules of user space: translation of their specifications for the driver, the counters
 * and flow actions they name, and destruction of all of these.
 */
#include <linux/cred.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "test_uverbs.h"

/**
 * struct rule - a request for a flow rule
 * @req: the structure
 * @specs: its specifications
 */
struct rule {
	struct ib_uverbs_create_flow req;
	u64 specs[40];
};

static void rule_begin(struct rule *rule, u32 qp)
{
	memset(rule, 0, sizeof(*rule));
	rule->req.qp_handle = qp;
	rule->req.flow_attr.port = 1;
}

/* Adds a specification; its header says how long it is. */
static void *rule_add(struct rule *rule, u32 type, u16 size)
{
	struct ib_uverbs_flow_spec_hdr *hdr = (void *)rule->specs + rule->req.flow_attr.size;

	*hdr = (struct ib_uverbs_flow_spec_hdr){ .type = type, .size = size };
	rule->req.flow_attr.size += size;
	rule->req.flow_attr.num_of_specs++;
	return hdr;
}

static int create_flow(struct uverbs_test *t, const struct rule *rule, u32 *handle)
{
	size_t len = ALIGN(sizeof(rule->req) + rule->req.flow_attr.size, 8);
	struct ib_uverbs_create_flow_resp resp;
	int ret;

	ret = tu_write_ex(t, IB_USER_VERBS_EX_CMD_CREATE_FLOW, rule, len, &resp, sizeof(resp));
	*handle = resp.flow_handle;
	return ret;
}

static int destroy_flow(struct uverbs_test *t, u32 flow, u32 comp_mask)
{
	struct ib_uverbs_destroy_flow req = { .comp_mask = comp_mask, .flow_handle = flow };

	return tu_write_ex(t, IB_USER_VERBS_EX_CMD_DESTROY_FLOW, &req, sizeof(req), NULL, 0);
}

static int create_by_ioctl(struct uverbs_test *t, u16 object, u16 method, u16 attr, u32 *handle)
{
	struct ib_uverbs_attr attrs[] = { TU_HANDLE(attr, 0) };
	int ret = tu_ioctl(t, object, method, attrs, 1);

	*handle = attrs[0].data_s64;
	return ret;
}

static int create_counters(struct uverbs_test *t, u32 *handle)
{
	return create_by_ioctl(t, UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_CREATE,
			       UVERBS_ATTR_CREATE_COUNTERS_HANDLE, handle);
}

static int create_action(struct uverbs_test *t, u32 *handle)
{
	return create_by_ioctl(t, UVERBS_OBJECT_FLOW_ACTION, FAKE_METHOD_ACTION, FAKE_ATTR_ACTION,
			       handle);
}

static int destroy_by_ioctl(struct uverbs_test *t, u16 object, u16 method, u16 attr, u32 handle)
{
	struct ib_uverbs_attr attrs[] = { TU_HANDLE(attr, handle) };

	return tu_ioctl(t, object, method, attrs, 1);
}

static int destroy_counters(struct uverbs_test *t, u32 handle)
{
	return destroy_by_ioctl(t, UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_DESTROY,
				UVERBS_ATTR_DESTROY_COUNTERS_HANDLE, handle);
}

static int destroy_action(struct uverbs_test *t, u32 handle)
{
	return destroy_by_ioctl(t, UVERBS_OBJECT_FLOW_ACTION, UVERBS_METHOD_FLOW_ACTION_DESTROY,
				UVERBS_ATTR_DESTROY_FLOW_ACTION_HANDLE, handle);
}

/* A rule that counts in @counters and does @action. */
static int create_counting(struct uverbs_test *t, u32 qp, u32 counters, u32 action, u32 *handle)
{
	struct ib_uverbs_flow_spec_action_handle *act;
	struct ib_uverbs_flow_spec_action_count *count;
	struct rule rule;

	rule_begin(&rule, qp);
	count = rule_add(&rule, IB_FLOW_SPEC_ACTION_COUNT, sizeof(*count));
	count->handle = counters;
	act = rule_add(&rule, IB_FLOW_SPEC_ACTION_HANDLE, sizeof(*act));
	act->handle = action;
	return create_flow(t, &rule, handle);
}

static const struct ib_flow_attr *given(struct uverbs_test *t)
{
	return (void *)t->device->asked.rule;
}

/* ---- filters ---- */

/**
 * struct filter_case - one kind of filter
 * @name: shown
 * @type: its type
 * @len: bytes of the filter as programs know it
 * @known: bytes of it as drivers know it
 * @size: bytes of the specification as drivers know it
 * @mask: offset of the mask there
 * @edge: offset in the filter of a number that has limits, plus 1
 */
struct filter_case {
	const char *name;
	u32 type;
	u16 len, known, size, mask, edge;
};

#define FILTER_CASE(_type, _user, _member, _edge)					\
	{										\
		.name = #_type, .type = IB_FLOW_SPEC_##_type,				\
		.len = sizeof(struct ib_uverbs_flow_##_user), .edge = _edge,		\
		.known = sizeof_field(union ib_flow_spec, _member.val),			\
		.size = sizeof_field(union ib_flow_spec, _member),			\
		.mask = offsetof(union ib_flow_spec, _member.mask),			\
	}

static const struct filter_case filters[] = {
	FILTER_CASE(ETH, eth_filter, eth, 0),
	FILTER_CASE(IPV4, ipv4_filter, ipv4, 0),
	FILTER_CASE(IPV6, ipv6_filter, ipv6, 33),
	FILTER_CASE(ESP, spec_esp_filter, esp, 0),
	FILTER_CASE(TCP, tcp_udp_filter, tcp_udp, 0),
	FILTER_CASE(UDP, tcp_udp_filter, tcp_udp, 0),
	FILTER_CASE(VXLAN_TUNNEL, tunnel_filter, tunnel, 1),
	FILTER_CASE(GRE, gre_filter, gre, 0),
	FILTER_CASE(MPLS, mpls_filter, mpls, 0),
};

static void filter_name(const struct filter_case *one, char *name)
{
	strscpy(name, one->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(filter, filters, filter_name);

/* Fills a filter with bytes that all differ, and keeps numbers within their limits. */
static void fill(const struct filter_case *one, u8 *filter, u8 first)
{
	for (unsigned int i = 0; i < one->known; i++)
		filter[i] = first + i;
	if (one->edge)
		filter[one->edge - 1] = 0;
	if (one->edge > 1)
		filter[one->edge] = 0x0f;
}

static void filtered(struct kunit *test)
{
	const struct filter_case *one = test->param_value;
	struct ib_uverbs_flow_spec_hdr *hdr;
	struct uverbs_test *t = test->priv;
	const union ib_flow_spec *spec = given(t)->flows;
	u32 qp, flow;
	struct rule rule;
	u8 *val, *mask;

	KUNIT_ASSERT_EQ(test, tu_create_qp(t, IB_QPT_UD, -1, &qp), 0);
	rule_begin(&rule, qp);
	rule.req.flow_attr.type = IB_FLOW_ATTR_SNIFFER;
	rule.req.flow_attr.priority = 7;
	rule.req.flow_attr.flags = IB_FLOW_ATTR_FLAGS_EGRESS;
	hdr = rule_add(&rule, one->type, sizeof(*hdr) + 2 * one->len);
	val = (u8 *)(hdr + 1);
	mask = val + one->len;
	fill(one, val, 0x10);
	fill(one, mask, 0x80);
	KUNIT_ASSERT_EQ(test, create_flow(t, &rule, &flow), 0);
	KUNIT_EXPECT_PTR_EQ(test, t->device->asked.rule_qp, t->device->last_qp);
	KUNIT_EXPECT_EQ(test, given(t)->type, IB_FLOW_ATTR_SNIFFER);
	KUNIT_EXPECT_EQ(test, given(t)->priority, 7);
	KUNIT_EXPECT_EQ(test, given(t)->flags, IB_FLOW_ATTR_FLAGS_EGRESS);
	KUNIT_EXPECT_EQ(test, given(t)->port, 1);
	KUNIT_EXPECT_EQ(test, given(t)->num_of_specs, 1);
	KUNIT_EXPECT_EQ(test, given(t)->size, sizeof(struct ib_flow_attr) + one->size);
	KUNIT_EXPECT_EQ(test, spec->type, one->type);
	KUNIT_EXPECT_EQ(test, spec->size, one->size);
	KUNIT_EXPECT_MEMEQ(test, (u8 *)spec + one->mask, mask, one->known);
	KUNIT_EXPECT_MEMEQ(test, (u8 *)spec + one->mask - one->known, val, one->known);
	KUNIT_EXPECT_EQ(test, destroy_flow(t, flow, 0), 0);

	/* A longer filter, of a later kernel: unknown bytes are accepted if their mask is zero. */
	rule_begin(&rule, qp);
	hdr = rule_add(&rule, one->type, sizeof(*hdr) + 2 * (one->len + 8));
	if (rule.req.flow_attr.size <= sizeof(struct ib_uverbs_flow_spec_ipv6)) {
		((u8 *)(hdr + 1))[one->known] = 1;
		KUNIT_EXPECT_EQ(test, create_flow(t, &rule, &flow), 0);
		((u8 *)(hdr + 1))[one->len + 8 + one->known] = 1;
		tu_expect_refused(t, create_flow(t, &rule, &flow), -EINVAL, "mask behind");
	}
	/* A shorter filter, of an earlier kernel. */
	rule_begin(&rule, qp);
	rule_add(&rule, one->type, sizeof(*hdr) + 8);
	KUNIT_EXPECT_EQ(test, create_flow(t, &rule, &flow), 0);

	rule_begin(&rule, qp);
	rule_add(&rule, one->type, sizeof(*hdr) + 12);
	tu_expect_refused(t, create_flow(t, &rule, &flow), -EINVAL, "size 20");
	rule_begin(&rule, qp);
	rule_add(&rule, one->type, sizeof(*hdr));
	tu_expect_refused(t, create_flow(t, &rule, &flow), -EINVAL, "size 8");
	if (!one->edge)
		return;
	rule_begin(&rule, qp);
	hdr = rule_add(&rule, one->type, sizeof(*hdr) + 2 * one->len);
	((u8 *)(hdr + 1))[one->edge - 1] = 1;
	tu_expect_refused(t, create_flow(t, &rule, &flow), -EINVAL, "bits");
	((u8 *)(hdr + 1))[one->edge - 1] = 0;
	((u8 *)(hdr + 1))[one->len + one->edge - 1] = 1;
	tu_expect_refused(t, create_flow(t, &rule, &flow), -EINVAL, "bits");
}

/* Several filters, some of them for inner headers of a tunnel, and actions. */
static void chained(struct kunit *test)
{
	struct ib_uverbs_flow_spec_action_tag *tag;
	struct uverbs_test *t = test->priv;
	const union ib_flow_spec *spec = given(t)->flows;
	struct rule rule;
	u32 qp, flow;

	KUNIT_ASSERT_EQ(test, tu_create_qp(t, IB_QPT_UD, -1, &qp), 0);
	rule_begin(&rule, qp);
	rule_add(&rule, IB_FLOW_SPEC_IPV6, sizeof(struct ib_uverbs_flow_spec_ipv6));
	rule_add(&rule, IB_FLOW_SPEC_UDP | IB_FLOW_SPEC_INNER,
		 sizeof(struct ib_uverbs_flow_spec_tcp_udp));
	tag = rule_add(&rule, IB_FLOW_SPEC_ACTION_TAG, sizeof(*tag));
	tag->tag_id = 0xabcd;
	rule_add(&rule, IB_FLOW_SPEC_ACTION_DROP, sizeof(struct ib_uverbs_flow_spec_action_drop));
	KUNIT_ASSERT_EQ(test, create_flow(t, &rule, &flow), 0);
	KUNIT_EXPECT_EQ(test, given(t)->num_of_specs, 4);
	KUNIT_EXPECT_EQ(test, given(t)->size,
			sizeof(struct ib_flow_attr) + sizeof(spec->ipv6) + sizeof(spec->tcp_udp) +
			sizeof(spec->flow_tag) + sizeof(spec->drop));
	KUNIT_EXPECT_EQ(test, spec->type, IB_FLOW_SPEC_IPV6);
	spec = (void *)spec + spec->size;
	KUNIT_EXPECT_EQ(test, spec->type, IB_FLOW_SPEC_UDP | IB_FLOW_SPEC_INNER);
	spec = (void *)spec + spec->size;
	KUNIT_EXPECT_EQ(test, spec->type, IB_FLOW_SPEC_ACTION_TAG);
	KUNIT_EXPECT_EQ(test, spec->flow_tag.tag_id, 0xabcd);
	spec = (void *)spec + spec->size;
	KUNIT_EXPECT_EQ(test, spec->type, IB_FLOW_SPEC_ACTION_DROP);

	/* The rule holds a reference on its QP. */
	tu_expect_refused(t, tu_destroy_qp(t, qp), -EBUSY, "is used by 1 other object");
	tu_expect_refused(t, destroy_flow(t, flow, 1), -EINVAL, "comp_mask");
	t->device->destroy = -EIO;
	KUNIT_EXPECT_EQ(test, destroy_flow(t, flow, 0), -EIO);
	t->device->destroy = 0;
	KUNIT_EXPECT_EQ(test, destroy_by_ioctl(t, UVERBS_OBJECT_FLOW, UVERBS_METHOD_FLOW_DESTROY,
					       UVERBS_ATTR_DESTROY_FLOW_HANDLE, flow), 0);
	KUNIT_EXPECT_EQ(test, tu_destroy_qp(t, qp), 0);
}

/* ---- refusals ---- */

static void rules_refused(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	u32 qp, rc, flow;
	struct rule rule;

	KUNIT_ASSERT_EQ(test, tu_create_qp(t, IB_QPT_UD, -1, &qp), 0);
	KUNIT_ASSERT_EQ(test, tu_create_qp(t, IB_QPT_RC, -1, &rc), 0);
#define REFUSED(_err, _reason, ...)							\
	do {										\
		rule_begin(&rule, qp);							\
		__VA_ARGS__;								\
		tu_expect_refused(t, create_flow(t, &rule, &flow), _err, _reason);	\
	} while (0)
	REFUSED(-EINVAL, "comp_mask", rule.req.comp_mask = 1);
	REFUSED(-EINVAL, "flags: unknown", rule.req.flow_attr.flags = 8);
	REFUSED(-EINVAL, "flags 0x2: not for type 1",
		rule.req.flow_attr.flags = IB_FLOW_ATTR_FLAGS_DONT_TRAP;
		rule.req.flow_attr.type = IB_FLOW_ATTR_ALL_DEFAULT);
	REFUSED(-EINVAL, "not for type 2",
		rule.req.flow_attr.flags = IB_FLOW_ATTR_FLAGS_DONT_TRAP;
		rule.req.flow_attr.type = IB_FLOW_ATTR_MC_DEFAULT);
	REFUSED(-EINVAL, "num_of_specs 11", rule.req.flow_attr.num_of_specs = 11);
	REFUSED(-EINVAL, "size 8 is too long", rule.req.flow_attr.size = 8);
	REFUSED(-EINVAL, "reserved", rule.req.flow_attr.reserved[0] = 1);
	REFUSED(-EINVAL, "reserved", rule.req.flow_attr.reserved[1] = 1);
	REFUSED(-EINVAL, "port 2", rule.req.flow_attr.port = 2);
	REFUSED(-EINVAL, "port 0", rule.req.flow_attr.port = 0);
	REFUSED(-ENOENT, "qp_handle 4711", rule.req.qp_handle = 4711);
	REFUSED(-EINVAL, "takes no flow rules", rule.req.qp_handle = rc);
	REFUSED(-EINVAL, "0 of 1 specifications", rule.req.flow_attr.num_of_specs = 1);
	REFUSED(-EINVAL, "type 0x22", rule_add(&rule, IB_FLOW_SPEC_IB, 16));
	REFUSED(-EINVAL, "type 0x150",
		rule_add(&rule, IB_FLOW_SPEC_VXLAN_TUNNEL | IB_FLOW_SPEC_INNER, 16));
	REFUSED(-EINVAL, "reserved is not zero",
		*((u16 *)rule_add(&rule, IB_FLOW_SPEC_UDP, 16) + 3) = 1);
	REFUSED(-EINVAL, "size 0",
		*((u16 *)rule_add(&rule, IB_FLOW_SPEC_UDP, 16) + 2) = 0);
	REFUSED(-EINVAL, "1 of 1 specifications, 8 bytes",
		*((u16 *)rule_add(&rule, IB_FLOW_SPEC_UDP, 24) + 2) = 16);
	REFUSED(-EINVAL, "0 of 1 specifications, 16 bytes",
		*((u16 *)rule_add(&rule, IB_FLOW_SPEC_UDP, 16) + 2) = 24);
	REFUSED(-EINVAL, "action type 0x1000: size 24",
		rule_add(&rule, IB_FLOW_SPEC_ACTION_TAG, 24));
	REFUSED(-EINVAL, "action type 0x1001", rule_add(&rule, IB_FLOW_SPEC_ACTION_DROP, 16));
	REFUSED(-EOPNOTSUPP, "action type 0x1002",
		rule_add(&rule, IB_FLOW_SPEC_ACTION_HANDLE, 24));
	REFUSED(-EINVAL, "action type 0x1003", rule_add(&rule, IB_FLOW_SPEC_ACTION_COUNT, 24));
	REFUSED(-EINVAL, "action type 0x1004", rule_add(&rule, 0x1004, 16));
	t->device->answer = -ENOSPC;
	REFUSED(-ENOSPC, "type 0, 0 specifications");
	t->device->answer = 0;
#undef REFUSED
	tu_expect_refused(t, create_counting(t, qp, 4711, 1, &flow), -ENOENT, "counters 4711");
	KUNIT_EXPECT_EQ(test, t->device->made.flows, 0);

	/* The request is too short for its structure or its specifications, or too long. */
	rule_begin(&rule, qp);
	KUNIT_EXPECT_EQ(test, tu_write_ex(t, IB_USER_VERBS_EX_CMD_CREATE_FLOW, &rule, 16, NULL, 0),
			-ENOSPC);
	rule_add(&rule, IB_FLOW_SPEC_UDP, 16);
	KUNIT_EXPECT_EQ(test, tu_write_ex(t, IB_USER_VERBS_EX_CMD_CREATE_FLOW, &rule,
					  sizeof(rule.req) + 8, NULL, 0), -ENOSPC);
	rule.specs[2] = 1;
	KUNIT_EXPECT_EQ(test, tu_write_ex(t, IB_USER_VERBS_EX_CMD_CREATE_FLOW, &rule,
					  sizeof(rule.req) + 24, NULL, 0), -EOPNOTSUPP);
	/* The refused rules hold no reference on the QP. */
	KUNIT_EXPECT_EQ(test, tu_destroy_qp(t, qp), 0);
}

/* Rules need CAP_NET_RAW, since they can capture packets of others. */
static void capability_needed(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	struct cred *weak = prepare_creds();
	const struct cred *own;
	struct rule rule;
	u32 qp, flow;
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, weak);
	KUNIT_ASSERT_EQ(test, tu_create_qp(t, IB_QPT_UD, -1, &qp), 0);
	cap_lower(weak->cap_effective, CAP_NET_RAW);
	rule_begin(&rule, qp);
	own = override_creds(weak);
	t->filp->f_cred = weak;
	ret = create_flow(t, &rule, &flow);
	t->filp->f_cred = own;
	revert_creds(own);
	put_cred(weak);
	tu_expect_refused(t, ret, -EPERM, "CAP_NET_RAW");
	KUNIT_EXPECT_EQ(test, create_flow(t, &rule, &flow), 0);
}

/* ---- counters and actions ---- */

static int read_counters(struct uverbs_test *t, u32 handle, u16 len, u64 flags)
{
	struct ib_uverbs_attr attrs[] = {
		TU_HANDLE(UVERBS_ATTR_READ_COUNTERS_HANDLE, handle),
		TU_VALUE(UVERBS_ATTR_READ_COUNTERS_BUFF, len, t->user + TU_FREE),
		TU_VALUE(UVERBS_ATTR_READ_COUNTERS_FLAGS, 4, flags),
	};

	return tu_ioctl(t, UVERBS_OBJECT_COUNTERS, UVERBS_METHOD_COUNTERS_READ, attrs,
			ARRAY_SIZE(attrs));
}

static void counted(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	u32 qp, counters, action, flow;
	const union ib_flow_spec *spec = given(t)->flows;
	u64 values[3];

	KUNIT_ASSERT_EQ(test, tu_create_qp(t, IB_QPT_UD, -1, &qp), 0);
	t->device->answer = -ENOSPC;
	tu_expect_refused(t, create_counters(t, &counters), -ENOSPC, "the driver refused");
	KUNIT_EXPECT_EQ(test, create_action(t, &action), -ENOSPC);
	t->device->answer = 0;
	KUNIT_ASSERT_EQ(test, create_counters(t, &counters), 0);
	KUNIT_ASSERT_EQ(test, create_action(t, &action), 0);
	tu_expect_refused(t, read_counters(t, counters, 24, 0), -EINVAL, "no flow rule");
	tu_expect_refused(t, create_counting(t, qp, counters, counters, &flow), -EINVAL,
			  "flow action");
	tu_expect_refused(t, create_counting(t, qp, action, action, &flow), -EINVAL, "counters");

	KUNIT_ASSERT_EQ(test, create_counting(t, qp, counters, action, &flow), 0);
	KUNIT_EXPECT_PTR_EQ(test, spec->flow_count.counters, t->device->asked.counters);
	spec = (void *)spec + spec->size;
	KUNIT_EXPECT_PTR_EQ(test, spec->action.act, t->device->asked.action);
	tu_expect_refused(t, destroy_counters(t, counters), -EBUSY, "is used by 1 other object");
	tu_expect_refused(t, destroy_action(t, action), -EBUSY, "used by 1 flow rule");

	/* Only as many values as the attribute has room for are returned. */
	KUNIT_EXPECT_EQ(test, read_counters(t, counters, 20, IB_UVERBS_READ_COUNTERS_PREFER_CACHED),
			0);
	KUNIT_EXPECT_EQ(test, t->device->asked.counters_flags,
			IB_UVERBS_READ_COUNTERS_PREFER_CACHED);
	KUNIT_ASSERT_EQ(test, copy_from_user(values, tu_at(t, TU_FREE), sizeof(values)), 0);
	KUNIT_EXPECT_EQ(test, values[0], 100);
	KUNIT_EXPECT_EQ(test, values[1], 101);
	KUNIT_EXPECT_EQ(test, values[2], 0);
	tu_expect_refused(t, read_counters(t, counters, 8, 2), -EINVAL, "flags");
	t->device->answer = -EIO;
	tu_expect_refused(t, read_counters(t, counters, 24, 0), -EIO, "3 counters");
	t->device->answer = 0;

	KUNIT_EXPECT_EQ(test, destroy_flow(t, flow, 0), 0);
	t->device->destroy = -EIO;
	KUNIT_EXPECT_EQ(test, destroy_counters(t, counters), -EIO);
	KUNIT_EXPECT_EQ(test, destroy_action(t, action), -EIO);
	t->device->destroy = 0;
	KUNIT_EXPECT_EQ(test, destroy_counters(t, counters), 0);
	KUNIT_EXPECT_EQ(test, destroy_action(t, action), 0);
}

/* ---- ends ---- */

static void make_all(struct uverbs_test *t, u32 *counters, u32 *action, u32 *flow)
{
	u32 qp;

	KUNIT_ASSERT_EQ(t->test, tu_create_qp(t, IB_QPT_UD, -1, &qp), 0);
	KUNIT_ASSERT_EQ(t->test, create_counters(t, counters), 0);
	KUNIT_ASSERT_EQ(t->test, create_action(t, action), 0);
	KUNIT_ASSERT_EQ(t->test, create_counting(t, qp, *counters, *action, flow), 0);
}

static void closed_with_file(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	u32 counters, action, flow;

	make_all(t, &counters, &action, &flow);
	tu_close(t);
	KUNIT_EXPECT_EQ(test, t->device->made.flows, 0);
	KUNIT_EXPECT_EQ(test, t->device->made.counters + t->device->made.actions, 0);
}

static void gone_with_device(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	u32 counters, action, flow, other;

	make_all(t, &counters, &action, &flow);
	tu_remove_device(t);
	KUNIT_EXPECT_EQ(test, create_counters(t, &other), -EIO);
	KUNIT_EXPECT_EQ(test, destroy_flow(t, flow, 0), 0);
	KUNIT_EXPECT_EQ(test, destroy_action(t, action), 0);
	KUNIT_EXPECT_EQ(test, destroy_counters(t, counters), 0);
}

/* An indirection table is optional for a QP; on a device without tables every handle is refused. */
static void table_refused(struct uverbs_test *t, struct uverbs_api *api)
{
	struct ib_uverbs_attr table = TU_HANDLE(UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE, t->pd);
	int ret;

	swap(t->udev->uapi, api);
	ret = tu_ioctl(t, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, &table, 1);
	swap(t->udev->uapi, api);
	tu_expect_refused(t, ret, -EINVAL, "this device has no such objects");
}

/* A device whose driver lacks the calls has neither the objects nor the commands. */
static void not_offered(struct kunit *test)
{
	static const u8 commands[] = {
		IB_USER_VERBS_EX_CMD_CREATE_FLOW, IB_USER_VERBS_EX_CMD_DESTROY_FLOW,
		IB_USER_VERBS_EX_CMD_CREATE_WQ, IB_USER_VERBS_EX_CMD_MODIFY_WQ,
		IB_USER_VERBS_EX_CMD_DESTROY_WQ, IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL,
		IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL,
	};
	static const u16 objects[] = {
		UVERBS_OBJECT_FLOW, UVERBS_OBJECT_WQ, UVERBS_OBJECT_RWQ_IND_TBL,
		UVERBS_OBJECT_FLOW_ACTION, UVERBS_OBJECT_DM, UVERBS_OBJECT_COUNTERS,
	};
	struct uverbs_test *t = test->priv;
	struct ib_device *ibdev = &t->device->ib;
	typeof(ibdev->ops) *saved = kunit_kzalloc(test, sizeof(*saved), GFP_KERNEL);
	struct uverbs_api *api;

	KUNIT_ASSERT_NOT_NULL(test, saved);
	*saved = ibdev->ops;
	ibdev->ops.destroy_flow = NULL;
	ibdev->ops.destroy_wq = NULL;
	ibdev->ops.destroy_rwq_ind_table = NULL;
	ibdev->ops.destroy_flow_action = NULL;
	ibdev->ops.dealloc_dm = NULL;
	ibdev->ops.destroy_counters = NULL;
	ibdev->ops.reg_user_mr_dmabuf = NULL;
	ibdev->driver_def = NULL;
	api = uverbs_api_create(ibdev);
	ibdev->ops = *saved;
	KUNIT_ASSERT_FALSE(test, IS_ERR(api));
	for (unsigned int i = 0; i < ARRAY_SIZE(commands); i++)
		KUNIT_EXPECT_EQ(test, PTR_ERR(uverbs_api_write(api, commands[i] |
							       IB_USER_VERBS_CMD_FLAG_EXTENDED)),
				-EOPNOTSUPP);
	for (unsigned int i = 0; i < ARRAY_SIZE(objects); i++)
		for (u16 method = 0; method < 4; method++)
			KUNIT_EXPECT_NULL(test, uverbs_api_method(api, objects[i], method));
	/*
	 * DM_MR_REG does not exist without device memory; registration of a DMA buffer exists and
	 * is refused.
	 */
	KUNIT_EXPECT_NULL(test, uverbs_api_method(api, UVERBS_OBJECT_MR,
						  UVERBS_METHOD_DM_MR_REG));
	KUNIT_EXPECT_TRUE(test, uverbs_api_method(api, UVERBS_OBJECT_MR,
						  UVERBS_METHOD_REG_DMABUF_MR)->unable);
	table_refused(t, api);
	uverbs_api_destroy(api);
}

#ifdef CONFIG_FAULT_INJECTION
static u32 starving_qp, starving_counters, starving_action;

static int counters_starving(struct uverbs_test *t)
{
	u32 counters;

	return create_counters(t, &counters);
}

static int flow_starving(struct uverbs_test *t)
{
	u32 flow;

	return create_counting(t, starving_qp, starving_counters, starving_action, &flow);
}

static void without_memory(struct kunit *test)
{
	struct uverbs_test *t = test->priv;

	KUNIT_EXPECT_GT(test, tu_starve(t, counters_starving), 2);
	KUNIT_EXPECT_EQ(test, t->device->made.counters, t->served);
	KUNIT_ASSERT_EQ(test, tu_create_qp(t, IB_QPT_UD, -1, &starving_qp), 0);
	KUNIT_ASSERT_EQ(test, create_counters(t, &starving_counters), 0);
	KUNIT_ASSERT_EQ(test, create_action(t, &starving_action), 0);
	KUNIT_EXPECT_GT(test, tu_starve(t, flow_starving), 5);
	KUNIT_EXPECT_EQ(test, t->device->made.flows, t->served);
	/* Rules that failed hold no reference. */
	KUNIT_EXPECT_EQ(test, atomic_read(&t->device->asked.action->usecnt), t->served);
}
#endif

static struct kunit_case flow_cases[] = {
	KUNIT_CASE_PARAM(filtered, filter_gen_params),
	KUNIT_CASE(chained),
	KUNIT_CASE(rules_refused),
	KUNIT_CASE(capability_needed),
	KUNIT_CASE(counted),
	KUNIT_CASE(closed_with_file),
	KUNIT_CASE(gone_with_device),
	KUNIT_CASE(not_offered),
#ifdef CONFIG_FAULT_INJECTION
	KUNIT_CASE(without_memory),
#endif
	{}
};

static struct kunit_suite flow_suite = {
	.name = "rdma_uverbs_flow",
	.init = tu_init,
	.exit = tu_exit,
	.test_cases = flow_cases,
};

kunit_test_suite(flow_suite);
