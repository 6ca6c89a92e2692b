// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The table of the QPs and XRC SRQs that complete in a CQ, by number.  It
 * belongs to the CQ, so that a poll, which holds the CQ's lock anyway, finds
 * QPs that are not freed meanwhile.  The CQ's memory stays as long as one of them.
 */
#include <errno.h>
#include <stdlib.h>

#include "cq.h"
#include "pd.h"

#define LOG_USERS_MIN	4

/**
 * vhca_cq_users_init() - make an empty table
 * @cq: CQ that only the caller knows
 *
 * Return: 0 or ENOMEM.
 */
int vhca_cq_users_init(struct vhca_cq *cq)
{
	cq->log_users = LOG_USERS_MIN;
	cq->users = calloc(ring_size(cq->log_users), sizeof(*cq->users));
	return cq->users ? 0 : ENOMEM;
}

/**
 * vhca_cq_users_exit() - free the table
 * @cq: CQ in which no queue completes any more
 */
void vhca_cq_users_exit(struct vhca_cq *cq)
{
	free(cq->users);
}

/**
 * vhca_cq_get() - take a reference to a CQ's memory
 * @cq: CQ
 */
void vhca_cq_get(struct vhca_cq *cq)
{
	atomic_fetch_add_explicit(&cq->refs, 1, memory_order_relaxed);
}

/**
 * vhca_cq_put() - drop a reference to a CQ's memory
 * @cq: CQ, which the last reference frees
 */
void vhca_cq_put(struct vhca_cq *cq)
{
	if (atomic_fetch_sub_explicit(&cq->refs, 1, memory_order_acq_rel) != 1)
		return;
	vhca_buf_free(&cq->buf);
	if (cq->pd)
		vhca_pd_put(cq->pd);
	vhca_lock_destroy(&cq->lock);
	vhca_lock_destroy(&cq->arm_lock);
	vhca_cq_users_exit(cq);
	free(cq);
}

static struct vhca_cq_user **user_chain(struct vhca_cq *cq, uint32_t key)
{
	/* The high bits of a number are its slot's generation. */
	return &cq->users[vhca_ring_slot(key, cq->log_users)];
}

/* Doubles the table when it is full.  Without memory the chains just grow. */
static void grow_users(struct vhca_cq *cq)
{
	struct vhca_cq_user **old = cq->users, *user, *next;
	uint64_t i, old_len = ring_size(cq->log_users);
	struct vhca_cq_user **users;

	if (cq->num_users < old_len)
		return;
	users = calloc(2 * old_len, sizeof(*users));
	if (!users)
		return;
	cq->users = users;
	cq->log_users++;
	for (i = 0; i < old_len; i++) {
		for (user = old[i]; user; user = next) {
			struct vhca_cq_user **chain = user_chain(cq, user->key);

			next = user->next;
			user->next = *chain;
			*chain = user;
		}
	}
	free(old);
}

/* Called with the CQ's lock held. */
struct vhca_cq_user *vhca_cq_find_user(struct vhca_cq *cq, uint32_t key)
{
	struct vhca_cq_user *user = cq->last_user;

	if (user && user->key == key)
		return user;
	for (user = *user_chain(cq, key); user; user = user->next)
		if (user->key == key)
			break;
	if (user)
		cq->last_user = user;
	return user;
}

/* Called with the CQ's lock held; does nothing if a later queue has taken the entry's place. */
static void unlink_user(struct vhca_cq *cq, struct vhca_cq_user *user)
{
	struct vhca_cq_user **link;

	if (cq->last_user == user)
		cq->last_user = NULL;
	for (link = user_chain(cq, user->key); *link; link = &(*link)->next) {
		if (*link == user) {
			*link = user->next;
			cq->num_users--;
			break;
		}
	}
}

/*
 * Drops the entries of a QP or an XRC SRQ that were not polled; called with the CQ's lock held.
 * The other entries move towards the device's end; each place keeps its owner byte, which belongs
 * to the place and not to the completion.
 */
static void drop_completions(struct vhca_cq *cq, uint32_t key)
{
	uint64_t end, from, to;
	uint8_t owner;

	for (end = cq->cons; end < cq->cons + ring_size(cq->log); end++)
		if (!vhca_cqe_fresh(cq, end))
			break;

	for (from = end, to = end; from-- > cq->cons;) {
		if (vhca_cqe_key(vhca_cqe_at(cq, from)) == key)
			continue;
		if (--to == from)
			continue;
		owner = vhca_cqe_at(cq, to)->owner;
		*vhca_cqe_at(cq, to) = *vhca_cqe_at(cq, from);
		vhca_cqe_at(cq, to)->owner = owner;
	}
	if (to != cq->cons) {
		cq->cons = to;
		db_store(&cq->db, 0, cq->cons);
	}
}

/**
 * vhca_cq_add_user() - enter a QP or an XRC SRQ in a CQ's table
 * @cq: CQ; stays until the entry has been removed
 * @user: entry with its owner and number set
 *
 * If there is already an entry with this number, the kernel has destroyed its queue, and the
 * destroying thread has not removed the entry yet.  The new one takes its place, and entries of the
 * old one that were not polled are dropped now, as later they could not be told from the new one's.
 */
void vhca_cq_add_user(struct vhca_cq *cq, struct vhca_cq_user *user)
{
	struct vhca_cq_user **chain, *old;

	vhca_cq_get(cq);
	vhca_lock(&cq->lock);
	old = vhca_cq_find_user(cq, user->key);
	if (old) {
		drop_completions(cq, old->key);
		unlink_user(cq, old);
	}
	grow_users(cq);
	chain = user_chain(cq, user->key);
	user->next = *chain;
	*chain = user;
	cq->num_users++;
	vhca_unlock(&cq->lock);
}

/**
 * vhca_cq_remove_user() - remove an entry from a CQ's table
 * @cq: CQ; may be freed by this
 * @user: entry that was added
 */
void vhca_cq_remove_user(struct vhca_cq *cq, struct vhca_cq_user *user)
{
	vhca_lock(&cq->lock);
	unlink_user(cq, user);
	vhca_unlock(&cq->lock);
	vhca_cq_put(cq);
}

/**
 * vhca_cq_purge() - drop completions of a QP or an XRC SRQ that were not polled
 * @cq: CQ
 * @user: its entry; it gets no completions any more
 *
 * Does nothing if another queue has got its number: completions with it belong to that one.
 */
void vhca_cq_purge(struct vhca_cq *cq, struct vhca_cq_user *user)
{
	vhca_lock(&cq->lock);
	if (vhca_cq_find_user(cq, user->key) == user)
		drop_completions(cq, user->key);
	vhca_unlock(&cq->lock);
}
