// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ucma_bad_input [-n] DEVICE: requests to /dev/infiniband/rdma_cm that must be refused, each with
 * its errno and a reason in /proc/self/fdinfo; TAP on stdout.  -n: on Linux's rdma_ucm, which gives
 * no reasons, and differs where a row says so.
 */
#include <poll.h>
#include <sys/mman.h>

#include "ucma_bad_input.h"

#define PAGE	4096

static bool of_linux;
static unsigned int point, failed;

int fd, other;
uint32_t plain, bound, told;
uint8_t resp[1024];
volatile uint64_t nowhere = 16;
static uint8_t gid[16];
/* The page behind this one is not mapped. */
static uint8_t *last_page;

/* ---- running it ---- */

/* The last reason of the file, and how many there were. */
static long last_reason(int of, char *last, size_t size)
{
	char path[64], line[512];
	long number, count = 0;
	FILE *in;

	*last = 0;
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", of);
	in = fopen(path, "r");
	while (in && fgets(line, sizeof(line), in)) {
		if (sscanf(line, "rdma-reject: %ld", &number) != 1)
			continue;
		count = number + 1;
		snprintf(last, size, "%s", line);
	}
	if (in)
		fclose(in);
	return count;
}

void row(const char *name, int of, int (*run)(int of), int err, int linux_err, const char *reason)
{
	int want = of_linux && linux_err != SAME ? linux_err : err, got;
	char last[512] = "";
	long before, after;
	bool good;

	before = last_reason(of, last, sizeof(last));
	got = run(of);
	after = last_reason(of, last, sizeof(last));
	good = got == want;
	if (!of_linux && reason)
		good = good && after > before && strstr(last, reason);
	printf("%sok %u - %s\n", good ? "" : "not ", ++point, name);
	if (!good)
		printf("# errno %d (%s), expected %d (%s), '%s'; the last of %ld reasons: %s\n",
		       got, strerror(got), want, strerror(want), reason ?: "", after - before,
		       last);
	failed += !good;
}

/* ---- every command ---- */

#define NO_ID	0xffff

struct command {
	const char *name;
	uint16_t cmd;
	uint16_t in;
	uint16_t out;		/* room that it needs */
	uint16_t id_at;
	bool device;		/* the id must have one */
};

#define CMD(_name, _type, _out, _id_at, _device) \
	{ #_name, RDMA_USER_CM_CMD_##_name, sizeof(struct rdma_ucm_##_type), _out, _id_at, _device }

static const struct command commands[] = {
	CMD(CREATE_ID, create_id, 4, NO_ID, false),
	CMD(DESTROY_ID, destroy_id, 4, 8, false),
	CMD(BIND_IP, bind_ip, 0, 36, false),
	CMD(RESOLVE_IP, resolve_ip, 0, 56, false),
	CMD(RESOLVE_ROUTE, resolve_route, 0, 0, true),
	CMD(QUERY_ROUTE, query, 200, 8, false),
	CMD(CONNECT, connect, 0, 272, true),
	CMD(LISTEN, listen, 0, 0, false),
	CMD(ACCEPT, accept, 0, 280, true),
	CMD(REJECT, reject, 0, 0, true),
	CMD(DISCONNECT, disconnect, 0, 0, true),
	CMD(INIT_QP_ATTR, init_qp_attr, 144, 8, true),
	CMD(GET_EVENT, get_event, 324, NO_ID, false),
	CMD(SET_OPTION, set_option, 0, 8, false),
	CMD(NOTIFY, notify, 0, 0, true),
	CMD(JOIN_IP_MCAST, join_ip_mcast, 4, 44, true),
	CMD(LEAVE_MCAST, destroy_id, 4, 8, false),
	CMD(MIGRATE_ID, migrate_id, 0, NO_ID, false),
	CMD(QUERY, query, 0, 8, false),
	CMD(BIND, bind, 0, 0, false),
	CMD(RESOLVE_ADDR, resolve_addr, 0, 0, false),
	CMD(JOIN_MCAST, join_mcast, 4, 16, true),
};

static const struct command *c;
static uint8_t req[512];

/* A request whose values are valid, except for the id. */
static void fill(uint32_t id)
{
	struct rdma_ucm_set_option option = { .optval = (uintptr_t)req, .optlen = 1 };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	uint64_t response = RESP;
	uint16_t size = sizeof(in6);

	memset(req, 0, sizeof(req));
	switch (c->cmd) {
	case RDMA_USER_CM_CMD_BIND_IP:
		memcpy(req + offsetof(struct rdma_ucm_bind_ip, addr), &in6, size);
		break;
	case RDMA_USER_CM_CMD_RESOLVE_IP:
		memcpy(req + offsetof(struct rdma_ucm_resolve_ip, dst_addr), &in6, size);
		break;
	case RDMA_USER_CM_CMD_CONNECT:
		((struct rdma_ucm_connect *)req)->conn_param.valid = 1;
		break;
	case RDMA_USER_CM_CMD_BIND:
		memcpy(req + offsetof(struct rdma_ucm_bind, addr), &in6, size);
		memcpy(req + offsetof(struct rdma_ucm_bind, addr_size), &size, 2);
		break;
	case RDMA_USER_CM_CMD_RESOLVE_ADDR:
		memcpy(req + offsetof(struct rdma_ucm_resolve_addr, dst_addr), &in6, size);
		memcpy(req + offsetof(struct rdma_ucm_resolve_addr, dst_size), &size, 2);
		break;
	case RDMA_USER_CM_CMD_JOIN_MCAST:
		memcpy(req + offsetof(struct rdma_ucm_join_mcast, addr), &in6, size);
		memcpy(req + offsetof(struct rdma_ucm_join_mcast, addr_size), &size, 2);
		break;
	case RDMA_USER_CM_CMD_JOIN_IP_MCAST:
		memcpy(req + offsetof(struct rdma_ucm_join_ip_mcast, addr), &in6, size);
		break;
	case RDMA_USER_CM_CMD_SET_OPTION:
		memcpy(req, &option, sizeof(option));
		break;
	}
	if (c->out || c->cmd == RDMA_USER_CM_CMD_QUERY)
		memcpy(req + (c->cmd == RDMA_USER_CM_CMD_CREATE_ID ? 8 : 0), &response, 8);
	if (c->id_at != NO_ID)
		memcpy(req + c->id_at, &id, 4);
}

static int too_short(int of)
{
	fill(bound);
	/* One byte less than even the oldest programs give */
	return ucma_ask(of, c->cmd, req,
			c->in - (c->id_at == 272 || c->id_at == 280 ? 9 : 1), 1024);
}

static int no_room(int of)
{
	fill(bound);
	return ucma_ask(of, c->cmd, req, c->in, c->out - 1);
}

static int nonzero_tail(int of)
{
	fill(bound);
	req[c->in + 3] = 1;
	return ucma_ask(of, c->cmd, req, c->in + 4, 1024);
}

static int header_lies(int of)
{
	fill(bound);
	return ucma_write(of, c->cmd, req, c->in, 1024,
			  sizeof(struct rdma_ucm_cmd_hdr) + c->in - 1);
}

/* The header is at the end of mapped memory. */
static int unreadable(int of)
{
	struct rdma_ucm_cmd_hdr hdr = { .cmd = c->cmd, .in = c->in, .out = 1024 };
	uint8_t *at = last_page + PAGE - sizeof(hdr);

	memcpy(at, &hdr, sizeof(hdr));
	return write(of, at, sizeof(hdr) + c->in) < 0 ? errno : 0;
}

static int no_such_id(int of)
{
	fill(0xfffffff);
	return ucma_ask(of, c->cmd, req, c->in, 1024);
}

static int id_of_other_file(int of)
{
	fill(bound);
	return ucma_ask(of, c->cmd, req, c->in, 1024);
}

static int id_without_device(int of)
{
	fill(plain);
	return ucma_ask(of, c->cmd, req, c->in, 1024);
}

static void one(const char *what, int of, int (*run)(int of), int err, int linux_err,
		const char *reason)
{
	char name[64];

	snprintf(name, sizeof(name), "%s: %s", c->name, what);
	row(name, of, run, err, linux_err, reason);
}

static void every_command(void)
{
	for (c = commands; c < commands + sizeof(commands) / sizeof(*commands); c++) {
		/*
		 * Linux checks no length but those of CONNECT and ACCEPT, and ignores bytes at the
		 * end
		 */
		if (!of_linux || c->in > 280)
			one("too short", fd, too_short, EINVAL, SAME, "bytes <");
		if (!of_linux)
			one("nonzero tail", fd, nonzero_tail, EOPNOTSUPP, SAME, "unknown bytes");
		one("less than the header says", fd, header_lies, EINVAL, SAME, "were written");
		one("not readable", fd, unreadable, EFAULT, SAME, "cannot be read");
		if (c->out)
			one("no room", fd, no_room, ENOSPC, SAME, "room for");
		if (c->id_at == NO_ID)
			continue;
		one("no such id", fd, no_such_id, ENOENT, SAME, "there is no");
		if (c->cmd == RDMA_USER_CM_CMD_LEAVE_MCAST)
			continue;
		one("id of another file", other, id_of_other_file, EINVAL, SAME, "another file");
		if (c->device)
			one("id without device", fd, id_without_device, EINVAL, SAME, "no device");
	}
}

/* ---- setting up ---- */

static bool read_gid(const char *device)
{
	unsigned int half[8];
	char path[128];
	bool good;
	FILE *in;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/gids/0", device);
	in = fopen(path, "r");
	good = in && fscanf(in, "%4x:%4x:%4x:%4x:%4x:%4x:%4x:%4x", &half[0], &half[1], &half[2],
			    &half[3], &half[4], &half[5], &half[6], &half[7]) == 8;
	if (in)
		fclose(in);
	for (int i = 0; good && i < 8; i++) {
		gid[2 * i] = half[i] >> 8;
		gid[2 * i + 1] = half[i];
	}
	return good;
}

static struct raw_sockaddr_ib ib_addr(uint16_t port)
{
	struct raw_sockaddr_ib ib = { .family = RAW_AF_IB, .pkey = 0xffff,
				      .sid = htobe64(port), .sid_mask = htobe64(0xffff) };

	memcpy(ib.gid, gid, sizeof(gid));
	return ib;
}

static int make_bound(void)
{
	struct rdma_ucm_bind r = { .addr_size = sizeof(struct raw_sockaddr_ib) };
	struct raw_sockaddr_ib ib = ib_addr(0);
	int ret = create(fd, RDMA_PS_TCP, RESP, &bound);

	r.id = bound;
	memcpy(&r.addr, &ib, sizeof(ib));
	return ret ?: UCMA(fd, BIND, r, 0);
}

/* An id with an event: its own address is resolved. */
static int make_told(void)
{
	struct rdma_ucm_resolve_addr r = { .dst_size = sizeof(struct raw_sockaddr_ib),
					   .timeout_ms = 1000 };
	struct pollfd readable = { .fd = fd, .events = POLLIN };
	struct raw_sockaddr_ib ib = ib_addr(7471);
	int ret = create(fd, RDMA_PS_TCP, RESP, &told);

	r.id = told;
	memcpy(&r.dst_addr, &ib, sizeof(ib));
	ret = ret ?: UCMA(fd, RESOLVE_ADDR, r, 0);
	return ret ?: poll(&readable, 1, 20000) == 1 ? 0 : ETIME;
}

int main(int argc, char **argv)
{
	of_linux = argc > 2 && !strcmp(argv[1], "-n");
	fd = ucma_open();
	other = ucma_open();
	last_page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);
	if (argc < 2 || fd < 0 || other < 0 || last_page == MAP_FAILED ||
	    munmap(last_page + PAGE, PAGE) || !read_gid(argv[argc - 1]) ||
	    create(fd, RDMA_PS_TCP, RESP, &plain) || make_bound()) {
		printf("Bail out! %s cannot be used: %s\n", argv[argc - 1], strerror(errno));
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("TAP version 13\n");
	every_command();
	bad_values();
	if (make_told()) {
		printf("Bail out! the own address cannot be resolved: %s\n", strerror(errno));
		return 1;
	}
	bad_events();
	printf("1..%u\n", point);
	return failed > 0;
}
