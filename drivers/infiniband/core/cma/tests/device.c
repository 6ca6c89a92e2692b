// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The device of the core's suites, for those of rdma_cm: an object belongs to one module.
 */
#include "../../device/tests/test_device.c"
