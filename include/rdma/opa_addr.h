/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Omni-Path LIDs of 32 bits, encoded in GIDs.
 */
#ifndef OPA_ADDR_H
#define OPA_ADDR_H

#include <rdma/opa_smi.h>

#define	OPA_SPECIAL_OUI		(0x00066AULL)
#define OPA_MAKE_ID(x)          (cpu_to_be64(OPA_SPECIAL_OUI << 40 | (x)))
#define OPA_TO_IB_UCAST_LID(x) (((x) >= be16_to_cpu(IB_MULTICAST_LID_BASE)) \
				? 0 : x)
#define OPA_GID_INDEX		0x1
#define OPA_MCAST_NR 0x4
#define OPA_COLLECTIVE_NR 0x1

/* First LID above the 16-bit unicast LIDs. */
#define OPA_IB_UCAST_LID_END	be16_to_cpu(IB_MULTICAST_LID_BASE)

/* Does the GID encode a LID? */
static inline bool ib_is_opa_gid(const union ib_gid *gid)
{
	u64 id = be64_to_cpu(gid->global.interface_id);

	return id >> 40 == OPA_SPECIAL_OUI;
}

static inline u32 opa_get_lid_from_gid(const union ib_gid *gid)
{
	return lower_32_bits(be64_to_cpu(gid->global.interface_id));
}

/* Is either of the two above the 16-bit unicast LIDs? */
static inline bool opa_is_extended_lid(__be32 dlid, __be32 slid)
{
	u32 larger = max(be32_to_cpu(dlid), be32_to_cpu(slid));

	return larger >= OPA_IB_UCAST_LID_END;
}

/* First multicast LID, if multicast LIDs have this number of leading ones. */
static inline u32 opa_get_mcast_base(u32 nr_top_bits)
{
	return U32_MAX << (32 - nr_top_bits);
}

/* Is the destination LID a unicast LID? True for address vectors without LIDs. */
static inline bool rdma_is_valid_unicast_lid(struct rdma_ah_attr *attr)
{
	u32 dlid = rdma_ah_get_dlid(attr), end;

	switch (attr->type) {
	case RDMA_AH_ATTR_TYPE_IB:
		end = OPA_IB_UCAST_LID_END;
		break;
	case RDMA_AH_ATTR_TYPE_OPA:
		end = opa_get_mcast_base(OPA_MCAST_NR);
		break;
	default:
		return true;
	}
	return dlid != 0 && dlid < end;
}

#endif /* OPA_ADDR_H */
