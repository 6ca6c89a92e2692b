// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A kernel consumer that connects RC QPs with ib_cm only: it listens on the first port of the first
 * device, and connects to another guest, or to itself, by a path that it makes of LIDs and GIDs.
 *
 * Writing a number to "run" makes that number of connections to peer_lid and peer_id, one after the
 * other, sends a message on each, waits for the one that the other side sends when the connection
 * is established there, and disconnects; then it has a request rejected for want of a listener and
 * by a listener, and resolves a datagram service, to which it sends a message. "passed" and
 * "failed" count the checks.
 */
#include <linux/module.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_verbs.h>

#include "kcheck.h"
#include "kcm_end.h"

#define SERVICE		0x6b636d01ULL
#define REFUSED		0x6b636d02ULL
#define NOBODY		0x6b636d03ULL
#define QKEY		0x11
#define PATIENCE	(60 * HZ)

static uint peer_lid;
module_param(peer_lid, uint, 0644);
MODULE_PARM_DESC(peer_lid, "LID to connect to");

static ulong peer_id;
module_param(peer_id, ulong, 0644);
MODULE_PARM_DESC(peer_id, "lower half of its GID 0");

static uint accepted, received, ended, datagrams;
module_param(accepted, uint, 0444);
MODULE_PARM_DESC(accepted, "connections that the other side has made");
module_param(received, uint, 0444);
MODULE_PARM_DESC(received, "messages that have arrived on them");
module_param(ended, uint, 0444);
MODULE_PARM_DESC(ended, "connections that the other side has ended");
module_param(datagrams, uint, 0444);
MODULE_PARM_DESC(datagrams, "messages that have arrived at the datagram service");

static struct kcm_device dev;

static struct kcm {
	struct ib_cm_id *listener;
	struct ib_cm_id *refuser;
	struct end *service;
} kcm;

/* ---- datagrams ---- */

static bool can_send_datagrams(struct end *end)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT, .port_num = 1, .qkey = QKEY,
	};
	int ret = ib_modify_qp(end->qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
				IB_QP_QKEY);

	attr.qp_state = IB_QPS_RTR;
	ret = ret ?: ib_modify_qp(end->qp, &attr, IB_QP_STATE);
	attr.qp_state = IB_QPS_RTS;
	return !(ret ?: ib_modify_qp(end->qp, &attr, IB_QP_STATE | IB_QP_SQ_PSN));
}

static void datagram_arrived(struct ib_cq *cq, struct ib_wc *wc)
{
	struct end *end = container_of(wc->wr_cqe, struct end, recv);

	if (wc->status == IB_WC_WR_FLUSH_ERR)
		return;
	arrived(cq, wc);
	if (CHECK(end->got) && CHECK(!post_recv_for(end, datagram_arrived)))
		datagrams++;
}

/* Sends the word to the service that has been found. */
static bool send_datagram(struct end *end, struct sa_path_rec *path)
{
	struct ib_sge sge = { end->dma, sizeof(u32), end->pd->local_dma_lkey };
	struct rdma_ah_attr attr;
	struct ib_ud_wr ud = {
		.wr = { .wr_cqe = &end->send, .sg_list = &sge, .num_sge = 1,
			.opcode = IB_WR_SEND },
		.remote_qpn = end->qpn, .remote_qkey = end->qkey,
	};
	bool good;

	if (!CHECK(!ib_init_ah_attr_from_path(dev.ib, 1, path, &attr, NULL)))
		return false;
	ud.ah = rdma_create_ah(end->pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	rdma_destroy_ah_attr(&attr);
	if (!CHECK(!IS_ERR(ud.ah)))
		return false;
	end->buf[0] = WORD;
	end->send.done = sent;
	good = CHECK(!ib_post_send(end->qp, &ud.wr, NULL)) &&
	       CHECK(wait_for_completion_timeout(&end->done, PATIENCE)) &&
	       CHECK(end->status == IB_WC_SUCCESS);
	rdma_destroy_ah(ud.ah, RDMA_DESTROY_AH_SLEEPABLE);
	return good;
}

/* ---- the passive side ---- */

static int answer(struct ib_cm_id *id)
{
	struct end *end = end_new(dev.pd);
	struct ib_cm_rep_param rep = {
		.private_data = "rep", .private_data_len = 3, .responder_resources = 1,
		.initiator_depth = 1, .rnr_retry_count = 7,
	};

	if (!end)
		return -ENOMEM;
	end->id = id;
	rep.qp_num = end->qp->qp_num;
	rep.starting_psn = starting_psn(end);
	if (to_state(end, IB_QPS_INIT) || post_recv(end) || to_rtr_before_rep(end) ||
	    ib_send_cm_rep(id, &rep)) {
		end_free(end);
		return -EINVAL;
	}
	id->context = end;
	accepted++;
	return 0;
}

static int passive_handler(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	struct end *end = id->context;

	switch (event->event) {
	case IB_CM_REQ_RECEIVED:
		return answer(id);
	case IB_CM_RTU_RECEIVED:
		/* The peer waits for the message: the connection lasts until it is sent. */
		if (CHECK(!to_state(end, IB_QPS_RTS)))
			CHECK(!post_send(end));
		return 0;
	case IB_CM_DREQ_RECEIVED:
		/* The completion of what has arrived may be on its way. */
		ib_drain_qp(end->qp);
		received += end->got;
		end_free(end);
		CHECK(!ib_send_cm_drep(id, NULL, 0));
		ended++;
		return -ECANCELED;
	case IB_CM_SIDR_REQ_RECEIVED: {
		struct ib_cm_sidr_rep_param rep = {
			.qp_num = kcm.service->qp->qp_num, .qkey = QKEY,
			.private_data = "sidr", .private_data_len = 4,
		};

		CHECK(!ib_send_cm_sidr_rep(id, &rep));
		return -ECANCELED;
	}
	default:
		CHECK(event->event == IB_CM_TIMEWAIT_EXIT);
		break;
	}
	if (end)
		end_free(end);
	/* The id is not needed any more. */
	return -ECANCELED;
}

static int refusing_handler(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	if (event->event == IB_CM_REQ_RECEIVED)
		CHECK(!ib_send_cm_rej(id, IB_CM_REJ_CONSUMER_DEFINED, NULL, 0, "no", 2));
	return -ECANCELED;
}

/* ---- the active side ---- */

static int active_handler(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	struct end *end = id->context;

	if (event->event == IB_CM_TIMEWAIT_EXIT)
		return 0;
	end->event = event->event;
	end->data = event->private_data ? *(u8 *)event->private_data : 0;
	if (event->event == IB_CM_REJ_RECEIVED)
		end->reason = event->param.rej_rcvd.reason;
	if (event->event == IB_CM_SIDR_REP_RECEIVED) {
		end->qpn = event->param.sidr_rep_rcvd.qpn;
		end->qkey = event->param.sidr_rep_rcvd.qkey;
	}
	complete(&end->heard);
	return 0;
}

static bool hears(struct end *end, enum ib_cm_event_type event)
{
	return wait_for_completion_timeout(&end->heard, PATIENCE) && end->event == event;
}

static int path_to_peer(struct sa_path_rec *path)
{
	return kcm_make_path(&dev, path, 1, peer_lid, peer_id);
}

static int request(struct end *end, u64 service)
{
	struct sa_path_rec path;
	struct ib_cm_req_param req = {
		.primary_path = &path, .service_id = cpu_to_be64(service),
		.qp_num = end->qp->qp_num, .qp_type = IB_QPT_RC,
		.starting_psn = starting_psn(end), .private_data = "req",
		.private_data_len = 3, .responder_resources = 1, .initiator_depth = 1,
		.remote_cm_response_timeout = 18, .local_cm_response_timeout = 18,
		.retry_count = 7, .rnr_retry_count = 7, .max_cm_retries = 10,
	};

	return path_to_peer(&path) ?: ib_send_cm_req(end->id, &req);
}

static void active_free(struct end *end)
{
	ib_destroy_cm_id(end->id);
	end_free(end);
}

static void connect_once(void)
{
	struct end *end = kcm_caller_new(&dev, IB_QPT_RC, active_handler);

	if (!CHECK(end))
		return;
	if (CHECK(!request(end, SERVICE)) && CHECK(hears(end, IB_CM_REP_RECEIVED)) &&
	    CHECK(end->data == 'r') && CHECK(!to_rts(end)) && CHECK(!post_recv(end)) &&
	    CHECK(!ib_send_cm_rtu(end->id, NULL, 0)) && CHECK(!post_send(end)) &&
	    CHECK(wait_for_completion_timeout(&end->done, PATIENCE)) &&
	    CHECK(end->status == IB_WC_SUCCESS) &&
	    CHECK(wait_for_completion_timeout(&end->came, PATIENCE)) && CHECK(end->got) &&
	    CHECK(!ib_send_cm_dreq(end->id, NULL, 0)))
		CHECK(hears(end, IB_CM_DREP_RECEIVED));
	active_free(end);
}

static void be_refused(u64 service, int reason)
{
	struct end *end = kcm_caller_new(&dev, IB_QPT_RC, active_handler);

	if (!CHECK(end))
		return;
	if (CHECK(!request(end, service)) && CHECK(hears(end, IB_CM_REJ_RECEIVED)))
		CHECK(end->reason == reason);
	CHECK(ib_send_cm_dreq(end->id, NULL, 0) == -EINVAL);
	active_free(end);
}

static void resolve(void)
{
	struct end *end = kcm_caller_new(&dev, IB_QPT_UD, active_handler);
	struct sa_path_rec path;
	struct ib_cm_sidr_req_param req = {
		.path = &path, .service_id = cpu_to_be64(SERVICE), .timeout_ms = 1000,
		.private_data = "who", .private_data_len = 3, .max_cm_retries = 10,
	};

	if (!CHECK(end))
		return;
	if (CHECK(can_send_datagrams(end)) && CHECK(!path_to_peer(&path)) &&
	    CHECK(!ib_send_cm_sidr_req(end->id, &req)) &&
	    CHECK(hears(end, IB_CM_SIDR_REP_RECEIVED)) && CHECK(end->data == 's'))
		send_datagram(end, &path);
	active_free(end);
}

static int run_set(const char *val, const struct kernel_param *kp)
{
	unsigned int times;
	int ret = kstrtouint(val, 0, &times);

	if (ret)
		return ret;
	if (!dev.ib || !peer_lid)
		return -ENODEV;
	while (times--)
		connect_once();
	be_refused(NOBODY, IB_CM_REJ_INVALID_SERVICE_ID);
	be_refused(REFUSED, IB_CM_REJ_CONSUMER_DEFINED);
	resolve();
	return 0;
}

static const struct kernel_param_ops run_ops = { .set = run_set };
module_param_cb(run, &run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "number of connections to make");

/* ---- the device ---- */

static int start(void)
{
	int ret;

	kcm.service = end_new_with(dev.pd, IB_QPT_UD, NULL);
	if (!kcm.service)
		return -ENOMEM;
	ret = -EIO;
	if (!can_send_datagrams(kcm.service) || post_recv_for(kcm.service, datagram_arrived))
		goto service;
	kcm.listener = kcm_listen(&dev, passive_handler, SERVICE);
	ret = PTR_ERR_OR_ZERO(kcm.listener);
	if (ret)
		goto service;
	kcm.refuser = kcm_listen(&dev, refusing_handler, REFUSED);
	ret = PTR_ERR_OR_ZERO(kcm.refuser);
	if (!ret)
		return 0;
	ib_destroy_cm_id(kcm.listener);
service:
	end_free(kcm.service);
	return ret;
}

static void stop(void)
{
	ib_destroy_cm_id(kcm.refuser);
	ib_destroy_cm_id(kcm.listener);
	ib_drain_qp(kcm.service->qp);
	end_free(kcm.service);
}

static int kcm_add(struct ib_device *ib)
{
	return kcm_device_take(&dev, ib, start);
}

static void kcm_remove(struct ib_device *ib, void *data)
{
	kcm_device_leave(&dev, ib, stop);
}

static struct ib_client kcm_client = {
	.name = "rdma_kcm",
	.add = kcm_add,
	.remove = kcm_remove,
};

module_driver(kcm_client, ib_register_client, ib_unregister_client);
MODULE_DESCRIPTION("Connections by ib_cm alone");
MODULE_LICENSE("Dual BSD/GPL");
