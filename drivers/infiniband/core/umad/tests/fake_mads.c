// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The device of test_umad.h, and its fake MAD layer.
 */
#include <kunit/static_stub.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "test_umad.h"

/* ---- the device ---- */

static int fake_query_device(struct ib_device *ib, struct ib_device_attr *attr,
			     struct ib_udata *udata)
{
	attr->max_pkeys = 1;
	attr->kernel_cap_flags = IBK_LOCAL_DMA_LKEY;
	return 0;
}

static int fake_port_immutable(struct ib_device *ib, u32 port, struct ib_port_immutable *immutable)
{
	static const u32 caps[FAKE_PORTS + 1] = {
		[1] = RDMA_CORE_CAP_PROT_IB | RDMA_CORE_CAP_IB_MAD | RDMA_CORE_CAP_IB_SMI,
		[2] = RDMA_CORE_CAP_PROT_IB | RDMA_CORE_CAP_IB_MAD,
		[3] = RDMA_CORE_CAP_PROT_IB,
	};

	immutable->gid_tbl_len = 2;
	immutable->pkey_tbl_len = 1;
	immutable->core_cap_flags = caps[port];
	immutable->max_mad_size = caps[port] & RDMA_CORE_CAP_IB_MAD ? IB_MGMT_MAD_SIZE : 0;
	return 0;
}

static int fake_query_port(struct ib_device *ib, u32 port, struct ib_port_attr *attr)
{
	attr->state = IB_PORT_ACTIVE;
	attr->gid_tbl_len = 2;
	attr->pkey_tbl_len = 1;
	return 0;
}

/* GID INDEX of port PORT is fe80::INDEX:PORT, in words of 32 bits. */
static int fake_query_gid(struct ib_device *ib, u32 port, int index, union ib_gid *gid)
{
	gid->global.subnet_prefix = cpu_to_be64(0xfe80ULL << 48);
	gid->global.interface_id = cpu_to_be64((u64)index << 32 | port);
	return 0;
}

static int fake_query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	*pkey = IB_DEFAULT_PKEY_FULL;
	return 0;
}

static int fake_modify_port(struct ib_device *ib, u32 port, int mask, struct ib_port_modify *modify)
{
	struct fake_mads *fake = fake_of(ib);

	if (fake->modify)
		return fake->modify;
	fake->caps[port] |= modify->set_port_cap_mask;
	fake->caps[port] &= ~modify->clr_port_cap_mask;
	return 0;
}

static int fake_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int fake_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int fake_create_ah(struct ib_ah *ah, struct rdma_ah_init_attr *attr, struct ib_udata *udata)
{
	struct fake_mads *fake = fake_of(ah->device);

	if (fake->ah_answer)
		return fake->ah_answer;
	fake->ah = *attr->ah_attr;
	fake->ahs++;
	return 0;
}

static int fake_destroy_ah(struct ib_ah *ah, u32 flags)
{
	fake_of(ah->device)->ahs--;
	return 0;
}

/* Calls that a device for kernel consumers must have; the real MAD layer fails to use it. */
static struct ib_mr *fake_no_mr(struct ib_pd *pd, int access)
{
	return ERR_PTR(-EIO);
}

static struct ib_mr *fake_no_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 va, int access,
				     struct ib_udata *udata)
{
	return ERR_PTR(-EIO);
}

static int fake_dereg_mr(struct ib_mr *mr, struct ib_udata *udata)
{
	return -EIO;
}

static int fake_create_cq(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
			  struct uverbs_attr_bundle *attrs)
{
	return -EIO;
}

static int fake_destroy_cq(struct ib_cq *cq, struct ib_udata *udata)
{
	return -EIO;
}

static int fake_poll_cq(struct ib_cq *cq, int room, struct ib_wc *wc)
{
	return -EIO;
}

static int fake_req_notify(struct ib_cq *cq, enum ib_cq_notify_flags flags)
{
	return -EIO;
}

static int fake_create_qp(struct ib_qp *qp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	return -EIO;
}

static int fake_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			  struct ib_udata *udata)
{
	return -EIO;
}

static int fake_destroy_qp(struct ib_qp *qp, struct ib_udata *udata)
{
	return -EIO;
}

static int fake_no_send(struct ib_qp *qp, const struct ib_send_wr *wr,
			const struct ib_send_wr **bad)
{
	return -EIO;
}

static int fake_no_recv(struct ib_qp *qp, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad)
{
	return -EIO;
}

static const struct ib_device_ops fake_ops = {
	.owner = THIS_MODULE,
	.query_device = fake_query_device,
	.get_port_immutable = fake_port_immutable,
	.query_port = fake_query_port,
	.query_gid = fake_query_gid,
	.query_pkey = fake_query_pkey,
	.modify_port = fake_modify_port,
	.alloc_pd = fake_alloc_pd,
	.dealloc_pd = fake_dealloc_pd,
	.create_ah = fake_create_ah,
	.destroy_ah = fake_destroy_ah,
	.get_dma_mr = fake_no_mr,
	.reg_user_mr = fake_no_user_mr,
	.dereg_mr = fake_dereg_mr,
	.create_cq = fake_create_cq,
	.destroy_cq = fake_destroy_cq,
	.poll_cq = fake_poll_cq,
	.req_notify_cq = fake_req_notify,
	.create_qp = fake_create_qp,
	.modify_qp = fake_modify_qp,
	.destroy_qp = fake_destroy_qp,
	.post_send = fake_no_send,
	.post_recv = fake_no_recv,
	.size_ib_ah = sizeof(struct ib_ah),
	.size_ib_cq = sizeof(struct ib_cq),
	.size_ib_pd = sizeof(struct ib_pd),
	.size_ib_qp = sizeof(struct ib_qp),
};

/**
 * fake_mads_alloc() - make the device, not registered
 *
 * Return: the device or NULL.
 */
struct fake_mads *fake_mads_alloc(void)
{
	struct fake_mads *fake = ib_alloc_device(fake_mads, ib);

	if (!fake)
		return NULL;
	INIT_LIST_HEAD(&fake->agents);
	INIT_LIST_HEAD(&fake->sends);
	fake->ib.node_type = RDMA_NODE_IB_CA;
	fake->ib.phys_port_cnt = FAKE_PORTS;
	fake->ib.num_comp_vectors = 1;
	ib_set_device_ops(&fake->ib, &fake_ops);
	return fake;
}

/* ---- the MAD layer ---- */

static struct ib_mad_agent *play_register(struct ib_device *device, u32 port_num,
					  enum ib_qp_type qp_type, struct ib_mad_reg_req *req,
					  u8 rmpp_version, ib_mad_send_handler send_handler,
					  ib_mad_recv_handler recv_handler, void *context,
					  u32 flags)
{
	struct fake_mads *fake = fake_of(device);
	struct fake_agent *agent;

	fake->qp_type = qp_type;
	fake->rmpp_version = rmpp_version;
	fake->flags = flags;
	fake->req = req ? *req : (struct ib_mad_reg_req) {};
	if (fake->fails == FAKE_REGISTER)
		return ERR_PTR(fake->answer);
	agent = kzalloc(sizeof(*agent), GFP_KERNEL);
	if (!agent)
		return ERR_PTR(-ENOMEM);
	agent->qp.pd = ib_alloc_pd(device, 0);
	if (IS_ERR(agent->qp.pd)) {
		kfree(agent);
		return ERR_PTR(-ENOMEM);
	}
	agent->mad = (struct ib_mad_agent) {
		.device = device, .qp = &agent->qp, .recv_handler = recv_handler,
		.send_handler = send_handler, .context = context, .hi_tid = 0x1234,
		.flags = flags, .port_num = port_num, .rmpp_version = rmpp_version,
	};
	list_add_tail(&agent->entry, &fake->agents);
	return &agent->mad;
}

static void complete_send(struct fake_send *send, enum ib_wc_status status)
{
	struct ib_mad_send_wc wc = { .send_buf = &send->buf, .status = status };

	list_del(&send->entry);
	send->buf.mad_agent->send_handler(send->buf.mad_agent, &wc);
}

static void play_unregister(struct ib_mad_agent *mad)
{
	struct fake_agent *agent = container_of(mad, struct fake_agent, mad);
	struct fake_mads *fake = fake_of(mad->device);
	struct fake_send *send, *next;

	list_for_each_entry_safe(send, next, &fake->sends, entry)
		if (send->buf.mad_agent == mad)
			complete_send(send, IB_WC_WR_FLUSH_ERR);
	list_del(&agent->entry);
	ib_dealloc_pd(agent->qp.pd);
	kfree(agent);
}

static struct ib_mad_send_buf *play_create(struct ib_mad_agent *mad, u32 remote_qpn, u16 pkey_index,
					   int rmpp_active, int hdr_len, int data_len,
					   gfp_t gfp_mask, u8 base_version)
{
	struct fake_mads *fake = fake_of(mad->device);
	int seg_size = IB_MGMT_MAD_SIZE - hdr_len;
	struct fake_send *send;

	if (fake->fails == FAKE_CREATE)
		return ERR_PTR(fake->answer);
	if (!rmpp_active && data_len > seg_size)
		return ERR_PTR(-EINVAL);
	send = kzalloc(sizeof(*send) + round_up(data_len, seg_size), gfp_mask);
	if (!send)
		return ERR_PTR(-ENOMEM);
	send->qpn = remote_qpn;
	send->pkey_index = pkey_index;
	send->rmpp = rmpp_active;
	send->buf = (struct ib_mad_send_buf) {
		.mad = send->first, .mad_agent = mad, .hdr_len = hdr_len, .data_len = data_len,
		.seg_count = DIV_ROUND_UP(data_len, seg_size), .seg_size = seg_size,
	};
	fake->made_sends++;
	return &send->buf;
}

static void play_free_send(struct ib_mad_send_buf *buf)
{
	fake_of(buf->mad_agent->device)->made_sends--;
	kfree(container_of(buf, struct fake_send, buf));
}

static void *play_segment(struct ib_mad_send_buf *buf, int seg_num)
{
	struct fake_send *send = container_of(buf, struct fake_send, buf);

	return send->data + (seg_num - 1) * buf->seg_size;
}

static int play_post(struct ib_mad_send_buf *buf, struct ib_mad_send_buf **bad)
{
	struct fake_mads *fake = fake_of(buf->mad_agent->device);
	struct fake_send *send = container_of(buf, struct fake_send, buf);

	if (fake->fails == FAKE_POST)
		return fake->answer;
	list_add_tail(&send->entry, &fake->sends);
	return 0;
}

/**
 * struct fake_packet - a packet of a MAD that arrived
 * @fake: the device
 * @wc: the MAD, in its first packet
 * @cqe: its completion
 * @grh: its GRH
 * @mad: the bytes
 */
struct fake_packet {
	struct fake_mads *fake;
	struct ib_mad_recv_wc wc;
	struct ib_wc cqe;
	struct ib_grh grh;
	struct ib_mad mad;
};

static void play_free_recv(struct ib_mad_recv_wc *wc)
{
	struct fake_packet *first = container_of(wc, struct fake_packet, wc), *packet, *next;
	LIST_HEAD(packets);

	first->fake->made_recvs--;
	list_splice_init(&wc->rmpp_list, &packets);
	list_for_each_entry_safe(packet, next, &packets, wc.recv_buf.list)
		kfree(packet);
}

/**
 * fake_mads_play() - take the place of the MAD layer for the rest of a test
 * @test: the test
 */
void fake_mads_play(struct kunit *test)
{
	kunit_activate_static_stub(test, ib_register_mad_agent, play_register);
	kunit_activate_static_stub(test, ib_unregister_mad_agent, play_unregister);
	kunit_activate_static_stub(test, ib_create_send_mad, play_create);
	kunit_activate_static_stub(test, ib_free_send_mad, play_free_send);
	kunit_activate_static_stub(test, ib_get_rmpp_segment, play_segment);
	kunit_activate_static_stub(test, ib_post_send_mad, play_post);
	kunit_activate_static_stub(test, ib_free_recv_mad, play_free_recv);
}

/**
 * fake_mads_oldest() - get the oldest MAD in flight
 * @t: the test, which fails if there is none
 *
 * Return: the MAD.
 */
struct fake_send *fake_mads_oldest(struct umad_test *t)
{
	KUNIT_ASSERT_FALSE(t->test, list_empty(&t->fake->sends));
	return list_first_entry(&t->fake->sends, struct fake_send, entry);
}

/**
 * fake_mads_complete() - complete a send
 * @t: the test
 * @send: the send
 * @status: status of its completion
 */
void fake_mads_complete(struct umad_test *t, struct fake_send *send, enum ib_wc_status status)
{
	complete_send(send, status);
}

static struct fake_packet *new_packet(struct fake_mads *fake, u8 mgmt_class, int number)
{
	struct fake_packet *packet = kzalloc(sizeof(*packet), GFP_KERNEL);

	if (!packet)
		return NULL;
	packet->fake = fake;
	packet->wc.recv_buf.mad = &packet->mad;
	packet->wc.recv_buf.grh = &packet->grh;
	memset(&packet->mad, number, sizeof(packet->mad));
	packet->mad.mad_hdr.mgmt_class = mgmt_class;
	return packet;
}

/**
 * fake_mads_mad() - make a MAD that arrives
 * @fake: the device
 * @mgmt_class: its class
 * @len: its length, in which the heads of its packets count once; packet N, counted from 0,
 *	consists of bytes of value N
 *
 * Return: the MAD, from QP 5 and LID 7, to be given to fake_mads_receive(), or NULL.
 */
struct ib_mad_recv_wc *fake_mads_mad(struct fake_mads *fake, u8 mgmt_class, int len)
{
	int seg_size = IB_MGMT_MAD_SIZE - ib_get_mad_data_offset(mgmt_class);
	struct fake_packet *first = new_packet(fake, mgmt_class, 0), *packet;
	int number = 1;

	if (!first)
		return NULL;
	first->cqe = (struct ib_wc) {
		.status = IB_WC_SUCCESS, .src_qp = 5, .slid = 7, .sl = 3, .pkey_index = 2,
		.dlid_path_bits = 1, .port_num = 1,
	};
	first->wc.wc = &first->cqe;
	first->wc.mad_len = len;
	first->wc.mad_seg_size = IB_MGMT_MAD_SIZE;
	INIT_LIST_HEAD(&first->wc.rmpp_list);
	list_add_tail(&first->wc.recv_buf.list, &first->wc.rmpp_list);
	fake->made_recvs++;
	for (int left = len - IB_MGMT_MAD_SIZE; left > 0; left -= seg_size) {
		packet = new_packet(fake, mgmt_class, number++);
		if (!packet) {
			play_free_recv(&first->wc);
			return NULL;
		}
		list_add_tail(&packet->wc.recv_buf.list, &first->wc.rmpp_list);
	}
	return &first->wc;
}

/**
 * fake_mads_receive() - call an agent's receive handler
 * @t: the test
 * @id: number of the agent
 * @wc: the MAD
 */
void fake_mads_receive(struct umad_test *t, u32 id, struct ib_mad_recv_wc *wc)
{
	struct ib_mad_agent *mad = ut_file(t)->agents[id].mad;

	KUNIT_ASSERT_NOT_NULL(t->test, mad);
	KUNIT_ASSERT_NOT_NULL(t->test, wc);
	mad->recv_handler(mad, NULL, wc);
}
