// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * resource FEW MANY: what "rdma resource show qp" costs for each entry, in instructions of a guest
 * that runs with --icount, when there are FEW QPs and when there are MANY.  Lines of "NAME
 * INSTRUCTIONS".
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <infiniband/verbs.h>

#define NS_PER_INSTRUCTION 2

static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_srq *srq;

static void die(const char *what)
{
	fprintf(stderr, "resource: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void *must(void *made, const char *what)
{
	if (!made)
		die(what);
	return made;
}

static void open_device(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 4, .max_sge = 1 } };
	int n;
	struct ibv_device **list = must(ibv_get_device_list(&n), "ibv_get_device_list");
	struct ibv_context *context = must(n ? ibv_open_device(list[0]) : NULL, "ibv_open_device");

	ibv_free_device_list(list);
	pd = must(ibv_alloc_pd(context), "ibv_alloc_pd");
	cq = must(ibv_create_cq(context, 16, NULL, NULL, 0), "ibv_create_cq");
	srq = must(ibv_create_srq(pd, &attr), "ibv_create_srq");
}

static void make_qps(int from, int to)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .srq = srq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 },
	};

	while (from++ < to)
		must(ibv_create_qp(pd, &attr), "ibv_create_qp");
}

/* The tool's lines go to a file, so that each of them costs the same. */
static pid_t start_tool(const char *answers)
{
	pid_t pid = fork();
	int fd;

	if (pid)
		return pid;
	fd = open(answers, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
		_exit(1);
	execlp("rdma", "rdma", "resource", "show", "qp", NULL);
	_exit(1);
}

static int lines_of(const char *path)
{
	FILE *file = must(fopen(path, "r"), path);
	int c, n = 0;

	while ((c = getc(file)) != EOF)
		n += c == '\n';
	fclose(file);
	return n;
}

/* Instructions of the tool, in the kernel and in user space, and the @lines that it has printed. */
static double run_tool(int *lines)
{
	static const char answers[] = "/tmp/resource.answers";
	struct timespec used;
	siginfo_t info;
	clockid_t clock;
	pid_t pid;

	pid = start_tool(answers);
	/* The clock of a process that has ended can be read until its parent waits for it */
	if (pid < 0 || waitid(P_PID, pid, &info, WEXITED | WNOWAIT) ||
	    clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &used))
		die("rdma");
	waitpid(pid, NULL, 0);
	if (info.si_code != CLD_EXITED || info.si_status) {
		errno = ECHILD;
		die("rdma");
	}
	*lines = lines_of(answers);
	return (used.tv_sec * 1e9 + used.tv_nsec) / NS_PER_INSTRUCTION;
}

/* Instructions for each of @qps QPs that were made, beside those of the kernel: its MAD QPs. */
static double per_qp(int qps, int kernels, double nothing)
{
	int lines;
	double all = run_tool(&lines);

	if (lines != kernels + qps) {
		fprintf(stderr, "resource: %d lines about %d QPs, and %d of the kernel\n", lines,
			qps, kernels);
		exit(1);
	}
	return (all - nothing) / qps;
}

int main(int argc, char **argv)
{
	int few, many, kernels;
	double nothing;

	if (argc != 3) {
		fprintf(stderr, "usage: resource FEW MANY\n");
		return 2;
	}
	few = atoi(argv[1]);
	many = atoi(argv[2]);
	open_device();
	run_tool(&kernels);
	nothing = run_tool(&kernels);
	make_qps(0, few);
	printf("resource_qp_few %.0f\n", per_qp(few, kernels, nothing));
	fflush(stdout);
	make_qps(few, many);
	printf("resource_qp_many %.0f\n", per_qp(many, kernels, nothing));
	return 0;
}
