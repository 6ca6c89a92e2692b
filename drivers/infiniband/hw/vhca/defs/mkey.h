/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Admin commands of memory keys. */
#ifndef VHCA_DEFS_MKEY_H
#define VHCA_DEFS_MKEY_H

#include "admin.h"

/*
 * A key of another type than the first two is made without a range (iova,
 * length and access 0, no access possible) and lives on under other variants:
 * commands that name it ignore its low byte.
 *
 * FAST: buf is the list, of levels 1, npages its most entries, page_shift 0.
 * FAST_SG: the same, with entries of struct vhca_sg_entry.  REG_MR gives such
 * a key its range and its variant, LOCAL_INV, SEND_INV and READ_INV take it
 * away.  The list belongs to the device between the two.
 * FMR: buf is a list of page addresses as with FAST, page_shift that of every
 * mapping; iova is the DMA address of the struct vhca_fmr that holds key and
 * range, access is fixed.
 * MW_1, MW_2: no buf.  BIND_MW gives range and variant; MW_2 is invalidated.
 * INTEGRITY: as FAST_SG, with a struct vhca_integrity in front of the first entry, which buf.addr
 * names and npages does not count.  REG_MR reads it with the key.
 * A region to which windows are bound is BUSY for DESTROY_MKEY and MODIFY_MKEY.
 */
enum vhca_mkey_type {
	VHCA_MKEY_LIST		= 0,	/* buf translates [iova, iova + length) */
	VHCA_MKEY_PHYSICAL	= 1,	/* addresses are DMA addresses; kernel only */
	VHCA_MKEY_FAST		= 2,
	VHCA_MKEY_FAST_SG	= 3,
	VHCA_MKEY_FMR		= 4,
	VHCA_MKEY_MW_1		= 5,
	VHCA_MKEY_MW_2		= 6,
	VHCA_MKEY_INTEGRITY	= 7,
};

/* A piece of memory of any length and alignment. */
struct vhca_sg_entry {
	__le64 addr;
	__le64 end;			/* bytes of the list up to and with this entry */
};

static_assert(sizeof(struct vhca_sg_entry) == 16);

/*
 * What an FMR key translates now.  The driver makes seq odd, changes the rest
 * and makes it even again, with release ordering; the device refuses an access
 * that finds seq odd or changed.  To unmap: npages 0, then FENCE_MKEYS.
 */
struct vhca_fmr {
	__le32 seq;
	__le32 key;
	__le64 iova;
	__le64 length;
	__le32 npages;			/* of the list; 0: not mapped */
	__le32 rsvd;
};

static_assert(sizeof(struct vhca_fmr) == 32);

enum vhca_dif_guard {
	VHCA_DIF_NONE		= 0,	/* there are no protection fields */
	VHCA_DIF_CRC		= 1,	/* CRC-16 of T10 */
	VHCA_DIF_CSUM		= 2,	/* IP checksum */
};

#define VHCA_DIF_REMAP		(1U << 0)	/* the reference tag grows by one each interval */
#define VHCA_DIF_APP_ESCAPE	(1U << 1)	/* an application tag of all ones: not checked */
#define VHCA_DIF_REF_ESCAPE	(1U << 2)	/* a reference tag of all ones: not checked */

/* How fields look at one side of a key. With both escapes both tags must be all ones. */
struct vhca_dif {
	__u8 guard;			/* enum vhca_dif_guard; NONE: all else is 0 */
	__u8 flags;			/* VHCA_DIF_* */
	__le16 seed;			/* of the guard */
	__le16 app_tag;
	__le16 app_mask;		/* bits of it that are checked */
	__le32 ref_tag;			/* of the first interval */
	__le32 rsvd;
};

static_assert(sizeof(struct vhca_dif) == 16);

#define VHCA_DIF_SIZE		8	/* bytes of a field: guard, application and reference tag */
#define VHCA_DIF_MIN_INTERVAL	512
#define VHCA_DIF_MAX_INTERVAL	4096

enum vhca_dif_error {
	VHCA_DIF_GOOD		= 0,
	VHCA_DIF_BAD_GUARD	= 1,
	VHCA_DIF_BAD_APP_TAG	= 2,
	VHCA_DIF_BAD_REF_TAG	= 3,
};

/*
 * What an INTEGRITY key checks and makes.  Its address space is what goes over the wire: an
 * interval of data, its field, and so on; data alone when the wire has no fields.  In memory the
 * first data_entries of the list are the data, the others the fields, all behind one another; if
 * there are no others, fields stand behind their intervals there, too.  What one side has and the
 * other has not is made, or checked and left out; fields of both sides are checked and passed on,
 * each part whose rules differ made anew.
 *
 * The device writes the first field that is wrong to the last part of the struct, error last,
 * before the completion of what moved it.  Bytes move all the same.  REG_MR makes error GOOD.
 */
struct vhca_integrity {
	struct vhca_dif mem;
	struct vhca_dif wire;
	__le16 interval;		/* bytes of data, VHCA_DIF_MIN_INTERVAL to MAX */
	__u8 check;			/* bytes of a field that count, the first one is bit 7 */
	__u8 rsvd0;
	__le32 data_entries;
	__le32 error;			/* enum vhca_dif_error */
	__le32 expected;
	__le32 actual;
	__le32 rsvd1;
	__le64 interval_nr;		/* of the first one that is wrong, from 0 */
};

static_assert(sizeof(struct vhca_integrity) == 64);

struct vhca_create_mkey_req {
	struct vhca_buf buf;
	__le64 iova;
	__le64 length;
	__le32 pdn;
	__le32 access;			/* VHCA_ACCESS_* */
	__u8 type;			/* enum vhca_mkey_type */
	__u8 variant;			/* low byte of the key, the consumer's choice */
	__u8 rsvd[6];
};

static_assert(sizeof(struct vhca_create_mkey_req) == 56);

#define VHCA_MKEY_MOD_ACCESS	(1U << 0)
#define VHCA_MKEY_MOD_PD	(1U << 1)
#define VHCA_MKEY_MOD_BUF	(1U << 2)	/* buf, iova, length */

struct vhca_modify_mkey_req {
	struct vhca_create_mkey_req attr;	/* type and variant are not changed: zero */
	__le32 key;
	__le32 mask;			/* VHCA_MKEY_MOD_* */
};

static_assert(sizeof(struct vhca_modify_mkey_req) == 64);

#endif /* VHCA_DEFS_MKEY_H */
