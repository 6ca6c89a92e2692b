// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Faults of a device that somebody asked for.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dev/hca.h"
#include "log.h"
#include "res/names.h"

#define MS			1000000ull	/* ns */
/* Far from every id that is in use, whatever the driver makes ids of. */
#define UNKNOWN_ID_DISTANCE	0x4000

/* An answer that waits for its time. */
struct late {
	struct list_head node;
	struct timer timer;
	struct hca *hca;
	struct vfault fault;
	struct vhca_acqe e;
};

static void reset_over(struct timer *t)
{
	struct hca *hca = container_of(t, struct hca, faults.reset);

	__atomic_store_n(&hca->dev.status, 0, __ATOMIC_RELEASE);
}

int fault_init(struct hca *hca)
{
	INIT_LIST_HEAD(&hca->faults.late);
	return timer_init(&hca->dev.adapter.timers, &hca->faults.reset, reset_over);
}

static void drop_late(struct late *l)
{
	list_del_init(&l->node);
	timer_fini(&l->hca->dev.adapter.timers, &l->timer);
	free(l);
}

static void drop_all_late(struct hca *hca)
{
	list_for_each_safe(l, &hca->faults.late)
		drop_late(container_of(l, struct late, node));
}

void fault_fini(struct hca *hca)
{
	drop_all_late(hca);
	timer_fini(&hca->dev.adapter.timers, &hca->faults.reset);
}

bool fault_strike(struct hca *hca, enum vfault_kind kind, u32 which, struct vfault *hit)
{
	struct vfaults *fs = &hca->faults;

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
static int nonsense(struct hca *hca, u16 id)
{
	struct vhca_acqe e = { .cmd_id = htole16(id), .bad_field = htole16(VHCA_NO_FIELD) };

	memset(e.resp, 0xff, sizeof(e.resp));
	return admin_answer(hca, &e);
}

static int answer_now(struct hca *hca, const struct vfault *f, const struct vhca_acqe *e)
{
	u16 id = le16toh(e->cmd_id);
	int err = 0;

	log_line("%s: fault: a command is answered: %s, %s", hca->dev.name, vstatus_name(e->status),
		 vanswer_name(f->answer));
	if (f->answer == VFAULT_STALE)
		err = nonsense(hca, hca->admin.last_id);
	if (f->answer == VFAULT_NONSENSE && e->status == VHCA_ST_OK)
		err = nonsense(hca, id);
	else
		err |= admin_answer(hca, e);
	if (f->answer == VFAULT_TWICE)
		err |= admin_answer(hca, e);
	else if (f->answer == VFAULT_UNKNOWN)
		err |= nonsense(hca, id + UNKNOWN_ID_DISTANCE);
	hca->admin.last_id = id;
	return err;
}

static void time_has_come(struct timer *t)
{
	struct late *l = container_of(t, struct late, timer);
	struct hca *hca = l->hca;

	if (dev_live(&hca->dev)) {
		if (answer_now(hca, &l->fault, &l->e))
			dev_fatal(&hca->dev, VHCA_FATAL_ADMIN_RING);
		else
			dev_irq(&hca->dev, hca->admin.vector);
	}
	drop_late(l);
}

int fault_answer(struct hca *hca, const struct vfault *f, const struct vhca_acqe *e,
		 bool *wrote)
{
	struct late *l;

	if (!f->delay) {
		*wrote = true;
		return answer_now(hca, f, e);
	}
	l = calloc(1, sizeof(*l));
	if (!l || timer_init(&hca->dev.adapter.timers, &l->timer, time_has_come)) {
		/* no memory to wait in */
		free(l);
		*wrote = true;
		return answer_now(hca, f, e);
	}
	l->hca = hca;
	l->fault = *f;
	l->e = *e;
	list_add_tail(&l->node, &hca->faults.late);
	timer_set(&hca->dev.adapter.timers, &l->timer, adapter_now(&hca->dev.adapter) + f->delay * MS);
	return 0;
}

/* ------------------------------------------------------------------------
 * Resets
 */
void fault_reset(struct hca *hca)
{
	struct vfaults *fs = &hca->faults;
	struct vfault f;

	drop_all_late(hca);
	/* One that comes while another is under way ends with it. */
	if (!fault_resetting(hca)) {
		if (!fault_strike(hca, VFAULT_RESET, 0, &f))
			return;
		log_line("%s: fault: this reset takes %u ms", hca->dev.name, f.delay);
		timer_set(&hca->dev.adapter.timers, &fs->reset,
			  adapter_now(&hca->dev.adapter) + f.delay * MS);
	}
	__atomic_store_n(&hca->dev.status, VHCA_STATUS_READY | VHCA_STATUS_FATAL, __ATOMIC_RELEASE);
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
	struct vfaults *fs = &to_hca(dev)->faults;
	int err = 0;

	if (!valid(f, dev->vectors))
		return -EINVAL;
	engine_lock(dev->adapter.engine);
	if (fs->narmed < VFAULT_MAX_ARMED)
		fs->armed[fs->narmed++] = *f;
	else
		err = -ENOSPC;
	engine_unlock(dev->adapter.engine);
	return err;
}

void vdev_fault_clear(struct vhca_dev *dev)
{
	engine_lock(dev->adapter.engine);
	to_hca(dev)->faults.narmed = 0;
	engine_unlock(dev->adapter.engine);
}

u32 vdev_fault_list(struct vhca_dev *dev, struct vfault out[VFAULT_MAX_ARMED])
{
	u32 n;

	engine_lock(dev->adapter.engine);
	n = to_hca(dev)->faults.narmed;
	memcpy(out, to_hca(dev)->faults.armed, n * sizeof(*out));
	engine_unlock(dev->adapter.engine);
	return n;
}

static const char *const answers[] = {
	[VFAULT_ONCE] = "once",
	[VFAULT_NONE] = "none",
	[VFAULT_TWICE] = "twice",
	[VFAULT_STALE] = "stale",
	[VFAULT_UNKNOWN] = "unknown",
	[VFAULT_NONSENSE] = "nonsense",
};

const char *vanswer_name(u32 answer)
{
	return answer < ARRAY_SIZE(answers) ? answers[answer] : "?";
}

int vanswer_by_name(const char *name)
{
	for (u32 i = 0; i < ARRAY_SIZE(answers); i++)
		if (!strcmp(answers[i], name))
			return i;
	return -1;
}
