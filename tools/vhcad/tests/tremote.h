/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A guest whose adapter is in a daemon, behind a socket.
 */
#ifndef VHCAD_TESTS_TREMOTE_H
#define VHCAD_TESTS_TREMOTE_H

#include "tests/thca.h"

/* a world without an engine of its own */
void t_remote_world(struct tworld *w);
/* attaches, grants memory, and makes the objects of t_hca_init() */
void t_remote_init(struct thca *h, struct tworld *w, const char *path);
/* grants the memory, or revokes it; returns the answer's errno */
u32 t_remote_grant(struct thca *h, bool on);
/* a write of four bytes to any region; returns the answer's errno */
u32 t_remote_write(struct thca *h, u32 region, u64 off, u32 val);
/* sets an eventfd for a vector */
void t_remote_irq(struct thca *h, u32 vector, int fd);
/* disconnects like a guest that was killed */
void t_remote_fini(struct thca *h);

#endif /* VHCAD_TESTS_TREMOTE_H */
