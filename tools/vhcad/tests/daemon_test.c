// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The daemon as a whole: command line, start and stop, control socket, a
 * guest that connects and disconnects, and the cost of idling.
 *
 * VHCAD names the program under test, VHCAD_FAST the one without sanitizers,
 * VHCACTL the control program.
 */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "drivers/infiniband/hw/vhca/defs/vhca_hw.h"
#include "tests/cm.h"
#include "tests/testmem.h"
#include "tests/tprog.h"
#include "tests/vuclient.h"

struct run {
	char dir[TPROG_DIR];
	char sock[2][TPROG_PATH];
	char ctl[TPROG_PATH];
	char log[TPROG_PATH];
	pid_t pid;
};

static int setup(void **state)
{
	struct run *r = calloc(1, sizeof(*r));

	tprog_dir(r->dir);
	tprog_in(r->dir, "hca0", r->sock[0]);
	tprog_in(r->dir, "hca1", r->sock[1]);
	tprog_in(r->dir, "control", r->ctl);
	tprog_in(r->dir, "log", r->log);
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct run *r = *state;

	tprog_abandon(r->pid);
	tprog_dir_end(r->dir, r->log, r->sock[0], r->sock[1], r->ctl, NULL);
	free(r);
	return 0;
}

/* Starts the daemon with two adapters and returns when it reports that it is ready. */
static void start(struct run *r, const char *path)
{
	char *args[] = { "vhcad", "--hca", r->sock[0], "--hca", r->sock[1], "--control", r->ctl,
			 "--log", r->log, NULL };

	r->pid = tprog_start(path, args);
}

static void stop(struct run *r, int sig)
{
	pid_t pid = r->pid;

	r->pid = 0;
	tprog_stop(pid, sig);
	assert_int_equal(access(r->sock[0], F_OK), -1);
	assert_int_equal(access(r->sock[1], F_OK), -1);
	assert_int_equal(access(r->ctl, F_OK), -1);
}

static void bad_command_lines(void **state)
{
	static const struct {
		const char *args[6];
		const char *says;
	} cases[] = {
		{ { NULL }, "no adapter" },
		{ { "--frobnicate" }, "unknown option '--frobnicate'" },
		{ { "--hca" }, "--hca needs a value" },
		{ { "--hca", "x,color=red" }, "unknown property 'color=red'" },
		{ { "--hca", "x,name=a/b" }, "a name is" },
		{ { "--hca", "x,guid=xyz" }, "not a hexadecimal number" },
		{ { "--hca", "x,ports=3" }, "not a number between 1 and 2" },
		{ { "--hca", "x,vectors=0" }, "not a number between 1 and 64" },
		{ { "--hca", ",name=a" }, "names no socket" },
		{ { "--hca", "x", "--hca", "x" }, "two adapters on socket x" },
		{ { "--hca", "x,name=a", "--hca", "y,name=a" }, "two adapters are named a" },
		{ { "--hca", "x,guid=10", "--hca", "y,guid=11" }, "overlap" },
		{ { "--hca", "x", "--subnet", "mars" }, "--subnet: unknown value 'mars'" },
		{ { "--hca", "x", "--link", "mars" }, "--link: unknown value 'mars'" },
		{ { "--hca", "x", "--pci-id", "1af4" }, "--pci-id" },
		{ { "--hca", "x", "--device-version", "1" }, "--device-version" },
		{ { "--hca", "x", "--mtu", "1500" }, "--mtu: unknown value '1500'" },
		{ { "--hca", "x", "--spin", "-1" }, "--spin" },
		{ { "--hca", "x", "extra" }, "unexpected argument 'extra'" },
		{ { "--hca", "/no/such/dir/x" }, "No such file or directory" },
		{ { "--hca", "/tmp" }, "a file that is not a socket is there" },
		{ { "--hca", "x", "--capture", "/no/such/dir/x" }, "--capture" },
		{ { "--hca", "x", "--log", "/no/such/dir/x" }, "--log" },
		{ { "--hca", "x", "--control", "/tmp" }, "--control" },
	};
	struct run *r = *state;
	char out[8192];

	/* the sockets named here are relative */
	assert_int_equal(chdir(r->dir), 0);
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		char *args[8] = { "vhcad" };

		for (u32 k = 0; k < 6 && cases[i].args[k]; k++)
			args[k + 1] = (char *)cases[i].args[k];
		assert_int_equal(tprog_run(tprog_path("VHCAD"), args, 0, out, sizeof(out)), 2);
		if (!strstr(out, cases[i].says))
			fail_msg("case %u: expected '%s', came '%s'", i, cases[i].says, out);
		/* one line, whatever it is */
		assert_ptr_equal(strchr(out, '\n'), out + strlen(out) - 1);
		assert_int_equal(access("x", F_OK), -1);
	}
	assert_int_equal(chdir("/"), 0);
}

static void sockets_in_use_and_left_over(void **state)
{
	struct run *r = *state;
	char *args[] = { "vhcad", "--hca", r->sock[0], NULL };
	char out[4096];
	struct stat st;

	start(r, tprog_path("VHCAD"));
	assert_int_equal(stat(r->sock[0], &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(stat(r->ctl, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(tprog_run(tprog_path("VHCAD"), args, 0, out, sizeof(out)), 2);
	assert_non_null(strstr(out, "somebody listens there already"));
	/* killed, it leaves its sockets, which the next one replaces */
	kill(r->pid, SIGKILL);
	waitpid(r->pid, NULL, 0);
	assert_int_equal(access(r->sock[0], F_OK), 0);
	start(r, tprog_path("VHCAD"));
	stop(r, SIGTERM);
}

static void stops_with_a_guest_attached(void **state)
{
	struct run *r = *state;
	char byte;
	int fd;

	start(r, tprog_path("VHCAD"));
	fd = tprog_attach(r->sock[0]);
	vuc_greet(fd);
	stop(r, SIGINT);
	assert_true(recv(fd, &byte, 1, 0) <= 0);
	close(fd);
}

static struct json_object *control(struct run *r, const char *line)
{
	struct json_object *answer;
	char text[8192];
	size_t used = 0;
	int fd = tprog_attach(r->ctl);

	assert_int_equal(send(fd, line, strlen(line), MSG_NOSIGNAL), strlen(line));
	do {
		ssize_t n = recv(fd, text + used, sizeof(text) - 1 - used, 0);

		assert_true(n > 0);
		used += n;
	} while (text[used - 1] != '\n');
	text[used] = '\0';
	close(fd);
	answer = json_tokener_parse(text);
	assert_non_null(answer);
	return answer;
}

static void refused_by_control(struct run *r, const char *line, const char *says)
{
	struct json_object *a = control(r, line), *v;

	assert_true(json_object_object_get_ex(a, "ok", &v));
	assert_false(json_object_get_boolean(v));
	assert_true(json_object_object_get_ex(a, "error", &v));
	if (!strstr(json_object_get_string(v), says))
		fail_msg("%s: expected '%s', came '%s'", line, says, json_object_get_string(v));
	json_object_put(a);
}

static void control_socket(void **state)
{
	struct run *r = *state;
	struct json_object *a, *hcas, *v;
	char big[2000];
	int fd;

	start(r, tprog_path("VHCAD"));
	a = control(r, "{\"command\":\"status\"}\n");
	assert_true(json_object_object_get_ex(a, "hcas", &hcas));
	assert_int_equal(json_object_array_length(hcas), 2);
	assert_true(json_object_object_get_ex(json_object_array_get_idx(hcas, 1), "name", &v));
	assert_string_equal(json_object_get_string(v), "hca1");
	assert_true(json_object_object_get_ex(json_object_array_get_idx(hcas, 1), "guest", &v));
	assert_false(json_object_get_boolean(v));
	json_object_put(a);

	refused_by_control(r, "hello\n", "not a JSON object");
	refused_by_control(r, "[]\n", "not a JSON object");
	refused_by_control(r, "{}\n", "command");
	refused_by_control(r, "{\"command\":\"dance\"}\n", "no such command: dance");
	refused_by_control(r, "{\"command\":\"link\"}\n", "hca");
	refused_by_control(r, "{\"command\":\"link\",\"hca\":\"hca7\",\"up\":true}\n",
			   "no such adapter: hca7");
	refused_by_control(r, "{\"command\":\"link\",\"hca\":\"hca0\",\"up\":1}\n", "up");
	refused_by_control(r, "{\"command\":\"link\",\"hca\":\"hca0\",\"up\":true,\"port\":2}\n",
			   "no such port");
	refused_by_control(r, "{\"command\":\"fault\",\"kind\":\"flood\",\"hca\":\"hca0\"}\n",
			   "no such fault: flood");

	/* a client that sends a line without an end is dropped, the others are served */
	memset(big, 'x', sizeof(big));
	fd = tprog_attach(r->ctl);
	assert_int_equal(send(fd, big, sizeof(big), MSG_NOSIGNAL), sizeof(big));
	assert_true(recv(fd, big, 1, 0) <= 0);
	close(fd);
	a = control(r, "{\"command\":\"counters\"}\n");
	assert_true(json_object_object_get_ex(a, "hcas", &hcas));
	json_object_put(a);
	stop(r, SIGTERM);
}

static void vhcactl(struct run *r, int status, const char *says, const char *a, const char *b,
		    const char *c)
{
	char *args[] = { "vhcactl", "--control", r->ctl, (char *)a, (char *)b, (char *)c, NULL };
	char out[8192];
	int rc;

	rc = tprog_run(tprog_path("VHCACTL"), args, 0, out, sizeof(out));
	if (rc != status || !strstr(out, says))
		fail_msg("vhcactl %s: expected %d and '%s', came %d and '%s'", a, status, says, rc,
			 out);
}

static void control_program(void **state)
{
	struct run *r = *state;

	vhcactl(r, 2, "No such file or directory", "status", NULL, NULL);
	start(r, tprog_path("VHCAD"));
	vhcactl(r, 0, "hca1  guid 0x0a56484341000200  guest none", "status", NULL, NULL);
	vhcactl(r, 0, "\"ok\":true", "status", "--json", NULL);
	vhcactl(r, 0, "hca0:1  tx 0 packets", "counters", NULL, NULL);
	vhcactl(r, 0, "\"tx_packets\":0", "counters", "--json", NULL);
	vhcactl(r, 0, "", "link", "hca1:1", "down");
	vhcactl(r, 0, "cable pulled", "status", NULL, NULL);
	vhcactl(r, 0, "", "link", "hca1", "up");
	vhcactl(r, 1, "no such adapter", "link", "hca9", "up");
	vhcactl(r, 2, "neither up nor down", "link", "hca1", "sideways");
	vhcactl(r, 0, "lid=2 sm_lid=49151 pkey0=0xffff gid0=fe80::a56:4843:4100:201\n", "port",
		"hca1", NULL);
	vhcactl(r, 0, "lid=9 sm_lid=49151", "port", "hca1:1", "lid=9");
	vhcactl(r, 1, "another port has this LID", "port", "hca0", "lid=9");
	vhcactl(r, 1, "no such port of: hca0", "port", "hca0:2", NULL);
	vhcactl(r, 2, "'lid' is not KEY=VALUE", "port", "hca0", "lid");
	vhcactl(r, 0, "hca1 cqs\n", "status", "-v", NULL);
	vhcactl(r, 0, "timeouts 0", "counters", "-v", NULL);
	vhcactl(r, 0, "\nhca1:1 ", "top", "--once", NULL);
	vhcactl(r, 0, "  sleep: nothing to do\n", "top", "--once", NULL);
	vhcactl(r, 1, "no such adapter: hca7", "qps", "hca7", NULL);
	vhcactl(r, 1, "no driver runs", "fault", "fatal", "hca0");
	vhcactl(r, 2, "usage:", "nonsense", NULL, NULL);
	stop(r, SIGTERM);
}

/* vhcactl top on a terminal of its own; *tty is our end. */
static pid_t top_on_terminal(struct run *r, int *tty)
{
	pid_t pid;

	*tty = posix_openpt(O_RDWR | O_NOCTTY);
	assert_true(*tty >= 0);
	assert_int_equal(grantpt(*tty), 0);
	assert_int_equal(unlockpt(*tty), 0);
	pid = fork();
	if (!pid) {
		int fd = open(ptsname(*tty), O_RDWR | O_NOCTTY);

		for (int i = 0; i < 3; i++)
			dup2(fd, i);
		execl(tprog_path("VHCACTL"), "vhcactl", "--control", r->ctl, "top", NULL);
		_exit(127);
	}
	return pid;
}

/* Reads until the text has come @times times. */
static void await(int fd, const char *text, u32 times)
{
	char all[16384];
	size_t n = 0;
	ssize_t got;

	while (times) {
		got = read(fd, all + n, sizeof(all) - 1 - n);
		assert_true(got > 0);
		n += got;
		all[n] = '\0';
		for (char *hit; times && (hit = strstr(all, text)); times--) {
			n -= hit + strlen(text) - all;
			memmove(all, hit + strlen(text), n + 1);
		}
	}
}

static tcflag_t modes(int tty)
{
	struct termios t;

	assert_int_equal(tcgetattr(tty, &t), 0);
	return t.c_lflag & (ICANON | ECHO);
}

/* It repaints the screen until q is pressed, a signal comes, or the daemon ends. */
static void live_view(void **state)
{
	struct run *r = *state;
	int tty, status;
	pid_t pid;

	start(r, tprog_path("VHCAD"));
	for (u32 i = 0; i < 3; i++) {
		pid = top_on_terminal(r, &tty);
		await(tty, "\033[H\033[J", 2);
		assert_int_equal(modes(tty), 0);
		if (i == 0)
			assert_int_equal(write(tty, "xq", 2), 2);
		else if (i == 1)
			kill(pid, SIGINT);
		else
			stop(r, SIGTERM);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), i == 2 ? 2 : 0);
		assert_int_equal(modes(tty), ICANON | ECHO);
		close(tty);
	}
}

static u32 reg(int fd, u32 off)
{
	struct vu_region_io io = { .offset = off, .count = 4 };
	struct { struct vu_region_io io; u32 val; } answer;

	assert_int_equal(vuc_call(fd, VU_REGION_READ, &io, sizeof(io), NULL, 0, &answer,
				  sizeof(answer), NULL), 0);
	return answer.val;
}

/* The real device behind a socket, and a client that breaks the rules. */
static void device_answers(void **state)
{
	struct run *r = *state;
	char line[512], *found = NULL;
	u32 junk[4] = { 0, 3 };
	FILE *log;
	int fd;

	start(r, tprog_path("VHCAD"));
	fd = tprog_attach(r->sock[1]);
	vuc_greet(fd);
	assert_int_equal(reg(fd, VHCA_REG_MAGIC), VHCA_MAGIC);
	assert_int_equal(reg(fd, VHCA_REG_VERSION), VHCA_VERSION_MAJOR << 16 | VHCA_VERSION_MINOR);
	assert_int_equal(reg(fd, VHCA_REG_KICK_STRIDE), SERVER_KICK_STRIDE);
	assert_int_equal(reg(fd, VHCA_REG_STATUS), 0);
	assert_int_equal(send(fd, junk, sizeof(junk), MSG_NOSIGNAL), sizeof(junk));
	assert_int_equal(recv(fd, junk, sizeof(junk), MSG_WAITALL) > 0 ?
			 recv(fd, junk, 1, 0) : 0, 0);
	close(fd);
	fd = tprog_attach(r->sock[1]);
	vuc_greet(fd);
	assert_int_equal(reg(fd, VHCA_REG_MAGIC), VHCA_MAGIC);
	close(fd);
	stop(r, SIGTERM);
	log = fopen(r->log, "r");
	while (!found && fgets(line, sizeof(line), log))
		found = strstr(line, "hca1: disconnecting the guest: it sent ");
	fclose(log);
	assert_non_null(found);
}

static void write_region(int fd, u32 region, u64 off, u32 val)
{
	struct {
		struct vu_region_io io;
		u32 val;
	} __attribute__((packed)) m = {
		.io = { .offset = off, .region = region, .count = 4 }, .val = val,
	};

	assert_int_equal(vuc_call(fd, VU_REGION_WRITE, &m, sizeof(m), NULL, 0, NULL, 0, NULL), 0);
}

/* The beginning of a driver: memory, bus mastering, admin rings, enable. */
static void enable_device(int fd)
{
	const u64 base = 0x100000;
	struct vu_dma_map map = {
		.argsz = sizeof(map), .flags = 3, .address = base, .size = 0x10000,
	};
	int mem = testmem_fd(map.size);

	assert_int_equal(vuc_call(fd, VU_DMA_MAP, &map, sizeof(map), &mem, 1, NULL, 0, NULL), 0);
	close(mem);
	write_region(fd, VFIO_PCI_CONFIG_REGION_INDEX, PCI_COMMAND,
		     PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	write_region(fd, 0, VHCA_REG_ASQ_LO, base);
	write_region(fd, 0, VHCA_REG_ACQ_LO, base + 0x8000);
	write_region(fd, 0, VHCA_REG_ADMIN_SIZE, 4);
	write_region(fd, 0, VHCA_REG_ADMIN_VECTOR, VHCA_NO_VECTOR);
	write_region(fd, 0, VHCA_REG_CONTROL, VHCA_CONTROL_ENABLE);
	assert_int_equal(reg(fd, VHCA_REG_STATUS), VHCA_STATUS_READY);
}

static void injected_fault(void **state)
{
	struct run *r = *state;
	int fd;

	start(r, tprog_path("VHCAD"));
	fd = tprog_attach(r->sock[0]);
	vuc_greet(fd);
	enable_device(fd);
	vhcactl(r, 0, "guest attached  driver running\n", "status", NULL, NULL);
	vhcactl(r, 0, "", "fault", "fatal", "hca0");
	vhcactl(r, 0, "FATAL", "status", NULL, NULL);
	vhcactl(r, 1, "it has stopped already", "fault", "fatal", "hca0");
	assert_true(reg(fd, VHCA_REG_STATUS) & VHCA_STATUS_FATAL);
	assert_int_equal(reg(fd, VHCA_REG_FATAL_CODE), VHCA_FATAL_INJECTED);
	write_region(fd, 0, VHCA_REG_CONTROL, VHCA_CONTROL_RESET);
	assert_int_equal(reg(fd, VHCA_REG_STATUS), 0);
	close(fd);
	stop(r, SIGTERM);
}

/* Requests of vhcactl for faults, and those that are refused. */
static void armed_faults(void **state)
{
	static const struct {
		int status;
		const char *says;
		const char *args[8];
	} cases[] = {
		{ 0, "", { "fault", "command", "hca0", "opcode=CREATE_QP", "status=BUSY" } },
		{ 0, "fault command opcode=CREATE_QP status=BUSY answer=once delay=0 skip=0 count=1\n",
		  { "status" } },
		{ 1, "still armed: {\"kind\":\"command\"", { "fault", "spent", "hca0" } },
		{ 0, "", { "fault", "spent", "hca1" } },
		{ 0, "", { "fault", "clear", "0x0a56484341000100" } },
		{ 0, "", { "fault", "spent", "hca0" } },
		{ 0, "", { "fault", "command", "hca0", "answer=none", "count=3", "skip=2" } },
		{ 0, "", { "fault", "interrupt", "hca0", "vector=2" } },
		{ 0, "fault interrupt vector=2 skip=0 count=1\n", { "status" } },
		{ 0, "", { "fault", "reset", "hca0", "delay=100" } },
		{ 0, "fault reset delay=100 skip=0 count=1\n", { "status" } },
		{ 0, "", { "fault", "clear", "hca0" } },
		{ 1, "no such adapter", { "fault", "clear", "0x1" } },
		/* two commands; the second is not reached when the first fails */
		{ 0, "qps 0", { "fault", "clear", "hca0", ",", "objects", "hca0" } },
		{ 1, "no such adapter", { "objects", "hca9", ",", "fault", "fatal", "hca0" } },
		{ 1, "no driver runs", { "objects", "hca0", ",", "fault", "fatal", "hca0" } },
		{ 2, "usage:", { "objects", "hca0", "," } },
		{ 2, "usage:", { ",", "objects", "hca0" } },
		{ 1, "no such adapter", { "fault", "clear", "0x0a56484341000100x" } },
		{ 1, "no such fault: drizzle", { "fault", "drizzle", "hca0" } },
		{ 1, "no argument: colour", { "fault", "reset", "hca0", "colour=1" } },
		{ 1, "no argument: count", { "fault", "clear", "hca0", "count=1" } },
		{ 1, "this argument: opcode", { "fault", "command", "hca0", "opcode=DANCE" } },
		{ 1, "this argument: opcode", { "fault", "command", "hca0", "opcode=7" } },
		{ 1, "this argument: count", { "fault", "reset", "hca0", "count=-1" } },
		{ 1, "this argument: delay", { "fault", "reset", "hca0", "delay=soon" } },
		{ 1, "nothing that", { "fault", "reset", "hca0" } },
		{ 1, "nothing that", { "fault", "command", "hca0", "count=1" } },
		{ 1, "this argument: count, 1 to 1000000",
		  { "fault", "interrupt", "hca0", "count=0" } },
		{ 1, "no argument: port", { "fault", "interrupt", "hca0:1" } },
		{ 1, "no argument: port", { "fault", "clear", "hca0:1" } },
		{ 1, "nothing that", { "fault", "interrupt", "hca0", "vector=60" } },
		{ 2, "'delay' is not KEY=VALUE", { "fault", "reset", "hca0", "delay" } },
		{ 2, "is not KEY=VALUE", { "fault", "reset", "hca0", "delay=" } },
		{ 2, "given twice", { "fault", "reset", "hca0", "delay=1", "delay=2" } },
		{ 2, "given twice", { "fault", "reset", "hca0", "kind=fatal" } },
		{ 0, "uars 0  eqs 0  pds 0", { "objects", "hca0" } },
		{ 0, "qps 0", { "objects", "hca0", "qps=0", "cqs=0" } },
		{ 1, "other objects: cqs: 0, not 1", { "objects", "hca0", "qps=0", "cqs=1" } },
		{ 1, "no such kind of object: cats", { "objects", "hca0", "cats=0" } },
		{ 1, "not a number: cqs", { "objects", "hca0", "cqs=few" } },
		{ 1, "no such adapter", { "objects", "hca9" } },
		{ 0, "dma ranges 0\n    port 1", { "status" } },
	};
	struct run *r = *state;
	char out[8192];
	int rc;

	start(r, tprog_path("VHCAD"));
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		char *args[12] = { "vhcactl", "--control", r->ctl };

		for (u32 k = 0; k < 8 && cases[i].args[k]; k++)
			args[k + 3] = (char *)cases[i].args[k];
		rc = tprog_run(tprog_path("VHCACTL"), args, 0, out, sizeof(out));
		if (rc != cases[i].status || !strstr(out, cases[i].says))
			fail_msg("case %u: expected %d and '%s', came %d and '%s'", i,
				 cases[i].status, cases[i].says, rc, out);
	}
	for (u32 i = 0; i < 32; i++)
		vhcactl(r, 0, "", "fault", "interrupt", "hca1");
	vhcactl(r, 1, "too many faults are armed in: hca1", "fault", "interrupt", "hca1");
	stop(r, SIGTERM);
}

/*
 * A thread that wakes, for whatever reason, gives up the CPU once more to
 * sleep again: ten seconds without such a switch are ten seconds without any
 * activity.  Both adapters have a guest whose driver has enabled them.
 */
static void idle_costs_nothing(void **state)
{
	struct run *r = *state;
	unsigned long before;
	int fd[2];

	start(r, tprog_path("VHCAD_FAST"));
	for (u32 i = 0; i < 2; i++) {
		fd[i] = tprog_attach(r->sock[i]);
		vuc_greet(fd[i]);
		enable_device(fd[i]);
	}
	/* after the last answer */
	tprog_asleep(r->pid);
	before = tprog_switches(r->pid);
	nanosleep(&(struct timespec){ .tv_sec = 10 }, NULL);
	assert_int_equal(tprog_switches(r->pid), before);
	close(fd[0]);
	close(fd[1]);
	stop(r, SIGTERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(bad_command_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(sockets_in_use_and_left_over, setup, teardown),
		cmocka_unit_test_setup_teardown(stops_with_a_guest_attached, setup, teardown),
		cmocka_unit_test_setup_teardown(control_socket, setup, teardown),
		cmocka_unit_test_setup_teardown(control_program, setup, teardown),
		cmocka_unit_test_setup_teardown(live_view, setup, teardown),
		cmocka_unit_test_setup_teardown(device_answers, setup, teardown),
		cmocka_unit_test_setup_teardown(injected_fault, setup, teardown),
		cmocka_unit_test_setup_teardown(armed_faults, setup, teardown),
		cmocka_unit_test_setup_teardown(idle_costs_nothing, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
