/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Paths to other ports, by GID.
 */
#ifndef IPOIB_PATH_H
#define IPOIB_PATH_H

#include "ipoib.h"

/**
 * struct ipoib_path - the path to a GID
 * @node: in the table of paths
 * @ipoib: interface
 * @rec: what the subnet manager answered, or is asked; its destination is always the key
 * @ah: address, NULL before the first answer
 * @stale: @ah is used no more until the subnet manager has been asked again
 * @asked: a query is under way
 * @again: what it is answered counts no more, since everything has become stale meanwhile
 * @gone: not in the table any more, and freed by the query's answer
 * @query: the query
 * @query_id: its id
 * @queue: packets that wait for the answer
 * @wait: in the list of those that are to be asked for
 * @used: when it was used last, in jiffies
 * @rcu: frees it
 */
struct ipoib_path {
	struct ipoib_node node;
	struct ipoib_dev *ipoib;
	struct sa_path_rec rec;
	struct ipoib_ah __rcu *ah;
	bool stale;
	bool asked;
	bool again;
	bool gone;
	struct ib_sa_query *query;
	int query_id;
	struct sk_buff_head queue;
	struct list_head wait;
	unsigned long used;
	struct rcu_head rcu;
};

int ipoib_path_init(struct ipoib_dev *ipoib);
void ipoib_path_end(struct ipoib_dev *ipoib);
struct ipoib_ah *ipoib_path_ah(struct ipoib_dev *ipoib, const u8 *gid, struct sk_buff *skb);
bool ipoib_path_rec(struct ipoib_dev *ipoib, const u8 *gid, struct sa_path_rec *rec);
void ipoib_path_stale(struct ipoib_dev *ipoib);
void ipoib_path_flush(struct ipoib_dev *ipoib);
void ipoib_path_age(struct ipoib_dev *ipoib, unsigned long idle);

#if IS_ENABLED(CONFIG_KUNIT)
int ipoib_path_query(struct ipoib_path *path);
struct ipoib_ah *ipoib_path_make_ah(struct ipoib_dev *ipoib, struct sa_path_rec *rec);
void ipoib_path_answered(int status, struct sa_path_rec *rec, unsigned int num, void *context);
#endif

#endif /* IPOIB_PATH_H */
