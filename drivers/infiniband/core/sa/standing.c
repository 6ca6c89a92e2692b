// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Standing requests: what the subnet manager is to know until it is told otherwise.
 *
 * A work item tells it, waits for the answer, and runs again when the lease is half over, when the
 * manager may have changed or forgotten, and, at growing intervals, after a failure.
 */
#include <linux/cleanup.h>
#include <linux/jiffies.h>

#include "standing.h"

/* Seconds between attempts that fail, the first and the longest */
#define RETRY_FIRST 1
#define RETRY_MOST 64

#define NOT_YET 1

/* Asks and waits. Returns the status of the answer. */
static int ask(struct sa_standing *standing, bool on)
{
	struct ib_sa_query *query;
	bool ending;
	int id;

	reinit_completion(&standing->answered);
	id = standing->ops->ask(standing, on, &query);
	if (id < 0)
		return id;
	standing->asked = true;
	scoped_guard(spinlock_irqsave, &standing->lock) {
		standing->query = query;
		standing->query_id = id;
		ending = standing->ending;
	}
	/* If the request is being withdrawn, its end does not wait for this query. */
	if (on && ending)
		ib_sa_cancel_query(id, query);
	wait_for_completion(&standing->answered);
	scoped_guard(spinlock_irqsave, &standing->lock)
		standing->query = NULL;
	return standing->status;
}

/**
 * sa_standing_answer() - handle the answer to a request of sa_standing_ops.ask()
 * @standing: the request
 * @status: 0 or a negative errno
 */
void sa_standing_answer(struct sa_standing *standing, int status)
{
	standing->status = status;
	complete(&standing->answered);
}

/* A lease may have more seconds than fit in jiffies. */
static unsigned long delay(unsigned int seconds)
{
	return min_t(u64, (u64)seconds * HZ, MAX_JIFFY_OFFSET);
}

static void queue_now(struct sa_standing *standing)
{
	guard(spinlock_irqsave)(&standing->lock);
	if (!standing->ending)
		mod_delayed_work(system_unbound_wq, &standing->work, 0);
}

/* An event may have queued it while it ran, which counts more. */
static void queue_later(struct sa_standing *standing, unsigned int seconds)
{
	guard(spinlock_irqsave)(&standing->lock);
	if (!standing->ending)
		queue_delayed_work(system_unbound_wq, &standing->work, delay(seconds));
}

static void renew(struct work_struct *work)
{
	struct sa_standing *standing = container_of(work, struct sa_standing, work.work);
	int status = ask(standing, true);
	unsigned int seconds;

	if (READ_ONCE(standing->ending))
		return;
	if (status != standing->told) {
		standing->told = status;
		standing->ops->result(standing, status);
	}
	if (status) {
		seconds = standing->retry;
		standing->retry = min(2 * standing->retry, RETRY_MOST);
	} else {
		seconds = standing->ops->lease ? standing->ops->lease(standing) / 2 : 0;
		standing->retry = RETRY_FIRST;
	}
	if (seconds)
		queue_later(standing, seconds);
}

/**
 * sa_standing_begin() - tell the subnet manager, now and whenever needed
 * @standing: zeroed, with its operations
 * @client: registered user; held
 * @port: held by sa_port_get(), which sa_standing_end() undoes
 * @ops: operations of its type
 */
void sa_standing_begin(struct sa_standing *standing, struct ib_sa_client *client,
		       struct sa_port *port, const struct sa_standing_ops *ops)
{
	standing->client = client;
	standing->port = port;
	standing->ops = ops;
	standing->told = NOT_YET;
	standing->retry = RETRY_FIRST;
	spin_lock_init(&standing->lock);
	init_completion(&standing->answered);
	INIT_DELAYED_WORK(&standing->work, renew);
	scoped_guard(spinlock_irqsave, &port->lock)
		list_add_tail(&standing->entry, &port->standing);
	queue_now(standing);
}

/**
 * sa_standing_end() - tell the subnet manager that it is over
 * @standing: the request; not used any more on return
 *
 * Waits for the callback, and for the answer for no longer than a query takes. Context: may sleep;
 * not from the callback.
 */
void sa_standing_end(struct sa_standing *standing)
{
	struct sa_port *port = standing->port;
	struct ib_sa_query *query;
	int id;

	scoped_guard(spinlock_irqsave, &port->lock)
		list_del(&standing->entry);
	scoped_guard(spinlock_irqsave, &standing->lock) {
		standing->ending = true;
		query = standing->query;
		id = standing->query_id;
	}
	if (query)
		ib_sa_cancel_query(id, query);
	cancel_delayed_work_sync(&standing->work);
	/* The manager may know it even without having confirmed it, as answers can be lost. */
	if (standing->asked)
		ask(standing, false);
	sa_port_put(port);
}

/* The port's subnet manager is another one, or has forgotten. */
void sa_standing_renew_all(struct sa_port *port)
{
	struct sa_standing *standing;

	guard(spinlock_irqsave)(&port->lock);
	list_for_each_entry(standing, &port->standing, entry)
		queue_now(standing);
}
