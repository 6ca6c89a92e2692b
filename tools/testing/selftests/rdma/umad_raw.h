/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * User MADs without a library, so that a test can get anything wrong. Calls return 0 or a positive
 * errno, unless they say otherwise.
 */
#ifndef UMAD_RAW_H
#define UMAD_RAW_H

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <rdma/ib_user_mad.h>
#include <rdma/rdma_user_ioctl.h>

#define MAD_SIZE	256
#define MAD_HDR		24	/* bytes, of every MAD */
#define VENDOR_HDR	40	/* bytes, of a vendor class with OUI */
#define SMP_DR		0x81	/* class: subnet management, directed route */
#define VENDOR_CLASS	0x32	/* one with OUI and RMPP */
#define VENDOR_OUI	0x123456
#define METHOD_GET	0x01
#define METHOD_TABLE	0x12
#define METHOD_RESP	0x80
#define GSI_QKEY	0x80010000
#define NO_LID		0xbff0	/* no port has it */
#define PERMISSIVE	0xffff

/* A header, of either form, and room for a long MAD behind it. */
struct umad_msg {
	struct ib_user_mad_hdr hdr;
	uint8_t mad[4096];
};

/* The path of umadN or issmN, as @what says, of a device's port.  Returns whether there is one. */
static inline bool umad_path(const char *what, const char *ibdev, unsigned int port, char path[64])
{
	static const char class[] = "/sys/class/infiniband_mad";
	DIR *dir = opendir(class);
	struct dirent *entry;
	char file[300], found[64];
	unsigned int number;
	bool ours = false;
	FILE *in;

	while (dir && !ours && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, what, strlen(what)))
			continue;
		snprintf(file, sizeof(file), "%s/%s/ibdev", class, entry->d_name);
		in = fopen(file, "r");
		ours = in && fscanf(in, "%63s", found) == 1 && !strcmp(found, ibdev);
		if (in)
			fclose(in);
		snprintf(file, sizeof(file), "%s/%s/port", class, entry->d_name);
		in = fopen(file, "r");
		ours &= in && fscanf(in, "%u", &number) == 1 && number == port;
		if (in)
			fclose(in);
		snprintf(path, 64, "/dev/infiniband/%.40s", entry->d_name);
	}
	if (dir)
		closedir(dir);
	return ours;
}

static inline int umad_ioctl(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) ? errno : 0;
}

/* Registers an agent with the second form.  Returns its number, or a negative errno. */
static inline int umad_agent(int fd, struct ib_user_mad_reg_req2 req)
{
	int err = umad_ioctl(fd, IB_USER_MAD_REGISTER_AGENT2, &req);

	return err ? -err : (int)req.id;
}

/* A MAD of a class, to a LID, with header and head filled in. */
static inline void umad_begin(struct umad_msg *msg, uint32_t id, uint8_t class, uint8_t method,
			      uint16_t lid, uint64_t tid)
{
	uint64_t wire = htobe64(tid);

	memset(msg, 0, sizeof(*msg));
	msg->hdr.id = id;
	msg->hdr.lid = htobe16(lid);
	if (class != SMP_DR) {
		msg->hdr.qpn = htobe32(1);
		msg->hdr.qkey = htobe32(GSI_QKEY);
	}
	msg->mad[0] = 1;
	msg->mad[1] = class;
	msg->mad[2] = 1;
	msg->mad[3] = method;
	memcpy(msg->mad + 8, &wire, sizeof(wire));
}

/* Get(NodeInfo) of the own port, by a directed route of no hops. */
static inline void umad_node_info(struct umad_msg *msg, uint32_t id, uint64_t tid)
{
	umad_begin(msg, id, SMP_DR, METHOD_GET, PERMISSIVE, tid);
	msg->hdr.timeout_ms = 60000;
	msg->mad[17] = 0x11;
	memset(msg->mad + 32, 0xff, 4);
}

static inline int umad_put(int fd, const struct umad_msg *msg, size_t mad_len)
{
	size_t len = sizeof(msg->hdr) + mad_len;
	ssize_t done = write(fd, msg, len);

	return done < 0 ? errno : done == (ssize_t)len ? 0 : EIO;
}

/* Reads a MAD within a minute, into @room bytes with its header.  Returns bytes or -errno. */
static inline ssize_t umad_get(int fd, void *to, size_t room)
{
	struct pollfd poller = { .fd = fd, .events = POLLIN };
	ssize_t got;

	if (poll(&poller, 1, 60000) != 1)
		return -ETIME;
	got = read(fd, to, room);
	return got < 0 ? -errno : got;
}

static inline uint64_t umad_tid(const uint8_t *mad)
{
	uint64_t tid;

	memcpy(&tid, mad + 8, sizeof(tid));
	return be64toh(tid);
}

/* The lower half of a transaction ID is the program's. */
static inline uint32_t umad_tid_low(const uint8_t *mad)
{
	return (uint32_t)umad_tid(mad);
}

#endif /* UMAD_RAW_H */
