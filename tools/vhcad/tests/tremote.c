// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/testmem.h"
#include "tests/tprog.h"
#include "tests/tremote.h"
#include "tests/vuclient.h"

#define RAM_SIZE	(16ull << 20)

void t_remote_world(struct tworld *w)
{
	*w = (struct tworld){ .threaded = true, .remote = true };
}

u32 t_remote_write(struct thca *h, u32 region, u64 off, u32 val)
{
	struct vuc v = { .sock = h->sock };

	return vuc_write(&v, region, off, &val, sizeof(val));
}

static u32 reg_read(void *dev, u32 off)
{
	struct thca *h = dev;
	struct vuc v = { .sock = h->sock };

	return vuc_read32(&v, SERVER_BAR_REGS, off);
}

static void reg_write(void *dev, u32 off, u32 val)
{
	assert_int_equal(t_remote_write(dev, SERVER_BAR_REGS, off, val), 0);
}

static void kick(void *dev, u32 page, u32 val)
{
	assert_int_equal(t_remote_write(dev, SERVER_BAR_KICK, page * SERVER_KICK_STRIDE, val), 0);
}

static const struct server_device_ops bars = {
	.reg_read = reg_read, .reg_write = reg_write, .kick = kick,
};

u32 t_remote_grant(struct thca *h, bool on)
{
	const struct vu_dma_map map = {
		.argsz = sizeof(map), .flags = VU_DMA_F_READ | VU_DMA_F_WRITE,
		.address = T_RAM_BASE, .size = RAM_SIZE,
	};
	const struct vu_dma_unmap unmap = {
		.argsz = sizeof(unmap), .address = T_RAM_BASE, .size = RAM_SIZE,
	};
	struct vu_dma_unmap answer;

	if (!on)
		return vuc_call(h->sock, VU_DMA_UNMAP, &unmap, sizeof(unmap), NULL, 0, &answer,
				sizeof(answer), NULL);
	return vuc_call(h->sock, VU_DMA_MAP, &map, sizeof(map), &h->ram_fd, 1, NULL, 0, NULL);
}

void t_remote_init(struct thca *h, struct tworld *w, const char *path)
{
	memset(h, 0, sizeof(*h));
	h->w = w;
	h->bars = &bars;
	h->qp_type = VHCA_QPT_RC;
	h->ram_size = RAM_SIZE;
	h->ram_fd = testmem_fd(RAM_SIZE);
	h->ram = mmap(NULL, RAM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, h->ram_fd, 0);
	assert_ptr_not_equal(h->ram, MAP_FAILED);
	h->sock = tprog_attach(path);
	vuc_greet(h->sock);
	assert_int_equal(t_remote_grant(h, true), 0);
	assert_int_equal(t_remote_write(h, VFIO_PCI_CONFIG_REGION_INDEX, PCI_COMMAND,
					PCI_COMMAND_MASTER | PCI_COMMAND_MEMORY), 0);
	t_hca_start(h);
}

void t_remote_irq(struct thca *h, u32 vector, int fd)
{
	const struct vfio_irq_set set = {
		.argsz = sizeof(set), .index = VFIO_PCI_MSIX_IRQ_INDEX, .start = vector, .count = 1,
		.flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER,
	};

	assert_int_equal(vuc_call(h->sock, VU_SET_IRQS, &set, sizeof(set), &fd, 1, NULL, 0, NULL),
			 0);
}

void t_remote_fini(struct thca *h)
{
	close(h->sock);
	close(h->ram_fd);
	testmem_drop(h->ram, h->ram_size);
}
