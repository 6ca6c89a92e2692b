// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A kernel consumer of the iWARP connection manager: it listens, connects and sends over RC QPs,
 * with iw_cm only. Loaded with its parameters, it leaves its verdict in others; it serves until it
 * is unloaded.
 *
 *   role=server device=siw0 local=10.77.0.1
 *   role=client device=siw0 local=10.77.0.2 peer=10.77.0.1
 *
 * The first byte of a connection request's private data says what the server does with it.
 */
#include <linux/completion.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>

#include "kcheck.h"

static char *role = "both";
module_param(role, charp, 0444);
MODULE_PARM_DESC(role, "server, client or both");
static char *device;
module_param(device, charp, 0444);
MODULE_PARM_DESC(device, "name of the iWARP device");
static char *local;
module_param(local, charp, 0444);
MODULE_PARM_DESC(local, "own IPv4 address");
static char *peer;
module_param(peer, charp, 0444);
MODULE_PARM_DESC(peer, "the server's IPv4 address, if that is another");
static uint rounds = 20;
module_param(rounds, uint, 0444);
MODULE_PARM_DESC(rounds, "connections, one after the other");
static uint served, closed;
module_param(served, uint, 0444);
MODULE_PARM_DESC(served, "messages that the server has returned");
module_param(closed, uint, 0444);
MODULE_PARM_DESC(closed, "connections of the server that have ended");

#define PORT		7411
#define LEN		512
#define PATIENCE	(30 * HZ)
#define RECVS		7	/* posted from the beginning */

/* What a client asks the server to do with its request. */
enum wish { TALK = 1, REFUSE, REFUSE_BY_RETURN, HANG_UP };

/* An end of a connection. */
struct end {
	struct list_head entry;
	struct iw_cm_id *id;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	u8 *buf;		/* what is received, and behind it what is sent */
	u64 dma;
	struct ib_cqe rx, tx;
	struct completion received, sent, replied, over;
	int status;		/* of the reply */
	enum ib_wc_status wc_status;
	u8 data[8], data_len;	/* private data of the peer */
	bool echoes;
};

static struct ib_device *dev;
static struct iw_cm_id *listener;
static LIST_HEAD(ends);		/* of the server */
static DEFINE_MUTEX(ends_lock);	/* protects ends and closed */

static struct sockaddr_storage address(const char *ip, u16 port)
{
	struct sockaddr_storage addr = {};
	struct sockaddr_in *in = (struct sockaddr_in *)&addr;

	in->sin_family = AF_INET;
	in->sin_port = htons(port);
	if (!in4_pton(ip, -1, (u8 *)&in->sin_addr, -1, NULL))
		pr_err("rdma_iwconn: %s is no IPv4 address\n", ip);
	return addr;
}

/* ---- messages ---- */

static int post_recv(struct end *end)
{
	struct ib_sge sge = { .addr = end->dma, .length = LEN, .lkey = end->pd->local_dma_lkey };
	struct ib_recv_wr wr = { .wr_cqe = &end->rx, .sg_list = &sge, .num_sge = 1 };

	return ib_post_recv(end->qp, &wr, NULL);
}

static int post_recvs(struct end *end)
{
	int ret = 0;

	for (int i = 0; i < RECVS && !ret; i++)
		ret = post_recv(end);
	return ret;
}

static int post_send(struct end *end)
{
	struct ib_sge sge = {
		.addr = end->dma + LEN, .length = LEN, .lkey = end->pd->local_dma_lkey,
	};
	struct ib_send_wr wr = {
		.wr_cqe = &end->tx, .sg_list = &sge, .num_sge = 1, .opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};

	return ib_post_send(end->qp, &wr, NULL);
}

static void received(struct ib_cq *cq, struct ib_wc *wc)
{
	struct end *end = container_of(wc->wr_cqe, struct end, rx);

	end->wc_status = wc->status;
	if (end->echoes && wc->status == IB_WC_SUCCESS) {
		memcpy(end->buf + LEN, end->buf, LEN);
		if (!post_recv(end) && !post_send(end))
			served++;
	}
	complete(&end->received);
}

static void sent(struct ib_cq *cq, struct ib_wc *wc)
{
	complete(&container_of(wc->wr_cqe, struct end, tx)->sent);
}

static void end_free(struct end *end)
{
	if (!IS_ERR_OR_NULL(end->qp)) {
		ib_drain_qp(end->qp);
		ib_destroy_qp(end->qp);
	}
	if (!IS_ERR_OR_NULL(end->cq))
		ib_free_cq(end->cq);
	if (end->dma)
		ib_dma_unmap_single(dev, end->dma, 2 * LEN, DMA_BIDIRECTIONAL);
	if (!IS_ERR_OR_NULL(end->pd))
		ib_dealloc_pd(end->pd);
	kfree(end->buf);
	kfree(end);
}

static struct end *end_make(void)
{
	struct end *end = kzalloc(sizeof(*end), GFP_KERNEL);
	struct ib_qp_init_attr attr = {
		.qp_type = IB_QPT_RC, .sq_sig_type = IB_SIGNAL_REQ_WR,
		.cap = { .max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	if (!end)
		return NULL;
	INIT_LIST_HEAD(&end->entry);
	end->rx.done = received;
	end->tx.done = sent;
	init_completion(&end->received);
	init_completion(&end->sent);
	init_completion(&end->replied);
	init_completion(&end->over);
	end->buf = kzalloc(2 * LEN, GFP_KERNEL);
	end->pd = ib_alloc_pd(dev, 0);
	end->cq = ib_alloc_cq(dev, end, 32, 0, IB_POLL_WORKQUEUE);
	if (!end->buf || IS_ERR(end->pd) || IS_ERR(end->cq))
		goto err;
	end->dma = ib_dma_map_single(dev, end->buf, 2 * LEN, DMA_BIDIRECTIONAL);
	attr.send_cq = end->cq;
	attr.recv_cq = end->cq;
	end->qp = ib_create_qp(end->pd, &attr);
	if (IS_ERR(end->qp))
		goto err;
	return end;
err:
	end_free(end);
	return NULL;
}

/* Takes the QP to the state in which it is given to iw_cm. */
static int end_prepare(struct end *end)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT };
	int mask, ret = iw_cm_init_qp_attr(end->id, &attr, &mask);

	return ret ?: ib_modify_qp(end->qp, &attr, mask);
}

static struct iw_cm_conn_param param_of(struct end *end, const void *data, u16 len)
{
	return (struct iw_cm_conn_param){
		.qpn = end->qp->qp_num, .ord = 2, .ird = 2, .private_data = data,
		.private_data_len = len,
	};
}

/* ---- the server ---- */

static int server_accept(struct iw_cm_id *id, const struct iw_cm_event *event)
{
	struct iw_cm_conn_param param;
	struct end *end = end_make();
	int ret;

	if (!CHECK(end))
		return -ENOMEM;
	end->id = id;
	end->echoes = true;
	id->context = end;
	if (!CHECK(!end_prepare(end)) || !CHECK(!post_recvs(end))) {
		end_free(end);
		return -EIO;
	}
	mutex_lock(&ends_lock);
	list_add_tail(&end->entry, &ends);
	mutex_unlock(&ends_lock);
	param = param_of(end, "welcome", 8);
	param.ird = event->ird;
	param.ord = event->ord;
	ret = iw_cm_accept(id, &param);
	CHECK(!ret);
	/* The id is kept, and is destroyed with the list. */
	return 0;
}

static int server_handler(struct iw_cm_id *id, struct iw_cm_event *event)
{
	struct end *end = id->context;

	switch (event->event) {
	case IW_CM_EVENT_CONNECT_REQUEST:
		switch (event->private_data_len ? *(u8 *)event->private_data : 0) {
		case TALK:
		case HANG_UP:
			return server_accept(id, event);
		case REFUSE:
			CHECK(!iw_cm_reject(id, "no", 3));
			return -ECONNREFUSED;
		default:
			return -EPERM;
		}
	case IW_CM_EVENT_ESTABLISHED:
		CHECK(!event->status);
		break;
	case IW_CM_EVENT_CLOSE:
		mutex_lock(&ends_lock);
		closed++;
		mutex_unlock(&ends_lock);
		complete(&end->over);
		break;
	default:
		CHECK(false);
	}
	return 0;
}

static int server_begin(void)
{
	listener = iw_create_cm_id(dev, server_handler, NULL);
	if (!CHECK(!IS_ERR(listener)))
		return -EIO;
	listener->local_addr = address(local, PORT);
	return CHECK(!iw_cm_listen(listener, 8)) ? 0 : -EIO;
}

static void server_end(void)
{
	struct end *end, *next;

	if (IS_ERR_OR_NULL(listener))
		return;
	iw_destroy_cm_id(listener);
	list_for_each_entry_safe(end, next, &ends, entry) {
		iw_destroy_cm_id(end->id);
		end_free(end);
	}
}

/* ---- the client ---- */

static int client_handler(struct iw_cm_id *id, struct iw_cm_event *event)
{
	struct end *end = id->context;

	switch (event->event) {
	case IW_CM_EVENT_CONNECT_REPLY:
		end->status = event->status;
		end->data_len = min_t(u8, event->private_data_len, sizeof(end->data));
		memcpy(end->data, event->private_data, end->data_len);
		complete(&end->replied);
		break;
	case IW_CM_EVENT_CLOSE:
		complete(&end->over);
		break;
	default:
		CHECK(false);
	}
	return 0;
}

/* Connects and waits for the reply; *err gets the result. */
static struct end *client_connect(enum wish wish, u16 port, int *err)
{
	struct end *end = end_make();
	struct iw_cm_conn_param param;
	u8 data = wish;

	if (!CHECK(end))
		return NULL;
	end->id = iw_create_cm_id(dev, client_handler, end);
	if (!CHECK(!IS_ERR(end->id))) {
		end_free(end);
		return NULL;
	}
	end->id->local_addr = address(local, 0);
	end->id->remote_addr = address(peer ?: local, port);
	CHECK(!end_prepare(end));
	CHECK(!post_recvs(end));
	param = param_of(end, &data, 1);
	*err = iw_cm_connect(end->id, &param);
	if (!*err) {
		CHECK(wait_for_completion_timeout(&end->replied, PATIENCE));
		*err = end->status;
	}
	return end;
}

static void client_end(struct end *end)
{
	iw_destroy_cm_id(end->id);
	end_free(end);
}

static void talk(struct end *end, u8 round)
{
	memset(end->buf + LEN, round, LEN);
	CHECK(!post_send(end));
	CHECK(wait_for_completion_timeout(&end->received, PATIENCE));
	CHECK(end->wc_status == IB_WC_SUCCESS);
	CHECK(!memchr_inv(end->buf, round, LEN));
	CHECK(wait_for_completion_timeout(&end->sent, PATIENCE));
}

static void client_talks(uint round)
{
	struct end *end;
	int err;

	end = client_connect(TALK, PORT, &err);
	if (!end)
		return;
	if (CHECK(!err)) {
		CHECK(end->data_len == 8 && !memcmp(end->data, "welcome", 8));
		talk(end, round);
		CHECK(!iw_cm_disconnect(end->id, round & 1));
		CHECK(wait_for_completion_timeout(&end->over, PATIENCE));
		CHECK(!iw_cm_disconnect(end->id, 0));
	}
	client_end(end);
}

static void client_is_refused(enum wish wish)
{
	struct end *end;
	int err;

	end = client_connect(wish, PORT, &err);
	if (!end)
		return;
	CHECK(err == -ECONNREFUSED || err == -ECONNRESET);
	if (wish == REFUSE)
		CHECK(end->data_len == 3 && !memcmp(end->data, "no", 3));
	client_end(end);
}

static void client(void)
{
	struct end *end;
	int err;

	for (uint round = 0; round < rounds; round++)
		client_talks(round);
	client_is_refused(REFUSE);
	client_is_refused(REFUSE_BY_RETURN);

	/* Nothing listens there. */
	end = client_connect(TALK, PORT + 1, &err);
	if (end) {
		CHECK(err < 0);
		client_end(end);
	}
	/* Destroying ends the connection. */
	end = client_connect(HANG_UP, PORT, &err);
	if (end) {
		CHECK(!err);
		client_end(end);
	}
}

static int __init iwconn_init(void)
{
	bool serves = strcmp(role, "client"), calls = strcmp(role, "server");
	int ret = 0;

	dev = ib_device_get_by_name(device ?: "", RDMA_DRIVER_UNKNOWN);
	if (!dev)
		return -ENODEV;
	if (serves)
		ret = server_begin();
	if (calls && !ret)
		client();
	return 0;
}

static void __exit iwconn_exit(void)
{
	server_end();
	ib_device_put(dev);
}

module_init(iwconn_init);
module_exit(iwconn_exit);
MODULE_DESCRIPTION("kernel consumer of the iWARP connection manager");
MODULE_LICENSE("Dual BSD/GPL");
