// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A device's life: made, enabled by a driver, reset, freed; and its registers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dev/cmd.h"
#include "engine/core.h"
#include "engine/rc.h"
#include "lib/log.h"

#define DEFAULT_KICK_PAGES	1024u
#define MTU_4096		5u
#define DEFAULT_NODE_DESC	"vhca"

#define OWN_CAPS ( \
	1ull << VHCA_CAP_RC | \
	1ull << VHCA_CAP_RNR_NAK | \
	1ull << VHCA_CAP_CLOCK | \
	1ull << VHCA_CAP_SRQ | \
	1ull << VHCA_CAP_CQ_RESIZE | \
	1ull << VHCA_CAP_CQ_MODERATION | \
	1ull << VHCA_CAP_UC | \
	1ull << VHCA_CAP_UD | \
	1ull << VHCA_CAP_MCAST | \
	1ull << VHCA_CAP_COUNTERS | \
	1ull << VHCA_CAP_ATOMIC | \
	1ull << VHCA_CAP_MASKED_ATOMIC | \
	1ull << VHCA_CAP_ATOMIC_WRITE | \
	1ull << VHCA_CAP_FLUSH | \
	1ull << VHCA_CAP_FAST_REG | \
	1ull << VHCA_CAP_SG_GAPS | \
	1ull << VHCA_CAP_MW | \
	1ull << VHCA_CAP_MW_2A | \
	1ull << VHCA_CAP_MW_2B | \
	1ull << VHCA_CAP_FMR | \
	1ull << VHCA_CAP_XRC | \
	1ull << VHCA_CAP_UC_FAST_REG | \
	1ull << VHCA_CAP_APM | \
	1ull << VHCA_CAP_CLOCK_QUERY | \
	1ull << VHCA_CAP_QP_COUNTERS)

/* ------------------------------------------------------------------------
 * Tables
 */
static void init_tables(struct vhca_dev *dev)
{
	const u32 *l = dev->limit;

	/* key 0 is what programs take for no key, counter 0 means none */
	table_init(&dev->uars, 0, l[VLIM_UARS], l[VLIM_UARS]);
	table_init(&dev->eqs, 0, l[VLIM_EQS], l[VLIM_EQS]);
	table_init(&dev->pds, 0, l[VLIM_PDS], l[VLIM_PDS]);
	table_init(&dev->xrcds, 0, l[VLIM_XRCDS], l[VLIM_XRCDS]);
	table_init(&dev->mkeys, 1, l[VLIM_MKEYS] + 1, l[VLIM_MKEYS]);
	table_init(&dev->counters, 1, l[VLIM_COUNTERS] + 1, l[VLIM_COUNTERS]);
	table_init(&dev->cqs, 0, l[VLIM_CQS], l[VLIM_CQS]);
	table_init(&dev->srqs, 0, l[VLIM_SRQS], l[VLIM_SRQS]);
	table_init(&dev->qps, QPN_FIRST_SLOT, VDEV_QP_NUMBERS, l[VLIM_QPS]);
	uar_init(dev);
	mcg_init(dev);
}

static void free_tables(struct vhca_dev *dev)
{
	table_fini(&dev->uars);
	table_fini(&dev->eqs);
	table_fini(&dev->pds);
	table_fini(&dev->xrcds);
	table_fini(&dev->mkeys);
	table_fini(&dev->cqs);
	table_fini(&dev->srqs);
	table_fini(&dev->counters);
	table_fini(&dev->qps);
	table_fini(&dev->mcgs.table);
	free(dev->db_pages.bucket);
}

static bool drop_qp(struct vhca_dev *dev, void *obj)
{
	if (!qp_let_go(obj))
		return false;
	qp_destroy(obj);
	return true;
}

static bool drop_srq(struct vhca_dev *dev, void *obj)
{
	srq_destroy(obj);
	return true;
}

static bool drop_cq(struct vhca_dev *dev, void *obj)
{
	cq_destroy(obj);
	return true;
}

static bool drop_eq(struct vhca_dev *dev, void *obj)
{
	eq_destroy(obj);
	return true;
}

static bool unbind_mkey(struct vhca_dev *dev, void *obj)
{
	mkey_unbind(obj);
	return true;
}

static bool drop_mkey(struct vhca_dev *dev, void *obj)
{
	mkey_destroy(dev, obj);
	return true;
}

static bool drop_uar(struct vhca_dev *dev, void *obj)
{
	uar_destroy(dev, obj);
	return true;
}

static bool drop_pd(struct vhca_dev *dev, void *obj)
{
	struct vpd *pd = obj;

	table_del(&dev->pds, pd->pdn, 0);
	free(pd);
	return true;
}

static bool drop_xrcd(struct vhca_dev *dev, void *obj)
{
	xrcd_destroy(obj);
	return true;
}

static bool drop_counter(struct vhca_dev *dev, void *obj)
{
	counter_destroy(dev, obj);
	return true;
}

/* Objects that go in one stretch; others wait for the engine's lock meanwhile. */
#define DROP_AT_ONCE	32u
/* What is only looked at, and not there, costs less. */
#define LOOK_AT_ONCE	1024u

/*
 * Drops every object, users before what they use, some at a time.  The device is not live, so
 * that nobody comes upon those that are still there.
 */
static void drop_objects(struct vhca_dev *dev)
{
	const struct {
		struct table *table;
		/* false: it was too much at once */
		bool (*drop)(struct vhca_dev *dev, void *obj);
	} steps[] = {
		{ &dev->qps, drop_qp }, { &dev->srqs, drop_srq }, { &dev->cqs, drop_cq },
		{ &dev->eqs, drop_eq }, { &dev->mkeys, unbind_mkey }, { &dev->mkeys, drop_mkey },
		{ &dev->uars, drop_uar }, { &dev->pds, drop_pd }, { &dev->xrcds, drop_xrcd },
		{ &dev->counters, drop_counter },
	};
	u32 dropped = 0, looked = 0;

	for (u32 i = 0; i < ARRAY_SIZE(steps); i++) {
		for (u32 at = 0; at < steps[i].table->fresh;) {
			void *obj = table_get(steps[i].table, at);

			if (!obj) {
				at++;
			} else {
				at += steps[i].drop(dev, obj);
				dropped++;
			}
			if (dropped < DROP_AT_ONCE && ++looked < LOOK_AT_ONCE)
				continue;
			engine_unlock(dev->engine);
			engine_lock(dev->engine);
			dropped = 0;
			looked = 0;
		}
	}
}

/* ------------------------------------------------------------------------
 * Making and freeing
 */
static bool config_good(const struct vdev_config *c)
{
	u32 kick = c->kick_pages;

	return c->ports >= 1 && c->ports <= VDEV_MAX_PORTS && c->vectors >= 1 &&
	       c->vectors <= VDEV_MAX_VECTORS && kick <= VDEV_MAX_KICK_PAGES &&
	       !(kick & (kick - 1)) && c->max_mtu <= MTU_4096;
}

static bool limits_good(const struct vdev_config *c)
{
	for (u32 l = 0; l < VLIMITS; l++)
		if (c->limit[l] > vlimit_most(l))
			return false;
	return true;
}

static void set_limits(struct vhca_dev *dev, const struct vdev_config *c)
{
	for (u32 l = 0; l < VLIMITS; l++)
		dev->limit[l] = c->limit[l] ? c->limit[l] : vlimit_usual(l);
	/* each has a page of its own to kick */
	dev->limit[VLIM_UARS] = MIN(dev->limit[VLIM_UARS], dev->kick_pages);
}

static int plug_ports(struct vhca_dev *dev)
{
	for (u32 i = 0; i < dev->nports; i++) {
		struct vport *p = &dev->port[i];
		char name[80];
		int err;

		p->dev = dev;
		evnode_init(&p->ev, 0);
		p->ev.port = i + 1;
		link_init(&p->no_room);
		link_init(&p->no_room_link);
		p->fab.ops = &vport_ops;
		p->fab.owner = p;
		p->fab.number = i + 1;
		p->fab.ib.guid = dev->node_guid + i + 1;
		snprintf(name, sizeof(name), "%s:%u", dev->name, i + 1);
		err = fab_plug(dev->engine->fabric, &p->fab, name);
		if (err) {
			while (i--)
				fab_unplug(&dev->port[i].fab);
			return err;
		}
	}
	return 0;
}

/* Without those that stand on others which are switched off. */
static u64 possible_caps(u64 caps)
{
	static const struct { u8 cap, needs; } stands[] = {
		{ VHCA_CAP_MCAST, VHCA_CAP_UD },	/* groups are of datagrams */
		{ VHCA_CAP_MASKED_ATOMIC, VHCA_CAP_ATOMIC },
		{ VHCA_CAP_XRC, VHCA_CAP_RC },
		{ VHCA_CAP_XRC, VHCA_CAP_SRQ },
		{ VHCA_CAP_UC_FAST_REG, VHCA_CAP_UC },
		{ VHCA_CAP_UC_FAST_REG, VHCA_CAP_FAST_REG },
		{ VHCA_CAP_SG_GAPS, VHCA_CAP_FAST_REG },
		{ VHCA_CAP_MW_2A, VHCA_CAP_MW },
		{ VHCA_CAP_MW_2A, VHCA_CAP_FAST_REG },
		{ VHCA_CAP_MW_2B, VHCA_CAP_MW },
		{ VHCA_CAP_MW_2B, VHCA_CAP_FAST_REG },
		{ VHCA_CAP_CLOCK_QUERY, VHCA_CAP_CLOCK },
		{ VHCA_CAP_QP_COUNTERS, VHCA_CAP_COUNTERS },
	};

	for (u32 i = 0; i < ARRAY_SIZE(stands); i++)
		if (!(caps >> stands[i].needs & 1))
			caps &= ~(1ull << stands[i].cap);
	return caps;
}

struct vhca_dev *vdev_new(struct engine *e, const struct vdev_config *cfg, struct guest_mem *mem,
			  const struct vdev_host_ops *ops, void *host)
{
	struct vhca_dev *dev;
	int err;

	if (!config_good(cfg) || !limits_good(cfg))
		return NULL;
	dev = calloc(1, sizeof(*dev));
	if (!dev)
		return NULL;
	dev->engine = e;
	dev->mem = mem;
	dev->ops = ops;
	dev->host = host;
	snprintf(dev->name, sizeof(dev->name), "%s", cfg->name ? cfg->name : "hca");
	dev->node_guid = cfg->node_guid;
	dev->nports = cfg->ports;
	dev->vectors = cfg->vectors;
	dev->caps = possible_caps(OWN_CAPS & ~cfg->caps_off);
	dev->version = cfg->version ? cfg->version : VHCA_VERSION_MAJOR << 16 | VHCA_VERSION_MINOR;
	dev->kick_pages = cfg->kick_pages ? cfg->kick_pages : DEFAULT_KICK_PAGES;
	dev->max_mtu = cfg->max_mtu ? cfg->max_mtu : MTU_4096;
	memcpy(dev->node_desc, DEFAULT_NODE_DESC, sizeof(DEFAULT_NODE_DESC));
	link_init(&dev->hot);
	link_init(&dev->flush);
	link_init(&dev->async_pending);
	link_init(&dev->ready);
	link_init(&dev->ready_link);
	evnode_init(&dev->ev, 0);

	set_limits(dev, cfg);
	init_tables(dev);
	dev->kicked = calloc((dev->kick_pages + 63) / 64, sizeof(*dev->kicked));
	if (!dev->kicked)
		goto free;

	engine_lock(e);
	err = fault_init(dev);
	if (!err) {
		err = plug_ports(dev);
		if (err)
			fault_fini(dev);
	}
	if (!err)
		link_add_tail(&e->devs, &dev->link);
	engine_unlock(e);
	if (!err)
		return dev;
free:
	free_tables(dev);
	free(dev->kicked);
	free(dev);
	return NULL;
}

void dev_irq(struct vhca_dev *dev, u32 vector)
{
	struct vfault f;

	if (vector == VHCA_NO_VECTOR)
		return;
	if (fault_strike(dev, VFAULT_INTERRUPT, vector, &f))
		log_line("%s: fault: vector %u is not raised", dev->name, vector);
	else
		dev->ops->irq(dev->host, vector);
}

/* Everything a reset does; under the engine's lock, which others may have meanwhile. */
static void reset(struct vhca_dev *dev)
{
	__atomic_store_n(&dev->status, 0, __ATOMIC_RELEASE);
	for (u32 i = 0; i < dev->nports; i++) {
		port_enable(&dev->port[i].fab.ib, false);
		evnode_fini(&dev->port[i].ev);
	}
	drop_objects(dev);
	evnode_fini(&dev->ev);
	dev->admin = (struct admin_queue){ 0 };
	memset(dev->node_desc, 0, sizeof(dev->node_desc));
	memcpy(dev->node_desc, DEFAULT_NODE_DESC, sizeof(DEFAULT_NODE_DESC));
	for (u32 i = 0; i < (dev->kick_pages + 63) / 64; i++)
		__atomic_store_n(&dev->kicked[i], 0, __ATOMIC_RELAXED);
	__atomic_store_n(&dev->fatal, 0, __ATOMIC_RELEASE);
}

void vdev_free(struct vhca_dev *dev)
{
	struct engine *e;

	if (!dev)
		return;
	e = dev->engine;
	engine_lock(e);
	reset(dev);
	fault_fini(dev);
	sched_forget(dev);
	link_del(&dev->link);
	for (u32 i = 0; i < dev->nports; i++)
		fab_unplug(&dev->port[i].fab);
	engine_unlock(e);
	free_tables(dev);
	free(dev->kicked);
	free(dev);
}

void vdev_reset(struct vhca_dev *dev)
{
	engine_lock(dev->engine);
	reset(dev);
	fault_reset(dev);
	engine_unlock(dev->engine);
	engine_wake(dev->engine);
	memset(dev->reg, 0, sizeof(dev->reg));
	dev->reg_vector = 0;
}

void dev_fatal(struct vhca_dev *dev, enum vhca_fatal code)
{
	static const char *const why[] = {
		[VHCA_FATAL_ADMIN_RING] = "admin ring not accessible",
		[VHCA_FATAL_EQ] = "event queue not accessible",
		[VHCA_FATAL_INJECTED] = "asked for",
	};

	if (!dev_live(dev))
		return;
	log_line("%s: fatal: %s", dev->name, why[code]);
	__atomic_store_n(&dev->fatal, code, __ATOMIC_RELEASE);
	__atomic_store_n(&dev->status, VHCA_STATUS_READY | VHCA_STATUS_FATAL, __ATOMIC_RELEASE);
	eq_async(dev, &dev->ev, EVB_DEVICE_FATAL);
}

void vdev_inject_fatal(struct vhca_dev *dev)
{
	engine_lock(dev->engine);
	dev_fatal(dev, VHCA_FATAL_INJECTED);
	engine_unlock(dev->engine);
}

int vdev_set_link(struct vhca_dev *dev, u32 port, bool up)
{
	if (!port || port > dev->nports)
		return -EINVAL;
	engine_lock(dev->engine);
	port_set_cable(&dev->port[port - 1].fab.ib, up);
	engine_unlock(dev->engine);
	engine_wake(dev->engine);
	return 0;
}

void vport_stats(const struct vport *p, struct vport_stats *s)
{
	*s = p->count;
	s->tx_packets = p->fab.ib.tx_packets;
	s->tx_bytes = p->fab.ib.tx_bytes;
	s->rx_packets = p->fab.ib.rx_packets;
	s->rx_bytes = p->fab.ib.rx_bytes;
	s->tx_mcast_packets = p->fab.ib.tx_mcast;
	s->rx_mcast_packets = p->fab.ib.rx_mcast;
	s->tx_discards = p->fab.ib.discards;
}

void vdev_status(struct vhca_dev *dev, struct vdev_status *st)
{
	memset(st, 0, sizeof(*st));
	engine_lock(dev->engine);
	memcpy(st->name, dev->name, sizeof(st->name));
	st->node_guid = dev->node_guid;
	st->enabled = dev->status & VHCA_STATUS_READY && !fault_resetting(&dev->faults);
	st->fatal = dev->fatal;
	st->ports = dev->nports;
	st->uars = dev->uars.used;
	st->eqs = dev->eqs.used;
	st->pds = dev->pds.used;
	st->mkeys = dev->mkeys.used;
	st->cqs = dev->cqs.used;
	st->srqs = dev->srqs.used;
	st->xrcds = dev->xrcds.used;
	st->counters = dev->counters.used;
	st->qps = dev->qps.used;
	st->mcgs = dev->mcgs.table.used;
	for (u32 i = 0; i < dev->nports; i++) {
		const struct port *p = &dev->port[i].fab.ib;

		st->port[i].state = p->state;
		st->port[i].lid = p->lid;
		st->port[i].cable = p->cable;
		st->port[i].drops = p->drops;
		st->port[i].bad = p->bad;
		vport_stats(&dev->port[i], &st->port[i].stats);
	}
	engine_unlock(dev->engine);
}

/* ------------------------------------------------------------------------
 * Registers
 */
enum { REG_ASQ_LO, REG_ASQ_HI, REG_ACQ_LO, REG_ACQ_HI, REG_SIZE };

static void enable(struct vhca_dev *dev)
{
	struct admin_queue q = {
		.asq = (u64)dev->reg[REG_ASQ_HI] << 32 | dev->reg[REG_ASQ_LO],
		.acq = (u64)dev->reg[REG_ACQ_HI] << 32 | dev->reg[REG_ACQ_LO],
		.log = dev->reg[REG_SIZE],
		.vector = dev->reg_vector,
	};

	if (!dev->reg[REG_SIZE] || dev->reg[REG_SIZE] > VDEV_LOG_ADMIN_MAX ||
	    q.asq % GMEM_PAGE_SIZE || q.acq % GMEM_PAGE_SIZE ||
	    (q.vector != VHCA_NO_VECTOR && q.vector >= dev->vectors)) {
		log_line("%s: admin queue registers out of range, not enabled", dev->name);
		return;
	}
	engine_lock(dev->engine);
	if (!dev->status) {
		dev->admin = q;
		__atomic_store_n(&dev->status, VHCA_STATUS_READY, __ATOMIC_RELEASE);
		for (u32 i = 0; i < dev->nports; i++)
			port_enable(&dev->port[i].fab.ib, true);
	}
	engine_unlock(dev->engine);
}

u32 vdev_reg_read(struct vhca_dev *dev, u32 off)
{
	if (off % 4)
		return 0;
	switch (off) {
	case VHCA_REG_MAGIC:
		return VHCA_MAGIC;
	case VHCA_REG_VERSION:
		return dev->version;
	case VHCA_REG_STATUS:
		return __atomic_load_n(&dev->status, __ATOMIC_ACQUIRE);
	case VHCA_REG_KICK_STRIDE:
		return VDEV_KICK_STRIDE;
	case VHCA_REG_KICK_PAGES:
		return dev->kick_pages;
	case VHCA_REG_ADMIN_MAX:
		return VDEV_LOG_ADMIN_MAX;
	case VHCA_REG_FATAL_CODE:
		return __atomic_load_n(&dev->fatal, __ATOMIC_ACQUIRE);
	case VHCA_REG_ASQ_LO ... VHCA_REG_ADMIN_SIZE:
		return dev->reg[(off - VHCA_REG_ASQ_LO) / 4];
	case VHCA_REG_ADMIN_VECTOR:
		return dev->reg_vector;
	default:
		return 0;
	}
}

void vdev_reg_write(struct vhca_dev *dev, u32 off, u32 val)
{
	if (off % 4)
		return;
	switch (off) {
	case VHCA_REG_CONTROL:
		if (val & VHCA_CONTROL_RESET)
			vdev_reset(dev);
		else if (val & VHCA_CONTROL_ENABLE)
			enable(dev);
		break;
	case VHCA_REG_ASQ_LO ... VHCA_REG_ADMIN_SIZE:
		dev->reg[(off - VHCA_REG_ASQ_LO) / 4] = val;
		break;
	case VHCA_REG_ADMIN_VECTOR:
		dev->reg_vector = val;
		break;
	case VHCA_REG_ADMIN_TAIL:
		__atomic_store_n(&dev->admin.tail, val, __ATOMIC_RELEASE);
		engine_attend(dev->engine);
		break;
	default:
		break;
	}
}

void vdev_kick(struct vhca_dev *dev, u32 uar)
{
	if (uar >= dev->kick_pages)
		return;
	__atomic_fetch_or(&dev->kicked[uar / 64], 1ull << (uar % 64), __ATOMIC_RELEASE);
	__atomic_store_n(&dev->any_kick, true, __ATOMIC_RELEASE);
	engine_attend(dev->engine);
}
