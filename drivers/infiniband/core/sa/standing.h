/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Standing requests, the common part of services and subscriptions.
 */
#ifndef RDMA_CORE_SA_STANDING_H
#define RDMA_CORE_SA_STANDING_H

#include "sa_priv.h"

struct sa_standing;

/**
 * struct sa_standing_ops - what the subnet manager is to be told, and how
 * @ask: begins the query that says it, or says that it is over unless @on; returns the query's id
 *	or an error; the answer goes to sa_standing_answer()
 * @result: the subnet manager knows (0), or what is in the way; called when that changes
 * @every: @result is called whenever the subnet manager has confirmed it
 * @lease: how long it will know, in seconds, 0 for all time; NULL if it never forgets
 * @same: can the subnet manager not tell one from the other? It is called in any context
 * @release: frees it
 *
 * All others may sleep.
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
 * struct sa_standing - something that the subnet manager is to know
 * @entry: in the port's standing ones, then in those that leave
 * @port: which port tells it; held
 * @client: on whose behalf
 * @ops: operations of its type
 * @work: tells
 * @leaves: it is over, and the answer is awaited by nobody
 * @answered: completed by the answer
 * @status: status of the answer
 * @told: status of which the owner has been told
 * @retry: seconds until the next attempt if this one fails
 * @lock: protects what follows; taken with the port's lock held, or without
 * @asked: a query has been on its way, of this one or of one that the manager cannot tell from it
 * @ending: sa_standing_end() has been called
 * @query: under way, or NULL
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

/* How long a query of a standing request may take, in milliseconds. */
#define SA_STANDING_TIMEOUT 3000

void sa_standing_begin(struct sa_standing *standing, struct ib_sa_client *client,
		       struct sa_port *port, const struct sa_standing_ops *ops);
void sa_standing_end(struct sa_standing *standing);
void sa_standing_answer(struct sa_standing *standing, int status);

#endif
