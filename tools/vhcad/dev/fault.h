/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Faults of a device that somebody asked for: they are armed, each strikes a
 * given number of times, and is gone.  Nothing here is left to chance, so a
 * test that armed a fault sees the same thing every time.
 */
#ifndef VHCAD_DEV_FAULT_H
#define VHCAD_DEV_FAULT_H

#include "drivers/infiniband/hw/vhca/vhca_hw.h"
#include "engine/list.h"
#include "engine/timer.h"
#include "lib/types.h"

struct vhca_dev;

#define VFAULT_ANY		UINT32_MAX
#define VFAULT_MAX_ARMED	32u
#define VFAULT_MAX_DELAY	600000u		/* ms */

enum vfault_kind {
	VFAULT_COMMAND,		/* which: opcode */
	VFAULT_INTERRUPT,	/* which: vector; it is not raised */
	VFAULT_RESET,		/* takes @delay */
};

enum vfault_answer {
	VFAULT_ONCE,
	VFAULT_NONE,		/* the command is taken and forgotten */
	VFAULT_TWICE,		/* a second time right behind the first */
	VFAULT_STALE,		/* behind nonsense for the command that was answered last */
	VFAULT_UNKNOWN,		/* before nonsense for a command that was never given */
	VFAULT_NONSENSE,	/* once, and what it says is nonsense */
};

/**
 * struct vfault - an armed fault
 * @kind: what it strikes
 * @answer: VFAULT_COMMAND: what becomes of the completion
 * @status: VFAULT_COMMAND: not carried out but answered with this; 0: carried out
 * @which: opcode or vector, or VFAULT_ANY
 * @skip: matching events that are let by first
 * @count: events it strikes, at least 1
 * @delay: ms until the answer, or the end of the reset; at most VFAULT_MAX_DELAY
 */
struct vfault {
	enum vfault_kind kind;
	u32 answer;		/* enum vfault_answer */
	u32 status;		/* enum vhca_status */
	u32 which;
	u32 skip;
	u32 count;
	u32 delay;
};

/* A device's faults; under the engine's lock. */
struct vfaults {
	struct vfault armed[VFAULT_MAX_ARMED];	/* in the order of arming */
	u32 narmed;
	struct link late;	/* answers that wait for their time */
	struct timer reset;	/* runs while a reset takes its time */
};

int fault_init(struct vhca_dev *dev);
void fault_fini(struct vhca_dev *dev);

/**
 * fault_strike - does a fault strike here?
 * @dev: device
 * @kind: kind of event
 * @which: opcode or vector
 * @hit: receives the fault
 *
 * The first one armed that is due strikes; those that let the event by count it.
 */
bool fault_strike(struct vhca_dev *dev, enum vfault_kind kind, u32 which, struct vfault *hit);

/**
 * fault_answer - answer a command as its fault wants it
 * @dev: device
 * @f: fault; its answer is not VFAULT_NONE
 * @e: the true answer
 * @wrote: set when something is in the ring now
 *
 * Returns 0, or -1 when the ring cannot be reached.
 */
int fault_answer(struct vhca_dev *dev, const struct vfault *f, const struct vhca_acqe *e,
		 bool *wrote);

/** fault_reset - the device is being reset: drop late answers, take the time a fault wants */
void fault_reset(struct vhca_dev *dev);

/** fault_resetting - is a reset under way? */
static inline bool fault_resetting(const struct vfaults *fs)
{
	return fs->reset.due != TIMER_OFF;
}

/**
 * vdev_fault_add - arm a fault
 * @dev: device
 * @f: fault; copied
 *
 * It outlasts resets and guests.  Any thread.  Returns 0, -EINVAL for a value
 * out of range, -ENOSPC when VFAULT_MAX_ARMED are armed.
 */
int vdev_fault_add(struct vhca_dev *dev, const struct vfault *f);

/**
 * vdev_fault_clear - disarm all faults
 * @dev: device
 *
 * What they have begun, a late answer or a reset, takes its course.  Any thread.
 */
void vdev_fault_clear(struct vhca_dev *dev);

/**
 * vdev_fault_list - what is armed
 * @dev: device
 * @out: receives as many as there are, with what is left of their counts
 *
 * Any thread.  Returns their number.
 */
u32 vdev_fault_list(struct vhca_dev *dev, struct vfault out[VFAULT_MAX_ARMED]);

/* names.c: the words of vhcactl and of the log */
const char *vcmd_name(u32 opcode);
/** vcmd_by_name - opcode of a command, or -1 */
int vcmd_by_name(const char *name);
const char *vstatus_name(u32 status);
/** vstatus_by_name - status of that name, or -1 */
int vstatus_by_name(const char *name);
const char *vanswer_name(u32 answer);
/** vanswer_by_name - enum vfault_answer of that name, or -1 */
int vanswer_by_name(const char *name);

#endif /* VHCAD_DEV_FAULT_H */
