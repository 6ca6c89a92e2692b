// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Reads and writes of configuration space and of BARs.
 */
#include <errno.h>
#include <linux/vfio.h>
#include <string.h>

#include "server/session.h"

void vu_function_reset(struct vu_function *fn)
{
	fn->ops->reset(fn->dev);
	pci_config_reset(&fn->pci);
	gmem_set_master(fn->mem, false);
	vu_irqs_clear(&fn->irqs);
}

u64 vu_region_size(const struct vu_function *fn, u32 index)
{
	switch (index) {
	case SERVER_BAR_REGS:
		return SERVER_REGS_SIZE;
	case SERVER_BAR_KICK:
		return (u64)fn->cfg.kick_pages * SERVER_KICK_STRIDE;
	case MSIX_BAR:
		return fn->cfg.irq == PCI_IRQ_MSIX ? MSIX_BAR_SIZE : 0;
	case VFIO_PCI_CONFIG_REGION_INDEX:
		return PCI_CFG_SIZE;
	default:
		return 0;
	}
}

/* Registers are 32 bits wide; a read of another width gets the bytes that it covers. */
static void regs_read(struct vu_function *fn, u32 off, u8 *buf, u32 len)
{
	while (len) {
		u32 in = off % 4, n = MIN(4 - in, len);
		u32 val = fn->ops->reg_read(fn->dev, off - in);

		memcpy(buf, (u8 *)&val + in, n);
		buf += n;
		off += n;
		len -= n;
	}
}

/* A write of anything but whole registers is ignored. */
static void regs_write(struct vu_function *fn, u32 off, const u8 *buf, u32 len)
{
	if ((off | len) % 4)
		return;
	for (; len; off += 4, buf += 4, len -= 4) {
		u32 val;

		memcpy(&val, buf, 4);
		fn->ops->reg_write(fn->dev, off, val);
	}
}

static void kick_write(struct vu_function *fn, u64 off, const u8 *buf, u32 len)
{
	u32 val;

	if (len != 4 || off % SERVER_KICK_STRIDE)
		return;
	memcpy(&val, buf, 4);
	fn->ops->kick(fn->dev, off / SERVER_KICK_STRIDE, val);
}

/* QEMU keeps the MSI-X table itself, and reads only the pending bits. */
static void msix_read(struct vu_function *fn, u32 off, u8 *buf, u32 len)
{
	u64 pending = vu_irqs_pending(&fn->irqs);

	for (u32 i = 0; i < len; i++, off++)
		if (off >= MSIX_PBA_OFFSET && off < MSIX_PBA_OFFSET + sizeof(pending))
			buf[i] = pending >> (8 * (off - MSIX_PBA_OFFSET));
}

static void config_write(struct vu_function *fn, u32 off, const u8 *buf, u32 len)
{
	u32 did = pci_config_write(&fn->pci, off, buf, len);

	if (did & PCI_DID_FLR)
		vu_function_reset(fn);
	else if (did & PCI_DID_MASTER)
		gmem_set_master(fn->mem, pci_config_master(&fn->pci));
}

/* Does the access lie within its region?  Returns 0 or -EINVAL. */
static int check_access(const struct vu_function *fn, const struct vu_region_io *io)
{
	u64 size = vu_region_size(fn, io->region);

	if (!size || io->offset > size || io->count > size - io->offset)
		return -EINVAL;
	if (!io->count || io->count > VU_MAX_XFER)
		return -EINVAL;
	return 0;
}

int vu_region_read(struct vu_function *fn, struct vu_message *msg, void *out, const char **why)
{
	const struct vu_region_io *io = (void *)msg->body;
	struct vu_region_io *answer = out;
	int err;

	if (msg->len != sizeof(*io) || msg->nfds) {
		*why = "REGION_READ of a wrong length, or with descriptors";
		return -EPROTO;
	}
	err = check_access(fn, io);
	if (err)
		return err;
	*answer = *io;
	memset(answer->data, 0, io->count);
	switch (io->region) {
	case SERVER_BAR_REGS:
		regs_read(fn, io->offset, answer->data, io->count);
		break;
	case MSIX_BAR:
		msix_read(fn, io->offset, answer->data, io->count);
		break;
	case VFIO_PCI_CONFIG_REGION_INDEX:
		pci_config_read(&fn->pci, io->offset, answer->data, io->count);
		break;
	}
	return sizeof(*answer) + io->count;
}

int vu_region_write(struct vu_function *fn, struct vu_message *msg, void *out, const char **why)
{
	const struct vu_region_io *io = (void *)msg->body;
	int err;

	if (msg->len < sizeof(*io) || msg->len - sizeof(*io) != io->count || msg->nfds) {
		*why = "REGION_WRITE whose length is not that of its data, or with descriptors";
		return -EPROTO;
	}
	err = check_access(fn, io);
	if (err)
		return err;
	switch (io->region) {
	case SERVER_BAR_REGS:
		regs_write(fn, io->offset, io->data, io->count);
		break;
	case SERVER_BAR_KICK:
		kick_write(fn, io->offset, io->data, io->count);
		break;
	case VFIO_PCI_CONFIG_REGION_INDEX:
		config_write(fn, io->offset, io->data, io->count);
		break;
	}
	memcpy(out, io, sizeof(*io));
	return sizeof(*io);
}
