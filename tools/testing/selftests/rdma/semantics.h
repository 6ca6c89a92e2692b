/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Cases that compare what verbs do with what hardware does. A case is a function; what it makes
 * here is destroyed when it returns, or when one of its checks fails and ends it.
 */
#ifndef SEMANTICS_H
#define SEMANTICS_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>

#define BUF	65536U		/* bytes of each end's memory */
#define DEPTH	16
#define QKEY	0x1234
#define GRH	40
#define NONE	0xff		/* in struct opts: the value 0 instead of the default */

#define ALL_REMOTE	(IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE |	\
			 IBV_ACCESS_REMOTE_ATOMIC)
#define ALL_RIGHTS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND | ALL_REMOTE)

struct hca {
	struct ibv_context *ctx;
	struct ibv_device_attr attr;
	struct ibv_port_attr port;
	struct ibv_pd *pd, *other_pd;
};

extern struct hca hca[2];
extern unsigned int num_hcas;

/* One end of a connection, with memory that is registered with all rights. */
struct end {
	struct hca *h;
	struct ibv_qp *qp;
	struct ibv_cq *scq, *rcq;
	struct ibv_mr *mr;
	uint8_t *buf;
};

/* The requester and the responder. */
struct pair {
	struct end a, b;
};

/**
 * struct opts - options of a new pair; a member that is 0 has its default
 * @type: RC
 * @far: device of the responder, that of the requester
 * @srq: of the responder
 * @caps: of both QPs: DEPTH requests with four entries, 64 bytes inline
 * @access: what the responder's QP allows: all; NONE: nothing
 * @rd: READs and atomics under way from the requester, 4
 * @dest_rd: the same at the responder
 * @timeout: 14
 * @retry: 7
 * @rnr_retry: 7
 * @min_rnr: 1
 * @state: state that both QPs are taken to: RTS
 */
struct opts {
	enum ibv_qp_type type;
	struct hca *far;
	struct ibv_srq *srq;
	struct ibv_qp_cap caps;
	int access;
	uint8_t rd, dest_rd, timeout, retry, rnr_retry, min_rnr;
	enum ibv_qp_state state;
};

/**
 * struct req - a request; it is signaled
 * @op: opcode
 * @id: wr_id
 * @off: offset of its data in the end's memory
 * @len: how many bytes; 0: it has no list
 * @addr: address of the data instead
 * @lkey: key for them, default that of the end's memory
 * @flags: of the request
 * @quiet: it is not signaled
 * @to: end whose memory it accesses
 * @raddr: offset in that memory
 * @rkey: key for it instead of the end's
 * @imm: immediate data, or the key to invalidate
 * @cmp: compare operand of an atomic
 * @add: to be added, or swapped in
 * @ah: destination of a datagram
 * @qpn: QP number of the destination
 * @qkey: QKEY
 * @srqn: SRQ number of the destination
 */
struct req {
	enum ibv_wr_opcode op;
	uint64_t id;
	uint32_t off, len;
	uint64_t addr;
	uint32_t lkey;
	unsigned int flags;
	bool quiet;
	const struct end *to;
	uint64_t raddr;
	uint32_t rkey;
	uint32_t imm;
	uint64_t cmp, add;
	struct ibv_ah *ah;
	uint32_t qpn, qkey, srqn;
};

/* A case, and its argument. */
struct test {
	const char *name;
	void (*run)(long arg);
	long arg;
};

struct suite {
	const struct test *tests;
	unsigned int num;
};

#define SUITE(list)	{ list, sizeof(list) / sizeof((list)[0]) }

extern const struct suite states_suite, matrix_suite, errors_suite, memory_suite, queues_suite,
			  shared_suite, datagrams_suite, paths_suite;

void is_(long long want, long long got, const char *what, const char *file, int line);
#define IS(want, got)	is_((long long)(want), (long long)(got), #got, __FILE__, __LINE__)

/* Objects that are created here are destroyed at the end of the case, the newest first. */
struct ibv_cq *make_cq(struct hca *h, int cqe, struct ibv_comp_channel *channel);
struct ibv_comp_channel *make_channel(struct hca *h);
struct ibv_mr *make_mr(struct ibv_pd *pd, void *addr, size_t len, int access);
struct ibv_mw *make_mw(struct ibv_pd *pd, enum ibv_mw_type type);
struct ibv_srq *make_srq(struct hca *h, uint32_t max_wr);
struct ibv_ah *make_ah(struct hca *h, const struct hca *to, bool grh);
struct ibv_qp *make_qp(struct end *e, const struct opts *o, struct ibv_srq *srq);
void *make_memory(size_t len);
void keep(void *obj, int (*destroy)(void *obj));
int end_of(void *obj);	/* destroys it before the case ends; returns the verb's result */

struct end make_end(struct hca *h, const struct opts *o, struct ibv_srq *srq);
struct ibv_qp_attr path_attr(const struct end *e, const struct end *peer, const struct opts *o);
int mask_of(enum ibv_qp_type type, enum ibv_qp_state to);
int go(struct ibv_qp *qp, struct ibv_qp_attr attr, enum ibv_qp_state to, int mask);
void bring(struct end *e, const struct end *peer, const struct opts *o);
void pair_up(struct pair *p, const struct opts *o);
#define PAIR(p, ...)	pair_up(p, &(struct opts){ __VA_ARGS__ })
enum ibv_qp_state state_of(struct ibv_qp *qp);

int post(struct end *e, const struct req *r);
#define POST(e, ...)	post(e, &(struct req){ __VA_ARGS__ })
int post_recv(struct end *e, uint64_t id, uint32_t off, uint32_t len, uint32_t lkey);
#define RECV(e, id, len)	IS(0, post_recv(e, id, 32768, len, 0))

struct ibv_wc wc_(struct ibv_cq *cq, uint64_t id, enum ibv_wc_status status, const char *file,
		  int line);
#define WC(cq, id, status)	wc_(cq, id, IBV_WC_##status, __FILE__, __LINE__)
#define WC_IS(cq, id, value)	wc_(cq, id, value, __FILE__, __LINE__)
void none_(struct ibv_cq *cq, const char *file, int line);
#define NO_WC(cq)		none_(cq, __FILE__, __LINE__)
void event_(struct hca *h, enum ibv_event_type type, void *element, const char *file, int line);
#define EVENT(h, type, obj)	event_(h, IBV_EVENT_##type, obj, __FILE__, __LINE__)
void cq_event_waits(struct ibv_comp_channel *channel);
void cq_event(struct ibv_comp_channel *channel, struct ibv_cq *cq);

/* A message from one to the other and one back: all earlier messages have arrived then. */
void round_trip(struct pair *p);

#endif
