/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * For the KUnit suites of user verbs: a device without hardware whose results the test sets, a file
 * of its character device, and requests on that file as a program would send them, from memory of
 * the test's own address space.
 */
#ifndef CORE_UVERBS_TEST_UVERBS_H
#define CORE_UVERBS_TEST_UVERBS_H

#include <kunit/test.h>
#include <linux/fs.h>
#include <rdma/ib_verbs.h>

#include "../api.h"
#include "../decode.h"
#include "../events.h"

/**
 * struct fake_made - objects that the driver holds
 * @contexts: user contexts
 * @pds: PDs
 * @cqs: CQs
 * @qps: QPs
 * @srqs: SRQs
 * @ahs: address handles
 * @mrs: memory regions
 * @mws: memory windows
 * @groups: attachments of QPs to multicast groups
 * @xrcds: XRC domains
 * @wqs: work queues
 * @tables: indirection tables
 * @flows: flow rules
 * @actions: flow actions
 * @dms: pieces of device memory
 * @counters: sets of counters
 */
struct fake_made {
	int contexts;
	int pds;
	int cqs;
	int qps;
	int srqs;
	int ahs;
	int mrs;
	int mws;
	int groups;
	int xrcds;
	int wqs;
	int tables;
	int flows;
	int actions;
	int dms;
	int counters;
};

#define FAKE_WRS	4
#define FAKE_SGES	4

/**
 * struct fake_wr - copy of a work request that the driver was given
 * @wr: the work request; its next and sg_list must not be followed
 * @sge: its entries
 * @ud: the rest of a datagram
 * @rdma: the rest of an RDMA request
 * @atomic: the rest of an atomic request
 */
struct fake_wr {
	struct ib_send_wr wr;
	struct ib_sge sge[FAKE_SGES];
	struct ib_ud_wr ud;
	struct ib_rdma_wr rdma;
	struct ib_atomic_wr atomic;
};

/* Room for the longest flow rule. */
#define FAKE_RULE	1024

/**
 * struct fake_asked - last arguments of the less common driver calls
 * @wq: the work queue made
 * @wq_flags: its flags
 * @wq_attr: of modify_wq
 * @wq_mask: of modify_wq
 * @table: the indirection table made
 * @rule: the flow rule's attributes and specifications
 * @rule_qp: its QP
 * @action: the flow action made
 * @counters: the set of counters made
 * @counters_flags: of read_counters
 * @dm: the device memory made
 * @dm_attr: of alloc_dm
 * @dm_mr: of reg_dm_mr
 * @fd: of reg_user_mr_dmabuf
 * @offset: of reg_user_mr_dmabuf
 * @access: of reg_user_mr_dmabuf
 */
struct fake_asked {
	struct ib_wq *wq;
	u32 wq_flags;
	struct ib_wq_attr wq_attr;
	u32 wq_mask;
	struct ib_rwq_ind_table *table;
	u64 rule[FAKE_RULE / sizeof(u64)];
	struct ib_qp *rule_qp;
	struct ib_flow_action *action;
	struct ib_counters *counters;
	u32 counters_flags;
	struct ib_dm *dm;
	struct ib_dm_alloc_attr dm_attr;
	struct ib_dm_mr_attr dm_mr;
	int fd;
	u64 offset;
	int access;
};

/* The fake driver's own method on flow actions, which creates one. */
enum {
	FAKE_METHOD_ACTION = 1U << UVERBS_ID_NS_SHIFT,
	FAKE_ATTR_ACTION = 1U << UVERBS_ID_NS_SHIFT,
};

/* driver_object_test.c: objects that only the fake driver has */
extern const struct uapi_definition fake_driver_objects[];

/**
 * struct fake_device - the device
 * @ib: as the core sees it
 * @made: numbers of its objects
 * @answer: result of calls that make or change an object
 * @destroy: result of calls that destroy an object
 * @take: number of work requests accepted before one is refused with @answer
 * @posted: number of work requests posted
 * @posts: number of calls that post, with or without work requests
 * @wr: the first work requests posted
 * @waiting: number of completions that polls find
 * @next_wc: wr_id of the next completion
 * @poll: result of a poll that finds none
 * @armed: flags of the last req_notify_cq
 * @udata_in: bytes of driver data in the last request
 * @srq_attr: of the last modify_srq
 * @srq_mask: of the last modify_srq
 * @ah_attr: of the last create_user_ah
 * @mw_type: type of the window made last
 * @replaces: reregistration returns another MR
 * @page: what mmap shows
 * @meanwhile: called while the next XRC domain or mapping is made or the next completion polled, in
 *	place of a concurrent program or thread; may be NULL
 * @priv: data of the test for @meanwhile
 * @last_srq: the SRQ made last
 * @last_qp: the QP made last
 * @last_cq: the CQ made last
 * @asked: last arguments of the less common calls
 */
struct fake_device {
	struct ib_device ib;
	struct fake_made made;
	int answer;
	int destroy;
	unsigned int take;
	unsigned int posted;
	unsigned int posts;
	struct fake_wr wr[FAKE_WRS];
	unsigned int waiting;
	u64 next_wc;
	int poll;
	int armed;
	size_t udata_in;
	struct ib_srq_attr srq_attr;
	int srq_mask;
	struct rdma_ah_attr ah_attr;
	enum ib_mw_type mw_type;
	bool replaces;
	struct page *page;
	void (*meanwhile)(struct fake_device *fake);
	void *priv;
	struct ib_srq *last_srq;
	struct ib_qp *last_qp;
	struct ib_cq *last_cq;
	struct fake_asked asked;
};

/* The test's user memory: requests at its start, responses behind them, then free space. */
#define TU_REQUEST	0
#define TU_RESPONSE	(16 * 1024)
#define TU_FREE		(32 * 1024)
#define TU_BYTES	(64 * 1024)

/* The longest request. */
#define TU_LARGEST	4096

/**
 * struct uverbs_test - a test with device and file
 * @test: the test
 * @device: the device; NULL once it was removed
 * @udev: its character device
 * @inode: inode with which the file was opened
 * @filp: the file
 * @user: address of the user memory
 * @buf: buffer in which requests are built
 * @fail_nth: number of the allocation or copy of the next request that is to fail, 0 for none;
 *	reset to 0 when it has failed
 * @served: number of requests of tu_starve() that succeeded, some although an allocation failed
 * @async_fd: descriptor of the context's asynchronous event file, or -1
 * @pd: handle of a PD
 * @cq: handle of a CQ
 * @reason: the last text of tu_reason()
 */
struct uverbs_test {
	struct kunit *test;
	struct fake_device *device;
	struct ib_uverbs_device *udev;
	struct inode *inode;
	struct file *filp;
	u64 user;
	u8 *buf;
	int fail_nth;
	unsigned int served;
	int async_fd;
	u32 pd;
	u32 cq;
	char reason[RDMA_REJECT_TEXT];
};

/* fake_device.c */
struct fake_device *fake_device_alloc(void);
int fake_made(struct fake_device *fake, int *count, struct ib_udata *udata);
int fake_gone(struct fake_device *fake, int *count);
struct ib_mr *fake_new_mr(struct fake_device *fake, struct ib_udata *udata);

static inline struct fake_device *fake_of(struct ib_device *ib)
{
	return container_of(ib, struct fake_device, ib);
}

/* fake_steering.c */
void fake_steering_add(struct fake_device *fake);

/* test_uverbs.c */
int tu_init(struct kunit *test);
void tu_exit(struct kunit *test);
int tu_open_file(struct uverbs_test *t);
int tu_open(struct uverbs_test *t);
void tu_remove_device(struct uverbs_test *t);
void tu_close_fd(int fd);
void tu_close(struct uverbs_test *t);
void __user *tu_at(struct uverbs_test *t, size_t offset);
int tu_write(struct uverbs_test *t, unsigned int number, const void *req, size_t len,
	     void *resp, size_t resp_len);
int tu_write_ex(struct uverbs_test *t, unsigned int number, const void *req, size_t len,
		void *resp, size_t resp_len);
int tu_ioctl(struct uverbs_test *t, u16 object, u16 method, struct ib_uverbs_attr *attrs,
	     unsigned int num);
const char *tu_reason(struct uverbs_test *t);
int tu_read_event(struct uverbs_test *t, struct ib_uverbs_async_event_desc *desc);
void tu_expect_refused(struct uverbs_test *t, int ret, int err, const char *reason);
unsigned int tu_starve(struct uverbs_test *t, int (*request)(struct uverbs_test *t));

/* Requests that several suites make; each returns 0 or a negative errno. */
int tu_create_pd(struct uverbs_test *t, u32 *handle);
int tu_create_cq(struct uverbs_test *t, s32 channel, u32 *handle);
int tu_create_qp(struct uverbs_test *t, enum ib_qp_type type, s64 srq, u32 *handle);
int tu_create_srq(struct uverbs_test *t, u32 max_wr, u32 *handle);
int tu_create_ah(struct uverbs_test *t, u8 port, u32 *handle);
int tu_destroy_qp(struct uverbs_test *t, u32 handle);
int tu_destroy_srq(struct uverbs_test *t, u32 handle, u32 *events);
int tu_destroy_ah(struct uverbs_test *t, u32 handle);

/* An attribute that holds its payload of up to eight bytes itself. */
#define TU_VALUE(_id, _len, _value) \
	{ .attr_id = _id, .len = _len, .flags = UVERBS_ATTR_F_MANDATORY, .data = _value }
#define TU_HANDLE(_id, _handle) \
	{ .attr_id = _id, .flags = UVERBS_ATTR_F_MANDATORY, .data_s64 = _handle }

#endif /* CORE_UVERBS_TEST_UVERBS_H */
