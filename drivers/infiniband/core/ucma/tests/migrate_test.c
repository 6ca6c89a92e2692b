// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: ids that move between files, with their events, also in both directions at once.
 */
#include <linux/completion.h>
#include <linux/cred.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/kthread.h>
#include <linux/slab.h>

#include "test_ucma.h"

/* A descriptor of a file, which has another reference. */
static int install(struct ucma_test *t, int n)
{
	int fd = get_unused_fd_flags(O_CLOEXEC);

	KUNIT_ASSERT_GE(t->test, fd, 0);
	fd_install(fd, get_file(t->filp[n]));
	return fd;
}

/*
 * Moves an id to file @n from that of @fd.  Returns how many of its events were read, or a negative
 * errno.
 */
static int migrate(struct ucma_test *t, int n, int fd, u32 id, u64 response)
{
	struct rdma_ucm_migrate_id req = { .response = response, .id = id, .fd = fd };
	struct rdma_ucm_migrate_resp resp;
	int ret = UT_ASK(t, n, MIGRATE_ID, req, &resp);

	return ret ?: resp.events_reported;
}

static void with_events(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	u64 response = ut_at(t, UT_RESPONSE);
	struct rdma_ucm_event_resp resp;
	struct rdma_cm_id *cm, *stays;
	int fd = install(t, 0);
	u32 id, other;

	cm = ut_bound(t, 0, &id);
	stays = ut_bound(t, 0, &other);
	fake_cm_tell(cm, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	fake_cm_tell(stays, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	fake_cm_tell(cm, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	ut_expect_event(t, 0, id, RDMA_CM_EVENT_ADDR_RESOLVED);
	KUNIT_EXPECT_FALSE(test, ut_readable(t, 1));
	KUNIT_EXPECT_EQ(test, migrate(t, 1, fd, id, response), 1);
	KUNIT_EXPECT_TRUE(test, ut_readable(t, 1));
	KUNIT_EXPECT_EQ(test, ut_disconnect(t, 0, id), -EINVAL);
	KUNIT_EXPECT_EQ(test, ut_disconnect(t, 1, id), 0);
	fake_cm_tell(cm, RDMA_CM_EVENT_ESTABLISHED, 0);
	ut_expect_event(t, 0, other, RDMA_CM_EVENT_ADDR_RESOLVED);
	KUNIT_EXPECT_EQ(test, ut_event(t, 0, &resp), -EAGAIN);
	ut_expect_event(t, 1, id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	ut_expect_event(t, 1, id, RDMA_CM_EVENT_ESTABLISHED);
	/* It moves to where it is. */
	KUNIT_EXPECT_EQ(test, migrate(t, 0, fd, other, response), 1);
	KUNIT_EXPECT_EQ(test, ut_destroy(t, 0, other), 1);
	KUNIT_EXPECT_EQ(test, ut_destroy(t, 1, id), 3);
	close_fd(fd);
}

/* The ids of unread connection requests are where these are. */
static void with_requests(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	struct rdma_cm_id *listener;
	int fd = install(t, 0);
	u32 listening, id;

	listener = ut_listening(t, 0, &listening, 0);
	KUNIT_EXPECT_EQ(test, fake_cm_request(t, listener), 0);
	KUNIT_EXPECT_EQ(test, migrate(t, 1, fd, listening, ut_at(t, UT_RESPONSE)), 0);
	KUNIT_EXPECT_EQ(test, fake_cm_request(t, listener), 0);
	for (int i = 0; i < 2; i++) {
		id = ut_expect_event(t, 1, 0, RDMA_CM_EVENT_CONNECT_REQUEST);
		KUNIT_EXPECT_EQ(test, ut_accept(t, 1, id, 99), 0);
	}
	close_fd(fd);
}

static void refused(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	u64 response = ut_at(t, UT_RESPONSE);
	struct rdma_cm_id *cm;
	int fd = install(t, 0), own = install(t, 1);
	u32 id, gone;

	cm = ut_bound(t, 0, &gone);
	fake_cm_tell(cm, RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
	while (READ_ONCE(t->made))
		schedule_timeout_uninterruptible(1);
	cm = ut_bound(t, 0, &id);
	fake_cm_tell(cm, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	KUNIT_EXPECT_EQ(test, migrate(t, 1, 1 << 20, id, response), -ENOENT);
	KUNIT_EXPECT_EQ(test, migrate(t, 1, fd, id + 1000, response), -ENOENT);
	KUNIT_EXPECT_EQ(test, migrate(t, 1, own, id, response), -EINVAL);
	KUNIT_EXPECT_EQ(test, migrate(t, 1, fd, gone, response), -ENXIO);
	/* If the number of events cannot be written, the id does not move */
	KUNIT_EXPECT_EQ(test, migrate(t, 1, fd, id, 8), -EFAULT);
	KUNIT_EXPECT_EQ(test, ut_disconnect(t, 1, id), -EINVAL);
	KUNIT_EXPECT_EQ(test, ut_disconnect(t, 0, id), 0);
	KUNIT_EXPECT_FALSE(test, ut_readable(t, 1));
	ut_expect_event(t, 0, gone, RDMA_CM_EVENT_DEVICE_REMOVAL);
	ut_expect_event(t, 0, id, RDMA_CM_EVENT_ADDR_RESOLVED);
	close_fd(fd);
	close_fd(own);
}

/* A descriptor of something else is refused. */
static void other_file(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	int fd = get_unused_fd_flags(O_CLOEXEC);
	struct file *filp = filp_open("/", O_RDONLY, 0);
	u32 id;

	KUNIT_ASSERT_GE(test, fd, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(filp));
	fd_install(fd, filp);
	ut_bound(t, 0, &id);
	KUNIT_EXPECT_EQ(test, migrate(t, 1, fd, id, ut_at(t, UT_RESPONSE)), -EINVAL);
	close_fd(fd);
}

#define ROUNDS		300
#define MOST_UNREAD	64

/**
 * struct mover - a thread that has ids come to its file
 * @t: the test, with user memory of the thread's own
 * @mm: the test's
 * @cred: those of the files
 * @n: its file
 * @fd: of the other one
 * @ids: ids, which are in either file
 * @moved: how often one came
 * @odd: answers that there must not be
 * @read: events that it has read
 * @done: it has ended
 */
struct mover {
	struct ucma_test *t;
	struct mm_struct *mm;
	const struct cred *cred;
	int n;
	int fd;
	u32 ids[4];
	int moved;
	int odd;
	int read;
	struct completion done;
};

static void move_ids(struct mover *m)
{
	struct rdma_ucm_event_resp resp;

	for (int i = 0; i < ROUNDS * ARRAY_SIZE(m->ids); i++) {
		int ret = migrate(m->t, m->n, m->fd, m->ids[i % ARRAY_SIZE(m->ids)],
				  ut_at(m->t, UT_RESPONSE));

		if (ret >= 0)
			m->moved++;
		else if (ret != -EINVAL && ret != -ENOENT)
			m->odd++;
		if (!ut_event(m->t, m->n, &resp))
			m->read++;
		cond_resched();
	}
}

static int mover_thread(void *data)
{
	struct mover *m = data;
	const struct cred *old = override_creds(m->cred);

	kthread_use_mm(m->mm);
	move_ids(m);
	kthread_unuse_mm(m->mm);
	revert_creds(old);
	kthread_complete_and_exit(&m->done, 0);
}

/* Two files take the same ids from each other while events come: each event is read once. */
static void both_ways(struct kunit *test)
{
	struct ucma_test *t = test->priv, *second = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	struct mover *m = kunit_kcalloc(test, 2, sizeof(*m), GFP_KERNEL);
	struct rdma_cm_id *cm[ARRAY_SIZE(m->ids)];
	struct rdma_ucm_event_resp resp;
	int told = 0, read, reported = 0;

	KUNIT_ASSERT_TRUE(test, m && second);
	memcpy(second, t, sizeof(*t));
	second->user += UT_BYTES;
	for (int i = 0; i < ARRAY_SIZE(cm); i++)
		cm[i] = ut_bound(t, 0, &m[0].ids[i]);
	for (int n = 0; n < 2; n++) {
		memcpy(m[n].ids, m[0].ids, sizeof(m->ids));
		m[n].t = n ? second : t;
		m[n].mm = current->mm;
		m[n].cred = t->filp[0]->f_cred;
		m[n].n = n;
		m[n].fd = install(t, !n);
		init_completion(&m[n].done);
	}
	for (int n = 0; n < 2; n++)
		KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(mover_thread, &m[n], "kt_mover%d", n)));
	while (!completion_done(&m[0].done) || !completion_done(&m[1].done)) {
		if (told - READ_ONCE(m[0].read) - READ_ONCE(m[1].read) < MOST_UNREAD)
			fake_cm_tell(cm[told++ % ARRAY_SIZE(cm)], RDMA_CM_EVENT_CONNECT_ERROR, 0);
		cond_resched();
	}
	for (int n = 0; n < 2; n++) {
		wait_for_completion(&m[n].done);
		KUNIT_EXPECT_EQ(test, m[n].odd, 0);
		KUNIT_EXPECT_GT(test, m[n].moved, 0);
		close_fd(m[n].fd);
	}
	read = m[0].read + m[1].read;
	for (int n = 0; n < 2; n++)
		while (!ut_event(t, n, &resp))
			read++;
	KUNIT_EXPECT_EQ(test, read, told);
	for (int i = 0; i < ARRAY_SIZE(cm); i++) {
		int ret = ut_destroy(t, 0, m[0].ids[i]);

		reported += ret < 0 ? ut_destroy(t, 1, m[0].ids[i]) : ret;
	}
	KUNIT_EXPECT_EQ(test, reported, told);
}

static struct kunit_case migrate_cases[] = {
	KUNIT_CASE(with_events),
	KUNIT_CASE(with_requests),
	KUNIT_CASE(refused),
	KUNIT_CASE(other_file),
	KUNIT_CASE(both_ways),
	{}
};

static struct kunit_suite migrate_suite = {
	.name = "rdma_ucm_migrate",
	.init = ut_init,
	.exit = ut_exit,
	.test_cases = migrate_cases,
};

kunit_test_suite(migrate_suite);
