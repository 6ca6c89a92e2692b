/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The control socket: one JSON object a line in, one a line out.
 * Documentation/hw/vhcad.rst lists the commands.
 */
#ifndef VHCAD_CTL_CTL_H
#define VHCAD_CTL_CTL_H

#include "lib/types.h"

struct ctl;
struct vhca_dev;
struct ether;
struct server;

/* An adapter as the control socket knows it. */
struct ctl_hca {
	const char *name;
	const char *socket;
	struct vhca_dev *dev;
	struct server *server;
};

/**
 * struct ctl_scope - what the control socket is about
 * @hca: adapters
 * @nhcas: how many
 * @ether: the Ethernet segment, or NULL
 */
struct ctl_scope {
	const struct ctl_hca *hca;
	u32 nhcas;
	struct ether *ether;
};

/**
 * ctl_new() - listen on a control socket
 * @path: of the socket; must outlive the control
 * @out: receives the control
 *
 * Returns 0 or -errno as unix_listen().
 */
int ctl_new(const char *path, struct ctl **out);

/**
 * ctl_start() - serve clients on a thread of its own
 * @c: control
 * @scope: copied; what it points to must outlive the control
 *
 * Returns 0 or -errno.
 */
int ctl_start(struct ctl *c, const struct ctl_scope *scope);

/**
 * ctl_free() - stop serving, remove the socket, free
 * @c: control, started or not; or NULL
 */
void ctl_free(struct ctl *c);

/**
 * ctl_scenario() - arm the faults of a scenario file
 * @scope: what it may name
 * @path: of the file
 * @why: receives what is wrong
 * @room: of @why
 *
 * Returns false when something is; the faults before the one that is wrong are armed then.
 */
bool ctl_scenario(const struct ctl_scope *scope, const char *path, char *why, size_t room);

/**
 * ctl_answer() - carry out one command
 * @scope: what it may name
 * @line: the command, without its newline
 *
 * Returns the answer with its newline, to be freed; NULL without memory.
 */
char *ctl_answer(const struct ctl_scope *scope, const char *line);

#endif /* VHCAD_CTL_CTL_H */
