// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Faults of a device that somebody asked for.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dev/cmd.h"
#include "engine/core.h"
#include "lib/log.h"

#define MS			1000000ull	/* ns */
/* Far from every id that is in use, whatever the driver makes ids of. */
#define UNKNOWN_ID_DISTANCE	0x4000

/* An answer that waits for its time. */
struct late {
	struct link link;
	struct timer timer;
	struct vhca_dev *dev;
	struct vfault fault;
	struct vhca_acqe e;
};

static void reset_over(struct timer *t)
{
	struct vhca_dev *dev = container_of(t, struct vhca_dev, faults.reset);

	__atomic_store_n(&dev->status, 0, __ATOMIC_RELEASE);
}

int fault_init(struct vhca_dev *dev)
{
	link_init(&dev->faults.late);
	return timer_init(&dev->engine->timers, &dev->faults.reset, reset_over);
}

static void drop_late(struct late *l)
{
	link_del(&l->link);
	timer_fini(&l->dev->engine->timers, &l->timer);
	free(l);
}

static void drop_all_late(struct vhca_dev *dev)
{
	link_for_each(l, &dev->faults.late)
		drop_late(container_of(l, struct late, link));
}

void fault_fini(struct vhca_dev *dev)
{
	drop_all_late(dev);
	timer_fini(&dev->engine->timers, &dev->faults.reset);
}

bool fault_strike(struct vhca_dev *dev, enum vfault_kind kind, u32 which, struct vfault *hit)
{
	struct vfaults *fs = &dev->faults;

	for (u32 i = 0; i < fs->narmed; i++) {
		struct vfault *f = &fs->armed[i];

		if (f->kind != kind || (f->which != VFAULT_ANY && f->which != which))
			continue;
		if (f->skip) {
			f->skip--;
			continue;
		}
		*hit = *f;
		if (!--f->count)
			memmove(f, f + 1, (--fs->narmed - i) * sizeof(*f));
		return true;
	}
	return false;
}

/* ------------------------------------------------------------------------
 * Commands
 */

/* Whoever takes it for an answer gets numbers that no object has. */
static int nonsense(struct vhca_dev *dev, u16 id)
{
	struct vhca_acqe e = { .cmd_id = htole16(id), .bad_field = htole16(VHCA_NO_FIELD) };

	memset(e.resp, 0xff, sizeof(e.resp));
	return admin_answer(dev, &e);
}

static int answer_now(struct vhca_dev *dev, const struct vfault *f, const struct vhca_acqe *e)
{
	u16 id = le16toh(e->cmd_id);
	int err = 0;

	log_line("%s: fault: a command is answered: %s, %s", dev->name, vstatus_name(e->status),
		 vanswer_name(f->answer));
	if (f->answer == VFAULT_STALE)
		err = nonsense(dev, dev->admin.last_id);
	if (f->answer == VFAULT_NONSENSE && e->status == VHCA_ST_OK)
		err = nonsense(dev, id);
	else
		err |= admin_answer(dev, e);
	if (f->answer == VFAULT_TWICE)
		err |= admin_answer(dev, e);
	else if (f->answer == VFAULT_UNKNOWN)
		err |= nonsense(dev, id + UNKNOWN_ID_DISTANCE);
	dev->admin.last_id = id;
	return err;
}

static void time_has_come(struct timer *t)
{
	struct late *l = container_of(t, struct late, timer);
	struct vhca_dev *dev = l->dev;

	if (dev_live(dev)) {
		if (answer_now(dev, &l->fault, &l->e))
			dev_fatal(dev, VHCA_FATAL_ADMIN_RING);
		else
			dev_irq(dev, dev->admin.vector);
	}
	drop_late(l);
}

int fault_answer(struct vhca_dev *dev, const struct vfault *f, const struct vhca_acqe *e,
		 bool *wrote)
{
	struct late *l;

	if (!f->delay) {
		*wrote = true;
		return answer_now(dev, f, e);
	}
	l = calloc(1, sizeof(*l));
	if (!l || timer_init(&dev->engine->timers, &l->timer, time_has_come)) {
		/* no memory to wait in */
		free(l);
		*wrote = true;
		return answer_now(dev, f, e);
	}
	l->dev = dev;
	l->fault = *f;
	l->e = *e;
	link_add_tail(&dev->faults.late, &l->link);
	timer_set(&dev->engine->timers, &l->timer, engine_now(dev->engine) + f->delay * MS);
	return 0;
}

/* ------------------------------------------------------------------------
 * Resets
 */
void fault_reset(struct vhca_dev *dev)
{
	struct vfaults *fs = &dev->faults;
	struct vfault f;

	drop_all_late(dev);
	/* One that comes while another is under way ends with it. */
	if (!fault_resetting(fs)) {
		if (!fault_strike(dev, VFAULT_RESET, 0, &f))
			return;
		log_line("%s: fault: this reset takes %u ms", dev->name, f.delay);
		timer_set(&dev->engine->timers, &fs->reset,
			  engine_now(dev->engine) + f.delay * MS);
	}
	__atomic_store_n(&dev->status, VHCA_STATUS_READY | VHCA_STATUS_FATAL, __ATOMIC_RELEASE);
}

/* ------------------------------------------------------------------------
 * For the control socket
 */
static bool valid(const struct vfault *f, u32 vectors)
{
	if (!f->count || f->delay > VFAULT_MAX_DELAY)
		return false;
	switch (f->kind) {
	case VFAULT_COMMAND:
		return (f->which == VFAULT_ANY || f->which < 256) &&
		       (f->status || f->delay || f->answer != VFAULT_ONCE);
	case VFAULT_INTERRUPT:
		return f->which == VFAULT_ANY || f->which < vectors;
	case VFAULT_RESET:
		return f->which == VFAULT_ANY && f->delay;
	}
	return false;
}

int vdev_fault_add(struct vhca_dev *dev, const struct vfault *f)
{
	struct vfaults *fs = &dev->faults;
	int err = 0;

	if (!valid(f, dev->vectors))
		return -EINVAL;
	engine_lock(dev->engine);
	if (fs->narmed < VFAULT_MAX_ARMED)
		fs->armed[fs->narmed++] = *f;
	else
		err = -ENOSPC;
	engine_unlock(dev->engine);
	return err;
}

void vdev_fault_clear(struct vhca_dev *dev)
{
	engine_lock(dev->engine);
	dev->faults.narmed = 0;
	engine_unlock(dev->engine);
}

u32 vdev_fault_list(struct vhca_dev *dev, struct vfault out[VFAULT_MAX_ARMED])
{
	u32 n;

	engine_lock(dev->engine);
	n = dev->faults.narmed;
	memcpy(out, dev->faults.armed, n * sizeof(*out));
	engine_unlock(dev->engine);
	return n;
}
