/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Faults of a device that somebody asked for: they are armed, each strikes a
 * given number of times, and is gone.  Nothing here is left to chance, so a
 * test that armed a fault sees the same thing every time.
 */
#ifndef VHCAD_DEV_FAULT_H
#define VHCAD_DEV_FAULT_H

#include "drivers/infiniband/hw/vhca/defs/vhca_hw.h"
#include "lib/types.h"

struct vhca_dev;

#define VFAULT_ANY		UINT32_MAX
#define VFAULT_MAX_ARMED	32u
#define VFAULT_MAX_DELAY	600000u		/* ms */

enum vfault_kind {
	VFAULT_COMMAND,		/* which: opcode */
	VFAULT_INTERRUPT,	/* which: vector; it is not raised */
	VFAULT_RESET,		/* takes @delay */
	VFAULT_EVENT,		/* which: enum vhca_event; a field of the entry is false */
	VFAULT_COMPLETION,	/* which: CQ; a field of the entry is false */
};

enum vfault_answer {
	VFAULT_ONCE,
	VFAULT_NONE,		/* the command is taken and forgotten */
	VFAULT_TWICE,		/* a second time right behind the first */
	VFAULT_STALE,		/* behind nonsense for the command that was answered last */
	VFAULT_UNKNOWN,		/* before nonsense for a command that was never given */
	VFAULT_NONSENSE,	/* answered once, with nonsense */
};

/* The field that is false in an entry ("lies"): the bits of the field are inverted. */
enum vfault_lie {
	VLIE_CHANCE,		/* all but the owner: bytes by chance */
	VLIE_NUMBER,		/* the number of the object that it is for */
	VLIE_KIND,		/* event, or opcode */
	VLIE_PORT,
	VLIE_FLAGS,
	VLIE_LENGTH,		/* of completions, as those that follow */
	VLIE_INDEX,		/* index of the request's WQE */
	VLIE_ID,		/* wr_id, which tells a receive of an SRQ */
};

/**
 * struct vfault - an armed fault
 * @kind: what it strikes
 * @answer: VFAULT_COMMAND: what becomes of the completion
 * @status: VFAULT_COMMAND: not carried out but answered with this; 0: carried out
 * @which: opcode, vector, event or CQ, or VFAULT_ANY
 * @lie: VFAULT_EVENT, VFAULT_COMPLETION: enum vfault_lie
 * @seed: VLIE_CHANCE: another seed gives other bytes
 * @skip: matching events that are let by first
 * @count: events it strikes, at least 1
 * @delay: ms until the answer, or the end of the reset; at most VFAULT_MAX_DELAY
 */
struct vfault {
	enum vfault_kind kind;
	u32 answer;		/* enum vfault_answer */
	u32 status;		/* enum vhca_status */
	u32 which;
	u32 lie;		/* enum vfault_lie */
	u32 seed;
	u32 skip;
	u32 count;
	u32 delay;
};

/**
 * vdev_fault_add() - arm a fault
 * @dev: device
 * @f: fault; copied
 *
 * It outlasts resets and guests.  Any thread.  Return: 0, -EINVAL for a value
 * out of range, -ENOSPC when VFAULT_MAX_ARMED are armed.
 */
int vdev_fault_add(struct vhca_dev *dev, const struct vfault *f);

/**
 * vdev_fault_clear() - disarm all faults, and end what they have begun
 * @dev: device
 *
 * Answers that wait for their time are given, and a reset that takes its time is
 * over.  Any thread.
 */
void vdev_fault_clear(struct vhca_dev *dev);

/**
 * vdev_fault_list() - what is armed
 * @dev: device
 * @out: receives as many as there are, with what is left of their counts
 *
 * Any thread.  Return: their number.
 */
u32 vdev_fault_list(struct vhca_dev *dev, struct vfault out[VFAULT_MAX_ARMED]);

/** vanswer_name() - name of an enum vfault_answer, or "?" */
const char *vanswer_name(u32 answer);
/** vanswer_by_name() - enum vfault_answer of that name, or -1 */
int vanswer_by_name(const char *name);
/** vlie_name() - name of an enum vfault_lie, or "?" */
const char *vlie_name(u32 lie);
/** vlie_by_name() - enum vfault_lie of that name, or -1 */
int vlie_by_name(const char *name);

#endif /* VHCAD_DEV_FAULT_H */
