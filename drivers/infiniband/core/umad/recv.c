// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * MADs that programs read: those that arrived, and requests of their own that timed out.
 */
#include <linux/math.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <rdma/rdma_ext.h>

#include "trace.h"
#include "umad.h"

/**
 * umad_send_forget() - stop counting a send
 * @file: its file; processes that wait for room to send are woken
 */
void umad_send_forget(struct ib_umad_file *file)
{
	bool was_full;

	scoped_guard(spinlock_irq, &file->lock)
		was_full = file->asked-- >= UMAD_MOST;
	if (was_full)
		wake_up_interruptible(&file->wait);
}

/**
 * umad_packet_free() - free a packet that is in no list
 * @file: its file, in whose counts it is included
 * @packet: the packet; if it was sent, the send handler has been called
 */
void umad_packet_free(struct ib_umad_file *file, struct ib_umad_packet *packet)
{
	if (packet->recv_wc) {
		scoped_guard(spinlock_irq, &file->lock)
			file->kept -= packet->charge;
		ib_free_recv_mad(packet->recv_wc);
	} else {
		umad_send_forget(file);
	}
	kfree(packet);
}

/* ---- MADs to be read ---- */

/* Queues a MAD that arrived.  False if the file is dead, or has too many unread MADs. */
static bool keep_received(struct ib_umad_file *file, struct ib_umad_packet *packet)
{
	scoped_guard(spinlock_irq, &file->lock) {
		if (file->dead || file->kept >= UMAD_MOST)
			return false;
		file->kept += packet->charge;
		list_add_tail(&packet->entry, &file->unread);
	}
	wake_up_interruptible(&file->wait);
	return true;
}

/**
 * umad_timed_out() - queue a request without a response for reading
 * @file: its file
 * @packet: the request, whose retries have ended
 *
 * The program reads it with status ETIMEDOUT and the head of the MAD that was sent.
 */
void umad_timed_out(struct ib_umad_file *file, struct ib_umad_packet *packet)
{
	bool dead;

	packet->length = IB_MGMT_MAD_HDR;
	packet->hdr.status = ETIMEDOUT;
	scoped_guard(spinlock_irq, &file->lock) {
		dead = file->dead;
		if (!dead)
			list_add_tail(&packet->entry, &file->unread);
	}
	if (dead)
		umad_packet_free(file, packet);
	else
		wake_up_interruptible(&file->wait);
}

/*
 * Takes the sender's address from the completion and, if there is one, the GRH. MADs of a port are
 * received one after the other, so this must not wait for the network. The Ethernet address of a
 * RoCE peer is not reported to the program, and is resolved when the program replies.
 */
static int fill_address(struct ib_user_mad_hdr *hdr, struct ib_mad_agent *mad,
			const struct ib_mad_recv_wc *recv_wc)
{
	const struct ib_wc *wc = recv_wc->wc;
	const struct ib_global_route *grh;
	struct rdma_ah_attr attr;
	int ret;

	hdr->qpn = cpu_to_be32(wc->src_qp);
	hdr->lid = cpu_to_be16(lower_16_bits(wc->slid));
	hdr->sl = wc->sl;
	hdr->path_bits = wc->dlid_path_bits;
	hdr->pkey_index = wc->pkey_index;
	hdr->grh_present = !!(wc->wc_flags & IB_WC_GRH);
	if (!hdr->grh_present)
		return 0;

	ret = rdma_wc_sender(mad->device, mad->port_num, wc, recv_wc->recv_buf.grh, &attr);
	if (ret)
		return ret;
	grh = rdma_ah_read_grh(&attr);
	hdr->gid_index = grh->sgid_index;
	hdr->hop_limit = grh->hop_limit;
	hdr->traffic_class = grh->traffic_class;
	hdr->flow_label = cpu_to_be32(grh->flow_label);
	memcpy(hdr->gid, grh->dgid.raw, sizeof(hdr->gid));
	rdma_destroy_ah_attr(&attr);
	return 0;
}

/**
 * umad_received() - receive handler of the agents
 * @mad: the agent
 * @sent: unused: the program finds its request by the transaction ID
 * @recv_wc: the MAD
 *
 * Context: may sleep, but does not wait for replies from the network.
 */
void umad_received(struct ib_mad_agent *mad, struct ib_mad_send_buf *sent,
		   struct ib_mad_recv_wc *recv_wc)
{
	struct umad_agent *agent = mad->context;
	struct ib_umad_packet *packet;

	if (recv_wc->wc->status != IB_WC_SUCCESS)
		goto free;
	packet = kzalloc(sizeof(*packet), GFP_KERNEL);
	if (!packet)
		goto drop;
	packet->recv_wc = recv_wc;
	packet->length = recv_wc->mad_len;
	packet->charge = DIV_ROUND_UP(recv_wc->mad_len, recv_wc->mad_seg_size);
	packet->hdr.id = umad_agent_id(agent);
	packet->hdr.length = umad_hdr_size(agent->file) + recv_wc->mad_len;
	if (fill_address(&packet->hdr, mad, recv_wc))
		goto drop_packet;
	if (keep_received(agent->file, packet))
		return;

drop_packet:
	kfree(packet);
drop:
	scoped_guard(spinlock_irq, &agent->file->lock)
		agent->file->dropped++;
free:
	ib_free_recv_mad(recv_wc);
}

/* ---- reading ---- */

/* Takes the oldest packet off the list; the file's counts include it until it is freed. */
static struct ib_umad_packet *take_unread(struct ib_umad_file *file, bool may_wait)
{
	struct ib_umad_packet *packet;

	guard(spinlock_irq)(&file->lock);
	while (!file->dead && list_empty(&file->unread)) {
		if (!may_wait)
			return ERR_PTR(-EAGAIN);
		if (wait_event_interruptible_lock_irq(file->wait,
						      file->dead || !list_empty(&file->unread),
						      file->lock))
			return ERR_PTR(-ERESTARTSYS);
	}
	if (file->dead)
		return ERR_PTR(rdma_refuse(-EIO, "the device is removed"));
	packet = list_first_entry(&file->unread, struct ib_umad_packet, entry);
	list_del(&packet->entry);
	return packet;
}

/* Puts a packet that could not be copied back at the head of the list. */
static void put_unread(struct ib_umad_file *file, struct ib_umad_packet *packet)
{
	bool dead;

	scoped_guard(spinlock_irq, &file->lock) {
		dead = file->dead;
		if (!dead)
			list_add(&packet->entry, &file->unread);
	}
	if (dead)
		umad_packet_free(file, packet);
	else
		wake_up_interruptible(&file->wait);
}

/*
 * Copies a MAD that arrived, which may consist of several packets.  The heads of all packets but
 * the first are left out.  A reader without room for all of a long MAD gets its first packet and
 * the header, which has the length.
 */
static ssize_t give_received(struct ib_umad_file *file, struct ib_umad_packet *packet,
			     char __user *buf, size_t count)
{
	struct ib_mad_recv_buf *seg = &packet->recv_wc->recv_buf;
	int seg_size = packet->recv_wc->mad_seg_size, from = 0;
	int len = min(packet->length, seg_size), left = packet->length;
	size_t hdr_size = umad_hdr_size(file), size = hdr_size + packet->length;

	if (count < hdr_size + len)
		return rdma_refuse(-EINVAL, "room for %zu bytes, MAD and header have %zu",
				   count, size);
	if (copy_to_user(buf, &packet->hdr, hdr_size))
		return rdma_refuse(-EFAULT, "the header cannot be written");
	buf += hdr_size;
	for (;;) {
		if (copy_to_user(buf, (u8 *)seg->mad + from, len))
			return rdma_refuse(-EFAULT, "the MAD cannot be written");
		buf += len;
		left -= len;
		if (!left)
			break;
		if (count < size)
			return rdma_refuse(-ENOSPC, "room for %zu bytes, MAD and header have %zu",
					   count, size);
		from = ib_get_mad_data_offset(packet->recv_wc->recv_buf.mad->mad_hdr.mgmt_class);
		len = min(left, seg_size - from);
		seg = list_next_entry(seg, list);
	}
	trace_ib_umad_read_recv(file, &packet->hdr, &packet->recv_wc->recv_buf.mad->mad_hdr);
	return size;
}

/* Copies a request that timed out: only its head. */
static ssize_t give_sent(struct ib_umad_file *file, struct ib_umad_packet *packet,
			 char __user *buf, size_t count)
{
	size_t hdr_size = umad_hdr_size(file), size = hdr_size + packet->length;

	if (count < size)
		return rdma_refuse(-EINVAL, "room for %zu bytes, a request that timed out has %zu",
				   count, size);
	if (copy_to_user(buf, &packet->hdr, hdr_size) ||
	    copy_to_user(buf + hdr_size, &packet->head, packet->length))
		return rdma_refuse(-EFAULT, "the request that timed out cannot be written");
	trace_ib_umad_read_send(file, &packet->hdr, &packet->head.mad);
	return size;
}

/**
 * umad_read_next() - read a MAD
 * @file: the file
 * @may_wait: wait for one
 * @buf: receives header and MAD
 * @count: bytes of room there
 *
 * A MAD that cannot be copied stays unread.
 *
 * Context: may sleep.
 * Return: number of bytes; -EIO once the device is removed; -EAGAIN if there is no MAD;
 * -ERESTARTSYS; -EINVAL without room for a header and the first packet; -ENOSPC without room for
 * the rest, after header and first packet were written; -EFAULT.
 */
ssize_t umad_read_next(struct ib_umad_file *file, bool may_wait, char __user *buf, size_t count)
{
	struct ib_umad_packet *packet;
	ssize_t ret;

	if (count < umad_hdr_size(file))
		return rdma_refuse(-EINVAL, "room for %zu bytes, the header has %zu", count,
				   umad_hdr_size(file));
	packet = take_unread(file, may_wait);
	if (IS_ERR(packet))
		return PTR_ERR(packet);
	ret = packet->recv_wc ? give_received(file, packet, buf, count) :
				give_sent(file, packet, buf, count);
	if (ret < 0)
		put_unread(file, packet);
	else
		umad_packet_free(file, packet);
	return ret;
}
