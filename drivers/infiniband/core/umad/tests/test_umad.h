/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * For the KUnit suites of user MADs: a device with a fake MAD layer, so that a test decides which
 * MADs arrive and how a send ends; a file of its first port, and requests on it as a program makes
 * them, from memory of the test's own address space.
 */
#ifndef CORE_UMAD_TEST_UMAD_H
#define CORE_UMAD_TEST_UMAD_H

#include <kunit/test.h>
#include <linux/fs.h>
#include <linux/poll.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_user_ioctl.h>

#include "../umad.h"

/* Port 1 has subnet management, port 2 exchanges MADs only, port 3 does not. */
#define FAKE_PORTS	3

/**
 * struct fake_mads - the device, and the MAD layer on it
 * @ib: the device, as the core sees it
 * @agents: agents that are registered
 * @sends: list of struct fake_send that are posted, the oldest first
 * @made_sends: number of sends that are not freed
 * @made_recvs: number of received MADs that are not freed
 * @ahs: number of address handles that are not destroyed
 * @answer: result of the next calls that register an agent, or make or post a send
 * @fails: the calls to which @answer applies
 * @ah_answer: result of calls that make an address handle
 * @ah: address of the last address handle
 * @req: of the last registration; the class is 0 if there was none
 * @rmpp_version: of the last registration
 * @flags: of the last registration
 * @qp_type: of the last registration
 * @caps: capability bits that are set in the ports, by port number
 * @modify: result of modify_port
 */
struct fake_mads {
	struct ib_device ib;
	struct list_head agents;
	struct list_head sends;
	int made_sends;
	int made_recvs;
	int ahs;
	int answer;
	enum { FAKE_NONE, FAKE_REGISTER, FAKE_CREATE, FAKE_POST } fails;
	int ah_answer;
	struct rdma_ah_attr ah;
	struct ib_mad_reg_req req;
	u8 rmpp_version;
	u32 flags;
	enum ib_qp_type qp_type;
	u32 caps[FAKE_PORTS + 1];
	int modify;
};

/**
 * struct fake_agent - an agent of the fake MAD layer
 * @mad: as umad sees it
 * @qp: its QP, whose PD umad uses
 * @entry: in the device's agents
 */
struct fake_agent {
	struct ib_mad_agent mad;
	struct ib_qp qp;
	struct list_head entry;
};

/**
 * struct fake_send - a MAD that is sent
 * @buf: as umad sees it
 * @entry: in the device's sends
 * @qpn: QP it goes to
 * @pkey_index: its P_Key index
 * @rmpp: it has segments
 * @first: its first packet
 * @data: its segments, one behind the other
 */
struct fake_send {
	struct ib_mad_send_buf buf;
	struct list_head entry;
	u32 qpn;
	u16 pkey_index;
	bool rmpp;
	u8 first[IB_MGMT_MAD_SIZE];
	u8 data[];
};

/* The test's user memory: requests at its start, data read behind them. */
#define UT_REQUEST	0
#define UT_READ		(16 * 1024)
#define UT_BYTES	(32 * 1024)

/**
 * struct umad_test - a test with device and file
 * @test: the test
 * @fake: the device; NULL once it was removed
 * @port: the first port, with a reference
 * @inode: inode with which the file was opened
 * @filp: the file
 * @sm_inode: inode with which issmN is opened
 * @user: address of the user memory
 * @reason: the last text of ut_reason()
 */
struct umad_test {
	struct kunit *test;
	struct fake_mads *fake;
	struct ib_umad_port *port;
	struct inode inode;
	struct file filp;
	struct inode sm_inode;
	u64 user;
	char reason[RDMA_REJECT_TEXT];
};

/**
 * struct ut_mad - a MAD with the header in front, as a program writes it
 * @hdr: the header
 * @mad: the MAD; longer ones continue behind it
 */
struct ut_mad {
	struct ib_user_mad_hdr hdr;
	struct ib_rmpp_mad mad;
};

static inline struct fake_mads *fake_of(struct ib_device *ib)
{
	return container_of(ib, struct fake_mads, ib);
}

static inline struct ib_umad_file *ut_file(struct umad_test *t)
{
	return t->filp.private_data;
}

/* fake_mads.c */
struct fake_mads *fake_mads_alloc(void);
void fake_mads_play(struct kunit *test);
struct fake_send *fake_mads_oldest(struct umad_test *t);
void fake_mads_complete(struct umad_test *t, struct fake_send *send, enum ib_wc_status status);
struct ib_mad_recv_wc *fake_mads_mad(struct fake_mads *fake, u8 mgmt_class, int len);
void fake_mads_receive(struct umad_test *t, u32 id, struct ib_mad_recv_wc *wc);

/* test_umad.c */
int ut_init(struct kunit *test);
void ut_exit(struct kunit *test);
int ut_open(struct umad_test *t, struct ib_umad_port *port);
void ut_close(struct umad_test *t);
void ut_remove_device(struct umad_test *t);
void __user *ut_at(struct umad_test *t, size_t offset);
long ut_ioctl(struct umad_test *t, unsigned int cmd, void *arg, size_t size, bool compat);
int ut_register(struct umad_test *t, u8 qpn, u8 mgmt_class, u8 rmpp_version, u32 flags);
long ut_unregister(struct umad_test *t, u32 id);
struct ut_mad ut_mad(u32 id, u8 mgmt_class, u8 method, u64 tid);
ssize_t ut_write(struct umad_test *t, const void *mad, size_t len);
ssize_t ut_read(struct umad_test *t, void *to, size_t len);
bool ut_polls(struct umad_test *t, __poll_t events);
const char *ut_reason(struct umad_test *t);
void ut_expect_refused(struct umad_test *t, ssize_t ret, int err, const char *reason);

#endif /* CORE_UMAD_TEST_UMAD_H */
