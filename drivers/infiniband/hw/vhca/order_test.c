// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The barriers between the kernel and the device, in every interleaving.
 *
 * Threads meet a race by luck, and a strong processor forgives a missing barrier where others do
 * not. Here the kernel's side, db_order.h, is compiled for a model of a weak processor. It delays
 * one store, or all of them, until a barrier forbids it, and makes up its mind about what it has
 * loaded as late as it may. The device's side, whose own order is right, comes between any two
 * accesses of the kernel.
 */
#include <kunit/test.h>

#include "db.h"
#include "vhca_test.h"

/* Values of @hold beside the number of the store that is delayed. */
#define HOLD_NONE	(-2)
#define HOLD_ALL	(-1)
#define MAX_STORES	8

static struct {
	bool on;
	int hold;
	int stores;		/* so far */
	unsigned int point;	/* accesses so far */
	unsigned int chosen;	/* the device comes before this one */
	bool came;
	bool ordered;		/* what is held comes before the next store */
	void (*device)(void);
	struct {
		void *at;
		u64 value;
		u8 size;
	} held[MAX_STORES];
	unsigned int nheld;
	const u64 *late_from;	/* a load that is not over, and where it goes */
	u64 *late_to;
} model;

static void write(void *at, u64 value, u8 size)
{
	if (size == sizeof(u32))
		*(u32 *)at = value;
	else
		*(u64 *)at = value;
}

static void drain(void)
{
	unsigned int i;

	for (i = 0; i < model.nheld; i++)
		write(model.held[i].at, model.held[i].value, model.held[i].size);
	model.nheld = 0;
	model.ordered = false;
}

static void finish_load(void)
{
	if (model.late_from)
		*model.late_to = *model.late_from;
	model.late_from = NULL;
}

static void access_point(void)
{
	if (!model.on || model.point++ != model.chosen)
		return;
	model.came = true;
	model.on = false;
	model.device();
	model.on = true;
}

static void model_wmb(void)
{
	model.ordered = true;
}

static void model_mb(void)
{
	access_point();
	finish_load();
	drain();
}

static void model_store(void *at, u64 value, u8 size)
{
	int number = model.stores++;

	access_point();
	if (model.hold == HOLD_ALL || model.hold == number) {
		model.held[model.nheld].at = at;
		model.held[model.nheld].value = value;
		model.held[model.nheld++].size = size;
		return;
	}
	if (model.ordered)
		drain();
	write(at, value, size);
}

static void model_release(void *at, u64 value)
{
	finish_load();
	model_wmb();
	model_store(at, value, sizeof(u64));
}

/* Atomic, and behind what was stored before; what is loaded next need not wait for it. */
static void model_or(void *at, u64 bits)
{
	model_wmb();
	model_store(at, *(u64 *)at | bits, sizeof(u64));
}

static u32 model_load(const void *at)
{
	access_point();
	return *(const u32 *)at;
}

/* A load whose result may be that of a later time, until a barrier comes. */
static void model_load_late(const u64 *from, u64 *to)
{
	access_point();
	model.late_from = from;
	model.late_to = to;
}

#undef dma_wmb
#undef mb
#undef virt_store_release
#undef READ_ONCE
#undef WRITE_ONCE
#define dma_wmb()			model_wmb()	/* a barrier of the model */
#define mb()				model_mb()	/* a barrier of the model */
#define virt_store_release(at, value)	model_release(at, (__force u64)(value))
#define READ_ONCE(word)			model_load(&(word))
#define WRITE_ONCE(word, value)						\
	model_store(&(word), (__force u64)(value), sizeof(word))
#define sync_set_bit(bit, words)	model_or(&(words)[(bit) / 64], BIT_ULL((bit) % 64))
#define atomic64_fetch_or(bits, word)	model_or(word, bits)

#define vhca_db_set_bit	weak_db_set_bit
#define vhca_db_store	weak_db_store
#define vhca_db_mb	weak_db_mb
#define vhca_db_arm	weak_db_arm
#define vhca_db_publish	weak_db_publish
#undef VHCA_DB_ORDER_H
#include "db_order.h"

/* The kernel's side and the device's, which share a doorbell page and one entry of a ring. */
static struct {
	struct vhca_db_page *page;
	struct vhca_db_mem mem;
	struct vhca_uar uar;
	struct vhca_db db;
	u64 entry;
	u64 got;
	bool seen;		/* by the device */
	bool found;		/* by the kernel */
	bool asleep;
	bool kicked;
	bool wrong;
} world;

static void reset_world(void)
{
	memset(world.page, 0, sizeof(*world.page));
	world.entry = 0;
	world.got = 0;
	world.seen = false;
	world.found = false;
	world.asleep = false;
	world.kicked = false;
	world.wrong = false;
}

/* The device at each place among the kernel's accesses, also behind the last of them. */
static unsigned int every_place(struct kunit *test, int hold, void (*kernel)(void),
				void (*device)(void), bool (*good)(void))
{
	unsigned int places = 0;
	bool last;

	do {
		reset_world();
		memset(&model, 0, sizeof(model));
		model.hold = hold;
		model.chosen = places++;
		model.device = device;
		model.on = true;
		kernel();
		model.on = false;
		last = !model.came;
		if (last)
			device();
		finish_load();
		drain();
		KUNIT_EXPECT_TRUE_MSG(test, good(), "store %d is delayed, the device comes %s %u",
				      hold, last ? "after access" : "before access",
				      model.chosen - last);
	} while (!last);
	return places;
}

static void every_interleaving(struct kunit *test, void (*kernel)(void), void (*device)(void),
			       bool (*good)(void))
{
	int hold, stores;

	KUNIT_EXPECT_GT(test, every_place(test, HOLD_NONE, kernel, device, good), 1);
	stores = model.stores;
	KUNIT_ASSERT_LE(test, stores, MAX_STORES);
	for (hold = HOLD_ALL; hold < stores; hold++)
		every_place(test, hold, kernel, device, good);
}

/* ---- ringing, and a device that is about to sleep ---- */

static void kernel_rings(void)
{
	world.kicked = weak_db_publish(&world.db, 0, 7);
}

static void device_sleeps(void)
{
	world.page->armed = cpu_to_le32(1);
	world.asleep = !world.page->summary[0];
	if (world.asleep)
		return;
	/* news of a queue are of no use without what is new */
	world.wrong = !(world.page->news[0] & cpu_to_le64(1)) ||
		      le64_to_cpu(world.page->rec[0]) != 7;
}

static bool work_is_known(void)
{
	return !world.wrong && (!world.asleep || world.kicked);
}

static void test_ring_and_sleep(struct kunit *test)
{
	every_interleaving(test, kernel_rings, device_sleeps, work_is_known);
}

/* ---- arming, and a device that writes an entry ---- */

static void kernel_arms(void)
{
	weak_db_arm(&world.db, 3, 0, 1);
	world.found = model_load(&world.entry);
}

static void device_completes(void)
{
	world.entry = 1;
	world.seen = world.page->rec[1] != 0;
}

static bool entry_is_known(void)
{
	return world.found || world.seen;
}

static void test_arm_and_complete(struct kunit *test)
{
	every_interleaving(test, kernel_arms, device_completes, entry_is_known);
}

/* ---- a request, and the record that says that it is there ---- */

static void kernel_posts(void)
{
	model_store(&world.entry, 42, sizeof(world.entry));
	weak_db_store(&world.db, 0, 1);
}

static void device_fetches(void)
{
	world.wrong = world.page->rec[0] && world.entry != 42;
}

static bool nothing_wrong(void)
{
	return !world.wrong;
}

static void test_post_and_fetch(struct kunit *test)
{
	every_interleaving(test, kernel_posts, device_fetches, nothing_wrong);
}

/* ---- an entry that was taken, and a device that writes the next one over it ---- */

static void kernel_takes(void)
{
	world.entry = 42;
	model_load_late(&world.entry, &world.got);
	weak_db_store(&world.db, 0, 1);
}

static void device_overwrites(void)
{
	if (world.page->rec[0])
		world.entry = 43;
}

static bool entry_is_whole(void)
{
	return world.got == 42;
}

static void test_take_and_overwrite(struct kunit *test)
{
	every_interleaving(test, kernel_takes, device_overwrites, entry_is_whole);
}

/* The same where the consumer count is rung, as an event queue without room does. */
static void kernel_takes_and_rings(void)
{
	world.entry = 42;
	model_load_late(&world.entry, &world.got);
	world.kicked = weak_db_publish(&world.db, 0, 1);
}

static void test_take_and_ring(struct kunit *test)
{
	every_interleaving(test, kernel_takes_and_rings, device_overwrites, entry_is_whole);
}

static int order_test_init(struct kunit *test)
{
	world.page = kunit_kzalloc(test, sizeof(*world.page), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, world.page);
	world.mem.va = world.page;
	world.uar.page0 = world.page;
	world.db.uar = &world.uar;
	world.db.page = &world.mem;
	return 0;
}

static struct kunit_case order_cases[] = {
	KUNIT_CASE(test_ring_and_sleep),
	KUNIT_CASE(test_arm_and_complete),
	KUNIT_CASE(test_post_and_fetch),
	KUNIT_CASE(test_take_and_overwrite),
	KUNIT_CASE(test_take_and_ring),
	{}
};

struct kunit_suite vhca_order_suite = {
	.name = "vhca_order",
	.init = order_test_init,
	.test_cases = order_cases,
};
