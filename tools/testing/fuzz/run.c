// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Runs a program in a process group of its own, with its threads in parallel.  Whatever it does to
 * itself, no process of it is left when run_prog() returns.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/futex.h>

#include "fuzz.h"

#define RUN_SECONDS	20	/* for a program, on a busy host */
#define DIE_SECONDS	120	/* until a killed program has ended */
#define NOBODY		65534
#define REPEATS		64	/* most repetitions of a call */

static const struct prog *running;
static bool forked;

void run_setup(const char *device, const char *umad)
{
	sigset_t set;

	/* gone() waits for this signal; no thread may receive it */
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	memory_setup();
	snprintf(shared->paths[FILE_UVERBS], sizeof(shared->paths[0]), "%s", device);
	snprintf(shared->paths[FILE_UMAD], sizeof(shared->paths[0]), "%s", umad);
	snprintf(shared->paths[FILE_UCMA], sizeof(shared->paths[0]), "/dev/infiniband/rdma_cm");
	/* processes that programs leave behind become children of this one */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static void count(unsigned int cmd, int err)
{
	__atomic_add_fetch(&shared->calls, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&shared->of[cmd].calls, 1, __ATOMIC_RELAXED);
	if (err) {
		shared->of[cmd].last = err;
		if (running->good)
			dprintf(STDOUT_FILENO, "fuzz: refused: %s:%s: %s\n",
				form_names[commands[cmd].form], commands[cmd].name, strerror(err));
		return;
	}
	__atomic_add_fetch(&shared->good, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&shared->of[cmd].good, 1, __ATOMIC_RELAXED);
}

static void wait_for_first(uint32_t calls)
{
	uint32_t now;

	while ((now = __atomic_load_n(&shared->first_done, __ATOMIC_ACQUIRE)) < calls)
		syscall(SYS_futex, &shared->first_done, FUTEX_WAIT, now, NULL, NULL, 0);
}

/* Returns 0, an errno or CALL_FORKS. */
static int run_call(const struct call *call, unsigned int thread)
{
	const struct command *cmd = &commands[call->cmd];

	memory_begin(thread);
	switch (cmd->form) {
	case IOCTL: case WRITE: case EXTENDED: case INVOKE:
		return request_run(call, cmd, thread);
	case SYS:
		return sys_run(call, cmd, thread);
	case SYSFS:
		return files_run(call, cmd, thread);
	default:
		return others_run(call, cmd, thread);
	}
}

/* Counts all repetitions but the last. */
static int repeat_call(const struct call *call, unsigned int thread)
{
	const struct twist *twist = twist_of(call, REQUEST, REPEAT);
	int err = run_call(call, thread);

	for (uint64_t i = 0; twist && i < twist->value % REPEATS && err != CALL_FORKS; i++) {
		count(call->cmd, err);
		err = run_call(call, thread);
	}
	return err;
}

/*
 * The first thread makes what the others need: a call of theirs begins when the calls of the first
 * thread that come before it in the program have ended.
 */
static void run_calls(unsigned int thread, unsigned int from)
{
	uint32_t before = 0;
	int err;

	for (unsigned int i = 0; i < running->num; i++) {
		if (running->calls[i].thread != thread || i < from) {
			before += !running->calls[i].thread;
			continue;
		}
		if (thread)
			wait_for_first(before);
		err = repeat_call(&running->calls[i], thread);
		if (err == CALL_FORKS) {
			err = 0;
			/*
			 * The child makes the rest of this thread's calls too, and does not fork
			 * again.
			 */
			if (!forked && !fork()) {
				forked = true;
				run_calls(thread, i + 1);
				_exit(0);
			}
		}
		count(running->calls[i].cmd, err);
		if (i == running->num - 1)
			shared->last_good = !err;
		if (!thread) {
			__atomic_add_fetch(&shared->first_done, 1, __ATOMIC_RELEASE);
			syscall(SYS_futex, &shared->first_done, FUTEX_WAKE, THREADS, NULL, NULL, 0);
		}
	}
}

static void *thread_main(void *arg)
{
	unsigned int thread = (uintptr_t)arg;

	cover_thread(thread, true);
	run_calls(thread, 0);
	cover_thread(thread, false);
	__atomic_add_fetch(&shared->done, 1, __ATOMIC_RELEASE);
	return NULL;
}

static bool uses(unsigned int thread)
{
	for (unsigned int i = 0; i < running->num; i++) {
		if (running->calls[i].thread == thread)
			return true;
	}
	return false;
}

static bool has(enum how how)
{
	for (unsigned int i = 0; i < running->num; i++) {
		for (unsigned int k = 0; k < running->calls[i].num_twists; k++) {
			if (running->calls[i].twists[k].how == how)
				return true;
		}
	}
	return false;
}

static void limit(int what, rlim_t most)
{
	struct rlimit limit = { most, most };

	setrlimit(what, &limit);
}

static void process_main(void)
{
	unsigned int num = 0;
	pthread_t ids[THREADS];

	setpgid(0, 0);
	limit(RLIMIT_AS, 1UL << 30);
	limit(RLIMIT_NOFILE, 256);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_NPROC, 4096);
	if (running->user && (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
			      setresuid(NOBODY, NOBODY, NOBODY)))
		_exit(1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	objects_reset();
	if (has(LATE))
		late_setup(&shared->calls);
	if (!uses(1) && !uses(2) && !uses(3) && !has(RACED)) {
		thread_main(NULL);
		_exit(0);
	}
	for (unsigned int i = 0; i < THREADS; i++) {
		if (uses(i) && !pthread_create(&ids[num], NULL, thread_main, (void *)(uintptr_t)i))
			num++;
	}
	while (has(RACED) && __atomic_load_n(&shared->done, __ATOMIC_ACQUIRE) < num)
		memory_race(64);
	while (num--)
		pthread_join(ids[num], NULL);
	_exit(0);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

/* Waits until all processes have ended, or for @seconds.  Returns whether they have. */
static bool gone(double seconds)
{
	double end = now() + seconds;
	struct timespec step = { .tv_nsec = 100000000 };
	sigset_t set;
	pid_t pid;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	do {
		do
			pid = waitpid(-1, NULL, WNOHANG);
		while (pid > 0);
		if (pid < 0 && errno == ECHILD)
			return true;
		sigtimedwait(&set, NULL, &step);
	} while (now() < end);
	return false;
}

/* Returns false when a process of the program is still there, although it was killed. */
bool run_prog(const struct prog *prog)
{
	bool back;
	pid_t pid;

	running = prog;
	delays_arm(prog);
	shared->done = 0;
	shared->first_done = 0;
	shared->last_good = 0;
	pid = fork();
	if (pid < 0)
		abort();
	if (!pid)
		process_main();
	setpgid(pid, pid);
	if (!gone(RUN_SECONDS)) {
		kill(-pid, SIGKILL);
		if (!gone(DIE_SECONDS))
			return false;
	}
	files_clean();
	back = removal_over(DIE_SECONDS);
	if (back)
		net_clean();
	delays_clear(prog);
	return back;
}
