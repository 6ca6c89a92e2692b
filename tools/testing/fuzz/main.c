// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * fuzz OPTIONS: programs of the user API, run one after the other.  See "guest", which starts it.
 *
 *	-t TABLES -d UVERBS -m UMAD	the commands, the device's files
 *	-s SEED -n PROGRAMS -T SECONDS	how long
 *	-i INTERFACE			ioctl, write, extended, invoke, nldev, umad, ucma, sysfs;
 *					uverbs
 *	-o FOLDER			history, corpus, places and answers are written there
 *	-j IN,OUT			descriptors: OUT takes lines of the kernel's log and "?", IN
 *					answers "r" if they report a fault, else "."
 *		-r TIMES	programs of each FILE are run this number of times, and nothing else
 *	-p ADDRESS -a NAME		of the device: on PCI, and what the host calls it
 *	-l TYPE,NETDEV			instead of both: of a link, and the net device under it
 *	-x				programs may have the device refuse to destroy objects
 *	-R				programs may remove the device
 *	FILE...				programs with which it begins
 *
 * A program is in the history before it runs.  Exit status 3: a finding.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

#define KEPT		4096		/* programs of the corpus */
#define HISTORY		(4 << 20)	/* bytes of each of the two parts of the history */
#define TEXT		16384
#define BLIND		30		/* programs after which something must be traced */
#define LEFT_SECONDS	10	/* time for everything of a program to go away */
#define SLOW		15		/* seconds: such a program is shown */
#define SEEDS		128		/* programs of the files */
#define SEED_TRIES	3
#define RACES		3		/* times that a program is run again, with delays */

static struct {
	const char *tables, *uverbs, *umad, *only, *out, *pci, *adapter;
	bool removal;
	uint64_t seed, programs;
	double seconds;
	unsigned int times;
	int judge_in, judge_out;
} options = { .only = "", .umad = "/dev/null", .adapter = "", .judge_in = -1, .judge_out = -1 };

static struct prog corpus[KEPT];
static struct prog seeds[SEEDS];
static unsigned int num_corpus, num_seeds;
static uint64_t num_programs;
static bool traced, delayed;
static double began;
static int log_fd = -1, history = -1;
static size_t history_size;
static char text[TEXT];

/* The steps whose time is measured, besides making programs. */
enum step { WRITING, RUNNING, TRACING, JUDGING, STEPS };
static const char *const step_names[STEPS] = { "writing", "running", "tracing", "judging" };
static double spent[STEPS];

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static void fail(const char *what)
{
	fprintf(stderr, "fuzz: %s: %s\n", what, strerror(errno));
	exit(2);
}

static const char *in_out(const char *name)
{
	static char path[2][300];
	static unsigned int turn;

	turn = !turn;
	snprintf(path[turn], sizeof(path[turn]), "%s/%s", options.out, name);
	return path[turn];
}

/* The last programs can always be read: in the file, or in the one before it. */
static void remember(const char *what, size_t len)
{
	if (history < 0 || history_size > HISTORY) {
		if (history >= 0) {
			close(history);
			rename(in_out("history"), in_out("history.before"));
		}
		history = open(in_out("history"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
		history_size = 0;
	}
	if (history < 0 || write(history, what, len) != (ssize_t)len)
		fail("history");
	history_size += len;
}

static void keep(const struct prog *prog, const char *what, size_t len)
{
	int fd;

	if (num_corpus < KEPT)
		corpus[num_corpus++] = *prog;
	else
		corpus[chance_of(KEPT)] = *prog;
	fd = open(in_out("corpus"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, what, len) != (ssize_t)len)
		fail("corpus");
	close(fd);
}

/* Has the kernel written a report since the last call? */
static bool reported(void)
{
	char record[8192], verdict = '.';
	ssize_t len;
	bool any = false;

	while (log_fd >= 0) {
		len = read(log_fd, record, sizeof(record) - 1);
		if (len < 0 && errno == EPIPE)	/* older records were overwritten */
			continue;
		if (len <= 0)
			break;
		if (write(options.judge_out, record, len) != len)
			fail("judge");
		any = true;
	}
	if (!any)
		return false;
	if (write(options.judge_out, "?\n", 2) != 2 || read(options.judge_in, &verdict, 1) != 1)
		fail("judge");
	return verdict == 'r';
}

static void figures(const char *head, unsigned int findings)
{
	printf("%s: %lu programs, %u calls, %u%% accepted, %u delays, %u edges, corpus %u,", head,
	       num_programs, shared->calls,
	       shared->calls ? (unsigned int)(100ULL * shared->good / shared->calls) : 0,
	       delays_armed(), cover_edges(), num_corpus);
	for (unsigned int i = 0; i < num_modules; i++)
		printf(" %s %u/%u", modules[i].name, modules[i].covered, modules[i].blocks);
	printf(", findings %u;", findings);
	for (unsigned int i = 0; i < STEPS; i++)
		printf(" %s %.1f s", step_names[i], spent[i]);
	printf("\n");
	fflush(stdout);
}

/* Writes how often each command was called and accepted, and the errno of its last refusal. */
static void write_answers(void)
{
	FILE *file = fopen(in_out("answers"), "w");

	for (unsigned int i = 0; file && i < num_commands; i++)
		fprintf(file, "%s:%s %u %u %d\n", form_names[commands[i].form], commands[i].name,
			shared->of[i].calls, shared->of[i].good, shared->of[i].last);
	if (file)
		fclose(file);
}

/* Seconds since the step began, which ends now. */
static double spend(enum step step, double *start)
{
	double end = now(), took = end - *start;

	spent[step] += took;
	*start = end;
	return took;
}

/* Runs a program; a finding ends the fuzzer. */
static void run(const struct prog *prog, const char *where)
{
	size_t len = prog_text(prog, text, sizeof(text));
	unsigned int refused = shared->calls - shared->good;
	const char *what = NULL;
	double start = now();

	remember(text, len);
	num_programs++;
	spend(WRITING, &start);
	if (!run_prog(prog))
		what = "hang";
	if (spend(RUNNING, &start) > SLOW)
		printf("slow: %s", text);
	if (cover_collect() && !options.times)
		keep(prog, text, len);
	spend(TRACING, &start);
	if (!what && left_behind(LEFT_SECONDS))
		what = "left";
	if (!what && prog->good && shared->calls - shared->good != refused)
		what = "refused";
	if (!what && prog->refused && shared->last_good)
		what = "accepted";
	if (reported())
		what = "report";
	spend(JUDGING, &start);
	if (!what)
		return;
	printf("finding: %s, program %lu of %s\n%s", what, num_programs, where, text);
	printf("fuzz: found %.0f s after the first program began\n", now() - began);
	figures("fuzz", 1);
	cover_write(in_out("places"));
	write_answers();
	delays_end();
	cover_end();
	_exit(3);
}

/* Runs a program again with delays, if several things happen at a time in it. */
static void race(struct prog *prog, const char *where)
{
	for (unsigned int i = 0; delayed && !options.times && i < RACES && prog_races(prog); i++) {
		delays_choose(prog);
		run(prog, where);
	}
}

static unsigned int unknown;

static char *contents(const char *path)
{
	struct stat info;
	char *data;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &info))
		fail(path);
	data = calloc(1, info.st_size + 1);
	if (!data || read(fd, data, info.st_size) != info.st_size)
		fail(path);
	close(fd);
	return data;
}

static void run_file(const char *path)
{
	for (unsigned int i = 0; i < (options.times ?: 1); i++) {
		char *data = contents(path), *at = data;
		struct prog prog;

		while (prog_read(&prog, &at, &unknown)) {
			if (num_seeds < SEEDS && !options.times)
				seeds[num_seeds++] = prog;
			run(&prog, path);
			race(&prog, path);
		}
		free(data);
	}
}

/* If the kernel traces, but no known place is ever reached, fuzzing would not progress. */
static void check_traced(uint64_t programs)
{
	if (traced && programs == BLIND && !cover_edges()) {
		printf("fuzz: no module's code is traced: is nokaslr on the command line?\n");
		exit(2);
	}
}

/* One of the seeds, rather one in which several things happen at a time. */
static const struct prog *a_seed(void)
{
	const struct prog *seed;
	unsigned int tries = SEED_TRIES;

	do
		seed = &seeds[chance_of(num_seeds)];
	while (!prog_races(seed) && --tries);
	return seed;
}

/* The next program: every second is of the walk until that is over, the others are by chance. */
static void next(struct prog *prog, uint64_t number)
{
	if (number % 2 && prog_walk(prog, number / 2))
		return;
	if (num_seeds && !chance_of(4)) {
		*prog = *a_seed();
	} else if (!num_corpus || !chance_of(4)) {
		prog_grow(prog);
	} else {
		*prog = corpus[chance_of(num_corpus)];
		prog_mutate(prog, &corpus[chance_of(num_corpus)]);
	}
}

static void explore(void)
{
	double start = now(), told = start;
	struct prog prog;

	for (uint64_t number = 0; !options.programs || number < options.programs; number++) {
		double time = now();

		if (options.seconds && time - start >= options.seconds)
			break;
		if (time - told >= 30) {
			figures("so far", 0);
			told = time;
		}
		chance_seed(options.seed << 32 ^ number);
		next(&prog, number);
		run(&prog, "this run");
		race(&prog, "this run");
		check_traced(number);
	}
}

static void read_options(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "t:d:m:p:a:l:s:n:T:i:o:j:r:Rx")) >= 0) {
		switch (option) {
		case 't':
			options.tables = optarg;
			break;
		case 'd':
			options.uverbs = optarg;
			break;
		case 'm':
			options.umad = optarg;
			break;
		case 's':
			options.seed = strtoull(optarg, NULL, 0);
			break;
		case 'n':
			options.programs = strtoull(optarg, NULL, 0);
			break;
		case 'T':
			options.seconds = atof(optarg);
			break;
		case 'i':
			options.only = optarg;
			break;
		case 'o':
			options.out = optarg;
			break;
		case 'p':
			options.pci = optarg;
			break;
		case 'a':
			options.adapter = optarg;
			break;
		case 'l':
			link_setup(optarg);
			break;
		case 'x':
			refusals = true;
			break;
		case 'R':
			options.removal = true;
			break;
		case 'r':
			options.times = atoi(optarg);
			break;
		case 'j':
			if (sscanf(optarg, "%d,%d", &options.judge_in, &options.judge_out) == 2)
				break;
			exit(2);
		default:
			exit(2);
		}
	}
	if (!options.tables || !options.uverbs || !options.out || (!options.pci && !device_link) ||
	    (!options.times && !options.programs && !options.seconds)) {
		fprintf(stderr, "fuzz: options are missing\n");
		exit(2);
	}
}

int main(int argc, char **argv)
{
	read_options(argc, argv);
	removal = options.removal;
	tables_read(options.tables, options.only, removal, refusals);
	run_setup(options.uverbs, options.umad);
	device_pci = options.pci;
	around_setup();
	faults_setup(options.adapter);
	traced = cover_open();
	if (removal && !removal_setup())
		fail("the device cannot be removed");
	if (!traced)
		printf("fuzz: the kernel does not tell what it executes\n");
	else if (!cover_works())
		printf("fuzz: what work queues execute is not traced\n");
	delayed = traced && delays_setup();
	if (!delayed)
		printf("fuzz: the kernel is not delayed\n");
	net_clean();
	left_setup();
	if (options.judge_out >= 0) {
		log_fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (log_fd < 0 || lseek(log_fd, 0, SEEK_END) < 0)
			fail("/dev/kmsg");
	}
	began = now();
	for (int i = optind; i < argc; i++)
		run_file(argv[i]);
	if (unknown)
		printf("fuzz: %u lines of programs mean nothing any more\n", unknown);
	if (!options.times)
		explore();
	cover_write(in_out("places"));
	write_answers();
	figures("fuzz", 0);
	delays_end();
	cover_end();
	return unknown ? 2 : 0;
}
