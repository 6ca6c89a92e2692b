// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Cases of cm_calls: the settings of an Ethernet port in configfs, and their effects; a neighbour
 * whose link address changes.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "cm_calls.h"

#define SETTINGS	"/sys/kernel/config/rdma_cm"
#define DEFAULT_TOS	104
#define OWN_TOS		8

/* Path of a setting of the id's port */
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
	/* The settings are the port's, and do not end with the folder. */
	REQUIRE(!rmdir(folder(conn.id)) && !mkdir(folder(conn.id), 0755));
	REQUIRE(is_set(conn.id, "default_roce_tos", "104\n"));
	REQUIRE(set(conn.id, "default_roce_tos", "0"));
	REQUIRE(connects(port, 0, 0));
	REQUIRE(!rmdir(folder(conn.id)));
	conn_end(&conn);
	return true;
}

/* The port has only RoCE v2. */
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

/* Runs a program; copies the word behind @words in the first line that it prints to @word. */
static bool run(const char *command, const char *words, char word[40])
{
	FILE *out = popen(command, "r");
	char line[200] = "", *at;

	REQUIRE(out && (!words || fgets(line, sizeof(line), out)));
	REQUIRE(!pclose(out));
	at = words ? strstr(line, words) : NULL;
	REQUIRE(!words || (at && sscanf(at + strlen(words), "%39s", word) == 1));
	return true;
}

/**
 * struct neighbour - this host's neighbour entry of the server
 * @address: its IP address
 * @device: the net device that the id's port stands on
 * @link: its link address
 */
struct neighbour {
	char address[INET6_ADDRSTRLEN];
	char device[40];
	char link[40];
};

static bool know_neighbour(struct rdma_cm_id *id, struct neighbour *server)
{
	struct sockaddr *address = rdma_get_peer_addr(id);
	char command[200];
	const void *bytes = address->sa_family == AF_INET ?
			    (void *)&((struct sockaddr_in *)address)->sin_addr :
			    (void *)&((struct sockaddr_in6 *)address)->sin6_addr;

	REQUIRE(inet_ntop(address->sa_family, bytes, server->address, sizeof(server->address)));
	snprintf(command, sizeof(command), "ip neigh show to %s nud all", server->address);
	return run(command, " dev ", server->device) && run(command, " lladdr ", server->link);
}

/*
 * Sets the server's link address in this host's neighbour table to one in which @bits is inverted;
 * a permanent entry is not resolved again.
 */
static bool tell_neighbour(const struct neighbour *server, unsigned int bits, const char *state)
{
	unsigned int last = strtoul(server->link + 15, NULL, 16);
	char command[200];

	snprintf(command, sizeof(command), "ip neigh replace %s lladdr %.15s%02x dev %s nud %s",
		 server->address, server->link, last ^ bits, server->device, state);
	return run(command, NULL, NULL);
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
 * The id gets an event as soon as its route is resolved, each time that the link address changes
 * from that of the route, and not otherwise. A connection goes on: its packets keep the old
 * address.
 */
static bool sees_neighbour_move(uint16_t port)
{
	struct neighbour server;
	struct conn conn;

	REQUIRE(conn_resolved(&conn, RDMA_PS_TCP, port) && know_neighbour(conn.id, &server));
	REQUIRE(tell_neighbour(&server, 0, "permanent"));
	REQUIRE(tell_neighbour(&server, 1, "permanent"));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT));
	REQUIRE(tell_neighbour(&server, 0, "permanent"));
	REQUIRE(conn_ready(&conn) && conn_connect(&conn, NULL));

	REQUIRE(tell_neighbour(&server, 2, "permanent"));
	REQUIRE(next_is(conn.channel, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT));
	REQUIRE(conn_send(&conn, 'n'));
	REQUIRE(tell_neighbour(&server, 0, "reachable"));
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
