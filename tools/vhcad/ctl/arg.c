// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Arguments of requests, by tables.
 */
#include <stdio.h>
#include <string.h>

#include "ctl/arg.h"

static bool is_named(const char *key)
{
	static const char *const named[] = { "command", "kind", "hca", "port" };

	for (u32 i = 0; i < ARRAY_SIZE(named); i++)
		if (!strcmp(named[i], key))
			return true;
	return false;
}

static bool set_text(const struct arg *a, struct json_object *v, char *to)
{
	return json_object_is_type(v, json_type_string) &&
	       (u32)snprintf(to, a->room, "%s", json_object_get_string(v)) < a->room;
}

static bool set(const struct arg *a, struct json_object *v, void *base)
{
	void *to = (u8 *)base + a->offset;
	s64 n = -1;

	if (a->room)
		return set_text(a, v, to);
	if (a->by_name) {
		if (json_object_is_type(v, json_type_string))
			n = a->by_name(json_object_get_string(v));
		if (n < 0)
			return false;
	} else {
		n = json_object_get_int64(v);
		if (!json_object_is_type(v, json_type_int) || n < a->least || n > a->most)
			return false;
	}
	*(u32 *)to = n;
	return true;
}

static void refuse_value(struct request *r, const struct arg *a)
{
	char text[96];

	if (a->room || a->by_name)
		snprintf(text, sizeof(text), "%s", a->key);
	else
		snprintf(text, sizeof(text), "%s, %u to %u", a->key, a->least, a->most);
	request_refuse(r, "not a value of this argument", text);
}

bool arg_take(struct request *r, const struct arg *args, void *base)
{
	json_object_object_foreach(r->in, key, v) {
		const struct arg *a = args;

		if (is_named(key))
			continue;
		while (a->key && strcmp(a->key, key))
			a++;
		if (!a->key) {
			request_refuse(r, "this fault has no argument", key);
			return false;
		}
		if (!set(a, v, base)) {
			refuse_value(r, a);
			return false;
		}
	}
	return true;
}

void arg_describe(struct json_object *o, const struct arg *args, const void *base)
{
	for (const struct arg *a = args; a->key; a++) {
		const void *from = (const u8 *)base + a->offset;
		u32 value;

		if (a->room) {
			if (*(const char *)from)
				request_add_word(o, a->key, from);
			continue;
		}
		value = *(const u32 *)from;
		if (value == ARG_ABSENT)
			continue;
		if (a->by_name)
			request_add_word(o, a->key, a->name(value));
		else
			request_add_u64(o, a->key, value);
	}
}
