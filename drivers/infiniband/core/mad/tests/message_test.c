// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: messages of many segments, subnet management, and what security modules forbid.
 */
#include <kunit/static_stub.h>
#include <kunit/test-bug.h>
#include <linux/cleanup.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <rdma/ib_smi.h>
#include <rdma/rdma_ext_mad.h>

#include "../../security/security.h"
#include "../access.h"
#include "fixture.h"

/* ---- messages of many segments ---- */

#define SEGMENTS 300
#define SA_METHOD 0x12	/* GetTable */

static struct rnd_state rnd;

static unsigned int lossy(const struct ib_mad *mad, bool *overtakes)
{
	unsigned int chance = prandom_u32_state(&rnd) % 100;

	*overtakes = prandom_u32_state(&rnd) % 100 < 10;
	return chance < 10 ? 0 : chance < 20 ? 2 : 1;
}

static void fill_message(struct ib_mad_send_buf *buf)
{
	for (int seg = 1; seg <= buf->seg_count; seg++) {
		u8 *data = ib_get_rmpp_segment(buf, seg);

		for (int i = 0; i < buf->seg_size; i++)
			data[i] = seg * 7 + i;
	}
}

static int right_bytes(struct ib_mad_recv_wc *rwc)
{
	struct ib_mad_recv_buf *packet;
	int seg = 0, right = 0;

	list_for_each_entry(packet, &rwc->rmpp_list, list) {
		u8 *data = (u8 *)packet->mad + IB_MGMT_SA_HDR;

		seg++;
		for (int i = 0; i < IB_MGMT_SA_DATA; i++)
			right += data[i] == (u8)(seg * 7 + i);
	}
	return right;
}

static struct ib_mad_send_buf *new_message(struct ib_mad_agent *agent, u8 method, __be64 tid,
					   int data_len)
{
	struct ib_mad_send_buf *buf;
	struct ib_mad_hdr *hdr;

	buf = ib_create_send_mad(agent, agent->qp->qp_num, 0, 1, IB_MGMT_SA_HDR, data_len,
				 GFP_KERNEL, IB_MGMT_BASE_VERSION);
	if (WARN_ON(IS_ERR(buf)))
		return NULL;
	hdr = buf->mad;
	hdr->base_version = IB_MGMT_BASE_VERSION;
	hdr->mgmt_class = IB_MGMT_CLASS_SUBN_ADM;
	hdr->class_version = 2;
	hdr->method = method;
	hdr->tid = tid;
	fill_message(buf);
	return buf;
}

static void hear_message(struct ib_mad_agent *agent, struct ib_mad_send_buf *sent,
			 struct ib_mad_recv_wc *rwc)
{
	struct peer *peer = agent->context;
	struct ib_mad_send_buf *buf;

	atomic_set(&peer->sum, right_bytes(rwc));
	peer->last_len = rwc->mad_len;
	if (sent) {
		sent->context[0] = peer;
		atomic_inc(&peer->responses);
	} else {
		atomic_inc(&peer->requests);
		buf = new_message(agent, SA_METHOD | IB_MGMT_METHOD_RESP,
				  rwc->recv_buf.mad->mad_hdr.tid, SEGMENTS * IB_MGMT_SA_DATA - 8);
		buf->ah = ib_create_ah_from_wc(fixture.pd_b, rwc->wc, rwc->recv_buf.grh, 1);
		buf->timeout_ms = 0;
		buf->retries = -1;
		if (ib_post_send_mad(buf, NULL))
			WARN_ON(1);
	}
	ib_free_recv_mad(rwc);
	wake_up_all(&fixture.progress);
}

static struct ib_mad_reg_req table_request(void)
{
	struct ib_mad_reg_req req = {
		.mgmt_class = IB_MGMT_CLASS_SUBN_ADM, .mgmt_class_version = 2,
	};

	set_bit(SA_METHOD, req.method_mask);
	return req;
}

/* Exchanges messages between two registered agents, and unregisters them. */
static void exchange(struct kunit *test, struct peer *client, struct peer *server, int requests)
{
	struct ib_mad_send_buf *buf;

	KUNIT_ASSERT_FALSE(test, IS_ERR(client->agent));
	KUNIT_ASSERT_FALSE(test, IS_ERR(server->agent));
	for (int i = 0; i < requests; i++) {
		buf = new_message(client->agent, SA_METHOD,
				  cpu_to_be64((u64)client->agent->hi_tid << 32 | ++fixture.tid),
				  2 * IB_MGMT_SA_DATA);
		buf->ah = fixture.to_b;
		/* Segments are retransmitted as needed, whole requests only on a very busy host. */
		buf->timeout_ms = 30000;
		buf->retries = -1;
		KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	}
	expect_soon(test, atomic_read(&client->ends) == requests &&
		    atomic_read(&server->ends) == requests);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_SUCCESS]), requests);
	KUNIT_EXPECT_EQ(test, atomic_read(&server->sent[IB_WC_SUCCESS]), requests);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->responses), requests);
	KUNIT_EXPECT_EQ(test, atomic_read(&server->requests), requests);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sum), SEGMENTS * IB_MGMT_SA_DATA);
	KUNIT_EXPECT_EQ(test, client->last_len,
			IB_MGMT_SA_HDR + SEGMENTS * IB_MGMT_SA_DATA - 8);
	KUNIT_EXPECT_EQ(test, server->last_len, IB_MGMT_SA_HDR + 2 * IB_MGMT_SA_DATA);
	ib_unregister_mad_agent(client->agent);
	ib_unregister_mad_agent(server->agent);
}

static void exchange_messages(struct kunit *test, int requests)
{
	struct ib_mad_reg_req req = table_request();
	struct peer *client = new_peer(test);
	struct peer *server = new_peer(test);

	client->agent = ib_register_mad_agent(fixture.a, 1, IB_QPT_GSI, NULL, 1, note_sent,
					      hear_message, client, 0);
	server->agent = ib_register_mad_agent(fixture.b, 1, IB_QPT_GSI, &req, 1, note_sent,
					      hear_message, server, 0);
	exchange(test, client, server, requests);
}

static void messages_at_services(struct kunit *test)
{
	struct ib_mad_qp *at_a = ib_create_mad_qp(fixture.a, 1, 0, 0x11);
	struct ib_mad_qp *at_b = ib_create_mad_qp(fixture.b, 1, 0, 0x11);
	struct ib_mad_reg_req req = table_request();
	struct peer *client = new_peer(test);
	struct peer *server = new_peer(test);

	KUNIT_ASSERT_FALSE(test, IS_ERR(at_a) || IS_ERR(at_b));
	client->agent = ib_register_mad_svc(at_a, NULL, 1, note_sent, hear_message, client, 0);
	server->agent = ib_register_mad_svc(at_b, &req, 1, note_sent, hear_message, server, 0);
	exchange(test, client, server, 2);
	ib_destroy_mad_qp(at_a);
	ib_destroy_mad_qp(at_b);
}

static void messages_in_good_weather(struct kunit *test)
{
	exchange_messages(test, 2);
}

static void messages_in_bad_weather(struct kunit *test)
{
	prandom_seed_state(&rnd, 4711);
	scoped_guard(spinlock_irqsave, &fake_wire.lock)
		fake_wire.deliver = lossy;
	exchange_messages(test, 2);
}

/* Answers with one of two segments, as an agent that does RMPP itself. */
static void send_segment(struct ib_mad_agent *agent, struct ib_mad_recv_wc *rwc, u32 seg)
{
	struct ib_mad_send_buf *buf;
	struct ib_rmpp_mad *mad;

	buf = ib_create_send_mad(agent, rwc->wc->src_qp, 0, 0, IB_MGMT_SA_HDR, IB_MGMT_SA_DATA,
				 GFP_KERNEL, IB_MGMT_BASE_VERSION);
	if (WARN_ON(IS_ERR(buf)))
		return;
	mad = buf->mad;
	memcpy(mad, rwc->recv_buf.mad, IB_MGMT_MAD_HDR);
	mad->mad_hdr.method |= IB_MGMT_METHOD_RESP;
	mad->rmpp_hdr.rmpp_version = IB_MGMT_RMPP_VERSION;
	mad->rmpp_hdr.rmpp_type = IB_MGMT_RMPP_TYPE_DATA;
	ib_set_rmpp_flags(&mad->rmpp_hdr, IB_MGMT_RMPP_FLAG_ACTIVE |
			  (seg == 1 ? IB_MGMT_RMPP_FLAG_FIRST : IB_MGMT_RMPP_FLAG_LAST));
	mad->rmpp_hdr.seg_num = cpu_to_be32(seg);
	buf->ah = ib_create_ah_from_wc(fixture.pd_b, rwc->wc, rwc->recv_buf.grh, 1);
	if (ib_post_send_mad(buf, NULL))
		WARN_ON(1);
}

static void answer_in_two(struct ib_mad_agent *agent, struct ib_mad_send_buf *sent,
			  struct ib_mad_recv_wc *rwc)
{
	send_segment(agent, rwc, 1);
	send_segment(agent, rwc, 2);
	ib_free_recv_mad(rwc);
}

/* The first segment is the response; later ones belong to no request. */
static void segments_of_those_without_rmpp(struct kunit *test)
{
	struct ib_mad_reg_req req = {
		.mgmt_class = IB_MGMT_CLASS_SUBN_ADM, .mgmt_class_version = 2,
	};
	struct peer *client = client_at_a(test), *server = new_peer(test);
	struct ib_mad_send_buf *buf = new_request(test, client, NO_END, 0);
	struct ib_mad_hdr *hdr = buf->mad;

	set_bit(SA_METHOD, req.method_mask);
	server->agent = ib_register_mad_agent(fixture.b, 1, IB_QPT_GSI, &req, 0, note_sent,
					      answer_in_two, server, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(server->agent));
	hdr->mgmt_class = IB_MGMT_CLASS_SUBN_ADM;
	hdr->class_version = 2;
	hdr->method = SA_METHOD;
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	expect_soon(test, atomic_read(&client->ends) == 1 && atomic_read(&client->requests) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->responses), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_SUCCESS]), 1);
	ib_unregister_mad_agent(client->agent);
	ib_unregister_mad_agent(server->agent);
}

/* A length that is near the largest number is refused, before segments are counted. */
static void endless_messages(struct kunit *test)
{
	static const int rest[] = { 0, 1, IB_MGMT_SA_HDR, IB_MGMT_SA_DATA - 2 };
	struct ib_mad_send_buf *buf;
	struct ib_mad_agent *agent;

	agent = ib_register_mad_agent(fixture.a, 1, IB_QPT_GSI, NULL, 1, note_sent, note_recv,
				      NULL, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(agent));
	for (int i = 0; i < ARRAY_SIZE(rest); i++) {
		buf = ib_create_send_mad(agent, 1, 0, 1, IB_MGMT_SA_HDR, INT_MAX - rest[i],
					 GFP_KERNEL, IB_MGMT_BASE_VERSION);
		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR_OR_ZERO(buf), -EINVAL, "INT_MAX - %d", rest[i]);
		if (!IS_ERR(buf))
			ib_free_send_mad(buf);
	}
	ib_unregister_mad_agent(agent);
}

#ifdef CONFIG_FAILSLAB
/* Each allocation of a message fails in turn, until a message needs fewer. */
static void messages_without_memory(struct kunit *test)
{
	const int segments = 10;
	struct ib_mad_send_buf *buf;
	struct ib_mad_agent *agent;
	unsigned int failures = 0;

	agent = ib_register_mad_agent(fixture.a, 1, IB_QPT_GSI, NULL, 1, note_sent, note_recv,
				      NULL, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(agent));
	for (unsigned int nth = 1; nth < 100; nth++) {
		bool spared;

		current->fail_nth = nth;
		buf = ib_create_send_mad(agent, 1, 0, 1, IB_MGMT_SA_HDR,
					 segments * IB_MGMT_SA_DATA, GFP_NOWAIT,
					 IB_MGMT_BASE_VERSION);
		spared = current->fail_nth;
		current->fail_nth = 0;
		if (IS_ERR(buf)) {
			KUNIT_EXPECT_EQ(test, PTR_ERR(buf), -ENOMEM);
			failures++;
		} else {
			ib_free_send_mad(buf);
		}
		if (spared)
			break;
	}
	KUNIT_EXPECT_FALSE(test, IS_ERR(buf));
	/*
	 * The checkers of a debug kernel allocate memory, too, the first time they see a caller,
	 * and work without it. That moves later allocations, so one of the core's may be left out.
	 */
	KUNIT_EXPECT_GT(test, failures, 0);
	ib_unregister_mad_agent(agent);
}
#endif

/* ---- access ---- */

#ifdef CONFIG_SECURITY_INFINIBAND
static int policy_smp, policy_pkey;

static int play_manage_subnet(void *blob, const char *device, u32 port_num)
{
	return policy_smp;
}

/* A security module takes locks that must not be taken with interrupts off. */
static int play_pkey_access(void *blob, u64 subnet_prefix, u16 pkey)
{
	KUNIT_EXPECT_FALSE(kunit_get_current_test(), irqs_disabled());
	return policy_pkey;
}

static void access_is_checked(struct kunit *test)
{
	struct peer *manager = new_peer(test);
	struct peer *client = client_at_a(test);
	struct ib_mad_send_buf *buf;
	struct ib_mad_agent *agent;

	kunit_activate_static_stub(test, mad_access_manage_subnet, play_manage_subnet);
	kunit_activate_static_stub(test, ib_security_pkey_access, play_pkey_access);
	policy_smp = -EACCES;
	agent = ib_register_mad_agent(fixture.a, 1, IB_QPT_SMI, NULL, 0, note_sent, note_recv,
				      NULL, 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(agent), -EACCES);
	policy_smp = 0;
	join(test, manager, fixture.a, IB_QPT_SMI, NULL);
	policy_smp = -EACCES;
	mad_access_policy_changed();
	buf = new_request(test, manager, 10, 0);
	KUNIT_EXPECT_EQ(test, ib_post_send_mad(buf, NULL), -EACCES);
	ib_free_send_mad(buf);

	policy_pkey = -EPERM;
	buf = new_request(test, client, 10, 0);
	KUNIT_EXPECT_EQ(test, ib_post_send_mad(buf, NULL), -EPERM);
	ib_free_send_mad(buf);
	policy_pkey = 0;
	ib_unregister_mad_agent(manager->agent);
	ib_unregister_mad_agent(client->agent);
}
#endif

/* ---- subnet management ---- */

/* The driver answers Gets depending on their attribute. */
static int answer_smp(const struct ib_wc *wc, const struct ib_mad *in, struct ib_mad *out)
{
	if (!in->mad_hdr.attr_id || in->mad_hdr.method != IB_MGMT_METHOD_GET)
		return IB_MAD_RESULT_SUCCESS;
	if (in->mad_hdr.attr_id == IB_SMP_ATTR_NOTICE)
		return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_CONSUMED;
	*out = *in;
	out->mad_hdr.method = IB_MGMT_METHOD_GET_RESP;
	if (in->mad_hdr.mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		out->mad_hdr.status |= IB_SMP_DIRECTION;
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}

static void ask_smp(struct kunit *test, struct peer *user, u8 hops, __be16 attr_id, int timeout_ms)
{
	struct ib_mad_send_buf *buf = new_smp(test, user, timeout_ms, hops, 1);
	struct ib_smp *smp = buf->mad;

	smp->attr_id = attr_id;
	buf->ah = fake_ah(fixture.pd_a, be16_to_cpu(IB_LID_PERMISSIVE));
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
}

static void driver_answers_smps(struct kunit *test)
{
	struct peer *user = new_peer(test);

	fake_wire.process_mad = answer_smp;
	join(test, user, fixture.a, IB_QPT_SMI, NULL);
	/* The destination is this port itself: nothing goes to the wire. */
	ask_smp(test, user, 0, IB_SMP_ATTR_NODE_INFO, NO_END);
	expect_soon(test, atomic_read(&user->ends) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&user->responses), 1);
	KUNIT_EXPECT_EQ(test, fake_wire.sent, 0);
	KUNIT_EXPECT_EQ(test, user->last_status, 0x8000);
	/* The other end of the cable. */
	ask_smp(test, user, 1, IB_SMP_ATTR_NODE_INFO, NO_END);
	expect_soon(test, atomic_read(&user->ends) == 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&user->responses), 2);
	KUNIT_EXPECT_EQ(test, fake_wire.sent, 2);
	/* The driver consumes it: there is no answer. */
	ask_smp(test, user, 1, IB_SMP_ATTR_NOTICE, 20);
	expect_soon(test, atomic_read(&user->ends) == 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&user->sent[IB_WC_RESP_TIMEOUT_ERR]), 1);
	/* Neither the driver nor an agent handles it. */
	ask_smp(test, user, 0, 0, NO_END);
	expect_soon(test, atomic_read(&user->ends) == 4);
	KUNIT_EXPECT_EQ(test, user->last_status,
			0x8000 | IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB);
	ib_unregister_mad_agent(user->agent);
}

static void manager_asks_itself(struct kunit *test)
{
	struct peer *user = new_peer(test);
	struct ib_mad_reg_req req = plain_request(IB_MGMT_METHOD_GET);

	fake_wire.process_mad = answer_smp;
	req.mgmt_class = IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE;
	user->server = true;
	join(test, user, fixture.a, IB_QPT_SMI, &req);
	ask_smp(test, user, 0, 0, NO_END);
	expect_soon(test, atomic_read(&user->ends) == 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&user->requests), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&user->responses), 1);
	KUNIT_EXPECT_EQ(test, fake_wire.sent, 0);
	ib_unregister_mad_agent(user->agent);
}

/*
 * A route that passes the same switch three times: each time it leaves from the first port, and
 * returns at the second. The response takes the same way back.
 */
static void switches_forward(struct kunit *test)
{
	struct ib_device *sw = fake_switch_add(test, "kt_mad_switch", LID_A + 50);
	struct ib_pd *pd = ib_alloc_pd(sw, 0);
	struct peer *user = new_peer(test);
	struct rdma_ah_attr out = { .type = RDMA_AH_ATTR_TYPE_IB };
	struct ib_mad_send_buf *buf;
	struct ib_smp *smp;

	KUNIT_ASSERT_FALSE(test, IS_ERR(pd));
	fake_wire.process_mad = answer_smp;
	user->agent = ib_register_mad_agent(sw, 0, IB_QPT_SMI, NULL, 0, note_sent, note_recv,
					    user, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(user->agent));
	buf = new_smp(test, user, NO_END, 3, 1);
	smp = buf->mad;
	smp->attr_id = IB_SMP_ATTR_NODE_INFO;
	rdma_ah_set_dlid(&out, be16_to_cpu(IB_LID_PERMISSIVE));
	buf->ah = rdma_create_ah(pd, &out, RDMA_CREATE_AH_SLEEPABLE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(buf->ah));
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	expect_soon(test, atomic_read(&user->ends) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&user->responses), 1);
	KUNIT_EXPECT_EQ(test, user->last_status, 0x8000);
	KUNIT_EXPECT_EQ(test, fake_wire.sent, 6);
	KUNIT_EXPECT_EQ(test, fake_wire.lost, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake_wire.process_calls), 2);
	ib_unregister_mad_agent(user->agent);
	ib_dealloc_pd(pd);
	fake_device_remove(sw);
}

static void broken_routes_are_refused(struct kunit *test)
{
	struct peer *user = new_peer(test);
	struct ib_mad_send_buf *buf, *bad = NULL;

	join(test, user, fixture.a, IB_QPT_SMI, NULL);
	buf = new_smp(test, user, 10, 1, 2);
	KUNIT_EXPECT_EQ(test, ib_post_send_mad(buf, &bad), -EINVAL);
	KUNIT_EXPECT_PTR_EQ(test, bad, buf);
	ib_free_send_mad(buf);
	ib_unregister_mad_agent(user->agent);
}

static struct kunit_case message_cases[] = {
	KUNIT_CASE(messages_in_good_weather),
	KUNIT_CASE(messages_at_services),
	KUNIT_CASE_SLOW(messages_in_bad_weather),
	KUNIT_CASE(segments_of_those_without_rmpp),
	KUNIT_CASE(endless_messages),
#ifdef CONFIG_FAILSLAB
	KUNIT_CASE(messages_without_memory),
#endif
#ifdef CONFIG_SECURITY_INFINIBAND
	KUNIT_CASE(access_is_checked),
#endif
	KUNIT_CASE(driver_answers_smps),
	KUNIT_CASE(manager_asks_itself),
	KUNIT_CASE(switches_forward),
	KUNIT_CASE(broken_routes_are_refused),
	{}
};

static struct kunit_suite message_suite = {
	.name = "ib_mad_messages",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = message_cases,
};

kunit_test_suite(message_suite);
