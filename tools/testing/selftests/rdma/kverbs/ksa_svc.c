// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A vendor class of MADs at a datagram QP of its own. The server returns each message; the client
 * sends from such a QP, and from QP1, messages of many packets.
 */
#include <linux/completion.h>
#include <linux/slab.h>
#include <rdma/rdma_ext.h>
#include <rdma/rdma_ext_mad.h>

#include "ksa.h"

#define VENDOR_CLASS	IB_MGMT_CLASS_VENDOR_RANGE2_START
#define BYTES		5000
#define PART		(IB_MGMT_MAD_SIZE - IB_MGMT_VENDOR_HDR)
#define WAIT_MS		1000
#define RETRIES		60

static struct {
	struct ib_mad_qp *mad_qp;
	struct ib_mad_agent *agent;
} server;

static struct ib_mad_send_buf *message(struct ib_mad_agent *agent, u32 qpn, struct ib_ah *ah,
				       u8 method, __be64 tid)
{
	struct ib_mad_send_buf *buf;
	struct ib_vendor_mad *mad;

	buf = ib_create_send_mad(agent, qpn, 0, 1, IB_MGMT_VENDOR_HDR, BYTES, GFP_KERNEL,
				 IB_MGMT_BASE_VERSION);
	if (IS_ERR(buf))
		return buf;
	mad = buf->mad;
	mad->mad_hdr.base_version = IB_MGMT_BASE_VERSION;
	mad->mad_hdr.mgmt_class = VENDOR_CLASS;
	mad->mad_hdr.class_version = 1;
	mad->mad_hdr.method = method;
	mad->mad_hdr.tid = tid;
	mad->oui[2] = 1;
	for (int i = 1; i <= buf->seg_count; i++)
		memset(ib_get_rmpp_segment(buf, i), i, buf->seg_size);
	buf->ah = ah;
	buf->retries = RETRIES;
	return buf;
}

static bool is_whole(const struct ib_mad_recv_wc *wc)
{
	const struct ib_mad_recv_buf *part;
	int left = BYTES, i = 0, size;

	list_for_each_entry(part, &wc->rmpp_list, list) {
		const u8 *data = ((const struct ib_vendor_mad *)part->mad)->data;

		size = min_t(int, left, PART);
		i++;
		if (size <= 0 || data[0] != i || memcmp(data, data + 1, size - 1))
			return false;
		left -= size;
	}
	return !left && wc->mad_len == IB_MGMT_VENDOR_HDR + BYTES;
}

/* ---- the server ---- */

static void served(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	struct ib_ah *ah = wc->send_buf->ah;

	/* A client that has its answer may end before its last acknowledgment has arrived. */
	CHECK(wc->status == IB_WC_SUCCESS || wc->status == IB_WC_RESP_TIMEOUT_ERR ||
	      wc->status == IB_WC_WR_FLUSH_ERR);
	ib_free_send_mad(wc->send_buf);
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
}

static void asked(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
		  struct ib_mad_recv_wc *wc)
{
	struct ib_ah *ah = ib_create_ah_from_wc(agent->qp->pd, wc->wc, wc->recv_buf.grh,
						agent->port_num);
	struct ib_mad_send_buf *reply;

	CHECK(is_whole(wc));
	if (!CHECK(!IS_ERR(ah)))
		goto free_recv;
	reply = message(agent, wc->wc->src_qp, ah, IB_MGMT_METHOD_GET_RESP,
			wc->recv_buf.mad->mad_hdr.tid);
	if (!CHECK(!IS_ERR(reply)))
		goto destroy_ah;
	if (CHECK(!ib_post_send_mad(reply, NULL)))
		goto free_recv;
	ib_free_send_mad(reply);
destroy_ah:
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
free_recv:
	ib_free_recv_mad(wc);
}

int ksa_svc_begin(struct ib_device *device)
{
	struct ib_mad_reg_req req = {
		.mgmt_class = VENDOR_CLASS, .mgmt_class_version = 1, .oui = { 0, 0, 1 },
	};
	struct ib_mad_qp *mad_qp = ib_create_mad_qp(device, 1, 0, IB_QP1_QKEY);
	struct ib_mad_agent *agent;

	if (IS_ERR(mad_qp))
		return PTR_ERR(mad_qp);
	set_bit(IB_MGMT_METHOD_GET, req.method_mask);
	agent = ib_register_mad_svc(mad_qp, &req, IB_MGMT_RMPP_VERSION, served, asked, NULL, 0);
	if (IS_ERR(agent)) {
		ib_destroy_mad_qp(mad_qp);
		return PTR_ERR(agent);
	}
	server.mad_qp = mad_qp;
	server.agent = agent;
	return 0;
}

void ksa_svc_end(void)
{
	ib_unregister_mad_agent(server.agent);
	ib_destroy_mad_qp(server.mad_qp);
	server.mad_qp = NULL;
}

u32 ksa_svc_qpn(void)
{
	return server.mad_qp ? server.mad_qp->qp->qp_num : 0;
}

/* ---- the client ---- */

struct question {
	struct completion done;
	enum ib_wc_status status;
	bool answered;
};

static void ended(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	struct question *question = wc->send_buf->context[0];

	question->status = wc->status;
	complete(&question->done);
}

static void answered(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
		     struct ib_mad_recv_wc *wc)
{
	struct question *question = buf ? buf->context[0] : NULL;

	if (question)
		question->answered = is_whole(wc) && !wc->recv_buf.mad->mad_hdr.status;
	ib_free_recv_mad(wc);
}

static void ask(struct ib_mad_agent *agent, u16 lid, u32 qpn)
{
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_IB, .port_num = 1 };
	struct question question = {};
	struct ib_mad_send_buf *buf;
	struct ib_ah *ah;

	rdma_ah_set_dlid(&attr, lid);
	ah = rdma_create_ah(agent->qp->pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	if (!CHECK(!IS_ERR(ah)))
		return;
	buf = message(agent, qpn, ah, IB_MGMT_METHOD_GET, cpu_to_be64((u64)agent->hi_tid << 32));
	if (CHECK(!IS_ERR(buf))) {
		init_completion(&question.done);
		buf->context[0] = &question;
		buf->timeout_ms = WAIT_MS;
		if (CHECK(!ib_post_send_mad(buf, NULL))) {
			wait_for_completion(&question.done);
			CHECK(question.status == IB_WC_SUCCESS && question.answered);
		}
		ib_free_send_mad(buf);
	}
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
}

/* Asks from a QP of its own, and from QP1, with the Q_Key of QP1. */
void ksa_svc_ask(struct ib_device *device, u16 lid, u32 qpn)
{
	struct ib_mad_qp *mad_qp = ib_create_mad_qp(device, 1, 0, IB_QP1_QKEY);
	struct ib_mad_agent *agent;

	if (!CHECK(!IS_ERR(mad_qp)))
		return;
	agent = ib_register_mad_svc(mad_qp, NULL, IB_MGMT_RMPP_VERSION, ended, answered, NULL, 0);
	if (CHECK(!IS_ERR(agent))) {
		ask(agent, lid, qpn);
		ib_unregister_mad_agent(agent);
	}
	ib_destroy_mad_qp(mad_qp);
	agent = ib_register_mad_agent(device, 1, IB_QPT_GSI, NULL, IB_MGMT_RMPP_VERSION, ended,
				      answered, NULL, 0);
	if (CHECK(!IS_ERR(agent))) {
		ask(agent, lid, qpn);
		ib_unregister_mad_agent(agent);
	}
}
