/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Headers that cmocka needs before its own. */
#ifndef VHCAD_TESTS_CM_H
#define VHCAD_TESTS_CM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#endif /* VHCAD_TESTS_CM_H */
