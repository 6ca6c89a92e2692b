// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dev/device.h"
#include "drivers/infiniband/hw/vhca/defs/vhca_hw.h"
#include "engine/engine.h"
#include "options.h"

static const char usage[] =
"usage: vhcad --hca SOCKET[,name=NAME][,guid=HEX][,ports=N][,vectors=N][,...] [options]\n"
"\n"
"Emulates RDMA adapters and the fabric between them.  QEMU attaches each with\n"
"-device '{\"driver\":\"vfio-user-pci\",\"socket\":{\"type\":\"unix\",\"path\":\"SOCKET\"}}'.\n"
"\n"
"  --hca SOCKET[,...]     an adapter on this socket; may be given many times\n"
"                           name=NAME    for logs and the control socket (hca0, hca1, ...)\n"
"                           guid=HEX     node GUID; ports have the numbers after it\n"
"                           ports=N      1 or 2 (1)\n"
"                           vectors=N    MSI-X vectors, 1 to 64 (16)\n"
"                           link=ib|eth  link layer of all ports; link1=, link2=: of one\n"
"                           mac=MAC      address of port 1, an Ethernet port; mac2=: of port 2\n"
"                           strict       Ethernet ports send from their own address alone\n"
"  --subnet static|opensm|none\n"
"                         who manages the subnet: vhcad, until a manager comes (default); a\n"
"                         manager in a guest\n"
"  --link ib|eth          link layer of ports for which nothing else is said (ib)\n"
"  --mtu BYTES            256, 512, 1024, 2048 or 4096 (default)\n"
"  --capture FILE         record every packet (pcapng)\n"
"  --trace FILE           record what the engine does, for a viewer of traces (JSON)\n"
"  --log FILE             append the log here, not to standard error\n"
"  --control SOCKET       listen for vhcactl\n"
"  --ethernet SOCKET      a switch for ordinary network adapters: QEMU's -netdev stream\n"
"  --irq msix|msi         interrupt capability; msi: one vector, hot unplug works\n"
"  --pcie SPEEDxLANES     the adapters' link: 2.5, 5, 8, 16 or 32 GT/s and 1, 2, 4, 8 or 16\n"
"                         lanes (32x16)\n"
"  --spin USEC            look for work that long before sleeping (0)\n"
"  --threads N            threads that work for the adapters, 1 to 64 (1)\n"
"  --loss PERMILLE        lose this number of a thousand packets (0)\n"
"  --seed N               lose others of them (1)\n"
"  --topology FILE        switches and links (JSON, see Documentation/hw/vhcad.rst); without\n"
"                         it all ports share a switch that takes no time\n"
"  --scenario FILE        faults to begin with (JSON, see Documentation/hw/vhcad.rst)\n"
"  --pci-id VVVV:DDDD     PCI vendor and device id (1af4:10f0)\n"
"  --device-version M.N   claim this interface version\n"
"  --caps-off [HCA:]NAME,...\n"
"                         switch capabilities off, of all adapters or of that one: rc, uc,\n"
"                         ud, mcast, rnr-nak, srq, cq-resize, cq-moderation, counters,\n"
"                         clock, atomic, masked-atomic, atomic-write, flush, fast-reg,\n"
"                         uc-fast-reg, sg-gaps, mw, mw-2a, mw-2b, fmr, xrc, apm,\n"
"                         clock-query, qp-counters, port-change, ud-csum, ud-csum6,\n"
"                         ud-lso, ud-lso6, integrity, smi-gsi; may be given many times\n"
"  --limit [HCA:]NAME=N,...\n"
"                         most objects that an adapter may have, all or that one: uars,\n"
"                         db-pages, eqs, pds, xrcds, mkeys, cqs, srqs, qps, mcgs, mcg-qps,\n"
"                         attached, counters; may be given many times\n"
"  --allow-unsealed       take guest memory that its owner can truncate, or in\n"
"                         pages of more than 2 MiB\n"
"  --user NAME            whom root becomes once all sockets are there (vhcad, where\n"
"                         there is such a user, else nobody)\n"
"  --no-sandbox           keep user, rights and system calls: for debuggers\n"
"  --help, --version\n";

static void fail(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

static void fail(const char *fmt, ...)
{
	va_list ap;

	fputs("vhcad: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(2);
}

/* Reads @text as a number between @min and @max. */
static u64 number(const char *what, const char *text, int base, u64 min, u64 max)
{
	unsigned long long v;
	char *end;

	errno = 0;
	v = strtoull(text, &end, base);
	if (!isxdigit((unsigned char)*text) || *end || errno || v < min || v > max)
		fail(base == 16 ? "%s: '%s' is not a hexadecimal number between %llx and %llx" :
		     "%s: '%s' is not a number between %llu and %llu", what, text,
		     (unsigned long long)min, (unsigned long long)max);
	return v;
}

/* Returns the index of a word in a list that ends with NULL. */
static u32 choice(const char *what, const char *text, const char *const *words)
{
	for (u32 i = 0; words[i]; i++)
		if (!strcmp(text, words[i]))
			return i;
	fail("%s: unknown value '%s'", what, text);
}

static bool name_ok(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

	return n && !name[n] && n < OPTIONS_NAME_MAX;
}

static const char *const links[] = { "ib", "eth", NULL };

static u8 parse_link(const char *value)
{
	return choice("--hca link", value ? value : "", links) + LINK_IB;
}

static void parse_mac(struct hca_options *h, u32 port, const char *value)
{
	unsigned int b[WIRE_MAC_LEN];
	int end = 0, n;

	if (!value)
		value = "";
	n = sscanf(value, "%2x:%2x:%2x:%2x:%2x:%2x%n", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5],
		   &end);
	if (n != WIRE_MAC_LEN || value[end] || b[0] & 1 ||
	    !(b[0] | b[1] | b[2] | b[3] | b[4] | b[5]))
		fail("--hca mac: '%s' is not the Ethernet address of a station", value);
	for (u32 i = 0; i < WIRE_MAC_LEN; i++)
		h->port[port - 1].mac[i] = b[i];
	h->port[port - 1].has_mac = true;
}

static void parse_hca(struct options *o, const char *arg)
{
	enum { NAME, GUID, PORTS, VECTORS, LINK, LINK1, LINK2, MAC, MAC1, MAC2, STRICT };
	static char *const keys[] = {
		[NAME] = "name", [GUID] = "guid", [PORTS] = "ports", [VECTORS] = "vectors",
		[LINK] = "link", [LINK1] = "link1", [LINK2] = "link2", [MAC] = "mac",
		[MAC1] = "mac1", [MAC2] = "mac2", [STRICT] = "strict", NULL,
	};
	struct hca_options *h = &o->hca[o->nhcas];
	char *rest, *value, *text;

	if (o->nhcas == OPTIONS_MAX_HCAS)
		fail("--hca: more than %u adapters", OPTIONS_MAX_HCAS);
	h->path = strdup(arg);
	if (!h->path)
		fail("no memory");
	h->ports = 1;
	h->vectors = 0;
	/*
	 * GUIDs are locally administered, and further apart than an adapter has ports.  They do not
	 * begin with 02, because SRP targets use their GUID as service ID, and service IDs that
	 * begin so belong to the connection manager.
	 */
	h->guid = 0x0a56484341000000ULL + ((u64)(o->nhcas + 1) << 8);
	snprintf(h->name, sizeof(h->name), "hca%u", o->nhcas);

	rest = strchr(h->path, ',');
	if (rest)
		*rest++ = '\0';
	if (!*h->path)
		fail("--hca: '%s' names no socket", arg);
	while (rest && *rest) {
		text = rest;
		switch (getsubopt(&rest, keys, &value)) {
		case NAME:
			if (!value || !name_ok(value))
				fail("--hca: a name is 1 to %u letters, digits, '-' or '_'",
				     OPTIONS_NAME_MAX - 1);
			memcpy(h->name, value, strlen(value) + 1);
			break;
		case GUID:
			h->guid = number("--hca guid", value ? value : "", 16, 1,
					 UINT64_MAX - VDEV_MAX_PORTS);
			break;
		case PORTS:
			h->ports = number("--hca ports", value ? value : "", 10, 1, VDEV_MAX_PORTS);
			break;
		case VECTORS:
			h->vectors = number("--hca vectors", value ? value : "", 10, 1,
					    MIN(VDEV_MAX_VECTORS, MSIX_VECTORS_MAX));
			break;
		case LINK:
			h->port[0].link = parse_link(value);
			h->port[1].link = h->port[0].link;
			break;
		case LINK1:
			h->port[0].link = parse_link(value);
			break;
		case LINK2:
			h->port[1].link = parse_link(value);
			break;
		case MAC:
		case MAC1:
			parse_mac(h, 1, value);
			break;
		case MAC2:
			parse_mac(h, 2, value);
			break;
		case STRICT:
			if (value)
				fail("--hca strict: has no value");
			h->strict = true;
			break;
		default:
			fail("--hca: unknown property '%s'", text);
		}
	}
	o->nhcas++;
}

static void parse_pci_id(struct options *o, const char *arg)
{
	char vendor[5] = "", device[5] = "";
	int end = 0;

	if (sscanf(arg, "%4[0-9a-fA-F]:%4[0-9a-fA-F]%n", vendor, device, &end) != 2 || arg[end])
		fail("--pci-id: '%s' is not of the form VVVV:DDDD", arg);
	o->vendor = number("--pci-id", vendor, 16, 1, 0xfffe);
	o->device = number("--pci-id", device, 16, 0, 0xffff);
}

static void parse_version(struct options *o, const char *arg)
{
	unsigned int major, minor;
	int end = 0;

	if (sscanf(arg, "%u.%u%n", &major, &minor, &end) != 2 || arg[end] || !major ||
	    major > 255 || minor > 0xffff)
		fail("--device-version: '%s' is not of the form MAJOR.MINOR", arg);
	o->version = major << 16 | minor;
}

static void parse_pcie(struct options *o, char *arg)
{
	static const char *const speeds[] = { "2.5", "5", "8", "16", "32", NULL };
	static const char *const lanes[] = { "1", "2", "4", "8", "16", NULL };
	char *x = strchr(arg, 'x');

	if (!x)
		fail("--pcie: '%s' is not of the form SPEEDxLANES", arg);
	*x = '\0';
	o->pcie_speed = choice("--pcie", arg, speeds) + 1;
	o->pcie_lanes = 1u << choice("--pcie", x + 1, lanes);
}

static void parse_mtu(struct options *o, const char *arg)
{
	static const char *const sizes[] = { "256", "512", "1024", "2048", "4096", NULL };

	o->mtu = choice("--mtu", arg, sizes) + 1;	/* enum ib_mtu starts at 1 */
}

static void parse_caps_off(struct options *o, char *arg)
{
	static const u32 bits[] = {
		VHCA_CAP_RC,
		VHCA_CAP_UC,
		VHCA_CAP_UD,
		VHCA_CAP_MCAST,
		VHCA_CAP_RNR_NAK,
		VHCA_CAP_SRQ,
		VHCA_CAP_CQ_RESIZE,
		VHCA_CAP_CQ_MODERATION,
		VHCA_CAP_COUNTERS,
		VHCA_CAP_ATOMIC,
		VHCA_CAP_MASKED_ATOMIC,
		VHCA_CAP_ATOMIC_WRITE,
		VHCA_CAP_FLUSH,
		VHCA_CAP_FAST_REG,
		VHCA_CAP_UC_FAST_REG,
		VHCA_CAP_SG_GAPS,
		VHCA_CAP_MW,
		VHCA_CAP_MW_2A,
		VHCA_CAP_MW_2B,
		VHCA_CAP_FMR,
		VHCA_CAP_XRC,
		VHCA_CAP_CLOCK,
		VHCA_CAP_APM,
		VHCA_CAP_CLOCK_QUERY,
		VHCA_CAP_QP_COUNTERS,
		VHCA_CAP_PORT_CHANGE,
		VHCA_CAP_UD_CSUM,
		VHCA_CAP_UD_CSUM6,
		VHCA_CAP_UD_LSO,
		VHCA_CAP_UD_LSO6,
		VHCA_CAP_INTEGRITY,
		VHCA_CAP_SMI_GSI,
	};
	static const char *const names[] = {
		"rc",
		"uc",
		"ud",
		"mcast",
		"rnr-nak",
		"srq",
		"cq-resize",
		"cq-moderation",
		"counters",
		"atomic",
		"masked-atomic",
		"atomic-write",
		"flush",
		"fast-reg",
		"uc-fast-reg",
		"sg-gaps",
		"mw",
		"mw-2a",
		"mw-2b",
		"fmr",
		"xrc",
		"clock",
		"apm",
		"clock-query",
		"qp-counters",
		"port-change",
		"ud-csum",
		"ud-csum6",
		"ud-lso",
		"ud-lso6",
		"integrity",
		"smi-gsi",
		NULL,
	};
	char *colon = strchr(arg, ':'), *save = NULL;
	struct caps_off *off = &o->caps_off[o->ncaps_off];

	if (o->ncaps_off == OPTIONS_MAX_HCAS)
		fail("--caps-off: given more than %u times", OPTIONS_MAX_HCAS);
	o->ncaps_off++;
	if (colon) {
		*colon = '\0';
		off->hca = arg;
		arg = colon + 1;
	}
	for (char *word = strtok_r(arg, ",", &save); word; word = strtok_r(NULL, ",", &save))
		off->caps |= 1ULL << bits[choice("--caps-off", word, names)];
}

/* Called after all options are read, since one may name an adapter of a later one. */
static void hand_out_caps_off(struct options *o)
{
	for (u32 i = 0; i < o->ncaps_off; i++) {
		const struct caps_off *off = &o->caps_off[i];
		bool found = false;

		for (u32 j = 0; j < o->nhcas; j++) {
			if (off->hca && strcmp(off->hca, o->hca[j].name))
				continue;
			o->hca[j].caps_off |= off->caps;
			found = true;
		}
		if (!found)
			fail("--caps-off: no adapter is named %s", off->hca);
	}
}

static void parse_limit(struct options *o, char *arg)
{
	char *colon = strchr(arg, ':'), *save = NULL;
	struct limits *l = &o->limits[o->nlimits];

	if (o->nlimits == OPTIONS_MAX_HCAS)
		fail("--limit: given more than %u times", OPTIONS_MAX_HCAS);
	o->nlimits++;
	if (colon) {
		*colon = '\0';
		l->hca = arg;
		arg = colon + 1;
	}
	for (char *word = strtok_r(arg, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		char *value = strchr(word, '=');
		int i;

		if (!value)
			fail("--limit: '%s' is not NAME=N", word);
		*value++ = '\0';
		i = vlimit_by_name(word);
		if (i < 0)
			fail("--limit: unknown limit '%s'", word);
		l->limit[i] = number("--limit", value, 10, 1, vlimit_most(i));
	}
}

/* If several options set a limit, the last one counts. */
static void hand_out_limits(struct options *o)
{
	for (u32 i = 0; i < o->nlimits; i++) {
		const struct limits *l = &o->limits[i];
		bool found = false;

		for (u32 j = 0; j < o->nhcas; j++) {
			if (l->hca && strcmp(l->hca, o->hca[j].name))
				continue;
			for (u32 k = 0; k < VLIMITS; k++)
				if (l->limit[k])
					o->hca[j].limit[k] = l->limit[k];
			found = true;
		}
		if (!found)
			fail("--limit: no adapter is named %s", l->hca);
	}
}

/* Checks what depends on several options. */
static void check(struct options *o)
{
	if (!o->nhcas)
		fail("no adapter: give --hca SOCKET (see vhcad --help)");
	for (u32 i = 0; i < o->nhcas; i++) {
		struct hca_options *h = &o->hca[i];

		if (o->irq == PCI_IRQ_MSI && h->vectors > 1)
			fail("--hca %s: with --irq msi there is one vector", h->name);
		if (!h->vectors)
			h->vectors = o->irq == PCI_IRQ_MSI ? 1 : 16;
		for (u32 j = 0; j < i; j++) {
			if (!strcmp(h->name, o->hca[j].name))
				fail("--hca: two adapters are named %s", h->name);
			if (!strcmp(h->path, o->hca[j].path))
				fail("--hca: two adapters on socket %s", h->path);
			/* the GUIDs of an adapter's ports follow that of its node */
			if (h->guid - o->hca[j].guid <= o->hca[j].ports ||
			    o->hca[j].guid - h->guid <= h->ports)
				fail("--hca: the GUIDs of %s and %s overlap", o->hca[j].name,
				     h->name);
		}
	}
}

/*
 * Called after all options are read, as --link may come last.  Ethernet ports without a MAC address
 * get one that is locally administered and unique in the daemon.
 */
static void hand_out_links(struct options *o)
{
	for (u32 i = 0; i < o->nhcas; i++) {
		struct hca_options *h = &o->hca[i];

		for (u32 p = 0; p < VDEV_MAX_PORTS; p++) {
			if (!h->port[p].link)
				h->port[p].link = o->link;
			if (h->port[p].has_mac &&
			    (p >= h->ports || h->port[p].link != LINK_ETH))
				fail("--hca: %s has no Ethernet port %u for this address", h->name,
				     p + 1);
			if (!h->port[p].has_mac)
				memcpy(h->port[p].mac, (u8[]){ 0x02, 0x56, 0x48, 0x45, i, p + 1 },
				       WIRE_MAC_LEN);
		}
	}
}

void options_parse(struct options *o, int argc, char **argv)
{
	enum {
		HCA = 256, SUBNET, LINK, MTU, CAPTURE, TRACE, LOG, CONTROL, ETHERNET, IRQ, PCIE,
		SPIN, THREADS, LOSS, SEED, SCENARIO, TOPOLOGY, PCI_ID, DEVICE_VERSION, CAPS_OFF,
		LIMIT, ALLOW_UNSEALED, USER, NO_SANDBOX, HELP, VERSION,
	};
	static const struct option longs[] = {
		{ "hca", required_argument, NULL, HCA },
		{ "subnet", required_argument, NULL, SUBNET },
		{ "link", required_argument, NULL, LINK },
		{ "mtu", required_argument, NULL, MTU },
		{ "capture", required_argument, NULL, CAPTURE },
		{ "trace", required_argument, NULL, TRACE },
		{ "log", required_argument, NULL, LOG },
		{ "control", required_argument, NULL, CONTROL },
		{ "ethernet", required_argument, NULL, ETHERNET },
		{ "irq", required_argument, NULL, IRQ },
		{ "pcie", required_argument, NULL, PCIE },
		{ "spin", required_argument, NULL, SPIN },
		{ "threads", required_argument, NULL, THREADS },
		{ "loss", required_argument, NULL, LOSS },
		{ "seed", required_argument, NULL, SEED },
		{ "scenario", required_argument, NULL, SCENARIO },
		{ "topology", required_argument, NULL, TOPOLOGY },
		{ "pci-id", required_argument, NULL, PCI_ID },
		{ "device-version", required_argument, NULL, DEVICE_VERSION },
		{ "caps-off", required_argument, NULL, CAPS_OFF },
		{ "limit", required_argument, NULL, LIMIT },
		{ "allow-unsealed", no_argument, NULL, ALLOW_UNSEALED },
		{ "user", required_argument, NULL, USER },
		{ "no-sandbox", no_argument, NULL, NO_SANDBOX },
		{ "help", no_argument, NULL, HELP },
		{ "version", no_argument, NULL, VERSION },
		{ NULL, 0, NULL, 0 },
	};
	/* "opensm" stands for any subnet manager */
	enum { SUBNET_STATIC = 2 };
	static const char *const subnets[] = { "none", "opensm", "static", NULL };
	static const char *const irqs[] = { "msix", "msi", NULL };
	int c;

	memset(o, 0, sizeof(*o));
	o->static_subnet = true;
	o->link = LINK_IB;
	o->vendor = VHCA_PCI_VENDOR;
	o->device = VHCA_PCI_DEVICE;
	o->version = VHCA_VERSION_MAJOR << 16 | VHCA_VERSION_MINOR;
	o->mtu = 5;
	o->pcie_speed = PCI_SPEED_MAX;
	o->pcie_lanes = PCI_LANES_MAX;
	o->seed = 1;
	o->threads = 1;
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":", longs, NULL)) != -1) {
		switch (c) {
		case HCA:
			parse_hca(o, optarg);
			break;
		case SUBNET:
			o->static_subnet = choice("--subnet", optarg, subnets) == SUBNET_STATIC;
			break;
		case LINK:
			o->link = choice("--link", optarg, links) + LINK_IB;
			break;
		case MTU:
			parse_mtu(o, optarg);
			break;
		case CAPTURE:
			o->capture = optarg;
			break;
		case TRACE:
			o->trace = optarg;
			break;
		case LOG:
			o->log = optarg;
			break;
		case CONTROL:
			o->control = optarg;
			break;
		case ETHERNET:
			o->ethernet = optarg;
			break;
		case IRQ:
			o->irq = choice("--irq", optarg, irqs) ? PCI_IRQ_MSI : PCI_IRQ_MSIX;
			break;
		case PCIE:
			parse_pcie(o, optarg);
			break;
		case SPIN:
			o->spin_usec = number("--spin", optarg, 10, 0, 1000000);
			break;
		case THREADS:
			o->threads = number("--threads", optarg, 10, 1, ENGINE_THREADS);
			break;
		case LOSS:
			o->loss = number("--loss", optarg, 10, 0, 1000);
			break;
		case SEED:
			o->seed = number("--seed", optarg, 10, 0, UINT32_MAX);
			break;
		case SCENARIO:
			o->scenario = optarg;
			break;
		case TOPOLOGY:
			o->topology = optarg;
			break;
		case PCI_ID:
			parse_pci_id(o, optarg);
			break;
		case DEVICE_VERSION:
			parse_version(o, optarg);
			break;
		case CAPS_OFF:
			parse_caps_off(o, optarg);
			break;
		case LIMIT:
			parse_limit(o, optarg);
			break;
		case ALLOW_UNSEALED:
			o->allow_unsealed = true;
			break;
		case USER:
			o->user = optarg;
			break;
		case NO_SANDBOX:
			o->no_sandbox = true;
			break;
		case HELP:
			fputs(usage, stdout);
			exit(0);
		case VERSION:
			printf("vhcad, device interface %u.%u\n", VHCA_VERSION_MAJOR,
			       VHCA_VERSION_MINOR);
			exit(0);
		case ':':
			fail("%s needs a value", argv[optind - 1]);
		default:
			fail("unknown option '%s' (see vhcad --help)", argv[optind - 1]);
		}
	}
	if (optind < argc)
		fail("unexpected argument '%s' (see vhcad --help)", argv[optind]);
	hand_out_links(o);
	check(o);
	hand_out_caps_off(o);
	hand_out_limits(o);
}

void options_release(struct options *o)
{
	for (u32 i = 0; i < o->nhcas; i++)
		free(o->hca[i].path);
}
