// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See fake_net.h: the MAD layer of the devices, and the net.
 */
#include <linux/cleanup.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "fake_net.h"

/**
 * struct fake_agent - an agent
 * @agent: as the manager sees it
 * @qp: its QP, of which it takes the PD
 * @node: its device
 */
struct fake_agent {
	struct ib_mad_agent agent;
	struct ib_qp qp;
	struct fake_node *node;
};

/**
 * struct fake_mad - a datagram between its creation and its end
 * @entry: in the net's list
 * @buf: as the manager sees it
 * @mad: the bytes
 * @posted: posted and not ended
 * @fresh: it has not been on the net since it was posted
 * @cancelled: to come back flushed
 * @left: how often it may be sent again
 */
struct fake_mad {
	struct list_head entry;
	struct ib_mad_send_buf buf;
	struct ib_mad mad;
	bool posted;
	bool fresh;
	bool cancelled;
	int left;
};

struct fake_recv {
	struct ib_mad_recv_wc wc;
	struct ib_wc ib;
	struct ib_grh grh;
	struct fake_net *net;
	struct ib_mad mad;
};

static struct fake_node *node_of(struct ib_device *ib)
{
	return container_of(ib, struct fake_node, ib);
}

/* ---- their MAD layer ---- */

static struct fake_mad *mad_of(struct ib_mad_send_buf *buf)
{
	return container_of(buf, struct fake_mad, buf);
}

static struct fake_node *node_of_buf(struct ib_mad_send_buf *buf)
{
	return container_of(buf->mad_agent, struct fake_agent, agent)->node;
}

static struct ib_mad_agent *register_agent(struct ib_device *ib, u32 port_num,
					   enum ib_qp_type qp_type, struct ib_mad_reg_req *req,
					   u8 rmpp_version, ib_mad_send_handler send_handler,
					   ib_mad_recv_handler recv_handler, void *context,
					   u32 flags)
{
	struct fake_node *node = node_of(ib);
	struct fake_agent *agent = kzalloc(sizeof(*agent), GFP_KERNEL);

	if (!agent)
		return ERR_PTR(-ENOMEM);
	agent->qp.pd = ib_alloc_pd(ib, 0);
	if (IS_ERR(agent->qp.pd)) {
		kfree(agent);
		return ERR_PTR(-ENOMEM);
	}
	agent->node = node;
	agent->agent = (struct ib_mad_agent) {
		.device = ib, .qp = &agent->qp, .port_num = port_num, .context = context,
		.send_handler = send_handler, .recv_handler = recv_handler, .hi_tid = 0x77,
	};
	node->agent = &agent->agent;
	if (node->net->early)
		fake_net_inject(node, FAKE_LID_B, node->net->early);
	return &agent->agent;
}

static void unregister_agent(struct ib_mad_agent *mad_agent)
{
	struct fake_agent *agent = container_of(mad_agent, struct fake_agent, agent);
	struct fake_net *net = agent->node->net;
	struct fake_mad *mad;

	scoped_guard(spinlock_irqsave, &net->lock) {
		agent->node->agent = NULL;
		/* The real one would wait for ever. */
		list_for_each_entry(mad, &net->mads, entry)
			net->faults += mad->buf.mad_agent == mad_agent;
	}
	ib_dealloc_pd(agent->qp.pd);
	kfree(agent);
}

static struct ib_mad_send_buf *create(struct ib_mad_agent *agent, u32 remote_qpn, u16 pkey_index,
				      int rmpp_active, int hdr_len, int data_len, gfp_t gfp,
				      u8 base_version)
{
	struct fake_net *net = container_of(agent, struct fake_agent, agent)->node->net;
	struct fake_mad *mad = net->starved ? NULL : kzalloc(sizeof(*mad), gfp);

	if (!mad)
		return ERR_PTR(-ENOMEM);
	mad->buf.mad_agent = agent;
	mad->buf.mad = &mad->mad;
	guard(spinlock_irqsave)(&net->lock);
	net->faults += remote_qpn != 1 || pkey_index > 1 || hdr_len + data_len != IB_MGMT_MAD_SIZE;
	list_add_tail(&mad->entry, &net->mads);
	return &mad->buf;
}

static void free_mad(struct ib_mad_send_buf *buf)
{
	struct fake_net *net = node_of_buf(buf)->net;
	struct fake_mad *mad = mad_of(buf);

	scoped_guard(spinlock_irqsave, &net->lock) {
		net->faults += mad->posted;
		list_del(&mad->entry);
	}
	kfree(mad);
}

/* It comes back as flushed.  The net's lock is held. */
static void give_up(struct fake_net *net, struct fake_mad *mad)
{
	mad->cancelled = true;
	queue_work(system_unbound_wq, &net->flush);
}

static int post(struct ib_mad_send_buf *buf, struct ib_mad_send_buf **bad)
{
	struct fake_net *net = node_of_buf(buf)->net;
	struct fake_mad *mad = mad_of(buf);

	if (net->on_posted)
		net->on_posted(net, cm_msg_type_of(mad->mad.mad_hdr.attr_id));
	guard(spinlock_irqsave)(&net->lock);
	net->faults += mad->posted || !buf->ah;
	mad->posted = true;
	mad->fresh = true;
	mad->cancelled = false;
	mad->left = buf->retries;
	buf->retries = 0;
	list_move_tail(&mad->entry, &net->mads);
	if (!node_of_buf(buf)->present)
		give_up(net, mad);
	return 0;
}

static int modify(struct ib_mad_send_buf *buf, u32 timeout_ms)
{
	struct fake_net *net = node_of_buf(buf)->net;
	struct fake_mad *mad = mad_of(buf);

	guard(spinlock_irqsave)(&net->lock);
	if (!mad->posted || mad->cancelled)
		return -EINVAL;
	buf->timeout_ms = timeout_ms;
	if (timeout_ms)
		return 0;
	give_up(net, mad);
	return 0;
}

static void free_recv(struct ib_mad_recv_wc *wc)
{
	struct fake_recv *recv = container_of(wc, struct fake_recv, wc);

	scoped_guard(spinlock_irqsave, &recv->net->lock)
		recv->net->recvs--;
	kfree(recv);
}

static bool sender_is_known(struct ib_device *ib, u32 port_num, const struct ib_wc *wc,
			    const struct ib_grh *grh)
{
	return !READ_ONCE(node_of(ib)->nobody_is_known);
}

static const struct cm_mad_ops fake_mad_ops = {
	.register_agent = register_agent,
	.unregister_agent = unregister_agent,
	.create = create,
	.free = free_mad,
	.post = post,
	.modify = modify,
	.free_recv = free_recv,
	.sender_is_known = sender_is_known,
};

/* ---- the net ---- */

static void end(struct fake_net *net, struct fake_mad *mad, enum ib_wc_status status)
{
	struct ib_mad_send_wc wc = { .send_buf = &mad->buf, .status = status };

	scoped_guard(spinlock_irqsave, &net->lock)
		mad->posted = false;
	mad->buf.mad_agent->send_handler(mad->buf.mad_agent, &wc);
}

/* The oldest that is cancelled, or was not on the net yet, or waits for an answer. */
static struct fake_mad *next_mad(struct fake_net *net, bool cancelled, bool fresh)
{
	struct fake_mad *mad;

	guard(spinlock_irqsave)(&net->lock);
	list_for_each_entry(mad, &net->mads, entry)
		if (mad->posted && mad->cancelled == cancelled &&
		    (cancelled || mad->fresh == fresh))
			return mad;
	return NULL;
}

static void flush(struct work_struct *work)
{
	struct fake_net *net = container_of(work, struct fake_net, flush);
	struct fake_mad *mad;

	while ((mad = next_mad(net, true, false)))
		end(net, mad, IB_WC_WR_FLUSH_ERR);
}

static void arrive(struct fake_node *node, u16 slid, const void *bytes)
{
	struct fake_net *net = node->net;
	struct fake_recv *recv;

	if (!node->agent)
		return;
	recv = kzalloc(sizeof(*recv), GFP_KERNEL | __GFP_NOFAIL);
	recv->net = net;
	recv->ib = (struct ib_wc) { .status = IB_WC_SUCCESS, .src_qp = 1, .slid = slid,
				    .port_num = 1 };
	recv->wc.wc = &recv->ib;
	recv->wc.recv_buf.mad = &recv->mad;
	recv->wc.recv_buf.grh = &recv->grh;
	recv->wc.mad_len = IB_MGMT_MAD_SIZE;
	INIT_LIST_HEAD(&recv->wc.rmpp_list);
	list_add(&recv->wc.recv_buf.list, &recv->wc.rmpp_list);
	memcpy(&recv->mad, bytes, sizeof(recv->mad));
	scoped_guard(spinlock_irqsave, &net->lock)
		net->recvs++;
	node->agent->recv_handler(node->agent, NULL, &recv->wc);
}

/* A message goes over the net once. It may be gone afterwards. */
static void move(struct fake_net *net, struct fake_mad *mad)
{
	u32 dlid = fake_ah_dlid(mad->buf.ah);
	struct fake_node *to = dlid == FAKE_LID_A ? net->a : net->b;
	enum cm_msg_type type = cm_msg_type_of(mad->mad.mad_hdr.attr_id);
	u16 slid = node_of_buf(&mad->buf)->lid;
	enum fake_fault how = FAKE_ARRIVES;
	struct ib_mad copy = mad->mad;

	if (net->deliver)
		how = net->deliver(net, net->moves, type);
	net->moves++;
	mad->fresh = false;
	if (!mad->buf.timeout_ms)
		end(net, mad, IB_WC_SUCCESS);
	if (how == FAKE_LOST || net->dead || !to->present)
		return;
	arrive(to, slid, &copy);
	fake_net_settle(net);
	if (how == FAKE_TWICE)
		arrive(to, slid, &copy);
}

/* The work of a port queues itself as long as messages wait. */
static void settle_node(struct fake_node *node)
{
	struct cm_port *port;

	if (!node || !node->agent)
		return;
	port = node->agent->context;
	while (flush_work(&port->work))
		;
}

/**
 * fake_net_settle() - wait until what has been given up has come back, and what has arrived and its
 * events have been handled
 * @net: net
 */
void fake_net_settle(struct fake_net *net)
{
	flush_work(&net->flush);
	settle_node(net->a);
	settle_node(net->b);
	/* Messages whose senders are not known, and then events. */
	flush_workqueue(cm_wq);
	flush_workqueue(cm_wq);
	flush_work(&net->flush);
}

/**
 * fake_net_step() - let the oldest message that was not on the net yet go
 * @net: net
 *
 * Return: false if there is none.
 */
bool fake_net_step(struct fake_net *net)
{
	struct fake_mad *mad;

	fake_net_settle(net);
	mad = next_mad(net, false, true);
	if (mad)
		move(net, mad);
	fake_net_settle(net);
	return mad;
}

/**
 * fake_net_tick() - let the time pass until one message has waited long enough
 * @net: net
 *
 * Return: false if no message waits for an answer.
 */
bool fake_net_tick(struct fake_net *net)
{
	struct fake_mad *mad;

	fake_net_settle(net);
	mad = next_mad(net, false, false);
	if (!mad)
		return false;
	if (mad->left-- > 0) {
		mad->buf.retries++;
		/* Others have their turn before it has its next one. */
		scoped_guard(spinlock_irqsave, &net->lock)
			list_move_tail(&mad->entry, &net->mads);
		move(net, mad);
	} else {
		end(net, mad, IB_WC_RESP_TIMEOUT_ERR);
	}
	fake_net_settle(net);
	return true;
}

/**
 * fake_net_run() - let messages and time go on until nothing is under way
 * @net: net
 */
void fake_net_run(struct fake_net *net)
{
	for (int i = 0; i < 1000; i++)
		if (!fake_net_step(net) && !fake_net_tick(net))
			return;
	KUNIT_FAIL(net->test, "the net does not come to rest");
}

/**
 * fake_net_find() - the oldest message of a type that is under way
 * @net: net
 * @type: the type
 *
 * Return: its buffer or NULL.
 */
struct ib_mad_send_buf *fake_net_find(struct fake_net *net, enum cm_msg_type type)
{
	struct fake_mad *mad;

	guard(spinlock_irqsave)(&net->lock);
	list_for_each_entry(mad, &net->mads, entry)
		if (mad->posted && mad->mad.mad_hdr.attr_id == cm_msg_attr_id(type))
			return &mad->buf;
	return NULL;
}

/**
 * fake_net_fail() - a message that waits for an answer is given up; nothing is waited for
 * @net: net
 * @type: its type; there is one
 */
void fake_net_fail(struct fake_net *net, enum cm_msg_type type)
{
	struct ib_mad_send_buf *buf = fake_net_find(net, type);

	KUNIT_ASSERT_NOT_NULL(net->test, buf);
	end(net, mad_of(buf), IB_WC_RESP_TIMEOUT_ERR);
}

/**
 * fake_net_arrive() - a message from nowhere arrives; nothing is waited for
 * @to: where
 * @slid: from this LID
 * @msg: the message
 */
void fake_net_arrive(struct fake_node *to, u16 slid, const struct cm_msg *msg)
{
	u8 mad[CM_MAD_SIZE];

	KUNIT_EXPECT_EQ(to->net->test, cm_msg_pack(msg, mad), 0);
	arrive(to, slid, mad);
}

/**
 * fake_net_inject() - a message from nowhere arrives, and is dealt with
 * @to: where
 * @slid: from this LID
 * @msg: the message
 */
void fake_net_inject(struct fake_node *to, u16 slid, const struct cm_msg *msg)
{
	fake_net_arrive(to, slid, msg);
	fake_net_settle(to->net);
}

/* Datagrams that exist */
unsigned int fake_net_mads(struct fake_net *net)
{
	guard(spinlock_irqsave)(&net->lock);
	return list_count_nodes(&net->mads);
}

static struct fake_node *add_node(struct fake_net *net, u16 lid)
{
	struct fake_node *node = fake_node_alloc(net, lid);
	const struct cm_mad_ops *before = cm_mad;
	int ret;

	KUNIT_ASSERT_NOT_NULL(net->test, node);
	cm_mad = &fake_mad_ops;
	ret = ib_register_device(&node->ib, "kt_cm%d", NULL);
	cm_mad = before;
	if (ret)
		ib_dealloc_device(&node->ib);
	KUNIT_ASSERT_EQ(net->test, ret, 0);
	node->present = true;
	KUNIT_EXPECT_EQ(net->test, node->caps, IB_PORT_CM_SUP);
	return node;
}

/**
 * fake_net_begin() - make the net and its devices
 * @test: the test, which fails if that is not possible
 *
 * Return: the net, for fake_net_end().
 */
struct fake_net *fake_net_begin(struct kunit *test)
{
	static atomic_t nets;
	struct fake_net *net = kunit_kzalloc(test, sizeof(*net), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, net);
	net->test = test;
	net->number = atomic_inc_return(&nets);
	spin_lock_init(&net->lock);
	INIT_LIST_HEAD(&net->mads);
	INIT_WORK(&net->flush, flush);
	mutex_init(&net->calls);
	net->a = add_node(net, FAKE_LID_A);
	net->b = add_node(net, FAKE_LID_B);
	return net;
}

/**
 * fake_net_remove() - unregister a device
 * @node: device
 */
void fake_net_remove(struct fake_node *node)
{
	struct fake_net *net = node->net;

	struct fake_mad *mad;

	if (!node->present)
		return;
	/* A message without an answer leaves a real port at once, whatever becomes of it there. */
	scoped_guard(spinlock_irqsave, &net->lock) {
		node->present = false;
		list_for_each_entry(mad, &net->mads, entry)
			if (mad->posted && !mad->buf.timeout_ms && node_of_buf(&mad->buf) == node)
				give_up(net, mad);
	}
	ib_unregister_device(&node->ib);
	fake_net_settle(net);
	KUNIT_EXPECT_EQ(net->test, atomic_read(&node->ahs), 0);
	KUNIT_EXPECT_NULL(net->test, node->agent);
	KUNIT_EXPECT_EQ(net->test, node->caps, 0);
}

/**
 * fake_net_renew_a() - remove device a, and let a new one appear in its place
 * @net: net
 */
void fake_net_renew_a(struct fake_net *net)
{
	struct fake_node *old = net->a;

	fake_net_remove(old);
	net->a = add_node(net, FAKE_LID_A);
	ib_dealloc_device(&old->ib);
}

/**
 * fake_net_end() - end the net, and see whether something is left
 * @net: net
 */
void fake_net_end(struct fake_net *net)
{
	fake_net_settle(net);
	fake_net_remove(net->a);
	fake_net_remove(net->b);
	KUNIT_EXPECT_EQ(net->test, net->faults, 0);
	KUNIT_EXPECT_EQ(net->test, net->recvs, 0);
	KUNIT_EXPECT_EQ(net->test, fake_net_mads(net), 0);
	ib_dealloc_device(&net->a->ib);
	ib_dealloc_device(&net->b->ib);
}
