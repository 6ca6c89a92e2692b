// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Limits: with the default ones a guest that creates all it can takes less than 300 MiB
 * of the daemon's memory (quota_test), and can still create all objects that it can
 * use at the speed of one engine.
 */
#include <string.h>

#include "res/dev.h"

static const struct {
	const char *name;
	u32 usual, most;
} limits[VLIMITS] = {
	[VLIM_UARS]	= { "uars", VDEV_KICK_PAGES, VDEV_KICK_PAGES },
	[VLIM_DB_PAGES]	= { "db-pages", 4096, 1u << 20 },
	[VLIM_EQS]	= { "eqs", 256, 256 },
	[VLIM_PDS]	= { "pds", 64u << 10, 64u << 10 },
	[VLIM_XRCDS]	= { "xrcds", 64u << 10, 64u << 10 },
	[VLIM_MKEYS]	= { "mkeys", 256u << 10, 1u << 20 },
	[VLIM_CQS]	= { "cqs", 32u << 10, 128u << 10 },
	[VLIM_SRQS]	= { "srqs", 64u << 10, 64u << 10 },
	[VLIM_QPS]	= { "qps", 16u << 10, VDEV_QP_NUMBERS - QPN_FIRST_SLOT },
	[VLIM_MCGS]	= { "mcgs", 8192, 8192 },
	[VLIM_MCG_QPS]	= { "mcg-qps", 1024, 1024 },
	[VLIM_ATTACHED]	= { "attached", 64u << 10, 8u << 20 },
	[VLIM_COUNTERS]	= { "counters", 16u << 10, 16u << 10 },
};

const char *vlimit_name(enum vdev_limit l)
{
	return limits[l].name;
}

int vlimit_by_name(const char *name)
{
	for (u32 l = 0; l < VLIMITS; l++)
		if (!strcmp(limits[l].name, name))
			return l;
	return -1;
}

u32 vlimit_usual(enum vdev_limit l)
{
	return limits[l].usual;
}

u32 vlimit_most(enum vdev_limit l)
{
	return limits[l].most;
}
