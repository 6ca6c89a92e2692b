/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Devices that exchange MADs in memory, for the suites of mad/. Ports are identified by their LIDs,
 * and ports 1 and 2 of a device are the ends of one cable, also those of a switch. A work item
 * delivers packets, so that nothing arrives while it is being sent.
 */
#ifndef RDMA_MAD_FAKE_WIRE_H
#define RDMA_MAD_FAKE_WIRE_H

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/wait.h>
#include <rdma/ib_mad.h>

#define FAKE_PORTS 2

/* A port has two P_Keys, and one QP besides QP0 and QP1. */
#define FAKE_UD_QPN 2

struct fake_device;

/**
 * struct fake_wire - the treatment of packets and work requests
 * @lock: protects the rest
 * @devices: all fake devices
 * @packets: packets that were sent and have not arrived
 * @held: sends that have not completed
 * @work: delivers packets
 * @sent: number of packets sent
 * @lost: number of packets without a receive buffer
 * @deliver: returns how often a packet arrives and whether it overtakes others; NULL for once, in
 *	order
 * @hold: sends do not complete
 * @fail_in: number of sends before one that fails, 0 for none
 * @fail_every: number of sends between further ones that fail, 0 for none
 * @refuse: number of receives that are refused
 * @break_in: number of receives before one whose QP fails, 0 for none
 * @stuck: error of moving a QP to ERR, or 0
 * @no_reset: number of attempts to move a QP to RESET that fail
 * @stopped: completed when a QP is moved to ERR
 * @broken: completed when a QP has failed as @break_in says
 * @orphans: number of receives that QPs, and of completions that CQs had when they were destroyed
 * @process_mad: the driver's operation, or NULL to leave all MADs alone
 * @test: test whose static stubs are used where completions are handled, or NULL
 * @process_calls: number of calls of @process_mad
 */
struct fake_wire {
	spinlock_t lock;
	struct list_head devices;
	struct list_head packets;
	struct list_head held;
	struct work_struct work;
	unsigned int sent, lost;
	unsigned int (*deliver)(const struct ib_mad *mad, bool *overtakes);
	bool hold;
	unsigned int fail_in, fail_every;
	unsigned int refuse;
	unsigned int break_in;
	int stuck;
	unsigned int no_reset;
	struct completion stopped;
	struct completion broken;
	unsigned int orphans;
	int (*process_mad)(const struct ib_wc *wc, const struct ib_mad *in, struct ib_mad *out);
	struct kunit *test;
	atomic_t process_calls;
};

extern struct fake_wire fake_wire;

void fake_wire_begin(void);
void fake_wire_release(void);
void fake_wire_flush(void);
struct ib_device *fake_device_add(struct kunit *test, const char *name, u32 caps, u16 lid);
struct ib_device *fake_switch_add(struct kunit *test, const char *name, u16 lid);
void fake_device_remove(struct ib_device *device);
void fake_device_break(struct ib_device *device, u32 port_num, u32 qpn);
void fake_device_complain(struct ib_device *device, u32 port_num);
struct ib_ah *fake_ah(struct ib_pd *pd, u16 dlid);

#endif
