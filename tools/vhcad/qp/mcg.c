// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Multicast groups of a device: which QPs receive what is sent to a group.
 *
 * A group is a GID together with the LID its packets are addressed to, which is 0 on Ethernet.  All
 * ports of the device join that LID, as a QP may be attached before it has a
 * port and may get another one later.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "fabric/eth.h"
#include "lib/hash.h"
#include "qp/mcg.h"
#include "qp/path.h"
#include "qp/ud.h"
#include "res/command.h"

/* The destination QP number of every multicast packet. */
#define MCAST_QPN	0xffffffu

int mcg_init(struct vhca_dev *dev)
{
	struct vmcgs *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	/* a guest must not be able to choose groups that fall into one bucket */
	memcpy(m->seed, (const void *)getauxval(AT_RANDOM), sizeof(m->seed));
	table_init(&m->table, 0, dev->limit[VLIM_MCGS], dev->limit[VLIM_MCGS]);
	dev->mcgs = m;
	return 0;
}

void mcg_fini(struct vhca_dev *dev)
{
	if (!dev->mcgs)
		return;
	table_fini(&dev->mcgs->table);
	free(dev->mcgs);
}

static struct vmcg **bucket(struct vmcgs *m, const u8 *mgid, u16 mlid)
{
	u64 sum = hash_seeded(hash_seeded(get_be64(mgid) ^ mlid, m->seed[0]) ^
			      get_be64(mgid + 8), m->seed[1]);

	return &m->bucket[sum >> 32 & (VMCG_BUCKETS - 1)];
}

/* Returns where the pointer to a group is, or where it would be. */
static struct vmcg **find(struct vmcgs *m, const u8 *mgid, u16 mlid)
{
	struct vmcg **g = bucket(m, mgid, mlid);

	while (*g && ((*g)->mlid != mlid || memcmp((*g)->mgid, mgid, sizeof((*g)->mgid))))
		g = &(*g)->next;
	return g;
}

static struct vmcg_qp *find_qp(struct vmcg *g, const struct vqp *qp)
{
	if (!g)
		return NULL;
	list_for_each_safe(l, &g->qps) {
		struct vmcg_qp *a = container_of(l, struct vmcg_qp, in_group);

		if (a->qp == qp)
			return a;
	}
	return NULL;
}

static void leave(struct vhca_dev *dev, u32 nports, u16 mlid)
{
	while (nports--)
		fab_mc_leave(&dev->port[nports].fab, mlid);
}

/* Makes a group, which all ports join. */
static enum vhca_status make_group(struct command *c, struct vmcg **out)
{
	const struct vhca_mcg_req *req = command_req(c);
	struct vhca_dev *dev = c->dev;
	struct vmcg *g = calloc(1, sizeof(*g));
	int err = 0;
	u32 i;

	if (!g)
		return VHCA_ST_INTERNAL;
	memcpy(g->mgid, req->mgid, sizeof(g->mgid));
	g->mlid = le16toh(req->mlid);
	INIT_LIST_HEAD(&g->qps);
	for (i = 0; !err && i < dev->nports; i++)
		err = fab_mc_join(&dev->port[i].fab, g->mlid);
	if (err) {
		i--;
		goto leave;
	}
	err = table_add(&dev->mcgs->table, g, 0, &g->number);
	if (err)
		goto leave;
	*out = g;
	return VHCA_ST_OK;
leave:
	leave(dev, i, g->mlid);
	free(g);
	if (err != -EDQUOT)
		return VHCA_ST_INTERNAL;
	SET_FIELD(c, vhca_mcg_req, mgid);
	command_limited(c, VLIM_MCGS);
	return VHCA_ST_NO_RESOURCE;
}

static void drop_group(struct vhca_dev *dev, struct vmcg *g)
{
	*find(dev->mcgs, g->mgid, g->mlid) = g->next;
	table_del(&dev->mcgs->table, g->number, 0);
	leave(dev, dev->nports, g->mlid);
	free(g);
}

static void detach(struct vmcg_qp *a)
{
	struct vmcg *g = a->group;

	if (g->paused == a)
		g->paused = NULL;
	list_del_init(&a->in_group);
	list_del_init(&a->in_qp);
	a->qp->dev->mcgs->attached--;
	if (!--g->nqps)
		drop_group(a->qp->dev, g);
	free(a);
}

u32 mcg_detach(struct vqp *qp, u32 most)
{
	struct list_head *l;

	for (; most && (l = list_pop(&qp->mcgs)); most--)
		detach(container_of(l, struct vmcg_qp, in_qp));
	return most;
}

/* Returns the first QP of a group that has not got the datagram yet. */
static struct list_head *go_on(const struct vmcg *g, const struct datagram *d)
{
	struct list_head *l = g->qps.next;

	if (g->paused && g->paused->number <= d->at)
		l = &g->paused->in_group;
	while (l != &g->qps && container_of(l, struct vmcg_qp, in_group)->number < d->at)
		l = l->next;
	return l;
}

/* Has a packet that a port receives one of the port's own addresses as source? */
static bool is_own(const struct vport *p, const struct run *run)
{
	if (!p->fab.eth)
		return port_has_lid(&p->fab.ib, run->h.slid);
	for (u32 i = 0; i < ETH_GIDS; i++)
		if (p->fab.eth->gid[i].valid &&
		    !memcmp(p->fab.eth->gid[i].addr.gid, run->h.sgid, sizeof(run->h.sgid)))
			return true;
	return false;
}

/* Does the QP receive this?  Not at another port, nor, if it blocks loopback, what it has sent. */
static bool hears(const struct vqp *qp, const struct vport *p, const struct run *run)
{
	return qp->port == p &&
	       !(qp->flags & VHCA_QP_NO_MC_LOOP && run->h.sqpn == qp->qpn && is_own(p, run));
}

static void to_group(struct vport *p, struct vmcg *g, struct datagram *d)
{
	struct vhca_cqe cqe = ud_completion(p, d->run);
	bool first = true, long_copy = d->run->len > RUN_TOGETHER;
	struct worker *w = p->dev->adapter.worker;

	for (struct list_head *l = go_on(g, d), *next; l != &g->qps; l = next) {
		struct vmcg_qp *a = container_of(l, struct vmcg_qp, in_group);

		next = l->next;
		if (!hears(a->qp, p, d->run))
			continue;
		if (d->bytes && (long_copy ? cost_over(w) : cost_late(w)))
			*d->bytes = 0;
		if (!first && datagram_pause(d, a->number)) {
			g->paused = a;
			return;
		}
		first = false;
		qp_follow_port(a->qp);
		ud_rx(a->qp, d, &cqe);
		datagram_copied(d);
		if (d->run->pl && d->run->pl->fault)
			return;
	}
}

void mcg_rx(struct vport *p, struct datagram *d)
{
	const struct run *run = d->run;
	struct vmcg *g;

	d->more = false;
	if (run->service != WIRE_UD || !run->h.grh || run->h.dqpn != MCAST_QPN) {
		p->count.rx_no_qp += run->npkts;
		return;
	}
	g = *find(p->dev->mcgs, run->h.dgid, run->h.dlid);
	if (g)
		to_group(p, g, d);
}

/* Groups of Ethernet have no LID, and the QP may not have its port yet. */
static bool has_ethernet(const struct vhca_dev *dev)
{
	for (u32 i = 0; i < dev->nports; i++)
		if (dev->port[i].fab.eth)
			return true;
	return false;
}

/* Checks what both commands have in common. */
static enum vhca_status check(struct command *c, struct vqp **qp)
{
	const struct vhca_mcg_req *req = command_req(c);
	u16 mlid = le16toh(req->mlid);

	if (!(c->dev->caps >> VHCA_CAP_MCAST & 1)) {
		c->bad_field = offsetof(struct vhca_asqe, opcode);
		return VHCA_ST_UNSUPPORTED;
	}
	*qp = qp_find(c->dev, le32toh(req->qpn));
	if (!*qp)
		return BAD_HANDLE(c, vhca_mcg_req, qpn);
	if ((*qp)->type != VHCA_QPT_UD)
		return BAD_FIELD(c, vhca_mcg_req, qpn);
	if (!(mlid ? req->mgid[0] == 0xff : gid_is_mcast(req->mgid)))
		return BAD_FIELD(c, vhca_mcg_req, mgid);
	if (!(mlid ? lid_is_mcast(mlid) : has_ethernet(c->dev)))
		return BAD_FIELD(c, vhca_mcg_req, mlid);
	return VHCA_ST_OK;
}

enum vhca_status cmd_attach_mcg(struct command *c)
{
	const struct vhca_mcg_req *req = command_req(c);
	u16 mlid = le16toh(req->mlid);
	struct vmcg **slot, *g;
	struct vmcg_qp *a;
	enum vhca_status st;
	struct vqp *qp;

	if (!command_alone(c))
		return VHCA_ST_OK;
	st = check(c, &qp);
	if (st)
		return st;
	slot = find(c->dev->mcgs, req->mgid, mlid);
	g = *slot;
	if (find_qp(g, qp))
		return VHCA_ST_OK;
	if (g && g->nqps == c->dev->limit[VLIM_MCG_QPS]) {
		SET_FIELD(c, vhca_mcg_req, qpn);
		return command_limited(c, VLIM_MCG_QPS);
	}
	if (c->dev->mcgs->attached == c->dev->limit[VLIM_ATTACHED]) {
		SET_FIELD(c, vhca_mcg_req, mlid);
		return command_limited(c, VLIM_ATTACHED);
	}
	a = malloc(sizeof(*a));
	if (!a)
		return VHCA_ST_INTERNAL;
	if (!g) {
		st = make_group(c, &g);
		if (st) {
			free(a);
			return st;
		}
		*slot = g;
	}
	a->number = ++c->dev->mcgs->last_number;
	a->group = g;
	a->qp = qp;
	INIT_LIST_HEAD(&a->in_group);
	INIT_LIST_HEAD(&a->in_qp);
	list_add_tail(&a->in_group, &g->qps);
	list_add_tail(&a->in_qp, &qp->mcgs);
	g->nqps++;
	c->dev->mcgs->attached++;
	return VHCA_ST_OK;
}

enum vhca_status cmd_detach_mcg(struct command *c)
{
	const struct vhca_mcg_req *req = command_req(c);
	struct vmcg_qp *a;
	enum vhca_status st;
	struct vqp *qp;

	if (!command_alone(c))
		return VHCA_ST_OK;
	st = check(c, &qp);
	if (st)
		return st;
	a = find_qp(*find(c->dev->mcgs, req->mgid, le16toh(req->mlid)), qp);
	if (!a)
		return BAD_HANDLE(c, vhca_mcg_req, mgid);
	detach(a);
	return VHCA_ST_OK;
}
