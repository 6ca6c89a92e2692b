/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * An iWARP device without hardware, whose answers are set by tests, and a consumer that records its
 * events.
 */
#ifndef CORE_IWCM_FAKE_IWARP_H
#define CORE_IWCM_FAKE_IWARP_H

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/wait.h>

#include "../iwcm.h"

#define FAKE_QPN	7	/* the device has this QP */
#define FAKE_HEARD	16

enum fake_op {
	FAKE_CONNECT,
	FAKE_ACCEPT,
	FAKE_REJECT,
	FAKE_LISTEN,
	FAKE_UNLISTEN,
	FAKE_OPS
};

/**
 * struct fake_heard - an event that was delivered to the consumer
 * @cm_id: the id
 * @event: the event; private_data points to @data
 * @data: private data
 */
struct fake_heard {
	struct iw_cm_id *cm_id;
	struct iw_cm_event event;
	u8 data[U8_MAX];
};

/**
 * struct fake_iwarp - the device and its consumer
 * @ib: the device
 * @test: the test
 * @pd: PD of the QP
 * @cq: CQ of the QP
 * @qp: the QP with number FAKE_QPN
 * @qp_refs: references on it that iw_cm holds
 * @qp_state: state to which it was last modified, or IB_QPS_RESET
 * @answer: return value of each operation
 * @calls: number of calls of each operation
 * @in_op: called by each operation, or NULL
 * @context: for @in_op and @act
 * @heard: events of the consumer's handler, in order
 * @n_heard: number of these; the handler increments it before it calls @act
 * @act: called by the handler, whose return value it is, or NULL
 * @wait: wakes up when @n_heard has changed
 */
struct fake_iwarp {
	struct ib_device ib;
	struct kunit *test;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	atomic_t qp_refs;
	enum ib_qp_state qp_state;
	int answer[FAKE_OPS];
	int calls[FAKE_OPS];
	void (*in_op)(struct fake_iwarp *fake, struct iw_cm_id *cm_id, enum fake_op op);
	void *context;
	struct fake_heard heard[FAKE_HEARD];
	int n_heard;
	int (*act)(struct fake_iwarp *fake, struct iw_cm_id *cm_id, struct iw_cm_event *event);
	wait_queue_head_t wait;
};

int fake_iwarp_init(struct kunit *test);
void fake_iwarp_exit(struct kunit *test);
struct iw_cm_id *iwt_id(struct fake_iwarp *fake);
struct iw_cm_conn_param iwt_param(void);
struct iw_cm_id *iwt_id_in(struct fake_iwarp *fake, enum iwcm_state state);
int iwt_report(struct iw_cm_id *cm_id, enum iw_cm_event_type type, int status);
int iwt_request(struct iw_cm_id *listener, u16 from);
void iwt_settle(struct iw_cm_id *cm_id);
void iwt_wait_heard(struct fake_iwarp *fake, int count);
enum iwcm_state iwt_state(struct iw_cm_id *cm_id);
struct sockaddr_storage iwt_address(u32 ip, u16 port);

#endif
