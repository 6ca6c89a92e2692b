// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Checksums and segments of IPoIB, against a model that shares no code with the device.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/bytes.h"
#include "qp/qp.h"
#include "tests/ipmodel.h"
#include "tests/thca.h"
#include "tests/trandom.h"

#define RW	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_REMOTE_READ)
#define QKEY	0x11223344u
#define GRH	40u
#define MTU	4096u
#define RECVS	128u
#define MAX_DATA	65536u
#define ROUNDS	400u

struct fixture {
	struct tworld w;
	struct thca h[2];
	struct tcq cq[2];
	struct tqp qp[2];
	struct tmr l, r;
	u64 rnd;
	u8 data[MAX_DATA + MTU];
};

static int setup(void **state)
{
	static struct fixture f;
	const char *seed = getenv("SEED");

	memset(&f, 0, sizeof(f));
	f.rnd = seed ? strtoull(seed, NULL, 0) | 1 : 0x9e3779b97f4a7c15ull;
	t_two_init(&f.w, f.h, 1);
	for (u32 i = 0; i < 2; i++) {
		f.h[i].qp_type = VHCA_QPT_UD;
		t_cq_init(&f.h[i], &f.cq[i], 9, 0);
		t_qp_init_size(&f.h[i], &f.qp[i], &f.cq[i], &f.cq[i], 9, 7, 8,
			       VHCA_QP_SIGNAL_ALL | VHCA_QP_RX_CSUM);
		t_ud_up(&f.qp[i], QKEY);
	}
	t_mr_init(&f.h[0], &f.l, 1ull << 40, MAX_DATA + MTU, RW, 1, 12);
	t_mr_init(&f.h[1], &f.r, 1ull << 41, RECVS * (GRH + MTU), RW, 1, 12);
	for (u32 i = 0; i < sizeof(f.data); i++)
		f.data[i] = t_random(&f.rnd);
	*state = &f;
	return 0;
}

static int end(void **state)
{
	struct fixture *f = *state;

	t_two_fini(&f->w, f->h);
	return 0;
}

static void receives(struct fixture *f, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		struct vhca_sge s = t_sge(&f->r, i * (GRH + MTU), GRH + MTU);

		t_recv(&f->qp[1], i, 1, &s);
	}
}

/* Expects a datagram in receive @i; returns its completion. */
static struct vhca_cqe expect(struct fixture *f, u32 i, const u8 *want, u32 len)
{
	struct vhca_cqe e = t_expect_cqe(&f->cq[1], i, VHCA_CS_SUCCESS);
	u8 got[MTU];

	assert_int_equal(le32toh(e.byte_len), GRH + len);
	t_mr_get(&f->r, (u64)i * (GRH + MTU) + GRH, got, len);
	assert_memory_equal(got, want, len);
	return e;
}

static void expect_model(struct fixture *f, u32 i, const struct ip_model *m)
{
	u8 want[MTU];
	u32 len = ipm_build(m, want);

	assert_int_equal(expect(f, i, want, len).more_flags, VHCA_CQE_X_CSUM_OK);
}

/* A request that gathers @len bytes from odd places, in up to four pieces. */
static struct twr gather(struct fixture *f, u8 op, const u8 *p, u32 len)
{
	struct twr wr = { .opcode = op, .wr_id = 7 };
	u32 at = t_random(&f->rnd) % 3, off = 0;

	wr.ud = t_ud_to(&f->qp[1], QKEY);
	t_mr_put(&f->l, at, p, len);
	while (off < len) {
		u32 n = wr.nsge == 3 ? len - off : 1 + t_random(&f->rnd) % (len - off);

		wr.sge[wr.nsge++] = t_sge(&f->l, at + off, n);
		off += n;
	}
	return wr;
}

static struct ip_model draw(struct fixture *f, u32 most)
{
	struct ip_model m = ipm_random(&f->rnd);

	m.data = f->data + t_random(&f->rnd) % 64;
	m.len = t_random(&f->rnd) % (most + 1);
	return m;
}

/* ---- checksums ---- */

/* A UDP sum that would be 0 is ffff: choose the payload's last word so. */
static void make_sum_zero(struct ip_model *m, u8 *data)
{
	u8 p[MTU];
	u32 at, sum;

	m->tcp = false;
	m->len = 6;
	m->data = data;
	memset(data, 0, 6);
	at = ipm_header_len(m) - 2;
	ipm_build(m, p);
	sum = p[at] << 8 | p[at + 1];
	data[4] = sum >> 8;
	data[5] = sum;
	ipm_build(m, p);
	assert_int_equal(p[at] << 8 | p[at + 1], 0xffff);
}

static void sends_sums(void **state)
{
	struct fixture *f = *state;
	u8 zero[6], p[MTU];

	for (u32 i = 0; i < ROUNDS; i++) {
		struct ip_model m = draw(f, i & 1 ? 1900 : 40);
		struct twr wr;
		u32 len;

		if (i % 50 == 0)
			make_sum_zero(&m, zero);
		len = ipm_build(&m, p);
		ipm_spoil_sums(&m, p);
		wr = gather(f, VHCA_OP_SEND, p, len);
		if (i % 3 == 0 && len <= 200) {
			wr.nsge = 0;
			wr.data = p;
			wr.data_len = len;
			wr.flags = VHCA_WQE_INLINE;
		}
		wr.flags |= VHCA_WQE_IP_CSUM;
		receives(f, 1);
		t_send(&f->qp[0], &wr);
		t_expect_cqe(&f->cq[0], 7, VHCA_CS_SUCCESS);
		expect_model(f, 0, &m);
	}
}

/* Bytes behind the IP packet are sent unchanged. */
static void padding(void **state)
{
	struct fixture *f = *state;
	struct ip_model m = draw(f, 100);
	u8 p[MTU], want[MTU];
	struct twr wr;
	u32 len;

	len = ipm_build(&m, want);
	memset(want + len, 0x5a, 9);
	memcpy(p, want, len + 9);
	ipm_spoil_sums(&m, p);
	wr = gather(f, VHCA_OP_SEND, p, len + 9);
	wr.flags |= VHCA_WQE_IP_CSUM;
	receives(f, 1);
	t_send(&f->qp[0], &wr);
	t_expect_cqe(&f->cq[0], 7, VHCA_CS_SUCCESS);
	assert_int_equal(expect(f, 0, want, len + 9).more_flags, VHCA_CQE_X_CSUM_OK);
}

/* Is this a byte of IPv6 that no checksum covers? */
static bool unprotected(const struct ip_model *m, u32 at)
{
	return at == 2 || at == 3 || (m->v6 && (at < 8 || at == 11));
}

static void checks_sums(void **state)
{
	struct fixture *f = *state;
	u8 p[MTU];

	for (u32 i = 0; i < ROUNDS; i++) {
		struct ip_model m = draw(f, i & 1 ? 1900 : 200);
		u32 len = ipm_build(&m, p), at;
		struct twr wr = gather(f, VHCA_OP_SEND, p, len);

		receives(f, 2);
		t_send(&f->qp[0], &wr);
		t_expect_cqe(&f->cq[0], 7, VHCA_CS_SUCCESS);
		expect_model(f, 0, &m);
		/* one bit is wrong */
		do
			at = t_random(&f->rnd) % len;
		while (unprotected(&m, at));
		p[at] ^= 1u << (t_random(&f->rnd) & 7);
		wr = gather(f, VHCA_OP_SEND, p, len);
		t_send(&f->qp[0], &wr);
		t_expect_cqe(&f->cq[0], 7, VHCA_CS_SUCCESS);
		assert_int_equal(expect(f, 1, p, len).more_flags, 0);
	}
}

/* Nothing is reported for UDP without a checksum, fragments, and packets that are not IP. */
static void says_nothing(void **state)
{
	struct fixture *f = *state;
	struct ip_model m = { .seed = 5, .data = f->data, .len = 100 };
	u8 p[MTU];
	u32 len;

	for (u32 i = 0; i < 4; i++) {
		struct twr wr;

		m.tcp = i;
		len = ipm_build(&m, p);
		if (i == 0)
			memset(p + 30, 0, 2);
		/* the first fragment instead of DF, and the header's sum follows */
		if (i == 1) {
			p[10] = 0x20;
			p[14] += 0x20;
		}
		if (i == 2)
			p[1] = 6;	/* ARP */
		if (i == 3)
			len = 3;
		wr = gather(f, VHCA_OP_SEND, p, len);
		receives(f, 1);
		t_send(&f->qp[0], &wr);
		t_expect_cqe(&f->cq[0], 7, VHCA_CS_SUCCESS);
		assert_int_equal(expect(f, 0, p, len).more_flags, 0);
	}
}

/* ---- segments ---- */

static struct twr large(struct fixture *f, const struct ip_model *m, u32 mss)
{
	u32 hlen = ipm_header_len(m);
	struct ip_model head = *m;
	struct twr wr;
	u8 p[MTU];

	/* lengths and checksums in the large packet's header are ignored */
	head.len = 0;
	ipm_build(&head, p);
	ipm_spoil_sums(&head, p);
	put_be16(p + (m->v6 ? 8 : 6), t_random(&f->rnd));
	wr = gather(f, VHCA_OP_LSO, m->data, m->len);
	memcpy(wr.header, p, hlen);
	wr.lso.mss = htole16(mss);
	wr.lso.hlen = htole16(hlen);
	return wr;
}

static void segments(void **state)
{
	struct fixture *f = *state;

	for (u32 i = 0; i < ROUNDS / 2; i++) {
		struct ip_model m = draw(f, i % 20 ? 6000 : MAX_DATA - 64);
		u32 mss = 1 + t_random(&f->rnd) % (MTU - IPM_MAX_HEADER), n;
		u64 sent = t_stats(&f->h[0]).tx_packets;
		struct twr wr;

		m.tcp = true;
		mss = MAX(mss, m.len / RECVS + 1);
		n = ipm_segments(&m, mss);
		wr = large(f, &m, mss);
		receives(f, n);
		t_send(&f->qp[0], &wr);
		assert_int_equal(t_expect_cqe(&f->cq[0], 7, VHCA_CS_SUCCESS).opcode, VHCA_CQE_SEND);
		t_expect_no_cqe(&f->cq[0]);
		assert_int_equal(t_stats(&f->h[0]).tx_packets, sent + n);
		for (u32 k = 0; k < n; k++) {
			struct ip_model s = ipm_segment(&m, k, mss);

			expect_model(f, k, &s);
		}
		t_expect_no_cqe(&f->cq[1]);
	}
}

/* The largest of all: 64 KiB, a header of 124 bytes, segments as long as the MTU lets them be. */
static void largest(void **state)
{
	struct fixture *f = *state;
	struct ip_model m = {
		.tcp = true, .ip_words = 10, .tcp_words = 10, .id = 0xfffe, .seq = ~0u,
		.tcp_flags = 0x99, .seed = 3, .data = f->data, .len = MAX_DATA,
	};
	u32 mss = MTU - IPM_MAX_HEADER, n = ipm_segments(&m, mss);
	struct twr wr = large(f, &m, mss);

	assert_int_equal(ipm_header_len(&m), IPM_MAX_HEADER);
	receives(f, n);
	t_send(&f->qp[0], &wr);
	t_expect_cqe(&f->cq[0], 7, VHCA_CS_SUCCESS);
	for (u32 k = 0; k < n; k++) {
		struct ip_model s = ipm_segment(&m, k, mss);

		expect_model(f, k, &s);
	}
}

/* ---- what is refused ---- */

static void refused(struct fixture *f, const struct twr *bad, u8 status, u8 number)
{
	u64 sent = t_stats(&f->h[0]).tx_packets;
	struct vhca_cqe e;

	t_send(&f->qp[0], bad);
	e = t_expect_cqe(&f->cq[0], bad->wr_id, status);
	assert_int_equal(e.vendor_err, number);
	t_expect_no_cqe(&f->cq[0]);
	t_expect_no_cqe(&f->cq[1]);
	assert_int_equal(t_stats(&f->h[0]).tx_packets, sent);
	assert_int_equal(t_state(&f->qp[0]), T_SQE);
	assert_int_equal(t_to(&f->qp[0], T_RTS), VHCA_ST_OK);
}

static void bad_large(void **state)
{
	struct fixture *f = *state;
	struct ip_model m = { .tcp = true, .seed = 9, .data = f->data, .len = 3000 };
	struct twr good = large(f, &m, 1000), wr;

#define BAD(change, status, number) do {					\
	wr = good;								\
	change;									\
	refused(f, &wr, VHCA_CS_##status, VHCA_WHY_##number);			\
} while (0)
	BAD(wr.lso.mss = 0, LOC_QP_OP_ERR, ENTRY_SEGMENT);
	BAD(wr.lso.hlen = 0, LOC_QP_OP_ERR, ENTRY_SEGMENT);
	BAD(wr.lso.hlen = htole16(VHCA_LSO_MAX_HEADER + 1), LOC_QP_OP_ERR, ENTRY_SEGMENT);
	BAD(wr.lso.hlen = htole16(0xffff), LOC_QP_OP_ERR, ENTRY_SEGMENT);
	BAD(wr.lso.rsvd[11] = 1, LOC_QP_OP_ERR, ENTRY_SEGMENT);
	BAD(wr.header[47] = 1, LOC_QP_OP_ERR, ENTRY_SEGMENT);
	BAD(wr.lso.mss = htole16(MTU - 44 + 1), LOC_LEN_ERR, ENTRY_LENGTH);
	BAD(wr.lso.mss = htole16(0xffff), LOC_LEN_ERR, ENTRY_LENGTH);
	BAD(wr.sge[0].length = MAX_DATA + 1, LOC_LEN_ERR, ENTRY_LENGTH);
	BAD(wr.flags = VHCA_WQE_IP_CSUM, LOC_QP_OP_ERR, ENTRY_RESERVED);
	BAD((wr.flags = VHCA_WQE_INLINE, wr.nsge = 0, wr.data = f->data, wr.data_len = 8),
	    LOC_QP_OP_ERR, ENTRY_INLINE);
	BAD(wr.sge[0].lkey ^= 1, LOC_PROT_ERR, LOCAL_MEMORY);
	/* headers of another protocol, too long or too short for their lengths */
	BAD(wr.header[0] = 9, LOC_QP_OP_ERR, OFFLOAD);
	BAD(wr.header[4] = 0x65, LOC_QP_OP_ERR, OFFLOAD);
	BAD(wr.header[4] = 0x44, LOC_QP_OP_ERR, OFFLOAD);
	BAD(wr.header[4] = 0x46, LOC_QP_OP_ERR, OFFLOAD);
	BAD(wr.header[10] = 0x20, LOC_QP_OP_ERR, OFFLOAD);
	BAD(wr.header[11] = 1, LOC_QP_OP_ERR, OFFLOAD);
	BAD(wr.header[13] = 17, LOC_QP_OP_ERR, OFFLOAD);
	BAD(wr.header[36] = 0x40, LOC_QP_OP_ERR, OFFLOAD);
	BAD(wr.header[36] = 0x60, LOC_QP_OP_ERR, OFFLOAD);
	BAD(wr.lso.hlen = htole16(1), LOC_QP_OP_ERR, ENTRY_SEGMENT);
	BAD((wr.lso.hlen = htole16(1), memset(wr.header + 1, 0, 43)), LOC_QP_OP_ERR, OFFLOAD);
#undef BAD
}

/* An entry that ends before its header does. */
static void short_large(void **state)
{
	struct fixture *f = *state;
	struct ip_model m = { .v6 = true, .tcp = true, .seed = 9, .data = f->data, .len = 3000 };
	struct twr wr = large(f, &m, 1000);

	t_post(&f->qp[0], &wr);
	((struct vhca_wqe_ctrl *)f->qp[0].sq)->nblk = 2;
	t_ring_sq(&f->qp[0]);
	t_poll(&f->w);
	assert_int_equal(t_expect_cqe(&f->cq[0], 7, VHCA_CS_LOC_QP_OP_ERR).vendor_err,
			 VHCA_WHY_ENTRY_SEGMENT);
}

static void bad_frames(void **state)
{
	struct fixture *f = *state;
	struct ip_model m = { .tcp = true, .seed = 9, .data = f->data, .len = 300 };
	static const struct { u8 at, value; } bad[] = {
		{ 1, 6 },	/* ARP */
		{ 4, 0x65 },	/* not version 4 */
		{ 4, 0x44 },	/* a header too short */
		{ 6, 0xff },	/* longer than the datagram */
		{ 7, 10 },	/* shorter than its own header */
		{ 10, 0x20 },	/* the first fragment */
		{ 11, 1 },	/* a later one */
		{ 13, 1 },	/* ICMP */
		{ 36, 0x40 },	/* a TCP header too short */
	};
	u8 p[MTU];
	u32 len;

	for (u32 i = 0; i < ARRAY_SIZE(bad) + 2; i++) {
		struct twr wr;

		len = ipm_build(&m, p);
		if (i < ARRAY_SIZE(bad)) {
			p[bad[i].at] = bad[i].value;
			if (bad[i].at == 7)
				p[6] = 0;
		} else {
			len = i - ARRAY_SIZE(bad) ? 43 : 3;
		}
		wr = gather(f, VHCA_OP_SEND, p, len);
		wr.flags |= VHCA_WQE_IP_CSUM;
		refused(f, &wr, VHCA_CS_LOC_QP_OP_ERR, VHCA_WHY_OFFLOAD);
	}
}

/* Only SEND sets checksums. */
static void bad_opcode(void **state)
{
	struct fixture *f = *state;
	struct ip_model m = { .tcp = true, .seed = 9, .data = f->data, .len = 300 };
	u8 p[MTU];
	u32 len = ipm_build(&m, p);
	struct twr wr = gather(f, VHCA_OP_SEND_IMM, p, len);

	wr.flags |= VHCA_WQE_IP_CSUM;
	refused(f, &wr, VHCA_CS_LOC_QP_OP_ERR, VHCA_WHY_ENTRY_RESERVED);
}

/* ---- capabilities ---- */

static void capabilities(void **state)
{
	struct fixture *f = *state;
	struct vhca_dev *dev = f->h[0].dev;
	const u64 all = dev->caps;
	u8 p[MTU];

	for (u32 i = 0; i < 8; i++) {
		static const u8 cap[] = { VHCA_CAP_UD_CSUM, VHCA_CAP_UD_CSUM6, VHCA_CAP_UD_LSO,
					  VHCA_CAP_UD_LSO6 };
		struct ip_model m = { .tcp = true, .v6 = i & 1, .seed = 9, .data = f->data,
				      .len = 2000 };
		bool lso = i & 2, off = i & 4;
		struct twr wr;
		u32 len = ipm_build(&m, p);

		wr = lso ? large(f, &m, 1000) : gather(f, VHCA_OP_SEND, p, len);
		wr.flags |= lso ? 0 : VHCA_WQE_IP_CSUM;
		dev->caps = off ? all & ~(1ull << cap[i & 3]) : all;
		if (!off) {
			receives(f, lso ? 2 : 1);
			t_send(&f->qp[0], &wr);
			t_expect_cqe(&f->cq[0], 7, VHCA_CS_SUCCESS);
			for (u32 k = 0; k <= lso; k++)
				t_expect_cqe(&f->cq[1], k, VHCA_CS_SUCCESS);
		} else if (m.v6) {
			refused(f, &wr, VHCA_CS_LOC_QP_OP_ERR, VHCA_WHY_OFFLOAD);
		} else {
			refused(f, &wr, VHCA_CS_LOC_QP_OP_ERR,
				lso ? VHCA_WHY_ENTRY_OPCODE : VHCA_WHY_ENTRY_RESERVED);
		}
		dev->caps = all;
	}
	/* a receiver that does not check IPv6 reports nothing for it */
	f->h[1].dev->caps &= ~(1ull << VHCA_CAP_UD_CSUM6);
	for (u32 i = 0; i < 2; i++) {
		struct ip_model m = { .v6 = i, .seed = 4, .data = f->data, .len = 77 };
		u32 len = ipm_build(&m, p);
		struct twr wr = gather(f, VHCA_OP_SEND, p, len);

		receives(f, 1);
		t_send(&f->qp[0], &wr);
		t_expect_cqe(&f->cq[0], 7, VHCA_CS_SUCCESS);
		assert_int_equal(t_expect_cqe(&f->cq[1], 0, VHCA_CS_SUCCESS).more_flags,
				 i ? 0 : VHCA_CQE_X_CSUM_OK);
	}
}

/* A QP that has not asked for it gets no report, and the device needs the capability. */
static void not_asked(void **state)
{
	struct fixture *f = *state;
	struct ip_model m = { .seed = 4, .data = f->data, .len = 77 };
	struct vhca_create_qp_hw_req req = { .type = VHCA_QPT_UD, .flags = VHCA_QP_RX_CSUM };
	u8 p[MTU];
	u32 len = ipm_build(&m, p);
	struct twr wr = gather(f, VHCA_OP_SEND, p, len);

	qp_find(f->h[1].dev, f->qp[1].qpn)->flags &= ~VHCA_QP_RX_CSUM;
	receives(f, 1);
	t_send(&f->qp[0], &wr);
	t_expect_cqe(&f->cq[0], 7, VHCA_CS_SUCCESS);
	assert_int_equal(t_expect_cqe(&f->cq[1], 0, VHCA_CS_SUCCESS).more_flags, 0);

	f->h[1].dev->caps &= ~(1ull << VHCA_CAP_UD_CSUM);
	assert_int_equal(t_admin(&f->h[1], VHCA_CMD_CREATE_QP, &req, sizeof(req), NULL),
			 VHCA_ST_UNSUPPORTED);
	req.type = VHCA_QPT_RC;
	assert_int_equal(t_admin(&f->h[1], VHCA_CMD_CREATE_QP, &req, sizeof(req), NULL),
			 VHCA_ST_BAD_FIELD);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sends_sums),
		TEST(padding),
		TEST(checks_sums),
		TEST(says_nothing),
		TEST(segments),
		TEST(largest),
		TEST(bad_large),
		TEST(short_large),
		TEST(bad_frames),
		TEST(bad_opcode),
		TEST(capabilities),
		TEST(not_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
