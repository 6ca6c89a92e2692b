/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the files of fabric/ share among themselves.
 */
#ifndef VHCAD_FABRIC_ROOM_H
#define VHCAD_FABRIC_ROOM_H

#include "fabric/port.h"

/* Packets that can be under way at a time, once anything queues them. */
#define FABRIC_PACKETS	2048u

/* A packet under way. */
struct fab_packet {
	struct link link;
	u64 due;
	u32 len;
	u8 bytes[WIRE_MAX_PKT];
};

struct fabric {
	enum fabric_subnet subnet;
	struct capture *capture;
	u64 cap_time;			/* stamp of the next packet, at the earliest */
	struct fab_port **ports;	/* port with LID n at n - 1; holes are NULL */
	u32 nports;
	u64 now;
	fab_judge judge;
	void *judge_arg;
	struct fab_packet *pool;
	struct link free;
	u32 nfree;
	u32 nqueued;
};

/* queue.c */
void fab_queue_run(struct fab_port *from, struct fab_port *to, struct run *run);
void fab_queue_drop(struct fab_port *port);

#endif /* VHCAD_FABRIC_ROOM_H */
