// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Fuzzes the files that the daemon reads when it starts, a topology or a scenario.  Their writer is
 * trusted, but a mistake must not end the daemon without a reason.
 *
 * Input: which of the two, and how long it says it is; then the file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "ctl/topology.h"
#include "fuzz/input.h"
#include "lib/log.h"
#include "tests/thca.h"

#define WHY	256u

static void read_topology(const char *path)
{
	char why[WHY] = "";
	struct topology t;
	bool ok = topology_read(path, &t, why, sizeof(why));

	assert_true(ok == !*why);
	assert_true(ok == (t.ib || t.eth));
	topo_free(t.ib);
	topo_free(t.eth);
}

/* The faults are armed at an adapter of the name a. */
static void read_scenario(const char *path)
{
	struct ctl_hca hca = { .name = "a", .socket = "/x" };
	char why[WHY] = "";
	struct tworld w;
	struct thca h;
	bool ok;

	t_world_init(&w);
	t_hca_init(&h, &w, 0x1000);
	hca.dev = h.dev;
	ok = ctl_scenario(&(struct ctl_scope){ &hca, 1, NULL }, path, why, sizeof(why));
	assert_true(ok == !*why);
	t_poll(&w);
	t_hca_fini(&h);
	t_world_fini(&w);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct input in = { data, data + len };
	static bool quiet;
	u8 what = in_8(&in);
	char path[32];
	int fd;

	if (!quiet)
		quiet = !log_open("/dev/null");
	fd = memfd_create("file", MFD_CLOEXEC);
	assert_true(fd >= 0);
	len = in.end - in.at;
	assert_int_equal(write(fd, in.at, len), len);
	/* zeros behind it, up to more than there may be */
	assert_int_equal(what & 2 ? ftruncate(fd, (u64)what << 10) : 0, 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", what & 4 ? -1 : fd);
	if (what & 1)
		read_scenario(path);
	else
		read_topology(path);
	close(fd);
	return 0;
}
