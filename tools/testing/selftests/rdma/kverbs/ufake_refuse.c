// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The device without hardware refuses to destroy objects, when and as often as it is told.
 */
#include <linux/atomic.h>
#include <linux/module.h>

#include "ufake.h"

static unsigned int refuse;
module_param(refuse, uint, 0644);
MODULE_PARM_DESC(refuse, "how many times from now on the device refuses to destroy an object");

bool ufake_refuses(void)
{
	unsigned int left = READ_ONCE(refuse);

	do {
		if (!left)
			return false;
	} while (!try_cmpxchg(&refuse, &left, left - 1));
	return true;
}
