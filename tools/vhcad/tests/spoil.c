// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands with one wrong field.
 */
#include <string.h>

#include "tests/spoil.h"

void spoil_each(struct thca *h, u8 op, const void *good, u32 len, const struct spoilt *s, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		u8 req[VHCA_ASQE_REQ] = { 0 };
		u64 v = htole64(s[i].value);
		u32 named = s[i].named ? s[i].named : s[i].off;
		u32 st;

		memcpy(req, good, len);
		memcpy(req + s[i].off, &v, s[i].size);
		st = t_admin(h, op, req, len, NULL);
		if (st != s[i].status ||
		    h->bad_field != named + offsetof(struct vhca_asqe, req))
			fail_msg("case %u: status %u field %u, expected %u %u", i, st, h->bad_field,
				 s[i].status, (u32)(named + offsetof(struct vhca_asqe, req)));
	}
	/* and the unchanged request succeeds */
	assert_int_equal(t_admin(h, op, good, len, NULL), VHCA_ST_OK);
}
