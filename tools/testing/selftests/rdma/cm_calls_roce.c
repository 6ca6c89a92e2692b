// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Cases of cm_calls: the settings that configfs has for an Ethernet port, and what follows them; a
 * neighbour that gets another link address.
 */
#include <fcntl.h>
#include <net/ethernet.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "cm_calls.h"

#define SETTINGS	"/sys/kernel/config/rdma_cm"
#define DEFAULT_TOS	104
#define OWN_TOS		8

/* Where a setting of the id's port stands */
static const char *setting(struct rdma_cm_id *id, const char *name)
{
	static char path[200];

	snprintf(path, sizeof(path), SETTINGS "/%s/ports/%u/%s",
		 ibv_get_device_name(id->verbs->device), id->port_num, name);
	return path;
}

/* Sets it; false with errno if it is refused. */
static bool set(struct rdma_cm_id *id, const char *name, const char *value)
{
	int fd = open(setting(id, name), O_WRONLY);
	ssize_t n;

	if (fd < 0)
		return false;
	n = write(fd, value, strlen(value));
	close(fd);
	return n == (ssize_t)strlen(value);
}

static bool is_set(struct rdma_cm_id *id, const char *name, const char *value)
{
	char found[40] = "";
	int fd = open(setting(id, name), O_RDONLY);

	REQUIRE(fd >= 0);
	REQUIRE(read(fd, found, sizeof(found) - 1) > 0);
	close(fd);
	if (!strcmp(found, value))
		return true;
	printf("# %s is %s", name, found);
	return false;
}

/* The folder of the id's device */
static const char *folder(struct rdma_cm_id *id)
{
	static char path[100];

	snprintf(path, sizeof(path), SETTINGS "/%s", ibv_get_device_name(id->verbs->device));
	return path;
}

static bool has_class(struct conn *conn, unsigned int class)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	REQUIRE(!ibv_query_qp(conn->id->qp, &attr, IBV_QP_AV, &init));
	REQUIRE(attr.ah_attr.is_global && attr.ah_attr.grh.traffic_class == class);
	return true;
}

/* Three connections, in whose traffic class the client's settings arrive */
static bool accepts(struct rdma_cm_id *listener)
{
	static const unsigned int classes[] = { DEFAULT_TOS, OWN_TOS, 0 };
	struct conn conn;

	for (int i = 0; i < 3; i++) {
		REQUIRE(conn_requested(&conn, listener) && conn_ready(&conn));
		REQUIRE(conn_accept(&conn, NULL) && has_class(&conn, classes[i]));
		REQUIRE(conn_receive(&conn, 't'));
		REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_DISCONNECTED, 0));
		conn_end(&conn);
	}
	return true;
}

/* A connection whose id sets a type of service of its own, unless it is 0 */
static bool connects(uint16_t port, uint8_t tos, unsigned int class)
{
	struct conn conn;

	REQUIRE(conn_new(&conn, RDMA_PS_TCP));
	if (tos)
		REQUIRE(!rdma_set_option(conn.id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, 1));
	REQUIRE(!rdma_resolve_addr(conn.id, NULL, server_address(port), 60000));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_ADDR_RESOLVED, 0));
	REQUIRE(!rdma_resolve_route(conn.id, 60000));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_ROUTE_RESOLVED, 0));
	REQUIRE(conn_ready(&conn) && conn_connect(&conn, NULL) && has_class(&conn, class));
	REQUIRE(conn_send(&conn, 't') && !rdma_disconnect(conn.id));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_DISCONNECTED, 0));
	conn_end(&conn);
	return true;
}

static bool sets_classes(uint16_t port)
{
	struct conn conn;

	REQUIRE(conn_new(&conn, RDMA_PS_TCP) && !rdma_bind_addr(conn.id, own_address()));
	REFUSED(mkdir(SETTINGS "/nobody", 0755), ENODEV);
	REQUIRE(!mkdir(folder(conn.id), 0755));
	REQUIRE(is_set(conn.id, "default_roce_tos", "0\n"));
	REFUSED(!set(conn.id, "default_roce_tos", "256"), ERANGE);
	REFUSED(!set(conn.id, "default_roce_tos", "low"), EINVAL);
	REQUIRE(set(conn.id, "default_roce_tos", "104"));
	REQUIRE(is_set(conn.id, "default_roce_tos", "104\n"));

	REQUIRE(connects(port, 0, DEFAULT_TOS));
	REQUIRE(connects(port, OWN_TOS, OWN_TOS));
	/* They are the port's, however long the folder stands. */
	REQUIRE(!rmdir(folder(conn.id)) && !mkdir(folder(conn.id), 0755));
	REQUIRE(is_set(conn.id, "default_roce_tos", "104\n"));
	REQUIRE(set(conn.id, "default_roce_tos", "0"));
	REQUIRE(connects(port, 0, 0));
	REQUIRE(!rmdir(folder(conn.id)));
	conn_end(&conn);
	return true;
}

/* The port has RoCE v2 alone. */
static bool sets_modes(void)
{
	struct conn conn;

	REQUIRE(conn_new(&conn, RDMA_PS_TCP) && !rdma_bind_addr(conn.id, own_address()));
	REQUIRE(!mkdir(folder(conn.id), 0755));
	REQUIRE(is_set(conn.id, "default_roce_mode", "RoCE v2\n"));
	REFUSED(!set(conn.id, "default_roce_mode", "IB/RoCE v1\n"), EINVAL);
	REFUSED(!set(conn.id, "default_roce_mode", "RoCE v3\n"), EINVAL);
	REQUIRE(set(conn.id, "default_roce_mode", "RoCE v2\n"));
	REQUIRE(is_set(conn.id, "default_roce_mode", "RoCE v2\n"));
	REQUIRE(!rmdir(folder(conn.id)));
	conn_end(&conn);
	return true;
}

static bool sets_modes_server(struct rdma_cm_id *listener)
{
	(void)listener;
	return sets_modes();
}

static bool sets_modes_client(uint16_t port)
{
	(void)port;
	return sets_modes();
}

/* The net device that the id's port stands on */
static bool net_device(struct rdma_cm_id *id, char name[sizeof(((struct arpreq *)0)->arp_dev)])
{
	char path[120];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/%u/gid_attrs/ndevs/0",
		 ibv_get_device_name(id->verbs->device), id->port_num);
	file = fopen(path, "r");
	REQUIRE(file && fscanf(file, "%15s", name) == 1);
	fclose(file);
	return true;
}

/* What this host knows of the server's address, as SIOCGARP tells it. */
static bool know_neighbour(struct rdma_cm_id *id, struct arpreq *entry)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	memset(entry, 0, sizeof(*entry));
	memcpy(&entry->arp_pa, rdma_get_peer_addr(id), sizeof(struct sockaddr_in));
	REQUIRE(fd >= 0 && net_device(id, entry->arp_dev));
	REQUIRE(!ioctl(fd, SIOCGARP, entry) && entry->arp_flags & ATF_COM);
	close(fd);
	return true;
}

/* Tells it that the server has this link address now; a lasting one is not looked for any more. */
static bool tell_neighbour(const struct arpreq *entry, char last_byte, bool lasting)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct arpreq told = *entry;

	told.arp_ha.sa_data[ETH_ALEN - 1] = last_byte;
	told.arp_flags = ATF_COM | (lasting ? ATF_PERM : 0);
	REQUIRE(fd >= 0 && !ioctl(fd, SIOCSARP, &told));
	close(fd);
	return true;
}

static bool stays(struct rdma_cm_id *listener)
{
	struct conn conn;

	REQUIRE(conn_requested(&conn, listener) && conn_ready(&conn) && conn_accept(&conn, NULL));
	REQUIRE(conn_receive(&conn, 'n'));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_DISCONNECTED, 0));
	conn_end(&conn);
	return true;
}

/*
 * The id is told as soon as its route is known, each time that the link address is another one than
 * the route's, and else not. What it has goes on: the packets take the address that they took.
 */
static bool sees_neighbour_move(uint16_t port)
{
	struct arpreq entry;
	struct conn conn;
	char last;

	REQUIRE(conn_resolved(&conn, RDMA_PS_TCP, port) && know_neighbour(conn.id, &entry));
	last = entry.arp_ha.sa_data[ETH_ALEN - 1];
	REQUIRE(tell_neighbour(&entry, last, true));
	REQUIRE(tell_neighbour(&entry, last ^ 1, true));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT));
	REQUIRE(tell_neighbour(&entry, last, true));
	REQUIRE(conn_ready(&conn) && conn_connect(&conn, NULL));

	REQUIRE(tell_neighbour(&entry, last ^ 2, true));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT));
	REQUIRE(conn_send(&conn, 'n'));
	REQUIRE(tell_neighbour(&entry, last, false));
	REQUIRE(!rdma_disconnect(conn.id));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_DISCONNECTED, 0));
	conn_end(&conn);
	return true;
}

const struct cm_case roce_cases[] = {
	{ "default_roce_tos, and a type of service that an id sets",
	  RDMA_PS_TCP, accepts, sets_classes },
	{ "default_roce_mode", RDMA_PS_TCP, sets_modes_server, sets_modes_client },
	{ "UNREACHABLE when the peer's link address changes",
	  RDMA_PS_TCP, stays, sees_neighbour_move },
	{}
};
