// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: MADs at datagram QPs that are neither QP0 nor QP1. Messages of many segments are in
 * message_test.c.
 */
#include <linux/cleanup.h>
#include <linux/sched.h>
#include <rdma/rdma_ext_mad.h>

#include "fixture.h"

#define QKEY 0x1234

/* Makes a UD QP with these keys. */
static struct ib_mad_qp *keyed_qp_at(struct kunit *test, struct ib_device *device, u16 pkey_index,
				     u32 qkey)
{
	struct ib_mad_qp *mad_qp = ib_create_mad_qp(device, 1, pkey_index, qkey);

	KUNIT_ASSERT_FALSE(test, IS_ERR(mad_qp));
	return mad_qp;
}

static struct ib_mad_qp *qp_at(struct kunit *test, struct ib_device *device)
{
	return keyed_qp_at(test, device, 0, IB_QP1_QKEY);
}

static struct peer *at(struct kunit *test, struct ib_mad_qp *mad_qp, struct ib_mad_reg_req *req)
{
	struct peer *peer = new_peer(test);

	peer->server = !!req;
	peer->agent = ib_register_mad_svc(mad_qp, req, 0, note_sent, note_recv, peer, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(peer->agent));
	return peer;
}

/* Sends a request from QP1, as to a class that has been redirected. */
static void ask_from_qp1(struct kunit *test, struct peer *client, u32 qpn)
{
	struct ib_mad_send_buf *buf = new_request(test, client, NO_END, 0);

	to_mad_send(buf)->wr.remote_qpn = qpn;
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
}

/* Agents of the QP and of QP1 have the same class, and do not receive each other's requests. */
static void services_answer(struct kunit *test)
{
	struct ib_mad_reg_req req = plain_request(IB_MGMT_METHOD_GET);
	struct peer *from_qp1 = client_at_a(test), *at_qp1 = server_at_b(test), *client, *server;
	struct ib_mad_qp *at_a = qp_at(test, fixture.a), *at_b = qp_at(test, fixture.b);

	KUNIT_EXPECT_EQ(test, at_b->qp->qp_num, FAKE_UD_QPN);
	KUNIT_EXPECT_EQ(test, at_b->qp->qp_type, IB_QPT_UD);
	client = at(test, at_a, NULL);
	server = at(test, at_b, &req);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_register_mad_svc(at_b, &req, 0, note_sent, note_recv,
							  client, 0)), -EINVAL);
	KUNIT_EXPECT_PTR_EQ(test, server->agent->qp, at_b->qp);
	ask_from_qp1(test, from_qp1, at_b->qp->qp_num);
	expect_soon(test, atomic_read(&from_qp1->ends) == 1);
	ask(test, client, NO_END, 0);
	expect_soon(test, atomic_read(&client->ends) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->responses), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&from_qp1->responses), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&server->requests), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&at_qp1->requests), 0);
	ask(test, from_qp1, NO_END, 0);
	expect_soon(test, atomic_read(&from_qp1->ends) == 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&server->requests), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&at_qp1->requests), 1);

	/* A request is retransmitted until it is answered, or as often as allowed. */
	atomic_set(&server->ignores, 2);
	ask(test, client, 20, -1);
	expect_soon(test, atomic_read(&client->responses) == 2);
	atomic_set(&server->ignores, 1000);
	ask(test, client, 20, 2);
	expect_soon(test, atomic_read(&client->sent[IB_WC_RESP_TIMEOUT_ERR]) == 1);
	ib_unregister_mad_agent(from_qp1->agent);
	ib_unregister_mad_agent(at_qp1->agent);
	ib_unregister_mad_agent(client->agent);
	ib_unregister_mad_agent(server->agent);
	ib_destroy_mad_qp(at_a);
	ib_destroy_mad_qp(at_b);
}

/* A MAD with another Q_Key or P_Key does not arrive, and agents get the QP's P_Key index. */
static void keys_count(struct kunit *test)
{
	struct ib_mad_reg_req req = plain_request(IB_MGMT_METHOD_GET);
	struct ib_mad_qp *at_b = keyed_qp_at(test, fixture.b, 1, QKEY);
	struct ib_mad_qp *at_a = keyed_qp_at(test, fixture.a, 1, QKEY + 1);
	struct peer *server = at(test, at_b, &req), *client = at(test, at_a, NULL);

	ask(test, client, 20, 0);
	expect_soon(test, atomic_read(&client->sent[IB_WC_RESP_TIMEOUT_ERR]) == 1);
	ib_unregister_mad_agent(client->agent);
	ib_destroy_mad_qp(at_a);

	at_a = keyed_qp_at(test, fixture.a, 0, QKEY);
	client = at(test, at_a, NULL);
	ask(test, client, 20, 0);
	expect_soon(test, atomic_read(&client->sent[IB_WC_RESP_TIMEOUT_ERR]) == 1);
	ib_unregister_mad_agent(client->agent);
	ib_destroy_mad_qp(at_a);
	KUNIT_EXPECT_EQ(test, atomic_read(&server->requests), 0);

	at_a = keyed_qp_at(test, fixture.a, 1, QKEY);
	client = at(test, at_a, NULL);
	ask(test, client, NO_END, 0);
	expect_soon(test, atomic_read(&client->ends) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->responses), 1);
	KUNIT_EXPECT_EQ(test, client->last_pkey_index, 1);
	KUNIT_EXPECT_EQ(test, server->last_pkey_index, 1);
	ib_unregister_mad_agent(client->agent);
	ib_unregister_mad_agent(server->agent);
	ib_destroy_mad_qp(at_a);
	ib_destroy_mad_qp(at_b);
}

/* A failed QP is recovered with its keys. */
static void failed_qp_is_revived(struct kunit *test)
{
	struct ib_mad_reg_req req = plain_request(IB_MGMT_METHOD_GET);
	struct ib_mad_qp *at_a = keyed_qp_at(test, fixture.a, 1, QKEY);
	struct ib_mad_qp *at_b = keyed_qp_at(test, fixture.b, 1, QKEY);
	struct peer *client = at(test, at_a, NULL), *server = at(test, at_b, &req);

	fake_device_break(fixture.a, 1, FAKE_UD_QPN);
	fake_device_break(fixture.b, 1, FAKE_UD_QPN);
	for (int i = 0; i < 20; i++)
		ask(test, client, 100, -1);
	expect_soon(test, atomic_read(&client->ends) == 20);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_SUCCESS]), 20);
	ib_unregister_mad_agent(client->agent);
	ib_unregister_mad_agent(server->agent);
	ib_destroy_mad_qp(at_a);
	ib_destroy_mad_qp(at_b);
}

static int takes_all(const struct ib_wc *wc, const struct ib_mad *in, struct ib_mad *out)
{
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_CONSUMED;
}

/* A request without an agent is refused as at QP1, and the driver is not called. */
static void nobody_takes(struct kunit *test)
{
	struct ib_mad_qp *at_a = qp_at(test, fixture.a), *at_b = qp_at(test, fixture.b);
	struct peer *client = at(test, at_a, NULL);
	int calls = atomic_read(&fake_wire.process_calls);

	fake_wire.process_mad = takes_all;
	ask(test, client, NO_END, 0);
	expect_soon(test, atomic_read(&client->ends) == 1);
	KUNIT_EXPECT_EQ(test, client->last_status, IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB);
	KUNIT_EXPECT_EQ(test, atomic_read(&fake_wire.process_calls), calls);
	fake_wire.process_mad = NULL;
	ib_unregister_mad_agent(client->agent);
	ib_destroy_mad_qp(at_b);
	ib_destroy_mad_qp(at_a);
}

static void refusals(struct kunit *test)
{
	struct ib_mad_reg_req req = {
		.mgmt_class = IB_MGMT_CLASS_SUBN_LID_ROUTED, .mgmt_class_version = 1,
	};
	struct ib_device *mute = fake_device_add(test, "kt_mad_mute", RDMA_CORE_CAP_PROT_IB, 40);
	struct ib_mad_qp *mad_qp = qp_at(test, fixture.a);

	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_create_mad_qp(fixture.a, FAKE_PORTS + 1, 0, QKEY)),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_create_mad_qp(fixture.a, 1, 2, QKEY)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_create_mad_qp(mute, 1, 0, QKEY)), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_register_mad_svc(mad_qp, &req, 0, note_sent, note_recv,
							  NULL, 0)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_register_mad_svc(mad_qp, NULL, 0, NULL, note_recv, NULL,
							  0)), -EINVAL);
	ib_destroy_mad_qp(mad_qp);
	fake_device_remove(mute);
}

/* The QP ends with pending requests, and with an agent. */
static void end_with_requests(struct kunit *test)
{
	struct ib_mad_reg_req req = plain_request(IB_MGMT_METHOD_GET);
	struct ib_mad_qp *at_a = qp_at(test, fixture.a), *at_b = qp_at(test, fixture.b);
	struct peer *client = at(test, at_a, NULL), *server = at(test, at_b, &req);
	struct ib_mad_send_buf *late = new_request(test, client, 10, 0);

	atomic_set(&server->ignores, 1000);
	for (int i = 0; i < 300; i++)
		ask(test, client, 1000000, 0);
	ib_destroy_mad_qp(at_a);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->ends), 300);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_WR_FLUSH_ERR]), 300);
	KUNIT_EXPECT_EQ(test, ib_post_send_mad(late, NULL), -ENODEV);
	ib_free_send_mad(late);
	ib_unregister_mad_agent(client->agent);
	ib_unregister_mad_agent(server->agent);
	ib_destroy_mad_qp(at_b);
}

#ifdef CONFIG_FAILSLAB
/* Whichever allocation fails, nothing of the QP is left. */
static void no_memory(struct kunit *test)
{
	struct ib_mad_qp *mad_qp;
	int spared = 0, failures = 0;

	for (int nth = 1; !spared && nth < 100000; nth += nth / 8 + 1) {
		current->fail_nth = nth;
		mad_qp = ib_create_mad_qp(fixture.a, 1, 0, QKEY);
		spared = current->fail_nth;
		current->fail_nth = 0;
		if (IS_ERR(mad_qp)) {
			failures++;
			KUNIT_EXPECT_EQ(test, PTR_ERR(mad_qp), -ENOMEM);
		} else {
			ib_destroy_mad_qp(mad_qp);
		}
	}
	KUNIT_EXPECT_GT(test, spared, 0);
	if (!failures)
		kunit_skip(test, "failslab spares allocations that may wait");
}
#endif

static struct kunit_case service_cases[] = {
	KUNIT_CASE(services_answer),
	KUNIT_CASE(keys_count),
	KUNIT_CASE(failed_qp_is_revived),
	KUNIT_CASE(nobody_takes),
	KUNIT_CASE(refusals),
	KUNIT_CASE(end_with_requests),
#ifdef CONFIG_FAILSLAB
	KUNIT_CASE(no_memory),
#endif
	{}
};

static struct kunit_suite service_suite = {
	.name = "ib_mad_service",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = service_cases,
};

kunit_test_suite(service_suite);
