// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The kernel's answers about imported objects: the ioctls of the
 * provider's own.
 */
#include <errno.h>
#include <string.h>

#include <infiniband/cmd_ioctl.h>
#include <rdma/ib_user_ioctl_cmds.h>

#include "cm.h"
#include "fake.h"

struct fake_clock fake_clock;
uint64_t fake_others_length;

/* An attribute that the provider has filled in. */
static const struct ib_uverbs_attr *attr_of(const struct ibv_command_buffer *cmd, uint16_t id)
{
	for (const struct ib_uverbs_attr *attr = cmd->hdr.attrs; attr < cmd->next_attr; attr++)
		if (attr->attr_id == id)
			return attr;
	fail_msg("the command has no attribute %#x", id);
	return NULL;
}

static void *answer_in(const struct ibv_command_buffer *cmd, uint16_t id, size_t size)
{
	const struct ib_uverbs_attr *attr = attr_of(cmd, id);

	assert_int_equal(attr->len, size);
	return (void *)(uintptr_t)attr->data;
}

int ibv_cmd_query_context(struct ibv_context *context, struct ibv_command_buffer *ours)
{
	(void)context;
	assert_int_equal(ours->hdr.object_id, UVERBS_OBJECT_DEVICE);
	assert_int_equal(ours->hdr.method_id, UVERBS_METHOD_QUERY_CONTEXT);
	if (!fake_err[FAKE_QUERY_CONTEXT])
		fake_context_answer(answer_in(ours, VHCA_ATTR_QUERY_CONTEXT_RESP,
					      sizeof(struct vhca_uctx_resp)),
				    VHCA_FEATURES);
	return fake_err[FAKE_QUERY_CONTEXT];
}

static int query_clock(const struct ibv_command_buffer *cmd)
{
	struct vhca_clock_query_resp *resp;

	assert_int_equal(cmd->hdr.method_id, VHCA_METHOD_CLOCK_QUERY);
	resp = answer_in(cmd, VHCA_ATTR_CLOCK_QUERY_RESP, sizeof(*resp));
	fake_clock.asked++;
	if (!fake_err[FAKE_QUERY_CLOCK])
		*resp = fake_clock.now;
	return fake_err[FAKE_QUERY_CLOCK];
}

/* There is one PD, which another process has made. */
static int query_pd(const struct ibv_command_buffer *cmd)
{
	struct vhca_alloc_pd_resp *resp;

	assert_int_equal(cmd->hdr.object_id, UVERBS_OBJECT_PD);
	assert_int_equal(cmd->hdr.method_id, VHCA_METHOD_PD_QUERY);
	resp = answer_in(cmd, VHCA_ATTR_PD_QUERY_RESP, sizeof(*resp));
	if (attr_of(cmd, VHCA_ATTR_PD_QUERY_HANDLE)->data != FAKE_OTHERS_PD)
		return ENOENT;
	resp->pdn = 78;
	return fake_answer(FAKE_QUERY_PD, 0);
}

/* There is one region, which another process has made, too. */
static int query_mr(const struct ibv_command_buffer *cmd)
{
	uint32_t *lkey, *rkey;
	uint64_t *length;

	assert_int_equal(cmd->hdr.method_id, UVERBS_METHOD_QUERY_MR);
	lkey = answer_in(cmd, UVERBS_ATTR_QUERY_MR_RESP_LKEY, sizeof(*lkey));
	rkey = answer_in(cmd, UVERBS_ATTR_QUERY_MR_RESP_RKEY, sizeof(*rkey));
	length = answer_in(cmd, UVERBS_ATTR_QUERY_MR_RESP_LENGTH, sizeof(*length));
	if (attr_of(cmd, UVERBS_ATTR_QUERY_MR_HANDLE)->data != FAKE_OTHERS_MR)
		return ENOENT;
	*lkey = 0x1234;
	*rkey = 0x5678;
	*length = fake_others_length;
	return fake_answer(FAKE_QUERY_MR, 0);
}

int execute_ioctl(struct ibv_context *context, struct ibv_command_buffer *cmd)
{
	(void)context;
	assert_ptr_equal(cmd->next_attr, cmd->last_attr);
	switch (cmd->hdr.object_id) {
	case UVERBS_OBJECT_DEVICE:
		return query_clock(cmd);
	case UVERBS_OBJECT_MR:
		return query_mr(cmd);
	default:
		return query_pd(cmd);
	}
}
