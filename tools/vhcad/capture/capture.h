/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Capture files: pcapng, one interface a port, nanosecond stamps.  Any thread may record.
 */
#ifndef VHCAD_CAPTURE_H
#define VHCAD_CAPTURE_H

#include "lib/types.h"

struct capture;

/**
 * capture_open() - start a capture file
 * @path: file, created or truncated
 *
 * Returns NULL with errno set.
 */
struct capture *capture_open(const char *path);

/**
 * capture_close() - write out what is buffered and close
 * @c: capture, or NULL
 *
 * Returns 0, or the -errno of the first write that failed.
 */
int capture_close(struct capture *c);

/**
 * capture_flush() - write out what is buffered
 * @c: capture
 */
void capture_flush(struct capture *c);

/**
 * capture_add_ib_port() - one more interface
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
 * @pkt: LRH to VCRC
 * @len: bytes
 */
void capture_ib_packet(struct capture *c, int port, u64 time_ns, const u8 *pkt, u32 len);

/** capture_add_ether() - one more interface, of Ethernet; as capture_add_ib_port() */
int capture_add_ether(struct capture *c, const char *name);

/**
 * capture_ether_frame() - record a frame
 * @c: capture
 * @port: interface number
 * @time_ns: nanoseconds since 1970
 * @frame: from the destination's address on, without the check sequence
 * @len: bytes
 */
void capture_ether_frame(struct capture *c, int port, u64 time_ns, const u8 *frame, u32 len);

#endif /* VHCAD_CAPTURE_H */
