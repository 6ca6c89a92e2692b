/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Counters of ports and QPs.
 */
#ifndef VHCAD_RES_STATS_H
#define VHCAD_RES_STATS_H

#include "drivers/infiniband/hw/vhca/defs/vhca_hw.h"
#include "lib/types.h"

struct command;
struct vport;

/**
 * struct vport_stats - counters of a port since its device was made
 *
 * The members of struct vhca_port_counters, which says what each of them is.
 */
struct vport_stats {
	u64 tx_packets, tx_bytes;
	u64 rx_packets, rx_bytes;
	u64 tx_mcast_packets, rx_mcast_packets;
	u64 tx_discards;
	u64 rx_no_qp;
	u64 rx_no_receive;
	u64 rx_uc_gaps;
	u64 qkey_violations, pkey_violations;
	u64 rnr_naks_sent, rnr_naks_received;
	u64 seq_naks_sent, seq_naks_received;
	u64 error_naks_sent, error_naks_received;
	u64 duplicates;
	u64 timeouts;
};

/**
 * struct vqp_stats - counters of a QP since it was made
 * @tx_packets, @rx_packets: retransmitted ones included
 * @tx_bytes, @rx_bytes: of payload
 * @tx_msgs, @rx_msgs: messages that were sent, or have arrived, completely
 * @errors: completions that failed, flushed ones not counted
 */
struct vqp_stats {
	u64 tx_packets, tx_bytes, tx_msgs;
	u64 rx_packets, rx_bytes, rx_msgs;
	u64 errors;
};

/** vport_stats() - read all counters of a port */
void vport_stats(const struct vport *p, struct vport_stats *s);

/** stats_subtract() - subtract @s from @from */
void stats_subtract(struct vport_stats *from, const struct vport_stats *s);

/** command_counters() - write counters as a command's output */
enum vhca_status command_counters(struct command *c, const struct vport_stats *s);

#endif /* VHCAD_RES_STATS_H */
