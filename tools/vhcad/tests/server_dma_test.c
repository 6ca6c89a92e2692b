// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * DMA_MAP and DMA_UNMAP, and what a disconnect leaves of them.
 */
#include <dirent.h>
#include <errno.h>
#include <linux/pci_regs.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/cm.h"
#include "tests/testmem.h"
#include "tests/vuclient.h"

#define PAGE	((u64)GMEM_PAGE_SIZE)

static u32 map(struct vuc *v, u32 flags, u64 address, u64 size, u64 offset, int fd)
{
	struct vu_dma_map m = {
		.argsz = sizeof(m), .flags = flags, .offset = offset, .address = address,
		.size = size,
	};

	return vuc_call(v->sock, VU_DMA_MAP, &m, sizeof(m), &fd, fd >= 0, NULL, 0, NULL);
}

static u32 unmap(struct vuc *v, u32 flags, u64 address, u64 size)
{
	struct vu_dma_unmap m = {
		.argsz = sizeof(m), .flags = flags, .address = address, .size = size,
	}, answer;
	u32 got, err;

	err = vuc_call(v->sock, VU_DMA_UNMAP, &m, sizeof(m), NULL, 0, &answer, sizeof(answer),
		       &got);
	if (!err) {
		assert_int_equal(got, sizeof(m));
		assert_memory_equal(&answer, &m, sizeof(m));
	}
	return err;
}

static void map_and_unmap(void **state)
{
	struct vuc *v = *state;
	struct guest_mem *m = server_mem(v->server);
	int fd = testmem_fd(4 * PAGE);
	u64 x = 42;

	vuc_write32(v, 7, PCI_COMMAND, PCI_COMMAND_MASTER);
	assert_int_equal(map(v, 3, 0x10000, 2 * PAGE, 2 * PAGE, fd), 0);
	assert_int_equal(dma_write(m, 0x10000 + PAGE, &x, 8), 0);
	x = 0;
	assert_int_equal(pread(fd, &x, 8, 3 * PAGE), 8);
	assert_int_equal(x, 42);
	assert_int_equal(map(v, 1, 0x20000, PAGE, 0, fd), 0);
	assert_int_equal(dma_write(m, 0x20000, &x, 8), -EFAULT);

	assert_int_equal(map(v, 3, 0x10000 + PAGE, PAGE, 0, fd), EEXIST);
	assert_int_equal(map(v, 3, 0x30000, 8 * PAGE, 0, fd), ERANGE);
	assert_int_equal(map(v, 3, 0x30001, PAGE, 0, fd), EINVAL);
	assert_int_equal(map(v, 3, 0x30000, 0, 0, fd), EINVAL);
	assert_int_equal(map(v, 0, 0x30000, PAGE, 0, fd), EINVAL);
	assert_int_equal(map(v, 7, 0x30000, PAGE, 0, fd), EINVAL);
	assert_int_equal(map(v, 3, -PAGE, 2 * PAGE, 0, fd), EINVAL);
	/* a ROM comes without a descriptor */
	assert_int_equal(map(v, 1, 0x40000, PAGE, 0, -1), 0);
	assert_int_equal(dma_read(m, &x, 0x40000, 8), -EFAULT);

	assert_int_equal(unmap(v, 0, 0x10000, PAGE), EINVAL);
	assert_int_equal(unmap(v, 0, 0x50000, PAGE), 0);	/* a hole */
	assert_int_equal(unmap(v, VU_UNMAP_F_DIRTY, 0x10000, 2 * PAGE), EINVAL);
	assert_int_equal(unmap(v, 0, 0x10000, 2 * PAGE), 0);
	assert_int_equal(dma_read(m, &x, 0x10000, 8), -EFAULT);
	assert_int_equal(unmap(v, VU_UNMAP_F_ALL, 0x20000, PAGE), EINVAL);
	assert_int_equal(unmap(v, VU_UNMAP_F_ALL, 0, 0), 0);
	assert_int_equal(gmem_ranges(m), 0);
	close(fd);
}

static void unsealed_is_refused(void **state)
{
	int fd = memfd_create("loose", MFD_ALLOW_SEALING);

	assert_int_equal(ftruncate(fd, PAGE), 0);
	assert_int_equal(map(*state, 3, 0, PAGE, 0, fd), EPERM);
	close(fd);
}

static void two_descriptors(void **state)
{
	struct vuc *v = *state;
	struct vu_dma_map m = { .argsz = sizeof(m), .flags = 3, .size = PAGE };
	int fd[2] = { testmem_fd(PAGE), testmem_fd(PAGE) };

	vuc_send_raw(v->sock, VU_DMA_MAP, 16 + sizeof(m), 0, &m, sizeof(m), fd, 2);
	vuc_expect_cut(v, v->sock);
	close(fd[0]);
	close(fd[1]);
}

/* The number of the eventfd, or 0. */
static u32 eventfd_id(const char *fd)
{
	char path[300], line[128];
	u32 id = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%s", fd);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f) && sscanf(line, "eventfd-id: %u", &id) != 1)
		;
	fclose(f);
	return id;
}

/* Descriptors of an eventfd in this process, the server's among them. */
static u32 copies(int fd)
{
	DIR *d = opendir("/proc/self/fdinfo");
	struct dirent *e;
	char name[16];
	u32 id, n = 0;

	assert_non_null(d);
	snprintf(name, sizeof(name), "%d", fd);
	id = eventfd_id(name);
	assert_int_not_equal(id, 0);
	while ((e = readdir(d)))
		n += eventfd_id(e->d_name) == id;
	closedir(d);
	return n;
}

static void disconnect_drops_everything(void **state)
{
	struct vuc *v = *state;
	struct guest_mem *m = server_mem(v->server);
	int fd = testmem_fd(PAGE), ev = eventfd(0, EFD_CLOEXEC);
	u32 set[5] = { 20, 1 << 5 | 1 << 2, 2, 0, 1 };
	u32 resets = v->resets;

	assert_true(ev >= 0);
	vuc_write32(v, 7, PCI_COMMAND, PCI_COMMAND_MASTER);
	vuc_write32(v, 0, 0x20, 99);
	assert_int_equal(map(v, 3, 0x10000, PAGE, 0, fd), 0);
	assert_int_equal(vuc_call(v->sock, VU_SET_IRQS, set, sizeof(set), &ev, 1, NULL, 0, NULL),
			 0);
	assert_int_equal(copies(ev), 2);
	assert_true(server_connected(v->server));
	close(v->sock);
	while (copies(ev) > 1)
		sched_yield();
	v->sock = vuc_connect(v);
	vuc_greet(v->sock);
	assert_int_equal(v->resets, resets + 1);
	assert_int_equal(gmem_ranges(m), 0);
	assert_int_equal(vuc_read32(v, 0, 0x20), 0);
	assert_int_equal(vuc_read32(v, 7, PCI_COMMAND) & 0xffff, 0);
	assert_int_equal(map(v, 3, 0x10000, PAGE, 0, fd), 0);
	close(fd);
	close(ev);
}

/* The server stops while a client is attached that has mappings and eventfds. */
static void stop_while_attached(void **state)
{
	struct vuc *v = *state;
	struct vu_header hdr;
	u8 scrap;
	int fd = testmem_fd(PAGE);

	assert_int_equal(map(v, 3, 0x10000, PAGE, 0, fd), 0);
	close(fd);
	server_stop(v->server);
	assert_int_equal(vuc_receive(v->sock, &hdr, &scrap, 0), -1);
	assert_int_equal(gmem_ranges(server_mem(v->server)), 0);
	assert_int_equal(v->resets, 1);
}

static void socket_in_use(void **state)
{
	struct vuc *v = *state;
	struct server_config cfg = {
		.name = "second", .path = v->path, .vectors = 1, .kick_pages = 1,
	};
	struct server *s;

	assert_int_equal(server_new(&cfg, &s), -EADDRINUSE);
	cfg.path = "/tmp";
	assert_int_equal(server_new(&cfg, &s), -EEXIST);
	cfg.path = "/tmp/vhcad-no-such-directory/hca";
	assert_int_equal(server_new(&cfg, &s), -ENOENT);
	cfg.path = "/tmp/"
		   "0123456789012345678901234567890123456789012345678901234567890123456789"
		   "0123456789012345678901234567890123456789";
	assert_int_equal(server_new(&cfg, &s), -ENAMETOOLONG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(map_and_unmap, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(unsealed_is_refused, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(two_descriptors, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(disconnect_drops_everything, vuc_setup,
						vuc_teardown),
		cmocka_unit_test_setup_teardown(stop_while_attached, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(socket_in_use, vuc_setup, vuc_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
