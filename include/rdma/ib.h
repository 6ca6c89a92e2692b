/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * AF_IB addresses.
 */
#ifndef _RDMA_IB_H
#define _RDMA_IB_H

#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/types.h>
#include <linux/uaccess.h>

/* A GID in network byte order. */
struct ib_addr {
	union {
		__u8		uib_addr8[16];
		__be16		uib_addr16[8];
		__be32		uib_addr32[4];
		__be64		uib_addr64[2];
	} ib_u;
#define sib_addr8		ib_u.uib_addr8
#define sib_addr16		ib_u.uib_addr16
#define sib_addr32		ib_u.uib_addr32
#define sib_addr64		ib_u.uib_addr64
#define sib_raw			ib_u.uib_addr8
#define sib_subnet_prefix	ib_u.uib_addr64[0]
#define sib_interface_id	ib_u.uib_addr64[1]
};

/* Is it the wildcard address, all zeroes? */
static inline bool ib_addr_any(const struct ib_addr *a)
{
	return !(a->sib_subnet_prefix | a->sib_interface_id);
}

/* Is it ::1? */
static inline bool ib_addr_loopback(const struct ib_addr *a)
{
	return !a->sib_subnet_prefix && a->sib_interface_id == cpu_to_be64(1);
}

static inline void ib_addr_set(struct ib_addr *addr, __be32 w1, __be32 w2, __be32 w3, __be32 w4)
{
	const __be32 words[] = { w1, w2, w3, w4 };

	memcpy(addr->sib_addr32, words, sizeof(words));
}

/* Compares two addresses as memcmp() does. */
static inline int ib_addr_cmp(const struct ib_addr *a1, const struct ib_addr *a2)
{
	return memcmp(a1->sib_raw, a2->sib_raw, sizeof(a1->sib_raw));
}

/**
 * struct sockaddr_ib - socket address of family AF_IB
 * @sib_family: AF_IB
 * @sib_pkey: partition key
 * @sib_flowinfo: flow label and traffic class
 * @sib_addr: GID
 * @sib_sid: service identifier
 * @sib_sid_mask: bits of @sib_sid that are compared
 * @sib_scope_id: scope
 */
struct sockaddr_ib {
	unsigned short int	sib_family;
	__be16			sib_pkey;
	__be32			sib_flowinfo;
	struct ib_addr		sib_addr;
	__be64			sib_sid;
	__be64			sib_sid_mask;
	__u64			sib_scope_id;
};

/**
 * ib_safe_file_access() - may write() on this file act as a command?
 * @filp: file
 *
 * A descriptor passed to a more privileged program, a setuid one for example, must not make that
 * program issue commands by writing to it.
 *
 * Return: true when the caller has the credentials of the file's opener.
 */
static inline bool ib_safe_file_access(struct file *filp)
{
	const struct cred *opener = filp->f_cred;

	return current_cred() == opener;
}

#endif /* _RDMA_IB_H */
