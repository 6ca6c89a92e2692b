// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cm.h"
#include "tests/tprog.h"
#include "tests/tdaemon.h"

int td_setup(void **state)
{
	struct tdaemon *r = calloc(1, sizeof(*r));

	tprog_dir(r->dir);
	tprog_in(r->dir, "hca0", r->path[0]);
	tprog_in(r->dir, "hca1", r->path[1]);
	snprintf(r->sock[0], sizeof(r->sock[0]), "%s,ports=2", r->path[0]);
	strcpy(r->sock[1], r->path[1]);
	tprog_in(r->dir, "control", r->ctl);
	tprog_in(r->dir, "scenario", r->file);
	tprog_in(r->dir, "log", r->log);
	*state = r;
	return 0;
}

int td_teardown(void **state)
{
	struct tdaemon *r = *state;

	tprog_abandon(r->pid);
	tprog_dir_end(r->dir, r->file, r->log, r->path[0], r->path[1], r->ctl, NULL);
	free(r);
	return 0;
}

void td_start(struct tdaemon *r, char *option, char *value)
{
	char *args[] = { "vhcad", "--hca", r->sock[0], "--hca", r->sock[1], "--control", r->ctl,
			 "--log", r->log, option, value, NULL };

	r->pid = tprog_start(tprog_path("VHCAD"), args);
}

void td_stop(struct tdaemon *r)
{
	tprog_stop(r->pid, SIGTERM);
	r->pid = 0;
}

void td_ctl(struct tdaemon *r, const struct twords *w)
{
	char *args[13] = { "vhcactl", "--control", r->ctl }, out[16384];
	int rc;

	for (u32 k = 0; k < ARRAY_SIZE(w->args) && w->args[k]; k++)
		args[k + 3] = (char *)w->args[k];
	rc = tprog_run(tprog_path("VHCACTL"), args, 0, out, sizeof(out));
	if (rc != w->status || !strstr(out, w->says))
		fail_msg("%s %s %s: expected %d and '%s', came %d and '%s'", w->args[0],
			 w->args[1] ?: "", w->args[2] ?: "", w->status, w->says, rc, out);
}

void td_write(struct tdaemon *r, const char *text)
{
	FILE *f = fopen(r->file, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}
