// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared receive queues of the fake: the kernel's answers, and a device that
 * takes receives.
 */
#include <errno.h>
#include <string.h>

#include "cm.h"
#include "fake.h"

void (*fake_behind_destroy_srq)(void);
uint32_t fake_next_srqn;

static struct fake_srq srqs[FAKE_QUEUES];
static uint32_t num_srqs;

void fake_srq_start(void)
{
	num_srqs = 0;
	fake_behind_destroy_srq = NULL;
	fake_next_srqn = 0;
}

struct fake_srq *fake_srq(struct ibv_srq *srq)
{
	return &srqs[srq->handle];
}

static uint64_t posted(const struct fake_srq *fake)
{
	return fake_rec(fake->slot);
}

static const struct vhca_rwqe *receive(const struct fake_srq *fake, uint64_t buf_addr,
				       uint8_t log_strides, uint64_t count)
{
	uint64_t place = vhca_ring_slot(count, log_strides) << fake->req.log_stride;

	return (const void *)(uintptr_t)(buf_addr + place);
}

/* Common part of all kinds of SRQs. */
void fake_make_srq(struct ibv_pd *pd, struct ibv_srq *srq, struct ibv_srq_attr *attr,
		   const struct vhca_create_srq_req *in, struct vhca_create_srq_resp *out)
{
	struct fake_srq *fake = &srqs[num_srqs];

	assert_int_equal(in->buf_addr % VHCA_DB_PAGE_SIZE, 0);
	*fake = (struct fake_srq) {
		.req = *in,
		.attr = *attr,
		.slot = fake_take_pair(),
	};
	/* the ring's size is chosen by the program */
	if (attr->max_wr < ring_size(in->log_strides))
		attr->max_wr = ring_size(in->log_strides);
	fake->attr.max_wr = attr->max_wr;
	srq->context = pd->context;
	srq->handle = num_srqs++;
	out->srqn = fake_next_srqn ? fake_next_srqn : 1000 + srq->handle;
	fake_next_srqn = 0;
	out->db_slot = fake->slot;
	out->db_mmap = fake_page_offset(fake->slot);
}

int ibv_cmd_create_srq(struct ibv_pd *pd, struct ibv_srq *srq, struct ibv_srq_init_attr *attr,
		       struct ibv_create_srq *cmd, size_t cmd_size,
		       struct ib_uverbs_create_srq_resp *resp, size_t resp_size)
{
	struct vhca_create_srq_req *in = (void *)((uint8_t *)cmd + sizeof(*cmd));
	struct vhca_create_srq_resp *out = (void *)((uint8_t *)resp + sizeof(*resp));

	assert_int_equal(cmd_size, sizeof(*cmd) + sizeof(*in));
	assert_int_equal(resp_size, sizeof(*resp) + sizeof(*out));
	if (fake_answer(FAKE_CREATE_SRQ, 1))
		return fake_err[FAKE_CREATE_SRQ];
	fake_make_srq(pd, srq, &attr->attr, in, out);
	return 0;
}

/* The new ring must have all receives that the device may take, at their places. */
static int resize(struct fake_srq *fake, const struct vhca_modify_srq_req *in, uint32_t max_wr)
{
	assert_int_equal(in->buf_addr % VHCA_DB_PAGE_SIZE, 0);
	if (!max_wr || max_wr > ring_size(in->log_strides) ||
	    posted(fake) - fake->taken > ring_size(in->log_strides))
		return EINVAL;
	for (uint64_t count = fake->taken; count < posted(fake); count++)
		assert_memory_equal(receive(fake, in->buf_addr, in->log_strides, count),
				    receive(fake, fake->req.buf_addr, fake->req.log_strides, count),
				    1U << fake->req.log_stride);
	fake->req.buf_addr = in->buf_addr;
	fake->req.log_strides = in->log_strides;
	fake->attr.max_wr = ring_size(in->log_strides);
	return 0;
}

int ibv_cmd_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask,
		       struct ibv_modify_srq *cmd, size_t cmd_size)
{
	struct vhca_modify_srq_req *in = (void *)((uint8_t *)cmd + sizeof(*cmd));
	struct fake_srq *fake = fake_srq(srq);
	int err;

	assert_int_equal(cmd_size, sizeof(*cmd) + sizeof(*in));
	fake->asked++;
	fake->last = *in;
	if (fake_err[FAKE_MODIFY_SRQ])
		return fake_err[FAKE_MODIFY_SRQ];
	if (mask & IBV_SRQ_LIMIT && attr->srq_limit > fake->attr.max_wr)
		return EINVAL;
	if (mask & IBV_SRQ_MAX_WR) {
		for (; fake->takes; fake->takes--)
			fake_take(srq);
		err = resize(fake, in, attr->max_wr);
		if (err)
			return err;
	} else {
		assert_int_equal(in->log_strides, VHCA_NO_QUEUE);
		assert_true(in->buf_addr == 0);
	}
	if (mask & IBV_SRQ_LIMIT)
		fake->attr.srq_limit = attr->srq_limit;
	return 0;
}

int ibv_cmd_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, struct ibv_query_srq *cmd,
		      size_t cmd_size)
{
	(void)cmd;
	assert_int_equal(cmd_size, sizeof(*cmd));
	*attr = fake_srq(srq)->attr;
	return fake_err[FAKE_QUERY_SRQ];
}

int ibv_cmd_destroy_srq(struct ibv_srq *srq)
{
	int err = fake_answer(FAKE_DESTROY_SRQ, -1);

	(void)srq;
	if (!err && fake_behind_destroy_srq)
		fake_behind_destroy_srq();
	return err;
}

uint32_t fake_left(struct ibv_srq *srq)
{
	return posted(fake_srq(srq)) - fake_srq(srq)->taken;
}

uint64_t fake_take(struct ibv_srq *srq)
{
	struct fake_srq *fake = fake_srq(srq);
	const struct vhca_rwqe *rwqe = receive(fake, fake->req.buf_addr, fake->req.log_strides,
					       fake->taken);
	uint64_t wr_id = le64toh(rwqe->wr_id);

	assert_true(fake->taken < posted(fake));
	assert_true(rwqe->index == htole32((uint32_t)fake->taken));
	assert_true(VHCA_RWQE_SIZE(rwqe->nsge) <= 1U << fake->req.log_stride);
	fake->taken++;
	/* upper bits are zero: the device counts in 32 bits */
	shared_write64(&fake_page(fake->slot)->rec[fake->slot % VHCA_DB_SLOTS + 1],
		       (uint32_t)fake->taken);
	return wr_id;
}
