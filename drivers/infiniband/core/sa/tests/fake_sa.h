/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A device with a fake MAD layer: a test sees what is posted, and answers it, or lets it time out,
 * when it likes. Only what is cancelled comes back by itself, from a work item, unless the test has
 * asked to hold that.
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
 * struct fake_mad - a MAD between its creation and its end
 * @entry: in the device's list
 * @buf: as the MAD layer's user sees it
 * @mad: the bytes
 * @pkey_index: of ib_create_send_mad()
 * @posted: posted and not ended
 * @cancelled: to come back flushed
 * @order: which posting of the device it was
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
 * struct fake_sa - the device
 * @ib: as the core sees it
 * @attr: what port 1 answers
 * @gid: GID 0 of each port
 * @pkey: P_Keys of each port
 * @lock: protects what follows
 * @mads: all struct fake_mad
 * @flush: brings cancelled MADs back
 * @hold: cancelled MADs do not come back for now
 * @refuse: error of the next postings, or 0
 * @refuse_ah: error of the next address handles, or 0
 * @posts: postings so far
 * @posted: completed by each
 * @faults: uses of the MAD layer that are wrong
 * @ahs: address handles that exist
 * @agents: agents that exist
 * @notices: the one that receives requests, or NULL
 * @refused: MADs that it has refused
 * @respond: answers what is posted, from @responder; NULL if the test does
 * @responder: work that calls @respond
 * @before: the MAD layer that others have
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
