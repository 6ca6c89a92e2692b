// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How a refusal is printed.
 */
#include <stdio.h>
#include <string.h>

#include "rdma-why.h"

static bool reported;

bool any_reported(void)
{
	return reported;
}

void report(const struct refusal *refusal)
{
	const char *name = strerrorname_np(-refusal->err);

	if (!reported)
		fprintf(stderr, "rdma-why: refused:\n");
	reported = true;
	fprintf(stderr, "  %s[%d] %s: %s (%s): %s\n", refusal->who, refusal->pid, refusal->device,
		name ? name : "?", strerror(-refusal->err), refusal->reason);
}
