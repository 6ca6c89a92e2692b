/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * User MADs: character devices by which programs exchange MADs (umadN), and by which a subnet
 * manager sets the capability bit IsSM of its port (issmN).
 *
 * Locks, from the outside in: a port's lock, a file's mutex, a file's lock.  Handlers that the MAD
 * layer calls take only the last one, which is a spinlock.  User memory is accessed under none of
 * them: a program whose page faults block delays neither others nor the removal of its device.
 */
#ifndef CORE_UMAD_H
#define CORE_UMAD_H

#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_user_mad.h>
#include <rdma/rdma_reject.h>

/* Most agents of one file. */
#define UMAD_AGENTS	32

/*
 * Limit of packets of unread MADs in a file; a message is accepted as long as the limit is not
 * reached, and then kept as a whole.  It also limits sends in flight or timed out unread.
 */
#define UMAD_MOST	200000

struct ib_umad_file;

/**
 * struct ib_umad_port - a port that exchanges MADs, with its character devices
 * @dev: umadN; its release frees this
 * @cdev: umadN
 * @sm_dev: issmN, which holds a reference on @dev, on ports with subnet management
 * @sm_cdev: issmN
 * @has_sm: issmN exists
 * @number: N
 * @port_num: number of the port
 * @index: number of its device in netlink (RDMA_NLDEV_ATTR_DEV_INDEX)
 * @lock: protects @ib_dev and @files
 * @ib_dev: the device; NULL once it is removed
 * @files: open files of umadN
 * @sm_held: bit 0: issmN is open
 * @gone: no file can be opened any more: the device is removed, or changes its network namespace
 * @sm_wait: processes that wait to open issmN
 */
struct ib_umad_port {
	struct device dev;
	struct cdev cdev;
	struct device sm_dev;
	struct cdev sm_cdev;
	bool has_sm;
	int number;
	u32 port_num;
	u32 index;
	struct mutex lock;
	struct ib_device *ib_dev;
	struct list_head files;
	unsigned long sm_held;
	bool gone;
	wait_queue_head_t sm_wait;
};

/**
 * struct umad_agent - a place for an agent
 * @file: its file
 * @mad: the agent, or NULL; protected by the file's mutex
 * @taken: a registration has reserved the place; protected by the file's mutex
 */
struct umad_agent {
	struct ib_umad_file *file;
	struct ib_mad_agent *mad;
	bool taken;
};

/**
 * struct ib_umad_file - an open file of umadN
 * @port: its port, which stays as long as the file is open
 * @entry: in the port's files
 * @mutex: protects @agents, @used and @new_header, held by requests while they use an agent
 * @agents: the agents, by the number that the program uses
 * @used: an agent was registered, so the header's form is fixed
 * @new_header: MADs have a struct ib_user_mad_hdr in front, not the old one
 * @rejects: reasons why requests were refused
 * @lock: protects the members below
 * @dead: the device is removed, or the file is being closed: no MAD is kept any more
 * @unread: MADs to be read: received ones, and requests that timed out
 * @kept: number of packets of unread received MADs
 * @dropped: number of received MADs that were dropped
 * @asked: number of sends in flight or timed out unread
 * @sends: sends in flight, by transaction; RMPP packets of the program may have the same
 * @wait: readers, and processes that poll for room to send
 */
struct ib_umad_file {
	struct ib_umad_port *port;
	struct list_head entry;
	struct mutex mutex;
	struct umad_agent agents[UMAD_AGENTS];
	bool used;
	bool new_header;
	struct rdma_reject_log rejects;
	spinlock_t lock;
	bool dead;
	struct list_head unread;
	unsigned int kept;
	u64 dropped;
	unsigned int asked;
	struct rb_root sends;
	wait_queue_head_t wait;
};

/* The head of a written MAD, as far as this module reads it. */
struct umad_head {
	struct ib_mad_hdr mad;
	struct ib_rmpp_hdr rmpp;
};

static_assert(offsetofend(struct umad_head, rmpp) == IB_MGMT_RMPP_HDR);

/**
 * struct ib_umad_packet - a MAD of a program: one that arrived, or one that is sent
 * @entry: in the file's unread MADs
 * @transaction: in the file's sends
 * @recv_wc: the MAD that arrived, NULL for one that is sent
 * @msg: the MAD layer's part of one that is sent
 * @length: bytes to be read behind the header
 * @charge: number of packets by which it counts in @kept of its file
 * @hdr: its header
 * @head: the head of one that is sent
 */
struct ib_umad_packet {
	struct list_head entry;
	struct rb_node transaction;
	struct ib_mad_recv_wc *recv_wc;
	struct ib_mad_send_buf *msg;
	int length;
	unsigned int charge;
	struct ib_user_mad_hdr hdr;
	struct umad_head head;
};

/* Size in bytes of the header in front of MADs that the program writes and reads. */
static inline size_t umad_hdr_size(const struct ib_umad_file *file)
{
	return READ_ONCE(file->new_header) ? sizeof(struct ib_user_mad_hdr) :
					     sizeof(struct ib_user_mad_hdr_old);
}

/* The number that the program uses for an agent. */
static inline u32 umad_agent_id(const struct umad_agent *agent)
{
	return agent - agent->file->agents;
}

/* file.c */
extern const struct file_operations umad_fops;
void umad_file_revoke(struct ib_umad_file *file);

/* agent.c */
long umad_register(struct ib_umad_file *file, void __user *arg, bool compat);
long umad_register2(struct ib_umad_file *file, void __user *arg, bool compat);
long umad_unregister(struct ib_umad_file *file, void __user *arg, bool compat);
long umad_enable_pkey(struct ib_umad_file *file, void __user *arg, bool compat);

/* send.c */
ssize_t umad_send(struct ib_umad_file *file, const char __user *buf, size_t count);
void umad_sent(struct ib_mad_agent *mad, struct ib_mad_send_wc *wc);

/* recv.c */
void umad_received(struct ib_mad_agent *mad, struct ib_mad_send_buf *sent,
		   struct ib_mad_recv_wc *wc);
void umad_timed_out(struct ib_umad_file *file, struct ib_umad_packet *packet);
void umad_send_forget(struct ib_umad_file *file);
void umad_packet_free(struct ib_umad_file *file, struct ib_umad_packet *packet);
ssize_t umad_read_next(struct ib_umad_file *file, bool may_wait, char __user *buf, size_t count);

/* issm.c */
extern const struct file_operations umad_sm_fops;

bool umad_sm_is_held(const struct ib_umad_port *port);
void umad_sm_end(struct ib_umad_port *port, struct ib_device *ib_dev, bool held);

#if IS_ENABLED(CONFIG_KUNIT)
/* main.c */
extern struct ib_client umad_client;
#endif

#endif /* CORE_UMAD_H */
