/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory keys: regions, windows, and access through a key.
 */
#ifndef VHCAD_RES_MKEY_H
#define VHCAD_RES_MKEY_H

#include "lib/list.h"
#include "res/buf.h"
#include "res/pd.h"

/**
 * struct vmkey - a region or a window
 * @key: index and variant; FMR: the record has the variant
 * @access: VHCA_ACCESS_*; FAST, windows: 0 when invalid
 * @type: enum vhca_mkey_type
 * @pd: protection domain
 * @iova: first address of its address space; FMR: where the record is
 * @length: bytes; FAST, windows: 0 when invalid
 * @buf: region: its pages; FAST and other keys that REG_MR is for: the list, of which npages
 *	entries are in use
 * @entries: FAST: entries that fit in the list
 * @windows: windows bound to this region
 * @mw: windows only
 * @mw.mr: region that the window is bound to, or NULL
 * @mw.of: list of the QP's windows that it is on, or NULL; type 2 only
 * @mw.start: address of the region that @iova stands for
 * @mw.node: on @mw.of
 *
 * Regions know how many windows are bound to them, and windows of type 2 are listed by their QP,
 * so that neither outlives the other.
 */
struct vmkey {
	u32 key;
	u8 access;
	u8 type;
	struct vpd *pd;
	u64 iova;
	u64 length;
	union {
		struct {
			struct vbuf buf;
			u32 entries;
			u32 windows;
		};
		struct {
			struct vmkey *mr;
			const struct mkey_owner *of;
			u64 start;
			struct list_head node;
		} mw;
	};
};

static_assert(sizeof(struct vmkey) <= 72, "a million keys take 80 MB");

/**
 * struct mkey_owner - the windows of type 2 that belong to a QP
 * @windows: struct vmkey
 * @qpn: the QP's number
 */
struct mkey_owner {
	struct list_head windows;
	u32 qpn;
};

/**
 * struct mkey_scope - for whom memory is accessed
 * @dev: device
 * @pd: protection domain; NULL: none, and nothing is granted
 * @owner: QP whose peer has named a key; NULL: the key is a local one, so no window
 */
struct mkey_scope {
	struct vhca_dev *dev;
	const struct vpd *pd;
	const struct mkey_owner *owner;
};

/* Rights that an access needs. */
#define MKEY_READ_LOCAL		0u	/* always granted */
#define MKEY_WRITE_LOCAL	VHCA_ACCESS_LOCAL_WRITE
#define MKEY_READ_REMOTE	VHCA_ACCESS_REMOTE_READ
#define MKEY_WRITE_REMOTE	VHCA_ACCESS_REMOTE_WRITE
#define MKEY_ATOMIC_REMOTE	VHCA_ACCESS_REMOTE_ATOMIC

/**
 * mkey_find() - does a key grant an access?
 * @s: for whom
 * @key: all 32 bits
 * @addr: first byte in the key's address space
 * @len: bytes; 0: only the key is checked, not the address
 * @access: VHCA_ACCESS_* that are needed, not 0
 *
 * The answer holds until the next command or send queue entry is executed: ask again, or map again,
 * for every packet.
 *
 * Return: the key, or NULL.
 */
struct vmkey *mkey_find(const struct mkey_scope *s, u32 key, u64 addr, u64 len, u32 access);

/**
 * struct matomic - an atomic operation on eight bytes
 * @opcode: VHCA_OP_*, of the send queue entry
 * @swap_add: or the value of ATOMIC_WRITE
 * @compare: compared with what is there
 * @mask: masked operations: bits that change
 * @compare_mask: masked compare and swap: bits that are compared
 *
 * Values are numbers in the host's byte order.
 */
struct matomic {
	u8 opcode;
	u64 swap_add;
	u64 compare;
	u64 mask;
	u64 compare_mask;
};

/**
 * mkey_atomic() - carry out an atomic operation of the peer
 * @s: for whom
 * @key: remote key
 * @addr: address in the key's space
 * @op: operation; only masked ones have masks
 * @old: receives what was there before; 0 with ATOMIC_WRITE
 *
 * Return: 0, VHCA_CS_REM_INV_REQ_ERR when the word is not aligned, or VHCA_CS_REM_ACCESS_ERR.  The
 * memory is untouched on error.
 */
u8 mkey_atomic(const struct mkey_scope *s, u32 key, u64 addr, const struct matomic *op, u64 *old);

/**
 * mkey_register() - give a FAST, FAST_SG or INTEGRITY key its range and its variant
 * @s: the QP whose send queue asks for it
 * @reg: private copy of the entry's segment
 *
 * Return: 0, or the status to complete with, when nothing has changed.
 */
u8 mkey_register(const struct mkey_scope *s, const struct vhca_wqe_reg *reg);

/**
 * mkey_bind() - bind a window
 * @s: the QP whose send queue asks for it
 * @owner: that QP's windows
 * @bind: private copy of the entry's segment
 *
 * Return: as mkey_register().
 */
u8 mkey_bind(const struct mkey_scope *s, struct mkey_owner *owner,
	     const struct vhca_wqe_bind *bind);

/**
 * mkey_invalidate() - invalidate a FAST, FAST_SG or INTEGRITY key or a window of type 2
 * @s: the QP that asks for it, or whose peer does
 * @key: all 32 bits
 * @remote: the peer asks
 *
 * No byte passes through the key afterwards, whatever was under way.
 *
 * Return: as mkey_register().
 */
u8 mkey_invalidate(const struct mkey_scope *s, u32 key, bool remote);

/**
 * mkey_forget_owner() - unbind up to @most windows of a QP that is destroyed; returns what is left
 * of @most
 */
u32 mkey_forget_owner(struct mkey_owner *owner, u32 most);

/** mkey_unbind() - unbind a key if it is a bound window */
void mkey_unbind(struct vmkey *mk);
/** mkey_destroy() - free a key: a region without windows, or a window that is not bound */
void mkey_destroy(struct vhca_dev *dev, struct vmkey *mk);

enum vhca_status cmd_create_mkey(struct command *c);
enum vhca_status cmd_destroy_mkey(struct command *c);
enum vhca_status cmd_modify_mkey(struct command *c);
enum vhca_status cmd_fence_mkeys(struct command *c);

static inline bool mkey_is_window(const struct vmkey *mk)
{
	return mk->type == VHCA_MKEY_MW_1 || mk->type == VHCA_MKEY_MW_2;
}

#endif /* VHCAD_RES_MKEY_H */
