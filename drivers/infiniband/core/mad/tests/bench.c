// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See bench.h.
 */
#include <rdma/ib_smi.h>

#include "bench.h"

struct bench bench;

static void reply_to(struct ib_mad_agent *agent, struct ib_mad_recv_wc *rwc)
{
	struct ib_pd *pd = agent->device == bench.a ? bench.pd_a : bench.pd_b;
	struct ib_mad_send_buf *buf;
	struct ib_ah *ah = NULL;

	buf = ib_create_send_mad(agent, rwc->wc->src_qp, rwc->wc->pkey_index, 0, IB_MGMT_MAD_HDR,
				 IB_MGMT_MAD_DATA, GFP_KERNEL, IB_MGMT_BASE_VERSION);
	if (WARN_ON(IS_ERR(buf)))
		return;
	if (rwc->wc->slid != be16_to_cpu(IB_LID_PERMISSIVE))
		ah = ib_create_ah_from_wc(pd, rwc->wc, rwc->recv_buf.grh, agent->port_num);
	buf->ah = ah;
	memcpy(buf->mad, rwc->recv_buf.mad, IB_MGMT_MAD_SIZE);
	((struct ib_mad_hdr *)buf->mad)->method |= IB_MGMT_METHOD_RESP;
	if (rwc->recv_buf.mad->mad_hdr.mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		((struct ib_mad_hdr *)buf->mad)->status |= IB_SMP_DIRECTION;
	if (ib_post_send_mad(buf, NULL)) {
		if (ah)
			rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
		ib_free_send_mad(buf);
	}
}

void bench_hear(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
		struct ib_mad_recv_wc *rwc)
{
	struct party *party = agent->context;

	party->last_pkey_index = rwc->wc->pkey_index;
	if (buf) {
		buf->context[0] = party;
		party->last_status = be16_to_cpu(rwc->recv_buf.mad->mad_hdr.status);
		atomic_inc(&party->responses);
	} else {
		atomic_inc(&party->requests);
		if (party->server && atomic_dec_if_positive(&party->deaf) < 0)
			reply_to(agent, rwc);
	}
	ib_free_recv_mad(rwc);
	wake_up_all(&bench.news);
}

void bench_ended(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	struct party *party = agent->context;
	struct ib_mad_send_buf *buf = wc->send_buf;

	atomic_inc(&party->sent[wc->status]);
	if (buf->timeout_ms && wc->status == IB_WC_SUCCESS && !buf->context[0])
		atomic_inc(&party->early);
	party->retries = buf->retries;
	if (party->watched)
		party->seen = atomic_read(&party->watched->ends);
	/* Answers own their address handles; requests share the bench's. */
	if (buf->ah && buf->ah != bench.to_b)
		rdma_destroy_ah(buf->ah, RDMA_DESTROY_AH_SLEEPABLE);
	ib_free_send_mad(buf);
	atomic_inc(&party->ends);
	wake_up_all(&bench.news);
}

struct ib_mad_reg_req plain_request(unsigned int method)
{
	struct ib_mad_reg_req req = { .mgmt_class = CLASS_PLAIN, .mgmt_class_version = 1 };

	set_bit(method, req.method_mask);
	return req;
}

void join(struct kunit *test, struct party *party, struct ib_device *device, enum ib_qp_type type,
	  struct ib_mad_reg_req *req)
{
	party->agent = ib_register_mad_agent(device, 1, type, req, 0, bench_ended, bench_hear,
					     party, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(party->agent));
}

struct party *new_party(struct kunit *test)
{
	struct party *party = kunit_kzalloc(test, sizeof(*party), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, party);
	return party;
}

struct party *client_at_a(struct kunit *test)
{
	struct party *party = new_party(test);

	join(test, party, bench.a, IB_QPT_GSI, NULL);
	return party;
}

struct party *server_at_b(struct kunit *test)
{
	struct party *party = new_party(test);
	struct ib_mad_reg_req req = plain_request(IB_MGMT_METHOD_GET);

	party->server = true;
	join(test, party, bench.b, IB_QPT_GSI, &req);
	return party;
}

struct ib_mad_send_buf *new_request(struct kunit *test, struct party *party, int timeout_ms,
				    int retries)
{
	struct ib_mad_send_buf *buf;
	struct ib_mad_hdr *hdr;

	buf = ib_create_send_mad(party->agent, party->agent->qp->qp_num, 0, 0, IB_MGMT_MAD_HDR,
				 IB_MGMT_MAD_DATA, GFP_KERNEL, IB_MGMT_BASE_VERSION);
	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	hdr = buf->mad;
	hdr->base_version = IB_MGMT_BASE_VERSION;
	hdr->mgmt_class = CLASS_PLAIN;
	hdr->class_version = 1;
	hdr->method = IB_MGMT_METHOD_GET;
	hdr->tid = cpu_to_be64((u64)party->agent->hi_tid << 32 | ++bench.tid);
	buf->ah = bench.to_b;
	buf->timeout_ms = timeout_ms;
	buf->retries = retries;
	return buf;
}

void ask(struct kunit *test, struct party *party, int timeout_ms, int retries)
{
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(new_request(test, party, timeout_ms, retries), NULL),
			0);
}

int bench_init(struct kunit *test)
{
	memset(&bench, 0, sizeof(bench));
	init_waitqueue_head(&bench.news);
	fake_wire_begin();
	bench.a = fake_device_add(test, "kt_mad_a", RDMA_CORE_PORT_IBA_IB, LID_A);
	bench.b = fake_device_add(test, "kt_mad_b", RDMA_CORE_PORT_IBA_IB, LID_B);
	bench.pd_a = ib_alloc_pd(bench.a, 0);
	bench.pd_b = ib_alloc_pd(bench.b, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(bench.pd_a));
	KUNIT_ASSERT_FALSE(test, IS_ERR(bench.pd_b));
	bench.to_b = fake_ah(bench.pd_a, LID_B);
	KUNIT_ASSERT_FALSE(test, IS_ERR(bench.to_b));
	return 0;
}

void bench_exit(struct kunit *test)
{
	if (bench.a) {
		rdma_destroy_ah(bench.to_b, RDMA_DESTROY_AH_SLEEPABLE);
		ib_dealloc_pd(bench.pd_a);
		fake_device_remove(bench.a);
	}
	if (bench.b) {
		ib_dealloc_pd(bench.pd_b);
		fake_device_remove(bench.b);
	}
}
