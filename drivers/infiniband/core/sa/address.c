// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Address vectors from path records, and checks of requests that cannot be served.
 */
#include <linux/string.h>
#include <rdma/ib_cache.h>
#include <rdma/rdma_reject.h>

#include "../addr/addr.h"
#include "sa_priv.h"

/* Omni-Path has management datagrams of 2 KiB and records of its own. Returns 0 or an error. */
int sa_refuse_opa(struct ib_device *device, u32 port_num)
{
	if (rdma_is_port_valid(device, port_num) && rdma_cap_opa_ah(device, port_num))
		return rdma_refuse(-EOPNOTSUPP, "port %u is an Omni-Path port", port_num);
	return 0;
}

/* The same as sa_refuse_opa(), and refuses a path record of Omni-Path on any port. */
int sa_refuse_opa_path(struct ib_device *device, u32 port_num, const struct sa_path_rec *rec)
{
	if (rec->rec_type == SA_PATH_REC_TYPE_OPA)
		return rdma_refuse(-EOPNOTSUPP, "port %u is asked for an Omni-Path path",
				   port_num);
	return sa_refuse_opa(device, port_num);
}

/*
 * Checks the method of a request for a record that can be read, set and deleted. Returns 0 or
 * -EINVAL.
 */
int sa_check_method(u8 method)
{
	if (method == IB_MGMT_METHOD_GET || method == IB_MGMT_METHOD_SET ||
	    method == IB_SA_METHOD_DELETE)
		return 0;
	return rdma_refuse(-EINVAL, "method %u is not Get, Set or Delete", method);
}

/* The low bits of @slid by which one of the port's LIDs is selected */
static u8 path_bits_of(struct ib_device *device, u32 port_num, u32 slid)
{
	u8 lmc;

	if (ib_get_cached_lmc(device, port_num, &lmc))
		return 0;
	return slid & (BIT(lmc) - 1);
}

static int set_grh(struct ib_device *device, u32 port_num, struct sa_path_rec *rec,
		   struct rdma_ah_attr *attr, const struct ib_gid_attr *sgid_attr)
{
	if (sgid_attr) {
		rdma_hold_gid_attr(sgid_attr);
	} else {
		sgid_attr = rdma_find_gid_by_port(device, &rec->sgid,
						  sa_conv_pathrec_to_gid_type(rec), port_num,
						  NULL);
		if (IS_ERR(sgid_attr))
			return PTR_ERR(sgid_attr);
	}
	rdma_move_grh_sgid_attr(attr, &rec->dgid, be32_to_cpu(rec->flow_label), rec->hop_limit,
				rec->traffic_class, sgid_attr);
	return 0;
}

/**
 * sa_ah_attr_init() - initialise an address vector with what paths and multicast groups have in
 * common
 * @device: device
 * @port_num: port that sends
 * @sl: service level
 * @rate: enum ib_rate
 * @attr: receives these values; all other members are zeroed
 */
void sa_ah_attr_init(struct ib_device *device, u32 port_num, u8 sl, u8 rate,
		     struct rdma_ah_attr *attr)
{
	*attr = (struct rdma_ah_attr) {
		.type = rdma_ah_find_type(device, port_num),
		.sl = sl,
		.static_rate = rate,
		.port_num = port_num,
	};
}

/**
 * ib_init_ah_attr_from_path() - address vector of a path
 * @device: device
 * @port_num: port that sends
 * @rec: the path; for a path over Ethernet the peer's Ethernet address is resolved and stored in
 *	it, unless that has been done, and it is marked as resolved
 * @ah_attr: receives the address vector; with a GRH it holds a reference to the source GID, so
 *	release it by rdma_destroy_ah_attr()
 * @sgid_attr: source GID to use, on which the caller keeps its own reference; NULL to look up that
 *	of @rec
 *
 * Context: any; may sleep for a path over Ethernet that is not marked as resolved.
 * Return: 0; -ENOENT if the port's table does not have the source GID; for a path over Ethernet
 * whose route has not been resolved, -EINVAL without @sgid_attr, and the error of looking for a
 * route.
 */
int ib_init_ah_attr_from_path(struct ib_device *device, u32 port_num, struct sa_path_rec *rec,
			      struct rdma_ah_attr *ah_attr, const struct ib_gid_attr *sgid_attr)
{
	int ret;

	sa_ah_attr_init(device, port_num, rec->sl, rec->rate, ah_attr);
	if (sa_path_is_roce(rec)) {
		ret = addr_resolve_path_route(rec, sgid_attr);
		if (ret)
			return ret;
		memcpy(ah_attr->roce.dmac, sa_path_get_dmac(rec), ETH_ALEN);
		return set_grh(device, port_num, rec, ah_attr, sgid_attr);
	}
	rdma_ah_set_dlid(ah_attr, be32_to_cpu(sa_path_get_dlid(rec)));
	if (sa_path_is_opa(rec) &&
	    rdma_ah_get_dlid(ah_attr) == be16_to_cpu(IB_LID_PERMISSIVE))
		rdma_ah_set_make_grd(ah_attr, true);
	rdma_ah_set_path_bits(ah_attr, path_bits_of(device, port_num,
						    be32_to_cpu(sa_path_get_slid(rec))));
	return rec->hop_limit ? set_grh(device, port_num, rec, ah_attr, sgid_attr) : 0;
}
EXPORT_SYMBOL(ib_init_ah_attr_from_path);
