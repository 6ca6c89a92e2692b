// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: messages and attributes that other rooms and drivers put together.
 */
#include <kunit/test.h>
#include <linux/skbuff.h>
#include <net/netlink.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_netlink.h>

#define SEQ	77
#define PAYLOAD	8

static struct sk_buff *room(struct kunit *test, unsigned int bytes)
{
	struct sk_buff *skb = nlmsg_new(256, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	/* A buffer may be larger than was asked for. */
	skb_reserve(skb, skb_tailroom(skb) - bytes);
	return skb;
}

static void messages(struct kunit *test)
{
	struct sk_buff *skb = room(test, 64);
	struct nlmsghdr *nlh;
	u32 value = 4711;
	struct nlattr *nla;
	void *payload;

	payload = ibnl_put_msg(skb, &nlh, SEQ, PAYLOAD, RDMA_NL_IWCM, RDMA_NL_IWPM_HELLO,
			       NLM_F_REQUEST);
	KUNIT_ASSERT_NOT_NULL(test, payload);
	KUNIT_EXPECT_PTR_EQ(test, payload, nlmsg_data(nlh));
	memset(payload, 0, PAYLOAD);
	KUNIT_EXPECT_EQ(test, nlh->nlmsg_type, RDMA_NL_GET_TYPE(RDMA_NL_IWCM, RDMA_NL_IWPM_HELLO));
	KUNIT_EXPECT_EQ(test, nlh->nlmsg_seq, SEQ);
	KUNIT_EXPECT_EQ(test, nlh->nlmsg_flags, NLM_F_REQUEST);
	KUNIT_EXPECT_EQ(test, nlh->nlmsg_len, NLMSG_HDRLEN + PAYLOAD);

	KUNIT_EXPECT_EQ(test, ibnl_put_attr(skb, nlh, sizeof(value), &value, 5), 0);
	nlmsg_end(skb, nlh);
	nla = nlmsg_find_attr(nlh, PAYLOAD, 5);
	KUNIT_ASSERT_NOT_NULL(test, nla);
	KUNIT_EXPECT_EQ(test, nla_get_u32(nla), value);
	/* One that does not fit takes the whole message with it. */
	while (skb_tailroom(skb) >= nla_total_size(sizeof(value)))
		KUNIT_ASSERT_EQ(test, ibnl_put_attr(skb, nlh, sizeof(value), &value, 6), 0);
	KUNIT_EXPECT_EQ(test, ibnl_put_attr(skb, nlh, sizeof(value), &value, 6), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, skb->len, 0);
	kfree_skb(skb);

	skb = room(test, NLMSG_HDRLEN + PAYLOAD - 4);
	KUNIT_EXPECT_NULL(test, ibnl_put_msg(skb, &nlh, SEQ, PAYLOAD, RDMA_NL_IWCM, 0, 0));
	KUNIT_EXPECT_EQ(test, skb->len, 0);
	kfree_skb(skb);
}

static void counters(struct kunit *test)
{
	struct sk_buff *skb = room(test, 128);
	struct nlattr *entry, *name, *value;
	unsigned int len;

	KUNIT_EXPECT_EQ(test, rdma_nl_stat_hwcounter_entry(skb, "first", 1ULL << 40), 0);
	entry = (struct nlattr *)skb->data;
	KUNIT_EXPECT_EQ(test, nla_type(entry), RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY);
	name = nla_find_nested(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME);
	value = nla_find_nested(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE);
	KUNIT_ASSERT_NOT_NULL(test, name);
	KUNIT_ASSERT_NOT_NULL(test, value);
	KUNIT_EXPECT_STREQ(test, nla_data(name), "first");
	KUNIT_EXPECT_EQ(test, nla_get_u64(value), 1ULL << 40);

	/* One that does not fit leaves nothing, whatever part of it fits. */
	len = skb->len;
	for (unsigned int left = skb_tailroom(skb); left; left -= min(left, 4U)) {
		bool fits = left >= len;

		skb_trim(skb, len);
		skb_put(skb, skb_tailroom(skb) - left);
		KUNIT_EXPECT_EQ_MSG(test, rdma_nl_stat_hwcounter_entry(skb, "again", 1),
				    fits ? 0 : -EMSGSIZE, "%u bytes left", left);
		KUNIT_EXPECT_EQ(test, skb_tailroom(skb), fits ? left - len : left);
	}
	kfree_skb(skb);
}

static struct kunit_case netlink_cases[] = {
	KUNIT_CASE(messages),
	KUNIT_CASE(counters),
	{}
};

static struct kunit_suite netlink_suite = {
	.name = "ib_core_netlink",
	.test_cases = netlink_cases,
};

kunit_test_suite(netlink_suite);
