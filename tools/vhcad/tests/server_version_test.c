// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Version negotiation.
 */
#include <errno.h>
#include <json-c/json.h>
#include <string.h>
#include <unistd.h>

#include "tests/cm.h"
#include "tests/vuclient.h"

struct greeting {
	u16 major;
	u16 minor;
	char json[200];
};

static void reply_has_capabilities(void **state)
{
	struct vuc *v = *state;
	struct greeting g = { .minor = 9, .json = "{\"capabilities\":{}}" };
	struct json_object *root, *caps, *val;
	struct greeting r;
	u32 got;
	int sock;

	close(v->sock);
	v->sock = -1;
	sock = vuc_connect(v);
	assert_int_equal(vuc_call(sock, VU_VERSION, &g, 4 + strlen(g.json) + 1, NULL, 0, &r,
				  sizeof(r), &got), 0);
	assert_int_equal(r.major, VU_MAJOR);
	assert_int_equal(r.minor, VU_MINOR);
	assert_int_equal(got, 4 + strlen(r.json) + 1);
	root = json_tokener_parse(r.json);
	assert_true(json_object_object_get_ex(root, "capabilities", &caps));
	assert_true(json_object_object_get_ex(caps, "max_msg_fds", &val));
	assert_int_equal(json_object_get_int(val), VU_MAX_FDS);
	assert_true(json_object_object_get_ex(caps, "max_dma_maps", &val));
	assert_true(json_object_object_get_ex(caps, "pgsizes", &val));
	assert_int_equal(json_object_get_int(val), 4096);
	assert_true(json_object_object_get_ex(caps, "max_data_xfer_size", &val));
	assert_int_equal(json_object_get_int(val), VU_MAX_XFER);
	/* offering it would change what writes look like */
	assert_false(json_object_object_get_ex(caps, "write_multiple", &val));
	json_object_put(root);
	close(sock);
}

static void capabilities_are_optional(void **state)
{
	struct vuc *v = *state;
	u32 version = 0, got;
	int sock;

	close(v->sock);
	v->sock = -1;
	sock = vuc_connect(v);
	assert_int_equal(vuc_call(sock, VU_VERSION, &version, 4, NULL, 0, NULL, 0, &got), 0);
	close(sock);
}

static void refuse(struct vuc *v, u16 command, const void *body, u32 len)
{
	int sock;

	if (v->sock >= 0)
		close(v->sock);
	v->sock = -1;
	sock = vuc_connect(v);
	vuc_send_raw(sock, command, 16 + len, 0, body, len, NULL, 0);
	vuc_expect_cut(v, sock);
}

static void bad_greetings_end_the_session(void **state)
{
	struct greeting g = { .major = 1 };

	refuse(*state, VU_VERSION, &g, 4);			/* other major version */
	g.major = 0;
	refuse(*state, VU_VERSION, &g, 3);			/* too short */
	strcpy(g.json, "{\"capabilities\":{}}");
	refuse(*state, VU_VERSION, &g, 4 + strlen(g.json));	/* no NUL */
	strcpy(g.json, "{\"capabilities\":");
	refuse(*state, VU_VERSION, &g, 4 + strlen(g.json) + 1);	/* cut off */
	strcpy(g.json, "[]");
	refuse(*state, VU_VERSION, &g, 4 + strlen(g.json) + 1);
	strcpy(g.json, "{\"capabilities\":3}");
	refuse(*state, VU_VERSION, &g, 4 + strlen(g.json) + 1);
	memset(g.json, '[', sizeof(g.json) - 1);		/* nested */
	g.json[sizeof(g.json) - 1] = 0;
	refuse(*state, VU_VERSION, &g, 4 + strlen(g.json) + 1);
	memset(&g, 0, sizeof(g));
	refuse(*state, VU_GET_INFO, &g, 16);			/* not VERSION at all */
	refuse(*state, VU_DEVICE_RESET, NULL, 0);
}

static void version_comes_once(void **state)
{
	struct vuc *v = *state;
	u32 version = 0, got;

	assert_int_equal(vuc_call(v->sock, VU_VERSION, &version, 4, NULL, 0, NULL, 0, &got),
			 ENOTSUP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reply_has_capabilities, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(capabilities_are_optional, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(bad_greetings_end_the_session, vuc_setup,
						vuc_teardown),
		cmocka_unit_test_setup_teardown(version_comes_once, vuc_setup, vuc_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
