// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A kernel consumer of ib_cm's functions beyond Linux 6.12: it listens on the first port of the
 * first device, and connects to another guest, or to itself.
 *
 * Writing a number to "run" does the following that number of times: a request is taken by the
 * listen that compares its private data; a request is handed to another id, whose connection gets a
 * message right behind the RTU; and a request for a datagram service is redirected. Writing a
 * number to "call" makes that number of connections with a peer that does the same at the same
 * time. "passed" and "failed" count the checks.
 */
#include <linux/module.h>
#include <rdma/ib_cache.h>
#include <rdma/rdma_ext_cm.h>

#include "kcheck.h"
#include "kcm_end.h"

#define COMPARED	0x6b636e01ULL
#define GIVEN		0x6b636e02ULL
#define TAKEN		0x6b636e03ULL
#define ELSEWHERE	0x6b636e04ULL
#define CALLED		0x6b636e05ULL
#define PATIENCE	(60 * HZ)

static uint peer_lid;
module_param(peer_lid, uint, 0644);
MODULE_PARM_DESC(peer_lid, "LID to ask");

static ulong peer_id;
module_param(peer_id, ulong, 0644);
MODULE_PARM_DESC(peer_id, "lower half of its GID 0");

static uint yielded, kept, changed;
module_param(yielded, uint, 0444);
MODULE_PARM_DESC(yielded, "calls in which the peer's request went on");
module_param(kept, uint, 0444);
MODULE_PARM_DESC(kept, "calls in which the own request went on");
module_param(changed, uint, 0444);
MODULE_PARM_DESC(changed, "listens that were told that their LID has gone");

enum { FIRST, SECOND, GIVER, TAKER, SENDER, LISTENERS };

static struct kcm_device dev;

static struct {
	struct ib_cm_id *listener[LISTENERS];
} kcm;

/* ---- the passive side ---- */

/* Rejects, and names the listen in the private data. */
static int compared_handler(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	u8 which = id->context == &kcm.listener[FIRST] ? '1' : '2';

	if (event->event == IB_CM_REQ_RECEIVED)
		CHECK(!ib_send_cm_rej(id, IB_CM_REJ_CONSUMER_DEFINED, NULL, 0, &which, 1));
	return -ECANCELED;
}

static int giving_handler(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	if (event->event != IB_CM_REQ_RECEIVED)
		return -ECANCELED;
	return CHECK(!ib_cm_handoff(id, event, cpu_to_be64(TAKEN))) ? 0 : -EINVAL;
}

/* The receive is posted with the reply, so that the message behind the RTU finds it. */
static int accept_with_receive(struct ib_cm_id *id, struct end *end)
{
	struct ib_sge sge = { end->dma + sizeof(u32), sizeof(u32), end->pd->local_dma_lkey };
	struct ib_recv_wr wr = { .wr_cqe = &end->recv, .sg_list = &sge, .num_sge = 1 };
	struct ib_cm_rep_param rep = {
		.qp_num = end->qp->qp_num, .starting_psn = starting_psn(end),
		.responder_resources = 1, .initiator_depth = 1, .rnr_retry_count = 7,
	};

	end->id = id;
	end->recv.done = arrived;
	return to_state(end, IB_QPS_INIT) ?: to_rtr_before_rep(end) ?:
	       ib_send_cm_rep_recv(id, &rep, end->qp, &wr, NULL);
}

static int answer(struct ib_cm_id *id)
{
	struct end *end = end_new(dev.pd);

	if (!end)
		return -ENOMEM;
	if (!CHECK(!accept_with_receive(id, end))) {
		end_free(end);
		return -EINVAL;
	}
	id->context = end;
	return 0;
}

static int taking_handler(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	struct end *end = id->context;

	switch (event->event) {
	case IB_CM_REQ_RECEIVED:
		CHECK(id->service_id == cpu_to_be64(TAKEN));
		CHECK(event->param.req_rcvd.listen_id == kcm.listener[TAKER]);
		return answer(id);
	case IB_CM_RTU_RECEIVED:
		if (CHECK(!to_state(end, IB_QPS_RTS)))
			CHECK(!post_send(end));
		return 0;
	case IB_CM_DREQ_RECEIVED:
		ib_drain_qp(end->qp);
		CHECK(end->got);
		CHECK(!ib_send_cm_drep(id, NULL, 0));
		break;
	default:
		CHECK(false);
		break;
	}
	end_free(end);
	return -ECANCELED;
}

/* Redirects to the peer of this module; with two guests that is the side that asks. */
static int sending_handler(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	struct ib_class_port_info where = {
		.redirect_lid = cpu_to_be16(peer_lid), .redirect_pkey = cpu_to_be16(PKEY),
		.redirect_qp = IB_QP1, .redirect_qkey = cpu_to_be32(IB_QP1_QKEY),
	};
	struct ib_cm_sidr_rep_param here = { .qp_num = 0x4243, .qkey = 0x12 };
	union ib_gid gid;

	if (event->event != IB_CM_SIDR_REQ_RECEIVED)
		return -ECANCELED;
	/* A request that was redirected has this private data. */
	if (*(u8 *)event->private_data == 'o') {
		CHECK(!ib_send_cm_sidr_rep(id, &here));
		return -ECANCELED;
	}
	CHECK(!rdma_query_gid(dev.ib, 1, 0, &gid));
	gid.global.interface_id = cpu_to_be64(peer_id);
	memcpy(where.redirect_gid, &gid, sizeof(gid));
	CHECK(!ib_send_cm_sidr_redirect(id, &where, "there", 5));
	return -ECANCELED;
}

static int path_to_peer(struct sa_path_rec *path)
{
	return kcm_make_path(&dev, path, 1, peer_lid, peer_id);
}

/* ---- the active side ---- */

static int follow(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	struct sa_path_rec path;
	struct ib_cm_sidr_req_param again = {
		.path = &path, .service_id = cpu_to_be64(ELSEWHERE), .timeout_ms = 1000,
		.private_data = "on", .private_data_len = 2, .max_cm_retries = 10,
	};

	return path_to_peer(&path) ?: ib_cm_sidr_follow(id, event, &again);
}

static int active_handler(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	struct end *end = id->context;

	if (event->event == IB_CM_TIMEWAIT_EXIT)
		return 0;
	if (event->event == IB_CM_SIDR_REP_RECEIVED &&
	    event->param.sidr_rep_rcvd.status == IB_SIDR_REDIRECT) {
		end->data = *(u8 *)event->private_data;
		if (CHECK(!follow(id, event)))
			return 0;
	}
	/*
	 * A side that has called, and yields to its peer, gets more than one event, one after the
	 * other.
	 */
	end->event = event->event;
	if (event->event == IB_CM_REJ_RECEIVED) {
		end->reason = event->param.rej_rcvd.reason;
		end->data = *(u8 *)event->private_data;
	}
	if (event->event == IB_CM_SIDR_REP_RECEIVED)
		end->qpn = event->param.sidr_rep_rcvd.qpn;
	complete(&end->heard);
	return 0;
}

static bool hears_something(struct end *end)
{
	return wait_for_completion_timeout(&end->heard, PATIENCE);
}

static bool hears(struct end *end, enum ib_cm_event_type event)
{
	return hears_something(end) && end->event == event;
}

static int request(struct end *end, u64 service, const char *data, bool peer)
{
	struct sa_path_rec path;
	struct ib_cm_req_param req = {
		.primary_path = &path, .service_id = cpu_to_be64(service),
		.qp_num = end->qp->qp_num, .qp_type = IB_QPT_RC,
		.starting_psn = starting_psn(end), .private_data = data,
		.private_data_len = strlen(data), .responder_resources = 1,
		.initiator_depth = 1, .remote_cm_response_timeout = 17,
		.local_cm_response_timeout = 17, .retry_count = 7, .rnr_retry_count = 7,
		.max_cm_retries = 15,
	};

	return path_to_peer(&path) ?: peer ? ib_send_cm_req_peer(end->id, &req) :
					  ib_send_cm_req(end->id, &req);
}

static void active_free(struct end *end)
{
	ib_destroy_cm_id(end->id);
	end_free(end);
}

static void be_compared(const char *data, int reason, u8 said)
{
	struct end *end = kcm_caller_new(&dev, IB_QPT_RC, active_handler);

	if (!CHECK(end))
		return;
	if (CHECK(!request(end, COMPARED, data, false)) && CHECK(hears(end, IB_CM_REJ_RECEIVED))) {
		CHECK(end->reason == reason);
		CHECK(end->data == said);
	}
	active_free(end);
}

/* Sends a message, and receives that of the peer */
static bool talk(struct end *end)
{
	return CHECK(!post_send(end)) &&
	       CHECK(wait_for_completion_timeout(&end->done, PATIENCE)) &&
	       CHECK(end->status == IB_WC_SUCCESS) &&
	       CHECK(wait_for_completion_timeout(&end->came, PATIENCE)) && CHECK(end->got);
}

/* The reply has come. */
static bool go_on(struct end *end)
{
	return CHECK(!to_rts(end)) && CHECK(!post_recv(end)) &&
	       CHECK(!ib_send_cm_rtu(end->id, NULL, 0)) && talk(end);
}

static void be_given_away(void)
{
	struct end *end = kcm_caller_new(&dev, IB_QPT_RC, active_handler);

	if (!CHECK(end))
		return;
	if (CHECK(!request(end, GIVEN, "req", false)) && CHECK(hears(end, IB_CM_REP_RECEIVED)) &&
	    go_on(end) && CHECK(!ib_send_cm_dreq(end->id, NULL, 0)))
		CHECK(hears(end, IB_CM_DREP_RECEIVED));
	active_free(end);
}

static void be_sent_on(void)
{
	struct end *end = kcm_caller_new(&dev, IB_QPT_RC, active_handler);
	struct sa_path_rec path;
	struct ib_cm_sidr_req_param req = {
		.path = &path, .service_id = cpu_to_be64(ELSEWHERE), .timeout_ms = 1000,
		.private_data = "who", .private_data_len = 3, .max_cm_retries = 10,
	};

	if (!CHECK(end))
		return;
	if (CHECK(!path_to_peer(&path)) && CHECK(!ib_send_cm_sidr_req(end->id, &req)) &&
	    CHECK(hears(end, IB_CM_SIDR_REP_RECEIVED))) {
		CHECK(end->qpn == 0x4243);
		CHECK(end->data == 't');
	}
	active_free(end);
}

/* ---- both sides active (peer to peer) ---- */

static void keep(struct end *end)
{
	kept++;
	if (go_on(end) && CHECK(!ib_send_cm_dreq(end->id, NULL, 0)))
		CHECK(hears(end, IB_CM_DREP_RECEIVED));
}

static void answer_call(struct end *end)
{
	yielded++;
	if (CHECK(!accept_with_receive(end->id, end)) && CHECK(hears(end, IB_CM_RTU_RECEIVED)) &&
	    CHECK(!to_state(end, IB_QPS_RTS)) && talk(end) &&
	    CHECK(hears(end, IB_CM_DREQ_RECEIVED)))
		CHECK(!ib_send_cm_drep(end->id, NULL, 0));
}

static void call_once(void)
{
	struct end *end = kcm_caller_new(&dev, IB_QPT_RC, active_handler);

	if (!CHECK(end))
		return;
	if (CHECK(!request(end, CALLED, "call", true)) && CHECK(hears_something(end))) {
		if (end->event == IB_CM_REQ_RECEIVED)
			answer_call(end);
		else if (CHECK(end->event == IB_CM_REP_RECEIVED))
			keep(end);
	}
	active_free(end);
}

/* ---- the module's parameters ---- */

static int times_of(const char *val, unsigned int *times)
{
	int ret = kstrtouint(val, 0, times);

	return ret ?: dev.ib && peer_lid ? 0 : -ENODEV;
}

static int run_set(const char *val, const struct kernel_param *kp)
{
	unsigned int times;
	int ret = times_of(val, &times);

	if (ret)
		return ret;
	while (times--) {
		be_compared("xA", IB_CM_REJ_CONSUMER_DEFINED, '1');
		be_compared("yB", IB_CM_REJ_CONSUMER_DEFINED, '2');
		be_compared("AC", IB_CM_REJ_INVALID_SERVICE_ID, 0);
		be_given_away();
		be_sent_on();
	}
	return 0;
}

static int call_set(const char *val, const struct kernel_param *kp)
{
	unsigned int times;
	int ret = times_of(val, &times);

	if (ret)
		return ret;
	while (times--)
		call_once();
	return 0;
}

static const struct kernel_param_ops run_ops = { .set = run_set };
module_param_cb(run, &run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "number of requests to send");

static const struct kernel_param_ops call_ops = { .set = call_set };
module_param_cb(call, &call_ops, NULL, 0200);
MODULE_PARM_DESC(call, "number of calls to make");

/* ---- the device ---- */

static int on_error(struct ib_cm_id *id, enum ib_cm_listen_error error)
{
	changed += error == IB_CM_LISTEN_LID;
	return 0;
}

static int listen(unsigned int which, ib_cm_handler handler, const struct ib_cm_listen_param *param)
{
	struct ib_cm_id *id = ib_create_cm_id(dev.ib, handler, &kcm.listener[which]);
	int ret;

	if (IS_ERR(id))
		return PTR_ERR(id);
	ret = ib_cm_listen_directed(id, param);
	if (ret)
		ib_destroy_cm_id(id);
	else
		kcm.listener[which] = id;
	return ret;
}

static void unlisten_all(void)
{
	for (unsigned int i = 0; i < LISTENERS; i++)
		if (kcm.listener[i])
			ib_destroy_cm_id(kcm.listener[i]);
	memset(kcm.listener, 0, sizeof(kcm.listener));
}

/* Directed by all that there is, and, on the first two, by the second byte of private data. */
static int listen_all(void)
{
	static const ib_cm_handler handlers[LISTENERS] = {
		compared_handler, compared_handler, giving_handler, taking_handler,
		sending_handler,
	};
	static const u64 services[LISTENERS] = { COMPARED, COMPARED, GIVEN, TAKEN, ELSEWHERE };
	struct ib_cm_listen_param param = { .pkey = PKEY, .error_handler = on_error };
	struct ib_port_attr attr;
	union ib_gid gid;
	int ret = ib_query_port(dev.ib, 1, &attr) ?: rdma_query_gid(dev.ib, 1, 0, &gid);

	for (unsigned int i = 0; i < LISTENERS && !ret; i++) {
		param.service_id = cpu_to_be64(services[i]);
		param.port_guid = gid.global.interface_id;
		param.lid = attr.lid;
		param.offset = i <= SECOND;
		param.length = i <= SECOND;
		param.data = i == FIRST ? "A" : "B";
		ret = listen(i, handlers[i], &param);
	}
	if (ret)
		unlisten_all();
	return ret;
}

static int kcm_add(struct ib_device *ib)
{
	return kcm_device_take(&dev, ib, listen_all);
}

static void kcm_remove(struct ib_device *ib, void *data)
{
	kcm_device_leave(&dev, ib, unlisten_all);
}

static struct ib_client kcm_client = {
	.name = "rdma_kcm_ext",
	.add = kcm_add,
	.remove = kcm_remove,
};

module_driver(kcm_client, ib_register_client, ib_unregister_client);
MODULE_DESCRIPTION("What ib_cm has beyond Linux 6.12");
MODULE_LICENSE("Dual BSD/GPL");
