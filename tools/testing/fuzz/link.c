// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A device that "rdma link add" makes on a net device (rdma_rxe, rdma_ufake), instead of one on
 * PCI.  Its driver cannot separate open files from it: who removes it waits until they are closed.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_netlink.h>

#include "fuzz.h"

const char *device_link;	/* its net device, or NULL */
static const char *link_type;

/*
 * what: TYPE,NETDEV, which is changed.  The device is called by its type, and the number 0: so does
 * "guest".
 */
void link_setup(char *what)
{
	link_type = strsep(&what, ",");
	device_link = what;
}

/* Its driver, as requests by ioctl name it. */
uint32_t link_driver(void)
{
	return link_type && !strcmp(link_type, "rxe") ? RDMA_DRIVER_RXE : RDMA_DRIVER_UNKNOWN;
}

struct message {
	struct nlmsghdr head;
	uint8_t attrs[128];
};

static void put(struct message *message, unsigned int type, const void *data, unsigned int len)
{
	struct nlattr attr = { .nla_len = sizeof(attr) + len, .nla_type = type };
	uint8_t *to = (uint8_t *)message + message->head.nlmsg_len;

	memcpy(to, &attr, sizeof(attr));
	memcpy(to + sizeof(attr), data, len);
	message->head.nlmsg_len += NLA_ALIGN(attr.nla_len);
}

static void put_text(struct message *message, unsigned int type, const char *text)
{
	put(message, type, text, strlen(text) + 1);
}

static struct message command(unsigned int number)
{
	return (struct message){
		.head.nlmsg_len = sizeof(struct nlmsghdr), .head.nlmsg_seq = 1,
		.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
		.head.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, number),
	};
}

/* Returns 0 or an errno: the kernel has done it when the message is sent. */
static int ask(const struct message *message)
{
	struct {
		struct nlmsghdr head;
		int error;
		uint8_t more[1024];
	} answer = {};
	int sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA), err = 0;

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

/* Removes the device; waits until its files of uverbs are closed. */
int link_end(uint32_t index)
{
	struct message message = command(RDMA_NLDEV_CMD_DELLINK);

	put(&message, RDMA_NLDEV_ATTR_DEV_INDEX, &index, sizeof(index));
	return ask(&message);
}

/* Makes the device again. */
int link_make(void)
{
	struct message message = command(RDMA_NLDEV_CMD_NEWLINK);
	char name[16];

	snprintf(name, sizeof(name), "%s0", link_type);
	put_text(&message, RDMA_NLDEV_ATTR_DEV_NAME, name);
	put_text(&message, RDMA_NLDEV_ATTR_LINK_TYPE, link_type);
	put_text(&message, RDMA_NLDEV_ATTR_NDEV_NAME, device_link);
	return ask(&message);
}

/*
 * Does a message end the link?  A program that does so itself, with an open file of the device,
 * would wait for itself, and could not be killed.
 */
bool link_ends(const void *data, size_t len)
{
	struct nlmsghdr head;

	if (!device_link || len < sizeof(head))
		return false;
	memcpy(&head, data, sizeof(head));
	return head.nlmsg_type == RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_DELLINK);
}
