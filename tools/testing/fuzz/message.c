// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Messages of netlink that have an effect of their own, unlike those that programs try.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"

/* head: bytes behind the header of netlink that the message has before its attributes, zero yet */
struct message message_begin(unsigned int type, unsigned int head)
{
	return (struct message){
		.head.nlmsg_len = sizeof(struct nlmsghdr) + head, .head.nlmsg_seq = 1,
		.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK, .head.nlmsg_type = type,
	};
}

void message_put(struct message *message, unsigned int type, const void *data, unsigned int len)
{
	struct nlattr attr = { .nla_len = sizeof(attr) + len, .nla_type = type };
	uint8_t *to = (uint8_t *)message + message->head.nlmsg_len;

	memcpy(to, &attr, sizeof(attr));
	memcpy(to + sizeof(attr), data, len);
	message->head.nlmsg_len += NLA_ALIGN(attr.nla_len);
}

void message_put_text(struct message *message, unsigned int type, const char *text)
{
	message_put(message, type, text, strlen(text) + 1);
}

/* Begins an attribute that contains those that follow, until message_ends() gets the result. */
unsigned int message_nest(struct message *message, unsigned int type)
{
	unsigned int at = message->head.nlmsg_len;

	message_put(message, type, "", 0);
	return at;
}

void message_ends(struct message *message, unsigned int at)
{
	uint16_t len = message->head.nlmsg_len - at;

	memcpy((uint8_t *)message + at, &len, sizeof(len));
}

/* Returns 0 or an errno: the kernel has done it when the message is sent. */
int message_ask(const struct message *message, int protocol)
{
	struct {
		struct nlmsghdr head;
		int error;
		uint8_t more[1024];
	} answer = {};
	int sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol), err = 0;

	if (sock < 0)
		return errno;
	if (send(sock, message, message->head.nlmsg_len, 0) < 0 ||
	    recv(sock, &answer, sizeof(answer), 0) < 0)
		err = errno;
	else
		err = answer.head.nlmsg_type == NLMSG_ERROR ? -answer.error : EPROTO;
	close(sock);
	return err;
}
