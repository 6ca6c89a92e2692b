// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Device and region information, registers, kicks, configuration space.
 */
#include <errno.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <string.h>
#include <unistd.h>

#include "tests/cm.h"
#include "tests/testmem.h"
#include "tests/vuclient.h"

#define CONFIG	VFIO_PCI_CONFIG_REGION_INDEX

static u32 region_info(struct vuc *v, u32 argsz, u32 index, struct vfio_region_info *info)
{
	struct vfio_region_info in = { .argsz = argsz, .index = index };
	u32 got, err;

	err = vuc_call(v->sock, VU_GET_REGION_INFO, &in, sizeof(in), NULL, 0, info, sizeof(*info),
		       &got);
	if (!err)
		assert_int_equal(got, sizeof(*info));
	return err;
}

static void region_sizes(void **state)
{
	static const u64 sizes[9] = {
		[0] = 4096, [2] = VUC_KICK_PAGES * 4096, [4] = 4096, [7] = 4096,
	};
	struct vfio_region_info info;

	for (u32 i = 0; i < 9; i++) {
		assert_int_equal(region_info(*state, sizeof(info), i, &info), 0);
		assert_int_equal(info.size, sizes[i]);
		assert_int_equal(info.index, i);
		/* nothing may be mapped: it would make every write synchronous */
		assert_int_equal(info.flags, sizes[i] ? 3 : 0);
	}
	assert_int_equal(region_info(*state, sizeof(info), 9, &info), EINVAL);
	assert_int_equal(region_info(*state, sizeof(info), UINT32_MAX, &info), EINVAL);
}

static void argsz_small_and_grown(void **state)
{
	struct vfio_region_info info;

	assert_int_equal(region_info(*state, sizeof(info) - 1, 0, &info), EINVAL);
	assert_int_equal(region_info(*state, 0, 0, &info), EINVAL);
	/* a larger buffer is allowed, and the answer has the needed size */
	assert_int_equal(region_info(*state, 4096, 0, &info), 0);
	assert_int_equal(info.argsz, sizeof(info));
	assert_int_equal(info.cap_offset, 0);
}

static void registers(void **state)
{
	struct vuc *v = *state;
	u64 two = 0x2222222211111111ULL;
	u8 byte;
	u16 half;

	assert_int_equal(vuc_read32(v, 0, 0), VUC_MAGIC);
	vuc_write32(v, 0, 0x20, 0x12345678);
	assert_int_equal(vuc_read32(v, 0, 0x20), 0x12345678);
	assert_int_equal(vuc_read(v, 0, 0x21, &byte, 1), 0);
	assert_int_equal(byte, 0x56);
	assert_int_equal(vuc_read(v, 0, 0x22, &half, 2), 0);
	assert_int_equal(half, 0x1234);
	assert_int_equal(vuc_write(v, 0, 0x20, &two, 8), 0);
	assert_int_equal(vuc_read32(v, 0, 0x24), 0x22222222);
	/* writes of parts of a register or at unaligned offsets are ignored */
	assert_int_equal(vuc_write(v, 0, 0x20, &byte, 1), 0);
	assert_int_equal(vuc_write(v, 0, 0x22, &two, 4), 0);
	assert_int_equal(vuc_read32(v, 0, 0x20), 0x11111111);
	assert_int_equal(vuc_read32(v, 0, 0x24), 0x22222222);
	assert_int_equal(vuc_read32(v, 0, 4092), 0);
}

static void outside_of_regions(void **state)
{
	struct vuc *v = *state;
	u8 buf[VU_MAX_XFER + 8] = { 0 };

	assert_int_equal(vuc_read(v, 0, 4096, buf, 1), EINVAL);
	assert_int_equal(vuc_read(v, 0, 4093, buf, 4), EINVAL);
	assert_int_equal(vuc_read(v, 0, UINT64_MAX, buf, 4), EINVAL);
	assert_int_equal(vuc_read(v, 0, UINT64_MAX - 3, buf, 4), EINVAL);
	assert_int_equal(vuc_read(v, 0, 0, buf, 0), EINVAL);
	assert_int_equal(vuc_read(v, 1, 0, buf, 4), EINVAL);
	assert_int_equal(vuc_read(v, 8, 0, buf, 4), EINVAL);
	assert_int_equal(vuc_read(v, 9, 0, buf, 4), EINVAL);
	assert_int_equal(vuc_read(v, UINT32_MAX, 0, buf, 4), EINVAL);
	assert_int_equal(vuc_read(v, CONFIG, 1, buf, 4096), EINVAL);
	assert_int_equal(vuc_read(v, 2, 0, buf, VU_MAX_XFER), 0);
	assert_int_equal(vuc_read(v, 2, 0, buf, VU_MAX_XFER + 1), EINVAL);
	assert_int_equal(vuc_write(v, 0, 4096, buf, 4), EINVAL);
	assert_int_equal(vuc_write(v, 2, VUC_KICK_PAGES * 4096, buf, 4), EINVAL);
	assert_int_equal(vuc_write(v, 2, 0, buf, VU_MAX_XFER + 1), EINVAL);
	assert_int_equal(vuc_write(v, 5, 0, buf, 4), EINVAL);
	assert_int_equal(v->kicks, 0);
}

/* A write whose count does not match the bytes behind it. */
static void lying_count(void **state)
{
	struct vuc *v = *state;
	struct {
		struct vu_region_io io;
		u32 data;
	} __attribute__((packed)) m = { .io = { .count = 8 } };

	vuc_send_raw(v->sock, VU_REGION_WRITE, 16 + sizeof(m), 0, &m, sizeof(m), NULL, 0);
	vuc_expect_cut(v, v->sock);
}

static void kicks(void **state)
{
	struct vuc *v = *state;
	struct {
		struct vu_region_io io;
		u32 val;
	} __attribute__((packed)) m = {
		.io = { .offset = 5 * 4096, .region = 2, .count = 4 }, .val = 1,
	};
	u64 wide = 1;

	vuc_send_raw(v->sock, VU_REGION_WRITE, 16 + sizeof(m), VU_F_NO_REPLY, &m, sizeof(m), NULL,
		     0);
	vuc_wait_kicks(v, 1);
	assert_int_equal(v->kick_page, 5);
	vuc_write32(v, 2, 15 * 4096, 1);
	vuc_wait_kicks(v, 2);
	assert_int_equal(v->kick_page, 15);
	/* other offsets and sizes in a page are ignored */
	vuc_write32(v, 2, 4, 1);
	assert_int_equal(vuc_write(v, 2, 0, &wide, 8), 0);
	assert_int_equal(v->kicks, 2);
	assert_int_equal(vuc_read32(v, 2, 4096), 0);
}

/* Follows the capability chains as an operating system does. */
static u32 find_cap(struct vuc *v, u8 id)
{
	u8 at = vuc_read32(v, CONFIG, PCI_CAPABILITY_LIST);

	for (int n = 0; at && n < 48; n++) {
		u32 head = vuc_read32(v, CONFIG, at);

		assert_int_equal(at % 4, 0);
		if ((head & 0xff) == id)
			return at;
		at = head >> 8;
	}
	return 0;
}

static void config_identity(void **state)
{
	struct vuc *v = *state;
	u8 all[4096];

	assert_int_equal(vuc_read(v, CONFIG, 0, all, sizeof(all)), 0);
	assert_int_equal(vuc_read32(v, CONFIG, 0), 0x10f01af4);
	assert_int_equal(vuc_read32(v, CONFIG, 8), 0x02070001);
	assert_int_equal(vuc_read32(v, CONFIG, 0x2c), 0x10f01af4);
	assert_int_not_equal(find_cap(v, PCI_CAP_ID_PM), 0);
	assert_int_not_equal(find_cap(v, PCI_CAP_ID_EXP), 0);
	assert_int_not_equal(find_cap(v, PCI_CAP_ID_MSIX), 0);
	assert_int_equal(find_cap(v, PCI_CAP_ID_MSI), 0);
	assert_int_equal(vuc_read32(v, CONFIG, 0x100) & 0xfffff, PCI_EXT_CAP_ID_ERR | 2 << 16);
	/* identity registers are read-only */
	vuc_write32(v, CONFIG, 0, 0);
	vuc_write32(v, CONFIG, PCI_CAPABILITY_LIST, 0);
	assert_int_equal(vuc_read32(v, CONFIG, 0), 0x10f01af4);
	assert_int_not_equal(find_cap(v, PCI_CAP_ID_EXP), 0);
}

static void msi_instead(void **state)
{
	struct vfio_region_info info;

	assert_int_not_equal(find_cap(*state, PCI_CAP_ID_MSI), 0);
	assert_int_equal(find_cap(*state, PCI_CAP_ID_MSIX), 0);
	assert_int_not_equal(find_cap(*state, PCI_CAP_ID_EXP), 0);
	assert_int_equal(region_info(*state, sizeof(info), 4, &info), 0);
	assert_int_equal(info.size, 0);
}

static void bar_sizing(void **state)
{
	static const u32 expect[6] = {
		0xfffff000, 0, (u32)-(VUC_KICK_PAGES * 4096) | 4, 0xffffffff, 0xfffff000, 0,
	};
	struct vuc *v = *state;

	for (u32 i = 0; i < 6; i++) {
		vuc_write32(v, CONFIG, 0x10 + 4 * i, 0xffffffff);
		assert_int_equal(vuc_read32(v, CONFIG, 0x10 + 4 * i), expect[i]);
	}
	/* no ROM */
	vuc_write32(v, CONFIG, 0x30, 0xffffffff);
	assert_int_equal(vuc_read32(v, CONFIG, 0x30), 0);
}

static void bus_master_gates_dma(void **state)
{
	struct vuc *v = *state;
	struct vu_dma_map map = { .argsz = 32, .flags = 3, .address = 0x1000, .size = 4096 };
	struct guest_mem *m = server_mem(v->server);
	int fd = testmem_fd(4096);
	u32 power;
	u64 x;

	assert_int_equal(vuc_call(v->sock, VU_DMA_MAP, &map, sizeof(map), &fd, 1, NULL, 0, NULL),
			 0);
	close(fd);
	assert_int_equal(dma_read(m, &x, 0x1000, 8), -EFAULT);
	vuc_write32(v, CONFIG, PCI_COMMAND, PCI_COMMAND_MASTER | PCI_COMMAND_MEMORY);
	assert_int_equal(dma_read(m, &x, 0x1000, 8), 0);
	/* D3hot and back */
	power = find_cap(v, PCI_CAP_ID_PM) + PCI_PM_CTRL;
	vuc_write32(v, CONFIG, power, 3);
	assert_int_equal(dma_read(m, &x, 0x1000, 8), -EFAULT);
	/* D1 and D2 do not exist: it stays in its state */
	vuc_write32(v, CONFIG, power, 1);
	assert_int_equal(vuc_read32(v, CONFIG, power) & PCI_PM_CTRL_STATE_MASK, 3);
	vuc_write32(v, CONFIG, power, 0);
	assert_int_equal(dma_read(m, &x, 0x1000, 8), 0);
	vuc_write32(v, CONFIG, power, 2);
	assert_int_equal(vuc_read32(v, CONFIG, power) & PCI_PM_CTRL_STATE_MASK, 0);
	assert_int_equal(dma_read(m, &x, 0x1000, 8), 0);
	vuc_write32(v, CONFIG, PCI_COMMAND, 0);
	assert_int_equal(dma_read(m, &x, 0x1000, 8), -EFAULT);
	/* and a reset, which clears the bit */
	vuc_write32(v, CONFIG, PCI_COMMAND, PCI_COMMAND_MASTER);
	assert_int_equal(dma_read(m, &x, 0x1000, 8), 0);
	assert_int_equal(vuc_call(v->sock, VU_DEVICE_RESET, NULL, 0, NULL, 0, NULL, 0, NULL), 0);
	assert_int_equal(dma_read(m, &x, 0x1000, 8), -EFAULT);
	vuc_write32(v, CONFIG, PCI_COMMAND, PCI_COMMAND_MASTER);
	assert_int_equal(dma_read(m, &x, 0x1000, 8), 0);
}

static void function_level_reset(void **state)
{
	struct vuc *v = *state;
	u32 exp = find_cap(v, PCI_CAP_ID_EXP);
	u16 ctl;

	assert_true(vuc_read32(v, CONFIG, exp + PCI_EXP_DEVCAP) & PCI_EXP_DEVCAP_FLR);
	vuc_write32(v, CONFIG, PCI_COMMAND, PCI_COMMAND_MASTER);
	vuc_write32(v, CONFIG, 0x10, 0xfe000000);
	vuc_write32(v, 0, 0x20, 5);
	assert_int_equal(vuc_read(v, CONFIG, exp + PCI_EXP_DEVCTL, &ctl, 2), 0);
	ctl |= PCI_EXP_DEVCTL_BCR_FLR;
	assert_int_equal(vuc_write(v, CONFIG, exp + PCI_EXP_DEVCTL, &ctl, 2), 0);
	assert_int_equal(v->resets, 1);
	assert_int_equal(vuc_read32(v, 0, 0x20), 0);
	assert_int_equal(vuc_read32(v, CONFIG, PCI_COMMAND) & 0xffff, 0);
	assert_int_equal(vuc_read32(v, CONFIG, 0x10), 0);
	assert_int_equal(vuc_read(v, CONFIG, exp + PCI_EXP_DEVCTL, &ctl, 2), 0);
	assert_false(ctl & PCI_EXP_DEVCTL_BCR_FLR);
	/* the lower byte alone is no reset */
	assert_int_equal(vuc_write(v, CONFIG, exp + PCI_EXP_DEVCTL, &ctl, 1), 0);
	assert_int_equal(v->resets, 1);
	assert_int_equal(vuc_call(v->sock, VU_DEVICE_RESET, NULL, 0, NULL, 0, NULL, 0, NULL), 0);
	assert_int_equal(v->resets, 2);
}

/* A link of sixteen lanes at 32 GT/s, which has come up so. */
static void link_attributes(void **state)
{
	struct vuc *v = *state;
	const u32 exp = find_cap(v, PCI_CAP_ID_EXP);
	u16 val;

	assert_int_equal(vuc_read32(v, CONFIG, exp + PCI_EXP_LNKCAP) &
			 (PCI_EXP_LNKCAP_SLS | PCI_EXP_LNKCAP_MLW),
			 PCI_EXP_LNKCAP_SLS_32_0GB | 16 << 4);
	assert_int_equal(vuc_read32(v, CONFIG, exp + PCI_EXP_LNKCAP2),
			 PCI_EXP_LNKCAP2_SLS_2_5GB | PCI_EXP_LNKCAP2_SLS_5_0GB |
			 PCI_EXP_LNKCAP2_SLS_8_0GB | PCI_EXP_LNKCAP2_SLS_16_0GB |
			 PCI_EXP_LNKCAP2_SLS_32_0GB);
	assert_int_equal(vuc_read(v, CONFIG, exp + PCI_EXP_LNKSTA, &val, 2), 0);
	assert_int_equal(val, PCI_EXP_LNKSTA_CLS_32_0GB | PCI_EXP_LNKSTA_NLW_X8 << 1);
	assert_int_equal(vuc_read(v, CONFIG, exp + PCI_EXP_LNKCTL2, &val, 2), 0);
	assert_int_equal(val, PCI_EXP_LNKCTL2_TLS_32_0GT);
}

/* Each speed and width that can be chosen. */
static void chosen_link(void **state)
{
	struct pci_ident id = { .vendor = 1, .device = 2, .vectors = 1 };
	struct pci_config c;
	u32 val;

	for (id.speed = 1; id.speed <= PCI_SPEED_MAX; id.speed++) {
		for (id.lanes = 1; id.lanes <= PCI_LANES_MAX; id.lanes *= 2) {
			pci_config_init(&c, &id);
			pci_config_read(&c, c.express + PCI_EXP_LNKCAP, &val, 4);
			assert_int_equal(val, id.speed | id.lanes << 4);
			pci_config_read(&c, c.express + PCI_EXP_LNKCTL, &val, 4);
			assert_int_equal(val >> 16, id.speed | id.lanes << 4);
			pci_config_read(&c, c.express + PCI_EXP_LNKCAP2, &val, 4);
			assert_int_equal(val, (2u << id.speed) - 2);
		}
	}
}

/* The space alone, with statuses that the device itself never raises. */
static void config_bits(void **state)
{
	const struct pci_ident id = {
		.vendor = 1, .device = 2, .irq = PCI_IRQ_MSIX, .vectors = 64,
		.bar_size = { 4096 },
	};
	const u32 uncor = 0x100 + PCI_ERR_UNCOR_STATUS;
	struct pci_config c;
	u32 ones = ~0u, val;
	u16 ctl = PCI_EXP_DEVCTL_BCR_FLR | PCI_EXP_DEVCTL_RELAX_EN;

	pci_config_init(&c, &id);
	c.reg[uncor] = PCI_ERR_UNC_DLP;
	c.reg[uncor + 2] = PCI_ERR_UNC_UNSUP >> 16;
	val = PCI_ERR_UNC_DLP;
	assert_int_equal(pci_config_write(&c, uncor, &val, 4), 0);
	pci_config_read(&c, uncor, &val, 4);
	assert_int_equal(val, PCI_ERR_UNC_UNSUP);
	assert_int_equal(pci_config_write(&c, uncor, &ones, 4), 0);
	pci_config_read(&c, uncor, &val, 4);
	assert_int_equal(val, 0);

	/* the reset bit is not stored */
	assert_int_equal(pci_config_write(&c, c.express + PCI_EXP_DEVCTL, &ctl, 2), PCI_DID_FLR);
	pci_config_read(&c, c.express + PCI_EXP_DEVCTL, &val, 2);
	assert_int_equal(val & 0xffff, PCI_EXP_DEVCTL_RELAX_EN);
	pci_config_read(&c, 0x52, &val, 2);
	assert_int_equal(val & 0x7ff, 63);

	/* every byte may be written with anything: identity and chains stay */
	for (u32 off = 0; off < PCI_CFG_SIZE; off += 4)
		pci_config_write(&c, off, &ones, 4);
	pci_config_read(&c, 0, &val, 4);
	assert_int_equal(val, 0x00020001);
	assert_int_equal(c.reg[PCI_CAPABILITY_LIST], c.power);
	pci_config_reset(&c);
	assert_memory_equal(c.reg, c.init, PCI_CFG_SIZE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(region_sizes, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(argsz_small_and_grown, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(registers, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(outside_of_regions, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(lying_count, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(kicks, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(config_identity, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(msi_instead, vuc_setup_msi, vuc_teardown),
		cmocka_unit_test_setup_teardown(bar_sizing, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(bus_master_gates_dma, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(function_level_reset, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(link_attributes, vuc_setup, vuc_teardown),
		cmocka_unit_test(chosen_link),
		cmocka_unit_test(config_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
