// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * opcodes -d DEVICE [-i PORT] -g GID-INDEX [-f FLOW-LABEL] [-t TIMEOUT] [SERVER]: a client and its
 * server make every request that RC, UC and UD queue pairs of user space have, of lengths that need
 * each kind of packet, first the client and then the server. Both compare all bytes, the immediate
 * data, the keys that were invalidated and what atomic operations return. Both make the same
 * requests in the same order, so that what the two devices send can be compared.
 */
#include <arpa/inet.h>
#include <infiniband/verbs.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device.h"

#define TCP_PORT	18515
#define PATIENCE	60		/* seconds for all of it */
#define QKEY		0x1234
#define GRH		40
#define MTU		1024
#define LONGEST		(3 * MTU + 5)	/* a first, two middle and a last packet */
#define IMMEDIATE	0x12345678
#define CLEAR		0xee
#define BEFORE		0x0102030405060708ull	/* what atomic operations find */
#define OPERAND		0xf1f2f3f4f5f6f7f8ull

enum service { RC, UC, UD, SERVICES };

/* What a program has to know of its peer. */
struct end {
	uint32_t qpn[SERVICES];
	uint32_t rkey;
	uint32_t window;
	uint64_t target;
	uint64_t source;
	union ibv_gid gid;
	uint16_t lid;
	uint16_t on_rxe;
};

/* The atomic operations of each kind find BEFORE at the target and leave @after there. */
struct request {
	const char *name;
	enum service service;
	enum ibv_wr_opcode opcode;
	bool windowed;		/* it names a memory window of the peer's */
	uint64_t compare;
	uint64_t after;
};

#define REQUEST(what, type, op, ...)						\
	{ .name = #type " " what, .service = type, .opcode = IBV_WR_##op, ##__VA_ARGS__ }

static const struct request requests[] = {
	REQUEST("SEND", RC, SEND),
	REQUEST("SEND with immediate", RC, SEND_WITH_IMM),
	REQUEST("SEND with invalidate", RC, SEND_WITH_INV, .windowed = true),
	REQUEST("RDMA WRITE", RC, RDMA_WRITE),
	REQUEST("RDMA WRITE with immediate", RC, RDMA_WRITE_WITH_IMM),
	REQUEST("FLUSH", RC, FLUSH),
	REQUEST("RDMA READ", RC, RDMA_READ),
	REQUEST("CMP AND SWP of what is there", RC, ATOMIC_CMP_AND_SWP, .compare = BEFORE,
		.after = OPERAND),
	REQUEST("CMP AND SWP of what is not", RC, ATOMIC_CMP_AND_SWP, .compare = BEFORE + 1,
		.after = BEFORE),
	REQUEST("FETCH AND ADD", RC, ATOMIC_FETCH_AND_ADD, .after = BEFORE + OPERAND),
	REQUEST("ATOMIC WRITE", RC, ATOMIC_WRITE, .after = OPERAND),
	REQUEST("RDMA WRITE to a window", RC, RDMA_WRITE, .windowed = true),
	REQUEST("SEND", UC, SEND),
	REQUEST("SEND with immediate", UC, SEND_WITH_IMM),
	REQUEST("RDMA WRITE", UC, RDMA_WRITE),
	REQUEST("RDMA WRITE with immediate", UC, RDMA_WRITE_WITH_IMM),
	REQUEST("SEND", UD, SEND),
	REQUEST("SEND with immediate", UD, SEND_WITH_IMM),
};

static const enum ibv_wc_opcode completed[] = {
	[IBV_WR_SEND] = IBV_WC_SEND,
	[IBV_WR_SEND_WITH_IMM] = IBV_WC_SEND,
	[IBV_WR_SEND_WITH_INV] = IBV_WC_SEND,
	[IBV_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE,
	[IBV_WR_RDMA_WRITE_WITH_IMM] = IBV_WC_RDMA_WRITE,
	[IBV_WR_FLUSH] = IBV_WC_FLUSH,
	[IBV_WR_RDMA_READ] = IBV_WC_RDMA_READ,
	[IBV_WR_ATOMIC_CMP_AND_SWP] = IBV_WC_COMP_SWAP,
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = IBV_WC_FETCH_ADD,
	[IBV_WR_ATOMIC_WRITE] = IBV_WC_ATOMIC_WRITE,
};

static const uint32_t lengths[] = { 0, 1, MTU - GRH, MTU, MTU + 1, LONGEST };

#define COUNT(array)	(sizeof(array) / sizeof(*(array)))

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_mr *mr;
static struct ibv_mw *mw;
static struct ibv_ah *ah;
static struct ibv_cq *send_cq, *recv_cq;
static struct ibv_qp *qps[SERVICES];
static struct end own, peer;
static int tcp;
static int port_num = 1;
/*
 * 4.3 s: so that requests to a guest that is paused for a moment are not repeated, as other packets
 * would be compared
 */
static int timeout = 20;
static unsigned int wrong;

static const struct request *current;	/* that has begun */
static uint32_t current_len;

static struct {
	uint8_t source[LONGEST];
	uint8_t target[GRH + LONGEST] __attribute__((aligned(8)));
} memory;

static void must(bool good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(2);
}

static void late(int signal)
{
	(void)signal;
	printf("%s, %u bytes: it has not ended after %d s\n", current ? current->name : "nothing",
	       current_len, PATIENCE);
	fflush(stdout);
	_exit(1);
}

/* ---- the two programs ---- */

static void find_peer(const char *server)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(TCP_PORT) };
	int listener, on = 1;

	if (server) {
		tcp = socket(AF_INET, SOCK_STREAM, 0);
		must(inet_pton(AF_INET, server, &at.sin_addr) == 1, "the server's address");
		must(!connect(tcp, (struct sockaddr *)&at, sizeof(at)), "connect");
		return;
	}
	listener = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	must(!bind(listener, (struct sockaddr *)&at, sizeof(at)) && !listen(listener, 1), "listen");
	tcp = accept(listener, NULL, NULL);
	must(tcp >= 0, "accept");
	close(listener);
}

/* A barrier for both programs, which exchange their struct end. */
static void meet(void)
{
	must(write(tcp, &own, sizeof(own)) == sizeof(own) &&
	     recv(tcp, &peer, sizeof(peer), MSG_WAITALL) == sizeof(peer), "the peer");
}

/* ---- queue pairs ---- */

static void open_hca(const char *name, int gid_index)
{
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
		     IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_FLUSH_GLOBAL;
	struct ibv_port_attr port;

	context = open_device(name);
	must(context, name);
	must(!ibv_query_port(context, port_num, &port) &&
	     !ibv_query_gid(context, port_num, gid_index, &own.gid), "the port");
	pd = ibv_alloc_pd(context);
	must(pd, "ibv_alloc_pd");
	mr = ibv_reg_mr(pd, &memory, sizeof(memory), access);
	must(mr, "ibv_reg_mr");
	mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
	must(mw, "ibv_alloc_mw");
	send_cq = ibv_create_cq(context, 4, NULL, NULL, 0);
	recv_cq = ibv_create_cq(context, 4, NULL, NULL, 0);
	must(send_cq && recv_cq, "ibv_create_cq");
	own.on_rxe = !strncmp(name, "rxe", 3);
	own.lid = port.lid;
	own.rkey = mr->rkey;
	own.source = (uintptr_t)memory.source;
	own.target = (uintptr_t)memory.target;
	own.window = mw->rkey;
}

static struct ibv_qp *make_qp(enum service service)
{
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD };
	uint64_t connected = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
	uint64_t reliable = IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_RDMA_READ |
			    IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
			    IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |
			    IBV_QP_EX_WITH_ATOMIC_WRITE | IBV_QP_EX_WITH_FLUSH |
			    IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_LOCAL_INV;
	struct ibv_qp_init_attr_ex init = {
		.qp_type = types[service], .send_cq = send_cq, .recv_cq = recv_cq, .pd = pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
				  (service != UD ? connected : 0) | (service == RC ? reliable : 0),
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp *qp = ibv_create_qp_ex(context, &init);

	must(qp, "ibv_create_qp_ex");
	own.qpn[service] = qp->qp_num;
	return qp;
}

static void connect_qp(enum service service, struct ibv_ah_attr *path)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = port_num, .qkey = QKEY,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_FLUSH_GLOBAL,
	};
	struct ibv_qp *qp = qps[service];

	if (service == UC)
		attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	must(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			    (service == UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS)), "INIT");
	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = peer.qpn[service],
		.ah_attr = *path, .min_rnr_timer = 12, .max_dest_rd_atomic = 1,
	};
	must(!ibv_modify_qp(qp, &attr, IBV_QP_STATE |
			    (service == UD ? 0 : IBV_QP_AV | IBV_QP_PATH_MTU |
			     IBV_QP_DEST_QPN | IBV_QP_RQ_PSN) |
			    (service == RC ? IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : 0)),
	     "RTR");
	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTS, .timeout = timeout, .retry_cnt = 7, .rnr_retry = 7,
		.max_rd_atomic = 1,
	};
	must(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN |
			    (service == RC ? IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			     IBV_QP_MAX_QP_RD_ATOMIC : 0)), "RTS");
}

static struct ibv_wc complete(struct ibv_cq *cq)
{
	struct ibv_wc wc;
	int n;

	while (!(n = ibv_poll_cq(cq, 1, &wc)))
		;
	must(n == 1, "ibv_poll_cq");
	return wc;
}

/* ---- a request ---- */

static void check(bool good, const struct request *r, uint32_t len, const char *what)
{
	if (good)
		return;
	wrong++;
	printf("%s, %u bytes: %s\n", r->name, len, what);
}

static bool takes_receive(const struct request *r)
{
	return r->opcode == IBV_WR_SEND || r->opcode == IBV_WR_SEND_WITH_IMM ||
	       r->opcode == IBV_WR_SEND_WITH_INV || r->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
}

static bool is_atomic(const struct request *r) { return r->after; }

static bool fits(const struct request *r, uint32_t len)
{
	if (is_atomic(r))
		return len == 1;	/* once, of 8 bytes */
	/* Linux 6.12's rdma_rxe has the headers twice in the ICRC of a FLUSH, which others drop */
	if (r->opcode == IBV_WR_FLUSH)
		return len && own.on_rxe == peer.on_rxe;
	return r->service != UD || len < MTU;
}

static uint8_t byte_of(uint32_t at) { return at * 7 + (at >> 8) + 1; }

static void local(const char *name, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc = complete(send_cq);

	if (wc.status == IBV_WC_SUCCESS && wc.opcode == opcode)
		return;
	printf("%s: %s, opcode %d\n", name, ibv_wc_status_str(wc.status), wc.opcode);
	exit(1);
}

/* A window that is bound already can be bound only when it has been invalidated. */
static void bind_window(void)
{
	struct ibv_mw_bind_info info = {
		.mr = mr, .addr = own.target, .length = sizeof(memory.target),
		.mw_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(qps[RC]);

	own.window = ibv_inc_rkey(own.window);
	ibv_wr_start(qp);
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_bind_mw(qp, mw, own.window, &info);
	must(!ibv_wr_complete(qp), "bind");
	local("BIND MW", IBV_WC_BIND_MW);
	/* rdma_rxe's library names the window by this */
	mw->rkey = own.window;
}

static void invalidate_window(void)
{
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(qps[RC]);

	ibv_wr_start(qp);
	qp->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_local_inv(qp, own.window);
	must(!ibv_wr_complete(qp), "local invalidate");
	local("LOCAL INV", IBV_WC_LOCAL_INV);
}

static void post_receive(const struct request *r)
{
	struct ibv_sge sge = { own.target, sizeof(memory.target), mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *at;

	must(!ibv_post_recv(qps[r->service], &wr, &at), "ibv_post_recv");
}

static void post(const struct request *r, uint32_t len)
{
	uint32_t rkey = r->windowed ? peer.window : peer.rkey;
	struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(qps[r->service]);
	uint64_t value = OPERAND, place = own.source;

	ibv_wr_start(qp);
	qp->wr_flags = IBV_SEND_SIGNALED;
	switch (r->opcode) {
	case IBV_WR_SEND:
		ibv_wr_send(qp);
		break;
	case IBV_WR_SEND_WITH_IMM:
		ibv_wr_send_imm(qp, htonl(IMMEDIATE));
		break;
	case IBV_WR_SEND_WITH_INV:
		ibv_wr_send_inv(qp, rkey);
		break;
	case IBV_WR_RDMA_WRITE:
		ibv_wr_rdma_write(qp, rkey, peer.target);
		break;
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		ibv_wr_rdma_write_imm(qp, rkey, peer.target, htonl(IMMEDIATE));
		break;
	case IBV_WR_RDMA_READ:
		ibv_wr_rdma_read(qp, rkey, peer.source);
		place = own.target;
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		ibv_wr_atomic_cmp_swp(qp, rkey, peer.target, r->compare, OPERAND);
		place = own.target;
		len = sizeof(value);
		break;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		ibv_wr_atomic_fetch_add(qp, rkey, peer.target, OPERAND);
		place = own.target;
		len = sizeof(value);
		break;
	case IBV_WR_ATOMIC_WRITE:
		ibv_wr_atomic_write(qp, rkey, peer.target, &value);
		break;
	case IBV_WR_FLUSH:
		ibv_wr_flush(qp, rkey, peer.target, len, IBV_FLUSH_GLOBAL, IBV_FLUSH_RANGE);
		break;
	default:
		abort();
	}
	if (r->service == UD)
		ibv_wr_set_ud_addr(qp, ah, peer.qpn[UD], QKEY);
	if (r->opcode != IBV_WR_FLUSH && r->opcode != IBV_WR_ATOMIC_WRITE)
		ibv_wr_set_sge(qp, mr->lkey, place, len);
	must(!ibv_wr_complete(qp), "ibv_wr_complete");
}

/* Checks the completion of a receive */
static void check_receive(const struct request *r, uint32_t len)
{
	bool imm = r->opcode == IBV_WR_SEND_WITH_IMM || r->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
	bool inv = r->opcode == IBV_WR_SEND_WITH_INV;
	/* rdma_rxe gives programs the kernel's flag, which is another one here */
	int inv_flag = own.on_rxe ? IBV_WC_IP_CSUM_OK : IBV_WC_WITH_INV;
	struct ibv_wc wc = complete(recv_cq);

	check(wc.status == IBV_WC_SUCCESS, r, len, ibv_wc_status_str(wc.status));
	check(wc.opcode == (r->opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? IBV_WC_RECV_RDMA_WITH_IMM :
			    IBV_WC_RECV), r, len, "the receive is of another kind");
	check(wc.byte_len == len + (r->service == UD ? GRH : 0), r, len, "another length");
	check(!!(wc.wc_flags & IBV_WC_WITH_IMM) == imm && (!imm || ntohl(wc.imm_data) == IMMEDIATE),
	      r, len, "other immediate data");
	check(!!(wc.wc_flags & inv_flag) == inv &&
	      (!inv || wc.invalidated_rkey == own.window), r, len, "another key was invalidated");
}

/* Only the first bytes of the target are changed, to those that the peer has sent. */
static void check_target(const struct request *r, uint32_t len)
{
	uint32_t from = r->service == UD ? GRH : 0;
	bool good = true;

	for (uint32_t i = 0; i < LONGEST; i++)
		good &= memory.target[from + i] == (i < len ? byte_of(i) : CLEAR);
	check(good, r, len, "other bytes");
}

static void check_value(const struct request *r, uint64_t expected)
{
	uint64_t value;

	memcpy(&value, memory.target, sizeof(value));
	check(value == expected, r, sizeof(value), "another value");
}

static void fill(uint8_t *to)
{
	for (uint32_t i = 0; i < LONGEST; i++)
		to[i] = byte_of(i);
}

static void ask(const struct request *r, uint32_t len)
{
	struct ibv_wc wc;

	memset(memory.target, CLEAR, sizeof(memory.target));
	meet();
	post(r, len);
	wc = complete(send_cq);
	check(wc.status == IBV_WC_SUCCESS, r, len, ibv_wc_status_str(wc.status));
	check(wc.opcode == completed[r->opcode], r, len, "the completion is of another kind");
	meet();
	if (r->opcode == IBV_WR_RDMA_READ)
		check_target(r, len);
	else if (is_atomic(r) && r->opcode != IBV_WR_ATOMIC_WRITE)
		check_value(r, BEFORE);
	meet();
}

static void be_asked(const struct request *r, uint32_t len)
{
	const uint64_t before = BEFORE;

	memset(memory.target, CLEAR, sizeof(memory.target));
	if (r->opcode == IBV_WR_FLUSH)
		fill(memory.target);
	if (is_atomic(r))
		memcpy(memory.target, &before, sizeof(before));
	if (takes_receive(r))
		post_receive(r);
	if (r->windowed)
		bind_window();
	meet();
	/* the peer sends now */
	meet();
	if (takes_receive(r))
		check_receive(r, len);
	if (r->windowed && !takes_receive(r))
		invalidate_window();
	/* the last byte shows that a WRITE has arrived which is not acknowledged */
	if (r->service == UC && r->opcode == IBV_WR_RDMA_WRITE && len)
		while (((volatile uint8_t *)memory.target)[len - 1] == CLEAR)
			;
	if (is_atomic(r))
		check_value(r, r->after);
	else if (r->opcode == IBV_WR_FLUSH)
		check_target(r, LONGEST);
	else
		check_target(r, r->opcode == IBV_WR_RDMA_READ ? 0 : len);
	meet();
}

int main(int argc, char **argv)
{
	const char *device = NULL;
	unsigned int made = 0, flow = 0;
	int opt, gid_index = 0, my_turn;

	while ((opt = getopt(argc, argv, "d:f:g:i:t:")) != -1) {
		if (opt == 'd')
			device = optarg;
		else if (opt == 'g')
			gid_index = atoi(optarg);
		else if (opt == 'i')
			port_num = atoi(optarg);
		else if (opt == 'f')
			flow = strtoul(optarg, NULL, 0);
		else if (opt == 't')
			timeout = atoi(optarg);
		else
			return 2;
	}
	must(device, "-d DEVICE");
	signal(SIGALRM, late);
	alarm(PATIENCE);
	open_hca(device, gid_index);
	for (int s = 0; s < SERVICES; s++)
		qps[s] = make_qp(s);
	my_turn = argv[optind] ? 0 : 1;
	find_peer(argv[optind]);
	meet();
	struct ibv_ah_attr path = {
		.dlid = peer.lid, .port_num = port_num, .is_global = 1,
		.grh = { .dgid = peer.gid, .flow_label = flow, .sgid_index = gid_index,
			 .hop_limit = 64 },
	};
	ah = ibv_create_ah(pd, &path);
	must(ah, "ibv_create_ah");
	for (int s = 0; s < SERVICES; s++)
		connect_qp(s, &path);
	fill(memory.source);
	for (unsigned int i = 0; i < COUNT(requests) * COUNT(lengths); i++) {
		const struct request *r = &requests[i / COUNT(lengths)];
		uint32_t len = lengths[i % COUNT(lengths)];

		if (!fits(r, len))
			continue;
		current = r;
		current_len = len;
		for (int turn = 0; turn < 2; turn++)
			if (turn == my_turn)
				ask(r, len);
			else
				be_asked(r, len);
		made++;
	}
	printf("%u requests to the peer and as many of the peer, %u findings\n", made, wrong);
	return wrong != 0;
}
