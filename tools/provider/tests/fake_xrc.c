// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * XRC of the fake: domains, their SRQs and target QPs, as the kernel answers.
 */
#include <errno.h>

#include "cm.h"
#include "fake.h"

int ibv_cmd_open_xrcd(struct ibv_context *context, struct verbs_xrcd *xrcd, int vxrcd_size,
		      struct ibv_xrcd_init_attr *attr, struct ibv_open_xrcd *cmd, size_t cmd_size,
		      struct ib_uverbs_open_xrcd_resp *resp, size_t resp_size)
{
	(void)attr;
	(void)cmd;
	(void)resp;
	assert_int_equal(vxrcd_size, sizeof(*xrcd));
	assert_int_equal(cmd_size, sizeof(*cmd));
	assert_int_equal(resp_size, sizeof(*resp));
	if (fake_answer(FAKE_OPEN_XRCD, 1))
		return fake_err[FAKE_OPEN_XRCD];
	xrcd->xrcd.context = context;
	return 0;
}

int ibv_cmd_close_xrcd(struct verbs_xrcd *xrcd)
{
	(void)xrcd;
	return fake_answer(FAKE_CLOSE_XRCD, -1);
}

int ibv_cmd_create_srq_ex(struct ibv_context *context, struct verbs_srq *srq,
			  struct ibv_srq_init_attr_ex *attr, struct ibv_create_xsrq *cmd,
			  size_t cmd_size, struct ib_uverbs_create_srq_resp *resp,
			  size_t resp_size)
{
	struct vhca_create_srq_req *in = (void *)((uint8_t *)cmd + sizeof(*cmd));
	struct vhca_create_srq_resp *out = (void *)((uint8_t *)resp + sizeof(*resp));

	(void)context;
	assert_int_equal(cmd_size, sizeof(*cmd) + sizeof(*in));
	assert_int_equal(resp_size, sizeof(*resp) + sizeof(*out));
	assert_int_equal(attr->srq_type, IBV_SRQT_XRC);
	if (fake_answer(FAKE_CREATE_SRQ, 1))
		return fake_err[FAKE_CREATE_SRQ];
	fake_make_srq(attr->pd, &srq->srq, &attr->attr, in, out);
	srq->cq = attr->cq;
	return 0;
}

int ibv_cmd_open_qp(struct ibv_context *context, struct verbs_qp *qp, int vqp_size,
		    struct ibv_qp_open_attr *attr, struct ibv_open_qp *cmd, size_t cmd_size,
		    struct ib_uverbs_create_qp_resp *resp, size_t resp_size)
{
	(void)cmd;
	(void)resp;
	assert_int_equal(vqp_size, sizeof(*qp));
	assert_int_equal(cmd_size, sizeof(*cmd));
	assert_int_equal(resp_size, sizeof(*resp));
	if (fake_answer(FAKE_OPEN_QP, 1))
		return fake_err[FAKE_OPEN_QP];
	qp->qp.context = context;
	qp->qp.qp_num = attr->qp_num;
	qp->qp.qp_type = attr->qp_type;
	qp->qp.state = IBV_QPS_UNKNOWN;
	return 0;
}
