/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the KUnit suites of rdma_cm share: devices, a fake transport on which no peer connects, a
 * network of few addresses, consumers that write down their events.
 */
#ifndef CORE_CMA_TEST_H
#define CORE_CMA_TEST_H

#include <kunit/test.h>

#include "../../device/tests/test_device.h"
#include "../cma_priv.h"

#define CT_DEVICES 3
#define CT_EVENTS 8
/* The first device whose transport refuses to listen: none. */
#define CT_NEVER 1000

/**
 * struct cma_test - a test
 * @test: for KUnit
 * @device: devices that are registered; number N has the GIDs fe80::N:P and the addresses 10.0.N.P
 *	and fd00::N:P at port P, where N counts from 1
 * @consumers: all consumers
 * @begun: listens of the transport that have begun
 * @ended: and ended
 * @spares: number of further ones that may begin
 * @cancels: calls of cma_cancel()
 * @cancelled: the state that it was last told
 */
struct cma_test {
	struct kunit *test;
	struct test_device *device[CT_DEVICES];
	struct list_head consumers;
	unsigned int begun;
	unsigned int ended;
	unsigned int spares;
	atomic_t cancels;
	enum rdma_cm_state cancelled;
};

/**
 * struct consumer - a consumer of an id
 * @entry: in the test's list
 * @id: the id, NULL once it is destroyed
 * @calls: events so far
 * @events: the first of them
 * @status: their status
 * @last: the last one
 * @ret: what the handler returns
 * @unlocked: a handler ran without the handler lock
 * @hook: called in the handler, if it is set
 */
struct consumer {
	struct list_head entry;
	struct rdma_cm_id *id;
	unsigned int calls;
	enum rdma_cm_event_type events[CT_EVENTS];
	int status[CT_EVENTS];
	struct rdma_cm_event last;
	int ret;
	bool unlocked;
	void (*hook)(struct consumer *consumer);
};

/**
 * union ct_addr - an address of any family
 * @any: as functions take it
 * @in: IPv4
 * @in6: IPv6
 * @ib: AF_IB
 * @room: as large as any
 */
union ct_addr {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_ib ib;
	struct sockaddr_storage room;
};

int ct_init(struct kunit *test);
void ct_exit(struct kunit *test);
void ct_offer_kernel_verbs(struct ib_device *ib);
void ct_add_device(struct cma_test *t, unsigned int number);
void ct_remove_device(struct cma_test *t, unsigned int number);

struct consumer *ct_consumer(struct kunit *test, enum rdma_ucm_port_space ps, enum ib_qp_type type);
void ct_destroy(struct consumer *consumer);
void ct_settle(void);
union ct_addr ct_ip4(u32 addr, u16 port);
union ct_addr ct_ip6(u32 high, u32 low, u16 port);
union ct_addr ct_ib(u32 number, u32 port_num, u64 service_id, u64 mask);

static inline struct cma_id *ct_id(struct consumer *consumer)
{
	return to_cma_id(consumer->id);
}

#endif
