// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Fuzzes work queue entries, from the ring to the completion.
 *
 * Input: the type of the QPs, whether their rings are short, what the peer has posted; then
 * entries, each of a given kind, valid at first and then corrupted, or arbitrary bytes in the ring.
 */
#include "fuzz/world.h"
#include "tests/ipmodel.h"

#define ENTRIES	12u
#define FILLED	4u	/* first pieces, some with bytes; those up to EMPTY have none */
#define EMPTY	34u
#define SHORT_LOG 4u	/* blocks of a short ring, as a power of two: entries lie across its end */

static void spoil_recv(struct world *f, struct input *in)
{
	bool shared = !f->qp[1].rq;
	u32 stride = shared ? f->srq.log_stride : f->qp[1].log_stride;

	in_spoil(in, shared ? f->srq.ring : f->qp[1].rq, 2u << stride);
}

/* Headers of IPoIB, IP and TCP. */
static const u8 tcp4[64] = {
	8, 0, 0, 0,
	0x45, 0, 0, 0, 0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
	0, 1, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0x50, 0x99,
};

static const u8 tcp6[64] = {
	0x86, 0xdd, 0, 0,
	0x60, 0, 0, 0, 0, 0, 6, 64, 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
	0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,
	0, 1, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0x50, 0x99,
};

#define PACKET	512u	/* bytes from one packet to the next */
#define PACKETS	8u

/* TCP and UDP over IPv4 and IPv6, some with options. */
static struct ip_model packet(u32 i)
{
	static const u8 data[128];

	return (struct ip_model){
		.v6 = i & 1, .tcp = i & 2, .ip_words = i == 4, .tcp_words = i == 6, .seed = i,
		.data = data, .len = 100 + i,
	};
}

/* Puts packets with their checksums at the beginning of the sender's region. */
static void write_packets(struct world *f, struct input *spoil)
{
	for (u32 i = 0; i < PACKETS; i++) {
		struct ip_model m = packet(i);
		u8 buf[PACKET];
		u32 len = ipm_build(&m, buf);

		if (spoil && i > 3)
			in_spoil(spoil, buf, len);
		t_mr_put(&f->mr[0], i * PACKET, buf, len);
	}
}

/* The lists of the keys that are registered: pages, and pieces some of which are empty. */
static void write_lists(struct world *f, struct input *spoil)
{
	struct vhca_sg_entry *list = t_cpu(&f->h[0], f->sg_list);

	for (u32 i = 0; i < WORLD_PAGES; i++)
		*(__le64 *)t_cpu(&f->h[0], f->area + 8 * i) = htole64(i ? 0 : f->area + 4096);
	for (u32 i = 0; i < WORLD_PIECES; i++)
		list[i] = (struct vhca_sg_entry){
			.addr = htole64(f->area + 4096 * (2 + i)),
			.end = htole64(i < FILLED ? 4096 + 100 * (i / 2) : i < EMPTY ? 4196 : 9000),
		};
	if (!spoil)
		return;
	in_spoil(spoil, list, WORLD_PIECES * sizeof(*list));
	in_spoil(spoil, t_cpu(&f->h[0], f->fmr_record), sizeof(struct vhca_fmr));
}

static struct twr choose(struct world *f, struct input *in)
{
	static const u8 text[512] = "inline";
	u8 op = in_8(in) % (VHCA_OP_LSO + 2), how = in_8(in);
	u32 pages = 1 + (how >> 5);
	bool word = op >= VHCA_OP_CMP_SWAP && op <= VHCA_OP_ATOMIC_WRITE;
	u32 len = word ? 8 : in_16(in) % (WORLD_MR / 2);
	struct twr wr = t_wr(op, how, &f->mr[0], 0, len, &f->mr[1], (how & 15) * 8u);

	wr.imm = in_32(in);
	if (op == VHCA_OP_SEND_INV || op == VHCA_OP_LOCAL_INV || op == VHCA_OP_READ_INV)
		wr.imm = how & 1 ? f->mw2 : how & 2 ? f->fast_sg : f->fast;
	if (op == VHCA_OP_READ_INV)
		wr.sge[0].lkey = f->fast;
	if ((op >= VHCA_OP_FLUSH && op != VHCA_OP_LSO) || op == VHCA_OP_NOP)
		wr.nsge = 0;
	/* a gather list that is longer than a WQE block */
	for (; !word && wr.nsge && wr.nsge < (how >> 5) * 4u; wr.nsge++)
		wr.sge[wr.nsge] = t_sge(&f->mr[0], wr.nsge * 100, 64);
	if (wr.nsge && wr.imm >> 24 && wr.imm >> 24 < 4) {
		const u32 keys[] = { f->fmr, f->fast, f->fast_sg };

		wr.sge[wr.nsge - 1].lkey = keys[(wr.imm >> 24) - 1];
		wr.sge[wr.nsge - 1].addr += wr.imm & 0xfff;
	}
	if (how & 16) {
		wr.flags = VHCA_WQE_INLINE;
		wr.nsge = 0;
		wr.data = text;
		wr.data_len = word ? 8 : len % sizeof(text);
	}
	wr.srqn = f->qp[0].type == VHCA_QPT_XRC_INI ? f->srq.srqn : 0;
	wr.ud = t_ud_to(&f->qp[1], WORLD_QKEY);
	wr.flush = (struct vhca_wqe_flush){ .length = htole32(64), .type = 1 + how % 3 };
	if (op == VHCA_OP_SEND && how & 8) {
		u32 i = len % PACKETS;
		struct ip_model m = packet(i);

		wr.flags |= VHCA_WQE_IP_CSUM;
		wr.sge[0] = t_sge(&f->mr[0], i * PACKET, ipm_header_len(&m) + m.len);
		wr.nsge = 1;
	}
	wr.lso = (struct vhca_wqe_lso){
		.mss = htole16(how * 8), .hlen = htole16(how & 1 ? 44 : 64),
	};
	memcpy(wr.header, how & 1 ? tcp4 : tcp6, sizeof(tcp6));
	wr.bind = (struct vhca_wqe_bind){
		.key = htole32(how & 1 ? f->mw2 : f->mw1), .mr_key = htole32(f->mr[0].key),
		.addr = htole64(how * 8), .length = htole64(4096),
		.access = VHCA_ACCESS_REMOTE_READ,
	};
	wr.reg = (struct vhca_wqe_reg){
		.key = htole32(how & 1 ? f->fast_sg : f->fast),
		.entries = htole32(how & 1 ? pages * (WORLD_PIECES / WORLD_PAGES) : pages),
		.length = htole64(how & 2 ? 8192 : 4096), .access = VHCA_ACCESS_LOCAL_WRITE,
		.page_shift = how & 1 ? 0 : 12,
	};
	return wr;
}

static void entry(struct world *f, struct input *in)
{
	struct tqp *qp = &f->qp[0];
	u32 first = qp->sq_prod & ((1u << qp->log_sq) - 1), blocks;
	/* in front of the ring's end */
	u32 room = ((1u << qp->log_sq) - first) * VHCA_WQE_BLOCK;
	u8 *at = qp->sq + first * VHCA_WQE_BLOCK, what = in_8(in);

	if (what < 224) {
		struct twr wr = choose(f, in);

		blocks = qp->sq_prod;
		t_post(qp, &wr);
		blocks = qp->sq_prod - blocks;
		in_spoil(in, at, MIN(blocks * VHCA_WQE_BLOCK, room));
	} else {
		blocks = 1 + what % 4;
		in_bytes(in, at, MIN(blocks * VHCA_WQE_BLOCK, room));
		qp->sq_prod += blocks;
	}
	if (what & 1)
		t_ring_sq(qp);
	if (what & 2)
		t_poll(&f->w);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct input in = { data, data + len };
	u8 type = in_8(&in), posted = in_8(&in);
	struct world_options o = { .log_sq = type & 64 ? SHORT_LOG : 0 };
	static struct world f;

	world_init_as(&f, type % WORLD_TYPES, &o);
	write_lists(&f, type & 128 ? &in : NULL);
	if (f.qp[0].type == VHCA_QPT_UD)
		write_packets(&f, type & 128 ? &in : NULL);
	world_receives(&f, posted % 16, type & 32 ? 5 : 1, posted & 16 ? WORLD_MR / 2 : 256);
	if (posted & 32)
		spoil_recv(&f, &in);
	for (u32 i = 0; i < ENTRIES && in_more(&in); i++)
		entry(&f, &in);
	/* guests disable DMA while requests are under way */
	for (u32 i = 0; i < 2; i++)
		if (posted & 64u << i)
			gmem_set_master(f.h[i].mem, false);
	t_ring_sq(&f.qp[0]);
	world_settle(&f);
	world_fini(&f);
	return 0;
}
