// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands other than reads and writes of regions.
 */
#include <errno.h>
#include <json-c/json.h>
#include <linux/vfio.h>
#include <stdio.h>
#include <string.h>

#include "lib/log.h"
#include "server/session.h"

/* No capability list is nested deeper.  The limit is there because json-c recurses. */
#define JSON_DEPTH	8

static const char our_caps[] =
	"{\"capabilities\":{\"max_msg_fds\":%u,\"max_data_xfer_size\":%u,"
	"\"pgsizes\":%u,\"max_dma_maps\":%u}}";

/* The client's capabilities are not used, but have to be valid JSON. */
static bool caps_readable(const char *text, u32 len)
{
	struct json_object *root, *caps;
	struct json_tokener *tok;
	bool ok;

	if (!len)
		return true;
	if (text[len - 1] != '\0')
		return false;
	tok = json_tokener_new_ex(JSON_DEPTH);
	if (!tok)
		return false;
	root = json_tokener_parse_ex(tok, text, strlen(text));
	ok = json_object_is_type(root, json_type_object) &&
	     (!json_object_object_get_ex(root, "capabilities", &caps) ||
	      json_object_is_type(caps, json_type_object));
	json_object_put(root);
	json_tokener_free(tok);
	return ok;
}

int vu_version(struct vu_function *fn, struct vu_message *msg, void *out, const char **why)
{
	const struct vu_version *in = (void *)msg->body;
	struct vu_version *answer = out;

	if (msg->len < sizeof(*in) || msg->nfds) {
		*why = "VERSION too short, or with descriptors";
		return -EPROTO;
	}
	if (in->major != VU_MAJOR) {
		*why = "a client of another protocol version";
		return -EPROTO;
	}
	if (!caps_readable(in->json, msg->len - sizeof(*in))) {
		*why = "VERSION with unreadable capabilities";
		return -EPROTO;
	}
	answer->major = VU_MAJOR;
	answer->minor = MIN(in->minor, (u16)VU_MINOR);
	return sizeof(*answer) + 1 + sprintf(answer->json, our_caps, VU_MAX_FDS, VU_MAX_XFER,
					     GMEM_PAGE_SIZE, GMEM_MAX_RANGES);
}

/* QEMU exits and prints only strerror(), so the log says what is wrong. */
static void say_refusal(const struct vu_function *fn, const struct vu_dma_map *in, int err)
{
	const char *why = strerror(-err);

	if (err == -EOPNOTSUPP)
		why = "it is no memory: use memory-backend-memfd, or a file of tmpfs or hugetlbfs";
	else if (err == -EPERM)
		why = "its owner can truncate it: use memory-backend-memfd, or --allow-unsealed";
	else if (err == -ERANGE)
		why = "its file ends before it does";
	else if (err == -EACCES)
		why = "its descriptor does not allow what it is for";
	else if (err == -ENOMEM)
		why = "no memory, or its pool has no huge pages left";
	else if (err == -EEXIST)
		why = "there is memory already";
	log_line("%s: guest memory refused, %#llx bytes at %#llx: %s", fn->cfg.name,
		 (unsigned long long)in->size, (unsigned long long)in->address, why);
}

int vu_dma_map(struct vu_function *fn, struct vu_message *msg, void *out, const char **why)
{
	const struct vu_dma_map *in = (void *)msg->body;
	u32 flags = fn->cfg.allow_unsealed ? GMEM_UNSEALED : 0;
	int err;

	if (msg->len != sizeof(*in) || in->argsz < sizeof(*in) || msg->nfds > 1) {
		*why = "DMA_MAP of a wrong length, or with several descriptors";
		return -EPROTO;
	}
	if (in->flags & ~(VU_DMA_F_READ | VU_DMA_F_WRITE))
		return -EINVAL;
	if (in->flags & VU_DMA_F_READ)
		flags |= GMEM_READ;
	if (in->flags & VU_DMA_F_WRITE)
		flags |= GMEM_WRITE;
	/* memory without a descriptor, such as that of a ROM, is not shared with the daemon */
	vu_foreign(fn);
	err = gmem_map(fn->mem, in->address, in->size, msg->nfds ? msg->fds[0] : -1,
		       in->offset, flags);
	vu_foreign(fn);
	if (err)
		say_refusal(fn, in, err);
	return err;
}

int vu_dma_unmap(struct vu_function *fn, struct vu_message *msg, void *out, const char **why)
{
	const struct vu_dma_unmap *in = (void *)msg->body;
	int err = 0;

	if (msg->len != sizeof(*in) || in->argsz < sizeof(*in) || msg->nfds) {
		*why = "DMA_UNMAP of a wrong length, or with descriptors";
		return -EPROTO;
	}
	if (in->flags & ~VU_UNMAP_F_ALL)
		return -EINVAL;		/* dirty pages are not tracked */
	if (in->flags & VU_UNMAP_F_ALL) {
		if (in->address || in->size)
			return -EINVAL;
		gmem_unmap_all(fn->mem);
	} else {
		err = gmem_unmap(fn->mem, in->address, in->size);
	}
	/* unmapping a hole is no error in VFIO: a virtual IOMMU unmaps whole address spaces */
	if (err && err != -ENOENT)
		return err;
	memcpy(out, in, sizeof(*in));
	return sizeof(*in);
}

int vu_get_info(struct vu_function *fn, struct vu_message *msg, void *out, const char **why)
{
	const u32 size = 16;	/* argsz, flags, num_regions, num_irqs */
	u32 in[4], answer[4] = { size, VFIO_DEVICE_FLAGS_RESET | VFIO_DEVICE_FLAGS_PCI,
				 VU_NUM_REGIONS, VU_NUM_IRQS };

	if (msg->len < size || msg->nfds) {
		*why = "GET_INFO too short, or with descriptors";
		return -EPROTO;
	}
	memcpy(in, msg->body, size);
	if (in[0] < size)
		return -EINVAL;
	memcpy(out, answer, size);
	return size;
}

int vu_get_region_info(struct vu_function *fn, struct vu_message *msg, void *out,
		       const char **why)
{
	struct vfio_region_info info;

	if (msg->len < sizeof(info) || msg->nfds) {
		*why = "GET_REGION_INFO too short, or with descriptors";
		return -EPROTO;
	}
	memcpy(&info, msg->body, sizeof(info));
	if (info.argsz < sizeof(info) || info.index >= VU_NUM_REGIONS)
		return -EINVAL;
	/* no region has capabilities, so no client has to ask again with a larger buffer */
	info = (struct vfio_region_info) {
		.argsz = sizeof(info),
		.index = info.index,
		.size = vu_region_size(fn, info.index),
	};
	if (info.size)
		info.flags = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE;
	memcpy(out, &info, sizeof(info));
	return sizeof(info);
}

/* Returns the number of vectors of a VFIO interrupt index. */
static u32 irq_count(const struct vu_function *fn, u32 index)
{
	switch (index) {
	case VFIO_PCI_MSI_IRQ_INDEX:
		return fn->cfg.irq == PCI_IRQ_MSI ? 1 : 0;
	case VFIO_PCI_MSIX_IRQ_INDEX:
		return fn->cfg.irq == PCI_IRQ_MSIX ? fn->cfg.vectors : 0;
	case VFIO_PCI_ERR_IRQ_INDEX:
		return 1;	/* never raised, as it would stop the VM */
	default:
		return 0;
	}
}

int vu_get_irq_info(struct vu_function *fn, struct vu_message *msg, void *out, const char **why)
{
	struct vfio_irq_info info;

	if (msg->len < sizeof(info) || msg->nfds) {
		*why = "GET_IRQ_INFO too short, or with descriptors";
		return -EPROTO;
	}
	memcpy(&info, msg->body, sizeof(info));
	if (info.argsz < sizeof(info) || info.index >= VU_NUM_IRQS)
		return -EINVAL;
	info = (struct vfio_irq_info) {
		.argsz = sizeof(info),
		.index = info.index,
		.count = irq_count(fn, info.index),
	};
	if (info.count)
		info.flags = VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_NORESIZE;
	memcpy(out, &info, sizeof(info));
	return sizeof(info);
}

/* Raises vectors at the client's request, as if the device had raised them. */
static int loop_back(struct vu_function *fn, const struct vfio_irq_set *set, const u8 *which)
{
	for (u32 i = 0; i < set->count; i++)
		if (!which || which[i])
			vu_irqs_raise(&fn->irqs, set->start + i);
	return 0;
}

int vu_set_irqs(struct vu_function *fn, struct vu_message *msg, void *out, const char **why)
{
	const u32 head = sizeof(struct vfio_irq_set);
	struct vfio_irq_set set;
	u32 total, data, extra;

	if (msg->len < head) {
		*why = "SET_IRQS too short";
		return -EPROTO;
	}
	memcpy(&set, msg->body, head);
	data = set.flags & VFIO_IRQ_SET_DATA_TYPE_MASK;
	extra = data == VFIO_IRQ_SET_DATA_BOOL ? set.count : 0;
	if (msg->len - head != extra) {
		*why = "SET_IRQS whose length is not that of its data";
		return -EPROTO;
	}
	/* each vector has a descriptor, or none has */
	if (msg->nfds && (data != VFIO_IRQ_SET_DATA_EVENTFD || msg->nfds != set.count)) {
		*why = "SET_IRQS with a wrong number of descriptors";
		return -EPROTO;
	}
	if (set.argsz < head || set.index >= VU_NUM_IRQS)
		return -EINVAL;
	total = irq_count(fn, set.index);
	if (set.start > total || set.count > total - set.start)
		return -EINVAL;
	/* QEMU keeps the MSI-X table and masks vectors by itself */
	if ((set.flags & VFIO_IRQ_SET_ACTION_TYPE_MASK) != VFIO_IRQ_SET_ACTION_TRIGGER)
		return -EINVAL;
	if (!vu_irqs_eventfds(&fn->irqs, msg->fds, msg->nfds)) {
		log_line("%s: a descriptor for an interrupt refused: it is no eventfd",
			 fn->cfg.name);
		return -EINVAL;
	}
	if (set.index == VFIO_PCI_ERR_IRQ_INDEX)
		return data == VFIO_IRQ_SET_DATA_EVENTFD || !set.count ? 0 : -EINVAL;

	switch (data) {
	case VFIO_IRQ_SET_DATA_NONE:
		if (set.count)
			return loop_back(fn, &set, NULL);
		vu_irqs_assign(&fn->irqs, 0, total, NULL);	/* no vectors: disable all */
		return 0;
	case VFIO_IRQ_SET_DATA_BOOL:
		return loop_back(fn, &set, msg->body + head);
	case VFIO_IRQ_SET_DATA_EVENTFD:
		vu_irqs_assign(&fn->irqs, set.start, set.count, msg->nfds ? msg->fds : NULL);
		msg->nfds = 0;
		return 0;
	default:
		return -EINVAL;
	}
}

int vu_device_reset(struct vu_function *fn, struct vu_message *msg, void *out, const char **why)
{
	if (msg->len || msg->nfds) {
		*why = "DEVICE_RESET with a body";
		return -EPROTO;
	}
	vu_function_reset(fn);
	return 0;
}

/* Clients ask for migration and similar features, of which there are none. */
int vu_device_feature(struct vu_function *fn, struct vu_message *msg, void *out,
		      const char **why)
{
	return -ENOTTY;
}
