/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Two devices with a fake MAD layer, and a net between them on which a test decides what becomes of
 * each message: nothing moves and no time passes unless the test says so. And consumers, which
 * answer as the test wants, and note their events.
 */
#ifndef RDMA_CM_TESTS_FAKE_NET_H
#define RDMA_CM_TESTS_FAKE_NET_H

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>

#include "../cm.h"

#define FAKE_LID_A 10
#define FAKE_LID_B 20
#define FAKE_SERVICE 0x1234
#define FAKE_QPN_A 0x100
#define FAKE_QPN_B 0x200
#define FAKE_RETRIES 3
/* in the second place of both ports' tables */
#define FAKE_PKEY 0x8001

struct fake_net;

/**
 * struct fake_node - a device with one port
 * @ib: as the core sees it
 * @net: its net
 * @lid: of its port; its GID is fe80:: with the LID
 * @moved_to: what the port says of its LID, though messages find it at @lid; 0: @lid
 * @recvs_left: how many receives can be posted
 * @caps: capability bits that are set
 * @ahs: address handles that exist
 * @ahs_made: how many have been made
 * @on_ah_made: called when one is made, if it is set
 * @on_ah_gone: called when one is destroyed, if it is set
 * @agent: its agent, or NULL
 * @present: it is registered
 * @nobody_is_known: the network would have to be asked for whoever sends to it
 */
struct fake_node {
	struct ib_device ib;
	struct fake_net *net;
	u16 lid;
	u16 moved_to;
	unsigned int recvs_left;
	u32 caps;
	atomic_t ahs;
	atomic_t ahs_made;
	void (*on_ah_made)(struct fake_node *node);
	void (*on_ah_gone)(struct fake_node *node);
	struct ib_mad_agent *agent;
	bool present;
	bool nobody_is_known;
};

/* What becomes of a message. */
enum fake_fault {
	FAKE_ARRIVES,
	FAKE_LOST,
	FAKE_TWICE,
};

/**
 * struct fake_net - the net
 * @test: the test
 * @number: in the GUIDs of its devices, since a QP of a former net may be in TIMEWAIT still
 * @a: a device
 * @b: the other one
 * @lock: protects what follows
 * @mads: all datagrams that are sent and not freed
 * @flush: brings back those that were given up
 * @recvs: datagrams that have arrived and are not freed
 * @faults: uses of the MAD layer that are wrong
 * @moves: messages that have been on the net
 * @deliver: what becomes of a message; NULL: it arrives
 * @deliver_at: for it: the number of one message
 * @dead: 1: no message arrives any more
 * @starved: 1: there is no memory for datagrams
 * @on_posted: called when a message has been posted, under its id's lock; or NULL
 * @early: arrives at the next port before its agent is registered; or NULL
 * @calls: held while a handler calls the manager, so that @fail_nth counts for all
 * @fail_nth: the allocation of handlers' calls that fails, counted from 1; 0 for none
 */
struct fake_net {
	struct kunit *test;
	u32 number;
	struct fake_node *a, *b;
	spinlock_t lock;
	struct list_head mads;
	struct work_struct flush;
	int recvs;
	unsigned int faults;
	unsigned int moves;
	enum fake_fault (*deliver)(struct fake_net *net, unsigned int number,
				   enum cm_msg_type type);
	unsigned int deliver_at;
	bool dead;
	bool starved;
	void (*on_posted)(struct fake_net *net, enum cm_msg_type type);
	const struct cm_msg *early;
	struct mutex calls;
	unsigned int fail_nth;
};

#define CONSUMER_EVENTS 64

/**
 * struct consumer - a consumer of one id
 * @net: the net
 * @id: its id; NULL before and after it has one
 * @events: those that its handler was called for
 * @num_events: how much
 * @last: the last event
 * @data: the first byte of its private data
 * @silent: requests and replies are not answered
 * @mra: they are answered with MRA first
 * @rej: requests are refused with this reason, 0: they are not
 * @returns: what the handler returns for @returns_for
 * @returns_for: an event
 * @qpn: own QP
 * @errors: calls that failed
 * @rested: completed at the end of TIMEWAIT
 * @inside: completed when the handler is called for @stops_for
 * @outside: waited for then
 * @stops_for: an event, or -1
 */
struct consumer {
	struct fake_net *net;
	struct ib_cm_id *id;
	enum ib_cm_event_type events[CONSUMER_EVENTS];
	unsigned int num_events;
	struct ib_cm_event last;
	u8 data;
	bool silent;
	bool mra;
	enum ib_cm_rej_reason rej;
	int returns;
	int returns_for;
	u32 qpn;
	unsigned int errors;
	struct completion rested;
	struct completion inside;
	struct completion outside;
	int stops_for;
};

/**
 * struct pair - two consumers
 * @net: the net
 * @listener: listens at device b
 * @active: connects, at device a
 * @passive: the side at device b that accepts
 */
struct pair {
	struct fake_net *net;
	struct ib_cm_id *listener;
	struct consumer active;
	struct consumer passive;
};

struct fake_node *fake_node_alloc(struct fake_net *net, u16 lid);
u32 fake_ah_dlid(struct ib_ah *ah);

struct fake_net *fake_net_begin(struct kunit *test);
void fake_net_end(struct fake_net *net);
void fake_net_remove(struct fake_node *node);
void fake_net_renew_a(struct fake_net *net);
void fake_net_settle(struct fake_net *net);
bool fake_net_step(struct fake_net *net);
void fake_net_run(struct fake_net *net);
bool fake_net_tick(struct fake_net *net);
struct ib_mad_send_buf *fake_net_find(struct fake_net *net, enum cm_msg_type type);
void fake_net_fail(struct fake_net *net, enum cm_msg_type type);
void fake_net_arrive(struct fake_node *to, u16 slid, const struct cm_msg *msg);
void fake_net_inject(struct fake_node *to, u16 slid, const struct cm_msg *msg);
unsigned int fake_net_mads(struct fake_net *net);

struct sa_path_rec fake_path(struct fake_node *from, struct fake_node *to);

int consumer_handler(struct ib_cm_id *id, const struct ib_cm_event *event);
bool consumer_heard(const struct consumer *consumer, enum ib_cm_event_type event);
void consumer_init(struct consumer *consumer, struct fake_net *net, u32 qpn);
int consumer_connect(struct consumer *consumer);
enum ib_cm_state consumer_state(const struct consumer *consumer);

struct pair *pair_begin(struct kunit *test);
void pair_end(struct pair *pair);
bool pair_is_connected(const struct pair *pair);

void consumer_expect_events(struct kunit *test, const struct consumer *consumer,
			    const enum ib_cm_event_type *events, unsigned int num);

#define EXPECT_EVENTS(_test, _consumer, ...) do {					\
	static const enum ib_cm_event_type _events[] = { __VA_ARGS__ };		\
										\
	consumer_expect_events(_test, _consumer, _events, ARRAY_SIZE(_events));		\
} while (0)

#endif
