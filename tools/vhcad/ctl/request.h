/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A command of the control socket while it runs; for ctl/ alone.
 */
#ifndef VHCAD_CTL_REQUEST_H
#define VHCAD_CTL_REQUEST_H

#include <json-c/json.h>

#include "ctl/ctl.h"

struct request {
	const struct ctl_hca *hca;
	u32 nhcas;
	struct ether *ether;
	struct json_object *in;
	struct json_object *out;
};

/** request_refuse() - answer with an error: "WHY: WHAT", or "WHY" alone */
void request_refuse(struct request *r, const char *why, const char *what);

/** request_word() - a member that has to be a string; NULL after a refusal */
const char *request_word(struct request *r, const char *key);

/** request_hca() - the adapter that "hca" gives, by name or node GUID; NULL after a refusal */
const struct ctl_hca *request_hca(struct request *r);

/** request_port() - the port number that "port" gives, 1 by default; 0 after a refusal */
u32 request_port(struct request *r, const struct ctl_hca *hca);

/** request_from() - where the page is to start, by "from"; false after a refusal */
bool request_from(struct request *r, u32 *from);

void request_add_u64(struct json_object *o, const char *key, u64 v);
void request_add_bool(struct json_object *o, const char *key, bool v);
void request_add_word(struct json_object *o, const char *key, const char *v);

/** request_list() - carry out the commands "qps", "cqs", "srqs", "groups", "keys" */
void request_list(struct request *r);

/** request_change() - carry out the command "port" */
void request_change(struct request *r);

/** request_link() - carry out the command "link" */
void request_link(struct request *r);

/** request_reroute() - carry out the command "reroute" */
void request_reroute(struct request *r);

/** request_between() - the number of the link between switches that "hca" names, or -1 */
int request_between(const struct request *r);

/* lists of links, switches and routes */
void request_links(struct request *r);
void request_switches(struct request *r);
void request_routes(struct request *r);

/** request_ethernet() - carry out the command "ethernet" */
void request_ethernet(struct request *r);

/** request_fault() - carry out the command "fault" */
void request_fault(struct request *r);

/** request_faults() - an array of the faults that are armed in an adapter and at its links */
struct json_object *request_faults(const struct ctl_hca *hca);

/** request_every_links_faults() - an array of the faults that are armed at all links at once */
struct json_object *request_every_links_faults(const struct request *r);

/* status.c: the commands of these names */
void request_status(struct request *r);
void request_counters(struct request *r);
void request_objects(struct request *r);
void request_work(struct request *r);

#endif /* VHCAD_CTL_REQUEST_H */
