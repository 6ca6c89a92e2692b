/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Commands with one wrong field.
 */
#ifndef VHCAD_TESTS_SPOIL_H
#define VHCAD_TESTS_SPOIL_H

#include "tests/thca.h"

/**
 * struct spoilt - one field of a request with a wrong value
 * @off: offset of the field, and
 * @size: its size in bytes: see F()
 * @value: the wrong value
 * @status: the expected status
 * @named: offset of the field that must be named; 0: that of the wrong one
 */
struct spoilt {
	u32 off, size;
	u64 value;
	u32 status;
	u32 named;
};

#define F(type, f)	offsetof(struct type, f), sizeof(((struct type *)0)->f)

/* Compares the status of a command with the expected one; and the field that its refusal names. */
static inline void refused(struct thca *h, u32 have, u32 want, u32 field)
{
	assert_int_equal(have, want);
	assert_int_equal(h->bad_field, field);
}

/* Expects each request with a wrong field to be refused, and then the good one to succeed. */
void spoil_each(struct thca *h, u8 op, const void *good, u32 len, const struct spoilt *s, u32 n);

#endif /* VHCAD_TESTS_SPOIL_H */
