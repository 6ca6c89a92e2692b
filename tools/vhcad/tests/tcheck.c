// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/tcheck.h"

int t_capcheck(const char *file)
{
	const char *beside = getenv("VHCAD_FAST");
	char cmd[1024], dir[512] = "build";
	int st;

	if (beside) {
		snprintf(dir, sizeof(dir), "%s", beside);
		*strrchr(dir, '/') = 0;
	}
	snprintf(cmd, sizeof(cmd), "%s/vhca-capcheck %s >/dev/null 2>&1", dir, file);
	st = system(cmd);
	return WIFEXITED(st) ? WEXITSTATUS(st) : -1;
}
