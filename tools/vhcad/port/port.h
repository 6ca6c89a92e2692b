/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * An InfiniBand port, of an adapter or of a switch: its state, its addresses, what a manager has
 * set, and its counters.
 *
 * Two ports that a cable joins are each other's peers: their link is up or down for both.  The
 * subnet's manager sets state and addresses by the functions below; the port's owner is notified of
 * every change by its ops.  Everything here runs under the engine's lock.
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
	PORT_PHYS_SLEEP		= 1,
	PORT_PHYS_POLLING	= 2,
	PORT_PHYS_DISABLED	= 3,
	PORT_PHYS_LINKUP	= 5,
};

#define PORT_GIDS	8u
#define PORT_PKEYS	128u
#define PKEY_FULL	0x8000u
#define PORT_VLS	8u		/* data VLs */
#define PORT_VL15	15u
#define PORT_ARBS	64u		/* entries of a VL arbitration table */

/*
 * Unicast LIDs.  A static subnet gives ports of adapters those up to LID_LAST, and switches those
 * from LID_SWITCH down.
 */
#define LID_LAST	0xbffeu
#define LID_SWITCH	0xbfffu
#define MLID_FIRST	0xc000u
#define MLID_LAST	0xfffeu
#define LID_PERMISSIVE	0xffffu
#define LMC_MOST	7u

static inline bool lid_is_mcast(u16 lid)
{
	return lid >= MLID_FIRST && lid <= MLID_LAST;
}

/* Parts of a port that can change. */
#define PORT_LID_CHANGED	(1u << 0)
#define PORT_SM_CHANGED		(1u << 1)
#define PORT_PKEY_CHANGED	(1u << 2)
#define PORT_GID_CHANGED	(1u << 3)
#define PORT_REREGISTER		(1u << 4)	/* clients of the port have to register again */
#define PORT_SETUP_CHANGED	(1u << 5)	/* struct port_setup */

struct port;

/**
 * struct port_ops - notifications to a port's owner
 * @state: the state was @old and is port->state now
 * @changed: something else has changed: PORT_*_CHANGED
 */
struct port_ops {
	void (*state)(struct port *port, u8 old);
	void (*changed)(struct port *port, u32 what);
};

/**
 * struct port_setup - attributes of PortInfo that a manager writes and no other ones follow from
 * @mkey: M_Key; 0: no protection
 * @mkey_lease: seconds; 0: no end
 * @mkey_protect: 0..3
 * @sm_sl: SL of the path to the subnet manager
 * @mtu: NeighborMTU, enum ib_mtu
 * @width_enabled, @speed_enabled, @speed_ext_enabled: bits
 * @down_default: enum port_phys_state that follows the loss of the link: sleep or polling
 * @vl_high_limit, @vl_stall, @hoq_life, @op_vls: of a switch's port, or for VL arbitration
 * @enforce_in, @enforce_out: a port of a switch drops packets whose P_Key its table does not allow:
 *	packets from the port behind it, or packets to that port
 * @filter_raw_in, @filter_raw_out: never set; there are no raw packets
 * @subnet_timeout: 0..31
 * @trap_suppress: MulticastPKeyTrapSuppressionEnabled
 * @phy_errors, @overrun_errors: thresholds, which are only kept
 * @init_type: 0: no initialisation is asked for
 * @init_type_reply: the manager's reply to that; kept, and reported to the host
 * @sl2vl: VL of each SL; a port of a switch has a table for each port that packets came in by,
 *	see fab_switch_sl2vl()
 * @vlarb: low and high priority tables: VL and weight of each entry
 */
struct port_setup {
	u64 mkey;
	u16 mkey_lease;
	u8 mkey_protect;
	u8 sm_sl;
	u8 mtu;
	u8 width_enabled, speed_enabled, speed_ext_enabled;
	u8 down_default;
	u8 vl_high_limit, vl_stall, hoq_life, op_vls;
	bool enforce_in, enforce_out;
	bool filter_raw_in, filter_raw_out;
	u8 subnet_timeout;
	u8 trap_suppress;
	u8 phy_errors, overrun_errors;
	u8 init_type, init_type_reply;
	u8 sl2vl[16];
	u8 vlarb[2][PORT_ARBS][2];
};

/**
 * struct port_speed - what the link can be and is, in PortInfo's codes
 * @width_supported, @width_active: LinkWidth*
 * @speed_supported, @speed_active: LinkSpeed*
 * @speed_ext_supported, @speed_ext_active: LinkSpeedExt*; 0: none
 */
struct port_speed {
	u8 width_supported, width_active;
	u8 speed_supported, speed_active;
	u8 speed_ext_supported, speed_ext_active;
};

/**
 * struct port_count - a port's counters since it was made, named as in performance MADs
 * @xmit_bytes, @rcv_bytes: whole packets, with their headers and CRCs but for the VCRC's padding
 * @xmit_pkts, @rcv_pkts: packets, multicasts and VL15 included
 * @xmit_mcast, @rcv_mcast: multicast packets
 * @rcv_errors: arrived corrupted
 * @relay_errors: packets that arrived here and for which a switch has no route
 * @xmit_discards: packets that could not leave here as they should
 * @xmit_constraint, @rcv_constraint: dropped because of their P_Key
 * @vl15_dropped: VL15 packets for which there was no room
 * @link_downed: losses of the link
 * @xmit_wait: ns in which there was something to send, and no room for it
 */
struct port_count {
	u64 xmit_bytes, rcv_bytes;
	u64 xmit_pkts, rcv_pkts;
	u64 xmit_mcast, rcv_mcast;
	u64 rcv_errors;
	u64 relay_errors;
	u64 xmit_discards;
	u64 xmit_constraint, rcv_constraint;
	u64 vl15_dropped;
	u64 link_downed;
	u64 xmit_wait;
};

/**
 * struct port - a port
 * @addrs: its addresses, a struct port_addrs
 * @lid: its first LID; 0: none yet
 * @sm_lid: the subnet manager's LID
 * @pkey: partition keys; 0: no entry
 * @gid: all zero: no entry
 * @ops: notified of changes; NULL: no notifications
 * @guid: its GUID
 * @peer: the port at the other end of the cable; NULL: none
 * @lmc: the port has 1 << @lmc LIDs; the first is @lid
 * @state: enum port_state
 * @phys_state: enum port_phys_state
 * @want: what a manager wants @phys_state to be: sleep, polling or disabled
 * @cable: the cable is plugged in
 * @down_until: engine time until which a fault holds the port down; 0: none does
 * @tx_packets, @tx_bytes, @rx_packets, @rx_bytes: what an adapter's port has sent and received
 * @tx_mcast, @rx_mcast: multicast packets, counted above as well
 * @discards: packets that the port could not even send
 * @drops: packets that reached no receiver, counted by the sender
 * @bad: packets that arrived corrupted
 * @pkey_in_drops, @pkey_out_drops: packets that a switch's port has dropped because of their P_Key
 * @vl15_dropped, @link_downed: see struct port_count
 * @pkey_viol, @qkey_viol, @mkey_viol: PortInfo's counters, which stop at 0xffff
 * @cap_mask, @cap_mask2: of PortInfo
 * @mtu_cap: the largest @setup.mtu
 * @vl_cap: PortInfo:VLCap, 1 for VL0 alone, 4 for eight
 * @speed: see struct port_speed
 * @setup: see struct port_setup
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
	struct port *peer;
	u8 lmc;
	u8 state;
	u8 phys_state;
	u8 want;
	bool cable;
	u64 down_until;
	u64 tx_packets, tx_bytes;
	u64 rx_packets, rx_bytes;
	u64 tx_mcast, rx_mcast;
	u64 discards;
	u64 drops;
	u64 bad;
	u64 pkey_in_drops, pkey_out_drops;
	u64 vl15_dropped, link_downed;
	u16 pkey_viol, qkey_viol, mkey_viol;
	u16 cap_mask2;
	u32 cap_mask;
	u8 mtu_cap;
	u8 vl_cap;
	struct port_speed speed;
	struct port_setup setup;
};

/**
 * port_init() - initialise a port that nothing is connected to
 * @port: filled in
 * @guid: its GUID
 *
 * The port is down, its cable is plugged in.  It has the default GID and P_Key, and no LID; its
 * setup is that of a new port: an MTU of 4096 bytes, one VL for all SLs, no thresholds.
 */
void port_init(struct port *port, u64 guid);

/* ------------------------------------------------------------------------
 * The link
 */

/** port_connect() - a cable joins two ports that have no peer; the link may come up at once */
void port_connect(struct port *a, struct port *b);

/** port_disconnect() - remove the cable and the other end, if there are any */
void port_disconnect(struct port *port);

/** port_set_cable() - plug the cable in, or pull it */
void port_set_cable(struct port *port, bool plugged);

/**
 * port_hold_down() - a fault takes the port down
 * @port: port
 * @until: engine time at which the fault ends; 0: it has ended
 */
void port_hold_down(struct port *port, u64 until);

/** port_bounce() - take the link down and, if possible, up again: the device was reset */
void port_bounce(struct port *port);

/** port_link_is_up() - do packets get to the other end at all, at least those of VL15? */
static inline bool port_link_is_up(const struct port *port)
{
	return port->phys_state == PORT_PHYS_LINKUP;
}

/* ------------------------------------------------------------------------
 * What a subnet manager sets
 */

/**
 * port_set_state() - change the state, as PortInfo:PortState does
 * @port: port
 * @state: PORT_DOWN: the link goes down and, if it can, comes up again.  PORT_ARMED: from
 *	PORT_INIT.  PORT_ACTIVE: from PORT_ARMED.  The state that the port has, ARMED or ACTIVE,
 *	changes nothing
 *
 * Returns 0, or -EINVAL when the port does not go from its state to this one; port 0 of a switch is
 * never down.
 */
int port_set_state(struct port *port, u8 state);

/**
 * port_set_phys() - change the physical state, as PortInfo:PortPhysicalState does
 * @port: port
 * @phys: PORT_PHYS_SLEEP, PORT_PHYS_POLLING or PORT_PHYS_DISABLED
 *
 * A link between two ports that sleep, or to one that is disabled, is down.  Otherwise it goes
 * down and comes up again.  Returns 0, or -EINVAL for another state, and for port 0 of a
 * switch.
 */
int port_set_phys(struct port *port, u8 phys);

/** port_got_data() - an armed port has received a packet other than VL15: it becomes active */
void port_got_data(struct port *port);

/**
 * port_set_lid() - give a port its LIDs
 * @port: port
 * @lid: the first one, a multiple of 1 << @lmc
 * @lmc: 0..LMC_MOST: the port has 1 << @lmc LIDs
 */
void port_set_lid(struct port *port, u16 lid, u8 lmc);

/** port_set_sm() - set the subnet manager's LID, and the SL of the path to it */
void port_set_sm(struct port *port, u16 sm_lid, u8 sm_sl);

/** port_set_pkeys() - set entries of the P_Key table, @first + @n <= PORT_PKEYS */
void port_set_pkeys(struct port *port, u32 first, u32 n, const u16 *pkey);

/** port_set_gids() - set entries of the GID table, @first + @n <= PORT_GIDS */
void port_set_gids(struct port *port, u32 first, u32 n, const u8 gid[][16]);

/** port_set_prefix() - set the subnet prefix of all GIDs except empty ones */
void port_set_prefix(struct port *port, u64 prefix);

/** port_set_setup() - set all of struct port_setup; the caller has checked it */
void port_set_setup(struct port *port, const struct port_setup *setup);

/** port_reregister() - ask the port's clients to register again */
void port_reregister(struct port *port);

/* ------------------------------------------------------------------------
 * Queries
 */

/** port_has_lid() - is it one of the port's LIDs? */
static inline bool port_has_lid(const struct port *port, u16 lid)
{
	return port->lid && !((lid ^ port->lid) >> port->lmc);
}

/**
 * port_pkey_for() - the table's P_Key that matches a packet's, and that an answer carries; 0: there
 * is none.  At least one of the two must be a full member's
 */
u16 port_pkey_for(const struct port *port, u16 pkey);

/** port_sends_pkey() - may the port send this P_Key?  A full member may send both kinds */
bool port_sends_pkey(const struct port *port, u16 pkey);

/** port_violation() - count a violation in a counter that stops at 0xffff */
static inline void port_violation(u16 *count)
{
	*count += *count != 0xffff;
}

/** port_addrs_wrong() - what is wrong with addresses; NULL: nothing */
const char *port_addrs_wrong(const struct port_addrs *a);

/**
 * port_set_addrs() - change a port's addresses
 * @port: port
 * @a: all of them, with their new values; the LID as well
 * @reregister: ask the port's clients to register again
 *
 * The owner is notified once, of everything that has changed.
 */
void port_set_addrs(struct port *port, const struct port_addrs *a, bool reregister);

#endif /* VHCAD_PORT_H */
