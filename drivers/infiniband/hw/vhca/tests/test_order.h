/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A model of a weakly ordered processor, and the kernel's code on it: see test_order.c. */
#ifndef VHCA_TEST_ORDER_H
#define VHCA_TEST_ORDER_H

#include "../queue/uar.h"

/* Special values for the number of the delayed store. */
#define ORDER_HOLD_NONE	(-2)
#define ORDER_HOLD_ALL	(-1)
/* Maximum number of stores of one run. */
#define ORDER_STORES	8

/**
 * struct order_model - memory shared by kernel and device, and the results of a run
 * @page: doorbell page
 * @mem: the driver's structure of the page
 * @uar: its area
 * @db: its first pair of slots
 * @entry: entry of a ring
 * @got: value that the kernel read from the entry
 * @found: the kernel found an entry
 * @kicked: the kernel found that it has to kick the device
 * @asleep: the device sleeps
 * @seen: the device has seen the kernel's store
 * @wrong: the device has seen an inconsistent state
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
