/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Admin commands of memory keys. */
#ifndef VHCA_DEFS_MKEY_H
#define VHCA_DEFS_MKEY_H

#include "admin.h"

/*
 * A key of another type than the first two is created without a range (iova,
 * length and access 0, no access possible), and its variant may change later:
 * commands that name it ignore its low byte.
 *
 * FAST: buf is the list, with levels 1, npages its maximum number of entries and page_shift 0.
 * FAST_SG: the same, with entries of struct vhca_sg_entry.  REG_MR gives such
 * a key its range and its variant; LOCAL_INV, SEND_INV and READ_INV invalidate
 * it.  Between the two only the device uses the list.
 * FMR: buf is a list of page addresses as with FAST, page_shift that of every
 * mapping; iova is the DMA address of the struct vhca_fmr that holds key and
 * range; access applies to every mapping.
 * MW_1, MW_2: no buf.  BIND_MW gives range and variant; MW_2 can be invalidated.
 * INTEGRITY: as FAST_SG; a struct vhca_integrity precedes the first entry, buf.addr is its address,
 * and npages does not include it.  REG_MR reads it together with the list.
 * DESTROY_MKEY and MODIFY_MKEY of a region to which windows are bound fail with BUSY.
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
	__le64 end;			/* bytes of the list up to and including this entry */
};

static_assert(sizeof(struct vhca_sg_entry) == 16);

/*
 * The current mapping of an FMR key.  The driver makes seq odd, changes the rest
 * and makes seq even again, with release ordering; the device refuses an access
 * that finds seq odd or changed.  To unmap, the driver sets npages to 0 and
 * issues FENCE_MKEYS.
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
	VHCA_DIF_NONE		= 0,	/* no protection information */
	VHCA_DIF_CRC		= 1,	/* CRC-16 of T10 */
	VHCA_DIF_CSUM		= 2,	/* IP checksum */
};

#define VHCA_DIF_REMAP		(1U << 0)	/* the reference tag increments each interval */
#define VHCA_DIF_APP_ESCAPE	(1U << 1)	/* an application tag of all ones: no check */
#define VHCA_DIF_REF_ESCAPE	(1U << 2)	/* a reference tag of all ones: no check */

/*
 * Format of the protection information on one side of a key: memory or wire. With both escapes
 * a field is not checked only if both of its tags are all ones.
 */
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

#define VHCA_DIF_SIZE		8	/* bytes of a protection field: guard, app and ref tag */
#define VHCA_DIF_MIN_INTERVAL	512
#define VHCA_DIF_MAX_INTERVAL	4096

enum vhca_dif_error {
	VHCA_DIF_GOOD		= 0,
	VHCA_DIF_BAD_GUARD	= 1,
	VHCA_DIF_BAD_APP_TAG	= 2,
	VHCA_DIF_BAD_REF_TAG	= 3,
};

/*
 * The checks of an INTEGRITY key.  A field is the protection information (T10-DIF) of one interval
 * of data.  The key's address space is the data stream on the wire: an interval of data, its field,
 * and so on; without fields on the wire, only the data.  In memory the first data_entries of the
 * list are the data, and the others the fields, one behind the other; if there are no others, the
 * fields follow their intervals in memory, too.  Fields that only the destination has are
 * generated; those that only the source has are checked and stripped; if both have them, they are
 * checked and passed on, and parts whose format differs are generated again.
 *
 * On a wrong field the device still transfers the data.  It writes the first error to the last part
 * of the struct, with the member error last, before the completion of the work request.  REG_MR
 * sets error to GOOD.
 */
struct vhca_integrity {
	struct vhca_dif mem;
	struct vhca_dif wire;
	__le16 interval;		/* bytes of data, VHCA_DIF_MIN_INTERVAL to MAX */
	__u8 check;			/* bytes of a field to check, the first one is bit 7 */
	__u8 rsvd0;
	__le32 data_entries;
	__le32 error;			/* enum vhca_dif_error */
	__le32 expected;
	__le32 actual;
	__le32 rsvd1;
	__le64 interval_nr;		/* number of the first wrong interval, from 0 */
};

static_assert(sizeof(struct vhca_integrity) == 64);

struct vhca_create_mkey_req {
	struct vhca_buf buf;
	__le64 iova;
	__le64 length;
	__le32 pdn;
	__le32 access;			/* VHCA_ACCESS_* */
	__u8 type;			/* enum vhca_mkey_type */
	__u8 variant;			/* low byte of the key, chosen by the consumer */
	__u8 rsvd[6];
};

static_assert(sizeof(struct vhca_create_mkey_req) == 56);

#define VHCA_MKEY_MOD_ACCESS	(1U << 0)
#define VHCA_MKEY_MOD_PD	(1U << 1)
#define VHCA_MKEY_MOD_BUF	(1U << 2)	/* buf, iova, length */

struct vhca_modify_mkey_req {
	struct vhca_create_mkey_req attr;	/* type and variant cannot change: zero */
	__le32 key;
	__le32 mask;			/* VHCA_MKEY_MOD_* */
};

static_assert(sizeof(struct vhca_modify_mkey_req) == 64);

#endif /* VHCA_DEFS_MKEY_H */
