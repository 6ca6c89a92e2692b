// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Tools of the cases: objects that are destroyed with the case, pairs of QPs, requests, and checks
 * of completions and events.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "semantics.h"
#include "semantics_run.h"

#define PATIENCE_MS	20000

jmp_buf case_end;

struct hca hca[2];
unsigned int num_hcas;

/* Objects of this case, oldest first. */
static struct {
	void *obj;
	int (*destroy)(void *obj);
} kept[512];

static unsigned int num_kept;

static void failed(const char *file, int line)
{
	printf("# at %s:%d\n", file, line);
	longjmp(case_end, 1);
}

void is_(long long want, long long got, const char *what, const char *file, int line)
{
	if (want == got)
		return;
	printf("# %s: expected %lld (%#llx), got %lld (%#llx)\n", what, want, want, got, got);
	failed(file, line);
}

void keep(void *obj, int (*destroy)(void *obj))
{
	IS(true, !!obj);
	IS(1, num_kept < sizeof(kept) / sizeof(kept[0]));
	kept[num_kept].obj = obj;
	kept[num_kept++].destroy = destroy;
}

int end_of(void *obj)
{
	unsigned int i;
	int err;

	for (i = num_kept; i-- && kept[i].obj != obj;)
		;
	IS(1, i < num_kept);
	err = kept[i].destroy(obj);
	if (err)
		return err;
	num_kept--;
	memmove(&kept[i], &kept[i + 1], (num_kept - i) * sizeof(kept[0]));
	return 0;
}

/* The case fails if an object cannot be destroyed. */
bool release_all(void)
{
	bool good = true;
	int err;

	while (num_kept) {
		num_kept--;
		err = kept[num_kept].destroy(kept[num_kept].obj);
		if (err)
			printf("# object %u is not destroyed: %s\n", num_kept, strerror(err));
		good = good && !err;
	}
	return good;
}

static int no_qp(void *obj) { return ibv_destroy_qp(obj); }
static int no_cq(void *obj) { return ibv_destroy_cq(obj); }
static int no_channel(void *obj) { return ibv_destroy_comp_channel(obj); }
static int no_mr(void *obj) { return ibv_dereg_mr(obj); }
static int no_mw(void *obj) { return ibv_dealloc_mw(obj); }
static int no_srq(void *obj) { return ibv_destroy_srq(obj); }
static int no_ah(void *obj) { return ibv_destroy_ah(obj); }
static int no_memory(void *obj) { free(obj); return 0; }

void *make_memory(size_t len)
{
	void *mem = aligned_alloc(4096, (len + 4095) & ~4095UL);

	keep(mem, no_memory);
	memset(mem, 0, (len + 4095) & ~4095UL);
	return mem;
}

struct ibv_comp_channel *make_channel(struct hca *h)
{
	struct ibv_comp_channel *channel = ibv_create_comp_channel(h->ctx);

	keep(channel, no_channel);
	return channel;
}

struct ibv_cq *make_cq(struct hca *h, int cqe, struct ibv_comp_channel *channel)
{
	struct ibv_cq *cq = ibv_create_cq(h->ctx, cqe, NULL, channel, 0);

	keep(cq, no_cq);
	return cq;
}

struct ibv_mr *make_mr(struct ibv_pd *pd, void *addr, size_t len, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, addr, len, access);

	keep(mr, no_mr);
	return mr;
}

struct ibv_mw *make_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	struct ibv_mw *mw = ibv_alloc_mw(pd, type);

	keep(mw, no_mw);
	return mw;
}

struct ibv_srq *make_srq(struct hca *h, uint32_t max_wr)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = max_wr, .max_sge = 1 } };
	struct ibv_srq *srq = ibv_create_srq(h->pd, &attr);

	keep(srq, no_srq);
	return srq;
}

struct ibv_ah *make_ah(struct hca *h, const struct hca *to, bool grh)
{
	struct ibv_ah_attr attr = { .dlid = to->port.lid, .port_num = 1, .is_global = grh };
	struct ibv_ah *ah;

	if (grh) {
		IS(0, ibv_query_gid(to->ctx, 1, 0, &attr.grh.dgid));
		attr.grh.hop_limit = 4;
		attr.grh.traffic_class = 0x5a;
		attr.grh.flow_label = 0x12345;
	}
	ah = ibv_create_ah(h->pd, &attr);
	keep(ah, no_ah);
	return ah;
}

struct ibv_qp *make_qp(struct end *e, const struct opts *o, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr init = {
		.qp_type = o->type ? o->type : IBV_QPT_RC,
		.send_cq = e->scq, .recv_cq = e->rcq, .srq = srq,
		.cap = o->caps,
	};
	struct ibv_qp *qp;

	if (!init.cap.max_send_wr)
		init.cap.max_send_wr = DEPTH;
	if (!init.cap.max_send_sge)
		init.cap.max_send_sge = 4;
	if (!srq && e->rcq) {
		if (!init.cap.max_recv_wr)
			init.cap.max_recv_wr = DEPTH;
		if (!init.cap.max_recv_sge)
			init.cap.max_recv_sge = 4;
	}
	if (!init.cap.max_inline_data)
		init.cap.max_inline_data = 64;
	qp = ibv_create_qp(e->h->pd, &init);
	keep(qp, no_qp);
	return qp;
}

struct end make_end(struct hca *h, const struct opts *o, struct ibv_srq *srq)
{
	struct end e = { .h = h };

	e.buf = make_memory(BUF);
	e.mr = make_mr(h->pd, e.buf, BUF, ALL_RIGHTS);
	e.scq = make_cq(h, 2 * DEPTH, NULL);
	e.rcq = make_cq(h, 4 * DEPTH, NULL);
	e.qp = make_qp(&e, o, srq);
	return e;
}

static uint8_t number(uint8_t given, uint8_t otherwise)
{
	return given == NONE ? 0 : given ? given : otherwise;
}

/* Values of all attributes; a transition's mask selects those that it needs. */
struct ibv_qp_attr path_attr(const struct end *e, const struct end *peer, const struct opts *o)
{
	struct ibv_qp_attr attr = {
		.cur_qp_state = IBV_QPS_RTS, .path_mtu = IBV_MTU_1024,
		.path_mig_state = IBV_MIG_MIGRATED, .qkey = QKEY, .port_num = 1,
		.dest_qp_num = peer->qp->qp_num,
		.ah_attr = { .dlid = peer->h->port.lid, .port_num = 1 },
		.alt_ah_attr = { .dlid = peer->h->port.lid, .port_num = 1 }, .alt_port_num = 1,
		.max_rd_atomic = number(o->rd, 4), .max_dest_rd_atomic = number(o->dest_rd, 4),
		.min_rnr_timer = number(o->min_rnr, 1), .timeout = number(o->timeout, 14),
		.retry_cnt = number(o->retry, 7), .rnr_retry = number(o->rnr_retry, 7),
	};

	(void)e;
	attr.qp_access_flags = o->access == NONE ? 0 : o->access ? o->access : ALL_REMOTE;
	return attr;
}

/* The attributes that the transition to a state requires, from the state before it. */
int mask_of(enum ibv_qp_type type, enum ibv_qp_state to)
{
	const int path = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
	const bool ud = type == IBV_QPT_UD;

	switch (to) {
	case IBV_QPS_INIT:
		return IBV_QP_PKEY_INDEX | IBV_QP_PORT | (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
	case IBV_QPS_RTR:
		if (ud)
			return 0;
		if (type == IBV_QPT_UC || type == IBV_QPT_XRC_SEND)
			return path;
		return path | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	case IBV_QPS_RTS:
		if (ud || type == IBV_QPT_UC)
			return IBV_QP_SQ_PSN;
		if (type == IBV_QPT_XRC_RECV)
			return IBV_QP_TIMEOUT | IBV_QP_SQ_PSN;
		return IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
		       IBV_QP_MAX_QP_RD_ATOMIC;
	default:
		return 0;
	}
}

int go(struct ibv_qp *qp, struct ibv_qp_attr attr, enum ibv_qp_state to, int mask)
{
	attr.qp_state = to;
	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | mask);
}

void bring(struct end *e, const struct end *peer, const struct opts *o)
{
	enum ibv_qp_state last = o->state ? o->state : IBV_QPS_RTS;

	for (enum ibv_qp_state to = IBV_QPS_INIT; to <= last; to++)
		IS(0, go(e->qp, path_attr(e, peer, o), to, mask_of(e->qp->qp_type, to)));
}

void pair_up(struct pair *p, const struct opts *o)
{
	p->a = make_end(&hca[0], o, NULL);
	p->b = make_end(o->far ? o->far : &hca[0], o, o->srq);
	bring(&p->a, &p->b, o);
	bring(&p->b, &p->a, o);
}

enum ibv_qp_state state_of(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	IS(0, ibv_query_qp(qp, &attr, IBV_QP_STATE, &init));
	return attr.qp_state;
}

int post(struct end *e, const struct req *r)
{
	struct ibv_sge sge = {
		.addr = r->addr ? r->addr : (uintptr_t)e->buf + r->off,
		.length = r->len, .lkey = r->lkey ? r->lkey : e->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = r->id, .opcode = r->op, .sg_list = &sge, .num_sge = r->len ? 1 : 0,
		.send_flags = r->flags | (r->quiet ? 0 : IBV_SEND_SIGNALED),
		.imm_data = htonl(r->imm),
	}, *bad;
	uint64_t raddr = r->to ? (uintptr_t)r->to->buf + r->raddr : r->raddr;
	uint32_t rkey = r->rkey ? r->rkey : r->to ? r->to->mr->rkey : 0;
	int err;

	if (r->op == IBV_WR_SEND_WITH_INV || r->op == IBV_WR_LOCAL_INV)
		wr.invalidate_rkey = r->imm;
	if (r->ah) {
		wr.wr.ud.ah = r->ah;
		wr.wr.ud.remote_qpn = r->qpn;
		wr.wr.ud.remote_qkey = r->qkey ? r->qkey : QKEY;
	} else if (r->op == IBV_WR_ATOMIC_CMP_AND_SWP || r->op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = raddr;
		wr.wr.atomic.rkey = rkey;
		wr.wr.atomic.compare_add = r->op == IBV_WR_ATOMIC_CMP_AND_SWP ? r->cmp : r->add;
		wr.wr.atomic.swap = r->add;
	} else {
		wr.wr.rdma.remote_addr = raddr;
		wr.wr.rdma.rkey = rkey;
	}
	wr.qp_type.xrc.remote_srqn = r->srqn;
	err = ibv_post_send(e->qp, &wr, &bad);
	IS(1, !err || bad == &wr);
	return err;
}

/* Into the SRQ where the QP has one. */
int post_recv(struct end *e, uint64_t id, uint32_t off, uint32_t len, uint32_t lkey)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)e->buf + off, .length = len,
		.lkey = lkey ? lkey : e->mr->lkey,
	};
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = len ? 1 : 0 }, *bad;
	int err;

	err = e->qp->srq ? ibv_post_srq_recv(e->qp->srq, &wr, &bad) :
			   ibv_post_recv(e->qp, &wr, &bad);
	IS(1, !err || bad == &wr);
	return err;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ULL + t.tv_nsec / 1000000;
}

struct ibv_wc wc_(struct ibv_cq *cq, uint64_t id, enum ibv_wc_status status, const char *file,
		  int line)
{
	uint64_t end = now_ms() + PATIENCE_MS;
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(cq, 1, &wc)) && now_ms() < end)
		;
	is_(1, n, "completions", file, line);
	if (wc.wr_id != id || wc.status != status) {
		printf("# expected completion %llu: %s, got %llu: %s (opcode %d)\n",
		       (unsigned long long)id, ibv_wc_status_str(status),
		       (unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status), wc.opcode);
		failed(file, line);
	}
	return wc;
}

void none_(struct ibv_cq *cq, const char *file, int line)
{
	struct ibv_wc wc;
	int n = ibv_poll_cq(cq, 1, &wc);

	if (!n)
		return;
	printf("# expected no completion, got %llu: %s\n", (unsigned long long)wc.wr_id,
	       n > 0 ? ibv_wc_status_str(wc.status) : "an error");
	failed(file, line);
}

static bool readable(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, ms) == 1;
}

void event_(struct hca *h, enum ibv_event_type type, void *element, const char *file, int line)
{
	struct ibv_async_event event;

	is_(1, readable(h->ctx->async_fd, PATIENCE_MS), "events", file, line);
	IS(0, ibv_get_async_event(h->ctx, &event));
	ibv_ack_async_event(&event);
	if (event.event_type != type)
		printf("# expected %s, got %s\n", ibv_event_type_str(type),
		       ibv_event_type_str(event.event_type));
	is_(type, event.event_type, "event", file, line);
	is_(1, event.element.qp == element, "the event's object", file, line);
}

/* Takes and prints events that no case has asked for. */
bool events_left(void)
{
	struct ibv_async_event event;
	bool any = false;

	for (unsigned int i = 0; i < num_hcas; i++) {
		while (readable(hca[i].ctx->async_fd, 0)) {
			if (ibv_get_async_event(hca[i].ctx, &event))
				break;
			ibv_ack_async_event(&event);
			printf("# an event too many on device %u: %s\n", i,
			       ibv_event_type_str(event.event_type));
			any = true;
		}
	}
	return any;
}

/* Has an event come?  It is not read. */
void cq_event_waits(struct ibv_comp_channel *channel)
{
	IS(1, readable(channel->fd, PATIENCE_MS));
}

void cq_event(struct ibv_comp_channel *channel, struct ibv_cq *cq)
{
	struct ibv_cq *got;
	void *context;

	cq_event_waits(channel);
	IS(0, ibv_get_cq_event(channel, &got, &context));
	ibv_ack_cq_events(got, 1);
	IS(1, got == cq);
}

void round_trip(struct pair *p)
{
	struct end *from = &p->a, *to = &p->b;

	for (int i = 0; i < 2; i++) {
		RECV(to, 9001, 64);
		IS(0, POST(from, .op = IBV_WR_SEND, .id = 9000, .len = 8));
		WC(from->scq, 9000, SUCCESS);
		WC(to->rcq, 9001, SUCCESS);
		from = &p->b;
		to = &p->a;
	}
}
