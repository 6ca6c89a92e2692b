// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fork DEVICE: a process forks while its memory is registered and its receives are posted, and
 * goes on; TAP on stdout.  The device must go on with the parent's pages: those of the program,
 * of the rings and of the completion queue.  The child has copies, writes all over them, and
 * ends before or after the message, with all that it inherited.  ibv_fork_init() is not called.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"

#define ROUNDS		8
#define SIZE		(64 * 1024)
#define INLINE		64

static struct ibv_context *ctx;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static unsigned char *from, *to;	/* one registration: [from, to) and as much behind */

static unsigned int point, failed;

static void report(bool good, const char *name)
{
	printf("%sok %u - %s\n", good ? "" : "not ", ++point, name);
	fflush(stdout);
	failed += !good;
}

static bool make_all(const char *name)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1,
			 .max_inline_data = INLINE },
	};

	from = mmap(NULL, 2 * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ctx = open_device(name);
	if (from == MAP_FAILED || !ctx)
		return false;
	to = from + SIZE;
	pd = ibv_alloc_pd(ctx);
	if (!pd)
		return false;
	mr = ibv_reg_mr(pd, from, 2 * SIZE, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	if (!mr || !cq)
		return false;
	attr.send_cq = cq;
	attr.recv_cq = cq;
	qp = ibv_create_qp(pd, &attr);
	/* it is its own peer */
	return qp && connect_rc(qp, qp, IBV_ACCESS_REMOTE_WRITE);
}

static bool end_all(void)
{
	return !ibv_destroy_qp(qp) && !ibv_destroy_cq(cq) && !ibv_dereg_mr(mr) &&
	       !ibv_dealloc_pd(pd) && !ibv_close_device(ctx);
}

static bool poll_for(int num)
{
	struct ibv_wc wc;
	int n;

	while (num) {
		n = ibv_poll_cq(cq, 1, &wc);
		if (n < 0 || (n && wc.status != IBV_WC_SUCCESS)) {
			printf("# poll: %d, %s\n", n, n > 0 ? ibv_wc_status_str(wc.status) : "");
			return false;
		}
		num -= n;
	}
	return true;
}

static bool all_are(const unsigned char *bytes, unsigned char value, const char *whose)
{
	for (size_t i = 0; i < SIZE; i++) {
		if (bytes[i] == value)
			continue;
		printf("# %s byte %zu: expected %#x, got %#x\n", whose, i, value, bytes[i]);
		return false;
	}
	return true;
}

/* The child: its memory is as it was at the fork, whatever the parent does later. */
static int be_child(int go, unsigned char old, bool writes)
{
	char byte;

	if (writes) {
		memset(from, 0xee, SIZE);
		memset(to, 0xee, SIZE);
		old = 0xee;
	}
	/* end after the parent has got its message, or at once */
	if (go >= 0 && read(go, &byte, 1) != 1)
		return 2;
	return all_are(to, old, "the child's") ? 0 : 1;
}

/*
 * One message after a fork: a SEND into a receive that was posted before, or a WRITE.  The
 * parent changes the data after the fork.
 */
static bool round_of(unsigned int n, bool outlives, bool writes, bool with_send)
{
	unsigned char old = n * 2 + 1, new = n * 2 + 2, byte = 0;
	struct ibv_sge into = { (uintptr_t)to, SIZE, mr->lkey };
	struct ibv_sge out = { (uintptr_t)from, SIZE, mr->lkey };
	struct ibv_recv_wr rwr = { .sg_list = &into, .num_sge = 1 }, *rbad;
	struct ibv_send_wr wr = {
		.sg_list = &out, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED,
		.opcode = with_send ? IBV_WR_SEND : IBV_WR_RDMA_WRITE,
		.wr.rdma = { .remote_addr = (uintptr_t)to, .rkey = mr->rkey },
	}, *bad;
	bool good = true;
	int go[2], status;
	pid_t child;

	memset(from, old, SIZE);
	memset(to, old, SIZE);
	if ((with_send && ibv_post_recv(qp, &rwr, &rbad)) || pipe(go))
		return false;
	child = fork();
	if (!child)
		_exit(be_child(outlives ? go[0] : -1, old, writes));
	if (child < 0)
		return false;
	if (!outlives && (waitpid(child, &status, 0) != child || status))
		good = false;
	memset(from, new, SIZE);
	good = !ibv_post_send(qp, &wr, &bad) && poll_for(with_send ? 2 : 1) && good;
	good = all_are(to, new, "the parent's") && good;
	if (outlives) {
		good = write(go[1], &byte, 1) == 1 && good;
		if (waitpid(child, &status, 0) != child || status)
			good = false;
	}
	close(go[0]);
	close(go[1]);
	return good;
}

static void rounds(const char *name, bool outlives, bool writes)
{
	bool good = true;

	for (unsigned int n = 0; n < ROUNDS && good; n++)
		good = round_of(n, outlives, writes, n % 2);
	report(good, name);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: fork DEVICE\n");
		return 2;
	}
	printf("TAP version 13\n1..7\n");
	report(ibv_is_fork_initialized() == IBV_FORK_UNNEEDED, "the kernel copies pinned pages");
	if (!make_all(argv[1])) {
		printf("Bail out! objects of %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	rounds("a child that does nothing and ends", false, false);
	rounds("a child that writes all over its copy and ends", false, true);
	rounds("a child that does nothing and lives on", true, false);
	rounds("a child that writes all over its copy and lives on", true, true);
	report(ibv_fork_init() == 0, "ibv_fork_init() has nothing against it");
	report(end_all(), "all objects end");
	return failed > 0;
}
