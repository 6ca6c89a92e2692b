// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * umad_removal DEVICE: the device is unbound from its driver while programs use its umad and issm;
 * TAP on stdout.
 */
#include <pthread.h>
#include <sys/wait.h>

#include "device.h"
#include "umad_raw.h"

static unsigned int point, failed;

static void report(bool good, const char *name)
{
	printf("%sok %u - %s\n", good ? "" : "not ", ++point, name);
	failed += !good;
}

static char umad[64], issm[64];

/* A reader that waits while the device is removed. */
static void *wait_for_mad(void *arg)
{
	struct umad_msg msg;
	int *fd = arg;

	return (void *)(intptr_t)(read(*fd, &msg, sizeof(msg)) < 0 ? errno : 0);
}

/* A second subnet manager that waits. */
static void *wait_for_sm(void *arg)
{
	int fd = open(issm, O_RDWR);

	(void)arg;
	if (fd < 0)
		return (void *)(intptr_t)errno;
	close(fd);
	return NULL;
}

static short polled(int fd)
{
	struct pollfd poller = { .fd = fd, .events = POLLIN | POLLOUT };

	return poll(&poller, 1, 0) < 0 ? 0 : poller.revents;
}

int main(int argc, char **argv)
{
	const struct ib_user_mad_reg_req2 gsi = { .qpn = 1 }, smi = { .qpn = 0 };
	struct ib_user_mad_reg_req2 again = gsi;
	struct ibv_context *ctx = argc == 2 ? open_device(argv[1]) : NULL;
	pthread_t reader, second;
	struct driver driver;
	struct umad_msg msg;
	char other[64];
	void *ret;
	int fd, silent, sm, i;
	uint32_t id = 0;

	if (!ctx || !find_driver(&driver, ctx) || !umad_path("umad", argv[1], 1, umad) ||
	    !umad_path("issm", argv[1], 1, issm)) {
		printf("Bail out! there is no umad of %s: %s\n", argv[argc - 1], strerror(errno));
		return 1;
	}
	ibv_close_device(ctx);
	setlinebuf(stdout);
	printf("TAP version 13\n1..12\n");

	/* One file has sends under way and MADs to be read, another has a reader that waits */
	fd = open(umad, O_RDWR);
	silent = open(umad, O_RDWR);
	sm = open(issm, O_RDWR);
	report(umad_agent(fd, smi) == 0 && umad_agent(fd, gsi) == 1 &&
	       umad_agent(silent, gsi) == 0 && sm >= 0, "files with agents, and a subnet manager");
	umad_node_info(&msg, 0, 1);
	report(!umad_put(fd, &msg, MAD_SIZE) && umad_get(fd, &msg, 8) == -EINVAL,
	       "a MAD that nobody reads");
	for (i = 0; i < 100; i++) {
		umad_begin(&msg, 1, 4, METHOD_GET, NO_LID, i);
		msg.hdr.timeout_ms = 60000;
		if (umad_put(fd, &msg, MAD_SIZE))
			break;
	}
	report(i == 100, "requests that nobody answers");
	pthread_create(&reader, NULL, wait_for_mad, &silent);
	pthread_create(&second, NULL, wait_for_sm, NULL);

	report(tell_driver(&driver, "unbind"), "the driver lets the device go");
	pthread_join(reader, &ret);
	report((intptr_t)ret == EIO, "who waits for a MAD is told EIO");
	pthread_join(second, &ret);
	report((intptr_t)ret == ENXIO || (intptr_t)ret == ENOENT,
	       "who waits to be subnet manager is told that there is no device");
	report(read(fd, &msg, sizeof(msg)) < 0 && errno == EIO &&
	       umad_put(fd, &msg, MAD_SIZE) == EIO, "reads and writes say EIO");
	report(polled(fd) == (POLLERR | POLLHUP), "poll says POLLERR and POLLHUP");
	report(umad_agent(fd, again) == -EPIPE, "no agent can be registered");
	report(umad_ioctl(fd, IB_USER_MAD_UNREGISTER_AGENT, &id) == EINVAL, "or unregistered");

	report(tell_driver(&driver, "bind") && umad_path("umad", argv[1], 1, other) &&
	       !strcmp(umad, other), "the device comes back and finds its number free");
	report(!close(fd) && !close(silent) && !close(sm), "the old files can be closed");
	return failed > 0;
}
