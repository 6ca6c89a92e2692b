// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The trace points of rdma_cm. */
#define CREATE_TRACE_POINTS
#include "trace.h"
