// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Fuzzes mad/: invalid directed routes, RMPP segments and acknowledgments in any order, and agents
 * that are registered and unregistered while MADs are dispatched.
 *
 * The first byte of the input says which of the three it is.
 */
#include <stdio.h>

#include "mad.h"
#include "chance.h"
#include "../../../drivers/infiniband/core/mad/rmpp.h"
#include "../../../drivers/infiniband/core/mad/smi.h"
#include "../../../drivers/infiniband/core/mad/table.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#define CHECK(ok) \
	do { \
		if (!(ok)) { \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #ok); \
			abort(); \
		} \
	} while (0)

struct input {
	const u8 *at, *end;
};

static u8 in_8(struct input *in)
{
	return in->at < in->end ? *in->at++ : 0;
}

static u32 in_32(struct input *in)
{
	return (u32)in_8(in) << 24 | in_8(in) << 16 | in_8(in) << 8 | in_8(in);
}

/* ---- directed routes ---- */

/* A random packet through random nodes: the pointer stays in the path, and ports exist. */
static void route(struct input *in)
{
	/* Of the exact size, for the sanitizer to notice reads behind it. */
	struct ib_smp *smp = malloc(sizeof(*smp));
	struct ib_smp before;

	CHECK(smp);
	for (size_t i = 0; i < sizeof(*smp); i++)
		((u8 *)smp)[i] = in_8(in);
	while (in->at < in->end) {
		u8 what = in_8(in), port = in_8(in), out = 0xff;
		const struct smi_node node = { .is_switch = what & 1, .ports = in_8(in) };
		bool sent = what & 2;
		enum smi_verdict verdict;

		if (what & 4)
			smp->hop_cnt = in_8(in);
		if (what & 8)
			smp->hop_ptr = in_8(in);
		if (what & 16)
			smp->status ^= IB_SMP_DIRECTION;
		if (what & 32)
			smp->dr_slid = what & 64 ? IB_LID_PERMISSIVE : cpu_to_be16(port);
		if (what & 128)
			smp->dr_dlid = what & 64 ? IB_LID_PERMISSIVE : cpu_to_be16(port);
		before = *smp;
		verdict = sent ? smi_route_sent(smp, &node, port) :
				 smi_route_received(smp, &node, port, &out);
		CHECK(verdict == SMI_DROP || verdict == SMI_HERE || verdict == SMI_OUT);
		if (verdict != SMI_DROP) {
			CHECK(smp->hop_cnt < IB_SMP_MAX_PATH_HOPS);
			CHECK(smp->hop_ptr <= smp->hop_cnt + 1);
		}
		if (verdict == SMI_OUT && !sent)
			CHECK(node.is_switch && out <= node.ports);
		/* Only the pointer and the return path may change. */
		before.hop_ptr = smp->hop_ptr;
		memcpy(before.return_path, smp->return_path, sizeof(before.return_path));
		CHECK(!memcmp(&before, smp, sizeof(before)));
	}
	free(smp);
}

/* ---- RMPP ---- */

/* A number near @number, or any number. */
static u32 near(struct input *in, u32 number)
{
	u8 how = in_8(in);

	return how < 0xf0 ? number + how % 80 - 8 : how < 0xf8 ? in_8(in) : in_32(in);
}

static void receive(struct rmpp_rx *rx, struct input *in)
{
	const struct rmpp_rx before = *rx;
	u32 seg = near(in, rx->have);
	u8 flags = in_8(in), status = 0;
	enum rmpp_rx_event event;
	bool ack;

	/* Most first segments are marked as such, as otherwise little would follow. */
	if (flags & 0x80)
		flags = (seg == 1 ? IB_MGMT_RMPP_FLAG_FIRST : 0) | (flags & IB_MGMT_RMPP_FLAG_LAST);
	event = rmpp_rx_data(rx, seg, flags, in_8(in), IB_MGMT_RMPP_DATA, &ack, &status);
	CHECK(rx->have >= before.have && rx->window >= before.window);
	CHECK(rx->have <= rx->window && rx->window - rx->have <= RMPP_WINDOW);
	CHECK(!rx->last || rx->have <= rx->last);
	CHECK(!(rx->early & 1) || rx->have != rx->window);
	CHECK((event == RMPP_RX_ABORT) == (status != IB_MGMT_RMPP_STATUS_SUCCESS));
	CHECK(event != RMPP_RX_ABORT || !ack);
	if (event == RMPP_RX_DROP || event == RMPP_RX_ABORT)
		CHECK(!memcmp(rx, &before, sizeof(before)));
	else
		CHECK(seg > before.have && seg <= before.window);
	CHECK((event == RMPP_RX_DONE) == (rmpp_rx_done(rx) && !rmpp_rx_done(&before)));
}

static void send(struct rmpp_tx *tx, struct input *in)
{
	const struct rmpp_tx before = *tx;
	u8 what = in_8(in), status = 0;
	enum rmpp_tx_event event;
	u32 seg;

	if (what < 0x80) {
		seg = rmpp_tx_next(tx);
		CHECK(seg <= tx->segs && seg <= tx->window);
		CHECK(!seg || seg > tx->acked || rmpp_tx_done(tx));
	} else if (what < 0x90) {
		rmpp_tx_again(tx);
	} else {
		seg = near(in, tx->acked);
		event = rmpp_tx_ack(tx, seg, near(in, seg), &status);
		CHECK(tx->acked >= before.acked && tx->window >= before.window);
		CHECK((event == RMPP_TX_ABORT) == (status != IB_MGMT_RMPP_STATUS_SUCCESS));
		CHECK((event == RMPP_TX_DONE) == (rmpp_tx_done(tx) && !rmpp_tx_done(&before)));
		if (event == RMPP_TX_ABORT)
			CHECK(!memcmp(tx, &before, sizeof(before)));
		if (event == RMPP_TX_PROGRESS || event == RMPP_TX_DONE)
			CHECK(tx->acked > before.acked);
	}
	CHECK(tx->acked <= tx->segs && tx->next);
}

static void segments(struct input *in)
{
	struct rmpp_tx tx;
	struct rmpp_rx rx;

	rmpp_tx_init(&tx, 1 + in_8(in));
	rmpp_rx_init(&rx);
	while (in->at < in->end) {
		receive(&rx, in);
		send(&tx, in);
	}
}

/* ---- the table ---- */

#define AGENTS		6
#define CLASSES		4	/* two that differ by their OUI alone, and two by their version */
#define METHODS		8

struct agent {
	struct ib_mad_reg_req req;
	unsigned int class;
	bool has;
};

static struct ib_mad_reg_req request_of(unsigned int class, u8 methods)
{
	struct ib_mad_reg_req req = {
		.mgmt_class = class < 2 ? IB_MGMT_CLASS_VENDOR_RANGE2_START : 4,
		.mgmt_class_version = class < 2 ? 1 : class,
		.oui = { 1, 2, class },
	};

	for (unsigned int i = 0; i < METHODS; i++)
		if (methods & BIT(i))
			set_bit(16 * i, req.method_mask);
	return req;
}

/* A model of the table: the agent that takes a MAD. */
static struct agent *taker(struct agent *agents, unsigned int class, unsigned int method)
{
	for (unsigned int i = 0; i < AGENTS; i++)
		if (agents[i].has && agents[i].class == class &&
		    test_bit(16 * method, agents[i].req.method_mask))
			return &agents[i];
	return NULL;
}

static void check_table(const struct mad_table *table, struct agent *agents)
{
	for (unsigned int class = 0; class < CLASSES; class++)
		for (unsigned int method = 0; method < METHODS; method++) {
			struct ib_mad_reg_req req = request_of(class, 0);
			struct ib_vendor_mad mad = {
				.mad_hdr = {
					.mgmt_class = req.mgmt_class,
					.class_version = req.mgmt_class_version,
					.method = 16 * method,
				},
			};

			memcpy(mad.oui, req.oui, sizeof(mad.oui));
			CHECK(mad_table_find(table, (struct ib_mad *)&mad) ==
			      taker(agents, class, method));
			mad.mad_hdr.method |= IB_MGMT_METHOD_RESP;
			CHECK(mad_table_find(table, (struct ib_mad *)&mad) ==
			      taker(agents, class, method));
		}
}

static void agents_come(struct input *in)
{
	struct agent agents[AGENTS] = { 0 };
	struct mad_table table;

	mad_table_init(&table);
	while (in->at < in->end) {
		struct agent *agent = &agents[in_8(in) % AGENTS];

		if (agent->has) {
			mad_table_remove(&table, &agent->req, agent);
			agent->has = false;
		} else {
			u8 methods;
			bool free = true;

			agent->class = in_8(in) % CLASSES;
			methods = in_8(in) & in_8(in);
			agent->req = request_of(agent->class, methods);
			for (unsigned int i = 0; i < METHODS; i++)
				free &= !(methods & BIT(i)) || !taker(agents, agent->class, i);
			CHECK(mad_table_add(&table, &agent->req, agent, GFP_KERNEL) ==
			      (free ? 0 : -EINVAL));
			agent->has = free;
		}
		check_table(&table, agents);
	}
	for (unsigned int i = 0; i < AGENTS; i++)
		if (agents[i].has)
			mad_table_remove(&table, &agents[i].req, &agents[i]);
	for (unsigned int i = 0; i < MAD_TABLE_BUCKETS; i++)
		CHECK(hlist_empty(&table.buckets[i]));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static void (*const parts[])(struct input *in) = { route, segments, agents_come };
	struct input in = { data, data + size };

	parts[in_8(&in) % ARRAY_SIZE(parts)](&in);
	return 0;
}

#ifndef LIBFUZZER
/* Without libFuzzer: pseudo-random inputs, the same each time. */
int main(void)
{
	printf("[ RUN      ] mad_fuzz: inputs by chance\n");
	fflush(stdout);
	inputs_by_chance(100000);
	printf("[       OK ] mad_fuzz: inputs by chance\n[  PASSED  ] 1 test(s).\n");
	return 0;
}
#endif
