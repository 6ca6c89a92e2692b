// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The netlink client RDMA_NL_NLDEV: its table of commands.
 */
#include <kunit/visibility.h>
#include <linux/module.h>

#include "nldev.h"
#include "nldev_priv.h"

/* A command without an entry is answered like one that does not exist. */
VISIBLE_IF_KUNIT const struct rdma_nl_cbs nldev_commands[RDMA_NLDEV_NUM_OPS] = {
	[RDMA_NLDEV_CMD_GET] = { .doit = nldev_get, .dump = nldev_dump },
	[RDMA_NLDEV_CMD_SET] = { .doit = nldev_set, .flags = RDMA_NL_ADMIN_PERM },
	[RDMA_NLDEV_CMD_NEWLINK] = { .doit = nldev_newlink, .flags = RDMA_NL_ADMIN_PERM },
	[RDMA_NLDEV_CMD_DELLINK] = { .doit = nldev_dellink, .flags = RDMA_NL_ADMIN_PERM },
	[RDMA_NLDEV_CMD_PORT_GET] = { .doit = nldev_port_get, .dump = nldev_port_dump },
	[RDMA_NLDEV_CMD_RES_GET] = { .doit = nldev_res_get, .dump = nldev_res_dump },
	[RDMA_NLDEV_CMD_RES_PD_GET] = {
		.doit = nldev_res_object_get, .dump = nldev_res_object_dump },
	[RDMA_NLDEV_CMD_RES_CM_ID_GET] = {
		.doit = nldev_res_object_get, .dump = nldev_res_object_dump },
	[RDMA_NLDEV_CMD_RES_CQ_GET] = {
		.doit = nldev_res_object_get, .dump = nldev_res_object_dump },
	[RDMA_NLDEV_CMD_RES_MR_GET] = {
		.doit = nldev_res_object_get, .dump = nldev_res_object_dump },
	[RDMA_NLDEV_CMD_RES_QP_GET] = {
		.doit = nldev_res_object_get, .dump = nldev_res_object_dump },
	[RDMA_NLDEV_CMD_RES_CTX_GET] = {
		.doit = nldev_res_object_get, .dump = nldev_res_object_dump },
	[RDMA_NLDEV_CMD_RES_SRQ_GET] = {
		.doit = nldev_res_object_get, .dump = nldev_res_object_dump },
	[RDMA_NLDEV_CMD_RES_CQ_GET_RAW] = {
		.doit = nldev_res_object_get, .dump = nldev_res_object_dump,
		.flags = RDMA_NL_ADMIN_PERM },
	[RDMA_NLDEV_CMD_RES_MR_GET_RAW] = {
		.doit = nldev_res_object_get, .dump = nldev_res_object_dump,
		.flags = RDMA_NL_ADMIN_PERM },
	[RDMA_NLDEV_CMD_RES_QP_GET_RAW] = {
		.doit = nldev_res_object_get, .dump = nldev_res_object_dump,
		.flags = RDMA_NL_ADMIN_PERM },
	[RDMA_NLDEV_CMD_RES_SRQ_GET_RAW] = {
		.doit = nldev_res_object_get, .dump = nldev_res_object_dump,
		.flags = RDMA_NL_ADMIN_PERM },
	[RDMA_NLDEV_CMD_STAT_GET] = { .doit = nldev_stat_get, .dump = nldev_stat_dump },
	[RDMA_NLDEV_CMD_STAT_GET_STATUS] = { .doit = nldev_stat_get_status },
	[RDMA_NLDEV_CMD_STAT_SET] = { .doit = nldev_stat_set, .flags = RDMA_NL_ADMIN_PERM },
	[RDMA_NLDEV_CMD_STAT_DEL] = { .doit = nldev_stat_del, .flags = RDMA_NL_ADMIN_PERM },
	[RDMA_NLDEV_CMD_SYS_GET] = { .doit = nldev_sys_get },
	[RDMA_NLDEV_CMD_SYS_SET] = { .doit = nldev_sys_set, .flags = RDMA_NL_ADMIN_PERM },
	[RDMA_NLDEV_CMD_GET_CHARDEV] = { .doit = nldev_get_chardev },
	[RDMA_NLDEV_CMD_NEWDEV] = { .doit = nldev_newdev, .flags = RDMA_NL_ADMIN_PERM },
	[RDMA_NLDEV_CMD_DELDEV] = { .doit = nldev_deldev, .flags = RDMA_NL_ADMIN_PERM },
};
EXPORT_SYMBOL_IF_KUNIT(nldev_commands);

/**
 * nldev_init() - handle requests, and notify listeners of changes of devices
 *
 * Return: 0 or a negative errno.
 */
int nldev_init(void)
{
	int ret = ib_device_notifier_register(&nldev_notifier);

	if (!ret)
		rdma_nl_register(RDMA_NL_NLDEV, nldev_commands);
	return ret;
}

/**
 * nldev_exit() - end what nldev_init() began
 */
void nldev_exit(void)
{
	rdma_nl_unregister(RDMA_NL_NLDEV);
	ib_device_notifier_unregister(&nldev_notifier);
}

MODULE_ALIAS_RDMA_NETLINK(RDMA_NL_NLDEV, 5);
