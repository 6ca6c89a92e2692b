// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Removal of the device in the middle of a program: a thread of the fuzzer unbinds it from its
 * driver and binds it again, resets it, has its bus find it again, or has it fail and resets it,
 * whenever a program asks for that.  A link is ended and made again.  A program may end, or be
 * killed, meanwhile; the next one begins when the device is back.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/futex.h>
#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include "fuzz.h"

#define BUS		"/sys/bus/pci/"
#define DRIVER		BUS "drivers/vhca/"
#define WAIT_MS		15000	/* a program's wait for a removal that it asked for */
#define APPEAR_SECONDS	30	/* until the files of a bound device are there */
#define STEP_MS		20
#define SETTLE_MS	300	/* from there until the removal of a link waits */

bool removal;
const char *device_pci;		/* its PCI address */
static uint32_t failed;		/* errno if the device has not come back */
static bool has_umad;

static void nap(long ms)
{
	struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

static int tell(const char *path, const char *what)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return errno;
	if (write(fd, what, strlen(what)) < 0)
		err = errno;
	close(fd);
	return err;
}

static int tell_device(const char *file)
{
	char path[128];

	snprintf(path, sizeof(path), BUS "devices/%s/%s", device_pci, file);
	return tell(path, "1");
}

/* The folder with the device's entry of a class.  A guest with a link has no other device. */
void device_folder(const char *class, char *path, size_t room)
{
	if (device_link)
		snprintf(path, room, "/sys/class/%s", class);
	else
		snprintf(path, room, BUS "devices/%s/%s", device_pci, class);
}

/* The first name with this prefix in a folder of the device's; false when there is none. */
bool device_entry(const char *class, const char *prefix, char *name, size_t room)
{
	char folder[128];
	struct dirent *entry;
	bool found = false;
	DIR *dir;

	device_folder(class, folder, sizeof(folder));
	dir = opendir(folder);
	while (dir && !found && (entry = readdir(dir))) {
		if (*entry->d_name == '.' || strncmp(entry->d_name, prefix, strlen(prefix)))
			continue;
		snprintf(name, room, "%s", entry->d_name);
		found = true;
	}
	if (dir)
		closedir(dir);
	return found;
}

/* Finds the device's file of a class; its number may change each time. */
static bool find_file(const char *class, const char *prefix, char *path)
{
	char name[33];

	if (!device_entry(class, prefix, name, sizeof(name)))
		return false;
	snprintf(path, sizeof(shared->paths[0]), "/dev/infiniband/%s", name);
	return !access(path, F_OK);
}

/* Finds netlink's number of the only device. */
static bool find_index(uint32_t *index)
{
	struct nlmsghdr request = {
		.nlmsg_len = sizeof(request), .nlmsg_seq = 1,
		.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET),
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
	};
	union {
		struct nlmsghdr head;
		uint8_t bytes[8192];
	} answer;
	int sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	bool found = false;
	struct nlattr attr;
	ssize_t len = -1;

	if (sock >= 0 && send(sock, &request, sizeof(request), 0) > 0)
		len = recv(sock, &answer, sizeof(answer), 0);
	for (ssize_t at = sizeof(answer.head); answer.head.nlmsg_type == request.nlmsg_type &&
	     !found && at + (ssize_t)sizeof(attr) + 4 <= len; at += NLA_ALIGN(attr.nla_len)) {
		memcpy(&attr, answer.bytes + at, sizeof(attr));
		if (attr.nla_len < sizeof(attr))
			break;
		found = attr.nla_type == RDMA_NLDEV_ATTR_DEV_INDEX;
		if (found)
			memcpy(index, answer.bytes + at + sizeof(attr), sizeof(*index));
	}
	if (sock >= 0)
		close(sock);
	return found;
}

static bool find_device(void)
{
	for (int ms = 0; ms < APPEAR_SECONDS * 1000; ms += STEP_MS) {
		if (find_file("infiniband_verbs", "uverbs", shared->paths[FILE_UVERBS]) &&
		    (!has_umad || find_file("infiniband_mad", "umad", shared->paths[FILE_UMAD])) &&
		    find_index(&shared->device_index))
			return true;
		nap(STEP_MS);
	}
	return false;
}

static int rebind(void)
{
	return tell(DRIVER "unbind", device_pci) ?: tell(DRIVER "bind", device_pci);
}

/* The driver notices the failure, and gives the device up. */
static int fail_and_reset(void)
{
	char name[64];
	int err = fault_fatal();

	for (int ms = 0; !err && ms < APPEAR_SECONDS * 1000; ms += STEP_MS) {
		if (!device_entry("infiniband", "", name, sizeof(name)))
			return tell_device("reset");
		nap(STEP_MS);
	}
	return err ?: ETIMEDOUT;
}

/*
 * late: beside a busy program the thread goes on late when it has waited for something, so that the
 * program has time to interfere.
 */
static int remove_link(bool late)
{
	struct sched_param none = {};
	int err;

	sched_setscheduler(0, late ? SCHED_IDLE : SCHED_OTHER, &none);
	err = link_end(shared->device_index);
	sched_setscheduler(0, SCHED_OTHER, &none);
	return err ?: link_make();
}

static int remove_by(enum removal_kind kind)
{
	if (device_link)
		return remove_link(kind & 1);
	switch (kind) {
	case REMOVAL_RESET:
		return tell_device("reset");
	case REMOVAL_RESCAN:
		return tell_device("remove") ?: tell(BUS "rescan", "1");
	case REMOVAL_FATAL:
		return fail_and_reset();
	default:
		return rebind();
	}
}

static void remove_once(enum removal_kind kind)
{
	int err = remove_by(kind);

	if (!err && !find_device())
		err = ENODEV;
	/* The device may have been probed while it refused commands, and then has no driver. */
	if (err && __atomic_load_n(&shared->faulty, __ATOMIC_ACQUIRE)) {
		tell(DRIVER "unbind", device_pci);
		err = faults_clear() ?: tell(DRIVER "bind", device_pci);
		if (!err && !find_device())
			err = ENODEV;
	}
	__atomic_store_n(&failed, err, __ATOMIC_RELEASE);
}

static void futex_wait(uint32_t *word, uint32_t value, long ms)
{
	struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	syscall(SYS_futex, word, FUTEX_WAIT, value, ms ? &time : NULL, NULL, 0);
}

static void futex_wake(uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, 1 << 20, NULL, NULL, 0);
}

/* A request that comes during a removal starts another one. */
static void *removal_main(void *arg)
{
	uint32_t done = 0, asked;

	(void)arg;
	for (;;) {
		asked = __atomic_load_n(&shared->asked, __ATOMIC_ACQUIRE);
		if (asked == done) {
			futex_wait(&shared->asked, asked, 0);
			continue;
		}
		cover_thread(THREADS, true);
		remove_once(__atomic_load_n(&shared->kind, __ATOMIC_RELAXED));
		cover_thread(THREADS, false);
		done = asked;
		__atomic_store_n(&shared->removed, done, __ATOMIC_RELEASE);
		futex_wake(&shared->removed);
	}
	return NULL;
}

/*
 * Called in a program.  wait: until the device is back; with a link, until its node is gone, since
 * the removal may then wait for the program itself.  Of simultaneous requests the last one decides
 * the kind.
 */
int removal_ask(enum removal_kind kind, bool wait)
{
	uint32_t mine, now;

	if (!removal)
		return EOPNOTSUPP;
	__atomic_store_n(&shared->kind, kind, __ATOMIC_RELAXED);
	mine = __atomic_add_fetch(&shared->asked, 1, __ATOMIC_RELEASE);
	futex_wake(&shared->asked);
	if (!wait)
		return 0;
	while ((int32_t)((now = __atomic_load_n(&shared->removed, __ATOMIC_ACQUIRE)) - mine) < 0) {
		if (device_link && access(shared->paths[FILE_UVERBS], F_OK)) {
			nap(SETTLE_MS);
			break;
		}
		futex_wait(&shared->removed, now, device_link ? STEP_MS : WAIT_MS);
	}
	return 0;
}

/*
 * Waits for the device; returns false when it does not come back.  One that may have had faults is
 * removed once more: its driver may have given it up.
 */
bool removal_over(double seconds)
{
	if (__atomic_load_n(&shared->faulty, __ATOMIC_ACQUIRE)) {
		if (faults_clear())
			printf("fuzz: the host does not take faults back\n");
		removal_ask(REMOVAL_UNBIND, false);
	}
	for (long ms = 0; removal && ms < seconds * 1000; ms += 10) {
		uint32_t removed = __atomic_load_n(&shared->removed, __ATOMIC_ACQUIRE);

		if (removed == __atomic_load_n(&shared->asked, __ATOMIC_ACQUIRE)) {
			if (failed)
				printf("fuzz: the device does not come back: %s\n",
				       strerror(failed));
			shared->faulty = 0;
			return !failed;
		}
		nap(10);
	}
	return !removal;
}

bool removal_setup(void)
{
	pthread_t id;

	has_umad = strstr(shared->paths[FILE_UMAD], "umad");
	return find_device() && !pthread_create(&id, NULL, removal_main, NULL);
}
