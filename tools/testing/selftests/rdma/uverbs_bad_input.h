/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared by the parts of uverbs_bad_input.
 */
#ifndef UVERBS_BAD_INPUT_H
#define UVERBS_BAD_INPUT_H

#include <infiniband/verbs.h>
#include <stdbool.h>

#include "uverbs_raw.h"

#define DRIVER_ID	0	/* RDMA_DRIVER_UNKNOWN */
#define PAGE		4096ull
#define BUF_LEN		(16 * 4096)
#define BUF		((uintptr_t)buf)

/* Valid objects, made once. */
extern struct ibv_context *ctx;
extern struct ibv_pd *pd;
extern struct ibv_mr *mr;
extern struct ibv_comp_channel *channel;
extern struct ibv_cq *cq;
extern struct ibv_qp *qp;
extern char *buf;
extern int fd;		/* the context's */
extern int fresh;	/* open, without a context */

/* A request that is refused with this errno, or accepted (0). */
struct bad_input {
	const char *name;
	int (*run)(void);
	int err;
	const char *reason;	/* part of what fdinfo says; NULL when nothing is refused */
	bool on_fresh;		/* the reason is that of the file without a context */
	bool alone;		/* and no other is given */
};

#define ROW(_run, _err, _reason, ...) \
	{ .name = #_run, .run = _run, .err = _err, .reason = _reason, ##__VA_ARGS__ }

/* The tables, each ended by a row without a name. */
extern const struct bad_input bad_ioctls[], bad_objects[], bad_writes[], bad_datagrams[],
				bad_memory[];

int in_child(int (*run)(void));
int destroy_pd(int64_t handle);
int reg_mr(uint64_t start, uint64_t length, uint64_t va, uint32_t access, uint32_t pd_handle);

#endif /* UVERBS_BAD_INPUT_H */
