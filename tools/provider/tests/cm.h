/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* cmocka and what it wants included before it. */
#ifndef VHCA_TESTS_CM_H
#define VHCA_TESTS_CM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif /* VHCA_TESTS_CM_H */
