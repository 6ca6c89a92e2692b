/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A table of the arguments that a request may have: numbers, words for numbers, and strings.
 */
#ifndef VHCAD_CTL_ARG_H
#define VHCAD_CTL_ARG_H

#include "ctl/request.h"

#define ARG_ABSENT	UINT32_MAX

/**
 * struct arg - a member of a request
 * @key: name of the member
 * @offset: where the value is stored: a u32, or a string of @room bytes
 * @least, @most: range of a number
 * @by_name: returns the value of a word, or -1; NULL: the value is no word
 * @name: returns the word for a value
 * @room: size of a string with its NUL; 0: the value is no string
 *
 * The last row of a table has no key.
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
 * arg_take() - store all members of a request
 * @r: request
 * @args: members that it may have besides "command", "kind", "hca" and "port"
 * @base: the structure that @offset refers to
 *
 * Returns false after refusing.
 */
bool arg_take(struct request *r, const struct arg *args, void *base);

/** arg_describe() - add the values to an object, except ARG_ABSENT and empty strings */
void arg_describe(struct json_object *o, const struct arg *args, const void *base);

#endif /* VHCAD_CTL_ARG_H */
