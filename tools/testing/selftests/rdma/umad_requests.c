// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * umad_requests [-n] DEVICE: valid and invalid requests for user MADs; TAP on stdout.  -n: the
 * kernel gives no reasons.  The first port has a LID.
 */
#include <limits.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "umad_raw.h"

#define AGENTS 32

static const char *ibdev;
static char umad[64], issm[64];
static bool reasons = true;
static uint16_t own_lid;
/* An address that is not mapped, which the compiler does not know. */
static void *volatile nowhere = (void *)16;

/* ---- shared by the tests ---- */

static jmp_buf failure;

/* Ends the test that goes wrong, and says where. */
static void check(bool good, int line, const char *what)
{
	if (good)
		return;
	printf("# line %d: not so: %s (errno %d)\n", line, what, errno);
	longjmp(failure, 1);
}

#define CHECK(_what)	check(_what, __LINE__, #_what)

/* Is this part of the last reason that the file has for a refusal? */
static bool reason(int fd, const char *part)
{
	char path[64], line[256], last[256] = "";
	FILE *in;

	if (!reasons)
		return true;
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	in = fopen(path, "r");
	while (in && fgets(line, sizeof(line), in))
		if (!strncmp(line, "rdma-reject:", 12))
			snprintf(last, sizeof(last), "%s", line);
	if (in)
		fclose(in);
	if (!strstr(last, part))
		printf("# '%s' is not in %s\n", part, last);
	return strstr(last, part);
}

/* An attribute of the port in sysfs, a number. */
static unsigned long port_attr(const char *name)
{
	unsigned long value = 0;
	char path[160];
	FILE *in;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/%s", ibdev, name);
	in = fopen(path, "r");
	if (!in || fscanf(in, "%li", &value) != 1)
		value = 0;
	if (in)
		fclose(in);
	return value;
}

static int open_umad(int flags)
{
	return open(umad, O_RDWR | flags);
}

/* ---- registration ---- */

static void agents(void)
{
	struct ib_user_mad_reg_req2 req = { .qpn = 1 };
	int fd = open_umad(0);
	uint32_t id;

	for (int i = 0; i < AGENTS; i++)
		CHECK(umad_agent(fd, req) == i);
	CHECK(umad_agent(fd, req) == -ENOMEM && reason(fd, "32 agents"));
	id = 7;
	CHECK(!umad_ioctl(fd, IB_USER_MAD_UNREGISTER_AGENT, &id));
	CHECK(umad_ioctl(fd, IB_USER_MAD_UNREGISTER_AGENT, &id) == EINVAL &&
	      reason(fd, "no agent 7"));
	CHECK(umad_agent(fd, req) == 7);
	id = AGENTS;
	CHECK(umad_ioctl(fd, IB_USER_MAD_UNREGISTER_AGENT, &id) == EINVAL && reason(fd, "id 32"));
	CHECK(!close(fd));
}

static void bad_registrations(void)
{
	struct ib_user_mad_reg_req2 req = { .qpn = 2 };
	struct ib_user_mad_reg_req old = { .qpn = 2 };
	int fd = open_umad(0);

	CHECK(umad_agent(fd, req) == -EINVAL && reason(fd, "qpn 2"));
	CHECK(umad_ioctl(fd, IB_USER_MAD_REGISTER_AGENT, &old) == EINVAL && reason(fd, "qpn 2"));
	req = (struct ib_user_mad_reg_req2) { .qpn = 1, .flags = 6 };
	CHECK(umad_ioctl(fd, IB_USER_MAD_REGISTER_AGENT2, &req) == EINVAL && reason(fd, "flags"));
	CHECK(req.flags == IB_USER_MAD_REG_FLAGS_CAP);
	req = (struct ib_user_mad_reg_req2) { .qpn = 1, .mgmt_class = VENDOR_CLASS,
					      .mgmt_class_version = 1, .oui = 1 << 24 };
	CHECK(umad_agent(fd, req) == -EINVAL && reason(fd, "oui"));
	CHECK(umad_ioctl(fd, IB_USER_MAD_REGISTER_AGENT, nowhere) == EFAULT);
	CHECK(umad_ioctl(fd, IB_USER_MAD_REGISTER_AGENT2, nowhere) == EFAULT);
	CHECK(umad_ioctl(fd, IB_USER_MAD_UNREGISTER_AGENT, nowhere) == EFAULT);
	CHECK(umad_ioctl(fd, _IO(RDMA_IOCTL_MAGIC, 0x05), nowhere) == ENOTTY);
	CHECK(umad_ioctl(fd, IB_USER_MAD_ENABLE_PKEY + 0x100, nowhere) == ENOTTY);
	CHECK(!close(fd));
}

/* Requests of a class go to one agent only: a second one is refused. */
static void exclusive(void)
{
	struct ib_user_mad_reg_req2 req = {
		.qpn = 1, .mgmt_class = VENDOR_CLASS, .mgmt_class_version = 1, .oui = VENDOR_OUI,
		.method_mask = { 1 << METHOD_GET },
	};
	int fd = open_umad(0), other = open_umad(0);
	uint32_t id = 0;

	CHECK(umad_agent(fd, req) == 0);
	CHECK(umad_agent(other, req) == -EINVAL);
	req.oui++;
	CHECK(umad_agent(other, req) == 0);
	req.oui--;
	CHECK(!umad_ioctl(fd, IB_USER_MAD_UNREGISTER_AGENT, &id));
	CHECK(umad_agent(other, req) == 1);
	CHECK(!close(fd) && !close(other));
}

/* The mask of the first form has words of the program's size. */
static void first_form(void)
{
	struct ib_user_mad_reg_req req = {
		.qpn = 1, .mgmt_class = VENDOR_CLASS, .mgmt_class_version = 1,
		.oui = { VENDOR_OUI >> 16, VENDOR_OUI >> 8 & 0xff, VENDOR_OUI & 0xff },
	};
	struct ib_user_mad_reg_req2 same = {
		.qpn = 1, .mgmt_class = VENDOR_CLASS, .mgmt_class_version = 1, .oui = VENDOR_OUI,
		.method_mask = { 1ULL << 40, 1ULL << 2 },
	};
	const unsigned int bits = 8 * sizeof(long);
	int fd = open_umad(0), other = open_umad(0);

	req.method_mask[40 / bits] |= 1UL << 40 % bits;
	CHECK(!umad_ioctl(fd, IB_USER_MAD_REGISTER_AGENT, &req) && req.id == 0);
	/* Each of its methods is taken, and no other */
	same.method_mask[1] = 0;
	CHECK(umad_agent(other, same) == -EINVAL);
	same.method_mask[0] = 0;
	same.method_mask[1] = 1 << 2;
	CHECK(umad_agent(other, same) == 0);
	CHECK(!close(fd) && !close(other));
}

/* ---- headers ---- */

static void old_header(void)
{
	struct ib_user_mad_reg_req req = { .qpn = 0 };
	const size_t hdr = sizeof(struct ib_user_mad_hdr_old);
	int fd = open_umad(O_NONBLOCK);
	uint8_t old[sizeof(struct ib_user_mad_hdr) + MAD_SIZE];
	struct umad_msg msg;

	CHECK(!umad_ioctl(fd, IB_USER_MAD_REGISTER_AGENT, &req));
	CHECK(umad_ioctl(fd, IB_USER_MAD_ENABLE_PKEY, NULL) == EINVAL &&
	      reason(fd, "registered before"));
	umad_node_info(&msg, req.id, 0x11);
	memcpy(old, &msg.hdr, hdr);
	memcpy(old + hdr, msg.mad, MAD_SIZE);
	CHECK(write(fd, old, hdr + MAD_SIZE) == (ssize_t)(hdr + MAD_SIZE));
	CHECK(umad_get(fd, old, sizeof(old)) == (ssize_t)(hdr + MAD_SIZE));
	CHECK(old[hdr + 3] == (METHOD_GET | METHOD_RESP) && umad_tid_low(old + hdr) == 0x11);
	CHECK(!close(fd));
}

static void new_header(void)
{
	struct ib_user_mad_reg_req req = { .qpn = 0 };
	const ssize_t len = sizeof(struct ib_user_mad_hdr) + MAD_SIZE;
	int fd = open_umad(O_NONBLOCK);
	struct umad_msg msg;

	CHECK(!umad_ioctl(fd, IB_USER_MAD_ENABLE_PKEY, NULL));
	CHECK(!umad_ioctl(fd, IB_USER_MAD_REGISTER_AGENT, &req));
	umad_node_info(&msg, req.id, 0x12);
	CHECK(!umad_put(fd, &msg, MAD_SIZE));
	CHECK(umad_get(fd, &msg, sizeof(msg)) == len);
	CHECK(msg.hdr.id == req.id && !msg.hdr.status && msg.hdr.length == len);
	CHECK(msg.mad[3] == (METHOD_GET | METHOD_RESP) && umad_tid_low(msg.mad) == 0x12);
	CHECK(!close(fd));
}

/* ---- reading and writing ---- */

static void short_reads(void)
{
	const struct ib_user_mad_reg_req2 req = { .qpn = 0 };
	const ssize_t len = sizeof(struct ib_user_mad_hdr) + MAD_SIZE;
	int fd = open_umad(O_NONBLOCK);
	struct umad_msg msg;

	CHECK(umad_agent(fd, req) == 0);
	CHECK(read(fd, &msg, sizeof(msg)) < 0 && errno == EAGAIN);
	umad_node_info(&msg, 0, 0x13);
	CHECK(!umad_put(fd, &msg, MAD_SIZE));
	CHECK(umad_get(fd, &msg, sizeof(msg.hdr) - 1) == -EINVAL && reason(fd, "header"));
	CHECK(umad_get(fd, &msg, len - 1) == -EINVAL && reason(fd, "room for"));
	CHECK(umad_get(fd, nowhere, len) == -EFAULT);
	CHECK(umad_get(fd, &msg, len) == len && umad_tid_low(msg.mad) == 0x13);
	CHECK(read(fd, &msg, sizeof(msg)) < 0 && errno == EAGAIN);
	CHECK(!close(fd));
}

static void bad_writes(void)
{
	const struct ib_user_mad_reg_req2 req = { .qpn = 1 };
	int fd = open_umad(O_NONBLOCK);
	struct umad_msg msg;
	char *end;

	umad_begin(&msg, 0, 4, METHOD_GET, NO_LID, 1);
	CHECK(!umad_ioctl(fd, IB_USER_MAD_ENABLE_PKEY, NULL));
	CHECK(umad_put(fd, &msg, MAD_SIZE) == EIO && reason(fd, "no agent 0"));
	CHECK(umad_agent(fd, req) == 0);
	CHECK(umad_put(fd, &msg, 35) == EINVAL && reason(fd, "at least"));
	CHECK(umad_put(fd, &msg, MAD_SIZE + 1) == EINVAL);
	msg.hdr.id = AGENTS;
	CHECK(umad_put(fd, &msg, MAD_SIZE) == EINVAL && reason(fd, "id 32"));
	CHECK(umad_put(fd, nowhere, MAD_SIZE) == EFAULT);
	/* The MAD ends where mapped memory does */
	end = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(end != MAP_FAILED && !munmap(end + 4096, 4096));
	msg.hdr.id = 0;
	memcpy(end + 4096 - 200, &msg, 200);
	CHECK(umad_put(fd, (void *)(end + 4096 - 200), MAD_SIZE) == EFAULT);
	/* A GID index that the port does not have */
	msg.hdr.grh_present = 1;
	msg.hdr.gid_index = 250;
	CHECK(umad_put(fd, &msg, MAD_SIZE) == EINVAL);
	/* A vendor's MAD that ends within its own header */
	msg.hdr.grh_present = 0;
	msg.mad[1] = VENDOR_CLASS;
	CHECK(umad_put(fd, &msg, VENDOR_HDR - 1) == EINVAL);
	munmap(end, 4096);
	CHECK(!close(fd));
}

static void put_vendor(int fd, unsigned int pkey_index, uint32_t tid)
{
	struct umad_msg msg;
	int err;

	umad_begin(&msg, 0, VENDOR_CLASS, METHOD_GET, own_lid, tid);
	msg.hdr.pkey_index = pkey_index;
	msg.mad[37] = VENDOR_OUI >> 16;
	msg.mad[38] = VENDOR_OUI >> 8 & 0xff;
	msg.mad[39] = VENDOR_OUI & 0xff;
	err = umad_put(fd, &msg, MAD_SIZE);
	/* The device refuses what the core does not. */
	CHECK(!err || (pkey_index && err == EINVAL));
}

/* A MAD with a P_Key index outside the table, or of its empty last entry, is not sent. */
static void bad_pkeys(void)
{
	struct ib_user_mad_reg_req2 req = {
		.qpn = 1, .mgmt_class = VENDOR_CLASS, .mgmt_class_version = 1, .oui = VENDOR_OUI,
	};
	int fd = open_umad(O_NONBLOCK), peer = open_umad(O_NONBLOCK);
	struct umad_msg got;

	CHECK(!umad_ioctl(fd, IB_USER_MAD_ENABLE_PKEY, NULL));
	CHECK(!umad_ioctl(peer, IB_USER_MAD_ENABLE_PKEY, NULL));
	CHECK(umad_agent(fd, req) == 0);
	req.method_mask[0] = 1 << METHOD_GET;
	CHECK(umad_agent(peer, req) == 0);
	put_vendor(fd, 9999, 1);
	put_vendor(fd, 127, 2);
	put_vendor(fd, 0, 3);
	CHECK(umad_get(peer, &got, sizeof(got)) > 0 && umad_tid_low(got.mad) == 3);
	CHECK(!got.hdr.pkey_index);
	CHECK(!close(fd) && !close(peer));
}

/* No answer comes; until the time-out the transaction id belongs to the request. */
static void timed_out(void)
{
	const struct ib_user_mad_reg_req2 req = { .qpn = 1 };
	const ssize_t len = sizeof(struct ib_user_mad_hdr) + MAD_HDR;
	int fd = open_umad(O_NONBLOCK);
	struct umad_msg msg, got;

	CHECK(umad_agent(fd, req) == 0);
	umad_begin(&msg, 0, 4, METHOD_GET, NO_LID, 0x14);
	msg.hdr.timeout_ms = 1000;
	msg.hdr.retries = 1;
	CHECK(!umad_put(fd, &msg, MAD_SIZE));
	CHECK(umad_put(fd, &msg, MAD_SIZE) == EINVAL && reason(fd, "under way"));
	CHECK(umad_get(fd, &got, len - 1) == -EINVAL);
	CHECK(umad_get(fd, &got, sizeof(got)) == len);
	CHECK(got.hdr.status == ETIMEDOUT && got.hdr.id == 0 && umad_tid_low(got.mad) == 0x14);
	CHECK(got.hdr.lid == htobe16(NO_LID));
	CHECK(!umad_put(fd, &msg, MAD_SIZE));
	CHECK(!close(fd));
}

/* Several requests at once, each answered by itself. */
static void many(void)
{
	const struct ib_user_mad_reg_req2 req = { .qpn = 0 };
	int fd = open_umad(O_NONBLOCK);
	struct umad_msg msg;
	bool seen[64] = {};

	CHECK(umad_agent(fd, req) == 0);
	for (int i = 0; i < 64; i++) {
		umad_node_info(&msg, 0, i);
		CHECK(!umad_put(fd, &msg, MAD_SIZE));
	}
	for (int i = 0; i < 64; i++) {
		CHECK(umad_get(fd, &msg, sizeof(msg)) > 0 && !msg.hdr.status);
		CHECK(umad_tid_low(msg.mad) < 64 && !seen[umad_tid_low(msg.mad)]);
		seen[umad_tid_low(msg.mad)] = true;
	}
	CHECK(!close(fd));
}

/*
 * A request of one file to another on the same port, answered by a message of several packets.  Its
 * reader has first too little room.
 */
static void long_message(void)
{
	struct ib_user_mad_reg_req2 asks = {
		.qpn = 1, .rmpp_version = 1, .mgmt_class = VENDOR_CLASS, .mgmt_class_version = 1,
		.oui = VENDOR_OUI,
	}, answers = asks;
	const ssize_t hdr = sizeof(struct ib_user_mad_hdr), first = hdr + MAD_SIZE;
	const size_t len = VENDOR_HDR + 1000;
	int fd = open_umad(O_NONBLOCK), peer = open_umad(O_NONBLOCK);
	struct umad_msg msg, reply, got;

	answers.method_mask[0] = 1 << METHOD_TABLE;
	CHECK(umad_agent(fd, asks) == 0 && umad_agent(peer, answers) == 0);
	umad_begin(&msg, 0, VENDOR_CLASS, METHOD_TABLE, own_lid, 0x15);
	msg.hdr.timeout_ms = 60000;
	msg.mad[37] = VENDOR_OUI >> 16;
	msg.mad[38] = VENDOR_OUI >> 8 & 0xff;
	msg.mad[39] = VENDOR_OUI & 0xff;
	CHECK(!umad_put(fd, &msg, MAD_SIZE));

	CHECK(umad_get(peer, &got, sizeof(got)) == first && !got.hdr.status);
	CHECK(be16toh(got.hdr.lid) == own_lid && be32toh(got.hdr.qpn) == 1);
	umad_begin(&reply, 0, VENDOR_CLASS, METHOD_TABLE | METHOD_RESP, own_lid, 0);
	memcpy(reply.mad + 8, got.mad + 8, 8);
	reply.mad[24] = 1;		/* version of RMPP */
	reply.mad[26] = 1;		/* flags: active */
	memcpy(reply.mad + 37, msg.mad + 37, 3);
	for (size_t i = VENDOR_HDR; i < len; i++)
		reply.mad[i] = i * 7;
	reply.hdr.pkey_index = got.hdr.pkey_index;
	CHECK(!umad_put(peer, &reply, len));

	CHECK(umad_get(fd, &got, first - 1) == -EINVAL);
	CHECK(umad_get(fd, &got, first) == -ENOSPC && reason(fd, "room for"));
	CHECK(got.hdr.length == hdr + len && umad_tid_low(got.mad) == 0x15);
	CHECK(umad_get(fd, &got, hdr + len - 1) == -ENOSPC);
	CHECK(umad_get(fd, &got, hdr + len) == (ssize_t)(hdr + len));
	CHECK(!memcmp(got.mad + VENDOR_HDR, reply.mad + VENDOR_HDR, len - VENDOR_HDR));
	CHECK(!close(fd) && !close(peer));
}

/* MADs that the port has dropped, for any reason. The distribution's core does not count them. */
static unsigned long dropped(void)
{
	static const char *const why[] = {
		"malformed", "misrouted", "no_memory", "refused", "rmpp", "unawaited", "unclaimed",
	};
	unsigned long sum = 0;
	char name[64];

	for (unsigned int i = 0; i < sizeof(why) / sizeof(*why); i++) {
		snprintf(name, sizeof(name), "mad_rx_dropped/%s", why[i]);
		sum += port_attr(name);
	}
	return sum;
}

/* Invalid MADs, of every class, to both QPs and to this LID and to an unused one. */
static void nonsense(void)
{
	static const uint16_t lids[] = { PERMISSIVE, 0, NO_LID, 1 };
	const ssize_t len = sizeof(struct ib_user_mad_hdr) + MAD_SIZE;
	struct ib_user_mad_reg_req2 req = { .qpn = 0 };
	int fd = open_umad(O_NONBLOCK);
	struct umad_msg msg;
	unsigned long before = dropped();
	unsigned int seed = 20;

	/* The last of the agents has long messages */
	CHECK(umad_agent(fd, req) == 0);
	req.qpn = 1;
	CHECK(umad_agent(fd, req) == 1);
	req.rmpp_version = 1;
	CHECK(umad_agent(fd, req) == 2);
	for (unsigned int i = 0; i < 1024; i++) {
		umad_begin(&msg, i % 3, i >> 2, METHOD_GET, i & 2 ? own_lid : lids[i / 7 % 4], i);
		for (unsigned int j = i % 3; j < MAD_SIZE; j++)
			if (j != 1)
				msg.mad[j] = rand_r(&seed);
		msg.hdr.timeout_ms = i % 5 ? 0 : 1;
		msg.hdr.qpn = htobe32(i % 3 ? 1 : 0);
		/* Whether it is refused or sent does not matter */
		(void)!write(fd, &msg, len - (i % 11 ? 0 : i % 200));
		while (read(fd, &msg, sizeof(msg)) > 0)
			;
	}
	/* Closing the file cancels what has not been sent yet */
	for (int wait = 0; reasons && dropped() <= before + 400 && wait < 12000; wait++)
		usleep(10000);
	CHECK(!reasons || dropped() > before + 400);
	close(fd);
	/* The port still answers, which it does after everything that it has received before */
	new_header();
}

/* ---- issmN ---- */

#define IS_SM	2UL

static void is_sm(void)
{
	int fd = open(issm, O_RDWR), other;

	CHECK(fd >= 0 && port_attr("cap_mask") & IS_SM);
	other = open(issm, O_RDWR | O_NONBLOCK);
	CHECK(other < 0 && errno == EAGAIN);
	CHECK(read(fd, &other, 1) < 0 && errno == EINVAL);
	close(fd);
	CHECK(!(port_attr("cap_mask") & IS_SM));
	fd = open(issm, O_RDWR | O_NONBLOCK);
	CHECK(fd >= 0 && port_attr("cap_mask") & IS_SM);
	close(fd);
	CHECK(!(port_attr("cap_mask") & IS_SM));
}

static void on_alarm(int number)
{
	(void)number;
}

/* A process that waits to become the subnet manager: sleeps in the kernel, or has ended. */
static bool sleeps(pid_t pid)
{
	char path[64], state = 0;
	FILE *in;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	in = fopen(path, "r");
	if (!in || fscanf(in, "%*d %*s %c", &state) != 1)
		state = 'X';
	if (in)
		fclose(in);
	return state != 'R';
}

static void second_sm(void)
{
	int fd = open(issm, O_RDWR), status;
	struct sigaction action = { .sa_handler = on_alarm };
	pid_t pid;

	CHECK(fd >= 0 && !sigaction(SIGUSR1, &action, NULL));
	for (int round = 0; round < 2; round++) {
		pid = fork();
		if (!pid) {
			/* The first one's file is the parent's alone */
			close(fd);
			fd = open(issm, O_RDWR);
			_exit(fd >= 0 ? 0 : errno);
		}
		while (!sleeps(pid))
			sched_yield();
		/* The first one gives up, and the second one can open the file */
		if (round)
			close(fd);
		do {
			struct timespec moment = { .tv_nsec = 20000000 };

			if (!round)
				kill(pid, SIGUSR1);
			nanosleep(&moment, NULL);
		} while (!waitpid(pid, &status, WNOHANG));
		CHECK(WIFEXITED(status) && WEXITSTATUS(status) == (round ? 0 : EINTR));
	}
	CHECK(!(port_attr("cap_mask") & IS_SM));
}

/* ---- permissions ---- */

static void not_root(void)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		if (setgid(65534) || setuid(65534))
			_exit(1);
		_exit(!(open(umad, O_RDWR) < 0 && errno == EACCES &&
			open(issm, O_RDWR) < 0 && errno == EACCES));
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
}

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
	{ "agents have numbers, 32 a file", agents },
	{ "registrations that must be refused", bad_registrations },
	{ "a class's requests have one taker", exclusive },
	{ "masks of methods in the first form", first_form },
	{ "the old header", old_header },
	{ "the header with a P_Key index", new_header },
	{ "reads with too little room", short_reads },
	{ "writes that must be refused", bad_writes },
	{ "P_Keys that there are not", bad_pkeys },
	{ "a request that nobody answers", timed_out },
	{ "many requests at once", many },
	{ "a long message", long_message },
	{ "MADs without sense", nonsense },
	{ "issm sets IsSM, for one at a time", is_sm },
	{ "a second subnet manager waits, and gives up or is let in", second_sm },
	{ "none of it is for everybody", not_root },
};

static bool passes(void (*run)(void))
{
	if (setjmp(failure))
		return false;
	run();
	return true;
}

int main(int argc, char **argv)
{
	const unsigned int count = sizeof(tests) / sizeof(tests[0]);
	unsigned int failed = 0;

	reasons = argc < 2 || strcmp(argv[1], "-n");
	ibdev = argv[argc - 1];
	own_lid = port_attr("lid");
	if (argc < 2 || !umad_path("umad", ibdev, 1, umad) || !umad_path("issm", ibdev, 1, issm)) {
		printf("Bail out! %s has no umad and issm\n", ibdev);
		return 1;
	}
	setlinebuf(stdout);
	printf("TAP version 13\n1..%u\n", count);
	for (unsigned int i = 0; i < count; i++) {
		bool good = passes(tests[i].run);

		printf("%sok %u - %s\n", good ? "" : "not ", i + 1, tests[i].name);
		failed += !good;
	}
	return failed > 0;
}
