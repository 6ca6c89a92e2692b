/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Receives and sends whole vfio-user messages on a stream socket.
 */
#ifndef VHCAD_SERVER_MESSAGE_H
#define VHCAD_SERVER_MESSAGE_H

#include "server/proto.h"

/**
 * struct vu_message - a received command
 * @hdr: its header
 * @len: bytes of @body
 * @nfds: descriptors in @fds
 * @fds: descriptors that came with it and were not taken over; vu_message_drop() closes them
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
 * @why: after -EPROTO: what is wrong with the stream
 *
 * Returns 1; 0 if the peer has closed the connection between two messages; -EPROTO if what came is
 * no well-formed command, after which the stream is unusable; another -errno of the socket.
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
 * @body: body of the answer, NULL with @len 0
 * @len: bytes
 *
 * Sends nothing if the command has the no-reply flag.  Returns 0 or -errno of the socket.
 */
int vu_reply(int sock, const struct vu_header *hdr, u32 error, const void *body, u32 len);

#endif /* VHCAD_SERVER_MESSAGE_H */
