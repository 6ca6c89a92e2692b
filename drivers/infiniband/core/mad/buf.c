// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Buffers of MADs to be sent and of received MADs, and the layouts of their classes.
 */
#include <kunit/static_stub.h>
#include <kunit/visibility.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "mad_priv.h"

/* Classes with an RMPP header, and where their data begins. */
static const struct {
	u8 first, last;
	u8 offset;
} rmpp_classes[] = {
	{ IB_MGMT_CLASS_SUBN_ADM, IB_MGMT_CLASS_SUBN_ADM, IB_MGMT_SA_HDR },
	{ IB_MGMT_CLASS_DEVICE_MGMT, IB_MGMT_CLASS_DEVICE_MGMT, IB_MGMT_DEVICE_HDR },
	{ IB_MGMT_CLASS_DEVICE_ADM, IB_MGMT_CLASS_DEVICE_ADM, IB_MGMT_DEVICE_HDR },
	{ IB_MGMT_CLASS_BIS, IB_MGMT_CLASS_BIS, IB_MGMT_DEVICE_HDR },
	{ IB_MGMT_CLASS_VENDOR_RANGE2_START, IB_MGMT_CLASS_VENDOR_RANGE2_END, IB_MGMT_VENDOR_HDR },
};

static u8 rmpp_class_offset(u8 mgmt_class)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(rmpp_classes); i++)
		if (mgmt_class >= rmpp_classes[i].first && mgmt_class <= rmpp_classes[i].last)
			return rmpp_classes[i].offset;
	return 0;
}

/**
 * ib_is_mad_class_rmpp() - do MADs of this class have an RMPP header?
 * @mgmt_class: class
 *
 * Context: any.
 * Return: 1 or 0.
 */
int ib_is_mad_class_rmpp(u8 mgmt_class)
{
	return !!rmpp_class_offset(mgmt_class);
}
EXPORT_SYMBOL(ib_is_mad_class_rmpp);

/**
 * ib_get_mad_data_offset() - get the offset of the data of a MAD
 * @mgmt_class: class
 *
 * Context: any.
 * Return: the length of all headers in bytes.
 */
int ib_get_mad_data_offset(u8 mgmt_class)
{
	return rmpp_class_offset(mgmt_class) ?: IB_MGMT_MAD_HDR;
}
EXPORT_SYMBOL(ib_get_mad_data_offset);

/**
 * ib_response_mad() - is a MAD a response?
 * @hdr: its header
 *
 * Context: any.
 * Return: 1 if its TID is that of a request, which its receiver has sent; else 0.
 */
int ib_response_mad(const struct ib_mad_hdr *hdr)
{
	return hdr->method & IB_MGMT_METHOD_RESP ||
	       hdr->method == IB_MGMT_METHOD_TRAP_REPRESS ||
	       (hdr->mgmt_class == IB_MGMT_CLASS_BM && hdr->attr_mod & IB_BM_ATTR_MOD_RESP);
}
EXPORT_SYMBOL(ib_response_mad);

/**
 * ib_mad_kernel_rmpp_agent() - does the core run RMPP for an agent?
 * @agent: agent
 *
 * Context: any.
 * Return: 1 if so, 0 if it does not use RMPP or does it itself.
 */
int ib_mad_kernel_rmpp_agent(const struct ib_mad_agent *agent)
{
	return agent->rmpp_version && !(agent->flags & IB_MAD_USER_RMPP);
}
EXPORT_SYMBOL(ib_mad_kernel_rmpp_agent);

static void free_segments(struct mad_send *send)
{
	struct mad_segment *segment, *next;

	list_for_each_entry_safe(segment, next, &send->segs, entry)
		kfree(segment);
}

/* The segments are cleared, so that the padding of the last one is. */
static int make_segments(struct mad_send *send, int data_len, gfp_t gfp)
{
	struct ib_mad_send_buf *buf = &send->buf;
	struct ib_rmpp_hdr *rmpp = send_rmpp(send);
	struct mad_segment *segment;

	buf->seg_count = max(1, DIV_ROUND_UP(data_len, buf->seg_size));
	send->pad = buf->seg_count * buf->seg_size - data_len;
	for (u32 num = 1; num <= buf->seg_count; num++) {
		segment = kzalloc(struct_size(segment, data, buf->seg_size), gfp);
		if (!segment)
			return -ENOMEM;
		segment->num = num;
		list_add_tail(&segment->entry, &send->segs);
	}
	rmpp->rmpp_version = send->agent->agent.rmpp_version;
	rmpp->rmpp_type = IB_MGMT_RMPP_TYPE_DATA;
	ib_set_rmpp_flags(rmpp, IB_MGMT_RMPP_FLAG_ACTIVE);
	send->segment = list_first_entry(&send->segs, struct mad_segment, entry);
	return 0;
}

/**
 * mad_send_alloc() - allocate a buffer to send
 * @agent: agent that sends it
 * @remote_qpn: QP number of the destination
 * @pkey_index: index of the P_Key
 * @rmpp: send it as an RMPP message of one or more segments
 * @hdr_len: bytes of the headers
 * @data_len: bytes after them
 * @gfp: how memory may be allocated
 * @base_version: IB_MGMT_BASE_VERSION, or OPA_MGMT_BASE_VERSION for large MADs
 *
 * Context: as @gfp.
 * Return: the buffer, with a reference to its agent; -EINVAL, -ENOMEM as an ERR_PTR.
 */
struct mad_send *mad_send_alloc(struct mad_agent *agent, u32 remote_qpn, u16 pkey_index,
				bool rmpp, int hdr_len, int data_len, gfp_t gfp, u8 base_version)
{
	int size = mad_size(agent->port, base_version);
	struct mad_send *send;

	/* No length overflows, not even that of the headers and all segments. */
	if (hdr_len < IB_MGMT_MAD_HDR || hdr_len >= size || data_len < 0 ||
	    data_len > INT_MAX - size)
		return ERR_PTR(-EINVAL);
	if (rmpp ? !ib_mad_kernel_rmpp_agent(&agent->agent) || hdr_len < IB_MGMT_RMPP_HDR :
		   hdr_len + data_len > size)
		return ERR_PTR(-EINVAL);
	send = kzalloc(struct_size(send, mad, rmpp ? hdr_len : size), gfp);
	if (!send)
		return ERR_PTR(-ENOMEM);

	INIT_LIST_HEAD(&send->segs);
	INIT_LIST_HEAD(&send->entry);
	INIT_LIST_HEAD(&send->queue);
	timerqueue_init(&send->timer.node);
	send->agent = agent;
	send->size = size;
	send->wr = (struct ib_ud_wr) {
		.wr = {
			.wr_cqe = &send->cqe,
			.sg_list = send->sge,
			.num_sge = rmpp ? 2 : 1,
			.opcode = IB_WR_SEND,
			.send_flags = IB_SEND_SIGNALED,
		},
		.remote_qpn = remote_qpn,
		.remote_qkey = agent->port->service ? agent->port->qkey : IB_QP_SET_QKEY,
		.pkey_index = agent->port->service ? agent->port->pkey_index : pkey_index,
		.port_num = agent->port->port_num,
	};
	send->buf = (struct ib_mad_send_buf) {
		.mad = send->mad,
		.mad_agent = &agent->agent,
		.hdr_len = hdr_len,
		.data_len = data_len,
		.seg_size = size - hdr_len,
		.seg_rmpp_size = size - IB_MGMT_RMPP_HDR,
	};
	if (rmpp && make_segments(send, data_len, gfp)) {
		free_segments(send);
		kfree(send);
		return ERR_PTR(-ENOMEM);
	}
	refcount_inc(&agent->refs);
	return send;
}

/**
 * mad_send_free() - free a buffer
 * @send: buffer that is not posted
 *
 * Context: any.
 */
void mad_send_free(struct mad_send *send)
{
	struct mad_agent *agent = send->agent;

	free_segments(send);
	kfree(send);
	mad_agent_put(agent);
}

/**
 * mad_send_load() - fill in a buffer's head for one of its segments
 * @send: message that is in no queue
 * @num: number of the segment
 *
 * The first header has the length of the message, the last that of its segment; the headers after
 * that of RMPP are counted with each segment.
 */
void mad_send_load(struct mad_send *send, u32 num)
{
	const struct ib_mad_send_buf *buf = &send->buf;
	struct ib_rmpp_hdr *rmpp = send_rmpp(send);
	u8 flags = IB_MGMT_RMPP_FLAG_ACTIVE;
	u32 len = 0;

	while (send->segment->num < num)
		send->segment = list_next_entry(send->segment, entry);
	while (send->segment->num > num)
		send->segment = list_prev_entry(send->segment, entry);
	if (num == 1) {
		flags |= IB_MGMT_RMPP_FLAG_FIRST;
		len = buf->seg_count * buf->seg_rmpp_size - send->pad;
	}
	if (num == buf->seg_count) {
		flags |= IB_MGMT_RMPP_FLAG_LAST;
		len = buf->seg_rmpp_size - send->pad;
	}
	ib_set_rmpp_flags(rmpp, flags);
	rmpp->seg_num = cpu_to_be32(num);
	rmpp->paylen_newwin = cpu_to_be32(len);
}

/**
 * ib_create_send_mad() - allocate a buffer to send
 * @mad_agent: agent that will send it
 * @remote_qpn: QP number of the destination: 0, 1, or a QP to which a class is redirected
 * @pkey_index: P_Key, by its index in the port's table
 * @rmpp_active: not 0 if the core is to divide it into segments; only for agents with RMPP of the
 *	core
 * @hdr_len: bytes of all headers
 * @data_len: bytes after them
 * @gfp_mask: how memory may be allocated
 * @base_version: version of the MAD, which determines its size
 *
 * The buffer is cleared. Its owner sets @ah, @timeout_ms, @retries and @context, and fills in what
 * ->mad points to: all of it, or, of a message in segments, the headers, and ib_get_rmpp_segment()
 * the data.
 *
 * Context: as @gfp_mask.
 * Return: the buffer, to be freed with ib_free_send_mad(); -EINVAL for lengths that do not fit;
 * -ENOMEM.
 */
struct ib_mad_send_buf *ib_create_send_mad(struct ib_mad_agent *mad_agent, u32 remote_qpn,
					   u16 pkey_index, int rmpp_active, int hdr_len,
					   int data_len, gfp_t gfp_mask, u8 base_version)
{
	struct mad_send *send;

	KUNIT_STATIC_STUB_REDIRECT(ib_create_send_mad, mad_agent, remote_qpn, pkey_index,
				   rmpp_active, hdr_len, data_len, gfp_mask, base_version);
	send = mad_send_alloc(to_mad_agent(mad_agent), remote_qpn, pkey_index, rmpp_active,
			      hdr_len, data_len, gfp_mask, base_version);
	return IS_ERR(send) ? ERR_CAST(send) : &send->buf;
}
EXPORT_SYMBOL(ib_create_send_mad);

/**
 * ib_free_send_mad() - free a buffer
 * @send_buf: buffer that was not posted, or whose send handler has been called
 *
 * Context: any.
 */
void ib_free_send_mad(struct ib_mad_send_buf *send_buf)
{
	KUNIT_STATIC_STUB_REDIRECT(ib_free_send_mad, send_buf);
	mad_send_free(to_mad_send(send_buf));
}
EXPORT_SYMBOL(ib_free_send_mad);

/**
 * ib_get_rmpp_segment() - get the data of a segment
 * @send_buf: buffer of a message in segments that is not posted
 * @seg_num: number of the segment, from 1 to @send_buf->seg_count
 *
 * It is fast if segments are requested in order.
 *
 * Context: any; one caller at a time.
 * Return: @send_buf->seg_size bytes; NULL if there is no such segment.
 */
void *ib_get_rmpp_segment(struct ib_mad_send_buf *send_buf, int seg_num)
{
	struct mad_send *send = to_mad_send(send_buf);

	KUNIT_STATIC_STUB_REDIRECT(ib_get_rmpp_segment, send_buf, seg_num);
	if (seg_num < 1 || seg_num > send_buf->seg_count)
		return NULL;
	while (send->segment->num < seg_num)
		send->segment = list_next_entry(send->segment, entry);
	while (send->segment->num > seg_num)
		send->segment = list_prev_entry(send->segment, entry);
	return send->segment->data;
}
EXPORT_SYMBOL(ib_get_rmpp_segment);

/**
 * mad_recv_alloc() - allocate a buffer for a received MAD
 * @port: port
 * @gfp: how memory may be allocated
 *
 * Context: as @gfp.
 * Return: the buffer, to be freed with mad_recv_free() or ib_free_recv_mad(); or NULL.
 */
struct mad_recv *mad_recv_alloc(struct mad_port *port, gfp_t gfp)
{
	size_t size = port->opa ? OPA_MGMT_MAD_SIZE : IB_MGMT_MAD_SIZE;
	struct mad_recv *recv;

	KUNIT_STATIC_STUB_REDIRECT(mad_recv_alloc, port, gfp);
	recv = kzalloc(struct_size(recv, mad, size), gfp);
	if (!recv)
		return NULL;
	recv->size = size;
	recv->rwc.wc = &recv->wc;
	recv->rwc.recv_buf.grh = &recv->grh;
	recv->rwc.recv_buf.mad = (struct ib_mad *)recv->mad;
	INIT_LIST_HEAD(&recv->rwc.rmpp_list);
	list_add(&recv->rwc.recv_buf.list, &recv->rwc.rmpp_list);
	return recv;
}
EXPORT_SYMBOL_IF_KUNIT(mad_recv_alloc);

/**
 * mad_recv_free() - free a buffer
 * @recv: the only packet of its MAD
 */
void mad_recv_free(struct mad_recv *recv)
{
	kfree(recv);
}

/**
 * ib_free_recv_mad() - free a MAD that was received
 * @mad_recv_wc: argument of the receive handler
 *
 * Context: any; the agent may be unregistered.
 */
void ib_free_recv_mad(struct ib_mad_recv_wc *mad_recv_wc)
{
	struct ib_mad_recv_buf *buf, *next;
	LIST_HEAD(packets);

	KUNIT_STATIC_STUB_REDIRECT(ib_free_recv_mad, mad_recv_wc);
	/* The list's head is in one of the packets. */
	list_splice_init(&mad_recv_wc->rmpp_list, &packets);
	list_for_each_entry_safe(buf, next, &packets, list)
		mad_recv_free(to_mad_recv(buf));
}
EXPORT_SYMBOL(ib_free_recv_mad);
