// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "types.h"

#define LOG_LINE_MAX	512

static int log_fd = STDERR_FILENO;

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

void log_line(const char *fmt, ...)
{
	char line[LOG_LINE_MAX];
	struct timespec now;
	struct tm tm;
	va_list ap;
	int n, m;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	n = snprintf(line, sizeof(line), "%04d-%02d-%02dT%02d:%02d:%02d.%06ldZ vhcad: ",
		     tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min,
		     tm.tm_sec, now.tv_nsec / 1000);
	va_start(ap, fmt);
	m = vsnprintf(line + n, sizeof(line) - n, fmt, ap);
	va_end(ap);
	if (m < 0)
		return;
	m = MIN(m, (int)sizeof(line) - n - 2);
	for (int i = n; i < n + m; i++)
		if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
			line[i] = '?';
	line[n + m] = '\n';
	/* one write: lines of different threads do not mix */
	if (write(log_fd, line, n + m + 1) < 0)
		return;
}
