// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: agents, and the MADs that they exchange over the fake wire.
 */
#include <linux/cleanup.h>
#include <linux/completion.h>
#include <linux/module.h>
#include <rdma/rdma_ext.h>

#include "fixture.h"

/* ---- registration ---- */

static int try_register(u32 port, enum ib_qp_type type, struct ib_mad_reg_req *req, u8 rmpp,
			u32 flags)
{
	struct ib_mad_agent *agent;

	agent = ib_register_mad_agent(fixture.a, port, type, req, rmpp, note_sent, note_recv,
				      NULL, flags);
	if (IS_ERR(agent))
		return PTR_ERR(agent);
	ib_unregister_mad_agent(agent);
	return 0;
}

static void registrations_are_checked(struct kunit *test)
{
	struct ib_mad_reg_req plain = plain_request(IB_MGMT_METHOD_GET), req = plain;
	struct peer *holder = new_peer(test);

	KUNIT_EXPECT_EQ(test, try_register(1, IB_QPT_GSI, &req, 0, 0), 0);
	KUNIT_EXPECT_EQ(test, try_register(1, IB_QPT_RC, &req, 0, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, try_register(1, IB_QPT_SMI, &req, 0, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, try_register(3, IB_QPT_GSI, &req, 0, 0), -ENODEV);
	KUNIT_EXPECT_EQ(test, try_register(1, IB_QPT_GSI, &req, 1, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, try_register(1, IB_QPT_GSI, NULL, 2, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, try_register(1, IB_QPT_GSI, NULL, 0, IB_MAD_USER_RMPP), -EINVAL);
	KUNIT_EXPECT_EQ(test, try_register(1, IB_QPT_GSI, NULL, 1, IB_MAD_USER_RMPP), 0);
	req.mgmt_class = 0;
	KUNIT_EXPECT_EQ(test, try_register(1, IB_QPT_GSI, &req, 0, 0), -EINVAL);
	req.mgmt_class = IB_MGMT_CLASS_SUBN_LID_ROUTED;
	KUNIT_EXPECT_EQ(test, try_register(1, IB_QPT_GSI, &req, 0, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, try_register(1, IB_QPT_SMI, &req, 0, 0), 0);
	req.mgmt_class = IB_MGMT_CLASS_VENDOR_RANGE2_START;
	KUNIT_EXPECT_EQ(test, try_register(1, IB_QPT_GSI, &req, 0, 0), -EINVAL);
	req.oui[2] = 5;
	KUNIT_EXPECT_EQ(test, try_register(1, IB_QPT_GSI, &req, 1, 0), 0);

	join(test, holder, fixture.a, IB_QPT_GSI, &plain);
	KUNIT_EXPECT_EQ(test, try_register(1, IB_QPT_GSI, &plain, 0, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, try_register(2, IB_QPT_GSI, &plain, 0, 0), 0);
	ib_unregister_mad_agent(holder->agent);
	KUNIT_EXPECT_EQ(test, try_register(1, IB_QPT_GSI, &plain, 0, 0), 0);
}

static void roce_ports_have_no_qp0(struct kunit *test)
{
	struct ib_device *roce = fake_device_add(test, "kt_mad_roce",
						 RDMA_CORE_CAP_PROT_IB | RDMA_CORE_CAP_IB_MAD, 40);
	struct ib_mad_agent *agent;

	agent = ib_register_mad_agent(roce, 1, IB_QPT_SMI, NULL, 0, note_sent, note_recv, NULL,
				      0);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(agent), -EPROTONOSUPPORT);
	agent = ib_register_mad_agent(roce, 1, IB_QPT_GSI, NULL, 0, note_sent, note_recv, NULL,
				      0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(agent));
	ib_unregister_mad_agent(agent);
	fake_device_remove(roce);
}

/* ---- answers of agents ---- */

static struct ib_mad last_answer;

static void answer_it(struct ib_mad_agent *agent, struct ib_mad_send_buf *sent,
		      struct ib_mad_recv_wc *rwc)
{
	struct peer *peer = agent->context;
	struct ib_mad_send_buf *reply;

	atomic_inc(&peer->requests);
	reply = ib_create_mad_reply(agent, rwc, IB_MGMT_MAD_HDR, IB_MGMT_MAD_DATA);
	if (WARN_ON(IS_ERR(reply))) {
		ib_free_recv_mad(rwc);
		return;
	}
	if (WARN_ON(ib_post_send_mad(reply, NULL)))
		ib_free_mad_reply(reply);
	ib_free_recv_mad(rwc);
}

static void answer_ended(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	struct peer *peer = agent->context;

	ib_free_mad_reply(wc->send_buf);
	atomic_inc(&peer->sent[wc->status]);
	atomic_inc(&peer->ends);
	wake_up_all(&fixture.progress);
}

static void keep_answer(struct ib_mad_agent *agent, struct ib_mad_send_buf *sent,
			struct ib_mad_recv_wc *rwc)
{
	last_answer = *rwc->recv_buf.mad;
	note_recv(agent, sent, rwc);
}

static void agents_answer(struct kunit *test)
{
	static const u8 nothing[IB_MGMT_MAD_DATA];
	struct ib_mad_reg_req req = plain_request(IB_MGMT_METHOD_SET);
	struct peer *client = new_peer(test), *server = new_peer(test);
	struct ib_mad_send_buf *buf;
	struct ib_mad *mad;

	client->agent = ib_register_mad_agent(fixture.a, 1, IB_QPT_GSI, NULL, 0, note_sent,
					      keep_answer, client, 0);
	server->agent = ib_register_mad_agent(fixture.b, 1, IB_QPT_GSI, &req, 0, answer_ended,
					      answer_it, server, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(client->agent) || IS_ERR(server->agent));
	buf = new_request(test, client, NO_END, 0);
	mad = buf->mad;
	mad->mad_hdr.method = IB_MGMT_METHOD_SET;
	mad->mad_hdr.attr_id = cpu_to_be16(0x12);
	mad->mad_hdr.attr_mod = cpu_to_be32(0x345678);
	memset(mad->data, 0xff, sizeof(mad->data));
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	expect_soon(test, atomic_read(&client->ends) == 1 && atomic_read(&server->ends) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->responses), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&server->sent[IB_WC_SUCCESS]), 1);
	KUNIT_EXPECT_EQ(test, last_answer.mad_hdr.method, IB_MGMT_METHOD_GET_RESP);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(last_answer.mad_hdr.status), 0);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(last_answer.mad_hdr.attr_id), 0x12);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(last_answer.mad_hdr.attr_mod), 0x345678);
	KUNIT_EXPECT_MEMEQ(test, last_answer.data, nothing, sizeof(nothing));
	ib_unregister_mad_agent(client->agent);
	ib_unregister_mad_agent(server->agent);
}

static const struct {
	u8 class, method, answer;
} answers[] = {
	{ CLASS_PLAIN, IB_MGMT_METHOD_GET, IB_MGMT_METHOD_GET_RESP },
	{ CLASS_PLAIN, IB_MGMT_METHOD_SET, IB_MGMT_METHOD_GET_RESP },
	{ CLASS_PLAIN, IB_MGMT_METHOD_TRAP, IB_MGMT_METHOD_TRAP_REPRESS },
	{ CLASS_PLAIN, IB_MGMT_METHOD_REPORT, IB_MGMT_METHOD_REPORT_RESP },
	{ CLASS_PLAIN, 0x12, 0x92 },
	/* These are no requests, or have a directed route. */
	{ CLASS_PLAIN, IB_MGMT_METHOD_GET_RESP },
	{ CLASS_PLAIN, IB_MGMT_METHOD_TRAP_REPRESS },
	{ IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE, IB_MGMT_METHOD_GET },
};

static void methods_are_answered(struct kunit *test)
{
	struct ib_mad_reg_req req = plain_request(IB_MGMT_METHOD_GET);
	struct ib_mad *mad = kunit_kzalloc(test, sizeof(*mad), GFP_KERNEL);
	struct peer *server = new_peer(test);
	struct ib_grh grh = { .version_tclass_flow = cpu_to_be32(6 << 28) };
	struct ib_wc wc = { .slid = LID_A, .src_qp = 0x23, .port_num = 1 };
	struct ib_mad_recv_wc rwc = { .wc = &wc, .recv_buf = { .grh = &grh, .mad = mad } };
	struct ib_mad_send_buf *reply;

	KUNIT_ASSERT_NOT_NULL(test, mad);
	join(test, server, fixture.b, IB_QPT_GSI, &req);
	mad->mad_hdr.base_version = IB_MGMT_BASE_VERSION;
	mad->mad_hdr.tid = cpu_to_be64(0x123456789abc);
	for (unsigned int i = 0; i < ARRAY_SIZE(answers); i++) {
		const struct ib_mad_hdr *hdr;

		mad->mad_hdr.mgmt_class = answers[i].class;
		mad->mad_hdr.method = answers[i].method;
		mad->mad_hdr.status = cpu_to_be16(0x1c);
		reply = ib_create_mad_reply(server->agent, &rwc, IB_MGMT_MAD_HDR,
					    IB_MGMT_MAD_DATA);
		if (!answers[i].answer) {
			KUNIT_EXPECT_EQ_MSG(test, PTR_ERR_OR_ZERO(reply), -EINVAL, "row %u", i);
			continue;
		}
		KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(reply), "row %u", i);
		hdr = reply->mad;
		KUNIT_EXPECT_EQ_MSG(test, hdr->method, answers[i].answer, "row %u", i);
		KUNIT_EXPECT_EQ(test, hdr->mgmt_class, answers[i].class);
		KUNIT_EXPECT_EQ(test, be64_to_cpu(hdr->tid), 0x123456789abc);
		KUNIT_EXPECT_EQ(test, be16_to_cpu(hdr->status), 0);
		KUNIT_EXPECT_NOT_NULL(test, reply->ah);
		ib_free_mad_reply(reply);
	}
	/* No reply is possible, because the packet was for a GID that the port does not have. */
	mad->mad_hdr.mgmt_class = CLASS_PLAIN;
	mad->mad_hdr.method = IB_MGMT_METHOD_GET;
	wc.wc_flags = IB_WC_GRH;
	grh.dgid.raw[0] = 0xfd;
	reply = ib_create_mad_reply(server->agent, &rwc, IB_MGMT_MAD_HDR, IB_MGMT_MAD_DATA);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(reply), -ENOENT);
	ib_unregister_mad_agent(server->agent);
}

/* ---- requests ---- */

static void requests_are_answered(struct kunit *test)
{
	struct peer *client = client_at_a(test), *server = server_at_b(test);

	ask(test, client, NO_END, 0);
	expect_soon(test, atomic_read(&client->ends) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->responses), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_SUCCESS]), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->early), 0);
	KUNIT_EXPECT_EQ(test, client->last_status, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&server->requests), 1);
	/* A MAD that expects no response ends when it has been sent. */
	ask(test, client, 0, 0);
	expect_soon(test, atomic_read(&client->ends) == 2);
	expect_soon(test, atomic_read(&server->ends) == 2);
	ib_unregister_mad_agent(client->agent);
	ib_unregister_mad_agent(server->agent);
}

static void response_may_come_before_completion(struct kunit *test)
{
	struct peer *client = client_at_a(test), *server = server_at_b(test);

	fake_wire.hold = true;
	ask(test, client, NO_END, 0);
	expect_soon(test, atomic_read(&client->responses) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->ends), 0);
	fake_wire_release();
	expect_soon(test, atomic_read(&client->ends) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_SUCCESS]), 1);
	ib_unregister_mad_agent(client->agent);
	ib_unregister_mad_agent(server->agent);
}

static void nobody_serves(struct kunit *test)
{
	struct peer *client = client_at_a(test);

	ask(test, client, NO_END, 0);
	expect_soon(test, atomic_read(&client->ends) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->responses), 1);
	KUNIT_EXPECT_EQ(test, client->last_status,
			IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB);
	ib_unregister_mad_agent(client->agent);
}

static void requests_time_out(struct kunit *test)
{
	struct peer *client = client_at_a(test), *server = server_at_b(test);

	atomic_set(&server->ignores, 4);
	ask(test, client, 20, 3);
	expect_soon(test, atomic_read(&client->ends) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_RESP_TIMEOUT_ERR]), 1);
	KUNIT_EXPECT_EQ(test, client->retries, 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->responses), 0);
	expect_soon(test, atomic_read(&server->requests) == 4);

	/* The third transmission is answered, however many follow it before the answer arrives. */
	atomic_set(&server->ignores, 2);
	ask(test, client, 50, -1);
	expect_soon(test, atomic_read(&client->ends) == 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_SUCCESS]), 1);
	KUNIT_EXPECT_GE(test, client->retries, 2);
	ib_unregister_mad_agent(client->agent);
	ib_unregister_mad_agent(server->agent);
}

/* A negative time-out never expires; it differs from 0, as the response is waited for. */
static void requests_without_end(struct kunit *test)
{
	struct peer *client = client_at_a(test), *server = server_at_b(test);

	ask(test, client, -1, 0);
	expect_soon(test, atomic_read(&client->ends) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->responses), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_SUCCESS]), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->early), 0);

	/* It is retransmitted as often as needed. */
	atomic_set(&server->ignores, 3);
	ask(test, client, 20, -1);
	expect_soon(test, atomic_read(&client->ends) == 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->responses), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_SUCCESS]), 2);
	ib_unregister_mad_agent(client->agent);
	ib_unregister_mad_agent(server->agent);
}

static void requests_are_cancelled(struct kunit *test)
{
	struct peer *client = client_at_a(test), *server = server_at_b(test);
	struct ib_mad_send_buf *buf = new_request(test, client, 1000000, 0);

	atomic_set(&server->ignores, 1000);
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	KUNIT_EXPECT_EQ(test, ib_modify_mad(buf, 500000), 0);
	ib_cancel_mad(buf);
	expect_soon(test, atomic_read(&client->ends) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_WR_FLUSH_ERR]), 1);

	/* A shorter time-out begins now. */
	buf = new_request(test, client, 1000000, 0);
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	expect_soon(test, atomic_read(&server->requests) == 2);
	KUNIT_EXPECT_EQ(test, ib_modify_mad(buf, 20), 0);
	expect_soon(test, atomic_read(&client->ends) == 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_RESP_TIMEOUT_ERR]), 1);

	/* A MAD that was not posted has no time-out to change. */
	buf = new_request(test, client, 10, 0);
	KUNIT_EXPECT_EQ(test, ib_modify_mad(buf, 0), -EINVAL);
	ib_free_send_mad(buf);
	ib_unregister_mad_agent(client->agent);
	ib_unregister_mad_agent(server->agent);
}

static void unregistration_ends_requests(struct kunit *test)
{
	struct peer *client = client_at_a(test), *server = server_at_b(test);

	atomic_set(&server->ignores, 1000);
	for (int i = 0; i < 500; i++)
		ask(test, client, 1000000, 0);
	ib_unregister_mad_agent(client->agent);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->ends), 500);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_WR_FLUSH_ERR]), 500);
	ib_unregister_mad_agent(server->agent);
}

/**
 * struct lingerer - an agent whose send handler frees its buffer and returns late
 * @inside: completed by the handler when it has freed the buffer
 * @unregistered: completed by the test when the agent is unregistered
 * @returned: completed by the handler at its end
 * @early: the agent was unregistered before the handler had returned
 */
struct lingerer {
	struct completion inside, unregistered, returned;
	bool early;
};

static void linger(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	struct lingerer *lingerer = agent->context;

	ib_free_send_mad(wc->send_buf);
	complete(&lingerer->inside);
	lingerer->early = wait_for_completion_timeout(&lingerer->unregistered, HZ / 2);
	complete(&lingerer->returned);
}

/* The memory to which a handler's context points may be freed when the agent is unregistered. */
static void unregistration_waits_for_send_handlers(struct kunit *test)
{
	struct lingerer *lingerer = kunit_kzalloc(test, sizeof(*lingerer), GFP_KERNEL);
	struct peer *client = new_peer(test);

	KUNIT_ASSERT_NOT_NULL(test, lingerer);
	init_completion(&lingerer->inside);
	init_completion(&lingerer->unregistered);
	init_completion(&lingerer->returned);
	client->agent = ib_register_mad_agent(fixture.a, 1, IB_QPT_GSI, NULL, 0, linger, NULL,
					      lingerer, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(client->agent));
	ask(test, client, 0, 0);
	wait_for_completion(&lingerer->inside);
	ib_unregister_mad_agent(client->agent);
	complete(&lingerer->unregistered);
	wait_for_completion(&lingerer->returned);
	KUNIT_EXPECT_FALSE(test, lingerer->early);
}

/**
 * struct bystander - an agent whose first send handler waits, and whose second records its task
 * @inside: completed by the first
 * @go: completed by the test to let the first return
 * @calls: number of calls of the handler
 * @ends: number of its returns
 * @second: the task that ran the second
 */
struct bystander {
	struct completion inside, go;
	atomic_t calls, ends;
	struct task_struct *second;
};

static void stand_by(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	struct bystander *bystander = agent->context;

	ib_free_send_mad(wc->send_buf);
	if (atomic_inc_return(&bystander->calls) > 1) {
		bystander->second = current;
	} else {
		complete(&bystander->inside);
		wait_for_completion(&bystander->go);
	}
	atomic_inc(&bystander->ends);
	wake_up_all(&fixture.progress);
}

/* A task that unregisters an agent may hold a lock that other agents' handlers take. */
static void unregistration_runs_no_others_handlers(struct kunit *test)
{
	struct bystander *bystander = kunit_kzalloc(test, sizeof(*bystander), GFP_KERNEL);
	struct peer *client = client_at_a(test), *server = server_at_b(test);
	struct peer *other = new_peer(test);
	struct ib_mad_send_buf *first, *second;

	KUNIT_ASSERT_NOT_NULL(test, bystander);
	init_completion(&bystander->inside);
	init_completion(&bystander->go);
	atomic_set(&server->ignores, 1000);
	other->agent = ib_register_mad_agent(fixture.a, 1, IB_QPT_GSI, NULL, 0, stand_by, note_recv,
					     bystander, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(other->agent));
	first = new_request(test, other, 1000000, 0);
	second = new_request(test, other, 1000000, 0);
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(first, NULL), 0);
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(second, NULL), 0);
	/* The work item is in the first handler, so the second one has not been called. */
	expect_soon(test, atomic_read(&server->requests) == 2);
	ib_cancel_mad(first);
	wait_for_completion(&bystander->inside);
	ib_cancel_mad(second);
	ib_unregister_mad_agent(client->agent);
	complete(&bystander->go);
	expect_soon(test, atomic_read(&bystander->ends) == 2);
	KUNIT_EXPECT_PTR_NE(test, bystander->second, current);
	ib_unregister_mad_agent(other->agent);
	ib_unregister_mad_agent(server->agent);
}

#define THOUSANDS 2048

/* The queues do not hold as many requests: lost ones are retransmitted. */
static void more_requests_than_receives(struct kunit *test)
{
	struct peer *client = client_at_a(test), *server = server_at_b(test);
	const int many = max_t(int, 6 * to_mad_agent(server->agent)->qp->wanted, THOUSANDS);

	/*
	 * More requests than there are receives, so that some are lost and retransmitted. The
	 * time-out is long enough for a slow machine to have handled the others by then.
	 */
	for (int i = 0; i < many; i++)
		ask(test, client, 4000, -1);
	expect_soon(test, atomic_read(&client->ends) == many);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->responses), many);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_SUCCESS]), many);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->early), 0);
	ib_unregister_mad_agent(client->agent);
	ib_unregister_mad_agent(server->agent);
}

/* An agent's single MAD does not wait for the hundreds of another agent. */
static void agents_take_turns(struct kunit *test)
{
	struct peer *flood = client_at_a(test), *other = client_at_a(test);
	const int many = max_t(int, 4 * to_mad_agent(flood->agent)->qp->room, THOUSANDS);

	fake_wire.hold = true;
	for (int i = 0; i < many; i++)
		ask(test, flood, 0, 0);
	ask(test, other, 0, 0);
	other->watched = flood;
	fake_wire_release();
	expect_soon(test, atomic_read(&other->ends) == 1 && atomic_read(&flood->ends) == many);
	KUNIT_EXPECT_LT(test, other->seen, many / 2);
	ib_unregister_mad_agent(flood->agent);
	ib_unregister_mad_agent(other->agent);
}

/* The upper halves of TIDs have 24 bits, 0 is not used, and those in use are skipped. */
static void tids_of_agents_come_round(struct kunit *test)
{
	struct peer *server = server_at_b(test), *client[5];

	client[0] = client_at_a(test);
	mad_next_hi_tid = MAD_MAX_HI_TID - 1;
	for (int i = 1; i < ARRAY_SIZE(client); i++) {
		if (i == 4)
			mad_next_hi_tid = client[0]->agent->hi_tid;
		client[i] = client_at_a(test);
	}
	KUNIT_EXPECT_EQ(test, client[1]->agent->hi_tid, MAD_MAX_HI_TID - 1);
	KUNIT_EXPECT_EQ(test, client[2]->agent->hi_tid, MAD_MAX_HI_TID);
	KUNIT_EXPECT_NE(test, client[3]->agent->hi_tid, 0);
	KUNIT_EXPECT_LT(test, client[3]->agent->hi_tid, MAD_MAX_HI_TID - 1);
	KUNIT_EXPECT_GT(test, client[4]->agent->hi_tid, client[0]->agent->hi_tid);
	for (int i = 0; i < ARRAY_SIZE(client); i++) {
		ask(test, client[i], NO_END, 0);
		expect_soon(test, atomic_read(&client[i]->ends) == 1);
		KUNIT_EXPECT_EQ(test, atomic_read(&client[i]->responses), 1);
	}
	for (int i = 0; i < ARRAY_SIZE(client); i++)
		ib_unregister_mad_agent(client[i]->agent);
	ib_unregister_mad_agent(server->agent);
}

static struct kunit_case mad_cases[] = {
	KUNIT_CASE(registrations_are_checked),
	KUNIT_CASE(roce_ports_have_no_qp0),
	KUNIT_CASE(requests_are_answered),
	KUNIT_CASE(agents_answer),
	KUNIT_CASE(methods_are_answered),
	KUNIT_CASE(response_may_come_before_completion),
	KUNIT_CASE(nobody_serves),
	KUNIT_CASE(requests_time_out),
	KUNIT_CASE(requests_without_end),
	KUNIT_CASE(requests_are_cancelled),
	KUNIT_CASE(unregistration_ends_requests),
	KUNIT_CASE(unregistration_waits_for_send_handlers),
	KUNIT_CASE(unregistration_runs_no_others_handlers),
	KUNIT_CASE_SLOW(more_requests_than_receives),
	KUNIT_CASE_SLOW(agents_take_turns),
	KUNIT_CASE(tids_of_agents_come_round),
	{}
};

static struct kunit_suite mad_suite = {
	.name = "ib_mad",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = mad_cases,
};

kunit_test_suite(mad_suite);

MODULE_DESCRIPTION("KUnit tests of management datagrams");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
