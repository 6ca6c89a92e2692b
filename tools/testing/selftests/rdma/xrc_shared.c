// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * xrc_shared DEVICE [silent]: two processes share an XRC domain and a target QP.
 *
 * The maker creates both, and an SRQ of its own; the other opens them, adds an SRQ, and sends to
 * either from an initiator of its own.  Then the maker is killed, and objects that both used stay.
 * "silent": Linux 6.12's core sends a target's events only to its maker.  The program exits with 0
 * when all checks have passed.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "self_talk.h"

#define DOMAIN	"/tmp/xrc-domain"
#define LEN	100
#define TIMEOUT_MS	20000

/* The message that the two exchange. */
struct note {
	uint32_t target;	/* QP number */
	uint32_t srqn;
	uint64_t wr_id;		/* of a receive that has completed */
};

static struct ibv_cq *cq;
static struct ibv_xrcd *xrcd;
static struct ibv_srq *srq;

static struct ibv_xrcd *open_domain(int oflags)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = open(DOMAIN, O_RDONLY | O_CREAT, 0600), .oflags = oflags,
	};
	struct ibv_xrcd *made;
	int err;

	must(attr.fd >= 0, DOMAIN);
	made = ibv_open_xrcd(context, &attr);
	err = errno;
	close(attr.fd);
	errno = err;
	return made;
}

static struct ibv_srq *make_srq(void)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 8, .max_sge = 1 }, .srq_type = IBV_SRQT_XRC, .pd = pd,
		.xrcd = xrcd, .cq = cq,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
	};

	return ibv_create_srq_ex(context, &attr);
}

static void post_srq(uint64_t wr_id)
{
	struct ibv_sge sge = { (uintptr_t)memory + 4096, LEN, mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 }, *at;

	must(!ibv_post_srq_recv(srq, &wr, &at), "ibv_post_srq_recv");
}

static uint32_t number(struct ibv_srq *of)
{
	uint32_t n;

	must(!ibv_get_srq_num(of, &n), "ibv_get_srq_num");
	return n;
}

static void move(struct ibv_qp *qp, uint32_t peer)
{
	bool sends = qp->qp_type == IBV_QPT_XRC_SEND;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

	must(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			    IBV_QP_ACCESS_FLAGS), "INIT");
	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = peer,
		.ah_attr = { .dlid = own_lid, .port_num = 1 }, .min_rnr_timer = 1,
		.max_dest_rd_atomic = 1,
	};
	must(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			    IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			    (sends ? 0 : IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)),
	     "RTR");
	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7,
		.max_rd_atomic = 1,
	};
	must(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT |
			    (sends ? IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			     IBV_QP_MAX_QP_RD_ATOMIC : 0)), "RTS");
}

static struct ibv_qp *make(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr_ex init = {
		.qp_type = type, .send_cq = cq, .pd = pd, .xrcd = xrcd,
		.comp_mask = type == IBV_QPT_XRC_SEND ? IBV_QP_INIT_ATTR_PD :
							IBV_QP_INIT_ATTR_XRCD,
		.cap = { .max_send_wr = DEPTH, .max_send_sge = 1 },
	};

	return ibv_create_qp_ex(context, &init);
}

static struct ibv_qp *open_target(uint32_t qpn, enum ibv_qp_type type)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = qpn, .xrcd = xrcd, .qp_type = type,
	};

	return ibv_open_qp(context, &attr);
}

static void send_to(struct ibv_qp *qp, uint32_t srqn, uint64_t wr_id)
{
	struct ibv_sge sge = { (uintptr_t)memory, LEN, mr->lkey };
	struct ibv_send_wr wr = {
		.wr_id = wr_id, .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_SIGNALED, .qp_type.xrc.remote_srqn = srqn,
	}, *at;

	must(!ibv_post_send(qp, &wr, &at), "ibv_post_send");
}

/* Makes domain, target and SRQ, reports each receive, and lives until it is killed. */
static void maker(const char *name, int in, int out)
{
	struct note note;
	struct ibv_qp *target;
	uint32_t peer;

	open_hca(name);
	cq = ibv_create_cq(context, DEPTH, NULL, NULL, 0);
	xrcd = open_domain(O_CREAT | O_EXCL);
	must(cq && xrcd, "the maker's domain");
	srq = make_srq();
	target = make(IBV_QPT_XRC_RECV);
	must(srq && target, "the maker's SRQ and target");
	post_srq(500);
	post_srq(501);
	note = (struct note) { .target = target->qp_num, .srqn = number(srq) };
	must(write(out, &note, sizeof(note)) == sizeof(note), "pipe");
	must(read(in, &peer, sizeof(peer)) == sizeof(peer), "pipe");
	move(target, peer);
	for (;;) {
		must(write(out, &note, sizeof(note)) == sizeof(note), "pipe");
		note.wr_id = complete(cq).wr_id;
	}
}

/* Requests that must be refused. */
static void refused(uint32_t target)
{
	errno = 0;
	point(!open_domain(O_CREAT | O_EXCL) && errno == EINVAL, "O_EXCL: the domain exists");
	errno = 0;
	point(!open_target(target + 1, IBV_QPT_XRC_RECV) && errno == EINVAL,
	      "a number that no target has");
	errno = 0;
	point(!open_target(target, IBV_QPT_RC) && errno == EINVAL, "a target is no RC QP");
	point(ibv_close_xrcd(xrcd) == EBUSY, "a domain with an SRQ stays open");
}

static bool event_of(struct ibv_qp *qp, enum ibv_event_type type)
{
	struct pollfd pfd = { .fd = context->async_fd, .events = POLLIN };
	struct ibv_async_event event;
	bool found = false;

	while (!found && poll(&pfd, 1, TIMEOUT_MS) == 1 && !ibv_get_async_event(context, &event)) {
		found = event.event_type == type && event.element.qp == qp;
		ibv_ack_async_event(&event);
	}
	return found;
}

static void other(const char *name, int in, int out, pid_t child, bool silent)
{
	struct ibv_qp *target, *ini;
	struct note note;
	struct ibv_wc wc;

	open_hca(name);
	cq = ibv_create_cq(context, DEPTH, NULL, NULL, 0);
	must(read(in, &note, sizeof(note)) == sizeof(note), "pipe");
	xrcd = open_domain(0);
	point(xrcd, "the domain is there for another process");
	must(xrcd, "ibv_open_xrcd");
	srq = make_srq();
	target = open_target(note.target, IBV_QPT_XRC_RECV);
	point(target && target->qp_num == note.target, "and so is the target");
	ini = make(IBV_QPT_XRC_SEND);
	must(srq && target && ini, "QPs");
	refused(note.target);
	must(write(out, &ini->qp_num, sizeof(ini->qp_num)) == sizeof(ini->qp_num), "pipe");
	must(read(in, &note, sizeof(note)) == sizeof(note), "pipe");
	move(ini, note.target);

	post_srq(7);
	memset(memory, 0x5a, LEN);
	send_to(ini, number(srq), 1);
	wc = complete(cq);
	if (wc.wr_id == 1)
		wc = complete(cq);
	else
		complete(cq);
	point(wc.wr_id == 7 && wc.qp_num == note.target && wc.byte_len == LEN &&
	      memory[4096] == 0x5a, "a message for the SRQ of this process");
	send_to(ini, note.srqn, 2);
	point(complete(cq).status == IBV_WC_SUCCESS, "one for that of the other is sent");
	must(read(in, &note, sizeof(note)) == sizeof(note), "pipe");
	point(note.wr_id == 500, "and arrives there");

	must(!kill(child, SIGKILL) && waitpid(child, NULL, 0) == child, "kill");
	post_srq(8);
	send_to(ini, number(srq), 3);
	wc = complete(cq);
	complete(cq);
	point(wc.status == IBV_WC_SUCCESS && state_of(target) == IBV_QPS_RTS,
	      "the maker is dead: target and domain live");
	send_to(ini, note.srqn, 4);
	point(complete(cq).status == IBV_WC_REM_INV_REQ_ERR, "its SRQ is gone");
	point(event_of(target, IBV_EVENT_QP_REQ_ERR) != silent,
	      "who has the target open hears of it");
	point(!ibv_destroy_qp(ini) && !ibv_destroy_qp(target) && !ibv_destroy_srq(srq) &&
	      !ibv_close_xrcd(xrcd), "everything goes in order");
	errno = 0;
	point(!open_domain(0) && errno == EAGAIN, "the domain went with its last user");
	must(!ibv_destroy_cq(cq), "ibv_destroy_cq");
	close_hca();
}

int main(int argc, char **argv)
{
	int there[2], back[2];
	pid_t child;

	must(argc >= 2 && !pipe(there) && !pipe(back), "usage: xrc_shared DEVICE [silent]");
	child = fork();
	must(child >= 0, "fork");
	if (!child)
		maker(argv[1], there[0], back[1]);
	other(argv[1], back[0], there[1], child, argc > 2);
	printf("1..%u\n", points);
	return bad != 0;
}
