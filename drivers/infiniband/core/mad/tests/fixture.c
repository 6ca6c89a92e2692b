// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See fixture.h.
 */
#include <rdma/ib_smi.h>

#include "fixture.h"

struct fixture fixture;

static void reply_to(struct ib_mad_agent *agent, struct ib_mad_recv_wc *rwc)
{
	struct ib_pd *pd = agent->device == fixture.a ? fixture.pd_a : fixture.pd_b;
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

void note_recv(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
	       struct ib_mad_recv_wc *rwc)
{
	struct peer *peer = agent->context;

	peer->last_pkey_index = rwc->wc->pkey_index;
	if (buf) {
		buf->context[0] = peer;
		peer->last_status = be16_to_cpu(rwc->recv_buf.mad->mad_hdr.status);
		atomic_inc(&peer->responses);
	} else {
		atomic_inc(&peer->requests);
		if (peer->server && atomic_dec_if_positive(&peer->ignores) < 0)
			reply_to(agent, rwc);
	}
	ib_free_recv_mad(rwc);
	wake_up_all(&fixture.progress);
}

void note_sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	struct peer *peer = agent->context;
	struct ib_mad_send_buf *buf = wc->send_buf;

	atomic_inc(&peer->sent[wc->status]);
	if (buf->timeout_ms && wc->status == IB_WC_SUCCESS && !buf->context[0])
		atomic_inc(&peer->early);
	peer->retries = buf->retries;
	if (peer->watched)
		peer->seen = atomic_read(&peer->watched->ends);
	/* Answers own their address handles; requests share the fixture's. */
	if (buf->ah && buf->ah != fixture.to_b)
		rdma_destroy_ah(buf->ah, RDMA_DESTROY_AH_SLEEPABLE);
	ib_free_send_mad(buf);
	atomic_inc(&peer->ends);
	wake_up_all(&fixture.progress);
}

struct ib_mad_reg_req plain_request(unsigned int method)
{
	struct ib_mad_reg_req req = { .mgmt_class = CLASS_PLAIN, .mgmt_class_version = 1 };

	set_bit(method, req.method_mask);
	return req;
}

void join(struct kunit *test, struct peer *peer, struct ib_device *device, enum ib_qp_type type,
	  struct ib_mad_reg_req *req)
{
	peer->agent = ib_register_mad_agent(device, 1, type, req, 0, note_sent, note_recv,
					    peer, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(peer->agent));
}

struct peer *new_peer(struct kunit *test)
{
	struct peer *peer = kunit_kzalloc(test, sizeof(*peer), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, peer);
	return peer;
}

struct peer *client_at_a(struct kunit *test)
{
	struct peer *peer = new_peer(test);

	join(test, peer, fixture.a, IB_QPT_GSI, NULL);
	return peer;
}

struct peer *server_at_b(struct kunit *test)
{
	struct peer *peer = new_peer(test);
	struct ib_mad_reg_req req = plain_request(IB_MGMT_METHOD_GET);

	peer->server = true;
	join(test, peer, fixture.b, IB_QPT_GSI, &req);
	return peer;
}

struct ib_mad_send_buf *new_request(struct kunit *test, struct peer *peer, int timeout_ms,
				    int retries)
{
	struct ib_mad_send_buf *buf;
	struct ib_mad_hdr *hdr;

	buf = ib_create_send_mad(peer->agent, peer->agent->qp->qp_num, 0, 0, IB_MGMT_MAD_HDR,
				 IB_MGMT_MAD_DATA, GFP_KERNEL, IB_MGMT_BASE_VERSION);
	KUNIT_ASSERT_FALSE(test, IS_ERR(buf));
	hdr = buf->mad;
	hdr->base_version = IB_MGMT_BASE_VERSION;
	hdr->mgmt_class = CLASS_PLAIN;
	hdr->class_version = 1;
	hdr->method = IB_MGMT_METHOD_GET;
	hdr->tid = cpu_to_be64((u64)peer->agent->hi_tid << 32 | ++fixture.tid);
	buf->ah = fixture.to_b;
	buf->timeout_ms = timeout_ms;
	buf->retries = retries;
	return buf;
}

/*
 * Makes a request with a directed route all of whose hops leave from this port. Its address handle
 * belongs to the test.
 */
struct ib_mad_send_buf *new_smp(struct kunit *test, struct peer *peer, int timeout_ms, u8 hops,
				u8 port)
{
	struct ib_mad_send_buf *buf = new_request(test, peer, timeout_ms, 0);
	struct ib_smp *smp = buf->mad;

	smp->mgmt_class = IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE;
	smp->hop_cnt = hops;
	memset(smp->initial_path + 1, port, hops);
	smp->dr_slid = IB_LID_PERMISSIVE;
	smp->dr_dlid = IB_LID_PERMISSIVE;
	return buf;
}

void ask(struct kunit *test, struct peer *peer, int timeout_ms, int retries)
{
	KUNIT_ASSERT_EQ(test, ib_post_send_mad(new_request(test, peer, timeout_ms, retries), NULL),
			0);
}

int fixture_init(struct kunit *test)
{
	memset(&fixture, 0, sizeof(fixture));
	init_waitqueue_head(&fixture.progress);
	fake_wire_begin();
	fixture.a = fake_device_add(test, "kt_mad_a", RDMA_CORE_PORT_IBA_IB, LID_A);
	fixture.b = fake_device_add(test, "kt_mad_b", RDMA_CORE_PORT_IBA_IB, LID_B);
	fixture.pd_a = ib_alloc_pd(fixture.a, 0);
	fixture.pd_b = ib_alloc_pd(fixture.b, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(fixture.pd_a));
	KUNIT_ASSERT_FALSE(test, IS_ERR(fixture.pd_b));
	fixture.to_b = fake_ah(fixture.pd_a, LID_B);
	KUNIT_ASSERT_FALSE(test, IS_ERR(fixture.to_b));
	return 0;
}

void fixture_exit(struct kunit *test)
{
	if (fixture.a) {
		rdma_destroy_ah(fixture.to_b, RDMA_DESTROY_AH_SLEEPABLE);
		ib_dealloc_pd(fixture.pd_a);
		fake_device_remove(fixture.a);
	}
	if (fixture.b) {
		ib_dealloc_pd(fixture.pd_b);
		fake_device_remove(fixture.b);
	}
}
