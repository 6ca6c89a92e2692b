// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Questions for datagram services that have not been answered.
 */
#include <linux/cleanup.h>
#include <linux/rhashtable.h>

#include "cm.h"

/* Questions that have not been answered, by where they came from. Looked up under RCU. */
static struct rhashtable questions;

static const struct rhashtable_params params = {
	.head_offset = offsetof(struct cm_id, sidr_node),
	.key_offset = offsetof(struct cm_id, sidr_key),
	.key_len = sizeof(struct cm_sidr_key),
	.automatic_shrinking = true,
};

/**
 * cm_sidr_begin() - make the table of questions
 *
 * Return: 0 or -ENOMEM.
 */
int cm_sidr_begin(void)
{
	static_assert(sizeof(struct cm_sidr_key) == sizeof(void *) + sizeof(union ib_gid) + 8);
	return rhashtable_init(&questions, &params);
}

/**
 * cm_sidr_end() - free the table
 */
void cm_sidr_end(void)
{
	rhashtable_destroy(&questions);
}

/**
 * cm_sidr_forget() - forget an id's question, which is answered or will not be
 * @id: any id, with its lock held, or that nobody else has
 */
void cm_sidr_forget(struct cm_id *id)
{
	if (!id->in_sidr)
		return;
	id->in_sidr = false;
	rhashtable_remove_fast(&questions, &id->sidr_node, params);
}

/**
 * cm_sidr_enter() - note an id's question
 * @id: id with a route to the peer that asks
 * @msg: the question
 * @wc: its datagram
 *
 * Return: 0; -EEXIST if it came before; -ENOMEM.
 */
int cm_sidr_enter(struct cm_id *id, const struct cm_msg *msg, const struct ib_mad_recv_wc *wc)
{
	struct cm_sidr_key *key = &id->sidr_key;
	int ret;

	key->device = id->device;
	key->request_id = msg->local_id;
	key->slid = wc->wc->slid;
	if (id->route->attr.ah_flags & IB_AH_GRH)
		key->sgid = id->route->attr.grh.dgid;
	ret = rhashtable_lookup_insert_fast(&questions, &id->sidr_node, params);
	id->in_sidr = !ret;
	return ret;
}
