// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a program leaves behind in the kernel when all of its processes have ended: objects of the
 * device, as netlink counts them, and references to the modules, which open files and contexts
 * hold.  No other program makes or destroys any meanwhile.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include "fuzz.h"

#define REFUSED	64	/* times in a row, at most */

static const char *const counted[] = {
	"ib_core", "ib_uverbs", "ib_umad", "ib_cm", "rdma_cm", "rdma_ucm",
	"vhca", "rdma_rxe", "siw", "rdma_ufake",
};

static int refs[sizeof(counted) / sizeof(*counted)];
static int sock = -1;
bool refusals;		/* programs may ask for them */
static uint64_t at_rest;

/* Adds the values of all attributes of the type, nested ones too. */
static uint64_t sum_attrs(const uint8_t *data, size_t len, unsigned int type)
{
	uint64_t sum = 0, value;
	struct nlattr attr;

	for (size_t at = 0; at + sizeof(attr) <= len; at += NLA_ALIGN(attr.nla_len)) {
		const uint8_t *body = data + at + sizeof(attr);
		unsigned int what;
		size_t size;

		memcpy(&attr, data + at, sizeof(attr));
		if (attr.nla_len < sizeof(attr) || at + attr.nla_len > len)
			break;
		what = attr.nla_type & NLA_TYPE_MASK;
		size = attr.nla_len - sizeof(attr);
		if (what == RDMA_NLDEV_ATTR_RES_SUMMARY ||
		    what == RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY) {
			sum += sum_attrs(body, size, type);
		} else if (what == type && size >= sizeof(value)) {
			memcpy(&value, body, sizeof(value));
			sum += value;
		}
	}
	return sum;
}

static uint64_t objects(void)
{
	struct {
		struct nlmsghdr head;
		struct nlattr attr;
		uint32_t index;
	} request = {
		.head.nlmsg_len = sizeof(request), .head.nlmsg_flags = NLM_F_REQUEST,
		.head.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_RES_GET),
		.attr.nla_len = sizeof(request.attr) + sizeof(request.index),
		.attr.nla_type = RDMA_NLDEV_ATTR_DEV_INDEX, .index = shared->device_index,
	};
	uint8_t answer[8192];
	ssize_t len;

	if (send(sock, &request, sizeof(request), 0) < 0)
		return 0;
	len = recv(sock, answer, sizeof(answer), 0);
	if (len <= (ssize_t)sizeof(request.head))
		return 0;
	return sum_attrs(answer + sizeof(request.head), len - sizeof(request.head),
			 RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR);
}

static uint64_t references(void)
{
	uint64_t sum = 0;
	char text[24];

	for (unsigned int i = 0; i < sizeof(refs) / sizeof(*refs); i++) {
		ssize_t len = refs[i] < 0 ? 0 : pread(refs[i], text, sizeof(text) - 1, 0);

		text[len < 0 ? 0 : len] = 0;
		sum += atoi(text);
	}
	return sum;
}

/* Called before the first program. */
void left_setup(void)
{
	char path[64];

	for (unsigned int i = 0; i < sizeof(refs) / sizeof(*refs); i++) {
		snprintf(path, sizeof(path), "/sys/module/%s/refcnt", counted[i]);
		refs[i] = open(path, O_RDONLY | O_CLOEXEC);
	}
	sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	at_rest = objects() + references();
}

/* The device refuses to destroy objects so many times. */
static int refuse_times(unsigned int times)
{
	int fd = open("/sys/module/rdma_ufake/parameters/refuse", O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return errno;
	if (dprintf(fd, "%u\n", times) < 0)
		err = errno;
	close(fd);
	return err;
}

/* Called in a program. */
int refuse(uint64_t value)
{
	__atomic_store_n(&shared->refuses, 1, __ATOMIC_RELEASE);
	return refuse_times(value % REFUSED);
}

/*
 * Is something left?  Objects that are being destroyed have some time for that; what a device has
 * refused to destroy is left for good, and counted from then on.
 */
bool left_behind(double seconds)
{
	uint64_t now = 0;

	for (double waited = 0; waited < seconds; waited += 0.02) {
		now = objects() + references();
		if (now <= at_rest) {
			at_rest = now;
			break;
		}
		if (shared->refuses)
			break;
		usleep(20000);
	}
	if (shared->refuses) {
		refuse_times(0);
		shared->refuses = 0;
		at_rest = now;
	}
	if (now <= at_rest)
		return false;
	printf("fuzz: %lu objects and references are left behind\n", now - at_rest);
	at_rest = now;
	return true;
}
