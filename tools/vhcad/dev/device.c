// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A device's life: made, enabled by a driver, reset, freed; and its registers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dev/hca.h"
#include "engine/engine.h"
#include "fabric/eth.h"
#include "fabric/topo.h"
#include "lib/log.h"
#include "qp/life.h"
#include "qp/mcg.h"
#include "qp/ready.h"
#include "qp/scratch.h"
#include "res/cq.h"
#include "subnet/static.h"
#include "trace/trace.h"

#define MTU_4096		5u
#define DEFAULT_NODE_DESC	"vhca"

#define OWN_CAPS ( \
	1ull << VHCA_CAP_RC | \
	1ull << VHCA_CAP_RNR_NAK | \
	1ull << VHCA_CAP_SMI_GSI | \
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
	1ull << VHCA_CAP_QP_COUNTERS | \
	1ull << VHCA_CAP_PORT_CHANGE | \
	1ull << VHCA_CAP_UD_CSUM | \
	1ull << VHCA_CAP_UD_CSUM6 | \
	1ull << VHCA_CAP_UD_LSO | \
	1ull << VHCA_CAP_UD_LSO6 | \
	1ull << VHCA_CAP_INTEGRITY)

/* ------------------------------------------------------------------------
 * Tables
 */
static int init_tables(struct vhca_dev *dev)
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
	return mcg_init(dev);
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
	mcg_fini(dev);
	uar_fini(dev);
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
	/* each UAR has a kick page of its own */
	if (c->kick_pages && c->limit[VLIM_UARS] > c->kick_pages)
		return false;
	for (u32 l = 0; l < VLIMITS; l++)
		if (c->limit[l] > vlimit_most(l))
			return false;
	return true;
}

static void set_limits(struct vhca_dev *dev, const struct vdev_config *c)
{
	for (u32 l = 0; l < VLIMITS; l++)
		dev->limit[l] = c->limit[l] ? c->limit[l] : vlimit_usual(l);
	dev->limit[VLIM_UARS] = MIN(dev->limit[VLIM_UARS], dev->kick_pages);
}

static void unplug_port(struct vport *p)
{
	agent_fini(&p->agent);
	fab_unplug(&p->fab);
}

static int connect_port(struct vport *p, const struct vdev_port_config *c, const char *name)
{
	struct fabric *f = engine_fabric(p->dev->adapter.engine);

	return c->ethernet ? fab_plug_eth(f, &p->fab, name, c->mac, c->strict) :
			     fab_plug(f, &p->fab, name);
}

/* Plugs a port in, with the agent that answers for it. */
static int plug_port(struct vport *p, const struct vdev_port_config *c, const char *name)
{
	struct vhca_dev *dev = p->dev;
	int err = connect_port(p, c, name);

	if (err)
		return err;
	p->fab.ib.mtu_cap = dev->max_mtu;
	p->fab.ib.setup.mtu = MIN(p->fab.ib.setup.mtu, dev->max_mtu);
	err = agent_init(&p->agent, &dev->node, &p->fab);
	if (err)
		fab_unplug(&p->fab);
	return err;
}

static int plug_ports(struct vhca_dev *dev, const struct vdev_config *cfg)
{
	for (u32 i = 0; i < dev->nports; i++) {
		struct vport *p = &dev->port[i];
		char name[80];
		int err;

		p->dev = dev;
		evnode_init(&p->ev, 0);
		p->ev.port = i + 1;
		INIT_LIST_HEAD(&p->no_room);
		INIT_LIST_HEAD(&p->no_room_node);
		p->fab.ops = &vport_ops;
		p->fab.owner = p;
		p->fab.number = i + 1;
		p->fab.ib.guid = dev->node_guid + i + 1;
		snprintf(name, sizeof(name), "port %u", i + 1);
		p->fab.trace_row = trace_row(dev->name, name);
		snprintf(name, sizeof(name), "%s:%u", dev->name, i + 1);
		err = plug_port(p, &cfg->port[i], name);
		if (err) {
			while (i--)
				unplug_port(&dev->port[i]);
			return err;
		}
	}
	return 0;
}

/* ------------------------------------------------------------------------
 * What the engine asks of an adapter
 */
static struct vhca_dev *dev_of(struct adapter *a)
{
	return container_of(a, struct vhca_dev, adapter);
}

static bool hca_poll(struct adapter *a)
{
	struct hca *hca = to_hca(dev_of(a));
	bool any = doorbell_poll(&hca->dev);

	if (any)
		trace_point(TRACE_PLAIN, a->trace_row, "doorbells", 0, 0);
	return (admin_waits(hca) && admin_poll(hca)) || any;
}

static bool hca_arm(struct adapter *a)
{
	struct vhca_dev *dev = dev_of(a);
	bool any;

	any = doorbell_arm(dev);
	if (!dev_live(dev))
		return false;
	return any || doorbell_kicked(dev) || admin_waits(to_hca(dev));
}

static bool hca_rests(struct adapter *a)
{
	struct vhca_dev *dev = dev_of(a);

	if (!dev_live(dev))
		return !eq_fatal_waits(dev);
	return doorbell_quiet(dev) && !admin_waits(to_hca(dev));
}

static void hca_tell(struct adapter *a)
{
	cq_notify_pending(dev_of(a));
}

static const struct adapter_ops hca_adapter_ops = {
	.poll = hca_poll,
	.arm = hca_arm,
	.run = qp_turn,
	.room = qp_room,
	.tell = hca_tell,
	.rests = hca_rests,
	.leave = qp_leave,
	.scratch = sizeof(struct scratch),
};

/* A fault may lose the interrupt. */
static void raise_irq(struct vhca_dev *dev, u32 vector)
{
	struct hca *hca = to_hca(dev);
	struct vfault f;

	if (fault_strike(hca, VFAULT_INTERRUPT, vector, &f)) {
		log_line("%s: fault: vector %u is not raised", dev->name, vector);
		return;
	}
	hca->ops->irq(hca->host, vector);
	trace_point(TRACE_VECTOR, hca->guest_row, "interrupt", 0, vector);
}

static void init_dev(struct vhca_dev *dev, const struct vdev_config *cfg)
{
	dev->adapter.ops = &hca_adapter_ops;
	dev->irq = raise_irq;
	snprintf(dev->name, sizeof(dev->name), "%s", cfg->name ? cfg->name : "hca");
	dev->node_guid = cfg->node_guid;
	dev->nports = cfg->ports;
	dev->vectors = cfg->vectors;
	dev->caps = vhca_whole_caps(OWN_CAPS & ~cfg->caps_off);
	dev->version = cfg->version ? cfg->version : VHCA_VERSION_MAJOR << 16 | VHCA_VERSION_MINOR;
	dev->kick_pages = cfg->kick_pages ? cfg->kick_pages : VDEV_KICK_PAGES;
	dev->max_mtu = cfg->max_mtu ? cfg->max_mtu : MTU_4096;
	memcpy(dev->node_desc, DEFAULT_NODE_DESC, sizeof(DEFAULT_NODE_DESC));
	dev->node = (struct agent_node){
		.type = NODE_CA,
		.nports = dev->nports,
		.device_id = VHCA_PCI_DEVICE,
		.revision = VHCA_VERSION_MAJOR,
		.vendor_id = VHCA_PCI_VENDOR,
		.system_guid = dev->node_guid,
		.node_guid = dev->node_guid,
		.desc = dev->node_desc,
	};
	INIT_LIST_HEAD(&dev->hot);
	INIT_LIST_HEAD(&dev->flush);
	INIT_LIST_HEAD(&dev->cq_notify);
	INIT_LIST_HEAD(&dev->async_pending);
	evnode_init(&dev->ev, 0);
	set_limits(dev, cfg);
}

/* Makes the engine and the fabric know an HCA.  Called under the engine's lock. */
static int join(struct hca *hca, struct engine *e, const struct vdev_config *cfg)
{
	struct vhca_dev *dev = &hca->dev;
	int err = adapter_init(&dev->adapter, e);

	if (err)
		return err;
	err = fault_init(hca);
	if (err)
		goto adapter;
	err = plug_ports(dev, cfg);
	if (err)
		goto fault;
	adapter_add(&dev->adapter);
	return 0;
fault:
	fault_fini(hca);
adapter:
	adapter_fini(&dev->adapter);
	return err;
}

struct vhca_dev *vdev_new(struct engine *e, const struct vdev_config *cfg, struct guest_mem *mem,
			  const struct vdev_host_ops *ops, void *host)
{
	struct vhca_dev *dev;
	struct hca *hca;
	int err;

	if (!config_good(cfg) || !limits_good(cfg))
		return NULL;
	hca = calloc(1, sizeof(*hca));
	if (!hca)
		return NULL;
	hca->ops = ops;
	hca->host = host;
	dev = &hca->dev;
	dev->mem = mem;
	init_dev(dev, cfg);
	hca->guest_row = trace_row(dev->name, "guest");
	hca->command_row = trace_row(dev->name, "commands");
	dev->adapter.trace_row = trace_row(dev->name, "turns");
	dev->wait_row = trace_row(dev->name, "waits");
	err = init_tables(dev);
	dev->kicked = calloc((dev->kick_pages + 63) / 64, sizeof(*dev->kicked));
	if (err || !dev->kicked)
		goto free;

	engine_lock(e);
	err = join(hca, e, cfg);
	engine_unlock(e);
	if (!err)
		return dev;
free:
	free_tables(dev);
	free(dev->kicked);
	free(hca);
	return NULL;
}

/* Resets an HCA.  The engine's lock, which is held, is dropped now and then. */
static void reset(struct hca *hca)
{
	struct vhca_dev *dev = &hca->dev;
	bool ran = dev->status;

	__atomic_store_n(&dev->status, 0, __ATOMIC_RELEASE);
	for (u32 i = 0; i < dev->nports; i++) {
		/* the flags that the driver has set for its host are no longer valid */
		dev->port[i].fab.ib.cap_mask &= ~VHCA_PORT_HOST_CAPS;
		/*
		 * before a driver enables the device, its links carry nothing that a reset could
		 * stop
		 */
		if (ran)
			port_bounce(&dev->port[i].fab.ib);
		evnode_fini(&dev->port[i].ev);
		if (dev->port[i].fab.eth)
			fab_eth_reset(&dev->port[i].fab);
	}
	hca_drop_objects(hca);
	evnode_fini(&dev->ev);
	hca->admin = (struct admin_queue){ 0 };
	memset(dev->node_desc, 0, sizeof(dev->node_desc));
	memcpy(dev->node_desc, DEFAULT_NODE_DESC, sizeof(DEFAULT_NODE_DESC));
	for (u32 i = 0; i < (dev->kick_pages + 63) / 64; i++)
		__atomic_store_n(&dev->kicked[i], 0, __ATOMIC_RELAXED);
	__atomic_store_n(&dev->fatal, 0, __ATOMIC_RELEASE);
}

void vdev_free(struct vhca_dev *dev)
{
	struct engine *e;
	struct hca *hca;

	if (!dev)
		return;
	hca = to_hca(dev);
	e = dev->adapter.engine;
	engine_lock(e);
	reset(hca);
	fault_fini(hca);
	adapter_del(&dev->adapter);
	for (u32 i = 0; i < dev->nports; i++)
		unplug_port(&dev->port[i]);
	engine_unlock(e);
	adapter_fini(&dev->adapter);
	free_tables(dev);
	free(dev->kicked);
	free(hca);
}

void vdev_reset(struct vhca_dev *dev)
{
	struct engine *e = dev->adapter.engine;
	struct hca *hca = to_hca(dev);

	vdev_fabric_lock(dev);
	reset(hca);
	fault_reset(hca);
	vdev_fabric_unlock(dev);
	engine_wake(e);
	memset(hca->reg, 0, sizeof(hca->reg));
	hca->reg_vector = 0;
}

bool vdev_inject_fatal(struct vhca_dev *dev)
{
	bool live;

	adapter_lock(&dev->adapter);
	live = dev_live(dev);
	dev_fatal(dev, VHCA_FATAL_INJECTED);
	adapter_unlock(&dev->adapter);
	return live;
}

int vdev_set_link(struct vhca_dev *dev, u32 port, bool up)
{
	if (!port || port > dev->nports)
		return -EINVAL;
	vdev_fabric_lock(dev);
	port_set_cable(&dev->port[port - 1].fab.ib, up);
	vdev_fabric_unlock(dev);
	engine_wake(dev->adapter.engine);
	return 0;
}

static void tell_ethernet(const struct vport *p, struct vdev_eth_status *st)
{
	const struct fab_eth *eth = p->fab.eth;

	if (!eth)
		return;
	st->ethernet = true;
	memcpy(st->mac, eth->mac, sizeof(st->mac));
	st->enabled = eth->enabled;
	st->spoofed = eth->spoofed;
	for (u32 i = 0; i < ETH_GIDS; i++)
		st->gids += eth->gid[i].valid;
}

void vdev_status(struct vhca_dev *dev, struct vdev_status *st)
{
	memset(st, 0, sizeof(*st));
	engine_lock(dev->adapter.engine);
	memcpy(st->name, dev->name, sizeof(st->name));
	st->node_guid = dev->node_guid;
	st->enabled = dev->status & VHCA_STATUS_READY && !fault_resetting(to_hca(dev));
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
	st->mcgs = dev->mcgs->table.used;
	for (u32 i = 0; i < dev->nports; i++) {
		const struct port *p = &dev->port[i].fab.ib;

		st->port[i].state = p->state;
		st->port[i].lid = p->lid;
		st->port[i].cable = p->cable;
		tell_ethernet(&dev->port[i], &st->port[i].eth);
		st->port[i].drops = p->drops;
		st->port[i].bad = p->bad;
		vport_stats(&dev->port[i], &st->port[i].stats);
		for (u32 k = 0; k < VHCA_SPECIAL_QPS; k++)
			st->qps += !!dev->port[i].special[k];
	}
	engine_unlock(dev->adapter.engine);
}

/* ------------------------------------------------------------------------
 * Registers
 */
enum { REG_ASQ_LO, REG_ASQ_HI, REG_ACQ_LO, REG_ACQ_HI, REG_SIZE };

static void enable(struct vhca_dev *dev)
{
	struct hca *hca = to_hca(dev);
	struct admin_queue q = {
		.asq = (u64)hca->reg[REG_ASQ_HI] << 32 | hca->reg[REG_ASQ_LO],
		.acq = (u64)hca->reg[REG_ACQ_HI] << 32 | hca->reg[REG_ACQ_LO],
		.log = hca->reg[REG_SIZE],
		.vector = hca->reg_vector,
	};

	if (!hca->reg[REG_SIZE] || hca->reg[REG_SIZE] > VDEV_LOG_ADMIN_MAX ||
	    q.asq % GMEM_PAGE_SIZE || q.acq % GMEM_PAGE_SIZE ||
	    (q.vector != VHCA_NO_VECTOR && q.vector >= dev->vectors)) {
		log_line("%s: admin queue registers out of range, not enabled", dev->name);
		return;
	}
	adapter_lock(&dev->adapter);
	if (!dev->status) {
		hca->admin = q;
		__atomic_store_n(&dev->status, VHCA_STATUS_READY, __ATOMIC_RELEASE);
		/* a port may have become active before the driver could get its event */
		for (u32 i = 0; i < dev->nports; i++)
			if (dev->port[i].fab.ib.state == PORT_ACTIVE)
				eq_async(dev, &dev->port[i].ev, EVB_PORT_ACTIVE);
	}
	adapter_unlock(&dev->adapter);
}

u32 vdev_reg_read(struct vhca_dev *dev, u32 off)
{
	const struct hca *hca = to_hca(dev);

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
		return hca->reg[(off - VHCA_REG_ASQ_LO) / 4];
	case VHCA_REG_ADMIN_VECTOR:
		return hca->reg_vector;
	default:
		return 0;
	}
}

void vdev_reg_write(struct vhca_dev *dev, u32 off, u32 val)
{
	struct hca *hca = to_hca(dev);

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
		hca->reg[(off - VHCA_REG_ASQ_LO) / 4] = val;
		break;
	case VHCA_REG_ADMIN_VECTOR:
		hca->reg_vector = val;
		break;
	case VHCA_REG_ADMIN_TAIL:
		__atomic_store_n(&hca->admin.tail, val, __ATOMIC_RELEASE);
		adapter_attend(&dev->adapter);
		break;
	default:
		break;
	}
}

void vdev_kick(struct vhca_dev *dev, u32 uar)
{
	if (uar >= dev->kick_pages)
		return;
	trace_point(TRACE_PAGE, to_hca(dev)->guest_row, "kick", 0, uar);
	doorbell_kick(dev, uar);
	adapter_attend(&dev->adapter);
}

void vdev_work(struct vhca_dev *dev, struct adapter_status *a, struct engine_status *e)
{
	struct engine *engine = dev->adapter.engine;

	engine_lock(engine);
	adapter_status(&dev->adapter, a);
	engine_status(engine, e);
	engine_unlock(engine);
}

/* ------------------------------------------------------------------------
 * Addresses of ports and the fabric, for threads that are not the engine's
 */
void vdev_addrs(struct vhca_dev *dev, u32 port, struct port_addrs *a)
{
	adapter_lock(&dev->adapter);
	*a = dev->port[port - 1].fab.ib.addrs;
	adapter_unlock(&dev->adapter);
}

const char *vdev_set_addrs(struct vhca_dev *dev, u32 port, const struct port_addrs *a,
			   bool reregister)
{
	const char *why;

	if (dev->port[port - 1].fab.eth)
		return "the addresses of an Ethernet port are its driver's";
	vdev_fabric_lock(dev);
	why = subnet_set_addrs(&dev->port[port - 1].fab, a, reregister);
	vdev_fabric_unlock(dev);
	return why;
}

struct fabric *vdev_fabric_lock(struct vhca_dev *dev)
{
	struct fabric *f = engine_fabric(dev->adapter.engine);

	engine_lock(dev->adapter.engine);
	/* the engine may have slept for long */
	fab_set_now(f, adapter_now(&dev->adapter));
	return f;
}

void vdev_fabric_unlock(struct vhca_dev *dev)
{
	engine_unlock(dev->adapter.engine);
	engine_wake(dev->adapter.engine);
}

u32 vdev_fabric_link(const struct vhca_dev *dev, u32 port)
{
	return fab_port_link(&dev->port[port - 1].fab);
}

bool vdev_has_link(const struct vhca_dev *dev, u32 port)
{
	return fab_port_has_link(&dev->port[port - 1].fab);
}
