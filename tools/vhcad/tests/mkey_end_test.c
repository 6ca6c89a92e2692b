// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A key that is invalidated while packets that use it are under way: later packets
 * find no key, whichever way it was invalidated and on whichever side it was.
 */
#include <string.h>

#include "tests/tkey.h"

#define MTU	4096u
#define PKTS	12u
#define LEN	(PKTS * MTU)
#define REMOTE	(VHCA_ACCESS_REMOTE_READ | VHCA_ACCESS_REMOTE_WRITE)

/* Packets arrive one at a time, those of one side alone. */
struct slow {
	struct fab_port *from;
	u64 n;
};

static void one_at_a_time(void *arg, const struct fab_port *from, const struct wire_hdr *h,
			  struct fab_effect *v)
{
	struct slow *s = arg;

	if (from == s->from)
		v->delay = 100000 * ++s->n;
}

enum end {
	DESTROYED,
	MODIFIED,
	INVALIDATED,
	SG_INVALIDATED,
	BY_THE_PEER,
	WINDOW_1_BOUND_AGAIN,
	WINDOW_2_INVALIDATED,
	WINDOW_DESTROYED,
	FMR_UNMAPPED,
	ENDS,
};

struct fixture {
	struct tpair p;
	struct slow slow;
	struct thca *h;		/* device of the key */
	struct tqp *qp;
	struct tmr mr;
	u64 list, rec;
	u32 key;
};

static void init(struct fixture *f, u32 side)
{
	memset(f, 0, sizeof(*f));
	t_pair_init(&f->p, 5, 1, 2);
	f->h = &f->p.h[side];
	f->qp = &f->p.qp[side];
	t_key_caps(f->h);
	t_mr_init(f->h, &f->mr, 0, LEN, T_RW | VHCA_ACCESS_MW_BIND, 1, 12);
	t_mr_fill(&f->mr, 1);
	f->list = t_alloc(f->h, 4096);
	f->rec = t_alloc(f->h, 4096);
}

static void slow_down(struct fixture *f, u32 from)
{
	f->slow.from = &f->p.h[from].dev->port[0].fab;
	assert_int_equal(fab_set_packet_hook(f->p.w.fabric, one_at_a_time, &f->slow), 0);
}

/* A key of the kind that can be invalidated that way, for the region's pages from address 0. */
static void make(struct fixture *f, enum end how)
{
	struct vhca_create_mkey_req req = {
		.buf = { .addr = htole64(f->list), .npages = htole32(PKTS), .levels = 1,
			 .page_shift = 12 },
		.iova = htole64(f->rec), .pdn = htole32(f->h->pd), .access = htole32(T_RW),
		.type = VHCA_MKEY_FMR,
	};
	struct vhca_sg_entry *sg = t_cpu(f->h, f->list);

	for (u32 i = 0; i < PKTS; i++) {
		if (how == SG_INVALIDATED)
			sg[i] = (struct vhca_sg_entry){
				htole64(f->mr.page[i]), htole64((i + 1) * MTU),
			};
		else
			((__le64 *)sg)[i] = htole64(f->mr.page[i]);
	}
	switch (how) {
	case DESTROYED:
	case MODIFIED:
		f->key = f->mr.key;
		break;
	case INVALIDATED:
	case BY_THE_PEER:
		f->key = t_key(f->h, VHCA_MKEY_FAST, f->list, PKTS, 0);
		assert_int_equal(t_register(f->qp, f->key, PKTS, 0, LEN, T_RW, 12), 0);
		break;
	case SG_INVALIDATED:
		f->key = t_key(f->h, VHCA_MKEY_FAST_SG, f->list, PKTS, 0);
		assert_int_equal(t_register(f->qp, f->key, PKTS, 0, LEN, T_RW, 0), 0);
		break;
	case WINDOW_1_BOUND_AGAIN:
	case WINDOW_DESTROYED:
		f->key = t_key(f->h, VHCA_MKEY_MW_1, 0, 0, 0);
		assert_int_equal(t_bind(f->qp, f->key, f->mr.key, 0, LEN, REMOTE), 0);
		break;
	case WINDOW_2_INVALIDATED:
		f->key = t_key(f->h, VHCA_MKEY_MW_2, 0, 0, 0);
		assert_int_equal(t_bind(f->qp, f->key, f->mr.key, 0, LEN, REMOTE), 0);
		break;
	default:
		f->key = t_create(f->h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req));
		*(struct vhca_fmr *)t_cpu(f->h, f->rec) = (struct vhca_fmr){
			.seq = htole32(2), .key = htole32(f->key), .length = htole64(LEN),
			.npages = htole32(PKTS),
		};
		break;
	}
}

static void end(struct fixture *f, enum end how)
{
	struct vhca_modify_mkey_req mod = {
		.attr.access = 0, .key = htole32(f->key), .mask = htole32(VHCA_MKEY_MOD_ACCESS),
	};
	struct vhca_fmr *rec = t_cpu(f->h, f->rec);

	switch (how) {
	case DESTROYED:
	case WINDOW_DESTROYED:
		assert_int_equal(t_destroy(f->h, VHCA_CMD_DESTROY_MKEY, f->key), VHCA_ST_OK);
		break;
	case MODIFIED:
		assert_int_equal(t_admin(f->h, VHCA_CMD_MODIFY_MKEY, &mod, sizeof(mod), NULL),
				 VHCA_ST_OK);
		break;
	case INVALIDATED:
	case SG_INVALIDATED:
	case BY_THE_PEER:
	case WINDOW_2_INVALIDATED:
		assert_int_equal(qp_mkey_invalidate(t_vqp(f->qp), f->key, how == BY_THE_PEER), 0);
		break;
	case WINDOW_1_BOUND_AGAIN:
		assert_int_equal(t_bind(f->qp, f->key + 1, f->mr.key, 0, LEN, REMOTE), 0);
		break;
	default:
		rec->seq += 2;
		rec->npages = 0;
		assert_int_equal(t_admin(f->h, VHCA_CMD_FENCE_MKEYS, NULL, 0, NULL), VHCA_ST_OK);
		break;
	}
}

/* How many packets with the bytes of this pattern have arrived, from the start? */
static u32 placed(struct fixture *f, u32 seed)
{
	u8 b[MTU];
	u32 n;

	for (n = 0; n < PKTS; n++) {
		t_mr_get(&f->mr, n * MTU, b, MTU);
		for (u32 i = 0; i < MTU; i++)
			if (b[i] != t_pattern(seed, n * MTU + i))
				goto rest;
	}
rest:
	if (n < PKTS)
		t_mr_expect(&f->mr, n * MTU, LEN - n * MTU, 1, n * MTU);
	return n;
}

static void until_some(struct fixture *f, u32 seed, u32 want)
{
	while (placed(f, seed) < want)
		assert_true(t_advance(&f->p.w));
	assert_int_equal(placed(f, seed), want);
}

/* A request of the peer for the whole range of a key that will be invalidated. */
static void begin(struct fixture *f, enum end how, u8 op, struct tmr *l, u32 seed)
{
	struct twr wr;

	init(f, 1);
	make(f, how);
	t_mr_init(&f->p.h[0], l, 0, LEN, T_RW, 0, 12);
	t_mr_fill(l, seed);
	slow_down(f, 0);
	wr = t_wr(op, 1, l, 0, LEN, NULL, 0);
	wr.rkey = f->key;
	t_send(&f->p.qp[0], &wr);
}

/* The responder's key, in the middle of a WRITE. */
static void write_to_it(void **state)
{
	for (enum end how = 0; how < ENDS; how++) {
		static struct fixture f;
		struct tmr l;

		begin(&f, how, VHCA_OP_WRITE, &l, 2);
		until_some(&f, 2, 5);
		end(&f, how);
		t_settle(&f.p.w, 10000000000ull);
		assert_int_equal(placed(&f, 2), 5);
		t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_REM_ACCESS_ERR);
		t_pair_fini(&f.p);
	}
}

/*
 * The responder's key, before a WRITE's last packet.  That packet takes a receive, whose completion
 * reports the error instead of an event.
 */
static void write_that_tells(void **state)
{
	for (enum end how = 0; how < ENDS; how++) {
		static struct fixture f;
		struct tmr l;

		begin(&f, how, VHCA_OP_WRITE_IMM, &l, 2);
		t_recv(f.qp, 7, 0, NULL);
		t_recv(f.qp, 8, 0, NULL);
		until_some(&f, 2, PKTS - 1);
		t_expect_no_cqe(&f.p.cq[1]);
		end(&f, how);
		t_settle(&f.p.w, 10000000000ull);
		assert_int_equal(placed(&f, 2), PKTS - 1);
		t_expect_cqe(&f.p.cq[1], 7, VHCA_CS_LOC_ACCESS_ERR);
		t_expect_cqe(&f.p.cq[1], 8, VHCA_CS_WR_FLUSH_ERR);
		t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_REM_ACCESS_ERR);
		assert_int_equal(t_state(f.qp), T_ERR);
		t_expect_no_event(f.h);
		t_pair_fini(&f.p);
	}
}

/* The responder's key, while a READ of it is under way. */
static void read_from_it(void **state)
{
	for (enum end how = 0; how < ENDS; how++) {
		static struct fixture f;
		struct tmr l;

		begin(&f, how, VHCA_OP_READ, &l, 3);
		end(&f, how);
		t_settle(&f.p.w, 10000000000ull);
		t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_REM_ACCESS_ERR);
		t_mr_expect(&l, 0, LEN, 3, 0);
		t_pair_fini(&f.p);
	}
}

/* The requester's own, while the answers to its READ arrive. */
static void read_into_it(void **state)
{
	static const enum end local[] = {
		DESTROYED, MODIFIED, INVALIDATED, SG_INVALIDATED, BY_THE_PEER, FMR_UNMAPPED,
	};

	for (u32 i = 0; i < ARRAY_SIZE(local); i++) {
		static struct fixture f;
		struct tmr r;
		struct twr wr;

		init(&f, 0);
		make(&f, local[i]);
		t_mr_init(&f.p.h[1], &r, 0, LEN, T_RW, 0, 12);
		t_mr_fill(&r, 2);
		slow_down(&f, 1);
		wr = t_wr(VHCA_OP_READ, 1, NULL, 0, 0, &r, 0);
		wr.nsge = 1;
		wr.sge[0] = (struct vhca_sge){ 0, LEN, f.key };
		t_send(&f.p.qp[0], &wr);
		until_some(&f, 2, 5);
		end(&f, local[i]);
		t_settle(&f.p.w, 10000000000ull);
		assert_int_equal(placed(&f, 2), 5);
		t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_LOC_PROT_ERR);
		t_pair_fini(&f.p);
	}
}

/* A receive's, while the message that took it arrives. */
static void receive_into_it(void **state)
{
	static const enum end local[] = {
		DESTROYED, MODIFIED, INVALIDATED, SG_INVALIDATED, FMR_UNMAPPED,
	};

	for (u32 i = 0; i < ARRAY_SIZE(local); i++) {
		static struct fixture f;
		struct vhca_sge sge;
		struct tmr l;
		struct twr wr;

		init(&f, 1);
		make(&f, local[i]);
		sge = (struct vhca_sge){ 0, LEN, f.key };
		t_recv(f.qp, 7, 1, &sge);
		t_mr_init(&f.p.h[0], &l, 0, LEN, T_RW, 0, 12);
		t_mr_fill(&l, 2);
		slow_down(&f, 0);
		wr = t_wr(VHCA_OP_SEND, 1, &l, 0, LEN, NULL, 0);
		t_send(&f.p.qp[0], &wr);
		until_some(&f, 2, 5);
		end(&f, local[i]);
		t_settle(&f.p.w, 10000000000ull);
		assert_int_equal(placed(&f, 2), 5);
		t_expect_cqe(&f.p.cq[1], 7, VHCA_CS_LOC_PROT_ERR);
		t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_REM_OP_ERR);
		t_pair_fini(&f.p);
	}
}

/* The VM revokes the memory, and its own thread waits for no key. */
static void memory_goes(void **state)
{
	static struct fixture f;
	struct tmr l;

	begin(&f, INVALIDATED, VHCA_OP_WRITE, &l, 2);
	until_some(&f, 2, 5);
	gmem_unmap_all(f.h->mem);
	t_settle(&f.p.w, 10000000000ull);
	assert_int_equal(placed(&f, 2), 5);
	t_pair_fini(&f.p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(write_to_it), cmocka_unit_test(write_that_tells),
		cmocka_unit_test(read_from_it),
		cmocka_unit_test(read_into_it), cmocka_unit_test(receive_into_it),
		cmocka_unit_test(memory_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
