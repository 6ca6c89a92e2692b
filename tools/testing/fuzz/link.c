// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A device that "rdma link add" makes on a net device (rdma_rxe, siw, rdma_ufake), instead of one
 * on PCI.  Its driver cannot separate open files from it: who removes it waits until they are
 * closed.
 */
#include <string.h>

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
	if (!link_type)
		return RDMA_DRIVER_UNKNOWN;
	return !strcmp(link_type, "rxe") ? RDMA_DRIVER_RXE :
	       !strcmp(link_type, "siw") ? RDMA_DRIVER_SIW : RDMA_DRIVER_UNKNOWN;
}

static struct message command(unsigned int number)
{
	return message_begin(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, number), 0);
}

/* Removes the device; waits until its files of uverbs are closed. */
int link_end(uint32_t index)
{
	struct message message = command(RDMA_NLDEV_CMD_DELLINK);

	message_put(&message, RDMA_NLDEV_ATTR_DEV_INDEX, &index, sizeof(index));
	return message_ask(&message, NETLINK_RDMA);
}

/* Makes the device again. */
int link_make(void)
{
	struct message message = command(RDMA_NLDEV_CMD_NEWLINK);
	char name[16];

	snprintf(name, sizeof(name), "%s0", link_type);
	message_put_text(&message, RDMA_NLDEV_ATTR_DEV_NAME, name);
	message_put_text(&message, RDMA_NLDEV_ATTR_LINK_TYPE, link_type);
	message_put_text(&message, RDMA_NLDEV_ATTR_NDEV_NAME, device_link);
	return message_ask(&message, NETLINK_RDMA);
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
