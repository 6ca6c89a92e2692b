// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "server/message.h"

void vu_message_drop(struct vu_message *msg)
{
	while (msg->nfds)
		close(msg->fds[--msg->nfds]);
}

/* Takes the descriptors that came with a part of the stream. */
static void collect_fds(struct vu_message *msg, struct msghdr *mh)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(mh); c; c = CMSG_NXTHDR(mh, c)) {
		u32 n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (u32 i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(fd), sizeof(fd));
			if (msg->nfds < VU_MAX_FDS)
				msg->fds[msg->nfds++] = fd;
			else
				close(fd);
		}
	}
}

/*
 * Reads exactly len bytes.  Descriptors have to come with a message's first byte, and are refused
 * anywhere else.
 */
static int read_piece(int sock, struct vu_message *msg, void *buf, u32 len, bool first,
		      const char **why)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(VU_MAX_FDS * sizeof(int))];
	} control;
	u32 done = 0;

	while (done < len) {
		struct iovec iov = { .iov_base = (u8 *)buf + done, .iov_len = len - done };
		struct msghdr mh = {
			.msg_iov = &iov,
			.msg_iovlen = 1,
			.msg_control = control.room,
			.msg_controllen = sizeof(control.room),
		};
		u32 had = msg->nfds;
		ssize_t n;

		n = recvmsg(sock, &mh, MSG_CMSG_CLOEXEC);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		collect_fds(msg, &mh);
		if (mh.msg_flags & MSG_CTRUNC) {
			*why = "more descriptors than a message may carry";
			return -EPROTO;
		}
		if (msg->nfds != had && !(first && done == 0)) {
			*why = "descriptors in the middle of a message";
			return -EPROTO;
		}
		if (n == 0) {
			if (first && done == 0)
				return 0;
			*why = "the stream ended inside a message";
			return -EPROTO;
		}
		done += n;
	}
	return 1;
}

int vu_receive(int sock, struct vu_message *msg, const char **why)
{
	const struct vu_header *hdr = &msg->hdr;
	int rc;

	msg->nfds = 0;
	msg->len = 0;
	rc = read_piece(sock, msg, &msg->hdr, sizeof(msg->hdr), true, why);
	if (rc <= 0)
		goto out;
	rc = -EPROTO;
	if ((hdr->flags & VU_F_TYPE) != VU_F_COMMAND) {
		*why = "a reply to a question never asked";
		goto out;
	}
	if (hdr->flags & ~(VU_F_TYPE | VU_F_NO_REPLY)) {
		*why = "unknown header flags";
		goto out;
	}
	if (hdr->size < sizeof(*hdr)) {
		*why = "a size below that of the header";
		goto out;
	}
	if (hdr->size - sizeof(*hdr) > VU_MAX_BODY) {
		*why = "a message too long";
		goto out;
	}
	msg->len = hdr->size - sizeof(*hdr);
	rc = msg->len ? read_piece(sock, msg, msg->body, msg->len, false, why) : 1;
out:
	if (rc <= 0)
		vu_message_drop(msg);
	return rc;
}

int vu_reply(int sock, const struct vu_header *hdr, u32 error, const void *body, u32 len)
{
	struct vu_header answer = {
		.id = hdr->id,
		.command = hdr->command,
		.size = sizeof(answer) + len,
		.flags = VU_F_REPLY | (error ? VU_F_ERROR : 0),
		.error = error,
	};
	struct iovec iov[2] = {
		{ .iov_base = &answer, .iov_len = sizeof(answer) },
		{ .iov_base = (void *)body, .iov_len = len },
	};
	struct msghdr mh = { .msg_iov = iov, .msg_iovlen = 2 };

	if (hdr->flags & VU_F_NO_REPLY)
		return 0;
	while (iov[0].iov_len || iov[1].iov_len) {
		ssize_t n = sendmsg(sock, &mh, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		for (u32 i = 0; i < 2; i++) {
			size_t part = MIN((size_t)n, iov[i].iov_len);

			/* the body may be NULL, to which C allows no addition */
			if (part)
				iov[i].iov_base = (u8 *)iov[i].iov_base + part;
			iov[i].iov_len -= part;
			n -= part;
		}
	}
	return 0;
}
