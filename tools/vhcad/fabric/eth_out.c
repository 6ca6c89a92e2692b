// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Frames between Ethernet ports and the guests' network adapters.
 *
 * Frames arrive on the thread of the adapters' segment and wait in a box for the engine, which
 * parses them as untrusted bytes and checks the ICRC.  Packets that go out are made into frames
 * here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ether/ether.h"
#include "fabric/eth_internal.h"
#include "fabric/pipe.h"
#include "lib/bytes.h"

#define HEAD	4u		/* bytes of a frame's length in a box */

/* ------------------------------------------------------------------------
 * Out
 */
static void out_bytes(struct fab_port *out, const u8 *bytes, u32 len)
{
	const struct eth_segment *s = out->fabric->eth;

	if (!ether_send(s->ether, bytes, len))
		out->ib.drops++;
}

static void out_rx(struct fab_port *out, struct run *run)
{
	u8 buf[WIRE_MAX_PKT];

	for (u32 i = 0; i < run->npkts; i++) {
		u32 len = run_pkt_bytes(run, i, buf);

		if (!len)
			return;
		out_bytes(out, buf, len);
	}
}

static const struct fab_port_ops out_ops = { .rx = out_rx, .rx_bytes = out_bytes };

/* ------------------------------------------------------------------------
 * In
 */
static bool fill(struct eth_segment *s, const u8 *frame, u32 len)
{
	struct eth_box *b = &s->filling;

	if (b->len + HEAD + len > ETH_BOX)
		return false;
	put_be32(b->bytes + b->len, len);
	memcpy(b->bytes + b->len + HEAD, frame, len);
	b->len += HEAD + len;
	__atomic_store_n(&s->news, true, __ATOMIC_RELEASE);
	return true;
}

/* Called by the thread of the adapters' segment; true: no other network adapter gets the frame. */
static bool tap(void *arg, const u8 *frame, u32 len)
{
	struct fabric *f = arg;
	struct eth_segment *s = f->eth;
	bool mcast = mac_is_mcast(frame), ours, took;
	struct roce_place at;
	struct wire_path path;

	if (!roce_find(frame, len, &at))
		return false;
	roce_parse(frame, &at, &path);
	pthread_mutex_lock(&s->lock);
	ours = mcast ? s->enabled : !!eth_station(s, frame, roce_vlan(path.vlan));
	/* a frame that the box has no room for is lost, as on any wire */
	took = ours && fill(s, frame, len);
	pthread_mutex_unlock(&s->lock);
	if (took && f->wake)
		f->wake(f->wake_arg);
	return ours && !mcast;
}

int fabric_set_ether(struct fabric *f, struct ether *e)
{
	struct eth_segment *s = eth_segment_of(f);

	if (!s)
		return -ENOMEM;
	s->filling.bytes = malloc(ETH_BOX);
	s->taking.bytes = malloc(ETH_BOX);
	if (!s->filling.bytes || !s->taking.bytes)
		return -ENOMEM;
	s->out.ops = &out_ops;
	s->ether = e;
	s->far = true;
	eth_plug_outside(s);
	ether_set_tap(e, tap, f);
	return 0;
}

void fabric_set_wake(struct fabric *f, void (*wake)(void *arg), void *arg)
{
	f->wake = wake;
	f->wake_arg = arg;
}

/* Is there a frame to take: one that some ports have not got yet, or the next one? */
static bool next_frame(struct eth_segment *s)
{
	const u8 *p;

	if (s->frame)
		return true;
	if (s->taken == s->taking.len) {
		struct eth_box empty = { .bytes = s->taking.bytes };

		if (!__atomic_load_n(&s->news, __ATOMIC_ACQUIRE))
			return false;
		pthread_mutex_lock(&s->lock);
		s->taking = s->filling;
		s->filling = empty;
		__atomic_store_n(&s->news, false, __ATOMIC_RELEASE);
		pthread_mutex_unlock(&s->lock);
		s->taken = 0;
	}
	p = s->taking.bytes + s->taken;
	s->frame = p + HEAD;
	s->len = get_be32(p);
	s->cursor = (struct fab_cursor){ 0 };
	s->taken += HEAD + s->len;
	return true;
}

/* A frame was corrupted: the port that has its address counts it. */
static void count_bad(struct eth_segment *s, const u8 *frame, u32 len)
{
	struct fab_port *to = NULL;
	struct roce_place at;
	struct wire_path path;

	if (roce_find(frame, len, &at)) {
		roce_parse(frame, &at, &path);
		to = eth_station(s, frame, roce_vlan(path.vlan));
	}
	if (to)
		to->ib.bad++;
}

bool eth_take(struct eth_segment *s, const u8 *frame, u32 len, u32 *bytes)
{
	struct wire_hdr h;
	struct payload pl;
	struct run run;
	u32 at, paylen;

	/*
	 * an adapter may send more than the largest MTU of a port, for which buffers of packets are
	 * made
	 */
	if (wire_parse_roce(frame, len, &h, &at, &paylen) != WIRE_OK || paylen > WIRE_MAX_MTU) {
		count_bad(s, frame, len);
		return true;
	}
	run_from_packet(&run, &pl, &h, frame + at, paylen);
	return eth_arrive(&s->out, &run, &s->cursor, bytes);
}

bool eth_has_room(const struct eth_segment *s)
{
	return !s->out.end || topo_room(&s->out);
}

u32 eth_poll(struct fabric *f, u32 most)
{
	struct eth_segment *s = f->eth;
	u32 n = 0, bytes = POLL_BYTES;

	while (n < most && bytes && eth_has_room(s) && next_frame(s)) {
		n++;
		if (!eth_take(s, s->frame, s->len, &bytes))
			break;
		s->frame = NULL;
	}
	return n;
}
