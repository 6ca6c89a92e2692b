/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * JSON files that are written by hand.
 */
#ifndef VHCAD_CTL_JSON_FILE_H
#define VHCAD_CTL_JSON_FILE_H

#include <json-c/json.h>
#include <stddef.h>

/**
 * json_file_read() - read a file of at most 64 KiB
 * @path: path of the file
 * @why: receives what is wrong, with the file's name and the line
 * @room: size of @why
 *
 * Returns its contents, to be released by json_object_put(); NULL if something is wrong.
 */
struct json_object *json_file_read(const char *path, char *why, size_t room);

#endif /* VHCAD_CTL_JSON_FILE_H */
