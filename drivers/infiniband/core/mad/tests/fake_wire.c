// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See fake_wire.h.
 */
#include <linux/cleanup.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "fake_wire.h"

#define RING 8192

struct fake_wire fake_wire;

static const u16 fake_pkeys[] = { IB_DEFAULT_PKEY_FULL, 0x8123 };

struct fake_cq {
	struct ib_cq cq;
	struct ib_wc *wc;
	unsigned int head, tail;
	bool armed;
};

struct fake_recv {
	struct ib_cqe *cqe;
	void *addr;
};

struct fake_qp {
	struct ib_qp qp;
	u32 port_num;
	u32 qkey;
	u16 pkey;
	enum ib_qp_state state;
	struct fake_recv recv[1024];
	unsigned int head, tail;
};

struct fake_ah {
	struct ib_ah ah;
	struct rdma_ah_attr attr;
};

struct fake_device {
	struct ib_device ib;
	struct list_head entry;
	u32 caps;
	u16 lid;
	struct fake_qp *qp[FAKE_PORTS + 1][FAKE_UD_QPN + 1];
};

struct fake_packet {
	struct list_head entry;
	struct fake_device *device;
	u32 port_num;
	u16 dlid, slid;
	u32 src_qp, dest_qp;
	u32 qkey;
	u16 pkey;
	u8 mad[IB_MGMT_MAD_SIZE];
};

struct fake_held {
	struct list_head entry;
	struct fake_qp *qp;
	struct ib_cqe *cqe;
};

/* ---- completions; the wire's lock is held ---- */

static void complete_wc(struct ib_cq *ibcq, const struct ib_wc *wc)
{
	struct fake_cq *cq = container_of(ibcq, struct fake_cq, cq);

	WARN_ON(cq->tail - cq->head == RING);
	cq->wc[cq->tail++ % RING] = *wc;
	if (!cq->armed)
		return;
	cq->armed = false;
	ibcq->comp_handler(ibcq, ibcq->cq_context);
}

static void complete_send_wr(struct fake_qp *qp, struct ib_cqe *cqe, enum ib_wc_status status)
{
	struct ib_wc wc = { .wr_cqe = cqe, .status = status, .qp = &qp->qp };

	complete_wc(qp->qp.send_cq, &wc);
}

static void flush_qp(struct fake_qp *qp)
{
	struct fake_held *held, *next;

	list_for_each_entry_safe(held, next, &fake_wire.held, entry) {
		if (held->qp != qp)
			continue;
		complete_send_wr(qp, held->cqe, IB_WC_WR_FLUSH_ERR);
		list_del(&held->entry);
		kfree(held);
	}
	while (qp->head != qp->tail) {
		struct fake_recv *recv = &qp->recv[qp->head++ % ARRAY_SIZE(qp->recv)];
		struct ib_wc wc = {
			.wr_cqe = recv->cqe, .status = IB_WC_WR_FLUSH_ERR, .qp = &qp->qp,
		};

		complete_wc(qp->qp.recv_cq, &wc);
	}
}

/* ---- packets ---- */

static struct fake_qp *find_target(const struct fake_packet *packet, u32 *port_num)
{
	struct fake_device *device;

	if (packet->dest_qp > FAKE_UD_QPN || !packet->port_num || packet->port_num > FAKE_PORTS)
		return NULL;
	list_for_each_entry(device, &fake_wire.devices, entry) {
		if (packet->dlid == be16_to_cpu(IB_LID_PERMISSIVE)) {
			if (device != packet->device)
				continue;
			*port_num = 3 - packet->port_num;
		} else if ((u16)(packet->dlid - device->lid) < FAKE_PORTS) {
			*port_num = packet->dlid - device->lid + 1;
		} else {
			continue;
		}
		return device->qp[device->ib.is_switch ? 0 : *port_num][packet->dest_qp];
	}
	return NULL;
}

/* QP0 has no keys. */
static bool fits(const struct fake_packet *packet, const struct fake_qp *qp)
{
	if (!packet->dest_qp)
		return true;
	return packet->qkey == qp->qkey &&
	       (packet->dest_qp == 1 || packet->pkey == qp->pkey);
}

static void arrive(const struct fake_packet *packet)
{
	struct ib_wc wc = {
		.status = IB_WC_SUCCESS,
		.opcode = IB_WC_RECV,
		.byte_len = sizeof(struct ib_grh) + IB_MGMT_MAD_SIZE,
		.src_qp = packet->src_qp,
		.slid = packet->slid,
	};
	struct fake_recv *recv;
	struct fake_qp *qp;
	u32 port_num;

	qp = find_target(packet, &port_num);
	if (!qp || qp->state < IB_QPS_RTR || qp->state == IB_QPS_ERR || qp->head == qp->tail ||
	    !fits(packet, qp)) {
		fake_wire.lost++;
		return;
	}
	recv = &qp->recv[qp->head++ % ARRAY_SIZE(qp->recv)];
	memcpy(recv->addr + sizeof(struct ib_grh), packet->mad, sizeof(packet->mad));
	wc.wr_cqe = recv->cqe;
	wc.qp = &qp->qp;
	wc.port_num = port_num;
	/* Devices report it for QP1 alone. */
	if (packet->dest_qp == 1)
		wc.pkey_index = packet->pkey != fake_pkeys[0];
	complete_wc(qp->qp.recv_cq, &wc);
}

static void wire_work(struct work_struct *work)
{
	struct fake_packet *packet;

	for (;;) {
		guard(spinlock_irqsave)(&fake_wire.lock);
		packet = list_first_entry_or_null(&fake_wire.packets, struct fake_packet, entry);
		if (!packet)
			return;
		list_del(&packet->entry);
		arrive(packet);
		kfree(packet);
	}
}

static int transmit(struct fake_qp *qp, const struct ib_send_wr *wr)
{
	struct fake_device *device = container_of(qp->qp.device, struct fake_device, ib);
	const struct ib_ud_wr *ud = ud_wr(wr);
	struct fake_packet *packet, *copy;
	unsigned int copies = 1, at = 0;
	bool overtakes = false;

	packet = kzalloc(sizeof(*packet), GFP_ATOMIC);
	if (!packet)
		return -ENOMEM;
	packet->device = device;
	packet->dlid = rdma_ah_get_dlid(&container_of(ud->ah, struct fake_ah, ah)->attr);
	if (device->ib.is_switch) {
		packet->port_num = ud->port_num;
		packet->slid = packet->dlid;
	} else {
		packet->port_num = qp->port_num;
		packet->slid = device->lid + packet->port_num - 1;
	}
	packet->src_qp = qp->qp.qp_num;
	packet->dest_qp = ud->remote_qpn;
	packet->qkey = ud->remote_qkey & IB_QP_SET_QKEY ? qp->qkey : ud->remote_qkey;
	packet->pkey = qp->qp.qp_type == IB_QPT_UD ? qp->pkey : fake_pkeys[ud->pkey_index];
	for (int i = 0; i < wr->num_sge; i++) {
		memcpy(packet->mad + at, (void *)wr->sg_list[i].addr, wr->sg_list[i].length);
		at += wr->sg_list[i].length;
	}
	WARN_ON(at != sizeof(packet->mad));
	fake_wire.sent++;
	if (fake_wire.deliver)
		copies = fake_wire.deliver((struct ib_mad *)packet->mad, &overtakes);
	for (; copies > 1; copies--) {
		copy = kmemdup(packet, sizeof(*packet), GFP_ATOMIC);
		if (copy)
			list_add_tail(&copy->entry, &fake_wire.packets);
	}
	if (!copies)
		kfree(packet);
	else if (overtakes)
		list_add(&packet->entry, &fake_wire.packets);
	else
		list_add_tail(&packet->entry, &fake_wire.packets);
	queue_work(system_unbound_wq, &fake_wire.work);
	return 0;
}

static int post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		     const struct ib_send_wr **bad_wr)
{
	struct fake_qp *qp = container_of(ibqp, struct fake_qp, qp);
	struct fake_held *held;
	int ret;

	/* As for rdma_rxe, a UD QP accepts nothing else, not even in the error state. */
	if (wr->opcode != IB_WR_SEND || !ud_wr(wr)->ah)
		return -EINVAL;
	guard(spinlock_irqsave)(&fake_wire.lock);
	if (qp->state == IB_QPS_ERR || qp->state == IB_QPS_SQE) {
		complete_send_wr(qp, wr->wr_cqe, IB_WC_WR_FLUSH_ERR);
		return 0;
	}
	if (fake_wire.fail_in && !--fake_wire.fail_in) {
		fake_wire.fail_in = fake_wire.fail_every;
		qp->state = IB_QPS_SQE;
		complete_send_wr(qp, wr->wr_cqe, IB_WC_LOC_QP_OP_ERR);
		return 0;
	}
	ret = transmit(qp, wr);
	if (ret)
		return ret;
	if (!fake_wire.hold) {
		complete_send_wr(qp, wr->wr_cqe, IB_WC_SUCCESS);
		return 0;
	}
	held = kzalloc(sizeof(*held), GFP_ATOMIC);
	if (!held)
		return -ENOMEM;
	held->qp = qp;
	held->cqe = wr->wr_cqe;
	list_add_tail(&held->entry, &fake_wire.held);
	return 0;
}

static int post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		     const struct ib_recv_wr **bad_wr)
{
	struct fake_qp *qp = container_of(ibqp, struct fake_qp, qp);
	struct fake_recv *recv;

	guard(spinlock_irqsave)(&fake_wire.lock);
	if (qp->tail - qp->head == ARRAY_SIZE(qp->recv))
		return -ENOMEM;
	if (fake_wire.refuse) {
		fake_wire.refuse--;
		return -ENOMEM;
	}
	recv = &qp->recv[qp->tail++ % ARRAY_SIZE(qp->recv)];
	recv->cqe = wr->wr_cqe;
	recv->addr = wr->num_sge ? (void *)wr->sg_list->addr : NULL;
	if (fake_wire.break_in && !--fake_wire.break_in) {
		qp->state = IB_QPS_ERR;
		complete(&fake_wire.broken);
	}
	if (qp->state == IB_QPS_ERR)
		flush_qp(qp);
	return 0;
}

/* ---- objects ---- */

static int alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		     struct uverbs_attr_bundle *attrs)
{
	struct fake_cq *cq = container_of(ibcq, struct fake_cq, cq);

	ibcq->cqe = attr->cqe;
	cq->wc = kvcalloc(RING, sizeof(*cq->wc), GFP_KERNEL);
	return cq->wc ? 0 : -ENOMEM;
}

static int destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	struct fake_cq *cq = container_of(ibcq, struct fake_cq, cq);

	scoped_guard(spinlock_irqsave, &fake_wire.lock)
		fake_wire.orphans += cq->tail - cq->head;
	kvfree(cq->wc);
	return 0;
}

static int poll_cq(struct ib_cq *ibcq, int num, struct ib_wc *wc)
{
	struct fake_cq *cq = container_of(ibcq, struct fake_cq, cq);
	int got = 0;

	/* Until it arms the CQ, this task handles completions. */
	if (current->flags & PF_WQ_WORKER)
		current->kunit_test = fake_wire.test;
	guard(spinlock_irqsave)(&fake_wire.lock);
	while (got < num && cq->head != cq->tail)
		wc[got++] = cq->wc[cq->head++ % RING];
	return got;
}

static int req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	struct fake_cq *cq = container_of(ibcq, struct fake_cq, cq);

	if (current->flags & PF_WQ_WORKER)
		current->kunit_test = NULL;
	guard(spinlock_irqsave)(&fake_wire.lock);
	if (cq->head != cq->tail)
		return 1;
	cq->armed = true;
	return 0;
}

static int create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	struct fake_device *device = container_of(ibqp->device, struct fake_device, ib);
	struct fake_qp *qp = container_of(ibqp, struct fake_qp, qp);

	ibqp->qp_num = attr->qp_type == IB_QPT_UD ? FAKE_UD_QPN : attr->qp_type == IB_QPT_GSI;
	qp->port_num = attr->port_num;
	guard(spinlock_irqsave)(&fake_wire.lock);
	device->qp[attr->port_num][ibqp->qp_num] = qp;
	return 0;
}

/* Posted work requests do not complete any more. */
static void forget_posted(struct fake_qp *qp)
{
	struct fake_held *held, *next;

	fake_wire.orphans += qp->tail - qp->head;
	qp->head = qp->tail;
	list_for_each_entry_safe(held, next, &fake_wire.held, entry) {
		if (held->qp != qp)
			continue;
		list_del(&held->entry);
		kfree(held);
	}
}

static int modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	struct fake_qp *qp = container_of(ibqp, struct fake_qp, qp);

	guard(spinlock_irqsave)(&fake_wire.lock);
	if ((mask & IB_QP_CUR_STATE) && attr->cur_qp_state != qp->state)
		return -EINVAL;
	if (!ib_modify_qp_is_ok(qp->state, attr->qp_state, ibqp->qp_type, mask))
		return -EINVAL;
	if (attr->qp_state == IB_QPS_ERR && fake_wire.stuck)
		return fake_wire.stuck;
	if (attr->qp_state == IB_QPS_RESET && fake_wire.no_reset) {
		fake_wire.no_reset--;
		return -ETIMEDOUT;
	}
	if (mask & IB_QP_QKEY)
		qp->qkey = attr->qkey;
	if (mask & IB_QP_PKEY_INDEX)
		qp->pkey = fake_pkeys[attr->pkey_index];
	qp->state = attr->qp_state;
	if (qp->state == IB_QPS_RESET)
		forget_posted(qp);
	if (qp->state == IB_QPS_ERR) {
		flush_qp(qp);
		complete(&fake_wire.stopped);
	}
	return 0;
}

static int destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct fake_device *device = container_of(ibqp->device, struct fake_device, ib);
	struct fake_qp *qp = container_of(ibqp, struct fake_qp, qp);

	guard(spinlock_irqsave)(&fake_wire.lock);
	device->qp[qp->port_num][ibqp->qp_num] = NULL;
	forget_posted(qp);
	return 0;
}

static int create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *attr, struct ib_udata *udata)
{
	container_of(ibah, struct fake_ah, ah)->attr = *attr->ah_attr;
	return 0;
}

static int query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	*attr = container_of(ibah, struct fake_ah, ah)->attr;
	return 0;
}

static int destroy_ah(struct ib_ah *ah, u32 flags)
{
	return 0;
}

static struct ib_mr *get_dma_mr(struct ib_pd *pd, int access)
{
	struct ib_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);

	return mr ?: ERR_PTR(-ENOMEM);
}

static struct ib_mr *reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 virt_addr, int access,
				 struct ib_udata *udata)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static int dereg_mr(struct ib_mr *mr, struct ib_udata *udata)
{
	kfree(mr);
	return 0;
}

/* ---- device ---- */

static int query_device(struct ib_device *ib, struct ib_device_attr *attr, struct ib_udata *udata)
{
	attr->max_pkeys = ARRAY_SIZE(fake_pkeys);
	return 0;
}

static int get_port_immutable(struct ib_device *ib, u32 port_num,
			      struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = 1;
	immutable->pkey_tbl_len = ARRAY_SIZE(fake_pkeys);
	immutable->core_cap_flags = container_of(ib, struct fake_device, ib)->caps;
	if (immutable->core_cap_flags & RDMA_CORE_CAP_IB_MAD)
		immutable->max_mad_size = IB_MGMT_MAD_SIZE;
	return 0;
}

static int query_port(struct ib_device *ib, u32 port_num, struct ib_port_attr *attr)
{
	attr->state = IB_PORT_ACTIVE;
	attr->lid = container_of(ib, struct fake_device, ib)->lid + port_num - 1;
	attr->gid_tbl_len = 1;
	attr->pkey_tbl_len = ARRAY_SIZE(fake_pkeys);
	return 0;
}

static int query_gid(struct ib_device *ib, u32 port_num, int index, union ib_gid *gid)
{
	gid->global.subnet_prefix = cpu_to_be64(0xfe80ULL << 48);
	gid->global.interface_id = cpu_to_be64(port_num);
	return 0;
}

static int query_pkey(struct ib_device *ib, u32 port_num, u16 index, u16 *pkey)
{
	*pkey = fake_pkeys[index];
	return 0;
}

static int process_mad(struct ib_device *device, int flags, u32 port_num, const struct ib_wc *wc,
		       const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
		       size_t *size, u16 *pkey_index)
{
	if (!wc || !fake_wire.process_mad)
		return IB_MAD_RESULT_SUCCESS;
	atomic_inc(&fake_wire.process_calls);
	return fake_wire.process_mad(wc, in, out);
}

static const struct ib_device_ops fake_ops = {
	.owner = THIS_MODULE,
	.alloc_pd = alloc_pd,
	.create_ah = create_ah,
	.create_cq = create_cq,
	.create_qp = create_qp,
	.dealloc_pd = dealloc_pd,
	.dereg_mr = dereg_mr,
	.destroy_ah = destroy_ah,
	.destroy_cq = destroy_cq,
	.destroy_qp = destroy_qp,
	.get_dma_mr = get_dma_mr,
	.get_port_immutable = get_port_immutable,
	.modify_qp = modify_qp,
	.poll_cq = poll_cq,
	.post_recv = post_recv,
	.post_send = post_send,
	.process_mad = process_mad,
	.query_ah = query_ah,
	.query_device = query_device,
	.query_gid = query_gid,
	.query_pkey = query_pkey,
	.query_port = query_port,
	.reg_user_mr = reg_user_mr,
	.req_notify_cq = req_notify_cq,
	.size_ib_ah = sizeof(struct fake_ah),
	.size_ib_cq = sizeof(struct fake_cq),
	.size_ib_pd = sizeof(struct ib_pd),
	.size_ib_qp = sizeof(struct fake_qp),
};

/**
 * fake_wire_begin() - begin a case without devices and packets
 */
void fake_wire_begin(void)
{
	memset(&fake_wire, 0, sizeof(fake_wire));
	spin_lock_init(&fake_wire.lock);
	INIT_LIST_HEAD(&fake_wire.devices);
	INIT_LIST_HEAD(&fake_wire.packets);
	INIT_LIST_HEAD(&fake_wire.held);
	INIT_WORK(&fake_wire.work, wire_work);
	init_completion(&fake_wire.stopped);
	init_completion(&fake_wire.broken);
}

/**
 * fake_wire_release() - complete the held sends, and do not hold further ones
 */
void fake_wire_release(void)
{
	struct fake_held *held, *next;

	guard(spinlock_irqsave)(&fake_wire.lock);
	fake_wire.hold = false;
	list_for_each_entry_safe(held, next, &fake_wire.held, entry) {
		complete_send_wr(held->qp, held->cqe, IB_WC_SUCCESS);
		list_del(&held->entry);
		kfree(held);
	}
}

/**
 * fake_wire_flush() - wait until every packet has arrived
 */
void fake_wire_flush(void)
{
	flush_work(&fake_wire.work);
}

static struct ib_device *add(struct kunit *test, const char *name, u32 caps, u16 lid,
			     bool is_switch)
{
	struct fake_device *device = ib_alloc_device(fake_device, ib);
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, device);
	device->ib.node_type = is_switch ? RDMA_NODE_IB_SWITCH : RDMA_NODE_IB_CA;
	device->ib.is_switch = is_switch;
	device->ib.phys_port_cnt = FAKE_PORTS;
	device->caps = caps;
	device->lid = lid;
	ib_set_device_ops(&device->ib, &fake_ops);
	scoped_guard(spinlock_irqsave, &fake_wire.lock)
		list_add_tail(&device->entry, &fake_wire.devices);
	ret = ib_register_device(&device->ib, name, NULL);
	KUNIT_ASSERT_EQ(test, ret, 0);
	return &device->ib;
}

/**
 * fake_device_add() - register a device
 * @test: fails if that is not possible
 * @name: its name
 * @caps: RDMA_CORE_* of its ports
 * @lid: LID of port 1; port 2 has the next
 *
 * Return: the device, for fake_device_remove().
 */
struct ib_device *fake_device_add(struct kunit *test, const char *name, u32 caps, u16 lid)
{
	return add(test, name, caps, lid, false);
}

/**
 * fake_switch_add() - register a switch, which has its QPs at port 0 alone
 * @test: fails if that is not possible
 * @name: its name
 * @lid: its LID
 *
 * Return: the device, for fake_device_remove().
 */
struct ib_device *fake_switch_add(struct kunit *test, const char *name, u16 lid)
{
	return add(test, name, RDMA_CORE_PORT_IBA_IB, lid, true);
}

/**
 * fake_device_remove() - unregister and free a device
 * @device: the device
 */
void fake_device_remove(struct ib_device *device)
{
	struct fake_device *fake = container_of(device, struct fake_device, ib);

	ib_unregister_device(device);
	scoped_guard(spinlock_irqsave, &fake_wire.lock)
		list_del(&fake->entry);
	fake_wire_flush();
	ib_dealloc_device(device);
}

/**
 * fake_device_break() - let a QP of a port fail, with all posted work requests
 * @device: the device
 * @port_num: the port
 * @qpn: number of the QP
 */
void fake_device_break(struct ib_device *device, u32 port_num, u32 qpn)
{
	struct fake_qp *qp = container_of(device, struct fake_device, ib)->qp[port_num][qpn];

	guard(spinlock_irqsave)(&fake_wire.lock);
	qp->state = IB_QPS_ERR;
	flush_qp(qp);
}

/**
 * fake_device_complain() - report that QP1 of a port does not work
 * @device: the device
 * @port_num: the port
 */
void fake_device_complain(struct ib_device *device, u32 port_num)
{
	struct ib_qp *qp = &container_of(device, struct fake_device, ib)->qp[port_num][1]->qp;
	struct ib_event event = {
		.device = device, .element.qp = qp, .event = IB_EVENT_QP_FATAL,
	};

	qp->event_handler(&event, qp->qp_context);
}

/**
 * fake_ah() - make an address handle by LID
 * @pd: PD, which determines the port
 * @dlid: destination LID
 *
 * Return: the address handle or an ERR_PTR.
 */
struct ib_ah *fake_ah(struct ib_pd *pd, u16 dlid)
{
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_IB };

	rdma_ah_set_port_num(&attr, 1);
	rdma_ah_set_dlid(&attr, dlid);
	return rdma_create_ah(pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
}
