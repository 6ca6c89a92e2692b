// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Standing requests: what the subnet manager is to know until it is told otherwise.
 *
 * A work item tells it, waits for the answer, and runs again when the lease is half over, when the
 * manager may have changed or forgotten, and, at growing intervals, after a failure.
 *
 * The manager knows one of equal requests, so the last of them ends it. Nobody waits for the answer
 * to that, since there may be no manager, and many requests end with a device. But until it has
 * come the request is among those that leave, and an equal one waits for its turn, lest the manager
 * gets the end after the new beginning.
 */
#include <linux/cleanup.h>
#include <linux/jiffies.h>
#include <rdma/rdma_compat.h>

#include "standing.h"

/* Seconds between attempts that fail, the first and the longest */
#define RETRY_FIRST 1
#define RETRY_MOST 64

#define NOT_YET 1

/* Asks and waits. Returns the status of the answer. */
static int ask(struct sa_standing *standing)
{
	struct ib_sa_query *query;
	bool ending;
	int id;

	reinit_completion(&standing->answered);
	id = standing->ops->ask(standing, true, &query);
	if (id < 0)
		return id;
	scoped_guard(spinlock_irqsave, &standing->lock) {
		standing->asked = true;
		standing->query = query;
		standing->query_id = id;
		ending = standing->ending;
	}
	/* If the request is being withdrawn, its end does not wait for this query. */
	if (ending)
		ib_sa_cancel_query(id, query);
	wait_for_completion(&standing->answered);
	scoped_guard(spinlock_irqsave, &standing->lock)
		standing->query = NULL;
	return standing->status;
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

/* The one of a list that the subnet manager cannot tell from a request, or NULL */
static struct sa_standing *find_same(struct list_head *list, const struct sa_standing *standing)
{
	struct sa_standing *other;

	lockdep_assert_held(&standing->port->lock);
	list_for_each_entry(other, list, entry)
		if (other->ops == standing->ops && standing->ops->same(standing, other))
			return other;
	return NULL;
}

/* If so, the end of that one queues this one again. */
static bool must_wait(const struct sa_standing *standing)
{
	guard(spinlock_irqsave)(&standing->port->lock);
	return find_same(&standing->port->leaving, standing);
}

static void renew(struct work_struct *work)
{
	struct sa_standing *standing = container_of(work, struct sa_standing, work.work);
	unsigned int seconds;
	int status;

	if (must_wait(standing))
		return;
	status = ask(standing);
	if (READ_ONCE(standing->ending))
		return;
	if (status != standing->told || (!status && standing->ops->every)) {
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

/* The subnet manager has been told of the end, or cannot be. */
static void gone(struct sa_standing *standing)
{
	struct sa_port *port = standing->port;
	struct sa_standing *other;

	scoped_guard(spinlock_irqsave, &port->lock) {
		list_del(&standing->entry);
		list_for_each_entry(other, &port->standing, entry)
			if (other->ops == standing->ops && standing->ops->same(standing, other))
				queue_now(other);
	}
	standing->ops->release(standing);
	sa_port_put(port);
}

/**
 * sa_standing_answer() - handle the answer to a request of sa_standing_ops.ask()
 * @standing: the request, which may be gone afterwards
 * @status: 0 or a negative errno
 */
void sa_standing_answer(struct sa_standing *standing, int status)
{
	if (standing->leaves) {
		gone(standing);
		return;
	}
	standing->status = status;
	complete(&standing->answered);
}

/*
 * The manager may know it even without having confirmed it, as answers can be lost. Then it is
 * told, unless there is another one of the kind, whose end will tell. Returns whether it is told.
 */
static bool leave(struct sa_standing *standing)
{
	struct sa_port *port = standing->port;
	struct sa_standing *other;

	guard(spinlock_irqsave)(&port->lock);
	if (!standing->asked)
		return false;
	other = find_same(&port->standing, standing);
	if (other) {
		guard(spinlock)(&other->lock);
		other->asked = true;
		return false;
	}
	standing->leaves = true;
	list_add_tail(&standing->entry, &port->leaving);
	return true;
}

/**
 * sa_standing_end() - tell the subnet manager that it is over
 * @standing: the request; released, now or when the answer has come
 *
 * Waits for the callback, not for the answer. Context: may sleep; not from the callback.
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
	if (!leave(standing)) {
		standing->ops->release(standing);
		sa_port_put(port);
	} else if (standing->ops->ask(standing, false, &query) < 0) {
		gone(standing);
	}
}

/* The port's subnet manager is another one, or has forgotten. */
void sa_standing_renew_all(struct sa_port *port)
{
	struct sa_standing *standing;

	guard(spinlock_irqsave)(&port->lock);
	list_for_each_entry(standing, &port->standing, entry)
		queue_now(standing);
}
