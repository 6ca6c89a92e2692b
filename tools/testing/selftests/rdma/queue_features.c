// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * queue_features DEVICE: optional features of queues: unreliable connections
 * with a shared receive queue, no multicasts back to their sender, completion queues that ignore an
 * overrun, time stamps, and a send queue that goes on after an error.  TAP.
 */
#include <errno.h>
#include <poll.h>
#include <time.h>

#include "self_talk.h"

#define MGROUP	{ .raw = { 0xff, 0x12, [2] = 0xa0, [15] = 7 } }
#define MLID	0xc0a7

static bool quiet(void)
{
	struct pollfd pfd = { .fd = context->async_fd, .events = POLLIN };

	return poll(&pfd, 1, 0) == 0;
}

static struct ibv_qp *connected(enum ibv_qp_type type, struct ibv_cq *cq, struct ibv_srq *srq,
				uint32_t flags)
{
	struct ibv_qp *qp = make_qp(type, cq, srq, flags);

	must(qp, "ibv_create_qp_ex");
	connect_qp(qp, qp);
	return qp;
}

/* Two unreliable connections take turns at the receives of one queue. */
static void shared_receives(void)
{
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct ibv_cq *cq = ibv_create_cq(context, 64, NULL, NULL, 0);
	struct ibv_srq *srq = ibv_create_srq(pd, &init);
	uint64_t next = 100;
	bool order = true;
	struct ibv_qp *qp[2];
	struct ibv_wc wc;
	int n;

	must(cq && srq, "ibv_create_srq");
	for (int i = 0; i < 2; i++)
		qp[i] = connected(IBV_QPT_UC, cq, srq, 0);
	for (int i = 0; i < 8; i++)
		post_recv(qp[0], 100 + i, 64);
	for (int i = 0; i < 8; i++) {
		/* the receiver's and the sender's */
		post_send(qp[i & 1], i, 32, NULL, 0);
		for (n = 0; n < 2; n++) {
			wc = complete(cq);
			order &= wc.status == IBV_WC_SUCCESS && wc.qp_num == qp[i & 1]->qp_num;
			if (wc.opcode == IBV_WC_RECV)
				order &= wc.wr_id == next++ && wc.byte_len == 32;
		}
	}
	point(order && next == 108, "unreliable connections share receives in their order");
	/* no receive is left: only that message is lost */
	post_send(qp[0], 8, 32, NULL, 0);
	point(complete(cq).status == IBV_WC_SUCCESS, "a message without a receive is sent");
	post_recv(qp[0], 200, 64);
	post_send(qp[1], 9, 16, NULL, 0);
	for (n = 0, order = false; n < 2; n++) {
		wc = complete(cq);
		order |= wc.opcode == IBV_WC_RECV && wc.wr_id == 200 && wc.byte_len == 16;
	}
	point(order, "and lost: the next receive has the next message");
	must(!ibv_destroy_qp(qp[0]) && !ibv_destroy_qp(qp[1]), "ibv_destroy_qp");
	must(!ibv_destroy_srq(srq) && !ibv_destroy_cq(cq), "ibv_destroy_srq");
}

/* Both have joined; which of them receives the messages of the first, and of the second? */
static void multicast_loopback(void)
{
	struct ibv_cq *cq = ibv_create_cq(context, 64, NULL, NULL, 0);
	union ibv_gid group = MGROUP;
	struct ibv_ah_attr attr = {
		.dlid = MLID, .port_num = 1, .is_global = 1, .grh = { .dgid = group },
	};
	struct ibv_ah *to = ibv_create_ah(pd, &attr);
	unsigned int got[2][2] = {};
	struct ibv_qp *qp[2];
	struct ibv_wc wc;

	must(cq && to, "ibv_create_ah");
	qp[0] = connected(IBV_QPT_UD, cq, NULL, IBV_QP_CREATE_BLOCK_SELF_MCAST_LB);
	qp[1] = connected(IBV_QPT_UD, cq, NULL, 0);
	for (int i = 0; i < 2; i++) {
		must(!ibv_attach_mcast(qp[i], &group, MLID), "ibv_attach_mcast");
		for (int n = 0; n < 4; n++)
			post_recv(qp[i], 10 + i, 64);
	}
	/* The second sends last: its own copy would follow all others. */
	post_send(qp[0], 0, 64, to, 0xffffff);
	do {
		wc = complete(cq);
		got[wc.wr_id == 11][0] += wc.opcode == IBV_WC_RECV;
	} while (wc.wr_id != 11);
	post_send(qp[1], 1, 64, to, 0xffffff);
	while (!got[0][1] || !got[1][1]) {
		wc = complete(cq);
		if (wc.opcode == IBV_WC_RECV)
			got[wc.wr_id == 11][wc.src_qp == qp[1]->qp_num]++;
	}
	point(got[1][0] == 1, "one that wants no multicasts back sends to others of its adapter");
	point(got[0][0] == 0, "and gets none of its own");
	point(got[0][1] == 1 && got[1][1] == 1, "what others send both get");
	for (int i = 0; i < 2; i++)
		must(!ibv_detach_mcast(qp[i], &group, MLID) && !ibv_destroy_qp(qp[i]), "detach");
	must(!ibv_destroy_ah(to) && !ibv_destroy_cq(cq), "the end of multicast");
	cq = ibv_create_cq(context, 4, NULL, NULL, 0);
	qp[0] = make_qp(IBV_QPT_RC, cq, NULL, IBV_QP_CREATE_BLOCK_SELF_MCAST_LB);
	point(!qp[0], "that is for datagrams alone");
	must(!ibv_destroy_cq(cq), "ibv_destroy_cq");
}

/* More completions than the CQ has room for are no error: the last message shows all arrived. */
static void ignored_overrun(void)
{
	struct ibv_cq_init_attr_ex init = {
		.cqe = 4, .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN,
	};
	struct ibv_cq *wide = ibv_create_cq(context, 64, NULL, NULL, 0);
	struct ibv_cq_ex *narrow = ibv_create_cq_ex(context, &init);
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC, .recv_cq = wide,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
	struct ibv_qp *qp;
	int i, room;

	must(wide && narrow, "ibv_create_cq_ex");
	attr.send_cq = ibv_cq_ex_to_cq(narrow);
	room = attr.send_cq->cqe;
	qp = ibv_create_qp(pd, &attr);
	must(qp, "ibv_create_qp");
	connect_qp(qp, qp);
	for (i = 0; i < room + 3; i++) {
		post_recv(qp, i, 8);
		post_send(qp, i, 8, NULL, 0);
		must(complete(wide).status == IBV_WC_SUCCESS, "receive");
	}
	/* the acknowledgment of the last may still be under way; this one waits for it */
	post_recv(qp, i, 8);
	post_send(qp, i, 8, NULL, 0);
	must(complete(wide).status == IBV_WC_SUCCESS, "receive");
	point(state_of(qp) == IBV_QPS_RTS && quiet(), "an overrun that is to be ignored is");
	point(ibv_resize_cq(attr.send_cq, 64) == EINVAL,
	      "what it has overwritten cannot be moved to another ring");
	must(!ibv_destroy_qp(qp) && !ibv_destroy_cq(attr.send_cq) && !ibv_destroy_cq(wide),
	     "the end of overrun");
}

static uint64_t ns_of(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static uint64_t host_ns(void)
{
	return ns_of(CLOCK_MONOTONIC);
}

/* When the next completion was written, by the device's clock. */
static uint64_t stamp(struct ibv_cq_ex *cq)
{
	struct ibv_poll_cq_attr attr = {};
	uint64_t ticks;

	while (ibv_start_poll(cq, &attr))
		;
	must(cq->status == IBV_WC_SUCCESS, "completion");
	ticks = ibv_wc_read_completion_ts(cq);
	ibv_end_poll(cq);
	return ticks;
}

/* The same, by the host's clock. */
static uint64_t time_of_day(struct ibv_cq_ex *cq)
{
	struct ibv_poll_cq_attr attr = {};
	uint64_t ns;

	while (ibv_start_poll(cq, &attr))
		;
	must(cq->status == IBV_WC_SUCCESS, "completion");
	ns = ibv_wc_read_completion_wallclock_ns(cq);
	ibv_end_poll(cq);
	return ns;
}

static uint64_t raw_clock(void)
{
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };

	must(!ibv_query_rt_values_ex(context, &values), "ibv_query_rt_values_ex");
	must(values.comp_mask == IBV_VALUES_MASK_RAW_CLOCK, "raw clock");
	return values.raw_clock.tv_sec * 1000000000ull + values.raw_clock.tv_nsec;
}

/*
 * The provider knows the difference of the clocks to within the time that the kernel took to read
 * both: no longer than creating the CQ took, or reading the stamp that made it read them again.
 */
static void times_of_day(void)
{
	struct ibv_cq_init_attr_ex init = {
		.cqe = 64, .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK,
	};
	struct timespec over_a_second = { .tv_sec = 1, .tv_nsec = 100000000 };
	uint64_t before = host_ns(), doubt, sent, seen, at;
	struct ibv_cq_ex *cq = ibv_create_cq_ex(context, &init);
	bool right = true;
	struct ibv_qp *qp;

	must(cq, "ibv_create_cq_ex");
	doubt = host_ns() - before;
	qp = connected(IBV_QPT_UD, ibv_cq_ex_to_cq(cq), NULL, 0);
	for (int i = 0; i < 3; i++) {
		sent = ns_of(CLOCK_REALTIME);
		post_send(qp, i, 8, self, qp->qp_num);
		at = time_of_day(cq);
		seen = ns_of(CLOCK_REALTIME);
		/* the clocks are read again in the last round, and before if a second is over */
		if (i == 2 || seen - sent > doubt)
			doubt = seen - sent;
		right &= at + doubt >= sent && at <= seen + doubt;
		printf("# stamped at %lld ns of %llu, within %llu\n", (long long)(at - sent),
		       (unsigned long long)(seen - sent), (unsigned long long)doubt);
		if (i == 1)
			nanosleep(&over_a_second, NULL);
	}
	point(right, "time stamps by the host's clock, also after a second");
	must(!ibv_destroy_qp(qp) && !ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), "the end of time");
}

static void time_stamps(void)
{
	struct ibv_cq_init_attr_ex init = {
		.cqe = 64, .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
	};
	struct timespec while_it_runs = { .tv_nsec = 400000000 };
	struct ibv_cq_ex *cq = ibv_create_cq_ex(context, &init);
	struct ibv_device_attr_ex attr;
	uint64_t sent[2], seen[2], at[2], last, now, asked, ticks, least, most;
	bool forward = true;
	struct ibv_qp *qp;
	int i;

	must(cq && !ibv_query_device_ex(context, NULL, &attr), "ibv_create_cq_ex");
	qp = connected(IBV_QPT_UD, ibv_cq_ex_to_cq(cq), NULL, 0);
	for (i = 0, last = 0; i < 20; i++) {
		post_send(qp, i, 8, self, qp->qp_num);
		now = stamp(cq);
		forward &= now > last;
		last = now;
	}
	point(forward, "time stamps go forward");
	asked = raw_clock();
	post_send(qp, i, 8, self, qp->qp_num);
	point(asked > last && stamp(cq) > asked, "the clock that can be asked is theirs");
	point(attr.completion_timestamp_mask == UINT64_MAX, "and counts in 64 bits");
	for (i = 0; i < 2; i++) {
		sent[i] = host_ns();
		post_send(qp, i, 8, self, qp->qp_num);
		at[i] = stamp(cq);
		seen[i] = host_ns();
		if (!i)
			nanosleep(&while_it_runs, NULL);
	}
	/* in ticks of kHz: 1,000,000 ns each at 1 kHz; a hundredth for two clocks' difference */
	ticks = at[1] - at[0];
	least = (sent[1] - seen[0]) * attr.hca_core_clock / 1000000;
	most = (seen[1] - sent[0]) * attr.hca_core_clock / 1000000;
	point(ticks > least - least / 100 && ticks < most + most / 100,
	      "at the rate that the device says");
	printf("# %llu ticks, between %llu and %llu expected\n", (unsigned long long)ticks,
	       (unsigned long long)least, (unsigned long long)most);
	must(!ibv_destroy_qp(qp) && !ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), "the end of time");
}

/* A send that fails stops the sends behind it, and nothing else, until it is told to go on. */
static void send_error(void)
{
	struct ibv_cq *cq = ibv_create_cq(context, 64, NULL, NULL, 0);
	struct ibv_qp_attr go_on = { .qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_SQE };
	struct ibv_qp *qp, *other;
	struct ibv_wc wc;
	uint32_t lkey = mr->lkey;

	must(cq, "ibv_create_cq");
	qp = connected(IBV_QPT_UD, cq, NULL, 0);
	other = connected(IBV_QPT_UD, cq, NULL, 0);
	post_recv(qp, 100, 64);
	mr->lkey ^= 1;
	post_send(qp, 1, 64, self, other->qp_num);
	mr->lkey = lkey;
	post_send(qp, 2, 64, self, other->qp_num);
	wc = complete(cq);
	point(wc.wr_id == 1 && wc.status == IBV_WC_LOC_PROT_ERR, "a send with a bad key fails");
	wc = complete(cq);
	point(wc.wr_id == 2 && wc.status == IBV_WC_WR_FLUSH_ERR, "the one behind it is flushed");
	point(state_of(qp) == IBV_QPS_SQE, "the send queue is in error");
	post_send(qp, 3, 64, self, other->qp_num);
	wc = complete(cq);
	point(wc.wr_id == 3 && wc.status == IBV_WC_WR_FLUSH_ERR, "later sends are flushed, too");
	post_send(other, 4, 48, self, qp->qp_num);
	do {
		wc = complete(cq);
	} while (wc.wr_id == 4);
	point(wc.wr_id == 100 && wc.status == IBV_WC_SUCCESS && wc.byte_len == GRH + 48,
	      "receives go on");
	point(!ibv_modify_qp(qp, &go_on, IBV_QP_STATE | IBV_QP_CUR_STATE) &&
	      state_of(qp) == IBV_QPS_RTS, "it is told to go on");
	post_recv(other, 200, 64);
	post_send(qp, 5, 64, self, other->qp_num);
	do {
		wc = complete(cq);
	} while (wc.wr_id != 200 && wc.status == IBV_WC_SUCCESS);
	point(wc.wr_id == 200 && wc.status == IBV_WC_SUCCESS, "and sends again");
	must(!ibv_destroy_qp(qp) && !ibv_destroy_qp(other) && !ibv_destroy_cq(cq), "the end");
}

int main(int argc, char **argv)
{
	must(argc == 2, "queue_features DEVICE");
	open_hca(argv[1]);
	must(self, "ibv_create_ah");
	shared_receives();
	multicast_loopback();
	ignored_overrun();
	time_stamps();
	times_of_day();
	send_error();
	point(quiet(), "no event has come");
	close_hca();
	printf("1..%u\n", points);
	return bad != 0;
}
