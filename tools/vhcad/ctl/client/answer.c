// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Members of vhcad's answers.
 */
#include "ctl/client/vhcactl.h"

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

bool ask_on(struct json_object *request, struct json_object *answer)
{
	struct json_object *next = json_object_get(get(answer, "next"));

	if (next)
		json_object_object_add(request, "from", next);
	json_object_put(answer);
	return next;
}
