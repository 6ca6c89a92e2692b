/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Checks of test modules that consist of one file. They are counted in the parameters "passed" and
 * "failed"; those that fail are named in the log.
 */
#ifndef KCHECK_H
#define KCHECK_H

#include <linux/moduleparam.h>
#include <linux/printk.h>

static uint passed, failed;
module_param(passed, uint, 0444);
MODULE_PARM_DESC(passed, "checks that held");
module_param(failed, uint, 0444);
MODULE_PARM_DESC(failed, "checks that did not; the log says which");

static bool check(bool holds, const char *what, int line)
{
	if (holds) {
		passed++;
	} else {
		failed++;
		pr_err(KBUILD_MODNAME ": line %d: not true: %s\n", line, what);
	}
	return holds;
}

#define CHECK(_what) check(_what, #_what, __LINE__)

#endif
