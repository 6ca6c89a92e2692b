// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The daemon's command line: what it refuses, and that valid options have their effect, as a driver
 * at the other end of the socket sees it.
 */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "drivers/infiniband/hw/vhca/defs/vhca_hw.h"
#include "tests/cm.h"
#include "tests/tcheck.h"
#include "tests/testmem.h"
#include "tests/tprog.h"
#include "tests/vuclient.h"
#include "wire/wire.h"

#define BASE		0x100000ull	/* DMA address of the guest's memory */
#define MEM		0x20000u
#define ACQ		0x8000u
#define OUT		0x10000u
#define DB		0x18000u

struct run {
	char dir[TPROG_DIR], sock[TPROG_PATH], ctl[TPROG_PATH], log[TPROG_PATH], file[TPROG_PATH];
	pid_t pid;
	int fd;
	u8 *mem;
	u32 tail;
};

static int setup(void **state)
{
	struct run *r = calloc(1, sizeof(*r));

	tprog_dir(r->dir);
	tprog_in(r->dir, "hca", r->sock);
	tprog_in(r->dir, "control", r->ctl);
	tprog_in(r->dir, "log", r->log);
	tprog_in(r->dir, "file", r->file);
	r->fd = -1;
	assert_int_equal(chdir(r->dir), 0);
	*state = r;
	return 0;
}

static int teardown(void **state)
{
	struct run *r = *state;

	tprog_abandon(r->pid);
	if (r->mem)
		munmap(r->mem, MEM);
	assert_int_equal(chdir("/"), 0);
	tprog_dir_end(r->dir, r->log, r->file, r->sock, r->ctl, NULL);
	free(r);
	return 0;
}

/* ---- refusals ---- */

static void bad_command_lines(void **state)
{
	static const struct {
		const char *args[8];
		const char *says;
	} cases[] = {
		{ { "--hca", "x,name" }, "a name is 1 to 31 letters" },
		{ { "--hca", "x,name=" }, "a name is 1 to 31 letters" },
		{ { "--hca", "x,name=abcdefghijklmnopqrstuvwxyz012345" },
		  "a name is 1 to 31 letters" },
		{ { "--hca", "x,guid" }, "--hca guid: '' is not a hexadecimal number" },
		{ { "--hca", "x,guid=0" }, "'0' is not a hexadecimal number between 1" },
		{ { "--hca", "x,guid=ffffffffffffffff" }, "is not a hexadecimal number" },
		{ { "--hca", "x,guid=10000000000000000" }, "is not a hexadecimal number" },
		{ { "--hca", "x,guid=+5" }, "is not a hexadecimal number" },
		{ { "--hca", "x,ports" }, "--hca ports: ''" },
		{ { "--hca", "x,ports=0" }, "'0' is not a number between 1 and 2" },
		{ { "--hca", "x,ports=1x" }, "'1x' is not a number" },
		{ { "--hca", "x,vectors=65" }, "'65' is not a number between 1 and 64" },
		{ { "--hca", "x,vectors" }, "--hca vectors: ''" },
		{ { "--hca", "x,link=tr" }, "--hca link: unknown value 'tr'" },
		{ { "--hca", "x,link" }, "--hca link: unknown value ''" },
		{ { "--hca", "x", "--link", "tr" }, "--link: unknown value 'tr'" },
		{ { "--hca", "x,link=eth,mac=1:2:3:4:5" }, "is not the Ethernet address" },
		{ { "--hca", "x,link=eth,mac=02:0:0:0:0:0:1" }, "is not the Ethernet address" },
		{ { "--hca", "x,link=eth,mac=03:00:00:00:00:01" }, "is not the Ethernet address" },
		{ { "--hca", "x,link=eth,mac=00:00:00:00:00:00" }, "is not the Ethernet address" },
		{ { "--hca", "x,link=eth,mac" }, "'' is not the Ethernet address" },
		{ { "--hca", "x,mac=02:00:00:00:00:01" }, "hca0 has no Ethernet port 1" },
		{ { "--hca", "x,link=eth,mac2=02:00:00:00:00:01" }, "hca0 has no Ethernet port 2" },
		{ { "--hca", "x,link=eth,strict=1" }, "strict: has no value" },
		{ { "--hca", "x", "--irq", "intx" }, "--irq: unknown value 'intx'" },
		{ { "--hca", "x,name=m,vectors=2", "--irq", "msi" },
		  "--hca m: with --irq msi there is one vector" },
		{ { "--hca", "x", "--pci-id", "0:10f0" }, "--pci-id: '0' is not" },
		{ { "--hca", "x", "--pci-id", "ffff:10f0" }, "--pci-id: 'ffff' is not" },
		{ { "--hca", "x", "--pci-id", "1af4:10f0f" }, "is not of the form VVVV:DDDD" },
		{ { "--hca", "x", "--pci-id", "1af4:xyz" }, "is not of the form VVVV:DDDD" },
		{ { "--hca", "x", "--device-version", "0.1" }, "is not of the form MAJOR.MINOR" },
		{ { "--hca", "x", "--device-version", "256.0" }, "is not of the form MAJOR.MINOR" },
		{ { "--hca", "x", "--device-version", "1.65536" },
		  "is not of the form MAJOR.MINOR" },
		{ { "--hca", "x", "--device-version", "1.2.3" }, "is not of the form MAJOR.MINOR" },
		{ { "--hca", "x", "--spin", "1000001" }, "not a number between 0 and 1000000" },
		{ { "--hca", "x", "--threads", "0" }, "not a number between 1 and 64" },
		{ { "--hca", "x", "--threads", "65" }, "not a number between 1 and 64" },
		{ { "--hca", "x", "--loss", "1001" }, "'1001' is not a number between 0 and 1000" },
		{ { "--hca", "x", "--seed", "4294967296" }, "--seed: '4294967296' is not" },
		{ { "--hca", "x", "--caps-off", "rc,wings" }, "--caps-off: unknown value 'wings'" },
		{ { "--hca", "x", "--caps-off", "hca0:rc,hca0:uc" },
		  "--caps-off: unknown value 'hca0:uc'" },
		{ { "--hca", "x", "--caps-off", "hca1:rc" },
		  "--caps-off: no adapter is named hca1" },
		{ { "--hca", "x", "--limit", "qps" }, "--limit: 'qps' is not NAME=N" },
		{ { "--hca", "x", "--limit", "cats=9" }, "--limit: unknown limit 'cats'" },
		{ { "--hca", "x", "--limit", "qps=0" },
		  "'0' is not a number between 1 and 131070" },
		{ { "--hca", "x", "--limit", "qps=5,pds=70000" },
		  "'70000' is not a number between 1 and 65536" },
		{ { "--hca", "x", "--limit", "uars=1025" },
		  "'1025' is not a number between 1 and 1024" },
		{ { "--hca", "x", "--limit", "hca1:qps=5" }, "--limit: no adapter is named hca1" },
		{ { "--hca", "x", "--pcie", "32" }, "--pcie: '32' is not of the form SPEEDxLANES" },
		{ { "--hca", "x", "--pcie", "3x16" }, "--pcie: unknown value '3'" },
		{ { "--hca", "x", "--pcie", "16x3" }, "--pcie: unknown value '3'" },
		{ { "--hca", "x,guid=100,ports=2", "--hca", "y,guid=102" }, "overlap" },
		{ { "--hca", "x,guid=102", "--hca", "y,guid=100,ports=2" }, "overlap" },
		{ { "--hca" }, "--hca needs a value" },
		{ { "-x" }, "unknown option" },
	};
	struct run *r = *state;
	char far[128], *args[2 * 130 + 2] = { "vhcad" };

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		char *few[10] = { "vhcad" };

		memcpy(few + 1, cases[i].args, sizeof(cases[i].args));
		tprog_refused("VHCAD", few, cases[i].says);
		assert_int_equal(access("x", F_OK), -1);
	}
	memset(far, 'x', sizeof(far));
	far[108] = '\0';
	tprog_refused("VHCAD", (char *[]){ "vhcad", "--hca", far, NULL },
		      "a socket's path has at most 107 bytes");
	/* the adapter's socket is removed when the control socket cannot be made */
	tprog_refused("VHCAD", (char *[]){ "vhcad", "--hca", r->sock, "--control", far, NULL },
		      "a socket's path has at most 107 bytes");
	assert_int_equal(access(r->sock, F_OK), -1);
	for (u32 i = 0; i < 129; i++) {
		args[1 + 2 * i] = "--hca";
		args[2 + 2 * i] = "x";
	}
	tprog_refused("VHCAD", args, "more than 128 adapters");
}

static void help(void **state)
{
	char out[8192];

	assert_int_equal(tprog_run(tprog_path("VHCAD"), (char *[]){ "vhcad", "--help", NULL }, 0,
				   out, sizeof(out)), 0);
	assert_ptr_equal(strstr(out, "usage: vhcad --hca SOCKET"), out);
	assert_int_equal(tprog_run(tprog_path("VHCAD"), (char *[]){ "vhcad", "--version", NULL },
				   0, out, sizeof(out)), 0);
	assert_string_equal(out, "vhcad, device interface 1.8\n");
	assert_int_equal(tprog_run(tprog_path("VHCACTL"), (char *[]){ "vhcactl", "--help", NULL },
				   0, out, sizeof(out)), 0);
	assert_ptr_equal(strstr(out, "usage: vhcactl"), out);
}

/* Descriptors run out at each place in turn: one reason, and no socket is left. */
static void few_descriptors(void **state)
{
	struct run *r = *state;
	char *args[] = { "vhcad", "--hca", r->sock, "--control", r->ctl, "--log", r->log, NULL };
	u32 failed = 0, status = 2;
	char out[8192];

	for (rlim_t n = 4; status; n++) {
		assert_true(n < 64);
		/* the build without sanitizers, which use descriptors themselves */
		status = tprog_run(tprog_path("VHCAD_FAST"), args, n, out, sizeof(out));
		assert_int_equal(access(r->sock, F_OK), -1);
		assert_int_equal(access(r->ctl, F_OK), -1);
		if (status == 127)	/* not even its libraries could be opened */
			continue;
		if (!status)
			break;
		assert_int_equal(status, 2);
		assert_non_null(strstr(out, "vhcad: "));
		assert_non_null(strstr(out, ": Too many open files\n"));
		failed++;
	}
	/* a socket, its guest's interrupts, the engine, the control socket */
	assert_true(failed >= 4);
	assert_non_null(strstr(out, "ready\n"));
}

/* ---- effects ---- */

/* Starts the daemon with this socket and the options up to a NULL, and attaches a driver. */
static void start(struct run *r, char *const *options)
{
	char *args[32] = { "vhcad", "--control", r->ctl, "--log", r->log };
	u32 n = 5;

	while (*options) {
		assert_true(n + 1 < ARRAY_SIZE(args));
		args[n++] = *options++;
	}
	r->pid = tprog_start(tprog_path("VHCAD"), args);
	r->fd = tprog_attach(r->sock);
	vuc_greet(r->fd);
}

static void stop(struct run *r)
{
	pid_t pid = r->pid;

	close(r->fd);
	r->pid = 0;
	tprog_stop(pid, SIGTERM);
	assert_int_equal(access(r->sock, F_OK), -1);
	assert_int_equal(access(r->ctl, F_OK), -1);
}

static u32 read_region(struct run *r, u32 region, u64 off, u32 len)
{
	struct vu_region_io io = { .offset = off, .region = region, .count = len };
	struct { struct vu_region_io io; u32 val; } answer = { .val = 0 };

	assert_int_equal(vuc_call(r->fd, VU_REGION_READ, &io, sizeof(io), NULL, 0, &answer,
				  sizeof(answer), NULL), 0);
	return answer.val;
}

static u32 reg(struct run *r, u32 off)
{
	return read_region(r, 0, off, 4);
}

static u32 config(struct run *r, u32 off, u32 len)
{
	return read_region(r, VFIO_PCI_CONFIG_REGION_INDEX, off, len);
}

static void write_region(struct run *r, u32 region, u64 off, u32 val)
{
	struct {
		struct vu_region_io io;
		u32 val;
	} __attribute__((packed)) m = {
		.io = { .offset = off, .region = region, .count = 4 }, .val = val,
	};

	assert_int_equal(vuc_call(r->fd, VU_REGION_WRITE, &m, sizeof(m), NULL, 0, NULL, 0, NULL),
			 0);
}

static u32 dma_map(struct run *r, int mem)
{
	const struct vu_dma_map map = {
		.argsz = sizeof(map), .flags = 3, .address = BASE, .size = MEM,
	};

	return vuc_call(r->fd, VU_DMA_MAP, &map, sizeof(map), &mem, 1, NULL, 0, NULL);
}

/* The beginning of a driver: memory, bus mastering, admin rings, enable. */
static void enable(struct run *r, u32 vector)
{
	int mem = testmem_fd(MEM);

	if (r->mem)
		munmap(r->mem, MEM);
	r->mem = mmap(NULL, MEM, PROT_READ | PROT_WRITE, MAP_SHARED, mem, 0);
	assert_ptr_not_equal(r->mem, MAP_FAILED);
	assert_int_equal(dma_map(r, mem), 0);
	close(mem);
	write_region(r, VFIO_PCI_CONFIG_REGION_INDEX, PCI_COMMAND,
		     PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	write_region(r, 0, VHCA_REG_ASQ_LO, BASE);
	write_region(r, 0, VHCA_REG_ACQ_LO, BASE + ACQ);
	write_region(r, 0, VHCA_REG_ADMIN_SIZE, 4);
	write_region(r, 0, VHCA_REG_ADMIN_VECTOR, vector);
	write_region(r, 0, VHCA_REG_CONTROL, VHCA_CONTROL_ENABLE);
	assert_int_equal(reg(r, VHCA_REG_STATUS), VHCA_STATUS_READY);
	r->tail = 0;
}

/* One of the first sixteen commands; returns its status, with the output at OUT. */
static u32 command(struct run *r, u8 op, const void *req, u32 len, u32 out_len, void *resp)
{
	struct vhca_asqe *sqe = (void *)(r->mem + r->tail * sizeof(*sqe));
	struct vhca_acqe *e = (void *)(r->mem + ACQ + r->tail * sizeof(*e));

	*sqe = (struct vhca_asqe){ .opcode = op, .out_len = htole32(out_len) };
	if (out_len)
		sqe->out_addr = htole64(BASE + OUT);
	if (len)
		memcpy(sqe->req, req, len);
	assert_true(++r->tail < 16);
	write_region(r, 0, VHCA_REG_ADMIN_TAIL, r->tail);
	while (!__atomic_load_n(&e->phase, __ATOMIC_ACQUIRE))
		sched_yield();
	if (resp)
		memcpy(resp, e->resp, VHCA_ACQE_RESP);
	return e->status;
}

static struct vhca_port_attr port_attr(struct run *r)
{
	const struct vhca_port_req req = { .port = 1 };
	struct vhca_port_attr a;

	assert_int_equal(command(r, VHCA_CMD_QUERY_PORT, &req, sizeof(req), sizeof(a), NULL), 0);
	memcpy(&a, r->mem + OUT, sizeof(a));
	return a;
}

static struct vhca_device_attr device_attr(struct run *r)
{
	struct vhca_device_attr a;

	assert_int_equal(command(r, VHCA_CMD_QUERY_DEVICE, NULL, 0, sizeof(a), NULL), 0);
	memcpy(&a, r->mem + OUT, sizeof(a));
	return a;
}

/* The id of the capability at the offset of the interrupt capability. */
static u32 has_capability(struct run *r, u32 id)
{
	u32 at = config(r, PCI_CAPABILITY_LIST, 1);

	for (; at; at = config(r, at + 1, 1))
		if (config(r, at, 1) == id)
			return at;
	return 0;
}

static void identity(void **state)
{
	struct run *r = *state;
	char hca[128];

	snprintf(hca, sizeof(hca), "%s,name=left-1,guid=abcdef0123,ports=2,vectors=3", r->sock);
	start(r, (char *[]){ "--hca", hca, "--pci-id", "1234:abcd", "--device-version", "3.7",
			     "--link", "ib", "--irq", "msix", "--subnet", "static", NULL });
	assert_int_equal(config(r, PCI_VENDOR_ID, 4), 0xabcd1234);
	assert_int_equal(config(r, PCI_REVISION_ID, 1), 3);
	assert_int_equal(reg(r, VHCA_REG_VERSION), 3 << 16 | 7);
	assert_int_equal(config(r, has_capability(r, PCI_CAP_ID_MSIX) + PCI_MSIX_FLAGS, 2) &
			 PCI_MSIX_FLAGS_QSIZE, 3 - 1);
	enable(r, VHCA_NO_VECTOR);
	assert_int_equal(le64toh(device_attr(r).node_guid), 0xabcdef0123);
	assert_int_equal(device_attr(r).ports, 2);
	assert_int_equal(le32toh(device_attr(r).vectors), 3);
	assert_int_equal(port_attr(r).state, 4);	/* ACTIVE */
	assert_int_equal(le16toh(port_attr(r).lid), 1);
	assert_int_equal(port_attr(r).max_mtu, 5);
	stop(r);
}

/* An option for one adapter overrides one for all. */
static void ethernet(void **state)
{
	static const u8 mac[6] = { 0x52, 0x54, 0, 0x77, 0, 1 };
	struct run *r = *state;
	char hca[128];

	snprintf(hca, sizeof(hca), "%s,ports=2,link=ib,link1=eth,mac=52:54:00:77:00:01,strict",
		 r->sock);
	start(r, (char *[]){ "--hca", hca, "--link", "ib", NULL });
	enable(r, VHCA_NO_VECTOR);
	assert_int_equal(port_attr(r).link_layer, VHCA_LINK_ETH);
	assert_int_equal(port_attr(r).state, 4);	/* ACTIVE */
	assert_int_equal(le16toh(port_attr(r).lid), 0);
	assert_memory_equal(port_attr(r).mac, mac, sizeof(mac));
	stop(r);
}

static void ethernet_by_default(void **state)
{
	static const u8 mac[6] = { 0x02, 0x56, 0x48, 0x45, 0, 1 };
	struct run *r = *state;

	start(r, (char *[]){ "--hca", r->sock, "--link", "eth", NULL });
	enable(r, VHCA_NO_VECTOR);
	assert_int_equal(port_attr(r).link_layer, VHCA_LINK_ETH);
	assert_memory_equal(port_attr(r).mac, mac, sizeof(mac));
	stop(r);
}

static void less_than_all(void **state)
{
	struct run *r = *state;
	u64 caps;

	start(r, (char *[]){ "--hca", r->sock, "--subnet", "none", "--mtu", "1024", "--irq", "msi",
			     "--caps-off", "rc", "--caps-off", "hca0:rnr-nak,clock", "--spin",
			     "100", "--threads", "3", "--limit", "hca0:qps=77,cqs=5", "--pcie",
			     "8x4", NULL });
	assert_int_equal(read_region(r, VFIO_PCI_CONFIG_REGION_INDEX,
				     has_capability(r, PCI_CAP_ID_EXP) + PCI_EXP_LNKSTA, 2),
			 PCI_EXP_LNKSTA_CLS_8_0GB | 4 << PCI_EXP_LNKSTA_NLW_SHIFT);
	assert_int_equal(has_capability(r, PCI_CAP_ID_MSIX), 0);
	assert_int_not_equal(has_capability(r, PCI_CAP_ID_MSI), 0);
	enable(r, VHCA_NO_VECTOR);
	caps = le64toh(device_attr(r).caps);
	assert_int_equal(caps >> VHCA_CAP_RC & 1, 0);
	assert_int_equal(caps >> VHCA_CAP_RNR_NAK & 1, 0);
	assert_int_equal(caps >> VHCA_CAP_CLOCK & 1, 0);
	assert_int_equal(caps >> VHCA_CAP_UD & 1, 1);
	assert_int_equal(le32toh(device_attr(r).vectors), 1);
	assert_int_equal(le32toh(device_attr(r).max_qps), 77);
	assert_int_equal(le32toh(device_attr(r).max_cqs), 5);
	assert_int_equal(le32toh(device_attr(r).max_pds), 64 << 10);
	assert_int_equal(port_attr(r).state, 2);	/* INIT: it has no manager */
	assert_int_equal(port_attr(r).lid, 0);
	assert_int_equal(port_attr(r).max_mtu, 3);
	stop(r);
}

/* Interrupts and kicks work end to end. */
static void both_ways(void **state)
{
	const struct vhca_open_uar_req uar = { .db_page = htole64(BASE + DB) };
	const u32 set[5] = { 20, VFIO_IRQ_SET_ACTION_TRIGGER | VFIO_IRQ_SET_DATA_EVENTFD,
			     VFIO_PCI_MSIX_IRQ_INDEX, 2, 1 };
	int irq = eventfd(0, EFD_CLOEXEC);
	struct pollfd p = { .fd = irq, .events = POLLIN };
	struct { struct vhca_object_resp o; u8 rest[VHCA_ACQE_RESP - 8]; } resp;
	struct run *r = *state;
	u64 kick;
	u32 *armed;

	start(r, (char *[]){ "--hca", r->sock, NULL });
	assert_int_equal(vuc_call(r->fd, VU_SET_IRQS, set, sizeof(set), &irq, 1, NULL, 0, NULL), 0);
	enable(r, 2);
	assert_int_equal(command(r, VHCA_CMD_OPEN_UAR, &uar, sizeof(uar), 0, &resp), 0);
	assert_int_equal(poll(&p, 1, -1), 1);

	/* before it sleeps the engine arms: a kick wakes it, and then it arms again */
	armed = (void *)(r->mem + DB + offsetof(struct vhca_db_page, armed));
	kick = (u64)le32toh(resp.o.handle) * SERVER_KICK_STRIDE;
	for (u32 i = 0; i < 3; i++) {
		while (!__atomic_load_n(armed, __ATOMIC_SEQ_CST))
			sched_yield();
		__atomic_store_n(armed, 0, __ATOMIC_SEQ_CST);
		/* another word is no kick */
		write_region(r, VHCA_BAR_KICK, kick, VHCA_KICK + 1);
		assert_int_equal(reg(r, VHCA_REG_MAGIC), VHCA_MAGIC);
		assert_int_equal(__atomic_load_n(armed, __ATOMIC_SEQ_CST), 0);
		write_region(r, VHCA_BAR_KICK, kick, VHCA_KICK);
	}
	while (!__atomic_load_n(armed, __ATOMIC_SEQ_CST))
		sched_yield();
	stop(r);
	close(irq);
}

/* Checks that the log of the daemon, which has ended, has this text. */
static void expect_logged(struct run *r, const char *text)
{
	char line[512], *found = NULL;
	FILE *log = fopen(r->log, "re");

	assert_non_null(log);
	while (!found && fgets(line, sizeof(line), log))
		found = strstr(line, text);
	fclose(log);
	if (!found)
		fail_msg("the log does not say '%s'", text);
}

static void unsealed_memory(void **state)
{
	int mem = memfd_create("guest", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct run *r = *state;

	assert_int_equal(ftruncate(mem, MEM), 0);
	start(r, (char *[]){ "--hca", r->sock, NULL });
	assert_int_equal(dma_map(r, mem), EPERM);
	stop(r);
	expect_logged(r, "hca0: guest memory refused, 0x20000 bytes at 0x100000: its owner can "
		      "truncate it");
	start(r, (char *[]){ "--hca", r->sock, "--allow-unsealed", NULL });
	assert_int_equal(dma_map(r, mem), 0);
	/* if the file's owner shrinks it the adapter has lost its memory, and the daemon lives */
	write_region(r, VFIO_PCI_CONFIG_REGION_INDEX, PCI_COMMAND,
		     PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	write_region(r, 0, VHCA_REG_ASQ_LO, BASE);
	write_region(r, 0, VHCA_REG_ACQ_LO, BASE + ACQ);
	write_region(r, 0, VHCA_REG_ADMIN_SIZE, 4);
	write_region(r, 0, VHCA_REG_CONTROL, VHCA_CONTROL_ENABLE);
	assert_int_equal(ftruncate(mem, 0), 0);
	write_region(r, 0, VHCA_REG_ADMIN_TAIL, 1);
	while (reg(r, VHCA_REG_STATUS) == VHCA_STATUS_READY)
		sched_yield();
	stop(r);
	expect_logged(r, "memory: 0x20000 bytes of a guest are gone");
	close(mem);
}

static void captures(void **state)
{
	struct run *r = *state;

	start(r, (char *[]){ "--hca", r->sock, "--capture", r->file, NULL });
	stop(r);
	assert_int_equal(t_capcheck(r->file), 2);	/* whole, without a packet */
	assert_int_equal(truncate(r->file, 60), 0);
	start(r, (char *[]){ "--hca", r->sock, "--capture", "/dev/full", NULL });
	stop(r);
	expect_logged(r, "capture /dev/full is incomplete: No space left on device");
}

/* A guest that enables its adapter; the viewer's own checks are in tests/trace_test.c. */
static void traces(void **state)
{
	struct run *r = *state;
	struct json_object *all;
	const char *text;

	start(r, (char *[]){ "--hca", r->sock, "--trace", r->file, NULL });
	enable(r, 1);
	assert_int_equal(command(r, VHCA_CMD_QUERY_DEVICE, NULL, 0, 256, NULL), 0);
	stop(r);
	all = json_object_from_file(r->file);
	assert_non_null(all);
	text = json_object_to_json_string_ext(all, JSON_C_TO_STRING_PLAIN);
	assert_non_null(strstr(text, "\"name\":\"QUERY_DEVICE\""));
	assert_non_null(strstr(text, "\"name\":\"interrupt\""));
	assert_non_null(strstr(text, "\"args\":{\"name\":\"engine\"}"));
	assert_non_null(strstr(text, "\"name\":\"sleep: nothing to do\""));
	assert_non_null(strstr(text, "\"name\":\"woken by a change\""));
	json_object_put(all);
	start(r, (char *[]){ "--hca", r->sock, "--trace", "/dev/full", NULL });
	stop(r);
	expect_logged(r, "trace /dev/full is incomplete: No space left on device");
}

int main(void)
{
#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(bad_command_lines), TEST(help), TEST(few_descriptors), TEST(identity),
		TEST(ethernet), TEST(ethernet_by_default),
		TEST(less_than_all), TEST(both_ways), TEST(unsealed_memory), TEST(captures),
		TEST(traces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
