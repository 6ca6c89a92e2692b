/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The control socket.  A command is a line with a JSON object, and so is its answer.
 * Documentation/hw/vhcad.rst lists the commands.
 */
#ifndef VHCAD_CTL_CTL_H
#define VHCAD_CTL_CTL_H

#include "lib/types.h"

struct ctl;
struct vhca_dev;
struct ether;
struct server;

/* An adapter, for the control socket. */
struct ctl_hca {
	const char *name;
	const char *socket;
	struct vhca_dev *dev;
	struct server *server;
};

/**
 * struct ctl_scope - what commands may act on
 * @hca: adapters
 * @nhcas: number of adapters
 * @ether: the Ethernet segment, or NULL
 */
struct ctl_scope {
	const struct ctl_hca *hca;
	u32 nhcas;
	struct ether *ether;
};

/**
 * ctl_new() - listen on a control socket
 * @path: path of the socket; must outlive the control socket
 * @out: receives the control socket
 *
 * Returns 0 or -errno as unix_listen().
 */
int ctl_new(const char *path, struct ctl **out);

/**
 * ctl_start() - start the thread that serves clients
 * @c: control socket
 * @scope: copied; what it points to must outlive the control socket
 *
 * Returns 0 or -errno.
 */
int ctl_start(struct ctl *c, const struct ctl_scope *scope);

/**
 * ctl_free() - stop the thread, remove the socket, free everything
 * @c: control socket, started or not; or NULL
 */
void ctl_free(struct ctl *c);

/**
 * ctl_scenario() - arm the faults of a scenario file
 * @scope: what the file may name
 * @path: path of the file
 * @why: receives what is wrong
 * @room: size of @why
 *
 * Returns false if something is wrong; the faults in front of it have been armed.
 */
bool ctl_scenario(const struct ctl_scope *scope, const char *path, char *why, size_t room);

/**
 * ctl_answer() - carry out one command
 * @scope: what the command may name
 * @line: the command, without its newline
 *
 * Returns the answer with its newline, which the caller frees; NULL if there is no memory.
 */
char *ctl_answer(const struct ctl_scope *scope, const char *line);

#endif /* VHCAD_CTL_CTL_H */
