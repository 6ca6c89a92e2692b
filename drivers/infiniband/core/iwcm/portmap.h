/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The iWARP port mapper's client: netlink messages to and from the daemon (iwpmd).
 *
 * From top to bottom: portmap_recv.c (messages from the daemon); portmap.c (requests to the daemon,
 * and its state); mapinfo.c (mappings in use, and peers' addresses); portmap_msg.c (message
 * formats).
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

/* The library name with which daemon and kernel identify themselves. */
#define IWPM_LIBRARY	"iWarpPortMapperUser"

/* ---- messages ---- */

/**
 * struct iwpm_msg - values of a message's attributes; each operation uses some of them
 * @seq: number of the request that is answered, or the daemon's number
 * @flags: IWPM_FLAGS_
 * @sent: number of mappings that were sent
 * @acked: number of mappings that the daemon has accepted
 * @version: version of the messages
 * @err: 0, or an IWPM_ error
 * @if_name: network interface
 * @dev_name: RDMA device
 * @library: IWPM_LIBRARY
 * @local: address that a consumer uses
 * @remote: address that the peer's consumer uses
 * @mapped_local: address on the wire
 * @mapped_remote: the peer's address on the wire
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

/* The receiver of a message, and whether sending it may wait. */
enum iwpm_road {
	IWPM_TO_ALL,	/* to all listeners of the group */
	IWPM_PATIENT,	/* to the daemon, which may have to read others first */
	IWPM_AT_ONCE,	/* to the daemon, which waits for its own message to be handled */
};

int iwpm_transmit(struct sk_buff *skb, enum iwpm_road road, u32 portid);

/* ---- the daemon ---- */

/**
 * enum iwpm_bond - state of the relation between daemon and kernel
 * @IWPM_STRANGERS: nothing
 * @IWPM_HEARD: the daemon has sent a message, but no device is registered with it
 * @IWPM_REGISTERED: a device is registered with the daemon
 */
enum iwpm_bond {
	IWPM_STRANGERS,
	IWPM_HEARD,
	IWPM_REGISTERED,
};

/**
 * struct iwpm_daemon - the daemon
 * @lock: protects all members but @patience
 * @bond: state of the relation to the kernel
 * @absent: a request found no listener; a new daemon will send a hello
 * @portid: its netlink port, or 0
 * @version: version of the messages that both support
 * @echo: sequence number of its last message
 * @requests: struct iwpm_request without an answer
 * @patience: time that an answer may take, in jiffies
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
 * @err: 0 or an IWPM_ error of the daemon
 * @answered: there is an answer or an error
 * @done: completed with @answered
 *
 * The daemon's lock protects the list, @answer, @err and @answered: the caller takes the request
 * off the list before it returns.
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

/*
 * Number of addresses of peers that are kept until their connections arrive; the oldest are freed.
 */
#define IWPM_PEERS	4096

#endif
