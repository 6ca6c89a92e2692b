// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Every allocation fails in turn: the results, that nothing has
 * changed, and that the same call works when there is memory again.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/capture.h"
#include "subnet/static.h"
#include "tests/testmem.h"
#include "tests/tfail.h"
#include "tests/thca.h"
#include "lib/table.h"
#include "qp/scratch.h"

#define PAGE	((u64)GMEM_PAGE_SIZE)
#define RW	(GMEM_READ | GMEM_WRITE)

/* ---- guest memory ---- */

static void granting(void **state)
{
	struct guest_mem *m = NULL;
	u32 n, ranges = 0;
	u64 v, gone = 0;
	int fd, err;

	tfail_each_alloc(n, m = gmem_new(), assert_null(m));
	assert_int_equal(n, 1);
	gmem_free(NULL);

	/* more than one block of ranges, so that blocks are cut too */
	fd = testmem_fd(200 * PAGE);
	for (u32 i = 0; i < 200; i++) {
		/* scattered, so that the new one goes to every place of a block */
		u64 iova = (i * 77 % 200) * 2 * PAGE;

		tfail_each_alloc(n, err = gmem_map(m, iova, PAGE, fd, i * PAGE, RW), ({
			assert_int_equal(err, -ENOMEM);
			assert_int_equal(gmem_ranges(m), ranges);
			assert_int_equal(dma_load64_acquire(m, iova, &v), -EFAULT);
		}));
		assert_int_equal(err, 0);
		assert_true(n >= 2);	/* a table and a block */
		ranges++;
		assert_int_equal(dma_store64_release(m, iova, iova), 0);
	}

	/* some of the middle, over several blocks; then each that is left */
	tfail_each_alloc(n, err = gmem_unmap(m, 41 * PAGE, 240 * PAGE), ({
		assert_int_equal(err, -ENOMEM);
		assert_int_equal(gmem_ranges(m), 200);
		for (u64 i = 0; i < 200; i++) {
			assert_int_equal(dma_load64_acquire(m, i * 2 * PAGE, &v), 0);
			assert_int_equal(v, i * 2 * PAGE);
		}
	}));
	assert_int_equal(err, 0);
	assert_true(n >= 4);
	assert_int_equal(gmem_ranges(m), 80);
	for (u64 i = 0; i < 200; i++) {
		bool here = i < 21 || i > 140;

		assert_int_equal(dma_load64_acquire(m, i * 2 * PAGE, &v), here ? 0 : -EFAULT);
		if (!here)
			continue;
		tfail_each_alloc(n, err = gmem_unmap(m, i * 2 * PAGE, PAGE),
				 assert_int_equal(gmem_ranges(m), 80 - gone));
		assert_int_equal(err, 0);
		gone++;
	}
	assert_int_equal(gmem_ranges(m), 0);
	close(fd);
	gmem_free(m);
}

/* In descending order each new range goes in front of a full block. */
static void granting_backwards(void **state)
{
	struct guest_mem *m = gmem_new();
	int fd = testmem_fd(300 * PAGE);
	u64 v;

	for (u64 i = 300; i-- > 0; ) {
		assert_int_equal(gmem_map(m, i * PAGE, PAGE, fd, i * PAGE, RW), 0);
		assert_int_equal(dma_store64_release(m, i * PAGE, i), 0);
	}
	assert_int_equal(gmem_map(m, 299 * PAGE, PAGE, fd, 0, RW), -EEXIST);
	for (u64 i = 0; i < 300; i++) {
		assert_int_equal(dma_load64_acquire(m, i * PAGE, &v), 0);
		assert_int_equal(v, i);
	}
	close(fd);
	gmem_free(m);
}

static void mapping(void **state)
{
	static const struct { int err, answer; } cases[] = {
		{ ENOMEM, -ENOMEM }, { ENODEV, -ENOMEM }, { EACCES, -EACCES }, { EPERM, -EACCES },
	};
	struct guest_mem *m = gmem_new();
	int fd = testmem_fd(PAGE), huge = testmem_fd((1ull << 43) + PAGE);

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		tfail_set(TFAIL_MMAP, 1, cases[i].err);
		assert_int_equal(gmem_map(m, 0, PAGE, fd, 0, RW), cases[i].answer);
		assert_true(tfail_hit(TFAIL_MMAP));
		assert_int_equal(gmem_ranges(m), 0);
	}
	/* more address space than one VM may take, by itself or together */
	assert_int_equal(gmem_map(m, 0, (1ull << 43) + PAGE, huge, 0, RW), -ENOMEM);
	assert_int_equal(gmem_map(m, 0, PAGE, fd, 0, RW), 0);
	close(huge);
	huge = testmem_fd(1ull << 43);
	assert_int_equal(gmem_map(m, PAGE, 1ull << 43, huge, 0, RW), -ENOMEM);
	assert_int_equal(gmem_unmap(m, 0, PAGE), 0);
	assert_int_equal(gmem_map(m, PAGE, 1ull << 43, huge, 0, RW), 0);
	close(huge);
	close(fd);
	gmem_free(m);
}

/* ---- commands ---- */

struct counts {
	u32 n[9];
};

static struct counts count(struct thca *h)
{
	struct vdev_status st;

	vdev_status(h->dev, &st);
	return (struct counts){ { st.uars, st.eqs, st.pds, st.xrcds, st.mkeys, st.cqs, st.srqs,
				    st.qps, st.counters } };
}

static u32 sum(struct counts c)
{
	u32 s = 0;

	for (u32 i = 0; i < ARRAY_SIZE(c.n); i++)
		s += c.n[i];
	return s;
}

/* The command with each of its allocations failing; it makes one object in the end. */
static u32 create(struct thca *h, u8 op, const void *req, u32 len)
{
	struct { struct vhca_object_resp o; u8 rest[VHCA_ACQE_RESP - 8]; } resp;
	struct counts before = count(h), now;
	u32 n, st;

	tfail_each_alloc(n, st = t_admin(h, op, req, len, &resp), ({
		assert_int_equal(st, VHCA_ST_INTERNAL);
		assert_int_equal(h->bad_field, VHCA_NO_FIELD);
		now = count(h);
		assert_memory_equal(&now, &before, sizeof(now));
	}));
	assert_int_equal(st, VHCA_ST_OK);
	assert_true(n >= 1);
	assert_int_equal(sum(count(h)), sum(before) + (op != VHCA_CMD_ADD_DB_PAGE));
	return le32toh(resp.o.handle);
}

static const struct vdev_config cfg = {
	.name = "t", .node_guid = 0xabc00, .ports = 2, .vectors = 4,
};

static void commands(void **state)
{
	struct vhca_open_uar_req uar = { 0 };
	struct vhca_add_db_page_req page = { .page = htole32(1) };
	struct vhca_create_eq_req eq = { .vector = htole32(VHCA_NO_VECTOR), .log_entries = 4 };
	struct vhca_create_mkey_req mkey = { .type = VHCA_MKEY_PHYSICAL };
	struct vhca_create_cq_hw_req cq = { .log_cqe = 4, .db_slot = htole32(10) };
	struct vhca_create_srq_hw_req srq = {
		.log_strides = 4, .log_stride = 5, .db_slot = htole32(30),
	};
	struct vhca_create_qp_hw_req qp = {
		.type = VHCA_QPT_RC, .log_sq_blocks = 4, .log_rq_strides = VHCA_NO_QUEUE,
		.db_slot = htole32(20),
	};
	struct vhca_create_counter_req counter = { .port = 1 };
	struct vhca_qp_attr a;
	struct tworld w;
	struct thca h;
	struct tqp tqp = { .h = &h };
	u32 n, st, handle[4];

	t_world_init(&w);
	t_hca_bare(&h, &w, &cfg);
	uar.db_page = htole64(t_alloc(&h, VHCA_DB_PAGE_SIZE));
	handle[0] = create(&h, VHCA_CMD_OPEN_UAR, &uar, sizeof(uar));
	page.uar = eq.uar = cq.uar = srq.uar = qp.uar = htole32(handle[0]);
	page.db_page = htole64(t_alloc(&h, VHCA_DB_PAGE_SIZE));
	create(&h, VHCA_CMD_ADD_DB_PAGE, &page, sizeof(page));
	eq.buf.addr = htole64(t_alloc(&h, 4096));
	cq.eqn = htole32(create(&h, VHCA_CMD_CREATE_EQ, &eq, sizeof(eq)));
	mkey.pdn = srq.pdn = qp.pdn = htole32(create(&h, VHCA_CMD_CREATE_PD, NULL, 0));
	create(&h, VHCA_CMD_CREATE_MKEY, &mkey, sizeof(mkey));
	create(&h, VHCA_CMD_CREATE_XRCD, NULL, 0);
	create(&h, VHCA_CMD_CREATE_COUNTER, &counter, sizeof(counter));
	cq.buf.addr = htole64(t_alloc(&h, 4096));
	handle[1] = create(&h, VHCA_CMD_CREATE_CQ, &cq, sizeof(cq));
	qp.send_cqn = qp.recv_cqn = htole32(handle[1]);
	qp.sq.addr = htole64(t_alloc(&h, 4096));
	tqp.qpn = create(&h, VHCA_CMD_CREATE_QP, &qp, sizeof(qp));
	srq.buf.addr = htole64(t_alloc(&h, 4096));
	qp.srqn = htole32(create(&h, VHCA_CMD_CREATE_SRQ, &srq, sizeof(srq)));
	qp.flags = VHCA_QP_SRQ;
	qp.db_slot = htole32(40);
	create(&h, VHCA_CMD_CREATE_QP, &qp, sizeof(qp));
	/* the one that failed did not count as the SRQ's user */
	assert_int_equal(t_destroy(&h, VHCA_CMD_DESTROY_SRQ, le32toh(qp.srqn)), VHCA_ST_BUSY);

	/* the QP that cannot be changed stays in its state */
	t_attr_init(&a, 1);
	assert_int_equal(t_modify(&tqp, &a, T_MASK_INIT), VHCA_ST_OK);
	t_attr_rtr(&a, 1, tqp.qpn, 0, 3);
	tfail_each_alloc(n, st = t_modify(&tqp, &a, T_MASK_RTR), ({
		assert_int_equal(st, VHCA_ST_INTERNAL);
		assert_int_equal(t_state(&tqp), T_INIT);
	}));
	assert_int_equal(n, 1);
	assert_int_equal(st, VHCA_ST_OK);
	assert_int_equal(t_state(&tqp), T_RTR);
	t_hca_fini(&h);
	t_world_fini(&w);
}

/* Where the table of objects itself has to grow. */
static void tables(void **state)
{
	struct vhca_create_cq_hw_req cq = { .log_cqe = 0 };
	struct vhca_create_srq_hw_req srq = { .log_strides = 0, .log_stride = 5 };
	struct vhca_create_qp_hw_req qp = {
		.type = VHCA_QPT_RC, .log_sq_blocks = 0, .log_rq_strides = VHCA_NO_QUEUE,
	};
	struct vhca_open_uar_req uar;
	struct vhca_add_db_page_req page;
	struct tworld w;
	struct thca h;

	t_world_init(&w);
	t_hca_init_cfg(&h, &w, &cfg);
	t_expect_event(&h, VHCA_EV_PORT_ACTIVE, 0);
	/* doorbell slots for all */
	for (u32 i = 1; i < 5; i++) {
		page = (struct vhca_add_db_page_req){
			.uar = htole32(h.uar), .page = htole32(i),
			.db_page = htole64(t_alloc(&h, VHCA_DB_PAGE_SIZE)),
		};
		assert_int_equal(t_admin(&h, VHCA_CMD_ADD_DB_PAGE, &page, sizeof(page), NULL), 0);
	}
	cq.uar = srq.uar = qp.uar = htole32(h.uar);
	cq.eqn = htole32(h.comp.eqn);
	cq.buf.addr = srq.buf.addr = qp.sq.addr = htole64(t_alloc(&h, 4096));
	srq.pdn = qp.pdn = htole32(h.pd);
	for (u32 i = 0; i < TABLE_CHUNK + 2; i++) {
		u32 slot = VHCA_DB_SLOTS + 6 * i;

		if (slot % VHCA_DB_SLOTS + 6 > VHCA_DB_SLOTS)
			continue;
		cq.db_slot = htole32(slot);
		qp.send_cqn = qp.recv_cqn = htole32(create(&h, VHCA_CMD_CREATE_CQ, &cq,
							     sizeof(cq)));
		srq.db_slot = htole32(slot + 4);
		create(&h, VHCA_CMD_CREATE_SRQ, &srq, sizeof(srq));
		qp.db_slot = htole32(slot + 2);
		create(&h, VHCA_CMD_CREATE_QP, &qp, sizeof(qp));
		create(&h, VHCA_CMD_CREATE_PD, NULL, 0);
		uar.db_page = htole64(t_alloc(&h, VHCA_DB_PAGE_SIZE));
		create(&h, VHCA_CMD_OPEN_UAR, &uar, sizeof(uar));
	}
	t_hca_fini(&h);
	t_world_fini(&w);
}

/* ---- parts of a daemon ---- */

static void parts(void **state)
{
	struct engine *e = NULL;
	struct fabric *f = NULL;
	struct capture *c = NULL;
	int err = 0;
	u32 n;

	tfail_each_alloc(n, f = fabric_new(), assert_null(f));
	assert_int_equal(n, 4);
	tfail_each_alloc(n, err = subnet_static(f), assert_int_equal(err, -ENOMEM));
	assert_int_equal(n, 1);
	tfail_each_alloc(n, e = engine_new(&engine_clock_monotonic, f), assert_null(e));
	assert_int_equal(n, 1);
	engine_free(e);
	tfail_set(TFAIL_EVENTFD, 1, EMFILE);
	assert_null(engine_new(&engine_clock_monotonic, f));
	assert_int_equal(errno, EMFILE);
	assert_true(tfail_hit(TFAIL_EVENTFD));
	fabric_free(f);
	tfail_each_alloc(n, c = capture_open("/dev/null"), ({
		assert_null(c);
		assert_int_equal(errno, ENOMEM);
	}));
	assert_int_equal(n, 1);
	assert_int_equal(capture_close(c), 0);
	engine_free(NULL);
	fabric_free(NULL);
	assert_int_equal(capture_close(NULL), 0);
}

static void devices(void **state)
{
	struct guest_mem *mem = gmem_new();
	struct vhca_dev *dev = NULL;
	struct vdev_status st;
	const struct adapter_ops ops = { .scratch = sizeof(struct scratch) };
	struct adapter first = { .ops = &ops };
	struct tworld w;
	u32 n;

	t_world_init(&w);
	/* the worker's memory exists: the count below is a device's */
	assert_int_equal(adapter_init(&first, w.engine), 0);
	adapter_fini(&first);
	tfail_each_alloc(n, dev = vdev_new(w.engine, &cfg, mem, NULL, NULL), assert_null(dev));
	/*
	 * the device, its groups, its kicks, room for its timers, two for its ports' places, and
	 * one for the fabric's agents; tables come with what is in them
	 */
	assert_int_equal(n, 1 + 1 + 1 + 1 + 2 + 1);
	vdev_status(dev, &st);
	/* devices that could not be made have released their places */
	assert_int_equal(st.port[0].lid, 1);
	assert_int_equal(st.port[1].lid, 2);
	vdev_free(dev);
	vdev_free(NULL);
	t_world_fini(&w);
	gmem_free(mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(granting), cmocka_unit_test(granting_backwards),
		cmocka_unit_test(mapping), cmocka_unit_test(commands), cmocka_unit_test(tables),
		cmocka_unit_test(parts), cmocka_unit_test(devices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
