/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared by fuzz targets: the bytes of an input, read one after the other.  Behind its end they are
 * zeros.
 */
#ifndef VHCAD_FUZZ_INPUT_H
#define VHCAD_FUZZ_INPUT_H

#include <string.h>

#include "lib/types.h"

/* libFuzzer's entry point, of which every target has one */
int LLVMFuzzerTestOneInput(const u8 *data, size_t len);

struct input {
	const u8 *at;
	const u8 *end;
};

static inline bool in_more(const struct input *in)
{
	return in->at < in->end;
}

static inline void in_bytes(struct input *in, void *to, size_t len)
{
	size_t n = MIN(len, (size_t)(in->end - in->at));

	memcpy(to, in->at, n);
	memset((u8 *)to + n, 0, len - n);
	in->at += n;
}

static inline u8 in_8(struct input *in)
{
	return in_more(in) ? *in->at++ : 0;
}

static inline u16 in_16(struct input *in)
{
	u16 v;

	in_bytes(in, &v, sizeof(v));
	return v;
}

static inline u32 in_32(struct input *in)
{
	u32 v;

	in_bytes(in, &v, sizeof(v));
	return v;
}

/*
 * Corrupts something valid: up to seven bytes are overwritten, or a bit of each is inverted.
 */
static inline void in_spoil(struct input *in, void *what, size_t len)
{
	u8 n = in_8(in);

	for (u32 i = 0; i < (n & 7); i++) {
		u8 *byte = (u8 *)what + in_16(in) % len, v = in_8(in);

		*byte = n & 8 ? *byte ^ 1 << (v & 7) : v;
	}
}

#endif /* VHCAD_FUZZ_INPUT_H */
