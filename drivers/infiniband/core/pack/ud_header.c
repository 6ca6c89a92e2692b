// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Headers of UD packets, for drivers that build those of management packets themselves.
 */
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/string.h>
#include <net/ip.h>
#include <rdma/ib_pack.h>
#include <rdma/rdma_reject.h>

/* Next header of a GRH before a BTH. */
#define NEXT_IS_BTH	0x1b

#define FIELD(header, member, words, bits, size) {					\
	.struct_offset_bytes = offsetof(struct ib_unpacked_##header, member),		\
	.struct_size_bytes = sizeof_field(struct ib_unpacked_##header, member),		\
	.offset_words = (words), .offset_bits = (bits), .size_bits = (size),		\
	.field_name = #header ":" #member,						\
}

#define NOTHING(words, bits, size) {							\
	.offset_words = (words), .offset_bits = (bits), .size_bits = (size), RESERVED,	\
}

static const struct ib_field lrh_fields[] = {
	FIELD(lrh, virtual_lane, 0, 0, 4),
	FIELD(lrh, link_version, 0, 4, 4),
	FIELD(lrh, service_level, 0, 8, 4),
	NOTHING(0, 12, 2),
	FIELD(lrh, link_next_header, 0, 14, 2),
	FIELD(lrh, destination_lid, 0, 16, 16),
	NOTHING(1, 0, 5),
	FIELD(lrh, packet_length, 1, 5, 11),
	FIELD(lrh, source_lid, 1, 16, 16),
};

static const struct ib_field eth_fields[] = {
	FIELD(eth, dmac_h, 0, 0, 32),
	FIELD(eth, dmac_l, 1, 0, 16),
	FIELD(eth, smac_h, 1, 16, 16),
	FIELD(eth, smac_l, 2, 0, 32),
	FIELD(eth, type, 3, 0, 16),
};

static const struct ib_field vlan_fields[] = {
	FIELD(vlan, tag, 0, 0, 16),
	FIELD(vlan, type, 0, 16, 16),
};

static const struct ib_field grh_fields[] = {
	FIELD(grh, ip_version, 0, 0, 4),
	FIELD(grh, traffic_class, 0, 4, 8),
	FIELD(grh, flow_label, 0, 12, 20),
	FIELD(grh, payload_length, 1, 0, 16),
	FIELD(grh, next_header, 1, 16, 8),
	FIELD(grh, hop_limit, 1, 24, 8),
	FIELD(grh, source_gid, 2, 0, 128),
	FIELD(grh, destination_gid, 6, 0, 128),
};

static const struct ib_field ip4_fields[] = {
	FIELD(ip4, ver, 0, 0, 4),
	FIELD(ip4, hdr_len, 0, 4, 4),
	FIELD(ip4, tos, 0, 8, 8),
	FIELD(ip4, tot_len, 0, 16, 16),
	FIELD(ip4, id, 1, 0, 16),
	FIELD(ip4, frag_off, 1, 16, 16),
	FIELD(ip4, ttl, 2, 0, 8),
	FIELD(ip4, protocol, 2, 8, 8),
	FIELD(ip4, check, 2, 16, 16),
	FIELD(ip4, saddr, 3, 0, 32),
	FIELD(ip4, daddr, 4, 0, 32),
};

static const struct ib_field udp_fields[] = {
	FIELD(udp, sport, 0, 0, 16),
	FIELD(udp, dport, 0, 16, 16),
	FIELD(udp, length, 1, 0, 16),
	FIELD(udp, csum, 1, 16, 16),
};

static const struct ib_field bth_fields[] = {
	FIELD(bth, opcode, 0, 0, 8),
	FIELD(bth, solicited_event, 0, 8, 1),
	FIELD(bth, mig_req, 0, 9, 1),
	FIELD(bth, pad_count, 0, 10, 2),
	FIELD(bth, transport_header_version, 0, 12, 4),
	FIELD(bth, pkey, 0, 16, 16),
	NOTHING(1, 0, 8),
	FIELD(bth, destination_qpn, 1, 8, 24),
	FIELD(bth, ack_req, 2, 0, 1),
	NOTHING(2, 1, 7),
	FIELD(bth, psn, 2, 8, 24),
};

static const struct ib_field deth_fields[] = {
	FIELD(deth, qkey, 0, 0, 32),
	NOTHING(1, 0, 8),
	FIELD(deth, source_qpn, 1, 8, 24),
};

/* Bytes after the network headers that lengths include: BTH, DETH, payload, ICRC. */
static unsigned int ud_rest(unsigned int payload_bytes)
{
	return IB_BTH_BYTES + IB_DETH_BYTES + payload_bytes + IB_ICRC_BYTES;
}

static void ud_init_lrh(struct ib_unpacked_lrh *lrh, bool grh, unsigned int payload_bytes)
{
	unsigned int bytes = IB_LRH_BYTES + (grh ? IB_GRH_BYTES : 0) + ud_rest(payload_bytes);

	lrh->link_next_header = grh ? IB_LNH_IBA_GLOBAL : IB_LNH_IBA_LOCAL;
	lrh->packet_length = cpu_to_be16(DIV_ROUND_UP(bytes, 4));
}

/**
 * ib_ud_header_init() - initialise the headers of a UD packet
 * @payload_bytes: bytes of the message
 * @lrh_present: the packet has an LRH
 * @eth_present: it has an Ethernet header
 * @vlan_present: it has a VLAN tag
 * @grh_present: it has a GRH; ignored if there is an IP version
 * @ip_version: 4, 6, or 0 for none
 * @udp_present: it has a UDP header, after an IP header
 * @immediate_present: it has immediate data
 * @header: the headers: lengths, versions, next headers and opcode are set, all else is 0
 *
 * Context: any.
 * Return: 0; -EINVAL for UDP without IP.
 */
int ib_ud_header_init(int payload_bytes, int lrh_present, int eth_present, int vlan_present,
		      int grh_present, int ip_version, int udp_present, int immediate_present,
		      struct ib_ud_header *header)
{
	unsigned int udp_bytes = udp_present ? IB_UDP_BYTES : 0;
	bool own_grh = grh_present && !ip_version;

	memset(header, 0, sizeof(*header));
	if (udp_present && ip_version != 4 && ip_version != 6)
		return rdma_refuse(-EINVAL, "UDP on IP version %d", ip_version);

	header->lrh_present = lrh_present;
	header->eth_present = eth_present;
	header->vlan_present = vlan_present;
	header->grh_present = own_grh || ip_version == 6;
	header->ipv4_present = ip_version == 4;
	header->udp_present = udp_present;
	header->immediate_present = immediate_present;

	if (lrh_present)
		ud_init_lrh(&header->lrh, own_grh, payload_bytes);
	if (vlan_present)
		header->eth.type = cpu_to_be16(ETH_P_8021Q);
	if (header->grh_present) {
		header->grh.ip_version = 6;
		header->grh.payload_length =
			cpu_to_be16(ALIGN(udp_bytes + ud_rest(payload_bytes), 4));
		header->grh.next_header = udp_present ? IPPROTO_UDP : NEXT_IS_BTH;
	}
	if (header->ipv4_present) {
		header->ip4.ver = 4;
		header->ip4.hdr_len = IB_IP4_BYTES / 4;
		header->ip4.tot_len =
			cpu_to_be16(IB_IP4_BYTES + udp_bytes + ud_rest(payload_bytes));
		header->ip4.protocol = IPPROTO_UDP;
	}
	if (udp_present)
		header->udp.length = cpu_to_be16(IB_UDP_BYTES + ud_rest(payload_bytes));
	header->bth.opcode = immediate_present ? IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE :
						 IB_OPCODE_UD_SEND_ONLY;
	header->bth.pad_count = -payload_bytes & 3;
	return 0;
}
EXPORT_SYMBOL(ib_ud_header_init);

/**
 * ib_ud_ip4_csum() - compute the checksum of an IPv4 header without options
 * @header: headers; all of ip4 except its checksum is used
 *
 * Context: any.
 * Return: the value for ip4.check.
 */
__sum16 ib_ud_ip4_csum(struct ib_ud_header *header)
{
	struct iphdr ip = {};

	ib_pack(ip4_fields, ARRAY_SIZE(ip4_fields), &header->ip4, &ip);
	ip.ihl = sizeof(ip) / 4;
	ip.check = 0;
	return ip_fast_csum((u8 *)&ip, ip.ihl);
}
EXPORT_SYMBOL(ib_ud_ip4_csum);

/**
 * ib_ud_header_pack() - write the headers of a UD packet
 * @header: the headers; those that are not present are left out
 * @buf: receives them, in the order of the packet
 *
 * Context: any.
 * Return: bytes written.
 */
int ib_ud_header_pack(struct ib_ud_header *header, void *buf)
{
	const struct {
		const struct ib_field *fields;
		int n;
		void *structure;
		int present;
		int bytes;
	} parts[] = {
		{ lrh_fields, ARRAY_SIZE(lrh_fields), &header->lrh,
		  header->lrh_present, IB_LRH_BYTES },
		{ eth_fields, ARRAY_SIZE(eth_fields), &header->eth,
		  header->eth_present, IB_ETH_BYTES },
		{ vlan_fields, ARRAY_SIZE(vlan_fields), &header->vlan,
		  header->vlan_present, IB_VLAN_BYTES },
		{ grh_fields, ARRAY_SIZE(grh_fields), &header->grh,
		  header->grh_present, IB_GRH_BYTES },
		{ ip4_fields, ARRAY_SIZE(ip4_fields), &header->ip4,
		  header->ipv4_present, IB_IP4_BYTES },
		{ udp_fields, ARRAY_SIZE(udp_fields), &header->udp,
		  header->udp_present, IB_UDP_BYTES },
		{ bth_fields, ARRAY_SIZE(bth_fields), &header->bth,
		  1, IB_BTH_BYTES },
		{ deth_fields, ARRAY_SIZE(deth_fields), &header->deth,
		  1, IB_DETH_BYTES },
	};
	int len = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(parts); i++) {
		if (!parts[i].present)
			continue;
		ib_pack(parts[i].fields, parts[i].n, parts[i].structure, buf + len);
		len += parts[i].bytes;
	}
	if (header->immediate_present) {
		memcpy(buf + len, &header->immediate_data, sizeof(header->immediate_data));
		len += sizeof(header->immediate_data);
	}
	return len;
}
EXPORT_SYMBOL(ib_ud_header_pack);

static int ud_unpack_grh(void *buf, struct ib_ud_header *header)
{
	ib_unpack(grh_fields, ARRAY_SIZE(grh_fields), buf, &header->grh);
	if (header->grh.ip_version != 6)
		return rdma_refuse(-EINVAL, "GRH: IP version %u", header->grh.ip_version);
	if (header->grh.next_header != NEXT_IS_BTH)
		return rdma_refuse(-EINVAL, "GRH: next header %#x", header->grh.next_header);
	return 0;
}

/**
 * ib_ud_header_unpack() - read the headers of a UD packet on InfiniBand
 * @buf: packet, from its LRH on; as long as its headers
 * @header: receives the headers
 *
 * Context: any.
 * Return: 0; -EINVAL if it is no UD packet.
 */
int ib_ud_header_unpack(void *buf, struct ib_ud_header *header)
{
	int ret;

	memset(header, 0, sizeof(*header));
	header->lrh_present = 1;
	ib_unpack(lrh_fields, ARRAY_SIZE(lrh_fields), buf, &header->lrh);
	buf += IB_LRH_BYTES;
	if (header->lrh.link_version)
		return rdma_refuse(-EINVAL, "LRH: link version %u", header->lrh.link_version);
	switch (header->lrh.link_next_header) {
	case IB_LNH_IBA_LOCAL:
		break;
	case IB_LNH_IBA_GLOBAL:
		header->grh_present = 1;
		ret = ud_unpack_grh(buf, header);
		if (ret)
			return ret;
		buf += IB_GRH_BYTES;
		break;
	default:
		return rdma_refuse(-EINVAL, "LRH: next header %u", header->lrh.link_next_header);
	}

	ib_unpack(bth_fields, ARRAY_SIZE(bth_fields), buf, &header->bth);
	buf += IB_BTH_BYTES;
	if (header->bth.opcode != IB_OPCODE_UD_SEND_ONLY &&
	    header->bth.opcode != IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE)
		return rdma_refuse(-EINVAL, "BTH: opcode %#x", header->bth.opcode);
	if (header->bth.transport_header_version)
		return rdma_refuse(-EINVAL, "BTH: version %u",
				   header->bth.transport_header_version);
	ib_unpack(deth_fields, ARRAY_SIZE(deth_fields), buf, &header->deth);
	buf += IB_DETH_BYTES;
	if (header->bth.opcode == IB_OPCODE_UD_SEND_ONLY_WITH_IMMEDIATE) {
		header->immediate_present = 1;
		memcpy(&header->immediate_data, buf, sizeof(header->immediate_data));
	}
	return 0;
}
EXPORT_SYMBOL(ib_ud_header_unpack);
