/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A vfio-user client for tests, and a server with a device of a few registers
 * for it to use.
 */
#ifndef VHCAD_TESTS_VUCLIENT_H
#define VHCAD_TESTS_VUCLIENT_H

#include <pthread.h>

#include "server/proto.h"
#include "server/server.h"
#include "tests/tprog.h"

#define VUC_MAGIC	0x600df00du
#define VUC_VECTORS	20u	/* more than the descriptors of one message */
#define VUC_KICK_PAGES	16u

/* The device's calls.  Its register 0 is VUC_MAGIC, the others hold values. */
struct vuc {
	struct server *server;
	char dir[TPROG_DIR];
	char path[TPROG_PATH];
	int sock;		/* connected and negotiated by vuc_setup() */
	u32 reg[SERVER_REGS_SIZE / 4];
	pthread_mutex_t lock;
	pthread_cond_t changed;
	u32 kicks;
	u32 kick_page;
	u32 resets;
};

/* cmocka fixtures: a started server and a client that has sent VERSION */
int vuc_setup(void **state);
int vuc_setup_msi(void **state);
/* the same with a server that accepts memory that its owner can truncate */
int vuc_setup_unsealed(void **state);
int vuc_teardown(void **state);

/* A new connection on which nothing was sent yet. */
int vuc_connect(struct vuc *v);
/* Sends VERSION on it; fails the test if it is refused. */
void vuc_greet(int sock);

/* Sends a command exactly as given; size is that of the header field. */
void vuc_send_raw(int sock, u16 command, u32 size, u32 flags, const void *body, u32 len,
		  const int *fds, u32 nfds);
/* Reads one reply; returns the length of its body, or -1 at the end of the stream. */
int vuc_receive(int sock, struct vu_header *hdr, void *body, u32 room);
/* Command and reply.  Returns the reply's error; *got is the body's length. */
u32 vuc_call(int sock, u16 command, const void *body, u32 len, const int *fds, u32 nfds,
	     void *answer, u32 room, u32 *got);

/* The server must cut this connection, and serve the next one. */
void vuc_expect_cut(struct vuc *v, int sock);

/* Region accesses of the greeted client; return the error. */
u32 vuc_read(struct vuc *v, u32 region, u64 off, void *buf, u32 len);
u32 vuc_write(struct vuc *v, u32 region, u64 off, const void *buf, u32 len);
u32 vuc_read32(struct vuc *v, u32 region, u64 off);
void vuc_write32(struct vuc *v, u32 region, u64 off, u32 val);

/* The count of an eventfd since the last call. */
u64 vuc_drained(int fd);

/* Waits until the device has seen @n kicks. */
void vuc_wait_kicks(struct vuc *v, u32 n);
void vuc_wait_resets(struct vuc *v, u32 n);

#endif /* VHCAD_TESTS_VUCLIENT_H */
