// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The writer of capture files.
 *
 * A packet is recorded once, where it enters the wire.  InfiniBand packets are in ERF records, the
 * link type that every dissector knows.  The file has the host's byte order, as pcapng allows.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "capture/pcapng.h"
#include "wire/wire.h"

#define CAPTURE_BUFFER	(256u << 10)
#define NSEC_PER_SEC	1000000000ull

struct capture {
	pthread_mutex_t lock;	/* protects everything below */
	FILE *file;
	int err;		/* first failure; nothing is written after it */
	int ports;
	bool dirty;
};

static void put(struct capture *c, const void *data, size_t len)
{
	if (c->err || !len)
		return;
	if (fwrite(data, 1, len, c->file) != len)
		c->err = errno ? -errno : -EIO;
	c->dirty = true;
}

static void put32(struct capture *c, u32 v)
{
	put(c, &v, sizeof(v));
}

static void put16(struct capture *c, u16 v)
{
	put(c, &v, sizeof(v));
}

static void put_padding(struct capture *c, u32 len)
{
	static const u8 zero[4];

	put(c, zero, -len & 3);
}

static void put_padded(struct capture *c, const void *data, u32 len)
{
	put(c, data, len);
	put_padding(c, len);
}

static void put_option(struct capture *c, u16 code, const void *data, u16 len)
{
	put16(c, code);
	put16(c, len);
	put_padded(c, data, len);
}

static u32 padded(u32 len)
{
	return len + (-len & 3);
}

static void section_header(struct capture *c)
{
	const u32 len = 28;

	put32(c, PCAPNG_SHB);
	put32(c, len);
	put32(c, PCAPNG_BYTE_ORDER);
	put16(c, 1);			/* format 1.0 */
	put16(c, 0);
	put32(c, UINT32_MAX);		/* section length not given */
	put32(c, UINT32_MAX);
	put32(c, len);
}

struct capture *capture_open(const char *path)
{
	struct capture *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->file = fopen(path, "we");
	if (!c->file) {
		free(c);
		return NULL;
	}
	pthread_mutex_init(&c->lock, NULL);
	setvbuf(c->file, NULL, _IOFBF, CAPTURE_BUFFER);
	section_header(c);
	capture_flush(c);
	return c;
}

int capture_close(struct capture *c)
{
	int err;

	if (!c)
		return 0;
	if (fclose(c->file) && !c->err)
		c->err = -errno;
	err = c->err;
	pthread_mutex_destroy(&c->lock);
	free(c);
	return err;
}

static void flush(struct capture *c)
{
	if (!c->dirty)
		return;
	if (fflush(c->file) && !c->err)
		c->err = -errno;
	c->dirty = false;
}

void capture_flush(struct capture *c)
{
	pthread_mutex_lock(&c->lock);
	flush(c);
	pthread_mutex_unlock(&c->lock);
}

static int add_interface(struct capture *c, u16 type, const char *name)
{
	u32 n = strlen(name);
	u32 len = 16 + 4 + padded(n) + 8 + 4 + 4;
	const u8 nanoseconds = 9;
	int port;

	pthread_mutex_lock(&c->lock);
	put32(c, PCAPNG_IDB);
	put32(c, len);
	put16(c, type);
	put16(c, 0);
	put32(c, 0);			/* no snap length */
	put_option(c, PCAPNG_OPT_IF_NAME, name, n);
	put_option(c, PCAPNG_OPT_IF_TSRESOL, &nanoseconds, 1);
	put_option(c, PCAPNG_OPT_END, NULL, 0);
	put32(c, len);
	flush(c);
	port = c->err ? c->err : c->ports++;
	pthread_mutex_unlock(&c->lock);
	return port;
}

int capture_add_ib_port(struct capture *c, const char *name)
{
	return add_interface(c, LINKTYPE_ERF, name);
}

int capture_add_ether(struct capture *c, const char *name)
{
	return add_interface(c, LINKTYPE_ETHERNET, name);
}

static void erf_header(u8 *p, int port, u64 time_ns, u32 len)
{
	u64 frac = (time_ns % NSEC_PER_SEC << 32) / NSEC_PER_SEC;
	u64 stamp = time_ns / NSEC_PER_SEC << 32 | frac;

	for (u32 i = 0; i < 8; i++)
		p[i] = stamp >> 8 * i;
	p[8] = ERF_TYPE_INFINIBAND;
	p[9] = 1u << 2 | (port & 3);	/* records of varying length; interface */
	put_be16(p + 10, ERF_HDR_LEN + len);
	put_be16(p + 12, 0);		/* none lost */
	put_be16(p + 14, len);
}

/* Writes a packet, behind the pseudo-header of its link type: @head_len bytes. */
static void put_packet(struct capture *c, int port, u64 time_ns, const u8 *head, u32 head_len,
		       const u8 *pkt, u32 len)
{
	u32 cap = head_len + len;
	u32 total = 32 + padded(cap) + 8 + 4;
	const u32 flags = PCAPNG_EPB_OUTBOUND;

	pthread_mutex_lock(&c->lock);
	put32(c, PCAPNG_EPB);
	put32(c, total);
	put32(c, port);
	put32(c, time_ns >> 32);
	put32(c, time_ns);
	put32(c, cap);
	put32(c, cap);
	put(c, head, head_len);
	put(c, pkt, len);
	put_padding(c, cap);
	put_option(c, PCAPNG_OPT_EPB_FLAGS, &flags, sizeof(flags));
	put_option(c, PCAPNG_OPT_END, NULL, 0);
	put32(c, total);
	pthread_mutex_unlock(&c->lock);
}

void capture_ib_packet(struct capture *c, int port, u64 time_ns, const u8 *pkt, u32 len)
{
	u8 erf[ERF_HDR_LEN];

	erf_header(erf, port, time_ns, len);
	put_packet(c, port, time_ns, erf, sizeof(erf), pkt, len);
}

void capture_ether_frame(struct capture *c, int port, u64 time_ns, const u8 *frame, u32 len)
{
	put_packet(c, port, time_ns, NULL, 0, frame, len);
}
