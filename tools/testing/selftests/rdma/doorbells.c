// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Doorbells and events in lock step: the doorbell of each message is rung just when the device goes
 * to sleep, and each completion is waited for just when it comes. Only one message is under way at
 * a time, so that no later doorbell or event makes up for one that is lost.
 *
 *	doorbells DEVICE [MESSAGES]
 */
#include <poll.h>
#include <time.h>

#include "self_talk.h"

#define PATIENCE	20	/* seconds: many time slices of a busy host */

static struct ibv_comp_channel *channel;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static unsigned int messages = 100000;

/* Varies the delay, so that the two sides meet in every order. */
static void linger(unsigned int step)
{
	for (volatile unsigned int i = 0; i < step % 499; i++)
		;
}

static void post(unsigned int n)
{
	struct ibv_sge sge = { (uintptr_t)memory, 8, mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = n, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = (uintptr_t)memory + 4096, .rkey = mr->rkey },
	}, *at;

	must(!ibv_post_send(qp, &wr, &at), "ibv_post_send");
}

static bool taken(unsigned int n)
{
	struct ibv_wc wc;
	int found = ibv_poll_cq(cq, 1, &wc);

	must(found >= 0, "ibv_poll_cq");
	must(!found || (wc.status == IBV_WC_SUCCESS && wc.wr_id == n), "a completion in error");
	return found;
}

/* The clock is read seldom, since reading it would delay one side. */
static bool polled(unsigned int n)
{
	time_t until = time(NULL) + PATIENCE;

	for (unsigned int turn = 1; !taken(n); turn++)
		if (!(turn % 100000) && time(NULL) > until)
			return false;
	return true;
}

static bool waited(unsigned int n)
{
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };
	struct ibv_cq *which;
	void *context;

	linger(n);
	must(!ibv_req_notify_cq(cq, 0), "ibv_req_notify_cq");
	if (taken(n))
		return true;
	if (poll(&fd, 1, PATIENCE * 1000) != 1)
		return false;
	must(!ibv_get_cq_event(channel, &which, &context), "ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
	return polled(n);
}

static bool all(bool (*done)(unsigned int n))
{
	for (unsigned int n = 0; n < messages; n++) {
		linger(n * 7);
		post(n);
		if (done(n))
			continue;
		printf("# nothing of message %u\n", n);
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	must(argc == 2 || argc == 3, "usage: doorbells DEVICE [MESSAGES]");
	if (argc == 3)
		messages = atoi(argv[2]);
	must(messages, "no messages");
	setlinebuf(stdout);
	open_hca(argv[1]);
	channel = ibv_create_comp_channel(context);
	must(channel, "ibv_create_comp_channel");
	cq = ibv_create_cq(context, DEPTH, NULL, channel, 0);
	must(cq, "ibv_create_cq");
	qp = make_qp(IBV_QPT_RC, cq, NULL, 0);
	must(qp, "ibv_create_qp_ex");
	connect_qp(qp, qp);

	printf("TAP version 13\n1..2\n");
	point(all(polled), "no doorbell is lost");
	point(all(waited), "no event is lost");
	return bad > 0;
}
