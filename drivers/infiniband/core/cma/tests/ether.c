// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The interfaces of the address room's suites, for those of rdma_cm: an object belongs to one
 * module.
 */
#include "../../addr/tests/fake_net.c"
