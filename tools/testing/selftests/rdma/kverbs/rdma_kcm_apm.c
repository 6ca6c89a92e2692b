// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A kernel consumer of alternate paths: a connection between the first ports of two guests' devices
 * gets one between their second ports by LAP and APR, and uses it when the first link is cut.
 *
 * The module accepts every connection, and sends back each word. Writing to "connect" connects to
 * peer_lid; "load" loads the path to alt_lid; a number written to "talk" sends that number of
 * words, and waits for each to come back; "disconnect" ends the connection. "passed" and "failed"
 * count the checks, "migrated" the QPs that have migrated to their alternate path.
 */
#include <linux/module.h>
#include <rdma/ib_cache.h>
#include <rdma/rdma_ext_cm.h>

#include "kcheck.h"
#include "kcm_end.h"

#define SERVICE		0x6b636e10ULL
#define PATIENCE	(120 * HZ)
#define PORTS		2

static uint peer_lid, alt_lid;
module_param(peer_lid, uint, 0644);
MODULE_PARM_DESC(peer_lid, "LID of the peer's first port");
module_param(alt_lid, uint, 0644);
MODULE_PARM_DESC(alt_lid, "LID of its second port");

static ulong peer_id, alt_id;
module_param(peer_id, ulong, 0644);
MODULE_PARM_DESC(peer_id, "lower half of the first port's GID 0");
module_param(alt_id, ulong, 0644);
MODULE_PARM_DESC(alt_id, "lower half of the second port's GID 0");

static uint migrated, ended;
module_param(migrated, uint, 0444);
MODULE_PARM_DESC(migrated, "QPs that have gone over to their alternate path");
module_param(ended, uint, 0444);
MODULE_PARM_DESC(ended, "connections of others that have ended");

static struct kcm_device dev;

static struct {
	struct ib_cm_id *listener;
	struct end *active;
} kcm;

/* ---- both sides ---- */

/* Messages of the connection manager take the same path as the QP. */
static void qp_event(struct ib_event *event, void *context)
{
	struct end *end = context;

	if (event->event != IB_EVENT_PATH_MIG)
		return;
	CHECK(!ib_cm_notify(end->id, IB_EVENT_PATH_MIG));
	migrated++;
}

/* Loads the path that both sides have agreed on as the QP's alternate path. */
static int load(struct end *end)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTS };
	int mask, ret = ib_cm_init_qp_attr(end->id, &attr, &mask);

	if (ret)
		return ret;
	CHECK(mask == (IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE));
	CHECK(attr.alt_port_num == 2 && attr.path_mig_state == IB_MIG_REARM);
	return ib_modify_qp(end->qp, &attr, mask);
}

/* ---- the passive side ---- */

/* A word has arrived: sends it back, and posts the next receive. */
static void echo(struct ib_cq *cq, struct ib_wc *wc)
{
	struct end *end = container_of(wc->wr_cqe, struct end, recv);

	if (wc->status != IB_WC_SUCCESS)
		return;
	CHECK(end->buf[1] == WORD);
	end->buf[1] = 0;
	CHECK(!post_recv_for(end, echo));
	CHECK(!post_send(end));
}

static int answer(struct ib_cm_id *id)
{
	struct end *end = end_new_with(dev.pd, IB_QPT_RC, qp_event);
	struct ib_cm_rep_param rep = {
		.responder_resources = 1, .initiator_depth = 1, .rnr_retry_count = 7,
	};

	if (!end)
		return -ENOMEM;
	end->id = id;
	rep.qp_num = end->qp->qp_num;
	rep.starting_psn = starting_psn(end);
	/* A word may come before the RTU does, and is sent back all the same. */
	if (!CHECK(!to_state(end, IB_QPS_INIT)) || !CHECK(!to_rtr_before_rep(end)) ||
	    !CHECK(!to_state(end, IB_QPS_RTS)) || !CHECK(!post_recv_for(end, echo)) ||
	    !CHECK(!ib_send_cm_rep(id, &rep))) {
		end_free(end);
		return -EINVAL;
	}
	id->context = end;
	return 0;
}

static int passive_handler(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	struct end *end = id->context;

	switch (event->event) {
	case IB_CM_REQ_RECEIVED:
		return answer(id);
	case IB_CM_RTU_RECEIVED:
		return 0;
	case IB_CM_LAP_RECEIVED:
		CHECK(!load(end));
		CHECK(!ib_send_cm_apr(id, IB_CM_APR_SUCCESS, NULL, 0, "apr", 3));
		return 0;
	case IB_CM_DREQ_RECEIVED:
		ib_drain_qp(end->qp);
		CHECK(!ib_send_cm_drep(id, NULL, 0));
		break;
	default:
		CHECK(false);
		break;
	}
	end_free(end);
	ended++;
	return -ECANCELED;
}

/* ---- the active side ---- */

static int active_handler(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	struct end *end = id->context;

	if (event->event == IB_CM_TIMEWAIT_EXIT)
		return 0;
	end->event = event->event;
	if (event->event == IB_CM_APR_RECEIVED)
		end->reason = event->param.apr_rcvd.ap_status;
	complete(&end->heard);
	return 0;
}

static bool hears(struct end *end, enum ib_cm_event_type event)
{
	return wait_for_completion_timeout(&end->heard, PATIENCE) && end->event == event;
}

static void connect(void)
{
	struct sa_path_rec path;
	struct ib_cm_req_param req = {
		.primary_path = &path, .service_id = cpu_to_be64(SERVICE), .qp_type = IB_QPT_RC,
		.responder_resources = 1, .initiator_depth = 1, .remote_cm_response_timeout = 17,
		.local_cm_response_timeout = 17, .retry_count = 3, .rnr_retry_count = 7,
		.max_cm_retries = 15,
	};
	struct end *end = end_new_with(dev.pd, IB_QPT_RC, qp_event);

	if (!CHECK(end))
		return;
	end->id = ib_create_cm_id(dev.ib, active_handler, end);
	if (!CHECK(!IS_ERR(end->id))) {
		end_free(end);
		return;
	}
	kcm.active = end;
	req.qp_num = end->qp->qp_num;
	req.starting_psn = starting_psn(end);
	if (CHECK(!kcm_make_path(&dev, &path, 1, peer_lid, peer_id)) &&
	    CHECK(!ib_send_cm_req(end->id, &req)) && CHECK(hears(end, IB_CM_REP_RECEIVED)) &&
	    CHECK(!to_rts(end)))
		CHECK(!ib_send_cm_rtu(end->id, NULL, 0));
}

static void load_alternate(void)
{
	struct end *end = kcm.active;
	struct sa_path_rec path;

	if (CHECK(!kcm_make_path(&dev, &path, 2, alt_lid, alt_id)) &&
	    CHECK(!ib_send_cm_lap(end->id, &path, "lap", 3)) &&
	    CHECK(hears(end, IB_CM_APR_RECEIVED)) && CHECK(end->reason == IB_CM_APR_SUCCESS))
		CHECK(!load(end));
}

static bool say(struct end *end)
{
	end->buf[1] = 0;
	end->got = false;
	return CHECK(!post_recv(end)) && CHECK(!post_send(end)) &&
	       CHECK(wait_for_completion_timeout(&end->done, PATIENCE)) &&
	       CHECK(end->status == IB_WC_SUCCESS) &&
	       CHECK(wait_for_completion_timeout(&end->came, PATIENCE)) && CHECK(end->got);
}

static void disconnect(void)
{
	struct end *end = kcm.active;

	if (CHECK(!ib_send_cm_dreq(end->id, NULL, 0)))
		CHECK(hears(end, IB_CM_DREP_RECEIVED));
	ib_destroy_cm_id(end->id);
	end_free(end);
	kcm.active = NULL;
}

/* ---- the module's parameters ---- */

static int connect_set(const char *val, const struct kernel_param *kp)
{
	if (!dev.ib || kcm.active)
		return -EBUSY;
	connect();
	return 0;
}

static int load_set(const char *val, const struct kernel_param *kp)
{
	if (!kcm.active)
		return -ENOTCONN;
	load_alternate();
	return 0;
}

static int talk_set(const char *val, const struct kernel_param *kp)
{
	unsigned int words;
	int ret = kstrtouint(val, 0, &words);

	if (ret)
		return ret;
	if (!kcm.active)
		return -ENOTCONN;
	while (words-- && say(kcm.active))
		;
	return 0;
}

static int disconnect_set(const char *val, const struct kernel_param *kp)
{
	if (!kcm.active)
		return -ENOTCONN;
	disconnect();
	return 0;
}

static const struct kernel_param_ops connect_ops = { .set = connect_set };
module_param_cb(connect, &connect_ops, NULL, 0200);
MODULE_PARM_DESC(connect, "connect to peer_lid");

static const struct kernel_param_ops load_ops = { .set = load_set };
module_param_cb(load, &load_ops, NULL, 0200);
MODULE_PARM_DESC(load, "load the path to alt_lid");

static const struct kernel_param_ops talk_ops = { .set = talk_set };
module_param_cb(talk, &talk_ops, NULL, 0200);
MODULE_PARM_DESC(talk, "number of words to send, each of which has to come back");

static const struct kernel_param_ops disconnect_ops = { .set = disconnect_set };
module_param_cb(disconnect, &disconnect_ops, NULL, 0200);
MODULE_PARM_DESC(disconnect, "end the connection");

/* ---- the device ---- */

static int start(void)
{
	kcm.listener = kcm_listen(&dev, passive_handler, SERVICE);
	return PTR_ERR_OR_ZERO(kcm.listener);
}

static void stop(void)
{
	if (kcm.active)
		disconnect();
	ib_destroy_cm_id(kcm.listener);
}

static int kcm_add(struct ib_device *ib)
{
	if (ib->phys_port_cnt < PORTS)
		return -EOPNOTSUPP;
	return kcm_device_take(&dev, ib, start);
}

static void kcm_remove(struct ib_device *ib, void *data)
{
	kcm_device_leave(&dev, ib, stop);
}

static struct ib_client kcm_client = {
	.name = "rdma_kcm_apm",
	.add = kcm_add,
	.remove = kcm_remove,
};

module_driver(kcm_client, ib_register_client, ib_unregister_client);
MODULE_DESCRIPTION("Connections that go over to an alternate path");
MODULE_LICENSE("Dual BSD/GPL");
