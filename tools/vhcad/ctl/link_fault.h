/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Faults of links, for the command "fault".
 */
#ifndef VHCAD_CTL_LINK_FAULT_H
#define VHCAD_CTL_LINK_FAULT_H

#include "ctl/request.h"

/** link_fault_kind() - enum fab_fault_kind of that name, or -1 */
int link_fault_kind(const char *kind);

/** request_every_link() - is every link meant, and no adapter? */
bool request_every_link(const struct request *r);

/** request_link_fault() - arm a fault of that kind */
void request_link_fault(struct request *r, u32 kind);

/**
 * link_faults_add() - describe what is armed at an adapter's links
 * @list: array
 * @hca: adapter
 * @idle: only what has not struck, or not often enough
 */
void link_faults_add(struct json_object *list, const struct ctl_hca *hca, bool idle);

/** every_link_faults_add() - the same for what is armed at every link */
void every_link_faults_add(struct json_object *list, const struct request *r, bool idle);

/**
 * between_faults_add() - the same for what is armed at links between switches
 * @between: number of one; -1: of all
 */
void between_faults_add(struct json_object *list, const struct request *r, int between, bool idle);

/** between_faults_clear() - disarm those of a link between switches */
void between_faults_clear(const struct request *r, int between);

/** link_faults_clear() - disarm those of an adapter's links */
void link_faults_clear(const struct ctl_hca *hca);

#endif /* VHCAD_CTL_LINK_FAULT_H */
