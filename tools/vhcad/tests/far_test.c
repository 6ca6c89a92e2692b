// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RC to a peer outside of the daemon, behind the queue of a guest's network adapter: frames that
 * find the queue full are lost, and the peer takes those in it one after the other, in its time.
 */
#include <stdlib.h>
#include <string.h>

#include "qp/qp.h"
#include "tests/teth.h"

#define RW		(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE)
#define PEER_QPN	0x17u
#define FIRST_PSN	0xfffff0u
#define SIZE		65536u		/* of a message */
#define DEPTH		32u		/* messages that are posted and not complete */
#define FRAMES		65536u		/* in the queue, at the most; a power of 2 */
#define MESSAGES	100u
#define USUAL		100000ull	/* ns that the peer takes for a frame, */
#define SLOW		1200000ull	/* or that make an ACK time-out with 64 of them */
#define PAUSE_AT	100u		/* frames, after which it pauses for PAUSE ns */
#define PAUSE		200000000ull
#define LOSE_EACH	500u

static const u8 peer_mac[6] = { 0x52, 0x54, 0, 0, 0, 0x33 };
static const u8 peer_gid[16] = { [10] = 0xff, 0xff, 10, 77, 0, 0x33 };

/* A frame in the queue. */
struct frame {
	u32 psn, bytes;
	bool ackreq;
};

struct fixture {
	struct tpair p;
	struct tmr l;
	struct t_eth_segment segment;
	/* the queue */
	struct frame *frame;
	u32 head, tail;
	u32 bytes, room;
	/* the peer */
	u64 each;		/* ns that it takes for a frame */
	u64 due;		/* when it is done with the first one */
	u64 pause;		/* ns that it pauses, after PAUSE_AT frames */
	u32 lose_each;		/* one frame of this number is lost before it; 0: none */
	u32 epsn;
	bool silent;		/* it has reported a gap */
	/* counts of frames */
	u32 sent, lost, seen, missed, taken, again;
	u32 longest;		/* bytes in the queue at one time, at the most */
};

static struct fixture *current;

/* Instead of the adapters' segment. */
static void out_rx(struct fab_port *out, struct run *run)
{
	struct fixture *f = current;
	struct wire_hdr h;

	for (u32 i = 0; i < run->npkts; i++) {
		u32 bytes = WIRE_MAX_HDR + run_pkt_len(run, i);

		f->sent++;
		if (f->bytes + bytes > f->room || f->tail - f->head == FRAMES) {
			f->lost++;
			continue;
		}
		run_pkt_hdr(run, i, &h);
		if (f->head == f->tail)
			f->due = f->p.w.now + f->each;
		f->frame[f->tail++ % FRAMES] = (struct frame){ h.psn, bytes, h.ackreq };
		f->bytes += bytes;
		f->longest = MAX(f->longest, f->bytes);
	}
}

static const struct fab_port_ops out_ops = { .rx = out_rx };

static void answer(struct fixture *f, u8 syndrome, u32 psn)
{
	struct wire_hdr h = {
		.eth = true, .grh = true, .ipv4 = true, .vlan = WIRE_NO_TAG, .sport = 0xc001,
		.hop_limit = 64, .pkey = 0xffff, .dqpn = f->p.qp[0].qpn, .opcode = OP_RC_ACK,
		.psn = psn, .syndrome = syndrome,
	};
	u8 buf[WIRE_MAX_PKT];

	memcpy(h.dmac, t_eth_mac[0], 6);
	memcpy(h.smac, peer_mac, 6);
	memcpy(h.sgid, peer_gid, 16);
	memcpy(h.dgid, t_eth_gid[0][0], 16);
	eth_take(f->p.w.fabric->eth, buf, wire_seal_roce(buf, wire_put(&h, 0, buf), 0), NULL);
}

/* As rdma_rxe does: each repeated packet is acknowledged, and a gap is reported once. */
static void take(struct fixture *f)
{
	const struct frame *p = &f->frame[f->head++ % FRAMES];
	s32 ahead = psn_diff(p->psn, f->epsn);

	f->bytes -= p->bytes;
	f->due += f->each;
	if (f->taken == PAUSE_AT) {
		f->due += f->pause;
		f->pause = 0;
	}
	if (f->lose_each && ++f->seen % f->lose_each == 0) {
		f->missed++;
		return;
	}
	if (ahead > 0) {
		if (!f->silent)
			answer(f, AETH_NAK | NAK_PSN_SEQUENCE, f->epsn);
		f->silent = true;
		return;
	}
	if (ahead) {
		f->again++;
	} else {
		f->taken++;
		f->silent = false;
		f->epsn = psn_add(f->epsn, 1);
	}
	if (ahead || p->ackreq)
		answer(f, AETH_ACK | AETH_CREDIT_INVALID, psn_add(f->epsn, PSN_MASK));
}

/* Advances to the next event, here or in the engine; false: there is none before @end. */
static bool step(struct fixture *f, u64 end)
{
	struct tworld *w = &f->p.w;
	bool queued = f->head != f->tail;
	u64 next;

	t_poll(w);
	queued = f->head != f->tail;
	next = queued ? MIN(f->due, w->next) : w->next;
	if (next == ENGINE_NEVER || next > end)
		return false;
	w->now = MAX(w->now, next);
	if (queued && f->due <= w->now)
		take(f);
	t_poll(w);
	return true;
}

static void setup(struct fixture *f, u8 mtu, u32 room, u64 each)
{
	struct vhca_qp_attr a;
	struct tqp *qp = &f->p.qp[0];

	*f = (struct fixture){ .room = room, .each = each, .epsn = FIRST_PSN };
	current = f;
	f->frame = calloc(FRAMES, sizeof(*f->frame));
	assert_non_null(f->frame);
	t_eth_segment(&f->segment, &f->p, NULL);
	f->p.w.fabric->eth->out.ops = &out_ops;
	assert_int_equal(t_eth_port(&f->p.h[0], 0, 5), VHCA_ST_OK);
	t_qp_init(&f->p.h[0], qp, &f->p.cq[0], &f->p.cq[0]);
	t_attr_init(&a, 1);
	assert_int_equal(t_modify(qp, &a, T_MASK_INIT), VHCA_ST_OK);
	t_attr_rtr(&a, 0, PEER_QPN, 0, mtu);
	a.av = t_eth_av(1, 0);
	memcpy(a.av.dmac, peer_mac, 6);
	memcpy(a.av.dgid, peer_gid, 16);
	assert_int_equal(t_modify(qp, &a, T_MASK_RTR), VHCA_ST_OK);
	t_attr_rts(&a, FIRST_PSN);
	assert_int_equal(t_modify(qp, &a, T_MASK_RTS), VHCA_ST_OK);
	t_mr_init(&f->p.h[0], &f->l, 0, SIZE, RW, 1, 12);
}

static void done(struct fixture *f)
{
	t_eth_segment_end(&f->segment, &f->p);
	free(f->frame);
}

/* Writes messages, all of which complete before @limit ns are over. */
static void write_all(struct fixture *f, u64 limit)
{
	u64 end = f->p.w.now + limit;
	u32 posted = 0, completed = 0;
	struct vhca_cqe e;

	do {
		while (posted < MESSAGES && posted - completed < DEPTH) {
			struct twr wr = t_wr(VHCA_OP_WRITE, posted++, &f->l, 0, SIZE, NULL, 0);

			t_post(&f->p.qp[0], &wr);
		}
		t_ring_sq(&f->p.qp[0]);
		t_poll(&f->p.w);
		while (t_cq_poll(&f->p.cq[0], &e)) {
			assert_int_equal(e.status, VHCA_CS_SUCCESS);
			assert_int_equal(le64toh(e.wr_id), completed++);
		}
	} while (completed < MESSAGES && step(f, end));
	assert_int_equal(completed, MESSAGES);
}

/* Packets of all messages. */
static u32 packets(u8 mtu)
{
	return MESSAGES * (SIZE >> (mtu + 7));
}

/* No frame is lost or repeated, at any message length: the peer never runs out of work. */
static void fits(void **state)
{
	for (u8 mtu = 1; mtu <= 5; mtu++) {
		struct fixture f;

		setup(&f, mtu, ETHER_QUEUE, USUAL);
		write_all(&f, USUAL * packets(mtu));
		assert_int_equal(f.taken, packets(mtu));
		assert_int_equal(f.sent, packets(mtu));
		assert_int_equal(f.lost, 0);
		done(&f);
	}
}

/*
 * The queue has room for everything, and the peer pauses for some of the requester's time-outs.
 * Handling the frames that were repeated must not take longer than that.
 */
static void pause_ends(void **state)
{
	struct fixture f;

	setup(&f, 3, UINT32_MAX, USUAL);
	f.pause = PAUSE;
	write_all(&f, PAUSE + 2 * USUAL * packets(3));
	assert_int_equal(f.taken, packets(3));
	assert_true(f.again);
	assert_in_range(f.again, 1, FAR_WINDOW / 1024);
	done(&f);
}

/* Each acknowledgment comes after the requester's time-out. */
static void slow(void **state)
{
	struct fixture f;

	setup(&f, 3, UINT32_MAX, SLOW);
	write_all(&f, 2 * SLOW * packets(3));
	assert_int_equal(f.taken, packets(3));
	assert_true(f.again);
	assert_in_range(f.longest, 0, 2 * FAR_WINDOW);
	done(&f);
}

/* One frame in @lose_each is lost behind the queue: at most a window is sent again for it. */
static void losses(void **state)
{
	struct fixture f;

	setup(&f, 3, ETHER_QUEUE, USUAL);
	f.lose_each = LOSE_EACH;
	write_all(&f, 4 * USUAL * packets(3));
	assert_int_equal(f.taken, packets(3));
	assert_int_equal(f.lost, 0);
	assert_true(f.missed);
	assert_in_range(f.sent, packets(3), packets(3) + f.missed * 2 * FAR_WINDOW / 1024);
	done(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fits),
		cmocka_unit_test(pause_ends),
		cmocka_unit_test(slow),
		cmocka_unit_test(losses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
