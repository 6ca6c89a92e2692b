/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The multicast groups that QPs are attached to.
 */
#ifndef VHCAD_QP_MCG_H
#define VHCAD_QP_MCG_H

#include "qp/qp.h"

struct command;

#define VMCG_BUCKETS	1024u

/**
 * struct vmcg - a multicast group of a device
 * @next: in its bucket
 * @number: in the table
 * @mgid: GID,
 * @mlid: and LID that its packets are addressed to
 * @nqps: QPs attached
 * @qps: struct vmcg_qp
 * @paused: where delivery of the last datagram has stopped that was too much for one slice
 */
struct vmcg {
	struct vmcg *next;
	u32 number;
	u8 mgid[16];
	u16 mlid;
	u32 nqps;
	struct list_head qps;
	struct vmcg_qp *paused;
};

/**
 * struct vmcg_qp - a QP in a group
 * @in_group: on the group's list
 * @in_qp: on the QP's list
 * @group: group
 * @qp: QP
 * @number: ascending in the group, from 1
 */
struct vmcg_qp {
	struct list_head in_group;
	struct list_head in_qp;
	struct vmcg *group;
	struct vqp *qp;
	u64 number;
};

/**
 * struct vmcgs - a device's groups, found by GID and LID
 * @table: all of them, by number
 * @attached: struct vmcg_qp
 * @bucket: groups by hash
 * @last_number: the last number that a QP in a group was given
 * @seed: of the hash
 */
struct vmcgs {
	struct table table;
	u32 attached;
	struct vmcg *bucket[VMCG_BUCKETS];
	u64 last_number;
	u64 seed[2];
};

/** mcg_init() - start a device's groups, without any; 0 or -ENOMEM */
int mcg_init(struct vhca_dev *dev);
/** mcg_fini() - free what mcg_init() has made; there are no groups */
void mcg_fini(struct vhca_dev *dev);
/** mcg_detach() - detach a QP from up to @most groups; returns what is left of @most */
u32 mcg_detach(struct vqp *qp, u32 most);
/** mcg_rx() - give a multicast that has arrived to the QPs of its group */
void mcg_rx(struct vport *p, struct datagram *d);

enum vhca_status cmd_attach_mcg(struct command *c);
enum vhca_status cmd_detach_mcg(struct command *c);

#endif /* VHCAD_QP_MCG_H */
