/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Rates of links by their names: width and speed, or the product of both.
 */
#ifndef VHCAD_FABRIC_RATE_H
#define VHCAD_FABRIC_RATE_H

#include "lib/types.h"
#include "port/port.h"

#define FAB_RATE_NAME	16u

/**
 * struct fab_rate - how fast a link is
 * @width: as enum ib_port_width
 * @speed: as enum ib_port_speed
 */
struct fab_rate {
	u8 width;
	u16 speed;
};

/* The rate of a link unless a topology or a command says otherwise: 4X EDR. */
#define FAB_RATE_USUAL	((struct fab_rate){ .width = 2, .speed = 32 })

/**
 * fab_rate_parse() - a rate by its name
 * @text: "4X EDR", "EDR 4X", "EDR" (four lanes), or "100 Gb/s", "100"
 * @r: filled in
 *
 * Returns false if there is no such rate.
 */
bool fab_rate_parse(const char *text, struct fab_rate *r);

/** fab_rate_name() - its name, as "4X EDR".  @name: FAB_RATE_NAME bytes.  Returns @name. */
const char *fab_rate_name(const struct fab_rate *r, char *name);

/** fab_rate_kbps() - data rate in kilobits per second, without the line coding */
u64 fab_rate_kbps(const struct fab_rate *r);

/** fab_rate_codes() - the rate as PortInfo has it, with all slower ones as supported */
void fab_rate_codes(const struct fab_rate *r, struct port_speed *s);

#endif /* VHCAD_FABRIC_RATE_H */
