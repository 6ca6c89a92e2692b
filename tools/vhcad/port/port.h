/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * An InfiniBand port: its state, its addresses and what it has counted.
 *
 * Whoever manages the subnet sets state and addresses by the functions below; the port's owner
 * is told of every change by its ops.  Everything here runs under the engine's lock.
 */
#ifndef VHCAD_PORT_H
#define VHCAD_PORT_H

#include "lib/types.h"

/* As enum ib_port_state and enum ib_port_phys_state. */
enum port_state {
	PORT_DOWN	= 1,
	PORT_INIT	= 2,
	PORT_ARMED	= 3,
	PORT_ACTIVE	= 4,
};

enum port_phys_state {
	PORT_PHYS_POLLING	= 2,
	PORT_PHYS_DISABLED	= 3,
	PORT_PHYS_LINKUP	= 5,
};

#define PORT_GIDS	8u
#define PORT_PKEYS	32u
#define PKEY_FULL	0x8000u

/* Unicast LIDs of ports; the one above them is the switch's.  Multicast LIDs. */
#define LID_LAST	0xbffeu
#define LID_SWITCH	0xbfffu
#define MLID_FIRST	0xc000u
#define MLID_LAST	0xfffeu
#define LMC_MOST	7u

static inline bool lid_is_mcast(u16 lid)
{
	return lid >= MLID_FIRST && lid <= MLID_LAST;
}

/* Which of a port's addresses have changed. */
#define PORT_LID_CHANGED	(1u << 0)
#define PORT_SM_CHANGED		(1u << 1)
#define PORT_PKEY_CHANGED	(1u << 2)
#define PORT_GID_CHANGED	(1u << 3)
#define PORT_REREGISTER		(1u << 4)	/* clients of the port are to register again */

struct port;

/**
 * struct port_ops - what a port tells its owner
 * @state: its state was @old and is port->state now
 * @changed: addresses have changed: PORT_*_CHANGED
 */
struct port_ops {
	void (*state)(struct port *port, u8 old);
	void (*changed)(struct port *port, u32 what);
};

/**
 * struct port - a port
 * @ops: who is told of changes; NULL: nobody
 * @guid: its GUID
 * @lmc: the port has 1 << @lmc LIDs; the first is @lid
 * @state: enum port_state
 * @phys_state: enum port_phys_state
 * @cable: the cable is plugged in
 * @enabled: a driver runs the port
 * @down_until: engine time until which a fault holds the port down; 0: none does
 * @addrs: its addresses, a struct port_addrs
 * @lid: its first LID; 0: none yet
 * @sm_lid: the subnet manager's LID
 * @pkey: partition keys; 0: no entry
 * @gid: all zero: no entry
 * @tx_packets, @tx_bytes, @rx_packets, @rx_bytes: what it has sent and received
 * @tx_mcast, @rx_mcast: multicast packets, counted above as well
 * @discards: packets that could not even set out
 * @drops: packets that arrived nowhere, counted by the sender
 * @bad: packets that arrived spoiled
 */
struct port {
	struct_group_tagged(port_addrs, addrs,
		u16 lid;
		u16 sm_lid;
		u16 pkey[PORT_PKEYS];
		u8 gid[PORT_GIDS][16];
	);
	const struct port_ops *ops;
	u64 guid;
	u8 lmc;
	u8 state;
	u8 phys_state;
	bool cable;
	bool enabled;
	u64 down_until;
	u64 tx_packets, tx_bytes;
	u64 rx_packets, rx_bytes;
	u64 tx_mcast, rx_mcast;
	u64 discards;
	u64 drops;
	u64 bad;
};

/**
 * port_init - a port that nobody runs yet
 * @port: filled in
 * @guid: its GUID
 *
 * The port is down, its cable is plugged in.  It has the default GID and P_Key, and no LID.
 */
void port_init(struct port *port, u64 guid);

/** port_enable - the owner's driver has started or stopped */
void port_enable(struct port *port, bool on);

/** port_set_cable - plug the cable in, or pull it */
void port_set_cable(struct port *port, bool plugged);

/**
 * port_hold_down - a fault takes the port down
 * @port: port
 * @until: engine time; 0: the port is let go
 */
void port_hold_down(struct port *port, u64 until);

/**
 * port_set_state - change the state, as a subnet manager does
 * @port: port
 * @state: PORT_INIT, PORT_ARMED or PORT_ACTIVE
 *
 * A port is armed before it becomes active, and may go back to PORT_INIT.
 * Returns 0, or -EINVAL when the port does not go from its state to this one.
 */
int port_set_state(struct port *port, u8 state);

/**
 * port_set_lid - give a port its LIDs
 * @port: port
 * @lid: the first one, a multiple of 1 << @lmc
 * @lmc: 0..LMC_MOST: the port has 1 << @lmc LIDs
 */
void port_set_lid(struct port *port, u16 lid, u8 lmc);

/** port_has_lid - is it one of the port's LIDs? */
static inline bool port_has_lid(const struct port *port, u16 lid)
{
	return port->lid && !((lid ^ port->lid) >> port->lmc);
}

/** port_addrs_wrong - what is wrong with addresses; NULL: nothing */
const char *port_addrs_wrong(const struct port_addrs *a);

/**
 * port_set_addrs - change a port's addresses
 * @port: port
 * @a: all of them, as they shall be; the LID as well
 * @reregister: ask the port's clients to register again
 *
 * The owner is told once, of all that is not what it was.
 */
void port_set_addrs(struct port *port, const struct port_addrs *a, bool reregister);

#endif /* VHCAD_PORT_H */
