// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vhcactl: the command lines that it refuses, and its output for answers of vhcad.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cm.h"
#include "tests/tprog.h"

static int setup(void **state)
{
	*state = tprog_place("control");
	return 0;
}

static int teardown(void **state)
{
	struct tprog_place *p = *state;

	tprog_dir_end(p->dir, p->path, NULL);
	free(p);
	return 0;
}

/* Answers each line with the next line of text; ends when there is none, or no more lines come. */
static void answer_lines(int conn, const char *text)
{
	char c;

	for (;;) {
		const char *end = strchr(text, '\n');

		do {
			if (read(conn, &c, 1) != 1)
				return;
		} while (c != '\n');
		if (!end || write(conn, text, end + 1 - text) < 0)
			return;
		text = end + 1;
	}
}

/* A process in place of vhcad, which answers with this. */
static pid_t impostor(const char *path, const char *answer)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	pid_t pid;

	strcpy(sa.sun_path, path);
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(listen(fd, 1), 0);
	pid = fork();
	if (!pid) {
		int conn;

		alarm(120);	/* the client may end before it connects */
		conn = accept(fd, NULL, NULL);
		answer_lines(conn, answer);
		close(conn);
		_exit(0);
	}
	close(fd);
	return pid;
}

static void answered_to(struct tprog_place *p, const char *command, const char *answer, int status,
			const char *says)
{
	char *args[] = { "vhcactl", "--control", p->path, NULL, NULL, NULL, NULL };
	char words[64], *rest = words;
	pid_t pid = impostor(p->path, answer);
	char out[8192];
	int rc, end;

	snprintf(words, sizeof(words), "%s", command);
	for (u32 i = 3; rest; i++)
		args[i] = strsep(&rest, " ");
	rc = tprog_run(tprog_path("VHCACTL"), args, 0, out, sizeof(out));
	assert_int_equal(waitpid(pid, &end, 0), pid);
	assert_int_equal(end, 0);
	unlink(p->path);
	if (rc != status || !strstr(out, says))
		fail_msg("%s: expected %d and '%s', came %d and '%s'", answer, status, says, rc,
			 out);
}

static void answered(struct tprog_place *p, const char *answer, int status, const char *says)
{
	answered_to(p, "status", answer, status, says);
}

#define QP(n)	"{\"qpn\":" #n ",\"type\":\"RC\",\"state\":\"RTS\",\"port\":1,"		\
		"\"dlid\":5,\"dest_qpn\":258,\"sq_blocks\":7,\"sq_requests\":3,"		\
		"\"rq_left\":16,\"tx_msgs\":1000,\"rx_msgs\":2,\"errors\":1}"
#define QP_LINE	"  RC    RTS       1  lid 5 qp 0x000102             3+7         16          1000" \
		"             2       1\n"
#define COUNTED	"{\"ok\":true,\"hcas\":[{\"name\":\"a\",\"ports\":[{\"port\":1,"		\
		"\"tx_packets\":3,\"rx_no_qp\":0,\"timeouts\":4}]}]}\n"
#define QPS	"{\"ok\":true,\"list\":\"qps\",\"qps\":["

/* Lists come in pages and are read as one. */
static void lists(void **state)
{
	struct tprog_place *p = *state;

	answered_to(p, "qps hca0", QPS QP(2) "]}\n", 0, "    0x000002" QP_LINE);
	answered_to(p, "qps hca0", QPS QP(2) "],\"next\":5}\n" QPS QP(16711683) "]}\n", 0,
		    "    0x000002" QP_LINE "    0xff0003" QP_LINE);
	answered_to(p, "qps hca0 --json", QPS "],\"next\":5}\n" QPS QP(3) "]}\n", 0,
		    QPS "],\"next\":5}\n" QPS "{\"qpn\":3");
	answered_to(p, "qps hca0", QPS "],\"next\":5}\n{\"ok\":false,\"error\":\"gone\"}\n", 1,
		    "vhcactl: gone");
	answered_to(p, "qps hca0", QPS "],\"next\":5}\n", 2, "vhcad did not answer");
	answered_to(p, "cqs hca0", "{\"ok\":true,\"list\":\"cqs\",\"cqs\":[{\"cqn\":4,\"eqn\":1,"
		    "\"size\":64,\"filled\":9,\"qps\":2,\"error\":true}]}\n", 0,
		    "           4     1        64         9      2  in error\n");
	answered_to(p, "srqs hca0", "{\"ok\":true,\"list\":\"srqs\",\"srqs\":[{\"srqn\":4,"
		    "\"size\":64,\"left\":9,\"limit\":2,\"qps\":3}]}\n", 0,
		    "           4        64         9         2      3\n");
	answered_to(p, "groups hca0", "{\"ok\":true,\"list\":\"groups\",\"groups\":[{\"mgid\":"
		    "\"ff12::1\",\"mlid\":49153,\"attached\":3,\"qpns\":[2,3]}]}\n", 0,
		    "    ff12::1                                  0xc001         3"
		    "  0x000002 0x000003 ...\n");
	answered_to(p, "keys hca0", "{\"ok\":true,\"list\":\"keys\",\"keys\":["
		    "{\"key\":346,\"type\":\"fast-sg\",\"pdn\":3,\"addr\":4096,"
		    "\"length\":77,\"access\":\"lrwab\",\"windows\":2},"
		    "{\"key\":513,\"type\":\"mw1\",\"pdn\":0,\"addr\":0,\"length\":5,"
		    "\"access\":\"\",\"region\":346},"
		    "{\"key\":513,\"type\":\"mw2\",\"pdn\":0,\"addr\":0,\"length\":5,"
		    "\"access\":\"w\",\"region\":346,\"qpn\":2}]}\n", 0,
		    "    0x0000015a  fast-sg        3  0x0000000000001000  0x4d"
		    "                lrwab    2 windows\n"
		    "    0x00000201  mw1            0  0x0000000000000000  0x5"
		    "                          of 0x0000015a\n"
		    "    0x00000201  mw2            0  0x0000000000000000  0x5"
		    "                 w        of 0x0000015a, qp 0x000002\n");
	answered_to(p, "qps hca0", QPS "{\"srqn\":7}]}\n", 0, "0+0      srq 7             0");
	/* everything at once: status, then each list of each adapter */
	answered_to(p, "status -v", "{\"ok\":true,\"hcas\":[{\"name\":\"a\"}]}\n"
		    QPS QP(2) "]}\n{\"ok\":true,\"list\":\"cqs\"}\n"
		    "{\"ok\":true,\"list\":\"srqs\"}\n"
		    "{\"ok\":true,\"list\":\"groups\"}\n"
		    "{\"ok\":true,\"list\":\"keys\"}\n", 0, "a keys\n");
	answered_to(p, "status -v", "{\"ok\":true,\"hcas\":[{\"name\":\"a\"}]}\n"
		    "{\"error\":\"no more\"}\n", 1, "vhcactl: no more");
	/* and the same for each page of the adapters */
	answered_to(p, "status -v", "{\"ok\":true,\"hcas\":[{\"name\":\"a\"}],\"next\":1}\n"
		    QPS QP(2) "]}\n{\"ok\":true}\n{\"ok\":true}\n{\"ok\":true}\n{\"ok\":true}\n"
		    "{\"ok\":true,\"hcas\":[{\"name\":\"b\"}]}\n"
		    QPS "]}\n{\"ok\":true}\n{\"ok\":true}\n{\"ok\":true}\n{\"ok\":true}\n",
		    0, "b keys\n");
	answered_to(p, "counters", "{\"ok\":true,\"hcas\":[],\"next\":1}\n" COUNTED, 0,
		    "drops 0\n    timeouts 4\n");
	/* counters that are not zero are printed, and all if that is wanted */
	answered_to(p, "counters", COUNTED, 0, "drops 0\n    timeouts 4\n");
	answered_to(p, "counters -v", COUNTED, 0, "drops 0\n    rx_no_qp 0  timeouts 4\n");
}

#define PORTS(n) "{\"ok\":true,\"hcas\":[{\"name\":\"a\",\"ports\":[{\"port\":1," \
		 "\"rx_packets\":" #n "}]}]}\n"

/* Rates are differences; a new QP has done everything since the last sample. */
#define WORK(turns)	"{\"ok\":true,\"hcas\":[{\"name\":\"a\",\"turns\":" #turns \
	",\"worked_ns\":5,\"owed_ns\":0,\"qps\":2,\"timers\":1,\"thread\":0," \
	"\"why\":\"has its turn\"}]," \
	"\"engine\":{\"threads\":1,\"awake\":0,\"sleeps\":1,\"wakes\":2,\"helped\":3," \
	"\"why\":\"sleep: nothing to do\"}}\n"

/* With several threads each adapter is on one. */
#define OF_TWO	"{\"ok\":true,\"hcas\":[{\"name\":\"a\",\"thread\":1," \
	"\"why\":\"waits for its turn\"}],\"engine\":{\"threads\":2,\"awake\":1," \
	"\"why\":\"works\"}}\n"

#define SENT(n)	"{\"qpn\":2,\"type\":\"UD\",\"state\":\"RTS\",\"port\":1,\"tx_msgs\":" #n "}"

static void live_view(void **state)
{
	struct tprog_place *p = *state;

	answered_to(p, "top --once", "{\"ok\":false,\"error\":\"no\"}\n", 1, "vhcactl: no");
	answered_to(p, "top --once", WORK(0) "{\"ok\":false,\"error\":\"no\"}\n", 1,
		    "vhcactl: no");
	answered_to(p, "top --once", WORK(0) PORTS(1) "{\"ok\":false,\"error\":\"no\"}\n", 1,
		    "vhcactl: no");
	answered_to(p, "top --once", WORK(0) PORTS(1) QPS "]}\n", 2, "vhcad did not answer");
	answered_to(p, "top --once", WORK(0) PORTS(5000000) QPS "]}\n" WORK(0) PORTS(5000000) QPS
		    QP(2) "]}\n", 0, "\na 0x000002               RC RTS ");
	answered_to(p, "status", "{\"ok\":true,\"hcas\":[{\"name\":\"a\",\"thread\":1}]}\n", 0,
		    "  driver none  thread 1\n");
	answered_to(p, "top --once", OF_TWO PORTS(1) QPS "]}\n" OF_TWO PORTS(1) QPS "]}\n", 0,
		    "1 of 2 threads awake");
	answered_to(p, "top --once", OF_TWO PORTS(1) QPS "]}\n" OF_TWO PORTS(1) QPS "]}\n", 0,
		    "         0       1 waits for its turn");
	answered_to(p, "top --once", WORK(0)
		    "{\"ok\":true,\"hcas\":[{\"name\":\"b\"}],\"next\":1}\n"
		    PORTS(1) QPS "]}\n" QPS "]}\n"
		    WORK(0) "{\"ok\":true,\"hcas\":[{\"name\":\"b\"}],\"next\":1}\n"
		    PORTS(1) QPS "]}\n" QPS QP(2) "]}\n", 0, "\na 0x000002               RC RTS ");
	answered_to(p, "top --once --json", WORK(3) PORTS(7) QPS QP(2) "]}\n" WORK(3) PORTS(7) QPS
		    QP(2) "]}\n", 0, "\"ports\":[{\"name\":\"a:1\",\"tx_packets\":0.0");
	answered_to(p, "top --once --json", WORK(3) PORTS(7) QPS QP(2) "]}\n" WORK(3) PORTS(7) QPS
		    QP(2) "]}\n", 0, "\"adapters\":[{\"name\":\"a\",\"busy\":0.0,\"turns\":0.0,"
		    "\"qps\":2,\"timers\":1,\"owed_ns\":0,\"thread\":0,\"why\":\"has its turn\"}]");
	answered_to(p, "top --once", WORK(3) PORTS(7) QPS QP(2) "]}\n" WORK(3) PORTS(7) QPS
		    QP(2) "]}\n", 0,
		    "RTS            0          0          0          0          0          0\n");
	answered_to(p, "top --once", WORK(3) PORTS(7) QPS QP(2) "]}\n" WORK(3) PORTS(7) QPS
		    QP(2) "]}\n", 0,
		    "a                             0.0          0          2          1  has its turn\n");
	answered_to(p, "top --once", WORK(3) PORTS(7) QPS QP(2) "]}\n" WORK(3) PORTS(7) QPS
		    QP(2) "]}\n", 0, "sleep: nothing to do\n");
	/* and so has a QP that has got the number of another */
	answered_to(p, "top --once --json", WORK(3) PORTS(7) QPS SENT(1000) "]}\n" WORK(3) PORTS(7)
		    QPS SENT(0) "]}\n", 0, "\"tx_msgs\":0.0");
}

static void control_program(void **state)
{
	struct tprog_place *p = *state;
	char far[128];

	unsetenv("VHCAD_CONTROL");
	tprog_refused("VHCACTL", (char *[]){ "vhcactl", "status", NULL },
		      "which vhcad? give --control");
	tprog_refused("VHCACTL", (char *[]){ "vhcactl", "--control", "", "status", NULL },
		      "which vhcad? give --control");
	tprog_refused("VHCACTL", (char *[]){ "vhcactl", "--control", NULL },
		      "unknown option '--control'");
	tprog_refused("VHCACTL", (char *[]){ "vhcactl", "--loud", "status", NULL },
		      "unknown option '--loud'");
	tprog_refused("VHCACTL", (char *[]){ "vhcactl", "status", "now", NULL }, "usage: vhcactl");
	tprog_refused("VHCACTL", (char *[]){ "vhcactl", "qps", NULL }, "usage: vhcactl");
	tprog_refused("VHCACTL", (char *[]){ "vhcactl", "top", "hca0", NULL }, "usage: vhcactl");
	tprog_refused("VHCACTL", (char *[]){ "vhcactl", "top", "--interval", "0", NULL },
		      "'0' is not a number of seconds, 1 to 3600");
	tprog_refused("VHCACTL", (char *[]){ "vhcactl", "top", "--interval", "1s", NULL },
		      "'1s' is not a number of seconds, 1 to 3600");
	tprog_refused("VHCACTL", (char *[]){ "vhcactl", ",", NULL }, "usage: vhcactl");
	tprog_refused("VHCACTL", (char *[]){ "vhcactl", "link", "a:b", "up", NULL },
		      "'b' is not a port number");
	tprog_refused("VHCACTL", (char *[]){ "vhcactl", "link", "a:", "up", NULL },
		      "'' is not a port number");
	memset(far, 'x', sizeof(far));
	far[108] = '\0';
	tprog_refused("VHCACTL", (char *[]){ "vhcactl", "--control", far, "status", NULL },
		      "a socket's path has at most 107 bytes");
	setenv("VHCAD_CONTROL", "/no/such/control", 1);
	tprog_refused("VHCACTL", (char *[]){ "vhcactl", "status", NULL },
		      "/no/such/control: No such file or directory");
	unsetenv("VHCAD_CONTROL");

	answered(p, "", 2, "vhcad did not answer");
	answered(p, "what?\n", 2, "vhcad's answer is not JSON");
	answered(p, "[]\n", 1, "vhcactl: ?");
	answered(p, "{\"ok\":false,\"error\":\"not today\"}\n", 1, "vhcactl: not today");
	answered(p, "{\"ok\":true}\n", 0, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(control_program, setup, teardown),
		cmocka_unit_test_setup_teardown(lists, setup, teardown),
		cmocka_unit_test_setup_teardown(live_view, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
