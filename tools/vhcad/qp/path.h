/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Paths of QPs: address vectors, the path of a connected QP, and its migration.
 */
#ifndef VHCAD_QP_PATH_H
#define VHCAD_QP_PATH_H

#include "qp/qp.h"

/* av.c */
#define AV_GOOD	UINT32_MAX

/* The kind of sender, which decides whether a destination may be no unicast LID. */
enum av_user {
	AV_CONNECTED,
	AV_DATAGRAM,		/* multicasts as well */
	AV_SMP,			/* the permissive LID as well; no GRH */
};

/**
 * av_check() - may a QP of this port send there?
 * @av: address vector
 * @p: the QP's port
 * @user: the kind of sender
 *
 * Return: AV_GOOD, or the offset of the field that is wrong.
 */
u32 av_check(const struct vhca_av *av, const struct vport *p, enum av_user user);
/** av_path() - fill in the fields of @h that follow from an address vector; the others are kept */
void av_path(const struct vhca_av *av, const struct vport *p, struct wire_path *h);

/* migrate.c */
/** qp_set_path() - compute the headers from the attributes, and from the addresses of the port */
void qp_set_path(struct vqp *qp);
/**
 * qp_follow_port() - update the path if the port's LID, P_Keys or GIDs have changed
 *
 * Called before the path is used; so a change need not look for the QPs that it affects.
 */
static inline void qp_follow_port(struct vqp *qp)
{
	if (qp->state >= QPS_RTR && qp->state != QPS_ERR && qp->changes != qp->port->changes)
		qp_set_path(qp);
}

/**
 * qp_migrate() - make the alternate path the path
 * @qp: MIG_ARMED; it has no alternate path afterwards
 */
void qp_migrate(struct vqp *qp);
/**
 * qp_follow_peer() - packets came along another path than the QP's
 * @qp: receiver
 * @p: port where they arrived
 * @h: headers
 *
 * If the peer has migrated to the alternate path, so does the QP.
 *
 * Return: false if the packets are not for it.
 */
bool qp_follow_peer(struct vqp *qp, const struct vport *p, const struct wire_hdr *h);

#endif /* VHCAD_QP_PATH_H */
