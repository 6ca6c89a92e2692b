// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * resize DEVICE: two QPs of one process send to each other through a shared receive queue while
 * that and both completion queues are resized; TAP on stdout.  Every message must arrive once, in
 * order and whole.  Then sizes that are refused, and what must not change by that.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

#define MESSAGES	20000	/* at least */
#define MOVES		15	/* of rings, at least, while they pass */
#define UNDER_WAY	32	/* sends, and receives posted: the smallest rings hold them */
#define SLOT		64	/* bytes of a receive */

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_cq *send_cq, *recv_cq;
static struct ibv_srq *srq;
static struct ibv_qp *qp[2];
static uint32_t buf[UNDER_WAY][SLOT / sizeof(uint32_t)];

static _Atomic uint32_t posted, sent, received;
static _Atomic unsigned int moves;
static _Atomic bool all_sent, broken;

static unsigned int point, failed;

static void report(bool good, const char *name)
{
	printf("%sok %u - %s\n", good ? "" : "not ", ++point, name);
	failed += !good;
}

/* The first error of the threads and main. */
static void *give_up(const char *what, uint32_t expected, uint32_t got)
{
	if (!atomic_exchange(&broken, true))
		printf("# %s: expected %u, got %u\n", what, expected, got);
	return NULL;
}

/* ---- objects ---- */

static bool make_all(const char *name)
{
	struct ibv_srq_init_attr srq_attr = { .attr = { .max_wr = UNDER_WAY, .max_sge = 1 } };
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = UNDER_WAY, .max_send_sge = 1, .max_inline_data = 4 },
	};

	ctx = open_device(name);
	if (!ctx)
		return false;
	pd = ibv_alloc_pd(ctx);
	if (!pd)
		return false;
	mr = ibv_reg_mr(pd, buf, sizeof(buf), IBV_ACCESS_LOCAL_WRITE);
	send_cq = ibv_create_cq(ctx, UNDER_WAY, NULL, NULL, 0);
	recv_cq = ibv_create_cq(ctx, UNDER_WAY, NULL, NULL, 0);
	srq = ibv_create_srq(pd, &srq_attr);
	if (!mr || !send_cq || !recv_cq || !srq)
		return false;
	attr.send_cq = send_cq;
	attr.recv_cq = recv_cq;
	attr.srq = srq;
	for (int i = 0; i < 2; i++) {
		qp[i] = ibv_create_qp(pd, &attr);
		if (!qp[i])
			return false;
	}
	return connect_rc(qp[0], qp[1], 0) && connect_rc(qp[1], qp[0], 0);
}

static bool end_all(void)
{
	return !ibv_destroy_qp(qp[0]) && !ibv_destroy_qp(qp[1]) && !ibv_destroy_srq(srq) &&
	       !ibv_destroy_cq(send_cq) && !ibv_destroy_cq(recv_cq) && !ibv_dereg_mr(mr) &&
	       !ibv_dealloc_pd(pd) && !ibv_close_device(ctx);
}

/* ---- messages: each bears its number, in its data and in its immediate ---- */

static int post_recv(uint64_t slot)
{
	struct ibv_sge sge = { (uintptr_t)buf[slot], SLOT, mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = &sge, .num_sge = 1 }, *bad;

	return ibv_post_srq_recv(srq, &wr, &bad);
}

static int post_send(uint32_t number)
{
	struct ibv_sge sge = { (uintptr_t)&number, sizeof(number), 0 };
	struct ibv_send_wr wr = {
		.wr_id = number,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE,
		.imm_data = htonl(number),
	}, *bad;

	return ibv_post_send(qp[number % 2], &wr, &bad);
}

/* Takes completions of one kind from their CQ; false when there is none. */
static bool take_sent(void)
{
	struct ibv_wc wc;

	if (ibv_poll_cq(send_cq, 1, &wc) != 1)
		return false;
	if (wc.status)
		give_up("status of a send", 0, wc.status);
	sent++;
	return true;
}

static bool take_received(void)
{
	static uint32_t next[2] = { 0, 1 };	/* each QP keeps its own order */
	struct ibv_wc wc;
	uint32_t *want;

	if (ibv_poll_cq(recv_cq, 1, &wc) != 1)
		return false;
	if (wc.status) {
		give_up("status of a receive", 0, wc.status);
		return true;
	}
	want = &next[wc.qp_num == qp[0]->qp_num];
	if (ntohl(wc.imm_data) != *want)
		give_up("number of a message", *want, ntohl(wc.imm_data));
	if (buf[wc.wr_id][0] != *want)
		give_up("data of a message", *want, buf[wc.wr_id][0]);
	*want += 2;
	received++;
	if (post_recv(wc.wr_id))
		give_up("a receive finds room", 0, ENOMEM);
	return true;
}

/* Messages are sent until both they and the resizes are enough. */
static bool is_enough(void)
{
	return posted >= MESSAGES && moves >= MOVES;
}

static void *send_all(void *arg)
{
	bool enough = false;

	while ((!enough || sent < posted) && !broken) {
		enough = enough || is_enough();
		if (!enough && posted - sent < UNDER_WAY) {
			if (post_send(posted))
				return give_up("a send finds room", 0, ENOMEM);
			posted++;
		} else if (!take_sent()) {
			sched_yield();
		}
	}
	all_sent = true;
	return arg;
}

/* All messages that were acknowledged have been received. */
static bool all_received(void)
{
	return all_sent && received == posted;
}

static void *receive_all(void *arg)
{
	while (!all_received() && !broken)
		if (!take_received())
			sched_yield();
	return arg;
}

/* ---- moving ---- */

static int resize_srq(uint32_t max_wr)
{
	struct ibv_srq_attr attr = { .max_wr = max_wr };

	return ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR);
}

static void messages_survive(void)
{
	pthread_t sender, receiver;
	int err = 0;

	for (unsigned int i = 0; i < UNDER_WAY; i++)
		err = err ?: post_recv(i);
	report(!err, "receives are posted");
	if (pthread_create(&sender, NULL, send_all, NULL) ||
	    pthread_create(&receiver, NULL, receive_all, NULL)) {
		report(false, "threads");
		return;
	}
	while (!all_received() && !broken) {
		int size = UNDER_WAY << moves / 3 * 3 % 5;

		switch (moves % 3) {
		case 0:
			err = ibv_resize_cq(send_cq, size);
			break;
		case 1:
			err = ibv_resize_cq(recv_cq, size);
			break;
		default:
			err = resize_srq(size);
			break;
		}
		if (err)
			give_up("errno of a resize", 0, err);
		moves++;
	}
	pthread_join(sender, NULL);
	pthread_join(receiver, NULL);
	printf("# %u messages, %u moves\n", received, moves);
	report(!broken && posted >= MESSAGES && sent == posted && received == posted,
	       "every message comes once, in order");
	report(moves >= MOVES, "rings moved meanwhile");
}

/* ---- refusals ---- */

static void sizes_that_are_refused(void)
{
	static const int absurd[] = { 0, -1, 1 << 30 };
	struct ibv_srq_attr attr = {};
	bool good = true;

	for (unsigned int i = 0; i < 3; i++)
		good &= ibv_resize_cq(send_cq, absurd[i]) == EINVAL;
	report(good, "a CQ of no or absurd size");
	for (unsigned int i = 0; i < 3; i++)
		good &= resize_srq(absurd[i]) == EINVAL;
	report(good, "an SRQ of no or absurd size");
	good = resize_srq(UNDER_WAY) == 0 && resize_srq(UNDER_WAY / 2) == EINVAL &&
	       !ibv_query_srq(srq, &attr) && attr.max_wr == UNDER_WAY;
	report(good, "an SRQ smaller than the receives that wait");
}

/* Acknowledged sends have been received: their entries wait, and are not polled. */
static void a_cq_below_its_fill(void)
{
	uint32_t first = received;
	int err = ibv_resize_cq(recv_cq, UNDER_WAY);

	for (uint32_t i = 0; i < UNDER_WAY; i++)
		err = err ?: post_send(posted++);
	for (uint32_t i = 0; i < UNDER_WAY && !err && !broken;)
		if (take_sent())
			i++;
		else
			sched_yield();
	report(!err && !broken, "a CQ is filled");
	report(ibv_resize_cq(recv_cq, UNDER_WAY / 2) == EINVAL && recv_cq->cqe == UNDER_WAY,
	       "it does not move to a ring that is too small");
	report(!ibv_resize_cq(recv_cq, 2 * UNDER_WAY) && recv_cq->cqe == 2 * UNDER_WAY,
	       "it moves to a larger one");
	while (!broken && take_received())
		;
	report(!broken && received == first + UNDER_WAY, "and nothing is lost");
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: resize DEVICE\n");
		return 2;
	}
	printf("TAP version 13\n1..12\n");
	report(make_all(argv[1]), "QPs that share a receive queue");
	if (failed)
		return 1;
	messages_survive();
	sizes_that_are_refused();
	a_cq_below_its_fill();
	report(end_all(), "everything goes");
	return failed > 0;
}
