// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tsteps.h"

/* What the child tells: a page that both have. */
static struct told {
	u32 kind;
	u64 done[TSTEPS_KINDS];
} *told;

static void need(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

void tsteps_begin(u32 kind)
{
	told->kind = kind;
	raise(SIGSTOP);
}

void tsteps_end(void)
{
	raise(SIGSTOP);
}

void tsteps_done(u32 kind, u64 n)
{
	told->done[kind] += n;
}

double tsteps_each(const struct tsteps *s)
{
	return (double)s->steps / s->done;
}

/* Lets the child go on; returns the signal that stops it, 0: it has ended, and well. */
static int go_on(pid_t child, int how)
{
	int status;

	need(!ptrace(how, child, NULL, NULL), "ptrace");
	need(waitpid(child, &status, 0) == child, "waitpid");
	if (WIFSTOPPED(status))
		return WSTOPSIG(status);
	if (!status)
		return 0;
	printf("the process that is stepped through ended: status %#x\n", status);
	exit(1);
}

void tsteps_count(void (*what)(void *arg), void *arg, struct tsteps kinds[TSTEPS_KINDS])
{
	pid_t child;
	int status;

	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(told != MAP_FAILED, "mmap");
	memset(kinds, 0, TSTEPS_KINDS * sizeof(*kinds));
	fflush(stdout);
	child = fork();
	if (!child) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		what(arg);
		_exit(0);
	}
	need(child > 0 && waitpid(child, &status, 0) == child, "fork");
	while (go_on(child, PTRACE_CONT))
		while (go_on(child, PTRACE_SINGLESTEP) == SIGTRAP)
			kinds[told->kind].steps++;
	for (u32 i = 0; i < TSTEPS_KINDS; i++)
		kinds[i].done = told->done[i];
	munmap(told, sizeof(*told));
}
