/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * For the KUnit suites of rdma_ucm: a fake connection manager, so that a test says what its calls
 * return and which events come; two files, and requests on them as a program makes them, from
 * memory of the test's own address space.
 */
#ifndef CORE_UCMA_TEST_UCMA_H
#define CORE_UCMA_TEST_UCMA_H

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/fs.h>
#include <rdma/ib_verbs.h>

#include "../ucma.h"

/**
 * struct fake_id - a CM id of the fake connection manager
 * @cm: as ucma sees it
 * @entry: in the test's @cms or @dead
 * @handler: held while its handler runs
 */
struct fake_id {
	struct rdma_cm_id cm;
	struct list_head entry;
	struct mutex handler;
};

/* The test's user memory: requests at its start, values of options and responses behind them. */
#define UT_REQUEST	0
#define UT_VALUE	1024
#define UT_RESPONSE	2048
/* A second thread has as many behind them. */
#define UT_BYTES	4096

/* What uids of ids and groups are in tests. */
#define UT_UID		0x1234567800000000ull

/**
 * struct ucma_test - a test with connection manager and files
 * @test: the test
 * @real: the connection manager in use before
 * @ib: a device
 * @ports: of the device
 * @filp: files
 * @user: address of the user memory
 * @lock: of @cms and @dead
 * @cms: CM ids that are not destroyed
 * @dead: those that are; freed when the test ends, as their handlers may just be ending
 * @made: of them, how many
 * @answer: what calls return
 * @called: the last call
 * @param: of the last connection call
 * @ece: likewise
 * @number: of the last call that has one
 * @addr: the last address
 * @stops: resolve_addr() stops: it completes @inside and waits for @outside
 * @inside: completed by that call
 * @outside: waited for there, for a while
 * @context: of the last group
 * @left_group: context of the group that was left last
 * @fail_nth: which allocation, or access to user memory, of the next request fails; 0 for none
 * @left: what is left of that after the request: 0 if it has failed
 * @reason: what ut_reason() gave last
 */
struct ucma_test {
	struct kunit *test;
	const struct ucma_cm_calls *real;
	struct ib_device ib;
	struct ib_port_data *ports;
	struct file *filp[2];
	u64 user;
	struct mutex lock;
	struct list_head cms;
	struct list_head dead;
	int made;
	int answer;
	const char *called;
	struct rdma_conn_param param;
	struct rdma_ucm_ece ece;
	u64 number;
	struct sockaddr_storage addr;
	bool stops;
	struct completion inside;
	struct completion outside;
	void *context;
	const void *left_group;
	int fail_nth;
	int left;
	char reason[RDMA_REJECT_TEXT];
};

static inline struct ucma_file *ut_file(struct ucma_test *t, int n)
{
	return t->filp[n]->private_data;
}

/* fake_cm.c */
extern const struct ucma_cm_calls fake_cm_calls;
void fake_cm_play(struct ucma_test *t);
struct rdma_cm_id *fake_cm_newest(struct ucma_test *t);
int fake_cm_event(struct rdma_cm_id *cm, struct rdma_cm_event *event);
int fake_cm_tell(struct rdma_cm_id *cm, enum rdma_cm_event_type type, int status);
int fake_cm_request(struct ucma_test *t, struct rdma_cm_id *listener);

/* test_ucma.c */
int ut_init(struct kunit *test);
void ut_exit(struct kunit *test);
void ut_close(struct ucma_test *t, int n);
u64 ut_at(struct ucma_test *t, size_t offset);
ssize_t ut_write(struct ucma_test *t, int n, u32 cmd, const void *req, size_t in, size_t out);
int ut_ask(struct ucma_test *t, int n, u32 cmd, const void *req, size_t in, void *resp, size_t out);
int ut_create(struct ucma_test *t, int n, u16 ps);
struct rdma_cm_id *ut_bound(struct ucma_test *t, int n, u32 *id);
struct rdma_cm_id *ut_listening(struct ucma_test *t, int n, u32 *id, u32 backlog);
int ut_destroy(struct ucma_test *t, int n, u32 id);
int ut_event(struct ucma_test *t, int n, struct rdma_ucm_event_resp *resp);
int ut_expect_event(struct ucma_test *t, int n, u32 id, enum rdma_cm_event_type type);
int ut_accept(struct ucma_test *t, int n, u32 id, u64 uid);
int ut_disconnect(struct ucma_test *t, int n, u32 id);
bool ut_readable(struct ucma_test *t, int n);
const char *ut_reason(struct ucma_test *t, int n);

/* A request by its structure. */
#define UT_ASK(_t, _n, _cmd, _req, _resp) \
	ut_ask(_t, _n, RDMA_USER_CM_CMD_##_cmd, &(_req), sizeof(_req), _resp, sizeof(*(_resp)))
#define UT_TELL(_t, _n, _cmd, _req) \
	ut_ask(_t, _n, RDMA_USER_CM_CMD_##_cmd, &(_req), sizeof(_req), NULL, 0)

#endif /* CORE_UCMA_TEST_UCMA_H */
