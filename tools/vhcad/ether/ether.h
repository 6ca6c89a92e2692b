/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * An Ethernet segment for the guests' ordinary adapters: a switch whose ports are connections
 * of QEMU's "-netdev stream", which sends each frame behind its length in four bytes.
 *
 * A thread of its own serves it.  Clients are not trusted: a length that no frame can have ends the
 * connection, and a client that does not read loses frames, but only its own, and takes no memory.
 */
#ifndef VHCAD_ETHER_H
#define VHCAD_ETHER_H

#include "lib/types.h"

struct capture;
struct ether;

#define ETHER_PORTS	64u
#define ETHER_LEAST	14u			/* bytes of a frame */
#define ETHER_MOST	(65536u + 18u)
#define ETHER_QUEUE	(256u << 10)		/* bytes that wait for a reader */
#define ETHER_GIVEN	(1u << 20)		/* bytes of ether_send() that wait for the thread */

/**
 * struct ether_port - what a port has counted since it was connected
 * @attached: somebody is there
 * @rx_frames, @rx_bytes: from there
 * @tx_frames, @tx_bytes: on their way there
 * @dropped: frames that were lost because there was no room for them
 * @bad: frames from there whose source address is a group's or another port's
 * @stations: addresses that were heard there last
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
 * @path: of the socket; must outlive the segment
 * @c: records every frame, or NULL
 * @out: receives the segment
 *
 * Returns 0 or -errno as unix_listen().
 */
int ether_new(const char *path, struct capture *c, struct ether **out);

/**
 * ether_set_tap() - let somebody take frames of clients
 * @e: segment that has not been started
 * @tap: called by the segment's thread with each good frame; true: no other client gets it.  Must
 *	not call back
 * @arg: given to @tap
 */
void ether_set_tap(struct ether *e, bool (*tap)(void *arg, const u8 *frame, u32 len), void *arg);

/**
 * ether_send() - send a frame to the clients that its destination says
 * @e: segment
 * @frame: ETHER_LEAST to ETHER_MOST bytes
 * @len: its bytes
 *
 * The tap does not see it, nor does the client whose address it comes from; it is not recorded
 * either.  Any thread, which is never made to wait for clients.
 * Returns false if it was lost, as too many wait.
 */
bool ether_send(struct ether *e, const u8 *frame, u32 len);

/** ether_start() - serve them on a thread of its own; 0 or -errno */
int ether_start(struct ether *e);

/** ether_free() - stop serving, remove the socket, free; NULL is fine */
void ether_free(struct ether *e);

/** ether_status() - all ports as they are.  Any thread. */
void ether_status(struct ether *e, struct ether_port port[ETHER_PORTS]);

#endif /* VHCAD_ETHER_H */
