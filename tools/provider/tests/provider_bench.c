// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Counts the instructions of posting and polling: a child executes each many times and
 * is single-stepped, so that the count is exact and does not depend on the machine's load.
 *
 * Prints a line for each and fails when a limit is exceeded: polling without a
 * lock is 20 % cheaper, and ibv_wr_*() posts as cheaply as ibv_post_send().
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cm.h"
#include "fake.h"

#define ROUNDS	64

static struct vhca_context *ctx;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_sge sge = { .addr = 0x1000, .length = 64, .lkey = 1 };

/* ---- what is measured ---- */

static void nothing(unsigned int i)
{
	(void)i;
}

static void poll_one(unsigned int i)
{
	struct ibv_wc wc;

	(void)i;
	if (fake_ops()->poll_cq(cq, 1, &wc) != 1)
		abort();
}

static void poll_one_ex(unsigned int i)
{
	struct ibv_cq_ex *ex = &to_vhca_cq(cq)->vcq.cq_ex;
	struct ibv_poll_cq_attr attr = {};

	(void)i;
	if (ibv_start_poll(ex, &attr))
		abort();
	ibv_end_poll(ex);
}

static void poll_none(unsigned int i)
{
	struct ibv_wc wc;

	(void)i;
	if (fake_ops()->poll_cq(cq, 1, &wc))
		abort();
}

static void post_old(unsigned int i)
{
	struct ibv_send_wr wr = {
		.wr_id = i, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED, .wr.rdma = { .remote_addr = 0x2000, .rkey = 2 },
	}, *bad;

	if (fake_ops()->post_send(qp, &wr, &bad))
		abort();
}

static void post_new(unsigned int i)
{
	struct ibv_qp_ex *ex = &to_vhca_qp(qp)->vqp.qp_ex;

	ibv_wr_start(ex);
	ex->wr_id = i;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write(ex, 2, 0x2000);
	ibv_wr_set_sge(ex, sge.lkey, sge.addr, sge.length);
	if (ibv_wr_complete(ex))
		abort();
}

/* ---- counting ---- */

static void run(void (*what)(unsigned int i))
{
	what(0);	/* what is done only once: symbols are bound, pages are touched */
	raise(SIGSTOP);
	for (unsigned int i = 1; i < ROUNDS; i++)
		what(i);
	raise(SIGSTOP);
}

static void wait_stop(pid_t child, int *status)
{
	if (waitpid(child, status, 0) != child || !WIFSTOPPED(*status)) {
		fprintf(stderr, "the child ended: status %#x\n", *status);
		exit(1);
	}
}

/* Instructions from one SIGSTOP to the next. */
static unsigned long steps(void (*what)(unsigned int i))
{
	unsigned long count = 0;
	int status;
	pid_t child;

	child = fork();
	if (!child) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		run(what);
		_exit(0);
	}
	wait_stop(child, &status);
	do {
		if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL)) {
			perror("stepping");
			exit(1);
		}
		wait_stop(child, &status);
		count++;
	} while (WSTOPSIG(status) == SIGTRAP);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return count;
}

static double each(const char *name, void (*what)(unsigned int i))
{
	double one = (double)(steps(what) - steps(nothing)) / (ROUNDS - 1);

	printf("%-44s %6.1f instructions\n", name, one);
	return one;
}

/* ---- */

/* Fills a CQ with completions of its QP's sends, or makes room in the send ring. */
static void set_up(bool elided, bool filled)
{
	const struct ibv_qp_cap cap = {
		.max_send_wr = 4 * ROUNDS, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1,
	};
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 4 * ROUNDS,
		.comp_mask = elided ? IBV_CQ_INIT_ATTR_MASK_PD : 0,
	};
	struct ibv_parent_domain_init_attr domain = { .pd = &fake_pd };
	struct ibv_td_init_attr td = {};

	ctx = fake_open();
	fake_pd.context = &ctx->vctx.context;
	domain.td = fake_ops()->alloc_td(&ctx->vctx.context, &td);
	if (elided)
		attr.parent_domain = fake_ops()->alloc_parent_domain(&ctx->vctx.context, &domain);
	cq = ibv_cq_ex_to_cq(fake_ops()->create_cq_ex(&ctx->vctx.context, &attr));
	qp = fake_make_qp(ctx, cq, cq, &cap, IBV_QP_EX_WITH_RDMA_WRITE);
	for (unsigned int i = 0; filled && i < 2 * ROUNDS; i++) {
		post_old(i);
		fake_complete(cq, (struct vhca_cqe) {
			.qpn = htole32(qp->qp_num), .wqe_index = htole32(i + 1),
			.wr_id = htole64(i),
		});
	}
}

/* Prints a limit, and appends it to the table that the environment names: see promises.py. */
static bool keeps(const char *promise, double ratio, double limit)
{
	const char *name = getenv("BENCH_TABLE");
	FILE *table = name ? fopen(name, "a") : NULL;
	bool kept = ratio <= limit;

	printf("%-44s %6.2f (at most %.2f)%s\n", promise, ratio, limit, kept ? "" : " NOT KEPT");
	if (name && !table) {
		perror(name);
		exit(2);
	}
	if (table) {
		fprintf(table, "provider: %s\t<= %.2f\t%.2f\t%s\n", promise, limit, ratio,
			kept ? "yes" : "no");
		fclose(table);
	}
	return kept;
}

int main(void)
{
	double locked, free, locked_ex, free_ex, none, none_free, old, new;
	bool good;

	set_up(false, true);
	locked = each("ibv_poll_cq(), one completion", poll_one);
	locked_ex = each("ibv_start_poll() and end, one completion", poll_one_ex);
	set_up(true, true);
	free = each("the same in a parent domain", poll_one);
	free_ex = each("the same in a parent domain, extended", poll_one_ex);
	set_up(false, false);
	none = each("ibv_poll_cq(), nothing there", poll_none);
	old = each("ibv_post_send(), one write", post_old);
	new = each("ibv_wr_*(), one write", post_new);
	set_up(true, false);
	none_free = each("ibv_poll_cq(), nothing there, parent domain", poll_none);

	good = keeps("poll: parent domain / locked", free / locked, 0.8);
	good &= keeps("extended poll: parent domain / locked", free_ex / locked_ex, 0.8);
	good &= keeps("empty poll: parent domain / locked", none_free / none, 0.8);
	good &= keeps("ibv_wr_*() / ibv_post_send()", new / old, 1);
	return good ? 0 : 1;
}
