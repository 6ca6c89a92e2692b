/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Commands of which one field is wrong.
 */
#ifndef VHCAD_TESTS_SPOIL_H
#define VHCAD_TESTS_SPOIL_H

#include "tests/thca.h"

/**
 * struct spoilt - one field of a request, made wrong
 * @off: where it stands, and
 * @size: its bytes: see F()
 * @value: what is wrong
 * @status: what the answer must be
 * @named: offset of the field that must be named; 0: that of the spoilt one
 */
struct spoilt {
	u32 off, size;
	u64 value;
	u32 status;
	u32 named;
};

#define F(type, f)	offsetof(struct type, f), sizeof(((struct type *)0)->f)

/* The status that a command has, and wants; and the field that its refusal names. */
static inline void refused(struct thca *h, u32 have, u32 want, u32 field)
{
	assert_int_equal(have, want);
	assert_int_equal(h->bad_field, field);
}

/* Expects each spoilt request to be refused, and then the good one to be carried out. */
void spoil_each(struct thca *h, u8 op, const void *good, u32 len, const struct spoilt *s, u32 n);

#endif /* VHCAD_TESTS_SPOIL_H */
