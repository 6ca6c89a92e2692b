/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Intrusive lists.  A link that is on no list points to itself.
 */
#ifndef VHCAD_LIST_H
#define VHCAD_LIST_H

#include "lib/types.h"

struct link {
	struct link *prev, *next;
};

static inline void link_init(struct link *l)
{
	l->prev = l;
	l->next = l;
}

static inline bool link_alone(const struct link *l)
{
	return l->next == l;
}

static inline void link_add_tail(struct link *list, struct link *l)
{
	l->prev = list->prev;
	l->next = list;
	list->prev->next = l;
	list->prev = l;
}

static inline void link_del(struct link *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
	link_init(l);
}

/* The first link, taken off; NULL if the list is empty. */
static inline struct link *link_pop(struct link *list)
{
	struct link *l = list->next;

	if (l == list)
		return NULL;
	link_del(l);
	return l;
}

/* Walks a list whose current member may be taken off. */
#define link_for_each(l, list)						\
	for (struct link *l = (list)->next, *l##_next_ = l->next; l != (list);	\
	     l = l##_next_, l##_next_ = l->next)

#endif /* VHCAD_LIST_H */
