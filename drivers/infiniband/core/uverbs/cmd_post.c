// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Posting work requests through the kernel, for libraries that cannot do it themselves.
 *
 * Behind the request structure come wr_count work requests of wqe_size bytes and then sge_count
 * scatter/gather entries, which the work requests take from the front, in order.
 */

#include "commands.h"

struct post {
	struct ib_uobject *queue;
	u32 wr_count;
	u32 sge_count;
	u32 wqe_size;
	u32 bad_wr;
};

/* All requests have the same layout. */
#define POST_ARGS(_req, _resp, _handle, _type)						\
	{										\
		.name = #_handle, .kind = UV_READ, .attr = UV_NO_ATTR, .type = _type,	\
		UV_BLOCK(post, queue), .w = UV_AT(_req, _handle),			\
	}, {										\
		.name = "wr_count", .kind = UV_INT, .attr = UV_NO_ATTR,			\
		UV_BLOCK(post, wr_count), .w = UV_AT(_req, wr_count),			\
	}, {										\
		.name = "sge_count", .kind = UV_INT, .attr = UV_NO_ATTR,		\
		UV_BLOCK(post, sge_count), .w = UV_AT(_req, sge_count),			\
	}, {										\
		.name = "wqe_size", .kind = UV_INT, .attr = UV_NO_ATTR,			\
		UV_BLOCK(post, wqe_size), .w = UV_AT(_req, wqe_size),			\
	}, {										\
		.name = "bad_wr", .kind = UV_OUT, .attr = UV_NO_ATTR,			\
		UV_BLOCK(post, bad_wr), .w = UV_AT(_resp, bad_wr),			\
	}

static const struct uverbs_arg post_send_args[] = {
	POST_ARGS(ib_uverbs_post_send, ib_uverbs_post_send_resp, qp_handle, UVERBS_OBJECT_QP)
};

static const struct uverbs_arg post_recv_args[] = {
	POST_ARGS(ib_uverbs_post_recv, ib_uverbs_post_recv_resp, qp_handle, UVERBS_OBJECT_QP)
};

static const struct uverbs_arg post_srq_recv_args[] = {
	POST_ARGS(ib_uverbs_post_srq_recv, ib_uverbs_post_srq_recv_resp, srq_handle,
		  UVERBS_OBJECT_SRQ)
};

static_assert(sizeof(struct ib_sge) == sizeof(struct ib_uverbs_sge));

static size_t wqe_bytes(const struct post *args)
{
	return size_mul(args->wqe_size, args->wr_count);
}

static size_t sge_bytes(const struct post *args)
{
	return size_mul(args->sge_count, sizeof(struct ib_sge));
}

static int check_wqe_size(struct uverbs_call *call, size_t min)
{
	const struct post *args = call->args;

	if (args->wqe_size < min)
		return uverbs_refuse(call, -EINVAL, "wqe_size %u, needs at least %zu",
				     args->wqe_size, min);
	return 0;
}

static int check_room(struct uverbs_call *call)
{
	const struct post *args = call->args;
	size_t used = size_add(wqe_bytes(args), sge_bytes(args));

	if (used > call->tail_len)
		return uverbs_refuse(call, -ENOSPC, "%u WRs and %u entries do not fit %zu bytes",
				     args->wr_count, args->sge_count, call->tail_len);
	if (!ib_is_buffer_cleared(call->tail + used, call->tail_len - used))
		return uverbs_refuse(call, -EOPNOTSUPP,
				     "bytes behind the entries are not zero");
	return 0;
}

/* Copies the entries of all work requests at once; take_sges() gives each its part. */
static struct ib_sge *copy_sges(struct uverbs_call *call, const struct post *args)
{
	struct ib_sge *list;

	list = uverbs_alloc(&call->bundle, sge_bytes(args));
	if (!IS_ERR(list) &&
	    copy_from_user(list, call->tail + wqe_bytes(args), sge_bytes(args)))
		return ERR_PTR(uverbs_refuse(call, -EFAULT, "entries cannot be read"));
	return list;
}

/* Zeroed work requests of this size, as many as the command has; *@sges receives all entries. */
static void *alloc_wrs(struct uverbs_call *call, const struct post *args, size_t size,
		       struct ib_sge **sges)
{
	*sges = copy_sges(call, args);
	return IS_ERR(*sges) ? *sges : uverbs_kcalloc(&call->bundle, args->wr_count, size);
}

/* Takes the entries of one work request from those that are left. */
static int take_sges(struct uverbs_call *call, u32 count, u32 *left)
{
	if (count > *left)
		return uverbs_refuse(call, -EINVAL, "num_sge %u, only %u entries are left", count,
				     *left);
	*left -= count;
	return 0;
}

/*
 * Posted work requests cannot be taken back, so the response is pinned before.  A mere doorbell
 * needs no pinned response, as it may be rung again.
 */
static int pin_reply(struct uverbs_call *call, struct uverbs_pinned *to)
{
	const struct post *args = call->args;

	return args->wr_count ? uverbs_pin_response(call, call->resp_len, to) : 0;
}

/*
 * The response is written even if the driver refused a work request, because it says which one.
 */
static int reply(struct uverbs_call *call, const struct uverbs_pinned *to, int err)
{
	const struct post *args = call->args;

	if (err)
		uverbs_refuse_below(call, err, "WR %u of %u: the driver refused", args->bad_wr,
				    args->wr_count);
	if (!args->wr_count)
		return err ? uverbs_args_to_response(call) ?: err : 0;
	uverbs_write_pinned(to, 0, &args->bad_wr, sizeof(args->bad_wr));
	uverbs_write_pinned(to, sizeof(args->bad_wr), NULL,
			    call->resp_len - sizeof(args->bad_wr));
	uverbs_unpin_response(to);
	return err;
}

static_assert(sizeof(struct ib_uverbs_post_send_resp) == sizeof(u32));
static_assert(sizeof(struct ib_uverbs_post_recv_resp) == sizeof(u32));
static_assert(sizeof(struct ib_uverbs_post_srq_recv_resp) == sizeof(u32));

/* ---- POST_SEND ---- */

/* Room for a send request of any kind. */
union any_wr {
	struct ib_send_wr wr;
	struct ib_ud_wr ud;
	struct ib_rdma_wr rdma;
	struct ib_atomic_wr atomic;
};

static int fill_kind(struct uverbs_call *call, union any_wr *to,
		     const struct ib_uverbs_send_wr *from, enum ib_qp_type type)
{
	struct ib_uobject *ah;

	if (type == IB_QPT_UD) {
		if (from->opcode != IB_WR_SEND && from->opcode != IB_WR_SEND_WITH_IMM)
			return uverbs_refuse(call, -EINVAL, "opcode %u on a UD QP", from->opcode);
		ah = uverbs_take(call, UVERBS_OBJECT_AH, UVERBS_ACCESS_READ, from->wr.ud.ah, "ah");
		if (IS_ERR(ah))
			return PTR_ERR(ah);
		to->ud.ah = ah->object;
		to->ud.remote_qpn = from->wr.ud.remote_qpn;
		to->ud.remote_qkey = from->wr.ud.remote_qkey;
		return 0;
	}

	switch (from->opcode) {
	case IB_WR_SEND:
	case IB_WR_SEND_WITH_IMM:
	case IB_WR_SEND_WITH_INV:
		return 0;
	case IB_WR_RDMA_READ:
	case IB_WR_RDMA_WRITE:
	case IB_WR_RDMA_WRITE_WITH_IMM:
		to->rdma.remote_addr = from->wr.rdma.remote_addr;
		to->rdma.rkey = from->wr.rdma.rkey;
		return 0;
	case IB_WR_ATOMIC_CMP_AND_SWP:
	case IB_WR_ATOMIC_FETCH_AND_ADD:
		to->atomic.remote_addr = from->wr.atomic.remote_addr;
		to->atomic.rkey = from->wr.atomic.rkey;
		to->atomic.compare_add = from->wr.atomic.compare_add;
		to->atomic.swap = from->wr.atomic.swap;
		return 0;
	default:
		return uverbs_refuse(call, -EINVAL, "opcode %u is unknown", from->opcode);
	}
}

static void fill_send(struct ib_send_wr *to, const struct ib_uverbs_send_wr *from,
		      struct ib_sge *sges)
{
	to->wr_id = from->wr_id;
	to->opcode = from->opcode;
	to->send_flags = from->send_flags;
	to->sg_list = from->num_sge ? sges : NULL;
	to->num_sge = from->num_sge;
	if (from->opcode == IB_WR_SEND_WITH_INV)
		to->ex.invalidate_rkey = from->ex.invalidate_rkey;
	else if (from->opcode == IB_WR_SEND_WITH_IMM || from->opcode == IB_WR_RDMA_WRITE_WITH_IMM)
		to->ex.imm_data = from->ex.imm_data;
}

static union any_wr *build_sends(struct uverbs_call *call, const struct post *args,
				 const struct ib_qp *qp)
{
	const void __user *from = call->tail;
	struct ib_uverbs_send_wr uwr;
	u32 left = args->sge_count;
	struct ib_sge *sges;
	union any_wr *wrs;
	int ret = 0;

	wrs = alloc_wrs(call, args, sizeof(*wrs), &sges);
	if (IS_ERR(wrs))
		return wrs;

	for (u32 i = 0; i < args->wr_count && !ret; i++, from += args->wqe_size) {
		if (copy_from_user(&uwr, from, sizeof(uwr)))
			return ERR_PTR(uverbs_refuse(call, -EFAULT, "WR %u cannot be read", i));
		fill_send(&wrs[i].wr, &uwr, sges + (args->sge_count - left));
		if (i)
			wrs[i - 1].wr.next = &wrs[i].wr;
		ret = take_sges(call, uwr.num_sge, &left) ?:
		      fill_kind(call, &wrs[i], &uwr, qp->qp_type);
	}
	return ret ? ERR_PTR(ret) : wrs;
}

static int check_post_send(struct uverbs_call *call)
{
	return check_room(call) ?: check_wqe_size(call, sizeof(struct ib_uverbs_send_wr));
}

/*
 * A request without work requests is a doorbell: the driver is called all the same, as the program
 * may have written work requests into a queue that it shares with the driver (rdma_rxe).
 */
static int run_post_send(struct uverbs_call *call)
{
	struct post *args = call->args;
	struct ib_qp *qp = args->queue->object;
	const struct ib_send_wr *bad = NULL;
	struct uverbs_pinned to;
	union any_wr *wrs;
	int ret;

	wrs = build_sends(call, args, qp);
	if (IS_ERR(wrs))
		return PTR_ERR(wrs);
	ret = pin_reply(call, &to);
	if (ret)
		return ret;
	ret = qp->device->ops.post_send(qp->real_qp, args->wr_count ? &wrs->wr : NULL, &bad);
	if (ret && bad)
		args->bad_wr = container_of(bad, union any_wr, wr) - wrs + 1;
	return reply(call, &to, ret);
}

static const struct uverbs_cmd cmd_post_send = {
	.name = "POST_SEND",
	.method = UV_NO_METHOD,
	.w_num = IB_USER_VERBS_CMD_POST_SEND,
	.x_num = UV_NO_WRITE,
	.flags = UV_C_TAIL,
	.w_req = sizeof(struct ib_uverbs_post_send),
	.w_resp = sizeof(struct ib_uverbs_post_send_resp),
	UV_ARGS(post_send_args, post),
	.needs = { UV_OP(post_send) },
	.check = check_post_send,
	.run = run_post_send,
};

/* ---- POST_RECV ---- */

static struct ib_recv_wr *build_recvs(struct uverbs_call *call, const struct post *args)
{
	const void __user *from = call->tail;
	struct ib_uverbs_recv_wr uwr;
	u32 left = args->sge_count;
	struct ib_recv_wr *wrs;
	struct ib_sge *sges;
	int ret = 0;

	wrs = alloc_wrs(call, args, sizeof(*wrs), &sges);
	if (IS_ERR(wrs))
		return wrs;

	for (u32 i = 0; i < args->wr_count && !ret; i++, from += args->wqe_size) {
		if (copy_from_user(&uwr, from, sizeof(uwr)))
			return ERR_PTR(uverbs_refuse(call, -EFAULT, "WR %u cannot be read", i));
		wrs[i].wr_id = uwr.wr_id;
		wrs[i].num_sge = uwr.num_sge;
		wrs[i].sg_list = uwr.num_sge ? sges + (args->sge_count - left) : NULL;
		if (i)
			wrs[i - 1].next = &wrs[i];
		ret = take_sges(call, uwr.num_sge, &left);
	}
	return ret ? ERR_PTR(ret) : wrs;
}

static int check_post_recv(struct uverbs_call *call)
{
	return check_wqe_size(call, sizeof(struct ib_uverbs_recv_wr)) ?: check_room(call);
}

/* Reports what the driver did with the receives at @wrs: it stopped at @bad. */
static int recvs_posted(struct uverbs_call *call, const struct uverbs_pinned *to, int ret,
			const struct ib_recv_wr *wrs, const struct ib_recv_wr *bad)
{
	struct post *args = call->args;

	if (ret && bad)
		args->bad_wr = bad - wrs + 1;
	return reply(call, to, ret);
}

static int run_post_recv(struct uverbs_call *call)
{
	struct post *args = call->args;
	struct ib_qp *qp = args->queue->object;
	const struct ib_recv_wr *bad = NULL;
	struct uverbs_pinned to;
	struct ib_recv_wr *wrs;
	int ret;

	wrs = build_recvs(call, args);
	if (IS_ERR(wrs))
		return PTR_ERR(wrs);
	ret = pin_reply(call, &to);
	if (ret)
		return ret;
	ret = qp->device->ops.post_recv(qp->real_qp, args->wr_count ? wrs : NULL, &bad);
	return recvs_posted(call, &to, ret, wrs, bad);
}

static const struct uverbs_cmd cmd_post_recv = {
	.name = "POST_RECV",
	.method = UV_NO_METHOD,
	.w_num = IB_USER_VERBS_CMD_POST_RECV,
	.x_num = UV_NO_WRITE,
	.flags = UV_C_TAIL,
	.w_req = sizeof(struct ib_uverbs_post_recv),
	.w_resp = sizeof(struct ib_uverbs_post_recv_resp),
	UV_ARGS(post_recv_args, post),
	.needs = { UV_OP(post_recv) },
	.check = check_post_recv,
	.run = run_post_recv,
};

/* ---- POST_SRQ_RECV ---- */

static int run_post_srq_recv(struct uverbs_call *call)
{
	struct post *args = call->args;
	struct ib_srq *srq = args->queue->object;
	const struct ib_recv_wr *bad = NULL;
	struct uverbs_pinned to;
	struct ib_recv_wr *wrs;
	int ret;

	wrs = build_recvs(call, args);
	if (IS_ERR(wrs))
		return PTR_ERR(wrs);
	ret = pin_reply(call, &to);
	if (ret)
		return ret;
	ret = srq->device->ops.post_srq_recv(srq, args->wr_count ? wrs : NULL, &bad);
	return recvs_posted(call, &to, ret, wrs, bad);
}

static const struct uverbs_cmd cmd_post_srq_recv = {
	.name = "POST_SRQ_RECV",
	.method = UV_NO_METHOD,
	.w_num = IB_USER_VERBS_CMD_POST_SRQ_RECV,
	.x_num = UV_NO_WRITE,
	.flags = UV_C_TAIL,
	.w_req = sizeof(struct ib_uverbs_post_srq_recv),
	.w_resp = sizeof(struct ib_uverbs_post_srq_recv_resp),
	UV_ARGS(post_srq_recv_args, post),
	.needs = { UV_OP(post_srq_recv) },
	.check = check_post_recv,
	.run = run_post_srq_recv,
};

const struct uverbs_object_desc uverbs_object_qp_post = {
	.id = UVERBS_OBJECT_QP,
	.more = true,
	UV_COMMANDS(&cmd_post_send, &cmd_post_recv),
};

const struct uverbs_object_desc uverbs_object_srq_post = {
	.id = UVERBS_OBJECT_SRQ,
	.more = true,
	UV_COMMANDS(&cmd_post_srq_recv),
};
