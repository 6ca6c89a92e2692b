// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The kernel's accesses to memory shared with the device (db_order.h), on a model of a weakly
 * ordered processor. It delays one store, or all of them, until a barrier forbids it, and delays
 * the load of a value as long as barriers allow. The device runs between any two accesses.
 *
 * This is separate from the tests, because KUnit's macros use some macros that the model redefines.
 */
#include "test_order.h"

struct order_model order_model;

static struct {
	bool on;
	int hold;		/* the store that is delayed */
	int stores;		/* so far */
	unsigned int point;	/* accesses so far */
	unsigned int chosen;	/* the device runs before this one */
	bool came;
	bool ordered;		/* the delayed store must come before the next store */
	void (*device)(void);
	struct {
		void *at;
		u64 value;
		u8 size;
	} held[ORDER_STORES];
	unsigned int nheld;
	const u64 *late_from;	/* source of a delayed load; late_to is its destination */
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
	for (unsigned int i = 0; i < model.nheld; i++)
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
	if (model.hold == ORDER_HOLD_ALL || model.hold == number) {
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

/* An atomic OR, ordered after earlier stores, but not before later loads. */
static void model_or(void *at, u64 bits)
{
	model_wmb();
	model_store(at, *(u64 *)at | bits, sizeof(u64));
}

static u64 model_load(const void *at, u8 size)
{
	access_point();
	return size == sizeof(u32) ? *(const u32 *)at : *(const u64 *)at;
}

/* A load that may be delayed until the next barrier. */
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
#define READ_ONCE(word)			model_load(&(word), sizeof(word))
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
#include "../queue/db_order.h"

/**
 * order_run() - run the kernel's side, and the device's before one of its accesses
 * @hold: number of the store that is delayed, or ORDER_HOLD_*
 * @place: number of the access before which the device runs
 * @kernel: the kernel's side
 * @device: the device's side
 *
 * Return: true if there was such an access; else the device ran after the last one.
 */
bool order_run(int hold, unsigned int place, void (*kernel)(void), void (*device)(void))
{
	struct order_model *w = &order_model;

	memset(w->page, 0, sizeof(*w->page));
	w->mem.va = w->page;
	w->uar.page0 = w->page;
	w->db = (struct vhca_db){ .uar = &w->uar, .page = &w->mem };
	w->entry = 0;
	w->got = 0;
	w->found = false;
	w->kicked = false;
	w->asleep = false;
	w->seen = false;
	w->wrong = false;

	memset(&model, 0, sizeof(model));
	model.hold = hold;
	model.chosen = place;
	model.device = device;
	model.on = true;
	kernel();
	model.on = false;
	if (!model.came)
		device();
	finish_load();
	drain();
	return model.came;
}

/**
 * order_stores() - count the stores of the last run
 *
 * Return: their number.
 */
int order_stores(void)
{
	return model.stores;
}

/* order_rings - ring the first record: there are 7 */
void order_rings(void)
{
	order_model.kicked = weak_db_publish(&order_model.db, 0, 7);
}

/* order_arms - arm, and check for an entry */
void order_arms(void)
{
	weak_db_arm(&order_model.db, 3, 0, 1);
	order_model.found = READ_ONCE(order_model.entry);
}

/* order_posts - write 42 to an entry, and store the record with its count */
void order_posts(void)
{
	model_store(&order_model.entry, 42, sizeof(order_model.entry));
	weak_db_store(&order_model.db, 0, 1);
}

/* order_takes - read an entry, and store the record that allows the device to overwrite it */
void order_takes(void)
{
	order_model.entry = 42;
	model_load_late(&order_model.entry, &order_model.got);
	weak_db_store(&order_model.db, 0, 1);
}

/* order_takes_and_rings - the same, and ring, as is done for an event queue that was full */
void order_takes_and_rings(void)
{
	order_model.entry = 42;
	model_load_late(&order_model.entry, &order_model.got);
	order_model.kicked = weak_db_publish(&order_model.db, 0, 1);
}
