/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Whole vfio-user messages in and out of a stream socket.
 */
#ifndef VHCAD_SERVER_MESSAGE_H
#define VHCAD_SERVER_MESSAGE_H

#include "server/proto.h"

/**
 * struct vu_message - a received command
 * @hdr: its header
 * @len: bytes of @body
 * @nfds: descriptors that came with it and are still in @fds
 * @fds: the descriptors; vu_message_drop() closes what nobody took
 * @body: what follows the header
 */
struct vu_message {
	struct vu_header hdr;
	u32 len;
	u32 nfds;
	int fds[VU_MAX_FDS];
	u8 body[VU_MAX_BODY] __attribute__((aligned(8)));
};

/**
 * vu_receive() - wait for a command
 * @sock: connected socket
 * @msg: filled in
 * @why: receives what is wrong with the stream, when it is
 *
 * Returns 1; 0 when the peer closed between two messages; -EPROTO with @why
 * set when what came is no well-formed command, and the stream can no longer
 * be trusted; another -errno of the socket.
 */
int vu_receive(int sock, struct vu_message *msg, const char **why);

/**
 * vu_message_drop() - close the descriptors that came with a message
 * @msg: message
 */
void vu_message_drop(struct vu_message *msg);

/**
 * vu_reply() - answer a command
 * @sock: connected socket
 * @hdr: the command's header
 * @error: 0, or a positive errno
 * @body: what the answer carries, NULL with @len 0
 * @len: bytes
 *
 * Sends nothing if the command wanted no answer.  Returns 0 or -errno of the
 * socket.
 */
int vu_reply(int sock, const struct vu_header *hdr, u32 error, const void *body, u32 len);

#endif /* VHCAD_SERVER_MESSAGE_H */
