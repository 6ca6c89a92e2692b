/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A fake daemon of the port mapper: it receives the messages that the kernel sends, and answers or
 * ignores them before sending returns.
 */
#ifndef CORE_IWCM_FAKE_DAEMON_H
#define CORE_IWCM_FAKE_DAEMON_H

#include "fake_iwarp.h"
#include "../portmap.h"

#define PORTID		4711
#define TYPES		16	/* larger than any attribute type */

/* What the daemon does with the next request. */
enum manner {
	ANSWER,
	REFUSE,		/* with HANDLE_ERR */
	REJECT,		/* the peer's daemon does not know the address */
	LIE,		/* answers for another address */
	MIX,		/* answers with another family */
	OTHER_LIBRARY,
	OLD_VERSION,
	SILENT,
	ABSENT,		/* sending fails */
};

/**
 * struct daemon - the fake daemon
 * @test: the test
 * @manner: how it treats the next request
 * @version: version of its messages
 * @sent: number of messages by operation
 * @last: last message's attributes of each type
 * @len: their lengths, -1 for one that was missing
 * @road: how the last message was sent
 * @seq: sequence number of the last request
 * @device: name of the device that registered last
 * @done: number of NLMSG_DONE messages
 * @callback: return value of the callback for the last answer
 */
struct daemon {
	struct kunit *test;
	enum manner manner;
	u16 version;
	int sent[RDMA_NL_IWPM_NUM_OPS];
	u8 last[TYPES][sizeof(struct sockaddr_storage)];
	int len[TYPES];
	enum iwpm_road road;
	u32 seq;
	char device[IWPM_DEVNAME_SIZE];
	int done;
	int callback;
};

/**
 * struct attr - an attribute of a message
 * @type: IWPM_NLA_ number
 * @len: bytes of @data
 * @data: its value
 */
struct attr {
	u16 type;
	u16 len;
	const void *data;
};

#define ATTR(_type, _data) { .type = _type, .len = sizeof(_data), .data = &(_data) }

typedef int (*callback_fn)(struct sk_buff *skb, struct netlink_callback *cb);

extern const callback_fn iwd_callbacks[RDMA_NL_IWPM_NUM_OPS];

int iwd_init(struct kunit *test);
void iwd_exit(struct kunit *test);
struct sockaddr_storage iwd_mapped(struct sockaddr_storage addr);
struct sockaddr_storage iwd_any_v6(void);
int iwd_tell(struct kunit *test, unsigned int op, const struct attr *attrs, int count);
int iwd_answer_register(struct daemon *daemon);
int iwd_answer_error(struct daemon *daemon);
int iwd_hello(struct kunit *test, u16 version);
int iwd_ask_for_mappings(struct kunit *test, u16 version);

#endif
