// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Tables of the kinds of links' faults and of their arguments.
 */
#include <errno.h>
#include <string.h>

#include "ctl/arg.h"
#include "ctl/link_fault.h"
#include "dev/device.h"
#include "dev/link_fault.h"
#include "fabric/topo.h"
#include "lib/log.h"

#define FIELD(f)	offsetof(struct fab_fault, f)
#define WHICH \
	{ .key = "direction", FIELD(direction), .by_name = vdirection_by_name, \
	  .name = vdirection_name }, \
	{ .key = "opcode", FIELD(opcode), .room = WIRE_NAME_MAX }, \
	{ .key = "dqpn", FIELD(dqpn), 0, FAB_LAST_QPN }, \
	{ .key = "mgmt_class", FIELD(mgmt_class), 1, FAB_LAST_CLASS }, \
	{ .key = "permille", FIELD(permille), 1, 1000 }, \
	{ .key = "seed", FIELD(seed), 0, INT32_MAX }, \
	{ .key = "skip", FIELD(skip), 0, FAB_MAX_COUNT }, \
	{ .key = "count", FIELD(count), 0, FAB_MAX_COUNT }, \
	{ .key = "after", FIELD(after), 0, FAB_MAX_MS }, \
	{ .key = "until", FIELD(until), 0, FAB_MAX_MS }
#define JITTER	{ .key = "jitter", FIELD(jitter), 0, FAB_MAX_USEC }

static const struct arg plain_args[] = { WHICH, { 0 } };

static const struct arg timed_args[] = {
	WHICH,
	{ .key = "usec", FIELD(usec), 1, FAB_MAX_USEC },
	JITTER,
	{ 0 }
};

static const struct arg copy_args[] = {
	WHICH,
	{ .key = "usec", FIELD(usec), 0, FAB_MAX_USEC },
	JITTER,
	{ 0 }
};

static const struct {
	const char *name;
	const struct arg *args;
} kinds[FAB_FAULT_KINDS] = {
	[FAB_LOSS] = { "loss", plain_args },
	[FAB_DELAY] = { "delay", timed_args },
	[FAB_REORDER] = { "reorder", timed_args },
	[FAB_DUPLICATE] = { "duplicate", copy_args },
	[FAB_CORRUPT] = { "corrupt", plain_args },
	[FAB_STALL] = { "stall", timed_args },
	[FAB_FLAP] = { "flap", timed_args },
};

int link_fault_kind(const char *kind)
{
	for (u32 i = 0; i < FAB_FAULT_KINDS; i++)
		if (!strcmp(kinds[i].name, kind))
			return i;
	return -1;
}

bool request_every_link(const struct request *r)
{
	struct json_object *v;

	if (!json_object_object_get_ex(r->in, "hca", &v) ||
	    !json_object_is_type(v, json_type_string) || strcmp(json_object_get_string(v), "all"))
		return false;
	for (u32 i = 0; i < r->nhcas; i++)
		if (!strcmp(r->hca[i].name, "all"))
			return false;
	return true;
}

/* @link: the name of a link between switches, or NULL */
static struct json_object *describe(const struct fab_fault *f, u32 port, const char *link)
{
	struct json_object *o = json_object_new_object();
	struct fab_fault said = *f;

	if (!f->has_dqpn)
		said.dqpn = ARG_ABSENT;
	if (!f->mgmt_class)
		said.mgmt_class = ARG_ABSENT;
	request_add_word(o, "kind", kinds[f->kind].name);
	if (link)
		request_add_word(o, "link", link);
	if (port)
		request_add_u64(o, "port", port);
	arg_describe(o, kinds[f->kind].args, &said);
	request_add_u64(o, "struck", f->struck);
	return o;
}

static void add_faults(struct json_object *list, struct vhca_dev *dev, u32 port,
		       const struct fab_link *link, const char *name, bool idle)
{
	struct fab_fault f[FAB_MAX_FAULTS];
	u32 n = vdev_link_fault_list(dev, port, link, f);

	for (u32 i = 0; i < n; i++)
		if (!idle || f[i].count || !f[i].struck)
			json_object_array_add(list, describe(&f[i], port, name));
}

void link_faults_add(struct json_object *list, const struct ctl_hca *hca, bool idle)
{
	struct vdev_status st;

	vdev_status(hca->dev, &st);
	for (u32 port = 1; port <= st.ports; port++)
		add_faults(list, hca->dev, port, NULL, NULL, idle);
}

void every_link_faults_add(struct json_object *list, const struct request *r, bool idle)
{
	if (r->nhcas)
		add_faults(list, r->hca[0].dev, 0, NULL, NULL, idle);
}

/* Returns the n-th link, or NULL, and its state. */
static struct fab_link *link_at(const struct request *r, u32 n, struct fab_link_state *s)
{
	struct fabric *f = vdev_fabric_lock(r->hca[0].dev);
	struct fab_link *link = fab_link_state(f, n, s) ? fab_link_at(f, n) : NULL;

	vdev_fabric_unlock(r->hca[0].dev);
	return link;
}

void between_faults_add(struct json_object *list, const struct request *r, int between, bool idle)
{
	struct fab_link *link;
	struct fab_link_state s;

	for (u32 n = MAX(between, 0); r->nhcas && (link = link_at(r, n, &s)); n++) {
		add_faults(list, r->hca[0].dev, 0, link, s.l.name, idle);
		if (between >= 0)
			break;
	}
}

void between_faults_clear(const struct request *r, int between)
{
	struct fab_link_state s;

	vdev_link_fault_clear(r->hca[0].dev, 0, link_at(r, between, &s));
}

void link_faults_clear(const struct ctl_hca *hca)
{
	struct vdev_status st;

	vdev_status(hca->dev, &st);
	for (u32 port = 1; port <= st.ports; port++)
		vdev_link_fault_clear(hca->dev, port, NULL);
}

void request_link_fault(struct request *r, u32 kind)
{
	struct fab_fault f = { .kind = kind, .permille = 1000, .seed = 1, .dqpn = ARG_ABSENT };
	bool every = request_every_link(r), one;
	int between = request_between(r);
	const struct ctl_hca *hca;
	struct fab_link_state s;
	struct json_object *o;
	const char *why;
	u32 port = 0;
	int err;

	one = !every && between < 0;
	hca = one ? request_hca(r) : &r->hca[0];
	if (!hca)
		return;
	if (between >= 0)
		f.link = link_at(r, between, &s);
	if (every && json_object_object_get_ex(r->in, "port", NULL)) {
		request_refuse(r, "every link has no", "port");
		return;
	}
	if (one)
		port = request_port(r, hca);
	if ((one && !port) || !arg_take(r, kinds[kind].args, &f))
		return;
	f.has_dqpn = f.dqpn != ARG_ABSENT;
	why = fab_fault_wrong(&f);
	if (!why) {
		err = vdev_link_fault_arm(hca->dev, port, &f);
		if (err)
			why = err == -ENOSPC ? "too many faults of links are armed" : "no memory";
	}
	if (why) {
		request_refuse(r, why, kinds[kind].name);
		return;
	}
	o = describe(&f, port, NULL);
	log_line("%s: fault armed: %s", every ? "every link" : f.link ? s.l.name : hca->name,
		 json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN));
	json_object_put(o);
}
