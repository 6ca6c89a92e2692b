// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * memory_faults DEVICE: requests that access memory without the right to do so, each with the
 * status with which it must complete, the state of its peer afterwards and the event that reports
 * it; TAP on stdout.  Nothing may be written, on either side.  Every request has a connection of
 * its own.
 */
#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>

#include "self_talk.h"

#define PAGE	4096u
#define ARENA	(16 * PAGE)	/* registered; a page on either side of it is not */
#define ALL	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | \
		 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND)
#define FAR	0xf0		/* the byte that fills the peer's memory */
#define NEAR	0x0f
#define WINDOW	(4 * PAGE)	/* where it begins, and how long it is */
#define HOSTILE	200		/* ranges drawn at random */

/* Keys for the peer's memory or our own; only the first is right. */
enum key {
	GOOD,
	OF_OTHER_PD,
	STALE,			/* key of a region that was deregistered */
	VARIANT_UP,		/* the right key with another low byte */
	VARIANT_DOWN,
	VARIANT_FAR,
	NEIGHBOUR,		/* another index */
	NONE,			/* 0 */
	ALL_ONES,
	NO_RIGHTS,
	READ_ALONE,
	WRITE_ALONE,
	TYPE_1,			/* windows of one page */
	TYPE_1_READ,
	TYPE_1_GONE,
	TYPE_2,			/* bound by another connection */
	KEYS,
};

static uint8_t *near, *far;
static uint32_t near_key[KEYS], far_key[KEYS];
static struct ibv_mr *near_mr, *far_mr, *other_mr, *readable, *writable, *bare;
static struct ibv_pd *other_pd;
static struct ibv_mw *window, *window_read, *window_2;

/* A connection, made for one fault. */
struct talk {
	struct ibv_cq *cq, *peer_cq;
	struct ibv_qp *qp, *peer;
};

static void allow_all(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = { .qp_access_flags = ALL & ~IBV_ACCESS_MW_BIND };

	must(!ibv_modify_qp(qp, &attr, IBV_QP_ACCESS_FLAGS), "rights of a QP");
}

static struct talk begin(void)
{
	struct talk t;

	t.cq = ibv_create_cq(context, DEPTH, NULL, NULL, 0);
	t.peer_cq = ibv_create_cq(context, DEPTH, NULL, NULL, 0);
	must(t.cq && t.peer_cq, "ibv_create_cq");
	t.qp = make_qp(IBV_QPT_RC, t.cq, NULL, 0);
	t.peer = make_qp(IBV_QPT_RC, t.peer_cq, NULL, 0);
	must(t.qp && t.peer, "ibv_create_qp");
	connect_qp(t.qp, t.peer);
	connect_qp(t.peer, t.qp);
	allow_all(t.qp);
	allow_all(t.peer);
	return t;
}

static void end(struct talk *t)
{
	must(!ibv_destroy_qp(t->qp) && !ibv_destroy_qp(t->peer) && !ibv_destroy_cq(t->cq) &&
	     !ibv_destroy_cq(t->peer_cq), "the end of a connection");
}

/* Is memory as it was, the pages around it too? */
static bool is_all(const uint8_t *at, uint8_t value, const char *whose)
{
	for (ptrdiff_t i = -(ptrdiff_t)PAGE; i < (ptrdiff_t)(ARENA + PAGE); i++) {
		if (at[i] == value)
			continue;
		printf("# byte %td of the %s memory is %#x\n", i, whose, at[i]);
		return false;
	}
	return true;
}

static bool untouched(void)
{
	return is_all(far, FAR, "peer's") & is_all(near, NEAR, "requester's");
}

/* Reads the next event, which must be this one. */
static bool told(const struct ibv_qp *qp, enum ibv_event_type type)
{
	struct ibv_async_event event;
	bool good;

	must(!ibv_get_async_event(context, &event), "ibv_get_async_event");
	good = event.event_type == type && event.element.qp == qp;
	if (!good)
		printf("# event %s\n", ibv_event_type_str(event.event_type));
	ibv_ack_async_event(&event);
	return good;
}

/* ---- one request ---- */

struct fault {
	const char *name;
	enum ibv_wr_opcode op;
	enum key local, remote;
	int64_t from, to;	/* relative to near and far */
	uint64_t len;
	enum ibv_wc_status status;
	enum ibv_event_type event;	/* the peer's, where its check failed the request */
};

static bool peer_did(enum ibv_wc_status status)
{
	return status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_REM_INV_REQ_ERR;
}

static bool run(const struct fault *f)
{
	struct ibv_sge sge = { (uintptr_t)near + f->from, f->len, near_key[f->local] };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = f->op, .send_flags = IBV_SEND_SIGNALED,
	}, *at;
	struct talk t = begin();
	struct ibv_wc wc;
	bool good;

	if (f->op == IBV_WR_ATOMIC_FETCH_AND_ADD || f->op == IBV_WR_ATOMIC_CMP_AND_SWP) {
		wr.wr.atomic.remote_addr = (uintptr_t)far + f->to;
		wr.wr.atomic.rkey = far_key[f->remote];
		wr.wr.atomic.compare_add = 0xf0f0f0f0f0f0f0f0;
		wr.wr.atomic.swap = 1;
	} else {
		wr.wr.rdma.remote_addr = (uintptr_t)far + f->to;
		wr.wr.rdma.rkey = far_key[f->remote];
	}
	must(!ibv_post_send(t.qp, &wr, &at), f->name);
	wc = complete(t.cq);
	good = wc.status == f->status;
	if (!good)
		printf("# %s: status %s, expected %s\n", f->name, ibv_wc_status_str(wc.status),
		       ibv_wc_status_str(f->status));
	if (peer_did(wc.status))
		good &= told(t.peer, f->event ?: IBV_EVENT_QP_ACCESS_ERR);
	good &= state_of(t.qp) == IBV_QPS_ERR;
	good &= state_of(t.peer) == (peer_did(f->status) ? IBV_QPS_ERR : IBV_QPS_RTS);
	end(&t);
	return good & untouched();
}

#define WRITE	IBV_WR_RDMA_WRITE
#define READ	IBV_WR_RDMA_READ
#define ADD	IBV_WR_ATOMIC_FETCH_AND_ADD
#define SWAP	IBV_WR_ATOMIC_CMP_AND_SWP
#define LOCAL	.status = IBV_WC_LOC_PROT_ERR
#define REMOTE	.status = IBV_WC_REM_ACCESS_ERR

static const struct fault faults[] = {
	/* wrong local keys */
	{ "key of another PD", WRITE, OF_OTHER_PD, .len = 64, LOCAL },
	{ "key that is gone", WRITE, STALE, .len = 64, LOCAL },
	{ "the next variant of a key", WRITE, VARIANT_UP, .len = 64, LOCAL },
	{ "the variant of a key before", WRITE, VARIANT_DOWN, .len = 64, LOCAL },
	{ "a variant far away", WRITE, VARIANT_FAR, .len = 64, LOCAL },
	{ "a key nobody has", WRITE, NEIGHBOUR, .len = 64, LOCAL },
	{ "key 0", WRITE, NONE, .len = 64, LOCAL },
	{ "key of all ones", WRITE, ALL_ONES, .len = 64, LOCAL },
	{ "a window as a local key", WRITE, TYPE_1, .from = WINDOW, .len = 64, LOCAL },
	{ "READ into memory registered for reading", READ, NO_RIGHTS, .len = 64, LOCAL },
	{ "atomic into memory registered for reading", ADD, NO_RIGHTS, .len = 8, LOCAL },
	/* wrong local ranges */
	{ "a byte before the region", WRITE, .from = -1, .len = 64, LOCAL },
	{ "a byte behind the region", WRITE, .from = ARENA - 63, .len = 64, LOCAL },
	{ "READ to a byte behind the region", READ, .from = ARENA - 63, .len = 64, LOCAL },
	{ "a length that ends at 4 GiB", WRITE, .len = UINT32_MAX,
	  .status = IBV_WC_LOC_LEN_ERR },
	{ "an atomic of four bytes", ADD, .len = 4, .status = IBV_WC_LOC_LEN_ERR },
	/* wrong remote keys */
	{ "peer's key of another PD", WRITE, .remote = OF_OTHER_PD, .len = 64, REMOTE },
	{ "peer's key that is gone", WRITE, .remote = STALE, .len = 64, REMOTE },
	{ "READ by a key that is gone", READ, .remote = STALE, .len = 64, REMOTE },
	{ "the next variant of the peer's key", WRITE, .remote = VARIANT_UP, .len = 64, REMOTE },
	{ "the variant of it before", READ, .remote = VARIANT_DOWN, .len = 64, REMOTE },
	{ "a variant of it far away", WRITE, .remote = VARIANT_FAR, .len = 64, REMOTE },
	{ "a key the peer has not", WRITE, .remote = NEIGHBOUR, .len = 64, REMOTE },
	{ "peer's key 0", WRITE, .remote = NONE, .len = 64, REMOTE },
	{ "peer's key of all ones", READ, .remote = ALL_ONES, .len = 64, REMOTE },
	/* missing remote rights */
	{ "WRITE without any right", WRITE, .remote = NO_RIGHTS, .len = 64, REMOTE },
	{ "READ without any right", READ, .remote = NO_RIGHTS, .len = 64, REMOTE },
	{ "atomic without any right", ADD, .remote = NO_RIGHTS, .len = 8, REMOTE },
	{ "WRITE where READ is allowed", WRITE, .remote = READ_ALONE, .len = 64, REMOTE },
	{ "READ where WRITE is allowed", READ, .remote = WRITE_ALONE, .len = 64, REMOTE },
	{ "atomic where WRITE is allowed", SWAP, .remote = WRITE_ALONE, .len = 8, REMOTE },
	{ "atomic where READ is allowed", ADD, .remote = READ_ALONE, .len = 8, REMOTE },
	/* wrong remote ranges */
	{ "a byte before the peer's region", WRITE, .to = -1, .len = 64, REMOTE },
	{ "a byte behind the peer's region", WRITE, .to = ARENA - 63, .len = 64, REMOTE },
	{ "READ of a byte behind it", READ, .to = ARENA - 63, .len = 64, REMOTE },
	{ "many packets, the last one behind it", WRITE, .to = ARENA - 8191, .len = 8192, REMOTE },
	{ "longer than both regions", WRITE, .len = 1 << 20, REMOTE },
	{ "an address that wraps", WRITE, .to = INT64_MIN, .len = 64, REMOTE },
	{ "atomic behind the peer's region", ADD, .to = ARENA, .len = 8, REMOTE },
	{ "atomic that is not aligned", ADD, .to = 4, .len = 8,
	  .status = IBV_WC_REM_INV_REQ_ERR, .event = IBV_EVENT_QP_REQ_ERR },
	{ "swap that is not aligned", SWAP, .to = 7, .len = 8,
	  .status = IBV_WC_REM_INV_REQ_ERR, .event = IBV_EVENT_QP_REQ_ERR },
	/* windows */
	{ "a byte before the window", WRITE, .remote = TYPE_1, .to = WINDOW - 1, .len = 64,
	  REMOTE },
	{ "a byte behind the window", READ, .remote = TYPE_1, .to = WINDOW + PAGE - 63, .len = 64,
	  REMOTE },
	{ "WRITE by a window for READs", WRITE, .remote = TYPE_1_READ, .to = WINDOW, .len = 64,
	  REMOTE },
	{ "a window that is gone", WRITE, .remote = TYPE_1_GONE, .to = WINDOW, .len = 64, REMOTE },
	{ "a window of another connection", WRITE, .remote = TYPE_2, .to = WINDOW, .len = 64,
	  REMOTE },
};

/* ---- ranges drawn at random, none of them right ---- */

static uint64_t draw(uint64_t *state)
{
	*state = *state * 6364136223846793005 + 1442695040888963407;
	return *state >> 24;
}

static bool hostile_ranges(void)
{
	uint64_t state = 5;
	bool good = true;

	for (unsigned int i = 0; i < HOSTILE && good; i++) {
		uint64_t len = 1 + (draw(&state) & ((1ull << (draw(&state) % 31)) - 1));
		bool local = draw(&state) % 2;
		/* only its end or its beginning is outside; or it lies anywhere */
		int64_t at = draw(&state) % 3 ? (int64_t)ARENA - (int64_t)(draw(&state) % len) :
						(int64_t)(draw(&state) << 24);
		struct fault f = {
			.name = "a range drawn at random", .op = draw(&state) % 2 ? WRITE : READ,
			.len = local ? len : 1 + len % ARENA,
		};

		/* our own range has no right byte at its start, which could be sent */
		if (at >= 0 && at < ARENA && (local || at + f.len <= ARENA))
			at = ARENA;
		f.status = local ? IBV_WC_LOC_PROT_ERR : IBV_WC_REM_ACCESS_ERR;
		*(local ? &f.from : &f.to) = at;
		good = run(&f);
		if (!good)
			printf("# draw %u: %s, at %#jx, %ju bytes\n", i,
			       local ? "requester" : "peer", (uintmax_t)at, (uintmax_t)f.len);
	}
	return good;
}

/* ---- receives ---- */

/* A message for a receive that cannot take it. */
static bool receive(enum key key, int64_t at, uint32_t room, enum ibv_wc_status status,
		    enum ibv_wc_status sender)
{
	struct ibv_sge to = { (uintptr_t)far + at, room, far_key[key] };
	struct ibv_sge from = { (uintptr_t)near, 64, near_key[GOOD] };
	struct ibv_recv_wr recv = { .sg_list = &to, .num_sge = 1 }, *bad_recv;
	struct ibv_send_wr send = {
		.sg_list = &from, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad_send;
	struct talk t = begin();
	struct ibv_wc got, sent;

	must(!ibv_post_recv(t.peer, &recv, &bad_recv) &&
	     !ibv_post_send(t.qp, &send, &bad_send), "a message");
	got = complete(t.peer_cq);
	sent = complete(t.cq);
	if (got.status != status || sent.status != sender)
		printf("# receiver: %s, sender: %s\n", ibv_wc_status_str(got.status),
		       ibv_wc_status_str(sent.status));
	end(&t);
	return got.status == status && sent.status == sender && untouched();
}

/* A list that is longer than the QP's limit is refused before anything is posted. */
static bool long_lists(void)
{
	struct ibv_sge sge[2] = {
		{ (uintptr_t)near, 8, near_key[GOOD] }, { (uintptr_t)near, 8, near_key[GOOD] },
	};
	struct ibv_send_wr send = { .sg_list = sge, .num_sge = 2, .opcode = IBV_WR_SEND };
	struct ibv_recv_wr recv = { .sg_list = sge, .num_sge = 2 }, *bad_recv = NULL;
	struct ibv_send_wr *bad_send = NULL;
	struct talk t = begin();
	bool good;

	good = ibv_post_send(t.qp, &send, &bad_send) == EINVAL && bad_send == &send &&
	       ibv_post_recv(t.qp, &recv, &bad_recv) == EINVAL && bad_recv == &recv;
	send.num_sge = INT32_MAX;
	recv.num_sge = INT32_MAX;
	good &= ibv_post_send(t.qp, &send, &bad_send) == EINVAL &&
		ibv_post_recv(t.qp, &recv, &bad_recv) == EINVAL;
	send.num_sge = -1;
	recv.num_sge = -1;
	good &= ibv_post_send(t.qp, &send, &bad_send) == EINVAL &&
		ibv_post_recv(t.qp, &recv, &bad_recv) == EINVAL;
	good &= state_of(t.qp) == IBV_QPS_RTS;
	end(&t);
	return good & untouched();
}

/* ---- windows ---- */

static enum ibv_wc_status bind_1(struct ibv_qp *qp, struct ibv_cq *cq, struct ibv_mw *mw,
				 struct ibv_mr *of, uint64_t addr, uint64_t length,
				 unsigned int rights)
{
	struct ibv_mw_bind bind = {
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = { .mr = of, .addr = addr, .length = length,
			       .mw_access_flags = rights },
	};

	must(!ibv_bind_mw(qp, mw, &bind), "ibv_bind_mw");
	return complete(cq).status;
}

/* Binds that ask for more than the region has. */
static bool bad_bind(struct ibv_mr *of, int64_t at, uint64_t length)
{
	struct ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	struct talk t = begin();
	enum ibv_wc_status status;

	must(mw, "ibv_alloc_mw");
	status = bind_1(t.qp, t.cq, mw, of, (uintptr_t)far + at, length, IBV_ACCESS_REMOTE_WRITE);
	if (status != IBV_WC_MW_BIND_ERR)
		printf("# bind: %s\n", ibv_wc_status_str(status));
	end(&t);
	must(!ibv_dealloc_mw(mw), "ibv_dealloc_mw");
	return status == IBV_WC_MW_BIND_ERR && untouched();
}

/* A region cannot be deregistered while windows are bound to it, and the windows stay bound. */
static bool region_with_windows(void)
{
	struct ibv_sge sge = { (uintptr_t)near, 64, near_key[GOOD] };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)far + WINDOW, far_key[TYPE_1] },
	}, *at;
	struct talk t = begin();
	bool good;

	good = ibv_dereg_mr(far_mr) == EBUSY;
	good &= ibv_rereg_mr(far_mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			     IBV_ACCESS_LOCAL_WRITE) != 0;
	must(!ibv_post_send(t.qp, &wr, &at), "ibv_post_send");
	good &= complete(t.cq).status == IBV_WC_SUCCESS && far[WINDOW] == NEAR;
	memset(far + WINDOW, FAR, 64);
	end(&t);
	return good & untouched();
}

/* ---- memory that is taken away ---- */

static bool moves(struct talk *t, enum ibv_wr_opcode op, uint8_t *from, struct ibv_mr *to)
{
	struct ibv_sge sge = { (uintptr_t)from, PAGE, near_key[GOOD] };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = op, .send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { (uintptr_t)to->addr, to->rkey },
	}, *at;

	must(!ibv_post_send(t->qp, &wr, &at), "ibv_post_send");
	return complete(t->cq).status == IBV_WC_SUCCESS;
}

/*
 * Memory that its process unmaps stays pinned: peers access the old pages, and nothing that the
 * process maps at that address later.
 */
static bool unmapped_by_its_process(void)
{
	uint8_t *gone = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			     0), *fresh;
	struct ibv_mr *of = ibv_reg_mr(pd, gone, PAGE, ALL);
	struct talk t = begin();
	bool good;

	must(of && !munmap(gone, PAGE), "memory to be unmapped");
	good = moves(&t, IBV_WR_RDMA_WRITE, near, of);
	fresh = mmap(gone, PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	must(fresh == gone, "mmap");
	memset(fresh, 0x33, PAGE);
	good &= moves(&t, IBV_WR_RDMA_WRITE, near, of);
	good &= fresh[0] == 0x33 && !memcmp(fresh, fresh + 1, PAGE - 1);
	memset(near + PAGE, 0, PAGE);
	good &= moves(&t, IBV_WR_RDMA_READ, near + PAGE, of);
	end(&t);
	must(!ibv_dereg_mr(of) && !munmap(fresh, PAGE), "the end of unmapped memory");
	return good & untouched();
}

/* ---- set-up ---- */

static uint8_t *arena(uint8_t value)
{
	uint8_t *at = mmap(NULL, ARENA + 2 * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(at != MAP_FAILED, "mmap");
	memset(at, value, ARENA + 2 * PAGE);
	return at + PAGE;
}

static struct ibv_mr *reg(struct ibv_pd *in, uint8_t *at, unsigned int rights)
{
	struct ibv_mr *of = ibv_reg_mr(in, at, ARENA, rights);

	must(of, "ibv_reg_mr");
	return of;
}

/* Keys that differ from a good key, whatever that is. */
static void wrong_keys(uint32_t *key, uint8_t *at)
{
	struct ibv_mr *gone = reg(pd, at, ALL);

	key[STALE] = gone->rkey;
	must(!ibv_dereg_mr(gone), "ibv_dereg_mr");
	key[VARIANT_UP] = ibv_inc_rkey(key[GOOD]);
	key[VARIANT_DOWN] = (key[GOOD] & ~0xffu) | ((key[GOOD] - 1) & 0xff);
	key[VARIANT_FAR] = key[GOOD] ^ 0x80;
	key[NEIGHBOUR] = key[GOOD] ^ 0x80000000;
	key[NONE] = 0;
	key[ALL_ONES] = UINT32_MAX;
}

static struct talk binder;

static void make_windows(void)
{
	struct ibv_mw *gone = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	uint64_t addr = (uintptr_t)far + WINDOW;
	struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED }, *at;

	binder = begin();
	window = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	window_read = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	window_2 = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	must(gone && window && window_read && window_2, "ibv_alloc_mw");
	must(!bind_1(binder.qp, binder.cq, gone, far_mr, addr, PAGE, IBV_ACCESS_REMOTE_WRITE) &&
	     !bind_1(binder.qp, binder.cq, window, far_mr, addr, PAGE,
		     IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ) &&
	     !bind_1(binder.qp, binder.cq, window_read, far_mr, addr, PAGE,
		     IBV_ACCESS_REMOTE_READ), "binding windows");
	far_key[TYPE_1_GONE] = gone->rkey;
	must(!ibv_dealloc_mw(gone), "ibv_dealloc_mw");
	far_key[TYPE_1] = window->rkey;
	near_key[TYPE_1] = window->rkey;
	far_key[TYPE_1_READ] = window_read->rkey;
	far_key[TYPE_2] = ibv_inc_rkey(window_2->rkey);
	wr.bind_mw.mw = window_2;
	wr.bind_mw.rkey = far_key[TYPE_2];
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info) {
		.mr = far_mr, .addr = addr, .length = PAGE,
		.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	must(!ibv_post_send(binder.qp, &wr, &at) && !complete(binder.cq).status, "type 2");
}

static void set_up(void)
{
	near = arena(NEAR);
	far = arena(FAR);
	other_pd = ibv_alloc_pd(context);
	must(other_pd, "ibv_alloc_pd");
	near_mr = reg(pd, near, ALL);
	far_mr = reg(pd, far, ALL);
	other_mr = reg(other_pd, near, ALL);
	readable = reg(pd, far, IBV_ACCESS_REMOTE_READ);
	writable = reg(pd, far, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	bare = reg(pd, near, 0);
	near_key[GOOD] = near_mr->lkey;
	far_key[GOOD] = far_mr->rkey;
	near_key[OF_OTHER_PD] = other_mr->lkey;
	far_key[OF_OTHER_PD] = other_mr->rkey;
	near_key[NO_RIGHTS] = bare->lkey;
	far_key[READ_ALONE] = readable->rkey;
	far_key[WRITE_ALONE] = writable->rkey;
	wrong_keys(near_key, near);
	wrong_keys(far_key, far);
	make_windows();
}

static bool tear_down(void)
{
	end(&binder);
	return !ibv_dealloc_mw(window) && !ibv_dealloc_mw(window_read) &&
	       !ibv_dealloc_mw(window_2) && !ibv_dereg_mr(near_mr) && !ibv_dereg_mr(far_mr) &&
	       !ibv_dereg_mr(other_mr) && !ibv_dereg_mr(readable) && !ibv_dereg_mr(writable) &&
	       !ibv_dereg_mr(bare) && !ibv_dealloc_pd(other_pd);
}

int main(int argc, char **argv)
{
	const unsigned int n = sizeof(faults) / sizeof(*faults);
	struct ibv_mr *no_right;

	must(argc == 2, "usage: memory_faults DEVICE");
	setlinebuf(stdout);
	open_hca(argv[1]);
	set_up();
	no_right = reg(pd, far, 0);
	far_key[NO_RIGHTS] = no_right->rkey;

	printf("TAP version 13\n1..%u\n", n + 12);
	for (unsigned int i = 0; i < n; i++)
		point(run(&faults[i]), faults[i].name);
	point(hostile_ranges(), "ranges drawn at random");
	point(receive(OF_OTHER_PD, 0, 64, IBV_WC_LOC_PROT_ERR, IBV_WC_REM_OP_ERR),
	      "a receive with a key of another PD");
	point(receive(NO_RIGHTS, 0, 64, IBV_WC_LOC_PROT_ERR, IBV_WC_REM_OP_ERR),
	      "a receive into memory registered for reading");
	point(receive(GOOD, ARENA - 63, 64, IBV_WC_LOC_PROT_ERR, IBV_WC_REM_OP_ERR),
	      "a receive that ends behind the region");
	point(receive(GOOD, 0, 63, IBV_WC_LOC_LEN_ERR, IBV_WC_REM_INV_REQ_ERR),
	      "a message longer than its receive");
	point(long_lists(), "scatter lists longer than the QP's");
	point(bad_bind(far_mr, ARENA - PAGE + 1, PAGE), "a window that ends behind its region");
	point(bad_bind(far_mr, 0, UINT64_MAX), "a window whose range wraps");
	point(bad_bind(writable, 0, PAGE), "a window on a region that is for none");
	point(region_with_windows(), "a region with windows stays");
	point(unmapped_by_its_process(), "memory that its process unmaps");
	must(!ibv_dereg_mr(no_right), "ibv_dereg_mr");
	point(tear_down(), "everything ends");
	close_hca();
	return bad > 0;
}
