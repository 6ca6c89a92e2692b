// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * control [flat | NAME...]: what the control path costs, in instructions of a guest that runs
 * with --icount, where an instruction takes NS_PER_INSTRUCTION of the guest's time.  Each line,
 * "NAME INSTRUCTIONS", counts one operation, creating and destroying together: the median of all
 * runs, with the kernel's workers; with flat, the mean of many runs, of this process alone.
 *
 *   control         all lines by which 6.12's core and ours are compared
 *   control NAME... these lines alone
 *   control flat    objects 1 to 10,000 beside objects 90,001 to 100,000, and four processes
 *                   beside one
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <infiniband/verbs.h>

#include "../../selftests/rdma/uverbs_raw.h"
#include "instructions.h"

#define WARM_UP 20
#define FEW 10000
#define MANY 100000
#define PER_PROCESS 2000
#define PROCESSES 4

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *cq;

/* Instructions that this process has executed, in the kernel and in user space. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (t.tv_sec * 1e9 + t.tv_nsec) / NS_PER_INSTRUCTION;
}

static void open_device(void)
{
	int n;
	struct ibv_device **list = must(ibv_get_device_list(&n), "ibv_get_device_list");

	if (!n)
		die("no device");
	context = must(ibv_open_device(list[0]), "ibv_open_device");
	ibv_free_device_list(list);
	pd = must(ibv_alloc_pd(context), "ibv_alloc_pd");
	cq = must(ibv_create_cq(context, 16, NULL, NULL, 0), "ibv_create_cq");
}

static struct ibv_qp *make_qp(void)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};

	return must(ibv_create_qp(pd, &attr), "ibv_create_qp");
}

static struct ibv_cq *make_cq(void)
{
	return must(ibv_create_cq(context, 16, NULL, NULL, 0), "ibv_create_cq");
}

static void do_qp(void) { must_not(ibv_destroy_qp(make_qp()), "ibv_destroy_qp"); }
static void do_cq(void) { must_not(ibv_destroy_cq(make_cq()), "ibv_destroy_cq"); }

static void do_pd(void)
{
	must_not(ibv_dealloc_pd(must(ibv_alloc_pd(context), "ibv_alloc_pd")), "ibv_dealloc_pd");
}

static void do_srq(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq *srq = must(ibv_create_srq(pd, &attr), "ibv_create_srq");

	must_not(ibv_destroy_srq(srq), "ibv_destroy_srq");
}

static void do_ah(void)
{
	struct ibv_ah_attr attr = { .dlid = 1, .port_num = 1 };

	must_not(ibv_destroy_ah(must(ibv_create_ah(pd, &attr), "ibv_create_ah")), "ibv_destroy_ah");
}

static char *memory;
static size_t memory_size;

static struct ibv_mr *make_mr(void)
{
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;

	return must(ibv_reg_mr(pd, memory, memory_size, access), "ibv_reg_mr");
}

static void do_mr(void) { must_not(ibv_dereg_mr(make_mr()), "ibv_dereg_mr"); }

static void refuse_handle(void)
{
	struct raw r = raw_begin(RDMA_DRIVER_UNKNOWN, UVERBS_OBJECT_QP, UVERBS_METHOD_QP_DESTROY);
	struct ib_uverbs_destroy_qp_resp resp;

	raw_handle(&r, UVERBS_ATTR_DESTROY_QP_HANDLE, 0x7ffffff0);
	raw_out(&r, UVERBS_ATTR_DESTROY_QP_RESP, &resp, sizeof(resp));
	if (raw_send(context->cmd_fd, &r) != ENOENT)
		die("a handle of nothing was not refused");
}

static void refuse_method(void)
{
	struct raw r = raw_begin(RDMA_DRIVER_UNKNOWN, UVERBS_OBJECT_QP, 0xfff);

	if (raw_send(context->cmd_fd, &r) != EPROTONOSUPPORT)
		die("an unknown method was not refused");
}

static void refuse_length(void)
{
	struct raw r = raw_begin(RDMA_DRIVER_UNKNOWN, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY);

	raw_u32(&r, UVERBS_ATTR_DESTROY_PD_HANDLE, 1);
	if (raw_send(context->cmd_fd, &r) != EINVAL)
		die("a handle with a length was not refused");
}

/* The lines to measure; all of them if none is named. */
static char **wanted;

static bool is_wanted(const char *name)
{
	for (char **one = wanted; *one; one++)
		if (!strcmp(*one, name))
			return true;
	return !*wanted;
}

/* The median.  A run lasts until the next begins, so that work which it leaves behind counts. */
static double median(void (*one)(void), int times)
{
	double *took = must(calloc(times, sizeof(*took)), "calloc");
	double before = all_tasks(), middle;

	for (int i = 0; i < times; i++) {
		double after;

		one();
		after = all_tasks();
		took[i] = after - before;
		before = after;
	}
	qsort(took, times, sizeof(*took), compare_numbers);
	middle = took[times / 2];
	free(took);
	return middle;
}

static void do_nothing(void) { }

static void measure(const char *name, void (*one)(void), int times)
{
	double nothing;

	if (!is_wanted(name))
		return;

	for (int i = 0; i < WARM_UP; i++)
		one();
	nothing = median(do_nothing, times);
	printf("%s %.0f\n", name, median(one, times) - nothing);
	fflush(stdout);
}

static void with_memory(const char *name, size_t size, int flags, int times)
{
	if (!is_wanted(name))
		return;
	memory_size = size;
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags,
		      -1, 0);
	if (memory == MAP_FAILED)
		die(name);
	madvise(memory, size, MADV_NOHUGEPAGE);
	memset(memory, 1, size);
	measure(name, do_mr, times);
	munmap(memory, size);
}

static void compare(void)
{
	measure("pd", do_pd, 1000);
	measure("cq", do_cq, 1000);
	measure("srq", do_srq, 1000);
	measure("qp", do_qp, 1000);
	measure("ah", do_ah, 1000);
	with_memory("mr_4k", 4096, 0, 1000);
	with_memory("mr_2m", 2 << 20, 0, 200);
	with_memory("mr_1g_huge", 1 << 30, MAP_HUGETLB | 30 << MAP_HUGE_SHIFT, 100);
	measure("refused_handle", refuse_handle, 2000);
	measure("refused_method", refuse_method, 2000);
	measure("refused_length", refuse_length, 2000);
}

static void *make_one(int kind)
{
	return kind == 0 ? (void *)make_qp() : kind == 1 ? (void *)make_cq() : (void *)make_mr();
}

static void unmake_one(int kind, void *made)
{
	must_not(kind == 0 ? ibv_destroy_qp(made) :
		 kind == 1 ? ibv_destroy_cq(made) : ibv_dereg_mr(made), "destruction");
}

static void flat(int kind, const char *name)
{
	void **made = must(calloc(MANY, sizeof(*made)), "calloc");
	double before = now(), first, last = 0;
	int i;

	for (i = 0; i < FEW; i++)
		made[i] = make_one(kind);
	first = now() - before;
	for (; i < MANY; i++) {
		if (i == MANY - FEW)
			last = now();
		made[i] = make_one(kind);
	}
	last = now() - last;
	printf("%s_first %.0f\n%s_last %.0f\n", name, first / FEW, name, last / FEW);
	fflush(stdout);
	while (i--)
		unmake_one(kind, made[i]);
	free(made);
}

/* QPs that several processes create at the same time, each in a context of its own. */
static void processes(int many, const char *name)
{
	double sum = 0;
	int fds[2];

	if (pipe(fds))
		die("pipe");
	for (int p = 0; p < many; p++) {
		if (fork())
			continue;
		open_device();
		double before = now(), used;

		for (int i = 0; i < PER_PROCESS; i++)
			make_qp();
		used = now() - before;
		exit(write(fds[1], &used, sizeof(used)) != sizeof(used));
	}
	for (int p = 0; p < many; p++) {
		double used;
		int status;

		if (read(fds[0], &used, sizeof(used)) != sizeof(used))
			die("a process has failed");
		sum += used;
		if (wait(&status) < 0 || status)
			die("a process has failed");
	}
	printf("%s %.0f\n", name, sum / many / PER_PROCESS);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	bool of_many = argc == 2 && !strcmp(argv[1], "flat");

	wanted = argv + 1;
	if (of_many) {
		processes(1, "qp_one_process");
		processes(PROCESSES, "qp_four_processes");
	}
	open_device();
	if (!of_many) {
		compare();
		return 0;
	}
	memory_size = 4096;
	memory = must(aligned_alloc(4096, 4096), "aligned_alloc");
	flat(0, "qp");
	flat(1, "cq");
	flat(2, "mr");
	return 0;
}
