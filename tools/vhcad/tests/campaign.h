/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Random campaigns: mixed operations of all transports between a few devices, over links with
 * faults, against a model that knows the contents of memory, the order of completions, and what
 * must not happen twice.  Everything follows from the seed.
 */
#ifndef VHCAD_TESTS_CAMPAIGN_H
#define VHCAD_TESTS_CAMPAIGN_H

#include "lib/types.h"

/**
 * struct campaign_options - what to do
 * @seed: everything follows from it
 * @messages: to send, at least
 * @switches: a ring of three switches is between the devices, and faults are there as well
 * @threads: number of threads of the engine, with faults in some of the epochs only; 0: one,
 *	without other changes
 * @real: they run at the same time: not everything follows from the seed then
 * @trace: capture file to write, or NULL
 * @talk: print the progress
 */
struct campaign_options {
	u32 seed;
	u32 messages;
	bool switches;
	u32 threads;
	bool real;
	const char *trace;
	bool talk;
};

/** struct campaign_result - counts of a campaign */
struct campaign_result {
	u64 messages, packets, lost, bad, duplicates, timeouts, rnr_naks;
	u64 broken;		/* connections that ran out of retries */
	u64 arrived;		/* receives that completed */
	u64 atomics;
	u64 registered, windows, read_inv, send_inv;
	u64 migrated;		/* ends that have migrated */
	u64 waits;		/* ns in which packets waited for room on a link */
	u64 end;		/* simulated time, ns */
};

/**
 * campaign_run() - run one
 * @o: options
 * @r: filled in
 *
 * Fails the test, and prints the command that repeats it, when a result differs from the model.
 */
void campaign_run(const struct campaign_options *o, struct campaign_result *r);

#endif /* VHCAD_TESTS_CAMPAIGN_H */
