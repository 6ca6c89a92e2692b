/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared by the parts of rdma_kmem.
 */
#ifndef KMEM_H
#define KMEM_H

#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <rdma/ib_verbs.h>
#include <rdma/rw.h>
#ifndef __CHECKER__	/* sparse does not know __has_include */
#if __has_include(<rdma/rdma_ext.h>)
#include <rdma/rdma_ext.h>
#define HAVE_EXT 1
#endif
#endif

extern uint kmem_passed, kmem_failed;

#define PAGES		256		/* of the memory: 1 MiB */
#define CHUNK		16		/* pages of one READ or WRITE */
#define DEPTH		128
#define RW_PARTS	4		/* R/W contexts at a time */
#define PATIENCE	(60 * HZ)

enum op { OP_PUT, OP_GET, OP_EXPOSE, OP_END, OP_RW_PUT, OP_RW_GET, OP_DONE };

/* The message that the sides exchange. */
struct msg {
	u32 op;
	u32 rkey;
	u64 addr;
	u32 words;
	u32 seed;
	u32 parts;	/* R/W contexts that the memory is divided among */
	u32 offset;	/* words that each leaves out at its beginning */
	u32 keep;	/* the answer does not invalidate the key */
	u32 bad;
};

struct request {
	struct ib_cqe cqe;
	struct completion done;
	struct ib_wc wc;
};

/* Memory of a side, in single pages. */
struct pages {
	struct page *page[PAGES];
	struct scatterlist sg[PAGES];
	u32 *mem;
};

/* A side. */
struct kmem {
	struct ib_device *dev;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	struct ib_mr *mr, *gaps;
	struct pages own;		/* mapped as long as the side exists */
	struct pages rw;		/* mapped by R/W contexts */
	int mapped;
	struct msg *in, *out;
	u64 in_dma, out_dma;
	u16 lid;
	enum ib_mtu mtu;
	bool connected, server;
	struct request tx, rx, part;
	struct work_struct serve;
	atomic_t load_left;
	struct ib_cqe load_cqe;
	struct completion load_done;
};

#define CHECK(cond)								\
	({									\
		bool __ok = (cond);						\
										\
		if (__ok)							\
			kmem_passed++;						\
		else								\
			pr_err("rdma_kmem: %s:%d: not true: %s\n",		\
			       kbasename(__FILE__), __LINE__, #cond);		\
		kmem_failed += !__ok;						\
		__ok;								\
	})

/* The pattern that fills memory. */
static inline u32 kmem_word(u32 seed, u32 i)
{
	return seed + i * 0x9e3779b1;
}

/* kmem_talk.c */
void kmem_prepare(struct request *r);
bool kmem_came(struct request *r);
bool kmem_post(struct ib_qp *qp, struct request *r, struct ib_send_wr *wr);
int kmem_listen(struct kmem *k);
bool kmem_say(struct kmem *k, u32 inv);
void kmem_fill(struct kmem *k, u32 seed, u32 words);
u32 kmem_wrong(struct kmem *k, u32 seed, u32 words);
bool kmem_register(struct kmem *k, struct ib_qp *qp, struct ib_mr *mr, int pages);
bool kmem_invalidate(struct kmem *k, struct ib_qp *qp, struct ib_mr *mr);
bool kmem_ask(struct kmem *k, enum op op);
bool kmem_exchange(struct kmem *k, const struct msg *what, bool put);
int kmem_connect(struct kmem *k, struct ib_qp *qp, u16 lid, u32 qpn);
struct ib_qp *kmem_make_qp(struct ib_pd *pd, struct ib_cq *cq, u32 rw_ctxs);

/* kmem_rw.c: R/W contexts */
bool kmem_rw_read(struct kmem *k, const struct msg *m);
bool kmem_rw_write(struct kmem *k, const struct msg *m);
void kmem_rw_test(struct kmem *k);
unsigned int kmem_rw_load(struct kmem *k, struct ib_cqe *cqe, struct rdma_rw_ctx *ctx);
void kmem_rw_unload(struct kmem *k, struct rdma_rw_ctx *ctx, unsigned int n);

/* kmem_end.c: objects whose destruction a completion begins, and objects that are left */
void kmem_end_test(struct kmem *k);
int kmem_leave(struct kmem *k, unsigned int how);
void kmem_left(struct ib_device *dev);

/* kmem_fmr.c: memory that is mapped without a request */
void kmem_fmr_test(struct kmem *k);

/* kmem_uc.c: registration on an unreliable connection */
void kmem_uc_test(struct kmem *k);

/* kmem_pi.c: protection fields */
void kmem_pi_test(struct kmem *k);

#endif /* KMEM_H */
