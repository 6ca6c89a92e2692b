// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The live view: what the engine does, and rates of traffic, computed from two samples of all
 * counters.
 *
 * On a terminal each table replaces the one before.  Elsewhere, and with --once, tables follow one
 * another.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "ctl/client/vhcactl.h"

#define PLAIN_ROWS	1000u	/* if the output is no terminal */

enum { TX_PACKETS, TX_BYTES, TX_MSGS, RX_PACKETS, RX_BYTES, RX_MSGS, COUNTS };

static const char *const names[COUNTS] = {
	"tx_packets", "tx_bytes", "tx_msgs", "rx_packets", "rx_bytes", "rx_msgs",
};

struct row {
	char name[64];		/* HCA:PORT, or HCA and QP number */
	char what[24];		/* a QP's type and state */
	size_t port;		/* of a QP: the row of its port */
	unsigned long long count[COUNTS];
	double rate[COUNTS];
};

/* A sample of all counters: rows of ports, then of QPs, each sorted by name. */
struct sample {
	double when;
	struct row *row;
	size_t nports, n, room;
	struct json_object *work;
};

static volatile sig_atomic_t ended;

static void end(int sig)
{
	ended = 1;
}

static double seconds_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static struct row *new_row(struct sample *s)
{
	struct row *row;

	if (s->n == s->room) {
		s->room = s->room ? 2 * s->room : 64;
		s->row = realloc(s->row, s->room * sizeof(*s->row));
		if (!s->row)
			fail("no memory");
	}
	row = &s->row[s->n++];
	memset(row, 0, sizeof(*row));
	return row;
}

static void take_counts(struct row *row, struct json_object *o)
{
	for (size_t i = 0; i < COUNTS; i++)
		row->count[i] = num(o, names[i]);
}

static bool look_at_qps(const struct options *opt, struct sample *s, const char *hca,
			size_t first_port)
{
	struct json_object *request = json_object_new_object(), *answer;

	add_word(request, "command", "qps");
	add_word(request, "hca", hca);
	do {
		answer = ask_for(opt, request);
		if (!answer)
			break;
		for (size_t i = 0; i < items(get(answer, "qps")); i++) {
			struct json_object *q = json_object_array_get_idx(get(answer, "qps"), i);
			struct row *row = new_row(s);

			snprintf(row->name, sizeof(row->name), "%s 0x%06llx", hca, num(q, "qpn"));
			snprintf(row->what, sizeof(row->what), "%s %s", str(q, "type"),
				 str(q, "state"));
			row->port = num(q, "port") ? first_port + num(q, "port") - 1 : SIZE_MAX;
			take_counts(row, q);
		}
	} while (ask_on(request, answer));
	json_object_put(request);
	return answer;
}

/* Returns the counters of all adapters, or NULL after printing vhcad's error. */
static struct json_object *all_counters(const struct options *opt)
{
	struct json_object *request = json_object_new_object(), *answer, *list = NULL;

	add_word(request, "command", "counters");
	answer = ask_whole(opt, request, "hcas");
	if (answer)
		list = json_object_get(get(answer, "hcas"));
	json_object_put(answer);
	json_object_put(request);
	return list;
}

static bool look(const struct options *opt, struct sample *s)
{
	struct json_object *hcas;
	size_t first_port = 0;
	bool ok;

	s->n = 0;
	s->when = seconds_now();
	json_object_put(s->work);
	s->work = work_look(opt);
	hcas = s->work ? all_counters(opt) : NULL;
	if (!hcas)
		return false;
	for (size_t i = 0; i < items(hcas); i++) {
		struct json_object *hca = json_object_array_get_idx(hcas, i);

		for (size_t k = 0; k < items(get(hca, "ports")); k++) {
			struct json_object *p = json_object_array_get_idx(get(hca, "ports"), k);
			struct row *row = new_row(s);

			snprintf(row->name, sizeof(row->name), "%s:%llu", str(hca, "name"),
				 num(p, "port"));
			take_counts(row, p);
		}
	}
	s->nports = s->n;
	ok = true;
	for (size_t i = 0; ok && i < items(hcas); i++) {
		struct json_object *hca = json_object_array_get_idx(hcas, i);

		ok = look_at_qps(opt, s, str(hca, "name"), first_port);
		first_port += items(get(hca, "ports"));
	}
	json_object_put(hcas);
	return ok;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct row *)a)->name, ((const struct row *)b)->name);
}

static double traffic(const struct row *r)
{
	return r->rate[TX_BYTES] + r->rate[RX_BYTES] + r->rate[TX_PACKETS] + r->rate[RX_PACKETS];
}

/* The most traffic first; equal rows by name. */
static int by_traffic(const void *a, const void *b)
{
	double d = traffic(b) - traffic(a);

	return d > 0 ? 1 : d < 0 ? -1 : by_name(a, b);
}

/*
 * Computes the rates of the newer sample and sorts its QPs by traffic.  Counters of a new QP have
 * started at 0 in between.
 */
static void compare(const struct sample *old, struct sample *s)
{
	struct row *old_qps = old->row + old->nports;
	double passed = s->when - old->when;

	/* a daemon without adapters has nothing to show */
	if (!old->row || !s->row)
		return;
	qsort(old_qps, old->n - old->nports, sizeof(*old_qps), by_name);
	for (size_t i = 0; i < s->n; i++) {
		struct row *r = &s->row[i];
		const struct row *was = i < s->nports ?
			&old->row[i] :
			bsearch(r, old_qps, old->n - old->nports, sizeof(*r), by_name);

		for (size_t k = 0; k < COUNTS; k++) {
			uint64_t before = was ? was->count[k] : 0;

			/* less than before: the number is another QP's now */
			r->rate[k] = (r->count[k] - (before <= r->count[k] ? before : 0)) / passed;
		}
		/* ports count no messages, so theirs are the sum of their QPs' */
		if (i < s->nports || r->port >= s->nports)
			continue;
		s->row[r->port].rate[TX_MSGS] += r->rate[TX_MSGS];
		s->row[r->port].rate[RX_MSGS] += r->rate[RX_MSGS];
	}
	qsort(s->row + s->nports, s->n - s->nports, sizeof(*s->row), by_traffic);
}

static void print_rate(double v)
{
	static const char *const units[] = { "", "k", "M", "G", "T" };
	char text[32];
	size_t u = 0;

	for (; v >= 9999.5 && u + 1 < sizeof(units) / sizeof(units[0]); u++)
		v /= 1000;
	snprintf(text, sizeof(text), "%.*f%s", u ? 1 : 0, v, units[u]);
	printf(" %10s", text);
}

static void print_rows(const struct row *row, size_t n, const char *head)
{
	printf("%-24s %-8s %10s %10s %10s %10s %10s %10s\n", head, "", "tx pkt/s", "tx B/s",
	       "tx msg/s", "rx pkt/s", "rx B/s", "rx msg/s");
	for (; n--; row++) {
		printf("%-24s %-8s", row->name, row->what);
		for (size_t i = 0; i < COUNTS; i++)
			print_rate(row->rate[i]);
		putchar('\n');
	}
}

static struct json_object *json_rows(const struct row *row, size_t n)
{
	struct json_object *list = json_object_new_array();

	for (; n--; row++) {
		struct json_object *o = json_object_new_object();

		add_word(o, "name", row->name);
		for (size_t i = 0; i < COUNTS; i++)
			json_object_object_add(o, names[i], json_object_new_double(row->rate[i]));
		json_object_array_add(list, o);
	}
	return list;
}

static void print_json(const struct sample *s, struct json_object *work, double passed)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "seconds", json_object_new_double(passed));
	json_object_object_add(o, "engine", json_object_get(get(work, "engine")));
	json_object_object_add(o, "adapters", json_object_get(get(work, "adapters")));
	json_object_object_add(o, "ports", json_rows(s->row, s->nports));
	json_object_object_add(o, "qps", json_rows(s->row + s->nports, s->n - s->nports));
	puts(json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
	json_object_put(o);
}

static void paint(const struct options *opt, const struct sample *old, const struct sample *s,
		  bool screen)
{
	size_t rows = PLAIN_ROWS, qps = s->n - s->nports;
	double passed = s->when - old->when;
	struct json_object *work = work_rates(old->work, s->work, passed);
	size_t taken = work_rows(work) + s->nports + 4;
	struct winsize size;

	if (opt->json) {
		print_json(s, work, passed);
		goto out;
	}
	if (screen) {
		fputs("\033[H\033[J", stdout);
		if (!ioctl(1, TIOCGWINSZ, &size) && size.ws_row)
			rows = size.ws_row > taken ? size.ws_row - taken : 0;
	}
	work_print(work);
	print_rows(s->row, s->nports, "port");
	putchar('\n');
	print_rows(s->row + s->nports, qps < rows ? qps : rows, "QP");
out:
	fflush(stdout);
	json_object_put(work);
}

static struct termios before;

static void restore(void)
{
	tcsetattr(0, TCSANOW, &before);
}

/* Has the terminal pass each key on at once, without echo. */
static void take_keys(void)
{
	struct termios now;

	if (tcgetattr(0, &before))
		return;
	now = before;
	now.c_lflag &= ~(ICANON | ECHO);
	if (!tcsetattr(0, TCSANOW, &now))
		atexit(restore);
}

/* Waits until the next sample is due; false if the user wants to end. */
static bool next_look(double until, bool keys)
{
	struct pollfd fd = { .fd = keys ? 0 : -1, .events = POLLIN };
	double left;
	char key;

	while (!ended && (left = until - seconds_now()) > 0) {
		if (poll(&fd, 1, left * 1000 + 1) <= 0)
			continue;
		if (read(0, &key, 1) != 1 || key == 'q')
			return false;
	}
	return !ended;
}

bool top(const struct options *opt)
{
	bool screen = isatty(1) && !opt->once && !opt->json;
	bool keys = screen && isatty(0), ok;
	struct sigaction sa = { .sa_handler = end, .sa_flags = SA_RESTART };
	struct sample s[2] = { 0 };
	unsigned int i = 0;

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	if (keys)
		take_keys();
	ok = look(opt, &s[0]);
	while (ok && next_look(s[i].when + opt->interval, keys)) {
		ok = look(opt, &s[!i]);
		if (!ok)
			break;
		compare(&s[i], &s[!i]);
		paint(opt, &s[i], &s[!i], screen);
		i = !i;
		if (opt->once)
			break;
	}
	for (i = 0; i < 2; i++) {
		free(s[i].row);
		json_object_put(s[i].work);
	}
	return ok;
}
