/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Helpers of the suites that need an emulated HCA. */
#ifndef VHCA_HCA_TEST_H
#define VHCA_HCA_TEST_H

#include <kunit/test.h>
#include <rdma/ib_verbs.h>
#include <rdma/kunit.h>

#include "../device/device.h"

#define HCA_PATIENCE	(30 * HZ)
/* For hca_fault(): a delay that lasts until hca_let_go(). */
#define HCA_HELD	"delay=600000"

/**
 * struct hca_test - an HCA under test; kunit->priv
 * @test: the test
 * @pdev: the function
 * @drv: its driver, also while the function is unbound
 * @id: the HCA's name for vhcactl
 * @faults: the test may have armed faults
 */
struct hca_test {
	struct kunit *test;
	struct pci_dev *pdev;
	struct device_driver *drv;
	char id[24];
	bool faults;
};

/* ---- hca_test.c ---- */

int hca_test_init(struct kunit *test);
struct vhca_dev *hca_device(struct hca_test *h);
struct vhca_dev *hca_need_device(struct hca_test *h);
void hca_need_faults(struct hca_test *h);
int hca_ctl(struct hca_test *h, const char *fmt, ...) __printf(2, 3);
void hca_fault(struct hca_test *h, const char *fmt, ...) __printf(2, 3);
void hca_struck(struct hca_test *h);
void hca_let_go(struct hca_test *h);
void hca_expect_objects(struct hca_test *h, unsigned int pds, unsigned int mkeys,
			unsigned int cqs, unsigned int qps);
void hca_reset(struct hca_test *h);

/* ---- test_hca_conn.c: queue pairs that talk to each other ---- */

#define CONN_BYTES	(64 << 10)
#define CONN_DEPTH	32
#define CONN_INLINE	200

/**
 * struct conn_wr - a request and its completion
 * @cqe: its done() finds this structure
 * @done: completed when the request completes
 * @wc: copy of the completion
 * @order: number of earlier completions of the connection
 * @conn: the connection
 */
struct conn_wr {
	struct ib_cqe cqe;
	struct completion done;
	struct ib_wc wc;
	int order;
	struct conn *conn;
};

/**
 * struct conn_options - options of a connection
 * @type: type of the QPs; 0 for RC
 * @srq_wr: receives of an SRQ that both QPs use; 0 for receive queues of their own
 * @cqe: entries of a CQ that only the test polls; 0 for one that is polled by a work queue
 * @vector: completion vector of such a CQ
 * @create_flags: of the QPs
 */
struct conn_options {
	enum ib_qp_type type;
	u32 srq_wr;
	u32 cqe;
	u32 vector;
	u32 create_flags;
};

/**
 * struct conn - two QPs of port 1, with memory that both may use
 * @options: its options
 * @dev: the device
 * @pd: their PD
 * @cq: their CQ
 * @srq: their SRQ, or NULL
 * @qp: the QPs
 * @buf: the memory; data are transferred from the first half to the second
 * @dma: its DMA address
 * @connected: the QPs have left RESET, and can be drained
 * @completions: number of completions so far
 * @tx: requests for the send queues; they live as long as completions may come
 * @rx: requests for the receive queues
 * @cq_events: calls of the handler of a CQ that the test polls
 * @called_on: CPU of the last of them
 * @called: completed with every such call
 * @cq_errors: asynchronous events of such a CQ
 * @srq_events: events of the SRQ so far, by type
 * @last_wqes: last-WQE events of the QPs so far
 * @event: completed with every event
 */
struct conn {
	struct conn_options options;
	struct ib_device *dev;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_srq *srq;
	struct ib_qp *qp[2];
	u8 *buf;
	dma_addr_t dma;
	bool connected[2];
	atomic_t completions;
	struct conn_wr tx[CONN_DEPTH];
	struct conn_wr rx[CONN_DEPTH];
	atomic_t cq_events;
	atomic_t cq_errors;
	unsigned int called_on;
	struct completion called;
	atomic_t srq_events[2];
	atomic_t last_wqes;
	struct completion event;
};

#define CONN_SRQ_LIMIT	0	/* in srq_events */
#define CONN_SRQ_ERR	1
#define CONN_QKEY	0x11111111

int conn_open(struct conn *c, struct ib_device *dev);
int conn_open_as(struct conn *c, struct ib_device *dev, const struct conn_options *o);
void conn_close(struct conn *c);
int conn_connect(struct conn *c, int from, int to, u8 rnr_retry);
struct conn *conn_get(struct kunit *test, struct ib_device *dev, bool self, u8 rnr_retry);
struct conn *conn_get_as(struct kunit *test, struct ib_device *dev,
			 const struct conn_options *o);
void conn_wr_init(struct conn *c, struct conn_wr *r);
void conn_fill(struct conn *c, u8 seed);
bool conn_arrived(struct conn *c, u32 off, u32 len);
int conn_send(struct conn *c, int qp, struct conn_wr *r, enum ib_wr_opcode opcode, int flags,
	      u32 off, u32 len, u32 rkey);
int conn_write(struct conn *c, int qp, u32 len, u32 rkey);
int conn_write_some(struct conn *c, int n);
int conn_recv(struct conn *c, int qp, struct conn_wr *r, u32 off, u32 len);
enum ib_wc_status conn_wait(struct conn_wr *r);
void conn_works(struct kunit *test, struct conn *c);

/* ---- hca_cq_test.c ---- */

u64 hca_counter(struct kunit *test, struct ib_device *dev, const char *name);

/* ---- hca_life_test.c: a consumer that comes and goes with the device ---- */

#define WATCH_HELD	8

/**
 * struct hca_watch - a client of the device under test, with a connection
 * @h: HCA under test
 * @options: options of the connection
 * @conn: connection whose QPs talk to themselves, while the device is registered. A few sends of
 *        QP 0, which find no receive, and without an SRQ a few receives of QP 1 stay posted.
 * @held: number of these requests
 * @open_err: result of making the connection
 * @added: number of times that the device was added
 * @removed: number of times that it was removed
 * @flushed: number of held requests that were flushed at the last removal
 * @query_err: result of querying a QP at that time
 * @master: was bus mastering still enabled at that time
 * @deal: handler of its first send's completion, which deal_late() calls
 * @removing: completed when a removal begins
 * @removed_first: did a removal begin before deal_late() had called @deal
 * @gone: completed at each removal
 */
struct hca_watch {
	struct hca_test *h;
	struct conn_options options;
	struct conn *conn;
	int held;
	int open_err;
	int added;
	int removed;
	int flushed;
	int query_err;
	bool master;
	void (*deal)(struct ib_cq *cq, struct ib_wc *wc);
	struct completion removing;
	bool removed_first;
	struct completion gone;
};

struct hca_watch *hca_watch(struct hca_test *h);
struct hca_watch *hca_watch_as(struct hca_test *h, const struct conn_options *o);
void hca_wait_gone(struct hca_watch *w);
void hca_back_again(struct hca_watch *w);

extern struct kunit_suite hca_probe_suite;
extern struct kunit_suite hca_data_suite;
extern struct kunit_suite hca_command_suite;
extern struct kunit_suite hca_time_suite;
extern struct kunit_suite hca_life_suite;
extern struct kunit_suite hca_srq_suite;
extern struct kunit_suite hca_xrc_suite;
extern struct kunit_suite hca_cq_suite;
extern struct kunit_suite hca_ud_suite;
extern struct kunit_suite hca_mem_suite;
extern struct kunit_suite hca_import_suite;
extern struct kunit_suite hca_qp_suite;
extern struct kunit_suite hca_lies_suite;
extern struct kunit_suite hca_power_suite;
extern struct kunit_suite hca_event_suite;
extern struct kunit_suite hca_mad_suite;

#endif /* VHCA_HCA_TEST_H */
