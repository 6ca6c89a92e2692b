// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests that name the wrong objects, or ask for impossible ones.
 */
#include <sys/mman.h>
#include <sys/resource.h>

#include "uverbs_bad_input.h"

/* ---- handles ---- */

int destroy_pd(int64_t handle)
{
	struct raw r = raw_begin(DRIVER_ID, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY);

	raw_handle(&r, UVERBS_ATTR_DESTROY_PD_HANDLE, handle);
	return raw_send(fd, &r);
}

static int handle_none(void) { return destroy_pd(0x7ffffff0); }
static int handle_negative(void) { return destroy_pd(-3); }
static int handle_huge(void) { return destroy_pd(1LL << 40); }
static int handle_other_type(void) { return destroy_pd(cq->handle); }
static int handle_in_use(void) { return destroy_pd(pd->handle); }

static int handle_with_length(void)
{
	struct raw r = raw_begin(DRIVER_ID, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY);

	raw_handle(&r, UVERBS_ATTR_DESTROY_PD_HANDLE, pd->handle)->len = 4;
	return raw_send(fd, &r);
}

static int handle_of_no_context(void)
{
	struct raw r = raw_begin(DRIVER_ID, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY);

	raw_handle(&r, UVERBS_ATTR_DESTROY_PD_HANDLE, pd->handle);
	return raw_send(fresh, &r);
}

/* ---- completion queues ---- */

struct cq_request {
	uint32_t cqe, vector;
	uint64_t flags;
	uint16_t flags_len;
	bool with_channel, with_event_fd;
	int channel, event_fd;
	void *resp;
	uint64_t ring[2];		/* where it is, and how many entries: a power of two */
};

static int create_cq(const struct cq_request *q)
{
	struct raw r = raw_begin(DRIVER_ID, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE);
	uint64_t driver[4] = { q->ring[0], q->ring[1] };
	uint32_t cqe;

	raw_handle(&r, UVERBS_ATTR_CREATE_CQ_HANDLE, 0);
	raw_u32(&r, UVERBS_ATTR_CREATE_CQ_CQE, q->cqe ?: 16);
	raw_const(&r, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 1);
	raw_u32(&r, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, q->vector);
	raw_out(&r, UVERBS_ATTR_CREATE_CQ_RESP_CQE, q->resp ?: &cqe, sizeof(cqe));
	if (q->flags_len)
		raw_in(&r, UVERBS_ATTR_CREATE_CQ_FLAGS, &q->flags, q->flags_len);
	if (q->with_channel)
		raw_handle(&r, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, q->channel);
	if (q->with_event_fd)
		raw_handle(&r, UVERBS_ATTR_CREATE_CQ_EVENT_FD, q->event_fd);
	raw_in(&r, UVERBS_ATTR_UHW_IN, driver, 16);
	raw_out(&r, UVERBS_ATTR_UHW_OUT, driver, 16);
	return raw_send(fd, &r);
}

#define CREATE_CQ(...) create_cq(&(struct cq_request){ __VA_ARGS__ })

static int cq_vector(void) { return CREATE_CQ(.vector = 9999); }
static int cq_flags(void) { return CREATE_CQ(.flags = 0x80, .flags_len = 4); }
static int cq_flags_high(void) { return CREATE_CQ(.flags = 1ULL << 40, .flags_len = 8); }
static int cq_flags_length(void) { return CREATE_CQ(.flags_len = 6); }
static int cq_channel_none(void) { return CREATE_CQ(.with_channel = true, .channel = -1); }
static int cq_channel_other(void) { return CREATE_CQ(.with_channel = true, .channel = 0); }
static int cq_channel_async(void)
{
	return CREATE_CQ(.with_channel = true, .channel = ctx->async_fd);
}

static int cq_event_fd(void) { return CREATE_CQ(.with_event_fd = true, .event_fd = channel->fd); }
static int cq_too_many(void) { return CREATE_CQ(.cqe = 0x7fffffff); }
static int cq_ring_unmapped(void) { return CREATE_CQ(.ring = { PAGE, 4 }); }

static int cq_in_use(void)
{
	struct raw r = raw_begin(DRIVER_ID, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY);
	struct ib_uverbs_destroy_cq_resp resp;

	raw_handle(&r, UVERBS_ATTR_DESTROY_CQ_HANDLE, cq->handle);
	raw_out(&r, UVERBS_ATTR_DESTROY_CQ_RESP, &resp, sizeof(resp));
	return raw_send(fd, &r);
}

/* ---- queue pairs ---- */

struct qp_request {
	uint64_t type;
	uint32_t send_wr, flags, pd, recv_cq;
	bool without_pd, without_cap, pd_is_cq;
};

static int create_qp(const struct qp_request *q)
{
	struct raw r = raw_begin(DRIVER_ID, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE);
	struct ib_uverbs_qp_cap cap = {
		.max_send_wr = q->send_wr ?: 1, .max_recv_wr = 1,
		.max_send_sge = 1, .max_recv_sge = 1,
	};
	struct ib_uverbs_qp_cap resp_cap;
	uint64_t driver[4] = {};
	uint32_t qpn;

	raw_handle(&r, UVERBS_ATTR_CREATE_QP_HANDLE, 0);
	if (!q->without_pd)
		raw_handle(&r, UVERBS_ATTR_CREATE_QP_PD_HANDLE,
			   q->pd_is_cq ? cq->handle : q->pd ?: pd->handle);
	raw_handle(&r, UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, cq->handle);
	raw_handle(&r, UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, q->recv_cq ?: cq->handle);
	raw_const(&r, UVERBS_ATTR_CREATE_QP_USER_HANDLE, 1);
	if (!q->without_cap)
		raw_in(&r, UVERBS_ATTR_CREATE_QP_CAP, &cap, sizeof(cap));
	raw_const(&r, UVERBS_ATTR_CREATE_QP_TYPE, q->type ?: IB_UVERBS_QPT_RC);
	if (q->flags)
		raw_u32(&r, UVERBS_ATTR_CREATE_QP_FLAGS, q->flags);
	raw_out(&r, UVERBS_ATTR_CREATE_QP_RESP_CAP, &resp_cap, sizeof(resp_cap));
	raw_out(&r, UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, &qpn, sizeof(qpn));
	raw_in(&r, UVERBS_ATTR_UHW_IN, driver, 24);
	raw_out(&r, UVERBS_ATTR_UHW_OUT, driver, 16);
	return raw_send(fd, &r);
}

/* Attributes that are not given have valid values. */
#define CREATE_QP(...) create_qp(&(struct qp_request){ __VA_ARGS__ })

static int qp_no_pd(void) { return CREATE_QP(.without_pd = true); }
static int qp_no_cap(void) { return CREATE_QP(.without_cap = true); }
static int qp_bad_pd(void) { return CREATE_QP(.pd = 123456); }
static int qp_pd_is_cq(void) { return CREATE_QP(.pd_is_cq = true); }
static int qp_bad_cq(void) { return CREATE_QP(.recv_cq = 123456); }
static int qp_type(void) { return CREATE_QP(.type = 99); }
static int qp_type_wide(void) { return CREATE_QP(.type = 1ULL << 33 | IB_UVERBS_QPT_RC); }
static int qp_flags(void) { return CREATE_QP(.flags = 1U << 30); }
static int qp_raw_flags(void) { return CREATE_QP(.flags = IB_UVERBS_QP_CREATE_SCATTER_FCS); }
static int qp_too_long(void) { return CREATE_QP(.send_wr = 0x7fffffff); }

/* The driver's part of this request is all zeroes. */
static int qp_no_rings(void) { return CREATE_QP(.flags = 0); }

static int modify_qp(uint32_t mask, struct ib_uverbs_modify_qp *body)
{
	struct raw r = raw_begin(DRIVER_ID, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);

	body->attr_mask = mask;
	body->qp_handle = qp->handle;
	raw_const(&r, UVERBS_ATTR_WRITE_CMD, IB_USER_VERBS_CMD_MODIFY_QP);
	raw_in(&r, UVERBS_ATTR_CORE_IN, body, sizeof(*body));
	return raw_send(fd, &r);
}

#define MODIFY_QP(_mask, ...) modify_qp(_mask, &(struct ib_uverbs_modify_qp){ __VA_ARGS__ })

static int modify_mask(void) { return MODIFY_QP(1U << 28); }
static int modify_state(void) { return MODIFY_QP(IBV_QP_STATE, .qp_state = 9); }
static int modify_cur_state(void) { return MODIFY_QP(IBV_QP_CUR_STATE, .cur_qp_state = 77); }
static int modify_port(void) { return MODIFY_QP(IBV_QP_PORT, .port_num = 9); }
static int modify_transition(void) { return MODIFY_QP(IBV_QP_STATE, .qp_state = IBV_QPS_RTS); }

static int modify_path_port(void)
{
	return MODIFY_QP(IBV_QP_AV, .dest.port_num = 33);
}

static int modify_alt_ports(void)
{
	return MODIFY_QP(IBV_QP_ALT_PATH, .alt_port_num = 1, .alt_dest.port_num = 0);
}

/* ---- memory ---- */

int reg_mr(uint64_t start, uint64_t length, uint64_t va, uint32_t access, uint32_t pd_handle)
{
	struct raw r = raw_begin(DRIVER_ID, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	struct ib_uverbs_reg_mr req = {
		.start = start, .length = length, .hca_va = va, .pd_handle = pd_handle,
		.access_flags = access,
	};
	struct ib_uverbs_reg_mr_resp resp;

	raw_const(&r, UVERBS_ATTR_WRITE_CMD, IB_USER_VERBS_CMD_REG_MR);
	raw_in(&r, UVERBS_ATTR_CORE_IN, &req, sizeof(req));
	raw_out(&r, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	return raw_send(fd, &r);
}

static int mr_pd(void) { return reg_mr(BUF, 4096, BUF, 0, 4711); }
static int mr_offset(void) { return reg_mr(BUF, 4096, BUF + 8, 0, pd->handle); }
static int mr_unmapped(void) { return reg_mr(4096, 4096, 4096, 0, pd->handle); }
static int mr_empty(void) { return reg_mr(BUF, 0, BUF, 0, pd->handle); }
static int mr_wrap(void) { return reg_mr(BUF, ~0ULL - 4096, BUF, 0, pd->handle); }

static int mr_access(void)
{
	return reg_mr(BUF, 4096, BUF, IBV_ACCESS_REMOTE_WRITE, pd->handle);
}

static int mr_access_unknown(void)
{
	return reg_mr(BUF, 4096, BUF, 1U << 18, pd->handle);
}

static int mr_readonly(void)
{
	char *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int ret = reg_mr((uintptr_t)page, 4096, (uintptr_t)page, IBV_ACCESS_LOCAL_WRITE,
			 pd->handle);

	munmap(page, 4096);
	return ret;
}

/* Without privilege and over the limit. */
static int reg_mr_poor(void)
{
	struct rlimit tiny = { .rlim_cur = 4096, .rlim_max = 4096 };

	if (setrlimit(RLIMIT_MEMLOCK, &tiny) || seteuid(65534))
		return ENOTRECOVERABLE;
	return reg_mr(BUF, BUF_LEN, BUF, 0, pd->handle);
}

static int mr_memlock(void)
{
	return in_child(reg_mr_poor);
}

static int query_mr(uint64_t handle)
{
	struct raw r = raw_begin(DRIVER_ID, UVERBS_OBJECT_MR, UVERBS_METHOD_QUERY_MR);
	uint64_t length;
	uint32_t key;

	raw_handle(&r, UVERBS_ATTR_QUERY_MR_HANDLE, handle);
	raw_out(&r, UVERBS_ATTR_QUERY_MR_RESP_LKEY, &key, sizeof(key));
	raw_out(&r, UVERBS_ATTR_QUERY_MR_RESP_RKEY, &key, sizeof(key));
	raw_out(&r, UVERBS_ATTR_QUERY_MR_RESP_LENGTH, &length, sizeof(length));
	return raw_send(fd, &r);
}

static int mr_dmabuf(void)
{
	struct raw r = raw_begin(DRIVER_ID, UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR);
	uint32_t key;

	raw_handle(&r, UVERBS_ATTR_REG_DMABUF_MR_HANDLE, 0);
	raw_handle(&r, UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, pd->handle);
	raw_const(&r, UVERBS_ATTR_REG_DMABUF_MR_OFFSET, 0);
	raw_const(&r, UVERBS_ATTR_REG_DMABUF_MR_LENGTH, 4096);
	raw_const(&r, UVERBS_ATTR_REG_DMABUF_MR_IOVA, 0);
	raw_u32(&r, UVERBS_ATTR_REG_DMABUF_MR_FD, 0);
	raw_out(&r, UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, &key, sizeof(key));
	raw_out(&r, UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, &key, sizeof(key));
	return raw_send(fd, &r);
}

static int mr_advise(void)
{
	struct raw r = raw_begin(DRIVER_ID, UVERBS_OBJECT_MR, UVERBS_METHOD_ADVISE_MR);
	struct ibv_sge sge = { .addr = BUF, .length = 4096, .lkey = mr->lkey };

	raw_handle(&r, UVERBS_ATTR_ADVISE_MR_PD_HANDLE, pd->handle);
	raw_const(&r, UVERBS_ATTR_ADVISE_MR_ADVICE, 0);
	raw_u32(&r, UVERBS_ATTR_ADVISE_MR_FLAGS, 0);
	raw_in(&r, UVERBS_ATTR_ADVISE_MR_SGE_LIST, &sge, sizeof(sge));
	return raw_send(fd, &r);
}

static int mr_query_other(void) { return query_mr(qp->handle); }
static int mr_query_good(void) { return query_mr(mr->handle); }

const struct bad_input bad_objects[] = {
	ROW(handle_none, ENOENT, "pd_handle 2147483632"),
	ROW(handle_negative, EINVAL, "pd_handle -3"),
	ROW(handle_huge, ENOENT, "pd_handle 1099511627776"),
	ROW(handle_other_type, EINVAL, "not an object of the right type"),
	ROW(handle_in_use, EBUSY, "is used by"),
	ROW(handle_with_length, EINVAL, "pd_handle: a handle has no length"),
	ROW(handle_of_no_context, ENOENT, "pd_handle", .on_fresh = true),
	ROW(cq_vector, EINVAL, "comp_vector 9999"),
	ROW(cq_flags, EINVAL, "flags: unknown bits 0x80"),
	ROW(cq_flags_high, EINVAL, "flags"),
	ROW(cq_flags_length, EINVAL, "flags"),
	ROW(cq_channel_none, EBADF, "comp_channel -1"),
	ROW(cq_channel_other, EBADF, "comp_channel 0"),
	ROW(cq_channel_async, EBADF, "comp_channel"),
	ROW(cq_event_fd, EBADF, "event_fd"),
	ROW(cq_too_many, EINVAL, "cqe"),
	ROW(cq_ring_unmapped, EFAULT, "cannot be pinned", .alone = true),
	ROW(cq_in_use, EBUSY, "is used by"),
	ROW(qp_no_pd, ENOENT, "pd_handle is missing"),
	ROW(qp_no_cap, EINVAL, "cap is missing"),
	ROW(qp_bad_pd, ENOENT, "pd_handle 123456"),
	ROW(qp_pd_is_cq, EINVAL, "pd_handle"),
	ROW(qp_bad_cq, ENOENT, "recv_cq_handle 123456"),
	ROW(qp_type, EINVAL, "qp_type 99"),
	ROW(qp_type_wide, EINVAL, "qp_type 8589934594"),
	ROW(qp_flags, EINVAL, "flags: unknown bits"),
	ROW(qp_raw_flags, EINVAL, "not for qp_type"),
	ROW(qp_too_long, EINVAL, "send_wr"),
	ROW(qp_no_rings, EINVAL, ""),
	ROW(modify_mask, EOPNOTSUPP, "attr_mask"),
	ROW(modify_state, EINVAL, "qp_state 9"),
	ROW(modify_cur_state, EINVAL, "cur_qp_state 77"),
	ROW(modify_port, EINVAL, "port_num 9"),
	ROW(modify_transition, EINVAL, ""),
	ROW(modify_path_port, EINVAL, "dest.port_num 33"),
	ROW(modify_alt_ports, EINVAL, "alt_dest.port_num 0"),
	ROW(mr_pd, ENOENT, "pd_handle 4711"),
	ROW(mr_offset, EINVAL, "hca_va"),
	ROW(mr_unmapped, EFAULT, "0x1000"),
	ROW(mr_empty, EINVAL, "length"),
	ROW(mr_wrap, EINVAL, ""),
	ROW(mr_access, EINVAL, "access_flags 0x2"),
	ROW(mr_access_unknown, EINVAL, "access_flags 0x40000"),
	ROW(mr_readonly, EFAULT, "cannot be pinned"),
	ROW(mr_memlock, ENOMEM, "RLIMIT_MEMLOCK"),
	ROW(mr_dmabuf, EINVAL, "DMA buffer 0"),
	ROW(mr_advise, EOPNOTSUPP, "ADVISE_MR: not supported"),
	ROW(mr_query_other, EINVAL, "mr_handle"),
	ROW(mr_query_good, 0, NULL),
	{}
};
