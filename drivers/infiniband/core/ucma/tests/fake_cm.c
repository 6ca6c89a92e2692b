// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The fake connection manager: it notes the calls it gets, answers what the test wants, and calls
 * handlers as the real one does, one at a time for each CM id.
 */
#include <linux/slab.h>

#include "test_ucma.h"

static struct ucma_test *played;

static struct fake_id *fake_of(struct rdma_cm_id *cm)
{
	return container_of(cm, struct fake_id, cm);
}

static int called(const char *name)
{
	played->called = name;
	return played->answer;
}

static struct rdma_cm_id *new_id(rdma_cm_event_handler handler, void *context,
				 enum rdma_ucm_port_space ps, enum ib_qp_type qp_type)
{
	struct fake_id *fake = kzalloc(sizeof(*fake), GFP_KERNEL);

	if (!fake)
		return ERR_PTR(-ENOMEM);
	mutex_init(&fake->handler);
	fake->cm.event_handler = handler;
	fake->cm.context = context;
	fake->cm.ps = ps;
	fake->cm.qp_type = qp_type;
	guard(mutex)(&played->lock);
	list_add(&fake->entry, &played->cms);
	played->made++;
	return &fake->cm;
}

static struct rdma_cm_id *fake_create(rdma_cm_event_handler handler, void *context,
				      enum rdma_ucm_port_space ps, enum ib_qp_type qp_type)
{
	int ret = called("create_user_id");

	return ret ? ERR_PTR(ret) : new_id(handler, context, ps, qp_type);
}

static void fake_destroy(struct rdma_cm_id *cm)
{
	struct fake_id *fake = fake_of(cm);

	/* As the real one, it waits for the handler */
	scoped_guard(mutex, &fake->handler)
		cm->context = NULL;
	guard(mutex)(&played->lock);
	list_move(&fake->entry, &played->dead);
	played->made--;
}

static int fake_bind(struct rdma_cm_id *cm, struct sockaddr *addr)
{
	memcpy(&played->addr, addr, sizeof(struct sockaddr_in6));
	return called("bind_addr");
}

static int fake_resolve_addr(struct rdma_cm_id *cm, struct sockaddr *src,
			     const struct sockaddr *dst, unsigned long timeout_ms)
{
	if (played->stops) {
		complete(&played->inside);
		KUNIT_EXPECT_TRUE(played->test,
				  wait_for_completion_timeout(&played->outside, 20 * HZ));
	}
	memcpy(&played->addr, dst, sizeof(struct sockaddr_in6));
	played->number = timeout_ms << 16 | src->sa_family;
	return called("resolve_addr");
}

static int fake_resolve_route(struct rdma_cm_id *cm, unsigned long timeout_ms)
{
	played->number = timeout_ms;
	return called("resolve_route");
}

static int fake_connect(struct rdma_cm_id *cm, struct rdma_conn_param *param,
			struct rdma_ucm_ece *ece)
{
	played->param = *param;
	played->number = param->private_data_len ? *(const u8 *)param->private_data : 0;
	played->ece = *ece;
	return called("connect");
}

static int fake_listen(struct rdma_cm_id *cm, int backlog)
{
	played->number = backlog;
	return called("listen");
}

static int fake_accept(struct rdma_cm_id *cm, struct rdma_conn_param *param,
		       struct rdma_ucm_ece *ece)
{
	lockdep_assert_held(&fake_of(cm)->handler);
	if (param)
		played->param = *param;
	played->ece = *ece;
	return called(param ? "accept" : "accept without");
}

static int fake_reject(struct rdma_cm_id *cm, const void *data, u8 len, u8 reason)
{
	played->number = reason << 8 | len;
	return called("reject");
}

static int fake_disconnect(struct rdma_cm_id *cm)
{
	return called("disconnect");
}

static int fake_init_qp_attr(struct rdma_cm_id *cm, struct ib_qp_attr *attr, int *mask)
{
	attr->qp_access_flags = 5;
	*mask = IB_QP_STATE | IB_QP_ACCESS_FLAGS;
	return called("init_qp_attr");
}

static int fake_notify(struct rdma_cm_id *cm, enum ib_event_type event)
{
	played->number = event;
	return called("notify");
}

static int fake_join(struct rdma_cm_id *cm, struct sockaddr *addr, u8 join_state, void *context)
{
	memcpy(&played->addr, addr, sizeof(struct sockaddr_in6));
	played->number = join_state;
	played->context = context;
	return called("join_multicast");
}

static void fake_leave(struct rdma_cm_id *cm, const void *context)
{
	played->context = NULL;
	played->left_group = context;
	called("leave_multicast");
}

static void fake_set_tos(struct rdma_cm_id *cm, int tos)
{
	played->number = tos;
	called("set_service_type");
}

static int fake_set_reuseaddr(struct rdma_cm_id *cm, int reuse)
{
	played->number = reuse;
	return called("set_reuseaddr");
}

static int fake_set_afonly(struct rdma_cm_id *cm, int afonly)
{
	played->number = afonly;
	return called("set_afonly");
}

static int fake_set_ack_timeout(struct rdma_cm_id *cm, u8 timeout)
{
	played->number = timeout;
	return called("set_ack_timeout");
}

static int fake_set_ib_path(struct rdma_cm_id *cm, struct sa_path_rec *path)
{
	played->number = be32_to_cpu(sa_path_get_dlid(path));
	return called("set_ib_path");
}

static void fake_read_gids(struct rdma_cm_id *cm, union ib_gid *sgid, union ib_gid *dgid)
{
	sgid->raw[15] = 1;
	dgid->raw[15] = 2;
}

static __be64 fake_get_service_id(struct rdma_cm_id *cm, struct sockaddr *addr)
{
	return cpu_to_be64(addr->sa_family);
}

static void fake_lock_handler(struct rdma_cm_id *cm)
{
	mutex_lock(&fake_of(cm)->handler);
}

static void fake_unlock_handler(struct rdma_cm_id *cm)
{
	mutex_unlock(&fake_of(cm)->handler);
}

const struct ucma_cm_calls fake_cm_calls = {
	.create_user_id = fake_create,
	.destroy_id = fake_destroy,
	.bind_addr = fake_bind,
	.resolve_addr = fake_resolve_addr,
	.resolve_route = fake_resolve_route,
	.connect_ece = fake_connect,
	.listen = fake_listen,
	.accept_ece = fake_accept,
	.reject = fake_reject,
	.disconnect = fake_disconnect,
	.init_qp_attr = fake_init_qp_attr,
	.notify = fake_notify,
	.join_multicast = fake_join,
	.leave_multicast_of = fake_leave,
	.set_service_type = fake_set_tos,
	.set_reuseaddr = fake_set_reuseaddr,
	.set_afonly = fake_set_afonly,
	.set_ack_timeout = fake_set_ack_timeout,
	.set_ib_path = fake_set_ib_path,
	.read_gids = fake_read_gids,
	.get_service_id = fake_get_service_id,
	.lock_handler = fake_lock_handler,
	.unlock_handler = fake_unlock_handler,
};

/**
 * fake_cm_play() - take the place of the connection manager
 * @t: the test; NULL ends it
 */
void fake_cm_play(struct ucma_test *t)
{
	struct fake_id *fake, *next;

	if (!t) {
		list_for_each_entry_safe(fake, next, &played->dead, entry)
			kfree(fake);
		ucma_cm = played->real;
		played = NULL;
		return;
	}
	played = t;
	t->real = ucma_cm;
	ucma_cm = &fake_cm_calls;
}

/**
 * fake_cm_newest() - the CM id that was made last
 * @t: the test
 *
 * Return: the CM id.
 */
struct rdma_cm_id *fake_cm_newest(struct ucma_test *t)
{
	guard(mutex)(&t->lock);
	return &list_first_entry(&t->cms, struct fake_id, entry)->cm;
}

/**
 * fake_cm_event() - an event of a CM id
 * @cm: CM id
 * @event: the event
 *
 * Return: what the handler has returned.
 */
int fake_cm_event(struct rdma_cm_id *cm, struct rdma_cm_event *event)
{
	guard(mutex)(&fake_of(cm)->handler);
	return cm->event_handler(cm, event);
}

/**
 * fake_cm_tell() - an event without parameters
 * @cm: CM id
 * @type: what happened
 * @status: its status
 *
 * Return: what the handler has returned.
 */
int fake_cm_tell(struct rdma_cm_id *cm, enum rdma_cm_event_type type, int status)
{
	struct rdma_cm_event event = { .event = type, .status = status };

	return fake_cm_event(cm, &event);
}

/**
 * fake_cm_request() - somebody connects to a listening id
 * @t: the test
 * @listener: its CM id
 *
 * The private data is "hello".
 *
 * Return: what the handler has returned; if that is an error, the new CM id is destroyed.
 */
int fake_cm_request(struct ucma_test *t, struct rdma_cm_id *listener)
{
	struct rdma_cm_event event = {
		.event = RDMA_CM_EVENT_CONNECT_REQUEST,
		.param.conn = { .private_data = "hello", .private_data_len = 5, .qp_num = 77,
				.retry_count = 7, .rnr_retry_count = 6 },
		.ece = { .vendor_id = 1, .attr_mod = 2 },
	};
	struct rdma_cm_id *cm = new_id(listener->event_handler, listener->context, listener->ps,
				       listener->qp_type);
	int ret;

	if (IS_ERR(cm))
		return PTR_ERR(cm);
	cm->device = &t->ib;
	cm->port_num = 1;
	ret = fake_cm_event(cm, &event);
	if (ret)
		fake_destroy(cm);
	return ret;
}
