/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A device without hardware for the KUnit suites of the core: its answers are set by the tests.
 */
#ifndef RDMA_CORE_TEST_DEVICE_H
#define RDMA_CORE_TEST_DEVICE_H

#include <kunit/test.h>
#include <rdma/ib_verbs.h>

#define TEST_PORTS 2
#define TEST_GIDS 4
#define TEST_PKEYS 4

/* Operations that can be made to fail. */
enum test_op {
	TEST_OP_NONE,
	TEST_OP_QUERY_DEVICE,
	TEST_OP_IMMUTABLE,
	TEST_OP_QUERY_PORT,
	TEST_OP_QUERY_GID,
	TEST_OP_QUERY_PKEY,
	TEST_OP_DEVICE_STATS,
	TEST_OP_PORT_STATS,
	TEST_OP_ENABLE,
	TEST_OPS
};

/**
 * struct test_port - the answers of a port
 * @attr: to query_port
 * @gid: to query_gid
 * @pkey: to query_pkey
 */
struct test_port {
	struct ib_port_attr attr;
	union ib_gid gid[TEST_GIDS];
	u16 pkey[TEST_PKEYS];
};

/**
 * struct test_device - the device
 * @ib: as the core sees it
 * @port: by port number; entry 0 is not used
 * @fails: operation that answers -EIO
 * @spares: number of its calls that still succeed first
 * @calls: how often each operation was called
 * @told: if set, called when query_port has its answer
 */
struct test_device {
	struct ib_device ib;
	struct test_port port[TEST_PORTS + 1];
	enum test_op fails;
	unsigned int spares;
	unsigned int calls[TEST_OPS];
	void (*told)(struct test_device *device, u32 port_num);
};

void test_device_setup(struct test_device *device);
struct test_device *test_device_alloc(void);
struct test_device *test_device_registered(struct kunit *test, const char *name);
void test_device_gone(struct test_device *device);

#endif
