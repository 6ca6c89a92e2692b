// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The open files of a program, and the numbers of the objects that it has made and destroyed, for
 * each file.  Threads use the lists without a lock: a wrong number now and then is one more input.
 */
#include <string.h>

#include "fuzz.h"

#define KEPT	16
#define NOTHING	0x7ffffff0	/* no object has this number */

struct list {
	unsigned int num;
	uint32_t handle[KEPT];
};

int files[FILE_KINDS][FILES];
static struct list live[FILES][TYPES], dead[FILES][TYPES];

void objects_reset(void)
{
	memset(files, -1, sizeof(files));
	memset(live, 0, sizeof(live));
	memset(dead, 0, sizeof(dead));
}

static void add(struct list *list, uint32_t handle)
{
	unsigned int at = __atomic_fetch_add(&list->num, 1, __ATOMIC_RELAXED);

	__atomic_store_n(&list->handle[at % KEPT], handle, __ATOMIC_RELAXED);
}

/* The entry of this number, counted from the last one. */
static uint32_t nth_of(const struct list *list, unsigned int nth)
{
	unsigned int num = __atomic_load_n(&list->num, __ATOMIC_RELAXED);

	if (!num)
		return NOTHING;
	nth %= num < KEPT ? num : KEPT;
	return __atomic_load_n(&list->handle[(num - 1 - nth) % KEPT], __ATOMIC_RELAXED);
}

void object_made(unsigned int file, unsigned int type, uint32_t handle)
{
	add(&live[file][type], handle);
}

void object_gone(unsigned int file, unsigned int type, uint32_t handle)
{
	struct list *list = &live[file][type];
	unsigned int num = list->num;

	add(&dead[file][type], handle);
	for (unsigned int i = 0; i < num && i < KEPT; i++) {
		if (list->handle[(num - 1 - i) % KEPT] != handle)
			continue;
		list->handle[(num - 1 - i) % KEPT] = list->handle[(num - 1) % KEPT];
		__atomic_store_n(&list->num, num - 1, __ATOMIC_RELAXED);
		return;
	}
}

uint32_t object_live(unsigned int file, unsigned int type, unsigned int nth)
{
	return nth_of(&live[file][type], nth);
}

uint32_t object_dead(unsigned int file, unsigned int type, unsigned int nth)
{
	return nth_of(&dead[file][type], nth);
}
