// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Answers of QUERY_DEVICE and QUERY_PORT are little-endian on any host.  They are made a
 * second time as by a processor of the other byte order, whose conversions swap
 * all bytes: a field that is not converted is the same as before.
 */
#include <byteswap.h>
#include <endian.h>
#include <string.h>

#include "res/command.h"
#include "tests/thca.h"

#undef htole16
#undef htole32
#undef htole64
#define htole16(n)	bswap_16(n)
#define htole32(n)	bswap_32(n)
#define htole64(n)	bswap_64(n)

#define cmd_query_device	other_query_device
#define cmd_query_port		other_query_port
#define cmd_query_counters	other_query_counters
#define cmd_query_gids		other_query_gids
#define cmd_query_pkeys		other_query_pkeys
#define cmd_query_clock		other_query_clock
#define cmd_set_node_desc	other_set_node_desc
#define command_output		other_output

enum vhca_status other_query_device(struct command *c);
enum vhca_status other_query_port(struct command *c);
enum vhca_status other_query_counters(struct command *c);
enum vhca_status other_query_gids(struct command *c);
enum vhca_status other_query_pkeys(struct command *c);
enum vhca_status other_query_clock(struct command *c);
enum vhca_status other_set_node_desc(struct command *c);
enum vhca_status other_output(struct command *c, const void *data, u32 len);

#include "dev/query.c"

static u8 answer[VHCA_LIST_PAGE];

enum vhca_status other_output(struct command *c, const void *data, u32 len)
{
	memcpy(answer, data, len);
	return VHCA_ST_OK;
}

struct member {
	const char *name;
	u32 off, size;
};

#define MEMBER(type, name)	\
	{ #name, offsetof(struct type, name), sizeof(((struct type *)0)->name) }
#define DEVICE(name)		MEMBER(vhca_device_attr, name)
#define PORT(name)		MEMBER(vhca_port_attr, name)

static const struct member device[] = {
	DEVICE(caps), DEVICE(node_guid), DEVICE(sys_image_guid), DEVICE(fw_version),
	DEVICE(max_mr_size), DEVICE(page_sizes), DEVICE(max_uars), DEVICE(max_eqs),
	DEVICE(max_pds), DEVICE(max_mkeys), DEVICE(max_cqs), DEVICE(max_cqe), DEVICE(max_qps),
	DEVICE(max_sq_blocks), DEVICE(max_rq_wr), DEVICE(max_send_sge), DEVICE(max_recv_sge),
	DEVICE(max_inline), DEVICE(max_msg), DEVICE(clock_khz), DEVICE(vectors),
	DEVICE(max_srqs), DEVICE(max_srq_wr), DEVICE(max_mcgs), DEVICE(max_mcg_qps),
	DEVICE(max_moderation_count), DEVICE(max_moderation_period), DEVICE(max_reg_entries),
	DEVICE(max_xrcds), DEVICE(max_counters),
};

static const struct member port[] = {
	PORT(cap_mask), PORT(gid_entries), PORT(pkey_entries), PORT(max_msg), PORT(qkey_viol),
	PORT(pkey_viol), PORT(lid), PORT(sm_lid), PORT(active_speed),
};

static void expect_turned(const struct member *m, u32 n, const u8 *ours)
{
	for (u32 i = 0; i < n; i++, m++)
		for (u32 k = 0; k < m->size; k++)
			if (answer[m->off + k] != ours[m->off + m->size - 1 - k])
				fail_msg("%s is not converted", m->name);
}

static void answers(void **state)
{
	struct vhca_port_req req = { .port = 1 };
	struct vhca_device_attr d;
	struct vhca_port_attr p;
	struct command c = { 0 };
	struct tworld w;
	struct thca h;

	t_world_init(&w);
	t_hca_init(&h, &w, 0x123456789abc);
	c.dev = h.dev;
	assert_int_equal(t_admin_out(&h, VHCA_CMD_QUERY_DEVICE, NULL, 0, &d, sizeof(d)), 0);
	assert_int_equal(other_query_device(&c), 0);
	expect_turned(device, ARRAY_SIZE(device), (u8 *)&d);
	assert_int_equal(t_admin_out(&h, VHCA_CMD_QUERY_PORT, &req, sizeof(req), &p, sizeof(p)), 0);
	memcpy(c.sqe.req, &req, sizeof(req));
	assert_int_equal(other_query_port(&c), 0);
	expect_turned(port, ARRAY_SIZE(port), (u8 *)&p);
	t_hca_fini(&h);
	t_world_fini(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
