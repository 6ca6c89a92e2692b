// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * mad_policy DEVICE CONTEXT manage EXPECTED [wait]: in the security context CONTEXT, become an
 * agent for subnet management. With "wait", "ready" is printed, and the program exits with 0 when
 * the agent, which asks the port for its NodeInfo repeatedly, is not allowed to any more.
 *
 * mad_policy DEVICE CONTEXT send INDEX EXPECTED: send a MAD from QP1 with the P_Key of that index.
 *
 * mad_policy DEVICE CONTEXT receive INDEX EXPECTED: become an agent at QP1, to which the program,
 * in its original context, sends a request with the P_Key of that index, and then one with that of
 * index 0.
 *
 * EXPECTED is the expected result: "allowed" or "refused".
 */
#include "umad_raw.h"

static uint16_t lid;

static void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

static void become(const char *label)
{
	int fd = open("/proc/self/attr/current", O_WRONLY);

	if (fd < 0 || write(fd, label, strlen(label)) != (ssize_t)strlen(label))
		fail(label);
	close(fd);
}

static int open_umad(const char *device)
{
	char path[160];
	FILE *in;
	int fd;

	if (!umad_path("umad", device, 1, path))
		fail(device);
	fd = open(path, O_RDWR);
	if (fd < 0 || umad_ioctl(fd, IB_USER_MAD_ENABLE_PKEY, NULL))
		fail(path);
	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/lid", device);
	in = fopen(path, "r");
	if (!in || fscanf(in, "%hx", &lid) != 1)
		fail(path);
	fclose(in);
	return fd;
}

static struct ib_user_mad_reg_req2 vendor(void)
{
	struct ib_user_mad_reg_req2 req = {
		.qpn = 1, .mgmt_class = VENDOR_CLASS, .mgmt_class_version = 1, .oui = VENDOR_OUI,
	};

	return req;
}

/* A request of the vendor's class, which is not answered. */
static int send_vendor(int fd, int agent, unsigned int pkey_index, uint32_t tid)
{
	struct umad_msg msg;

	umad_begin(&msg, agent, VENDOR_CLASS, METHOD_GET, lid, tid);
	msg.hdr.pkey_index = pkey_index;
	msg.mad[37] = VENDOR_OUI >> 16;
	msg.mad[38] = VENDOR_OUI >> 8 & 0xff;
	msg.mad[39] = VENDOR_OUI & 0xff;
	return umad_put(fd, &msg, MAD_SIZE);
}

static int expect(const char *what, int err, bool allowed)
{
	if (err == (allowed ? 0 : EACCES))
		return 0;
	fprintf(stderr, "%s: %s\n", what, strerror(err));
	return 1;
}

static int manage(int fd, bool allowed, bool wait)
{
	const struct ib_user_mad_reg_req2 req = { .qpn = 0 };
	int agent = umad_agent(fd, req), err;
	struct umad_msg msg;

	if (!wait)
		return expect("an agent of QP0", agent < 0 ? -agent : 0, allowed);
	if (agent < 0)
		fail("an agent of QP0");
	/* ends the program if the policy never takes effect */
	alarm(120);
	puts("ready");
	fflush(stdout);
	for (uint32_t tid = 1;; tid++) {
		umad_node_info(&msg, agent, tid);
		/* Under the new policy no answer comes: do not wait long. */
		msg.hdr.timeout_ms = 500;
		err = umad_put(fd, &msg, MAD_SIZE);
		if (err)
			return expect("a request for NodeInfo", err, false);
		if (umad_get(fd, &msg, sizeof(msg)) < 0)
			fail("its answer");
	}
}

static int receive(int fd, const char *device, const char *context, unsigned int index,
		   bool allowed)
{
	struct ib_user_mad_reg_req2 req = vendor();
	int sender = umad_agent(fd, req), receiver, with;
	int own = open_umad(device);
	struct umad_msg msg;

	become(context);
	req.method_mask[0] = 1 << METHOD_GET;
	receiver = umad_agent(own, req);
	if (sender < 0 || receiver < 0)
		fail("agents of QP1");
	if (send_vendor(fd, sender, index, 1) || send_vendor(fd, sender, 0, 2))
		fail("the requests");
	if (umad_get(own, &msg, sizeof(msg)) < 0)
		fail("neither arrives");
	with = umad_tid_low(msg.mad) == 1;
	if (with == allowed)
		return 0;
	fprintf(stderr, "the first has %sarrived\n", with ? "" : "not ");
	return 1;
}

int main(int argc, char **argv)
{
	bool allowed;
	int fd;

	if (argc < 5)
		return 2;
	fd = open_umad(argv[1]);
	if (!strcmp(argv[3], "manage")) {
		become(argv[2]);
		return manage(fd, !strcmp(argv[4], "allowed"), argc > 5);
	}
	if (argc < 6)
		return 2;
	allowed = !strcmp(argv[5], "allowed");
	if (!strcmp(argv[3], "receive"))
		return receive(fd, argv[1], argv[2], atoi(argv[4]), allowed);
	become(argv[2]);
	return expect("the MAD", send_vendor(fd, umad_agent(fd, vendor()), atoi(argv[4]), 1),
		      allowed);
}
