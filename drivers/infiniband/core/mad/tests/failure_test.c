// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: failures of a port's QPs, and the port's end.
 */
#include <kunit/static_stub.h>
#include <linux/cleanup.h>
#include <linux/completion.h>
#include <linux/kmsg_dump.h>
#include <linux/module.h>
#include <rdma/rdma_ext.h>

#include "fixture.h"

static void failed_send_stops_no_other(struct kunit *test)
{
	struct peer *client = client_at_a(test), *server = server_at_b(test);

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

/* Sends a MAD without a response. */
static void send_one_way(struct kunit *test, struct peer *peer)
{
	struct ib_mad_send_buf *buf = new_request(test, peer, 0, 0);

	((struct ib_mad_hdr *)buf->mad)->method = IB_MGMT_METHOD_SEND;
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
}

/* The number of failed sends that stop the QP does not matter to the others. */
static void many_failed_sends_stop_no_other(struct kunit *test)
{
	struct peer *client = client_at_a(test);

	scoped_guard(spinlock_irqsave, &fake_wire.lock) {
		fake_wire.fail_in = 2;
		fake_wire.fail_every = 2;
	}
	for (int i = 0; i < 50; i++)
		send_one_way(test, client);
	expect_soon(test, atomic_read(&client->ends) == 50);
	scoped_guard(spinlock_irqsave, &fake_wire.lock) {
		fake_wire.fail_in = 0;
		fake_wire.fail_every = 0;
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_SUCCESS]), 25);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_LOC_QP_OP_ERR]), 25);
	ib_unregister_mad_agent(client->agent);
}

static void dead_qp_is_revived(struct kunit *test)
{
	struct peer *client = client_at_a(test), *server = server_at_b(test);

	fake_device_break(fixture.a, 1, 1);
	fake_device_break(fixture.b, 1, 1);
	for (int i = 0; i < 20; i++)
		ask(test, client, 100, 100);
	expect_soon(test, atomic_read(&client->ends) == 20);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_SUCCESS]), 20);
	ib_unregister_mad_agent(client->agent);
	ib_unregister_mad_agent(server->agent);
}

/* The QP fails again while receives are posted to it, which are flushed at once. */
static void revived_qp_dies_again(struct kunit *test)
{
	struct peer *client = client_at_a(test), *server = server_at_b(test);

	scoped_guard(spinlock_irqsave, &fake_wire.lock)
		fake_wire.break_in = 100;
	fake_device_break(fixture.a, 1, 1);
	wait_for_completion(&fake_wire.broken);
	for (int i = 0; i < 20; i++)
		ask(test, client, 100, -1);
	expect_soon(test, atomic_read(&client->ends) == 20);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_SUCCESS]), 20);
	ib_unregister_mad_agent(client->agent);
	ib_unregister_mad_agent(server->agent);
}

static void removal_ends_everything(struct kunit *test)
{
	struct peer *client = client_at_a(test), *held = client_at_a(test);
	struct peer *server = server_at_b(test);
	struct ib_mad_send_buf *late;

	atomic_set(&server->ignores, 100000);
	for (int i = 0; i < 300; i++)
		ask(test, client, 1000000, 1000);
	expect_soon(test, atomic_read(&server->requests) > 100);
	scoped_guard(spinlock_irqsave, &fake_wire.lock)
		fake_wire.hold = true;
	for (int i = 0; i < 1000; i++)
		ask(test, held, i & 1 ? 1000000 : 0, 1000);
	late = new_request(test, client, 10, 0);
	rdma_destroy_ah(fixture.to_b, RDMA_DESTROY_AH_SLEEPABLE);
	ib_dealloc_pd(fixture.pd_a);
	fixture.pd_a = NULL;
	fake_device_remove(fixture.a);
	fixture.a = NULL;
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
 * @go: lets the handler continue
 * @requests: requests that it has received
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

/* Received MADs are replaced while the QP is drained: that ends with the QP, too. */
static void receives_end_with_their_qp(struct kunit *test)
{
	struct late *late = kunit_kzalloc(test, sizeof(*late), GFP_KERNEL);
	struct ib_mad_reg_req req = plain_request(IB_MGMT_METHOD_GET);
	struct peer *client = client_at_a(test);
	struct ib_mad_agent *server;

	KUNIT_ASSERT_NOT_NULL(test, late);
	init_completion(&late->inside);
	init_completion(&late->go);
	INIT_WORK(&late->work, remove_work);
	/* The device has no QP0, which would share the CQ and have to be drained first. */
	late->device = fake_device_add(test, "kt_mad_late", RDMA_CORE_PORT_IBA_ROCE, LID_A + 50);
	server = ib_register_mad_agent(late->device, 1, IB_QPT_GSI, &req, 0, note_sent, hear_late,
				       late, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(server));
	for (int i = 0; i < 50; i++) {
		struct ib_mad_send_buf *buf = new_request(test, client, 0, 0);

		buf->ah = fake_ah(fixture.pd_a, LID_A + 50);
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

/* The device does not stop a QP: posted work requests never complete, but their owners end. */
static void stuck_qp_is_given_up(struct kunit *test)
{
	struct peer *client = client_at_a(test), *server = server_at_b(test);
	const unsigned long patience = mad_patience;

	atomic_set(&server->ignores, 100000);
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
	rdma_destroy_ah(fixture.to_b, RDMA_DESTROY_AH_SLEEPABLE);
	ib_dealloc_pd(fixture.pd_a);
	fake_device_remove(fixture.a);
	fixture.a = NULL;
	KUNIT_EXPECT_GT(test, fake_wire.orphans, 0);
	scoped_guard(spinlock_irqsave, &fake_wire.lock) {
		fake_wire.hold = false;
		fake_wire.stuck = 0;
	}
	ib_unregister_mad_agent(server->agent);
}

/*
 * A QP that is reset without having been stopped has lost its work requests. Sends are posted
 * again, and receives are replaced.
 */
static void lost_work_is_made_up(struct kunit *test)
{
	struct peer *client = client_at_a(test), *server = server_at_b(test);
	/* More than are sent at a time, and fewer than can be received. */
	const int many = 3 * to_mad_agent(client->agent)->qp->room;

	scoped_guard(spinlock_irqsave, &fake_wire.lock) {
		fake_wire.hold = true;
		fake_wire.stuck = -ETIMEDOUT;
	}
	for (int i = 0; i < many; i++)
		send_one_way(test, client);
	scoped_guard(spinlock_irqsave, &fake_wire.lock)
		fake_wire.hold = false;
	fake_device_complain(fixture.a, 1);
	expect_soon(test, atomic_read(&client->ends) == many);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_SUCCESS]), many);
	KUNIT_EXPECT_GT(test, fake_wire.orphans, 0);
	ask(test, client, NO_END, 0);
	expect_soon(test, atomic_read(&client->ends) == many + 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->responses), 1);
	scoped_guard(spinlock_irqsave, &fake_wire.lock)
		fake_wire.stuck = 0;
	ib_unregister_mad_agent(client->agent);
	ib_unregister_mad_agent(server->agent);
}

/* How many lines of the log from @iter on have this text; @iter moves to its end. */
static unsigned int log_says(struct kmsg_dump_iter *iter, const char *text)
{
	unsigned int lines = 0;
	char line[256];
	size_t len;

	while (kmsg_dump_get_line(iter, false, line, sizeof(line) - 1, &len)) {
		line[len] = 0;
		lines += !!strstr(line, text);
	}
	return lines;
}

/*
 * While a QP can neither be started nor be reset, sends fail rather than wait, and recovery is
 * repeated. The log does not tell of each attempt.
 */
static void qp_is_tried_again(struct kunit *test)
{
	struct peer *client = client_at_a(test), *server = server_at_b(test);
	struct mad_qp *qp = &to_mad_agent(client->agent)->port->qp[1];
	struct ib_mad_send_buf *late = new_request(test, client, 0, 0);
	struct kmsg_dump_iter before, log;

	kmsg_dump_rewind(&log);
	log_says(&log, "");
	before = log;
	scoped_guard(spinlock_irqsave, &fake_wire.lock) {
		fake_wire.hold = true;
		fake_wire.stuck = -ETIMEDOUT;
		fake_wire.no_reset = 2;
	}
	for (unsigned int i = 0; i < qp->room + 10; i++)
		send_one_way(test, client);
	fake_device_complain(fixture.a, 1);
	expect_soon(test, atomic_read(&client->sent[IB_WC_GENERAL_ERR]) == 10);
	KUNIT_EXPECT_EQ(test, ib_post_send_mad(late, NULL), -ENODEV);
	ib_free_send_mad(late);
	scoped_guard(spinlock_irqsave, &fake_wire.lock)
		fake_wire.hold = false;
	expect_soon(test, atomic_read(&client->sent[IB_WC_SUCCESS]) == qp->room);
	ask(test, client, NO_END, 0);
	expect_soon(test, atomic_read(&client->responses) == 1);
	KUNIT_EXPECT_EQ(test, log_says(&log, "QP1 cannot be drained"), 1);
	log = before;
	KUNIT_EXPECT_EQ(test, log_says(&log, "QP1 does not work any more"), 1);
	KUNIT_EXPECT_EQ(test, log_says(&before, "QP1 works again"), 1);
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

/*
 * Receives that could not be posted are posted with the next one, or if there is none, after a
 * time.
 */
static void missing_receives_are_made_up(struct kunit *test)
{
	struct peer *client = client_at_a(test), *server = server_at_b(test);
	struct mad_port *port = to_mad_agent(server->agent)->port;
	struct peer *other = new_peer(test);

	atomic_set(&server->ignores, 10000);
	/* Time-outs of another agent expire meanwhile. */
	join(test, other, fixture.b, IB_QPT_GSI, NULL);
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
	atomic_set(&server->ignores, 0);
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

/* A MAD that arrives without memory is lost, and the receive queue stays full. */
static void no_memory_for_what_arrives(struct kunit *test)
{
	struct peer *client = client_at_a(test), *server = server_at_b(test);
	const unsigned int many = 3 * to_mad_agent(server->agent)->qp->wanted;

	kunit_activate_static_stub(test, mad_recv_alloc, no_recv_alloc);
	fake_wire.test = test;
	for (int i = 0; i < many; i++)
		ask(test, client, 50, 0);
	expect_soon(test, atomic_read(&client->ends) == many);
	KUNIT_EXPECT_EQ(test, atomic_read(&server->requests), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_RESP_TIMEOUT_ERR]), many);
	fake_wire.test = NULL;
	kunit_deactivate_static_stub(test, mad_recv_alloc);
	ask(test, client, NO_END, 0);
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

/* If the sender's link address would have to be resolved, the core neither answers nor waits. */
static void unknown_senders_are_not_answered(struct kunit *test)
{
	struct peer *client = client_at_a(test);

	kunit_activate_static_stub(test, rdma_wc_sender_is_known, nobody_is_known);
	fake_wire.test = test;
	ask(test, client, 20, 1);
	expect_soon(test, atomic_read(&client->ends) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->sent[IB_WC_RESP_TIMEOUT_ERR]), 1);
	fake_wire.test = NULL;
	kunit_deactivate_static_stub(test, rdma_wc_sender_is_known);
	ask(test, client, NO_END, 0);
	expect_soon(test, atomic_read(&client->ends) == 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->responses), 1);
	ib_unregister_mad_agent(client->agent);
}

static struct kunit_case failure_cases[] = {
	KUNIT_CASE(unknown_senders_are_not_answered),
	KUNIT_CASE(failed_send_stops_no_other),
	KUNIT_CASE(many_failed_sends_stop_no_other),
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

static struct kunit_suite failure_suite = {
	.name = "ib_mad_failure",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = failure_cases,
};

kunit_test_suite(failure_suite);
