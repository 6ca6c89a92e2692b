// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Resizing and moderating CQs of the fake.
 */
#include <errno.h>

#include "cm.h"
#include "fake.h"

#define MAX_CQE	(1U << 22)

/* The ring must be as the device wants it: nothing valid from the consumer count on. */
static void check_ring(const struct fake_cq *fake, const struct vhca_resize_cq_req *in,
		       uint64_t cons)
{
	const struct vhca_cqe *ring = (const void *)(uintptr_t)in->buf_addr;

	assert_int_equal(in->buf_addr % VHCA_DB_PAGE_SIZE, 0);
	assert_true(in->buf_addr != fake->req.buf_addr);
	for (uint64_t count = cons; count < cons + ring_size(in->log_cqe); count++)
		assert_false(vhca_ring_fresh(ring[vhca_ring_slot(count, in->log_cqe)].owner, count,
					in->log_cqe));
}

int ibv_cmd_resize_cq(struct ibv_cq *cq, int cqe, struct ibv_resize_cq *cmd, size_t cmd_size,
		      struct ib_uverbs_resize_cq_resp *resp, size_t resp_size)
{
	struct vhca_resize_cq_req *in = (void *)((uint8_t *)cmd + sizeof(*cmd));
	struct vhca_resize_cq_resp *out = (void *)((uint8_t *)resp + sizeof(*resp));
	struct fake_cq *fake = fake_cq(cq);
	uint64_t cons = fake_rec(fake->slot);
	uint32_t want = cqe;

	assert_int_equal(cmd_size, sizeof(*cmd) + sizeof(*in));
	assert_int_equal(resp_size, sizeof(*resp) + sizeof(*out));
	if (fake_err[FAKE_RESIZE_CQ])
		return fake_err[FAKE_RESIZE_CQ];
	if (!want || want > MAX_CQE || want > ring_size(in->log_cqe))
		return EINVAL;
	check_ring(fake, in, cons);
	if (fake->resizing)
		fake->resizing(cq, false);
	if (fake->prod - cons > ring_size(in->log_cqe))
		return EINVAL;
	out->first = (uint32_t)fake->prod + fake->lie;
	fake->req.buf_addr = in->buf_addr;
	fake->req.log_cqe = in->log_cqe;
	if (fake->resizing)
		fake->resizing(cq, true);
	cq->cqe = ring_size(in->log_cqe);
	return 0;
}

int ibv_cmd_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr,
		      struct ibv_modify_cq *cmd, size_t cmd_size)
{
	(void)cmd;
	assert_int_equal(cmd_size, sizeof(*cmd));
	if (fake_err[FAKE_MODIFY_CQ])
		return fake_err[FAKE_MODIFY_CQ];
	if (attr->attr_mask & IBV_CQ_ATTR_MODERATE)
		fake_cq(cq)->moderation = attr->moderate;
	return 0;
}
