// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: the port mapper's client, with a fake daemon.
 */
#include <kunit/static_stub.h>
#include <linux/slab.h>
#include <rdma/kunit.h>

#include "fake_daemon.h"

#define ATTRS		8	/* largest number of attributes of a message */

static int reg(void)
{
	struct iwpm_dev_data names = { .dev_name = "kt_iwarp", .if_name = "eth7" };

	return iwpm_register_pid(&names, RDMA_NL_IWCM);
}

static struct iwpm_sa_data question(void)
{
	return (struct iwpm_sa_data){
		.loc_addr = iwt_address(0x0a000001, 1000),
		.rem_addr = iwt_address(0x0a000002, 2000),
	};
}

static u32 number(struct daemon *daemon, int type)
{
	u32 value;

	KUNIT_EXPECT_EQ(daemon->test, daemon->len[type], (int)sizeof(value));
	memcpy(&value, daemon->last[type], sizeof(value));
	return value;
}

static int of_daemon(struct daemon *daemon, int type, const struct sockaddr_storage *addr)
{
	KUNIT_EXPECT_EQ(daemon->test, daemon->len[type], (int)sizeof(*addr));
	return memcmp(daemon->last[type], addr, sizeof(*addr));
}

/* ---- registering ---- */

static void daemon_is_found(struct kunit *test)
{
	struct daemon *daemon = test->priv;

	KUNIT_EXPECT_FALSE(test, iwpm_valid_pid());
	KUNIT_EXPECT_EQ(test, reg(), 0);
	KUNIT_EXPECT_EQ(test, daemon->callback, 0);
	KUNIT_EXPECT_TRUE(test, iwpm_valid_pid());
	KUNIT_EXPECT_EQ(test, daemon->road, IWPM_TO_ALL);
	KUNIT_EXPECT_EQ(test, daemon->len[IWPM_NLA_REG_IF_NAME], IWPM_IFNAME_SIZE);
	KUNIT_EXPECT_STREQ(test, (char *)daemon->last[IWPM_NLA_REG_IF_NAME], "eth7");
	KUNIT_EXPECT_STREQ(test, (char *)daemon->last[IWPM_NLA_REG_IBDEV_NAME], "kt_iwarp");
	KUNIT_EXPECT_STREQ(test, (char *)daemon->last[IWPM_NLA_REG_ULIB_NAME], IWPM_LIBRARY);
	KUNIT_EXPECT_EQ(test, reg(), 0);
	KUNIT_EXPECT_EQ(test, daemon->sent[RDMA_NL_IWPM_REG_PID], 1);
}

static void unfit_daemons_are_not_used(struct kunit *test)
{
	struct daemon *daemon = test->priv;
	static const enum manner unfit[] = { LIE, OTHER_LIBRARY, OLD_VERSION };

	for (int i = 0; i < ARRAY_SIZE(unfit); i++) {
		daemon->manner = unfit[i];
		KUNIT_EXPECT_EQ(test, reg(), IWPM_USER_LIB_INFO_ERR);
		KUNIT_EXPECT_FALSE(test, iwpm_valid_pid());
	}
	daemon->manner = REFUSE;
	KUNIT_EXPECT_EQ(test, reg(), IWPM_DUPLICATE_MAPPING_ERR);
	KUNIT_EXPECT_FALSE(test, iwpm_valid_pid());
}

static void absent_daemon_is_not_looked_for(struct kunit *test)
{
	struct daemon *daemon = test->priv;

	daemon->manner = ABSENT;
	KUNIT_EXPECT_EQ(test, reg(), -ESRCH);
	daemon->manner = ANSWER;
	KUNIT_EXPECT_EQ(test, reg(), 0);
	KUNIT_EXPECT_FALSE(test, iwpm_valid_pid());
	KUNIT_EXPECT_EQ(test, daemon->sent[RDMA_NL_IWPM_REG_PID], 0);
	/* A new daemon sends a hello. */
	KUNIT_EXPECT_EQ(test, iwd_hello(test, 4), 0);
	KUNIT_EXPECT_TRUE(test, iwpm_valid_pid());
	KUNIT_EXPECT_EQ(test, reg(), 0);
	KUNIT_EXPECT_EQ(test, daemon->sent[RDMA_NL_IWPM_REG_PID], 1);
}

static void silent_daemon_is_not_waited_for(struct kunit *test)
{
	struct daemon *daemon = test->priv;

	iwpm_daemon.patience = 1;
	daemon->manner = SILENT;
	KUNIT_EXPECT_EQ(test, reg(), -ETIMEDOUT);
	KUNIT_EXPECT_FALSE(test, iwpm_valid_pid());
	/* Its answer comes too late. */
	strscpy(daemon->device, "kt_iwarp");
	KUNIT_EXPECT_EQ(test, iwd_answer_register(daemon), -EINVAL);
	KUNIT_EXPECT_FALSE(test, iwpm_valid_pid());
	KUNIT_EXPECT_EQ(test, iwd_answer_error(daemon), 0);
}

/* ---- mappings ---- */

static void local_address_is_mapped(struct kunit *test)
{
	struct daemon *daemon = test->priv;
	struct iwpm_sa_data q = question();
	struct sockaddr_storage wire = iwd_mapped(q.loc_addr);

	/* Without a daemon nothing is sent. */
	KUNIT_EXPECT_EQ(test, iwpm_add_mapping(&q, RDMA_NL_IWCM), 0);
	KUNIT_EXPECT_EQ(test, iwpm_remove_mapping(&q.loc_addr, RDMA_NL_IWCM), 0);
	KUNIT_EXPECT_EQ(test, q.mapped_loc_addr.ss_family, 0);
	KUNIT_ASSERT_EQ(test, reg(), 0);
	q.flags = IWPM_FLAGS_NO_PORT_MAP;
	KUNIT_EXPECT_EQ(test, iwpm_add_mapping(&q, RDMA_NL_IWCM), 0);
	KUNIT_EXPECT_EQ(test, daemon->callback, 0);
	KUNIT_EXPECT_EQ(test, daemon->road, IWPM_PATIENT);
	KUNIT_EXPECT_EQ(test, of_daemon(daemon, IWPM_NLA_MANAGE_ADDR, &q.loc_addr), 0);
	KUNIT_EXPECT_EQ(test, number(daemon, IWPM_NLA_MANAGE_FLAGS), IWPM_FLAGS_NO_PORT_MAP);
	/* The sequence number of the daemon's last message. */
	KUNIT_EXPECT_EQ(test, number(daemon, IWPM_NLA_MANAGE_MAPPING_SEQ), 99);
	KUNIT_EXPECT_MEMEQ(test, &q.mapped_loc_addr, &wire, sizeof(wire));

	KUNIT_EXPECT_EQ(test, iwpm_remove_mapping(&q.loc_addr, RDMA_NL_IWCM), 0);
	KUNIT_EXPECT_EQ(test, daemon->sent[RDMA_NL_IWPM_REMOVE_MAPPING], 1);
	KUNIT_EXPECT_EQ(test, of_daemon(daemon, IWPM_NLA_MANAGE_ADDR, &q.loc_addr), 0);
	KUNIT_EXPECT_EQ(test, daemon->len[IWPM_NLA_MANAGE_FLAGS], -1);
}

static void peers_address_is_mapped(struct kunit *test)
{
	struct daemon *daemon = test->priv;
	struct iwpm_sa_data q = question();
	struct sockaddr_storage wire = iwd_mapped(q.loc_addr), peer = iwd_mapped(q.rem_addr);

	KUNIT_ASSERT_EQ(test, reg(), 0);
	KUNIT_EXPECT_EQ(test, iwpm_add_and_query_mapping(&q, RDMA_NL_IWCM), 0);
	KUNIT_EXPECT_EQ(test, daemon->callback, 0);
	KUNIT_EXPECT_EQ(test, of_daemon(daemon, IWPM_NLA_QUERY_LOCAL_ADDR, &q.loc_addr), 0);
	KUNIT_EXPECT_EQ(test, of_daemon(daemon, IWPM_NLA_QUERY_REMOTE_ADDR, &q.rem_addr), 0);
	KUNIT_EXPECT_EQ(test, number(daemon, IWPM_NLA_QUERY_FLAGS), 0);
	KUNIT_EXPECT_MEMEQ(test, &q.mapped_loc_addr, &wire, sizeof(wire));
	KUNIT_EXPECT_MEMEQ(test, &q.mapped_rem_addr, &peer, sizeof(peer));

	daemon->manner = REJECT;
	memset(&q.mapped_loc_addr, 0, sizeof(q.mapped_loc_addr));
	KUNIT_EXPECT_EQ(test, iwpm_add_and_query_mapping(&q, RDMA_NL_IWCM),
			IWPM_REMOTE_QUERY_REJECT);
	KUNIT_EXPECT_MEMEQ(test, &q.mapped_loc_addr, &wire, sizeof(wire));
}

static void refused_mapping(struct kunit *test, enum manner manner, int ret)
{
	struct daemon *daemon = test->priv;
	struct iwpm_sa_data q = question();

	iwpm_exit(RDMA_NL_IWCM);
	daemon->manner = ANSWER;
	KUNIT_ASSERT_EQ(test, reg(), 0);
	daemon->manner = manner;
	KUNIT_EXPECT_EQ(test, iwpm_add_mapping(&q, RDMA_NL_IWCM), ret);
	KUNIT_EXPECT_EQ(test, q.mapped_loc_addr.ss_family, 0);
	/* A daemon that cannot be reached is taken as absent. */
	KUNIT_EXPECT_EQ(test, iwpm_valid_pid(), manner != ABSENT);
	if (manner == ABSENT)
		return;
	KUNIT_EXPECT_EQ(test, iwpm_add_and_query_mapping(&q, RDMA_NL_IWCM), ret);
	KUNIT_EXPECT_EQ(test, q.mapped_rem_addr.ss_family, 0);
}

static void refused_mappings(struct kunit *test)
{
	refused_mapping(test, REFUSE, IWPM_DUPLICATE_MAPPING_ERR);
	refused_mapping(test, LIE, IWPM_USER_LIB_INFO_ERR);
	refused_mapping(test, MIX, IWPM_USER_LIB_INFO_ERR);
	refused_mapping(test, ABSENT, -ECONNREFUSED);
	iwpm_daemon.patience = 1;
	refused_mapping(test, SILENT, -ETIMEDOUT);
}

static void old_messages_have_no_flags(struct kunit *test)
{
	struct daemon *daemon = test->priv;
	struct iwpm_sa_data q = question();

	daemon->version = IWPM_UABI_VERSION_MIN;
	KUNIT_ASSERT_EQ(test, reg(), 0);
	KUNIT_EXPECT_EQ(test, iwpm_add_mapping(&q, RDMA_NL_IWCM), 0);
	KUNIT_EXPECT_EQ(test, daemon->len[IWPM_NLA_MANAGE_FLAGS], -1);
	q.flags = IWPM_FLAGS_NO_PORT_MAP;
	KUNIT_EXPECT_EQ(test, iwpm_add_mapping(&q, RDMA_NL_IWCM), -EINVAL);
	KUNIT_EXPECT_EQ(test, iwpm_add_and_query_mapping(&q, RDMA_NL_IWCM), -EINVAL);
	KUNIT_EXPECT_EQ(test, daemon->sent[RDMA_NL_IWPM_ADD_MAPPING], 1);
}

static void hello_agrees_on_a_version(struct kunit *test)
{
	struct daemon *daemon = test->priv;
	struct iwpm_sa_data q = question();

	for (u16 version = 3; version <= 5; version++) {
		u16 answer;

		KUNIT_EXPECT_EQ(test, iwd_hello(test, version), 0);
		KUNIT_EXPECT_EQ(test, daemon->road, IWPM_AT_ONCE);
		KUNIT_EXPECT_EQ(test, daemon->len[IWPM_NLA_HELLO_ABI_VERSION], 2);
		memcpy(&answer, daemon->last[IWPM_NLA_HELLO_ABI_VERSION], 2);
		KUNIT_EXPECT_EQ(test, answer, min_t(u16, version, 4));
		KUNIT_EXPECT_EQ(test, iwpm_daemon.version, min_t(u16, version, 4));
	}
	KUNIT_EXPECT_EQ(test, daemon->sent[RDMA_NL_IWPM_HELLO], 3);
	/* A new daemon does not know this host. */
	KUNIT_EXPECT_TRUE(test, iwpm_valid_pid());
	KUNIT_EXPECT_EQ(test, iwpm_add_mapping(&q, RDMA_NL_IWCM), -EINVAL);
	KUNIT_EXPECT_EQ(test, iwpm_remove_mapping(&q.loc_addr, RDMA_NL_IWCM), 0);
	KUNIT_EXPECT_EQ(test, reg(), 0);
	KUNIT_EXPECT_EQ(test, iwpm_add_mapping(&q, RDMA_NL_IWCM), 0);
}

static void old_daemon_is_not_answered(struct kunit *test)
{
	struct daemon *daemon = test->priv;

	for (u16 version = 0; version < IWPM_UABI_VERSION_MIN; version++) {
		KUNIT_EXPECT_EQ(test, iwd_hello(test, version), -EINVAL);
		KUNIT_EXPECT_FALSE(test, iwpm_valid_pid());
		KUNIT_EXPECT_EQ(test, iwpm_daemon.version, IWPM_UABI_VERSION_MIN);
	}
	KUNIT_EXPECT_EQ(test, daemon->sent[RDMA_NL_IWPM_HELLO], 0);
}

static void new_daemon_is_told_of_mappings(struct kunit *test)
{
	struct daemon *daemon = test->priv;
	struct sockaddr_storage local, wire;
	const int count = 100;

	KUNIT_EXPECT_EQ(test, iwd_ask_for_mappings(test, 4), 0);
	KUNIT_EXPECT_TRUE(test, iwpm_valid_pid());
	KUNIT_EXPECT_EQ(test, daemon->sent[RDMA_NL_IWPM_MAPINFO_NUM], 0);
	KUNIT_EXPECT_EQ(test, iwd_hello(test, 4), 0);
	for (int i = 0; i < count; i++) {
		local = iwt_address(0x0a000001, i + 1);
		wire = iwd_mapped(local);
		KUNIT_ASSERT_EQ(test, iwpm_create_mapinfo(&local, &wire, RDMA_NL_IWCM, 1), 0);
	}
	KUNIT_EXPECT_EQ(test, iwd_ask_for_mappings(test, 4), 0);
	KUNIT_EXPECT_EQ(test, daemon->sent[RDMA_NL_IWPM_MAPINFO], count);
	KUNIT_EXPECT_GT(test, daemon->done, 1);
	KUNIT_EXPECT_EQ(test, daemon->sent[RDMA_NL_IWPM_MAPINFO_NUM], 1);
	KUNIT_EXPECT_EQ(test, number(daemon, IWPM_NLA_MAPINFO_SEND_NUM), count);

	for (int i = 1; i < count; i++) {
		local = iwt_address(0x0a000001, i + 1);
		wire = iwd_mapped(local);
		KUNIT_EXPECT_EQ(test, iwpm_remove_mapinfo(&local, &wire), 0);
		KUNIT_EXPECT_EQ(test, iwpm_remove_mapinfo(&local, &wire), -EINVAL);
	}
	KUNIT_EXPECT_EQ(test, iwd_ask_for_mappings(test, 4), 0);
	KUNIT_EXPECT_EQ(test, daemon->sent[RDMA_NL_IWPM_MAPINFO], count + 1);
	KUNIT_EXPECT_EQ(test, number(daemon, IWPM_NLA_MAPINFO_SEND_NUM), 1);
	KUNIT_EXPECT_EQ(test, iwd_ask_for_mappings(test, 2), -EINVAL);
	/* The daemon cannot be reached any more when the mappings are sent. */
	daemon->manner = ABSENT;
	KUNIT_EXPECT_EQ(test, iwd_ask_for_mappings(test, 4), -ECONNREFUSED);
}

static void only_ip_is_mapped(struct kunit *test)
{
	struct sockaddr_storage other = { .ss_family = AF_UNIX };
	struct sockaddr_storage local = iwt_address(1, 1), v6 = iwd_any_v6(), found;

	KUNIT_EXPECT_EQ(test, iwpm_create_mapinfo(&other, &local, RDMA_NL_IWCM, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, iwpm_create_mapinfo(&local, &other, RDMA_NL_IWCM, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, iwpm_create_mapinfo(&local, &local, RDMA_NL_NLDEV, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, iwpm_get_remote_info(&other, &local, &found, RDMA_NL_IWCM), -EINVAL);
	KUNIT_EXPECT_EQ(test, iwpm_create_mapinfo(&v6, &v6, RDMA_NL_IWCM, 0), 0);
	KUNIT_EXPECT_EQ(test, iwpm_remove_mapinfo(&v6, &v6), 0);
}

/* ---- peers ---- */

static int announce(struct kunit *test, u16 wire_port, u16 port)
{
	struct sockaddr_storage local = iwt_address(0x0a000001, 1000), to_local = iwd_mapped(local);
	struct sockaddr_storage remote = iwt_address(0x0a000002, port);
	struct sockaddr_storage to_remote = iwt_address(0x0a000002, wire_port);
	u32 seq = 0;
	u16 err = 0;
	const struct attr attrs[] = {
		ATTR(IWPM_NLA_RQUERY_MAPPING_SEQ, seq),
		ATTR(IWPM_NLA_RQUERY_LOCAL_ADDR, local),
		ATTR(IWPM_NLA_RQUERY_REMOTE_ADDR, remote),
		ATTR(IWPM_NLA_RQUERY_MAPPED_LOC_ADDR, to_local),
		ATTR(IWPM_NLA_RQUERY_MAPPED_REM_ADDR, to_remote),
		ATTR(IWPM_NLA_RQUERY_MAPPING_ERR, err),
	};

	return iwd_tell(test, RDMA_NL_IWPM_REMOTE_INFO, attrs, ARRAY_SIZE(attrs));
}

static int peer_at(u16 wire_port)
{
	struct sockaddr_storage local = iwd_mapped(iwt_address(0x0a000001, 1000));
	struct sockaddr_storage wire = iwt_address(0x0a000002, wire_port), found;

	if (iwpm_get_remote_info(&local, &wire, &found, RDMA_NL_IWCM))
		return -1;
	return ntohs(((struct sockaddr_in *)&found)->sin_port);
}

static void peers_are_remembered_once(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, announce(test, 7, 2000), 0);
	KUNIT_EXPECT_EQ(test, announce(test, 8, 2001), 0);
	KUNIT_EXPECT_EQ(test, announce(test, 7, 2002), 0);
	KUNIT_EXPECT_EQ(test, iwpm_peers_known(), 2);
	KUNIT_EXPECT_EQ(test, peer_at(9), -1);
	KUNIT_EXPECT_EQ(test, peer_at(7), 2002);
	KUNIT_EXPECT_EQ(test, peer_at(7), -1);
	KUNIT_EXPECT_EQ(test, peer_at(8), 2001);
	KUNIT_EXPECT_EQ(test, iwpm_peers_known(), 0);
}

/* Those in the middle are not announced by messages, which would take most of the time. */
static void peers_who_never_come_are_forgotten(struct kunit *test)
{
	struct iwpm_msg *msg = kunit_kzalloc(test, sizeof(*msg), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, msg);
	for (int i = 1; i <= 4; i++)
		KUNIT_ASSERT_EQ(test, announce(test, i, i), 0);
	msg->mapped_local = iwd_mapped(iwt_address(0x0a000001, 1000));
	for (int i = 5; i <= IWPM_PEERS; i++) {
		msg->mapped_remote = iwt_address(0x0a000002, i);
		msg->remote = msg->mapped_remote;
		KUNIT_ASSERT_EQ(test, iwpm_remember_peer(msg), 0);
	}
	for (int i = IWPM_PEERS + 1; i <= IWPM_PEERS + 3; i++)
		KUNIT_ASSERT_EQ(test, announce(test, i, i), 0);
	KUNIT_EXPECT_EQ(test, iwpm_peers_known(), IWPM_PEERS);
	KUNIT_EXPECT_EQ(test, peer_at(3), -1);
	KUNIT_EXPECT_EQ(test, peer_at(4), 4);
	KUNIT_EXPECT_EQ(test, peer_at(IWPM_PEERS + 3), IWPM_PEERS + 3);
}

/* ---- ids ---- */

static int mappings_known(struct kunit *test)
{
	struct daemon *daemon = test->priv;
	int sent = daemon->sent[RDMA_NL_IWPM_MAPINFO];

	KUNIT_EXPECT_EQ(test, iwpm_send_mappings(PORTID, 4), 0);
	return daemon->sent[RDMA_NL_IWPM_MAPINFO] - sent;
}

static void expect_address(struct kunit *test, const struct sockaddr_storage *addr,
			   struct sockaddr_storage expected)
{
	KUNIT_EXPECT_MEMEQ(test, addr, &expected, sizeof(expected));
}

static void listener_is_mapped(struct kunit *test, struct fake_iwarp *fake)
{
	struct daemon *daemon = test->priv;
	struct iw_cm_id *cm_id = iwt_id(fake);
	int heard = fake->n_heard;
	const struct fake_heard *last = &fake->heard[heard];

	KUNIT_EXPECT_EQ(test, iw_cm_listen(cm_id, 1), 0);
	KUNIT_EXPECT_TRUE(test, cm_id->mapped);
	expect_address(test, &cm_id->m_local_addr, iwd_mapped(cm_id->local_addr));
	KUNIT_EXPECT_EQ(test, mappings_known(test), 1);
	/* The peer's daemon has announced the address from which its consumer connects. */
	KUNIT_EXPECT_EQ(test, announce(test, 7, 2000), 0);
	KUNIT_EXPECT_EQ(test, iwt_request(cm_id, 7), 0);
	iwt_settle(cm_id);
	KUNIT_ASSERT_EQ(test, fake->n_heard, heard + 1);
	expect_address(test, &last->event.remote_addr, iwt_address(0x0a000002, 2000));
	expect_address(test, &last->event.local_addr, cm_id->local_addr);
	expect_address(test, &last->cm_id->remote_addr, iwt_address(0x0a000002, 2000));
	expect_address(test, &last->cm_id->m_remote_addr, iwt_address(0x0a000002, 7));
	KUNIT_EXPECT_FALSE(test, last->cm_id->mapped);
	iw_destroy_cm_id(last->cm_id);
	KUNIT_EXPECT_EQ(test, daemon->sent[RDMA_NL_IWPM_REMOVE_MAPPING], 0);
	iw_destroy_cm_id(cm_id);
	KUNIT_EXPECT_EQ(test, daemon->sent[RDMA_NL_IWPM_REMOVE_MAPPING], 1);
	KUNIT_EXPECT_EQ(test, mappings_known(test), 0);
}

static void connection_is_mapped(struct kunit *test, struct fake_iwarp *fake, enum manner manner)
{
	struct daemon *daemon = test->priv;
	struct iw_cm_conn_param param = iwt_param();
	struct iw_cm_id *cm_id = iwt_id(fake);
	bool ok = manner == ANSWER;

	daemon->manner = manner;
	KUNIT_EXPECT_EQ(test, iw_cm_connect(cm_id, &param), 0);
	expect_address(test, &cm_id->m_local_addr,
		       ok ? iwd_mapped(cm_id->local_addr) : cm_id->local_addr);
	expect_address(test, &cm_id->m_remote_addr,
		       ok ? iwd_mapped(cm_id->remote_addr) : cm_id->remote_addr);
	/*
	 * An address that cannot be mapped is used unchanged, and a new daemon is informed of it.
	 */
	KUNIT_EXPECT_EQ(test, mappings_known(test), 1);
	/* The driver reports another address than was mapped. */
	iwt_report(cm_id, IW_CM_EVENT_CONNECT_REPLY, ok ? 0 : -ECONNREFUSED);
	iw_destroy_cm_id(cm_id);
	KUNIT_EXPECT_EQ(test, mappings_known(test), 0);
	daemon->manner = ANSWER;
}

static void ids_are_mapped(struct kunit *test)
{
	struct daemon *daemon = test->priv;
	struct iw_cm_conn_param param = iwt_param();
	struct fake_iwarp *fake;
	struct iw_cm_id *cm_id;

	fake_iwarp_init(test);
	fake = test->priv;
	test->priv = daemon;
	listener_is_mapped(test, fake);
	connection_is_mapped(test, fake, ANSWER);
	connection_is_mapped(test, fake, REJECT);
	connection_is_mapped(test, fake, REFUSE);

	/* A driver that refuses leaves no mapping. */
	cm_id = iwt_id(fake);
	fake->answer[FAKE_LISTEN] = -EADDRINUSE;
	fake->answer[FAKE_CONNECT] = -ENETUNREACH;
	KUNIT_EXPECT_EQ(test, iw_cm_listen(cm_id, 1), -EADDRINUSE);
	KUNIT_EXPECT_EQ(test, mappings_known(test), 0);
	KUNIT_EXPECT_EQ(test, iw_cm_connect(cm_id, &param), -ENETUNREACH);
	KUNIT_EXPECT_EQ(test, mappings_known(test), 0);
	KUNIT_EXPECT_FALSE(test, cm_id->mapped);

	/* A driver without port mapping has this flag in its messages to the daemon. */
	fake->answer[FAKE_LISTEN] = 0;
	fake->ib.iw_driver_flags = IW_F_NO_PORT_MAP;
	KUNIT_EXPECT_EQ(test, iw_cm_listen(cm_id, 1), 0);
	KUNIT_EXPECT_EQ(test, number(daemon, IWPM_NLA_MANAGE_FLAGS), IWPM_FLAGS_NO_PORT_MAP);
	iw_destroy_cm_id(cm_id);

	/* No message can hold a longer name. */
	strscpy(fake->ib.name, "kt_a_name_that_no_message_could_hold");
	cm_id = iwt_id(fake);
	KUNIT_EXPECT_EQ(test, iw_cm_listen(cm_id, 1), -EINVAL);
	iw_destroy_cm_id(cm_id);
	test->priv = fake;
	fake_iwarp_exit(test);
	test->priv = daemon;
}

/* ---- malformed messages ---- */

static const struct { unsigned int op; int attrs; u16 len[ATTRS]; } valid[] = {
	{ RDMA_NL_IWPM_REG_PID, 5, { 4, IWPM_DEVNAME_SIZE, IWPM_ULIBNAME_SIZE, 2, 2 } },
	{ RDMA_NL_IWPM_ADD_MAPPING, 4, { 4, 128, 128, 2 } },
	{ RDMA_NL_IWPM_QUERY_MAPPING, 6, { 4, 128, 128, 128, 128, 2 } },
	{ RDMA_NL_IWPM_REMOTE_INFO, 6, { 4, 128, 128, 128, 128, 2 } },
	{ RDMA_NL_IWPM_HANDLE_ERR, 2, { 4, 2 } },
	{ RDMA_NL_IWPM_MAPINFO, 2, { IWPM_ULIBNAME_SIZE, 2 } },
	{ RDMA_NL_IWPM_MAPINFO_NUM, 3, { 4, 4, 4 } },
	{ RDMA_NL_IWPM_HELLO, 1, { 2 } },
};

static u8 zeroes[256], ones[256] = { [0 ... 255] = 0xff };

/*
 * Parses a message whose attributes are all right except one, which is missing (by = 0), or is
 * longer or shorter by that. Attributes of a message are numbered from 1.
 */
static int parse(struct kunit *test, int which, int wrong, int by, const u8 *data)
{
	struct sk_buff *skb = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	struct nlmsghdr *nlh;
	struct iwpm_msg *msg = kunit_kzalloc(test, sizeof(*msg), GFP_KERNEL);
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_ASSERT_NOT_NULL(test, msg);
	nlh = nlmsg_put(skb, PORTID, 99, RDMA_NL_GET_TYPE(RDMA_NL_IWCM, valid[which].op), 0, 0);
	nla_put(skb, 15, 3, zeroes);	/* unknown, and so skipped */
	for (int i = 0; i < valid[which].attrs; i++)
		if (i != wrong || by)
			nla_put(skb, i + 1, valid[which].len[i] + (i == wrong ? by : 0),
				i == wrong ? data : zeroes);
	nlmsg_end(skb, nlh);
	ret = iwpm_msg_parse(nlh, valid[which].op, msg);
	kunit_kfree(test, msg);
	kfree_skb(skb);
	return ret;
}

static bool is_text(int len)
{
	return len == IWPM_DEVNAME_SIZE;
}

static void malformed_messages_are_refused(struct kunit *test)
{
	for (int which = 0; which < ARRAY_SIZE(valid); which++) {
		KUNIT_EXPECT_EQ(test, parse(test, which, -1, 0, zeroes), 0);
		for (int i = 0; i < valid[which].attrs; i++) {
			int len = valid[which].len[i];

			KUNIT_EXPECT_EQ_MSG(test, parse(test, which, i, 0, zeroes), -EINVAL,
					    "op %u without %d", valid[which].op, i + 1);
			KUNIT_EXPECT_EQ_MSG(test, parse(test, which, i, -len, zeroes), -EINVAL,
					    "op %u with empty %d", valid[which].op, i + 1);
			/* A text may have any length, if it ends within its member. */
			KUNIT_EXPECT_EQ_MSG(test, parse(test, which, i, 1, ones), -EINVAL,
					    "op %u with long %d", valid[which].op, i + 1);
			KUNIT_EXPECT_EQ_MSG(test, parse(test, which, i, -1, ones), -EINVAL,
					    "op %u with short %d", valid[which].op, i + 1);
			KUNIT_EXPECT_EQ_MSG(test, parse(test, which, i, -1, zeroes),
					    is_text(len) ? 0 : -EINVAL, "op %u with shorter %d",
					    valid[which].op, i + 1);
		}
	}
}

static void malformed_messages_change_nothing(struct kunit *test)
{
	const struct attr junk[] = { { .type = 1, .len = 1, .data = ones } };

	KUNIT_ASSERT_EQ(test, reg(), 0);
	for (unsigned int op = 0; op < RDMA_NL_IWPM_NUM_OPS; op++) {
		if (!iwd_callbacks[op])
			continue;
		KUNIT_EXPECT_EQ_MSG(test, iwd_tell(test, op, junk, 1), -EINVAL, "op %u", op);
		KUNIT_EXPECT_EQ_MSG(test, iwd_tell(test, op, NULL, 0), -EINVAL, "op %u", op);
	}
	KUNIT_EXPECT_EQ(test, iwpm_daemon.bond, IWPM_REGISTERED);
	KUNIT_EXPECT_EQ(test, iwpm_daemon.version, IWPM_UABI_VERSION);
	KUNIT_EXPECT_EQ(test, iwpm_peers_known(), 0);
}

/* ---- lack of memory ---- */

#ifdef CONFIG_FAILSLAB
/* Lets each allocation of a call fail in turn; returns how often the call failed. */
static int starve(struct kunit *test, int (*call)(struct kunit *test))
{
	int failures = 0;

	for (unsigned int nth = 1; nth < 100; nth++) {
		int ret;
		bool reached;

		current->fail_nth = nth;
		ret = call(test);
		reached = !current->fail_nth;
		current->fail_nth = 0;
		if (!reached) {
			KUNIT_EXPECT_EQ(test, ret, 0);
			return failures;
		}
		failures += ret == -ENOMEM;
	}
	KUNIT_FAIL(test, "there is no end to it");
	return 0;
}

static int starve_register(struct kunit *test)
{
	iwpm_exit(RDMA_NL_IWCM);
	return reg();
}

static int starve_mapping(struct kunit *test)
{
	struct iwpm_sa_data q = question();

	return iwpm_add_mapping(&q, RDMA_NL_IWCM);
}

static int starve_mapinfo(struct kunit *test)
{
	struct sockaddr_storage local = iwt_address(1, 1);
	int ret = iwpm_create_mapinfo(&local, &local, RDMA_NL_IWCM, 0);

	if (!ret)
		iwpm_remove_mapinfo(&local, &local);
	return ret;
}

static int starve_mappings(struct kunit *test)
{
	return iwpm_send_mappings(PORTID, 4);
}

static int starve_peer(struct kunit *test)
{
	struct iwpm_msg msg = {
		.mapped_local = iwt_address(1, 1), .mapped_remote = iwt_address(1, 2),
	};

	return iwpm_remember_peer(&msg);
}

/* The daemon does not answer, since answering would need memory itself. */
static int swallow(struct sk_buff *skb, enum iwpm_road road, u32 portid)
{
	kfree_skb(skb);
	return 0;
}

static int starve_silent(struct kunit *test, int (*call)(struct kunit *test), int ret)
{
	int failures = 0;

	for (unsigned int nth = 1; nth < 100; nth++) {
		int err;

		current->fail_nth = nth;
		err = call(test);
		if (current->fail_nth) {
			current->fail_nth = 0;
			KUNIT_EXPECT_EQ(test, err, ret);
			return failures;
		}
		failures += err == -ENOMEM;
	}
	return 0;
}

static void memory_is_short(struct kunit *test)
{
	struct sockaddr_storage local = iwt_address(1, 1);

	KUNIT_ASSERT_EQ(test, reg(), 0);
	kunit_activate_static_stub(test, iwpm_transmit, swallow);
	iwpm_daemon.patience = 1;
	if (!starve(test, starve_mapinfo))
		kunit_skip(test, "failslab spares allocations that may wait");
	KUNIT_EXPECT_EQ(test, starve(test, starve_peer), 1);
	KUNIT_EXPECT_GE(test, starve_silent(test, starve_mapping, -ETIMEDOUT), 1);
	KUNIT_ASSERT_EQ(test, iwpm_create_mapinfo(&local, &local, RDMA_NL_IWCM, 0), 0);
	KUNIT_EXPECT_GE(test, starve(test, starve_mappings), 2);
	KUNIT_EXPECT_GE(test, starve_silent(test, starve_register, -ETIMEDOUT), 1);
}
#endif

/* Every request finds its answer when their sequence numbers wrap. */
static void numbers_come_round(struct kunit *test)
{
	struct daemon *daemon = test->priv;
	struct iwpm_sa_data q = question();

	KUNIT_ASSERT_EQ(test, reg(), 0);
	atomic_set(&iwpm_last_seq, U32_MAX - 2);
	for (u32 seq = U32_MAX - 1; seq != 3; seq++) {
		KUNIT_EXPECT_EQ(test, iwpm_add_mapping(&q, RDMA_NL_IWCM), 0);
		KUNIT_EXPECT_EQ(test, daemon->seq, seq);
		KUNIT_EXPECT_EQ(test, daemon->callback, 0);
	}
}

static struct kunit_case portmap_cases[] = {
	KUNIT_CASE(daemon_is_found),
	KUNIT_CASE(unfit_daemons_are_not_used),
	KUNIT_CASE(absent_daemon_is_not_looked_for),
	KUNIT_CASE(silent_daemon_is_not_waited_for),
	KUNIT_CASE(local_address_is_mapped),
	KUNIT_CASE(peers_address_is_mapped),
	KUNIT_CASE(refused_mappings),
	KUNIT_CASE(old_messages_have_no_flags),
	KUNIT_CASE(hello_agrees_on_a_version),
	KUNIT_CASE(old_daemon_is_not_answered),
	KUNIT_CASE(new_daemon_is_told_of_mappings),
	KUNIT_CASE(only_ip_is_mapped),
	KUNIT_CASE(peers_are_remembered_once),
	KUNIT_CASE(peers_who_never_come_are_forgotten),
	KUNIT_CASE(ids_are_mapped),
	KUNIT_CASE(malformed_messages_are_refused),
	KUNIT_CASE(malformed_messages_change_nothing),
	KUNIT_CASE(numbers_come_round),
#ifdef CONFIG_FAILSLAB
	KUNIT_CASE(memory_is_short),
#endif
	{}
};

static struct kunit_suite portmap_suite = {
	.name = "iw_cm_portmap",
	.suite_init = rdma_kunit_again,
	.init = iwd_init,
	.exit = iwd_exit,
	.test_cases = portmap_cases,
};

kunit_test_suite(portmap_suite);
