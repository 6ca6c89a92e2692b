// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/types.h"

#define LOG_LINE_MAX	512

static int log_fd = STDERR_FILENO;

/*
 * Guests cause lines, so each source (the text before the first colon) has
 * an allowance: LOG_BURST lines at once, then LOG_PER_SECOND.  Lines beyond it
 * are counted, and their number is logged with the source's next line.
 */
#define LOG_BURST	100u
#define LOG_PER_SECOND	10u
#define LOG_SOURCES	256u

static pthread_mutex_t source_lock = PTHREAD_MUTEX_INITIALIZER;	/* source[] */
static struct {
	u64 full_at;		/* ns; when the allowance is whole again */
	u32 dropped;
} source[LOG_SOURCES];

/*
 * Takes a line out of the allowance of the source of @text.  Returns false if
 * there is none; else *dropped is what was kept back since the last line.
 */
static bool may_speak(const char *text, u64 now, u32 *dropped)
{
	const u64 cost = 1000000000ull / LOG_PER_SECOND;
	u32 hash = 5381;
	bool may;

	for (; *text && *text != ':'; text++)
		hash = hash * 33 + (u8)*text;
	hash = (hash ^ hash >> 16) % LOG_SOURCES;

	pthread_mutex_lock(&source_lock);
	if (source[hash].full_at < now)
		source[hash].full_at = now;
	may = source[hash].full_at - now <= (LOG_BURST - 1) * cost;
	if (may) {
		source[hash].full_at += cost;
		*dropped = source[hash].dropped;
		source[hash].dropped = 0;
	} else {
		source[hash].dropped++;
	}
	pthread_mutex_unlock(&source_lock);
	return may;
}

int log_open(const char *path)
{
	int fd;

	if (!path)
		return 0;
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
	if (fd < 0)
		return -errno;
	log_fd = fd;
	return 0;
}

void log_last(const char *text, size_t len)
{
	static const char head[] = "vhcad: ";

	if (write(log_fd, head, sizeof(head) - 1) < 0 || write(log_fd, text, len) < 0 ||
	    write(log_fd, "\n", 1) < 0)
		return;
}

void log_line(const char *fmt, ...)
{
	char text[LOG_LINE_MAX], line[LOG_LINE_MAX + 100], more[48] = "";
	struct timespec wall, mono;
	struct tm tm;
	va_list ap;
	u32 dropped;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	clock_gettime(CLOCK_MONOTONIC, &mono);
	if (!may_speak(text, mono.tv_sec * 1000000000ull + mono.tv_nsec, &dropped))
		return;
	if (dropped)
		snprintf(more, sizeof(more), " (%u lines before this left out)", dropped);

	clock_gettime(CLOCK_REALTIME, &wall);
	gmtime_r(&wall.tv_sec, &tm);
	n = snprintf(line, sizeof(line), "%04d-%02d-%02dT%02d:%02d:%02d.%06ldZ vhcad: %s%s\n",
		     tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min,
		     tm.tm_sec, wall.tv_nsec / 1000, text, more);
	/* one write: lines of different threads do not mix */
	if (write(log_fd, line, MIN(n, (int)sizeof(line) - 1)) < 0)
		return;
}
