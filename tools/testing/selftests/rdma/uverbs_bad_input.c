// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * uverbs_bad_input DEVICE: requests that must be refused, each with its errno and a reason in
 * /proc/self/fdinfo that names what was wrong; TAP on stdout.  Nothing may be left behind: the
 * numbers of objects are the same before and after.
 *
 * "-n" leaves the reasons unchecked, for kernels that give none.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "device.h"
#include "uverbs_bad_input.h"

struct ibv_context *ctx;
struct ibv_pd *pd;
struct ibv_mr *mr;
struct ibv_comp_channel *channel;
struct ibv_cq *cq;
struct ibv_qp *qp;
char *buf;
int fd;
int fresh;

/* ---- running it ---- */

static unsigned int point, failed;

static void report(bool good, const char *name, const char *why)
{
	printf("%sok %u - %s%s%s\n", good ? "" : "not ", ++point, name, good ? "" : ": ",
	       good ? "" : why);
	failed += !good;
}

/* Runs a request in a process of its own, whose rights end with it. */
int in_child(int (*run)(void))
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(run());
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return ECHILD;
	return WEXITSTATUS(status);
}

/* The reasons of a file, from number @from on. */
struct reasons {
	long count;		/* all reasons of the file */
	char text[1024];	/* the new ones with their errno, one a line */
};

static void read_reasons(int of, long from, struct reasons *r)
{
	char path[64], line[512];
	long number;
	FILE *file;
	int at, err;

	*r = (struct reasons){};
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", of);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "rdma-reject: %ld %*s %n%d", &number, &at, &err) < 2)
			continue;
		r->count = number + 1;
		if (number >= from)
			strncat(r->text, line + at, sizeof(r->text) - strlen(r->text) - 1);
	}
	if (file)
		fclose(file);
}

/* Has a new reason the errno and the words? */
static bool reason_given(const struct reasons *r, const struct bad_input *row)
{
	const char *line = r->text, *end, *found;

	for (; (end = strchr(line, '\n')); line = end + 1) {
		found = strstr(line, row->reason);
		if (atoi(line) == -row->err && found && found < end)
			return true;
	}
	return false;
}

static void run_row(const struct bad_input *row, bool check_reasons)
{
	int of = row->on_fresh ? fresh : fd, err;
	struct reasons before, now;
	char why[2048];

	read_reasons(of, 0, &before);
	err = row->run();
	read_reasons(of, before.count, &now);

	if (err != row->err) {
		snprintf(why, sizeof(why), "errno %d (%s), expected %d (%s); reasons: %s", err,
			 strerror(err), row->err, strerror(row->err), now.text);
		report(false, row->name, why);
	} else if (!check_reasons) {
		report(true, row->name, NULL);
	} else if (row->reason) {
		snprintf(why, sizeof(why), "'%s' is not in, or not alone: %s", row->reason,
			 now.text);
		report(reason_given(&now, row) && (!row->alone || now.count == before.count + 1),
		       row->name, why);
	} else {
		snprintf(why, sizeof(why), "gave a reason without need: %s", now.text);
		report(now.count == before.count, row->name, why);
	}
}

/* ---- many threads on one handle ---- */

#define THREADS	8
#define ROUNDS	200

static struct {
	pthread_barrier_t barrier;
	uint32_t handle;
	unsigned int won, lost, odd;
} race;

static void *race_thread(void *arg)
{
	int ret;

	for (int i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&race.barrier);
		/* some threads look the PD up while the others destroy it */
		ret = (uintptr_t)arg % 4 ? destroy_pd(race.handle) : 0;
		if (!ret && (uintptr_t)arg % 4)
			__atomic_add_fetch(&race.won, 1, __ATOMIC_RELAXED);
		else if (ret == EBUSY || ret == ENOENT)
			__atomic_add_fetch(&race.lost, 1, __ATOMIC_RELAXED);
		else if (ret)
			__atomic_add_fetch(&race.odd, 1, __ATOMIC_RELAXED);
		if (!((uintptr_t)arg % 4)) {
			ret = reg_mr(BUF, 4096, BUF, 0, race.handle);
			/*
			 * either the PD was destroyed before, or this MR keeps it from being
			 * destroyed
			 */
			if (ret && ret != EBUSY && ret != ENOENT)
				__atomic_add_fetch(&race.odd, 1, __ATOMIC_RELAXED);
		}
		pthread_barrier_wait(&race.barrier);
	}
	return NULL;
}

static uint32_t count_handles(uint16_t object, uint32_t *list, uint16_t len)
{
	struct raw r = raw_begin(DRIVER_ID, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INFO_HANDLES);
	uint32_t total = 0;

	raw_const(&r, UVERBS_ATTR_INFO_OBJECT_ID, object);
	raw_out(&r, UVERBS_ATTR_INFO_TOTAL_HANDLES, &total, sizeof(total));
	raw_out(&r, UVERBS_ATTR_INFO_HANDLES_LIST, list, len);
	return raw_send(fd, &r) ? ~0U : total;
}

/* Deregisters the MRs that were registered in time, except the one that the test keeps. */
static void dereg_others(void)
{
	uint32_t list[64], n = count_handles(UVERBS_OBJECT_MR, list, sizeof(list));

	for (uint32_t i = 0; i < n && i < 64; i++) {
		struct raw r = raw_begin(DRIVER_ID, UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY);

		if (list[i] == mr->handle)
			continue;
		raw_handle(&r, UVERBS_ATTR_DESTROY_MR_HANDLE, list[i]);
		raw_send(fd, &r);
	}
}

static void run_race(void)
{
	unsigned int stuck = 0;
	pthread_t thread[THREADS];

	pthread_barrier_init(&race.barrier, NULL, THREADS + 1);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, race_thread, (void *)i);
	for (int round = 0; round < ROUNDS; round++) {
		struct ibv_pd *victim = ibv_alloc_pd(ctx);
		unsigned int before = race.won;

		race.handle = victim ? victim->handle : 0;
		pthread_barrier_wait(&race.barrier);
		pthread_barrier_wait(&race.barrier);
		dereg_others();
		/* an MR kept it from being destroyed: now there is none */
		if (race.won == before && destroy_pd(race.handle))
			stuck++;
		if (race.won > before + 1)
			race.odd++;
		free(victim);
	}
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	printf("# destroyed %u times, %u came too late\n", race.won, race.lost);
	report(!stuck && !race.odd && race.won, "concurrent_destroy",
	       "a handle was destroyed twice, stuck, or failed oddly");
}

/* ---- set-up ---- */

#define TYPES	5

static void counts(uint32_t *to)
{
	static const uint16_t types[TYPES] = {
		UVERBS_OBJECT_PD, UVERBS_OBJECT_MR, UVERBS_OBJECT_MW, UVERBS_OBJECT_CQ,
		UVERBS_OBJECT_QP,
	};
	uint32_t list[256];

	for (int i = 0; i < TYPES; i++)
		to[i] = count_handles(types[i], list, sizeof(list));
}

static int open_fds(void)
{
	int n = 0;

	for (int i = 0; i < 256; i++)
		n += fcntl(i, F_GETFD) != -1;
	return n;
}

static bool set_up(const char *name)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	char node[128];

	ctx = open_device(name);
	if (!ctx)
		return false;
	fd = ctx->cmd_fd;
	snprintf(node, sizeof(node), "/dev/infiniband/%s", ctx->device->dev_name);
	fresh = open(node, O_RDWR | O_CLOEXEC);
	buf = mmap(NULL, BUF_LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pd = ibv_alloc_pd(ctx);
	mr = pd ? ibv_reg_mr(pd, buf, BUF_LEN, IBV_ACCESS_LOCAL_WRITE) : NULL;
	channel = ibv_create_comp_channel(ctx);
	cq = channel ? ibv_create_cq(ctx, 16, NULL, channel, 0) : NULL;
	init.send_cq = cq;
	init.recv_cq = cq;
	qp = mr && cq ? ibv_create_qp(pd, &init) : NULL;
	return qp && fresh >= 0;
}

static bool tear_down(void)
{
	return !ibv_destroy_qp(qp) && !ibv_destroy_cq(cq) && !ibv_destroy_comp_channel(channel) &&
	       !ibv_dereg_mr(mr) && !ibv_dealloc_pd(pd) && !ibv_close_device(ctx);
}

#define TABLES	5

int main(int argc, char **argv)
{
	bool reasons = !(argc > 2 && !strcmp(argv[1], "-n"));
	static const struct bad_input *const tables[TABLES] = {
		bad_ioctls, bad_objects, bad_writes, bad_datagrams, bad_memory,
	};
	uint32_t before[TYPES], after[TYPES];
	struct reasons first;
	unsigned int rows = 0;
	int fds;

	if (argc < 2 || !set_up(argv[argc - 1])) {
		printf("Bail out! %s: no such device, or it cannot be used: %s\n", argv[argc - 1],
		       strerror(errno));
		return 1;
	}
	for (int t = 0; t < TABLES; t++)
		for (const struct bad_input *row = tables[t]; row->name; row++)
			rows++;
	setlinebuf(stdout);
	printf("TAP version 13\n1..%u\n", rows + 5);

	read_reasons(fd, 0, &first);
	report(!first.count, "set_up_refused_nothing", first.text);
	counts(before);
	fds = open_fds();
	for (int t = 0; t < TABLES; t++)
		for (const struct bad_input *row = tables[t]; row->name; row++)
			run_row(row, reasons);
	counts(after);
	report(!memcmp(before, after, sizeof(before)), "no_object_left",
	       "objects were left behind");
	report(open_fds() == fds, "no_fd_left", "file descriptors were left behind");
	run_race();
	report(tear_down(), "tear_down", strerror(errno));
	return failed > 0;
}
