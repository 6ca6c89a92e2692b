/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Standing requests, the common part of registered services and subscriptions.
 */
#ifndef RDMA_CORE_SA_STANDING_H
#define RDMA_CORE_SA_STANDING_H

#include "sa_priv.h"

struct sa_standing;

/**
 * struct sa_standing_ops - operations of a type of standing request
 * @ask: starts the query that sends the request, or its end if @on is false; returns the query's id
 *	or an error; the answer is passed to sa_standing_answer()
 * @result: called when the status changes: 0 if the subnet manager has the record, or an error
 * @every: call @result for each confirmation, even if the status is unchanged
 * @lease: returns the seconds for which the record is valid, 0 for ever; NULL if the record has no
 *	lease
 * @same: returns true if the subnet manager cannot tell the two apart; called with a spinlock held
 * @release: frees the request
 *
 * All except @same may sleep.
 */
struct sa_standing_ops {
	int (*ask)(struct sa_standing *standing, bool on, struct ib_sa_query **query);
	void (*result)(struct sa_standing *standing, int status);
	bool every;
	unsigned int (*lease)(struct sa_standing *standing);
	bool (*same)(const struct sa_standing *one, const struct sa_standing *other);
	void (*release)(struct sa_standing *standing);
};

/**
 * struct sa_standing - a request that is repeated as needed until it is withdrawn
 * @entry: in sa_port.standing, later in sa_port.leaving
 * @port: port that sends it; held
 * @client: the SA client that it is sent for
 * @ops: operations of its type
 * @work: sends the request
 * @leaves: its end has been sent; the answer releases it
 * @answered: completed when the answer has come
 * @status: status of the answer
 * @told: status that was last passed to @ops->result()
 * @retry: seconds until the next attempt if this one fails
 * @lock: protects the members below; taken with or without sa_port.lock held
 * @asked: a query has been sent for this request, or for an equal one that has ended
 * @ending: sa_standing_end() has been called
 * @query: query that has not ended, or NULL
 * @query_id: its id
 */
struct sa_standing {
	struct list_head entry;
	struct sa_port *port;
	struct ib_sa_client *client;
	const struct sa_standing_ops *ops;
	struct delayed_work work;
	bool leaves;
	struct completion answered;
	int status;
	int told;
	unsigned int retry;
	spinlock_t lock;
	bool asked;
	bool ending;
	struct ib_sa_query *query;
	int query_id;
};

/* Time-out of a standing request's query, in milliseconds */
#define SA_STANDING_TIMEOUT 3000

void sa_standing_begin(struct sa_standing *standing, struct ib_sa_client *client,
		       struct sa_port *port, const struct sa_standing_ops *ops);
void sa_standing_end(struct sa_standing *standing);
void sa_standing_answer(struct sa_standing *standing, int status);

#endif
