// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: agents, the MADs that they exchange over the fake wire, and what may go wrong.
 */
#include <kunit/static_stub.h>
#include <linux/cleanup.h>
#include <linux/completion.h>
#include <linux/module.h>
#include <rdma/rdma_ext.h>

#include "bench.h"

/* ---- registration ---- */

static int try_register(u32 port, enum ib_qp_type type, struct ib_mad_reg_req *req, u8 rmpp,
			u32 flags)
{
	struct ib_mad_agent *agent;

	agent = ib_register_mad_agent(bench.a, port, type, req, rmpp, bench_ended, bench_hear,
				      NULL, flags);
	if (IS_ERR(agent))
		return PTR_ERR(agent);
	ib_unregister_mad_agent(agent);
	return 0;
}

static void registrations_are_checked(struct kunit *test)
{
	struct ib_mad_reg_req plain = plain_request(IB_MGMT_METHOD_GET), req = plain;
	struct party *holder = new_party(test);

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

	join(test, holder, bench.a, IB_QPT_GSI, &plain);
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

	agent = ib_register_mad_agent(roce, 1, IB_QPT_SMI, NULL, 0, bench_ended, bench_hear, NULL,
				      0);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(agent), -EPROTONOSUPPORT);
	agent = ib_register_mad_agent(roce, 1, IB_QPT_GSI, NULL, 0, bench_ended, bench_hear, NULL,
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
	struct party *party = agent->context;
	struct ib_mad_send_buf *reply;

	atomic_inc(&party->requests);
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
	struct party *party = agent->context;

	ib_free_mad_reply(wc->send_buf);
	atomic_inc(&party->sent[wc->status]);
	atomic_inc(&party->ends);
	wake_up_all(&bench.news);
}

static void keep_answer(struct ib_mad_agent *agent, struct ib_mad_send_buf *sent,
			struct ib_mad_recv_wc *rwc)
{
	last_answer = *rwc->recv_buf.mad;
	bench_hear(agent, sent, rwc);
}

static void agents_answer(struct kunit *test)
{
	static const u8 nothing[IB_MGMT_MAD_DATA];
	struct ib_mad_reg_req req = plain_request(IB_MGMT_METHOD_SET);
	struct party *client = new_party(test), *server = new_party(test);
	struct ib_mad_send_buf *buf;
	struct ib_mad *mad;

	client->agent = ib_register_mad_agent(bench.a, 1, IB_QPT_GSI, NULL, 0, bench_ended,
					      keep_answer, client, 0);
	server->agent = ib_register_mad_agent(bench.b, 1, IB_QPT_GSI, &req, 0, answer_ended,
					      answer_it, server, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(client->agent) || IS_ERR(server->agent));
	buf = new_request(test, client, 5000, 0);
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
	/* What is no request, and what goes another way */
	{ CLASS_PLAIN, IB_MGMT_METHOD_GET_RESP },
	{ CLASS_PLAIN, IB_MGMT_METHOD_TRAP_REPRESS },
	{ IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE, IB_MGMT_METHOD_GET },
};

static void methods_are_answered(struct kunit *test)
{
	struct ib_mad_reg_req req = plain_request(IB_MGMT_METHOD_GET);
	struct ib_mad *mad = kunit_kzalloc(test, sizeof(*mad), GFP_KERNEL);
	struct party *server = new_party(test);
	struct ib_grh grh = { .version_tclass_flow = cpu_to_be32(6 << 28) };
	struct ib_wc wc = { .slid = LID_A, .src_qp = 0x23, .port_num = 1 };
	struct ib_mad_recv_wc rwc = { .wc = &wc, .recv_buf = { .grh = &grh, .mad = mad } };
	struct ib_mad_send_buf *reply;

	KUNIT_ASSERT_NOT_NULL(test, mad);
	join(test, server, bench.b, IB_QPT_GSI, &req);
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
	/* No way back: the packet was for a GID that the port has not. */
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
	struct party *client = client_at_a(test), *server = server_at_b(test);

	ask(test, client, 5000, 0);
	expect_soon(test, atomic_read(&client->ends) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->responses), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_SUCCESS]), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->early), 0);
	KUNIT_EXPECT_EQ(test, client->last_status, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&server->requests), 1);
	/* A MAD that awaits no response ends when it is sent. */
	ask(test, client, 0, 0);
	expect_soon(test, atomic_read(&client->ends) == 2);
	expect_soon(test, atomic_read(&server->ends) == 2);
	ib_unregister_mad_agent(client->agent);
	ib_unregister_mad_agent(server->agent);
}

static void response_may_come_before_completion(struct kunit *test)
{
	struct party *client = client_at_a(test), *server = server_at_b(test);

	fake_wire.hold = true;
	ask(test, client, 5000, 0);
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
	struct party *client = client_at_a(test);

	ask(test, client, 5000, 0);
	expect_soon(test, atomic_read(&client->ends) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->responses), 1);
	KUNIT_EXPECT_EQ(test, client->last_status,
			IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB);
	ib_unregister_mad_agent(client->agent);
}

static void requests_time_out(struct kunit *test)
{
	struct party *client = client_at_a(test), *server = server_at_b(test);

	atomic_set(&server->deaf, 4);
	ask(test, client, 20, 3);
	expect_soon(test, atomic_read(&client->ends) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_RESP_TIMEOUT_ERR]), 1);
	KUNIT_EXPECT_EQ(test, client->retries, 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->responses), 0);
	expect_soon(test, atomic_read(&server->requests) == 4);

	/* The third try is answered, however many follow it before the answer is there. */
	atomic_set(&server->deaf, 2);
	ask(test, client, 50, -1);
	expect_soon(test, atomic_read(&client->ends) == 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_SUCCESS]), 1);
	KUNIT_EXPECT_GE(test, client->retries, 2);
	ib_unregister_mad_agent(client->agent);
	ib_unregister_mad_agent(server->agent);
}

/* A negative time has no end, which is not the same as no time: the response is waited for. */
static void requests_without_end(struct kunit *test)
{
	struct party *client = client_at_a(test), *server = server_at_b(test);

	ask(test, client, -1, 0);
	expect_soon(test, atomic_read(&client->ends) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->responses), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_SUCCESS]), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->early), 0);

	/* As many retries as it takes */
	atomic_set(&server->deaf, 3);
	ask(test, client, 20, -1);
	expect_soon(test, atomic_read(&client->ends) == 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->responses), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_SUCCESS]), 2);
	ib_unregister_mad_agent(client->agent);
	ib_unregister_mad_agent(server->agent);
}

static void requests_are_cancelled(struct kunit *test)
{
	struct party *client = client_at_a(test), *server = server_at_b(test);
	struct ib_mad_send_buf *buf = new_request(test, client, 1000000, 0);

	atomic_set(&server->deaf, 1000);
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	KUNIT_EXPECT_EQ(test, ib_modify_mad(buf, 500000), 0);
	ib_cancel_mad(buf);
	expect_soon(test, atomic_read(&client->ends) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_WR_FLUSH_ERR]), 1);

	/* A shorter time counts from now. */
	buf = new_request(test, client, 1000000, 0);
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	expect_soon(test, atomic_read(&server->requests) == 2);
	KUNIT_EXPECT_EQ(test, ib_modify_mad(buf, 20), 0);
	expect_soon(test, atomic_read(&client->ends) == 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_RESP_TIMEOUT_ERR]), 1);

	/* One that was not posted cannot be. */
	buf = new_request(test, client, 10, 0);
	KUNIT_EXPECT_EQ(test, ib_modify_mad(buf, 0), -EINVAL);
	ib_free_send_mad(buf);
	ib_unregister_mad_agent(client->agent);
	ib_unregister_mad_agent(server->agent);
}

static void unregistration_ends_requests(struct kunit *test)
{
	struct party *client = client_at_a(test), *server = server_at_b(test);

	atomic_set(&server->deaf, 1000);
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
 * @unregistered: completed by the test when the agent is gone
 * @returned: completed by the handler at its end
 * @early: the agent was gone before the handler had returned
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

/* What a handler's context points to may be freed when the agent is unregistered. */
static void unregistration_waits_for_send_handlers(struct kunit *test)
{
	struct lingerer *lingerer = kunit_kzalloc(test, sizeof(*lingerer), GFP_KERNEL);
	struct party *client = new_party(test);

	KUNIT_ASSERT_NOT_NULL(test, lingerer);
	init_completion(&lingerer->inside);
	init_completion(&lingerer->unregistered);
	init_completion(&lingerer->returned);
	client->agent = ib_register_mad_agent(bench.a, 1, IB_QPT_GSI, NULL, 0, linger, NULL,
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
 * struct bystander - an agent whose first send handler waits, and whose second says where it runs
 * @inside: completed by the first
 * @go: completed by the test
 * @ends: sends that have ended
 * @second: which task handled the second
 */
struct bystander {
	struct completion inside, go;
	atomic_t ends;
	struct task_struct *second;
};

static void stand_by(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	struct bystander *bystander = agent->context;

	ib_free_send_mad(wc->send_buf);
	if (atomic_read(&bystander->ends)) {
		bystander->second = current;
	} else {
		complete(&bystander->inside);
		wait_for_completion(&bystander->go);
	}
	atomic_inc(&bystander->ends);
	wake_up_all(&bench.news);
}

/* Whoever ends an agent may hold what other agents' handlers want. */
static void unregistration_runs_no_others_handlers(struct kunit *test)
{
	struct bystander *bystander = kunit_kzalloc(test, sizeof(*bystander), GFP_KERNEL);
	struct party *client = client_at_a(test), *server = server_at_b(test);
	struct party *other = new_party(test);
	struct ib_mad_send_buf *first, *second;

	KUNIT_ASSERT_NOT_NULL(test, bystander);
	init_completion(&bystander->inside);
	init_completion(&bystander->go);
	atomic_set(&server->deaf, 1000);
	other->agent = ib_register_mad_agent(bench.a, 1, IB_QPT_GSI, NULL, 0, stand_by, bench_hear,
					     bystander, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(other->agent));
	first = new_request(test, other, 1000000, 0);
	second = new_request(test, other, 1000000, 0);
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(first, NULL), 0);
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(second, NULL), 0);
	/* The handlers' work is in the first one, so that the second one's turn has not come. */
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

/* More than the queues hold: what is lost on the way is sent again. */
static void thousands_of_requests(struct kunit *test)
{
	struct party *client = client_at_a(test), *server = server_at_b(test);
	const int many = 3000;

	/*
	 * More requests than there are receives, so that some are lost and come again. They come
	 * after so long that a slow machine has done with the others by then.
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

/* An agent's single MAD does not wait behind the thousands of another agent. */
static void agents_take_turns(struct kunit *test)
{
	struct party *flood = client_at_a(test), *other = client_at_a(test);
	const int many = 1000;

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

/* ---- failures ---- */

static void failed_send_stops_no_other(struct kunit *test)
{
	struct party *client = client_at_a(test), *server = server_at_b(test);

	scoped_guard(spinlock_irqsave, &fake_wire.lock)
		fake_wire.fail_in = 3;
	for (int i = 0; i < 50; i++)
		ask(test, client, 500, -1);
	expect_soon(test, atomic_read(&client->ends) == 50);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_SUCCESS]) +
			      atomic_read(&client->sent[IB_WC_LOC_QP_OP_ERR]), 50);
	KUNIT_EXPECT_EQ(test, atomic_read(&server->sent[IB_WC_LOC_QP_OP_ERR]) +
			      atomic_read(&client->sent[IB_WC_LOC_QP_OP_ERR]), 1);
	ib_unregister_mad_agent(client->agent);
	ib_unregister_mad_agent(server->agent);
}

static void dead_qp_is_revived(struct kunit *test)
{
	struct party *client = client_at_a(test), *server = server_at_b(test);

	fake_device_break(bench.a, 1, 1);
	fake_device_break(bench.b, 1, 1);
	for (int i = 0; i < 20; i++)
		ask(test, client, 100, 100);
	expect_soon(test, atomic_read(&client->ends) == 20);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_SUCCESS]), 20);
	ib_unregister_mad_agent(client->agent);
	ib_unregister_mad_agent(server->agent);
}

/* Again while receives are posted to it: they come back as fast as they are posted. */
static void revived_qp_dies_again(struct kunit *test)
{
	struct party *client = client_at_a(test), *server = server_at_b(test);

	scoped_guard(spinlock_irqsave, &fake_wire.lock)
		fake_wire.break_in = 100;
	fake_device_break(bench.a, 1, 1);
	expect_soon(test, !READ_ONCE(fake_wire.break_in));
	for (int i = 0; i < 20; i++)
		ask(test, client, 100, -1);
	expect_soon(test, atomic_read(&client->ends) == 20);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_SUCCESS]), 20);
	ib_unregister_mad_agent(client->agent);
	ib_unregister_mad_agent(server->agent);
}

static void removal_ends_everything(struct kunit *test)
{
	struct party *client = client_at_a(test), *held = client_at_a(test);
	struct party *server = server_at_b(test);
	struct ib_mad_send_buf *late;

	atomic_set(&server->deaf, 100000);
	for (int i = 0; i < 300; i++)
		ask(test, client, 1000000, 1000);
	expect_soon(test, atomic_read(&server->requests) > 100);
	scoped_guard(spinlock_irqsave, &fake_wire.lock)
		fake_wire.hold = true;
	for (int i = 0; i < 1000; i++)
		ask(test, held, i & 1 ? 1000000 : 0, 1000);
	late = new_request(test, client, 10, 0);
	rdma_destroy_ah(bench.to_b, RDMA_DESTROY_AH_SLEEPABLE);
	ib_dealloc_pd(bench.pd_a);
	bench.pd_a = NULL;
	fake_device_remove(bench.a);
	bench.a = NULL;
	KUNIT_EXPECT_EQ(test, atomic_read(&client->ends), 300);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_WR_FLUSH_ERR]), 300);
	KUNIT_EXPECT_EQ(test, atomic_read(&held->ends), 1000);
	KUNIT_EXPECT_EQ(test, ib_post_send_mad(late, NULL), -ENODEV);
	ib_free_send_mad(late);
	ib_unregister_mad_agent(client->agent);
	ib_unregister_mad_agent(held->agent);
	scoped_guard(spinlock_irqsave, &fake_wire.lock)
		fake_wire.hold = false;
	ib_unregister_mad_agent(server->agent);
}

/**
 * struct late - a server that is slow with its first request, on a device that is removed
 * @device: the device
 * @work: removes it
 * @inside: completed by the handler in the first request
 * @go: lets it go on
 * @requests: that it has got
 */
struct late {
	struct ib_device *device;
	struct work_struct work;
	struct completion inside, go;
	unsigned int requests;
};

static void hear_late(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
		      struct ib_mad_recv_wc *rwc)
{
	struct late *late = agent->context;

	ib_free_recv_mad(rwc);
	if (late->requests++)
		return;
	complete(&late->inside);
	wait_for_completion(&late->go);
}

static void remove_work(struct work_struct *work)
{
	fake_device_remove(container_of(work, struct late, work)->device);
}

/* What has arrived is replaced while the QP is being drained: that ends with it, too. */
static void receives_end_with_their_qp(struct kunit *test)
{
	struct late *late = kunit_kzalloc(test, sizeof(*late), GFP_KERNEL);
	struct ib_mad_reg_req req = plain_request(IB_MGMT_METHOD_GET);
	struct party *client = client_at_a(test);
	struct ib_mad_agent *server;

	KUNIT_ASSERT_NOT_NULL(test, late);
	init_completion(&late->inside);
	init_completion(&late->go);
	INIT_WORK(&late->work, remove_work);
	/* Without QP0, which shares the CQ and would have to be drained first */
	late->device = fake_device_add(test, "kt_mad_late", RDMA_CORE_PORT_IBA_ROCE, LID_A + 50);
	server = ib_register_mad_agent(late->device, 1, IB_QPT_GSI, &req, 0, bench_ended, hear_late,
				       late, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(server));
	for (int i = 0; i < 50; i++) {
		struct ib_mad_send_buf *buf = new_request(test, client, 0, 0);

		buf->ah = fake_ah(bench.pd_a, LID_A + 50);
		KUNIT_ASSERT_FALSE(test, IS_ERR(buf->ah));
		KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	}
	wait_for_completion(&late->inside);
	fake_wire_flush();
	queue_work(system_unbound_wq, &late->work);
	wait_for_completion(&fake_wire.stopped);
	complete(&late->go);
	flush_work(&late->work);
	KUNIT_EXPECT_EQ(test, fake_wire.orphans, 0);
	ib_unregister_mad_agent(server);
	ib_unregister_mad_agent(client->agent);
}

/* The device does not stop a QP: what was posted never completes, but its owner ends. */
static void stuck_qp_is_given_up(struct kunit *test)
{
	struct party *client = client_at_a(test), *server = server_at_b(test);
	const unsigned long patience = mad_patience;

	atomic_set(&server->deaf, 100000);
	scoped_guard(spinlock_irqsave, &fake_wire.lock) {
		fake_wire.hold = true;
		fake_wire.stuck = -ETIMEDOUT;
	}
	for (int i = 0; i < 1000; i++)
		ask(test, client, i & 1 ? 1000000 : 0, 1000);
	mad_patience = HZ / 10;
	ib_unregister_mad_agent(client->agent);
	mad_patience = patience;
	KUNIT_EXPECT_EQ(test, atomic_read(&client->ends), 1000);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_WR_FLUSH_ERR]), 1000);
	rdma_destroy_ah(bench.to_b, RDMA_DESTROY_AH_SLEEPABLE);
	ib_dealloc_pd(bench.pd_a);
	fake_device_remove(bench.a);
	bench.a = NULL;
	KUNIT_EXPECT_GT(test, fake_wire.orphans, 0);
	scoped_guard(spinlock_irqsave, &fake_wire.lock) {
		fake_wire.hold = false;
		fake_wire.stuck = 0;
	}
	ib_unregister_mad_agent(server->agent);
}

/* What nobody answers. */
static void tell(struct kunit *test, struct party *party)
{
	struct ib_mad_send_buf *buf = new_request(test, party, 0, 0);

	((struct ib_mad_hdr *)buf->mad)->method = IB_MGMT_METHOD_SEND;
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
}

/*
 * A QP that is reset without having been stopped has lost what was posted to it. Sends are sent
 * again, and receives are replaced.
 */
static void lost_work_is_made_up(struct kunit *test)
{
	struct party *client = client_at_a(test), *server = server_at_b(test);

	scoped_guard(spinlock_irqsave, &fake_wire.lock) {
		fake_wire.hold = true;
		fake_wire.stuck = -ETIMEDOUT;
	}
	for (int i = 0; i < 300; i++)
		tell(test, client);
	scoped_guard(spinlock_irqsave, &fake_wire.lock)
		fake_wire.hold = false;
	fake_device_complain(bench.a, 1);
	expect_soon(test, atomic_read(&client->ends) == 300);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_SUCCESS]), 300);
	KUNIT_EXPECT_GT(test, fake_wire.orphans, 0);
	ask(test, client, 5000, 0);
	expect_soon(test, atomic_read(&client->ends) == 301);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->responses), 1);
	scoped_guard(spinlock_irqsave, &fake_wire.lock)
		fake_wire.stuck = 0;
	ib_unregister_mad_agent(client->agent);
	ib_unregister_mad_agent(server->agent);
}

/* While a QP can neither work nor be reset, sends fail rather than wait, and it is tried again. */
static void qp_is_tried_again(struct kunit *test)
{
	struct party *client = client_at_a(test), *server = server_at_b(test);
	struct mad_qp *qp = &to_mad_agent(client->agent)->port->qp[1];
	struct ib_mad_send_buf *late = new_request(test, client, 0, 0);

	scoped_guard(spinlock_irqsave, &fake_wire.lock) {
		fake_wire.hold = true;
		fake_wire.stuck = -ETIMEDOUT;
		fake_wire.no_reset = 1;
	}
	for (unsigned int i = 0; i < qp->room + 10; i++)
		tell(test, client);
	fake_device_complain(bench.a, 1);
	expect_soon(test, atomic_read(&client->sent[IB_WC_GENERAL_ERR]) == 10);
	KUNIT_EXPECT_EQ(test, ib_post_send_mad(late, NULL), -ENODEV);
	ib_free_send_mad(late);
	scoped_guard(spinlock_irqsave, &fake_wire.lock)
		fake_wire.hold = false;
	expect_soon(test, atomic_read(&client->sent[IB_WC_SUCCESS]) == qp->room);
	ask(test, client, 5000, 0);
	expect_soon(test, atomic_read(&client->responses) == 1);
	scoped_guard(spinlock_irqsave, &fake_wire.lock)
		fake_wire.stuck = 0;
	ib_unregister_mad_agent(client->agent);
	ib_unregister_mad_agent(server->agent);
}

static unsigned int missing(struct mad_port *port)
{
	guard(spinlock_irqsave)(&port->lock);
	return port->qp[1].missing;
}

static void expect_missing(struct kunit *test, struct mad_port *port, unsigned int number)
{
	KUNIT_EXPECT_TRUE(test, wait_event_timeout(port->qp[1].idle, missing(port) == number,
						   PATIENCE));
}

/* Receives that could not be posted are when one can; and if none is there, after some time. */
static void missing_receives_are_made_up(struct kunit *test)
{
	struct party *client = client_at_a(test), *server = server_at_b(test);
	struct mad_port *port = to_mad_agent(server->agent)->port;
	struct party *other = new_party(test);

	atomic_set(&server->deaf, 10000);
	/* Somebody else whose time runs meanwhile */
	join(test, other, bench.b, IB_QPT_GSI, NULL);
	ask(test, other, 500, 0);
	expect_soon(test, atomic_read(&server->requests) == 1);
	scoped_guard(spinlock_irqsave, &fake_wire.lock)
		fake_wire.refuse = 2;
	ask(test, client, 0, 0);
	expect_missing(test, port, 1);
	ask(test, client, 0, 0);
	expect_soon(test, atomic_read(&server->requests) == 2);
	KUNIT_EXPECT_EQ(test, missing(port), 0);

	scoped_guard(spinlock_irqsave, &fake_wire.lock)
		fake_wire.refuse = UINT_MAX;
	for (unsigned int i = 0; i < port->qp[1].wanted; i++)
		ask(test, client, 0, 0);
	expect_soon(test, atomic_read(&client->ends) == 2 + port->qp[1].wanted);
	expect_missing(test, port, port->qp[1].wanted);
	scoped_guard(spinlock_irqsave, &fake_wire.lock)
		fake_wire.refuse = 0;
	atomic_set(&server->deaf, 0);
	ask(test, client, 100, 100);
	expect_soon(test, atomic_read(&client->responses) == 1);
	KUNIT_EXPECT_EQ(test, missing(port), 0);
	expect_soon(test, atomic_read(&other->sent[IB_WC_RESP_TIMEOUT_ERR]) == 1);
	ib_unregister_mad_agent(other->agent);
	ib_unregister_mad_agent(client->agent);
	ib_unregister_mad_agent(server->agent);
}

static struct mad_recv *no_recv_alloc(struct mad_port *port, gfp_t gfp)
{
	return NULL;
}

/* What arrives without memory is lost, and the queue stays as full as it was. */
static void no_memory_for_what_arrives(struct kunit *test)
{
	struct party *client = client_at_a(test), *server = server_at_b(test);
	const unsigned int many = 1500;

	kunit_activate_static_stub(test, mad_recv_alloc, no_recv_alloc);
	fake_wire.test = test;
	for (int i = 0; i < many; i++)
		ask(test, client, 50, 0);
	expect_soon(test, atomic_read(&client->ends) == many);
	KUNIT_EXPECT_EQ(test, atomic_read(&server->requests), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_RESP_TIMEOUT_ERR]), many);
	fake_wire.test = NULL;
	kunit_deactivate_static_stub(test, mad_recv_alloc);
	ask(test, client, 5000, 0);
	expect_soon(test, atomic_read(&client->ends) == many + 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->responses), 1);
	ib_unregister_mad_agent(client->agent);
	ib_unregister_mad_agent(server->agent);
}

static bool nobody_is_known(struct ib_device *device, u32 port_num, const struct ib_wc *wc,
			    const struct ib_grh *grh)
{
	return false;
}

/* Where the sender's link address has to be asked for, the core does not answer, nor wait. */
static void unknown_senders_are_not_answered(struct kunit *test)
{
	struct party *client = client_at_a(test);

	kunit_activate_static_stub(test, rdma_wc_sender_is_known, nobody_is_known);
	fake_wire.test = test;
	ask(test, client, 20, 1);
	expect_soon(test, atomic_read(&client->ends) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_RESP_TIMEOUT_ERR]), 1);
	fake_wire.test = NULL;
	kunit_deactivate_static_stub(test, rdma_wc_sender_is_known);
	ask(test, client, 5000, 0);
	expect_soon(test, atomic_read(&client->ends) == 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->responses), 1);
	ib_unregister_mad_agent(client->agent);
}

static struct kunit_case mad_cases[] = {
	KUNIT_CASE(registrations_are_checked),
	KUNIT_CASE(roce_ports_have_no_qp0),
	KUNIT_CASE(requests_are_answered),
	KUNIT_CASE(agents_answer),
	KUNIT_CASE(methods_are_answered),
	KUNIT_CASE(response_may_come_before_completion),
	KUNIT_CASE(nobody_serves),
	KUNIT_CASE(unknown_senders_are_not_answered),
	KUNIT_CASE(requests_time_out),
	KUNIT_CASE(requests_without_end),
	KUNIT_CASE(requests_are_cancelled),
	KUNIT_CASE(unregistration_ends_requests),
	KUNIT_CASE(unregistration_waits_for_send_handlers),
	KUNIT_CASE(unregistration_runs_no_others_handlers),
	KUNIT_CASE_SLOW(thousands_of_requests),
	KUNIT_CASE(agents_take_turns),
	KUNIT_CASE(failed_send_stops_no_other),
	KUNIT_CASE(dead_qp_is_revived),
	KUNIT_CASE_SLOW(revived_qp_dies_again),
	KUNIT_CASE(removal_ends_everything),
	KUNIT_CASE(receives_end_with_their_qp),
	KUNIT_CASE(stuck_qp_is_given_up),
	KUNIT_CASE(lost_work_is_made_up),
	KUNIT_CASE_SLOW(qp_is_tried_again),
	KUNIT_CASE_SLOW(missing_receives_are_made_up),
	KUNIT_CASE(no_memory_for_what_arrives),
	{}
};

static struct kunit_suite mad_suite = {
	.name = "ib_mad",
	.init = bench_init,
	.exit = bench_exit,
	.test_cases = mad_cases,
};

kunit_test_suite(mad_suite);

MODULE_DESCRIPTION("KUnit tests of management datagrams");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
