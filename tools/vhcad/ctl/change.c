// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The command "port": changes of a port's addresses.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/request.h"
#include "dev/device.h"
#include "lib/log.h"
#include "port/port.h"

/* Takes a number, or a string with a number in C notation; false if it is neither or above max. */
static bool take_number(struct json_object *v, u32 max, u32 *out)
{
	const char *text;
	char *end;
	s64 n;

	if (json_object_is_type(v, json_type_int)) {
		n = json_object_get_int64(v);
	} else if (json_object_is_type(v, json_type_string)) {
		text = json_object_get_string(v);
		n = strtoll(text, &end, 0);
		if (end == text || *end)
			return false;
	} else {
		return false;
	}
	if (n < 0 || n > max)
		return false;
	*out = n;
	return true;
}

/* Returns the index at the end of a key "NAME<index>"; -1 if it is another key. */
static int index_of(const char *key, const char *name, u32 entries)
{
	size_t len = strlen(name);
	unsigned long i;
	char *end;

	if (strncmp(key, name, len) || key[len] < '0' || key[len] > '9')
		return -1;
	i = strtoul(key + len, &end, 10);
	return *end || i >= entries ? -1 : (int)i;
}

struct change {
	struct port_addrs a;
	u32 reregister;
};

/* Takes a member of the request.  Returns NULL, or why it is refused. */
static const char *take_member(struct change *ch, const char *key, struct json_object *v)
{
	static const char *const bad = "not a value of", *const unknown = "a port has no";
	u32 n;
	int i;

	if (!strcmp(key, "lid")) {
		if (!take_number(v, UINT16_MAX, &n))
			return bad;
		ch->a.lid = n;
		return NULL;
	}
	if (!strcmp(key, "sm_lid")) {
		if (!take_number(v, UINT16_MAX, &n))
			return bad;
		ch->a.sm_lid = n;
		return NULL;
	}
	if (!strcmp(key, "reregister"))
		return take_number(v, 1, &ch->reregister) ? NULL : bad;
	i = index_of(key, "pkey", PORT_PKEYS);
	if (i >= 0) {
		if (!take_number(v, UINT16_MAX, &n))
			return bad;
		ch->a.pkey[i] = n;
		return NULL;
	}
	i = index_of(key, "gid", PORT_GIDS);
	if (i < 0)
		return unknown;
	if (!json_object_is_type(v, json_type_string) ||
	    inet_pton(AF_INET6, json_object_get_string(v), ch->a.gid[i]) != 1)
		return bad;
	return NULL;
}

/* Answers with the port's addresses, without empty entries. */
static void answer(struct request *r, const struct port_addrs *a)
{
	struct json_object *pkeys = json_object_new_object(), *gids = json_object_new_object();
	static const u8 none[16];
	char key[16], text[INET6_ADDRSTRLEN];

	request_add_u64(r->out, "lid", a->lid);
	request_add_u64(r->out, "sm_lid", a->sm_lid);
	for (u32 i = 0; i < PORT_PKEYS; i++) {
		snprintf(key, sizeof(key), "pkey%u", i);
		snprintf(text, sizeof(text), "0x%04x", a->pkey[i]);
		if (a->pkey[i])
			request_add_word(pkeys, key, text);
	}
	for (u32 i = 0; i < PORT_GIDS; i++) {
		snprintf(key, sizeof(key), "gid%u", i);
		if (memcmp(a->gid[i], none, sizeof(none)))
			request_add_word(gids, key, inet_ntop(AF_INET6, a->gid[i], text,
							      sizeof(text)));
	}
	json_object_object_add(r->out, "pkeys", pkeys);
	json_object_object_add(r->out, "gids", gids);
}

void request_change(struct request *r)
{
	const struct ctl_hca *hca = request_hca(r);
	u32 port = hca ? request_port(r, hca) : 0;
	struct change ch = { 0 };
	const char *why;
	bool any = false;

	if (!port)
		return;
	vdev_addrs(hca->dev, port, &ch.a);
	json_object_object_foreach(r->in, key, v) {
		if (!strcmp(key, "command") || !strcmp(key, "hca") || !strcmp(key, "port"))
			continue;
		why = take_member(&ch, key, v);
		if (why) {
			request_refuse(r, why, key);
			return;
		}
		any = true;
	}
	why = any ? vdev_set_addrs(hca->dev, port, &ch.a, ch.reregister) : NULL;
	if (why) {
		request_refuse(r, why, NULL);
		return;
	}
	answer(r, &ch.a);
	if (any)
		log_line("%s: port %u: %s", hca->name, port,
			 json_object_to_json_string_ext(r->out, JSON_C_TO_STRING_PLAIN));
}
