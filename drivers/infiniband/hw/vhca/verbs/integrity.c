// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory keys that check and generate protection fields (T10-DIF). A structure in front of the list
 * of pieces has the parameters for the device, and receives the first error.
 */
#include <linux/dma-mapping.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <kunit/visibility.h>

#include "mr.h"

static size_t list_size(u32 entries)
{
	return sizeof(struct vhca_integrity) + entries * sizeof(struct vhca_sg_entry);
}

static struct vhca_sg_entry *first_entry(const struct vhca_fast_mr *fast)
{
	return (struct vhca_sg_entry *)(fast->pi + 1);
}

/**
 * vhca_alloc_mr_integrity() - ib_device_ops.alloc_mr_integrity
 * @ibpd: protection domain
 * @max_num_sg: pieces of data
 * @max_num_meta_sg: pieces of protection fields
 *
 * Context: may sleep.
 * Return: the key, or an error pointer.
 */
struct ib_mr *vhca_alloc_mr_integrity(struct ib_pd *ibpd, u32 max_num_sg, u32 max_num_meta_sg)
{
	struct vhca_dev *dev = to_vdev(ibpd->device);
	u32 most = dev->hw.limits.max_reg_entries, max = max_num_sg + max_num_meta_sg;
	struct vhca_fast_mr *fast;
	int err = -ENOMEM;

	if (!max_num_sg || max_num_sg > most || max_num_meta_sg > most - max_num_sg)
		return ERR_PTR(vhca_refuse(dev->hw.dev, -EINVAL,
					   "alloc_mr_integrity: %u and %u entries are not 1 to the device's limit %u",
					   max_num_sg, max_num_meta_sg, most));
	fast = kzalloc(sizeof(*fast), GFP_KERNEL);
	if (!fast)
		return ERR_PTR(-ENOMEM);
	fast->list.dev = dev->hw.dev;
	fast->list.size = list_size(max);
	fast->pi = dma_alloc_coherent(dev->hw.dev, fast->list.size, &fast->list.dma,
				      GFP_KERNEL | __GFP_NOWARN);
	if (!fast->pi)
		goto err_mr;
	err = vhca_make_fast_key(fast, ibpd, VHCA_MKEY_INTEGRITY, max);
	if (err)
		goto err_list;
	return &fast->mr.ibmr;

err_list:
	dma_free_coherent(fast->list.dev, fast->list.size, fast->pi, fast->list.dma);
err_mr:
	kfree(fast);
	return ERR_PTR(err);
}

/**
 * vhca_map_mr_sg_pi() - ib_device_ops.map_mr_sg_pi
 * @ibmr: key of vhca_alloc_mr_integrity() that is not registered
 * @data_sg: data, mapped for DMA
 * @data_sg_nents: entries of @data_sg
 * @data_sg_offset: bytes to skip in the first one, or NULL
 * @meta_sg: protection fields, mapped for DMA
 * @meta_sg_nents: entries of @meta_sg; with 0, fields in memory are interleaved with the data
 * @meta_sg_offset: bytes to skip in the first one, or NULL
 *
 * ib_mr.length is set to the length of both together. The key may be longer, see
 * vhca_integrity_length().
 *
 * Context: any.
 * Return: 0; -EINVAL; -ENOMEM if not all entries fit.
 */
int vhca_map_mr_sg_pi(struct ib_mr *ibmr, struct scatterlist *data_sg, int data_sg_nents,
		      unsigned int *data_sg_offset, struct scatterlist *meta_sg,
		      int meta_sg_nents, unsigned int *meta_sg_offset)
{
	struct vhca_dev *dev = to_vdev(ibmr->device);
	struct vhca_fast_mr *fast = to_vfast(to_vmr(ibmr));
	struct vhca_pieces data, meta = {};
	int n, m = 0;

	fast->entries = 0;
	data.entry = first_entry(fast);
	data.max = fast->max;
	n = vhca_take_pieces(&data, dev->hw.dev, data_sg, data_sg_nents, data_sg_offset);
	if (n < 0)
		return n;
	if (n == data_sg_nents && meta_sg_nents) {
		meta.entry = data.entry + data.n;
		meta.max = fast->max - data.n;
		m = vhca_take_pieces(&meta, dev->hw.dev, meta_sg, meta_sg_nents, meta_sg_offset);
		if (m < 0)
			return m;
	}
	if (n < data_sg_nents || m < meta_sg_nents)
		return vhca_refuse(dev->hw.dev, -ENOMEM,
				   "map_mr_sg_pi: %u entries hold %d of %d pieces of data, %d of %d of fields",
				   fast->max, n, data_sg_nents, m, meta_sg_nents);
	fast->pi->error = cpu_to_le32(VHCA_DIF_GOOD);
	fast->entries = data.n + meta.n;
	fast->data_entries = data.n;
	fast->data_length = data.length;
	fast->start = data.start;
	ibmr->iova = data.start;
	ibmr->length = data.length + meta.length;
	ibmr->sig_attrs->meta_length = meta.length;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_map_mr_sg_pi);

static bool has_fields(const struct ib_sig_domain *d)
{
	return d->sig_type == IB_SIG_TYPE_T10_DIF;
}

/* Bytes of data per protection field; without fields the device still needs a valid value. */
static u32 interval_of(const struct ib_sig_attrs *a)
{
	if (has_fields(&a->mem))
		return a->mem.sig.dif.pi_interval;
	return has_fields(&a->wire) ? a->wire.sig.dif.pi_interval : VHCA_DIF_MAX_INTERVAL;
}

/* Bytes of an interval in the data list, including its field if that is interleaved. */
static u32 memory_step(const struct vhca_fast_mr *fast)
{
	const struct ib_sig_attrs *a = fast->mr.ibmr.sig_attrs;
	bool among = has_fields(&a->mem) && fast->entries == fast->data_entries;

	return interval_of(a) + (among ? VHCA_DIF_SIZE : 0);
}

static int check_domains(struct vhca_dev *dev, const struct ib_sig_attrs *a)
{
	u32 interval = interval_of(a);

	if (a->mem.sig_type > IB_SIG_TYPE_T10_DIF || a->wire.sig_type > IB_SIG_TYPE_T10_DIF)
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "post_send: REG_MR_INTEGRITY with signatures of type %d and %d",
				   a->mem.sig_type, a->wire.sig_type);
	if (interval < VHCA_DIF_MIN_INTERVAL || interval > VHCA_DIF_MAX_INTERVAL ||
	    (has_fields(&a->mem) && has_fields(&a->wire) &&
	     interval != a->wire.sig.dif.pi_interval))
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "post_send: REG_MR_INTEGRITY with pi_interval %u and %u: not the same, %u to %u",
				   a->mem.sig.dif.pi_interval, a->wire.sig.dif.pi_interval,
				   VHCA_DIF_MIN_INTERVAL, VHCA_DIF_MAX_INTERVAL);
	return 0;
}

/**
 * vhca_check_integrity() - check that the device supports the attributes of a key
 * @dev: device
 * @fast: key of vhca_alloc_mr_integrity() that is mapped
 *
 * Context: any.
 * Return: 0 or -EINVAL.
 */
int vhca_check_integrity(struct vhca_dev *dev, const struct vhca_fast_mr *fast)
{
	const struct ib_mr *mr = &fast->mr.ibmr;
	const struct ib_sig_attrs *a = mr->sig_attrs;
	u64 data = fast->data_length, meta = mr->length - data;
	u32 step;
	int err;

	err = check_domains(dev, a);
	if (err || (!has_fields(&a->mem) && !has_fields(&a->wire)))
		return err;
	step = memory_step(fast);
	if (!data || data % step)
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "post_send: REG_MR_INTEGRITY of %llu bytes of data: no multiple of %u",
				   data, step);
	if (has_fields(&a->mem) && fast->entries > fast->data_entries &&
	    meta < data / step * VHCA_DIF_SIZE)
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "post_send: REG_MR_INTEGRITY with %llu bytes of fields for %llu of data",
				   meta, data);
	return 0;
}

/**
 * vhca_integrity_length() - get the length of a key in the device
 * @fast: key of vhca_alloc_mr_integrity(), checked by vhca_check_integrity()
 *
 * It is the length of the data stream on the wire, which may have fields that are not in memory,
 * but at least ib_mr.length.
 *
 * Context: any.
 * Return: bytes.
 */
u64 vhca_integrity_length(const struct vhca_fast_mr *fast)
{
	const struct ib_mr *mr = &fast->mr.ibmr;
	u64 intervals = fast->data_length / memory_step(fast);

	if (!has_fields(&mr->sig_attrs->wire))
		return mr->length;
	return max(mr->length, intervals * (interval_of(mr->sig_attrs) + VHCA_DIF_SIZE));
}

static struct vhca_dif dif_to_hw(const struct ib_sig_domain *d)
{
	const struct ib_t10_dif_domain *dif = &d->sig.dif;

	if (!has_fields(d))
		return (struct vhca_dif){};
	return (struct vhca_dif) {
		.guard = dif->bg_type == IB_T10DIF_CSUM ? VHCA_DIF_CSUM : VHCA_DIF_CRC,
		.flags = (dif->ref_remap ? VHCA_DIF_REMAP : 0) |
			 (dif->app_escape ? VHCA_DIF_APP_ESCAPE : 0) |
			 (dif->ref_escape ? VHCA_DIF_REF_ESCAPE : 0),
		.seed = cpu_to_le16(dif->bg),
		.app_tag = cpu_to_le16(dif->app_tag),
		.app_mask = cpu_to_le16(dif->apptag_check_mask),
		.ref_tag = cpu_to_le32(dif->ref_tag),
	};
}

/**
 * vhca_write_integrity() - write the parameters of a key for the device
 * @fast: key of vhca_alloc_mr_integrity() that is mapped and not registered
 *
 * Context: any.
 */
void vhca_write_integrity(struct vhca_fast_mr *fast)
{
	const struct ib_sig_attrs *a = fast->mr.ibmr.sig_attrs;

	*fast->pi = (struct vhca_integrity) {
		.mem = dif_to_hw(&a->mem),
		.wire = dif_to_hw(&a->wire),
		.interval = cpu_to_le16(interval_of(a)),
		.check = a->check_mask,
		.data_entries = cpu_to_le32(fast->data_entries),
	};
}
EXPORT_SYMBOL_IF_KUNIT(vhca_write_integrity);

static enum ib_sig_err_type error_type(u32 error)
{
	switch (error) {
	case VHCA_DIF_BAD_APP_TAG:
		return IB_SIG_BAD_APPTAG;
	case VHCA_DIF_BAD_REF_TAG:
		return IB_SIG_BAD_REFTAG;
	default:
		return IB_SIG_BAD_GUARD;
	}
}

/**
 * vhca_check_mr_status() - ib_device_ops.check_mr_status
 * @ibmr: key of vhca_alloc_mr_integrity(), all of whose work requests have completed
 * @check_mask: IB_MR_CHECK_SIG_STATUS
 * @status: filled in: the first error since the registration, which is reported only once; its
 *	    offset is counted as if each field followed its data
 *
 * Context: any.
 * Return: 0 or -EINVAL.
 */
int vhca_check_mr_status(struct ib_mr *ibmr, u32 check_mask, struct ib_mr_status *status)
{
	struct vhca_dev *dev = to_vdev(ibmr->device);
	struct vhca_fast_mr *fast = to_vfast(to_vmr(ibmr));
	struct vhca_integrity *pi;
	u32 error;

	if (check_mask & ~IB_MR_CHECK_SIG_STATUS)
		return vhca_refuse(dev->hw.dev, -EINVAL, "check_mr_status: check_mask %#x",
				   check_mask);
	status->fail_status = 0;
	if (!check_mask)
		return 0;
	if (!to_vmr(ibmr)->fast || !fast->pi)
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "check_mr_status: key %#x does not check anything", ibmr->lkey);
	pi = fast->pi;
	error = le32_to_cpu(READ_ONCE(pi->error));
	if (error == VHCA_DIF_GOOD)
		return 0;
	/* The device writes error last. */
	dma_rmb();
	status->fail_status = IB_MR_CHECK_SIG_STATUS;
	status->sig_err = (struct ib_sig_err) {
		.err_type = error_type(error),
		.expected = le32_to_cpu(pi->expected),
		.actual = le32_to_cpu(pi->actual),
		.sig_err_offset = le64_to_cpu(pi->interval_nr) *
				  (le16_to_cpu(pi->interval) + VHCA_DIF_SIZE),
		.key = ibmr->lkey,
	};
	WRITE_ONCE(pi->error, cpu_to_le32(VHCA_DIF_GOOD));
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_check_mr_status);
