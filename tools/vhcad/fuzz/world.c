// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "fuzz/world.h"
#include "lib/log.h"
#include "tests/tkey.h"

#define ALL		(T_RW | VHCA_ACCESS_MW_BIND | VHCA_ACCESS_FLUSH_GLOBAL | \
			 VHCA_ACCESS_FLUSH_PERSISTENT)
#define REMOTE		(ALL & ~(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_MW_BIND))
#define SAFE		8192u
#define WORLD_TIME	300000000ull	/* ns: enough for some retries of every kind */

/* Makes a QP without a receive queue. */
static void make_xrc(struct world *f, u32 i, u32 log_sq)
{
	struct thca *h = &f->h[i];
	struct tqp *qp = &f->qp[i];
	u64 sq = t_alloc(h, VHCA_WQE_BLOCK << log_sq);
	struct vhca_create_qp_hw_req req = {
		.uar = htole32(h->uar), .db_slot = htole32(h->next_slot),
		.flags = i ? 0 : VHCA_QP_SIGNAL_ALL, .log_rq_strides = VHCA_NO_QUEUE,
		.log_sq_blocks = i ? VHCA_NO_QUEUE : log_sq,
		.type = i ? VHCA_QPT_XRC_TGT : VHCA_QPT_XRC_INI,
	};

	if (i) {
		req.xrcdn = htole32(f->xrcd);
	} else {
		req.sq.addr = htole64(sq);
		req.pdn = htole32(h->pd);
		req.send_cqn = htole32(f->cq[0].cqn);
		req.max_inline = htole32(512);
	}
	*qp = (struct tqp){
		.h = h, .type = req.type, .slot = h->next_slot, .scq = &f->cq[i],
		.rcq = &f->cq[i], .sq = i ? NULL : t_cpu(h, sq), .log_sq = log_sq,
	};
	h->next_slot += 2;
	qp->qpn = t_create(h, VHCA_CMD_CREATE_QP, &req, sizeof(req));
}

static void make_srq(struct world *f, bool xrc)
{
	struct thca *h = &f->h[1];
	u64 ring = t_alloc(h, 4096);
	struct vhca_create_srq_hw_req req = {
		.buf.addr = htole64(ring), .pdn = htole32(h->pd), .uar = htole32(h->uar),
		.db_slot = htole32(h->next_slot), .log_strides = 5, .log_stride = 7,
	};

	if (xrc) {
		req.flags = VHCA_SRQ_XRC;
		req.xrcdn = htole32(f->xrcd);
		req.cqn = htole32(f->cq[1].cqn);
	}
	f->srq = (struct tsrq){
		.h = h, .slot = h->next_slot, .log = 5, .log_stride = 7, .ring = t_cpu(h, ring),
	};
	h->next_slot += 2;
	f->srq.srqn = t_create(h, VHCA_CMD_CREATE_SRQ, &req, sizeof(req));
}

static void make_qps(struct world *f, enum world_type type, u32 log_sq)
{
	static const u8 types[] = {
		[WORLD_RC] = VHCA_QPT_RC, [WORLD_UC] = VHCA_QPT_UC, [WORLD_UD] = VHCA_QPT_UD,
	};

	make_srq(f, type == WORLD_XRC);
	for (u32 i = 0; i < 2; i++) {
		if (type == WORLD_XRC) {
			make_xrc(f, i, log_sq);
			continue;
		}
		f->h[i].qp_type = types[type];
		t_qp_init_size(&f->h[i], &f->qp[i], &f->cq[i], &f->cq[i], log_sq, 4, 7,
			       type == WORLD_UD ? VHCA_QP_SIGNAL_ALL | VHCA_QP_RX_CSUM :
			       VHCA_QP_SIGNAL_ALL);
	}
	if (type == WORLD_UD) {
		for (u32 i = 0; i < 2; i++)
			t_ud_up(&f->qp[i], WORLD_QKEY);
		return;
	}
	t_connect(&f->qp[0], &f->qp[1], 3, 0xfffffe, 9000);
	t_allow(&f->qp[0], REMOTE);
	t_allow(&f->qp[1], REMOTE);
}

/* Makes a memory key, and maps it to a page of the region. */
static void make_fmr(struct world *f)
{
	struct thca *h = &f->h[0];
	u64 at = t_alloc(h, 4096);
	struct vhca_create_mkey_req req = {
		.buf = { .addr = htole64(at + 2048), .npages = htole32(8), .levels = 1,
			 .page_shift = 12 },
		.iova = htole64(at), .pdn = htole32(h->pd), .access = htole32(T_RW),
		.type = VHCA_MKEY_FMR, .variant = 2,
	};

	f->fmr_record = at;
	f->fmr = t_create(h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req));
	*(struct vhca_fmr *)t_cpu(h, at) = (struct vhca_fmr){
		.seq = htole32(2), .key = htole32(f->fmr), .length = htole64(4096),
		.npages = htole32(1),
	};
	*(__le64 *)t_cpu(h, at + 2048) = htole64(f->area + 8192);
}

void world_init(struct world *f, enum world_type type)
{
	world_init_as(f, type, &(struct world_options){ 0 });
}

static void make_hca(struct world *f, u32 i, u32 limit)
{
	struct vdev_config cfg = {
		.name = "t", .node_guid = 0x1000 * (i + 1), .ports = 1, .vectors = 4,
	};

	for (u32 l = 0; l < VLIMITS && !i; l++)
		cfg.limit[l] = limit;
	t_hca_init_cfg(&f->h[i], &f->w, &cfg);
}

void world_init_as(struct world *f, enum world_type type, const struct world_options *o)
{
	static bool quiet;

	if (!quiet)
		quiet = !log_open("/dev/null");
	memset(f, 0, sizeof(*f));
	t_world_init(&f->w);
	for (u32 i = 0; i < 2; i++) {
		make_hca(f, i, o->limit);
		t_cq_init(&f->h[i], &f->cq[i], 7, 0);
		t_mr_init(&f->h[i], &f->mr[i], 0, WORLD_MR, ALL, 1 + i, 12);
	}
	f->xrcd = t_create(&f->h[1], VHCA_CMD_CREATE_XRCD, NULL, 0);
	make_qps(f, type, o->log_sq ?: 8);
	t_mr_init(&f->h[1], &f->safe, 0, SAFE, VHCA_ACCESS_LOCAL_WRITE, 1, 12);
	t_mr_fill(&f->safe, 5);
	f->area = t_alloc(&f->h[0], WORLD_AREA);
	f->fast = t_key(&f->h[0], VHCA_MKEY_FAST, f->area, WORLD_PAGES, 1);
	f->sg_list = f->area + 1024;
	f->fast_sg = t_key(&f->h[0], VHCA_MKEY_FAST_SG, f->sg_list, WORLD_PIECES, 5);
	make_fmr(f);
	f->mw1 = t_key(&f->h[0], VHCA_MKEY_MW_1, 0, 0, 3);
	f->mw2 = t_key(&f->h[0], VHCA_MKEY_MW_2, 0, 0, 4);
}

void world_receives(struct world *f, u32 n, u32 nsge, u32 len)
{
	struct vhca_sge s[VDEV_MAX_SGE];

	for (u32 i = 0; i < nsge; i++)
		s[i] = t_sge(&f->mr[1], i * 8, len);
	while (n--) {
		if (f->qp[1].rq)
			t_recv(&f->qp[1], n, nsge, s);
		else
			t_srq_recv(&f->srq, n, nsge, s);
	}
}

void world_settle(struct world *f)
{
	t_settle(&f->w, WORLD_TIME);
}

void world_fini(struct world *f)
{
	t_mr_expect(&f->safe, 0, SAFE, 5, 0);
	for (u32 i = 0; i < 2; i++)
		t_hca_fini(&f->h[i]);
	t_world_fini(&f->w);
}
