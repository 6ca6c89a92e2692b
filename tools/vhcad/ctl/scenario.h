/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Scenario files, which list faults to be armed together.
 */
#ifndef VHCAD_CTL_SCENARIO_H
#define VHCAD_CTL_SCENARIO_H

#include <json-c/json.h>
#include <stddef.h>

/**
 * scenario_read() - read a scenario file
 * @path: path of the file
 * @why: receives what is wrong, with the file's name and the line
 * @room: size of @why
 *
 * Returns an array of requests for the control socket, to be released by json_object_put(); NULL if
 * something is wrong.
 */
struct json_object *scenario_read(const char *path, char *why, size_t room);

#endif /* VHCAD_CTL_SCENARIO_H */
