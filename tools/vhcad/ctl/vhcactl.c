// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vhcactl: talks to the control socket of a running vhcad.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static const char usage[] =
"usage: vhcactl [--control SOCKET] [--json] COMMAND [, COMMAND]...\n"
"\n"
"  status                   adapters, their guests, drivers, objects and ports\n"
"  counters                 packets and bytes of every port\n"
"  link HCA[:PORT] up|down  plug or pull a port's cable\n"
"  port HCA[:PORT] [NAME=VALUE]...\n"
"                           addresses of a port, as they are after these changes:\n"
"                           lid=N sm_lid=N pkeyI=N gidI=ADDRESS reregister=1\n"
"  objects HCA [KIND=N]...  how many objects there are; with KIND=N: are there N?\n"
"  fault KIND HCA [ARG=VALUE]...\n"
"                           have an adapter misbehave:\n"
"    fatal                  it stops as if its hardware had failed\n"
"    command                admin commands: opcode=NAME status=NAME delay=MS\n"
"                           answer=none|twice|stale|unknown skip=N count=N\n"
"    interrupt              interrupts get lost: vector=N skip=N count=N\n"
"    reset                  resets take long: delay=MS skip=N count=N\n"
"    clear                  disarm what was armed\n"
"    spent                  has everything struck that was armed?\n"
"\n"
"HCA is an adapter's name, or its node GUID with 0x before it.  Commands, with a\n"
"word that is a comma between them, are carried out in order until one fails.\n"
"SOCKET is what vhcad was given with --control; without the option it is taken\n"
"from the environment variable VHCAD_CONTROL.  --json prints vhcad's answer as\n"
"it came.  Exit status: 0 done, 1 vhcad refused, 2 wrong use or no vhcad.\n";

static void fail(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

static void fail(const char *fmt, ...)
{
	va_list ap;

	fputs("vhcactl: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(2);
}

static FILE *dial(const char *path)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	size_t len;
	FILE *f;
	int fd;

	if (!path || !*path)
		fail("which vhcad? give --control SOCKET or set VHCAD_CONTROL");
	len = strlen(path);
	if (len >= sizeof(sa.sun_path))
		fail("%s: a socket's path has at most %zu bytes", path, sizeof(sa.sun_path) - 1);
	memcpy(sa.sun_path, path, len + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&sa, sizeof(sa)))
		fail("%s: %s", path, strerror(errno));
	f = fdopen(fd, "r+");
	if (!f)
		fail("no memory");
	return f;
}

static char *ask(const char *path, struct json_object *request)
{
	FILE *f = dial(path);
	char *line = NULL;
	size_t room = 0;

	fprintf(f, "%s\n", json_object_to_json_string_ext(request, JSON_C_TO_STRING_PLAIN));
	fflush(f);
	if (getline(&line, &room, f) < 0)
		fail("%s: vhcad did not answer", path);
	fclose(f);
	return line;
}

static struct json_object *get(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	json_object_object_get_ex(o, key, &v);
	return v;
}

static const char *str(struct json_object *o, const char *key)
{
	struct json_object *v = get(o, key);

	return v ? json_object_get_string(v) : "?";
}

static unsigned long long num(struct json_object *o, const char *key)
{
	return json_object_get_uint64(get(o, key));
}

static bool yes(struct json_object *o, const char *key)
{
	return json_object_get_boolean(get(o, key));
}

static void show_objects(struct json_object *answer)
{
	json_object_object_foreach(get(answer, "objects"), kind, count)
		printf(" %s %llu ", kind, (unsigned long long)json_object_get_uint64(count));
}

/* As it would be written to arm it. */
static void show_fault(struct json_object *fault)
{
	printf("    fault %s", str(fault, "kind"));
	json_object_object_foreach(fault, key, value) {
		if (strcmp(key, "kind"))
			printf(" %s=%s", key, json_object_get_string(value));
	}
	putchar('\n');
}

static void show_status(struct json_object *hca)
{
	struct json_object *faults = get(hca, "faults"), *ports = get(hca, "ports");

	printf("%s  guid %s  guest %s  driver %s%s\n", str(hca, "name"), str(hca, "node_guid"),
	       yes(hca, "guest") ? "attached" : "none", yes(hca, "driver") ? "running" : "none",
	       num(hca, "fatal") ? "  FATAL" : "");
	fputs("   ", stdout);
	show_objects(hca);
	printf(" dma ranges %llu\n", num(hca, "dma_ranges"));
	for (size_t i = 0; i < json_object_array_length(ports); i++) {
		struct json_object *p = json_object_array_get_idx(ports, i);

		printf("    port %llu  %-6s  lid %llu  cable %s\n", num(p, "port"), str(p, "state"),
		       num(p, "lid"), yes(p, "cable") ? "plugged" : "pulled");
	}
	for (size_t i = 0; i < json_object_array_length(faults); i++)
		show_fault(json_object_array_get_idx(faults, i));
}

static void show_counters(struct json_object *hca)
{
	struct json_object *ports = get(hca, "ports");

	for (size_t i = 0; i < json_object_array_length(ports); i++) {
		struct json_object *p = json_object_array_get_idx(ports, i);

		printf("%s:%llu  tx %llu packets %llu bytes", str(hca, "name"), num(p, "port"),
		       num(p, "tx_packets"), num(p, "tx_bytes"));
		printf("  rx %llu packets %llu bytes  drops %llu\n", num(p, "rx_packets"),
		       num(p, "rx_bytes"), num(p, "drops"));
	}
}

static void add_word(struct json_object *o, const char *key, const char *word)
{
	json_object_object_add(o, key, json_object_new_string(word));
}

/* HCA or HCA:PORT */
static void add_port(struct json_object *o, char *arg)
{
	char *colon = strchr(arg, ':'), *end;
	long port = 1;

	if (colon) {
		*colon = '\0';
		port = strtol(colon + 1, &end, 10);
		if (end == colon + 1 || *end)
			fail("'%s' is not a port number", colon + 1);
	}
	add_word(o, "hca", arg);
	json_object_object_add(o, "port", json_object_new_int64(port));
}

/* KEY=VALUE; a value of digits alone is a number */
static void add_pair(struct json_object *o, char *arg)
{
	char *equals = strchr(arg, '='), *end;
	long long n;

	if (!equals || equals == arg || !equals[1])
		fail("'%s' is not KEY=VALUE", arg);
	*equals = '\0';
	if (get(o, arg))
		fail("'%s' is given twice", arg);
	n = strtoll(equals + 1, &end, 10);
	if (*end)
		add_word(o, arg, equals + 1);
	else
		json_object_object_add(o, arg, json_object_new_int64(n));
}

/* Turns the words of the command line into a request. */
static struct json_object *make_request(int argc, char **argv)
{
	struct json_object *o = json_object_new_object();
	const char *cmd = argc ? argv[0] : "";

	add_word(o, "command", cmd);
	if ((!strcmp(cmd, "status") || !strcmp(cmd, "counters")) && argc == 1)
		return o;
	if (!strcmp(cmd, "link") && argc == 3) {
		bool up = !strcmp(argv[2], "up");

		if (!up && strcmp(argv[2], "down"))
			fail("link: '%s' is neither up nor down", argv[2]);
		add_port(o, argv[1]);
		json_object_object_add(o, "up", json_object_new_boolean(up));
		return o;
	}
	if (!strcmp(cmd, "port") && argc >= 2) {
		add_port(o, argv[1]);
		for (int i = 2; i < argc; i++)
			add_pair(o, argv[i]);
		return o;
	}
	if (!strcmp(cmd, "objects") && argc >= 2) {
		add_word(o, "hca", argv[1]);
		for (int i = 2; i < argc; i++)
			add_pair(o, argv[i]);
		return o;
	}
	if (!strcmp(cmd, "fault") && argc >= 3) {
		add_word(o, "kind", argv[1]);
		add_word(o, "hca", argv[2]);
		for (int i = 3; i < argc; i++)
			add_pair(o, argv[i]);
		return o;
	}
	fputs(usage, stderr);
	exit(2);
}

static void show_words(struct json_object *o)
{
	json_object_object_foreach(o, key, value)
		printf(" %s=%s", key, json_object_get_string(value));
}

/* As it would be written to change it. */
static void show_port(struct json_object *answer)
{
	printf("lid=%llu sm_lid=%llu", num(answer, "lid"), num(answer, "sm_lid"));
	show_words(get(answer, "pkeys"));
	show_words(get(answer, "gids"));
	putchar('\n');
}

static void show(const char *command, struct json_object *answer)
{
	struct json_object *hcas = get(answer, "hcas");

	if (get(answer, "objects")) {
		show_objects(answer);
		putchar('\n');
	}
	if (get(answer, "gids"))
		show_port(answer);
	for (size_t i = 0; hcas && i < json_object_array_length(hcas); i++) {
		struct json_object *hca = json_object_array_get_idx(hcas, i);

		if (!strcmp(command, "status"))
			show_status(hca);
		else
			show_counters(hca);
	}
}

/* Carries out one command; true if vhcad has done it. */
static bool carry_out(const char *path, bool json, int argc, char **argv)
{
	struct json_object *request = make_request(argc, argv), *answer;
	char *line = ask(path, request);
	bool ok;

	answer = json_tokener_parse(line);
	if (!answer)
		fail("vhcad's answer is not JSON");
	ok = yes(answer, "ok");
	if (json)
		fputs(line, stdout);
	else if (!ok)
		fprintf(stderr, "vhcactl: %s\n", str(answer, "error"));
	else
		show(argv[0], answer);
	json_object_put(answer);
	json_object_put(request);
	free(line);
	return ok;
}

int main(int argc, char **argv)
{
	const char *path = getenv("VHCAD_CONTROL");
	bool json = false, ok = true;
	int n = 0, first = 0;
	char **word;

	/* options may stand anywhere */
	word = calloc(argc, sizeof(*word));
	if (!word)
		fail("no memory");
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--json")) {
			json = true;
		} else if (!strcmp(argv[i], "--control") && i + 1 < argc) {
			path = argv[++i];
		} else if (!strcmp(argv[i], "--help")) {
			fputs(usage, stdout);
			free(word);
			return 0;
		} else if (argv[i][0] == '-') {
			fail("unknown option '%s' (see vhcactl --help)", argv[i]);
		} else {
			word[n++] = argv[i];
		}
	}
	for (int i = 0; ok && i <= n; i++) {
		if (i < n && strcmp(word[i], ","))
			continue;
		ok = carry_out(path, json, i - first, word + first);
		first = i + 1;
	}
	free(word);
	return ok ? 0 : 1;
}
