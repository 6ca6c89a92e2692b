/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Arguments of a request as a table: numbers, words for numbers, and texts.
 */
#ifndef VHCAD_CTL_ARG_H
#define VHCAD_CTL_ARG_H

#include "ctl/request.h"

#define ARG_ABSENT	UINT32_MAX

/**
 * struct arg - a member of a request
 * @key: its name
 * @offset: of a u32, or of @room bytes for a text
 * @least, @most: a number's range
 * @by_name: what a word stands for, or -1; NULL: it is no word
 * @name: the word for a value
 * @room: bytes of a text and its end; 0: it is none
 *
 * Ends with a row without a key.
 */
struct arg {
	const char *key;
	u32 offset;
	u32 least, most;
	int (*by_name)(const char *name);
	const char *(*name)(u32 value);
	u32 room;
};

/**
 * arg_take() - take all members of a request
 * @r: request
 * @args: what it may have, apart from "command", "kind", "hca" and "port"
 * @base: where the values go
 *
 * Returns false after refusing.
 */
bool arg_take(struct request *r, const struct arg *args, void *base);

/** arg_describe() - add the values to an object; not ARG_ABSENT and empty texts */
void arg_describe(struct json_object *o, const struct arg *args, const void *base);

#endif /* VHCAD_CTL_ARG_H */
