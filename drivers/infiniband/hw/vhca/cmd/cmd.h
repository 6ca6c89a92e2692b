/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * One typed function for every command of the device.
 *
 * All of them may sleep and return 0 or a negative errno: -EIO on a dead device; -ETIMEDOUT if the
 * device did not complete the command in time, after which it is dead; -ENOMEM without memory for
 * the output; or the errno of the device's status (status_to_errno() in run.c), with a recorded
 * reason that names the field which the device refused. After any error the device does no DMA to
 * the memory that the command named.
 */
#ifndef VHCA_CMD_H
#define VHCA_CMD_H

#include "../defs/mkey.h"
#include "../defs/qp.h"
#include "../defs/queues.h"
#include "../hw/hw.h"

int vhca_cmd_nop(struct vhca_hw *hw);
int vhca_cmd_query_device(struct vhca_hw *hw, struct vhca_limits *limits);
int vhca_cmd_query_port(struct vhca_hw *hw, u8 port, struct vhca_port_attr *attr);
int vhca_cmd_query_gid(struct vhca_hw *hw, u8 port, u32 index, u8 gid[16]);
int vhca_cmd_query_pkey(struct vhca_hw *hw, u8 port, u32 index, u16 *pkey);
int vhca_cmd_query_counters(struct vhca_hw *hw, u8 port, struct vhca_port_counters *counters);
int vhca_cmd_create_counter(struct vhca_hw *hw, u8 port, u32 *number);
int vhca_cmd_bind_counter(struct vhca_hw *hw, u32 qpn, u32 number);
int vhca_cmd_query_counter(struct vhca_hw *hw, u32 number, struct vhca_port_counters *counters);
int vhca_cmd_destroy_counter(struct vhca_hw *hw, u32 number);
int vhca_cmd_query_clock(struct vhca_hw *hw, u64 *now);
int vhca_cmd_set_node_desc(struct vhca_hw *hw, const char desc[64]);
int vhca_cmd_modify_port(struct vhca_hw *hw, const struct vhca_modify_port_req *req);
int vhca_cmd_set_gid(struct vhca_hw *hw, const struct vhca_set_gid_req *req);
int vhca_cmd_process_mad(struct vhca_hw *hw, struct vhca_process_mad_req *req, const void *mad,
			 void *reply, u8 *result);

int vhca_cmd_open_uar(struct vhca_hw *hw, dma_addr_t db_page, u32 *uar);
int vhca_cmd_close_uar(struct vhca_hw *hw, u32 uar);
int vhca_cmd_add_db_page(struct vhca_hw *hw, u32 uar, u32 page, dma_addr_t db_page);

int vhca_cmd_create_eq(struct vhca_hw *hw, const struct vhca_create_eq_req *req, u32 *eqn);
int vhca_cmd_destroy_eq(struct vhca_hw *hw, u32 eqn);

int vhca_cmd_create_pd(struct vhca_hw *hw, u32 *pdn);
int vhca_cmd_destroy_pd(struct vhca_hw *hw, u32 pdn);

int vhca_cmd_create_xrcd(struct vhca_hw *hw, u32 *xrcdn);
int vhca_cmd_destroy_xrcd(struct vhca_hw *hw, u32 xrcdn);

int vhca_cmd_create_mkey(struct vhca_hw *hw, const struct vhca_create_mkey_req *req, u32 *key);
int vhca_cmd_modify_mkey(struct vhca_hw *hw, const struct vhca_modify_mkey_req *req);
int vhca_cmd_destroy_mkey(struct vhca_hw *hw, u32 key);
int vhca_cmd_fence_mkeys(struct vhca_hw *hw);

int vhca_cmd_create_cq(struct vhca_hw *hw, const struct vhca_create_cq_hw_req *req, u32 *cqn);
int vhca_cmd_destroy_cq(struct vhca_hw *hw, u32 cqn);
int vhca_cmd_resize_cq(struct vhca_hw *hw, const struct vhca_resize_cq_hw_req *req, u32 *first);
int vhca_cmd_modify_cq(struct vhca_hw *hw, u32 cqn, u16 count, u16 period);

int vhca_cmd_create_srq(struct vhca_hw *hw, const struct vhca_create_srq_hw_req *req, u32 *srqn);
int vhca_cmd_modify_srq(struct vhca_hw *hw, u32 srqn, u32 limit);
int vhca_cmd_resize_srq(struct vhca_hw *hw, const struct vhca_resize_srq_hw_req *req);
int vhca_cmd_query_srq(struct vhca_hw *hw, u32 srqn, u32 *limit);
int vhca_cmd_destroy_srq(struct vhca_hw *hw, u32 srqn);

int vhca_cmd_create_qp(struct vhca_hw *hw, const struct vhca_create_qp_hw_req *req, u32 *qpn);
int vhca_cmd_modify_qp(struct vhca_hw *hw, const struct vhca_modify_qp_req *req);
int vhca_cmd_query_qp(struct vhca_hw *hw, u8 port, u32 qpn, struct vhca_qp_attr *attr);
int vhca_cmd_destroy_qp(struct vhca_hw *hw, u8 port, u32 qpn);

int vhca_cmd_attach_mcg(struct vhca_hw *hw, const u8 mgid[16], u16 mlid, u32 qpn);
int vhca_cmd_detach_mcg(struct vhca_hw *hw, const u8 mgid[16], u16 mlid, u32 qpn);

#endif /* VHCA_CMD_H */
