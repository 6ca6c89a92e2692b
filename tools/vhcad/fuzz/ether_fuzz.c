// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Fuzzes frames that come to Ethernet ports from network adapters: their parsing, and what QPs do
 * with well-formed ones.
 *
 * Input: the type of the QPs and their table entry; then frames, each of a given opcode, valid at
 * first and then corrupted, with a right or a wrong ICRC.
 */
#include "fuzz/input.h"
#include "lib/log.h"
#include "tests/teth.h"

#define FRAMES		16u
#define QKEY		7u
#define REGION		(64u << 10)
#define SAFE		8192u
#define RW		(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE | \
			 VHCA_ACCESS_REMOTE_READ | VHCA_ACCESS_REMOTE_ATOMIC)

struct fixture {
	struct tpair p;
	struct tmr mr[2], safe;
	u32 entry;
};

static const u8 mgid[16] = { [10] = 0xff, 0xff, 239, 1, 2, 3 };

static void join(struct tqp *qp)
{
	struct vhca_mcg_req req = { .qpn = htole32(qp->qpn) };

	memcpy(req.mgid, mgid, sizeof(req.mgid));
	assert_int_equal(t_admin(qp->h, VHCA_CMD_ATTACH_MCG, &req, sizeof(req), NULL), VHCA_ST_OK);
}

static void setup(struct fixture *f, u8 type)
{
	static const u8 types[] = { VHCA_QPT_RC, VHCA_QPT_UC, VHCA_QPT_UD };

	memset(f, 0, sizeof(*f));
	f->entry = type / 4 % T_ETH_GIDS;
	t_eth_pair(&f->p, type & 64);
	for (u32 i = 0; i < 2; i++)
		t_mr_init(&f->p.h[i], &f->mr[i], 0, REGION, RW, 1, 12);
	t_mr_init(&f->p.h[1], &f->safe, 0, SAFE, VHCA_ACCESS_LOCAL_WRITE, 1, 12);
	t_mr_fill(&f->safe, 5);
	if (types[type % ARRAY_SIZE(types)] == VHCA_QPT_UD) {
		t_eth_ud_up(&f->p, QKEY);
		join(&f->p.qp[1]);
	} else {
		t_eth_connect(&f->p, types[type % ARRAY_SIZE(types)], f->entry);
		t_allow(&f->p.qp[1], RW & ~VHCA_ACCESS_LOCAL_WRITE);
	}
	for (u32 i = 0; i < 8; i++) {
		struct vhca_sge s = t_sge(&f->mr[1], 0, 4096);

		t_recv(&f->p.qp[1], i, 1, &s);
	}
}

/* Writes a frame that the peer could send next. */
static u32 write_frame(struct fixture *f, struct input *in, u32 *psn, u8 *buf)
{
	u8 opcode = in_8(in), how = in_8(in);
	u32 len = in_16(in) % (1024 + 1), to = how & 1, n;
	struct vhca_av av = t_eth_av(to, f->entry);
	struct wire_hdr h = {
		.eth = true, .grh = true, .pkey = 0xffff, .opcode = opcode, .hop_limit = 64,
		.vlan = f->entry == 2 ? T_ETH_VLAN : WIRE_NO_TAG, .sport = 0xc001,
		.dqpn = how & 64 ? 0xffffff : f->p.qp[to].qpn, .sqpn = f->p.qp[!to].qpn,
		.qkey = QKEY, .psn = to ? *psn : 0xfffff0, .ackreq = !!(how & 2),
		.syndrome = how >> 3, .msn = how >> 5, .va = (how & 0x38) << 3,
		.rkey = f->mr[to].key, .dmalen = how & 8 ? 3000 : len, .swap_add = 1,
	};

	memcpy(h.sgid, t_eth_gid[!to][f->entry], 16);
	memcpy(h.dgid, how & 64 ? mgid : av.dgid, 16);
	memcpy(h.smac, t_eth_mac[!to], 6);
	memcpy(h.dmac, av.dmac, 6);
	if (how & 64)
		roce_mcast_mac(h.dgid, h.dmac);
	h.ipv4 = gid_is_ipv4(h.sgid) && gid_is_ipv4(h.dgid);
	if (wire_op(opcode)->kind == WIRE_NONE)
		h.opcode = OP_RC_SEND_ONLY;
	if (!(wire_op(h.opcode)->flags & WIRE_F_DATA))
		len = 0;
	n = wire_put(&h, len, buf);
	in_bytes(in, buf + n, MIN(len, 32u));
	*psn = psn_add(*psn, to);
	return wire_seal_roce(buf, n, len);
}

/* Corrects the ICRC of a corrupted frame, if it still is a RoCE packet. */
static void seal_again(u8 *buf, u32 len)
{
	struct roce_place at;
	u32 icrc;

	if (!roce_find(buf, len, &at) || at.end < at.ip + WIRE_ICRC_LEN ||
	    wire_icrc_roce(buf + at.ip, at.end - at.ip - WIRE_ICRC_LEN, &icrc))
		return;
	memcpy(buf + at.end - WIRE_ICRC_LEN, &icrc, WIRE_ICRC_LEN);
}

/* Parsed headers that are written and parsed again have to be the same. */
static void check(const u8 *buf, u32 len)
{
	u8 copy[WIRE_MAX_PKT];
	u32 at, n, paylen, rest;
	struct wire_hdr h, again;

	if (wire_parse_roce(buf, len, &h, &at, &paylen) != WIRE_OK)
		return;
	assert_true(at + paylen + WIRE_ICRC_LEN <= len);
	n = wire_put(&h, paylen, copy);
	assert_int_equal(n, at);
	memcpy(copy + n, buf + at, paylen);
	n = wire_seal_roce(copy, n, paylen);
	assert_true(n <= len);
	assert_int_equal(wire_parse_roce(copy, n, &again, &at, &rest), WIRE_OK);
	assert_int_equal(rest, paylen);
	assert_memory_equal(&again, &h, sizeof(h));
}

static void one_frame(struct fixture *f, struct input *in, u32 *psn)
{
	u8 buf[WIRE_MAX_PKT], what;
	u32 len = write_frame(f, in, psn, buf);

	what = in_8(in);
	if (what & 1)
		in_spoil(in, buf, len);
	if (what & 2)
		len -= MIN(len, (u32)in_8(in));
	if (what & 4)
		seal_again(buf, len);
	check(buf, len);
	eth_take(f->p.w.fabric->eth, buf, len, NULL);
	t_poll(&f->p.w);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct input in = { data, data + len };
	static struct fixture f;
	static bool quiet;
	u32 psn = 0xfffff0;

	if (!quiet)
		quiet = !log_open("/dev/null");
	setup(&f, in_8(&in));
	for (u32 i = 0; i < FRAMES && in_more(&in); i++)
		one_frame(&f, &in, &psn);
	t_settle(&f.p.w, 300000000);
	t_mr_expect(&f.safe, 0, SAFE, 5, 0);
	t_pair_fini(&f.p);
	return 0;
}
