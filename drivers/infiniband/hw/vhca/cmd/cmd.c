// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Commands that create, modify and destroy objects of the device. */
#include <linux/slab.h>

#include "../hw/compat.h"
#include "cmd.h"
#include "run.h"

/* vhca_cmd_nop() - run a command that has no effect */
int vhca_cmd_nop(struct vhca_hw *hw)
{
	return vhca_run(hw, VHCA_CMD_NOP, NULL, 0, 0, 0, NULL, 0);
}

/* vhca_cmd_open_uar() - open a doorbell area; its number is that of its kick page */
int vhca_cmd_open_uar(struct vhca_hw *hw, dma_addr_t db_page, u32 *uar)
{
	struct vhca_open_uar_req req = { .db_page = cpu_to_le64(db_page) };
	int err;

	err = RUN_CREATE(hw, VHCA_CMD_OPEN_UAR, &req, uar);
	if (!err && *uar >= hw->kick_pages) {
		/* Its kick page would be outside of the BAR, and the device knows db_page. */
		vhca_hw_give_up(hw, "it gave out a doorbell area that does not exist");
		err = vhca_refuse(hw->dev, -EIO, "device gave out a bad doorbell area");
	}
	return err;
}

/* vhca_cmd_close_uar() - close a doorbell area that no queue uses any more */
int vhca_cmd_close_uar(struct vhca_hw *hw, u32 uar)
{
	return vhca_run_destroy(hw, VHCA_CMD_CLOSE_UAR, uar);
}

/* vhca_cmd_add_db_page() - add the next page to a doorbell area */
int vhca_cmd_add_db_page(struct vhca_hw *hw, u32 uar, u32 page, dma_addr_t db_page)
{
	struct vhca_add_db_page_req req = {
		.uar = cpu_to_le32(uar),
		.page = cpu_to_le32(page),
		.db_page = cpu_to_le64(db_page),
	};

	return RUN(hw, VHCA_CMD_ADD_DB_PAGE, &req);
}

/* vhca_cmd_create_eq() - make an event queue */
int vhca_cmd_create_eq(struct vhca_hw *hw, const struct vhca_create_eq_req *req, u32 *eqn)
{
	return RUN_CREATE(hw, VHCA_CMD_CREATE_EQ, req, eqn);
}

/* vhca_cmd_destroy_eq() - destroy an event queue */
int vhca_cmd_destroy_eq(struct vhca_hw *hw, u32 eqn)
{
	return vhca_run_destroy(hw, VHCA_CMD_DESTROY_EQ, eqn);
}

/* vhca_cmd_create_pd() - make a protection domain */
int vhca_cmd_create_pd(struct vhca_hw *hw, u32 *pdn)
{
	return vhca_run_create(hw, VHCA_CMD_CREATE_PD, NULL, 0, pdn);
}

/* vhca_cmd_destroy_pd() - destroy a protection domain */
int vhca_cmd_destroy_pd(struct vhca_hw *hw, u32 pdn)
{
	return vhca_run_destroy(hw, VHCA_CMD_DESTROY_PD, pdn);
}

/* vhca_cmd_create_xrcd() - make an XRC domain */
int vhca_cmd_create_xrcd(struct vhca_hw *hw, u32 *xrcdn)
{
	return vhca_run_create(hw, VHCA_CMD_CREATE_XRCD, NULL, 0, xrcdn);
}

/* vhca_cmd_destroy_xrcd() - destroy an XRC domain */
int vhca_cmd_destroy_xrcd(struct vhca_hw *hw, u32 xrcdn)
{
	return vhca_run_destroy(hw, VHCA_CMD_DESTROY_XRCD, xrcdn);
}

/* vhca_cmd_create_mkey() - make a memory key; @key is the whole 32-bit key */
int vhca_cmd_create_mkey(struct vhca_hw *hw, const struct vhca_create_mkey_req *req, u32 *key)
{
	return RUN_CREATE(hw, VHCA_CMD_CREATE_MKEY, req, key);
}

/* vhca_cmd_modify_mkey() - change a live key's access, PD or translation */
int vhca_cmd_modify_mkey(struct vhca_hw *hw, const struct vhca_modify_mkey_req *req)
{
	return RUN(hw, VHCA_CMD_MODIFY_MKEY, req);
}

/* vhca_cmd_destroy_mkey() - destroy a memory key */
int vhca_cmd_destroy_mkey(struct vhca_hw *hw, u32 key)
{
	return vhca_run_destroy(hw, VHCA_CMD_DESTROY_MKEY, key);
}

/* vhca_cmd_fence_mkeys() - wait until every access through a key begun before has ended */
int vhca_cmd_fence_mkeys(struct vhca_hw *hw)
{
	return vhca_run(hw, VHCA_CMD_FENCE_MKEYS, NULL, 0, 0, 0, NULL, 0);
}

/* vhca_cmd_create_cq() - make a completion queue */
int vhca_cmd_create_cq(struct vhca_hw *hw, const struct vhca_create_cq_hw_req *req, u32 *cqn)
{
	return RUN_CREATE(hw, VHCA_CMD_CREATE_CQ, req, cqn);
}

/* vhca_cmd_destroy_cq() - destroy a completion queue; it raises no event afterwards */
int vhca_cmd_destroy_cq(struct vhca_hw *hw, u32 cqn)
{
	return vhca_run_destroy(hw, VHCA_CMD_DESTROY_CQ, cqn);
}

/*
 * vhca_cmd_resize_cq() - give a completion queue another ring; @first receives the low 32 bits of
 * the count of the first entry that the device writes there
 */
int vhca_cmd_resize_cq(struct vhca_hw *hw, const struct vhca_resize_cq_hw_req *req, u32 *first)
{
	struct vhca_resize_cq_hw_resp resp;
	int err;

	static_assert(sizeof(*req) <= VHCA_ASQE_REQ);
	err = vhca_run(hw, VHCA_CMD_RESIZE_CQ, req, sizeof(*req), 0, 0, &resp, sizeof(resp));
	if (!err)
		*first = le32_to_cpu(resp.first);
	return err;
}

/* vhca_cmd_modify_cq() - moderate a completion queue's events */
int vhca_cmd_modify_cq(struct vhca_hw *hw, u32 cqn, u16 count, u16 period)
{
	struct vhca_modify_cq_req req = {
		.cqn = cpu_to_le32(cqn),
		.count = cpu_to_le16(count),
		.period = cpu_to_le16(period),
	};

	return RUN(hw, VHCA_CMD_MODIFY_CQ, &req);
}

/* vhca_cmd_create_srq() - make a shared receive queue */
int vhca_cmd_create_srq(struct vhca_hw *hw, const struct vhca_create_srq_hw_req *req, u32 *srqn)
{
	return RUN_CREATE(hw, VHCA_CMD_CREATE_SRQ, req, srqn);
}

/* vhca_cmd_modify_srq() - arm a shared receive queue's limit for one event; 0 disarms it */
int vhca_cmd_modify_srq(struct vhca_hw *hw, u32 srqn, u32 limit)
{
	struct vhca_modify_srq_hw_req req = {
		.srqn = cpu_to_le32(srqn),
		.limit = cpu_to_le32(limit),
	};

	return RUN(hw, VHCA_CMD_MODIFY_SRQ, &req);
}

/* vhca_cmd_resize_srq() - give a shared receive queue another ring */
int vhca_cmd_resize_srq(struct vhca_hw *hw, const struct vhca_resize_srq_hw_req *req)
{
	return RUN(hw, VHCA_CMD_RESIZE_SRQ, req);
}

/* vhca_cmd_query_srq() - read a shared receive queue's limit; it is 0 if none is armed */
int vhca_cmd_query_srq(struct vhca_hw *hw, u32 srqn, u32 *limit)
{
	struct vhca_object_req req = { .handle = cpu_to_le32(srqn) };
	struct vhca_query_srq_resp resp;
	int err;

	err = vhca_run(hw, VHCA_CMD_QUERY_SRQ, &req, sizeof(req), 0, 0, &resp, sizeof(resp));
	if (!err)
		*limit = le32_to_cpu(resp.limit);
	return err;
}

/* vhca_cmd_destroy_srq() - destroy a shared receive queue that no QP uses any more */
int vhca_cmd_destroy_srq(struct vhca_hw *hw, u32 srqn)
{
	return vhca_run_destroy(hw, VHCA_CMD_DESTROY_SRQ, srqn);
}

/* vhca_cmd_create_qp() - make a queue pair in the RESET state */
int vhca_cmd_create_qp(struct vhca_hw *hw, const struct vhca_create_qp_hw_req *req, u32 *qpn)
{
	return RUN_CREATE(hw, VHCA_CMD_CREATE_QP, req, qpn);
}

/* vhca_cmd_modify_qp() - change a queue pair's attributes */
int vhca_cmd_modify_qp(struct vhca_hw *hw, const struct vhca_modify_qp_req *req)
{
	return RUN(hw, VHCA_CMD_MODIFY_QP, req);
}

/*
 * vhca_cmd_query_qp() - read a queue pair's attributes; @port is the port of QP 0 or 1, else 0;
 * @attr receives the device's output unchanged
 */
int vhca_cmd_query_qp(struct vhca_hw *hw, u8 port, u32 qpn, struct vhca_qp_attr *attr)
{
	struct vhca_object_req req = { .handle = cpu_to_le32(qpn), .port = port };
	struct vhca_qp_attr *a;

	a = vhca_run_out(hw, VHCA_CMD_QUERY_QP, &req, sizeof(req), sizeof(*a), NULL, 0);
	if (IS_ERR(a))
		return PTR_ERR(a);
	*attr = *a;
	kfree(a);
	return 0;
}

/*
 * vhca_cmd_destroy_qp() - destroy a queue pair, which completes nothing afterwards; @port is the
 * port of QP 0 or 1, else 0
 */
int vhca_cmd_destroy_qp(struct vhca_hw *hw, u8 port, u32 qpn)
{
	struct vhca_object_req req = { .handle = cpu_to_le32(qpn), .port = port };

	return RUN(hw, VHCA_CMD_DESTROY_QP, &req);
}

static int run_mcg(struct vhca_hw *hw, u8 opcode, const u8 mgid[16], u16 mlid, u32 qpn)
{
	struct vhca_mcg_req req = {
		.qpn = cpu_to_le32(qpn),
		.mlid = cpu_to_le16(mlid),
	};

	memcpy(req.mgid, mgid, sizeof(req.mgid));
	return RUN(hw, opcode, &req);
}

/* vhca_cmd_attach_mcg() - attach a QP to a multicast group */
int vhca_cmd_attach_mcg(struct vhca_hw *hw, const u8 mgid[16], u16 mlid, u32 qpn)
{
	return run_mcg(hw, VHCA_CMD_ATTACH_MCG, mgid, mlid, qpn);
}

/* vhca_cmd_detach_mcg() - undo vhca_cmd_attach_mcg() */
int vhca_cmd_detach_mcg(struct vhca_hw *hw, const u8 mgid[16], u16 mlid, u32 qpn)
{
	return run_mcg(hw, VHCA_CMD_DETACH_MCG, mgid, mlid, qpn);
}
