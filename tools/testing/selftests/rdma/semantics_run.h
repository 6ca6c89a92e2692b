/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Shared by the runner of the cases and their tools. */
#ifndef SEMANTICS_RUN_H
#define SEMANTICS_RUN_H

#include <setjmp.h>
#include <stdbool.h>

extern jmp_buf case_end;

bool release_all(void);
bool events_left(void);

#endif
