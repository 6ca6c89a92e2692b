/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared by the parts of ucma_bad_input.
 */
#ifndef UCMA_BAD_INPUT_H
#define UCMA_BAD_INPUT_H

#include "ucma_raw.h"

#define UID	0x123456789abcull
#define SAME	(-1)		/* Linux gives the same errno */
#define RESP	((uintptr_t)resp)

/* Files; ids of the first one: without device, with one, and one with an event. */
extern int fd, other;
extern uint32_t plain, bound, told;
extern uint8_t resp[1024];
/* An address that is not mapped, which the compiler does not know. */
extern volatile uint64_t nowhere;

/* @err is ours, @linux_err Linux's where it differs; @reason is part of ours, or NULL. */
void row(const char *name, int of, int (*run)(int of), int err, int linux_err, const char *reason);

#define ROW(_of, _run, _err, ...)	row(#_run, _of, _run, _err, __VA_ARGS__)

int create(int of, uint16_t ps, uint64_t response, uint32_t *id);
void bad_values(void);
void bad_events(void);

#endif /* UCMA_BAD_INPUT_H */
