/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Common parts of the suites of nldev/: a conversation with the netlink client through a socket,
 * and objects to request.
 */
#ifndef RDMA_CORE_TEST_TALK_H
#define RDMA_CORE_TEST_TALK_H

#include <net/netlink.h>

#include "../../device/tests/test_device.h"

#define TALK_MOST	4096

/**
 * struct talk - a conversation with the netlink client
 * @device: a device whose counters are "always" and the optional "on_demand"
 * @socket: the socket
 * @file: its file, whose credentials are checked
 * @request: request being made
 * @answer: the last answer
 * @used: bytes of the request
 */
struct talk {
	struct test_device *device;
	struct socket *socket;
	struct file *file;
	u8 request[TALK_MOST] __aligned(NLMSG_ALIGNTO);
	u8 answer[TALK_MOST] __aligned(NLMSG_ALIGNTO);
	size_t used;
};

#define TALK_QPS	5

extern const u32 talk_qp_nums[TALK_QPS];

/**
 * struct talk_objects - objects on a device
 * @pd: PD
 * @cq: CQ of the QPs
 * @srq: SRQ of some QPs
 * @qp: RC QPs of port 1, by index in talk_qp_nums
 */
struct talk_objects {
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_srq *srq;
	struct ib_qp *qp[TALK_QPS];
};

int talk_init(struct kunit *test);
void talk_exit(struct kunit *test);
void talk_begin(struct talk *t, unsigned int op, u16 flags);
void *talk_add(struct talk *t, u16 type, const void *data, size_t len);
void talk_add_u32(struct talk *t, u16 type, u32 value);
void talk_add_string(struct talk *t, u16 type, const char *text);
void talk_begin_port(struct talk *t, unsigned int op, u32 port);
void talk_send(struct kunit *test, struct talk *t);
int talk_receive(struct talk *t);
int talk_exchange(struct kunit *test, struct talk *t);
int talk_ask(struct kunit *test, struct talk *t);
int talk_ask_object(struct kunit *test, struct talk *t, unsigned int op, u16 type, u32 number,
		    u32 port);
const struct nlattr *talk_answered(struct talk *t, u16 type);
const struct nlattr *talk_counter(struct talk *t, unsigned int n);
const char *talk_counter_name(const struct nlattr *entry);
void talk_objects(struct kunit *test, struct ib_device *ib, struct talk_objects *o);
void talk_objects_end(struct talk_objects *o);

#endif
