// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Counters of ports.
 */
#include <endian.h>

#include "res/command.h"

void vport_stats(const struct vport *p, struct vport_stats *s)
{
	*s = p->count;
	s->tx_packets = p->fab.ib.tx_packets;
	s->tx_bytes = p->fab.ib.tx_bytes;
	s->rx_packets = p->fab.ib.rx_packets;
	s->rx_bytes = p->fab.ib.rx_bytes;
	s->tx_mcast_packets = p->fab.ib.tx_mcast;
	s->rx_mcast_packets = p->fab.ib.rx_mcast;
	s->tx_discards = p->fab.ib.discards;
}

void stats_subtract(struct vport_stats *from, const struct vport_stats *s)
{
	u64 *a = (u64 *)from;
	const u64 *b = (const u64 *)s;

	for (u32 i = 0; i < sizeof(*s) / sizeof(u64); i++)
		a[i] -= b[i];
}

enum vhca_status command_counters(struct command *c, const struct vport_stats *s)
{
	const struct vhca_port_counters a = {
		.tx_packets = htole64(s->tx_packets),
		.tx_bytes = htole64(s->tx_bytes),
		.rx_packets = htole64(s->rx_packets),
		.rx_bytes = htole64(s->rx_bytes),
		.tx_mcast_packets = htole64(s->tx_mcast_packets),
		.rx_mcast_packets = htole64(s->rx_mcast_packets),
		.tx_discards = htole64(s->tx_discards),
		.rx_no_qp = htole64(s->rx_no_qp),
		.rx_no_receive = htole64(s->rx_no_receive),
		.rx_uc_gaps = htole64(s->rx_uc_gaps),
		.qkey_violations = htole64(s->qkey_violations),
		.pkey_violations = htole64(s->pkey_violations),
		.rnr_naks_sent = htole64(s->rnr_naks_sent),
		.rnr_naks_received = htole64(s->rnr_naks_received),
		.seq_naks_sent = htole64(s->seq_naks_sent),
		.seq_naks_received = htole64(s->seq_naks_received),
		.error_naks_sent = htole64(s->error_naks_sent),
		.error_naks_received = htole64(s->error_naks_received),
		.duplicates = htole64(s->duplicates),
		.timeouts = htole64(s->timeouts),
	};

	return command_output(c, &a, sizeof(a));
}
