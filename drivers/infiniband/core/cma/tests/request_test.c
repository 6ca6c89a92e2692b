// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: requests of peers, from ib_cm's event to the new id.
 */
#include <linux/prandom.h>

#include "../ipcm.h"
#include "../request.h"
#include "test_cma.h"

#define SERVICE		(RDMA_IB_IP_PS_IB | 0x77)
#define DEVICE(test)	(&((struct cma_test *)(test)->priv)->device[0]->ib)

/**
 * struct service - a listener and the requests that it got
 * @id: the listener
 * @requests: requests so far
 * @conn: id of the last one; NULL if it was refused
 * @event: the last one
 * @first: first byte of its private data
 * @ret: answer to requests
 */
static struct service {
	struct rdma_cm_id *id;
	unsigned int requests;
	struct rdma_cm_id *conn;
	struct rdma_cm_event event;
	u8 first;
	int ret;
} service;

static int hear(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	const u8 *data = event->param.conn.private_data;

	service.requests++;
	service.event = *event;
	service.first = id->qp_type == IB_QPT_UD ? *(const u8 *)event->param.ud.private_data :
						   data[0];
	service.conn = service.ret ? NULL : id;
	/* ib_cm does not know the request, so nobody may ask it to wait. */
	if (!service.ret)
		cma_step(to_cma_id(id), CMA_DISCONNECTED);
	return service.ret;
}

/* Ends the id of the last request. */
static void hang_up(void)
{
	if (!service.conn)
		return;
	to_cma_id(service.conn)->cm_id.ib = NULL;
	rdma_destroy_id(service.conn);
	service.conn = NULL;
}

static int request_init(struct kunit *test)
{
	int ret = ct_init(test);

	if (ret)
		return ret;
	memset(&service, 0, sizeof(service));
	ct_add_device(test->priv, 1);
	return 0;
}

static void request_exit(struct kunit *test)
{
	hang_up();
	if (service.id)
		rdma_destroy_id(service.id);
	service.id = NULL;
	ct_exit(test);
}

static void listen(struct kunit *test, union ct_addr own, enum rdma_ucm_port_space ps,
		   enum ib_qp_type type)
{
	struct rdma_cm_id *id = rdma_create_id(&init_net, hear, &service, ps, type);

	KUNIT_ASSERT_FALSE(test, IS_ERR(id));
	service.id = id;
	KUNIT_ASSERT_EQ(test, rdma_bind_addr(id, &own.any), 0);
	KUNIT_ASSERT_EQ(test, rdma_listen(id, 1), 0);
}

/**
 * struct caller - a request as ib_cm reports it
 * @listen: ib_cm's listen
 * @cm_id: ib_cm's new id
 * @path: its path, from the first port of device 1 to device 3
 * @data: its private data
 * @event: the event
 */
struct caller {
	struct ib_cm_id listen;
	struct ib_cm_id cm_id;
	struct sa_path_rec path;
	u8 data[IB_CM_SIDR_REQ_PRIVATE_DATA_SIZE];
	struct ib_cm_event event;
};

static struct caller *caller(struct kunit *test, u64 service_id)
{
	struct caller *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);
	union ct_addr here = ct_ib(1, 1, 0, 0), there = ct_ib(3, 1, 0, 0);

	KUNIT_ASSERT_NOT_NULL(test, c);
	c->listen.device = DEVICE(test);
	c->cm_id.device = DEVICE(test);
	memcpy(c->path.sgid.raw, here.ib.sib_addr.sib_raw, 16);
	memcpy(c->path.dgid.raw, there.ib.sib_addr.sib_raw, 16);
	c->path.service_id = cpu_to_be64(service_id);
	c->path.pkey = cpu_to_be16(IB_DEFAULT_PKEY_FULL);
	c->path.rec_type = SA_PATH_REC_TYPE_IB;
	c->event.event = IB_CM_REQ_RECEIVED;
	c->event.private_data = c->data;
	c->event.param.req_rcvd = (struct ib_cm_req_event_param) {
		.listen_id = &c->listen, .primary_path = &c->path, .port = 1,
		.bth_pkey = IB_DEFAULT_PKEY_FULL, .qp_type = IB_QPT_RC, .remote_qpn = 0x456,
		.responder_resources = 3, .initiator_depth = 5, .retry_count = 6,
		.rnr_retry_count = 7, .srq = 1, .ece = { .vendor_id = 8, .attr_mod = 9 },
	};
	return c;
}

static int call(struct caller *c)
{
	return cma_ib_listen_handler(&c->cm_id, &c->event);
}

static void request_makes_an_id(struct kunit *test)
{
	struct caller *c = caller(test, SERVICE);
	union ib_gid gid;

	listen(test, ct_ib(0, 0, SERVICE, U64_MAX), RDMA_PS_IB, IB_QPT_RC);
	c->data[0] = 0x99;
	KUNIT_ASSERT_EQ(test, call(c), 0);
	KUNIT_ASSERT_EQ(test, service.requests, 1);
	KUNIT_EXPECT_EQ(test, service.event.event, RDMA_CM_EVENT_CONNECT_REQUEST);
	KUNIT_EXPECT_EQ(test, service.first, 0x99);
	KUNIT_EXPECT_EQ(test, service.event.param.conn.private_data_len, 92);
	KUNIT_EXPECT_EQ(test, service.event.param.conn.responder_resources, 3);
	KUNIT_EXPECT_EQ(test, service.event.param.conn.initiator_depth, 5);
	KUNIT_EXPECT_EQ(test, service.event.param.conn.retry_count, 6);
	KUNIT_EXPECT_EQ(test, service.event.param.conn.rnr_retry_count, 7);
	KUNIT_EXPECT_EQ(test, service.event.param.conn.qp_num, 0x456);
	KUNIT_EXPECT_EQ(test, service.event.param.conn.srq, 1);
	KUNIT_EXPECT_EQ(test, service.event.ece.attr_mod, 9);

	KUNIT_EXPECT_PTR_EQ(test, service.conn->device, DEVICE(test));
	KUNIT_EXPECT_EQ(test, service.conn->port_num, 1);
	KUNIT_EXPECT_EQ(test, service.conn->qp_type, IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, service.conn->route.num_pri_alt_paths, 1);
	KUNIT_EXPECT_MEMEQ(test, service.conn->route.path_rec, &c->path, sizeof(c->path));
	rdma_read_gids(service.conn, NULL, &gid);
	KUNIT_EXPECT_MEMEQ(test, &gid, &c->path.dgid, sizeof(gid));
	rdma_read_gids(service.conn, &gid, NULL);
	KUNIT_EXPECT_MEMEQ(test, &gid, &c->path.sgid, sizeof(gid));
	KUNIT_EXPECT_PTR_EQ(test, c->cm_id.context, (void *)to_cma_id(service.conn));
}

/* Private data of an AF_IB request may look like addresses, or like nothing. */
static void request_with_any_data(struct kunit *test)
{
	struct caller *c = caller(test, SERVICE);
	struct rnd_state rnd;

	listen(test, ct_ib(0, 0, SERVICE, U64_MAX), RDMA_PS_IB, IB_QPT_RC);
	prandom_seed_state(&rnd, 2);
	for (unsigned int round = 0; round < 200; round++) {
		prandom_bytes_state(&rnd, c->data, sizeof(c->data));
		if (round & 1)
			c->data[0] = 0;
		if (round & 2)
			c->data[1] = round & 4 ? 0x40 : 0x60;
		KUNIT_ASSERT_EQ(test, call(c), 0);
		KUNIT_ASSERT_EQ(test, service.first, c->data[0]);
		hang_up();
	}
	KUNIT_EXPECT_EQ(test, service.requests, 200);
}

/* A request for which nothing listens is refused, and leaves nothing behind. */
static void request_refused(struct kunit *test)
{
	struct caller *c = caller(test, SERVICE + 1);

	listen(test, ct_ib(0, 0, SERVICE, U64_MAX), RDMA_PS_IB, IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, call(c), -EINVAL);

	c = caller(test, SERVICE);
	c->event.param.req_rcvd.qp_type = IB_QPT_UC;
	KUNIT_EXPECT_EQ(test, call(c), -EINVAL);

	c = caller(test, SERVICE);
	c->path.sgid.raw[15] ^= 0x40;
	KUNIT_EXPECT_LT(test, call(c), 0);
	KUNIT_EXPECT_EQ(test, service.requests, 0);

	c = caller(test, SERVICE);
	c->event.event = IB_CM_RTU_RECEIVED;
	KUNIT_EXPECT_EQ(test, call(c), -EINVAL);

	c = caller(test, SERVICE);
	service.ret = -7;
	KUNIT_EXPECT_EQ(test, call(c), -7);
	KUNIT_EXPECT_EQ(test, service.requests, 1);
}

/* An IP listener gets no requests whose addresses belong to no interface. */
static void request_without_interface(struct kunit *test)
{
	struct caller *c = caller(test, RDMA_IB_IP_PS_TCP | 0x77);
	struct ipcm_ends ends;
	union ct_addr here = ct_ip4(0x0a000101, 0x77), there = ct_ip4(0x0a000301, 0x1234);

	listen(test, ct_ip4(0, 0x77), RDMA_PS_TCP, IB_QPT_RC);
	ends.local = there.room;
	ends.remote = here.room;
	KUNIT_ASSERT_EQ(test, ipcm_pack(c->data, &ends), 0);
	KUNIT_EXPECT_EQ(test, call(c), -EINVAL);
	KUNIT_EXPECT_EQ(test, service.requests, 0);
}

static void request_alternate_path(struct kunit *test)
{
	struct caller *c = caller(test, SERVICE);
	struct sa_path_rec *other = kunit_kzalloc(test, sizeof(*other), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, other);
	*other = c->path;
	other->sl = 5;
	c->event.param.req_rcvd.alternate_path = other;
	listen(test, ct_ib(0, 0, SERVICE, U64_MAX), RDMA_PS_IB, IB_QPT_RC);
	KUNIT_ASSERT_EQ(test, call(c), 0);
	KUNIT_EXPECT_EQ(test, service.conn->route.num_pri_alt_paths, 2);
	KUNIT_EXPECT_MEMEQ(test, &service.conn->route.path_rec[1], other, sizeof(*other));
}

static void request_read_sidr(struct kunit *test)
{
	struct caller *c = caller(test, SERVICE);
	struct ib_gid_attr attr = { .gid = c->path.sgid };
	struct cma_request request;
	struct sockaddr_ib *ib = (struct sockaddr_ib *)&request.ends.local;

	c->event.event = IB_CM_SIDR_REQ_RECEIVED;
	c->event.param.sidr_req_rcvd = (struct ib_cm_sidr_req_event_param) {
		.listen_id = &c->listen, .service_id = cpu_to_be64(SERVICE), .sgid_attr = &attr,
		.port = 2, .pkey = 0x8001, .bth_pkey = 0x8001,
	};
	KUNIT_ASSERT_EQ(test, cma_read_request(&request, &c->event), 0);
	KUNIT_EXPECT_EQ(test, request.qp_type, IB_QPT_UD);
	KUNIT_EXPECT_EQ(test, request.port_num, 2);
	KUNIT_EXPECT_FALSE(test, request.has_gids);
	cma_fill_ib_ends(&request);
	KUNIT_EXPECT_EQ(test, ib->sib_family, AF_IB);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(ib->sib_pkey), 0x8001);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(ib->sib_sid), SERVICE);
	KUNIT_EXPECT_MEMEQ(test, ib->sib_addr.sib_raw, c->path.sgid.raw, 16);
}

static void request_sidr_makes_an_id(struct kunit *test)
{
	struct caller *c = caller(test, SERVICE);
	const struct ib_gid_attr *attr = rdma_get_gid_attr(DEVICE(test), 1, 0);

	KUNIT_ASSERT_FALSE(test, IS_ERR(attr));
	listen(test, ct_ib(0, 0, SERVICE, U64_MAX), RDMA_PS_IB, IB_QPT_UD);
	c->event.event = IB_CM_SIDR_REQ_RECEIVED;
	c->event.param.sidr_req_rcvd = (struct ib_cm_sidr_req_event_param) {
		.listen_id = &c->listen, .service_id = cpu_to_be64(SERVICE), .sgid_attr = attr,
		.port = 1, .pkey = IB_DEFAULT_PKEY_FULL, .bth_pkey = IB_DEFAULT_PKEY_FULL,
	};
	c->data[0] = 0x31;
	KUNIT_EXPECT_EQ(test, call(c), 0);
	rdma_put_gid_attr(attr);
	KUNIT_ASSERT_EQ(test, service.requests, 1);
	KUNIT_EXPECT_EQ(test, service.first, 0x31);
	KUNIT_EXPECT_EQ(test, service.event.param.ud.private_data_len, 216);
	KUNIT_EXPECT_EQ(test, service.conn->qp_type, IB_QPT_UD);
	KUNIT_EXPECT_EQ(test, service.conn->port_num, 1);
}

#ifdef CONFIG_FAILSLAB
/* Each allocation for a request fails once: no event comes, and the next request is served. */
static void request_without_memory(struct kunit *test)
{
	struct caller *c = caller(test, SERVICE);
	unsigned int nth, failures = 0;
	struct sa_path_rec other = c->path;
	bool spared = false;

	c->event.param.req_rcvd.alternate_path = &other;
	listen(test, ct_ib(0, 0, SERVICE, U64_MAX), RDMA_PS_IB, IB_QPT_RC);
	for (nth = 1; nth < 100 && !spared; nth++) {
		unsigned int before = service.requests;
		int ret;

		current->fail_nth = nth;
		ret = call(c);
		spared = current->fail_nth;
		current->fail_nth = 0;
		KUNIT_EXPECT_EQ_MSG(test, service.requests - before, !ret, "allocation %u", nth);
		if (ret)
			KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
		failures += !!ret;
		hang_up();
		KUNIT_ASSERT_EQ(test, call(c), 0);
		hang_up();
	}
	KUNIT_EXPECT_TRUE(test, spared);
	/* The id and its paths at least */
	KUNIT_EXPECT_GE(test, failures, 2);
	kunit_info(test, "%u allocations, %u of them failed a request\n", nth - 2, failures);
}
#endif

static struct kunit_case request_cases[] = {
	KUNIT_CASE(request_makes_an_id),
	KUNIT_CASE(request_with_any_data),
	KUNIT_CASE(request_refused),
	KUNIT_CASE(request_without_interface),
	KUNIT_CASE(request_alternate_path),
	KUNIT_CASE(request_read_sidr),
	KUNIT_CASE(request_sidr_makes_an_id),
#ifdef CONFIG_FAILSLAB
	KUNIT_CASE(request_without_memory),
#endif
	{}
};

static struct kunit_suite request_suite = {
	.name = "rdma_cm_request",
	.init = request_init,
	.exit = request_exit,
	.test_cases = request_cases,
};

kunit_test_suite(request_suite);
