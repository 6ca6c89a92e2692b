// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: MADs that must not be sent, or too many of them: they are dropped and counted, and other
 * agents are not affected.
 */
#include <kunit/static_stub.h>
#include <linux/cleanup.h>
#include <linux/hash.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <rdma/ib_smi.h>

#include "../../security/security.h"
#include "fixture.h"

#define SA_METHOD 0x12	/* GetTable */
/* Requests that are pending at a time: queues may be as short as this. */
#define BATCH 16

static atomic_t acks, stops;

static u64 dropped(const struct peer *peer, enum mad_drop why)
{
	return atomic64_read(&to_mad_agent(peer->agent)->port->dropped[why]);
}

static struct ib_rmpp_hdr *rmpp_of(struct ib_mad_send_buf *buf)
{
	return &((struct ib_rmpp_mad *)buf->mad)->rmpp_hdr;
}

/* Counts the answers of receivers of messages, at a sender without RMPP. */
static void hear_answer(struct ib_mad_agent *agent, struct ib_mad_send_buf *sent,
			struct ib_mad_recv_wc *rwc)
{
	u8 type = ((struct ib_rmpp_mad *)rwc->recv_buf.mad)->rmpp_hdr.rmpp_type;

	if (type == IB_MGMT_RMPP_TYPE_ACK)
		atomic_inc(&acks);
	else if (type == IB_MGMT_RMPP_TYPE_STOP)
		atomic_inc(&stops);
	note_recv(agent, sent, rwc);
}

static struct peer *agent_at(struct kunit *test, struct ib_device *device, u32 port_num,
			     struct ib_mad_reg_req *req, u8 rmpp_version,
			     ib_mad_recv_handler handler)
{
	struct peer *peer = new_peer(test);

	peer->agent = ib_register_mad_agent(device, port_num, IB_QPT_GSI, req, rmpp_version,
					    note_sent, handler, peer, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(peer->agent));
	return peer;
}

/* Receives messages. */
static struct peer *table_server(struct kunit *test, struct ib_device *device, u32 port_num,
				 ib_mad_recv_handler handler)
{
	struct ib_mad_reg_req req = {
		.mgmt_class = IB_MGMT_CLASS_SUBN_ADM, .mgmt_class_version = 2,
	};

	set_bit(SA_METHOD, req.method_mask);
	return agent_at(test, device, port_num, &req, 1, handler);
}

static void make_table_request(struct ib_mad_send_buf *buf)
{
	struct ib_mad_hdr *hdr = buf->mad;

	hdr->mgmt_class = IB_MGMT_CLASS_SUBN_ADM;
	hdr->class_version = 2;
	hdr->method = SA_METHOD;
}

static void make_packet(struct ib_mad_send_buf *buf, u8 type, u8 flags, u32 seg)
{
	struct ib_rmpp_hdr *rmpp = rmpp_of(buf);

	make_table_request(buf);
	rmpp->rmpp_version = IB_MGMT_RMPP_VERSION;
	rmpp->rmpp_type = type;
	ib_set_rmpp_flags(rmpp, IB_MGMT_RMPP_FLAG_ACTIVE | flags);
	rmpp->seg_num = cpu_to_be32(seg);
	rmpp->paylen_newwin = cpu_to_be32(IB_MGMT_SA_DATA);
}

/* ---- many messages ---- */

#define MANY 512

static void answer_shortly(struct ib_mad_agent *agent, struct ib_mad_send_buf *sent,
			   struct ib_mad_recv_wc *rwc)
{
	struct ib_mad_send_buf *buf = ib_create_send_mad(agent, rwc->wc->src_qp, 0, 1,
							 IB_MGMT_SA_HDR, 64, GFP_KERNEL,
							 IB_MGMT_BASE_VERSION);

	if (WARN_ON(IS_ERR(buf)))
		return;
	memcpy(buf->mad, rwc->recv_buf.mad, IB_MGMT_MAD_HDR);
	((struct ib_mad_hdr *)buf->mad)->method |= IB_MGMT_METHOD_RESP;
	buf->ah = ib_create_ah_from_wc(fixture.pd_b, rwc->wc, rwc->recv_buf.grh, 1);
	buf->retries = -1;
	if (ib_post_send_mad(buf, NULL))
		WARN_ON(1);
	ib_free_recv_mad(rwc);
}

static unsigned int watch_stops(const struct ib_mad *mad, bool *overtakes)
{
	const struct ib_rmpp_hdr *rmpp = &((const struct ib_rmpp_mad *)mad)->rmpp_hdr;

	if (mad->mad_hdr.mgmt_class == IB_MGMT_CLASS_SUBN_ADM &&
	    rmpp->rmpp_type == IB_MGMT_RMPP_TYPE_STOP) {
		atomic_inc(&stops);
		wake_up_all(&fixture.progress);
	}
	return 1;
}

/* Messages that have arrived are remembered for a while, which does not prevent others. */
static void many_tables(struct kunit *test)
{
	struct peer *client = agent_at(test, fixture.a, 1, NULL, 1, note_recv);
	struct peer *server = table_server(test, fixture.b, 1, answer_shortly);

	atomic_set(&stops, 0);
	scoped_guard(spinlock_irqsave, &fake_wire.lock)
		fake_wire.deliver = watch_stops;
	for (int i = 0; i < MANY && !atomic_read(&stops); i += BATCH) {
		for (int j = 0; j < BATCH; j++) {
			struct ib_mad_send_buf *buf = new_request(test, client, NO_END, 0);

			make_table_request(buf);
			KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
		}
		expect_soon(test, atomic_read(&stops) || atomic_read(&client->ends) == i + BATCH);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&stops), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->responses), MANY);
	KUNIT_EXPECT_EQ(test, dropped(client, MAD_DROP_NO_MEMORY), 0);
	ib_unregister_mad_agent(client->agent);
	ib_unregister_mad_agent(server->agent);
}

/* ---- many requests ---- */

/* Numbers of pending requests between which a search is compared, and how often it is timed. */
#define FEW_PENDING 64
#define MANY_PENDING 2048
#define SEARCHES 100

/* The next lower half of a TID of those that a hash table of 256 buckets keeps in one. */
static u32 next_colliding(u32 tid)
{
	do {
		tid++;
	} while (hash_32(tid, 8));
	return tid;
}

static unsigned int lose(const struct ib_mad *mad, bool *overtakes)
{
	return 0;
}

static bool whatever(const struct mad_send *send)
{
	return true;
}

/* The shortest time of a search for a request that is not pending, in nanoseconds. */
static u64 time_search(struct kunit *test, struct peer *client, u32 tid)
{
	struct mad_agent *agent = to_mad_agent(client->agent);
	struct mad_recv *recv = kunit_kzalloc(test, struct_size(recv, mad, sizeof(struct ib_mad)),
					      GFP_KERNEL);
	u64 least = U64_MAX, start;

	KUNIT_ASSERT_NOT_NULL(test, recv);
	recv_hdr(recv)->tid = cpu_to_be64((u64)client->agent->hi_tid << 32 | tid);
	recv_hdr(recv)->mgmt_class = CLASS_PLAIN;
	for (int i = 0; i < SEARCHES; i++) {
		guard(spinlock_irq)(&agent->port->lock);
		start = ktime_get_ns();
		KUNIT_EXPECT_NULL(test, mad_send_find(agent, recv, whatever));
		least = min(least, ktime_get_ns() - start);
	}
	return least;
}

/*
 * An agent's TIDs, half of each of which a program may choose, do not determine how long interrupts
 * are disabled while a response's request is searched.
 */
static void colliding_requests(struct kunit *test)
{
	struct peer *client = client_at_a(test);
	struct ib_mad_send_buf *buf;
	u64 few = 0, many;
	u32 tid = 0;

	scoped_guard(spinlock_irqsave, &fake_wire.lock)
		fake_wire.deliver = lose;
	for (int i = 0; i < MANY_PENDING; i++) {
		if (i == FEW_PENDING)
			few = time_search(test, client, next_colliding(tid));
		buf = new_request(test, client, NO_END, 0);
		tid = next_colliding(tid);
		((struct ib_mad_hdr *)buf->mad)->tid =
			cpu_to_be64((u64)client->agent->hi_tid << 32 | tid);
		KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	}
	many = time_search(test, client, next_colliding(tid));
	kunit_info(test, "%llu ns among %d, %llu ns among %d\n", few, FEW_PENDING, many,
		   MANY_PENDING);
	KUNIT_EXPECT_LT(test, many, 8 * few);
	ib_unregister_mad_agent(client->agent);
}

/* ---- incomplete messages ---- */

#define LID_C 30
/* Largest numbers of incomplete messages at an agent: of one sender, and of all senders. */
#define OF_SENDER 64
#define OF_ALL 256
static_assert(4 * OF_SENDER == OF_ALL);

/*
 * Begins messages to a port, which refuses the last @refused. Returns the TID of the last message.
 */
static __be64 begin_messages(struct kunit *test, struct ib_device *device, u32 port_num, u16 lid,
			     int messages, int refused)
{
	struct peer *sender = agent_at(test, device, port_num, NULL, 0, hear_answer);
	struct ib_pd *pd = ib_alloc_pd(device, 0);
	int acks_before = atomic_read(&acks), stops_before = atomic_read(&stops);
	__be64 tid = 0;

	KUNIT_ASSERT_FALSE(test, IS_ERR(pd));
	for (int i = 1; i <= messages; i++) {
		struct ib_mad_send_buf *buf = new_request(test, sender, 0, 0);

		make_packet(buf, IB_MGMT_RMPP_TYPE_DATA, IB_MGMT_RMPP_FLAG_FIRST, 1);
		tid = ((struct ib_mad_hdr *)buf->mad)->tid;
		buf->ah = fake_ah(pd, lid);
		KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
		expect_soon(test, atomic_read(&sender->requests) == i);
	}
	KUNIT_EXPECT_EQ(test, atomic_read(&acks) - acks_before, messages - refused);
	KUNIT_EXPECT_EQ(test, atomic_read(&stops) - stops_before, refused);
	ib_unregister_mad_agent(sender->agent);
	ib_dealloc_pd(pd);
	return tid;
}

/* No sender uses up the room of others, and stalled messages are replaced by new ones. */
static void begun_messages(struct kunit *test)
{
	struct ib_device *c = fake_device_add(test, "kt_mad_c", RDMA_CORE_PORT_IBA_IB, LID_C);
	struct peer *server = table_server(test, fixture.b, 1, note_recv);
	struct peer *client = agent_at(test, fixture.a, 1, NULL, 0, hear_answer);
	struct ib_mad_send_buf *buf;
	__be64 tid;

	begin_messages(test, c, 1, LID_B, OF_SENDER + 3, 3);
	KUNIT_EXPECT_EQ(test, dropped(server, MAD_DROP_NO_MEMORY), 3);
	begin_messages(test, c, 2, LID_B, OF_SENDER, 0);
	begin_messages(test, fixture.a, 2, LID_B, OF_SENDER, 0);
	begin_messages(test, fixture.b, 2, LID_B, OF_SENDER, 0);
	KUNIT_EXPECT_EQ(test, dropped(server, MAD_DROP_RMPP), 0);
	tid = begin_messages(test, fixture.a, 1, LID_B, 10, 0);
	KUNIT_EXPECT_EQ(test, dropped(server, MAD_DROP_RMPP), 10);

	/* The last one is continued, and arrives. */
	buf = new_request(test, client, 0, 0);
	make_packet(buf, IB_MGMT_RMPP_TYPE_DATA, IB_MGMT_RMPP_FLAG_LAST, 2);
	((struct ib_mad_hdr *)buf->mad)->tid = tid;
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	expect_soon(test, atomic_read(&server->requests) == 1);
	ib_unregister_mad_agent(client->agent);
	ib_unregister_mad_agent(server->agent);
	fake_device_remove(c);
}

#define HELD 5

static void unlimit_segments(void *usual)
{
	mad_max_segments = (uintptr_t)usual;
}

/*
 * A port that holds the largest number of segments of requests accepts those of other senders, and
 * responses to pending requests.
 */
static void held_segments(struct kunit *test)
{
	struct ib_device *c = fake_device_add(test, "kt_mad_c", RDMA_CORE_PORT_IBA_IB, LID_C);
	struct peer *server = table_server(test, fixture.b, 1, answer_shortly);
	struct peer *flooded = table_server(test, fixture.a, 1, note_recv);
	struct peer *client = agent_at(test, fixture.a, 1, NULL, 1, note_recv);
	struct ib_mad_send_buf *buf;

	KUNIT_ASSERT_EQ(test, 0,
			kunit_add_action_or_reset(test, unlimit_segments,
						  (void *)(uintptr_t)mad_max_segments));
	mad_max_segments = HELD;
	begin_messages(test, c, 1, LID_A, HELD, 0);
	KUNIT_EXPECT_EQ(test, dropped(flooded, MAD_DROP_RMPP), 0);
	begin_messages(test, fixture.b, 2, LID_A, 2, 0);
	KUNIT_EXPECT_EQ(test, dropped(flooded, MAD_DROP_RMPP), 2);

	buf = new_request(test, client, NO_END, 0);
	make_table_request(buf);
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	expect_soon(test, atomic_read(&client->ends) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&client->responses), 1);
	KUNIT_EXPECT_EQ(test, dropped(flooded, MAD_DROP_NO_MEMORY), 0);
	KUNIT_EXPECT_EQ(test, dropped(flooded, MAD_DROP_RMPP), 2);
	ib_unregister_mad_agent(client->agent);
	ib_unregister_mad_agent(flooded->agent);
	ib_unregister_mad_agent(server->agent);
	fake_device_remove(c);
}

/* ---- dropped MADs ---- */

#define LID_VICTIM (LID_A + 1)

/* The other end of the cable of @victim's port. */
struct attack {
	struct peer *victim;	/* handles requests of CLASS_PLAIN */
	struct peer *tables;	/* receives messages at the same port */
	struct peer *sender;
};

static struct ib_mad_send_buf *for_victim(struct kunit *test, struct attack *attack)
{
	struct ib_mad_send_buf *buf = new_request(test, attack->sender, 0, 0);

	buf->ah = fake_ah(fixture.pd_a, LID_VICTIM);
	return buf;
}

/*
 * MADs are handled one after the other: when a request is answered, all earlier ones were handled.
 */
static void settle(struct kunit *test, struct attack *attack)
{
	int before = atomic_read(&attack->sender->responses);
	struct ib_mad_send_buf *buf = for_victim(test, attack);

	buf->timeout_ms = NO_END;
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	expect_soon(test, atomic_read(&attack->sender->responses) == before + 1);
}

/* Sends a MAD, which is dropped for this reason and no other. */
static void expect_dropped(struct kunit *test, struct attack *attack, struct ib_mad_send_buf *buf,
			   enum mad_drop why)
{
	u64 before[MAD_DROPS];

	for (int i = 0; i < MAD_DROPS; i++)
		before[i] = dropped(attack->victim, i);
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(buf, NULL), 0);
	settle(test, attack);
	for (int i = 0; i < MAD_DROPS; i++)
		KUNIT_EXPECT_EQ_MSG(test, dropped(attack->victim, i), before[i] + (i == why),
				    "reason %d, expected %d", i, why);
}

static void expect_packet_dropped(struct kunit *test, struct attack *attack, u8 type, u8 flags,
				  u32 seg, enum mad_drop why)
{
	struct ib_mad_send_buf *buf = for_victim(test, attack);

	make_packet(buf, type, flags, seg);
	expect_dropped(test, attack, buf, why);
}

static void begin_attack(struct kunit *test, struct attack *attack)
{
	struct ib_mad_reg_req req = plain_request(IB_MGMT_METHOD_GET);

	attack->victim = agent_at(test, fixture.a, 2, &req, 0, note_recv);
	attack->victim->server = true;
	attack->tables = table_server(test, fixture.a, 2, note_recv);
	attack->sender = agent_at(test, fixture.a, 1, NULL, 0, note_recv);
}

static void end_attack(struct attack *attack)
{
	ib_unregister_mad_agent(attack->sender->agent);
	ib_unregister_mad_agent(attack->tables->agent);
	ib_unregister_mad_agent(attack->victim->agent);
}

static void nonsense(struct kunit *test)
{
	struct ib_mad_send_buf *buf;
	struct ib_mad_hdr *hdr;
	struct attack attack;

	begin_attack(test, &attack);
	buf = for_victim(test, &attack);
	hdr = buf->mad;
	hdr->base_version = 9;
	expect_dropped(test, &attack, buf, MAD_DROP_MALFORMED);
	/* Subnet management MADs are not allowed at QP1. */
	buf = for_victim(test, &attack);
	hdr = buf->mad;
	hdr->mgmt_class = IB_MGMT_CLASS_SUBN_LID_ROUTED;
	expect_dropped(test, &attack, buf, MAD_DROP_MALFORMED);
	/* A request without an agent that is not answered. */
	buf = for_victim(test, &attack);
	hdr = buf->mad;
	hdr->method = IB_MGMT_METHOD_TRAP;
	expect_dropped(test, &attack, buf, MAD_DROP_UNCLAIMED);
	/* Responses without an agent, and for an agent without a pending request. */
	buf = for_victim(test, &attack);
	hdr = buf->mad;
	hdr->method = IB_MGMT_METHOD_GET_RESP;
	hdr->tid = cpu_to_be64((u64)MAD_MAX_HI_TID << 32 | 1);
	expect_dropped(test, &attack, buf, MAD_DROP_UNAWAITED);
	buf = for_victim(test, &attack);
	hdr = buf->mad;
	hdr->method = IB_MGMT_METHOD_GET_RESP;
	hdr->tid = cpu_to_be64((u64)attack.victim->agent->hi_tid << 32 | 1);
	expect_dropped(test, &attack, buf, MAD_DROP_UNAWAITED);
	end_attack(&attack);
}

static void nonsense_in_segments(struct kunit *test)
{
	struct ib_mad_send_buf *buf;
	struct attack attack;

	begin_attack(test, &attack);
	expect_packet_dropped(test, &attack, IB_MGMT_RMPP_TYPE_DATA, IB_MGMT_RMPP_FLAG_FIRST, 0,
			      MAD_DROP_RMPP);
	expect_packet_dropped(test, &attack, IB_MGMT_RMPP_TYPE_DATA, 0, 1, MAD_DROP_RMPP);
	expect_packet_dropped(test, &attack, IB_MGMT_RMPP_TYPE_DATA, 0, 2, MAD_DROP_RMPP);
	expect_packet_dropped(test, &attack, 77, IB_MGMT_RMPP_FLAG_FIRST, 1, MAD_DROP_RMPP);
	expect_packet_dropped(test, &attack, IB_MGMT_RMPP_TYPE_ACK, 0, 1, MAD_DROP_UNAWAITED);
	expect_packet_dropped(test, &attack, IB_MGMT_RMPP_TYPE_STOP, 0, 0, MAD_DROP_UNAWAITED);
	expect_packet_dropped(test, &attack, IB_MGMT_RMPP_TYPE_ABORT, 0, 0, MAD_DROP_UNAWAITED);
	buf = for_victim(test, &attack);
	make_packet(buf, IB_MGMT_RMPP_TYPE_DATA, IB_MGMT_RMPP_FLAG_FIRST, 1);
	rmpp_of(buf)->rmpp_version = 2;
	expect_dropped(test, &attack, buf, MAD_DROP_RMPP);
	/* A response to no pending request. */
	buf = for_victim(test, &attack);
	make_packet(buf, IB_MGMT_RMPP_TYPE_DATA, IB_MGMT_RMPP_FLAG_FIRST, 1);
	((struct ib_mad_hdr *)buf->mad)->method |= IB_MGMT_METHOD_RESP;
	((struct ib_mad_hdr *)buf->mad)->tid =
		cpu_to_be64((u64)attack.tables->agent->hi_tid << 32 | 1);
	expect_dropped(test, &attack, buf, MAD_DROP_UNAWAITED);
	KUNIT_EXPECT_EQ(test, atomic_read(&attack.tables->requests), 0);
	end_attack(&attack);
}

static unsigned int lead_astray(const struct ib_mad *mad, bool *overtakes)
{
	if (mad->mad_hdr.mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		((struct ib_smp *)mad)->hop_ptr = IB_SMP_MAX_PATH_HOPS + 1;
	return 1;
}

static void nonsense_on_a_route(struct kunit *test)
{
	struct peer *manager = new_peer(test);
	struct ib_mad_send_buf *buf;
	struct attack attack;

	begin_attack(test, &attack);
	scoped_guard(spinlock_irqsave, &fake_wire.lock)
		fake_wire.deliver = lead_astray;
	join(test, manager, fixture.a, IB_QPT_SMI, NULL);
	buf = new_smp(test, manager, 0, 1, 1);
	buf->ah = fake_ah(fixture.pd_a, be16_to_cpu(IB_LID_PERMISSIVE));
	expect_dropped(test, &attack, buf, MAD_DROP_MISROUTED);
	ib_unregister_mad_agent(manager->agent);
	end_attack(&attack);
}

#ifdef CONFIG_SECURITY_INFINIBAND
static atomic_t refusals;

/* Received MADs are handled by a worker. */
static int play_pkey_access(void *blob, u64 subnet_prefix, u16 pkey)
{
	if (!(current->flags & PF_WQ_WORKER))
		return 0;
	return atomic_dec_if_positive(&refusals) < 0 ? 0 : -EACCES;
}

static void refused_by_policy(struct kunit *test)
{
	struct attack attack;

	begin_attack(test, &attack);
	scoped_guard(spinlock_irqsave, &fake_wire.lock)
		fake_wire.test = test;
	kunit_activate_static_stub(test, ib_security_pkey_access, play_pkey_access);
	atomic_set(&refusals, 1);
	expect_dropped(test, &attack, for_victim(test, &attack), MAD_DROP_REFUSED);
	KUNIT_EXPECT_EQ(test, atomic_read(&attack.victim->requests), 1);
	scoped_guard(spinlock_irqsave, &fake_wire.lock)
		fake_wire.test = NULL;
	end_attack(&attack);
}
#endif

static struct kunit_case hostile_cases[] = {
	KUNIT_CASE_SLOW(many_tables),
	KUNIT_CASE_SLOW(colliding_requests),
	KUNIT_CASE_SLOW(begun_messages),
	KUNIT_CASE(held_segments),
	KUNIT_CASE(nonsense),
	KUNIT_CASE(nonsense_in_segments),
	KUNIT_CASE(nonsense_on_a_route),
#ifdef CONFIG_SECURITY_INFINIBAND
	KUNIT_CASE(refused_by_policy),
#endif
	{}
};

static struct kunit_suite hostile_suite = {
	.name = "ib_mad_hostile",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = hostile_cases,
};

kunit_test_suite(hostile_suite);
