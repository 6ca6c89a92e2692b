// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * multicast DEVICE: UD queue pairs that execute commands from standard input, a line each, and
 * answer with a line each:
 *
 *	attach QP MGID MLID		0 or the errno's name
 *	detach QP MGID MLID		likewise
 *	attach-rc MGID MLID		likewise, with an RC QP
 *		send QP MGID MLID QKEY COUNT	the number of sends that succeeded
 *	receive				what each QP has got of one more send, then how many
 *					packets were wrong: no GRH, other group, order, bytes
 *
 * Packets of 16 bytes are numbered by their sender. After those of each send comes one to a group
 * of which every such program is a member, so that a receiver knows that all of them have arrived.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"

#define QPS	4
#define END	QPS	/* the QP that is in the group of all programs */
#define END_MLID 0xc0ff
#define RECEIVES 64
#define QKEY	0x1234
#define GRH	40
#define BYTES	16
#define SLOT	(GRH + BYTES)

struct packet {
	uint32_t number;
	uint32_t sender;
	uint8_t group[8];	/* the MGID's end */
};

static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_cq *send_cq, *recv_cq;
static struct ibv_qp *qp[QPS + 1], *rc;
static struct ibv_mr *mr;
static uint8_t memory[QPS + 1][RECEIVES][SLOT];
static union ibv_gid end_group;
static struct packet out;
static struct ibv_mr *out_mr;
static uint32_t sent;

static void must(bool good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(2);
}

static void post(unsigned int i, unsigned int slot)
{
	struct ibv_sge sge = { (uintptr_t)memory[i][slot], SLOT, mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = i * RECEIVES + slot, .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	must(!ibv_post_recv(qp[i], &wr, &bad), "ibv_post_recv");
}

static struct ibv_qp *make(enum ibv_qp_type type)
{
	struct ibv_qp_init_attr init = {
		.send_cq = send_cq, .recv_cq = recv_cq, .qp_type = type,
		.cap = { .max_send_wr = 16, .max_recv_wr = RECEIVES, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = QKEY };
	struct ibv_qp *made = ibv_create_qp(pd, &init);

	must(made, "ibv_create_qp");
	if (type != IBV_QPT_UD)
		return made;
	must(!ibv_modify_qp(made, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			    IBV_QP_QKEY), "INIT");
	attr.qp_state = IBV_QPS_RTR;
	must(!ibv_modify_qp(made, &attr, IBV_QP_STATE), "RTR");
	attr.qp_state = IBV_QPS_RTS;
	must(!ibv_modify_qp(made, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), "RTS");
	return made;
}

static void set_up(const char *name)
{
	context = open_device(name);
	must(context, name);
	pd = ibv_alloc_pd(context);
	must(pd, "ibv_alloc_pd");
	send_cq = ibv_create_cq(context, 16, NULL, NULL, 0);
	recv_cq = ibv_create_cq(context, (QPS + 1) * RECEIVES, NULL, NULL, 0);
	must(send_cq && recv_cq, "ibv_create_cq");
	mr = ibv_reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
	out_mr = ibv_reg_mr(pd, &out, sizeof(out), 0);
	must(mr && out_mr, "ibv_reg_mr");
	for (unsigned int i = 0; i <= QPS; i++) {
		qp[i] = make(IBV_QPT_UD);
		for (unsigned int slot = 0; slot < RECEIVES; slot++)
			post(i, slot);
	}
	must(inet_pton(AF_INET6, "ff12:601b::ffff", &end_group) == 1, "inet_pton");
	must(!ibv_attach_mcast(qp[END], &end_group, END_MLID), "ibv_attach_mcast");
	rc = make(IBV_QPT_RC);
}

static void say_errno(int err)
{
	puts(err ? strerrorname_np(err) : "0");
}

static unsigned int send_all(struct ibv_qp *from, const union ibv_gid *mgid, unsigned int mlid,
			     uint32_t qkey, unsigned int count)
{
	struct ibv_ah_attr attr = {
		.grh = { .dgid = *mgid, .hop_limit = 1 }, .dlid = mlid, .is_global = 1,
		.port_num = 1,
	};
	struct ibv_sge sge = { (uintptr_t)&out, sizeof(out), out_mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED }, *bad;
	struct ibv_ah *ah = ibv_create_ah(pd, &attr);
	unsigned int good = 0;
	struct ibv_wc wc;
	int n;

	must(ah, "ibv_create_ah");
	wr.wr.ud.ah = ah;
	wr.wr.ud.remote_qpn = 0xffffff;
	wr.wr.ud.remote_qkey = qkey;
	while (count--) {
		out.number = sent++;
		out.sender = from->qp_num;
		memcpy(out.group, mgid->raw + 8, sizeof(out.group));
		must(!ibv_post_send(from, &wr, &bad), "ibv_post_send");
		while (!(n = ibv_poll_cq(send_cq, 1, &wc)))
			;
		good += n == 1 && wc.status == IBV_WC_SUCCESS;
	}
	must(!ibv_destroy_ah(ah), "ibv_destroy_ah");
	return good;
}

static void say_sent(struct ibv_qp *from, const union ibv_gid *mgid, unsigned int mlid,
		     uint32_t qkey, unsigned int count)
{
	unsigned int good = send_all(from, mgid, mlid, qkey, count);

	must(send_all(from, &end_group, END_MLID, QKEY, 1) == 1, "the end of a send");
	printf("%u\n", good);
}

static void receive_all(void)
{
	static uint32_t next[QPS + 1];
	unsigned int got[QPS + 1] = {}, wrong = 0;
	struct ibv_wc wc;
	int n;

	while (!got[END]) {
		unsigned int i, slot;
		const uint8_t *raw;
		struct packet in;

		while (!(n = ibv_poll_cq(recv_cq, 1, &wc)))
			;
		must(n == 1 && wc.status == IBV_WC_SUCCESS, "receive");
		i = wc.wr_id / RECEIVES;
		slot = wc.wr_id % RECEIVES;
		raw = memory[i][slot];
		memcpy(&in, raw + GRH, sizeof(in));
		/* the destination GID is the last field of a GRH */
		if (!(wc.wc_flags & IBV_WC_GRH) || wc.byte_len != SLOT || raw[24] != 0xff ||
		    memcmp(raw + 32, in.group, 8) || in.sender != wc.src_qp || in.number < next[i])
			wrong++;
		next[i] = in.number + 1;
		got[i]++;
		post(i, slot);
	}
	/* each sender numbers its packets from the start */
	memset(next, 0, sizeof(next));
	for (unsigned int i = 0; i < QPS; i++)
		printf("%u ", got[i]);
	printf("wrong %u\n", wrong);
}

int main(int argc, char **argv)
{
	char line[128], word[16], group[64];
	unsigned int i, mlid, qkey, count;
	union ibv_gid mgid;

	if (argc != 2)
		return 2;
	set_up(argv[1]);
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "%15s", word) != 1)
			return 2;
		if (!strcmp(word, "receive")) {
			receive_all();
			continue;
		}
		if (!strcmp(word, "attach-rc")) {
			i = 0;
			must(sscanf(line, "%*s %63s %x", group, &mlid) == 2, line);
		} else {
			must(sscanf(line, "%*s %u %63s %x %x %u", &i, group, &mlid, &qkey,
				    &count) >= 3 && i < QPS, line);
		}
		must(inet_pton(AF_INET6, group, &mgid) == 1, group);
		if (!strcmp(word, "attach"))
			say_errno(ibv_attach_mcast(qp[i], &mgid, mlid));
		else if (!strcmp(word, "detach"))
			say_errno(ibv_detach_mcast(qp[i], &mgid, mlid));
		else if (!strcmp(word, "attach-rc"))
			say_errno(ibv_attach_mcast(rc, &mgid, mlid));
		else
			say_sent(qp[i], &mgid, mlid, qkey, count);
	}
	return 0;
}
