// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See fake_sa.h.
 */
#include <linux/cleanup.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "../sa_priv.h"
#include "fake_sa.h"

struct fake_agent {
	struct ib_mad_agent agent;
	struct ib_qp qp;
	struct fake_sa *fake;
};

struct fake_ah {
	struct ib_ah ib;
	u32 dlid;
};

struct fake_recv {
	struct ib_mad_recv_wc wc;
	struct ib_wc ib;
	struct list_head more;
	struct ib_sa_mad mad;
};

struct fake_segment {
	struct ib_mad_recv_buf buf;
	struct ib_sa_mad mad;
};

/* ---- the fake device ---- */

static struct fake_sa *fake_of(struct ib_device *ib)
{
	return container_of(ib, struct fake_sa, ib);
}

static int query_device(struct ib_device *ib, struct ib_device_attr *attr, struct ib_udata *udata)
{
	attr->max_pkeys = 4;
	attr->kernel_cap_flags = IBK_LOCAL_DMA_LKEY;
	return 0;
}

static int get_port_immutable(struct ib_device *ib, u32 port_num,
			      struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = 1;
	immutable->pkey_tbl_len = 4;
	immutable->core_cap_flags = RDMA_CORE_CAP_PROT_IB;
	if (port_num != 2)
		immutable->core_cap_flags |= RDMA_CORE_CAP_IB_SA;
	if (port_num == 3)
		immutable->core_cap_flags |= RDMA_CORE_CAP_OPA_AH;
	return 0;
}

static int query_port(struct ib_device *ib, u32 port_num, struct ib_port_attr *attr)
{
	*attr = fake_of(ib)->attr;
	return 0;
}

static int query_gid(struct ib_device *ib, u32 port_num, int index, union ib_gid *gid)
{
	*gid = fake_of(ib)->gid;
	gid->raw[15] = port_num;
	return 0;
}

static int query_pkey(struct ib_device *ib, u32 port_num, u16 index, u16 *pkey)
{
	*pkey = fake_of(ib)->pkey[index];
	return 0;
}

static int alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int create_ah(struct ib_ah *ah, struct rdma_ah_init_attr *attr, struct ib_udata *udata)
{
	struct fake_sa *fake = fake_of(ah->device);

	if (fake->refuse_ah)
		return fake->refuse_ah;
	container_of(ah, struct fake_ah, ib)->dlid = rdma_ah_get_dlid(attr->ah_attr);
	guard(spinlock_irqsave)(&fake->lock);
	fake->ahs++;
	return 0;
}

static int destroy_ah(struct ib_ah *ah, u32 flags)
{
	struct fake_sa *fake = fake_of(ah->device);

	guard(spinlock_irqsave)(&fake->lock);
	fake->ahs--;
	return 0;
}

static const struct ib_device_ops fake_ops = {
	.owner = THIS_MODULE,
	.query_device = query_device,
	.get_port_immutable = get_port_immutable,
	.query_port = query_port,
	.query_gid = query_gid,
	.query_pkey = query_pkey,
	.alloc_pd = alloc_pd,
	.dealloc_pd = dealloc_pd,
	.create_ah = create_ah,
	.destroy_ah = destroy_ah,
	.size_ib_pd = sizeof(struct ib_pd),
	INIT_RDMA_OBJ_SIZE(ib_ah, fake_ah, ib),
};

/* ---- the fake MAD layer ---- */

static struct fake_sa *fake_of_buf(struct ib_mad_send_buf *buf)
{
	return container_of(buf->mad_agent, struct fake_agent, agent)->fake;
}

static struct ib_mad_agent *register_agent(struct ib_device *ib, u32 port_num,
					   enum ib_qp_type qp_type, struct ib_mad_reg_req *request,
					   u8 rmpp_version, ib_mad_send_handler send_handler,
					   ib_mad_recv_handler recv_handler, void *context,
					   u32 flags)
{
	struct fake_agent *agent = kzalloc(sizeof(*agent), GFP_KERNEL);

	if (!agent)
		return ERR_PTR(-ENOMEM);
	agent->fake = fake_of(ib);
	agent->qp.device = ib;
	agent->qp.pd = ib_alloc_pd(ib, 0);
	if (IS_ERR(agent->qp.pd)) {
		kfree(agent);
		return ERR_PTR(-ENOMEM);
	}
	agent->agent.device = ib;
	agent->agent.qp = &agent->qp;
	agent->agent.port_num = port_num;
	agent->agent.send_handler = send_handler;
	agent->agent.recv_handler = recv_handler;
	agent->agent.context = context;
	agent->agent.hi_tid = 0x1234;
	agent->fake->agents++;
	if (request)
		agent->fake->notices = &agent->agent;
	return &agent->agent;
}

static void unregister_agent(struct ib_mad_agent *ib)
{
	struct fake_agent *agent = container_of(ib, struct fake_agent, agent);

	agent->fake->agents--;
	if (agent->fake->notices == ib)
		agent->fake->notices = NULL;
	ib_dealloc_pd(agent->qp.pd);
	kfree(agent);
}

static struct ib_mad_send_buf *create(struct ib_mad_agent *agent, u32 remote_qpn, u16 pkey_index,
				      int rmpp_active, int hdr_len, int data_len, gfp_t gfp,
				      u8 base_version)
{
	struct fake_mad *mad = kzalloc(sizeof(*mad), gfp);
	struct fake_sa *fake;

	if (!mad)
		return ERR_PTR(-ENOMEM);
	mad->buf.mad_agent = agent;
	mad->buf.mad = &mad->mad;
	mad->pkey_index = pkey_index;
	fake = fake_of_buf(&mad->buf);
	guard(spinlock_irqsave)(&fake->lock);
	fake->faults += remote_qpn != 1 || hdr_len + data_len != IB_MGMT_MAD_SIZE;
	list_add_tail(&mad->entry, &fake->mads);
	return &mad->buf;
}

static void free_mad(struct ib_mad_send_buf *buf)
{
	struct fake_mad *mad = container_of(buf, struct fake_mad, buf);
	struct fake_sa *fake = fake_of_buf(buf);

	scoped_guard(spinlock_irqsave, &fake->lock) {
		fake->faults += mad->posted;
		list_del(&mad->entry);
	}
	kfree(mad);
}

static int post(struct ib_mad_send_buf *buf, struct ib_mad_send_buf **bad)
{
	struct fake_mad *mad = container_of(buf, struct fake_mad, buf);
	struct fake_sa *fake = fake_of_buf(buf);
	/*
	 * Posting may call a security module, which takes locks of its own, so no spinlock may be
	 * held.
	 */
	bool locked = irqs_disabled();

	guard(spinlock_irqsave)(&fake->lock);
	fake->faults += locked || mad->posted || !buf->ah ||
			(buf->timeout_ms < 1) != !!ib_response_mad(&mad->mad.mad_hdr);
	if (fake->refuse)
		return fake->refuse;
	mad->posted = true;
	mad->cancelled = false;
	mad->order = fake->posts++;
	list_move_tail(&mad->entry, &fake->mads);
	complete(&fake->posted);
	if (fake->respond)
		queue_work(system_unbound_wq, &fake->responder);
	return 0;
}

/* A MAD that is not posted is ignored, as by ib_modify_mad(). */
static void cancel(struct ib_mad_send_buf *buf)
{
	struct fake_mad *mad = container_of(buf, struct fake_mad, buf);
	struct fake_sa *fake = fake_of_buf(buf);

	guard(spinlock_irqsave)(&fake->lock);
	if (!mad->posted)
		return;
	mad->cancelled = true;
	if (!fake->hold)
		queue_work(system_unbound_wq, &fake->flush);
}

static void free_recv(struct ib_mad_recv_wc *wc)
{
	struct fake_recv *recv = container_of(wc, struct fake_recv, wc);
	struct fake_segment *segment, *next;

	list_del(&wc->recv_buf.list);
	list_for_each_entry_safe(segment, next, &wc->rmpp_list, buf.list)
		kfree(segment);
	kfree(recv);
}

static void refuse_recv(struct ib_mad_agent *agent, struct ib_mad_recv_wc *wc)
{
	fake_of(agent->device)->refused++;
	free_recv(wc);
}

static const struct sa_mad_ops fake_mad_ops = {
	.register_agent = register_agent,
	.unregister_agent = unregister_agent,
	.create = create,
	.free = free_mad,
	.post = post,
	.cancel = cancel,
	.free_recv = free_recv,
	.refuse_recv = refuse_recv,
};

/* ---- ending MADs ---- */

static bool take(struct fake_mad *mad)
{
	struct fake_sa *fake = fake_of_buf(&mad->buf);

	guard(spinlock_irqsave)(&fake->lock);
	if (!mad->posted) {
		fake->faults++;
		return false;
	}
	mad->posted = false;
	return true;
}

static void send_done(struct fake_mad *mad, enum ib_wc_status status)
{
	struct ib_mad_send_wc wc = { .send_buf = &mad->buf, .status = status };

	mad->buf.mad_agent->send_handler(mad->buf.mad_agent, &wc);
}

/**
 * fake_mad_end() - end a posting without an answer
 * @mad: posted
 * @status: status of its completion
 */
void fake_mad_end(struct fake_mad *mad, enum ib_wc_status status)
{
	if (take(mad))
		send_done(mad, status);
}

static struct fake_mad *next_of(struct fake_sa *fake, bool cancelled)
{
	struct fake_mad *mad;

	guard(spinlock_irqsave)(&fake->lock);
	list_for_each_entry(mad, &fake->mads, entry)
		if (mad->posted && mad->cancelled == cancelled)
			return mad;
	return NULL;
}

static void flush(struct work_struct *work)
{
	struct fake_sa *fake = container_of(work, struct fake_sa, flush);
	struct fake_mad *mad;

	while (!READ_ONCE(fake->hold) && (mad = next_of(fake, true)))
		fake_mad_end(mad, IB_WC_WR_FLUSH_ERR);
}

static void respond(struct work_struct *work)
{
	struct fake_sa *fake = container_of(work, struct fake_sa, responder);
	struct fake_mad *mad;

	while ((mad = next_of(fake, false)))
		fake->respond(fake, mad);
}

static struct fake_recv *make_answer(const struct fake_mad *mad)
{
	struct fake_recv *recv = kzalloc(sizeof(*recv), GFP_KERNEL);

	if (WARN_ON(!recv))
		return NULL;
	INIT_LIST_HEAD(&recv->wc.rmpp_list);
	recv->wc.wc = &recv->ib;
	recv->wc.recv_buf.mad = (struct ib_mad *)&recv->mad;
	list_add(&recv->wc.recv_buf.list, &recv->wc.rmpp_list);
	recv->wc.mad_len = IB_MGMT_MAD_SIZE;
	memcpy(&recv->mad, &mad->mad, IB_MGMT_SA_HDR);
	if (recv->mad.mad_hdr.method == IB_MGMT_METHOD_SET)
		recv->mad.mad_hdr.method = IB_MGMT_METHOD_GET;
	recv->mad.mad_hdr.method |= IB_MGMT_METHOD_RESP;
	return recv;
}

/**
 * fake_sa_report() - deliver a notice to the agent that receives notices
 * @fake: the device
 * @slid: LID of the sender
 * @notice: the notice
 */
void fake_sa_report(struct fake_sa *fake, u32 slid, const struct ib_sa_notice *notice)
{
	struct fake_mad request = {
		.mad.mad_hdr = {
			.base_version = IB_MGMT_BASE_VERSION,
			.mgmt_class = IB_MGMT_CLASS_SUBN_ADM,
			.class_version = IB_SA_CLASS_VERSION,
			.attr_id = cpu_to_be16(IB_SA_ATTR_NOTICE),
			.tid = cpu_to_be64(1),
		},
	};
	struct fake_recv *recv = make_answer(&request);

	if (!recv)
		return;
	recv->mad.mad_hdr.method = IB_MGMT_METHOD_REPORT;
	memcpy(recv->mad.data, notice, sizeof(*notice));
	recv->ib.slid = slid;
	recv->ib.src_qp = 1;
	recv->ib.port_num = 1;
	fake->notices->recv_handler(fake->notices, NULL, &recv->wc);
}

static void hand_over(struct fake_mad *mad, struct fake_recv *recv)
{
	struct ib_mad_agent *agent = mad->buf.mad_agent;

	if (!take(mad)) {
		free_recv(&recv->wc);
		return;
	}
	agent->recv_handler(agent, &mad->buf, &recv->wc);
	send_done(mad, IB_WC_SUCCESS);
}

/**
 * fake_mad_answer() - answer a posting
 * @mad: a MAD that has been posted
 * @status: MAD status
 * @record: record of the answer
 * @size: length of @record in bytes
 */
void fake_mad_answer(struct fake_mad *mad, u16 status, const void *record, size_t size)
{
	struct fake_recv *recv = make_answer(mad);

	if (!recv)
		return;
	recv->mad.mad_hdr.status = cpu_to_be16(status);
	if (record)
		memcpy(recv->mad.data, record, size);
	hand_over(mad, recv);
}

/**
 * fake_mad_answer_as() - answer a posting with a header that the test chooses
 * @mad: a MAD that has been posted
 * @method: method of the answer
 * @attr_id: its attribute
 * @mad_len: its length in bytes
 */
void fake_mad_answer_as(struct fake_mad *mad, u8 method, u16 attr_id, int mad_len)
{
	struct fake_recv *recv = make_answer(mad);

	if (!recv)
		return;
	recv->mad.mad_hdr.method = method;
	recv->mad.mad_hdr.attr_id = cpu_to_be16(attr_id);
	recv->wc.mad_len = mad_len;
	hand_over(mad, recv);
}

/**
 * fake_mad_answer_table() - answer a posting with records, in as many packets as needed
 * @mad: a MAD that has been posted
 * @offset: AttributeOffset: distance of the records in units of 8 bytes
 * @records: the records
 * @size: length of @records in bytes
 */
void fake_mad_answer_table(struct fake_mad *mad, u16 offset, const void *records, size_t size)
{
	struct fake_recv *recv = make_answer(mad);

	if (!recv)
		return;
	recv->mad.sa_hdr.attr_offset = cpu_to_be16(offset);
	recv->wc.mad_len = IB_MGMT_SA_HDR + size;
	memcpy(recv->mad.data, records, min(size, sizeof(recv->mad.data)));
	for (size_t done = sizeof(recv->mad.data); done < size; done += sizeof(recv->mad.data)) {
		struct fake_segment *segment = kzalloc(sizeof(*segment), GFP_KERNEL);

		if (WARN_ON(!segment))
			break;
		segment->mad = recv->mad;
		memcpy(segment->mad.data, records + done, min(size - done, sizeof(recv->mad.data)));
		segment->buf.mad = (struct ib_mad *)&segment->mad;
		list_add_tail(&segment->buf.list, &recv->wc.rmpp_list);
	}
	hand_over(mad, recv);
}

/* ---- for tests ---- */

/**
 * fake_sa_posted() - find a posted MAD
 * @fake: device
 * @index: 0 for the one that was posted first
 *
 * Return: the MAD or NULL.
 */
struct fake_mad *fake_sa_posted(struct fake_sa *fake, unsigned int index)
{
	struct fake_mad *mad;

	guard(spinlock_irqsave)(&fake->lock);
	list_for_each_entry(mad, &fake->mads, entry)
		if (mad->posted && !index--)
			return mad;
	return NULL;
}

/* Number of MADs that have been created and not freed */
unsigned int fake_sa_mads(struct fake_sa *fake)
{
	guard(spinlock_irqsave)(&fake->lock);
	return list_count_nodes(&fake->mads);
}

/* The LID that a MAD is sent to */
u32 fake_mad_dlid(const struct fake_mad *mad)
{
	return container_of(mad->buf.ah, struct fake_ah, ib)->dlid;
}

/**
 * fake_sa_settle() - wait until cancelled MADs have been flushed and events have been handled
 * @fake: device
 */
void fake_sa_settle(struct fake_sa *fake)
{
	flush_workqueue(ib_wq);
	flush_work(&fake->flush);
	flush_work(&fake->responder);
}

/**
 * fake_sa_event() - report an event of port 1, and wait until all handlers have returned
 * @fake: device
 * @type: the event
 */
void fake_sa_event(struct fake_sa *fake, enum ib_event_type type)
{
	struct ib_event event = { .device = &fake->ib, .event = type };

	event.element.port_num = 1;
	ib_dispatch_event(&event);
	flush_workqueue(ib_wq);
}

/**
 * fake_sa_begin() - make and register a device
 * @test: the test, which fails on an error
 *
 * Return: the device, for fake_sa_end().
 */
struct fake_sa *fake_sa_begin(struct kunit *test)
{
	struct fake_sa *fake = ib_alloc_device(fake_sa, ib);
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, fake);
	fake->ib.node_type = RDMA_NODE_IB_CA;
	fake->ib.phys_port_cnt = FAKE_PORTS;
	fake->attr.state = IB_PORT_ACTIVE;
	fake->attr.lid = 0x10;
	fake->attr.lmc = 2;
	fake->attr.sm_lid = FAKE_SM_LID;
	fake->attr.sm_sl = 3;
	fake->gid.global.subnet_prefix = cpu_to_be64(0xfe80ULL << 48);
	fake->pkey[1] = IB_DEFAULT_PKEY_FULL;
	spin_lock_init(&fake->lock);
	INIT_LIST_HEAD(&fake->mads);
	init_completion(&fake->posted);
	INIT_WORK(&fake->flush, flush);
	INIT_WORK(&fake->responder, respond);
	ib_set_device_ops(&fake->ib, &fake_ops);
	fake->before = sa_mad;
	sa_mad = &fake_mad_ops;
	ret = ib_register_device(&fake->ib, "kt_sa%d", NULL);
	sa_mad = fake->before;
	if (ret)
		ib_dealloc_device(&fake->ib);
	KUNIT_ASSERT_EQ(test, ret, 0);
	return fake;
}

/**
 * fake_sa_end() - unregister and free a device, and check that nothing is left
 * @test: the test
 * @fake: device
 */
void fake_sa_end(struct kunit *test, struct fake_sa *fake)
{
	ib_unregister_device(&fake->ib);
	fake_sa_settle(fake);
	KUNIT_EXPECT_EQ(test, fake->faults, 0);
	KUNIT_EXPECT_EQ(test, fake->ahs, 0);
	KUNIT_EXPECT_EQ(test, fake->agents, 0);
	KUNIT_EXPECT_EQ(test, fake_sa_mads(fake), 0);
	ib_dealloc_device(&fake->ib);
}

MODULE_DESCRIPTION("KUnit tests of subnet administration and multicast");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
