// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Entry of the provider: which libibverbs and which devices it serves, and
 * opening a device.
 *
 * Releases of rdma-core share the number of their private interface while its
 * structures change.  The provider therefore serves the release whose headers
 * it was built with and no other; it learns the release at hand from the file
 * name of the library, which ends in it.
 */
#include <config.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ah.h"
#include "clock.h"
#include "cq.h"
#include "mr.h"
#include "pd.h"
#include "qp.h"
#include "release.h"
#include "srq.h"

static void vhca_free_context(struct ibv_context *context)
{
	struct vhca_context *ctx = to_vhca_context(context);

	vhca_db_close(ctx);
	verbs_uninit_context(&ctx->vctx);
	free(ctx);
}

static int query_device_ex(struct ibv_context *context,
			   const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t attr_size)
{
	struct ibv_device_attr *orig = &attr->orig_attr;
	struct ib_uverbs_ex_query_device_resp resp;
	size_t resp_size = sizeof(resp);
	uint64_t fw;
	int err;

	err = ibv_cmd_query_device_any(context, input, attr, attr_size, &resp, &resp_size);
	if (err)
		return err;
	fw = resp.base.fw_ver;
	snprintf(orig->fw_ver, sizeof(orig->fw_ver), "%u.%u.%u", (unsigned int)(fw >> 32),
		 (unsigned int)(fw >> 16 & 0xffff), (unsigned int)(fw & 0xffff));
	/* The kernel's UD QPs support it, the provider's do not. */
	orig->device_cap_flags &= ~IBV_DEVICE_UD_IP_CSUM;
	if (attr_size >= offsetof(struct ibv_device_attr_ex, device_cap_flags_ex) +
			 sizeof(attr->device_cap_flags_ex))
		attr->device_cap_flags_ex &= ~(uint64_t)IBV_DEVICE_UD_IP_CSUM;
	return 0;
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr)
{
	struct ibv_query_port cmd;

	return ibv_cmd_query_port(context, port, attr, &cmd, sizeof(cmd));
}

static const struct verbs_context_ops context_ops = {
	.alloc_mw = vhca_alloc_mw,
	.alloc_parent_domain = vhca_alloc_parent_domain,
	.alloc_pd = vhca_alloc_pd,
	.alloc_td = vhca_alloc_td,
	.async_event = vhca_async_event,
	.attach_mcast = ibv_cmd_attach_mcast,
	.bind_mw = vhca_bind_mw,
	.close_xrcd = vhca_close_xrcd,
	.cq_event = vhca_cq_event,
	.create_ah = vhca_create_ah,
	.create_cq = vhca_create_cq,
	.create_cq_ex = vhca_create_cq_ex,
	.create_qp = vhca_create_qp,
	.create_qp_ex = vhca_create_qp_ex,
	.create_srq = vhca_create_srq,
	.create_srq_ex = vhca_create_srq_ex,
	.dealloc_mw = vhca_dealloc_mw,
	.dealloc_pd = vhca_dealloc_pd,
	.dealloc_td = vhca_dealloc_td,
	.dereg_mr = vhca_dereg_mr,
	.destroy_ah = vhca_destroy_ah,
	.destroy_cq = vhca_destroy_cq,
	.destroy_qp = vhca_destroy_qp,
	.destroy_srq = vhca_destroy_srq,
	.detach_mcast = ibv_cmd_detach_mcast,
	.free_context = vhca_free_context,
	.get_srq_num = vhca_get_srq_num,
	.import_mr = vhca_import_mr,
	.import_pd = vhca_import_pd,
	.modify_cq = vhca_modify_cq,
	.modify_qp = vhca_modify_qp,
	.modify_srq = vhca_modify_srq,
	.open_qp = vhca_open_qp,
	.open_xrcd = vhca_open_xrcd,
	.poll_cq = vhca_poll_cq,
	.post_recv = vhca_post_recv,
	.post_send = vhca_post_send,
	.post_srq_recv = vhca_post_srq_recv,
	.query_device_ex = query_device_ex,
	.query_port = query_port,
	.query_qp = vhca_query_qp,
	.query_qp_data_in_order = vhca_query_qp_data_in_order,
	.query_rt_values = vhca_query_rt_values,
	.query_srq = vhca_query_srq,
	.reg_dmabuf_mr = vhca_reg_dmabuf_mr,
	.reg_mr = vhca_reg_mr,
	.req_notify_cq = vhca_req_notify_cq,
	.rereg_mr = vhca_rereg_mr,
	.resize_cq = vhca_resize_cq,
	.unimport_mr = vhca_unimport_mr,
	.unimport_pd = vhca_unimport_pd,
};

static int set_up(struct vhca_context *ctx, const struct vhca_uctx_resp *resp)
{
	int err;

	ctx->features = resp->features & VHCA_FEATURES;
	ctx->send_ops = resp->send_ops ? resp->send_ops : VHCA_SEND_OPS_1_1;
	ctx->uc_send_ops = ctx->send_ops;
	if (!resp->uc_local_inv)
		ctx->uc_send_ops &= ~(1U << VHCA_OP_LOCAL_INV);
	ctx->max_inline = resp->max_inline;
	ctx->max_send_sge = resp->max_send_sge;
	ctx->max_recv_sge = resp->max_recv_sge;
	ctx->page_size = sysconf(_SC_PAGESIZE);

	err = vhca_db_open(ctx, resp->kick_mmap, resp->db_mmap);
	if (!err)
		verbs_set_ops(&ctx->vctx, &context_ops);
	return err;
}

static struct verbs_context *give_up(struct vhca_context *ctx, int err)
{
	verbs_uninit_context(&ctx->vctx);
	free(ctx);
	errno = err;
	return NULL;
}

static struct verbs_context *vhca_alloc_context(struct ibv_device *device, int cmd_fd,
						void *private_data)
{
	struct vhca_cmd_context cmd = { .features = VHCA_FEATURES };
	struct vhca_cmd_context_resp resp = {};
	struct vhca_context *ctx;
	int err;

	(void)private_data;
	ctx = verbs_init_and_alloc_context(device, cmd_fd, ctx, vctx, RDMA_DRIVER_UNKNOWN);
	if (!ctx)
		return NULL;
	err = vhca_cmd_get_context(ctx, &cmd, &resp);
	if (!err)
		err = set_up(ctx, &resp.drv_payload);
	return err ? give_up(ctx, err) : &ctx->vctx;
}

/* Imports a context that another process has opened. */
static struct verbs_context *vhca_import_context(struct ibv_device *device, int cmd_fd)
{
	struct vhca_uctx_resp resp = {};
	struct vhca_context *ctx;
	int err;

	ctx = verbs_init_and_alloc_context(device, cmd_fd, ctx, vctx, RDMA_DRIVER_UNKNOWN);
	if (!ctx)
		return NULL;
	err = vhca_query_context(ctx, &resp);
	if (!err)
		err = set_up(ctx, &resp);
	return err ? give_up(ctx, err) : &ctx->vctx;
}

static struct verbs_device *vhca_alloc_device(struct verbs_sysfs_dev *sysfs_dev)
{
	struct vhca_device *dev = calloc(1, sizeof(*dev));

	(void)sysfs_dev;
	return dev ? &dev->vdev : NULL;
}

static void vhca_uninit_device(struct verbs_device *vdev)
{
	free(container_of(vdev, struct vhca_device, vdev));
}

static const struct verbs_match_ent match_table[] = {
	VERBS_PCI_MATCH(VHCA_PCI_VENDOR, VHCA_PCI_DEVICE, NULL),
	{},
};

static const struct verbs_device_ops vhca_device_ops = {
	.name = "vhca",
	.match_min_abi_version = VHCA_UVERBS_ABI_VERSION,
	.match_max_abi_version = VHCA_UVERBS_ABI_VERSION,
	.match_table = match_table,
	.alloc_device = vhca_alloc_device,
	.uninit_device = vhca_uninit_device,
	.alloc_context = vhca_alloc_context,
	.import_context = vhca_import_context,
};

#ifdef VHCA_IN_TREE
/* Part of an rdma-core build: there is no other libibverbs. */
PROVIDER_DRIVER(vhca, vhca_device_ops);
#else
/* Is this the release of the calling libibverbs?  Its file's name ends in the release: "56.1". */
static bool serves(const char *file)
{
	const char *base = strrchr(file, '/');
	size_t want = strlen("." PACKAGE_VERSION), len;

	base = base ? base + 1 : file;
	len = strlen(base);
	return len > want && !strcmp(base + len - want, "." PACKAGE_VERSION);
}

static __attribute__((constructor)) void vhca_register(void)
{
	char *file = NULL;
	Dl_info info;

	if (dladdr(verbs_register_driver, &info))
		file = realpath(info.dli_fname, NULL);
	if (file && serves(file))
		verbs_register_driver(&vhca_device_ops);
	else
		fprintf(stderr,
			"libvhca: built for libibverbs of rdma-core " PACKAGE_VERSION
			", found %s: vhca devices are not available\n",
			file ? file : "one whose file is unknown");
	free(file);
}
#endif
