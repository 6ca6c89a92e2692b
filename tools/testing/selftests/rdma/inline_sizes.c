// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * inline_sizes DEVICE: inline data of every length, from nothing to as much as a QP can have, sent
 * and written, in one piece and in several, from memory that is overwritten as soon as the request
 * is posted and registered nowhere; TAP on stdout.
 */
#include <errno.h>

#include "self_talk.h"

#define MOST	512u		/* bytes of inline data that every QP can be created for */
#define PIECES	5

static struct ibv_cq *cq;
static struct ibv_qp *qp;

static struct ibv_qp *inline_qp(enum ibv_qp_type type, uint32_t most)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq, .recv_cq = cq, .qp_type = type,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = PIECES,
			 .max_recv_sge = 1, .max_inline_data = most },
	};
	struct ibv_qp *made = ibv_create_qp(pd, &init);

	if (made && init.cap.max_inline_data < most) {
		printf("# %u were asked for, %u granted\n", most, init.cap.max_inline_data);
		ibv_destroy_qp(made);
		errno = ERANGE;
		return NULL;
	}
	return made;
}

static uint8_t byte_of(uint32_t round, uint32_t i)
{
	return round * 31 + i * 7 + 1;
}

/* The device must not read the data after the call has returned. */
static int post(enum ibv_wr_opcode op, uint32_t len, unsigned int pieces, uint32_t round)
{
	uint8_t data[MOST + 1];
	struct ibv_sge sge[PIECES];
	struct ibv_send_wr wr = {
		.sg_list = sge, .num_sge = pieces, .opcode = op,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE,
		.wr.rdma = { (uintptr_t)memory + 4096, mr->rkey },
	}, *at = NULL;
	uint32_t done = 0;
	int err;

	for (uint32_t i = 0; i < len; i++)
		data[i] = byte_of(round, i);
	for (uint32_t i = 0; i < pieces; i++) {
		/* pieces of different lengths, some of them empty; the last one takes the rest */
		uint32_t some = i + 1 == pieces ? len - done : (len - done) * i / PIECES;

		sge[i] = (struct ibv_sge) { (uintptr_t)data + done, some, 0xdead };
		done += some;
	}
	err = ibv_post_send(qp, &wr, &at);
	if (err && at != &wr)
		err = -1;
	memset(data, 0xee, sizeof(data));
	memset(sge, 0xee, sizeof(sge));
	return err;
}

static bool arrived(uint32_t len, uint32_t round, uint32_t offset)
{
	for (uint32_t i = 0; i < MOST + 8; i++) {
		uint8_t expected = i < len ? byte_of(round, i) : 0;

		if (memory[4096 + offset + i] == expected)
			continue;
		printf("# %u bytes, round %u: byte %u is %#x\n", len, round, i,
		       memory[4096 + offset + i]);
		return false;
	}
	return true;
}

static bool one(enum ibv_wr_opcode op, uint32_t len, unsigned int pieces, uint32_t round)
{
	unsigned int left = op == IBV_WR_SEND ? 2 : 1;

	memset(memory + 4096, 0, MOST + 8);
	if (op == IBV_WR_SEND) {
		struct ibv_sge sge = { (uintptr_t)memory + 4096, MOST, mr->lkey };
		struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *at;

		must(!ibv_post_recv(qp, &wr, &at), "ibv_post_recv");
	}
	if (post(op, len, pieces, round)) {
		printf("# %u bytes in %u pieces were refused\n", len, pieces);
		return false;
	}
	while (left--) {
		struct ibv_wc wc = complete(cq);

		if (wc.status || (wc.opcode == IBV_WC_RECV && wc.byte_len != len)) {
			printf("# %u bytes: %s\n", len, ibv_wc_status_str(wc.status));
			return false;
		}
	}
	return arrived(len, round, 0);
}

static bool all_lengths(enum ibv_wr_opcode op, unsigned int pieces)
{
	for (uint32_t len = 0; len <= MOST; len++)
		if (!one(op, len, pieces, len + pieces))
			return false;
	return true;
}

/* One byte more is refused when it is posted, and later requests are not affected. */
static bool too_long(void)
{
	return post(IBV_WR_SEND, MOST + 1, 1, 1) == EINVAL &&
	       post(IBV_WR_RDMA_WRITE, MOST + 1, PIECES, 1) == EINVAL &&
	       state_of(qp) == IBV_QPS_RTS && one(IBV_WR_RDMA_WRITE, MOST, PIECES, 3);
}

static bool no_read(void)
{
	return post(IBV_WR_RDMA_READ, 8, 1, 1) == EINVAL && state_of(qp) == IBV_QPS_RTS;
}

/* Requests of all lengths in a row, so that they cross the end of the ring everywhere. */
static bool ring_of_them(void)
{
	for (uint32_t round = 0; round < 40; round++) {
		for (uint32_t len = round; len <= MOST; len += 37) {
			if (post(IBV_WR_RDMA_WRITE, len, 1 + len % PIECES, round) ||
			    complete(cq).status)
				return false;
		}
		memset(memory + 4096, 0, MOST + 8);
		if (!one(IBV_WR_RDMA_WRITE, MOST - round, 2, round))
			return false;
	}
	return true;
}

static bool made_for(uint32_t most)
{
	struct ibv_qp *made = inline_qp(IBV_QPT_UD, most);

	return made && !ibv_destroy_qp(made);
}

int main(int argc, char **argv)
{
	must(argc == 2, "usage: inline_sizes DEVICE");
	setlinebuf(stdout);
	open_hca(argv[1]);
	cq = ibv_create_cq(context, 4 * DEPTH, NULL, NULL, 0);
	must(cq, "ibv_create_cq");
	qp = inline_qp(IBV_QPT_RC, MOST);
	must(qp, "ibv_create_qp");
	connect_qp(qp, qp);

	printf("TAP version 13\n1..10\n");
	point(all_lengths(IBV_WR_SEND, 1), "sent in one piece");
	point(all_lengths(IBV_WR_SEND, PIECES), "sent in several pieces");
	point(all_lengths(IBV_WR_RDMA_WRITE, 1), "written in one piece");
	point(all_lengths(IBV_WR_RDMA_WRITE, PIECES), "written in several pieces");
	point(too_long(), "a byte more is refused");
	point(no_read(), "and so is a READ");
	point(ring_of_them(), "all over the ring");
	point(made_for(0) && made_for(1) && made_for(64), "QPs made for less");
	point(!inline_qp(IBV_QPT_RC, 1 << 16) && errno == EINVAL, "a QP for 64 KiB is refused");
	must(!ibv_destroy_qp(qp) && !ibv_destroy_cq(cq), "the end");
	point(true, "everything ends");
	close_hca();
	return bad > 0;
}
