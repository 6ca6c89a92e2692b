// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: the parts of mad/ that need no device: classes and methods, directed routes, RMPP.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/slab.h>

#include "../rmpp.h"
#include "../smi.h"
#include "../table.h"

/* ---- table ---- */

static struct ib_mad_reg_req request_for(u8 mgmt_class, u8 version, u32 oui, unsigned int method)
{
	struct ib_mad_reg_req req = {
		.mgmt_class = mgmt_class, .mgmt_class_version = version,
		.oui = { oui >> 16, oui >> 8, oui },
	};

	set_bit(method, req.method_mask);
	return req;
}

static struct ib_mad mad_of(u8 mgmt_class, u8 version, u32 oui, u8 method)
{
	struct ib_mad mad = {};
	struct ib_vendor_mad *vendor = (struct ib_vendor_mad *)&mad;

	mad.mad_hdr.mgmt_class = mgmt_class;
	mad.mad_hdr.class_version = version;
	mad.mad_hdr.method = method;
	vendor->oui[0] = oui >> 16;
	vendor->oui[1] = oui >> 8;
	vendor->oui[2] = oui;
	return mad;
}

static void table_gives_each_method_once(struct kunit *test)
{
	struct ib_mad_reg_req get = request_for(4, 1, 0, IB_MGMT_METHOD_GET);
	struct ib_mad_reg_req both = get, other = request_for(4, 2, 0, IB_MGMT_METHOD_GET);
	struct ib_mad mad = mad_of(4, 1, 0, IB_MGMT_METHOD_SET);
	struct mad_table table;
	int one, two;

	mad_table_init(&table);
	set_bit(IB_MGMT_METHOD_SET, both.method_mask);
	KUNIT_EXPECT_EQ(test, mad_table_add(&table, &get, &one, GFP_KERNEL), 0);
	KUNIT_EXPECT_EQ(test, mad_table_add(&table, &both, &two, GFP_KERNEL), -EINVAL);
	KUNIT_EXPECT_NULL(test, mad_table_find(&table, &mad));
	KUNIT_EXPECT_EQ(test, mad_table_add(&table, &other, &two, GFP_KERNEL), 0);
	mad_table_remove(&table, &get, &two);
	mad.mad_hdr.method = IB_MGMT_METHOD_GET;
	KUNIT_EXPECT_PTR_EQ(test, mad_table_find(&table, &mad), (void *)&one);
	mad_table_remove(&table, &get, &one);
	KUNIT_EXPECT_EQ(test, mad_table_add(&table, &both, &two, GFP_KERNEL), 0);
	KUNIT_EXPECT_PTR_EQ(test, mad_table_find(&table, &mad), (void *)&two);
	mad_table_remove(&table, &both, &two);
	mad_table_remove(&table, &other, &two);
	for (unsigned int i = 0; i < MAD_TABLE_BUCKETS; i++)
		KUNIT_EXPECT_TRUE(test, hlist_empty(&table.buckets[i]));
}

static void table_knows_vendors(struct kunit *test)
{
	struct ib_mad_reg_req ours = request_for(0x32, 1, 0x001405, IB_MGMT_METHOD_GET);
	struct ib_mad_reg_req theirs = request_for(0x32, 1, 0x0002c9, IB_MGMT_METHOD_GET);
	struct ib_mad mad = mad_of(0x32, 1, 0x0002c9, IB_MGMT_METHOD_GET);
	struct ib_mad nobodys = mad_of(0x32, 1, 0x0002ca, IB_MGMT_METHOD_GET);
	struct mad_table table;
	int one, two;

	mad_table_init(&table);
	KUNIT_EXPECT_EQ(test, mad_table_add(&table, &ours, &one, GFP_KERNEL), 0);
	KUNIT_EXPECT_EQ(test, mad_table_add(&table, &theirs, &two, GFP_KERNEL), 0);
	KUNIT_EXPECT_PTR_EQ(test, mad_table_find(&table, &mad), (void *)&two);
	KUNIT_EXPECT_NULL(test, mad_table_find(&table, &nobodys));
	mad_table_remove(&table, &ours, &one);
	mad_table_remove(&table, &theirs, &two);
}

/* ---- directed routes ---- */

/**
 * struct hop - a node on the way
 * @node: its type and ports
 * @in: port at which the request arrives
 * @out: port from which it leaves
 */
struct hop {
	struct smi_node node;
	u8 in, out;
};

static const struct smi_node ca = { .ports = 2 };

static struct ib_smp new_smp(u8 hops, const u8 *path)
{
	struct ib_smp smp = {
		.mgmt_class = IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE,
		.hop_cnt = hops,
		.dr_slid = IB_LID_PERMISSIVE,
		.dr_dlid = IB_LID_PERMISSIVE,
	};

	if (hops)
		memcpy(smp.initial_path + 1, path, hops);
	return smp;
}

static void route_there_and_back(struct kunit *test)
{
	const struct hop way[] = {
		{ { .is_switch = true, .ports = 8 }, 3, 7 },
		{ { .is_switch = true, .ports = 4 }, 1, 2 },
	};
	const u8 path[] = { 2, 7, 2 };
	struct ib_smp smp = new_smp(ARRAY_SIZE(path), path);
	u8 out;

	KUNIT_ASSERT_EQ(test, smi_route_sent(&smp, &ca, 2), SMI_OUT);
	for (int i = 0; i < ARRAY_SIZE(way); i++) {
		KUNIT_ASSERT_EQ(test, smi_route_received(&smp, &way[i].node, way[i].in, &out),
				SMI_OUT);
		KUNIT_EXPECT_EQ(test, out, way[i].out);
		KUNIT_EXPECT_EQ(test, smi_out_port(&smp), way[i].out);
	}
	KUNIT_ASSERT_EQ(test, smi_route_received(&smp, &ca, 1, &out), SMI_HERE);
	KUNIT_EXPECT_EQ(test, smp.hop_ptr, smp.hop_cnt + 1);
	KUNIT_EXPECT_EQ(test, smp.return_path[1], 3);
	KUNIT_EXPECT_EQ(test, smp.return_path[2], 1);
	KUNIT_EXPECT_EQ(test, smp.return_path[3], 1);

	smp.status |= IB_SMP_DIRECTION;
	KUNIT_ASSERT_EQ(test, smi_route_sent(&smp, &ca, 1), SMI_OUT);
	for (int i = ARRAY_SIZE(way) - 1; i >= 0; i--) {
		KUNIT_ASSERT_EQ(test, smi_route_received(&smp, &way[i].node, way[i].out, &out),
				SMI_OUT);
		KUNIT_EXPECT_EQ(test, out, way[i].in);
		KUNIT_EXPECT_EQ(test, smi_out_port(&smp), way[i].in);
	}
	KUNIT_ASSERT_EQ(test, smi_route_received(&smp, &ca, 2, &out), SMI_HERE);
	KUNIT_EXPECT_EQ(test, smp.hop_ptr, 0);
}

static void route_without_hops(struct kunit *test)
{
	struct ib_smp smp = new_smp(0, NULL);

	KUNIT_EXPECT_EQ(test, smi_route_sent(&smp, &ca, 1), SMI_HERE);
	KUNIT_EXPECT_EQ(test, smp.hop_ptr, 1);
	smp.status |= IB_SMP_DIRECTION;
	KUNIT_EXPECT_EQ(test, smi_route_sent(&smp, &ca, 1), SMI_HERE);
	KUNIT_EXPECT_EQ(test, smp.hop_ptr, 0);
}

static void route_by_lid_first(struct kunit *test)
{
	const struct smi_node sw = { .is_switch = true, .ports = 4 };
	const u8 path[] = { 3 };
	struct ib_smp smp = new_smp(1, path);
	u8 out;

	smp.dr_slid = cpu_to_be16(5);
	KUNIT_EXPECT_EQ(test, smi_route_sent(&smp, &ca, 1), SMI_OUT);
	KUNIT_EXPECT_EQ(test, smp.hop_ptr, 0);
	KUNIT_EXPECT_EQ(test, smi_out_port(&smp), 0);
	KUNIT_EXPECT_EQ(test, smi_route_received(&smp, &sw, 1, &out), SMI_OUT);
	KUNIT_EXPECT_EQ(test, out, 3);
	KUNIT_EXPECT_EQ(test, smi_route_received(&smp, &ca, 1, &out), SMI_HERE);
	/* On the way back the directed part ends in the switch, which routes it on by LID. */
	smp.status |= IB_SMP_DIRECTION;
	KUNIT_EXPECT_EQ(test, smi_route_sent(&smp, &ca, 1), SMI_OUT);
	KUNIT_EXPECT_EQ(test, smi_out_port(&smp), 1);
	KUNIT_EXPECT_EQ(test, smi_route_received(&smp, &sw, 3, &out), SMI_OUT);
	KUNIT_EXPECT_EQ(test, out, 0);
	KUNIT_EXPECT_EQ(test, smi_out_port(&smp), 0);
	KUNIT_EXPECT_EQ(test, smi_route_received(&smp, &ca, 1, &out), SMI_HERE);
}

static void broken_routes_are_dropped(struct kunit *test)
{
	const struct smi_node sw = { .is_switch = true, .ports = 2 };
	const u8 path[] = { 1, 3, 1 };
	struct ib_smp smp = new_smp(3, path);
	u8 out;

	KUNIT_EXPECT_EQ(test, smi_route_sent(&smp, &ca, 2), SMI_DROP);
	smp = new_smp(3, path);
	smp.hop_ptr = 2;
	KUNIT_EXPECT_EQ(test, smi_route_sent(&smp, &ca, 1), SMI_DROP);
	smp.hop_ptr = 0;
	KUNIT_EXPECT_EQ(test, smi_route_received(&smp, &sw, 1, &out), SMI_DROP);
	/* Only switches forward, and only from ports that they have. */
	smp.hop_ptr = 1;
	KUNIT_EXPECT_EQ(test, smi_route_received(&smp, &ca, 1, &out), SMI_DROP);
	smp.hop_ptr = 1;
	KUNIT_EXPECT_EQ(test, smi_route_received(&smp, &sw, 1, &out), SMI_DROP);
	smp.hop_ptr = 5;
	KUNIT_EXPECT_EQ(test, smi_route_received(&smp, &ca, 1, &out), SMI_DROP);
	smp.hop_cnt = IB_SMP_MAX_PATH_HOPS;
	smp.hop_ptr = IB_SMP_MAX_PATH_HOPS;
	KUNIT_EXPECT_EQ(test, smi_route_received(&smp, &ca, 1, &out), SMI_DROP);
	smp.hop_cnt = 255;
	smp.hop_ptr = 255;
	KUNIT_EXPECT_EQ(test, smi_route_received(&smp, &ca, 1, &out), SMI_DROP);
}

/* ---- RMPP ---- */

#define FLIGHT 1024

/* A packet of a model network: an acknowledgment if ack is set, else a segment. */
struct flying {
	u32 seg;
	u32 window;
	bool ack;
};

struct network {
	struct rnd_state rnd;
	unsigned int lose, copy, shuffle;	/* percent */
	struct flying flight[FLIGHT];
	unsigned int count;
	bool full;				/* has lost packets for lack of room */
};

static bool chance(struct network *net, unsigned int percent)
{
	return prandom_u32_state(&net->rnd) % 100 < percent;
}

static void fly(struct network *net, struct flying packet)
{
	unsigned int copies = chance(net, net->lose) ? 0 : 1 + chance(net, net->copy);

	while (copies-- && net->count < FLIGHT)
		net->flight[net->count++] = packet;
	net->full |= net->count == FLIGHT;
}

static struct flying land(struct network *net)
{
	unsigned int at = chance(net, net->shuffle) ? prandom_u32_state(&net->rnd) % net->count : 0;
	struct flying packet = net->flight[at];

	memmove(&net->flight[at], &net->flight[at + 1],
		(--net->count - at) * sizeof(net->flight[0]));
	return packet;
}

/*
 * The model of the receiver is the set of segments that were delivered: the state machine must
 * accept each exactly once, never acknowledge more than it has, and end when the set is complete.
 */
static void run_transfer(struct kunit *test, struct network *net, u32 segs)
{
	u8 *seen = kunit_kzalloc(test, segs + 1, GFP_KERNEL);
	unsigned int timeouts = 0, landed = 0;
	u32 model_have = 0, taken = 0, num;
	enum rmpp_rx_event event;
	struct rmpp_tx tx;
	struct rmpp_rx rx;
	u8 status, flags;
	bool ack;

	KUNIT_ASSERT_NOT_NULL(test, seen);
	rmpp_tx_init(&tx, segs);
	rmpp_rx_init(&rx);
	net->count = 0;
	net->full = false;
	while (!rmpp_tx_done(&tx)) {
		while ((num = rmpp_tx_next(&tx)))
			fly(net, (struct flying){ .seg = num });
		if (!net->count) {
			KUNIT_ASSERT_LT(test, timeouts++, 100 * segs);
			rmpp_tx_again(&tx);
			continue;
		}
		KUNIT_ASSERT_LT(test, landed++, 1000 * segs + 1000);
		struct flying packet = land(net);

		if (packet.ack) {
			enum rmpp_tx_event end = rmpp_tx_ack(&tx, packet.seg, packet.window,
							     &status);

			KUNIT_ASSERT_NE(test, end, RMPP_TX_ABORT);
			KUNIT_ASSERT_LE(test, tx.acked, model_have);
			continue;
		}
		flags = packet.seg == 1 ? IB_MGMT_RMPP_FLAG_FIRST : 0;
		if (packet.seg == segs)
			flags |= IB_MGMT_RMPP_FLAG_LAST;
		event = rmpp_rx_data(&rx, packet.seg, flags, 20, IB_MGMT_RMPP_DATA, &ack, &status);
		KUNIT_ASSERT_NE(test, event, RMPP_RX_ABORT);
		if (event != RMPP_RX_DROP) {
			KUNIT_ASSERT_EQ(test, seen[packet.seg]++, 0);
			taken++;
		}
		while (model_have < segs && seen[model_have + 1])
			model_have++;
		KUNIT_ASSERT_EQ(test, rx.have, model_have);
		KUNIT_ASSERT_EQ(test, event == RMPP_RX_DONE,
				event != RMPP_RX_DROP && model_have == segs);
		if (ack)
			fly(net, (struct flying){
				.ack = true, .seg = rx.have, .window = rx.window });
	}
	KUNIT_EXPECT_EQ(test, taken, segs);
	KUNIT_EXPECT_TRUE(test, rmpp_rx_done(&rx));
	/*
	 * A copy of a segment may be answered by a window of segments, until the network is full.
	 */
	if (!net->lose && !net->shuffle && !net->full)
		KUNIT_EXPECT_EQ(test, timeouts, 0);
	kunit_kfree(test, seen);
}

static void rmpp_on_any_network(struct kunit *test)
{
	static const u32 sizes[] = { 1, 2, 3, 63, 64, 65, 66, 129, 1000 };
	static const struct { unsigned int lose, copy, shuffle; } nets[] = {
		{ 0, 0, 0 }, { 0, 30, 0 }, { 0, 0, 50 },
		{ 10, 10, 10 }, { 30, 30, 60 }, { 60, 0, 0 },
	};
	struct network *net = kunit_kzalloc(test, sizeof(*net), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, net);
	for (int n = 0; n < ARRAY_SIZE(nets); n++)
		for (int s = 0; s < ARRAY_SIZE(sizes); s++) {
			prandom_seed_state(&net->rnd, 1000 * n + s);
			net->lose = nets[n].lose;
			net->copy = nets[n].copy;
			net->shuffle = nets[n].shuffle;
			run_transfer(test, net, sizes[s]);
		}
}

static void rmpp_sender_checks_acks(struct kunit *test)
{
	struct rmpp_tx tx;
	u8 status = 0;

	rmpp_tx_init(&tx, 10);
	KUNIT_EXPECT_EQ(test, rmpp_tx_next(&tx), 1);
	KUNIT_EXPECT_EQ(test, rmpp_tx_next(&tx), 0);
	KUNIT_EXPECT_EQ(test, rmpp_tx_ack(&tx, 2, 5, &status), RMPP_TX_ABORT);
	KUNIT_EXPECT_EQ(test, status, IB_MGMT_RMPP_STATUS_S2B);
	KUNIT_EXPECT_EQ(test, rmpp_tx_ack(&tx, 1, 0, &status), RMPP_TX_ABORT);
	KUNIT_EXPECT_EQ(test, status, IB_MGMT_RMPP_STATUS_W2S);
	KUNIT_EXPECT_EQ(test, rmpp_tx_ack(&tx, 1, U32_MAX, &status), RMPP_TX_PROGRESS);
	for (u32 seg = 2; seg <= 10; seg++)
		KUNIT_EXPECT_EQ(test, rmpp_tx_next(&tx), seg);
	KUNIT_EXPECT_EQ(test, rmpp_tx_next(&tx), 0);
	/* A gap is filled at once, but not again for the same ACK. */
	KUNIT_EXPECT_EQ(test, rmpp_tx_ack(&tx, 4, 20, &status), RMPP_TX_PROGRESS);
	KUNIT_EXPECT_EQ(test, rmpp_tx_next(&tx), 5);
	for (u32 seg = 6; seg <= 10; seg++)
		KUNIT_EXPECT_EQ(test, rmpp_tx_next(&tx), seg);
	KUNIT_EXPECT_EQ(test, rmpp_tx_ack(&tx, 4, 20, &status), RMPP_TX_STALE);
	KUNIT_EXPECT_EQ(test, rmpp_tx_next(&tx), 0);
	rmpp_tx_again(&tx);
	KUNIT_EXPECT_EQ(test, rmpp_tx_next(&tx), 5);
	KUNIT_EXPECT_EQ(test, rmpp_tx_ack(&tx, 10, 30, &status), RMPP_TX_DONE);
	KUNIT_EXPECT_EQ(test, rmpp_tx_ack(&tx, 10, 30, &status), RMPP_TX_STALE);
}

static void rmpp_receiver_checks_segments(struct kunit *test)
{
	struct rmpp_rx rx;
	u8 status;
	bool ack;

	rmpp_rx_init(&rx);
	KUNIT_EXPECT_EQ(test, rmpp_rx_data(&rx, 0, 0, 0, 220, &ack, &status), RMPP_RX_ABORT);
	KUNIT_EXPECT_EQ(test, rmpp_rx_data(&rx, 1, 0, 0, 220, &ack, &status), RMPP_RX_ABORT);
	KUNIT_EXPECT_EQ(test, status, IB_MGMT_RMPP_STATUS_BAD_SEG);
	KUNIT_EXPECT_EQ(test, rmpp_rx_data(&rx, 2, 0, 0, 220, &ack, &status), RMPP_RX_DROP);
	KUNIT_EXPECT_EQ(test, rmpp_rx_data(&rx, 1, IB_MGMT_RMPP_FLAG_FIRST, 900, 220, &ack,
					   &status), RMPP_RX_KEEP);
	KUNIT_EXPECT_TRUE(test, ack);
	KUNIT_EXPECT_EQ(test, rx.window, 1 + RMPP_WINDOW);
	/* A repeated segment is acknowledged again, whichever segments have arrived after it. */
	KUNIT_EXPECT_EQ(test, rmpp_rx_data(&rx, 2, 0, 0, 220, &ack, &status), RMPP_RX_KEEP);
	KUNIT_EXPECT_FALSE(test, ack);
	KUNIT_EXPECT_EQ(test, rmpp_rx_data(&rx, 1, IB_MGMT_RMPP_FLAG_FIRST, 900, 220, &ack,
					   &status), RMPP_RX_DROP);
	KUNIT_EXPECT_TRUE(test, ack);
	KUNIT_EXPECT_EQ(test, rmpp_rx_data(&rx, 2, IB_MGMT_RMPP_FLAG_FIRST, 0, 220, &ack, &status),
			RMPP_RX_ABORT);
	KUNIT_EXPECT_EQ(test, rmpp_rx_data(&rx, 5, IB_MGMT_RMPP_FLAG_LAST, 221, 220, &ack, &status),
			RMPP_RX_ABORT);
	KUNIT_EXPECT_EQ(test, status, IB_MGMT_RMPP_STATUS_BAD_LEN);
	KUNIT_EXPECT_EQ(test, rmpp_rx_data(&rx, 6, 0, 0, 220, &ack, &status), RMPP_RX_KEEP);
	KUNIT_EXPECT_EQ(test, rmpp_rx_data(&rx, 5, IB_MGMT_RMPP_FLAG_LAST, 20, 220, &ack, &status),
			RMPP_RX_ABORT);
	KUNIT_EXPECT_EQ(test, rmpp_rx_data(&rx, 7, IB_MGMT_RMPP_FLAG_LAST, 20, 220, &ack, &status),
			RMPP_RX_KEEP);
	KUNIT_EXPECT_EQ(test, rmpp_rx_data(&rx, 8, 0, 0, 220, &ack, &status), RMPP_RX_ABORT);
}

static struct kunit_case pure_cases[] = {
	KUNIT_CASE(table_gives_each_method_once),
	KUNIT_CASE(table_knows_vendors),
	KUNIT_CASE(route_there_and_back),
	KUNIT_CASE(route_without_hops),
	KUNIT_CASE(route_by_lid_first),
	KUNIT_CASE(broken_routes_are_dropped),
	KUNIT_CASE(rmpp_on_any_network),
	KUNIT_CASE(rmpp_sender_checks_acks),
	KUNIT_CASE(rmpp_receiver_checks_segments),
	{}
};

static struct kunit_suite pure_suite = {
	.name = "ib_mad_pure",
	.test_cases = pure_cases,
};

kunit_test_suite(pure_suite);
