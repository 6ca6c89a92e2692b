// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The kernel's part of PDs, memory regions and windows.
 */
#include <errno.h>
#include <string.h>

#include "cm.h"
#include "fake.h"

struct vhca_pd fake_vhca_pd = { .holds = 1 };
struct fake_mr fake_asked;

static uint32_t num_mws;

int ibv_cmd_alloc_pd(struct ibv_context *context, struct ibv_pd *pd, struct ibv_alloc_pd *cmd,
		     size_t cmd_size, struct ib_uverbs_alloc_pd_resp *resp, size_t resp_size)
{
	struct vhca_alloc_pd_resp *out = (void *)((uint8_t *)resp + sizeof(*resp));

	(void)cmd;
	(void)cmd_size;
	assert_int_equal(resp_size, sizeof(*resp) + sizeof(*out));
	pd->context = context;
	out->pdn = 77;
	return fake_answer(FAKE_ALLOC_PD, 1);
}

int ibv_cmd_dealloc_pd(struct ibv_pd *pd)
{
	(void)pd;
	return fake_answer(FAKE_DEALLOC_PD, -1);
}

int ibv_cmd_reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t hca_va, int access,
		   struct verbs_mr *vmr, struct ibv_reg_mr *cmd, size_t cmd_size,
		   struct ib_uverbs_reg_mr_resp *resp, size_t resp_size)
{
	(void)cmd;
	(void)resp;
	assert_int_equal(cmd_size, sizeof(*cmd));
	assert_int_equal(resp_size, sizeof(*resp));
	if (!length)
		return EINVAL;
	fake_asked = (struct fake_mr) {
		.addr = addr, .length = length, .iova = hca_va, .access = access, .pd = pd,
	};
	vmr->ibv_mr.context = pd->context;
	return fake_answer(FAKE_REG_MR, 1);
}

int ibv_cmd_rereg_mr(struct verbs_mr *vmr, uint32_t flags, void *addr, size_t length,
		     uint64_t hca_va, int access, struct ibv_pd *pd, struct ibv_rereg_mr *cmd,
		     size_t cmd_size, struct ib_uverbs_rereg_mr_resp *resp, size_t resp_size)
{
	(void)vmr;
	(void)cmd;
	(void)resp;
	assert_int_equal(cmd_size, sizeof(*cmd));
	assert_int_equal(resp_size, sizeof(*resp));
	assert_int_equal(hca_va, (uintptr_t)addr);
	if (fake_err[FAKE_REREG_MR])
		return fake_err[FAKE_REREG_MR];
	fake_asked = (struct fake_mr) {
		.addr = addr, .length = length, .iova = hca_va, .access = access, .pd = pd,
	};
	if (flags & IBV_REREG_MR_CHANGE_PD && !pd)
		return EINVAL;
	return flags & IBV_REREG_MR_CHANGE_TRANSLATION && !length ? EINVAL : 0;
}

int ibv_cmd_dereg_mr(struct verbs_mr *vmr)
{
	(void)vmr;
	return fake_answer(FAKE_DEREG_MR, -1);
}

int ibv_cmd_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
			  int fd, int access, struct verbs_mr *vmr,
			  struct ibv_command_buffer *driver_cmd)
{
	assert_null(driver_cmd);
	fake_asked = (struct fake_mr) {
		.offset = offset, .length = length, .iova = iova, .access = access, .fd = fd,
		.pd = pd,
	};
	vmr->ibv_mr.context = pd->context;
	return fake_answer(FAKE_REG_DMABUF_MR, 1);
}

/* Each window has an index of its own; the low byte of its key is about to wrap. */
int ibv_cmd_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type, struct ibv_mw *mw,
		     struct ibv_alloc_mw *cmd, size_t cmd_size,
		     struct ib_uverbs_alloc_mw_resp *resp, size_t resp_size)
{
	(void)cmd;
	(void)resp;
	assert_int_equal(cmd_size, sizeof(*cmd));
	assert_int_equal(resp_size, sizeof(*resp));
	if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2)
		return EINVAL;
	if (fake_answer(FAKE_ALLOC_MW, 1))
		return fake_err[FAKE_ALLOC_MW];
	mw->context = pd->context;
	mw->pd = pd;
	mw->type = type;
	mw->rkey = ++num_mws << 8 | 0xfe;
	return 0;
}

int ibv_cmd_dealloc_mw(struct ibv_mw *mw)
{
	(void)mw;
	return fake_answer(FAKE_DEALLOC_MW, -1);
}
