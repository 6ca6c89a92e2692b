// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory that cannot be registered or deregistered, and windows.  memory_faults tests which
 * registered memory a request may access.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "uverbs_bad_input.h"

/* ---- registering ---- */

/* Three pages: only the middle one is mapped, or only the two others. */
static char *three_pages(bool middle)
{
	char *at = mmap(NULL, 3 * PAGE, middle ? PROT_NONE : PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED ||
	    mprotect(at + PAGE, PAGE, middle ? PROT_READ | PROT_WRITE : PROT_NONE))
		return NULL;
	return at;
}

static int mr_hole(void)
{
	char *at = three_pages(false);
	int err;

	if (!at)
		return ENOTRECOVERABLE;
	err = reg_mr((uintptr_t)at, 3 * PAGE, (uintptr_t)at, IBV_ACCESS_LOCAL_WRITE, pd->handle);
	munmap(at, 3 * PAGE);
	return err;
}

static int mr_empty(void) { return reg_mr(BUF, 0, BUF, 0, pd->handle); }

/* A range that leaves the only mapped page is refused, whatever lies behind it. */
static int mr_hostile_lengths(void)
{
	char *at = three_pages(true);
	uint64_t start = (uintptr_t)at + PAGE, length;
	struct ibv_mr *good = at ? ibv_reg_mr(pd, at + PAGE, PAGE, 0) : NULL;
	int err = 0;

	if (!good || ibv_dereg_mr(good))
		return ENOTRECOVERABLE;
	for (int bit = 63; bit >= 12; bit--) {
		for (int less = -1; less <= 1; less++) {
			length = (1ull << bit) + less;
			if (length <= PAGE)
				continue;
			err = reg_mr(start, length, start, 0, pd->handle);
			if (err != EFAULT && err != EINVAL && err != ENOMEM) {
				printf("# length %#jx: errno %d\n", (uintmax_t)length, err);
				return ENOTRECOVERABLE;
			}
		}
	}
	munmap(at, 3 * PAGE);
	return err;
}

/* Addresses outside of user space. */
static int mr_hostile_starts(void)
{
	static const uint64_t starts[] = {
		0, 1ull << 47, 1ull << 63, 0xffff800000000000, -2 * PAGE,
	};
	int err = 0;

	for (unsigned int i = 0; i < sizeof(starts) / sizeof(*starts); i++) {
		err = reg_mr(starts[i], PAGE, starts[i], 0, pd->handle);
		if (err != EFAULT)
			return err ?: ENOTRECOVERABLE;
	}
	return err;
}

/* The key's addresses wrap, the memory's do not. */
static int mr_iova_wraps(void)
{
	return reg_mr(BUF, 2 * PAGE, -PAGE, 0, pd->handle);
}

static int mr_on_demand(void)
{
	return reg_mr(BUF, PAGE, BUF, IBV_ACCESS_ON_DEMAND, pd->handle);
}

/* ---- registering again ---- */

static int rereg_mr(uint32_t handle, uint32_t flags, uint64_t start, uint64_t length, uint64_t va,
		    uint32_t access, uint32_t pd_handle)
{
	struct raw r = raw_begin(DRIVER_ID, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	struct ib_uverbs_rereg_mr req = {
		.mr_handle = handle, .flags = flags, .start = start, .length = length,
		.hca_va = va, .access_flags = access, .pd_handle = pd_handle,
	};
	struct ib_uverbs_rereg_mr_resp resp;

	raw_const(&r, UVERBS_ATTR_WRITE_CMD, IB_USER_VERBS_CMD_REREG_MR);
	raw_in(&r, UVERBS_ATTR_CORE_IN, &req, sizeof(req));
	raw_out(&r, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	return raw_send(fd, &r);
}

#define TRANS	IBV_REREG_MR_CHANGE_TRANSLATION

static int rereg_nothing(void) { return rereg_mr(mr->handle, 0, BUF, PAGE, BUF, 0, 0); }
static int rereg_flags(void) { return rereg_mr(mr->handle, 0x40, BUF, PAGE, BUF, 0, 0); }
static int rereg_offset(void) { return rereg_mr(mr->handle, TRANS, BUF, PAGE, BUF + 8, 0, 0); }
static int rereg_none(void) { return rereg_mr(4711, TRANS, BUF, PAGE, BUF, 0, 0); }
static int rereg_cq(void) { return rereg_mr(cq->handle, TRANS, BUF, PAGE, BUF, 0, 0); }
static int rereg_unmapped(void) { return rereg_mr(mr->handle, TRANS, PAGE, PAGE, PAGE, 0, 0); }
static int rereg_empty(void) { return rereg_mr(mr->handle, TRANS, BUF, 0, BUF, 0, 0); }
static int rereg_wrap(void) { return rereg_mr(mr->handle, TRANS, BUF, -PAGE, BUF, 0, 0); }

static int rereg_pd(void)
{
	return rereg_mr(mr->handle, IBV_REREG_MR_CHANGE_PD, BUF, PAGE, BUF, 0, 4711);
}

static int rereg_access(void)
{
	return rereg_mr(mr->handle, IBV_REREG_MR_CHANGE_ACCESS, 0, 0, 0, IBV_ACCESS_REMOTE_WRITE,
			0);
}

/* New rights must not pin other memory than the region has. */
static int rereg_read_only(void)
{
	struct ibv_mr *of = ibv_reg_mr(pd, buf, PAGE, IBV_ACCESS_REMOTE_READ);
	int err = of ? rereg_mr(of->handle, IBV_REREG_MR_CHANGE_ACCESS, 0, 0, 0,
				IBV_ACCESS_LOCAL_WRITE, 0) : ENOTRECOVERABLE;

	return of && ibv_dereg_mr(of) ? ENOTRECOVERABLE : err;
}

static int rereg_same_pd(void)
{
	return rereg_mr(mr->handle, IBV_REREG_MR_CHANGE_PD, 0, 0, 0, 0, pd->handle);
}

static int rereg_good(void)
{
	return rereg_mr(mr->handle, IBV_REREG_MR_CHANGE_ACCESS, 0, 0, 0, IBV_ACCESS_LOCAL_WRITE,
			0);
}

/* ---- deregistering ---- */

static int dereg(uint32_t handle)
{
	struct raw r = raw_begin(DRIVER_ID, UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY);

	raw_handle(&r, UVERBS_ATTR_DESTROY_MR_HANDLE, handle);
	return raw_send(fd, &r);
}

static int dereg_none(void) { return dereg(4711); }
static int dereg_pd(void) { return dereg(pd->handle); }

static int dereg_twice(void)
{
	struct ibv_mr *once = ibv_reg_mr(pd, buf, PAGE, 0);
	uint32_t handle;

	if (!once)
		return ENOTRECOVERABLE;
	handle = once->handle;
	return ibv_dereg_mr(once) ? ENOTRECOVERABLE : dereg(handle);
}

/* ---- windows ---- */

static int alloc_mw(uint32_t type, uint32_t pd_handle)
{
	struct raw r = raw_begin(DRIVER_ID, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	struct ib_uverbs_alloc_mw req = { .pd_handle = pd_handle, .mw_type = type };
	struct ib_uverbs_alloc_mw_resp resp;

	raw_const(&r, UVERBS_ATTR_WRITE_CMD, IB_USER_VERBS_CMD_ALLOC_MW);
	raw_in(&r, UVERBS_ATTR_CORE_IN, &req, sizeof(req));
	raw_out(&r, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	return raw_send(fd, &r);
}

static int mw_type_0(void) { return alloc_mw(0, pd->handle); }
static int mw_type_3(void) { return alloc_mw(3, pd->handle); }
static int mw_pd(void) { return alloc_mw(IBV_MW_TYPE_1, 4711); }
static int mw_pd_is_cq(void) { return alloc_mw(IBV_MW_TYPE_1, cq->handle); }

static int mw_dealloc_mr(void)
{
	struct raw r = raw_begin(DRIVER_ID, UVERBS_OBJECT_MW, UVERBS_METHOD_MW_DESTROY);

	raw_handle(&r, UVERBS_ATTR_DESTROY_MW_HANDLE, mr->handle);
	return raw_send(fd, &r);
}

static int mw_good(void)
{
	struct ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);

	return mw ? ibv_dealloc_mw(mw) : errno;
}

/* A QP that is its own peer. */
static struct ibv_qp *loop(void)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .send_cq = cq, .recv_cq = cq,
		.cap = { .max_send_wr = 4, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct ibv_qp *self = ibv_create_qp(pd, &init);
	struct ibv_port_attr port;

	if (!self || ibv_query_port(ctx, 1, &port) ||
	    ibv_modify_qp(self, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			  IBV_QP_ACCESS_FLAGS))
		return NULL;
	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = self->qp_num,
		.ah_attr = { .dlid = port.lid, .port_num = 1 }, .min_rnr_timer = 1,
		.max_dest_rd_atomic = 1,
	};
	if (ibv_modify_qp(self, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			  IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			  IBV_QP_MIN_RNR_TIMER))
		return NULL;
	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7,
		.max_rd_atomic = 1,
	};
	if (ibv_modify_qp(self, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
			  IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC))
		return NULL;
	return self;
}

/* A request on a region must be refused while a window is bound to it, and accepted without. */
static int with_window(int (*what)(struct ibv_mr *of))
{
	struct ibv_mr *of = ibv_reg_mr(pd, buf, PAGE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
	struct ibv_mw *mw = ibv_alloc_mw(pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = {
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = { .mr = of, .addr = BUF, .length = PAGE,
			       .mw_access_flags = IBV_ACCESS_REMOTE_WRITE },
	};
	struct ibv_qp *self = loop();
	struct ibv_wc wc;
	int err, n;

	if (!of || !mw || !self || ibv_bind_mw(self, mw, &bind))
		return ENOTRECOVERABLE;
	do
		n = ibv_poll_cq(cq, 1, &wc);
	while (!n);
	if (n < 0 || wc.status)
		return ENOTRECOVERABLE;
	err = what(of);
	if (ibv_dealloc_mw(mw) || ibv_dereg_mr(of) || ibv_destroy_qp(self))
		return ENOTRECOVERABLE;
	return err;
}

static int dereg_handle(struct ibv_mr *of)
{
	return dereg(of->handle);
}

static int rereg_smaller(struct ibv_mr *of)
{
	return rereg_mr(of->handle, TRANS, BUF, 64, BUF, 0, 0);
}

static int mr_with_window(void) { return with_window(dereg_handle); }
static int rereg_with_window(void) { return with_window(rereg_smaller); }

const struct bad_input bad_memory[] = {
	ROW(mr_hole, EFAULT, "cannot be pinned", .alone = true),
	ROW(mr_empty, EINVAL, "no length", .alone = true),
	ROW(mr_hostile_lengths, EFAULT, "cannot be pinned"),
	ROW(mr_hostile_starts, EFAULT, "cannot be pinned"),
	ROW(mr_iova_wraps, EINVAL, "CREATE_MKEY"),
	ROW(mr_on_demand, EOPNOTSUPP, "access_flags 0x40"),
	ROW(rereg_nothing, EINVAL, "nothing to change"),
	ROW(rereg_flags, EOPNOTSUPP, "flags: unknown bits 0x40"),
	ROW(rereg_offset, EINVAL, "hca_va"),
	ROW(rereg_none, ENOENT, "mr_handle 4711"),
	ROW(rereg_cq, EINVAL, "mr_handle"),
	ROW(rereg_unmapped, EFAULT, "cannot be pinned", .alone = true),
	ROW(rereg_empty, EINVAL, "no length", .alone = true),
	ROW(rereg_wrap, EINVAL, ""),
	ROW(rereg_pd, ENOENT, "pd_handle 4711"),
	ROW(rereg_access, EINVAL, "access_flags 0x2"),
	ROW(rereg_read_only, EACCES, "registered for reading only"),
	ROW(rereg_same_pd, 0, NULL),
	ROW(rereg_good, 0, NULL),
	ROW(dereg_none, ENOENT, "mr_handle 4711"),
	ROW(dereg_pd, EINVAL, "mr_handle"),
	ROW(dereg_twice, ENOENT, "mr_handle"),
	ROW(mw_type_0, EINVAL, "mw_type 0"),
	ROW(mw_type_3, EINVAL, "mw_type 3"),
	ROW(mw_pd, ENOENT, "pd_handle 4711"),
	ROW(mw_pd_is_cq, EINVAL, "pd_handle"),
	ROW(mw_dealloc_mr, EINVAL, "mw_handle"),
	ROW(mw_good, 0, NULL),
	ROW(mr_with_window, EBUSY, "still in use"),
	ROW(rereg_with_window, EBUSY, "still in use"),
	{}
};
