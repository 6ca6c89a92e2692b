// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * migration DEVICE: an RC connection between the two ports of an adapter migrates to its alternate
 * path: on request, and when its path fails, but not if the other side has loaded another path.
 * TAP; the reader takes port 1 down when the program asks for it, and answers with a line.
 */
#include <poll.h>

#include "self_talk.h"

#define TIMEOUT_MS	20000
#define LEN		512

static struct ibv_cq *cq;
static uint16_t lid[3];			/* by port */
static struct ibv_qp *near, *far;

static struct ibv_qp_attr query(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	must(!ibv_query_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PATH_MIG_STATE | IBV_QP_AV |
			   IBV_QP_ALT_PATH | IBV_QP_PORT, &init), "ibv_query_qp");
	return attr;
}

static void load(struct ibv_qp *qp, uint8_t port, uint16_t dlid)
{
	struct ibv_qp_attr attr = {
		.path_mig_state = IBV_MIG_REARM, .alt_port_num = port, .alt_timeout = 14,
		.alt_ah_attr = { .dlid = dlid, .port_num = port },
	};

	must(!ibv_modify_qp(qp, &attr, IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE), "load");
}

/* A message in each direction succeeds. */
static bool talk(void)
{
	bool good = true;

	post_recv(near, 1, LEN);
	post_recv(far, 2, LEN);
	post_send(near, 3, LEN, NULL, 0);
	post_send(far, 4, LEN, NULL, 0);
	for (int i = 0; i < 4; i++)
		good &= complete(cq).status == IBV_WC_SUCCESS;
	return good;
}

static bool armed(uint8_t port, uint16_t dlid)
{
	load(near, port, dlid);
	load(far, port, lid[port]);
	return talk() && talk() && query(near).path_mig_state == IBV_MIG_ARMED &&
	       query(far).path_mig_state == IBV_MIG_ARMED;
}

static bool moved(struct ibv_qp *qp, uint8_t port)
{
	struct ibv_qp_attr attr = query(qp);

	return attr.qp_state == IBV_QPS_RTS && attr.path_mig_state == IBV_MIG_MIGRATED &&
	       attr.port_num == port && attr.ah_attr.dlid == lid[port] && !attr.alt_port_num;
}

/* The QP of the next event if it has this type; NULL for another type, or an event of a port. */
static struct ibv_qp *hear(enum ibv_event_type type)
{
	struct pollfd fd = { .fd = context->async_fd, .events = POLLIN };
	struct ibv_async_event event;
	struct ibv_qp *qp = NULL;

	if (poll(&fd, 1, TIMEOUT_MS) != 1) {
		printf("# nothing instead of %s\n", ibv_event_type_str(type));
		return NULL;
	}
	must(!ibv_get_async_event(context, &event), "ibv_get_async_event");
	if (event.event_type != type)
		printf("# %s, not %s\n", ibv_event_type_str(event.event_type),
		       ibv_event_type_str(type));
	else if (type != IBV_EVENT_PORT_ERR)
		qp = event.element.qp;
	ibv_ack_async_event(&event);
	return qp;
}

static void told(void)
{
	struct ibv_qp_attr attr = { .path_mig_state = IBV_MIG_MIGRATED };

	point(armed(2, lid[2]), "both ends load an alternate path and are armed by messages");
	must(!ibv_modify_qp(near, &attr, IBV_QP_PATH_MIG_STATE), "MIGRATED");
	point(moved(near, 2), "who is told to takes it at once");
	point(talk() && hear(IBV_EVENT_PATH_MIG) == far && moved(far, 2),
	      "the other end follows the first message, and says so");
}

/* The far end has loaded another alternate path than the near end takes. */
static void somewhere_else(void)
{
	struct ibv_qp_attr attr = { .path_mig_state = IBV_MIG_MIGRATED };

	load(near, 1, lid[1]);
	load(far, 1, lid[2]);
	point(talk() && talk() && query(far).path_mig_state == IBV_MIG_ARMED,
	      "ends with different alternate paths are armed");
	must(!ibv_modify_qp(near, &attr, IBV_QP_PATH_MIG_STATE), "MIGRATED");
	post_recv(far, 1, LEN);
	post_send(near, 2, LEN, NULL, 0);
	point(hear(IBV_EVENT_PATH_MIG_ERR) == far && query(far).port_num == 2,
	      "a message that comes by none of them is an event, and nobody moves");
}

static void path_gone(void)
{
	struct ibv_qp *first, *second;
	char line[16];

	point(armed(2, lid[2]), "another connection is armed");
	printf("# take port 1 down\n");
	fflush(stdout);
	must(fgets(line, sizeof(line), stdin), "an answer");
	hear(IBV_EVENT_PORT_ERR);
	point(talk(), "messages arrive though the path is gone");
	/* either may run out of retries first */
	first = hear(IBV_EVENT_PATH_MIG);
	second = hear(IBV_EVENT_PATH_MIG);
	point(first && second && first != second, "both ends say that they have moved");
	point(moved(near, 2) && moved(far, 2), "and have");
}

/* Connects both QPs by port 1. */
static void meet(void)
{
	near = make_qp(IBV_QPT_RC, cq, NULL, 0);
	far = make_qp(IBV_QPT_RC, cq, NULL, 0);
	must(near && far, "ibv_create_qp");
	connect_qp(near, far);
	connect_qp(far, near);
}

static void part(void)
{
	must(!ibv_destroy_qp(near) && !ibv_destroy_qp(far), "ibv_destroy_qp");
}

int main(int argc, char **argv)
{
	struct ibv_device_attr attr;
	struct ibv_port_attr port;

	if (argc != 2) {
		fprintf(stderr, "usage: migration DEVICE\n");
		return 2;
	}
	open_hca(argv[1]);
	must(!ibv_query_device(context, &attr) && attr.phys_port_cnt == 2, "two ports");
	for (uint8_t i = 1; i <= 2; i++) {
		must(!ibv_query_port(context, i, &port), "ibv_query_port");
		lid[i] = port.lid;
	}
	cq = ibv_create_cq(context, 2 * DEPTH, NULL, NULL, 0);
	must(cq, "ibv_create_cq");

	printf("TAP version 13\n1..10\n");
	point(attr.device_cap_flags & IBV_DEVICE_AUTO_PATH_MIG, "the device says that it can");
	meet();
	told();
	somewhere_else();
	part();
	meet();
	path_gone();
	part();
	must(!ibv_destroy_cq(cq), "the end");
	close_hca();
	return bad != 0;
}
