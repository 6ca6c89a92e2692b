/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A model of a weak processor, and what the kernel does on it: see test_order.c. */
#ifndef VHCA_TEST_ORDER_H
#define VHCA_TEST_ORDER_H

#include "../queue/uar.h"

/* Which store is delayed, beside the number of one. */
#define ORDER_HOLD_NONE	(-2)
#define ORDER_HOLD_ALL	(-1)
/* Stores of one run, at most. */
#define ORDER_STORES	8

/**
 * struct order_model - what the kernel and the device share, and what became of it
 * @page: doorbell page
 * @mem: it, for the driver
 * @uar: its area
 * @db: its first pair
 * @entry: entry of a ring
 * @got: what the kernel took from there
 * @found: the kernel found an entry
 * @kicked: the kernel found that it has to kick the device
 * @asleep: the device sleeps
 * @seen: the device has seen what it looked for
 * @wrong: the device has seen what must not be
 */
struct order_model {
	struct vhca_db_page *page;
	struct vhca_db_mem mem;
	struct vhca_uar uar;
	struct vhca_db db;
	u64 entry;
	u64 got;
	bool found;
	bool kicked;
	bool asleep;
	bool seen;
	bool wrong;
};

extern struct order_model order_model;

bool order_run(int hold, unsigned int place, void (*kernel)(void), void (*device)(void));
int order_stores(void);

void order_rings(void);
void order_arms(void);
void order_posts(void);
void order_takes(void);
void order_takes_and_rings(void);

#endif /* VHCA_TEST_ORDER_H */
