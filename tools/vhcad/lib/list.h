/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Circular, doubly linked lists whose links are members of what they hold.
 *
 * The names are those of the kernel's lists.  A member that is on no list points to itself, as an
 * empty list does, so that list_empty() answers for both.
 */
#ifndef VHCAD_LIB_LIST_H
#define VHCAD_LIB_LIST_H

#include "lib/types.h"

struct list_head {
	struct list_head *prev, *next;
};

/** INIT_LIST_HEAD() - make an empty list, or a member that is on no list */
static inline void INIT_LIST_HEAD(struct list_head *l)
{
	l->prev = l;
	l->next = l;
}

/** list_empty() - has the list no members, or is the member on no list? */
static inline bool list_empty(const struct list_head *l)
{
	return l->next == l;
}

/** list_add_tail() - append a member that is on no list */
static inline void list_add_tail(struct list_head *l, struct list_head *list)
{
	l->prev = list->prev;
	l->next = list;
	list->prev->next = l;
	list->prev = l;
}

/** list_del_init() - take a member off its list, if it is on one */
static inline void list_del_init(struct list_head *l)
{
	l->prev->next = l->next;
	l->next->prev = l->prev;
	INIT_LIST_HEAD(l);
}

/** list_pop() - take the first member off; NULL if the list is empty */
static inline struct list_head *list_pop(struct list_head *list)
{
	struct list_head *l = list->next;

	if (l == list)
		return NULL;
	list_del_init(l);
	return l;
}

/** list_splice_tail() - append all members of a list, which is empty afterwards, to another one */
static inline void list_splice_tail(struct list_head *from, struct list_head *list)
{
	if (list_empty(from))
		return;
	from->next->prev = list->prev;
	list->prev->next = from->next;
	from->prev->next = list;
	list->prev = from->prev;
	INIT_LIST_HEAD(from);
}

/* Declares @l and walks a list with it; the current member may be taken off. */
#define list_for_each_safe(l, list)						\
	for (struct list_head *l = (list)->next, *l##_next_ = l->next; l != (list);	\
	     l = l##_next_, l##_next_ = l->next)

#endif /* VHCAD_LIB_LIST_H */
