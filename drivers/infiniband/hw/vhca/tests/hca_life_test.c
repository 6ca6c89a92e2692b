// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * An HCA that is removed and comes back: after a reset, unbinding, or a fatal error. It is in use
 * by a client with objects and posted requests. All these requests are flushed before the device is
 * unregistered, no object is left, and the next device works like the first.
 */
#include <rdma/rdma_ext.h>

#include "hca_test.h"

static struct hca_watch *watch;

/* With an SRQ no receives are posted: the sends would use them, and they are never flushed. */
static int hold_requests(struct hca_watch *w, struct conn *c)
{
	int err = 0;

	w->held = 0;
	for (int i = 0; !err && i < WATCH_HELD; i++) {
		err = c->srq ? 0 : conn_recv(c, 1, &c->rx[i], 0, 64);
		err = err ?: conn_send(c, 0, &c->tx[1 + i], IB_WR_SEND, IB_SEND_SIGNALED, 0, 64,
				       0);
		w->held += c->srq ? 1 : 2;
	}
	return err;
}

static int watch_add(struct ib_device *dev)
{
	struct hca_watch *w = watch;
	struct conn *c;
	int err;

	if (dev->dev.parent != &w->h->pdev->dev)
		return -EOPNOTSUPP;
	c = kzalloc(sizeof(*c), GFP_KERNEL);
	err = c ? conn_open_as(c, dev, &w->options) : -ENOMEM;
	w->open_err = err;
	if (err) {
		kfree(c);
		return err;
	}
	w->open_err = conn_connect(c, 0, 0, 7) ?: conn_connect(c, 1, 1, 7) ?: hold_requests(w, c);
	w->conn = c;
	w->added++;
	return 0;
}

/* Was the request flushed, by the device or by the driver, with the right vendor error? */
static bool flushed(struct conn_wr *r)
{
	return completion_done(&r->done) && r->wc.status == IB_WC_WR_FLUSH_ERR &&
	       r->wc.vendor_err == VHCA_WHY_FLUSHED;
}

static void watch_remove(struct ib_device *dev, void *data)
{
	struct hca_watch *w = watch;
	struct conn *c = w->conn;
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;
	u16 command = 0;

	if (!c)
		return;
	complete_all(&w->removing);
	w->conn = NULL;
	pci_read_config_word(w->h->pdev, PCI_COMMAND, &command);
	w->master = command & PCI_COMMAND_MASTER;
	w->query_err = ib_query_qp(c->qp[0], &attr, IB_QP_STATE, &init);
	conn_close(c);
	w->flushed = 0;
	for (int i = 0; i < WATCH_HELD; i++) {
		w->flushed += !c->srq && flushed(&c->rx[i]);
		w->flushed += flushed(&c->tx[1 + i]);
	}
	kfree(c);
	w->removed++;
	complete(&w->gone);
}

static struct ib_client watch_client = {
	.name = "vhca_hca_test",
	.add = watch_add,
	.remove = watch_remove,
};

static void stop_watching(void *unused)
{
	ib_unregister_client(&watch_client);
	watch = NULL;
}

/**
 * hca_watch() - register a client that uses the device until the test ends
 * @h: HCA under test
 *
 * Return: the client's state.
 */
struct hca_watch *hca_watch(struct hca_test *h)
{
	return hca_watch_as(h, &(struct conn_options){});
}

/**
 * hca_watch_as() - the same, with options for the connection
 * @h: HCA under test
 * @o: the options
 *
 * Return: the client's state.
 */
struct hca_watch *hca_watch_as(struct hca_test *h, const struct conn_options *o)
{
	struct hca_watch *w = kunit_kzalloc(h->test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(h->test, w);
	w->h = h;
	w->options = *o;
	init_completion(&w->removing);
	init_completion(&w->gone);
	watch = w;
	KUNIT_ASSERT_EQ(h->test, ib_register_client(&watch_client), 0);
	KUNIT_ASSERT_EQ(h->test, kunit_add_action_or_reset(h->test, stop_watching, NULL), 0);
	KUNIT_ASSERT_EQ(h->test, w->added, 1);
	KUNIT_ASSERT_EQ(h->test, w->open_err, 0);
	return w;
}

static void expect_flushed(struct hca_watch *w)
{
	KUNIT_EXPECT_EQ(w->h->test, w->flushed, w->held);
}

/**
 * hca_wait_gone() - wait until a dead device has been taken down
 * @w: its client
 */
void hca_wait_gone(struct hca_watch *w)
{
	struct kunit *test = w->h->test;

	KUNIT_ASSERT_NE(test, wait_for_completion_timeout(&w->gone, HCA_PATIENCE), 0UL);
	KUNIT_EXPECT_NULL(test, hca_device(w->h));
	KUNIT_EXPECT_EQ(test, w->removed, w->added);
	KUNIT_EXPECT_EQ(test, w->query_err, -EIO);
	expect_flushed(w);
}

/**
 * hca_back_again() - reset the function of a device that was taken down, and expect that it works
 * @w: its client
 */
void hca_back_again(struct hca_watch *w)
{
	struct hca_test *h = w->h;
	int added = w->added;

	hca_reset(h);
	KUNIT_ASSERT_EQ(h->test, w->added, added + 1);
	KUNIT_ASSERT_EQ(h->test, w->open_err, 0);
	conn_works(h->test, conn_get(h->test, &hca_need_device(h)->ibdev, true, 7));
}

static void test_function_reset(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct hca_watch *w = hca_watch(h);

	for (int i = 0; i < 3; i++) {
		hca_reset(h);
		KUNIT_EXPECT_EQ(test, w->removed, i + 1);
		KUNIT_EXPECT_EQ(test, w->added, i + 2);
		KUNIT_ASSERT_EQ(test, w->open_err, 0);
		/* The device was alive when its client was called. */
		KUNIT_EXPECT_EQ(test, w->query_err, 0);
		expect_flushed(w);
	}
	conn_works(test, conn_get(test, &hca_need_device(h)->ibdev, true, 7));
}

static void test_unbind(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct hca_watch *w = hca_watch(h);

	device_release_driver(&h->pdev->dev);
	KUNIT_EXPECT_NULL(test, hca_device(h));
	KUNIT_EXPECT_EQ(test, w->removed, 1);
	KUNIT_EXPECT_EQ(test, w->query_err, 0);
	expect_flushed(w);
	KUNIT_ASSERT_EQ(test, device_driver_attach(h->drv, &h->pdev->dev), 0);
	KUNIT_EXPECT_EQ(test, w->added, 2);
	KUNIT_ASSERT_EQ(test, w->open_err, 0);
	conn_works(test, conn_get(test, &hca_need_device(h)->ibdev, true, 7));
}

static void test_fatal_error(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct hca_watch *w;

	hca_need_faults(h);
	w = hca_watch(h);
	hca_fault(h, "fatal @");
	hca_wait_gone(w);
	hca_back_again(w);
}

static void deal_late(struct ib_cq *cq, struct ib_wc *wc)
{
	/* long enough for a removal that does not wait */
	watch->removed_first = wait_for_completion_timeout(&watch->removing, HZ);
	watch->deal(cq, wc);
}

/*
 * The NVMe host, for one, begins to recover in the handler of a failed request. If it is removed
 * before, it waits a minute for the response to its last request.
 */
static void test_completions_before_removal(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct hca_watch *w;

	hca_need_faults(h);
	w = hca_watch(h);
	w->deal = w->conn->tx[1].cqe.done;
	w->conn->tx[1].cqe.done = deal_late;
	hca_fault(h, "fatal @");
	hca_wait_gone(w);
	KUNIT_EXPECT_FALSE(test, w->removed_first);
	hca_back_again(w);
}

/* QPs with an SRQ get their last-WQE event from the driver, since the device is dead. */
static void test_fatal_error_of_srq_users(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct hca_watch *w;

	if (!hca_need_device(h)->ibdev.ops.create_srq)
		kunit_skip(test, "the device has no SRQs");
	hca_need_faults(h);
	w = hca_watch_as(h, &(struct conn_options){ .srq_wr = 16 });
	hca_fault(h, "fatal @");
	hca_wait_gone(w);
	hca_back_again(w);
}

/* Unbinding works for a device that was taken down before. */
static void test_fatal_error_then_unbind(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct hca_watch *w;

	hca_need_faults(h);
	w = hca_watch(h);
	hca_fault(h, "fatal @");
	device_release_driver(&h->pdev->dev);
	KUNIT_EXPECT_EQ(test, w->removed, 1);
	expect_flushed(w);
	KUNIT_ASSERT_EQ(test, device_driver_attach(h->drv, &h->pdev->dev), 0);
	KUNIT_EXPECT_EQ(test, w->added, 2);
	KUNIT_ASSERT_EQ(test, w->open_err, 0);
}

/*
 * Resets take long: the driver's, and that of the function, which has not ended when the driver's
 * next one begins and has to wait for its end.
 */
static void test_slow_resets(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct hca_watch *w;

	hca_need_faults(h);
	w = hca_watch(h);
	hca_fault(h, "reset @ delay=700 count=2");
	hca_reset(h);
	hca_struck(h);
	KUNIT_EXPECT_EQ(test, w->removed, 1);
	KUNIT_EXPECT_EQ(test, w->added, 2);
	expect_flushed(w);
}

/*
 * A dead device that does not reset in time is taken down all the same. It may still do DMA, so it
 * must not reach the memory that is freed now.
 */
static void test_dead_and_slow_to_reset(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct hca_watch *w;

	hca_need_faults(h);
	w = hca_watch(h);
	hca_fault(h, "reset @ " HCA_HELD " , fault fatal @");
	hca_wait_gone(w);
	KUNIT_EXPECT_FALSE(test, w->master);
	hca_let_go(h);
	hca_back_again(w);
}

/* ---- keys that are in use when the device is removed ---- */

#define KEY_PAGES	4

/* A second client of the device: an MR to be registered, and an FMR that is mapped. */
static struct key_watch {
	struct hca_test *h;
	struct ib_pd *pd;
	struct ib_mr *mr;
	struct ib_fmr *fmr;
	int open_err, close_err;
	int removed;
} keys;

static int keys_open(struct ib_device *dev)
{
	struct ib_fmr_attr attr = { .max_pages = KEY_PAGES, .max_maps = 2, .page_shift = 12 };
	u64 page = 0x1000;

	keys.pd = ib_alloc_pd(dev, 0);
	if (IS_ERR(keys.pd))
		return PTR_ERR(keys.pd);
	keys.mr = ib_alloc_mr(keys.pd, IB_MR_TYPE_MEM_REG, KEY_PAGES);
	keys.fmr = dev->ops.ext && dev->ops.ext->alloc_fmr ?
		   ib_alloc_fmr(keys.pd, IB_ACCESS_LOCAL_WRITE, &attr) : NULL;
	if (IS_ERR(keys.mr) || IS_ERR(keys.fmr))
		return -ENOMEM;
	return keys.fmr ? ib_map_phys_fmr(keys.fmr, &page, 1, 0) : 0;
}

static int keys_add(struct ib_device *dev)
{
	if (dev->dev.parent != &keys.h->pdev->dev)
		return -EOPNOTSUPP;
	keys.open_err = keys_open(dev);
	return 0;
}

static void keys_remove(struct ib_device *dev, void *data)
{
	LIST_HEAD(list);

	keys.close_err = 0;
	if (!IS_ERR_OR_NULL(keys.fmr)) {
		list_add(&keys.fmr->list, &list);
		keys.close_err = ib_unmap_fmr(&list) ?: ib_dealloc_fmr(keys.fmr);
	}
	if (!IS_ERR_OR_NULL(keys.mr))
		keys.close_err = keys.close_err ?: ib_dereg_mr(keys.mr);
	if (!IS_ERR_OR_NULL(keys.pd))
		ib_dealloc_pd(keys.pd);
	keys.pd = NULL;
	keys.mr = NULL;
	keys.fmr = NULL;
	keys.removed++;
}

static struct ib_client keys_client = {
	.name = "vhca_hca_keys",
	.add = keys_add,
	.remove = keys_remove,
};

static void stop_keys(void *unused)
{
	ib_unregister_client(&keys_client);
}

static void use_keys(struct hca_test *h)
{
	struct kunit *test = h->test;

	if (!hca_need_device(h)->ibdev.ops.alloc_mr)
		kunit_skip(test, "the device has no keys that requests register");
	keys = (struct key_watch){ .h = h };
	KUNIT_ASSERT_EQ(test, ib_register_client(&keys_client), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, stop_keys, NULL), 0);
	KUNIT_ASSERT_EQ(test, keys.open_err, 0);
}

static void test_fatal_error_of_key_users(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct hca_watch *w;

	hca_need_faults(h);
	w = hca_watch(h);
	use_keys(h);
	hca_fault(h, "fatal @");
	hca_wait_gone(w);
	KUNIT_EXPECT_EQ(test, keys.removed, 1);
	KUNIT_EXPECT_EQ(test, keys.close_err, 0);
	hca_back_again(w);
	KUNIT_EXPECT_EQ(test, keys.open_err, 0);
}

static void test_unbind_of_key_users(struct kunit *test)
{
	struct hca_test *h = test->priv;

	use_keys(h);
	device_release_driver(&h->pdev->dev);
	KUNIT_EXPECT_EQ(test, keys.removed, 1);
	KUNIT_EXPECT_EQ(test, keys.close_err, 0);
	KUNIT_ASSERT_EQ(test, device_driver_attach(h->drv, &h->pdev->dev), 0);
	KUNIT_EXPECT_EQ(test, keys.open_err, 0);
}

#ifdef CONFIG_FAULT_INJECTION
/* A test with failing allocations: on a connection, or while one is made. */
struct starved {
	struct kunit *test;
	struct conn *c;
	struct ib_device *dev;
	struct ib_srq *srq;
	struct ib_ah *ah;
	struct ib_mr *mr;
	enum ib_mr_type mr_type;
	struct ib_fmr *fmr;
	union ib_gid gid;
	u16 lid;
};

#define MLID	0xc123

static int open_conn(struct starved *s)
{
	return conn_open_as(s->c, s->dev, &(struct conn_options){
		.srq_wr = s->dev->ops.create_srq ? 8 : 0 });
}

static void close_it(struct starved *s)
{
	conn_close(s->c);
}

static int make_srq(struct starved *s)
{
	struct ib_srq_init_attr attr = { .attr = { .max_wr = 64, .max_sge = 2 } };

	s->srq = ib_create_srq(s->c->pd, &attr);
	return PTR_ERR_OR_ZERO(s->srq);
}

static void drop_srq(struct starved *s)
{
	ib_destroy_srq(s->srq);
}

static int grow_srq(struct starved *s)
{
	struct ib_srq_attr attr = { .max_wr = 128, .srq_limit = 100 };

	return ib_modify_srq(s->c->srq, &attr, IB_SRQ_MAX_WR | IB_SRQ_LIMIT);
}

static void shrink_srq(struct starved *s)
{
	struct ib_srq_attr attr = { .max_wr = 8 };

	KUNIT_EXPECT_EQ(s->test, ib_modify_srq(s->c->srq, &attr, IB_SRQ_MAX_WR | IB_SRQ_LIMIT), 0);
}

static int grow_cq(struct starved *s)
{
	return ib_resize_cq(s->c->cq, 4096);
}

static void shrink_cq(struct starved *s)
{
	KUNIT_EXPECT_EQ(s->test, ib_resize_cq(s->c->cq, 512), 0);
}

static int make_ah(struct starved *s)
{
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_IB };

	rdma_ah_set_dlid(&attr, s->lid);
	rdma_ah_set_port_num(&attr, 1);
	rdma_ah_set_grh(&attr, &s->gid, 0, 0, 64, 0);
	s->ah = rdma_create_ah(s->c->pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	return PTR_ERR_OR_ZERO(s->ah);
}

static void drop_ah(struct starved *s)
{
	rdma_destroy_ah(s->ah, RDMA_DESTROY_AH_SLEEPABLE);
}

static int join(struct starved *s)
{
	return ib_attach_mcast(s->c->qp[0], &s->gid, MLID);
}

static void leave(struct starved *s)
{
	KUNIT_EXPECT_EQ(s->test, ib_detach_mcast(s->c->qp[0], &s->gid, MLID), 0);
}

static int make_mr(struct starved *s)
{
	s->mr = ib_alloc_mr(s->c->pd, s->mr_type, 600);
	return PTR_ERR_OR_ZERO(s->mr);
}

static void drop_mr(struct starved *s)
{
	KUNIT_EXPECT_EQ(s->test, ib_dereg_mr(s->mr), 0);
}

static int make_fmr(struct starved *s)
{
	struct ib_fmr_attr attr = { .max_pages = 600, .max_maps = 2, .page_shift = 12 };

	s->fmr = ib_alloc_fmr(s->c->pd, IB_ACCESS_LOCAL_WRITE, &attr);
	return PTR_ERR_OR_ZERO(s->fmr);
}

static void drop_fmr(struct starved *s)
{
	KUNIT_EXPECT_EQ(s->test, ib_dealloc_fmr(s->fmr), 0);
}

/*
 * Makes each allocation of @try fail in turn, until it needs fewer. Returns the number of failed
 * calls.
 */
static unsigned int starve(struct starved *s, const char *what, int (*try)(struct starved *s),
			   void (*undo)(struct starved *s))
{
	struct kunit *test = s->test;
	unsigned int nth, failures = 0;
	bool spared = false;
	int err = 0;

	for (nth = 1; nth < 1000 && !spared; nth++) {
		current->fail_nth = nth;
		err = try(s);
		spared = current->fail_nth;
		current->fail_nth = 0;
		if (err)
			KUNIT_EXPECT_EQ_MSG(test, err, -ENOMEM, "%s, allocation %u", what, nth);
		else
			undo(s);
		failures += !!err;
	}
	KUNIT_EXPECT_EQ_MSG(test, err, 0, "%s", what);
	KUNIT_EXPECT_TRUE_MSG(test, spared, "%s", what);
	kunit_info(test, "%s: %u allocations, %u of them fatal\n", what, nth - 2, failures);
	return failures;
}

static void test_failed_allocations(struct kunit *test)
{
	struct starved s = { .test = test, .dev = &hca_need_device(test->priv)->ibdev };

	s.c = kunit_kzalloc(test, sizeof(*s.c), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, s.c);
	if (!starve(&s, "two QPs", open_conn, close_it))
		kunit_skip(test, "failslab spares allocations that may wait");
	conn_works(test, conn_get(test, s.dev, true, 7));
}

static void test_failed_allocations_of_ud(struct kunit *test)
{
	struct ib_device *dev = &hca_need_device(test->priv)->ibdev;
	struct conn_options o = { .type = IB_QPT_UD, .srq_wr = 8 };
	struct starved s = {
		.test = test, .dev = dev, .gid = { .raw = { 0xff, 0x12, [15] = 9 } },
	};
	struct ib_port_attr port;

	if (!dev->ops.create_srq || !dev->ops.attach_mcast || !dev->ops.resize_cq)
		kunit_skip(test, "the device lacks what is starved");
	KUNIT_ASSERT_EQ(test, ib_query_port(dev, 1, &port), 0);
	s.lid = port.lid;
	s.c = conn_get_as(test, dev, &o);
	if (!starve(&s, "an SRQ", make_srq, drop_srq))
		kunit_skip(test, "failslab spares allocations that may wait");
	KUNIT_EXPECT_GT(test, starve(&s, "a larger SRQ", grow_srq, shrink_srq), 0);
	KUNIT_EXPECT_GT(test, starve(&s, "a larger CQ", grow_cq, shrink_cq), 0);
	KUNIT_EXPECT_GT(test, starve(&s, "an address", make_ah, drop_ah), 0);
	starve(&s, "a group", join, leave);
}

static void test_failed_allocations_of_keys(struct kunit *test)
{
	struct ib_device *dev = &hca_need_device(test->priv)->ibdev;
	struct starved s = { .test = test, .dev = dev, .mr_type = IB_MR_TYPE_MEM_REG };

	if (!dev->ops.alloc_mr)
		kunit_skip(test, "the device has no keys that requests register");
	s.c = conn_get(test, dev, true, 7);
	if (!starve(&s, "an MR", make_mr, drop_mr))
		kunit_skip(test, "failslab spares allocations that may wait");
	if (dev->attrs.kernel_cap_flags & IBK_SG_GAPS_REG) {
		s.mr_type = IB_MR_TYPE_SG_GAPS;
		KUNIT_EXPECT_GT(test, starve(&s, "an MR with gaps", make_mr, drop_mr), 0);
	}
	if (dev->ops.ext && dev->ops.ext->alloc_fmr)
		KUNIT_EXPECT_GT(test, starve(&s, "an FMR", make_fmr, drop_fmr), 0);
}

static void test_nothing_is_left(struct kunit *test)
{
	struct hca_test *h = test->priv;

	hca_need_faults(h);
	hca_expect_objects(h, 0, 0, 0, 0);
}
#endif

static struct kunit_case life_cases[] = {
#ifdef CONFIG_FAULT_INJECTION
	KUNIT_CASE_SLOW(test_failed_allocations),
	KUNIT_CASE_SLOW(test_failed_allocations_of_ud),
	KUNIT_CASE_SLOW(test_failed_allocations_of_keys),
	KUNIT_CASE(test_nothing_is_left),
#endif
	KUNIT_CASE(test_function_reset),
	KUNIT_CASE(test_unbind),
	KUNIT_CASE(test_fatal_error),
	KUNIT_CASE_SLOW(test_completions_before_removal),
	KUNIT_CASE(test_fatal_error_of_srq_users),
	KUNIT_CASE(test_fatal_error_of_key_users),
	KUNIT_CASE(test_unbind_of_key_users),
	KUNIT_CASE(test_fatal_error_then_unbind),
	KUNIT_CASE_SLOW(test_slow_resets),
	KUNIT_CASE_SLOW(test_dead_and_slow_to_reset),
	{}
};

struct kunit_suite hca_life_suite = {
	.name = "vhca_hca_life",
	.suite_init = rdma_kunit_again,
	.init = hca_test_init,
	.test_cases = life_cases,
};
