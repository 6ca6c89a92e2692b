// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Answers to admin commands, also as faults want them: late, twice, or wrong.
 */
#include <stdlib.h>
#include <string.h>

#include "dev/hca.h"
#include "lib/log.h"
#include "res/names.h"

/* Distance of an id from those in use; no driver uses so many at a time that it is one of them. */
#define UNKNOWN_ID_DISTANCE	0x4000

/* An answer that waits for its time. */
struct late {
	struct list_head node;
	struct timer timer;
	struct hca *hca;
	struct vfault fault;
	struct vhca_acqe e;
};

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

int admin_answer(struct hca *hca, const struct vhca_acqe *e)
{
	struct admin_queue *q = &hca->admin;
	u32 n = q->done++;
	u64 at = q->acq + vhca_ring_slot(n, q->log) * sizeof(*e);
	u8 phase = vhca_ring_lap(n, q->log);

	/* the phase comes last */
	if (dma_write(hca->dev.mem, at, e, offsetof(struct vhca_acqe, phase)))
		return -1;
	return dma_store8_release(hca->dev.mem, at + offsetof(struct vhca_acqe, phase), phase);
}

static void drop_late(struct late *l)
{
	list_del_init(&l->node);
	timer_fini(&l->hca->dev.adapter.timers, &l->timer);
	free(l);
}

void admin_drop_late(struct hca *hca)
{
	list_for_each_safe(l, &hca->faults.late)
		drop_late(container_of(l, struct late, node));
}

/* Writes an answer with numbers that no object has. */
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

void admin_answer_late(struct hca *hca)
{
	list_for_each_safe(l, &hca->faults.late)
		time_has_come(&container_of(l, struct late, node)->timer);
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
		/* without memory for a late answer it is given at once */
		free(l);
		*wrote = true;
		return answer_now(hca, f, e);
	}
	l->hca = hca;
	l->fault = *f;
	l->e = *e;
	list_add_tail(&l->node, &hca->faults.late);
	timer_set(&hca->dev.adapter.timers, &l->timer,
		  adapter_now(&hca->dev.adapter) + f->delay * NS_PER_MS);
	return 0;
}
