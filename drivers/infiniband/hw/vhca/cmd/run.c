// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Running a command: its request, a buffer for its output, the errno and reason of a refusal. */
#include <linux/cache.h>
#include <linux/dma-mapping.h>
#include <linux/slab.h>

#include "../hw/compat.h"
#include "../hw/names.h"
#include "run.h"

static int status_to_errno(u8 status)
{
	switch (status) {
	case VHCA_ST_OK:
		return 0;
	case VHCA_ST_BAD_OPCODE:
	case VHCA_ST_UNSUPPORTED:
		return -EOPNOTSUPP;
	case VHCA_ST_BAD_FIELD:
	case VHCA_ST_BAD_HANDLE:
	case VHCA_ST_BAD_STATE:
		return -EINVAL;
	case VHCA_ST_BUSY:
		return -EBUSY;
	case VHCA_ST_NO_RESOURCE:
		return -ENOMEM;
	case VHCA_ST_BAD_ADDRESS:
		return -EFAULT;
	default:
		return -EIO;
	}
}

static const char *status_text(u8 status)
{
	static const char * const text[] = {
		[VHCA_ST_BAD_OPCODE] = "command unknown",
		[VHCA_ST_BAD_FIELD] = "out of range",
		[VHCA_ST_BAD_HANDLE] = "no such object",
		[VHCA_ST_BUSY] = "still in use",
		[VHCA_ST_NO_RESOURCE] = "limit reached",
		[VHCA_ST_BAD_STATE] = "not in this state",
		[VHCA_ST_BAD_ADDRESS] = "DMA address not accessible",
		[VHCA_ST_UNSUPPORTED] = "not supported",
		[VHCA_ST_INTERNAL] = "device failing",
	};

	if (status < ARRAY_SIZE(text) && text[status])
		return text[status];
	return "status unknown";
}

static int refusal(struct vhca_hw *hw, u8 opcode, const struct vhca_acqe *comp)
{
	const char *field = vhca_cmd_field(opcode, le16_to_cpu(comp->bad_field));
	int err = status_to_errno(comp->status);

	return vhca_refuse(hw->dev, err, "device refused %s: %s%s%s", vhca_cmd_name(opcode),
			   field ?: "", field ? " " : "", status_text(comp->status));
}

/**
 * vhca_run() - run a command
 * @hw: the device
 * @opcode: enum vhca_admin_op
 * @req: its request, at most VHCA_ASQE_REQ bytes
 * @req_len: bytes of @req, or 0
 * @out: DMA address for bulk output
 * @out_len: bytes at @out, 0 for a command without bulk output
 * @resp: receives the response in the completion, at most VHCA_ACQE_RESP bytes
 * @resp_len: bytes of @resp, 0 if it is not wanted
 *
 * Context: may sleep.
 * Return: as all commands.
 */
int vhca_run(struct vhca_hw *hw, u8 opcode, const void *req, size_t req_len, dma_addr_t out,
	     u32 out_len, void *resp, size_t resp_len)
{
	struct vhca_asqe cmd = {
		.opcode = opcode,
		.out_len = cpu_to_le32(out_len),
		.out_addr = cpu_to_le64(out),
	};
	struct vhca_acqe comp;
	int err;

	if (req_len)
		memcpy(cmd.req, req, req_len);
	err = vhca_admin_exec(&hw->admin, &cmd, &comp);
	if (err)
		return vhca_refuse(hw->dev, err, "device is gone or failed (%s)",
				   vhca_cmd_name(opcode));
	if (comp.status != VHCA_ST_OK)
		return refusal(hw, opcode, &comp);
	if (resp_len)
		memcpy(resp, comp.resp, resp_len);
	return 0;
}

/**
 * vhca_run_out() - run a command with bulk output into a buffer that is allocated here
 * @hw: the device
 * @opcode: enum vhca_admin_op
 * @req: its request, at most VHCA_ASQE_REQ bytes
 * @req_len: bytes of @req, or 0
 * @out_len: bytes of the output
 * @resp: receives the response in the completion, at most VHCA_ACQE_RESP bytes
 * @resp_len: bytes of @resp, 0 if it is not wanted
 *
 * Context: may sleep.
 * Return: the output, to be freed with kfree(); or an ERR_PTR() with an error of commands (cmd.h).
 */
void *vhca_run_out(struct vhca_hw *hw, u8 opcode, const void *req, size_t req_len, u32 out_len,
		   void *resp, size_t resp_len)
{
	dma_addr_t dma;
	void *out;
	int err;

	/* Commands run concurrently: the outputs of two of them must not share a cache line. */
	out = kzalloc(ALIGN(out_len, SMP_CACHE_BYTES), GFP_KERNEL);
	if (!out)
		return ERR_PTR(-ENOMEM);
	dma = dma_map_single(hw->dev, out, out_len, DMA_FROM_DEVICE);
	if (dma_mapping_error(hw->dev, dma)) {
		kfree(out);
		return ERR_PTR(-ENOMEM);
	}
	err = vhca_run(hw, opcode, req, req_len, dma, out_len, resp, resp_len);
	dma_unmap_single(hw->dev, dma, out_len, DMA_FROM_DEVICE);
	if (err) {
		kfree(out);
		return ERR_PTR(err);
	}
	return out;
}

/**
 * vhca_run_create() - run a command that makes an object
 * @hw: the device
 * @opcode: enum vhca_admin_op
 * @req: its request, at most VHCA_ASQE_REQ bytes
 * @req_len: bytes of @req, or 0
 * @handle: set to the object's number, or for memory keys to the whole key
 *
 * Context: may sleep.
 * Return: as all commands.
 */
int vhca_run_create(struct vhca_hw *hw, u8 opcode, const void *req, size_t req_len, u32 *handle)
{
	struct vhca_object_resp resp;
	int err;

	err = vhca_run(hw, opcode, req, req_len, 0, 0, &resp, sizeof(resp));
	if (!err)
		*handle = le32_to_cpu(resp.handle);
	return err;
}

/**
 * vhca_run_destroy() - run a command whose request only names an object
 * @hw: the device
 * @opcode: enum vhca_admin_op
 * @handle: the object's number
 *
 * Context: may sleep.
 * Return: as all commands.
 */
int vhca_run_destroy(struct vhca_hw *hw, u8 opcode, u32 handle)
{
	struct vhca_object_req req = { .handle = cpu_to_le32(handle) };

	return RUN(hw, opcode, &req);
}
