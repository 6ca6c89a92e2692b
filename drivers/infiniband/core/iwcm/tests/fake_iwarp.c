// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See fake_iwarp.h.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "fake_iwarp.h"

/* A hang fails the case instead of blocking the run. */
#define PATIENCE (30 * HZ)

static struct fake_iwarp *fake_of(struct ib_device *ib)
{
	return container_of(ib, struct fake_iwarp, ib);
}

static int nothing_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int create_cq(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
		     struct uverbs_attr_bundle *attrs)
{
	cq->cqe = attr->cqe;
	return 0;
}

static int destroy_cq(struct ib_cq *cq, struct ib_udata *udata)
{
	return 0;
}

static int create_qp(struct ib_qp *qp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	qp->qp_num = FAKE_QPN;
	return 0;
}

static int modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	if (mask & IB_QP_STATE)
		fake_of(qp->device)->qp_state = attr->qp_state;
	return 0;
}

static int destroy_qp(struct ib_qp *qp, struct ib_udata *udata)
{
	return 0;
}

static int operation(struct iw_cm_id *cm_id, enum fake_op op)
{
	struct fake_iwarp *fake = fake_of(cm_id->device);

	fake->calls[op]++;
	if (fake->in_op)
		fake->in_op(fake, cm_id, op);
	return fake->answer[op];
}

static int op_connect(struct iw_cm_id *cm_id, struct iw_cm_conn_param *param)
{
	return operation(cm_id, FAKE_CONNECT);
}

static int op_accept(struct iw_cm_id *cm_id, struct iw_cm_conn_param *param)
{
	return operation(cm_id, FAKE_ACCEPT);
}

static int op_reject(struct iw_cm_id *cm_id, const void *data, u8 len)
{
	return operation(cm_id, FAKE_REJECT);
}

static int op_listen(struct iw_cm_id *cm_id, int backlog)
{
	return operation(cm_id, FAKE_LISTEN);
}

static int op_unlisten(struct iw_cm_id *cm_id)
{
	return operation(cm_id, FAKE_UNLISTEN);
}

static struct ib_qp *get_qp(struct ib_device *ib, int qpn)
{
	return qpn == FAKE_QPN ? fake_of(ib)->qp : NULL;
}

static void add_ref(struct ib_qp *qp)
{
	atomic_inc(&fake_of(qp->device)->qp_refs);
}

static void rem_ref(struct ib_qp *qp)
{
	atomic_dec(&fake_of(qp->device)->qp_refs);
}

static const struct ib_device_ops fake_ops = {
	.owner = THIS_MODULE,
	.alloc_pd = nothing_pd,
	.dealloc_pd = nothing_pd,
	.create_cq = create_cq,
	.destroy_cq = destroy_cq,
	.create_qp = create_qp,
	.modify_qp = modify_qp,
	.destroy_qp = destroy_qp,
	.iw_connect = op_connect,
	.iw_accept = op_accept,
	.iw_reject = op_reject,
	.iw_create_listen = op_listen,
	.iw_destroy_listen = op_unlisten,
	.iw_get_qp = get_qp,
	.iw_add_ref = add_ref,
	.iw_rem_ref = rem_ref,
	.size_ib_pd = sizeof(struct ib_pd),
	.size_ib_cq = sizeof(struct ib_cq),
	.size_ib_qp = sizeof(struct ib_qp),
};

/**
 * fake_iwarp_init() - begin a case: test->priv is a device that is not registered, with a QP
 * @test: the case
 *
 * Return: 0.
 */
int fake_iwarp_init(struct kunit *test)
{
	struct fake_iwarp *fake = ib_alloc_device(fake_iwarp, ib);
	struct ib_cq_init_attr cq_attr = { .cqe = 4 };
	struct ib_qp_init_attr qp_attr = { .qp_type = IB_QPT_RC, .cap = { .max_send_wr = 1 } };

	KUNIT_ASSERT_NOT_NULL(test, fake);
	test->priv = fake;
	fake->test = test;
	init_waitqueue_head(&fake->wait);
	dev_set_name(&fake->ib.dev, "kt_iwarp");
	ib_set_device_ops(&fake->ib, &fake_ops);
	fake->ib.attrs.kernel_cap_flags = IBK_LOCAL_DMA_LKEY;
	fake->pd = ib_alloc_pd(&fake->ib, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(fake->pd));
	fake->cq = ib_create_cq(&fake->ib, NULL, NULL, NULL, &cq_attr);
	KUNIT_ASSERT_FALSE(test, IS_ERR(fake->cq));
	qp_attr.send_cq = fake->cq;
	qp_attr.recv_cq = fake->cq;
	fake->qp = ib_create_qp(fake->pd, &qp_attr);
	KUNIT_ASSERT_FALSE(test, IS_ERR(fake->qp));
	return 0;
}

/**
 * fake_iwarp_exit() - end a case; fails if a reference on the QP is left
 * @test: the case
 */
void fake_iwarp_exit(struct kunit *test)
{
	struct fake_iwarp *fake = test->priv;

	KUNIT_EXPECT_EQ(test, atomic_read(&fake->qp_refs), 0);
	ib_destroy_qp(fake->qp);
	ib_destroy_cq(fake->cq);
	ib_dealloc_pd(fake->pd);
	ib_dealloc_device(&fake->ib);
}

static int handler(struct iw_cm_id *cm_id, struct iw_cm_event *event)
{
	struct fake_iwarp *fake = cm_id->context;
	struct fake_heard *heard = &fake->heard[fake->n_heard % FAKE_HEARD];
	int ret;

	heard->cm_id = cm_id;
	heard->event = *event;
	if (event->private_data_len)
		memcpy(heard->data, event->private_data, event->private_data_len);
	heard->event.private_data = heard->data;
	/* A reader that sees the count can read the event. */
	smp_store_release(&fake->n_heard, fake->n_heard + 1);
	ret = fake->act ? fake->act(fake, cm_id, event) : 0;
	wake_up_all(&fake->wait);
	return ret;
}

/**
 * iwt_id() - make an id
 * @fake: the device
 *
 * Return: the id, whose local address is 10.0.0.1:1000 and remote address 10.0.0.2:2000.
 */
struct iw_cm_id *iwt_id(struct fake_iwarp *fake)
{
	struct iw_cm_id *cm_id = iw_create_cm_id(&fake->ib, handler, fake);

	KUNIT_ASSERT_FALSE(fake->test, IS_ERR(cm_id));
	cm_id->local_addr = iwt_address(0x0a000001, 1000);
	cm_id->remote_addr = iwt_address(0x0a000002, 2000);
	return cm_id;
}

/**
 * iwt_param() - get the parameters of a connection
 *
 * Return: those with the device's QP.
 */
struct iw_cm_conn_param iwt_param(void)
{
	return (struct iw_cm_conn_param){ .qpn = FAKE_QPN, .ord = 1, .ird = 1 };
}

/**
 * iwt_address() - make an IPv4 address
 * @ip: address
 * @port: port
 *
 * Return: the address.
 */
struct sockaddr_storage iwt_address(u32 ip, u16 port)
{
	struct sockaddr_storage addr = {};
	struct sockaddr_in *in = (struct sockaddr_in *)&addr;

	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(ip);
	in->sin_port = htons(port);
	return addr;
}

/**
 * iwt_report() - let the driver report an event
 * @cm_id: id
 * @type: kind of event
 * @status: its status
 *
 * Return: return value of iw_cm.
 */
int iwt_report(struct iw_cm_id *cm_id, enum iw_cm_event_type type, int status)
{
	struct iw_cm_event event = { .event = type, .status = status, .ird = 3, .ord = 4 };

	event.local_addr = iwt_address(0x0a000001, 1001);
	event.remote_addr = iwt_address(0x0a000002, 2001);
	return cm_id->event_handler(cm_id, &event);
}

/**
 * iwt_request() - let the driver report a connection request with private data
 * @listener: the listening id
 * @from: port of the peer, which is in the private data, too
 *
 * Return: return value of iw_cm.
 */
int iwt_request(struct iw_cm_id *listener, u16 from)
{
	u8 data[2] = { from & 0xff, from >> 8 };
	struct iw_cm_event event = {
		.event = IW_CM_EVENT_CONNECT_REQUEST,
		.private_data = data, .private_data_len = sizeof(data),
		.provider_data = (void *)(unsigned long)from,
	};

	event.local_addr = iwt_address(0x0a000001, 1001);
	event.remote_addr = iwt_address(0x0a000002, from);
	return listener->event_handler(listener, &event);
}

/**
 * iwt_settle() - wait until all events reported so far were delivered to the consumer
 * @cm_id: an id that exists until then
 */
void iwt_settle(struct iw_cm_id *cm_id)
{
	flush_work(&to_iwcm_id(cm_id)->work);
}

static bool has_heard(struct fake_iwarp *fake, int count)
{
	/* Pairs with the release in the handler. */
	return smp_load_acquire(&fake->n_heard) >= count;
}

/**
 * iwt_wait_heard() - wait until enough events were delivered to the consumer
 * @fake: the device
 * @count: number of events since the beginning of the test
 */
void iwt_wait_heard(struct fake_iwarp *fake, int count)
{
	KUNIT_ASSERT_NE(fake->test, 0,
			wait_event_timeout(fake->wait, has_heard(fake, count), PATIENCE));
}

/**
 * iwt_state() - get the state of an id
 * @cm_id: the id
 *
 * Return: the state.
 */
enum iwcm_state iwt_state(struct iw_cm_id *cm_id)
{
	return READ_ONCE(to_iwcm_id(cm_id)->state);
}

static struct iw_cm_id *connected(struct fake_iwarp *fake)
{
	struct iw_cm_conn_param param = iwt_param();
	struct iw_cm_id *cm_id = iwt_id(fake);

	KUNIT_ASSERT_EQ(fake->test, iw_cm_connect(cm_id, &param), 0);
	KUNIT_ASSERT_EQ(fake->test, iwt_report(cm_id, IW_CM_EVENT_CONNECT_REPLY, 0), 0);
	iwt_settle(cm_id);
	return cm_id;
}

static struct iw_cm_id *requested(struct fake_iwarp *fake)
{
	struct iw_cm_id *listener = iwt_id(fake), *cm_id;
	int heard = fake->n_heard;

	KUNIT_ASSERT_EQ(fake->test, iw_cm_listen(listener, 1), 0);
	KUNIT_ASSERT_EQ(fake->test, iwt_request(listener, 2001), 0);
	iwt_settle(listener);
	KUNIT_ASSERT_EQ(fake->test, fake->n_heard, heard + 1);
	cm_id = fake->heard[heard % FAKE_HEARD].cm_id;
	KUNIT_ASSERT_PTR_NE(fake->test, cm_id, listener);
	iw_destroy_cm_id(listener);
	return cm_id;
}

/**
 * iwt_id_in() - make an id and bring it into a state
 * @fake: the device
 * @state: a state in which an id can rest
 *
 * Return: the id; for IWCM_DESTROYED with a reference of the driver.
 */
struct iw_cm_id *iwt_id_in(struct fake_iwarp *fake, enum iwcm_state state)
{
	struct iw_cm_conn_param param = iwt_param();
	struct iw_cm_id *cm_id;

	switch (state) {
	case IWCM_LISTEN:
		cm_id = iwt_id(fake);
		KUNIT_ASSERT_EQ(fake->test, iw_cm_listen(cm_id, 2), 0);
		break;
	case IWCM_CONNECTING:
		cm_id = iwt_id(fake);
		KUNIT_ASSERT_EQ(fake->test, iw_cm_connect(cm_id, &param), 0);
		break;
	case IWCM_REQUESTED:
		cm_id = requested(fake);
		break;
	case IWCM_ACCEPTING:
		cm_id = requested(fake);
		KUNIT_ASSERT_EQ(fake->test, iw_cm_accept(cm_id, &param), 0);
		break;
	case IWCM_ESTABLISHED:
		cm_id = connected(fake);
		break;
	case IWCM_CLOSING:
		cm_id = connected(fake);
		KUNIT_ASSERT_EQ(fake->test, iw_cm_disconnect(cm_id, 0), 0);
		break;
	case IWCM_DESTROYED:
		cm_id = iwt_id(fake);
		cm_id->add_ref(cm_id);
		iw_destroy_cm_id(cm_id);
		break;
	default:
		cm_id = iwt_id(fake);
	}
	KUNIT_ASSERT_EQ(fake->test, iwt_state(cm_id), state);
	return cm_id;
}
