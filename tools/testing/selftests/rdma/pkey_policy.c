// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * pkey_policy DEVICE CONTEXT INDEX EXPECTED [wait]: in the security context CONTEXT, give a QP the
 * P_Key at INDEX of port 1. EXPECTED is the expected result: "allowed" or "refused". With "wait"
 * the QP stays: "ready" is printed, and the program exits with 0 when an event reports that the QP
 * was stopped and a query shows it, too.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "self_talk.h"

static void become(const char *label)
{
	int fd = open("/proc/self/attr/current", O_WRONLY);

	must(fd >= 0 && write(fd, label, strlen(label)) == (ssize_t)strlen(label), label);
	close(fd);
}

static bool was_stopped(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_async_event event;
	struct ibv_qp_attr attr;

	do {
		must(!ibv_get_async_event(context, &event), "ibv_get_async_event");
		ibv_ack_async_event(&event);
	} while (event.event_type != IBV_EVENT_QP_FATAL);
	must(!ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), "ibv_query_qp");
	return event.element.qp == qp && attr.qp_state == IBV_QPS_ERR;
}

int main(int argc, char **argv)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC };
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	bool allowed;
	int ret;

	must(argc >= 5, "arguments");
	allowed = !strcmp(argv[4], "allowed");
	become(argv[2]);
	open_hca(argv[1]);
	init.send_cq = ibv_create_cq(context, 1, NULL, NULL, 0);
	must(init.send_cq, "ibv_create_cq");
	init.recv_cq = init.send_cq;
	init.cap = (struct ibv_qp_cap){
		.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1,
	};

	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	must(qp, "ibv_create_qp");
	attr.pkey_index = atoi(argv[3]);
	ret = ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			    IBV_QP_ACCESS_FLAGS);
	if (ret != (allowed ? 0 : EACCES)) {
		fprintf(stderr, "P_Key %s is not %s: %s\n", argv[3], argv[4], strerror(ret));
		return 1;
	}
	if (argc == 5)
		return 0;
	puts("ready");
	fflush(stdout);
	/* ends the program if the event never comes */
	alarm(120);
	return !was_stopped(qp);
}
