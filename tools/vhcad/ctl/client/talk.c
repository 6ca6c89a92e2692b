// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The connection to vhcad, and what ends the program.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "ctl/client/vhcactl.h"

void fail(const char *fmt, ...)
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
	f = fdopen(fd, "r");
	if (!f)
		fail("no memory");
	return f;
}

struct json_object *ask(const char *path, struct json_object *request, char **line)
{
	const char *text = json_object_to_json_string_ext(request, JSON_C_TO_STRING_PLAIN);
	struct json_object *answer;
	static FILE *from;
	size_t room = 0;

	if (!from)
		from = dial(path);
	/* whether it is there to hear this shows when it does not answer */
	send(fileno(from), text, strlen(text), MSG_NOSIGNAL);
	send(fileno(from), "\n", 1, MSG_NOSIGNAL);
	*line = NULL;
	if (getline(line, &room, from) < 0)
		fail("%s: vhcad did not answer", path);
	answer = json_tokener_parse(*line);
	if (!answer)
		fail("vhcad's answer is not JSON");
	return answer;
}
