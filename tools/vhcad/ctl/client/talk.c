// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The connection to vhcad, members of its answers, and fail().
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
	/* if this fails there is no answer either */
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

struct json_object *get(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	json_object_object_get_ex(o, key, &v);
	return v;
}

const char *str(struct json_object *o, const char *key)
{
	struct json_object *v = get(o, key);

	return v ? json_object_get_string(v) : "?";
}

unsigned long long num(struct json_object *o, const char *key)
{
	return json_object_get_uint64(get(o, key));
}

bool yes(struct json_object *o, const char *key)
{
	return json_object_get_boolean(get(o, key));
}

size_t items(struct json_object *list)
{
	return json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
}

struct json_object *ask_for(const struct options *opt, struct json_object *request)
{
	char *line;
	struct json_object *answer = ask(opt->control, request, &line);

	free(line);
	if (yes(answer, "ok"))
		return answer;
	fprintf(stderr, "vhcactl: %s\n", str(answer, "error"));
	json_object_put(answer);
	return NULL;
}

bool ask_on(struct json_object *request, struct json_object *answer)
{
	struct json_object *next = json_object_get(get(answer, "next"));

	if (next)
		json_object_object_add(request, "from", next);
	json_object_put(answer);
	return next;
}

struct json_object *ask_whole(const struct options *opt, struct json_object *request,
			      const char *list)
{
	struct json_object *whole = NULL, *answer;

	do {
		answer = ask_for(opt, request);
		if (!answer) {
			json_object_put(whole);
			return NULL;
		}
		if (!json_object_is_type(get(answer, list), json_type_array))
			fail("vhcad's answer has no %s", list);
		if (!whole) {
			whole = json_object_get(answer);
			continue;
		}
		for (size_t i = 0; i < items(get(answer, list)); i++) {
			struct json_object *o = json_object_array_get_idx(get(answer, list), i);

			json_object_array_add(get(whole, list), json_object_get(o));
		}
	} while (ask_on(request, answer));
	return whole;
}
