// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests that address handles, multicast groups, shared receive queues and completion queues in
 * use must refuse.
 */
#include <errno.h>
#include <string.h>

#include "uverbs_bad_input.h"

#define MLID	0xc001

/* ---- address handles ---- */

static int create_ah(struct ibv_ah_attr attr)
{
	struct ibv_ah *ah = ibv_create_ah(pd, &attr);

	if (!ah)
		return errno;
	return ibv_destroy_ah(ah);
}

static int ah_good(void)
{
	return create_ah((struct ibv_ah_attr){ .dlid = 1, .port_num = 1 });
}

static int ah_port(void)
{
	return create_ah((struct ibv_ah_attr){ .dlid = 1, .port_num = 9 });
}

static int ah_sgid_index(void)
{
	return create_ah((struct ibv_ah_attr){ .dlid = 1, .port_num = 1, .is_global = 1,
					       .grh = { .sgid_index = 200 } });
}

/* ---- multicast groups ---- */

static struct ibv_qp *datagram_qp(struct ibv_srq *srq, struct ibv_cq *to)
{
	struct ibv_qp_init_attr init = {
		.send_cq = to, .recv_cq = to, .srq = srq, .qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 1, .max_recv_wr = srq ? 0 : 8, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};

	return ibv_create_qp(pd, &init);
}

static union ibv_gid mgid(uint8_t first)
{
	return (union ibv_gid){ .raw = { first, 0x12, [15] = 1 } };
}

typedef int (*group_call)(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);

static int group(group_call call, uint8_t first, uint16_t lid)
{
	struct ibv_qp *ud = datagram_qp(NULL, cq);
	union ibv_gid gid = mgid(first);
	int err;

	if (!ud)
		return errno;
	err = call(ud, &gid, lid);
	if (!err)
		ibv_detach_mcast(ud, &gid, lid);
	return ibv_destroy_qp(ud) ?: err;
}

static int group_good(void) { return group(ibv_attach_mcast, 0xff, MLID); }
static int group_gid(void) { return group(ibv_attach_mcast, 0xfe, MLID); }
static int group_lid(void) { return group(ibv_attach_mcast, 0xff, 5); }
static int group_left_before(void) { return group(ibv_detach_mcast, 0xff, MLID); }

static int group_of_rc(void)
{
	union ibv_gid gid = mgid(0xff);

	return ibv_attach_mcast(qp, &gid, MLID);
}

static int group_member_destroyed(void)
{
	struct ibv_qp *ud = datagram_qp(NULL, cq);
	union ibv_gid gid = mgid(0xff);
	int err;

	if (!ud || ibv_attach_mcast(ud, &gid, MLID))
		return errno;
	err = ibv_destroy_qp(ud);
	if (err)
		return ibv_detach_mcast(ud, &gid, MLID) ?: ibv_destroy_qp(ud) ?: err;
	return 0;
}

/* ---- shared receive queues ---- */

static struct ibv_srq *shared(uint32_t max_wr, uint32_t max_sge)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = max_wr, .max_sge = max_sge } };

	return ibv_create_srq(pd, &init);
}

static int create_srq(uint32_t max_wr, uint32_t max_sge)
{
	struct ibv_srq *srq = shared(max_wr, max_sge);

	return srq ? ibv_destroy_srq(srq) : errno;
}

static int srq_good(void) { return create_srq(8, 1); }
static int srq_size(void) { return create_srq(1u << 30, 1); }
static int srq_sges(void) { return create_srq(8, 1000); }

static int modify_srq(unsigned int posted, struct ibv_srq_attr attr, int mask)
{
	struct ibv_srq *srq = shared(8, 1);
	struct ibv_recv_wr wr = {}, *bad;
	int err = 0;

	if (!srq)
		return errno;
	while (posted-- && !err)
		err = ibv_post_srq_recv(srq, &wr, &bad);
	if (!err)
		err = ibv_modify_srq(srq, &attr, mask);
	return ibv_destroy_srq(srq) ?: err;
}

static int srq_limit_above_size(void)
{
	return modify_srq(0, (struct ibv_srq_attr){ .srq_limit = 100000 }, IBV_SRQ_LIMIT);
}

static int srq_below_fill(void)
{
	return modify_srq(8, (struct ibv_srq_attr){ .max_wr = 2 }, IBV_SRQ_MAX_WR);
}

static int srq_in_use(void)
{
	struct ibv_srq *srq = shared(8, 1);
	struct ibv_qp *ud = srq ? datagram_qp(srq, cq) : NULL;
	int err;

	if (!ud)
		return errno;
	err = ibv_destroy_srq(srq);
	return ibv_destroy_qp(ud) ?: ibv_destroy_srq(srq) ?: err;
}

/* ---- completion queues in use ---- */

/* A CQ in which eight receives of a QP that failed wait. */
static int resize_full_cq(int cqe)
{
	struct ibv_cq *full = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 1 };
	struct ibv_qp *ud = full ? datagram_qp(NULL, full) : NULL;
	struct ibv_recv_wr wr = {}, *bad;
	struct ibv_wc wc;
	int err;

	if (!ud)
		return errno;
	err = ibv_modify_qp(ud, &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX |
			    IBV_QP_QKEY);
	for (int i = 0; i < 8 && !err; i++)
		err = ibv_post_recv(ud, &wr, &bad);
	attr.qp_state = IBV_QPS_ERR;
	if (!err)
		err = ibv_modify_qp(ud, &attr, IBV_QP_STATE);
	/* the first has come; the others follow it at once, in one slice of the device */
	while (!err && !ibv_poll_cq(full, 1, &wc))
		;
	if (!err)
		err = ibv_resize_cq(full, cqe);
	return ibv_destroy_qp(ud) ?: ibv_destroy_cq(full) ?: err;
}

static int cq_grows(void) { return resize_full_cq(64); }
static int cq_below_fill(void) { return resize_full_cq(2); }
static int cq_resize_size(void) { return ibv_resize_cq(cq, 1 << 30); }

const struct bad_input bad_datagrams[] = {
	ROW(ah_good, 0, NULL),
	ROW(ah_port, EINVAL, "port"),
	ROW(ah_sgid_index, EINVAL, "no GID at index 200"),
	ROW(group_good, 0, NULL),
	ROW(group_gid, EINVAL, "multicast"),
	ROW(group_lid, EINVAL, "multicast"),
	ROW(group_left_before, EINVAL, "not attached"),
	ROW(group_of_rc, EINVAL, "UD"),
	ROW(group_member_destroyed, EBUSY, "used by 1"),
	ROW(srq_good, 0, NULL),
	ROW(srq_size, EINVAL, "max_wr"),
	ROW(srq_sges, EINVAL, "max_sge"),
	ROW(srq_limit_above_size, EINVAL, "limit"),
	ROW(srq_below_fill, EINVAL, "RESIZE_SRQ"),
	ROW(srq_in_use, EBUSY, "used by 1"),
	ROW(cq_grows, 0, NULL),
	ROW(cq_below_fill, EINVAL, "RESIZE_CQ"),
	ROW(cq_resize_size, EINVAL, "cqe 1073741824"),
	{}
};
