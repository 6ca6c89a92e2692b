// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Standing requests: requests that are repeated as needed until they are withdrawn, such as the
 * registration of a service or a subscription.
 *
 * A work item sends the request and waits for the answer. It runs again when half of the lease is
 * over, when the manager has changed or may have lost its state, and, at growing intervals, after a
 * failure.
 *
 * The manager has only one record of equal requests, so only the last of them to be withdrawn sends
 * the end. Its answer is not waited for, since there may be no manager, and many requests may end
 * with a device. But until it has come, the request is in the port's list of leaving ones, and an
 * equal new request is not sent, so that the manager cannot get it before the end of the old one.
 */
#include <linux/cleanup.h>
#include <linux/jiffies.h>
#include <rdma/rdma_compat.h>

#include "standing.h"

/* First and longest delay between attempts, in seconds */
#define RETRY_FIRST 1
#define RETRY_MOST 64

#define NOT_YET 1

/* Sends the request and waits for the answer. Returns its status. */
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
	/*
	 * sa_standing_end() may have found no query to cancel. It must not wait until this one
	 * times out.
	 */
	if (ending)
		ib_sa_cancel_query(id, query);
	wait_for_completion(&standing->answered);
	scoped_guard(spinlock_irqsave, &standing->lock)
		standing->query = NULL;
	return standing->status;
}

/* A lease may be longer than the largest delay in jiffies. */
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

/* If an event has queued the work while it ran, that earlier run is kept. */
static void queue_later(struct sa_standing *standing, unsigned int seconds)
{
	guard(spinlock_irqsave)(&standing->lock);
	if (!standing->ending)
		queue_delayed_work(system_unbound_wq, &standing->work, delay(seconds));
}

/* A request in @list that the subnet manager cannot tell from @standing, or NULL */
static struct sa_standing *find_same(struct list_head *list, const struct sa_standing *standing)
{
	struct sa_standing *other;

	lockdep_assert_held(&standing->port->lock);
	list_for_each_entry(other, list, entry)
		if (other->ops == standing->ops && standing->ops->same(standing, other))
			return other;
	return NULL;
}

/*
 * Is the end of an equal request still unanswered? When it is answered, gone() queues this one
 * again.
 */
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
 * sa_standing_begin() - begin to send a request, now and whenever needed
 * @standing: zeroed, with its operations
 * @client: SA client, which must stay registered until the request has been released
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

/* Releases a request whose end has been answered, or could not be sent. */
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
 * sa_standing_answer() - handle the answer to the query of sa_standing_ops.ask()
 * @standing: the request, which may have been freed on return
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
 * The manager may have the record even if no answer came, as answers can be lost. Then its end is
 * sent, unless there is an equal request, which takes over the duty to send it. Returns true if the
 * end is to be sent.
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
 * sa_standing_end() - withdraw a standing request
 * @standing: the request; released at once, or when its end has been answered
 *
 * Waits for a running callback, but not for the answer to the end. Context: may sleep; not from the
 * callback.
 */
void sa_standing_end(struct sa_standing *standing)
{
	struct sa_port *port = standing->port;
	struct ib_sa_query *query;
	int id;

	scoped_guard(spinlock_irqsave, &port->lock)
		list_del(&standing->entry);
	scoped_guard(spinlock_irqsave, &standing->lock) {
		WRITE_ONCE(standing->ending, true);
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

/* The port's subnet manager has changed, or may have lost its state: sends all requests again. */
void sa_standing_renew_all(struct sa_port *port)
{
	struct sa_standing *standing;

	guard(spinlock_irqsave)(&port->lock);
	list_for_each_entry(standing, &port->standing, entry)
		queue_now(standing);
}
