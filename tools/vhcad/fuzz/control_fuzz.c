// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Fuzzes a line on the control socket.  Its user is trusted, but a mistake must not end the daemon.
 *
 * Input: the line; behind a T it is for adapters on topologies, of InfiniBand and of Ethernet.
 * The answer has to be a line of JSON that says whether the command was carried out, and if not,
 * why.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "ether/ether.h"
#include "fuzz/world.h"
#include "server/server.h"
#include "tests/ttopo.h"

#define LINE	1023u

static struct {
	struct world w;
	struct server *server;
	struct ether *ether;
	struct ctl_hca list[2];
	struct tworld linked;
	struct thca h[2];
	struct ctl_hca on_links[2];
} f;

/* Arms a fault, so that there is one to tell of. */
static void arm(const struct ctl_hca *list, const char *hca)
{
	struct ctl_scope scope = { list, 2, NULL };
	char line[LINE + 1], *answer;

	snprintf(line, sizeof(line),
		 "{\"command\":\"fault\",\"kind\":\"loss\",\"hca\":\"%s\",\"permille\":1}", hca);
	answer = ctl_answer(&scope, line);
	assert_non_null(strstr(answer, "\"ok\":true"));
	free(answer);
}

/* Attaches a datagram QP of the second adapter to a group. */
static void make_group(void)
{
	struct vhca_mcg_req req = { .mgid = { 0xff, 0x12 }, .mlid = htole16(0xc000) };
	struct thca *h = &f.w.h[1];
	struct tqp qp;

	h->qp_type = VHCA_QPT_UD;
	t_qp_init_size(h, &qp, &f.w.cq[1], &f.w.cq[1], 4, 4, 7, 0);
	t_ud_up(&qp, WORLD_QKEY);
	req.qpn = htole32(qp.qpn);
	assert_int_equal(t_admin(h, VHCA_CMD_ATTACH_MCG, &req, sizeof(req), NULL), VHCA_ST_OK);
}

/* Makes two working adapters, with objects of every kind. */
static void make_adapters(void)
{
	world_init(&f.w, WORLD_XRC);
	make_group();
	for (u32 i = 0; i < 2; i++)
		f.list[i] = (struct ctl_hca){
			.name = i ? "b" : "a", .socket = "/x", .dev = f.w.h[i].dev,
			.server = f.server,
		};
	arm(f.list, "a");
}

static void make_linked(void)
{
	static const struct t_link links[] = {
		{ "s-a:1", "4X EDR", 5, 4 }, { "s-z", "4X HDR", 5, 4 }, { "z-b:1", "1X SDR", 0, 2 },
		{ 0 },
	}, frames[] = {
		{ "e-a:2", "4X EDR", 5, 4 }, { "e-f", "4X HDR", 5, 4 }, { "f-b:2", "1X SDR", 0, 2 },
		{ 0 },
	};

	t_world_init(&f.linked);
	fabric_set_topology(f.linked.fabric, t_topo("sz", TOPO_HOQ_USUAL, links));
	fabric_set_topology(f.linked.fabric, t_eth_topo("ef", TOPO_HOQ_USUAL, frames));
	for (u32 i = 0; i < 2; i++) {
		struct vdev_config cfg = {
			.name = i ? "b" : "a", .node_guid = 0x1000 * (i + 1), .ports = 2,
			.vectors = 4, .port[1] = { .ethernet = true, .mac = { 2, 0, 0, 0, 0, i } },
		};

		t_hca_init_cfg(&f.h[i], &f.linked, &cfg);
		f.on_links[i] = (struct ctl_hca){
			.name = cfg.name, .socket = "/x", .dev = f.h[i].dev, .server = f.server,
		};
	}
	arm(f.on_links, "b");
	arm(f.on_links, "s-z");
	arm(f.on_links, "all");
}

static void free_linked(void)
{
	for (u32 i = 0; i < 2; i++)
		t_hca_fini(&f.h[i]);
	t_world_fini(&f.linked);
}

static void prepare(void)
{
	struct server_config cfg = { .name = "fuzz", .vectors = 4, .kick_pages = 16 };
	char path[64];

	snprintf(path, sizeof(path), "/tmp/vhcad-fuzz-%d", getpid());
	cfg.path = path;
	assert_int_equal(server_new(&cfg, &f.server), 0);
	unlink(path);
	assert_int_equal(ether_new(path, NULL, &f.ether), 0);
	unlink(path);
	make_adapters();
	make_linked();
}

static void check(const char *answer)
{
	struct json_object *o, *ok, *error;
	size_t len = strlen(answer);

	assert_true(len && answer[len - 1] == '\n' && strchr(answer, '\n') == answer + len - 1);
	o = json_tokener_parse(answer);
	assert_non_null(o);
	assert_true(json_object_object_get_ex(o, "ok", &ok));
	assert_int_equal(json_object_get_boolean(ok),
			 !json_object_object_get_ex(o, "error", &error));
	json_object_put(o);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct ctl_scope scope = { f.list, 2, NULL };
	char line[LINE + 1], *answer;
	bool linked = len && *data == 'T';
	static bool ready;

	if (!ready)
		prepare();
	ready = true;
	if (linked)
		scope = (struct ctl_scope){ f.on_links, 2, f.ether };
	len = MIN(len - linked, (size_t)LINE);
	memcpy(line, data + linked, len);
	line[len] = '\0';
	answer = ctl_answer(&scope, line);
	assert_non_null(answer);
	check(answer);
	t_poll(linked ? &f.linked : &f.w.w);
	if (!strstr(answer, "\"ok\":true")) {
		free(answer);
		return 0;
	}
	/* undo changes, so that every line meets the same state */
	free(answer);
	if (linked) {
		free_linked();
		make_linked();
	} else {
		world_fini(&f.w);
		make_adapters();
	}
	return 0;
}
