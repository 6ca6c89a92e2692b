/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A run: consecutive packets of one message that travel as one piece.
 *
 * The packets are real, each with its headers, PSN and CRCs, but as long as
 * nothing on the way needs them singly their payload stays where the sender's
 * guest put it, and the receiver copies it from there.  Code that needs bytes
 * (a capture, a queue with faults) asks for them packet by packet.
 */
#ifndef VHCAD_RUN_H
#define VHCAD_RUN_H

#include "mem/mem.h"
#include "lib/types.h"
#include "wire/wire.h"

/*
 * Enough for one packet of 4096 bytes from 32 gather entries that cross a
 * page each, so that a run can always hold at least one packet.
 */
#define PAYLOAD_SEGS	72u

/**
 * struct payload - where the bytes of a run are
 * @mem: guest memory the segments point into; NULL: @host counts
 * @host: bytes in the daemon's own memory
 * @nseg: segments in use
 * @seg: segments in order
 * @cold: the message is so large that the cache is of no use for it; if @mem
 * @fault: set by the copy functions when the sender's memory failed
 */
struct payload {
	struct guest_mem *mem;
	const u8 *host;
	u32 nseg;
	bool cold;
	bool fault;
	struct dma_seg seg[PAYLOAD_SEGS];
};

/**
 * struct run - packets of one message
 * @h: headers of the first packet; @h.opcode is not used.  Immediate data, key
 *	to invalidate, solicited bit and AckReq belong to the last packet of the run
 * @service: enum wire_service
 * @kind: enum wire_kind
 * @first: the run starts with the message's first packet
 * @last: the run ends with the message's last packet
 * @imm: the message carries immediate data
 * @inv: the message carries a key to invalidate
 * @npkts: packets, at least 1
 * @mtu: payload bytes of every packet but the last
 * @skip: bytes of @pl before the first packet
 * @len: payload bytes of the run
 * @pl: payload, NULL if @len is 0
 */
struct run {
	struct wire_hdr h;
	u8 service;
	u8 kind;
	bool first, last, imm, inv;
	u32 npkts;
	u32 mtu;
	u32 skip;
	u32 len;
	struct payload *pl;
};

/* Payload of a datagram that goes to its receivers together with the GRH. */
#define RUN_TOGETHER	256u

/**
 * struct datagram - a datagram on its way to all its receivers
 * @run: the packet, which is not changed
 * @bytes: of copies that may be made now, used up; NULL: no limit
 * @at: at a port with several receivers: number of the first that has not got it; 0: none has
 * @more: @bytes was not enough for all receivers: the port is to get it again, with @at as it is
 * @ready: bytes of @front that are filled in; 0 until they are needed
 * @front: GRH as it stands in the packet, and the payload if that is short
 */
struct datagram {
	const struct run *run;
	u32 *bytes;
	u64 at;
	bool more;
	u32 ready;
	u8 front[WIRE_GRH_LEN + RUN_TOGETHER];
};

static inline void datagram_init(struct datagram *d, const struct run *run)
{
	d->run = run;
	d->bytes = NULL;
	d->at = 0;
	d->more = false;
	d->ready = 0;
}

/* What a copy for one more receiver costs besides its bytes. */
#define COPY_COST	1024u

/** datagram_copied() - charge for a copy to one receiver */
static inline void datagram_copied(struct datagram *d)
{
	if (d->bytes)
		*d->bytes -= MIN(*d->bytes, d->run->len + COPY_COST);
}

/** datagram_pause() - does it have to stop before receiver @number, as @bytes are used up? */
static inline bool datagram_pause(struct datagram *d, u64 number)
{
	if (!d->bytes || *d->bytes)
		return false;
	d->at = number;
	d->more = true;
	return true;
}

/*
 * A run is copied past the cache if its pieces have at least this length on average: up to four
 * fences for each piece take longer than copying a short one.
 */
#define RUN_COLD_PIECE	2048u

/**
 * datagram_front() - fill in @front, which all receivers of a datagram with a GRH get first
 * @d: datagram
 *
 * Returns 0, or -EFAULT with payload.fault set.
 */
int datagram_front(struct datagram *d);

/** run_pkt_len() - payload bytes of packet @i */
static inline u32 run_pkt_len(const struct run *r, u32 i)
{
	return i + 1 == r->npkts ? r->len - i * r->mtu : r->mtu;
}

/** run_pkt_hdr() - headers of packet @i */
void run_pkt_hdr(const struct run *r, u32 i, struct wire_hdr *h);

/** run_wire_bytes() - bytes of all packets on the wire */
u64 run_wire_bytes(const struct run *r);

/**
 * run_pkt_bytes() - packet @i as it stands on the wire
 * @r: run
 * @i: packet, from 0
 * @buf: WIRE_MAX_PKT bytes
 *
 * Returns its length, or 0 when the sender's memory is gone (payload.fault).
 */
u32 run_pkt_bytes(const struct run *r, u32 i, u8 *buf);

/** run_trace() - record that a port sends a run, in row @row of the trace */
void run_trace(const struct run *r, u32 row);

/**
 * run_cut() - keep some packets of a run
 * @r: run
 * @from: first packet to keep
 * @n: packets to keep, at least 1
 */
void run_cut(struct run *r, u32 from, u32 n);

/**
 * run_from_packet() - a run of one packet
 * @r: filled in
 * @pl: filled in
 * @h: parsed headers
 * @data: payload
 * @len: bytes of it
 */
void run_from_packet(struct run *r, struct payload *pl, const struct wire_hdr *h,
		     const u8 *data, u32 len);

/**
 * payload_read() - copy a part of the payload to private memory
 * @pl: payload
 * @off: first byte
 * @dst: destination
 * @len: bytes
 *
 * Returns 0, or -EFAULT with payload.fault set.
 */
int payload_read(struct payload *pl, u32 off, void *dst, u32 len);

/**
 * payload_place() - copy a part of the payload to guest memory, ascending
 * @pl: payload
 * @off: first byte
 * @mem: receiver's memory
 * @seg: where to
 * @nseg: segments; together exactly the bytes to copy
 *
 * Returns 0; -EFAULT if the receiver's memory failed, or the sender's
 * (payload.fault tells).
 */
int payload_place(struct payload *pl, u32 off, struct guest_mem *mem,
		  const struct dma_seg *seg, u32 nseg);

#endif /* VHCAD_RUN_H */
