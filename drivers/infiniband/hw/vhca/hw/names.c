// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Names of commands and of their fields, for the reasons of refusals. */
#include <linux/array_size.h>
#include <linux/export.h>
#include <linux/stddef.h>
#include <kunit/visibility.h>

#include "../defs/admin.h"
#include "../defs/device.h"
#include "../defs/mkey.h"
#include "../defs/qp.h"
#include "../defs/queues.h"
#include "names.h"

struct field_name {
	u16 offset;		/* in the request */
	u16 size;
	const char *name;
};

#define FIELD(type, member)							\
	{ offsetof(struct type, member), sizeof_field(struct type, member), #member }
/* A member of a nested structure in the request, whose name is given without the path to it. */
#define INNER(type, path, member)						\
	{ offsetof(struct type, path.member), sizeof_field(struct type, path.member), #member }
#define BUF(type, path, what)							\
	{ offsetof(struct type, path.addr), 8, what " address" },		\
	{ offsetof(struct type, path.offset), 8, what " offset" },		\
	{ offsetof(struct type, path.npages), 4, what " pages" },		\
	{ offsetof(struct type, path.page_shift), 1, what " page size" },	\
	{ offsetof(struct type, path.levels), 3, what " list" }
#define END { 0, 0, NULL }

static const struct field_name object_fields[] = {
	FIELD(vhca_object_req, handle),
	FIELD(vhca_object_req, port), END
};

static const struct field_name port_fields[] = {
	FIELD(vhca_port_req, port),
	FIELD(vhca_port_req, flags),
	FIELD(vhca_port_req, first_index),
	FIELD(vhca_port_req, count), END
};

static const struct field_name node_desc_fields[] = {
	FIELD(vhca_node_desc_req, desc), END
};

static const struct field_name process_mad_fields[] = {
	FIELD(vhca_process_mad_req, mad_addr),
	FIELD(vhca_process_mad_req, port),
	FIELD(vhca_process_mad_req, flags),
	FIELD(vhca_process_mad_req, sl),
	FIELD(vhca_process_mad_req, path_bits),
	FIELD(vhca_process_mad_req, slid),
	FIELD(vhca_process_mad_req, pkey_index),
	FIELD(vhca_process_mad_req, src_qpn), END
};

static const struct field_name modify_port_fields[] = {
	FIELD(vhca_modify_port_req, port),
	FIELD(vhca_modify_port_req, flags),
	FIELD(vhca_modify_port_req, mtu),
	FIELD(vhca_modify_port_req, set_caps),
	FIELD(vhca_modify_port_req, clear_caps), END
};

static const struct field_name set_gid_fields[] = {
	FIELD(vhca_set_gid_req, port),
	FIELD(vhca_set_gid_req, type),
	FIELD(vhca_set_gid_req, index),
	FIELD(vhca_set_gid_req, vlan),
	FIELD(vhca_set_gid_req, mac),
	FIELD(vhca_set_gid_req, gid), END
};

static const struct field_name open_uar_fields[] = {
	FIELD(vhca_open_uar_req, db_page), END
};

static const struct field_name add_db_page_fields[] = {
	FIELD(vhca_add_db_page_req, uar),
	FIELD(vhca_add_db_page_req, page),
	FIELD(vhca_add_db_page_req, db_page), END
};

static const struct field_name create_eq_fields[] = {
	BUF(vhca_create_eq_req, buf, "ring"),
	FIELD(vhca_create_eq_req, uar),
	FIELD(vhca_create_eq_req, db_slot),
	FIELD(vhca_create_eq_req, vector),
	FIELD(vhca_create_eq_req, log_entries),
	FIELD(vhca_create_eq_req, flags), END
};

static const struct field_name create_mkey_fields[] = {
	BUF(vhca_create_mkey_req, buf, "memory"),
	FIELD(vhca_create_mkey_req, iova),
	FIELD(vhca_create_mkey_req, length),
	FIELD(vhca_create_mkey_req, pdn),
	FIELD(vhca_create_mkey_req, access),
	FIELD(vhca_create_mkey_req, type),
	FIELD(vhca_create_mkey_req, variant), END
};

static const struct field_name modify_mkey_fields[] = {
	BUF(vhca_modify_mkey_req, attr.buf, "memory"),
	INNER(vhca_modify_mkey_req, attr, iova),
	INNER(vhca_modify_mkey_req, attr, length),
	INNER(vhca_modify_mkey_req, attr, pdn),
	INNER(vhca_modify_mkey_req, attr, access),
	FIELD(vhca_modify_mkey_req, key),
	FIELD(vhca_modify_mkey_req, mask), END
};

static const struct field_name create_cq_fields[] = {
	BUF(vhca_create_cq_hw_req, buf, "ring"),
	FIELD(vhca_create_cq_hw_req, uar),
	FIELD(vhca_create_cq_hw_req, db_slot),
	FIELD(vhca_create_cq_hw_req, eqn),
	FIELD(vhca_create_cq_hw_req, log_cqe),
	FIELD(vhca_create_cq_hw_req, flags), END
};

static const struct field_name resize_cq_fields[] = {
	BUF(vhca_resize_cq_hw_req, buf, "ring"),
	FIELD(vhca_resize_cq_hw_req, cqn),
	FIELD(vhca_resize_cq_hw_req, log_cqe), END
};

static const struct field_name modify_cq_fields[] = {
	FIELD(vhca_modify_cq_req, cqn),
	FIELD(vhca_modify_cq_req, count),
	FIELD(vhca_modify_cq_req, period), END
};

static const struct field_name create_srq_fields[] = {
	BUF(vhca_create_srq_hw_req, buf, "ring"),
	FIELD(vhca_create_srq_hw_req, pdn),
	FIELD(vhca_create_srq_hw_req, uar),
	FIELD(vhca_create_srq_hw_req, db_slot),
	FIELD(vhca_create_srq_hw_req, log_strides),
	FIELD(vhca_create_srq_hw_req, log_stride),
	FIELD(vhca_create_srq_hw_req, flags),
	FIELD(vhca_create_srq_hw_req, xrcdn),
	FIELD(vhca_create_srq_hw_req, cqn), END
};

static const struct field_name modify_srq_fields[] = {
	FIELD(vhca_modify_srq_hw_req, srqn),
	FIELD(vhca_modify_srq_hw_req, limit), END
};

static const struct field_name resize_srq_fields[] = {
	BUF(vhca_resize_srq_hw_req, buf, "ring"),
	FIELD(vhca_resize_srq_hw_req, srqn),
	FIELD(vhca_resize_srq_hw_req, log_strides), END
};

static const struct field_name mcg_fields[] = {
	FIELD(vhca_mcg_req, mgid),
	FIELD(vhca_mcg_req, qpn),
	FIELD(vhca_mcg_req, mlid), END
};

static const struct field_name create_qp_fields[] = {
	BUF(vhca_create_qp_hw_req, sq, "send ring"),
	BUF(vhca_create_qp_hw_req, rq, "receive ring"),
	FIELD(vhca_create_qp_hw_req, pdn),
	FIELD(vhca_create_qp_hw_req, uar),
	FIELD(vhca_create_qp_hw_req, db_slot),
	FIELD(vhca_create_qp_hw_req, send_cqn),
	FIELD(vhca_create_qp_hw_req, recv_cqn),
	FIELD(vhca_create_qp_hw_req, max_inline),
	FIELD(vhca_create_qp_hw_req, type),
	FIELD(vhca_create_qp_hw_req, flags),
	FIELD(vhca_create_qp_hw_req, log_sq_blocks),
	FIELD(vhca_create_qp_hw_req, log_rq_strides),
	FIELD(vhca_create_qp_hw_req, log_rq_stride),
	FIELD(vhca_create_qp_hw_req, port),
	FIELD(vhca_create_qp_hw_req, srqn),
	FIELD(vhca_create_qp_hw_req, xrcdn), END
};

#define QPA(member) INNER(vhca_modify_qp_req, attr, member)
#define AV(path, prefix, member)						\
	{ offsetof(struct vhca_modify_qp_req, attr.path.member),		\
	  sizeof_field(struct vhca_modify_qp_req, attr.path.member), prefix #member }

static const struct field_name modify_qp_fields[] = {
	FIELD(vhca_modify_qp_req, qpn),
	FIELD(vhca_modify_qp_req, mask),
	QPA(state), QPA(cur_state), QPA(en_sqd_async_notify), QPA(access), QPA(port),
	QPA(path_mtu), QPA(path_mig_state), QPA(pkey_index), QPA(alt_pkey_index), QPA(qkey),
	QPA(rq_psn), QPA(sq_psn), QPA(dest_qpn), QPA(timeout), QPA(retry_cnt), QPA(rnr_retry),
	QPA(min_rnr_timer), QPA(max_rd_atomic), QPA(max_dest_rd_atomic), QPA(alt_port),
	QPA(alt_timeout),
	AV(av, "", dgid), AV(av, "", flow_label), AV(av, "", dlid), AV(av, "", sl),
	AV(av, "", src_path_bits), AV(av, "", static_rate), AV(av, "ah port ", port),
	AV(av, "", grh), AV(av, "", sgid_index), AV(av, "", hop_limit), AV(av, "", traffic_class),
	AV(av, "", dmac),
	{ offsetof(struct vhca_modify_qp_req, attr.alt_av), sizeof(struct vhca_av),
	  "alternate path" }, END
};

static const struct field_name create_counter_fields[] = {
	FIELD(vhca_create_counter_req, port), END
};

static const struct field_name bind_counter_fields[] = {
	FIELD(vhca_bind_counter_req, qpn),
	FIELD(vhca_bind_counter_req, counter), END
};

struct cmd_name {
	const char *name;
	const struct field_name *fields;
};

#define CMD(op, fields) [VHCA_CMD_##op] = { #op, fields }

static const struct cmd_name cmd_names[] = {
	CMD(NOP, NULL),
	CMD(QUERY_DEVICE, NULL),
	CMD(QUERY_PORT, port_fields),
	CMD(QUERY_GIDS, port_fields),
	CMD(QUERY_PKEYS, port_fields),
	CMD(SET_NODE_DESC, node_desc_fields),
	CMD(QUERY_COUNTERS, port_fields),
	CMD(QUERY_CLOCK, NULL),
	CMD(PROCESS_MAD, process_mad_fields),
	CMD(MODIFY_PORT, modify_port_fields),
	CMD(SET_GID, set_gid_fields),
	CMD(OPEN_UAR, open_uar_fields),
	CMD(CLOSE_UAR, object_fields),
	CMD(ADD_DB_PAGE, add_db_page_fields),
	CMD(CREATE_EQ, create_eq_fields),
	CMD(DESTROY_EQ, object_fields),
	CMD(CREATE_PD, NULL),
	CMD(DESTROY_PD, object_fields),
	CMD(CREATE_XRCD, NULL),
	CMD(DESTROY_XRCD, object_fields),
	CMD(CREATE_MKEY, create_mkey_fields),
	CMD(DESTROY_MKEY, object_fields),
	CMD(MODIFY_MKEY, modify_mkey_fields),
	CMD(FENCE_MKEYS, NULL),
	CMD(CREATE_CQ, create_cq_fields),
	CMD(DESTROY_CQ, object_fields),
	CMD(RESIZE_CQ, resize_cq_fields),
	CMD(MODIFY_CQ, modify_cq_fields),
	CMD(CREATE_SRQ, create_srq_fields),
	CMD(DESTROY_SRQ, object_fields),
	CMD(MODIFY_SRQ, modify_srq_fields),
	CMD(RESIZE_SRQ, resize_srq_fields),
	CMD(QUERY_SRQ, object_fields),
	CMD(CREATE_QP, create_qp_fields),
	CMD(DESTROY_QP, object_fields),
	CMD(MODIFY_QP, modify_qp_fields),
	CMD(QUERY_QP, object_fields),
	CMD(ATTACH_MCG, mcg_fields),
	CMD(DETACH_MCG, mcg_fields),
	CMD(CREATE_COUNTER, create_counter_fields),
	CMD(DESTROY_COUNTER, object_fields),
	CMD(BIND_COUNTER, bind_counter_fields),
	CMD(QUERY_COUNTER, object_fields),
};

/**
 * vhca_cmd_name() - get the name of a command
 * @opcode: enum vhca_admin_op
 *
 * Context: any.
 * Return: a constant string, also for unknown opcodes.
 */
const char *vhca_cmd_name(u8 opcode)
{
	if (opcode < ARRAY_SIZE(cmd_names) && cmd_names[opcode].name)
		return cmd_names[opcode].name;
	return "unknown command";
}
EXPORT_SYMBOL_IF_KUNIT(vhca_cmd_name);

/**
 * vhca_cmd_field() - get the name of the field at an offset of a command
 * @opcode: enum vhca_admin_op
 * @offset: offset in struct vhca_asqe, from the completion; not trusted
 *
 * Context: any.
 * Return: a constant string, or NULL if there is no such field or the device named none.
 */
const char *vhca_cmd_field(u8 opcode, u16 offset)
{
	switch (offset) {
	case offsetof(struct vhca_asqe, opcode):
		return "opcode";
	case offsetof(struct vhca_asqe, out_len):
		return "out_len";
	case offsetof(struct vhca_asqe, out_addr):
		return "out_addr";
	}
	if (opcode >= ARRAY_SIZE(cmd_names) || !cmd_names[opcode].fields ||
	    offset < offsetof(struct vhca_asqe, req) || offset >= sizeof(struct vhca_asqe))
		return NULL;
	offset -= offsetof(struct vhca_asqe, req);
	for (const struct field_name *f = cmd_names[opcode].fields; f->name; f++)
		if (offset >= f->offset && offset - f->offset < f->size)
			return f->name;
	return NULL;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_cmd_field);
