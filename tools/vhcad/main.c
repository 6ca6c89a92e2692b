// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vhcad: emulated RDMA adapters, and the fabric between them.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "capture/capture.h"
#include "ctl/ctl.h"
#include "ctl/topology.h"
#include "dev/device.h"
#include "drivers/infiniband/hw/vhca/defs/vhca_hw.h"
#include "engine/engine.h"
#include "ether/ether.h"
#include "fabric/eth.h"
#include "fabric/fabric.h"
#include "fabric/fault.h"
#include "fabric/topo.h"
#include "lib/log.h"
#include "options.h"
#include "sandbox.h"
#include "server/server.h"
#include "subnet/static.h"
#include "trace/trace.h"

struct hca {
	struct server *server;
	struct vhca_dev *dev;
};

/* A thread of the engine. */
struct worker_thread {
	pthread_t thread;
	struct engine *engine;
	u32 number;
	char name[16];
};

struct daemon {
	struct options opt;
	struct capture *capture;
	struct fabric *fabric;
	struct engine *engine;
	struct worker_thread worker[ENGINE_THREADS];
	u32 nworkers;
	struct ctl *ctl;
	struct ether *ether;
	struct sweeper *sweeper;
	struct hca hca[OPTIONS_MAX_HCAS];
	bool held;			/* a server's thread has not ended, see server_stop() */
	struct ctl_hca ctl_hca[OPTIONS_MAX_HCAS];
};

static_assert(VHCA_BAR_REGS == SERVER_BAR_REGS && VHCA_BAR_KICK == SERVER_BAR_KICK &&
	      VHCA_BAR_MSIX == MSIX_BAR && VHCA_REGS_SIZE == SERVER_REGS_SIZE &&
	      VDEV_KICK_STRIDE == SERVER_KICK_STRIDE, "BAR layout");

static u32 reg_read(void *dev, u32 off)
{
	return vdev_reg_read(dev, off);
}

static void reg_write(void *dev, u32 off, u32 val)
{
	vdev_reg_write(dev, off, val);
}

static void kick(void *dev, u32 page, u32 val)
{
	if (val == VHCA_KICK)
		vdev_kick(dev, page);
}

static void reset(void *dev)
{
	vdev_reset(dev);
}

static const struct server_device_ops device_ops = {
	.reg_read = reg_read,
	.reg_write = reg_write,
	.kick = kick,
	.reset = reset,
};

static void raise_irq(void *host, u32 vector)
{
	server_irq(host, vector);
}

static const struct vdev_host_ops host_ops = {
	.irq = raise_irq,
};

static void *engine_thread(void *arg)
{
	const struct worker_thread *w = arg;

	pthread_setname_np(pthread_self(), w->name);
	trace_name_thread(w->name + strlen("vhcad-"));
	engine_run_thread(w->engine, w->number);
	return NULL;
}

/* Prints why something cannot be set up.  Returns the exit status of main(). */
static int fail(const char *what, const char *name, int err)
{
	const char *why = strerror(err);

	if (err == EADDRINUSE)
		why = "somebody listens there already";
	else if (err == EEXIST)
		why = "a file that is not a socket is there";
	else if (err == ENAMETOOLONG)
		why = "a socket's path has at most 107 bytes";
	fprintf(stderr, "vhcad: %s%s%s: %s\n", what, name ? " " : "", name ? name : "", why);
	return 2;
}

static bool is_ethernet(const struct hca_options *h, u32 port)
{
	return h->port[port - 1].link == LINK_ETH;
}

static bool has_port(const struct options *o, const char *end, bool ethernet)
{
	char name[TOPO_NAME_MAX];

	for (u32 i = 0; i < o->nhcas; i++) {
		for (u32 port = 1; port <= o->hca[i].ports; port++) {
			snprintf(name, sizeof(name), "%s:%u", o->hca[i].name, port);
			if (!strcmp(name, end) && is_ethernet(&o->hca[i], port) == ethernet)
				return true;
		}
	}
	return false;
}

/* Returns what is wrong with the end of a link; NULL: nothing is. */
static const char *end_wrong(const struct options *o, const char *end, bool ethernet)
{
	if (ethernet && !strcmp(end, TOPO_OUTSIDE))
		return o->ethernet ? NULL : "there are no network adapters without --ethernet";
	if (has_port(o, end, ethernet))
		return NULL;
	if (!has_port(o, end, !ethernet))
		return "no adapter has this port";
	return ethernet ? "an InfiniBand port has a link to a switch of Ethernet" :
			  "an Ethernet port has a link to a switch of InfiniBand";
}

/*
 * Adapters and topology must have the same ports of each kind, if there are switches of that kind.
 * Returns NULL, or what is wrong with the port @name.
 */
static const char *ports_differ(const struct options *o, const struct topology *t, char *name,
				size_t room)
{
	for (u32 eth = 0; eth < 2; eth++) {
		const struct topo *of = eth ? t->eth : t->ib;
		const char *end, *why;

		for (u32 n = 0; of && (end = topo_end(of, n)); n++) {
			snprintf(name, room, "%s", end);
			why = end_wrong(o, end, eth);
			if (why)
				return why;
		}
	}
	for (u32 i = 0; i < o->nhcas; i++) {
		for (u32 port = 1; port <= o->hca[i].ports; port++) {
			const struct topo *of = is_ethernet(&o->hca[i], port) ? t->eth : t->ib;

			snprintf(name, room, "%s:%u", o->hca[i].name, port);
			if (of && !topo_has_end(of, name))
				return "no link leads to this port";
		}
	}
	return NULL;
}

static int make_topology(struct daemon *d)
{
	char why[512], name[TOPO_NAME_MAX];
	struct topology t;
	const char *differ;

	if (!topology_read(d->opt.topology, &t, why, sizeof(why))) {
		fprintf(stderr, "vhcad: --topology: %s\n", why);
		return 2;
	}
	if (t.ib)
		fabric_set_topology(d->fabric, t.ib);
	if (t.eth)
		fabric_set_topology(d->fabric, t.eth);
	differ = ports_differ(&d->opt, &t, name, sizeof(name));
	if (differ) {
		fprintf(stderr, "vhcad: --topology: %s: %s: %s\n", d->opt.topology, name, differ);
		return 2;
	}
	/* links are timed, so the kernel must not delay wake-ups to batch them */
	prctl(PR_SET_TIMERSLACK, 1);
	return 0;
}

static int make_fabric(struct daemon *d)
{
	const struct fab_fault loss = {
		.kind = FAB_LOSS, .permille = d->opt.loss, .seed = d->opt.seed,
	};

	if (d->opt.capture) {
		d->capture = capture_open(d->opt.capture);
		if (!d->capture)
			return fail("--capture", d->opt.capture, errno);
	}
	if (d->opt.trace) {
		int err = trace_open(d->opt.trace, TRACE_RECORDS);

		if (err)
			return fail("--trace", d->opt.trace, -err);
	}
	d->fabric = fabric_new();
	if (!d->fabric || (d->opt.static_subnet && subnet_static(d->fabric)))
		return fail("fabric", NULL, ENOMEM);
	if (d->opt.topology && make_topology(d))
		return 2;
	if (d->opt.loss && fab_fault_arm(d->fabric, &loss))
		return fail("--loss", NULL, ENOMEM);
	if (d->capture)
		fabric_set_capture(d->fabric, d->capture);
	d->engine = engine_make(&engine_clock_monotonic, d->fabric, d->opt.threads);
	if (!d->engine)
		return fail("engine", NULL, errno);
	engine_set_spin(d->engine, d->opt.spin_usec);
	return 0;
}

static int make_hca(struct daemon *d, u32 i)
{
	const struct hca_options *o = &d->opt.hca[i];
	struct hca *h = &d->hca[i];
	const struct server_config sc = {
		.name = o->name,
		.path = o->path,
		.vendor = d->opt.vendor,
		.device = d->opt.device,
		.revision = d->opt.version >> 16,
		.class = VHCA_PCI_CLASS,
		.irq = d->opt.irq,
		.vectors = o->vectors,
		.kick_pages = VDEV_KICK_PAGES,
		.speed = d->opt.pcie_speed,
		.lanes = d->opt.pcie_lanes,
		.allow_unsealed = d->opt.allow_unsealed,
	};
	struct vdev_config vc = {
		.name = o->name,
		.node_guid = o->guid,
		.ports = o->ports,
		.vectors = o->vectors,
		.kick_pages = VDEV_KICK_PAGES,
		.caps_off = o->caps_off,
		.version = d->opt.version,
		.max_mtu = d->opt.mtu,
	};
	int err;

	memcpy(vc.limit, o->limit, sizeof(vc.limit));
	for (u32 p = 0; p < o->ports; p++) {
		vc.port[p].ethernet = is_ethernet(o, p + 1);
		vc.port[p].strict = o->strict;
		memcpy(vc.port[p].mac, o->port[p].mac, sizeof(vc.port[p].mac));
	}
	err = server_new(&sc, &h->server);
	if (err)
		return fail("--hca", o->path, -err);
	h->dev = vdev_new(d->engine, &vc, server_mem(h->server), &host_ops, h->server);
	if (!h->dev)
		return fail("--hca", o->name, ENOMEM);
	d->ctl_hca[i] = (struct ctl_hca){
		.name = o->name, .socket = o->path, .dev = h->dev, .server = h->server,
	};
	return 0;
}

/* Returns what control commands may act on. */
static struct ctl_scope scope_of(const struct daemon *d)
{
	return (struct ctl_scope){ d->ctl_hca, d->opt.nhcas, d->ether };
}

static int make_all(struct daemon *d)
{
	struct ctl_scope scope;
	char why[512];
	int status, err;

	status = make_fabric(d);
	if (!status && d->opt.ethernet) {
		err = ether_new(d->opt.ethernet, d->capture, &d->ether);
		if (!err)
			err = fabric_set_ether(d->fabric, d->ether);
		if (err)
			status = fail("--ethernet", d->opt.ethernet, -err);
	}
	for (u32 i = 0; !status && i < d->opt.nhcas; i++)
		status = make_hca(d, i);
	scope = scope_of(d);
	if (!status && d->opt.scenario &&
	    !ctl_scenario(&scope, d->opt.scenario, why, sizeof(why))) {
		fprintf(stderr, "vhcad: --scenario: %s\n", why);
		status = 2;
	}
	if (status || !d->opt.control)
		return status;
	err = ctl_new(d->opt.control, &d->ctl);
	return err ? fail("--control", d->opt.control, -err) : 0;
}

/* Undoes make_all(), however far it got.  All other threads have ended. */
static void free_all(struct daemon *d)
{
	int err;

	ctl_free(d->ctl);
	ether_free(d->ether);
	/* a thread that server_stop() did not wait for may still use all of this */
	if (!d->held) {
		for (u32 i = 0; i < d->opt.nhcas; i++) {
			vdev_free(d->hca[i].dev);
			server_free(d->hca[i].server);
		}
		engine_free(d->engine);
		fabric_free(d->fabric);
	}
	err = d->held ? 0 : trace_close();
	if (err)
		log_line("trace %s is incomplete: %s", d->opt.trace, strerror(-err));
	err = capture_close(d->capture);
	if (err)
		log_line("capture %s is incomplete: %s", d->opt.capture, strerror(-err));
	sweeper_finish(d->sweeper);
	if (!d->held)
		options_release(&d->opt);
}

#ifdef VHCAD_INSTRUMENTED
/* Sanitizers and coverage need more system calls when the daemon ends. */
#define MAY_CONFINE	false
#else
#define MAY_CONFINE	true
#endif

/* Called when all sockets and files are open, before any client is served. */
static int confine(struct daemon *d)
{
	const char *paths[OPTIONS_MAX_HCAS + 2], *what;
	u32 n = 0;
	int err;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (d->opt.no_sandbox || !MAY_CONFINE)
		return 0;
	for (; n < d->opt.nhcas; n++)
		paths[n] = d->opt.hca[n].path;
	if (d->opt.control)
		paths[n++] = d->opt.control;
	if (d->opt.ethernet)
		paths[n++] = d->opt.ethernet;
	err = sweeper_start(paths, n, &d->sweeper);
	if (err)
		return fail("a process that removes the sockets", NULL, -err);
	err = sandbox_drop(d->opt.user, &what);
	if (err)
		return fail(what, d->opt.user, -err);
	err = sandbox_filter();
	if (err)
		return fail("no filter of system calls (--no-sandbox does without)", NULL, -err);
	return 0;
}

static int start_all(struct daemon *d)
{
	const struct ctl_scope scope = scope_of(d);
	int err;

	for (; d->nworkers < d->opt.threads; d->nworkers++) {
		struct worker_thread *w = &d->worker[d->nworkers];

		w->engine = d->engine;
		w->number = d->nworkers;
		if (w->number)
			snprintf(w->name, sizeof(w->name), "vhcad-engine%u", w->number % 100);
		else
			snprintf(w->name, sizeof(w->name), "vhcad-engine");
		err = pthread_create(&w->thread, NULL, engine_thread, w);
		if (err)
			return fail("engine", NULL, err);
	}
	for (u32 i = 0; i < d->opt.nhcas; i++) {
		err = server_start(d->hca[i].server, &device_ops, d->hca[i].dev);
		if (err)
			return fail("--hca", d->opt.hca[i].name, -err);
	}
	if (d->ether) {
		err = ether_start(d->ether);
		if (err)
			return fail("--ethernet", d->opt.ethernet, -err);
	}
	if (d->ctl) {
		err = ctl_start(d->ctl, &scope);
		if (err)
			return fail("--control", d->opt.control, -err);
	}
	return 0;
}

/* Servers reset their devices, for which the engine still has to run. */
static void stop_all(struct daemon *d)
{
	ctl_free(d->ctl);
	d->ctl = NULL;
	for (u32 i = 0; i < d->opt.nhcas; i++)
		if (!server_stop(d->hca[i].server))
			d->held = true;
	if (d->engine)
		engine_stop(d->engine);
	while (d->nworkers)
		pthread_join(d->worker[--d->nworkers].thread, NULL);
}

/* Allows many descriptors, as each vector of each adapter may have an eventfd. */
static void raise_limits(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim))
		return;
	lim.rlim_cur = lim.rlim_max;
	setrlimit(RLIMIT_NOFILE, &lim);
}

int main(int argc, char **argv)
{
	static struct daemon d;
	sigset_t quit;
	int sig, err, status;

	options_parse(&d.opt, argc, argv);
	err = log_open(d.opt.log);
	if (err)
		return fail("--log", d.opt.log, -err);
	raise_limits();
	/* do not end when a capture is written to a pipe whose reader has gone */
	signal(SIGPIPE, SIG_IGN);

	/* before any thread is started, so that all of them leave these signals to main() */
	sigemptyset(&quit);
	sigaddset(&quit, SIGTERM);
	sigaddset(&quit, SIGINT);
	sigaddset(&quit, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &quit, NULL);

	status = make_all(&d);
	if (!status)
		status = confine(&d);
	if (!status) {
		status = start_all(&d);
		if (!status) {
			log_line("ready: %u adapters", d.opt.nhcas);
			puts("ready");
			fflush(stdout);
			sigwait(&quit, &sig);
			log_line("stopping: %s", strsignal(sig));
		}
		stop_all(&d);
	}
	free_all(&d);
	return status;
}
