// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A kernel consumer that connects by IP address, as storage protocols do: it listens at two ports,
 * of which one rejects every request, and connects to the address that is written to "connect".
 *
 * A connection carries one word from the side that made it; the listening side ends it when the
 * word has arrived.  Then requests are rejected by the other port, and by one where nothing
 * listens. "passed" and "failed" count the checks.
 */
#include <linux/completion.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/ib_cm.h>
#include <rdma/rdma_cm.h>

#include "kcheck.h"

#define PORT		7174
#define REFUSES		7175
#define NOBODY		7176
#define TIMEOUT_MS	30000
#define PATIENCE	(60 * HZ)
#define WORD		0x600dcafeU
#define NO		"no room"
/* The codes of the RNR timers that the two sides set, neither of which is the default */
#define HOST_RNR_TIMER	9
#define GUEST_RNR_TIMER	14

static uint received;
module_param(received, uint, 0444);
MODULE_PARM_DESC(received, "words that have arrived");

static struct rdma_cm_id *listener, *refuser;

/* Ends of the listening side that are not freed yet. */
static atomic_t guests;
static DECLARE_WAIT_QUEUE_HEAD(guests_left);

/**
 * struct end - an end of a connection
 * @id: its id
 * @pd: PD of its QP
 * @cq: CQ of its QP
 * @word: what is sent, or received
 * @dma: address of @word
 * @cqe: completion of the one work request
 * @made: the connection was made
 * @heard: no more events come
 * @event: the last event
 * @asked: the peer's consumer has answered a request that was rejected
 * @awaits: events that the listening side waits for: the word, and the connection, which may come
 *	later
 */
struct end {
	struct rdma_cm_id *id;
	struct ib_pd *pd;
	struct ib_cq *cq;
	u32 *word;
	u64 dma;
	struct ib_cqe cqe;
	bool made;
	struct completion heard;
	enum rdma_cm_event_type event;
	bool asked;
	atomic_t awaits;
};

/* ---- ends ---- */

static void end_free(struct end *end)
{
	struct ib_device *device = end->id->device;

	if (end->id->qp) {
		ib_drain_qp(end->id->qp);
		rdma_destroy_qp(end->id);
	}
	if (end->cq)
		ib_free_cq(end->cq);
	if (end->dma)
		ib_dma_unmap_single(device, end->dma, sizeof(*end->word), DMA_BIDIRECTIONAL);
	if (end->pd)
		ib_dealloc_pd(end->pd);
	kfree(end->word);
	kfree(end);
}

static struct end *end_new(struct rdma_cm_id *id)
{
	struct end *end = kzalloc(sizeof(*end), GFP_KERNEL);

	if (!end)
		return NULL;
	end->id = id;
	init_completion(&end->heard);
	atomic_set(&end->awaits, 2);
	end->word = kzalloc(sizeof(*end->word), GFP_KERNEL);
	if (end->word)
		return end;
	kfree(end);
	return NULL;
}

/* Make the objects that need the id's device. */
static int end_equip(struct end *end)
{
	struct ib_device *device = end->id->device;
	struct ib_qp_init_attr attr = {
		.cap = { .max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.sq_sig_type = IB_SIGNAL_ALL_WR, .qp_type = IB_QPT_RC,
	};

	end->pd = ib_alloc_pd(device, 0);
	if (IS_ERR(end->pd)) {
		int ret = PTR_ERR(end->pd);

		end->pd = NULL;
		return ret;
	}
	end->dma = ib_dma_map_single(device, end->word, sizeof(*end->word), DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(device, end->dma)) {
		end->dma = 0;
		return -ENOMEM;
	}
	end->cq = ib_alloc_cq(device, end, 4, 0, IB_POLL_WORKQUEUE);
	if (IS_ERR(end->cq)) {
		int ret = PTR_ERR(end->cq);

		end->cq = NULL;
		return ret;
	}
	attr.send_cq = end->cq;
	attr.recv_cq = end->cq;
	return rdma_create_qp(end->id, end->pd, &attr);
}

static struct ib_sge sge_of(const struct end *end)
{
	return (struct ib_sge) {
		.addr = end->dma, .length = sizeof(*end->word), .lkey = end->pd->local_dma_lkey,
	};
}

/* Has the QP got the timer that was set for its id? iWARP has none. */
static bool has_rnr_timer(struct end *end, u8 code)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	if (rdma_iw_cm_id(end->id))
		return true;
	return !ib_query_qp(end->id->qp, &attr, IB_QP_MIN_RNR_TIMER, &init) &&
	       attr.min_rnr_timer == code;
}

/* ---- the listening side ---- */

static void has_come(struct end *end)
{
	if (atomic_dec_and_test(&end->awaits))
		CHECK(!rdma_disconnect(end->id));
}

static void arrived(struct ib_cq *cq, struct ib_wc *wc)
{
	struct end *end = container_of(wc->wr_cqe, struct end, cqe);

	/* The connection may have ended without a word. */
	if (wc->status != IB_WC_SUCCESS)
		return;
	ib_dma_sync_single_for_cpu(end->id->device, end->dma, sizeof(*end->word),
				   DMA_FROM_DEVICE);
	received += CHECK(*end->word == WORD);
	has_come(end);
}

static int welcome(struct end *end, const struct rdma_cm_event *event)
{
	struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1,
					 .rnr_retry_count = 7 };
	struct rdma_ucm_ece ece = event->ece;
	struct ib_recv_wr wr = { .num_sge = 1 };
	struct ib_sge sge;
	int ret = end_equip(end) ?: rdma_set_min_rnr_timer(end->id, GUEST_RNR_TIMER);

	if (ret)
		return ret;
	sge = sge_of(end);
	end->cqe.done = arrived;
	wr.wr_cqe = &end->cqe;
	wr.sg_list = &sge;
	ret = ib_post_recv(end->id->qp, &wr, NULL) ?: rdma_accept_ece(end->id, &param, &ece);
	if (!ret)
		CHECK(has_rnr_timer(end, GUEST_RNR_TIMER));
	return ret;
}

static int guest_goes(struct end *end)
{
	end_free(end);
	if (atomic_dec_and_test(&guests))
		wake_up(&guests_left);
	return 1;
}

/* A request's id has the listener's handler.  If that returns other than 0, the id is destroyed. */
static int guest_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct end *end = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		end = end_new(id);
		if (!CHECK(end))
			return 1;
		id->context = end;
		atomic_inc(&guests);
		return CHECK(!welcome(end, event)) ? 0 : guest_goes(end);
	case RDMA_CM_EVENT_ESTABLISHED:
		has_come(end);
		return 0;
	case RDMA_CM_EVENT_DISCONNECTED:
	case RDMA_CM_EVENT_CONNECT_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_REJECTED:
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return end ? guest_goes(end) : 0;
	default:
		return 0;
	}
}

static int refusing_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return 0;
	CHECK(!rdma_reject(id, NO, sizeof(NO), IB_CM_REJ_CONSUMER_DEFINED));
	return 1;
}

static struct rdma_cm_id *listen(rdma_cm_event_handler handler, u16 port)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct rdma_cm_id *id = rdma_create_id(&init_net, handler, NULL, RDMA_PS_TCP, IB_QPT_RC);
	int ret;

	if (IS_ERR(id))
		return id;
	ret = rdma_bind_addr(id, (struct sockaddr *)&any);
	if (!ret)
		ret = rdma_listen(id, 16);
	if (!ret)
		return id;
	rdma_destroy_id(id);
	return ERR_PTR(ret);
}

/* ---- the connecting side ---- */

static void was_sent(struct ib_cq *cq, struct ib_wc *wc)
{
	CHECK(wc->status == IB_WC_SUCCESS);
}

static int send_word(struct end *end)
{
	struct ib_sge sge = sge_of(end);
	struct ib_send_wr wr = {
		.wr_cqe = &end->cqe, .sg_list = &sge, .num_sge = 1, .opcode = IB_WR_SEND,
	};

	*end->word = WORD;
	ib_dma_sync_single_for_device(end->id->device, end->dma, sizeof(*end->word),
				      DMA_TO_DEVICE);
	end->cqe.done = was_sent;
	return ib_post_send(end->id->qp, &wr, NULL);
}

/* The QP is made, and the request sent, while the handler runs. */
static int ask(struct end *end)
{
	struct rdma_conn_param param = { .responder_resources = 1, .initiator_depth = 1,
					 .retry_count = 7, .rnr_retry_count = 7 };

	return end_equip(end) ?: rdma_set_min_rnr_timer(end->id, HOST_RNR_TIMER) ?:
	       rdma_connect_locked(end->id, &param);
}

static void was_rejected(struct end *end, struct rdma_cm_event *event)
{
	u8 len;
	const char *data = rdma_consumer_reject_data(end->id, event, &len);

	end->asked = data;
	CHECK(!data || (len >= sizeof(NO) && !memcmp(data, NO, sizeof(NO))));
	CHECK(strlen(rdma_reject_msg(end->id, event->status)));
}

static int host_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct end *end = id->context;

	pr_debug("rdma_kcma: %s\n", rdma_event_msg(event->event));
	/* The end may be freed by then: the id is destroyed after its QP. */
	if (event->event == RDMA_CM_EVENT_TIMEWAIT_EXIT)
		return 0;
	end->event = event->event;
	switch (event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		CHECK(!rdma_iw_cm_id(id));
		if (CHECK(!rdma_resolve_route(id, TIMEOUT_MS)))
			return 0;
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		if (CHECK(!ask(end)))
			return 0;
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		end->made = true;
		CHECK(has_rnr_timer(end, HOST_RNR_TIMER));
		if (CHECK(!send_word(end)))
			return 0;
		break;
	case RDMA_CM_EVENT_REJECTED:
		was_rejected(end, event);
		break;
	default:
		break;
	}
	complete(&end->heard);
	return 0;
}

/* Connects to a port, and returns the end, or NULL. */
static struct end *connect_to(__be32 address, u16 port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port),
				  .sin_addr.s_addr = address };
	struct end *end = end_new(NULL);
	struct rdma_cm_id *id;

	if (!CHECK(end))
		return NULL;
	id = rdma_create_id(&init_net, host_handler, end, RDMA_PS_TCP, IB_QPT_RC);
	if (!CHECK(!IS_ERR(id))) {
		kfree(end->word);
		kfree(end);
		return NULL;
	}
	end->id = id;
	if (CHECK(!rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, TIMEOUT_MS)))
		CHECK(wait_for_completion_timeout(&end->heard, PATIENCE));
	return end;
}

static void leave(struct end *end)
{
	struct rdma_cm_id *id = end->id;

	if (end->made)
		CHECK(!rdma_disconnect(id));
	end_free(end);
	rdma_destroy_id(id);
}

static void be_heard(__be32 address)
{
	struct end *end = connect_to(address, PORT);

	if (!end)
		return;
	CHECK(end->made && end->event == RDMA_CM_EVENT_DISCONNECTED);
	leave(end);
}

static void be_refused(__be32 address, u16 port, bool by_somebody)
{
	struct end *end = connect_to(address, port);

	if (!end)
		return;
	CHECK(end->event == RDMA_CM_EVENT_REJECTED && end->asked == by_somebody);
	leave(end);
}

static int connect_set(const char *val, const struct kernel_param *kp)
{
	__be32 address;

	if (!in4_pton(val, -1, (u8 *)&address, '\n', NULL))
		return -EINVAL;
	be_heard(address);
	be_refused(address, REFUSES, true);
	be_refused(address, NOBODY, false);
	return 0;
}

static const struct kernel_param_ops connect_ops = { .set = connect_set };
module_param_cb(connect, &connect_ops, NULL, 0200);
MODULE_PARM_DESC(connect, "IPv4 address to connect to");

/* ---- the module ---- */

static int __init kcma_init(void)
{
	listener = listen(guest_handler, PORT);
	if (IS_ERR(listener))
		return PTR_ERR(listener);
	refuser = listen(refusing_handler, REFUSES);
	if (!IS_ERR(refuser))
		return 0;
	rdma_destroy_id(listener);
	return PTR_ERR(refuser);
}

static void __exit kcma_exit(void)
{
	rdma_destroy_id(refuser);
	rdma_destroy_id(listener);
	wait_event(guests_left, !atomic_read(&guests));
}

module_init(kcma_init);
module_exit(kcma_exit);
MODULE_DESCRIPTION("Connections by IP address");
MODULE_LICENSE("Dual BSD/GPL");
