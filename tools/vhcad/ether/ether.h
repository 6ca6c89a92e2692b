/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * An Ethernet segment for the guests' ordinary adapters: a switch whose ports are connections
 * of QEMU's "-netdev stream", which sends each frame behind its length in four bytes.
 *
 * A thread of its own serves it.  Whoever connects is not trusted: a length that no frame has
 * ends the connection, and who does not read loses frames, nobody else's and no memory.
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

/**
 * struct ether_port - what a port has counted since it was connected
 * @attached: somebody is there
 * @rx_frames, @rx_bytes: from there
 * @tx_frames, @tx_bytes: on their way there
 * @dropped: frames to there that its reader had no room for
 * @bad: frames from there that nobody can have sent
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
 * ether_new - listen for connections
 * @path: of the socket; must outlive the segment
 * @c: records every frame, or NULL
 * @out: receives the segment
 *
 * Returns 0 or -errno as unix_listen().
 */
int ether_new(const char *path, struct capture *c, struct ether **out);

/** ether_start - serve them on a thread of its own; 0 or -errno */
int ether_start(struct ether *e);

/** ether_free - stop serving, remove the socket, free; NULL is fine */
void ether_free(struct ether *e);

/** ether_status - all ports as they are.  Any thread. */
void ether_status(struct ether *e, struct ether_port port[ETHER_PORTS]);

#endif /* VHCAD_ETHER_H */
