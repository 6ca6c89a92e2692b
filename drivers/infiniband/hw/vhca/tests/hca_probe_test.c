// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The state of the driver after probing an HCA, and failures of probing. */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <rdma/ib_cache.h>

#include "../cmd/cmd.h"
#include "hca_test.h"

/* Queries the device directly, without the driver's own functions for that. */
static void ask(struct hca_test *h, struct vhca_dev *dev, u8 opcode,
		const struct vhca_port_req *req, void *out, u32 len)
{
	struct vhca_asqe cmd = { .opcode = opcode, .out_len = cpu_to_le32(len) };
	struct vhca_acqe comp = {};
	dma_addr_t dma;
	void *buf;
	int err;

	buf = dma_alloc_coherent(dev->hw.dev, len, &dma, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(h->test, buf);
	cmd.out_addr = cpu_to_le64(dma);
	if (req)
		memcpy(cmd.req, req, sizeof(*req));
	err = vhca_admin_exec(&dev->hw.admin, &cmd, &comp);
	memcpy(out, buf, len);
	dma_free_coherent(dev->hw.dev, len, buf, dma);
	KUNIT_ASSERT_EQ(h->test, err, 0);
	KUNIT_ASSERT_EQ(h->test, comp.status, VHCA_ST_OK);
}

static void test_attributes(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct vhca_dev *dev = hca_need_device(h);
	const struct ib_device_attr *a = &dev->ibdev.attrs;
	struct vhca_device_attr d;

	ask(h, dev, VHCA_CMD_QUERY_DEVICE, NULL, &d, sizeof(d));
	KUNIT_EXPECT_EQ(test, be64_to_cpu(dev->ibdev.node_guid), le64_to_cpu(d.node_guid));
	KUNIT_EXPECT_EQ(test, be64_to_cpu(a->sys_image_guid), le64_to_cpu(d.sys_image_guid));
	KUNIT_EXPECT_EQ(test, dev->ibdev.phys_port_cnt, d.ports);
	KUNIT_EXPECT_EQ(test, memcmp(dev->ibdev.node_desc, d.node_desc, sizeof(d.node_desc)), 0);
	KUNIT_EXPECT_EQ(test, a->fw_ver, le64_to_cpu(d.fw_version));
	KUNIT_EXPECT_EQ(test, a->max_mr_size, le64_to_cpu(d.max_mr_size));
	KUNIT_EXPECT_EQ(test, a->page_size_cap, le64_to_cpu(d.page_sizes));
	KUNIT_EXPECT_EQ(test, a->max_qp, le32_to_cpu(d.max_qps));
	KUNIT_EXPECT_EQ(test, a->max_cq, le32_to_cpu(d.max_cqs));
	KUNIT_EXPECT_EQ(test, a->max_cqe, le32_to_cpu(d.max_cqe));
	KUNIT_EXPECT_EQ(test, a->max_mr, le32_to_cpu(d.max_mkeys));
	KUNIT_EXPECT_EQ(test, a->max_pd, le32_to_cpu(d.max_pds));
	KUNIT_EXPECT_EQ(test, a->max_qp_wr,
			min(le32_to_cpu(d.max_sq_blocks) / VHCA_WQE_MAX_BLOCKS,
			    le32_to_cpu(d.max_rq_wr)));
	KUNIT_EXPECT_EQ(test, a->max_send_sge, le32_to_cpu(d.max_send_sge));
	KUNIT_EXPECT_EQ(test, a->max_recv_sge, le32_to_cpu(d.max_recv_sge));
	KUNIT_EXPECT_EQ(test, a->max_qp_rd_atom, d.max_rd_atomic);
	KUNIT_EXPECT_EQ(test, a->max_qp_init_rd_atom, d.max_init_rd_atomic);
	KUNIT_EXPECT_EQ(test, a->local_ca_ack_delay, d.local_ca_ack_delay);
	KUNIT_EXPECT_EQ(test, a->hca_core_clock, le32_to_cpu(d.clock_khz));
	KUNIT_EXPECT_EQ(test, a->vendor_id, VHCA_PCI_VENDOR);
	KUNIT_EXPECT_EQ(test, a->vendor_part_id, VHCA_PCI_DEVICE);
	/* One vector for each CPU, and one for admin completions and asynchronous events. */
	KUNIT_EXPECT_EQ(test, dev->ibdev.num_comp_vectors, dev->nvectors);
	KUNIT_EXPECT_GE(test, dev->nvectors, 1U);
	KUNIT_EXPECT_LE(test, dev->nirqs, le32_to_cpu(d.vectors));
}

/* The clock runs at the rate that the device reports. */
static void test_clock(struct kunit *test)
{
	struct vhca_dev *dev = hca_need_device(test->priv);
	u64 at[2], before[2], after[2], ticks;

	for (int i = 0; i < 2; i++) {
		before[i] = ktime_get_ns();
		KUNIT_ASSERT_EQ(test, vhca_cmd_query_clock(&dev->hw, &at[i]), 0);
		after[i] = ktime_get_ns();
		if (!i)
			msleep(200);
	}
	/* In kHz and ns; the two clocks may differ by one percent. */
	ticks = div_u64((at[1] - at[0]) * 1000000, dev->hw.limits.clock_khz);
	KUNIT_EXPECT_GE(test, ticks + ticks / 100, before[1] - after[0]);
	KUNIT_EXPECT_LE(test, ticks - ticks / 100, after[1] - before[0]);
}

static void test_ports(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct vhca_dev *dev = hca_need_device(h);
	struct ib_port_attr a;
	u32 port;

	rdma_for_each_port(&dev->ibdev, port) {
		struct vhca_port_req req = { .port = port };
		struct vhca_port_attr d;

		ask(h, dev, VHCA_CMD_QUERY_PORT, &req, &d, sizeof(d));
		KUNIT_ASSERT_EQ(test, ib_query_port(&dev->ibdev, port, &a), 0);
		KUNIT_EXPECT_EQ(test, a.state, d.state);
		KUNIT_EXPECT_EQ(test, a.phys_state, d.phys_state);
		KUNIT_EXPECT_EQ(test, a.max_mtu, d.max_mtu);
		KUNIT_EXPECT_EQ(test, a.active_mtu, d.active_mtu);
		KUNIT_EXPECT_EQ(test, a.lid, le16_to_cpu(d.lid));
		KUNIT_EXPECT_EQ(test, a.sm_lid, le16_to_cpu(d.sm_lid));
		KUNIT_EXPECT_EQ(test, a.lmc, d.lmc);
		KUNIT_EXPECT_EQ(test, a.gid_tbl_len, le32_to_cpu(d.gid_entries));
		KUNIT_EXPECT_EQ(test, a.pkey_tbl_len, le32_to_cpu(d.pkey_entries));
		KUNIT_EXPECT_EQ(test, a.max_msg_sz, le32_to_cpu(d.max_msg));
		KUNIT_EXPECT_EQ(test, a.active_width, d.active_width);
		KUNIT_EXPECT_EQ(test, a.active_speed, le16_to_cpu(d.active_speed));
		KUNIT_EXPECT_EQ(test, rdma_port_get_link_layer(&dev->ibdev, port),
				IB_LINK_LAYER_INFINIBAND);
	}
	KUNIT_EXPECT_EQ(test, ib_query_port(&dev->ibdev, 0, &a), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_query_port(&dev->ibdev, port, &a), -EINVAL);
}

/* The core's caches have the same entries as the device's tables. */
static void test_tables(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct vhca_dev *dev = hca_need_device(h);
	struct vhca_port_req req = { .port = 1, .count = cpu_to_le32(1) };
	u16 pkey, cached_pkey;
	union ib_gid gid, raw;
	struct ib_port_attr a;
	__le16 raw_pkey;

	KUNIT_ASSERT_EQ(test, ib_query_port(&dev->ibdev, 1, &a), 0);
	for (int i = 0; i < a.gid_tbl_len; i++) {
		req.first_index = cpu_to_le32(i);
		ask(h, dev, VHCA_CMD_QUERY_GIDS, &req, &raw, sizeof(raw));
		KUNIT_ASSERT_EQ(test, dev->ibdev.ops.query_gid(&dev->ibdev, 1, i, &gid), 0);
		KUNIT_EXPECT_EQ(test, memcmp(&gid, &raw, sizeof(gid)), 0);
		if (!rdma_query_gid(&dev->ibdev, 1, i, &gid))
			KUNIT_EXPECT_EQ(test, memcmp(&gid, &raw, sizeof(gid)), 0);
		else	/* an empty entry is not cached */
			KUNIT_EXPECT_NULL(test, memchr_inv(&raw, 0, sizeof(raw)));
	}
	KUNIT_ASSERT_EQ(test, rdma_query_gid(&dev->ibdev, 1, 0, &gid), 0);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(gid.global.subnet_prefix), 0xfe80000000000000ULL);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(gid.global.interface_id),
			be64_to_cpu(dev->ibdev.node_guid) + 1);
	KUNIT_EXPECT_NE(test, rdma_query_gid(&dev->ibdev, 1, a.gid_tbl_len, &gid), 0);
	KUNIT_EXPECT_EQ(test, dev->ibdev.ops.query_gid(&dev->ibdev, 1, -1, &gid), -EINVAL);

	for (int i = 0; i < a.pkey_tbl_len; i++) {
		req.first_index = cpu_to_le32(i);
		ask(h, dev, VHCA_CMD_QUERY_PKEYS, &req, &raw_pkey, sizeof(raw_pkey));
		KUNIT_ASSERT_EQ(test, ib_query_pkey(&dev->ibdev, 1, i, &pkey), 0);
		KUNIT_EXPECT_EQ(test, pkey, le16_to_cpu(raw_pkey));
		KUNIT_ASSERT_EQ(test, ib_get_cached_pkey(&dev->ibdev, 1, i, &cached_pkey), 0);
		KUNIT_EXPECT_EQ(test, cached_pkey, pkey);
	}
	KUNIT_ASSERT_EQ(test, ib_query_pkey(&dev->ibdev, 1, 0, &pkey), 0);
	KUNIT_EXPECT_EQ(test, pkey, 0xffff);
	KUNIT_EXPECT_EQ(test, ib_query_pkey(&dev->ibdev, 1, a.pkey_tbl_len, &pkey), -EINVAL);
}

static void test_node_description(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct vhca_dev *dev = hca_need_device(h);
	struct ib_device_modify modify = {};
	struct vhca_device_attr d;

	strscpy(modify.node_desc, "somebody else", sizeof(modify.node_desc));
	KUNIT_ASSERT_EQ(test, ib_modify_device(&dev->ibdev, IB_DEVICE_MODIFY_NODE_DESC, &modify),
			0);
	ask(h, dev, VHCA_CMD_QUERY_DEVICE, NULL, &d, sizeof(d));
	KUNIT_EXPECT_EQ(test, memcmp(d.node_desc, modify.node_desc, sizeof(d.node_desc)), 0);
	KUNIT_EXPECT_STREQ(test, dev->ibdev.node_desc, "somebody else");
	KUNIT_EXPECT_EQ(test, ib_modify_device(&dev->ibdev, IB_DEVICE_MODIFY_SYS_IMAGE_GUID,
					       &modify), -EOPNOTSUPP);
	/* A reset clears the description. */
	hca_reset(h);
	dev = hca_need_device(h);
	KUNIT_EXPECT_STRNEQ(test, dev->ibdev.node_desc, "somebody else");
}

static void test_registers_say_no(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct vhca_dev *dev = hca_need_device(h);

	KUNIT_EXPECT_EQ(test, readl(dev->hw.regs + VHCA_REG_MAGIC), VHCA_MAGIC);
	KUNIT_EXPECT_EQ(test, readl(dev->hw.regs + VHCA_REG_STATUS), VHCA_STATUS_READY);
	/* An enabled device ignores a second ENABLE. */
	writel(VHCA_CONTROL_ENABLE, dev->hw.regs + VHCA_REG_CONTROL);
	KUNIT_EXPECT_EQ(test, readl(dev->hw.regs + VHCA_REG_STATUS), VHCA_STATUS_READY);
	hca_expect_objects(h, 0, 0, 0, 0);
}

/* Arms several faults, each of which makes one attempt to probe fail. */
static void fail_probes(struct hca_test *h, const char *faults, const int *errs, unsigned int n)
{
	hca_fault(h, "%s", faults);
	for (unsigned int i = 0; i < n; i++) {
		KUNIT_EXPECT_EQ_MSG(h->test, device_driver_attach(h->drv, &h->pdev->dev), errs[i],
				    "fault %u of: %s", i, faults);
		KUNIT_ASSERT_NULL(h->test, h->pdev->dev.driver);
	}
}

/*
 * Probes repeatedly, each time with a later command refused: every attempt fails with the errno of
 * the refusal, and leaves no state that would prevent the next attempt from getting further.
 */
static void test_every_step_of_probe_fails(struct kunit *test)
{
	/* limits, port, doorbell area, event queue for events, first and second for completions */
	static const char bring_up[] =
		"command @ opcode=QUERY_DEVICE status=BAD_OPCODE ,\n"
		"fault command @ opcode=QUERY_PORT status=BAD_FIELD ,\n"
		"fault command @ opcode=OPEN_UAR status=NO_RESOURCE ,\n"
		"fault command @ opcode=CREATE_EQ status=BAD_ADDRESS ,\n"
		"fault command @ opcode=CREATE_EQ status=BUSY skip=1";
	static const int bring_up_errs[] = { -EOPNOTSUPP, -EINVAL, -ENOMEM, -EFAULT, -EBUSY };
	/* queries during registration: the port's tables and their entries */
	static const char registering[] =
		"command @ opcode=QUERY_PORT status=INTERNAL skip=1 ,\n"
		"fault command @ opcode=QUERY_GIDS status=INTERNAL ,\n"
		"fault command @ opcode=QUERY_PKEYS status=INTERNAL";
	static const int registering_errs[] = { -EIO, -EIO, -EIO };
	struct hca_test *h = test->priv;

	hca_need_faults(h);
	device_release_driver(&h->pdev->dev);
	fail_probes(h, bring_up, bring_up_errs, ARRAY_SIZE(bring_up_errs));
	fail_probes(h, registering, registering_errs, ARRAY_SIZE(registering_errs));
	hca_struck(h);
	KUNIT_EXPECT_EQ(test, hca_ctl(h, "objects @ uars=0 eqs=0 pds=0 mkeys=0 cqs=0 qps=0"), 0);
	KUNIT_ASSERT_EQ(test, device_driver_attach(h->drv, &h->pdev->dev), 0);
	hca_expect_objects(h, 0, 0, 0, 0);
	conn_works(test, conn_get(test, &hca_need_device(h)->ibdev, true, 7));
}

/* Probe waits for a slow reset, and fails if it does not end in time; the next probe works. */
static void test_slow_reset(struct kunit *test)
{
	struct hca_test *h = test->priv;

	hca_need_faults(h);
	device_release_driver(&h->pdev->dev);
	/* Resets: of the first attempt (delayed), of unbinding, of the second attempt (held). */
	hca_fault(h, "reset @ delay=1000 , fault reset @ " HCA_HELD " skip=1");
	KUNIT_EXPECT_EQ(test, device_driver_attach(h->drv, &h->pdev->dev), 0);
	device_release_driver(&h->pdev->dev);
	KUNIT_EXPECT_EQ(test, device_driver_attach(h->drv, &h->pdev->dev), -ENODEV);
	hca_let_go(h);
	KUNIT_EXPECT_EQ(test, device_driver_attach(h->drv, &h->pdev->dev), 0);
	hca_expect_objects(h, 0, 0, 0, 0);
}

static struct kunit_case probe_cases[] = {
	KUNIT_CASE(test_attributes),
	KUNIT_CASE(test_clock),
	KUNIT_CASE(test_ports),
	KUNIT_CASE(test_tables),
	KUNIT_CASE(test_node_description),
	KUNIT_CASE(test_registers_say_no),
	KUNIT_CASE_SLOW(test_every_step_of_probe_fails),
	KUNIT_CASE_SLOW(test_slow_reset),
	{}
};

struct kunit_suite hca_probe_suite = {
	.name = "vhca_hca_probe",
	.suite_init = rdma_kunit_again,
	.init = hca_test_init,
	.test_cases = probe_cases,
};
