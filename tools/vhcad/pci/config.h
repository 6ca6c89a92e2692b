/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * PCI configuration space of one HCA: an Express endpoint with power
 * management, MSI-X or MSI, Express and error reporting capabilities.
 *
 * There is no lock, as only the thread that serves the device's socket uses it.
 */
#ifndef VHCAD_PCI_CONFIG_H
#define VHCAD_PCI_CONFIG_H

#include "lib/types.h"

#define PCI_CFG_SIZE	4096u
#define PCI_CFG_BARS	6u

/* Layout of BAR4: the MSI-X table and the pending bits */
#define MSIX_BAR		4u
#define MSIX_TABLE_OFFSET	0x000u
#define MSIX_PBA_OFFSET		0x800u
#define MSIX_BAR_SIZE		4096u
#define MSIX_VECTORS_MAX	64u

/* 32 GT/s and sixteen lanes */
#define PCI_SPEED_MAX		5u
#define PCI_LANES_MAX		16u

enum pci_irq_mode {
	PCI_IRQ_MSIX,
	PCI_IRQ_MSI,		/* one vector */
};

/**
 * struct pci_ident - what configuration space is made from
 * @vendor: vendor id, also of the subsystem
 * @device: device id, also of the subsystem
 * @revision: revision id
 * @class: 24-bit class code
 * @irq: which interrupt capability it has
 * @vectors: MSI-X table entries
 * @bar_size: size of each BAR in bytes, a power of two, at least 4096; 0: there is no such BAR
 * @bar_64bit: bit n: BAR n is 64 bits wide and occupies BAR n + 1 too
 * @speed: speed of the link, 1..PCI_SPEED_MAX, as PCI_EXP_LNKSTA_CLS
 * @lanes: width of the link: 1, 2, 4, 8 or PCI_LANES_MAX
 */
struct pci_ident {
	u16 vendor;
	u16 device;
	u8 revision;
	u32 class;
	enum pci_irq_mode irq;
	u32 vectors;
	u64 bar_size[PCI_CFG_BARS];
	u32 bar_64bit;
	u8 speed;
	u8 lanes;
};

/**
 * struct pci_config - configuration space
 * @reg: what reads return
 * @wmask: bits that writes change
 * @w1c: bits that are cleared by writing 1
 * @init: values after a reset
 * @express: offset of the Express capability
 * @power: offset of the power management capability
 */
struct pci_config {
	u8 reg[PCI_CFG_SIZE];
	u8 wmask[PCI_CFG_SIZE];
	u8 w1c[PCI_CFG_SIZE];
	u8 init[PCI_CFG_SIZE];
	u16 express;
	u16 power;
};

/* What pci_config_write() returns. */
#define PCI_DID_FLR	(1u << 0)	/* function level reset, which is the caller's task */
#define PCI_DID_MASTER	(1u << 1)	/* pci_config_master() may have changed */

/**
 * pci_config_init() - set up configuration space
 * @c: configuration space
 * @id: identity, with valid fields
 */
void pci_config_init(struct pci_config *c, const struct pci_ident *id);

/**
 * pci_config_reset() - reset the registers to their values after power-on
 * @c: space
 */
void pci_config_reset(struct pci_config *c);

/**
 * pci_config_read() - read bytes
 * @c: space
 * @off: offset; @off + @len within PCI_CFG_SIZE
 * @buf: destination
 * @len: bytes
 */
void pci_config_read(const struct pci_config *c, u32 off, void *buf, u32 len);

/**
 * pci_config_write() - write bytes
 * @c: space
 * @off: offset; @off + @len within PCI_CFG_SIZE
 * @buf: source
 * @len: bytes
 *
 * Returns PCI_DID_*.
 */
u32 pci_config_write(struct pci_config *c, u32 off, const void *buf, u32 len);

/**
 * pci_config_master() - may the function start transactions?
 * @c: configuration space
 *
 * Returns true if bus mastering is enabled and the function is in D0.
 */
bool pci_config_master(const struct pci_config *c);

#endif /* VHCAD_PCI_CONFIG_H */
