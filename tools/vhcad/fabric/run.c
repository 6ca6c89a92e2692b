// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Runs and their payload.
 */
#include <errno.h>
#include <string.h>

#include "fabric/run.h"
#include "trace/trace.h"

static u8 pkt_opcode(const struct run *r, u32 i)
{
	return wire_opcode(r->service, r->kind, r->first && !i, r->last && i + 1 == r->npkts,
			   r->imm ? TAIL_IMM : r->inv ? TAIL_INV : TAIL_NONE);
}

void run_pkt_hdr(const struct run *r, u32 i, struct wire_hdr *h)
{
	bool end = i + 1 == r->npkts;

	*h = r->h;
	h->opcode = pkt_opcode(r, i);
	h->psn = psn_add(r->h.psn, i);
	h->ackreq = r->h.ackreq && end;
	h->se = r->h.se && r->last && end;
}

static u32 pkt_wire_len(const struct run *r, u32 i)
{
	return wire_path_len(&r->h.path, pkt_opcode(r, i), run_pkt_len(r, i));
}

u64 run_wire_bytes(const struct run *r)
{
	u64 bytes = pkt_wire_len(r, 0);

	if (r->npkts > 2)
		bytes += (u64)(r->npkts - 2) * pkt_wire_len(r, 1);
	if (r->npkts > 1)
		bytes += pkt_wire_len(r, r->npkts - 1);
	return bytes;
}

u32 run_pkt_bytes(const struct run *r, u32 i, u8 *buf)
{
	u32 len = run_pkt_len(r, i), hdrlen;
	struct wire_hdr h;

	run_pkt_hdr(r, i, &h);
	hdrlen = wire_put(&h, len, buf);
	if (len && payload_read(r->pl, r->skip + i * r->mtu, buf + hdrlen, len))
		return 0;
	return h.eth ? wire_seal_roce(buf, hdrlen, len) : wire_seal(buf, hdrlen, len);
}

void run_trace(const struct run *r, u32 row)
{
	trace_point(TRACE_PACKETS, row, wire_kind_name(r->kind), r->len, r->h.dqpn);
}

void run_cut(struct run *r, u32 from, u32 n)
{
	bool tail = from + n < r->npkts;
	u32 bytes = tail ? n * r->mtu : r->len - from * r->mtu;

	r->skip += from * r->mtu;
	r->len = bytes;
	r->h.psn = psn_add(r->h.psn, from);
	r->first = r->first && !from;
	if (tail) {
		r->last = false;
		r->h.ackreq = false;
	}
	r->npkts = n;
}

void run_from_packet(struct run *r, struct payload *pl, const struct wire_hdr *h,
		     const u8 *data, u32 len)
{
	const struct wire_op *op = wire_op(h->opcode);

	*r = (struct run){
		.h = *h,
		.service = wire_service(h->opcode),
		.kind = op->kind,
		.first = op->flags & WIRE_F_FIRST,
		.last = op->flags & WIRE_F_LAST,
		.imm = op->flags & WIRE_F_IMM,
		.inv = op->flags & WIRE_F_INV,
		.npkts = 1,
		.mtu = len,
		.len = len,
		.pl = pl,
	};
	pl->mem = NULL;
	pl->host = data;
	pl->nseg = 0;
	pl->cold = false;
	pl->fault = false;
}

/* Finds the segment that holds byte off; *off becomes the offset in it. */
static u32 seek(const struct payload *pl, u64 *off)
{
	u32 i = 0;

	while (i < pl->nseg && *off >= pl->seg[i].len)
		*off -= pl->seg[i++].len;
	return i;
}

int payload_read(struct payload *pl, u32 start, void *dst, u32 len)
{
	u64 off = start;
	u8 *out = dst;

	if (!pl->mem) {
		memcpy(dst, pl->host + start, len);
		return 0;
	}
	for (u32 i = seek(pl, &off); len && i < pl->nseg; i++, off = 0) {
		u32 n = MIN(pl->seg[i].len - off, (u64)len);

		if (dma_read(pl->mem, out, pl->seg[i].addr + off, n))
			break;
		out += n;
		len -= n;
	}
	if (!len)
		return 0;
	pl->fault = true;
	return -EFAULT;
}

static bool long_pieces(const struct dma_seg *seg, u32 nseg)
{
	u64 len = 0;

	for (u32 i = 0; i < nseg; i++)
		len += seg[i].len;
	return len >= (u64)nseg * RUN_COLD_PIECE;
}

int payload_place(struct payload *pl, u32 off, struct guest_mem *mem,
		  const struct dma_seg *seg, u32 nseg)
{
	if (pl->mem)
		return dma_copy(mem, seg, nseg, pl->mem, pl->seg, off,
				pl->cold && long_pieces(seg, nseg), &pl->fault);
	return dma_write_list(mem, seg, nseg, pl->host + off);
}

int datagram_front(struct datagram *d)
{
	const struct run *run = d->run;
	u32 len = run->len > RUN_TOGETHER ? 0 : run->len;
	struct wire_hdr h;

	if (d->ready)
		return 0;
	run_pkt_hdr(run, 0, &h);
	wire_put_grh(&h, run->len, d->front);
	if (len && payload_read(run->pl, run->skip, d->front + WIRE_GRH_LEN, len))
		return -EFAULT;
	d->ready = WIRE_GRH_LEN + len;
	return 0;
}
