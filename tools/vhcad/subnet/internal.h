/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the files of the agents share among themselves.
 */
#ifndef VHCAD_SUBNET_INTERNAL_H
#define VHCAD_SUBNET_INTERNAL_H

#include "fabric/subnet.h"
#include "fabric/switch.h"
#include "fabric/topo.h"
#include "subnet/agent.h"

/* Number of entries in a block of each table. */
#define SMA_PKEYS_A_BLOCK	32u
#define SMA_GUIDS_A_BLOCK	8u
#define SMA_LIDS_A_BLOCK	64u
#define SMA_MLIDS_A_BLOCK	32u
#define SMA_PORTS_A_MASK	16u
#define SMA_VLARB_A_BLOCK	32u

/**
 * struct agents - all agents of a fabric
 * @sw: agents of switches; NULL: not needed yet
 * @timers: of all agents
 * @tid: transaction ID of the last trap
 */
struct agents {
	struct fabric *fabric;
	struct switch_agent *sw[TOPO_MAX_SWITCHES];
	struct timers timers;
	u64 tid;
};

/* The agent of a switch, with the description of the switch. */
struct switch_agent {
	struct agent agent;
	struct agent_node node;
	u8 desc[64];
};

/* Does the agent belong to a switch? */
static inline bool agent_is_switch(const struct agent *a)
{
	return !a->port;
}

/* send.c */
/** agent_ib() - a port of the agent's node: of an HCA, the agent's own; NULL: there is none */
struct port *agent_ib(const struct agent *a, u32 number);

/** agent_self() - the port whose LID is the agent's: an HCA's, or port 0 of a switch */
struct port *agent_self(const struct agent *a);

/** agent_timer_set() - let a timer of the agent fire at an engine time; TIMER_OFF: stop it */
void agent_timer_set(struct agent *a, struct timer *t, u64 due);
/**
 * agent_send() - send a management datagram, of QP 0 or 1
 * @a: agent
 * @in_port: for a switch: port by which the request came that it answers; 0: it answers none
 * @out_port: for a switch: port by which it leaves; 0: as the tables say
 * @h: headers: addresses, and for QP 1 what the transport needs
 * @mad: MAD_LEN bytes; copied
 */
void agent_send(struct agent *a, u8 in_port, u8 out_port, const struct wire_hdr *h, const u8 *mad);

/* trap.c */
/**
 * agent_trap() - repeat a trap until it is repressed, in place of an older one of its kind; fills
 * in the head of @notice
 */
void agent_trap(struct agent *a, u16 number, u8 *notice);
/** agent_trap_repress() - a manager has received a trap */
void agent_trap_repress(struct agent *a, u64 tid, const u8 *notice);
/** agent_trap_timer() - a trap is due */
void agent_trap_timer(struct timer *t);
/** agent_bad_mkey() - trap 256: a request that the M_Key refuses */
void agent_bad_mkey(struct agent *a, const u8 *mad, u16 slid);
/** agent_link_state() - trap 128: a port of the switch has changed its state */
void agent_link_state(struct agent *a);
/** agent_trap_pkey() - agent_bad_pkey() under fab_agents_lock() */
void agent_trap_pkey(struct agent *a, const struct wire_hdr *h);
/** agent_trap_qkey() - agent_bad_qkey() under fab_agents_lock() */
void agent_trap_qkey(struct agent *a, const struct wire_hdr *h);
/** agent_switch_pkey() - trap 259: a port of the switch has dropped a packet */
void agent_switch_pkey(struct agent *a, u8 port, const struct wire_hdr *h);

/**
 * enum mkey - what the M_Key of a request allows
 * @MKEY_REFUSED: nothing, it is not even answered
 * @MKEY_READS: read, but not the M_Key
 * @MKEY_OWNS: everything
 */
enum mkey {
	MKEY_REFUSED,
	MKEY_READS,
	MKEY_OWNS,
};

/**
 * struct sma_call - a request for an attribute
 * @a: agent
 * @path: where it came from
 * @mkey: what its M_Key allows
 * @mod: attribute modifier
 * @data: the attribute: zeros to be filled in, or the values to be set
 */
struct sma_call {
	struct agent *a;
	const struct mad_path *path;
	enum mkey mkey;
	u32 mod;
	u8 *data;
};

/* Return enum mad_status; unless it is MAD_OK, nothing was changed. */
typedef u16 (*sma_fn)(struct sma_call *c);

/* sma_node.c */
u16 get_node_desc(struct sma_call *c);
u16 get_node_info(struct sma_call *c);
u16 get_switch_info(struct sma_call *c);
u16 set_switch_info(struct sma_call *c);
u16 get_guid_info(struct sma_call *c);
u16 set_guid_info(struct sma_call *c);

/* sma_port.c */
u16 get_port_info(struct sma_call *c);
u16 set_port_info(struct sma_call *c);
/** sma_down_timer() - take a port down that has had time to send its reply */
void sma_down_timer(struct timer *t);

/* sma_table.c */
u16 get_pkey_table(struct sma_call *c);
u16 set_pkey_table(struct sma_call *c);
u16 get_sl2vl(struct sma_call *c);
u16 set_sl2vl(struct sma_call *c);
u16 get_vlarb(struct sma_call *c);
u16 set_vlarb(struct sma_call *c);

/* sma_fdb.c */
u16 get_linear_fdb(struct sma_call *c);
u16 set_linear_fdb(struct sma_call *c);
u16 get_mcast_fdb(struct sma_call *c);
u16 set_mcast_fdb(struct sma_call *c);

/* sma.c, pma.c: see agent_mad() */
u32 sma_mad(struct agent *a, const struct mad_path *path, u8 *mad, u32 flags);
u32 pma_mad(struct agent *a, u8 *mad);
/** pma_counts() - bases of the counters of ports, all 0.  NULL without memory; free() */
struct agent_counts *pma_counts(u32 ports);

#endif /* VHCAD_SUBNET_INTERNAL_H */
