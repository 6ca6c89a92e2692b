/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared by the test modules that use ib_cm: the device that they use, and an end of a connection,
 * or of a datagram service: a QP, a word to send and a place for one to receive.
 */
#ifndef KCM_END_H
#define KCM_END_H

#include <linux/completion.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_verbs.h>

#define WORD		0x600dcafeU
#define GRH_WORDS	(sizeof(struct ib_grh) / sizeof(u32))
#define PKEY		0xffff

/**
 * struct end - an end of a connection
 * @id: its id
 * @pd: of the QP
 * @type: of the QP: IB_QPT_RC or IB_QPT_UD
 * @on_event: called with this struct end for the QP's events, or NULL
 * @qp: its QP
 * @cq: CQ of the QP
 * @buf: a word to send, and a place for one to receive, of a datagram behind its GRH
 * @dma: address of @buf
 * @send: completion of the send
 * @recv: completion of the receive
 * @heard: an event has come
 * @event: its type
 * @reason: of a rejection
 * @data: the first byte of its private data
 * @qpn: QP number of a datagram service
 * @qkey: its Q_Key
 * @status: of the send
 * @done: the send has completed
 * @got: the right word has been received
 * @came: the receive has completed
 */
struct end {
	struct ib_cm_id *id;
	struct ib_pd *pd;
	enum ib_qp_type type;
	void (*on_event)(struct ib_event *event, void *end);
	struct ib_qp *qp;
	struct ib_cq *cq;
	u32 *buf;
	u64 dma;
	struct ib_cqe send;
	struct ib_cqe recv;
	struct completion heard;
	enum ib_cm_event_type event;
	int reason;
	u8 data;
	u32 qpn;
	u32 qkey;
	enum ib_wc_status status;
	struct completion done;
	bool got;
	struct completion came;
};

/* ---- QPs ---- */

#define BUF_SIZE ((2 + GRH_WORDS) * sizeof(u32))

/* Words in front of the one that is received */
static inline unsigned int grh_words(const struct end *end)
{
	return end->type == IB_QPT_UD ? GRH_WORDS : 0;
}

static inline void sent(struct ib_cq *cq, struct ib_wc *wc)
{
	struct end *end = container_of(wc->wr_cqe, struct end, send);

	end->status = wc->status;
	complete(&end->done);
}

static inline void arrived(struct ib_cq *cq, struct ib_wc *wc)
{
	struct end *end = container_of(wc->wr_cqe, struct end, recv);

	end->got = wc->status == IB_WC_SUCCESS && end->buf[1 + grh_words(end)] == WORD;
	complete(&end->came);
}

static inline void end_free(struct end *end)
{
	if (end->qp)
		ib_destroy_qp(end->qp);
	if (end->cq)
		ib_free_cq(end->cq);
	if (end->dma)
		ib_dma_unmap_single(end->pd->device, end->dma, BUF_SIZE, DMA_BIDIRECTIONAL);
	kfree(end->buf);
	kfree(end);
}

static inline bool make_qp(struct end *end)
{
	struct ib_qp_init_attr attr = {
		.cap = { .max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.sq_sig_type = IB_SIGNAL_ALL_WR, .qp_type = end->type,
		.event_handler = end->on_event, .qp_context = end,
	};
	struct ib_cq *cq = ib_alloc_cq(end->pd->device, end, 4, 0, IB_POLL_WORKQUEUE);

	if (IS_ERR(cq))
		return false;
	end->cq = cq;
	attr.send_cq = cq;
	attr.recv_cq = cq;
	end->qp = ib_create_qp(end->pd, &attr);
	if (!IS_ERR(end->qp))
		return true;
	end->qp = NULL;
	return false;
}

static inline struct end *end_new_with(struct ib_pd *pd, enum ib_qp_type type,
				       void (*on_event)(struct ib_event *event, void *end))
{
	struct end *end = kzalloc(sizeof(*end), GFP_KERNEL);

	if (!end)
		return NULL;
	end->pd = pd;
	end->type = type;
	end->on_event = on_event;
	init_completion(&end->heard);
	init_completion(&end->done);
	init_completion(&end->came);
	end->buf = kzalloc(BUF_SIZE, GFP_KERNEL);
	if (!end->buf)
		goto free;
	end->dma = ib_dma_map_single(end->pd->device, end->buf, BUF_SIZE, DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(end->pd->device, end->dma)) {
		end->dma = 0;
		goto free;
	}
	if (make_qp(end))
		return end;
free:
	end_free(end);
	return NULL;
}

static inline struct end *end_new(struct ib_pd *pd)
{
	return end_new_with(pd, IB_QPT_RC, NULL);
}

/* The PSN that the peer is given for this end's first packet. */
static inline u32 starting_psn(const struct end *end)
{
	return end->qp->qp_num & 0xffffff;
}

static inline int to_state(struct end *end, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };
	int mask, ret = ib_cm_init_qp_attr(end->id, &attr, &mask);

	return ret ?: ib_modify_qp(end->qp, &attr, mask);
}

/* Takes the QP to RTR before the REP is sent, which is when ib_cm is given the PSN. */
static inline int to_rtr_before_rep(struct end *end)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTR };
	int mask, ret = ib_cm_init_qp_attr(end->id, &attr, &mask);

	attr.rq_psn = starting_psn(end);
	return ret ?: ib_modify_qp(end->qp, &attr, mask);
}

static inline int to_rts(struct end *end)
{
	return to_state(end, IB_QPS_INIT) ?: to_state(end, IB_QPS_RTR) ?:
	       to_state(end, IB_QPS_RTS);
}

static inline int post_recv_for(struct end *end, void (*done)(struct ib_cq *cq, struct ib_wc *wc))
{
	struct ib_sge sge = {
		.addr = end->dma + sizeof(u32), .length = (1 + grh_words(end)) * sizeof(u32),
		.lkey = end->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = { .wr_cqe = &end->recv, .sg_list = &sge, .num_sge = 1 };

	end->recv.done = done;
	return ib_post_recv(end->qp, &wr, NULL);
}

static inline int post_recv(struct end *end)
{
	return post_recv_for(end, arrived);
}

static inline int post_send(struct end *end)
{
	struct ib_sge sge = { end->dma, sizeof(u32), end->pd->local_dma_lkey };
	struct ib_send_wr wr = {
		.wr_cqe = &end->send, .sg_list = &sge, .num_sge = 1, .opcode = IB_WR_SEND,
	};

	end->buf[0] = WORD;
	end->send.done = sent;
	return ib_post_send(end->qp, &wr, NULL);
}

/* ---- the device ---- */

/**
 * struct kcm_device - the device that a module uses: the first suitable one
 * @ib: the device, or NULL
 * @pd: a PD on it
 */
struct kcm_device {
	struct ib_device *ib;
	struct ib_pd *pd;
};

/* Takes a new device if there is none yet; start() is what the module does then. */
static inline int kcm_device_take(struct kcm_device *dev, struct ib_device *ib, int (*start)(void))
{
	int ret;

	if (dev->ib)
		return -EOPNOTSUPP;
	dev->ib = ib;
	dev->pd = ib_alloc_pd(ib, 0);
	ret = PTR_ERR_OR_ZERO(dev->pd);
	if (ret)
		goto none;
	ret = start();
	if (!ret)
		return 0;
	ib_dealloc_pd(dev->pd);
none:
	dev->ib = NULL;
	return ret;
}

/* A device is removed. If it is the one that was taken, it is not used any more after stop(). */
static inline void kcm_device_leave(struct kcm_device *dev, struct ib_device *ib,
				    void (*stop)(void))
{
	if (dev->ib != ib)
		return;
	stop();
	ib_dealloc_pd(dev->pd);
	dev->ib = NULL;
}

static inline struct ib_cm_id *kcm_listen(const struct kcm_device *dev, ib_cm_handler handler,
					  u64 service)
{
	struct ib_cm_id *id = ib_create_cm_id(dev->ib, handler, NULL);
	int ret;

	if (IS_ERR(id))
		return id;
	ret = ib_cm_listen(id, cpu_to_be64(service));
	if (!ret)
		return id;
	ib_destroy_cm_id(id);
	return ERR_PTR(ret);
}

/* A path from a port to the port whose GID 0 has this lower half. */
static inline int kcm_make_path(const struct kcm_device *dev, struct sa_path_rec *path,
				u32 port_num, u32 dlid, u64 id)
{
	struct ib_port_attr attr;
	int ret = ib_query_port(dev->ib, port_num, &attr);

	*path = (struct sa_path_rec) {
		.rec_type = SA_PATH_REC_TYPE_IB, .pkey = cpu_to_be16(PKEY), .reversible = 1,
		.mtu = attr.active_mtu, .mtu_selector = IB_SA_EQ, .rate = IB_RATE_10_GBPS,
		.rate_selector = IB_SA_EQ, .packet_life_time = 14,
		.packet_life_time_selector = IB_SA_EQ,
	};
	sa_path_set_slid(path, attr.lid);
	sa_path_set_dlid(path, dlid);
	if (!ret)
		ret = rdma_query_gid(dev->ib, port_num, 0, &path->sgid);
	path->dgid.global.subnet_prefix = path->sgid.global.subnet_prefix;
	path->dgid.global.interface_id = cpu_to_be64(id);
	return ret;
}

/* An end that connects, or resolves a datagram service; the handler gets its events. */
static inline struct end *kcm_caller_new(const struct kcm_device *dev, enum ib_qp_type type,
					 ib_cm_handler handler)
{
	struct end *end = end_new_with(dev->pd, type, NULL);

	if (!end)
		return NULL;
	end->id = ib_create_cm_id(dev->ib, handler, end);
	if (!IS_ERR(end->id))
		return end;
	end_free(end);
	return NULL;
}

#endif
