/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared by the files of the campaign: flows of messages, their receives, and the model's state of
 * both.
 */
#ifndef VHCAD_TESTS_CFLOW_H
#define VHCAD_TESTS_CFLOW_H

#include <pthread.h>

#include "tests/campaign.h"
#include "tests/thca.h"

#define DEVS		3u
#define PORTS		2u	/* of each device */
#define FLOWS		24u
#define DEPTH		32u	/* messages of a flow under way */
#define WANTS		64u	/* of a reliable flow that have no receive yet */
#define RECENT		4096u	/* of an unreliable flow that may still arrive */
#define MSG_MAX		12288u
#define GUARD		64u	/* bytes behind a buffer that must not be written */
#define SLOT		(MSG_MAX + GUARD)
#define WSLOTS		8u	/* places in a flow's window */
#define WORDS		4u	/* words of its own for atomics */
#define POOL		64u	/* receives of a queue */
#define UNTOUCHED	0xee
#define GRH_ROOM	40u
#define RECV_ID		(1ull << 63)
#define FAST_IOVA	(1ull << 50)

/* A message that is under way. */
struct msg {
	u64 id;
	u64 expect;		/* what an atomic fetches */
	u32 len;
	u32 wslot, woff;	/* in the window */
	u8 op;
	bool signaled;
	bool shared;		/* atomic on the word that all flows share */
};

/* A message that has to arrive. */
struct want {
	u64 id;
	u32 len;
	u32 imm;
	u8 op;
	u8 arrived;
};

/* A queue of receives. */
struct pool {
	struct thca *h;
	struct tqp *qp;		/* the QP that has them; NULL: they are of @srq */
	struct tsrq srq;
	struct tmr mr;
	u32 fifo[POOL], head, tail;	/* posted, in order */
	bool posted[POOL];
};

enum { W_UNBOUND, W_BOUND, W_BINDING, W_ENDING };

/* A memory window over the region that a flow writes to. */
struct window {
	u32 key;
	u8 type;		/* VHCA_MKEY_MW_1 or 2 */
	u8 state;		/* W_* */
	u64 iova;		/* of its first byte */
	u32 start, end;		/* in the flow's window */
	u32 used;		/* behind the last request that uses it */
};

/* A fast key over the memory that a flow sends from and reads to. */
struct sink {
	u32 key;
	bool valid;		/* for what is posted next */
	bool ending;		/* a READ that ends it is under way */
};

/* Messages from one QP to another. */
struct flow {
	struct campaign *c;
	u32 no;
	u8 type;		/* enum vhca_qp_type */
	u8 mtu;			/* enum ib_mtu */
	struct tqp *qp, *peer;
	struct pool *pool;
	struct tmr local, window;
	struct msg q[DEPTH];
	u32 head, tail;
	u32 reads_of[WSLOTS];
	bool broken;		/* ran out of retries */
	struct vhca_wqe_ud address;	/* UD */
	struct flow *back;	/* RC: the flow in the other direction */
	u32 fast_key;		/* RC: one that SENDs may invalidate */
	bool key_busy;
	bool moves;		/* migrates between two paths */
	struct window window_key;
	struct sink sink;
	u8 *shadow;		/* what the region must contain */
	u64 word[WORDS];
	u8 (*expect)[MSG_MAX];	/* contents of answers to READs */
	struct want want[WANTS], *recent;
	u32 want_head, want_tail;
	u64 last_arrived;	/* unreliable */
	u32 nrecent;
	struct want written[WSLOTS];	/* UC: this epoch's, id 0: none */
};

struct campaign {
	const struct campaign_options *o;
	struct campaign_result *r;
	u64 rng, scatter;
	struct tworld w;
	pthread_t thread[4];
	struct capture *capture;
	struct thca h[DEVS];
	struct tcq cq[DEVS];
	struct tmr counter[DEVS];	/* a word that all flows to a device add to */
	u64 added[DEVS], unsure[DEVS];
	u8 *fetched[DEVS];	/* bits: values that an add has fetched */
	u32 xrcd;
	struct tqp qp[2 * FLOWS];
	struct pool pools[2 * FLOWS];
	struct flow flow[FLOWS];
	u32 nqps, npools, nflows;
	bool ending;		/* receives are flushed */
	bool faultless, doubling;
	bool stingy;		/* posts few receives: RNR NAKs */
	u64 id;
	u32 moved;		/* completions so far */
};

/* campaign.c */
u64 c_rnd(struct campaign *c, u64 below);
/** c_wrong() - fails the campaign */
void c_wrong(struct campaign *c, const struct flow *f, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 3, 4)));
static inline bool c_reliable(const struct flow *f)
{
	return f->type != VHCA_QPT_UC && f->type != VHCA_QPT_UD;
}

/* cmodel.c */
/** c_fill() - fill in the contents of a message */
void c_fill(u8 *to, u64 id, u32 len);
/** c_post() - post one more message; @last: of the epoch */
void c_post(struct flow *f, bool last);
/** c_completed() - a completion of one of the flow's requests */
void c_completed(struct flow *f, const struct vhca_cqe *e);
/** c_due() - is there a request that must complete, and that asks for a completion? */
bool c_due(const struct flow *f);
/** c_quiet() - check memory, when everything has completed */
void c_quiet(struct flow *f);

/* ckeys.c */
void c_keys_init(struct flow *f);
/** c_keys_reset() - only the fast key is registered, and no window is bound */
void c_keys_reset(struct flow *f);
/** c_keys_quiet() - check the state of the keys, when everything has completed */
void c_keys_quiet(struct flow *f);
/** c_make_keys() - a request that makes or invalidates a key; false: none is possible now */
bool c_make_keys(struct flow *f, struct msg *m, struct twr *wr);
/** c_keys_done() - a request was carried out */
void c_keys_done(struct flow *f, const struct msg *m);
/** c_local() - a piece of the flow's own memory, by one of its keys */
struct vhca_sge c_local(struct flow *f, u64 off, u32 len);
/** c_remote() - fill in an address in the peer's memory, by one of its keys */
void c_remote(struct flow *f, struct twr *wr, u64 off, u32 len);
/** c_read_ends_key() - may this READ invalidate the key it reads to?  Then it does */
bool c_read_ends_key(struct flow *f, struct twr *wr, u64 off, u32 len);
/** c_key_to_end() - a key of the peer that a SEND invalidates, or 0 */
u32 c_key_to_end(struct flow *f, struct twr *wr);
/** c_key_ended() - a SEND that invalidates a key has arrived */
void c_key_ended(struct flow *f, u32 key);

/* cpath.c */
/** c_paths() - now and then load another path for a connection, or migrate it */
void c_paths(struct campaign *c);

/* crecv.c */
void c_pool_init(struct campaign *c, struct pool *p, struct thca *h, struct tqp *qp);
/** c_pool_refill() - post some receives, or as many as there is room for */
void c_pool_refill(struct campaign *c, struct pool *p, bool all);
/** c_received() - a completion of a receive of this device */
void c_received(struct campaign *c, struct thca *h, const struct vhca_cqe *e);

#endif /* VHCAD_TESTS_CFLOW_H */
