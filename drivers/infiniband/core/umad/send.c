// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * MADs that programs send.
 *
 * Two sends of a file may not be in flight with the same transaction ID, since the response would
 * be ambiguous.  A program that does RMPP itself is an exception: the packets of its message share
 * one.
 */
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "trace.h"
#include "umad.h"

/* Does the MAD layer segment and reassemble long messages (RMPP) for this agent? */
static bool kernel_rmpp(const struct ib_mad_agent *mad, const struct umad_head *head)
{
	return ib_is_mad_class_rmpp(head->mad.mgmt_class) && ib_mad_kernel_rmpp_agent(mad);
}

/* Is this an RMPP packet? */
static bool is_rmpp(const struct umad_head *head)
{
	return ib_is_mad_class_rmpp(head->mad.mgmt_class) &&
	       FIELD_GET(IB_RMPP_FLAGS, head->rmpp.rmpp_rtime_flags) & IB_MGMT_RMPP_FLAG_ACTIVE;
}

/* ---- sends in flight ---- */

static int compare_destinations(const struct ib_user_mad_hdr *one,
				const struct ib_user_mad_hdr *other)
{
	u16 lid = be16_to_cpu(one->lid), other_lid = be16_to_cpu(other->lid);

	if (!one->grh_present != !other->grh_present)
		return one->grh_present ? 1 : -1;
	if (one->grh_present)
		return memcmp(one->gid, other->gid, sizeof(one->gid));
	return lid < other_lid ? -1 : lid > other_lid;
}

static u64 tid_of(const struct ib_umad_packet *packet)
{
	return be64_to_cpu(packet->head.mad.tid);
}

/*
 * Requests of one class need different transaction IDs, whatever their destinations.  Responses
 * have those of their peers, which may be the same for different peers.
 */
static int compare_transactions(const struct ib_umad_packet *one,
				const struct ib_umad_packet *other)
{
	const struct ib_mad_hdr *mad = &one->head.mad, *other_mad = &other->head.mad;
	bool response = ib_response_mad(mad);

	if (mad->tid != other_mad->tid)
		return tid_of(one) < tid_of(other) ? -1 : 1;
	if (mad->mgmt_class != other_mad->mgmt_class)
		return mad->mgmt_class < other_mad->mgmt_class ? -1 : 1;
	if (response != !!ib_response_mad(other_mad))
		return response ? 1 : -1;
	return response ? compare_destinations(&one->hdr, &other->hdr) : 0;
}

static struct ib_umad_packet *packet_of(const struct rb_node *node)
{
	return rb_entry(node, struct ib_umad_packet, transaction);
}

static int compare_key(const void *packet, const struct rb_node *node)
{
	return compare_transactions(packet, packet_of(node));
}

static bool is_less(struct rb_node *node, const struct rb_node *other)
{
	return compare_transactions(packet_of(node), packet_of(other)) < 0;
}

/*
 * The program chooses what is compared here, so the sends are kept in a tree: what it chooses does
 * not make the search longer, which runs with interrupts disabled.
 */
static int begin_send(struct ib_umad_file *file, struct ib_umad_packet *packet, bool may_repeat)
{
	guard(spinlock_irq)(&file->lock);
	if (file->asked >= UMAD_MOST)
		return rdma_refuse(-ENOBUFS, "%u sends are under way or timed out unread",
				   file->asked);
	if (!may_repeat && rb_find(packet, &file->sends, compare_key))
		return rdma_refuse(-EINVAL, "transaction %#llx is under way", tid_of(packet));
	rb_add(&packet->transaction, &file->sends, is_less);
	file->asked++;
	return 0;
}

static void end_send(struct ib_umad_file *file, struct ib_umad_packet *packet)
{
	guard(spinlock_irq)(&file->lock);
	rb_erase(&packet->transaction, &file->sends);
}

/**
 * umad_sent() - send handler of the agents
 * @mad: the agent
 * @wc: the send and its status
 *
 * Only requests that timed out are reported to the program.
 *
 * Context: may sleep.
 */
void umad_sent(struct ib_mad_agent *mad, struct ib_mad_send_wc *wc)
{
	struct ib_umad_packet *packet = wc->send_buf->context[0];
	struct umad_agent *agent = mad->context;

	end_send(agent->file, packet);
	rdma_destroy_ah(packet->msg->ah, RDMA_DESTROY_AH_SLEEPABLE);
	ib_free_send_mad(packet->msg);
	if (wc->status == IB_WC_RESP_TIMEOUT_ERR)
		umad_timed_out(agent->file, packet);
	else
		umad_packet_free(agent->file, packet);
}

/* ---- building the MAD ---- */

static struct ib_ah *make_ah(struct ib_mad_agent *mad, struct ib_user_mad_hdr *hdr)
{
	struct rdma_ah_attr attr = { .type = rdma_ah_find_type(mad->device, mad->port_num) };

	rdma_ah_set_port_num(&attr, mad->port_num);
	rdma_ah_set_dlid(&attr, be16_to_cpu(hdr->lid));
	rdma_ah_set_path_bits(&attr, hdr->path_bits);
	rdma_ah_set_sl(&attr, hdr->sl);
	if (hdr->grh_present) {
		rdma_ah_set_grh(&attr, NULL, be32_to_cpu(hdr->flow_label), hdr->gid_index,
				hdr->hop_limit, hdr->traffic_class);
		rdma_ah_set_dgid_raw(&attr, hdr->gid);
	}
	return rdma_create_user_ah(mad->qp->pd, &attr, NULL);
}

/*
 * Spreads the data of a long message over packets, each of which gets the head of the first one.
 */
static void fill_segments(struct ib_mad_send_buf *msg, const u8 *mad)
{
	int left = msg->data_len;

	memcpy(msg->mad + IB_MGMT_RMPP_HDR, mad + IB_MGMT_RMPP_HDR,
	       msg->hdr_len - IB_MGMT_RMPP_HDR);
	mad += msg->hdr_len;
	for (int seg = 1; left > 0; seg++) {
		int len = min(left, msg->seg_size);

		memcpy(ib_get_rmpp_segment(msg, seg), mad, len);
		mad += len;
		left -= len;
	}
}

/*
 * Fills in a MAD.  The upper half of a request's transaction ID is the agent's hi_tid, by which the
 * response finds the agent.  If the MAD layer does RMPP, only the flag ACTIVE of the program's RMPP
 * header is used.
 */
static void fill(struct ib_umad_packet *packet, const u8 *mad, bool rmpp, bool active)
{
	int from = rmpp ? IB_MGMT_RMPP_HDR : IB_MGMT_MAD_HDR;
	struct ib_mad_hdr *hdr = &packet->head.mad;
	struct ib_mad_send_buf *msg = packet->msg;
	u32 hi_tid = msg->mad_agent->hi_tid;

	if (!ib_response_mad(hdr))
		hdr->tid = cpu_to_be64((u64)hi_tid << 32 | lower_32_bits(be64_to_cpu(hdr->tid)));
	memcpy(msg->mad, hdr, sizeof(*hdr));
	if (active)
		fill_segments(msg, mad);
	else
		memcpy(msg->mad + from, mad + from, msg->hdr_len + msg->data_len - from);
}

static struct ib_mad_send_buf *make_msg(struct ib_mad_agent *mad, struct ib_umad_packet *packet,
					bool active, size_t count)
{
	int hdr_len = ib_get_mad_data_offset(packet->head.mad.mgmt_class);

	if (count < hdr_len)
		return ERR_PTR(rdma_refuse(-EINVAL, "a MAD of class %#x has %d bytes at least",
					   packet->head.mad.mgmt_class, hdr_len));
	return ib_create_send_mad(mad, be32_to_cpu(packet->hdr.qpn), packet->hdr.pkey_index, active,
				  hdr_len, count - hdr_len, GFP_KERNEL_ACCOUNT,
				  packet->head.mad.base_version);
}

/* Sends a packet, whose header and head were filled in.  @mad is the whole MAD of @count bytes. */
static int send_packet(struct ib_umad_file *file, struct ib_mad_agent *agent,
		       struct ib_umad_packet *packet, const u8 *mad, size_t count)
{
	bool rmpp = kernel_rmpp(agent, &packet->head), active = rmpp && is_rmpp(&packet->head);
	struct ib_mad_send_buf *msg;
	struct ib_ah *ah;
	int ret;

	ah = make_ah(agent, &packet->hdr);
	if (IS_ERR(ah))
		return PTR_ERR(ah);
	msg = make_msg(agent, packet, active, count);
	if (IS_ERR(msg)) {
		ret = PTR_ERR(msg);
		goto err_ah;
	}
	packet->msg = msg;
	msg->ah = ah;
	msg->timeout_ms = packet->hdr.timeout_ms;
	msg->retries = packet->hdr.retries;
	msg->context[0] = packet;
	fill(packet, mad, rmpp, active);
	ret = begin_send(file, packet, !rmpp && is_rmpp(&packet->head));
	if (ret)
		goto err_msg;
	ret = ib_post_send_mad(msg, NULL);
	if (ret)
		goto err_send;
	return 0;

err_send:
	end_send(file, packet);
	umad_send_forget(file);
err_msg:
	ib_free_send_mad(msg);
err_ah:
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	return ret;
}

/* Copies the MAD behind a header, to be freed with kvfree(), and its head to @head. */
static u8 *copy_mad(const char __user *buf, size_t count, struct umad_head *head)
{
	u8 *mad;

	if (count > INT_MAX)
		return ERR_PTR(rdma_refuse(-EINVAL, "%zu bytes are no MAD", count));
	/* A program may choose a length that cannot be allocated, which needs no warning. */
	mad = kvmalloc(count, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!mad)
		return ERR_PTR(-ENOMEM);
	if (copy_from_user(mad, buf, count)) {
		kvfree(mad);
		return ERR_PTR(rdma_refuse(-EFAULT, "the MAD cannot be read"));
	}
	memcpy(head, mad, IB_MGMT_RMPP_HDR);
	return mad;
}

/* Sends a MAD that was copied from user memory as the agent that its header names. */
static int send_by_number(struct ib_umad_file *file, struct ib_umad_packet *packet, const u8 *mad,
			  size_t count)
{
	struct umad_agent *agent;

	if (packet->hdr.id >= UMAD_AGENTS)
		return rdma_refuse(-EINVAL, "id %u: agents have numbers below %u", packet->hdr.id,
				   UMAD_AGENTS);
	guard(mutex)(&file->mutex);
	trace_ib_umad_write(file, &packet->hdr, &packet->head.mad);
	agent = &file->agents[array_index_nospec(packet->hdr.id, UMAD_AGENTS)];
	if (!agent->mad)
		return rdma_refuse(-EIO, "there is no agent %u", packet->hdr.id);
	return send_packet(file, agent->mad, packet, mad, count);
}

/**
 * umad_send() - send a MAD
 * @file: the file
 * @buf: a header, old or new as the file uses it, and the MAD
 * @count: bytes of both
 *
 * Return: @count; -EINVAL for a wrong length, an agent's number that is too large, or a transaction
 * ID that is in flight; -EIO for an agent that is not registered, also after removal of the device;
 * -ENOBUFS with UMAD_MOST sends in flight or timed out unread; -EFAULT, -ENOMEM; an error of the
 * MAD layer, or of rdma_create_user_ah().
 */
ssize_t umad_send(struct ib_umad_file *file, const char __user *buf, size_t count)
{
	size_t hdr_size = umad_hdr_size(file), len = count - hdr_size;
	struct ib_umad_packet *packet;
	u8 *mad;
	int ret;

	if (count < hdr_size + IB_MGMT_RMPP_HDR)
		return rdma_refuse(-EINVAL, "%zu bytes, at least %zu are needed", count,
				   hdr_size + IB_MGMT_RMPP_HDR);
	packet = kzalloc(sizeof(*packet), GFP_KERNEL_ACCOUNT);
	if (!packet)
		return -ENOMEM;
	if (copy_from_user(&packet->hdr, buf, hdr_size)) {
		ret = rdma_refuse(-EFAULT, "the header cannot be read");
		goto err_packet;
	}
	mad = copy_mad(buf + hdr_size, len, &packet->head);
	if (IS_ERR(mad)) {
		ret = PTR_ERR(mad);
		goto err_packet;
	}
	ret = send_by_number(file, packet, mad, len);
	kvfree(mad);
	if (!ret)
		return count;

err_packet:
	kfree(packet);
	return ret;
}
