// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Faults of a device that somebody asked for.
 */
#include <errno.h>
#include <string.h>

#include "dev/hca.h"
#include "lib/log.h"

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

void fault_fini(struct hca *hca)
{
	admin_drop_late(hca);
	timer_fini(&hca->dev.adapter.timers, &hca->faults.reset);
}

static void lie(struct vhca_dev *dev, enum entry_kind kind, u32 which, void *entry)
{
	const bool event = kind == ENTRY_EVENT;
	struct vfault f;

	if (!fault_strike(to_hca(dev), event ? VFAULT_EVENT : VFAULT_COMPLETION, which, &f))
		return;
	log_line("%s: fault: %s %#x lies: %s", dev->name, event ? "event" : "completion in CQ",
		 which, vlie_name(f.lie));
	lie_in(&f, kind, entry);
}

/* Entries pass through lie() only while a fault that falsifies some of them is armed. */
static void armed_changed(struct hca *hca)
{
	bool any = false;

	for (u32 i = 0; i < hca->faults.narmed; i++)
		any |= hca->faults.armed[i].kind >= VFAULT_EVENT;
	hca->dev.lie = any ? lie : NULL;
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
		if (!--f->count) {
			memmove(f, f + 1, (--fs->narmed - i) * sizeof(*f));
			armed_changed(hca);
		}
		return true;
	}
	return false;
}

void fault_reset(struct hca *hca)
{
	struct vfaults *fs = &hca->faults;
	struct vfault f;

	admin_drop_late(hca);
	/* a reset that comes during another one ends with it */
	if (!fault_resetting(hca)) {
		if (!fault_strike(hca, VFAULT_RESET, 0, &f))
			return;
		log_line("%s: fault: this reset takes %u ms", hca->dev.name, f.delay);
		timer_set(&hca->dev.adapter.timers, &fs->reset,
			  adapter_now(&hca->dev.adapter) + f.delay * NS_PER_MS);
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
	case VFAULT_EVENT:
	case VFAULT_COMPLETION:
		return lie_valid(f);
	}
	return false;
}

int vdev_fault_add(struct vhca_dev *dev, const struct vfault *f)
{
	struct vfaults *fs = &to_hca(dev)->faults;
	int err = 0;

	if (!valid(f, dev->vectors))
		return -EINVAL;
	adapter_lock(&dev->adapter);
	if (fs->narmed < VFAULT_MAX_ARMED)
		fs->armed[fs->narmed++] = *f;
	else
		err = -ENOSPC;
	armed_changed(to_hca(dev));
	adapter_unlock(&dev->adapter);
	return err;
}

void vdev_fault_clear(struct vhca_dev *dev)
{
	struct hca *hca = to_hca(dev);

	adapter_lock(&dev->adapter);
	hca->faults.narmed = 0;
	armed_changed(hca);
	admin_answer_late(hca);
	if (fault_resetting(hca)) {
		timer_stop(&hca->faults.reset);
		reset_over(&hca->faults.reset);
	}
	adapter_unlock(&dev->adapter);
}

u32 vdev_fault_list(struct vhca_dev *dev, struct vfault out[VFAULT_MAX_ARMED])
{
	u32 n;

	adapter_lock(&dev->adapter);
	n = to_hca(dev)->faults.narmed;
	memcpy(out, to_hca(dev)->faults.armed, n * sizeof(*out));
	adapter_unlock(&dev->adapter);
	return n;
}
