// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * rdma-why COMMAND...: run a command, then say which RDMA requests of it the kernel has refused and
 * why.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rdma-why.h"
#include "../../include/uapi/rdma/vhca-abi.h"

static const char usage[] =
	"usage: rdma-why [--fdinfo] COMMAND [ARGUMENT]...\n"
	"       rdma-why --vendor-err NUMBER\n"
	"       rdma-why --help\n"
	"Runs COMMAND. Afterwards it prints, to standard error, each request to the RDMA stack that\n"
	"was refused, with the error and the kernel's reason. Exits as COMMAND does.\n"
	"\n"
	"With access to tracefs (root) nothing is missed. Without it, or with --fdinfo, the reasons\n"
	"are read from /proc when a process of COMMAND exits: the last 8 of each file that it has\n"
	"open then.\n"
	"\n"
	"With --vendor-err it prints what the vendor_err of a completion of the vhca driver\n"
	"means.\n";

/* Returns the exit status, 1 if the number stands for no reason. */
static int print_vendor_err(const char *word)
{
	const char *text = NULL;
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(word, &end, 0);
	if (!errno && !*end && end != word && number <= UINT_MAX)
		text = vhca_why_text(number);
	if (!text) {
		fprintf(stderr, "rdma-why: no vendor_err of vhca: %s\n", word);
		return 1;
	}
	puts(text);
	return 0;
}

/* The child waits for the pipe: it runs the command after a byte, and exits at the end of file. */
static pid_t start(char **command, int *go)
{
	int pipe_fds[2];
	char byte;
	pid_t child;

	if (pipe(pipe_fds))
		return -1;
	child = fork();
	if (child) {
		close(pipe_fds[0]);
		*go = pipe_fds[1];
		return child;
	}
	close(pipe_fds[1]);
	if (read(pipe_fds[0], &byte, 1) != 1)
		_exit(125);
	close(pipe_fds[0]);
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	execvp(command[0], command);
	fprintf(stderr, "rdma-why: %s: %s\n", command[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

/* The distribution's ib_core gives no reasons, so that finding none means little there. */
static bool core_gives_reasons(void)
{
	FILE *symbols = fopen("/proc/kallsyms", "re");
	bool found = false;
	char line[512];

	if (!symbols)
		return true;
	while (!found && fgets(line, sizeof(line), symbols))
		found = !!strstr(line, " rdma_refuse_for\t");
	fclose(symbols);
	return found;
}

static int exit_as(int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	return 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	const struct watcher *watcher = &trace_watcher;
	int first = 1;
	int status;
	int go = -1;
	pid_t child;

	if (argc > first && !strcmp(argv[first], "--help")) {
		fputs(usage, stdout);
		return 0;
	}
	if (argc == 3 && !strcmp(argv[first], "--vendor-err"))
		return print_vendor_err(argv[2]);
	if (argc > first && !strcmp(argv[first], "--fdinfo")) {
		watcher = &fdinfo_watcher;
		first++;
	}
	if (argc <= first || argv[first][0] == '-') {
		fputs(usage, stderr);
		return 2;
	}

	if (!watcher->prepare())
		watcher = &fdinfo_watcher;
	/* signals of the terminal are for the command */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	child = start(argv + first, &go);
	if (child < 0) {
		fprintf(stderr, "rdma-why: cannot start a process: %s\n", strerror(errno));
		return 125;
	}
	if (!watcher->watch(child)) {
		close(go);
		waitpid(child, NULL, 0);
		fprintf(stderr, "rdma-why: cannot watch the command: %s\n", strerror(errno));
		return 125;
	}
	if (write(go, "", 1) != 1)
		perror("rdma-why");
	close(go);
	status = watcher->finish(child);
	if (!any_reported())
		fprintf(stderr, "rdma-why: %s\n",
			core_gives_reasons() ? "nothing was refused" :
					       "no RDMA core that gives reasons is loaded");
	return exit_as(status);
}
