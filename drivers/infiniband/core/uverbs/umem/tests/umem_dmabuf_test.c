// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: parts of DMA buffers, from an exporter that can refuse calls and move the buffer.
 */
#include <kunit/device.h>
#include <kunit/test.h>
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>

#define RUNS	3
#define RUN	(3 * PAGE_SIZE)

/* DMA address of run number @i of the buffer. */
#define RUN_AT(i)	(0x100000ULL * ((i) + 1))

static struct {
	int maps, pins, released, refuse;
	bool moves_to_pin;
	int fd;
	struct ib_device *device;
	struct sg_table sgt;
} x;

static struct sg_table *exporter_map(struct dma_buf_attachment *attach,
				     enum dma_data_direction dir)
{
	if (x.refuse)
		return ERR_PTR(x.refuse);
	x.maps++;
	return &x.sgt;
}

static void exporter_unmap(struct dma_buf_attachment *attach, struct sg_table *sgt,
			   enum dma_data_direction dir)
{
	x.maps--;
}

static int exporter_pin(struct dma_buf_attachment *attach)
{
	if (x.moves_to_pin)
		dma_buf_move_notify(attach->dmabuf);
	x.pins++;
	return 0;
}

static void exporter_unpin(struct dma_buf_attachment *attach)
{
	x.pins--;
}

static void exporter_release(struct dma_buf *dmabuf)
{
	x.released++;
}

static const struct dma_buf_ops exporter_ops = {
	.map_dma_buf = exporter_map,
	.unmap_dma_buf = exporter_unmap,
	.pin = exporter_pin,
	.unpin = exporter_unpin,
	.release = exporter_release,
};

/* Makes a buffer whose mapping has @runs contiguous runs. */
static void lay_out(struct kunit *test, unsigned int runs)
{
	struct scatterlist *sg;
	int i;

	KUNIT_ASSERT_EQ(test, 0, sg_alloc_table(&x.sgt, runs, GFP_KERNEL));
	for_each_sgtable_sg(&x.sgt, sg, i) {
		sg_dma_address(sg) = RUN_AT(i);
		sg_dma_len(sg) = RUN;
	}
}

static int dmabuf_init(struct kunit *test)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct device *dev = kunit_device_register(test, "kt_dmabuf");
	struct dma_buf *dmabuf;

	KUNIT_ASSERT_FALSE(test, IS_ERR(dev));
	memset(&x, 0, sizeof(x));
	lay_out(test, RUNS);
	info.priv = &x;
	info.ops = &exporter_ops;
	info.size = RUNS * RUN;
	info.flags = O_RDWR | O_CLOEXEC;
	dmabuf = dma_buf_export(&info);
	KUNIT_ASSERT_FALSE(test, IS_ERR(dmabuf));
	x.fd = dma_buf_fd(dmabuf, O_CLOEXEC);
	KUNIT_ASSERT_GE(test, x.fd, 0);
	x.device = _ib_alloc_device(sizeof(*x.device));
	KUNIT_ASSERT_NOT_NULL(test, x.device);
	x.device->dma_device = dev;
	return 0;
}

/* Expects that no mapping, pin or reference is left, and that the scatter list was restored. */
static void dmabuf_exit(struct kunit *test)
{
	struct scatterlist *sg;
	int i;

	KUNIT_EXPECT_EQ(test, 0, x.maps);
	KUNIT_EXPECT_EQ(test, 0, x.pins);
	for_each_sgtable_sg(&x.sgt, sg, i) {
		KUNIT_EXPECT_EQ(test, RUN_AT(i), sg_dma_address(sg));
		KUNIT_EXPECT_EQ(test, RUN, sg_dma_len(sg));
	}
	close_fd(x.fd);
	flush_delayed_fput();
	KUNIT_EXPECT_EQ(test, 1, x.released);
	sg_free_table(&x.sgt);
	ib_dealloc_device(x.device);
}

static void expect_run(struct kunit *test, struct ib_umem *umem, unsigned int i, u64 address,
		       unsigned int len)
{
	struct scatterlist *sg = umem->sgt_append.sgt.sgl;

	while (i--)
		sg = sg_next(sg);
	KUNIT_EXPECT_EQ(test, address, sg_dma_address(sg));
	KUNIT_EXPECT_EQ(test, len, sg_dma_len(sg));
}

static struct ib_umem_dmabuf *pin(unsigned long offset, size_t size)
{
	return ib_umem_dmabuf_get_pinned(x.device, offset, size, x.fd, IB_ACCESS_LOCAL_WRITE);
}

static void parts(struct kunit *test)
{
	struct ib_umem_dmabuf *part;

	/* From the middle of page 1 of the first run to the middle of page 0 of the last. */
	part = pin(PAGE_SIZE + 100, 2 * RUN - PAGE_SIZE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(part));
	KUNIT_EXPECT_TRUE(test, part->umem.is_dmabuf && part->umem.writable);
	KUNIT_EXPECT_GT(test, x.pins, 0);
	KUNIT_EXPECT_EQ(test, 3, part->umem.sgt_append.sgt.nents);
	expect_run(test, &part->umem, 0, RUN_AT(0) + PAGE_SIZE, RUN - PAGE_SIZE);
	expect_run(test, &part->umem, 1, RUN_AT(1), RUN);
	expect_run(test, &part->umem, 2, RUN_AT(2), PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, PAGE_SIZE,
			ib_umem_find_best_pgsz(&part->umem, PAGE_SIZE, PAGE_SIZE + 100));
	ib_umem_release(&part->umem);

	/* Both ends of the part are in one run. */
	part = pin(RUN + PAGE_SIZE, 1);
	KUNIT_ASSERT_FALSE(test, IS_ERR(part));
	KUNIT_EXPECT_EQ(test, 1, part->umem.sgt_append.sgt.nents);
	expect_run(test, &part->umem, 0, RUN_AT(1) + PAGE_SIZE, PAGE_SIZE);
	ib_umem_release(&part->umem);

	part = pin(0, RUNS * RUN);
	KUNIT_ASSERT_FALSE(test, IS_ERR(part));
	KUNIT_EXPECT_EQ(test, RUNS, part->umem.sgt_append.sgt.nents);
	ib_umem_release(&part->umem);
}

/* The buffer is mapped for the device that does the DMA, which may differ from dma_device. */
static void other_dma_device(struct kunit *test)
{
	struct device *other = &x.device->dev;
	struct ib_umem_dmabuf *part;

	part = pin(0, RUN);
	KUNIT_ASSERT_FALSE(test, IS_ERR(part));
	KUNIT_EXPECT_PTR_EQ(test, part->attach->dev, x.device->dma_device);
	ib_umem_release(&part->umem);

	part = ib_umem_dmabuf_get_pinned_with_dma_device(x.device, other, RUN, RUN, x.fd,
							 IB_ACCESS_LOCAL_WRITE);
	KUNIT_ASSERT_FALSE(test, IS_ERR(part));
	KUNIT_EXPECT_PTR_EQ(test, part->attach->dev, other);
	KUNIT_EXPECT_PTR_EQ(test, part->umem.ibdev, x.device);
	KUNIT_EXPECT_GT(test, x.pins, 0);
	expect_run(test, &part->umem, 0, RUN_AT(1), RUN);
	ib_umem_release(&part->umem);
	KUNIT_EXPECT_EQ(test, x.pins, 0);
	x.refuse = -ENOSPC;
	part = ib_umem_dmabuf_get_pinned_with_dma_device(x.device, other, 0, 1, x.fd, 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR(part), -ENOSPC);
	x.refuse = 0;
}

static void refused(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, -EINVAL, PTR_ERR(pin(0, 0)));
	KUNIT_EXPECT_EQ(test, -EINVAL, PTR_ERR(pin(1, RUNS * RUN)));
	KUNIT_EXPECT_EQ(test, -EINVAL, PTR_ERR(pin(ULONG_MAX, 2)));
	KUNIT_EXPECT_EQ(test, -EBADF,
			PTR_ERR(ib_umem_dmabuf_get_pinned(x.device, 0, 1, 100000, 0)));
	KUNIT_EXPECT_EQ(test, -EINVAL, PTR_ERR(ib_umem_dmabuf_get(x.device, 0, 1, x.fd, 0, NULL)));
	x.refuse = -ENOSPC;
	KUNIT_EXPECT_EQ(test, -ENOSPC, PTR_ERR(pin(0, 1)));
	x.refuse = 0;

	/* An exporter maps less than the size of the buffer. */
	sg_free_table(&x.sgt);
	lay_out(test, RUNS - 1);
	KUNIT_EXPECT_EQ(test, -EINVAL, PTR_ERR(pin(0, RUNS * RUN)));
	KUNIT_EXPECT_EQ(test, -EINVAL, PTR_ERR(pin(2 * RUN, 1)));
}

static int revokes;

static void revoked(void *priv)
{
	struct ib_umem_dmabuf *part = priv;

	revokes++;
	/* The callback runs while the part is still mapped. */
	WARN_ON_ONCE(!part->sgt);
}

static void taken_back(struct kunit *test)
{
	struct ib_umem_dmabuf *part;
	int ret;

	revokes = 0;
	part = ib_umem_dmabuf_get_pinned_revocable_and_lock(x.device, 0, RUN, x.fd, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(part));
	KUNIT_EXPECT_FALSE(test, part->umem.writable);
	ib_umem_dmabuf_set_revoke_locked(part, revoked, part);
	ib_umem_dmabuf_revoke_unlock(part);

	ib_umem_dmabuf_revoke(part);
	KUNIT_EXPECT_EQ(test, 1, revokes);
	KUNIT_EXPECT_EQ(test, 0, x.maps);
	KUNIT_EXPECT_EQ(test, 0, x.pins);
	ib_umem_dmabuf_revoke_lock(part);
	ret = ib_umem_dmabuf_map_pages(part);
	ib_umem_dmabuf_revoke_unlock(part);
	KUNIT_EXPECT_EQ(test, -EINVAL, ret);
	ib_umem_release(&part->umem);
	KUNIT_EXPECT_EQ(test, 1, revokes);

	/* The release revokes a part, too. */
	part = ib_umem_dmabuf_get_pinned_revocable_and_lock(x.device, 0, RUN, x.fd, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(part));
	ib_umem_dmabuf_set_revoke_locked(part, revoked, part);
	ib_umem_dmabuf_revoke_unlock(part);
	ib_umem_release(&part->umem);
	KUNIT_EXPECT_EQ(test, 2, revokes);
}

/* The exporter moves the buffer in order to pin it, which does not revoke the part. */
static void moved_to_be_pinned(struct kunit *test)
{
	struct ib_umem_dmabuf *part;

	revokes = 0;
	x.moves_to_pin = true;
	part = ib_umem_dmabuf_get_pinned_revocable_and_lock(x.device, 0, RUN, x.fd, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(part));
	KUNIT_EXPECT_FALSE(test, part->revoked);
	ib_umem_dmabuf_set_revoke_locked(part, revoked, part);
	KUNIT_EXPECT_EQ(test, 0, revokes);
	dma_buf_move_notify(part->attach->dmabuf);
	KUNIT_EXPECT_EQ(test, 1, revokes);
	KUNIT_EXPECT_EQ(test, 0, x.maps);
	KUNIT_EXPECT_EQ(test, 0, x.pins);
	ib_umem_dmabuf_revoke_unlock(part);
	ib_umem_release(&part->umem);
	KUNIT_EXPECT_EQ(test, 1, revokes);

	part = pin(0, RUN);
	KUNIT_ASSERT_FALSE(test, IS_ERR(part));
	ib_umem_release(&part->umem);
}

static void moves(struct dma_buf_attachment *attach)
{
	ib_umem_dmabuf_unmap_pages(attach->importer_priv);
}

static const struct dma_buf_attach_ops moving_ops = {
	.allow_peer2peer = true,
	.move_notify = moves,
};

/* A part that is mapped when it is used, and again after the buffer has moved. */
static void moved(struct kunit *test)
{
	struct ib_umem_dmabuf *part;

	part = ib_umem_dmabuf_get(x.device, PAGE_SIZE, PAGE_SIZE, x.fd, 0, &moving_ops);
	KUNIT_ASSERT_FALSE(test, IS_ERR(part));
	KUNIT_EXPECT_EQ(test, 0, x.maps);
	dma_resv_lock(part->attach->dmabuf->resv, NULL);
	for (unsigned int round = 0; round < 2; round++) {
		KUNIT_EXPECT_EQ(test, 0, ib_umem_dmabuf_map_pages(part));
		KUNIT_EXPECT_EQ(test, 0, ib_umem_dmabuf_map_pages(part));
		KUNIT_EXPECT_EQ(test, 1, x.maps);
		expect_run(test, &part->umem, 0, RUN_AT(0) + PAGE_SIZE, PAGE_SIZE);
		dma_buf_move_notify(part->attach->dmabuf);
		KUNIT_EXPECT_EQ(test, 0, x.maps);
	}
	KUNIT_EXPECT_EQ(test, 0, ib_umem_dmabuf_map_pages(part));
	dma_resv_unlock(part->attach->dmabuf->resv);
	ib_umem_release(&part->umem);
}

static struct kunit_case dmabuf_cases[] = {
	KUNIT_CASE(parts),
	KUNIT_CASE(other_dma_device),
	KUNIT_CASE(refused),
	KUNIT_CASE(taken_back),
	KUNIT_CASE(moved_to_be_pinned),
	KUNIT_CASE(moved),
	{}
};

static struct kunit_suite dmabuf_suite = {
	.name = "uverbs-dmabuf",
	.init = dmabuf_init,
	.exit = dmabuf_exit,
	.test_cases = dmabuf_cases,
};

kunit_test_suite(dmabuf_suite);

MODULE_IMPORT_NS(DMA_BUF);
