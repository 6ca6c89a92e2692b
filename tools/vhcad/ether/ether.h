/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * An Ethernet segment for the guests' ordinary network adapters.  It is a switch whose ports are
 * connections of QEMU's "-netdev stream", in which each frame follows its length of four bytes.
 *
 * The segment has its own thread.  Clients are not trusted: an invalid length ends the connection,
 * and a client that does not read loses only its own frames, and uses up no memory.
 */
#ifndef VHCAD_ETHER_H
#define VHCAD_ETHER_H

#include "lib/types.h"

struct capture;
struct ether;

#define ETHER_PORTS	64u
#define ETHER_LEAST	14u			/* bytes of the shortest frame */
#define ETHER_MOST	(65536u + 18u)		/* bytes of the longest frame */
#define ETHER_QUEUE	(256u << 10)		/* bytes queued for a client */
#define ETHER_GIVEN	(1u << 20)		/* bytes of ether_send() queued for the thread */

/**
 * struct ether_port - state of a port, and what it has counted since its client connected
 * @attached: a client is connected
 * @rx_frames, @rx_bytes: received from the client
 * @tx_frames, @tx_bytes: sent to the client, or queued for it
 * @dropped: frames lost because the client's queue was full or broken
 * @bad: frames received whose source address is a group's or another port's
 * @stations: addresses learnt at the port
 */
struct ether_port {
	bool attached;
	u64 rx_frames, rx_bytes;
	u64 tx_frames, tx_bytes;
	u64 dropped;
	u64 bad;
	u32 stations;
};

/**
 * ether_new() - listen for connections
 * @path: path of the socket; must outlive the segment
 * @c: capture that records every frame, or NULL
 * @out: receives the segment
 *
 * Returns 0 or -errno as unix_listen().
 */
int ether_new(const char *path, struct capture *c, struct ether **out);

/**
 * ether_set_tap() - have a function called with each frame of the clients
 * @e: segment that has not been started
 * @tap: called by the segment's thread with each good frame; if it returns true, the frame goes to
 *	no other client.  It must not call functions of the segment
 * @arg: first argument of @tap
 */
void ether_set_tap(struct ether *e, bool (*tap)(void *arg, const u8 *frame, u32 len), void *arg);

/**
 * ether_send() - send a frame to the client, or the clients, of its destination address
 * @e: segment
 * @frame: ETHER_LEAST to ETHER_MOST bytes
 * @len: its bytes
 *
 * The frame is not recorded, and goes neither to the tap nor to the client that has its source
 * address.  May be called from any thread, and does not wait for clients.
 * Returns false if the frame was lost because the queue is full.
 */
bool ether_send(struct ether *e, const u8 *frame, u32 len);

/** ether_start() - start the thread; returns 0 or -errno */
int ether_start(struct ether *e);

/** ether_free() - stop the thread, remove the socket, free the segment, which may be NULL */
void ether_free(struct ether *e);

/** ether_status() - state of all ports; may be called from any thread */
void ether_status(struct ether *e, struct ether_port port[ETHER_PORTS]);

#endif /* VHCAD_ETHER_H */
