// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/json_file.h"

#define FILE_DEPTH	8
#define FILE_MAX	65536	/* bytes of a file */

/* Reads a file, and appends a NUL.  Returns NULL with errno set on failure. */
static char *slurp(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = f ? malloc(FILE_MAX + 1) : NULL;
	size_t n;

	if (!text) {
		if (f)
			fclose(f);
		return NULL;
	}
	n = fread(text, 1, FILE_MAX + 1, f);
	if (ferror(f) || n > FILE_MAX) {
		if (n > FILE_MAX)
			errno = EFBIG;
		fclose(f);
		free(text);
		return NULL;
	}
	fclose(f);
	text[n] = '\0';
	return text;
}

static unsigned int line_of(const char *text, size_t at)
{
	unsigned int line = 1;

	for (size_t i = 0; i < at && text[i]; i++)
		line += text[i] == '\n';
	return line;
}

static struct json_object *parse(const char *path, const char *text, char *why, size_t room)
{
	struct json_tokener *tok = json_tokener_new_ex(FILE_DEPTH);
	struct json_object *o;

	if (!tok) {
		snprintf(why, room, "%s: no memory", path);
		return NULL;
	}
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
	o = json_tokener_parse_ex(tok, text, strlen(text) + 1);
	if (!o)
		snprintf(why, room, "%s:%u: not JSON: %s", path,
			 line_of(text, json_tokener_get_parse_end(tok)),
			 json_tokener_error_desc(json_tokener_get_error(tok)));
	json_tokener_free(tok);
	return o;
}

struct json_object *json_file_read(const char *path, char *why, size_t room)
{
	char *text = slurp(path);
	struct json_object *all;

	if (!text) {
		snprintf(why, room, "%s: %s", path, strerror(errno));
		return NULL;
	}
	all = parse(path, text, why, room);
	free(text);
	return all;
}
