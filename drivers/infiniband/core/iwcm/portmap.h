/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The iWARP port mapper's client: netlink messages to and from the daemon (iwpmd).
 *
 * From top to bottom: portmap_recv.c (what the daemon sends); portmap.c (what it is asked, and what
 * is known of it); mapinfo.c (mappings in use, and peers' addresses); portmap_msg.c (messages).
 */
#ifndef CORE_IWCM_PORTMAP_H
#define CORE_IWCM_PORTMAP_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <net/netlink.h>
#include <rdma/iw_portmap.h>
#include <rdma/rdma_netlink.h>

/* The name by which daemon and kernel know each other. */
#define IWPM_LIBRARY	"iWarpPortMapperUser"

/* ---- messages ---- */

/**
 * struct iwpm_msg - values of a message's attributes, of which each operation has some
 * @seq: number of the request that is answered, or the daemon's number
 * @flags: IWPM_FLAGS_
 * @sent: mappings that were sent
 * @acked: mappings that were understood
 * @version: version of the messages
 * @err: 0, or why not
 * @if_name: network interface
 * @dev_name: RDMA device
 * @library: IWPM_LIBRARY
 * @local: address that a consumer uses
 * @remote: likewise, of the peer
 * @mapped_local: address on the wire
 * @mapped_remote: likewise, of the peer
 */
struct iwpm_msg {
	u32 seq;
	u32 flags;
	u32 sent;
	u32 acked;
	u16 version;
	u16 err;
	char if_name[IWPM_IFNAME_SIZE];
	char dev_name[IWPM_DEVNAME_SIZE];
	char library[IWPM_ULIBNAME_SIZE];
	struct sockaddr_storage local;
	struct sockaddr_storage remote;
	struct sockaddr_storage mapped_local;
	struct sockaddr_storage mapped_remote;
};

#if IS_ENABLED(CONFIG_KUNIT)
extern atomic_t iwpm_last_seq;
#endif
u32 iwpm_next_seq(void);
int iwpm_msg_put(struct sk_buff *skb, unsigned int op, u32 seq, u16 flags,
		 const struct iwpm_msg *msg, u16 version);
int iwpm_msg_parse(const struct nlmsghdr *nlh, unsigned int op, struct iwpm_msg *msg);

/* How a message travels. */
enum iwpm_road {
	IWPM_TO_ALL,	/* to all listeners of the group */
	IWPM_PATIENT,	/* to the daemon, which may have to read others first */
	IWPM_AT_ONCE,	/* to the daemon, which waits for its own message to be handled */
};

int iwpm_transmit(struct sk_buff *skb, enum iwpm_road road, u32 portid);

/* ---- the daemon ---- */

/**
 * enum iwpm_bond - what daemon and kernel know of each other
 * @IWPM_STRANGERS: nothing
 * @IWPM_HEARD: the daemon has sent a message, but does not know any device of ours
 * @IWPM_REGISTERED: the daemon knows us
 */
enum iwpm_bond {
	IWPM_STRANGERS,
	IWPM_HEARD,
	IWPM_REGISTERED,
};

/**
 * struct iwpm_daemon - the daemon
 * @lock: protects all members but @patience
 * @bond: what daemon and kernel know of each other
 * @absent: nobody listened when we asked; it will speak when it comes
 * @portid: its netlink port, or 0
 * @version: version of the messages that both understand
 * @echo: number of its last message
 * @requests: struct iwpm_request that it has not answered
 * @patience: how long an answer may take, in jiffies
 */
struct iwpm_daemon {
	spinlock_t lock;
	enum iwpm_bond bond;
	bool absent;
	u32 portid;
	u16 version;
	u32 echo;
	struct list_head requests;
	unsigned long patience;
};

extern struct iwpm_daemon iwpm_daemon;

/**
 * struct iwpm_request - a request to the daemon, on the stack of its caller
 * @entry: in the daemon's requests
 * @seq: its number
 * @op: RDMA_NL_IWPM_ operation
 * @question: the request
 * @answer: the answer
 * @err: 0, or why not: an IWPM_ error of the daemon
 * @answered: there is an answer
 * @done: there is an answer
 *
 * The daemon's lock protects the list, @answer, @err and @answered: the caller takes the request
 * off the list before its stack goes.
 */
struct iwpm_request {
	struct list_head entry;
	u32 seq;
	unsigned int op;
	const struct iwpm_msg *question;
	struct iwpm_msg *answer;
	int err;
	bool answered;
	struct completion done;
};

/* ---- mappings ---- */

bool iwpm_same_address(const struct sockaddr_storage *a, const struct sockaddr_storage *b);
int iwpm_remember_peer(const struct iwpm_msg *msg);
unsigned int iwpm_peers_known(void);
int iwpm_send_mappings(u32 portid, u16 version);
void iwpm_forget_all(void);

/* Addresses of peers that are kept until their connections arrive; the oldest are forgotten. */
#define IWPM_PEERS	4096

#endif
