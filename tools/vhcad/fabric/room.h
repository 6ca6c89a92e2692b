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

/* The ports that hear a multicast LID. */
struct fab_group {
	u32 n, room;
	struct fab_member {
		struct fab_port *port;
		u32 joins;
	} member[];
};

/* What loss.c knows. */
struct fab_loss {
	u32 permille;
	u64 seed;
	u64 packets;			/* that were judged */
};

/* The tables are mostly zeros that nobody ever touches. */
struct fabric {
	enum fabric_subnet subnet;
	struct capture *capture;
	u64 cap_time;			/* stamp of the next packet, at the earliest */
	struct fab_port **ports;	/* in the order they were plugged; holes are NULL */
	u32 nports;
	struct fab_port *route[LID_LAST + 1];
	struct fab_group *group[MLID_LAST - MLID_FIRST + 1];
	u32 *wide;			/* groups of so many ports, up to nports */
	u32 widest;			/* most ports of a group */
	u64 now;
	fab_judge judge;
	void *judge_arg;
	struct fab_loss loss;
	struct fab_packet *pool;
	struct link free;
	u32 nfree;
	u32 nqueued;
};

/* Do packets travel singly, through the queues? */
static inline bool fab_queues(const struct fabric *f)
{
	return f->judge || f->nqueued;
}

/* fabric.c: packets that nobody can get */
void fab_discard(struct fab_port *port, const struct run *run);

/* mcast.c */
void fab_forward_mcast(struct fab_port *from, const struct run *run, u64 bytes);

/* queue.c */
void fab_queue_run(struct fab_port *from, struct fab_port *to, const struct run *run);
void fab_queue_drop(struct fab_port *port);

#endif /* VHCAD_FABRIC_ROOM_H */
