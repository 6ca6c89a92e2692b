// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Fuzzes a vfio-user session.  The client sends anything, in any pieces and with any descriptors.
 * recvmsg() and sendmsg() are replaced: the input is received, and what is sent is checked.
 *
 * Input: how the function is set up; then messages, each of a given command, valid at first and
 * then corrupted, or arbitrary bytes; with each message its descriptors, and how it is split.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz/input.h"
#include "lib/log.h"
#include "server/session.h"

#define RAM		(64u << 10)
#define MESSAGES	32u
#define LONGEST		1024u	/* bytes of a message */

ssize_t __wrap_recvmsg(int sock, struct msghdr *mh, int flags);
ssize_t __wrap_sendmsg(int sock, const struct msghdr *mh, int flags);

static struct {
	u8 bytes[64u << 10];
	u32 len, at;
	/* where each message begins, its descriptors, and how it is split */
	struct {
		u32 start;
		u8 fds, first_fd, pieces;
	} msg[MESSAGES + 1];
	u32 n, now;
} stream;

static u32 left;		/* bytes of the current answer that are not sent yet */
static u32 sends;

static struct {
	int sealed, unsealed, readonly, event, nofile;
} have;

static u32 reg[SERVER_REGS_SIZE / 4];

static u32 reg_read(void *dev, u32 off)
{
	return reg[off / 4];
}

static void reg_write(void *dev, u32 off, u32 val)
{
	struct vu_function *fn = dev;
	u8 byte;

	reg[off / 4] = val;
	vu_irqs_raise(&fn->irqs, val);
	/* the device accesses an address that it was given */
	if (!dma_read(fn->mem, &byte, (u64)val << 8, 1))
		dma_write(fn->mem, (u64)val << 8, &byte, 1);
}

static void kick(void *dev, u32 page, u32 val)
{
	const struct vu_function *fn = dev;

	if (page >= fn->cfg.kick_pages)
		abort();
}

static void reset(void *dev)
{
	memset(reg, 0, sizeof(reg));
}

static const struct server_device_ops ops = {
	.reg_read = reg_read,
	.reg_write = reg_write,
	.kick = kick,
	.reset = reset,
};

static struct vu_function functions[2];	/* MSI-X, MSI */

static void need(bool ok)
{
	if (!ok)
		abort();
}

static int memory(bool sealed)
{
	int fd = memfd_create("guest", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	need(fd >= 0 && !ftruncate(fd, RAM));
	need(!sealed || !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW));
	return fd;
}

static void prepare(void)
{
	char path[32];

	need(!log_open("/dev/null"));
	have.sealed = memory(true);
	have.unsealed = memory(false);
	have.event = eventfd(0, EFD_CLOEXEC);
	have.nofile = open("/dev/null", O_RDWR | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", have.sealed);
	have.readonly = open(path, O_RDONLY | O_CLOEXEC);
	need(have.event >= 0 && have.nofile >= 0 && have.readonly >= 0);
	for (u32 i = 0; i < 2; i++) {
		struct vu_function *fn = &functions[i];
		const struct pci_ident id = {
			.vendor = 0x1af4, .device = 0x10f0, .revision = 1, .class = 0x020700,
			.irq = i ? PCI_IRQ_MSI : PCI_IRQ_MSIX, .vectors = i ? 1 : 20,
			.bar_size = {
				[SERVER_BAR_REGS] = SERVER_REGS_SIZE,
				[SERVER_BAR_KICK] = 16 * SERVER_KICK_STRIDE,
				[MSIX_BAR] = i ? 0 : MSIX_BAR_SIZE,
			},
			.bar_64bit = 1u << SERVER_BAR_KICK,
		};

		fn->cfg = (struct server_config){
			.name = "fuzz", .irq = id.irq, .vectors = id.vectors, .kick_pages = 16,
		};
		fn->ops = &ops;
		fn->dev = fn;
		pci_config_init(&fn->pci, &id);
		fn->mem = gmem_new();
		need(fn->mem && !vu_irqs_init(&fn->irqs, id.vectors));
		gmem_set_master(fn->mem, false);
	}
}

static int descriptor(u32 kind)
{
	const int all[] = { have.sealed, have.event, have.unsealed, have.readonly, have.nofile };
	int fd = fcntl(all[kind % ARRAY_SIZE(all)], F_DUPFD_CLOEXEC, 0);

	need(fd >= 0);
	return fd;
}

/* Like the kernel: as many descriptors as there is room for, and a flag if there were more. */
static void attach(struct msghdr *mh, u32 n, u32 kind)
{
	u32 room = (mh->msg_controllen - CMSG_LEN(0)) / sizeof(int);
	struct cmsghdr *c = CMSG_FIRSTHDR(mh);

	if (n > room)
		mh->msg_flags |= MSG_CTRUNC;
	n = MIN(n, room);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(n * sizeof(int));
	for (u32 i = 0; i < n; i++) {
		int fd = descriptor(kind + i);

		memcpy(CMSG_DATA(c) + i * sizeof(int), &fd, sizeof(fd));
	}
	mh->msg_controllen = CMSG_SPACE(n * sizeof(int));
}

ssize_t __wrap_recvmsg(int sock, struct msghdr *mh, int flags)
{
	size_t len = mh->msg_iov->iov_len;
	bool start = stream.now < stream.n && stream.at == stream.msg[stream.now].start;
	u8 how;

	stream.now += start;
	how = stream.now ? stream.msg[stream.now - 1].pieces : 0;
	mh->msg_flags = 0;
	if (how >= 0xf8 && !start) {
		/* fail only once */
		stream.msg[stream.now - 1].pieces = 0;
		errno = how & 1 ? EINTR : ECONNRESET;
		return -1;
	}
	if (how & 1)
		len = how & 2 ? 1 : (len + 1) / 2;
	len = MIN(len, (size_t)(stream.len - stream.at));
	/* some descriptors come too late, in the middle of their message */
	if (len && stream.now && start == !(how & 4) && stream.msg[stream.now - 1].fds) {
		attach(mh, stream.msg[stream.now - 1].fds, stream.msg[stream.now - 1].first_fd);
		stream.msg[stream.now - 1].fds = 0;
	} else {
		mh->msg_controllen = 0;
	}
	memcpy(mh->msg_iov->iov_base, stream.bytes + stream.at, len);
	stream.at += len;
	return len;
}

ssize_t __wrap_sendmsg(int sock, const struct msghdr *mh, int flags)
{
	const struct vu_header *hdr = mh->msg_iov[0].iov_base;
	size_t len = mh->msg_iov[0].iov_len + mh->msg_iov[1].iov_len;

	if (!left) {
		need(mh->msg_iov[0].iov_len == sizeof(*hdr) && hdr->size == len);
		need((hdr->flags & VU_F_TYPE) == VU_F_REPLY);
		need(!(hdr->flags & VU_F_ERROR) == !hdr->error);
		left = len;
	}
	need(left == len);
	/* every third answer is sent in pieces */
	if (++sends % 3 == 0)
		len = (len + 1) / 2;
	left -= len;
	return len;
}

/* ---- messages ---- */

static u32 version(struct input *in, void *to)
{
	static const char *const texts[] = {
		"", "{}", "{\"capabilities\":{\"max_msg_fds\":8}}", "{\"capabilities\":1}", "[1]",
		"{\"capabilities\":{\"migration\":{\"pgsize\":4096}}}",
	};
	const char *text = texts[in_8(in) % ARRAY_SIZE(texts)];
	struct vu_version *v = to;

	v->major = VU_MAJOR;
	v->minor = in_8(in);
	memcpy(v->json, text, strlen(text) + 1);
	return sizeof(*v) + (*text ? strlen(text) + 1 : 0);
}

static u32 dma_map(struct input *in, void *to)
{
	u8 flags = in_8(in), page = in_8(in), size = in_8(in);

	*(struct vu_dma_map *)to = (struct vu_dma_map){
		.argsz = sizeof(struct vu_dma_map), .flags = flags & 3,
		.offset = (flags >> 4) * 4096u, .address = page * 4096u,
		.size = (1 + size % 16) * 4096u,
	};
	return sizeof(struct vu_dma_map);
}

static u32 dma_unmap(struct input *in, void *to)
{
	u8 flags = in_8(in), page = in_8(in), size = in_8(in);

	*(struct vu_dma_unmap *)to = (struct vu_dma_unmap){
		.argsz = sizeof(struct vu_dma_unmap), .flags = flags & 2,
		.address = flags & 2 ? 0 : page * 4096u, .size = flags & 2 ? 0 : size * 4096u,
	};
	return sizeof(struct vu_dma_unmap);
}

static u32 region_info(struct input *in, void *to)
{
	*(struct vfio_region_info *)to = (struct vfio_region_info){
		.argsz = sizeof(struct vfio_region_info), .index = in_8(in) % 12,
	};
	return sizeof(struct vfio_region_info);
}

static u32 irq_info(struct input *in, void *to)
{
	*(struct vfio_irq_info *)to = (struct vfio_irq_info){
		.argsz = sizeof(struct vfio_irq_info), .index = in_8(in) % 8,
	};
	return sizeof(struct vfio_irq_info);
}

static u32 set_irqs(struct input *in, void *to)
{
	u8 what = in_8(in), start = in_8(in), count = in_8(in);
	struct vfio_irq_set *set = to;

	*set = (struct vfio_irq_set){
		.argsz = sizeof(*set), .flags = VFIO_IRQ_SET_ACTION_TRIGGER | 1u << what % 4,
		.index = 1 + (what >> 2) % 4, .start = start % 24, .count = count % 24,
	};
	if (!(set->flags & VFIO_IRQ_SET_DATA_BOOL))
		return sizeof(*set);
	in_bytes(in, set->data, set->count);
	return sizeof(*set) + set->count;
}

static u32 region_io(struct input *in, void *to, bool write)
{
	static const u8 regions[] = { SERVER_BAR_REGS, SERVER_BAR_KICK, MSIX_BAR,
				      VFIO_PCI_CONFIG_REGION_INDEX };
	struct vu_region_io *io = to;
	u8 which = in_8(in), len = in_8(in);

	*io = (struct vu_region_io){
		.region = regions[which % ARRAY_SIZE(regions)], .count = which & 128 ? len : 4,
	};
	io->offset = which & 64 ? in_16(in) : in_8(in) * 4u;
	if (which & 32)
		io->offset <<= 12;
	if (!write)
		return sizeof(*io);
	in_bytes(in, io->data, io->count);
	return sizeof(*io) + io->count;
}

static u32 body(struct input *in, u8 command, void *to)
{
	switch (command) {
	case VU_VERSION:
		return version(in, to);
	case VU_DMA_MAP:
		return dma_map(in, to);
	case VU_DMA_UNMAP:
		return dma_unmap(in, to);
	case VU_GET_INFO:
		*(u32 *)to = 16;
		return 16;
	case VU_GET_REGION_INFO:
		return region_info(in, to);
	case VU_GET_IRQ_INFO:
		return irq_info(in, to);
	case VU_SET_IRQS:
		return set_irqs(in, to);
	case VU_REGION_READ:
	case VU_REGION_WRITE:
		return region_io(in, to, command == VU_REGION_WRITE);
	default:
		return 0;
	}
}

static void message(struct input *in)
{
	u8 what = in_8(in), command = what % 20, fds = in_8(in);
	static struct {
		struct vu_header hdr;
		u64 body[64];
	} m;
	u32 len;

	stream.msg[stream.n].start = stream.len;
	stream.msg[stream.n].pieces = in_8(in);
	stream.msg[stream.n].first_fd = fds;
	stream.msg[stream.n].fds = fds < 128 ? 0 : fds < 224 ? 1 : fds % 32;
	stream.n++;
	if (what >= 240) {
		len = in_8(in);
		in_bytes(in, stream.bytes + stream.len, len);
		stream.len += len;
		return;
	}
	len = sizeof(m.hdr) + body(in, command, m.body);
	m.hdr = (struct vu_header){
		.id = stream.n, .command = command, .size = len,
		.flags = what >= 220 ? VU_F_NO_REPLY : 0,
	};
	in_spoil(in, &m, len);
	memcpy(stream.bytes + stream.len, &m, len);
	stream.len += len;
}

/* Sends VERSION, with which a session begins unless the input says otherwise. */
static void greet(void)
{
	static const u8 choice[] = { VU_VERSION, 0, 0, 2 };
	struct input in = { choice, choice + sizeof(choice) };

	message(&in);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct input in = { data, data + len };
	static bool ready;
	struct vu_function *fn;
	u8 how;

	if (!ready)
		prepare();
	ready = true;
	left = 0;
	sends = 0;
	memset(&stream, 0, sizeof(stream));
	how = in_8(&in);
	if (!(how & 4))
		greet();
	while (in_more(&in) && stream.n < MESSAGES &&
	       stream.len + LONGEST < sizeof(stream.bytes))
		message(&in);
	fn = &functions[how & 1];
	fn->cfg.allow_unsealed = how & 2;
	vu_session(fn, -1);
	/* nothing is left of a client that has disconnected */
	need(!gmem_ranges(fn->mem) && !vu_irqs_pending(&fn->irqs));
	for (u32 i = 0; i < fn->irqs.vectors; i++)
		need(fn->irqs.fd[i] < 0);
	return 0;
}
