// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * srq_removal DEVICE TRIALS unbind|reset: the driver is unbound from its device and bound again, or
 * has its function reset, TRIALS times, while a program's SRQs reach their limits as fast as they
 * can be armed; TAP on stdout.  The kernel reports errors.
 */
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device.h"

#define ARMING	2		/* threads, each with its SRQ */

/* Arms a limit that is reached at once, until the device is removed. */
static void *arm(void *srq)
{
	struct ibv_srq_attr attr = { .srq_limit = 1 };

	while (!ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT))
		;
	return NULL;
}

/* Writes to the pipe when the first limit is reached.  Returns whether the removal ends it. */
static bool reach_limits(const char *name, int begun)
{
	struct ibv_context *ctx = open_device(name);
	struct ibv_srq_init_attr init = { .attr = { .max_wr = 1, .max_sge = 1 } };
	struct ibv_pd *pd = ctx ? ibv_alloc_pd(ctx) : NULL;
	struct ibv_async_event event = {};
	struct ibv_srq *srq[ARMING];
	pthread_t threads[ARMING];
	bool told = false;

	for (int i = 0; i < ARMING; i++) {
		srq[i] = pd ? ibv_create_srq(pd, &init) : NULL;
		if (!srq[i] || pthread_create(&threads[i], NULL, arm, srq[i]))
			return false;
	}
	while (event.event_type != IBV_EVENT_DEVICE_FATAL) {
		if (ibv_get_async_event(ctx, &event))
			return false;
		ibv_ack_async_event(&event);
		if (event.event_type == IBV_EVENT_SRQ_LIMIT_REACHED && !told)
			told = write(begun, "x", 1) == 1;
	}
	for (int i = 0; i < ARMING; i++)
		pthread_join(threads[i], NULL);
	return told;
}

/* Removes the device, waits for its user to end, and brings the device back. */
static bool go_and_come(const struct driver *driver, bool reset, pid_t user)
{
	int status;
	bool good = reset ? reset_function(driver) : tell_driver(driver, "unbind");

	good &= waitpid(user, &status, 0) == user && !status;
	return (reset || tell_driver(driver, "bind")) && good;
}

static bool trial(const char *name, bool reset)
{
	struct ibv_context *ctx = open_device(name);
	struct driver driver;
	int begun[2];
	pid_t child;
	bool good;
	char x;

	if (!ctx || !find_driver(&driver, ctx) || pipe(begun))
		return false;
	ibv_close_device(ctx);
	child = fork();
	if (!child)
		_exit(!reach_limits(name, begun[1]));
	close(begun[1]);
	good = read(begun[0], &x, 1) == 1;
	close(begun[0]);
	return go_and_come(&driver, reset, child) && good;
}

int main(int argc, char **argv)
{
	int trials = argc == 4 ? atoi(argv[2]) : 0, i = 0;
	bool reset = argc == 4 && !strcmp(argv[3], "reset");

	printf("TAP version 13\n1..1\n");
	fflush(stdout);
	while (i < trials && trial(argv[1], reset))
		i++;
	printf("%sok 1 - %d of %d times the device went while limits were reached\n",
	       i && i == trials ? "" : "not ", i, trials);
	return !i || i != trials;
}
