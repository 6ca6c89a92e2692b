// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The QPs of one CQ, by number. */
#include <errno.h>
#include <stdlib.h>

#include "qpset.h"

#define FIRST_LOG_SIZE	3

static uint32_t mask_of(const struct vhca_qpset *set)
{
	return (1U << set->log_size) - 1;
}

/* Numbers of neighbours differ in their low bits; the multiplication spreads them. */
static uint32_t home_of(const struct vhca_qpset *set, uint32_t qpn)
{
	return (qpn * 0x9e3779b1U) >> (32 - set->log_size);
}

/* The slot that holds @qpn, or the free one where it belongs. */
static struct vhca_qpset_slot *probe(const struct vhca_qpset *set, uint32_t qpn)
{
	uint32_t i = home_of(set, qpn);

	while (set->slot[i].qp && set->slot[i].qpn != qpn)
		i = (i + 1) & mask_of(set);
	return &set->slot[i];
}

/**
 * vhca_qpset_reserve - make sure that the next insertion finds room
 * @set: the set
 * Return: 0 or ENOMEM, the set unchanged.
 */
int vhca_qpset_reserve(struct vhca_qpset *set)
{
	struct vhca_qpset grown = { .log_size = FIRST_LOG_SIZE };
	uint32_t i;

	if (set->slot && (set->used + 1) * 2 <= mask_of(set) + 1)
		return 0;
	if (set->slot)
		grown.log_size = set->log_size + 1;
	grown.slot = calloc(1U << grown.log_size, sizeof(*grown.slot));
	if (!grown.slot)
		return ENOMEM;
	if (set->slot)
		for (i = 0; i <= mask_of(set); i++)
			if (set->slot[i].qp)
				vhca_qpset_insert(&grown, set->slot[i].qpn, set->slot[i].qp);
	free(set->slot);
	*set = grown;
	return 0;
}

/* Insert @qp, which is not in the set, after vhca_qpset_reserve(). */
void vhca_qpset_insert(struct vhca_qpset *set, uint32_t qpn, struct vhca_qp *qp)
{
	*probe(set, qpn) = (struct vhca_qpset_slot){ .qpn = qpn, .qp = qp };
	set->used++;
}

/* Remove @qpn if it is there; what probed past its slot moves up. */
void vhca_qpset_remove(struct vhca_qpset *set, uint32_t qpn)
{
	struct vhca_qpset_slot *gap;
	uint32_t i, hole;

	if (!set->slot)
		return;
	gap = probe(set, qpn);
	if (!gap->qp)
		return;
	gap->qp = NULL;
	set->used--;
	hole = gap - set->slot;
	for (i = (hole + 1) & mask_of(set); set->slot[i].qp; i = (i + 1) & mask_of(set)) {
		uint32_t home = home_of(set, set->slot[i].qpn);

		/* still reachable from its home without crossing the hole? */
		if (((i - home) & mask_of(set)) < ((i - hole) & mask_of(set)))
			continue;
		set->slot[hole] = set->slot[i];
		set->slot[i].qp = NULL;
		hole = i;
	}
}

/* The QP of number @qpn, or NULL. */
struct vhca_qp *vhca_qpset_find(const struct vhca_qpset *set, uint32_t qpn)
{
	return set->slot ? probe(set, qpn)->qp : NULL;
}

void vhca_qpset_free(struct vhca_qpset *set)
{
	free(set->slot);
	set->slot = NULL;
}
