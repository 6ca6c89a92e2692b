/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Faults of links, for the command "fault".
 */
#ifndef VHCAD_CTL_LINK_FAULT_H
#define VHCAD_CTL_LINK_FAULT_H

#include "ctl/request.h"

/** link_fault_kind() - the enum fab_fault_kind of this name, or -1 */
int link_fault_kind(const char *kind);

/** request_every_link() - does the request name all links instead of an adapter? */
bool request_every_link(const struct request *r);

/** request_link_fault() - arm a fault of this kind */
void request_link_fault(struct request *r, u32 kind);

/**
 * link_faults_add() - describe the faults that are armed at an adapter's links
 * @list: array to which they are added
 * @hca: adapter
 * @idle: only faults that have not struck as often as they are to
 */
void link_faults_add(struct json_object *list, const struct ctl_hca *hca, bool idle);

/** every_link_faults_add() - describe the faults that are armed at all links at once */
void every_link_faults_add(struct json_object *list, const struct request *r, bool idle);

/**
 * between_faults_add() - describe the faults that are armed at links between switches
 * @between: number of a link; -1: all of them
 */
void between_faults_add(struct json_object *list, const struct request *r, int between, bool idle);

/** between_faults_clear() - disarm the faults of a link between switches */
void between_faults_clear(const struct request *r, int between);

/** link_faults_clear() - disarm the faults of an adapter's links */
void link_faults_clear(const struct ctl_hca *hca);

#endif /* VHCAD_CTL_LINK_FAULT_H */
