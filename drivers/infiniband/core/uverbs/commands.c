// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The user API in two lists.  What is not here does not exist: the decoders answer as Linux 6.12
 * does on a device without the feature.
 */
#include <kunit/visibility.h>

#include "command.h"

const struct uverbs_object_desc *const uverbs_objects[] = {
	&uverbs_object_device,
	&uverbs_object_async,
	&uverbs_object_channel,
	&uverbs_object_pd,
	&uverbs_object_mr,
	&uverbs_object_mw,
	&uverbs_object_cq,
	&uverbs_object_qp,
	&uverbs_object_srq,
	&uverbs_object_ah,
	&uverbs_object_xrcd,
	&uverbs_object_wq,
	&uverbs_object_wq_table,
	&uverbs_object_flow,
	&uverbs_object_flow_action,
	&uverbs_object_dm,
	&uverbs_object_counters,
};

const unsigned int uverbs_num_objects = ARRAY_SIZE(uverbs_objects);

/* Every command of both forms; the methods of an object are found through it. */
const struct uverbs_cmd *const uverbs_commands[] = {
	&uverbs_cmd_get_context,
	&uverbs_cmd_query_context,
	&uverbs_cmd_query_device,
	&uverbs_cmd_query_port,
	&uverbs_cmd_query_gid_table,
	&uverbs_cmd_query_gid_entry,
	&uverbs_cmd_info_handles,
	&uverbs_cmd_invoke_write,
	&uverbs_cmd_async_alloc,
	&uverbs_cmd_channel_create,
	&uverbs_cmd_pd_alloc,
	&uverbs_cmd_pd_dealloc,
	&uverbs_cmd_mr_reg,
	&uverbs_cmd_mr_rereg,
	&uverbs_cmd_mr_dereg,
	&uverbs_cmd_mr_query,
	&uverbs_cmd_mr_advise,
	&uverbs_cmd_mr_reg_dmabuf,
	&uverbs_cmd_mw_alloc,
	&uverbs_cmd_mw_dealloc,
	&uverbs_cmd_cq_create,
	&uverbs_cmd_cq_destroy,
	&uverbs_cmd_cq_resize,
	&uverbs_cmd_cq_modify,
	&uverbs_cmd_cq_poll,
	&uverbs_cmd_cq_notify,
	&uverbs_cmd_qp_create,
	&uverbs_cmd_qp_modify,
	&uverbs_cmd_qp_query,
	&uverbs_cmd_qp_destroy,
	&uverbs_cmd_post_send,
	&uverbs_cmd_post_recv,
	&uverbs_cmd_mcast_attach,
	&uverbs_cmd_mcast_detach,
	&uverbs_cmd_srq_create,
	&uverbs_cmd_xsrq_create,
	&uverbs_cmd_srq_modify,
	&uverbs_cmd_srq_query,
	&uverbs_cmd_srq_destroy,
	&uverbs_cmd_post_srq_recv,
	&uverbs_cmd_ah_create,
	&uverbs_cmd_ah_destroy,
	&uverbs_cmd_xrcd_open,
	&uverbs_cmd_xrcd_close,
	&uverbs_cmd_qp_open,
	&uverbs_cmd_wq_create,
	&uverbs_cmd_wq_modify,
	&uverbs_cmd_wq_destroy,
	&uverbs_cmd_wq_table_create,
	&uverbs_cmd_wq_table_destroy,
	&uverbs_cmd_flow_create,
	&uverbs_cmd_flow_destroy,
	&uverbs_cmd_flow_action_destroy,
	&uverbs_cmd_dm_alloc,
	&uverbs_cmd_dm_free,
	&uverbs_cmd_dm_mr_reg,
	&uverbs_cmd_counters_create,
	&uverbs_cmd_counters_read,
	&uverbs_cmd_counters_destroy,
};
EXPORT_SYMBOL_IF_KUNIT(uverbs_commands);

/* Entries of uverbs_commands. */
const unsigned int uverbs_num_commands = ARRAY_SIZE(uverbs_commands);
EXPORT_SYMBOL_IF_KUNIT(uverbs_num_commands);
