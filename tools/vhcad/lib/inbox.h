/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Inboxes: any thread puts members in, and one thread at a time takes all of them out.
 *
 * A thread that puts a member in gives it away, with all that it has written before.  A member is
 * in one inbox at most, and its link is not used for anything else.
 */
#ifndef VHCAD_LIB_INBOX_H
#define VHCAD_LIB_INBOX_H

#include "lib/types.h"

struct inbox_link {
	struct inbox_link *next;
};

/**
 * struct inbox - members that were put in and not taken yet
 * @last: the member that came last, linked to those before it; NULL: none.  Atomic
 */
struct inbox {
	struct inbox_link *last;
};

/** inbox_put() - put a member in; any thread */
static inline void inbox_put(struct inbox *b, struct inbox_link *l)
{
	l->next = __atomic_load_n(&b->last, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&b->last, &l->next, l, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
}

/** inbox_empty() - is nothing in it?  A hint, unless barriers make it more */
static inline bool inbox_empty(const struct inbox *b)
{
	return !__atomic_load_n(&b->last, __ATOMIC_RELAXED);
}

/** inbox_take() - all members, linked in the order in which they came; NULL: none */
static inline struct inbox_link *inbox_take(struct inbox *b)
{
	struct inbox_link *l = __atomic_exchange_n(&b->last, NULL, __ATOMIC_ACQUIRE), *first = NULL;

	while (l) {
		struct inbox_link *before = l->next;

		l->next = first;
		first = l;
		l = before;
	}
	return first;
}

#endif /* VHCAD_LIB_INBOX_H */
