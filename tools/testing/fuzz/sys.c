// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Calls of programs about files, processes and memory.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/udmabuf.h>

#include "fuzz.h"

#define WAIT_MS		300	/* until something can be read */
#define DMABUF_FD	200	/* a number that nothing else gets */

static int *slot(const struct call *call, uint64_t value)
{
	return &files[value % FILE_KINDS][call->file];
}

/* The replaced file stays open until the process ends, or another call closes it. */
static int put(int *where, int fd)
{
	if (fd < 0)
		return errno;
	*where = fd;
	return 0;
}

/* The number of the device's file of umad; NULL: it carries no MADs, and has none. */
static const char *umad_number(void)
{
	const char *umad = strstr(shared->paths[FILE_UMAD], "umad");

	return umad ? umad + strlen("umad") : NULL;
}

static int open_file(const struct call *call, enum file_kind kind)
{
	if (kind == FILE_UMAD && !umad_number())
		return ENODEV;
	return put(&files[kind][call->file],
		   open(shared->paths[kind], O_RDWR | O_CLOEXEC | O_NONBLOCK));
}

/* The file that makes the port one of a subnet manager; its number is that of umad. */
static int open_issm(const struct call *call)
{
	char path[64];

	if (!umad_number())
		return ENODEV;
	snprintf(path, sizeof(path), "/dev/infiniband/issm%s", umad_number());
	return put(&files[FILE_UMAD][call->file], open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK));
}

/* Bits 0, 1: which file; 2, 3: how; 4: and closes the new one at once. */
static int open_again(const struct call *call, uint64_t value)
{
	static const int flags[] = { O_RDWR, O_RDONLY, O_WRONLY, O_PATH };
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", *slot(call, value));
	fd = open(path, flags[value / FILE_KINDS % 4] | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0 && value & 16)
		return close(fd) ? errno : 0;
	return put(&files[value % FILE_KINDS][(call->file + 1) % FILES], fd);
}

/* Sends a file to this process itself; the value may say that it is never received. */
static int pass(const struct call *call, uint64_t value)
{
	union {
		struct cmsghdr head;
		uint8_t room[CMSG_SPACE(sizeof(int))];
	} control = {};
	struct iovec vec = { .iov_base = "x", .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &vec, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	int pair[2], fd = *slot(call, value), err = 0;

	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, pair))
		return errno;
	control.head.cmsg_len = CMSG_LEN(sizeof(int));
	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	vec.iov_base = &control.room[sizeof(control) - 1];
	if (sendmsg(pair[0], &msg, 0) < 0) {
		err = errno;
	} else if (!(value & 8)) {
		if (value & 16)
			close(fd);
		if (recvmsg(pair[1], &msg, 0) < 0)
			err = errno;
		else
			memcpy(slot(call, value), CMSG_DATA(&control.head), sizeof(int));
	}
	close(pair[0]);
	close(pair[1]);
	return err;
}

static int event_file(const struct call *call, uint64_t value)
{
	return object_live(call->file, value & 1 ? TYPE_ASYNC_EVENT : TYPE_COMP_CHANNEL,
			   value >> 1);
}

/* What the kernel shows of an open file. */
static int read_info(int fd)
{
	uint8_t data[2048];
	char path[64];
	int info, err = 0;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	info = open(path, O_RDONLY | O_CLOEXEC);
	if (info < 0)
		return errno;
	if (read(info, data, sizeof(data)) < 0)
		err = errno;
	close(info);
	return err;
}

/*
 * Files that are not generated from their beginning are read as they are.  Bit 4: in small parts;
 * 5: what the kernel shows of the file.
 */
static int read_from(int fd, uint64_t value)
{
	uint8_t data[2048];
	size_t len = value & 16 ? 100 : sizeof(data);
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return errno;
	if (value & 32)
		return read_info(fd);
	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	if (pread(fd, data, len, 0) >= 0)
		return 0;
	return errno != ESPIPE || read(fd, data, len) < 0 ? errno : 0;
}

/* Bit 16: waits; bits that poll() knows are events besides. */
static int look(int fd, uint64_t value)
{
	struct pollfd poller = { .fd = fd, .events = value | POLLIN };

	return poll(&poller, 1, value >> 16 & 1 ? WAIT_MS : value & 1) < 0 ? errno : 0;
}

/* Pages for rings of objects are replaced by others, or unmapped. */
static int change_rings(uint64_t value)
{
	void *at = (void *)(RINGS + value % RING_PAGES * PAGE);
	size_t len = PAGE << (value >> 8 & 3);

	if (value >> 10 & 1)
		return mprotect(at, len, value >> 11 & 1 ? PROT_READ : PROT_READ | PROT_WRITE) ?
		       errno : 0;
	if (value >> 11 & 1)
		return madvise(at, len, MADV_DONTNEED) ? errno : 0;
	return mmap(at, len, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED ? errno : 0;
}

/*
 * Memory that a driver shares with others, as file DMABUF_FD.  Bits 0 to 2: how many pages; 3: the
 * file is closed, when others may still use it.
 */
static int make_dmabuf(uint64_t value)
{
	struct udmabuf_create from = { .size = ((value & 7) + 1) * PAGE };
	int device, fd, err = 0;

	if (value & 8)
		return close(DMABUF_FD) ? errno : 0;
	from.memfd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);
	if (ftruncate(from.memfd, from.size) || fcntl(from.memfd, F_ADD_SEALS, F_SEAL_SHRINK))
		err = errno;
	fd = err ? -1 : ioctl(device, UDMABUF_CREATE, &from);
	if (!err && (fd < 0 || dup3(fd, DMABUF_FD, O_CLOEXEC) < 0))
		err = errno;
	close(fd);
	close(device);
	close(from.memfd);
	return err;
}

static int put_mad(const struct call *call, const struct command *cmd, unsigned int thread)
{
	uint8_t data[1024] = {};
	uint32_t agent = 0;
	unsigned int len = 0;

	for (unsigned int i = 0; i < cmd->num_rows; i++) {
		if (cmd->rows[i].kind == BLOB)
			len = row_bytes(call, i, data, sizeof(data));
		else if (cmd->rows[i].kind == READ)
			agent = row_handle(call, i);
	}
	memcpy(data, &agent, sizeof(agent));
	return write(files[FILE_UMAD][call->file],
		     (void *)row_place(call, REQUEST, thread, data, len), len) < 0 ? errno : 0;
}

int sys_run(const struct call *call, const struct command *cmd, unsigned int thread)
{
	const struct twist *twist = twist_of(call, REQUEST, VALUE);
	uint64_t value = twist ? twist->value : 0;
	enum { OPEN_UVERBS, OPEN_UMAD, OPEN_UCMA, REOPEN, DUP, PASS, CLOSE, FORK, KILL, READ_EVENT,
	       READ_FILE, POLL, MMAP, RINGS_CHANGE, YIELD, MAP_MANY, UNMAP, TOUCH, CGROUP,
	       NETNS, OPEN_ISSM, NET, DMABUF, PUT_MAD, REMOVE, FAULT, REFUSE } what = cmd->number;

	switch (what) {
	case OPEN_UVERBS:
		return open_file(call, FILE_UVERBS);
	case OPEN_UMAD:
		return open_file(call, FILE_UMAD);
	case OPEN_UCMA:
		return open_file(call, FILE_UCMA);
	case REOPEN:
		return open_again(call, value);
	case DUP:
		return put(&files[value % FILE_KINDS][(call->file + 1) % FILES],
			   fcntl(*slot(call, value), F_DUPFD_CLOEXEC, 10));
	case PASS:
		return pass(call, value);
	case CLOSE:
		return close(value & 8 ? event_file(call, value) : *slot(call, value)) ? errno : 0;
	case FORK:
		return CALL_FORKS;
	case KILL:
		kill(0, SIGKILL);
		return 0;
	case READ_EVENT:
		return read_from(event_file(call, value), 0);
	case READ_FILE:
		return read_from(*slot(call, value), value);
	case POLL:
		return look(value & 8 ? event_file(call, value) : *slot(call, value), value);
	case MMAP:
		return map_pages(files[FILE_UVERBS][call->file], value);
	case RINGS_CHANGE:
		return change_rings(value);
	case YIELD:
		for (value %= 256; value; value--)
			sched_yield();
		return 0;
	case MAP_MANY:
		return map_many(files[FILE_UVERBS][call->file], value);
	case UNMAP:
		return unmap(value);
	case TOUCH:
		return touch(value);
	case CGROUP:
		return enter_group(value);
	case NETNS:
		return enter_namespace(value);
	case REMOVE:
		return removal_ask(value / 2 % REMOVALS, value & 1);
	case FAULT:
		return removal && !device_link ? fault_make(value) : EOPNOTSUPP;
	case REFUSE:
		return refusals ? refuse(value) : EOPNOTSUPP;
	case OPEN_ISSM:
		return open_issm(call);
	case NET:
		return net_run(value);
	case DMABUF:
		return make_dmabuf(value);
	case PUT_MAD:
		break;
	}
	return put_mad(call, cmd, thread);
}
