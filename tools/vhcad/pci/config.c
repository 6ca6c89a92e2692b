// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <string.h>
#include <linux/pci_regs.h>

#include "pci/config.h"

/* Capabilities, in the order of their list. */
#define CAP_POWER	0x40
#define CAP_IRQ		0x50
#define CAP_EXPRESS	0x80
#define CAP_AER		0x100

static void put16(u8 *p, u32 off, u16 v)
{
	p[off] = v;
	p[off + 1] = v >> 8;
}

static void put32(u8 *p, u32 off, u32 v)
{
	put16(p, off, v);
	put16(p, off + 2, v >> 16);
}

static u16 get16(const u8 *p, u32 off)
{
	return p[off] | p[off + 1] << 8;
}

static void header_init(struct pci_config *c, const struct pci_ident *id)
{
	put16(c->init, PCI_VENDOR_ID, id->vendor);
	put16(c->init, PCI_DEVICE_ID, id->device);
	put32(c->init, PCI_CLASS_REVISION, id->class << 8 | id->revision);
	put16(c->init, PCI_SUBSYSTEM_VENDOR_ID, id->vendor);
	put16(c->init, PCI_SUBSYSTEM_ID, id->device);
	put16(c->init, PCI_STATUS, PCI_STATUS_CAP_LIST);
	c->init[PCI_CAPABILITY_LIST] = CAP_POWER;

	put16(c->wmask, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER |
	      PCI_COMMAND_PARITY | PCI_COMMAND_SERR | PCI_COMMAND_INTX_DISABLE);
	put16(c->w1c, PCI_STATUS, PCI_STATUS_PARITY | PCI_STATUS_SIG_TARGET_ABORT |
	      PCI_STATUS_REC_TARGET_ABORT | PCI_STATUS_REC_MASTER_ABORT |
	      PCI_STATUS_SIG_SYSTEM_ERROR | PCI_STATUS_DETECTED_PARITY);
	c->wmask[PCI_CACHE_LINE_SIZE] = 0xff;
	c->wmask[PCI_INTERRUPT_LINE] = 0xff;
}

static void bars_init(struct pci_config *c, const struct pci_ident *id)
{
	for (u32 i = 0; i < PCI_CFG_BARS; i++) {
		u32 off = PCI_BASE_ADDRESS_0 + 4 * i;
		u64 mask = ~(id->bar_size[i] - 1);

		if (!id->bar_size[i])
			continue;
		put32(c->wmask, off, mask);
		if (id->bar_64bit & (1u << i)) {
			put32(c->init, off, PCI_BASE_ADDRESS_MEM_TYPE_64);
			put32(c->wmask, off + 4, mask >> 32);
			i++;
		}
	}
}

/* The function has D0 and D3hot, and keeps its registers on the way back to D0. */
static void power_init(struct pci_config *c)
{
	c->power = CAP_POWER;
	c->init[CAP_POWER] = PCI_CAP_ID_PM;
	c->init[CAP_POWER + PCI_CAP_LIST_NEXT] = CAP_IRQ;
	put16(c->init, CAP_POWER + PCI_PM_PMC, 3);
	put16(c->init, CAP_POWER + PCI_PM_CTRL, PCI_PM_CTRL_NO_SOFT_RESET);
	put16(c->wmask, CAP_POWER + PCI_PM_CTRL, PCI_PM_CTRL_STATE_MASK);
}

static void msix_init(struct pci_config *c, u32 vectors)
{
	c->init[CAP_IRQ] = PCI_CAP_ID_MSIX;
	c->init[CAP_IRQ + PCI_CAP_LIST_NEXT] = CAP_EXPRESS;
	put16(c->init, CAP_IRQ + PCI_MSIX_FLAGS, vectors - 1);
	put16(c->wmask, CAP_IRQ + PCI_MSIX_FLAGS, PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL);
	put32(c->init, CAP_IRQ + PCI_MSIX_TABLE, MSIX_TABLE_OFFSET | MSIX_BAR);
	put32(c->init, CAP_IRQ + PCI_MSIX_PBA, MSIX_PBA_OFFSET | MSIX_BAR);
}

static void msi_init(struct pci_config *c)
{
	c->init[CAP_IRQ] = PCI_CAP_ID_MSI;
	c->init[CAP_IRQ + PCI_CAP_LIST_NEXT] = CAP_EXPRESS;
	put16(c->init, CAP_IRQ + PCI_MSI_FLAGS, PCI_MSI_FLAGS_64BIT | PCI_MSI_FLAGS_MASKBIT);
	put16(c->wmask, CAP_IRQ + PCI_MSI_FLAGS, PCI_MSI_FLAGS_ENABLE);
	put32(c->wmask, CAP_IRQ + PCI_MSI_ADDRESS_LO, ~3u);
	put32(c->wmask, CAP_IRQ + PCI_MSI_ADDRESS_HI, ~0u);
	put16(c->wmask, CAP_IRQ + PCI_MSI_DATA_64, 0xffff);
	put32(c->wmask, CAP_IRQ + PCI_MSI_MASK_64, 1);
}

/*
 * The link is up at full speed and width.  No bus carries the payload, but software concludes from
 * the link how fast the adapter can be.
 */
static void express_init(struct pci_config *c, const struct pci_ident *id)
{
	const u32 link = id->speed | id->lanes << 4;
	/* a bit for each speed up to that one */
	const u32 speeds = ((1u << id->speed) - 1) * PCI_EXP_LNKCAP2_SLS_2_5GB;

	c->express = CAP_EXPRESS;
	c->init[CAP_EXPRESS] = PCI_CAP_ID_EXP;
	put16(c->init, CAP_EXPRESS + PCI_EXP_FLAGS, 2 | PCI_EXP_TYPE_ENDPOINT << 4);
	put32(c->init, CAP_EXPRESS + PCI_EXP_DEVCAP,
	      PCI_EXP_DEVCAP_RBER | PCI_EXP_DEVCAP_FLR | PCI_EXP_DEVCAP_EXT_TAG);
	put16(c->init, CAP_EXPRESS + PCI_EXP_DEVCTL, PCI_EXP_DEVCTL_RELAX_EN |
	      PCI_EXP_DEVCTL_EXT_TAG | PCI_EXP_DEVCTL_NOSNOOP_EN | PCI_EXP_DEVCTL_READRQ_512B);
	/* everything but the FLR bit, which always reads as zero */
	put16(c->wmask, CAP_EXPRESS + PCI_EXP_DEVCTL, 0x7fff);
	put16(c->w1c, CAP_EXPRESS + PCI_EXP_DEVSTA, PCI_EXP_DEVSTA_CED | PCI_EXP_DEVSTA_NFED |
	      PCI_EXP_DEVSTA_FED | PCI_EXP_DEVSTA_URD);
	put32(c->init, CAP_EXPRESS + PCI_EXP_LNKCAP, link);
	put16(c->wmask, CAP_EXPRESS + PCI_EXP_LNKCTL, PCI_EXP_LNKCTL_ASPMC |
	      PCI_EXP_LNKCTL_RCB | PCI_EXP_LNKCTL_CCC | PCI_EXP_LNKCTL_ES);
	put16(c->init, CAP_EXPRESS + PCI_EXP_LNKSTA, link);
	put32(c->init, CAP_EXPRESS + PCI_EXP_DEVCAP2, PCI_EXP_DEVCAP2_COMP_TMOUT_DIS);
	put16(c->wmask, CAP_EXPRESS + PCI_EXP_DEVCTL2,
	      PCI_EXP_DEVCTL2_COMP_TIMEOUT | PCI_EXP_DEVCTL2_COMP_TMOUT_DIS);
	put32(c->init, CAP_EXPRESS + PCI_EXP_LNKCAP2, speeds);
	put16(c->init, CAP_EXPRESS + PCI_EXP_LNKCTL2, id->speed);
}

static void aer_init(struct pci_config *c)
{
	const u32 uncor = PCI_ERR_UNC_DLP | PCI_ERR_UNC_POISON_TLP | PCI_ERR_UNC_FCP |
			  PCI_ERR_UNC_COMP_TIME | PCI_ERR_UNC_COMP_ABORT | PCI_ERR_UNC_UNX_COMP |
			  PCI_ERR_UNC_RX_OVER | PCI_ERR_UNC_MALF_TLP | PCI_ERR_UNC_ECRC |
			  PCI_ERR_UNC_UNSUP | PCI_ERR_UNC_INTN;
	const u32 cor = PCI_ERR_COR_RCVR | PCI_ERR_COR_BAD_TLP | PCI_ERR_COR_BAD_DLLP |
			PCI_ERR_COR_REP_ROLL | PCI_ERR_COR_REP_TIMER | PCI_ERR_COR_ADV_NFAT |
			PCI_ERR_COR_INTERNAL;

	put32(c->init, CAP_AER, PCI_EXT_CAP_ID_ERR | 2 << 16);
	put32(c->w1c, CAP_AER + PCI_ERR_UNCOR_STATUS, uncor);
	put32(c->init, CAP_AER + PCI_ERR_UNCOR_MASK, PCI_ERR_UNC_INTN);
	put32(c->wmask, CAP_AER + PCI_ERR_UNCOR_MASK, uncor);
	put32(c->init, CAP_AER + PCI_ERR_UNCOR_SEVER, PCI_ERR_UNC_DLP | PCI_ERR_UNC_FCP |
	      PCI_ERR_UNC_RX_OVER | PCI_ERR_UNC_MALF_TLP | PCI_ERR_UNC_INTN);
	put32(c->wmask, CAP_AER + PCI_ERR_UNCOR_SEVER, uncor);
	put32(c->w1c, CAP_AER + PCI_ERR_COR_STATUS, cor);
	put32(c->init, CAP_AER + PCI_ERR_COR_MASK, PCI_ERR_COR_ADV_NFAT | PCI_ERR_COR_INTERNAL);
	put32(c->wmask, CAP_AER + PCI_ERR_COR_MASK, cor);
}

void pci_config_init(struct pci_config *c, const struct pci_ident *id)
{
	memset(c, 0, sizeof(*c));
	header_init(c, id);
	bars_init(c, id);
	power_init(c);
	if (id->irq == PCI_IRQ_MSI)
		msi_init(c);
	else
		msix_init(c, id->vectors);
	express_init(c, id);
	aer_init(c);
	pci_config_reset(c);
}

void pci_config_reset(struct pci_config *c)
{
	memcpy(c->reg, c->init, sizeof(c->reg));
}

void pci_config_read(const struct pci_config *c, u32 off, void *buf, u32 len)
{
	memcpy(buf, c->reg + off, len);
}

static bool no_such_state(u8 pm_ctrl)
{
	u8 state = pm_ctrl & PCI_PM_CTRL_STATE_MASK;

	return state == 1 || state == 2;
}

u32 pci_config_write(struct pci_config *c, u32 off, const void *buf, u32 len)
{
	const u32 flr = c->express + PCI_EXP_DEVCTL + 1;	/* its upper byte */
	const u32 power = c->power + PCI_PM_CTRL;
	bool master = pci_config_master(c);
	const u8 *src = buf;
	u32 did = 0;

	for (u32 i = 0; i < len; i++, off++) {
		u8 before = c->reg[off];

		c->reg[off] = (c->reg[off] & ~c->wmask[off]) | (src[i] & c->wmask[off]);
		c->reg[off] &= ~(src[i] & c->w1c[off]);
		if (off == flr && (src[i] & (PCI_EXP_DEVCTL_BCR_FLR >> 8)))
			did |= PCI_DID_FLR;
		/* there is no D1 or D2: the function stays in the state that it has */
		if (off == power && no_such_state(c->reg[off]))
			c->reg[off] = before;
	}
	if (pci_config_master(c) != master)
		did |= PCI_DID_MASTER;
	return did;
}

bool pci_config_master(const struct pci_config *c)
{
	return (c->reg[PCI_COMMAND] & PCI_COMMAND_MASTER) &&
	       !(get16(c->reg, c->power + PCI_PM_CTRL) & PCI_PM_CTRL_STATE_MASK);
}
