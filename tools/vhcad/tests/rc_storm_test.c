// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RC over links that lose, duplicate and delay packets at random: what arrives is what was sent.
 */
#include "tests/rc_retry.h"

/* ------------------------------------------------------------------------
 * Random campaigns
 */
struct storm {
	u64 rng;
	u32 loss, dup, late;	/* parts of 1000 */
};

static u32 rnd(u64 *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s >> 32;
}

static void storm_hook(void *arg, const struct fab_port *from, const struct wire_hdr *h,
		       struct fab_effect *v)
{
	struct storm *s = arg;

	if (rnd(&s->rng) % 1000 < s->loss)
		v->copies = 0;
	else if (rnd(&s->rng) % 1000 < s->dup)
		v->copies = 2;
	if (rnd(&s->rng) % 1000 < s->late)
		v->delay = rnd(&s->rng) % 300000;
}

#define SLOTS	64u
#define SLOT	4096u
/* Words of a side behind its slots: one the peer counts in, one the peer writes, fetched values. */
#define COUNTER	300000u
#define LATEST	305000u
#define MET	310000u

/* What the test expects of one direction. */
struct side {
	u8 mine[SLOTS * SLOT];	/* model of this side's memory */
	u32 posted, completed;
	u32 received;
	struct {
		u64 wr_id;
		u8 op;
	} ring[4096];
	u32 lens[4096];		/* of messages with a receive, by the peer's count */
	u32 sends;
	u64 adds, writes;	/* atomic ones */
};

static u64 word(struct tmr *mr, u64 off)
{
	u64 v;

	t_mr_get(mr, off, &v, sizeof(v));
	return le64toh(v);
}

/*
 * Both sides send at once.  Each message has its own slot of memory on both
 * sides, so the contents do not depend on the order of the two directions:
 * slots 0-31 of a side are written by its peer, 32-63 by its own READs.
 */
static void campaign(u64 seed, u8 mtu, u32 loss, u32 dup, u32 late, u32 messages)
{
	static struct side side[2];
	struct storm storm = { .rng = seed * 0x9e3779b97f4a7c15ull + 1, .loss = loss, .dup = dup,
			       .late = late };
	struct fixture f;
	struct tmr *mr[2] = { &f.l, &f.r };
	u64 rng = seed + 77, value[32];

	setup(&f, mtu, rnd(&rng) & PSN_MASK);
	memset(side, 0, sizeof(side));
	for (u32 i = 0; i < 2; i++)
		for (u32 b = 0; b < SLOTS * SLOT; b++)
			side[i].mine[b] = t_pattern(1 + i, b);
	for (u32 i = 0; i < 2; i++) {
		const u64 zero = 0;

		t_allow(&f.p.qp[i], RW);
		t_mr_put(mr[i], COUNTER, &zero, 8);
		t_mr_put(mr[i], LATEST, &zero, 8);
	}
	assert_int_equal(fab_set_packet_hook(f.p.w.fabric, storm_hook, &storm), 0);

	for (u32 batch = 0; batch < messages / 64; batch++) {
		for (u32 d = 0; d < 2; d++) {
			struct tqp *qp = &f.p.qp[d];
			struct side *me = &side[d], *to = &side[!d];

			for (u32 k = 0; k < 32; k++) {
				u32 len = rnd(&rng) % 3 ? rnd(&rng) % SLOT : rnd(&rng) % 65;
				u32 slot = k, src = (rnd(&rng) % 32 + 32) * SLOT;
				u64 id = (u64)d << 32 | me->posted;
				struct twr wr;
				u8 op;

				switch (rnd(&rng) % 13) {
				case 0 ... 1:
					op = VHCA_OP_SEND_IMM;
					break;
				case 2 ... 3:
					op = VHCA_OP_WRITE;
					break;
				case 4 ... 5:
					op = VHCA_OP_WRITE_IMM;
					break;
				case 6:
					op = VHCA_OP_NOP;
					break;
				case 7:
					op = VHCA_OP_FETCH_ADD;
					break;
				case 8:
					op = VHCA_OP_ATOMIC_WRITE;
					break;
				case 9:
					op = VHCA_OP_FLUSH;
					break;
				default:
					op = VHCA_OP_READ;
					break;
				}
				if (op == VHCA_OP_NOP) {
					wr = t_wr(op, id, NULL, 0, 0, NULL, 0);
				} else if (op == VHCA_OP_FETCH_ADD) {
					wr = t_wr(op, id, mr[d], MET + me->adds++ * 8, 8, mr[!d],
						  COUNTER);
					wr.atomic.swap_add = htole64(1);
				} else if (op == VHCA_OP_ATOMIC_WRITE) {
					value[k] = htole64(++me->writes);
					wr = t_wr(op, id, NULL, 0, 0, mr[!d], LATEST);
					wr.flags = VHCA_WQE_INLINE;
					wr.data = &value[k];
					wr.data_len = 8;
				} else if (op == VHCA_OP_FLUSH) {
					wr = t_wr(op, id, NULL, 0, 0, mr[!d], 0);
					wr.flush.length = htole32(len);
					wr.flush.type = VHCA_FLUSH_GLOBAL;
				} else if (op == VHCA_OP_READ) {
					/*
					 * reads memory that does not change in this batch: see
					 * below
					 */
					u32 at = (32 + slot) * SLOT;

					wr = t_wr(op, id, mr[d], at, len, mr[!d],
						  REGION - SLOT * 8 + slot * 100);
					for (u32 b = 0; b < len; b++)
						me->mine[at + b] = t_pattern(1 + !d, REGION -
							SLOT * 8 + slot * 100 + b);
				} else {
					/* READs of this batch may fill the slot */
					src = REGION - SLOT * 8 + slot * 100;
					wr = t_wr(op, id, mr[d], src, len, mr[!d], slot * SLOT);
					wr.imm = me->posted;
					for (u32 b = 0; b < len; b++)
						to->mine[slot * SLOT + b] =
							t_pattern(1 + d, src + b);
					if (op != VHCA_OP_WRITE) {
						struct vhca_sge s = t_sge(mr[!d], slot * SLOT,
									  SLOT);

						t_recv(&f.p.qp[!d], me->sends,
						       op == VHCA_OP_SEND_IMM, &s);
						me->lens[me->sends++ % 4096] = len;
					}
				}
				if (rnd(&rng) % 8 == 0)
					wr.flags |= VHCA_WQE_FENCE;
				me->posted++;
				t_post(qp, &wr);
			}
		}
		t_ring_sq(&f.p.qp[0]);
		t_ring_sq(&f.p.qp[1]);
		t_settle(&f.p.w, 600ull * 1000000000);
		for (u32 d = 0; d < 2; d++) {
			struct vhca_cqe e;

			while (t_cq_poll(&f.p.cq[d], &e)) {
				if (e.status)
					fail_msg("seed %llu: status %u",
						 (unsigned long long)seed, e.status);
				if (e.flags & VHCA_CQE_F_RQ) {
					u32 n = side[d].received++;

					assert_int_equal(le64toh(e.wr_id), n);
					assert_int_equal(le32toh(e.byte_len),
							 side[!d].lens[n % 4096]);
				} else {
					assert_int_equal(le64toh(e.wr_id),
							 (u64)d << 32 | side[d].completed);
					side[d].completed++;
				}
			}
			assert_int_equal(side[d].completed, side[d].posted);
			assert_int_equal(side[d].received, side[!d].sends);
		}
	}
	for (u32 d = 0; d < 2; d++) {
		static u8 got[SLOTS * SLOT];
		struct vdev_status st;

		vdev_status(f.p.h[d].dev, &st);
		assert_true(loss < 10 || st.port[0].drops);
		assert_true(word(mr[!d], COUNTER) == side[d].adds);
		assert_true(word(mr[!d], LATEST) == side[d].writes);
		for (u32 i = 0; i < side[d].adds; i++)
			assert_true(word(mr[d], MET + i * 8) == i);
		t_mr_get(mr[d], 0, got, sizeof(got));
		for (u32 b = 0; b < sizeof(got); b++)
			if (got[b] != side[d].mine[b])
				fail_msg("seed %llu side %u byte %u: %#x, expected %#x",
					 (unsigned long long)seed, d, b, got[b],
					 side[d].mine[b]);
	}
	done(&f);
}

static void storms(void **state)
{
	const char *seeds = getenv("STORM_SEEDS");	/* more of them, by hand */
	u32 last = seeds ? atoi(seeds) : 6;

	for (u32 seed = 1; seed <= last; seed++) {
		campaign(seed, 1 + seed % 5, 0, 0, 0, 640);
		campaign(seed, 1 + seed % 5, 50, 50, 100, 640);
		campaign(seed, 1 + seed % 5, 10, 10, 10, 1280);
		campaign(seed, 3, 1, 0, 0, 640);
		campaign(seed, 4, 0, 100, 0, 640);
		campaign(seed, 2, 0, 0, 20, 640);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(storms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
