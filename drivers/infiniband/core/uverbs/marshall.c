// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Conversion of addresses, QP attributes and paths from and to the structures of user space.
 */
#include <rdma/ib_marshall.h>
#include <rdma/opa_addr.h>

/* Copies a member that has the same name in both structures. */
#define SAME(to, from, member)	((to)->member = (from)->member)

/* An Omni-Path LID that does not fit 16 bits is encoded in a GID of the port's subnet. */
static void put_long_lid(struct ib_device *device, struct ib_uverbs_ah_attr *dst, u32 dlid)
{
	union ib_gid gid = { .global.interface_id = OPA_MAKE_ID(dlid) };
	struct ib_port_attr port;

	if (ib_query_port(device, dst->port_num, &port))
		return;
	gid.global.subnet_prefix = cpu_to_be64(port.subnet_prefix);
	memset(&dst->grh, 0, sizeof(dst->grh));
	memcpy(dst->grh.dgid, gid.raw, sizeof(dst->grh.dgid));
	dst->grh.hop_limit = 1;
	dst->is_global = 1;
}

/**
 * ib_copy_ah_attr_to_user() - convert an address vector for user space
 * @device: device
 * @dst: receives all members
 * @src: address vector
 *
 * Context: may sleep.
 */
void ib_copy_ah_attr_to_user(struct ib_device *device, struct ib_uverbs_ah_attr *dst,
			     struct rdma_ah_attr *src)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(src);
	u32 dlid = rdma_ah_get_dlid(src);

	memset(dst, 0, sizeof(*dst));
	dst->dlid = dlid;
	dst->sl = rdma_ah_get_sl(src);
	dst->src_path_bits = rdma_ah_get_path_bits(src);
	dst->static_rate = rdma_ah_get_static_rate(src);
	dst->port_num = rdma_ah_get_port_num(src);
	if (rdma_ah_get_ah_flags(src) & IB_AH_GRH) {
		dst->is_global = 1;
		memcpy(dst->grh.dgid, grh->dgid.raw, sizeof(dst->grh.dgid));
		SAME(&dst->grh, grh, flow_label);
		SAME(&dst->grh, grh, sgid_index);
		SAME(&dst->grh, grh, hop_limit);
		SAME(&dst->grh, grh, traffic_class);
	}
	if (src->type == RDMA_AH_ATTR_TYPE_OPA && dlid > be16_to_cpu(IB_LID_PERMISSIVE))
		put_long_lid(device, dst, dlid);
}
EXPORT_SYMBOL(ib_copy_ah_attr_to_user);

/**
 * ib_copy_qp_attr_to_user() - convert QP attributes for user space
 * @device: device
 * @dst: receives all members but qp_attr_mask
 * @src: attributes
 *
 * Context: may sleep.
 */
void ib_copy_qp_attr_to_user(struct ib_device *device, struct ib_uverbs_qp_attr *dst,
			     struct ib_qp_attr *src)
{
	SAME(dst, src, qp_state);
	SAME(dst, src, cur_qp_state);
	SAME(dst, src, path_mtu);
	SAME(dst, src, path_mig_state);
	SAME(dst, src, qkey);
	SAME(dst, src, rq_psn);
	SAME(dst, src, sq_psn);
	SAME(dst, src, dest_qp_num);
	SAME(dst, src, qp_access_flags);
	ib_copy_ah_attr_to_user(device, &dst->ah_attr, &src->ah_attr);
	ib_copy_ah_attr_to_user(device, &dst->alt_ah_attr, &src->alt_ah_attr);
	SAME(dst, &src->cap, max_send_wr);
	SAME(dst, &src->cap, max_recv_wr);
	SAME(dst, &src->cap, max_send_sge);
	SAME(dst, &src->cap, max_recv_sge);
	SAME(dst, &src->cap, max_inline_data);
	SAME(dst, src, pkey_index);
	SAME(dst, src, alt_pkey_index);
	SAME(dst, src, en_sqd_async_notify);
	SAME(dst, src, sq_draining);
	SAME(dst, src, max_rd_atomic);
	SAME(dst, src, max_dest_rd_atomic);
	SAME(dst, src, min_rnr_timer);
	SAME(dst, src, port_num);
	SAME(dst, src, timeout);
	SAME(dst, src, retry_cnt);
	SAME(dst, src, rnr_retry);
	SAME(dst, src, alt_port_num);
	SAME(dst, src, alt_timeout);
	memset(dst->reserved, 0, sizeof(dst->reserved));
}
EXPORT_SYMBOL(ib_copy_qp_attr_to_user);

/**
 * ib_copy_path_rec_to_user() - convert a path for user space
 * @dst: receives all members
 * @src: path; an Omni-Path one is converted to an InfiniBand one
 *
 * Context: any.
 */
void ib_copy_path_rec_to_user(struct ib_user_path_rec *dst, struct sa_path_rec *src)
{
	struct sa_path_rec ib = *src;

	sa_convert_path_opa_to_ib(&ib, src);
	memcpy(dst->dgid, ib.dgid.raw, sizeof(dst->dgid));
	memcpy(dst->sgid, ib.sgid.raw, sizeof(dst->sgid));
	dst->dlid = cpu_to_be16(be32_to_cpu(sa_path_get_dlid(&ib)));
	dst->slid = cpu_to_be16(be32_to_cpu(sa_path_get_slid(&ib)));
	dst->raw_traffic = sa_path_get_raw_traffic(&ib);
	SAME(dst, &ib, flow_label);
	SAME(dst, &ib, hop_limit);
	SAME(dst, &ib, traffic_class);
	SAME(dst, &ib, reversible);
	SAME(dst, &ib, numb_path);
	SAME(dst, &ib, pkey);
	SAME(dst, &ib, sl);
	SAME(dst, &ib, mtu_selector);
	SAME(dst, &ib, mtu);
	SAME(dst, &ib, rate_selector);
	SAME(dst, &ib, rate);
	SAME(dst, &ib, packet_life_time_selector);
	SAME(dst, &ib, packet_life_time);
	SAME(dst, &ib, preference);
}
EXPORT_SYMBOL(ib_copy_path_rec_to_user);

/**
 * ib_copy_path_rec_from_user() - convert a path from user space
 * @dst: receives the path, which is an Omni-Path one if its GIDs encode LIDs
 * @src: the user's
 *
 * Context: any.
 */
void ib_copy_path_rec_from_user(struct sa_path_rec *dst, struct ib_user_path_rec *src)
{
	u32 slid = be16_to_cpu(src->slid), dlid = be16_to_cpu(src->dlid);

	memset(dst, 0, sizeof(*dst));
	memcpy(dst->dgid.raw, src->dgid, sizeof(src->dgid));
	memcpy(dst->sgid.raw, src->sgid, sizeof(src->sgid));
	dst->rec_type = SA_PATH_REC_TYPE_IB;
	if (ib_is_opa_gid(&dst->sgid) || ib_is_opa_gid(&dst->dgid)) {
		dst->rec_type = SA_PATH_REC_TYPE_OPA;
		slid = opa_get_lid_from_gid(&dst->sgid);
		dlid = opa_get_lid_from_gid(&dst->dgid);
	}
	sa_path_set_slid(dst, slid);
	sa_path_set_dlid(dst, dlid);
	sa_path_set_raw_traffic(dst, src->raw_traffic);
	SAME(dst, src, flow_label);
	SAME(dst, src, hop_limit);
	SAME(dst, src, traffic_class);
	SAME(dst, src, reversible);
	SAME(dst, src, numb_path);
	SAME(dst, src, pkey);
	SAME(dst, src, sl);
	SAME(dst, src, mtu_selector);
	SAME(dst, src, mtu);
	SAME(dst, src, rate_selector);
	SAME(dst, src, rate);
	SAME(dst, src, packet_life_time_selector);
	SAME(dst, src, packet_life_time);
	SAME(dst, src, preference);
}
EXPORT_SYMBOL(ib_copy_path_rec_from_user);
