// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Keys that the driver maps by writing their record.
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "tests/spoil.h"
#include "tests/tkey.h"

#define PAGES	16u
#define SHIFT	13u
#define SIZE	(1u << SHIFT)
#define REQ(f)	(offsetof(struct vhca_asqe, req) + offsetof(struct vhca_create_mkey_req, f))

struct fixture {
	struct tpair p;
	struct thca *h;
	struct tqp *qp;
	u64 page[PAGES];
	u64 list;
	u64 rec;
	u32 key;
};

static struct vhca_create_mkey_req request(const struct fixture *f)
{
	return (struct vhca_create_mkey_req){
		.buf = { .addr = htole64(f->list), .npages = htole32(PAGES), .levels = 1,
			 .page_shift = SHIFT },
		.iova = htole64(f->rec), .pdn = htole32(f->h->pd), .access = htole32(T_RW),
		.type = VHCA_MKEY_FMR, .variant = 0x33,
	};
}

static int setup(void **state)
{
	static struct fixture f;
	struct vhca_create_mkey_req req;

	memset(&f, 0, sizeof(f));
	t_pair_init(&f.p, 5, 1, 2);
	f.h = &f.p.h[1];
	f.qp = &f.p.qp[1];
	f.list = t_alloc(f.h, 4096);
	f.rec = t_alloc(f.h, 4096) + 4096 - sizeof(struct vhca_fmr);
	for (u32 i = PAGES; i--; ) {
		f.page[i] = t_alloc(f.h, SIZE);
		((__le64 *)t_cpu(f.h, f.list))[i] = htole64(f.page[i]);
	}
	req = request(&f);
	f.key = t_create(f.h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req));
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	t_pair_fini(&f->p);
	return 0;
}

static struct vhca_fmr *record(const struct fixture *f)
{
	return t_cpu(f->h, f->rec);
}

/* As the driver does it. */
static void map(struct fixture *f, u32 key, u64 iova, u64 length, u32 npages)
{
	struct vhca_fmr *r = record(f);

	__atomic_fetch_add(&r->seq, 1, __ATOMIC_SEQ_CST);
	r->key = htole32(key);
	r->iova = htole64(iova);
	r->length = htole64(length);
	r->npages = htole32(npages);
	__atomic_fetch_add(&r->seq, 1, __ATOMIC_RELEASE);
}

static void mapped(void **state)
{
	struct fixture *f = *state;
	u64 iova = 0x123456789abull;
	u32 in_page = iova % SIZE, len = 3 * SIZE - in_page;
	struct tmr l;
	struct twr wr;

	assert_int_equal(f->key & 0xff, 0x33);
	assert_false(t_grants(f->qp, f->key, 0, 1, MKEY_READ_REMOTE));
	map(f, f->key, iova, len, 3);
	assert_true(t_grants(f->qp, f->key, iova, len, T_RW));
	assert_false(t_grants(f->qp, f->key, iova - 1, 1, MKEY_READ_REMOTE));
	assert_false(t_grants(f->qp, f->key, iova, len + 1, MKEY_READ_REMOTE));
	assert_false(t_grants(f->qp, f->key ^ 1, iova, 1, MKEY_READ_REMOTE));
	assert_int_equal(t_where(f->qp, f->key, iova + SIZE, 1, T_RW), f->page[1] + in_page);
	t_mr_init(&f->p.h[0], &l, 0, len, T_RW, 0, 12);
	t_mr_fill(&l, 9);
	wr = t_wr(VHCA_OP_WRITE, 1, &l, 0, len, NULL, 0);
	wr.raddr = iova;
	wr.rkey = f->key;
	t_send(&f->p.qp[0], &wr);
	t_expect_cqe(&f->p.cq[0], 1, VHCA_CS_SUCCESS);
	for (u32 i = 0; i < len; i++)
		assert_int_equal(*(u8 *)t_cpu(f->h, f->page[(in_page + i) / SIZE] +
					      (in_page + i) % SIZE), t_pattern(9, i));
	/* under another variant, another range: the old key is stale at once */
	map(f, f->key + 1, 0, SIZE, 1);
	assert_true(t_grants(f->qp, f->key + 1, 0, SIZE, T_RW));
	assert_false(t_grants(f->qp, f->key, 0, 1, MKEY_READ_REMOTE));
	wr.wr_id = 2;
	t_send(&f->p.qp[0], &wr);
	t_expect_cqe(&f->p.cq[0], 2, VHCA_CS_REM_ACCESS_ERR);
	map(f, f->key + 1, 0, SIZE, 0);
	assert_false(t_grants(f->qp, f->key + 1, 0, 1, MKEY_READ_REMOTE));
	assert_int_equal(t_admin(f->h, VHCA_CMD_FENCE_MKEYS, NULL, 0, NULL), VHCA_ST_OK);
	/* the send queue can neither register nor invalidate it, nor bind to it */
	map(f, f->key, 0, SIZE, 1);
	assert_int_equal(qp_mkey_invalidate(t_vqp(f->qp), f->key, false), VHCA_CS_LOC_QP_OP_ERR);
	assert_int_equal(t_register(f->qp, f->key, 1, 0, 1, T_RW, SHIFT), VHCA_CS_LOC_QP_OP_ERR);
	assert_int_equal(t_destroy(f->h, VHCA_CMD_DESTROY_MKEY, f->key + 77), VHCA_ST_OK);
	assert_false(t_grants(f->qp, f->key, 0, 1, MKEY_READ_REMOTE));
}

/* A local key too: of a gather list, beside others. */
static void local(void **state)
{
	struct fixture *f = *state;
	const struct vqp *qp = t_vqp(f->qp);
	struct sge sge[2];
	const struct sglist l = { sge, 2, MKEY_READ_LOCAL, qp_local_scope(qp, qp->pd) };
	struct dma_seg seg[4];
	struct tmr before;
	u32 nseg;

	/* both parts are in one piece, which is shortened when the second is refused */
	t_mr_init(f->h, &before, 0, 4096, T_RW, 0, 12);
	((__le64 *)t_cpu(f->h, f->list))[0] = htole64(before.page[0] + 4096);
	map(f, f->key, 0, SIZE, 1);
	sge[0] = (struct sge){ 0, 4096, before.key };
	sge[1] = (struct sge){ 0, 100, f->key };
	assert_int_equal(sgl_map(&l, 0, 4196, seg, &nseg, 4), 4196);
	assert_int_equal(nseg, 1);
	sge[1].key ^= 1;
	assert_int_equal(sgl_map(&l, 0, 4196, seg, &nseg, 4), 4096);
	assert_int_equal(nseg, 1);
	assert_int_equal(seg[0].len, 4096);
}

/* Invalid records. */
static void bad_records(void **state)
{
	struct fixture *f = *state;
	const struct vhca_fmr good = {
		.seq = htole32(6), .key = htole32(f->key), .iova = htole64(0x1000),
		.length = htole64(SIZE), .npages = htole32(2),
	};
	const struct {
		u32 off, size;
		u64 v;
	} c[] = {
#define C(f, v)	{ offsetof(struct vhca_fmr, f), sizeof(good.f), v }
		C(seq, 7), C(key, f->key + 1), C(key, f->key ^ 0x100), C(npages, 0), C(npages, 1),
		C(npages, PAGES + 1), C(npages, UINT32_MAX), C(length, 2 * SIZE - 0x1000 + 1),
		C(length, UINT64_MAX), C(length, 0), C(iova, UINT64_MAX - SIZE + 2), C(rsvd, 1),
		C(iova, 0x1002),
	};

	*record(f) = good;
	assert_true(t_grants(f->qp, f->key, 0x1000, SIZE, T_RW));
	assert_int_equal(t_where(f->qp, f->key, 0x1001, 1, T_RW), f->page[0] + 0x1001);
	for (u32 i = 0; i < ARRAY_SIZE(c); i++) {
		u64 v = htole64(c[i].v);

		*record(f) = good;
		memcpy((u8 *)record(f) + c[i].off, &v, c[i].size);
		if (t_grants(f->qp, f->key, 0x1001, 1, MKEY_READ_REMOTE) ||
		    t_where(f->qp, f->key, 0x1001, 1, MKEY_READ_REMOTE) != UINT64_MAX)
			fail_msg("case %u", i);
	}
	*record(f) = good;
	assert_true(t_grants(f->qp, f->key, 0x1000, SIZE, T_RW));
}

/* The record, or its list, is not mapped. */
static void not_there(void **state)
{
	struct fixture *f = *state;
	struct vhca_create_mkey_req req = request(f);
	u64 end = T_RAM_BASE + f->h->ram_size;
	u32 key;

	req.iova = htole64(end - 8);
	key = t_create(f->h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req));
	assert_false(t_grants(f->qp, key, 0, 1, MKEY_READ_REMOTE));
	req.iova = htole64(end);
	key = t_create(f->h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req));
	assert_false(t_grants(f->qp, key, 0, 1, MKEY_READ_REMOTE));
	req = request(f);
	req.buf.addr = htole64(end - 8);
	key = t_create(f->h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req));
	map(f, key, 0, 2 * SIZE, 2);
	assert_true(t_grants(f->qp, key, 0, 2 * SIZE, T_RW));
	assert_int_equal(t_where(f->qp, key, SIZE, 1, T_RW), UINT64_MAX);
}

static void made_so(void **state)
{
	struct fixture *f = *state;
	const struct vhca_create_mkey_req good = request(f);
	const struct spoilt c[] = {
#undef C
#define C(f, v)	{ F(vhca_create_mkey_req, f), v, VHCA_ST_BAD_FIELD, 0 }
		C(access, VHCA_ACCESS_ZERO_BASED), C(access, VHCA_ACCESS_REMOTE_WRITE),
		C(access, T_RW | VHCA_ACCESS_MW_BIND), C(length, 1), C(buf.levels, 0),
		C(buf.levels, 2), C(buf.page_shift, 11), C(buf.page_shift, 31), C(buf.offset, 8),
		C(buf.npages, 0), C(buf.npages, VDEV_MAX_REG_ENTRIES + 1), C(buf.addr, 4),
		C(buf.addr, UINT64_MAX - 7), C(iova, 4), C(iova, UINT64_MAX - 7), C(rsvd[0], 1),
	};

	t_key_caps(f->h);
	spoil_each(f->h, VHCA_CMD_CREATE_MKEY, &good, sizeof(good), c, ARRAY_SIZE(c));
	assert_int_equal(t_admin(f->h, VHCA_CMD_FENCE_MKEYS, NULL, 0, NULL), VHCA_ST_OK);
	f->h->dev->caps &= ~(1ull << VHCA_CAP_FMR);
	assert_int_equal(t_admin(f->h, VHCA_CMD_FENCE_MKEYS, NULL, 0, NULL), VHCA_ST_UNSUPPORTED);
}

/*
 * The linker puts this in place of vbuf_map(): a driver that changes the mapping after the
 * translation.
 */
static struct fixture *maps_anew;

u64 __real_vbuf_map(struct guest_mem *mem, const struct vbuf *b, u64 off, u64 len,
		    struct dma_seg *seg, u32 *nseg, u32 max);
u64 __wrap_vbuf_map(struct guest_mem *mem, const struct vbuf *b, u64 off, u64 len,
		    struct dma_seg *seg, u32 *nseg, u32 max);

u64 __wrap_vbuf_map(struct guest_mem *mem, const struct vbuf *b, u64 off, u64 len,
		    struct dma_seg *seg, u32 *nseg, u32 max)
{
	u64 got = __real_vbuf_map(mem, b, off, len, seg, nseg, max);

	if (maps_anew)
		map(maps_anew, maps_anew->key, 0, 4 * SIZE, 4);
	maps_anew = NULL;
	return got;
}

static void changed_meanwhile(void **state)
{
	struct fixture *f = *state;
	const struct vqp *qp = t_vqp(f->qp);
	const struct sge sge = { 0, 2 * SIZE, f->key };
	const struct sglist l = { &sge, 1, MKEY_WRITE_REMOTE, qp_scope(qp) };
	struct dma_seg seg[2];
	u32 nseg;

	map(f, f->key, 0, 4 * SIZE, 4);
	maps_anew = f;
	assert_int_equal(sgl_map(&l, 0, 2 * SIZE, seg, &nseg, 2), 0);
	assert_null(maps_anew);
	assert_int_equal(nseg, 0);
	assert_int_equal(sgl_map(&l, 0, 2 * SIZE, seg, &nseg, 2), 2 * SIZE);
}

/*
 * A driver that never stops: maps set 0 and set 1 of the pages in turn.  Between two of its changes
 * there is hardly time to find a whole mapping, so it pauses after some until one was found.
 */
struct racer {
	struct fixture *f;
	bool stop;
	u32 turns;
	u32 found[2];		/* by the other side */
};

#define TURNS		6000u
#define RESTLESS	15u	/* turns, an odd number: there are pauses with both sets */

static void rest(struct racer *r, u32 set)
{
	u32 before = __atomic_load_n(&r->found[set], __ATOMIC_RELAXED);

	while (__atomic_load_n(&r->found[set], __ATOMIC_RELAXED) == before &&
	       !__atomic_load_n(&r->stop, __ATOMIC_RELAXED))
		sched_yield();
}

static void *remap(void *arg)
{
	struct racer *r = arg;
	struct vhca_fmr *rec = record(r->f);
	__le64 *list = t_cpu(r->f->h, r->f->list);

	for (u32 set = 0; !__atomic_load_n(&r->stop, __ATOMIC_RELAXED); set ^= 1) {
		u32 seq = rec->seq;

		__atomic_store_n(&rec->seq, seq + 1, __ATOMIC_SEQ_CST);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		rec->key = htole32(r->f->key + set);
		for (u32 i = 0; i < 8; i++)
			__atomic_store_n(&list[i], htole64(r->f->page[set * 8 + i]),
					 __ATOMIC_RELAXED);
		rec->iova = htole64(set * 0x100000);
		rec->length = htole64(8 * SIZE);
		rec->npages = htole32(8);
		__atomic_store_n(&rec->seq, seq + 2, __ATOMIC_RELEASE);
		if (__atomic_add_fetch(&r->turns, 1, __ATOMIC_RELAXED) % RESTLESS == 0)
			rest(r, set);
	}
	return NULL;
}

/*
 * All pages found belong to one mapping, and to the one of that key.  Entries
 * before it in a list stay as they are, even if the first page of one
 * mapping follows them directly.
 */
static void never_half(void **state)
{
	struct fixture *f = *state;
	const struct vqp *qp = t_vqp(f->qp);
	struct racer r = { .f = f };
	struct tmr before;
	u32 nseg;
	pthread_t t;

	t_mr_init(f->h, &before, 0, 4096, T_RW, 0, 12);
	f->page[0] = before.page[0] + 4096;
	assert_int_equal(pthread_create(&t, NULL, remap, &r), 0);
	for (u32 i = 0; __atomic_load_n(&r.turns, __ATOMIC_RELAXED) < TURNS ||
			r.found[0] < 2000 || r.found[1] < 2000; i++) {
		u32 set = i & 1, at = 0;
		const struct sge sge[] = {
			{ 0, 4096, before.key }, { set * 0x100000, 8 * SIZE, f->key + set },
		};
		const struct sglist l = { sge, 2, MKEY_WRITE_REMOTE, qp_scope(qp) };
		struct dma_seg seg[9];
		u64 got = sgl_map(&l, 0, 4096 + 8 * SIZE, seg, &nseg, 9);

		assert_int_equal(seg[0].addr, before.page[0]);
		if (got == 4096) {
			assert_int_equal(nseg, 1);
			assert_int_equal(seg[0].len, 4096);
			continue;
		}
		assert_int_equal(got, 4096 + 8 * SIZE);
		__atomic_add_fetch(&r.found[set], 1, __ATOMIC_RELAXED);
		seg[0].addr += 4096;
		seg[0].len -= 4096;
		for (u32 s = 0; s < nseg; s++)
			for (u64 b = 0; b < seg[s].len; b += SIZE)
				assert_int_equal(seg[s].addr + b, f->page[set * 8 + at++]);
		assert_int_equal(at, 8);
	}
	__atomic_store_n(&r.stop, true, __ATOMIC_RELAXED);
	pthread_join(t, NULL);
	assert_true(r.found[0] >= 2000 && r.found[1] >= 2000 && r.turns > 100);
}

#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(mapped), TEST(local), TEST(bad_records), TEST(not_there), TEST(made_so),
		TEST(changed_meanwhile),
		TEST(never_half),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
