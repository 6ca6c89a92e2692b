// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vhca-capcheck FILE: are the CRCs of every RDMA packet in a capture right, and do InfiniBand
 * packets have the headers that their opcodes require?
 *
 * Reads pcapng and pcap, with InfiniBand in ERF records and RoCEv2 in Ethernet frames.  Captures of
 * other RoCEv2 implementations are what this program is checked with.
 *
 * Exit status: 0 all good, 1 a bad packet, 2 nothing could be checked.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/pcapng.h"
#include "wire/wire.h"

#define ROCE_UDP_PORT	4791u
#define MAX_INTERFACES	1024u
#define MAX_REPORTS	20u
#define ETHERTYPE_IPV4	0x0800u
#define ETHERTYPE_IPV6	0x86ddu
#define ETHERTYPE_VLAN	0x8100u

struct check {
	const u8 *data;
	u64 size;
	bool swap;		/* the file has the other byte order */
	u32 links[MAX_INTERFACES];
	u32 nlinks;
	u64 frame;		/* number of the current packet, from 1 */
	u64 ib, roce, other, cut;
	u64 bad_icrc, bad_vcrc, bad_form;
	u32 reports;
};

static u32 num32(const struct check *c, const u8 *p)
{
	u32 v;

	memcpy(&v, p, 4);
	return c->swap ? __builtin_bswap32(v) : v;
}

static u16 num16(const struct check *c, const u8 *p)
{
	u16 v;

	memcpy(&v, p, 2);
	return c->swap ? __builtin_bswap16(v) : v;
}

__attribute__((format(printf, 2, 3)))
static void report(struct check *c, const char *fmt, ...)
{
	va_list ap;

	if (c->reports++ >= MAX_REPORTS)
		return;
	printf("packet %llu: ", (unsigned long long)c->frame);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

static u32 le32(const u8 *p)
{
	return p[0] | p[1] << 8 | p[2] << 16 | (u32)p[3] << 24;
}

/* Checks headers and payload against the opcode.  The CRCs are right. */
static void check_form(struct check *c, const u8 *p, u32 len)
{
	struct wire_hdr h;
	u32 at, paylen;
	u16 flags;

	if (wire_parse(p, len, &h, &at, &paylen)) {
		c->bad_form++;
		report(c, "opcode %02x: unknown, or its headers do not fit", h.opcode);
		return;
	}
	flags = wire_op(h.opcode)->flags;
	if ((paylen && !(flags & WIRE_F_DATA)) ||
	    (h.opcode == OP_RC_ATOMIC_WRITE && paylen != sizeof(u64))) {
		c->bad_form++;
		report(c, "opcode %02x with %u bytes of payload", h.opcode, paylen);
	}
}

static void check_ib(struct check *c, const u8 *p, u32 len)
{
	u32 want, have, end;
	u64 bad = c->bad_icrc + c->bad_vcrc;

	if (len < WIRE_LRH_LEN + WIRE_BTH_LEN + WIRE_ICRC_LEN + WIRE_VCRC_LEN ||
	    (get_be16(p + 4) & 0x7ff) * 4u + WIRE_VCRC_LEN != len) {
		c->bad_form++;
		report(c, "%u bytes do not agree with the LRH", len);
		return;
	}
	c->ib++;
	end = len - WIRE_VCRC_LEN;
	want = wire_vcrc(p, end);
	have = p[end] | p[end + 1] << 8;
	if (want != have) {
		c->bad_vcrc++;
		report(c, "VCRC %04x, computed %04x", have, want);
	}
	end -= WIRE_ICRC_LEN;
	want = wire_icrc(p, end);
	have = le32(p + end);
	if (want != have) {
		c->bad_icrc++;
		report(c, "ICRC %08x, computed %08x", have, want);
	}
	if (bad == c->bad_icrc + c->bad_vcrc)
		check_form(c, p, len);
}

static void check_erf(struct check *c, const u8 *p, u32 len)
{
	u32 wire;

	if (len < ERF_HDR_LEN || (p[8] & 0x7f) != ERF_TYPE_INFINIBAND || p[8] & 0x80) {
		c->other++;
		return;
	}
	wire = get_be16(p + 14);
	if (len - ERF_HDR_LEN < wire) {
		c->cut++;
		return;
	}
	check_ib(c, p + ERF_HDR_LEN, wire);
}

static void check_ethernet(struct check *c, const u8 *p, u32 len)
{
	u32 type, at = 14, iplen, udp, want, have;

	if (len < at)
		goto other;
	type = get_be16(p + 12);
	if (type == ETHERTYPE_VLAN && len >= at + 4) {
		type = get_be16(p + 16);
		at += 4;
	}
	p += at;
	len -= at;
	if (type == ETHERTYPE_IPV4 && len >= 20 && p[0] == 0x45 && p[9] == 17) {
		iplen = get_be16(p + 2);
		udp = 20;
	} else if (type == ETHERTYPE_IPV6 && len >= 40 && p[6] == 17) {
		iplen = 40u + get_be16(p + 4);
		udp = 40;
	} else {
		goto other;
	}
	if (len < udp + 8 || get_be16(p + udp + 2) != ROCE_UDP_PORT)
		goto other;
	if (len < iplen) {
		c->cut++;
		return;
	}
	if (iplen < udp + 8 + WIRE_BTH_LEN + WIRE_ICRC_LEN ||
	    wire_icrc_roce(p, iplen - WIRE_ICRC_LEN, &want)) {
		c->bad_form++;
		report(c, "%u bytes are too short for RoCEv2", iplen);
		return;
	}
	c->roce++;
	have = le32(p + iplen - WIRE_ICRC_LEN);
	if (want != have) {
		c->bad_icrc++;
		report(c, "ICRC %08x, computed %08x", have, want);
	}
	return;
other:
	c->other++;
}

static void check_packet(struct check *c, u32 link, const u8 *p, u32 len)
{
	c->frame++;
	if (link == LINKTYPE_ERF)
		check_erf(c, p, len);
	else if (link == LINKTYPE_ETHERNET)
		check_ethernet(c, p, len);
	else
		c->other++;
}

/* Reads a block; @body excludes its type and its two lengths.  Returns 0 or -1. */
static int pcapng_block(struct check *c, u32 type, const u8 *body, u32 len)
{
	u32 id, cap;

	switch (type) {
	case PCAPNG_SHB:
		c->nlinks = 0;
		return 0;
	case PCAPNG_IDB:
		if (len < 8 || c->nlinks == MAX_INTERFACES)
			return -1;
		c->links[c->nlinks++] = num16(c, body);
		return 0;
	case PCAPNG_EPB:
		if (len < 20)
			return -1;
		id = num32(c, body);
		cap = num32(c, body + 12);
		if (id >= c->nlinks || cap > len - 20)
			return -1;
		check_packet(c, c->links[id], body + 20, cap);
		return 0;
	case PCAPNG_SPB:
		if (len < 4 || !c->nlinks)
			return -1;
		check_packet(c, c->links[0], body + 4, MIN(num32(c, body), len - 4));
		return 0;
	default:
		return 0;
	}
}

static int check_pcapng(struct check *c)
{
	u64 at = 0;

	while (c->size - at >= 12) {
		const u8 *p = c->data + at;
		u32 type, len;

		if (le32(p) == PCAPNG_SHB) {	/* a palindrome: the same in both byte orders */
			u32 magic;

			memcpy(&magic, p + 8, 4);
			c->swap = magic != PCAPNG_BYTE_ORDER;
			if (c->swap && magic != __builtin_bswap32(PCAPNG_BYTE_ORDER))
				return -1;
		}
		type = num32(c, p);
		len = num32(c, p + 4);
		if (len < 12 || len % 4 || len > c->size - at || num32(c, p + len - 4) != len)
			return -1;
		if (pcapng_block(c, type, p + 8, len - 12))
			return -1;
		at += len;
	}
	return at == c->size ? 0 : -1;
}

static int check_pcap(struct check *c)
{
	u64 at = 24;
	u32 link;

	if (c->size < at)
		return -1;
	link = num32(c, c->data + 20) & 0xffff;
	while (c->size - at >= 16) {
		u32 cap = num32(c, c->data + at + 8);

		at += 16;
		if (cap > c->size - at)
			return -1;
		check_packet(c, link, c->data + at, cap);
		at += cap;
	}
	return at == c->size ? 0 : -1;
}

static int check_file(struct check *c)
{
	u32 magic;

	if (c->size < 12)
		return -1;
	memcpy(&magic, c->data, 4);
	if (magic == PCAPNG_SHB)
		return check_pcapng(c);
	c->swap = magic == __builtin_bswap32(PCAP_MAGIC_USEC) ||
		  magic == __builtin_bswap32(PCAP_MAGIC_NSEC);
	if (!c->swap && magic != PCAP_MAGIC_USEC && magic != PCAP_MAGIC_NSEC)
		return -1;
	return check_pcap(c);
}

/* Reads a regular file as a whole.  Returns NULL with errno set on failure. */
static u8 *read_all(const char *path, u64 *size)
{
	FILE *f = fopen(path, "re");
	struct stat st;
	u8 *buf = NULL;

	if (!f)
		return NULL;
	if (fstat(fileno(f), &st))
		goto out;
	if (!S_ISREG(st.st_mode)) {
		errno = S_ISDIR(st.st_mode) ? EISDIR : ESPIPE;
		goto out;
	}
	buf = malloc(st.st_size ? st.st_size : 1);
	*size = buf ? fread(buf, 1, st.st_size, f) : 0;
out:
	fclose(f);
	return buf;
}

static const char usage[] =
"usage: vhca-capcheck FILE\n"
"       vhca-capcheck --help\n"
"\n"
"Checks the CRCs of every RDMA packet in a capture (pcap or pcapng, InfiniBand in ERF\n"
"records or RoCEv2), and the headers of InfiniBand packets.  Exit status: 0 all are\n"
"good, 1 some are not, 2 nothing could be checked.\n";

int main(int argc, char **argv)
{
	static struct check c;
	u64 bad, checked;
	u8 *data;
	int err;

	if (argc == 2 && !strcmp(argv[1], "--help")) {
		fputs(usage, stdout);
		return 0;
	}
	if (argc != 2 || argv[1][0] == '-') {
		fputs(usage, stderr);
		return 2;
	}
	data = read_all(argv[1], &c.size);
	if (!data) {
		fprintf(stderr, "vhca-capcheck: %s: %s\n", argv[1], strerror(errno));
		return 2;
	}
	c.data = data;
	err = check_file(&c);
	free(data);

	bad = c.bad_icrc + c.bad_vcrc + c.bad_form;
	checked = c.ib + c.roce + c.bad_form;
	printf("%s: %llu InfiniBand, %llu RoCEv2, %llu other, %llu cut short; "
	       "bad: %llu ICRC, %llu VCRC, %llu malformed\n", argv[1],
	       (unsigned long long)c.ib, (unsigned long long)c.roce,
	       (unsigned long long)c.other, (unsigned long long)c.cut,
	       (unsigned long long)c.bad_icrc, (unsigned long long)c.bad_vcrc,
	       (unsigned long long)c.bad_form);
	if (bad)
		return 1;
	if (err) {
		fprintf(stderr, "vhca-capcheck: %s: not a whole pcap or pcapng file: "
			"take one that vhcad has ended\n", argv[1]);
		return 2;
	}
	if (!checked) {
		fprintf(stderr, "vhca-capcheck: %s: no RDMA packets\n", argv[1]);
		return 2;
	}
	return 0;
}
