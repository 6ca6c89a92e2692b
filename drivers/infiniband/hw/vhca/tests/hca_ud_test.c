// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Datagrams, multicast and unreliable connections through an emulated HCA and back. */
#include <rdma/ib_cache.h>

#include "../verbs/vhca.h"
#include "hca_test.h"

#define GRH_BYTES	40
#define MLID		0xc123

static struct ib_device *need(struct kunit *test, enum vhca_cap cap)
{
	struct vhca_dev *dev = hca_need_device(test->priv);

	if (!vhca_hw_has(&dev->hw, cap))
		kunit_skip(test, "the device does not have capability %d", cap);
	return &dev->ibdev;
}

static struct conn *ud_conn(struct kunit *test, u32 srq_wr, u32 create_flags)
{
	struct conn_options o = {
		.type = IB_QPT_UD, .srq_wr = srq_wr, .create_flags = create_flags,
	};

	return conn_get_as(test, need(test, VHCA_CAP_UD), &o);
}

static void destroy_ah(void *ah)
{
	rdma_destroy_ah(ah, 0);
}

/* Address handles are created and destroyed in atomic context. */
static struct ib_ah *ah_of(struct kunit *test, struct ib_pd *pd, struct rdma_ah_attr *attr)
{
	struct ib_ah *ah;

	local_bh_disable();
	ah = rdma_create_ah(pd, attr, 0);
	local_bh_enable();
	KUNIT_ASSERT_FALSE(test, IS_ERR(ah));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, destroy_ah, ah), 0);
	return ah;
}

static u16 own_lid(struct kunit *test, struct conn *c)
{
	struct ib_port_attr port;

	KUNIT_ASSERT_EQ(test, ib_query_port(c->dev, 1, &port), 0);
	return port.lid;
}

/* Makes an address handle for a LID, and with @gid one with a GRH. */
static struct ib_ah *way_to(struct kunit *test, struct conn *c, u16 lid, const union ib_gid *gid)
{
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_IB };

	rdma_ah_set_dlid(&attr, lid);
	rdma_ah_set_port_num(&attr, 1);
	if (gid)
		rdma_ah_set_grh(&attr, (union ib_gid *)gid, 0x12345, 0, 64, 7);
	return ah_of(test, c->pd, &attr);
}

struct datagram {
	struct ib_ah *ah;
	u32 qpn, qkey, off, len;
	int flags;
};

static int send_ud(struct conn *c, int from, struct conn_wr *r, const struct datagram *d)
{
	struct ib_sge sge = {
		.addr = d->flags & IB_SEND_INLINE ? (uintptr_t)c->buf + d->off : c->dma + d->off,
		.length = d->len, .lkey = c->pd->local_dma_lkey,
	};
	struct ib_ud_wr wr = {
		.wr = {
			.wr_cqe = &r->cqe, .opcode = IB_WR_SEND_WITH_IMM, .sg_list = &sge,
			.num_sge = 1, .send_flags = d->flags | IB_SEND_SIGNALED,
			.ex.imm_data = cpu_to_be32(d->len),
		},
		.ah = d->ah, .remote_qpn = d->qpn, .remote_qkey = d->qkey,
	};

	conn_wr_init(c, r);
	return ib_post_send(c->qp[from], &wr.wr, NULL);
}

/* Posts a receive with room for the GRH, so that the payload gets the same offset as sent. */
static int recv_ud(struct conn *c, int qp, struct conn_wr *r, u32 off, u32 len)
{
	return conn_recv(c, qp, r, off - GRH_BYTES, len + GRH_BYTES);
}

static void expect(struct kunit *test, struct conn *c, struct conn_wr *rx, int from, int to,
		   const struct datagram *d)
{
	KUNIT_ASSERT_EQ(test, conn_wait(rx), IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, rx->wc.opcode, IB_WC_RECV);
	KUNIT_EXPECT_EQ(test, rx->wc.byte_len, d->len + GRH_BYTES);
	KUNIT_EXPECT_EQ(test, rx->wc.src_qp, c->qp[from]->qp_num);
	KUNIT_EXPECT_PTR_EQ(test, rx->wc.qp, c->qp[to]);
	KUNIT_EXPECT_EQ(test, rx->wc.wc_flags & IB_WC_WITH_IMM, IB_WC_WITH_IMM);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(rx->wc.ex.imm_data), d->len);
	KUNIT_EXPECT_TRUE(test, conn_arrived(c, d->off, d->len));
}

/* A packet may still be in flight after its send has completed. */
static bool counted(struct kunit *test, struct ib_device *dev, const char *name, u64 value)
{
	unsigned long limit = jiffies + HCA_PATIENCE;

	while (hca_counter(test, dev, name) < value && time_before(jiffies, limit))
		cond_resched();
	return hca_counter(test, dev, name) == value;
}

static void test_datagrams(struct kunit *test)
{
	static const u32 lengths[] = { 0, 1, 63, 64, 200, 1023, 2048 };
	struct conn *c = ud_conn(test, 0, 0);
	u16 lid = own_lid(test, c);
	struct datagram d = {
		.ah = way_to(test, c, lid, NULL), .qpn = c->qp[1]->qp_num, .qkey = CONN_QKEY,
		.off = 100,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(lengths); i++) {
		d.len = lengths[i];
		d.flags = d.len <= CONN_INLINE && i % 2 ? IB_SEND_INLINE : 0;
		conn_fill(c, i);
		KUNIT_ASSERT_EQ(test, recv_ud(c, 1, &c->rx[0], d.off, 4096), 0);
		KUNIT_ASSERT_EQ(test, send_ud(c, 0, &c->tx[0], &d), 0);
		KUNIT_ASSERT_EQ(test, conn_wait(&c->tx[0]), IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, c->tx[0].wc.opcode, IB_WC_SEND);
		expect(test, c, &c->rx[0], 0, 1, &d);
		KUNIT_EXPECT_EQ(test, c->rx[0].wc.slid, lid);
		KUNIT_EXPECT_EQ(test, c->rx[0].wc.wc_flags & IB_WC_GRH, 0);
	}
}

/* A datagram with a GRH, and a reply to its sender. */
static void test_route_and_answer(struct kunit *test)
{
	struct conn *c = ud_conn(test, 0, 0);
	u16 lid = own_lid(test, c);
	struct datagram d = { .qpn = c->qp[1]->qp_num, .qkey = CONN_QKEY, .off = 512, .len = 300 };
	struct ib_grh *grh = (void *)c->buf + CONN_BYTES / 2 + 512 - GRH_BYTES;
	struct rdma_ah_attr attr;
	union ib_gid gid;
	struct ib_ah *back;

	KUNIT_ASSERT_EQ(test, rdma_query_gid(c->dev, 1, 0, &gid), 0);
	d.ah = way_to(test, c, lid, &gid);
	KUNIT_ASSERT_EQ(test, rdma_query_ah(d.ah, &attr), 0);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_dlid(&attr), lid);
	KUNIT_EXPECT_EQ(test, memcmp(&rdma_ah_read_grh(&attr)->dgid, &gid, sizeof(gid)), 0);
	conn_fill(c, 5);
	KUNIT_ASSERT_EQ(test, recv_ud(c, 1, &c->rx[0], d.off, 300), 0);
	KUNIT_ASSERT_EQ(test, send_ud(c, 0, &c->tx[0], &d), 0);
	expect(test, c, &c->rx[0], 0, 1, &d);
	KUNIT_EXPECT_EQ(test, c->rx[0].wc.wc_flags & IB_WC_GRH, IB_WC_GRH);
	KUNIT_EXPECT_EQ(test, memcmp(&grh->sgid, &gid, sizeof(gid)), 0);
	KUNIT_EXPECT_EQ(test, memcmp(&grh->dgid, &gid, sizeof(gid)), 0);

	back = way_to(test, c, c->rx[0].wc.slid, &grh->sgid);
	d = (struct datagram){ .ah = back, .qpn = c->rx[0].wc.src_qp, .qkey = CONN_QKEY,
			       .off = 2048, .len = 100 };
	conn_fill(c, 6);
	KUNIT_ASSERT_EQ(test, recv_ud(c, 0, &c->rx[1], d.off, 100), 0);
	KUNIT_ASSERT_EQ(test, send_ud(c, 1, &c->tx[1], &d), 0);
	expect(test, c, &c->rx[1], 1, 0, &d);
}

/* If bit 31 of a request's Q_Key is set, the QP's own Q_Key is sent. A wrong one is counted. */
static void test_qkeys(struct kunit *test)
{
	struct conn *c = ud_conn(test, 0, 0);
	struct datagram d = {
		.ah = way_to(test, c, own_lid(test, c), NULL), .qpn = c->qp[1]->qp_num,
		.qkey = CONN_QKEY + 1, .off = 512, .len = 300,
	};
	u64 violations = hca_counter(test, c->dev, "qkey_violations");

	conn_fill(c, 5);
	KUNIT_ASSERT_EQ(test, recv_ud(c, 1, &c->rx[0], d.off, 300), 0);
	KUNIT_ASSERT_EQ(test, send_ud(c, 0, &c->tx[0], &d), 0);
	KUNIT_ASSERT_EQ(test, conn_wait(&c->tx[0]), IB_WC_SUCCESS);
	d.qkey = 0x80000000;
	KUNIT_ASSERT_EQ(test, send_ud(c, 0, &c->tx[1], &d), 0);
	KUNIT_ASSERT_EQ(test, conn_wait(&c->tx[1]), IB_WC_SUCCESS);
	expect(test, c, &c->rx[0], 0, 1, &d);
	KUNIT_EXPECT_TRUE(test, counted(test, c->dev, "qkey_violations", violations + 1));
}

/* No receive, or one that is too small: the message is dropped and counted, the QP works on. */
static void test_no_receive(struct kunit *test)
{
	struct conn *c = ud_conn(test, 0, 0);
	struct datagram d = {
		.ah = way_to(test, c, own_lid(test, c), NULL), .qpn = c->qp[1]->qp_num,
		.qkey = CONN_QKEY, .off = 512, .len = 300,
	};
	u64 dropped = hca_counter(test, c->dev, "rx_no_receive");

	KUNIT_ASSERT_EQ(test, send_ud(c, 0, &c->tx[0], &d), 0);
	KUNIT_ASSERT_EQ(test, conn_wait(&c->tx[0]), IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, counted(test, c->dev, "rx_no_receive", dropped + 1));
	KUNIT_ASSERT_EQ(test, recv_ud(c, 1, &c->rx[0], d.off, 299), 0);
	KUNIT_ASSERT_EQ(test, send_ud(c, 0, &c->tx[0], &d), 0);
	KUNIT_ASSERT_EQ(test, conn_wait(&c->tx[0]), IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, counted(test, c->dev, "rx_no_receive", dropped + 2));
	d.len = 299;
	conn_fill(c, 5);
	KUNIT_ASSERT_EQ(test, send_ud(c, 0, &c->tx[1], &d), 0);
	expect(test, c, &c->rx[0], 0, 1, &d);
}

/* A message longer than the MTU stops the send queue but not receives; SQE can be left again. */
static void test_too_long(struct kunit *test)
{
	struct ib_qp_attr rts = { .qp_state = IB_QPS_RTS, .cur_qp_state = IB_QPS_SQE }, attr;
	struct conn *c = ud_conn(test, 0, 0);
	struct datagram d = {
		.ah = way_to(test, c, own_lid(test, c), NULL), .qpn = c->qp[0]->qp_num,
		.qkey = CONN_QKEY, .off = 512, .len = 4097,
	};
	struct ib_qp_init_attr init;

	KUNIT_ASSERT_EQ(test, send_ud(c, 0, &c->tx[0], &d), 0);
	KUNIT_EXPECT_EQ(test, conn_wait(&c->tx[0]), IB_WC_LOC_LEN_ERR);
	KUNIT_ASSERT_EQ(test, ib_query_qp(c->qp[0], &attr, IB_QP_STATE, &init), 0);
	KUNIT_EXPECT_EQ(test, attr.qp_state, IB_QPS_SQE);
	KUNIT_EXPECT_EQ(test, attr.qkey, CONN_QKEY);
	KUNIT_ASSERT_EQ(test, ib_modify_qp(c->qp[0], &rts, IB_QP_STATE | IB_QP_CUR_STATE), 0);
	d.len = 100;
	conn_fill(c, 5);
	KUNIT_ASSERT_EQ(test, recv_ud(c, 0, &c->rx[0], d.off, 100), 0);
	KUNIT_ASSERT_EQ(test, send_ud(c, 0, &c->tx[1], &d), 0);
	expect(test, c, &c->rx[0], 0, 0, &d);
}

static union ib_gid group(u8 last)
{
	union ib_gid gid = { .raw = { 0xff, 0x12, [15] = last } };

	return gid;
}

static void detach(struct kunit *test, struct conn *c, int qp, union ib_gid *gid)
{
	KUNIT_EXPECT_EQ(test, ib_detach_mcast(c->qp[qp], gid, MLID), 0);
}

static void test_multicast(struct kunit *test)
{
	union ib_gid gid = group(9), other = group(10);
	struct conn *c;
	struct datagram d = { .qpn = IB_MULTICAST_QPN, .qkey = CONN_QKEY, .off = 512, .len = 300 };

	need(test, VHCA_CAP_MCAST);
	c = ud_conn(test, 0, 0);
	d.ah = way_to(test, c, MLID, &gid);
	for (int i = 0; i < 2; i++)
		KUNIT_ASSERT_EQ(test, ib_attach_mcast(c->qp[i], &gid, MLID), 0);
	conn_fill(c, 5);
	for (int i = 0; i < 2; i++)
		KUNIT_ASSERT_EQ(test, recv_ud(c, i, &c->rx[i], d.off, 300), 0);
	KUNIT_ASSERT_EQ(test, send_ud(c, 0, &c->tx[0], &d), 0);
	for (int i = 0; i < 2; i++) {
		expect(test, c, &c->rx[i], 0, i, &d);
		KUNIT_EXPECT_EQ(test, c->rx[i].wc.wc_flags & IB_WC_GRH, IB_WC_GRH);
	}
	/* Only one QP is left, and messages to another group reach no QP. */
	detach(test, c, 0, &gid);
	for (int i = 0; i < 2; i++)
		KUNIT_ASSERT_EQ(test, recv_ud(c, i, &c->rx[i], d.off, 300), 0);
	d.ah = way_to(test, c, MLID, &other);
	KUNIT_ASSERT_EQ(test, send_ud(c, 0, &c->tx[0], &d), 0);
	d.ah = way_to(test, c, MLID, &gid);
	d.len = 299;
	conn_fill(c, 6);
	KUNIT_ASSERT_EQ(test, send_ud(c, 0, &c->tx[1], &d), 0);
	expect(test, c, &c->rx[1], 0, 1, &d);
	KUNIT_EXPECT_FALSE(test, completion_done(&c->rx[0].done));
	detach(test, c, 1, &gid);

	KUNIT_EXPECT_NE(test, ib_detach_mcast(c->qp[1], &gid, MLID), 0);
	KUNIT_EXPECT_EQ(test, ib_attach_mcast(c->qp[0], &gid, 0xbfff), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_attach_mcast(c->qp[0], &gid, 0xffff), -EINVAL);
	gid.raw[0] = 0xfe;
	KUNIT_EXPECT_EQ(test, ib_attach_mcast(c->qp[0], &gid, MLID), -EINVAL);
}

/* QPs with blocked multicast loopback: each gets only multicasts of the other. */
static void test_blocked_loopback(struct kunit *test)
{
	union ib_gid gid = group(11);
	struct datagram d = { .qpn = IB_MULTICAST_QPN, .qkey = CONN_QKEY, .off = 512, .len = 300 };
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;
	struct conn *c;

	need(test, VHCA_CAP_MCAST);
	c = ud_conn(test, 0, IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK);
	KUNIT_EXPECT_TRUE(test, c->dev->attrs.kernel_cap_flags & IBK_BLOCK_MULTICAST_LOOPBACK);
	KUNIT_ASSERT_EQ(test, ib_query_qp(c->qp[0], &attr, IB_QP_STATE, &init), 0);
	KUNIT_EXPECT_EQ(test, init.create_flags, IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK);
	d.ah = way_to(test, c, MLID, &gid);
	for (int i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, ib_attach_mcast(c->qp[i], &gid, MLID), 0);
		KUNIT_ASSERT_EQ(test, recv_ud(c, i, &c->rx[i], d.off, 300), 0);
	}
	/* The first receive of each QP has the first multicast of the other. */
	for (int i = 0; i < 2; i++) {
		conn_fill(c, i);
		KUNIT_ASSERT_EQ(test, send_ud(c, i, &c->tx[i], &d), 0);
		expect(test, c, &c->rx[!i], i, !i, &d);
	}
	for (int i = 0; i < 2; i++)
		detach(test, c, i, &gid);
}

static void free_pd(void *pd)
{
	ib_dealloc_pd(pd);
}

/* An address handle of another PD is refused. */
static void test_address_of_another_pd(struct kunit *test)
{
	struct conn *c = ud_conn(test, 0, 0);
	u16 lid = own_lid(test, c);
	struct datagram d = {
		.qpn = c->qp[1]->qp_num, .qkey = CONN_QKEY, .off = 512, .len = 300,
	};
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_IB };
	struct ib_pd *pd = ib_alloc_pd(c->dev, 0);

	KUNIT_ASSERT_FALSE(test, IS_ERR(pd));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_pd, pd), 0);
	rdma_ah_set_dlid(&attr, lid);
	rdma_ah_set_port_num(&attr, 1);
	d.ah = ah_of(test, pd, &attr);
	KUNIT_EXPECT_EQ(test, send_ud(c, 0, &c->tx[0], &d), -EINVAL);
	d.ah = way_to(test, c, lid, NULL);
	conn_fill(c, 5);
	KUNIT_ASSERT_EQ(test, recv_ud(c, 1, &c->rx[0], d.off, 300), 0);
	KUNIT_ASSERT_EQ(test, send_ud(c, 0, &c->tx[0], &d), 0);
	expect(test, c, &c->rx[0], 0, 1, &d);
}

/* Both QPs on one SRQ. */
static void test_shared_receives(struct kunit *test)
{
	struct conn *c;
	struct datagram d = { .qkey = CONN_QKEY, .len = 200 };

	need(test, VHCA_CAP_SRQ);
	c = ud_conn(test, 8, 0);
	d.ah = way_to(test, c, own_lid(test, c), NULL);
	conn_fill(c, 5);
	for (int i = 0; i < 8; i++)
		KUNIT_ASSERT_EQ(test, recv_ud(c, 0, &c->rx[i], 512 * (i + 1), 300), 0);
	for (int i = 0; i < 8; i++) {
		d.qpn = c->qp[i / 2 & 1]->qp_num;
		d.off = 512 * (i + 1);
		KUNIT_ASSERT_EQ(test, send_ud(c, i & 1, &c->tx[i], &d), 0);
		expect(test, c, &c->rx[i], i & 1, i / 2 & 1, &d);
	}
}

/* The same for unreliable connections: one that loses a message keeps no receive. */
static void test_shared_receives_of_connections(struct kunit *test)
{
	struct conn_options o = { .type = IB_QPT_UC, .srq_wr = 8 };
	struct ib_device *dev = need(test, VHCA_CAP_UC);
	struct conn *c;

	need(test, VHCA_CAP_SRQ);
	c = conn_get_as(test, dev, &o);
	conn_fill(c, 5);
	KUNIT_ASSERT_EQ(test, conn_send(c, 0, &c->tx[8], IB_WR_SEND, IB_SEND_SIGNALED, 0, 3000, 0),
			0);
	KUNIT_ASSERT_EQ(test, conn_wait(&c->tx[8]), IB_WC_SUCCESS);
	for (int i = 0; i < 8; i++)
		KUNIT_ASSERT_EQ(test, conn_recv(c, 0, &c->rx[i], 3000 * i, 3000), 0);
	for (int i = 0; i < 8; i++) {
		KUNIT_ASSERT_EQ(test, conn_send(c, i & 1, &c->tx[i], IB_WR_SEND, IB_SEND_SIGNALED,
						3000 * i, 2999, 0), 0);
		KUNIT_ASSERT_EQ(test, conn_wait(&c->rx[i]), IB_WC_SUCCESS);
		KUNIT_EXPECT_PTR_EQ(test, c->rx[i].wc.qp, c->qp[i & 1]);
		KUNIT_EXPECT_TRUE(test, conn_arrived(c, 3000 * i, 2999));
	}
}

/* An unreliable connection carries messages and WRITEs; what it cannot deliver is lost. */
static void test_unreliable_connection(struct kunit *test)
{
	struct conn *c = conn_get_as(test, need(test, VHCA_CAP_UC),
				     &(struct conn_options){ .type = IB_QPT_UC });
	u32 rkey = c->pd->unsafe_global_rkey;
	struct conn_wr *tx = &c->tx[0], *rx = &c->rx[0];

	KUNIT_ASSERT_EQ(test, conn_send(c, 0, tx, IB_WR_SEND, IB_SEND_SIGNALED, 0, 5000, 0), 0);
	KUNIT_ASSERT_EQ(test, conn_wait(tx), IB_WC_SUCCESS);
	conn_fill(c, 1);
	KUNIT_ASSERT_EQ(test, conn_recv(c, 0, rx, 0, 30000), 0);
	KUNIT_ASSERT_EQ(test, conn_send(c, 0, tx, IB_WR_SEND_WITH_IMM, IB_SEND_SIGNALED, 0, 20000,
					0), 0);
	KUNIT_ASSERT_EQ(test, conn_wait(tx), IB_WC_SUCCESS);
	KUNIT_ASSERT_EQ(test, conn_wait(rx), IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, rx->wc.byte_len, 20000);
	KUNIT_EXPECT_EQ(test, rx->wc.wc_flags & IB_WC_WITH_IMM, IB_WC_WITH_IMM);
	KUNIT_EXPECT_TRUE(test, conn_arrived(c, 0, 20000));

	conn_fill(c, 2);
	KUNIT_ASSERT_EQ(test, conn_recv(c, 0, rx, 0, 0), 0);
	KUNIT_ASSERT_EQ(test, conn_send(c, 0, tx, IB_WR_RDMA_WRITE_WITH_IMM, IB_SEND_SIGNALED, 0,
					10000, rkey), 0);
	KUNIT_ASSERT_EQ(test, conn_wait(rx), IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, rx->wc.opcode, IB_WC_RECV_RDMA_WITH_IMM);
	KUNIT_EXPECT_TRUE(test, conn_arrived(c, 0, 10000));
	KUNIT_ASSERT_EQ(test, conn_wait(tx), IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, conn_send(c, 0, tx, IB_WR_RDMA_READ, IB_SEND_SIGNALED, 0, 8, rkey),
			-EINVAL);
}

static void test_refusals(struct kunit *test)
{
	struct conn *c = ud_conn(test, 0, 0);
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_IB };
	struct ib_qp_init_attr init = {
		.cap = { .max_send_wr = 1, .max_inline_data = 945, .max_send_sge = 1 },
		.send_cq = c->cq, .recv_cq = c->cq, .qp_type = IB_QPT_UD,
	};
	struct ib_qp *qp;

	rdma_ah_set_dlid(&attr, 1);
	rdma_ah_set_port_num(&attr, 1);
	rdma_ah_set_sl(&attr, 16);
	KUNIT_EXPECT_TRUE(test, IS_ERR(rdma_create_ah(c->pd, &attr, 0)));
	rdma_ah_set_sl(&attr, 0);
	rdma_ah_set_static_rate(&attr, 1);
	KUNIT_EXPECT_TRUE(test, IS_ERR(rdma_create_ah(c->pd, &attr, 0)));

	qp = ib_create_qp(c->pd, &init);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(qp), -EINVAL);
	init.cap.max_inline_data = 944;
	qp = ib_create_qp(c->pd, &init);
	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	ib_destroy_qp(qp);
}

static struct kunit_case ud_cases[] = {
	KUNIT_CASE(test_datagrams),
	KUNIT_CASE(test_route_and_answer),
	KUNIT_CASE(test_qkeys),
	KUNIT_CASE(test_no_receive),
	KUNIT_CASE(test_too_long),
	KUNIT_CASE(test_multicast),
	KUNIT_CASE(test_blocked_loopback),
	KUNIT_CASE(test_address_of_another_pd),
	KUNIT_CASE(test_shared_receives),
	KUNIT_CASE(test_shared_receives_of_connections),
	KUNIT_CASE(test_unreliable_connection),
	KUNIT_CASE(test_refusals),
	{}
};

struct kunit_suite hca_ud_suite = {
	.name = "vhca_hca_ud",
	.suite_init = rdma_kunit_again,
	.init = hca_test_init,
	.test_cases = ud_cases,
};
