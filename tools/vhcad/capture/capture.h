/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Capture files: pcapng with an interface for each port, and timestamps in nanoseconds.  All
 * functions may be called from any thread.
 */
#ifndef VHCAD_CAPTURE_H
#define VHCAD_CAPTURE_H

#include "lib/types.h"

struct capture;

/**
 * capture_open() - start a capture file
 * @path: file, created or truncated
 *
 * Returns NULL with errno set on failure.
 */
struct capture *capture_open(const char *path);

/**
 * capture_close() - write out buffered packets and close the file
 * @c: capture, or NULL
 *
 * Returns 0, or the -errno of the first write that failed.
 */
int capture_close(struct capture *c);

/**
 * capture_flush() - write out buffered packets
 * @c: capture
 */
void capture_flush(struct capture *c);

/**
 * capture_add_ib_port() - add an interface for InfiniBand packets
 * @c: capture
 * @name: interface name, such as "hca0:1"
 *
 * Returns its number, or -errno.
 */
int capture_add_ib_port(struct capture *c, const char *name);

/**
 * capture_ib_packet() - record a packet
 * @c: capture
 * @port: interface number
 * @time_ns: nanoseconds since 1970
 * @pkt: the packet, from LRH to VCRC
 * @len: bytes
 */
void capture_ib_packet(struct capture *c, int port, u64 time_ns, const u8 *pkt, u32 len);

/** capture_add_ether() - add an interface for Ethernet frames; see capture_add_ib_port() */
int capture_add_ether(struct capture *c, const char *name);

/**
 * capture_ether_frame() - record a frame
 * @c: capture
 * @port: interface number
 * @time_ns: nanoseconds since 1970
 * @frame: the frame, from the destination address on, without the FCS
 * @len: bytes
 */
void capture_ether_frame(struct capture *c, int port, u64 time_ns, const u8 *frame, u32 len);

#endif /* VHCAD_CAPTURE_H */
