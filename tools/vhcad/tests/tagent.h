/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A fabric whose subnet has no manager, HCAs that have only agents, and hosts that send management
 * datagrams; for tests of subnet/.
 */
#ifndef VHCAD_TESTS_TAGENT_H
#define VHCAD_TESTS_TAGENT_H

#include "fabric/subnet.h"
#include "subnet/agent.h"
#include "tests/cm.h"
#include "tests/ttopo.h"

#define TA_HCAS		4u
#define TA_INBOX	64u
#define TA_GUID		0x1000u		/* of the first HCA; ports have the next ones */
#define TA_NO_REPLY	0x10000u	/* not a status */

#define MSEC		1000000ull
#define SEC		1000000000ull

/* A datagram that the agent has passed to the host. */
struct ta_mail {
	struct wire_hdr h;
	u8 mad[MAD_LEN];
};

/**
 * struct ta_hca - an HCA with one port
 * @mail: datagrams for its host
 * @data: packets of other QPs
 * @told: PORT_*_CHANGED of its notifications
 */
struct ta_hca {
	struct fab_port port;
	struct agent agent;
	struct agent_node node;
	u8 desc[64];
	struct ta_mail mail[TA_INBOX];
	u32 nmail;
	u32 data;
	u32 told;
};

/**
 * struct ta_world - fabric, HCAs and clock
 * @mkey: M_Key of requests
 * @tid: of the last request
 */
struct ta_world {
	struct fabric *f;
	struct ta_hca hca[TA_HCAS];
	u32 nhcas;
	u64 now;
	u64 mkey;
	u64 tid;
};

/* A directed route: hop 1 is the sender's own port. */
struct ta_path {
	u8 hops;
	u8 port[DR_MOST_HOPS + 1];
};

/** ta_start() - plug HCAs into all ends of a topology, or two into the one switch */
void ta_start(struct ta_world *w, struct topo *t);
/** ta_end() - free the world */
void ta_end(struct ta_world *w);
/** ta_pass() - let time pass, with all events at their times */
void ta_pass(struct ta_world *w, u64 ns);
/** ta_raw() - send a datagram of QP0, or QP1, unchanged */
void ta_raw(struct ta_world *w, u32 hca, const struct wire_hdr *h, const u8 *mad, u32 len);
/** ta_header() - zero a datagram and write the common header of a request into it */
void ta_header(u8 *mad, u8 class, u8 method, u16 attr);
/** ta_request() - write the common header of a request; returns its transaction ID */
u64 ta_request(struct ta_world *w, u8 *mad, u8 class, u8 method, u16 attr, u32 mod);
/** ta_find() - take the reply with this transaction ID; false: it has not come */
bool ta_find(struct ta_hca *hca, u64 tid, struct ta_mail *mail);
/** ta_trap() - take a trap that has come; false: there is none of this number */
bool ta_trap(struct ta_hca *hca, u16 number, struct ta_mail *mail);

/**
 * ta_route() - a subnet management request by a directed route
 * @w: world
 * @hca: sender
 * @path: directed route
 * @method: MAD_GET or MAD_SET
 * @attr: attribute
 * @mod: attribute modifier
 * @data: SMP_DATA_LEN bytes to send, then those of the reply
 *
 * Returns the status, or TA_NO_REPLY.
 */
u32 ta_route(struct ta_world *w, u32 hca, const struct ta_path *path, u8 method, u16 attr, u32 mod,
	     u8 *data);
/** ta_lid() - the same by LID */
u32 ta_lid(struct ta_world *w, u32 hca, u16 dlid, u8 method, u16 attr, u32 mod, u8 *data);
/** ta_perf() - a performance management request; @data: PERF_DATA_LEN bytes */
u32 ta_perf(struct ta_world *w, u32 hca, u16 dlid, u8 method, u16 attr, u8 *data);
/** ta_send_data() - send a packet of another QP, to a LID */
void ta_send_data(struct ta_world *w, u32 hca, u16 dlid, u32 len);

/* A path of several ports: TA_PATH(1, 3) */
#define TA_PATH(...) \
	((struct ta_path){ .hops = sizeof((u8[]){ __VA_ARGS__ }), .port = { 0, __VA_ARGS__ } })
/* To the sender itself. */
#define TA_SELF		((struct ta_path){ .hops = 0 })

#endif /* VHCAD_TESTS_TAGENT_H */
