// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "tests/tcheck.h"

int t_capcheck(const char *file)
{
	const char *program = getenv("VHCA_CAPCHECK");
	char cmd[1024];
	int st;

	snprintf(cmd, sizeof(cmd), "%s %s >/dev/null 2>&1",
		 program ? program : "build/vhca-capcheck", file);
	st = system(cmd);
	return WIFEXITED(st) ? WEXITSTATUS(st) : -1;
}
