// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Where the trace points of the driver are made. */
#define CREATE_TRACE_POINTS
#include "trace.h"
