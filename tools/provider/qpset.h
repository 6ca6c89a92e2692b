/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The QPs of one CQ, by number: completions name their QP.  The CQ's lock
 * covers the set, so a QP found stays while the lock is held.
 */
#ifndef VHCA_QPSET_H
#define VHCA_QPSET_H

#include <stdint.h>

struct vhca_qp;

struct vhca_qpset_slot {
	uint32_t qpn;
	struct vhca_qp *qp;	/* NULL: free */
};

/**
 * struct vhca_qpset - open hash with linear probing, at most half full
 * @slot: 1 << @log_size slots, NULL while nothing was ever inserted
 * @log_size: log2 of the slots
 * @used: QPs in the set
 */
struct vhca_qpset {
	struct vhca_qpset_slot *slot;
	unsigned int log_size;
	uint32_t used;
};

int vhca_qpset_reserve(struct vhca_qpset *set);
void vhca_qpset_insert(struct vhca_qpset *set, uint32_t qpn, struct vhca_qp *qp);
void vhca_qpset_remove(struct vhca_qpset *set, uint32_t qpn);
struct vhca_qp *vhca_qpset_find(const struct vhca_qpset *set, uint32_t qpn);
void vhca_qpset_free(struct vhca_qpset *set);

#endif /* VHCA_QPSET_H */
