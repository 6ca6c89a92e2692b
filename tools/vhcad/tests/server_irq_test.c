// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Interrupts: eventfds assigned and removed, pending bits, and a VM that tries to
 * block the thread that signals it.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tests/cm.h"
#include "tests/vuclient.h"

#define MSI	VFIO_PCI_MSI_IRQ_INDEX
#define MSIX	VFIO_PCI_MSIX_IRQ_INDEX
#define TRIGGER	VFIO_IRQ_SET_ACTION_TRIGGER
#define EVENTFD	(TRIGGER | VFIO_IRQ_SET_DATA_EVENTFD)
#define NONE	(TRIGGER | VFIO_IRQ_SET_DATA_NONE)
#define BOOL	(TRIGGER | VFIO_IRQ_SET_DATA_BOOL)
#define PBA	0x800

static u32 irq_info(struct vuc *v, u32 index, struct vfio_irq_info *info)
{
	struct vfio_irq_info in = { .argsz = sizeof(in), .index = index };

	return vuc_call(v->sock, VU_GET_IRQ_INFO, &in, sizeof(in), NULL, 0, info, sizeof(*info),
			NULL);
}

static u32 set(struct vuc *v, u32 index, u32 flags, u32 start, u32 count, const int *fds, u32 nfds)
{
	u32 m[5] = { 20, flags, index, start, count };

	return vuc_call(v->sock, VU_SET_IRQS, m, sizeof(m), fds, nfds, NULL, 0, NULL);
}

static void counts(void **state)
{
	static const u32 expect[5] = { 0, 0, VUC_VECTORS, 1, 0 };
	struct vfio_irq_info info;

	for (u32 i = 0; i < 5; i++) {
		assert_int_equal(irq_info(*state, i, &info), 0);
		assert_int_equal(info.count, expect[i]);
	}
	assert_int_equal(irq_info(*state, 5, &info), EINVAL);
}

static void msi_counts(void **state)
{
	struct vfio_irq_info info;
	int fd = eventfd(0, 0);

	assert_int_equal(irq_info(*state, MSI, &info), 0);
	assert_int_equal(info.count, 1);
	assert_int_equal(irq_info(*state, MSIX, &info), 0);
	assert_int_equal(info.count, 0);
	assert_int_equal(set(*state, MSI, EVENTFD, 0, 1, &fd, 1), 0);
	server_irq(((struct vuc *)*state)->server, 0);
	server_irq(((struct vuc *)*state)->server, 1);
	assert_int_equal(vuc_drained(fd), 1);
	close(fd);
}

static void signalled(void **state)
{
	struct vuc *v = *state;
	int fd[VUC_VECTORS];

	for (u32 i = 0; i < VUC_VECTORS; i++)
		fd[i] = eventfd(0, 0);
	/* more vectors than descriptors fit into a message */
	assert_int_equal(set(v, MSIX, EVENTFD, 0, 16, fd, 16), 0);
	assert_int_equal(set(v, MSIX, EVENTFD, 16, 4, fd + 16, 4), 0);
	for (u32 i = 0; i < VUC_VECTORS; i++) {
		for (u32 n = 0; n <= i; n++)
			server_irq(v->server, i);
	}
	for (u32 i = 0; i < VUC_VECTORS; i++)
		assert_int_equal(vuc_drained(fd[i]), i + 1);
	/* many in a row: nothing is used up */
	for (u32 n = 0; n < 1000; n++)
		server_irq(v->server, 3);
	assert_int_equal(vuc_drained(fd[3]), 1000);
	server_irq(v->server, VUC_VECTORS);
	server_irq(v->server, UINT32_MAX);

	/* one vector off, then all */
	assert_int_equal(set(v, MSIX, EVENTFD, 3, 1, NULL, 0), 0);
	server_irq(v->server, 3);
	server_irq(v->server, 4);
	assert_int_equal(vuc_drained(fd[3]), 0);
	assert_int_equal(vuc_drained(fd[4]), 1);
	assert_int_equal(set(v, MSIX, NONE, 0, 0, NULL, 0), 0);
	server_irq(v->server, 4);
	assert_int_equal(vuc_drained(fd[4]), 0);
	for (u32 i = 0; i < VUC_VECTORS; i++)
		close(fd[i]);
}

static void pending(void **state)
{
	struct vuc *v = *state;
	int fd = eventfd(0, 0);

	server_irq(v->server, 9);
	server_irq(v->server, 2);
	assert_int_equal(vuc_read32(v, 4, PBA), 1 << 9 | 1 << 2);
	assert_int_equal(vuc_read32(v, 4, 0), 0);
	assert_int_equal(set(v, MSIX, EVENTFD, 9, 1, &fd, 1), 0);
	assert_int_equal(vuc_drained(fd), 1);
	assert_int_equal(vuc_read32(v, 4, PBA), 1 << 2);
	/* a reset forgets it */
	assert_int_equal(vuc_call(v->sock, VU_DEVICE_RESET, NULL, 0, NULL, 0, NULL, 0, NULL), 0);
	assert_int_equal(vuc_read32(v, 4, PBA), 0);
	/* but keeps the eventfds */
	server_irq(v->server, 9);
	assert_int_equal(vuc_drained(fd), 1);
	close(fd);
}

static void loop_back(void **state)
{
	struct vuc *v = *state;
	struct { u32 head[5]; u8 which[3]; } __attribute__((packed)) m = {
		{ sizeof(m), BOOL, MSIX, 0, 3 }, { 1, 0, 1 },
	};
	int fd[3];

	for (u32 i = 0; i < 3; i++)
		fd[i] = eventfd(0, 0);
	assert_int_equal(set(v, MSIX, EVENTFD, 0, 3, fd, 3), 0);
	assert_int_equal(set(v, MSIX, NONE, 1, 2, NULL, 0), 0);
	assert_int_equal(vuc_call(v->sock, VU_SET_IRQS, &m, sizeof(m), NULL, 0, NULL, 0, NULL), 0);
	assert_int_equal(vuc_drained(fd[0]), 1);
	assert_int_equal(vuc_drained(fd[1]), 1);
	assert_int_equal(vuc_drained(fd[2]), 2);
	for (u32 i = 0; i < 3; i++)
		close(fd[i]);
}

static void refused(void **state)
{
	struct vuc *v = *state;
	int fd = eventfd(0, 0);

	assert_int_equal(set(v, MSIX, EVENTFD, VUC_VECTORS, 1, &fd, 1), EINVAL);
	assert_int_equal(set(v, MSIX, EVENTFD, UINT32_MAX, 1, &fd, 1), EINVAL);
	assert_int_equal(set(v, MSIX, EVENTFD, 1, UINT32_MAX, NULL, 0), EINVAL);
	assert_int_equal(set(v, MSI, EVENTFD, 0, 1, &fd, 1), EINVAL);
	assert_int_equal(set(v, 5, EVENTFD, 0, 1, &fd, 1), EINVAL);
	assert_int_equal(set(v, MSIX, VFIO_IRQ_SET_ACTION_MASK | VFIO_IRQ_SET_DATA_NONE, 0, 1,
			     NULL, 0), EINVAL);
	assert_int_equal(set(v, MSIX, TRIGGER, 0, 1, NULL, 0), EINVAL);
	/* accepted, never raised */
	assert_int_equal(set(v, VFIO_PCI_ERR_IRQ_INDEX, EVENTFD, 0, 1, &fd, 1), 0);
	assert_int_equal(set(v, VFIO_PCI_ERR_IRQ_INDEX, NONE, 0, 1, NULL, 0), EINVAL);
	close(fd);
}

static void wrong_number_of_descriptors(void **state)
{
	struct vuc *v = *state;
	u32 m[5] = { 20, EVENTFD, MSIX, 0, 3 };
	int fd[2] = { eventfd(0, 0), eventfd(0, 0) };

	vuc_send_raw(v->sock, VU_SET_IRQS, 16 + sizeof(m), 0, m, sizeof(m), fd, 2);
	vuc_expect_cut(v, v->sock);
	close(fd[0]);
	close(fd[1]);
}

/* A full counter and a blocking descriptor; and a vector without one. */
static void cannot_be_blocked(void **state)
{
	struct vuc *v = *state;
	u64 full = UINT64_MAX - 1;
	int fd = eventfd(0, 0), pipes[2];

	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(write(fd, &full, 8), 8);
	assert_int_equal(set(v, MSIX, EVENTFD, 0, 1, &fd, 1), 0);
	assert_int_equal(set(v, MSIX, EVENTFD, 1, 1, &pipes[1], 1), EINVAL);
	for (u32 i = 0; i < 20000; i++) {
		server_irq(v->server, 0);
		server_irq(v->server, 1);
	}
	assert_int_equal(vuc_read32(v, 4, PBA), 1 << 1);
	/* that vector works once it gets a real eventfd */
	close(fd);
	fd = eventfd(0, 0);
	assert_int_equal(set(v, MSIX, EVENTFD, 1, 1, &fd, 1), 0);
	assert_int_equal(vuc_drained(fd), 1);
	close(fd);
	close(pipes[0]);
	close(pipes[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(counts, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(msi_counts, vuc_setup_msi, vuc_teardown),
		cmocka_unit_test_setup_teardown(signalled, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(pending, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(loop_back, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(refused, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(wrong_number_of_descriptors, vuc_setup,
						vuc_teardown),
		cmocka_unit_test_setup_teardown(cannot_be_blocked, vuc_setup, vuc_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
