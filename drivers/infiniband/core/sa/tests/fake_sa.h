/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A device with a fake MAD layer: a test sees the MADs that are posted, and answers them or lets
 * them time out when it wants. Only cancelled MADs are flushed without the test, by a work item,
 * unless the test has set hold.
 */
#ifndef RDMA_CORE_SA_FAKE_H
#define RDMA_CORE_SA_FAKE_H

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/workqueue.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_sa.h>
#include <rdma/rdma_ext_sa.h>

#define FAKE_PORTS 3
/* Port 1 has a subnet manager, port 2 no subnet administration, port 3 is an Omni-Path port. */
#define FAKE_SM_LID 5

struct fake_sa;

/**
 * struct fake_mad - a MAD that has been created and not freed
 * @entry: in the device's list
 * @buf: what the MAD layer's user gets
 * @mad: the bytes
 * @pkey_index: of ib_create_send_mad()
 * @posted: posted and not completed
 * @cancelled: cancelled and not completed yet
 * @order: number of the posting, counted for the device
 */
struct fake_mad {
	struct list_head entry;
	struct ib_mad_send_buf buf;
	struct ib_sa_mad mad;
	u16 pkey_index;
	bool posted;
	bool cancelled;
	unsigned int order;
};

/**
 * struct fake_sa - a device with a fake MAD layer
 * @ib: the device that the core knows
 * @attr: attributes of port 1
 * @gid: GID 0 of each port
 * @pkey: P_Keys of each port
 * @lock: protects the members below
 * @mads: all struct fake_mad of the device
 * @flush: work that completes cancelled MADs with a flush error
 * @hold: while it is set, @flush completes nothing
 * @refuse: error that postings return, or 0
 * @refuse_ah: error of making address handles, or 0
 * @posts: postings so far
 * @posted: completed by each posting
 * @faults: wrong uses of the MAD layer
 * @ahs: number of address handles that exist
 * @agents: number of agents that exist
 * @notices: the agent that receives notices, or NULL
 * @refused: number of MADs that it has refused
 * @respond: answers posted MADs, called by @responder; NULL if the test answers them
 * @responder: work that calls @respond
 * @before: the value of sa_mad to restore
 */
struct fake_sa {
	struct ib_device ib;
	struct ib_port_attr attr;
	union ib_gid gid;
	u16 pkey[4];
	spinlock_t lock;
	struct list_head mads;
	struct work_struct flush;
	bool hold;
	int refuse;
	int refuse_ah;
	unsigned int posts;
	struct completion posted;
	unsigned int faults;
	int ahs;
	int agents;
	struct ib_mad_agent *notices;
	unsigned int refused;
	void (*respond)(struct fake_sa *fake, struct fake_mad *mad);
	struct work_struct responder;
	const void *before;
};

struct fake_sa *fake_sa_begin(struct kunit *test);
void fake_sa_end(struct kunit *test, struct fake_sa *fake);
void fake_sa_settle(struct fake_sa *fake);
void fake_sa_event(struct fake_sa *fake, enum ib_event_type type);
unsigned int fake_sa_mads(struct fake_sa *fake);

struct fake_mad *fake_sa_posted(struct fake_sa *fake, unsigned int index);
u32 fake_mad_dlid(const struct fake_mad *mad);
void fake_mad_answer(struct fake_mad *mad, u16 status, const void *record, size_t size);
void fake_mad_answer_table(struct fake_mad *mad, u16 offset, const void *records, size_t size);
void fake_mad_answer_as(struct fake_mad *mad, u8 method, u16 attr_id, int mad_len);
void fake_mad_end(struct fake_mad *mad, enum ib_wc_status status);
void fake_sa_report(struct fake_sa *fake, u32 slid, const struct ib_sa_notice *notice);

#endif
