/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The inside of an HCA, for the files of this folder.
 */
#ifndef VHCAD_DEV_HCA_H
#define VHCAD_DEV_HCA_H

#include "dev/device.h"
#include "dev/fault.h"
#include "res/dev.h"

#define NS_PER_MS	1000000ull

struct command;

/**
 * struct admin_queue - the admin queue
 * @asq: address of its submissions
 * @acq: address of its completions
 * @log: log2 of its entries
 * @vector: interrupt vector, or VHCA_NO_VECTOR
 * @head: commands taken
 * @tail: commands submitted, as the driver wrote it; atomic
 * @done: completions written
 * @last_id: of the command answered last
 * @begun: the next command has been begun, and @struck is decided
 * @struck: a fault has struck that command,
 * @fault: this one
 * @since: when the handler of that command was called first
 */
struct admin_queue {
	u64 asq;
	u64 acq;
	u8 log;
	u32 vector;
	u32 head;
	u32 tail;
	u32 done;
	u16 last_id;
	bool begun, struck;
	struct vfault fault;
	u64 since;
};

/**
 * struct vfaults - a device's faults
 * @armed: in the order of arming
 * @narmed: how many are armed
 * @late: answers that wait for their time
 * @reset: runs while a reset takes its time
 */
struct vfaults {
	struct vfault armed[VFAULT_MAX_ARMED];
	u32 narmed;
	struct list_head late;
	struct timer reset;
};

/**
 * struct hca - an HCA
 * @dev: what its objects stand on, and what others know it by
 * @ops: PCI front end
 * @host: given back to @ops
 * @reg: registers from ASQ_LO on, as written; socket thread only
 * @reg_vector: register ADMIN_VECTOR; socket thread only
 * @admin: admin queue
 * @faults: faults that were asked for
 */
struct hca {
	struct vhca_dev dev;
	const struct vdev_host_ops *ops;
	void *host;
	u32 reg[5];
	u32 reg_vector;
	struct admin_queue admin;
	struct vfaults faults;
	u32 guest_row, command_row;	/* of the trace */
};

static inline struct hca *to_hca(struct vhca_dev *dev)
{
	return container_of(dev, struct hca, dev);
}

/* admin.c */
/** admin_poll() - carry out some commands; true if any was there */
bool admin_poll(struct hca *hca);
/** admin_waits() - is there a command that was not taken? */
static inline bool admin_waits(const struct hca *hca)
{
	return __atomic_load_n(&hca->admin.tail, __ATOMIC_ACQUIRE) != hca->admin.head;
}

/* answer.c */
/**
 * admin_answer() - write the next completion
 * @hca: HCA
 * @e: all but the phase
 *
 * Return: 0, or -1 when the ring cannot be reached.
 */
int admin_answer(struct hca *hca, const struct vhca_acqe *e);
/**
 * fault_answer() - answer a command as its fault wants it
 * @hca: HCA
 * @f: fault; its answer is not VFAULT_NONE
 * @e: the true answer
 * @wrote: set when something is in the ring now
 *
 * Return: 0, or -1 when the ring cannot be reached.
 */
int fault_answer(struct hca *hca, const struct vfault *f, const struct vhca_acqe *e, bool *wrote);
/** admin_drop_late() - drop answers that wait for their time */
void admin_drop_late(struct hca *hca);
/** admin_answer_late() - give answers that wait for their time */
void admin_answer_late(struct hca *hca);

/* fault.c */
/** fault_init() - an HCA begins without faults; 0 or -ENOMEM */
int fault_init(struct hca *hca);
/** fault_fini() - an HCA is freed */
void fault_fini(struct hca *hca);
/**
 * fault_strike() - does a fault strike here?
 * @hca: HCA
 * @kind: kind of event
 * @which: opcode or vector
 * @hit: receives the fault
 *
 * The first one armed that is due strikes; those that let the event by count it.
 */
bool fault_strike(struct hca *hca, enum vfault_kind kind, u32 which, struct vfault *hit);
/** fault_reset() - the HCA is being reset: drop late answers, take the time that a fault wants */
void fault_reset(struct hca *hca);
/** fault_resetting() - is a reset under way? */
static inline bool fault_resetting(const struct hca *hca)
{
	return hca->faults.reset.due != TIMER_OFF;
}

/* lie.c */
/** lie_valid() - has an entry of this kind the field that the fault falsifies? */
bool lie_valid(const struct vfault *f);
/** lie_in() - change an entry as a fault that strikes it says */
void lie_in(const struct vfault *f, enum entry_kind kind, void *entry);

/* query.c */
enum vhca_status cmd_query_device(struct command *c);
enum vhca_status cmd_query_port(struct command *c);
enum vhca_status cmd_query_gids(struct command *c);
enum vhca_status cmd_query_pkeys(struct command *c);
enum vhca_status cmd_query_counters(struct command *c);
enum vhca_status cmd_query_clock(struct command *c);

/* manage.c */
enum vhca_status cmd_set_node_desc(struct command *c);
enum vhca_status cmd_process_mad(struct command *c);
enum vhca_status cmd_modify_port(struct command *c);

/* ethernet.c */
enum vhca_status cmd_set_gid(struct command *c);
/** ethernet_check() - what only Ethernet ports have of a MODIFY_PORT: VHCA_ST_OK or a refusal */
enum vhca_status ethernet_check(struct command *c, const struct vport *p);
/** ethernet_modify() - carry it out */
void ethernet_modify(struct vport *p, const struct vhca_modify_port_req *req);

/* reset.c */
/** hca_drop_objects() - drop every object of an HCA that is not live, some at a time */
void hca_drop_objects(struct hca *hca);

#endif /* VHCAD_DEV_HCA_H */
