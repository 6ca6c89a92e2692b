// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Fuzzes a line on the control socket.  Its user is trusted, but a mistake must not end the daemon.
 *
 * Input: the line.  The answer has to be a line of JSON that says whether the command was carried
 * out, and if not, why.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "fuzz/world.h"
#include "server/server.h"

#define LINE	1023u

static struct {
	struct world w;
	struct server *server;
	struct ctl_hca list[2];
} f;

/* Makes two working adapters, with objects of nearly every kind. */
static void make_adapters(void)
{
	world_init(&f.w, WORLD_XRC);
	for (u32 i = 0; i < 2; i++)
		f.list[i] = (struct ctl_hca){
			.name = i ? "b" : "a", .socket = "/x", .dev = f.w.h[i].dev,
			.server = f.server,
		};
}

static void prepare(void)
{
	struct server_config cfg = { .name = "fuzz", .vectors = 4, .kick_pages = 16 };
	char path[64];

	snprintf(path, sizeof(path), "/tmp/vhcad-fuzz-%d", getpid());
	cfg.path = path;
	assert_int_equal(server_new(&cfg, &f.server), 0);
	unlink(path);
	make_adapters();
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
	char line[LINE + 1], *answer;
	static bool ready;

	if (!ready)
		prepare();
	ready = true;
	len = MIN(len, (size_t)LINE);
	memcpy(line, data, len);
	line[len] = '\0';
	answer = ctl_answer(&(struct ctl_scope){ f.list, 2, NULL }, line);
	assert_non_null(answer);
	check(answer);
	t_poll(&f.w.w);
	if (!strstr(answer, "\"ok\":true")) {
		free(answer);
		return 0;
	}
	/* undo changes, so that every line meets the same state */
	free(answer);
	world_fini(&f.w);
	make_adapters();
	return 0;
}
