/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How many objects of each kind one adapter may have, as each takes memory of the daemon.
 */
#ifndef VHCAD_RES_LIMIT_H
#define VHCAD_RES_LIMIT_H

#include "lib/types.h"

#define VDEV_MAX_PORTS		2u
#define VDEV_MAX_VECTORS	64u
#define VDEV_MAX_KICK_PAGES	4096u
#define VDEV_KICK_PAGES		1024u	/* unless the configuration says otherwise */

enum vdev_limit {
	VLIM_UARS,
	VLIM_DB_PAGES,		/* doorbell pages, of all UARs */
	VLIM_EQS,
	VLIM_PDS,
	VLIM_XRCDS,
	VLIM_MKEYS,
	VLIM_CQS,
	VLIM_SRQS,
	VLIM_QPS,
	VLIM_MCGS,		/* multicast groups */
	VLIM_MCG_QPS,		/* QPs of one of them */
	VLIM_ATTACHED,		/* QPs of all of them, each as often as it is attached */
	VLIM_COUNTERS,
	VLIMITS
};

/** vlimit_name() - as the command line has it */
const char *vlimit_name(enum vdev_limit l);
/** vlimit_by_name() - the limit of that name, or -1 */
int vlimit_by_name(const char *name);
/** vlimit_usual() - the default of a limit */
u32 vlimit_usual(enum vdev_limit l);
/** vlimit_most() - the highest value of a limit; the lowest is 1 */
u32 vlimit_most(enum vdev_limit l);

#endif /* VHCAD_RES_LIMIT_H */
