// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The command "fault": kinds of faults and their arguments as tables.  A new
 * kind is a new row; what has other targets than an adapter brings its own.
 */
#include <errno.h>
#include <string.h>

#include "ctl/request.h"
#include "dev/device.h"
#include "dev/fault.h"
#include "log.h"

enum arg_type {
	ARG_NUMBER,
	ARG_OPCODE,
	ARG_STATUS,
	ARG_ANSWER,
};

struct arg {
	const char *key;
	enum arg_type type;
	u32 offset;		/* of a u32 in struct vfault */
	u32 max;		/* ARG_NUMBER */
};

#define MANY		1000000u
#define FIELD(f)	offsetof(struct vfault, f)
#define SKIP_COUNT	{ "skip", ARG_NUMBER, FIELD(skip), MANY }, \
			{ "count", ARG_NUMBER, FIELD(count), MANY }

static const struct arg command_args[] = {
	{ "opcode", ARG_OPCODE, FIELD(which), 0 },
	{ "status", ARG_STATUS, FIELD(status), 0 },
	{ "answer", ARG_ANSWER, FIELD(answer), 0 },
	{ "delay", ARG_NUMBER, FIELD(delay), VFAULT_MAX_DELAY },
	SKIP_COUNT,
	{ 0 }
};

static const struct arg interrupt_args[] = {
	{ "vector", ARG_NUMBER, FIELD(which), VDEV_MAX_VECTORS - 1 },
	SKIP_COUNT,
	{ 0 }
};

static const struct arg reset_args[] = {
	{ "delay", ARG_NUMBER, FIELD(delay), VFAULT_MAX_DELAY },
	SKIP_COUNT,
	{ 0 }
};

static const struct {
	const char *name;
	const struct arg *args;
} armed_kinds[] = {
	[VFAULT_COMMAND] = { "command", command_args },
	[VFAULT_INTERRUPT] = { "interrupt", interrupt_args },
	[VFAULT_RESET] = { "reset", reset_args },
};

static const struct arg no_args[] = { { 0 } };

/* What a word stands for; -1: nothing. */
static int word_value(enum arg_type type, const char *word)
{
	switch (type) {
	case ARG_OPCODE:
		return vcmd_by_name(word);
	case ARG_STATUS:
		return vstatus_by_name(word);
	case ARG_ANSWER:
		return vanswer_by_name(word);
	default:
		return -1;
	}
}

static const char *value_word(enum arg_type type, u32 value)
{
	switch (type) {
	case ARG_OPCODE:
		return vcmd_name(value);
	case ARG_STATUS:
		return vstatus_name(value);
	default:
		return vanswer_name(value);
	}
}

static u32 *field(struct vfault *f, const struct arg *a)
{
	return (u32 *)((u8 *)f + a->offset);
}

static bool set_arg(const struct arg *a, struct json_object *v, struct vfault *f)
{
	s64 n;

	if (a->type == ARG_NUMBER) {
		n = json_object_get_int64(v);
		if (!json_object_is_type(v, json_type_int) || n < 0 || n > a->max)
			return false;
	} else {
		n = json_object_is_type(v, json_type_string) ?
		    word_value(a->type, json_object_get_string(v)) : -1;
		if (n < 0)
			return false;
	}
	*field(f, a) = n;
	return true;
}

/* Members of the request other than these three have to be arguments; false after refusing. */
static bool take_args(struct request *r, const struct arg *args, struct vfault *f)
{
	json_object_object_foreach(r->in, key, v) {
		const struct arg *a = args;

		if (!strcmp(key, "command") || !strcmp(key, "kind") || !strcmp(key, "hca"))
			continue;
		while (a->key && strcmp(a->key, key))
			a++;
		if (!a->key) {
			request_refuse(r, "this fault has no argument", key);
			return false;
		}
		if (!set_arg(a, v, f)) {
			request_refuse(r, "not a value of this argument", key);
			return false;
		}
	}
	return true;
}

static struct json_object *describe(struct vfault *f)
{
	struct json_object *o = json_object_new_object();

	request_add_word(o, "kind", armed_kinds[f->kind].name);
	for (const struct arg *a = armed_kinds[f->kind].args; a->key; a++) {
		u32 value = *field(f, a);

		if (value == VFAULT_ANY)
			continue;
		if (a->type == ARG_NUMBER)
			request_add_u64(o, a->key, value);
		else
			request_add_word(o, a->key, value_word(a->type, value));
	}
	return o;
}

struct json_object *request_faults(const struct ctl_hca *hca)
{
	struct json_object *list = json_object_new_array();
	struct vfault f[VFAULT_MAX_ARMED];
	u32 n = vdev_fault_list(hca->dev, f);

	for (u32 i = 0; i < n; i++)
		json_object_array_add(list, describe(&f[i]));
	return list;
}

static void arm(struct request *r, const struct ctl_hca *hca, enum vfault_kind kind)
{
	struct vfault f = { .kind = kind, .which = VFAULT_ANY, .count = 1 };
	struct json_object *o;

	if (!take_args(r, armed_kinds[kind].args, &f))
		return;
	switch (vdev_fault_add(hca->dev, &f)) {
	case 0:
		break;
	case -ENOSPC:
		request_refuse(r, "too many faults are armed in", hca->name);
		return;
	default:
		request_refuse(r, "nothing that this fault could do", armed_kinds[kind].name);
		return;
	}
	o = describe(&f);
	log_line("%s: fault armed: %s", hca->name,
		 json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
	json_object_put(o);
}

static void do_fatal(struct request *r, const struct ctl_hca *hca)
{
	struct vdev_status st;

	vdev_status(hca->dev, &st);
	if (!st.enabled) {
		request_refuse(r, "no driver runs", hca->name);
		return;
	}
	vdev_inject_fatal(hca->dev);
	log_line("%s: fatal error injected", hca->name);
}

static void do_clear(struct request *r, const struct ctl_hca *hca)
{
	vdev_fault_clear(hca->dev);
	log_line("%s: faults disarmed", hca->name);
}

/* Has everything that was armed struck?  Tests ask, so as not to prove nothing. */
static void do_spent(struct request *r, const struct ctl_hca *hca)
{
	struct json_object *left = request_faults(hca);

	if (json_object_array_length(left)) {
		struct json_object *first = json_object_array_get_idx(left, 0);

		request_refuse(r, "still armed",
			       json_object_to_json_string_ext(first, JSON_C_TO_STRING_PLAIN));
	}
	json_object_put(left);
}

static const struct {
	const char *name;
	void (*run)(struct request *r, const struct ctl_hca *hca);
} instant_kinds[] = {
	{ "fatal", do_fatal },
	{ "clear", do_clear },
	{ "spent", do_spent },
};

void request_fault(struct request *r)
{
	const char *kind = request_word(r, "kind");
	const struct ctl_hca *hca;
	struct vfault none;

	if (!kind)
		return;
	for (u32 i = 0; i < ARRAY_SIZE(armed_kinds); i++) {
		if (strcmp(armed_kinds[i].name, kind))
			continue;
		hca = request_hca(r);
		if (hca)
			arm(r, hca, i);
		return;
	}
	for (u32 i = 0; i < ARRAY_SIZE(instant_kinds); i++) {
		if (strcmp(instant_kinds[i].name, kind))
			continue;
		hca = request_hca(r);
		if (hca && take_args(r, no_args, &none))
			instant_kinds[i].run(r, hca);
		return;
	}
	request_refuse(r, "no such fault", kind);
}
