// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Helpers of commands: they read members of requests and write answers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/request.h"
#include "dev/device.h"

void request_refuse(struct request *r, const char *why, const char *what)
{
	char text[256];

	snprintf(text, sizeof(text), what ? "%s: %s" : "%s", why, what);
	json_object_object_add(r->out, "error", json_object_new_string(text));
}

const char *request_word(struct request *r, const char *key)
{
	struct json_object *v;

	if (!json_object_object_get_ex(r->in, key, &v) ||
	    !json_object_is_type(v, json_type_string)) {
		request_refuse(r, "missing or not a string", key);
		return NULL;
	}
	return json_object_get_string(v);
}

static bool has_guid(const struct ctl_hca *hca, const char *name)
{
	struct vdev_status st;
	unsigned long long guid;
	char *end;

	if (strncmp(name, "0x", 2))
		return false;
	guid = strtoull(name, &end, 16);
	vdev_status(hca->dev, &st);
	return !*end && guid == st.node_guid;
}

const struct ctl_hca *request_hca(struct request *r)
{
	const char *name = request_word(r, "hca");

	if (!name)
		return NULL;
	for (u32 i = 0; i < r->nhcas; i++)
		if (!strcmp(r->hca[i].name, name))
			return &r->hca[i];
	for (u32 i = 0; i < r->nhcas; i++)
		if (has_guid(&r->hca[i], name))
			return &r->hca[i];
	request_refuse(r, "no such adapter", name);
	return NULL;
}

u32 request_port(struct request *r, const struct ctl_hca *hca)
{
	struct json_object *v;
	struct vdev_status st;
	s64 n = 1;

	if (json_object_object_get_ex(r->in, "port", &v)) {
		if (!json_object_is_type(v, json_type_int)) {
			request_refuse(r, "not a number", "port");
			return 0;
		}
		n = json_object_get_int64(v);
	}
	vdev_status(hca->dev, &st);
	if (n >= 1 && n <= st.ports)
		return n;
	request_refuse(r, "no such port of", hca->name);
	return 0;
}

void request_add_u64(struct json_object *o, const char *key, u64 v)
{
	json_object_object_add(o, key, json_object_new_uint64(v));
}

void request_add_bool(struct json_object *o, const char *key, bool v)
{
	json_object_object_add(o, key, json_object_new_boolean(v));
}

void request_add_word(struct json_object *o, const char *key, const char *v)
{
	json_object_object_add(o, key, json_object_new_string(v));
}

bool request_from(struct request *r, u32 *from)
{
	struct json_object *v;
	s64 n = 0;

	if (json_object_object_get_ex(r->in, "from", &v)) {
		n = json_object_get_int64(v);
		if (!json_object_is_type(v, json_type_int) || n < 0 || n > INT32_MAX) {
			request_refuse(r, "not a place in the list", "from");
			return false;
		}
	}
	*from = n;
	return true;
}
