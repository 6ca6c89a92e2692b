// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Delays in the kernel.  A program in which several things happen at a time is run again while the
 * module rdma_delay holds up whoever executes one of a few instructions, which are near places that
 * the program executed before: so the others meet it there.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"

#define SHORTEST	150	/* microseconds; the longest is 32 times that */
#define NEAR		96	/* bytes behind a place that is traced */
#define TRIES		4	/* where an instruction may begin: the kernel is slow to refuse */

static int delays = -1;
static unsigned int num_armed;

/* Returns whether the kernel can be delayed. */
bool delays_setup(void)
{
	if (!system("modprobe rdma_delay"))
		delays = open("/sys/kernel/debug/rdma_delay", O_WRONLY | O_CLOEXEC);
	return delays >= 0;
}

void delays_end(void)
{
	if (delays < 0)
		return;
	close(delays);
	if (system("rmmod rdma_delay"))
		printf("fuzz: rdma_delay does not go\n");
}

/* The program gets other delays, near places that it executed when it was run last. */
void delays_choose(struct prog *prog)
{
	unsigned int num = 1 + chance_of(DELAYS);
	struct delay *delay;

	for (prog->num_delays = 0; prog->num_delays < num; prog->num_delays++) {
		delay = &prog->delays[prog->num_delays];
		if (!cover_rare(delay))
			return;
		if (chance_of(2))
			delay->offset += chance_of(NEAR);
		delay->usec = SHORTEST << chance_of(6);
	}
}

/* The first instruction from there on: the kernel knows where they begin. */
static void arm(const struct delay *delay)
{
	uint64_t address = modules[delay->module].base + delay->offset;
	char text[64];

	for (unsigned int i = 0; i < TRIES; i++) {
		int len = snprintf(text, sizeof(text), "%lx %u", address + i, delay->usec);

		if (write(delays, text, len) == len) {
			num_armed++;
			return;
		}
		if (errno != EILSEQ && errno != EINVAL)
			return;
	}
}

/* How many there were since the fuzzer began. */
unsigned int delays_armed(void)
{
	return num_armed;
}

void delays_arm(const struct prog *prog)
{
	for (unsigned int i = 0; delays >= 0 && i < prog->num_delays; i++)
		arm(&prog->delays[i]);
}

void delays_clear(const struct prog *prog)
{
	if (delays >= 0 && prog->num_delays && write(delays, "clear", 5) != 5)
		abort();
}
