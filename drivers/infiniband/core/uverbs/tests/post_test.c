// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: work requests posted through the kernel: those that reach the driver, and those that the
 * decoder refuses.
 */
#include <linux/slab.h>

#include "test_uverbs.h"

/* A request that posts: @head fits the structures of all three commands. */
struct post_request {
	struct {
		u64 response;
		u32 handle;
		u32 wr_count;
		u32 sge_count;
		u32 wqe_size;
	} head;
	u8 tail[3 * sizeof(struct ib_uverbs_send_wr) + 4 * sizeof(struct ib_uverbs_sge)];
};

static_assert(offsetof(struct ib_uverbs_post_send, wqe_size) == 20);
static_assert(offsetof(struct ib_uverbs_post_recv, wqe_size) == 20);
static_assert(offsetof(struct ib_uverbs_post_srq_recv, wqe_size) == 20);

/* The same tests run for sends, receives and SRQ receives: the command and its parameters. */
struct target {
	const char *name;
	u32 command;
	enum ib_qp_type type;
	bool srq;
	size_t wqe;
};

static const struct target targets[] = {
	{ "send", IB_USER_VERBS_CMD_POST_SEND, IB_QPT_RC, false, sizeof(struct ib_uverbs_send_wr) },
	{ "receive", IB_USER_VERBS_CMD_POST_RECV, IB_QPT_RC, false,
	  sizeof(struct ib_uverbs_recv_wr) },
	{ "shared receive", IB_USER_VERBS_CMD_POST_SRQ_RECV, IB_QPT_RC, true,
	  sizeof(struct ib_uverbs_recv_wr) },
};

static void target_name(const struct target *param, char *desc)
{
	strscpy(desc, param->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(target, targets, target_name);

static u32 make_target(struct uverbs_test *t, const struct target *target)
{
	u32 handle;

	if (target->srq)
		KUNIT_ASSERT_EQ(t->test, tu_create_srq(t, 8, &handle), 0);
	else
		KUNIT_ASSERT_EQ(t->test, tu_create_qp(t, target->type, -1, &handle), 0);
	return handle;
}

static int post(struct uverbs_test *t, u32 command, const struct post_request *req, size_t tail,
		u32 *bad_wr)
{
	return tu_write(t, command, req, sizeof(req->head) + tail, bad_wr, sizeof(*bad_wr));
}

/*
 * Three work requests with 1, 0 and 2 entries; send and receive requests begin with the same
 * members.
 */
static struct post_request three(const struct target *target, u32 handle, size_t *tail)
{
	struct post_request req = {
		.head = { .handle = handle, .wr_count = 3, .sge_count = 3,
			  .wqe_size = target->wqe },
	};
	static const u32 num_sge[] = { 1, 0, 2 };
	struct ib_uverbs_sge *sge;

	for (int i = 0; i < 3; i++) {
		void *wr = req.tail + i * target->wqe;

		if (target->command == IB_USER_VERBS_CMD_POST_SEND) {
			struct ib_uverbs_send_wr *send = wr;

			send->wr_id = 10 + i;
			send->num_sge = num_sge[i];
			send->opcode = IB_WR_SEND;
		} else {
			struct ib_uverbs_recv_wr *recv = wr;

			recv->wr_id = 10 + i;
			recv->num_sge = num_sge[i];
		}
	}
	sge = (void *)(req.tail + 3 * target->wqe);
	for (int i = 0; i < 3; i++)
		sge[i] = (struct ib_uverbs_sge){
			.addr = 0x1000 + i, .length = 20 + i, .lkey = 30 + i,
		};
	*tail = 3 * target->wqe + 3 * sizeof(*sge);
	return req;
}

static void posted(struct kunit *test)
{
	const struct target *target = test->param_value;
	struct uverbs_test *t = test->priv;
	struct fake_device *fake = t->device;
	struct post_request req;
	u32 bad_wr;
	size_t tail;

	req = three(target, make_target(t, target), &tail);
	KUNIT_EXPECT_EQ(test, post(t, target->command, &req, tail, &bad_wr), 0);
	KUNIT_EXPECT_EQ(test, bad_wr, 0);
	KUNIT_ASSERT_EQ(test, fake->posted, 3);
	for (int i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, fake->wr[i].wr.wr_id, 10 + i);
	KUNIT_EXPECT_EQ(test, fake->wr[0].wr.num_sge, 1);
	KUNIT_EXPECT_EQ(test, fake->wr[1].wr.num_sge, 0);
	KUNIT_EXPECT_EQ(test, fake->wr[2].wr.num_sge, 2);
	KUNIT_EXPECT_EQ(test, fake->wr[0].sge[0].addr, 0x1000);
	KUNIT_EXPECT_EQ(test, fake->wr[2].sge[0].addr, 0x1001);
	KUNIT_EXPECT_EQ(test, fake->wr[2].sge[1].length, 22);
	KUNIT_EXPECT_EQ(test, fake->wr[2].sge[1].lkey, 32);
}

/* The response names the work request that the driver refused, although the request fails. */
static void stopped_by_driver(struct kunit *test)
{
	const struct target *target = test->param_value;
	struct uverbs_test *t = test->priv;
	struct post_request req;
	u32 bad_wr;
	size_t tail;

	req = three(target, make_target(t, target), &tail);
	t->device->take = 1;
	t->device->answer = -ENOMEM;
	KUNIT_EXPECT_EQ(test, post(t, target->command, &req, tail, &bad_wr), -ENOMEM);
	KUNIT_EXPECT_EQ(test, bad_wr, 2);
	KUNIT_EXPECT_NOT_NULL(test, strstr(tu_reason(t), "WR 2 of 3"));
	t->device->answer = 0;
}

/* A doorbell: drivers whose queues the program writes itself are called without work requests. */
static void nothing_to_post(struct kunit *test)
{
	const struct target *target = test->param_value;
	struct uverbs_test *t = test->priv;
	struct post_request req = { .head = { .wqe_size = target->wqe } };
	u32 bad_wr;

	req.head.handle = make_target(t, target);
	KUNIT_EXPECT_EQ(test, post(t, target->command, &req, 0, &bad_wr), 0);
	KUNIT_EXPECT_EQ(test, bad_wr, 0);
	KUNIT_EXPECT_EQ(test, t->device->posted, 0);
	KUNIT_EXPECT_EQ(test, t->device->posts, 1);
}

/* Expects a refusal with this reason, and that nothing has reached the driver. */
static void expect_refused(struct uverbs_test *t, const struct target *target,
			   const struct post_request *req, size_t tail, int err,
			   const char *reason)
{
	u32 bad_wr;

	KUNIT_EXPECT_EQ(t->test, post(t, target->command, req, tail, &bad_wr), err);
	KUNIT_EXPECT_NOT_NULL_MSG(t->test, strstr(tu_reason(t), reason), "'%s' has no '%s'",
				  tu_reason(t), reason);
	KUNIT_EXPECT_EQ(t->test, t->device->posted, 0);
}

static void refused(struct kunit *test)
{
	const struct target *target = test->param_value;
	struct uverbs_test *t = test->priv;
	struct post_request good, req;
	u32 *num_sge;
	size_t tail;

	good = three(target, make_target(t, target), &tail);

	req = good;
	req.head.wqe_size = target->wqe - 4;
	expect_refused(t, target, &req, tail - 12, -EINVAL, "wqe_size");
	/* A work request, or all of them, have more entries than were announced or follow. */
	num_sge = (void *)(req.tail + 2 * target->wqe +
			   (target->command == IB_USER_VERBS_CMD_POST_SEND ?
			    offsetof(struct ib_uverbs_send_wr, num_sge) :
			    offsetof(struct ib_uverbs_recv_wr, num_sge)));
	req = good;
	*num_sge = 3;
	expect_refused(t, target, &req, tail, -EINVAL, "num_sge 3, only 2");
	*num_sge = U32_MAX;
	expect_refused(t, target, &req, tail, -EINVAL, "num_sge 4294967295");
	req = good;
	req.head.sge_count = 4;
	expect_refused(t, target, &req, tail, -ENOSPC, "3 WRs and 4 entries");
	req.head.sge_count = U32_MAX;
	expect_refused(t, target, &req, tail, -ENOSPC, "entries do not fit");
	req = good;
	req.head.wr_count = U32_MAX;
	expect_refused(t, target, &req, tail, -ENOSPC, "do not fit");
	req = good;
	req.head.wqe_size = U32_MAX;
	expect_refused(t, target, &req, tail, -ENOSPC, "do not fit");
	/* Further bytes follow the entries. */
	req = good;
	req.tail[tail] = 1;
	expect_refused(t, target, &req, tail + 4, -EOPNOTSUPP, "not zero");
	/* A handle that does not exist, and one of an object of another type. */
	req = good;
	req.head.handle = 4711;
	expect_refused(t, target, &req, tail, -ENOENT, "_handle 4711");
	req.head.handle = t->pd;
	expect_refused(t, target, &req, tail, -EINVAL, "right type");
	/* A wrong number is refused before a wrong handle. */
	req.head.wqe_size = 0;
	expect_refused(t, target, &req, 3 * sizeof(struct ib_uverbs_sge), -EINVAL, "wqe_size 0");
}

/* ---- kinds of send requests ---- */

static struct post_request one_send(u32 handle, const struct ib_uverbs_send_wr *wr)
{
	struct post_request req = {
		.head = { .handle = handle, .wr_count = 1, .wqe_size = sizeof(*wr) },
	};

	memcpy(req.tail, wr, sizeof(*wr));
	return req;
}

static int send_one(struct uverbs_test *t, u32 handle, const struct ib_uverbs_send_wr *wr)
{
	struct post_request req = one_send(handle, wr);
	u32 bad_wr;

	t->device->posted = 0;
	return post(t, IB_USER_VERBS_CMD_POST_SEND, &req, sizeof(*wr), &bad_wr);
}

static void kinds_of_sends(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	struct fake_wr *got = t->device->wr;
	struct ib_uverbs_send_wr wr = {
		.wr_id = 1ULL << 40, .send_flags = IB_SEND_SIGNALED | IB_SEND_SOLICITED,
		.opcode = IB_WR_SEND,
	};
	u32 qp;

	KUNIT_ASSERT_EQ(test, tu_create_qp(t, IB_QPT_RC, -1, &qp), 0);
	KUNIT_EXPECT_EQ(test, send_one(t, qp, &wr), 0);
	KUNIT_EXPECT_EQ(test, got->wr.wr_id, 1ULL << 40);
	KUNIT_EXPECT_EQ(test, got->wr.send_flags, IB_SEND_SIGNALED | IB_SEND_SOLICITED);
	KUNIT_EXPECT_NULL(test, got->wr.sg_list);

	wr.opcode = IB_WR_SEND_WITH_IMM;
	wr.ex.imm_data = cpu_to_be32(77);
	KUNIT_EXPECT_EQ(test, send_one(t, qp, &wr), 0);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(got->wr.ex.imm_data), 77);
	wr.opcode = IB_WR_SEND_WITH_INV;
	wr.ex.invalidate_rkey = 78;
	KUNIT_EXPECT_EQ(test, send_one(t, qp, &wr), 0);
	KUNIT_EXPECT_EQ(test, got->wr.ex.invalidate_rkey, 78);

	wr.wr.rdma.remote_addr = 1ULL << 50;
	wr.wr.rdma.rkey = 79;
	for (int opcode = IB_WR_RDMA_WRITE; opcode <= IB_WR_RDMA_READ; opcode++) {
		if (opcode == IB_WR_SEND || opcode == IB_WR_SEND_WITH_IMM)
			continue;
		wr.opcode = opcode;
		wr.ex.imm_data = cpu_to_be32(opcode);
		got->rdma = (struct ib_rdma_wr){};
		KUNIT_EXPECT_EQ(test, send_one(t, qp, &wr), 0);
		KUNIT_EXPECT_EQ(test, got->wr.opcode, opcode);
		KUNIT_EXPECT_EQ(test, got->rdma.remote_addr, 1ULL << 50);
		KUNIT_EXPECT_EQ(test, got->rdma.rkey, 79);
		if (opcode == IB_WR_RDMA_WRITE_WITH_IMM)
			KUNIT_EXPECT_EQ(test, be32_to_cpu(got->wr.ex.imm_data), opcode);
	}

	wr.wr.atomic.remote_addr = 1ULL << 51;
	wr.wr.atomic.compare_add = 81;
	wr.wr.atomic.swap = 82;
	wr.wr.atomic.rkey = 83;
	for (int opcode = IB_WR_ATOMIC_CMP_AND_SWP; opcode <= IB_WR_ATOMIC_FETCH_AND_ADD;
	     opcode++) {
		wr.opcode = opcode;
		got->atomic = (struct ib_atomic_wr){};
		KUNIT_EXPECT_EQ(test, send_one(t, qp, &wr), 0);
		KUNIT_EXPECT_EQ(test, got->atomic.remote_addr, 1ULL << 51);
		KUNIT_EXPECT_EQ(test, got->atomic.compare_add, 81);
		KUNIT_EXPECT_EQ(test, got->atomic.swap, 82);
		KUNIT_EXPECT_EQ(test, got->atomic.rkey, 83);
	}

	wr.opcode = 200;
	KUNIT_EXPECT_EQ(test, send_one(t, qp, &wr), -EINVAL);
	KUNIT_EXPECT_NOT_NULL(test, strstr(tu_reason(t), "opcode 200"));
}

static void datagrams(struct kunit *test)
{
	struct uverbs_test *t = test->priv;
	struct fake_wr *got = t->device->wr;
	struct ib_uverbs_send_wr wr = {
		.opcode = IB_WR_SEND,
		.wr.ud = { .remote_qpn = 0x234, .remote_qkey = 0x11111111 },
	};
	struct ib_uobject *uobj;
	u32 qp, ah;

	KUNIT_ASSERT_EQ(test, tu_create_qp(t, IB_QPT_UD, -1, &qp), 0);
	KUNIT_ASSERT_EQ(test, tu_create_ah(t, 1, &ah), 0);
	wr.wr.ud.ah = ah;
	KUNIT_EXPECT_EQ(test, send_one(t, qp, &wr), 0);
	KUNIT_EXPECT_EQ(test, got->ud.remote_qpn, 0x234);
	KUNIT_EXPECT_EQ(test, got->ud.remote_qkey, 0x11111111);
	uobj = got->ud.ah->uobject;
	KUNIT_EXPECT_EQ(test, uobj->id, ah);
	/* The address handle is unlocked after the request. */
	KUNIT_EXPECT_EQ(test, atomic_read(&uobj->usecnt), 0);

	wr.wr.ud.ah = 4711;
	KUNIT_EXPECT_EQ(test, send_one(t, qp, &wr), -ENOENT);
	KUNIT_EXPECT_NOT_NULL(test, strstr(tu_reason(t), "ah 4711"));
	wr.wr.ud.ah = ah;
	wr.opcode = IB_WR_RDMA_WRITE;
	KUNIT_EXPECT_EQ(test, send_one(t, qp, &wr), -EINVAL);
	KUNIT_EXPECT_NOT_NULL(test, strstr(tu_reason(t), "on a UD QP"));
	KUNIT_EXPECT_EQ(test, t->device->posted, 0);
	KUNIT_EXPECT_EQ(test, tu_destroy_ah(t, ah), 0);
}

#ifdef CONFIG_FAULT_INJECTION
static struct post_request starving;
static u32 starving_command;

static int post_starving(struct uverbs_test *t)
{
	u32 bad_wr;

	t->device->posted = 0;
	return post(t, starving_command, &starving, sizeof(starving.tail), &bad_wr);
}

/* Whichever allocation fails, all work requests are posted or none is. */
static void without_memory(struct kunit *test)
{
	const struct target *target = test->param_value;
	struct uverbs_test *t = test->priv;
	size_t tail;

	starving = three(target, make_target(t, target), &tail);
	starving_command = target->command;
	KUNIT_EXPECT_GT(test, tu_starve(t, post_starving), 0);
	KUNIT_EXPECT_EQ(test, t->device->posted, 3);
}
#endif

static struct kunit_case post_cases[] = {
	KUNIT_CASE_PARAM(posted, target_gen_params),
	KUNIT_CASE_PARAM(stopped_by_driver, target_gen_params),
	KUNIT_CASE_PARAM(nothing_to_post, target_gen_params),
	KUNIT_CASE_PARAM(refused, target_gen_params),
	KUNIT_CASE(kinds_of_sends),
	KUNIT_CASE(datagrams),
#ifdef CONFIG_FAULT_INJECTION
	KUNIT_CASE_PARAM(without_memory, target_gen_params),
#endif
	{}
};

static struct kunit_suite post_suite = {
	.name = "rdma_uverbs_post",
	.init = tu_init,
	.exit = tu_exit,
	.test_cases = post_cases,
};

kunit_test_suite(post_suite);
