// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Queue pairs that talk to each other, or each to itself, as a kernel consumer would use them. */
#include <linux/dma-mapping.h>

#include "hca_test.h"

#define HALF	(CONN_BYTES / 2)

static void wr_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct conn_wr *r = container_of(wc->wr_cqe, struct conn_wr, cqe);

	r->wc = *wc;
	r->order = atomic_fetch_inc(&r->conn->completions);
	complete(&r->done);
}

/**
 * conn_wr_init() - prepare a request that is about to be posted
 * @c: connection
 * @r: the request
 */
void conn_wr_init(struct conn *c, struct conn_wr *r)
{
	r->cqe.done = wr_done;
	r->conn = c;
	init_completion(&r->done);
}

static void cq_called(struct ib_cq *cq, void *context)
{
	struct conn *c = context;

	atomic_inc(&c->cq_events);
	c->called_on = raw_smp_processor_id();
	complete(&c->called);
}

static void cq_event(struct ib_event *event, void *context)
{
	struct conn *c = context;

	atomic_inc(&c->cq_errors);
	complete(&c->event);
}

static void srq_event(struct ib_event *event, void *context)
{
	struct conn *c = context;

	atomic_inc(&c->srq_events[event->event == IB_EVENT_SRQ_LIMIT_REACHED ? CONN_SRQ_LIMIT :
									      CONN_SRQ_ERR]);
	complete(&c->event);
}

static void qp_event(struct ib_event *event, void *context)
{
	struct conn *c = context;

	if (event->event != IB_EVENT_QP_LAST_WQE_REACHED)
		return;
	atomic_inc(&c->last_wqes);
	complete(&c->event);
}

static struct ib_cq *make_cq(struct conn *c)
{
	struct ib_cq_init_attr attr = {
		.cqe = c->options.cqe, .comp_vector = c->options.vector,
	};

	if (!attr.cqe)
		return ib_alloc_cq(c->dev, c, 16 * CONN_DEPTH, 0, IB_POLL_WORKQUEUE);
	return ib_create_cq(c->dev, cq_called, cq_event, c, &attr);
}

static void free_cq(struct conn *c)
{
	if (c->options.cqe)
		ib_destroy_cq(c->cq);
	else
		ib_free_cq(c->cq);
}

static struct ib_srq *make_srq(struct conn *c)
{
	struct ib_srq_init_attr attr = {
		.event_handler = srq_event,
		.srq_context = c,
		.attr = { .max_wr = c->options.srq_wr, .max_sge = 4 },
		.srq_type = IB_SRQT_BASIC,
	};

	return c->options.srq_wr ? ib_create_srq(c->pd, &attr) : NULL;
}

static struct ib_qp *make_qp(struct conn *c)
{
	struct ib_qp_init_attr attr = {
		.event_handler = qp_event,
		.qp_context = c,
		.srq = c->srq,
		.create_flags = c->options.create_flags,
		.cap = {
			.max_send_wr = CONN_DEPTH, .max_recv_wr = CONN_DEPTH, .max_send_sge = 4,
			.max_recv_sge = 4, .max_inline_data = CONN_INLINE,
		},
		.send_cq = c->cq,
		.recv_cq = c->cq,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = c->options.type ?: IB_QPT_RC,
	};

	return ib_create_qp(c->pd, &attr);
}

/**
 * conn_open() - make the objects; the QPs are not connected
 * @c: filled in
 * @dev: device
 *
 * Return: 0; or a negative errno, without any object.
 */
int conn_open(struct conn *c, struct ib_device *dev)
{
	return conn_open_as(c, dev, &(struct conn_options){});
}

/**
 * conn_open_as() - the same, with options
 * @c: filled in
 * @dev: device
 * @o: the options
 *
 * Return: 0; or a negative errno, without any object.
 */
int conn_open_as(struct conn *c, struct ib_device *dev, const struct conn_options *o)
{
	int i, err;

	memset(c, 0, sizeof(*c));
	c->options = *o;
	init_completion(&c->called);
	init_completion(&c->event);
	c->dev = dev;
	c->buf = dma_alloc_coherent(dev->dma_device, CONN_BYTES, &c->dma, GFP_KERNEL);
	if (!c->buf)
		return -ENOMEM;
	c->pd = ib_alloc_pd(dev, IB_PD_UNSAFE_GLOBAL_RKEY);
	if (IS_ERR(c->pd)) {
		err = PTR_ERR(c->pd);
		goto err_buf;
	}
	c->cq = make_cq(c);
	if (IS_ERR(c->cq)) {
		err = PTR_ERR(c->cq);
		goto err_pd;
	}
	c->srq = make_srq(c);
	if (IS_ERR(c->srq)) {
		err = PTR_ERR(c->srq);
		goto err_cq;
	}
	for (i = 0; i < 2; i++) {
		c->qp[i] = make_qp(c);
		if (IS_ERR(c->qp[i])) {
			err = PTR_ERR(c->qp[i]);
			goto err_qps;
		}
	}
	return 0;

err_qps:
	while (i--)
		ib_destroy_qp(c->qp[i]);
	if (c->srq)
		ib_destroy_srq(c->srq);
err_cq:
	free_cq(c);
err_pd:
	ib_dealloc_pd(c->pd);
err_buf:
	dma_free_coherent(dev->dma_device, CONN_BYTES, c->buf, c->dma);
	return err;
}

/**
 * conn_close() - drain and destroy
 * @c: connection
 */
void conn_close(struct conn *c)
{
	/* The core can drain QPs only if it polls their CQ itself. */
	for (int i = 0; i < 2; i++)
		if (c->connected[i] && !c->options.cqe)
			ib_drain_qp(c->qp[i]);
	for (int i = 0; i < 2; i++)
		ib_destroy_qp(c->qp[i]);
	if (c->srq)
		ib_destroy_srq(c->srq);
	free_cq(c);
	ib_dealloc_pd(c->pd);
	dma_free_coherent(c->dev->dma_device, CONN_BYTES, c->buf, c->dma);
}

static int start_ud(struct conn *c, int from)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT, .port_num = 1, .qkey = CONN_QKEY };
	int err;

	err = ib_modify_qp(c->qp[from], &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			   IB_QP_QKEY);
	if (err)
		return err;
	c->connected[from] = true;
	attr.qp_state = IB_QPS_RTR;
	err = ib_modify_qp(c->qp[from], &attr, IB_QP_STATE);
	if (err)
		return err;
	attr.qp_state = IB_QPS_RTS;
	return ib_modify_qp(c->qp[from], &attr, IB_QP_STATE | IB_QP_SQ_PSN);
}

static int start_uc(struct conn *c, int from, struct ib_qp_attr *init, struct ib_qp_attr *rtr,
		    struct ib_qp_attr *rts)
{
	int err;

	init->qp_access_flags = IB_ACCESS_REMOTE_WRITE;
	err = ib_modify_qp(c->qp[from], init, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			   IB_QP_ACCESS_FLAGS);
	if (err)
		return err;
	c->connected[from] = true;
	return ib_modify_qp(c->qp[from], rtr, IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
			    IB_QP_DEST_QPN | IB_QP_RQ_PSN) ?:
	       ib_modify_qp(c->qp[from], rts, IB_QP_STATE | IB_QP_SQ_PSN);
}

/**
 * conn_connect() - bring a QP from RESET to RTS
 * @c: connection
 * @from: the QP
 * @to: the QP to which it is connected; ignored for UD QPs
 * @rnr_retry: 0..7
 *
 * Return: 0 or a negative errno.
 */
int conn_connect(struct conn *c, int from, int to, u8 rnr_retry)
{
	struct ib_qp_attr init = {
		.qp_state = IB_QPS_INIT, .port_num = 1,
		.qp_access_flags = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |
				   IB_ACCESS_REMOTE_ATOMIC,
	};
	struct ib_qp_attr rtr = {
		.qp_state = IB_QPS_RTR, .path_mtu = IB_MTU_1024, .rq_psn = 0xfffffe,
		.dest_qp_num = c->qp[to]->qp_num, .max_dest_rd_atomic = 4, .min_rnr_timer = 1,
		.ah_attr.type = RDMA_AH_ATTR_TYPE_IB,
	};
	struct ib_qp_attr rts = {
		.qp_state = IB_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = rnr_retry,
		.sq_psn = 0xfffffe, .max_rd_atomic = 4,
	};
	struct ib_port_attr port;
	int err;

	if (c->options.type == IB_QPT_UD)
		return start_ud(c, from);
	err = ib_query_port(c->dev, 1, &port);
	if (err)
		return err;
	rdma_ah_set_dlid(&rtr.ah_attr, port.lid);
	rdma_ah_set_port_num(&rtr.ah_attr, 1);
	if (c->options.type == IB_QPT_UC)
		return start_uc(c, from, &init, &rtr, &rts);
	err = ib_modify_qp(c->qp[from], &init, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			   IB_QP_ACCESS_FLAGS);
	if (err)
		return err;
	c->connected[from] = true;
	return ib_modify_qp(c->qp[from], &rtr, IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
			    IB_QP_DEST_QPN | IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC |
			    IB_QP_MIN_RNR_TIMER) ?:
	       ib_modify_qp(c->qp[from], &rts, IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
			    IB_QP_RNR_RETRY | IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC);
}

static void close_conn(void *c)
{
	conn_close(c);
}

/**
 * conn_get() - make a connection that is closed when the test ends
 * @test: the test; aborted when there is none
 * @dev: device, which stays up until the test ends
 * @self: QP 0 talks to itself; else the QPs talk to each other
 * @rnr_retry: 0..7
 *
 * Return: the connection.
 */
struct conn *conn_get(struct kunit *test, struct ib_device *dev, bool self, u8 rnr_retry)
{
	struct conn *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, c);
	KUNIT_ASSERT_EQ(test, conn_open(c, dev), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, close_conn, c), 0);
	KUNIT_ASSERT_EQ(test, conn_connect(c, 0, self ? 0 : 1, rnr_retry), 0);
	if (!self)
		KUNIT_ASSERT_EQ(test, conn_connect(c, 1, 0, rnr_retry), 0);
	return c;
}

/**
 * conn_get_as() - make two QPs with options, each connected to itself
 * @test: the test; aborted on failure
 * @dev: device, which stays up until the test ends
 * @o: the options
 *
 * Return: the connection, which is closed when the test ends.
 */
struct conn *conn_get_as(struct kunit *test, struct ib_device *dev, const struct conn_options *o)
{
	struct conn *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, c);
	KUNIT_ASSERT_EQ(test, conn_open_as(c, dev, o), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, close_conn, c), 0);
	KUNIT_ASSERT_EQ(test, conn_connect(c, 0, 0, 7), 0);
	KUNIT_ASSERT_EQ(test, conn_connect(c, 1, 1, 7), 0);
	return c;
}

static u8 pattern(u8 seed, u32 i)
{
	return seed + i * 7 + i / 256;
}

/**
 * conn_fill() - fill the first half of the memory with a pattern and clear the second half
 * @c: connection
 * @seed: makes patterns differ
 */
void conn_fill(struct conn *c, u8 seed)
{
	for (u32 i = 0; i < HALF; i++)
		c->buf[i] = pattern(seed, i);
	memset(c->buf + HALF, 0, HALF);
}

/**
 * conn_arrived() - check that exactly these bytes were copied
 * @c: connection
 * @off: first byte
 * @len: bytes
 *
 * Return: true if they are in the second half, and the byte behind them is unchanged.
 */
bool conn_arrived(struct conn *c, u32 off, u32 len)
{
	return !memcmp(c->buf + off, c->buf + HALF + off, len) &&
	       (off + len == HALF || !c->buf[HALF + off + len]);
}

/**
 * conn_send() - post a request to a send queue
 * @c: connection
 * @qp: which QP
 * @r: the request
 * @opcode: its opcode; data go from the first half to the second, also for READ
 * @flags: IB_SEND_*
 * @off: first byte, in both halves
 * @len: bytes
 * @rkey: key for the other side
 *
 * Return: 0 or what the driver returned.
 */
int conn_send(struct conn *c, int qp, struct conn_wr *r, enum ib_wr_opcode opcode, int flags,
	      u32 off, u32 len, u32 rkey)
{
	bool read = opcode == IB_WR_RDMA_READ;
	struct ib_sge sge = {
		.addr = flags & IB_SEND_INLINE ? (uintptr_t)c->buf + off :
						 c->dma + off + (read ? HALF : 0),
		.length = len,
		.lkey = c->pd->local_dma_lkey,
	};
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &r->cqe,
			.opcode = opcode,
			.send_flags = flags,
			.sg_list = &sge,
			.num_sge = 1,
			.ex.imm_data = cpu_to_be32(0xabcd0000 + off),
		},
		.remote_addr = c->dma + off + (read ? 0 : HALF),
		.rkey = rkey,
	};

	conn_wr_init(c, r);
	return ib_post_send(c->qp[qp], &wr.wr, NULL);
}

/**
 * conn_write() - post a signaled RDMA WRITE, as request tx[0]
 * @c: connection
 * @qp: which QP
 * @len: bytes
 * @rkey: key for the other side
 *
 * Return: 0 or what the driver returned.
 */
int conn_write(struct conn *c, int qp, u32 len, u32 rkey)
{
	return conn_send(c, qp, &c->tx[0], IB_WR_RDMA_WRITE, IB_SEND_SIGNALED, 0, len, rkey);
}

/**
 * conn_write_some() - post signaled RDMA WRITEs of 64 bytes to the first QP
 * @c: connection
 * @n: how many, as requests tx[n - 1] to tx[0]
 *
 * Return: 0 or what the driver returned.
 */
int conn_write_some(struct conn *c, int n)
{
	int err = 0;

	while (!err && n--)
		err = conn_send(c, 0, &c->tx[n], IB_WR_RDMA_WRITE, IB_SEND_SIGNALED, 0, 64,
				c->pd->unsafe_global_rkey);
	return err;
}

/**
 * conn_recv() - post a receive
 * @c: connection
 * @qp: which QP; ignored with an SRQ
 * @r: the request
 * @off: first byte, in the second half
 * @len: bytes
 *
 * Return: 0 or what the driver returned.
 */
int conn_recv(struct conn *c, int qp, struct conn_wr *r, u32 off, u32 len)
{
	struct ib_sge sge = {
		.addr = c->dma + HALF + off, .length = len, .lkey = c->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = { .wr_cqe = &r->cqe, .sg_list = &sge, .num_sge = len ? 1 : 0 };

	conn_wr_init(c, r);
	return c->srq ? ib_post_srq_recv(c->srq, &wr, NULL) : ib_post_recv(c->qp[qp], &wr, NULL);
}

/**
 * conn_wait() - wait for a request's completion
 * @r: the request
 *
 * Return: its status; 255 after a timeout.
 */
enum ib_wc_status conn_wait(struct conn_wr *r)
{
	return wait_for_completion_timeout(&r->done, HCA_PATIENCE) ? r->wc.status : 255;
}

/**
 * conn_works() - expect that a connection still works
 * @test: the test
 * @c: connection of conn_get() with @self
 */
void conn_works(struct kunit *test, struct conn *c)
{
	conn_fill(c, 200);
	KUNIT_ASSERT_EQ(test, conn_write(c, 0, 4000, c->pd->unsafe_global_rkey), 0);
	KUNIT_ASSERT_EQ(test, conn_wait(&c->tx[0]), IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, conn_arrived(c, 0, 4000));
}
