// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdio.h>
#include <string.h>

#include "fabric/fabric.h"
#include "subnet/bridge.h"
#include "subnet/static.h"
#include "tests/cm.h"
#include "tests/ttopo.h"

struct topo_link t_link_of(const struct t_link *w)
{
	struct topo_link l = { .latency = w->latency, .queue = w->queue };
	const char *dash = strchr(w->ends, '-');

	snprintf(l.name, sizeof(l.name), "%s", w->ends);
	snprintf(l.end[0], sizeof(l.end[0]), "%.*s", (int)(dash - w->ends), w->ends);
	snprintf(l.end[1], sizeof(l.end[1]), "%s", dash + 1);
	assert_true(fab_rate_parse(w->rate, &l.rate));
	return l;
}

static struct topo *describe(bool ethernet, const char *switches, u32 hoq_life,
			     const struct t_link *w)
{
	struct topo *t = topo_new(ethernet);

	assert_non_null(t);
	for (; *switches; switches++)
		assert_null(topo_switch(t, (char[2]){ *switches }, hoq_life));
	for (; w->ends; w++) {
		struct topo_link l = t_link_of(w);

		assert_null(topo_link(t, &l));
	}
	return t;
}

static struct topo *finish(struct topo *t)
{
	char why[128];

	if (!t_finish(t, why, sizeof(why)))
		fail_msg("%s", why);
	return t;
}

struct topo *t_topo_open(const char *switches, u32 hoq_life, const struct t_link *w)
{
	return describe(false, switches, hoq_life, w);
}

struct topo *t_topo(const char *switches, u32 hoq_life, const struct t_link *w)
{
	return finish(t_topo_open(switches, hoq_life, w));
}

struct topo *t_eth_topo_open(const char *switches, u32 hoq_life, const struct t_link *w)
{
	return describe(true, switches, hoq_life, w);
}

struct topo *t_eth_topo(const char *switches, u32 hoq_life, const struct t_link *w)
{
	return finish(t_eth_topo_open(switches, hoq_life, w));
}

bool t_finish(struct topo *t, char *why, size_t room)
{
	if (!topo_check(t, why, room) || !subnet_check_routes(t, why, room))
		return false;
	/* it is called for Ethernet switches only */
	topo_set_writer(t, bridge_write);
	return !topo_finish(t);
}

struct fabric *t_fabric(void)
{
	struct fabric *f = fabric_new();

	assert_non_null(f);
	assert_int_equal(subnet_static(f), 0);
	return f;
}
