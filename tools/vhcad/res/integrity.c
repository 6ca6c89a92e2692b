// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Keys that check and make protection fields (T10-DIF).
 *
 * The key's address space is what goes over the wire.  No state is kept for an
 * interval: when its field passes, or its last byte if the wire has no
 * fields, the data is read from memory for the guard, in both directions.
 * Only a field that arrives in two packets waits for its second part.
 */
#include <isa-l/crc.h>
#include <stdlib.h>
#include <string.h>

#include "res/integrity.h"

/* A protection field, in host byte order. */
struct field {
	u16 guard;
	u16 app;
	u32 ref;
};

struct dif {
	u8 guard;		/* enum vhca_dif_guard */
	u8 flags;		/* VHCA_DIF_* */
	u16 seed;
	u16 app, app_mask;
	u32 ref;
};

/**
 * struct integrity - a key that checks or makes protection fields
 * @mk: what it has in common with others; first
 * @data: list of pieces of data, and of fields unless those are among the data
 * @fields: list of pieces of fields
 * @mem: format of fields in memory
 * @wire: and on the wire
 * @interval: bytes of data for each field; without fields: all data
 * @intervals: number of intervals
 * @apart: in memory fields stand apart from data
 * @check: bytes of a field that are checked
 * @wrong: a field was wrong, and that was reported
 * @part_of: interval whose field is arriving
 * @part: bytes of that field
 * @parts: bytes of @part that have arrived, a bit each
 */
struct integrity {
	struct vmkey mk;
	struct vbuf data, fields;
	struct dif mem, wire;
	u64 interval;
	u64 intervals;
	bool apart;
	u8 check;
	bool wrong;
	u64 part_of;
	u8 part[VHCA_DIF_SIZE];
	u8 parts;
};

static_assert(sizeof(struct integrity) <= 256, "what a key costs is documented");

static struct integrity *to_integrity(struct vmkey *mk)
{
	return container_of(mk, struct integrity, mk);
}

struct vmkey *integrity_make(void)
{
	struct integrity *pi = calloc(1, sizeof(*pi));

	return pi ? &pi->mk : NULL;
}

/* ------------------------------------------------------------------------
 * Registration
 */

#define FLAGS	(VHCA_DIF_REMAP | VHCA_DIF_APP_ESCAPE | VHCA_DIF_REF_ESCAPE)

static bool read_dif(struct dif *d, const struct vhca_dif *from)
{
	static const struct vhca_dif none;

	*d = (struct dif){
		.guard = from->guard, .flags = from->flags, .seed = le16toh(from->seed),
		.app = le16toh(from->app_tag), .app_mask = le16toh(from->app_mask),
		.ref = le32toh(from->ref_tag),
	};
	if (from->guard == VHCA_DIF_NONE)
		return !memcmp(from, &none, sizeof(none));
	return from->guard <= VHCA_DIF_CSUM && !(from->flags & ~FLAGS) && !from->rsvd;
}

/* Bytes of an interval and of what stands behind it. */
static u64 mem_step(const struct integrity *pi)
{
	return pi->interval + (pi->mem.guard && !pi->apart ? VHCA_DIF_SIZE : 0);
}

static u64 wire_step(const struct integrity *pi)
{
	return pi->interval + (pi->wire.guard ? VHCA_DIF_SIZE : 0);
}

/* Sets a list of n entries from an address on, n not 0; returns its bytes, 0 if it has none. */
static u64 set_list(struct guest_mem *mem, struct vbuf *b, u64 addr, u32 n)
{
	u64 end;

	*b = (struct vbuf){ .addr = addr, .levels = 1, .npages = n };
	return sg_end(mem, b, n - 1, &end) ? end : 0;
}

/* Takes a key's two lists; false when they do not match each other. */
static bool set_lists(struct guest_mem *mem, struct integrity *pi, u32 n, u32 ndata)
{
	u64 list = pi->mk.buf.addr + sizeof(struct vhca_integrity);
	u64 bytes = set_list(mem, &pi->data, list, ndata);

	pi->apart = n > ndata;
	if (!pi->mem.guard && !pi->wire.guard)
		pi->interval = bytes;
	if (!bytes || bytes % mem_step(pi))
		return false;
	pi->intervals = bytes / mem_step(pi);
	if (!pi->apart || !pi->mem.guard)
		return true;
	return set_list(mem, &pi->fields, list + ndata * sizeof(struct vhca_sg_entry),
			n - ndata) >= pi->intervals * VHCA_DIF_SIZE;
}

static u64 error_at(const struct vmkey *mk)
{
	return mk->buf.addr + offsetof(struct vhca_integrity, error);
}

bool integrity_register(struct guest_mem *mem, struct vmkey *mk, const struct vhca_wqe_reg *reg)
{
	struct integrity *pi = to_integrity(mk), new = *pi;
	u32 n = le32toh(reg->entries), ndata;
	struct vhca_integrity h;

	if (reg->page_shift || reg->access & VHCA_ACCESS_MW_BIND ||
	    dma_read(mem, &h, mk->buf.addr, sizeof(h)))
		return false;
	ndata = le32toh(h.data_entries);
	new.interval = le16toh(h.interval);
	new.check = h.check;
	new.wrong = false;
	new.parts = 0;
	if (h.rsvd0 || h.rsvd1 || !ndata || ndata > n || new.interval < VHCA_DIF_MIN_INTERVAL ||
	    new.interval > VHCA_DIF_MAX_INTERVAL || !read_dif(&new.mem, &h.mem) ||
	    !read_dif(&new.wire, &h.wire) || !set_lists(mem, &new, n, ndata))
		return false;
	/* until now the word may hold an error of the old registration */
	if (dma_store32_release(mem, error_at(mk), VHCA_DIF_GOOD))
		return false;
	*pi = new;
	return true;
}

/* ------------------------------------------------------------------------
 * Memory
 */

/* Copies bytes out of a list to dst, or, if that is NULL, from src into it. */
static bool list_copy(struct vhca_dev *dev, const struct vbuf *b, u64 off, u8 *dst, const u8 *src,
		      u64 len)
{
	struct dma_seg seg[PAYLOAD_SEGS];
	u64 done = 0;

	while (done < len) {
		u32 nseg = 0;
		u64 n = fast_sg_map(dev->adapter.worker, dev->mem, b, off + done, len - done, seg,
				    &nseg, PAYLOAD_SEGS);

		if (!n || (dst ? dma_read_list(dev->mem, dst + done, seg, nseg) :
				 dma_write_list(dev->mem, seg, nseg, src + done)))
			return false;
		done += n;
	}
	return true;
}

/* Copies a part of an interval's data. */
static bool data_copy(struct vhca_dev *dev, const struct integrity *pi, u64 nr, u64 off, u8 *dst,
		      const u8 *src, u64 len)
{
	return list_copy(dev, &pi->data, nr * mem_step(pi) + off, dst, src, len);
}

/* Copies the field of an interval. */
static bool field_copy(struct vhca_dev *dev, const struct integrity *pi, u64 nr, u8 *dst,
		       const u8 *src)
{
	if (pi->apart)
		return list_copy(dev, &pi->fields, nr * VHCA_DIF_SIZE, dst, src, VHCA_DIF_SIZE);
	return data_copy(dev, pi, nr, pi->interval, dst, src, VHCA_DIF_SIZE);
}

/* ------------------------------------------------------------------------
 * Fields
 */

static struct field unpack(const u8 *b)
{
	return (struct field){ b[0] << 8 | b[1], b[2] << 8 | b[3],
			       (u32)b[4] << 24 | b[5] << 16 | b[6] << 8 | b[7] };
}

static void pack(const struct field *f, u8 *b)
{
	b[0] = f->guard >> 8;
	b[1] = f->guard;
	b[2] = f->app >> 8;
	b[3] = f->app;
	b[4] = f->ref >> 24;
	b[5] = f->ref >> 16;
	b[6] = f->ref >> 8;
	b[7] = f->ref;
}

/* The checksum of IP: of 16-bit numbers, the most significant byte first. */
static u16 ip_sum(u16 seed, const u8 *data, u32 len)
{
	u32 sum = seed;

	for (u32 i = 0; i + 1 < len; i += 2)
		sum += data[i] << 8 | data[i + 1];
	if (len & 1)
		sum += data[len - 1] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

/* The field that an interval of data should have. */
static struct field expected(const struct dif *d, u64 nr, const u8 *data, u32 len)
{
	return (struct field){
		.guard = d->guard == VHCA_DIF_CRC ? crc16_t10dif(d->seed, data, len) :
						    ip_sum(d->seed, data, len),
		.app = d->app,
		.ref = d->ref + (d->flags & VHCA_DIF_REMAP ? nr : 0),
	};
}

/* Do the tags say that the interval is not to be checked? */
static bool escapes(const struct dif *d, const struct field *f)
{
	bool app = d->flags & VHCA_DIF_APP_ESCAPE, ref = d->flags & VHCA_DIF_REF_ESCAPE;

	return (app || ref) && (!app || f->app == 0xffff) && (!ref || f->ref == UINT32_MAX);
}

/* The bits to compare of @bytes bytes of the field, from @first on. */
static u32 counted(u8 check, u32 first, u32 bytes)
{
	u32 mask = 0;

	for (u32 i = first; i < first + bytes; i++)
		mask = mask << 8 | (check & 0x80 >> i ? 0xff : 0);
	return mask;
}

/* Reports the first wrong field to the driver; false: that is not possible. */
static bool report(struct vhca_dev *dev, struct integrity *pi, u64 nr, enum vhca_dif_error error,
		   u32 want, u32 got)
{
	u64 at = pi->mk.buf.addr + offsetof(struct vhca_integrity, expected);
	struct {
		__le32 expected, actual, rsvd;
		__le64 nr;
	} __attribute__((packed)) what = { htole32(want), htole32(got), 0, htole64(nr) };

	static_assert(offsetof(struct vhca_integrity, expected) + sizeof(what) ==
		      sizeof(struct vhca_integrity));
	if (pi->wrong)
		return true;
	pi->wrong = true;
	return !dma_write(dev->mem, at, &what, sizeof(what)) &&
	       !dma_store32_release(dev->mem, error_at(&pi->mk), error);
}

/* Checks a field; false: an error cannot be reported. */
static bool check(struct vhca_dev *dev, struct integrity *pi, const struct dif *d, u64 nr,
		  const struct field *want, const struct field *got)
{
	u32 app = d->app_mask & counted(pi->check, 2, 2);

	if (escapes(d, got))
		return true;
	if ((want->guard ^ got->guard) & counted(pi->check, 0, 2))
		return report(dev, pi, nr, VHCA_DIF_BAD_GUARD, want->guard, got->guard);
	if ((want->app ^ got->app) & app)
		return report(dev, pi, nr, VHCA_DIF_BAD_APP_TAG, want->app, got->app);
	if ((want->ref ^ got->ref) & counted(pi->check, 4, 4))
		return report(dev, pi, nr, VHCA_DIF_BAD_REF_TAG, want->ref, got->ref);
	return true;
}

/*
 * An interval passes from one side to the other: checks the field that it has on the first side, if
 * any, and makes the one for the second side, if any.
 */
static bool convert(struct vhca_dev *dev, struct integrity *pi, u64 nr, const struct dif *from,
		    const u8 *in, const struct dif *to, u8 *out)
{
	u8 data[VHCA_DIF_MAX_INTERVAL];
	struct field want = {}, had, got;

	if (!data_copy(dev, pi, nr, 0, data, NULL, pi->interval))
		return false;
	if (to->guard)
		want = expected(to, nr, data, pi->interval);
	if (from->guard) {
		had = expected(from, nr, data, pi->interval);
		got = unpack(in);
		if (!check(dev, pi, from, nr, &had, &got))
			return false;
		/* a part that both sides define alike is passed on */
		if (from->guard == to->guard && from->seed == to->seed)
			want.guard = got.guard;
		if (from->app == to->app)
			want.app = got.app;
		if (from->ref == to->ref && !((from->flags ^ to->flags) & VHCA_DIF_REMAP))
			want.ref = got.ref;
	}
	pack(&want, out);
	return true;
}

/* An interval is sent: out becomes the field that goes over the wire. */
static bool leaves(struct vhca_dev *dev, struct integrity *pi, u64 nr, u8 *out)
{
	u8 in[VHCA_DIF_SIZE];

	return (!pi->mem.guard || field_copy(dev, pi, nr, in, NULL)) &&
	       convert(dev, pi, nr, &pi->mem, in, &pi->wire, out);
}

/* An interval has arrived, with the field that came over the wire. */
static bool arrived(struct vhca_dev *dev, struct integrity *pi, u64 nr, const u8 *in)
{
	u8 out[VHCA_DIF_SIZE];

	return convert(dev, pi, nr, &pi->wire, in, &pi->mem, out) &&
	       (!pi->mem.guard || field_copy(dev, pi, nr, NULL, out));
}

/* ------------------------------------------------------------------------
 * The wire
 */

/* Puts together a field that arrives; false: memory failed. */
static bool field_part(struct vhca_dev *dev, struct integrity *pi, u64 nr, u32 off, const u8 *src,
		       u32 len)
{
	if (pi->part_of != nr)
		pi->parts = 0;
	pi->part_of = nr;
	for (u32 i = 0; i < len; i++) {
		pi->part[(off + i) % VHCA_DIF_SIZE] = src[i];
		pi->parts |= 1u << (off + i) % VHCA_DIF_SIZE;
	}
	if (pi->parts != 0xff)
		return true;
	pi->parts = 0;
	return arrived(dev, pi, nr, pi->part);
}

/* Moves bytes of one interval and its field; returns how many, or 0. */
static u64 read_some(struct vhca_dev *dev, struct integrity *pi, u64 at, u8 *dst, u64 len)
{
	u64 step = wire_step(pi), nr = at / step, off = at % step, n;
	u8 field[VHCA_DIF_SIZE];

	if (nr >= pi->intervals)
		return 0;
	if (off >= pi->interval) {
		n = MIN(len, step - off);
		if (!leaves(dev, pi, nr, field))
			return 0;
		memcpy(dst, field + off - pi->interval, n);
		return n;
	}
	n = MIN(len, pi->interval - off);
	if (!data_copy(dev, pi, nr, off, dst, NULL, n) ||
	    (off + n == step && pi->mem.guard && !leaves(dev, pi, nr, field)))
		return 0;
	return n;
}

static u64 write_some(struct vhca_dev *dev, struct integrity *pi, u64 at, const u8 *src, u64 len)
{
	static const u8 no_field[VHCA_DIF_SIZE];
	u64 step = wire_step(pi), nr = at / step, off = at % step, n;

	if (nr >= pi->intervals)
		return 0;
	if (off >= pi->interval) {
		n = MIN(len, step - off);
		return field_part(dev, pi, nr, off - pi->interval, src, n) ? n : 0;
	}
	n = MIN(len, pi->interval - off);
	if (!data_copy(dev, pi, nr, off, NULL, src, n) ||
	    (off + n == step && pi->mem.guard && !arrived(dev, pi, nr, no_field)))
		return 0;
	return n;
}

u64 integrity_read(struct vhca_dev *dev, struct vmkey *mk, u64 off, void *dst, u64 len)
{
	u64 done = 0, n;

	do {
		n = read_some(dev, to_integrity(mk), off + done, (u8 *)dst + done, len - done);
		done += n;
	} while (n && done < len);
	return done;
}

u64 integrity_write(struct vhca_dev *dev, struct vmkey *mk, u64 off, const void *src, u64 len)
{
	u64 done = 0, n;

	do {
		n = write_some(dev, to_integrity(mk), off + done, (const u8 *)src + done,
			       len - done);
		done += n;
	} while (n && done < len);
	return done;
}
