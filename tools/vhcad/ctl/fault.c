// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The command "fault", and tables of the kinds of adapters' faults and of their arguments.
 */
#include <errno.h>
#include <string.h>

#include "ctl/arg.h"
#include "ctl/link_fault.h"
#include "dev/device.h"
#include "dev/fault.h"
#include "res/names.h"
#include "dev/link_fault.h"
#include "lib/log.h"

#define MANY		1000000u
#define FIELD(f)	offsetof(struct vfault, f)
#define SKIP_COUNT	{ .key = "skip", FIELD(skip), 0, MANY }, \
			{ .key = "count", FIELD(count), 1, MANY }
#define DELAY		{ .key = "delay", FIELD(delay), 0, VFAULT_MAX_DELAY }

static const struct arg command_args[] = {
	{ .key = "opcode", FIELD(which), .by_name = vcmd_by_name, .name = vcmd_name },
	{ .key = "status", FIELD(status), .by_name = vstatus_by_name, .name = vstatus_name },
	{ .key = "answer", FIELD(answer), .by_name = vanswer_by_name, .name = vanswer_name },
	DELAY,
	SKIP_COUNT,
	{ 0 }
};

static const struct arg interrupt_args[] = {
	{ .key = "vector", FIELD(which), 0, VDEV_MAX_VECTORS - 1 },
	SKIP_COUNT,
	{ 0 }
};

static const struct arg reset_args[] = { DELAY, SKIP_COUNT, { 0 } };

#define LIE		{ .key = "lie", FIELD(lie), .by_name = vlie_by_name, .name = vlie_name }, \
			{ .key = "seed", FIELD(seed), 0, MANY }

static const struct arg event_args[] = {
	{ .key = "event", FIELD(which), 0, UINT8_MAX },
	LIE,
	SKIP_COUNT,
	{ 0 }
};

static const struct arg completion_args[] = {
	{ .key = "cq", FIELD(which), 0, UINT32_MAX - 1 },
	LIE,
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
	[VFAULT_EVENT] = { "event", event_args },
	[VFAULT_COMPLETION] = { "completion", completion_args },
};

static const struct arg no_args[] = { { 0 } };
static_assert(VFAULT_ANY == ARG_ABSENT, "what strikes any is not described");

static struct json_object *describe(const struct vfault *f)
{
	struct json_object *o = json_object_new_object();

	request_add_word(o, "kind", armed_kinds[f->kind].name);
	arg_describe(o, armed_kinds[f->kind].args, f);
	return o;
}

static struct json_object *faults_of(const struct ctl_hca *hca, bool idle)
{
	struct json_object *list = json_object_new_array();
	struct vfault f[VFAULT_MAX_ARMED];
	u32 n = vdev_fault_list(hca->dev, f);

	for (u32 i = 0; i < n; i++)
		json_object_array_add(list, describe(&f[i]));
	link_faults_add(list, hca, idle);
	return list;
}

struct json_object *request_faults(const struct ctl_hca *hca)
{
	return faults_of(hca, false);
}

struct json_object *request_every_links_faults(const struct request *r)
{
	struct json_object *list = json_object_new_array();

	every_link_faults_add(list, r, false);
	between_faults_add(list, r, -1, false);
	return list;
}

/* Only faults of links have a port.  Returns true after refusing one. */
static bool has_port(struct request *r)
{
	if (!json_object_object_get_ex(r->in, "port", NULL))
		return false;
	request_refuse(r, "this fault has no argument", "port");
	return true;
}

static void arm(struct request *r, const struct ctl_hca *hca, enum vfault_kind kind)
{
	struct vfault f = { .kind = kind, .which = VFAULT_ANY, .count = 1 };
	struct json_object *o;

	if (!arg_take(r, armed_kinds[kind].args, &f))
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
	if (!vdev_inject_fatal(hca->dev)) {
		request_refuse(r, "it has stopped already", hca->name);
		return;
	}
	log_line("%s: fatal error injected", hca->name);
}

static void do_clear(struct request *r, const struct ctl_hca *hca)
{
	int between = request_between(r);

	if (hca) {
		vdev_fault_clear(hca->dev);
		link_faults_clear(hca);
	} else if (between >= 0) {
		between_faults_clear(r, between);
	} else {
		vdev_link_fault_clear(r->hca[0].dev, 0, NULL);
	}
	log_line("%s: faults disarmed", hca ? hca->name : request_word(r, "hca"));
}

/* Have all armed faults struck?  A test whose faults have not has tested nothing. */
static void do_spent(struct request *r, const struct ctl_hca *hca)
{
	struct json_object *left = hca ? faults_of(hca, true) : json_object_new_array();
	int between = request_between(r);

	if (between >= 0)
		between_faults_add(left, r, between, true);
	else if (!hca)
		every_link_faults_add(left, r, true);
	if (json_object_array_length(left)) {
		struct json_object *first = json_object_array_get_idx(left, 0);

		request_refuse(r, "still armed",
			       json_object_to_json_string_ext(first, JSON_C_TO_STRING_PLAIN));
	}
	json_object_put(left);
}

static const struct {
	const char *name;
	bool links;		/* it may name links instead of an adapter */
	void (*run)(struct request *r, const struct ctl_hca *hca);
} instant_kinds[] = {
	{ "fatal", false, do_fatal },
	{ "clear", true, do_clear },
	{ "spent", true, do_spent },
};

static void run_instant(struct request *r, u32 kind)
{
	bool every = instant_kinds[kind].links &&
		     (request_every_link(r) || request_between(r) >= 0);
	const struct ctl_hca *hca = every ? NULL : request_hca(r);
	struct vfault none;

	if ((every || hca) && !has_port(r) && arg_take(r, no_args, &none))
		instant_kinds[kind].run(r, hca);
}

void request_fault(struct request *r)
{
	const char *kind = request_word(r, "kind");
	const struct ctl_hca *hca;
	int link;

	if (!kind)
		return;
	link = link_fault_kind(kind);
	if (link >= 0) {
		request_link_fault(r, link);
		return;
	}
	for (u32 i = 0; i < ARRAY_SIZE(armed_kinds); i++) {
		if (strcmp(armed_kinds[i].name, kind))
			continue;
		hca = request_hca(r);
		if (hca && !has_port(r))
			arm(r, hca, i);
		return;
	}
	for (u32 i = 0; i < ARRAY_SIZE(instant_kinds); i++) {
		if (!strcmp(instant_kinds[i].name, kind)) {
			run_instant(r, i);
			return;
		}
	}
	request_refuse(r, "no such fault", kind);
}
