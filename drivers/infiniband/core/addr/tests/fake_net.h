/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Interfaces without hardware, set up by netlink as programs do, for the KUnit suites of addr/.
 */
#ifndef RDMA_CORE_FAKE_NET_H
#define RDMA_CORE_FAKE_NET_H

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/netdevice.h>
#include <rdma/ib_addr.h>

#include "../addr_priv.h"

/* Link addresses of the own end and of peers differ in their last byte. */
#define FAKE_OWN	0x01

/**
 * struct fake_net - an interface, and a socket to set it up
 * @dev: the interface; what it sends is lost
 * @asked: it has solicited a neighbour
 * @socket: rtnetlink socket
 * @file: the file of @socket
 * @unreachable: a destination that is to be made reachable again in the end, or NULL
 */
struct fake_net {
	struct net_device *dev;
	struct completion asked;
	struct socket *socket;
	struct file *file;
	const char *unreachable;
};

/**
 * struct fake_wait - a request to resolve an address, and its result
 * @addr: for rdma_resolve_ip()
 * @src: source address that the callback was given
 * @calls: how often the callback was called
 * @status: the status it was given last
 * @done: completed by it
 */
struct fake_wait {
	struct rdma_dev_addr addr;
	union addr_ip src;
	atomic_t calls;
	int status;
	struct completion done;
};

struct fake_net *fake_net_begin(struct kunit *test, unsigned short type);
void fake_net_end(struct fake_net *net);
int fake_net_address(struct fake_net *net, struct net_device *dev, const char *text, int prefix,
		     bool add);
int fake_net_gateway(struct fake_net *net, const char *dst, int len, const char *gateway);
int fake_net_unreachable(struct fake_net *net, const char *dst);
void fake_net_answer(struct kunit *test, struct fake_net *net, const char *ip, u8 last);
void fake_ip_read(union addr_ip *ip, const char *text);

/* The socket address of an IP address */
#define fake_ip(text)						\
	({							\
		union addr_ip _ip;				\
		fake_ip_read(&_ip, text);			\
		_ip;						\
	})

void fake_wait_init(struct fake_wait *wait);
void fake_heard(int status, struct sockaddr *src, struct rdma_dev_addr *addr, void *context);
int fake_resolve(struct fake_wait *wait, const char *src, const char *dst, unsigned int timeout_ms);
int fake_result(struct fake_wait *wait);

#endif
