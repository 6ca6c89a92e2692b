// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cm.h"
#include "fake.h"

#define PAGES	(1 + FAKE_QUEUES * 2 / VHCA_DB_SLOTS + 1)	/* the kick page first */
#define PLACE	(UINT64_C(1) << 33)	/* in their file: 32 bits do not reach it */

int fake_err[FAKE_COMMANDS];
uint32_t fake_slot_shift;
unsigned int fake_logged;
int fake_live;
void (*fake_behind_destroy_qp)(void);
uint32_t fake_send_ops;
bool fake_uc_local_inv;
uint64_t fake_lacks;
struct fake_group fake_group;

static int memory_file;
static uint8_t *memory;
static uint32_t next_pair;
static struct fake_cq cqs[FAKE_QUEUES];
static struct fake_qp qps[FAKE_QUEUES];
static uint32_t num_cqs, num_qps;
static const struct verbs_device_ops *driver;
static const struct verbs_context_ops *ops;

/* ---- functions of libibverbs that the provider calls ---- */

void verbs_register_driver(const struct verbs_device_ops *registered)
{
	driver = registered;
}

void *_verbs_init_and_alloc_context(struct ibv_device *device, int cmd_fd, size_t size,
				    struct verbs_context *offset, uint32_t driver_id)
{
	struct verbs_context *vctx;
	uint8_t *all;

	assert_int_equal(driver_id, RDMA_DRIVER_UNKNOWN);
	if (fake_err[FAKE_INIT_CONTEXT]) {
		errno = fake_err[FAKE_INIT_CONTEXT];
		return NULL;
	}
	all = calloc(1, size);
	if (!all)
		return NULL;
	vctx = (struct verbs_context *)(all + (uintptr_t)offset);
	fake_live++;
	vctx->context.device = device;
	vctx->context.cmd_fd = cmd_fd;
	return all;
}

void verbs_uninit_context(struct verbs_context *vctx)
{
	(void)vctx;
	fake_live--;
}

void verbs_set_ops(struct verbs_context *vctx, const struct verbs_context_ops *set)
{
	(void)vctx;
	ops = set;
}

void __verbs_log(struct verbs_context *vctx, uint32_t level, const char *fmt, ...)
{
	(void)vctx;
	(void)level;
	(void)fmt;
	fake_logged++;
}

int ibv_dontfork_range(void *base, size_t size)
{
	(void)base;
	(void)size;
	return fake_err[FAKE_DONTFORK];
}

int ibv_dofork_range(void *base, size_t size)
{
	(void)base;
	(void)size;
	return 0;
}

/* ---- the kernel ---- */

/* Returns the error set for a command, else @made; a command that succeeds counts an object. */
int fake_answer(enum fake_command command, int made)
{
	if (!fake_err[command])
		fake_live += made;
	return fake_err[command];
}

uint64_t fake_page_offset(uint32_t slot)
{
	return PLACE + (1 + slot / VHCA_DB_SLOTS) * (uint64_t)VHCA_DB_PAGE_SIZE;
}

/* Pairs of slots never straddle pages; tests see several pages early. */
uint32_t fake_take_pair(void)
{
	uint32_t slot = next_pair;

	next_pair += 2;
	assert_true(slot / VHCA_DB_SLOTS < PAGES - 1);
	return slot + fake_slot_shift;
}

void fake_context_answer(struct vhca_uctx_resp *resp, uint64_t features)
{
	*resp = (struct vhca_uctx_resp) {
		.features = features & ~fake_lacks,
		.kick_mmap = PLACE,
		.db_mmap = fake_page_offset(0),
		.max_inline = FAKE_INLINE,
		.max_send_sge = FAKE_SGE,
		.max_recv_sge = FAKE_SGE,
		.uc_local_inv = fake_uc_local_inv,
		.send_ops = fake_send_ops,
	};
}

int ibv_cmd_get_context(struct verbs_context *vctx, struct ibv_get_context *cmd, size_t cmd_size,
			struct ib_uverbs_get_context_resp *resp, size_t resp_size)
{
	struct vhca_uctx_resp *out = (void *)((uint8_t *)resp + sizeof(*resp));
	struct vhca_uctx_req *in = (void *)((uint8_t *)cmd + sizeof(*cmd));

	(void)vctx;
	assert_int_equal(cmd_size, sizeof(*cmd) + sizeof(*in));
	assert_int_equal(resp_size, sizeof(*resp) + sizeof(*out));
	if (fake_err[FAKE_GET_CONTEXT])
		return fake_err[FAKE_GET_CONTEXT];
	fake_context_answer(out, in->features | UINT64_C(1) << 63);
	return 0;
}

int ibv_cmd_create_cq_ex(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
			 struct verbs_cq *cq, struct ibv_create_cq_ex *cmd, size_t cmd_size,
			 struct ib_uverbs_ex_create_cq_resp *resp, size_t resp_size,
			 uint32_t cmd_flags)
{
	struct vhca_create_cq_req *in = (void *)((uint8_t *)cmd + sizeof(*cmd));
	struct vhca_create_cq_resp *out = (void *)((uint8_t *)resp + sizeof(*resp));
	struct fake_cq *fake = &cqs[num_cqs];

	(void)cmd_flags;
	assert_int_equal(cmd_size, sizeof(*cmd) + sizeof(*in));
	assert_int_equal(resp_size, sizeof(*resp) + sizeof(*out));
	assert_int_equal(in->buf_addr % VHCA_DB_PAGE_SIZE, 0);
	if (fake_answer(FAKE_CREATE_CQ, 1))
		return fake_err[FAKE_CREATE_CQ];
	*fake = (struct fake_cq) {
		.req = *in,
		.flags = attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS ? attr->flags : 0,
		.slot = fake_take_pair(),
	};
	cq->cq.context = context;
	cq->cq.handle = num_cqs++;
	cq->cq.cqe = 1 << in->log_cqe;
	assert_true((uint32_t)cq->cq.cqe >= attr->cqe);
	out->db_slot = fake->slot;
	out->db_mmap = fake_page_offset(fake->slot);
	return 0;
}

int ibv_cmd_destroy_cq(struct ibv_cq *cq)
{
	(void)cq;
	return fake_answer(FAKE_DESTROY_CQ, -1);
}

int ibv_cmd_create_qp_ex2(struct ibv_context *context, struct verbs_qp *qp,
			  struct ibv_qp_init_attr_ex *attr, struct ibv_create_qp_ex *cmd,
			  size_t cmd_size, struct ib_uverbs_ex_create_qp_resp *resp,
			  size_t resp_size)
{
	struct vhca_create_qp_req *in = (void *)((uint8_t *)cmd + sizeof(*cmd));
	struct vhca_create_qp_resp *out = (void *)((uint8_t *)resp + sizeof(*resp));
	struct fake_qp *fake = &qps[num_qps];
	bool target = attr->qp_type == IBV_QPT_XRC_RECV;

	/* a target is the kernel's alone */
	assert_int_equal(cmd_size, sizeof(*cmd) + (target ? 0 : sizeof(*in)));
	assert_int_equal(resp_size, sizeof(*resp) + (target ? 0 : sizeof(*out)));
	if (fake_answer(FAKE_CREATE_QP, 1))
		return fake_err[FAKE_CREATE_QP];
	if (target) {
		qp->qp.context = context;
		qp->qp.qp_num = 0xabc;
		qp->qp.qp_type = attr->qp_type;
		qp->qp.state = IBV_QPS_RESET;
		return 0;
	}
	/* low bits an index, high bits a generation, as the device does */
	*fake = (struct fake_qp) {
		.req = *in,
		.cap = attr->cap,
		.type = attr->qp_type,
		.qpn = (num_qps % 5) << 18 | (num_qps + 2),
		.slot = fake_take_pair(),
	};
	qp->qp.context = context;
	qp->qp.pd = attr->pd;
	qp->qp.handle = num_qps++;
	qp->qp.qp_num = fake->qpn;
	qp->qp.send_cq = attr->send_cq;
	qp->qp.recv_cq = attr->recv_cq;
	qp->qp.srq = attr->srq;
	qp->qp.qp_type = attr->qp_type;
	qp->qp.state = IBV_QPS_RESET;
	qp->comp_mask = 0;
	out->db_slot = fake->slot;
	out->db_mmap = fake_page_offset(fake->slot);
	return 0;
}

int ibv_cmd_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		      struct ibv_modify_qp *cmd, size_t cmd_size)
{
	(void)qp;
	(void)attr;
	(void)mask;
	(void)cmd;
	assert_int_equal(cmd_size, sizeof(*cmd));
	return fake_err[FAKE_MODIFY_QP];
}

int ibv_cmd_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
		     struct ibv_qp_init_attr *init_attr, struct ibv_query_qp *cmd, size_t cmd_size)
{
	(void)init_attr;
	(void)mask;
	(void)cmd;
	assert_int_equal(cmd_size, sizeof(*cmd));
	attr->qp_state = qp->state;
	return fake_err[FAKE_QUERY_QP];
}

int ibv_cmd_destroy_qp(struct ibv_qp *qp)
{
	int err = fake_answer(FAKE_DESTROY_QP, -1);

	(void)qp;
	if (!err && fake_behind_destroy_qp)
		fake_behind_destroy_qp();
	return err;
}

const uint8_t fake_neighbour[6] = { 0x52, 0x54, 0, 0xe7, 0, 7 };

/* The kernel's part: the address vector for the device, from the program's attributes. */
int ibv_cmd_create_ah(struct ibv_pd *pd, struct ibv_ah *ah, struct ibv_ah_attr *attr,
		      struct ib_uverbs_create_ah_resp *resp, size_t resp_size)
{
	struct vhca_create_ah_resp *out = (void *)((uint8_t *)resp + sizeof(*resp));

	assert_int_equal(resp_size, sizeof(*resp) + sizeof(*out));
	if (fake_answer(FAKE_CREATE_AH, 1))
		return fake_err[FAKE_CREATE_AH];
	ah->context = pd->context;
	out->av = (struct vhca_av) {
		.flow_label = htole32(attr->grh.flow_label),
		.dlid = htole16(attr->dlid),
		.sl = attr->sl,
		.src_path_bits = attr->src_path_bits,
		.static_rate = attr->static_rate,
		.port = attr->port_num,
		.grh = attr->is_global,
		.sgid_index = attr->grh.sgid_index,
		.hop_limit = attr->grh.hop_limit,
		.traffic_class = attr->grh.traffic_class,
	};
	memcpy(out->av.dgid, attr->grh.dgid.raw, sizeof(out->av.dgid));
	/* On an Ethernet port, where there are no LIDs, the kernel resolves the MAC address. */
	if (!attr->dlid)
		memcpy(out->av.dmac, fake_neighbour, sizeof(out->av.dmac));
	return 0;
}

int ibv_cmd_destroy_ah(struct ibv_ah *ah)
{
	(void)ah;
	return fake_answer(FAKE_DESTROY_AH, -1);
}

/* The group that a QP was attached to last, and whether it still is. */
int ibv_cmd_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	fake_group = (struct fake_group) {
		.gid = *gid, .lid = lid, .qpn = qp->qp_num, .attached = true,
	};
	return 0;
}

int ibv_cmd_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
	if (memcmp(gid, &fake_group.gid, sizeof(*gid)) || lid != fake_group.lid ||
	    qp->qp_num != fake_group.qpn)
		return EINVAL;
	fake_group.attached = false;
	return 0;
}

int ibv_cmd_query_device_any(struct ibv_context *context,
			     const struct ibv_query_device_ex_input *input,
			     struct ibv_device_attr_ex *attr, size_t attr_size,
			     struct ib_uverbs_ex_query_device_resp *resp, size_t *resp_size)
{
	(void)context;
	(void)input;
	(void)attr;
	(void)attr_size;
	(void)resp_size;
	resp->base.fw_ver = UINT64_C(3) << 32 | 12 << 16 | 7;
	return fake_err[FAKE_QUERY_DEVICE];
}

int ibv_cmd_query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr,
		       struct ibv_query_port *cmd, size_t cmd_size)
{
	(void)context;
	(void)cmd;
	(void)cmd_size;
	attr->lid = port;
	return fake_err[FAKE_QUERY_PORT];
}

/* ---- the device ---- */

/* Has the provider registered itself? */
bool fake_registered(void)
{
	return !!driver;
}

const struct verbs_device_ops *fake_driver(void)
{
	return driver;
}

void fake_start(void)
{
	assert_int_equal(sysconf(_SC_PAGESIZE), VHCA_DB_PAGE_SIZE);
	memory_file = memfd_create("fake", MFD_CLOEXEC);
	assert_true(memory_file >= 0);
	assert_int_equal(ftruncate(memory_file, PLACE + PAGES * VHCA_DB_PAGE_SIZE), 0);
	memory = mmap(NULL, PAGES * VHCA_DB_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
		      memory_file, PLACE);
	assert_ptr_not_equal(memory, MAP_FAILED);
	next_pair = VHCA_DB_SLOTS - 4;	/* the third queue is in page 1 */
	num_cqs = 0;
	num_qps = 0;
	fake_srq_start();
	fake_logged = 0;
	fake_live = 0;
	fake_behind_destroy_qp = NULL;
	fake_slot_shift = 0;
	fake_send_ops = FAKE_ALL_OPS;
	fake_uc_local_inv = true;
	fake_lacks = 0;
	fake_clock = (struct fake_clock) {};
	fake_others_length = 0x3000;
	memset(fake_err, 0, sizeof(fake_err));
}

void fake_stop(void)
{
	munmap(memory, PAGES * VHCA_DB_PAGE_SIZE);
	close(memory_file);
}

struct vhca_context *fake_try_open(void)
{
	static struct ibv_device device = { .name = "fake" };
	struct verbs_context *vctx;

	assert_non_null(driver);
	assert_string_equal(driver->name, "vhca");
	vctx = driver->alloc_context(&device, memory_file, NULL);
	return vctx ? container_of(vctx, struct vhca_context, vctx) : NULL;
}

struct vhca_context *fake_import(void)
{
	static struct ibv_device device = { .name = "fake" };
	struct verbs_context *vctx = driver->import_context(&device, memory_file);

	return vctx ? container_of(vctx, struct vhca_context, vctx) : NULL;
}

struct vhca_context *fake_open(void)
{
	struct vhca_context *ctx;

	fake_start();
	ctx = fake_try_open();
	assert_non_null(ctx);
	return ctx;
}

void fake_close(struct vhca_context *ctx)
{
	ops->free_context(&ctx->vctx.context);
	/* tests destroy what they create */
	assert_int_equal(fake_live, 0);
	fake_stop();
}

const struct verbs_context_ops *fake_ops(void)
{
	return ops;
}

struct fake_cq *fake_cq(struct ibv_cq *cq)
{
	return &cqs[cq->handle];
}

struct fake_qp *fake_qp(struct ibv_qp *qp)
{
	return &qps[qp->handle];
}

uint32_t fake_sq_blocks(struct ibv_qp *qp)
{
	return 1U << fake_qp(qp)->req.log_sq_blocks;
}

void fake_read_sq(struct ibv_qp *qp, uint64_t block, void *to, size_t len)
{
	const uint8_t *ring = (const uint8_t *)(uintptr_t)fake_qp(qp)->req.sq_addr;
	size_t size = fake_sq_blocks(qp) * VHCA_WQE_BLOCK;

	for (size_t i = 0; i < len; i++)
		((uint8_t *)to)[i] = ring[(block * VHCA_WQE_BLOCK + i) % size];
}

void fake_end(struct vhca_context *ctx, struct ibv_cq *cq, struct ibv_qp *qp)
{
	assert_int_equal(fake_ops()->destroy_qp(qp), 0);
	assert_int_equal(fake_ops()->destroy_cq(cq), 0);
	fake_close(ctx);
}

struct vhca_db_page *fake_page(uint32_t slot)
{
	return (struct vhca_db_page *)(memory + (fake_page_offset(slot) - PLACE));
}

uint64_t fake_rec(uint32_t slot)
{
	return shared_read64(&fake_page(slot)->rec[slot % VHCA_DB_SLOTS]);
}

uint32_t fake_kicks(void)
{
	return __atomic_exchange_n((uint32_t *)memory, 0, __ATOMIC_SEQ_CST);
}

void fake_complete(struct ibv_cq *cq, struct vhca_cqe cqe)
{
	struct fake_cq *fake = fake_cq(cq);
	uint8_t log = fake->req.log_cqe;
	struct vhca_cqe *place = (struct vhca_cqe *)(uintptr_t)fake->req.buf_addr +
				 vhca_ring_slot(fake->prod, log);

	assert_true(fake->prod - fake_rec(fake->slot) < ring_size(log));
	cqe.owner = place->owner;
	memcpy(place, &cqe, sizeof(cqe));
	__atomic_store_n(&place->owner, !(fake->prod >> log & 1), __ATOMIC_RELEASE);
	fake->prod++;
}

struct ibv_cq *fake_make_cq(struct vhca_context *ctx, int cqe)
{
	struct ibv_cq *cq = ops->create_cq(&ctx->vctx.context, cqe, NULL, 0);

	assert_non_null(cq);
	return cq;
}

static struct ibv_qp *make_qp(struct vhca_context *ctx, enum ibv_qp_type type,
			      struct ibv_cq *send_cq, struct ibv_cq *recv_cq,
			      struct ibv_srq *srq, const struct ibv_qp_cap *cap,
			      uint64_t send_ops)
{
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = send_cq,
		.recv_cq = recv_cq,
		.srq = srq,
		.cap = *cap,
		.qp_type = type,
		.comp_mask = IBV_QP_INIT_ATTR_PD |
			     (send_ops ? IBV_QP_INIT_ATTR_SEND_OPS_FLAGS : 0),
		.pd = &fake_pd,
		.send_ops_flags = send_ops,
	};
	struct ibv_qp *qp;

	fake_pd.context = &ctx->vctx.context;
	qp = ops->create_qp_ex(&ctx->vctx.context, &attr);
	assert_non_null(qp);
	qp->state = IBV_QPS_RTS;
	return qp;
}

struct ibv_qp *fake_make_qp(struct vhca_context *ctx, struct ibv_cq *send_cq,
			    struct ibv_cq *recv_cq, const struct ibv_qp_cap *cap,
			    uint64_t send_ops)
{
	return make_qp(ctx, IBV_QPT_RC, send_cq, recv_cq, NULL, cap, send_ops);
}

struct ibv_qp *fake_make_typed_qp(struct vhca_context *ctx, enum ibv_qp_type type,
				  struct ibv_cq *cq, const struct ibv_qp_cap *cap,
				  uint64_t send_ops)
{
	return make_qp(ctx, type, cq, cq, NULL, cap, send_ops);
}

struct ibv_qp *fake_make_srq_qp(struct vhca_context *ctx, enum ibv_qp_type type,
				struct ibv_cq *cq, struct ibv_srq *srq,
				const struct ibv_qp_cap *cap)
{
	return make_qp(ctx, type, cq, cq, srq, cap, 0);
}

struct ibv_ah *fake_make_ah(struct vhca_context *ctx, uint16_t dlid)
{
	struct vhca_pd pd = { .pd.context = &ctx->vctx.context, .holds = 1 };
	struct ibv_ah_attr attr = {
		.grh = {
			.dgid.raw = { 0xfe, 0x80, [15] = 7 },
			.flow_label = 0x12345,
			.sgid_index = 3,
			.hop_limit = 64,
			.traffic_class = 9,
		},
		.dlid = dlid,
		.sl = 2,
		.src_path_bits = 1,
		.static_rate = IBV_RATE_10_GBPS,
		.is_global = 1,
		.port_num = 1,
	};
	struct ibv_ah *ah = ops->create_ah(&pd.pd, &attr);

	assert_non_null(ah);
	return ah;
}
