// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands about the fabric: "link" changes a link, "reroute" programs routes over the links that
 * are up, and "links", "switches" and "routes" list them.
 */
#include <stdio.h>
#include <string.h>

#include "ctl/request.h"
#include "dev/device.h"
#include "dev/listing.h"
#include "fabric/switch.h"
#include "fabric/topo.h"
#include "lib/log.h"
#include "port/port.h"
#include "subnet/static.h"

/* ------------------------------------------------------------------------
 * Changes
 */
int request_between(const struct request *r)
{
	struct json_object *name;
	struct fabric *f;
	int n = -1;

	if (!r->nhcas || !json_object_object_get_ex(r->in, "hca", &name) ||
	    !json_object_is_type(name, json_type_string))
		return -1;
	for (u32 i = 0; i < r->nhcas; i++)
		if (!strcmp(r->hca[i].name, json_object_get_string(name)))
			return -1;
	f = vdev_fabric_lock(r->hca[0].dev);
	n = fab_link_find(f, json_object_get_string(name));
	if (n >= 0 && !fab_link_is_between(f, n))
		n = -1;
	vdev_fabric_unlock(r->hca[0].dev);
	return n;
}

struct change {
	bool up, has_up, has_rate, has_latency;
	struct fab_rate rate;
	u32 latency;
};

static bool take_change(struct request *r, struct change *c)
{
	struct json_object *v;
	s64 n;

	if (json_object_object_get_ex(r->in, "up", &v)) {
		if (!json_object_is_type(v, json_type_boolean)) {
			request_refuse(r, "not true or false", "up");
			return false;
		}
		c->has_up = true;
		c->up = json_object_get_boolean(v);
	}
	if (json_object_object_get_ex(r->in, "rate", &v)) {
		if (!json_object_is_type(v, json_type_string) ||
		    !fab_rate_parse(json_object_get_string(v), &c->rate)) {
			request_refuse(r, "no rate of a link", json_object_get_string(v));
			return false;
		}
		c->has_rate = true;
	}
	if (json_object_object_get_ex(r->in, "latency", &v)) {
		n = json_object_get_int64(v);
		if (!json_object_is_type(v, json_type_int) || n < 0 || n > TOPO_MAX_LATENCY) {
			request_refuse(r, "not a number of ns, up to a second", "latency");
			return false;
		}
		c->has_latency = true;
		c->latency = n;
	}
	if (!c->has_up && !c->has_rate && !c->has_latency) {
		request_refuse(r, "it says nothing of", "up, rate, latency");
		return false;
	}
	return true;
}

void request_link(struct request *r)
{
	int between = request_between(r);
	const struct ctl_hca *hca = between < 0 ? request_hca(r) : &r->hca[0];
	u32 port = hca && between < 0 ? request_port(r, hca) : 0, n;
	struct change c = { 0 };
	struct fabric *f;
	bool has;

	if (!hca || (between < 0 && !port) || !take_change(r, &c))
		return;
	f = vdev_fabric_lock(hca->dev);
	/* the topology may have only ports of the other link layer */
	has = between >= 0 || vdev_has_link(hca->dev, port);
	n = between >= 0 ? (u32)between : has ? vdev_fabric_link(hca->dev, port) : 0;
	if (has && c.has_rate)
		fab_link_rate(f, n, &c.rate);
	if (has && c.has_latency)
		fab_link_latency(f, n, c.latency);
	if (between >= 0 && c.has_up)
		fab_link_up(f, n, c.up);
	vdev_fabric_unlock(hca->dev);
	if (!has && (c.has_rate || c.has_latency)) {
		request_refuse(r, "links have no rates and latencies without a topology, see "
			       "vhcad --topology", NULL);
		return;
	}
	if (port && c.has_up)
		vdev_set_link(hca->dev, port, c.up);
	log_line("link changed: %s", json_object_to_json_string_ext(r->in, JSON_C_TO_STRING_PLAIN));
}

void request_reroute(struct request *r)
{
	struct fabric *f = vdev_fabric_lock(r->hca[0].dev);
	bool has = fab_has_topology(f), own = !fab_topology(f) || subnet_is_static(f);
	int lost = has && own ? fab_reroute(f) : 0;

	vdev_fabric_unlock(r->hca[0].dev);
	if (!has) {
		request_refuse(r, "there is one switch without a topology, see vhcad --topology",
			       NULL);
		return;
	}
	if (!own) {
		request_refuse(r, "routes are the subnet manager's, see vhcad --subnet", NULL);
		return;
	}
	if (lost < 0) {
		request_refuse(r, "there is no memory for routes", NULL);
		return;
	}
	request_add_u64(r->out, "unreachable", lost);
	log_line("rerouted: %d ports out of some switch's reach", lost);
}

/* ------------------------------------------------------------------------
 * Lists
 */
static struct json_object *describe_way(const struct fab_link_state *s, u32 i)
{
	const struct fab_link_count *c = &s->count[i];
	struct json_object *o = json_object_new_object();

	request_add_word(o, "from", s->l.end[i]);
	request_add_word(o, "to", s->l.end[!i]);
	request_add_u64(o, "queued", s->queued[i]);
	request_add_u64(o, "packets", c->packets);
	request_add_u64(o, "bytes", c->bytes);
	request_add_u64(o, "wait", c->wait);
	request_add_u64(o, "lost", c->lost);
	request_add_u64(o, "bad", c->bad);
	request_add_u64(o, "discards", c->discards);
	return o;
}

static struct json_object *describe_link(struct fabric *f, u32 n)
{
	struct json_object *o, *ways;
	struct fab_link_state s;
	char name[FAB_RATE_NAME];

	if (!fab_link_state(f, n, &s))
		return NULL;
	o = json_object_new_object();
	ways = json_object_new_array();
	request_add_word(o, "name", s.l.name);
	request_add_word(o, "rate", fab_rate_name(&s.l.rate, name));
	request_add_u64(o, "latency", s.l.latency);
	request_add_u64(o, "queue", s.l.queue);
	request_add_bool(o, "up", s.up);
	for (u32 i = 0; i < 2; i++)
		json_object_array_add(ways, describe_way(&s, i));
	json_object_object_add(o, "ways", ways);
	return o;
}

static struct json_object *describe_switch(struct fabric *f, u32 n)
{
	struct json_object *o, *ports;
	struct fab_switch_state s;
	struct fab_link_state l;
	char guid[20];

	if (!fab_switch_state(f, n, &s))
		return NULL;
	o = json_object_new_object();
	ports = json_object_new_array();
	request_add_word(o, "name", s.name);
	if (!s.ethernet) {
		snprintf(guid, sizeof(guid), "0x%016llx",
			 (unsigned long long)fab_switch_guid(f, n));
		request_add_word(o, "guid", guid);
		request_add_u64(o, "lid", fab_switch_ib(f, n, 0)->lid);
	}
	request_add_u64(o, "hoq_life", s.hoq_life);
	request_add_u64(o, "no_way", s.no_way);
	for (u32 i = 0; i < s.ports; i++) {
		fab_link_state(f, s.link[i], &l);
		json_object_array_add(ports, json_object_new_string(l.l.name));
	}
	json_object_object_add(o, "links", ports);
	request_add_word(o, "link", s.ethernet ? "eth" : "ib");
	return o;
}

/* Adds a page of a list, which starts where the request says. */
static void add_page(struct request *r, const char *name, u32 most,
		     struct json_object *(*describe)(struct fabric *f, u32 n))
{
	struct json_object *list = json_object_new_array(), *o = NULL;
	struct fabric *f;
	u32 from, n;

	json_object_object_add(r->out, name, list);
	if (!request_from(r, &from))
		return;
	f = vdev_fabric_lock(r->hca[0].dev);
	for (n = 0; n < most && (o = describe(f, from + n)); n++)
		json_object_array_add(list, o);
	vdev_fabric_unlock(r->hca[0].dev);
	request_add_word(r->out, "list", name);
	if (o)
		request_add_u64(r->out, "next", from + n);
}

void request_links(struct request *r)
{
	add_page(r, "links", VLIST_PAGE, describe_link);
}

void request_switches(struct request *r)
{
	add_page(r, "switches", VLIST_PAGE / 4, describe_switch);
}

static void add_link_of_port(struct fabric *f, const struct fab_switch_state *s, u32 port,
			     struct json_object *links)
{
	struct fab_link_state l;

	if (port > s->ports)
		return;
	fab_link_state(f, s->link[port - 1], &l);
	json_object_array_add(links, json_object_new_string(l.l.name));
}

static void add_links(struct fabric *f, const struct fab_switch_state *s,
		      const struct port_mask *ports, struct json_object *o)
{
	struct json_object *links = json_object_new_array();
	u32 port;

	port_mask_for_each(port, ports)
		add_link_of_port(f, s, port, links);
	json_object_object_add(o, "links", links);
}

/* Describes where a switch sends a LID; NULL: nowhere. */
static struct json_object *describe_route(struct fabric *f, u32 sw,
					  const struct fab_switch_state *s, u32 lid)
{
	struct port_mask ports = { 0 };
	struct json_object *o;

	if (lid_is_mcast(lid))
		ports = *fab_switch_mask(f, sw, lid);
	else if (fab_switch_port(f, sw, lid) && fab_switch_port(f, sw, lid) <= s->ports)
		port_mask_set(&ports, fab_switch_port(f, sw, lid));
	if (port_mask_empty(&ports))
		return NULL;
	o = json_object_new_object();
	request_add_u64(o, "lid", lid);
	add_links(f, s, &ports, o);
	return o;
}

/* Adds a page of routes of an Ethernet switch, from an end on.  Returns whether more follow. */
static bool add_ways(struct fabric *f, u32 sw, u32 *end, struct json_object *list)
{
	u32 most = *end + VLIST_PAGE;
	struct fab_switch_state s;
	struct port_mask ports;
	const char *name;

	fab_switch_state(f, sw, &s);
	for (; *end < most && (name = fab_eth_ways(f, sw, *end, &ports)); ++*end) {
		struct json_object *o = json_object_new_object();

		request_add_word(o, "to", name);
		add_links(f, &s, &ports, o);
		json_object_array_add(list, o);
	}
	return *end == most;
}

/* Adds a page of routes, from a LID on.  Returns whether more follow. */
static bool add_routes(struct fabric *f, u32 sw, u32 *from, struct json_object *list)
{
	struct fab_switch_state s;
	u32 lid = *from;

	fab_switch_state(f, sw, &s);
	for (u32 n = 0; lid <= MLID_LAST && n < VLIST_PAGE; lid++) {
		struct json_object *o = NULL;

		if (lid <= LID_SWITCH || lid_is_mcast(lid))
			o = describe_route(f, sw, &s, lid);
		if (!o)
			continue;
		json_object_array_add(list, o);
		n++;
	}
	*from = lid;
	return lid <= MLID_LAST;
}

void request_routes(struct request *r)
{
	const char *name = request_word(r, "switch"), *kind = "routes";
	struct fab_switch_state s;
	struct json_object *list;
	struct fabric *f;
	bool more = false;
	u32 from;
	int sw;

	if (!name || !request_from(r, &from))
		return;
	list = json_object_new_array();
	f = vdev_fabric_lock(r->hca[0].dev);
	sw = fab_switch_find(f, name);
	if (sw >= 0 && fab_switch_state(f, sw, &s)) {
		if (s.ethernet)
			kind = "ways";
		more = (s.ethernet ? add_ways : add_routes)(f, sw, &from, list);
	}
	vdev_fabric_unlock(r->hca[0].dev);
	json_object_object_add(r->out, kind, list);
	if (sw < 0) {
		request_refuse(r, "no such switch", name);
		return;
	}
	request_add_word(r->out, "list", kind);
	if (more)
		request_add_u64(r->out, "next", from);
}
