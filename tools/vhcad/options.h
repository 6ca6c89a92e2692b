/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The daemon's command line.
 */
#ifndef VHCAD_OPTIONS_H
#define VHCAD_OPTIONS_H

#include "res/limit.h"
#include "pci/config.h"
#include "wire/wire.h"
#include "lib/types.h"

#define OPTIONS_MAX_HCAS	128u
#define OPTIONS_NAME_MAX	32u

struct hca_options {
	char *path;			/* path of the vfio-user socket */
	char name[OPTIONS_NAME_MAX];
	u64 guid;
	u32 ports;
	u32 vectors;
	u64 caps_off;			/* bits (1 << enum vhca_cap) */
	u32 limit[VLIMITS];		/* 0: the default */
	bool strict;			/* Ethernet ports: see struct vdev_port_config */
	struct {
		u8 link;		/* LINK_*; 0: as --link says */
		bool has_mac;
		u8 mac[WIRE_MAC_LEN];
	} port[VDEV_MAX_PORTS];
};

enum options_link { LINK_USUAL, LINK_IB, LINK_ETH };

/* A --caps-off option. */
struct caps_off {
	const char *hca;		/* NULL: all adapters */
	u64 caps;
};

/* A --limit option. */
struct limits {
	const char *hca;		/* NULL: all adapters */
	u32 limit[VLIMITS];		/* 0: not set */
};

struct options {
	u32 nhcas;
	u8 link;			/* LINK_IB or LINK_ETH */
	struct hca_options hca[OPTIONS_MAX_HCAS];
	bool static_subnet;
	const char *capture;		/* NULL: none */
	const char *log;		/* NULL: standard error */
	const char *trace;		/* NULL: none */
	const char *control;		/* NULL: no control socket */
	const char *ethernet;		/* NULL: no Ethernet segment */
	enum pci_irq_mode irq;
	u8 pcie_speed;			/* as PCI_EXP_LNKSTA_CLS */
	u8 pcie_lanes;
	u32 spin_usec;
	u32 threads;			/* of the engine */
	u32 loss;			/* lost packets per thousand */
	u32 seed;
	const char *scenario;		/* NULL: none */
	const char *topology;		/* NULL: one switch */
	u16 vendor;
	u16 device;
	u32 version;			/* interface version to claim */
	u32 mtu;			/* enum ib_mtu */
	u32 ncaps_off;
	struct caps_off caps_off[OPTIONS_MAX_HCAS];
	u32 nlimits;
	struct limits limits[OPTIONS_MAX_HCAS];
	bool allow_unsealed;
	bool no_sandbox;
	const char *user;		/* the user that root becomes; NULL: see sandbox_drop() */
};

/**
 * options_parse() - read the command line
 * @o: filled in
 * @argc: of main()
 * @argv: of main()
 *
 * If something is wrong, prints a line on standard error and exits with status 2.  --help and
 * --version print their text and exit with status 0.
 */
void options_parse(struct options *o, int argc, char **argv);

/** options_release() - free what options_parse() allocated */
void options_release(struct options *o);

#endif /* VHCAD_OPTIONS_H */
