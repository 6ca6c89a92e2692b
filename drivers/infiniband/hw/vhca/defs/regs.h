/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* PCI identity, BARs and control registers. */
#ifndef VHCA_DEFS_REGS_H
#define VHCA_DEFS_REGS_H

#include <linux/types.h>

#define VHCA_PCI_VENDOR		0x1af4
#define VHCA_PCI_DEVICE		0x10f0
#define VHCA_PCI_CLASS		0x020700	/* network controller, InfiniBand */

/* Interface version; the PCI revision is the major number. */
#define VHCA_VERSION_MAJOR	1
#define VHCA_VERSION_MINOR	8

/* ------------------------------------------------------------------------
 * BAR0: control registers.  BAR2: kick pages.  BAR4: MSI-X table and PBA.
 * 32-bit accesses only.  The driver reads registers while it probes and STATUS
 * for its health check, but none on the command or data path.
 */
#define VHCA_BAR_REGS		0
#define VHCA_BAR_KICK		2
#define VHCA_BAR_MSIX		4
#define VHCA_REGS_SIZE		4096

#define VHCA_REG_MAGIC		0x00	/* RO VHCA_MAGIC */
#define VHCA_REG_VERSION	0x04	/* RO major << 16 | minor */
#define VHCA_REG_STATUS		0x08	/* RO VHCA_STATUS_* */
#define VHCA_REG_CONTROL	0x0c	/* WO VHCA_CONTROL_* */
#define VHCA_REG_KICK_STRIDE	0x10	/* RO bytes between two kick pages */
#define VHCA_REG_KICK_PAGES	0x14	/* RO kick pages in BAR2 */
#define VHCA_REG_ADMIN_MAX	0x18	/* RO log2 of the maximum of admin queue entries */
#define VHCA_REG_FATAL_CODE	0x1c	/* RO enum vhca_fatal, valid with STATUS_FATAL */
#define VHCA_REG_ASQ_LO		0x20	/* RW admin submission ring, DMA address */
#define VHCA_REG_ASQ_HI		0x24
#define VHCA_REG_ACQ_LO		0x28	/* RW admin completion ring, DMA address */
#define VHCA_REG_ACQ_HI		0x2c
#define VHCA_REG_ADMIN_SIZE	0x30	/* RW log2 of the entries of both rings */
#define VHCA_REG_ADMIN_VECTOR	0x34	/* RW vector of admin completions, or VHCA_NO_VECTOR */
#define VHCA_REG_ADMIN_TAIL	0x38	/* WO free-running count of commands: the admin kick */

#define VHCA_MAGIC		0x41434856	/* "VHCA" */
#define VHCA_NO_VECTOR		0xffffffffU

#define VHCA_STATUS_READY	(1U << 0)	/* admin queue serves commands */
#define VHCA_STATUS_FATAL	(1U << 1)	/* device stopped; it needs a reset */
#define VHCA_STATUS_GONE	0xffffffffU	/* value read from a removed device */

#define VHCA_CONTROL_ENABLE	(1U << 0)	/* use the admin queue registers, become READY */
#define VHCA_CONTROL_RESET	(1U << 1)	/* as FLR: drop every object, stop DMA, not READY */

enum vhca_fatal {
	VHCA_FATAL_NONE		= 0,
	VHCA_FATAL_ADMIN_RING	= 1,	/* admin ring not accessible, or its count is invalid */
	VHCA_FATAL_EQ		= 2,	/* an event queue is not accessible */
	VHCA_FATAL_INJECTED	= 3,	/* injected through the control socket */
};

#endif /* VHCA_DEFS_REGS_H */
