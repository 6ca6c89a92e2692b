// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The control socket's own thread: clients that send too much, do not read,
 * or stay, and failing system calls.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "lib/log.h"
#include "lib/listen.h"
#include "server/server.h"
#include "tests/tfail.h"
#include "tests/tkey.h"
#include "tests/tprog.h"

#define STATUS	"{\"command\":\"status\"}\n"
#define CLIENTS	16u		/* served at a time */

struct fixture {
	struct tworld w;
	struct thca h;
	char dir[TPROG_DIR], path[TPROG_PATH], hca[TPROG_PATH];
	struct server *server;
	struct ctl_hca list[1];
	struct ctl_scope scope;		/* the list */
	struct ctl *ctl;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct server_config cfg = {
		.name = "t", .path = f->hca, .vectors = 4, .kick_pages = 16,
	};

	tprog_dir(f->dir);
	tprog_in(f->dir, "control", f->path);
	tprog_in(f->dir, "hca", f->hca);
	t_world_init(&f->w);
	t_hca_init(&f->h, &f->w, 0x700);
	assert_int_equal(server_new(&cfg, &f->server), 0);
	f->list[0] = (struct ctl_hca){
		.name = "hca0", .socket = f->hca, .dev = f->h.dev, .server = f->server,
	};
	f->scope = (struct ctl_scope){ f->list, ARRAY_SIZE(f->list), NULL };
	assert_int_equal(ctl_new(f->path, &f->ctl), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	ctl_free(f->ctl);
	assert_int_equal(access(f->path, F_OK), -1);
	server_free(f->server);
	t_hca_fini(&f->h);
	t_world_fini(&f->w);
	tprog_dir_end(f->dir, NULL);
	free(f);
	return 0;
}

static void start(struct fixture *f)
{
	assert_int_equal(ctl_start(f->ctl, &f->scope), 0);
}

static int dial(struct fixture *f)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(sa.sun_path, f->path);
	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return fd;
}

static void say(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* One answer, which begins so; read byte by byte, as several may wait. */
static void expect(int fd, const char *begin)
{
	char line[4096];
	size_t n = 0;

	do
		assert_int_equal(recv(fd, line + n, 1, 0), 1);
	while (line[n++] != '\n' && n < sizeof(line));
	line[n] = '\0';
	if (strncmp(line, begin, strlen(begin)))
		fail_msg("expected %s, came %s", begin, line);
}

static void expect_end(int fd)
{
	char byte;

	assert_true(recv(fd, &byte, 1, 0) <= 0);
	close(fd);
}

static void commands_in_pieces(void **state)
{
	struct fixture *f = *state;
	int fd;

	start(f);
	fd = dial(f);
	for (const char *c = STATUS; *c; c++)
		assert_int_equal(send(fd, c, 1, MSG_NOSIGNAL), 1);
	expect(fd, "{\"hcas\":[{\"name\":\"hca0\"");
	/* three at once, one of them empty, and the start of a fourth */
	say(fd, "{}\n\n" STATUS "{\"command\":");
	expect(fd, "{\"error\":\"missing or not a string: command\"");
	expect(fd, "{\"error\":\"not a JSON object\"");
	expect(fd, "{\"hcas\":");
	say(fd, "\"counters\"}\n");
	expect(fd, "{\"hcas\":[{\"name\":\"hca0\",\"ports\"");
	close(fd);
}

/* A line of the maximum length is served, one byte more ends the connection. */
static void long_lines(void **state)
{
	struct fixture *f = *state;
	char line[1025];
	int fd;

	start(f);
	memset(line, ' ', sizeof(line));
	memcpy(line, STATUS, strlen(STATUS) - 1);
	line[1023] = '\n';
	fd = dial(f);
	assert_int_equal(send(fd, line, 1024, MSG_NOSIGNAL), 1024);
	expect(fd, "{\"hcas\":");
	line[1023] = ' ';
	assert_int_equal(send(fd, line, 1024, MSG_NOSIGNAL), 1024);
	expect_end(fd);
}

/* More clients than there is room for wait until one disconnects. */
static void a_crowd(void **state)
{
	struct fixture *f = *state;
	int fd[CLIENTS], late;

	start(f);
	for (u32 i = 0; i < CLIENTS; i++) {
		fd[i] = dial(f);
		say(fd[i], STATUS);
		expect(fd[i], "{\"hcas\":");
	}
	late = dial(f);
	say(late, "{}\n");
	/* the others are still served */
	for (u32 i = 0; i < CLIENTS; i++) {
		say(fd[i], STATUS);
		expect(fd[i], "{\"hcas\":");
	}
	assert_int_equal(recv(late, &(char){ 0 }, 1, MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
	close(fd[5]);
	expect(late, "{\"error\":");
	close(late);
	for (u32 i = 0; i < CLIENTS; i++)
		if (i != 5)
			close(fd[i]);
}

/* A client that does not read its answers is dropped; the others do not wait for it. */
static void a_client_that_does_not_read(void **state)
{
	struct fixture *f = *state;
	int fd, other;
	u32 n;

	start(f);
	fd = dial(f);
	for (n = 0; n < 100000; n++)
		if (send(fd, STATUS, strlen(STATUS), MSG_NOSIGNAL) < 0)
			break;
	assert_true(n < 100000);
	assert_true(errno == EPIPE || errno == ECONNRESET);
	other = dial(f);
	say(other, STATUS);
	expect(other, "{\"hcas\":");
	close(other);
	close(fd);
}

/* Connected clients see the end of file when the thread ends. */
static void the_end(void **state)
{
	struct fixture *f = *state;
	int fd[2];

	start(f);
	for (u32 i = 0; i < 2; i++) {
		fd[i] = dial(f);
		say(fd[i], STATUS);
		expect(fd[i], "{\"hcas\":");
	}
	ctl_free(f->ctl);
	f->ctl = NULL;
	expect_end(fd[0]);
	expect_end(fd[1]);
}

static void making_it(void **state)
{
	struct fixture *f = *state;
	unsigned int fds;
	int err;
	u32 n;

	ctl_free(f->ctl);
	f->ctl = NULL;
	fds = tprog_open_fds();
	tfail_each_alloc(n, err = ctl_new(f->path, &f->ctl), ({
		assert_int_equal(err, -ENOMEM);
		assert_int_equal(tprog_open_fds(), fds);
	}));
	assert_int_equal(err, 0);
	assert_int_equal(n, 1);
	ctl_free(f->ctl);
	f->ctl = NULL;
	tfail_set(TFAIL_EVENTFD, 1, EMFILE);
	assert_int_equal(ctl_new(f->path, &f->ctl), -EMFILE);
	tfail_set(TFAIL_SOCKET, 1, ENFILE);
	assert_int_equal(ctl_new(f->path, &f->ctl), -ENFILE);
	assert_int_equal(tprog_open_fds(), fds);
	assert_int_equal(ctl_new(f->path, &f->ctl), 0);
	tfail_set(TFAIL_THREAD, 1, EAGAIN);
	assert_int_equal(ctl_start(f->ctl, &f->scope), -EAGAIN);
	/* not started, it is freed all the same */
	ctl_free(f->ctl);
	f->ctl = NULL;
	assert_int_equal(tprog_open_fds(), fds);
}

static u64 milliseconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ull + ts.tv_nsec / 1000000;
}

static void calls_that_fail(void **state)
{
	static const int again[] = { EAGAIN, EINTR };
	struct fixture *f = *state;
	int fd, other, third;
	char byte;
	u64 before;
	bool hit;

	start(f);
	fd = dial(f);
	say(fd, STATUS);
	expect(fd, "{\"hcas\":");
	for (u32 i = 0; i < ARRAY_SIZE(again); i++) {
		/* nothing is lost: what was not read is read the next time */
		tfail_set(TFAIL_RECV, 1, again[i]);
		say(fd, STATUS);
		tfail_wait(TFAIL_RECV);
		expect(fd, "{\"hcas\":");
	}
	tfail_set(TFAIL_POLL, 1, EINTR);
	say(fd, STATUS);
	expect(fd, "{\"hcas\":");
	say(fd, STATUS);
	expect(fd, "{\"hcas\":");
	assert_true(tfail_hit(TFAIL_POLL));
	/* a client that has disconnected before it was accepted */
	tfail_set(TFAIL_ACCEPT, 1, ECONNABORTED);
	other = dial(f);
	say(other, STATUS);
	expect(other, "{\"hcas\":");
	assert_true(tfail_hit(TFAIL_ACCEPT));
	close(other);
	/* no descriptor for a client: it waits a while, and the thread does not spin meanwhile */
	before = milliseconds();
	tfail_set(TFAIL_ACCEPT, 1, EMFILE);
	other = dial(f);
	tfail_wait(TFAIL_ACCEPT);
	say(other, STATUS);
	tfail_set(TFAIL_ACCEPT, 1, EMFILE);
	for (u32 i = 0; i < 3; i++) {
		say(fd, STATUS);
		expect(fd, "{\"hcas\":");
	}
	hit = tfail_hit(TFAIL_ACCEPT);
	assert_true(!hit || milliseconds() - before >= UNIX_ACCEPT_AGAIN);
	/* although no client has disconnected */
	expect(other, "{\"hcas\":");
	/* and however busy the thread is with other clients */
	tfail_set(TFAIL_ACCEPT, 1, EMFILE);
	third = dial(f);
	tfail_wait(TFAIL_ACCEPT);
	say(third, STATUS);
	before = milliseconds();
	while (recv(third, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0) {
		assert_true(milliseconds() - before < 60000);
		say(fd, STATUS);
		expect(fd, "{\"hcas\":");
	}
	expect(third, "{\"hcas\":");
	close(third);
	/* or until a client disconnects */
	tfail_set(TFAIL_ACCEPT, 1, EMFILE);
	third = dial(f);
	tfail_wait(TFAIL_ACCEPT);
	say(third, STATUS);
	close(fd);
	expect(third, "{\"hcas\":");
	close(other);
	fd = third;
	/* an answer for which the socket has no room yet */
	tfail_set(TFAIL_SEND, 2, EAGAIN);
	say(fd, STATUS);
	expect(fd, "{\"hcas\":");
	assert_true(tfail_hit(TFAIL_SEND));
	say(fd, STATUS);
	expect(fd, "{\"hcas\":");
	/* an answer without memory */
	tfail_set(TFAIL_ALLOC, 1, 0);
	say(fd, STATUS);
	expect_end(fd);
	assert_true(tfail_hit(TFAIL_ALLOC));
	fd = dial(f);
	say(fd, STATUS);
	expect(fd, "{\"hcas\":");
	close(fd);
}

/* When poll() fails for good the thread logs it, and can still be ended. */
static void no_more_service(void **state)
{
	char log[64], line[256] = "";
	struct fixture *f = *state;
	FILE *in;
	int fd;

	snprintf(log, sizeof(log), "%s/log", f->dir);
	assert_int_equal(log_open(log), 0);
	in = fopen(log, "re");
	start(f);
	fd = dial(f);
	tfail_set(TFAIL_POLL, 1, ENOMEM);
	say(fd, "{}\n");
	while (!strstr(line, "control socket"))
		if (!fgets(line, sizeof(line), in)) {
			clearerr(in);
			sched_yield();
		}
	assert_non_null(strstr(line,
			       "control socket: not served any more: Cannot allocate memory"));
	ctl_free(f->ctl);
	f->ctl = NULL;
	close(fd);
	fclose(in);
	assert_int_equal(log_open("/dev/stderr"), 0);
	unlink(log);
}

static void answers(void **state)
{
	static const struct { const char *ask, *begin; } cases[] = {
		{ "", "{\"error\":\"not a JSON object\",\"ok\":false}" },
		{ "17", "{\"error\":\"not a JSON object\"" },
		{ "{\"command\":\"status\"} x", "{\"error\":\"not a JSON object\"" },
		{ "{\"command\":\"status\"", "{\"error\":\"not a JSON object\"" },
		{ "[[[[[[[[[[]]]]]]]]]]", "{\"error\":\"not a JSON object\"" },
		{ "{\"command\":5}", "{\"error\":\"missing or not a string: command\"" },
		{ "{\"command\":\"link\",\"hca\":7}",
		  "{\"error\":\"missing or not a string: hca\"" },
		{ "{\"command\":\"link\",\"hca\":\"hca0\",\"up\":true,\"port\":\"1\"}",
		  "{\"error\":\"not a number: port\"" },
		{ "{\"command\":\"link\",\"hca\":\"hca0\",\"up\":true,\"port\":0}",
		  "{\"error\":\"no such port of: hca0\"" },
		{ "{\"command\":\"link\",\"hca\":\"hca0\",\"up\":true,\"port\":4294967297}",
		  "{\"error\":\"no such port of: hca0\"" },
		{ "{\"command\":\"link\",\"hca\":\"hca0\",\"up\":true,\"port\":-1}",
		  "{\"error\":\"no such port of: hca0\"" },
#define PORT(members)	"{\"command\":\"port\",\"hca\":\"hca0\"" members "}"
#define HAS(pkeys, gids)						\
	"{\"lid\":1,\"sm_lid\":49151,"					\
	"\"pkeys\":{\"pkey0\":\"0xffff\"" pkeys "},"			\
	"\"gids\":{\"gid0\":\"fe80::701\"" gids "},\"ok\":true}"
		{ PORT(""), HAS("", "") },
		{ PORT(",\"port\":3"), "{\"error\":\"no such port of: hca0\"" },
		{ PORT(",\"color\":3"), "{\"error\":\"a port has no: color\"" },
		{ PORT(",\"pkey128\":3"), "{\"error\":\"a port has no: pkey128\"" },
		{ PORT(",\"pkey\":3"), "{\"error\":\"a port has no: pkey\"" },
		{ PORT(",\"gid8\":\"::1\""), "{\"error\":\"a port has no: gid8\"" },
		{ PORT(",\"gid1x\":\"::1\""), "{\"error\":\"a port has no: gid1x\"" },
		{ PORT(",\"lid\":65536"), "{\"error\":\"not a value of: lid\"" },
		{ PORT(",\"lid\":-1"), "{\"error\":\"not a value of: lid\"" },
		{ PORT(",\"lid\":\"5x\""), "{\"error\":\"not a value of: lid\"" },
		{ PORT(",\"sm_lid\":true"), "{\"error\":\"not a value of: sm_lid\"" },
		{ PORT(",\"reregister\":2"), "{\"error\":\"not a value of: reregister\"" },
		{ PORT(",\"pkey1\":\"\""), "{\"error\":\"not a value of: pkey1\"" },
		{ PORT(",\"gid1\":\"1.2.3.4\""), "{\"error\":\"not a value of: gid1\"" },
		{ PORT(",\"gid1\":1"), "{\"error\":\"not a value of: gid1\"" },
		{ PORT(",\"lid\":49151"), "{\"error\":\"a port's LID is 1 to 0xbffe\"" },
		{ PORT(",\"pkey1\":\"0x8001\",\"gid7\":\"2001:db8::7\""),
		  HAS(",\"pkey1\":\"0x8001\"", ",\"gid7\":\"2001:db8::7\"") },
		{ PORT(",\"pkey1\":0,\"gid7\":\"::\",\"reregister\":\"1\""), HAS("", "") },
		{ "{\"command\":\"qps\"}", "{\"error\":\"missing or not a string: hca\"" },
		{ "{\"command\":\"qps\",\"hca\":\"hca0\"}",
		  "{\"list\":\"qps\",\"qps\":[],\"ok\":true}" },
		{ "{\"command\":\"cqs\",\"hca\":\"hca0\",\"from\":-1}",
		  "{\"error\":\"not a place in the list: from\"" },
		{ "{\"command\":\"cqs\",\"hca\":\"hca0\",\"from\":\"0\"}",
		  "{\"error\":\"not a place in the list: from\"" },
		{ "{\"command\":\"cqs\",\"hca\":\"hca0\",\"from\":4294967296}",
		  "{\"error\":\"not a place in the list: from\"" },
		{ "{\"command\":\"cqs\",\"hca\":\"hca0\",\"from\":5}",
		  "{\"list\":\"cqs\",\"cqs\":[],\"ok\":true}" },
		{ "{\"command\":\"fault\",\"kind\":\"fatal\"}",
		  "{\"error\":\"missing or not a string: hca\"" },
		{ "{\"command\":\"link\",\"hca\":\"hca0\",\"up\":false,\"port\":1}",
		  "{\"ok\":true}" },
	};
	struct fixture *f = *state;
	char *text;

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		text = ctl_answer(&f->scope, cases[i].ask);
		if (strncmp(text, cases[i].begin, strlen(cases[i].begin)))
			fail_msg("%s: expected %s, came %s", cases[i].ask, cases[i].begin, text);
		assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
		free(text);
	}
	/* the last command was executed */
	text = ctl_answer(&f->scope, "{\"command\":\"status\"}");
	assert_non_null(strstr(text, "\"state\":\"DOWN\",\"lid\":1,\"cable\":false"));
	free(text);
	/* no memory: for the answer, for the request, for the answer's text */
	tfail_set(TFAIL_ALLOC, 1, 0);
	assert_null(ctl_answer(&f->scope, "{}"));
	tfail_set(TFAIL_ALLOC, 2, 0);
	text = ctl_answer(&f->scope, "{\"command\":\"link\",\"hca\":\"hca0\",\"up\":true}");
	assert_true(tfail_hit(TFAIL_ALLOC));
	assert_non_null(strstr(text, "\"ok\":false"));
	free(text);
	tfail_set(TFAIL_ALLOC, 3, 0);
	assert_null(ctl_answer(&f->scope, "{}"));
	assert_true(tfail_hit(TFAIL_ALLOC));
	/* a command that was not understood was not executed */
	text = ctl_answer(&f->scope, "{\"command\":\"status\"}");
	assert_non_null(strstr(text, "\"cable\":false"));
	free(text);
}

/* Pages of a list join without gaps or repetitions. */
static void lists(void **state)
{
	struct fixture *f = *state;
	struct tcq cq[70];
	char ask[128], *text, *next;
	u32 from = 0, n = 0, pages = 0;

	for (u32 i = 0; i < ARRAY_SIZE(cq); i++)
		t_cq_init(&f->h, &cq[i], 3, 0);
	do {
		snprintf(ask, sizeof(ask), "{\"command\":\"cqs\",\"hca\":\"hca0\",\"from\":%u}",
			 from);
		text = ctl_answer(&f->scope, ask);
		for (char *c = text; (c = strstr(c, "\"size\":8,\"filled\":0")); c++)
			n++;
		next = strstr(text, "\"next\":");
		if (next)
			from = strtoul(next + 7, NULL, 10);
		free(text);
		pages++;
	} while (next);
	assert_int_equal(n, ARRAY_SIZE(cq));
	assert_int_equal(pages, 2);
}

/* So do those of the list of adapters. */
static void many_adapters(void **state)
{
	static const char *const command[] = { "status", "counters", "work" };
	struct fixture *f = *state;
	struct ctl_hca all[130];
	const struct ctl_scope everything = { all, ARRAY_SIZE(all), NULL };
	char name[ARRAY_SIZE(all)][8], ask[64], want[64], *text;

	for (u32 i = 0; i < ARRAY_SIZE(all); i++) {
		snprintf(name[i], sizeof(name[i]), "h%u", i);
		all[i] = f->list[0];
		all[i].name = name[i];
	}
	for (u32 k = 0; k < ARRAY_SIZE(command); k++) {
		for (u32 from = 0; from < ARRAY_SIZE(all); from += 64) {
			u32 end = MIN(from + 64, (u32)ARRAY_SIZE(all));

			snprintf(ask, sizeof(ask), "{\"command\":\"%s\",\"from\":%u}", command[k],
				 from);
			text = ctl_answer(&everything, ask);
			for (u32 i = 0; i < ARRAY_SIZE(all); i++) {
				snprintf(want, sizeof(want), "{\"name\":\"h%u\",", i);
				assert_int_equal(!!strstr(text, want), i >= from && i < end);
			}
			snprintf(want, sizeof(want), "\"next\":%u,\"ok\":true", end);
			assert_int_equal(!!strstr(text, want), end < ARRAY_SIZE(all));
			free(text);
		}
		snprintf(ask, sizeof(ask), "{\"command\":\"%s\",\"from\":2147483647}", command[k]);
		text = ctl_answer(&everything, ask);
		assert_string_equal(text, "{\"hcas\":[],\"ok\":true}\n");
		free(text);
		snprintf(ask, sizeof(ask), "{\"command\":\"%s\",\"from\":-1}", command[k]);
		text = ctl_answer(&everything, ask);
		assert_non_null(strstr(text, "\"error\":\"not a place in the list: from\""));
		free(text);
	}
}

static void list_is(struct fixture *f, const char *list, const char *want)
{
	char ask[128], line[1024], *text;

	snprintf(ask, sizeof(ask), "{\"command\":\"%s\",\"hca\":\"hca0\"}", list);
	snprintf(line, sizeof(line), "{\"list\":\"%s\",\"%s\":[%s],\"ok\":true}\n", list, list,
		 want);
	text = ctl_answer(&f->scope, ask);
	assert_string_equal(text, line);
	free(text);
}

/* One object of each kind, with the exact text. */
static void one_of_each(void **state)
{
	struct fixture *f = *state;
	struct vhca_mcg_req req = { .mgid = { 0xff, 0x12, [15] = 7 }, .mlid = htole16(0xc005) };
	struct tsrq srq;
	struct tmr mr;
	struct tcq cq;
	struct tqp qp;
	u32 mw;

	t_cq_init(&f->h, &cq, 3, 0);
	t_srq_init(&f->h, &srq, 4, 5);
	t_srq_recv(&srq, 1, 0, NULL);
	f->h.qp_type = VHCA_QPT_UD;
	t_qp_init_srq(&f->h, &qp, &cq, &cq, &srq);
	t_ud_up(&qp, 1);
	req.qpn = htole32(qp.qpn);
	assert_int_equal(t_admin(&f->h, VHCA_CMD_ATTACH_MCG, &req, sizeof(req), NULL), VHCA_ST_OK);
	assert_int_equal(qp.qpn, 2);
	list_is(f, "qps", "{\"qpn\":2,\"type\":\"UD\",\"state\":\"RTS\",\"port\":1,\"dlid\":0,"
		"\"dest_qpn\":0,\"send_cqn\":0,\"recv_cqn\":0,\"srqn\":0,\"sq_blocks\":0,"
		"\"sq_requests\":0,\"rq_left\":0,\"tx_packets\":0,\"tx_bytes\":0,\"tx_msgs\":0,"
		"\"rx_packets\":0,\"rx_bytes\":0,\"rx_msgs\":0,\"errors\":0}");
	list_is(f, "cqs", "{\"cqn\":0,\"eqn\":1,\"size\":8,\"filled\":0,\"qps\":2,"
		"\"error\":false}");
	list_is(f, "srqs", "{\"srqn\":0,\"size\":16,\"left\":1,\"limit\":0,\"qps\":1,"
		"\"error\":false}");
	list_is(f, "groups",
		"{\"mgid\":\"ff12::7\",\"mlid\":49157,\"attached\":1,\"qpns\":[2]}");
	t_key_caps(&f->h);
	t_mr_init(&f->h, &mr, 0x1000, 77, 0x7f & ~(VHCA_ACCESS_FLUSH_GLOBAL |
						   VHCA_ACCESS_FLUSH_PERSISTENT), 0, 12);
	mw = t_key(&f->h, VHCA_MKEY_MW_2, 0, 0, 1);
	assert_int_equal(t_bind(&qp, mw, mr.key, 0x1001, 5, VHCA_ACCESS_REMOTE_WRITE), 0);
	list_is(f, "keys", "{\"key\":346,\"type\":\"list\",\"pdn\":0,\"addr\":4096,"
		"\"length\":77,\"access\":\"lrwab\",\"windows\":1},"
		"{\"key\":513,\"type\":\"mw2\",\"pdn\":0,\"addr\":4097,\"length\":5,"
		"\"access\":\"w\",\"region\":346,\"qpn\":2}");
}

int main(void)
{
#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(commands_in_pieces), TEST(long_lines), TEST(a_crowd),
		TEST(a_client_that_does_not_read), TEST(the_end), TEST(making_it),
		TEST(calls_that_fail), TEST(no_more_service), TEST(answers), TEST(lists),
		TEST(many_adapters), TEST(one_of_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
