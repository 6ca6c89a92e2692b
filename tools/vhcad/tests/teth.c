// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdlib.h>
#include <string.h>

#include "tests/teth.h"

const u8 t_eth_mac[2][6] = { { 0x52, 0x54, 0, 0, 0, 1 }, { 0x52, 0x54, 0, 0, 0, 2 } };

const u8 t_eth_gid[2][T_ETH_GIDS][16] = {
	{ { [10] = 0xff, 0xff, 10, 77, 0, 1 }, { 0xfe, 0x80, [15] = 1 },
	  { [10] = 0xff, 0xff, 10, 77, 0, 1 } },
	{ { [10] = 0xff, 0xff, 10, 77, 0, 2 }, { 0xfe, 0x80, [15] = 2 },
	  { [10] = 0xff, 0xff, 10, 77, 0, 2 } },
};

u32 t_eth_set_gid(struct thca *h, u32 i, const u8 *mac, u16 vlan, const u8 *gid)
{
	struct vhca_set_gid_req req = {
		.port = 1, .type = VHCA_GID_ROCE_V2, .index = htole16(i), .vlan = htole16(vlan),
	};

	memcpy(req.mac, mac, sizeof(req.mac));
	memcpy(req.gid, gid, sizeof(req.gid));
	return t_admin(h, VHCA_CMD_SET_GID, &req, sizeof(req), NULL);
}

u32 t_eth_clear_gid(struct thca *h, u32 i)
{
	struct vhca_set_gid_req req = { .port = 1, .index = htole16(i) };

	return t_admin(h, VHCA_CMD_SET_GID, &req, sizeof(req), NULL);
}

u32 t_eth_port(struct thca *h, u8 flags, u8 mtu)
{
	struct vhca_modify_port_req req = { .port = 1, .flags = flags, .mtu = mtu };

	return t_admin(h, VHCA_CMD_MODIFY_PORT, &req, sizeof(req), NULL);
}

void t_eth_pair(struct tpair *p, bool strict)
{
	t_eth_pair_over(p, strict, NULL);
}

void t_eth_pair_over(struct tpair *p, bool strict, struct topo *t)
{
	static const char *const names[2] = { "t0", "t1" };
	struct vdev_config cfg = { .ports = 1, .vectors = 4 };

	memset(p, 0, sizeof(*p));
	t_world_init(&p->w);
	if (t)
		fabric_set_topology(p->w.fabric, t);
	for (u32 n = 0; n < 2; n++) {
		cfg.name = names[n];
		cfg.node_guid = 0x1000 * (n + 1);
		cfg.port[0].ethernet = true;
		cfg.port[0].strict = strict;
		memcpy(cfg.port[0].mac, t_eth_mac[n], 6);
		t_hca_init_cfg(&p->h[n], &p->w, &cfg);
		t_cq_init(&p->h[n], &p->cq[n], 7, 0);
		for (u32 i = 0; i < T_ETH_GIDS; i++)
			assert_int_equal(t_eth_set_gid(&p->h[n], i, t_eth_mac[n],
						       i == 2 ? T_ETH_VLAN : VHCA_NO_VLAN,
						       t_eth_gid[n][i]), VHCA_ST_OK);
		assert_int_equal(t_eth_port(&p->h[n], VHCA_PORT_ENABLE, 0), VHCA_ST_OK);
	}
}

void t_eth_segment(struct t_eth_segment *s, struct tpair *p, struct topo *t)
{
	s->place = tprog_place("ethernet");
	assert_int_equal(ether_new(s->place->path, NULL, &s->e), 0);
	t_eth_pair_over(p, false, t);
	assert_int_equal(fabric_set_ether(p->w.fabric, s->e), 0);
}

void t_eth_segment_end(struct t_eth_segment *s, struct tpair *p)
{
	ether_free(s->e);
	tprog_dir_end(s->place->dir, NULL);
	free(s->place);
	t_pair_fini(p);
}

struct vhca_av t_eth_av(u32 to, u32 i)
{
	struct vhca_av av = { .port = 1, .grh = 1, .sgid_index = i, .hop_limit = 64 };

	memcpy(av.dgid, t_eth_gid[to][i], sizeof(av.dgid));
	memcpy(av.dmac, t_eth_mac[to], sizeof(av.dmac));
	return av;
}

void t_eth_connect(struct tpair *p, u8 type, u32 i)
{
	struct vhca_qp_attr a;

	for (u32 n = 0; n < 2; n++) {
		p->h[n].qp_type = type;
		t_qp_init(&p->h[n], &p->qp[n], &p->cq[n], &p->cq[n]);
	}
	for (u32 n = 0; n < 2; n++) {
		t_attr_init(&a, 1);
		assert_int_equal(t_modify(&p->qp[n], &a, t_mask(type, T_INIT)), VHCA_ST_OK);
		t_attr_rtr(&a, 0, p->qp[!n].qpn, 0xfffff0, 3);
		a.av = t_eth_av(!n, i);
		assert_int_equal(t_modify(&p->qp[n], &a, t_mask(type, T_RTR)), VHCA_ST_OK);
		t_attr_rts(&a, 0xfffff0);
		assert_int_equal(t_modify(&p->qp[n], &a, t_mask(type, T_RTS)), VHCA_ST_OK);
	}
}

void t_eth_ud_up(struct tpair *p, u32 qkey)
{
	for (u32 n = 0; n < 2; n++) {
		p->h[n].qp_type = VHCA_QPT_UD;
		t_qp_init(&p->h[n], &p->qp[n], &p->cq[n], &p->cq[n]);
		t_ud_up(&p->qp[n], qkey);
	}
}
