// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * dmabuf DEVICE: registers parts of a DMA buffer, which is made from a memory file so that the
 * program can read it; TAP on stdout.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <rdma/ib_user_verbs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "self_talk.h"

#define PAGE	4096
#define BYTES	(4 * PAGE)
#define OFFSET	(PAGE + 8)		/* the part that is registered */
#define LENGTH	(2 * PAGE - 100)
#define IOVA	0x123008
#define ACCESS	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)

static uint8_t *buffer;
static int memfd, fd;

static void make_buffer(void)
{
	struct udmabuf_create create = { .flags = UDMABUF_FLAGS_CLOEXEC, .size = BYTES };
	int dev = open("/dev/udmabuf", O_RDWR | O_CLOEXEC);

	memfd = memfd_create("dmabuf", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	must(dev >= 0 && memfd >= 0 && !ftruncate(memfd, BYTES) &&
	     !fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK), "memory file");
	buffer = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	must(buffer != MAP_FAILED, "mmap");
	memset(buffer, 0x5a, BYTES);
	create.memfd = memfd;
	fd = ioctl(dev, UDMABUF_CREATE, &create);
	must(fd >= 0, "UDMABUF_CREATE");
	close(dev);
}

/* Move bytes by RDMA WRITE, from one key to the other. */
static enum ibv_wc_status move(struct ibv_qp *qp, uint64_t from, uint32_t lkey, uint64_t to,
			       uint32_t rkey, uint32_t len)
{
	struct ibv_sge sge = { from, len, lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = to, .rkey = rkey },
	}, *at;

	must(!ibv_post_send(qp, &wr, &at), "ibv_post_send");
	return complete(qp->send_cq).status;
}

/* Are the bytes of the buffer outside [at, at + len) as they were? */
static bool untouched(size_t at, size_t len)
{
	for (size_t i = 0; i < BYTES; i++)
		if ((i < at || i >= at + len) && buffer[i] != 0x5a)
			return false;
	return true;
}

static void fill(uint8_t first, size_t len)
{
	for (size_t i = 0; i < len; i++)
		memory[i] = first + i;
}

static void moved(struct ibv_qp *qp, struct ibv_mr *part)
{
	/* the buffer's pages are contiguous for the device, whatever their physical addresses */
	size_t len = LENGTH - 20, at = OFFSET + 20;
	size_t first = PAGE;

	fill(7, PAGE);
	point(move(qp, (uintptr_t)memory, mr->lkey, IOVA + 20, part->rkey, first) ==
	      IBV_WC_SUCCESS && !memcmp(buffer + at, memory, first) && untouched(at, first),
	      "a peer writes into the buffer");
	memset(memory + PAGE, 0, PAGE);
	point(move(qp, IOVA + 20, part->lkey, (uintptr_t)memory + PAGE, mr->rkey, first) ==
	      IBV_WC_SUCCESS && !memcmp(memory + PAGE, memory, first),
	      "the device reads from the buffer");
	fill(90, 100);
	point(move(qp, (uintptr_t)memory, mr->lkey, IOVA + LENGTH - 100, part->rkey, 100) ==
	      IBV_WC_SUCCESS && !memcmp(buffer + OFFSET + LENGTH - 100, memory, 100) &&
	      untouched(at, len), "the last bytes");
}

static void refused(int number, uint64_t offset, size_t length, uint64_t iova, int access,
		    int error, const char *name)
{
	errno = 0;
	point(!ibv_reg_dmabuf_mr(pd, offset, length, iova, number, access) && errno == error,
	      name);
}

/* By a raw request: libibverbs does not reregister such a region. */
static int rereg(const struct ibv_mr *part, uint32_t flags, const struct ibv_pd *to)
{
	struct ib_uverbs_rereg_mr_resp resp;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_rereg_mr req;
	} cmd = {
		.hdr = {
			.command = IB_USER_VERBS_CMD_REREG_MR, .in_words = sizeof(cmd) / 4,
			.out_words = sizeof(resp) / 4,
		},
		.req = {
			.response = (uintptr_t)&resp, .mr_handle = part->handle, .flags = flags,
			.start = (uintptr_t)memory, .length = 64, .hca_va = (uintptr_t)memory,
			.pd_handle = to->handle, .access_flags = ACCESS,
		},
	};

	return write(context->cmd_fd, &cmd, sizeof(cmd)) == sizeof(cmd) ? 0 : errno;
}

static void changed(struct ibv_mr *part)
{
	struct ibv_pd *other = ibv_alloc_pd(context);

	must(other, "ibv_alloc_pd");
	point(rereg(part, 1, pd) == EOPNOTSUPP, "it cannot be moved into other memory");
	point(rereg(part, 4, pd) == EOPNOTSUPP, "its rights cannot be changed");
	point(!rereg(part, 2, other) && ibv_dealloc_pd(other) == EBUSY && !rereg(part, 2, pd) &&
	      !ibv_dealloc_pd(other), "its PD can");
	point(!rereg(part, 2, pd), "to ask for the PD that it has is no error");
}

int main(int argc, char **argv)
{
	struct ibv_mr *part;
	struct ibv_cq *cq;
	struct ibv_qp *qp;

	must(argc == 2, "usage: dmabuf DEVICE");
	printf("TAP version 13\n1..14\n");
	open_hca(argv[1]);
	make_buffer();
	cq = ibv_create_cq(context, DEPTH, NULL, NULL, 0);
	must(cq, "ibv_create_cq");
	qp = make_qp(IBV_QPT_RC, cq, NULL, 0);
	must(qp, "ibv_create_qp_ex");
	connect_qp(qp, qp);

	refused(memfd, OFFSET, LENGTH, IOVA, ACCESS, EINVAL, "a file that is no buffer is refused");
	refused(-1, OFFSET, LENGTH, IOVA, ACCESS, EBADF, "so is no file");
	refused(fd, OFFSET, BYTES, IOVA, ACCESS, EINVAL, "and a part beyond the end");
	refused(fd, OFFSET, LENGTH, IOVA + 1, ACCESS, EINVAL,
		"and an address at another place in its page");
	refused(fd, OFFSET, LENGTH, IOVA, ACCESS | IBV_ACCESS_MW_BIND, EINVAL,
		"and rights that buffers do not have");

	part = ibv_reg_dmabuf_mr(pd, OFFSET, LENGTH, IOVA, fd, ACCESS);
	must(part, "ibv_reg_dmabuf_mr");
	moved(qp, part);
	changed(part);
	close(fd);
	fill(33, 64);
	point(move(qp, (uintptr_t)memory, mr->lkey, IOVA + 30, part->rkey, 64) == IBV_WC_SUCCESS &&
	      !memcmp(buffer + OFFSET + 30, memory, 64), "the region outlives the descriptor");
	point(move(qp, (uintptr_t)memory, mr->lkey, IOVA + LENGTH - 63, part->rkey, 64) ==
	      IBV_WC_REM_ACCESS_ERR, "a byte more is refused");

	must(!ibv_dereg_mr(part) && !ibv_destroy_qp(qp) && !ibv_destroy_cq(cq), "the end");
	close_hca();
	return bad != 0;
}
