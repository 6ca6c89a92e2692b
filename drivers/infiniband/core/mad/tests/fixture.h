/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Common parts of the suites with devices: two devices on the fake wire, and agents that record the
 * MADs they receive.
 */
#ifndef RDMA_MAD_FIXTURE_H
#define RDMA_MAD_FIXTURE_H

#include "../mad_priv.h"
#include "fake_wire.h"

#define LID_A 10
#define LID_B 20
#define CLASS_PLAIN IB_MGMT_CLASS_PERF_MGMT
/* KUnit aborts a case after 300 s. */
#define PATIENCE (250 * HZ)
/* Time-out of a request that is answered: a slow host must not make it fail. */
#define NO_END (-1)

/**
 * struct peer - an agent, and counters of its MADs
 * @agent: the agent
 * @server: it answers requests
 * @ignores: number of requests that are not answered at first
 * @requests: number of requests received
 * @responses: number of responses received
 * @sent: number of ended sends, by status
 * @ends: number of ended sends
 * @early: number of sends that ended before their response arrived
 * @last_status: MAD status of the last response
 * @last_pkey_index: P_Key index of the last MAD received
 * @retries: retries of the last ended send
 * @sum: number of correct bytes of the last message received
 * @last_len: its length
 * @watched: peer whose ended sends are recorded in @seen when a send of this one ends, or NULL
 * @seen: number of ended sends of @watched then
 */
struct peer {
	struct ib_mad_agent *agent;
	bool server;
	atomic_t ignores;
	atomic_t requests, responses;
	atomic_t sent[IB_WC_GENERAL_ERR + 1];
	atomic_t ends, early;
	u16 last_status;
	u16 last_pkey_index;
	int retries;
	atomic_t sum;
	int last_len;
	struct peer *watched;
	int seen;
};

/**
 * struct fixture - common objects of the cases
 * @a: a device
 * @b: another device
 * @pd_a: PD of @a
 * @pd_b: PD of @b
 * @to_b: address handle from @a to @b
 * @progress: woken whenever an agent receives a MAD or a send ends
 * @tid: lower half of the last TID
 */
struct fixture {
	struct ib_device *a, *b;
	struct ib_pd *pd_a, *pd_b;
	struct ib_ah *to_b;
	wait_queue_head_t progress;
	u32 tid;
};

extern struct fixture fixture;

#define expect_soon(test, condition)						\
	KUNIT_EXPECT_TRUE(test, wait_event_timeout(fixture.progress, condition, PATIENCE))

void note_recv(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
	       struct ib_mad_recv_wc *rwc);
void note_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc);
struct ib_mad_reg_req plain_request(unsigned int method);
void join(struct kunit *test, struct peer *peer, struct ib_device *device, enum ib_qp_type type,
	  struct ib_mad_reg_req *req);
struct peer *new_peer(struct kunit *test);
struct peer *client_at_a(struct kunit *test);
struct peer *server_at_b(struct kunit *test);
struct ib_mad_send_buf *new_request(struct kunit *test, struct peer *peer, int timeout_ms,
				    int retries);
struct ib_mad_send_buf *new_smp(struct kunit *test, struct peer *peer, int timeout_ms, u8 hops,
				u8 port);
void ask(struct kunit *test, struct peer *peer, int timeout_ms, int retries);
int fixture_init(struct kunit *test);
void fixture_exit(struct kunit *test);

#endif
