/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the files of rdma-why share.
 */
#ifndef RDMA_WHY_H
#define RDMA_WHY_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * struct refusal - a request that the kernel has refused
 * @who: name of the program, as the kernel knows it
 * @pid: its thread ID
 * @device: RDMA device, or "-" if the request named none
 * @err: negative errno
 * @reason: the reason in the kernel's words
 */
struct refusal {
	const char *who;
	int pid;
	const char *device;
	int err;
	const char *reason;
};

/* refusal.c: prints one refusal, after a heading before the first. */
void report(const struct refusal *refusal);

/* Has any refusal been printed? */
bool any_reported(void);

/*
 * Each way of watching has the same three steps. prepare() returns whether it can work; watch()
 * is called with the child before the command runs in it and returns false if it cannot watch it;
 * finish() waits for the command, reports what was refused, and returns its wait status.
 */
struct watcher {
	bool (*prepare)(void);
	bool (*watch)(pid_t child);
	int (*finish)(pid_t child);
};

extern const struct watcher trace_watcher;
extern const struct watcher fdinfo_watcher;

#endif
