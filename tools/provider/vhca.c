// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* libvhca: finding the device and opening it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "vhca.h"

#define VHCA_PCI_VENDOR		0x1af4
#define VHCA_PCI_DEVICE		0x10f0

/* What this provider knows of the features that both sides may offer. */
#define VHCA_FEATURES		0ULL

static void vhca_free_context(struct ibv_context *ibctx)
{
	struct vhca_context *ctx = to_vctx(ibctx);

	vhca_uar_unmap(ctx);
	pthread_mutex_destroy(&ctx->db_lock);
	verbs_uninit_context(&ctx->vctx);
	free(ctx);
}

static const struct verbs_context_ops vhca_context_ops = {
	.alloc_pd = vhca_alloc_pd,
	.cq_event = vhca_cq_event,
	.create_cq = vhca_create_cq,
	.create_qp = vhca_create_qp,
	.dealloc_pd = vhca_dealloc_pd,
	.dereg_mr = vhca_dereg_mr,
	.destroy_cq = vhca_destroy_cq,
	.destroy_qp = vhca_destroy_qp,
	.free_context = vhca_free_context,
	.modify_qp = vhca_modify_qp,
	.poll_cq = vhca_poll_cq,
	.post_recv = vhca_post_recv,
	.post_send = vhca_post_send,
	.query_device_ex = vhca_query_device_ex,
	.query_port = vhca_query_port,
	.query_qp = vhca_query_qp,
	.reg_mr = vhca_reg_mr,
	.req_notify_cq = vhca_req_notify_cq,
	.rereg_mr = vhca_rereg_mr,
};

static struct verbs_context *vhca_alloc_context(struct ibv_device *ibdev, int cmd_fd,
						void *private_data)
{
	struct uvhca_get_context_resp resp = {};
	struct uvhca_get_context cmd = { .features = VHCA_FEATURES };
	struct vhca_context *ctx;
	int err;

	(void)private_data;
	ctx = verbs_init_and_alloc_context(ibdev, cmd_fd, ctx, vctx, RDMA_DRIVER_UNKNOWN);
	if (!ctx)
		return NULL;

	err = ibv_cmd_get_context(&ctx->vctx, &cmd.ibv_cmd, sizeof(cmd),
				  &resp.ibv_resp, sizeof(resp));
	if (err)
		goto err_free;

	ctx->max_inline = resp.max_inline;
	ctx->max_send_sge = resp.max_send_sge;
	ctx->max_recv_sge = resp.max_recv_sge;
	ctx->hw_version = resp.hw_version;
	ctx->page_size = sysconf(_SC_PAGESIZE);
	if (ctx->page_size != VHCA_DB_PAGE_SIZE) {
		err = ENOTSUP;
		goto err_free;
	}
	err = vhca_uar_map(ctx, resp.kick_mmap, resp.db_mmap);
	if (err)
		goto err_free;
	pthread_mutex_init(&ctx->db_lock, NULL);

	verbs_set_ops(&ctx->vctx, &vhca_context_ops);
	return &ctx->vctx;

err_free:
	verbs_uninit_context(&ctx->vctx);
	free(ctx);
	errno = err;
	return NULL;
}

static struct verbs_device *vhca_device_alloc(struct verbs_sysfs_dev *sysfs)
{
	struct vhca_device *dev = calloc(1, sizeof(*dev));

	(void)sysfs;
	return dev ? &dev->vdev : NULL;
}

static void vhca_device_free(struct verbs_device *vdev)
{
	free(container_of(vdev, struct vhca_device, vdev));
}

static const struct verbs_match_ent vhca_match[] = {
	VERBS_PCI_MATCH(VHCA_PCI_VENDOR, VHCA_PCI_DEVICE, NULL),
	{},
};

static const struct verbs_device_ops vhca_device_ops = {
	.name = "vhca",
	.match_min_abi_version = VHCA_UVERBS_ABI_VERSION,
	.match_max_abi_version = VHCA_UVERBS_ABI_VERSION,
	.match_table = vhca_match,
	.alloc_device = vhca_device_alloc,
	.uninit_device = vhca_device_free,
	.alloc_context = vhca_alloc_context,
};

/* By this name programs that are linked statically find the provider. */
extern const struct verbs_device_ops verbs_provider_vhca __attribute__((alias("vhca_device_ops")));

/*
 * rdma-core's releases share one private ABI number while the operation table
 * that providers fill in changes its layout.  The version stands in the name
 * of the library's file (libibverbs.so.1.14.VERSION); a provider that finds
 * another than it was built for would hand over a table full of wrong
 * pointers, so it says so and stays out.
 */
static const char *libibverbs_version(const char *path)
{
	static const char prefix[] = "libibverbs.so.";
	const char *p = strrchr(path, '/');

	p = p ? p + 1 : path;
	if (strncmp(p, prefix, strlen(prefix)))
		return NULL;
	/* the library's own ABI number comes first, in two parts */
	p = strchr(p + strlen(prefix), '.');
	p = p ? strchr(p + 1, '.') : NULL;
	return p ? p + 1 : NULL;
}

static bool libibverbs_is_ours(void)
{
	const char *version = NULL;
	char *path = NULL;
	Dl_info info;
	bool same;

	if (dladdr(verbs_register_driver, &info) && info.dli_fname)
		path = realpath(info.dli_fname, NULL);
	if (path)
		version = libibverbs_version(path);
	same = version && !strcmp(version, PACKAGE_VERSION);
	if (!same)
		fprintf(stderr,
			"libvhca: built for rdma-core %s, libibverbs is %s (%s): vhca devices are left out; build tools/provider against this rdma-core\n",
			PACKAGE_VERSION, version ? version : "of unknown version",
			path ? path : "file unknown");
	free(path);
	return same;
}

static __attribute__((constructor)) void vhca_register(void)
{
	if (libibverbs_is_ours())
		verbs_register_driver(&vhca_device_ops);
}
