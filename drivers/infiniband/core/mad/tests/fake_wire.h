/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Devices that exchange MADs in memory, for the suites of mad/. Ports are known by their LIDs, and
 * ports 1 and 2 of a device are the ends of one cable, those of a switch, too. Packets travel by a
 * work item, so that nothing arrives while it is being sent.
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
 * struct fake_wire - what happens to packets and to work requests
 * @lock: protects the rest
 * @devices: all fake devices
 * @packets: packets on their way
 * @held: sends that have not completed
 * @work: lets packets arrive
 * @sent: packets that were sent
 * @lost: packets that found no buffer
 * @deliver: how often a packet arrives, and whether it overtakes; NULL: once, in order
 * @hold: sends do not complete
 * @fail_in: the send after so many others fails, 0: none
 * @fail_every: and each one after so many more, 0: no other
 * @refuse: so many receives are not taken
 * @break_in: the QP that takes the receive after so many others fails, 0: none
 * @stuck: error of taking a QP to ERR, or 0
 * @no_reset: so often a QP cannot be taken to RESET
 * @stopped: completed when a QP is taken to ERR
 * @broken: completed when a QP has failed as @break_in says
 * @orphans: receives that a QP still had, and completions that a CQ still had, at their ends
 * @process_mad: the driver's, or NULL: it leaves all MADs alone
 * @test: whose static stubs count where completions are handled, or NULL
 * @process_calls: how often it was called
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
