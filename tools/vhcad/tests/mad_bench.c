// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What management costs data traffic: 64-byte WRITEs while one port sends the other's agent
 * requests without end, one for every BATCH of them, against those WRITEs alone.  The time of the
 * requests themselves is not the data's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/subnet.h"
#include "res/dev.h"
#include "tests/tagent.h"
#include "tests/tbench.h"
#include "tests/thca.h"
#include "wire/mad.h"

#define RW	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE)
#define BATCH	128u
#define LOOPS	500u
#define ROUNDS	31u

struct bench {
	struct tpair p;
	struct tmr mr[2];
	u8 request[MAD_LEN];
};

static struct fab_port *port_of(struct bench *b, u32 hca)
{
	return &b->p.h[hca].dev->port[0].fab;
}

static void make_request(struct bench *b)
{
	ta_header(b->request, MAD_CLASS_PERF, MAD_GET, ATTR_CLASS_PORT_INFO);
	mad_put(b->request, MAD_TID, 1);
}

static void ask(struct bench *b)
{
	struct fab_port *from = port_of(b, 0);
	const struct wire_hdr h = {
		.pkey = 0xffff, .opcode = OP_UD_SEND_ONLY, .dqpn = 1, .sqpn = 1,
		.qkey = MAD_GSI_QKEY, .dlid = port_of(b, 1)->ib.lid, .slid = from->ib.lid,
	};
	struct payload pl;
	struct run run;

	run_from_packet(&run, &pl, &h, b->request, MAD_LEN);
	assert_true(fab_send_mad(from, &run));
}

static void write_batch(struct bench *b)
{
	struct twr wr = t_wr(VHCA_OP_WRITE, 1, &b->mr[0], 0, 64, &b->mr[1], 0);
	struct vhca_cqe e;

	for (u32 k = 0; k < BATCH; k++)
		t_post(&b->p.qp[0], &wr);
	t_ring_sq(&b->p.qp[0]);
	t_poll(&b->p.w);
	for (u32 k = 0; k < BATCH; k++)
		assert_true(t_cq_poll(&b->p.cq[0], &e));
}

/* Nanoseconds a batch. */
static double cost(struct bench *b, bool data, bool mads)
{
	u64 t = bench_ns();

	for (u32 i = 0; i < LOOPS; i++) {
		if (mads)
			ask(b);
		if (data)
			write_batch(b);
		else
			t_poll(&b->p.w);
	}
	return (double)(bench_ns() - t) / LOOPS;
}

int main(void)
{
	double alone[ROUNDS], mads[ROUNDS], by[ROUNDS];
	struct bench *b = calloc(1, sizeof(*b));
	u64 answers;

	freopen("/dev/null", "w", stderr);
	t_pair_init_regions(&b->p, 0, 0, &b->mr[0], &b->mr[1], 4096, RW, RW);
	make_request(b);
	answers = port_of(b, 0)->ib.rx_packets;
	cost(b, false, true);
	/* every request is answered, or this would measure nothing */
	assert_int_equal(port_of(b, 0)->ib.rx_packets - answers, LOOPS);
	for (u32 i = 0; i < ROUNDS; i++) {
		alone[i] = cost(b, true, false);
		mads[i] = cost(b, false, true);
		by[i] = (cost(b, true, true) - mads[i]) / alone[i];
	}
	printf("%u WRITEs of 64 bytes: %.0f ns; a request of management and its answer: %.0f ns\n",
	       BATCH, bench_median(alone, ROUNDS), bench_median(mads, ROUNDS));
	bench_at_most("data while ports are managed, by data alone", bench_median(by, ROUNDS),
		      1.03);
	t_pair_fini(&b->p);
	free(b);
	return bench_end();
}
