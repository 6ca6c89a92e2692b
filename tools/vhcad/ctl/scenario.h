/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Scenario files: faults to be armed together.
 */
#ifndef VHCAD_CTL_SCENARIO_H
#define VHCAD_CTL_SCENARIO_H

#include <json-c/json.h>
#include <stddef.h>

/**
 * scenario_read() - read a scenario file
 * @path: of the file
 * @why: receives what is wrong, with the file's name and the line
 * @room: of @why
 *
 * Returns an array of requests for the control socket, to be put; NULL when something is wrong.
 */
struct json_object *scenario_read(const char *path, char *why, size_t room);

#endif /* VHCAD_CTL_SCENARIO_H */
